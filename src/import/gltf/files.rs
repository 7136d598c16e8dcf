//! The files beside a document: external buffers and images; and URIs, which name them or hold their bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};

use crate::import::{FileError, JsonPath};

/// The source of the files beside a document.
#[derive(Clone, Copy)]
pub enum Files<'a> {
    /// No source: other files are refused.
    None,
    /// The files of a folder.
    Folder(&'a Path),
    /// Files whose bytes the caller holds.
    Given(&'a dyn HeldFiles),
}

/// Files whose bytes the caller holds. A trait, because the type of a function would fix the lifetime of the bytes.
pub trait HeldFiles {
    /// The bytes of a file by its path relative to the document.
    fn bytes(&self, name: &str) -> Option<&[u8]>;
}

/// The files that a function returns.
pub struct FilesByName<'f, 'b>(pub &'f dyn Fn(&str) -> Option<&'b [u8]>);

impl HeldFiles for FilesByName<'_, '_> {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        (self.0)(name)
    }
}

/// A file that exists.
pub(super) struct FileKey {
    /// The key of the file: equal for two names of one file.
    pub key: PathBuf,
    /// The number of its bytes.
    pub size: u64,
}

impl<'a> Files<'a> {
    /// The files of a folder, if there is one.
    pub fn in_folder(folder: Option<&'a Path>) -> Self {
        folder.map_or(Self::None, Self::Folder)
    }

    /// Finds a file by its decoded relative path. With `is_single`, no other file is found later, so that its names
    /// need not be resolved. An error is the reason.
    pub(super) fn find(self, uri: &str, name: &str, is_single: bool) -> Result<FileKey, String> {
        match self {
            Self::None => {
                Err(format!("{uri:?} is another file, but the folder of the file is not known; embed the buffer"))
            }
            Self::Folder(folder) => {
                let full = folder.join(name);
                let failed = |error: std::io::Error| format!("{}: {error}", full.display());
                let metadata = std::fs::metadata(&full).map_err(failed)?;
                // Reading anything else, for example a device, may never end.
                if !metadata.is_file() {
                    return Err(format!("{} is not a regular file", full.display()));
                }
                let key = if is_single { full.clone() } else { full.canonicalize().map_err(failed)? };
                Ok(FileKey { key, size: metadata.len() })
            }
            Self::Given(files) => {
                let bytes = files.bytes(name).ok_or_else(|| missing(uri))?;
                Ok(FileKey { key: name.into(), size: bytes.len() as u64 })
            }
        }
    }

    /// The first `size` bytes of a file that was found. Bytes that the caller holds are not copied, and are returned
    /// whole.
    pub(super) fn read(self, key: &Path, uri: &str, name: &str, size: u64) -> Result<Cow<'a, [u8]>, String> {
        if let Self::Given(files) = self {
            return files.bytes(name).map(Cow::Borrowed).ok_or_else(|| missing(uri));
        }
        let failed = |error: std::io::Error| format!("{}: {error}", key.display());
        let mut bytes = Vec::new();
        let capacity = usize::try_from(size).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(capacity).map_err(|_| failed(ErrorKind::OutOfMemory.into()))?;
        File::open(key).and_then(|file| file.take(size).read_to_end(&mut bytes)).map_err(failed)?;
        Ok(Cow::Owned(bytes))
    }
}

fn missing(uri: &str) -> String {
    format!("{uri:?} is another file, which was not given; give it together with this file, or embed it (.glb)")
}

/// Base64 as exporters write it: with or without padding, with any trailing bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// True for a URI that holds its data.
pub(super) fn is_data_uri(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes of a data URI.
pub(super) fn decode_data_uri(uri: &str, path: &JsonPath) -> Result<Vec<u8>, FileError> {
    let error = |reason: String| FileError::new(path, reason);
    let no_percent_encoding = || error("it is not valid percent-encoding".into());
    let Some((header, data)) = uri.split_once(',') else {
        return Err(error("a data URI needs a comma before its data, but this one has none".into()));
    };
    if header.to_ascii_lowercase().ends_with(";base64") {
        let decoded = if data.contains('%') {
            BASE64.decode(percent_decode(data).ok_or_else(no_percent_encoding)?)
        } else {
            BASE64.decode(data)
        };
        return decoded.map_err(|cause| error(format!("it is not valid base64: {cause}")));
    }
    percent_decode(data).ok_or_else(no_percent_encoding)
}

/// The path of a percent-encoded URI; `None` if the encoding is broken or the path is not UTF-8.
pub(super) fn decode_uri_path(uri: &str) -> Option<String> {
    String::from_utf8(percent_decode(uri)?).ok()
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let digit = |byte: Option<u8>| {
        byte.and_then(|byte| char::from(byte).to_digit(16)).and_then(|digit| u8::try_from(digit).ok())
    };
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' { digit(bytes.next())? << 4 | digit(bytes.next())? } else { byte });
    }
    Some(decoded)
}
