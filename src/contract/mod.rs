//! The numeric contract: the bounds of an engine's distance from the reference, and the measured distance.
//!
//! `slack.rs` adds the effects of easings and of times to the bounds, `decay.rs` the rounding of what decays in a
//! transition, and `inverse_kinematics` derives the bounds of goals. The rest of this page is docs/contract.md.
//!
#![doc = include_str!("../../docs/contract.md")]

mod bounds;
pub(crate) mod checks;
mod decay;
mod inverse_kinematics;
mod mixed;
mod motion;
mod sizes;
mod slack;
mod space;

use glam::{DAffine3, DQuat, DVec3};

pub use self::checks::{Check, checks};

use crate::contract::bounds::{Local, Magnitudes};
use crate::contract::sizes::angle;
use crate::contract::space::Space;
use crate::model::{Crowd, Library, Outputs, Pose, Poses, SkeletonId, SkinFormat, Step};
use crate::reference::Reference;
use crate::reference::instance::Instance;

/// An error, with its bound and its position in the crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// The error, in radians for rotations, else in units of the quantity. It is infinite if a number is missing or not
    /// finite.
    pub error: f64,
    /// The largest error that the contract allows here.
    pub allowed: f64,
    /// Index of the instance in the crowd.
    pub instance: usize,
    /// Index of the joint in the skeleton. For a weight or property, its index among all of the skeleton; for root
    /// motion 0.
    pub index: usize,
}

impl Worst {
    /// The error as a share of its bound; at most 1 within the contract.
    pub fn share(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.allowed }
    }
}

/// For each quantity, the error with the largest share of its bound; `None` if nothing was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Local rotations: the angle of the rotation from one to the other, in radians.
    pub rotation: Option<Worst>,
    /// Local translations: their distance.
    pub translation: Option<Worst>,
    /// Local scales: the length of their difference.
    pub scale: Option<Worst>,
    /// Morph weights.
    pub weight: Option<Worst>,
    /// Properties, number by number; radians for rotations.
    pub property: Option<Worst>,
    /// Model matrices: distances of the joint's position, and of points along its axes at the distance of a shell.
    pub position: Option<Worst>,
    /// Skin matrices: distances of virtual vertices, at the distance of a shell from the joint.
    pub skin: Option<Worst>,
    /// Root motions: the distance of their translations. There is one per instance, and its `index` is 0.
    pub motion: Option<Worst>,
    /// Root motions: the angle between their rotations, in radians.
    pub motion_rotation: Option<Worst>,
}

impl Report {
    /// All quantities with their names, in the order of the fields.
    pub fn quantities(&self) -> [(&'static str, Option<Worst>); 9] {
        [
            ("rotation", self.rotation),
            ("translation", self.translation),
            ("scale", self.scale),
            ("weight", self.weight),
            ("property", self.property),
            ("position", self.position),
            ("skin", self.skin),
            ("motion", self.motion),
            ("motion turn", self.motion_rotation),
        ]
    }

    /// Keeps, for each quantity, the worse of two reports.
    pub fn merge(&mut self, other: &Self) {
        let quantities = [
            (&mut self.rotation, other.rotation),
            (&mut self.translation, other.translation),
            (&mut self.scale, other.scale),
            (&mut self.weight, other.weight),
            (&mut self.property, other.property),
            (&mut self.position, other.position),
            (&mut self.skin, other.skin),
            (&mut self.motion, other.motion),
            (&mut self.motion_rotation, other.motion_rotation),
        ];
        for (worst, other) in quantities {
            if let Some(other) = other {
                note(worst, other);
            }
        }
    }

    /// Returns `true` if every error is within its bound.
    pub fn is_within(&self) -> bool {
        self.quantities().iter().all(|(_, worst)| worst.is_none_or(|worst| worst.share() <= 1.0))
    }
}

fn note(worst: &mut Option<Worst>, new: Worst) {
    if worst.is_none_or(|old| new.share() > old.share()) {
        *worst = Some(new);
    }
}

/// Compares the poses of an engine with the poses of the reference, at a tick or at the end of a step. Quantities that
/// `expected` does not have are not compared.
///
/// # Panics
/// If the crowd does not fit the library ([`Crowd::check`]).
pub fn compare(library: &Library, crowd: &Crowd, step: impl Into<Step>, expected: &Poses, actual: &Poses) -> Report {
    compare_as(SkinFormat::Matrix, library, crowd, step, expected, actual)
}

/// As [`compare`], for an engine that wrote skin matrices in a format.
///
/// # Panics
/// As [`compare`].
pub fn compare_as(
    format: SkinFormat,
    library: &Library,
    crowd: &Crowd,
    step: impl Into<Step>,
    expected: &Poses,
    actual: &Poses,
) -> Report {
    let step: Step = step.into();
    let mut report = Report::default();
    let mut magnitudes = Magnitudes::default();
    let outputs = Outputs { local: true, model: true, ..Outputs::NONE };
    let missing = Pose::default();
    for (instance, expected) in expected.instances.iter().enumerate() {
        let skeleton = crowd.skeleton(instance);
        let present = Instance::new(library, crowd, instance);
        let truth = Reference::new(library).pose(&present, step, outputs);
        let local = inverse_kinematics::bounds(&present, step.to, &mut magnitudes);
        let space = Space::new(library.skeleton(skeleton), &truth, &local);
        let actual = actual.instances.get(instance).unwrap_or(&missing);
        let mut comparison = Comparison { library, skeleton, instance, expected, actual, report: &mut report };
        comparison.local(&local);
        comparison.weights_and_properties(&local);
        comparison.model(&space);
        comparison.skins(&space, format);
        if expected.root_motion.is_some() {
            comparison.motion(motion::bounds(&present, step, &mut magnitudes));
        }
    }
    report
}

/// The comparison of one instance.
struct Comparison<'a> {
    library: &'a Library,
    skeleton: SkeletonId,
    instance: usize,
    expected: &'a Pose,
    actual: &'a Pose,
    report: &'a mut Report,
}

impl Comparison<'_> {
    fn worst(&self, index: usize, error: f64, allowed: f64) -> Worst {
        let error = if error.is_finite() { error } else { f64::INFINITY };
        Worst { error, allowed, instance: self.instance, index }
    }

    fn local(&mut self, bounds: &Local) {
        for (joint, expected) in self.expected.local.iter().enumerate() {
            let actual = self.actual.local.get(joint);
            let distance = |error: Option<DVec3>| error.map_or(f64::INFINITY, DVec3::length);
            let rotation = actual.map_or(f64::INFINITY, |actual| angle(expected.rotation, actual.rotation));
            let translation = distance(actual.map(|actual| actual.translation - expected.translation));
            let scale = distance(actual.map(|actual| actual.scale - expected.scale));
            let rotation = self.worst(joint, rotation, bounds.rotation[joint]);
            let translation = self.worst(joint, translation, bounds.translation[joint]);
            let scale = self.worst(joint, scale, bounds.scale[joint]);
            note(&mut self.report.rotation, rotation);
            note(&mut self.report.translation, translation);
            note(&mut self.report.scale, scale);
        }
    }

    fn weights_and_properties(&mut self, bounds: &Local) {
        let error =
            |expected: f64, actual: Option<&f64>| actual.map_or(f64::INFINITY, |actual| (actual - expected).abs());
        for (index, &expected) in self.expected.weights.iter().enumerate() {
            let error = error(expected, self.actual.weights.get(index));
            let worst = self.worst(index, error, bounds.weights[index]);
            note(&mut self.report.weight, worst);
        }
        if self.expected.properties.is_empty() {
            return;
        }
        let mut first = 0;
        for (index, property) in self.library.skeleton(self.skeleton).properties().iter().enumerate() {
            let numbers = first..first + property.rest.len();
            first = numbers.end;
            let expected = &self.expected.properties[numbers.clone()];
            let error = match self.actual.properties.get(numbers) {
                None => f64::INFINITY,
                Some(actual) if property.rotation => angle(DQuat::from_slice(expected), DQuat::from_slice(actual)),
                Some(actual) => {
                    let errors = expected.iter().zip(actual).map(|(&expected, actual)| error(expected, Some(actual)));
                    errors.fold(0.0, worse)
                }
            };
            let worst = self.worst(index, error, bounds.properties[index]);
            note(&mut self.report.property, worst);
        }
    }

    fn model(&mut self, space: &Space) {
        for (joint, expected) in self.expected.model.iter().enumerate() {
            let actual = self.actual.model.get(joint);
            for point in space.points(joint) {
                let allowed = space.allowed(joint, point, expected.transform_point3(point).length());
                let worst = self.worst(joint, distance(expected, actual, point), allowed);
                note(&mut self.report.position, worst);
            }
        }
    }

    fn skins(&mut self, space: &Space, format: SkinFormat) {
        for (index, (_, skin)) in self.library.skins_of(self.skeleton).enumerate() {
            let Some(expected) = self.expected.skins.get(index) else { continue };
            let actual = self.actual.skins.get(index);
            let vertices = space::vertices(skin);
            for (slot, (matrix, &joint)) in expected.iter().zip(&skin.joints).enumerate() {
                let actual = actual.and_then(|actual| actual.get(slot));
                for &vertex in &vertices[slot] {
                    // The terms of the vertex's position: its rotated and scaled offset, and a translation.
                    let summed =
                        matrix.transform_vector3(vertex).length().max(matrix.transform_point3(vertex).length());
                    let allowed = space.allowed(joint, skin.inverse_bind[slot].transform_point3(vertex), summed);
                    let allowed = allowed + space::skin_rounding(format, matrix, vertex);
                    let worst = self.worst(joint, distance(matrix, actual, vertex), allowed);
                    note(&mut self.report.skin, worst);
                }
            }
        }
    }

    /// Compares root motions, with the bounds of their distance and their angle.
    fn motion(&mut self, bounds: [f64; 2]) {
        let [distance, turn] = bounds;
        let both = self.expected.root_motion.zip(self.actual.root_motion);
        let apart = both.map(|(expected, actual)| {
            let moved = actual.translation.distance(expected.translation);
            (moved, angle(expected.rotation, actual.rotation))
        });
        let (moved, turned) = apart.unwrap_or((f64::INFINITY, f64::INFINITY));
        let (moved, turned) = (self.worst(0, moved, distance), self.worst(0, turned, turn));
        note(&mut self.report.motion, moved);
        note(&mut self.report.motion_rotation, turned);
    }
}

fn distance(expected: &DAffine3, actual: Option<&DAffine3>, point: DVec3) -> f64 {
    actual.map_or(f64::INFINITY, |actual| actual.transform_point3(point).distance(expected.transform_point3(point)))
}

/// The larger error. NaN counts as the largest.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}

#[cfg(test)]
mod tests;
