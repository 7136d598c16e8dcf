//! Columns and rows of quantized keys, for registers: a thread keeps those of the clips that it decoded last.

use std::ops::Range;

use glam::{UVec4, Vec4};

use crate::cpu::block::decode;
use crate::cpu::block::key_row::{self, RunColumns};
use crate::cpu::block::sampling::Sampling;
use crate::cpu::decoded_rows::DecodedRows;
use crate::cpu::plan::{Keys, Kind, Nearness, Plan};
use crate::cpu::simd::{BlockColumns, FourColumns, LARGEST_BLOCK, Lanes};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::Column;
use crate::model::Crowd;

/// The clips whose columns a thread keeps: as many as an instance has layers.
const CLIPS: usize = Crowd::MAX_LAYERS;

/// The columns of a block, in fours.
const COLUMNS_PER_BLOCK: usize = LARGEST_BLOCK / 4;

/// The decoded columns and rows of the clips that a thread decoded last.
#[derive(Debug, Default)]
pub struct DecodedClips {
    /// What was decoded of each clip, with the offset of its record in the words of the library.
    clips: [(Option<u32>, DecodedColumns); CLIPS],
    /// The index of the clip that was decoded first.
    oldest: usize,
}

/// The decoded columns of a clip, and its rows.
#[derive(Debug, Default)]
pub struct DecodedColumns {
    /// The columns of its runs. Those of each run are padded to whole blocks. Those of [`blocks`](Self::blocks) have no meaning here.
    pub columns: Vec<FourColumns>,
    /// The columns of runs whose nearness is [`Nearness::Blocks`], for registers that read blocks. Those of other runs have no meaning here.
    pub blocks: Vec<BlockColumns>,
    /// The order of the numbers of each joint of the runs: their indices among the stored numbers. 3: a number is not stored. Those of each
    /// run are padded to whole blocks.
    pub orders: Vec<UVec4>,
    /// The columns of joints of kind [`Kind::Scattered`].
    pub scattered: Vec<Column>,
    /// The rows that were decoded with these columns.
    rows: DecodedRows,
    /// For each instance that is sampled and each timeline, the rows of the keys before and after its time. Those of timelines without runs
    /// have no meaning.
    around: Vec<[u32; 2]>,
    /// For each timeline its rows among those that are decoded next.
    absent: Vec<Range<usize>>,
}

impl DecodedClips {
    /// The columns of a clip, by the offset of its record in the words of the library. Decodes them unless they are kept. All calls must
    /// be with the same registers. Those of a clip without quantized keys have no meaning.
    #[inline(always)]
    pub fn of<L: Lanes>(&mut self, words: &[u32], clip: u32, plan: &Plan) -> &mut DecodedColumns {
        if !plan.quantized {
            return &mut self.clips[0].1;
        }
        let mut index = self.oldest;
        match self.clips.iter().position(|(kept, _)| *kept == Some(clip)) {
            Some(kept) => index = kept,
            None => {
                self.oldest = (index + 1) % CLIPS;
                let (kept, columns) = &mut self.clips[index];
                columns.decode::<L>(words, plan);
                *kept = Some(clip);
            }
        }
        &mut self.clips[index % CLIPS].1
    }
}

impl DecodedColumns {
    /// Decodes the columns of all runs.
    #[inline(always)]
    fn decode<L: Lanes>(&mut self, words: &[u32], plan: &Plan) {
        self.columns.clear();
        self.blocks.clear();
        self.orders.clear();
        self.rows.clear(&plan.rows);
        for run in plan.all_runs() {
            let Kind::Keys(keys) = run.kind else { continue };
            if L::READS_BLOCKS && keys.nearness == Nearness::Blocks {
                self.push_blocks::<L>(words, keys, run.joints().len());
            } else if keys.is_quantized() {
                self.push_run(words, keys, run.joints().len());
            }
        }
        self.scattered.clear();
        if !plan.scattered.is_empty() {
            self.decode_scattered(words, plan);
        }
    }

    /// Decodes the rows that up to [`LARGEST_BLOCK`] instances read, unless they are decoded.
    #[inline(always)]
    pub fn decode_rows<L: Lanes>(&mut self, sampling: &Sampling) {
        let places = &sampling.clip.plan.rows;
        if places.timelines.is_empty() {
            return;
        }
        debug_assert!(sampling.first_spans.len() <= LARGEST_BLOCK, "there is room for a block of instances");
        let timelines = sampling.clip.timelines.len();
        self.around.resize(sampling.first_spans.len() * timelines, [0; 2]);
        self.absent.resize(timelines, 0..0);
        self.rows.absent.clear();
        for &place in &places.timelines {
            let timeline = place.timeline as usize;
            let first_absent = self.rows.begin();
            for (instance, first) in sampling.first_spans.iter().enumerate() {
                let around =
                    self.rows.require(place, &sampling.clip.timelines[timeline], &sampling.spans[first + timeline]);
                self.around[instance * timelines + timeline] = around;
            }
            self.absent[timeline] = first_absent..self.rows.absent.len();
        }
        if !self.rows.absent.is_empty() {
            self.decode_absent::<L>(sampling.clip.plan, bytemuck::cast_slice(sampling.clip.sampler.words()));
        }
    }

    /// Decodes the absent rows of all runs.
    #[inline(always)]
    fn decode_absent<L: Lanes>(&mut self, plan: &Plan, codes: &[u8]) {
        for part in TransformPart::ALL {
            for run in plan.runs(part) {
                let Kind::Keys(keys) = run.kind else { continue };
                if !keys.is_quantized() {
                    continue;
                }
                let first = keys.columns();
                let columns = match keys.nearness {
                    Nearness::Apart => RunColumns::Apart(&self.columns[first..]),
                    Nearness::Blocks if L::READS_BLOCKS => {
                        RunColumns::Blocks(&self.blocks[first / COLUMNS_PER_BLOCK..])
                    }
                    _ => RunColumns::Paired(&self.columns[first..]),
                };
                let joints = run.joints().len().next_multiple_of(L::BLOCK);
                let DecodedRows { values, absent, .. } = &mut self.rows;
                let rows = &absent[self.absent[keys.timeline()].clone()];
                key_row::decode::<L>(columns, joints, part, rows, codes, &mut values[4 * first..]);
            }
        }
    }

    /// The values of a run of `joints` joints at the keys before and after the time of an instance, in whole blocks, as
    /// [`key_row::decode`] writes them.
    #[inline(always)]
    pub fn around(&self, sampling: &Sampling, instance: usize, keys: Keys, joints: usize) -> [&[Vec4]; 2] {
        let [start, end] = self.around[instance * sampling.clip.timelines.len() + keys.timeline()];
        [self.rows.run(start, keys, joints), self.rows.run(end, keys, joints)]
    }

    /// The orders of the numbers of the joints of a run.
    #[inline(always)]
    pub fn orders(&self, keys: Keys, joints: usize) -> &[UVec4] {
        &self.orders[4 * keys.columns()..][..joints]
    }

    /// Decodes the columns of joints of kind [`Kind::Scattered`].
    #[inline(never)]
    fn decode_scattered(&mut self, words: &[u32], plan: &Plan) {
        let quantized = plan.scattered.iter().filter(|keys| keys.is_quantized());
        self.scattered.extend(quantized.flat_map(|keys| keys.decode(words).next()));
    }

    /// Appends the columns of a run of `joints` joints, block by block.
    #[inline(always)]
    fn push_blocks<L: Lanes>(&mut self, words: &[u32], keys: Keys, joints: usize) {
        self.blocks.resize(keys.columns() / COLUMNS_PER_BLOCK, BlockColumns::default());
        self.orders.resize(4 * keys.columns(), UVec4::ZERO);
        for first in (0..joints as u32).step_by(LARGEST_BLOCK) {
            let records = &words[keys.after(first).first as usize..];
            let (columns, orders) = decode::columns::<L>(records, keys.column_words());
            self.blocks.push(columns);
            self.orders.extend(orders);
        }
    }

    /// Appends the columns of a run of `joints` joints, four by four.
    #[inline(never)]
    fn push_run(&mut self, words: &[u32], keys: Keys, joints: usize) {
        self.columns.resize(keys.columns(), FourColumns::default());
        self.orders.resize(4 * keys.columns(), UVec4::ZERO);
        self.push_columns(keys.decode(words).take(joints), keys.nearness != Nearness::Apart);
    }

    /// Appends columns four by four, padded to whole blocks with columns whose numbers are not used. If `paired` is set, the codes of each two
    /// joints lie in one window.
    pub fn push_columns(&mut self, columns: impl Iterator<Item = Column>, paired: bool) {
        let first = self.columns.len();
        let mut count = 0;
        let mut even = Column::default();
        for mut column in columns {
            if count % 4 == 0 {
                self.columns.push(FourColumns::default());
            }
            if count % 2 == 0 {
                even = column;
            } else if let Some(bytes) = column.bytes_from(even.first).filter(|_| paired) {
                (column.first, column.bytes) = (even.first, bytes);
            }
            if let Some(four) = self.columns.last_mut() {
                set_column(four, count % 4, &column);
            }
            self.orders.push(column.order);
            count += 1;
        }
        self.columns.resize(first + count.next_multiple_of(LARGEST_BLOCK) / 4, FourColumns::default());
        self.orders.resize(4 * self.columns.len(), UVec4::ZERO);
    }
}

/// How near each other the codes of the columns of a run are.
pub fn nearness(columns: &[Column]) -> Nearness {
    let pairs = columns.as_chunks::<2>().0;
    if !pairs.iter().all(|[a, b]| b.bytes_from(a.first).is_some()) {
        Nearness::Apart
    } else if decode::can_decode(columns) {
        Nearness::Blocks
    } else {
        Nearness::Paired
    }
}

/// Sets one of four columns.
fn set_column(four: &mut FourColumns, index: usize, column: &Column) {
    four.bytes[index] = column.bytes;
    four.masks[index] = column.masks;
    four.scales[index] = column.scale;
    four.bases[index] = column.base;
    four.firsts[index] = column.first;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::cpu::InstructionSet;
    use crate::cpu::simd::Kernel;
    use crate::demo;
    use crate::model::Library;

    /// Looks clips up in order, backwards, and each of them twice.
    struct InTurn<'a> {
        words: &'a [u32],
        plans: &'a [(u32, Plan)],
    }

    impl Kernel for InTurn<'_> {
        type Output = ();

        fn run<L: Lanes>(self) {
            let Self { words, plans } = self;
            let mut kept = DecodedClips::default();
            for (clip, plan) in plans.iter().chain(plans.iter().rev()).chain(plans.iter().flat_map(|plan| [plan; 2])) {
                let mut expected = DecodedColumns::default();
                expected.decode::<L>(words, plan);
                assert_eq!(expected.blocks.is_empty(), !L::READS_BLOCKS);
                assert_eq!(expected.columns.is_empty(), L::READS_BLOCKS);
                let kept = kept.of::<L>(words, *clip, plan);
                assert!(kept.columns == expected.columns && kept.scattered == expected.scattered, "{clip}");
                assert!(!kept.orders.is_empty() && kept.orders == expected.orders, "{clip}");
                // What follows the last record of a block can be NaN.
                assert_eq!(format!("{:?}", kept.blocks), format!("{:?}", expected.blocks));
            }
        }
    }

    #[test]
    fn more_clips_than_are_kept_have_the_columns_of_each() {
        let mut library = Library::new();
        // Clips of 6, 8, 10, ... joints.
        for clip in 0..CLIPS + 3 {
            demo::add_rig(&mut library, 6 + 2 * clip, 3, 2).unwrap();
        }
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let words = &packed.arrays.words;
        let plans: Vec<(u32, Plan)> = packed
            .clip_offsets()
            .into_iter()
            .map(|(clip, skeleton)| (clip, Plan::new(&packed, &packed.skeletons[skeleton.index()].record, clip)))
            .filter(|(_, plan)| plan.quantized)
            .collect();
        assert_eq!(plans.len(), CLIPS + 3);
        for set in InstructionSet::ALL {
            set.run(InTurn { words, plans: &plans });
        }
    }
}
