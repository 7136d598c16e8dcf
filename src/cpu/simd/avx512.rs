//! Registers of sixteen numbers: AVX-512.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use glam::Vec4;

use crate::cpu::simd::avx2::Avx2;
use crate::cpu::simd::x86::{operators, register_methods};
use crate::cpu::simd::{
    AlignedLines, BLOCK_NUMBERS, BLOCK_WINDOW, BlockColumns, FourColumns, HALF_WINDOW, Kernel, Lanes, MATRIX_NUMBERS,
    Matrix, Register, Rows, Token, WINDOW,
};
use crate::half::LARGEST_HALF;

/// The numbers of four joints.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Avx512<const EXACT: bool>(__m512, Token<Self>);

impl<const EXACT: bool> Avx512<EXACT> {
    /// The token, if this machine has all instructions of the kernels.
    pub fn detect() -> Option<Token<Self>> {
        let is_available = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && Avx2::<EXACT>::detect().is_some();
        // SAFETY: the machine has the instructions, as was just found.
        is_available.then(|| unsafe { Token::new_unchecked() })
    }

    /// Four times four numbers in one register.
    #[inline(always)]
    fn joined(token: Token<Self>, [a, b, c, d]: [&Vec4; 4]) -> Self {
        // SAFETY: the token proves that the machine has AVX-512; no memory is accessed.
        let joined = unsafe {
            let low = _mm512_insertf32x4::<1>(_mm512_castps128_ps512((*a).into()), (*b).into());
            _mm512_insertf32x4::<3>(_mm512_insertf32x4::<2>(low, (*c).into()), (*d).into())
        };
        Self(joined, token)
    }
}

/// Runs a kernel, or a part of one, as a function of its own.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
fn compiled<K: Kernel, const EXACT: bool>(token: Token<Avx512<EXACT>>, kernel: K) -> K::Output {
    kernel.run(token)
}

operators!(Avx512: Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

impl<const EXACT: bool> Register for Avx512<EXACT> {
    const BLOCK: usize = 16;

    register_methods!(
        load _mm512_loadu_ps, store _mm512_storeu_ps, splat _mm512_set1_ps, multiply_add _mm512_fmadd_ps,
        min _mm512_min_ps, max _mm512_max_ps, reciprocal_square_root _mm512_rsqrt14_ps, square_root _mm512_sqrt_ps,
        permute _mm512_permute_ps, unpack _mm512_unpacklo_ps _mm512_unpackhi_ps, shuffle _mm512_shuffle_ps
    );

    #[inline(always)]
    fn load_apart(token: Token<Self>, from: &[f32], stride: usize) -> Self {
        let reach = from.len().saturating_sub(3);
        assert!(stride < reach && 3 * stride < reach, "places beyond the end");
        // SAFETY: the token proves that the machine has AVX-512; the assertion ensures that all four places are within
        // `from`.
        unsafe {
            let place = |lane: usize| _mm_loadu_ps(from.as_ptr().add(lane * stride));
            let low = _mm512_insertf32x4::<1>(_mm512_castps128_ps512(place(0)), place(1));
            Self(_mm512_insertf32x4::<3>(_mm512_insertf32x4::<2>(low, place(2)), place(3)), token)
        }
    }

    #[inline(always)]
    fn replace_where_zero(self, tested: Self, other: Self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX-512; no memory is accessed.
        unsafe {
            let zero = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(tested.0, _mm512_setzero_ps());
            Self(_mm512_mask_blend_ps(zero, self.0, other.0), self.1)
        }
    }

    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX-512; no memory is accessed.
        unsafe {
            let negative = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(other.0, _mm512_setzero_ps());
            let bits = _mm512_castps_si512(self.0);
            let negated = _mm512_mask_xor_epi32(bits, negative, bits, _mm512_set1_epi32(i32::MIN));
            Self(_mm512_castsi512_ps(negated), self.1)
        }
    }

    #[inline(always)]
    fn store_low_bits(self, to: &mut [u64]) {
        let to = &mut to[..4];
        // SAFETY: the token of `self` proves that the machine has AVX-512; `to` has 32 bytes.
        unsafe {
            let packed = _mm512_cvtepi32_epi16(_mm512_castps_si512(self.0));
            _mm256_storeu_si256(to.as_mut_ptr().cast(), packed);
        }
    }

    #[inline(always)]
    fn any_less(self, than: Self) -> bool {
        // SAFETY: the token of `self` proves that the machine has AVX-512; no memory is accessed.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, than.0) != 0 }
    }

    #[inline(always)]
    fn with_one(self) -> Self {
        // SAFETY: the token of `self` proves that the machine has AVX-512; no memory is accessed.
        Self(unsafe { _mm512_mask_blend_ps(0x8888, self.0, _mm512_set1_ps(1.0)) }, self.1)
    }
}

impl<const EXACT: bool> Lanes for Avx512<EXACT> {
    const READS_BLOCKS: bool = true;
    /// A product of two matrices: three rows, then numbers without meaning.
    type Product = Self;

    #[inline(always)]
    fn call<K: Kernel>(token: Token<Self>, part: K) -> K::Output {
        // SAFETY: the token proves that the machine has the instructions.
        unsafe { compiled(token, part) }
    }

    #[inline(always)]
    fn codes<const PAIRED: bool>(token: Token<Self>, columns: &FourColumns, _: usize, row: &[u8]) -> Self {
        let reach = row.len().saturating_sub(WINDOW - 1);
        let [a, b, c, d] = columns.firsts;
        assert!(a < reach && c < reach && (PAIRED || b < reach && d < reach), "no such row");
        // SAFETY: the token proves that the machine has AVX-512. By the assertion, `row` has 16 bytes from each place
        // that is read; the indices of bytes and the masks take 64 bytes each.
        unsafe {
            let window = |first: usize| _mm_loadu_si128(row.as_ptr().add(first).cast());
            let windows = _mm512_broadcast_i32x4(window(a));
            let windows = match PAIRED {
                true => _mm512_mask_broadcast_i32x4(windows, 0xff00, window(c)),
                false => {
                    let windows = _mm512_mask_broadcast_i32x4(windows, 0x00f0, window(b));
                    let windows = _mm512_mask_broadcast_i32x4(windows, 0x0f00, window(c));
                    _mm512_mask_broadcast_i32x4(windows, 0xf000, window(d))
                }
            };
            let bytes = _mm512_shuffle_epi8(windows, _mm512_loadu_si512(columns.bytes.as_ptr().cast()));
            let codes = _mm512_and_si512(bytes, _mm512_loadu_si512(columns.masks.as_ptr().cast()));
            Self(_mm512_cvtepi32_ps(codes), token)
        }
    }

    #[inline(always)]
    fn block_codes(token: Token<Self>, columns: &BlockColumns, row: &[u8]) -> [Self; BLOCK_NUMBERS] {
        let first = columns.firsts[0];
        assert!(first < row.len().saturating_sub(BLOCK_WINDOW - 1), "no such row");
        let numbers = [0, 1, 2].map(|number| (&columns.words[number], &columns.masks[number]));
        let mut codes = [Self::splat(token, 0.0); BLOCK_NUMBERS];
        // SAFETY: the token proves that the machine has AVX-512. By the assertion, `row` has 128 bytes from the window
        // on. Of each index of a word, the instruction uses the lowest six bits. Indices and masks take 64 bytes each.
        unsafe {
            let window: *const u8 = row.as_ptr().add(first);
            let (low, high) = (_mm512_loadu_si512(window.cast()), _mm512_loadu_si512(window.add(64).cast()));
            for ((words, masks), codes) in numbers.into_iter().zip(&mut codes) {
                let words = _mm512_permutex2var_epi16(low, _mm512_loadu_si512(words.as_ptr().cast()), high);
                let masked = _mm512_and_si512(words, _mm512_loadu_si512(masks.as_ptr().cast()));
                *codes = Self(_mm512_cvtepu32_ps(masked), token);
            }
        }
        codes
    }

    #[inline(always)]
    fn joint_codes(token: Token<Self>, columns: &BlockColumns, row: &[u8]) -> [Self; 4] {
        let reach = row.len().saturating_sub(HALF_WINDOW - 1);
        let [low, high] = columns.firsts;
        assert!(low < reach && high < reach, "no such row");
        let mut codes = [Self::splat(token, 0.0); 4];
        // SAFETY: the token proves that the machine has AVX-512. By the assertion, `row` has 64 bytes from each window
        // on. Of each index of a word, the instruction uses the lowest five bits. Indices and masks take 64 bytes each.
        unsafe {
            let window = |first: usize| _mm512_loadu_si512(row.as_ptr().add(first).cast());
            let windows = [window(low), window(high)];
            for (register, codes) in codes.iter_mut().enumerate() {
                let words = _mm512_loadu_si512(columns.words[register].as_ptr().cast());
                let words = _mm512_permutexvar_epi16(words, windows[register / 2]);
                let masked = _mm512_and_si512(words, _mm512_loadu_si512(columns.masks[register].as_ptr().cast()));
                *codes = Self(_mm512_cvtepu32_ps(masked), token);
            }
        }
        codes
    }

    #[inline(always)]
    fn product(token: Token<Self>, left: &Matrix, right: [&Vec4; 3]) -> Self {
        // SAFETY: the token proves that the machine has AVX-512; a matrix has the size and the alignment of a register.
        let product = unsafe {
            let left = _mm512_load_ps(left.numbers().as_ptr());
            let x = _mm512_broadcast_f32x4((*right[0]).into());
            let y = _mm512_broadcast_f32x4((*right[1]).into());
            let z = _mm512_broadcast_f32x4((*right[2]).into());
            let moved = _mm512_maskz_mov_ps(0x8888, left);
            let sum = _mm512_fmadd_ps(_mm512_permute_ps::<0b00_00_00_00>(left), x, moved);
            let sum = _mm512_fmadd_ps(_mm512_permute_ps::<0b01_01_01_01>(left), y, sum);
            _mm512_fmadd_ps(_mm512_permute_ps::<0b10_10_10_10>(left), z, sum)
        };
        Self(product, token)
    }

    #[inline(always)]
    fn from_rows(token: Token<Self>, rows: [&Vec4; 3]) -> Self {
        // SAFETY: the token proves that the machine has AVX-512; no memory is accessed.
        let product = unsafe {
            let first = _mm512_castps128_ps512((*rows[0]).into());
            _mm512_insertf32x4::<2>(_mm512_insertf32x4::<1>(first, (*rows[1]).into()), (*rows[2]).into())
        };
        Self(product, token)
    }

    #[inline(always)]
    fn rows(products: &[Self]) -> [Self; 3] {
        let [Self(a, token), Self(b, _), Self(c, _), Self(d, _)] = [products[0], products[1], products[2], products[3]];
        // SAFETY: the token of the products proves that the machine has AVX-512; no memory is accessed.
        unsafe {
            let upper_ab = _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b);
            let upper_cd = _mm512_shuffle_f32x4::<0b01_00_01_00>(c, d);
            let lower_ab = _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b);
            let lower_cd = _mm512_shuffle_f32x4::<0b11_10_11_10>(c, d);
            [
                Self(_mm512_shuffle_f32x4::<0b10_00_10_00>(upper_ab, upper_cd), token),
                Self(_mm512_shuffle_f32x4::<0b11_01_11_01>(upper_ab, upper_cd), token),
                Self(_mm512_shuffle_f32x4::<0b10_00_10_00>(lower_ab, lower_cd), token),
            ]
        }
    }

    #[inline(always)]
    fn store_matrix(product: Self, to: &mut Matrix) {
        // SAFETY: the token of the product proves that the machine has AVX-512; a matrix has the size and the alignment
        // of a register.
        unsafe { _mm512_store_ps(to.numbers_mut().as_mut_ptr(), product.0) }
    }

    #[inline(always)]
    fn store_rows(product: Self, to: &mut [f32; MATRIX_NUMBERS]) {
        // SAFETY: the token of the product proves that the machine has AVX-512; `to` has 12 numbers: 8 and 4.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), _mm512_castps512_ps256(product.0));
            _mm_storeu_ps(to[8..].as_mut_ptr(), _mm512_extractf32x4_ps::<2>(product.0));
        }
    }

    #[inline(always)]
    fn product_rows(Self(rows, _): Self) -> Rows {
        // SAFETY: the token of the product proves that the machine has AVX-512; no memory is accessed.
        let rows = unsafe {
            [_mm512_castps512_ps128(rows), _mm512_extractf32x4_ps::<1>(rows), _mm512_extractf32x4_ps::<2>(rows)]
        };
        [rows[0].into(), rows[1].into(), rows[2].into()]
    }

    #[inline(always)]
    fn store_lines_past_caches(token: Token<Self>, [a, b, c, d]: [[&Vec4; 3]; 4], to: &mut AlignedLines) {
        let [first, second, third] = [[a[0], a[1], a[2], b[0]], [b[1], b[2], c[0], c[1]], [c[2], d[0], d[1], d[2]]];
        // SAFETY: the token proves that the machine has AVX-512; each register has 16 of the 48 numbers of `to`, at a
        // multiple of 64 bytes, as its type ensures.
        unsafe {
            _mm512_stream_ps(to.0.as_mut_ptr(), Self::joined(token, first).0);
            _mm512_stream_ps(to.0[16..].as_mut_ptr(), Self::joined(token, second).0);
            _mm512_stream_ps(to.0[32..].as_mut_ptr(), Self::joined(token, third).0);
        }
    }

    #[inline(always)]
    fn halves(product: Self) -> [u64; 3] {
        // SAFETY: the token of the product proves that the machine has AVX-512; no memory is accessed.
        unsafe {
            let (least, most) = (_mm512_set1_ps(-LARGEST_HALF), _mm512_set1_ps(LARGEST_HALF));
            let within = _mm512_max_ps(_mm512_min_ps(product.0, most), least);
            let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(within);
            let (upper, lower) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            let words = [_mm_cvtsi128_si64(upper), _mm_extract_epi64::<1>(upper), _mm_cvtsi128_si64(lower)];
            words.map(i64::cast_unsigned)
        }
    }
}
