//! Images of textures, decoded from PNG, JPEG and WebP.

use std::fmt;
use std::io::Cursor;

use ::image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};

/// The most pixels per side, and in total. Larger images are refused, because a few bytes can claim any size.
const MOST_PIXELS: u32 = 1 << 14;
const MOST_TOTAL_PIXELS: u32 = 1 << 26;
/// The most bytes that a decoder may allocate: 8 bytes per pixel of the largest image, and as many again for
/// intermediate data.
const MOST_BYTES: u64 = 16 * MOST_TOTAL_PIXELS as u64;

/// Pixels of red, green, blue and alpha, in rows from the top. The colours are sRGB, alpha is linear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The width and height in pixels, each at least 1.
    pub size: [u32; 2],
    /// Four bytes per pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Decodes a PNG, JPEG or WebP file.
    ///
    /// # Errors
    /// A message if the format is another one, the file is broken, or the image has more than 16384 pixels per side or
    /// more than 2^26 pixels.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let (format, name) = match bytes {
            [0x89, b'P', b'N', b'G', ..] => (ImageFormat::Png, "PNG"),
            [0xFF, 0xD8, ..] => (ImageFormat::Jpeg, "JPEG"),
            [b'R', b'I', b'F', b'F', ..] => (ImageFormat::WebP, "WebP"),
            [0xAB, b'K', b'T', b'X', ..] => return Err("found a KTX image; expected PNG, JPEG or WebP".into()),
            _ => return Err("expected a PNG, JPEG or WebP image; the first bytes match none of them".into()),
        };
        let fault = |error: &dyn fmt::Display| format!("cannot decode the {name} image: {error}");
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = ::image::Limits::default();
        limits.max_alloc = Some(MOST_BYTES);
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(|error| fault(&error))?;
        let (width, height) = decoder.dimensions();
        check(width, height)?;
        let pixels = DynamicImage::from_decoder(decoder).map_err(|error| fault(&error))?.into_rgba8();
        Ok(Self { size: [width, height], pixels: pixels.into_raw() })
    }

    /// The mip levels of the image, each half as large as the one before, down to a single pixel. Levels with a side
    /// longer than `largest` are left out.
    ///
    /// A pixel is the mean of four in linear light, weighted by their alpha.
    pub fn levels(&self, largest: u32) -> Vec<Self> {
        let mut levels = vec![self.clone()];
        while let Some(last) = levels.last().filter(|last| last.size != [1, 1]) {
            let half = last.half();
            levels.push(half);
        }
        let fits = |level: &Self| level.size.iter().all(|&size| size <= largest);
        let first = levels.iter().position(fits).unwrap_or(levels.len() - 1);
        levels.split_off(first)
    }

    fn half(&self) -> Self {
        let size = self.size.map(|size| (size / 2).max(1));
        let [width, height] = self.size.map(|size| size as usize);
        let mut pixels = Vec::with_capacity(4 * (size[0] * size[1]) as usize);
        for y in 0..size[1] as usize {
            for x in 0..size[0] as usize {
                let mut sum = [0.0_f32; 4];
                for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let (x, y) = ((2 * x + right).min(width - 1), (2 * y + down).min(height - 1));
                    let pixel = &self.pixels[4 * (y * width + x)..][..4];
                    // Transparent pixels have a small weight, so that a fully transparent area keeps a colour.
                    let alpha = f32::from(pixel[3]) + 1e-3;
                    (0..3).for_each(|channel| sum[channel] += alpha * linear(pixel[channel]));
                    sum[3] += alpha;
                }
                pixels.extend([0, 1, 2].map(|channel| srgb(sum[channel] / sum[3])));
                pixels.push((sum[3] / 4.0).round() as u8);
            }
        }
        Self { size, pixels }
    }
}

/// The linear value of an sRGB byte, from 0 to 1. Source: IEC 61966-2-1.
pub fn linear(byte: u8) -> f32 {
    let value = f32::from(byte) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB byte of a linear value from 0 to 1. Values outside are clamped. Source: IEC 61966-2-1.
pub fn srgb(linear: f32) -> u8 {
    let value = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(2.4_f32.recip()) - 0.055 };
    (255.0 * value).round().clamp(0.0, 255.0) as u8
}

fn check(width: u32, height: u32) -> Result<(), String> {
    if !(1..=MOST_PIXELS).contains(&width) || !(1..=MOST_PIXELS).contains(&height) {
        return Err(format!("the image has {width} x {height} pixels; each side must have 1 to {MOST_PIXELS}"));
    }
    if width * height > MOST_TOTAL_PIXELS {
        return Err(format!(
            "the image has {width} x {height} pixels; at most {MOST_TOTAL_PIXELS} in total are allowed"
        ));
    }
    Ok(())
}
