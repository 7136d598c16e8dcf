//! The progress of a bake: a bar on a terminal, lines of JSON, or one line per minute.
//!
//! Progress and the time left are measured in bytes of the inputs. The largest files come first, so that after a tenth
//! of the clips, far more than a tenth of the work is done.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use posse::Error;
use serde::Serialize;

use crate::bake::facts::RowFacts;
use crate::bake::frames::SourceFrames;
use crate::output::{note, plural};
use crate::progress;

/// The number of texts that are remembered, so that each of them is printed once. After that many, they are forgotten,
/// and printed again.
const MAX_KNOWN: usize = 1 << 12;

/// The time between two lines.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// The line of JSON of a clip, or of a file that failed.
#[derive(Debug, Serialize)]
pub struct ClipLine<'a> {
    /// The name of the clip; `None` if the whole file failed or has no clips.
    pub clip: Option<&'a str>,
    /// The path of the file.
    pub path: &'a str,
    /// `baked`, `kept`, `failed` or `empty`.
    pub status: &'static str,
    /// The path of the output below OUT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<&'a str>,
    /// The frames and joints of the output.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub rows: Option<&'a RowFacts>,
    /// The frames of a range.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceFrames>,
    /// The measures of `--quality`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<&'a serde_json::Value>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
    /// What looks wrong about the retargeting or the mirror image, and a range that was shortened.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub warnings: &'a [String],
}

impl<'a> ClipLine<'a> {
    /// A line with nothing but a status.
    pub fn new(clip: Option<&'a str>, path: &'a str, status: &'static str) -> Self {
        let (output, rows, source, quality, message) = (None, None, None, None, None);
        Self { clip, path, status, output, rows, source, quality, message, warnings: &[] }
    }
}

/// A clock for lines that come once a minute.
pub struct MinuteClock {
    started: Instant,
    lines: AtomicU64,
}

impl MinuteClock {
    /// A clock that starts now. The first line is due after a minute.
    pub fn new() -> Self {
        Self { started: Instant::now(), lines: AtomicU64::new(0) }
    }

    /// Returns `true` once per minute, whichever thread asks.
    pub fn is_due(&self) -> bool {
        let due = self.started.elapsed().as_secs() / LINE_EVERY.as_secs();
        self.lines.fetch_max(due, Ordering::Relaxed) < due
    }
}

/// The progress of all workers.
pub struct BakeProgress {
    bar: ProgressBar,
    clock: MinuteClock,
    json: bool,
    total_clips: u64,
    total_bytes: u64,
    clips: AtomicU64,
    /// The bytes of inputs that are done, in whole or in part.
    bytes: AtomicU64,
    /// The bytes of files that took hardly any time, because their outputs were kept or they cannot be read.
    quick_bytes: AtomicU64,
    frames: AtomicU64,
    /// The frames of clips that are done. Clips that fail have written frames too.
    done_frames: AtomicU64,
    /// The texts that were printed once, at most [`MAX_KNOWN`].
    known: Mutex<HashSet<String>>,
    /// The first failure to print a line of JSON.
    error: Mutex<Option<io::Error>>,
}

impl BakeProgress {
    /// The progress of a number of clips in files of a total size in bytes.
    pub fn new(clips: usize, bytes: u64, json: bool) -> Self {
        let is_terminal = io::stderr().is_terminal() && !json;
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}%, {msg}") {
            bar.set_style(style);
        }
        progress::register(&bar);
        let [done_clips, done_bytes, quick_bytes, frames, done_frames] = [(); 5].map(|()| AtomicU64::new(0));
        Self {
            bar,
            clock: MinuteClock::new(),
            json,
            total_clips: clips as u64,
            total_bytes: bytes,
            clips: done_clips,
            bytes: done_bytes,
            quick_bytes,
            frames,
            done_frames,
            known: Mutex::default(),
            error: Mutex::default(),
        }
    }

    /// Begins a file of a size in bytes, with a number of clips.
    pub fn begin_file(&self, bytes: u64, clips: usize) -> FileProgress<'_> {
        let bytes_of_clip = bytes / (clips as u64).max(1);
        FileProgress { progress: self, bytes_of_clip, left: Cell::new(bytes), has_frames: Cell::new(false) }
    }

    fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc(bytes);
        self.tick();
    }

    /// Adds a clip that is done, of which frames were written, and prints its line.
    pub fn add_clip(&self, line: &ClipLine, frames: u64) {
        self.clips.fetch_add(1, Ordering::Relaxed);
        self.done_frames.fetch_add(frames, Ordering::Relaxed);
        self.print(line);
        self.tick();
    }

    /// Prints the line of a clip or file, if lines are wanted.
    pub fn print(&self, line: &ClipLine) {
        if !self.json {
            return;
        }
        let printed = serde_json::to_string(line).map_err(io::Error::from);
        let printed = printed.and_then(|text| writeln!(io::stdout(), "{text}"));
        // A reader that stops early is not an error. No error stops the bake, whose outputs are files.
        if let Err(error) = printed
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// The first failure to print a line. It is returned once.
    pub fn take_error(&self) -> Option<Error> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map(|source| Error::Io { file: "standard output".into(), source })
    }

    /// Prints a line to stderr, above the bar.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| note(text));
    }

    /// The same for a line that is printed once, however often it comes.
    pub fn note_once(&self, text: &str) {
        if self.is_new(text) {
            self.note(text);
        }
    }

    /// Prints a warning about the first file or clip that it is about.
    pub fn note_of_first(&self, place: impl fmt::Display, text: &str) {
        if self.is_new(text) {
            self.note(&format!("warning: {place}: {text}"));
        }
    }

    /// Remembers a text. Returns `true` unless it is remembered already.
    fn is_new(&self, text: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(text) {
            return false;
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(text.to_owned())
    }

    /// The result at the end: the clips that are done, with their frames.
    pub fn summary(&self) -> String {
        self.line(&self.done_frames)
    }

    /// The line of a number of frames.
    fn line(&self, frames: &AtomicU64) -> String {
        let (clips, frames) = (self.clips.load(Ordering::Relaxed), frames.load(Ordering::Relaxed));
        let seconds = self.clock.started.elapsed().as_secs_f64();
        let rate = frames as f64 / seconds.max(1e-3);
        let (total, frames) = (plural(self.total_clips as usize, "clip"), plural(frames as usize, "frame"));
        format!("{clips} of {total}, {frames} in {seconds:.1} s, {rate:.0} frames per second")
    }

    /// The time left as a text with a comma before it; empty as long as nothing is known of it.
    fn left(&self) -> String {
        let [done, quick] = [&self.bytes, &self.quick_bytes].map(|bytes| bytes.load(Ordering::Relaxed));
        let left = time_left(self.clock.started.elapsed(), self.total_bytes, done, quick);
        left.map(|left| format!(", {} left", HumanDuration(left))).unwrap_or_default()
    }

    /// Updates the bar. Without one, prints a line if a minute has passed since the last one.
    fn tick(&self) {
        if !self.bar.is_hidden() {
            let (clips, frames) = (self.clips.load(Ordering::Relaxed), self.frames.load(Ordering::Relaxed));
            let rate = frames as f64 / self.clock.started.elapsed().as_secs_f64().max(1e-3);
            let (total, left) = (self.total_clips, self.left());
            self.bar.set_message(format!("{clips} of {total} clips, {rate:.0} frames per second{left}"));
        } else if self.clock.is_due() {
            let percent = 100.0 * self.bytes.load(Ordering::Relaxed) as f64 / (self.total_bytes as f64).max(1.0);
            note(&format!("{}, {percent:.0}% of the bytes{}", self.line(&self.frames), self.left()));
        }
    }
}

impl Drop for BakeProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The progress of a file, of whose bytes each clip has an equal part. The whole file is done when this value is
/// dropped, whatever became of its clips.
pub struct FileProgress<'a> {
    progress: &'a BakeProgress,
    bytes_of_clip: u64,
    /// The bytes that are not done.
    left: Cell<u64>,
    /// True after the first frame.
    has_frames: Cell<bool>,
}

impl FileProgress<'_> {
    /// Adds written frames of a clip that has a number of frames.
    pub fn add_frames(&self, count: usize, of_clip: u64) {
        // `as` rounds down and stays within the range.
        let bytes = (self.bytes_of_clip as f64 * count as f64 / of_clip.max(1) as f64) as u64;
        let bytes = bytes.min(self.left.get());
        self.left.set(self.left.get() - bytes);
        self.has_frames.set(true);
        self.progress.frames.fetch_add(count as u64, Ordering::Relaxed);
        self.progress.add_bytes(bytes);
    }
}

impl Drop for FileProgress<'_> {
    fn drop(&mut self) {
        let left = self.left.get();
        if !self.has_frames.get() {
            self.progress.quick_bytes.fetch_add(left, Ordering::Relaxed);
        }
        self.progress.add_bytes(left);
    }
}

/// The time left after some bytes of a total are done. Of those, the quick ones took no time. `None` if nothing is
/// known of it.
fn time_left(elapsed: Duration, total: u64, done: u64, quick: u64) -> Option<Duration> {
    let (slow, left) = (done.saturating_sub(quick), total.saturating_sub(done));
    if slow == 0 {
        return None;
    }
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * (left as f64 / slow as f64)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_bytes_that_took_time() {
        let seconds = |elapsed, total, done, quick| {
            time_left(Duration::from_secs(elapsed), total, done, quick).map(|left| left.as_secs_f64())
        };
        // 40 bytes in 10 s, and 40 more to go.
        assert_eq!(seconds(10, 100, 60, 20), Some(10.0));
        assert_eq!(seconds(10, 100, 100, 0), Some(0.0));
        // Nothing but kept outputs so far.
        assert_eq!(seconds(10, 100, 20, 20), None);
        assert_eq!(seconds(10, 0, 0, 0), None);
        assert_eq!(seconds(u64::MAX, u64::MAX, 1, 0), None, "no number of seconds that a duration holds");
    }

    #[test]
    fn a_file_is_done_in_parts_and_as_a_whole() {
        let progress = BakeProgress::new(3, 100, true);
        let done = || [&progress.bytes, &progress.quick_bytes, &progress.frames].map(|n| n.load(Ordering::Relaxed));
        let file = progress.begin_file(61, 2);
        // A third of a clip of 30 bytes.
        file.add_frames(40, 120);
        assert_eq!(done(), [10, 0, 40]);
        file.add_frames(80, 120);
        assert_eq!(done(), [30, 0, 120]);
        // The second clip fails.
        drop(file);
        assert_eq!(done(), [61, 0, 120]);
        // A clip whose output is kept.
        drop(progress.begin_file(39, 1));
        assert_eq!(done(), [100, 39, 120]);
    }

    #[test]
    fn texts_are_remembered_in_bounded_memory() {
        let progress = BakeProgress::new(1, 1, true);
        assert!(progress.is_new("a") && !progress.is_new("a"));
        for index in 0..MAX_KNOWN {
            assert!(progress.is_new(&index.to_string()));
        }
        assert!(progress.known.lock().unwrap().len() <= MAX_KNOWN);
        assert!(progress.is_new("a") && !progress.is_new("a"));
    }
}
