//! Buffers and buffer views: where the bytes of a file are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::at::At;
use super::document::{Buffer, BufferView, Compression, Document};
use super::meshopt;
use crate::import::Warning;
use crate::import::fault::Fault;

/// What a file may take in memory besides a multiple of its own size. Channels may share an accessor, so that a small
/// file is rightly larger once it is loaded, but not without end.
const ALLOWANCE: u64 = 256 << 20;
/// The multiple.
const GROWTH: u64 = 64;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bytes of the file itself, or loaded or decompressed.
pub(crate) type Bytes<'a> = Rc<Cow<'a, [u8]>>;

/// Reads the data of a document. Buffers are loaded and views decompressed when they are first asked for.
pub(crate) struct Reader<'a> {
    pub document: &'a Document<'a>,
    pub warnings: Vec<Warning>,
    given: Vec<&'a [u8]>,
    folder: Option<&'a Path>,
    buffers: Vec<Option<Bytes<'a>>>,
    /// The files that buffers were read from, which other buffers may name again.
    files: HashMap<PathBuf, Bytes<'a>>,
    decompressed: Vec<Option<Bytes<'a>>>,
    budget: u64,
}

/// The bytes of a buffer view.
pub(crate) struct View<'a> {
    bytes: Bytes<'a>,
    range: Range<usize>,
    pub stride: Option<u64>,
}

impl View<'_> {
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

#[cfg(feature = "render")]
impl<'a> View<'a> {
    /// The bytes of the whole buffer that the view is a part of; those of the view alone where it is compressed.
    pub fn of_buffer(&self) -> Bytes<'a> {
        self.bytes.clone()
    }
}

impl<'a> Reader<'a> {
    /// `given` are the bytes of the buffers that have no URI, a GLB file's binary chunk first; `size` is that of the file;
    /// `folder` is where external buffers lie.
    pub fn new(document: &'a Document<'a>, given: Vec<&'a [u8]>, folder: Option<&'a Path>, size: usize) -> Self {
        let (buffers, views) = (document.buffers.len(), document.buffer_views.len());
        Self {
            document,
            warnings: Vec::new(),
            given,
            folder,
            buffers: vec![None; buffers],
            files: HashMap::new(),
            decompressed: vec![None; views],
            budget: ALLOWANCE.saturating_add(GROWTH.saturating_mul(size as u64)),
        }
    }

    pub fn warn(&mut self, path: impl fmt::Display, message: impl Into<String>) {
        self.warnings.push(Warning { path: path.to_string(), message: message.into() });
    }

    /// Takes from the memory that the file may use; called before anything whose size the file only claims is made.
    pub fn charge(&mut self, path: &At, items: u64, bytes_each: u64) -> Result<(), Fault> {
        match items.checked_mul(bytes_each).and_then(|bytes| self.budget.checked_sub(bytes)) {
            Some(budget) => {
                self.budget = budget;
                Ok(())
            }
            None => Err(Fault::new(path, format!("{items} elements are out of proportion to the size of the file"))),
        }
    }

    /// The bytes of a buffer view, decompressed where they are compressed. `path` is where the index stands.
    pub fn view(&mut self, index: usize, path: &At) -> Result<View<'a>, Fault> {
        let document = self.document;
        let count = document.buffer_views.len();
        let view = document.buffer_views.get(index).ok_or_else(|| Fault::index(path, index, "bufferViews", count))?;
        let place = At::top("bufferViews", index);
        let (bytes, range) = match view.compression() {
            Some((compression, name)) => {
                let bytes = self.decompress(index, compression, &place.field("extensions").field(name))?;
                let range = 0..bytes.len();
                (bytes, range)
            }
            None => self.slice(view.buffer, view.byte_offset, view.byte_length, &place)?,
        };
        Ok(View { bytes, range, stride: stride(view) })
    }

    fn decompress(&mut self, index: usize, from: &Compression, path: &At) -> Result<Bytes<'a>, Fault> {
        if let Some(Some(bytes)) = self.decompressed.get(index) {
            return Ok(bytes.clone());
        }
        let (bytes, range) = self.slice(from.buffer, from.byte_offset, from.byte_length, path)?;
        self.charge(&path.field("count"), from.count, from.byte_stride)?;
        let compressed = bytes.get(range).unwrap_or_default();
        let filter = from.filter.as_deref().unwrap_or("NONE");
        let decompressed = meshopt::decode(compressed, from.count, from.byte_stride, &from.mode, filter).map_err(
            |error| match error.field {
                "" => Fault::new(path, error.reason),
                field => Fault::new(path.field(field), error.reason),
            },
        )?;
        let bytes: Bytes<'a> = Rc::new(Cow::Owned(decompressed));
        if let Some(slot) = self.decompressed.get_mut(index) {
            *slot = Some(bytes.clone());
        }
        Ok(bytes)
    }

    fn slice(
        &mut self,
        buffer: usize,
        offset: u64,
        length: u64,
        path: &At,
    ) -> Result<(Bytes<'a>, Range<usize>), Fault> {
        let bytes = self.buffer(buffer, &path.field("buffer"))?;
        let range = offset.checked_add(length).and_then(|end| {
            let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
            (range.end <= bytes.len()).then_some(range)
        });
        let range = range.ok_or_else(|| {
            let size = bytes.len();
            Fault::new(path, format!("{length} bytes from byte {offset} on are not in buffer {buffer} of {size} bytes"))
        })?;
        Ok((bytes, range))
    }

    fn buffer(&mut self, index: usize, path: &At) -> Result<Bytes<'a>, Fault> {
        let document = self.document;
        let count = document.buffers.len();
        let buffer = document.buffers.get(index).ok_or_else(|| Fault::index(path, index, "buffers", count))?;
        if let Some(Some(bytes)) = self.buffers.get(index) {
            return Ok(bytes.clone());
        }
        let bytes = self.load(index, buffer)?;
        if let Some(slot) = self.buffers.get_mut(index) {
            *slot = Some(bytes.clone());
        }
        Ok(bytes)
    }

    fn load(&mut self, index: usize, buffer: &Buffer) -> Result<Bytes<'a>, Fault> {
        let place = At::top("buffers", index);
        let wanted = buffer.byte_length;
        let too_short = |there: u64| {
            let wanted = wanted.unwrap_or(0);
            Fault::new(place.field("byteLength"), format!("{wanted} bytes are announced, {there} are there"))
        };
        let bytes = match (&buffer.uri, self.given.get(index)) {
            (Some(uri), _) => {
                let path = place.field("uri");
                match uri.get(..5) {
                    Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
                        Rc::new(Cow::Owned(decode_data_uri(uri, &path)?))
                    }
                    _ => self.read_file(uri, wanted, &path, too_short)?,
                }
            }
            (None, Some(given)) => Rc::new(Cow::Borrowed(*given)),
            (None, None) => {
                return Err(Fault::new(place, "it has no uri, and there is no binary chunk or data for it"));
            }
        };
        match wanted {
            Some(wanted) if (bytes.len() as u64) < wanted => Err(too_short(bytes.len() as u64)),
            _ => Ok(bytes),
        }
    }

    /// What a URI that is not a buffer's leads to: data of its own, or a file beside the document.
    #[cfg(feature = "render")]
    pub(crate) fn resource(&mut self, uri: &str, path: &At) -> Result<Bytes<'a>, Fault> {
        match uri.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
                Ok(Rc::new(Cow::Owned(decode_data_uri(uri, path)?)))
            }
            _ => self.read_file(uri, None, path, |there| Fault::new(path, format!("only {there} bytes are there"))),
        }
    }

    fn read_file(
        &mut self,
        uri: &str,
        wanted: Option<u64>,
        path: &At,
        too_short: impl Fn(u64) -> Fault,
    ) -> Result<Bytes<'a>, Fault> {
        let fault = |reason: String| Fault::new(path, reason);
        let name = percent_decode(uri).ok_or_else(|| fault(format!("{uri:?} is not valid percent-encoded UTF-8")))?;
        if uri.contains(':') || name.starts_with(['/', '\\']) || Path::new(&name).is_absolute() {
            return Err(fault(format!("{uri:?} is not a path relative to the file; save the buffer beside it")));
        }
        let folder =
            self.folder.ok_or_else(|| fault(format!("{uri:?} lies outside of the file, whose folder is not known")))?;
        let full = folder.join(&name);
        let failed = |error: std::io::Error| fault(format!("{}: {error}", full.display()));
        let metadata = std::fs::metadata(&full).map_err(failed)?;
        // Anything else, such as a device, may not end.
        if !metadata.is_file() {
            return Err(fault(format!("{} is not a file", full.display())));
        }
        let wanted = wanted.unwrap_or(metadata.len());
        if metadata.len() < wanted {
            return Err(too_short(metadata.len()));
        }
        // A file takes memory once, under whatever names and by however many buffers it is read; where its first buffer was
        // only a part of it, twice. Where there is but one buffer, nobody reads a file again.
        let file = if self.document.buffers.len() > 1 { full.canonicalize().map_err(failed)? } else { full.clone() };
        let size = match self.files.get(&file) {
            Some(bytes) if bytes.len() as u64 >= wanted => return Ok(bytes.clone()),
            Some(_) => metadata.len(),
            None => wanted,
        };
        let mut bytes = Vec::new();
        let room = usize::try_from(size).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(room).map_err(|_| failed(ErrorKind::OutOfMemory.into()))?;
        File::open(&file).and_then(|file| file.take(size).read_to_end(&mut bytes)).map_err(failed)?;
        self.budget = self.budget.saturating_add(GROWTH.saturating_mul(bytes.len() as u64));
        let bytes: Bytes<'a> = Rc::new(Cow::Owned(bytes));
        self.files.insert(file, bytes.clone());
        Ok(bytes)
    }
}

/// Some exporters write 0 where they mean that there is no stride.
fn stride(view: &BufferView) -> Option<u64> {
    view.byte_stride.filter(|&stride| stride != 0)
}

fn decode_data_uri(uri: &str, path: &At) -> Result<Vec<u8>, Fault> {
    let fault = |reason: String| Fault::new(path, reason);
    let Some((header, data)) = uri.split_once(',') else {
        return Err(fault("a data URI has a comma before its data, this one has none".into()));
    };
    if header.to_ascii_lowercase().ends_with(";base64") {
        let decoded = if data.contains('%') {
            percent_decode_bytes(data).map(|data| BASE64.decode(data))
        } else {
            Some(BASE64.decode(data))
        };
        let decoded = decoded.ok_or_else(|| fault("it is not valid percent-encoding".into()))?;
        return decoded.map_err(|error| fault(format!("it is not valid base64: {error}")));
    }
    percent_decode_bytes(data).ok_or_else(|| fault("it is not valid percent-encoding".into()))
}

fn percent_decode(text: &str) -> Option<String> {
    String::from_utf8(percent_decode_bytes(text)?).ok()
}

fn percent_decode_bytes(text: &str) -> Option<Vec<u8>> {
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
