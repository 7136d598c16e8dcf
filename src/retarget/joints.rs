//! The joints of a skeleton among its nodes.

use crate::model::{Library, SkeletonId};

/// True for each node that a skin names or that lies between two such nodes; for all nodes of a skeleton without skins.
pub(super) fn are_joints(library: &Library, id: SkeletonId) -> Vec<bool> {
    let skeleton = library.skeleton(id);
    let nodes = skeleton.joints();
    let mut in_skin = vec![false; nodes.len()];
    library.skins_of(id).flat_map(|(_, skin)| &skin.joints).for_each(|&joint| in_skin[joint] = true);
    if !in_skin.contains(&true) {
        return vec![true; nodes.len()];
    }
    // A node is between two joints if one is above it, and one below.
    let (mut is_below, mut is_above) = (vec![false; nodes.len()], in_skin.clone());
    for (node, joint) in nodes.iter().enumerate() {
        is_below[node] = joint.parent.is_some_and(|parent| in_skin[parent] || is_below[parent]);
    }
    for (node, joint) in nodes.iter().enumerate().rev() {
        if let Some(parent) = joint.parent {
            is_above[parent] |= is_above[node];
        }
    }
    (0..nodes.len()).map(|node| in_skin[node] || is_below[node] && is_above[node]).collect()
}
