//! The readers of the files that `posse bake` writes, by which it knows the files that it need not write again.

#[path = "../../src/cli/bake/facts.rs"]
#[allow(dead_code, reason = "only the stored facts are needed")]
pub(crate) mod facts;
#[path = "../../src/cli/bake/format/glb/read.rs"]
mod glb;
#[path = "../../src/cli/npy.rs"]
#[allow(dead_code, reason = "only its reader and some headers are needed")]
pub(crate) mod npy;
#[path = "../../src/cli/bake/format/npz/read.rs"]
mod npz;

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::promise;

// As in the modules around the readers: `src/cli/bake/format/npz/mod.rs` and `src/cli/bake/format/glb/mod.rs`.
const TEXTS: u64 = 256 << 20;
const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"glTF"), 2];
const JSON: u32 = u32::from_le_bytes(*b"JSON");
const LARGEST_JSON: u32 = 1 << 30;

/// Reads the facts of a file. The first byte of the data tells the format, the rest is the file.
pub fn check(data: &[u8]) {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let Some((&format, bytes)) = data.split_first() else { return };
    let file = FILE.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        folder.join(format!("posse-fuzz-{}", std::process::id()))
    });
    std::fs::write(file, bytes).expect("a temporary file can be written");
    let facts = promise::keep(bytes.len(), promise::OTHERS, || match format % 2 {
        0 => npz::read_facts(file),
        _ => glb::read_facts(file),
    });
    if let Err(error) = facts {
        assert!(!error.to_string().is_empty());
    }
}
