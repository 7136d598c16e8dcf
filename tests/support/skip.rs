//! Notes that are printed even if the test passes.

use std::io::Write;

/// Prints that a check did not run. The note goes around the test harness, which hides the output of passing tests.
pub fn report_skipped(what: &str) {
    // If stderr is closed, the note is lost.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}
