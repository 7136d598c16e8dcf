//! Collected files that the page has given.

use std::path::PathBuf;

/// The path of a collected file, if the page has given it.
pub fn collected(path: &str) -> Option<PathBuf> {
    crate::page::has(path).then(|| path.into())
}
