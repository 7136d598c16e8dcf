//! Buffers with contents.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::{DeviceAndQueue, Scopes, create_buffer, fault_point};

/// A storage buffer with contents. Empty contents become 16 zero bytes, because a binding must not be empty.
pub(crate) fn upload(gpu: DeviceAndQueue, label: &str, contents: &[u8]) -> wgpu::Buffer {
    upload_with_capacity(gpu, label, contents, 0)
}

/// As [`upload`], with a capacity of at least this many bytes.
pub(super) fn upload_with_capacity(gpu: DeviceAndQueue, label: &str, contents: &[u8], capacity: u64) -> wgpu::Buffer {
    let size = capacity.max(contents.len() as u64).max(16);
    sized_buffer(gpu, label, contents, Usages::STORAGE, size)
}

/// A buffer with contents, a multiple of 4 bytes. The queue uploads them with the next submission. wgpu's
/// `create_buffer_init` maps the buffer instead, which panics in a browser whose device is lost or out of memory.
pub fn filled_buffer(gpu: DeviceAndQueue, label: &str, contents: &[u8], usage: Usages) -> wgpu::Buffer {
    sized_buffer(gpu, label, contents, usage, contents.len() as u64)
}

/// As [`filled_buffer`], of this many bytes, at least as many as the contents. The others are zero.
fn sized_buffer(gpu: DeviceAndQueue, label: &str, contents: &[u8], usage: Usages, size: u64) -> wgpu::Buffer {
    let usage = usage | Usages::COPY_DST;
    let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
    let buffer = create_buffer(gpu.device, &descriptor);
    fault_point(gpu.device);
    gpu.queue.write_buffer(&buffer, 0, contents);
    buffer
}

/// Writes contents into a buffer with the next submission. If the device is lost, nothing is written, and the next read
/// or wait returns the error.
///
/// # Errors
/// [`Error::Device`] if there is no memory for the upload; nothing is written. A browser does not tell it here.
pub(super) fn write(gpu: DeviceAndQueue, buffer: &wgpu::Buffer, offset: u64, contents: &[u8]) -> Result<(), Error> {
    // Without the scopes, wgpu panics: the buffers of a lost device are destroyed.
    let scopes = Scopes::push(gpu.device);
    fault_point(gpu.device);
    gpu.queue.write_buffer(buffer, offset, contents);
    scopes.pop_for_memory()
}
