//! `posse eval`: a clip, or a crowd, at some times.

mod crowd;
mod json;
mod npz;
mod numbers;
mod playback;
mod shape;
mod targets;
mod times;

use std::path::PathBuf;

use posse::{ClipId, Error, Outputs};

use crate::cli::arguments::CompressArgs;
use crate::cli::arguments::SkinFormatChoice;
use crate::cli::arguments::parse_seconds;
use crate::cli::engine::{self, EngineArgs, EngineLibrary};
use crate::cli::eval::npz::Table;
use crate::cli::evaluation::ClipEvaluation;
use crate::cli::output::{self, Output};
use crate::cli::source::Source;

/// What `posse eval --help` says at its end: what is written, and what a crowd file is.
pub fn help() -> String {
    format!("{SHAPES}\n\n{}", posse::import::crowd::FORMAT)
}

/// What samples and the arrays of an npz file look like.
const SHAPES: &str = "\
Samples of --format json have `nodes`, `skins` and `pointers` of a glTF file. `nodes` are in the file's order, each with its
`name` and the index of its `parent` where it has them. A matrix, `world` of a node or one of a skin's `joint_matrices`, is
16 numbers column after column, as in glTF: the last four are the translation and 1. A Cocos clip has `targets`, one for each curve
in the file's order, with `path`, `component`, `property` and `value`: a list of numbers; of a colour its four bytes, with
`unrounded` beside them; of what does not interpolate the index of the key that holds; null without keys, and null for a
number that no curve drives. With --wrap a sample also has `clip_time`, `direction` (1 or -1), `iterations` and `stopped`.
With --crowd each sample has `instances`, groups unrolled, each with the index of its `file`, and with `root_motion`: the
`translation` and `rotation` that it moves by from the time before to this one; null where none of its clips has a root.

Arrays of --format npz, for T times, N instances and J nodes in the file's order; float32 of gpu and cpu, float64 of
reference:
  times (T)                     seconds on the clip's axis, with --wrap since the play began, with --crowd on its clock; float64
  translation, scale (T,N,J,3)  with output `local`; of nodes given by a matrix, its nearest transform
  rotation (T,N,J,4)            with output `local`, quaternions xyzw
  model (T,N,J,4,4)             with output `model`; rows first: model[t,n,j] @ [x,y,z,1]
  skin_K (T,N,joints,4,4)       with output `skin`, one array for each skin K, joints in the skin's order; what a shader
                                reads from them in the --skin-format
  weights (T,N,W)               with output `weights`, node after node
  properties (T,N,P)            with output `properties`, pointer after pointer, or the unrounded numbers of target
                                after target
  root_motion_translation (T,N,3), root_motion_rotation (T,N,4)
                                with --crowd, where a clip has a root: the movement since the time before

A Cocos clip without --rig has no nodes: of its arrays there are times and properties.

With --crowd, npz is for instances that are all of one file.

Without --clip, the only clip is evaluated; a file without clips gives its rest pose.";

/// Arguments of `posse eval`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb or .gltf file, or a Cocos clip (.json, .anim).
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file in place of FILE: JSON that names glTF files, masks, and groups of instances with their layers.
    ///
    /// An example and all its fields are at the end.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "rig", "clip", "wrap", "repeat_count", "speed", "range", "instances", "phase"]
    )]
    crowd: Option<PathBuf>,
    /// A .glb or .gltf file whose nodes the clip is to move, found by their names; those of its own by default, and of a
    /// Cocos clip, which has none, only the values of its targets.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// The clip, by name or by index; not needed where there is only one.
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    #[command(flatten)]
    times: times::TimeArgs,
    #[command(flatten)]
    playback: playback::PlaybackArgs,
    /// How many instances to pose at each time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    instances: u32,
    /// Seconds by which each instance is ahead of the one before.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    phase: f64,
    /// Which parts of the poses to write; all by default.
    #[arg(long, value_enum, value_delimiter = ',')]
    outputs: Vec<Part>,
    /// How the engine writes skin matrices. They are printed as matrices all the same, as a shader would find them.
    #[arg(long, value_enum, default_value = "matrix")]
    skin_format: SkinFormatChoice,
    /// How to write them.
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Where to write them; stdout by default.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    compress: CompressArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Local translations, rotations and scales.
    Local,
    /// Model matrices.
    Model,
    /// Skin matrices.
    Skin,
    /// Morph weights.
    Weights,
    /// Values that animation pointers drive; all targets of a Cocos clip.
    Properties,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One JSON object.
    Json,
    /// NumPy arrays in a zip file.
    Npz,
}

/// Runs `posse eval`.
pub fn run(args: &Args) -> Result<(), Error> {
    if args.format == Format::Npz && args.output.is_none() && output::stdout_is_terminal() {
        return Err(Error::Usage("npz is not for terminals: name a file with -o, or redirect stdout".into()));
    }
    let file = match (&args.crowd, &args.file) {
        (Some(crowd), _) => return crowd::run(args, crowd),
        (None, Some(file)) => file,
        (None, None) => return Err(Error::Usage("which file? Name one, or a crowd file with --crowd".into())),
    };
    let source = Source::load(file, args.rig.as_deref())?;
    let library = &source.library;
    let clip = choose(&source, args.clip.as_deref())?;
    if let Some(lost) = clip.filter(|clip| source.unbound_clips.contains(clip)) {
        let (name, rig) = (library.clip(lost).name.as_deref(), source.rig.as_deref().unwrap_or_default());
        let name = name.unwrap_or("unnamed");
        return Err(Error::Usage(format!("clip {name}: no track finds anything of its name in {rig}")));
    }
    let known = clip.map(|clip| library.clip(clip));
    let (times, playback) = (args.times.times(known)?, args.playback.playback(known)?);
    let instances = args.instances as usize;
    let evaluation = ClipEvaluation { skeleton: source.skeleton, clip, times, instances, phase: args.phase, playback };
    evaluation.check(library)?;
    let compressed = args.compress.compress(library)?;
    let mut engine = engine::open(EngineLibrary::new(library, compressed.as_ref()), args.engine.engine)?;
    engine::print_name(engine.as_ref());
    let outputs = source.outputs(outputs(&args.outputs, args.skin_format));
    let output = Output::create(args.output.as_deref())?;
    match args.format {
        Format::Json => {
            json::write(&Subject { source: &source, evaluation: &evaluation, outputs }, engine.as_mut(), output)
        }
        Format::Npz => {
            let (skeleton, joints) = (source.skeleton, source.joints.as_slice());
            npz::write(&Table { library, skeleton, joints, evaluation: &evaluation, outputs }, engine.as_mut(), output)
        }
    }
}

/// What is evaluated, and which parts of it are written.
struct Subject<'a> {
    source: &'a Source,
    evaluation: &'a ClipEvaluation,
    outputs: Outputs,
}

fn outputs(parts: &[Part], skin_format: SkinFormatChoice) -> Outputs {
    let wanted = |part| parts.is_empty() || parts.contains(&part);
    Outputs {
        local: wanted(Part::Local),
        model: wanted(Part::Model),
        skin: wanted(Part::Skin),
        skin_format: skin_format.into(),
        weights: wanted(Part::Weights),
        properties: wanted(Part::Properties),
        root_motion: false,
    }
}

fn choose(source: &Source, wanted: Option<&str>) -> Result<Option<ClipId>, Error> {
    let name = |clip: &ClipId| source.library.clip(*clip).name.as_deref();
    let list = || {
        let clips = source.clips.iter().enumerate();
        let names: Vec<_> = clips.map(|(index, clip)| format!("{index} {}", name(clip).unwrap_or("unnamed"))).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    };
    match (wanted, source.clips.as_slice()) {
        (Some(wanted), clips) => {
            let by_name = clips.iter().find(|clip| name(clip) == Some(wanted));
            let by_index = || wanted.parse::<usize>().ok().and_then(|index| clips.get(index));
            let clip = by_name.or_else(by_index);
            clip.map(|&clip| Some(clip))
                .ok_or_else(|| Error::Usage(format!("there is no clip {wanted:?}, but: {}", list())))
        }
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(*only)),
        (None, _) => Err(Error::Usage(format!("which clip? Name one with --clip: {}", list()))),
    }
}
