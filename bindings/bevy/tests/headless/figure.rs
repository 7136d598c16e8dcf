//! The body of the built-in rig, as vertices and indices.

use posse::export::gltf::BodyVertex;
use posse::{Error, Skeleton};
use posse_render::demo::body;

/// A vertex.
#[derive(Debug, Clone, Copy)]
pub struct Vertex {
    /// The position in metres, in the bind pose.
    pub position: [f32; 3],
    /// The normal of length 1, in the bind pose.
    pub normal: [f32; 3],
    /// Indices into the list of joints of the skin.
    pub joints: [u8; 4],
    /// One weight per joint, in units of 1/255. Their sum is 255.
    pub weights: [u8; 4],
}

/// A mesh of triangles, counterclockwise as seen from outside.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three indices per triangle.
    pub indices: Vec<u32>,
}

impl Figure {
    /// The figure of a skeleton with the joints of the built-in rig, in its rest pose. `side` is the approximate length
    /// of a triangle's side in metres.
    ///
    /// # Errors
    /// The errors of [`body`].
    pub fn new(skeleton: &Skeleton, side: f64) -> Result<Self, Error> {
        let body = body(skeleton, side)?;
        Ok(Self { vertices: body.vertices.iter().map(vertex).collect(), indices: body.indices })
    }
}

fn vertex(source: &BodyVertex) -> Vertex {
    // Rounded down, with a tolerance for rounding errors. The first weight gets the remainder.
    let [_, second, third, fourth] = source.weights.map(|share| (255.0 * share + 0.01) as u8);
    Vertex {
        position: source.position,
        normal: source.normal,
        joints: source.joints.map(|joint| joint as u8),
        weights: [255 - second - third - fourth, second, third, fourth],
    }
}
