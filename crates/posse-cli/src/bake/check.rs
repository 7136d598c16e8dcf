//! `posse bake --check`, and the parts of `--resume` that it shares.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use posse::Error;

use crate::Outcome;
use crate::bake::args::Args;
use crate::bake::facts::SourceFacts;
use crate::bake::format::packed::PartList;
use crate::bake::format::{Format, part_name, part_names};
use crate::bake::frames::ClipPart;
use crate::bake::inputs::{Failure, ListedClip, ListedFile, name_of};
use crate::bake::job::{Job, read_failures};
use crate::bake::manifest::{ListedOutputs, ListedSource, UNLISTED};
use crate::bake::options::Options;
use crate::bake::progress::ClipLine;
use crate::bake::shards_file::{ShardsFile, Task};
use crate::bake::share::Share;
use crate::bake::{crowd, merge};
use crate::invocation::command_line;
use crate::output::{self, note};
use crate::threads;

/// Lists the clips whose outputs are missing, or are not what a bake would make. With `--allow-failed`, clips
/// that the lists of failures have are left out.
pub fn run(args: &Args, options: &Options, task: &Task, threads: usize) -> Result<Outcome, Error> {
    let Some(out) = &args.check else { return Ok(Outcome::Passed) };
    if !out.is_dir() {
        if out.exists() {
            return Err(Error::Usage(format!("{}: it is not a folder", out.display())));
        }
        note(&format!("{}: there is no such folder, so that all outputs are missing", out.display()));
    }
    let files = task.files();
    let listed = ListedOutputs::read(out, &options.value);
    listed.warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
    let extension = options.format.extension();
    // In a folder that cannot be read, all outputs are missing.
    let parts = shares(out, task.share).flat_map(|share| part_names(out, share, extension).unwrap_or_default());
    let parts: Vec<String> = if options.format.is_per_share() { parts.collect() } else { Vec::new() };
    let merged = if options.format == Format::Packed { merge::rig_names(out) } else { Vec::new() };
    let is_merged = parts.is_empty() && out.join(merge::INDEX).exists();
    let outputs = ManifestOutputs::new(options, &listed, parts.into_iter().chain(merged));
    let missing: Vec<Failure> =
        threads::map(threads, &files, |file| outputs.missing(file)).into_iter().flatten().collect();
    let clips: usize = files.iter().map(|file| file.clips().len() + file.refused().len()).sum();
    let there = clips - missing.iter().filter(|missing| missing.clip.is_some()).count();
    let failed = if args.allow_failed { ListedFailures::read(out, task.share)? } else { ListedFailures::default() };
    let index = (options.format == Format::Packed).then(|| merge::index_error(out, &listed)).flatten();
    let index = index.map(|(path, message)| {
        let path = path.display().to_string();
        Failure { path, source: None, clip: None, message }
    });
    let missing = task.inputs.failures.iter().cloned().chain(missing).chain(index);
    let (accepted, missing): (Vec<Failure>, Vec<Failure>) = missing.partition(|missing| failed.has(missing));
    if let Err(error) = output::print(|out| missing.iter().try_for_each(|missing| print(missing, out, args.json))) {
        note(&format!("error: {error}"));
        return Ok(Outcome::Failed);
    }
    let accepted = match accepted.len() {
        0 => String::new(),
        count => format!("; failed, as failed-*.jsonl lists: {count}"),
    };
    note(&format!("clips with their outputs: {there} of {clips}; missing or different: {}{accepted}", missing.len()));
    if options.format == Format::Packed && missing.is_empty() && !is_merged {
        let merge = command_line(&["bake", "--merge", &out.to_string_lossy()]);
        note(&format!("the shares are not merged yet; run {merge}"));
    }
    Ok(if missing.is_empty() { Outcome::Passed } else { Outcome::Failed })
}

/// Prints the line of a clip without its output, or of a file whose clips cannot be listed.
fn print(missing: &Failure, out: &mut impl Write, json: bool) -> std::io::Result<()> {
    let Failure { clip, path, message, .. } = missing;
    if json {
        let line = ClipLine { message: Some(message), ..ClipLine::new(clip.as_deref(), path, "missing") };
        return writeln!(out, "{}", serde_json::to_string(&line)?);
    }
    let name = clip.as_ref().unwrap_or(path);
    // Most reasons of files begin with the path.
    let place = if message.starts_with(name.as_str()) { String::new() } else { format!("{name}: ") };
    writeln!(out, "{}", output::printable_line(&format!("{place}{message}")))
}

/// The failures of a bake: clips or whole files, by their paths below the INPUT, which do not depend on the folder that
/// a command runs in.
#[derive(Default)]
struct ListedFailures(HashSet<(String, Option<String>)>);

impl ListedFailures {
    /// Reads the lists of a share, or of all shares of a folder.
    fn read(out: &Path, share: Option<Share>) -> Result<Self, Error> {
        let mut failed = HashSet::new();
        for share in shares(out, share) {
            failed.extend(read_failures(out, share.index)?.iter().map(Self::key));
        }
        Ok(Self(failed))
    }

    /// A folder and a row of `--cuts` have no path below the INPUT, but a message of their own.
    fn key(failure: &Failure) -> (String, Option<String>) {
        match &failure.source {
            Some(source) => (source.clone(), failure.clip.clone()),
            None => (failure.path.clone(), Some(failure.message.clone())),
        }
    }

    /// Returns `true` for a clip or a file that has failed. All clips of a file that has failed as a whole have.
    fn has(&self, missing: &Failure) -> bool {
        let of_file = || missing.source.clone().map(|source| (source, None));
        self.0.contains(&Self::key(missing)) || of_file().is_some_and(|file| self.0.contains(&file))
    }
}

/// The outputs of a bake that the manifests list.
pub struct ManifestOutputs<'a> {
    options: &'a Options,
    listed: &'a ListedOutputs,
    /// The clips in the files of the shares, of formats with a file per share.
    clips: HashMap<&'a str, PartClip<'a>>,
    /// The files of the shares that are there. Each has its error, if it is not as it should be.
    parts: BTreeMap<String, Option<String>>,
}

/// A clip in a file of a share.
struct PartClip<'a> {
    part: &'a str,
    listed: &'a ListedSource,
}

impl<'a> ManifestOutputs<'a> {
    /// The outputs that a manifest lists. `parts` are the files of shares that are there, of formats with a file per
    /// share.
    pub fn new(options: &'a Options, listed: &'a ListedOutputs, parts: impl Iterator<Item = String>) -> Self {
        let parts = parts.map(|name| (name.clone(), listed.error_of_output(&name)));
        let parts: BTreeMap<String, Option<String>> = parts.collect();
        let mut outputs: Vec<_> = listed.outputs().filter(|(output, _)| parts.contains_key(*output)).collect();
        // Of a clip in several files, the one in a file that is as it should be counts.
        outputs.sort_by_key(|(output, _)| (parts[*output].is_none(), *output));
        let of_part = |(part, clips): (&'a str, &'a [ListedSource])| {
            clips.iter().map(move |listed| (listed.clip.as_str(), PartClip { part, listed }))
        };
        let clips = outputs.into_iter().flat_map(of_part).collect();
        Self { options, listed, clips, parts }
    }

    /// A clip in a file of a share, by its name, with the name of the file.
    pub fn clip(&self, name: &str) -> Option<(&'a str, &'a ListedSource)> {
        self.clips.get(name).map(|clip| (clip.part, clip.listed))
    }

    /// The clips of a file whose outputs are missing.
    pub fn missing(&self, file: &ListedFile) -> Vec<Failure> {
        let failure = |clip: Option<&str>, message: String| {
            let (path, source) = (file.path.display().to_string(), Some(file.below.clone()));
            Failure { path, source, clip: clip.map(str::to_owned), message }
        };
        let contents = match &file.contents {
            Ok(contents) => contents,
            Err(reason) => return vec![failure(None, reason.clone())],
        };
        // The file is hashed for the first output that is otherwise as it should be.
        let hashed: OnceCell<Result<SourceFacts, String>> = OnceCell::new();
        let source = || {
            let hashed = hashed.get_or_init(|| file.source(contents.kind).map_err(|error| error.to_string()));
            hashed.clone().map_err(Error::Usage)
        };
        let refused = contents.refused.iter().map(|refused| failure(Some(&refused.name), refused.message.clone()));
        let mut missing: Vec<Failure> = refused.collect();
        if let Some(output) = crowd::reference_output(self.options, file) {
            let name = name_of(&file.below, self.options);
            let error = self.listed.error(&output, name, &ClipPart::default(), source);
            missing.extend(error.map(|error| failure(None, format!("{output}: {error}"))));
        }
        for clip in file.clips() {
            missing.extend(self.error(clip, source).map(|reason| failure(Some(&clip.name), reason)));
        }
        missing
    }

    /// The reason that the output of a clip is missing; `None` if it is there.
    fn error(&self, clip: &ListedClip, source: impl FnOnce() -> Result<SourceFacts, Error>) -> Option<String> {
        let ListedClip { name, part: wanted, .. } = clip;
        if !self.options.format.is_per_share() {
            return self.listed.error(&self.options.format.output(name), name, wanted, source);
        }
        let Some(PartClip { part, listed }) = self.clips.get(name.as_str()) else {
            let unlisted = self.unlisted_part().map(|name| format!("; {name} is {UNLISTED}"));
            return Some(format!("missing{}", unlisted.unwrap_or_default()));
        };
        match &self.parts[*part] {
            Some(error) => Some(format!("{part}: {error}")),
            None => listed.error(wanted, source),
        }
    }

    /// A file of a share that no manifest lists.
    fn unlisted_part(&self) -> Option<&String> {
        self.parts.keys().find(|name| !self.listed.contains(name))
    }
}

/// A share, or all shares of a folder.
fn shares(out: &Path, share: Option<Share>) -> impl Iterator<Item = Share> {
    let count = share.map_or_else(|| ShardsFile::read(out).map_or(1, |list| list.shards), |share| share.count);
    let indexes = share.map_or(0..count, |share| share.index..share.index + 1);
    indexes.map(move |index| Share { index, count })
}

/// What is kept of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Nothing, so that the share is baked.
    Nothing,
    /// The files of the share.
    Part,
    /// The files that the shares were merged to.
    Merged,
}

/// Returns what holds all clips of a share and no others, as they would be made. Counts the clips then.
///
/// In Parquet, a share without clips is made anew: its file has the columns of a clip of another share.
pub fn keep_part(job: &Job, files: &[&ListedFile], share: Share) -> Kept {
    let format = job.options.format;
    if format == Format::Packed {
        // Merged files have the clips of the other shares, too.
        if has_merged(job) && keeps_all(job, files, merge::rig_names(job.out), share.count == 1) {
            return Kept::Merged;
        }
        let part = PartList::read(&job.out.join(part_name(share, 0, format.extension())));
        if !part.is_ok_and(|part| part.head.list.as_deref() == job.list) {
            return Kept::Nothing;
        }
    }
    let parts = part_names(job.out, share, format.extension()).unwrap_or_default();
    if keeps_all(job, files, parts, true) { Kept::Part } else { Kept::Nothing }
}

/// Returns `true` if there are merged files, with the parts of all shares if there are shares. If one is missing there,
/// a merge needs the parts of the others, too.
fn has_merged(job: &Job) -> bool {
    let has_all = job.list.is_none() || merge::is_merged(job.out, true).unwrap_or(false);
    job.out.join(merge::INDEX).is_file() && has_all && merge::index_error(job.out, &job.manifest.listed).is_none()
}

/// Returns `true` if some outputs hold all clips of files, as they would be made; no others if `is_exact` is true.
fn keeps_all(job: &Job, files: &[&ListedFile], parts: Vec<String>, is_exact: bool) -> bool {
    let outputs = ManifestOutputs::new(job.options, &job.manifest.listed, parts.into_iter());
    if outputs.unlisted_part().is_some() {
        job.warn_of_unlisted();
        return false;
    }
    let clips: usize = files.iter().map(|file| file.clips().len()).sum();
    let is_complete = || files.iter().all(|file| outputs.missing(file).is_empty());
    if clips == 0 && job.options.format.has_columns() || is_exact && outputs.clips.len() != clips || !is_complete() {
        return false;
    }
    for file in files {
        let kept = file.clips().iter().filter_map(|clip| outputs.clips.get(clip.name.as_str()));
        kept.for_each(|PartClip { part, listed }| job.count_kept(file, part, listed));
    }
    true
}
