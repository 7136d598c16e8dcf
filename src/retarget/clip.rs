//! The retargeting of one clip.

use std::sync::Arc;

use glam::DVec3;

use crate::error::Error;
use crate::model::{Clip, ClipId, Curve, Interpolation, RootMotion, RootRotation, Target, Timeline, Track};
use crate::retarget::key_budget::KeyBudget;
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::plan::Plan;
use crate::retarget::report::{DropReason, DroppedTrack, LossReason, LostRootMotion, RetargetedClip, RetargetedTrack};
use crate::retarget::root;
use crate::retarget::rotations::Rotations;

/// The largest sine of the angle between axes of two skeletons that count as the same.
const MOST_SLOPE: f64 = 1e-4;

/// Makes a clip. Its id in the report is that of the original.
pub(super) fn retarget(plan: &Plan, id: ClipId, budget: &mut KeyBudget) -> Result<(Clip, RetargetedClip), Error> {
    let clip = plan.library.clip(id);
    let source = MovingJoints::new(plan.library, plan.source, clip);
    let mut rotations = Rotations::new(plan, clip, &source, budget)?;
    let moved = match &plan.root {
        Some(root) => root::make(plan, root, clip, &source, &mut rotations, budget)
            .map_err(|error| Part::Translation.fault(clip, plan.target, root.target, error))?,
        None => None,
    };
    let (made, used) = rotations.into_tracks();
    let made: Vec<_> = moved.into_iter().chain(made.into_iter().flatten()).collect();
    let report = made.iter().map(|made| RetargetedTrack { target: made.track.target, method: made.method }).collect();
    let dropped = (0..clip.tracks.len()).filter(|&track| !used[track]).map(|track| {
        let target = clip.tracks[track].target;
        DroppedTrack { track, target, reason: reason(target) }
    });
    let tracks: Vec<Track> = made.into_iter().map(|made| made.track).collect();
    let (root_motion, lost_root_motion) = root_motion(plan, clip, &tracks);
    let dropped = dropped.collect();
    let report = RetargetedClip { clip: id, source: id, tracks: report, dropped, lost_root_motion };
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

/// The root joint of a clip in the target, whose tracks are these, and what is lost of its root motion.
fn root_motion(plan: &Plan, clip: &Clip, tracks: &[Track]) -> (Option<RootMotion>, Option<LostRootMotion>) {
    let Some(root) = clip.root_motion else { return (None, None) };
    let lost = |reason: LossReason| Some(LostRootMotion { joint: root.joint, reason });
    match mapped(plan, root) {
        Err(reason) => (None, lost(reason)),
        Ok(mapped) => {
            let along = RootMotion { rotation: RootRotation::None, ..root };
            let moves = |track: &Track| !track.curve.is_constant() && along.is_moved_by(std::slice::from_ref(track));
            let is_moved = tracks.iter().any(|track| track.target == Target::Translation(mapped.joint));
            let is_lost = clip.tracks.iter().any(moves) && !is_moved;
            (Some(mapped), if is_lost { lost(LossReason::Translation) } else { None })
        }
    }
}

/// The root joint in the target, with the axes that have the directions of those of the source.
fn mapped(plan: &Plan, root: RootMotion) -> Result<RootMotion, LossReason> {
    let joint = plan.target_of[root.joint].ok_or(LossReason::Unmapped)?;
    let mut mapped = RootMotion { joint, translation: [false; 3], rotation: root.rotation };
    let [from, to] = [root.space(plan.source), mapped.space(plan.target)]
        .map(|space| [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| space.transform_vector3(axis).try_normalize()));
    for (axis, _) in from.iter().zip(root.translation).filter(|(_, is_wanted)| *is_wanted) {
        let axis = axis.ok_or(LossReason::Axes)?;
        let same = to.iter().position(|other| other.is_some_and(|other| axis.cross(other).length() <= MOST_SLOPE));
        mapped.translation[same.ok_or(LossReason::Axes)?] = true;
    }
    // The twist of a yaw is about the vertical axis of both.
    Ok(mapped)
}

/// A curve that holds one value.
pub(super) fn single_key(numbers: Vec<f64>) -> Result<Curve, Error> {
    Curve::new(Arc::new(Timeline::new(vec![0.0])?), Interpolation::Step, numbers.len(), numbers)
}
