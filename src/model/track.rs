//! Tracks: a curve and the target that it drives.

use crate::model::{Curve, Skeleton};

/// The target of a curve. Joints and properties are indices into those of the skeleton of the clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The translation of a joint, 3 numbers.
    Translation(usize),
    /// The rotation of a joint, a quaternion xyzw.
    Rotation(usize),
    /// The scale of a joint, 3 numbers.
    Scale(usize),
    /// The rotation of a joint as three angles in degrees, applied about x, then z, then y, as in Cocos Creator. A clip drives
    /// either this or [`Rotation`](Self::Rotation) of a joint.
    EulerAngles(usize),
    /// All morph weights of a joint, one number each.
    Weights(usize),
    /// A property of the skeleton. The width is that of the property.
    Property(usize),
}

impl Target {
    /// True if the target is a quaternion that interpolates as a rotation.
    ///
    /// # Panics
    /// If it is a property that the skeleton does not have.
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
    /// The driven value.
    pub target: Target,
    /// The single number of the target that the curve drives; the curve is then 1 wide. `None` drives all numbers. Numbers without
    /// a curve keep their rest value. Single numbers of a rotation cannot be driven.
    pub component: Option<usize>,
    /// The values over time.
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
