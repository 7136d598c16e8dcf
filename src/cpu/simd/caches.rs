//! Loads into the caches ahead of time, and stores past them.
#![allow(unsafe_code)]

use glam::Vec4;

use crate::cpu::simd::MATRIX_NUMBERS;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::x86;

/// The bytes of a line of a cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the processor to load a slice into its caches. It has no other effect, and none on processors other than x86.
#[inline(always)]
pub fn prefetch<T>(from: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..size_of_val(from)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every machine of this architecture has the instruction; the byte lies within the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().byte_add(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Writes three rows past the caches, or through them on processors other than x86.
#[inline(always)]
pub fn store_past_caches(rows: [Vec4; 3], to: &mut [f32; MATRIX_NUMBERS]) {
    #[cfg(target_arch = "x86_64")]
    if to.as_ptr().addr().is_multiple_of(16) {
        return x86::stream_rows(rows.map(Into::into), to);
    }
    for (row, to) in rows.into_iter().zip(to.as_chunks_mut().0) {
        *to = row.to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_stored_at_any_alignment() {
        let rows = [1.0, 5.0, 9.0].map(|first| Vec4::new(first, first + 1.0, first + 2.0, first + 3.0));
        for first in 0..5 {
            let mut to = [0.0; MATRIX_NUMBERS + 5];
            let part = to[first..].first_chunk_mut().unwrap();
            store_past_caches(rows, part);
            assert_eq!(*part, std::array::from_fn(|index| index as f32 + 1.0));
        }
    }
}
