//! What a curve drives.

use crate::model::{Curve, Skeleton};

/// What a curve drives. Joints and properties are those of the clip's skeleton, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A joint's translation, 3 numbers.
    Translation(usize),
    /// A joint's rotation, a quaternion xyzw.
    Rotation(usize),
    /// A joint's scale, 3 numbers.
    Scale(usize),
    /// A joint's rotation by three angles in degrees: about x, then z, then y, as in Cocos Creator. A joint has either this
    /// or [`Rotation`](Self::Rotation).
    EulerAngles(usize),
    /// All morph weights of a joint.
    Weights(usize),
    /// A property of the skeleton, as wide as the property.
    Property(usize),
}

impl Target {
    /// Whether the target is a quaternion that interpolates as a rotation.
    ///
    /// # Panics
    /// Where it is a property that the skeleton does not have.
    pub fn is_rotation(self, skeleton: &Skeleton) -> bool {
        match self {
            Self::Rotation(_) => true,
            Self::Property(index) => skeleton.properties()[index].rotation,
            _ => false,
        }
    }
}

/// A target and the curve that drives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// What is driven.
    pub target: Target,
    /// The one number of the target that the curve, which is then 1 wide, drives; `None` for all of them. Numbers that
    /// nothing drives are as at rest. Of a rotation there are no single numbers.
    pub component: Option<usize>,
    /// Its values over time.
    pub curve: Curve,
}

impl Track {
    /// A track that drives a whole target.
    pub fn new(target: Target, curve: Curve) -> Self {
        Self { target, component: None, curve }
    }

    /// A track that drives one number of a target.
    pub fn component(target: Target, component: usize, curve: Curve) -> Self {
        Self { target, component: Some(component), curve }
    }
}
