//! The progress of a bake: a bar on a terminal, lines of JSON, or one line per minute.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use posse::Error;
use serde::Serialize;

use crate::bake::frames::SourceFrames;
use crate::output::note;
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
    /// The number of frames that were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
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
        Self { clip, path, status, frames: None, source: None, quality: None, message: None, warnings: &[] }
    }
}

/// The progress of all workers.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    json: bool,
    total: u64,
    clips: AtomicU64,
    frames: AtomicU64,
    /// The frames of clips that are done. Clips that fail have written frames too.
    done_frames: AtomicU64,
    lines: AtomicU64,
    /// The texts that were printed once, at most [`MAX_KNOWN`].
    known: Mutex<HashSet<String>>,
    /// The first failure to print a line of JSON.
    error: Mutex<Option<io::Error>>,
}

impl Progress {
    /// The progress of a number of clips.
    pub fn new(total: usize, json: bool) -> Self {
        let is_terminal = io::stderr().is_terminal() && !json;
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} clips, {msg}, {eta} left") {
            bar.set_style(style);
        }
        progress::register(&bar);
        let (total, started, known, error) = (total as u64, Instant::now(), Mutex::default(), Mutex::default());
        let [clips, frames, done_frames, lines] = [(); 4].map(|()| AtomicU64::new(0));
        Self { bar, started, json, total, clips, frames, done_frames, lines, known, error }
    }

    /// Adds written frames.
    pub fn add_frames(&self, count: usize) {
        self.frames.fetch_add(count as u64, Ordering::Relaxed);
        self.tick();
    }

    /// Adds a clip that is done, and prints its line.
    pub fn add_clip(&self, line: &ClipLine) {
        self.clips.fetch_add(1, Ordering::Relaxed);
        self.done_frames.fetch_add(line.frames.unwrap_or(0), Ordering::Relaxed);
        self.bar.inc(1);
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

    /// Remembers a text. Returns true unless it is remembered already.
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
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = frames as f64 / seconds.max(1e-3);
        format!("{clips} of {} clips, {frames} frames in {seconds:.1} s, {rate:.0} frames per second", self.total)
    }

    /// Updates the bar, and prints a line if a minute has passed since the last one.
    fn tick(&self) {
        let elapsed = self.started.elapsed();
        if !self.bar.is_hidden() {
            let rate = self.frames.load(Ordering::Relaxed) as f64 / elapsed.as_secs_f64().max(1e-3);
            self.bar.set_message(format!("{rate:.0} frames per second"));
        } else if !self.json {
            let due = elapsed.as_secs() / LINE_EVERY.as_secs();
            if self.lines.fetch_max(due, Ordering::Relaxed) < due {
                note(&self.line(&self.frames));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_remembered_in_bounded_memory() {
        let progress = Progress::new(1, true);
        assert!(progress.is_new("a") && !progress.is_new("a"));
        for index in 0..MAX_KNOWN {
            assert!(progress.is_new(&index.to_string()));
        }
        assert!(progress.known.lock().unwrap().len() <= MAX_KNOWN);
        assert!(progress.is_new("a") && !progress.is_new("a"));
    }
}
