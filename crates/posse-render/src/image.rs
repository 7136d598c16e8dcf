//! Images of textures, decoded from PNG, JPEG and WebP.

use std::fmt;
use std::io::Cursor;

use image_webp::WebPDecoder;
use png::{BitDepth, ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The largest number of pixels per side, and in total. Larger images are refused, because a few bytes can claim any
/// size.
const MAX_PIXELS: u32 = 1 << 14;
const MAX_TOTAL_PIXELS: u32 = 1 << 26;
/// The largest number of bytes that a decoder may allocate: 8 bytes per pixel of the largest image, and as many again
/// for intermediate data.
const MAX_BYTES: usize = 16 * MAX_TOTAL_PIXELS as usize;

/// Pixels of red, green, blue and alpha, in rows from the top. The colours are sRGB, alpha is linear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The width and height in pixels, each at least 1.
    pub size: [u32; 2],
    /// Four bytes per pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Decodes a PNG, JPEG or WebP file. Of a JPEG file that ends early, the missing part is grey.
    ///
    /// # Errors
    /// A message if the format is another one, the file is broken, or the image has more than 16384 pixels per side or
    /// more than 2^26 pixels.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
            [0xFF, 0xD8, ..] => decode_jpeg(bytes),
            [b'R', b'I', b'F', b'F', ..] => decode_webp(bytes),
            [0xAB, b'K', b'T', b'X', ..] => Err("found a KTX image; expected PNG, JPEG or WebP".into()),
            _ => Err("expected a PNG, JPEG or WebP image; the first bytes match none of them".into()),
        }
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

fn check([width, height]: [u32; 2]) -> Result<(), String> {
    if !(1..=MAX_PIXELS).contains(&width) || !(1..=MAX_PIXELS).contains(&height) {
        return Err(format!("the image has {width} x {height} pixels; each side must have 1 to {MAX_PIXELS}"));
    }
    if width * height > MAX_TOTAL_PIXELS {
        return Err(format!(
            "the image has {width} x {height} pixels; at most {MAX_TOTAL_PIXELS} in total are allowed"
        ));
    }
    Ok(())
}

fn decode_png(bytes: &[u8]) -> Result<Image, String> {
    let error = |error: png::DecodingError| refusal("PNG", &error);
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MAX_BYTES });
    decoder.set_transformations(Transformations::EXPAND | Transformations::ALPHA);
    decoder.set_ignore_text_chunk(true);
    let header = decoder.read_header_info().map_err(error)?;
    let size = [header.width, header.height];
    check(size)?;
    let mut reader = decoder.read_info().map_err(error)?;
    let length = reader.output_buffer_size().ok_or_else(|| refusal("PNG", &"it is too large"))?;
    let mut values = vec![0; length];
    let frame = reader.next_frame(&mut values).map_err(error)?;
    values.truncate(frame.buffer_size());
    if frame.bit_depth == BitDepth::Sixteen {
        let byte = |pair: &[u8; 2]| ((u32::from(u16::from_be_bytes(*pair)) + 128) / 257) as u8;
        values = values.as_chunks().0.iter().map(byte).collect();
    }
    if frame.color_type == ColorType::GrayscaleAlpha {
        values = values.as_chunks().0.iter().flat_map(|&[grey, alpha]| [grey, grey, grey, alpha]).collect();
    }
    image("PNG", size, values)
}

fn decode_jpeg(bytes: &[u8]) -> Result<Image, String> {
    let error = |error: zune_jpeg::errors::DecodeErrors| refusal("JPEG", &error);
    let side = MAX_PIXELS as usize;
    let options = DecoderOptions::default().set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX);
    let options = options.jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(error)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| refusal("JPEG", &"it has no size"))?;
    let size = [width, height].map(|size| size.min(side + 1) as u32);
    check(size)?;
    let colours = decoder.decode().map_err(error)?;
    image("JPEG", size, opaque(&colours))
}

fn decode_webp(bytes: &[u8]) -> Result<Image, String> {
    let error = |error: image_webp::DecodingError| refusal("WebP", &error);
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(error)?;
    let (width, height) = decoder.dimensions();
    check([width, height])?;
    decoder.set_memory_limit(MAX_BYTES);
    let length = decoder.output_buffer_size().ok_or_else(|| refusal("WebP", &"it is too large"))?;
    let mut values = vec![0; length];
    decoder.read_image(&mut values).map_err(error)?;
    image("WebP", [width, height], if decoder.has_alpha() { values } else { opaque(&values) })
}

/// Pixels of red, green and blue with an alpha of 1.
fn opaque(colours: &[u8]) -> Vec<u8> {
    colours.as_chunks().0.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect()
}

fn image(format: &str, size: [u32; 2], pixels: Vec<u8>) -> Result<Image, String> {
    if pixels.len() != 4 * size[0] as usize * size[1] as usize {
        return Err(refusal(format, &"the number of its pixels differs from its size"));
    }
    Ok(Image { size, pixels })
}

fn refusal(format: &str, error: &dyn fmt::Display) -> String {
    format!("cannot decode the {format} image: {error}")
}
