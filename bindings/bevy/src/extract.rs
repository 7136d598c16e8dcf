//! Brings the changes of a frame to the render world.

use bevy::asset::AssetId;
use bevy::prelude::*;
use bevy::render::{Extract, MainWorld};

use crate::clock::CrowdClock;
use crate::render_crowd::{RenderCrowd, RenderCrowds};
use crate::rig::CrowdRig;
use crate::slots::{Crowds, Slot};
use crate::views::{Seen, Viewers};

/// Moves new rigs and changed layers to the render world.
pub(crate) fn extract_changes(mut main: ResMut<MainWorld>, mut render: ResMut<RenderCrowds>) {
    render.step = main.resource::<CrowdClock>().step();
    let mut crowds = main.resource_mut::<Crowds>();
    let (changes, renewed) = (std::mem::take(&mut crowds.changes), std::mem::take(&mut crowds.renewed));
    if !renewed.is_empty() {
        let rigs = main.resource::<Assets<CrowdRig>>();
        for id in renewed {
            match rigs.get(id) {
                Some(rig) => render.crowds.insert(id, RenderCrowd::new(rig)),
                None => render.crowds.remove(&id),
            };
        }
    }
    let rigs = main.resource::<Assets<CrowdRig>>();
    for change in changes {
        // A rig that has just been edited is noticed in the next frame, and then all its characters are sent again.
        if let (Some(crowd), Some(rig)) = (render.crowds.get_mut(&change.rig), rigs.get(change.rig))
            && crowd.is_of(rig)
        {
            crowd.pending.push(change);
        }
    }
}

/// Lists the characters that a camera or a light can see.
pub(crate) fn extract_visible(
    characters: Extract<Query<(&Slot, Seen)>>,
    viewers: Viewers,
    mut render: ResMut<RenderCrowds>,
) {
    for crowd in render.crowds.values_mut() {
        crowd.visible.clear();
    }
    let views = viewers.views();
    // Neighbours mostly have the same rig, so that it is seldom looked up.
    let mut visible: Option<(AssetId<CrowdRig>, &mut Vec<u32>)> = None;
    for (slot, _) in characters.iter().filter(|(_, seen)| views.see(seen)) {
        if visible.as_ref().is_none_or(|(rig, _)| *rig != slot.rig) {
            visible = render.crowds.get_mut(&slot.rig).map(|crowd| (slot.rig, &mut crowd.visible));
        }
        if let Some((_, list)) = &mut visible {
            list.push(slot.index);
        }
    }
}
