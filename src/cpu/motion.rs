//! What an instance moves by in a step, as in `shaders/motion.wgsl`.

use glam::Vec4;

use crate::cpu::blend::{self, Share};
use crate::cpu::layers::ramp;
use crate::cpu::phase::{self, Time};
use crate::cpu::pose::{Scratch, Source};
use crate::cpu::root_motion::Rigid;
use crate::model::Step;
use crate::pack::MOTION_NUMBERS;
use crate::pack::record::{CLOCK_PLAYS, ClipRecord, LAYER_MODE, LAYER_OVERRIDE, LayerRecord, NONE};

/// Writes what an instance moves by, where that is wanted.
pub fn write(source: Source, layers: &[LayerRecord], step: Step, scratch: &mut Scratch, to: &mut [f32]) {
    if to.len() != MOTION_NUMBERS {
        return;
    }
    let words = &source.packing.arrays.words;
    let mut moves = 0.0;
    let mut shares: Vec<(Share, Vec4)> = Vec::new();
    for layer in layers {
        let clip: ClipRecord = source.packing.arrays.record(layer.clip);
        if clip.root == NONE {
            continue;
        }
        moves = 1.0;
        let joint = words[clip.root as usize] as usize;
        let mask = if layer.mask == NONE { 1.0 } else { f32::from_bits(words[layer.mask as usize + joint]) };
        let (weight, mode) = (layer.weight * ramp(layer, step.to.0) * mask, layer.mode & LAYER_MODE);
        if weight > 0.0 && mode <= LAYER_OVERRIDE {
            let Rigid { translation, rotation } = of_layer(source, layer, &clip, step, scratch);
            shares.push((Share { weight, mode, value: translation, reference: Vec4::ZERO }, rotation));
        }
    }
    let translations: Vec<Share> = shares.iter().map(|(share, _)| *share).collect();
    let rotations: Vec<Share> =
        shares.iter().map(|(share, rotation)| Share { value: *rotation, reference: Vec4::W, ..*share }).collect();
    let translation = blend::numbers(Vec4::ZERO, &translations).truncate().extend(moves);
    to[..4].copy_from_slice(&translation.to_array());
    to[4..].copy_from_slice(&blend::rotation(Vec4::W, &rotations).to_array());
}

/// What a layer's clip moves by: `G(a)^-1 W^n G(b)`, with the named part `G` of its root joint, and the way `W` from the first
/// moment of what is played to the last, for each of the `n` times that it has jumped back to the first.
fn of_layer(source: Source, layer: &LayerRecord, clip: &ClipRecord, step: Step, scratch: &mut Scratch) -> Rigid {
    if layer.clock & CLOCK_PLAYS == 0 {
        return Rigid::IDENTITY;
    }
    let mut part = |time: Time| {
        scratch.spans.clear();
        source.search_all(clip, time, &mut scratch.spans);
        source.sampler(clip, &scratch.spans).root_part().unwrap_or(Rigid::IDENTITY)
    };
    let [from, to] = [step.from, step.to].map(|tick| phase::mark(layer, tick.0));
    let [before, after] = [from, to].map(|mark| part(phase::time(mark.position, clip)));
    let laps = to.laps - from.laps;
    if laps == 0 {
        return before.to(after);
    }
    let [first, last] = phase::ends(layer, clip).map(&mut part);
    before.to(last.multiply(first.inverse()).power(laps).multiply(after))
}
