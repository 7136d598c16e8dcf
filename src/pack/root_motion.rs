//! Root joints of clips.

use crate::model::{RootMotion, RootRotation, Skeleton};
use crate::pack::arrays::Arrays;
use crate::pack::record::{ROOT_FULL, ROOT_X, ROOT_Y, ROOT_YAW, ROOT_Z, Root};

/// Packs a root joint, and gives the place of its record in the words.
pub fn pack_root(arrays: &mut Arrays, skeleton: &Skeleton, root: RootMotion) -> u32 {
    let axes = [ROOT_X, ROOT_Y, ROOT_Z].into_iter().zip(root.translation);
    let axes: u32 = axes.filter(|(_, moves)| *moves).map(|(axis, _)| axis).sum();
    let rotation = match root.rotation {
        RootRotation::None => 0,
        RootRotation::Yaw => ROOT_YAW,
        RootRotation::Full => ROOT_FULL,
    };
    let [up_x, up_y, up_z] = root.up(skeleton).as_vec3().to_array();
    arrays.push_records(&[Root { joint: root.joint as u32, moves: axes | rotation, up_x, up_y, up_z }])
}
