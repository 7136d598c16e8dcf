//! One instance of several layers, or of one that needs mixing, as in `shaders/pose_layers.wgsl`.

use glam::Vec4;

use crate::cpu::blend::{self, Share};
use crate::cpu::joints;
use crate::cpu::mixer::Weight;
use crate::cpu::phase::{self, Time};
use crate::cpu::plan::Plan;
use crate::cpu::pose::{Place, Scratch, Source, finish};
use crate::cpu::sampler::Sampler;
use crate::cpu::search::Span;
use crate::cpu::simd::Lanes;
use crate::pack::OutputLayout;
use crate::pack::record::{
    ClipRecord, LAYER_ADD_FIRST, LAYER_BLEND, LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_MODE, LAYER_SMOOTH_IN,
    LAYER_SMOOTH_OUT, LayerRecord, NONE, VALUE_NUMBER, VALUE_ROTATION, VALUE_ROTATION_REST,
};

/// A layer at a tick.
struct Played<'a> {
    /// LayerRecord weight x ramp.
    weight: f32,
    mode: u32,
    /// A weight a joint; empty for 1.
    mask: &'a [f32],
    plan: &'a Plan,
    sampler: Sampler<'a>,
    /// Where what an additive layer is compared to lies, its clip at time 0; without, it is the rest pose.
    reference: Option<&'a [Span]>,
}

/// Poses an instance.
#[inline(always)]
pub fn pose<L: Lanes>(
    source: Source,
    layers: &[LayerRecord],
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    mut to: Place,
) {
    let mut spans = std::mem::take(&mut scratch.spans);
    spans.clear();
    let weighed = weigh(source, layers, now, &mut spans);
    let played: Vec<Played> = weighed.iter().map(|weighed| weighed.play(source, &spans)).collect();
    pose_values(source, &played, layout, to.values);
    if layout.has_joints() {
        mix_joints::<L>(source, &played, scratch);
        finish::<L>(source, layout, scratch, &mut to);
    }
    scratch.spans = spans;
}

/// A layer that has a weight, and where its spans begin, and those of its reference.
struct Weighed<'a> {
    layer: &'a LayerRecord,
    weight: f32,
    clip: ClipRecord,
    places: [usize; 2],
}

fn weigh<'a>(source: Source, layers: &'a [LayerRecord], now: i64, spans: &mut Vec<Span>) -> Vec<Weighed<'a>> {
    let mut weighed = Vec::with_capacity(layers.len());
    for layer in layers {
        let weight = layer.weight * ramp(layer, now);
        if weight > 0.0 {
            let clip: ClipRecord = source.packing.arrays.record(layer.clip);
            let first = spans.len();
            source.search_all(&clip, phase::of_layer(layer, &clip, now), spans);
            let second = spans.len();
            if layer.mode & LAYER_MODE == LAYER_ADD_FIRST {
                source.search_all(&clip, Time { high: 0.0, low: 0.0 }, spans);
            }
            weighed.push(Weighed { layer, weight, clip, places: [first, second] });
        }
    }
    weighed
}

impl Weighed<'_> {
    fn play<'a>(&self, source: Source<'a>, spans: &'a [Span]) -> Played<'a> {
        let mask = match self.layer.mask {
            NONE => &[],
            mask => &source.packing.arrays.words[mask as usize..][..source.skeleton.record.joint_count as usize],
        };
        let mode = self.layer.mode & LAYER_MODE;
        let [own, reference] = self.places;
        Played {
            weight: self.weight,
            mode,
            mask: bytemuck::cast_slice(mask),
            plan: source.plan(self.layer.clip),
            sampler: source.sampler(&self.clip, &spans[own..]),
            reference: (mode == LAYER_ADD_FIRST).then(|| &spans[reference..]),
        }
    }
}

/// Mixes all joints.
#[inline(always)]
fn mix_joints<L: Lanes>(source: Source, played: &[Played], scratch: &mut Scratch) {
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
    fn weight(&self) -> Weight<'a> {
        Weight { layer: self.weight, mask: self.mask }
    }
}

/// The shares of layers in one thing, of a joint, which masks weigh, or of none.
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

/// Mixes the morph weights and properties that are wanted, number by number, but rotations whole.
fn pose_values(source: Source, played: &[Played], layout: &OutputLayout, to: &mut [f32]) {
    if layout.values == 0 {
        return;
    }
    let skeleton = &source.skeleton.record;
    let rest_clip: ClipRecord = source.packing.arrays.record(skeleton.rest_clip);
    let rest = source.sampler(&rest_clip, &[]);
    let mut at_rest = vec![0.0; (skeleton.weight_count + skeleton.property_width) as usize];
    for channel in rest.value_channels() {
        rest.value(channel, &mut at_rest[channel.output as usize..]);
    }
    let mut made = [0.0; 64];
    for number in layout.first_value..layout.first_value + layout.values {
        let kind = source.packing.arrays.words[skeleton.value_kinds as usize + number];
        let at = number - layout.first_value;
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
                to[at..at + 4].copy_from_slice(&blend::rotation(rest, &shares).to_array());
            }
            kind => {
                let rest = Vec4::splat(at_rest[number]);
                let joint = (kind != VALUE_NUMBER).then_some(kind as usize);
                let made = std::cell::RefCell::new(&mut made);
                let sample = |sampler: &Sampler| {
                    let (channel, place) = sampler.value_channel(number)?;
                    let mut made = made.borrow_mut();
                    sampler.value(channel, &mut made[..]);
                    Some(Vec4::splat(made[place]))
                };
                let shares = shares(played, joint, rest, sample);
                to[at] = blend::numbers(rest, &shares).x;
            }
        }
    }
}

/// The part of a layer's weight that its fades leave, 0 to 1.
pub fn ramp(layer: &LayerRecord, now: i64) -> f32 {
    let bit = |bit: u32| layer.mode & bit != 0;
    let start = |low: u32, high: u32| i64::from(high as i32) << 32 | i64::from(low);
    let mut ramp = 1.0;
    if bit(LAYER_FADES_IN) {
        let gone = now.wrapping_sub(start(layer.fade_in_low, layer.fade_in_high));
        ramp *= fade(gone, layer.fade_in_length, bit(LAYER_SMOOTH_IN));
    }
    if bit(LAYER_FADES_OUT) {
        let gone = now.wrapping_sub(start(layer.fade_out_low, layer.fade_out_high));
        ramp *= 1.0 - fade(gone, layer.fade_out_length, bit(LAYER_SMOOTH_OUT));
    }
    ramp
}

/// How far a fade is so many ticks after its start, 0 to 1.
fn fade(gone: i64, length: f32, smooth: bool) -> f32 {
    let gone = gone as f32;
    let k = match length {
        _ if gone < 0.0 => 0.0,
        0.0 => 1.0,
        length => (gone / length).min(1.0),
    };
    if smooth { k * k * (3.0 - 2.0 * k) } else { k }
}
