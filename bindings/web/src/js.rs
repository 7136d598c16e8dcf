//! Values of JavaScript: options in, results and errors out.

use js_sys::{Array, ArrayBuffer, Float64Array, JSON, JsString, Object, Reflect, Uint8Array};
use posse::low_level::file::{FileError, parse_json};
use posse::{Error, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// A result whose error becomes an `Error` of JavaScript with the message of posse.
pub type Result<T> = std::result::Result<T, JsError>;

/// False for a change that a crowd refuses because it was made without the capacity.
pub fn fits(change: std::result::Result<(), Error>) -> std::result::Result<bool, Error> {
    match change {
        Err(Error::Refused(_)) => Ok(false),
        other => other.map(|()| true),
    }
}

/// Reads an object of options, called `name` in errors. `undefined` is an empty object.
///
/// The object goes through JSON, so that errors name the path of a value and unknown fields are refused.
pub fn options<T: DeserializeOwned>(name: &str, value: &JsValue) -> Result<T> {
    let text = if value.is_undefined() || value.is_null() {
        "{}".to_owned()
    } else {
        json(value).ok_or_else(|| JsError::new(&format!("{name} is not an object of plain values")))?
    };
    parse_json(text.as_bytes()).map_err(|FileError { path, reason, .. }| {
        let place = match path.as_str() {
            "JSON" => name.to_owned(),
            path if path.starts_with('[') => format!("{name}{path}"),
            path => format!("{name}.{path}"),
        };
        // The position in the JSON means nothing to a caller that passed an object.
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let found = NOT_FINITE.into_iter().find(|number| reason.starts_with(&spelled(number)));
        let reason = match found {
            Some(number) => reason.replacen(&spelled(number), &format!("found {number}"), 1),
            None => reason.to_owned(),
        };
        JsError::new(&format!("{place}: {reason}"))
    })
}

/// The numbers that JSON does not have, as JavaScript writes them.
const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The beginning of serde's error for such a number, which `json` turns into a text.
fn spelled(number: &str) -> String {
    format!("invalid type: string {number:?}")
}

/// The JSON of a value. Numbers that are not finite become texts, which no field for numbers takes: `stringify` alone
/// makes them `null`, as if they were left out.
fn json(value: &JsValue) -> Option<String> {
    let text = JSON::stringify(value).ok()?.as_string()?;
    if !text.contains("null") {
        return Some(text);
    }
    let mut spell = |_key: JsString, value: JsValue| -> Result<Option<JsValue>> {
        Ok(Some(match value.as_f64() {
            Some(number) if number.is_nan() => NOT_FINITE[0].into(),
            Some(number) if number.is_infinite() => NOT_FINITE[if number > 0.0 { 1 } else { 2 }].into(),
            _ => value,
        }))
    };
    JSON::stringify_with_replacer_func(value, &mut spell, None).ok()?.as_string()
}

/// An object of plain values.
pub fn object(value: &impl Serialize) -> Result<JsValue> {
    let text = serde_json::to_string(value)?;
    JSON::parse(&text).map_err(|_| JsError::new("a result is not valid JSON; please report it"))
}

/// Fails unless an index is below a count.
pub fn check_index(what: &str, index: usize, count: usize) -> Result<()> {
    if index < count {
        return Ok(());
    }
    Err(JsError::new(&format!("there is no {what} {index}: there are {count}, from 0 on")))
}

/// The whole number that an argument called `name` stands for. Negative numbers, fractions and NaN are refused.
pub fn whole(name: &str, number: f64) -> Result<usize> {
    let whole = number as usize;
    if whole as f64 == number {
        return Ok(whole);
    }
    Err(JsError::new(&format!("{name}: found {number}, expected a whole number from 0 on")))
}

/// The index below a count that an argument called `what` stands for.
pub fn index(what: &str, number: f64, count: usize) -> Result<usize> {
    let index = whole(what, number)?;
    check_index(what, index, count)?;
    Ok(index)
}

/// The numbers of an argument called `name`: of an array, or of a typed array. An element that is no number is NaN.
pub fn numbers(name: &str, value: &JsValue) -> Result<Vec<f64>> {
    list(value)
        .ok_or_else(|| JsError::new(&format!("{name}: found {}, expected an array of numbers", description(value))))
}

/// The numbers of an array or a typed array; `None` for any other value.
pub fn list(value: &JsValue) -> Option<Vec<f64>> {
    if Array::is_array(value) {
        let elements: &Array = value.unchecked_ref();
        return Some(elements.iter().map(|element| element.as_f64().unwrap_or(f64::NAN)).collect());
    }
    // A `DataView` has no length, and the elements of arrays of `BigInt` are no numbers.
    let has_numbers = member(value, "length").as_f64().is_some() && !class(value).starts_with("Big");
    (ArrayBuffer::is_view(value) && has_numbers && !is_detached(value)).then(|| Float64Array::new(value).to_vec())
}

/// True for a buffer whose memory is gone, or a view of one, such as poses of `posse/cpu` after the memory has grown.
/// What JavaScript throws for it would leave through Rust, and lock the object that was called.
fn is_detached(value: &JsValue) -> bool {
    let view = member(value, "buffer");
    let buffer = if view.is_object() { &view } else { value };
    // Not by `detached`, which Node.js 20 lacks.
    member(buffer, "byteLength").as_f64() == Some(0.0)
        && construct(&member(&js_sys::global(), "Uint8Array"), &Array::of1(buffer)).is_err()
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = Reflect, js_name = construct)]
    fn construct(class: &JsValue, arguments: &JsValue) -> std::result::Result<JsValue, JsValue>;
}

/// The indices below a count that an argument stands for: an array of numbers, or one number.
pub fn indices(what: &str, value: &JsValue, count: usize) -> Result<Vec<usize>> {
    let Some(list) = list(value) else {
        let Some(number) = value.as_f64() else {
            let found = description(value);
            return Err(JsError::new(&format!("{what}: found {found}, expected a number, or an array of numbers")));
        };
        return Ok(vec![index(what, number, count)?]);
    };
    list.into_iter().map(|number| index(what, number, count)).collect()
}

/// The name of the class of a value, or its type.
pub fn class(value: &JsValue) -> String {
    // By its name, because an object of another frame or context is no instance of the class of this one.
    let class = member(&member(value, "constructor"), "name").as_string();
    class.or_else(|| value.js_typeof().as_string()).unwrap_or_default()
}

/// As `class`, for errors.
pub fn description(value: &JsValue) -> String {
    let class = class(value);
    if is_detached(value) { format!("a detached {class}") } else { class }
}

/// The bytes of an argument called `name`: of an `ArrayBuffer`, or of a view such as `Uint8Array`.
pub fn bytes(name: &str, value: &JsValue) -> Result<Vec<u8>> {
    let found = description(value);
    let error = || JsError::new(&format!("{name}: found {found}, expected an ArrayBuffer or a Uint8Array"));
    if is_detached(value) {
        return Err(error());
    }
    if ArrayBuffer::is_view(value) {
        // A view of another type, of the same bytes.
        let number = |name: &str| member(value, name).as_f64().unwrap_or_default() as u32;
        let (first, length) = (number("byteOffset"), number("byteLength"));
        return Ok(Uint8Array::new_with_byte_offset_and_length(&member(value, "buffer"), first, length).to_vec());
    }
    match found.as_str() {
        "ArrayBuffer" | "SharedArrayBuffer" => Ok(Uint8Array::new(value).to_vec()),
        _ => Err(error()),
    }
}

/// A member of an object; `undefined` if there is none, or no object.
pub fn member(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or_default()
}

/// Sets a member of an object that takes any, such as a new one.
pub fn set(object: &Object, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}

/// The step from one time in seconds to another; without the first, the step goes nowhere.
pub fn step(from: Option<f64>, to: f64) -> Result<Step> {
    let to = ticks("time", to)?;
    Ok(Step { from: from.map_or(Ok(to), |from| ticks("from", from))?, to })
}

/// The tick of a time in seconds.
pub fn ticks(name: &str, seconds: f64) -> Result<posse::Ticks> {
    posse::import::crowd::CrowdFile::ticks(seconds)
        .ok_or_else(|| JsError::new(&format!("{name}: {seconds} is not a time in seconds within the crowd clock")))
}
