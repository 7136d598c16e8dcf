//! The poses of a crowd.

use glam::DAffine3;

use crate::model::{Motion, Transform};

/// The pose of one instance. Parts that [`Outputs`](crate::Outputs) did not select are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// Local transform of each joint of the skeleton, with rotations of unit length. A joint given by a matrix has its rest
    /// transform here.
    pub local: Vec<Transform>,
    /// Model matrix of each joint of the skeleton.
    pub model: Vec<DAffine3>,
    /// Skin matrices: one list per skin of the skeleton, in the order of the library, with one matrix per joint of the skin.
    pub skins: Vec<Vec<DAffine3>>,
    /// Morph weights of all joints, joint after joint.
    pub weights: Vec<f64>,
    /// Numbers of all properties, property after property.
    pub properties: Vec<f64>,
    /// The movement of the instance in the step, seen from its place at the start of the step; `None` if no clip of its layers
    /// has a root joint. For a single tick it is the identity. It is in the space of the parent of the root joint:
    /// [`Motion::in_space`] converts it.
    pub root_motion: Option<Motion>,
}

/// The poses of a crowd.
///
/// They are in `f64`, which holds the numbers of every engine exactly. The buffers of the GPU and CPU engines are `f32`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Poses {
    /// One pose per instance, in the order of the crowd.
    pub instances: Vec<Pose>,
}
