//! A picture in memory, and in a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use super::Outcome;

/// Pixels of red, green, blue and alpha, row after row from the top, in sRGB.
pub struct Picture {
    /// Pixels to the right and down.
    pub size: [u32; 2],
    /// Four bytes a pixel.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// The red, green and blue of a pixel; none outside.
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
    /// Those of the file system.
    pub fn save(&self, path: &Path) -> Outcome<()> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), self.size[0], self.size[1]);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let colours: Vec<u8> = self.bytes.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        encoder.write_header()?.write_image_data(&colours)?;
        Ok(())
    }

    /// Submits an encoder that fills a texture of four bytes a pixel, waits, and reads the texture.
    ///
    /// # Errors
    /// What the device reports.
    pub fn read(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        mut encoder: wgpu::CommandEncoder,
        texture: &wgpu::Texture,
    ) -> Outcome<Self> {
        let [width, height] = [texture.width(), texture.height()];
        // Rows begin at multiples of 256 bytes.
        let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(row) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        let copy = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), copy, texture.size());
        queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        let mapped = buffer.get_mapped_range(..)?;
        let bytes = mapped.chunks_exact(row as usize).flat_map(|row| &row[..4 * width as usize]).copied().collect();
        Ok(Self { size: [width, height], bytes })
    }
}
