//! Packing of key times, and of the lookup tables that find a key.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::Timeline;
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::easing::Easings;
use crate::pack::keys::PackedKeys;
use crate::pack::record::{Mapping, NONE, TimelineRecord, split};
use crate::pack::unroll::{Beyond, unroll};

/// The most cells of a lookup table. With more, an `f32` could not distinguish neighbouring cells.
const MOST_CELLS: usize = 1 << 20;

/// A packed timeline, which all clips that use it share.
#[derive(Debug, Clone, Copy)]
pub struct PackedTimeline {
    record: TimelineRecord,
}

/// The timelines, easings and keys packed so far.
#[derive(Default)]
pub struct Timelines<'a> {
    /// The easings.
    pub(crate) easings: Easings,
    /// The keys.
    pub(crate) keys: PackedKeys<'a>,
    packed: HashMap<(*const Timeline, Beyond), PackedTimeline>,
}

impl PackedTimeline {
    /// Packs a timeline of two or more keys, with its continuation beyond them.
    pub fn new(arrays: &mut Arrays, timeline: &Timeline, beyond: Beyond) -> Self {
        let unrolled = unroll(timeline, beyond);
        let map = unrolled.as_ref().map_or(NONE, |keys| {
            let map: Vec<Mapping> = keys.iter().map(|key| key.map).collect();
            arrays.push_records(&map)
        });
        let unrolled_times: Option<Vec<f64>> = unrolled.map(|keys| keys.iter().map(|key| key.time).collect());
        let key_times = unrolled_times.as_deref().unwrap_or(timeline.times());

        let times = arrays.words.len();
        for &time in key_times {
            let (high, low) = split(time);
            arrays.words.extend([high.to_bits(), low.to_bits()]);
        }
        let gaps = key_times.len() - 1;
        let even = map == NONE && timeline.step().is_some() && gaps <= MOST_CELLS;
        let cells = if even { gaps } else { key_times.len().min(MOST_CELLS) };
        let table = if even { NONE } else { pack_table(arrays, key_times, cells) };
        let span = key_times[gaps] - key_times[0];
        let record = TimelineRecord {
            key_count: key_times.len() as u32,
            times: times as u32,
            // If the span is too short for an f32, all times fall into one cell: slower, but not wrong.
            cells_per_second: (cells as f64 / span).min(f64::from(f32::MAX)) as f32,
            cell_count: cells as u32,
            table,
            row: 0,
            easing: NONE,
            window: timeline.window() as f32,
            map,
        };
        Self { record }
    }

    /// The record of the timeline in a clip. `row` is the number of values or words from key to key, `easing` the offset of the
    /// easings.
    pub fn record(&self, row: usize, easing: u32) -> TimelineRecord {
        TimelineRecord { row: row as u32, easing, ..self.record }
    }

    /// The bytes of a timeline's key times and lookup table, as if it were packed alone.
    pub fn bytes(timeline: &Timeline) -> usize {
        let mut arrays = Arrays::default();
        Self::new(&mut arrays, timeline, Beyond::default());
        arrays.size() + 4 * TimelineRecord::WORDS
    }

    /// The largest size of a timeline with `beyond` unrolled keys beyond its own.
    pub fn sizes(timeline: &Timeline, beyond: usize) -> Sizes {
        Sizes { words: (3 + Mapping::WORDS) * (timeline.len() + beyond) + 1, values: 0 }
    }
}

impl Timelines<'_> {
    /// Packs a timeline, or finds it if it was packed before.
    pub fn pack(&mut self, arrays: &mut Arrays, timeline: &Arc<Timeline>, beyond: Beyond) -> PackedTimeline {
        let identity = (Arc::as_ptr(timeline), beyond);
        *self.packed.entry(identity).or_insert_with(|| PackedTimeline::new(arrays, timeline, beyond))
    }
}

/// Packs the lookup table: for the start of each cell the last key at or before it, then the last key. Returns its offset.
fn pack_table(arrays: &mut Arrays, times: &[f64], cells: usize) -> u32 {
    let table = arrays.words.len();
    let (first, span) = (times[0], times[times.len() - 1] - times[0]);
    let mut key = 0;
    for cell in 0..=cells {
        let start = first + span * cell as f64 / cells as f64;
        // Despite rounding, the end must find the last key and keys that share its time.
        while key + 1 < times.len() && (times[key + 1] <= start || cell == cells) {
            key += 1;
        }
        arrays.words.push(key as u32);
    }
    table as u32
}
