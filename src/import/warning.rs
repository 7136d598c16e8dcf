//! What an importer has to say about a file that it could use.

use std::fmt;

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
