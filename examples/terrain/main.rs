//! Ten thousand characters walk over hills, each foot on the ground. A compute kernel of the example finds the height
//! and the slope of the ground under each foot in a texture, and writes targets for the feet and the depth to which the
//! pelvis must sink into the parameters of the crowd. Inverse kinematics does the rest, in the kernel that poses.
//!
//! `cargo run --release --example terrain -- [INSTANCES] [FRAMES] [FILE]` plays and measures; by default 10000
//! instances, 300 frames and no file. A `.png` shows the last frame; an `.mp4` or `.webm` (with `ffmpeg` installed) or
//! an `.apng` is a film:
//!
//! ```text
//! cargo run --release --example terrain -- 1000 600 hills.mp4
//! ```
//!
//! `--planted` in place of the numbers measures how often a planted foot is on the ground (`planted.rs`):
//!
//! | | within 1 cm of the ground |
//! |---|---|
//! | with inverse kinematics | 99.1 % |
//! | without | 55.0 % |

// The walk and the file come from the example with steered characters.
#[path = "../locomotion/arguments.rs"]
mod arguments;
#[path = "../locomotion/clips.rs"]
mod clips;
#[path = "../locomotion/feet.rs"]
mod feet;
#[path = "../locomotion/gaits.rs"]
#[expect(dead_code, reason = "only the walk is used")]
mod gaits;
mod ground;
mod hills;
#[path = "../locomotion/legs.rs"]
mod legs;
#[path = "../locomotion/output.rs"]
mod output;
mod picture;
pub mod planted;
mod rig;
mod steps;
mod walkers;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine};
use posse::{CrowdOptions, Library, Outputs, Ticks};

use arguments::number;
use ground::Ground;
use hills::Hills;
use output::{Outcome, Output};
use picture::Drawing;
use rig::Rig;
use walkers::Walkers;

/// Frames per second.
const RATE: i64 = 60;
/// The arguments.
const ARGUMENTS: &str = "[INSTANCES] [FRAMES] [FILE], or --planted";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|argument| argument == "--planted").is_some() {
        return planted::print();
    }
    let instances = number(arguments.next(), 10_000, ARGUMENTS)?;
    let frames = number(arguments.next(), 300, ARGUMENTS)?;
    if instances == 0 || frames == 0 {
        return Err(
            format!("{instances} characters in {frames} frames: at least 1 character and 1 frame are needed").into()
        );
    }
    let mut output = arguments.next().map(|file| Output::new(file.as_ref(), frames)).transpose()?;
    let hike = Hike::new(instances, Outputs::SKIN, true)?;
    let drawing = output.as_ref().map(|output| Drawing::new(&hike, output.size())).transpose()?;
    let begin = Instant::now();
    let mut drawn = Duration::ZERO;
    for frame in 0..frames {
        hike.play(frame);
        if let (Some(output), Some(drawing)) = (&mut output, &drawing)
            && output.shows(frame, frames)
        {
            hike.engine.wait()?;
            let begin = Instant::now();
            output.add(&drawing.picture(&hike, frame)?)?;
            drawn += begin.elapsed();
        }
    }
    hike.engine.wait()?;
    let seconds = (begin.elapsed() - drawn).as_secs_f64();
    let (adapter, per_frame) = (hike.engine.gpu().name(), 1e3 * seconds / frames as f64);
    println!("{instances} characters, {frames} frames in {seconds:.1} s on {adapter}: {per_frame:.2} ms per frame");
    output.map_or(Ok(()), Output::finish)
}

/// The characters and their hills, on the GPU.
pub struct Hike {
    engine: GpuEngine,
    library: Library,
    rig: Rig,
    walkers: Walkers,
    hills: Hills,
    gpu_crowd: GpuCrowd,
    ground: Ground,
}

impl Hike {
    /// So many characters, with feet that reach for the ground or stay as the clip has them.
    pub fn new(instances: usize, outputs: Outputs, reaches: bool) -> Outcome<Self> {
        let mut library = posse::demo::library()?;
        let walkers = Walkers::new(instances);
        let hills = Hills::new(walkers.radius());
        let rig = Rig::add(&mut library)?;
        let crowd = rig.crowd(instances, reaches)?;
        let engine = GpuEngine::new(GpuContext::new(AdapterKind::Any)?, &library)?;
        let options = CrowdOptions { parameters: rig::PARAMETERS, ..CrowdOptions::NONE };
        let gpu_crowd = GpuCrowd::with_options(engine.library(), &crowd, outputs, options)?;
        let ground = Ground::new(engine.gpu(), &gpu_crowd, &rig, &walkers, &hills)?;
        Ok(Self { engine, library, rig, walkers, hills, gpu_crowd, ground })
    }

    /// Plays a frame. The kernel that poses reads the parameters that the one before it wrote.
    pub fn play(&self, frame: usize) {
        let gpu = self.engine.gpu();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.ground.encode(&gpu.queue, &mut encoder, frame);
        self.gpu_crowd.encode(&mut encoder, Ticks(frame as i64 * Ticks::PER_SECOND / RATE));
        gpu.queue.submit([encoder.finish()]);
    }
}
