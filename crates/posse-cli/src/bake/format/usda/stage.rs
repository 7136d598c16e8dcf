//! The head of a USD file, and its last line.

use std::io::{Seek, Write};

use posse::Error;

use super::text::Quoted;
use crate::draft::Draft;

/// The head of a file.
pub struct Stage<'a> {
    /// The facts as JSON.
    pub facts: Option<&'a str>,
    /// The prim that others refer to.
    pub root: &'a str,
    pub fps: f64,
    pub frames: u64,
    /// `y` or `z`.
    pub up: &'a str,
}

impl Stage<'_> {
    /// Writes the head, up to the first prim.
    pub fn write(&self, draft: &mut Draft) -> Result<(), Error> {
        let Self { root, fps, up, .. } = self;
        let facts = self
            .facts
            .map(|facts| format!("    customLayerData = {{\n        string posse = {}\n    }}\n", Quoted(facts)));
        let (facts, last, up) = (facts.unwrap_or_default(), self.frames.saturating_sub(1), up.to_uppercase());
        let head = format!(
            "#usda 1.0\n(\n{facts}    defaultPrim = \"{root}\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n    \
             metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n"
        );
        draft.write_all(head.as_bytes()).map_err(|error| draft.error(error))
    }
}

/// Writes the last line, which states the number of bytes before it. A reader finds with it that a file has lost its end.
pub fn write_end(draft: &mut Draft) -> Result<(), Error> {
    let written = draft.stream_position().and_then(|bytes| writeln!(draft, "# bytes before this line: {bytes}"));
    written.map_err(|error| draft.error(error))
}
