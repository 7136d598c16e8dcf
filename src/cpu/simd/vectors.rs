//! Vectors in memory, aligned to cache lines.

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
pub struct AlignedVectors(Vec<Line>);

impl AlignedVectors {
    /// Makes room for `count` vectors, rounded up to a multiple of four. New cache lines are filled with `value`.
    pub fn resize(&mut self, count: usize, value: Vec4) {
        self.0.resize(count.div_ceil(4), Line([value; 4]));
    }
}

impl Deref for AlignedVectors {
    type Target = [Vec4];

    #[inline(always)]
    fn deref(&self) -> &[Vec4] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for AlignedVectors {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Vec4] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_begin_at_cache_lines_and_keep_what_they_hold() {
        let mut vectors = AlignedVectors::default();
        assert!(vectors.is_empty());
        for count in [1, 5, 64, 1000] {
            vectors.resize(count, Vec4::W);
            assert_eq!((vectors.as_ptr().addr() % 64, vectors.len()), (0, count.next_multiple_of(4)));
            assert_eq!(vectors[count.next_multiple_of(4) - 1], Vec4::W);
            assert_eq!(vectors[0], if count == 1 { Vec4::W } else { Vec4::X });
            vectors[0] = Vec4::X;
        }
    }
}
