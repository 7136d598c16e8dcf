//! Transitions: the displacement of the values of an instance, which decays.

use glam::{Vec3, Vec4};

use crate::cpu::stages::phase::join;
use crate::cpu::stages::quat;
use crate::model::Ticks;
use crate::pack::PackedDisplacement;
use crate::pack::record::{
    DISPLACED_DEAD, DISPLACED_JOINT, DISPLACED_NUMBER, DisplacementRecord, VALUE_ROTATION, VALUE_ROTATION_REST,
};

/// The state of a transition at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decay {
    /// The factors of the offsets and of the speeds.
    Inertial { offset: f32, speed: f32 },
    /// The factor of the speeds, and the share of the pose that comes in.
    Dead { speed: f32, share: f32 },
}

impl Decay {
    /// The state of a transition at a tick; `None` after its end. Before its start it is as at its start.
    pub fn new(record: &DisplacementRecord, now: i64) -> Option<Self> {
        let ticks = now.saturating_sub(join(record.start_low, record.start_high) as i64).max(0);
        let elapsed = ticks as f64 / Ticks::PER_SECOND as f64;
        let (rate, seconds) = (f64::from(record.rate), f64::from(record.seconds));
        if record.kind == DISPLACED_DEAD {
            let along = elapsed / seconds;
            let speed = -(-rate * elapsed).exp_m1() / rate;
            let share = along * along * (3.0 - 2.0 * along);
            return (along < 1.0).then_some(Self::Dead { speed: speed as f32, share: share as f32 });
        }
        let decay = (-rate * elapsed).exp();
        let (offset, speed) = ((1.0 + rate * elapsed) * decay, elapsed * decay);
        (elapsed <= seconds).then_some(Self::Inertial { offset: offset as f32, speed: speed as f32 })
    }

    /// A vector or number of the pose that comes in, displaced.
    fn vector(self, value: Vec4, at_start: Vec4, moved: Vec4) -> Vec4 {
        match self {
            Self::Inertial { offset, speed } => value + at_start * offset + moved * speed,
            Self::Dead { speed, share } => {
                let out = at_start + moved * speed;
                out + (value - out) * share
            }
        }
    }

    /// A rotation of the pose that comes in, displaced.
    fn rotation(self, value: Vec4, at_start: Vec4, turned: Vec3) -> Vec4 {
        let result = match self {
            Self::Inertial { offset, speed } => {
                quat::multiply(exp(at_start.truncate() * offset + turned * speed), value)
            }
            Self::Dead { speed, share } => {
                let out = quat::multiply(exp(turned * speed), at_start);
                let into = if out.dot(value) < 0.0 { -value } else { value };
                out * (1.0 - share) + into * share
            }
        };
        quat::normalize(result, value)
    }
}

/// The unit quaternion of a rotation vector.
fn exp(vector: Vec3) -> Vec4 {
    let half = 0.5 * vector.length();
    let (sine, cosine) = half.sin_cos();
    // The sine of a small angle is the angle.
    let factor = if half > 1e-18 { sine / (2.0 * half) } else { 0.5 };
    (vector * factor).extend(cosine)
}

/// The displacement of an instance on its way.
#[derive(Clone, Copy)]
pub struct Displaced<'a> {
    decay: Decay,
    numbers: &'a [f32],
}

impl<'a> Displaced<'a> {
    /// The displacement at a tick; `None` after its end.
    pub fn new(displacement: &'a PackedDisplacement, now: i64) -> Option<Self> {
        let decay = Decay::new(&displacement.record, now)?;
        Some(Self { decay, numbers: &displacement.numbers })
    }

    /// Displaces the joints of an instance: translations, rotations and scales.
    pub fn joints(&self, [translations, rotations, scales]: [&mut [Vec4]; 3]) {
        let joints = self.numbers.chunks_exact(DISPLACED_JOINT as usize);
        let vector = |numbers: &[f32]| Vec3::from_slice(numbers).extend(0.0);
        let parts = translations.iter_mut().zip(rotations).zip(scales);
        for (numbers, ((translation, rotation), scale)) in joints.zip(parts) {
            *translation = self.decay.vector(*translation, vector(numbers), vector(&numbers[3..]));
            *scale = self.decay.vector(*scale, vector(&numbers[6..]), vector(&numbers[9..]));
            let (at_start, turned) = (Vec4::from_slice(&numbers[12..]), Vec3::from_slice(&numbers[16..]));
            *rotation = self.decay.rotation(*rotation, at_start, turned);
        }
    }

    /// Displaces morph weights and numbers of properties, from the one with the index `first` on. `kinds` has the kind
    /// of each, and `joints` is the number of joints.
    pub fn values(&self, joints: usize, first: usize, kinds: &[u32], to: &mut [f32]) {
        let skipped = joints * DISPLACED_JOINT as usize + first * DISPLACED_NUMBER as usize;
        let numbers = &self.numbers[skipped..];
        let number = |index: usize| [numbers[2 * index], numbers[2 * index + 1]];
        for (index, &kind) in kinds.iter().enumerate().take(to.len()) {
            match kind {
                VALUE_ROTATION_REST => {}
                VALUE_ROTATION => {
                    let [x, y, z, w] = [0, 1, 2, 3].map(|component| number(index + component));
                    let turned = Vec3::new(x[1], y[1], z[1]);
                    let at_start = Vec4::new(x[0], y[0], z[0], w[0]);
                    let value = Vec4::from_slice(&to[index..]);
                    let displaced = self.decay.rotation(value, at_start, turned);
                    to[index..index + 4].copy_from_slice(&displaced.to_array());
                }
                _ => {
                    let [at_start, speed] = number(index).map(Vec4::splat);
                    to[index] = self.decay.vector(Vec4::splat(to[index]), at_start, speed).x;
                }
            }
        }
    }
}

/// The transitions of the instances of a chunk.
#[derive(Clone, Copy)]
pub struct Displacements<'a> {
    /// The index of the displacement of each instance, or `NONE`; empty if there is none.
    pub indices: &'a [u32],
    /// All displacements of the crowd.
    pub all: &'a [PackedDisplacement],
}

impl<'a> Displacements<'a> {
    /// The transitions of some of the instances.
    pub fn part(self, instances: std::ops::Range<usize>) -> Self {
        let count = self.indices.len();
        Self { indices: &self.indices[instances.start.min(count)..instances.end.min(count)], ..self }
    }

    /// The transitions that are on their way at a tick, with the index of the instance.
    pub fn at(self, now: i64) -> impl Iterator<Item = (usize, Displaced<'a>)> {
        let displacement = move |&index: &u32| self.all.get(index as usize);
        let found = self.indices.iter().enumerate();
        found.filter_map(move |(instance, index)| Some((instance, Displaced::new(displacement(index)?, now)?)))
    }
}
