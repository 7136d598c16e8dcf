//! Crowds: instances of a skeleton that need the same mixing together, with as many layer records each.

use std::ops::Range;

use crate::error::Error;
use crate::model::{
    AdditiveReference, Crowd, Fade, FadeShape, Layer, LayerMode, LayerTime, Mixing, SkeletonId, check_instance,
};
use crate::pack::PackedLibrary;
use crate::pack::library::PackedClip;
use crate::pack::playback::pack_playback;
use crate::pack::record::{
    LAYER_ADD_FIRST, LAYER_ADD_REST, LAYER_BLEND, LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_OVERRIDE, LAYER_SMOOTH_IN,
    LAYER_SMOOTH_OUT, LayerRecord, NONE, split,
};

/// A crowd ready for an engine: its instances ordered by skeleton, then by the mixing that they need.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedCrowd {
    pub(crate) layers: Vec<LayerRecord>,
    pub(crate) batches: Vec<PackedBatch>,
    /// For each packed instance its index in the crowd.
    pub(crate) order: Vec<usize>,
}

/// Instances of one skeleton that are mixed alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedBatch {
    pub skeleton: SkeletonId,
    /// Layer records of each of its instances.
    pub layer_count: usize,
    /// The mixing that there is to be.
    pub mixing: Mixing,
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
    pub fn new(packing: &PackedLibrary, crowd: &Crowd) -> Result<Self, Error> {
        Self::with_room(packing, crowd, 0, Mixing::None)
    }

    /// As [`new`](Self::new), with room for so many layers an instance at least, mixed so much at least.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_room(packing: &PackedLibrary, crowd: &Crowd, layers: usize, mixing: Mixing) -> Result<Self, Error> {
        let (least_layers, least_mixing) = (layers, mixing);
        if crowd.len() > u32::MAX as usize {
            let (needed, allowed) = (crowd.len() as u64, u64::from(u32::MAX));
            return Err(Error::Limit { what: "instances of a crowd".into(), needed, allowed });
        }
        for instance in 0..crowd.len() {
            check_instance(packing, instance, crowd.skeleton(instance), crowd.layers(instance))?;
        }
        let mut order: Vec<usize> = (0..crowd.len()).collect();
        let kind = |instance| (crowd.skeleton(instance), Mixing::of(crowd.layers(instance)).max(least_mixing));
        order.sort_by_cached_key(|&instance| kind(instance));
        let mut layers = Vec::with_capacity(order.len());
        let mut batches: Vec<PackedBatch> = Vec::new();
        let mut first = 0;
        for alike in order.chunk_by(|&a, &b| kind(a) == kind(b)) {
            let most = alike.iter().map(|&instance| crowd.layers(instance).len()).max().unwrap_or(0);
            let (skeleton, mixing) = kind(alike[0]);
            let batch = PackedBatch {
                skeleton,
                layer_count: most.max(least_layers).max(1),
                mixing,
                first_layer: layers.len(),
                instances: first..first + alike.len(),
            };
            for &instance in alike {
                pack_instance(packing, batch.skeleton, crowd.layers(instance), batch.layer_count, &mut layers);
            }
            first += alike.len();
            batches.push(batch);
        }
        Ok(Self { layers, batches, order })
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.order.len()
    }
}

/// The layer records of a checked instance, filled up to a count with layers without a weight. Without a layer, it stands
/// in the clip without tracks.
pub(crate) fn pack_instance(
    packing: &PackedLibrary,
    skeleton: SkeletonId,
    layers: &[Layer],
    count: usize,
    records: &mut Vec<LayerRecord>,
) {
    let skeleton = &packing.skeletons[skeleton.index()];
    let rest = LayerRecord { clip: skeleton.record.rest_clip, mask: NONE, ..Default::default() };
    let filled = layers.iter().map(|layer| pack_layer(packing, layer).unwrap_or(rest));
    records.extend(filled.chain(std::iter::repeat(rest)).take(count));
}

fn pack_layer(packing: &PackedLibrary, layer: &Layer) -> Option<LayerRecord> {
    let &PackedClip { place: clip, duration, length, wrap, .. } = packing.clip(layer.clip)?;
    let timed = match layer.time {
        LayerTime::At(seconds) => {
            let (time_high, time_low) = split(length.map_or(seconds, |length| seconds.clamp(0.0, length)));
            LayerRecord { clip, time_high, time_low, ..Default::default() }
        }
        LayerTime::Playing(playback) => pack_playback(clip, duration, &playback.resolve_wrap(wrap)),
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
