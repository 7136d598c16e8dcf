//! Values of JavaScript: options in, results and errors out.

use js_sys::JSON;
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
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(&text)).map_err(|error| {
        let path = error.path().to_string();
        let place = match path.as_str() {
            "." => name.to_owned(),
            path if path.starts_with('[') => format!("{name}{path}"),
            path => format!("{name}.{path}"),
        };
        // The position in the JSON means nothing to a caller that passed an object.
        let reason = error.inner().to_string();
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

/// The tick of a time in seconds.
pub fn ticks(name: &str, seconds: f64) -> Result<posse::Ticks> {
    posse::import::crowd::CrowdFile::ticks(seconds)
        .ok_or_else(|| JsError::new(&format!("{name}: {seconds} is not a time in seconds within the crowd clock")))
}
