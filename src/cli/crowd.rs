//! Crowd files, as the commands load them.

use std::path::Path;

use posse::import::crowd::{self, CrowdFile};
use posse::{Error, Library};

use crate::cli::output::note;

/// Reads a crowd file and the glTF files that it names, their warnings going to stderr.
pub fn load(library: &mut Library, path: &Path) -> Result<CrowdFile, Error> {
    let file = crowd::load(library, path)?;
    for warning in &file.warnings {
        note(&format!("warning: {}: {warning}", path.display()));
    }
    for (index, posed) in file.files.iter().enumerate() {
        // Files of the same name are read once.
        if file.files[..index].iter().all(|other| other.name != posed.name) {
            for warning in &posed.asset.warnings {
                note(&format!("warning: {}: {warning}", posed.asset.file.display()));
            }
        }
    }
    Ok(file)
}
