//! The file that the example writes: a picture, or a film.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use posse_render::Picture;
use posse_render::encode::{Film, Palette, PngAnimation, write_indexed_png};

use super::RATE;

/// The result of a fallible step.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Every second frame is a picture of a film.
const EVERY: usize = 2;
/// The colours of a picture.
const COLOURS: usize = 256;

/// A file to write.
pub enum Output {
    /// The last frame.
    Png(PathBuf),
    /// All frames, by `ffmpeg`: `.mp4` or `.webm`.
    Film(Film),
    /// All frames, as an animated PNG file: its name, the number of its pictures, and the file, which begins with the
    /// first one.
    Animation(PathBuf, u32, Option<PngAnimation<BufWriter<File>>>),
}

impl Output {
    /// Begins a file, whose extension selects its kind.
    pub fn new(file: &Path, frames: usize) -> Outcome<Self> {
        Ok(match file.extension().and_then(|extension| extension.to_str()) {
            Some("png") => Self::Png(file.into()),
            Some("apng") => Self::Animation(file.into(), (frames / EVERY) as u32, None),
            Some("mp4" | "webm") => Self::Film(Film::new(file, file, Self::FILM, RATE as f64 / EVERY as f64)?),
            _ => {
                return Err(format!("{}: the name does not end with .png, .apng, .mp4 or .webm", file.display()).into());
            }
        })
    }

    /// The size of a film in pixels.
    const FILM: [u32; 2] = [960, 540];

    /// The size of the pictures in pixels.
    pub fn size(&self) -> [u32; 2] {
        if matches!(self, Self::Png(_)) { [1200, 500] } else { Self::FILM }
    }

    /// Returns `true` if the file shows a frame.
    pub fn shows(&self, frame: usize, frames: usize) -> bool {
        if matches!(self, Self::Png(_)) { frame + 1 == frames } else { frame % EVERY == EVERY - 1 }
    }

    /// Adds a picture.
    pub fn add(&mut self, picture: &Picture) -> Outcome<()> {
        match self {
            Self::Png(file) => {
                let mut palette = Palette::new([picture], COLOURS);
                write_indexed_png(BufWriter::new(File::create(file)?), picture, &mut palette)?;
            }
            Self::Film(film) => film.add(picture)?,
            Self::Animation(_, _, Some(animation)) => animation.add(picture)?,
            Self::Animation(file, count, animation) => {
                let milliseconds = (1000 * EVERY as i64 / RATE) as u16;
                let begun = PngAnimation::new(BufWriter::new(File::create(file)?), picture, *count, milliseconds)?;
                animation.insert(begun).add(picture)?;
            }
        }
        Ok(())
    }

    /// Writes the end of the file.
    pub fn finish(self) -> Outcome<()> {
        match self {
            Self::Film(film) => film.finish()?,
            Self::Animation(_, _, Some(animation)) => animation.finish()?,
            _ => {}
        }
        Ok(())
    }
}
