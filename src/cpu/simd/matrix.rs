//! Affine matrices as three rows of four numbers: the linear part, and the translation in the last column.

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
