//! `posse verify`: is this engine right?

mod compressed;
mod crowd;
mod report;
mod times;
mod worst_error;

use std::io::Write;
use std::path::{Path, PathBuf};

use posse::contract::{Report, compare_as};
use posse::{ClipId, Error, Evaluator, Library, Outputs, Reference, SkeletonId, Ticks};
use serde::Serialize;

use self::report::FileReport;
use self::worst_error::WorstError;
use crate::cli::Outcome;
use crate::cli::arguments::CompressArgs;
use crate::cli::arguments::SkinFormatChoice;
use crate::cli::arguments::parse_seconds;
use crate::cli::engine::{self, EngineArgs, EngineLibrary};
use crate::cli::evaluation::{ClipEvaluation, Evaluation};
use crate::cli::output::{self, note};
use crate::cli::progress::Progress;
use crate::cli::source::Source;

/// Arguments of `posse verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// .glb or .gltf files, or Cocos clips (.json, .anim).
    #[arg(required_unless_present = "crowd")]
    files: Vec<PathBuf>,
    /// A crowd file in place of FILES, all its instances or, of very many, an even sample. `posse eval --help` describes it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "samples"])]
    crowd: Option<PathBuf>,
    /// With --crowd, the times on the crowd's clock that are checked, in seconds; by default some over its longest play.
    #[arg(long, value_name = "A,B,C", conflicts_with = "files", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_seconds)]
    times: Vec<f64>,
    /// The most times of a clip that are checked.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    samples: u32,
    /// How the engine writes skin matrices.
    #[arg(long, value_enum, default_value = "matrix")]
    skin_format: SkinFormatChoice,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    compress: CompressArgs,
}

/// All files together.
#[derive(Serialize)]
struct Verdict<'a> {
    within: bool,
    files: &'a [FileReport],
}

/// Runs `posse verify`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let outputs = Outputs::ALL.with_skin_format(args.skin_format.into());
    if let Some(file) = &args.crowd {
        let report = crowd::verify(file, args, outputs)?;
        output::print(|out| if args.json { report.write_json(out) } else { report.print(out) })?;
        return Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed });
    }
    let mut reports = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let report = match verify(file, args, outputs) {
            Ok(report) => report,
            Err(error) => {
                note(&format!("error: {error}"));
                FileReport::unusable(file, &error)
            }
        };
        if !args.json {
            output::print(|out| report.print(out))?;
        }
        reports.push(report);
    }
    let within = reports.iter().all(FileReport::is_within);
    if args.json {
        output::print(|out| {
            serde_json::to_writer_pretty(&mut *out, &Verdict { within, files: &reports })?;
            writeln!(out)
        })?;
    }
    Ok(match within {
        true => Outcome::Passed,
        false if reports.iter().any(FileReport::is_unusable) => Outcome::BadInput,
        false => Outcome::Failed,
    })
}

fn verify(file: &Path, args: &Args, outputs: Outputs) -> Result<FileReport, Error> {
    let Source { library: original, skeleton, clips, .. } = Source::load(file, None)?;
    let compressed = args.compress.compress(&original)?;
    let keys = EngineLibrary::new(&original, compressed.as_ref());
    let library = keys.library();
    let mut engine = engine::open(keys, args.engine.engine)?;
    let mut clips: Vec<Option<ClipId>> = clips.into_iter().map(Some).collect();
    if clips.is_empty() {
        clips.push(None);
    }
    let evaluations: Vec<ClipEvaluation> =
        clips.into_iter().map(|clip| evaluation(library, skeleton, clip, args.samples as usize)).collect();
    let mut report = FileReport::new(file, engine.as_ref(), library, &evaluations);
    let progress = Progress::new(evaluations.iter().map(ClipEvaluation::poses).sum(), "poses");
    for evaluation in &evaluations {
        ask(library, engine.as_mut(), evaluation, outputs, &progress, |found, first| {
            for (name, worst) in found.quantities() {
                if let Some(worst) = worst {
                    report.note(name, WorstError::new(library, evaluation, name, worst, first));
                }
            }
        })?;
        if compressed.is_some() {
            report.note(compressed::QUANTITY, compressed::find(&original, library, evaluation, args.compress)?);
        }
    }
    Ok(report)
}

/// A clip, or the rest pose, at no more than so many times.
fn evaluation(library: &Library, skeleton: SkeletonId, clip: Option<ClipId>, samples: usize) -> ClipEvaluation {
    let times = clip.map_or_else(|| vec![0.0], |clip| times::choose(library.clip(clip), samples));
    ClipEvaluation { skeleton, clip, times, instances: 1, phase: 0.0, playback: None }
}

/// Asks both the engine and the reference, and hands on what they differ by, with the number of the first pose.
fn ask(
    library: &Library,
    engine: &mut dyn Evaluator,
    evaluation: &ClipEvaluation,
    outputs: Outputs,
    progress: &Progress,
    mut found: impl FnMut(Report, usize),
) -> Result<(), Error> {
    let now = Ticks::default();
    for block in evaluation.blocks(library, outputs) {
        let crowd = evaluation.crowd(block.clone())?;
        let expected = Reference::new(library).evaluate(&crowd, now, outputs)?;
        let actual = engine.evaluate(&crowd, now, outputs)?;
        found(compare_as(outputs.skin_format, library, &crowd, now, &expected, &actual), block.start);
        progress.add(block.len());
    }
    Ok(())
}
