//! Channels, which give a joint's translation, rotation or scale, or morph weights and properties; and their modes.

use crate::pack::record::{constants, record};

constants! {
    /// Mode without a curve: the rest pose.
    pub const MODE_REST: u32 = 0;
    /// Mode of one value for all times.
    pub const MODE_CONSTANT: u32 = 1;
    /// Mode of the previous key's value.
    pub const MODE_STEP: u32 = 2;
    /// Mode of linear interpolation; slerp for rotations.
    pub const MODE_LINEAR: u32 = 3;
    /// Mode of cubic Hermite splines.
    pub const MODE_CUBIC: u32 = 4;
    /// Mode of slerp between quaternions of any length. A key has two values: its own, and the next key's in its hemisphere.
    pub const MODE_SLERP: u32 = 5;
    /// Mode of a caller's interpolator. Its index is the shape of the channel.
    pub const MODE_CUSTOM: u32 = 6;
    /// Mode of three channels, one per number. The channel's values are the offset of their records in the words.
    pub const MODE_SPLIT: u32 = 7;
    /// Bit of a mode: the keys are quantized. The channel's values are the offset of a
    /// [`QuantizedColumn`](super::quantized_column::QuantizedColumn) in the words.
    pub const MODE_QUANTIZED: u32 = 64;
    /// Bit of a mode: the numbers are the angles of a rotation in degrees, about x, z and y.
    pub const MODE_EULER: u32 = 128;
    /// The number of low bits of [`Channel::sampler`] that hold the mode. The bits above hold the index of the timeline in its
    /// clip.
    pub const MODE_BITS: u32 = 8;

    /// The index of a joint's translation among its channels and rest values.
    pub const PART_TRANSLATION: u32 = 0;
    /// The index of a joint's rotation.
    pub const PART_ROTATION: u32 = 1;
    /// The index of a joint's scale.
    pub const PART_SCALE: u32 = 2;

    /// The number of channels that a [`ChannelGroup`] describes.
    pub const GROUP_CHANNELS: u32 = 32;
    /// The number of low bits of an entry of compact channels that hold the sampler. The bits above hold the distance of the
    /// channel's values from an offset in [`CompactChannels`].
    pub const ENTRY_SAMPLER_BITS: u32 = 16;

    /// Bit of [`ValueChannel::shape`]: the value is a quaternion that interpolates as a rotation.
    pub const SHAPE_ROTATION: u32 = 8;
    /// Bit of [`ValueChannel::shape`]: the clip has no track for it. The value is the rest value.
    pub const SHAPE_REST: u32 = 16;
}

record! {
    /// The source of a joint's translation, rotation or scale, in the words.
    Channel in words {
        /// The offset of the first key or of the constant value in the values; of a column of quantized keys in the words.
        values: u32,
        /// The mode, and above it the index of the timeline in the clip.
        sampler: u32,
    }
}

record! {
    /// Channels of all joints with less than two words per channel, in the words. After the record come a [`ChannelGroup`] per
    /// `GROUP_CHANNELS` channels, and then the entries: one word per channel that has one, in the order of the channels.
    CompactChannels in words {
        /// The offset in the words from which entries with `MODE_QUANTIZED` or `MODE_SPLIT` count.
        words: u32,
        /// The offset in the values from which the other entries count.
        values: u32,
    }
}

record! {
    /// Neighbouring compact channels, a bit each, in the words.
    ChannelGroup in words {
        /// The channels with an entry.
        entries: u32,
        /// The channels with one constant value, that of the rest pose. Channels without a bit are at rest.
        constants: u32,
        /// The offset of the first entry in the words.
        first: u32,
    }
}

record! {
    /// The source of up to four numbers of morph weights or properties, in the words.
    ValueChannel in words {
        /// The offset of the first key or of the constant value in the values; of a column of quantized keys in the words.
        values: u32,
        /// The mode, and above it the index of the timeline in the clip.
        sampler: u32,
        /// The index of the first number among an instance's morph weights and properties.
        output: u32,
        /// The count of numbers, 1 to 4, and the bits `SHAPE_ROTATION` and `SHAPE_REST`; or the index of an interpolator.
        shape: u32,
    }
}

impl Channel {
    /// A channel with a mode and the index of its timeline in the clip.
    pub fn new(mode: u32, timeline: u32, values: u32) -> Self {
        Self { values, sampler: mode | timeline << MODE_BITS }
    }
}

/// The mode in a channel's sampler.
pub fn mode_of(sampler: u32) -> u32 {
    sampler & ((1 << MODE_BITS) - 1)
}

/// The index of the timeline in a channel's sampler.
pub fn timeline_of(sampler: u32) -> usize {
    (sampler >> MODE_BITS) as usize
}
