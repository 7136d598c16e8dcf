//! What shaders read, as bytes: the same as in shaders/render/, which a test compares.

use bytemuck::{Pod, Zeroable};

use crate::render::place::packed;
use crate::render::{Alpha, Material, Mesh, Place, VertexColours};

/// `Instance` of shaders/render/figure.wgsl.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct InstanceRecord {
    world: [[f32; 4]; 3],
    dyes: [u32; 8],
}

impl InstanceRecord {
    pub fn new(place: &Place) -> Self {
        let matrix = place.world.matrix3;
        let row = |axis: usize| {
            [matrix.x_axis[axis], matrix.y_axis[axis], matrix.z_axis[axis], place.world.translation[axis]]
        };
        let [a, b, c, d, e] = place.dyes.map(packed);
        Self { world: [row(0), row(1), row(2)], dyes: [a, b, c, d, e, 0, 0, 0] }
    }
}

/// `Part` of shaders/render/figure.wgsl.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PartRecord {
    pub row_count: u32,
    pub first_row: u32,
    pub influences: u32,
    pub value_count: u32,
    pub first_value: u32,
    pub target_count: u32,
    pub vertex_count: u32,
    pub padding: u32,
}

/// `Material` of shaders/render/figure.wgsl.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct MaterialRecord {
    base_colour: [f32; 4],
    emissive: [f32; 3],
    cutoff: f32,
    texture_matrix: [f32; 4],
    texture_offset: [f32; 2],
    unlit: u32,
    dyed: u32,
}

impl MaterialRecord {
    pub fn new(material: &Material) -> Self {
        let transform = material.texture.map_or(glam::Affine2::IDENTITY, |texture| texture.transform);
        let [a, b, c, d, x, y] = transform.to_cols_array();
        Self {
            base_colour: material.base_colour,
            emissive: material.emissive,
            // Below 0 there is nothing; and what hardly shows would only hide what is behind it.
            cutoff: match material.alpha {
                Alpha::Opaque => -1.0,
                Alpha::Mask(cutoff) => cutoff,
                Alpha::Blend => 1.0 / 255.0,
            },
            texture_matrix: [a, b, c, d],
            texture_offset: [x, y],
            unlit: material.unlit.into(),
            dyed: (material.vertex_colours == VertexColours::Dyes).into(),
        }
    }
}

/// For each morph target and vertex what it adds to position and normal, four numbers each.
pub fn deltas(mesh: &Mesh) -> Vec<[f32; 8]> {
    let mut deltas = Vec::with_capacity(mesh.targets.len() * mesh.vertices.len());
    for target in &mesh.targets {
        for vertex in 0..mesh.vertices.len() {
            let of = |values: &[[f32; 3]]| values.get(vertex).copied().unwrap_or_default();
            let ([px, py, pz], [nx, ny, nz]) = (of(&target.positions), of(&target.normals));
            deltas.push([px, py, pz, 0.0, nx, ny, nz, 0.0]);
        }
    }
    deltas
}
