//! Libraries on the GPU of the tests.

use std::sync::OnceLock;

use posse::{Error, GpuEngine, GpuLibrary, KernelForm, Library, PackedLibrary};

use crate::support::each_engine::gpu;

/// A library on the GPU of the tests, with this kernel form. All such libraries share kernels, which a software renderer takes
/// longer to compile than to run.
pub fn gpu_library(form: KernelForm, packed: PackedLibrary) -> Result<GpuLibrary, Error> {
    static FIRST: OnceLock<[GpuLibrary; KernelForm::ALL.len()]> = OnceLock::new();
    let empty = |form| {
        let packed = PackedLibrary::new(&Library::new()).expect("a packed library");
        GpuLibrary::with_form(form, &gpu(), packed).expect("a library on the GPU")
    };
    let first = FIRST.get_or_init(|| KernelForm::ALL.map(empty));
    first[form as usize].repacked(packed)
}

/// An engine on the GPU of the tests, with the kernel form that suits the device.
pub fn gpu_engine(library: &Library) -> Result<GpuEngine, Error> {
    GpuEngine::with_library(gpu(), gpu_library(KernelForm::for_device(&gpu().device), PackedLibrary::new(library)?)?)
}
