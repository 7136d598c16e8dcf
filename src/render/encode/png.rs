//! PNG, and APNG for loops.

use std::io::{self, Write};

use crate::render::Picture;
use crate::render::encode::Palette;

/// Writes a picture as a PNG file; without its alpha, where it is opaque.
///
/// # Errors
/// Those of the writer.
pub fn write_png(out: impl Write, picture: &Picture) -> io::Result<()> {
    let opaque = is_opaque(picture);
    let mut writer = header(out, picture.size, opaque, None)?;
    writer.write_image_data(&channels(picture, opaque)).map_err(of_png)?;
    writer.finish().map_err(of_png)
}

/// Writes a picture as a PNG file in the colours of a palette, without its alpha: a third of the size, or less.
///
/// # Errors
/// Those of the writer.
pub fn write_indexed_png(out: impl Write, picture: &Picture, palette: &mut Palette) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, picture.size[0], picture.size[1]);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.colours.as_flattened().to_vec());
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    // Neighbouring places of a palette have nothing to do with each other.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(of_png)?;
    writer.write_image_data(&palette.indices(picture)).map_err(of_png)?;
    writer.finish().map_err(of_png)
}

/// Writes pictures of one size, one after the other, as an animated PNG file that is shown again and again.
pub struct PngAnimation<W: Write> {
    writer: png::Writer<W>,
    opaque: bool,
}

impl<W: Write> PngAnimation<W> {
    /// For so many pictures like the first, each shown for a number of milliseconds.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(out: W, first: &Picture, count: u32, milliseconds: u16) -> io::Result<Self> {
        let opaque = is_opaque(first);
        Ok(Self { writer: header(out, first.size, opaque, Some((count, milliseconds)))?, opaque })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        self.writer.write_image_data(&channels(picture, self.opaque)).map_err(of_png)
    }

    /// Writes the end.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map_err(of_png)
    }
}

fn header<W: Write>(out: W, size: [u32; 2], opaque: bool, frames: Option<(u32, u16)>) -> io::Result<png::Writer<W>> {
    let mut encoder = png::Encoder::new(out, size[0], size[1]);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    if let Some((count, milliseconds)) = frames {
        encoder.set_animated(count, 0).map_err(of_png)?;
        encoder.set_frame_delay(milliseconds, 1000).map_err(of_png)?;
    }
    encoder.write_header().map_err(of_png)
}

fn is_opaque(picture: &Picture) -> bool {
    picture.pixels.iter().skip(3).step_by(4).all(|&alpha| alpha == 255)
}

fn channels(picture: &Picture, opaque: bool) -> Vec<u8> {
    if opaque {
        return picture.pixels.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    }
    picture.pixels.clone()
}

fn of_png(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
