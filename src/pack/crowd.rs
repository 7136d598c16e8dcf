//! Crowds: as many layer records for each instance, instances of a skeleton together.

use std::ops::Range;

use crate::error::Error;
use crate::model::crowd::{Crowd, clip_of_another};
use crate::model::id::SkeletonId;
use crate::model::layer::{AdditiveReference, Fade, FadeShape, Layer, LayerMode, LayerTime};
use crate::pack::library::{PackedClip, Packing};
use crate::pack::playback::pack_playback;
use crate::pack::record::NONE;
use crate::pack::record::layer::{
    LAYER_ADD_FIRST, LAYER_ADD_REST, LAYER_BLEND, LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_OVERRIDE, LAYER_SMOOTH_IN,
    LAYER_SMOOTH_OUT, Layer as LayerRecord,
};
use crate::pack::record::pair::split;

/// A crowd ready for an engine: its instances ordered by skeleton.
#[derive(Debug, Clone, Default)]
pub struct PackedCrowd {
    pub(crate) layers: Vec<LayerRecord>,
    pub(crate) groups: Vec<Group>,
    /// For each packed instance its index in the crowd.
    pub(crate) order: Vec<usize>,
}

/// Instances of one skeleton.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub skeleton: SkeletonId,
    /// Layer records of each of its instances.
    pub layer_count: usize,
    /// Whether its layers need no mixing: at most one an instance, which is all there is.
    pub plain: bool,
    /// Whether no layer overrides or adds: all that mixing there is, is blending.
    pub blends: bool,
    /// Where its layer records begin.
    pub first_layer: usize,
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
        let mut layers = Vec::with_capacity(order.len());
        let mut groups: Vec<Group> = Vec::new();
        let mut first = 0;
        for alike in order.chunk_by(|&a, &b| crowd.skeleton(a) == crowd.skeleton(b)) {
            let most = alike.iter().map(|&instance| crowd.layers(instance).len()).max().unwrap_or(0);
            let group = Group {
                skeleton: crowd.skeleton(alike[0]),
                layer_count: most.max(1),
                plain: alike.iter().all(|&instance| is_plain(crowd.layers(instance))),
                blends: alike.iter().all(|&instance| crowd.layers(instance).iter().all(blends)),
                first_layer: layers.len(),
                instances: first..first + alike.len(),
            };
            for &instance in alike {
                pack_instance(packing, crowd, instance, group.layer_count, &mut layers);
            }
            first += alike.len();
            groups.push(group);
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
        return Err(missing("skeleton", skeleton.index()));
    }
    for layer in crowd.layers(instance) {
        match packing.clip(layer.clip) {
            None => return Err(missing("clip", layer.clip.index())),
            Some(clip) if clip.skeleton != skeleton => {
                let called = |id: SkeletonId| (id.index(), packing.skeletons[id.index()].name.as_deref());
                let clip_called = (layer.clip.index(), clip.name.as_deref());
                return Err(clip_of_another(clip_called, called(clip.skeleton), called(skeleton)));
            }
            Some(_) => {}
        }
        match layer.mask.map(|mask| (mask, packing.masks.get(mask.index()))) {
            Some((mask, None)) => return Err(missing("mask", mask.index())),
            Some((mask, Some((owner, _)))) if *owner != skeleton => {
                return Err(format!("mask {} is another skeleton's", mask.index()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Why an instance cannot be posed that names something unknown: it may have been added after the library was packed.
fn missing(what: &str, index: usize) -> String {
    format!("the library has no {what} {index}; an engine knows its library as it was when the engine was made")
}

/// Whether layers need no mixing: there is one at most, and what it gives is the pose.
fn is_plain(layers: &[Layer]) -> bool {
    layers.len() <= 1 && layers.iter().all(Layer::is_plain)
}

fn blends(layer: &Layer) -> bool {
    layer.mode == LayerMode::Blend
}

/// The layer records of a checked instance, filled up to a count with layers without a weight. Without a layer, it stands
/// in the clip without tracks.
fn pack_instance(packing: &Packing, crowd: &Crowd, instance: usize, count: usize, records: &mut Vec<LayerRecord>) {
    let skeleton = &packing.skeletons[crowd.skeleton(instance).index()];
    let rest = LayerRecord { clip: skeleton.record.rest_clip, mask: NONE, ..Default::default() };
    let layers = crowd.layers(instance).iter();
    let filled = layers.map(|layer| pack_layer(packing, layer).unwrap_or(rest));
    records.extend(filled.chain(std::iter::repeat(rest)).take(count));
}

fn pack_layer(packing: &Packing, layer: &Layer) -> Option<LayerRecord> {
    let &PackedClip { place: clip, duration, length, wrap, .. } = packing.clip(layer.clip)?;
    let timed = match layer.time {
        LayerTime::At(seconds) => {
            let (time_high, time_low) = split(length.map_or(seconds, |length| seconds.clamp(0.0, length)));
            LayerRecord { clip, time_high, time_low, ..Default::default() }
        }
        LayerTime::Playing(playback) => pack_playback(clip, duration, &playback.of_clip(wrap)),
    };
    let mode = match layer.mode {
        LayerMode::Blend => LAYER_BLEND,
        LayerMode::Override => LAYER_OVERRIDE,
        LayerMode::Additive(AdditiveReference::First) => LAYER_ADD_FIRST,
        LayerMode::Additive(AdditiveReference::Rest) => LAYER_ADD_REST,
    };
    let bits = |fade: Option<Fade>, fades: u32, smooth: u32| match fade {
        None => 0,
        Some(Fade { shape: FadeShape::Linear, .. }) => fades,
        Some(Fade { shape: FadeShape::Smooth, .. }) => fades | smooth,
    };
    let start = |fade: Option<Fade>| fade.map_or(0, |fade| fade.start.0);
    let length = |fade: Option<Fade>| fade.map_or(0.0, |fade| fade.length.0 as f32);
    let mask = layer.mask.and_then(|mask| packing.masks.get(mask.index()));
    Some(LayerRecord {
        weight: layer.weight as f32,
        mode: mode
            | bits(layer.fade_in, LAYER_FADES_IN, LAYER_SMOOTH_IN)
            | bits(layer.fade_out, LAYER_FADES_OUT, LAYER_SMOOTH_OUT),
        mask: mask.map_or(NONE, |(_, place)| *place),
        fade_in_low: start(layer.fade_in) as u32,
        fade_in_high: (start(layer.fade_in) >> 32) as u32,
        fade_in_length: length(layer.fade_in),
        fade_out_low: start(layer.fade_out) as u32,
        fade_out_high: (start(layer.fade_out) >> 32) as u32,
        fade_out_length: length(layer.fade_out),
        ..timed
    })
}
