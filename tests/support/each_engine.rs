//! Every engine, held to the same checks.

use std::sync::{Once, OnceLock};

use posse::cpu::engine::CpuEngine;
use posse::cpu::simd::InstructionSet;
use posse::gpu::engine::GpuEngine;
use posse::gpu::form::Form;
use posse::gpu::headless::{AdapterKind, HeadlessGpu};
use posse::{Compaction, Evaluator, GpuLibrary, Library, Packing, Reference};

use crate::support::aloud::skipped;

/// Runs a check with each engine of a library: reference, CPU with each instruction set that the machine has, GPU in each
/// form of its kernels; the fast ones on both packings, compact keys being as fine as they can be, and on the GPU in the form
/// that hardware runs.
pub fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    fast_engines(&Form::ALL, &|| Packing::new(library).expect("a packing"), &mut check);
    let compaction = Compaction::with_width(library, 24).expect("a width that is possible");
    compact_engines(&[Form::Parallel], &compaction, check);
}

/// Runs a check with each fast engine on compact keys.
pub fn compact_engines(forms: &[Form], compaction: &Compaction, mut check: impl FnMut(&mut dyn Evaluator)) {
    fast_engines(forms, &|| Packing::compact(compaction).expect("a compact packing"), &mut check);
}

/// Runs a check with each fast engine on a packing, on the GPU in these forms: compiling kernels takes a software renderer
/// longer than most tests.
pub fn fast_engines(forms: &[Form], packing: &dyn Fn() -> Packing, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_here()) {
        // One thread, then all.
        let threads = match instructions {
            InstructionSet::Avx2 | InstructionSet::Neon => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        };
        check(&mut CpuEngine::with_packing(packing(), threads).with_instructions(instructions));
    }
    let Some(gpu) = gpu_unless_left_out() else { return };
    for &form in forms {
        let library = GpuLibrary::with_form(form, &gpu.device, packing()).expect("a library on the GPU");
        check(&mut GpuEngine::with_library(gpu.clone(), library));
    }
}

/// The GPU of the tests, unless `POSSE_TEST_ENGINES=cpu` leaves it out, which is said aloud: an emulator has no adapter. What
/// tests the GPU alone asks for [`gpu`], and fails without.
pub fn gpu_unless_left_out() -> Option<HeadlessGpu> {
    static SAID: Once = Once::new();
    match std::env::var("POSSE_TEST_ENGINES").as_deref() {
        Err(_) => Some(gpu()),
        Ok("cpu") => {
            SAID.call_once(|| skipped("the GPU engine, in every test: POSSE_TEST_ENGINES=cpu leaves it out"));
            None
        }
        Ok(engines) => panic!("POSSE_TEST_ENGINES={engines}: it may be `cpu`, or not be set"),
    }
}

/// The GPU of the tests: hardware where there is some, else a software renderer. A machine without either fails here,
/// and the message says what to install.
pub fn gpu() -> HeadlessGpu {
    static GPU: OnceLock<HeadlessGpu> = OnceLock::new();
    GPU.get_or_init(|| HeadlessGpu::new(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}"))).clone()
}
