//! The same checks on every engine.

use std::sync::Once;

use posse::compress::CompressedLibrary;
use posse::cpu::{CpuEngine, InstructionSet};
use posse::gpu::GpuContext;
use posse::packed::PackedLibrary;
use posse::{Evaluator, Library, Reference};

use crate::support::gpu_library::{gpu, gpu_engine_for};
use crate::support::skip::report_skipped;

/// Runs a check with each engine of a library: the reference, the CPU engine with each available instruction set, and
/// the GPU engine. The fast engines run it again on the compressed library, with the finest keys.
pub fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    fast_engines(&|| PackedLibrary::new(library).expect("a packed library"), &mut check);
    let compressed = CompressedLibrary::with_width(library, 24).expect("a valid width");
    compressed_engines(&compressed, check);
}

/// Runs a check with each fast engine on a compressed library.
pub fn compressed_engines(compressed: &CompressedLibrary, mut check: impl FnMut(&mut dyn Evaluator)) {
    fast_engines(&|| compressed.pack().expect("a packed compressed library"), &mut check);
}

/// Runs a check with each fast engine on a packed library.
pub fn fast_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    cpu_engines(packed, check);
    if gpu_unless_left_out().is_some() {
        check(&mut gpu_engine_for(packed()).expect("an engine on the GPU"));
    }
}

/// Runs a check with the CPU engine with each available instruction set on a packed library.
pub fn cpu_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
        // Some instruction sets run with one thread, the others with all threads.
        let threads = match instructions {
            InstructionSet::Avx2 | InstructionSet::Neon => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        };
        check(&mut CpuEngine::from_packed(packed(), threads).with_instructions(instructions));
    }
}

/// The bytes of a mappable buffer, after all submitted work is done.
pub fn read_mapped(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Vec<u8> {
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.expect("a mapped buffer"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("a device that works");
    buffer.get_mapped_range(..).expect("a mapped range").to_vec()
}

/// The GPU of the tests, or `None` if `POSSE_TEST_ENGINES=cpu`, as on an emulator, which has no adapter; a note is
/// printed. Tests of the GPU alone call [`gpu`], which fails without an adapter.
pub fn gpu_unless_left_out() -> Option<GpuContext> {
    static NOTED: Once = Once::new();
    match std::env::var("POSSE_TEST_ENGINES").as_deref() {
        Err(_) => Some(gpu()),
        Ok("cpu") => {
            NOTED.call_once(|| report_skipped("the GPU engine, in every test: POSSE_TEST_ENGINES=cpu leaves it out"));
            None
        }
        Ok(engines) => panic!("POSSE_TEST_ENGINES={engines}: it may be `cpu`, or not be set"),
    }
}
