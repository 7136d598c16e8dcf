//! Files that `posse bake` has written: npz and glb. The first byte of the data tells the format, the rest is the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posse_fuzz::write_seeds_if_asked;
use posse_fuzz::written::{self, Format};

fuzz_target!(init: write_seeds_if_asked("written"), |data: &[u8]| {
    if let Some((&format, file)) = data.split_first() {
        written::check([Format::Npz, Format::Glb][usize::from(format % 2)], file);
    }
});
