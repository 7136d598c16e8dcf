//! Ticks to clip time, by integer arithmetic. A pass is once through the part of the clip that is played.

use crate::pack::record::{
    CLOCK_BACKWARDS, CLOCK_ENDLESS, CLOCK_PING_PONG, CLOCK_PLAYS, CLOCK_REVERSE, CLOCK_WAITS, ClipRecord, LayerRecord,
};

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
pub fn of_layer(layer: &LayerRecord, clip: &ClipRecord, now: i64) -> Time {
    if layer.clock & CLOCK_PLAYS == 0 {
        return Time { high: layer.time_high, low: layer.time_low };
    }
    time(mark(layer, now).position, clip)
}

/// Where a playing layer is, and how it came there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// In the clip's units.
    pub position: u64,
    /// How often it has jumped from the end of what is played to its start, less how often the other way, since it was
    /// at its start; negative before.
    pub laps: i128,
}

/// Where a playing layer is at a tick.
pub fn mark(layer: &LayerRecord, now: i64) -> Mark {
    let mut ticks = now.wrapping_sub(join(layer.start_low, layer.start_high) as i64);
    if layer.clock & CLOCK_WAITS != 0 {
        ticks = ticks.max(0);
    }
    let backwards = (ticks < 0) != (layer.clock & CLOCK_BACKWARDS != 0);
    position(layer, settle(layer, passes(layer, ticks.unsigned_abs())), backwards)
}

/// The passes, a whole number if they are nearer to it than 1/1024 of a tick.
fn settle(layer: &LayerRecord, (count, fraction): (u128, u64)) -> (u128, u64) {
    let [low, high] = [join(layer.passes_0, layer.passes_1), join(layer.passes_2, layer.passes_3)].map(u128::from);
    // The passes per tick have units of 2^-96, the fraction has units of 2^-64.
    let near = u64::try_from((high << 64 | low) >> (32 + 10)).unwrap_or(u64::MAX);
    match fraction.checked_add(near) {
        None => (count + 1, 0),
        Some(_) if fraction <= near => (count, 0),
        Some(_) => (count, fraction),
    }
}

/// The passes of a number of ticks, as an integer and a fraction in units of 2^-64.
fn passes(layer: &LayerRecord, ticks: u64) -> (u128, u64) {
    let low = u128::from(ticks) * u128::from(join(layer.passes_0, layer.passes_1));
    let high = u128::from(ticks) * u128::from(join(layer.passes_2, layer.passes_3));
    // `high` counts 2^-32 passes, `low` 2^-96.
    let sum = (low >> 32) + (u128::from(high as u64) << 32);
    ((sum >> 64) + (high >> 64 << 32), sum as u64)
}

/// Where the passes lead, in the clip's units: Cocos Creator's mapping of accumulated time. A whole number of passes is the
/// end of the last of them, not the start of the next; backwards, the start.
fn position(layer: &LayerRecord, mut passes: (u128, u64), mut backwards: bool) -> Mark {
    let repeats = (u128::from(layer.repeat_count), join(layer.repeat_low, layer.repeat_high));
    let mut whole = passes.1 == 0 && passes.0 > 0;
    if layer.clock & CLOCK_ENDLESS == 0 && passes >= repeats {
        // It stays where it stops; a count of 0 stops at the start unless it has moved.
        backwards |= passes == (0, 0);
        passes = repeats;
        whole = repeats.1 == 0;
    }
    let length = join(layer.part_length_low, layer.part_length_high);
    let scaled = ((u128::from(passes.1) * u128::from(length)) >> 64) as u64;
    let mut position = if whole { length } else { scaled };
    let pass_index = passes.0 as i128 - i128::from(whole);
    // Back and forth there is no jump but the one at the start; a count of 0 jumps to the end as soon as it moves.
    let mut laps = if layer.clock & CLOCK_PING_PONG != 0 { pass_index.min(0) } else { pass_index };
    if backwards && position != 0 {
        position = length - position;
        laps = -1 - laps;
    }
    let turned = layer.clock & CLOCK_PING_PONG != 0 && pass_index % 2 == 1;
    if turned != (layer.clock & CLOCK_REVERSE != 0) {
        position = length - position;
    }
    if layer.clock & CLOCK_REVERSE != 0 {
        laps = -laps;
    }
    Mark { position: position.wrapping_add(join(layer.part_start_low, layer.part_start_high)), laps }
}

/// The times of the start and the end of what a playing layer plays.
pub fn ends(layer: &LayerRecord, clip: &ClipRecord) -> [Time; 2] {
    let start = join(layer.part_start_low, layer.part_start_high);
    [start, start.wrapping_add(join(layer.part_length_low, layer.part_length_high))]
        .map(|position| time(position, clip))
}

/// A position in the clip's units to seconds.
pub fn time(position: u64, clip: &ClipRecord) -> Time {
    let (whole, rest) = ((position >> 32) as u32, position as u32);
    let high = (whole & 0xffff_ff00) as f32 * clip.time_unit;
    let low = (whole & 0xff) as f32 * clip.time_unit + rest as f32 * (clip.time_unit / 4_294_967_296.0);
    Time { high, low }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
