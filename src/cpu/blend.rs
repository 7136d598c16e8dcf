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

/// What layers that blend sum to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    value: Vec4,
    weight: f32,
    /// The first rotation: the others are taken into its hemisphere.
    first: Vec4,
}

impl Sum {
    /// Adds numbers.
    #[inline(always)]
    pub fn add(&mut self, value: Vec4, weight: f32) {
        self.weight += weight;
        self.value += weight * value;
    }

    /// Adds a rotation.
    #[inline(always)]
    pub fn add_rotation(&mut self, value: Vec4, weight: f32) {
        if self.weight == 0.0 {
            self.first = value;
        }
        self.add(self.near(value), weight);
    }

    /// The mean of numbers, to which the rest pose adds what is missing.
    #[inline(always)]
    pub fn mean(&self, rest: Vec4) -> Vec4 {
        match self.weight {
            0.0 => rest,
            weight if weight < LEAST => (self.value + (LEAST - weight) * rest) / LEAST,
            weight => self.value / weight,
        }
    }

    /// The mean of rotations.
    #[inline(always)]
    pub fn mean_rotation(&self, rest: Vec4) -> Vec4 {
        match self.weight {
            0.0 => rest,
            weight if weight < LEAST => quat::normalize(self.value + (LEAST - weight) * self.near(rest), self.first),
            _ => quat::normalize(self.value, self.first),
        }
    }

    #[inline(always)]
    fn near(&self, rotation: Vec4) -> Vec4 {
        if self.first.dot(rotation) < 0.0 { -rotation } else { rotation }
    }
}

/// Numbers of a layer over what is below; `scale` says that they are scales, which additive layers multiply.
#[inline(always)]
pub fn over(below: Vec4, share: &Share, scale: bool) -> Vec4 {
    match share.mode {
        LAYER_OVERRIDE => below + share.weight.min(1.0) * (share.value - below),
        LAYER_ADD_FIRST.. if scale => {
            let small = share.reference.abs().cmplt(Vec4::splat(SMALLEST_SCALE));
            let ratio = Vec4::select(small, Vec4::ONE, share.value / share.reference);
            below * (1.0 + share.weight * (ratio - 1.0))
        }
        _ => below + share.weight * (share.value - share.reference),
    }
}

/// A layer's rotation over what is below.
#[inline(always)]
pub fn over_rotation(below: Vec4, share: &Share) -> Vec4 {
    if share.mode == LAYER_OVERRIDE {
        return nlerp(below, share.value, share.weight.min(1.0));
    }
    let delta = quat::multiply(share.reference * Vec4::new(-1.0, -1.0, -1.0, 1.0), share.value);
    quat::normalize(quat::multiply(below, nlerp(Vec4::W, delta, share.weight)), below)
}

/// Numbers of all layers, each for itself.
pub fn numbers(rest: Vec4, shares: &[Share]) -> Vec4 {
    let mut sum = Sum::default();
    shares.iter().filter(|share| share.mode == LAYER_BLEND).for_each(|share| sum.add(share.value, share.weight));
    let over_all = shares.iter().filter(|share| share.mode != LAYER_BLEND);
    over_all.fold(sum.mean(rest), |below, share| over(below, share, false))
}

/// Rotations of all layers, all of unit length.
pub fn rotation(rest: Vec4, shares: &[Share]) -> Vec4 {
    let mut sum = Sum::default();
    let blended = shares.iter().filter(|share| share.mode == LAYER_BLEND);
    blended.for_each(|share| sum.add_rotation(share.value, share.weight));
    let over_all = shares.iter().filter(|share| share.mode != LAYER_BLEND);
    over_all.fold(sum.mean_rotation(rest), over_rotation)
}

/// From one rotation to another, the shorter way, along the chord.
fn nlerp(from: Vec4, to: Vec4, weight: f32) -> Vec4 {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    quat::normalize((1.0 - weight) * from + weight * to, from)
}
