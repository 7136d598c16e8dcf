//! Passes over the joints of an instance that mix its layers, by the rules of `shaders/shared/blend.wgsl`.
//!
//! Layers with the same joints and one weight for all of them, as most have, are added with that weight
//! ([`Mixer::add`]). Otherwise, each joint has weights of its own: sums of values and of weights first
//! ([`Mixer::add_weighed`]), then their means ([`Mixer::mean`]).

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::block::quat::{product, scaled, unit};
use crate::cpu::block::slerp::dot;
use crate::cpu::keys::plan::{ClipRuns, RunKind};
use crate::cpu::simd::{LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::{TransformPart, quat};
use crate::pack::record::BLEND_MIN_WEIGHT;

/// The index of translations among the parts.
const TRANSLATION: usize = TransformPart::Translation as usize;
/// The index of rotations among the parts.
const ROTATION: usize = TransformPart::Rotation as usize;
/// The index of scales among the parts.
const SCALE: usize = TransformPart::Scale as usize;

/// The square of a length below which a block of rotations is normalised one by one, because they almost cancel out.
const SHORT_SQUARE: f32 = 1e-12;

/// A larger weight turns a rotation no farther within the precision of `f32`. Up to this one, `1 - weight` is exact, so
/// that the chord to the identity itself never has the length 0.
const MAX_WEIGHT: f32 = 16_777_216.0;

/// Memory of the passes.
#[derive(Debug, Clone, Default)]
pub struct Mixer {
    /// The first rotation with a weight, into whose hemisphere the other rotations are brought. For [`add`](Self::add),
    /// block by block and number by number.
    first: Vec<Vec4>,
    /// The weights of the layer at work, each in all four numbers. They are 0 where the clip does not animate a part.
    weights: JointParts,
    /// The sums of the weights.
    sums: JointParts,
}

/// The weights of a layer that is added to the layers below, and its place above them.
#[derive(Clone, Copy)]
pub struct Adding {
    /// The weight of the sum of the layers below.
    pub below: f32,
    /// The weight of the layer.
    pub weight: f32,
    /// If set, there is one layer below: the first.
    pub is_second: bool,
    /// If set, no other layer is added.
    pub is_last: bool,
}

impl Mixer {
    /// Makes room for `joints` joints and one more block.
    pub fn resize(&mut self, joints: usize) {
        self.first.resize(joints + LARGEST_BLOCK, Vec4::W);
        self.weights.resize(joints);
        self.sums.resize(joints);
    }

    /// Adds a layer with one weight for all joints to the layers below, which have one weight, too. With the last
    /// layer, rotations are normalised. The room after the joints of both is overwritten.
    #[inline(always)]
    pub fn add<L: Lanes>(
        &mut self,
        token: Token<L>,
        first: usize,
        joints: usize,
        adding: Adding,
        layer: &mut JointParts,
        to: &mut JointParts,
    ) {
        let (below, weight) = (L::splat(token, adding.below), L::splat(token, adding.weight));
        for part in [TRANSLATION, SCALE] {
            let (layer, to) = (&layer.0[part], &mut to.0[part][first..]);
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let to = &mut to[joint..];
                L::load(token, &layer[joint..]).multiply_add(weight, L::load(token, to) * below).store(to);
            }
        }
        let (layer, to) = (&mut layer.0[ROTATION], &mut to.0[ROTATION][first..]);
        fill_beyond::<L>(joints, layer);
        fill_beyond::<L>(joints, to);
        for joint in (0..joints).step_by(L::BLOCK) {
            let (kept, to) = (&mut self.first[joint..], &mut to[joint..]);
            let under = L::transpose(L::load_block(token, to));
            // The values of the first layer are kept number by number.
            let first = if adding.is_second { under } else { L::load_block(token, kept) };
            let value = L::transpose(L::load_block(token, &layer[joint..]));
            let mixed = weighted_sum(under, below, value, weight.with_sign_of(dot(first, value)));
            if adding.is_last {
                store_unit(mixed, first, to);
            } else {
                if adding.is_second {
                    L::store_block(first, kept);
                }
                L::store_block(L::transpose(mixed), to);
            }
        }
    }

    /// Removes all layers of an instance.
    pub fn clear(&mut self, first: usize, joints: usize, to: &mut JointParts) {
        to.0.iter_mut().for_each(|part| part[first..first + joints].fill(Vec4::ZERO));
        self.sums.0.iter_mut().for_each(|sums| sums[..joints].fill(Vec4::ZERO));
    }

    /// Sets the weight of a layer at each joint. `mask` is a factor per joint; empty: 1.
    #[inline(always)]
    pub fn set_weights(&mut self, plan: &ClipRuns, weight: f32, mask: &[f32]) {
        for (part, weights) in TransformPart::ALL.into_iter().zip(&mut self.weights.0) {
            for run in plan.runs(part) {
                let weights = &mut weights[run.joints()];
                if run.kind == RunKind::Rest {
                    weights.fill(Vec4::ZERO);
                } else if mask.is_empty() {
                    weights.fill(Vec4::splat(weight));
                } else {
                    for (weights, mask) in weights.iter_mut().zip(&mask[run.joints()]) {
                        *weights = Vec4::splat(weight * mask);
                    }
                }
            }
        }
    }

    /// Adds a layer with a weight per joint.
    #[inline(always)]
    pub fn add_weighed<L: Lanes>(
        &mut self,
        token: Token<L>,
        first: usize,
        joints: usize,
        layer: &JointParts,
        to: &mut JointParts,
    ) {
        for part in 0..3 {
            let (layer, to) = (&layer.0[part], &mut to.0[part][first..]);
            let (weights, sums) = (&self.weights.0[part], &mut self.sums.0[part]);
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let (weight, sum) = (L::load(token, &weights[joint..]), L::load(token, &sums[joint..]));
                let mut value = L::load(token, &layer[joint..]);
                if part == ROTATION {
                    let first = L::load(token, &self.first[joint..]).replace_where_zero(sum, value);
                    first.store(&mut self.first[joint..]);
                    value = value.toward(first);
                }
                let to = &mut to[joint..];
                value.multiply_add(weight, L::load(token, to)).store(to);
                (sum + weight).store(&mut sums[joint..]);
            }
        }
    }

    /// Divides the sums of [`add_weighed`](Self::add_weighed) by the weights. If the weights of a joint sum to less
    /// than [`BLEND_MIN_WEIGHT`], the rest pose adds the difference.
    #[inline(always)]
    pub fn mean<L: Lanes>(
        &mut self,
        token: Token<L>,
        first: usize,
        joints: usize,
        rest: &[&[Vec4]; 3],
        to: &mut JointParts,
    ) {
        let least = L::splat(token, BLEND_MIN_WEIGHT);
        let zero = L::splat(token, 0.0);
        for part in 0..3 {
            let (to, sums) = (&mut to.0[part][first..], &self.sums.0[part]);
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let (sum, rest) = (L::load(token, &sums[joint..]), L::load(token, &rest[part][joint..]));
                let near = if part == ROTATION { rest.toward(L::load(token, &self.first[joint..])) } else { rest };
                let to = &mut to[joint..];
                let filled = near.multiply_add((least - sum).max(zero), L::load(token, to));
                (filled / sum.max(least)).replace_where_zero(sum, rest).store(to);
            }
        }
        let rotations = &mut to.0[ROTATION][first..];
        fill_beyond::<L>(joints, rotations);
        for joint in (0..joints).step_by(L::BLOCK) {
            let first = L::transpose(L::load_block(token, &self.first[joint..]));
            let to = &mut rotations[joint..];
            store_unit(L::transpose(L::load_block(token, to)), first, to);
        }
    }

    /// Applies a layer that overrides, with the weights that [`set_weights`](Self::set_weights) set.
    #[inline(always)]
    pub fn override_with<L: Lanes>(
        &self,
        token: Token<L>,
        first: usize,
        joints: usize,
        layer: &JointParts,
        to: &mut JointParts,
    ) {
        let one = L::splat(token, 1.0);
        for part in 0..3 {
            let (layer, weights) = (&layer.0[part], &self.weights.0[part]);
            let to = &mut to.0[part][first..];
            if part == ROTATION {
                for joint in (0..joints).step_by(L::BLOCK) {
                    let [weight, ..] = L::transpose(L::load_block(token, &weights[joint..]));
                    let weight = weight.min(one);
                    let to = &mut to[joint..];
                    let below = L::transpose(L::load_block(token, to));
                    let above = L::transpose(L::load_block(token, &layer[joint..]));
                    // The weight of the layer has the sign that brings its rotation into the hemisphere of the one
                    // below.
                    let signed = weight.with_sign_of(dot(below, above));
                    let mixed = weighted_sum(below, one - weight, above, signed);
                    L::store_block(L::transpose(unit(mixed)), to);
                }
                continue;
            }
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let weight = L::load(token, &weights[joint..]).min(one);
                let to = &mut to[joint..];
                let below = L::load(token, to);
                (L::load(token, &layer[joint..]) - below).multiply_add(weight, below).store(to);
            }
        }
    }

    /// Adds the difference of a layer from its reference, with the weights that [`set_weights`](Self::set_weights) set.
    /// In the reference, scales are inverse; 0 stands for scales too small to divide by.
    #[inline(always)]
    pub fn add_difference<L: Lanes>(
        &self,
        token: Token<L>,
        first: usize,
        joints: usize,
        layer: &JointParts,
        reference: &JointParts,
        to: &mut JointParts,
    ) {
        let one = L::splat(token, 1.0);
        for part in 0..3 {
            let (layer, reference, weights) = (&layer.0[part], &reference.0[part], &self.weights.0[part]);
            let to = &mut to.0[part][first..];
            if part == ROTATION {
                for joint in (0..joints).step_by(L::BLOCK) {
                    let [weight, ..] = L::transpose(L::load_block(token, &weights[joint..]));
                    let weight = weight.min(L::splat(token, MAX_WEIGHT));
                    let to = &mut to[joint..];
                    let below = L::transpose(L::load_block(token, to));
                    let from = L::transpose(L::load_block(token, &reference[joint..]));
                    let [x, y, z, w] = turn(from, L::transpose(L::load_block(token, &layer[joint..])));
                    // The chord from the identity to the turn, in its hemisphere.
                    let signed = weight.with_sign_of(w);
                    let chord = [x * signed, y * signed, z * signed, w.multiply_add(signed, one - weight)];
                    L::store_block(L::transpose(unit(product(below, chord))), to);
                }
                continue;
            }
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let (weight, reference) = (L::load(token, &weights[joint..]), L::load(token, &reference[joint..]));
                let (value, to) = (L::load(token, &layer[joint..]), &mut to[joint..]);
                let below = L::load(token, to);
                let result = if part == SCALE {
                    let ratio = (value * reference).replace_where_zero(reference, one);
                    below * (ratio - one).multiply_add(weight, one)
                } else {
                    (value - reference).multiply_add(weight, below)
                };
                result.store(to);
            }
        }
    }
}

/// Sets the rotations after the last joint, up to the end of its block, to the identity: a short one would decide on
/// the rounding of the others in [`store_unit`].
#[inline(always)]
fn fill_beyond<L: Lanes>(joints: usize, rotations: &mut [Vec4]) {
    rotations[joints..joints.next_multiple_of(L::BLOCK)].fill(Vec4::W);
}

/// Stores a block of rotations at unit length. `first` has the rotations of the first layer, for rotations that almost
/// cancel out.
#[inline(always)]
fn store_unit<L: Lanes>(rotations: [L; 4], first: [L; 4], to: &mut [Vec4]) {
    let square = dot(rotations, rotations);
    if square.any_less(L::splat(square.token(), SHORT_SQUARE)) {
        let mut firsts = [Vec4::W; LARGEST_BLOCK];
        L::store_block(L::transpose(first), &mut firsts);
        L::store_block(L::transpose(rotations), to);
        for (rotation, first) in to[..L::BLOCK].iter_mut().zip(firsts) {
            *rotation = quat::normalize(*rotation, first);
        }
    } else {
        L::store_block(L::transpose(scaled(rotations, square.inverse_square_root())), to);
    }
}

/// The weighted sum of two blocks of quaternions.
#[inline(always)]
fn weighted_sum<L: Lanes>(a: [L; 4], a_weight: L, b: [L; 4], b_weight: L) -> [L; 4] {
    [
        a[0].multiply_add(a_weight, b[0] * b_weight),
        a[1].multiply_add(a_weight, b[1] * b_weight),
        a[2].multiply_add(a_weight, b[2] * b_weight),
        a[3].multiply_add(a_weight, b[3] * b_weight),
    ]
}

/// The turns from one block of rotations to another, `from^-1 to`.
#[inline(always)]
fn turn<L: Lanes>([x, y, z, w]: [L; 4], to: [L; 4]) -> [L; 4] {
    let zero = L::splat(x.token(), 0.0);
    product([zero - x, zero - y, zero - z, w], to)
}
