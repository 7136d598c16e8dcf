//! Crowd files: parse, bind to two figures, and pose on both engines.

#![no_main]

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use posse::cpu::CpuEngine;
use posse::low_level::test_support::read_crowd_with;
use posse::{Library, Step, Ticks};
use posse_fuzz::{engines, figure, promise, write_seeds_if_asked};

/// The most instances that are posed.
const MAX_CROWD: usize = 16;

fn open(path: &Path) -> io::Result<Vec<u8>> {
    static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let [figure, other] = FILES.get_or_init(|| [figure::glb(), figure::other_glb()]);
    let bytes = match path.to_str() {
        Some("a.glb") => figure,
        Some("b.glb") => other,
        _ => return Err(io::ErrorKind::NotFound.into()),
    };
    promise::add_file(bytes.len());
    Ok(bytes.clone())
}

fuzz_target!(init: write_seeds_if_asked("crowd"), |data: &[u8]| {
    let mut library = Library::new();
    let read = || read_crowd_with(&mut library, Path::new("fuzz.json"), data, &open);
    let Ok(file) = promise::keep(data.len(), promise::GLTF, read) else { return };
    // A crowd takes time in proportion to its instances and their transitions, and not to the file.
    let Ok(crowd) = file.crowd(&library, 0..file.len().min(MAX_CROWD)) else { panic!("a crowd file that loads has a crowd") };
    if !engines::is_small(&library) {
        return;
    }
    let Ok(engine) = CpuEngine::with_threads(&library, 1) else { return };
    let mut check = engines::Check { library: &library, engine, everyday: engines::is_everyday_crowd(&crowd) };
    for seconds in [-1.0, 0.0, 0.27, 0.731, 3.1] {
        let [from, to] = [seconds - 0.05, seconds].map(Ticks::from_seconds);
        check.crowd(&crowd, Step { from, to }, engines::outputs(), "crowd file");
    }
});
