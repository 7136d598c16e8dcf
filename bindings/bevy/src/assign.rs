//! New and changed characters.

use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use posse::Layer;

use crate::change::Change;
use crate::character::{LayerTransition, Posse};
use crate::clock::CrowdClock;
use crate::goals::ChainGoals;
use crate::rig::{CrowdRig, CrowdRigParts};
use crate::slots::{Crowds, Slot};

/// The characters.
#[derive(SystemParam)]
pub(crate) struct Characters<'w, 's> {
    changed: Query<'w, 's, Entity, (With<Posse>, IsChanged)>,
    all: Query<'w, 's, (Entity, &'static Posse)>,
    members: Query<'w, 's, Member>,
}

/// The filter of characters that are new or changed.
type IsChanged = Or<(Changed<Posse>, Changed<ChainGoals>)>;
/// The components of a character that decide its place in a crowd.
type Member =
    (&'static Posse, Option<&'static ChainGoals>, Option<&'static LayerTransition>, Option<&'static mut Slot>);

impl Characters<'_, '_> {
    /// The characters to look at: new and changed ones, and all of some rigs.
    fn to_look_at(&self, is_refreshed: impl Fn(AssetId<CrowdRig>) -> bool) -> Vec<Entity> {
        let others = self.all.iter().filter(|(entity, posse)| {
            // Only after a change of a rig are there any.
            is_refreshed(posse.rig.id()) && !self.changed.contains(*entity)
        });
        self.changed.iter().chain(others.map(|(entity, _)| entity)).collect()
    }
}

/// The rigs, and what belongs to them.
#[derive(SystemParam)]
pub(crate) struct Rigs<'w> {
    rigs: Res<'w, Assets<CrowdRig>>,
    parts: Res<'w, CrowdRigParts>,
}

impl Rigs<'_> {
    /// A rig that is ready. One that has been edited since is noticed in the next frame, and then all its characters
    /// are looked at again.
    fn get(&self, id: AssetId<CrowdRig>) -> Option<&CrowdRig> {
        let (rig, dress) = (self.rigs.get(id)?, self.parts.0.get(&id)?);
        Arc::ptr_eq(&dress.library, &rig.library).then_some(rig)
    }
}

/// Gives characters that are new or changed their slots, and notes the changes for the render world.
pub(crate) fn assign_slots(
    mut characters: Characters,
    rigs: Rigs,
    clock: Res<CrowdClock>,
    mut crowds: ResMut<Crowds>,
    mut commands: Commands,
) {
    let refresh = std::mem::take(&mut crowds.refresh);
    let entities = match refresh.is_empty() {
        true => characters.changed.iter().collect(),
        false => characters.to_look_at(|rig| refresh.contains(&rig)),
    };
    for entity in entities {
        let Ok((posse, goals, transition, slot)) = characters.members.get_mut(entity) else { continue };
        let id = posse.rig.id();
        let Some(rig) = rigs.get(id) else { continue };
        let mut change = Change {
            rig: id,
            entity,
            slot: 0,
            layers: resolve(posse, rig, entity),
            parameters: posse.parameters.clone(),
            goals: goals.map_or_else(Vec::new, |goals| goals.resolve(&rig.library, rig.skeleton, entity)),
            transition: transition.copied(),
            is_new: true,
        };
        match slot {
            Some(mut slot) if slot.rig == id && slot.is_of(rig) && !refresh.contains(&id) => {
                (change.slot, change.is_new) = (slot.index, false);
                // Meshes and tag stay, so that nothing else has to look at this change.
                let slot = slot.bypass_change_detection();
                slot.given.clone_from(&posse.parameters);
                if let Err(error) = change.apply_alone(rig, &mut slot.alone, clock.now()) {
                    error!("character {entity}: {error}");
                    continue;
                }
            }
            Some(mut slot) if slot.rig == id => {
                change.slot = slot.index;
                *slot = Slot::new(&mut change, rig);
            }
            _ => {
                change.slot = crowds.take(id);
                commands.entity(entity).try_insert(Slot::new(&mut change, rig));
            }
        }
        crowds.changes.push(change);
    }
}

/// The layers of a character that its rig has.
fn resolve(posse: &Posse, rig: &CrowdRig, entity: Entity) -> Vec<Layer> {
    let mut layers = Vec::with_capacity(posse.layers.len());
    for (index, layer) in posse.layers.iter().enumerate() {
        match layer.resolve(&rig.library, rig.skeleton) {
            Ok(layer) => layers.push(layer),
            Err(error) => error!("character {entity}, layer {index}: {error}"),
        }
    }
    layers
}

/// Marks a character as changed when its goals are removed.
pub(crate) fn let_go(removed: On<Remove<ChainGoals>>, mut characters: Query<&mut Posse>) {
    if let Ok(mut posse) = characters.get_mut(removed.entity) {
        posse.set_changed();
    }
}
