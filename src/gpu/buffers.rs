//! Buffers with contents, and the uniform that changes with each frame.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::pack::record::Frame;

/// The largest binding of storage that a device allows, in bytes. It is at most `u32::MAX`: kernels address with 32 bits.
pub(crate) fn largest_binding(device: &wgpu::Device) -> u64 {
    let limits = device.limits();
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(u32::MAX.into())
}

/// A storage buffer with contents. Empty contents become 16 zero bytes, because a binding must not be empty.
pub(crate) fn upload(device: &wgpu::Device, label: &str, contents: &[u8]) -> Result<wgpu::Buffer, Error> {
    let contents = if contents.is_empty() { &[0; 16] } else { contents };
    filled_buffer(device, label, contents, Usages::STORAGE)
}

/// A buffer with contents, a multiple of 4 bytes. wgpu's `create_buffer_init` does the same, but panics if the device is lost
/// or out of memory.
///
/// # Errors
/// [`Error::Device`] in those cases. The error scopes of the device hold the details.
pub(crate) fn filled_buffer(
    device: &wgpu::Device,
    label: &str,
    contents: &[u8],
    usage: Usages,
) -> Result<wgpu::Buffer, Error> {
    let size = contents.len() as u64;
    let label = Some(label);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
    match buffer.get_mapped_range_mut(..) {
        Ok(mut view) => view.copy_from_slice(contents),
        Err(error) => return Err(Error::Device(format!("it is lost: {error}; open a new device"))),
    }
    buffer.unmap();
    Ok(buffer)
}

/// A [`Frame`] on the GPU.
#[derive(Debug)]
pub(super) struct FrameBuffer(wgpu::Buffer);

impl FrameBuffer {
    /// Creates the buffer without contents.
    pub fn new(device: &wgpu::Device) -> Self {
        Self(device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size: size_of::<Frame>() as u64,
            usage: Usages::UNIFORM | Usages::COPY_DST,
            mapped_at_creation: false,
        }))
    }

    /// The buffer, for bind groups.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.0
    }

    /// Records a write of the frame. The upload goes through the encoder, so that two frames in one submission do not disturb
    /// each other.
    pub fn write(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, frame: &Frame) {
        let contents = bytemuck::bytes_of(frame);
        // The upload fails only if the device is lost. Then none of the recorded commands run, and the next read or wait
        // returns the error.
        if let Ok(upload) = filled_buffer(device, "posse frame upload", contents, Usages::COPY_SRC) {
            encoder.copy_buffer_to_buffer(&upload, 0, &self.0, 0, size_of::<Frame>() as u64);
        }
    }
}
