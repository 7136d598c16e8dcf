//! Crowds: one layer record an instance, instances of a skeleton together.

use std::ops::Range;

use crate::error::Error;
use crate::model::crowd::Crowd;
use crate::model::id::SkeletonId;
use crate::model::layer::LayerTime;
use crate::pack::library::{PackedClip, Packing};
use crate::pack::playback::pack_playback;
use crate::pack::record::{self, split};

/// A crowd ready for an engine: its instances ordered by skeleton.
#[derive(Debug, Clone, Default)]
pub struct PackedCrowd {
    pub(crate) layers: Vec<record::Layer>,
    pub(crate) groups: Vec<Group>,
    /// For each packed instance its index in the crowd.
    pub(crate) order: Vec<usize>,
}

/// Instances of one skeleton.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub skeleton: SkeletonId,
    /// Their places in the packed order.
    pub instances: Range<usize>,
}

impl PackedCrowd {
    /// Packs a crowd of the packed library's skeletons and clips.
    ///
    /// # Errors
    /// [`Error::Instance`] where a skeleton or clip does not exist or they do not belong together, [`Error::Limit`]
    /// beyond 2^32 instances.
    pub fn new(packing: &Packing, crowd: &Crowd) -> Result<Self, Error> {
        if crowd.len() > u32::MAX as usize {
            let (needed, allowed) = (crowd.len() as u64, u64::from(u32::MAX));
            return Err(Error::Limit { what: "instances of a crowd".into(), needed, allowed });
        }
        for instance in 0..crowd.len() {
            check_instance(packing, crowd, instance).map_err(|reason| Error::Instance { instance, reason })?;
        }
        let mut order: Vec<usize> = (0..crowd.len()).collect();
        order.sort_by_key(|&instance| crowd.skeleton(instance));
        let layers = order.iter().map(|&instance| pack_instance(packing, crowd, instance)).collect();
        let mut groups: Vec<Group> = Vec::new();
        for (place, &instance) in order.iter().enumerate() {
            let skeleton = crowd.skeleton(instance);
            match groups.last_mut() {
                Some(group) if group.skeleton == skeleton => group.instances.end = place + 1,
                _ => groups.push(Group { skeleton, instances: place..place + 1 }),
            }
        }
        Ok(Self { layers, groups, order })
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

fn check_instance(packing: &Packing, crowd: &Crowd, instance: usize) -> Result<(), String> {
    let skeleton = crowd.skeleton(instance);
    if skeleton.index() >= packing.skeletons.len() {
        return Err(format!("the library has no skeleton {}", skeleton.index()));
    }
    for layer in crowd.layers(instance) {
        match packing.clip(layer.clip) {
            None => return Err(format!("the library has no clip {}", layer.clip.index())),
            Some(clip) if clip.skeleton != skeleton => {
                return Err(format!("clip {} is another skeleton's", layer.clip.index()));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The layer record of a checked instance. Without a layer, it stands in the clip without tracks.
fn pack_instance(packing: &Packing, crowd: &Crowd, instance: usize) -> record::Layer {
    let skeleton = &packing.skeletons[crowd.skeleton(instance).index()];
    let rest = record::Layer { clip: skeleton.rest_clip, ..Default::default() };
    let Some(layer) = crowd.layers(instance).first() else { return rest };
    let Some(&PackedClip { place: clip, duration, length, wrap, .. }) = packing.clip(layer.clip) else { return rest };
    match layer.time {
        LayerTime::At(seconds) => {
            let (time_high, time_low) = split(length.map_or(seconds, |length| seconds.clamp(0.0, length)));
            record::Layer { clip, time_high, time_low, ..Default::default() }
        }
        LayerTime::Playing(playback) => pack_playback(clip, duration, &playback.of_clip(wrap)),
    }
}
