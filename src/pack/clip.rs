//! Clips: keys in rows, one row a key of a timeline.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DQuat;

use crate::model::clip::Clip;
use crate::model::curve::{Curve, Interpolation};
use crate::model::library::is_rotation;
use crate::model::rotation::{self, unit};
use crate::model::skeleton::Skeleton;
use crate::model::timeline::Timeline;
use crate::model::track::Target;
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::easing;
use crate::pack::playback::time_unit;
use crate::pack::record::{
    self, Channel, MODE_CONSTANT, MODE_CUBIC, MODE_LINEAR, MODE_REST, MODE_STEP, SHAPE_ROTATION, ValueChannel,
};
use crate::pack::timeline::Timelines;

/// Up to four numbers of a track: what a channel samples.
struct Column<'a> {
    target: Target,
    curve: &'a Curve,
    /// First of the track's numbers, and how many.
    part: (usize, usize),
    rotation: bool,
    /// Whether the curve is one value for all times: asked once, since it looks at all keys.
    constant: bool,
}

/// Packs a clip, and gives the place of its record in the words.
pub fn pack_clip(arrays: &mut Arrays, timelines: &mut Timelines, skeleton: &Skeleton, clip: &Clip) -> (u32, u32) {
    let columns = columns(skeleton, clip);
    let mut channels = HashMap::new();
    for column in columns.iter().filter(|column| column.constant) {
        let value = element(column, 0, 0);
        channels.insert((column.target, column.part.0), Channel::new(MODE_CONSTANT, 0, arrays.push_value(value)));
    }
    let records = pack_keys(arrays, timelines, &columns, &mut channels);
    let timeline_count = records.len() as u32;
    let timelines = arrays.push_records(&records);
    let joint_channels = pack_joint_channels(arrays, skeleton, &channels);
    let (value_channels, weight_channel_count, value_channel_count) =
        pack_value_channels(arrays, skeleton, &columns, &channels);
    let record = record::Clip {
        timelines,
        timeline_count,
        channels: joint_channels,
        value_channels,
        weight_channel_count,
        value_channel_count,
        time_unit: time_unit(clip.duration()).unwrap_or(1.0),
    };
    (arrays.push_records(&[record]), timeline_count)
}

/// What a clip takes at most, without its timelines' times.
pub fn sizes(skeleton: &Skeleton, clip: &Clip) -> Sizes {
    let per_track = |track: &crate::model::track::Track| {
        let curve = &track.curve;
        let keys =
            if curve.is_constant() { 1 } else { curve.timeline().len() * curve.interpolation().elements_per_key() };
        keys.saturating_mul(curve.width().div_ceil(4))
    };
    let numbers = skeleton.weight_count() + skeleton.property_width();
    let timelines = record::Timeline::WORDS * clip.tracks.len();
    let mut sizes = Sizes {
        words: 6 * skeleton.joints().len() + record::Clip::WORDS + timelines + 4 * numbers,
        values: clip.tracks.iter().map(per_track).fold(numbers, usize::saturating_add),
    };
    for easing in clip.tracks.iter().map(|track| easing::sizes(&track.curve)) {
        sizes.words = sizes.words.saturating_add(easing.words);
        sizes.values = sizes.values.saturating_add(easing.values);
    }
    sizes
}

/// All tracks in pieces of up to four numbers, ordered so that neighbouring joints' keys are neighbours.
fn columns<'a>(skeleton: &Skeleton, clip: &'a Clip) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for track in &clip.tracks {
        let width = track.curve.width();
        let rotation = is_rotation(skeleton, track.target);
        let constant = track.curve.is_constant();
        let pieces = (0..width).step_by(4).map(|first| (first, (width - first).min(4)));
        columns.extend(pieces.map(|part| Column {
            target: track.target,
            curve: &track.curve,
            part,
            rotation,
            constant,
        }));
    }
    columns.sort_by_key(|column| (column.target, column.part));
    columns
}

/// Packs the keys of all columns that need some, timeline by timeline, one with several easings being several, the most
/// shared first: where an engine has room for only so many search results, those are the ones that pay.
fn pack_keys(
    arrays: &mut Arrays,
    timelines: &mut Timelines,
    columns: &[Column],
    channels: &mut HashMap<(Target, usize), Channel>,
) -> Vec<record::Timeline> {
    let mut shared: Vec<(&Arc<Timeline>, u32, Vec<&Column>)> = Vec::new();
    let mut places: HashMap<(*const Timeline, u32), usize> = HashMap::new();
    for column in columns.iter().filter(|column| !column.constant) {
        let timeline = column.curve.timeline();
        let easing = timelines.easings.pack(arrays, column.curve);
        let place = *places.entry((Arc::as_ptr(timeline), easing)).or_insert_with(|| {
            shared.push((timeline, easing, Vec::new()));
            shared.len() - 1
        });
        shared[place].2.push(column);
    }
    shared.sort_by_key(|(_, _, columns)| std::cmp::Reverse(columns.len()));

    let mut records = Vec::new();
    for (index, (timeline, easing, columns)) in shared.into_iter().enumerate() {
        let row: usize = columns.iter().map(|column| column.curve.interpolation().elements_per_key()).sum();
        let block = arrays.values.len();
        arrays.values.resize(block + row * timeline.len(), [0.0; 4]);
        let mut place = block;
        for column in columns {
            let elements = column.curve.interpolation().elements_per_key();
            let mut previous = None;
            for key in 0..timeline.len() {
                for number in 0..elements {
                    let value = key_value(column, key, number, &mut previous);
                    arrays.values[place + key * row + number] = value;
                }
            }
            let mode = match column.curve.interpolation() {
                Interpolation::Step => MODE_STEP,
                Interpolation::Linear => MODE_LINEAR,
                Interpolation::CubicSpline => MODE_CUBIC,
            };
            channels.insert((column.target, column.part.0), Channel::new(mode, index as u32, place as u32));
            place += elements;
        }
        records.push(timelines.pack(arrays, timeline).record(row, easing));
    }
    records
}

/// A key's number as the engines want it. Rotations between which to slerp are each in the hemisphere of the
/// one before it: whether a half turn goes left or right can hang on the last bit of an f64, which an f32 has not.
///
/// `previous` is the key before as it stands, and whether it was negated.
fn key_value(column: &Column, key: usize, number: usize, previous: &mut Option<(DQuat, bool)>) -> [f32; 4] {
    if !column.rotation || column.curve.interpolation() != Interpolation::Linear {
        return element(column, key, number);
    }
    let rotation = rotation::key(DQuat::from_slice(column.curve.value(key))).unwrap_or(DQuat::IDENTITY);
    let negated = previous.is_some_and(|(before, negated)| negated != (before.dot(rotation) < 0.0));
    *previous = Some((rotation, negated));
    (if negated { -rotation } else { rotation }).as_quat().to_array()
}

/// The numbers of an element of a key, filled with zeros; rotations that stand for themselves are of unit length.
fn element(column: &Column, key: usize, number: usize) -> [f32; 4] {
    let curve = column.curve;
    let whole = match (curve.interpolation(), number) {
        (Interpolation::CubicSpline, 0) if !column.constant => curve.in_tangent(key),
        (Interpolation::CubicSpline, 2) => curve.out_tangent(key),
        _ => curve.value(key),
    };
    let (first, count) = column.part;
    let mut value = [0.0; 4];
    for (to, from) in value.iter_mut().zip(&whole[first..first + count]) {
        *to = *from as f32;
    }
    if column.rotation && (curve.interpolation() != Interpolation::CubicSpline || column.constant) {
        return unit(DQuat::from_slice(whole)).unwrap_or(DQuat::IDENTITY).as_quat().to_array();
    }
    value
}

fn pack_joint_channels(arrays: &mut Arrays, skeleton: &Skeleton, channels: &HashMap<(Target, usize), Channel>) -> u32 {
    let rest = Channel::new(MODE_REST, 0, 0);
    let part = |target: fn(usize) -> Target| {
        (0..skeleton.joints().len()).map(move |joint| *channels.get(&(target(joint), 0)).unwrap_or(&rest))
    };
    let records: Vec<Channel> =
        part(Target::Translation).chain(part(Target::Rotation)).chain(part(Target::Scale)).collect();
    arrays.push_records(&records)
}

/// Channels that together write every morph weight and every property: those of the clip, and constants for the rest.
fn pack_value_channels(
    arrays: &mut Arrays,
    skeleton: &Skeleton,
    columns: &[Column],
    channels: &HashMap<(Target, usize), Channel>,
) -> (u32, u32, u32) {
    let mut first_weight = Vec::new();
    let mut rest: Vec<f64> = Vec::new();
    for joint in skeleton.joints() {
        first_weight.push(rest.len());
        rest.extend(&joint.weights);
    }
    let weight_count = rest.len();
    let mut first_property = Vec::new();
    for property in skeleton.properties() {
        first_property.push(rest.len());
        let unit = if property.rotation { unit(DQuat::from_slice(&property.rest)) } else { None };
        rest.extend(unit.map_or_else(|| property.rest.clone(), |unit| unit.to_array().to_vec()));
    }

    let mut records = Vec::new();
    let mut driven = vec![false; rest.len()];
    for column in columns {
        let first = match column.target {
            Target::Weights(joint) => first_weight[joint],
            Target::Weight { joint, target } => first_weight[joint] + target,
            Target::Property(property) => first_property[property],
            _ => continue,
        };
        let (part, count) = column.part;
        let output = first + part;
        driven[output..output + count].fill(true);
        let Channel { values, sampler } = channels[&(column.target, part)];
        let shape = count as u32 | if column.rotation { SHAPE_ROTATION } else { 0 };
        records.push(ValueChannel { values, sampler, output: output as u32, shape });
    }
    let mut output = 0;
    while output < rest.len() {
        let end = if output < weight_count { weight_count } else { rest.len() };
        let count = (output..end).take(4).take_while(|&number| !driven[number]).count();
        if count > 0 {
            let mut value = [0.0; 4];
            value.iter_mut().zip(&rest[output..output + count]).for_each(|(to, from)| *to = *from as f32);
            let Channel { values, sampler } = Channel::new(MODE_CONSTANT, 0, arrays.push_value(value));
            records.push(ValueChannel { values, sampler, output: output as u32, shape: count as u32 });
        }
        output += count.max(1);
    }
    records.sort_by_key(|record| record.output);
    let weight_channels = records.iter().filter(|record| (record.output as usize) < weight_count).count();
    (arrays.push_records(&records), weight_channels as u32, records.len() as u32)
}
