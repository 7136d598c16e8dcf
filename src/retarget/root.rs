//! The translation track of the root.
//!
//! The root of the target is at `t0 + k (s(t) - s0)` in model space. If nothing above it moves on either side, its local translation
//! is an affine function of that of its partner.

use glam::{DAffine3, DMat3, DVec3};

use crate::error::Error;
use crate::model::{Clip, Curve, Interpolation, Target, Track, Transform};
use crate::retarget::clip::single_key;
use crate::retarget::key_budget::KeyBudget;
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::plan::{Plan, Root};
use crate::retarget::report::TrackMethod;
use crate::retarget::resample::{Knots, Motion, resample};
use crate::retarget::rotations::{MadeTrack, Rotations};

/// The part of the rig's size up to which two places count as the same.
const ROUNDING: f64 = 1e-12;

/// Makes the track of the root. `None` if it keeps its rest translation.
pub(super) fn make(
    plan: &Plan,
    root: &Root,
    clip: &Clip,
    source: &MovingJoints,
    rotations: &mut Rotations,
    budget: &mut KeyBudget,
) -> Result<Option<MadeTrack>, Error> {
    let (knots, moves_above) = knots(plan, root, clip, source, rotations);
    let path = RootPath::new(plan, root, source, rotations);
    let made = match source.tracks(root.source, Part::Translation) {
        [] if !moves_above => path.held()?,
        [(_, track)] if !moves_above && track.component.is_none() => {
            Some((path.transformed(&track.curve)?, TrackMethod::Exact))
        }
        _ => Some(path.sampled(knots, budget)?),
    };
    Ok(made.map(|(curve, method)| MadeTrack { track: Track::new(Target::Translation(root.target), curve), method }))
}

/// The times at which the place of the root may have a kink or a jump, and true if a joint above it moves on either side.
fn knots(plan: &Plan, root: &Root, clip: &Clip, source: &MovingJoints, rotations: &mut Rotations) -> (Knots, bool) {
    let (mut knots, mut moves_above) = (Knots::default(), false);
    let parts_above = plan.source.ancestors(root.source).flat_map(|joint| Part::ALL.map(|part| (joint, part)));
    for &(index, track) in parts_above.flat_map(|(joint, part)| source.tracks(joint, part)) {
        rotations.used[index] = true;
        if !track.curve.is_constant() {
            moves_above = true;
            knots.add(&track.curve, clip.length);
        }
    }
    for curve in plan.target.ancestors(root.target).filter_map(|joint| rotations.curve(joint)) {
        if !curve.is_constant() {
            moves_above = true;
            knots.add(curve, clip.length);
        }
    }
    for &(index, track) in source.tracks(root.source, Part::Translation) {
        rotations.used[index] = true;
        knots.add(&track.curve, clip.length);
    }
    (knots, moves_above)
}

/// The way of the root of the target, after that of its partner.
struct RootPath<'a> {
    plan: &'a Plan<'a>,
    root: &'a Root,
    source: &'a MovingJoints<'a>,
    rotations: &'a Rotations<'a>,
    /// The joints above, the uppermost last.
    above_source: Vec<usize>,
    above_target: Vec<usize>,
}

impl<'a> RootPath<'a> {
    fn new(plan: &'a Plan<'a>, root: &'a Root, source: &'a MovingJoints<'a>, rotations: &'a Rotations<'a>) -> Self {
        let above_source = plan.source.ancestors(root.source).collect();
        let above_target = plan.target.ancestors(root.target).collect();
        Self { plan, root, source, rotations, above_source, above_target }
    }

    /// The matrix of the parent in the source at a time.
    fn source_space(&self, time: f64) -> DAffine3 {
        let locals = self.above_source.iter().rev().map(|&joint| self.source.matrix(joint, time));
        locals.fold(DAffine3::IDENTITY, |above, local| above * local)
    }

    /// The matrix of the parent in the target at a time. It has an inverse, because the plan has no other roots.
    fn target_space(&self, time: f64) -> DAffine3 {
        let local = |joint: usize| {
            let node = &self.plan.target.joints()[joint];
            let turned = || Transform { rotation: self.rotations.local(joint, time), ..node.rest };
            node.matrix.unwrap_or_else(|| turned().to_affine())
        };
        self.above_target.iter().rev().fold(DAffine3::IDENTITY, |above, &joint| above * local(joint))
    }

    /// The place in the target, in model space, for a place in the source.
    fn place(&self, place: DVec3) -> DVec3 {
        let start = self.plan.reference.matrices[self.root.source].translation;
        self.plan.rest.matrices[self.root.target].translation + self.root.scale * (place - start)
    }

    /// The local translation at a time.
    fn local(&self, time: f64) -> DVec3 {
        let found = self.source_space(time).transform_point3(self.source.translation(self.root.source, time));
        self.target_space(time).inverse().transform_point3(self.place(found))
    }

    /// The curve of a root that stands still. `None` if it does so at rest.
    fn held(&self) -> Result<Option<(Curve, TrackMethod)>, Error> {
        let (found, rest) = (self.local(0.0), self.plan.target.joints()[self.root.target].rest.translation);
        if found.distance(rest) <= 1e-9 * self.plan.target_size {
            return Ok(None);
        }
        Ok(Some((single_key(found.to_array().to_vec())?, TrackMethod::Constant)))
    }

    /// The curve of a root above which nothing moves.
    fn transformed(&self, curve: &Curve) -> Result<Curve, Error> {
        let (from, to) = (self.source_space(0.0), self.target_space(0.0).inverse());
        let linear = self.root.scale * (to.matrix3 * from.matrix3);
        let offset = to.transform_point3(self.place(from.translation));
        transformed(curve, linear, offset, self.plan.target_size)
    }

    /// The curve through samples.
    fn sampled(&self, knots: Knots, budget: &mut KeyBudget) -> Result<(Curve, TrackMethod), Error> {
        let size = self.plan.target_size;
        let motion = Motion {
            value: &|time| self.local(time),
            error: &|time, found: DVec3, wanted| {
                self.target_space(time).transform_vector3(found - wanted).length() / size
            },
            bound: self.plan.options.translation_bound,
        };
        let resampled = resample(knots, &motion, budget)?;
        let method = TrackMethod::Resampled { keys: resampled.curve.timeline().len(), error: resampled.error };
        Ok((resampled.curve, method))
    }
}

/// A curve of translations with each key mapped by an affine function, and each tangent by its linear part.
fn transformed(curve: &Curve, linear: DMat3, offset: DVec3, size: f64) -> Result<Curve, Error> {
    if linear.abs_diff_eq(DMat3::IDENTITY, ROUNDING) && offset.abs().max_element() <= ROUNDING * size {
        return Ok(curve.clone());
    }
    let is_value = |element: usize| curve.interpolation() != Interpolation::CubicSpline || element % 3 == 1;
    let map = |(element, numbers): (usize, &[f64])| {
        let turned = linear * DVec3::from_slice(numbers);
        (if is_value(element) { turned + offset } else { turned }).to_array()
    };
    curve.with_values(curve.interpolation(), 3, curve.values().chunks_exact(3).enumerate().flat_map(map).collect())
}
