//! What a register can do.

use std::ops::{Add, Div, Mul, Sub};

use glam::{UVec4, Vec4};

use crate::cpu::matrix::Rows;
use crate::cpu::quantized::{FourColumns, in_order};
use crate::pack::NUMBERS;

/// An affine matrix as three rows, filled up to the width of the widest register.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Matrix([Vec4; 4]);

impl Matrix {
    /// By its rows.
    #[inline(always)]
    pub fn new([x, y, z]: Rows) -> Self {
        Self([x, y, z, Vec4::ZERO])
    }

    /// All numbers, row after row, then four more.
    #[inline(always)]
    pub fn numbers(&self) -> &[f32; 16] {
        bytemuck::cast_ref(&self.0)
    }

    /// As above.
    #[inline(always)]
    pub fn numbers_mut(&mut self) -> &mut [f32; 16] {
        bytemuck::cast_mut(&mut self.0)
    }

    /// The rows.
    #[inline(always)]
    pub fn rows(&self) -> &[f32; NUMBERS] {
        self.numbers().first_chunk().unwrap_or(&[0.0; NUMBERS])
    }
}

/// A skin matrix in half the bytes: numbers that have the bits of words.
pub type PackedMatrix = [f32; 6];

/// A register of four numbers for each of some neighbouring joints.
///
/// Four registers are a block: transposed, they hold one of the four numbers each, of all joints of the block in an order of
/// its own, which transposing again undoes.
pub trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// Joints of a block.
    const BLOCK: usize;

    /// The product of two matrices in registers.
    type Product: Copy;

    /// The numbers of the first joints of a slice that has as many.
    fn load(from: &[Vec4]) -> Self;

    /// Writes them.
    fn store(self, to: &mut [Vec4]);

    /// One number everywhere.
    fn splat(number: f32) -> Self;

    /// `self * factor + addend`.
    fn multiply_add(self, factor: Self, addend: Self) -> Self;

    /// The lesser of each two numbers.
    fn min(self, other: Self) -> Self;

    /// The greater of each two numbers.
    fn max(self, other: Self) -> Self;

    /// Another's numbers where `which` is 0.
    fn or_where_zero(self, which: Self, other: Self) -> Self;

    /// Each joint's four numbers, negated where their dot product with another's is negative.
    fn toward(self, other: Self) -> Self;

    /// The lowest 16 bits of each joint's four numbers, the first lowest, a joint a word.
    fn store_low_bits(self, to: &mut [u64]);

    /// The codes of a quantized key of joints from one of four on, as they lie in the bytes of its row. Where they are
    /// `PAIRED`, each two share a window.
    #[inline(always)]
    fn codes<const PAIRED: bool>(columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let mut codes = [Vec4::ZERO; 4];
        for (column, codes) in codes[first..][..Self::BLOCK / 4].iter_mut().enumerate() {
            *codes = columns.codes(first + column, row);
        }
        Self::load(&codes[first..])
    }

    /// Each joint's numbers from their places among the four.
    #[inline(always)]
    fn in_order(self, orders: &[UVec4]) -> Self {
        let mut numbers = [Vec4::ZERO; 4];
        self.store(&mut numbers);
        for (numbers, &order) in numbers.iter_mut().zip(orders) {
            *numbers = in_order(*numbers, order);
        }
        Self::load(&numbers)
    }

    /// Whether any number is less than another.
    fn any_less(self, than: Self) -> bool;

    /// `1 / sqrt(self)` to the rounding of an `f32` or two, of numbers far from the ends of its range.
    fn inverse_square_root(self) -> Self;

    /// Each joint's fourth number replaced by 1.
    fn with_one(self) -> Self;

    /// Rows to columns within each joint of a block.
    fn transpose(block: [Self; 4]) -> [Self; 4];

    /// A matrix times another that is given by its rows.
    fn product(left: &Matrix, right: &Rows) -> Self::Product;

    /// The rows of the products of as many neighbouring joints as a register has: all first rows, all second, all third.
    fn rows(products: &[Self::Product]) -> [Self; 3];

    /// Writes a product.
    fn store_matrix(product: Self::Product, to: &mut Matrix);

    /// Writes a product's three rows.
    fn store_rows(product: Self::Product, to: &mut [f32; NUMBERS]);

    /// Writes a product's three rows past the caches, where the instruction set can and they lie on a multiple of 16 bytes:
    /// for results that are larger than the caches anyway. [`fence`](Self::fence) comes before anybody else reads them.
    #[inline(always)]
    fn store_rows_past_caches(product: Self::Product, to: &mut [f32; NUMBERS]) {
        Self::store_rows(product, to);
    }

    /// A product's numbers as `f16`, four to a word, the first in its lowest bits, each as
    /// [`half`](crate::pack::skin_format::half) has it.
    fn halves(product: Self::Product) -> [u64; 3];

    /// Writes a packed matrix, each word's lower half first.
    #[inline(always)]
    fn store_words(words: [u64; 3], to: &mut PackedMatrix) {
        for (word, to) in words.into_iter().zip(to.as_chunks_mut::<2>().0) {
            *to = [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)];
        }
    }

    /// Writes a packed matrix past the caches, where the instruction set can, as
    /// [`store_rows_past_caches`](Self::store_rows_past_caches).
    #[inline(always)]
    fn store_words_past_caches(words: [u64; 3], to: &mut PackedMatrix) {
        Self::store_words(words, to);
    }

    /// What was written past the caches is seen by whoever reads it from now on.
    #[inline(always)]
    fn fence() {}

    /// The block that a slice begins with.
    #[inline(always)]
    fn load_block(from: &[Vec4]) -> [Self; 4] {
        // Written out, as all that works on registers: what a closure does is not compiled for the instruction set.
        let joints = Self::BLOCK / 4;
        let from = &from[..Self::BLOCK];
        [
            Self::load(from),
            Self::load(&from[joints..]),
            Self::load(&from[2 * joints..]),
            Self::load(&from[3 * joints..]),
        ]
    }

    /// Writes a block to where a slice begins.
    #[inline(always)]
    fn store_block(block: [Self; 4], to: &mut [Vec4]) {
        let joints = Self::BLOCK / 4;
        let to = &mut to[..Self::BLOCK];
        block[0].store(to);
        block[1].store(&mut to[joints..]);
        block[2].store(&mut to[2 * joints..]);
        block[3].store(&mut to[3 * joints..]);
    }
}

/// Work that is compiled once for each instruction set.
///
/// What it calls must be inlined into it, or it is compiled for the portable one alone.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// The work.
    fn run<L: Lanes>(self) -> Self::Output;
}
