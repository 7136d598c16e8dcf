//! A clip's root joint, and what of it moves the instance.

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
