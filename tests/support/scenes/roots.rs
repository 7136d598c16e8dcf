use posse::Skeleton;
use posse::curves::{Target, Track};
use posse::root_motion::{RootMotion, RootRotation};

use super::Numbers;

/// The root motion of half of all clips, if the chosen joint can be a root: mostly a joint that the clip moves.
pub fn root(numbers: &mut Numbers, skeleton: &Skeleton, tracks: &[Track]) -> Option<RootMotion> {
    let driven = tracks.iter().filter_map(|track| match track.target {
        Target::Translation(joint) | Target::Rotation(joint) | Target::EulerAngles(joint) => Some(joint),
        _ => None,
    });
    let driven: Vec<usize> = driven.collect();
    let joint = match driven.len() {
        count if count > 0 && numbers.below(4) > 0 => driven[numbers.below(count)],
        _ => numbers.below(skeleton.joints().len()),
    };
    let root = RootMotion {
        joint,
        translation: [(); 3].map(|()| numbers.below(2) == 0),
        rotation: [RootRotation::None, RootRotation::Yaw, RootRotation::Full][numbers.below(3)],
    };
    (numbers.below(2) == 0 && skeleton.joints()[joint].matrix.is_none()).then_some(root)
}
