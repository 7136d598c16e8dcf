//! Samples the joints of an instance, a block at a time.

use glam::Vec4;

use crate::cpu::compact::FourColumns;
use crate::cpu::plan::{Keys, Kind, Plan};
use crate::cpu::sampler::Sampler;
use crate::cpu::search::Span;
use crate::cpu::simd::Lanes;
use crate::cpu::simd::block::LARGEST_BLOCK;

/// Translations, rotations and scales of all joints, or the three rows of their matrices, each with room for a block more.
#[derive(Debug, Clone, Default)]
pub struct Parts(pub [Vec<Vec4>; 3]);

impl Parts {
    /// Makes room for so many joints.
    pub fn resize(&mut self, joints: usize) {
        self.0.iter_mut().for_each(|part| part.resize(joints + LARGEST_BLOCK, Vec4::ZERO));
    }
}

/// Samples all joints of a clip.
///
/// A block that reaches beyond its run writes what the next run then overwrites, or the room at the end.
#[inline(always)]
pub fn sample<L: Lanes>(plan: &Plan, sampler: &Sampler, rest: [&[Vec4]; 3], to: &mut Parts) {
    for (part, runs) in plan.parts.iter().enumerate() {
        let to = &mut to.0[part];
        for run in runs {
            let room = run.count.next_multiple_of(L::BLOCK);
            match run.kind {
                Kind::Rest => copy::<L>(&rest[part][run.first..], &mut to[run.first..][..room]),
                Kind::Constant(first) => copy::<L>(&plan.constants[first..], &mut to[run.first..][..room]),
                Kind::Keys(keys) if can_block(keys, sampler.span(keys.timeline), part) => {
                    let span = sampler.span(keys.timeline);
                    let to = &mut to[run.first..][..room];
                    if keys.compact {
                        let columns = &plan.columns[keys.first..][..room / 4];
                        sample_compact::<L>(keys, span, part, columns, sampler.words(), to);
                    } else {
                        let start = &sampler.values()[keys.first + span.row as usize..];
                        sample_keys::<L>(keys, span, part, [start, &start[span.next as usize..]], to);
                    }
                }
                Kind::Scattered(first) if part == 1 => {
                    let keys = &plan.scattered[first..first + run.count];
                    slerp_scattered::<L>(plan, keys, sampler, &mut to[run.first..][..room]);
                    for (joint, keys) in run.joints().zip(keys) {
                        if !can_block(*keys, sampler.span(keys.timeline), part) {
                            to[joint] = sampler.part(part, joint).unwrap_or(rest[part][joint]);
                        }
                    }
                }
                Kind::Scattered(first) => {
                    let keys = &plan.scattered[first..first + run.count];
                    for (to, keys) in to[run.first..].iter_mut().zip(keys) {
                        let (start, end, fraction) = keys_around(plan, keys, sampler);
                        *to = start + (end - start) * fraction;
                    }
                }
                _ => {
                    for joint in run.joints() {
                        to[joint] = sampler.part(part, joint).unwrap_or(rest[part][joint]);
                    }
                }
            }
        }
    }
    // Blocks know of no root joint: it is sampled again.
    if let Some(root) = sampler.root_joint() {
        for (part, to) in to.0.iter_mut().enumerate() {
            to[root] = sampler.part(part, root).unwrap_or(rest[part][root]);
        }
    }
}

/// Whether a block may be sampled together: easings can lead rotations beyond their arc.
#[inline(always)]
fn can_block(keys: Keys, span: &Span, part: usize) -> bool {
    part != 1 || keys.step || (0.0..1.0).contains(&span.fraction)
}

#[inline(always)]
fn sample_keys<L: Lanes>(keys: Keys, span: &Span, part: usize, [start, end]: [&[Vec4]; 2], to: &mut [Vec4]) {
    // A straight line beyond the keys is for numbers alone.
    if keys.step && (part == 1 || span.interval >= 0.0) {
        copy::<L>(start, to);
    } else if part == 1 {
        // Where a key is hit, too: keys are of unit length but for a file's rounding.
        slerp::<L>(start, end, span.fraction, to);
    } else {
        lerp::<L>(start, end, span.fraction, to);
    }
}

#[inline(always)]
fn sample_compact<L: Lanes>(
    keys: Keys,
    span: &Span,
    part: usize,
    columns: &[FourColumns],
    words: &[u32],
    to: &mut [Vec4],
) {
    // A straight line beyond the keys is for numbers alone.
    let stays = keys.step && (part == 1 || span.interval >= 0.0);
    let (next, fraction) = if stays { (0, 0.0) } else { (span.next, span.fraction) };
    let start: &[u8] = bytemuck::cast_slice(&words[span.row as usize..]);
    let end = &start[4 * next as usize..];
    // As long as one another, so that what is in the one is in the other.
    let rows = [&start[..end.len()], end];
    match (part == 1, keys.paired) {
        (false, false) => lerp_compact::<L, false>(columns, rows, fraction, to),
        (false, true) => lerp_compact::<L, true>(columns, rows, fraction, to),
        (true, false) => slerp_compact::<L, false>(columns, rows, fraction, to),
        (true, true) => slerp_compact::<L, true>(columns, rows, fraction, to),
    }
}

/// As [`lerp`], of codes, so that both keys' are scaled at once.
#[inline(always)]
fn lerp_compact<L: Lanes, const PAIRED: bool>(
    columns: &[FourColumns],
    [start, end]: [&[u8]; 2],
    fraction: f32,
    to: &mut [Vec4],
) {
    let joints = L::BLOCK / 4;
    let fraction = L::splat(fraction);
    for (columns, to) in columns.chunks_exact(joints).zip(to.chunks_exact_mut(L::BLOCK)) {
        for (register, to) in to.chunks_exact_mut(joints).enumerate() {
            let (four, first) = (&columns[register * joints / 4], register * joints % 4);
            let (start, end) = (L::codes::<PAIRED>(four, first, start), L::codes::<PAIRED>(four, first, end));
            let codes = (end - start).multiply_add(fraction, start);
            codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..])).store(to);
        }
    }
}

/// As [`slerp`], in the order in which the number that is not stored is the last.
#[inline(always)]
fn slerp_compact<L: Lanes, const PAIRED: bool>(
    columns: &[FourColumns],
    [start, end]: [&[u8]; 2],
    fraction: f32,
    to: &mut [Vec4],
) {
    let joints = L::BLOCK / 4;
    let weights = Weights::new(fraction);
    for (columns, to) in columns.chunks_exact(joints).zip(to.chunks_exact_mut(L::BLOCK)) {
        let ends =
            Ends { start: quaternions::<L, PAIRED>(columns, start), end: quaternions::<L, PAIRED>(columns, end) };
        let block = L::transpose(weights.mean(&ends));
        for (register, to) in to.chunks_exact_mut(joints).enumerate() {
            let (four, first) = (&columns[register * joints / 4], register * joints % 4);
            block[register].in_order(&four.orders[first..]).store(to);
        }
    }
}

/// The rotations of a block in a row, by their numbers.
#[inline(always)]
fn quaternions<L: Lanes, const PAIRED: bool>(columns: &[FourColumns], row: &[u8]) -> [L; 4] {
    let joints = L::BLOCK / 4;
    let (one, least) = (L::splat(1.0), L::splat(1e-12));
    let mut block = [one; 4];
    for (register, numbers) in block.iter_mut().enumerate() {
        let (four, first) = (&columns[register * joints / 4], register * joints % 4);
        let codes = L::codes::<PAIRED>(four, first, row);
        *numbers = codes.multiply_add(L::load(&four.scales[first..]), L::load(&four.bases[first..]));
    }
    let [x, y, z, _] = L::transpose(block);
    let square = (one - x.multiply_add(x, y.multiply_add(y, z * z))).max(least);
    [x, y, z, square * square.inverse_square_root()]
}

/// The keys around the time, and the fraction from the one to the other.
#[inline(always)]
fn keys_around(plan: &Plan, keys: &Keys, sampler: &Sampler) -> (Vec4, Vec4, f32) {
    let span = sampler.span(keys.timeline);
    if keys.compact {
        let (column, words) = (&plan.scattered_columns[keys.first], sampler.words());
        return (column.key(words, span.row), column.key(words, span.row + span.next), span.fraction);
    }
    let start = keys.first + span.row as usize;
    (sampler.values()[start], sampler.values()[start + span.next as usize], span.fraction)
}

/// As [`slerp`], with a fraction for each joint.
#[inline(always)]
fn slerp_scattered<L: Lanes>(plan: &Plan, keys: &[Keys], sampler: &Sampler, to: &mut [Vec4]) {
    let one = L::splat(1.0);
    let mut starts = [Vec4::W; LARGEST_BLOCK];
    let mut ends = starts;
    let mut fractions = [Vec4::ZERO; LARGEST_BLOCK];
    for (keys, to) in keys.chunks(L::BLOCK).zip(to.chunks_exact_mut(L::BLOCK)) {
        for (joint, keys) in keys.iter().enumerate() {
            let (start, end, fraction) = keys_around(plan, keys, sampler);
            (starts[joint], ends[joint], fractions[joint]) = (start, end, Vec4::splat(fraction));
        }
        let [fraction, ..] = L::transpose(L::load_block(&fractions));
        let rest = one - fraction;
        let near_part = fraction.min(rest);
        let doubled = near_part + near_part;
        let from_end = (fraction - rest).max(L::splat(0.0));
        let ends = Ends { start: L::transpose(L::load_block(&starts)), end: L::transpose(L::load_block(&ends)) };
        let arc = ends.arc();
        let (middle, near) = arc.weights(series_of(doubled, arc.x), series_of(one - doubled, arc.x));
        let (start_weight, end_weight) = (middle.or_where_zero(from_end, near), near.or_where_zero(from_end, middle));
        L::store_block(L::transpose(ends.mean(start_weight, end_weight)), to);
    }
}

/// Both ends of a block's arcs, by their numbers.
struct Ends<L> {
    start: [L; 4],
    end: [L; 4],
}

/// A block's halved arcs.
struct Arc<L> {
    /// The cosine of half the arc, less 1.
    x: L,
    /// Half of 1 by the cosine of half the arc.
    scale: L,
}

impl<L: Lanes> Ends<L> {
    #[inline(always)]
    fn arc(&self) -> Arc<L> {
        let half = L::splat(0.5);
        let cosine = dot(self.start, self.end).min(L::splat(1.0));
        let square = cosine.multiply_add(half, half);
        let inverse = square.inverse_square_root();
        Arc { x: square.multiply_add(inverse, L::splat(-1.0)), scale: inverse * half }
    }

    /// The ends' sum by their weights, of unit length.
    #[inline(always)]
    fn mean(&self, start_weight: L, end_weight: L) -> [L; 4] {
        let (start, end) = (self.start, self.end);
        let x = end[0].multiply_add(end_weight, start[0] * start_weight);
        let y = end[1].multiply_add(end_weight, start[1] * start_weight);
        let z = end[2].multiply_add(end_weight, start[2] * start_weight);
        let w = end[3].multiply_add(end_weight, start[3] * start_weight);
        let unit = dot([x, y, z, w], [x, y, z, w]).inverse_square_root();
        [x * unit, y * unit, z * unit, w * unit]
    }
}

impl<L: Lanes> Arc<L> {
    /// The weights of the farther and the nearer end, by the series of both parts of the half arc.
    #[inline(always)]
    fn weights(&self, middle: L, near: L) -> (L, L) {
        let middle = middle * self.scale;
        (middle, near + middle)
    }
}

#[inline(always)]
fn copy<L: Lanes>(from: &[Vec4], to: &mut [Vec4]) {
    let from = &from[..to.len()];
    for (from, to) in from.chunks_exact(L::BLOCK).zip(to.chunks_exact_mut(L::BLOCK)) {
        L::store_block(L::load_block(from), to);
    }
}

#[inline(always)]
fn lerp<L: Lanes>(start: &[Vec4], end: &[Vec4], fraction: f32, to: &mut [Vec4]) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    let fraction = L::splat(fraction);
    let keys = start.chunks_exact(L::BLOCK).zip(end.chunks_exact(L::BLOCK));
    for ((start, end), to) in keys.zip(to.chunks_exact_mut(L::BLOCK)) {
        let (start, end) = (L::load_block(start), L::load_block(end));
        let first = (end[0] - start[0]).multiply_add(fraction, start[0]);
        let second = (end[1] - start[1]).multiply_add(fraction, start[1]);
        let third = (end[2] - start[2]).multiply_add(fraction, start[2]);
        let fourth = (end[3] - start[3]).multiply_add(fraction, start[3]);
        L::store_block([first, second, third, fourth], to);
    }
}

/// Spherical interpolation as `quat::slerp` has it, of quaternions whose fraction from 0 to 1 is the same: the series' terms
/// that depend on it alone are made once.
#[inline(always)]
fn slerp<L: Lanes>(start: &[Vec4], end: &[Vec4], fraction: f32, to: &mut [Vec4]) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    let weights = Weights::new(fraction);
    let keys = start.chunks_exact(L::BLOCK).zip(end.chunks_exact(L::BLOCK));
    for ((start, end), to) in keys.zip(to.chunks_exact_mut(L::BLOCK)) {
        let ends = Ends { start: L::transpose(L::load_block(start)), end: L::transpose(L::load_block(end)) };
        L::store_block(L::transpose(weights.mean(&ends)), to);
    }
}

/// What weights quaternions whose fraction from 0 to 1 is the same: the series' terms that depend on it alone.
struct Weights {
    from_end: bool,
    middle: [f32; 9],
    near: [f32; 9],
}

impl Weights {
    #[inline(always)]
    fn new(fraction: f32) -> Self {
        let from_end = fraction > 0.5;
        let doubled = 2.0 * if from_end { 1.0 - fraction } else { fraction };
        Self { from_end, middle: sine_ratio(doubled), near: sine_ratio(1.0 - doubled) }
    }

    /// What is between a block's quaternions, by its numbers.
    #[inline(always)]
    fn mean<L: Lanes>(&self, ends: &Ends<L>) -> [L; 4] {
        let arc = ends.arc();
        let (middle, near) = arc.weights(series(&self.middle, arc.x), series(&self.near, arc.x));
        let (start_weight, end_weight) = if self.from_end { (middle, near) } else { (near, middle) };
        ends.mean(start_weight, end_weight)
    }
}

/// The dot products of a block's quaternions, by their numbers.
#[inline(always)]
pub fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    let pairs = a[0].multiply_add(b[0], a[1] * b[1]);
    a[2].multiply_add(b[2], a[3].multiply_add(b[3], pairs))
}

/// Coefficients of `sin(t a) / sin(a)` as a series in `cos(a) - 1`, for `t` from 0 to 1 and `a` up to 45 degrees
/// (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011).
#[inline(always)]
fn sine_ratio(t: f32) -> [f32; 9] {
    let mut terms = [t; 9];
    for (index, (squared, factor)) in SINE_RATIO.into_iter().enumerate() {
        terms[index + 1] = terms[index] * (t * t - squared) * factor;
    }
    terms
}

#[inline(always)]
fn series<L: Lanes>(terms: &[f32; 9], x: L) -> L {
    let mut sum = L::splat(terms[8]);
    for &term in terms[..8].iter().rev() {
        sum = sum.multiply_add(x, L::splat(term));
    }
    sum
}

/// The same series where each joint has a `t` of its own.
#[inline(always)]
fn series_of<L: Lanes>(t: L, x: L) -> L {
    let square = t * t;
    let one = L::splat(1.0);
    let mut sum = one;
    for &(squared, factor) in SINE_RATIO.iter().rev() {
        sum = sum.multiply_add((square - L::splat(squared)) * (x * L::splat(factor)), one);
    }
    t * sum
}

/// For each term but the first what `t t` is lessened by, and the factor, by which it comes of the term before.
const SINE_RATIO: [(f32, f32); 8] = [
    (1.0, 1.0 / 3.0),
    (4.0, 1.0 / 10.0),
    (9.0, 1.0 / 21.0),
    (16.0, 1.0 / 36.0),
    (25.0, 1.0 / 55.0),
    (36.0, 1.0 / 78.0),
    (49.0, 1.0 / 105.0),
    (64.0, 1.0 / 136.0),
];

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3, DVec4};

    use super::*;
    use crate::cpu::simd::{InstructionSet, Kernel};

    struct Slerp<'a>(&'a [Vec4], &'a [Vec4], f32);

    impl Kernel for Slerp<'_> {
        type Output = Vec<Vec4>;
        fn run<L: Lanes>(self) -> Vec<Vec4> {
            let mut to = vec![Vec4::ZERO; self.0.len()];
            slerp::<L>(self.0, self.1, self.2, &mut to);
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
