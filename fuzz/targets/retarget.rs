//! Retargeting: clips of a rig made of bytes on another one, checked on the reference, in a file and on the CPU engine.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use posse_fuzz::{retargets, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("retarget"), |data: &[u8]| {
    if let Ok(Some(case)) = retargets::Case::new(&mut Unstructured::new(data)) {
        case.check(data);
    }
});
