//! The operations of a register, and the kernels that are written with them.

use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::{
    AlignedLines, AlignedRows, BLOCK_NUMBERS, BLOCK_WINDOW, BlockColumns, FourColumns, HALF_WINDOW, LARGEST_BLOCK,
    MATRIX_NUMBERS, Matrix, PackedMatrix, block_codes,
};

/// A register: four numbers for each of a few neighbouring joints, or of one joint of a few instances.
///
/// Four registers are a block. After [`transpose`](Self::transpose), each of them holds one of the four numbers for all
/// joints of the block. The order of the joints then depends on the instruction set; a second transposition restores
/// it.
pub trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The number of joints in a block: four registers.
    const BLOCK: usize;

    /// If set, quantized keys are read faster by [`block_codes`](Self::block_codes) and
    /// [`joint_codes`](Self::joint_codes) than by [`codes`](Self::codes), where all can read them.
    const READS_BLOCKS: bool = false;

    /// The product of two matrices in registers.
    type Product: Copy;

    /// Runs a part of a kernel as a function of its own, which is compiled once per type of register.
    ///
    /// The time to compile a function grows faster than its code. A part does the work of at least one instance, beside
    /// which the call costs little.
    #[inline(never)]
    fn call<K: Kernel>(part: K) -> K::Output {
        part.run::<Self>()
    }

    /// Loads the first joints of a slice.
    fn load(from: &[Vec4]) -> Self;

    /// Loads one joint from every `stride` places of a slice.
    #[inline(always)]
    fn load_apart(from: &[Vec4], stride: usize) -> Self {
        let mut joints = [Vec4::ZERO; LARGEST_BLOCK / 4];
        for (lane, joint) in joints[..Self::BLOCK / 4].iter_mut().enumerate() {
            *joint = from[lane * stride];
        }
        Self::load(&joints)
    }

    /// Stores the joints at the start of a slice.
    fn store(self, to: &mut [Vec4]);

    /// A register with one number in all lanes.
    fn splat(number: f32) -> Self;

    /// `self * factor + addend`.
    fn multiply_add(self, factor: Self, addend: Self) -> Self;

    /// The lesser number of each lane.
    fn min(self, other: Self) -> Self;

    /// The greater number of each lane.
    fn max(self, other: Self) -> Self;

    /// The numbers of `other` in lanes where `tested` is 0, otherwise the numbers of `self`.
    fn replace_where_zero(self, tested: Self, other: Self) -> Self;

    /// The numbers, negated where the numbers of `other` are below 0.
    fn with_sign_of(self, other: Self) -> Self;

    /// The four numbers of each joint, negated if their dot product with the numbers of `other` is negative.
    fn toward(self, other: Self) -> Self;

    /// Stores the lowest 16 bits of each number: one word per joint, with its first number in the lowest bits.
    fn store_low_bits(self, to: &mut [u64]);

    /// The codes of a quantized key of the joints from `first` on, at their bits within their bytes.
    ///
    /// If `PAIRED` is set, each two joints share a window.
    #[inline(always)]
    fn codes<const PAIRED: bool>(columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let mut codes = [Vec4::ZERO; 4];
        for (column, codes) in codes[first..][..Self::BLOCK / 4].iter_mut().enumerate() {
            *codes = columns.codes(first + column, row);
        }
        Self::load(&codes[first..])
    }

    /// The codes of a quantized key of a block by number, at their bits within their words. The order of the joints is
    /// that after [`transpose`](Self::transpose).
    #[inline(always)]
    fn block_codes(columns: &BlockColumns, row: &[u8]) -> [Self; BLOCK_NUMBERS] {
        let window = &row[columns.firsts[0]..][..BLOCK_WINDOW];
        let [x, y, z] = [0, 1, 2].map(|number| block_codes(columns, number, Self::BLOCK, window));
        [Self::load(&x), Self::load(&y), Self::load(&z)]
    }

    /// The codes of a quantized key of a block by joint, at their bits within their words.
    #[inline(always)]
    fn joint_codes(columns: &BlockColumns, row: &[u8]) -> [Self; 4] {
        let windows = columns.firsts.map(|first| &row[first..][..HALF_WINDOW]);
        let codes = |register: usize| block_codes(columns, register, Self::BLOCK, windows[register / 2]);
        let [a, b, c, d] = [codes(0), codes(1), codes(2), codes(3)];
        [Self::load(&a), Self::load(&b), Self::load(&c), Self::load(&d)]
    }

    /// Returns `true` if the number of any lane is less than the number of `than`.
    fn any_less(self, than: Self) -> bool;

    /// `1 / sqrt(self)`, off by at most two roundings of an `f32`, for numbers far from the ends of its range.
    fn inverse_square_root(self) -> Self;

    /// `sqrt(self)`, rounded correctly.
    fn square_root(self) -> Self;

    /// The same numbers with 1 as the fourth number of each joint.
    fn with_one(self) -> Self;

    /// Turns rows into columns within each joint of a block.
    fn transpose(block: [Self; 4]) -> [Self; 4];

    /// The product of a matrix and another one that is given by its rows.
    fn product(left: &Matrix, right: [&Vec4; 3]) -> Self::Product;

    /// A product by its rows.
    fn from_rows(rows: [&Vec4; 3]) -> Self::Product;

    /// The rows of the products of as many neighbouring joints as a register has: all first rows, all second, all
    /// third.
    fn rows(products: &[Self::Product]) -> [Self; 3];

    /// Stores a product as a matrix.
    fn store_matrix(product: Self::Product, to: &mut Matrix);

    /// Stores the three rows of a product.
    fn store_rows(product: Self::Product, to: &mut [f32; MATRIX_NUMBERS]);

    /// Stores the three rows of a product past the caches, for results that are larger than the caches.
    ///
    /// Without such an instruction, it stores through the caches. Call [`fence`](Self::fence) before another thread
    /// reads the rows.
    #[inline(always)]
    fn store_rows_past_caches(product: Self::Product, to: &mut AlignedRows) {
        Self::store_rows(product, &mut to.0);
    }

    /// Stores three rows past the caches, as [`store_rows_past_caches`](Self::store_rows_past_caches) does.
    #[inline(always)]
    fn store_each_past_caches(rows: [&Vec4; 3], to: &mut AlignedRows) {
        for (row, to) in rows.into_iter().zip(to.0.as_chunks_mut::<4>().0) {
            *to = row.to_array();
        }
    }

    /// Stores the rows of four matrices past the caches, as [`store_rows_past_caches`](Self::store_rows_past_caches)
    /// does, a cache line at a time if the registers are as wide.
    #[inline(always)]
    fn store_lines_past_caches(matrices: [[&Vec4; 3]; 4], to: &mut AlignedLines) {
        for (rows, to) in matrices.into_iter().zip(to.matrices_mut()) {
            Self::store_each_past_caches(rows, to);
        }
    }

    /// The numbers of a product as `f16`, rounded as [`from_f32`](crate::half::from_f32) does: four to a word, the
    /// first in its lowest bits.
    fn halves(product: Self::Product) -> [u64; 3];

    /// Stores a packed matrix, the lower half of each word first.
    #[inline(always)]
    fn store_words(words: [u64; 3], to: &mut PackedMatrix) {
        for (word, to) in words.into_iter().zip(to.as_chunks_mut::<2>().0) {
            *to = [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)];
        }
    }

    /// Stores a packed matrix past the caches if the instruction set can. As for
    /// [`store_rows_past_caches`](Self::store_rows_past_caches), a [`fence`](Self::fence) must follow.
    #[inline(always)]
    fn store_words_past_caches(words: [u64; 3], to: &mut PackedMatrix) {
        Self::store_words(words, to);
    }

    /// Makes all that was stored past the caches visible to other threads.
    #[inline(always)]
    fn fence() {}

    /// Loads the block at the start of a slice.
    #[inline(always)]
    fn load_block(from: &[Vec4]) -> [Self; 4] {
        // Written out: the code of a closure is not compiled for the instruction set.
        let joints = Self::BLOCK / 4;
        let from = &from[..Self::BLOCK];
        [
            Self::load(from),
            Self::load(&from[joints..]),
            Self::load(&from[2 * joints..]),
            Self::load(&from[3 * joints..]),
        ]
    }

    /// Loads a block, one joint from every `stride` places of a slice.
    #[inline(always)]
    fn load_block_apart(from: &[Vec4], stride: usize) -> [Self; 4] {
        let register = Self::BLOCK / 4 * stride;
        [
            Self::load_apart(from, stride),
            Self::load_apart(&from[register..], stride),
            Self::load_apart(&from[2 * register..], stride),
            Self::load_apart(&from[3 * register..], stride),
        ]
    }

    /// Stores a block at the start of a slice.
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

/// Work that is compiled once per instruction set.
///
/// Every function that it calls has to be inlined into it, except a part that [`Lanes::call`] runs. Any other function
/// that is not inlined is compiled only for the portable registers.
pub trait Kernel {
    /// The result of the work.
    type Output;

    /// Does the work in registers of type `L`.
    fn run<L: Lanes>(self) -> Self::Output;
}
