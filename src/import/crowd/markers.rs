//! Sync markers of clips.

use std::collections::HashSet;

use crate::import::crowd::PosedFile;
use crate::import::crowd::document::Document;
use crate::import::crowd::layers::find_clip;
use crate::import::{Fault, JsonPath};
use crate::model::{Library, markers_fault};

/// Sets the sync markers of clips that a crowd file names.
pub(super) fn set(library: &mut Library, document: &Document, files: &[PosedFile]) -> Result<(), Fault> {
    let mut clips = HashSet::new();
    for (index, entry) in document.markers.iter().enumerate() {
        let path = JsonPath::top("markers", index);
        let file = files.get(entry.file);
        let file = file.ok_or_else(|| Fault::index(path.field("file"), entry.file, "files", files.len()))?;
        let clip = find_clip(library, &path, &entry.clip, &file.asset)?;
        if !clips.insert(clip) {
            let reason = format!("clip {} has markers already; name each clip once", entry.clip);
            return Err(Fault::new(path.field("clip"), reason));
        }
        let times = || path.field("times");
        if entry.times.is_empty() {
            return Err(Fault::new(times(), "the list is empty; give at least one time"));
        }
        if let Some(reason) = markers_fault(&entry.times, library.clip(clip).duration()) {
            return Err(Fault::new(times(), reason));
        }
        let set = library.set_markers(clip, entry.times.clone());
        set.map_err(|error| Fault::new(times(), error.to_string()))?;
    }
    Ok(())
}
