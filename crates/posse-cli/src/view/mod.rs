//! `posse view`: a window with a live crowd.

mod clock;
mod extent;
mod frame_times;
mod gpu_scene;
mod gui;
mod input;
mod orbit;
mod overlay;
mod parameter_panel;
mod plot_area;
mod pose_timer;
mod screen;
mod steering;
mod text;
mod timeline;
mod viewer;
mod window;
mod window_state;

use std::path::PathBuf;

use crate::arguments::{parse_seconds, parse_size};
use crate::drawn_crowd::DrawnCrowdArgs;
use crate::engine::AdapterArgs;
use crate::view_args::ViewArgs;

pub use crate::view::input::HELP;
pub use crate::view::window::run;

/// The arguments of `posse view`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crowd_args: DrawnCrowdArgs,
    #[command(flatten)]
    view_args: ViewArgs,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The size of the window in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "1280x720")]
    size: [u32; 2],
    /// The time of the first frame in seconds since the play began.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    time: f64,
    /// Starts paused. The key Space plays.
    #[arg(long)]
    paused: bool,
    /// Starts without the controls. The key H shows them.
    #[arg(long)]
    bare: bool,
    /// Draws as many frames as possible. By default, the rate of the screen is the limit.
    #[arg(long)]
    uncapped: bool,
    /// Writes the content of the window as a PNG file, and ends. The crowd clock then advances by 1/60 s per frame.
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// The number of frames that --screenshot draws. The last one is written.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "screenshot",
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    frames: u32,
}
