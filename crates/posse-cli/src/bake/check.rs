//! `posse bake --check`, and the parts of `--resume` that it shares.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use posse::Error;

use crate::Outcome;
use crate::bake::args::Args;
use crate::bake::draft::DraftTag;
use crate::bake::facts::{SourceFacts, StoredFacts};
use crate::bake::format::PartPlace;
use crate::bake::inputs::{ClipFile, Inputs, own_files};
use crate::bake::job::Job;
use crate::bake::options::Options;
use crate::bake::progress::ClipLine;
use crate::bake::shards_file::ShardsFile;
use crate::bake::share::Share;
use crate::bake::stored::usda::check_crowd;
use crate::bake::{crowd, source_facts, workers};
use crate::output::{self, note};

/// Lists the clips whose outputs are missing, or are not those that a bake would make.
pub fn run(
    args: &Args,
    options: &Options,
    inputs: Inputs,
    share: Option<Share>,
    threads: usize,
) -> Result<Outcome, Error> {
    let Some(out) = &args.check else { return Ok(Outcome::Passed) };
    let files = own_files(&inputs.files, share);
    let outputs = Outputs::find(options, out, share);
    let missing: Vec<Missing> =
        workers::map(threads, &files, |file| outputs.missing(file)).into_iter().flatten().collect();
    let clips: usize = files.iter().map(|file| file.clips().len()).sum();
    let folders = inputs.failures.iter().map(|failure| Missing {
        clip: None,
        path: failure.path.clone(),
        reason: failure.message.clone(),
    });
    let missing: Vec<Missing> = folders.chain(missing).collect();
    if let Err(error) = output::print(|out| missing.iter().try_for_each(|missing| missing.print(out, args.json))) {
        note(&format!("error: {error}"));
        return Ok(Outcome::Failed);
    }
    let there = clips - missing.iter().filter(|missing| missing.clip.is_some()).count();
    note(&format!("clips with their outputs: {there} of {clips}; missing or different: {}", missing.len()));
    Ok(if missing.is_empty() { Outcome::Passed } else { Outcome::Failed })
}

/// A clip without its output, or a file whose clips cannot be listed.
struct Missing {
    clip: Option<String>,
    path: String,
    reason: String,
}

impl Missing {
    fn print(&self, out: &mut impl Write, json: bool) -> std::io::Result<()> {
        let Self { clip, path, reason } = self;
        if json {
            let (clip, message) = (clip.as_deref(), Some(reason.as_str()));
            let line = ClipLine { clip, path, status: "missing", frames: None, message };
            return writeln!(out, "{}", serde_json::to_string(&line)?);
        }
        let name = clip.as_ref().unwrap_or(path);
        // Most reasons of files begin with the path.
        let place = if reason.starts_with(name.as_str()) { String::new() } else { format!("{name}: ") };
        writeln!(out, "{}", output::printable_line(&format!("{place}{reason}")))
    }
}

/// The outputs of a bake.
struct Outputs<'a> {
    options: &'a Options,
    out: &'a Path,
    /// The facts of all clips of formats with a file per share.
    parts: HashMap<String, StoredFacts>,
    /// The fault of the first such file that is unreadable. The clips of the file are not known.
    fault: Option<Error>,
}

impl<'a> Outputs<'a> {
    /// Finds the outputs in a folder.
    fn find(options: &'a Options, out: &'a Path, share: Option<Share>) -> Self {
        let is_per_share = options.format.is_per_share();
        // In a folder that cannot be read, all outputs are missing.
        let files = if is_per_share { part_files(options, out, share).unwrap_or_default() } else { Vec::new() };
        let (mut parts, mut fault) = (HashMap::new(), None);
        for file in &files {
            match options.format.read_facts(file) {
                Ok(facts) => parts.extend(facts.into_iter().map(|facts| (facts.clip.clone(), facts))),
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        Self { options, out, parts, fault }
    }

    /// The clips of a file whose outputs are missing.
    fn missing(&self, file: &ClipFile) -> Vec<Missing> {
        let path = file.path.display().to_string();
        let kind = match &file.contents {
            Ok(contents) => contents.kind,
            Err(reason) => return vec![Missing { clip: None, path, reason: reason.clone() }],
        };
        let mut missing = Vec::new();
        if let Some(place) = crowd::reference_file(self.options, self.out, file) {
            let fault = match check_crowd(&place) {
                _ if !place.exists() => Some(format!("{} is missing", place.display())),
                result => result.err().map(|error| format!("unreadable: {error}")),
            };
            missing.extend(fault.map(|reason| Missing { clip: None, path: path.clone(), reason }));
        }
        // The file is hashed for the first output that is otherwise as it should be.
        let mut source: Option<Result<SourceFacts, Error>> = None;
        for clip in file.clips() {
            let reason = match self.stored(&clip.name) {
                Err(reason) => Some(reason),
                Ok(stored) => self.options.difference(&stored, &stored.source).or_else(|| {
                    match source.get_or_insert_with(|| source_facts::of_file(file, kind)) {
                        Ok(source) => self.options.difference(&stored, source),
                        Err(error) => Some(error.to_string()),
                    }
                }),
            };
            missing.extend(reason.map(|reason| Missing { clip: Some(clip.name.clone()), path: path.clone(), reason }));
        }
        missing
    }

    /// The facts of the output of a clip, or the reason that there are none.
    fn stored(&self, clip: &str) -> Result<StoredFacts, String> {
        let missing = || {
            let fault = self.fault.as_ref().map(|error| format!("; unreadable: {error}"));
            format!("missing{}", fault.unwrap_or_default())
        };
        if self.options.format.is_per_share() {
            return self.parts.get(clip).cloned().ok_or_else(missing);
        }
        let place = self.out.join(format!("{clip}.{}", self.options.format.extension()));
        if !place.exists() {
            return Err(missing());
        }
        let stored = self.options.format.read_facts(&place).map_err(|error| format!("unreadable: {error}"))?;
        stored.into_iter().find(|facts| facts.clip == clip).ok_or_else(|| "made for another clip".to_owned())
    }
}

/// The files of a share, or of all shares, of a format with a file per share.
fn part_files(options: &Options, out: &Path, share: Option<Share>) -> Result<Vec<PathBuf>, Error> {
    let shares = match share {
        Some(share) => vec![share],
        None => {
            let count = ShardsFile::count(out).unwrap_or(1);
            (0..count).map(|index| Share { index, count }).collect()
        }
    };
    let tag = DraftTag::new(None);
    let mut files = Vec::new();
    for Share { index: share, count: shares } in shares {
        files.extend(options.format.part_files(&PartPlace { folder: out, share, shares, tag: &tag })?);
    }
    Ok(files)
}

/// Returns true if the files of a share hold all its clips and no others, as they would be made. Counts the clips then.
///
/// A file without clips does not tell by which options it was made. It is made anew.
pub fn keep_part(job: &Job, files: &[&ClipFile], share: Share) -> bool {
    let outputs = Outputs::find(job.options, job.out, Some(share));
    let clips: usize = files.iter().map(|file| file.clips().len()).sum();
    let is_complete = || files.iter().all(|file| outputs.missing(file).is_empty());
    if clips == 0 || outputs.parts.len() != clips || !is_complete() {
        return false;
    }
    for file in files {
        file.clips().iter().for_each(|clip| job.count_kept(file, &clip.name));
    }
    true
}
