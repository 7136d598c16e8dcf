//! `.gltf` files with their buffers: the bytes after the first zero byte are the file that the document names.

#![no_main]

use std::cell::Cell;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use posse::{Library, import};
use posse_fuzz::{engines, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("gltf"), |data: &[u8]| {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (document, buffer) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let read = Cell::new(data.len());
    // Every name stands for the same bytes, which count each time.
    let files = |_: &str| {
        promise::add_file(buffer.len());
        read.set(read.get() + buffer.len());
        Some(buffer)
    };
    let mut library = Library::new();
    let load = || import::gltf::from_slice_with(&mut library, Path::new("fuzz.gltf"), document, &files);
    if promise::keep(document.len(), promise::GLTF, load).is_ok() {
        promise::in_time(read.get(), || engines::check_library(library, engines::choice(data)));
    }
});
