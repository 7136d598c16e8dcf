//! The body of the built-in human of [`posse::demo`]: a mesh, and a figure with dyes.

mod body;
mod surface;

pub use body::body;

use posse::export::gltf::BodyVertex;
use posse::{Error, Library, SkeletonId};

use crate::placement::chance;
use crate::{Figure, Material, Mesh, Mover, Part, Vertex, VertexColours};

/// The figure of the human of [`posse::demo::library`]. The dyes of an instance colour its clothes. `side` is the
/// approximate length of a triangle's side in metres, as in [`body`](fn@body).
///
/// # Errors
/// Those of [`body`](fn@body).
pub fn figure(library: &Library, skeleton: SkeletonId, side: f64) -> Result<Figure, Error> {
    let body = body(library.skeleton(skeleton), side)?;
    let vertices = body.vertices.iter().map(vertex).collect();
    let mesh = Mesh { vertices, indices: body.indices, targets: Vec::new() };
    let material = Material { vertex_colours: VertexColours::Dyes, ..Material::default() };
    let part = Part { mesh: 0, material: 0, mover: Mover::Skin(0), joint: 0 };
    let (meshes, parts, materials) = (vec![mesh], vec![part], vec![material]);
    Ok(Figure { skeleton, meshes, parts, materials, images: Vec::new() })
}

fn vertex(body_vertex: &BodyVertex) -> Vertex {
    let &BodyVertex { position, normal, joints, weights, parts } = body_vertex;
    Vertex {
        position,
        normal,
        colour: parts.map(|part| (65535.0 * part) as u16),
        joints: [joints, [0; 4]],
        weights: [weights, [0.0; 4]],
        ..Vertex::default()
    }
}

/// The dyes of an instance: the colours of hair, shirt, shorts, shoes, and skin, in this order.
pub fn dyes(instance: usize) -> [[f32; 3]; 5] {
    const SHIRTS: [[f32; 3]; 9] = [
        [0.72, 0.06, 0.07],
        [0.03, 0.26, 0.52],
        [0.90, 0.50, 0.05],
        [0.82, 0.82, 0.78],
        [0.02, 0.36, 0.26],
        [0.36, 0.10, 0.42],
        [0.85, 0.22, 0.10],
        [0.05, 0.48, 0.58],
        [0.90, 0.74, 0.22],
    ];
    const SKINS: [[f32; 3]; 5] =
        [[0.80, 0.52, 0.38], [0.62, 0.36, 0.23], [0.38, 0.20, 0.12], [0.86, 0.62, 0.50], [0.20, 0.10, 0.06]];
    const HAIRS: [[f32; 3]; 5] =
        [[0.03, 0.02, 0.02], [0.12, 0.06, 0.03], [0.45, 0.28, 0.10], [0.25, 0.08, 0.03], [0.30, 0.30, 0.32]];
    let pick = |colours: &[[f32; 3]], stream| {
        let index = (chance(instance, stream) * colours.len() as f32) as usize;
        colours[index.min(colours.len() - 1)]
    };
    let mix =
        |a: [f32; 3], b: [f32; 3], share: f32| [0, 1, 2].map(|channel| a[channel] + share * (b[channel] - a[channel]));
    // The share of a colour in the dark shorts: 0, a quarter or a half.
    let share = 0.25 * (3.0 * chance(instance, 13)).floor();
    let shorts = mix([0.03, 0.035, 0.06], pick(&SHIRTS, 12), share);
    let shoes = mix([0.75; 3], pick(&SHIRTS, 14), 0.7);
    [pick(&HAIRS, 10), pick(&SHIRTS, 11), shorts, shoes, pick(&SKINS, 15)]
}
