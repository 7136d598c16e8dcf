//! Interpolation of the joints of a block: copies, straight lines, and arcs of rotations.
//!
//! # Slerp
//! A rotation at the fraction `t` of an arc `a` is the sum of both ends with the weights `sin((1 - t) a) / sin(a)` and
//! `sin(t a) / sin(a)`. Registers have no sine. `sin(t a) / sin(a)` is a series in `cos(a) - 1` (D. Eberly, "A Fast and
//! Accurate Algorithm for Computing SLERP", 2011), and the cosine is the dot product of the ends. Up to 45 degrees,
//! nine terms are exact to 1e-8.
//!
//! Keys of recorded motion are much nearer each other. If the dot products of neighbouring keys are at least
//! [`NEAR_ARC`], four terms are as exact.
//!
//! Arcs of keys reach 90 degrees, so that each arc is halved first ([`Ends::arc`]). The result lies between the middle
//! and the nearer end, at twice the fraction. The middle is `(start + end) / (2 cos(a / 2))`; its weight goes to both
//! ends in equal shares ([`HalfArc::weights`]). The sum is brought to unit length, which keys of a file have only up to
//! their rounding.
//!
//! The coefficients of the series depend on the fraction alone:
//!
//! * Joints with keys of one timeline have one fraction per instance: [`Weights`] has its coefficients, and a block of
//!   joints takes eight multiplications for each series.
//! * [`GroupWeights`] computes the coefficients of all instances of a group at once, with the bits of [`Weights::new`].
//! * Joints with separate keys have a fraction each. They wait in [`Arcs`] until they fill a block, whose lanes have a
//!   series each ([`series_of`]).
//!
//! All of this works number by number: a register has the same number of several quaternions. The blocks of keys are
//! transposed for that, unless they were decoded so.

use std::ops::{Mul, Range};

use glam::Vec4;

use crate::cpu::simd::{LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::quat::SINE_RATIO;

/// The least dot product of two rotations that are near each other: for arcs of 28 degrees, a rotation by 56. Then
/// `cos(a) - 1` of the halved arc is at least -0.0305, and the terms of the series after the fourth, of which the first
/// is at most 0.0086 times its fourth power, are less than 1e-8.
pub const NEAR_ARC: f32 = 0.88;

/// The number of terms of the series for rotations that are near each other.
const NEAR_TERMS: usize = 4;

/// The weights of quaternions with one common fraction, 0 to 1: the terms of the series that depend only on the
/// fraction.
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

    /// The interpolated quaternions of a block, number by number. If `NEAR` is set, all ends must be [near](NEAR_ARC)
    /// each other.
    #[inline(always)]
    pub fn interpolate<L: Lanes, const NEAR: bool>(&self, ends: &Ends<L>) -> [L; 4] {
        let arc = ends.arc();
        let terms = if NEAR { NEAR_TERMS } else { self.middle.len() };
        let (middle, near) = (&self.middle[..terms], &self.near[..terms]);
        let (middle, near) = arc.weights(series(middle, arc.cosine_less_one), series(near, arc.cosine_less_one));
        let (start_weight, end_weight) = if self.from_end { (middle, near) } else { (near, middle) };
        ends.mean(start_weight, end_weight)
    }
}

/// The numbers of [`Weights`], in groups of four: the first eight terms of both series, then the last ones.
const GROUPS: usize = 5;

/// The weights of a group of instances: for each four numbers, the weights of all instances.
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
    pub fn weigh<L: Lanes>(&mut self, token: Token<L>) {
        let one = L::splat(token, 1.0);
        let [fraction, ..] = L::transpose(L::load_block(token, &self.fractions));
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
        let token = self.start[0].token();
        let half = L::splat(token, 0.5);
        let cosine = dot(self.start, self.end).min(L::splat(token, 1.0));
        let square = cosine.multiply_add(half, half);
        let inverse = square.inverse_square_root();
        HalfArc { cosine_less_one: square.multiply_add(inverse, L::splat(token, -1.0)), scale: inverse * half }
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
    let token = t.token();
    let square = t * t;
    // Not by `map`: the code of its closure is not always compiled for the instruction set.
    let mut factors = [square; SINE_RATIO.len()];
    for (to, (squared, factor)) in factors.iter_mut().zip(SINE_RATIO) {
        *to = (square - L::splat(token, squared)) * L::splat(token, factor);
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
fn series<L: Lanes>(terms: &[f32], x: L) -> L {
    let token = x.token();
    let Some((&last, terms)) = terms.split_last() else { return L::splat(token, 0.0) };
    let mut sum = L::splat(token, last);
    for &term in terms.iter().rev() {
        sum = sum.multiply_add(x, L::splat(token, term));
    }
    sum
}

/// The series of `sin(t a) / sin(a)` with a separate `t` per joint.
#[inline(always)]
pub fn series_of<L: Lanes>(t: L, x: L) -> L {
    let token = x.token();
    let square = t * t;
    let one = L::splat(token, 1.0);
    let mut sum = one;
    for &(squared, factor) in SINE_RATIO.iter().rev() {
        sum = sum.multiply_add((square - L::splat(token, squared)) * (x * L::splat(token, factor)), one);
    }
    t * sum
}

/// The whole blocks of some joints.
#[inline(always)]
pub fn blocks<L: Lanes>(joints: usize) -> impl Iterator<Item = Range<usize>> {
    // Zipped iterators of `chunks_exact` divide by the size of a block, in a function that is not inlined. The call
    // spills registers.
    (0..joints / L::BLOCK).map(|block| block * L::BLOCK..(block + 1) * L::BLOCK)
}

/// Copies the values of a run, block by block.
#[inline(always)]
pub fn copy<L: Lanes>(token: Token<L>, from: &[Vec4], to: &mut [Vec4]) {
    let from = &from[..to.len()];
    for block in blocks::<L>(to.len()) {
        L::store_block(L::load_block(token, &from[block.clone()]), &mut to[block]);
    }
}

/// Interpolates numbers linearly with one common fraction.
#[inline(always)]
pub fn lerp<L: Lanes>(token: Token<L>, start: &[Vec4], end: &[Vec4], fraction: f32, to: &mut [Vec4]) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    let fraction = L::splat(token, fraction);
    for block in blocks::<L>(to.len()) {
        let (start, end) = (L::load_block(token, &start[block.clone()]), L::load_block(token, &end[block.clone()]));
        let first = (end[0] - start[0]).multiply_add(fraction, start[0]);
        let second = (end[1] - start[1]).multiply_add(fraction, start[1]);
        let third = (end[2] - start[2]).multiply_add(fraction, start[2]);
        let fourth = (end[3] - start[3]).multiply_add(fraction, start[3]);
        L::store_block([first, second, third, fourth], &mut to[block]);
    }
}

/// Interpolates rotations as `quat::slerp` does, with one common fraction, 0 to 1. The terms of the series that depend
/// only on the fraction are the factors of `weights`. If `BY_NUMBER` is set, the blocks of both ends are transposed
/// already; if `NEAR` is set, all ends must be [near](NEAR_ARC) each other.
#[inline(always)]
pub fn slerp<L: Lanes, const BY_NUMBER: bool, const NEAR: bool>(
    token: Token<L>,
    [start, end]: [&[Vec4]; 2],
    weights: &Weights,
    to: &mut [Vec4],
) {
    let (start, end) = (&start[..to.len()], &end[..to.len()]);
    for block in blocks::<L>(to.len()) {
        let (start, end) = (L::load_block(token, &start[block.clone()]), L::load_block(token, &end[block.clone()]));
        let ends = match BY_NUMBER {
            true => Ends { start, end },
            false => Ends { start: L::transpose(start), end: L::transpose(end) },
        };
        L::store_block(L::transpose(weights.interpolate::<L, NEAR>(&ends)), &mut to[block]);
    }
}

/// Rotations with separate keys that wait until they fill a block.
#[derive(Debug, Clone)]
pub struct Arcs {
    starts: [Vec4; LARGEST_BLOCK],
    ends: [Vec4; LARGEST_BLOCK],
    /// The fraction of each arc, as the first number.
    fractions: [Vec4; LARGEST_BLOCK],
    /// The index of each result.
    targets: [usize; LARGEST_BLOCK],
    count: usize,
}

impl Default for Arcs {
    fn default() -> Self {
        let unit = [Vec4::W; LARGEST_BLOCK];
        Self { starts: unit, ends: unit, fractions: unit, targets: [0; LARGEST_BLOCK], count: 0 }
    }
}

impl Arcs {
    /// Adds a rotation between two keys, with its fraction. If the block is full, writes the results of all.
    #[inline(always)]
    pub fn push<L: Lanes>(
        &mut self,
        token: Token<L>,
        (start, end, fraction): (Vec4, Vec4, f32),
        target: usize,
        to: &mut [Vec4],
    ) {
        let slot = self.count;
        (self.starts[slot], self.ends[slot], self.targets[slot]) = (start, end, target);
        self.fractions[slot].x = fraction;
        self.count += 1;
        if self.count == L::BLOCK {
            self.finish(token, to);
        }
    }

    /// Writes the results of all rotations that wait, interpolated as in a block.
    #[inline(always)]
    pub fn finish<L: Lanes>(&mut self, token: Token<L>, to: &mut [Vec4]) {
        if self.count == 0 {
            return;
        }
        let one = L::splat(token, 1.0);
        let [fraction, ..] = L::transpose(L::load_block(token, &self.fractions));
        let rest = one - fraction;
        let near_part = fraction.min(rest);
        let doubled = near_part + near_part;
        let from_end = (fraction - rest).max(L::splat(token, 0.0));
        let ends = Ends {
            start: L::transpose(L::load_block(token, &self.starts)),
            end: L::transpose(L::load_block(token, &self.ends)),
        };
        let arc = ends.arc();
        let (middle, near) =
            arc.weights(series_of(doubled, arc.cosine_less_one), series_of(one - doubled, arc.cosine_less_one));
        let (start_weight, end_weight) =
            (middle.replace_where_zero(from_end, near), near.replace_where_zero(from_end, middle));
        let mut results = [Vec4::ZERO; LARGEST_BLOCK];
        L::store_block(L::transpose(ends.mean(start_weight, end_weight)), &mut results);
        for (&target, result) in self.targets[..self.count].iter().zip(results) {
            to[target] = result;
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3, DVec4};

    use super::*;
    use crate::cpu::simd::{InstructionSet, Kernel};

    /// The weights of a group, as bits.
    struct GroupBits([f32; LARGEST_BLOCK]);

    impl Kernel for GroupBits {
        type Output = Vec<(bool, [u32; 9], [u32; 9])>;

        fn run<L: Lanes>(self, token: Token<L>) -> Self::Output {
            let count = L::BLOCK;
            let mut group = GroupWeights::default();
            self.0.iter().enumerate().for_each(|(instance, &fraction)| group.set_fraction(instance, fraction));
            group.weigh(token);
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
                let exact = instructions.run_exact(GroupBits(fractions));
                assert_eq!(exact, expected(exact.len()), "{}, exact", instructions.name());
            }
        }
    }

    struct Slerp<'a, const NEAR: bool>(&'a [Vec4], &'a [Vec4], f32);

    impl<const NEAR: bool> Kernel for Slerp<'_, NEAR> {
        type Output = Vec<Vec4>;
        fn run<L: Lanes>(self, token: Token<L>) -> Vec<Vec4> {
            let mut to = vec![Vec4::ZERO; self.0.len()];
            slerp::<_, false, NEAR>(token, [self.0, self.1], &Weights::new(self.2), &mut to);
            to
        }
    }

    /// Compares slerp with the exact rotation, in every instruction set. A block has sixteen angles.
    fn check_slerp<const NEAR: bool>(angles: [f64; 16]) {
        let turn =
            |angle| DQuat::from_axis_angle(DVec3::Y, 0.7) * DQuat::from_axis_angle(DVec3::new(0.48, -0.6, 0.64), angle);
        let key = |angle| Vec4::from_array(turn(angle).as_quat().to_array());
        let (starts, ends) = (angles.map(|_| key(0.0)), angles.map(key));
        for instructions in InstructionSet::ALL {
            for step in 0..64 {
                let fraction = step as f32 / 64.0;
                let found = instructions.run(Slerp::<NEAR>(&starts, &ends, fraction));
                for (found, angle) in found.iter().zip(angles) {
                    let found = found.as_dvec4();
                    let wanted = DVec4::from_array(turn(angle * f64::from(fraction)).to_array());
                    let error = 2.0 * (found - wanted * wanted.dot(found).signum()).length();
                    assert!(error < 5e-7, "{}: {error} rad at {fraction} of {angle}", instructions.name());
                }
            }
        }
    }

    #[test]
    fn slerp_is_exact_to_5e_7_rad_in_every_instruction_set() {
        let pi = std::f64::consts::PI;
        check_slerp::<false>([0.0, 1e-8, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.7, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.1, pi]);
    }

    #[test]
    fn four_terms_are_as_exact_for_rotations_that_are_near() {
        let most = 2.0 * f64::from(NEAR_ARC).acos();
        assert!(most.to_degrees() > 56.0);
        check_slerp::<true>([0.0, 1e-8, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, most]);
    }
}
