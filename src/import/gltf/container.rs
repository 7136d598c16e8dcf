//! What a file holds its JSON and its first buffer in (glTF 2.0, section 4.4).

use crate::import::Warning;
use crate::import::fault::Fault;

const MAGIC: &[u8] = b"glTF";
const HEADER_BYTES: usize = 12;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// The two parts of a file.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    pub json: &'a [u8],
    /// The binary chunk of a GLB file, where it has one.
    pub bin: Option<&'a [u8]>,
}

/// Takes a file apart. What does not begin like a GLB file is JSON.
pub(crate) fn open<'a>(bytes: &'a [u8], warnings: &mut Vec<Warning>) -> Result<Container<'a>, Fault> {
    if bytes.starts_with(MAGIC) { open_glb(bytes, warnings) } else { Ok(Container { json: bytes, bin: None }) }
}

fn open_glb<'a>(bytes: &'a [u8], warnings: &mut Vec<Warning>) -> Result<Container<'a>, Fault> {
    let fault = |reason: String| Fault::new("GLB header", reason);
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(fault(format!("{} bytes are too few, a header has {HEADER_BYTES}", bytes.len())));
    };
    if version != 2 {
        return Err(fault(format!("version {version} is not supported, only 2 is")));
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some(bytes_used) = bytes.get(..length).filter(|used| used.len() >= HEADER_BYTES) else {
        return Err(fault(format!("its length of {length} does not fit the file's {} bytes", bytes.len())));
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
        let fault = |reason: String| Fault::new(format!("GLB chunk {index}"), reason);
        let (Some(length), Some(kind)) = (word(rest, 0), word(rest, 4)) else {
            return Err(fault(format!("{} bytes are too few for its header", rest.len())));
        };
        let body = &rest[8..];
        let end = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((data, after)) = body.split_at_checked(end) else {
            return Err(fault(format!("{length} bytes are announced, {} are there", body.len())));
        };
        match (index, kind) {
            (0, JSON_CHUNK) => json = Some(data),
            (0, _) => return Err(fault("the first chunk is not JSON".into())),
            (_, BIN_CHUNK) if bin.is_none() => bin = Some(data),
            // Later and unknown chunks are for extensions.
            _ => {}
        }
        rest = after;
        index += 1;
    }
    let json = json.ok_or_else(|| Fault::new("GLB chunk 0", "there is no chunk"))?;
    Ok(Container { json, bin })
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}
