//! The samplers of an animation: key times and keys as glTF has them. Tracks that glTF cannot hold key by key are
//! sampled, and notes tell what it cannot hold at all.

use std::collections::HashSet;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::compress::bound::rig_size;
use crate::error::Error;
use crate::model::rotation::angle;
use crate::model::{
    Clip, Curve, CurveEasing, Extrapolation, Interpolation, Library, Skeleton, Target, Timeline, WrapMode, list_names,
};
use crate::reference::values;
use crate::reference::values::Values;
use crate::retarget::moving_joints::{MovingJoints, TransformPart};
use crate::retarget::resample::{KeyBudget, MotionKnots, SampledMotion, resample};

/// The largest difference of the length of a quaternion from 1 that readers accept.
const MAX_OFF_UNIT: f64 = 1e-3;

/// Numbers in the bytes of an animation.
pub(super) struct KeyBytes {
    pub offset: u64,
    pub count: u64,
    pub kind: &'static str,
    /// The least and the greatest number, of key times.
    pub range: Option<[f32; 2]>,
}

/// A sampler with its target.
pub(super) struct WrittenSampler {
    pub joint: usize,
    pub path: &'static str,
    pub interpolation: &'static str,
    /// The index among the inputs.
    pub input: usize,
    pub output: KeyBytes,
}

/// The samplers of an animation.
#[derive(Default)]
pub(super) struct SamplerList {
    pub inputs: Vec<KeyBytes>,
    pub samplers: Vec<WrittenSampler>,
}

/// The samplers of a clip before their bytes have a place.
#[derive(Default)]
pub(super) struct Samplers {
    list: SamplerList,
    bytes: Vec<u8>,
    /// The key times of the inputs, with the timelines that they come from.
    times: Vec<(Option<Arc<Timeline>>, Vec<f32>)>,
}

impl Samplers {
    /// The samplers of a clip, and notes on what they do not hold. `targets` returns the number of morph targets of a
    /// joint, and `is_carrier` true for a joint that can only be translated.
    pub fn new(
        library: &Library,
        clip: &Clip,
        targets: &dyn Fn(usize) -> usize,
        is_carrier: &dyn Fn(usize) -> bool,
        budget: &mut KeyBudget,
    ) -> Result<(Self, Vec<String>), Error> {
        let skeleton = library.skeleton(clip.skeleton);
        let joints = MovingJoints::new(library, skeleton, clip);
        let sampling = Sampling::new(clip, skeleton, &joints);
        let mut samplers = Self::default();
        let (mut left_out, mut of_shear) = (0, Vec::new());
        for (index, track) in clip.tracks.iter().enumerate() {
            match (track.target, TransformPart::of(track.target)) {
                (_, Some((joint, part))) if part != TransformPart::Translation && is_carrier(joint) => {
                    of_shear.push(format!("{} of {}", part.name(), skeleton.joint_name(joint)));
                }
                (_, Some((joint, part))) => {
                    let tracks = joints.tracks(joint, part);
                    // The tracks of single numbers are sampled together, with the first of them.
                    if tracks.first().is_none_or(|&(first, _)| first != index) {
                        continue;
                    }
                    let is_own = track.component.is_none() && !matches!(track.target, Target::EulerAngles(_));
                    let curve = shortened(clip, &track.curve)?;
                    let curve =
                        if is_own && fits(clip, &curve) { curve } else { sampling.curve(joint, part, budget)? };
                    samplers.add(joint, part.name(), &curve);
                }
                (Target::Weights(joint), None)
                    if track.component.is_none() && targets(joint) == track.curve.width() =>
                {
                    let curve = shortened(clip, &track.curve)?;
                    if fits(clip, &curve) {
                        samplers.add(joint, "weights", &curve);
                    } else {
                        left_out += 1;
                    }
                }
                _ => left_out += 1,
            }
        }
        let mut notes = notes(clip, skeleton);
        if left_out > 0 {
            let name = clip.label();
            notes.insert(0, format!("clip {name}: {left_out} tracks of morph weights or properties are left out"));
        }
        if !of_shear.is_empty() {
            let (name, parts) = (clip.label(), list_names(&of_shear));
            notes.push(format!("clip {name}: a matrix with shear is only translated; left out: {parts}"));
        }
        if !samplers.extend_to(clip, skeleton, is_carrier) {
            let (name, length) = (clip.label(), clip.duration());
            notes.push(format!("clip {name}: the animation ends before the clip, which lasts {length} s"));
        }
        Ok((samplers, notes))
    }

    pub fn is_empty(&self) -> bool {
        self.list.samplers.is_empty()
    }

    /// The list, and the bytes of all numbers.
    pub fn into_bytes(mut self) -> (SamplerList, Vec<u8>) {
        for (_, times) in &self.times {
            let offset = self.bytes.len() as u64;
            self.bytes.extend(times.iter().flat_map(|time| time.to_le_bytes()));
            let range = Some([times[0], times[times.len() - 1]]);
            self.list.inputs.push(KeyBytes { offset, count: times.len() as u64, kind: "SCALAR", range });
        }
        (self.list, self.bytes)
    }

    /// Adds the keys of a curve that fits.
    fn add(&mut self, joint: usize, path: &'static str, curve: &Curve) {
        let (mut values, mut interpolation) = (curve.values().to_vec(), curve.interpolation());
        if interpolation == Interpolation::CubicSpline && curve.timeline().len() == 1 {
            // A spline needs two keys.
            (values, interpolation) = (curve.value(0).to_vec(), Interpolation::Step);
        }
        if path == "rotation" && interpolation != Interpolation::CubicSpline {
            for key in values.chunks_exact_mut(4) {
                let rotation = DQuat::from_slice(key);
                if (rotation.length() - 1.0).abs() > MAX_OFF_UNIT {
                    key.copy_from_slice(&crate::model::rotation::unit(rotation).unwrap_or_default().to_array());
                }
            }
        }
        let known = |(timeline, _): &(Option<Arc<Timeline>>, _)| {
            timeline.as_ref().is_some_and(|other| Arc::ptr_eq(other, curve.timeline()) || other == curve.timeline())
        };
        let input = self.times.iter().position(known).unwrap_or_else(|| {
            let times = curve.timeline().times().iter().map(|&time| time as f32).collect();
            self.times.push((Some(curve.timeline().clone()), times));
            self.times.len() - 1
        });
        self.push(joint, path, interpolation, input, &values);
    }

    fn push(&mut self, joint: usize, path: &'static str, interpolation: Interpolation, input: usize, values: &[f64]) {
        let (kind, width) = shape(path);
        let offset = self.bytes.len() as u64;
        self.bytes.extend(values.iter().flat_map(|&number| (number as f32).to_le_bytes()));
        let output = KeyBytes { offset, count: values.len() as u64 / width, kind, range: None };
        let interpolation = match interpolation {
            Interpolation::Step => "STEP",
            Interpolation::CubicSpline => "CUBICSPLINE",
            _ => "LINEAR",
        };
        self.list.samplers.push(WrittenSampler { joint, path, interpolation, input, output });
    }

    /// Makes the animation as long as the clip, with a track that holds a joint at rest, if no key is at the end.
    /// Returns `false` if all joints are moved, so that it stays shorter.
    fn extend_to(&mut self, clip: &Clip, skeleton: &Skeleton, is_carrier: &dyn Fn(usize) -> bool) -> bool {
        let last = self.times.iter().flat_map(|(_, times)| times.last()).copied().fold(0.0, f32::max);
        let length = clip.duration() as f32;
        if length <= last {
            return true;
        }
        let moved: HashSet<(usize, &str)> =
            self.list.samplers.iter().map(|sampler| (sampler.joint, sampler.path)).collect();
        // Retargeted clips have no scales.
        let parts = [TransformPart::Scale, TransformPart::Rotation, TransformPart::Translation].into_iter();
        let is_free = |&joint: &usize| skeleton.joints()[joint].matrix.is_none() && !is_carrier(joint);
        let joints = || (0..skeleton.joints().len()).filter(is_free);
        let mut held = parts.flat_map(|part| joints().map(move |joint| (joint, part)));
        let Some((joint, part)) = held.find(|(joint, part)| !moved.contains(&(*joint, part.name()))) else {
            return false;
        };
        let rest = skeleton.joints()[joint].rest;
        let rest = match part {
            TransformPart::Translation => rest.translation.to_array().to_vec(),
            TransformPart::Rotation => rest.rotation.normalize().to_array().to_vec(),
            TransformPart::Scale => rest.scale.to_array().to_vec(),
        };
        self.times.push((None, vec![0.0, length]));
        self.push(joint, part.name(), Interpolation::Step, self.times.len() - 1, &rest.repeat(2));
        true
    }
}

/// The type of the keys of a path, and the numbers of a key.
pub(super) fn shape(path: &str) -> (&'static str, u64) {
    match path {
        "rotation" => ("VEC4", 4),
        "weights" => ("SCALAR", 1),
        _ => ("VEC3", 3),
    }
}

/// The largest error of sampled rotations in radians, of translations as a share of the rig's size, and of scales as a
/// share of the largest scale of the tracks.
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
        let rest = values::model_matrices(skeleton, &Values::at_rest(skeleton).local);
        Self { clip, skeleton, joints, rest, size: rig_size(skeleton) }
    }

    /// A curve through samples of the tracks of a part of a joint.
    pub fn curve(&self, joint: usize, part: TransformPart, budget: &mut KeyBudget) -> Result<Curve, Error> {
        let mut knots = MotionKnots::default();
        for (_, track) in self.joints.tracks(joint, part) {
            knots.add(&track.curve, self.clip.length);
        }
        knots.clamp(0.0, self.clip.duration());
        let sampled = match part {
            TransformPart::Rotation => {
                let value = |time| self.joints.rotation(joint, self.clip.keep(time));
                let error = |_, one: DQuat, other: DQuat| angle(one, other);
                resample(knots, &SampledMotion { value: &value, error: &error, bound: BOUND }, budget)
            }
            TransformPart::Translation => {
                let value = |time| self.joints.translation(joint, self.clip.keep(time));
                let space = self.space(joint);
                let error = |_, one: DVec3, other: DVec3| (space * (one - other)).length() / self.size;
                resample(knots, &SampledMotion { value: &value, error: &error, bound: BOUND }, budget)
            }
            TransformPart::Scale => {
                let value = |time| self.joints.scale(joint, self.clip.keep(time));
                let largest = self.largest(joint, part);
                let error = |_, one: DVec3, other: DVec3| one.distance(other) / largest;
                resample(knots, &SampledMotion { value: &value, error: &error, bound: BOUND }, budget)
            }
        };
        sampled.map(|sampled| sampled.curve).map_err(|error| part.error(self.clip, self.skeleton, joint, error))
    }

    /// The matrix from the parent of a joint to model space at rest. The identity if it has no inverse: where the
    /// parent is flat at rest, an error of 0 would say nothing.
    fn space(&self, joint: usize) -> DMat3 {
        let parent = self.skeleton.joints()[joint].parent;
        let space = parent.map_or(DMat3::IDENTITY, |parent| self.rest[parent].matrix3);
        if space.determinant() == 0.0 { DMat3::IDENTITY } else { space }
    }

    /// The largest number of the tracks of a part of a joint, at least 1e-6.
    fn largest(&self, joint: usize, part: TransformPart) -> f64 {
        let numbers = self.joints.tracks(joint, part).iter().flat_map(|(_, track)| track.curve.values());
        numbers.map(|number| number.abs()).fold(1e-6, f64::max)
    }
}

/// Returns `true` if glTF can hold a curve of a clip key by key.
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

/// A curve, with keys at 0 and at the end of its clip if it is constant and has keys beyond. They would make the
/// animation longer.
pub(super) fn shortened(clip: &Clip, curve: &Curve) -> Result<Curve, Error> {
    let Some(length) = clip.length.filter(|&length| curve.timeline().last() > length && curve.is_constant()) else {
        return Ok(curve.clone());
    };
    let times = if length > 0.0 { vec![0.0, length] } else { vec![0.0] };
    let values = curve.value(0).repeat(times.len());
    Curve::new(Arc::new(Timeline::new(times)?), Interpolation::Step, curve.width(), values)
}

/// A note for each part of a clip, its tracks aside, that glTF cannot hold.
pub(super) fn notes(clip: &Clip, skeleton: &Skeleton) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |note: String| notes.push(format!("clip {}: glTF has no {note}", clip.label()));
    if !clip.events.is_empty() {
        add(format!("events; {} are left out", clip.events.len()));
    }
    if !clip.markers.is_empty() {
        add(format!("sync markers; {} are left out", clip.markers.len()));
    }
    if let Some(root) = clip.root_motion {
        let joint = skeleton.joint_name(root.joint);
        add(format!("root motion; the motion of {joint} is left out, and {joint} keeps its movement"));
    }
    if clip.speed != 1.0 {
        add(format!("speed of animations; the speed of the clip, {}, is left out", clip.speed));
    }
    if clip.wrap != WrapMode::Default {
        add(format!("wrap modes; the mode of the clip, {}, is left out", clip.wrap.name()));
    }
    notes
}
