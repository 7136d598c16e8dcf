//! A group of instances: from ticks to skin matrices, stage by stage, as in `shaders/pose/pose.wgsl`.

use crate::cpu::abreast;
use crate::cpu::block::group_layers::GroupLayers;
use crate::cpu::block::joints::{Parts, RunSampling};
use crate::cpu::block::layers::{LastClips, REQUESTS_PER_LAYER, mix_joints};
use crate::cpu::block::sampling::Sampling;
use crate::cpu::block::search::{GroupSpans, have_one_clip};
use crate::cpu::block::skin::{LocalTransforms, ModelMatrices, Skinning};
use crate::cpu::block::{hierarchy, joints, skin};
use crate::cpu::portion::Displacements;
use crate::cpu::scratch::Scratch;
use crate::cpu::simd::{Kernel, Lanes};
use crate::cpu::source::{OutputSlices, Source};
use crate::cpu::stages::TransformPart;
use crate::cpu::values::{self, MixedValues};
use crate::pack::OutputLayout;
use crate::pack::record::{LayerRecord, NONE};

/// The most joints of skeletons whose instances are posed abreast. The matrices of larger ones do not fit the caches of a core.
const MOST_ABREAST: usize = 256;

/// Calls of [`Ahead::request`](crate::cpu::prefetch::Ahead::request) per instance that is posed alone.
const REQUESTS_PER_INSTANCE: usize = 3;

/// Samples instances of one layer each that need no mixing, whose keys were found. The stages of all instances follow one another, so that no
/// instance waits for the one before.
#[inline(always)]
pub fn sample<L: Lanes>(
    source: Source,
    layers: &[LayerRecord],
    layout: &OutputLayout,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let Scratch { found, parts, scattered, decoded, .. } = scratch;
    let arrays = &source.library.arrays;
    let stride = abreast::stride(source.skeleton.record.joint_count as usize);
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
        let decoded = decoded.of::<L>(&arrays.words, same[0].clip, clip.plan, 1);
        has_root |= clip.sampler.root_joint().is_some();
        let range = index..index + same.len();
        found.set_fractions(clip.plan, range.clone());
        found.weigh::<L>(clip.plan.turning.len());
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
        RunSampling { sampling: &sampling, decoded, scattered, to: parts }.run::<L>();
        index = range.end;
    }
    scattered.finish::<L>(&mut parts.0[TransformPart::Rotation as usize]);
    if has_root {
        for (index, (layer, first_span)) in layers.iter().zip(found.firsts).enumerate() {
            let sampler = &source.sampler(&arrays.record(layer.clip), &[]);
            joints::sample_root(sampler, &found.spans[first_span..], rest, index * stride, parts);
        }
    }
}

/// The sampling and mixing of instances of `layer_count` layers each, as in `shaders/pose/pose_layers.wgsl`.
pub struct Mixing<'a, 'b, 'c> {
    pub source: Source<'a>,
    pub layers: &'b [LayerRecord],
    pub layer_count: usize,
    /// The tick.
    pub now: i64,
    pub layout: &'b OutputLayout,
    pub scratch: &'b mut Scratch,
    pub to: &'b mut OutputSlices<'c>,
}

impl Kernel for Mixing<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { source, layers, layer_count, now, layout, scratch, to } = self;
        let stride = abreast::stride(source.skeleton.record.joint_count as usize);
        if layout.values > 0 || layout.has_joints() {
            scratch.layered.find::<L>(source, layers, layer_count, now);
        }
        if layout.values > 0 {
            let Scratch { layered, values, .. } = scratch;
            mix_values(source, layers.chunks(layer_count), layered, values, layout, to.values);
        }
        if layout.has_joints() {
            let (rest, mut clips) = (source.rest(), LastClips::default());
            for (instance, own) in layers.chunks(layer_count).enumerate() {
                if source.prefetches {
                    scratch.ahead.clear();
                    if let Some(next) = layers.chunks(layer_count).nth(instance + 1) {
                        scratch.ahead.add_layers(source, next, scratch.layered.instance(instance + 1));
                    }
                    scratch.ahead.share(REQUESTS_PER_LAYER * scratch.layered.instance(instance).active().count());
                }
                mix_joints::<L>(source, &rest, &mut clips, own, instance, instance * stride, scratch);
            }
        }
    }
}

/// Mixes the requested morph weights and properties of a group, whose weights and spans were found.
#[inline(never)]
fn mix_values<'a>(
    source: Source,
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

/// Displaces the instances of a group that are in a transition, as in `shaders/pose/displace.wgsl`.
#[inline(never)]
pub fn displace(
    source: Source,
    displaced: Displacements,
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let skeleton = &source.skeleton.record;
    let joints = skeleton.joint_count as usize;
    let stride = abreast::stride(joints);
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
pub struct Writing<'a, 'b, 'c> {
    pub source: Source<'a>,
    pub instances: usize,
    pub layout: &'b OutputLayout,
    pub scratch: &'b mut Scratch,
    pub to: OutputSlices<'c>,
}

impl Kernel for Writing<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { source, instances, layout, scratch, mut to } = self;
        let joints = source.skeleton.record.joint_count as usize;
        let stride = abreast::stride(joints);
        write_locals::<L>(source.past_caches, layout, stride, &scratch.parts, to.local);
        if !layout.has_matrices() {
            return;
        }
        if 2 * instances >= L::BLOCK && joints <= MOST_ABREAST {
            let Scratch { parts, abreast: memory, ahead, .. } = scratch;
            abreast::write_matrices::<L>(source, layout, instances, parts, memory, ahead, &mut to);
        } else {
            scratch.ahead.share(REQUESTS_PER_INSTANCE * instances);
            for (index, mut to) in to.chunks(layout, 1).take(instances).enumerate() {
                write_matrices::<L>(source, layout, index * stride, scratch, &mut to);
            }
        }
    }
}

/// Writes the local transforms of all instances.
#[inline(always)]
fn write_locals<L: Lanes>(past_caches: bool, layout: &OutputLayout, stride: usize, parts: &Parts, to: &mut [f32]) {
    for (index, to) in to.chunks_mut(layout.local.max(1)).enumerate() {
        let parts = parts.0.each_ref().map(|part| &part[index * stride..]);
        skin::matrices::<L, _>(LocalTransforms(parts), past_caches, to);
    }
}

/// Writes model and skin matrices of one instance. `first` is the place of its first joint in the parts of the group.
#[inline(always)]
fn write_matrices<L: Lanes>(
    source: Source,
    layout: &OutputLayout,
    first: usize,
    scratch: &mut Scratch,
    to: &mut OutputSlices,
) {
    let Scratch { parts, locals, models, ahead, .. } = scratch;
    let skeleton = &source.skeleton.record;
    ahead.request(&source.library.arrays);
    let joints = skeleton.joint_count as usize;
    let [translations, rotations, scales] = &parts.0;
    hierarchy::compose::<L>([&translations[first..], &rotations[first..], &scales[first..]], joints, locals);
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
    ahead.request(&source.library.arrays);
    hierarchy::walk::<L>(&source.skeleton.parents, locals, models);
    ahead.request(&source.library.arrays);
    skin::matrices::<L, _>(ModelMatrices(models), source.past_caches, to.model);
    let joints = &words[skeleton.skin_joints as usize..];
    let inverse_binds = values[skeleton.inverse_binds as usize..].as_chunks().0;
    let skinning = Skinning { joints, inverse_binds, models };
    skin::write::<L, _>(skinning, layout.skin_format, source.past_caches, to.skin);
}
