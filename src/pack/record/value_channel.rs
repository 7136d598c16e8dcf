//! What drives morph weights and properties.

use crate::pack::record::{constants, record};

constants! {
    /// Bit of [`ValueChannel::shape`]: the value is a quaternion that interpolates as a rotation.
    pub const SHAPE_ROTATION: u32 = 8;
    /// Bit of [`ValueChannel::shape`]: the clip has no track for it, and the value is the one at rest.
    pub const SHAPE_REST: u32 = 16;
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
