//! Layers of joints over one another, a block of joints at a time where that can be: rules as in `blend`.

use glam::Vec4;

use crate::cpu::blend::{Share, over, over_rotation};
use crate::cpu::joints::Parts;
use crate::cpu::plan::{Kind, Plan};
use crate::cpu::quat;
use crate::cpu::simd::Lanes;
use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::cpu::slerp::dot;
use crate::pack::record::BLEND_LEAST;

/// What the layers of an instance give together.
#[derive(Debug, Clone, Default)]
pub struct Mixer {
    /// Sums of those that blend, then the result.
    values: Parts,
    /// Sums of weights, each four times.
    weights: Parts,
    /// The first rotation that has a weight: the others are taken into its hemisphere.
    first: Vec<Vec4>,
}

/// A layer's weight at each joint.
#[derive(Clone, Copy)]
pub struct Weight<'a> {
    /// That of the layer.
    pub layer: f32,
    /// A factor for each joint; empty for 1.
    pub mask: &'a [f32],
}

impl Weight<'_> {
    #[inline(always)]
    fn at(&self, joint: usize) -> f32 {
        self.layer * self.mask.get(joint).unwrap_or(&1.0)
    }
}

/// Rotations that almost cancel each other out are normalised one by one.
const SHORT: f32 = 1e-12;

impl Mixer {
    /// Makes room for so many joints.
    pub fn resize(&mut self, joints: usize) {
        self.values.resize(joints);
        self.weights.resize(joints);
        self.first.resize(joints + LARGEST_BLOCK, Vec4::ZERO);
    }

    /// Begins anew.
    pub fn clear(&mut self, joints: usize) {
        self.values.0.iter_mut().chain(&mut self.weights.0).for_each(|part| part.fill(Vec4::ZERO));
        // A block that reaches beyond the joints is not to be taken for one of short rotations.
        self.values.0[1][joints..].fill(Vec4::W);
    }

    /// Adds a layer that blends.
    #[inline(always)]
    pub fn add<L: Lanes>(&mut self, plan: &Plan, weight: Weight, parts: &Parts) {
        for (part, runs) in plan.parts.iter().enumerate() {
            let (values, weights) = (&mut self.values.0[part], &mut self.weights.0[part]);
            for run in runs.iter().filter(|run| run.kind != Kind::Rest) {
                let end = run.first + run.count;
                let step = L::BLOCK / 4;
                let whole = if weight.mask.is_empty() { run.count - run.count % step } else { 0 };
                for joint in (run.first..run.first + whole).step_by(step) {
                    let weight = L::splat(weight.layer);
                    let mut value = L::load(&parts.0[part][joint..]);
                    let sum = L::load(&weights[joint..]);
                    if part == 1 {
                        let first = L::load(&self.first[joint..]).or_where_zero(sum, value);
                        first.store(&mut self.first[joint..]);
                        value = value.toward(first);
                    }
                    value.multiply_add(weight, L::load(&values[joint..])).store(&mut values[joint..]);
                    (sum + weight).store(&mut weights[joint..]);
                }
                for joint in run.first + whole..end {
                    let weight = weight.at(joint);
                    let mut value = parts.0[part][joint];
                    if weight <= 0.0 {
                        continue;
                    }
                    if part == 1 {
                        let first = &mut self.first[joint];
                        if weights[joint].x == 0.0 {
                            *first = value;
                        }
                        value = quat::toward(value, *first);
                    }
                    values[joint] += weight * value;
                    weights[joint] += weight;
                }
            }
        }
    }

    /// From sums to means, to which the rest pose adds what is missing.
    #[inline(always)]
    pub fn mean<L: Lanes>(&mut self, joints: usize, rest: [&[Vec4]; 3]) {
        let least = L::splat(BLEND_LEAST);
        let zero = L::splat(0.0);
        for part in 0..3 {
            let (values, weights) = (&mut self.values.0[part], &self.weights.0[part]);
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let (sum, rest) = (L::load(&weights[joint..]), L::load(&rest[part][joint..]));
                let near = if part == 1 { rest.toward(L::load(&self.first[joint..])) } else { rest };
                let filled = near.multiply_add((least - sum).max(zero), L::load(&values[joint..]));
                let mean = filled / sum.max(least);
                mean.or_where_zero(sum, rest).store(&mut values[joint..]);
            }
        }
        let rotations = &mut self.values.0[1];
        for joint in (0..joints).step_by(L::BLOCK) {
            let [x, y, z, w] = L::transpose(L::load_block(&rotations[joint..]));
            let square = dot([x, y, z, w], [x, y, z, w]);
            if square.any_less(L::splat(SHORT)) {
                let block = &mut rotations[joint..joint + L::BLOCK];
                for (rotation, first) in block.iter_mut().zip(&self.first[joint..]) {
                    *rotation = quat::normalize(*rotation, *first);
                }
                continue;
            }
            let unit = square.inverse_square_root();
            L::store_block(L::transpose([x * unit, y * unit, z * unit, w * unit]), &mut rotations[joint..]);
        }
    }

    /// A layer over what is below, compared to a reference if it adds.
    #[inline(always)]
    pub fn over(&mut self, plan: &Plan, mode: u32, weight: Weight, parts: &Parts, reference: [&[Vec4]; 3]) {
        for (part, runs) in plan.parts.iter().enumerate() {
            for run in runs.iter().filter(|run| run.kind != Kind::Rest) {
                for joint in run.joints() {
                    let weight = weight.at(joint);
                    if weight > 0.0 {
                        let value = parts.0[part][joint];
                        let share = Share { weight, mode, value, reference: reference[part][joint] };
                        let below = &mut self.values.0[part][joint];
                        *below =
                            if part == 1 { over_rotation(*below, &share) } else { over(*below, &share, part == 2) };
                    }
                }
            }
        }
    }

    /// What all layers gave, in exchange for other memory.
    pub fn swap(&mut self, parts: &mut Parts) {
        std::mem::swap(&mut self.values, parts);
    }
}
