//! Values of JavaScript: options in, results and errors out.

use js_sys::{ArrayBuffer, JSON, Object, Reflect, Uint8Array};
use posse::low_level::file::{FileError, parse_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// A result whose error becomes an `Error` of JavaScript with the message of posse.
pub type Result<T> = std::result::Result<T, JsError>;

/// Reads an object of options, called `name` in errors. `undefined` is an empty object.
///
/// The object goes through JSON, so that errors name the path of a value and unknown fields are refused.
pub fn options<T: DeserializeOwned>(name: &str, value: &JsValue) -> Result<T> {
    let text = if value.is_undefined() || value.is_null() {
        "{}".to_owned()
    } else {
        let text = JSON::stringify(value).ok().and_then(|text| text.as_string());
        text.ok_or_else(|| JsError::new(&format!("{name} is not an object of plain values")))?
    };
    parse_json(text.as_bytes()).map_err(|FileError { path, reason, .. }| {
        let place = match path.as_str() {
            "JSON" => name.to_owned(),
            path if path.starts_with('[') => format!("{name}{path}"),
            path => format!("{name}.{path}"),
        };
        // The position in the JSON means nothing to a caller that passed an object.
        let reason = reason.split(" at line ").next().unwrap_or_default();
        JsError::new(&format!("{place}: {reason}"))
    })
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

/// The bytes of an argument called `name`: of an `ArrayBuffer`, or of a view such as `Uint8Array`.
pub fn bytes(name: &str, value: &JsValue) -> Result<Vec<u8>> {
    if ArrayBuffer::is_view(value) {
        // A view of another type, of the same bytes.
        let number = |name: &str| member(value, name).as_f64().unwrap_or_default() as u32;
        let (first, length) = (number("byteOffset"), number("byteLength"));
        return Ok(Uint8Array::new_with_byte_offset_and_length(&member(value, "buffer"), first, length).to_vec());
    }
    // By its name, because an object of another frame or context is no instance of the class of this one.
    let class = member(&member(value, "constructor"), "name").as_string();
    let found = class.or_else(|| value.js_typeof().as_string()).unwrap_or_default();
    match found.as_str() {
        "ArrayBuffer" | "SharedArrayBuffer" => Ok(Uint8Array::new(value).to_vec()),
        _ => Err(JsError::new(&format!("{name}: found {found}, expected an ArrayBuffer or a Uint8Array"))),
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

/// The tick of a time in seconds.
pub fn ticks(name: &str, seconds: f64) -> Result<posse::Ticks> {
    posse::import::crowd::CrowdFile::ticks(seconds)
        .ok_or_else(|| JsError::new(&format!("{name}: {seconds} is not a time in seconds within the crowd clock")))
}
