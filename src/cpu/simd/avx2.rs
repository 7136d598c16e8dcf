//! Eight numbers: AVX2 with fused multiplication and addition, and F16C.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use glam::{UVec4, Vec4};

use crate::cpu::matrix::Rows;
use crate::cpu::quantized::{FourColumns, WINDOW};
use crate::cpu::simd::{Kernel, Lanes, Matrix, PackedMatrix};
use crate::pack::NUMBERS;
use crate::pack::skin_format::LARGEST_HALF;

/// Two joints. It exists only in a kernel that [`run`] runs.
#[derive(Clone, Copy)]
pub struct Avx2(__m256);

/// Whether this machine has what the registers need.
pub fn is_available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}

/// Runs a kernel on a machine that [`is_available`] says yes of.
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    assert!(is_available(), "no AVX2");
    // SAFETY: the machine has the instructions.
    unsafe { compiled(kernel) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn compiled<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

// SAFETY of all that follows: a value of the type exists only under `compiled`, where the machine has the instructions. What
// is read and written is as long as the indexed slice, or the array, that it is read from and written to.

operators!(Avx2: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

/// The bytes that hold the codes of two columns from one on, each number's in a word of its own.
#[inline(always)]
pub fn code_bytes<const PAIRED: bool>(columns: &FourColumns, first: usize, row: &[u8]) -> __m256i {
    let reach = row.len().saturating_sub(WINDOW - 1);
    let [low, high] = [columns.firsts[first], columns.firsts[first + 1]];
    assert!(low < reach && (PAIRED || high < reach), "no such row");
    let bytes = &columns.bytes[first..first + 2];
    // SAFETY: see above: 16 bytes from one place or two, and 32.
    unsafe {
        let low = _mm_loadu_si128(row.as_ptr().add(low).cast());
        let windows = match PAIRED {
            true => _mm256_broadcastsi128_si256(low),
            false => _mm256_set_m128i(_mm_loadu_si128(row.as_ptr().add(high).cast()), low),
        };
        _mm256_shuffle_epi8(windows, _mm256_loadu_si256(bytes.as_ptr().cast()))
    }
}

impl Lanes for Avx2 {
    const BLOCK: usize = 8;
    /// Two rows, and the third.
    type Product = (__m256, __m128);

    #[inline(always)]
    fn load(from: &[Vec4]) -> Self {
        let from = &from[..2];
        // SAFETY: see above.
        Self(unsafe { _mm256_loadu_ps(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [Vec4]) {
        let to = &mut to[..2];
        // SAFETY: see above.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(number: f32) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_ps(number) })
    }

    #[inline(always)]
    fn multiply_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_min_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn or_where_zero(self, which: Self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(which.0, _mm256_setzero_ps());
            Self(_mm256_blendv_ps(self.0, other.0, zero))
        }
    }

    #[inline(always)]
    fn toward(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let products = _mm256_mul_ps(self.0, other.0);
            let pairs = _mm256_add_ps(products, _mm256_permute_ps::<0b10_11_00_01>(products));
            let dot = _mm256_add_ps(pairs, _mm256_permute_ps::<0b01_00_11_10>(pairs));
            let negative = _mm256_cmp_ps::<_CMP_LT_OQ>(dot, _mm256_setzero_ps());
            Self(_mm256_xor_ps(self.0, _mm256_and_ps(negative, _mm256_set1_ps(-0.0))))
        }
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let to = &mut to[..2];
        // SAFETY: see above.
        unsafe {
            // Bytes 0, 1, 4, 5, 8, 9, 12, 13 of each half.
            let lowest = _mm256_set1_epi64x(0x0d0c_0908_0504_0100);
            let packed = _mm256_shuffle_epi8(_mm256_castps_si256(self.0), lowest);
            let both = _mm256_permute4x64_epi64::<0b10_00>(packed);
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm256_castsi256_si128(both));
        }
    }

    #[inline(always)]
    fn codes<const PAIRED: bool>(columns: &FourColumns, first: usize, row: &[u8]) -> Self {
        let bytes = code_bytes::<PAIRED>(columns, first, row);
        let masks = &columns.masks[first..first + 2];
        // SAFETY: see above.
        unsafe {
            let codes = _mm256_and_si256(bytes, _mm256_loadu_si256(masks.as_ptr().cast()));
            Self(_mm256_cvtepi32_ps(codes))
        }
    }

    #[inline(always)]
    fn in_order(self, orders: &[UVec4]) -> Self {
        let orders = &orders[..2];
        // SAFETY: see above.
        Self(unsafe { _mm256_permutevar_ps(self.0, _mm256_loadu_si256(orders.as_ptr().cast())) })
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, than.0)) != 0 }
    }

    #[inline(always)]
    fn inverse_square_root(self) -> Self {
        // SAFETY: see above.
        let near = Self(unsafe { _mm256_rsqrt_ps(self.0) });
        // One step of Newton's method, from 12 bits to 23.
        let half = Self::splat(-0.5) * self * near;
        near * half.multiply_add(near, Self::splat(1.5))
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_blend_ps::<0x88>(self.0, _mm256_set1_ps(1.0)) })
    }

    #[inline(always)]
    fn transpose(block: [Self; 4]) -> [Self; 4] {
        let [Self(x), Self(y), Self(z), Self(w)] = block;
        // SAFETY: see above.
        unsafe {
            let (xy_low, xy_high) = (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
            let (zw_low, zw_high) = (_mm256_unpacklo_ps(z, w), _mm256_unpackhi_ps(z, w));
            [
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(xy_low, zw_low)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(xy_low, zw_low)),
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(xy_high, zw_high)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(xy_high, zw_high)),
            ]
        }
    }

    #[inline(always)]
    fn product(left: &Matrix, right: &Rows) -> (__m256, __m128) {
        let left = left.numbers();
        // SAFETY: see above: 8 numbers and 4 of a matrix.
        unsafe {
            let upper = _mm256_loadu_ps(left.as_ptr());
            let lower = _mm_loadu_ps(left[8..12].as_ptr());
            let (x, y, z) = (right[0].into(), right[1].into(), right[2].into());
            let (wide_x, wide_y, wide_z) = (_mm256_set_m128(x, x), _mm256_set_m128(y, y), _mm256_set_m128(z, z));
            let moved = _mm256_blend_ps::<0x88>(_mm256_setzero_ps(), upper);
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b00_00_00_00>(upper), wide_x, moved);
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b01_01_01_01>(upper), wide_y, sum);
            let first_two = _mm256_fmadd_ps(_mm256_permute_ps::<0b10_10_10_10>(upper), wide_z, sum);
            let moved = _mm_blend_ps::<0x8>(_mm_setzero_ps(), lower);
            let sum = _mm_fmadd_ps(_mm_permute_ps::<0b00_00_00_00>(lower), x, moved);
            let sum = _mm_fmadd_ps(_mm_permute_ps::<0b01_01_01_01>(lower), y, sum);
            (first_two, _mm_fmadd_ps(_mm_permute_ps::<0b10_10_10_10>(lower), z, sum))
        }
    }

    #[inline(always)]
    fn rows(products: &[(__m256, __m128)]) -> [Self; 3] {
        let [(a, third_a), (b, third_b)] = [products[0], products[1]];
        // SAFETY: see above.
        unsafe {
            [
                Self(_mm256_permute2f128_ps::<0x20>(a, b)),
                Self(_mm256_permute2f128_ps::<0x31>(a, b)),
                Self(_mm256_set_m128(third_b, third_a)),
            ]
        }
    }

    #[inline(always)]
    fn store_matrix((upper, lower): (__m256, __m128), to: &mut Matrix) {
        let to = to.numbers_mut();
        // SAFETY: see above: 8 numbers and 4 of a matrix.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), upper);
            _mm_storeu_ps(to[8..12].as_mut_ptr(), lower);
        }
    }

    #[inline(always)]
    fn store_rows((upper, lower): (__m256, __m128), to: &mut [f32; NUMBERS]) {
        // SAFETY: see above: 8 numbers and 4.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), upper);
            _mm_storeu_ps(to[8..].as_mut_ptr(), lower);
        }
    }

    #[inline(always)]
    fn store_rows_past_caches((upper, lower): (__m256, __m128), to: &mut [f32; NUMBERS]) {
        if !to.as_ptr().addr().is_multiple_of(16) {
            return Self::store_rows((upper, lower), to);
        }
        // SAFETY: see above: three times 4 numbers, each on a multiple of 16 bytes.
        unsafe {
            _mm_stream_ps(to.as_mut_ptr(), _mm256_castps256_ps128(upper));
            _mm_stream_ps(to[4..].as_mut_ptr(), _mm256_extractf128_ps::<1>(upper));
            _mm_stream_ps(to[8..].as_mut_ptr(), lower);
        }
    }

    #[inline(always)]
    fn halves((upper, lower): (__m256, __m128)) -> [u64; 3] {
        // SAFETY: see above.
        unsafe {
            let (least, most) = (_mm256_set1_ps(-LARGEST_HALF), _mm256_set1_ps(LARGEST_HALF));
            let upper = _mm256_max_ps(_mm256_min_ps(upper, most), least);
            let upper = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(upper);
            let (least, most) = (_mm_set1_ps(-LARGEST_HALF), _mm_set1_ps(LARGEST_HALF));
            let lower = _mm_max_ps(_mm_min_ps(lower, most), least);
            let lower = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(lower);
            let words = [_mm_cvtsi128_si64(upper), _mm_extract_epi64::<1>(upper), _mm_cvtsi128_si64(lower)];
            words.map(i64::cast_unsigned)
        }
    }

    #[inline(always)]
    fn store_words_past_caches(words: [u64; 3], to: &mut PackedMatrix) {
        // SAFETY: see above: three times 2 numbers, on whatever bytes.
        unsafe {
            _mm_stream_si64(to.as_mut_ptr().cast(), words[0].cast_signed());
            _mm_stream_si64(to[2..].as_mut_ptr().cast(), words[1].cast_signed());
            _mm_stream_si64(to[4..].as_mut_ptr().cast(), words[2].cast_signed());
        }
    }

    #[inline(always)]
    fn fence() {
        // SAFETY: see above.
        unsafe { _mm_sfence() }
    }
}
