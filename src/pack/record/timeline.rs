//! A timeline of a clip.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`Mapping::source`]: the way to the next key is a straight line, not eased.
    pub const MAP_STRAIGHT: u32 = 1 << 31;
    /// Bit of [`Mapping::source`]: the way is measured from the next key time back, so that nothing is lost near it.
    pub const MAP_BACK: u32 = 1 << 30;
    /// Bits of [`Mapping::source`] that are the key.
    pub const MAP_KEY: u32 = MAP_BACK - 1;
}

record! {
    /// A timeline of a clip with the easing of the curves that share it, in the words.
    TimelineRecord in words {
        /// Keys, at least 2.
        key_count: u32,
        /// Words: the time of each key as two `f32`, whose sum is exact to 48 bits.
        times: u32,
        /// Cells (of even timelines: keys) a second.
        cells_per_second: f32,
        /// Cells of the lookup table; of even timelines the number of gaps.
        cell_count: u32,
        /// Words: for each cell's start and the end of the last the last key at or before it; none where keys are even.
        table: u32,
        /// Values, or words of quantized keys, from key to key.
        row: u32,
        /// Words: how many codes of easings, then the codes; the first rules the first interval, and so on, the last all
        /// that are left. None: no easing.
        easing: u32,
        /// Seconds before and after a key in which it is hit.
        window: f32,
        /// Words: for each key time a mapping. None: each stands for the key of its place.
        map: u32,
    }
}

record! {
    /// What lies at a key time of a timeline that goes on beyond its keys, and from there to the next, in the words.
    Mapping in words {
        /// The key that is hit there.
        hit: u32,
        /// The key from which the way leads on to the next, whether it is straight, and from where it is measured.
        source: u32,
        /// The fraction of that way where it is measured from.
        offset: f32,
        /// How much is added to it until the other key time.
        scale: f32,
    }
}

/// Splits a number into an `f32` and the rest that the rounding left.
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
