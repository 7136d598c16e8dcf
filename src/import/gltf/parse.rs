//! Parsing of glTF documents, versions 2.x.

use serde::Deserialize;

use super::document::{AssetInfo, Document};
use crate::import::{FileError, json};

impl<'a> Document<'a> {
    /// Parses a document. An error has the JSON path at which the parser stopped.
    pub fn parse(text: &'a [u8]) -> Result<Self, FileError> {
        if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            let found = if text.is_empty() { "it is empty".into() } else { describe_content(text) };
            return Err(FileError::new("file", format!("{found}; a glTF file is a GLB container or a JSON object")));
        }
        // It is faster to check all text at once than string by string. Keeping paths costs time as well. Only a
        // document with an error is therefore parsed a second time, with paths. So is one that is not UTF-8: fields
        // that are skipped may hold any bytes.
        let document = match std::str::from_utf8(text).map(serde_json::from_str::<Self>) {
            Ok(Ok(document)) => document,
            _ => parse_with_paths(text)?,
        };
        document.check_version()
    }

    /// Refuses a document of another version than 2.
    pub fn check_version(self) -> Result<Self, FileError> {
        match self.asset.as_ref().and_then(|asset| asset.version.as_deref()) {
            Some(version) if !is_version_2(version) => Err(wrong_version(version)),
            _ => Ok(self),
        }
    }
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

/// The JSON without a byte order mark before it and padding zeros after it.
pub fn trim(text: &[u8]) -> &[u8] {
    let text = json::without_mark(text);
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

fn parse_with_paths(text: &[u8]) -> Result<Document<'_>, FileError> {
    #[derive(Deserialize)]
    struct Versioned<'a> {
        #[serde(borrow)]
        asset: AssetInfo<'a>,
    }
    // The fields of glTF 1.0 have other types. Its version says more than the first of them.
    if let Ok(Versioned { asset: AssetInfo { version: Some(version) } }) = serde_json::from_slice(text)
        && !is_version_2(&version)
    {
        return Err(wrong_version(&version));
    }
    json::parse(text)
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
