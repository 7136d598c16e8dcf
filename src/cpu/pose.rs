//! One instance: from ticks to skin matrices, stage by stage, as in `shaders/pose.wgsl`.

use glam::Vec4;

use crate::cpu::joints::{self, Parts};
use crate::cpu::mixer::Mixer;
use crate::cpu::phase::{self, Time};
use crate::cpu::plan::Plan;
use crate::cpu::sampler::Sampler;
use crate::cpu::search::{self, Span};
use crate::cpu::simd::{Lanes, Matrix};
use crate::cpu::{hierarchy, skin};
use crate::model::SkinFormat;
use crate::pack::NUMBERS;
use crate::pack::PackedSkeleton;
use crate::pack::record::{ClipRecord, LayerRecord, NONE, TimelineRecord};
use crate::pack::{OutputLayout, PackedLibrary};

/// Where an instance's results go: its own part of each output, empty where it is not wanted.
pub struct Place<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
    pub root_motion: &'a mut [f32],
}

/// A library as the stages read it, and one of its skeletons.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub packing: &'a PackedLibrary,
    pub skeleton: &'a PackedSkeleton,
    /// By the places of the clips' records, in order.
    pub plans: &'a [(u32, Plan)],
    /// Whether skin matrices are written past the caches.
    pub past_caches: bool,
}

/// Memory that one instance after the other uses.
#[derive(Default)]
pub struct Scratch {
    pub spans: Vec<Span>,
    pub parts: Parts,
    /// What an additive layer is compared to.
    pub reference: Parts,
    pub mixer: Mixer,
    /// The rows of the local matrices.
    locals: Parts,
    models: Vec<Matrix>,
}

impl Scratch {
    /// Makes room for an instance of a skeleton.
    pub fn resize(&mut self, joints: usize) {
        self.parts.resize(joints);
        self.reference.resize(joints);
        self.mixer.resize(joints);
        self.locals.resize(joints);
        self.models.resize(joints, Matrix::default());
    }
}

impl<'a> Source<'a> {
    /// What samples a clip whose keys were found.
    pub fn sampler(&self, clip: &ClipRecord, spans: &'a [Span]) -> Sampler<'a> {
        let arrays = &self.packing.arrays;
        let interpolators = &self.packing.interpolators;
        Sampler::new((&arrays.words, &arrays.values), interpolators, &self.skeleton.record, clip, spans)
    }

    /// How a clip's joints are sampled, by the place of its record.
    pub fn plan(&self, clip: u32) -> &'a Plan {
        let found = self.plans.binary_search_by_key(&clip, |(place, _)| *place);
        &self.plans[found.unwrap_or_default()].1
    }

    /// Translations, rotations and scales at rest, each with a block more.
    pub fn rest(&self) -> [&'a [Vec4]; 3] {
        let skeleton = &self.skeleton.record;
        let joints = skeleton.joint_count as usize;
        [0, 1, 2].map(|part| &self.packing.arrays.values[skeleton.rest as usize + part * joints..])
    }

    /// Finds the keys of all timelines of a clip.
    pub fn search_all(&self, clip: &ClipRecord, time: Time, spans: &mut Vec<Span>) {
        let arrays = &self.packing.arrays;
        let first = clip.timelines as usize;
        let records = &arrays.words[first..first + TimelineRecord::WORDS * clip.timeline_count as usize];
        let records = bytemuck::cast_slice::<u32, TimelineRecord>(records);
        spans.extend(records.iter().map(|timeline| search::timeline(&arrays.words, &arrays.values, timeline, time)));
    }
}

/// Poses an instance of one layer that needs no mixing.
#[inline(always)]
pub fn pose<L: Lanes>(
    source: Source,
    layer: &LayerRecord,
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    mut to: Place,
) {
    let clip: ClipRecord = source.packing.arrays.record(layer.clip);
    let time = phase::of_layer(layer, &clip, now);
    scratch.spans.clear();
    source.search_all(&clip, time, &mut scratch.spans);
    let sampler = source.sampler(&clip, &scratch.spans);
    if layout.values > 0 {
        for channel in sampler.value_channels() {
            let output = channel.output as usize;
            if (layout.first_value..layout.first_value + layout.values).contains(&output) {
                sampler.value(channel, &mut to.values[output - layout.first_value..]);
            }
        }
    }
    if layout.has_joints() {
        let Scratch { parts, .. } = scratch;
        joints::sample::<L>(source.plan(layer.clip), &sampler, source.rest(), parts);
        finish::<L>(source, layout, scratch, &mut to);
    }
}

/// From the parts of each joint to everything that is made of them.
#[inline(always)]
pub fn finish<L: Lanes>(source: Source, layout: &OutputLayout, scratch: &mut Scratch, to: &mut Place) {
    let Scratch { parts, locals, models, .. } = scratch;
    let skeleton = &source.skeleton.record;
    let joints = skeleton.joint_count as usize;
    for (joint, to) in to.local.as_chunks_mut::<NUMBERS>().0.iter_mut().enumerate() {
        for (part, to) in parts.0.iter().zip(to.as_chunks_mut::<4>().0) {
            *to = part[joint].to_array();
        }
    }
    if layout.model == 0 && layout.skin == 0 {
        return;
    }
    hierarchy::compose::<L>(parts, joints, locals);
    let (words, values) = (&source.packing.arrays.words, &source.packing.arrays.values);
    if skeleton.matrices != NONE {
        for (joint, &matrix) in words[skeleton.matrices as usize..][..joints].iter().enumerate() {
            if matrix != NONE {
                for (row, to) in locals.0.iter_mut().enumerate() {
                    to[joint] = values[matrix as usize + row];
                }
            }
        }
    }
    hierarchy::walk::<L>(&source.skeleton.parents, locals, models);
    for (to, model) in to.model.as_chunks_mut::<NUMBERS>().0.iter_mut().zip(models.iter()) {
        *to = *model.rows();
    }
    let skin_joints = &words[skeleton.skin_joints as usize..];
    let (inverse_binds, past_caches) = (&values[skeleton.inverse_binds as usize..], source.past_caches);
    match layout.skin_format {
        SkinFormat::Matrix => skin::matrices::<L>(skin_joints, inverse_binds, models, past_caches, to.skin),
        SkinFormat::HalfMatrix => skin::half_matrices::<L>(skin_joints, inverse_binds, models, past_caches, to.skin),
        SkinFormat::DualQuaternion => {
            skin::dual_quaternions::<L>(skin_joints, inverse_binds, models, past_caches, to.skin);
        }
    }
}
