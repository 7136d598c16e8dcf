//! Materials and textures.

use glam::Affine2;

/// The part of a glTF material that the renderer uses (glTF 2.0, section 3.9). Default: opaque, single-sided white.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The base colour: red, green, blue and alpha, linear, from 0 to 1.
    pub base_colour: [f32; 4],
    /// A texture that multiplies the base colour.
    pub texture: Option<Texture>,
    /// Emitted light: red, green and blue, linear.
    pub emissive: [f32; 3],
    /// The use of alpha.
    pub alpha: Alpha,
    /// True if the back of the surface is drawn too.
    pub double_sided: bool,
    /// True if light does not change the colour (`KHR_materials_unlit`).
    pub unlit: bool,
    /// The use of the colours of vertices.
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

/// The use of alpha.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alpha {
    /// Alpha is ignored.
    Opaque,
    /// Pixels with an alpha less than this are not drawn.
    Mask(f32),
    /// Alpha is the opacity of the surface.
    Blend,
}

/// The use of the colours of vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VertexColours {
    /// The colours multiply the base colour. So does dye 0 of the instance.
    Factors,
    /// The four channels are the shares of dyes 0 to 3 of the instance. The remaining share belongs to dye 4.
    Dyes,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    /// The index of the image in [`Figure::images`](crate::Figure::images).
    pub image: usize,
    /// The wrap modes of the horizontal and the vertical axis.
    pub wrap: [Wrap; 2],
    /// True if magnified texels are shown as squares, without interpolation.
    pub nearest: bool,
    /// The transform from the texture coordinates of vertices to those of the texture (`KHR_texture_transform`).
    pub transform: Affine2,
}

/// The wrap mode of an axis of a texture: the texels outside coordinates 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture is repeated.
    Repeat,
    /// The texture is repeated, every other time mirrored.
    Mirror,
    /// The texels of the edge are continued.
    Clamp,
}
