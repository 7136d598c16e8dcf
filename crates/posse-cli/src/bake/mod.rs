//! `posse bake`: clips of many files as arrays or animation files, on one machine or many.
//!
//! The stages, in order: `args` and `options` check the options. `inputs` finds files and lists their clips, and `cuts`
//! the pieces of them that a `cut_list` names. `places` checks that each output has a name of its own, can be written,
//! and replaces no input. `share` and `shards_file` deal the files of a task, or a `plan` has them. They are baked file
//! by file: `file` and `stream` import, `frames` has what of a clip is baked, `measure` finds its contacts and what
//! looks wrong, `sampler` poses, the formats write. `draft` gives outputs their names when they are complete.
//! `manifest` lists the outputs that are there, and `check` compares them with the inputs. `merge` makes one library of
//! the parts of the format packed, and `merged` copies what has not changed from an earlier one.

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
mod merge;
mod merged;
mod options;
mod part;
mod places;
mod plan;
mod progress;
mod sampler;
mod shards_file;
mod share;
mod spool;
mod stream;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use posse::Error;

pub use self::args::{Args, EXAMPLES};
use self::check::Kept;
use self::draft::DraftTag;
use self::format::{Format, PartPlace};
use self::inputs::{Inputs, ListedFile};
use self::job::{BakeError, Job};
use self::manifest::Manifest;
use self::merged::MergedFiles;
use self::options::Options;
use self::part::ShareWriter;
use self::plan::Plan;
use self::progress::BakeProgress;
use self::sampler::Engines;
use self::shards_file::Task;
use self::share::{PlanChoice, Share};
use crate::Outcome;
use crate::engine::{EngineChoice, EngineSelection};
use crate::output::{is_strict, note, plural};
use crate::threads;

/// Runs `posse bake`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    if let Some(out) = &args.merge {
        return merge::run(out);
    }
    let threads = args.threads.count();
    let options = Options::new(args)?;
    args.adapter.with_engine(options.engine)?;
    let Some(out) = args.check.as_ref().or(args.output.as_ref()) else {
        return Err(Error::Usage("no OUT given; give a folder with -o".into()));
    };
    let (plan, planned) = match &args.plan {
        Some(PlanChoice::Read(_)) if !args.inputs.is_empty() => {
            return Err(Error::Usage("--plan FILE has the inputs; leave out INPUT, or give a number of shares".into()));
        }
        Some(PlanChoice::Read(path)) => (Some(Plan::open(path, &options)?), None),
        Some(PlanChoice::Write(_)) if args.inputs.is_empty() => {
            return Err(Error::Usage("--plan N lists inputs; give at least one INPUT".into()));
        }
        Some(PlanChoice::Write(_)) if args.check.is_some() || args.shard.is_some() => {
            let reason = "--plan N writes a list, and bakes and checks nothing; leave out --check and --shard";
            return Err(Error::Usage(reason.into()));
        }
        Some(PlanChoice::Write(count)) => (None, Some(*count)),
        None => (None, None),
    };
    let share = Share::new(args.shard, args.shards, plan.as_ref().map(Plan::shares))?;
    let mut task = match plan {
        Some(plan) => plan.task(share, &options)?,
        None => {
            let mut inputs = Inputs::list(&args.inputs, out, &options, threads)?;
            if let Some(cuts) = &options.cuts {
                inputs = cuts::cut(inputs, cuts, &options, share)?;
            }
            Task::new(inputs, share, &options)
        }
    };
    places::refuse_clashes(&mut task.inputs.files, &options);
    // A plan has the outputs of all shares.
    let share = planned.map(|count| Share { index: 0, count }).or(share);
    if args.check.is_some() {
        return check::run(args, &options, &task, threads);
    }
    places::check(out, &task.inputs, &options, share, threads)?;
    let result = match planned {
        Some(shares) => write_plan(&options, out, &task.inputs, shares),
        None => bake(args, &options, out, &task, threads),
    };
    match result {
        Ok(outcome) => Ok(outcome),
        Err(BakeError::Input(error)) => Err(error),
        Err(BakeError::Output(error)) => {
            note(&format!("error: {error}"));
            Ok(Outcome::Failed)
        }
    }
}

/// Writes the plan of a number of shares. Bad inputs belong to the tasks.
fn write_plan(options: &Options, out: &Path, inputs: &Inputs, shares: u32) -> Result<Outcome, BakeError> {
    draft::create_folder(out).map_err(BakeError::Output)?;
    let tag = DraftTag::new(None);
    tag.remove_dead(out);
    options.warnings.iter().for_each(|warning| note(warning));
    inputs.warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
    let place = plan::write(out, inputs, shares, options, &tag)?;
    // Shares of an earlier plan had other files.
    job::remove_failures(out).map_err(BakeError::Output)?;
    let is_bad = |file: &&ListedFile| file.contents.is_err() || !file.refused().is_empty();
    let bad = inputs.failures.len() + inputs.files.iter().filter(is_bad).count();
    let bytes = inputs.files.iter().fold(0_u64, |bytes, file| bytes.saturating_add(file.size));
    let (shares, files) = (plural(shares as usize, "share"), plural(inputs.files.len(), "file"));
    let megabytes = bytes as f64 / 1e6;
    let bad = if bad > 0 { format!(", {bad} of them bad, which the tasks will list") } else { String::new() };
    note(&format!("{}: {shares} of {files}, {megabytes:.1} MB{bad}", place.display()));
    Ok(Outcome::Passed)
}

/// Bakes a share of the inputs, or all.
fn bake(args: &Args, options: &Options, out: &Path, task: &Task, threads: usize) -> Result<Outcome, BakeError> {
    draft::create_folder(out).map_err(BakeError::Output)?;
    let Task { inputs, share, list, .. } = task;
    let files = task.files();
    let tag = DraftTag::new(share.map(|share| share.index));
    output_folders(options, &files).into_iter().for_each(|below| tag.remove_dead(&out.join(below)));
    if let Some(list) = list {
        list.agree(out, &tag)?;
    }
    // A run that is killed must not leave the failures of an earlier one, which `--check --allow-failed` accepts.
    job::write_failures(out, task.index(), &[], &tag).map_err(BakeError::Output)?;
    let clips = files.iter().map(|file| file.clips().len() + file.refused().len()).sum();
    let bytes = files.iter().fold(0, |bytes: u64, file| bytes.saturating_add(file.size));
    let job = Job {
        options,
        out,
        list: list.as_ref().map(|list| list.list_sha256.as_str()),
        tag: &tag,
        manifest: Manifest::new(out, task.index(), &options.value),
        engines: Engines::new(EngineSelection { choice: options.engine, adapter: &args.adapter }),
        resume: args.resume,
        strict: is_strict() && !args.allow_failed,
        progress: BakeProgress::new(clips, bytes, args.json),
        failures: Mutex::default(),
        output_error: Mutex::default(),
        stopped: false.into(),
    };
    options.warnings.iter().for_each(|warning| job.progress.note(warning));
    let warnings = inputs.warnings.iter().chain(&job.manifest.listed.warnings);
    warnings.for_each(|warning| job.progress.note(&format!("warning: {warning}")));
    inputs.failures.iter().for_each(|failure| job.fail_input(failure.clone()));
    // A GPU is shared by all workers: one file at a time keeps it busy.
    let threads = if options.engine == EngineChoice::Gpu { 1 } else { threads };
    if let Err(error) = bake_files(&job, &inputs.files, files, *share, threads) {
        job.fail_output(error);
    }
    finish(job, task.index(), args.allow_failed)
}

/// The folders below OUT in which some files have outputs, and OUT itself.
fn output_folders<'a>(options: &Options, files: &[&'a ListedFile]) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::from([""]);
    if !options.format.is_per_share() {
        let clips = files.iter().flat_map(|file| file.clips());
        folders.extend(clips.filter_map(|clip| clip.name.rsplit_once('/').map(|(folder, _)| folder)));
    }
    folders
}

/// Bakes files of a share side by side. `all` has the files of all shares. Fails if the files of the share cannot be
/// written.
fn bake_files(
    job: &Job,
    all: &[ListedFile],
    mut files: Vec<&ListedFile>,
    share: Option<Share>,
    threads: usize,
) -> Result<(), Error> {
    let format = job.options.format;
    if !format.is_per_share() {
        // The largest files first, so that no worker begins one when the others are done.
        files.sort_by_key(|file| Reverse(file.size));
        threads::for_each(threads, files.len(), |index| {
            if !job.is_stopped() {
                file::bake(job, files[index], None);
            }
        });
        return Ok(());
    }
    // The order of the paths may depend on the folder that a task runs in.
    files.sort_by(|a, b| a.below.cmp(&b.below));
    let of_all = Share { index: 0, count: 1 };
    let kept = if job.resume { check::keep_part(job, &files, share.unwrap_or(of_all)) } else { Kept::Nothing };
    if kept == Kept::Nothing {
        bake_part(job, all, &files, share.unwrap_or(of_all), threads)?;
    }
    match kept {
        // Shares are merged when all of them are there.
        _ if format != Format::Packed || share.is_some() || job.is_stopped() => Ok(()),
        Kept::Merged => merge::remove_part(job.out),
        Kept::Part | Kept::Nothing => merge::merge(job.out, None, job.tag).map(drop),
    }
}

/// Bakes files of a share, in this order, into the files of the share. `all` has the files of all shares.
fn bake_part(job: &Job, all: &[ListedFile], files: &[&ListedFile], share: Share, threads: usize) -> Result<(), Error> {
    let place = PartPlace { folder: job.out, share, list: job.list, tag: job.tag, manifest: &job.manifest };
    let mut part = ShareWriter::new(job.options.format.begin_part(place)?);
    if job.options.format.has_columns() && files.iter().all(|file| file.clips().is_empty()) {
        declare(job, all, &mut part)?;
    }
    let merged = MergedFiles::open(job, files);
    threads::for_each(threads, files.len(), |index| {
        let (file, turn) = (files[index], part.turn(index));
        match &merged {
            _ if job.is_stopped() => {}
            Some(merged) if merged.has(file) => merged.copy(job, file, &turn),
            _ => file::bake(job, file, Some(&turn)),
        }
    });
    if job.is_stopped() { Ok(()) } else { part.finish() }
}

/// Declares the arrays of a share without clips: the arrays of the first file, in order of the paths, that can be read.
/// Its errors belong to another share.
fn declare(job: &Job, all: &[ListedFile], part: &mut ShareWriter) -> Result<(), Error> {
    let mut all: Vec<&ListedFile> = all.iter().filter(|file| !file.clips().is_empty()).collect();
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

/// Writes the failures of a share, and reports its result.
fn finish(job: Job, share: u32, allow_failed: bool) -> Result<Outcome, BakeError> {
    let mut failures = job.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by(|a, b| (&a.path, &a.clip).cmp(&(&b.path, &b.clip)));
    let output_error = job.output_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    let output_error = output_error.or_else(|| job.progress.take_error());
    let written = job::write_failures(job.out, share, &failures, job.tag);
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
            Ok(if allow_failed { Outcome::Passed } else { Outcome::BadInput })
        }
    }
}
