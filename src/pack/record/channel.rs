//! What drives a joint's translation, rotation or scale, and the modes of doing so.

use crate::pack::record::{constants, record};

constants! {
    /// No curve: the rest pose.
    pub const MODE_REST: u32 = 0;
    /// One value for all times.
    pub const MODE_CONSTANT: u32 = 1;
    /// The previous key's value.
    pub const MODE_STEP: u32 = 2;
    /// Linear between keys; rotations spherically.
    pub const MODE_LINEAR: u32 = 3;
    /// Cubic Hermite splines.
    pub const MODE_CUBIC: u32 = 4;
    /// Spherically between quaternions of any length. A key has two values: its own, and the next key's in its hemisphere.
    pub const MODE_SLERP: u32 = 5;
    /// By an interpolator, whose index is the channel's shape.
    pub const MODE_CUSTOM: u32 = 6;
    /// Three channels, one a number: the place of their records in the words.
    pub const MODE_SPLIT: u32 = 7;
    /// Bit of a mode: keys are integers, and the channel's values are the place of a
    /// [`QuantizedColumn`](super::quantized_column::QuantizedColumn) in the words.
    pub const MODE_QUANTIZED: u32 = 64;
    /// Bit of a mode: the numbers are angles in degrees, about x, z and y, of a rotation.
    pub const MODE_EULER: u32 = 128;
    /// Bits of [`Channel::sampler`] that hold the mode; the timeline's index in its clip lies above them.
    pub const MODE_BITS: u32 = 8;

    /// Bit of [`ValueChannel::shape`]: the value is a quaternion that interpolates as a rotation.
    pub const SHAPE_ROTATION: u32 = 8;
    /// Bit of [`ValueChannel::shape`]: the clip has no track for it, and the value is the one at rest.
    pub const SHAPE_REST: u32 = 16;
}

record! {
    /// What drives a joint's translation, rotation or scale, in the words.
    Channel in words {
        /// Values: the first key, or the one value. Words: the column of quantized keys.
        values: u32,
        /// The mode, and above it the timeline's index in the clip.
        sampler: u32,
    }
}

record! {
    /// What drives up to four numbers of morph weights or properties, in the words.
    ValueChannel in words {
        /// Values: the first key, or the one value. Words: the column of quantized keys.
        values: u32,
        /// The mode, and above it the timeline's index in the clip.
        sampler: u32,
        /// Place of the first number among an instance's weights and properties.
        output: u32,
        /// How many numbers, 1 to 4, and whether they are a rotation.
        shape: u32,
    }
}

impl Channel {
    /// A channel of a mode, of the clip's timeline of this index.
    pub fn new(mode: u32, timeline: u32, values: u32) -> Self {
        Self { values, sampler: mode | timeline << MODE_BITS }
    }
}

/// The mode of a channel's sampler.
pub fn mode_of(sampler: u32) -> u32 {
    sampler & ((1 << MODE_BITS) - 1)
}

/// The timeline of a channel's sampler, by its index in the clip.
pub fn timeline_of(sampler: u32) -> usize {
    (sampler >> MODE_BITS) as usize
}
