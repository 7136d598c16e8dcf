//! The joints of instances of one clip, sampled in blocks.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::block::arcs::Arcs;
use crate::cpu::block::columns;
use crate::cpu::block::sampling::Sampling;
use crate::cpu::block::slerp::{Ends, Weights};
use crate::cpu::decoded::DecodedColumns;
use crate::cpu::plan::{Keys, Kind, Run};
use crate::cpu::simd::{Kernel, LARGEST_BLOCK, Lanes};
use crate::cpu::source::ClipSource;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::Span;
use crate::pack::Aligned;

/// Three arrays with a number per joint, and room for one more block: translations, rotations and scales, or the rows of matrices.
#[derive(Debug, Clone, Default)]
pub struct Parts(pub [Aligned<Vec4>; 3]);

impl Parts {
    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.0.iter().map(|part| size_of_val(&**part)).sum()
    }

    /// Makes room for `joints` joints and one more block.
    pub fn resize(&mut self, joints: usize) {
        self.0.iter_mut().for_each(|part| part.resize(joints + LARGEST_BLOCK, Vec4::W));
    }
}

/// The sampling of all runs of a clip.
///
/// A block that reaches beyond its run writes to joints of the next run, which overwrites them, or to the room after the joints of the
/// instance.
pub struct RunSampling<'a> {
    pub sampling: &'a Sampling<'a>,
    /// The columns of quantized keys.
    pub decoded: &'a mut DecodedColumns,
    /// Gets rotations with separate keys.
    pub scattered: &'a mut Arcs,
    pub to: &'a mut Parts,
}

impl Kernel for RunSampling<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { sampling, decoded, scattered, to } = self;
        decoded.decode_rows::<L>(sampling);
        for part in TransformPart::ALL {
            for run in sampling.clip.plan.runs(part) {
                sample_run::<L>(sampling, decoded, run, part, scattered, &mut to.0[part as usize]);
            }
        }
    }
}

/// Samples the root joint again if the clip has root motion, which blocks do not separate from it.
#[inline(always)]
pub fn sample_root(sampler: &Sampler, spans: &[Span], rest: &[&[Vec4]; 3], first: usize, to: &mut Parts) {
    if let Some(root) = sampler.root_joint() {
        let sampler = sampler.at(spans);
        for part in TransformPart::ALL {
            let sampled = sampler.part(part, root).unwrap_or(rest[part as usize][root]);
            to.0[part as usize][first + root] = sampled;
        }
    }
}

/// Samples one part of a run of joints of all instances.
#[inline(always)]
fn sample_run<L: Lanes>(
    sampling: &Sampling,
    decoded: &DecodedColumns,
    run: &Run,
    part: TransformPart,
    scattered: &mut Arcs,
    to: &mut [Vec4],
) {
    let Sampling { clip: ClipSource { plan, sampler, .. }, rest, .. } = *sampling;
    let (joints, values) = (run.joints(), sampler.values());
    let room = joints.len().next_multiple_of(L::BLOCK);
    match run.kind {
        Kind::Rest => {
            for (_, place) in sampling.places() {
                copy::<L>(&rest[part as usize][joints.start..], &mut to[place + joints.start..][..room]);
            }
        }
        Kind::Constant(first_value) => {
            for (_, place) in sampling.places() {
                copy::<L>(&values[first_value as usize..], &mut to[place + joints.start..][..room]);
            }
        }
        Kind::Gathered(first_offset) => {
            for (_, place) in sampling.places() {
                let to = &mut to[place + joints.start..][..joints.len()];
                for (to, &offset) in to.iter_mut().zip(&plan.gathered[first_offset as usize..]) {
                    *to = values[offset as usize];
                }
            }
        }
        Kind::Keys(keys) => {
            for (instance, place) in sampling.places() {
                let span = sampling.span(instance, keys);
                if !can_block(keys, span, part) {
                    sample_each(sampling, instance, joints.clone(), part, &mut to[place..]);
                    continue;
                }
                let to = &mut to[place + joints.start..][..room];
                if keys.is_quantized() {
                    columns::sample::<L>(sampling, decoded, instance, keys, part, to);
                } else {
                    let start = &values[keys.first as usize + span.row as usize..];
                    sample_keys::<L>(sampling, instance, keys, part, start, to);
                }
            }
        }
        Kind::Scattered(first_keys) if part == TransformPart::Rotation => {
            for (joint, keys) in joints.zip(&plan.scattered[first_keys as usize..]) {
                for (instance, place) in sampling.places() {
                    let span = sampling.span(instance, *keys);
                    if can_block(*keys, span, part) {
                        scattered.push::<L>(keys_around(sampling, decoded, instance, keys), place + joint, to);
                    } else {
                        sample_each(sampling, instance, joint..joint + 1, part, &mut to[place..]);
                    }
                }
            }
        }
        Kind::Scattered(first_keys) => {
            for (joint, keys) in joints.zip(&plan.scattered[first_keys as usize..]) {
                for (instance, place) in sampling.places() {
                    let (start, end, fraction) = keys_around(sampling, decoded, instance, keys);
                    to[place + joint] = start + (end - start) * fraction;
                }
            }
        }
        Kind::Single => {
            for (instance, place) in sampling.places() {
                sample_each(sampling, instance, joints.clone(), part, &mut to[place..]);
            }
        }
    }
}

/// Samples joints of an instance one by one.
#[inline(always)]
fn sample_each(sampling: &Sampling, instance: usize, joints: Range<usize>, part: TransformPart, to: &mut [Vec4]) {
    let sampler = sampling.clip.sampler.at(&sampling.spans[sampling.first_spans[instance]..]);
    for joint in joints {
        to[joint] = sampler.part(part, joint).unwrap_or(sampling.rest[part as usize][joint]);
    }
}

/// Returns `true` if the keys can be sampled as a block. An easing can lead rotations beyond their arc; then they cannot.
#[inline(always)]
fn can_block(keys: Keys, span: &Span, part: TransformPart) -> bool {
    part != TransformPart::Rotation || keys.step || (0.0..1.0).contains(&span.fraction)
}

/// Returns `true` if the key before the time holds. Beyond the keys, a straight line extends numbers but not rotations.
#[inline(always)]
pub fn stays(keys: Keys, part: TransformPart, span: &Span) -> bool {
    keys.step && (part == TransformPart::Rotation || span.interval >= 0.0)
}

/// Samples a run of joints of an instance with keys in rows. `start` begins with the first key before the time.
#[inline(always)]
fn sample_keys<L: Lanes>(
    sampling: &Sampling,
    instance: usize,
    keys: Keys,
    part: TransformPart,
    start: &[Vec4],
    to: &mut [Vec4],
) {
    let span = sampling.span(instance, keys);
    let end = &start[span.next as usize..];
    if stays(keys, part, span) {
        copy::<L>(start, to);
    } else if part == TransformPart::Rotation {
        // Also if a key is hit: the keys of a file have unit length only up to its rounding.
        slerp::<L, false>([start, end], &sampling.weights(instance, keys, span.fraction), to);
    } else {
        lerp::<L>(start, end, span.fraction, to);
    }
}

/// The keys before and after the time of an instance, and the fraction between them.
#[inline(always)]
fn keys_around(sampling: &Sampling, decoded: &DecodedColumns, instance: usize, keys: &Keys) -> (Vec4, Vec4, f32) {
    let span = sampling.span(instance, *keys);
    if keys.is_quantized() {
        let [start, end] = decoded.around_joint(sampling, instance, keys);
        return (start, end, span.fraction);
    }
    let (start, values) = (keys.first as usize + span.row as usize, sampling.clip.sampler.values());
    (values[start], values[start + span.next as usize], span.fraction)
}

/// The whole blocks of some joints.
#[inline(always)]
pub fn blocks<L: Lanes>(joints: usize) -> impl Iterator<Item = Range<usize>> {
    // Zipped iterators of `chunks_exact` divide by the size of a block, in a function that is not inlined. The call spills registers.
    (0..joints / L::BLOCK).map(|block| block * L::BLOCK..(block + 1) * L::BLOCK)
}

/// Copies the values of a run, block by block.
#[inline(always)]
pub fn copy<L: Lanes>(from: &[Vec4], to: &mut [Vec4]) {
    let from = &from[..to.len()];
    for block in blocks::<L>(to.len()) {
        L::store_block(L::load_block(&from[block.clone()]), &mut to[block]);
    }
}

/// Interpolates numbers linearly with one common fraction.
#[inline(always)]
pub fn lerp<L: Lanes>(start: &[Vec4], end: &[Vec4], fraction: f32, to: &mut [Vec4]) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    let fraction = L::splat(fraction);
    for block in blocks::<L>(to.len()) {
        let (start, end) = (L::load_block(&start[block.clone()]), L::load_block(&end[block.clone()]));
        let first = (end[0] - start[0]).multiply_add(fraction, start[0]);
        let second = (end[1] - start[1]).multiply_add(fraction, start[1]);
        let third = (end[2] - start[2]).multiply_add(fraction, start[2]);
        let fourth = (end[3] - start[3]).multiply_add(fraction, start[3]);
        L::store_block([first, second, third, fourth], &mut to[block]);
    }
}

/// Interpolates rotations as `quat::slerp` does, with one common fraction, 0 to 1. The terms of the series that depend only on
/// the fraction are those of `weights`. If `BY_NUMBER` is set, the blocks of both ends are transposed already.
#[inline(always)]
pub fn slerp<L: Lanes, const BY_NUMBER: bool>([start, end]: [&[Vec4]; 2], weights: &Weights, to: &mut [Vec4]) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    for block in blocks::<L>(to.len()) {
        let (start, end) = (L::load_block(&start[block.clone()]), L::load_block(&end[block.clone()]));
        let ends = match BY_NUMBER {
            true => Ends { start, end },
            false => Ends { start: L::transpose(start), end: L::transpose(end) },
        };
        L::store_block(L::transpose(weights.interpolate(&ends)), &mut to[block]);
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3, DVec4};

    use super::*;
    use crate::cpu::InstructionSet;
    use crate::cpu::simd::Kernel;

    struct Slerp<'a>(&'a [Vec4], &'a [Vec4], f32);

    impl Kernel for Slerp<'_> {
        type Output = Vec<Vec4>;
        fn run<L: Lanes>(self) -> Vec<Vec4> {
            let mut to = vec![Vec4::ZERO; self.0.len()];
            slerp::<L, false>([self.0, self.1], &Weights::new(self.2), &mut to);
            to
        }
    }

    #[test]
    fn slerp_is_exact_to_5e_7_rad_in_every_instruction_set() {
        let angles =
            [0.0, 1e-8, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.7, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.1, std::f64::consts::PI];
        let turn =
            |angle| DQuat::from_axis_angle(DVec3::Y, 0.7) * DQuat::from_axis_angle(DVec3::new(0.48, -0.6, 0.64), angle);
        let key = |angle| Vec4::from_array(turn(angle).as_quat().to_array());
        let (starts, ends) = (angles.map(|_| key(0.0)), angles.map(key));
        for instructions in InstructionSet::ALL {
            for step in 0..64 {
                let fraction = step as f32 / 64.0;
                let found = instructions.run(Slerp(&starts, &ends, fraction));
                for (found, angle) in found.iter().zip(angles) {
                    let found = found.as_dvec4();
                    let wanted = DVec4::from_array(turn(angle * f64::from(fraction)).to_array());
                    let error = 2.0 * (found - wanted * wanted.dot(found).signum()).length();
                    assert!(error < 5e-7, "{}: {error} rad at {fraction} of {angle}", instructions.name());
                }
            }
        }
    }
}
