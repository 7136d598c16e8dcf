//! `posse render`: pictures of crowds.

mod compare;
mod format;
mod frame_renderer;
mod loops;
mod sheet;

use std::path::PathBuf;

use posse::render::encode::{Palette, write_indexed_png, write_png};
use posse::render::{Bones, Canvas, Picture};
use posse::{Error, Ticks};

use crate::cli::arguments::{check_limit, parse_seconds};
use crate::cli::drawn_crowd::{DrawnCrowd, DrawnCrowdArgs};
use crate::cli::evaluation::clock_ticks;
use crate::cli::output::{Output, check_folder};
use crate::cli::render::format::Format;
use crate::cli::render::frame_renderer::FrameRenderer;
use crate::cli::render::loops::Frames;
use crate::cli::{arguments::parse_size, view_args::ViewArgs};

/// What `posse render --help` says at its end.
pub const FILES: &str = "\
What is written is known by the file's name: a picture as .png; a loop as .apng, .gif, or, with ffmpeg installed, .mp4 or
.webm. Software adapters draw too: Mesa's lavapipe takes a second or so for a picture.

  posse render Fox.glb -o fox.png
  posse render Fox.glb --clip Walk --instances 200 --seconds 2 -o foxes.gif
  posse render Fox.glb --clip Run --sheet 6x2 -o run.png
  posse render demo --instances 1000 -o crowd.png";

/// Arguments of `posse render`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    drawn: DrawnCrowdArgs,
    #[command(flatten)]
    look: ViewArgs,
    /// The file that is written: .png, .apng, .gif, .mp4 or .webm.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Pixels of the file; 1280x720 by default, and of loops 640x360.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Seconds since the play began; of loops and sheets those of the first picture.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_seconds)]
    time: f64,
    /// How long a loop or a sheet is; by default as long as the longest clip, but no longer than 12 s.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Pictures a second of a loop.
    #[arg(long, value_name = "F", default_value_t = 25.0, value_parser = parse_seconds)]
    fps: f64,
    /// A .png of several pictures, so many beside and below each other, one after the other in time.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_size, conflicts_with = "compare")]
    sheet: Option<[u32; 2]>,
    /// A .png of three pictures: of the GPU's poses, of the reference's, and how they differ, amplified.
    #[arg(long)]
    compare: bool,
    /// Writes a .png in so many colours, which makes a smaller file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    colours: Option<u16>,
}

/// Runs `posse render`.
pub fn run(args: &Args) -> Result<(), Error> {
    let format = Format::of(&args.output)?;
    if format != Format::Png && (args.sheet.is_some() || args.compare || args.colours.is_some()) {
        return Err(Error::Usage("--sheet, --compare and --colours are for .png files".into()));
    }
    let size = args.size.unwrap_or(if format == Format::Png { [1280, 720] } else { [640, 360] });
    let cells = if args.compare { [3, 1] } else { args.sheet.unwrap_or([1, 1]) };
    if cells[0] > size[0] || cells[1] > size[1] {
        let [columns, rows] = cells;
        return Err(Error::Usage(format!("{columns} x {rows} pictures do not fit {} x {} pixels", size[0], size[1])));
    }
    if args.seconds.is_some_and(|seconds| seconds <= 0.0) || args.fps <= 0.0 {
        return Err(Error::Usage("--seconds and --fps are more than 0".into()));
    }
    check_limit("pixels of a picture", u64::from(size[0]) * u64::from(size[1]), Canvas::MOST_PIXELS)?;
    check_folder(&args.output)?;
    let drawn = DrawnCrowd::load(&args.drawn)?;
    drawn.warn_if_empty();
    let span = Span { start: args.time, seconds: args.seconds.unwrap_or(drawn.seconds) };
    let film = match format {
        Format::Png => None,
        _ => Some(Frames::new(span, args.fps, format)?),
    };
    let bones = args.look.bones(&drawn) != Bones::Hidden;
    let renderer = FrameRenderer::new(&drawn, size, cells, bones)?;
    let view = args.look.view(&drawn, renderer.aspect());
    match (film, args.sheet, args.compare) {
        (Some(frames), ..) => loops::write(&args.output, format, &renderer, &view, frames),
        (None, Some(cells), _) => args.write(&sheet::draw(&renderer, &view, span, cells)?),
        (None, None, true) => args.write(&compare::draw(&renderer, &view, span)?),
        (None, None, false) => args.write(&renderer.picture(span.at(0, 1)?, &view)?),
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

/// A part of the crowd's clock.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Seconds of its beginning.
    pub start: f64,
    /// Seconds that it lasts.
    pub seconds: f64,
}

impl Span {
    /// The time of one of so many pictures, evenly spaced; the end, which in a loop is the beginning again, is none of them.
    pub fn at(self, picture: usize, count: usize) -> Result<Ticks, Error> {
        clock_ticks(self.start + self.seconds * picture as f64 / count as f64)
    }
}
