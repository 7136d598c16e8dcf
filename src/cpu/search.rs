//! Clip time to key: once for each timeline of an instance, and each of its easings, whatever the number of channels that
//! share it.

use glam::Vec4;

use crate::cpu::ease;
use crate::cpu::phase::Time;
use crate::pack::record::{MAP_BACK, MAP_KEY, MAP_STRAIGHT, Mapping, NONE, TimelineRecord};

/// Where a time lies on a timeline.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Values from the first key to the key that is hit, or else to the last key before the time.
    pub row: u32,
    /// Values from there to the next key; 0 where a key is hit.
    pub next: u32,
    /// Part of the way to the next key, 0 to 1 unless it was eased or is on a straight line; 0 where a key is hit.
    pub fraction: f32,
    /// Seconds from key to key; 0 where a key is hit, before the first and after the last, and negative where the way is a
    /// straight line whatever the curve says.
    pub interval: f32,
}

impl Span {
    /// A key that is hit.
    fn on(key: u32, timeline: &TimelineRecord) -> Self {
        Self { row: key * timeline.row, ..Self::default() }
    }
}

fn key_time(words: &[u32], timeline: &TimelineRecord, key: u32) -> Time {
    let at = (timeline.times + 2 * key) as usize;
    Time { high: f32::from_bits(words[at]), low: f32::from_bits(words[at + 1]) }
}

fn mapping(words: &[u32], timeline: &TimelineRecord, key: u32) -> Mapping {
    if timeline.map == NONE {
        return Mapping { hit: key, source: key, offset: 0.0, scale: 1.0 };
    }
    let at = timeline.map as usize + Mapping::WORDS * key as usize;
    *bytemuck::from_bytes(bytemuck::cast_slice(&words[at..at + Mapping::WORDS]))
}

/// Finds the keys around a time: a guess by multiplication, bounds from it, bisection in between.
pub fn timeline(words: &[u32], values: &[Vec4], timeline: &TimelineRecord, time: Time) -> Span {
    let passed = time.since(key_time(words, timeline, 0));
    if passed < -timeline.window {
        return Span::default();
    }
    let place = passed * timeline.cells_per_second;
    let cell = place.clamp(0.0, timeline.cell_count as f32) as u32;
    let before = cell.max(1) - 1;
    let mut low = before;
    let mut high = (cell + 2).min(timeline.key_count);
    if timeline.table != NONE {
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
    // A line beyond the keys begins at once.
    let window = if straight { 0.0 } else { timeline.window };
    let key = key_time(words, timeline, low);
    let since = time.since(key);
    if since <= window {
        return Span::on(hit, timeline);
    }
    let source = mapped & MAP_KEY;
    if low + 1 >= timeline.key_count {
        return Span::on(source, timeline);
    }
    let next = key_time(words, timeline, low + 1);
    let left = next.since(time);
    if left <= window {
        return Span::on(mapping(words, timeline, low + 1).hit, timeline);
    }
    let interval = next.since(key);
    let mut span = Span { row: source * timeline.row, next: timeline.row, fraction: 0.0, interval };
    let gone = if mapped & MAP_BACK != 0 { left } else { since };
    span.fraction = offset + scale * (gone / interval).clamp(0.0, 1.0);
    if straight {
        span.interval = -interval;
    } else if timeline.easing != NONE && span.fraction > 0.0 {
        span.fraction = ease::fraction(words, values, timeline.easing, source, span.fraction);
    }
    span
}
