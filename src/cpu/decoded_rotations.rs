//! Rotations of quantized keys, decoded: instances that read the same key share the work.

use glam::Vec4;

use crate::cpu::plan::Keys;
use crate::pack::Aligned;
use crate::pack::record::TimelineRecord;

/// The most bytes of the rotations that are kept of a clip. More would not stay in the cache of a core.
const MOST_BYTES: u64 = 256 << 10;

/// The places of the decoded rotations of a clip: a row per key, with the joints of all runs side by side, each run padded to whole
/// blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RotationRows {
    /// The index of the first column of a rotation among the decoded ones of the clip, in fours.
    first: u32,
    /// The columns of a row, in fours.
    fours: u32,
    /// The number of rows that are kept. 0: all rows together are too large, and each is decoded whenever it is read.
    count: u32,
}

impl RotationRows {
    /// `count` rows of `fours` times four columns, from the column `first` on.
    pub fn new(first: u32, fours: u32, count: u32) -> Self {
        let bytes = size_of::<[Vec4; 4]>() as u64 * u64::from(fours);
        Self { first, fours, count: if bytes.saturating_mul(count.into()) <= MOST_BYTES { count } else { 0 } }
    }

    #[inline(always)]
    fn are_kept(&self) -> bool {
        self.count > 0
    }
}

/// Neighbouring joints whose rotations are decoded together.
#[derive(Clone, Copy)]
pub struct RotationRun<'a> {
    /// The rows of their clip.
    pub rows: RotationRows,
    /// Their keys.
    pub keys: Keys,
    /// The timeline of the keys.
    pub timeline: &'a TimelineRecord,
    /// The number of joints, in whole blocks.
    pub joints: usize,
}

impl RotationRun<'_> {
    /// The indices of the rows of two keys. `offsets` are those of the keys in the words of the library.
    #[inline(always)]
    pub fn rows_of(&self, offsets: [u32; 2]) -> [usize; 2] {
        if !self.rows.are_kept() {
            return [0, 1];
        }
        // Not by `map`, which would be a call.
        let row = |offset: u32| ((offset - self.timeline.keys) / self.timeline.row) as usize;
        [row(offsets[0]), row(offsets[1])]
    }

    /// The place of the first four joints in a row.
    #[inline(always)]
    fn four(&self, row: usize) -> usize {
        row * self.rows.fours as usize + self.keys.columns() - self.rows.first as usize
    }
}

/// The decoded rotations of a clip.
#[derive(Debug, Default)]
pub struct DecodedRotations {
    /// Quaternions, four vectors per four joints: those of a block are number by number.
    quaternions: Aligned<Vec4>,
    /// A bit per four joints of each row. Those of the first joints of a run are set if the row of the run is decoded.
    present: Vec<u64>,
}

impl DecodedRotations {
    /// Forgets all rotations and makes room for those of a clip.
    pub fn clear(&mut self, rows: RotationRows) {
        let RotationRows { fours, count, .. } = rows;
        self.present.clear();
        self.present.resize((fours as usize * count as usize).div_ceil(u64::BITS as usize), 0);
        // If no rows are kept, there is room for those before and after a time.
        let vectors = 4 * fours as usize * count.max(2) as usize;
        if self.quaternions.len() < vectors {
            // Not more room than that, and nothing is copied to it.
            self.quaternions = Aligned::default();
            self.quaternions.resize(vectors, Vec4::ZERO);
        }
    }

    /// The room for the rotations of a run in a row, if they must be decoded now. Later calls find them decoded.
    #[inline(always)]
    pub fn room_to_decode(&mut self, run: &RotationRun, row: usize) -> Option<&mut [Vec4]> {
        let four = run.four(row);
        if run.rows.are_kept() {
            let (bits, bit) = (&mut self.present[four / 64], 1 << (four % 64));
            if *bits & bit != 0 {
                return None;
            }
            *bits |= bit;
        }
        Some(&mut self.quaternions[4 * four..][..run.joints])
    }

    /// The rotations of a run in a row that was decoded.
    #[inline(always)]
    pub fn row(&self, run: &RotationRun, row: usize) -> &[Vec4] {
        &self.quaternions[4 * run.four(row)..][..run.joints]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, EulerRot};

    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::cpu::decoded::DecodedClips;
    use crate::cpu::plan::{Kind, Nearness, Plan};
    use crate::cpu::simd::{Kernel, Lanes, in_order};
    use crate::cpu::stages::TransformPart;
    use crate::cpu::{CpuEngine, InstructionSet};
    use crate::demo;
    use crate::model::{
        Clip, ClipId, Crowd, Curve, Extrapolation, Interpolation, Joint, Layer, LayerTime, Library, Outputs, Skeleton,
        Target, Ticks, Timeline, Track,
    };
    use crate::pack::PackedLibrary;
    use crate::pack::record::{ClipRecord, NONE};

    /// A clip of 27 joints: the first 9 turn with 40 keys, 6 with 17 keys, 7 with steps at the 40 keys, and 5 with 7 keys that repeat.
    fn add_mixed_clip(library: &mut Library) -> ClipId {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let skeleton = Skeleton::new(None, (0..27).map(joint).collect(), vec![]).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let timeline =
            |keys: usize, step: f64| Arc::new(Timeline::new((0..keys).map(|key| key as f64 * step).collect()).unwrap());
        let [many, few, short] = [timeline(40, 0.1), timeline(17, 0.2), timeline(7, 0.1)];
        let curve = |joint: usize, timeline: &Arc<Timeline>, interpolation| {
            let turn = |key: usize| {
                let (joint, key) = (joint as f64, key as f64);
                DQuat::from_euler(EulerRot::XYZ, 0.9 * (joint + key).sin(), 0.5 * (0.3 * joint - key).cos(), 0.01 * key)
            };
            let values = (0..timeline.len()).flat_map(|key| turn(key).to_array()).collect();
            Curve::new(timeline.clone(), interpolation, 4, values).unwrap()
        };
        let tracks = (0..27).map(|joint| {
            let curve = match joint {
                0..9 => curve(joint, &many, Interpolation::Linear),
                9..15 => curve(joint, &few, Interpolation::Linear),
                15..22 => curve(joint, &many, Interpolation::Step),
                _ => curve(joint, &short, Interpolation::Linear)
                    .with_extrapolation(Extrapolation::Clamp, Extrapolation::Loop),
            };
            Track::new(Target::Rotation(joint), curve)
        });
        library.add_clip(Clip { length: Some(30.0), ..Clip::new(None, skeleton, tracks.collect()) }).unwrap()
    }

    /// Clips of several sizes, more than a thread keeps, with compressed keys.
    fn compressed(width: u32) -> CompressedLibrary {
        let mut library = Library::new();
        add_mixed_clip(&mut library);
        for clip in 0..Crowd::MAX_LAYERS + 1 {
            demo::add_rig(&mut library, 40 - 3 * clip, 12 + clip, 2).unwrap();
        }
        CompressedLibrary::with_width(&library, width).unwrap()
    }

    /// Reads rotations of all clips in turn, again and again: at neighbouring keys, the same key twice, and keys read before.
    struct ReadInTurn<'a> {
        packed: &'a PackedLibrary,
        plans: &'a [(u32, Plan)],
    }

    impl Kernel for ReadInTurn<'_> {
        type Output = Vec<[u32; 4]>;

        fn run<L: Lanes>(self) -> Self::Output {
            let Self { packed, plans } = self;
            let words = &packed.arrays.words;
            let mut clips = DecodedClips::default();
            let mut found = Vec::new();
            for round in 0..200_u32 {
                // Three clips are read often, so that they are often kept; all displace each other.
                let count = if round % 2 == 0 { 3 } else { plans.len() };
                let (clip, plan) = &plans[round as usize / 2 % count];
                let record: ClipRecord = packed.arrays.record(*clip);
                for run in plan.runs(TransformPart::Rotation) {
                    let Kind::Keys(keys) = run.kind else { continue };
                    let timeline: TimelineRecord =
                        packed.arrays.record(record.timelines + TimelineRecord::WORDS as u32 * keys.timeline() as u32);
                    let joints = run.joints().len().next_multiple_of(L::BLOCK);
                    let columns: Vec<_> = keys.decode(words).take(run.joints().len()).collect();
                    // Curves that repeat have more key times than keys.
                    let keys_of_run = if timeline.map == NONE { timeline.key_count } else { 7 };
                    let row = |key: u32| timeline.keys + key % keys_of_run * timeline.row;
                    let offsets = [row(round / 3), row(round / 3 + round % 2)];
                    let run = RotationRun { rows: plan.rotations, keys, timeline: &timeline, joints };
                    let (ends, orders) = clips.of::<L>(words, *clip, plan).rotations::<L>(words, &run, offsets);
                    for (quaternions, offset) in ends.into_iter().zip(offsets) {
                        let by_joint = quaternions.chunks_exact(L::BLOCK).flat_map(|block| {
                            let mut to = vec![Vec4::ZERO; L::BLOCK];
                            L::store_block(L::transpose(L::load_block(block)), &mut to);
                            to
                        });
                        for ((numbers, &order), column) in by_joint.zip(orders).zip(&columns) {
                            let value = in_order(numbers, order);
                            let off = (value - column.key(words, offset)).abs().max_element();
                            assert!(off < 5e-7, "{off} in round {round}");
                            found.push(value.to_array().map(f32::to_bits));
                        }
                    }
                }
            }
            found
        }
    }

    #[test]
    fn rotations_that_are_kept_are_those_of_their_keys_bit_by_bit() {
        for (width, nearness) in [(16, Nearness::Blocks), (20, Nearness::Paired), (24, Nearness::Apart)] {
            let packed = compressed(width).pack().unwrap();
            let plans = || -> Vec<(u32, Plan)> {
                let skeleton = |index: usize| &packed.skeletons[index].record;
                let clips = packed.clip_offsets().into_iter();
                let plans = clips.map(|(clip, id)| (clip, Plan::new(&packed, skeleton(id.index()), clip)));
                plans.filter(|(_, plan)| plan.rotations.are_kept()).collect()
            };
            let kept = plans();
            assert_eq!(kept.len(), Crowd::MAX_LAYERS + 2);
            let runs = |plan: &Plan| -> Vec<Keys> {
                let runs = plan.runs(TransformPart::Rotation).iter();
                runs.filter_map(|run| if let Kind::Keys(keys) = run.kind { Some(keys) } else { None }).collect()
            };
            assert_eq!(kept.iter().map(|(_, plan)| runs(plan).len()).max(), Some(4));
            assert!(kept.iter().flat_map(|(_, plan)| runs(plan)).any(|keys| keys.nearness == nearness), "{width}");
            let without_keeping = |(clip, plan): (u32, Plan)| {
                (clip, Plan { rotations: RotationRows { count: 0, ..plan.rotations }, ..plan })
            };
            let anew: Vec<(u32, Plan)> = plans().into_iter().map(without_keeping).collect();
            for set in InstructionSet::ALL {
                let [kept, anew] = [&kept, &anew].map(|plans| set.run(ReadInTurn { packed: &packed, plans }));
                assert!(kept.len() > 4000 && kept == anew, "{}, {width} bits", set.name());
            }
        }
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
        let most = (MOST_BYTES / 64) as u32;
        assert_eq!(RotationRows::new(8, 16, most / 16).count, most / 16);
        assert_eq!(RotationRows::new(8, 16, most / 16 + 1).count, 0);
        assert_eq!(RotationRows::new(0, u32::MAX, u32::MAX).count, 0);
        assert_eq!(RotationRows::new(0, 0, 0).count, 0);
        let mut library = Library::new();
        let clip = add_mixed_clip(&mut library);
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let plan = Plan::new(&packed, &packed.skeletons[0].record, packed.clip(clip).unwrap().offset);
        // The 7 keys of 0.6 s that repeat for 30 s have more times than the other joints have keys.
        assert_eq!(plan.rotations.count, 40);
    }
}
