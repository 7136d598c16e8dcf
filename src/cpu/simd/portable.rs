//! Four numbers: SSE2 or NEON by way of `glam`, plain numbers elsewhere.

use std::ops::{Add, Div, Mul, Sub};

use glam::{Mat4, Vec4};

use crate::cpu::matrix::{self, Rows};
use crate::cpu::quat;
use crate::cpu::simd::{Lanes, Matrix};
use crate::pack::NUMBERS;
use crate::pack::skin_format::half;

/// One joint.
#[derive(Clone, Copy)]
pub struct Portable(Vec4);

impl Add for Portable {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Portable {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for Portable {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl Div for Portable {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }
}

impl Lanes for Portable {
    const BLOCK: usize = 4;
    type Product = Rows;

    #[inline(always)]
    fn load(from: &[Vec4]) -> Self {
        Self(from[0])
    }

    #[inline(always)]
    fn store(self, to: &mut [Vec4]) {
        to[0] = self.0;
    }

    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self(Vec4::splat(number))
    }

    #[inline(always)]
    fn multiply_add(self, factor: Self, addend: Self) -> Self {
        // Not fused: without an instruction for it, that is a call for each number.
        self * factor + addend
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
    fn or_where_zero(self, which: Self, other: Self) -> Self {
        Self(Vec4::select(which.0.cmpeq(Vec4::ZERO), other.0, self.0))
    }

    #[inline(always)]
    fn toward(self, other: Self) -> Self {
        Self(quat::toward(self.0, other.0))
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let bits: [u32; 4] = bytemuck::cast(self.0.to_array());
        let [low, high] = [bits[0] & 0xffff | bits[1] << 16, bits[2] & 0xffff | bits[3] << 16];
        to[0] = u64::from(low) | u64::from(high) << 32;
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        self.0.cmplt(than.0).any()
    }

    #[inline(always)]
    fn inverse_square_root(self) -> Self {
        Self(self.0.map(f32::sqrt).recip())
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        Self(self.0.with_w(1.0))
    }

    #[inline(always)]
    fn transpose(block: [Self; 4]) -> [Self; 4] {
        let [x, y, z, w] = block;
        let turned = Mat4::from_cols(x.0, y.0, z.0, w.0).transpose();
        [Self(turned.x_axis), Self(turned.y_axis), Self(turned.z_axis), Self(turned.w_axis)]
    }

    #[inline(always)]
    fn product(left: &Matrix, right: &Rows) -> Rows {
        let numbers = left.numbers();
        let row = |row: usize| Vec4::from_slice(&numbers[4 * row..]);
        matrix::multiply(&[row(0), row(1), row(2)], right)
    }

    #[inline(always)]
    fn rows(products: &[Rows]) -> [Self; 3] {
        products[0].map(Self)
    }

    #[inline(always)]
    fn store_matrix(product: Rows, to: &mut Matrix) {
        *to = Matrix::new(product);
    }

    #[inline(always)]
    fn store_rows(product: Rows, to: &mut [f32; NUMBERS]) {
        for (row, to) in product.iter().zip(to.chunks_exact_mut(4)) {
            to.copy_from_slice(&row.to_array());
        }
    }

    #[inline(always)]
    fn halves(product: Rows) -> [u64; 3] {
        product.map(|row| {
            let [x, y, z, w] = row.to_array().map(half);
            u64::from(x | y << 16) | u64::from(z | w << 16) << 32
        })
    }
}
