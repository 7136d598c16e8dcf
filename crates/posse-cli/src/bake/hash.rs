//! The SHA-256 of files.

use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use posse::Error;
use sha2::{Digest, Sha256};

use crate::bake::facts::BufferFacts;
use crate::bake::regular_file;

const BLOCK: usize = 1 << 18;

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn of_bytes(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

/// The SHA-256 of a regular file, in hexadecimal digits.
pub fn of_file(file: &Path) -> Result<String, Error> {
    let mut input = HashingReader::new(regular_file::open(file)?);
    input.read_to_end_of_file().map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    Ok(input.hash().digits())
}

/// The facts of the files beside a file. Those that do not exist are left out: importers refuse a file only if it needs them.
pub fn facts_of_buffers(file: &Path, buffers: &[String]) -> Result<Vec<BufferFacts>, Error> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let existing = buffers.iter().map(|path| (path, folder.join(path))).filter(|(_, place)| place.is_file());
    existing.map(|(path, place)| Ok(BufferFacts { path: path.clone(), sha256: of_file(&place)? })).collect()
}

/// A reader that hashes all that is read.
pub struct HashingReader<R> {
    input: R,
    hash: RunningHash,
}

/// The hash of the bytes that a [`HashingReader`] has read. Its copies share it.
#[derive(Clone)]
pub struct RunningHash(Arc<Mutex<Sha256>>);

impl RunningHash {
    /// The hash up to here, in hexadecimal digits.
    pub fn digits(&self) -> String {
        digits(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl<R: Read> HashingReader<R> {
    /// A reader at the beginning of an input.
    pub fn new(input: R) -> Self {
        Self { input, hash: RunningHash(Arc::new(Mutex::new(Sha256::new()))) }
    }

    /// The hash of the bytes that will have been read.
    pub fn hash(&self) -> RunningHash {
        self.hash.clone()
    }

    /// Reads the rest.
    pub fn read_to_end_of_file(&mut self) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        while self.read(&mut block)? > 0 {}
        Ok(())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(bytes)?;
        self.hash.0.lock().unwrap_or_else(PoisonError::into_inner).update(&bytes[..count]);
        Ok(count)
    }
}

fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
