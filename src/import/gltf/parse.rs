//! The bytes of a file to its document: the parts of a GLB container, which holds the JSON and the first buffer (glTF
//! 2.0, section 4.4), and the parsing of the JSON, versions 2.x.

use std::borrow::Cow;

use serde::Deserialize;

use super::document::{AssetInfo, GltfDocument};
use crate::import::{FileError, Warning, json};

const MAGIC: &[u8] = b"glTF";
const HEADER_BYTES: usize = 12;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// The two parts of a file.
#[derive(Debug)]
pub struct Container<'a> {
    pub json: &'a [u8],
    /// The binary chunk of a GLB file, if it has one.
    pub bin: Option<&'a [u8]>,
}

/// Separates the parts of a file. A file that does not begin like a GLB container is JSON.
pub fn open<'a>(bytes: &'a [u8], warnings: &mut Vec<Warning>) -> Result<Container<'a>, FileError> {
    if bytes.starts_with(MAGIC) { open_glb(bytes, warnings) } else { Ok(Container { json: bytes, bin: None }) }
}

fn open_glb<'a>(bytes: &'a [u8], warnings: &mut Vec<Warning>) -> Result<Container<'a>, FileError> {
    let error = |reason: String| FileError::new("GLB header", reason);
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(error(format!("the file has {} bytes, but a header has {HEADER_BYTES}", bytes.len())));
    };
    if version != 2 {
        return Err(error(format!("version {version} is not supported, only 2 is; export the file as glTF 2.0")));
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some(bytes_used) = bytes.get(..length).filter(|used| used.len() >= HEADER_BYTES) else {
        return Err(error(format!("its length is {length}, but the file has {} bytes", bytes.len())));
    };
    if bytes_used.len() < bytes.len() {
        let message = format!("{} bytes after the end are ignored", bytes.len() - bytes_used.len());
        warnings.push(Warning { path: "GLB header".into(), message });
    }
    let mut json = None;
    let mut bin = None;
    let mut rest = &bytes_used[HEADER_BYTES..];
    let mut index = 0;
    while !rest.is_empty() {
        let error = |reason: String| FileError::new(format!("GLB chunk {index}"), reason);
        let (Some(length), Some(kind)) = (word(rest, 0), word(rest, 4)) else {
            return Err(error(format!("{} bytes are left, but the header of a chunk has 8", rest.len())));
        };
        let body = &rest[8..];
        let end = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((data, after)) = body.split_at_checked(end) else {
            return Err(error(format!("the chunk should have {length} bytes, but only {} exist", body.len())));
        };
        match (index, kind) {
            (0, JSON_CHUNK) => json = Some(data),
            (0, _) => return Err(error("the first chunk is not JSON".into())),
            (_, BIN_CHUNK) if bin.is_none() => bin = Some(data),
            // Later and unknown chunks belong to extensions.
            _ => {}
        }
        rest = after;
        index += 1;
    }
    let json = json.ok_or_else(|| FileError::new("GLB chunk 0", "the file has no chunks"))?;
    Ok(Container { json, bin })
}

/// The length in bytes of the first chunk, by the first 20 bytes of a file. `None` if it is not a GLB file that begins
/// with JSON.
pub(crate) fn first_json_chunk(bytes: &[u8]) -> Option<u32> {
    let is_json = bytes.starts_with(MAGIC) && word(bytes, 4) == Some(2) && word(bytes, 16) == Some(JSON_CHUNK);
    is_json.then(|| word(bytes, 12)).flatten()
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}

impl<'a> GltfDocument<'a> {
    /// Parses a document. An error has the JSON path at which the parser stopped.
    pub fn parse(text: &'a str) -> Result<Self, FileError> {
        // The fields of glTF 1.0 have other types. Its version says more than the first of them.
        json::parse_text::<Self>(text).or_else(|error| check_version_alone(text).and(Err(error)))?.check_version()
    }

    /// Refuses a document of another version than 2.
    pub fn check_version(self) -> Result<Self, FileError> {
        match self.asset.as_ref().and_then(|asset| asset.version.as_deref()) {
            Some(version) if !is_version_2(version) => Err(wrong_version(version)),
            _ => Ok(self),
        }
    }
}

/// The text of a document: its JSON without a byte order mark before it and padding zeros after it. In place of what is
/// not UTF-8, it has replacement characters. A file that cannot be a document is refused by its first bytes.
pub fn text<'a>(json: &'a [u8], warnings: &mut Vec<Warning>) -> Result<Cow<'a, str>, FileError> {
    let json = json::without_mark(json);
    let json = json.get(..json.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)).unwrap_or(json);
    if json.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        let found = if json.is_empty() { "it is empty".into() } else { describe_content(json) };
        return Err(FileError::new("file", format!("{found}; a glTF file is a GLB container or a JSON object")));
    }
    let text = String::from_utf8_lossy(json);
    if matches!(text, Cow::Owned(_)) {
        let message = "it is not UTF-8; U+FFFD is read in place of the bytes that are no letters".into();
        warnings.push(Warning { path: "JSON".into(), message });
    }
    Ok(text)
}

/// A description of a file that is not a JSON object, by its first bytes.
fn describe_content(bytes: &[u8]) -> String {
    let kinds: [(&[u8], &str); 5] = [
        (b"\x89PNG", "a PNG picture"),
        (b"\xFF\xD8\xFF", "a JPEG picture"),
        (b"PK\x03\x04", "a zip archive"),
        (b"Kaydara FBX", "an FBX file, which has to be converted"),
        (b"BLENDER", "a Blender file, which has to be exported"),
    ];
    match kinds.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, kind)) => format!("it is {kind}"),
        None => format!("it begins with {:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(8)])),
    }
}

/// Refuses a document of another version than 2, whatever else it holds.
fn check_version_alone(text: &str) -> Result<(), FileError> {
    #[derive(Deserialize)]
    struct Versioned<'a> {
        #[serde(borrow)]
        asset: AssetInfo<'a>,
    }
    match serde_json::from_str(text) {
        Ok(Versioned { asset: AssetInfo { version: Some(version) } }) if !is_version_2(&version) => {
            Err(wrong_version(&version))
        }
        _ => Ok(()),
    }
}

fn is_version_2(version: &str) -> bool {
    version == "2" || version.starts_with("2.")
}

fn wrong_version(version: &str) -> FileError {
    FileError::new(
        "asset.version",
        format!("glTF {version} is not supported, only 2.0 is; export the file as glTF 2.0"),
    )
}
