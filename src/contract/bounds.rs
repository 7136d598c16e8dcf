//! The bounds of one clip at a time.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DQuat, DVec4};

use crate::contract::sizes::{NARROW, largest, share_of, size};
use crate::contract::slack::{Clock, Slack};
use crate::model::rotation::unit;
use crate::model::{
    Clip, ClipId, Curve, Interpolation, Library, Property, RootMotion, RootRotation, Skeleton, Target, Transform,
};
use crate::reference::search::KeySpan;
use crate::reference::values::{Animated, Values};
use crate::reference::{root_motion, sample};

/// The bound in radians of a rotation between keys more than 90 degrees apart.
const WIDE: f64 = 2e-5;

/// A cache of the largest magnitude in each track of a clip.
#[derive(Default)]
pub struct Magnitudes(HashMap<ClipId, Vec<f64>>);

impl Magnitudes {
    /// The magnitudes of a clip, one per track.
    fn tracks(&mut self, library: &Library, clip: ClipId) -> &[f64] {
        self.0.entry(clip).or_insert_with(|| {
            let tracks = library.clip(clip).tracks.iter();
            tracks.map(|track| magnitude(&track.curve, is_vector(track.target))).collect()
        })
    }
}

/// The largest magnitude of a curve: of its values, and of its tangents times the key interval. It is the length of
/// elements for `vectors`, else of single numbers.
fn magnitude(curve: &Curve, vectors: bool) -> f64 {
    let size = |element: &[f64]| size(element, vectors);
    let times = curve.timeline().times();
    let mut result = 0.0_f64;
    for key in 0..times.len() {
        result = result.max(size(curve.value(key)));
        if curve.interpolation() == Interpolation::CubicSpline && key + 1 < times.len() {
            let interval = times[key + 1] - times[key];
            result = result.max(interval * size(curve.out_tangent(key)));
            result = result.max(interval * size(curve.in_tangent(key + 1)));
        }
    }
    result
}

/// Returns `true` if a target is compared as a whole, by distance.
fn is_vector(target: Target) -> bool {
    matches!(target, Target::Translation(_) | Target::Scale(_))
}

/// The bounds of a movement.
#[derive(Debug, Clone, Copy, Default)]
pub struct MotionBound {
    /// The bound of the translation, as a distance.
    pub translation: f64,
    /// The bound of the rotation, in radians.
    pub rotation: f64,
}

/// The bounds of the local transforms, weights and properties of one instance.
#[derive(Debug, Clone)]
pub struct Local {
    /// Radians, one per joint.
    pub rotation: Vec<f64>,
    /// Distances, one per joint.
    pub translation: Vec<f64>,
    /// Lengths of the difference, one per joint.
    pub scale: Vec<f64>,
    /// One per morph weight of the skeleton.
    pub weights: Vec<f64>,
    /// One per property; radians if it is a rotation.
    pub properties: Vec<f64>,
}

impl Local {
    /// The bounds of a rest pose.
    pub fn at_rest(skeleton: &Skeleton) -> Self {
        let joints = skeleton.joints();
        let property = |property: &Property| {
            if property.rotation { NARROW } else { share_of(largest(&property.rest)) }
        };
        Self {
            rotation: vec![NARROW; joints.len()],
            translation: joints.iter().map(|joint| share_of(joint.rest.translation.length())).collect(),
            scale: joints.iter().map(|joint| share_of(joint.rest.scale.length())).collect(),
            weights: joints.iter().flat_map(|joint| &joint.weights).map(|weight| share_of(weight.abs())).collect(),
            properties: skeleton.properties().iter().map(property).collect(),
        }
    }

    /// The bounds of the values of a clip at a time.
    pub fn of_clip(library: &Library, id: ClipId, time: f64, clock: Clock, magnitudes: &mut Magnitudes) -> Self {
        let mut bounds = Self::sampled(library, id, time, clock, magnitudes);
        let clip = library.clip(id);
        if let Some(root) = clip.root_motion {
            let skeleton = library.skeleton(clip.skeleton);
            let animated = Animated::by_clip(skeleton, clip).local[root.joint];
            let error = bounds.part(library, clip, root, time);
            let (local, part) =
                (Values::sampled(library, clip, time).local[root.joint], root_motion::part(library, clip, root, time));
            if animated.translation {
                let rest = (local.translation - part.translation).length();
                bounds.translation[root.joint] += error.translation + error.rotation * rest;
            }
            if animated.rotation {
                bounds.rotation[root.joint] = (bounds.rotation[root.joint] + error.rotation).min(PI);
            }
        }
        bounds
    }

    /// The bounds of the part of a clip's root joint that moves the instance, from these bounds of the joint.
    ///
    /// The twist about an axis is the normalised projection of a quaternion. A short projection magnifies errors.
    pub fn part(&self, library: &Library, clip: &Clip, root: RootMotion, time: f64) -> MotionBound {
        let local = Values::sampled(library, clip, time).local[root.joint];
        let turned = unit(local.rotation).unwrap_or(DQuat::IDENTITY);
        let along = turned.xyz().dot(root.up(library.skeleton(clip.skeleton)));
        let own = self.rotation[root.joint];
        MotionBound {
            translation: if root.translation == [false; 3] { 0.0 } else { self.translation[root.joint] },
            rotation: match root.rotation {
                RootRotation::None => 0.0,
                RootRotation::Yaw => ((own + NARROW) / along.hypot(turned.w)).min(PI),
                RootRotation::Full => own,
            },
        }
    }

    /// The bounds of the values of a clip at a time, with the full transform of the root joint.
    pub fn sampled(library: &Library, id: ClipId, time: f64, clock: Clock, magnitudes: &mut Magnitudes) -> Self {
        let clip = library.clip(id);
        let skeleton = library.skeleton(clip.skeleton);
        let joints = skeleton.joints();
        let mut bounds = Self::at_rest(skeleton);
        let first_weight = |joint: usize| joints[..joint].iter().map(|joint| joint.weights.len()).sum::<usize>();
        for (track, &magnitude) in clip.tracks.iter().zip(magnitudes.tracks(library, id)) {
            let turns = track.target.is_rotation(skeleton);
            let slack = Slack::new(&track.curve, time, clock, turns);
            let allowed = if turns {
                (rotation(&track.curve, &slack) + slack.turn()).min(PI)
            } else if let Interpolation::Custom(_) = track.curve.interpolation() {
                let (size, error) = slack.custom(library);
                share_of(magnitude.max(size)) + error
            } else {
                share_of(magnitude * slack.reach()) + slack.numbers(is_vector(track.target))
            };
            // If tracks drive single numbers, their bounds add up.
            let is_single = track.component.is_some();
            let set = |bound: &mut f64| *bound = if is_single { *bound + allowed } else { allowed };
            match track.target {
                Target::Translation(joint) => set(&mut bounds.translation[joint]),
                Target::Rotation(joint) => bounds.rotation[joint] = allowed,
                // Angles are in degrees, and at worst their errors add up.
                Target::EulerAngles(joint) => bounds.rotation[joint] += 3.0 * allowed.to_radians(),
                Target::Scale(joint) => set(&mut bounds.scale[joint]),
                Target::Weights(joint) => {
                    let first = first_weight(joint);
                    match track.component {
                        Some(component) => bounds.weights[first + component] = allowed,
                        None => bounds.weights[first..first + joints[joint].weights.len()].fill(allowed),
                    }
                }
                Target::Property(property) => set(&mut bounds.properties[property]),
            }
        }
        bounds
    }

    /// The additions to a joint's bounds of rotation, scale and translation beyond the bounds of its present value.
    pub fn slack(&self, joint: usize, present: &Transform) -> [f64; 3] {
        let scale = self.scale[joint] - share_of(present.scale.length());
        let translation = self.translation[joint] - share_of(present.translation.length());
        [self.rotation[joint] - NARROW, scale, translation].map(|slack| slack.max(0.0))
    }
}

/// The bound in radians of a rotation between two keys.
///
/// The result of a cubic spline is normalised, and so is a rotation past the end of an arc between keys of different
/// lengths. The errors of the summed terms are in proportion to the stored numbers, so that a short sum magnifies them.
/// If the sum vanishes, any rotation is within the bound.
fn rotation(curve: &Curve, slack: &Slack) -> f64 {
    let KeySpan { key, fraction, hit, .. } = slack.span;
    let cubic = curve.interpolation() == Interpolation::CubicSpline;
    if slack.on_seam {
        return PI;
    }
    if hit || curve.interpolation() == Interpolation::Step {
        return if cubic && largest(curve.value(key)) == 0.0 { PI } else { NARROW };
    }
    let (a, b) = (DVec4::from_slice(curve.value(key)), DVec4::from_slice(curve.value(key + 1)));
    let cosine = a.normalize_or_zero().dot(b.normalize_or_zero()).abs().min(1.0);
    let allowed = if 2.0 * cosine.acos() > FRAC_PI_2 + 1e-9 { WIDE } else { NARROW };
    let length = sample::unnormalised_rotation(curve, slack.span).length();
    let stored = if cubic {
        let times = curve.timeline().times();
        let interval = times[key + 1] - times[key];
        let tangents = largest(curve.out_tangent(key)).max(largest(curve.in_tangent(key + 1)));
        (interval * tangents).max(a.abs().max_element()).max(b.abs().max_element())
    } else if (0.0..=1.0).contains(&fraction) {
        length
    } else {
        1.0
    };
    let magnified = (stored / length).max(1.0);
    (magnified * (allowed * slack.reach() + slack.rotation(2.0 * cosine.acos()))).min(PI)
}
