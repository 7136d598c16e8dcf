//! Characters, and their slots in the crowds of their rigs.

use std::sync::Arc;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::mesh::MeshTag;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use posse::{Crowd, Error, Goal, Layer, Library, NewTransition, Parameter, Ticks, TransitionKind};

use crate::clip_layer::ClipLayer;
use crate::clock::CrowdClock;
use crate::goals::ChainGoals;
use crate::rig::{CrowdRig, CrowdRigParts};

/// A character of a crowd: one entity, whatever the number of its joints.
///
/// Once its rig is loaded, the entity gets the mesh and the material of the rig, unless it has a `Mesh3d` or a
/// `MeshMaterial3d<CrowdMaterial>` of its own. Further meshes of the rig become children, with the `RenderLayers`, `VisibilityRange`,
/// `NotShadowCaster` and `NoFrustumCulling` of the character. The plugin owns its `MeshTag` and `Aabb`.
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

/// Lets a character go over to other layers smoothly: each change of its layers begins a transition from the pose that it shows, and
/// the layers of before are not played any more. Without this component, the pose jumps.
#[derive(Component, Debug, Clone, Copy, PartialEq)]
pub struct LayerTransition {
    /// The kind of the decay; inertial by default.
    pub kind: TransitionKind,
    /// The pace of the decay in seconds, more than 0: as `half_life` of [`posse::Transition`]; 0.1 by default.
    pub half_life: f64,
}

impl Default for LayerTransition {
    fn default() -> Self {
        Self { kind: TransitionKind::Inertial, half_life: 0.1 }
    }
}

impl LayerTransition {
    /// The transition of an instance that begins now.
    pub(crate) fn begin(self, instance: usize, layers: &[Layer], now: Ticks) -> NewTransition<'_> {
        NewTransition { instance, layers, now, kind: self.kind, half_life: self.half_life }
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
    /// The library of the layers. After a change of the rig, it is not that of the rig until the slot is looked at again.
    pub library: Arc<Library>,
    /// The character alone, with its transition, for the CPU.
    pub alone: Crowd,
}

impl Slot {
    pub fn layers(&self) -> &[Layer] {
        self.alone.layers(0)
    }

    /// True if the character has these layers already.
    pub fn plays(&self, posse: &Posse) -> bool {
        let resolve = |layer: &ClipLayer| layer.resolve(&self.library, self.alone.skeleton(0)).ok();
        posse.rig.id() == self.rig && posse.layers.iter().filter_map(resolve).eq(self.layers().iter().copied())
    }
}

/// A change that the render world has not seen.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub rig: AssetId<CrowdRig>,
    pub entity: Entity,
    pub slot: u32,
    pub layers: Vec<Layer>,
    pub parameters: Vec<f32>,
    pub goals: Vec<Goal>,
    /// The transition to the layers; `None` for a jump.
    pub transition: Option<LayerTransition>,
    /// True if the slot had no character, or another one.
    pub is_new: bool,
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

/// The components of a character that decide its place in a crowd.
type Member<'a> = (&'a Posse, Option<&'a ChainGoals>, Option<&'a LayerTransition>, Option<&'a mut Slot>);
/// The characters that are new or changed.
type Changes<'w, 's> = Query<'w, 's, Entity, (With<Posse>, Or<(Changed<Posse>, Changed<ChainGoals>)>)>;

/// Gives characters that are new or changed their slots, and notes the changes for the render world.
pub(crate) fn assign_slots(
    (changed, all, mut members): (Changes, Query<(Entity, &Posse)>, Query<Member>),
    (rigs, parts, clock): (Res<Assets<CrowdRig>>, Res<CrowdRigParts>, Res<CrowdClock>),
    mut crowds: ResMut<Crowds>,
    mut commands: Commands,
) {
    let crowds = &mut *crowds;
    let refresh = std::mem::take(&mut crowds.refresh);
    let mut entities: Vec<Entity> = changed.iter().collect();
    if !refresh.is_empty() {
        let of_rigs =
            all.iter().filter(|(entity, posse)| refresh.contains(&posse.rig.id()) && !changed.contains(*entity));
        entities.extend(of_rigs.map(|(entity, _)| entity));
    }
    for entity in entities {
        let Ok((posse, goals, transition, slot)) = members.get_mut(entity) else { continue };
        let id = posse.rig.id();
        let is_refreshed = refresh.contains(&id);
        let (Some(rig), Some(dress)) = (rigs.get(id), parts.0.get(&id)) else { continue };
        // A rig that has been edited since is noticed in the next frame, and then all its characters are looked at again.
        if !Arc::ptr_eq(&dress.library, &rig.library) {
            continue;
        }
        let mut layers = Vec::with_capacity(posse.layers.len());
        for (index, layer) in posse.layers.iter().enumerate() {
            match layer.resolve(&rig.library, rig.skeleton) {
                Ok(layer) => layers.push(layer),
                Err(fault) => error!("character {entity}, layer {index}: {fault}"),
            }
        }
        let (parameters, transition) = (posse.parameters.clone(), transition.copied());
        let goals = goals.map_or_else(Vec::new, |goals| goals.resolve(&rig.library, rig.skeleton, entity));
        let mut change = Change { rig: id, entity, slot: 0, layers, parameters, goals, transition, is_new: true };
        match slot {
            Some(mut slot) if slot.rig == id && !is_refreshed && Arc::ptr_eq(&slot.library, &rig.library) => {
                (change.slot, change.is_new) = (slot.index, false);
                // Meshes and tag stay, so that nothing else has to look at this change.
                let alone = &mut slot.bypass_change_detection().alone;
                if let Err(error) = change.apply(&rig.library, alone, 0, clock.now()) {
                    error!("character {entity}: {error}");
                    continue;
                }
            }
            Some(mut slot) if slot.rig == id => {
                change.slot = slot.index;
                slot.tag = slot.index * rig.matrices() as u32;
                (slot.library, slot.alone) = (rig.library.clone(), change.alone(rig));
            }
            _ => {
                change.slot = crowds.take(id);
                let tag = change.slot * rig.matrices() as u32;
                let (library, alone) = (rig.library.clone(), change.alone(rig));
                commands.entity(entity).try_insert(Slot { rig: id, index: change.slot, tag, library, alone });
            }
        }
        crowds.changes.push(change);
    }
}

impl Change {
    /// The layers and parameters of a new character, as an instance of a crowd of its own. What cannot be used is left out.
    fn alone(&self, rig: &CrowdRig) -> Crowd {
        let mut alone = Crowd::new();
        let outcome = alone.push(rig.skeleton, &[]).and_then(|_| self.apply(&rig.library, &mut alone, 0, Ticks(0)));
        if let Err(error) = outcome {
            error!("character {}: {error}", self.entity);
        }
        alone
    }

    /// Changes an instance of a crowd. Returns true if its layers are others than before.
    pub fn apply(&self, library: &Library, crowd: &mut Crowd, instance: usize, now: Ticks) -> Result<bool, Error> {
        let is_other = self.is_new || crowd.layers(instance) != self.layers;
        if is_other {
            match self.transition.filter(|_| !self.is_new) {
                Some(transition) => crowd.begin_transition(library, &transition.begin(instance, &self.layers, now))?,
                None => crowd.set(instance, crowd.skeleton(instance), &self.layers)?,
            }
        }
        let parameters: Result<Vec<_>, Error> =
            self.parameters.iter().map(|&value| Parameter::constant(f64::from(value))).collect();
        crowd.set_parameters(instance, parameters?)?;
        if crowd.goals(instance) != self.goals {
            crowd.set_goals(instance, self.goals.as_slice())?;
        }
        Ok(is_other)
    }
}
