//! Notes that are printed even if the test passes.

use std::path::PathBuf;

use super::collected::collected;

/// Prints that a check did not run.
pub fn report_skipped(what: &str) {
    crate::page::note(&format!("SKIPPED: {what}"));
}

/// The path of a collected file. If the page has not given it, a note names the check that does not run.
pub fn collected_or_skip(path: &str, check: &str) -> Option<PathBuf> {
    let found = collected(path);
    if found.is_none() {
        report_skipped(&format!("{check}: {path} is missing"));
    }
    found
}
