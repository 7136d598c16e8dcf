//! Registers whose results do not depend on the processor.
//!
//! The estimate of `1 / sqrt(x)` differs between AVX2 and AVX-512, and between makers of processors. Square roots and
//! divisions are rounded correctly by every machine, so that kernels in these registers give the same bits on each
//! machine with fused multiplication and addition.
//!
//! Baked motion uses these registers, because its files must not depend on the machine of a cluster that wrote them.
//! Crowds keep the estimate, which is faster.

use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::{
    AlignedRows, BLOCK_NUMBERS, BlockColumns, FourColumns, Kernel, Lanes, MATRIX_NUMBERS, Matrix, PackedMatrix,
};

/// A register of another type, without its estimates.
#[derive(Clone, Copy)]
pub struct Exact<L>(L);

/// A kernel in [`Exact`] registers of each instruction set.
pub struct ExactKernel<K>(pub K);

impl<K: Kernel> Kernel for ExactKernel<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<L: Lanes>(self) -> K::Output {
        self.0.run::<Exact<L>>()
    }
}

/// Implements the operators by the operators of the other register.
macro_rules! operators {
    ($($operator:ident $method:ident),*) => {
        $(impl<L: Lanes> $operator for Exact<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        })*
    };
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl<L: Lanes> Lanes for Exact<L> {
    const BLOCK: usize = L::BLOCK;
    const READS_BLOCKS: bool = L::READS_BLOCKS;
    type Product = L::Product;

    #[inline(always)]
    fn call<K: Kernel>(part: K) -> K::Output {
        L::call(ExactKernel(part))
    }

    #[inline(always)]
    fn load(from: &[Vec4]) -> Self {
        Self(L::load(from))
    }

    #[inline(always)]
    fn load_apart(from: &[Vec4], stride: usize) -> Self {
        Self(L::load_apart(from, stride))
    }

    #[inline(always)]
    fn store(self, to: &mut [Vec4]) {
        self.0.store(to);
    }

    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self(L::splat(number))
    }

    #[inline(always)]
    fn multiply_add(self, factor: Self, addend: Self) -> Self {
        Self(self.0.multiply_add(factor.0, addend.0))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    #[inline(always)]
    fn replace_where_zero(self, tested: Self, other: Self) -> Self {
        Self(self.0.replace_where_zero(tested.0, other.0))
    }

    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        Self(self.0.with_sign_of(other.0))
    }

    #[inline(always)]
    fn toward(self, other: Self) -> Self {
        Self(self.0.toward(other.0))
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        self.0.store_low_bits(to);
    }

    #[inline(always)]
    fn codes<const PAIRED: bool>(columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        Self(L::codes::<PAIRED>(columns, first, row))
    }

    #[inline(always)]
    fn block_codes(columns: &BlockColumns, row: &[u8]) -> [Self; BLOCK_NUMBERS] {
        let [x, y, z] = L::block_codes(columns, row);
        [Self(x), Self(y), Self(z)]
    }

    #[inline(always)]
    fn joint_codes(columns: &BlockColumns, row: &[u8]) -> [Self; 4] {
        let [a, b, c, d] = L::joint_codes(columns, row);
        [Self(a), Self(b), Self(c), Self(d)]
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        self.0.any_less(than.0)
    }

    #[inline(always)]
    fn inverse_square_root(self) -> Self {
        Self(L::splat(1.0) / self.0.square_root())
    }

    #[inline(always)]
    fn square_root(self) -> Self {
        Self(self.0.square_root())
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        Self(self.0.with_one())
    }

    #[inline(always)]
    fn transpose(block: [Self; 4]) -> [Self; 4] {
        let [x, y, z, w] = block;
        let [x, y, z, w] = L::transpose([x.0, y.0, z.0, w.0]);
        [Self(x), Self(y), Self(z), Self(w)]
    }

    #[inline(always)]
    fn product(left: &Matrix, right: [&Vec4; 3]) -> L::Product {
        L::product(left, right)
    }

    #[inline(always)]
    fn from_rows(rows: [&Vec4; 3]) -> L::Product {
        L::from_rows(rows)
    }

    #[inline(always)]
    fn rows(products: &[L::Product]) -> [Self; 3] {
        let [x, y, z] = L::rows(products);
        [Self(x), Self(y), Self(z)]
    }

    #[inline(always)]
    fn store_matrix(product: L::Product, to: &mut Matrix) {
        L::store_matrix(product, to);
    }

    #[inline(always)]
    fn store_rows(product: L::Product, to: &mut [f32; MATRIX_NUMBERS]) {
        L::store_rows(product, to);
    }

    #[inline(always)]
    fn store_rows_past_caches(product: L::Product, to: &mut AlignedRows) {
        L::store_rows_past_caches(product, to);
    }

    #[inline(always)]
    fn store_each_past_caches(rows: [&Vec4; 3], to: &mut AlignedRows) {
        L::store_each_past_caches(rows, to);
    }

    #[inline(always)]
    fn halves(product: L::Product) -> [u64; 3] {
        L::halves(product)
    }

    #[inline(always)]
    fn store_words_past_caches(words: [u64; 3], to: &mut PackedMatrix) {
        L::store_words_past_caches(words, to);
    }

    #[inline(always)]
    fn fence() {
        L::fence();
    }
}
