//! Meshes: vertices, triangles, morph targets.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// A vertex as the vertex buffer has it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// In the space of the mesh, unmorphed.
    pub position: [f32; 3],
    /// Of length 1; zero where there is no direction.
    pub normal: [f32; 3],
    /// Where in the texture it is, (0, 0) the upper left corner.
    pub texture: [f32; 2],
    /// Red, green, blue and alpha, linear, from 0 to 65535; what they do, the material says.
    pub colour: [u16; 4],
    /// Places in the skin's list of joints.
    pub joints: [[u16; 4]; 2],
    /// A weight a joint; together 1, where a skin moves the mesh.
    pub weights: [[f32; 4]; 2],
}

impl Vertex {
    /// The most joints that move a vertex.
    pub const INFLUENCES: usize = 8;
    /// White, and opaque.
    pub const WHITE: [u16; 4] = [u16::MAX; 4];
}

impl Default for Vertex {
    fn default() -> Self {
        Self { colour: Self::WHITE, ..Self::zeroed() }
    }
}

/// What a morph target of weight 1 adds to each vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphTarget {
    /// To positions: one a vertex, or none at all.
    pub positions: Vec<[f32; 3]>,
    /// To normals: one a vertex, or none at all.
    pub normals: Vec<[f32; 3]>,
}

/// Triangles, anticlockwise as seen from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three a triangle; each is a vertex that there is.
    pub indices: Vec<u32>,
    /// The morph targets, in the order of their weights.
    pub targets: Vec<MorphTarget>,
}

impl Mesh {
    /// How many joints move its vertices at the most: 0, 4 or 8.
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

    /// The same triangles with a vertex for each of their corners, and the normals of the triangles (glTF 2.0, section
    /// 3.7.2.1: what a mesh without normals looks like).
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
