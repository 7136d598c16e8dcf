//! Time to key interval, as in `shaders/shared/search.wgsl`: once per timeline of an instance and per easing of it,
//! however many channels share the timeline.

use glam::Vec4;

use crate::cpu::stages::ease;
use crate::cpu::stages::phase::Time;
use crate::pack::Arrays;
use crate::pack::record::{ClipRecord, MAP_BACK, MAP_KEY, MAP_STRAIGHT, Mapping, NONE, TIMES_EVEN, TimelineRecord};

/// The result of a search: the key interval of a time, and the fraction within it.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeySpan {
    /// Values from the first key to the key that is hit, otherwise to the last key before the time. Of quantized keys,
    /// the offset of its row in the words.
    pub row: u32,
    /// Values from there to the next key. 0: a key is hit.
    pub next: u32,
    /// The fraction between the keys: 0 to 1, unless it was eased or lies on a straight line beyond the keys. 0: a key
    /// is hit.
    pub fraction: f32,
    /// Seconds from key to key. 0 if a key is hit, before the first key and after the last. Negative if the curve goes
    /// on as a straight line, whatever its interpolation.
    pub interval: f32,
}

impl KeySpan {
    /// The span of a key that is hit.
    pub fn on(key: u32, timeline: &TimelineRecord) -> Self {
        Self { row: timeline.keys + key * timeline.row, ..Self::default() }
    }
}

/// The time of a key.
pub fn key_time(words: &[u32], timeline: &TimelineRecord, key: u32) -> Time {
    if timeline.table == TIMES_EVEN {
        let [first_high, first_low, step_high, step_low] =
            [0, 1, 2, 3].map(|number| f32::from_bits(words[timeline.times as usize + number]));
        let key = key as f32;
        return Time { high: first_high + key * step_high, low: first_low + key * step_low };
    }
    let offset = (timeline.times + 2 * key) as usize;
    Time { high: f32::from_bits(words[offset]), low: f32::from_bits(words[offset + 1]) }
}

/// The mapping of a key time. Without a table, a key time is the time of the key with the same index.
fn mapping(words: &[u32], timeline: &TimelineRecord, key: u32) -> Mapping {
    if timeline.map == NONE {
        return Mapping { hit: key, source: key, offset: 0.0, scale: 1.0 };
    }
    let offset = timeline.map as usize + Mapping::WORDS * key as usize;
    *bytemuck::from_bytes(bytemuck::cast_slice(&words[offset..offset + Mapping::WORDS]))
}

/// An upper bound of the rows that a search returns, at most one more than there are. A curve that repeats has more key
/// times than rows.
pub fn row_count(words: &[u32], timeline: &TimelineRecord) -> u32 {
    if timeline.map == NONE {
        return timeline.key_count;
    }
    let last_row = |key| {
        let Mapping { hit, source, .. } = mapping(words, timeline, key);
        hit.max((source & MAP_KEY) + 1)
    };
    (0..timeline.key_count).map(last_row).max().map_or(0, |row| row + 1)
}

/// Finds the keys around a time. A multiplication guesses the key, the guess gives two bounds, and bisection finds the
/// key between them.
pub fn timeline(words: &[u32], values: &[Vec4], timeline: &TimelineRecord, time: Time) -> KeySpan {
    let passed = time.since(key_time(words, timeline, 0));
    if passed < -timeline.window {
        return KeySpan::on(0, timeline);
    }
    let guess = passed * timeline.cells_per_second;
    let cell = guess.clamp(0.0, timeline.cell_count as f32) as u32;
    let before = cell.max(1) - 1;
    let mut low = before;
    let mut high = (cell + 2).min(timeline.key_count);
    if timeline.table < TIMES_EVEN {
        low = words[(timeline.table + before) as usize];
        high = words[(timeline.table + (cell + 2).min(timeline.cell_count)) as usize] + 1;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if time.since(key_time(words, timeline, middle)) >= 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let Mapping { hit, source: mapped, offset, scale } = mapping(words, timeline, low);
    let straight = mapped & MAP_STRAIGHT != 0;
    // A straight line beyond the keys has no window.
    let window = if straight { 0.0 } else { timeline.window };
    let key = key_time(words, timeline, low);
    let since = time.since(key);
    if since <= window {
        return KeySpan::on(hit, timeline);
    }
    let source = mapped & MAP_KEY;
    if low + 1 >= timeline.key_count {
        return KeySpan::on(source, timeline);
    }
    let next = key_time(words, timeline, low + 1);
    let left = next.since(time);
    if left <= window {
        return KeySpan::on(mapping(words, timeline, low + 1).hit, timeline);
    }
    let interval = next.since(key);
    let mut span = KeySpan { row: timeline.keys + source * timeline.row, next: timeline.row, fraction: 0.0, interval };
    let elapsed = if mapped & MAP_BACK != 0 { left } else { since };
    span.fraction = offset + scale * (elapsed / interval).clamp(0.0, 1.0);
    if straight {
        span.interval = -interval;
    } else if timeline.easing != NONE && span.fraction > 0.0 {
        span.fraction = ease::fraction(words, values, timeline.easing, source, span.fraction);
    }
    span
}

/// The timelines of a clip.
pub fn timelines<'a>(arrays: &'a Arrays, clip: &ClipRecord) -> &'a [TimelineRecord] {
    let first = clip.timelines as usize;
    bytemuck::cast_slice(&arrays.words[first..first + TimelineRecord::WORDS * clip.timeline_count as usize])
}

/// Finds the keys of all timelines of a clip and appends their spans.
pub fn all(arrays: &Arrays, clip: &ClipRecord, time: Time, spans: &mut Vec<KeySpan>) {
    spans.extend(timelines(arrays, clip).iter().map(|own| timeline(&arrays.words, &arrays.values, own, time)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timeline;
    use crate::pack::PackedTimeline;
    use crate::pack::record::split;

    #[test]
    fn even_keys_are_found_without_stored_times() {
        for (first, step, keys) in [
            (0.0, 1.0 / 30.0, 60),
            (1.0 / 24.0, 1.0 / 24.0, 48),
            (-3.0, 0.1, 4000),
            (-1.0, 2.0 / 25.0, 26),
            (-1.0, 2.0 / 7897.0, 7898),
        ] {
            let times = Timeline::new((0..keys).map(|key| first + f64::from(key) * step).collect()).unwrap();
            let mut arrays = Arrays::default();
            let record = PackedTimeline::even(&mut arrays, &times).record(2, NONE);
            assert_eq!(arrays.words.len(), 4);
            let record = TimelineRecord { keys: 100, ..record };
            // Miri takes minutes for what takes a second elsewhere.
            for part in (-20..8020).step_by(if cfg!(miri) { 100 } else { 1 }) {
                let place = f64::from(part) * f64::from(keys - 1) / 8000.0;
                let (high, low) = split(first + place * step);
                let found = timeline(&arrays.words, &[], &record, Time { high, low });
                let error = f64::from(found.row - 100) / 2.0 + f64::from(found.fraction);
                let error = error - place.clamp(0.0, f64::from(keys - 1));
                assert!(error.abs() <= 4e-7, "{place} of {keys} keys: {found:?}");
            }
        }
    }
}
