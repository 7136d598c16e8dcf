//! Gives loaded rigs their meshes, materials and bounds.

use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::gltf::{Gltf, GltfMaterial, GltfMesh, GltfNode, GltfSkin};
use bevy::pbr::gltf::standard_material_from_gltf_material;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::renderer::RenderDevice;
use bevy::render::storage::ShaderBuffer;

use crate::bounds::bounds;
use crate::material::CrowdMaterial;
use crate::mesh::crowd_mesh;
use crate::morph::Morphs;
use crate::rig::{CrowdRig, CrowdRigParts, Dress, DressedPart, RigPart};
use crate::slots::Crowds;
use crate::weights::most_bytes;

/// The parts of glTF files, as Bevy has loaded them.
#[derive(SystemParam)]
pub(crate) struct GltfAssets<'w> {
    files: Res<'w, Assets<Gltf>>,
    nodes: Res<'w, Assets<GltfNode>>,
    of_nodes: Res<'w, Assets<GltfMesh>>,
    skins: Res<'w, Assets<GltfSkin>>,
    materials: Res<'w, Assets<GltfMaterial>>,
}

impl GltfAssets<'_> {
    /// The meshes with skins of a file; `None` if a part of it is not loaded yet.
    fn parts(&self, rig: &CrowdRig, file: &Handle<Gltf>, meshes: &Assets<Mesh>) -> Option<Vec<RigPart>> {
        let mut parts = Vec::new();
        for node in &self.files.get(file)?.nodes {
            let node = self.nodes.get(node)?;
            let Some(mesh) = &node.mesh else { continue };
            let Some(skin) = &node.skin else {
                warn!("{file:?}: the mesh of node `{}` has no skin, and is not drawn", node.name);
                continue;
            };
            let Some(&skin) = rig.skins.get(self.skins.get(skin)?.index) else { continue };
            for primitive in &self.of_nodes.get(mesh)?.primitives {
                let material = match &primitive.material {
                    Some(material) => standard_material_from_gltf_material(self.materials.get(material)?),
                    None => StandardMaterial::default(),
                };
                let joint = rig.joints.get(node.index).copied();
                parts.push(RigPart { mesh: meshes.get(&primitive.mesh)?.clone(), material, skin, joint });
            }
        }
        Some(parts)
    }
}

/// The rigs that are loaded, or loaded again, but not made yet.
#[derive(SystemParam)]
pub(crate) struct Waiting<'w, 's> {
    rigs: MessageReader<'w, 's, AssetEvent<CrowdRig>>,
    files: MessageReader<'w, 's, AssetEvent<Gltf>>,
    waiting: Local<'s, HashSet<AssetId<CrowdRig>>>,
}

/// What is made of rigs.
#[derive(SystemParam)]
pub(crate) struct Wardrobe<'w> {
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<CrowdMaterial>>,
    buffers: ResMut<'w, Assets<ShaderBuffer>>,
    dressed: ResMut<'w, CrowdRigParts>,
    crowds: ResMut<'w, Crowds>,
    device: Option<Res<'w, RenderDevice>>,
}

impl Wardrobe<'_> {
    /// The most bytes of a buffer that shaders read.
    fn most_bytes(&self) -> u64 {
        self.device.as_ref().map_or(u64::MAX, |device| most_bytes(device))
    }
}

impl Waiting<'_, '_> {
    /// Looks at what is new, changed or gone.
    fn update(&mut self, rigs: &Assets<CrowdRig>, made: &mut Wardrobe) {
        for event in self.rigs.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::LoadedWithDependencies { id } => {
                    self.waiting.insert(id);
                }
                AssetEvent::Removed { id } => {
                    self.waiting.remove(&id);
                    made.dressed.0.remove(&id);
                    made.crowds.forget(id);
                }
                AssetEvent::Unused { .. } => {}
            }
        }
        for event in self.files.read() {
            if let AssetEvent::Modified { id } | AssetEvent::LoadedWithDependencies { id } = *event {
                let of_file = rigs.iter().filter(|(_, rig)| rig.gltf.as_ref().is_some_and(|gltf| gltf.id() == id));
                self.waiting.extend(of_file.map(|(id, _)| id));
            }
        }
    }
}

/// Makes the meshes, materials and bounds of rigs that are loaded, or loaded again.
pub(crate) fn dress_rigs(mut waiting: Waiting, rigs: Res<Assets<CrowdRig>>, gltf: GltfAssets, mut made: Wardrobe) {
    waiting.update(&rigs, &mut made);
    waiting.waiting.retain(|&id| {
        let Some(rig) = rigs.get(id) else { return true };
        let parts = match &rig.gltf {
            Some(file) => gltf.parts(rig, file, &made.meshes),
            None => Some(rig.parts.clone()),
        };
        let Some(parts) = parts else { return true };
        match dress(rig, parts, &mut made) {
            Ok(dress) => {
                made.dressed.0.insert(id, Arc::new(dress));
                made.crowds.renew(id);
            }
            Err(error) => error!("rig {id}: {error}"),
        }
        false
    });
}

/// The meshes, materials and bounds of a rig.
fn dress(rig: &CrowdRig, parts: Vec<RigPart>, made: &mut Wardrobe) -> Result<Dress, posse::Error> {
    let mut morphs = Morphs::new(rig, made.most_bytes());
    let of_part = |part: RigPart| {
        let (first, material) = (rig.first_matrix(part.skin), part.material.clone());
        let mesh = crowd_mesh(morphs.take(part), first);
        if mesh.is_none() {
            warn!(
                "a mesh has no joints and weights that the plugin can read, and is not drawn: export it with its skin"
            );
        }
        Some((mesh?, material))
    };
    let (own, looks): (Vec<Mesh>, Vec<StandardMaterial>) = parts.into_iter().filter_map(of_part).unzip();
    let bounds = bounds(rig, &own, &morphs)?;
    rig.skinning.add_missing(&mut made.buffers);
    // A rig that is gone since has no place for them.
    let _ = made.buffers.insert(rig.skinning.morphs.id(), morphs.into_buffer());
    let part = |(mesh, base)| {
        let material = made.materials.add(CrowdMaterial { base, extension: rig.skinning() });
        DressedPart { mesh: made.meshes.add(mesh), material }
    };
    let parts = own.into_iter().zip(looks).map(part).collect();
    Ok(Dress { library: rig.library.clone(), parts, bounds })
}
