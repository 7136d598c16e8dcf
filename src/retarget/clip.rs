//! The retargeting of one clip: its root joint, the translation track of the root, and the rotation tracks.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::{angle, unit};
use crate::model::{Clip, ClipId, Curve, Interpolation, RootMotion, RootRotation, Target, Timeline, Track, Transform};
use crate::reference::sample;
use crate::retarget::body::Figure;
use crate::retarget::joint_map::JointPair;
use crate::retarget::morphs::{MorphPlan, expression_tracks};
use crate::retarget::moving_joints::{ModelRotations, MovingJoints, TransformPart};
use crate::retarget::options::CarriedJoints;
use crate::retarget::plan::RetargetPlan;
use crate::retarget::report::{
    DropReason, DroppedTrack, LossReason, LostRootMotion, RetargetedClip, RetargetedTrack, TrackMethod,
};
use crate::retarget::resample::{KeyBudget, MotionKnots, SampledMotion, resample};
use crate::retarget::root::{Root, StillRoot};

/// The largest sine of the angle between axes of two skeletons that count as the same.
const MAX_SLOPE: f64 = 1e-4;
/// The smallest movement of a joint below the root that is missed, in lengths of a leg. Bones of captures become longer
/// and shorter by less.
const MIN_MISSED: f64 = 0.02;

/// Makes a clip. Its id in the report is the id of the original.
pub(super) fn retarget(
    plan: &RetargetPlan,
    root: Option<&Root>,
    morphs: &MorphPlan,
    id: ClipId,
    budget: &mut KeyBudget,
) -> Result<(Clip, RetargetedClip), Error> {
    let clip = plan.library.clip(id);
    let source = MovingJoints::new(plan.library, plan.source, clip);
    let mut rotations = Rotations::new(plan, clip, &source, budget)?;
    let moving = root.and_then(Root::moving);
    let (origin, ground) = moving.map_or((DVec3::ZERO, None), |root| root.origin(plan, id));
    let moved = match moving {
        Some(root) => root_track(plan, root, origin, clip, &source, &mut rotations, budget)
            .map_err(|error| TransformPart::Translation.error(clip, plan.target, root.target, error))?,
        None => None,
    };
    let (made, mut used) = rotations.into_tracks();
    let carried = carried_tracks(plan, root, clip, &source, &mut used)?;
    let of_morphs = |error: Error| Error::Usage(format!("clip {}, morph weights: {error}", clip.label()));
    let weights = morphs.weight_tracks(plan, clip, &mut used, budget).map_err(of_morphs)?;
    let mut made: Vec<_> = moved.into_iter().chain(made.into_iter().flatten()).chain(carried).collect();
    made.extend(weights.into_iter().map(|(track, method)| MadeTrack { track, method }));
    let known: HashSet<Target> = made.iter().map(|made| made.track.target).collect();
    let is_made = |target: Target| known.contains(&target);
    let expressions = expression_tracks(plan, clip, &source, is_made, &mut used, budget).map_err(of_morphs)?;
    made.extend(expressions.into_iter().map(|(track, method)| MadeTrack { track, method }));
    let report = made.iter().map(|made| RetargetedTrack { target: made.track.target, method: made.method }).collect();
    let dropped = (0..clip.tracks.len()).filter(|&track| !used[track]).map(|track| {
        let target = clip.tracks[track].target;
        let reason = if morphs.is_expression(target) { DropReason::Expression } else { reason(plan, root, target) };
        DroppedTrack { track, target, reason }
    });
    let tracks: Vec<Track> = made.into_iter().map(|made| made.track).collect();
    let (root_motion, lost_root_motion) = root_motion(plan, clip, &tracks);
    let dropped = dropped.collect();
    let report = RetargetedClip { clip: id, source: id, tracks: report, dropped, lost_root_motion, ground };
    let mut retargeted = Clip { skeleton: plan.map.target, tracks, root_motion, ..clip.clone() };
    let duration = clip.duration();
    // A track that was dropped may have been the longest.
    if retargeted.duration() != duration {
        retargeted.length = Some(duration);
    }
    Ok((retargeted, report))
}

pub(super) fn reason(plan: &RetargetPlan, root: Option<&Root>, target: Target) -> DropReason {
    let Some((joint, part)) = TransformPart::of(target) else {
        return if matches!(target, Target::Weights(_)) { DropReason::Weights } else { DropReason::Property };
    };
    if plan.target_of[joint].is_none() || part == TransformPart::Rotation {
        return DropReason::Unmapped;
    }
    let still = root.filter(|_| part == TransformPart::Translation && plan.links.moves_root(joint));
    match still.and_then(|root| root.still) {
        Some(StillRoot::Map) => DropReason::StillRoot,
        Some(StillRoot::ZeroScale(_)) => DropReason::ZeroScale,
        None if plan.options.translations == CarriedJoints::Root => DropReason::RootAlone,
        None if part == TransformPart::Scale => DropReason::Scale,
        None => DropReason::Translation,
    }
}

/// The joints of the source below the root that have partners, and that a clip moves in their parents to no effect.
pub(super) fn lost_translations(plan: &RetargetPlan, clip: &RetargetedClip) -> Vec<usize> {
    let leg = Figure::new(&plan.bodies[0], &plan.reference.matrices).leg();
    let least = MIN_MISSED * leg.unwrap_or_else(|| crate::compress::bound::rig_size(plan.source));
    let tracks = &plan.library.clip(clip.source).tracks;
    let is_lost = |dropped: &&DroppedTrack| {
        let is_place = matches!(dropped.target, Target::Translation(_)) && dropped.reason == DropReason::Translation;
        is_place && extent(&tracks[dropped.track].curve) > least
    };
    let lost = clip.dropped.iter().filter(is_lost).filter_map(|dropped| TransformPart::of(dropped.target));
    let mut joints: Vec<usize> = lost.map(|(joint, _)| joint).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}

/// The size of the box around the values of a curve.
fn extent(curve: &Curve) -> f64 {
    let range = |number: usize| {
        let values = (0..curve.timeline().len()).filter_map(|key| curve.value(key).get(number));
        let [least, most] =
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], at| [least.min(*at), most.max(*at)]);
        (most - least).max(0.0)
    };
    (0..curve.width()).map(|number| range(number).powi(2)).sum::<f64>().sqrt()
}

/// The root joint of a clip in the target, whose tracks are these, and what is lost of its root motion.
pub(super) fn root_motion(
    plan: &RetargetPlan,
    clip: &Clip,
    tracks: &[Track],
) -> (Option<RootMotion>, Option<LostRootMotion>) {
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

/// The root joint in the target, with the axes that have the directions of the axes of the source.
fn mapped(plan: &RetargetPlan, root: RootMotion) -> Result<RootMotion, LossReason> {
    let joint = plan.target_of[root.joint].ok_or(LossReason::Unmapped)?;
    let mut mapped = RootMotion { joint, translation: [false; 3], rotation: root.rotation };
    let [from, to] = [root.space(plan.source), mapped.space(plan.target)]
        .map(|space| [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| space.transform_vector3(axis).try_normalize()));
    let from = from.map(|axis| axis.map(|axis| plan.alignment.space * axis));
    for (axis, _) in from.iter().zip(root.translation).filter(|(_, is_wanted)| *is_wanted) {
        let axis = axis.ok_or(LossReason::Axes)?;
        let same = to.iter().position(|other| other.is_some_and(|other| axis.cross(other).length() <= MAX_SLOPE));
        mapped.translation[same.ok_or(LossReason::Axes)?] = true;
    }
    // The twist of a yaw is about the vertical axis of both.
    Ok(mapped)
}

/// A curve that holds one value.
fn single_key(numbers: Vec<f64>) -> Result<Curve, Error> {
    Curve::new(Arc::new(Timeline::new(vec![0.0])?), Interpolation::Step, numbers.len(), numbers)
}

// The translation track of the root.
//
// The root of the target is at `origin + k F s(t)` in model space (see `root`). If nothing above it moves on either
// side, its local translation is an affine function of the translation of its partner. With pivots, these are there,
// and the translation depends on the rotations of both roots.

/// The part of the rig's size up to which two places count as the same.
const SAME_PLACE: f64 = 1e-12;

/// Makes the track of the root. `None` if it keeps its rest translation.
fn root_track(
    plan: &RetargetPlan,
    root: &Root,
    origin: DVec3,
    clip: &Clip,
    source: &MovingJoints,
    rotations: &mut Rotations,
    budget: &mut KeyBudget,
) -> Result<Option<MadeTrack>, Error> {
    let (knots, moves_above) = knots(plan, root, clip, source, rotations);
    let path = RootPath::new(plan, root, origin, source, rotations);
    let made = match source.tracks(root.source, TransformPart::Translation) {
        [] if !moves_above => path.held()?,
        [(_, track)] if !moves_above && root.pivots.is_none() && track.component.is_none() => {
            Some((path.mapped_curve(&track.curve)?, TrackMethod::Exact))
        }
        _ => Some(path.sampled(knots, budget)?),
    };
    Ok(made.map(|(curve, method)| MadeTrack { track: Track::new(Target::Translation(root.target), curve), method }))
}

/// The times at which the place of the root may have a kink or a jump, and true if a joint above it moves on either
/// side, or the root about its pivot.
fn knots(
    plan: &RetargetPlan,
    root: &Root,
    clip: &Clip,
    source: &MovingJoints,
    rotations: &mut Rotations,
) -> (MotionKnots, bool) {
    let (mut knots, mut moves_above) = (MotionKnots::default(), false);
    let parts_above = plan.source.ancestors(root.source).flat_map(|joint| TransformPart::ALL.map(|part| (joint, part)));
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
    for &(index, track) in source.tracks(root.source, TransformPart::Translation) {
        rotations.used[index] = true;
        knots.add(&track.curve, clip.length);
    }
    if root.pivots.is_some() {
        let parts = [TransformPart::Rotation, TransformPart::Scale];
        let tracks = parts.into_iter().flat_map(|part| source.tracks(root.source, part));
        let curves = tracks.map(|(_, track)| &track.curve).chain(rotations.curve(root.target));
        for curve in curves.filter(|curve| !curve.is_constant()) {
            moves_above = true;
            knots.add(curve, clip.length);
        }
    }
    (knots, moves_above)
}

/// The path of the root of the target, after the path of its partner.
struct RootPath<'a> {
    plan: &'a RetargetPlan<'a>,
    root: &'a Root,
    source: &'a MovingJoints<'a>,
    rotations: &'a Rotations<'a>,
    /// The place in the target that belongs to the origin of the source.
    origin: DVec3,
    /// The joints above, the uppermost last.
    above_source: Vec<usize>,
    above_target: Vec<usize>,
}

impl<'a> RootPath<'a> {
    fn new(
        plan: &'a RetargetPlan<'a>,
        root: &'a Root,
        origin: DVec3,
        source: &'a MovingJoints<'a>,
        rotations: &'a Rotations<'a>,
    ) -> Self {
        let above_source = plan.source.ancestors(root.source).collect();
        let above_target = plan.target.ancestors(root.target).collect();
        Self { plan, root, source, rotations, origin, above_source, above_target }
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
            let rotated = || Transform { rotation: self.rotations.local(joint, time), ..node.rest };
            node.matrix.unwrap_or_else(|| rotated().to_affine())
        };
        self.above_target.iter().rev().fold(DAffine3::IDENTITY, |above, &joint| above * local(joint))
    }

    /// The place in the target, in model space, for a place in the source.
    fn place(&self, place: DVec3) -> DVec3 {
        self.origin + self.root.scale * (self.plan.alignment.space * place)
    }

    /// The local translation at a time.
    fn local(&self, time: f64) -> DVec3 {
        let found = match self.root.pivots {
            Some([pivot, _]) => self.source.matrix(self.root.source, time).transform_point3(pivot),
            None => self.source.translation(self.root.source, time),
        };
        let found = self.source_space(time).transform_point3(found);
        let place = self.target_space(time).inverse().transform_point3(self.place(found));
        let Some([_, pivot]) = self.root.pivots else { return place };
        let rotation = self.rotations.local(self.root.target, time);
        place - rotation * (self.plan.target.joints()[self.root.target].rest.scale * pivot)
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
    fn mapped_curve(&self, curve: &Curve) -> Result<Curve, Error> {
        let (from, to) = (self.source_space(0.0), self.target_space(0.0).inverse());
        let space = DMat3::from_quat(self.plan.alignment.space);
        let linear = self.root.scale * (to.matrix3 * space * from.matrix3);
        let offset = to.transform_point3(self.place(from.translation));
        mapped_curve(curve, linear, offset, self.plan.target_size)
    }

    /// The curve through samples.
    fn sampled(&self, knots: MotionKnots, budget: &mut KeyBudget) -> Result<(Curve, TrackMethod), Error> {
        let size = self.plan.target_size;
        let motion = SampledMotion {
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

/// A curve of three numbers with each key mapped by an affine function, and each tangent by its linear part.
pub(super) fn mapped_curve(curve: &Curve, linear: DMat3, offset: DVec3, size: f64) -> Result<Curve, Error> {
    if linear.abs_diff_eq(DMat3::IDENTITY, SAME_PLACE) && offset.abs().max_element() <= SAME_PLACE * size {
        return Ok(curve.clone());
    }
    let is_value = |element: usize| curve.interpolation() != Interpolation::CubicSpline || element % 3 == 1;
    let map = |(element, numbers): (usize, &[f64])| {
        let rotated = linear * DVec3::from_slice(numbers);
        (if is_value(element) { rotated + offset } else { rotated }).to_array()
    };
    curve.with_values(curve.interpolation(), 3, curve.values().chunks_exact(3).enumerate().flat_map(map).collect())
}

// Translations and scales of other joints.
//
// A joint whose parent is rotated as its partner's parent moves by the change of its partner:
// `T0 + k P0^-1 D F A (s(t) - s0)`, with the local translations `T0` and `s0` in the two poses that look alike, and the
// matrices `P0` and `A` of the parents in them, without translation (see `alignment` for `D` and `F`). A scale is
// multiplied by `T0 / s0`, if the axes of the joints are the same.

/// The tracks of translations and scales that are carried over.
fn carried_tracks(
    plan: &RetargetPlan,
    root: Option<&Root>,
    clip: &Clip,
    source: &MovingJoints,
    used: &mut [bool],
) -> Result<Vec<MadeTrack>, Error> {
    let mut made = Vec::new();
    let Some(root) = root else { return Ok(made) };
    for pair in plan.map.pairs.iter().filter(|pair| plan.carries(pair)) {
        for part in [TransformPart::Translation, TransformPart::Scale] {
            let is_root = root.target == pair.target;
            let tracks = source.tracks(pair.source, part);
            if is_root && part == TransformPart::Translation || tracks.is_empty() {
                continue;
            }
            let map = match part {
                TransformPart::Translation => plan.change_of_place(pair, root.scale),
                _ => plan.change_of_scale(pair),
            };
            let Some(map) = map else { continue };
            let is_same = map.abs_diff_eq(DAffine3::IDENTITY, SAME_PLACE);
            if !is_same && tracks.iter().any(|(_, track)| track.component.is_some()) {
                continue;
            }
            for &(index, track) in tracks {
                let curve = if is_same {
                    track.curve.clone()
                } else {
                    mapped_curve(&track.curve, map.matrix3, map.translation, 1.0)
                        .map_err(|error| part.error(clip, plan.target, pair.target, error))?
                };
                let target = match part {
                    TransformPart::Translation => Target::Translation(pair.target),
                    _ => Target::Scale(pair.target),
                };
                used[index] = true;
                let track = Track { target, curve, ..track.clone() };
                made.push(MadeTrack { track, method: TrackMethod::Exact });
            }
        }
    }
    Ok(made)
}

impl RetargetPlan<'_> {
    /// The map from the local translations of a joint of the source to the translations of its partner. `None` if a
    /// joint above the partner has a scale of 0.
    pub(super) fn change_of_place(&self, pair: &JointPair, scale: f64) -> Option<DAffine3> {
        let rotated = match self.source.joints()[pair.source].parent {
            Some(parent) => {
                let correction = self.alignment.corrections[parent] * self.alignment.space;
                DMat3::from_quat(correction) * self.reference.matrices[parent].matrix3
            }
            None => DMat3::from_quat(self.alignment.space),
        };
        let own = match self.target.joints()[pair.target].parent {
            Some(parent) => {
                let held = self.held_rotation(Some(parent)) * self.rest.rotations[parent].conjugate();
                DMat3::from_quat(held.normalize()) * self.rest.matrices[parent].matrix3
            }
            None => DMat3::IDENTITY,
        };
        let linear = scale * (own.inverse() * rotated);
        let [from, to] = [self.reference.local[pair.source], self.rest.local[pair.target]];
        let translation = to.translation - linear * from.translation;
        (linear.is_finite() && translation.is_finite()).then_some(DAffine3 { matrix3: linear, translation })
    }

    /// The map from the scales of a joint of the source to the scales of its partner. `None` if their axes differ.
    fn change_of_scale(&self, pair: &JointPair) -> Option<DAffine3> {
        let axes = [self.alignment.rotations[pair.source], self.rest.rotations[pair.target]];
        let [from, to] = [self.reference.local[pair.source].scale, self.rest.local[pair.target].scale];
        let factor = to / from;
        (angle(axes[0], axes[1]) <= MAX_SLOPE && factor.is_finite()).then(|| DAffine3::from_scale(factor))
    }
}

// The rotation tracks of a retargeted clip.
//
// Let `t` be a mapped joint of the target, `s` its partner, `a` the partner of the nearest mapped joint above `t`. The
// model-space rotation of `t` is `S(t) S0^-1 T0`. The rotation of the parent of `t` is `Sa(t) Sa0^-1 P0`, with `P0` at
// rest, because nothing rotates between the two. The local rotation of `t` is therefore
// `(P0^-1 Sa0) (Sa(t)^-1 S(t)) (S0^-1 T0)`. If `a` is also the nearest mapped joint above `s`, and nothing moves
// between the two, the middle is `M s(t)` with the local rotation `s(t)` and a constant `M`.

/// The angle in radians, or the difference of numbers, up to which two rotations count as the same.
const SAME_ROTATION: f64 = 1e-12;

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
    fn new(plan: &RetargetPlan, joint: usize, partner: usize) -> Self {
        let above = plan.mapped_above_target(joint).and_then(|above| plan.source_of[above]);
        let parent = plan.target.joints()[joint].parent;
        let above_it = above.map_or(plan.alignment.space, |above| plan.alignment.rotations[above]);
        let before = plan.held_rotation(parent).conjugate() * above_it;
        let after = plan.alignment.rotations[partner].conjugate() * plan.rest.rotations[joint];
        Self { joint, partner, above, before, after }
    }
}

/// The rotations of the target while a clip is retargeted.
pub(super) struct Rotations<'a> {
    plan: &'a RetargetPlan<'a>,
    clip: &'a Clip,
    source: &'a MovingJoints<'a>,
    /// The track of each joint of the target that has been made.
    made: Vec<Option<MadeTrack>>,
    /// True for each joint of the target that is not exactly at the wanted rotation, because it or one above was
    /// resampled.
    is_off: Vec<bool>,
    /// The rotation from the nearest mapped joint above to each joint of the source without a partner. `None` if a
    /// joint of them moves.
    gaps: Vec<Option<DQuat>>,
    /// True for each joint of the source without a partner on whose gap a track depends.
    is_held: Vec<bool>,
    /// The tracks of the source on which made tracks depend.
    pub used: Vec<bool>,
    /// The number of joints from each joint of the source up to a root, both included.
    depths: Vec<usize>,
    /// The rotations of the source and of the target in model space, as far as sampled tracks need them.
    models: [RefCell<ModelRotations>; 2],
    /// The knots of the curves of a joint of the target and of all above, sorted, likewise.
    chain_knots: HashMap<usize, Rc<MotionKnots>>,
}

/// The rotations from mapped joints to the joints below that have no partner.
fn gaps(plan: &RetargetPlan, source: &MovingJoints) -> Vec<Option<DQuat>> {
    let mut gaps: Vec<Option<DQuat>> = Vec::with_capacity(plan.target_of.len());
    for (joint, node) in plan.source.joints().iter().enumerate() {
        let above = node.parent.filter(|&parent| plan.target_of[parent].is_none());
        let moves = source.moves(joint, TransformPart::Rotation);
        // Any time will do.
        let own = Some(joint).filter(|_| !moves).map(|joint| source.rotation(joint, 0.0));
        gaps.push(match above {
            Some(above) => gaps[above].zip(own).map(|(above, own)| above * own),
            None => own,
        });
    }
    gaps
}

impl<'a> Rotations<'a> {
    /// Makes the tracks of all mapped joints.
    pub fn new(
        plan: &'a RetargetPlan<'a>,
        clip: &'a Clip,
        source: &'a MovingJoints<'a>,
        budget: &mut KeyBudget,
    ) -> Result<Self, Error> {
        let count = plan.target.joints().len();
        let used = vec![false; clip.tracks.len()];
        let (gaps, is_held) = (gaps(plan, source), vec![false; plan.target_of.len()]);
        let (made, is_off) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut depths: Vec<usize> = Vec::with_capacity(is_held.len());
        for joint in plan.source.joints() {
            depths.push(joint.parent.map_or(1, |parent| depths[parent] + 1));
        }
        let (models, chain_knots) = (Default::default(), HashMap::new());
        let mut rotations = Self { plan, clip, source, made, is_off, gaps, is_held, used, depths, models, chain_knots };
        for joint in 0..count {
            let is_above_off = plan.target.joints()[joint].parent.is_some_and(|parent| rotations.is_off[parent]);
            let made = match plan.source_of[joint].map(|partner| MappedJoint::new(plan, joint, partner)) {
                Some(mapped) => rotations
                    .make(&mapped, is_above_off, budget)
                    .map_err(|error| TransformPart::Rotation.error(clip, plan.target, joint, error))?,
                None => None,
            };
            let is_resampled =
                |made: &MadeTrack| matches!(made.method, TrackMethod::Resampled { error, .. } if error > 0.0);
            rotations.is_off.push(is_above_off || made.as_ref().is_some_and(is_resampled));
            rotations.made.push(made);
        }
        rotations.use_held();
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
            match self.source.tracks(mapped.partner, TransformPart::Rotation) {
                [] => {
                    let rotation = before * self.source.rotation(mapped.partner, 0.0) * after;
                    return self.constant(mapped.joint, rotation);
                }
                &[(index, track)] if matches!(track.target, Target::Rotation(_)) => {
                    if let Some(curve) = rotated_curve(&track.curve, before, after)? {
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
        let Self { plan, source, models: [of_source, of_target], .. } = &*self;
        let parent = plan.target.joints()[mapped.joint].parent;
        // Below a resampled joint, the errors of those above are undone.
        let compensated = |time: f64| {
            let above = of_target.borrow_mut().get(plan.target, parent, time, |joint| self.local(joint, time));
            let partner = Some(mapped.partner);
            let wanted = of_source.borrow_mut().get(plan.source, partner, time, |joint| source.rotation(joint, time));
            above.conjugate() * plan.alignment.space * wanted * mapped.after
        };
        let motion = SampledMotion {
            value: if is_above_off { &compensated } else { &ideal },
            error: &|_, found: DQuat, wanted| angle(found, wanted),
            bound: plan.options.rotation_bound,
        };
        let resampled = resample(knots, &motion, budget)?;
        let method = TrackMethod::Resampled { keys: resampled.curve.timeline().len(), error: resampled.error };
        let track = Track::new(Target::Rotation(mapped.joint), resampled.curve);
        Ok(Some(MadeTrack { track, method }))
    }

    /// The constants `A` and `B` if the local rotation of a joint is `A s(t) B`, with the local rotation `s(t)` of its
    /// partner.
    fn factors(&mut self, mapped: &MappedJoint) -> Option<(DQuat, DQuat)> {
        if mapped.above != self.plan.mapped_above_source(mapped.partner) {
            return None;
        }
        let gap = self.plan.source.joints()[mapped.partner].parent.filter(|&parent| Some(parent) != mapped.above);
        let Some(gap) = gap else { return Some((canonical(mapped.before), canonical(mapped.after))) };
        // What stands still may be held in another pose than at rest.
        let held = self.gaps[gap]?;
        self.is_held[gap] = true;
        Some((canonical(mapped.before * held), canonical(mapped.after)))
    }

    /// Marks the tracks of the joints between mapped joints that made tracks depend on.
    fn use_held(&mut self) {
        for joint in (0..self.is_held.len()).rev().filter(|&joint| self.plan.target_of[joint].is_none()) {
            if self.is_held[joint] {
                let tracks = self.source.tracks(joint, TransformPart::Rotation);
                tracks.iter().for_each(|&(index, _)| self.used[index] = true);
                if let Some(parent) = self.plan.source.joints()[joint].parent {
                    self.is_held[parent] = true;
                }
            }
        }
    }

    /// The times at which the rotation of a joint may have a kink or a jump. It depends on these joints of the source,
    /// and if one above it is off, on all above it in the target.
    fn knots<'b>(
        &mut self,
        mapped: &MappedJoint,
        joints: impl Iterator<Item = &'b usize>,
        is_above_off: bool,
    ) -> MotionKnots {
        let (mut knots, source) = (MotionKnots::default(), self.source);
        for &(index, track) in joints.flat_map(|&joint| source.tracks(joint, TransformPart::Rotation)) {
            self.used[index] = true;
            if !track.curve.is_constant() {
                knots.add(&track.curve, self.clip.length);
            }
        }
        if let Some(parent) = self.plan.target.joints()[mapped.joint].parent.filter(|_| is_above_off) {
            knots.extend(&self.knots_of_chain(parent));
        }
        knots
    }

    /// The knots of the curves of a joint of the target and of all above it.
    fn knots_of_chain(&mut self, joint: usize) -> Rc<MotionKnots> {
        let (mut known, mut above) = (None, Vec::new());
        let mut next = Some(joint);
        while let (None, Some(joint)) = (&known, next) {
            known = self.chain_knots.get(&joint).cloned();
            above.push(joint);
            next = self.plan.target.joints()[joint].parent;
        }
        if let (Some(known), [_]) = (&known, above.as_slice()) {
            return known.clone();
        }
        // The uppermost joint adds nothing if its knots are known.
        let is_known = known.is_some();
        let mut all = known.as_deref().cloned().unwrap_or_default();
        let curves = above.iter().rev().skip(usize::from(is_known)).filter_map(|&joint| self.curve(joint));
        curves.for_each(|curve| all.add(curve, self.clip.length));
        all.sort();
        let knots = Rc::new(all);
        self.chain_knots.insert(joint, knots.clone());
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
        let curve = single_key(rotation.normalize().to_array().to_vec())?;
        let track = Track::new(Target::Rotation(joint), curve);
        Ok(Some(MadeTrack { track, method: TrackMethod::Constant }))
    }

    /// The joints of the source from one joint and from another up to the nearest joint above both, each path without
    /// that joint.
    fn path(&self, from: Option<usize>, to: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let (mut one, mut other) = (from, Some(to));
        let depth = |joint: Option<usize>| joint.map_or(0, |joint| self.depths[joint]);
        while one != other {
            let (end, path) = if depth(one) > depth(other) { (&mut one, &mut up) } else { (&mut other, &mut down) };
            path.extend(*end);
            *end = end.and_then(|joint| self.plan.source.joints()[joint].parent);
        }
        (up, down)
    }
}

/// A rotation with rounding errors near the identity removed, so that equal rigs get equal keys, and with a scalar of
/// at least 0.
fn canonical(rotation: DQuat) -> DQuat {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation }.normalize();
    if rotation.xyz().abs().max_element() <= SAME_ROTATION { DQuat::IDENTITY } else { rotation }
}

/// A curve of rotations with each key, and each tangent, multiplied from both sides. `None` if a key of zeros would
/// have to be changed: it counts as the identity, before and after.
pub(super) fn rotated_curve(curve: &Curve, before: DQuat, after: DQuat) -> Result<Option<Curve>, Error> {
    if before == DQuat::IDENTITY && after == DQuat::IDENTITY {
        return Ok(Some(curve.clone()));
    }
    if curve.zero_key().is_some() {
        return Ok(None);
    }
    let rotate = |numbers: &[f64]| (before * DQuat::from_slice(numbers) * after).to_array();
    curve.with_values(curve.interpolation(), 4, curve.values().chunks_exact(4).flat_map(rotate).collect()).map(Some)
}
