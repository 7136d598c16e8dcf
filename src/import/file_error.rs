//! Errors that stop an importer, warnings that do not, and the limit to the memory that a file can claim.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// A reason that a file cannot be used. It becomes [`Error::Import`] as soon as the name of the file is known.
#[derive(Debug)]
pub struct FileError {
    /// JSON path, the part of a GLB container, or the line of a text.
    pub path: String,
    /// The value that was found, the value that was expected, and the hint if there is one.
    pub reason: String,
    /// `true` if the file cannot be used without the part: a missing buffer, too much memory. Without others, such as a
    /// track, the file may be used.
    pub stops_file: bool,
}

impl FileError {
    /// Makes an error at a path.
    pub fn new(path: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { path: path.to_string(), reason: reason.into(), stops_file: false }
    }

    /// The error as one that stops the whole file.
    pub fn stopping_file(self) -> Self {
        Self { stops_file: true, ..self }
    }

    /// The error of an index beyond the end of an array of the document.
    pub fn index(path: impl fmt::Display, index: usize, array: &str, len: usize) -> Self {
        Self::new(path, format!("there is no {array}[{index}], the file has {len}"))
    }

    /// The error as the error of a file.
    pub fn in_file(self, file: &Path) -> Error {
        Error::Import { file: file.to_path_buf(), path: self.path, reason: self.reason }
    }
}

/// An error of a file that was repaired or passed over, so that the rest could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// JSON path of the error, for example `animations[0].channels[3].target`, or its line, for example `line 12`.
    pub path: String,
    /// The error, and the repair.
    pub message: String,
}

impl Warning {
    /// Refuses a file that has warnings: for callers who want files without errors alone.
    ///
    /// # Errors
    /// [`Error::Import`] with the path and the message of the first warning, if there is one.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use posse::import::Warning;
    /// use posse::{Library, import};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let (file, text) = (Path::new("old.gltf"), br#"{ "asset": {} }"#);
    /// let asset = import::gltf::from_slice(&mut Library::new(), file, text, None)?;
    /// let error = Warning::refuse(file, &asset.warnings).unwrap_err();
    /// assert_eq!(error.to_string(), "old.gltf: asset.version: it is missing; the file is read as glTF 2.0");
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse(file: &Path, warnings: &[Self]) -> Result<(), Error> {
        let Some(Self { path, message }) = warnings.first() else { return Ok(()) };
        Err(FileError::new(path, message).in_file(file))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.message)
    }
}

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

/// A text of a file for a message: its first 64 characters.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 64;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(shorten(&"\u{e9}".repeat(64)), "\u{e9}".repeat(64));
        assert_eq!(shorten(&"\u{e9}".repeat(65)), "\u{e9}".repeat(64) + "...");
    }
}
