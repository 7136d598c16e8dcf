//! Packing of playing layers: seconds and rates to integers.
//!
//! The phase of a playing layer is its ticks times its passes per tick. This product of integers is exact for months
//! and equal on every adapter. The passes per tick are rounded down. A whole number of passes then ends at the end of
//! the last pass, and not at the start of the next.

use crate::model::{Playback, Ticks};
use crate::pack::record::{
    CLOCK_BACKWARDS, CLOCK_ENDLESS, CLOCK_PING_PONG, CLOCK_PLAYS, CLOCK_REVERSE, CLOCK_WAITS, LayerRecord,
};

/// The unit of a clip's time, as the seconds of 2^32 units. It is a power of two, chosen so that the duration in units
/// takes 64 bits. `None` for a duration of 0, and for one so short or so long that an `f32` cannot hold the unit.
pub fn time_unit(duration: f64) -> Option<f32> {
    let exponent = exponent(duration);
    (-95..128).contains(&exponent).then(|| 2.0_f32.powi(exponent - 31))
}

/// Converts a time of a clip, from 0 to its duration, to units. `time_unit` is the seconds of 2^32 units.
pub fn units(seconds: f64, time_unit: f32) -> u64 {
    (seconds / f64::from(time_unit) * 2.0_f64.powi(32)) as u64
}

/// The layer record of a playing layer of a clip. `clip` is the offset of the clip's record, `duration` its duration in
/// seconds.
pub fn pack_playback(clip: u32, duration: f64, playback: &Playback) -> LayerRecord {
    let bit = |set: bool, bit: u32| if set { bit } else { 0 };
    let passes = playback.passes();
    let clock = CLOCK_PLAYS
        // At a rate of 0 there is nothing before the start, either.
        | bit(!playback.wrap.repeats() || playback.rate == 0.0, CLOCK_WAITS)
        | bit(passes >= f64::from(u32::MAX), CLOCK_ENDLESS)
        | bit(playback.rate < 0.0, CLOCK_BACKWARDS)
        | bit(playback.wrap.is_ping_pong(), CLOCK_PING_PONG)
        | bit(playback.wrap.is_reverse(), CLOCK_REVERSE);
    let [start, end] = playback.part(duration);
    let part = match time_unit(duration) {
        Some(unit) if end > start => {
            // The end of the last pass must be the end to the last bit, because a key may lie there.
            let (start_units, end_units) = (units(start, unit), units(end, unit));
            let length = end_units - start_units;
            PlayedPart { start: start_units, length, passes: passes_per_tick(playback.rate, end - start) }
        }
        _ => PlayedPart::default(),
    };
    let begin = playback.start.0;
    let fraction = (passes.fract() * 2.0_f64.powi(64)) as u64;
    LayerRecord {
        clip,
        clock,
        time_high: 0.0,
        time_low: 0.0,
        start_low: begin as u32,
        start_high: (begin >> 32) as u32,
        passes_0: part.passes as u32,
        passes_1: (part.passes >> 32) as u32,
        passes_2: (part.passes >> 64) as u32,
        passes_3: (part.passes >> 96) as u32,
        repeat_low: fraction as u32,
        repeat_high: (fraction >> 32) as u32,
        repeat_count: passes as u32,
        part_start_low: part.start as u32,
        part_start_high: (part.start >> 32) as u32,
        part_length_low: part.length as u32,
        part_length_high: (part.length >> 32) as u32,
        ..Default::default()
    }
}

/// The played part of a clip, in the clip's units, and the passes per tick. All 0 if the part has no length.
#[derive(Default)]
struct PlayedPart {
    start: u64,
    length: u64,
    passes: u128,
}

/// `|rate| / (ticks per second * length)` in units of 2^-96, rounded down; the largest integer if it is larger.
fn passes_per_tick(rate: f64, length: f64) -> u128 {
    if rate == 0.0 {
        return 0;
    }
    let (rate_bits, length_bits) = (mantissa(rate), mantissa(length));
    let shift = exponent(rate) - exponent(length) + 96 - Ticks::PER_SECOND.trailing_zeros() as i32;
    // Divides mantissas of 53 bits with 75 more bits, then shifts by the remaining bits.
    let quotient = (u128::from(rate_bits) << 75) / u128::from(length_bits);
    match shift - 75 {
        left @ 0.. if left as u32 > quotient.leading_zeros() => u128::MAX,
        left @ 0.. => quotient << left,
        right => quotient.checked_shr(right.unsigned_abs()).unwrap_or(0),
    }
}

/// The exponent of the highest bit of a normal number.
fn exponent(number: f64) -> i32 {
    ((number.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// The 53 bits of a normal number.
fn mantissa(number: f64) -> u64 {
    (number.to_bits() & ((1 << 52) - 1)) | 1 << 52
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_per_tick_are_exact_or_rounded_down() {
        let tick = 1_u128 << (96 - 20);
        assert_eq!(passes_per_tick(1.0, 1.0), tick);
        assert_eq!(passes_per_tick(-0.75, 1.5), tick / 2);
        assert_eq!(passes_per_tick(1.0, 3.0), tick / 3);
        assert_eq!(passes_per_tick(0.1, 0.1), tick);
        assert_eq!(passes_per_tick(1e6, 1e-30), u128::MAX);
        assert_eq!(passes_per_tick(1e-300, 1.0), 0);
        assert_eq!(passes_per_tick(0.0, 1.0), 0);
    }

    #[test]
    fn a_duration_takes_64_bits_of_its_unit() {
        for duration in [1.0, 0.1, 3.416_666_7, 86400.0, 1e-9, f64::from(f32::MAX)] {
            let units = duration / f64::from(time_unit(duration).unwrap()) * 2.0_f64.powi(32);
            assert!((2.0_f64.powi(63)..2.0_f64.powi(64)).contains(&units), "{duration}: {units}");
        }
        assert_eq!(time_unit(0.0), None);
        assert_eq!(time_unit(1e-30), None);
    }
}
