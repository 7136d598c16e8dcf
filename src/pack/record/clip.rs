//! The record of a clip, and that of its root motion.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`Root::moves`]: the translation along x moves the instance.
    pub const ROOT_X: u32 = 1;
    /// Bit of [`Root::moves`]: the translation along y moves the instance.
    pub const ROOT_Y: u32 = 2;
    /// Bit of [`Root::moves`]: the translation along z moves the instance.
    pub const ROOT_Z: u32 = 4;
    /// Bit of [`Root::moves`]: the rotation about the up axis turns the instance.
    pub const ROOT_YAW: u32 = 8;
    /// Bit of [`Root::moves`]: the whole rotation turns the instance.
    pub const ROOT_FULL: u32 = 16;
}

record! {
    /// A clip, in the words.
    ClipRecord in words {
        /// The offset of the timeline records in the words.
        timelines: u32,
        /// The number of timelines.
        timeline_count: u32,
        /// The offset of the channels in the words: all joints' translations, then rotations, then scales. If `compact` is set,
        /// the offset of [`CompactChannels`](super::channel::CompactChannels) with the same channels.
        channels: u32,
        /// The offset of the value channels in the words: those of morph weights, then those of properties.
        value_channels: u32,
        /// The number of value channels of morph weights.
        weight_channel_count: u32,
        /// The number of all value channels.
        value_channel_count: u32,
        /// The offset in the words of a table with the value channel of each number of morph weights and properties.
        value_table: u32,
        /// The seconds of 2^32 units of the clip's time, a power of two. Playing layers count in these units.
        time_unit: f32,
        /// The offset of the events in the words: their number, the index of the first, then the time of each in the clip's
        /// units, lower half first. `NONE`: no events.
        events: u32,
        /// The offset of the root motion record in the words. `NONE`: no root motion.
        root: u32,
        /// 1 if the channels of joints are compact, as those of clips with quantized keys; otherwise 0.
        compact: u32,
    }
}

record! {
    /// The root motion of a clip, in the words.
    Root in words {
        /// The index of the root joint.
        joint: u32,
        /// The parts of its transform that move the instance.
        moves: u32,
        /// The x of the up axis, a unit vector in the space of the joint's parent.
        up_x: f32,
        /// The y of the up axis.
        up_y: f32,
        /// The z of the up axis.
        up_z: f32,
    }
}
