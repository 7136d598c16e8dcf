//! The facts that an output states about itself, and the hashes of the files that it comes from.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use posse::Error;
use posse::import::gltf;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bake::frames::SourceFrames;

/// The version that outputs state.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// All that an output states about itself, besides its arrays.
///
/// Writers that hold text only, for example the metadata of Parquet, store the JSON of this record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The name of the clip: the path of the output below OUT, without extension.
    pub clip: String,
    /// Frames per second.
    pub fps: f64,
    /// The names of the joints written. A joint without a name has an empty one.
    pub joint_names: Vec<String>,
    /// The nearest ancestor of each joint among the joints written; -1 without one.
    pub parents: Vec<i32>,
    /// The order of the numbers of quaternions: `xyzw` or `wxyz`.
    pub quaternion_order: &'static str,
    /// The names of the feet of the array `contact`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contact_feet: Vec<String>,
    /// The names of the weights of the array `weights`, if the file names morph targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weight_names: Vec<String>,
    /// The measures of the clip, for the manifest.
    #[serde(skip)]
    pub quality: Option<Value>,
    /// The axis that points up: `y`, `z`, or `unknown`.
    pub up_axis: &'static str,
    /// The factor of lengths, the value of `--scale`.
    pub unit_scale: f64,
    /// The file that the clip comes from.
    pub source: SourceFacts,
    /// The options that change the result, as JSON in a fixed order.
    pub options: String,
    /// The version of posse.
    pub posse_version: &'static str,
    /// The engine, with the instruction set if the bits depend on it.
    pub engine: String,
    /// The warnings about the clip. They stand in the manifest, not in the output.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// The frames and joints of the output, for the manifest.
    #[serde(skip)]
    pub rows: RowFacts,
    /// `true` if lengths are metres, and false if nothing is known of their unit.
    #[serde(skip)]
    pub is_in_metres: bool,
}

/// The frames and joints of an output, by which a reader of the manifest selects and groups clips without opening them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowFacts {
    /// The number of frames.
    pub frames: u64,
    /// Frames per second.
    pub fps: f64,
    /// The time of the last frame, in seconds; the first frame is at 0.
    pub seconds: f64,
    /// The number of joints written.
    pub joints: usize,
    /// 16 hexadecimal digits, equal for clips whose joints have the same names and parents in the same order.
    pub skeleton: String,
}

/// The digits of [`RowFacts::skeleton`]: the first ones of a SHA-256.
pub fn skeleton_digits(joint_names: &[String], parents: &[i32]) -> String {
    let mut hash = Sha256::new();
    for (name, parent) in joint_names.iter().zip(parents) {
        // The length tells names apart that would read the same one after the other.
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(parent.to_le_bytes());
    }
    let mut digits = digits(hash);
    digits.truncate(16);
    digits
}

/// The source of a clip: its file, by content, and what of the file the output has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    /// The path below the INPUT under which the file was found, with `/` between folders.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// The files beside it that it names, in the order of their first mention.
    pub buffers: Vec<BufferFacts>,
    /// The name of the clip, if its piece or its mirror image has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// `true` if the output has the mirror image of the clip.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mirrored: bool,
    /// The frames that the output has; `None` for a whole clip.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub frames: Option<SourceFrames>,
}

/// A file that another file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferFacts {
    /// The path, as the naming file has it, without percent-encoding.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// The paths of the glTF files of a crowd file, and of the buffers beside them, relative to the folder of the crowd
/// file.
pub fn files_of_crowd(path: &Path, bytes: &[u8]) -> Result<Vec<String>, Error> {
    let document: Value = serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
        .map_err(|error| Error::Import { file: path.to_path_buf(), path: "JSON".into(), reason: error.to_string() })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = document["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut paths: Vec<String> = Vec::new();
    for name in names {
        let outline = gltf::Outline::read(folder.join(name)).unwrap_or_default();
        let below = |buffer: &String| Path::new(name).with_file_name(buffer).to_string_lossy().into_owned();
        paths.push(name.to_owned());
        paths.extend(outline.buffers.iter().map(below));
    }
    let mut known = HashSet::new();
    paths.retain(|path| known.insert(path.clone()));
    Ok(paths)
}

const BLOCK: usize = 1 << 18;

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn sha256_of_bytes(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

/// The SHA-256 of a regular file, in hexadecimal digits.
pub fn sha256_of_file(file: &Path) -> Result<String, Error> {
    let mut input = HashingReader::new(open_regular(file)?);
    input.read_to_end_of_file().map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    Ok(input.hash().digits())
}

/// The facts of the files beside a file. Files that do not exist are left out: importers refuse a file only if it needs
/// them.
pub fn facts_of_buffers(file: &Path, buffers: &[String]) -> Result<Vec<BufferFacts>, Error> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let existing = buffers.iter().map(|path| (path, folder.join(path))).filter(|(_, place)| place.is_file());
    existing.map(|(path, place)| Ok(BufferFacts { path: path.clone(), sha256: sha256_of_file(&place)? })).collect()
}

/// A reader that hashes all that is read.
pub struct HashingReader<R> {
    input: R,
    hash: RunningHash,
}

/// The hash of the bytes that a [`HashingReader`] has read. Its copies share it.
#[derive(Clone)]
pub struct RunningHash(Arc<Mutex<Sha256>>);

impl RunningHash {
    /// The hash up to here, in hexadecimal digits.
    pub fn digits(&self) -> String {
        digits(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl<R: Read> HashingReader<R> {
    /// A reader at the beginning of an input.
    pub fn new(input: R) -> Self {
        Self { input, hash: RunningHash(Arc::new(Mutex::new(Sha256::new()))) }
    }

    /// The hash of the bytes that will have been read.
    pub fn hash(&self) -> RunningHash {
        self.hash.clone()
    }

    /// Reads the rest.
    pub fn read_to_end_of_file(&mut self) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        while self.read(&mut block)? > 0 {}
        Ok(())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(bytes)?;
        self.hash.0.lock().unwrap_or_else(PoisonError::into_inner).update(&bytes[..count]);
        Ok(count)
    }
}

fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a file. Fails for anything but a regular file.
pub fn open_regular(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::Io { file: path.to_path_buf(), source };
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_file() {
        return File::open(path).map_err(failed);
    }
    let what = if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" };
    Err(failed(io::Error::other(format!("{what}; expected a file"))))
}

/// Reads a file. Fails for anything but a regular file.
pub fn read_regular(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = open_regular(path)?.read_to_end(&mut bytes);
    read.map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
    Ok(bytes)
}

/// The options of a bake in which two records of [`Options`](super::options::Options) differ, as they are typed, with
/// both values.
pub fn different_options(found: &Value, expected: &Value) -> String {
    let names = different_names(found, expected);
    // What follows from another option that differs was not typed.
    let follows = |name: &str| match name {
        "bvh_order" | "layout" => names.contains(&"format"),
        "arrays" | "quaternions" => names.contains(&"format") || names.contains(&"layout"),
        "quality" => names.contains(&"foot_lock"),
        _ => false,
    };
    let names = names.iter().copied().filter(|name| !follows(name));
    let lines = names.map(|name| {
        let option = option_of(name);
        let [before, now] = [found, expected].map(|options| given(options.get(name)));
        // Of a file, only the hash is known.
        let is_hash = |value: &Value| is_file(name) && value.as_str().is_none_or(|text| text.len() == 64);
        let show = |value: Option<&Value>| match value {
            None => "not given".into(),
            Some(value) if is_hash(value) => "given".into(),
            Some(value) => typed(value),
        };
        match (before, now) {
            (Some(before @ Value::Object(_)), Some(now @ Value::Object(_))) if name == "retarget" => {
                let options: Vec<String> = different_names(before, now).into_iter().map(option_of).collect();
                format!("{option} differs in {}", options.join(", "))
            }
            (Some(_), Some(_)) if is_file(name) => format!("{option} was another file, or has changed"),
            (Some(Value::Array(before)), Some(Value::Array(now))) if before.len().min(now.len()) > MAX_LISTED => {
                format!("{option} listed {} names, lists {} others", before.len(), now.len())
            }
            _ => format!("{option} was {}, is {}", show(before), show(now)),
        }
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// The names of the fields in which two JSON objects differ, in alphabetical order.
fn different_names<'a>(found: &'a Value, expected: &'a Value) -> Vec<&'a str> {
    let fields = [found, expected].into_iter().filter_map(Value::as_object);
    let names: BTreeSet<&str> = fields.flat_map(|fields| fields.keys().map(String::as_str)).collect();
    names.into_iter().filter(|name| given(found.get(name)) != given(expected.get(name))).collect()
}

/// The value of an option; `None` if it was not given.
fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !matches!(value, Value::Null | Value::Bool(false)) && value.as_array() != Some(&Vec::new()))
}

/// Returns `true` for an option whose value is stored as the hash of a file.
fn is_file(name: &str) -> bool {
    ["cuts", "rig", "skeleton"].contains(&name)
}

/// The option of a field.
fn option_of(name: &str) -> String {
    let name = if name == "strict" { "strict-retarget".into() } else { name.replace('_', "-") };
    format!("--{name}")
}

/// The largest number of names that are listed.
const MAX_LISTED: usize = 8;

/// A value as a user types it; `given` for an option without a value.
fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Array(values) if values.len() > MAX_LISTED => format!("{} names", values.len()),
        Value::Array(values) => values.iter().map(typed).collect::<Vec<_>>().join(","),
        Value::Null | Value::Bool(_) | Value::Object(_) => "given".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn different_options_are_named_as_they_are_typed() {
        let hash = "0123456789abcdef".repeat(4);
        let rig = json!({ "sha256": hash, "buffers": [] });
        let plain = json!({ "fps": null, "arrays": ["pos", "quat"], "rig": null, "scale": 1.0, "format": "npz", "layout": "plain" });
        let with = |changes: Value| {
            let mut options = plain.clone();
            for (name, value) in changes.as_object().unwrap() {
                options[name] = value.clone();
            }
            options
        };
        let retarget = |facing: &str, bound: Value| json!({ "facing": facing, "bound": bound, "strict": false });
        for (before, now, expected) in [
            (json!({}), json!({ "fps": 29.97 }), "--fps was not given, is 29.97"),
            (json!({ "fps": 30.0 }), json!({}), "--fps was 30, is not given"),
            (json!({}), json!({ "arrays": ["pos"] }), "--arrays was pos,quat, is pos"),
            (json!({}), json!({ "joints": vec!["a"; 9] }), "--joints was not given, is 9 names"),
            (json!({}), json!({ "foot_lock": true, "quality": true }), "--foot-lock was not given, is given"),
            (json!({}), json!({ "layout": "mjlab", "arrays": ["pos"] }), "--layout was plain, is mjlab"),
            (
                json!({ "joints": vec!["a"; 9] }),
                json!({ "joints": vec!["b"; 9] }),
                "--joints listed 9 names, lists 9 others",
            ),
            (
                json!({}),
                json!({ "joints": ["x".repeat(64)] }),
                &*format!("--joints was not given, is {}", "x".repeat(64)),
            ),
            (json!({}), json!({ "rig": rig, "scale": 100.0 }), "--rig was not given, is given; --scale was 1, is 100"),
            (json!({ "rig": "demo" }), json!({ "rig": rig }), "--rig was another file, or has changed"),
            (json!({ "cuts": hash }), json!({}), "--cuts was given, is not given"),
            (json!({}), json!({ "format": "bvh", "layout": null, "bvh_order": "ZXY" }), "--format was npz, is bvh"),
            (
                json!({ "retarget": retarget("Auto", Value::Null) }),
                json!({ "retarget": retarget("Keep", 0.01.into()) }),
                "--retarget differs in --bound, --facing",
            ),
        ] {
            assert_eq!(different_options(&with(before), &with(now)), expected);
        }
        assert_eq!(different_options(&plain, &with(json!({ "mirror": false, "clip": [] }))), "");
    }
}
