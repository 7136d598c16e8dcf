//! Figures: the meshes and materials of the instances of a skeleton.

use bytemuck::{Pod, Zeroable};
use glam::{Affine2, Affine3A, Mat2, Vec2, Vec3};
use posse::{Error, Library, SkeletonId};

use crate::Image;

/// The appearance of the instances of a skeleton: meshes, their materials, and the skins or joints that move them.
///
/// # Examples
/// ```
/// use posse::demo;
/// use posse_render::{Figure, Material, Mesh, Mover, Part, Vertex};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let skeleton = library.skeleton_ids().next().expect("the demo has a skeleton");
/// // A triangle that moves with joint 0.
/// let corner = |position| Vertex { position, normal: [0.0, 0.0, 1.0], ..Vertex::default() };
/// let vertices = vec![corner([0.0, 0.0, 0.0]), corner([1.0, 0.0, 0.0]), corner([0.0, 1.0, 0.0])];
/// let mut figure = Figure::empty(skeleton);
/// figure.meshes.push(Mesh { vertices, indices: vec![0, 1, 2], targets: Vec::new() });
/// figure.materials.push(Material { base_colour: [1.0, 0.0, 0.0, 1.0], ..Material::default() });
/// figure.parts.push(Part { mesh: 0, material: 0, mover: Mover::Joint, joint: 0 });
/// figure.check(&library)?;
///
/// figure.parts[0].mesh = 7;
/// assert!(figure.check(&library).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The skeleton whose poses move the figure.
    pub skeleton: SkeletonId,
    /// The meshes.
    pub meshes: Vec<Mesh>,
    /// The parts that are drawn. Empty if only joints can be drawn.
    pub parts: Vec<Part>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The images of textures.
    pub images: Vec<Image>,
    /// Lists of copies of meshes, which [`Mover::Copies`] names: transforms from the space of the mesh to the space of
    /// the joint of the part.
    pub copies: Vec<Vec<Affine3A>>,
    /// The properties of the skeleton that change the look of the figure, each instance by its own numbers.
    pub properties: Vec<FigureProperty>,
    /// Linear colours of the joints of the skeleton: each is the colour of a joint and of the bones that lead from it
    /// to its children. With `None`, neither the joint nor a bone that begins or ends at it is drawn. Joints beyond the
    /// end of the list have the usual colours of joints and bones.
    pub joint_colours: Vec<Option<[f32; 3]>>,
}

impl Figure {
    /// A figure without parts; only its joints can be drawn.
    pub fn empty(skeleton: SkeletonId) -> Self {
        Self {
            skeleton,
            meshes: Vec::new(),
            parts: Vec::new(),
            materials: Vec::new(),
            images: Vec::new(),
            copies: Vec::new(),
            properties: Vec::new(),
            joint_colours: Vec::new(),
        }
    }

    /// Checks that every index in the parts and in the properties names something that exists in the figure or in the
    /// library.
    ///
    /// # Errors
    /// [`Error::Usage`] with the first part or property that has a wrong index.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        let Some(skeleton) = library.skeletons().get(self.skeleton.index()) else {
            return Err(Error::Usage(format!("figure: the library has no skeleton {}", self.skeleton.index())));
        };
        let skins: Vec<_> = library.skins_of(self.skeleton).map(|(_, skin)| skin.joints.len()).collect();
        for (index, part) in self.parts.iter().enumerate() {
            let missing = |what: String| Err(Error::Usage(format!("figure, part {index}: there is no {what}")));
            let Some(mesh) = self.meshes.get(part.mesh) else { return missing(format!("mesh {}", part.mesh)) };
            if part.joint >= skeleton.joints().len() {
                return missing(format!("joint {}", part.joint));
            }
            let Some(material) = self.materials.get(part.material) else {
                return missing(format!("material {}", part.material));
            };
            let mut images = material.texture.iter().map(|texture| texture.image).chain(material.emissive_image);
            if let Some(image) = images.find(|&image| image >= self.images.len()) {
                return missing(format!("image {image}"));
            }
            if let Some(index) = mesh.indices.iter().find(|&&index| index as usize >= mesh.vertices.len()) {
                return missing(format!("vertex {index}"));
            }
            match part.mover {
                Mover::Skin(skin) => {
                    let Some(&joints) = skins.get(skin) else { return missing(format!("skin {skin}")) };
                    let mut named = mesh.vertices.iter().flat_map(|vertex| vertex.joints.as_flattened());
                    if let Some(joint) = named.find(|&&joint| usize::from(joint) >= joints.max(1)) {
                        return missing(format!("joint {joint} of skin {skin}"));
                    }
                }
                Mover::Copies(list) if list >= self.copies.len() => return missing(format!("list of copies {list}")),
                Mover::Copies(_) | Mover::Joint => {}
            }
        }
        for FigureProperty { name, role } in &self.properties {
            let (kind, index, count) = match *role {
                PropertyRole::Visible(joint) => ("joint", joint, skeleton.joints().len()),
                PropertyRole::Material(material, _) => ("material", material, self.materials.len()),
            };
            if index >= count {
                return Err(Error::Usage(format!("figure, property {name}: there is no {kind} {index}")));
            }
        }
        Ok(())
    }

    /// The copies of a part in the space of its joint; `None` if the part is the mesh itself.
    ///
    /// # Panics
    /// If the part does not belong to the figure.
    pub(super) fn copies_of(&self, part: &Part) -> Option<&[Affine3A]> {
        match part.mover {
            Mover::Copies(list) => Some(&self.copies[list]),
            Mover::Skin(_) | Mover::Joint => None,
        }
    }
}

/// A property of a skeleton that changes the look of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureProperty {
    /// The name of the property. If the skeleton has no property of this name, nothing changes.
    pub name: String,
    /// The use of its numbers. Numbers beyond what the use needs are ignored; if there are fewer, the material
    /// keeps its own numbers for the missing ones.
    pub role: PropertyRole,
}

/// The use of a property. Of several properties with the same use, the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyRole {
    /// The visibility of a joint: below 0.5, the parts of the joint and of all joints below it are hidden
    /// (`KHR_node_visibility`).
    Visible(usize),
    /// The field of a material, by the index of the material in [`Figure::materials`].
    Material(usize, MaterialField),
}

/// A field of a material that a property can replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaterialField {
    /// [`Material::base_colour`]: four numbers.
    BaseColour,
    /// [`Material::emissive`]: three numbers.
    Emissive,
    /// [`Material::emissive_strength`]: one number.
    EmissiveStrength,
    /// The number of [`Alpha::Mask`]. It changes nothing with another use of alpha.
    AlphaCutoff,
    /// [`TextureTransform::offset`]: two numbers.
    TextureOffset,
    /// [`TextureTransform::rotation`]: one number.
    TextureRotation,
    /// [`TextureTransform::scale`]: two numbers.
    TextureScale,
}

/// A mesh in a figure, with its material and its mover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The index of the mesh in [`Figure::meshes`].
    pub mesh: usize,
    /// The index of the material in [`Figure::materials`].
    pub material: usize,
    /// The skin or joint that moves the mesh.
    pub mover: Mover,
    /// The joint that has the morph weights of the mesh, and whose visibility the part follows. Without a skin, it
    /// also moves the mesh.
    pub joint: usize,
}

/// The skin or joint that moves a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A skin, by its index among the skins of the skeleton. Vertices name its joints.
    Skin(usize),
    /// The joint of the part, which moves all vertices.
    Joint,
    /// The joint of the part, which moves several copies of the mesh: a list of [`Figure::copies`], by its index
    /// (`EXT_mesh_gpu_instancing`).
    Copies(usize),
}

/// A vertex, with the layout of the vertex buffer. Default: all zero, and [`WHITE`](Self::WHITE).
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// The position in the space of the mesh, before morphing.
    pub position: [f32; 3],
    /// The normal, of length 1. A zero normal is replaced by the normal of the triangle.
    pub normal: [f32; 3],
    /// The texture coordinates; (0, 0) is the upper left corner.
    pub texture: [f32; 2],
    /// Red, green, blue and alpha, linear, from 0 to 65535. [`Material::vertex_colours`](crate::Material) selects their
    /// use.
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

    /// The same triangles with separate vertices for each triangle, which have its normal. glTF 2.0, section 3.7.2.1,
    /// requires this shading for meshes without normals.
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

/// The part of a glTF material that the renderer uses (glTF 2.0, section 3.9). Default: opaque, single-sided white.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The base colour: red, green, blue and alpha, linear, from 0 to 1.
    pub base_colour: [f32; 4],
    /// A texture that multiplies the base colour.
    pub texture: Option<Texture>,
    /// Emitted light: red, green and blue, linear.
    pub emissive: [f32; 3],
    /// The index in [`Figure::images`] of an image that multiplies the emitted light. Its place on the surface and its
    /// sampling are those of `texture`; without a `texture`, it is repeated, and has the coordinates of the vertices.
    pub emissive_image: Option<usize>,
    /// The factor of the emitted light (`KHR_materials_emissive_strength`).
    pub emissive_strength: f32,
    /// The use of alpha.
    pub alpha: Alpha,
    /// `true` if the back of the surface is drawn too. Its normals are reversed. A joint that mirrors the mesh does not
    /// exchange front and back.
    pub double_sided: bool,
    /// `true` if light does not change the colour (`KHR_materials_unlit`).
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
            emissive_image: None,
            emissive_strength: 1.0,
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
    /// Red, green and blue replace the base colour, and alpha is the share by which they do. The opacity is the opacity
    /// of the base colour.
    Overlay,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    /// The index of the image in [`Figure::images`](crate::Figure::images).
    pub image: usize,
    /// The wrap modes of the horizontal and the vertical axis.
    pub wrap: [Wrap; 2],
    /// `true` if magnified texels are shown as squares, without interpolation.
    pub nearest: bool,
    /// The transform from the texture coordinates of vertices to the coordinates of the texture.
    pub transform: TextureTransform,
}

/// A transform of texture coordinates: offset x rotation x scale, as `KHR_texture_transform` defines. Default: the
/// identity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureTransform {
    /// The offset, which comes last.
    pub offset: Vec2,
    /// The rotation in radians. It is counterclockwise in a picture of the texture coordinates, whose second axis leads
    /// down.
    pub rotation: f32,
    /// The scale, which comes first.
    pub scale: Vec2,
}

impl TextureTransform {
    /// The transform as a matrix.
    pub fn to_affine(self) -> Affine2 {
        let (sin, cos) = self.rotation.sin_cos();
        let rotation = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
        Affine2 { matrix2: rotation * Mat2::from_diagonal(self.scale), translation: self.offset }
    }
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self { offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE }
    }
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
