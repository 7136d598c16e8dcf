//! The key times of a timeline that goes on beyond its keys.

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
