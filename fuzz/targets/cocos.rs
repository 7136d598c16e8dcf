//! Clips of Cocos Creator as JSON, of all releases: import, both ways to bind, and poses of both engines.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use posse::{Library, import};
use posse_fuzz::{cocos_check, engines, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("cocos"), |data: &[u8]| {
    let library = Library::new();
    let read = || import::cocos::from_slice(&library, Path::new("fuzz.anim"), data);
    if let Ok(file) = promise::keep(data.len(), promise::COCOS, read)
        && engines::is_small_clip(&file.clip)
    {
        promise::in_time(data.len(), || cocos_check::check(&library, data));
    }
});
