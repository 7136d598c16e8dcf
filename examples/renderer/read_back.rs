//! Reads a finished texture back to the CPU. A renderer does not need this.

use super::Outcome;
use super::picture::Picture;

/// Submits an encoder that fills a texture of four bytes per pixel, waits, and reads the texture.
///
/// # Errors
/// Errors of the device.
pub fn read_back(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    texture: &wgpu::Texture,
) -> Outcome<Picture> {
    let [width, height] = [texture.width(), texture.height()];
    let row = (4 * width).next_multiple_of(Picture::ROW);
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
    Ok(Picture::from_rows([width, height], &mapped))
}
