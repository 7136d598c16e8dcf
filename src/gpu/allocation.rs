//! The creation of objects on a device, and uploads. In tests, each can be refused for want of memory.

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

    use crate::error::Error;
    use crate::gpu::GpuContext;

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

    /// Lets each place that a function reaches fail in turn, on what `make` makes without a fault. Each must give the
    /// error of want of memory, and the same call must succeed afterwards. Returns the number of places.
    #[track_caller]
    pub fn each_fault<S, T>(what: &str, make: impl Fn() -> S, run: impl Fn(&mut S) -> Result<T, Error>) -> usize {
        for passed in 0..10_000 {
            let mut made = make();
            let (result, reached) = with_fault_after(passed, || run(&mut made).map(drop));
            if !reached {
                result.unwrap_or_else(|error| panic!("{what} without a fault: {error}"));
                assert!(passed > 0, "{what} makes nothing");
                return passed;
            }
            let message = result.map_or_else(|error| error.to_string(), |()| "success".into());
            assert!(message.contains("out of memory; ask for fewer instances"), "{what}, place {passed}: {message}");
            run(&mut made).unwrap_or_else(|error| panic!("{what} after the fault at place {passed}: {error}"));
        }
        panic!("{what}: no end");
    }

    /// A device without a GPU.
    pub fn context() -> GpuContext {
        with_features(wgpu::Features::empty())
    }

    /// A device without a GPU, with these features.
    pub fn with_features(features: wgpu::Features) -> GpuContext {
        let (device, queue) = device(features);
        let info = device.adapter_info();
        GpuContext { device, queue, info }
    }

    /// A device without a GPU, on which buffers may be of any size.
    pub fn device(required_features: wgpu::Features) -> (wgpu::Device, wgpu::Queue) {
        let limits = wgpu::Limits { max_buffer_size: u64::MAX, ..wgpu::Limits::default() };
        let noop = wgpu::NoopBackendOptions { enable: true, limits: Some(limits.clone()), ..Default::default() };
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::NOOP,
            // This check limits buffers to 4 GiB.
            flags: wgpu::InstanceFlags::VALIDATION - wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL,
            backend_options: wgpu::BackendOptions { noop, ..Default::default() },
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("the no-op adapter");
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits, required_features, ..Default::default() };
        pollster::block_on(adapter.request_device(&descriptor)).expect("the no-op device")
    }

    /// A buffer for which no machine has the memory. wgpu reports that memory is out, and each use of the buffer as
    /// invalid.
    pub fn refused_buffer(device: &wgpu::Device) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let label = Some("without memory");
        device.create_buffer(&wgpu::BufferDescriptor { label, size: 1 << 62, usage, mapped_at_creation: false })
    }
}
