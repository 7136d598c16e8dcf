//! GLB containers, which hold the JSON and the first buffer of a file (glTF 2.0, section 4.4).

use crate::import::{FileError, Warning};

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
