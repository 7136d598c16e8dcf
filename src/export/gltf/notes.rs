//! Notes on the parts of a clip that glTF cannot hold.

use crate::model::{Clip, Skeleton, WrapMode};

/// A note for each part of a clip, its tracks aside, that glTF cannot hold.
pub(super) fn notes(clip: &Clip, skeleton: &Skeleton) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |note: String| notes.push(format!("clip {}: glTF has no {note}", clip.label()));
    if !clip.events.is_empty() {
        add(format!("events; {} are left out", clip.events.len()));
    }
    if !clip.markers.is_empty() {
        add(format!("sync markers; {} are left out", clip.markers.len()));
    }
    if let Some(root) = clip.root_motion {
        let joint = skeleton.joint_name(root.joint);
        add(format!("root motion; that of {joint} is left out, and {joint} keeps its movement"));
    }
    if clip.speed != 1.0 {
        add(format!("speed of animations; that of the clip, {}, is left out", clip.speed));
    }
    if clip.wrap != WrapMode::Default {
        add(format!("wrap modes; that of the clip, {}, is left out", clip.wrap.name()));
    }
    notes
}
