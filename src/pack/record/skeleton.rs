//! The record of a skeleton with its skins, and the kinds of its morph weights and properties.

use crate::pack::record::{NONE, constants, record};

constants! {
    /// Kind of a number of a property, which belongs to no joint.
    pub const VALUE_NUMBER: u32 = NONE;
    /// Kind of the first number of a property that is a rotation.
    pub const VALUE_ROTATION: u32 = NONE - 1;
    /// Kind of the other numbers of a property that is a rotation.
    pub const VALUE_ROTATION_REST: u32 = NONE - 2;
}

record! {
    /// A skeleton with its skins.
    SkeletonRecord {
        /// The number of joints. Parents come before children.
        joint_count: u32,
        /// The rounds of ancestor doubling until every joint has reached its root: the number of bits of the depth.
        round_count: u32,
        /// The offset in the words: for each round and each joint its ancestor 2^round levels up, or `NONE`.
        ancestors: u32,
        /// The offset of the rest pose in the values: translations of all joints, then rotations, then scales.
        rest: u32,
        /// The offset in the words: for each joint the offset in the values of the three rows of its rest matrix, or `NONE`.
        /// `NONE`: no joint has a matrix.
        matrices: u32,
        /// The number of joints of all skins together.
        skin_joint_count: u32,
        /// The offset in the words: the joint of each skin matrix.
        skin_joints: u32,
        /// The offset in the values: three rows of the inverse bind matrix of each skin matrix.
        inverse_binds: u32,
        /// The number of morph weights.
        weight_count: u32,
        /// The number of numbers of all properties together.
        property_width: u32,
        /// The most timelines of a clip of this skeleton.
        timeline_count: u32,
        /// The offset in the words of the record of the clip without tracks.
        rest_clip: u32,
        /// The offset in the words: for each number of morph weights and properties its joint, or a `VALUE_` kind.
        value_kinds: u32,
        /// The offset in the words: the joints level by level, roots first. Joints of a level keep their order.
        levels: u32,
        /// The offset in the words: for each joint the index of its skin matrix, or `NONE`. `NONE`: a joint has several.
        skin_matrices: u32,
        /// Pads the record to a multiple of 16 bytes, as a uniform needs.
        reserved: u32,
    }
}
