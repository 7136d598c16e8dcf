//! Manifests: a line of JSON per output, by which `--resume` and `--check` know which outputs are there.
//!
//! `OUT/manifest-IIIII.jsonl` belongs to share IIIII, as the tasks of other shares append to files of their own. A line
//! is appended after its output has got its name. A task that is killed between the two leaves an output without a
//! line, which is made anew. Lines are never changed: of several lines of one output, the last one of a file holds, and
//! of several files the one with the latest time. The outputs themselves are not opened, only their sizes are compared.
//!
//! An output that replaces another one has two lines: before it gets its name, one without a size. It ends the validity
//! of earlier lines, which would describe the new content wrongly if the task were killed before the second line.
//!
//! The manifests of all shares together are the index of the outputs: each clip has its frames, rate, joints and
//! skeleton there.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use posse::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bake::facts::{Facts, RowFacts, SourceFacts, VERSION, different_options, open_regular};
use crate::bake::frames::{ClipPart, FrameRange};
use crate::draft::Draft;
use crate::write_error::with_hint;

/// The reason that an output without a line is made anew.
pub const UNLISTED: &str = "in no manifest: an earlier posse made it, or a task that was killed";

/// A clip in an output, with the file that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedSource {
    /// The name of the clip.
    pub clip: String,
    /// The frames and joints; `None` for a file that refers to others, and in manifests of earlier versions.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowFacts>,
    pub source: SourceFacts,
    /// The measures of `--quality`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Value>,
    /// What looks wrong about its retargeting or its mirror image, and a range that was shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ListedSource {
    /// The clip of an output, by its facts.
    pub fn new(facts: &Facts) -> Self {
        let Facts { clip, rows, source, quality, warnings, .. } = facts;
        let (clip, rows, source) = (clip.clone(), Some(rows.clone()), source.clone());
        Self { clip, rows, source, quality: quality.clone(), warnings: warnings.clone() }
    }

    /// The difference from a part of a clip, and from the source that a function hashes.
    pub fn error(&self, part: &ClipPart, source: impl FnOnce() -> Result<SourceFacts, Error>) -> Option<String> {
        let SourceFacts { clip, mirrored, frames, .. } = &self.source;
        let range = frames.map(|frames| frames.range).unwrap_or_default();
        if range != part.range {
            let show = |range: FrameRange| if range.is_whole() { "all".into() } else { range.to_string() };
            return Some(format!("made from other frames: {}, not {}", show(range), show(part.range)));
        }
        if *clip != part.clip {
            let show = |clip: &Option<String>| clip.clone().unwrap_or_else(|| self.clip.clone());
            return Some(format!("made from another clip: {}, not {}", show(clip), show(&part.clip)));
        }
        if *mirrored != part.mirrored {
            let show = |mirrored: bool| if mirrored { "the mirror image" } else { "the clip itself" };
            return Some(format!("it is {}, not {}", show(*mirrored), show(part.mirrored)));
        }
        let of_part = |source| SourceFacts { clip: clip.clone(), mirrored: *mirrored, frames: *frames, ..source };
        match source().map(of_part) {
            Ok(source) if source == self.source => None,
            Ok(_) => Some("made from another file, or from an older version of it".into()),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// A line of a manifest.
#[derive(Debug, Serialize, Deserialize)]
struct ManifestLine {
    /// The path of the output below OUT, with `/` between folders.
    output: String,
    /// The size of the output; `None` in the line before an output is replaced.
    bytes: Option<u64>,
    clips: Vec<ListedSource>,
    /// The options that change an output.
    options: Value,
    posse_version: String,
    /// The time of the line, in milliseconds since 1970. It orders the lines of different manifests.
    written: u64,
}

/// An output that a manifest lists.
struct Entry {
    bytes: Option<u64>,
    clips: Vec<ListedSource>,
    /// The difference of its options or its version from this bake, as a text.
    difference: Option<String>,
    written: u64,
}

/// The outputs that the manifests of all shares list.
pub struct ListedOutputs {
    out: PathBuf,
    entries: HashMap<String, Entry>,
    /// Lines and files that cannot be used.
    pub warnings: Vec<String>,
}

impl ListedOutputs {
    /// Reads the manifests of a folder. A folder that cannot be read lists nothing.
    pub fn read(out: &Path, options: &Value) -> Self {
        let mut listed = Self { out: out.to_path_buf(), entries: HashMap::new(), warnings: Vec::new() };
        let names = fs::read_dir(out).into_iter().flatten().flatten();
        let mut names: Vec<_> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names.iter().filter(|name| is_manifest(name)) {
            if let Err(error) = listed.add(&out.join(name), options) {
                listed.warnings.push(format!("{error}; the outputs that it lists are made anew"));
            }
        }
        listed
    }

    /// Adds the lines of a manifest. A last line that a killed task has not completed is left out.
    fn add(&mut self, manifest: &Path, options: &Value) -> Result<(), Error> {
        let mut file = BufReader::new(open_regular(manifest)?);
        let (mut entries, mut text, mut number, mut broken) = (HashMap::new(), Vec::new(), 0_u64, None);
        loop {
            text.clear();
            let read = file.read_until(b'\n', &mut text);
            if read.map_err(|source| Error::Io { file: manifest.to_path_buf(), source })? == 0 {
                break;
            }
            number += 1;
            match serde_json::from_slice::<ManifestLine>(&text) {
                Ok(line) => {
                    let ManifestLine { output, bytes, clips, written, .. } = line;
                    let difference = difference(&line.posse_version, &line.options, options);
                    entries.insert(output, Entry { bytes, clips, difference, written });
                }
                Err(error) if text.ends_with(b"\n") && !text.trim_ascii().is_empty() => {
                    let (_, _, count) = broken.get_or_insert((number, error, 0_u64));
                    *count += 1;
                }
                Err(_) => {}
            }
        }
        for (output, entry) in entries {
            match self.entries.get(&output) {
                Some(other) if other.written > entry.written => {}
                _ => drop(self.entries.insert(output, entry)),
            }
        }
        if let Some((number, error, count)) = broken {
            let error = error.to_string().replace(" at line 1 column ", ", column ");
            let more = if count > 1 { format!("; so are {} lines after it", count - 1) } else { String::new() };
            let manifest = manifest.display();
            self.warnings.push(format!("{manifest}: line {number} is broken ({error}), and is ignored{more}"));
        }
        Ok(())
    }

    /// Returns `true` if there is a line of an output.
    pub fn contains(&self, output: &str) -> bool {
        self.entries.contains_key(output)
    }

    /// The outputs, each with its clips.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &[ListedSource])> {
        self.entries.iter().map(|(output, entry)| (output.as_str(), entry.clips.as_slice()))
    }

    /// The reason that an output, whatever its clips, is not the one that this bake makes; `None` if it is.
    pub fn error_of_output(&self, output: &str) -> Option<String> {
        let found = fs::metadata(self.out.join(output)).ok().filter(fs::Metadata::is_file);
        let Some(found) = found.map(|file| file.len()) else { return Some("missing".into()) };
        let Some(entry) = self.entries.get(output) else { return Some(UNLISTED.into()) };
        match entry.bytes {
            None => Some("replaced by a task that was killed".into()),
            Some(bytes) if bytes != found => {
                Some(format!("damaged: it has {found} bytes; its manifest states {bytes}"))
            }
            Some(_) => entry.difference.clone(),
        }
    }

    /// The reason that a part of a clip in an output is not the one that this bake makes; `None` if it is. The function
    /// hashes the source of the clip. It is called if all else is as it should be.
    pub fn error(
        &self,
        output: &str,
        clip: &str,
        part: &ClipPart,
        source: impl FnOnce() -> Result<SourceFacts, Error>,
    ) -> Option<String> {
        if let Some(error) = self.error_of_output(output) {
            return Some(error);
        }
        match self.find(output, clip) {
            Some(listed) => listed.error(part, source),
            None => Some("made for another clip".into()),
        }
    }

    /// A clip in an output.
    pub fn find(&self, output: &str, clip: &str) -> Option<&ListedSource> {
        self.entries.get(output)?.clips.iter().find(|listed| listed.clip == clip)
    }
}

/// The difference of the version and the options of an output from this bake.
fn difference(version: &str, found: &Value, options: &Value) -> Option<String> {
    if version != VERSION {
        return Some(format!("made by posse {version}, but this is {VERSION}"));
    }
    (found != options).then(|| format!("made with other options: {}", different_options(found, options)))
}

/// The name of the manifest of a share.
pub fn name(share: u32) -> String {
    format!("manifest-{share:05}.jsonl")
}

/// Returns `true` for the name of the manifest of any share.
pub fn is_manifest(name: &str) -> bool {
    let digits = name.strip_prefix("manifest-").and_then(|name| name.strip_suffix(".jsonl"));
    digits.is_some_and(|digits| digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The manifest of the share that is baked.
pub struct Manifest<'a> {
    path: PathBuf,
    /// The file, and true if its last line is complete; `None` before the first line.
    file: Mutex<Option<(File, bool)>>,
    options: &'a Value,
    /// The outputs that were listed before.
    pub listed: ListedOutputs,
}

impl<'a> Manifest<'a> {
    /// The manifest of a share in a folder. Nothing is written.
    pub fn new(out: &Path, share: u32, options: &'a Value) -> Self {
        let listed = ListedOutputs::read(out, options);
        Self { path: out.join(name(share)), file: Mutex::default(), options, listed }
    }

    /// The options that change an output.
    pub fn options(&self) -> &Value {
        self.options
    }

    /// Gives a complete output its name, and appends its line.
    ///
    /// # Errors
    /// [`Error::Io`] with the output or the manifest. An output without a line is made anew by the next run.
    pub fn keep(&self, draft: Draft, output: &str, clips: Vec<ListedSource>) -> Result<(), Error> {
        let (options, posse_version) = (self.options.clone(), VERSION.into());
        let mut line =
            ManifestLine { output: output.into(), bytes: None, clips, options, posse_version, written: now() };
        if self.listed.contains(output) {
            self.append(&line)?;
        }
        line.bytes = Some(draft.keep()?);
        line.written = now();
        self.append(&line)
    }

    /// Appends a line, by one write. A line that a killed task has not completed is ended first.
    fn append(&self, line: &ManifestLine) -> Result<(), Error> {
        let append = || -> io::Result<()> {
            let mut text = serde_json::to_vec(line)?;
            text.push(b'\n');
            let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, is_complete) = match &mut *open {
                Some(open) => open,
                none => none.insert(open_at_end(&self.path)?),
            };
            if !*is_complete {
                text.insert(0, b'\n');
            }
            *is_complete = false;
            file.write_all(&text)?;
            *is_complete = true;
            Ok(())
        };
        append().map_err(|source| Error::Io { file: self.path.clone(), source: with_hint(source) })
    }
}

/// Opens a manifest to append to it, and looks if its last line is complete.
fn open_at_end(path: &Path) -> io::Result<(File, bool)> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok((file, last == [b'\n']))
}

/// The time in milliseconds since 1970; 0 for a clock before that.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}
