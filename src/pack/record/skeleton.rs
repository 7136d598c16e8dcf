//! A skeleton with its skins, and the kinds of numbers that it has beside its joints.

use crate::pack::record::{NONE, constants, record};

constants! {
    /// A number of a property, which belongs to no joint.
    pub const VALUE_NUMBER: u32 = NONE;
    /// The first number of a property that is a rotation.
    pub const VALUE_ROTATION: u32 = NONE - 1;
    /// Another number of a property that is a rotation.
    pub const VALUE_ROTATION_REST: u32 = NONE - 2;
}

record! {
    /// A skeleton with its skins.
    SkeletonRecord {
        /// Joints, parents before children.
        joint_count: u32,
        /// Rounds of ancestor doubling until every joint has met its root: the logarithm of the depth.
        round_count: u32,
        /// Words: for each round, for each joint its ancestor 2^round levels up, or none.
        ancestors: u32,
        /// Values: rest translations of all joints, then rotations, then scales.
        rest: u32,
        /// Words: for each joint the place in the values of the three rows of its rest matrix, or none. None for all: none.
        matrices: u32,
        /// Joints of all skins together.
        skin_joint_count: u32,
        /// Words: the joint of each skin matrix.
        skin_joints: u32,
        /// Values: three rows of the inverse bind matrix of each skin matrix.
        inverse_binds: u32,
        /// Numbers of all morph weights together.
        weight_count: u32,
        /// Numbers of all properties together.
        property_width: u32,
        /// The most timelines of a clip.
        timeline_count: u32,
        /// Words: the record of the clip without tracks.
        rest_clip: u32,
        /// Words: for each number of morph weights and properties the joint that it belongs to, or one of the kinds below.
        value_kinds: u32,
        /// Words: the joints level by level, roots first, those of a level in their order.
        levels: u32,
        /// Fills the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// As above.
        reserved_1: u32,
    }
}
