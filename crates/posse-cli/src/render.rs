//! `posse render`: pictures of crowds.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use posse::gpu::{GpuContext, GpuLibrary};
use posse::{Error, Evaluator, Outputs, Reference, Ticks};
use posse_render::encode::{Film, GifAnimation, Palette, PngAnimation, write_indexed_png, write_png};
use posse_render::{Bones, Canvas, Picture, PoseBuffers, Renderer, Scene, Target, UploadedPoses, View, needed_outputs};

use crate::arguments::{check_limit, parse_grid, parse_positive, parse_seconds, parse_size, whole};
use crate::draft::Draft;
use crate::drawn_crowd::{ClockedCrowd, DrawnCrowd, DrawnCrowdArgs};
use crate::engine::AdapterArgs;
use crate::evaluation::clock_ticks;
use crate::output::{Output, declare_output, note};
use crate::progress::Progress;
use crate::view_args::ViewArgs;

/// The largest number of pictures in a loop.
const MAX_FRAMES: u64 = 20_000;
/// The default number of pictures per second of a loop.
const DEFAULT_FPS: f64 = 25.0;
/// The number of pictures that the palette of a GIF file is made from.
const PALETTE_PICTURES: usize = 5;
/// The factor of the colour differences in a comparison.
const AMPLIFICATION: u8 = 32;
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
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive)]
    seconds: Option<f64>,
    /// The number of pictures per second of a loop. A .gif has at most 50: each picture takes whole hundredths of a
    /// second, at least two. Default: 25.
    #[arg(long, value_name = "F", value_parser = parse_positive)]
    fps: Option<f64>,
    /// Draws a contact sheet, a .png of successive pictures in columns and rows.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_grid, conflicts_with = "compare")]
    sheet: Option<[u32; 2]>,
    /// Draws a .png of three pictures: the poses of the GPU, the poses of the reference, and their difference,
    /// amplified.
    #[arg(long)]
    compare: bool,
    /// The number of colours of a .png. Fewer colours make a smaller file. Default: all colours.
    #[arg(long, value_name = "N", value_parser = whole::<u16>(2..=256))]
    colours: Option<u16>,
}

/// Runs `posse render`.
pub fn run(args: &Args) -> Result<(), Error> {
    let format = RenderedKind::from_name(&args.output)?;
    if format != RenderedKind::Png && (args.sheet.is_some() || args.compare || args.colours.is_some()) {
        return Err(Error::Usage("--sheet, --compare and --colours are for .png files".into()));
    }
    if format == RenderedKind::Png {
        args.check_loop_options()?;
    }
    let size = args.size.unwrap_or(if format == RenderedKind::Png { [1280, 720] } else { [640, 360] });
    let sheet = args.sheet.map(|size| Grid { columns: size[0], rows: size[1] });
    let grid = if args.compare { Grid::COMPARISON } else { sheet.unwrap_or(Grid::SINGLE) };
    if grid.columns > size[0] || grid.rows > size[1] {
        let Grid { columns, rows } = grid;
        return Err(Error::Usage(format!(
            "{columns} x {rows} pictures do not fit {} x {} pixels; give a larger --size",
            size[0], size[1]
        )));
    }
    check_limit("pixels of a picture", u64::from(size[0]) * u64::from(size[1]), Canvas::MAX_PIXELS)?;
    declare_output(&args.output)?;
    let drawn = DrawnCrowd::load(&args.crowd_args)?;
    drawn.warn_if_empty();
    let range = ClockRange { start: args.time, seconds: args.seconds.unwrap_or(drawn.seconds) };
    let frames = match format {
        RenderedKind::Png => None,
        _ => Some(Frames::new(range, args.fps.unwrap_or(DEFAULT_FPS), format)?),
    };
    let bones = args.view_args.bones(&drawn) != Bones::Hidden;
    let renderer = FrameRenderer::new(&drawn, size, grid, bones, &args.adapter)?;
    let view = args.view_args.view(&drawn, renderer.aspect());
    match (frames, sheet, args.compare) {
        (Some(frames), ..) => write_loop(&args.output, format, &renderer, &view, frames),
        (None, Some(grid), _) => args.write(&draw_sheet(&renderer, &view, range, grid)?),
        (None, None, true) => args.write(&draw_comparison(&renderer, &view, range)?),
        (None, None, false) => args.write(&renderer.picture(range.time(0, 1)?, &view)?),
    }
}

impl Args {
    /// Fails for an option of loops that has no effect on a picture.
    fn check_loop_options(&self) -> Result<(), Error> {
        let [option, kinds] = if self.fps.is_some() {
            ["--fps", "a loop, such as a .gif"]
        } else if self.seconds.is_some() && self.sheet.is_none() {
            ["--seconds", "a loop, such as a .gif, and a --sheet; --time is the time of a picture"]
        } else {
            return Ok(());
        };
        let file = self.output.display();
        Err(Error::Usage(format!("{file}: {option} has no effect on a picture; it is for {kinds}")))
    }

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
enum RenderedKind {
    /// A picture.
    Png,
    /// A loop with all colours.
    Apng,
    /// A loop with 255 colours.
    Gif,
    /// A film. `ffmpeg` writes it.
    Film,
}

impl RenderedKind {
    /// The kind of a file, from the extension of its name.
    fn from_name(file: &Path) -> Result<Self, Error> {
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
struct ClockRange {
    /// The start in seconds.
    start: f64,
    /// The duration in seconds.
    seconds: f64,
}

impl ClockRange {
    /// The time of one of `count` evenly spaced pictures. No picture has the time of the end: in a loop, the end is the
    /// start of the next pass.
    fn time(self, picture: usize, count: usize) -> Result<Ticks, Error> {
        clock_ticks(self.start + self.seconds * picture as f64 / count as f64)
    }
}

/// The times of the pictures of a loop.
#[derive(Debug, Clone, Copy)]
struct Frames {
    range: ClockRange,
    count: usize,
    /// Pictures per second.
    rate: f64,
}

impl Frames {
    /// Divides a range into pictures. The rate in pictures per second is rounded to one that the format can store.
    fn new(range: ClockRange, asked: f64, format: RenderedKind) -> Result<Self, Error> {
        let stored = match format {
            // Programs show a picture of one hundredth of a second for ten hundredths, so that two is the shortest
            // duration.
            RenderedKind::Gif => 100.0 / (100.0 / asked).round().clamp(2.0, 65535.0),
            RenderedKind::Apng => 1000.0 / (1000.0 / asked).round().clamp(1.0, 65535.0),
            _ => asked,
        };
        if format == RenderedKind::Gif && (stored - asked).abs() > 1e-6 * asked {
            note(&format!(
                "note: a picture of a .gif takes whole hundredths of a second, at least two: {} pictures per second in \
                 place of {asked}",
                (1e4 * stored).round() / 1e4
            ));
        }
        let count = (range.seconds * stored).round().max(1.0);
        check_limit("pictures of a loop, by --seconds and --fps", count as u64, MAX_FRAMES)?;
        Ok(Self { range, count: count as usize, rate: stored })
    }

    /// The duration of a picture in a unit of which a second has `units_per_second`.
    fn duration(self, units_per_second: f64) -> u16 {
        (units_per_second / self.rate).round() as u16
    }
}

/// Draws the pictures of a loop and writes the file.
fn write_loop(
    file: &Path,
    format: RenderedKind,
    renderer: &FrameRenderer,
    view: &View,
    frames: Frames,
) -> Result<(), Error> {
    let draw = |index: usize| renderer.picture(frames.range.time(index, frames.count)?, view);
    let progress = Progress::new(frames.count, "pictures");
    let draw_all = |add: &mut dyn FnMut(Picture) -> Result<(), Error>| {
        (0..frames.count).try_for_each(|index| {
            add(draw(index)?)?;
            progress.add(1);
            Ok(())
        })
    };
    if format == RenderedKind::Film {
        let mut draft = Draft::create(file)?;
        let start = |draft: &Path| Film::new(file, draft, renderer.size(), frames.rate);
        let mut film = draft.write_by(start, Film::stop)?;
        draw_all(&mut |picture| film.add(&picture))?;
        film.finish()?;
        return draft.keep().map(drop);
    }
    let mut output = Output::create(Some(file))?;
    let (out, destination) = output.split();
    let write_error = |error: std::io::Error| destination.error(error);
    if format == RenderedKind::Gif {
        let count = PALETTE_PICTURES.min(frames.count);
        let samples = (0..count).map(|sample| draw(sample * frames.count / count));
        let palette = Palette::new(&samples.collect::<Result<Vec<_>, Error>>()?, GifAnimation::<Vec<u8>>::MAX_COLOURS);
        let mut animation =
            GifAnimation::new(out, renderer.size(), palette, frames.duration(100.0)).map_err(write_error)?;
        draw_all(&mut |picture| animation.add(&picture).map_err(write_error))?;
    } else {
        let (first, count) = (draw(0)?, frames.count as u32);
        let mut animation = PngAnimation::new(out, &first, count, frames.duration(1000.0)).map_err(write_error)?;
        draw_all(&mut |picture| animation.add(&picture).map_err(write_error))?;
        animation.finish().map_err(write_error)?;
    }
    output.finish()
}

/// Draws a contact sheet: pictures at evenly spaced times, row by row.
fn draw_sheet(renderer: &FrameRenderer, view: &View, range: ClockRange, grid: Grid) -> Result<Picture, Error> {
    let [width, height] = renderer.size();
    let mut sheet = grid.canvas([width, height]);
    let count = grid.columns as usize * grid.rows as usize;
    let progress = Progress::new(count, "pictures");
    let cells = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |column| (row, column)));
    for (index, (row, column)) in cells.enumerate() {
        sheet.paste(&renderer.picture(range.time(index, count)?, view)?, column * width, row * height);
        progress.add(1);
    }
    Ok(sheet)
}

/// Draws three pictures at the start of a range: the poses of the GPU engine, the poses of the reference engine, and
/// their difference, amplified. Prints the largest difference.
fn draw_comparison(renderer: &FrameRenderer, view: &View, range: ClockRange) -> Result<Picture, Error> {
    let now = range.time(0, 1)?;
    let (gpu, reference) = (renderer.picture(now, view)?, renderer.reference_picture(now, view)?);
    let mut difference = Picture::filled(gpu.size, [0, 0, 0, 255]);
    let (mut largest, mut differing) = (0, 0);
    let pairs = gpu.pixels.as_chunks::<4>().0.iter().zip(reference.pixels.as_chunks::<4>().0);
    for (pixel, (one, other)) in difference.pixels.as_chunks_mut::<4>().0.iter_mut().zip(pairs) {
        let differences = [0, 1, 2].map(|channel| one[channel].abs_diff(other[channel]));
        let most = differences.into_iter().max().unwrap_or(0);
        (largest, differing) = (most.max(largest), differing + usize::from(most > 0));
        (0..3).for_each(|channel| pixel[channel] = differences[channel].saturating_mul(AMPLIFICATION));
    }
    let total = difference.pixels.len() / 4;
    note(&format!(
        "compare: gpu on the left, reference in the middle, their difference x {AMPLIFICATION} on the right; at most {largest} \
         of 255, in {differing} of {total} pixels"
    ));
    let mut comparison = Grid::COMPARISON.canvas(gpu.size);
    for (column, picture) in (0..).zip([&gpu, &reference, &difference]) {
        comparison.paste(picture, column * gpu.size[0], 0);
    }
    Ok(comparison)
}

/// The number of pictures in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grid {
    columns: u32,
    rows: u32,
}

impl Grid {
    /// One picture.
    const SINGLE: Self = Self { columns: 1, rows: 1 };
    /// The pictures of a comparison.
    const COMPARISON: Self = Self { columns: 3, rows: 1 };

    /// An empty picture with room for the grid. `cell` is the size of one picture.
    fn canvas(self, cell: [u32; 2]) -> Picture {
        Picture::filled([self.columns * cell[0], self.rows * cell[1]], [0; 4])
    }
}

/// A drawn crowd on a device, and the canvas of its pictures.
struct FrameRenderer<'a> {
    drawn: &'a DrawnCrowd,
    gpu: GpuContext,
    library: GpuLibrary,
    outputs: Outputs,
    crowd: RefCell<ClockedCrowd>,
    renderer: Renderer,
    canvas: Canvas,
    scene: Scene,
}

impl<'a> FrameRenderer<'a> {
    /// Uploads a crowd and prints the adapter.
    ///
    /// `file_size` is the size in pixels of a file that holds a grid of pictures. `bones` tells if bones are drawn.
    fn new(
        drawn: &'a DrawnCrowd,
        file_size: [u32; 2],
        grid: Grid,
        bones: bool,
        adapter: &AdapterArgs,
    ) -> Result<Self, Error> {
        let gpu = adapter.open_to_draw()?;
        Canvas::check_size(&gpu.device, file_size)?;
        let target = Target::default();
        let canvas = Canvas::new(&gpu.device, target, [file_size[0] / grid.columns, file_size[1] / grid.rows])?;
        let library = GpuLibrary::new(&gpu, &drawn.library)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let crowd = ClockedCrowd::new(&library, &drawn.crowd, outputs)?;
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let poses: Vec<PoseBuffers> = crowd.on_gpu.batches().iter().map(PoseBuffers::from).collect();
        let scene = create_scene(&renderer, drawn, &poses)?;
        let crowd = RefCell::new(crowd);
        Ok(Self { drawn, gpu, library, outputs, crowd, renderer, canvas, scene })
    }

    /// The width and the height of a picture in pixels.
    fn size(&self) -> [u32; 2] {
        self.canvas.size
    }

    /// The aspect ratio of a picture: width divided by height.
    fn aspect(&self) -> f32 {
        self.canvas.aspect()
    }

    /// Draws the poses of the GPU engine at a time of the crowd clock.
    fn picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let device = &self.gpu.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut crowd = self.crowd.borrow_mut();
        crowd.set_time(&self.library, &self.drawn.crowd, now)?;
        crowd.on_gpu.encode(&mut encoder, now);
        Picture::draw(&self.renderer, encoder, &self.canvas, &self.scene, view)
    }

    /// Draws the poses of the reference engine at a time of the crowd clock.
    fn reference_picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let poses = Reference::new(&self.drawn.library).evaluate(&self.drawn.crowd, now, self.outputs)?;
        let crowd = self.crowd.borrow();
        let uploaded = crowd
            .on_gpu
            .batches()
            .iter()
            .map(|batch| UploadedPoses::new(&self.gpu, batch.into(), &poses))
            .collect::<Result<Vec<_>, Error>>()?;
        let buffers: Vec<PoseBuffers> = uploaded.iter().map(UploadedPoses::buffers).collect();
        let scene = create_scene(&self.renderer, self.drawn, &buffers)?;
        let encoder = self.gpu.device.create_command_encoder(&Default::default());
        Picture::draw(&self.renderer, encoder, &self.canvas, &scene, view)
    }
}

fn create_scene(renderer: &Renderer, drawn: &DrawnCrowd, poses: &[PoseBuffers]) -> Result<Scene, Error> {
    let DrawnCrowd { library, figures, placements, .. } = drawn;
    Scene::new(renderer, library, figures, poses.iter().copied(), placements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_that_a_format_stores() {
        let range = ClockRange { start: 0.0, seconds: 2.0 };
        let frames = |rate, format| Frames::new(range, rate, format).unwrap();
        // Whole hundredths of a second, at least two; whole thousandths.
        for (rate, format, stored, count) in [
            (60.0, RenderedKind::Gif, 50.0, 100),
            (30.0, RenderedKind::Gif, 100.0 / 3.0, 67),
            (25.0, RenderedKind::Gif, 25.0, 50),
            (60.0, RenderedKind::Apng, 1000.0 / 17.0, 118),
            (60.0, RenderedKind::Film, 60.0, 120),
        ] {
            let found = frames(rate, format);
            assert_eq!((found.rate, found.count), (stored, count), "{format:?} at {rate}");
        }
    }
}
