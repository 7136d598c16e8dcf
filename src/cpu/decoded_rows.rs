//! Rows of quantized keys, decoded: instances that read the same key share the work.
//!
//! Many instances of a clip read the same few keys: 10,000 instances of 100 clips read 200 rows per clip, of which at
//! most 60 differ. A row is decoded when a thread first reads it, and kept as long as the columns of the clip, up to a
//! limit of bytes per clip. Rows of longer clips are decoded once per group of instances.
//! `docs/decisions/compressed-keys.md` has the trials.

use std::collections::BTreeMap;

use glam::Vec4;

use crate::cpu::block::key_row::Row;
use crate::cpu::plan::Keys;
use crate::cpu::simd::LARGEST_BLOCK;
use crate::cpu::stages::search::Span;
use crate::pack::Aligned;
use crate::pack::record::TimelineRecord;

/// The most bytes of the rows that are kept of a clip. More would not stay in the cache of a core.
const MOST_BYTES: u64 = 512 << 10;

/// The most rows of a timeline that instances read together: two each.
const MOST_OF_GROUP: u32 = 2 * LARGEST_BLOCK as u32;

/// The places of the decoded rows of a clip. A row has the joints of all runs with quantized keys side by side, in the order of their
/// columns, each run padded to whole blocks, then those of kind [`Kind::Scattered`](crate::cpu::plan::Kind::Scattered). The keys of a timeline
/// fill their own places of a row, so that timelines share rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowPlaces {
    /// The timelines of these joints.
    pub timelines: Box<[TimelineRows]>,
    /// The columns of all runs, in fours.
    of_runs: u32,
    /// The columns of a row, in fours.
    fours: u32,
    /// The number of rows.
    count: u32,
    /// If set, each key is decoded once, and kept for all instances that read it. Otherwise all rows together are too large, and there are
    /// those of the instances that are sampled together.
    are_kept: bool,
    /// If set, rows have the scattered joints. Otherwise their many keys would keep those of the runs from being kept.
    have_scattered: bool,
}

/// The keys of a timeline among those of the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineRows {
    /// The index of the timeline in the clip.
    pub timeline: u32,
    /// The number of keys of the timelines before.
    first_key: u32,
}

impl RowPlaces {
    /// Places for the rows of runs and of scattered joints: their columns in fours, and each timeline with the number of its keys.
    pub fn new(of_runs: (u32, &[(u32, u32)]), scattered: (u32, &[(u32, u32)])) -> Self {
        let fours = of_runs.0.saturating_add(scattered.0);
        let runs: BTreeMap<u32, u32> = of_runs.1.iter().copied().collect();
        let mut all = runs.clone();
        all.extend(scattered.1.iter().copied());
        let most = |counts: &BTreeMap<u32, u32>| counts.values().copied().max().unwrap_or(0);
        let fits = |fours: u32, counts: &BTreeMap<u32, u32>| {
            let bytes = size_of::<[Vec4; 4]>() as u64 * u64::from(fours);
            bytes.saturating_mul(most(counts).into()) <= MOST_BYTES
        };
        let (all_fit, runs_fit) = (fits(fours, &all), of_runs.0 > 0 && fits(of_runs.0, &runs));
        let (are_kept, have_scattered) = (all_fit || runs_fit, all_fit || !runs_fit);
        let counts = if have_scattered { all } else { runs };
        let count = if are_kept { most(&counts) } else { MOST_OF_GROUP };
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
    fn keys(&self) -> u32 {
        self.timelines.last().map_or(0, |last| last.first_key + self.count)
    }
}

/// The decoded rows of a clip.
#[derive(Debug, Default)]
pub struct DecodedRows {
    /// The values of the joints of all rows.
    pub values: Aligned<Vec4>,
    /// The rows of keys that are decoded next, timeline by timeline.
    pub absent: Vec<Row>,
    /// A bit per key of each timeline: it is decoded.
    present: Vec<u64>,
    /// The columns of all runs, in fours.
    of_runs: usize,
    /// The columns of a row, in fours.
    fours: usize,
    /// If set, rows have the scattered joints.
    pub have_scattered: bool,
    /// If set, rows are kept.
    are_kept: bool,
    /// If rows are not kept, the offsets and rows of the keys of the instance before.
    before: [Option<(u32, u32)>; 2],
    /// The number of absent rows of the timelines before the one at work.
    absent_before: usize,
}

impl DecodedRows {
    /// Forgets all rows and makes room for those of a clip.
    pub fn clear(&mut self, places: &RowPlaces) {
        self.present.clear();
        self.present.resize((places.keys() as usize).div_ceil(u64::BITS as usize), 0);
        (self.of_runs, self.fours) = (places.of_runs as usize, places.fours as usize);
        (self.are_kept, self.have_scattered) = (places.are_kept, places.have_scattered);
        let values = 4 * self.fours * places.count as usize;
        if self.values.len() < values {
            // Not more room than that, and nothing is copied to it.
            self.values = Aligned::default();
            self.values.resize(values, Vec4::ZERO);
        }
    }

    /// Begins with the rows of a timeline, which up to [`LARGEST_BLOCK`] instances read. Returns the number of absent rows so far.
    #[inline(always)]
    pub fn begin(&mut self) -> usize {
        (self.before, self.absent_before) = (Default::default(), self.absent.len());
        self.absent_before
    }

    /// The rows of the keys of a timeline before and after a time. Adds those that are not decoded to those that are decoded next.
    #[inline(always)]
    pub fn require(&mut self, place: TimelineRows, timeline: &TimelineRecord, span: &Span) -> [u32; 2] {
        let offsets = [span.row, span.row + span.next];
        if self.are_kept {
            let start = (span.row - timeline.keys) / timeline.row.max(1);
            let rows = [start, start + u32::from(span.next > 0)];
            for (row, offset) in rows.into_iter().zip(offsets) {
                let key = place.first_key + row;
                let (bits, bit) = (&mut self.present[key as usize / 64], 1 << (key % 64));
                if *bits & bit == 0 {
                    *bits |= bit;
                    self.add(row, offset);
                }
            }
            return rows;
        }
        // Instances are often in the order of their times, so that the one before reads the same rows.
        let start = self.row_of_group(offsets[0]);
        let end = if span.next == 0 { start } else { self.row_of_group(offsets[1]) };
        self.before = [Some((offsets[0], start)), Some((offsets[1], end))];
        [start, end]
    }

    /// The row of a key of a clip whose rows are not kept: that of the instance before, or a new one.
    #[inline(always)]
    fn row_of_group(&mut self, offset: u32) -> u32 {
        for (known, row) in self.before.into_iter().flatten() {
            if known == offset {
                return row;
            }
        }
        let row = (self.absent.len() - self.absent_before) as u32;
        self.add(row, offset);
        row
    }

    /// Adds a row to those that are decoded next. `offset` is that of its codes in the words of the library.
    #[inline(always)]
    fn add(&mut self, row: u32, offset: u32) {
        self.absent.push(Row { from: size_of::<u32>() * offset as usize, to: 4 * self.fours * row as usize });
    }

    /// The values of a run in a row that was decoded.
    #[inline(always)]
    pub fn run(&self, row: u32, keys: Keys, joints: usize) -> &[Vec4] {
        &self.values[4 * (row as usize * self.fours + keys.columns())..][..joints]
    }

    /// The place of a scattered joint in the first row.
    #[inline(always)]
    pub fn scattered_place(&self, keys: &Keys) -> usize {
        4 * self.of_runs + keys.columns()
    }

    /// The value of a scattered joint in a row that was decoded.
    #[inline(always)]
    pub fn scattered(&self, row: u32, keys: &Keys) -> Vec4 {
        self.values[4 * row as usize * self.fours + self.scattered_place(keys)]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, EulerRot};

    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::cpu::block::sampling::Sampling;
    use crate::cpu::decoded::DecodedClips;
    use crate::cpu::plan::{KeyStorage, Kind, Nearness, Plan, Run};
    use crate::cpu::simd::{Kernel, Lanes};
    use crate::cpu::source::ClipSource;
    use crate::cpu::stages::phase::Time;
    use crate::cpu::stages::quantized::Column;
    use crate::cpu::stages::sampler::Sampler;
    use crate::cpu::stages::{TransformPart, search};
    use crate::cpu::{CpuEngine, InstructionSet};
    use crate::demo;
    use crate::evaluator::Evaluator;
    use crate::model::{
        Clip, ClipId, Crowd, Curve, Extrapolation, Interpolation, Joint, Layer, LayerTime, Library, Outputs, Poses,
        Skeleton, SkeletonId, Target, Ticks, Timeline, Track, Transform,
    };
    use crate::pack::PackedLibrary;
    use crate::pack::record::ClipRecord;
    use crate::reference::Reference;

    /// A clip of 27 joints: the first 9 turn with 40 keys, 6 with 17 keys, 7 with steps at the 40 keys, and 5 with 7 keys that repeat. The
    /// first 12 move with the 17 keys.
    fn add_mixed_clip(library: &mut Library) -> ClipId {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let skeleton = Skeleton::new(None, (0..27).map(joint).collect(), vec![]).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let timeline =
            |keys: usize, step: f64| Arc::new(Timeline::new((0..keys).map(|key| key as f64 * step).collect()).unwrap());
        let [many, few, short] = [timeline(40, 0.1), timeline(17, 0.2), timeline(7, 0.1)];
        let turn = |joint: usize, timeline: &Arc<Timeline>, interpolation| {
            // Each number is the largest of some joints, which is the one that is not stored.
            let half_turns =
                [DQuat::IDENTITY, DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0)];
            let half_turn = half_turns.get(joint % 4).copied().unwrap_or(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
            let turn = |key: usize| {
                let (joint, key) = (joint as f64, key as f64);
                let angles = [0.9 * (joint + key).sin(), 0.5 * (0.3 * joint - key).cos(), 0.01 * key];
                half_turn * DQuat::from_euler(EulerRot::XYZ, angles[0], angles[1], angles[2])
            };
            let values = (0..timeline.len()).flat_map(|key| turn(key).to_array()).collect();
            Curve::new(timeline.clone(), interpolation, 4, values).unwrap()
        };
        let turns = (0..27).map(|joint| {
            let curve = match joint {
                0..9 => turn(joint, &many, Interpolation::Linear),
                9..15 => turn(joint, &few, Interpolation::Linear),
                15..22 => turn(joint, &many, Interpolation::Step),
                _ => turn(joint, &short, Interpolation::Linear)
                    .with_extrapolation(Extrapolation::Clamp, Extrapolation::Loop),
            };
            Track::new(Target::Rotation(joint), curve)
        });
        let moves = (0..12).map(|joint| {
            let values = (0..3 * few.len()).map(|number| (0.7 * number as f64 + joint as f64).sin()).collect();
            let curve = Curve::new(few.clone(), Interpolation::Linear, 3, values).unwrap();
            Track::new(Target::Translation(joint), curve)
        });
        let tracks = turns.chain(moves);
        library.add_clip(Clip { length: Some(30.0), ..Clip::new(None, skeleton, tracks.collect()) }).unwrap()
    }

    /// The joints of an uneven clip.
    const UNEVEN: usize = 21;

    /// A clip of 21 joints in a row, whose joints are compressed in different ways. All turn. Each number of the rotations of some joints,
    /// `whole`, is once almost 0, so that none can be left out; those of the first of them have a length of 1.05. Nine joints move; two of them
    /// are far away, so that their columns have long records. Two joints between others change their scales.
    fn add_uneven_clip(library: &mut Library, whole: &[usize], interpolation: Interpolation) -> ClipId {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let skeleton = Skeleton::new(None, (0..UNEVEN).map(joint).collect(), vec![]).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let timeline = Arc::new(Timeline::new((0..12).map(|key| f64::from(key) * 0.1).collect()).unwrap());
        let turns = (0..UNEVEN).map(|joint| {
            let turn = |key: usize| {
                let tilt = DQuat::from_euler(EulerRot::XYZ, 0.1 * key as f64, 0.02 * joint as f64, -0.03 * key as f64);
                let half_turns = [DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0)];
                let half_turn = half_turns.get(key % 3).copied().unwrap_or(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
                match whole.iter().position(|&whole| whole == joint) {
                    Some(0) => half_turn * tilt * 1.05,
                    Some(_) => half_turn * tilt,
                    None => tilt,
                }
            };
            let values = (0..timeline.len()).flat_map(|key| turn(key).to_array()).collect();
            Track::new(Target::Rotation(joint), Curve::new(timeline.clone(), interpolation, 4, values).unwrap())
        });
        let curve = |joint: usize, first: f64| {
            let numbers = (0..3 * timeline.len()).map(|number| first + 0.1 * (number as f64 + joint as f64).sin());
            Curve::new(timeline.clone(), Interpolation::Linear, 3, numbers.collect()).unwrap()
        };
        let place = |joint| if [2, 5].contains(&joint) { 100.0 } else { 0.1 };
        let moves = (0..9).map(|joint| Track::new(Target::Translation(joint), curve(joint, place(joint))));
        let scales = [3, 10].map(|joint| Track::new(Target::Scale(joint), curve(joint, 1.0)));
        library.add_clip(Clip::new(None, skeleton, turns.chain(moves).chain(scales).collect())).unwrap()
    }

    /// Clips of several sizes, more than a thread keeps, with compressed keys.
    fn compressed(width: u32) -> CompressedLibrary {
        let mut library = Library::new();
        add_mixed_clip(&mut library);
        add_uneven_clip(&mut library, &[4, 9], Interpolation::Linear);
        for clip in 0..Crowd::MAX_LAYERS + 1 {
            demo::add_rig(&mut library, 40 - 3 * clip, 12 + clip, 2).unwrap();
        }
        CompressedLibrary::with_width(&library, width).unwrap()
    }

    /// Reads keys of all clips in turn, again and again, for several instances at different times. Results are those of rows before and after
    /// the times, joint by joint.
    struct ReadInTurn<'a> {
        packed: &'a PackedLibrary,
        plans: &'a [ClipPlan],
    }

    /// The plan of a clip, by the offset of its record.
    struct ClipPlan {
        skeleton: usize,
        clip: u32,
        plan: Plan,
    }

    const INSTANCES: usize = 7;

    impl Kernel for ReadInTurn<'_> {
        type Output = Vec<[u32; 4]>;

        fn run<L: Lanes>(self) -> Self::Output {
            let Self { packed, plans } = self;
            let (words, values) = (&packed.arrays.words, &packed.arrays.values);
            let mut clips = DecodedClips::default();
            let mut found = Vec::new();
            for round in 0..100_usize {
                // Three clips are read often, so that they are often kept; all displace each other.
                let count = if round % 2 == 0 { 3 } else { plans.len() };
                let ClipPlan { skeleton, clip, plan } = &plans[round / 2 % count];
                let record: ClipRecord = packed.arrays.record(*clip);
                let first = record.timelines as usize;
                let timelines: &[TimelineRecord] =
                    bytemuck::cast_slice(&words[first..][..TimelineRecord::WORDS * record.timeline_count as usize]);
                let time =
                    |instance: usize| Time { high: (0.31 * (round + instance * instance) as f32) % 4.5, low: 0.0 };
                let spans: Vec<Span> = (0..INSTANCES)
                    .flat_map(|instance| {
                        timelines.iter().map(move |timeline| search::timeline(words, values, timeline, time(instance)))
                    })
                    .collect();
                let first_spans: Vec<usize> = (0..INSTANCES).map(|instance| instance * timelines.len()).collect();
                let sampler = Sampler::new(packed, &packed.skeletons[*skeleton].record, &record, &[]);
                let sampling = Sampling {
                    clip: &ClipSource { plan, timelines, sampler },
                    spans: &spans,
                    first_spans: &first_spans,
                    rest: &[&[]; 3],
                    first: 0,
                    stride: 0,
                    slerp_weights: &[],
                    first_lane: 0,
                };
                let decoded = clips.of::<L>(words, *clip, plan, Crowd::MAX_LAYERS);
                decoded.decode_rows::<L>(&sampling);
                for (instance, part) in (0..INSTANCES).flat_map(|i| TransformPart::ALL.map(|part| (i, part))) {
                    for run in plan.runs(part) {
                        let Kind::Keys(keys) = run.kind else { continue };
                        let joints = run.joints().len().next_multiple_of(L::BLOCK);
                        let span = sampling.span(instance, keys);
                        let rows = decoded.around(&sampling, instance, keys, joints);
                        for (row, offset) in rows.into_iter().zip([span.row, span.row + span.next]) {
                            let mut row = row.to_vec();
                            if part == TransformPart::Rotation {
                                for block in row.chunks_exact_mut(L::BLOCK) {
                                    L::store_block(L::transpose(L::load_block(block)), block);
                                }
                            }
                            for (value, column) in row.iter().zip(keys.decode(words).take(run.joints().len())) {
                                let off = (value - column.key(words, offset)).abs().max_element();
                                assert!(off < 5e-7, "{off} in round {round}");
                                found.push(value.to_array().map(f32::to_bits));
                            }
                        }
                    }
                }
                for (instance, keys) in (0..INSTANCES).flat_map(|i| plan.scattered.iter().map(move |keys| (i, keys))) {
                    let span = sampling.span(instance, *keys);
                    let column = Column::new(words, keys.first);
                    let values = decoded.around_joint(&sampling, instance, keys);
                    for (value, offset) in values.into_iter().zip([span.row, span.row + span.next]) {
                        assert_eq!(value, column.key(words, offset), "round {round}");
                        found.push(value.to_array().map(f32::to_bits));
                    }
                }
            }
            found
        }
    }

    #[test]
    fn rows_that_are_kept_are_those_of_their_keys_bit_by_bit() {
        for (width, nearness) in [(16, Nearness::Blocks), (20, Nearness::Paired), (24, Nearness::Apart)] {
            let packed = compressed(width).pack().unwrap();
            let plans = || -> Vec<ClipPlan> {
                let plan = |(clip, id): (u32, SkeletonId)| {
                    let skeleton = id.index();
                    ClipPlan { skeleton, clip, plan: Plan::new(&packed, &packed.skeletons[skeleton].record, clip) }
                };
                let plans = packed.clip_offsets().into_iter().map(plan);
                plans.filter(|ClipPlan { plan, .. }| plan.rows.count > 0).collect()
            };
            let kept = plans();
            assert_eq!(kept.len(), Crowd::MAX_LAYERS + 3);
            let runs = |plan: &Plan| -> Vec<Keys> {
                runs_of(plan, TransformPart::Rotation).into_iter().filter_map(|(_, keys)| keys).collect()
            };
            assert_eq!(kept.iter().map(|ClipPlan { plan, .. }| runs(plan).len()).max(), Some(4));
            let mut all = kept.iter().flat_map(|ClipPlan { plan, .. }| runs(plan));
            assert!(all.any(|keys| keys.nearness == nearness), "{width}");
            let without_keeping = |clip: ClipPlan| {
                let counts: Vec<_> = clip.plan.rows.timelines.iter().map(|rows| (rows.timeline, u32::MAX)).collect();
                let RowPlaces { of_runs, fours, .. } = clip.plan.rows;
                let rows = RowPlaces::new((of_runs, &counts), (fours - of_runs, &counts));
                assert!(!rows.are_kept && rows.have_scattered);
                ClipPlan { plan: Plan { rows, ..clip.plan }, ..clip }
            };
            let anew: Vec<_> = plans().into_iter().map(without_keeping).collect();
            for set in InstructionSet::ALL {
                let [kept, anew] = [&kept, &anew].map(|plans| set.run(ReadInTurn { packed: &packed, plans }));
                assert!(kept.len() > 40_000 && kept == anew, "{}, {width} bits, {}", set.name(), kept.len());
            }
        }
    }

    /// The counts and keys of the runs of a part.
    fn runs_of(plan: &Plan, part: TransformPart) -> Vec<(usize, Option<Keys>)> {
        let keys = |run: &Run| if let Kind::Keys(keys) = run.kind { Some(keys) } else { None };
        plan.runs(part).iter().map(|run| (run.joints().len(), keys(run))).collect()
    }

    /// Instances of a clip, each some seconds after the one before.
    fn crowd_of(library: &Library, clip: ClipId, count: u32, step: f64) -> Crowd {
        let mut crowd = Crowd::new();
        for instance in 0..count {
            let layer = Layer::new(clip, LayerTime::At(step * f64::from(instance)));
            crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
        }
        crowd
    }

    /// The largest differences of local rotations in radians, of translations and of scales.
    fn differences(found: &Poses, expected: &Poses) -> [f64; 3] {
        let joints = |poses: &Poses| -> Vec<Transform> {
            poses.instances.iter().flat_map(|pose| pose.local.iter().copied()).collect()
        };
        let (found, expected) = (joints(found), joints(expected));
        assert!(found.len() == expected.len() && !found.is_empty(), "{} of {} joints", found.len(), expected.len());
        let mut worst = [0.0_f64; 3];
        for (found, expected) in found.iter().zip(&expected) {
            let same = expected.rotation * found.rotation.dot(expected.rotation).signum();
            let off = [
                2.0 * (found.rotation - same).length(),
                (found.translation - expected.translation).abs().max_element(),
                (found.scale - expected.scale).abs().max_element(),
            ];
            for (worst, off) in worst.iter_mut().zip(off) {
                // A number that is none is the worst of all.
                *worst = if off >= 0.0 { worst.max(off) } else { f64::INFINITY };
            }
        }
        worst
    }

    #[test]
    fn joints_that_are_compressed_in_different_ways_are_sampled_together() {
        let mut found_nearness = Vec::new();
        let all: Vec<usize> = (0..UNEVEN).collect();
        for (width, interpolation) in [12, 16, 20, 24]
            .into_iter()
            .flat_map(|width| [Interpolation::Linear, Interpolation::Step].map(|by| (width, by)))
        {
            for whole in [&[4, 9][..], &[0], &[8, 1], &[15, 16], &[20, 7], &all] {
                let mut library = Library::new();
                let clip = add_uneven_clip(&mut library, whole, interpolation);
                let compressed = CompressedLibrary::with_width(&library, width).unwrap();
                let packed = compressed.pack().unwrap();
                let plan = Plan::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
                let [(UNEVEN, Some(turning))] = runs_of(&plan, TransformPart::Rotation)[..] else {
                    panic!("{whole:?} of {width} bits cut the run of rotations");
                };
                assert!(turning.have_whole_rotations(), "{whole:?}");
                found_nearness.push(turning.nearness);
                if width < 20 {
                    let [(9, Some(moving)), (12, None)] = runs_of(&plan, TransformPart::Translation)[..] else {
                        panic!("{width} bits: records of both lengths cut the run of translations");
                    };
                    assert_eq!(moving.storage, KeyStorage::Mixed);
                }
                assert_eq!(plan.scattered.len(), 2);
                let crowd = crowd_of(&library, clip, 23, 0.07);
                let outputs = Outputs { local: true, ..Outputs::NONE };
                let expected = Reference::new(compressed.library()).evaluate(&crowd, Ticks(0), outputs).unwrap();
                for set in InstructionSet::ALL {
                    let mut engine = CpuEngine::from_packed(compressed.pack().unwrap(), 1).with_instructions(set);
                    let found = engine.evaluate(&crowd, Ticks(0), outputs).unwrap();
                    let [turned, moved, scaled] = differences(&found, &expected);
                    // An f32 near 100 is exact to 4e-6.
                    assert!(
                        turned < 2e-6 && moved < 1e-5 && scaled < 5e-7,
                        "{}, {width} bits, {whole:?}: {turned} rad, {moved}, {scaled}",
                        set.name()
                    );
                }
            }
        }
        for nearness in [Nearness::Apart, Nearness::Paired, Nearness::Blocks] {
            assert!(found_nearness.contains(&nearness), "{nearness:?}");
        }
    }

    #[test]
    fn scattered_joints_with_many_keys_do_not_keep_rows_of_runs_from_being_kept() {
        let mut library = Library::new();
        let clip = add_uneven_clip(&mut library, &[2], Interpolation::Linear);
        let mut clip = library.clip(clip).clone();
        let times = Arc::new(Timeline::new((0..9000).map(|key| f64::from(key) * 1e-4).collect()).unwrap());
        let numbers = (0..3 * times.len()).map(|number| (0.001 * number as f64).sin());
        let curve = Curve::new(times.clone(), Interpolation::Linear, 3, numbers.collect()).unwrap();
        clip.tracks.push(Track::new(Target::Scale(15), curve));
        let clip = library.add_clip(clip).unwrap();
        let compressed = CompressedLibrary::with_width(&library, 16).unwrap();
        let packed = compressed.pack().unwrap();
        let plan = Plan::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
        assert!(plan.rows.are_kept && !plan.rows.have_scattered && plan.scattered.len() == 3);
        let crowd = crowd_of(&library, clip, 7, 0.13);
        let outputs = Outputs { local: true, ..Outputs::NONE };
        let expected = Reference::new(compressed.library()).evaluate(&crowd, Ticks(0), outputs).unwrap();
        let found = CpuEngine::from_packed(packed, 1).evaluate(&crowd, Ticks(0), outputs).unwrap();
        let [turned, moved, scaled] = differences(&found, &expected);
        assert!(turned < 2e-6 && moved < 1e-5 && scaled < 2e-6, "{turned} rad, {moved}, {scaled}");
    }

    #[test]
    fn an_engine_that_posed_poses_with_another_instruction_set_as_a_new_one() {
        let compressed = compressed(16);
        let mut crowd = Crowd::new();
        // As few clips as are kept from one frame to the next.
        for (index, clip) in compressed.library().clip_ids().take(4).enumerate() {
            for instance in 0..9 {
                let time = LayerTime::At(0.13 * (index + instance) as f64);
                crowd.push(compressed.library().clip(clip).skeleton, &[Layer::new(clip, time)]).unwrap();
            }
        }
        let pose = |engine: &CpuEngine| {
            let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
            engine.pose(&mut posed, Ticks(0));
            (0..crowd.len()).map(|instance| engine.read(&posed, instance, Outputs::ALL)).collect::<Vec<_>>()
        };
        let make_engine = || CpuEngine::from_packed(compressed.pack().unwrap(), 1);
        let mut engine = make_engine();
        for set in InstructionSet::ALL.into_iter().chain(InstructionSet::ALL.into_iter().rev()) {
            engine = engine.with_instructions(set);
            assert!(pose(&engine) == pose(&make_engine().with_instructions(set)), "{}", set.name());
        }
    }

    #[test]
    fn rows_of_many_keys_are_not_kept_and_repeated_keys_count_once() {
        // 64 bytes per four joints.
        let most = (MOST_BYTES / 64 / 16) as u32;
        let kept = |fours, counts: &[(u32, u32)]| {
            let places = RowPlaces::new((fours, counts), (0, &[]));
            (places.are_kept, places.count)
        };
        assert_eq!(kept(16, &[(0, most)]), (true, most));
        assert_eq!(kept(16, &[(0, most + 1)]), (false, MOST_OF_GROUP));
        // Timelines share rows.
        assert_eq!(kept(16, &[(1, 7), (4, most), (5, most)]), (true, most));
        assert_eq!(kept(16, &[(1, 7), (4, most + 1)]), (false, MOST_OF_GROUP));
        assert_eq!(kept(u32::MAX, &[(0, u32::MAX), (1, u32::MAX)]), (false, MOST_OF_GROUP));
        assert_eq!(kept(0, &[]), (true, 0));
        // Scattered joints count, unless the rows of the runs could be kept without them.
        let with_scattered = |of_runs, scattered| {
            let places = RowPlaces::new(of_runs, scattered);
            (places.are_kept, places.have_scattered, places.fours, places.count, places.timelines.len())
        };
        let counts: &[(u32, u32)] = &[(0, most)];
        assert_eq!(with_scattered((15, counts), (1, counts)), (true, true, 16, most, 1));
        assert_eq!(with_scattered((15, counts), (2, counts)), (true, false, 15, most, 1));
        assert_eq!(with_scattered((1, &[(3, 60)]), (1, &[(0, 5000)])), (true, false, 1, 60, 1));
        assert_eq!(with_scattered((17, counts), (1, &[(2, 9)])), (false, true, 18, MOST_OF_GROUP, 2));
        assert_eq!(with_scattered((0, &[]), (1, &[(0, 8000)])), (true, true, 1, 8000, 1));
        assert_eq!(with_scattered((0, &[]), (1, &[(0, 9000)])), (false, true, 1, MOST_OF_GROUP, 1));
        let mut library = Library::new();
        let clip = add_mixed_clip(&mut library);
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let plan = Plan::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
        // The 7 keys of 0.6 s that repeat for 30 s have more times than the other joints have keys.
        assert_eq!((plan.rows.count, plan.rows.timelines.len()), (40, 3));
    }

    #[test]
    fn instances_of_a_clip_whose_rows_are_not_kept_pose_as_each_does_alone() {
        let mut library = Library::new();
        // 300 joints with three parts of 60 keys take 875 kB.
        demo::add_rig(&mut library, 300, 60, 7).unwrap();
        let compressed = CompressedLibrary::with_width(&library, 16).unwrap();
        let packed = compressed.pack().unwrap();
        let clip = library.clip_ids().next().unwrap();
        let record = packed.clip(clip).unwrap().offset;
        assert!(!Plan::new(&packed, &packed.skeletons[0].record, record).rows.are_kept);
        let crowd_of = |instances: std::ops::Range<usize>| {
            let mut crowd = Crowd::new();
            for instance in instances {
                let layer = Layer::new(clip, LayerTime::At(0.093 * instance as f64));
                crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
            }
            crowd
        };
        for set in InstructionSet::ALL {
            let engine = CpuEngine::from_packed(compressed.pack().unwrap(), 1).with_instructions(set);
            let pose = |crowd: &Crowd| {
                let mut posed = engine.crowd(crowd, Outputs::ALL).unwrap();
                engine.pose(&mut posed, Ticks(0));
                (0..crowd.len()).map(|instance| engine.read(&posed, instance, Outputs::ALL)).collect::<Vec<_>>()
            };
            let together = pose(&crowd_of(0..20));
            let alone: Vec<_> = (0..20).flat_map(|instance| pose(&crowd_of(instance..instance + 1))).collect();
            assert!(together == alone, "{}", set.name());
            assert!(together[3] != together[4]);
        }
    }
}
