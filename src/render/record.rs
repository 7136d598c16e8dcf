//! Records and constants that the shaders of shaders/render/ share with Rust.

use glam::{Mat4, Vec3};

use crate::pack::record::{Shared, constants, record};
use crate::render::placement::pack_colour;
use crate::render::{Alpha, Material, Mesh, Placement, VertexColours};

/// All that is declared here, for WGSL.
pub const SHARED: Shared = Shared {
    file: "src/render/record.rs",
    constants: CONSTANTS,
    records: &[ViewRecord::RECORD, InstanceRecord::RECORD, PartRecord::RECORD, MaterialRecord::RECORD],
};

constants! {
    /// Samples of the shadow map in a row and in a column, whose mean says how much of the sun reaches a point.
    pub const SHADOW_SAMPLES: u32 = 6;
    /// Vertices of a bone: an octahedron.
    pub const BONE_VERTICES: u32 = 24;
    /// Vertices of the ground: two triangles.
    pub const GROUND_VERTICES: u32 = 6;
}

record! {
    /// From where a scene is seen, and in which light: the same for all that is drawn in a pass. A uniform.
    ViewRecord {
        /// Depth goes from 1 at the nearest to 0 at infinity; in the shadow's pass from 0 to 1.
        clip_from_world: Mat4,
        /// To the shadow map: x and y from -1 to 1, depth from 0 to 1.
        shadow_from_world: Mat4,
        /// The place of the eye.
        eye: Vec3,
        /// The height of the ground.
        ground: f32,
        /// From the middle of the picture to its right edge, at distance 1.
        right: Vec3,
        /// From place to place at which the shadow map is sampled, in its texture coordinates.
        penumbra: f32,
        /// From the middle of the picture to its upper edge, at distance 1.
        up: Vec3,
        /// How far a surface is moved along its normal before it looks for its shadow, against shadows of its own.
        shadow_offset: f32,
        /// From the eye to the middle of the picture, of length 1.
        forward: Vec3,
        /// How far beyond the scene haze has taken two thirds of a colour.
        haze: f32,
        /// Towards the sun, of length 1.
        sun: Vec3,
        /// From line to line of the ground's grid.
        grid: f32,
        /// Light from the sun.
        sun_colour: Vec3,
        /// Up to this height above the ground, it takes light of the sky away.
        contact: f32,
        /// Light from above.
        sky_light: Vec3,
        /// Of what size the scene is, from its middle.
        radius: f32,
        /// Light from below.
        ground_light: Vec3,
        /// How much darker than the ground its grid is; negative for lighter.
        grid_contrast: f32,
        /// The sky's colour straight above.
        zenith: Vec3,
        /// What bones are drawn with: nearer than all else where it is small, at their place where it is 1.
        bone_depth: f32,
        /// The sky's colour at the horizon.
        horizon: Vec3,
        /// How large a joint is drawn.
        joint_size: f32,
        /// The ground's colour in the sun.
        ground_colour: Vec3,
        /// 1 where the background is nothing, and the ground only its shadows.
        transparent: f32,
        /// The middle of the scene.
        middle: Vec3,
        /// The part of the shadow map that is used, from its upper left corner, to the right and down.
        shadow_part: f32,
    }
}

record! {
    /// Where an instance stands, and its colours.
    InstanceRecord {
        /// Three rows of a matrix, the last of each row the translation.
        world: [[f32; 4]; 3],
        /// Five colours of four bytes, linear; three words of nothing.
        dyes: [u32; 8],
    }
}

impl InstanceRecord {
    pub fn new(placement: &Placement) -> Self {
        let matrix = placement.transform.matrix3;
        let row = |axis: usize| {
            [matrix.x_axis[axis], matrix.y_axis[axis], matrix.z_axis[axis], placement.transform.translation[axis]]
        };
        let [a, b, c, d, e] = placement.dyes.map(pack_colour);
        Self { world: [row(0), row(1), row(2)], dyes: [a, b, c, d, e, 0, 0, 0] }
    }
}

record! {
    /// A part of a figure, or the bones of a skeleton, of which only the rows and the number of bones are set. A uniform.
    PartRecord {
        /// Rows of an instance in the matrices.
        row_count: u32,
        /// The first row of what moves the part.
        first_row: u32,
        /// Joints that move a vertex; 0 where one moves all.
        influences: u32,
        /// Numbers of an instance in the values.
        value_count: u32,
        /// The first weight of the part's among them.
        first_value: u32,
        /// Morph targets that have a weight.
        target_count: u32,
        /// Vertices of the part's mesh, or bones of the skeleton.
        vertex_count: u32,
        /// Fills the record to a multiple of 16 bytes, as a uniform needs.
        padding: u32,
    }
}

record! {
    /// What a surface looks like. A uniform.
    MaterialRecord {
        /// The colour, linear, and alpha.
        base_colour: [f32; 4],
        /// The light that it gives off.
        emissive: [f32; 3],
        /// Where alpha is less, there is nothing.
        cutoff: f32,
        /// From a vertex's texture coordinates to the texture's: two columns.
        texture_matrix: [f32; 4],
        /// What is added after.
        texture_offset: [f32; 2],
        /// 1 where no light changes its colour.
        unlit: u32,
        /// 1 where the vertices' colours are shares of the instance's dyes.
        dyed: u32,
    }
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
