//! Rotations of quantized keys, decoded: instances that read the same key share the work.

use glam::Vec4;

use crate::cpu::plan::Keys;
use crate::cpu::simd::AlignedVectors;
use crate::pack::record::TimelineRecord;

/// The most bytes of the decoded rotations of a clip. More would not stay in the cache of a core.
const MOST_BYTES: usize = 256 << 10;

/// The places of the decoded rotations of a clip: a row per key, with the joints of all runs side by side, each run padded to whole
/// blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RotationRows {
    /// The index of the first column of a rotation among the decoded ones of the clip, in fours.
    first: u32,
    /// The columns of a row, in fours.
    fours: u32,
    /// The number of rows. 0: they take more than [`MOST_BYTES`], and a row is decoded each time that it is read.
    count: u32,
}

impl RotationRows {
    /// The rows of rotations with `fours` times four columns, from the column `first` on, with up to `keys` keys.
    pub fn new(first: u32, fours: u32, keys: u32) -> Self {
        let bytes = fours as usize * keys as usize * size_of::<[Vec4; 4]>();
        Self { first, fours, count: if bytes <= MOST_BYTES { keys } else { 0 } }
    }

    /// The rows of two keys. `offsets` are those of their rows of codes in the words of the library.
    #[inline(always)]
    pub fn of_keys(&self, timeline: &TimelineRecord, offsets: [u32; 2]) -> [usize; 2] {
        if self.count == 0 {
            return [0, 1];
        }
        let [start, end] = offsets;
        [((start - timeline.keys) / timeline.row) as usize, ((end - timeline.keys) / timeline.row) as usize]
    }

    /// The place of the first four joints of a run in a row.
    #[inline(always)]
    fn four(&self, row: usize, keys: &Keys) -> usize {
        row * self.fours as usize + keys.columns() - self.first as usize
    }
}

/// The decoded rotations of a clip.
#[derive(Debug, Default)]
pub struct DecodedRotations {
    /// Rows of quaternions, four vectors for each four joints: those of a block are number by number.
    quaternions: AlignedVectors,
    /// A bit for each four joints of a row, set for the first ones of each run that was decoded.
    present: Vec<u64>,
}

impl DecodedRotations {
    /// Forgets all rotations and makes room for those of a clip.
    pub fn clear(&mut self, rows: RotationRows) {
        let RotationRows { fours, count, .. } = rows;
        self.present.clear();
        self.present.resize((fours as usize * count as usize).div_ceil(64), 0);
        // Rows that are not kept are those before and after a time.
        let vectors = 4 * fours as usize * count.max(2) as usize;
        if self.quaternions.len() < vectors {
            self.quaternions.resize(vectors, Vec4::ZERO);
        }
    }

    /// Room for the rotations of a run of `joints` joints, whole blocks of them, if those of a key must be decoded. They are then kept.
    #[inline(always)]
    pub fn undecoded(&mut self, rows: RotationRows, row: usize, keys: &Keys, joints: usize) -> Option<&mut [Vec4]> {
        let four = rows.four(row, keys);
        if rows.count > 0 {
            let (bits, bit) = (&mut self.present[four / 64], 1 << (four % 64));
            if *bits & bit != 0 {
                return None;
            }
            *bits |= bit;
        }
        Some(&mut self.quaternions[4 * four..][..joints])
    }

    /// The rotations of a run in a row, which were decoded.
    #[inline(always)]
    pub fn row(&self, rows: RotationRows, row: usize, keys: &Keys, joints: usize) -> &[Vec4] {
        &self.quaternions[4 * rows.four(row, keys)..][..joints]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::cpu::InstructionSet;
    use crate::cpu::decoded::DecodedClips;
    use crate::cpu::plan::{Kind, Plan};
    use crate::cpu::simd::{Kernel, Lanes, in_order};
    use crate::cpu::stages::TransformPart;
    use crate::demo;
    use crate::model::{ClipId, Library};
    use crate::pack::PackedLibrary;
    use crate::pack::record::ClipRecord;

    const KEYS: usize = 40;
    const JOINTS: usize = 21;

    /// Reads the rotations of pairs of keys: neighbours, the same key twice, and keys far from each other, some of them again.
    struct ReadPairs<'a> {
        packed: &'a PackedLibrary,
        clip: u32,
        plan: &'a Plan,
    }

    impl Kernel for ReadPairs<'_> {
        type Output = Vec<Vec4>;

        fn run<L: Lanes>(self) -> Vec<Vec4> {
            let Self { packed, clip, plan } = self;
            let words = &packed.arrays.words;
            let record: ClipRecord = packed.arrays.record(clip);
            let mut clips = DecodedClips::default();
            let mut found = Vec::new();
            for run in plan.runs(TransformPart::Rotation) {
                let Kind::Keys(keys) = run.kind else { continue };
                let timeline: TimelineRecord =
                    packed.arrays.record(record.timelines + TimelineRecord::WORDS as u32 * keys.timeline() as u32);
                let (joints, room) = (run.joints().len(), run.joints().len().next_multiple_of(L::BLOCK));
                let columns: Vec<_> = keys.decode(words).take(joints).collect();
                for pair in (0..3 * KEYS as u32).map(|index| [7 * index, 7 * index + index % 3]) {
                    let offsets = pair.map(|key| timeline.keys + key % KEYS as u32 * timeline.row);
                    let decoded = clips.of::<L>(words, clip, plan);
                    let (ends, orders) = decoded.rotations::<L>(words, plan, keys, &timeline, offsets, room);
                    for (quaternions, offset) in ends.into_iter().zip(offsets) {
                        let by_joint = quaternions.chunks_exact(L::BLOCK).flat_map(|block| {
                            let mut to = vec![Vec4::ZERO; L::BLOCK];
                            L::store_block(L::transpose(L::load_block(block)), &mut to);
                            to
                        });
                        for ((numbers, &order), column) in by_joint.zip(orders).zip(&columns) {
                            let value = in_order(numbers, order);
                            let off = (value - column.key(words, offset)).abs().max_element();
                            assert!(off < 5e-7, "{off} at {offset}");
                            found.push(value);
                        }
                    }
                }
            }
            found
        }
    }

    #[test]
    fn rotations_that_are_kept_are_those_of_their_keys_bit_by_bit() {
        let mut library = Library::new();
        demo::add_rig(&mut library, JOINTS, KEYS, 2).unwrap();
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let clip = packed.clip(ClipId(0)).unwrap().offset;
        let plan = || Plan::new(&packed, &packed.skeletons[0].record, clip);
        let kept = plan();
        assert_eq!(kept.rotations.count, KEYS as u32);
        let read_anew = Plan { rotations: RotationRows { count: 0, ..kept.rotations }, ..plan() };
        for set in InstructionSet::ALL {
            let [kept, anew] = [&kept, &read_anew].map(|plan| set.run(ReadPairs { packed: &packed, clip, plan }));
            assert!(kept.len() >= 6 * KEYS * (JOINTS - 1), "{}", kept.len());
            assert_eq!(kept, anew, "{}", set.name());
        }
    }

    #[test]
    fn rows_of_many_keys_are_not_kept() {
        // 64 bytes for each four joints.
        let most = (MOST_BYTES / 64) as u32;
        assert_eq!(RotationRows::new(8, 16, most / 16).count, most / 16);
        assert_eq!(RotationRows::new(8, 16, most / 16 + 1).count, 0);
        assert_eq!(RotationRows::new(0, 0, 0).count, 0);
    }
}
