//! Registers of twice four numbers: NEON, on 64-bit ARM.
//!
//! A register of NEON holds four numbers. Two at a time let the processor compute one while it waits for the other.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::arch::asm;
use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::{FourColumns, Lanes, Matrix, Register, Rows, Token, WINDOW};
use crate::half::LARGEST_HALF;

/// The numbers of two joints, one register each.
#[derive(Clone, Copy)]
pub struct Neon<const EXACT: bool>([float32x4_t; 2]);

impl<const EXACT: bool> Neon<EXACT> {
    /// The token, which every machine has for which this file is compiled.
    #[inline(always)]
    pub fn available() -> Token<Self> {
        // SAFETY: this file is compiled only for machines with NEON.
        unsafe { Token::new_unchecked() }
    }
}

/// A product of two matrices in registers: three rows.
type Product = [float32x4_t; 3];

/// Applies an intrinsic to both registers.
macro_rules! both {
    ($intrinsic:ident($($operand:expr),+)) => {
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        Self(unsafe { [$intrinsic($($operand.0[0]),+), $intrinsic($($operand.0[1]),+)] })
    };
}

/// Implements the operators by one intrinsic each.
macro_rules! operators {
    ($($operator:ident $method:ident $intrinsic:ident),+) => {
        $(impl<const EXACT: bool> $operator for Neon<EXACT> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                both!($intrinsic(self, other))
            }
        })+
    };
}

operators!(Add add vaddq_f32, Sub sub vsubq_f32, Mul mul vmulq_f32, Div div vdivq_f32);

/// Turns rows into columns.
#[inline(always)]
fn transposed(rows: [float32x4_t; 4]) -> [float32x4_t; 4] {
    let [x, y, z, w] = rows;
    // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
    unsafe {
        let xy_even = vreinterpretq_f64_f32(vtrn1q_f32(x, y));
        let xy_odd = vreinterpretq_f64_f32(vtrn2q_f32(x, y));
        let zw_even = vreinterpretq_f64_f32(vtrn1q_f32(z, w));
        let zw_odd = vreinterpretq_f64_f32(vtrn2q_f32(z, w));
        [
            vreinterpretq_f32_f64(vtrn1q_f64(xy_even, zw_even)),
            vreinterpretq_f32_f64(vtrn1q_f64(xy_odd, zw_odd)),
            vreinterpretq_f32_f64(vtrn2q_f64(xy_even, zw_even)),
            vreinterpretq_f32_f64(vtrn2q_f64(xy_odd, zw_odd)),
        ]
    }
}

/// The codes of a key of one column, at their bits within their bytes.
#[inline(always)]
fn codes(columns: &FourColumns, column: usize, window: &[u8]) -> float32x4_t {
    let window = &window[..WINDOW];
    let (bytes, masks) = (columns.bytes[column].as_ptr(), columns.masks[column].as_ref().as_ptr());
    // SAFETY: the machine has NEON; the window, its bytes and the masks have 16 bytes each.
    unsafe {
        let bytes = vreinterpretq_u32_u8(vqtbl1q_u8(vld1q_u8(window.as_ptr()), vld1q_u8(bytes)));
        // Signed, as in all engines: a code never reaches the highest bit.
        vcvtq_f32_s32(vreinterpretq_s32_u32(vandq_u32(bytes, vld1q_u32(masks))))
    }
}

/// One row of the product of two matrices.
#[inline(always)]
fn row_product(left: &Matrix, row: usize, right: [&Vec4; 3]) -> float32x4_t {
    let left = left.numbers()[4 * row..][..4].as_ptr();
    // SAFETY: the machine has NEON; `left` has 4 numbers.
    unsafe {
        let left = vld1q_f32(left);
        let moved = vcopyq_laneq_f32::<3, 3>(vdupq_n_f32(0.0), left);
        let sum = vfmaq_laneq_f32::<0>(moved, (*right[0]).into(), left);
        let sum = vfmaq_laneq_f32::<1>(sum, (*right[1]).into(), left);
        vfmaq_laneq_f32::<2>(sum, (*right[2]).into(), left)
    }
}

/// The numbers of a row as `f16`.
#[inline(always)]
fn row_halves(row: float32x4_t) -> u64 {
    let halves: u64;
    // SAFETY: the machine has NEON; the instruction reads and writes registers only. Newer versions of Rust have an
    // intrinsic.
    unsafe {
        let within = vmaxnmq_f32(vminnmq_f32(row, vdupq_n_f32(LARGEST_HALF)), vdupq_n_f32(-LARGEST_HALF));
        asm!("fcvtn {halves:v}.4h, {within:v}.4s", halves = lateout(vreg) halves, within = in(vreg) within,
            options(pure, nomem, nostack));
    }
    halves
}

impl<const EXACT: bool> Register for Neon<EXACT> {
    const BLOCK: usize = 8;

    #[inline(always)]
    fn token(self) -> Token<Self> {
        Self::available()
    }

    #[inline(always)]
    fn splat(_: Token<Self>, number: f32) -> Self {
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        Self([unsafe { vdupq_n_f32(number) }; 2])
    }

    #[inline(always)]
    fn load(_: Token<Self>, from: &[Vec4]) -> Self {
        let from = &from[..2];
        Self([from[0].into(), from[1].into()])
    }

    #[inline(always)]
    fn store(self, to: &mut [Vec4]) {
        let to = &mut to[..2];
        [to[0], to[1]] = [self.0[0].into(), self.0[1].into()];
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let to = &mut to[..2];
        let [first, second] = self.0;
        // SAFETY: the machine has NEON; `to` has 8 numbers of 16 bits.
        unsafe {
            let (first, second) = (vreinterpretq_u16_f32(first), vreinterpretq_u16_f32(second));
            vst1q_u16(to.as_mut_ptr().cast(), vuzp1q_u16(first, second));
        }
    }

    #[inline(always)]
    fn multiply_add(self, factor: Self, addend: Self) -> Self {
        both!(vfmaq_f32(addend, self, factor))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        both!(vminnmq_f32(self, other))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        both!(vmaxnmq_f32(self, other))
    }

    #[inline(always)]
    fn square_root(self) -> Self {
        both!(vsqrtq_f32(self))
    }

    #[inline(always)]
    fn inverse_square_root(self) -> Self {
        if EXACT {
            return Self::splat(self.token(), 1.0) / self.square_root();
        }
        // Two steps of Newton's method, from 8 bits to 16 and to all.
        let near = both!(vrsqrteq_f32(self));
        let near = near * both!(vrsqrtsq_f32(self * near, near));
        near * both!(vrsqrtsq_f32(self * near, near))
    }

    #[inline(always)]
    fn replace_where_zero(self, tested: Self, other: Self) -> Self {
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        unsafe {
            Self([
                vbslq_f32(vceqzq_f32(tested.0[0]), other.0[0], self.0[0]),
                vbslq_f32(vceqzq_f32(tested.0[1]), other.0[1], self.0[1]),
            ])
        }
    }

    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        unsafe {
            Self([
                vbslq_f32(vcltzq_f32(other.0[0]), vnegq_f32(self.0[0]), self.0[0]),
                vbslq_f32(vcltzq_f32(other.0[1]), vnegq_f32(self.0[1]), self.0[1]),
            ])
        }
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        unsafe { vmaxvq_u32(vorrq_u32(vcltq_f32(self.0[0], than.0[0]), vcltq_f32(self.0[1], than.0[1]))) != 0 }
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        let [first, second] = self.0;
        // SAFETY: this file is compiled only for machines with NEON; no memory is accessed.
        Self(unsafe { [vsetq_lane_f32::<3>(1.0, first), vsetq_lane_f32::<3>(1.0, second)] })
    }

    #[inline(always)]
    fn sum_of_joint(self) -> Self {
        let pairs = both!(vpaddq_f32(self, self));
        both!(vpaddq_f32(pairs, pairs))
    }

    #[inline(always)]
    fn transpose(block: [Self; 4]) -> [Self; 4] {
        let [x, y, z, w] = block;
        let first = transposed([x.0[0], y.0[0], z.0[0], w.0[0]]);
        let second = transposed([x.0[1], y.0[1], z.0[1], w.0[1]]);
        [
            Self([first[0], second[0]]),
            Self([first[1], second[1]]),
            Self([first[2], second[2]]),
            Self([first[3], second[3]]),
        ]
    }
}

impl<const EXACT: bool> Lanes for Neon<EXACT> {
    type Product = Product;

    #[inline(always)]
    fn codes<const PAIRED: bool>(_: Token<Self>, columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let low = &row[columns.firsts[first]..];
        let high = if PAIRED { low } else { &row[columns.firsts[first + 1]..] };
        Self([codes(columns, first, low), codes(columns, first + 1, high)])
    }

    #[inline(always)]
    fn product(_: Token<Self>, left: &Matrix, right: [&Vec4; 3]) -> Product {
        [row_product(left, 0, right), row_product(left, 1, right), row_product(left, 2, right)]
    }

    #[inline(always)]
    fn from_rows(_: Token<Self>, rows: [&Vec4; 3]) -> Product {
        [(*rows[0]).into(), (*rows[1]).into(), (*rows[2]).into()]
    }

    #[inline(always)]
    fn product_rows(product: Product) -> Rows {
        [product[0].into(), product[1].into(), product[2].into()]
    }

    #[inline(always)]
    fn rows(products: &[Product]) -> [Self; 3] {
        let [first, second] = [products[0], products[1]];
        [Self([first[0], second[0]]), Self([first[1], second[1]]), Self([first[2], second[2]])]
    }

    #[inline(always)]
    fn halves(product: Product) -> [u64; 3] {
        [row_halves(product[0]), row_halves(product[1]), row_halves(product[2])]
    }
}
