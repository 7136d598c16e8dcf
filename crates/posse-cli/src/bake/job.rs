//! The state of a bake that all workers share: its options, its progress, and the errors so far.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use posse::Error;
use posse::import::FileFormat;

use crate::bake::draft::DraftTag;
use crate::bake::facts::{Facts, SourceFacts};
use crate::bake::frames::{ClipFrames, ClipPart};
use crate::bake::inputs::{Failure, ListedClip, ListedFile};
use crate::bake::manifest::{ListedSource, Manifest, UNLISTED};
use crate::bake::options::Options;
use crate::bake::progress::{BakeProgress, ClipLine};
use crate::bake::sampler::Engines;

/// A bake: its options, and the results of all workers.
pub struct Job<'a> {
    /// The options.
    pub options: &'a Options,
    /// The folder of the outputs.
    pub out: &'a Path,
    /// The hash of the list that all tasks agree on; `None` without shares.
    pub list: Option<&'a str>,
    /// The tag of the drafts.
    pub tag: &'a DraftTag,
    /// The manifest of the share.
    pub manifest: Manifest<'a>,
    /// The engines of the workers.
    pub engines: Engines<'a>,
    /// `true` if outputs are kept that are as they would be made.
    pub resume: bool,
    /// `true` if the first bad input stops the bake.
    pub strict: bool,
    /// The progress.
    pub progress: BakeProgress,
    /// The failures so far, with the paths of the files to order them by.
    pub failures: Mutex<Vec<Failure>>,
    /// The first failure to write an output.
    pub output_error: Mutex<Option<Error>>,
    /// `true` if no further clips are begun.
    pub stopped: AtomicBool,
}

impl Job<'_> {
    /// Returns `true` if the bake ends before all clips are done.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The output of a clip: its path below OUT.
    pub fn output(&self, clip: &str) -> String {
        self.options.format.output(clip)
    }

    /// Returns `true` for an output that is kept: it was made of the same source, with the same options, by the same
    /// version. The function hashes the source.
    pub fn has(
        &self,
        output: &str,
        clip: &str,
        part: &ClipPart,
        source: impl FnOnce() -> Result<SourceFacts, Error>,
    ) -> bool {
        if !self.resume {
            return false;
        }
        let error = self.manifest.listed.error(output, clip, part, source);
        if error.as_deref() == Some(UNLISTED) {
            self.warn_of_unlisted();
        }
        error.is_none()
    }

    /// Prints the warning that outputs are in no manifest, once.
    pub fn warn_of_unlisted(&self) {
        self.progress.note_once(&format!(
            "warning: {}: outputs are there that no manifest lists: an earlier posse made them, or a task that was killed. They are made \
             anew",
            self.out.display()
        ));
    }

    /// The same for the output of a clip, which is counted.
    pub fn keeps(
        &self,
        file: &ListedFile,
        clip: &ListedClip,
        source: impl FnOnce() -> Result<SourceFacts, Error>,
    ) -> bool {
        let ListedClip { name, part, .. } = clip;
        let output = self.output(name);
        let is_kept = self.has(&output, name, part, source);
        if is_kept && let Some(listed) = self.manifest.listed.find(&output, name) {
            self.count_kept(file, &output, listed);
        }
        is_kept
    }

    /// The clips of a file that are to be baked: all in the file of a share, whose clips are kept or made together,
    /// otherwise those whose outputs are not kept.
    pub fn new_clips<'f>(
        &self,
        file: &'f ListedFile,
        is_in_part: bool,
        source: impl Fn() -> Result<SourceFacts, Error>,
    ) -> Vec<&'f ListedClip> {
        file.clips().iter().filter(|clip| is_in_part || !self.keeps(file, clip, &source)).collect()
    }

    /// Prints the line of a warning.
    pub fn warn(&self, text: &str) {
        self.progress.note(text);
    }

    /// Prints the line of a warning about the import of a file. What the files of SMPL lack is the same for all of a
    /// data set, and is printed for the first of them.
    pub fn warn_of_import(&self, file: &ListedFile, line: &str) {
        let is_smpl = file.contents.as_ref().is_ok_and(|contents| contents.kind == FileFormat::Smpl);
        let path = file.path.display();
        match line.strip_prefix(&format!("warning: {path}: ")).filter(|_| is_smpl) {
            Some(text) => self.progress.note_of_first(path, text),
            None => self.warn(line),
        }
    }

    /// Prints the warning that a range was shortened, and once for all clips that ends are lost.
    pub fn warn_of_frames(&self, file: &ListedFile, clip: &ListedClip, frames: &ClipFrames) {
        if let Some(warning) = &frames.warning {
            self.warn(&format!("warning: {}: clip {}: {warning}", file.path.display(), clip.name));
        }
        if frames.rest.is_some() {
            self.progress.note_once(
                "warning: the end of a clip is after its last frame if its duration is no multiple of 1 / --fps: `warnings` \
                 of the output say what is lost; --format glb and usda keep it",
            );
        }
    }

    /// Counts a clip that is kept in an output.
    pub fn count_kept(&self, file: &ListedFile, output: &str, listed: &ListedSource) {
        self.count(file, "kept", output, listed, 0);
    }

    /// Counts a clip that has been written to an output.
    pub fn count_baked(&self, file: &ListedFile, output: &str, facts: &Facts) {
        self.count(file, "baked", output, &ListedSource::new(facts), facts.rows.frames);
    }

    fn count(&self, file: &ListedFile, status: &'static str, output: &str, listed: &ListedSource, frames: u64) {
        let ListedSource { clip, rows, source, quality, warnings } = listed;
        let path = file.path.to_string_lossy();
        let (line, output) = (ClipLine::new(Some(clip), &path, status), Some(output));
        let (rows, quality) = (rows.as_ref(), quality.as_ref());
        self.progress.add_clip(&ClipLine { output, rows, source: source.frames, quality, warnings, ..line }, frames);
    }

    /// Records the error of a clip, or of a whole file.
    pub fn fail(&self, file: &ListedFile, clip: Option<&str>, error: BakeError) {
        // A stopped bake ends the waiting of other clips with errors.
        if self.is_stopped() {
            return;
        }
        match error {
            BakeError::Input(error) => {
                let (path, source) = (file.path.display().to_string(), Some(file.below.clone()));
                self.fail_input(Failure { path, source, clip: clip.map(str::to_owned), message: error.to_string() });
            }
            BakeError::Output(error) => self.fail_output(error),
        }
    }

    /// Records that an output cannot be written, and stops the bake.
    pub fn fail_output(&self, error: Error) {
        self.stopped.store(true, Ordering::Relaxed);
        self.output_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Records a bad input.
    pub fn fail_input(&self, failure: Failure) {
        let Failure { path, clip, message, .. } = &failure;
        // Most messages begin with the name of their file.
        let place = if message.starts_with(path.as_str()) { String::new() } else { format!("{path}: ") };
        let name = clip.as_ref().map_or(String::new(), |clip| format!("clip {clip}: "));
        self.progress.note(&format!("error: {name}{place}{message}"));
        let line = ClipLine { message: Some(message), ..ClipLine::new(clip.as_deref(), path, "failed") };
        self.progress.print(&line);
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        if self.strict {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// An error of a bake. It decides the exit code, and if it makes sense to try again.
pub enum BakeError {
    /// The usage or an input is wrong.
    Input(Error),
    /// An output cannot be written.
    Output(Error),
}

impl BakeError {
    /// The error of a writer: only a failure to write is an error of the output.
    pub fn of_writer(error: Error) -> Self {
        if matches!(error, Error::Io { .. }) { Self::Output(error) } else { Self::Input(error) }
    }
}

/// An error of reading or posing an input. A lost device is no error of the input.
impl From<Error> for BakeError {
    fn from(error: Error) -> Self {
        if matches!(error, Error::Device(_)) { Self::Output(error) } else { Self::Input(error) }
    }
}

/// The name of the list of the failures of a share.
pub fn failures_name(share: u32) -> String {
    format!("failed-{share:05}.jsonl")
}

/// Returns `true` for the name of the list of failures of any share.
pub fn is_failures(name: &str) -> bool {
    let digits = name.strip_prefix("failed-").and_then(|name| name.strip_suffix(".jsonl"));
    digits.is_some_and(|digits| digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes the failures of all shares, which a new deal makes stale.
pub fn remove_failures(out: &Path) -> Result<(), Error> {
    let failed = |source| Error::Io { file: out.to_path_buf(), source };
    for entry in fs::read_dir(out).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_str().is_some_and(is_failures) {
            remove(entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file, if it is there.
fn remove(place: PathBuf) -> Result<(), Error> {
    match fs::remove_file(&place) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Io { file: place, source }),
        _ => Ok(()),
    }
}

/// Reads the failures of a share, without lines that cannot be read. No list is an empty one.
pub fn read_failures(out: &Path, share: u32) -> Result<Vec<Failure>, Error> {
    let place = out.join(failures_name(share));
    match fs::read_to_string(&place) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::Io { file: place, source }),
    }
}

/// Writes the failures of a share, one JSON object per line. Without failures, removes the file of an earlier run.
pub fn write_failures(out: &Path, share: u32, failures: &[Failure], tag: &DraftTag) -> Result<(), Error> {
    let place = out.join(failures_name(share));
    if failures.is_empty() {
        return remove(place);
    }
    let mut draft = tag.create(&place)?;
    for failure in failures {
        let line = serde_json::to_string(failure).map_err(|error| draft.error(error))?;
        writeln!(draft, "{line}").map_err(|error| draft.error(error))?;
    }
    draft.keep().map(drop)
}
