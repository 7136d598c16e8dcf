//! What a clip has for each joint, in runs of joints that are sampled together.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::quantized::{Column, FourColumns};
use crate::cpu::simd::block::LARGEST_BLOCK;
use crate::pack::Arrays;
use crate::pack::PackedLibrary;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_STEP, SkeletonRecord, mode_of,
    timeline_of,
};

/// The runs of a clip's translations, rotations and scales, each from the first joint to the last.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub parts: [Vec<Run>; 3],
    /// The values of joints that have one each, with a block more.
    pub constants: Vec<Vec4>,
    /// The keys of joints that are scattered.
    pub scattered: Vec<Keys>,
    /// The columns of joints whose keys are quantized, run by run, each with as many as fill up blocks.
    pub columns: Vec<FourColumns>,
    /// Those of joints that are scattered.
    pub scattered_columns: Vec<Column>,
}

/// Fewer joints than this are not worth a block of their own.
const SHORT: usize = 4;

/// Neighbouring joints that are sampled together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The first joint.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// How.
    pub kind: Kind,
}

impl Run {
    /// The joints.
    pub fn joints(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// How joints are sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// They stay at rest.
    Rest,
    /// One value each, one after the other from here in the plan.
    Constant(usize),
    /// Keys in rows of one timeline, one after the other in a row.
    Keys(Keys),
    /// Keys that are not steps, each joint's by themselves, one after the other from here in the plan.
    Scattered(usize),
    /// Each by itself.
    Single,
}

/// Keys of neighbouring joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keys {
    /// Place of the first joint's first key in the values; of quantized keys, of its columns in the plan.
    pub first: usize,
    /// The timeline's index in the clip.
    pub timeline: usize,
    /// Whether a key holds until the next.
    pub step: bool,
    /// Whether the keys are quantized.
    pub quantized: bool,
    /// Whether these are, and each two joints' codes so near one another that they are read together.
    pub paired: bool,
}

impl Plan {
    /// The plan of a clip, by the place of its record.
    pub fn new(packing: &PackedLibrary, skeleton: &SkeletonRecord, clip: u32) -> Self {
        let joints = skeleton.joint_count as usize;
        let clip: ClipRecord = packing.arrays.record(clip);
        let first = clip.channels as usize;
        let channels: &[Channel] =
            bytemuck::cast_slice(&packing.arrays.words[first..first + 3 * Channel::WORDS * joints]);
        let mut plan = Self::default();
        for (part, channels) in channels.chunks_exact(joints.max(1)).enumerate() {
            plan.parts[part] = plan.runs(&packing.arrays, part, channels);
        }
        plan.constants.extend([Vec4::ZERO; LARGEST_BLOCK]);
        plan
    }

    /// The runs of one part of all joints.
    fn runs(&mut self, arrays: &Arrays, part: usize, channels: &[Channel]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut columns = Vec::new();
        for (joint, channel) in channels.iter().enumerate() {
            let kind = self.kind(arrays, part, channel, &mut columns);
            match runs.last_mut() {
                Some(run) if run.kind.after(run.count) == kind => run.count += 1,
                _ => runs.push(Run { first: joint, count: 1, kind }),
            }
        }
        self.merge(runs, &columns)
    }

    /// How one joint is sampled.
    fn kind(&mut self, arrays: &Arrays, part: usize, channel: &Channel, columns: &mut Vec<Column>) -> Kind {
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
                Kind::Keys(Keys { first: columns.len() - 1, timeline, step, quantized, paired: false })
            }
            MODE_STEP | MODE_LINEAR => Kind::Keys(Keys { first, timeline, step, quantized, paired: false }),
            _ => Kind::Single,
        }
    }

    /// Makes one run of short ones that follow one another, and puts each one's columns where they are read.
    fn merge(&mut self, runs: Vec<Run>, columns: &[Column]) -> Vec<Run> {
        let mut merged: Vec<Run> = Vec::new();
        for mut run in runs {
            if let Kind::Keys(keys) = &mut run.kind
                && keys.quantized
            {
                let columns = &columns[keys.first..keys.first + run.count];
                if run.count < SHORT && !keys.step {
                    keys.first = self.scattered_columns.len();
                    self.scattered_columns.extend(columns);
                } else {
                    keys.first = self.columns.len();
                    let (columns, paired) = FourColumns::all(columns);
                    keys.paired = paired;
                    self.columns.extend(columns);
                }
            }
            match run.kind {
                Kind::Keys(keys) if run.count < SHORT && !keys.step => {
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
    /// What the next joint of a run is that has so many.
    fn after(self, count: usize) -> Self {
        match self {
            Self::Constant(first) => Self::Constant(first + count),
            Self::Keys(keys) => Self::Keys(Keys { first: keys.first + count, ..keys }),
            kind => kind,
        }
    }
}
