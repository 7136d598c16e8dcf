//! Layers over one another: the twin of `shaders/shared/blend.wgsl`.

use glam::Vec4;

use crate::cpu::quat;
use crate::pack::record::{LAYER_ADD_FIRST, LAYER_BLEND, LAYER_OVERRIDE};

/// Where the weights of blended layers sum to less than this, the rest pose fills what is missing.
const LEAST: f32 = 0.1;
/// A scale smaller than this is no reference to compare to.
const SMALLEST_SCALE: f32 = 1e-6;

/// A layer's share in one thing that its clip animates.
#[derive(Clone, Copy)]
pub struct Share {
    /// Layer weight x ramp x mask, more than 0.
    pub weight: f32,
    /// How it joins.
    pub mode: u32,
    /// Its value.
    pub value: Vec4,
    /// What an additive layer compares its value to.
    pub reference: Vec4,
}

/// Four numbers, each for itself; `scale` says that they are scales, which additive layers multiply.
pub fn numbers(rest: Vec4, shares: &[Share], scale: bool) -> Vec4 {
    let mut sum = 0.0;
    let mut mixed = Vec4::ZERO;
    for share in shares.iter().filter(|share| share.mode == LAYER_BLEND) {
        sum += share.weight;
        mixed += share.weight * share.value;
    }
    let mut value = match sum {
        0.0 => rest,
        sum if sum < LEAST => (mixed + (LEAST - sum) * rest) / LEAST,
        sum => mixed / sum,
    };
    for share in shares.iter().filter(|share| share.mode != LAYER_BLEND) {
        match share.mode {
            LAYER_OVERRIDE => value += share.weight.min(1.0) * (share.value - value),
            LAYER_ADD_FIRST.. if scale => {
                let small = share.reference.abs().cmplt(Vec4::splat(SMALLEST_SCALE));
                let ratio = Vec4::select(small, Vec4::ONE, share.value / share.reference);
                value *= 1.0 + share.weight * (ratio - 1.0);
            }
            _ => value += share.weight * (share.value - share.reference),
        }
    }
    value
}

/// Rotations, all of unit length.
pub fn rotation(rest: Vec4, shares: &[Share]) -> Vec4 {
    let mut below = rest;
    let blended = || shares.iter().filter(|share| share.mode == LAYER_BLEND);
    if let Some(first) = blended().next().map(|share| share.value) {
        let near = |rotation: Vec4| if first.dot(rotation) < 0.0 { -rotation } else { rotation };
        let sum: f32 = blended().map(|share| share.weight).sum();
        let mut mixed: Vec4 = blended().map(|share| share.weight * near(share.value)).sum();
        if sum < LEAST {
            mixed += (LEAST - sum) * near(rest);
        }
        below = quat::normalize(mixed, first);
    }
    for share in shares.iter().filter(|share| share.mode != LAYER_BLEND) {
        below = match share.mode {
            LAYER_OVERRIDE => nlerp(below, share.value, share.weight.min(1.0)),
            _ => {
                let delta = quat::multiply(share.reference * Vec4::new(-1.0, -1.0, -1.0, 1.0), share.value);
                quat::normalize(quat::multiply(below, nlerp(Vec4::W, delta, share.weight)), below)
            }
        };
    }
    below
}

/// From one rotation to another, the shorter way, along the chord.
fn nlerp(from: Vec4, to: Vec4, weight: f32) -> Vec4 {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    quat::normalize((1.0 - weight) * from + weight * to, from)
}
