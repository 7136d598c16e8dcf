//! Buffers with contents.

use crate::error::Error;

/// The largest binding of storage that a device allows, in bytes; not beyond what 32 bits address, as kernels do.
pub(crate) fn largest_binding(device: &wgpu::Device) -> u64 {
    let limits = device.limits();
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(u32::MAX.into())
}

/// A storage buffer with contents; never empty, since a binding may not be.
pub(crate) fn upload(device: &wgpu::Device, label: &str, contents: &[u8]) -> Result<wgpu::Buffer, Error> {
    let contents = if contents.is_empty() { &[0; 16] } else { contents };
    filled_buffer(device, label, contents, wgpu::BufferUsages::STORAGE)
}

/// A buffer with contents, a multiple of 4 bytes. wgpu's `create_buffer_init` does the same, but panics where the device
/// is lost or out of memory.
///
/// # Errors
/// [`Error::Device`] in those cases; what the device reports to error scopes says more.
pub(crate) fn filled_buffer(
    device: &wgpu::Device,
    label: &str,
    contents: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    let size = contents.len() as u64;
    let label = Some(label);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
    match buffer.get_mapped_range_mut(..) {
        Ok(mut view) => view.copy_from_slice(contents),
        Err(error) => return Err(Error::Device(format!("it is lost: {error}"))),
    }
    buffer.unmap();
    Ok(buffer)
}
