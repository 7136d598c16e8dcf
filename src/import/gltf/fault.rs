//! What is wrong with a file, and where.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// A place in a document. It is spelled out, as a JSON path, only where there is something to say about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    within: Option<&'a At<'a>>,
    name: &'static str,
    index: Option<usize>,
}

impl At<'_> {
    /// An item of one of the document's arrays.
    pub fn top(name: &'static str, index: usize) -> At<'static> {
        At { within: None, name, index: Some(index) }
    }

    /// A field of what is here.
    pub fn field(&self, name: &'static str) -> At<'_> {
        At { within: Some(self), name, index: None }
    }

    /// An item of an array of what is here.
    pub fn item(&self, name: &'static str, index: usize) -> At<'_> {
        At { within: Some(self), name, index: Some(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = self.within {
            write!(out, "{within}.")?;
        }
        match self.index {
            Some(index) => write!(out, "{}[{index}]", self.name),
            None => write!(out, "{}", self.name),
        }
    }
}

/// Why a file cannot be used; becomes [`Error::Import`] once the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
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
