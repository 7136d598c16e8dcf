//! `posse bake`: clips of many files as arrays or animation files, on one machine or many.
//!
//! The stages, in order: `args` and `options` check the options. `inputs` finds files and lists their clips, and `cuts`
//! the pieces of them that a `cut_list` names. `places` checks that the outputs can be written and replace no input.
//! `share` and `shards_file` select the files of a task, which are baked file by file: `file` and `stream` import,
//! `frames` has what of a clip is baked, `measure` finds its contacts and what looks wrong, `sampler` poses, the
//! formats write. `draft` gives outputs their names when they are complete. `manifest` lists the outputs that are
//! there, and `check` compares them with the inputs.

mod args;
mod check;
mod clip;
mod crowd;
mod cut_list;
mod cuts;
mod draft;
mod facts;
mod file;
mod format;
mod frames;
mod inputs;
mod job;
mod manifest;
mod measure;
mod options;
mod part;
mod places;
mod progress;
mod sampler;
mod shards_file;
mod share;
mod spool;
mod stream;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use posse::Error;

pub use self::args::{Args, EXAMPLES};
use self::draft::DraftTag;
use self::format::PartPlace;
use self::inputs::{ClipFile, Inputs};
use self::job::{BakeError, Job};
use self::manifest::Manifest;
use self::options::Options;
use self::part::Part;
use self::progress::Progress;
use self::sampler::Engines;
use self::shards_file::{ShardsFile, own_files};
use self::share::Share;
use crate::Outcome;
use crate::engine::{EngineChoice, EngineSelection};
use crate::output::{is_strict, note};
use crate::threads;

/// Runs `posse bake`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let threads = args.threads.count();
    let share = Share::new(args.shard, args.shards)?;
    let options = Options::new(args)?;
    args.adapter.with_engine(options.engine)?;
    let Some(out) = args.check.as_ref().or(args.output.as_ref()) else {
        return Err(Error::Usage("no OUT given; give a folder with -o".into()));
    };
    let mut inputs = Inputs::list(&args.inputs, out, &options, threads)?;
    if let Some(cuts) = &options.cuts {
        inputs = cuts::cut(inputs, cuts, &options, share)?;
    }
    places::check_folders(&inputs.files, &options, share)?;
    if args.check.is_some() {
        return check::run(args, &options, inputs, share, threads);
    }
    places::check(out, &inputs, &options, share, threads)?;
    match bake(args, &options, out, inputs, share, threads) {
        Ok(outcome) => Ok(outcome),
        Err(BakeError::Input(error)) => Err(error),
        Err(BakeError::Output(error)) => {
            note(&format!("error: {error}"));
            Ok(Outcome::Failed)
        }
    }
}

/// Bakes a share of the inputs, or all.
fn bake(
    args: &Args,
    options: &Options,
    out: &Path,
    inputs: Inputs,
    share: Option<Share>,
    threads: usize,
) -> Result<Outcome, BakeError> {
    draft::create_folder(out).map_err(BakeError::Output)?;
    let tag = DraftTag::new(share.map(|share| share.index));
    tag.remove_dead(out);
    if let Some(share) = share {
        ShardsFile::new(share.count, &inputs.files, options.value_of_all()).agree(out, &tag)?;
    }
    let files = own_files(&inputs.files, share);
    let job = Job {
        options,
        out,
        tag: &tag,
        manifest: Manifest::new(out, share.map_or(0, |share| share.index), &options.value),
        engines: Engines::new(EngineSelection { choice: options.engine, adapter: &args.adapter }),
        resume: args.resume,
        strict: is_strict(),
        progress: Progress::new(files.iter().map(|file| file.clips().len()).sum(), args.json),
        failures: Mutex::default(),
        output_error: Mutex::default(),
        stopped: false.into(),
    };
    options.warnings.iter().for_each(|warning| job.progress.note(warning));
    let warnings = inputs.warnings.iter().chain(&job.manifest.listed.warnings);
    warnings.for_each(|warning| job.progress.note(&format!("warning: {warning}")));
    inputs.failures.into_iter().for_each(|failure| job.fail_input(failure));
    // A GPU is shared by all workers: one file at a time keeps it busy.
    let threads = if options.engine == EngineChoice::Gpu { 1 } else { threads };
    if let Err(error) = bake_files(&job, &inputs.files, files, share, threads) {
        job.fail_output(error);
    }
    finish(job, share)
}

/// Bakes files of a share side by side. `all` has those of all shares. Fails if the files of the share cannot be
/// written.
fn bake_files(
    job: &Job,
    all: &[ClipFile],
    mut files: Vec<&ClipFile>,
    share: Option<Share>,
    threads: usize,
) -> Result<(), Error> {
    if !job.options.format.is_per_share() {
        // The largest files first, so that no worker begins one when the others are done.
        files.sort_by_key(|file| Reverse(file.size));
        threads::for_each(threads, files.len(), |index| {
            if !job.is_stopped() {
                file::bake(job, files[index], None);
            }
        });
        return Ok(());
    }
    let share = share.unwrap_or(Share { index: 0, count: 1 });
    // The order of the paths may depend on the folder that a task runs in.
    files.sort_by(|a, b| a.below.cmp(&b.below));
    if job.resume && check::keep_part(job, &files, share) {
        return Ok(());
    }
    let place = PartPlace { folder: job.out, share, tag: job.tag, manifest: &job.manifest };
    let mut part = Part::new(job.options.format.begin_part(place)?);
    if files.iter().all(|file| file.clips().is_empty()) {
        declare(job, all, &mut part)?;
    }
    threads::for_each(threads, files.len(), |index| {
        let turn = part.turn(index);
        if !job.is_stopped() {
            file::bake(job, files[index], Some(&turn));
        }
    });
    if job.is_stopped() { Ok(()) } else { part.finish() }
}

/// Declares the arrays of a share without clips: those of the first file, in order of the paths, that can be read. Its
/// errors belong to another share.
fn declare(job: &Job, all: &[ClipFile], part: &mut Part) -> Result<(), Error> {
    let mut all: Vec<&ClipFile> = all.iter().filter(|file| !file.clips().is_empty()).collect();
    all.sort_by(|a, b| a.below.cmp(&b.below));
    for file in all {
        match file::declare(job, file, part) {
            Ok(()) => break,
            Err(BakeError::Input(_)) => {}
            Err(BakeError::Output(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the failures of a bake, and reports its result.
fn finish(job: Job, share: Option<Share>) -> Result<Outcome, BakeError> {
    let mut failures = job.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by(|a, b| (&a.path, &a.clip).cmp(&(&b.path, &b.clip)));
    let output_error = job.output_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    let output_error = output_error.or_else(|| job.progress.take_error());
    let written = job::write_failures(job.out, share.map_or(0, |share| share.index), &failures, job.tag);
    let summary = job.progress.summary();
    drop(job.progress);
    match (output_error, written) {
        (Some(error), _) | (None, Err(error)) => Err(BakeError::Output(error)),
        (None, Ok(())) if failures.is_empty() => {
            note(&summary);
            Ok(Outcome::Passed)
        }
        (None, Ok(())) => {
            let noun = if failures.len() == 1 { "bad input" } else { "bad inputs" };
            note(&format!("{summary}; {} {noun}, listed in failed-*.jsonl", failures.len()));
            Ok(Outcome::BadInput)
        }
    }
}
