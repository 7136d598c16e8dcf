//! The readers of the files that `posse bake` writes, by which it knows the files that it need not write again.

#[path = "../../src/cli/bake/facts.rs"]
#[allow(dead_code, reason = "only the stored facts are needed")]
pub(crate) mod facts;
#[path = "../../src/cli/npy.rs"]
#[allow(dead_code, reason = "only its reader and some headers are needed")]
pub(crate) mod npy;
#[path = "../../src/cli/bake/stored/mod.rs"]
#[allow(dead_code, reason = "only the readers are needed")]
pub(crate) mod stored;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use posse::Error;

use crate::promise;

/// A format of `posse bake`.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    Npz,
    Glb,
    Usda,
    Parquet,
}

impl Format {
    fn read_facts(self, file: &Path) -> Result<(), Error> {
        match self {
            Self::Npz => stored::npz::read_facts(file).map(drop),
            Self::Glb => stored::glb::read_facts(file).map(drop),
            Self::Usda => {
                // A file with facts ends as that of a crowd does.
                let (facts, crowd) = (stored::usda::read_facts(file), stored::usda::check_crowd(file));
                assert!(facts.is_err() || crowd.is_ok());
                facts.map(drop)
            }
            Self::Parquet => stored::parquet::read_facts(file).map(drop),
        }
    }
}

/// Reads the facts of a file within the promise.
pub fn check(format: Format, bytes: &[u8]) {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        folder.join(format!("posse-fuzz-{}", std::process::id()))
    });
    std::fs::write(file, bytes).expect("a temporary file can be written");
    let facts = promise::keep(bytes.len(), promise::OTHERS, || format.read_facts(file));
    if let Err(error) = facts {
        assert!(!error.to_string().is_empty());
    }
}
