//! Characters, and their slots in the crowds of their rigs.

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::mesh::MeshTag;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use posse::Layer;

use crate::clip_layer::ClipLayer;
use crate::rig::{CrowdRig, CrowdRigParts};

/// A character of a crowd: one entity, whatever the number of its joints.
///
/// Once its rig is loaded, the entity gets the mesh and the material of the rig, unless it has a `Mesh3d` or a
/// `MeshMaterial3d<CrowdMaterial>` of its own. Further meshes of the rig become children. The plugin owns its `MeshTag` and `Aabb`.
#[derive(Component, Debug, Clone)]
#[require(Transform, Visibility)]
pub struct Posse {
    /// The rig.
    pub rig: Handle<CrowdRig>,
    /// The layers, up to eight. Without any, the character stands in its rest pose.
    pub layers: Vec<ClipLayer>,
    /// The parameters, up to 16, which layers may refer to by index. Those that are not there are 0.
    pub parameters: Vec<f32>,
}

impl Posse {
    /// A character with layers and without parameters.
    pub fn new(rig: Handle<CrowdRig>, layers: impl Into<Vec<ClipLayer>>) -> Self {
        Self { rig, layers: layers.into(), parameters: Vec::new() }
    }

    /// A character that plays a clip repeatedly.
    pub fn looping(rig: Handle<CrowdRig>, clip: &str) -> Self {
        Self::new(rig, [ClipLayer::looping(clip)])
    }
}

/// The slot of a character in the crowd of its rig.
#[derive(Component, Debug, Clone)]
#[component(on_discard = free_slot)]
pub(crate) struct Slot {
    pub rig: AssetId<CrowdRig>,
    pub index: u32,
    /// The index of its first matrix.
    pub tag: u32,
    pub layers: Vec<Layer>,
}

/// A change that the render world has not seen.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub rig: AssetId<CrowdRig>,
    pub entity: Entity,
    pub slot: u32,
    pub layers: Vec<Layer>,
    pub parameters: Vec<f32>,
}

/// The slots of all crowds.
#[derive(Resource, Debug, Default)]
pub(crate) struct Crowds {
    slots: HashMap<AssetId<CrowdRig>, Slots>,
    pub changes: Vec<Change>,
    /// The rigs that are new, changed or gone.
    pub renewed: HashSet<AssetId<CrowdRig>>,
    /// The rigs whose characters have to be looked at again in this frame.
    refresh: HashSet<AssetId<CrowdRig>>,
}

/// The slots of a crowd.
#[derive(Debug, Default)]
struct Slots {
    count: u32,
    free: Vec<u32>,
}

impl Crowds {
    /// Notes a rig that is loaded, or loaded again.
    pub fn renew(&mut self, rig: AssetId<CrowdRig>) {
        self.renewed.insert(rig);
        self.refresh.insert(rig);
    }

    /// Notes a rig that is gone.
    pub fn forget(&mut self, rig: AssetId<CrowdRig>) {
        self.renewed.insert(rig);
        self.slots.remove(&rig);
    }

    fn take(&mut self, rig: AssetId<CrowdRig>) -> u32 {
        let slots = self.slots.entry(rig).or_default();
        slots.free.pop().unwrap_or_else(|| {
            slots.count += 1;
            slots.count - 1
        })
    }
}

/// Frees the slot of a character that goes, or that gets another one.
fn free_slot(mut world: DeferredWorld, context: HookContext) {
    let Some(slot) = world.get::<Slot>(context.entity) else { return };
    let (rig, index) = (slot.rig, slot.index);
    if let Some(slots) = world.get_resource_mut::<Crowds>().and_then(|crowds| crowds.into_inner().slots.get_mut(&rig)) {
        slots.free.push(index);
    }
}

/// Takes the slot of an entity that is no character any more.
pub(crate) fn leave(removed: On<Remove<Posse>>, mut commands: Commands) {
    commands.entity(removed.entity).try_remove::<(Slot, MeshTag)>();
}

/// Gives characters that are new or changed their slots, and notes the changes for the render world.
pub(crate) fn assign_slots(
    mut characters: Query<(Entity, Ref<Posse>, Option<&mut Slot>)>,
    rigs: Res<Assets<CrowdRig>>,
    parts: Res<CrowdRigParts>,
    mut crowds: ResMut<Crowds>,
    mut commands: Commands,
) {
    let crowds = &mut *crowds;
    let refresh = std::mem::take(&mut crowds.refresh);
    for (entity, posse, slot) in &mut characters {
        let id = posse.rig.id();
        let is_refreshed = !refresh.is_empty() && refresh.contains(&id);
        if !posse.is_changed() && !is_refreshed {
            continue;
        }
        let (Some(rig), true) = (rigs.get(id), parts.0.contains_key(&id)) else { continue };
        let mut layers = Vec::with_capacity(posse.layers.len());
        for (index, layer) in posse.layers.iter().enumerate() {
            match layer.resolve(&rig.library, rig.skeleton) {
                Ok(layer) => layers.push(layer),
                Err(fault) => error!("character {entity}, layer {index}: {fault}"),
            }
        }
        let kept = match slot {
            Some(mut slot) if slot.rig == id && !is_refreshed => {
                // Meshes and tag stay, so that nothing else has to look at this change.
                slot.bypass_change_detection().layers.clone_from(&layers);
                Some(slot.index)
            }
            Some(mut slot) if slot.rig == id => {
                slot.layers.clone_from(&layers);
                slot.tag = slot.index * rig.matrices() as u32;
                Some(slot.index)
            }
            _ => None,
        };
        let slot = kept.unwrap_or_else(|| {
            let index = crowds.take(id);
            let tag = index * rig.matrices() as u32;
            commands.entity(entity).try_insert(Slot { rig: id, index, tag, layers: layers.clone() });
            index
        });
        let parameters = posse.parameters.clone();
        crowds.changes.push(Change { rig: id, entity, slot, layers, parameters });
    }
}
