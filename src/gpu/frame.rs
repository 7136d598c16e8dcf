//! The uniform that changes from frame to frame.

use wgpu::BufferUsages as Usages;

use crate::gpu::buffers::filled_buffer;
use crate::pack::record::Frame;

/// A [`Frame`] on the GPU.
#[derive(Debug)]
pub(super) struct FrameBuffer(wgpu::Buffer);

impl FrameBuffer {
    /// Without contents.
    pub fn new(device: &wgpu::Device) -> Self {
        Self(device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size: size_of::<Frame>() as u64,
            usage: Usages::UNIFORM | Usages::COPY_DST,
            mapped_at_creation: false,
        }))
    }

    /// The buffer, to be bound.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.0
    }

    /// Records that it holds a frame from here on. The upload goes through the encoder, so that two frames in one submission do
    /// not disturb each other.
    pub fn write(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, frame: &Frame) {
        let contents = bytemuck::bytes_of(frame);
        // It fails where the device is lost. Nothing of what was recorded then runs, and who reads or waits is told.
        if let Ok(upload) = filled_buffer(device, "posse frame upload", contents, Usages::COPY_SRC) {
            encoder.copy_buffer_to_buffer(&upload, 0, &self.0, 0, size_of::<Frame>() as u64);
        }
    }
}
