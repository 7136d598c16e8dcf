//! `posse eval --crowd`: the instances of a crowd file at given times of the crowd clock.

use std::io::Write;
use std::path::Path;

use posse::import::crowd::CrowdFile;
use posse::root_motion::Motion;
use posse::{Error, Evaluator, Layer, Library, Outputs};
use serde::Serialize;

use crate::engine::{self, Engine, EngineLibrary, EngineSelection};
use crate::eval::json::{Instance, PoseShape, Seconds};
use crate::eval::npz::{self, PoseTable};
use crate::eval::numbers::{Precision, PrintedNumber};
use crate::eval::{Args, PoseFormat, outputs};
use crate::evaluation::{CrowdEvaluation, Evaluation};
use crate::output::Output;
use crate::progress::Progress;
use crate::source::load_crowd_file;

/// The fields before the samples.
#[derive(Serialize)]
struct Head<'a> {
    files: Vec<&'a str>,
    engine: &'static str,
    adapter: String,
}

/// An instance, with the index of its file.
#[derive(Serialize)]
struct CrowdInstance<'a> {
    file: usize,
    #[serde(flatten)]
    instance: Instance<'a>,
    root_motion: Option<RootMotionValue>,
}

/// The root motion of an instance since the previous sample.
#[derive(Serialize)]
struct RootMotionValue {
    translation: [PrintedNumber; 3],
    rotation: [PrintedNumber; 4],
}

impl RootMotionValue {
    fn new(motion: Motion, precision: Precision) -> Result<Self, Error> {
        let name = || "root motion".to_string();
        Ok(Self {
            translation: precision.numbers(motion.translation.to_array(), name)?,
            rotation: precision.numbers(motion.rotation.to_array(), name)?,
        })
    }
}

/// Runs `posse eval --crowd`.
pub fn run(args: &Args, path: &Path, format: PoseFormat, engine: EngineSelection) -> Result<(), Error> {
    let mut library = Library::new();
    let file = load_crowd_file(&mut library, path)?;
    let evaluation = CrowdEvaluation::new(&library, &file, args.times.on_clock()?)?;
    let outputs = Outputs { root_motion: true, ..outputs(&args.outputs, args.skin_format) };
    let file_of_arrays = match format {
        PoseFormat::Json => None,
        PoseFormat::Npz => Some(single_file(&file)?),
    };
    let compressed = args.compress.compress(&library)?;
    let threads = args.threads.count();
    let engine_library = EngineLibrary::new(&library, compressed.as_ref());
    let mut engine = Engine::open(engine_library, engine, threads)?;
    engine::print_name(engine.evaluator());
    let output = Output::create(args.output.as_deref())?;
    let Some(index) = file_of_arrays else {
        return write(engine_library.library(), &file, &evaluation, outputs, engine.evaluator(), output);
    };
    let asset = &file.files[index].asset;
    let (library, skeleton, joints) = (engine_library.library(), asset.skeleton, asset.joints.as_slice());
    npz::write(&PoseTable { library, skeleton, joints, evaluation: &evaluation, outputs, threads }, &mut engine, output)
}

/// The index of the file of all instances, which determines the shapes of the arrays. Fails if the instances have
/// different skeletons, or if there are several files and no instance.
fn single_file(file: &CrowdFile) -> Result<usize, Error> {
    let skeleton = |index: usize| file.files[index].asset.skeleton;
    let mut used = file.groups().map(|(_, index)| index);
    match used.next().or((file.files.len() == 1).then_some(0)) {
        Some(first) if used.all(|index| skeleton(index) == skeleton(first)) => Ok(first),
        Some(_) => Err(Error::Usage(
            "npz arrays hold instances of one file, but this crowd has several; use --format json, or a crowd file per file"
                .into(),
        )),
        None => Err(Error::Usage(
            "npz arrays have the shape of the nodes of one file, but this crowd has no instance and several files; use --format json"
                .into(),
        )),
    }
}

/// Evaluates the poses, and writes one JSON object.
fn write(
    library: &Library,
    file: &CrowdFile,
    evaluation: &CrowdEvaluation,
    outputs: Outputs,
    engine: &mut dyn Evaluator,
    mut output: Output,
) -> Result<(), Error> {
    let files = file.files.iter().map(|file| file.name.as_str()).collect();
    let head = Head { files, engine: engine.engine(), adapter: engine.adapter() };
    let precision = Precision::of_engine(head.engine);
    let head = serde_json::to_string(&head).map_err(|error| Error::Usage(error.to_string()))?;
    output.write(|out| write!(out, "{},\n\"samples\": [", head.trim_end_matches('}')))?;
    let begin = |output: &mut Output, sample: usize| {
        let (separator, time) = (if sample == 0 { "\n" } else { "]},\n" }, Seconds(evaluation.times()[sample]));
        output.write(|out| write!(out, "{separator}{{\"time\":{time},\"instances\":["))
    };
    let progress = Progress::new(evaluation.poses(), "poses");
    if file.is_empty() {
        (0..evaluation.times().len()).try_for_each(|sample| begin(&mut output, sample))?;
    }
    let groups: Vec<_> = file.groups().collect();
    // All instances of a group have the same shape, and follow each other.
    let mut group = 0;
    let mut shape: Option<PoseShape> = None;
    evaluation.each_pose(library, engine, outputs, &progress, &mut |number, pose| {
        let (sample, instance) = (number / file.len(), number % file.len());
        if instance == 0 {
            begin(&mut output, sample)?;
            (group, shape) = (0, None);
        }
        if groups[group].0.end <= instance {
            (group, shape) = (group + 1, None);
        }
        let index = groups[group].1;
        let shape = match &mut shape {
            Some(shape) => shape,
            none => {
                let crowd = file.crowd(library, instance..instance + 1)?;
                // The layers that go out in transitions count at all times.
                let layers: Vec<Layer> = crowd.all_layers(0).copied().collect();
                none.insert(shape_of(library, file, index, &layers, outputs, precision))
            }
        };
        let root_motion = pose.root_motion.map(|motion| RootMotionValue::new(motion, precision)).transpose()?;
        let value = CrowdInstance { file: index, instance: shape.instance(None, pose)?, root_motion };
        output.write(|out| out.write_all(if instance == 0 { b"\n" } else { b",\n" }))?;
        output.write(|out| serde_json::to_writer(out, &value))
    })?;
    output.write(|out| out.write_all(if evaluation.times().is_empty() { b"]}\n" } else { b"]}\n]}\n" }))?;
    output.finish()
}

/// The shape of the poses of a group, which has these layers.
fn shape_of<'a>(
    library: &'a Library,
    file: &'a CrowdFile,
    index: usize,
    layers: &[Layer],
    outputs: Outputs,
    precision: Precision,
) -> PoseShape<'a> {
    let asset = &file.files[index].asset;
    let clips = || layers.iter().map(|layer| library.clip(layer.clip));
    PoseShape::new(library.skeleton(asset.skeleton), &asset.joints, clips(), outputs, precision)
        .with_matrices(&asset.matrices, clips())
}
