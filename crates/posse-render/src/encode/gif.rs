//! Animated GIF files of up to 255 colours.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::Picture;
use crate::encode::Palette;

/// Writes pictures of one size as an animated GIF file that loops. Only the rectangle that differs from the previous picture is
/// written.
pub struct GifAnimation<W: Write> {
    encoder: gif::Encoder<W>,
    palette: Palette,
    size: [u32; 2],
    hundredths: u16,
    shown: Option<Vec<u8>>,
}

impl<W: Write> GifAnimation<W> {
    /// The most pixels per side.
    pub const MOST_PIXELS: u32 = u16::MAX as u32;
    /// The most colours. One more index of the palette marks unchanged pixels.
    pub const MOST_COLOURS: usize = 255;

    /// Begins a file of pictures of a width and height in pixels. Each picture is shown for `hundredths` hundredths of a second.
    /// Only the first [`MOST_COLOURS`](Self::MOST_COLOURS) colours of the palette are used.
    ///
    /// # Errors
    /// Those of the writer; [`io::ErrorKind::InvalidInput`] if a side has more than [`MOST_PIXELS`](Self::MOST_PIXELS).
    pub fn new(out: W, size: [u32; 2], mut palette: Palette, hundredths: u16) -> io::Result<Self> {
        let [Ok(width), Ok(height)] = size.map(u16::try_from) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a GIF has at most 65535 pixels per side; choose a smaller size",
            ));
        };
        palette.colours.truncate(Self::MOST_COLOURS);
        let mut colours: Vec<u8> = palette.colours.as_flattened().to_vec();
        colours.resize(3 * (Self::MOST_COLOURS + 1), 0);
        let mut encoder = gif::Encoder::new(out, width, height, &colours).map_err(to_io_error)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(to_io_error)?;
        Ok(Self { encoder, palette, size, hundredths, shown: None })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// Those of the writer.
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
        self.encoder.write_frame(&frame).map_err(to_io_error)?;
        self.shown = Some(indices);
        Ok(())
    }
}

fn to_io_error(error: gif::EncodingError) -> io::Error {
    match error {
        gif::EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}
