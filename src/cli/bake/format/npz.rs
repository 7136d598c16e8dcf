//! The format npz.

use std::path::Path;

use posse::Error;

use crate::cli::bake::draft::Draft;
use crate::cli::bake::facts::StoredFacts;
use crate::cli::bake::format::{ClipHead, ClipWriter, NpzLayout};

/// Begins the file of a clip.
pub fn begin<'a>(_head: ClipHead<'a>, _draft: Draft, _layout: NpzLayout) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    Err(Error::Usage("--format npz is not there yet".into()))
}

/// The facts of a file.
pub fn read_facts(_file: &Path) -> Result<StoredFacts, Error> {
    Err(Error::Usage("--format npz is not there yet".into()))
}
