//! Root joints of clips.

use std::collections::HashSet;

use crate::import::Warning;
use crate::import::crowd::PosedFile;
use crate::import::crowd::document::Document;
use crate::import::crowd::groups::{find_clip, list};
use crate::import::fault::Fault;
use crate::model::{Library, RootMotion};

/// Gives clips of the files the root joints that a crowd file names. Warns of those that the clips do not move.
pub(super) fn set(library: &mut Library, document: &Document, files: &[PosedFile]) -> Result<Vec<Warning>, Fault> {
    let mut clips = HashSet::new();
    let mut warnings = Vec::new();
    for (index, entry) in document.roots.iter().enumerate() {
        let path = format!("roots[{index}]");
        let file = files.get(entry.file);
        let file = file.ok_or_else(|| Fault::index(format_args!("{path}.file"), entry.file, "files", files.len()))?;
        let clip = find_clip(library, &path, &entry.clip, &file.asset)?;
        if !clips.insert(clip) {
            let reason = format!("clip {} has a root already", entry.clip);
            return Err(Fault::new(format_args!("{path}.clip"), reason));
        }
        let joints = library.skeleton(file.asset.skeleton).joints();
        let name = |joint: usize| joints[joint].name.as_deref();
        let found = file.asset.joints.iter().copied().find(|&joint| name(joint) == Some(&entry.joint));
        let joint = found.ok_or_else(|| {
            let names: Vec<_> = file.asset.joints.iter().filter_map(|&joint| name(joint)).collect();
            let reason = format!("{} has no node {:?}, but: {}", file.asset.file.display(), entry.joint, list(&names));
            Fault::new(format_args!("{path}.joint"), reason)
        })?;
        let root = RootMotion { joint, translation: entry.translation, rotation: entry.rotation.into() };
        let set = library.set_root_motion(clip, Some(root));
        set.map_err(|error| Fault::new(format_args!("{path}.joint"), error.to_string()))?;
        if !root.is_moved_by(&library.clip(clip).tracks) {
            let (clip, joint) = (&entry.clip, &entry.joint);
            let message =
                format!("clip {clip} has no track for what of {joint:?} is to move instances; they stay in place");
            warnings.push(Warning { path: format!("{path}.joint"), message });
        }
    }
    Ok(warnings)
}
