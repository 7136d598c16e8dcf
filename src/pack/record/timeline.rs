//! The record of a timeline of a clip, and the mapping of its unrolled key times.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`Mapping::source`]: the interval is a straight line, without easing.
    pub const MAP_STRAIGHT: u32 = 1 << 31;
    /// Bit of [`Mapping::source`]: the fraction is measured back from the next key time, which loses no precision near it.
    pub const MAP_BACK: u32 = 1 << 30;
    /// Bits of [`Mapping::source`] that hold the key.
    pub const MAP_KEY: u32 = MAP_BACK - 1;
    /// [`TimelineRecord::table`] of key times that are not stored: multiples of a step after a first time. `times` is the offset
    /// of both, as two `f32` each.
    pub const TIMES_EVEN: u32 = 0xffff_fffe;
}

record! {
    /// A timeline of a clip with the easings of the curves that share it, in the words.
    TimelineRecord in words {
        /// The number of key times, at least 2.
        key_count: u32,
        /// The offset in the words of the time of each key, as two `f32` with a sum that is exact to 48 bits.
        times: u32,
        /// The cells of the lookup table per second; if the keys are evenly spaced, the keys per second.
        cells_per_second: f32,
        /// The number of cells of the lookup table; if the keys are evenly spaced, the number of intervals.
        cell_count: u32,
        /// The offset of the lookup table in the words: for the start of each cell and the end of the last one, the last key at
        /// or before it. `NONE` and `TIMES_EVEN`: the keys are evenly spaced.
        table: u32,
        /// The number of values from key to key; words if the keys are quantized.
        row: u32,
        /// The offset of the easings in the words: their number, then one code per interval. The last code rules all remaining
        /// intervals. `NONE`: no easing.
        easing: u32,
        /// The seconds before and after a key within which it is hit.
        window: f32,
        /// The offset in the words of one mapping per key time. `NONE`: each key time belongs to the key of the same index.
        map: u32,
        /// The offset in the words of the first row of quantized keys; 0 of other keys, whose channels hold their offset.
        keys: u32,
    }
}

record! {
    /// The key at an unrolled key time, and the interval from there to the next key time, in the words.
    Mapping in words {
        /// The key that is hit at this time.
        hit: u32,
        /// The first key of the interval, and the bits `MAP_STRAIGHT` and `MAP_BACK`.
        source: u32,
        /// The fraction of the interval at the key time from which it is measured.
        offset: f32,
        /// The change of the fraction up to the other key time.
        scale: f32,
    }
}

/// Splits a number into the nearest `f32` and the remainder as an `f32`. Their sum is exact to 48 bits.
pub fn split(number: f64) -> (f32, f32) {
    let high = number as f32;
    (high, (number - f64::from(high)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_number_is_exact_to_48_bits() {
        for number in [0.1, 1.0 / 3.0, 12345.678901, -7.0e-3] {
            let (high, low) = split(number);
            assert!((f64::from(high) + f64::from(low) - number).abs() <= number.abs() * 2.0_f64.powi(-48));
        }
    }
}
