//! Encoders for picture files: PNG, animated PNG and GIF, and films through the program `ffmpeg`.

// A browser starts no programs.
#[cfg(not(target_arch = "wasm32"))]
mod ffmpeg;

use std::borrow::Cow;
use std::io::{self, Write};

use crate::Picture;

#[cfg(not(target_arch = "wasm32"))]
pub use self::ffmpeg::Film;

/// Writes a picture as a PNG file. An opaque picture is written without alpha.
///
/// # Errors
/// The errors of the writer.
pub fn write_png(out: impl Write, picture: &Picture) -> io::Result<()> {
    let opaque = is_opaque(picture);
    let mut writer = header(out, picture.size, opaque, None)?;
    writer.write_image_data(&channels(picture, opaque)).map_err(png_error)?;
    writer.finish().map_err(png_error)
}

/// Writes a picture as a PNG file in the colours of a palette, without alpha. The file has at most about a third of the
/// size.
///
/// # Errors
/// The errors of the writer.
pub fn write_indexed_png(out: impl Write, picture: &Picture, palette: &mut Palette) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, picture.size[0], picture.size[1]);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.colours.as_flattened().to_vec());
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    // Filters help only if neighbouring values are similar; neighbouring indices of a palette are not.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(png_error)?;
    writer.write_image_data(&palette.indices(picture)).map_err(png_error)?;
    writer.finish().map_err(png_error)
}

/// Writes pictures of one size as an animated PNG file that loops.
pub struct PngAnimation<W: Write> {
    writer: png::Writer<W>,
    opaque: bool,
}

impl<W: Write> PngAnimation<W> {
    /// Begins a file of `count` pictures, each shown for a number of milliseconds. They have the size of the first; if
    /// the first is opaque, all are written without alpha.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn new(out: W, first: &Picture, count: u32, milliseconds: u16) -> io::Result<Self> {
        let opaque = is_opaque(first);
        Ok(Self { writer: header(out, first.size, opaque, Some((count, milliseconds)))?, opaque })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        self.writer.write_image_data(&channels(picture, self.opaque)).map_err(png_error)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map_err(png_error)
    }
}

fn header<W: Write>(out: W, size: [u32; 2], opaque: bool, frames: Option<(u32, u16)>) -> io::Result<png::Writer<W>> {
    let mut encoder = png::Encoder::new(out, size[0], size[1]);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    if let Some((count, milliseconds)) = frames {
        encoder.set_animated(count, 0).map_err(png_error)?;
        encoder.set_frame_delay(milliseconds, 1000).map_err(png_error)?;
    }
    encoder.write_header().map_err(png_error)
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

fn png_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// The bits per channel that distinguish colours.
const BITS: usize = 5;
const LEVELS: usize = 1 << BITS;

/// Up to 256 colours chosen for some pictures, and a lookup of the nearest of them.
///
/// The method is median cut (P. Heckbert, "Color image quantization for frame buffer display", 1982). Colours are
/// counted in bins of 8 levels per channel; a box of bins is cut along its widest axis.
#[derive(Debug, Clone)]
pub struct Palette {
    /// The colours: red, green and blue in sRGB. There is at least one.
    pub colours: Vec<[u8; 3]>,
    /// The index of the nearest colour of each bin, if it was computed before.
    nearest: Vec<Option<u8>>,
}

/// A bin of similar colours: its number of pixels, and the sums of their channels.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    levels: [u8; 3],
    count: u64,
    sums: [u64; 3],
}

impl Palette {
    /// Chooses at most `most` colours for some pictures. `most` is clamped to 1 to 256.
    pub fn new<'a>(pictures: impl IntoIterator<Item = &'a Picture>, most: usize) -> Self {
        let mut bins = vec![Bin::default(); LEVELS * LEVELS * LEVELS];
        for [red, green, blue, _] in pictures.into_iter().flat_map(|picture| picture.pixels.as_chunks().0) {
            let channels = [*red, *green, *blue];
            let bin = &mut bins[index(channels)];
            bin.levels = channels.map(|channel| channel >> (8 - BITS));
            bin.count += 1;
            (0..3).for_each(|channel| bin.sums[channel] += u64::from(channels[channel]));
        }
        bins.retain(|bin| bin.count > 0);
        let mut boxes = vec![bins];
        while boxes.len() < most.clamp(1, 256) {
            let Some((widest, axis)) = widest(&boxes) else { break };
            let mut whole = boxes.swap_remove(widest);
            whole.sort_by_key(|bin| (bin.levels[axis], bin.levels));
            // Half of the weight on each side, and at least one bin.
            let half = whole.iter().map(|bin| weight(bin.count)).sum::<f64>() / 2.0;
            let mut before = 0.0;
            let cut = whole.iter().take_while(|bin| {
                before += weight(bin.count);
                before < half
            });
            let cut = cut.count().clamp(1, whole.len() - 1);
            let upper = whole.split_off(cut);
            boxes.extend([whole, upper]);
        }
        let mean = |bins: &Vec<Bin>| {
            let count: u64 = bins.iter().map(|bin| bin.count).sum();
            [0, 1, 2].map(|channel| (bins.iter().map(|bin| bin.sums[channel]).sum::<u64>() / count.max(1)) as u8)
        };
        Self { colours: boxes.iter().map(mean).collect(), nearest: vec![None; LEVELS * LEVELS * LEVELS] }
    }

    /// The index of a near colour for each pixel of a picture. Ordered dithering of a few levels hides bands; its
    /// pattern is the same in every picture, so that it does not flicker.
    pub fn indices(&mut self, picture: &Picture) -> Vec<u8> {
        // Source: B. Bayer, "An optimum method for two-level rendition of continuous-tone pictures", 1973.
        const PATTERN: [[i16; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
        let width = picture.size[0] as usize;
        let pixels = picture.pixels.as_chunks::<4>().0.iter().enumerate();
        let index = |(number, &[red, green, blue, _]): (usize, &[u8; 4])| {
            let (x, y) = (number % width, number / width);
            let offset = (PATTERN[y % 4][x % 4] - 7) / 2;
            self.nearest([red, green, blue].map(|channel| (i16::from(channel) + offset).clamp(0, 255) as u8))
        };
        pixels.map(index).collect()
    }

    fn nearest(&mut self, channels: [u8; 3]) -> u8 {
        let index = index(channels);
        if let Some(known) = self.nearest[index] {
            return known;
        }
        let distance = |colour: &[u8; 3]| -> i32 {
            // The eye distinguishes greens best and blues least.
            let parts = [0, 1, 2].map(|channel| {
                let middle = (channels[channel] >> (8 - BITS) << (8 - BITS)) | 4;
                [3, 5, 2][channel] * (i32::from(colour[channel]) - i32::from(middle)).pow(2)
            });
            parts.into_iter().sum()
        };
        let nearest = self.colours.iter().zip(0..=u8::MAX).min_by_key(|(colour, _)| distance(colour));
        let nearest = nearest.map_or(0, |(_, index)| index);
        self.nearest[index] = Some(nearest);
        nearest
    }
}

/// The weight of a number of pixels. It grows more slowly than the number, so that a colour of few pixels still enters
/// the palette.
fn weight(count: u64) -> f64 {
    (count as f64).sqrt()
}

fn index(channels: [u8; 3]) -> usize {
    channels.into_iter().fold(0, |index, channel| index << BITS | usize::from(channel >> (8 - BITS)))
}

/// The index of the box to cut next, and the axis to cut along; `None` if no box can be cut.
fn widest(boxes: &[Vec<Bin>]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, (usize, usize))> = None;
    for (number, bins) in boxes.iter().enumerate().filter(|(_, bins)| bins.len() > 1) {
        for axis in 0..3 {
            let levels = || bins.iter().map(|bin| bin.levels[axis]);
            let width = f64::from(levels().max().unwrap_or(0) - levels().min().unwrap_or(0));
            let score = width * [0.8, 1.0, 0.6][axis] * bins.iter().map(|bin| weight(bin.count)).sum::<f64>();
            if width > 0.0 && best.is_none_or(|(most, _)| score > most) {
                best = Some((score, (number, axis)));
            }
        }
    }
    best.map(|(_, cut)| cut)
}

/// Writes pictures of one size as an animated GIF file that loops. Only the rectangle that differs from the previous
/// picture is written.
pub struct GifAnimation<W: Write> {
    encoder: gif::Encoder<W>,
    palette: Palette,
    size: [u32; 2],
    hundredths: u16,
    shown: Option<Vec<u8>>,
}

impl<W: Write> GifAnimation<W> {
    /// The most pixels per side.
    pub const MAX_PIXELS: u32 = u16::MAX as u32;
    /// The most colours. One more index of the palette marks unchanged pixels.
    pub const MAX_COLOURS: usize = 255;

    /// Begins a file of pictures of a width and height in pixels. Each picture is shown for `hundredths` hundredths of
    /// a second. Only the first [`MAX_COLOURS`](Self::MAX_COLOURS) colours of the palette are used.
    ///
    /// # Errors
    /// The errors of the writer; [`io::ErrorKind::InvalidInput`] if a side has more than
    /// [`MAX_PIXELS`](Self::MAX_PIXELS).
    pub fn new(out: W, size: [u32; 2], mut palette: Palette, hundredths: u16) -> io::Result<Self> {
        let [Ok(width), Ok(height)] = size.map(u16::try_from) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a GIF has at most 65535 pixels per side; choose a smaller size",
            ));
        };
        palette.colours.truncate(Self::MAX_COLOURS);
        let mut colours: Vec<u8> = palette.colours.as_flattened().to_vec();
        colours.resize(3 * (Self::MAX_COLOURS + 1), 0);
        let mut encoder = gif::Encoder::new(out, width, height, &colours).map_err(gif_error)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_error)?;
        Ok(Self { encoder, palette, size, hundredths, shown: None })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        const SAME: u8 = u8::MAX;
        let indices = self.palette.indices(picture);
        let [width, height] = self.size.map(|size| size as usize);
        let (mut left, mut top, mut right, mut bottom) = (0, 0, width, height);
        if let Some(shown) = &self.shown {
            let differing = || (0..indices.len()).filter(|&pixel| indices[pixel] != shown[pixel]);
            left = differing().map(|pixel| pixel % width).min().unwrap_or(0);
            right = differing().map(|pixel| pixel % width).max().unwrap_or(0) + 1;
            top = differing().next().unwrap_or(0) / width;
            bottom = differing().next_back().unwrap_or(0) / width + 1;
        }
        let rows = (top..bottom).flat_map(|y| (left..right).map(move |x| y * width + x));
        let shown = self.shown.as_ref();
        let index = |pixel: usize| {
            if shown.is_some_and(|shown| shown[pixel] == indices[pixel]) { SAME } else { indices[pixel] }
        };
        let frame = gif::Frame {
            delay: self.hundredths,
            dispose: gif::DisposalMethod::Keep,
            transparent: shown.map(|_| SAME),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: Cow::Owned(rows.map(index).collect()),
            ..gif::Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(gif_error)?;
        self.shown = Some(indices);
        Ok(())
    }
}

fn gif_error(error: gif::EncodingError) -> io::Error {
    match error {
        gif::EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_and_many_are_reduced() {
        let colours = [[255, 0, 0, 255], [0, 128, 0, 255], [0, 0, 64, 255], [200, 200, 200, 255]];
        let flat = Picture { size: [16, 16], pixels: colours.iter().flat_map(|colour| colour.repeat(64)).collect() };
        let mut palette = Palette::new([&flat], 256);
        let mut found = palette.colours.clone();
        found.sort();
        assert_eq!(found, [[0, 0, 64], [0, 128, 0], [200, 200, 200], [255, 0, 0]]);
        let indices = palette.indices(&flat);
        for (pixel, &index) in flat.pixels.as_chunks::<4>().0.iter().zip(&indices) {
            assert_eq!(palette.colours[usize::from(index)], pixel[..3]);
        }
        let ramp = (0..64 * 64).flat_map(|pixel: u32| [(pixel % 64 * 4) as u8, (pixel / 64 * 4) as u8, 99, 255]);
        let ramp = Picture { size: [64, 64], pixels: ramp.collect() };
        let mut palette = Palette::new([&ramp], 64);
        assert_eq!(palette.colours.len(), 64);
        let indices = palette.indices(&ramp);
        let off = ramp.pixels.as_chunks::<4>().0.iter().zip(&indices).map(|(pixel, &index)| {
            let colour = palette.colours[usize::from(index)];
            (0..3).map(|channel| pixel[channel].abs_diff(colour[channel])).max().unwrap_or(0)
        });
        // 64 colours in a plane of 256 x 256 are 32 apart: half of that, and the pattern.
        assert!(off.max().unwrap_or(0) <= 28);
    }
}
