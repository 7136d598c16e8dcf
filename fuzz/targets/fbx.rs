//! `.fbx` files: import, pack, and poses of both engines.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use posse::{Library, import};
use posse_fuzz::{engines, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("fbx"), |data: &[u8]| {
    let mut library = Library::new();
    let read = || import::fbx::from_slice(&mut library, Path::new("fuzz.fbx"), data);
    if promise::keep(data.len(), promise::FBX, read).is_ok() {
        promise::in_time(data.len(), || engines::check_library(library, engines::choice(data)));
    }
});
