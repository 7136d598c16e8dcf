//! What is wrong with a file.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// Why a file cannot be used; becomes [`Error::Import`] once the file's name is known.
#[derive(Debug)]
pub(crate) struct Fault {
    /// JSON path, or the part of a GLB container.
    pub path: String,
    /// What is wrong there, and what would be right.
    pub reason: String,
}

impl Fault {
    pub fn new(path: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { path: path.to_string(), reason: reason.into() }
    }

    /// An index beyond the end of an array of the document.
    pub fn index(path: impl fmt::Display, index: usize, array: &str, len: usize) -> Self {
        Self::new(path, format!("there is no {array}[{index}], the file has {len}"))
    }

    pub fn of(self, file: &Path) -> Error {
        Error::Import { file: file.to_path_buf(), path: self.path, reason: self.reason }
    }
}
