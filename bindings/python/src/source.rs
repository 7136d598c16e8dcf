//! The files that a library was read from, so that a changed file is noticed when the library is opened again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use posse::import::{FileFormat, gltf};

/// Reads a file. Fails for a device or a pipe, which may never end.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    // The system has an error of its own for folders.
    if kind.is_file() || kind.is_dir() {
        return fs::read(path);
    }
    Err(io::Error::other("it is not a regular file; give a glTF, FBX, BVH or npz file"))
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
    /// The facts of a file, whose bytes have been read.
    pub fn new(path: &Path, format: FileFormat, bytes: &[u8]) -> Self {
        let (mut size, mut checksum) = (bytes.len() as u64, crc32fast::Hasher::new());
        checksum.update(bytes);
        let outline = (format == FileFormat::Gltf).then(|| gltf::Outline::from_slice(path, bytes));
        for buffer in outline.and_then(Result::ok).map(|outline| outline.buffers).unwrap_or_default() {
            // The importer reports a buffer that is needed and cannot be read.
            let buffer = read_regular(&path.with_file_name(buffer)).unwrap_or_default();
            size += buffer.len() as u64;
            checksum.update(&buffer);
        }
        Self { path: path.to_path_buf(), size, checksum: checksum.finalize() }
    }

    /// True for the same bytes, by whatever path.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.size, self.checksum) == (other.size, other.checksum)
    }
}
