//! The files that a library was read from, so that a changed file is noticed when the library is opened again.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use posse::import::gltf;

/// Reads a file. Fails for a device or a pipe, which may never end.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    // The system has an error of its own for folders.
    if kind.is_file() || kind.is_dir() {
        return fs::read(path);
    }
    Err(io::Error::other("it is not a regular file; give a glTF, FBX, BVH or npz file"))
}

/// The buffers beside a glTF file. Each file is read when its bytes are first asked for, and then kept.
pub struct Buffers {
    /// The files, and their bytes; `None` for one that cannot be read.
    files: Vec<(PathBuf, OnceCell<Option<Vec<u8>>>)>,
    /// The index of the file of each buffer, by its path in the document. Several paths may lead to one file.
    by_name: HashMap<String, usize>,
}

impl Buffers {
    /// The buffers that the bytes of a file name; none for a file that cannot be used, which the importer reports.
    pub fn new(path: &Path, bytes: &[u8]) -> Self {
        let names = gltf::Outline::from_slice(path, bytes).map(|outline| outline.buffers).unwrap_or_default();
        let (mut files, mut by_name, mut known) = (Vec::new(), HashMap::new(), HashMap::new());
        for name in names {
            let full = path.with_file_name(&name);
            let file = full.canonicalize().unwrap_or(full);
            let index = *known.entry(file.clone()).or_insert_with(|| {
                files.push((file, OnceCell::new()));
                files.len() - 1
            });
            by_name.insert(name, index);
        }
        Self { files, by_name }
    }

    /// True if the importer has to read the files itself: to say why one cannot be read, or to count the bytes of a
    /// file of several paths once.
    pub fn need_folder(&self) -> bool {
        self.by_name.len() != self.files.len() || self.files.iter().any(|(_, bytes)| matches!(bytes.get(), Some(None)))
    }

    /// The bytes of a buffer by its path in the document; `None` if it cannot be read.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let (path, bytes) = self.files.get(*self.by_name.get(name)?)?;
        bytes.get_or_init(|| read_regular(path).ok()).as_deref()
    }
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: PathBuf,
    /// Its size in bytes, with the buffers beside it.
    pub size: u64,
    /// The CRC-32 of the same bytes.
    pub checksum: u32,
}

impl SourceFile {
    /// The facts of a file, whose bytes have been read, and of the buffers beside it.
    pub fn new(path: &Path, bytes: &[u8], buffers: Option<&Buffers>) -> Self {
        let (mut size, mut checksum) = (bytes.len() as u64, crc32fast::Hasher::new());
        checksum.update(bytes);
        for (file, held) in buffers.map(|buffers| buffers.files.as_slice()).unwrap_or_default() {
            let mut add = |buffer: &[u8]| {
                size += buffer.len() as u64;
                checksum.update(buffer);
            };
            match held.get() {
                Some(buffer) => add(buffer.as_deref().unwrap_or_default()),
                // A buffer that the importer did not need is not kept.
                None => add(&read_regular(file).unwrap_or_default()),
            }
        }
        Self { path: path.to_path_buf(), size, checksum: checksum.finalize() }
    }

    /// True for the same bytes, by whatever path.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.size, self.checksum) == (other.size, other.checksum)
    }
}
