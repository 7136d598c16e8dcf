//! Loads into the caches ahead of time.
#![allow(unsafe_code)]

/// The bytes of a line of a cache.
pub const LINE: usize = 64;

/// Asks the processor to load a slice into the second cache of a core. It has no other effect, and none on processors
/// other than x86.
///
/// What a group of instances reads does not fit the first cache.
#[inline(always)]
pub fn prefetch<T>(from: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..size_of_val(from)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every machine of this architecture has the instruction; the byte lies within the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.as_ptr().byte_add(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}
