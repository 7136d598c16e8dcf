//! The answer: the poses of a crowd.

use glam::DAffine3;

use crate::model::{Motion, Transform};

/// The pose of one instance. Parts that were not asked for are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// Local transform of each joint of the skeleton, rotations of unit length; a joint given by a matrix has its rest
    /// transform here.
    pub local: Vec<Transform>,
    /// Model matrix of each joint of the skeleton.
    pub model: Vec<DAffine3>,
    /// For each skin of the skeleton, in the library's order, the skin matrix of each of its joints.
    pub skins: Vec<Vec<DAffine3>>,
    /// Morph weights of all joints, joint after joint.
    pub weights: Vec<f64>,
    /// Numbers of all properties, property after property.
    pub properties: Vec<f64>,
    /// What the instance moves by in the step, from where it stands at its beginning; none where no layer's clip names a
    /// root. For a tick alone it is the identity. It is in the space of the root joint's parent: see
    /// [`Motion::in_space`].
    pub root_motion: Option<Motion>,
}

/// The poses of a crowd, one an instance, in the crowd's order.
///
/// They are in `f64`, which holds what any engine computes; the engines' own buffers are `f32`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Poses {
    /// One pose an instance.
    pub instances: Vec<Pose>,
}
