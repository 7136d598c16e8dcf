//! The parts that AVX2 and AVX-512 share, which differ only in the names of the intrinsics, and the stores past the
//! caches, which portable registers use, too.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::cpu::simd::{AlignedRows, PackedMatrix};

/// Implements the operators of a register by one intrinsic each.
macro_rules! operators {
    ($register:ident: $($operator:ident $method:ident $intrinsic:ident),*) => {
        $(impl $operator for $register {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: a value of the type exists only on a machine with the instructions; no memory is accessed.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        })*
    };
}
pub(super) use operators;

/// Writes the methods of [`Lanes`](super::Lanes) that store vectors and words past the caches.
macro_rules! stream_methods {
    () => {
        #[inline(always)]
        fn store_each_past_caches(rows: [&Vec4; 3], to: &mut AlignedRows) {
            x86::stream_rows(rows.map(|row| (*row).into()), to);
        }

        #[inline(always)]
        fn store_words_past_caches(words: [u64; 3], to: &mut PackedMatrix) {
            x86::stream_words(words, to);
        }

        #[inline(always)]
        fn fence() {
            x86::fence();
        }
    };
}
pub(super) use stream_methods;

/// Writes the methods of [`Lanes`](super::Lanes) that differ between AVX2 and AVX-512 only in the names of the
/// intrinsics.
macro_rules! register_methods {
    (
        load $load:ident, store $store:ident, splat $splat:ident, multiply_add $multiply_add:ident,
        min $min:ident, max $max:ident, reciprocal_square_root $estimate:ident, square_root $root:ident,
        unpack $unpack_low:ident $unpack_high:ident, shuffle $shuffle:ident
    ) => {
        #[inline(always)]
        fn load(from: &[Vec4]) -> Self {
            let from = &from[..Self::BLOCK / 4];
            // SAFETY: code of the kernel, on a machine with the instructions; `from` has the numbers of a register.
            Self(unsafe { $load(from.as_ptr().cast()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [Vec4]) {
            let to = &mut to[..Self::BLOCK / 4];
            // SAFETY: `self` exists only on a machine with the instructions; `to` has the numbers of a register.
            unsafe { $store(to.as_mut_ptr().cast(), self.0) }
        }

        #[inline(always)]
        fn splat(number: f32) -> Self {
            // SAFETY: code of the kernel, on a machine with the instructions; no memory is accessed.
            Self(unsafe { $splat(number) })
        }

        #[inline(always)]
        fn multiply_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: `self` exists only on a machine with the instructions; no memory is accessed.
            Self(unsafe { $multiply_add(self.0, factor.0, addend.0) })
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: `self` exists only on a machine with the instructions; no memory is accessed.
            Self(unsafe { $min(self.0, other.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: `self` exists only on a machine with the instructions; no memory is accessed.
            Self(unsafe { $max(self.0, other.0) })
        }

        #[inline(always)]
        fn inverse_square_root(self) -> Self {
            // SAFETY: `self` exists only on a machine with the instructions; no memory is accessed.
            let near = Self(unsafe { $estimate(self.0) });
            // One step of Newton's method: from the 12 bits of AVX2 to 23, from the 14 bits of AVX-512 to all.
            let half = Self::splat(-0.5) * self * near;
            near * half.multiply_add(near, Self::splat(1.5))
        }

        #[inline(always)]
        fn square_root(self) -> Self {
            // SAFETY: `self` exists only on a machine with the instructions; no memory is accessed.
            Self(unsafe { $root(self.0) })
        }

        #[inline(always)]
        fn transpose(block: [Self; 4]) -> [Self; 4] {
            let [Self(x), Self(y), Self(z), Self(w)] = block;
            // SAFETY: the block exists only on a machine with the instructions; no memory is accessed.
            unsafe {
                let (xy_low, xy_high) = ($unpack_low(x, y), $unpack_high(x, y));
                let (zw_low, zw_high) = ($unpack_low(z, w), $unpack_high(z, w));
                [
                    Self($shuffle::<0b01_00_01_00>(xy_low, zw_low)),
                    Self($shuffle::<0b11_10_11_10>(xy_low, zw_low)),
                    Self($shuffle::<0b01_00_01_00>(xy_high, zw_high)),
                    Self($shuffle::<0b11_10_11_10>(xy_high, zw_high)),
                ]
            }
        }

        x86::stream_methods!();
    };
}
pub(super) use register_methods;

/// Writes three rows past the caches.
#[inline(always)]
pub fn stream_rows(rows: [__m128; 3], to: &mut AlignedRows) {
    let to = &mut to.0;
    // SAFETY: every machine of this architecture has SSE2; each row has 4 numbers of `to`, at a multiple of 16 bytes,
    // as its type ensures.
    unsafe {
        _mm_stream_ps(to.as_mut_ptr(), rows[0]);
        _mm_stream_ps(to[4..].as_mut_ptr(), rows[1]);
        _mm_stream_ps(to[8..].as_mut_ptr(), rows[2]);
    }
}

/// Writes the words of a packed matrix past the caches.
#[inline(always)]
pub fn stream_words(words: [u64; 3], to: &mut PackedMatrix) {
    // SAFETY: every machine of this architecture has SSE2; each word covers 2 numbers of `to`, and needs no alignment.
    unsafe {
        _mm_stream_si64(to.as_mut_ptr().cast(), words[0].cast_signed());
        _mm_stream_si64(to[2..].as_mut_ptr().cast(), words[1].cast_signed());
        _mm_stream_si64(to[4..].as_mut_ptr().cast(), words[2].cast_signed());
    }
}

/// Makes all that was written past the caches visible to other threads.
#[inline(always)]
pub fn fence() {
    // Miri does not know the instruction.
    #[cfg(not(miri))]
    // SAFETY: every machine of this architecture has the instruction; no memory is accessed.
    unsafe {
        _mm_sfence()
    }
}
