//! Regular files, as opposed to folders and devices: reading a device may never end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use posse::Error;

/// Opens a file. Fails for anything but a regular file.
pub fn open(file: &Path) -> io::Result<File> {
    let metadata = fs::metadata(file)?;
    if metadata.is_file() {
        return File::open(file);
    }
    let what = if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" };
    Err(io::Error::other(format!("{what}; expected a file with clips")))
}

/// Reads a file. Fails for anything but a regular file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
    Ok(bytes)
}
