//! Clip time to key: once for each timeline of an instance, and each of its easings, whatever the number of channels that
//! share it.

use glam::Vec4;

use crate::cpu::ease;
use crate::cpu::phase::Time;
use crate::pack::record::{NONE, Timeline};

/// Where a time lies on a timeline.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Values from the first key to the last key that is not after the time.
    pub row: u32,
    /// Values from there to the next key; 0 at the last key.
    pub next: u32,
    /// Part of the way to the next key, 0 to 1 unless it was eased; 0 on a key, before the first and after the last.
    pub fraction: f32,
    /// Seconds from key to key.
    pub interval: f32,
}

fn key_time(words: &[u32], timeline: &Timeline, key: u32) -> Time {
    let at = (timeline.times + 2 * key) as usize;
    Time { high: f32::from_bits(words[at]), low: f32::from_bits(words[at + 1]) }
}

/// Finds the keys around a time: a guess by multiplication, bounds from it, bisection in between.
pub fn timeline(words: &[u32], values: &[Vec4], timeline: &Timeline, time: Time) -> Span {
    let row = timeline.row;
    let passed = time.since(key_time(words, timeline, 0));
    if passed < 0.0 {
        return Span { row: 0, next: row, fraction: 0.0, interval: 1.0 };
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
    if low + 1 >= timeline.key_count {
        return Span { row: low * row, next: 0, fraction: 0.0, interval: 1.0 };
    }
    let key = key_time(words, timeline, low);
    let interval = key_time(words, timeline, low + 1).since(key);
    let mut fraction = (time.since(key) / interval).clamp(0.0, 1.0);
    if timeline.easing != NONE && fraction > 0.0 {
        fraction = ease::fraction(words, values, timeline.easing, low, fraction);
    }
    Span { row: low * row, next: row, fraction, interval }
}
