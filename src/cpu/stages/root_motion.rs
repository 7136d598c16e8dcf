//! The root motion of an instance in a step, as in `shaders/root_motion.wgsl`.

use glam::Vec4;

use crate::cpu::stages::blend::{self, LayerShare, LayerShares};
use crate::cpu::stages::phase::{self, Time};
use crate::cpu::stages::root_joint::Rigid;
use crate::cpu::stages::sampler::Sampler;
use crate::cpu::stages::search::{self, KeySpan};
use crate::model::Step;
use crate::pack::record::{
    CLOCK_DRIVEN, CLOCK_PLAYS, ClipRecord, LAYER_MODE, LAYER_OVERRIDE, LayerRecord, NONE, SkeletonRecord,
};
use crate::pack::{MOTION_NUMBERS, PackedLibrary};

/// Writes the root motion of an instance. Does nothing if it is not requested: `to` is then empty.
pub fn write(
    library: &PackedLibrary,
    skeleton: &SkeletonRecord,
    layers: &[LayerRecord],
    step: Step,
    spans: &mut Vec<KeySpan>,
    to: &mut [f32],
) {
    if to.len() != MOTION_NUMBERS {
        return;
    }
    let words = &library.arrays.words;
    let mut moves = 0.0;
    let (mut translations, mut rotations) = (LayerShares::default(), LayerShares::default());
    for layer in layers {
        let clip: ClipRecord = library.arrays.record(layer.clip);
        if clip.root == NONE {
            continue;
        }
        moves = 1.0;
        let joint = words[clip.root as usize] as usize;
        let mask = if layer.mask == NONE { 1.0 } else { f32::from_bits(words[layer.mask as usize + joint]) };
        let (weight, mode) = (blend::weight(layer, step.to.0) * mask, layer.mode & LAYER_MODE);
        if weight > 0.0 && mode <= LAYER_OVERRIDE {
            let Rigid { translation, rotation } = layer_motion(library, skeleton, layer, &clip, step, spans);
            translations.push(LayerShare { weight, mode, value: translation, reference: Vec4::ZERO });
            rotations.push(LayerShare { weight, mode, value: rotation, reference: Vec4::W });
        }
    }
    let translation = blend::numbers(Vec4::ZERO, &translations).truncate().extend(moves);
    to[..4].copy_from_slice(&translation.to_array());
    to[4..].copy_from_slice(&blend::rotation(Vec4::W, &rotations).to_array());
}

/// The root motion of a layer in a step: `G(a)^-1 W^n G(b)`.
///
/// `G` is the part of the root joint that moves the instance, at the times `a` and `b` of the step. `W` is the movement
/// from the start to the end of the played part, and `n` the number of jumps from the end back to the start.
fn layer_motion(
    library: &PackedLibrary,
    skeleton: &SkeletonRecord,
    layer: &LayerRecord,
    clip: &ClipRecord,
    step: Step,
    spans: &mut Vec<KeySpan>,
) -> Rigid {
    if layer.clock & (CLOCK_PLAYS | CLOCK_DRIVEN) == 0 {
        return Rigid::IDENTITY;
    }
    let mut part = |time: Time| {
        spans.clear();
        search::all(&library.arrays, clip, time, spans);
        Sampler::new(library, skeleton, clip, spans).root_part().unwrap_or(Rigid::IDENTITY)
    };
    let [from, to] = match layer.clock & CLOCK_DRIVEN {
        0 => [step.from, step.to].map(|tick| phase::mark(layer, tick.0)),
        _ => phase::driven_marks(layer),
    };
    let [before, after] = [from, to].map(|mark| part(phase::time(mark.position, clip)));
    let loops = to.loops - from.loops;
    if loops == 0 {
        return before.to(after);
    }
    let [first, last] = phase::ends(layer, clip).map(&mut part);
    before.to(last.multiply(first.inverse()).power(loops).multiply(after))
}
