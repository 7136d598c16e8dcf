//! Records and constants that Rust shares with the shaders of this crate.

use glam::{Affine3A, Mat4, Vec3};

use crate::placement::pack_colour;
use crate::{Alpha, Material, Mesh, Placement, TextureTransform, VertexColours};
use posse::low_level::record::{Shared, constants, record};

/// The records and constants of this file, for WGSL.
pub const SHARED: Shared = Shared {
    file: "crates/posse-render/src/record.rs",
    constants: CONSTANTS,
    records: &[ViewRecord::RECORD, InstanceRecord::RECORD, PartRecord::RECORD, MaterialRecord::RECORD],
};

constants! {
    /// Vertices of a bone: the eight triangles of an octahedron.
    pub const BONE_VERTICES: u32 = 24;
    /// Vertices of the ground: two triangles.
    pub const GROUND_VERTICES: u32 = 6;
    /// A number of the material of a part has a source.
    pub const PART_HAS_SOURCES: u32 = 1;
    /// The joint, the skin or the instance of a part can mirror it.
    pub const PART_MAY_MIRROR: u32 = 2;
    /// The colours of vertices multiply the base colour.
    pub const COLOURS_FACTORS: u32 = 0;
    /// The colours of vertices are shares of the dyes of the instance.
    pub const COLOURS_DYES: u32 = 1;
    /// The colours of vertices replace the base colour by the share that is their alpha.
    pub const COLOURS_OVERLAY: u32 = 2;
}

record! {
    /// The camera and the light of a pass. A uniform.
    ViewRecord {
        /// The matrix from the world to clip space. Depth is 1 at the near plane and 0 at infinity; in the pass of the
        /// shadow map, it goes from 0 to 1.
        clip_from_world: Mat4,
        /// The matrix from the world to the shadow map: x and y from -1 to 1, depth from 0 to 1.
        shadow_from_world: Mat4,
        /// The position of the camera.
        eye: Vec3,
        /// The height of the ground.
        ground: f32,
        /// The vector from the middle of the picture to its right edge, at distance 1.
        right: Vec3,
        /// The distance between samples of the shadow map, in its texture coordinates.
        penumbra: f32,
        /// The vector from the middle of the picture to its upper edge, at distance 1.
        up: Vec3,
        /// The distance by which a point moves along its normal before the shadow map is sampled. It keeps a surface
        /// from shading itself.
        shadow_offset: f32,
        /// The direction from the camera to the middle of the picture, of length 1.
        forward: Vec3,
        /// The distance beyond the scene at which haze replaces about two thirds of a colour.
        haze: f32,
        /// The direction to the sun, of length 1.
        sun: Vec3,
        /// The distance between lines of the ground's grid.
        grid: f32,
        /// The colour of sunlight.
        sun_colour: Vec3,
        /// The height above the ground below which the ground reduces the light of the sky.
        contact: f32,
        /// The colour of light from above.
        sky_light: Vec3,
        /// The distance from the middle of the scene to a corner of its bounds.
        radius: f32,
        /// The colour of light from below.
        ground_light: Vec3,
        /// The share by which the grid is darker than the ground; negative for a lighter grid.
        grid_contrast: f32,
        /// The colour of the sky at the zenith.
        zenith: Vec3,
        /// The share of its own depth that a bone keeps. 1 draws bones at their depth; smaller values draw them in
        /// front of the rest.
        bone_depth: f32,
        /// The colour of the sky at the horizon.
        horizon: Vec3,
        /// The size of a drawn joint.
        joint_size: f32,
        /// The colour of the ground in the sun.
        ground_colour: Vec3,
        /// 1 if the background is transparent and the ground shows only its shadows, else 0.
        transparent: f32,
        /// The middle of the scene.
        middle: Vec3,
        /// The used share of each side of the shadow map, from its upper left corner.
        shadow_part: f32,
    }
}

record! {
    /// The transform and the colours of an instance.
    InstanceRecord {
        /// The three rows of the matrix from the instance to the world. The last number of each row is the translation.
        world: [[f32; 4]; 3],
        /// Five linear colours of four bytes, then three unused words.
        dyes: [u32; 8],
    }
}

impl InstanceRecord {
    pub fn new(placement: &Placement) -> Self {
        let [a, b, c, d, e] = placement.dyes.map(pack_colour);
        Self { world: rows(&placement.transform), dyes: [a, b, c, d, e, 0, 0, 0] }
    }
}

/// The three rows of a matrix. The last number of each row is the translation.
pub fn rows(transform: &Affine3A) -> [[f32; 4]; 3] {
    let Affine3A { matrix3, translation } = transform;
    [0, 1, 2].map(|axis| [matrix3.x_axis[axis], matrix3.y_axis[axis], matrix3.z_axis[axis], translation[axis]])
}

record! {
    /// A part of a figure. For the bones of a skeleton, only `row_count` and `vertex_count` are set. A uniform.
    ///
    /// A source is 1 plus the index of the number among the values of an instance that replaces a number of the
    /// material; 0: the number of the material counts.
    PartRecord {
        /// Rows per instance in the matrices.
        row_count: u32,
        /// The first row of the skin or joint that moves the part.
        first_row: u32,
        /// Joints per vertex: 4 or 8. 0: one joint moves all vertices.
        influences: u32,
        /// Numbers per instance in the values.
        value_count: u32,
        /// The first morph weight of the part among them.
        first_value: u32,
        /// Morph targets that have a weight.
        target_count: u32,
        /// Vertices of the mesh, or bones of the skeleton.
        vertex_count: u32,
        /// Copies of the mesh per instance. 0: the mesh itself.
        copy_count: u32,
        /// The sources of the base colour.
        base_colour: [u32; 4],
        /// The sources of the emitted light.
        emissive: [u32; 3],
        /// The source of the factor of the emitted light.
        emissive_strength: u32,
        /// The sources of the scale of texture coordinates.
        texture_scale: [u32; 2],
        /// The sources of their offset.
        texture_offset: [u32; 2],
        /// The source of their rotation, an angle in radians.
        texture_rotation: u32,
        /// The source of the alpha below which pixels are discarded.
        cutoff: u32,
        /// The sum of `PART_HAS_SOURCES` and `PART_MAY_MIRROR`, each if it is true.
        flags: u32,
        /// Numbers that show or hide the part.
        visibility_count: u32,
    }
}

record! {
    /// A material. A uniform.
    MaterialRecord {
        /// The linear base colour, and alpha.
        base_colour: [f32; 4],
        /// The emitted light.
        emissive: [f32; 3],
        /// The factor of the emitted light.
        emissive_strength: f32,
        /// The scale of texture coordinates, which comes first.
        texture_scale: [f32; 2],
        /// The offset of texture coordinates, which comes last.
        texture_offset: [f32; 2],
        /// The cosine and the sine of the rotation of texture coordinates.
        texture_direction: [f32; 2],
        /// Pixels with a smaller alpha are discarded.
        cutoff: f32,
        /// 1 if light does not change the colour, else 0.
        unlit: u32,
        /// 1 if the back of the surface is drawn too, else 0.
        double_sided: u32,
        /// The use of the colours of vertices: `COLOURS_FACTORS`, `COLOURS_DYES` or `COLOURS_OVERLAY`.
        colours: u32,
        /// Fills the record to a multiple of 16 bytes, which a uniform needs.
        padding: [u32; 2],
    }
}

impl MaterialRecord {
    pub fn new(material: &Material) -> Self {
        let TextureTransform { offset, rotation, scale } =
            material.texture.map_or_else(TextureTransform::default, |texture| texture.transform);
        Self {
            base_colour: material.base_colour,
            emissive: material.emissive,
            emissive_strength: material.emissive_strength,
            texture_scale: scale.to_array(),
            texture_offset: offset.to_array(),
            texture_direction: [rotation.cos(), rotation.sin()],
            // No alpha is below 0, so that opaque pixels stay. Blended pixels that are almost invisible are discarded.
            cutoff: match material.alpha {
                Alpha::Opaque => -1.0,
                Alpha::Mask(cutoff) => cutoff,
                Alpha::Blend => 1.0 / 255.0,
            },
            unlit: material.unlit.into(),
            double_sided: material.double_sided.into(),
            colours: match material.vertex_colours {
                VertexColours::Factors => COLOURS_FACTORS,
                VertexColours::Dyes => COLOURS_DYES,
                VertexColours::Overlay => COLOURS_OVERLAY,
            },
            padding: [0; 2],
        }
    }
}

/// The displacements of position and normal, four numbers each, for each vertex of each morph target.
pub fn morph_deltas(mesh: &Mesh) -> Vec<[f32; 8]> {
    let mut deltas = Vec::with_capacity(mesh.targets.len() * mesh.vertices.len());
    for target in &mesh.targets {
        for vertex in 0..mesh.vertices.len() {
            let at_vertex = |values: &[[f32; 3]]| values.get(vertex).copied().unwrap_or_default();
            let ([px, py, pz], [nx, ny, nz]) = (at_vertex(&target.positions), at_vertex(&target.normals));
            deltas.push([px, py, pz, 0.0, nx, ny, nz, 0.0]);
        }
    }
    deltas
}
