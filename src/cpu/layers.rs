//! One instance of several layers, or of one that needs mixing, as in `shaders/pose_layers.wgsl`.

use glam::Vec4;

use crate::cpu::blend::{self, Share};
use crate::cpu::phase::{self, Time};
use crate::cpu::pose::{Place, Scratch, Source, finish, search_all};
use crate::cpu::sampler::Sampler;
use crate::pack::library::Packing;
use crate::pack::outputs::Layout;
use crate::pack::record::{
    Clip, LAYER_ADD_FIRST, LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_MODE, LAYER_SMOOTH_IN, LAYER_SMOOTH_OUT, Layer, NONE,
    VALUE_NUMBER, VALUE_ROTATION, VALUE_ROTATION_REST,
};

/// A layer at a tick.
struct Played<'a> {
    /// Layer weight x ramp.
    weight: f32,
    mode: u32,
    /// A weight a joint; empty for 1.
    mask: &'a [f32],
    sampler: Sampler<'a>,
    /// What an additive layer is compared to: its clip at time 0, or, without, the rest pose.
    reference: Option<Sampler<'a>>,
}

/// Poses an instance.
pub fn pose(
    packing: &Packing,
    source: Source,
    layers: &[Layer],
    now: i64,
    layout: &Layout,
    scratch: &mut Scratch,
    mut to: Place,
) {
    let skeleton = &source.skeleton.record;
    let weighed: Vec<(&Layer, f32, Clip)> = layers
        .iter()
        .map(|layer| (layer, layer.weight * ramp(layer, now)))
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(layer, weight)| (layer, weight, packing.arrays.record(layer.clip)))
        .collect();
    // Where the spans of each layer begin, then those of its reference.
    let mut places = Vec::with_capacity(weighed.len());
    scratch.spans.clear();
    for (layer, _, clip) in &weighed {
        let first = scratch.spans.len();
        search_all(source, clip, phase::of_layer(layer, clip, now), &mut scratch.spans);
        let second = scratch.spans.len();
        if layer.mode & LAYER_MODE == LAYER_ADD_FIRST {
            search_all(source, clip, Time { high: 0.0, low: 0.0 }, &mut scratch.spans);
        }
        places.push((first, second));
    }
    let arrays = (source.words, source.values);
    let sampler = |clip: &Clip, first: usize| {
        Sampler::new(arrays, &packing.interpolators, skeleton, clip, &scratch.spans[first..])
    };
    let played = |((layer, weight, clip), (first, second)): (&(&Layer, f32, Clip), &(usize, usize))| {
        let mask = match layer.mask {
            NONE => &[],
            mask => &source.words[mask as usize..(mask + skeleton.joint_count) as usize],
        };
        let mode = layer.mode & LAYER_MODE;
        let reference = (mode == LAYER_ADD_FIRST).then(|| sampler(clip, *second));
        Played { weight: *weight, mode, mask: bytemuck::cast_slice(mask), sampler: sampler(clip, *first), reference }
    };
    let played: Vec<Played> = weighed.iter().zip(&places).map(played).collect();

    pose_values(packing, source, &played, layout, to.values);
    let joints = skeleton.joint_count as usize;
    let rest = &source.values[skeleton.rest as usize..skeleton.rest as usize + 3 * joints];
    let part = |part: usize, joint: usize| {
        let rest = rest[part * joints + joint];
        let shares = shares(&played, Some(joint), rest, |sampler| sampler.part(part, joint));
        if part == 1 { blend::rotation(rest, &shares) } else { blend::numbers(rest, &shares, part == 2) }
    };
    finish(source, layout, &mut scratch.matrices, &mut to, part);
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
        let reference = layer.reference.as_ref().and_then(&sample).unwrap_or(rest);
        Some(Share { weight, mode: layer.mode, value, reference })
    };
    played.iter().filter_map(share).collect()
}

/// Mixes the morph weights and properties that are wanted, number by number, but rotations whole.
fn pose_values(packing: &Packing, source: Source, played: &[Played], layout: &Layout, to: &mut [f32]) {
    if layout.values == 0 {
        return;
    }
    let skeleton = &source.skeleton.record;
    let rest_clip: Clip = packing.arrays.record(skeleton.rest_clip);
    let rest = Sampler::new((source.words, source.values), &[], skeleton, &rest_clip, &[]);
    let mut at_rest = vec![0.0; (skeleton.weight_count + skeleton.property_width) as usize];
    for channel in rest.value_channels() {
        rest.value(channel, &mut at_rest[channel.output as usize..]);
    }
    let mut made = [0.0; 64];
    for number in layout.first_value..layout.first_value + layout.values {
        let kind = source.words[skeleton.value_kinds as usize + number];
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
                to[at] = blend::numbers(rest, &shares, false).x;
            }
        }
    }
}

/// The part of a layer's weight that its fades leave, 0 to 1.
pub fn ramp(layer: &Layer, now: i64) -> f32 {
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
