//! Cocos Creator: animation clips as JSON into [`UnboundClip`]s.
//!
//! All forms that such files have had are read: `curveDatas` with keys and values, with or without `props`; the `_curves`
//! with modifiers of releases 1.0 to 3.2; the `_tracks` of 3.3 and later; and the `curveData` of the 2.x line. A clip can
//! also be built in code as a [`Document`](document::Document), or as an [`UnboundClip`] right away.
//!
//! Values between keys are those of the releases before 1.0, which the others share but for their faults; a cubic spline
//! is one as in glTF, whatever its release made of it.
//!
//! What is not supported is named in a [`Warning`] and left out, unless nothing would remain.
//!
//! The stages, in order: `node` gives values their places and follows references; `nested`, `modifiers` (both with
//! `legacy`) and `tracks` read the forms, `target` what they drive; `value`, `easing`, `real_curve`, `quat_curve` and
//! `object_curve` make the curves; `clip` puts them together.

mod clip;
pub mod document;
mod easing;
mod events;
mod keyframes;
mod legacy;
mod modifiers;
mod nested;
mod node;
mod object_curve;
mod place;
mod quat_curve;
mod reader;
mod real_curve;
mod target;
mod tracks;
mod value;

use std::collections::HashMap;
use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;

use self::node::Node;
use self::reader::Reader;
use crate::error::Error;
use crate::import::Warning;
use crate::import::fault::Fault;
use crate::model::{Library, UnboundClip};

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipFile {
    /// The clip, to be bound to a skeleton.
    pub clip: UnboundClip,
    /// What was repaired or passed over.
    pub warnings: Vec<Warning>,
}

/// Reads an `.anim` or `.json` file. Of the library only the interpolators count: values whose `__type__` is the name of
/// one are its, with the fields that it has, or with a list `values` where it has none.
///
/// # Errors
/// [`Error::Io`] where the file cannot be read; [`Error::Import`] with a JSON path where it cannot be used.
pub fn load(library: &Library, file: impl AsRef<Path>) -> Result<ClipFile, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes)
}

/// Reads the bytes of an `.anim` or `.json` file. `name` is the file's name in errors; nothing is read from it.
///
/// # Errors
/// [`Error::Import`] with a JSON path where the file cannot be used.
pub fn from_slice(library: &Library, name: &Path, bytes: &[u8]) -> Result<ClipFile, Error> {
    parse(bytes).and_then(|file| read(library, &file, bytes.len())).map_err(|fault| fault.of(name))
}

/// The JSON of a file.
fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.starts_with(b"CCON") {
        return Err(Fault::new("file", "binary clips (CCON) are not supported; save the clip as JSON"));
    }
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(json).map_err(|error| Fault::new("JSON", error.to_string()))
}

/// The clip of a file of so many bytes.
fn read(library: &Library, file: &Value, bytes: usize) -> Result<ClipFile, Fault> {
    let mut reader = Reader::new(library, bytes);
    let clip = clip::read(&mut reader, &clip::find(&Node::root(file))?)?;
    Ok(ClipFile { clip, warnings: reader.warnings })
}

/// Whether a file is a Cocos clip and not a glTF file: by what it holds, and where that does not tell, by its name.
pub fn is_clip(file: &Path, bytes: &[u8]) -> bool {
    const FIELDS: [&str; 5] = ["__type__", "curveDatas", "curveData", "_curves", "_tracks"];
    if bytes.starts_with(b"glTF") || bytes.starts_with(b"CCON") {
        return bytes.starts_with(b"CCON");
    }
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut values = serde_json::Deserializer::from_slice(json).into_iter::<HashMap<String, IgnoredAny>>();
    match values.next() {
        Some(Ok(object)) if object.contains_key("asset") => return false,
        Some(Ok(object)) if FIELDS.iter().any(|&field| object.contains_key(field)) => return true,
        _ => {}
    }
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let list = json.trim_ascii_start().starts_with(b"[") && !json.trim_ascii().ends_with(b"[]");
    list || matches!(extension.as_deref(), Some("json" | "anim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_holds_tells_its_kind_before_its_name_does() {
        for (name, text, cocos) in [
            ("a.json", r#"{ "asset": { "version": "2.0" }, "nodes": [] }"#, false),
            ("a.anim", r#"{ "nodes": [], "asset": {} }"#, false),
            ("a.gltf", r#"{ "curveDatas": {} }"#, true),
            ("a", "\u{feff} [{ \"__type__\": \"cc.AnimationClip\" }]", true),
            ("a.ANIM", "{}", true),
            ("a.json", "{ broken", true),
            ("a.gltf", "{ broken", false),
            ("a", "[]", false),
            ("a.json", "glTF", false),
            ("a.bin", "CCON", true),
        ] {
            assert_eq!(is_clip(Path::new(name), text.as_bytes()), cocos, "{name}: {text}");
        }
    }
}
