//! A picture in memory, and in a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::Outcome;

/// Pixels of red, green, blue and alpha in sRGB, in rows from the top.
pub struct Picture {
    /// The width and height in pixels.
    pub size: [u32; 2],
    /// Four bytes per pixel.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// A picture from rows that begin at multiples of [`ROW`](Self::ROW) bytes, as in copies of textures.
    pub fn from_rows(size: [u32; 2], rows: &[u8]) -> Self {
        let width = 4 * size[0] as usize;
        let bytes = rows.chunks(width.next_multiple_of(Self::ROW as usize)).flat_map(|row| &row[..width]).copied();
        Self { size, bytes: bytes.collect() }
    }

    /// The alignment of a copied row, in bytes.
    pub const ROW: u32 = 256;

    /// The red, green and blue of a pixel; `None` outside the picture.
    #[allow(dead_code, reason = "tests read single pixels, examples none")]
    pub fn pixel(&self, x: i64, y: i64) -> Option<[u8; 3]> {
        let [width, height] = self.size.map(i64::from);
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return None;
        }
        self.bytes.get(4 * (y * width + x) as usize..)?.first_chunk().copied()
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn save(&self, path: &Path) -> Outcome<()> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), self.size[0], self.size[1]);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let colours: Vec<u8> = self.bytes.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        encoder.write_header()?.write_image_data(&colours)?;
        Ok(())
    }
}
