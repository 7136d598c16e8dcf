//! `posse verify`: compares an engine with the reference.

mod compressed;
mod crowd;
mod report;
mod worst_error;

use std::io::Write;
use std::path::{Path, PathBuf};

use posse::contract::{Report, compare_as};
use posse::low_level::check_times;
use posse::{ClipId, Error, Evaluator, Library, Outputs, Reference, SkeletonId, Ticks};
use serde::Serialize;

use self::report::FileReport;
use self::worst_error::WorstError;
use crate::Outcome;
use crate::arguments::{CompressArgs, SkinFormatChoice, parse_seconds};
use crate::engine::{self, EngineArgs, EngineLibrary};
use crate::evaluation::{ClipEvaluation, Evaluation};
use crate::output::{self, note};
use crate::progress::Progress;
use crate::source::Source;

/// Arguments of `posse verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// .glb, .gltf or .bvh files, or Cocos clips (.json, .anim).
    #[arg(required_unless_present = "crowd")]
    files: Vec<PathBuf>,
    /// A crowd file instead of FILES. All its instances are checked; of a very large crowd, an even sample. `posse eval --help`
    /// describes crowd files.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "samples"])]
    crowd: Option<PathBuf>,
    /// With --crowd: the times that are checked, in seconds of the crowd clock. Default: 16 times over its longest play, and
    /// moments around starts of transitions and sync markers.
    #[arg(long, value_name = "A,B,C", conflicts_with = "files", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_seconds)]
    times: Vec<f64>,
    /// The largest number of times per clip.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    samples: u32,
    /// The format of the skin matrices.
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

/// The JSON of all files.
#[derive(Serialize)]
struct Verdict<'a> {
    within: bool,
    files: &'a [FileReport],
}

/// Runs `posse verify`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let outputs = Outputs::ALL.with_skin_format(args.skin_format.into());
    // A wrong engine is the fault of no file.
    args.engine.selection()?;
    if let Some(file) = &args.crowd {
        let report = crowd::verify(file, args, outputs)?;
        output::print(|out| if args.json { report.write_json(out) } else { report.print(out) })?;
        return Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed });
    }
    let mut reports = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let report = match verify_file(file, args, outputs) {
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

/// Compares an engine with the reference, over every clip of a file.
fn verify_file(file: &Path, args: &Args, outputs: Outputs) -> Result<FileReport, Error> {
    let Source { library: original, skeleton, clips, .. } = Source::load(file, None)?;
    let compressed = args.compress.compress(&original)?;
    let engine_library = EngineLibrary::new(&original, compressed.as_ref());
    let library = engine_library.library();
    let mut engine = engine::open(engine_library, args.engine.selection()?)?;
    let mut clips: Vec<Option<ClipId>> = clips.into_iter().map(Some).collect();
    if clips.is_empty() {
        clips.push(None);
    }
    let evaluations: Vec<ClipEvaluation> =
        clips.into_iter().map(|clip| clip_evaluation(library, skeleton, clip, args.samples as usize)).collect();
    let mut report = FileReport::new(file, engine.as_ref(), library, &evaluations);
    let progress = Progress::new(evaluations.iter().map(ClipEvaluation::poses).sum(), "poses");
    for evaluation in &evaluations {
        compare(library, engine.as_mut(), evaluation, outputs, &progress, |report_of_block, first| {
            for (name, worst) in report_of_block.quantities() {
                if let Some(worst) = worst {
                    report.add(name, WorstError::new(library, evaluation, name, worst, first));
                }
            }
        })?;
        if compressed.is_some() {
            report.add(
                compressed::QUANTITY,
                compressed::worst_displacement(&original, library, evaluation, args.compress)?,
            );
        }
    }
    Ok(report)
}

/// The evaluation of a clip, or of the rest pose, at no more than `samples` times.
fn clip_evaluation(library: &Library, skeleton: SkeletonId, clip: Option<ClipId>, samples: usize) -> ClipEvaluation {
    let times = clip.map_or_else(|| vec![0.0], |clip| check_times(library.clip(clip), samples));
    ClipEvaluation { skeleton, clip, times, instances: 1, phase: 0.0, playback: None }
}

/// Evaluates the poses with an engine and with the reference. Calls a function with the report on each block of poses, and the
/// number of its first pose.
fn compare(
    library: &Library,
    engine: &mut dyn Evaluator,
    evaluation: &ClipEvaluation,
    outputs: Outputs,
    progress: &Progress,
    mut add: impl FnMut(Report, usize),
) -> Result<(), Error> {
    let now = Ticks::default();
    for block in evaluation.blocks(library, outputs) {
        let crowd = evaluation.crowd(block.clone())?;
        let expected = Reference::new(library).evaluate(&crowd, now, outputs)?;
        let actual = engine.evaluate(&crowd, now, outputs)?;
        add(compare_as(outputs.skin_format, library, &crowd, now, &expected, &actual), block.start);
        progress.add(block.len());
    }
    Ok(())
}
