//! The layers of an instance, sampled and mixed, as in `shaders/pose/pose_layers.wgsl`.

use glam::Vec4;

use crate::cpu::block::joints;
use crate::cpu::block::mixer::Weight;
use crate::cpu::plan::Plan;
use crate::cpu::simd::Lanes;
use crate::cpu::source::{Scratch, Source};
use crate::cpu::stages::blend::{self, Share, ramp};
use crate::cpu::stages::phase::{self, Time};
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::Span;
use crate::pack::OutputLayout;
use crate::pack::record::{
    ClipRecord, LAYER_ADD_FIRST, LAYER_BLEND, LAYER_MODE, LayerRecord, NONE, VALUE_NUMBER, VALUE_ROTATION,
    VALUE_ROTATION_REST,
};

/// A layer at a tick.
pub struct Played<'a> {
    /// Weight of the record x ramp.
    weight: f32,
    mode: u32,
    /// One weight per joint. Empty: 1.
    mask: &'a [f32],
    plan: &'a Plan,
    sampler: Sampler<'a>,
    /// The spans of the clip at time 0, with which an additive layer is compared. None: it is compared with the rest pose.
    reference: Option<&'a [Span]>,
}

/// A layer with a weight above 0, and the indices of its first span and of the first span of its reference.
pub struct Weighed<'a> {
    layer: &'a LayerRecord,
    weight: f32,
    clip: ClipRecord,
    first_span: usize,
    first_reference_span: usize,
}

/// Finds the weights of all layers, and the spans of those with a weight above 0.
pub fn weigh<'a>(source: Source, layers: &'a [LayerRecord], now: i64, spans: &mut Vec<Span>) -> Vec<Weighed<'a>> {
    let mut weighed = Vec::with_capacity(layers.len());
    for layer in layers {
        let weight = layer.weight * ramp(layer, now);
        if weight > 0.0 {
            let clip: ClipRecord = source.library.arrays.record(layer.clip);
            let first_span = spans.len();
            source.search_all(&clip, phase::of_layer(layer, &clip, now), spans);
            let first_reference_span = spans.len();
            if layer.mode & LAYER_MODE == LAYER_ADD_FIRST {
                source.search_all(&clip, Time { high: 0.0, low: 0.0 }, spans);
            }
            weighed.push(Weighed { layer, weight, clip, first_span, first_reference_span });
        }
    }
    weighed
}

impl Weighed<'_> {
    /// The layer with the sampler of its clip. `spans` are those of all layers.
    pub fn play<'a>(&self, source: Source<'a>, spans: &'a [Span]) -> Played<'a> {
        let mask = match self.layer.mask {
            NONE => &[],
            mask => &source.library.arrays.words[mask as usize..][..source.skeleton.record.joint_count as usize],
        };
        let mode = self.layer.mode & LAYER_MODE;
        Played {
            weight: self.weight,
            mode,
            mask: bytemuck::cast_slice(mask),
            plan: source.plan(self.layer.clip),
            sampler: source.sampler(&self.clip, &spans[self.first_span..]),
            reference: (mode == LAYER_ADD_FIRST).then(|| &spans[self.first_reference_span..]),
        }
    }
}

/// Samples and mixes all joints of all layers.
#[inline(always)]
pub fn mix_joints<L: Lanes>(source: Source, played: &[Played], scratch: &mut Scratch) {
    let Scratch { parts, reference, mixer, .. } = scratch;
    let (rest, joints) = (source.rest(), source.skeleton.record.joint_count as usize);
    mixer.clear(joints);
    for layer in played.iter().filter(|layer| layer.mode == LAYER_BLEND) {
        joints::sample::<L>(layer.plan, &layer.sampler, rest, parts);
        mixer.add::<L>(layer.plan, layer.weight(), parts);
    }
    mixer.mean::<L>(joints, rest);
    for layer in played.iter().filter(|layer| layer.mode != LAYER_BLEND) {
        joints::sample::<L>(layer.plan, &layer.sampler, rest, parts);
        let mut compared = rest;
        if let Some(spans) = layer.reference {
            joints::sample::<L>(layer.plan, &layer.sampler.at(spans), rest, reference);
            compared = [&reference.0[0], &reference.0[1], &reference.0[2]];
        }
        mixer.over(layer.plan, layer.mode, layer.weight(), parts, compared);
    }
    mixer.swap(parts);
}

impl<'a> Played<'a> {
    /// The weight of the layer at each joint.
    fn weight(&self) -> Weight<'a> {
        Weight { layer: self.weight, mask: self.mask }
    }
}

/// The shares of all layers in one value. If the value belongs to a joint, masks weigh it.
fn shares(
    played: &[Played],
    joint: Option<usize>,
    rest: Vec4,
    sample: impl Fn(&Sampler) -> Option<Vec4>,
) -> Vec<Share> {
    let share = |layer: &Played| {
        let mask = joint.and_then(|joint| layer.mask.get(joint)).unwrap_or(&1.0);
        let weight = layer.weight * mask;
        if weight <= 0.0 {
            return None;
        }
        let value = sample(&layer.sampler)?;
        let reference = layer.reference.and_then(|spans| sample(&layer.sampler.at(spans))).unwrap_or(rest);
        Some(Share { weight, mode: layer.mode, value, reference })
    };
    played.iter().filter_map(share).collect()
}

/// Mixes the requested morph weights and properties: each number by itself, rotations as a whole.
pub fn mix_values(source: Source, played: &[Played], layout: &OutputLayout, to: &mut [f32]) {
    if layout.values == 0 {
        return;
    }
    let skeleton = &source.skeleton.record;
    let rest_clip: ClipRecord = source.library.arrays.record(skeleton.rest_clip);
    let rest = source.sampler(&rest_clip, &[]);
    let mut at_rest = vec![0.0; (skeleton.weight_count + skeleton.property_width) as usize];
    for channel in rest.value_channels() {
        rest.value(channel, &mut at_rest[channel.output as usize..]);
    }
    let mut numbers = [0.0; 64];
    for number in layout.first_value..layout.first_value + layout.values {
        let kind = source.library.arrays.words[skeleton.value_kinds as usize + number];
        let output = number - layout.first_value;
        match kind {
            VALUE_ROTATION_REST => {}
            VALUE_ROTATION => {
                let rest = Vec4::from_slice(&at_rest[number..]);
                let sample = |sampler: &Sampler| {
                    let (channel, _) = sampler.value_channel(number)?;
                    let mut rotation = [0.0; 4];
                    sampler.value(channel, &mut rotation);
                    Some(Vec4::from_array(rotation))
                };
                let shares = shares(played, None, rest, sample);
                to[output..output + 4].copy_from_slice(&blend::rotation(rest, &shares).to_array());
            }
            kind => {
                let rest = Vec4::splat(at_rest[number]);
                let joint = (kind != VALUE_NUMBER).then_some(kind as usize);
                let sampled = std::cell::RefCell::new(&mut numbers);
                let sample = |sampler: &Sampler| {
                    let (channel, index) = sampler.value_channel(number)?;
                    let mut sampled = sampled.borrow_mut();
                    sampler.value(channel, &mut sampled[..]);
                    Some(Vec4::splat(sampled[index]))
                };
                let shares = shares(played, joint, rest, sample);
                to[output] = blend::numbers(rest, &shares).x;
            }
        }
    }
}
