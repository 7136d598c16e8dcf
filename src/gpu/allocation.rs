//! A device with its queue, the creation of buffers and other objects on it, and uploads. In tests, each can be refused,
//! as if the device were out of memory.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::Scopes;

/// A borrowed device with its queue: for functions that need both, of callers with or without a
/// [`GpuContext`](crate::gpu::GpuContext).
#[derive(Debug, Clone, Copy)]
pub struct DeviceAndQueue<'a> {
    /// The device.
    pub device: &'a wgpu::Device,
    /// The queue of the device.
    pub queue: &'a wgpu::Queue,
}

impl<'a> From<(&'a wgpu::Device, &'a wgpu::Queue)> for DeviceAndQueue<'a> {
    fn from((device, queue): (&'a wgpu::Device, &'a wgpu::Queue)) -> Self {
        Self { device, queue }
    }
}

/// Creates a buffer. Every buffer of this crate is created here.
pub fn create_buffer(device: &wgpu::Device, descriptor: &wgpu::BufferDescriptor) -> wgpu::Buffer {
    #[cfg(any(test, feature = "test_support"))]
    if faults::is_due() {
        return faults::refused_buffer(device);
    }
    device.create_buffer(descriptor)
}

/// Stands before each other object that is made on a device, and before each upload. Does nothing but in tests, which
/// let the device report here that memory is out.
pub fn fault_point(device: &wgpu::Device) {
    #[cfg(any(test, feature = "test_support"))]
    if faults::is_due() {
        faults::refused_buffer(device);
    }
    #[cfg(not(any(test, feature = "test_support")))]
    let _ = device;
}

/// Creates an encoder for work of this crate.
///
/// # Errors
/// [`Error::Device`] if memory is out.
pub fn create_encoder(device: &wgpu::Device) -> Result<wgpu::CommandEncoder, Error> {
    let scopes = Scopes::push(device);
    fault_point(device);
    let encoder = device.create_command_encoder(&Default::default());
    scopes.pop_for_memory().map(|()| encoder)
}

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

/// Faults of tests, per thread.
#[cfg(any(test, feature = "test_support"))]
pub mod faults {
    use std::cell::Cell;

    thread_local! {
        /// The number of places that are passed before the one that fails; `None` if none fails.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Runs a function in which the place after `passed` others fails. Returns its result, and whether the place was
    /// reached.
    pub fn with_fault_after<T>(passed: usize, run: impl FnOnce() -> T) -> (T, bool) {
        LEFT.set(Some(passed));
        let result = run();
        (result, LEFT.take().is_none())
    }

    /// True at the place that fails. Later places work again.
    pub fn is_due() -> bool {
        let left = LEFT.get();
        LEFT.set(left.and_then(|left| left.checked_sub(1)));
        left == Some(0)
    }

    /// A buffer for which no machine has the memory. wgpu reports that memory is out, and each use of the buffer as
    /// invalid.
    pub fn refused_buffer(device: &wgpu::Device) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let label = Some("without memory");
        device.create_buffer(&wgpu::BufferDescriptor { label, size: 1 << 62, usage, mapped_at_creation: false })
    }
}
