//! `posse view`: a window with a live crowd.

mod clock;
mod gpu_scene;
mod gui;
mod keys;
mod meter;
mod mouse;
mod orbit;
mod overlay;
mod screen;
mod timer;
mod viewer;
mod window;
mod window_state;

use std::path::PathBuf;

use posse::Error;

use crate::cli::arguments::parse_seconds;
use crate::cli::drawn_crowd::DrawnCrowdArgs;
use crate::cli::{arguments::parse_size, view_args::ViewArgs};

pub use crate::cli::view::keys::HELP;

/// Arguments of `posse view`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    drawn: DrawnCrowdArgs,
    #[command(flatten)]
    look: ViewArgs,
    /// Pixels of the window.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "1280x720")]
    size: [u32; 2],
    /// Seconds since the play began, at the first frame.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    time: f64,
    /// Begins at a standstill; the key Space plays.
    #[arg(long)]
    paused: bool,
    /// Begins without the controls; the key H shows them.
    #[arg(long)]
    bare: bool,
    /// Draws as often as it can, not as often as the screen shows a frame.
    #[arg(long)]
    uncapped: bool,
    /// Writes what the window shows as a PNG file, and ends. Each frame is then a 60th of a second after the one before.
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// With --screenshot: which frame is written, from 1.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "screenshot",
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    frames: u32,
}

/// Runs `posse view`.
pub fn run(args: &Args) -> Result<(), Error> {
    window::run(args)
}
