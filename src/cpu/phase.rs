//! Ticks to clip time.

use crate::pack::record::{CLOCK_FIXED, Clip, Layer};

/// A time in seconds as the sum of two numbers, exact to 48 bits.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    pub high: f32,
    pub low: f32,
}

impl Time {
    /// Seconds from an earlier time to this one. The large parts are subtracted first: near each other, they cancel
    /// without rounding.
    pub fn since(self, earlier: Self) -> f32 {
        (self.high - earlier.high) + (self.low - earlier.low)
    }
}

/// The time of a layer in its clip.
pub fn of_layer(layer: &Layer, clip: &Clip, now: i64) -> Time {
    if layer.clock == CLOCK_FIXED {
        return Time { high: layer.time_high, low: layer.time_low };
    }
    time(loops(layer, now), clip)
}

/// The fraction of a loop that has passed, in units of 2^-64: ticks since the start times loops a tick, wrapping.
fn loops(layer: &Layer, now: i64) -> u64 {
    let start = i64::from(layer.start_high as i32) << 32 | i64::from(layer.start_low);
    let ticks = i128::from(now.wrapping_sub(start)) as u128;
    let per_tick = [layer.loops_high, layer.loops_middle, layer.loops_low];
    let per_tick = per_tick.into_iter().fold(0, |sum: u128, word| sum << 32 | u128::from(word));
    (ticks.wrapping_mul(per_tick) >> 32) as u64
}

/// A fraction of a loop, in units of 2^-64, to seconds.
fn time(loops: u64, clip: &Clip) -> Time {
    let duration = u64::from(clip.duration_high) << 32 | u64::from(clip.duration_low);
    let units = ((u128::from(loops) * u128::from(duration)) >> 64) as u64;
    let (whole, rest) = ((units >> 32) as u32, units as u32);
    let high = (whole & 0xffff_ff00) as f32 * clip.duration_unit;
    let low = ((whole & 0xff) << 16 | rest >> 16) as f32 * (clip.duration_unit / 65536.0);
    Time { high, low }
}
