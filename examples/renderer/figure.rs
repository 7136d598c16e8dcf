//! The built-in rig's body, as a vertex buffer has it.

use bytemuck::{Pod, Zeroable};
use posse::demo::{BodyVertex, body};
use posse::{Error, Skeleton};

/// A vertex as the vertex buffer has it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// In metres, in the bind pose.
    pub position: [f32; 3],
    /// Of length 1, in the bind pose.
    pub normal: [f32; 3],
    /// Places in the skin's list of joints.
    pub joints: [u8; 4],
    /// A weight a joint, in 255ths; together 255.
    pub weights: [u8; 4],
    /// How much of it is hair, shirt, shorts and shoe, in 255ths; the rest is skin.
    pub parts: [u8; 4],
}

/// A mesh of triangles, anticlockwise as seen from outside.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three a triangle.
    pub indices: Vec<u32>,
}

impl Figure {
    /// The figure of a skeleton with the built-in rig's joints, in its rest pose, at about so many metres a triangle's side.
    ///
    /// # Errors
    /// Those of [`body`].
    pub fn new(skeleton: &Skeleton, side: f64) -> Result<Self, Error> {
        let body = body(skeleton, side)?;
        Ok(Self { vertices: body.vertices.iter().map(vertex).collect(), indices: body.indices })
    }
}

fn vertex(of_body: &BodyVertex) -> Vertex {
    // Rounded down, but for rounding errors; the first weight is what the others leave.
    let bytes = |shares: [f32; 4]| shares.map(|share| (255.0 * share + 0.01) as u8);
    let [_, second, third, fourth] = bytes(of_body.weights);
    Vertex {
        position: of_body.position,
        normal: of_body.normal,
        joints: of_body.joints.map(|joint| joint as u8),
        weights: [255 - second - third - fourth, second, third, fourth],
        parts: bytes(of_body.parts),
    }
}
