//! Bounds of the values of an instance in a transition.

use glam::{DQuat, DVec3};

use crate::contract::bounds::{Local, Magnitudes};
use crate::contract::mixed::{self, Term, WEIGHT};
use crate::contract::sizes::{NARROW, share_of};
use crate::model::{LayerMode, Ticks, Transition};
use crate::reference::blend::LayerShare;
use crate::reference::instance::Instance;
use crate::reference::transition::{Decay, Displacements, Offset, PropertyOffset};

/// The rounding of an `f32`.
const HALF_STEP: f64 = 1.0 / (1 << 24) as f64;

/// The bounds of the local transforms, weights and properties of one instance at a tick.
pub fn bounds(instance: &Instance, now: Ticks, magnitudes: &mut Magnitudes) -> Local {
    let shown = instance.at(now);
    let mut local = mixed::bounds(&shown, now, magnitudes);
    if let Some(transition) = shown.transition
        && let Some(elapsed) = transition.elapsed(now)
        && let Some(displacements) = shown.displacements()
    {
        widen(&shown, displacements, &Rounded::new(transition, elapsed), now, &mut local);
    }
    local
}

/// Widens the bounds of the layers of an instance to the bounds of its displaced values.
fn widen(shown: &Instance, displacements: Displacements, decay: &Rounded, now: Ticks, local: &mut Local) {
    let values = shown.own_values(now);
    for (joint, [translation, rotation, scale]) in displacements.joints().enumerate() {
        let into = &values.local[joint];
        local.translation[joint] = decay.vector(into.translation, local.translation[joint], &translation);
        local.rotation[joint] = decay.rotation(into.rotation, local.rotation[joint], &rotation);
        local.scale[joint] = decay.vector(into.scale, local.scale[joint], &scale);
    }
    let number = |value: f64, bound: f64, offset: &Offset| decay.vector(DVec3::new(value, 0.0, 0.0), bound, offset);
    let weights = values.weights.iter().flatten().zip(displacements.weights());
    for (bound, (weight, offset)) in local.weights.iter_mut().zip(weights) {
        *bound = number(*weight, *bound, &offset);
    }
    let mut first = 0;
    for (property, widened) in values.properties.iter().zip(&mut local.properties) {
        let bound = *widened;
        let numbers = first..first + property.len();
        first = numbers.end;
        *widened = match displacements.property(numbers) {
            PropertyOffset::Rotation(offset) => decay.rotation(DQuat::from_slice(property), bound, &offset),
            PropertyOffset::Numbers(offsets) => {
                let bounds = property.iter().zip(&offsets).map(|(&value, offset)| number(value, bound, offset));
                bounds.fold(bound, f64::max)
            }
        };
    }
}

/// The state of a transition, and the relative error of the factors that an engine computes from it.
struct Rounded {
    decay: Decay,
    error: f64,
}

impl Rounded {
    /// A WGSL `exp(x)` is off by up to `3 + 2 |x|` units in the last place, and the elapsed time and the rate by one
    /// each.
    fn new(transition: &Transition, elapsed: f64) -> Self {
        let exponent = transition.rate() * elapsed;
        Self { decay: Decay::new(transition, elapsed), error: (8.0 + 6.0 * exponent) * HALF_STEP }
    }

    /// The bound of a displaced vector, from the bound of the vector that comes in.
    fn vector(&self, value: DVec3, bound: f64, offset: &Offset) -> f64 {
        let [start, speed] = sizes(offset);
        match self.decay {
            Decay::Inertial { offset, speed: seconds } => {
                let size = start * offset + speed * seconds;
                bound + self.error * size + share_of(value.length() + size) / 8.0
            }
            Decay::Dead { speed: seconds, share } => {
                let size = start + speed * seconds;
                let out = (1.0 - share) * (share_of(start) / 8.0 + self.error * speed * seconds);
                bound * share + out + WEIGHT * (value.length() + size)
            }
        }
    }

    /// The bound of a displaced rotation in radians, from the bound of the rotation that comes in.
    fn rotation(&self, value: DQuat, bound: f64, offset: &Offset) -> f64 {
        let [start, speed] = sizes(offset);
        match self.decay {
            Decay::Inertial { offset, speed: seconds } => {
                bound + self.error * (start * offset + speed * seconds) + NARROW
            }
            Decay::Dead { speed: seconds, share } => {
                let error = self.error * speed * seconds + NARROW;
                let out = Decay::Dead { speed: seconds, share: 0.0 }.rotation(value, offset);
                let share = LayerShare { weight: share, mode: LayerMode::Override, value, reference: DQuat::IDENTITY };
                mixed::rotation(
                    out,
                    error,
                    &[Term { share, own: bound, reference: 0.0, slip: WEIGHT, is_driven: false }],
                )
            }
        }
    }
}

/// The sizes of an offset and of its speed.
fn sizes(offset: &Offset) -> [f64; 2] {
    [offset.at_start.truncate().length(), offset.speed.length()]
}
