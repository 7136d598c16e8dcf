//! The layers of an instance, sampled and mixed, as in `shaders/pose/pose_layers.wgsl`.

use glam::Vec4;

use crate::cpu::block::joints::{self, Parts, RunSampling};
use crate::cpu::block::mixer::{Adding, JointRange};
use crate::cpu::block::sampling::Sampling;
use crate::cpu::scratch::Scratch;
use crate::cpu::simd::Lanes;
use crate::cpu::source::{ClipSource, Source};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::phase::Time;
use crate::model::Crowd;
use crate::pack::record::{
    BLEND_LEAST, BLEND_SMALLEST_SCALE, ClipRecord, LAYER_ADD_FIRST, LAYER_BLEND, LAYER_MODE, LAYER_OVERRIDE,
    LayerRecord, NONE,
};

/// Calls of [`Ahead::request`](crate::cpu::prefetch::Ahead::request) per layer with a weight above 0.
pub const REQUESTS_PER_LAYER: usize = 2;

/// The clip that was sampled last at each index of a layer, with the offset of its record: neighbouring instances often play the same.
#[derive(Default)]
pub struct LastClips<'a>([Option<(u32, ClipSource<'a>)>; Crowd::MAX_LAYERS]);

impl<'a> LastClips<'a> {
    /// The clip of a layer, by the offset of its record.
    #[inline(always)]
    fn get(&mut self, source: Source<'a>, layer: usize, offset: u32) -> &ClipSource<'a> {
        let last = &mut self.0[layer];
        if last.as_ref().is_some_and(|(last, _)| *last != offset) {
            *last = None;
        }
        &last.get_or_insert_with(|| (offset, source.clip(offset))).1
    }
}

/// Samples and mixes all joints of an instance of a group, whose weights and spans were found. `first` is the place of its first joint in
/// the parts of the group, `rest` the rest pose of the skeleton.
#[inline(always)]
pub fn mix_joints<'a, L: Lanes>(
    source: Source<'a>,
    rest: &[&'a [Vec4]; 3],
    clips: &mut LastClips<'a>,
    layers: &[LayerRecord],
    instance: usize,
    first: usize,
    scratch: &mut Scratch,
) {
    let joints = source.skeleton.record.joint_count as usize;
    let range = JointRange { first, joints };
    let arrays = &source.library.arrays;
    let Scratch { layered, ahead, parts, sampled, mixer, scattered, decoded, .. } = scratch;
    let found = layered.instance(instance);
    let blends = |&index: &usize| layers[index].mode & LAYER_MODE == LAYER_BLEND;
    let blended = found.active().filter(blends);
    let above = found.active().filter(|index| !blends(index));
    let blended_count = blended.clone().count();
    let sum: f32 = blended.clone().map(|index| found.weight(index)).sum();
    let blend = Blend::choose(source, blended.clone().map(|index| &layers[index]), sum);
    if blend == Blend::PerJoint {
        mixer.clear(range, parts);
    }
    // The share of the lowest layer, until others are added to it.
    let mut below = 1.0;
    let mut uniform_count = 0;
    let mut needs_mean = blend == Blend::PerJoint;
    // The last round has no layer.
    for index in blended.chain(above).map(Some).chain([None]) {
        let is_blended = index.as_ref().is_some_and(blends);
        if !is_blended && needs_mean {
            mixer.mean::<L>(range, rest, parts);
            needs_mean = false;
        }
        let Some(index) = index else { break };
        let (layer, weight) = (&layers[index], found.weight(index));
        let is_lowest = is_blended && blend == Blend::Uniform && uniform_count == 0;
        let (to, first) = if is_lowest { (&mut *parts, first) } else { (&mut *sampled, 0) };
        let clip = clips.get(source, index, layer.clip);
        let decoded = decoded.of::<L>(&arrays.words, layer.clip, clip.plan, layers.len());
        let spans = found.spans(index);
        let (slerp_weights, first_lane) = found.slerp_weights(index);
        let (first_spans, stride) = (&[0], 0);
        let sampling = Sampling { clip, spans, first_spans, rest, first, stride, slerp_weights, first_lane };
        ahead.request(arrays);
        L::call(RunSampling { sampling: &sampling, decoded, scattered, to });
        scattered.finish::<L>(&mut to.0[TransformPart::Rotation as usize]);
        joints::sample_root(&clip.sampler, spans, rest, first, to);
        ahead.request(arrays);
        match (layer.mode & LAYER_MODE, blend) {
            (LAYER_BLEND, Blend::Uniform) => {
                if uniform_count > 0 {
                    let (is_second, is_last) = (uniform_count == 1, uniform_count + 1 == blended_count);
                    let adding = Adding { below, weight: weight / sum, is_second, is_last };
                    mixer.add::<L>(range, adding, sampled, parts);
                }
                below = if uniform_count == 0 { weight / sum } else { 1.0 };
                uniform_count += 1;
            }
            (LAYER_BLEND, Blend::PerJoint) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                mixer.add_weighed::<L>(range, sampled, parts);
            }
            (LAYER_OVERRIDE, _) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                mixer.override_with::<L>(range, sampled, parts);
            }
            (mode, _) => {
                mixer.set_weights(clip.plan, weight, source.mask(layer));
                let compared = &clip.plan.references[usize::from(mode != LAYER_ADD_FIRST)];
                let reference = compared.get_or_init(|| Box::new(additive_reference(source, layer, mode)));
                mixer.add_difference::<L>(range, sampled, reference, parts);
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
    fn choose<'a>(source: Source, mut layers: impl Iterator<Item = &'a LayerRecord>, sum: f32) -> Self {
        let Some(lowest) = layers.next() else { return Self::PerJoint };
        let animated = |layer: &LayerRecord| &source.plan(layer.clip).animated;
        let is_like_lowest = |layer: &LayerRecord| {
            layer.mask == NONE && (layer.clip == lowest.clip || animated(layer) == animated(lowest))
        };
        let is_uniform = lowest.mask == NONE && sum >= BLEND_LEAST && sum.is_finite() && layers.all(is_like_lowest);
        if is_uniform { Self::Uniform } else { Self::PerJoint }
    }
}

/// The parts that an additive layer is compared with, with inverse scales; 0 for scales too small to divide by.
#[cold]
fn additive_reference(source: Source, layer: &LayerRecord, mode: u32) -> Parts {
    let clip: ClipRecord = source.library.arrays.record(layer.clip);
    let mut spans = Vec::new();
    source.search_all(&clip, Time { high: 0.0, low: 0.0 }, &mut spans);
    let (sampler, rest) = (source.sampler(&clip, &spans), source.rest());
    let joints = source.skeleton.record.joint_count as usize;
    let mut parts = Parts::default();
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
