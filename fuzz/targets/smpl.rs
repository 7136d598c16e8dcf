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
    let name = Path::new("fuzz.npz");
    // A file may be its own model file.
    if let Ok(rest) = promise::keep(data.len(), promise::SMPL, || Proportions::from_slice(name, data)) {
        let options = LoadOptions { rest: Some(&rest), ..LoadOptions::default() };
        let read = || import::smpl::from_slice(&mut Library::new(), name, data, &options);
        let _ = promise::keep(data.len(), promise::SMPL, read);
    }
    let mut library = Library::new();
    let read = || import::smpl::from_slice(&mut library, name, data, &LoadOptions::default());
    if promise::keep(data.len(), promise::SMPL, read).is_ok() {
        promise::in_time(data.len(), || engines::check_library(library, engines::choice(data)));
    }
});
