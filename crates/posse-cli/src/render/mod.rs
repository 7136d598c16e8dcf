//! `posse render`: pictures of crowds.

mod frame_renderer;
mod grid;
mod loops;

use std::path::{Path, PathBuf};

use posse::{Error, Ticks};
use posse_render::encode::{Palette, write_indexed_png, write_png};
use posse_render::{Bones, Canvas, Picture};

use crate::arguments::{check_limit, parse_seconds, parse_size};
use crate::drawn_crowd::{DrawnCrowd, DrawnCrowdArgs};
use crate::engine::AdapterArgs;
use crate::evaluation::clock_ticks;
use crate::output::{Output, check_folder};
use crate::render::frame_renderer::{FrameRenderer, Grid};
use crate::render::loops::Frames;
use crate::view_args::ViewArgs;

/// The end of `posse render --help`.
pub const FILES: &str = "\
The name of the file selects its kind: .png is a picture; .apng, .gif, .mp4 and .webm are loops. .mp4 and .webm need an
installed ffmpeg. Software adapters draw too: Mesa's lavapipe takes about a second per picture.

  posse render Fox.glb -o fox.png
  posse render Fox.glb --clip Walk --instances 200 --seconds 2 -o foxes.gif
  posse render Fox.glb --clip Run --sheet 6x2 -o run.png
  posse render demo --instances 1000 -o crowd.png";

/// The arguments of `posse render`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crowd_args: DrawnCrowdArgs,
    #[command(flatten)]
    view_args: ViewArgs,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The output file: .png, .apng, .gif, .mp4 or .webm.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The size of the file in pixels. Default: 1280x720 for a .png, 640x360 for a loop.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// The time of the picture in seconds since the play began. For loops and sheets, the time of the first picture.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    time: f64,
    /// The duration of a loop or a sheet. Default: the duration of the longest clip, but at most 12 s.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// The number of pictures per second of a loop.
    #[arg(long, value_name = "F", default_value_t = 25.0, value_parser = parse_seconds)]
    fps: f64,
    /// Draws a contact sheet, a .png of successive pictures in columns and rows.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_size, conflicts_with = "compare")]
    sheet: Option<[u32; 2]>,
    /// Draws a .png of three pictures: the poses of the GPU, the poses of the reference, and their difference, amplified.
    #[arg(long)]
    compare: bool,
    /// The number of colours of a .png. Fewer colours make a smaller file. Default: all colours.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    colours: Option<u16>,
}

/// Runs `posse render`.
pub fn run(args: &Args) -> Result<(), Error> {
    let format = Format::from_name(&args.output)?;
    if format != Format::Png && (args.sheet.is_some() || args.compare || args.colours.is_some()) {
        return Err(Error::Usage("--sheet, --compare and --colours are for .png files".into()));
    }
    let size = args.size.unwrap_or(if format == Format::Png { [1280, 720] } else { [640, 360] });
    let sheet = args.sheet.map(|size| Grid { columns: size[0], rows: size[1] });
    let grid = if args.compare { Grid::COMPARISON } else { sheet.unwrap_or(Grid::SINGLE) };
    if grid.columns > size[0] || grid.rows > size[1] {
        let Grid { columns, rows } = grid;
        return Err(Error::Usage(format!(
            "{columns} x {rows} pictures do not fit {} x {} pixels; give a larger --size",
            size[0], size[1]
        )));
    }
    if args.seconds.is_some_and(|seconds| seconds <= 0.0) || args.fps <= 0.0 {
        return Err(Error::Usage("--seconds and --fps must be more than 0".into()));
    }
    check_limit("pixels of a picture", u64::from(size[0]) * u64::from(size[1]), Canvas::MOST_PIXELS)?;
    check_folder(&args.output)?;
    let drawn = DrawnCrowd::load(&args.crowd_args)?;
    drawn.warn_if_empty();
    let range = ClockRange { start: args.time, seconds: args.seconds.unwrap_or(drawn.seconds) };
    let frames = match format {
        Format::Png => None,
        _ => Some(Frames::new(range, args.fps, format)?),
    };
    let bones = args.view_args.bones(&drawn) != Bones::Hidden;
    let renderer = FrameRenderer::new(&drawn, size, grid, bones, &args.adapter)?;
    let view = args.view_args.view(&drawn, renderer.aspect());
    match (frames, sheet, args.compare) {
        (Some(frames), ..) => loops::write(&args.output, format, &renderer, &view, frames),
        (None, Some(grid), _) => args.write(&grid::draw_sheet(&renderer, &view, range, grid)?),
        (None, None, true) => args.write(&grid::draw_comparison(&renderer, &view, range)?),
        (None, None, false) => args.write(&renderer.picture(range.time(0, 1)?, &view)?),
    }
}

impl Args {
    /// Writes a picture as a PNG file.
    fn write(&self, picture: &Picture) -> Result<(), Error> {
        let mut output = Output::create(Some(&self.output))?;
        output.write(|out| match self.colours {
            None => write_png(out, picture),
            Some(colours) => write_indexed_png(out, picture, &mut Palette::new([picture], colours.into())),
        })?;
        output.finish()
    }
}

/// The kind of an output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A picture.
    Png,
    /// A loop with all colours.
    Apng,
    /// A loop with 255 colours.
    Gif,
    /// A film. `ffmpeg` writes it.
    Film,
}

impl Format {
    /// The kind of a file, from the extension of its name.
    pub fn from_name(file: &Path) -> Result<Self, Error> {
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "png" => Ok(Self::Png),
            "apng" => Ok(Self::Apng),
            "gif" => Ok(Self::Gif),
            "mp4" | "webm" => Ok(Self::Film),
            _ => {
                let file = file.display();
                Err(Error::Usage(format!("{file}: the name does not end with .png, .apng, .gif, .mp4 or .webm")))
            }
        }
    }
}

/// A range of the crowd clock.
#[derive(Debug, Clone, Copy)]
pub struct ClockRange {
    /// The start in seconds.
    pub start: f64,
    /// The duration in seconds.
    pub seconds: f64,
}

impl ClockRange {
    /// The time of one of `count` evenly spaced pictures. No picture has the time of the end: in a loop, the end is the start of
    /// the next pass.
    pub fn time(self, picture: usize, count: usize) -> Result<Ticks, Error> {
        clock_ticks(self.start + self.seconds * picture as f64 / count as f64)
    }
}
