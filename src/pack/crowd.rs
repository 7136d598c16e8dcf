//! Packing of crowds: batches of instances with the same skeleton and mixing, and the same number of layer records
//! each, with a record per driven layer and per goal.

use std::ops::Range;

use crate::error::Error;
use crate::model::{
    AdditiveReference, ChainId, ClipId, Crowd, Fade, FadeShape, Goal, GoalTarget, GoalWeight, Layer, LayerMode,
    LayerTime, Mixing, Playback, SkeletonId, Ticks, WeightDriver, WrapMode, check_goals, check_instance,
};
use crate::pack::PackedLibrary;
use crate::pack::capacity::{BatchCapacity, MinCapacity, check_displacement};
use crate::pack::displacement::PackedDisplacement;
use crate::pack::drive::sync_mark;
use crate::pack::library::PackedClip;
use crate::pack::playback::{pack_playback, time_unit, units};
use crate::pack::record::{
    CLOCK_DRIVEN, CLOCK_PLAYS, DRIVE_KNOTS, DRIVE_PHASE, DRIVE_POINT, DRIVE_SYNCED, DriveRecord, GOAL_TARGET,
    GOAL_WEIGHT, GoalRecord, LAYER_ADD_FIRST, LAYER_ADD_REST, LAYER_BLEND, LAYER_FADES_IN, LAYER_FADES_OUT,
    LAYER_OVERRIDE, LAYER_SMOOTH_IN, LAYER_SMOOTH_OUT, LayerRecord, NONE, SyncMark, split,
};

/// A crowd ready for an engine. Its instances are ordered by skeleton, then by the mixing that they need.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedCrowd {
    pub(crate) layers: Vec<LayerRecord>,
    /// The drivers of the layers of driven batches, as many as their layers.
    pub(crate) drives: Vec<DriveRecord>,
    /// The goals of the instances of batches that have some.
    pub(crate) goals: Vec<GoalRecord>,
    /// The transitions of the instances that are in one.
    pub(crate) displacements: Vec<PackedDisplacement>,
    /// The indices of displacements of no instance.
    free_displacements: Vec<u32>,
    pub(crate) batches: Vec<PackedBatch>,
    /// For each packed instance its index in the crowd.
    pub(crate) order: Vec<usize>,
}

/// Instances of one skeleton that need the same mixing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedBatch {
    pub skeleton: SkeletonId,
    /// The number of layer records per instance.
    pub layer_count: usize,
    /// The mixing that the instances need, or have capacity for.
    pub mixing: Mixing,
    /// The index of the first layer record.
    pub first_layer: usize,
    /// `true` if layers may be driven, or goals follow parameters.
    pub reads_parameters: bool,
    /// The index of the first driver, one per layer; `None` if no layer is driven.
    pub first_drive: Option<usize>,
    /// The number of goals per instance.
    pub goal_count: usize,
    /// The index of the first goal.
    pub first_goal: usize,
    /// The index of the displacement of each instance, or `NONE`; empty if no instance is in a transition.
    pub displaced: Vec<u32>,
    /// The positions of the instances in the packed order.
    pub instances: Range<usize>,
}

impl PackedCrowd {
    /// Packs a crowd with the skeletons and clips of a packed library, and with capacity. The instances of a batch are
    /// in the order of the keys that they read: by the clips of their layers, then by the times within the first clip.
    /// An engine that poses them one after the other finds those keys in its caches.
    ///
    /// # Errors
    /// [`Error::Instance`] if a skeleton, clip or mask does not exist or they do not belong together. [`Error::Limit`]
    /// for 2^32 instances and more.
    pub fn by_keys(packed: &PackedLibrary, crowd: &Crowd, capacity: MinCapacity) -> Result<Self, Error> {
        Self::in_order(packed, crowd, capacity, |instance| KeyOrder::new(packed, crowd, instance))
    }

    /// Packs a crowd with capacity. The instances of a batch are in the order of the crowd.
    ///
    /// # Errors
    /// The errors of [`by_keys`](Self::by_keys).
    pub fn with_capacity(packed: &PackedLibrary, crowd: &Crowd, capacity: MinCapacity) -> Result<Self, Error> {
        Self::in_order(packed, crowd, capacity, |_| ())
    }

    /// Packs a crowd with capacity. `key` orders the instances of a batch.
    fn in_order<Key: Ord>(
        packed: &PackedLibrary,
        crowd: &Crowd,
        capacity: MinCapacity,
        key: impl Fn(usize) -> Key,
    ) -> Result<Self, Error> {
        if crowd.len() > u32::MAX as usize {
            let (needed, allowed) = (crowd.len() as u64, u64::from(u32::MAX));
            return Err(Error::Limit { what: "instances of a crowd".into(), needed, allowed });
        }
        for instance in 0..crowd.len() {
            check_instance(packed, instance, crowd.skeleton(instance), crowd.layers(instance))?;
            check_goals(packed, instance, crowd.skeleton(instance), crowd.goals(instance))?;
            check_displacement(packed, crowd, instance)?;
        }
        let mut order: Vec<usize> = (0..crowd.len()).collect();
        let kind = |instance| BatchKind {
            skeleton: crowd.skeleton(instance),
            mixing: Mixing::of(crowd.layers(instance)).max(capacity.mixing),
            is_driven: capacity.drivers || crowd.layers(instance).iter().any(Layer::is_driven),
            has_goals: capacity.goals > 0 || !crowd.goals(instance).is_empty(),
        };
        order.sort_by_cached_key(|&instance| (kind(instance), key(instance)));
        let mut records = Vec::with_capacity(order.len());
        let (mut drives, mut goals, mut displacements) = (Vec::new(), Vec::new(), Vec::new());
        let mut batches: Vec<PackedBatch> = Vec::new();
        let mut first = 0;
        for instances in order.chunk_by(|&a, &b| kind(a) == kind(b)) {
            let most = instances.iter().map(|&instance| crowd.layers(instance).len()).max().unwrap_or(0);
            let most_goals = instances.iter().map(|&instance| crowd.goals(instance).len()).max().unwrap_or(0);
            let BatchKind { skeleton, mixing, is_driven, has_goals } = kind(instances[0]);
            let has_driven_goals = instances.iter().any(|&instance| crowd.goals(instance).iter().any(Goal::is_driven));
            let displaced = pack_displacements(crowd, instances, &mut displacements);
            let batch = PackedBatch {
                skeleton,
                layer_count: most.max(capacity.layers).max(1),
                mixing,
                first_layer: records.len(),
                reads_parameters: is_driven || has_driven_goals,
                first_drive: is_driven.then_some(drives.len()),
                goal_count: if has_goals { most_goals.max(capacity.goals) } else { 0 },
                first_goal: goals.len(),
                displaced,
                instances: first..first + instances.len(),
            };
            for &instance in instances {
                pack_instance(packed, batch.skeleton, crowd.layers(instance), batch.layer_count, &mut records);
                if is_driven {
                    pack_drivers(packed, crowd.layers(instance), batch.layer_count, &mut drives);
                }
                pack_goals(packed, crowd.goals(instance), batch.goal_count, &mut goals);
            }
            first += instances.len();
            batches.push(batch);
        }
        Ok(Self { layers: records, drives, goals, displacements, free_displacements: Vec::new(), batches, order })
    }

    /// The layers of an instance, by its batch and its slot in it.
    pub fn layers_of(&self, batch: &PackedBatch, slot: usize) -> &[LayerRecord] {
        &self.layers[batch.first_layer + slot * batch.layer_count..][..batch.layer_count]
    }

    /// The drivers of the layers of an instance; empty if none is driven.
    pub fn drives_of(&self, batch: &PackedBatch, slot: usize) -> &[DriveRecord] {
        let first = |first: usize| &self.drives[first + slot * batch.layer_count..][..batch.layer_count];
        batch.first_drive.map_or(&[], first)
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The capacity of each instance of a batch, with capacity for `parameters` parameters.
    pub fn capacity(&self, batch: usize, parameters: usize) -> BatchCapacity {
        let batch = &self.batches[batch];
        BatchCapacity {
            skeleton: batch.skeleton,
            layers: batch.layer_count,
            mixing: batch.mixing,
            drivers: batch.first_drive.is_some(),
            parameters,
            goals: batch.goal_count,
        }
    }

    /// Replaces the layers of an instance, by its batch and its slot in it. The new ones fit.
    pub fn set_layers(&mut self, packed: &PackedLibrary, (batch, slot): (usize, usize), layers: &[Layer]) {
        let batch = &self.batches[batch];
        let count = batch.layer_count;
        let mut records = Vec::with_capacity(count);
        pack_instance(packed, batch.skeleton, layers, count, &mut records);
        self.layers[batch.first_layer + slot * count..][..count].copy_from_slice(&records);
        if let Some(first) = batch.first_drive {
            let mut drives = Vec::with_capacity(count);
            pack_drivers(packed, layers, count, &mut drives);
            self.drives[first + slot * count..][..count].copy_from_slice(&drives);
        }
    }

    /// Replaces the goals of an instance, by its batch and its slot in it. The new ones fit.
    pub fn set_goals(&mut self, packed: &PackedLibrary, (batch, slot): (usize, usize), goals: &[Goal]) {
        let batch = &self.batches[batch];
        let count = batch.goal_count;
        let mut records = Vec::with_capacity(count);
        pack_goals(packed, goals, count, &mut records);
        self.goals[batch.first_goal + slot * count..][..count].copy_from_slice(&records);
    }

    /// Replaces or ends the transition of an instance, by its batch and its slot in it. Displacements take the places
    /// of transitions that have ended, so that there are never more than instances.
    pub fn set_displacement(&mut self, (batch, slot): (usize, usize), displacement: Option<PackedDisplacement>) {
        let batch = &mut self.batches[batch];
        if let Some(index) = batch.displaced.get_mut(slot).filter(|index| **index != NONE) {
            self.free_displacements.push(std::mem::replace(index, NONE));
        }
        let Some(displacement) = displacement else { return };
        batch.displaced.resize(batch.instances.len(), NONE);
        let place = self.free_displacements.pop().unwrap_or(self.displacements.len() as u32);
        batch.displaced[slot] = place;
        match self.displacements.get_mut(place as usize) {
            Some(free) => *free = displacement,
            None => self.displacements.push(displacement),
        }
    }
}

/// The kind of an instance. The instances of a batch are of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BatchKind {
    skeleton: SkeletonId,
    mixing: Mixing,
    is_driven: bool,
    has_goals: bool,
}

/// Packs the displacements of some instances, and returns the index of each; empty if there are none.
fn pack_displacements(crowd: &Crowd, instances: &[usize], displacements: &mut Vec<PackedDisplacement>) -> Vec<u32> {
    if instances.iter().all(|&instance| crowd.start_poses(instance).is_none()) {
        return Vec::new();
    }
    let mut index = |&instance: &usize| match crowd.start_poses(instance) {
        None => NONE,
        Some((transition, start)) => {
            displacements.push(PackedDisplacement::new(transition, start));
            displacements.len() as u32 - 1
        }
    };
    instances.iter().map(&mut index).collect()
}

/// The order of instances by the chains of their goals, so that neighbours turn the same joints, then by the keys that
/// they read.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KeyOrder {
    /// The chains of the goals.
    chains: Vec<ChainId>,
    /// The clips of the layers, then `None`.
    clips: [Option<ClipId>; Crowd::MAX_LAYERS],
    /// The bits of the time within the first clip, which is not negative.
    time: u64,
}

impl KeyOrder {
    /// The order of a checked instance. Its time is that at tick 0. Where all instances play at one rate, they keep the
    /// order.
    fn new(packed: &PackedLibrary, crowd: &Crowd, instance: usize) -> Self {
        let layers = crowd.layers(instance);
        let clips = std::array::from_fn(|index| layers.get(index).map(|layer| layer.clip));
        let time = layers.first().map_or(0.0, |layer| match layer.time {
            LayerTime::At(seconds) => seconds,
            LayerTime::Phase { .. } | LayerTime::Synced { .. } => 0.0,
            LayerTime::Playing(playback) => {
                let [start, end] = playback.part(packed.clip(layer.clip).map_or(0.0, |clip| clip.duration));
                let played = -playback.start.to_seconds() * playback.rate;
                start + if end > start { played.rem_euclid(end - start) } else { 0.0 }
            }
        });
        Self {
            chains: crowd.goals(instance).iter().map(|goal| goal.chain).collect(),
            clips,
            time: time.max(0.0).to_bits(),
        }
    }
}

/// Appends the layer records of a checked instance. Layers of weight 0 with the clip without tracks fill them up to
/// `count`, so that an instance without layers is in its rest pose.
pub(crate) fn pack_instance(
    packed: &PackedLibrary,
    skeleton: SkeletonId,
    layers: &[Layer],
    count: usize,
    records: &mut Vec<LayerRecord>,
) {
    let skeleton = &packed.skeletons[skeleton.index()];
    let rest = LayerRecord { clip: skeleton.record.rest_clip, mask: NONE, ..Default::default() };
    let filled = layers.iter().map(|layer| pack_layer(packed, layer).unwrap_or(rest));
    records.extend(filled.chain(std::iter::repeat(rest)).take(count));
}

/// Appends the drivers of the layers of a checked instance, filled up to `count`.
pub(crate) fn pack_drivers(packed: &PackedLibrary, layers: &[Layer], count: usize, drives: &mut Vec<DriveRecord>) {
    let filled = layers.iter().map(|layer| pack_driver(packed, layers, layer).unwrap_or_default());
    drives.extend(filled.chain(std::iter::repeat(DriveRecord::default())).take(count));
}

/// The record of a layer; `None` if the library does not have its clip.
pub(crate) fn pack_layer(packed: &PackedLibrary, layer: &Layer) -> Option<LayerRecord> {
    let packed_clip = packed.clip(layer.clip)?;
    let &PackedClip { offset: clip, duration, length, wrap, .. } = packed_clip;
    let timed = match layer.time {
        LayerTime::At(seconds) => {
            let (time_high, time_low) = split(length.map_or(seconds, |length| seconds.clamp(0.0, length)));
            LayerRecord { clip, time_high, time_low, ..Default::default() }
        }
        LayerTime::Phase { .. } | LayerTime::Synced { .. } => pack_driven_time(packed_clip),
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
    let mask = layer.mask.and_then(|mask| packed.masks.get(mask.index()));
    Some(LayerRecord {
        weight: layer.weight as f32,
        mode: mode
            | bits(layer.fade_in, LAYER_FADES_IN, LAYER_SMOOTH_IN)
            | bits(layer.fade_out, LAYER_FADES_OUT, LAYER_SMOOTH_OUT),
        mask: mask.map_or(NONE, |(_, offset)| *offset),
        fade_in_low: start(layer.fade_in) as u32,
        fade_in_high: (start(layer.fade_in) >> 32) as u32,
        fade_in_length: length(layer.fade_in),
        fade_out_low: start(layer.fade_out) as u32,
        fade_out_high: (start(layer.fade_out) >> 32) as u32,
        fade_out_length: length(layer.fade_out),
        ..timed
    })
}

/// The driver of a layer of an instance; `None` if the layer has none.
fn pack_driver(packed: &PackedLibrary, layers: &[Layer], layer: &Layer) -> Option<DriveRecord> {
    if !layer.is_driven() {
        return None;
    }
    let clip = packed.clip(layer.clip)?;
    let mut drive = DriveRecord { weight: layer.weight as f32, own: whole(clip), ..Default::default() };
    match layer.time {
        LayerTime::Phase { parameter, wrap } => {
            drive.kind |= DRIVE_PHASE;
            drive.source = parameter as u32;
            let playback = Playback::new(wrap, Ticks(0), 1.0).resolve_wrap(clip.wrap);
            drive.clock = pack_playback(clip.offset, clip.duration, &playback).clock & !CLOCK_PLAYS;
        }
        LayerTime::Synced { leader: source } => {
            let leader = layers.get(source)?;
            let lead = packed.clip(leader.clip)?;
            drive.kind |= DRIVE_SYNCED;
            drive.source = source as u32;
            drive.lead = whole(lead);
            (drive.lead_marks, drive.own_marks, drive.mark_count) = (NONE, NONE, 1);
            if lead.marks != NONE && clip.marks != NONE {
                (drive.lead_marks, drive.own_marks) = (lead.marks, clip.marks);
                drive.mark_count = clip.marker_count as u32;
            }
        }
        LayerTime::At(_) | LayerTime::Playing(_) => {}
    }
    match layer.driver {
        Some(WeightDriver::Knots { parameter, knots }) => {
            drive.kind |= DRIVE_KNOTS;
            drive.parameter_x = parameter as u32;
            drive.table = packed.knots[knots.index()];
        }
        Some(WeightDriver::Point { space, parameters: [x, y], point }) => {
            drive.kind |= DRIVE_POINT;
            (drive.parameter_x, drive.parameter_y) = (x as u32, y as u32);
            (drive.table, drive.point) = (packed.blend_spaces[space.index()].table, point as u32);
        }
        None => {}
    }
    Some(drive)
}

/// The record of a layer whose time is driven, before its drive.
fn pack_driven_time(clip: &PackedClip) -> LayerRecord {
    let whole = Playback::new(WrapMode::Normal, Ticks(0), 0.0);
    LayerRecord { clock: CLOCK_DRIVEN, ..pack_playback(clip.offset, clip.duration, &whole) }
}

/// The whole clip as one span.
fn whole(clip: &PackedClip) -> SyncMark {
    sync_mark(0, time_unit(clip.duration).map_or(0, |unit| units(clip.duration, unit)))
}

/// A goal that does nothing.
const NO_GOAL: GoalRecord = GoalRecord { chain: NONE, parameters: 0, x: 0, y: 0, z: 0, weight: 0 };

/// Appends the goals of a checked instance, filled up to `count`.
pub(crate) fn pack_goals(packed: &PackedLibrary, goals: &[Goal], count: usize, records: &mut Vec<GoalRecord>) {
    let filled = goals.iter().map(|goal| pack_goal(packed, goal).unwrap_or(NO_GOAL));
    records.extend(filled.chain(std::iter::repeat(NO_GOAL)).take(count));
}

/// The record of a goal; `None` if the library does not have its chain.
fn pack_goal(packed: &PackedLibrary, goal: &Goal) -> Option<GoalRecord> {
    let chain = packed.chains.get(goal.chain.index())?.offset;
    let (by_parameters, [x, y, z]) = match goal.target {
        GoalTarget::Point(point) => (0, point.map(|number| (number as f32).to_bits())),
        GoalTarget::Parameters(indices) => (GOAL_TARGET, indices.map(|index| index as u32)),
    };
    let (by_parameter, weight) = match goal.weight {
        GoalWeight::Fixed(weight) => (0, (weight as f32).to_bits()),
        GoalWeight::Parameter(index) => (GOAL_WEIGHT, index as u32),
    };
    Some(GoalRecord { chain, parameters: by_parameters | by_parameter, x, y, z, weight })
}
