//! Compressed buffer views: any bytes, and streams of the library that defines the format, whose decoder must agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posse_fuzz::{meshopt_streams, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("meshopt"), |data: &[u8]| {
    // Too few bytes for a stream are no error.
    let _ = promise::in_time(data.len(), || meshopt_streams::check(data));
});
