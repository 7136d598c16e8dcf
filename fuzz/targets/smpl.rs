//! `.npz` files of SMPL: import, pack, and poses of both engines.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use posse::{Library, import};
use posse_fuzz::{engines, npz, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("smpl"), |data: &[u8]| {
    // Checksums would stop most changes of a file.
    let data = &npz::with_checksums(data)[..];
    let mut library = Library::new();
    let read = || import::smpl::from_slice(&mut library, Path::new("fuzz.npz"), data, None);
    if promise::keep(data.len(), promise::SMPL, read).is_ok() {
        promise::in_time(data.len(), || engines::check_library(library, engines::choice(data)));
    }
});
