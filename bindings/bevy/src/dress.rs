//! Gives characters the meshes and materials of their rigs.

use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{NoAutoAabb, NoCpuCulling, NoFrustumCulling, RenderLayers, VisibilityRange};
use bevy::ecs::query::QueryData;
use bevy::light::NotShadowCaster;
use bevy::mesh::MeshTag;
use bevy::prelude::*;

use crate::character::Posse;
use crate::material::CrowdMaterial;
use crate::rig::CrowdRigParts;
use crate::slots::Slot;

/// The processor that drops characters out of view.
#[derive(Resource, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Culling {
    /// By Bevy's `ViewVisibility`: on devices without culling on the GPU.
    #[default]
    Cpu,
    /// By Bevy's preprocessing of meshes. The CPU then does not test each mesh with each view.
    Gpu,
}

/// A character that wears the meshes of its rig, with the entities of all meshes but the first, and the mesh and the
/// material that the plugin has given to it.
#[derive(Component, Debug, Default)]
pub(crate) struct Dressed {
    others: Vec<Entity>,
    mesh: Option<AssetId<Mesh>>,
    material: Option<AssetId<CrowdMaterial>>,
}

impl Dressed {
    /// True if the mesh of a character is the plugin's. A mesh that takes its place is the character's own.
    fn owns_mesh(&self, mesh: &Mesh3d) -> bool {
        self.mesh == Some(mesh.id())
    }

    /// The same for the material.
    fn owns_material(&self, material: &MeshMaterial3d<CrowdMaterial>) -> bool {
        self.material == Some(material.id())
    }
}

/// The slot and the components that decide what a character wears.
type Wearer<'a> =
    ((Entity, &'a Slot), (Option<&'a Mesh3d>, Option<&'a MeshMaterial3d<CrowdMaterial>>), Option<&'a Dressed>, Look);

/// The components of a character that undresses.
type Worn<'a> = (&'a Dressed, Option<&'a Mesh3d>, Option<&'a MeshMaterial3d<CrowdMaterial>>);

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
        let takes_mesh = mesh.is_none_or(|mesh| worn.is_some_and(|worn| worn.owns_mesh(mesh)));
        let takes_material = material.is_none_or(|material| worn.is_some_and(|worn| worn.owns_material(material)));
        let mut now = worn.map_or_else(Dressed::default, |worn| Dressed { others: Vec::new(), ..*worn });
        let is_culled_by_gpu = *culling == Culling::Gpu && look.range.is_none();
        let all = || (tag.clone(), dress.bounds, NoAutoAabb);
        commands.entity(entity).try_insert(all());
        if is_culled_by_gpu {
            commands.entity(entity).try_insert(NoCpuCulling);
        }
        let Some((first, others)) = dress.parts.split_first() else {
            commands.entity(entity).try_insert(now);
            continue;
        };
        if takes_mesh {
            now.mesh = Some(first.mesh.id());
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
        if takes_material {
            now.material = Some(first.material.id());
            commands.entity(entity).try_insert(MeshMaterial3d(first.material.clone()));
        }
        commands.entity(entity).try_insert(now);
    }
}

/// Takes from an entity that is no character any more what the plugin has given to it, but not what has taken its place
/// since.
pub(crate) fn undress(removed: On<Remove<Posse>>, worn: Query<Worn>, mut commands: Commands) {
    let Ok((worn, mesh, material)) = worn.get(removed.entity) else { return };
    for &other in &worn.others {
        commands.entity(other).try_despawn();
    }
    let mut entity = commands.entity(removed.entity);
    entity.try_remove::<(Dressed, Aabb, NoAutoAabb, NoCpuCulling)>();
    if mesh.is_some_and(|mesh| worn.owns_mesh(mesh)) {
        entity.try_remove::<Mesh3d>();
    }
    if material.is_some_and(|material| worn.owns_material(material)) {
        entity.try_remove::<MeshMaterial3d<CrowdMaterial>>();
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
/// Bevy's culling on the GPU knows ranges, but the list of characters to pose ([`crate::views::Views::see`]) does not,
/// and views with `NoIndirectDrawing` are not culled on the GPU.
pub(crate) fn cull_by_distance(ranges: On<Insert<VisibilityRange>>, worn: Query<&Dressed>, mut commands: Commands) {
    for mesh in meshes_of(ranges.entity, &worn) {
        commands.entity(mesh).try_remove::<NoCpuCulling>();
    }
}

/// Takes a character whose range is removed back to the GPU.
pub(crate) fn cull_by_view(
    ranges: On<Remove<VisibilityRange>>,
    worn: Query<&Dressed>,
    culling: Res<Culling>,
    mut commands: Commands,
) {
    if *culling == Culling::Gpu {
        for mesh in meshes_of(ranges.entity, &worn) {
            commands.entity(mesh).try_insert(NoCpuCulling);
        }
    }
}

/// The meshes of a character; none of another entity.
fn meshes_of(entity: Entity, worn: &Query<&Dressed>) -> Vec<Entity> {
    worn.get(entity).map_or_else(|_| Vec::new(), |worn| [&[entity], worn.others.as_slice()].concat())
}
