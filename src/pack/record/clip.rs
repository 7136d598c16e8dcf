//! A clip.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`Root::moves`]: along x.
    pub const ROOT_X: u32 = 1;
    /// Bit of [`Root::moves`]: along y.
    pub const ROOT_Y: u32 = 2;
    /// Bit of [`Root::moves`]: along z.
    pub const ROOT_Z: u32 = 4;
    /// Bit of [`Root::moves`]: the twist about the up axis turns the instance.
    pub const ROOT_YAW: u32 = 8;
    /// Bit of [`Root::moves`]: the whole rotation turns the instance.
    pub const ROOT_FULL: u32 = 16;
}

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

record! {
    /// A clip's root joint, in the words.
    Root in words {
        /// The joint.
        joint: u32,
        /// What of it moves the instance.
        moves: u32,
        /// The up axis in the space of its parent, of unit length.
        up_x: f32,
        /// As above.
        up_y: f32,
        /// As above.
        up_z: f32,
    }
}
