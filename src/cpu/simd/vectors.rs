//! Vectors in memory that registers load and store whole cache lines of.

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};
use glam::Vec4;

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([Vec4; 4]);

/// Vectors of four numbers, the first one at the start of a cache line. A register that is stored across two lines, or loaded from two,
/// takes longer.
#[derive(Debug, Clone, Default)]
pub struct Vectors(Vec<Line>);

impl Vectors {
    /// Makes room for at least `count` vectors. New ones are `value`.
    pub fn resize(&mut self, count: usize, value: Vec4) {
        self.0.resize(count.div_ceil(4), Line([value; 4]));
    }
}

impl Deref for Vectors {
    type Target = [Vec4];

    #[inline(always)]
    fn deref(&self) -> &[Vec4] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Vectors {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Vec4] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
