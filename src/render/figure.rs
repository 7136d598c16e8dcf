//! What the instances of a skeleton look like.

use crate::error::Error;
use crate::model::{Library, SkeletonId};
use crate::render::{Image, Material, Mesh};

/// What the instances of a skeleton look like: meshes, and what moves them.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Whose poses move it.
    pub skeleton: SkeletonId,
    /// The meshes.
    pub meshes: Vec<Mesh>,
    /// What there is to be seen: none where only joints are.
    pub parts: Vec<Part>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The images of textures.
    pub images: Vec<Image>,
}

impl Figure {
    /// A figure that cannot be seen, but for its joints.
    pub fn empty(skeleton: SkeletonId) -> Self {
        Self { skeleton, meshes: Vec::new(), parts: Vec::new(), materials: Vec::new(), images: Vec::new() }
    }

    /// Checks that all exists that the parts name, in the figure and in a library.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the first part for which that is not so.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        let Some(skeleton) = library.skeletons().get(self.skeleton.index()) else {
            return Err(Error::Usage(format!("figure: the library has no skeleton {}", self.skeleton.index())));
        };
        let skins: Vec<_> = library.skins_of(self.skeleton).map(|(_, skin)| skin.joints.len()).collect();
        for (place, part) in self.parts.iter().enumerate() {
            let fault = |what: String| Err(Error::Usage(format!("figure, part {place}: there is no {what}")));
            let Some(mesh) = self.meshes.get(part.mesh) else { return fault(format!("mesh {}", part.mesh)) };
            if part.joint >= skeleton.joints().len() {
                return fault(format!("joint {}", part.joint));
            }
            match self.materials.get(part.material).map(|material| material.texture) {
                None => return fault(format!("material {}", part.material)),
                Some(Some(texture)) if texture.image >= self.images.len() => {
                    return fault(format!("image {}", texture.image));
                }
                _ => {}
            }
            if let Some(index) = mesh.indices.iter().find(|&&index| index as usize >= mesh.vertices.len()) {
                return fault(format!("vertex {index}"));
            }
            if let Mover::Skin(skin) = part.mover {
                let Some(&joints) = skins.get(skin) else { return fault(format!("skin {skin}")) };
                let mut named = mesh.vertices.iter().flat_map(|vertex| vertex.joints.as_flattened());
                if let Some(joint) = named.find(|&&joint| usize::from(joint) >= joints.max(1)) {
                    return fault(format!("joint {joint} of skin {skin}"));
                }
            }
        }
        Ok(())
    }
}

/// A mesh at its place in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the mesh.
    pub mesh: usize,
    /// Index of the material.
    pub material: usize,
    /// What moves it.
    pub mover: Mover,
    /// The joint whose morph weights are the mesh's.
    pub joint: usize,
}

/// What moves a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A skin, by its place among the skins of the skeleton; vertices name its joints.
    Skin(usize),
    /// The part's joint, as a whole.
    Joint,
}
