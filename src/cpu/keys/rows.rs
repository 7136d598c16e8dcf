//! Decoded rows: quantized keys as values, which instances of a clip share.
//!
//! A row has the values of all joints with quantized keys at the keys of one index. An instance reads two rows, the
//! keys before and after its time, and interpolates between them as between keys of `f32`. Instances that play one clip
//! mostly read the same rows. So rows are decoded once and kept, as long as the rows of a clip fit the cache of a core.
//! Of longer clips, there are only the rows of the instances that are sampled together, two each; neighbours in the
//! order of their times share them ([`RowPlaces`]).
//!
//! Instances first name the rows that they need, and missing rows are queued ([`DecodedRows::require`]). Then
//! [`decode`] decodes the queued rows of a run, block by block: the columns of a block stay in registers while one row
//! after the other is read. Rotations are stored number by number, which spares slerp a transposition; translations and
//! scales are stored joint by joint.

use glam::Vec4;

use crate::cpu::block::slerp::blocks;
use crate::cpu::keys::plan::{KeyRun, RowPlaces, TimelineRows};
use crate::cpu::simd::{BlockColumns, FourColumns, LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::search::KeySpan;
use crate::pack::Aligned;
use crate::pack::record::TimelineRecord;

/// The decoded rows of a clip.
#[derive(Debug, Default)]
pub struct DecodedRows {
    /// The values of the joints of all rows.
    pub values: Aligned<Vec4>,
    /// The rows that are queued for decoding, timeline by timeline.
    pub absent: Vec<KeyRow>,
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
    /// Forgets all rows and makes room for the rows of a clip.
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

    /// Begins with the rows of a timeline, which up to [`LARGEST_BLOCK`] instances read. Returns the number of absent
    /// rows so far.
    #[inline(always)]
    pub fn begin(&mut self) -> usize {
        (self.before, self.absent_before) = (Default::default(), self.absent.len());
        self.absent_before
    }

    /// The rows of the keys of a timeline before and after a time. Missing rows are queued for decoding.
    #[inline(always)]
    pub fn require(&mut self, place: TimelineRows, timeline: &TimelineRecord, span: &KeySpan) -> [u32; 2] {
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

    /// The row of a key of a clip whose rows are not kept: the row of the instance before, or a new one.
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

    /// Queues a row for decoding. `offset` is the offset of its codes in the words of the library.
    #[inline(always)]
    fn add(&mut self, row: u32, offset: u32) {
        self.absent.push(KeyRow { from: size_of::<u32>() * offset as usize, to: 4 * self.fours * row as usize });
    }

    /// The values of a run in a row that was decoded.
    #[inline(always)]
    pub fn run(&self, row: u32, keys: KeyRun, joints: usize) -> &[Vec4] {
        &self.values[4 * (row as usize * self.fours + keys.columns())..][..joints]
    }

    /// The place of a scattered joint in the first row.
    #[inline(always)]
    pub fn scattered_place(&self, keys: &KeyRun) -> usize {
        4 * self.of_runs + keys.columns()
    }

    /// The value of a scattered joint in a row that was decoded.
    #[inline(always)]
    pub fn scattered(&self, row: u32, keys: &KeyRun) -> Vec4 {
        self.values[4 * row as usize * self.fours + self.scattered_place(keys)]
    }
}

/// The columns of neighbouring joints, in the form in which registers read them.
#[derive(Clone, Copy)]
pub enum RunColumns<'a> {
    /// The codes of each joint have a window of their own.
    Apart(&'a [FourColumns]),
    /// Each two joints share a window.
    Paired(&'a [FourColumns]),
    /// The joints of a block share a window, or the joints of each half. The columns of rotations are by number, the
    /// columns of other parts by joint.
    Blocks(&'a [BlockColumns]),
}

/// A row that is decoded.
#[derive(Debug, Clone, Copy)]
pub struct KeyRow {
    /// The place of its first code among all codes, in bytes.
    pub from: usize,
    /// The place of its first value among all values.
    pub to: usize,
}

impl KeyRow {
    /// The word that has its first code.
    pub fn first_word(self) -> u32 {
        (self.from / size_of::<u32>()) as u32
    }
}

/// Decodes whole blocks of joints of each row, block by block: the columns of a block stay in registers. Rotations
/// become quaternions number by number; other parts become values joint by joint.
#[inline(always)]
pub fn decode<L: Lanes>(
    token: Token<L>,
    columns: RunColumns,
    joints: usize,
    part: TransformPart,
    rows: &[KeyRow],
    codes: &[u8],
    values: &mut [Vec4],
) {
    let turns = part == TransformPart::Rotation;
    match columns {
        RunColumns::Apart(columns) => fours::<_, false>(token, columns, joints, turns, rows, codes, values),
        RunColumns::Paired(columns) => fours::<_, true>(token, columns, joints, turns, rows, codes, values),
        RunColumns::Blocks(columns) if turns => rotations(token, columns, joints, rows, codes, values),
        RunColumns::Blocks(columns) => vectors(token, columns, joints, rows, codes, values),
    }
}

/// Replaces the rotation of a joint in a row of blocks by number, by the place of the joint.
#[inline(always)]
pub fn replace<L: Lanes>(token: Token<L>, rotation: Vec4, row: &mut [Vec4], place: usize) {
    let block = &mut row[place / L::BLOCK * L::BLOCK..][..L::BLOCK];
    let mut joints = [Vec4::ZERO; LARGEST_BLOCK];
    L::store_block(L::transpose(L::load_block(token, block)), &mut joints);
    joints[place % L::BLOCK] = rotation;
    L::store_block(L::transpose(L::load_block(token, &joints)), block);
}

/// Decodes whole blocks of rotations, whose columns are by number.
#[inline(always)]
fn rotations<L: Lanes>(
    token: Token<L>,
    columns: &[BlockColumns],
    joints: usize,
    rows: &[KeyRow],
    codes: &[u8],
    values: &mut [Vec4],
) {
    for (columns, block) in columns.iter().zip(blocks::<L>(joints)) {
        let columns = *columns;
        let missing = L::load(token, &columns.missing);
        for row in rows {
            let [a, b, c] = L::block_codes(token, &columns, &codes[row.from..]);
            let stored = [numbers(&columns, 0, a), numbers(&columns, 1, b), numbers(&columns, 2, c)];
            L::store_block(with_missing(stored, missing), &mut values[row.to + block.start..]);
        }
    }
}

/// Decodes whole blocks of translations or scales, whose columns are by joint.
#[inline(always)]
fn vectors<L: Lanes>(
    token: Token<L>,
    columns: &[BlockColumns],
    joints: usize,
    rows: &[KeyRow],
    codes: &[u8],
    values: &mut [Vec4],
) {
    for (columns, block) in columns.iter().zip(blocks::<L>(joints)) {
        let columns = *columns;
        for row in rows {
            let [a, b, c, d] = L::joint_codes(token, &columns, &codes[row.from..]);
            let decoded =
                [numbers(&columns, 0, a), numbers(&columns, 1, b), numbers(&columns, 2, c), numbers(&columns, 3, d)];
            L::store_block(decoded, &mut values[row.to + block.start..]);
        }
    }
}

/// Decodes whole blocks, four joints by four. If `turns` is set, they are quaternions.
#[inline(always)]
fn fours<L: Lanes, const PAIRED: bool>(
    token: Token<L>,
    columns: &[FourColumns],
    joints: usize,
    turns: bool,
    rows: &[KeyRow],
    codes: &[u8],
    values: &mut [Vec4],
) {
    for block in blocks::<L>(joints) {
        let missing = if turns { missing_of_block(token, columns, block.start) } else { L::splat(token, 0.0) };
        for row in rows {
            let mut decoded = numbers_of_block::<_, PAIRED>(token, columns, &codes[row.from..], block.start);
            if turns {
                let [a, b, c, _] = L::transpose(decoded);
                decoded = with_missing([a, b, c], missing);
            }
            L::store_block(decoded, &mut values[row.to + block.start..]);
        }
    }
}

/// The stored numbers of a block that begins with a joint.
#[inline(always)]
fn numbers_of_block<L: Lanes, const PAIRED: bool>(
    token: Token<L>,
    columns: &[FourColumns],
    row: &[u8],
    first: usize,
) -> [L; 4] {
    let columns = &columns[first / 4..(first + L::BLOCK) / 4];
    let joints = L::BLOCK / 4;
    let mut block = [L::splat(token, 1.0); 4];
    for (register, numbers) in block.iter_mut().enumerate() {
        let (four, first) = (&columns[register * joints / 4], register * joints % 4);
        let codes = L::codes::<PAIRED>(token, four, first, row);
        *numbers = codes.multiply_add(L::load(token, &four.scales[first..]), L::load(token, &four.bases[first..]));
    }
    block
}

/// For each joint of a block, in the order of a transposed block, the index of the number that is not stored. `first`
/// is the first joint.
#[inline(always)]
fn missing_of_block<L: Lanes>(token: Token<L>, columns: &[FourColumns], first: usize) -> L {
    let columns = &columns[first / 4..(first + L::BLOCK) / 4];
    let mut joints = [Vec4::ZERO; LARGEST_BLOCK];
    for (columns, joints) in columns.iter().zip(joints.as_chunks_mut::<4>().0) {
        let [a, b, c, d] = columns.missing.to_array();
        *joints = [Vec4::splat(a), Vec4::splat(b), Vec4::splat(c), Vec4::splat(d)];
    }
    let [missing, ..] = L::transpose(L::load_block(token, &joints));
    missing
}

/// The stored numbers of a register of a block.
#[inline(always)]
fn numbers<L: Lanes>(columns: &BlockColumns, register: usize, codes: L) -> L {
    let token = codes.token();
    codes.multiply_add(L::load(token, &columns.scales[register]), L::load(token, &columns.bases[register]))
}

/// Unit quaternions by the three numbers that are stored, in order. `missing` has the index of the number that is not
/// stored. It follows from the length 1.
#[inline(always)]
fn with_missing<L: Lanes>([a, b, c]: [L; 3], missing: L) -> [L; 4] {
    let token = missing.token();
    let one = L::splat(token, 1.0);
    let square = one - a.multiply_add(a, b.multiply_add(b, c * c));
    let inserted = square.max(L::splat(token, 0.0)).square_root();
    // Each is 0 where that number is missing.
    let (x, y, z, w) = (missing, missing - one, missing - L::splat(token, 2.0), missing - L::splat(token, 3.0));
    [
        a.replace_where_zero(x, inserted),
        b.replace_where_zero(y, inserted).replace_where_zero(x, a),
        c.replace_where_zero(z, inserted).replace_where_zero(x * y, b),
        c.replace_where_zero(w, inserted),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, EulerRot};

    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::cpu::keys::decoded::DecodedClips;
    use crate::cpu::keys::plan::{ClipRuns, JointRun, KeyStorage, MAX_GROUP_ROWS, MAX_KEPT_BYTES, RunKind};
    use crate::cpu::keys::records::Nearness;
    use crate::cpu::keys::source::{ClipSource, Sampling};
    use crate::cpu::simd::Kernel;
    use crate::cpu::stages::phase::Time;
    use crate::cpu::stages::quantized::DecodedColumn;
    use crate::cpu::stages::sampler::Sampler;
    use crate::cpu::stages::search;
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

    /// A clip of 27 joints: the first 9 turn with 40 keys, 6 with 17 keys, 7 with steps at the 40 keys, and 5 with 7
    /// keys that repeat. The first 12 move with the 17 keys.
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

    /// A clip of 21 joints in a row, whose joints are compressed in different ways. All turn. Each number of the
    /// rotations of some joints, `whole`, is once almost 0, so that none can be left out; the rotations of the first of
    /// them have a length of 1.05. Nine joints move; two of them are far away, so that their columns have long records.
    /// Two joints between others change their scales.
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

    /// Reads keys of all clips in turn, again and again, for several instances at different times. Results are the
    /// results of rows before and after the times, joint by joint.
    struct ReadInTurn<'a> {
        packed: &'a PackedLibrary,
        plans: &'a [ClipPlan],
    }

    /// The plan of a clip, by the offset of its record.
    struct ClipPlan {
        skeleton: usize,
        clip: u32,
        plan: ClipRuns,
    }

    const INSTANCES: usize = 7;

    impl Kernel for ReadInTurn<'_> {
        type Output = Vec<[u32; 4]>;

        fn run<L: Lanes>(self, token: Token<L>) -> Self::Output {
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
                let spans: Vec<KeySpan> = (0..INSTANCES)
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
                let decoded = clips.of(token, words, *clip, plan, Crowd::MAX_LAYERS);
                decoded.decode_rows(token, &sampling);
                for (instance, part) in (0..INSTANCES).flat_map(|i| TransformPart::ALL.map(|part| (i, part))) {
                    for run in plan.runs(part) {
                        let RunKind::Keys(keys) = run.kind else { continue };
                        let joints = run.joints().len().next_multiple_of(L::BLOCK);
                        let span = sampling.span(instance, keys);
                        let rows = decoded.around(&sampling, instance, keys, joints);
                        for (row, offset) in rows.into_iter().zip([span.row, span.row + span.next]) {
                            let mut row = row.to_vec();
                            if part == TransformPart::Rotation {
                                for block in row.chunks_exact_mut(L::BLOCK) {
                                    L::store_block(L::transpose(L::load_block(token, block)), block);
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
                    let column = DecodedColumn::new(words, keys.first);
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
                    ClipPlan { skeleton, clip, plan: ClipRuns::new(&packed, &packed.skeletons[skeleton].record, clip) }
                };
                let plans = packed.clip_offsets().into_iter().map(plan);
                plans.filter(|ClipPlan { plan, .. }| plan.rows.count > 0).collect()
            };
            let kept = plans();
            assert_eq!(kept.len(), Crowd::MAX_LAYERS + 3);
            let runs = |plan: &ClipRuns| -> Vec<KeyRun> {
                runs_of(plan, TransformPart::Rotation).into_iter().filter_map(|(_, keys)| keys).collect()
            };
            assert_eq!(kept.iter().map(|ClipPlan { plan, .. }| runs(plan).len()).max(), Some(4));
            let mut all = kept.iter().flat_map(|ClipPlan { plan, .. }| runs(plan));
            assert!(all.any(|keys| keys.nearness == nearness), "{width}");
            let without_keeping = |mut clip: ClipPlan| {
                let counts: Vec<_> = clip.plan.rows.timelines.iter().map(|rows| (rows.timeline, u32::MAX)).collect();
                let RowPlaces { of_runs, fours, .. } = clip.plan.rows;
                clip.plan.rows = RowPlaces::new((of_runs, &counts), (fours - of_runs, &counts));
                assert!(!clip.plan.rows.are_kept && clip.plan.rows.have_scattered);
                clip
            };
            let anew: Vec<_> = plans().into_iter().map(without_keeping).collect();
            for set in InstructionSet::ALL {
                let [kept, anew] = [&kept, &anew].map(|plans| set.run(ReadInTurn { packed: &packed, plans }));
                assert!(kept.len() > 40_000 && kept == anew, "{}, {width} bits, {}", set.name(), kept.len());
            }
        }
    }

    /// The counts and keys of the runs of a part.
    fn runs_of(plan: &ClipRuns, part: TransformPart) -> Vec<(usize, Option<KeyRun>)> {
        let keys = |run: &JointRun| if let RunKind::Keys(keys) = run.kind { Some(keys) } else { None };
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
                let plan = ClipRuns::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
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
        let plan = ClipRuns::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
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
        let most = (MAX_KEPT_BYTES / 64 / 16) as u32;
        let kept = |fours, counts: &[(u32, u32)]| {
            let places = RowPlaces::new((fours, counts), (0, &[]));
            (places.are_kept, places.count)
        };
        assert_eq!(kept(16, &[(0, most)]), (true, most));
        assert_eq!(kept(16, &[(0, most + 1)]), (false, MAX_GROUP_ROWS));
        // Timelines share rows.
        assert_eq!(kept(16, &[(1, 7), (4, most), (5, most)]), (true, most));
        assert_eq!(kept(16, &[(1, 7), (4, most + 1)]), (false, MAX_GROUP_ROWS));
        assert_eq!(kept(u32::MAX, &[(0, u32::MAX), (1, u32::MAX)]), (false, MAX_GROUP_ROWS));
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
        assert_eq!(with_scattered((17, counts), (1, &[(2, 9)])), (false, true, 18, MAX_GROUP_ROWS, 2));
        assert_eq!(with_scattered((0, &[]), (1, &[(0, 8000)])), (true, true, 1, 8000, 1));
        assert_eq!(with_scattered((0, &[]), (1, &[(0, 9000)])), (false, true, 1, MAX_GROUP_ROWS, 1));
        let mut library = Library::new();
        let clip = add_mixed_clip(&mut library);
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let plan = ClipRuns::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
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
        assert!(!ClipRuns::new(&packed, &packed.skeletons[0].record, record).rows.are_kept);
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
