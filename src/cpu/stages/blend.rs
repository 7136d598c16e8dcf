//! The rules that mix layers, as in `shaders/shared/blend.wgsl`.

use std::ops::{Add, Deref, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::stages::quat;
use crate::model::Crowd;
use crate::pack::record::{
    BLEND_MIN_WEIGHT, LAYER_BLEND, LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_OVERRIDE, LAYER_SMOOTH_IN, LAYER_SMOOTH_OUT,
    LayerRecord,
};

/// The share of a layer in one value that its clip animates.
#[derive(Clone, Copy, Default)]
pub struct LayerShare {
    /// Layer weight x ramp x mask, more than 0.
    pub weight: f32,
    /// The mode: one of `LAYER_BLEND`, `LAYER_OVERRIDE`, `LAYER_ADD_FIRST`, `LAYER_ADD_REST`.
    pub mode: u32,
    /// The sampled value.
    pub value: Vec4,
    /// The value with which an additive layer is compared.
    pub reference: Vec4,
}

/// The shares of the layers of an instance in one value. A frame allocates no memory for them.
#[derive(Default)]
pub struct LayerShares {
    all: [LayerShare; Crowd::MAX_LAYERS],
    count: usize,
}

impl LayerShares {
    /// Adds the share of the next layer. An instance has no more layers than there are places.
    pub fn push(&mut self, share: LayerShare) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = share;
            self.count += 1;
        }
    }
}

impl Deref for LayerShares {
    type Target = [LayerShare];

    fn deref(&self) -> &[LayerShare] {
        &self.all[..self.count]
    }
}

/// Applies a layer of a mode to the number or numbers `below`: with its weight, its value, and the one that an additive
/// layer is compared with.
#[inline]
pub fn over<T>(below: T, mode: u32, weight: f32, value: T, reference: T) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T>,
    f32: Mul<T, Output = T>,
{
    match mode {
        LAYER_OVERRIDE => below + weight.min(1.0) * (value - below),
        _ => below + weight * (value - reference),
    }
}

/// The mean of blended layers, by the sums of their weights and of their weighted values. `rest` fills up a small sum
/// of weights.
#[inline]
pub fn mean<T>(rest: T, weights: f32, values: T) -> T
where
    T: Add<Output = T> + Div<f32, Output = T>,
    f32: Mul<T, Output = T>,
{
    match weights {
        0.0 => rest,
        sum if sum < BLEND_MIN_WEIGHT => (values + (BLEND_MIN_WEIGHT - sum) * rest) / BLEND_MIN_WEIGHT,
        sum => values / sum,
    }
}

/// Applies a layer to the rotation of the layers below.
fn over_rotation(below: Vec4, share: &LayerShare) -> Vec4 {
    if share.mode == LAYER_OVERRIDE {
        return nlerp(below, share.value, share.weight.min(1.0));
    }
    let delta = quat::multiply(quat::conjugate(share.reference), share.value);
    quat::normalize(quat::multiply(below, nlerp(Vec4::W, delta, share.weight)), below)
}

/// Mixes the numbers of all layers, each number by itself.
pub fn numbers(rest: Vec4, shares: &[LayerShare]) -> Vec4 {
    let blended = || shares.iter().filter(|share| share.mode == LAYER_BLEND);
    let sum: f32 = blended().map(|share| share.weight).sum();
    let mixed: Vec4 = blended().map(|share| share.weight * share.value).sum();
    let above = shares.iter().filter(|share| share.mode != LAYER_BLEND);
    above.fold(mean(rest, sum, mixed), |below, share| {
        over(below, share.mode, share.weight, share.value, share.reference)
    })
}

/// Mixes the rotations of all layers. All have unit length, the result too.
pub fn rotation(rest: Vec4, shares: &[LayerShare]) -> Vec4 {
    let blended = || shares.iter().filter(|share| share.mode == LAYER_BLEND);
    let mut mean = rest;
    if let Some(first) = blended().next().map(|share| share.value) {
        let sum: f32 = blended().map(|share| share.weight).sum();
        let mixed: Vec4 = blended().map(|share| share.weight * quat::toward(share.value, first)).sum();
        mean = quat::normalize(mixed + (BLEND_MIN_WEIGHT - sum).max(0.0) * quat::toward(rest, first), first);
    }
    shares.iter().filter(|share| share.mode != LAYER_BLEND).fold(mean, over_rotation)
}

/// Interpolates two rotations along the chord of the shorter arc.
fn nlerp(from: Vec4, to: Vec4, weight: f32) -> Vec4 {
    quat::normalize((1.0 - weight) * from + weight * quat::toward(to, from), from)
}

/// The weight of a layer at a tick: the weight of its record times its ramp.
pub fn weight(layer: &LayerRecord, now: i64) -> f32 {
    layer.weight * ramp(layer, now)
}

/// The factor that the fades of a layer apply to its weight at a tick, 0 to 1.
fn ramp(layer: &LayerRecord, now: i64) -> f32 {
    let has = |bit: u32| layer.mode & bit != 0;
    let tick = |low: u32, high: u32| i64::from(high as i32) << 32 | i64::from(low);
    let mut ramp = 1.0;
    if has(LAYER_FADES_IN) {
        let elapsed = now.wrapping_sub(tick(layer.fade_in_low, layer.fade_in_high));
        ramp *= fade(elapsed, layer.fade_in_length, has(LAYER_SMOOTH_IN));
    }
    if has(LAYER_FADES_OUT) {
        let elapsed = now.wrapping_sub(tick(layer.fade_out_low, layer.fade_out_high));
        ramp *= 1.0 - fade(elapsed, layer.fade_out_length, has(LAYER_SMOOTH_OUT));
    }
    ramp
}

/// The progress of a fade `elapsed` ticks after its start, 0 to 1. `length` is in ticks.
fn fade(elapsed: i64, length: f32, smooth: bool) -> f32 {
    let elapsed = elapsed as f32;
    let k = match length {
        _ if elapsed < 0.0 => 0.0,
        0.0 => 1.0,
        length => (elapsed / length).min(1.0),
    };
    if smooth { k * k * (3.0 - 2.0 * k) } else { k }
}
