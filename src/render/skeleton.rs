//! Bones: what of a skeleton is seen.

use glam::DAffine3;

use crate::model::{Library, Skeleton, SkeletonId};

/// The joints at both ends of each bone that is drawn, and each joint that is drawn twice: those of the skins; all joints of a
/// skeleton that has none.
pub(super) fn bones(library: &Library, id: SkeletonId) -> Vec<[u32; 2]> {
    let joints = library.skeleton(id).joints();
    let mut drawn = vec![false; joints.len()];
    for (_, skin) in library.skins_of(id) {
        skin.joints.iter().for_each(|&joint| drawn[joint] = true);
    }
    if !drawn.contains(&true) {
        drawn.fill(true);
    }
    let mut ends = Vec::new();
    for (index, joint) in joints.iter().enumerate().filter(|(index, _)| drawn[*index]) {
        ends.push([index as u32; 2]);
        ends.extend(joint.parent.filter(|&parent| drawn[parent]).map(|parent| [parent as u32, index as u32]));
    }
    ends
}

/// The model matrices of the rest pose.
pub(super) fn rest(skeleton: &Skeleton) -> Vec<DAffine3> {
    let mut rest: Vec<DAffine3> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let local = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        rest.push(joint.parent.map_or(local, |parent| rest[parent] * local));
    }
    rest
}
