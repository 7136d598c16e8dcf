//! Stage 6: the rules by which layers are blended.

use glam::{DQuat, DVec4};

use crate::model::rotation::unit;
use crate::model::{Layer, LayerMode};

/// A layer's share in a value that its clip animates.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerShare<T> {
    /// The layer's weight times its ramp and its mask.
    pub weight: f64,
    /// The mode of the layer.
    pub mode: LayerMode,
    /// The layer's value.
    pub value: T,
    /// The value that an additive layer subtracts.
    pub reference: T,
}

impl<T> LayerShare<T> {
    /// The same share, with its value and reference converted.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> LayerShare<U> {
        let Self { weight, mode, value, reference } = self;
        LayerShare { weight, mode, value: convert(value), reference: convert(reference) }
    }

    fn blends(&self) -> bool {
        self.mode == LayerMode::Blend && self.weight > 0.0
    }

    fn follows(&self) -> bool {
        self.mode != LayerMode::Blend && self.weight > 0.0
    }
}

/// Blends numbers one by one: translations, scales, morph weights, properties. `scale` says that they are scales, which
/// additive layers multiply.
pub fn numbers(rest: &[f64], shares: &[LayerShare<Vec<f64>>], scale: bool) -> Vec<f64> {
    let blend = |index: usize| {
        let mut sum = 0.0;
        let mut value = 0.0;
        for share in shares.iter().filter(|share| share.blends()) {
            sum += share.weight;
            value += share.weight * share.value[index];
        }
        if sum == 0.0 {
            value = rest[index];
        } else if sum < Layer::MIN_WEIGHT {
            value = (value + (Layer::MIN_WEIGHT - sum) * rest[index]) / Layer::MIN_WEIGHT;
        } else {
            value /= sum;
        }
        for share in shares.iter().filter(|share| share.follows()) {
            let (layer, reference) = (share.value[index], share.reference[index]);
            match share.mode {
                LayerMode::Additive(_) if scale => {
                    let ratio = if reference.abs() < Layer::SMALLEST_SCALE { 1.0 } else { layer / reference };
                    value *= 1.0 + share.weight * (ratio - 1.0);
                }
                LayerMode::Additive(_) => value += share.weight * (layer - reference),
                _ => value += share.weight.min(1.0) * (layer - value),
            }
        }
        value
    };
    (0..rest.len()).map(blend).collect()
}

/// Blends rotations. All of them have unit length.
pub fn rotation(rest: DQuat, shares: &[LayerShare<DQuat>]) -> DQuat {
    let steps = rotation_steps(rest, shares);
    steps.last().map_or(rest, |step| step.result)
}

/// A normalisation on the way to a blended rotation.
pub struct RotationStep {
    /// The normalised rotation.
    pub result: DQuat,
    /// The length before the normalisation, as a fraction of the sum of the lengths of its terms. The normalisation
    /// divides errors by it.
    pub length: f64,
    /// The smallest magnitude of the dot products by whose signs terms were negated.
    pub turn: f64,
}

/// All normalisations on the way to a blended rotation, in order.
pub fn rotation_steps(rest: DQuat, shares: &[LayerShare<DQuat>]) -> Vec<RotationStep> {
    let mut steps = Vec::new();
    let mut below = rest;
    let mut blended = shares.iter().filter(|share| share.blends()).peekable();
    if let Some(first) = blended.peek().map(|share| share.value) {
        let mut sum = 0.0;
        let mut mixed = DVec4::ZERO;
        let mut turn = 1.0_f64;
        let mut add = |rotation: DQuat, weight: f64| {
            let dot = first.dot(rotation);
            turn = turn.min(dot.abs());
            sum += weight;
            mixed += weight * DVec4::from(if dot < 0.0 { -rotation } else { rotation });
            sum
        };
        let weights = blended.fold(0.0, |_, share| add(share.value, share.weight));
        if weights < Layer::MIN_WEIGHT {
            add(rest, Layer::MIN_WEIGHT - weights);
        }
        steps.push(step(mixed, sum, turn, first));
        below = steps[0].result;
    }
    for share in shares.iter().filter(|share| share.follows()) {
        match share.mode {
            LayerMode::Additive(_) => {
                let delta = share.reference.conjugate() * share.value;
                let step = nlerp(DQuat::IDENTITY, delta, share.weight);
                below *= step.result;
                steps.push(RotationStep { result: below, ..step });
            }
            _ => {
                let step = nlerp(below, share.value, share.weight.min(1.0));
                below = step.result;
                steps.push(step);
            }
        }
    }
    steps
}

/// Normalised linear interpolation from one rotation to another, along the chord of the shorter arc.
fn nlerp(from: DQuat, to: DQuat, weight: f64) -> RotationStep {
    let dot = from.dot(to);
    let to = if dot < 0.0 { -to } else { to };
    let mixed = (1.0 - weight) * DVec4::from(from) + weight * DVec4::from(to);
    step(mixed, (1.0 - weight).abs() + weight, dot.abs(), from)
}

fn step(mixed: DVec4, sum: f64, turn: f64, fallback: DQuat) -> RotationStep {
    let result = unit(DQuat::from_vec4(mixed)).unwrap_or(fallback);
    RotationStep { result, length: mixed.length() / sum, turn }
}
