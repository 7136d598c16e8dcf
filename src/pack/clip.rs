//! Packing of clips: keys in rows, one row per key of a timeline; and events, with their times in the units of the
//! clip.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DQuat, DVec4, Vec4};

use crate::model::rotation::{self, unit};
use crate::model::{
    Clip, Interpolation, Library, NumberRange, RootMotion, RootRotation, Skeleton, Target, Timeline, Track,
};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::channels::{
    Channels, QuantizedCurves, TrackColumn, columns, pack_joint_channels, pack_value_channels,
};
use crate::pack::easing;
use crate::pack::key_blocks::{self, column_words, elements_per_key, narrow, pack_rows, reserve};
use crate::pack::keys::PackedKeys;
use crate::pack::playback::{time_unit, units};
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_CUBIC, MODE_CUSTOM, MODE_EULER, MODE_LINEAR, MODE_QUANTIZED, MODE_SLERP,
    MODE_STEP, NONE, PART_ROTATION, PART_SCALE, PART_TRANSLATION, PartChannels, ROOT_FULL, ROOT_X, ROOT_Y, ROOT_YAW,
    ROOT_Z, Root, TimelineRecord,
};
use crate::pack::skeleton::pack_skeleton;
use crate::pack::timeline::{PackedTimeline, Timelines, needs_exact_times};
use crate::pack::unroll::Beyond;

/// The values between the keys of a clip and its channels. Blocks of the CPU engine read beyond the last row, and
/// compute with what they find; the integers of channels are subnormal numbers, with which some processors are slow.
pub const VALUES_BEHIND_KEYS: usize = 16;

/// Packs all that a clip has, and returns its record. `rest` is the offset of the rest pose of its skeleton in the
/// values.
pub fn pack_clip<'a>(
    arrays: &mut Arrays,
    timelines: &mut Timelines<'a>,
    library: &'a Library,
    clip: &'a Clip,
    quantized: QuantizedCurves<'a>,
    rest: u32,
) -> ClipRecord {
    let skeleton = library.skeleton(clip.skeleton);
    let columns = columns(library, skeleton, clip, quantized);
    let mut channels = Channels::new();
    let joints = skeleton.joints().len();
    pack_constants(arrays, timelines, &columns, &mut channels, RestPose { first: rest, joints });
    let keys_start = arrays.values.len();
    let PackedRecords { records, .. } = pack_keys(arrays, timelines, &columns, &mut channels);
    if arrays.values.len() > keys_start {
        arrays.values.extend([Vec4::ZERO; VALUES_BEHIND_KEYS]);
    }
    let timeline_count = records.len() as u32;
    let timelines = arrays.push_records(&records);
    let (joint_channels, compact) = pack_joint_channels(arrays, rest, skeleton, &channels);
    let values = pack_value_channels(arrays, skeleton, &columns, &channels);
    ClipRecord {
        timelines,
        timeline_count,
        channels: joint_channels,
        value_channels: values.offset,
        weight_channel_count: values.weight_count,
        value_channel_count: values.count,
        value_table: values.table,
        time_unit: time_unit(clip.duration()).unwrap_or(1.0),
        events: pack_events(arrays, clip),
        root: clip.root_motion.map_or(NONE, |root| pack_root(arrays, skeleton, root)),
        compact: compact.into(),
        steps: 0,
    }
}

/// Packs a root joint, and returns the offset of its record in the words.
fn pack_root(arrays: &mut Arrays, skeleton: &Skeleton, root: RootMotion) -> u32 {
    let axes = [ROOT_X, ROOT_Y, ROOT_Z].into_iter().zip(root.translation);
    let axes: u32 = axes.filter(|(_, moves)| *moves).map(|(axis, _)| axis).sum();
    let rotation = match root.rotation {
        RootRotation::None => 0,
        RootRotation::Yaw => ROOT_YAW,
        RootRotation::Full => ROOT_FULL,
    };
    let [up_x, up_y, up_z] = root.up(skeleton).as_vec3().to_array();
    arrays.push_records(&[Root { joint: root.joint as u32, moves: axes | rotation, up_x, up_y, up_z }])
}

/// The bytes of a clip by their use, as if it were packed alone with its skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClipBytes {
    /// Keys: rows of codes, or of `f32`.
    pub keys: usize,
    /// Records of quantized columns: widths, steps and least values.
    pub columns: usize,
    /// Timelines: key times, lookup tables, easings and records.
    pub timelines: usize,
    /// Constant values that are not values of the rest pose.
    pub constants: usize,
    /// Channels of joints, morph weights and properties.
    pub channels: usize,
    /// The record of the clip, its events and its root motion.
    pub record: usize,
}

impl ClipBytes {
    /// The bytes of a clip of a library, with its quantized keys.
    pub fn new(library: &Library, clip: &Clip, quantized: QuantizedCurves) -> Self {
        let skeleton = library.skeleton(clip.skeleton);
        let (mut arrays, mut timelines) = (Arrays::default(), Timelines::default());
        let rest = pack_skeleton(&mut arrays, skeleton, &[]).0.rest;
        timelines.keys.add_rest(&arrays, rest, skeleton);
        let columns = columns(library, skeleton, clip, quantized);
        let mut channels = Channels::new();
        let start = arrays.size();
        let joints = skeleton.joints().len();
        pack_constants(&mut arrays, &mut timelines, &columns, &mut channels, RestPose { first: rest, joints });
        let constants = arrays.size() - start;
        let (words, values) = (arrays.words.len(), arrays.values.len());
        let PackedRecords { records, row_words } = pack_keys(&mut arrays, &mut timelines, &columns, &mut channels);
        arrays.push_records(&records);
        let column_bytes = |column: &TrackColumn| {
            let offset = channels[&(column.target, column.target_numbers)].values;
            column.quantized.map_or(0, |elements| 4 * elements.len() * column_words(&arrays.words, offset) as usize)
        };
        let columns_bytes: usize = columns.iter().map(column_bytes).sum();
        let (words, values) = (4 * (arrays.words.len() - words), 16 * (arrays.values.len() - values));
        let row_bytes = 4 * row_words;
        let start = arrays.size();
        pack_joint_channels(&mut arrays, rest, skeleton, &channels);
        pack_value_channels(&mut arrays, skeleton, &columns, &channels);
        let channels = arrays.size() - start;
        let start = arrays.size();
        pack_events(&mut arrays, clip);
        if let Some(root) = clip.root_motion {
            pack_root(&mut arrays, skeleton, root);
        }
        Self {
            keys: values + row_bytes,
            columns: columns_bytes,
            timelines: words - row_bytes - columns_bytes,
            constants,
            channels,
            record: 4 * ClipRecord::WORDS + arrays.size() - start,
        }
    }

    /// The bytes of keys, constants, key times and lookup tables.
    pub fn of_keys(&self) -> usize {
        self.keys + self.columns + self.timelines + self.constants
    }

    /// All bytes.
    pub fn total(&self) -> usize {
        self.of_keys() + self.channels + self.record
    }
}

/// The largest size of a packed clip.
pub fn sizes(library: &Library, clip: &Clip, quantized: QuantizedCurves) -> Sizes {
    let skeleton = library.skeleton(clip.skeleton);
    let numbers = skeleton.weight_count() + skeleton.property_width();
    // A translation, rotation or scale with a track per number needs three more channels and three more values.
    let split = 3 * clip.tracks.iter().filter(|track| track.component.is_some()).count();
    let joints = skeleton.joints().len();
    // Compact channels take less than two words each.
    let compact = if quantized.iter().any(Option::is_some) { 6 * joints } else { 0 };
    let mut sizes = Sizes {
        words: compact + ClipRecord::WORDS + Root::WORDS + 5 * numbers + Channel::WORDS * split,
        // Channels, also for a GPU, which has an element of quantization steps per joint, too.
        values: numbers + split + VALUES_BEHIND_KEYS + (2 * PartChannels::ELEMENTS + 1) * joints,
    };
    sizes.add(event_sizes(clip));
    for (index, Track { curve, .. }) in clip.tracks.iter().enumerate() {
        if quantized.get(index).is_some_and(Option::is_some) {
            let numbers = curve.width() * curve.interpolation().elements_per_key();
            sizes.add(Sizes { words: key_blocks::most_words(curve.timeline().len(), numbers), values: 0 });
        }
        let keys =
            if curve.is_constant() { 1 } else { curve.timeline().len() * elements_per_key(curve.interpolation()) };
        sizes.add(Sizes { words: TimelineRecord::WORDS, values: keys.saturating_mul(curve.width().div_ceil(4)) });
        sizes.add(easing::sizes(curve));
        sizes.add(PackedTimeline::sizes(curve.timeline(), curve.looped_keys(clip.length)));
    }
    sizes
}

/// Columns that share a timeline record: the same key times, continuation and easings, and all quantized or none.
struct TimelineColumns<'a, 'b> {
    timeline: &'a Arc<Timeline>,
    beyond: Beyond,
    easing: u32,
    quantized: bool,
    columns: Vec<&'b TrackColumn<'a>>,
}

/// The rest pose of a skeleton in the values: all joints' translations, then rotations, then scales.
#[derive(Clone, Copy)]
struct RestPose {
    first: u32,
    joints: usize,
}

impl RestPose {
    /// The offset of the value of a column that drives a whole translation, rotation or scale.
    fn offset(self, column: &TrackColumn) -> Option<u32> {
        let (part, joint) = match column.target {
            Target::Translation(joint) => (PART_TRANSLATION, joint),
            Target::Rotation(joint) | Target::EulerAngles(joint) => (PART_ROTATION, joint),
            Target::Scale(joint) => (PART_SCALE, joint),
            Target::Weights(_) | Target::Property(_) => return None,
        };
        let is_whole = column.target_numbers.count >= 3;
        is_whole.then(|| self.first + (part as usize * self.joints + joint) as u32)
    }
}

/// Packs the constants of all columns.
fn pack_constants(
    arrays: &mut Arrays,
    timelines: &mut Timelines,
    columns: &[TrackColumn],
    channels: &mut Channels,
    rest: RestPose,
) {
    let compact = columns.iter().any(|column| column.quantized.is_some());
    for column in columns.iter().filter(|column| column.constant) {
        let rest = rest.offset(column).filter(|_| compact);
        let value = timelines.keys.constant(arrays, constant_value(column), rest, compact);
        channels.insert((column.target, column.target_numbers), Channel::new(MODE_CONSTANT, 0, value));
    }
}

/// The timelines of a clip, after the packing of its keys.
struct PackedRecords {
    /// The record of each timeline.
    records: Vec<TimelineRecord>,
    /// The words of the rows of quantized keys that were packed, and not found among those packed before.
    row_words: usize,
}

/// Packs the keys of all columns that are not constant, timeline by timeline. A timeline with several easings counts as
/// several. The timelines with the most columns come first: an engine with limited room keeps the spans of the first
/// ones.
fn pack_keys<'a>(
    arrays: &mut Arrays,
    timelines: &mut Timelines<'a>,
    columns: &[TrackColumn<'a>],
    channels: &mut Channels,
) -> PackedRecords {
    let mut groups: Vec<TimelineColumns> = Vec::new();
    let mut indices: HashMap<(*const Timeline, Beyond, u32, bool), usize> = HashMap::new();
    for column in columns.iter().filter(|column| !column.constant) {
        let (timeline, beyond) = (column.curve.timeline(), column.beyond);
        let easing = timelines.easings.pack(arrays, column.curve);
        let quantized = column.quantized.is_some();
        let index = *indices.entry((Arc::as_ptr(timeline), beyond, easing, quantized)).or_insert_with(|| {
            groups.push(TimelineColumns { timeline, beyond, easing, quantized, columns: Vec::new() });
            groups.len() - 1
        });
        groups[index].columns.push(column);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.columns.len()));

    let (mut records, mut row_words) = (Vec::new(), 0);
    for (index, group) in groups.into_iter().enumerate() {
        let TimelineColumns { timeline, beyond, easing, quantized, columns } = group;
        let axis = PackedKeys::axis(timeline, beyond, easing);
        let block = timelines.keys.find(axis, &columns).unwrap_or_else(|| {
            let block = if quantized {
                let parts: Vec<_> = columns.iter().filter_map(|column| column.quantized).collect();
                let block = pack_rows(arrays, timeline.len(), &parts);
                row_words += block.row * timeline.len();
                block
            } else {
                let (block, unfilled) = reserve(arrays, timeline.len(), &columns);
                timelines.keys.fill_later(unfilled);
                block
            };
            timelines.keys.insert(axis, &columns, &block);
            block
        });
        for (column, &offset) in columns.iter().zip(&block.offsets) {
            let channel = Channel::new(mode(column), index as u32, offset as u32);
            channels.insert((column.target, column.target_numbers), channel);
        }
        let may_be_even = quantized && !columns.iter().any(|column| needs_exact_times(column.curve));
        let packed = timelines.pack(arrays, timeline, beyond, may_be_even);
        records.push(TimelineRecord { keys: block.first as u32, ..packed.record(block.row, easing) });
    }
    PackedRecords { records, row_words }
}

/// The mode of the channel of a column that is not constant.
fn mode(column: &TrackColumn) -> u32 {
    let mode = match column.curve.interpolation() {
        Interpolation::Step => MODE_STEP,
        Interpolation::Linear => MODE_LINEAR,
        Interpolation::CubicSpline => MODE_CUBIC,
        Interpolation::Slerp => MODE_SLERP,
        Interpolation::Custom(_) => MODE_CUSTOM,
    };
    let mode = if column.quantized.is_some() { mode | MODE_QUANTIZED } else { mode };
    let whole = column.target_numbers.count == 3;
    if matches!(column.target, Target::EulerAngles(_)) && whole { mode | MODE_EULER } else { mode }
}

/// The value of a constant column as the engines read it. A rotation is a quaternion of unit length, also if the track
/// holds angles.
fn constant_value(column: &TrackColumn) -> [f32; 4] {
    let curve = column.curve;
    if let Some(interpolator) = column.interpolator {
        let mut result = vec![0.0; interpolator.result_width()];
        interpolator.no_lerp(curve.value(0), &mut result);
        let NumberRange { first, count } = column.curve_numbers;
        let mut value = [0.0; 4];
        value.iter_mut().zip(&result[first..first + count]).for_each(|(to, from)| *to = *from);
        return narrow(value);
    }
    let value = curve.numbers(0, curve.value_element(), column.curve_numbers);
    narrow(match column.target {
        Target::EulerAngles(_) if column.target_numbers.count == 3 => {
            rotation::from_euler_angles(DVec4::from_array(value).truncate()).to_array()
        }
        _ if column.rotation => unit(DQuat::from_array(value)).unwrap_or(DQuat::IDENTITY).to_array(),
        _ => value,
    })
}

/// Packs the events from a clip's start to its end, and returns their offset in the words. A play reaches no others.
///
/// The words hold the number of events, the index of the first, then their times in order, two words each. [`NONE`] if
/// there is no such event or the clip has no duration.
fn pack_events(arrays: &mut Arrays, clip: &Clip) -> u32 {
    let duration = clip.duration();
    let Some(unit) = time_unit(duration) else { return NONE };
    let first = clip.events.partition_point(|event| event.time < 0.0);
    let within = clip.events[first..].iter().take_while(|event| event.time <= duration);
    let times: Vec<u64> = within.map(|event| units(event.time, unit)).collect();
    if times.is_empty() {
        return NONE;
    }
    let offset = arrays.push_records(&[times.len() as u32, first as u32]);
    for time in times {
        arrays.push_records(&[time as u32, (time >> 32) as u32]);
    }
    offset
}

/// The largest size of a clip's packed events.
fn event_sizes(clip: &Clip) -> Sizes {
    Sizes { words: 2 + 2 * clip.events.len(), values: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Event, SkeletonId};

    #[test]
    fn events_in_the_clip_are_packed_with_the_index_of_the_first() {
        let packed = |length: f64, times: &[f64]| {
            let events = times.iter().map(|&time| Event { time, ..Event::default() }).collect();
            let clip = Clip { length: Some(length), events, ..Clip::new(None, SkeletonId(0), Vec::new()) };
            let mut arrays = Arrays::default();
            let offset = pack_events(&mut arrays, &clip);
            assert!(arrays.words.len() <= event_sizes(&clip).words);
            (offset, arrays.words)
        };
        // A clip of 1 s has 2^63 units.
        let (offset, words) = packed(1.0, &[-1.0, 0.0, 0.5, 1.0, 1.5]);
        assert_eq!((offset, &words[..]), (0, &[3, 1, 0, 0, 0, 1 << 30, 0, 1 << 31][..]));
        assert_eq!(packed(1.0, &[-1.0, 2.0]).0, NONE);
        assert_eq!(packed(1.0, &[]).0, NONE);
        assert_eq!(packed(0.0, &[0.0]).0, NONE);
    }
}
