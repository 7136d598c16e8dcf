//! The GPU of the tests, and libraries on it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use posse::gpu::{AdapterKind, GpuContext, GpuEngine, GpuLibrary};
use posse::packed::PackedLibrary;
use posse::{Error, Library};

/// The GPU of the tests: hardware if there is some, otherwise a software renderer. Without either, this fails with a
/// message that names the package to install.
pub fn gpu() -> GpuContext {
    static GPU: OnceLock<GpuContext> = OnceLock::new();
    GPU.get_or_init(|| GpuContext::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"))).clone()
}

/// A library on the GPU of the tests.
pub fn gpu_library(packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    gpu_library_on(&gpu(), packed)
}

/// A library on a device that lives as long as the tests. All such libraries of a device share kernels, which a
/// software renderer takes longer to compile than to run.
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
