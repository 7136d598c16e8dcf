//! Meshes of vertices, triangles and morph targets.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// A vertex, with the layout of the vertex buffer. Default: all zero, and [`WHITE`](Self::WHITE).
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// The position in the space of the mesh, before morphing.
    pub position: [f32; 3],
    /// The normal, of length 1. A zero normal is replaced by that of the triangle.
    pub normal: [f32; 3],
    /// The texture coordinates; (0, 0) is the upper left corner.
    pub texture: [f32; 2],
    /// Red, green, blue and alpha, linear, from 0 to 65535. [`Material::vertex_colours`](crate::Material) selects their use.
    pub colour: [u16; 4],
    /// Up to eight joints, as indices into the list of joints of the skin.
    pub joints: [[u16; 4]; 2],
    /// One weight per joint. Their sum is 1 if a skin moves the mesh.
    pub weights: [[f32; 4]; 2],
}

impl Vertex {
    /// The most joints that move a vertex.
    pub const INFLUENCES: usize = 8;
    /// Opaque white.
    pub const WHITE: [u16; 4] = [u16::MAX; 4];
}

impl Default for Vertex {
    fn default() -> Self {
        Self { colour: Self::WHITE, ..Self::zeroed() }
    }
}

/// The displacements that a morph target of weight 1 adds to each vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphTarget {
    /// Displacements of positions: one per vertex, or empty.
    pub positions: Vec<[f32; 3]>,
    /// Displacements of normals: one per vertex, or empty.
    pub normals: Vec<[f32; 3]>,
}

/// Triangles, counterclockwise as seen from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three indices per triangle, each less than the number of vertices.
    pub indices: Vec<u32>,
    /// The morph targets, in the order of their weights.
    pub targets: Vec<MorphTarget>,
}

impl Mesh {
    /// The number of joints per vertex that the shader has to read: 0, 4 or 8.
    pub fn influences(&self) -> u32 {
        let used =
            |set: usize| self.vertices.iter().any(|vertex| vertex.weights[set].iter().any(|&weight| weight != 0.0));
        if used(1) {
            8
        } else if used(0) {
            4
        } else {
            0
        }
    }

    /// The same triangles with separate vertices for each triangle, which have its normal. glTF 2.0, section 3.7.2.1, requires
    /// this shading for meshes without normals.
    pub fn flat(&self) -> Self {
        let corner = |&index: &u32| self.vertices[index as usize];
        let mut vertices: Vec<Vertex> = self.indices.iter().map(corner).collect();
        for triangle in vertices.chunks_exact_mut(3) {
            let [a, b, c] = [0, 1, 2].map(|corner| Vec3::from(triangle[corner].position));
            let normal = (b - a).cross(c - a).normalize_or_zero();
            triangle.iter_mut().for_each(|vertex| vertex.normal = normal.to_array());
        }
        let spread = |values: &[[f32; 3]]| match values {
            [] => Vec::new(),
            values => self.indices.iter().map(|&index| values[index as usize]).collect(),
        };
        let targets = self
            .targets
            .iter()
            .map(|target| MorphTarget { positions: spread(&target.positions), normals: spread(&target.normals) });
        Self { targets: targets.collect(), indices: (0..vertices.len() as u32).collect(), vertices }
    }
}
