//! The same checks on the reference and the CPU engine.

use posse::compress::CompressedLibrary;
use posse::cpu::{CpuEngine, InstructionSet};
use posse::packed::PackedLibrary;
use posse::{Evaluator, Library, Reference};

/// As in `tests/support`, without the GPU engine.
pub fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    fast_engines(&|| PackedLibrary::new(library).expect("a packed library"), &mut check);
    let compressed = CompressedLibrary::with_width(library, 24).expect("a valid width");
    compressed_engines(&compressed, check);
}

/// As in `tests/support`, without the GPU engine.
pub fn compressed_engines(compressed: &CompressedLibrary, mut check: impl FnMut(&mut dyn Evaluator)) {
    fast_engines(&|| compressed.pack().expect("a packed compressed library"), &mut check);
}

/// Runs a check with the CPU engine, with each available instruction set.
pub fn fast_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    for instructions in InstructionSet::ALL.into_iter().filter(|instructions| instructions.is_available()) {
        let threads = match instructions {
            InstructionSet::Avx2 | InstructionSet::Neon => 1,
            _ => 2,
        };
        check(&mut CpuEngine::from_packed(packed(), threads).with_instructions(instructions));
    }
}

/// As [`fast_engines`].
pub fn cpu_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    fast_engines(packed, check);
}

/// None: the GPU engine is not compiled.
pub fn gpu_unless_left_out() -> Option<()> {
    None
}
