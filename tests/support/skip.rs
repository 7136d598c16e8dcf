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

/// The path of a collected folder, if it has all files that `tests/collected.txt` lists below it. Otherwise a note
/// names the check that does not run: a run of `tests/fetch` that was ended leaves a part of them.
pub fn collected_folder_or_skip(path: &str, check: &str) -> Option<PathBuf> {
    let folder = collected_or_skip(path, check)?;
    let places = include_str!("../collected.txt").lines().filter_map(place_of);
    let below = |place: &'static str| Path::new(place).strip_prefix(path).ok();
    let missing: Vec<&Path> = places.filter_map(below).filter(|file| !folder.join(file).is_file()).collect();
    let Some(first) = missing.first() else { return Some(folder) };
    let (count, first, folder) = (missing.len(), first.display(), folder.display());
    let hint = "tests/fetch downloads what is missing";
    report_skipped(&format!("{check}: {folder} lacks {count} files, first {first}; {hint}"));
    None
}

/// The place of a line of `tests/collected.txt` that lists a file.
fn place_of(line: &str) -> Option<&str> {
    let (sum, rest) = line.split_once(' ')?;
    let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    rest.split_once(' ').filter(|_| is_sum).map(|(place, _)| place)
}

/// False for a path in a place of `tests/collected.txt` that no public source has.
fn is_public(path: &str) -> bool {
    let mut places =
        include_str!("../collected.txt").lines().filter_map(|line| line.strip_prefix("none ")?.split(':').next());
    !places.any(|place| Path::new(path).starts_with(place))
}
