//! What surfaces look like.

use glam::Affine2;

/// What a surface looks like (glTF 2.0, section 3.9): its base colour, and what else the renderer heeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Red, green, blue and alpha, linear, from 0 to 1.
    pub base_colour: [f32; 4],
    /// What the base colour is multiplied by.
    pub texture: Option<Texture>,
    /// Light that it gives off: red, green and blue, linear.
    pub emissive: [f32; 3],
    /// What alpha means.
    pub alpha: Alpha,
    /// Whether it is seen from behind.
    pub double_sided: bool,
    /// Whether it has its own colour in any light (`KHR_materials_unlit`).
    pub unlit: bool,
    /// What the vertices' colours do.
    pub vertex_colours: VertexColours,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            base_colour: [1.0; 4],
            texture: None,
            emissive: [0.0; 3],
            alpha: Alpha::Opaque,
            double_sided: false,
            unlit: false,
            vertex_colours: VertexColours::Factors,
        }
    }
}

/// What alpha means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alpha {
    /// Nothing.
    Opaque,
    /// There is a surface where it is at least this.
    Mask(f32),
    /// How much of the surface is seen.
    Blend,
}

/// What the colours of vertices do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VertexColours {
    /// They multiply the base colour, as does the instance's first dye.
    Factors,
    /// They say how much there is of the instance's first four dyes; the rest is the fifth.
    Dyes,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    /// Index of the figure's image.
    pub image: usize,
    /// What happens beyond the edges, to the right and down.
    pub wrap: [Wrap; 2],
    /// Whether texels are shown as squares.
    pub nearest: bool,
    /// From the vertices' coordinates to the texture's (`KHR_texture_transform`).
    pub transform: Affine2,
}

/// What is beyond an edge of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture again.
    Repeat,
    /// The texture again, mirrored.
    Mirror,
    /// The texels of the edge.
    Clamp,
}
