//! A group of instances: from ticks to skin matrices, stage by stage, as in `shaders/pose/pose.wgsl`.
//!
//! A group is a block of instances of one skeleton. They are sampled ([`sample`]), or sampled and mixed layer by layer
//! ([`MixGroup`]), into translations, rotations and scales in the memory of the thread ([`Scratch`]). Transitions
//! ([`displace`]) and [`goals`](crate::cpu::goals) change these, and all outputs follow from them ([`WriteGroup`]): for
//! a group that is half full or more as a structure of arrays, otherwise one instance after the other.
//!
//! The kernels here are parts that [`Lanes::call`] runs, so that each has the registers for itself.

use glam::Vec4;

use crate::cpu::block::outputs::{self, LocalTransforms, ModelMatrices, OutputSlices, Skinning};
use crate::cpu::block::slerp::Arcs;
use crate::cpu::block::{JointParts, hierarchy};
use crate::cpu::goals::GoalScratch;
use crate::cpu::keys::decoded::DecodedClips;
use crate::cpu::keys::prefetch::Prefetcher;
use crate::cpu::keys::sampling::{self, RunSampling};
use crate::cpu::keys::search::{GroupLayers, GroupSpans, have_one_clip};
use crate::cpu::keys::source::{ClipSource, PackedSource, Sampling};
use crate::cpu::mixer::{Adding, Mixer};
use crate::cpu::simd::{Kernel, Lanes, Matrix, Token};
use crate::cpu::soa::{self, SoaScratch};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::decay::Displacements;
use crate::cpu::stages::phase::Time;
use crate::cpu::stages::search::{self, KeySpan};
use crate::cpu::values::{self, MixedValues};
use crate::model::Crowd;
use crate::pack::OutputLayout;
use crate::pack::record::{
    BLEND_MIN_WEIGHT, BLEND_SMALLEST_SCALE, ClipRecord, LAYER_ADD_FIRST, LAYER_BLEND, LAYER_MODE, LAYER_OVERRIDE,
    LayerRecord, NONE,
};

/// The most joints of skeletons whose instances are posed as a structure of arrays. With more, parts and matrices of a
/// group take more than 1.6 MB in the widest registers, and the caches of a core do not hold them.
const MAX_SOA_JOINTS: usize = 1024;

/// Calls of [`Prefetcher::request`] per layer with a weight above 0.
const REQUESTS_PER_LAYER: usize = 2;

/// Calls of [`Prefetcher::request`] per instance that is posed alone.
const REQUESTS_PER_INSTANCE: usize = 3;

/// Memory that the instances of a thread use one after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The spans of all timelines of the clips at work.
    pub spans: Vec<KeySpan>,
    /// The spans of a group of instances of one layer each that needs no mixing.
    pub found: GroupSpans,
    /// The weights and spans of a group of instances whose layers are mixed.
    pub layered: GroupLayers,
    /// The keys of the next group, or of the next instance where layers are mixed.
    pub prefetcher: Prefetcher,
    /// The parts of the joints of a group of instances, instance after instance.
    pub parts: JointParts,
    /// The sampled parts of the joints of a layer.
    pub sampled: JointParts,
    /// Rotations with separate keys.
    pub scattered: Arcs,
    pub mixer: Mixer,
    /// The morph weights and properties of an instance whose layers are mixed.
    pub values: MixedValues,
    /// The columns and rows of clips with quantized keys.
    pub decoded: DecodedClips,
    /// The rows of the local matrices.
    pub locals: JointParts,
    /// The model matrices.
    pub models: Vec<Matrix>,
    /// The memory of goals.
    pub reach: GoalScratch,
    /// The memory of instances that are posed as a structure of arrays.
    pub soa: SoaScratch,
}

impl Scratch {
    /// Memory for no joints.
    #[inline(never)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for groups of `instances` instances with `joints` joints.
    pub fn resize(&mut self, joints: usize, instances: usize) {
        self.parts.resize(instances * soa::stride(joints));
        self.sampled.resize(joints);
        self.mixer.resize(joints);
        self.locals.resize(joints);
        self.models.resize(joints, Matrix::default());
    }
}

/// Samples instances of one layer each that need no mixing, whose keys were found. The stages of all instances follow
/// one another, so that no instance waits for the one before.
#[inline(always)]
pub fn sample<L: Lanes>(
    token: Token<L>,
    source: PackedSource,
    layers: &[LayerRecord],
    layout: &OutputLayout,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let Scratch { found, parts, scattered, decoded, .. } = scratch;
    let arrays = &source.library.arrays;
    let stride = soa::stride(source.skeleton.record.joint_count as usize);
    if layout.values > 0 {
        values::sample(source, layers.iter().zip(found.firsts), &found.spans, layout, to.values);
    }
    if !layout.has_joints() {
        return;
    }
    let rest = &source.rest();
    let mut has_root = false;
    let mut index = 0;
    for same in layers.chunk_by(have_one_clip) {
        let clip = &source.clip(same[0].clip);
        let decoded = decoded.of(token, &arrays.words, same[0].clip, clip.plan, 1);
        has_root |= clip.sampler.root_joint().is_some();
        let range = index..index + same.len();
        found.set_fractions(clip.plan, range.clone());
        found.weigh(token, clip.plan.turning.len());
        let GroupSpans { spans, firsts: first_spans, slerp_weights } = &*found;
        let sampling = Sampling {
            clip,
            spans,
            first_spans: &first_spans[range.clone()],
            rest,
            first: range.start * stride,
            stride,
            slerp_weights,
            first_lane: range.start,
        };
        // Not a function of its own, which would cost small rigs some hundredths of their time.
        RunSampling { sampling: &sampling, decoded, scattered, to: parts }.run(token);
        index = range.end;
    }
    scattered.finish(token, &mut parts.0[TransformPart::Rotation as usize]);
    if has_root {
        for (index, (layer, first_span)) in layers.iter().zip(found.firsts).enumerate() {
            let sampler = &source.sampler(&arrays.record(layer.clip), &[]);
            sampling::sample_root(sampler, &found.spans[first_span..], rest, index * stride, parts);
        }
    }
}

/// The sampling and mixing of instances of `layer_count` layers each, as in `shaders/pose/pose_layers.wgsl`.
pub struct MixGroup<'a, 'b, 'c> {
    pub source: PackedSource<'a>,
    pub layers: &'b [LayerRecord],
    pub layer_count: usize,
    /// The tick.
    pub now: i64,
    pub layout: &'b OutputLayout,
    pub scratch: &'b mut Scratch,
    pub to: &'b mut OutputSlices<'c>,
}

impl Kernel for MixGroup<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { source, layers, layer_count, now, layout, scratch, to } = self;
        if layout.values > 0 || layout.has_joints() {
            scratch.layered.find(token, source, layers, layer_count, now);
        }
        if layout.values > 0 {
            let Scratch { layered, values, .. } = scratch;
            mix_values(source, layers.chunks(layer_count), layered, values, layout, to.values);
        }
        if layout.has_joints() {
            let (rest, mut clips) = (source.rest(), LastClips::default());
            for (instance, own) in layers.chunks(layer_count).enumerate() {
                if source.prefetches {
                    scratch.prefetcher.clear();
                    if let Some(next) = layers.chunks(layer_count).nth(instance + 1) {
                        scratch.prefetcher.add_layers(source, next, scratch.layered.instance(instance + 1));
                    }
                    scratch.prefetcher.share(REQUESTS_PER_LAYER * scratch.layered.instance(instance).active().count());
                }
                mix_joints(token, source, &rest, &mut clips, own, instance, scratch);
            }
        }
    }
}

/// Mixes the requested morph weights and properties of a group, whose weights and spans were found.
#[inline(never)]
fn mix_values<'a>(
    source: PackedSource,
    instances: impl Iterator<Item = &'a [LayerRecord]>,
    found: &GroupLayers,
    values: &mut MixedValues,
    layout: &OutputLayout,
    to: &mut [f32],
) {
    values.set_rest(source, layout);
    for ((instance, layers), to) in instances.enumerate().zip(to.chunks_mut(layout.values)) {
        values.mix(source, layers, found.instance(instance), layout, to);
    }
}

/// The clip that was sampled last at each index of a layer, with the offset of its record: neighbouring instances often
/// play the same.
#[derive(Default)]
struct LastClips<'a>([Option<(u32, ClipSource<'a>)>; Crowd::MAX_LAYERS]);

impl<'a> LastClips<'a> {
    /// The clip of a layer, by the offset of its record.
    #[inline(always)]
    fn get(&mut self, source: PackedSource<'a>, layer: usize, offset: u32) -> &ClipSource<'a> {
        let last = &mut self.0[layer];
        if last.as_ref().is_some_and(|(last, _)| *last != offset) {
            *last = None;
        }
        &last.get_or_insert_with(|| (offset, source.clip(offset))).1
    }
}

/// Samples and mixes all joints of an instance of a group, whose weights and spans were found. `rest` is the rest pose
/// of the skeleton.
#[inline(always)]
fn mix_joints<'a, L: Lanes>(
    token: Token<L>,
    source: PackedSource<'a>,
    rest: &[&'a [Vec4]; 3],
    clips: &mut LastClips<'a>,
    layers: &[LayerRecord],
    instance: usize,
    scratch: &mut Scratch,
) {
    let joints = source.skeleton.record.joint_count as usize;
    let place = instance * soa::stride(joints);
    let arrays = &source.library.arrays;
    let Scratch { layered, prefetcher, parts, sampled, mixer, scattered, decoded, .. } = scratch;
    let found = layered.instance(instance);
    let blends = |&index: &usize| layers[index].mode & LAYER_MODE == LAYER_BLEND;
    let blended = found.active().filter(blends);
    let above = found.active().filter(|index| !blends(index));
    let blended_count = blended.clone().count();
    let sum: f32 = blended.clone().map(|index| found.weight(index)).sum();
    let blend = Blend::choose(source, blended.clone().map(|index| &layers[index]), sum);
    if blend == Blend::PerJoint {
        mixer.clear(place, joints, parts);
    }
    // The share of the lowest layer, until others are added to it.
    let mut below = 1.0;
    let mut uniform_count = 0;
    let mut needs_mean = blend == Blend::PerJoint;
    // The last round has no layer.
    for index in blended.chain(above).map(Some).chain([None]) {
        let is_blended = index.as_ref().is_some_and(blends);
        if !is_blended && needs_mean {
            mixer.mean(token, place, joints, rest, parts);
            needs_mean = false;
        }
        let Some(index) = index else { break };
        let (layer, weight) = (&layers[index], found.weight(index));
        let is_lowest = is_blended && blend == Blend::Uniform && uniform_count == 0;
        let (to, first) = if is_lowest { (&mut *parts, place) } else { (&mut *sampled, 0) };
        let clip = clips.get(source, index, layer.clip);
        let decoded = decoded.of(token, &arrays.words, layer.clip, clip.plan, layers.len());
        let spans = found.spans(index);
        let (slerp_weights, first_lane) = found.slerp_weights(index);
        let (first_spans, stride) = (&[0], 0);
        let sampling = Sampling { clip, spans, first_spans, rest, first, stride, slerp_weights, first_lane };
        prefetcher.request(arrays);
        L::call(token, RunSampling { sampling: &sampling, decoded, scattered, to });
        scattered.finish(token, &mut to.0[TransformPart::Rotation as usize]);
        sampling::sample_root(&clip.sampler, spans, rest, first, to);
        prefetcher.request(arrays);
        match (layer.mode & LAYER_MODE, blend) {
            (LAYER_BLEND, Blend::Uniform) => {
                if uniform_count > 0 {
                    let (is_second, is_last) = (uniform_count == 1, uniform_count + 1 == blended_count);
                    let adding = Adding { below, weight: weight / sum, is_second, is_last };
                    mixer.add(token, place, joints, adding, sampled, parts);
                }
                below = if uniform_count == 0 { weight / sum } else { 1.0 };
                uniform_count += 1;
            }
            (LAYER_BLEND, Blend::PerJoint) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                mixer.add_weighed(token, place, joints, sampled, parts);
            }
            (LAYER_OVERRIDE, _) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                mixer.override_with(token, place, joints, sampled, parts);
            }
            (mode, _) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                let compared = &clip.plan.references[usize::from(mode != LAYER_ADD_FIRST)];
                let reference = compared.get_or_init(|| Box::new(additive_reference(source, layer, mode)));
                mixer.add_difference(token, place, joints, sampled, reference, parts);
            }
        }
    }
}

/// A way to blend layers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Blend {
    /// All layers have the same joints, and one weight for all of them.
    Uniform,
    /// Each joint has weights of its own.
    PerJoint,
}

impl Blend {
    /// The way for layers whose weights have this sum.
    #[inline]
    fn choose<'a>(source: PackedSource, mut layers: impl Iterator<Item = &'a LayerRecord>, sum: f32) -> Self {
        let Some(lowest) = layers.next() else { return Self::PerJoint };
        let animated = |layer: &LayerRecord| &source.plan(layer.clip).animated;
        let is_like_lowest = |layer: &LayerRecord| {
            layer.mask == NONE && (layer.clip == lowest.clip || animated(layer) == animated(lowest))
        };
        let is_uniform =
            lowest.mask == NONE && sum >= BLEND_MIN_WEIGHT && sum.is_finite() && layers.all(is_like_lowest);
        if is_uniform { Self::Uniform } else { Self::PerJoint }
    }
}

/// The parts that an additive layer is compared with, with inverse scales; 0 for scales too small to divide by.
#[cold]
fn additive_reference(source: PackedSource, layer: &LayerRecord, mode: u32) -> JointParts {
    let clip: ClipRecord = source.library.arrays.record(layer.clip);
    let mut spans = Vec::new();
    search::all(&source.library.arrays, &clip, Time { high: 0.0, low: 0.0 }, &mut spans);
    let (sampler, rest) = (source.sampler(&clip, &spans), source.rest());
    let joints = source.skeleton.record.joint_count as usize;
    let mut parts = JointParts::default();
    parts.resize(joints);
    for (part, (rest, to)) in TransformPart::ALL.into_iter().zip(rest.into_iter().zip(&mut parts.0)) {
        for (joint, (to, &rest)) in to[..joints].iter_mut().zip(rest).enumerate() {
            let start = if mode == LAYER_ADD_FIRST { sampler.part(part, joint) } else { None };
            *to = start.unwrap_or(rest);
            if part == TransformPart::Scale {
                let is_small = to.abs().cmplt(Vec4::splat(BLEND_SMALLEST_SCALE));
                *to = Vec4::select(is_small, Vec4::ZERO, to.recip());
            }
        }
    }
    parts
}

/// Displaces the instances of a group that are in a transition, as in `shaders/pose/displace.wgsl`.
#[inline(never)]
pub fn displace(
    source: PackedSource,
    displaced: Displacements,
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let skeleton = &source.skeleton.record;
    let joints = skeleton.joint_count as usize;
    let stride = soa::stride(joints);
    for (instance, displaced) in displaced.at(now) {
        let places = instance * stride..instance * stride + joints;
        if layout.has_joints() {
            displaced.joints(scratch.parts.0.each_mut().map(|part| &mut part[places.clone()]));
        }
        if layout.values > 0 {
            let first = skeleton.value_kinds as usize + layout.first_value;
            let kinds = &source.library.arrays.words[first..first + layout.values];
            let to = &mut to.values[instance * layout.values..(instance + 1) * layout.values];
            displaced.values(joints, layout.first_value, kinds, to);
        }
    }
}

/// The writing of the outputs that follow from the parts of joints: local transforms, model matrices and skin matrices.
pub struct WriteGroup<'a, 'b, 'c> {
    pub source: PackedSource<'a>,
    pub instances: usize,
    pub layout: &'b OutputLayout,
    pub scratch: &'b mut Scratch,
    pub to: OutputSlices<'c>,
}

impl Kernel for WriteGroup<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        let Self { source, instances, layout, scratch, mut to } = self;
        let joints = source.skeleton.record.joint_count as usize;
        let stride = soa::stride(joints);
        write_locals(token, source.past_caches, layout, stride, &scratch.parts, to.local);
        if !layout.has_matrices() {
            return;
        }
        if 2 * instances >= L::BLOCK && joints <= MAX_SOA_JOINTS {
            let Scratch { parts, soa: memory, prefetcher, .. } = scratch;
            soa::write_matrices(token, source, layout, parts, memory, prefetcher, &mut to);
        } else {
            scratch.prefetcher.share(REQUESTS_PER_INSTANCE * instances);
            for (index, mut to) in to.chunks(layout, 1).take(instances).enumerate() {
                write_matrices(token, source, layout, index * stride, scratch, &mut to);
            }
        }
    }
}

/// Writes the local transforms of all instances.
#[inline(always)]
fn write_locals<L: Lanes>(
    token: Token<L>,
    past_caches: bool,
    layout: &OutputLayout,
    stride: usize,
    parts: &JointParts,
    to: &mut [f32],
) {
    for (index, to) in to.chunks_mut(layout.local.max(1)).enumerate() {
        let parts = parts.0.each_ref().map(|part| &part[index * stride..]);
        outputs::matrices(token, LocalTransforms(parts), past_caches, to);
    }
}

/// Writes model and skin matrices of one instance. `first` is the place of its first joint in the parts of the group.
#[inline(always)]
fn write_matrices<L: Lanes>(
    token: Token<L>,
    source: PackedSource,
    layout: &OutputLayout,
    first: usize,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let Scratch { parts, locals, models, prefetcher, .. } = scratch;
    let skeleton = &source.skeleton.record;
    prefetcher.request(&source.library.arrays);
    let joints = skeleton.joint_count as usize;
    let [translations, rotations, scales] = &parts.0;
    hierarchy::compose(token, [&translations[first..], &rotations[first..], &scales[first..]], joints, locals);
    let (words, values) = (&source.library.arrays.words, &source.library.arrays.values);
    if skeleton.matrices != NONE {
        for (joint, &matrix) in words[skeleton.matrices as usize..][..joints].iter().enumerate() {
            if matrix != NONE {
                for (row, to) in locals.0.iter_mut().enumerate() {
                    to[joint] = values[matrix as usize + row];
                }
            }
        }
    }
    prefetcher.request(&source.library.arrays);
    hierarchy::walk(token, &source.skeleton.parents, locals, models);
    prefetcher.request(&source.library.arrays);
    outputs::matrices(token, ModelMatrices(models), source.past_caches, to.model);
    let joints = &words[skeleton.skin_joints as usize..];
    let inverse_binds = values[skeleton.inverse_binds as usize..].as_chunks().0;
    let skinning = Skinning { joints, inverse_binds, models };
    outputs::write(token, skinning, layout.skin_format, source.past_caches, to.skin);
}
