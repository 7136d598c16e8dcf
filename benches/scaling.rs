//! The CPU engine where crowds or rigs are small or mixed: one and two threads, many skeletons, many clips, compressed
//! keys, several layers, morph weights, rigs of few joints, each output. `cargo bench --bench scaling`, or with names
//! of groups after `--`: `threads`, `skeletons`, `clips`, `compressed`, `layers`, `weights`, `joints`, `outputs`.
//!
//! The cases of a group run in turn, several frames each. Printed are medians, and the ratio to the first case of the
//! group.

use std::sync::Arc;
use std::time::Instant;

use posse::compress::{CompressedLibrary, ErrorBound};
use posse::cpu::{CpuCrowd, CpuEngine};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::{
    Clip, ClipId, Crowd, Error, Joint, Layer, LayerTime, Library, Outputs, Playback, Skeleton, Ticks, WrapMode, demo,
};

/// The joints of each rig, except in group `joints`.
const JOINTS: usize = 64;
/// The keys of each track.
const KEYS: usize = 60;
/// The times that each case has its turn.
const ROUNDS: usize = 31;

/// Rigs with several clips each. The clips of a rig differ in their keys.
fn library(joints: usize, skeletons: usize, clips: usize) -> Result<Library, Error> {
    let mut library = Library::new();
    for _ in 0..skeletons {
        demo::add_rig(&mut library, joints, KEYS, joints.min(10))?;
        let first = library.clips()[library.clips().len() - 1].clone();
        for clip in 1..clips {
            library.add_clip(demo::shifted_clip(&first, clip)?)?;
        }
    }
    Ok(library)
}

/// The number of morph weights of the face.
const WEIGHTS: usize = 52;

/// A rig of one joint with morph weights, and a clip that animates all of them.
fn face() -> Result<Library, Error> {
    let mut library = Library::new();
    let joint = Joint { weights: vec![0.1; WEIGHTS], ..Joint::default() };
    let skeleton = library.add_skeleton(Skeleton::new(None, vec![joint], vec![])?);
    let times = Arc::new(Timeline::new((0..KEYS).map(|key| key as f64 / 30.0).collect())?);
    let values = (0..KEYS * WEIGHTS).map(|number| (0.37 * number as f64).sin()).collect();
    let curve = Curve::new(times, Interpolation::Linear, WEIGHTS, values)?;
    library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Weights(0), curve)]))?;
    Ok(library)
}

/// A crowd that takes all clips in turn, each layer at a random time. The layers of an instance take clips in turn,
/// too: of one skeleton.
fn crowd(library: &Library, instances: usize, layers: usize) -> Result<Crowd, Error> {
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    // Xorshift (Marsaglia, 2003).
    let mut random = 0x1234_5678_9abc_def1_u64;
    for instance in 0..instances {
        let layer = |layer| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let start = Ticks::from_seconds(-60.0 * random as f64 / u64::MAX as f64);
            Layer::new(
                clips[(instance + layer) % clips.len()],
                LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)),
            )
        };
        let layers: Vec<Layer> = (0..layers).map(layer).collect();
        crowd.push(library.clip(clips[instance % clips.len()]).skeleton, &layers)?;
    }
    Ok(crowd)
}

/// A crowd to pose frame by frame.
struct Case {
    name: String,
    engine: CpuEngine,
    crowd: CpuCrowd,
    instances: usize,
    /// The joints of each instance, or its morph weights: what the printed time is divided by.
    numbers: usize,
    now: Ticks,
    seconds: Vec<f64>,
}

impl Case {
    fn new(name: String, engine: CpuEngine, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        let (instances, crowd) = (crowd.len(), engine.crowd(crowd, outputs)?);
        Ok(Self { name, engine, crowd, instances, numbers: JOINTS, now: Ticks(1_234_567), seconds: Vec::new() })
    }

    /// Poses some frames, and keeps the median of their times.
    fn take_turn(&mut self) {
        let frames = (100_000 / self.instances).clamp(3, 200);
        let mut seconds = Vec::with_capacity(frames);
        // The first frame warms up.
        for _ in 0..=frames {
            self.now.0 += Ticks::PER_SECOND / 60;
            let start = Instant::now();
            self.engine.pose(&mut self.crowd, self.now);
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.seconds.push(median(&mut seconds[1..]));
    }
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The cases of a group.
fn cases(group: &str) -> Result<Vec<Case>, Error> {
    let skin = Outputs::SKIN;
    let mut cases = Vec::new();
    match group {
        "threads" | "skeletons" => {
            let sizes: &[(usize, usize)] = match group {
                "threads" => &[(1, 100), (1, 1000), (1, 10_000)],
                _ => &[(64, 1000), (64, 10_000), (1000, 1000), (1000, 10_000)],
            };
            for &(skeletons, instances) in sizes {
                let library = library(JOINTS, skeletons, 1)?;
                let crowd = crowd(&library, instances, 1)?;
                for threads in [1, 2] {
                    let name = format!("{skeletons} skeletons, {instances} instances, threads {threads}");
                    cases.push(Case::new(name, CpuEngine::with_threads(&library, threads)?, &crowd, skin)?);
                }
            }
        }
        "clips" | "compressed" => {
            let counts: &[usize] = if group == "clips" { &[1, 10, 50, 100, 200, 500] } else { &[1, 100] };
            for &clips in counts {
                let library = library(JOINTS, 1, clips)?;
                let crowd = crowd(&library, 10_000, 1)?;
                let engine = CpuEngine::with_threads(&library, 1)?;
                let name = format!("{clips} clips, {} bytes", engine.size());
                cases.push(Case::new(name, engine, &crowd, skin)?);
                if group == "compressed" {
                    let wide = CompressedLibrary::with_width(&library, 16)?;
                    let bounded = CompressedLibrary::new(&library, ErrorBound::default())?;
                    for (keys, compressed) in [("16 bits per number", wide), ("within 0.01 %", bounded)] {
                        let engine = CpuEngine::from_packed(compressed.pack()?, 1);
                        let name = format!("{clips} clips, {} bytes, {keys}", engine.size());
                        cases.push(Case::new(name, engine, &crowd, skin)?);
                    }
                }
            }
        }
        "layers" => {
            for (clips, layers) in [(1, 1), (1, 2), (1, 8), (500, 1), (500, 2)] {
                let library = library(JOINTS, 1, clips)?;
                let engine = CpuEngine::with_threads(&library, 1)?;
                let crowd = crowd(&library, 10_000, layers)?;
                cases.push(Case::new(format!("blended layers {layers}, clips {clips}"), engine, &crowd, skin)?);
            }
        }
        "weights" => {
            let library = face()?;
            for layers in [1, 2, 8] {
                let engine = CpuEngine::with_threads(&library, 1)?;
                let outputs = Outputs { weights: true, ..Outputs::NONE };
                let case = Case::new(format!("layers {layers}"), engine, &crowd(&library, 1000, layers)?, outputs)?;
                cases.push(Case { numbers: WEIGHTS, ..case });
            }
        }
        "joints" => {
            for joints in [64, 63, 16, 4, 1] {
                let library = library(joints, 1, 1)?;
                for instances in [1000, 10_000] {
                    let name = format!("{joints} joints, {instances} instances");
                    let engine = CpuEngine::with_threads(&library, 1)?;
                    cases.push(Case {
                        numbers: joints,
                        ..Case::new(name, engine, &crowd(&library, instances, 1)?, skin)?
                    });
                }
            }
        }
        _ => {
            let library = library(JOINTS, 1, 1)?;
            let local = Outputs { local: true, ..Outputs::NONE };
            let model = Outputs { model: true, ..Outputs::NONE };
            for (name, outputs) in [("local", local), ("model", model), ("skin", skin)] {
                for instances in [1000, 10_000] {
                    let engine = CpuEngine::with_threads(&library, 1)?;
                    let name = format!("{name}, {instances} instances");
                    cases.push(Case::new(name, engine, &crowd(&library, instances, 1)?, outputs)?);
                }
            }
        }
    }
    Ok(cases)
}

fn main() -> Result<(), Error> {
    let groups = ["threads", "skeletons", "clips", "compressed", "layers", "weights", "joints", "outputs"];
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for group in groups.into_iter().filter(|group| named.is_empty() || named.iter().any(|name| name == group)) {
        let mut cases = cases(group)?;
        for _ in 0..ROUNDS {
            cases.iter_mut().for_each(Case::take_turn);
        }
        println!("{group}");
        let unit = if group == "weights" { "weight" } else { "joint" };
        let mut first = None;
        for case in &mut cases {
            let nanoseconds = median(&mut case.seconds) * 1e9 / (case.instances * case.numbers) as f64;
            let ratio = nanoseconds / *first.get_or_insert(nanoseconds);
            println!("  {:48} {nanoseconds:6.2} ns per {unit}, x {ratio:.2}", case.name);
        }
    }
    Ok(())
}
