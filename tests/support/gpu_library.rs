//! The GPU of the tests, libraries on it, and the kernels that pose their crowds.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use posse::gpu::{AdapterKind, GpuContext, GpuEngine, GpuLibrary};
use posse::kernels::{DeviceBatch, DeviceCrowd, DeviceLimits, Pass};
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Error, Library, Outputs, SkeletonId};

/// The largest number of devices: more would compile the same kernels more often than they run.
const MAX_DEVICES: usize = 4;

/// The devices of the tests, each with the number of threads that use it.
static DEVICES: Mutex<Vec<(GpuContext, usize)>> = Mutex::new(Vec::new());

fn devices() -> MutexGuard<'static, Vec<(GpuContext, usize)>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a thread, which the thread gives back at its end.
struct Lease(usize);

impl Lease {
    /// Takes the device that the fewest threads use. There are as many devices as cores, at most [`MAX_DEVICES`], since
    /// a software renderer compiles and runs the kernels of a device in one thread.
    fn new() -> Self {
        let wanted = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_DEVICES);
        let mut devices = devices();
        if devices.iter().all(|(_, users)| *users > 0) && devices.len() < wanted {
            let device = GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"));
            devices.push((device, 0));
        }
        let fewest = (0..devices.len()).min_by_key(|&index| devices[index].1).expect("at least one device is wanted");
        devices[fewest].1 += 1;
        Self(fewest)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        devices()[self.0].1 -= 1;
    }
}

/// The GPU of a test, the same for all calls of its thread: hardware if there is some, otherwise a software renderer.
/// Without either, this fails with a message that names the package to install.
///
/// A thread that a test starts may get a device of its own, on which buffers of the test's device are not valid: give
/// such a thread the [`GpuContext`] of the test.
pub fn gpu() -> GpuContext {
    thread_local! {
        static LEASE: Lease = Lease::new();
    }
    LEASE.with(|lease| devices()[lease.0].0.clone())
}

/// A library on the GPU of the tests.
pub fn gpu_library(packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    gpu_library_on(&gpu(), packed)
}

/// A library on a device that lives as long as the tests. All such libraries of a device share kernels, which a
/// software renderer takes longer to compile than to run; Mesa's cache on disk shares them between devices.
pub fn gpu_library_on(gpu: &GpuContext, packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    static FIRST: Mutex<Vec<Arc<GpuLibrary>>> = Mutex::new(Vec::new());
    let first = {
        let mut all = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter().find(|first| *first.gpu().device == gpu.device) {
            Some(first) => first.clone(),
            None => {
                let first = Arc::new(GpuLibrary::new(gpu, &Library::new())?);
                all.push(first.clone());
                first
            }
        }
    };
    first.repacked(packed)
}

/// An engine on the GPU of the tests.
pub fn gpu_engine(library: &Library) -> Result<GpuEngine, Error> {
    gpu_engine_for(PackedLibrary::new(library)?)
}

/// An engine of a packed library on the GPU of the tests.
pub fn gpu_engine_for(packed: PackedLibrary) -> Result<GpuEngine, Error> {
    GpuEngine::with_library(gpu(), gpu_library(packed)?)
}

/// The names of the kernels that pose a crowd, each with the skeleton of its instances.
pub fn pose_kernels(packed: &PackedLibrary, crowd: &Crowd, outputs: Outputs) -> Vec<(SkeletonId, String)> {
    let crowd = DeviceCrowd::new(packed, crowd, outputs, CrowdOptions::NONE, DeviceLimits::default()).unwrap();
    let of_batch = |batch: DeviceBatch| {
        let posing = batch.dispatches.into_iter().find(|dispatch| dispatch.pass == Pass::Pose);
        (batch.skeleton, posing.expect("each batch is posed").kernel)
    };
    crowd.batches.into_iter().map(of_batch).collect()
}
