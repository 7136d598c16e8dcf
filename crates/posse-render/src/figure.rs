//! Figures: the meshes and materials of the instances of a skeleton.

use crate::{Image, Material, Mesh};
use posse::Error;
use posse::{Library, SkeletonId};

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
}

impl Figure {
    /// A figure without parts; only its joints can be drawn.
    pub fn empty(skeleton: SkeletonId) -> Self {
        Self { skeleton, meshes: Vec::new(), parts: Vec::new(), materials: Vec::new(), images: Vec::new() }
    }

    /// Checks that every index in the parts names something that exists in the figure or in the library.
    ///
    /// # Errors
    /// [`Error::Usage`] with the first part that has a wrong index.
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
            match self.materials.get(part.material).map(|material| material.texture) {
                None => return missing(format!("material {}", part.material)),
                Some(Some(texture)) if texture.image >= self.images.len() => {
                    return missing(format!("image {}", texture.image));
                }
                _ => {}
            }
            if let Some(index) = mesh.indices.iter().find(|&&index| index as usize >= mesh.vertices.len()) {
                return missing(format!("vertex {index}"));
            }
            if let Mover::Skin(skin) = part.mover {
                let Some(&joints) = skins.get(skin) else { return missing(format!("skin {skin}")) };
                let mut named = mesh.vertices.iter().flat_map(|vertex| vertex.joints.as_flattened());
                if let Some(joint) = named.find(|&&joint| usize::from(joint) >= joints.max(1)) {
                    return missing(format!("joint {joint} of skin {skin}"));
                }
            }
        }
        Ok(())
    }
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
    /// The joint that has the morph weights of the mesh. With [`Mover::Joint`], it also moves the mesh.
    pub joint: usize,
}

/// The skin or joint that moves a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A skin, by its index among the skins of the skeleton. Vertices name its joints.
    Skin(usize),
    /// The joint of the part, which moves all vertices.
    Joint,
}
