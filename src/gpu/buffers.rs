//! Buffers with contents, and the uniform that changes with each frame.

use wgpu::BufferUsages as Usages;

use crate::gpu::DeviceAndQueue;
use crate::gpu::frame_uploads::FrameUploads;
use crate::pack::record::Frame;

/// The largest binding of storage that a device allows, in bytes. It is at most `u32::MAX`: kernels address with 32 bits.
pub(crate) fn largest_binding(device: &wgpu::Device) -> u64 {
    let limits = device.limits();
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(u32::MAX.into())
}

/// A storage buffer with contents. Empty contents become 16 zero bytes, because a binding must not be empty.
pub(crate) fn upload(gpu: DeviceAndQueue, label: &str, contents: &[u8]) -> wgpu::Buffer {
    let contents = if contents.is_empty() { &[0; 16] } else { contents };
    filled_buffer(gpu, label, contents, Usages::STORAGE)
}

/// A buffer with contents, a multiple of 4 bytes. The queue uploads them with the next submission. wgpu's `create_buffer_init`
/// maps the buffer instead, which panics in a browser whose device is lost or out of memory.
pub(crate) fn filled_buffer(gpu: DeviceAndQueue, label: &str, contents: &[u8], usage: Usages) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: contents.len() as u64,
        usage: usage | Usages::COPY_DST,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, contents);
    buffer
}

/// Writes contents into a buffer with the next submission. If the device is lost, nothing is written, and the next read or wait
/// returns the error.
pub(super) fn write(gpu: DeviceAndQueue, buffer: &wgpu::Buffer, offset: u64, contents: &[u8]) {
    // Without the scope, wgpu panics: the buffers of a lost device are destroyed.
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    gpu.queue.write_buffer(buffer, offset, contents);
    drop(scope.pop());
}

/// A [`Frame`] on the GPU.
#[derive(Debug)]
pub(super) struct FrameBuffer {
    frame: wgpu::Buffer,
    uploads: FrameUploads,
}

impl FrameBuffer {
    /// Destroys the buffers.
    pub fn destroy(&self) {
        self.frame.destroy();
        self.uploads.destroy();
    }

    /// Creates the buffer without contents.
    pub fn new(gpu: DeviceAndQueue) -> Self {
        let size = size_of::<Frame>() as u64;
        let frame = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("posse frame"),
            size,
            usage: Usages::UNIFORM | Usages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { frame, uploads: FrameUploads::new(gpu, "posse frame upload", size, Usages::COPY_SRC) }
    }

    /// The buffer, for bind groups.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.frame
    }

    /// The device and the queue of the buffer.
    pub fn gpu(&self) -> DeviceAndQueue<'_> {
        self.uploads.gpu()
    }

    /// Records a write of the frame. Two frames in one submission do not disturb each other.
    pub fn write(&self, encoder: &mut wgpu::CommandEncoder, frame: &Frame) {
        let upload = self.uploads.write(encoder, bytemuck::bytes_of(frame));
        encoder.copy_buffer_to_buffer(&upload, 0, &self.frame, 0, self.frame.size());
    }
}
