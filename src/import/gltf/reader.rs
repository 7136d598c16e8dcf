//! Buffers and buffer views: the bytes of a file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::document::{BufferSource, BufferView, Compression, GltfDocument};
use super::files::{self, FileKey, Files};
use super::meshopt;
use crate::import::file_error::MemoryBudget;
use crate::import::{FileError, JsonPath, Warning};

/// Bytes that any file may allocate. Channels may share an accessor, so that even a small file may rightly need far
/// more memory than its own size.
const ALLOWANCE: u64 = 256 << 20;

/// Bytes of the file itself, of another file, or decompressed bytes.
pub type Bytes<'a> = Rc<Cow<'a, [u8]>>;

/// Reads the data of a document. Loads a buffer and decompresses a view on the first request.
pub struct Reader<'a> {
    /// The document.
    pub document: &'a GltfDocument<'a>,
    /// The errors that were repaired or passed over.
    pub warnings: Vec<Warning>,
    /// The bytes of the buffers without a URI, by buffer.
    given: Vec<&'a [u8]>,
    /// The source of external buffers and images.
    files: Files<'a>,
    buffers: Vec<Option<Bytes<'a>>>,
    /// The files that have been read. Other buffers may name the same files.
    loaded: HashMap<PathBuf, Bytes<'a>>,
    decompressed: Vec<Option<Bytes<'a>>>,
    budget: MemoryBudget,
}

/// The bytes of a buffer view.
pub struct ViewBytes<'a> {
    bytes: Bytes<'a>,
    range: Range<usize>,
    pub stride: Option<u64>,
}

impl ViewBytes<'_> {
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl<'a> ViewBytes<'a> {
    /// The bytes of the whole buffer of the view. For a compressed view, the bytes of the view alone.
    pub fn of_buffer(&self) -> Bytes<'a> {
        self.bytes.clone()
    }
}

impl<'a> Reader<'a> {
    /// A reader of a document. `given` holds the bytes of the buffers without a URI, the binary chunk of a GLB file
    /// first. `size` is the number of bytes of the file. `files` has the external buffers.
    pub fn new(document: &'a GltfDocument<'a>, given: Vec<&'a [u8]>, files: Files<'a>, size: usize) -> Self {
        let (buffers, views) = (document.buffers.len(), document.buffer_views.len());
        Self {
            document,
            warnings: Vec::new(),
            given,
            files,
            buffers: vec![None; buffers],
            loaded: HashMap::new(),
            decompressed: vec![None; views],
            budget: MemoryBudget::new(size, ALLOWANCE),
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, path: impl fmt::Display, message: impl Into<String>) {
        self.warnings.push(Warning { path: path.to_string(), message: message.into() });
    }

    /// Warns of a part of the file that is left out for an error. Fails if the error stops the whole file.
    pub fn leave_out(&mut self, part: impl fmt::Display, error: FileError) -> Result<(), FileError> {
        if error.stops_file {
            return Err(error);
        }
        self.warn(error.path, format!("{}; {part} is left out", error.reason));
        Ok(())
    }

    /// Charges the memory of `items` items. To be called before each allocation of a size that the file claims.
    pub fn charge(&mut self, path: &JsonPath, items: u64, bytes_each: u64) -> Result<(), FileError> {
        self.budget.charge(path, items.saturating_mul(bytes_each))
    }

    /// The bytes of a buffer view, decompressed if necessary. `path` is the place of the index.
    pub fn view(&mut self, index: usize, path: &JsonPath) -> Result<ViewBytes<'a>, FileError> {
        let document = self.document;
        let count = document.buffer_views.len();
        let view =
            document.buffer_views.get(index).ok_or_else(|| FileError::index(path, index, "bufferViews", count))?;
        let path = JsonPath::top("bufferViews", index);
        let (bytes, range) = match view.compression() {
            Some((compression, name)) => {
                let bytes = self.decompress(index, compression, &path.field("extensions").field(name))?;
                let range = 0..bytes.len();
                (bytes, range)
            }
            None => self.slice(view.buffer, view.byte_offset, view.byte_length, &path)?,
        };
        Ok(ViewBytes { bytes, range, stride: stride(view) })
    }

    fn decompress(&mut self, index: usize, from: &Compression, path: &JsonPath) -> Result<Bytes<'a>, FileError> {
        if let Some(Some(bytes)) = self.decompressed.get(index) {
            return Ok(bytes.clone());
        }
        let (bytes, range) = self.slice(from.buffer, from.byte_offset, from.byte_length, path)?;
        self.charge(&path.field("count"), from.count, from.byte_stride)?;
        let compressed = bytes.get(range).unwrap_or_default();
        let filter = from.filter.as_deref().unwrap_or("NONE");
        let decompressed = meshopt::decode(compressed, from.count, from.byte_stride, &from.mode, filter).map_err(
            |error| match error.field {
                "" => FileError::new(path, error.reason),
                field => FileError::new(path.field(field), error.reason),
            },
        )?;
        let bytes: Bytes<'a> = Rc::new(Cow::Owned(decompressed));
        if let Some(entry) = self.decompressed.get_mut(index) {
            *entry = Some(bytes.clone());
        }
        Ok(bytes)
    }

    fn slice(
        &mut self,
        buffer: usize,
        offset: u64,
        length: u64,
        path: &JsonPath,
    ) -> Result<(Bytes<'a>, Range<usize>), FileError> {
        let bytes = self.buffer(buffer, &path.field("buffer"))?;
        let range = offset.checked_add(length).and_then(|end| {
            let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
            (range.end <= bytes.len()).then_some(range)
        });
        let range = range.ok_or_else(|| {
            let size = bytes.len();
            FileError::new(path, format!("{length} bytes from byte {offset} on exceed buffer {buffer} of {size} bytes"))
        })?;
        Ok((bytes, range))
    }

    /// Returns `true` if there are bytes for a buffer: it has a URI, or is the binary chunk. Other buffers stand for
    /// compressed data.
    pub(crate) fn has_bytes(&self, index: usize) -> bool {
        self.given.get(index).is_some() || self.document.buffers.get(index).is_some_and(|buffer| buffer.uri.is_some())
    }

    /// The bytes of a buffer, at least as many as the document states. `path` is the place of the index.
    pub(crate) fn buffer(&mut self, index: usize, path: &JsonPath) -> Result<Bytes<'a>, FileError> {
        let document = self.document;
        let count = document.buffers.len();
        let buffer = document.buffers.get(index).ok_or_else(|| FileError::index(path, index, "buffers", count))?;
        if let Some(Some(bytes)) = self.buffers.get(index) {
            return Ok(bytes.clone());
        }
        let bytes = self.load(index, buffer).map_err(FileError::stopping_file)?;
        if let Some(entry) = self.buffers.get_mut(index) {
            *entry = Some(bytes.clone());
        }
        Ok(bytes)
    }

    fn load(&mut self, index: usize, buffer: &BufferSource) -> Result<Bytes<'a>, FileError> {
        let path = JsonPath::top("buffers", index);
        let wanted = buffer.byte_length;
        let too_short = |found: u64| {
            let reason = format!("the buffer should have {} bytes, but only {found} exist", wanted.unwrap_or(0));
            FileError::new(path.field("byteLength"), reason)
        };
        let bytes = match (&buffer.uri, self.given.get(index)) {
            (Some(uri), _) => {
                let path = path.field("uri");
                match files::is_data_uri(uri) {
                    true => Rc::new(Cow::Owned(files::decode_data_uri(uri, &path)?)),
                    false => self.read_file(uri, wanted, &path, too_short)?,
                }
            }
            (None, Some(given)) => Rc::new(Cow::Borrowed(*given)),
            (None, None) => {
                return Err(FileError::new(path, "it has no uri, and the file has no binary chunk or data for it"));
            }
        };
        match wanted {
            Some(wanted) if (bytes.len() as u64) < wanted => Err(too_short(bytes.len() as u64)),
            _ => Ok(bytes),
        }
    }

    /// The bytes of a URI of anything but a buffer: its own data, or a file beside the document.
    pub fn resource(&mut self, uri: &str, path: &JsonPath) -> Result<Bytes<'a>, FileError> {
        if files::is_data_uri(uri) {
            return Ok(Rc::new(Cow::Owned(files::decode_data_uri(uri, path)?)));
        }
        self.read_file(uri, None, path, |found| FileError::new(path, format!("only {found} bytes exist")))
    }

    fn read_file(
        &mut self,
        uri: &str,
        wanted: Option<u64>,
        path: &JsonPath,
        too_short: impl Fn(u64) -> FileError,
    ) -> Result<Bytes<'a>, FileError> {
        let error = |reason: String| FileError::new(path, reason);
        let name =
            files::decode_uri_path(uri).ok_or_else(|| error(format!("{uri:?} is not valid percent-encoded UTF-8")))?;
        if uri.contains(':') || name.starts_with(['/', '\\']) || Path::new(&name).is_absolute() {
            return Err(error(format!("{uri:?} is not a path relative to the file; save the buffer beside the file")));
        }
        // A file is stored once, however many buffers and names refer to it; twice if the first buffer needs only a
        // part of it. With a single buffer, no file is read again.
        let is_single = self.document.buffers.len() <= 1;
        let FileKey { key, size } = self.files.find(uri, &name, is_single).map_err(error)?;
        let wanted = wanted.unwrap_or(size);
        if size < wanted {
            return Err(too_short(size));
        }
        let size = match self.loaded.get(&key) {
            Some(bytes) if bytes.len() as u64 >= wanted => return Ok(bytes.clone()),
            Some(_) => size,
            None => wanted,
        };
        let bytes: Bytes<'a> = Rc::new(self.files.read(&key, uri, &name, size).map_err(error)?);
        self.budget.add_file(bytes.len());
        self.loaded.insert(key, bytes.clone());
        Ok(bytes)
    }
}

/// The stride of a view. Some exporters write 0 for a view without a stride.
fn stride(view: &BufferView) -> Option<u64> {
    view.byte_stride.filter(|&stride| stride != 0)
}
