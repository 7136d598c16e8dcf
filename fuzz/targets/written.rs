//! Files that `posse bake` has written: npz and glb.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posse_fuzz::{promise, write_seeds_if_asked, written};

fuzz_target!(init: write_seeds_if_asked("written"), |data: &[u8]| {
    promise::in_time(data.len(), || written::check(data));
});
