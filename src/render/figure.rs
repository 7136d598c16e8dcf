//! What the instances of a skeleton look like.

use crate::model::id::SkeletonId;
use crate::render::image::Image;
use crate::render::material::Material;
use crate::render::mesh::Mesh;

/// What the instances of a skeleton look like: meshes, and what moves them.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Whose poses move it.
    pub skeleton: SkeletonId,
    /// The meshes.
    pub meshes: Vec<Mesh>,
    /// What there is to be seen: none where only joints are.
    pub parts: Vec<Part>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The images of textures.
    pub images: Vec<Image>,
}

impl Figure {
    /// A figure that cannot be seen, but for its joints.
    pub fn empty(skeleton: SkeletonId) -> Self {
        Self { skeleton, meshes: Vec::new(), parts: Vec::new(), materials: Vec::new(), images: Vec::new() }
    }
}

/// A mesh at its place in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the mesh.
    pub mesh: usize,
    /// Index of the material.
    pub material: usize,
    /// What moves it.
    pub mover: Mover,
    /// The joint whose morph weights are the mesh's.
    pub joint: usize,
}

/// What moves a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A skin, by its place among the skins of the skeleton; vertices name its joints.
    Skin(usize),
    /// The part's joint, as a whole.
    Joint,
}
