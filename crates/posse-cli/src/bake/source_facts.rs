//! The facts of an input file and of the files beside it.

use posse::Error;
use posse::import::gltf;

use crate::bake::facts::SourceFacts;
use crate::bake::inputs::{ClipFile, Kind};
use crate::bake::{crowd_files, hash, regular_file};

/// The facts of a file whose bytes have been read.
pub fn of_bytes(file: &ClipFile, kind: Kind, bytes: &[u8]) -> Result<SourceFacts, Error> {
    let buffers = match kind {
        Kind::Gltf => gltf::Outline::from_slice(&file.path, bytes)?.buffers,
        Kind::Crowd => crowd_files::list(&file.path, bytes)?,
        Kind::Bvh | Kind::Cocos => Vec::new(),
    };
    let buffers = hash::facts_of_buffers(&file.path, &buffers)?;
    Ok(SourceFacts { path: file.below.clone(), sha256: hash::of_bytes(bytes), buffers })
}

/// The facts of a file that has not been read. A BVH file is not read at once, because it may be long.
pub fn of_file(file: &ClipFile, kind: Kind) -> Result<SourceFacts, Error> {
    match kind {
        Kind::Bvh => {
            Ok(SourceFacts { path: file.below.clone(), sha256: hash::of_file(&file.path)?, buffers: Vec::new() })
        }
        _ => of_bytes(file, kind, &regular_file::read(&file.path)?),
    }
}
