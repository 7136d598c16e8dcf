//! Transitions: the values that come in, displaced by a difference that decays.
//!
//! With `s` the start of a transition and `e` = [`Transition::STEP`], `P0` and `P1` are the values of the pose that
//! goes out at `s` and at `s - e`, and `Q0` and `Q1` the values of the pose that comes in at `s` and at `s + e`. All
//! displacements follow from those four, here and, by other code, in the packing for the engines.

use std::ops::Range;

use glam::{DQuat, DVec3, DVec4};

use crate::model::rotation::unit;
use crate::model::{Pose, StartPoses, Transform, Transition, TransitionKind};
use crate::reference::values::Values;

/// A displacement at the start of a transition.
///
/// In inertialization it is the difference `x` of the two poses, a rotation vector for rotations, and its speed
/// `v`. In dead blending it is the value `P0` itself and the speed of the pose that goes out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Offset {
    /// The offset. Quaternions alone use the fourth number.
    pub at_start: DVec4,
    /// The speed per second; for rotations a rotation vector.
    pub speed: DVec3,
}

/// The displacement of a property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PropertyOffset {
    /// The displacement of a rotation.
    Rotation(Offset),
    /// The displacement of each number, in the first component.
    Numbers(Vec<Offset>),
}

/// The displacements of an instance at the start of a transition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Displacements<'a> {
    transition: &'a Transition,
    start: &'a StartPoses,
}

impl<'a> Displacements<'a> {
    /// The displacements of a transition, by the poses around its start.
    pub fn new(transition: &'a Transition, start: &'a StartPoses) -> Self {
        Self { transition, start }
    }

    /// The displacements of translation, rotation and scale of each joint.
    pub fn joints(self) -> impl Iterator<Item = [Offset; 3]> {
        (0..self.start.out[0].local.len()).map(move |joint| {
            let vector = |part: fn(&Transform) -> DVec3| self.vector(|pose| part(&pose.local[joint]));
            let rotation = self.rotation(|pose| pose.local[joint].rotation);
            [vector(|local| local.translation), rotation, vector(|local| local.scale)]
        })
    }

    /// The displacement of each morph weight, in the first component.
    pub fn weights(self) -> impl Iterator<Item = Offset> {
        (0..self.start.out[0].weights.len()).map(move |index| self.number(|pose| pose.weights[index]))
    }

    /// The displacement of the property whose numbers have the indices `numbers` among the numbers of all properties.
    pub fn property(self, numbers: Range<usize>) -> PropertyOffset {
        if self.start.rotations.contains(&numbers.start) {
            return PropertyOffset::Rotation(
                self.rotation(|pose| DQuat::from_slice(&pose.properties[numbers.clone()])),
            );
        }
        let known = numbers.start..numbers.end.min(self.start.out[0].properties.len());
        PropertyOffset::Numbers(known.map(|index| self.number(|pose| pose.properties[index])).collect())
    }

    /// Displaces the values that come in, some seconds after the start.
    pub fn apply(self, elapsed: f64, values: &mut Values) {
        let decay = Decay::new(self.transition, elapsed);
        for (local, [translation, rotation, scale]) in values.local.iter_mut().zip(self.joints()) {
            local.translation = decay.vector(local.translation, &translation);
            local.rotation = decay.rotation(local.rotation, &rotation);
            local.scale = decay.vector(local.scale, &scale);
        }
        let number = |value: &mut f64, offset: &Offset| *value = decay.vector(DVec3::splat(*value), offset).x;
        for (weight, offset) in values.weights.iter_mut().flatten().zip(self.weights()) {
            number(weight, &offset);
        }
        let mut first = 0;
        for property in &mut values.properties {
            let numbers = first..first + property.len();
            first = numbers.end;
            match self.property(numbers) {
                PropertyOffset::Rotation(offset) => {
                    let displaced = decay.rotation(DQuat::from_slice(property), &offset);
                    property.copy_from_slice(&displaced.to_array());
                }
                PropertyOffset::Numbers(offsets) => {
                    property.iter_mut().zip(&offsets).for_each(|(value, offset)| number(value, offset));
                }
            }
        }
    }

    /// The displacement of a number, in the first component.
    fn number(self, value: impl Fn(&Pose) -> f64) -> Offset {
        self.vector(|pose| DVec3::new(value(pose), 0.0, 0.0))
    }

    /// `x = P0 - Q0` and `v = ((P0 - P1) - (Q1 - Q0)) / e`; in dead blending `P0` and `(P0 - P1) / e`.
    fn vector(self, value: impl Fn(&Pose) -> DVec3) -> Offset {
        let ([p0, p1], [q0, q1]) = (self.start.out.each_ref().map(&value), self.start.into.each_ref().map(&value));
        let e = Transition::STEP.to_seconds();
        match self.transition.kind {
            TransitionKind::Inertial => {
                Offset { at_start: (p0 - q0).extend(0.0), speed: (p0 - p1) / e - (q1 - q0) / e }
            }
            TransitionKind::Dead { .. } => Offset { at_start: p0.extend(0.0), speed: (p0 - p1) / e },
        }
    }

    /// `x = log(P0 Q0^-1)` and `v = (log(P0 P1^-1) - log(Q1 Q0^-1)) / e`; in dead blending `P0` and
    /// `log(P0 P1^-1) / e`.
    fn rotation(self, value: impl Fn(&Pose) -> DQuat) -> Offset {
        let ([p0, p1], [q0, q1]) = (self.start.out.each_ref().map(&value), self.start.into.each_ref().map(&value));
        let e = Transition::STEP.to_seconds();
        let out = log(p0 * p1.conjugate()) / e;
        match self.transition.kind {
            TransitionKind::Inertial => {
                let into = log(q1 * q0.conjugate()) / e;
                Offset { at_start: log(p0 * q0.conjugate()).extend(0.0), speed: out - into }
            }
            TransitionKind::Dead { .. } => Offset { at_start: DVec4::from(p0), speed: out },
        }
    }
}

/// The state of a transition at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Decay {
    /// The factors of the offsets and of the speeds.
    Inertial {
        /// The factor of an offset.
        offset: f64,
        /// The factor of a speed, in seconds.
        speed: f64,
    },
    /// The pose that goes out moves on, and the pose that comes in takes over.
    Dead {
        /// The factor of a speed, in seconds.
        speed: f64,
        /// The share of the pose that comes in.
        share: f64,
    },
}

impl Decay {
    /// The state of a transition some seconds after its start.
    pub fn new(transition: &Transition, elapsed: f64) -> Self {
        match transition.kind {
            // A critically damped spring: x'' = -2 y x' - y y x.
            TransitionKind::Inertial => {
                let y = transition.rate();
                let decay = (-y * elapsed).exp();
                Self::Inertial { offset: (1.0 + y * elapsed) * decay, speed: elapsed * decay }
            }
            TransitionKind::Dead { seconds } => {
                let rate = transition.rate();
                let along = (elapsed / seconds.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                let speed = -(-rate * elapsed).exp_m1() / rate;
                Self::Dead { speed, share: along * along * (3.0 - 2.0 * along) }
            }
        }
    }

    /// A vector of the pose that comes in, displaced.
    pub fn vector(self, value: DVec3, offset: &Offset) -> DVec3 {
        let (at_start, moved) = (offset.at_start.truncate(), offset.speed);
        match self {
            Self::Inertial { offset, speed } => value + at_start * offset + moved * speed,
            Self::Dead { speed, share } => {
                let out = at_start + moved * speed;
                out + (value - out) * share
            }
        }
    }

    /// A rotation of the pose that comes in, displaced.
    pub fn rotation(self, value: DQuat, offset: &Offset) -> DQuat {
        let (start, turned) = (offset.at_start, offset.speed);
        let result = match self {
            Self::Inertial { offset, speed } => exp(start.truncate() * offset + turned * speed) * value,
            Self::Dead { speed, share } => {
                let out = exp(turned * speed) * DQuat::from_vec4(start);
                let into = if out.dot(value) < 0.0 { -value } else { value };
                out * (1.0 - share) + into * share
            }
        };
        unit(result).unwrap_or(value)
    }
}

/// The rotation vector of a unit quaternion, negated where its w is below 0: the angle is then at most 180 degrees.
fn log(rotation: DQuat) -> DVec3 {
    let angle = 2.0 * rotation.xyz().length().atan2(rotation.w.abs());
    let axis = rotation.xyz().normalize_or_zero();
    if rotation.w < 0.0 { -angle * axis } else { angle * axis }
}

/// The unit quaternion of a rotation vector.
fn exp(vector: DVec3) -> DQuat {
    let half = vector.length() / 2.0;
    let (sine, cosine) = half.sin_cos();
    // The sine of a small angle is the angle.
    let factor = if half == 0.0 { 0.5 } else { sine / (2.0 * half) };
    let axis = vector * factor;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}
