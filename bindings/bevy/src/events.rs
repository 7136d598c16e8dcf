//! Messages at the events of clips.

use std::sync::Arc;

use bevy::prelude::*;
use posse::{Crowd, Evaluator, Library, Reference, Ticks};

use crate::clock::CrowdClock;
use crate::rig::CrowdRig;
use crate::slots::Slot;

/// A character whose clips send a [`ClipEvent`] at each of their events. The CPU looks for the events of these
/// characters alone.
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
const MAX_EVENTS: usize = 4096;

/// The characters of a library that ask for events, as instances of a crowd.
struct EventListeners<'a> {
    slots: Vec<(Entity, &'a Slot)>,
    crowd: Crowd,
}

impl EventListeners<'_> {
    fn library(&self) -> &Arc<Library> {
        &self.slots[0].1.library
    }
}

/// Sends the events of the frame.
pub(crate) fn send_events(
    characters: Query<(Entity, &Slot), With<ClipEvents>>,
    clock: Res<CrowdClock>,
    rigs: Res<Assets<CrowdRig>>,
    mut messages: MessageWriter<ClipEvent>,
) {
    let mut groups: Vec<EventListeners> = Vec::new();
    for (entity, slot) in characters.iter().filter(|(_, slot)| rigs.contains(slot.rig)) {
        let group = match groups.iter().position(|group| Arc::ptr_eq(group.library(), &slot.library)) {
            Some(index) => &mut groups[index],
            None => groups.push_mut(EventListeners { slots: Vec::new(), crowd: Crowd::new() }),
        };
        group.slots.push((entity, slot));
        group.crowd.push_copy(&slot.alone, 0);
    }
    for group in groups {
        let library = group.library();
        let list = match Reference::new(library).evaluate_events(&group.crowd, clock.step(), MAX_EVENTS) {
            Ok(list) => list,
            Err(error) => {
                error!("events of rig {}: {error}", group.slots[0].1.rig);
                continue;
            }
        };
        if list.missed > 0 {
            let rig = group.slots[0].1.rig;
            warn!("events of rig {rig}: {} of them are too many for one frame, and are not sent", list.missed);
        }
        for occurrence in list.events {
            let (entity, slot) = group.slots[occurrence.instance];
            let layer = slot.alone.layers_at(0, occurrence.tick)[occurrence.layer];
            let clip = library.clip(layer.clip);
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
