//! `posse verify`: compares an engine with the reference, over every clip of files, or over a crowd file.

mod crowd;
mod errors;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use posse::contract::{Report, compare_as};
use posse::{ClipId, Error, Evaluator, Library, Outputs, Reference, Ticks};
use serde::Serialize;

use self::crowd::CrowdCheck;
use self::errors::{COMPRESSED, WorstError, clip_evaluation, worst_displacement};
use crate::Outcome;
use crate::arguments::{BvhArgs, CompressArgs, SkinFormatChoice, parse_seconds, whole};
use crate::engine::{self, EngineArgs, EngineLibrary};
use crate::evaluation::{ClipEvaluation, Evaluation};
use crate::output::{self, note, plural};
use crate::progress::Progress;
use crate::source::Source;

/// Arguments of `posse verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// .glb, .gltf, .vrm, .vrma, .fbx or .bvh files, .npz files of SMPL, Cocos clips (.json, .anim), or `demo` for the
    /// built-in human.
    #[arg(required_unless_present = "crowd")]
    files: Vec<PathBuf>,
    /// A crowd file instead of FILES. All its instances are checked; of a very large crowd, an even sample. `posse eval
    /// --help` describes crowd files.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "samples"])]
    crowd: Option<PathBuf>,
    /// With --crowd: the times that are checked, in seconds of the crowd clock. Default: 16 times over its longest
    /// play, and moments around starts of transitions and sync markers.
    #[arg(long, value_name = "A,B,C", conflicts_with = "files", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_seconds)]
    times: Vec<f64>,
    /// The largest number of times per clip.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = whole::<u32>(1..=1 << 24))]
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
    // A wrong engine is the error of no file.
    args.engine.selection()?;
    if let Some(file) = &args.crowd {
        let check = CrowdCheck {
            times: &args.times,
            samples: args.samples as usize,
            engine: args.engine.selection()?,
            compress: args.compress,
            outputs,
        };
        let report = crowd::verify(file, check)?;
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
    let Source { library: original, skeleton, clips, .. } = Source::load(file, None, BvhArgs::default())?;
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
            report.add(COMPRESSED, worst_displacement(&original, library, evaluation, args.compress)?);
        }
    }
    Ok(report)
}

/// Evaluates the poses with an engine and with the reference. Calls a function with the report on each block of poses,
/// and the number of its first pose.
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

/// The worst errors of a file, or the reason that it could not be checked.
#[derive(Debug, Serialize)]
struct FileReport {
    file: String,
    within: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    engine: Option<&'static str>,
    adapter: Option<String>,
    joints: usize,
    clips: usize,
    poses: usize,
    /// The worst error of each quantity; null if there was nothing to compare.
    quantities: BTreeMap<&'static str, Option<WorstError>>,
}

impl FileReport {
    /// A report without errors.
    fn new(file: &Path, engine: &dyn Evaluator, library: &Library, evaluations: &[ClipEvaluation]) -> Self {
        Self {
            file: file.display().to_string(),
            within: true,
            error: None,
            engine: Some(engine.engine()),
            adapter: Some(engine.adapter()),
            joints: library.skeletons().iter().map(|skeleton| skeleton.joints().len()).sum(),
            clips: evaluations.iter().filter(|evaluation| evaluation.clip.is_some()).count(),
            poses: evaluations.iter().map(ClipEvaluation::poses).sum(),
            quantities: Report::default().quantities().map(|(name, _)| (name, None)).into(),
        }
    }

    /// The report of a file that could not be checked.
    fn unusable(file: &Path, error: &Error) -> Self {
        Self {
            file: file.display().to_string(),
            within: false,
            error: Some(error.to_string()),
            engine: None,
            adapter: None,
            joints: 0,
            clips: 0,
            poses: 0,
            quantities: BTreeMap::new(),
        }
    }

    /// Adds an error. The worst error of each quantity is kept.
    fn add(&mut self, quantity: &'static str, new: WorstError) {
        self.within &= new.is_within();
        let worst = self.quantities.entry(quantity).or_default();
        if worst.as_ref().is_none_or(|worst| new.share > worst.share) {
            *worst = Some(new);
        }
    }

    /// Returns `true` if the file was checked and is within the contract.
    fn is_within(&self) -> bool {
        self.within
    }

    /// Returns `true` if the file could not be checked.
    fn is_unusable(&self) -> bool {
        self.error.is_some()
    }

    /// Prints a line for the file, and a line per quantity.
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(error) = &self.error {
            // Most errors begin with the name of the file.
            let error = error.strip_prefix(&format!("{}: ", self.file)).unwrap_or(error);
            return writeln!(out, "{}: not checked: {error}", self.file);
        }
        let verdict = if self.within { "within the contract" } else { "BEYOND THE CONTRACT" };
        let (engine, adapter) = (self.engine.unwrap_or_default(), self.adapter.as_deref().unwrap_or_default());
        let Self { file, joints, clips, poses, .. } = self;
        let counts = [(*joints, "joint"), (*clips, "clip"), (*poses, "pose")];
        let [joints, clips, poses] = counts.map(|(count, noun)| plural(count, noun));
        writeln!(out, "{file}: {verdict}: {engine} ({adapter}), {joints}, {clips}, {poses}")?;
        let quantities = Report::default().quantities().map(|(quantity, _)| quantity);
        for quantity in quantities.into_iter().chain([COMPRESSED]) {
            if let Some(worst) = self.quantities.get(quantity).and_then(Option::as_ref) {
                worst.write(quantity, out)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
