//! The plan of a clip: runs of neighbouring joints that are sampled together.

use std::ops::Range;
use std::sync::OnceLock;

use glam::Vec4;

use crate::cpu::block::joints::Parts;
use crate::cpu::prefetch::FirstKey;
use crate::cpu::simd::{FourColumns, LARGEST_BLOCK};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::Column;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_STEP, SkeletonRecord,
    TimelineRecord, mode_of, timeline_of,
};
use crate::pack::{Arrays, JointChannels, PackedLibrary};

/// The runs of the joints of a clip.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The runs of translations, rotations and scales, in the order of the joints.
    pub parts: [Vec<Run>; 3],
    /// The values of joints with one value each, then room for one more block.
    pub constants: Vec<Vec4>,
    /// The keys of joints of kind [`Kind::Scattered`].
    pub scattered: Vec<Keys>,
    /// The columns of joints with quantized keys, run by run. Those of each run are padded to whole blocks.
    pub columns: Vec<FourColumns>,
    /// The columns of joints of kind [`Kind::Scattered`].
    pub scattered_columns: Vec<Column>,
    /// The joints that the clip animates, a bit each: those with a translation, those with a rotation, those with a scale.
    pub animated: Vec<u64>,
    /// The parts that an additive layer is compared with: those at the start of the clip, and those of the rest pose.
    pub references: [OnceLock<Parts>; 2],
    /// The first [`MOST_TURNING`] timelines of rotations that are interpolated in blocks. Their weights are computed for all instances of a
    /// group at once.
    pub turning: Vec<usize>,
    /// For each timeline the first key of the joints.
    pub first_keys: Vec<FirstKey>,
    /// The bytes of all keys of the joints.
    pub key_bytes: usize,
}

/// Runs of fewer joints than this do not get blocks of their own.
const SHORT_RUN: usize = 4;
/// The most timelines whose weights are computed for all instances of a group at once.
const MOST_TURNING: usize = 8;
/// The index of a timeline that is not in [`Plan::turning`].
const NOT_TURNING: usize = usize::MAX;

/// Neighbouring joints that are sampled together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The first joint.
    pub first: usize,
    /// The number of joints.
    pub count: usize,
    /// The way in which they are sampled.
    pub kind: Kind,
}

impl Run {
    /// The joints of the run.
    pub fn joints(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// A way to sample joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The rest pose.
    Rest,
    /// One value per joint. The index is that of the first one in [`Plan::constants`]; the others follow.
    Constant(usize),
    /// Keys of one timeline, side by side in rows.
    Keys(Keys),
    /// Separate keys per joint, none of them steps. The index is that of the first one in [`Plan::scattered`]; the others follow.
    Scattered(usize),
    /// Joints that are sampled one by one.
    Single,
}

/// Keys of neighbouring joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keys {
    /// The offset in the values of the first key of the first joint. Of quantized keys, the index of its columns in the plan.
    pub first: usize,
    /// The index of the timeline in the clip.
    pub timeline: usize,
    /// If set, a key holds until the next.
    pub step: bool,
    /// If set, the keys are quantized.
    pub quantized: bool,
    /// If set, the keys are quantized, and the codes of each two joints lie in one window.
    pub paired: bool,
    /// The index of the timeline in [`Plan::turning`]; [`NOT_TURNING`] if it is not there.
    pub turning: usize,
}

impl Plan {
    /// The plan of a clip. `clip` is the offset of its record.
    pub fn new(library: &PackedLibrary, skeleton: &SkeletonRecord, clip: u32) -> Self {
        let joints = skeleton.joint_count as usize;
        let clip: ClipRecord = library.arrays.record(clip);
        let channels: Vec<Channel> = JointChannels::new(&library.arrays.words, skeleton, &clip).all().collect();
        let mut plan = Self::default();
        plan.find_keys(&library.arrays, &clip, &channels);
        for (part, channels) in TransformPart::ALL.into_iter().zip(channels.chunks_exact(joints.max(1))) {
            plan.parts[part as usize] = plan.runs(&library.arrays, part, channels);
            let is_animated = |channel: &Channel| mode_of(channel.sampler) & !MODE_QUANTIZED != MODE_REST;
            let bits = |channels: &[Channel]| {
                channels.iter().rev().fold(0, |bits, channel| bits << 1 | u64::from(is_animated(channel)))
            };
            plan.animated.extend(channels.chunks(64).map(bits));
        }
        plan.constants.extend([Vec4::ZERO; LARGEST_BLOCK]);
        plan
    }

    /// The number of bytes of the plan.
    pub fn size(&self) -> usize {
        let runs: usize = self.parts.iter().map(|runs| size_of_val(runs.as_slice())).sum();
        size_of::<Self>()
            + runs
            + size_of_val(self.constants.as_slice())
            + size_of_val(self.scattered.as_slice())
            + size_of_val(self.columns.as_slice())
            + size_of_val(self.scattered_columns.as_slice())
            + size_of_val(self.turning.as_slice())
            + size_of_val(self.first_keys.as_slice())
            + size_of_val(self.animated.as_slice())
            + self.references.iter().filter_map(OnceLock::get).map(Parts::size).sum::<usize>()
    }

    /// Finds the first key of each timeline, and the bytes of all keys.
    fn find_keys(&mut self, arrays: &Arrays, clip: &ClipRecord, channels: &[Channel]) {
        self.first_keys.resize(clip.timeline_count as usize, FirstKey::None);
        for channel in channels {
            let key = match mode_of(channel.sampler) {
                MODE_STEP | MODE_LINEAR => FirstKey::Value(channel.values as usize),
                mode if mode & MODE_QUANTIZED != 0 => {
                    FirstKey::Word(Column::new(&arrays.words, channel.values).first / 4)
                }
                _ => continue,
            };
            if let Some(first) = self.first_keys.get_mut(timeline_of(channel.sampler)) {
                *first = first.min(key);
            }
        }
        for (timeline, first) in (0..).zip(&self.first_keys) {
            let timeline: TimelineRecord = arrays.record(clip.timelines + TimelineRecord::WORDS as u32 * timeline);
            let keys = timeline.row as usize * timeline.key_count as usize;
            self.key_bytes += keys * first.element_bytes();
        }
    }

    /// The runs of one part of the transforms of all joints.
    fn runs(&mut self, arrays: &Arrays, part: TransformPart, channels: &[Channel]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut columns = Vec::new();
        for (joint, channel) in channels.iter().enumerate() {
            let kind = self.kind(arrays, part, channel, &mut columns);
            match runs.last_mut() {
                Some(run) if run.kind.after(run.count) == kind => run.count += 1,
                _ => runs.push(Run { first: joint, count: 1, kind }),
            }
        }
        let mut runs = self.merge(runs, &columns);
        if part == TransformPart::Rotation {
            self.find_turning(&mut runs);
        }
        runs
    }

    /// The way to sample one joint.
    fn kind(&mut self, arrays: &Arrays, part: TransformPart, channel: &Channel, columns: &mut Vec<Column>) -> Kind {
        let (first, timeline) = (channel.values as usize, timeline_of(channel.sampler));
        let mode = mode_of(channel.sampler);
        let quantized = mode & MODE_QUANTIZED != 0;
        let step = mode & !MODE_QUANTIZED == MODE_STEP;
        match mode & !MODE_QUANTIZED {
            MODE_REST => Kind::Rest,
            MODE_CONSTANT => {
                self.constants.push(arrays.values[first]);
                Kind::Constant(self.constants.len() - 1)
            }
            MODE_STEP | MODE_LINEAR if quantized => {
                let column = Column::new(&arrays.words, channel.values);
                if !column.can_block(part) {
                    return Kind::Single;
                }
                columns.push(column);
                Kind::Keys(Keys {
                    first: columns.len() - 1,
                    timeline,
                    step,
                    quantized,
                    paired: false,
                    turning: NOT_TURNING,
                })
            }
            MODE_STEP | MODE_LINEAR => {
                Kind::Keys(Keys { first, timeline, step, quantized, paired: false, turning: NOT_TURNING })
            }
            _ => Kind::Single,
        }
    }

    /// Lists the timelines of rotations that are interpolated in blocks.
    fn find_turning(&mut self, runs: &mut [Run]) {
        for run in runs {
            let Kind::Keys(keys) = &mut run.kind else { continue };
            if keys.step {
                continue;
            }
            let known = self.turning.iter().position(|&timeline| timeline == keys.timeline);
            keys.turning = match known {
                Some(index) => index,
                None if self.turning.len() < MOST_TURNING => {
                    self.turning.push(keys.timeline);
                    self.turning.len() - 1
                }
                None => NOT_TURNING,
            };
        }
    }

    /// Joins neighbouring short runs into one, and moves the columns of each run to the plan.
    fn merge(&mut self, runs: Vec<Run>, columns: &[Column]) -> Vec<Run> {
        let mut merged: Vec<Run> = Vec::new();
        for mut run in runs {
            if let Kind::Keys(keys) = &mut run.kind
                && keys.quantized
            {
                let columns = &columns[keys.first..keys.first + run.count];
                if run.count < SHORT_RUN && !keys.step {
                    keys.first = self.scattered_columns.len();
                    self.scattered_columns.extend(columns);
                } else {
                    keys.first = self.columns.len();
                    let (columns, paired) = four_by_four(columns);
                    keys.paired = paired;
                    self.columns.extend(columns);
                }
            }
            match run.kind {
                Kind::Keys(keys) if run.count < SHORT_RUN && !keys.step => {
                    match merged.last_mut() {
                        Some(Run { kind: Kind::Scattered(_), count, .. }) => *count += run.count,
                        _ => merged.push(Run { kind: Kind::Scattered(self.scattered.len()), ..run }),
                    }
                    self.scattered.extend((0..run.count).map(|joint| Keys { first: keys.first + joint, ..keys }));
                }
                _ => merged.push(run),
            }
        }
        merged
    }
}

impl Kind {
    /// The kind that the next joint must have to continue a run of `count` joints.
    fn after(self, count: usize) -> Self {
        match self {
            Self::Constant(first) => Self::Constant(first + count),
            Self::Keys(keys) => Self::Keys(Keys { first: keys.first + count, ..keys }),
            kind => kind,
        }
    }
}

/// Columns of neighbouring joints, four by four, padded to whole blocks with columns whose numbers are not used. The flag says
/// that the codes of each two joints lie in one window.
pub fn four_by_four(columns: &[Column]) -> (Vec<FourColumns>, bool) {
    let mut all: Vec<FourColumns> = columns.chunks(4).map(four_columns).collect();
    let pairs: Option<Vec<_>> = columns.as_chunks::<2>().0.iter().map(|[a, b]| b.bytes_from(a.first)).collect();
    for (pair, &bytes) in pairs.iter().flatten().enumerate() {
        let four = &mut all[pair / 2];
        let second = pair % 2 * 2 + 1;
        (four.firsts[second], four.bytes[second]) = (four.firsts[second - 1], bytes);
    }
    all.resize(columns.len().next_multiple_of(LARGEST_BLOCK) / 4, FourColumns::default());
    (all, pairs.is_some())
}

/// Up to four columns side by side.
fn four_columns(columns: &[Column]) -> FourColumns {
    let mut four = FourColumns::default();
    for (index, column) in columns.iter().enumerate() {
        four.bytes[index] = column.bytes;
        four.masks[index] = column.masks;
        four.scales[index] = column.scale;
        four.bases[index] = column.base;
        four.orders[index] = column.order;
        four.firsts[index] = column.first;
    }
    four
}
