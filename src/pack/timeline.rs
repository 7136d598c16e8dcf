//! Key times, and the tables that find a key.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::timeline::Timeline;
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::easing::Easings;
use crate::pack::record::{self, NONE, split};

/// Beyond this many cells an `f32` no longer tells one from the next.
const MOST_CELLS: usize = 1 << 20;

/// Where a timeline's times and table lie, to be shared by all clips that use it.
#[derive(Debug, Clone, Copy)]
pub struct PackedTimeline {
    record: record::Timeline,
}

/// Timelines and easings that are packed already.
#[derive(Default)]
pub struct Timelines {
    /// The easings.
    pub(crate) easings: Easings,
    packed: HashMap<*const Timeline, PackedTimeline>,
}

impl PackedTimeline {
    /// Packs a timeline of two keys or more.
    pub fn new(arrays: &mut Arrays, timeline: &Timeline) -> Self {
        let times = arrays.words.len();
        for &time in timeline.times() {
            let (high, low) = split(time);
            arrays.words.extend([high.to_bits(), low.to_bits()]);
        }
        let gaps = timeline.len() - 1;
        let even = timeline.step().is_some() && gaps <= MOST_CELLS;
        let cells = if even { gaps } else { timeline.len().min(MOST_CELLS) };
        let table = if even { NONE } else { pack_table(arrays, timeline, cells) };
        let span = timeline.last() - timeline.first();
        let record = record::Timeline {
            key_count: timeline.len() as u32,
            times: times as u32,
            // A span too short for an f32 leaves one cell in use: slower, not wrong.
            cells_per_second: (cells as f64 / span).min(f64::from(f32::MAX)) as f32,
            cell_count: cells as u32,
            table,
            row: 0,
            easing: NONE,
        };
        Self { record }
    }

    /// The record for curves of this easing in a clip whose keys lie `row` values apart.
    pub fn record(&self, row: usize, easing: u32) -> record::Timeline {
        record::Timeline { row: row as u32, easing, ..self.record }
    }

    /// The words that a timeline takes.
    pub fn sizes(timeline: &Timeline) -> Sizes {
        Sizes { words: 3 * timeline.len() + 1, values: 0 }
    }
}

impl Timelines {
    /// Packs a timeline, once however often it is asked for.
    pub fn pack(&mut self, arrays: &mut Arrays, timeline: &Arc<Timeline>) -> PackedTimeline {
        *self.packed.entry(Arc::as_ptr(timeline)).or_insert_with(|| PackedTimeline::new(arrays, timeline))
    }
}

/// For the start of each cell, and the end of the last, the last key at or before it.
fn pack_table(arrays: &mut Arrays, timeline: &Timeline, cells: usize) -> u32 {
    let table = arrays.words.len();
    let span = timeline.last() - timeline.first();
    let mut key = 0;
    for cell in 0..=cells {
        let start = timeline.first() + span * cell as f64 / cells as f64;
        while key + 1 < timeline.len() && timeline.times()[key + 1] <= start {
            key += 1;
        }
        arrays.words.push(key as u32);
    }
    table as u32
}
