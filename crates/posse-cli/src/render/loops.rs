//! Loops and films: successive pictures of a range of time.

use std::path::Path;

use posse::Error;
use posse_render::encode::{Film, GifAnimation, Palette, PngAnimation};
use posse_render::{Picture, View};

use crate::arguments::check_limit;
use crate::draft::Draft;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::frame_renderer::FrameRenderer;
use crate::render::{ClockRange, Format};

/// The largest number of pictures in a loop.
const MAX_FRAMES: u64 = 20_000;
/// The number of pictures that the palette of a GIF file is made from.
const PALETTE_PICTURES: usize = 5;

/// The times of the pictures of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    range: ClockRange,
    count: usize,
    /// Pictures per second.
    rate: f64,
}

impl Frames {
    /// Divides a range into pictures. The rate in pictures per second is rounded to one that the format can store.
    pub fn new(range: ClockRange, rate: f64, format: Format) -> Result<Self, Error> {
        let rate = match format {
            // Programs show a picture of one hundredth of a second for ten hundredths, so that two is the shortest duration.
            Format::Gif => 100.0 / (100.0 / rate).round().clamp(2.0, 65535.0),
            Format::Apng => 1000.0 / (1000.0 / rate).round().clamp(1.0, 65535.0),
            _ => rate,
        };
        let count = (range.seconds * rate).round().max(1.0);
        check_limit("pictures of a loop, by --seconds and --fps", count as u64, MAX_FRAMES)?;
        Ok(Self { range, count: count as usize, rate })
    }

    /// The duration of a picture in a unit of which a second has `units_per_second`.
    fn duration(self, units_per_second: f64) -> u16 {
        (units_per_second / self.rate).round() as u16
    }
}

/// Draws the pictures and writes the file.
pub fn write(file: &Path, format: Format, renderer: &FrameRenderer, view: &View, frames: Frames) -> Result<(), Error> {
    let draw = |index: usize| renderer.picture(frames.range.time(index, frames.count)?, view);
    let progress = Progress::new(frames.count, "pictures");
    let draw_all = |add: &mut dyn FnMut(Picture) -> Result<(), Error>| {
        (0..frames.count).try_for_each(|index| {
            add(draw(index)?)?;
            progress.add(1);
            Ok(())
        })
    };
    if format == Format::Film {
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
    if format == Format::Gif {
        let count = PALETTE_PICTURES.min(frames.count);
        let samples = (0..count).map(|sample| draw(sample * frames.count / count));
        let palette = Palette::new(&samples.collect::<Result<Vec<_>, Error>>()?, GifAnimation::<Vec<u8>>::MOST_COLOURS);
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
