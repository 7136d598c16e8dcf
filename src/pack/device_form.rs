//! The arrays of a library with quantized keys as kernels read them.
//!
//! Codes of a packed library take as few bits as they need, and begin at any bit of a row. A lane of a GPU would spend
//! more instructions on them than on the rest of a pose. So the keys change their form once, before the upload:
//!
//! * Linear translations, rotations and scales of joints get *short keys*: four codes of 16 bits with a sign, two keys
//!   in an element of the values. A code is the number in quantization steps, the same number as in the packed library,
//!   so that nothing is rounded and the bound of the compression holds. A rotation lacks one number, which follows from
//!   its length of 1. A scale that is the same along all axes is the fourth code of the joint's translation, where both
//!   share key times: then a joint and key take 16 bytes.
//! * All other quantized keys become `f32` keys: numbers of more than 16 bits, steps, splines, rotations of four stored
//!   numbers, single numbers, morph weights, properties.
//! * Key times, channels and records take the form of a library without quantized keys. Behind the keys lie the
//!   channels of the joints of each clip, and their quantization steps, an element per joint.
//!
//! Skeletons, records of clips, masks and chains lie where they were, so that crowds are packed for either form.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use bytemuck::cast_slice_mut;
use glam::Vec4;

use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::channels::{JointChannels, part_channels};
use crate::pack::key_blocks::{column_words, narrow};
use crate::pack::quantized::{Form, PackedColumn};
use crate::pack::record::{
    Channel, ClipRecord, MAP_KEY, MODE_CUBIC, MODE_EULER, MODE_FOURTH, MODE_LINEAR, MODE_QUANTIZED, MODE_SPLIT,
    MODE_SWAPPED_X, MODE_UPPER, Mapping, NONE, PART_ROTATION, PART_SCALE, PART_TRANSLATION, Root, SkeletonRecord,
    TIMES_EVEN, TimelineRecord, ValueChannel, mode_of, split, timeline_of,
};

/// The mode of quantized keys that may be short on a GPU.
const QUANTIZED_LINEAR: u32 = MODE_LINEAR | MODE_QUANTIZED;

/// The form of a library for a GPU, made at the first request.
#[derive(Debug, Clone)]
pub struct DeviceForm {
    /// The number of words before the first clip with keys, which stay as they are.
    head: usize,
    arrays: OnceLock<Arrays>,
}

impl DeviceForm {
    /// The form of a library with `head` words before its first clip with keys.
    pub fn new(head: usize) -> Self {
        Self { head, arrays: OnceLock::new() }
    }

    /// The arrays, from the packed ones and the offsets of the records of all clips, with their skeletons.
    pub fn arrays(&self, packed: &Arrays, clips: impl IntoIterator<Item = (u32, SkeletonRecord)>) -> &Arrays {
        self.arrays.get_or_init(|| Transcoder::new(packed, clips, self.head).finish())
    }

    /// The sizes of the same arrays.
    pub fn sizes(&self, packed: &Arrays, clips: impl IntoIterator<Item = (u32, SkeletonRecord)>) -> Sizes {
        let transcoder = Transcoder::new(packed, clips, self.head);
        Sizes { words: transcoder.words.len(), values: transcoder.value_count as usize }
    }

    /// Frees the arrays.
    #[cfg(feature = "gpu")]
    pub fn free(&mut self) {
        self.arrays.take();
    }
}

/// Quantized columns that share their key times: one row per key.
struct DeviceBlock {
    /// The number of keys.
    keys: usize,
    /// The offset in the words of the packed rows, and the number of words from row to row.
    packed: (usize, usize),
    /// The columns by the offset of their records.
    columns: BTreeMap<u32, DeviceColumn>,
    /// The offset of the first row in the values, and the number of values from row to row.
    first: u32,
    row: u32,
}

/// A quantized column, and the place of its keys on a GPU.
struct DeviceColumn {
    record: PackedColumn,
    /// The number of elements of a key: 3 of splines.
    elements: u32,
    /// The joint's part that its channels are for; `None` for other uses.
    target: Option<u32>,
    form: KeyForm,
    /// True if the fourth codes are a scale.
    carries_scale: bool,
    /// The offset of the first key in its row.
    place: u32,
}

/// The form of the keys of a column on a GPU.
#[derive(Clone, Copy, PartialEq)]
enum KeyForm {
    /// Four `f32`.
    Floats,
    /// Codes in the lower or upper half of an element.
    Short { upper: bool },
    /// The fourth codes of the column with this record: a scale.
    Fourth { of: u32 },
}

/// The words of the form for a GPU, and the blocks of keys that its values will have.
struct Transcoder<'a> {
    packed: &'a Arrays,
    words: Vec<u32>,
    value_count: u32,
    /// The channels of the joints and the quantization steps of clips, by their offsets in the values.
    tables: Vec<(u32, Vec<Vec4>)>,
    /// The blocks by the offset of their packed rows.
    blocks: BTreeMap<u32, DeviceBlock>,
    /// The new offsets of key times, lookup tables, mappings and easings, by their offsets in the packed library.
    copied: HashMap<u32, u32>,
}

impl<'a> Transcoder<'a> {
    /// Lays out the arrays of a library with `head` words before its first clip with keys.
    fn new(packed: &'a Arrays, clips: impl IntoIterator<Item = (u32, SkeletonRecord)>, head: usize) -> Self {
        let mut transcoder = Self {
            packed,
            words: packed.words[..head].to_vec(),
            value_count: packed.values.len() as u32,
            tables: Vec::new(),
            blocks: BTreeMap::new(),
            copied: HashMap::new(),
        };
        let clips = clips.into_iter().map(|(offset, skeleton)| (offset, skeleton, packed.record(offset)));
        let clips: Vec<(u32, SkeletonRecord, ClipRecord)> = clips.collect();
        for (_, skeleton, clip) in &clips {
            transcoder.collect(skeleton, clip);
        }
        for (_, skeleton, clip) in &clips {
            transcoder.join(skeleton, clip);
        }
        transcoder.place();
        for (offset, skeleton, clip) in &clips {
            let clip = transcoder.clip(skeleton, clip);
            transcoder.words[*offset as usize..][..ClipRecord::WORDS].copy_from_slice(bytemuck::cast_slice(&[clip]));
        }
        transcoder
    }

    /// Collects the quantized columns of a clip.
    fn collect(&mut self, skeleton: &SkeletonRecord, clip: &ClipRecord) {
        let joints = skeleton.joint_count as usize;
        for (index, channel) in JointChannels::new(self.packed, skeleton, clip).all().enumerate() {
            self.collect_column(clip, channel, Some((index / joints) as u32));
        }
        for channel in self.value_channels(clip) {
            self.collect_column(clip, Channel { values: channel.values, sampler: channel.sampler }, None);
        }
    }

    /// Joins the translation and the scale of each joint of a clip, where they can share short keys.
    fn join(&mut self, skeleton: &SkeletonRecord, clip: &ClipRecord) {
        let words = &self.packed.words;
        let channels = JointChannels::new(self.packed, skeleton, clip);
        for joint in 0..skeleton.joint_count as usize {
            let [moved, scaled] = [PART_TRANSLATION, PART_SCALE].map(|part| channels.get(part, joint));
            if mode_of(moved.sampler) == QUANTIZED_LINEAR && moved.sampler == scaled.sampler {
                let timeline = self.packed.timeline(clip, timeline_of(moved.sampler) as u32);
                if let Some(block) = self.blocks.get_mut(&timeline.keys) {
                    block.join(words, moved.values, scaled.values);
                }
            }
        }
    }

    fn value_channels(&self, clip: &ClipRecord) -> Vec<ValueChannel> {
        let channel = |index: u32| self.packed.record(clip.value_channels + ValueChannel::WORDS as u32 * index);
        (0..clip.value_channel_count).map(channel).collect()
    }

    /// The channels of a part with one channel per number.
    fn singles(&self, channel: Channel) -> [Channel; 3] {
        [0, 1, 2].map(|number| self.packed.record(channel.values + Channel::WORDS as u32 * number))
    }

    /// Adds the column of a channel to its block, for a part of a joint or for anything else.
    fn collect_column(&mut self, clip: &ClipRecord, channel: Channel, part: Option<u32>) {
        let mode = mode_of(channel.sampler);
        if mode & !MODE_EULER == MODE_SPLIT {
            self.singles(channel).into_iter().for_each(|single| self.collect_column(clip, single, None));
        }
        if mode & MODE_QUANTIZED == 0 {
            return;
        }
        let arrays = &self.packed;
        let timeline = arrays.timeline(clip, timeline_of(channel.sampler) as u32);
        let block = self.blocks.entry(timeline.keys).or_insert_with(|| DeviceBlock {
            keys: key_count(arrays, &timeline),
            packed: (timeline.keys as usize, timeline.row as usize),
            columns: BTreeMap::new(),
            first: 0,
            row: 0,
        });
        let target = part.filter(|_| mode == QUANTIZED_LINEAR);
        let (keys, rows) = (block.keys, block.packed);
        let column = block.columns.entry(channel.values).or_insert_with(|| {
            let record = PackedColumn::new(&arrays.words, channel.values);
            let fits = |code: i32| i16::try_from(code).is_ok();
            let is_short = match record.form {
                Form::Numbers => target.is_some_and(|part| part != PART_ROTATION),
                Form::Dropped(_) => target == Some(PART_ROTATION),
                Form::Unit => false,
            } && (0..keys)
                .all(|key| record.multiples(row(&arrays.words, rows, key)).into_iter().all(fits));
            DeviceColumn {
                record,
                elements: if mode & !(MODE_QUANTIZED | MODE_EULER) == MODE_CUBIC { 3 } else { 1 },
                target,
                form: if is_short { KeyForm::Short { upper: false } } else { KeyForm::Floats },
                carries_scale: false,
                place: 0,
            }
        });
        if column.target != target {
            // Clips that share the column use it in several ways.
            column.form = KeyForm::Floats;
        }
    }

    /// Places all keys: in each row `f32` keys, then short keys, two in an element.
    fn place(&mut self) {
        for block in self.blocks.values_mut() {
            let mut row = 0;
            for column in block.columns.values_mut().filter(|column| column.form == KeyForm::Floats) {
                column.place = row;
                row += column.elements;
            }
            let mut halves = 2 * row;
            for column in block.columns.values_mut() {
                if let KeyForm::Short { upper } = &mut column.form {
                    (column.place, *upper) = (halves / 2, halves % 2 == 1);
                    halves += 1;
                }
            }
            (block.first, block.row) = (self.value_count, halves.div_ceil(2));
            self.value_count += block.row * block.keys as u32;
        }
    }

    /// Appends all that a clip has, and returns its record.
    fn clip(&mut self, skeleton: &SkeletonRecord, clip: &ClipRecord) -> ClipRecord {
        let arrays = self.packed;
        let mut timelines = Vec::new();
        for index in 0..clip.timeline_count {
            timelines.push(self.timeline(arrays.timeline(clip, index)));
        }
        let timelines = self.push(&timelines);
        let joints = skeleton.joint_count as usize;
        let (mut channels, mut steps) = (Vec::with_capacity(3 * joints), vec![Vec4::ZERO; joints]);
        for (index, channel) in JointChannels::new(arrays, skeleton, clip).all().enumerate() {
            let (channel, step) = self.joint_channel(clip, channel);
            channels.push(channel);
            steps[index % joints][index / joints] = step;
        }
        let channels = self.push_values(part_channels(&channels));
        let has_steps = steps.iter().any(|steps| *steps != Vec4::ZERO);
        let steps = if has_steps { self.push_values(steps) } else { 0 };
        let mut value_channels = self.value_channels(clip);
        for channel in &mut value_channels {
            let (found, _) = self.channel(clip, Channel { values: channel.values, sampler: channel.sampler });
            (channel.values, channel.sampler) = (found.values, found.sampler);
        }
        let numbers = skeleton.weight_count + skeleton.property_width;
        ClipRecord {
            timelines,
            channels,
            compact: 0,
            steps,
            value_table: self.copy(clip.value_table, numbers),
            value_channels: self.push(&value_channels),
            events: match clip.events {
                NONE => NONE,
                events => self.copy(events, 2 + 2 * arrays.words[events as usize]),
            },
            root: if clip.root == NONE { NONE } else { self.copy(clip.root, Root::WORDS as u32) },
            ..*clip
        }
    }

    /// The record of a timeline, with copies of its times and tables.
    fn timeline(&mut self, timeline: TimelineRecord) -> TimelineRecord {
        let easing = match timeline.easing {
            NONE => NONE,
            easing => self.copy(easing, 1 + self.packed.words[easing as usize]),
        };
        let map = match timeline.map {
            NONE => NONE,
            map => self.copy(map, Mapping::WORDS as u32 * timeline.key_count),
        };
        let (times, table) = match timeline.table {
            TIMES_EVEN => (self.even_times(&timeline), NONE),
            NONE => (self.copy(timeline.times, 2 * timeline.key_count), NONE),
            table => (self.copy(timeline.times, 2 * timeline.key_count), self.copy(table, timeline.cell_count + 1)),
        };
        let row = self.blocks.get(&timeline.keys).map_or(timeline.row, |block| block.row);
        TimelineRecord { times, table, easing, map, row, keys: 0, ..timeline }
    }

    /// Stores key times that are multiples of a step.
    fn even_times(&mut self, timeline: &TimelineRecord) -> u32 {
        if let Some(&times) = self.copied.get(&timeline.times) {
            return times;
        }
        let stored: [f32; 4] = self.packed.record(timeline.times);
        let [first, rest, step, step_rest] = stored.map(f64::from);
        let time = |key: u32| split(first + rest + f64::from(key) * (step + step_rest));
        let times: Vec<[f32; 2]> = (0..timeline.key_count).map(time).map(<[f32; 2]>::from).collect();
        let times = self.push(&times);
        self.copied.insert(timeline.times, times);
        times
    }

    /// The channel of a part of a joint, and its quantization step.
    fn joint_channel(&mut self, clip: &ClipRecord, channel: Channel) -> (Channel, f32) {
        if mode_of(channel.sampler) & !MODE_EULER == MODE_SPLIT {
            let singles = self.singles(channel).map(|single| self.channel(clip, single).0);
            return (Channel { values: self.push(&singles), ..channel }, 0.0);
        }
        self.channel(clip, channel)
    }

    /// A channel with one track, and its quantization step.
    fn channel(&self, clip: &ClipRecord, channel: Channel) -> (Channel, f32) {
        if mode_of(channel.sampler) & MODE_QUANTIZED == 0 {
            return (channel, 0.0);
        }
        let timeline = self.packed.timeline(clip, timeline_of(channel.sampler) as u32);
        let block = &self.blocks[&timeline.keys];
        let DeviceColumn { record, form, place, .. } = &block.columns[&channel.values];
        let swapped =
            if let Form::Dropped(index @ 0..3) = record.form { MODE_SWAPPED_X * (index as u32 + 1) } else { 0 };
        let (place, form, order) = match *form {
            KeyForm::Fourth { of } => (block.columns[&of].place, block.columns[&of].form, MODE_FOURTH),
            form => (*place, form, swapped),
        };
        let values = block.first + place;
        if form == KeyForm::Floats {
            return (Channel { values, sampler: channel.sampler & !MODE_QUANTIZED }, 0.0);
        }
        let upper = if form == (KeyForm::Short { upper: true }) { MODE_UPPER } else { 0 };
        (Channel { values, sampler: channel.sampler | upper | order }, record.step)
    }

    /// Copies words of the packed library, if they were not copied before, and returns their offset.
    fn copy(&mut self, from: u32, count: u32) -> u32 {
        // An empty list shares its offset with whatever follows it.
        if count == 0 {
            return self.words.len() as u32;
        }
        if let Some(&to) = self.copied.get(&from) {
            return to;
        }
        let to = self.push(&self.packed.words[from as usize..(from + count) as usize]);
        self.copied.insert(from, to);
        to
    }

    /// Appends records, and returns the offset of the first.
    fn push<T: bytemuck::Pod>(&mut self, records: &[T]) -> u32 {
        let offset = self.words.len() as u32;
        self.words.extend_from_slice(bytemuck::cast_slice(records));
        offset
    }

    /// Appends a table to the values, and returns its offset.
    fn push_values(&mut self, table: Vec<Vec4>) -> u32 {
        let offset = self.value_count;
        self.value_count += table.len() as u32;
        self.tables.push((offset, table));
        offset
    }

    /// The arrays, with all keys.
    fn finish(self) -> Arrays {
        let mut arrays = Arrays { words: self.words.into(), values: self.packed.values.to_vec().into() };
        arrays.values.resize(self.value_count as usize, Vec4::ZERO);
        for (offset, table) in &self.tables {
            arrays.values[*offset as usize..][..table.len()].copy_from_slice(table);
        }
        for block in self.blocks.values() {
            let rows = &mut arrays.values[block.first as usize..][..block.row as usize * block.keys];
            block.fill(&self.packed.words, rows);
        }
        arrays
    }
}

impl DeviceBlock {
    /// Joins a scale to the translation of a joint, if all its numbers are equal and both have short keys.
    fn join(&mut self, words: &[u32], translation: u32, scale: u32) {
        let short = KeyForm::Short { upper: false };
        let is_short =
            |offset: u32| self.columns.get(&offset).is_some_and(|column| column.form == short && !column.carries_scale);
        if !is_short(translation) || !is_short(scale) {
            return;
        }
        let rows = (0..self.keys).map(|key| row(words, self.packed, key));
        if let Some(column) = self.columns.get_mut(&scale)
            && rows.map(|row| column.record.multiples(row)).all(|[x, y, z, _]| x == y && x == z)
        {
            column.form = KeyForm::Fourth { of: translation };
            if let Some(carrier) = self.columns.get_mut(&translation) {
                carrier.carries_scale = true;
            }
        }
    }

    /// Writes the keys of all columns to the rows of the block.
    fn fill(&self, words: &[u32], values: &mut [Vec4]) {
        let at = |key: usize, place: u32| key * self.row as usize + place as usize;
        let rows = || (0..self.keys).map(|key| (key, row(words, self.packed, key)));
        for (&offset, column) in &self.columns {
            let (place, form) = match column.form {
                KeyForm::Fourth { of } => (self.columns[&of].place, self.columns[&of].form),
                form => (column.place, form),
            };
            match form {
                KeyForm::Short { upper } => {
                    let elements: &mut [[u32; 4]] = cast_slice_mut(values);
                    for (key, row) in rows() {
                        let codes = column.record.short_codes(row).map(u32::from);
                        let half = &mut elements[at(key, place)][2 * usize::from(upper)..];
                        if column.form == form {
                            half[0] |= codes[0] | codes[1] << 16;
                            half[1] |= codes[2] | codes[3] << 16;
                        } else {
                            half[1] |= codes[0] << 16;
                        }
                    }
                }
                KeyForm::Floats | KeyForm::Fourth { .. } => {
                    for element in 0..column.elements {
                        let record = PackedColumn::new(words, offset + element * column_words(words, offset));
                        for (key, row) in rows() {
                            let value = record.value(row).to_array();
                            values[at(key, place + element)] = Vec4::from_array(narrow(value));
                        }
                    }
                }
            }
        }
    }
}

/// The words of a packed row of codes. `rows` are the offset of the first row and the words from row to row.
pub fn row(words: &[u32], rows: (usize, usize), key: usize) -> &[u32] {
    &words[rows.0 + key * rows.1..][..rows.1]
}

/// The number of keys of a timeline; each has a row. Unrolled key times are more.
fn key_count(arrays: &Arrays, timeline: &TimelineRecord) -> usize {
    if timeline.map == NONE {
        return timeline.key_count as usize;
    }
    let mappings = (0..timeline.key_count).map(|key| timeline.map + Mapping::WORDS as u32 * key);
    let last = mappings.map(|offset| {
        let mapping: Mapping = arrays.record(offset);
        mapping.hit.max(mapping.source & MAP_KEY)
    });
    1 + last.max().unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, DVec3, DVec4};

    use super::*;
    use crate::compress::{CompressedLibrary, ErrorBound, Length};
    use crate::demo;
    use crate::model::{Clip, Curve, Interpolation, Joint, Library, Skeleton, Target, Timeline, Track};
    use crate::pack::record::{MODE_FOURTH, MODE_SWAPPED, MODE_SWAPPED_X, PartChannels};

    /// The numbers of a key on a GPU, and true if it has codes.
    fn key(arrays: &Arrays, channel: Channel, steps: Vec4, part: usize, row: u32) -> (DVec4, bool) {
        let mode = mode_of(channel.sampler);
        let element = arrays.values[(channel.values + row) as usize];
        if mode & MODE_QUANTIZED == 0 {
            return (element.as_dvec4(), false);
        }
        let halves: [[i16; 4]; 2] = bytemuck::cast(element.to_array());
        let codes = halves[usize::from(mode & MODE_UPPER != 0)].map(f64::from);
        let step = f64::from(steps[part]);
        let mut numbers = step * DVec4::from_array(codes);
        match part as u32 {
            PART_ROTATION => {
                numbers.w = (1.0 - numbers.truncate().length_squared()).max(0.0).sqrt();
                match (mode & MODE_SWAPPED) / MODE_SWAPPED_X {
                    0 => {}
                    place => numbers = swapped(numbers, place as usize - 1),
                }
            }
            PART_SCALE if mode & MODE_FOURTH != 0 => numbers = DVec4::splat(numbers.w),
            _ => {}
        }
        (numbers, true)
    }

    fn swapped(numbers: DVec4, index: usize) -> DVec4 {
        let mut numbers = numbers.to_array();
        numbers.swap(index, 3);
        DVec4::from_array(numbers)
    }

    /// Asserts that a GPU has the numbers of a compressed library, and counts linear keys of codes and of `f32`.
    fn assert_same_numbers(compressed: &CompressedLibrary, what: &str) -> [usize; 2] {
        let packed = compressed.pack().unwrap();
        let arrays = packed.device_arrays();
        assert_eq!(arrays.sizes(), packed.capacity, "{what}");
        let mut counts = [0; 2];
        for (found, clip) in packed.clips.iter().zip(compressed.library().clips()) {
            let skeleton = packed.skeletons[clip.skeleton.index()].record;
            let record: ClipRecord = arrays.record(found.offset);
            let channels = JointChannels::new(arrays, &skeleton, &record);
            for Track { target, curve, component } in &clip.tracks {
                let (part, joint) = match *target {
                    Target::Translation(joint) => (PART_TRANSLATION, joint),
                    Target::Rotation(joint) => (PART_ROTATION, joint),
                    Target::Scale(joint) => (PART_SCALE, joint),
                    _ => continue,
                };
                if component.is_some() || curve.is_constant() {
                    continue;
                }
                let channel = channels.get(part, joint);
                let timeline = arrays.timeline(&record, timeline_of(channel.sampler) as u32);
                let steps = arrays.values[record.steps as usize + joint];
                let middle = u32::from(curve.interpolation() == Interpolation::CubicSpline);
                let times = curve.timeline().times();
                for (index, &time) in times.iter().enumerate() {
                    if timeline.map == NONE {
                        let time_at = timeline.times + 2 * index as u32;
                        let parts: [f32; 2] = arrays.record(time_at);
                        let stored = f64::from(parts[0]) + f64::from(parts[1]);
                        // Times that are multiples of a step are exact to a position within an interval.
                        let step = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
                        let allowed = time.abs() * 2.0_f64.powi(-47) + step * 2.0_f64.powi(-23);
                        assert!((stored - time).abs() <= allowed, "{what}: {stored} s, not {time} s");
                    }
                    let row = timeline.row * index as u32 + middle;
                    let (numbers, is_short) = key(arrays, channel, steps, part as usize, row);
                    let is_linear = curve.interpolation() == Interpolation::Linear;
                    assert!(is_linear || !is_short, "{what}, {target:?}: codes of {:?}", curve.interpolation());
                    counts[usize::from(!is_short)] += usize::from(is_linear);
                    let wanted = curve.value(index);
                    let product: f64 = numbers.to_array().iter().zip(wanted).map(|(one, other)| one * other).sum();
                    // A quaternion and its negative are the same rotation.
                    let sign = if part == PART_ROTATION { product.signum() } else { 1.0 };
                    for (number, &wanted) in numbers.to_array().iter().zip(wanted) {
                        // The rounding of an f32.
                        let error = (sign * number - wanted).abs();
                        let allowed = if is_short { 1e-12 } else { 1e-7 } * wanted.abs().max(1.0);
                        assert!(error <= allowed, "{what}, {target:?}, key {index}: {number}, not {wanted}");
                    }
                }
            }
        }
        counts
    }

    #[test]
    fn numbers_are_those_of_the_compressed_library() {
        let library = demo::library().unwrap();
        for share in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
            let compressed = CompressedLibrary::new(&library, ErrorBound::new(Length::Share(share))).unwrap();
            let [short, floats] = assert_same_numbers(&compressed, &format!("{share}"));
            // At the default of 0.01 %, no number takes more than 16 bits; at a thousandth of it, most do.
            assert!(share < 1e-4 || floats == 0, "{short} short keys and {floats} others at {share}");
            assert!(share > 1e-7 || floats > short, "{short} short keys and {floats} others at {share}");
        }
        for bits in [1, 8, 15, 16, 17, 24] {
            let compressed = CompressedLibrary::with_width(&library, bits).unwrap();
            assert_same_numbers(&compressed, &format!("{bits} bits"));
        }
    }

    /// A clip of one joint, with 1,000 keys of 12 bits and rotations about each axis in turn.
    fn moving(joints: usize, moves: bool, scale: impl Fn(usize) -> [f64; 3]) -> CompressedLibrary {
        let mut library = Library::new();
        let joint = |joint: usize| Joint { parent: joint.checked_sub(1), ..Joint::default() };
        let skeleton = library.add_skeleton(Skeleton::new(None, (0..joints).map(joint).collect(), vec![]).unwrap());
        let timeline = Arc::new(Timeline::new((0..1000).map(|key| f64::from(key) / 30.0).collect()).unwrap());
        let curve = |width: usize, value: &dyn Fn(usize) -> Vec<f64>| {
            Curve::new(timeline.clone(), Interpolation::Linear, width, (0..1000).flat_map(value).collect()).unwrap()
        };
        let mut tracks = Vec::new();
        for joint in 0..joints {
            let axis = [DVec3::X, DVec3::Y, DVec3::Z][joint % 3];
            let turn = |key: usize| DQuat::from_axis_angle(axis, 3.0 + (0.1 * key as f64).sin()).to_array().to_vec();
            tracks.push(Track::new(Target::Rotation(joint), curve(4, &turn)));
            if moves {
                let place = |key: usize| vec![(0.2 * key as f64).cos(), 0.0, key as f64 * 1e-3];
                tracks.push(Track::new(Target::Translation(joint), curve(3, &place)));
                tracks.push(Track::new(Target::Scale(joint), curve(3, &|key| scale(key).to_vec())));
            }
        }
        library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        CompressedLibrary::with_width(&library, 12).unwrap()
    }

    #[test]
    fn a_key_of_a_joint_takes_8_16_or_24_bytes() {
        let bytes_per_key = |compressed: &CompressedLibrary, joints: usize| {
            let [short, floats] = assert_same_numbers(compressed, "a chain");
            assert!(short > 0 && floats == 0, "{floats} of {short}");
            let packed = compressed.pack().unwrap();
            // Channels and quantization steps.
            let tables = (PartChannels::ELEMENTS + 1) * joints;
            let keys = packed.device_arrays().values.len() - packed.arrays.values.len() - tables;
            16 * keys / (1000 * joints)
        };
        let uniform = |key: usize| [1.0 + 0.5 * (0.3 * key as f64).sin(); 3];
        let uneven = |key: usize| [1.0, uniform(key)[0], 2.0];
        assert_eq!(bytes_per_key(&moving(8, false, uniform), 8), 8);
        assert_eq!(bytes_per_key(&moving(8, true, uniform), 8), 16);
        assert_eq!(bytes_per_key(&moving(8, true, uneven), 8), 24);
    }

    #[test]
    fn arrays_for_a_gpu_can_be_made_again() {
        #[cfg_attr(not(feature = "gpu"), expect(unused_mut))]
        let mut packed = moving(3, true, |_| [1.0; 3]).pack().unwrap();
        let (words, values) = (packed.words().to_vec(), packed.values().to_vec());
        #[cfg(feature = "gpu")]
        packed.free_device_arrays();
        assert!(packed.words() == words && packed.values() == values && words.len() + values.len() > packed.size());
    }
}
