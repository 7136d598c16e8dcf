//! The rig of characters: skeleton, skins, clips, meshes and materials.

use std::sync::Arc;

use bevy::camera::primitives::Aabb;
use bevy::gltf::Gltf;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::storage::ShaderBuffer;
use posse::packed::PackedLibrary;
use posse::{ClipId, Error, Library, SkeletonId, SkinId};

use crate::material::{CrowdMaterial, CrowdSkinning, placeholder};

/// The rig of characters, an asset: a skeleton, its skins and clips, and the meshes that they move.
///
/// The asset server loads it from a `.glb` or `.gltf` file, again when the file changes. [`new`](Self::new) makes it
/// from a library.
#[derive(Asset, TypePath, Debug, Clone)]
pub struct CrowdRig {
    pub(crate) library: Arc<Library>,
    pub(crate) packed: Arc<PackedLibrary>,
    pub(crate) skeleton: SkeletonId,
    /// The skins in the order of the file.
    pub(crate) skins: Vec<SkinId>,
    /// The clips of the file that cannot be read.
    pub(crate) left_out: Vec<ClipId>,
    /// The joints of the nodes of the file.
    pub(crate) joints: Vec<usize>,
    pub(crate) skinning: CrowdSkinning,
    pub(crate) parts: Vec<RigPart>,
    /// The file, which has the meshes and materials.
    #[dependency]
    pub(crate) gltf: Option<Handle<Gltf>>,
}

/// A mesh of a rig with its material.
#[derive(Debug, Clone)]
pub struct RigPart {
    /// The mesh, in the bind pose, with Bevy's joints and weights.
    pub mesh: Mesh,
    /// The material.
    pub material: StandardMaterial,
    /// The skin that the joints of the mesh refer to.
    pub skin: SkinId,
    /// The joint that has the morph weights of the mesh's targets, in their order. Without one, the targets are not
    /// used.
    pub joint: Option<usize>,
}

impl CrowdRig {
    /// A rig of a skeleton of a library, with its skins, clips and masks.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`]; [`Error::Usage`] if the skeleton has no skin, or its skins have more than
    /// 65,535 joints.
    pub fn new(
        library: Library,
        skeleton: SkeletonId,
        parts: Vec<RigPart>,
        buffers: &mut Assets<ShaderBuffer>,
    ) -> Result<Self, Error> {
        let skinning = CrowdSkinning::new(|_| buffers.add(placeholder()));
        let skins = library.skins_of(skeleton).map(|(id, _)| id).collect();
        Self::with_skinning(library, skeleton, skins, skinning).map(|rig| Self { parts, ..rig })
    }

    /// A rig without parts.
    pub(crate) fn with_skinning(
        library: Library,
        skeleton: SkeletonId,
        skins: Vec<SkinId>,
        skinning: CrowdSkinning,
    ) -> Result<Self, Error> {
        let packed = Arc::new(PackedLibrary::new(&library)?);
        let (left_out, joints, parts) = (Vec::new(), Vec::new(), Vec::new());
        let library = Arc::new(library);
        let rig = Self { library, packed, skeleton, skins, left_out, joints, skinning, parts, gltf: None };
        match rig.matrices() {
            1..=0xffff => Ok(rig),
            count => Err(Error::Usage(format!(
                "the skins have {count} joints; expected 1 to 65,535: export meshes with a skin"
            ))),
        }
    }

    /// Changes the library, such as its masks, chains, events of clips and root joints. The rig of a file is without
    /// the change again when the file is loaded again.
    ///
    /// # Errors
    /// The errors of the change and of [`PackedLibrary::new`]. The rig then stays as it was.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut Library) -> Result<T, Error>) -> Result<T, Error> {
        let mut library = (*self.library).clone();
        let outcome = change(&mut library)?;
        let packed = PackedLibrary::new(&library)?;
        (self.library, self.packed) = (Arc::new(library), Arc::new(packed));
        Ok(outcome)
    }

    /// The skeletons, skins, clips and masks.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The skeleton of the characters.
    pub fn skeleton(&self) -> SkeletonId {
        self.skeleton
    }

    /// The names of the clips, without clips of the file that cannot be read.
    pub fn clips(&self) -> impl Iterator<Item = &str> {
        let clips = self.library.clip_ids().filter(|clip| self.left_out.binary_search(clip).is_err());
        let of_skeleton = clips.map(|id| self.library.clip(id)).filter(|clip| clip.skeleton == self.skeleton);
        of_skeleton.filter_map(|clip| clip.name.as_deref())
    }

    /// The skinning, for a material of one's own: `CrowdMaterial { base, extension: rig.skinning() }`.
    pub fn skinning(&self) -> CrowdSkinning {
        self.skinning.clone()
    }

    /// The number of skin matrices per character.
    pub(crate) fn matrices(&self) -> usize {
        self.library.skins_of(self.skeleton).map(|(_, skin)| skin.joints.len()).sum()
    }

    /// The position of a skin among the matrices of a character.
    pub(crate) fn first_matrix(&self, skin: SkinId) -> u16 {
        let before = self.library.skins_of(self.skeleton).take_while(|(id, _)| *id != skin);
        before.map(|(_, skin)| skin.joints.len()).sum::<usize>() as u16
    }
}

/// The meshes, materials and bounds of all loaded rigs, ready to draw: a resource.
#[derive(Resource, Debug, Default)]
pub struct CrowdRigParts(pub(crate) HashMap<AssetId<CrowdRig>, Arc<Dress>>);

/// The meshes, materials and bounds of a rig.
#[derive(Debug)]
pub(crate) struct Dress {
    /// The library that the bounds follow from.
    pub library: Arc<Library>,
    pub parts: Vec<DressedPart>,
    pub bounds: Aabb,
}

/// A mesh and a material of a rig, ready to draw.
#[derive(Debug, Clone)]
pub struct DressedPart {
    /// The mesh.
    pub mesh: Handle<Mesh>,
    /// The material.
    pub material: Handle<CrowdMaterial>,
}

impl CrowdRigParts {
    /// The meshes and materials of a rig, in the order of the file; none until it is loaded.
    pub fn of(&self, rig: impl Into<AssetId<CrowdRig>>) -> &[DressedPart] {
        self.0.get(&rig.into()).map_or(&[], |dress| &dress.parts)
    }

    /// The bounds of a character in all clips; `None` until the rig is loaded.
    pub fn bounds(&self, rig: impl Into<AssetId<CrowdRig>>) -> Option<Aabb> {
        self.0.get(&rig.into()).map(|dress| dress.bounds)
    }
}
