//! Sampling of tracks that glTF cannot hold key by key.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::compress::rig_size;
use crate::error::Error;
use crate::model::{Clip, Curve, CurveEasing, Extrapolation, Interpolation, Skeleton, Timeline};
use crate::reference::hierarchy;
use crate::reference::values::Values;
use crate::retarget::key_budget::KeyBudget;
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::resample::{Knots, Motion, resample};
use crate::retarget::rotations::angle;

/// The largest error of sampled rotations in radians, of translations as a share of the rig's size, and of scales as a share of the
/// largest scale of the tracks.
const BOUND: f64 = 1e-4;

/// A clip whose tracks are sampled.
pub(super) struct Sampling<'a> {
    clip: &'a Clip,
    skeleton: &'a Skeleton,
    joints: &'a MovingJoints<'a>,
    /// The model matrix of each joint at rest.
    rest: Vec<DAffine3>,
    size: f64,
}

impl<'a> Sampling<'a> {
    pub fn new(clip: &'a Clip, skeleton: &'a Skeleton, joints: &'a MovingJoints<'a>) -> Self {
        let rest = hierarchy::model(skeleton, &Values::at_rest(skeleton).local);
        Self { clip, skeleton, joints, rest, size: rig_size(skeleton) }
    }

    /// A curve through samples of the tracks of a part of a joint.
    pub fn curve(&self, joint: usize, part: Part, budget: &mut KeyBudget) -> Result<Curve, Error> {
        let mut knots = Knots::default();
        for (_, track) in self.joints.tracks(joint, part) {
            knots.add(&track.curve, self.clip.length);
        }
        knots.clamp(0.0, self.clip.duration());
        let sampled = match part {
            Part::Rotation => {
                let value = |time| self.joints.rotation(joint, self.clip.keep(time));
                let error = |_, one: DQuat, other: DQuat| angle(one, other);
                resample(knots, &Motion { value: &value, error: &error, bound: BOUND }, budget)
            }
            Part::Translation => {
                let value = |time| self.joints.translation(joint, self.clip.keep(time));
                let space = self.space(joint);
                let error = |_, one: DVec3, other: DVec3| (space * (one - other)).length() / self.size;
                resample(knots, &Motion { value: &value, error: &error, bound: BOUND }, budget)
            }
            Part::Scale => {
                let value = |time| self.joints.scale(joint, self.clip.keep(time));
                let largest = self.largest(joint, part);
                let error = |_, one: DVec3, other: DVec3| one.distance(other) / largest;
                resample(knots, &Motion { value: &value, error: &error, bound: BOUND }, budget)
            }
        };
        sampled.map(|sampled| sampled.curve).map_err(|error| part.fault(self.clip, self.skeleton, joint, error))
    }

    /// The matrix from the parent of a joint to model space at rest. The identity if it has no inverse: where the parent is flat at rest, an
    /// error of 0 would say nothing.
    fn space(&self, joint: usize) -> DMat3 {
        let parent = self.skeleton.joints()[joint].parent;
        let space = parent.map_or(DMat3::IDENTITY, |parent| self.rest[parent].matrix3);
        if space.determinant() == 0.0 { DMat3::IDENTITY } else { space }
    }

    /// The largest number of the tracks of a part of a joint, at least 1e-6.
    fn largest(&self, joint: usize, part: Part) -> f64 {
        let numbers = self.joints.tracks(joint, part).iter().flat_map(|(_, track)| track.curve.values());
        numbers.map(|number| number.abs()).fold(1e-6, f64::max)
    }
}

/// True if glTF can hold a curve of a clip key by key.
pub(super) fn fits(clip: &Clip, curve: &Curve) -> bool {
    let timeline = curve.timeline();
    let times = timeline.times();
    matches!(curve.interpolation(), Interpolation::Step | Interpolation::Linear | Interpolation::CubicSpline)
        && matches!(curve.easing(), CurveEasing::None)
        && (curve.extrapolation() == [Extrapolation::Clamp; 2] || times.len() == 1)
        && timeline.window() == 0.0
        && times[0] >= 0.0
        && times.windows(2).all(|pair| (pair[0] as f32) < pair[1] as f32)
        && clip.length.is_none_or(|length| timeline.last() <= length)
}

/// A curve, with keys at 0 and at the end of its clip if it is constant and has keys beyond. They would make the animation longer.
pub(super) fn shortened(clip: &Clip, curve: &Curve) -> Result<Curve, Error> {
    let Some(length) = clip.length.filter(|&length| curve.timeline().last() > length && curve.is_constant()) else {
        return Ok(curve.clone());
    };
    let times = if length > 0.0 { vec![0.0, length] } else { vec![0.0] };
    let values = curve.value(0).repeat(times.len());
    Curve::new(Arc::new(Timeline::new(times)?), Interpolation::Step, curve.width(), values)
}
