//! Columns of quantized keys, for registers: a thread keeps those of the clips that it decoded last.

use crate::cpu::plan::{Kind, Plan};
use crate::cpu::simd::{FourColumns, LARGEST_BLOCK};
use crate::cpu::stages::quantized::Column;
use crate::model::Crowd;

/// The clips whose columns a thread keeps: as many as an instance has layers.
const CLIPS: usize = Crowd::MAX_LAYERS;

/// The decoded columns of the clips that a thread decoded last.
#[derive(Debug, Default)]
pub struct DecodedClips {
    clips: [(Option<u32>, DecodedColumns); CLIPS],
    /// The index of the clip that was decoded first.
    oldest: usize,
}

/// The decoded columns of a clip.
#[derive(Debug, Default, PartialEq)]
pub struct DecodedColumns {
    /// The columns of its runs. Those of each run are padded to whole blocks.
    pub columns: Vec<FourColumns>,
    /// The columns of joints of kind [`Kind::Scattered`].
    pub scattered: Vec<Column>,
}

/// The columns of clips without quantized keys.
static NO_COLUMNS: DecodedColumns = DecodedColumns { columns: Vec::new(), scattered: Vec::new() };

impl DecodedClips {
    /// The columns of a clip, by the offset of its record in the words of the library. Decodes them unless they are kept.
    #[inline(always)]
    pub fn of(&mut self, words: &[u32], clip: u32, plan: &Plan) -> &DecodedColumns {
        if !plan.quantized {
            return &NO_COLUMNS;
        }
        let kept = self.clips.iter().position(|(kept, _)| *kept == Some(clip));
        let index = kept.unwrap_or_else(|| self.decode(words, clip, plan));
        &self.clips[index % CLIPS].1
    }

    /// Decodes the columns of a clip in place of the oldest one.
    #[inline(never)]
    fn decode(&mut self, words: &[u32], clip: u32, plan: &Plan) -> usize {
        let index = self.oldest;
        self.oldest = (index + 1) % CLIPS;
        let (kept, columns) = &mut self.clips[index];
        columns.decode(words, plan);
        *kept = Some(clip);
        index
    }
}

impl DecodedColumns {
    /// Decodes the columns of all runs.
    fn decode(&mut self, words: &[u32], plan: &Plan) {
        self.columns.clear();
        for run in plan.all_runs() {
            if let Kind::Keys(keys) = run.kind
                && keys.is_quantized()
            {
                self.push_run(keys.decode(words).take(run.joints().len()), keys.paired);
            }
        }
        let quantized = plan.scattered.iter().filter(|keys| keys.is_quantized());
        self.scattered.clear();
        self.scattered.extend(quantized.flat_map(|keys| keys.decode(words).next()));
    }

    /// Appends the columns of a run, four by four, padded to whole blocks with columns whose numbers are not used. If `paired` is set, the
    /// codes of each two joints lie in one window.
    pub fn push_run(&mut self, columns: impl Iterator<Item = Column>, paired: bool) {
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
            count += 1;
        }
        self.columns.resize(first + count.next_multiple_of(LARGEST_BLOCK) / 4, FourColumns::default());
    }
}

/// Returns true if the codes of each two columns lie in one window.
pub fn are_paired(columns: &[Column]) -> bool {
    columns.as_chunks::<2>().0.iter().all(|[a, b]| b.bytes_from(a.first).is_some())
}

/// Sets one of four columns.
fn set_column(four: &mut FourColumns, index: usize, column: &Column) {
    four.bytes[index] = column.bytes;
    four.masks[index] = column.masks;
    four.scales[index] = column.scale;
    four.bases[index] = column.base;
    four.orders[index] = column.order;
    four.firsts[index] = column.first;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::demo;
    use crate::model::Library;

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
        let mut kept = DecodedClips::default();
        // In order, backwards, and each of them twice.
        for (clip, plan) in plans.iter().chain(plans.iter().rev()).chain(plans.iter().flat_map(|plan| [plan; 2])) {
            let mut expected = DecodedColumns::default();
            expected.decode(words, plan);
            assert!(!expected.columns.is_empty());
            assert!(*kept.of(words, *clip, plan) == expected, "{clip}");
        }
    }
}
