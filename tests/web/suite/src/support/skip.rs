//! Notes that are printed even if the test passes.

/// Prints that a check did not run.
pub fn report_skipped(what: &str) {
    crate::page::note(&format!("SKIPPED: {what}"));
}
