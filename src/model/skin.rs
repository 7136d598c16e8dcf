//! Joints that deform a mesh.

use glam::DAffine3;

use crate::model::SkeletonId;

/// Joints that deform a mesh, each with its inverse bind matrix. Several skins may share one skeleton.
///
/// It is checked against its skeleton when it is added to a [`Library`](crate::Library).
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The skin's name, where it has one.
    pub name: Option<String>,
    /// The skeleton whose joints are meant.
    pub skeleton: SkeletonId,
    /// Indices of joints, in the order in which a mesh's vertices refer to them.
    pub joints: Vec<usize>,
    /// One matrix a joint: from the mesh's space to the joint's, in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
}
