//! Compress, then decode: the result is within the bound, and the engine poses it as the reference poses the decoded
//! numbers.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::contract;
use posse::cpu::CpuEngine;
use posse_fuzz::{displacement, engines, scenes, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("compress"), |data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let Ok(mut library) = scenes::library(&mut bytes) else { return };
    let share = [1e-2, 1e-3, 1e-4, 1e-5][bytes.choose_index(4).unwrap_or(2)];
    let bound = ErrorBound::new(Length::Share(share));
    let checks = contract::checks(&mut library, 12).expect("the crowds of a valid library are valid");
    let compressed = CompressedLibrary::new(&library, bound).expect("a valid bound");
    displacement::assert_within(&library, &compressed, bound, "fuzz");
    let packed = compressed.pack_with_threads(1).expect("a small library");
    let engine = CpuEngine::from_packed(packed, 1);
    let mut check = engines::Check { library: compressed.library(), engine, everyday: true };
    let chosen = engines::choice(data) as usize % checks.len().max(1);
    for crowd in checks.iter().filter(|check| check.kind == "clip").take(4).chain(checks.get(chosen)) {
        check.crowd(&crowd.crowd, crowd.step, crowd.outputs, crowd.kind);
    }
});
