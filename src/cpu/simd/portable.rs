//! Registers of four numbers: vectors of `glam`. They are SSE2 on x86, NEON on ARM, registers of WebAssembly if it is
//! compiled with `simd128`, and plain numbers elsewhere.
#![allow(unsafe_code)]

use std::ops::{Add, Div, Mul, Sub};

use glam::{Mat4, Vec4};

use crate::cpu::simd::{Lanes, Matrix, Register, Rows, Token, multiply};
use crate::half;

/// The numbers of one joint. Square roots and divisions are rounded correctly, so that results are always exact.
#[derive(Clone, Copy)]
pub struct Portable(Vec4);

impl Portable {
    /// The token, which every machine has.
    #[inline(always)]
    pub fn available() -> Token<Self> {
        // SAFETY: vectors of `glam` need only the instructions for which the crate is compiled.
        unsafe { Token::new_unchecked() }
    }
}

/// Implements the operators of the register.
macro_rules! operators {
    ($($operator:ident $method:ident $symbol:tt),*) => {
        $(impl $operator for Portable {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $symbol other.0)
            }
        })*
    };
}

operators!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Register for Portable {
    const BLOCK: usize = 4;

    #[inline(always)]
    fn token(self) -> Token<Self> {
        Self::available()
    }

    #[inline(always)]
    fn splat(_: Token<Self>, number: f32) -> Self {
        Self(Vec4::splat(number))
    }

    #[inline(always)]
    fn load(_: Token<Self>, from: &[Vec4]) -> Self {
        Self(from[0])
    }

    #[inline(always)]
    fn store(self, to: &mut [Vec4]) {
        to[0] = self.0;
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let bits: [u32; 4] = bytemuck::cast(self.0.to_array());
        let [low, high] = [bits[0] & 0xffff | bits[1] << 16, bits[2] & 0xffff | bits[3] << 16];
        to[0] = u64::from(low) | u64::from(high) << 32;
    }

    #[inline(always)]
    fn multiply_add(self, factor: Self, addend: Self) -> Self {
        // Not fused: on a machine without such an instruction, that would be one call per number.
        self * factor + addend
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // Elsewhere, `Vec4::min` gives NaN where one of both is.
        if cfg!(target_arch = "x86_64") {
            Self(self.0.min(other.0))
        } else {
            Self(Vec4::select(self.0.cmplt(other.0), self.0, other.0))
        }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if cfg!(target_arch = "x86_64") {
            Self(self.0.max(other.0))
        } else {
            Self(Vec4::select(self.0.cmpgt(other.0), self.0, other.0))
        }
    }

    #[inline(always)]
    fn square_root(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    fn inverse_square_root(self) -> Self {
        Self(self.0.map(f32::sqrt).recip())
    }

    #[inline(always)]
    fn replace_where_zero(self, tested: Self, other: Self) -> Self {
        Self(Vec4::select(tested.0.cmpeq(Vec4::ZERO), other.0, self.0))
    }

    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        Self(Vec4::select(other.0.cmplt(Vec4::ZERO), -self.0, self.0))
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        self.0.cmplt(than.0).any()
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        Self(self.0.with_w(1.0))
    }

    #[inline(always)]
    fn sum_of_joint(self) -> Self {
        // The product with 1 is exact. This sum has the order of a dot product.
        Self(self.0.dot_into_vec(Vec4::ONE))
    }

    #[inline(always)]
    fn transpose(block: [Self; 4]) -> [Self; 4] {
        let [x, y, z, w] = block;
        let transposed = Mat4::from_cols(x.0, y.0, z.0, w.0).transpose();
        [Self(transposed.x_axis), Self(transposed.y_axis), Self(transposed.z_axis), Self(transposed.w_axis)]
    }
}

impl Lanes for Portable {
    type Product = Rows;

    #[inline(always)]
    fn product(_: Token<Self>, left: &Matrix, right: [&Vec4; 3]) -> Rows {
        let numbers = left.numbers();
        let row = |row: usize| Vec4::from_slice(&numbers[4 * row..]);
        multiply(&[row(0), row(1), row(2)], right)
    }

    #[inline(always)]
    fn from_rows(_: Token<Self>, rows: [&Vec4; 3]) -> Rows {
        rows.map(|row| *row)
    }

    #[inline(always)]
    fn product_rows(product: Rows) -> Rows {
        product
    }

    #[inline(always)]
    fn rows(products: &[Rows]) -> [Self; 3] {
        products[0].map(Self)
    }

    #[inline(always)]
    fn halves(product: Rows) -> [u64; 3] {
        product.map(|row| {
            let [x, y, z, w] = row.to_array().map(half::from_f32);
            u64::from(x | y << 16) | u64::from(z | w << 16) << 32
        })
    }
}
