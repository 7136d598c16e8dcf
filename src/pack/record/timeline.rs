//! A timeline of a clip.

use crate::pack::record::record;

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
