//! Rotations with separate keys, interpolated in blocks.

use glam::Vec4;

use crate::cpu::block::slerp::{Ends, series_of};
use crate::cpu::simd::{LARGEST_BLOCK, Lanes};

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
    pub fn push<L: Lanes>(&mut self, (start, end, fraction): (Vec4, Vec4, f32), target: usize, to: &mut [Vec4]) {
        let slot = self.count;
        (self.starts[slot], self.ends[slot], self.targets[slot]) = (start, end, target);
        self.fractions[slot].x = fraction;
        self.count += 1;
        if self.count == L::BLOCK {
            self.finish::<L>(to);
        }
    }

    /// Writes the results of all rotations that wait, interpolated as those of a block.
    #[inline(always)]
    pub fn finish<L: Lanes>(&mut self, to: &mut [Vec4]) {
        if self.count == 0 {
            return;
        }
        let one = L::splat(1.0);
        let [fraction, ..] = L::transpose(L::load_block(&self.fractions));
        let rest = one - fraction;
        let near_part = fraction.min(rest);
        let doubled = near_part + near_part;
        let from_end = (fraction - rest).max(L::splat(0.0));
        let ends =
            Ends { start: L::transpose(L::load_block(&self.starts)), end: L::transpose(L::load_block(&self.ends)) };
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
