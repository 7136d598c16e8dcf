//! What the contract allows, part by part.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DAffine3, DQuat, DVec3, DVec4};

use crate::contract::sizes::{NARROW, largest, share_of, size};
use crate::contract::slack::{Clock, Slack};
use crate::model::rotation::unit;
use crate::model::{
    Clip, ClipId, Curve, Interpolation, Library, Pose, Property, RootMotion, RootRotation, Skeleton, Skin, Target,
    Transform,
};
use crate::reference::search::Place;
use crate::reference::values::{Animated, Values};
use crate::reference::{root_motion, sample};

/// Radians for a rotation between keys more than 90 degrees apart.
const WIDE: f64 = 2e-5;
/// The shell of virtual vertices about a joint: metres at least, and share of the rig at least.
const SHELL: (f64, f64) = (0.03, 0.03);

/// The largest magnitude in each track of the clips seen so far.
#[derive(Default)]
pub struct Magnitudes(HashMap<ClipId, Vec<f64>>);

impl Magnitudes {
    fn of(&mut self, library: &Library, clip: ClipId) -> &[f64] {
        self.0.entry(clip).or_insert_with(|| {
            let tracks = library.clip(clip).tracks.iter();
            tracks.map(|track| magnitude(&track.curve, is_vector(track.target))).collect()
        })
    }
}

/// The largest magnitude of a curve: of its values, and of its tangents times the key interval; of whole elements as
/// `vectors`, else of single numbers.
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

/// Whether a target is compared as a whole, by distance.
fn is_vector(target: Target) -> bool {
    matches!(target, Target::Translation(_) | Target::Scale(_))
}

/// How far a movement may be off.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// As a distance.
    pub translation: f64,
    /// Radians.
    pub rotation: f64,
}

/// How far the local parts of one instance's pose may be off.
#[derive(Debug, Clone)]
pub struct Local {
    /// Radians, by joint.
    pub rotation: Vec<f64>,
    /// By joint.
    pub translation: Vec<f64>,
    /// By joint.
    pub scale: Vec<f64>,
    /// By weight.
    pub weights: Vec<f64>,
    /// By property, radians where it is a rotation.
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

    /// The bounds of what a clip alone gives at a time.
    pub fn of_clip(library: &Library, id: ClipId, time: f64, clock: Clock, magnitudes: &mut Magnitudes) -> Self {
        let mut bounds = Self::sampled(library, id, time, clock, magnitudes);
        let clip = library.clip(id);
        if let Some(root) = clip.root_motion {
            let skeleton = library.skeleton(clip.skeleton);
            let [moved, turned, _] = Animated::by_clip(skeleton, clip).local[root.joint];
            let off = bounds.part(library, clip, root, time);
            let (local, part) =
                (Values::sampled(library, clip, time).local[root.joint], root_motion::part(library, clip, root, time));
            if moved {
                let left = (local.translation - part.translation).length();
                bounds.translation[root.joint] += off.translation + off.rotation * left;
            }
            if turned {
                bounds.rotation[root.joint] = (bounds.rotation[root.joint] + off.rotation).min(PI);
            }
        }
        bounds
    }

    /// How far the part of a clip's root joint that moves the instance may be off, where the joint may be by this much.
    ///
    /// A twist is what is left of a quaternion without the turn about other axes, normalised: where little is left, errors
    /// grow.
    pub fn part(&self, library: &Library, clip: &Clip, root: RootMotion, time: f64) -> Part {
        let local = Values::sampled(library, clip, time).local[root.joint];
        let turned = unit(local.rotation).unwrap_or(DQuat::IDENTITY);
        let along = turned.xyz().dot(root.up(library.skeleton(clip.skeleton)));
        let own = self.rotation[root.joint];
        Part {
            translation: if root.translation == [false; 3] { 0.0 } else { self.translation[root.joint] },
            rotation: match root.rotation {
                RootRotation::None => 0.0,
                RootRotation::Yaw => ((own + NARROW) / along.hypot(turned.w)).min(PI),
                RootRotation::Full => own,
            },
        }
    }

    /// The bounds of what a clip alone gives at a time, with all that its root joint does.
    pub fn sampled(library: &Library, id: ClipId, time: f64, clock: Clock, magnitudes: &mut Magnitudes) -> Self {
        let clip = library.clip(id);
        let skeleton = library.skeleton(clip.skeleton);
        let joints = skeleton.joints();
        let mut bounds = Self::at_rest(skeleton);
        let first_weight = |joint: usize| joints[..joint].iter().map(|joint| joint.weights.len()).sum::<usize>();
        for (track, &magnitude) in clip.tracks.iter().zip(magnitudes.of(library, id)) {
            let turns = track.target.is_rotation(skeleton);
            let slack = Slack::new(&track.curve, time, clock, turns);
            let allowed = if turns {
                rotation(&track.curve, &slack)
            } else if let Interpolation::Custom(_) = track.curve.interpolation() {
                let (size, off) = slack.custom(library);
                share_of(magnitude.max(size)) + off
            } else {
                share_of(magnitude * slack.reach()) + slack.numbers(is_vector(track.target))
            };
            // Of numbers that are driven one by one, each adds its own.
            let single = track.component.is_some();
            let note = |bound: &mut f64| *bound = if single { *bound + allowed } else { allowed };
            match track.target {
                Target::Translation(joint) => note(&mut bounds.translation[joint]),
                Target::Rotation(joint) => bounds.rotation[joint] = allowed,
                // Angles are in degrees, and their errors at worst add up.
                Target::EulerAngles(joint) => bounds.rotation[joint] += 3.0 * allowed.to_radians(),
                Target::Scale(joint) => note(&mut bounds.scale[joint]),
                Target::Weights(joint) => {
                    let first = first_weight(joint);
                    match track.component {
                        Some(component) => bounds.weights[first + component] = allowed,
                        None => bounds.weights[first..first + joints[joint].weights.len()].fill(allowed),
                    }
                }
                Target::Property(property) => note(&mut bounds.properties[property]),
            }
        }
        bounds
    }

    /// By how much a joint's bounds on rotation, scale and translation are wider than its present value would make them.
    fn slack(&self, joint: usize, present: &Transform) -> [f64; 3] {
        let scaled = self.scale[joint] - share_of(present.scale.length());
        let moved = self.translation[joint] - share_of(present.translation.length());
        [self.rotation[joint] - NARROW, scaled, moved].map(|slack| slack.max(0.0))
    }
}

/// Radians allowed for a rotation between two keys.
///
/// A cubic spline is normalised last, and so is what lies past the end of an arc between keys of different lengths: where the
/// sum is short, the errors of its terms, which stay in proportion to the stored numbers, are magnified. Where it vanishes,
/// any rotation is right.
fn rotation(curve: &Curve, slack: &Slack) -> f64 {
    let Place { key, fraction, hit, .. } = slack.place;
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
    let length = sample::unnormalised_rotation(curve, slack.place).length();
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

/// How far points may be off in model space.
pub struct Space<'a> {
    skeleton: &'a Skeleton,
    truth: &'a Pose,
    local: &'a Local,
    depths: Vec<usize>,
    size: f64,
    shell: f64,
    stretch: Vec<f64>,
    /// Whether a joint or any of its ancestors lets through more than its present value would.
    widened: Vec<bool>,
}

impl<'a> Space<'a> {
    /// The bounds about a reference pose whose local transforms and model matrices are filled.
    pub fn new(skeleton: &'a Skeleton, truth: &'a Pose, local: &'a Local) -> Self {
        let reach = truth.model.iter().map(|matrix| matrix.translation.length()).fold(0.0, f64::max);
        let shell = SHELL.0.max(SHELL.1 * reach);
        let mut stretch: Vec<f64> = Vec::with_capacity(truth.local.len());
        for (joint, transform) in skeleton.joints().iter().zip(&truth.local) {
            let own = longest_axis(&local_matrix(joint.matrix, transform));
            stretch.push(joint.parent.map_or(own, |parent| stretch[parent] * own));
        }
        let mut widened: Vec<bool> = Vec::with_capacity(truth.local.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let own = joint.matrix.is_none() && local.slack(index, &truth.local[index]) != [0.0; 3];
            widened.push(own || joint.parent.is_some_and(|parent| widened[parent]));
        }
        Self { skeleton, truth, local, depths: skeleton.depths(), size: reach + shell, shell, stretch, widened }
    }

    /// Points in a joint's own space: its position, and a shell away from it along each axis as far as its ancestors'
    /// scales at their widest take them.
    pub fn points(&self, joint: usize) -> impl Iterator<Item = DVec3> + use<> {
        let stretch = self.stretch[joint];
        let offset = if stretch > 0.0 { self.shell / stretch } else { 0.0 };
        [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].into_iter().map(move |axis| axis * offset)
    }

    /// How far a point given in a joint's space may be off in model space. `summed` is the largest magnitude of what an
    /// engine adds up to get there.
    pub fn allowed(&self, joint: usize, point: DVec3, summed: f64) -> f64 {
        let levels = (self.depths[joint] + 1) as f64;
        NARROW * levels * self.size.max(summed) + self.excess(joint, point)
    }

    /// What the local bounds of a joint and its ancestors let through at a point, beyond what they would if each were
    /// in proportion to its present value: wide rotations, ill-conditioned splines, tracks far larger than they are now.
    fn excess(&self, joint: usize, mut point: DVec3) -> f64 {
        let mut excess = 0.0;
        let mut next = Some(joint);
        // Above the last ancestor that is widened there is nothing to add, and in most poses none is.
        while let Some(index) = next.filter(|&index| self.widened[index]) {
            let joint = &self.skeleton.joints()[index];
            let transform = &self.truth.local[index];
            next = joint.parent;
            if joint.matrix.is_none() {
                let [turned, scaled, moved] = self.local.slack(index, transform);
                let outer = next.map_or(1.0, |parent| self.stretch[parent]);
                excess += outer * (turned * (transform.scale * point).length() + scaled * point.length() + moved);
            }
            point = local_matrix(joint.matrix, transform).transform_point3(point);
        }
        excess
    }
}

fn local_matrix(matrix: Option<DAffine3>, transform: &Transform) -> DAffine3 {
    matrix.unwrap_or_else(|| transform.to_affine())
}

/// The length of the longest column: by how much a matrix stretches, exactly so without shear.
fn longest_axis(matrix: &DAffine3) -> f64 {
    let axes = matrix.matrix3;
    axes.x_axis.length().max(axes.y_axis.length()).max(axes.z_axis.length())
}

/// A joint's place in the bind pose; the origin where its matrix has no inverse to speak of.
fn bind_place(inverse_bind: &DAffine3) -> DVec3 {
    let axes = inverse_bind.matrix3;
    let volume = axes.x_axis.length() * axes.y_axis.length() * axes.z_axis.length();
    let flat = axes.determinant().abs() <= 1e-12 * volume;
    let inverse = if flat { None } else { axes.try_inverse() };
    inverse.map_or(DVec3::ZERO, |inverse| inverse * -inverse_bind.translation)
}

/// For each joint of a skin, virtual vertices a shell away from its place in the bind pose, along each axis.
pub fn vertices(skin: &Skin) -> Vec<[DVec3; 6]> {
    let places: Vec<DVec3> = skin.inverse_bind.iter().map(bind_place).collect();
    let reach = places.iter().map(|place| place.length()).fold(0.0, f64::max);
    let shell = SHELL.0.max(SHELL.1 * reach);
    let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    places.iter().map(|&place| axes.map(|axis| place + shell * axis)).collect()
}
