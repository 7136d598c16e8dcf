//! PNG files, and animated PNG files.

use std::io::{self, Write};

use crate::Picture;
use crate::encode::Palette;

/// Writes a picture as a PNG file. An opaque picture is written without alpha.
///
/// # Errors
/// Those of the writer.
pub fn write_png(out: impl Write, picture: &Picture) -> io::Result<()> {
    let opaque = is_opaque(picture);
    let mut writer = header(out, picture.size, opaque, None)?;
    writer.write_image_data(&channels(picture, opaque)).map_err(to_io_error)?;
    writer.finish().map_err(to_io_error)
}

/// Writes a picture as a PNG file in the colours of a palette, without alpha. The file has at most about a third of the size.
///
/// # Errors
/// Those of the writer.
pub fn write_indexed_png(out: impl Write, picture: &Picture, palette: &mut Palette) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, picture.size[0], picture.size[1]);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.colours.as_flattened().to_vec());
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    // Filters help only if neighbouring values are similar; neighbouring indices of a palette are not.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(to_io_error)?;
    writer.write_image_data(&palette.indices(picture)).map_err(to_io_error)?;
    writer.finish().map_err(to_io_error)
}

/// Writes pictures of one size as an animated PNG file that loops.
pub struct PngAnimation<W: Write> {
    writer: png::Writer<W>,
    opaque: bool,
}

impl<W: Write> PngAnimation<W> {
    /// Begins a file of `count` pictures, each shown for a number of milliseconds. They have the size of the first; if the first is
    /// opaque, all are written without alpha.
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
        self.writer.write_image_data(&channels(picture, self.opaque)).map_err(to_io_error)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map_err(to_io_error)
    }
}

fn header<W: Write>(out: W, size: [u32; 2], opaque: bool, frames: Option<(u32, u16)>) -> io::Result<png::Writer<W>> {
    let mut encoder = png::Encoder::new(out, size[0], size[1]);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    if let Some((count, milliseconds)) = frames {
        encoder.set_animated(count, 0).map_err(to_io_error)?;
        encoder.set_frame_delay(milliseconds, 1000).map_err(to_io_error)?;
    }
    encoder.write_header().map_err(to_io_error)
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

fn to_io_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
