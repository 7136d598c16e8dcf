//! The retargeting of one clip.

use std::sync::Arc;

use glam::DVec3;

use crate::error::Error;
use crate::model::{Clip, ClipId, Curve, Interpolation, RootMotion, RootRotation, Target, Timeline};
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::plan::Plan;
use crate::retarget::report::{DropReason, DroppedTrack, RetargetedClip, RetargetedTrack};
use crate::retarget::root;
use crate::retarget::rotations::Rotations;

/// The largest sine of the angle between axes of two skeletons that count as the same.
const MOST_SLOPE: f64 = 1e-4;

/// Makes a clip. Its id in the report is that of the original.
pub(super) fn retarget(plan: &Plan, id: ClipId) -> Result<(Clip, RetargetedClip), Error> {
    let clip = plan.library.clip(id);
    let source = MovingJoints::new(plan.library, plan.source, clip);
    let mut rotations = Rotations::new(plan, clip, &source)?;
    let moved = plan.root.as_ref();
    let moved = moved.map(|root| root::make(plan, root, clip, &source, &mut rotations)).transpose()?.flatten();
    let (made, used) = rotations.into_tracks();
    let made: Vec<_> = moved.into_iter().chain(made.into_iter().flatten()).collect();
    let report = made.iter().map(|made| RetargetedTrack { target: made.track.target, method: made.method }).collect();
    let dropped = (0..clip.tracks.len()).filter(|&track| !used[track]).map(|track| {
        let target = clip.tracks[track].target;
        DroppedTrack { track, target, reason: reason(target) }
    });
    let root_motion = clip.root_motion.and_then(|root| root_motion(plan, root));
    let report = RetargetedClip {
        clip: id,
        source: id,
        tracks: report,
        dropped: dropped.collect(),
        lost_root_motion: clip.root_motion.is_some() && root_motion.is_none(),
    };
    let tracks = made.into_iter().map(|made| made.track).collect();
    let mut retargeted = Clip { skeleton: plan.map.target, tracks, root_motion, ..clip.clone() };
    let duration = clip.duration();
    // A track that was dropped may have been the longest.
    if retargeted.duration() != duration {
        retargeted.length = Some(duration);
    }
    Ok((retargeted, report))
}

fn reason(target: Target) -> DropReason {
    match (target, Part::of(target)) {
        (_, Some((_, Part::Translation))) => DropReason::Translation,
        (_, Some((_, Part::Rotation))) => DropReason::Unmapped,
        (_, Some((_, Part::Scale))) => DropReason::Scale,
        (Target::Weights(_), None) => DropReason::Weights,
        (_, None) => DropReason::Property,
    }
}

/// The root joint in the target, with the axes that have the directions of those of the source. `None` if it is not mapped, or if
/// no axes have these directions.
fn root_motion(plan: &Plan, root: RootMotion) -> Option<RootMotion> {
    let joint = plan.target_of[root.joint]?;
    let mut mapped = RootMotion { joint, translation: [false; 3], rotation: root.rotation };
    let [from, to] = [root.space(plan.source), mapped.space(plan.target)]
        .map(|space| [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| space.transform_vector3(axis).try_normalize()));
    for (axis, _) in from.iter().zip(root.translation).filter(|(_, is_wanted)| *is_wanted) {
        let axis = (*axis)?;
        let same = to.iter().position(|other| other.is_some_and(|other| axis.cross(other).length() <= MOST_SLOPE));
        mapped.translation[same?] = true;
    }
    // The twist of a yaw is about the vertical axis of both.
    (mapped.translation.contains(&true) || root.rotation != RootRotation::None || root.translation == [false; 3])
        .then_some(mapped)
}

/// A curve that holds one value.
pub(super) fn single_key(numbers: Vec<f64>) -> Result<Curve, Error> {
    Curve::new(Arc::new(Timeline::new(vec![0.0])?), Interpolation::Step, numbers.len(), numbers)
}
