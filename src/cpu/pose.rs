//! One instance: from ticks to skin matrices, stage by stage, as in `shaders/pose/pose.wgsl`.

use crate::cpu::block::layers::{Played, mix_joints, mix_values, weigh};
use crate::cpu::block::skin::Skinning;
use crate::cpu::block::{hierarchy, joints, skin};
use crate::cpu::simd::Lanes;
use crate::cpu::source::{OutputSlices, Scratch, Source};
use crate::cpu::stages::phase;
use crate::model::SkinFormat;
use crate::pack::record::{ClipRecord, LayerRecord, NONE};
use crate::pack::{NUMBERS, OutputLayout};

/// Poses an instance of one layer that needs no mixing.
#[inline(always)]
pub fn pose<L: Lanes>(
    source: Source,
    layer: &LayerRecord,
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    mut to: OutputSlices,
) {
    let clip: ClipRecord = source.library.arrays.record(layer.clip);
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

/// Poses an instance of several layers, or of one layer that needs mixing, as in `shaders/pose/pose_layers.wgsl`.
#[inline(always)]
pub fn pose_layers<L: Lanes>(
    source: Source,
    layers: &[LayerRecord],
    now: i64,
    layout: &OutputLayout,
    scratch: &mut Scratch,
    mut to: OutputSlices,
) {
    let mut spans = std::mem::take(&mut scratch.spans);
    spans.clear();
    let weighed = weigh(source, layers, now, &mut spans);
    let played: Vec<Played> = weighed.iter().map(|weighed| weighed.play(source, &spans)).collect();
    mix_values(source, &played, layout, to.values);
    if layout.has_joints() {
        mix_joints::<L>(source, &played, scratch);
        finish::<L>(source, layout, scratch, &mut to);
    }
    scratch.spans = spans;
}

/// Writes all outputs that follow from the parts of the joints: local transforms, model matrices, skin matrices.
#[inline(always)]
fn finish<L: Lanes>(source: Source, layout: &OutputLayout, scratch: &mut Scratch, to: &mut OutputSlices) {
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
    hierarchy::walk::<L>(&source.skeleton.parents, locals, models);
    for (to, model) in to.model.as_chunks_mut::<NUMBERS>().0.iter_mut().zip(models.iter()) {
        *to = *model.rows();
    }
    let skin_joints = &words[skeleton.skin_joints as usize..];
    let inverse_binds = &values[skeleton.inverse_binds as usize..];
    let skinning = Skinning { joints: skin_joints, inverse_binds, models, past_caches: source.past_caches };
    match layout.skin_format {
        SkinFormat::Matrix => skin::matrices::<L>(skinning, to.skin),
        SkinFormat::HalfMatrix => skin::half_matrices::<L>(skinning, to.skin),
        SkinFormat::DualQuaternion => skin::dual_quaternions::<L>(skinning, to.skin),
    }
}
