//! Spherical interpolation of the quaternions of a block, number by number.
//!
//! The arc is halved, and a series gives the weights (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP",
//! 2011): multiplications and additions alone, as on the GPU, where `sin` and `acos` are not accurate enough.

use std::ops::Mul;

use glam::Vec4;

use crate::cpu::simd::{LARGEST_BLOCK, Lanes};
use crate::cpu::stages::quat::SINE_RATIO;

/// The weights of quaternions with one common fraction, 0 to 1: the terms of the series that depend only on the fraction.
pub struct Weights {
    from_end: bool,
    middle: [f32; 9],
    near: [f32; 9],
}

impl Weights {
    /// Computes the terms for a fraction, 0 to 1.
    #[inline(always)]
    pub fn new(fraction: f32) -> Self {
        let from_end = fraction > 0.5;
        let doubled = 2.0 * if from_end { 1.0 - fraction } else { fraction };
        Self { from_end, middle: sine_ratio(doubled), near: sine_ratio(1.0 - doubled) }
    }

    /// The interpolated quaternions of a block, number by number.
    #[inline(always)]
    pub fn interpolate<L: Lanes>(&self, ends: &Ends<L>) -> [L; 4] {
        let arc = ends.arc();
        let (middle, near) =
            arc.weights(series(&self.middle, arc.cosine_less_one), series(&self.near, arc.cosine_less_one));
        let (start_weight, end_weight) = if self.from_end { (middle, near) } else { (near, middle) };
        ends.mean(start_weight, end_weight)
    }
}

/// The numbers of [`Weights`], in groups of four: the first eight terms of both series, then the last ones.
const GROUPS: usize = 5;

/// The weights of a group of instances: for each four numbers, those of all instances.
#[derive(Debug, Clone)]
pub struct GroupWeights {
    /// The fraction of each instance as its first number.
    fractions: [Vec4; LARGEST_BLOCK],
    terms: [[Vec4; LARGEST_BLOCK]; GROUPS],
}

impl Default for GroupWeights {
    fn default() -> Self {
        Self { fractions: [Vec4::ZERO; LARGEST_BLOCK], terms: [[Vec4::ZERO; LARGEST_BLOCK]; GROUPS] }
    }
}

impl GroupWeights {
    /// Sets the fraction of an instance. [`weigh`](Self::weigh) must follow.
    #[inline(always)]
    pub fn set_fraction(&mut self, instance: usize, fraction: f32) {
        // The remainder changes nothing: it spares a check of bounds.
        self.fractions[instance % LARGEST_BLOCK].x = fraction;
    }

    /// Computes the weights for the fractions of all instances, with the bits of [`Weights::new`].
    #[inline(always)]
    pub fn weigh<L: Lanes>(&mut self) {
        let one = L::splat(1.0);
        let [fraction, ..] = L::transpose(L::load_block(&self.fractions));
        let nearer = fraction.min(one - fraction);
        let doubled = nearer + nearer;
        let (middle, near) = (sine_ratios(doubled), sine_ratios(one - doubled));
        let blocks = [
            [middle[0], middle[1], middle[2], middle[3]],
            [middle[4], middle[5], middle[6], middle[7]],
            [near[0], near[1], near[2], near[3]],
            [near[4], near[5], near[6], near[7]],
            [middle[8], near[8], one, one],
        ];
        for (block, to) in blocks.into_iter().zip(&mut self.terms) {
            L::store_block(L::transpose(block), to);
        }
    }

    /// The weights of an instance.
    #[inline(always)]
    pub fn of(&self, instance: usize) -> Weights {
        // The remainder changes nothing: it spares checks of bounds.
        let instance = instance % LARGEST_BLOCK;
        let four = |group: usize| self.terms[group][instance].to_array();
        let joined = |[a, b, c, d]: [f32; 4], [e, f, g, h]: [f32; 4], last: f32| [a, b, c, d, e, f, g, h, last];
        let [last_middle, last_near, ..] = four(4);
        Weights {
            from_end: self.fractions[instance].x > 0.5,
            middle: joined(four(0), four(1), last_middle),
            near: joined(four(2), four(3), last_near),
        }
    }
}

/// Both ends of the arcs of a block, number by number.
pub struct Ends<L> {
    pub start: [L; 4],
    pub end: [L; 4],
}

/// The halved arcs of a block.
pub struct HalfArc<L> {
    /// The cosine of the half arc, minus 1.
    pub cosine_less_one: L,
    /// `0.5 / cosine` of the half arc.
    scale: L,
}

impl<L: Lanes> Ends<L> {
    /// Halves the arcs between both ends.
    #[inline(always)]
    pub fn arc(&self) -> HalfArc<L> {
        let half = L::splat(0.5);
        let cosine = dot(self.start, self.end).min(L::splat(1.0));
        let square = cosine.multiply_add(half, half);
        let inverse = square.inverse_square_root();
        HalfArc { cosine_less_one: square.multiply_add(inverse, L::splat(-1.0)), scale: inverse * half }
    }

    /// The weighted sum of both ends, at unit length.
    #[inline(always)]
    pub fn mean(&self, start_weight: L, end_weight: L) -> [L; 4] {
        let (start, end) = (self.start, self.end);
        let x = end[0].multiply_add(end_weight, start[0] * start_weight);
        let y = end[1].multiply_add(end_weight, start[1] * start_weight);
        let z = end[2].multiply_add(end_weight, start[2] * start_weight);
        let w = end[3].multiply_add(end_weight, start[3] * start_weight);
        let unit = dot([x, y, z, w], [x, y, z, w]).inverse_square_root();
        [x * unit, y * unit, z * unit, w * unit]
    }
}

impl<L: Lanes> HalfArc<L> {
    /// The weights of the farther and the nearer end. `middle` and `near` are the series of both parts of the half arc.
    #[inline(always)]
    pub fn weights(&self, middle: L, near: L) -> (L, L) {
        let middle = middle * self.scale;
        (middle, near + middle)
    }
}

/// The dot products of the quaternions of two blocks, number by number.
#[inline(always)]
pub fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    let pairs = a[0].multiply_add(b[0], a[1] * b[1]);
    a[2].multiply_add(b[2], a[3].multiply_add(b[3], pairs))
}

/// Coefficients of `sin(t a) / sin(a)` as a series in `cos(a) - 1`, for `t` from 0 to 1 and `a` up to 45 degrees
/// (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011).
#[inline(always)]
fn sine_ratio(t: f32) -> [f32; 9] {
    let square = t * t;
    // Not by `map`, which would be a call.
    let mut factors = [0.0; SINE_RATIO.len()];
    for (to, (squared, factor)) in factors.iter_mut().zip(SINE_RATIO) {
        *to = (square - squared) * factor;
    }
    coefficients(t, factors)
}

/// The same coefficients for one `t` per lane.
#[inline(always)]
fn sine_ratios<L: Lanes>(t: L) -> [L; 9] {
    let square = t * t;
    // Not by `map`: the code of its closure is not always compiled for the instruction set.
    let mut factors = [square; SINE_RATIO.len()];
    for (to, (squared, factor)) in factors.iter_mut().zip(SINE_RATIO) {
        *to = (square - L::splat(squared)) * L::splat(factor);
    }
    coefficients(t, factors)
}

/// The coefficients by their factors: each is the one before times a factor.
#[inline(always)]
fn coefficients<T: Copy + Mul<Output = T>>(t: T, [a, b, c, d, e, f, g, h]: [T; 8]) -> [T; 9] {
    // Products of several factors first: no product waits for more than three others.
    let (ab, cd, ef, gh) = (a * b, c * d, e * f, g * h);
    let (abc, abcd, efg, efgh) = (ab * c, ab * cd, ef * g, ef * gh);
    let half = t * abcd;
    [t, t * a, t * ab, t * abc, half, half * e, half * ef, half * efg, half * efgh]
}

/// The sum of a series in `x`, `terms[0]` first.
#[inline(always)]
fn series<L: Lanes>(terms: &[f32; 9], x: L) -> L {
    let mut sum = L::splat(terms[8]);
    for &term in terms[..8].iter().rev() {
        sum = sum.multiply_add(x, L::splat(term));
    }
    sum
}

/// The series of `sin(t a) / sin(a)` with a separate `t` per joint.
#[inline(always)]
pub fn series_of<L: Lanes>(t: L, x: L) -> L {
    let square = t * t;
    let one = L::splat(1.0);
    let mut sum = one;
    for &(squared, factor) in SINE_RATIO.iter().rev() {
        sum = sum.multiply_add((square - L::splat(squared)) * (x * L::splat(factor)), one);
    }
    t * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::{ExactKernel, InstructionSet, Kernel};

    /// The weights of a group, as bits.
    struct GroupBits([f32; LARGEST_BLOCK]);

    impl Kernel for GroupBits {
        type Output = Vec<(bool, [u32; 9], [u32; 9])>;

        fn run<L: Lanes>(self) -> Self::Output {
            let count = L::BLOCK;
            let mut group = GroupWeights::default();
            self.0.iter().enumerate().for_each(|(instance, &fraction)| group.set_fraction(instance, fraction));
            group.weigh::<L>();
            (0..count).map(|instance| bits(&group.of(instance))).collect()
        }
    }

    fn bits(weights: &Weights) -> (bool, [u32; 9], [u32; 9]) {
        (weights.from_end, weights.middle.map(f32::to_bits), weights.near.map(f32::to_bits))
    }

    #[test]
    fn weights_of_a_group_are_those_of_each_instance_bit_by_bit() {
        let mut fractions = [0.0; LARGEST_BLOCK];
        let special = [0.0, 0.5, 0.5_f32.next_down(), 0.5_f32.next_up(), 1.0_f32.next_down(), 1.0, 1e-30, 0.25];
        for (index, fraction) in fractions.iter_mut().enumerate() {
            *fraction = special.get(index).copied().unwrap_or(index as f32 * 0.061);
        }
        let alone: Vec<_> = fractions.iter().map(|&fraction| bits(&Weights::new(fraction))).collect();
        for shift in 0..LARGEST_BLOCK {
            fractions.rotate_left(usize::from(shift > 0));
            let expected =
                |count: usize| -> Vec<_> { (0..count).map(|at| alone[(at + shift) % LARGEST_BLOCK]).collect() };
            for instructions in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                let group = instructions.run(GroupBits(fractions));
                assert_eq!(group, expected(group.len()), "{}", instructions.name());
                let exact = instructions.run(ExactKernel(GroupBits(fractions)));
                assert_eq!(exact, expected(exact.len()), "{}, exact", instructions.name());
            }
        }
    }
}
