//! Waiting for the GPU. A page cannot block, but the browser can suspend WebAssembly (JavaScript Promise Integration),
//! so that the tests call the same functions as natively.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use posse::events::EventList;
use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEvents, GpuLibrary};
use posse::low_level::Bandwidth;
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Error, Library, Outputs};

use crate::page;

/// Wakes the suspended test.
struct Page;

impl Wake for Page {
    fn wake(self: Arc<Self>) {
        page::wake();
    }
}

/// Runs a future to its end. The test is suspended meanwhile.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Page));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => page::wait_for_wake(),
        };
    }
}

/// Devices.
pub trait BlockingContext: Sized {
    fn new(kind: AdapterKind) -> Result<Self, Error>;
    fn with_limits(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error>;
}

impl BlockingContext for GpuContext {
    fn new(kind: AdapterKind) -> Result<Self, Error> {
        block_on(Self::new_async(kind))
    }

    fn with_limits(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        block_on(Self::with_limits_async(kind, limits))
    }
}

/// Libraries on a device.
pub trait BlockingLibrary: Sized {
    fn new(gpu: &GpuContext, library: &Library) -> Result<Self, Error>;
    fn from_packed(gpu: &GpuContext, packed: PackedLibrary) -> Result<Self, Error>;
    fn repacked(&self, packed: PackedLibrary) -> Result<Self, Error>;
}

impl BlockingLibrary for GpuLibrary {
    fn new(gpu: &GpuContext, library: &Library) -> Result<Self, Error> {
        block_on(Self::new_async(gpu, library))
    }

    fn from_packed(gpu: &GpuContext, packed: PackedLibrary) -> Result<Self, Error> {
        block_on(Self::from_packed_async(gpu, packed))
    }

    fn repacked(&self, packed: PackedLibrary) -> Result<Self, Error> {
        block_on(self.repacked_async(packed))
    }
}

/// Crowds on a device.
pub trait BlockingCrowd: Sized {
    fn new(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error>;
    fn with_options(
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error>;
}

impl BlockingCrowd for GpuCrowd {
    fn new(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        block_on(Self::new_async(library, crowd, outputs))
    }

    fn with_options(
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        block_on(Self::with_options_async(library, crowd, outputs, options))
    }
}

/// Lists of events on a device.
pub trait BlockingEvents: Sized {
    fn new(library: &GpuLibrary, crowd: &GpuCrowd, capacity: usize) -> Result<Self, Error>;
    fn read(&self) -> Result<EventList, Error>;
}

impl BlockingEvents for GpuEvents {
    fn new(library: &GpuLibrary, crowd: &GpuCrowd, capacity: usize) -> Result<Self, Error> {
        block_on(Self::new_async(library, crowd, capacity))
    }

    fn read(&self) -> Result<EventList, Error> {
        block_on(self.read_async())
    }
}

/// The bandwidth of a device.
pub trait BlockingBandwidth: Sized {
    fn measure(gpu: &GpuContext) -> Result<Self, Error>;
}

impl BlockingBandwidth for Bandwidth {
    fn measure(gpu: &GpuContext) -> Result<Self, Error> {
        block_on(Self::measure_with_clock(gpu, 1 << 20, page::now))
    }
}
