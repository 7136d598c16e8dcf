//! Parsing of glTF documents, versions 2.x.

use std::borrow::Cow;

use serde::Deserialize;

use super::document::{AssetInfo, GltfDocument};
use crate::import::{FileError, Warning, json};

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
