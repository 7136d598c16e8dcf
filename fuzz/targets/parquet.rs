//! Parquet files that `posse bake` has written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posse_fuzz::write_seeds_if_asked;
use posse_fuzz::written::{self, Format};

fuzz_target!(init: write_seeds_if_asked("parquet"), |data: &[u8]| written::check(Format::Parquet, data));
