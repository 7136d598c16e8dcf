//! `posse eval`: poses of a clip or a crowd at given times.

mod crowd;
mod json;
mod npz;
mod numbers;

use std::path::{Path, PathBuf};

use posse::bake::last_frame;
use posse::ik::ChainId;
use posse::quality::{FootLock, GroundLevel, MotionQuality, Stance, measured_fps};
use posse::{Clip, ClipId, Error, Outputs, Playback, Ticks, WrapMode};

use crate::arguments::{
    BvhArgs, CompressArgs, SkinFormatChoice, check_limit, parse_positive, parse_range, parse_seconds, whole,
};
use crate::engine::{self, Engine, EngineArgs, EngineLibrary};
use crate::eval::npz::PoseTable;
use crate::evaluation::{ClipEvaluation, ClipPlayback};
use crate::output::{self, Output, note, warn_of_file};
use crate::quality::NO_FEET;
use crate::retargeting::{MapArgs, OPTIONS_WITHOUT_RETARGET, Retargeter};
use crate::source::{ReadOptions, Rig, SkeletonArgs, Source, find_clip};
use crate::threads::ThreadArgs;

/// The end of `posse eval --help`: the output formats, and the format of crowd files.
pub fn help() -> String {
    format!("{OUTPUT_FORMATS}\n\n{}", posse::import::crowd::FORMAT)
}

/// The description of the output formats.
const OUTPUT_FORMATS: &str = "\
A sample of --format json has `nodes`, `skins` and `pointers` of a glTF file. `nodes` are in the order of the file. Each has its
`name` and the index of its `parent`, if there are any. A matrix (`world` of a node, or one of the `joint_matrices` of a skin) is
16 numbers in column order, as in glTF: the last four are the translation and 1. A Cocos clip has `targets`, one per curve in the
order of the file, with `path`, `component`, `property` and `value`. A value is a list of numbers. For a colour it is the four
bytes, and `unrounded` has the numbers. For a property that does not interpolate it is the index of the current key. It is null
without keys; single numbers that no curve drives are null. With --wrap, a sample also has `clip_time`, `direction` (1 or -1),
`iterations` and `stopped`. With --crowd, a sample has `instances`, with groups unrolled. Each has the index of its `file` and its
`root_motion`: the `translation` and `rotation` since the previous time, or null if none of its clips has a root.

Arrays of --format npz, for T times, N instances and J nodes in the order of the file; float32 for gpu and cpu, float64 for
reference:
  times (T)                     seconds of the clip; with --wrap since the play began; with --crowd of its clock; float64
  translation, scale (T,N,J,3)  with output `local`; for a node with a matrix, the nearest transform
  rotation (T,N,J,4)            with output `local`, quaternions xyzw
  model (T,N,J,4,4)             with output `model`; row order: model[t,n,j] @ [x,y,z,1]
  skin_K (T,N,joints,4,4)       with output `skin`, one array per skin K, joints in the order of the skin; the values that a
                                shader reads from the --skin-format
  weights (T,N,W)               with output `weights`, node after node
  weight_names (W)              with output `weights`, if the file names morph targets: NODE.NAME, or NODE.INDEX; texts
  properties (T,N,P)            with output `properties`, pointer after pointer; for a Cocos clip the unrounded numbers, target
                                after target
  root_motion_translation (T,N,3), root_motion_rotation (T,N,4)
                                with --crowd, if a clip has a root: the movement since the previous time

A Cocos clip without --rig has no nodes: only the arrays times and properties are written.

With --crowd, --format npz needs a crowd whose instances are all of one file.

Without --clip, the only clip of the file is evaluated; a file without clips gives its rest pose.";

/// Arguments of `posse eval`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf, .vrm, .vrma, .fbx or .bvh file, an .npz file of SMPL or AMASS, a Cocos clip (.json, .anim), or
    /// `demo` for the built-in human.
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file instead of FILE: JSON that names glTF files, masks, and groups of instances with their layers.
    ///
    /// An example and all its fields are at the end.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "rig", "retarget", "skeleton", "map", "reference", "bound", "clip", "wrap", "repeat_count", "speed", "range", "instances", "phase", "foot_lock", "input_fps", "no_end_sites"]
    )]
    crowd: Option<PathBuf>,
    /// A .glb, .gltf, .vrm, .fbx or .bvh file. The clip animates its nodes, matched by name. Default: the nodes of
    /// FILE. A Cocos clip has no nodes: without a rig, only the values of its targets are evaluated.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// Retargets the clip to the skeleton of --rig: its joints rotate as the joints of FILE do, relative to their rest
    /// poses, and its root moves in proportion. Without this option, the joints of the same names take over the values
    /// as they are.
    #[arg(long, requires = "rig")]
    retarget: bool,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    skeleton: SkeletonArgs,
    /// Holds feet in contact with the ground where they are, by inverse kinematics of the legs, as `posse bake` does.
    #[arg(long)]
    foot_lock: bool,
    /// The clip: NAME, NAME#K for the K-th of that name from 0, or #INDEX. Not needed if there is only one.
    #[arg(long, value_name = "NAME|#INDEX")]
    clip: Option<String>,
    #[command(flatten)]
    bvh: BvhArgs,
    #[command(flatten)]
    times: TimeArgs,
    #[command(flatten)]
    playback: PlaybackArgs,
    /// The number of instances at each time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(1..=u32::MAX))]
    instances: u32,
    /// Seconds by which each instance is ahead of the previous one.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    phase: f64,
    /// The parts of the poses that are written. Default: all.
    #[arg(long, value_enum, value_delimiter = ',')]
    outputs: Vec<EvaluatedPart>,
    /// The format of the skin matrices of the engine. They are printed as matrices, with the values that a shader
    /// reads.
    #[arg(long, value_enum, default_value = "matrix")]
    skin_format: SkinFormatChoice,
    /// The output format. Default: by the name of the output, if it ends with .json or .npz; for stdout and other
    /// names, json.
    #[arg(long, value_enum)]
    format: Option<PoseFormat>,
    /// The output file. Default: stdout.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    compress: CompressArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EvaluatedPart {
    /// Local translations, rotations and scales.
    Local,
    /// Model matrices.
    Model,
    /// Skin matrices.
    Skin,
    /// Morph weights.
    Weights,
    /// Values of animation pointers; for a Cocos clip all targets.
    Properties,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PoseFormat {
    /// One JSON object.
    Json,
    /// NumPy arrays in a zip file.
    Npz,
}

/// Endings of files of motion and of tables, which are not written here.
const OTHER_FORMATS: [&str; 18] = [
    "bvh",
    "csv",
    "fbx",
    "gif",
    "glb",
    "gltf",
    "h5",
    "jsonl",
    "mat",
    "npy",
    "parquet",
    "pkl",
    "png",
    "safetensors",
    "tsv",
    "usd",
    "usda",
    "vrma",
];

/// Returns `true` if the name of an output promises a format that is not written. Other endings, as of temporary files,
/// promise none.
fn is_of_another_format(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    OTHER_FORMATS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

impl PoseFormat {
    /// The format that the name of an output ends with.
    fn of_name(file: &Path) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(file.extension()?.to_str()?, true).ok()
    }

    /// The name of the format on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Npz => "npz",
        }
    }
}

/// Runs `posse eval`.
pub fn run(args: &Args) -> Result<(), Error> {
    let format = args.format()?;
    if format == PoseFormat::Npz && args.output.is_none() && output::stdout_is_terminal() {
        return Err(Error::Usage(
            "npz cannot be written to a terminal: name a file with -o, or redirect stdout".into(),
        ));
    }
    // A wrong adapter is an error before files are read, which can take long.
    let selection = args.engine.selection()?;
    let file = match (&args.crowd, &args.file) {
        (Some(crowd), _) => return crowd::run(args, crowd, format, selection),
        (None, Some(file)) => file,
        (None, None) => return Err(Error::Usage("no file given; give one, or a crowd file with --crowd".into())),
    };
    let mut source = args.source(file)?;
    // Chains come before engines.
    let chains = args.foot_lock.then(|| FootLock::add_chains(&mut source.library, source.skeleton));
    let library = &source.library;
    let clip = find_clip(&source, args.clip.as_deref())?;
    let animation = clip.map(|clip| library.clip(clip));
    let (times, playback) = (args.times.times(animation)?, args.playback.playback(animation)?);
    warn_of_file(file, args.playback.warning(animation), &mut note)?;
    let instances = args.instances as usize;
    let lock = match (chains, clip) {
        (Some(chains), Some(clip)) => Some(lock(&source, clip, chains)?),
        (Some(_), None) => {
            note(&format!("warning: {}: the file has no clips; no foot is held", file.display()));
            None
        }
        (None, _) => None,
    };
    let phase = args.phase;
    let evaluation = ClipEvaluation { skeleton: source.skeleton, clip, times, instances, phase, playback, lock };
    evaluation.check(library)?;
    let compressed = args.compress.compress(library)?;
    let threads = args.threads.count();
    let engine_library = EngineLibrary::new(library, compressed.as_ref());
    let mut engine = Engine::open(engine_library, selection, threads)?;
    engine::print_name(engine.evaluator());
    let outputs = source.outputs(outputs(&args.outputs, args.skin_format));
    let output = Output::create(args.output.as_deref())?;
    match format {
        PoseFormat::Json => json::write(&source, &evaluation, outputs, engine.evaluator(), output),
        PoseFormat::Npz => {
            let (skeleton, joints) = (source.skeleton, source.joints.as_slice());
            npz::write(
                &PoseTable { library, skeleton, joints, evaluation: &evaluation, outputs, threads },
                &mut engine,
                output,
            )
        }
    }
}

/// The lock of the feet of a clip. Without chains of its legs, it warns and holds none.
fn lock(source: &Source, clip: ClipId, chains: Result<Vec<ChainId>, Error>) -> Result<FootLock, Error> {
    let (library, file) = (&source.library, source.path.display());
    let chains = chains.unwrap_or_else(|error| {
        note(&format!("warning: {file}: {error}; no foot is held"));
        Vec::new()
    });
    let stance = Stance::of_clip(library, clip, GroundLevel::Auto)?;
    if stance.feet.is_empty() {
        note(&format!("warning: {file}: {NO_FEET}; no foot is held"));
    }
    let (_, contacts) = MotionQuality::of_clip_on(library, clip, measured_fps(source.fps(clip)), &stance)?;
    Ok(FootLock::new(clip, chains, stance, contacts))
}

impl Args {
    /// The format of the output: of `--format`, else by its name.
    fn format(&self) -> Result<PoseFormat, Error> {
        let named = self.output.as_deref().and_then(PoseFormat::of_name);
        match (self.format, named, &self.output) {
            (Some(given), Some(named), Some(file)) if given != named => Err(Error::Usage(format!(
                "{}: the name ends with .{}, but --format is {}; change one of them",
                file.display(),
                named.name(),
                given.name()
            ))),
            (Some(format), ..) | (None, Some(format), _) => Ok(format),
            (None, None, Some(file)) if is_of_another_format(file) => Err(Error::Usage(format!(
                "{}: poses are written as .json or .npz; change the name, or add --format json or --format npz",
                file.display()
            ))),
            (None, None, _) => Ok(PoseFormat::Json),
        }
    }

    /// Loads the file, with its clips on the rig if there is one.
    fn source(&self, file: &Path) -> Result<Source, Error> {
        if self.map.is_given() && !self.retarget {
            return Err(Error::Usage(OPTIONS_WITHOUT_RETARGET.into()));
        }
        let rest = self.skeleton.read(self.bvh)?;
        let options = ReadOptions { bvh: self.bvh, rest: rest.as_ref() };
        let (Some(rig), true) = (&self.rig, self.retarget) else {
            return Source::load(file, self.rig.as_deref(), options);
        };
        let source = Source::load_nodes(file, ReadOptions { bvh: self.bvh.of_source(), ..options })?;
        let clip = find_clip(&source, self.clip.as_deref())?;
        let clip = clip.ok_or_else(|| Error::Usage(format!("{} has no clips to retarget", file.display())))?;
        let retargeter = Retargeter::new(&self.map, self.bvh, &mut note)?;
        Ok(retargeter.retarget_and_warn(source, file, &Rig::read(rig, self.bvh)?, &[clip])?.source)
    }
}

/// The outputs of the given parts; all of them without any. `root_motion` is set for crowds only.
fn outputs(parts: &[EvaluatedPart], skin_format: SkinFormatChoice) -> Outputs {
    let wanted = |part| parts.is_empty() || parts.contains(&part);
    Outputs {
        local: wanted(EvaluatedPart::Local),
        model: wanted(EvaluatedPart::Model),
        skin: wanted(EvaluatedPart::Skin),
        skin_format: skin_format.into(),
        weights: wanted(EvaluatedPart::Weights),
        properties: wanted(EvaluatedPart::Properties),
        root_motion: false,
    }
}

/// The largest number of times of a frame rate.
const MAX_TIMES: u64 = 1 << 24;

/// A list of times, or a frame rate.
#[derive(Debug, clap::Args)]
pub struct TimeArgs {
    /// Times in seconds of the clip, clamped to its keys; with --wrap since the play began; with --crowd of the crowd
    /// clock.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_seconds)]
    times: Vec<f64>,
    /// Evenly spaced times, this many per second. The last one may be a little after the end, because files round key
    /// times; it is then the end.
    #[arg(long, value_name = "F", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_positive)]
    fps: Option<f64>,
    /// The first of the evenly spaced times. Default: 0.
    #[arg(long, value_name = "SECONDS", requires = "fps", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_seconds)]
    from: Option<f64>,
    /// The end of the evenly spaced times. Default: the duration of the clip. A crowd has no default.
    #[arg(long, value_name = "SECONDS", requires = "fps", conflicts_with = "times", allow_hyphen_values = true, value_parser = parse_seconds)]
    to: Option<f64>,
}

impl TimeArgs {
    /// The times for a crowd. Its clock has no end, so `--fps` needs `--to`.
    pub fn on_clock(&self) -> Result<Vec<f64>, Error> {
        match (self.fps, self.to) {
            (None, _) if self.times.is_empty() => {
                Err(Error::Usage("no times given; give --times A,B,C, or --fps F with --to SECONDS".into()))
            }
            (Some(_), None) => {
                Err(Error::Usage("--fps needs an end: a crowd clock has none; give --to SECONDS".into()))
            }
            _ => self.times(None),
        }
    }

    /// The times for a clip, or for a rest pose.
    pub fn times(&self, clip: Option<&Clip>) -> Result<Vec<f64>, Error> {
        let Some(fps) = self.fps else {
            return match (self.times.is_empty(), clip) {
                (false, _) => Ok(self.times.clone()),
                (true, None) => Ok(vec![0.0]),
                (true, Some(_)) => Err(Error::Usage("no times given; give --times A,B,C or --fps F".into())),
            };
        };
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or_else(|| clip.map_or(0.0, Clip::duration)));
        if from > to {
            return Err(Error::Usage(format!(
                "no times: --from {from} s is after the end, {to} s; give an earlier --from, or a later --to"
            )));
        }
        let frames = last_frame(from, to, fps);
        check_limit("samples, by --fps, --from and --to", frames as u64, MAX_TIMES)?;
        Ok((0..=frames as u64).map(|frame| (from + frame as f64 / fps).min(to)).collect())
    }
}

/// The options of a playback.
#[derive(Debug, clap::Args)]
pub struct PlaybackArgs {
    /// Plays the clip. Times are then seconds since the play began, and each sample also has the time of the clip.
    /// At times below 0, a mode that does not repeat waits where it begins; the other modes have always played.
    ///
    /// The modes are default (the mode of the clip), normal, loop, pingpong, reverse, loopreverse and pingpongreverse;
    /// case, `-` and `_` do not matter.
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    wrap: Option<WrapMode>,
    /// The number of passes until the play stops, with or without a fraction, or `inf`. Default: the number of the
    /// mode, 1 or `inf`.
    #[arg(long, value_name = "R", requires = "wrap", allow_hyphen_values = true, value_parser = parse_count)]
    repeat_count: Option<f64>,
    /// Seconds of the clip per second of play; negative plays backwards, from the end. Default: 1. The speed that the
    /// clip stores is ignored.
    #[arg(long, value_name = "S", requires = "wrap", allow_hyphen_values = true, value_parser = parse_speed)]
    speed: Option<f64>,
    /// The part of the clip that plays, in seconds from A to B. The play begins at A, or backwards at B, at time 0.
    /// Default: the whole clip.
    #[arg(long, value_name = "A,B", requires = "wrap", allow_hyphen_values = true, value_parser = parse_range)]
    range: Option<[f64; 2]>,
}

impl PlaybackArgs {
    /// The warning about a range that is not within a clip.
    fn warning(&self, clip: Option<&Clip>) -> Option<String> {
        let ([start, end], duration) = (self.range?, clip?.duration());
        // Files round key times to `f32`.
        let is_within = start >= 0.0 && end <= duration * (1.0 + 1e-6);
        let shortened =
            || format!("the range {start} to {end} s is not within the clip, 0 to {duration} s; it is shortened");
        (!is_within).then(shortened)
    }

    /// The playback of a clip; `None` without `--wrap`. Fails if there is no clip.
    pub fn playback(&self, clip: Option<&Clip>) -> Result<Option<ClipPlayback>, Error> {
        let Some(wrap) = self.wrap else { return Ok(None) };
        let Some(clip) = clip else {
            return Err(Error::Usage("--wrap plays a clip, and the file has none".into()));
        };
        let duration = clip.duration();
        if let Some([start, end]) = self.range.filter(|&[start, _]| start > 0.0 && start >= duration) {
            let reason =
                format!("the range {start} to {end} s does not begin before the end of the clip, {duration} s");
            return Err(Error::Usage(reason));
        }
        let playback = Playback {
            repeat_count: self.repeat_count,
            range: self.range,
            ..Playback::new(wrap, Ticks::default(), self.speed.unwrap_or(1.0))
        };
        Ok(Some(ClipPlayback { playback: playback.resolve_wrap(clip.wrap), duration }))
    }
}

fn parse_mode(text: &str) -> Result<WrapMode, String> {
    WrapMode::from_name(text).ok_or_else(|| {
        let names: Vec<_> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
        format!("an unknown mode; expected one of {}", names.join(", "))
    })
}

fn parse_count(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(count) if count >= 0.0 => Ok(count),
        _ => Err("expected a number of 0 or more, for example 2.5, or inf".into()),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match parse_seconds(text)? {
        speed if speed.abs() <= 1e4 => Ok(speed),
        _ => Err("expected a speed from -1e4 to 1e4".into()),
    }
}
