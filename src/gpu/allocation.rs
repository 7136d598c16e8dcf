//! The creation of objects on a device, and uploads. In tests, each can be refused, as if the device were out of
//! memory.

use crate::error::Error;
use crate::gpu::Scopes;

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
