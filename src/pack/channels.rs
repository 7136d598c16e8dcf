//! Packing of channels of joints, of morph weights and of properties. A track is cut into columns: pieces that one
//! channel samples.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DQuat, DVec3, Vec4};

use crate::model::rotation::{self, unit};
use crate::model::{Clip, Curve, Interpolation, Interpolator, Library, NumberRange, Skeleton, Target};
use crate::pack::arrays::Arrays;
use crate::pack::record::{
    Channel, ChannelGroup, ClipRecord, CompactChannels, ENTRY_SAMPLER_BITS, GROUP_CHANNELS, MODE_CONSTANT, MODE_EULER,
    MODE_QUANTIZED, MODE_REST, MODE_SPLIT, PartChannels, SHAPE_REST, SHAPE_ROTATION, SkeletonRecord, ValueChannel,
    mode_of,
};
use crate::pack::unroll::Beyond;
use crate::pack::{QuantizedCurve, QuantizedKeys};

/// The channels of morph weights, then of properties, after their packing.
pub struct ValueChannels {
    /// The offset in the words of the table with the channel of each number.
    pub table: u32,
    /// The offset of the channels in the words.
    pub offset: u32,
    /// The number of channels of morph weights.
    pub weight_count: u32,
    /// The number of all channels.
    pub count: u32,
}

/// Packs channels that together write every morph weight and property: the channels of the clip, and constants with the
/// rest values. A property that is a rotation has one channel, so that a transition can turn it as soon as it is
/// written.
pub fn pack_value_channels(
    arrays: &mut Arrays,
    skeleton: &Skeleton,
    columns: &[TrackColumn],
    channels: &Channels,
) -> ValueChannels {
    let mut first_weight = Vec::new();
    let mut rest: Vec<f64> = Vec::new();
    for joint in skeleton.joints() {
        first_weight.push(rest.len());
        rest.extend(&joint.weights);
    }
    let weight_count = rest.len();
    let mut first_property = Vec::new();
    let mut rotations = HashSet::new();
    for property in skeleton.properties() {
        first_property.push(rest.len());
        if property.rotation {
            rotations.insert(rest.len());
        }
        let unit = if property.rotation { unit(DQuat::from_slice(&property.rest)) } else { None };
        rest.extend(unit.map_or_else(|| property.rest.clone(), |unit| unit.to_array().to_vec()));
    }

    let mut records = Vec::new();
    let mut driven = vec![false; rest.len()];
    for column in columns {
        let first = match column.target {
            Target::Weights(joint) => first_weight[joint],
            Target::Property(property) => first_property[property],
            _ => continue,
        };
        let NumberRange { first: first_number, count } = column.target_numbers;
        let output = first + first_number;
        driven[output..output + count].fill(true);
        let Channel { values, sampler } = channels[&(column.target, column.target_numbers)];
        records.push(ValueChannel { values, sampler, output: output as u32, shape: column.shape() });
    }
    let mut output = 0;
    while output < rest.len() {
        let end = if output < weight_count { weight_count } else { rest.len() };
        let follows = |&number: &usize| !driven[number] && (number == output || !rotations.contains(&number));
        let count = (output..end).take(4).take_while(follows).count();
        if count > 0 {
            let mut value = [0.0; 4];
            value.iter_mut().zip(&rest[output..output + count]).for_each(|(to, from)| *to = *from as f32);
            let Channel { values, sampler } = Channel::new(MODE_CONSTANT, 0, arrays.push_value(value));
            let shape = count as u32 | SHAPE_REST;
            records.push(ValueChannel { values, sampler, output: output as u32, shape });
        }
        output += count.max(1);
    }
    records.sort_by_key(|record| record.output);
    let weight_channels = records.iter().filter(|record| (record.output as usize) < weight_count).count();
    let ends = records.iter().skip(1).map(|record| record.output as usize).chain([rest.len()]);
    let lengths = records.iter().zip(ends).map(|(record, end)| end - record.output as usize);
    let table: Vec<u32> = (0..).zip(lengths).flat_map(|(channel, length)| vec![channel; length]).collect();
    ValueChannels {
        table: arrays.push_records(&table),
        offset: arrays.push_records(&records),
        weight_count: weight_channels as u32,
        count: records.len() as u32,
    }
}

/// Up to four numbers of a track, or all results of a caller's interpolator. One channel samples it.
#[derive(Clone, Copy)]
pub struct TrackColumn<'a> {
    /// The target of the track.
    pub target: Target,
    /// The target's numbers that the column drives.
    pub target_numbers: NumberRange,
    /// The curve's numbers that the column reads.
    pub curve_numbers: NumberRange,
    /// The curve.
    pub curve: &'a Curve,
    /// True for quaternions that interpolate as rotations.
    pub rotation: bool,
    /// `true` if the curve has one value for all times. Stored, because the question reads all keys.
    pub constant: bool,
    /// The caller's interpolator, if the curve has one.
    pub interpolator: Option<&'a dyn Interpolator>,
    /// The continuation of the timeline beyond its keys.
    pub beyond: Beyond,
    /// The quantized keys, if the keys are quantized: one element, or three for a cubic spline.
    pub quantized: Option<&'a [QuantizedKeys]>,
}

impl TrackColumn<'_> {
    /// The `shape` of a channel: the count and kind of its numbers, or the index of its interpolator.
    pub fn shape(&self) -> u32 {
        match self.curve.interpolation() {
            Interpolation::Custom(id) if !self.constant => id.index() as u32,
            _ => self.target_numbers.count as u32 | if self.rotation { SHAPE_ROTATION } else { 0 },
        }
    }
}

/// Channels by target and [`TrackColumn::target_numbers`].
pub type Channels = HashMap<(Target, NumberRange), Channel>;

/// For each track of a clip its quantized keys; `None` if its keys are not quantized. The list may end early.
pub type QuantizedCurves<'a> = &'a [Option<Arc<QuantizedCurve>>];

/// Cuts all tracks of a clip into columns, sorted so that the keys of neighbouring joints are neighbours.
pub fn columns<'a>(
    library: &'a Library,
    skeleton: &Skeleton,
    clip: &'a Clip,
    quantized: QuantizedCurves<'a>,
) -> Vec<TrackColumn<'a>> {
    let mut columns = Vec::new();
    for (index, track) in clip.tracks.iter().enumerate() {
        let quantized = quantized.get(index).and_then(Option::as_ref);
        let (target, curve) = (track.target, &track.curve);
        let rotation = target.is_rotation(skeleton);
        let constant = curve.is_constant();
        let beyond = Beyond::new(curve, rotation, clip.length);
        let width = curve.width();
        let first_number = track.component.unwrap_or(0);
        let interpolator = match curve.interpolation() {
            Interpolation::Custom(id) => Some(library.interpolator(id)),
            _ => None,
        };
        // The result of an interpolator for a constant curve is an ordinary value.
        let column_width = if constant { 4 } else { interpolator.map_or(4, |_| width) };
        let result_width = interpolator.map_or(width, |interpolator| interpolator.result_width());
        let total = if constant { result_width } else { width };
        for first in (0..total).step_by(column_width) {
            let curve_numbers = NumberRange::new(first, (total - first).min(column_width));
            let keeps_width = constant || interpolator.is_none();
            let results = if keeps_width { curve_numbers } else { NumberRange::new(0, result_width) };
            let target_numbers = NumberRange::new(first_number + results.first, results.count);
            let quantized = quantized.map(|quantized| quantized.parts[first / 4].as_slice());
            columns.push(TrackColumn {
                target,
                target_numbers,
                curve_numbers,
                curve,
                rotation,
                constant,
                interpolator,
                beyond,
                quantized,
            });
        }
    }
    columns.sort_by_key(|column| (column.target, column.target_numbers));
    columns
}

// The channels of joints: the sources of each joint's translation, rotation and scale. Channels of clips with quantized
// keys are compact: three words per 32 channels, and a word for channels with keys or with a constant value that is not
// the value of the rest pose.

/// The channels of all joints of a packed clip.
#[derive(Clone, Copy)]
pub struct JointChannels<'a> {
    words: &'a [u32],
    values: &'a [Vec4],
    offset: usize,
    compact: bool,
    joints: usize,
    /// The offset of the rest pose in the values.
    rest: u32,
}

impl<'a> JointChannels<'a> {
    /// The channels of a clip of a skeleton.
    pub fn new(arrays: &'a Arrays, skeleton: &SkeletonRecord, clip: &ClipRecord) -> Self {
        let (joints, rest) = (skeleton.joint_count as usize, skeleton.rest);
        let Arrays { words, values } = arrays;
        Self { words, values, offset: clip.channels as usize, compact: clip.compact != 0, joints, rest }
    }

    /// The channels of all joints' translations, then rotations, then scales.
    pub fn all(self) -> impl Iterator<Item = Channel> {
        (0..3).flat_map(move |part| (0..self.joints).map(move |joint| self.get(part, joint)))
    }

    /// The channel of a joint's translation, rotation or scale, by `PART_TRANSLATION`, `PART_ROTATION` or `PART_SCALE`.
    pub fn get(&self, part: u32, joint: usize) -> Channel {
        if self.compact {
            return self.compact(part as usize * self.joints + joint);
        }
        let elements = &self.values[self.offset + PartChannels::ELEMENTS * joint..][..PartChannels::ELEMENTS];
        bytemuck::pod_read_unaligned::<PartChannels>(bytemuck::cast_slice(elements)).get(part)
    }

    /// The compact channel of an index.
    fn compact(&self, index: usize) -> Channel {
        let header: CompactChannels = self.record(self.offset);
        let (group, bit) = (index / GROUP_CHANNELS as usize, 1 << (index as u32 % GROUP_CHANNELS));
        let group: ChannelGroup = self.record(self.offset + CompactChannels::WORDS + ChannelGroup::WORDS * group);
        if group.entries & bit != 0 {
            let entry = self.words[(group.first + (group.entries & (bit - 1)).count_ones()) as usize];
            let sampler = entry & ((1 << ENTRY_SAMPLER_BITS) - 1);
            let base = if lies_in_words(sampler) { header.words } else { header.values };
            return Channel { values: base + (entry >> ENTRY_SAMPLER_BITS), sampler };
        }
        let mode = if group.constants & bit == 0 { MODE_REST } else { MODE_CONSTANT };
        Channel::new(mode, 0, self.rest + index as u32)
    }

    /// Reads a record from the words.
    fn record<T: bytemuck::AnyBitPattern>(&self, offset: usize) -> T {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words[offset..offset + size_of::<T>() / 4]))
    }
}

/// Returns `true` if the values of a channel with this sampler are an offset in the words.
fn lies_in_words(sampler: u32) -> bool {
    let mode = mode_of(sampler);
    mode & MODE_QUANTIZED != 0 || mode & !MODE_EULER == MODE_SPLIT
}

/// Packs the channels of all joints' translations, then rotations, then scales. Returns their offset, in the values or,
/// if they are compact, in the words; and true if they are compact. `rest` is the offset of the skeleton's rest pose in
/// the values.
pub fn pack_joint_channels(arrays: &mut Arrays, rest: u32, skeleton: &Skeleton, channels: &Channels) -> (u32, bool) {
    let joints = || skeleton.joints().iter().enumerate();
    let mut records: Vec<Channel> = Vec::with_capacity(3 * skeleton.joints().len());
    for (index, joint) in joints() {
        records.push(joint_channel(arrays, channels, Target::Translation(index), || joint.rest.translation));
    }
    for (index, joint) in joints() {
        let rest = || rotation::to_euler_angles(joint.rest.rotation);
        let rotation = channels.get(&(Target::Rotation(index), NumberRange::new(0, 4))).copied();
        records.push(rotation.unwrap_or_else(|| joint_channel(arrays, channels, Target::EulerAngles(index), rest)));
    }
    for (index, joint) in joints() {
        records.push(joint_channel(arrays, channels, Target::Scale(index), || joint.rest.scale));
    }
    // As for a constant, a kernel finds the value without the mode.
    for (offset, channel) in (rest..).zip(&mut records).filter(|(_, channel)| channel.sampler == MODE_REST) {
        channel.values = offset;
    }
    match CompactTable::new(arrays, rest, &records) {
        Some(table) => (table.pack(arrays), true),
        None => (arrays.push_values(&part_channels(&records)), false),
    }
}

/// The [`PartChannels`] of each joint, from the channels of all joints' translations, then rotations, then scales.
pub fn part_channels(channels: &[Channel]) -> Vec<Vec4> {
    let joints = channels.len() / 3;
    let of_joint = |joint| PartChannels::new([0, 1, 2].map(|part| channels[part * joints + joint]));
    let elements = |joint| bytemuck::cast::<PartChannels, [Vec4; PartChannels::ELEMENTS]>(of_joint(joint));
    (0..joints).flat_map(elements).collect()
}

/// The channel of a target of three numbers. One track drives all three, or each has a track of its own, or none has.
fn joint_channel(arrays: &mut Arrays, channels: &Channels, target: Target, rest: impl Fn() -> DVec3) -> Channel {
    if let Some(&whole) = channels.get(&(target, NumberRange::new(0, 3))) {
        return whole;
    }
    let singles = [0, 1, 2].map(|component| channels.get(&(target, NumberRange::new(component, 1))).copied());
    if singles == [None; 3] {
        return Channel::new(MODE_REST, 0, 0);
    }
    let rest = rest().to_array();
    let mut channel = |component: usize| {
        singles[component].unwrap_or_else(|| {
            let value = [rest[component] as f32, 0.0, 0.0, 0.0];
            Channel::new(MODE_CONSTANT, 0, arrays.push_value(value))
        })
    };
    let parts = [channel(0), channel(1), channel(2)];
    let euler = if matches!(target, Target::EulerAngles(_)) { MODE_EULER } else { 0 };
    Channel::new(MODE_SPLIT | euler, 0, arrays.push_records(&parts))
}

/// Compact channels before their packing.
struct CompactTable {
    words: u32,
    values: u32,
    groups: Vec<ChannelGroup>,
    entries: Vec<u32>,
}

impl CompactTable {
    /// The compact form of some channels. `None` if no keys are quantized, or if an entry has no room for a channel.
    fn new(arrays: &Arrays, rest: u32, channels: &[Channel]) -> Option<Self> {
        if !channels.iter().any(|channel| mode_of(channel.sampler) & MODE_QUANTIZED != 0) {
            return None;
        }
        let value =
            |offset: u32| arrays.values.get(offset as usize).map(|value: &Vec4| value.to_array().map(f32::to_bits));
        let is_at_rest = |index: usize, channel: &Channel| {
            channel.sampler == MODE_CONSTANT && value(channel.values) == value(rest + index as u32)
        };
        let entries = channels
            .iter()
            .enumerate()
            .filter(|(index, channel)| channel.sampler != MODE_REST && !is_at_rest(*index, channel));
        let entries: Vec<(usize, &Channel)> = entries.collect();
        let first = |in_words: bool| {
            let channels = entries.iter().filter(|(_, channel)| lies_in_words(channel.sampler) == in_words);
            channels.map(|(_, channel)| channel.values).min().unwrap_or(0)
        };
        let (words, values) = (first(true), first(false));
        let mut groups = vec![ChannelGroup::default(); channels.len().div_ceil(GROUP_CHANNELS as usize)];
        for (index, _) in channels.iter().enumerate().filter(|(index, channel)| is_at_rest(*index, channel)) {
            groups[index / GROUP_CHANNELS as usize].constants |= 1 << (index as u32 % GROUP_CHANNELS);
        }
        let mut packed = Vec::with_capacity(entries.len());
        for (index, channel) in entries {
            groups[index / GROUP_CHANNELS as usize].entries |= 1 << (index as u32 % GROUP_CHANNELS);
            let base = if lies_in_words(channel.sampler) { words } else { values };
            let distance = u16::try_from(channel.values - base).ok()?;
            let sampler = u16::try_from(channel.sampler).ok()?;
            packed.push(u32::from(distance) << ENTRY_SAMPLER_BITS | u32::from(sampler));
        }
        Some(Self { words, values, groups, entries: packed })
    }

    /// Packs the table, and returns its offset in the words.
    fn pack(mut self, arrays: &mut Arrays) -> u32 {
        let offset = arrays.push_records(&[CompactChannels { words: self.words, values: self.values }]);
        let mut first = offset + (CompactChannels::WORDS + ChannelGroup::WORDS * self.groups.len()) as u32;
        for group in &mut self.groups {
            group.first = first;
            first += group.entries.count_ones();
        }
        arrays.push_records(&self.groups);
        arrays.push_records(&self.entries);
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::record::{MODE_CUBIC, MODE_LINEAR, MODE_STEP};

    /// The value of a channel, if it is constant, and its other words.
    fn contents(arrays: &Arrays, channel: Channel) -> (u32, Option<Vec4>, u32) {
        match channel.sampler {
            MODE_CONSTANT => (MODE_CONSTANT, Some(arrays.values[channel.values as usize]), 0),
            sampler => (sampler, None, channel.values),
        }
    }

    #[test]
    fn compact_channels_are_those_of_the_table() {
        for joints in [1_u32, 10, 11, 32, 65] {
            let mut arrays = Arrays::default();
            arrays.values.extend((0..3 * joints).map(|index| Vec4::splat(index as f32)));
            let other = arrays.push_value([-1.0; 4]);
            let channel = |index: u32| match (index * 7 + joints) % 6 {
                0 => Channel::new(MODE_REST, 0, index),
                1 => Channel::new(MODE_CONSTANT, 0, index),
                2 => Channel::new(MODE_CONSTANT, 0, other),
                3 => Channel::new(MODE_LINEAR | MODE_QUANTIZED, index % 5, 1000 + 4 * index),
                4 => Channel::new(MODE_CUBIC | MODE_QUANTIZED, 255, 2000 + 4 * index),
                _ => Channel::new(MODE_STEP, 0, 3000 + index),
            };
            let mut channels: Vec<Channel> = (0..3 * joints).map(channel).collect();
            channels[0] = Channel::new(MODE_LINEAR | MODE_QUANTIZED, 1, 1000);
            let table = CompactTable::new(&arrays, 0, &channels).unwrap();
            let offset = table.pack(&mut arrays);
            let skeleton = SkeletonRecord { joint_count: joints, rest: 0, ..SkeletonRecord::default() };
            let clip = ClipRecord { channels: offset, compact: 1, ..ClipRecord::default() };
            let found: Vec<Channel> = JointChannels::new(&arrays, &skeleton, &clip).all().collect();
            assert_eq!(found.len(), channels.len());
            for (found, wanted) in found.into_iter().zip(channels) {
                assert_eq!(contents(&arrays, found), contents(&arrays, wanted), "{joints} joints");
            }
        }
    }

    #[test]
    fn channels_without_room_in_an_entry_stay_in_a_table() {
        let mut arrays = Arrays::default();
        arrays.values.resize(3, Vec4::ZERO);
        let quantized = |values, timeline| Channel::new(MODE_LINEAR | MODE_QUANTIZED, timeline, values);
        let rest = Channel::new(MODE_REST, 0, 0);
        let fits = |channels: [Channel; 3]| CompactTable::new(&arrays, 0, &channels).is_some();
        assert!(fits([quantized(5, 0), quantized(5 + 0xffff, 0), rest]));
        assert!(!fits([quantized(5, 0), quantized(5 + 0x10000, 0), rest]));
        assert!(fits([quantized(5, 255), rest, rest]));
        assert!(!fits([quantized(5, 256), rest, rest]));
        assert!(!fits([rest, rest, rest]), "without quantized keys, kernels do not read compact channels");
    }
}
