//! `.npz` files of SMPL: import, pack, and poses of both engines.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use posse::import::smpl::{LoadOptions, Proportions};
use posse::{Library, import};
use posse_fuzz::{engines, npz, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("smpl"), |data: &[u8]| {
    // Checksums would stop most changes of a file.
    let data = &npz::with_checksums(data)[..];
    let mut library = Library::new();
    // A file may be its own model file.
    let name = Path::new("fuzz.npz");
    let proportions = promise::keep(data.len(), promise::SMPL, || Proportions::from_slice(name, data)).ok();
    let options = LoadOptions { rest: proportions.as_ref(), fps: None };
    let read = || import::smpl::from_slice(&mut library, name, data, &options);
    if promise::keep(data.len(), promise::SMPL, read).is_ok() {
        promise::in_time(data.len(), || engines::check_library(library, engines::choice(data)));
    }
});
