//! The operations of the stages on registers, and the kernels that are written with them.

use glam::Vec4;

use crate::cpu::simd::{
    AlignedLines, AlignedRows, BLOCK_NUMBERS, BLOCK_WINDOW, BlockColumns, FourColumns, HALF_WINDOW, MATRIX_NUMBERS,
    Matrix, Register, Rows, Token, block_codes, stream_rows,
};

/// The registers of a kernel: blocks of joints, codes of quantized keys, and matrices of joints.
///
/// Operations are written once, over the primitives of [`Register`], unless an instruction set has a faster form.
pub trait Lanes: Register {
    /// If set, quantized keys are read faster by [`block_codes`](Self::block_codes) and
    /// [`joint_codes`](Self::joint_codes) than by [`codes`](Self::codes), where all can read them.
    const READS_BLOCKS: bool = false;

    /// The product of two matrices in registers.
    type Product: Copy;

    /// Runs a kernel, or a part of one, as a function of its own, which is compiled once per type of register.
    ///
    /// The time to compile a function grows faster than its code. A part does the work of at least one instance, beside
    /// which the call costs little.
    #[inline(never)]
    fn call<K: Kernel>(token: Token<Self>, part: K) -> K::Output {
        part.run(token)
    }

    /// Loads the block at the start of a slice.
    #[inline(always)]
    fn load_block(token: Token<Self>, from: &[Vec4]) -> [Self; 4] {
        // Written out: the code of a closure is not compiled for the instruction set.
        let joints = Self::BLOCK / 4;
        let from = &from[..Self::BLOCK];
        [
            Self::load(token, from),
            Self::load(token, &from[joints..]),
            Self::load(token, &from[2 * joints..]),
            Self::load(token, &from[3 * joints..]),
        ]
    }

    /// Loads a block, one joint from every `stride` places of a slice.
    #[inline(always)]
    fn load_block_apart(token: Token<Self>, from: &[Vec4], stride: usize) -> [Self; 4] {
        Self::load_numbers_apart(token, bytemuck::cast_slice(from), 4 * stride)
    }

    /// Loads a block of four numbers per joint, which begin `stride` numbers after those of the joint before.
    #[inline(always)]
    fn load_numbers_apart(token: Token<Self>, from: &[f32], stride: usize) -> [Self; 4] {
        let register = Self::BLOCK / 4 * stride;
        [
            Self::load_apart(token, from, stride),
            Self::load_apart(token, &from[register..], stride),
            Self::load_apart(token, &from[2 * register..], stride),
            Self::load_apart(token, &from[3 * register..], stride),
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

    /// The four numbers of each joint, negated if their dot product with the numbers of `other` is negative.
    #[inline(always)]
    fn toward(self, other: Self) -> Self {
        self.with_sign_of((self * other).sum_of_joint())
    }

    /// The codes of a quantized key of the joints from `first` on, at their bits within their bytes.
    ///
    /// If `PAIRED` is set, each two joints share a window.
    #[inline(always)]
    fn codes<const PAIRED: bool>(token: Token<Self>, columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let mut codes = [Vec4::ZERO; 4];
        for (column, codes) in codes[first..][..Self::BLOCK / 4].iter_mut().enumerate() {
            *codes = columns.codes(first + column, row);
        }
        Self::load(token, &codes[first..])
    }

    /// The codes of a quantized key of a block by number, at their bits within their words. The order of the joints is
    /// that after [`transpose`](Register::transpose).
    #[inline(always)]
    fn block_codes(token: Token<Self>, columns: &BlockColumns, row: &[u8]) -> [Self; BLOCK_NUMBERS] {
        let window = &row[columns.firsts[0]..][..BLOCK_WINDOW];
        let [x, y, z] = [0, 1, 2].map(|number| block_codes(columns, number, Self::BLOCK, window));
        [Self::load(token, &x), Self::load(token, &y), Self::load(token, &z)]
    }

    /// The codes of a quantized key of a block by joint, at their bits within their words.
    #[inline(always)]
    fn joint_codes(token: Token<Self>, columns: &BlockColumns, row: &[u8]) -> [Self; 4] {
        let windows = columns.firsts.map(|first| &row[first..][..HALF_WINDOW]);
        let codes = |register: usize| block_codes(columns, register, Self::BLOCK, windows[register / 2]);
        let [a, b, c, d] = [codes(0), codes(1), codes(2), codes(3)];
        [Self::load(token, &a), Self::load(token, &b), Self::load(token, &c), Self::load(token, &d)]
    }

    /// The product of a matrix and another one that is given by its rows.
    fn product(token: Token<Self>, left: &Matrix, right: [&Vec4; 3]) -> Self::Product;

    /// A product by its rows.
    fn from_rows(token: Token<Self>, rows: [&Vec4; 3]) -> Self::Product;

    /// The rows of a product.
    fn product_rows(product: Self::Product) -> Rows;

    /// The rows of the products of as many neighbouring joints as a register has: all first rows, all second, all
    /// third.
    fn rows(products: &[Self::Product]) -> [Self; 3];

    /// The numbers of a product as `f16`, rounded as [`from_f32`](crate::half::from_f32) does: four to a word, the
    /// first in its lowest bits.
    fn halves(product: Self::Product) -> [u64; 3];

    /// Stores a product as a matrix.
    #[inline(always)]
    fn store_matrix(product: Self::Product, to: &mut Matrix) {
        *to = Matrix::new(Self::product_rows(product));
    }

    /// Stores the three rows of a product.
    #[inline(always)]
    fn store_rows(product: Self::Product, to: &mut [f32; MATRIX_NUMBERS]) {
        for (row, to) in Self::product_rows(product).iter().zip(to.as_chunks_mut::<4>().0) {
            *to = row.to_array();
        }
    }

    /// Stores the rows of four matrices past the caches, as [`stream_rows`] does, a cache line at a time if the
    /// registers are as wide.
    #[inline(always)]
    fn store_lines_past_caches(_: Token<Self>, matrices: [[&Vec4; 3]; 4], to: &mut AlignedLines) {
        for (rows, to) in matrices.into_iter().zip(to.matrices_mut()) {
            stream_rows(rows.map(|row| *row), to);
        }
    }

    /// Stores the three rows of a product past the caches, as [`stream_rows`] does.
    #[inline(always)]
    fn store_rows_past_caches(product: Self::Product, to: &mut AlignedRows) {
        stream_rows(Self::product_rows(product), to);
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
    fn run<L: Lanes>(self, token: Token<L>) -> Self::Output;
}
