//! Options of JavaScript, read field by field: each error names the place of the value, what was found, and what was
//! expected.
//!
//! `js::options` reads objects by serde, whose code for each type is far larger.

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use crate::js::{self, Result};

/// An object of options.
pub struct Fields {
    /// The name of the object in errors.
    place: String,
    entries: Vec<(String, JsValue)>,
}

impl Fields {
    /// The fields of an object, which may have fields of these names. `undefined` and `null` have none.
    pub fn new(place: String, value: &JsValue, known: &[&str]) -> Result<Self> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self { place, entries: Vec::new() });
        }
        if !value.is_object() || Array::is_array(value) {
            return Err(unexpected(&place, value, "an object"));
        }
        let mut entries = Vec::new();
        for entry in Object::entries(value.unchecked_ref::<Object>()).iter() {
            let entry: &Array = entry.unchecked_ref();
            let name = entry.get(0).as_string().unwrap_or_default();
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(JsError::new(&format!("{place}: unknown field `{name}`, expected one of {known}")));
            }
            entries.push((name, entry.get(1)));
        }
        Ok(Self { place, entries })
    }

    /// The value of a field; `None` if it is left out.
    pub fn get(&self, name: &str) -> Option<&JsValue> {
        let found = self.entries.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        found.filter(|value| !value.is_undefined() && !value.is_null())
    }

    /// The name of a field in errors.
    pub fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The value of a field, read by a function that gets the place of the value and the value.
    pub fn read<T>(&self, name: &str, read: impl FnOnce(&str, &JsValue) -> Result<T>) -> Result<Option<T>> {
        self.get(name).map(|value| read(&self.place(name), value)).transpose()
    }

    /// The value of a field that must be there.
    pub fn required<T>(&self, name: &str, read: impl FnOnce(&str, &JsValue) -> Result<T>) -> Result<T> {
        self.read(name, read)?.ok_or_else(|| self.missing(name))
    }

    /// The error for a field that is missing.
    pub fn missing(&self, name: &str) -> JsError {
        JsError::new(&format!("{}: missing field `{name}`", self.place))
    }

    /// The index of the text of a field among some; 0 if it is left out.
    pub fn choice(&self, name: &str, texts: &[&str]) -> Result<usize> {
        let read = |place: &str, value: &JsValue| {
            let found = value.as_string().and_then(|text| texts.iter().position(|other| **other == *text));
            found.ok_or_else(|| unexpected(place, value, &format!("one of {}", texts.join(", "))))
        };
        Ok(self.read(name, read)?.unwrap_or(0))
    }
}

/// The error for a value that is not what was expected.
pub fn unexpected(place: &str, value: &JsValue, expected: &str) -> JsError {
    let found = match (value.as_f64(), value.as_string()) {
        // As JavaScript writes it.
        (Some(number), _) if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        (Some(number), _) => number.to_string(),
        (_, Some(text)) => format!("{text:?}"),
        _ => js::description(value),
    };
    JsError::new(&format!("{place}: found {found}, expected {expected}"))
}

/// A finite number.
pub fn number(place: &str, value: &JsValue) -> Result<f64> {
    let number = value.as_f64().filter(|number| number.is_finite());
    number.ok_or_else(|| unexpected(place, value, "a finite number"))
}

/// A whole number from 0 on.
pub fn whole(place: &str, value: &JsValue) -> Result<usize> {
    js::whole(place, number(place, value)?)
}

/// A text.
pub fn text(place: &str, value: &JsValue) -> Result<String> {
    value.as_string().ok_or_else(|| unexpected(place, value, "a string"))
}

/// True or false.
pub fn flag(place: &str, value: &JsValue) -> Result<bool> {
    value.as_bool().ok_or_else(|| unexpected(place, value, "true or false"))
}

/// The elements of an array, each read by a function that gets its place and its value.
pub fn each<T>(place: &str, value: &JsValue, mut read: impl FnMut(&str, &JsValue) -> Result<T>) -> Result<Vec<T>> {
    if !Array::is_array(value) {
        return Err(unexpected(place, value, "an array"));
    }
    let elements = value.unchecked_ref::<Array>().iter().enumerate();
    elements.map(|(index, value)| read(&format!("{place}[{index}]"), &value)).collect()
}

/// As many finite numbers as the result has.
pub fn numbers<const N: usize>(place: &str, value: &JsValue) -> Result<[f64; N]> {
    let error = || unexpected(place, value, &format!("an array of {N} numbers"));
    let numbers: [f64; N] = js::list(value).ok_or_else(error)?.try_into().map_err(|_| error())?;
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(at) => Err(unexpected(&format!("{place}[{at}]"), &numbers[at].into(), "a finite number")),
        None => Ok(numbers),
    }
}
