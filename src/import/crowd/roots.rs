//! Root joints of clips.

use std::collections::HashSet;

use crate::import::crowd::PosedFile;
use crate::import::crowd::document::Document;
use crate::import::crowd::layers::find_clip;
use crate::import::{Fault, JsonPath, Warning, list_names};
use crate::model::{Library, RootMotion};

/// Sets the root joints of clips that a crowd file names. Warns of root joints that their clips do not move.
pub(super) fn set(library: &mut Library, document: &Document, files: &[PosedFile]) -> Result<Vec<Warning>, Fault> {
    let mut clips = HashSet::new();
    let mut warnings = Vec::new();
    for (index, entry) in document.roots.iter().enumerate() {
        let path = JsonPath::top("roots", index);
        let file = files.get(entry.file);
        let file = file.ok_or_else(|| Fault::index(path.field("file"), entry.file, "files", files.len()))?;
        let clip = find_clip(library, &path, &entry.clip, &file.asset)?;
        if !clips.insert(clip) {
            let reason = format!("clip {} has a root joint already; name each clip once", entry.clip);
            return Err(Fault::new(path.field("clip"), reason));
        }
        let joints = library.skeleton(file.asset.skeleton).joints();
        let name = |joint: usize| joints[joint].name.as_deref();
        let found = file.asset.joints.iter().copied().find(|&joint| name(joint) == Some(&entry.joint));
        let joint = found.ok_or_else(|| {
            let names: Vec<_> = file.asset.joints.iter().filter_map(|&joint| name(joint)).collect();
            let reason =
                format!("{} has no node {:?}; it has: {}", file.asset.file.display(), entry.joint, list_names(&names));
            Fault::new(path.field("joint"), reason)
        })?;
        let root = RootMotion { joint, translation: entry.translation, rotation: entry.rotation.into() };
        let set = library.set_root_motion(clip, Some(root));
        set.map_err(|error| Fault::new(path.field("joint"), error.to_string()))?;
        if !root.is_moved_by(&library.clip(clip).tracks) {
            let (clip, joint) = (&entry.clip, &entry.joint);
            let message =
                format!("clip {clip} has no track of {joint:?} that could move instances; they stay in place");
            warnings.push(Warning { path: path.field("joint").to_string(), message });
        }
    }
    Ok(warnings)
}
