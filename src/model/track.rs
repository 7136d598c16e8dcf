//! What a curve drives.

use crate::model::curve::Curve;

/// What a curve drives. Joints and properties are those of the clip's skeleton, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A joint's translation, 3 numbers.
    Translation(usize),
    /// A joint's rotation, a quaternion xyzw.
    Rotation(usize),
    /// A joint's scale, 3 numbers.
    Scale(usize),
    /// All morph weights of a joint.
    Weights(usize),
    /// One morph weight of a joint.
    Weight {
        /// The joint.
        joint: usize,
        /// The morph target.
        target: usize,
    },
    /// A property of the skeleton, as wide as the property.
    Property(usize),
}

/// A target and the curve that drives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// What is driven.
    pub target: Target,
    /// Its values over time.
    pub curve: Curve,
}
