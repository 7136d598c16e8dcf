//! Notes that are printed even if the test passes.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::collected::collected;

/// Prints that a check did not run. The note goes around the test harness, which hides the output of passing tests.
pub fn report_skipped(what: &str) {
    // If stderr is closed, the note is lost.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

/// The path of a collected file or folder. If it is not there, a note names the check that does not run.
pub fn collected_or_skip(path: &str, check: &str) -> Option<PathBuf> {
    let found = collected(path);
    if found.is_none() {
        let hint = if is_public(path) { "tests/fetch downloads it" } else { "it has no public source" };
        report_skipped(&format!("{check}: {path} is missing; {hint}"));
    }
    found
}

/// False for a path in a place of `tests/collected.txt` that no public source has.
fn is_public(path: &str) -> bool {
    let mut places =
        include_str!("../collected.txt").lines().filter_map(|line| line.strip_prefix("none ")?.split(':').next());
    !places.any(|place| Path::new(path).starts_with(place))
}
