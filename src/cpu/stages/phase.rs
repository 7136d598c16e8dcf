//! Ticks to clip time, by integer arithmetic, as in `shaders/shared/phase.wgsl`.
//!
//! A pass is one run through the played part of the clip.

use crate::pack::record::{
    CLOCK_BACKWARDS, CLOCK_ENDLESS, CLOCK_NEAR_BITS, CLOCK_PING_PONG, CLOCK_PLAYS, CLOCK_REVERSE, CLOCK_WAITS,
    ClipRecord, LayerRecord,
};

/// A time in seconds: the sum of two numbers, exact to 48 bits.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    pub high: f32,
    pub low: f32,
}

impl Time {
    /// Seconds from an earlier time to this one. The large parts are subtracted first: if they are near each other, the
    /// difference is exact.
    pub fn since(self, earlier: Self) -> f32 {
        (self.high - earlier.high) + (self.low - earlier.low)
    }
}

/// The clip time of a layer at a tick.
pub fn of_layer(layer: &LayerRecord, clip: &ClipRecord, now: i64) -> Time {
    if layer.clock & CLOCK_PLAYS == 0 {
        return Time { high: layer.time_high, low: layer.time_low };
    }
    time(mark(layer, now).position, clip)
}

/// The state of a playing layer at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The position in the units of the clip.
    pub position: u64,
    /// Jumps from the end of the played part to its start, minus jumps from its start to its end, since the start tick.
    /// Negative before the start tick. A part without length has none.
    pub loops: i128,
}

/// Finds the position of a playing layer at a tick.
pub fn mark(layer: &LayerRecord, now: i64) -> Mark {
    let mut ticks = now.wrapping_sub(join(layer.start_low, layer.start_high) as i64);
    if layer.clock & CLOCK_WAITS != 0 {
        ticks = ticks.max(0);
    }
    let backwards = (ticks < 0) != (layer.clock & CLOCK_BACKWARDS != 0);
    mark_after(layer, settle(layer, passes(layer, ticks.unsigned_abs())), backwards)
}

/// The largest number of cycles, which all are whole ones.
const MAX_CYCLES: f32 = (1_u64 << 62) as f32;

/// The position of a layer whose time is a number of cycles. A layer that waits takes a negative number as 0; NaN
/// counts as 0.
pub fn mark_of_cycles(layer: &LayerRecord, cycles: f32) -> Mark {
    let least = if layer.clock & CLOCK_WAITS != 0 { 0.0 } else { f32::NEG_INFINITY };
    let cycles = if cycles.is_nan() { 0.0 } else { cycles.max(least).clamp(-MAX_CYCLES, MAX_CYCLES) };
    let size = f64::from(cycles.abs());
    let mut passes = Passes { whole: size as u128, fraction: (size.fract() * 2.0_f64.powi(64)) as u64 };
    if size > 0.0 && passes.whole == 0 {
        // The least fraction that moves the position by a unit: a number just below 0 is at the end of the clip.
        passes.fraction = passes.fraction.max(2);
    }
    mark_after(layer, passes, cycles < 0.0)
}

/// The positions of a driven layer at both ends of a step.
pub fn driven_marks(layer: &LayerRecord) -> [Mark; 2] {
    // The numbers of jumps have their lowest bits only, which their difference needs.
    let loops = i128::from(layer.passes_1.wrapping_sub(layer.passes_0) as i32);
    [
        Mark { position: join(layer.start_low, layer.start_high), loops: 0 },
        Mark { position: join(layer.passes_2, layer.passes_3), loops },
    ]
}

/// A driven layer with its positions at both ends of a step.
pub fn with_marks(layer: &LayerRecord, clip: &ClipRecord, marks: [Mark; 2]) -> LayerRecord {
    let [from, to] = marks;
    let Time { high, low } = time(to.position, clip);
    LayerRecord {
        time_high: high,
        time_low: low,
        start_low: from.position as u32,
        start_high: (from.position >> 32) as u32,
        passes_0: from.loops as u32,
        passes_1: to.loops as u32,
        passes_2: to.position as u32,
        passes_3: (to.position >> 32) as u32,
        ..*layer
    }
}

/// Passes as an integer and a fraction in units of 2^-64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Passes {
    whole: u128,
    fraction: u64,
}

/// The passes of a number of ticks.
fn passes(layer: &LayerRecord, ticks: u64) -> Passes {
    let low = u128::from(ticks) * u128::from(join(layer.passes_0, layer.passes_1));
    let high = u128::from(ticks) * u128::from(join(layer.passes_2, layer.passes_3));
    // `high` counts 2^-32 passes, `low` 2^-96.
    let sum = (low >> 32) + (u128::from(high as u64) << 32);
    Passes { whole: (sum >> 64) + (high >> 64 << 32), fraction: sum as u64 }
}

/// Rounds passes to a whole number if they are at most a tick / 2^`CLOCK_NEAR_BITS` from it.
fn settle(layer: &LayerRecord, passes: Passes) -> Passes {
    let [low, high] = [join(layer.passes_0, layer.passes_1), join(layer.passes_2, layer.passes_3)].map(u128::from);
    // The passes per tick have units of 2^-96, the fraction has units of 2^-64.
    let near = u64::try_from((high << 64 | low) >> (32 + CLOCK_NEAR_BITS)).unwrap_or(u64::MAX);
    match passes.fraction.checked_add(near) {
        None => Passes { whole: passes.whole + 1, fraction: 0 },
        Some(_) if passes.fraction <= near => Passes { whole: passes.whole, fraction: 0 },
        Some(_) => passes,
    }
}

/// The position after a number of passes: the mapping of accumulated time in Cocos Creator.
///
/// After a whole number of passes, the layer is at the end of the last pass, not at the start of the next one.
/// Backwards, it is at the start. Before any pass, it is at the start, and backwards at the end.
fn mark_after(layer: &LayerRecord, mut passes: Passes, mut backwards: bool) -> Mark {
    let repeats = Passes { whole: u128::from(layer.repeat_count), fraction: join(layer.repeat_low, layer.repeat_high) };
    let mut at_end = passes.fraction == 0 && passes.whole > 0;
    if layer.clock & CLOCK_ENDLESS == 0 && passes >= repeats {
        // The layer stays at its last position. A count of 0 stops at the start, unless the layer has moved.
        backwards |= passes == Passes { whole: 0, fraction: 0 };
        passes = repeats;
        at_end = repeats.fraction == 0;
    }
    let length = join(layer.part_length_low, layer.part_length_high);
    let scaled = ((u128::from(passes.fraction) * u128::from(length)) >> 64) as u64;
    let mut position = if at_end { length } else { scaled };
    let pass_index = passes.whole as i128 - i128::from(at_end);
    // Ping-pong has no jump except the one at the start. A count of 0 jumps to the end as soon as the layer moves.
    let mut loops = if layer.clock & CLOCK_PING_PONG != 0 { pass_index.min(0) } else { pass_index };
    if backwards {
        position = length - position;
        loops = -1 - loops;
    }
    let turned = layer.clock & CLOCK_PING_PONG != 0 && pass_index % 2 == 1;
    if turned != (layer.clock & CLOCK_REVERSE != 0) {
        position = length - position;
    }
    if layer.clock & CLOCK_REVERSE != 0 {
        loops = -loops;
    }
    if length == 0 {
        loops = 0;
    }
    Mark { position: position.wrapping_add(join(layer.part_start_low, layer.part_start_high)), loops }
}

/// The clip times of the start and the end of the played part.
pub fn ends(layer: &LayerRecord, clip: &ClipRecord) -> [Time; 2] {
    let start = join(layer.part_start_low, layer.part_start_high);
    [start, start.wrapping_add(join(layer.part_length_low, layer.part_length_high))]
        .map(|position| time(position, clip))
}

/// Converts a position in the units of the clip to seconds.
pub fn time(position: u64, clip: &ClipRecord) -> Time {
    let (whole, rest) = ((position >> 32) as u32, position as u32);
    let high = (whole & 0xffff_ff00) as f32 * clip.time_unit;
    let low = (whole & 0xff) as f32 * clip.time_unit + rest as f32 * (clip.time_unit / 4_294_967_296.0);
    Time { high, low }
}

/// The 64-bit integer of two words.
pub fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
