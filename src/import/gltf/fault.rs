//! What is wrong with a file, and where.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// Why a file cannot be used; becomes [`Error::Import`] once the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    /// JSON path, or the part of a GLB container.
    pub path: String,
    /// What is wrong there, and what would be right.
    pub reason: String,
}

impl Fault {
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }

    /// An index beyond the end of an array of the document.
    pub fn index(path: impl Into<String>, index: usize, array: &str, len: usize) -> Self {
        Self::new(path, format!("there is no {array}[{index}], the file has {len}"))
    }

    pub fn of(self, file: &Path) -> Error {
        Error::Import { file: file.to_path_buf(), path: self.path, reason: self.reason }
    }
}

/// A fault of a file that was repaired or passed over, so that the rest could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// JSON path of the fault, for example `animations[0].channels[3].target`.
    pub path: String,
    /// What is wrong there, and what was done about it.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.message)
    }
}
