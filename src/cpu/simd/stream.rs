//! Stores past the caches, for results that are larger than the caches.
//!
//! Every machine of the x86-64 architecture has the instructions. Other machines store through the caches, and so does
//! Miri, which does not know the instructions.
#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::{_mm_sfence, _mm_stream_ps, _mm_stream_si64};

use crate::cpu::simd::matrix::{AlignedRows, PackedMatrix, Rows};

/// Stores the three rows of a matrix past the caches. Drop a [`Fence`] before another thread reads the rows.
#[inline(always)]
pub fn stream_rows(rows: Rows, to: &mut AlignedRows) {
    let to = &mut to.0;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every machine of this architecture has SSE2; each row has 4 numbers of `to`, at a multiple of 16 bytes,
    // as its type ensures.
    unsafe {
        _mm_stream_ps(to.as_mut_ptr(), rows[0].into());
        _mm_stream_ps(to[4..].as_mut_ptr(), rows[1].into());
        _mm_stream_ps(to[8..].as_mut_ptr(), rows[2].into());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for (row, to) in rows.into_iter().zip(to.as_chunks_mut::<4>().0) {
        *to = row.to_array();
    }
}

/// Stores the words of a packed matrix past the caches, the lower half of each word first. Drop a [`Fence`] before
/// another thread reads the words.
#[inline(always)]
pub fn stream_words(words: [u64; 3], to: &mut PackedMatrix) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every machine of this architecture has SSE2; each word covers 2 numbers of `to`, and needs no alignment.
    unsafe {
        _mm_stream_si64(to.as_mut_ptr().cast(), words[0].cast_signed());
        _mm_stream_si64(to[2..].as_mut_ptr().cast(), words[1].cast_signed());
        _mm_stream_si64(to[4..].as_mut_ptr().cast(), words[2].cast_signed());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    store_words(words, to);
}

/// Stores the words of a packed matrix through the caches, the lower half of each word first.
#[inline(always)]
pub fn store_words(words: [u64; 3], to: &mut PackedMatrix) {
    for (word, to) in words.into_iter().zip(to.as_chunks_mut::<2>().0) {
        *to = [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)];
    }
}

/// Makes all that was stored past the caches visible to other threads when it is dropped, also by a panic.
#[must_use]
pub struct Fence;

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every machine of this architecture has the instruction; no memory is accessed.
        unsafe {
            _mm_sfence();
        }
    }
}
