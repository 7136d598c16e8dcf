//! Binary glTF files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use posse::Error;
use serde::Deserialize;

use crate::bake::facts::StoredFacts;

/// The first words of a file: the name of the format, and its version.
pub const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"glTF"), 2];
/// The type of the JSON chunk.
pub const JSON: u32 = u32::from_le_bytes(*b"JSON");

/// The largest JSON chunk that is read for its facts.
const LARGEST_JSON: u32 = 1 << 30;

/// The facts of a file. Its binary chunk is not read, but must be there.
pub fn read_facts(file: &Path) -> Result<StoredFacts, Error> {
    #[derive(Deserialize)]
    struct Root {
        asset: Asset,
    }
    #[derive(Deserialize)]
    struct Asset {
        extras: StoredFacts,
    }
    let read = || -> io::Result<StoredFacts> {
        let mut open = File::open(file)?;
        let mut head = [[0; 4]; 5];
        open.read_exact(head.as_flattened_mut())?;
        let [magic, version, all, length, kind] = head.map(u32::from_le_bytes);
        if [magic, version] != MAGIC || kind != JSON || length > LARGEST_JSON {
            return Err(io::Error::other("this is no glb file of posse bake"));
        }
        let found = open.metadata()?.len();
        if found != u64::from(all) {
            return Err(io::Error::other(format!("the file has {found} bytes; expected {all}, as its header states")));
        }
        let mut json = Vec::new();
        open.take(length.into()).read_to_end(&mut json)?;
        Ok(serde_json::from_slice::<Root>(&json)?.asset.extras)
    };
    read().map_err(|source| Error::Io { file: file.to_path_buf(), source })
}
