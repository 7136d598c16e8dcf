//! The channels of joints: the sources of each joint's translation, rotation and scale. Those of clips with quantized keys are
//! compact: three words per 32 channels, and a word for channels with keys or with a constant value that is not that of the rest pose.

use glam::{DVec3, Vec4};

use crate::model::{NumberRange, Skeleton, Target, rotation};
use crate::pack::arrays::Arrays;
use crate::pack::column::Channels;
use crate::pack::record::{
    Channel, ChannelGroup, ClipRecord, CompactChannels, ENTRY_SAMPLER_BITS, GROUP_CHANNELS, MODE_CONSTANT, MODE_EULER,
    MODE_QUANTIZED, MODE_REST, MODE_SPLIT, SkeletonRecord, mode_of,
};

/// The channels of all joints of a packed clip.
#[derive(Clone, Copy)]
pub struct JointChannels<'a> {
    words: &'a [u32],
    offset: usize,
    compact: bool,
    joints: usize,
    /// The offset of the rest pose in the values.
    rest: u32,
}

impl<'a> JointChannels<'a> {
    /// The channels of a clip of a skeleton. `words` are those of the library.
    pub fn new(words: &'a [u32], skeleton: &SkeletonRecord, clip: &ClipRecord) -> Self {
        let (joints, rest) = (skeleton.joint_count as usize, skeleton.rest);
        Self { words, offset: clip.channels as usize, compact: clip.compact != 0, joints, rest }
    }

    /// The channels of all joints' translations, then rotations, then scales.
    pub fn all(self) -> impl Iterator<Item = Channel> {
        (0..3 * self.joints).map(move |index| self.at(index))
    }

    /// The channel of a joint's translation, rotation or scale, by `PART_TRANSLATION`, `PART_ROTATION` or `PART_SCALE`.
    pub fn get(&self, part: u32, joint: usize) -> Channel {
        self.at(part as usize * self.joints + joint)
    }

    /// The channel of an index.
    fn at(&self, index: usize) -> Channel {
        if !self.compact {
            return self.record(self.offset + Channel::WORDS * index);
        }
        let header: CompactChannels = self.record(self.offset);
        let (group, bit) = (index / GROUP_CHANNELS as usize, 1 << (index as u32 % GROUP_CHANNELS));
        let group: ChannelGroup = self.record(self.offset + CompactChannels::WORDS + ChannelGroup::WORDS * group);
        if group.entries & bit != 0 {
            let entry = self.words[(group.first + (group.entries & (bit - 1)).count_ones()) as usize];
            let sampler = entry & ((1 << ENTRY_SAMPLER_BITS) - 1);
            let base = if lies_in_words(sampler) { header.words } else { header.values };
            return Channel { values: base + (entry >> ENTRY_SAMPLER_BITS), sampler };
        }
        match group.constants & bit {
            0 => Channel::new(MODE_REST, 0, 0),
            _ => Channel::new(MODE_CONSTANT, 0, self.rest + index as u32),
        }
    }

    /// Reads a record from the words.
    fn record<T: bytemuck::AnyBitPattern>(&self, offset: usize) -> T {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words[offset..offset + size_of::<T>() / 4]))
    }
}

/// Returns true if the values of a channel with this sampler are an offset in the words.
fn lies_in_words(sampler: u32) -> bool {
    let mode = mode_of(sampler);
    mode & MODE_QUANTIZED != 0 || mode & !MODE_EULER == MODE_SPLIT
}

/// Packs the channels of all joints' translations, then rotations, then scales. Returns their offset in the words, and true if
/// they are compact. `rest` is the offset of the skeleton's rest pose in the values.
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
    match CompactTable::new(arrays, rest, &records) {
        Some(table) => (table.pack(arrays), true),
        None => (arrays.push_records(&records), false),
    }
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

/// Packs channels in the compact form, and returns their offset in the words. `None` if they have no such form.
#[cfg(all(test, feature = "gpu"))]
pub fn pack_compact(arrays: &mut Arrays, rest: u32, channels: &[Channel]) -> Option<u32> {
    Some(CompactTable::new(arrays, rest, channels)?.pack(arrays))
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
                0 => Channel::new(MODE_REST, 0, 0),
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
            let found: Vec<Channel> = JointChannels::new(&arrays.words, &skeleton, &clip).all().collect();
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
