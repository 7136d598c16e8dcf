//! Cocos Creator: animation clips as JSON into [`UnboundClip`]s.
//!
//! All forms of such files are supported: `curveDatas` with keys and values, with or without `props`; the `_curves`
//! with modifiers of releases 1.0 to 3.2; the `_tracks` of releases 3.3 and later; and the `curveData` of the 2.x line.
//! Clips can also be made in code, as a [`Document`] or directly as an [`UnboundClip`].
//!
//! Values between keys follow the releases before 1.0. Later releases give the same values, except for their errors. A
//! cubic spline has the meaning of glTF, whatever the release made of it.
//!
//! Parts that are not supported are left out, with a [`Warning`]. If nothing would remain, the file is refused.
//!
//! The stages, in order: `node` gives values their paths and follows references. `nested` and `target`, both with
//! `legacy`, and `tracks` read the forms; `target` also reads targets. `value`, `easing` and `real_curve` make the
//! curves. `clip` joins them.
//!
//! One figure of Cocos Creator is not met, on purpose: a constructor of that engine replaced the `w` of a quaternion by
//! 1 if it was 0. Here the 0 stays.

mod clip;
mod document;
mod easing;
mod legacy;
mod nested;
mod node;
mod real_curve;
mod target;
mod tracks;
mod value;

pub use self::document::{
    CurveData, Document, EventData, Keys, NodeCurves, color, grey, quat, rect, size, spline, vec2, vec3, vec4,
};

use std::path::Path;

use serde_json::Value;

use self::node::Node;
use super::{FileError, Warning, json};
use crate::error::Error;
use crate::import::cocos::node::ImportState;
use crate::model::{Library, UnboundClip};

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipFile {
    /// The clip, ready to be bound to a skeleton.
    pub clip: UnboundClip,
    /// The errors that were repaired or passed over.
    pub warnings: Vec<Warning>,
}

/// Reads an `.anim` or `.json` file.
///
/// Only the interpolators of the library are used. A value whose `__type__` is the name of an interpolator is a value
/// of this interpolator, with its fields, or with a list `values` if it has no fields.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if it cannot be used.
///
/// # Examples
/// ```
/// use posse::{Library, WrapMode, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("nod.anim");
/// # std::fs::write(&path, r#"{ "name": "nod", "duration": 1, "wrapMode": 2, "keys": [[0, 1]],
/// #     "curveDatas": { "Body/Head": { "position": { "keys": 0, "values": [[0, 0, 0], [0, 1, 0]] } } } }"#)?;
/// // `path` leads to a clip that moves the node Body/Head.
/// let file = import::cocos::load(&Library::new(), &path)?;
/// assert_eq!((file.clip.duration, file.clip.wrap), (1.0, WrapMode::Loop));
/// assert_eq!(file.clip.tracks[0].target.path, ["Body", "Head"]);
/// assert!(file.warnings.is_empty());
/// # Ok(())
/// # }
/// ```
pub fn load(library: &Library, file: impl AsRef<Path>) -> Result<ClipFile, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes)
}

/// Reads the bytes of an `.anim` or `.json` file. `name` is the name of the file in errors; it is not opened.
///
/// # Errors
/// [`Error::Import`] with a JSON path if the file cannot be used.
pub fn from_slice(library: &Library, name: &Path, bytes: &[u8]) -> Result<ClipFile, Error> {
    parse(bytes).and_then(|file| read(library, &file, bytes.len())).map_err(|error| error.in_file(name))
}

/// The JSON of a file.
fn parse(bytes: &[u8]) -> Result<Value, FileError> {
    if bytes.starts_with(b"CCON") {
        return Err(FileError::new("file", "binary clips (CCON) are not supported; save the clip as JSON"));
    }
    json::parse(json::without_mark(bytes))
}

/// The clip of a file of `bytes` bytes.
fn read(library: &Library, file: &Value, bytes: usize) -> Result<ClipFile, FileError> {
    let mut reader = ImportState::new(library, bytes);
    let clip = clip::read(&mut reader, &clip::find(&Node::root(file))?)?;
    Ok(ClipFile { clip, warnings: reader.warnings })
}
