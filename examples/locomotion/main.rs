//! Ten thousand characters, steered on the GPU: a compute kernel writes phase, speed and turn of each into the
//! parameters of the crowd, which drive a blend space of walk, jog, run and turns with synchronised feet. Characters
//! that stop and go on do so by transitions.
//!
//! `cargo run --release --example locomotion -- [INSTANCES] [FRAMES] [FILE]` plays and measures; by default 10000
//! instances, 300 frames and no file. A `.png` shows the last frame; an `.mp4` or `.webm` (with `ffmpeg` installed) or
//! an `.apng` is a film:
//!
//! ```text
//! cargo run --release --example locomotion -- 1000 600 crowd.mp4
//! ```
//!
//! The gaits are made in code (`gaits.rs`, `feet.rs`, `legs.rs`, `clips.rs`): in each, a planted foot moves back as
//! fast as the character moves forwards. In a mixture of synchronised gaits it nearly does. `--slide` in place of the
//! numbers measures the mean speed of planted feet over the ground (`slide.rs`); it needs no GPU:
//!
//! | motion | each gait on its own clock | synchronised |
//! |---|---|---|
//! | constant speeds between walk and run | 31.9 cm/s | 0.8 cm/s |
//! | changing speeds | 28.1 cm/s | 1.6 cm/s |
//! | turning | 44.5 cm/s | 2.2 cm/s |
//! | turning, both changing | 34.4 cm/s | 2.3 cm/s |

mod arguments;
mod clips;
mod feet;
pub mod gaits;
pub mod layers;
mod legs;
mod output;
mod picture;
pub mod slide;
mod steered_crowd;
mod steering;
mod stops;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use posse::demo;
use posse::wgpu::PollType;

use arguments::number;
use gaits::Gaits;
use layers::Layers;
use output::{Outcome, Output};
use picture::Drawing;
use steered_crowd::SteeredCrowd;

/// Frames per second of the crowd clock.
const RATE: i64 = 60;
/// The arguments.
const ARGUMENTS: &str = "[INSTANCES] [FRAMES] [FILE], or --slide";

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
    let mut library = demo::library()?;
    let gaits = Gaits::add(&mut library)?;
    let layers = Layers::add(&mut library, &gaits)?;
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|argument| argument == "--slide").is_some() {
        return Ok(slide::print(&library, &gaits, &layers)?);
    }
    let instances = number(arguments.next(), 10_000, ARGUMENTS)?;
    let frames = number(arguments.next(), 300, ARGUMENTS)?;
    if instances == 0 || frames < 2 {
        return Err(
            format!("{instances} characters in {frames} frames: at least 1 character and 2 frames are needed").into()
        );
    }
    let mut output = arguments.next().map(|file| Output::new(file.as_ref(), frames)).transpose()?;

    let mut steered = SteeredCrowd::new(library, &gaits, layers, instances)?;
    let drawing = output.as_ref().map(|output| Drawing::new(&steered, output.size())).transpose()?;
    let begin = Instant::now();
    let mut drawn = Duration::ZERO;
    for frame in 0..frames {
        steered.play(frame)?;
        if let (Some(output), Some(drawing)) = (&mut output, &drawing)
            && output.shows(frame, frames)
        {
            steered.gpu.device.poll(PollType::wait_indefinitely())?;
            let begin = Instant::now();
            output.add(&drawing.picture(&steered)?)?;
            drawn += begin.elapsed();
        }
    }
    steered.gpu.device.poll(PollType::wait_indefinitely())?;
    let seconds = (begin.elapsed() - drawn).as_secs_f64();
    let (standing, adapter) = (steered.standing, steered.gpu.name());
    let per_frame = 1e3 * seconds / frames.max(1) as f64;
    println!(
        "{instances} characters, {frames} frames in {seconds:.1} s on {adapter}: {per_frame:.2} ms per frame; {standing} stand"
    );
    output.map_or(Ok(()), Output::finish)
}
