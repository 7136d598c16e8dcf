//! A clip.

use crate::pack::record::record;

record! {
    /// A clip, in the words.
    ClipRecord in words {
        /// Words: its timeline records.
        timelines: u32,
        /// How many.
        timeline_count: u32,
        /// Words: channels of all joints' translations, then rotations, then scales.
        channels: u32,
        /// Words: channels of morph weights, then those of properties.
        value_channels: u32,
        /// Value channels of morph weights.
        weight_channel_count: u32,
        /// Value channels of morph weights and properties.
        value_channel_count: u32,
        /// Words: for each number of morph weights and properties the value channel that has it.
        value_table: u32,
        /// Seconds of 2^32 of the units in which playing layers count the clip's time, a power of two.
        time_unit: f32,
        /// Words: how many events, the index of the first, then for each its time in the clip's units, lower half first. None:
        /// no events.
        events: u32,
        /// Words: the record of its root joint. None: it moves nobody.
        root: u32,
    }
}
