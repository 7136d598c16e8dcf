//! The layers of an instance, mixed joint by joint or in blocks, by the rules of `shaders/shared/blend.wgsl`.

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::block::slerp::dot;
use crate::cpu::plan::{Kind, Plan};
use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::cpu::stages::blend::{Share, over, over_rotation};
use crate::cpu::stages::{TransformPart, quat};
use crate::pack::record::BLEND_LEAST;

/// The mixed layers of an instance.
#[derive(Debug, Clone, Default)]
pub struct Mixer {
    /// The weighted sums of the layers that blend, then the result.
    values: Parts,
    /// The sums of the weights, each in all four numbers.
    weights: Parts,
    /// The first rotation with a weight. The other rotations are brought into its hemisphere.
    first: Vec<Vec4>,
}

/// The weight of a layer at each joint.
#[derive(Clone, Copy)]
pub struct Weight<'a> {
    /// The weight of the layer.
    pub layer: f32,
    /// A factor per joint. Empty: 1.
    pub mask: &'a [f32],
}

impl Weight<'_> {
    /// The weight at one joint.
    #[inline(always)]
    fn at(&self, joint: usize) -> f32 {
        self.layer * self.mask.get(joint).unwrap_or(&1.0)
    }
}

/// The square of a length below which a block of rotations is normalised one by one, because they almost cancel out.
const SHORT_SQUARE: f32 = 1e-12;

impl Mixer {
    /// Makes room for `joints` joints and one more block.
    pub fn resize(&mut self, joints: usize) {
        self.values.resize(joints);
        self.weights.resize(joints);
        self.first.resize(joints + LARGEST_BLOCK, Vec4::ZERO);
    }

    /// Removes all layers.
    pub fn clear(&mut self, joints: usize) {
        self.values.0.iter_mut().chain(&mut self.weights.0).for_each(|part| part.fill(Vec4::ZERO));
        // The room beyond the joints gets unit rotations, so that no block seems to have short ones.
        self.values.0[TransformPart::Rotation as usize][joints..].fill(Vec4::W);
    }

    /// Adds a layer that blends.
    #[inline(always)]
    pub fn add<L: Lanes>(&mut self, plan: &Plan, weight: Weight, parts: &Parts) {
        for (part, runs) in plan.parts.iter().enumerate() {
            let rotations = part == TransformPart::Rotation as usize;
            let (values, weights) = (&mut self.values.0[part], &mut self.weights.0[part]);
            for run in runs.iter().filter(|run| run.kind != Kind::Rest) {
                let end = run.first + run.count;
                let step = L::BLOCK / 4;
                let whole = if weight.mask.is_empty() { run.count - run.count % step } else { 0 };
                for joint in (run.first..run.first + whole).step_by(step) {
                    let weight = L::splat(weight.layer);
                    let mut value = L::load(&parts.0[part][joint..]);
                    let sum = L::load(&weights[joint..]);
                    if rotations {
                        let first = L::load(&self.first[joint..]).replace_where_zero(sum, value);
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
                    if rotations {
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

    /// Divides the sums by the weights. If the weights of a joint sum to less than [`BLEND_LEAST`], the rest pose adds the
    /// difference.
    #[inline(always)]
    pub fn mean<L: Lanes>(&mut self, joints: usize, rest: [&[Vec4]; 3]) {
        let least = L::splat(BLEND_LEAST);
        let zero = L::splat(0.0);
        for part in 0..3 {
            let rotations = part == TransformPart::Rotation as usize;
            let (values, weights) = (&mut self.values.0[part], &self.weights.0[part]);
            for joint in (0..joints).step_by(L::BLOCK / 4) {
                let (sum, rest) = (L::load(&weights[joint..]), L::load(&rest[part][joint..]));
                let near = if rotations { rest.toward(L::load(&self.first[joint..])) } else { rest };
                let filled = near.multiply_add((least - sum).max(zero), L::load(&values[joint..]));
                let mean = filled / sum.max(least);
                mean.replace_where_zero(sum, rest).store(&mut values[joint..]);
            }
        }
        let rotations = &mut self.values.0[TransformPart::Rotation as usize];
        for joint in (0..joints).step_by(L::BLOCK) {
            let [x, y, z, w] = L::transpose(L::load_block(&rotations[joint..]));
            let square = dot([x, y, z, w], [x, y, z, w]);
            if square.any_less(L::splat(SHORT_SQUARE)) {
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

    /// Applies a layer that overrides or adds. An additive layer adds its difference from the reference.
    #[inline(always)]
    pub fn over(&mut self, plan: &Plan, mode: u32, weight: Weight, parts: &Parts, reference: [&[Vec4]; 3]) {
        for (part, runs) in plan.parts.iter().enumerate() {
            let rotations = part == TransformPart::Rotation as usize;
            let scales = part == TransformPart::Scale as usize;
            for run in runs.iter().filter(|run| run.kind != Kind::Rest) {
                for joint in run.joints() {
                    let weight = weight.at(joint);
                    if weight > 0.0 {
                        let value = parts.0[part][joint];
                        let share = Share { weight, mode, value, reference: reference[part][joint] };
                        let below = &mut self.values.0[part][joint];
                        *below = if rotations { over_rotation(*below, &share) } else { over(*below, &share, scales) };
                    }
                }
            }
        }
    }

    /// Exchanges the result of all layers for other memory.
    pub fn swap(&mut self, parts: &mut Parts) {
        std::mem::swap(&mut self.values, parts);
    }
}
