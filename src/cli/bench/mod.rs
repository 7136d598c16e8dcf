//! `posse bench`: how fast the engines are here.

mod crowd;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use posse::demo;
use posse::error::Error;
use posse::gpu::bandwidth::write_bandwidth;
use posse::measure::Subject;
use posse::model::crowd::Crowd;
use posse::model::id::ClipId;
use posse::model::layer::{Layer, LayerTime};
use posse::model::library::Library;
use posse::model::outputs::Outputs;
use posse::model::playback::Playback;
use posse::model::ticks::Ticks;

use self::report::{Case, Report};
use crate::cli::Outcome;
use crate::cli::engine::{Choice, Engine};
use crate::cli::output::{self, note};
use crate::cli::progress::Progress;
use crate::cli::question::limit;
use crate::cli::source::Source;

/// The most joints of a case: instances times joints.
const MOST_JOINTS: u64 = 1 << 28;

/// Arguments of `posse bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb or .gltf file whose clips are played; without one, generated rigs.
    file: Option<PathBuf>,
    /// A crowd file, whose crowd is timed as it is.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "instances", "joints", "keys", "depth", "layers"]
    )]
    crowd: Option<PathBuf>,
    /// Sizes of the crowds.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = clap::value_parser!(u32).range(1..))]
    instances: Vec<u32>,
    /// Joints of the generated rigs.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [16, 64, 256], conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..))]
    joints: Vec<u32>,
    /// Keys of each track of the generated rigs, at 30 Hz.
    #[arg(long, value_name = "N", default_value_t = 60, conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    keys: u32,
    /// Levels of the generated rigs' hierarchy, as far as their joints suffice.
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "file", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,
    /// Layers of each instance, blended with equal weights.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=Crowd::MAX_LAYERS as i64))]
    layers: Vec<u32>,
    /// The engines; `gpu` takes a software adapter where there is no other.
    #[arg(long = "engine", value_enum, value_name = "ENGINE,ENGINE", value_delimiter = ',', default_values_t = [Choice::Gpu, Choice::Cpu, Choice::Reference])]
    engines: Vec<Choice>,
    /// Seconds for each case and engine.
    #[arg(long, default_value_t = 0.5, value_parser = seconds)]
    seconds: f64,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 600 is needed".into()),
    }
}

/// Runs `posse bench`.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let report = match &args.crowd {
        Some(file) => crowd::measure(args, file)?,
        None => measure(args)?,
    };
    output::print(|out| if args.json { report.write_json(out) } else { report.write_table(out) })?;
    Ok(if report.is_within() { Outcome::Passed } else { Outcome::Failed })
}

/// Times crowds of each size on each engine.
fn measure(args: &Args) -> Result<Report, Error> {
    let libraries = libraries(args)?;
    for (library, joints) in &libraries {
        for &instances in &args.instances {
            limit("instances x joints of a case", u64::from(instances) * *joints as u64, MOST_JOINTS)?;
        }
        if library.clips().is_empty() {
            return Err(Error::Usage("there is no clip to play; a file with animations is needed".into()));
        }
    }
    let mut report = Report::default();
    let sizes = args.instances.iter().flat_map(|&instances| args.layers.iter().map(move |&layers| (instances, layers)));
    let sizes: Vec<(u32, u32)> = sizes.collect();
    let progress = Progress::new(libraries.len() * sizes.len() * args.engines.len(), "cases");
    for &choice in &args.engines {
        for (library, joints) in &libraries {
            let Some(engine) = open(args, library, choice, &mut report)? else { break };
            for &(instances, layers) in &sizes {
                let crowd = crowd(library, instances, layers)?;
                let subject = Subject { library, crowd: &crowd, outputs: Outputs::SKIN };
                let measured = engine.measure(&subject, Duration::from_secs_f64(args.seconds))?;
                let keys = args.file.is_none().then_some(args.keys);
                report.cases.push(Case::new(*joints, layers, keys, measured));
                progress.add(1);
            }
        }
    }
    Ok(report)
}

/// An engine, whose bandwidth is measured where it is a GPU and that is not done; `None`, and a note, where there is no
/// adapter for one of several.
fn open<'a>(
    args: &Args,
    library: &'a Library,
    choice: Choice,
    report: &mut Report,
) -> Result<Option<Engine<'a>>, Error> {
    let engine = match Engine::open(library, choice) {
        Ok(engine) => engine,
        // One engine less is still a benchmark, unless it is all that was asked for.
        Err(error @ Error::NoAdapter { .. }) if args.engines.len() > 1 => {
            note(&format!("note: without the gpu engine: {error}"));
            report.skipped.push(error.to_string());
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if let (Engine::Gpu(engine), None) = (&engine, report.write_bandwidth) {
        report.write_bandwidth = Some(write_bandwidth(engine.gpu())?);
    }
    Ok(Some(engine))
}

/// What is played, each with the number of its joints.
fn libraries(args: &Args) -> Result<Vec<(Library, usize)>, Error> {
    if let Some(file) = &args.file {
        let Source { library, skeleton, .. } = Source::gltf(file)?;
        let joints = library.skeleton(skeleton).joints().len();
        return Ok(vec![(library, joints)]);
    }
    let rig = |&joints: &u32| {
        limit("joints of a rig", u64::from(joints), 1 << 20)?;
        let joints = joints as usize;
        Ok((demo::rig(joints, args.keys as usize, (args.depth as usize).min(joints))?, joints))
    };
    args.joints.iter().map(rig).collect()
}

/// Instances that play all clips in turn, each layer at its own time.
fn crowd(library: &Library, instances: u32, layers: u32) -> Result<Crowd, Error> {
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances as usize {
        let skeleton = library.clip(clips[instance % clips.len()]).skeleton;
        let layer = |layer: usize| {
            let clip = clips[(instance + layer) % clips.len()];
            // The golden ratio spreads any number of starts evenly over a minute.
            let spread = (instance * layers as usize + layer) as f64 * 0.618_033_988_749_894_9;
            Layer::new(clip, LayerTime::Playing(Playback::looping(Ticks::from_seconds(-60.0 * spread.fract()), 1.0)))
        };
        crowd.push(skeleton, &(0..layers as usize).map(layer).collect::<Vec<_>>())?;
    }
    Ok(crowd)
}
