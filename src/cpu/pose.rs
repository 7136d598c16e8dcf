//! One instance: from ticks to skin matrices, stage by stage, as in `shaders/pose.wgsl`.

use glam::Vec4;

use crate::cpu::hierarchy;
use crate::cpu::matrix::{Rows, compose, multiply};
use crate::cpu::phase::{self, Time};
use crate::cpu::sampler::Sampler;
use crate::cpu::search::{self, Span};
use crate::pack::library::{PackedSkeleton, Packing};
use crate::pack::outputs::{Layout, NUMBERS};
use crate::pack::record::{Clip, Layer, NONE, Timeline};

/// Where an instance's results go: its own part of each output, empty where it is not wanted.
pub struct Place<'a> {
    pub local: &'a mut [f32],
    pub model: &'a mut [f32],
    pub skin: &'a mut [f32],
    pub values: &'a mut [f32],
    pub root_motion: &'a mut [f32],
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
    pub spans: Vec<Span>,
    pub matrices: Vec<Rows>,
}

/// Poses an instance of one layer that needs no mixing.
pub fn pose(
    packing: &Packing,
    source: Source,
    layer: &Layer,
    now: i64,
    layout: &Layout,
    scratch: &mut Scratch,
    mut to: Place,
) {
    let clip: Clip = packing.arrays.record(layer.clip);
    let time = phase::of_layer(layer, &clip, now);
    scratch.spans.clear();
    search_all(source, &clip, time, &mut scratch.spans);
    let skeleton = &source.skeleton.record;
    let sampler = Sampler::new((source.words, source.values), &packing.interpolators, skeleton, &clip, &scratch.spans);
    for channel in sampler.value_channels() {
        let output = channel.output as usize;
        if (layout.first_value..layout.first_value + layout.values).contains(&output) {
            sampler.value(channel, &mut to.values[output - layout.first_value..]);
        }
    }
    let joints = skeleton.joint_count as usize;
    let rest = &source.values[skeleton.rest as usize..skeleton.rest as usize + 3 * joints];
    let part = |part: usize, joint: usize| sampler.part(part, joint).unwrap_or(rest[part * joints + joint]);
    finish(source, layout, &mut scratch.matrices, &mut to, part);
}

/// Finds the keys of all timelines of a clip.
pub fn search_all(source: Source, clip: &Clip, time: Time, spans: &mut Vec<Span>) {
    let first = clip.timelines as usize;
    let records = &source.words[first..first + Timeline::WORDS * clip.timeline_count as usize];
    let records = bytemuck::cast_slice::<u32, Timeline>(records);
    spans.extend(records.iter().map(|timeline| search::timeline(source.words, source.values, timeline, time)));
}

/// From the parts of each joint to everything that is made of them.
pub fn finish(
    source: Source,
    layout: &Layout,
    matrices: &mut Vec<Rows>,
    to: &mut Place,
    part: impl Fn(usize, usize) -> Vec4,
) {
    if layout.local == 0 && layout.model == 0 && layout.skin == 0 {
        return;
    }
    pose_joints(source, matrices, to.local, part);
    if layout.model > 0 || layout.skin > 0 {
        hierarchy::walk(&source.skeleton.parents, matrices);
        for (to, matrix) in to.model.chunks_exact_mut(NUMBERS).zip(matrices.iter()) {
            write(to, matrix);
        }
        pose_skin(source, matrices, to.skin);
    }
}

/// Local matrices of all joints by their parts.
fn pose_joints(source: Source, matrices: &mut Vec<Rows>, local: &mut [f32], part: impl Fn(usize, usize) -> Vec4) {
    let skeleton = &source.skeleton.record;
    matrices.clear();
    for joint in 0..skeleton.joint_count as usize {
        let [translation, rotation, scale] = [0, 1, 2].map(|index| part(index, joint));
        if !local.is_empty() {
            write(&mut local[NUMBERS * joint..NUMBERS * (joint + 1)], &[translation, rotation, scale]);
        }
        let matrix = match skeleton.matrices {
            NONE => NONE,
            matrices => source.words[matrices as usize + joint],
        };
        matrices.push(match matrix {
            NONE => compose(translation, rotation, scale),
            matrix => std::array::from_fn(|row| source.values[matrix as usize + row]),
        });
    }
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
