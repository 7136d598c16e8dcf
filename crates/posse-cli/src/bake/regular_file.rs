//! Regular files, as opposed to folders and devices: reading a device may never end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use posse::Error;

/// Opens a file. Fails for anything but a regular file.
pub fn open(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::Io { file: path.to_path_buf(), source };
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_file() {
        return File::open(path).map_err(failed);
    }
    let what = if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" };
    Err(failed(io::Error::other(format!("{what}; expected a file with clips"))))
}

/// Reads a file. Fails for anything but a regular file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = open(path)?.read_to_end(&mut bytes);
    read.map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
    Ok(bytes)
}
