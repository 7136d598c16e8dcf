//! Registers of eight numbers: AVX2 with fused multiplication and addition, and F16C.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::x86::{operators, register_methods};
use crate::cpu::simd::{FourColumns, Kernel, Lanes, MATRIX_NUMBERS, Matrix, Register, Rows, Token, WINDOW};
use crate::half::LARGEST_HALF;

/// The numbers of two joints.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Avx2<const EXACT: bool>(__m256, Token<Self>);

/// A product of two matrices in registers.
#[derive(Clone, Copy)]
pub struct Product<const EXACT: bool> {
    /// The first two rows.
    upper: Avx2<EXACT>,
    /// The third row.
    lower: __m128,
}

impl<const EXACT: bool> Avx2<EXACT> {
    /// The token, if this machine has all instructions of the kernels.
    pub fn detect() -> Option<Token<Self>> {
        let is_available =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        // SAFETY: the machine has the instructions, as was just found.
        is_available.then(|| unsafe { Token::new_unchecked() })
    }
}

/// Runs a kernel, or a part of one, as a function of its own.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
fn compiled<K: Kernel, const EXACT: bool>(token: Token<Avx2<EXACT>>, kernel: K) -> K::Output {
    kernel.run(token)
}

operators!(Avx2: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

/// The bytes of the codes of two columns, beginning with column `first`: one word per number.
#[inline(always)]
fn code_bytes<const PAIRED: bool, const EXACT: bool>(
    _: Token<Avx2<EXACT>>,
    columns: &FourColumns,
    first: usize,
    row: &[u8],
) -> __m256i {
    let reach = row.len().saturating_sub(WINDOW - 1);
    let [low, high] = [columns.firsts[first], columns.firsts[first + 1]];
    assert!(low < reach && (PAIRED || high < reach), "no such row");
    let bytes = &columns.bytes[first..first + 2];
    // SAFETY: the token proves that the machine has AVX2. By the assertion, `row` has 16 bytes from `low` and, if it is
    // read, from `high`; `bytes` has 32 bytes.
    unsafe {
        let low = _mm_loadu_si128(row.as_ptr().add(low).cast());
        let windows = match PAIRED {
            true => _mm256_broadcastsi128_si256(low),
            false => _mm256_set_m128i(_mm_loadu_si128(row.as_ptr().add(high).cast()), low),
        };
        _mm256_shuffle_epi8(windows, _mm256_loadu_si256(bytes.as_ptr().cast()))
    }
}

impl<const EXACT: bool> Register for Avx2<EXACT> {
    const BLOCK: usize = 8;

    register_methods!(
        load _mm256_loadu_ps, store _mm256_storeu_ps, splat _mm256_set1_ps, multiply_add _mm256_fmadd_ps,
        min _mm256_min_ps, max _mm256_max_ps, reciprocal_square_root _mm256_rsqrt_ps, square_root _mm256_sqrt_ps,
        permute _mm256_permute_ps, unpack _mm256_unpacklo_ps _mm256_unpackhi_ps, shuffle _mm256_shuffle_ps
    );

    #[inline(always)]
    fn load_apart(token: Token<Self>, from: &[f32], stride: usize) -> Self {
        assert!(stride < from.len().saturating_sub(3), "a place beyond the end");
        // SAFETY: the token proves that the machine has AVX2; the assertion ensures that both places are within `from`.
        unsafe {
            let place = |lane: usize| _mm_loadu_ps(from.as_ptr().add(lane * stride));
            Self(_mm256_set_m128(place(1), place(0)), token)
        }
    }

    #[inline(always)]
    fn replace_where_zero(self, tested: Self, other: Self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX2; no memory is accessed.
        unsafe {
            let zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(tested.0, _mm256_setzero_ps());
            Self(_mm256_blendv_ps(self.0, other.0, zero), self.1)
        }
    }

    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX2; no memory is accessed.
        unsafe {
            let negative = _mm256_cmp_ps::<_CMP_LT_OQ>(other.0, _mm256_setzero_ps());
            Self(_mm256_xor_ps(self.0, _mm256_and_ps(negative, _mm256_set1_ps(-0.0))), self.1)
        }
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let to = &mut to[..2];
        // SAFETY: the token of `self` proves that the machine has AVX2; `to` has 16 bytes.
        unsafe {
            // Bytes 0, 1, 4, 5, 8, 9, 12, 13 of each half.
            let lowest = _mm256_set1_epi64x(0x0d0c_0908_0504_0100);
            let packed = _mm256_shuffle_epi8(_mm256_castps_si256(self.0), lowest);
            let both = _mm256_permute4x64_epi64::<0b10_00>(packed);
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm256_castsi256_si128(both));
        }
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        // SAFETY: the token of `self` proves that the machine has AVX2; no memory is accessed.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, than.0)) != 0 }
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX2; no memory is accessed.
        Self(unsafe { _mm256_blend_ps::<0x88>(self.0, _mm256_set1_ps(1.0)) }, self.1)
    }
}

impl<const EXACT: bool> Lanes for Avx2<EXACT> {
    type Product = Product<EXACT>;

    #[inline(always)]
    fn call<K: Kernel>(token: Token<Self>, part: K) -> K::Output {
        // SAFETY: the token proves that the machine has the instructions.
        unsafe { compiled(token, part) }
    }

    #[inline(always)]
    fn codes<const PAIRED: bool>(token: Token<Self>, columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let bytes = code_bytes::<PAIRED, EXACT>(token, columns, first, row);
        let masks = &columns.masks[first..first + 2];
        // SAFETY: the token proves that the machine has AVX2; `masks` has 8 integers.
        unsafe {
            let codes = _mm256_and_si256(bytes, _mm256_loadu_si256(masks.as_ptr().cast()));
            Self(_mm256_cvtepi32_ps(codes), token)
        }
    }

    #[inline(always)]
    fn product(token: Token<Self>, left: &Matrix, right: [&Vec4; 3]) -> Product<EXACT> {
        let left = left.numbers();
        // SAFETY: the token proves that the machine has AVX2; a matrix has 12 numbers: 8 and 4.
        unsafe {
            let upper = _mm256_loadu_ps(left.as_ptr());
            let lower = _mm_loadu_ps(left[8..12].as_ptr());
            let (x, y, z) = ((*right[0]).into(), (*right[1]).into(), (*right[2]).into());
            let (wide_x, wide_y, wide_z) = (_mm256_set_m128(x, x), _mm256_set_m128(y, y), _mm256_set_m128(z, z));
            let moved = _mm256_blend_ps::<0x88>(_mm256_setzero_ps(), upper);
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b00_00_00_00>(upper), wide_x, moved);
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b01_01_01_01>(upper), wide_y, sum);
            let first_two = _mm256_fmadd_ps(_mm256_permute_ps::<0b10_10_10_10>(upper), wide_z, sum);
            let moved = _mm_blend_ps::<0x8>(_mm_setzero_ps(), lower);
            let sum = _mm_fmadd_ps(_mm_permute_ps::<0b00_00_00_00>(lower), x, moved);
            let sum = _mm_fmadd_ps(_mm_permute_ps::<0b01_01_01_01>(lower), y, sum);
            let third = _mm_fmadd_ps(_mm_permute_ps::<0b10_10_10_10>(lower), z, sum);
            Product { upper: Self(first_two, token), lower: third }
        }
    }

    #[inline(always)]
    fn from_rows(token: Token<Self>, rows: [&Vec4; 3]) -> Product<EXACT> {
        // SAFETY: the token proves that the machine has AVX2; no memory is accessed.
        let upper = unsafe { _mm256_set_m128((*rows[1]).into(), (*rows[0]).into()) };
        Product { upper: Self(upper, token), lower: (*rows[2]).into() }
    }

    #[inline(always)]
    fn rows(products: &[Product<EXACT>]) -> [Self; 3] {
        let [a, b] = [products[0], products[1]];
        let token = a.upper.1;
        // SAFETY: the token of the products proves that the machine has AVX2; no memory is accessed.
        unsafe {
            [
                Self(_mm256_permute2f128_ps::<0x20>(a.upper.0, b.upper.0), token),
                Self(_mm256_permute2f128_ps::<0x31>(a.upper.0, b.upper.0), token),
                Self(_mm256_set_m128(b.lower, a.lower), token),
            ]
        }
    }

    #[inline(always)]
    fn store_matrix(product: Product<EXACT>, to: &mut Matrix) {
        let to = to.numbers_mut();
        // SAFETY: the token of the product proves that the machine has AVX2; a matrix has 12 numbers: 8 and 4.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), product.upper.0);
            _mm_storeu_ps(to[8..12].as_mut_ptr(), product.lower);
        }
    }

    #[inline(always)]
    fn store_rows(product: Product<EXACT>, to: &mut [f32; MATRIX_NUMBERS]) {
        // SAFETY: the token of the product proves that the machine has AVX2; `to` has 12 numbers: 8 and 4.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), product.upper.0);
            _mm_storeu_ps(to[8..].as_mut_ptr(), product.lower);
        }
    }

    #[inline(always)]
    fn product_rows(product: Product<EXACT>) -> Rows {
        // SAFETY: the token of the product proves that the machine has AVX2; no memory is accessed.
        let upper = unsafe { [_mm256_castps256_ps128(product.upper.0), _mm256_extractf128_ps::<1>(product.upper.0)] };
        [upper[0].into(), upper[1].into(), product.lower.into()]
    }

    #[inline(always)]
    fn halves(product: Product<EXACT>) -> [u64; 3] {
        // SAFETY: the token of the product proves that the machine has AVX2 and F16C; no memory is accessed.
        unsafe {
            let (least, most) = (_mm256_set1_ps(-LARGEST_HALF), _mm256_set1_ps(LARGEST_HALF));
            let upper = _mm256_max_ps(_mm256_min_ps(product.upper.0, most), least);
            let upper = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(upper);
            let (least, most) = (_mm_set1_ps(-LARGEST_HALF), _mm_set1_ps(LARGEST_HALF));
            let lower = _mm_max_ps(_mm_min_ps(product.lower, most), least);
            let lower = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(lower);
            let words = [_mm_cvtsi128_si64(upper), _mm_extract_epi64::<1>(upper), _mm_cvtsi128_si64(lower)];
            words.map(i64::cast_unsigned)
        }
    }
}
