//! A limit to the memory that a file can claim.

use std::fmt;

use super::file_error::FileError;

/// The bytes that an importer may still allocate for a file.
///
/// A few bytes of a file can stand for many: a count, an accessor that many channels share, a reference. Importers
/// therefore charge an allocation before they make it, if its size comes from the file. The limit is 64 bytes per byte
/// of the file, plus an allowance of the importer.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    left: u64,
    allowance: u64,
}

/// Bytes of memory per byte of the file.
const GROWTH: u64 = 64;

impl MemoryBudget {
    /// The budget of a file.
    pub fn new(file_bytes: usize, allowance: u64) -> Self {
        let mut budget = Self { left: allowance, allowance };
        budget.add_file(file_bytes);
        budget
    }

    /// Raises the limit, after one more file has been read.
    pub fn add_file(&mut self, file_bytes: usize) {
        self.left = self.left.saturating_add(GROWTH.saturating_mul(file_bytes as u64));
    }

    /// Takes bytes from the budget. Fails if too few are left; `path` is the place in the file that asks for them.
    pub fn charge(&mut self, path: impl fmt::Display, bytes: u64) -> Result<(), FileError> {
        let Some(left) = self.left.checked_sub(bytes) else {
            let Self { left, allowance } = self;
            let reason = format!(
                "it outgrows the memory budget of the file: {bytes} bytes are needed, {left} are left. The budget is {GROWTH} \
                 bytes per byte of the file and {allowance} bytes. The file may refer to the same data too often, or be damaged"
            );
            return Err(FileError::new(path, reason).stopping_file());
        };
        self.left = left;
        Ok(())
    }
}
