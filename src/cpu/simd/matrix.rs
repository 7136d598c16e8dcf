//! Affine matrices as three rows of four numbers: the linear part, and the translation in the last column; and their
//! stores past the caches, for results that are larger than the caches.
//!
//! Every machine of the x86-64 architecture has the instructions of these stores. Other machines store through the
//! caches, and so does Miri, which does not know the instructions.
#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::{_mm_sfence, _mm_stream_ps, _mm_stream_si64};

use bytemuck::{Pod, Zeroable};
use glam::Vec4;

/// Numbers of an affine matrix.
pub const MATRIX_NUMBERS: usize = 12;

/// An affine matrix by its rows.
pub type Rows = [Vec4; 3];

/// A skin matrix in half the bytes. The bits of each number are a word.
pub type PackedMatrix = [f32; 6];

/// The three rows of a matrix, at a multiple of 16 bytes.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct AlignedRows(pub [f32; MATRIX_NUMBERS]);

/// The rows of four matrices, which fill three cache lines.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct AlignedLines(pub [f32; 4 * MATRIX_NUMBERS]);

impl AlignedLines {
    /// The matrices.
    #[inline(always)]
    pub fn matrices_mut(&mut self) -> &mut [AlignedRows; 4] {
        bytemuck::cast_mut(self)
    }
}

/// The product of two matrices: it applies the right one first, then the left one.
pub fn multiply(left: &Rows, right: [&Vec4; 3]) -> Rows {
    left.map(|row| Vec4::new(0.0, 0.0, 0.0, row.w) + *right[0] * row.x + *right[1] * row.y + *right[2] * row.z)
}

/// An affine matrix as three rows, padded to the width of the widest register.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Matrix([Vec4; 4]);

impl Matrix {
    /// A matrix of three rows.
    #[inline(always)]
    pub fn new(rows: Rows) -> Self {
        Self([rows[0], rows[1], rows[2], Vec4::ZERO])
    }

    /// All numbers, row after row, then four of padding.
    #[inline(always)]
    pub fn numbers(&self) -> &[f32; 16] {
        bytemuck::cast_ref(&self.0)
    }

    /// All numbers, row after row, then four of padding, to be written.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub fn numbers_mut(&mut self) -> &mut [f32; 16] {
        bytemuck::cast_mut(&mut self.0)
    }

    /// The three rows.
    #[inline(always)]
    pub fn rows(&self) -> [&Vec4; 3] {
        let [first, second, third, _] = &self.0;
        [first, second, third]
    }
}

/// Stores the three rows of a matrix past the caches. Drop a [`Fence`] before another thread reads the rows.
#[inline(always)]
pub fn stream_rows(rows: Rows, to: &mut AlignedRows) {
    let to = &mut to.0;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every machine of this architecture has SSE2; each row has 4 numbers of `to`, at a multiple of 16 bytes,
    // as its type ensures.
    unsafe {
        _mm_stream_ps(to.as_mut_ptr(), rows[0].into());
        _mm_stream_ps(to[4..].as_mut_ptr(), rows[1].into());
        _mm_stream_ps(to[8..].as_mut_ptr(), rows[2].into());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for (row, to) in rows.into_iter().zip(to.as_chunks_mut::<4>().0) {
        *to = row.to_array();
    }
}

/// Stores the words of a packed matrix past the caches, the lower half of each word first. Drop a [`Fence`] before
/// another thread reads the words.
#[inline(always)]
pub fn stream_words(words: [u64; 3], to: &mut PackedMatrix) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every machine of this architecture has SSE2; each word covers 2 numbers of `to`, and needs no alignment.
    unsafe {
        _mm_stream_si64(to.as_mut_ptr().cast(), words[0].cast_signed());
        _mm_stream_si64(to[2..].as_mut_ptr().cast(), words[1].cast_signed());
        _mm_stream_si64(to[4..].as_mut_ptr().cast(), words[2].cast_signed());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    store_words(words, to);
}

/// Stores the words of a packed matrix through the caches, the lower half of each word first.
#[inline(always)]
pub fn store_words(words: [u64; 3], to: &mut PackedMatrix) {
    for (word, to) in words.into_iter().zip(to.as_chunks_mut::<2>().0) {
        *to = [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)];
    }
}

/// Makes all that was stored past the caches visible to other threads when it is dropped, also by a panic.
#[must_use]
pub struct Fence;

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every machine of this architecture has the instruction; no memory is accessed.
        unsafe {
            _mm_sfence();
        }
    }
}
