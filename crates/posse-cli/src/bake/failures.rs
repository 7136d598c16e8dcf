//! The inputs that could not be baked, and the file that lists them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use posse::Error;
use serde::Serialize;

use crate::bake::draft::DraftTag;

/// An input that could not be baked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The path of the file or folder.
    pub path: String,
    /// The name of the clip; `None` if the whole file failed.
    pub clip: Option<String>,
    /// The fault.
    pub message: String,
}

/// Writes the failures of a share, one JSON object per line. Without failures, removes the file of an earlier run.
pub fn write(out: &Path, share: u32, failures: &[Failure], tag: &DraftTag) -> Result<(), Error> {
    let place = out.join(format!("failed-{share:05}.jsonl"));
    if failures.is_empty() {
        return match fs::remove_file(&place) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Io { file: place, source }),
            _ => Ok(()),
        };
    }
    let mut draft = tag.create(&place)?;
    for failure in failures {
        let line = serde_json::to_string(failure).map_err(|error| draft.error(error))?;
        writeln!(draft, "{line}").map_err(|error| draft.error(error))?;
    }
    draft.keep().map(drop)
}
