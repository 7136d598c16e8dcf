//! Libraries on the GPUs of the tests.

use std::sync::{Arc, Mutex, PoisonError};

use posse::{Error, GpuContext, GpuEngine, GpuLibrary, KernelForm, Library, PackedLibrary};

use crate::support::each_engine::{gpu, gpu_for};

/// A library on the GPU of the tests for this kernel form.
pub fn gpu_library(form: KernelForm, packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    gpu_library_on(&gpu_for(form), form, packed)
}

/// A library on a device that lives as long as the tests, with this kernel form. All such libraries of a device share kernels, which a
/// software renderer takes longer to compile than to run.
pub fn gpu_library_on(gpu: &GpuContext, form: KernelForm, packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    static FIRST: Mutex<Vec<Arc<GpuLibrary>>> = Mutex::new(Vec::new());
    let first = {
        let mut all = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter().find(|first| first.form() == form && *first.gpu().device == gpu.device) {
            Some(first) => first.clone(),
            None => {
                let first = Arc::new(GpuLibrary::with_form(form, gpu, PackedLibrary::new(&Library::new())?)?);
                all.push(first.clone());
                first
            }
        }
    };
    first.repacked(packed)
}

/// An engine on the GPU of the tests, with the kernel form that suits the device.
pub fn gpu_engine(library: &Library) -> Result<GpuEngine, Error> {
    gpu_engine_for(KernelForm::for_device(&gpu().device), PackedLibrary::new(library)?)
}

/// An engine on the GPU of the tests for this kernel form.
pub fn gpu_engine_for(form: KernelForm, packed: PackedLibrary) -> Result<GpuEngine, Error> {
    GpuEngine::with_library(gpu_for(form), gpu_library(form, packed)?)
}
