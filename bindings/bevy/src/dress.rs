//! Gives loaded rigs their meshes and materials, and characters those of their rigs.

use std::sync::Arc;

use bevy::asset::AssetId;
use bevy::camera::visibility::{NoAutoAabb, NoCpuCulling, NoFrustumCulling, RenderLayers, VisibilityRange};
use bevy::ecs::query::QueryData;
use bevy::gltf::{Gltf, GltfMaterial, GltfMesh, GltfNode, GltfSkin};
use bevy::light::NotShadowCaster;
use bevy::mesh::MeshTag;
use bevy::pbr::gltf::standard_material_from_gltf_material;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

use crate::bounds::bounds;
use crate::material::CrowdMaterial;
use crate::mesh::crowd_mesh;
use crate::rig::{CrowdRig, CrowdRigParts, Dress, DressedPart, RigPart};
use crate::slots::{Crowds, Slot};

/// The parts of glTF files, as Bevy has loaded them.
#[derive(bevy::ecs::system::SystemParam)]
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
                parts.push(RigPart { mesh: meshes.get(&primitive.mesh)?.clone(), material, skin });
            }
        }
        Some(parts)
    }
}

/// Makes the meshes, materials and bounds of rigs that are loaded, or loaded again.
pub(crate) fn dress_rigs(
    mut events: MessageReader<AssetEvent<CrowdRig>>,
    mut files: MessageReader<AssetEvent<Gltf>>,
    mut waiting: Local<HashSet<AssetId<CrowdRig>>>,
    rigs: Res<Assets<CrowdRig>>,
    gltf: GltfAssets,
    (mut meshes, mut materials): (ResMut<Assets<Mesh>>, ResMut<Assets<CrowdMaterial>>),
    (mut dressed, mut crowds): (ResMut<CrowdRigParts>, ResMut<Crowds>),
) {
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::LoadedWithDependencies { id } => {
                waiting.insert(id);
            }
            AssetEvent::Removed { id } => {
                waiting.remove(&id);
                dressed.0.remove(&id);
                crowds.forget(id);
            }
            AssetEvent::Unused { .. } => {}
        }
    }
    for event in files.read() {
        if let AssetEvent::Modified { id } | AssetEvent::LoadedWithDependencies { id } = *event {
            let of_file = rigs.iter().filter(|(_, rig)| rig.gltf.as_ref().is_some_and(|gltf| gltf.id() == id));
            waiting.extend(of_file.map(|(id, _)| id));
        }
    }
    waiting.retain(|&id| {
        let Some(rig) = rigs.get(id) else { return true };
        let parts = match &rig.gltf {
            Some(file) => gltf.parts(rig, file, &meshes),
            None => Some(rig.parts.clone()),
        };
        let Some(parts) = parts else { return true };
        let (own, looks): (Vec<Mesh>, Vec<StandardMaterial>) = parts
            .into_iter()
            .filter_map(|part| Some((crowd_mesh(part.mesh, rig.first_matrix(part.skin))?, part.material)))
            .unzip();
        let bounds = match bounds(rig, &own) {
            Ok(bounds) => bounds,
            Err(error) => {
                error!("rig {id}: {error}");
                return false;
            }
        };
        let part = |(mesh, base)| {
            let material = materials.add(CrowdMaterial { base, extension: rig.skinning() });
            DressedPart { mesh: meshes.add(mesh), material }
        };
        let parts = own.into_iter().zip(looks).map(part).collect();
        dressed.0.insert(id, Arc::new(Dress { library: rig.library.clone(), parts, bounds }));
        crowds.renew(id);
        false
    });
}

/// The processor that drops characters out of view.
#[derive(Resource, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Culling {
    /// By Bevy's `ViewVisibility`: on devices without culling on the GPU.
    #[default]
    Cpu,
    /// By Bevy's preprocessing of meshes. The CPU then does not test each mesh with each view.
    Gpu,
}

/// A character that wears the meshes of its rig, with the entities of all meshes but the first.
#[derive(Component, Debug, Default)]
pub(crate) struct Dressed {
    others: Vec<Entity>,
    has_mesh: bool,
    has_material: bool,
}

/// The slot and the components that decide what a character wears.
type Wearer<'a> =
    ((Entity, &'a Slot), (Option<&'a Mesh3d>, Option<&'a MeshMaterial3d<CrowdMaterial>>), Option<&'a Dressed>, Look);

/// The components of a character that its further meshes have as well.
#[derive(QueryData)]
pub(crate) struct Look {
    layers: Option<&'static RenderLayers>,
    range: Option<&'static VisibilityRange>,
    casts_no_shadow: Option<&'static NotShadowCaster>,
    is_never_culled: Option<&'static NoFrustumCulling>,
}

impl LookItem<'_, '_> {
    /// Gives them to another mesh, or takes them away.
    fn put_on(&self, other: &mut EntityCommands) {
        copy(self.layers, other);
        copy(self.range, other);
        copy(self.casts_no_shadow, other);
        copy(self.is_never_culled, other);
        if self.range.is_some() {
            other.try_remove::<NoCpuCulling>();
        }
    }
}

/// Gives an entity a copy of a component, or takes the component away.
fn copy<T: Component + Clone>(component: Option<&T>, entity: &mut EntityCommands) {
    match component {
        Some(component) => entity.try_insert(component.clone()),
        None => entity.try_remove::<T>(),
    };
}

/// Gives a character with a new slot the meshes and materials of its rig, where it has none of its own.
pub(crate) fn dress_characters(
    wearers: Query<Wearer, Changed<Slot>>,
    parts: Res<CrowdRigParts>,
    culling: Res<Culling>,
    mut commands: Commands,
) {
    for ((entity, slot), (mesh, material), worn, look) in &wearers {
        let Some(dress) = parts.0.get(&slot.rig) else { continue };
        let tag = MeshTag::new(slot.tag);
        for &other in worn.iter().flat_map(|worn| &worn.others) {
            commands.entity(other).try_despawn();
        }
        let mut now = Dressed { others: Vec::new(), ..default() };
        let is_culled_by_gpu = *culling == Culling::Gpu && look.range.is_none();
        let all = || (tag.clone(), dress.bounds, NoAutoAabb);
        commands.entity(entity).try_insert(all());
        if is_culled_by_gpu {
            commands.entity(entity).try_insert(NoCpuCulling);
        }
        let Some((first, others)) = dress.parts.split_first() else {
            continue;
        };
        let own_mesh = mesh.is_some() && !worn.is_some_and(|worn| worn.has_mesh);
        if !own_mesh {
            now.has_mesh = true;
            commands.entity(entity).try_insert(Mesh3d(first.mesh.clone()));
            for part in others {
                let drawn = (Mesh3d(part.mesh.clone()), MeshMaterial3d(part.material.clone()));
                let mut other = commands.spawn((drawn, all(), ChildOf(entity)));
                if is_culled_by_gpu {
                    other.insert(NoCpuCulling);
                }
                look.put_on(&mut other);
                now.others.push(other.id());
            }
        }
        if material.is_none() || worn.is_some_and(|worn| worn.has_material) {
            now.has_material = true;
            commands.entity(entity).try_insert(MeshMaterial3d(first.material.clone()));
        }
        commands.entity(entity).try_insert(now);
    }
}

/// The characters whose looks change in a frame. Those without any of the components cost nothing.
type Relooked =
    Or<(Changed<RenderLayers>, Changed<VisibilityRange>, Changed<NotShadowCaster>, Changed<NoFrustumCulling>)>;
/// The entities that lose such a component.
type Lost<'w, 's> = (
    RemovedComponents<'w, 's, RenderLayers>,
    RemovedComponents<'w, 's, VisibilityRange>,
    RemovedComponents<'w, 's, NotShadowCaster>,
    RemovedComponents<'w, 's, NoFrustumCulling>,
);

/// Lets the further meshes of characters follow their looks.
pub(crate) fn follow_looks(
    changed: Query<Entity, (With<Dressed>, Relooked)>,
    wearers: Query<(&Dressed, Look)>,
    (mut layers, mut ranges, mut shadows, mut culling): Lost,
    mut commands: Commands,
) {
    let lost = layers.read().chain(ranges.read()).chain(shadows.read()).chain(culling.read());
    for entity in changed.iter().chain(lost) {
        let Ok((dressed, look)) = wearers.get(entity) else { continue };
        for &other in &dressed.others {
            if let Ok(mut other) = commands.get_entity(other) {
                look.put_on(&mut other);
            }
        }
    }
}

/// Leaves a character that gets a range of distances to the CPU.
///
/// Bevy's culling on the GPU knows ranges, but the list of characters to pose ([`crate::views::Views::see`]) does not, and views with
/// `NoIndirectDrawing` are not culled on the GPU.
pub(crate) fn cull_by_distance(
    ranges: On<Insert<VisibilityRange>>,
    characters: Query<(), With<Slot>>,
    mut commands: Commands,
) {
    if characters.contains(ranges.entity) {
        commands.entity(ranges.entity).try_remove::<NoCpuCulling>();
    }
}
