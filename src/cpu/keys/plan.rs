//! The plan of a clip: runs of neighbouring joints that are sampled together.
//!
//! An engine makes a plan per clip and per rest pose. For each part of the transforms, it walks over the joints and
//! joins neighbours that are sampled in one way: joints at rest, constants, keys that stand side by side in the rows of
//! one timeline ([`RunKind`]). Blocks then copy or interpolate a run, whatever joints it has. Short runs would waste
//! most lanes of their blocks: their constants are gathered, and their keys are sampled as scattered joints, which fill
//! blocks with joints of other runs.
//!
//! The plan also says what can be computed once for a group of instances (the timelines of rotations), where keys begin
//! (for [`prefetch`](crate::cpu::keys::prefetch)), and where decoded rows have their places ([`RowPlaces`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;

use glam::Vec4;

use crate::cpu::block::JointParts;
use crate::cpu::block::slerp::NEAR_ARC;
use crate::cpu::keys::records::{Nearness, nearness};
use crate::cpu::simd::LARGEST_BLOCK;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::DecodedColumn;
use crate::cpu::stages::search;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_STEP, NONE,
    QUANTIZED_NARROW_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS, SkeletonRecord, mode_of, timeline_of,
};
use crate::pack::{Arrays, JointChannels, PackedLibrary, column_words};

/// The runs of the joints of a clip. They refer to the packed library, of which a plan copies nothing.
#[derive(Debug, Default)]
pub struct ClipRuns {
    /// The runs of translations, then of rotations, then of scales, in the order of the joints.
    runs: Box<[JointRun]>,
    /// The index of the first run of rotations, and of scales.
    splits: [u32; 2],
    /// The offsets in the values of joints of kind [`RunKind::Gathered`].
    pub gathered: Box<[u32]>,
    /// The keys of joints of kind [`RunKind::Scattered`].
    pub scattered: Box<[KeyRun]>,
    /// The joints that the clip animates, a bit each: those with a translation, those with a rotation, those with a
    /// scale.
    pub animated: Box<[u64]>,
    /// The parts that an additive layer is compared with: the start of the clip, and the rest pose.
    pub references: [OnceLock<Box<JointParts>>; 2],
    /// The first [`MAX_TURNING`] timelines of rotations that are interpolated in blocks. Their weights are computed for
    /// all instances of a group at once.
    pub turning: Box<[u32]>,
    /// For each timeline the first key of the joints.
    pub first_keys: Box<[FirstKey]>,
    /// The bytes of all keys of the joints.
    pub key_bytes: usize,
    /// The places of decoded rows.
    pub rows: RowPlaces,
    /// If set, the clip has quantized keys.
    pub quantized: bool,
}

/// The most timelines whose weights are computed for all instances of a group at once.
pub const MAX_TURNING: usize = 8;
/// The index of a timeline that is not in [`ClipRuns::turning`].
pub const NOT_TURNING: u8 = u8::MAX;

/// Neighbouring joints that are sampled together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointRun {
    /// The first joint.
    first: u32,
    /// The number of joints.
    count: u32,
    /// The way in which they are sampled.
    pub kind: RunKind,
}

impl JointRun {
    /// The joints of the run.
    #[inline(always)]
    pub fn joints(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.count as usize
    }
}

/// A way to sample joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunKind {
    /// The rest pose.
    Rest,
    /// One value per joint, side by side. The index is the offset of the first one in the values.
    Constant(u32),
    /// One value per joint, at any place. The index is the index of the first one in [`ClipRuns::gathered`]; the others
    /// follow.
    Gathered(u32),
    /// Keys of one timeline, side by side in rows.
    Keys(KeyRun),
    /// Separate keys per joint, none of them steps. The index is the index of the first one in [`ClipRuns::scattered`];
    /// the others follow.
    Scattered(u32),
    /// Joints that are sampled one by one.
    Single,
}

/// Keys of neighbouring joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyRun {
    /// The offset in the values of the first key of the first joint. Of quantized keys, the offset of the record of its
    /// column in the words.
    pub first: u32,
    /// The index of the timeline in the clip.
    timeline: u32,
    /// Of quantized keys, the index of the first column among the decoded ones of the clip: of all runs, or of all
    /// separate keys.
    columns: u32,
    /// The form in which they are stored.
    pub storage: KeyStorage,
    /// The index of the timeline in [`ClipRuns::turning`]; [`NOT_TURNING`] if it is not there.
    turning: u8,
    /// If set, a key holds until the next.
    pub step: bool,
    /// Of quantized keys, how near each other their codes are.
    pub nearness: Nearness,
}

/// A form in which the keys of neighbouring joints are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyStorage {
    /// Values.
    Values,
    /// Values, rotations of which neighbouring keys are [near](NEAR_ARC) each other.
    NearRotations,
    /// Quantized keys, whose columns have short records.
    Narrow,
    /// Quantized keys, whose columns have long records.
    Wide,
    /// Quantized keys, whose columns have records of either length.
    Mixed,
    /// Quantized keys, whose columns have records of either length. Some rotations store all four numbers.
    MixedWithWhole,
}

impl KeyStorage {
    /// Keys of neighbouring joints together.
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (own, other) if own == other => own,
            (Self::MixedWithWhole, _) | (_, Self::MixedWithWhole) => Self::MixedWithWhole,
            _ => Self::Mixed,
        }
    }
}

impl KeyRun {
    /// Returns `true` if the keys are quantized.
    #[inline(always)]
    pub fn is_quantized(&self) -> bool {
        !matches!(self.storage, KeyStorage::Values | KeyStorage::NearRotations)
    }

    /// Returns `true` if some rotations store all four numbers.
    #[inline(always)]
    pub fn have_whole_rotations(&self) -> bool {
        self.storage == KeyStorage::MixedWithWhole
    }

    /// The words of the record of each column of quantized keys; `None` if they differ.
    #[inline(always)]
    pub fn column_stride(&self) -> Option<usize> {
        match self.storage {
            KeyStorage::Narrow => Some(QUANTIZED_NARROW_COLUMN_WORDS as usize),
            KeyStorage::Wide => Some(QUANTIZED_WIDE_COLUMN_WORDS as usize),
            KeyStorage::Values | KeyStorage::NearRotations | KeyStorage::Mixed | KeyStorage::MixedWithWhole => None,
        }
    }

    /// These keys, then the keys of each joint that follows.
    pub fn each(self, words: &[u32]) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |keys| Some(Self { first: keys.end(words), ..*keys }))
    }

    /// The offset after the first key of the first joint, or after the record of its column.
    pub fn end(&self, words: &[u32]) -> u32 {
        self.first + if self.is_quantized() { column_words(words, self.first) } else { 1 }
    }

    /// The index of the timeline in the clip.
    #[inline(always)]
    pub fn timeline(&self) -> usize {
        self.timeline as usize
    }

    /// The index of the first column among the decoded ones of the clip.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The index of the timeline in [`ClipRuns::turning`], or a larger number.
    #[inline(always)]
    pub fn turning(&self) -> usize {
        self.turning.into()
    }

    /// The columns of quantized keys of this joint and the next ones, decoded.
    pub fn decode(self, words: &[u32]) -> impl Iterator<Item = DecodedColumn> {
        self.each(words).map(|keys| DecodedColumn::new(words, keys.first))
    }
}

impl ClipRuns {
    /// The runs of one part of the transforms.
    #[inline(always)]
    pub fn runs(&self, part: TransformPart) -> &[JointRun] {
        let [rotations, scales] = self.splits.map(|split| split as usize);
        match part {
            TransformPart::Translation => &self.runs[..rotations],
            TransformPart::Rotation => &self.runs[rotations..scales],
            TransformPart::Scale => &self.runs[scales..],
        }
    }

    /// The runs of translations, then of rotations, then of scales.
    pub fn all_runs(&self) -> &[JointRun] {
        &self.runs
    }

    /// The number of bytes that the plan refers to.
    pub fn heap_bytes(&self) -> usize {
        let references = self.references.iter().filter_map(OnceLock::get);
        size_of_val(&*self.runs)
            + size_of_val(&*self.gathered)
            + size_of_val(&*self.scattered)
            + size_of_val(&*self.animated)
            + size_of_val(&*self.turning)
            + size_of_val(&*self.first_keys)
            + size_of_val(&*self.rows.timelines)
            + references.map(|parts| size_of::<JointParts>() + parts.size()).sum::<usize>()
    }
}

/// The location of the first key of a timeline. All keys of a timeline have the same distance from one to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum FirstKey {
    /// No joint has keys of the timeline.
    #[default]
    None,
    /// The offset in the values.
    Value(u32),
    /// The offset in the words, of quantized keys.
    Word(u32),
}

impl FirstKey {
    /// The first of two keys.
    pub fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, first) => first,
            (Self::Value(a), Self::Value(b)) => Self::Value(a.min(b)),
            (Self::Word(a), Self::Word(b)) => Self::Word(a.min(b)),
            (first, _) => first,
        }
    }

    /// The location that is `elements` elements further.
    pub fn after(self, elements: u32) -> Self {
        match self {
            Self::None => Self::None,
            Self::Value(first) => Self::Value(first.saturating_add(elements)),
            Self::Word(first) => Self::Word(first.saturating_add(elements)),
        }
    }

    /// The bytes of an element of the array with the keys.
    pub fn element_bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Value(_) => size_of::<Vec4>(),
            Self::Word(_) => size_of::<u32>(),
        }
    }
}

/// The most bytes of the rows that are kept of a clip. More would not stay in the cache of a core.
pub const MAX_KEPT_BYTES: u64 = 512 << 10;

/// The most rows of a timeline that instances read together: two each.
pub const MAX_GROUP_ROWS: u32 = 2 * LARGEST_BLOCK as u32;

/// The places of the decoded rows of a clip. A row has the joints of all runs with quantized keys side by side, in the
/// order of their columns, each run padded to whole blocks, then runs of kind [`RunKind::Scattered`].
/// The keys of a timeline fill their own places of a row, so that timelines share rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowPlaces {
    /// The timelines of these joints.
    pub timelines: Box<[TimelineRows]>,
    /// The columns of all runs, in fours.
    pub of_runs: u32,
    /// The columns of a row, in fours.
    pub fours: u32,
    /// The number of rows.
    pub count: u32,
    /// If set, each key is decoded once, and kept for all instances that read it. Otherwise all rows together are too
    /// large, and there are as many as instances that are sampled together.
    pub are_kept: bool,
    /// If set, rows have the scattered joints. Otherwise their many keys would keep the keys of the runs from being
    /// kept.
    pub have_scattered: bool,
}

/// The keys of a timeline among the keys of the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineRows {
    /// The index of the timeline in the clip.
    pub timeline: u32,
    /// The number of keys of the timelines before.
    pub first_key: u32,
}

impl RowPlaces {
    /// Places for the rows of runs and of scattered joints: their columns in fours, and each timeline with the number
    /// of its keys.
    pub fn new(of_runs: (u32, &[(u32, u32)]), scattered: (u32, &[(u32, u32)])) -> Self {
        let fours = of_runs.0.saturating_add(scattered.0);
        let runs: BTreeMap<u32, u32> = of_runs.1.iter().copied().collect();
        let mut all = runs.clone();
        all.extend(scattered.1.iter().copied());
        let most = |counts: &BTreeMap<u32, u32>| counts.values().copied().max().unwrap_or(0);
        let fits = |fours: u32, counts: &BTreeMap<u32, u32>| {
            let bytes = size_of::<[Vec4; 4]>() as u64 * u64::from(fours);
            bytes.saturating_mul(most(counts).into()) <= MAX_KEPT_BYTES
        };
        let (all_fit, runs_fit) = (fits(fours, &all), of_runs.0 > 0 && fits(of_runs.0, &runs));
        let (are_kept, have_scattered) = (all_fit || runs_fit, all_fit || !runs_fit);
        let counts = if have_scattered { all } else { runs };
        let count = if are_kept { most(&counts) } else { MAX_GROUP_ROWS };
        let mut keys = 0;
        let place = |(timeline, count): (u32, u32)| {
            let first_key = keys;
            keys += if are_kept { count } else { 0 };
            TimelineRows { timeline, first_key }
        };
        Self {
            timelines: counts.into_iter().map(place).collect(),
            of_runs: of_runs.0,
            fours: if have_scattered { fours } else { of_runs.0 },
            count,
            are_kept,
            have_scattered,
        }
    }

    /// The number of keys of all timelines, at most.
    pub fn keys(&self) -> u32 {
        self.timelines.last().map_or(0, |last| last.first_key + self.count)
    }
}

/// Runs of fewer joints than this do not get blocks of their own.
const SHORT_RUN: u32 = 4;

impl ClipRuns {
    /// The plan of a clip. `clip` is the offset of its record.
    pub fn new(library: &PackedLibrary, skeleton: &SkeletonRecord, clip: u32) -> Self {
        let joints = skeleton.joint_count as usize;
        let clip: ClipRecord = library.arrays.record(clip);
        let channels: Vec<Channel> = JointChannels::new(&library.arrays, skeleton, &clip).all().collect();
        let (first_keys, key_bytes) = find_keys(&library.arrays, &clip, &channels);
        let mut builder = PlanBuilder::new(&library.arrays);
        let (mut runs, mut splits, mut animated) = (Vec::new(), [0; 3], Vec::new());
        for (part, channels) in TransformPart::ALL.into_iter().zip(channels.chunks_exact(joints.max(1))) {
            splits[part as usize] = runs.len() as u32;
            runs.extend(builder.runs(&clip, part, channels));
            let is_animated = |channel: &Channel| mode_of(channel.sampler) & !MODE_QUANTIZED != MODE_REST;
            let bits = |channels: &[Channel]| {
                channels.iter().rev().fold(0, |bits, channel| bits << 1 | u64::from(is_animated(channel)))
            };
            animated.extend(channels.chunks(64).map(bits));
        }
        let rows = builder.row_places(&clip, &runs);
        let PlanBuilder { gathered, scattered, turning, columns, .. } = builder;
        Self {
            runs: runs.into(),
            splits: [splits[1], splits[2]],
            gathered: gathered.into(),
            quantized: columns > 0 || scattered.iter().any(KeyRun::is_quantized),
            scattered: scattered.into(),
            rows,
            animated: animated.into(),
            references: Default::default(),
            turning: turning.into(),
            first_keys: first_keys.into(),
            key_bytes,
        }
    }
}

/// The first key of each timeline, and the bytes of all keys.
fn find_keys(arrays: &Arrays, clip: &ClipRecord, channels: &[Channel]) -> (Vec<FirstKey>, usize) {
    let mut first_keys = vec![FirstKey::None; clip.timeline_count as usize];
    for channel in channels {
        let key = match mode_of(channel.sampler) {
            MODE_STEP | MODE_LINEAR => FirstKey::Value(channel.values),
            mode if mode & MODE_QUANTIZED != 0 => {
                FirstKey::Word(DecodedColumn::new(&arrays.words, channel.values).first as u32 / 4)
            }
            _ => continue,
        };
        if let Some(first) = first_keys.get_mut(timeline_of(channel.sampler)) {
            *first = first.min(key);
        }
    }
    let bytes = |(timeline, first): (u32, &FirstKey)| {
        let timeline = arrays.timeline(clip, timeline);
        timeline.row as usize * timeline.key_count as usize * first.element_bytes()
    };
    let key_bytes = (0..).zip(&first_keys).map(bytes).sum();
    (first_keys, key_bytes)
}

/// The runs that were found, and what they refer to.
struct PlanBuilder<'a> {
    arrays: &'a Arrays,
    gathered: Vec<u32>,
    scattered: Vec<KeyRun>,
    turning: Vec<u32>,
    /// The columns of runs, each padded to whole blocks.
    columns: u32,
    /// The columns of joints of kind [`RunKind::Scattered`].
    scattered_columns: u32,
}

impl<'a> PlanBuilder<'a> {
    fn new(arrays: &'a Arrays) -> Self {
        Self {
            arrays,
            gathered: Vec::new(),
            scattered: Vec::new(),
            turning: Vec::new(),
            columns: 0,
            scattered_columns: 0,
        }
    }

    /// The runs of one part of the transforms of all joints.
    fn runs(&mut self, clip: &ClipRecord, part: TransformPart, channels: &[Channel]) -> Vec<JointRun> {
        let mut runs: Vec<JointRun> = Vec::new();
        // The offset after the first key, or after the record, of the joint before.
        let mut end = 0;
        for (joint, channel) in (0..).zip(channels) {
            let kind = self.kind(part, channel);
            match runs.last_mut() {
                Some(run) if continues(run, end, kind) => {
                    run.count += 1;
                    if let (RunKind::Keys(all), RunKind::Keys(own)) = (&mut run.kind, kind) {
                        all.storage = all.storage.with(own.storage);
                    }
                }
                _ => runs.push(JointRun { first: joint, count: 1, kind }),
            }
            if let RunKind::Keys(keys) = kind {
                end = keys.end(&self.arrays.words);
            }
        }
        let mut runs = self.merge(runs, part);
        if part == TransformPart::Rotation {
            self.find_turning(&mut runs);
            self.find_near(&mut runs, clip);
        }
        runs
    }

    /// The way to sample one joint.
    fn kind(&self, part: TransformPart, channel: &Channel) -> RunKind {
        let (first, mode) = (channel.values, mode_of(channel.sampler));
        match mode & !MODE_QUANTIZED {
            MODE_REST => RunKind::Rest,
            MODE_CONSTANT => RunKind::Constant(first),
            MODE_STEP | MODE_LINEAR => match self.storage(part, first, mode & MODE_QUANTIZED != 0) {
                Some(storage) => RunKind::Keys(KeyRun {
                    first,
                    timeline: timeline_of(channel.sampler) as u32,
                    columns: 0,
                    storage,
                    turning: NOT_TURNING,
                    step: mode & !MODE_QUANTIZED == MODE_STEP,
                    nearness: Nearness::Apart,
                }),
                None => RunKind::Single,
            },
            _ => RunKind::Single,
        }
    }

    /// The form of the keys of one joint; `None` if they are not sampled as a block.
    fn storage(&self, part: TransformPart, first: u32, is_quantized: bool) -> Option<KeyStorage> {
        let words = &self.arrays.words;
        if !is_quantized {
            Some(KeyStorage::Values)
        } else if !DecodedColumn::new(words, first).decodes_in_block(part) {
            (part == TransformPart::Rotation).then_some(KeyStorage::MixedWithWhole)
        } else if column_words(words, first) == QUANTIZED_NARROW_COLUMN_WORDS {
            Some(KeyStorage::Narrow)
        } else {
            Some(KeyStorage::Wide)
        }
    }

    /// The places of the rows of all quantized keys.
    fn row_places(&self, clip: &ClipRecord, runs: &[JointRun]) -> RowPlaces {
        let row_count =
            |timeline: u32| (timeline, search::row_count(&self.arrays.words, &self.arrays.timeline(clip, timeline)));
        let counts = |keys: &mut dyn Iterator<Item = KeyRun>| -> Vec<(u32, u32)> {
            let timelines: BTreeSet<u32> = keys.filter(KeyRun::is_quantized).map(|keys| keys.timeline).collect();
            timelines.into_iter().map(row_count).collect()
        };
        let mut of_runs = runs.iter().filter_map(|run| match run.kind {
            RunKind::Keys(keys) => Some(keys),
            _ => None,
        });
        let of_runs = (self.columns, &*counts(&mut of_runs));
        let scattered = counts(&mut self.scattered.iter().copied());
        RowPlaces::new(of_runs, (self.scattered_columns.div_ceil(4), &scattered))
    }

    /// Lists the timelines of rotations that are interpolated in blocks.
    fn find_turning(&mut self, runs: &mut [JointRun]) {
        for run in runs {
            let RunKind::Keys(keys) = &mut run.kind else { continue };
            if keys.step {
                continue;
            }
            let known = self.turning.iter().position(|&timeline| timeline == keys.timeline);
            let index = known.unwrap_or(self.turning.len());
            if index < MAX_TURNING {
                keys.turning = index as u8;
                if known.is_none() {
                    self.turning.push(keys.timeline);
                }
            }
        }
    }

    /// Marks the runs of rotations whose neighbouring keys are near each other.
    fn find_near(&self, runs: &mut [JointRun], clip: &ClipRecord) {
        for run in runs {
            let joints = run.count as usize;
            let RunKind::Keys(keys) = &mut run.kind else { continue };
            if keys.is_quantized() || keys.step {
                continue;
            }
            let timeline = self.arrays.timeline(clip, keys.timeline);
            if timeline.map != NONE {
                // A curve that repeats has more key times than rows.
                continue;
            }
            let (row, values) = (timeline.row as usize, &self.arrays.values[keys.first as usize..]);
            let is_near = |key: usize| {
                let (start, end) = (&values[key * row..][..joints], &values[(key + 1) * row..][..joints]);
                start.iter().zip(end).all(|(start, end)| start.dot(*end) >= NEAR_ARC)
            };
            if (1..timeline.key_count as usize).all(|next| is_near(next - 1)) {
                keys.storage = KeyStorage::NearRotations;
            }
        }
    }

    /// Joins neighbouring short runs into one, and counts the columns of all runs.
    fn merge(&mut self, runs: Vec<JointRun>, part: TransformPart) -> Vec<JointRun> {
        let mut merged: Vec<JointRun> = Vec::new();
        for mut run in runs {
            match &mut run.kind {
                RunKind::Constant(first) if run.count < SHORT_RUN => {
                    let offsets = *first..*first + run.count;
                    run.kind = RunKind::Gathered(self.gathered.len() as u32);
                    self.gathered.extend(offsets);
                }
                RunKind::Keys(keys) if run.count < SHORT_RUN && !keys.step => {
                    let keys = *keys;
                    run.kind = RunKind::Scattered(self.scattered.len() as u32);
                    for own in keys.each(&self.arrays.words).take(run.count as usize) {
                        self.scattered.push(KeyRun { columns: self.scattered_columns, ..own });
                        self.scattered_columns += u32::from(own.is_quantized());
                    }
                }
                RunKind::Keys(keys) if keys.is_quantized() => {
                    keys.columns = self.columns;
                    self.columns += run.count.next_multiple_of(LARGEST_BLOCK as u32) / 4;
                    let columns: Vec<DecodedColumn> =
                        keys.decode(&self.arrays.words).take(run.count as usize).collect();
                    keys.nearness = nearness(&columns, part);
                }
                _ => {}
            }
            match (merged.last_mut(), run.kind) {
                (Some(JointRun { kind: RunKind::Gathered(_), count, .. }), RunKind::Gathered(_))
                | (Some(JointRun { kind: RunKind::Scattered(_), count, .. }), RunKind::Scattered(_)) => {
                    *count += run.count
                }
                _ => merged.push(run),
            }
        }
        merged
    }
}

/// Returns `true` if a joint continues a run. `end` is the offset after the first key, or after the record, of the
/// joint before.
fn continues(run: &JointRun, end: u32, kind: RunKind) -> bool {
    match (run.kind, kind) {
        (RunKind::Constant(first), RunKind::Constant(own)) => own == first + run.count,
        (RunKind::Keys(keys), RunKind::Keys(own)) => {
            let is_alike =
                (keys.timeline, keys.step, keys.is_quantized()) == (own.timeline, own.step, own.is_quantized());
            is_alike && own.first == end
        }
        (before, kind) => before == kind,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::model::{
        Clip, ClipId, Curve, Extrapolation, Interpolation, Joint, Library, Skeleton, Target, Timeline, Track,
    };

    /// Six joints in a row. The clip turns all of them, moves the first one, and gives the middle two a scale.
    fn library() -> Library {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let mut library = Library::new();
        let skeleton = Skeleton::new(None, (0..6).map(joint).collect(), vec![]).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0, 2.0]).unwrap());
        let linear = |width, values| Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap();
        let turn = |index: usize| {
            let halves = [0.1, 0.3, 0.2].map(|half| half * (index + 1) as f64 / 6.0);
            linear(4, halves.iter().flat_map(|half: &f64| [half.sin(), 0.0, 0.0, half.cos()]).collect())
        };
        let mut tracks: Vec<Track> = (0..6).map(|index| Track::new(Target::Rotation(index), turn(index))).collect();
        let movement = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0];
        tracks.push(Track::new(Target::Translation(0), linear(3, movement)));
        for (index, scale) in [(2, 2.0), (3, 2.0)] {
            tracks.push(Track::new(Target::Scale(index), linear(3, vec![scale; 9])));
        }
        library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        library
    }

    #[test]
    fn plans_have_the_size_worked_out_by_hand() {
        let runs = |plan: &ClipRuns| -> Vec<Vec<(usize, &'static str)>> {
            let name = |run: &JointRun| match run.kind {
                RunKind::Rest => "rest",
                RunKind::Constant(_) => "constant",
                RunKind::Gathered(_) => "gathered",
                RunKind::Keys(_) => "keys",
                RunKind::Scattered(_) => "scattered",
                RunKind::Single => "single",
            };
            let of_part = |runs: &[JointRun]| runs.iter().map(|run| (run.joints().len(), name(run))).collect();
            TransformPart::ALL.map(|part| of_part(plan.runs(part))).into()
        };
        let library = library();
        let compressed = CompressedLibrary::with_width(&library, 16).unwrap();
        let packed = [PackedLibrary::with_threads(&library, 1).unwrap(), compressed.pack().unwrap()];
        // Compressed keys have rows to decode, of one timeline.
        for (packed, timelines_of_rows) in packed.into_iter().zip([0, 1]) {
            let clip = packed.clip(ClipId(0)).unwrap().offset;
            let plan = ClipRuns::new(&packed, &packed.skeletons[0].record, clip);
            let expected = [
                vec![(1, "scattered"), (5, "rest")],
                vec![(6, "keys")],
                // Both joints share one value.
                vec![(2, "rest"), (2, "gathered"), (2, "rest")],
            ];
            assert_eq!(runs(&plan), expected);
            // Six runs of 24 bytes, one scattered joint of 16, two offsets of 4, three words of joints that the clip
            // animates, 8 each, an index of 4 of the timeline of rotations, the first key of the timeline, 8, and 8 per
            // timeline of rows to decode.
            let expected = 6 * 24 + 16 + 2 * 4 + 3 * 8 + 4 + 8 + 8 * timelines_of_rows;
            assert_eq!(plan.heap_bytes(), expected);
        }
        #[cfg(target_pointer_width = "64")]
        assert_eq!(size_of::<(u32, ClipRuns)>(), 192);
    }

    #[test]
    fn near_rotations_are_found_among_the_rows_that_a_curve_has() {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        for (extrapolation, step, expected) in [
            (Extrapolation::Clamp, 0.1, KeyStorage::NearRotations),
            // Two keys are 57.3 degrees apart.
            (Extrapolation::Clamp, 0.5, KeyStorage::Values),
            // More key times than rows, whose last ones would be beyond the end of the values.
            (Extrapolation::Loop, 0.1, KeyStorage::Values),
        ] {
            let mut library = Library::new();
            let skeleton = Skeleton::new(None, (0..20).map(joint).collect(), vec![]).unwrap();
            let skeleton = library.add_skeleton(skeleton);
            let timeline = Arc::new(Timeline::new(vec![0.0, 0.5, 1.0]).unwrap());
            let values =
                [0.0, step, 2.0 * step].iter().flat_map(|half: &f64| [half.sin(), 0.0, 0.0, half.cos()]).collect();
            let curve = Curve::new(timeline, Interpolation::Linear, 4, values).unwrap();
            let curve = curve.with_extrapolation(Extrapolation::Clamp, extrapolation);
            let tracks = (0..20).map(|joint| Track::new(Target::Rotation(joint), curve.clone())).collect();
            library.add_clip(Clip { length: Some(10.0), ..Clip::new(None, skeleton, tracks) }).unwrap();
            let engine = crate::cpu::CpuEngine::with_threads(&library, 1).unwrap();
            let packed = engine.library();
            let clip = packed.clip(ClipId(0)).unwrap().offset;
            let plan = ClipRuns::new(packed, &packed.skeletons[0].record, clip);
            let [JointRun { kind: RunKind::Keys(keys), .. }] = plan.runs(TransformPart::Rotation) else {
                panic!("one run");
            };
            assert_eq!(keys.storage, expected, "{extrapolation:?}, {step}");
        }
    }
}
