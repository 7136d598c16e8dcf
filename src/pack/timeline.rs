//! Key times, and the tables that find a key.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::Timeline;
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::easing::Easings;
use crate::pack::keys::PackedKeys;
use crate::pack::record::{Mapping, NONE, TimelineRecord, split};
use crate::pack::unroll::{Beyond, unroll};

/// Beyond this many cells an `f32` no longer tells one from the next.
const MOST_CELLS: usize = 1 << 20;

/// Where a timeline's times and table lie, to be shared by all clips that use it.
#[derive(Debug, Clone, Copy)]
pub struct PackedTimeline {
    record: TimelineRecord,
}

/// Timelines, easings and keys that are packed already.
#[derive(Default)]
pub struct Timelines<'a> {
    /// The easings.
    pub(crate) easings: Easings,
    /// The keys.
    pub(crate) keys: PackedKeys<'a>,
    packed: HashMap<(*const Timeline, Beyond), PackedTimeline>,
}

impl PackedTimeline {
    /// Packs a timeline of two keys or more, and how it goes on beyond them.
    pub fn new(arrays: &mut Arrays, timeline: &Timeline, beyond: Beyond) -> Self {
        let unrolled = unroll(timeline, beyond);
        let map = unrolled.as_ref().map_or(NONE, |keys| {
            let map: Vec<Mapping> = keys.iter().map(|key| key.map).collect();
            arrays.push_records(&map)
        });
        let laid_out: Option<Vec<f64>> = unrolled.map(|keys| keys.iter().map(|key| key.time).collect());
        let key_times = laid_out.as_deref().unwrap_or(timeline.times());

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
            // A span too short for an f32 leaves one cell in use: slower, not wrong.
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

    /// The record for curves of this easing in a clip whose keys lie `row` values apart.
    pub fn record(&self, row: usize, easing: u32) -> TimelineRecord {
        TimelineRecord { row: row as u32, easing, ..self.record }
    }

    /// Bytes of a timeline's times and of what finds them, alone in a packing.
    pub fn bytes(timeline: &Timeline) -> usize {
        let mut arrays = Arrays::default();
        Self::new(&mut arrays, timeline, Beyond::default());
        arrays.size() + 4 * TimelineRecord::WORDS
    }

    /// The words that a timeline takes at most, with so many keys laid out beyond its own.
    pub fn sizes(timeline: &Timeline, beyond: usize) -> Sizes {
        Sizes { words: (3 + Mapping::WORDS) * (timeline.len() + beyond) + 1, values: 0 }
    }
}

impl Timelines<'_> {
    /// Packs a timeline, once however often it is asked for.
    pub fn pack(&mut self, arrays: &mut Arrays, timeline: &Arc<Timeline>, beyond: Beyond) -> PackedTimeline {
        let place = (Arc::as_ptr(timeline), beyond);
        *self.packed.entry(place).or_insert_with(|| PackedTimeline::new(arrays, timeline, beyond))
    }
}

/// For the start of each cell the last key at or before it, and for the end of the last the last key.
fn pack_table(arrays: &mut Arrays, times: &[f64], cells: usize) -> u32 {
    let table = arrays.words.len();
    let (first, span) = (times[0], times[times.len() - 1] - times[0]);
    let mut key = 0;
    for cell in 0..=cells {
        let start = first + span * cell as f64 / cells as f64;
        // Rounding must not leave out the last key, or keys that share its time.
        while key + 1 < times.len() && (times[key + 1] <= start || cell == cells) {
            key += 1;
        }
        arrays.words.push(key as u32);
    }
    table as u32
}
