//! Packing of key times, and of the lookup tables that find a key.
//!
//! The head of `shaders/shared/search.wgsl` describes the search. Even key times of compressed clips are not stored: a
//! key time is the first time plus a multiple of the step, each as two `f32` of which the higher parts sum without
//! rounding. All other key times have a table of cells, each with bounds of the keys in it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Curve, Interpolation, Timeline};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::easing::Easings;
use crate::pack::keys::PackedKeys;
use crate::pack::record::{Mapping, NONE, TIMES_EVEN, TimelineRecord, split};
use crate::pack::unroll::{Beyond, unroll};

/// The most cells of a lookup table. With more, an `f32` could not distinguish neighbouring cells.
const MAX_CELLS: usize = 1 << 20;

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
    packed: HashMap<(*const Timeline, Beyond, bool), PackedTimeline>,
}

/// The largest distance of a key time from its multiple of the step, in steps, at which the time is not stored. It is
/// less than the rounding of a position within an interval.
const EVEN_ROUNDING: f64 = 1.0 / (1 << 25) as f64;

/// The most intervals times the [`extent`] in steps, at which key times are not stored. Beyond it, a position within an
/// interval would lose digits. A timeline has at most 8192 intervals then.
const MAX_EVEN: f64 = (1 << 26) as f64;

/// The shortest cell of a lookup table in seconds. A shorter time may be 0 on a GPU, and the number of cells per second
/// leaves the range of an `f32`.
const SHORTEST_CELL: f64 = f32::MIN_POSITIVE as f64;

/// The shortest step in seconds at which key times are not stored. Of a shorter one, an `f32` has no room for the
/// digits of the remainder of [`coarse_split`].
const SHORTEST_EVEN: f64 = SHORTEST_CELL * (1 << 26) as f64;

/// Returns `true` if the key times of a curve must be exact, and are therefore stored even if they are even: the curve
/// has steps, so that a time just before a key gives another value, or easings, which can be as steep, or a window
/// around its keys.
pub fn needs_exact_times(curve: &Curve) -> bool {
    let mut intervals = 0..curve.timeline().len() - 1;
    curve.interpolation() == Interpolation::Step
        || curve.timeline().window() != 0.0
        || intervals.any(|key| !curve.easing_at(key).is_linear())
}

/// Returns `true` if the key times of a timeline need not be stored: they are multiples of a step after the first.
pub fn is_even(timeline: &Timeline) -> bool {
    let times = timeline.times();
    let step = (timeline.last() - timeline.first()) / (times.len() - 1) as f64;
    let is_near =
        |(key, time): (usize, &f64)| (time - (timeline.first() + key as f64 * step)).abs() <= EVEN_ROUNDING * step;
    can_be_even(timeline) && times.iter().enumerate().all(is_near)
}

/// Returns `true` if the key times of a timeline need not be stored once they are exact multiples of a step after the
/// first.
pub fn can_be_even(timeline: &Timeline) -> bool {
    let gaps = (timeline.len() - 1) as f64;
    timeline.step().is_some_and(|step| step >= SHORTEST_EVEN && gaps * extent(timeline) / step <= MAX_EVEN)
}

/// The largest of a timeline's first key time, its last, and the seconds between them. Of key times on both sides of 0,
/// the distance from the first is larger than each time.
fn extent(timeline: &Timeline) -> f64 {
    let (first, last) = (timeline.first(), timeline.last());
    first.abs().max(last.abs()).max(last - first)
}

/// Splits a number into a multiple of a unit, a power of two, and the remainder.
///
/// The extent is at most 2^23 units. The multiple of a step is off by at most half a unit, so that its product with up
/// to 8192 intervals is off by at most 2^12 units. Products and sums therefore stay below 2^24 units, where an `f32` is
/// exact.
fn coarse_split(number: f64, timeline: &Timeline) -> (f32, f32) {
    let unit = (extent(timeline).log2().ceil() - 23.0).exp2();
    let high = (number / unit).round() * unit;
    (high as f32, (number - high) as f32)
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
        let span = key_times[gaps] - key_times[0];
        // A time within cells this short can be rounded by more than a cell.
        let one_cell = span < SHORTEST_CELL * key_times.len() as f64;
        let even = !one_cell && map == NONE && timeline.step().is_some() && gaps <= MAX_CELLS;
        let cells = match (one_cell, even) {
            (true, _) => 1,
            (false, true) => gaps,
            (false, false) => key_times.len().min(MAX_CELLS),
        };
        let table = if even { NONE } else { pack_table(arrays, key_times, cells) };
        let record = TimelineRecord {
            key_count: key_times.len() as u32,
            times: times as u32,
            cells_per_second: (cells as f64 / span).min(f64::from(f32::MAX)) as f32,
            cell_count: cells as u32,
            table,
            row: 0,
            easing: NONE,
            window: timeline.window() as f32,
            map,
            keys: 0,
        };
        Self { record }
    }

    /// Packs a timeline whose key times are exact multiples of a step after the first. Only the first and the step are
    /// stored.
    pub fn even(arrays: &mut Arrays, timeline: &Timeline) -> Self {
        let gaps = timeline.len() - 1;
        let span = timeline.last() - timeline.first();
        let (first_high, first_low) = coarse_split(timeline.first(), timeline);
        let (step_high, step_low) = coarse_split(span / gaps as f64, timeline);
        let record = TimelineRecord {
            key_count: timeline.len() as u32,
            times: arrays.push_records(&[first_high, first_low, step_high, step_low]),
            cells_per_second: (gaps as f64 / span) as f32,
            cell_count: gaps as u32,
            table: TIMES_EVEN,
            row: 0,
            easing: NONE,
            window: timeline.window() as f32,
            map: NONE,
            keys: 0,
        };
        Self { record }
    }

    /// The record of the timeline in a clip. `row` is the number of values or words from key to key, `easing` the
    /// offset of the easings. The caller sets `keys`.
    pub fn record(&self, row: usize, easing: u32) -> TimelineRecord {
        TimelineRecord { row: row as u32, easing, ..self.record }
    }

    /// The bytes of a timeline's key times and lookup table, as if it were packed alone. If `may_be_even`, even key
    /// times are not stored.
    pub fn bytes(timeline: &Timeline, may_be_even: bool) -> usize {
        let mut arrays = Arrays::default();
        if may_be_even && is_even(timeline) {
            Self::even(&mut arrays, timeline);
        } else {
            Self::new(&mut arrays, timeline, Beyond::default());
        }
        arrays.size() + 4 * TimelineRecord::WORDS
    }

    /// The largest size of a timeline with `beyond` unrolled keys beyond its own.
    pub fn sizes(timeline: &Timeline, beyond: usize) -> Sizes {
        Sizes { words: (3 + Mapping::WORDS) * (timeline.len() + beyond) + 1, values: 0 }
    }
}

impl Timelines<'_> {
    /// Packs a timeline, or finds it if it was packed before. If `may_be_even`, even key times are not stored.
    pub fn pack(
        &mut self,
        arrays: &mut Arrays,
        timeline: &Arc<Timeline>,
        beyond: Beyond,
        may_be_even: bool,
    ) -> PackedTimeline {
        let even = may_be_even && unroll(timeline, beyond).is_none() && is_even(timeline);
        let identity = (Arc::as_ptr(timeline), beyond, even);
        *self.packed.entry(identity).or_insert_with(|| match even {
            true => PackedTimeline::even(arrays, timeline),
            false => PackedTimeline::new(arrays, timeline, beyond),
        })
    }
}

/// Packs the lookup table: for the start of each cell the last key at or before it, then the last key. Returns its
/// offset.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_times_on_both_sides_of_0_count_from_the_first_to_the_last() {
        let evenly = |first: f64, last: f64, gaps: u32| {
            let step = (last - first) / f64::from(gaps);
            Timeline::new((0..=gaps).map(|key| first + f64::from(key) * step).collect()).unwrap()
        };
        assert!(is_even(&evenly(0.0, 2.0, 8192)) && is_even(&evenly(-1.0, 1.0, 8192)));
        // From -1 to 1, a time is at most 1, but the last key is 2 after the first.
        assert!(!is_even(&evenly(0.0, 2.0, 9900)) && !is_even(&evenly(-1.0, 1.0, 9900)));
        // From key to key, 2^-99 s and 2^-101 s.
        assert!(is_even(&evenly(0.0, (-96_f64).exp2(), 8)) && !is_even(&evenly(0.0, (-98_f64).exp2(), 8)));
    }

    #[test]
    fn the_cells_of_a_lookup_table_are_never_shorter_than_the_smallest_normal_number() {
        // Even and uneven key times, with cells of 2^-125, 2^-126 and 2^-127 s, and less than the smallest f32.
        for (cell, cells) in [(-125.0, 4), (-126.0, 4), (-127.0, 1), (-160.0, 1)] {
            let cell = f64::exp2(cell);
            for times in [[0.0, 1.0, 2.0, 4.0], [0.0, 4.0 / 3.0, 8.0 / 3.0, 4.0]] {
                let times = Timeline::new(times.map(|time| time * cell).to_vec()).unwrap();
                let mut arrays = Arrays::default();
                let record = PackedTimeline::new(&mut arrays, &times, Beyond::default()).record(2, NONE);
                let expected = if cells == 4 && times.step().is_some() { 3 } else { cells };
                assert_eq!(record.cell_count, expected, "{times:?}");
                assert!(record.cells_per_second.is_finite());
                if cells == 1 {
                    assert_eq!(arrays.words[record.table as usize..], [0, 3]);
                }
            }
        }
    }
}
