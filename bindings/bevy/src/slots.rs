//! The slots of characters in the crowds of their rigs.

use std::sync::Arc;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::mesh::MeshTag;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use posse::{Crowd, Layer, Library};

use crate::change::Change;
use crate::character::Posse;
use crate::clip_layer::ClipLayer;
use crate::rig::CrowdRig;

/// The slot of a character in the crowd of its rig.
#[derive(Component, Debug, Clone)]
#[component(on_discard = free_slot)]
pub(crate) struct Slot {
    pub rig: AssetId<CrowdRig>,
    pub index: u32,
    /// The index of its first matrix.
    pub tag: u32,
    /// The library of the layers. After a change of the rig, it differs from the library of the rig until the slot is
    /// looked at again.
    pub library: Arc<Library>,
    /// The character alone, with its transition, for the CPU.
    pub alone: Crowd,
    /// The parameters that the character had when it was last looked at, also if they or its layers could not be used.
    pub given: Vec<f32>,
}

impl Slot {
    /// The slot of a character that is new, or whose rig has changed.
    pub fn new(change: &mut Change, rig: &CrowdRig) -> Self {
        let given = change.parameters.clone();
        let alone = change.alone(rig);
        let tag = change.slot * rig.matrices() as u32;
        Self { rig: change.rig, index: change.slot, tag, library: rig.library.clone(), alone, given }
    }

    /// True if the layers belong to the rig as it is now.
    pub fn is_of(&self, rig: &CrowdRig) -> bool {
        Arc::ptr_eq(&self.library, &rig.library)
    }

    pub fn layers(&self) -> &[Layer] {
        self.alone.layers(0)
    }

    /// True if the character has these layers already.
    pub fn plays(&self, posse: &Posse) -> bool {
        let resolve = |layer: &ClipLayer| layer.resolve(&self.library, self.alone.skeleton(0)).ok();
        posse.rig.id() == self.rig && posse.layers.iter().filter_map(resolve).eq(self.layers().iter().copied())
    }
}

/// The slots of all crowds.
#[derive(Resource, Debug, Default)]
pub(crate) struct Crowds {
    slots: HashMap<AssetId<CrowdRig>, Slots>,
    pub changes: Vec<Change>,
    /// The rigs that are new, changed or gone.
    pub renewed: HashSet<AssetId<CrowdRig>>,
    /// The rigs whose characters have to be looked at again in this frame.
    pub refresh: HashSet<AssetId<CrowdRig>>,
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

    /// Notes a rig that is gone. Its characters keep their slots, since a rig may come back with its number.
    pub fn forget(&mut self, rig: AssetId<CrowdRig>) {
        self.renewed.insert(rig);
    }

    /// A slot that no character has.
    pub fn take(&mut self, rig: AssetId<CrowdRig>) -> u32 {
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
    let Some(mut crowds) = world.get_resource_mut::<Crowds>() else { return };
    let Some(slots) = crowds.slots.get_mut(&rig) else { return };
    slots.free.push(index);
    if slots.free.len() == slots.count as usize {
        crowds.slots.remove(&rig);
    }
}

/// Takes the slot of an entity that is no character any more.
pub(crate) fn leave(removed: On<Remove<Posse>>, mut commands: Commands) {
    commands.entity(removed.entity).try_remove::<(Slot, MeshTag)>();
}
