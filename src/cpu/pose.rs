//! One instance: from ticks to skin matrices, stage by stage, as in `shaders/pose.wgsl`.

use glam::Vec4;

use crate::cpu::matrix::{Rows, compose, multiply};
use crate::cpu::phase::{self, Time};
use crate::cpu::search::{self, Span};
use crate::cpu::{hierarchy, quat, sample};
use crate::model::interpolator::Interpolator;
use crate::pack::library::{PackedSkeleton, Packing};
use crate::pack::outputs::{Layout, NUMBERS};
use crate::pack::record::{
    Channel, Clip, Layer, MODE_BITS, MODE_CONSTANT, MODE_CUSTOM, MODE_EULER, MODE_REST, MODE_SPLIT, NONE,
    SHAPE_ROTATION, Timeline, ValueChannel,
};

/// Where an instance's results go: its own part of each output, empty where it is not wanted.
pub struct Place<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
}

/// A library as the stages read it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub words: &'a [u32],
    pub values: &'a [Vec4],
    pub skeleton: &'a PackedSkeleton,
}

/// Memory that one instance after the other uses.
#[derive(Default)]
pub struct Scratch {
    spans: Vec<Span>,
    matrices: Vec<Rows>,
}

/// Poses an instance.
pub fn pose(
    packing: &Packing,
    source: Source,
    layer: &Layer,
    now: i64,
    layout: &Layout,
    scratch: &mut Scratch,
    to: Place,
) {
    let clip: Clip = packing.arrays.record(layer.clip);
    let time = phase::of_layer(layer, &clip, now);
    search_all(source, &clip, time, &mut scratch.spans);
    if layout.values > 0 {
        pose_values(packing, source, &clip, &scratch.spans, layout, to.values);
    }
    if layout.local > 0 || layout.model > 0 || layout.skin > 0 {
        pose_joints(source, &clip, scratch, to.local);
    }
    if layout.model > 0 || layout.skin > 0 {
        hierarchy::walk(&source.skeleton.parents, &mut scratch.matrices);
        for (to, matrix) in to.model.chunks_exact_mut(NUMBERS).zip(&scratch.matrices) {
            write(to, matrix);
        }
        pose_skin(source, &scratch.matrices, to.skin);
    }
}

/// Finds the keys of all timelines of the clip.
fn search_all(source: Source, clip: &Clip, time: Time, spans: &mut Vec<Span>) {
    let first = clip.timelines as usize;
    let records = &source.words[first..first + Timeline::WORDS * clip.timeline_count as usize];
    let records = bytemuck::cast_slice::<u32, Timeline>(records);
    spans.clear();
    spans.extend(records.iter().map(|timeline| search::timeline(source.words, source.values, timeline, time)));
}

/// Samples all joints, and leaves their local matrices.
fn pose_joints(source: Source, clip: &Clip, scratch: &mut Scratch, local: &mut [f32]) {
    let skeleton = &source.skeleton.record;
    let joints = skeleton.joint_count as usize;
    let first = clip.channels as usize;
    let channels = &source.words[first..first + 3 * Channel::WORDS * joints];
    let channels: &[Channel] = bytemuck::cast_slice(channels);
    let rest = &source.values[skeleton.rest as usize..skeleton.rest as usize + 3 * joints];
    let part = |part: usize, joint: usize| {
        let index = part * joints + joint;
        let Channel { values, sampler } = channels[index];
        let mode = sampler & ((1 << MODE_BITS) - 1);
        match mode {
            MODE_REST => rest[index],
            MODE_CONSTANT => source.values[values as usize],
            MODE_SPLIT.. => {
                let numbers = numbers(source, &scratch.spans, channels[index], mode & !MODE_EULER);
                if mode & MODE_EULER != 0 { quat::from_euler_angles(numbers) } else { numbers }
            }
            _ => {
                let span = &scratch.spans[(sampler >> MODE_BITS) as usize];
                let sampler = if part == 1 { sample::rotation } else { sample::numbers };
                sampler(source.values, values, mode, span)
            }
        }
    };
    scratch.matrices.clear();
    for joint in 0..joints {
        let [translation, rotation, scale] = [0, 1, 2].map(|index| part(index, joint));
        if !local.is_empty() {
            write(&mut local[NUMBERS * joint..NUMBERS * (joint + 1)], &[translation, rotation, scale]);
        }
        let matrix = match skeleton.matrices {
            NONE => NONE,
            matrices => source.words[matrices as usize + joint],
        };
        scratch.matrices.push(match matrix {
            NONE => compose(translation, rotation, scale),
            matrix => std::array::from_fn(|row| source.values[matrix as usize + row]),
        });
    }
}

/// Three numbers that are sampled together, or each by a channel of its own.
fn numbers(source: Source, spans: &[Span], channel: Channel, mode: u32) -> Vec4 {
    let span = |sampler: u32| &spans[(sampler >> MODE_BITS) as usize];
    if mode != MODE_SPLIT {
        return sample::numbers(source.values, channel.values, mode, span(channel.sampler));
    }
    let first = channel.values as usize;
    let singles: &[Channel] = bytemuck::cast_slice(&source.words[first..first + 3 * Channel::WORDS]);
    let single = |channel: &Channel| match channel.sampler & ((1 << MODE_BITS) - 1) {
        MODE_CONSTANT => source.values[channel.values as usize].x,
        mode => sample::numbers(source.values, channel.values, mode, span(channel.sampler)).x,
    };
    Vec4::new(single(&singles[0]), single(&singles[1]), single(&singles[2]), 0.0)
}

/// Samples the morph weights and properties that are wanted.
fn pose_values(packing: &Packing, source: Source, clip: &Clip, spans: &[Span], layout: &Layout, to: &mut [f32]) {
    let first = clip.value_channels as usize;
    let channels = &source.words[first..first + ValueChannel::WORDS * clip.value_channel_count as usize];
    for channel in bytemuck::cast_slice::<u32, ValueChannel>(channels) {
        let output = channel.output as usize;
        if output < layout.first_value || output >= layout.first_value + layout.values {
            continue;
        }
        let mode = channel.sampler & ((1 << MODE_BITS) - 1);
        let constant = Span::default();
        let span = if mode == MODE_CONSTANT { &constant } else { &spans[(channel.sampler >> MODE_BITS) as usize] };
        let at = output - layout.first_value;
        if mode == MODE_CUSTOM {
            custom(&*packing.interpolators[channel.shape as usize], source.values, channel.values, span, &mut to[at..]);
            continue;
        }
        let sampler = if channel.shape & SHAPE_ROTATION != 0 { sample::rotation } else { sample::numbers };
        let sampled = sampler(source.values, channel.values, mode, span).to_array();
        let count = (channel.shape & (SHAPE_ROTATION - 1)) as usize;
        to[at..at + count].copy_from_slice(&sampled[..count]);
    }
}

/// What an interpolator makes.
fn custom(interpolator: &dyn Interpolator, values: &[Vec4], at: u32, span: &Span, to: &mut [f32]) {
    let element = |key: u32| -> Vec<f64> {
        let numbers: &[f32] = bytemuck::cast_slice(&values[key as usize..]);
        numbers[..interpolator.width()].iter().map(|&number| f64::from(number)).collect()
    };
    let from = element(at + span.row);
    let mut result = vec![0.0; interpolator.result_width()];
    if span.interval == 0.0 {
        interpolator.no_lerp(&from, &mut result);
    } else {
        let to = element(at + span.row + span.next);
        interpolator.lerp(&from, &to, span.fraction.into(), span.interval.into(), &mut result);
    }
    to.iter_mut().zip(result).for_each(|(to, number)| *to = number as f32);
}

/// Model matrices times inverse bind matrices.
fn pose_skin(source: Source, matrices: &[Rows], to: &mut [f32]) {
    let skeleton = &source.skeleton.record;
    let joints = &source.words[skeleton.skin_joints as usize..];
    let inverse_binds = source.values[skeleton.inverse_binds as usize..].chunks_exact(3);
    for ((to, &joint), inverse_bind) in to.chunks_exact_mut(NUMBERS).zip(joints).zip(inverse_binds) {
        let inverse_bind = [inverse_bind[0], inverse_bind[1], inverse_bind[2]];
        write(to, &multiply(&matrices[joint as usize], &inverse_bind));
    }
}

fn write(to: &mut [f32], rows: &Rows) {
    for (to, row) in to.chunks_exact_mut(4).zip(rows) {
        to.copy_from_slice(&row.to_array());
    }
}
