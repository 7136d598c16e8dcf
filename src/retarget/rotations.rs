//! The rotation tracks of a retargeted clip.
//!
//! Let `t` be a mapped joint of the target, `s` its partner, `a` the partner of the nearest mapped joint above `t`. The model-space
//! rotation of `t` is `S(t) S0^-1 T0`. That of the parent of `t` is `Sa(t) Sa0^-1 P0`, with `P0` at rest, because nothing turns between the two.
//! The local rotation of `t` is therefore `(P0^-1 Sa0) (Sa(t)^-1 S(t)) (S0^-1 T0)`. If `a` is also the nearest mapped joint above
//! `s`, and nothing moves between the two, the middle is `M s(t)` with the local rotation `s(t)` and a constant `M`.

use glam::DQuat;

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{Clip, Curve, Target, Track};
use crate::reference::sample;
use crate::retarget::key_budget::KeyBudget;
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::plan::Plan;
use crate::retarget::report::TrackMethod;
use crate::retarget::resample::{Knots, Motion, resample};

/// The angle in radians, or the difference of numbers, up to which two rotations count as the same.
const ROUNDING: f64 = 1e-12;

/// A track of a joint of the target.
pub(super) struct MadeTrack {
    pub track: Track,
    pub method: TrackMethod,
}

/// A mapped joint of the target, with the constants of its local rotation: `before Sa(t)^-1 S(t) after`.
struct MappedJoint {
    joint: usize,
    /// Its partner.
    partner: usize,
    /// The partner of the nearest mapped joint above it.
    above: Option<usize>,
    before: DQuat,
    after: DQuat,
}

impl MappedJoint {
    fn new(plan: &Plan, joint: usize, partner: usize) -> Self {
        let above = plan.mapped_above_target(joint).and_then(|above| plan.source_of[above]);
        let parent = plan.target.joints()[joint].parent;
        let before = plan.rest.rotation(parent).conjugate() * plan.reference.rotation(above);
        let after = plan.reference.rotations[partner].conjugate() * plan.rest.rotations[joint];
        Self { joint, partner, above, before, after }
    }
}

/// The rotations of the target while a clip is retargeted.
pub(super) struct Rotations<'a> {
    plan: &'a Plan<'a>,
    clip: &'a Clip,
    source: &'a MovingJoints<'a>,
    /// The track of each joint of the target that has been made.
    made: Vec<Option<MadeTrack>>,
    /// True for each joint of the target that is not exactly at the wanted rotation, because it or one above was resampled.
    is_off: Vec<bool>,
    /// The tracks of the source on which made tracks depend.
    pub used: Vec<bool>,
}

impl<'a> Rotations<'a> {
    /// Makes the tracks of all mapped joints.
    pub fn new(
        plan: &'a Plan<'a>,
        clip: &'a Clip,
        source: &'a MovingJoints<'a>,
        budget: &mut KeyBudget,
    ) -> Result<Self, Error> {
        let count = plan.target.joints().len();
        let used = vec![false; clip.tracks.len()];
        let mut rotations = Self { plan, clip, source, made: Vec::new(), is_off: Vec::with_capacity(count), used };
        for joint in 0..count {
            let is_above_off = plan.target.joints()[joint].parent.is_some_and(|parent| rotations.is_off[parent]);
            let made = match plan.source_of[joint].map(|partner| MappedJoint::new(plan, joint, partner)) {
                Some(mapped) => rotations
                    .make(&mapped, is_above_off, budget)
                    .map_err(|error| Part::Rotation.fault(clip, plan.target, joint, error))?,
                None => None,
            };
            let is_resampled =
                |made: &MadeTrack| matches!(made.method, TrackMethod::Resampled { error, .. } if error > 0.0);
            rotations.is_off.push(is_above_off || made.as_ref().is_some_and(is_resampled));
            rotations.made.push(made);
        }
        Ok(rotations)
    }

    /// The tracks, by joint of the target.
    pub fn into_tracks(self) -> (Vec<Option<MadeTrack>>, Vec<bool>) {
        (self.made, self.used)
    }

    /// The local rotation of a joint of the target at a time.
    pub fn local(&self, joint: usize, time: f64) -> DQuat {
        match self.made.get(joint).and_then(Option::as_ref) {
            Some(made) => sample::rotation(&made.track.curve, time),
            None => unit(self.plan.target.joints()[joint].rest.rotation).unwrap_or(DQuat::IDENTITY),
        }
    }

    /// The curve of a joint of the target, if it has one.
    pub fn curve(&self, joint: usize) -> Option<&Curve> {
        self.made.get(joint).and_then(Option::as_ref).map(|made| &made.track.curve)
    }

    /// Makes the track of a joint of the target. `None` if it keeps its rest rotation.
    fn make(
        &mut self,
        mapped: &MappedJoint,
        is_above_off: bool,
        budget: &mut KeyBudget,
    ) -> Result<Option<MadeTrack>, Error> {
        if let Some((before, after)) = self.factors(mapped) {
            match self.source.tracks(mapped.partner, Part::Rotation) {
                [] => {
                    let rotation = before * self.source.rotation(mapped.partner, 0.0) * after;
                    return self.constant(mapped.joint, rotation);
                }
                &[(index, track)] if matches!(track.target, Target::Rotation(_)) => {
                    if let Some(curve) = transformed(&track.curve, before, after)? {
                        self.used[index] = true;
                        let track = Track::new(Target::Rotation(mapped.joint), curve);
                        return Ok(Some(MadeTrack { track, method: TrackMethod::Exact }));
                    }
                }
                _ => {}
            }
        }
        let (up, down) = self.path(mapped.above, mapped.partner);
        let knots = self.knots(mapped, up.iter().chain(&down), is_above_off);
        let ideal =
            |time: f64| mapped.before * self.product(&up, time).conjugate() * self.product(&down, time) * mapped.after;
        if knots.is_empty() {
            return self.constant(mapped.joint, ideal(0.0));
        }
        let all: Vec<usize> =
            std::iter::once(mapped.partner).chain(self.plan.source.ancestors(mapped.partner)).collect();
        // Below a resampled joint, the errors of those above are undone.
        let compensated = |time: f64| {
            let parents: Vec<usize> = self.plan.target.ancestors(mapped.joint).collect();
            let parent = parents.iter().rev().fold(DQuat::IDENTITY, |above, &joint| above * self.local(joint, time));
            parent.conjugate() * self.product(&all, time) * mapped.after
        };
        let motion = Motion {
            value: if is_above_off { &compensated } else { &ideal },
            error: &|_, found: DQuat, wanted| angle(found, wanted),
            bound: self.plan.options.rotation_bound,
        };
        let resampled = resample(knots, &motion, budget)?;
        let method = TrackMethod::Resampled { keys: resampled.curve.timeline().len(), error: resampled.error };
        let track = Track::new(Target::Rotation(mapped.joint), resampled.curve);
        Ok(Some(MadeTrack { track, method }))
    }

    /// The constants `A` and `B` if the local rotation of a joint is `A s(t) B`, with the local rotation `s(t)` of its partner.
    fn factors(&mut self, mapped: &MappedJoint) -> Option<(DQuat, DQuat)> {
        let (plan, source) = (self.plan, self.source);
        let between: Vec<usize> =
            plan.source.ancestors(mapped.partner).take_while(|&between| Some(between) != mapped.above).collect();
        let moves = |joint: &usize| source.moves(*joint, Part::Rotation);
        if mapped.above != plan.mapped_above_source(mapped.partner) || between.iter().any(moves) {
            return None;
        }
        // What stands still may be held in another pose than that of rest. Any time will do.
        let held = between.iter().flat_map(|&joint| source.tracks(joint, Part::Rotation));
        held.for_each(|&(index, _)| self.used[index] = true);
        Some((canonical(mapped.before * self.product(&between, 0.0)), canonical(mapped.after)))
    }

    /// The times at which the rotation of a joint may have a kink or a jump. It depends on these joints of the source, and if one above
    /// it is off, on all above it in the target.
    fn knots<'b>(
        &mut self,
        mapped: &MappedJoint,
        joints: impl Iterator<Item = &'b usize>,
        is_above_off: bool,
    ) -> Knots {
        let (mut knots, source) = (Knots::default(), self.source);
        for &(index, track) in joints.flat_map(|&joint| source.tracks(joint, Part::Rotation)) {
            self.used[index] = true;
            if !track.curve.is_constant() {
                knots.add(&track.curve, self.clip.length);
            }
        }
        if is_above_off {
            let curves = self.plan.target.ancestors(mapped.joint).filter_map(|above| self.curve(above));
            curves.for_each(|curve| knots.add(curve, self.clip.length));
        }
        knots
    }

    /// The product of the local rotations of joints of the source at a time, of which the last is the uppermost.
    fn product(&self, joints: &[usize], time: f64) -> DQuat {
        joints.iter().rev().fold(DQuat::IDENTITY, |above, &joint| above * self.source.rotation(joint, time))
    }

    /// A track of one key, or `None` for the rest rotation.
    fn constant(&self, joint: usize, rotation: DQuat) -> Result<Option<MadeTrack>, Error> {
        let rest = unit(self.plan.target.joints()[joint].rest.rotation).unwrap_or(DQuat::IDENTITY);
        if angle(rotation, rest) <= 1e-9 {
            return Ok(None);
        }
        let curve = super::clip::single_key(rotation.normalize().to_array().to_vec())?;
        let track = Track::new(Target::Rotation(joint), curve);
        Ok(Some(MadeTrack { track, method: TrackMethod::Constant }))
    }

    /// The joints of the source from one joint and from another up to the nearest joint above both, each way without that joint.
    fn path(&self, from: Option<usize>, to: usize) -> (Vec<usize>, Vec<usize>) {
        let chain = |joint: usize| std::iter::once(joint).chain(self.plan.source.ancestors(joint)).collect();
        let mut up: Vec<usize> = from.map(chain).unwrap_or_default();
        let mut down: Vec<usize> = chain(to);
        while let (Some(one), Some(other)) = (up.last(), down.last())
            && one == other
        {
            up.pop();
            down.pop();
        }
        (up, down)
    }
}

/// A rotation with rounding errors near the identity removed, so that equal rigs get equal keys, and with a scalar of at least 0.
fn canonical(rotation: DQuat) -> DQuat {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation }.normalize();
    if rotation.xyz().abs().max_element() <= ROUNDING { DQuat::IDENTITY } else { rotation }
}

/// A curve of rotations with each key, and each tangent, multiplied from both sides. `None` if a key of zeros would have to be changed:
/// it counts as the identity, before and after.
fn transformed(curve: &Curve, before: DQuat, after: DQuat) -> Result<Option<Curve>, Error> {
    if before == DQuat::IDENTITY && after == DQuat::IDENTITY {
        return Ok(Some(curve.clone()));
    }
    if curve.zero_key().is_some() {
        return Ok(None);
    }
    let turn = |numbers: &[f64]| (before * DQuat::from_slice(numbers) * after).to_array();
    curve.with_values(curve.interpolation(), 4, curve.values().chunks_exact(4).flat_map(turn).collect()).map(Some)
}

/// The angle between two rotations, precise for small angles, too.
pub(crate) fn angle(one: DQuat, other: DQuat) -> f64 {
    let difference = one.conjugate() * other;
    2.0 * difference.xyz().length().atan2(difference.w.abs())
}
