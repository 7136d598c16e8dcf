//! Every engine, held to the same checks.

use std::sync::OnceLock;

use posse::cpu::engine::CpuEngine;
use posse::cpu::simd::InstructionSet;
use posse::gpu::engine::GpuEngine;
use posse::gpu::form::Form;
use posse::gpu::headless::{AdapterKind, HeadlessGpu};
use posse::{Evaluator, Library, Reference};

/// Runs a check with each engine of a library: reference, CPU with each instruction set that the machine has, GPU
/// in each form of its kernels.
pub fn each_engine(library: &Library, check: impl FnMut(&mut dyn Evaluator)) {
    each_engine_of(&Form::ALL, library, check);
}

/// The same, with these forms only: compiling kernels takes a software renderer longer than most tests.
pub fn each_engine_of(forms: &[Form], library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_here()) {
        // One thread, then all.
        let engine = match instructions {
            InstructionSet::Avx2 => CpuEngine::with_threads(library, 1),
            _ => CpuEngine::new(library),
        };
        check(&mut engine.expect("a packing").with_instructions(instructions));
    }
    for &form in forms {
        check(&mut GpuEngine::with_form(form, library, gpu()).expect("a library on the GPU"));
    }
}

/// The GPU of the tests: hardware where there is some, else a software renderer. A machine without either fails here,
/// and the message says what to install.
pub fn gpu() -> HeadlessGpu {
    static GPU: OnceLock<HeadlessGpu> = OnceLock::new();
    GPU.get_or_init(|| HeadlessGpu::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"))).clone()
}
