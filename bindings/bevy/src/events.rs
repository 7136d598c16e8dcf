//! Messages at the events of clips.

use std::sync::Arc;

use bevy::prelude::*;
use posse::{Crowd, Evaluator, Reference, Ticks};

use crate::clock::CrowdClock;
use crate::rig::CrowdRig;
use crate::slots::Slot;

/// A character whose clips send a [`ClipEvent`] at each of their events. The CPU looks for the events of these characters alone.
#[derive(Component, Debug, Clone, Copy, Default)]
pub struct ClipEvents;

/// A message: a clip of a character has reached an event.
#[derive(Message, Debug, Clone, PartialEq, Eq)]
pub struct ClipEvent {
    /// The character.
    pub entity: Entity,
    /// The name of the clip.
    pub clip: Option<Arc<str>>,
    /// The index of the layer.
    pub layer: usize,
    /// The name of the function that the event names.
    pub function: String,
    /// The parameters of the event.
    pub parameters: Vec<String>,
    /// The tick of the crowd clock.
    pub tick: Ticks,
}

/// The most events of all characters of a frame. Further events are counted in a warning.
const MOST: usize = 4096;

/// Sends the events of the frame.
pub(crate) fn send_events(
    characters: Query<(Entity, &Slot), With<ClipEvents>>,
    clock: Res<CrowdClock>,
    rigs: Res<Assets<CrowdRig>>,
    mut messages: MessageWriter<ClipEvent>,
) {
    for (id, rig) in rigs.iter() {
        let (mut crowd, mut entities) = (Crowd::new(), Vec::new());
        for (entity, slot) in characters.iter().filter(|(_, slot)| slot.rig == id) {
            if crowd.push(rig.skeleton, slot.layers()).is_ok() {
                entities.push((entity, slot));
            }
        }
        if entities.is_empty() {
            continue;
        }
        let list = match Reference::new(&rig.library).evaluate_events(&crowd, clock.step(), MOST) {
            Ok(list) => list,
            Err(error) => {
                error!("events of rig {id}: {error}");
                continue;
            }
        };
        if list.missed > 0 {
            warn!("events of rig {id}: {} of them are too many for one frame, and are not sent", list.missed);
        }
        for occurrence in list.events {
            let (entity, slot) = entities[occurrence.instance];
            let clip = rig.library.clip(slot.layers()[occurrence.layer].clip);
            let event = &clip.events[occurrence.event];
            messages.write(ClipEvent {
                entity,
                clip: clip.name.as_deref().map(Arc::from),
                layer: occurrence.layer,
                function: event.function.clone(),
                parameters: event.parameters.clone(),
                tick: occurrence.tick,
            });
        }
    }
}
