//! What a thread decoded of clips with quantized keys: columns for registers, and rows of values.
//!
//! Both are decoded when the first instance of a chunk needs them. A thread keeps as many clips as an instance has
//! layers ([`DecodedClips`]), from frame to frame, so that a crowd of few clips decodes each key once.

use std::ops::Range;

use glam::Vec4;

use crate::cpu::keys::plan::{ClipRuns, KeyRun, RunKind};
use crate::cpu::keys::records::{self, MixedRecords, Nearness};
use crate::cpu::keys::rows::{self, DecodedRows, RunColumns};
use crate::cpu::keys::source::Sampling;
use crate::cpu::simd::{BlockColumns, FourColumns, Kernel, LARGEST_BLOCK, Lanes, Token};
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::DecodedColumn;
use crate::model::Crowd;

/// The clips whose columns a thread keeps: as many as an instance has layers.
const CLIPS: usize = Crowd::MAX_LAYERS;

/// The number of displacements before other places are taken. Without that, clips that are not read any more would be
/// kept for ever.
const DISPLACEMENTS_PER_PLACE: usize = 64;

/// The columns of a block, in fours.
const COLUMNS_PER_BLOCK: usize = LARGEST_BLOCK / 4;

/// The decoded columns and rows of several clips, which a thread keeps.
#[derive(Debug, Default)]
pub struct DecodedClips {
    /// What is kept of each clip, with the offset of its record in the words of the library.
    clips: [(Option<u32>, DecodedClip); CLIPS],
    /// The number of clips that were decoded while no place was free.
    displacements: usize,
}

/// The decoded columns of a clip, and its rows.
#[derive(Debug, Default)]
pub struct DecodedClip {
    /// The columns of its runs. The columns of each run are padded to whole blocks. The columns of
    /// [`blocks`](Self::blocks) have no meaning here.
    pub columns: Vec<FourColumns>,
    /// The columns of runs whose nearness is [`Nearness::Blocks`], for registers that read blocks. Columns of other
    /// runs have no meaning here.
    pub blocks: Vec<BlockColumns>,
    /// The columns of joints of kind [`RunKind::Scattered`].
    pub scattered: Vec<DecodedColumn>,
    /// The rotations of runs that store all four numbers, in the order of their places.
    whole: Vec<WholeRotation>,
    /// The rows that were decoded with these columns.
    rows: DecodedRows,
    /// For each instance that is sampled and each timeline, the rows of the keys before and after its time. Rows of
    /// timelines without rows have no meaning.
    around: Vec<[u32; 2]>,
    /// For each timeline its rows among the queued ones.
    absent: Vec<Range<usize>>,
}

/// A rotation of a run that stores all four numbers. It is decoded alone, after the others.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WholeRotation {
    /// Its place in the first row.
    place: usize,
    column: DecodedColumn,
}

/// The decoding of the columns of a clip.
struct ColumnDecoding<'a> {
    columns: &'a mut DecodedClip,
    words: &'a [u32],
    plan: &'a ClipRuns,
}

impl Kernel for ColumnDecoding<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        self.columns.decode(token, self.words, self.plan);
    }
}

/// The decoding of rows that instances of a clip with quantized keys read.
struct RowDecoding<'a, 'b> {
    decoded: &'a mut DecodedClip,
    sampling: &'a Sampling<'b>,
}

impl Kernel for RowDecoding<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: Token<L>) {
        self.decoded.decode_required(token, self.sampling);
    }
}

impl DecodedClips {
    /// The columns of a clip, by the offset of its record in the words of the library. Decodes them unless they are
    /// kept. All calls must be with the same registers. Rows of a clip without quantized keys have no meaning.
    #[inline(always)]
    pub fn of<L: Lanes>(
        &mut self,
        token: Token<L>,
        words: &[u32],
        clip: u32,
        plan: &ClipRuns,
        clips_per_instance: usize,
    ) -> &mut DecodedClip {
        if !plan.quantized {
            return &mut self.clips[0].1;
        }
        let index = match self.find(clip) {
            Some(kept) => kept,
            None => {
                let index = self.place(clips_per_instance);
                let (kept, columns) = &mut self.clips[index];
                L::call(token, ColumnDecoding { columns, words, plan });
                *kept = Some(clip);
                index
            }
        };
        &mut self.clips[index % CLIPS].1
    }

    /// Returns `true` if the columns of a clip are kept.
    pub fn has(&self, clip: u32) -> bool {
        self.find(clip).is_some()
    }

    /// The place of a clip that is kept.
    #[inline(always)]
    fn find(&self, clip: u32) -> Option<usize> {
        self.clips.iter().position(|(kept, _)| *kept == Some(clip))
    }

    /// The place for the next clip. Where there are more clips than places, clips that are read one after the other
    /// displace each other in as many places as an instance needs: the memory of these stays in the caches of a core,
    /// and other clips are kept until the next frame.
    fn place(&mut self, clips_per_instance: usize) -> usize {
        if let Some(free) = self.clips.iter().position(|(kept, _)| kept.is_none()) {
            return free;
        }
        self.displacements = self.displacements.wrapping_add(1);
        let first = self.displacements / DISPLACEMENTS_PER_PLACE * clips_per_instance;
        (first + self.displacements % clips_per_instance.max(1)) % CLIPS
    }
}

impl DecodedClip {
    /// Decodes the columns of all runs.
    #[inline(always)]
    fn decode<L: Lanes>(&mut self, token: Token<L>, words: &[u32], plan: &ClipRuns) {
        self.columns.clear();
        self.blocks.clear();
        self.whole.clear();
        self.rows.clear(&plan.rows);
        for part in TransformPart::ALL {
            for run in plan.runs(part) {
                let RunKind::Keys(keys) = run.kind else { continue };
                if keys.nearness == Nearness::Blocks {
                    self.push_blocks(token, words, keys, run.joints().len(), part);
                } else if keys.is_quantized() {
                    self.push_run(words, keys, run.joints().len());
                }
                if keys.have_whole_rotations() {
                    self.push_whole(words, keys, run.joints().len());
                }
            }
        }
        self.scattered.clear();
        if !plan.scattered.is_empty() {
            self.decode_scattered_columns(words, plan);
        }
    }

    /// Decodes the rows that up to [`LARGEST_BLOCK`] instances read, unless they are decoded.
    #[inline(always)]
    pub fn decode_rows<L: Lanes>(&mut self, token: Token<L>, sampling: &Sampling) {
        if !sampling.clip.plan.rows.timelines.is_empty() {
            L::call(token, RowDecoding { decoded: self, sampling });
        }
    }

    /// The work of [`decode_rows`](Self::decode_rows) on a clip with quantized keys.
    #[inline(always)]
    fn decode_required<L: Lanes>(&mut self, token: Token<L>, sampling: &Sampling) {
        let places = &sampling.clip.plan.rows;
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
            self.decode_absent(token, sampling.clip.plan, sampling.clip.sampler.words());
        }
    }

    /// Decodes the absent rows of all joints.
    #[inline(always)]
    fn decode_absent<L: Lanes>(&mut self, token: Token<L>, plan: &ClipRuns, words: &[u32]) {
        let codes: &[u8] = bytemuck::cast_slice(words);
        for part in TransformPart::ALL {
            for run in plan.runs(part) {
                let RunKind::Keys(keys) = run.kind else { continue };
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
                rows::decode(token, columns, joints, part, rows, codes, &mut values[4 * first..]);
                if keys.have_whole_rotations() {
                    let [start, end] =
                        [4 * first, 4 * first + joints].map(|end| self.whole.partition_point(|own| own.place < end));
                    for WholeRotation { place, column } in &self.whole[start..end] {
                        for row in rows {
                            let value = column.key(words, row.first_word());
                            rows::replace(token, value, &mut values[row.to..], *place);
                        }
                    }
                }
            }
        }
        if !self.scattered.is_empty() && self.rows.have_scattered {
            self.decode_scattered_rows(plan, words);
        }
    }

    /// Decodes the absent rows of joints of kind [`RunKind::Scattered`].
    #[inline(never)]
    fn decode_scattered_rows(&mut self, plan: &ClipRuns, words: &[u32]) {
        for keys in plan.scattered.iter().filter(|keys| keys.is_quantized()) {
            let (column, place) = (&self.scattered[keys.columns()], self.rows.scattered_place(keys));
            for index in self.absent[keys.timeline()].clone() {
                let row = self.rows.absent[index];
                self.rows.values[row.to + place] = column.key(words, row.first_word());
            }
        }
    }

    /// The values of a run of `joints` joints at the keys before and after the time of an instance, in whole blocks, as
    /// [`rows::decode`] writes them.
    #[inline(always)]
    pub fn around(&self, sampling: &Sampling, instance: usize, keys: KeyRun, joints: usize) -> [&[Vec4]; 2] {
        let [start, end] = self.around[instance * sampling.clip.timelines.len() + keys.timeline()];
        [self.rows.run(start, keys, joints), self.rows.run(end, keys, joints)]
    }

    /// The values of a joint of kind [`RunKind::Scattered`] at the keys before and after the time of an instance.
    #[inline(always)]
    pub fn around_joint(&self, sampling: &Sampling, instance: usize, keys: &KeyRun) -> [Vec4; 2] {
        if !self.rows.have_scattered {
            return self.decode_around_joint(sampling, instance, keys);
        }
        let rows = self.around[instance * sampling.clip.timelines.len() + keys.timeline()];
        rows.map(|row| self.rows.scattered(row, keys))
    }

    /// The same, decoded for this instance alone.
    #[inline(never)]
    fn decode_around_joint(&self, sampling: &Sampling, instance: usize, keys: &KeyRun) -> [Vec4; 2] {
        let (span, column) = (sampling.span(instance, *keys), &self.scattered[keys.columns()]);
        [span.row, span.row + span.next].map(|row| column.key(sampling.clip.sampler.words(), row))
    }

    /// Decodes the columns of joints of kind [`RunKind::Scattered`].
    #[inline(never)]
    fn decode_scattered_columns(&mut self, words: &[u32], plan: &ClipRuns) {
        let quantized = plan.scattered.iter().filter(|keys| keys.is_quantized());
        self.scattered.extend(quantized.flat_map(|keys| keys.decode(words).next()));
    }

    /// Appends the columns of a run of `joints` joints whose nearness is [`Nearness::Blocks`], block by block.
    #[inline(always)]
    fn push_blocks<L: Lanes>(
        &mut self,
        token: Token<L>,
        words: &[u32],
        keys: KeyRun,
        joints: usize,
        part: TransformPart,
    ) {
        const { assert!(!L::READS_BLOCKS || L::BLOCK == LARGEST_BLOCK) };
        let columns = keys.columns();
        if L::READS_BLOCKS {
            self.blocks.resize(columns / COLUMNS_PER_BLOCK, BlockColumns::default());
        } else {
            self.columns.resize(columns + joints.next_multiple_of(LARGEST_BLOCK) / 4, FourColumns::default());
        }
        let mut mixed = MixedRecords::default();
        let mut records = &words[keys.first as usize..];
        for first in (0..joints).step_by(L::BLOCK) {
            let count = L::BLOCK.min(joints - first);
            let (block, stride, read) = match keys.column_stride() {
                Some(stride) => (records, stride, count * stride),
                None => {
                    let read = mixed.fill(records, count);
                    (mixed.words(), MixedRecords::STRIDE, read)
                }
            };
            if L::READS_BLOCKS {
                let by_number = records::columns(token, block, stride);
                self.blocks.push(match part {
                    TransformPart::Rotation => by_number,
                    _ => records::by_joint(token, &by_number),
                });
            } else {
                records::fours(token, block, stride, count, &mut self.columns[columns + first / 4..]);
            }
            records = &records[read..];
        }
    }

    /// Appends the rotations of a run of `joints` joints that store all four numbers.
    #[inline(never)]
    fn push_whole(&mut self, words: &[u32], keys: KeyRun, joints: usize) {
        let first = 4 * keys.columns();
        for (joint, column) in keys.decode(words).take(joints).enumerate() {
            if !column.decodes_in_block(TransformPart::Rotation) {
                self.whole.push(WholeRotation { place: first + joint, column });
            }
        }
    }

    /// Appends the columns of a run of `joints` joints, four by four.
    #[inline(never)]
    fn push_run(&mut self, words: &[u32], keys: KeyRun, joints: usize) {
        self.columns.resize(keys.columns(), FourColumns::default());
        self.push_columns(keys.decode(words).take(joints), keys.nearness != Nearness::Apart);
    }

    /// Appends columns four by four, padded to whole blocks with columns whose numbers are not used. If `paired` is
    /// set, the codes of each two joints lie in one window.
    pub fn push_columns(&mut self, columns: impl Iterator<Item = DecodedColumn>, paired: bool) {
        let first = self.columns.len();
        let mut count = 0;
        let mut even = DecodedColumn::default();
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
            count += 1;
        }
        self.columns.resize(first + count.next_multiple_of(LARGEST_BLOCK) / 4, FourColumns::default());
    }
}

/// Sets one of four columns.
fn set_column(four: &mut FourColumns, index: usize, column: &DecodedColumn) {
    four.bytes[index] = column.bytes;
    four.masks[index] = column.masks;
    four.scales[index] = column.scale;
    four.bases[index] = column.base;
    four.missing[index] = column.missing() as f32;
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
    use crate::pack::PackedLibrary;

    /// Looks clips up in order, backwards, and each of them twice.
    struct InTurn<'a> {
        words: &'a [u32],
        plans: &'a [(u32, ClipRuns)],
    }

    impl Kernel for InTurn<'_> {
        type Output = ();

        fn run<L: Lanes>(self, token: Token<L>) {
            let Self { words, plans } = self;
            let mut kept = DecodedClips::default();
            for (clip, plan) in plans.iter().chain(plans.iter().rev()).chain(plans.iter().flat_map(|plan| [plan; 2])) {
                let mut expected = DecodedClip::default();
                expected.decode(token, words, plan);
                assert_eq!(expected.blocks.is_empty(), !L::READS_BLOCKS);
                assert_eq!(expected.columns.is_empty(), L::READS_BLOCKS);
                let kept = kept.of(token, words, *clip, plan, CLIPS);
                assert_eq!(kept.scattered, expected.scattered, "{clip}");
                // What follows the last record of a block can be NaN.
                assert_eq!(format!("{:?}", kept.columns), format!("{:?}", expected.columns), "{clip}");
                assert_eq!(format!("{:?}", kept.blocks), format!("{:?}", expected.blocks), "{clip}");
            }
        }
    }

    /// Clips of 6, 8, 10, ... joints, more than are kept.
    fn compressed_clips() -> PackedLibrary {
        let mut library = Library::new();
        for clip in 0..CLIPS + 3 {
            demo::add_rig(&mut library, 6 + 2 * clip, 3, 2).unwrap();
        }
        CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap()
    }

    /// The plans of the clips with quantized keys, with the offsets of their records.
    fn plans(packed: &PackedLibrary) -> Vec<(u32, ClipRuns)> {
        let clips = packed.clip_offsets().into_iter();
        let plans: Vec<_> = clips
            .map(|(clip, skeleton)| (clip, ClipRuns::new(packed, &packed.skeletons[skeleton.index()].record, clip)))
            .filter(|(_, plan)| plan.quantized)
            .collect();
        assert_eq!(plans.len(), CLIPS + 3);
        plans
    }

    #[test]
    fn more_clips_than_are_kept_have_the_columns_of_each() {
        let packed = compressed_clips();
        let (words, plans) = (&packed.arrays.words, plans(&packed));
        for set in InstructionSet::ALL {
            set.run(InTurn { words, plans: &plans });
        }
    }

    /// Reads clips in turn, frame by frame. Counts in each frame the clips that were kept since the frame before.
    struct CountKept<'a> {
        words: &'a [u32],
        frames: &'a [&'a [(u32, ClipRuns)]],
        clips_per_instance: usize,
    }

    impl Kernel for CountKept<'_> {
        type Output = Vec<usize>;

        fn run<L: Lanes>(self, token: Token<L>) -> Vec<usize> {
            let Self { words, frames, clips_per_instance } = self;
            let mut clips = DecodedClips::default();
            let mut counts = vec![0; frames.len()];
            for (plans, count) in frames.iter().zip(&mut counts) {
                for (clip, plan) in *plans {
                    *count += usize::from(clips.has(*clip));
                    clips.of(token, words, *clip, plan, clips_per_instance);
                    assert!(clips.has(*clip));
                }
            }
            counts
        }
    }

    #[test]
    fn of_more_clips_than_places_most_are_kept_until_the_next_frame() {
        let packed = compressed_clips();
        let (words, plans) = (&packed.arrays.words, plans(&packed));
        // As many clips displace each other as an instance reads, and when they change places, as many more.
        for (clips_per_instance, least) in [(1, CLIPS - 2), (2, CLIPS - 4)] {
            let kept = CountKept { words, frames: &[&plans[..]; 100], clips_per_instance };
            let kept = InstructionSet::Portable.run(kept);
            assert_eq!(kept[0], 0);
            assert!(kept[1..].iter().all(|&kept| (least..CLIPS).contains(&kept)), "{clips_per_instance}: {kept:?}");
        }
    }

    #[test]
    fn clips_that_are_not_read_any_more_are_not_kept_for_ever() {
        let packed = compressed_clips();
        let (words, plans) = (&packed.arrays.words, plans(&packed));
        let (all, later) = (&plans[..], &plans[plans.len() - CLIPS..]);
        let frames = [vec![all; 3], vec![later; CLIPS * DISPLACEMENTS_PER_PLACE]].concat();
        let kept = InstructionSet::Portable.run(CountKept { words, frames: &frames, clips_per_instance: 1 });
        assert!(kept[..6].iter().all(|&kept| kept < CLIPS) && kept.last() == Some(&CLIPS), "{kept:?}");
    }
}
