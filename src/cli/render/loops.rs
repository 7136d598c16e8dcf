//! Loops and films: pictures of a span of time, one after the other.

use std::path::Path;

use posse::Error;
use posse::render::encode::{Film, GifAnimation, Palette, PngAnimation};
use posse::render::{Picture, View};

use crate::cli::arguments::check_limit;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::render::Span;
use crate::cli::render::format::Format;
use crate::cli::render::frame_renderer::FrameRenderer;

/// The most pictures of a loop.
const MOST_FRAMES: u64 = 20_000;
/// Pictures that a palette is made from.
const PALETTE_PICTURES: usize = 5;

/// The pictures of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    span: Span,
    count: usize,
    rate: f64,
}

impl Frames {
    /// So many pictures a second, or as nearly as the format has it.
    pub fn new(span: Span, rate: f64, format: Format) -> Result<Self, Error> {
        let rate = match format {
            // Programs show what lasts a hundredth of a second for ten of them.
            Format::Gif => 100.0 / (100.0 / rate).round().clamp(2.0, 65535.0),
            Format::Apng => 1000.0 / (1000.0 / rate).round().clamp(1.0, 65535.0),
            _ => rate,
        };
        let count = (span.seconds * rate).round().max(1.0);
        check_limit("pictures of a loop, by --seconds and --fps", count as u64, MOST_FRAMES)?;
        Ok(Self { span, count: count as usize, rate })
    }

    /// Seconds of a picture in so many parts of a second.
    fn parts(self, parts: f64) -> u16 {
        (parts / self.rate).round() as u16
    }
}

/// Draws the pictures and writes the file.
pub fn write(file: &Path, format: Format, renderer: &FrameRenderer, view: &View, frames: Frames) -> Result<(), Error> {
    let picture = |number: usize| renderer.picture(frames.span.at(number, frames.count)?, view);
    let progress = Progress::new(frames.count, "pictures");
    let each = |add: &mut dyn FnMut(Picture) -> Result<(), Error>| {
        (0..frames.count).try_for_each(|number| {
            add(picture(number)?)?;
            progress.add(1);
            Ok(())
        })
    };
    if format == Format::Film {
        let mut film = Film::new(file, renderer.size(), frames.rate)?;
        each(&mut |picture| film.add(&picture))?;
        return film.finish();
    }
    let mut output = Output::create(Some(file))?;
    let (out, place) = output.split();
    let fault = |error: std::io::Error| place.error(error);
    if format == Format::Gif {
        let some = PALETTE_PICTURES.min(frames.count);
        let some = (0..some).map(|number| picture(number * frames.count / some)).collect::<Result<Vec<_>, Error>>()?;
        let palette = Palette::new(&some, GifAnimation::<Vec<u8>>::MOST_COLOURS);
        let mut animation = GifAnimation::new(out, renderer.size(), palette, frames.parts(100.0)).map_err(fault)?;
        each(&mut |picture| animation.add(&picture).map_err(fault))?;
    } else {
        let (first, count) = (picture(0)?, frames.count as u32);
        let mut animation = PngAnimation::new(out, &first, count, frames.parts(1000.0)).map_err(fault)?;
        each(&mut |picture| animation.add(&picture).map_err(fault))?;
        animation.finish().map_err(fault)?;
    }
    output.finish()
}
