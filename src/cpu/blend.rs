//! Layers over one another: the twin of `shaders/shared/blend.wgsl`.

use glam::Vec4;

use crate::cpu::quat;
use crate::pack::record::{BLEND_LEAST, BLEND_SMALLEST_SCALE, LAYER_ADD_FIRST, LAYER_BLEND, LAYER_OVERRIDE};

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

/// Numbers of a layer over what is below; `scale` says that they are scales, which additive layers multiply.
#[inline(always)]
pub fn over(below: Vec4, share: &Share, scale: bool) -> Vec4 {
    match share.mode {
        LAYER_OVERRIDE => below + share.weight.min(1.0) * (share.value - below),
        LAYER_ADD_FIRST.. if scale => {
            let small = share.reference.abs().cmplt(Vec4::splat(BLEND_SMALLEST_SCALE));
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
    let delta = quat::multiply(quat::conjugate(share.reference), share.value);
    quat::normalize(quat::multiply(below, nlerp(Vec4::W, delta, share.weight)), below)
}

/// Numbers of all layers, each for itself.
pub fn numbers(rest: Vec4, shares: &[Share]) -> Vec4 {
    let blended = || shares.iter().filter(|share| share.mode == LAYER_BLEND);
    let sum: f32 = blended().map(|share| share.weight).sum();
    let mixed: Vec4 = blended().map(|share| share.weight * share.value).sum();
    let mean = match sum {
        0.0 => rest,
        sum if sum < BLEND_LEAST => (mixed + (BLEND_LEAST - sum) * rest) / BLEND_LEAST,
        sum => mixed / sum,
    };
    shares.iter().filter(|share| share.mode != LAYER_BLEND).fold(mean, |below, share| over(below, share, false))
}

/// Rotations of all layers, all of unit length.
pub fn rotation(rest: Vec4, shares: &[Share]) -> Vec4 {
    let blended = || shares.iter().filter(|share| share.mode == LAYER_BLEND);
    let mut mean = rest;
    if let Some(first) = blended().next().map(|share| share.value) {
        let sum: f32 = blended().map(|share| share.weight).sum();
        let mixed: Vec4 = blended().map(|share| share.weight * quat::toward(share.value, first)).sum();
        mean = quat::normalize(mixed + (BLEND_LEAST - sum).max(0.0) * quat::toward(rest, first), first);
    }
    shares.iter().filter(|share| share.mode != LAYER_BLEND).fold(mean, over_rotation)
}

/// From one rotation to another, the shorter way, along the chord.
fn nlerp(from: Vec4, to: Vec4, weight: f32) -> Vec4 {
    quat::normalize((1.0 - weight) * from + weight * quat::toward(to, from), from)
}
