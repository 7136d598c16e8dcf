//! Stage 3: from ticks of the crowd clock to passes, by exact arithmetic. A pass is once through the played part of a
//! clip.

use crate::model::{Playback, Ticks};

/// A play is at the end of a pass, or at an event, if its distance is at most a tick divided by this number.
pub const TICK_PARTS: u128 = 1024;

/// The number of passes that a play has made at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// Whole passes before the present one.
    pub before: u128,
    /// Seconds of the clip that the present pass has taken: from 0, only at the start of the play, to the length of a
    /// pass. A pass that is over is the present one until the next has begun.
    pub seconds: f64,
    /// `true` if they are counted down from the start of the play: before its start, or at a negative rate, but not
    /// both, and never at a rate of 0.
    pub backwards: bool,
}

impl Passes {
    /// The passes of a play at a tick, each of a length in seconds above 0.
    ///
    /// Rate and length are exact numbers, a mantissa times a power of two, so that no product or quotient is rounded.
    pub fn new(playback: &Playback, length: f64, now: Ticks) -> Self {
        let ticks = ticks_since_start(playback, now);
        let backwards = playback.rate != 0.0 && (ticks < 0) != (playback.rate < 0.0);
        let (rate, rate_unit) = mantissa(playback.rate.abs());
        let (length_units, length_unit) = mantissa(length);
        let tick_unit = rate_unit - Ticks::PER_SECOND.trailing_zeros() as i32;
        let played = rate * ticks.unsigned_abs();
        // All integers count the smaller one of the two units.
        let doublings = tick_unit - length_unit;
        let (mut before, mut rest, tick, pass);
        if doublings >= 0 {
            (tick, pass) = (shift_left(rate, doublings), length_units);
            (before, rest) = divide_doubled(played, doublings, pass);
        } else {
            (tick, pass) = (rate, shift_left(length_units, -doublings));
            (before, rest) = (played / pass, played % pass);
        }
        let is_near = |distance: u128| distance.saturating_mul(TICK_PARTS) <= tick;
        if rest > 0 && is_near(pass - rest) {
            (before, rest) = (before.saturating_add(1), 0);
        } else if is_near(rest) {
            rest = 0;
        }
        if rest == 0 && before > 0 {
            return Self { before: before - 1, seconds: length, backwards };
        }
        Self { before, seconds: rest as f64 * f64::from(tick_unit.min(length_unit)).exp2(), backwards }
    }

    /// A number of cycles, each a pass of a length in seconds above 0. A mode that does not repeat takes a negative
    /// number as 0.
    pub fn of_cycles(playback: &Playback, cycles: f32, length: f64) -> Self {
        let cycles = if playback.wrap.repeats() { f64::from(cycles) } else { f64::from(cycles).max(0.0) };
        let (before, part) = (cycles.abs().floor() as u128, cycles.abs().fract());
        let backwards = cycles < 0.0;
        if part == 0.0 && before > 0 {
            return Self { before: before - 1, seconds: length, backwards };
        }
        Self { before, seconds: part * length, backwards }
    }
}

/// Ticks since the start of a play, negative before it. A mode that does not repeat waits for its start.
pub(crate) fn ticks_since_start(playback: &Playback, now: Ticks) -> i128 {
    let ticks = i128::from(now.0) - i128::from(playback.start.0);
    if playback.wrap.repeats() { ticks } else { ticks.max(0) }
}

/// A number that is finite and not negative as an integer of 53 bits and the exponent of its unit, a power of two.
fn mantissa(number: f64) -> (u128, i32) {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, u128::from(bits & ((1 << 52) - 1)));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// A number doubled so many times; the largest one if it needs more bits.
fn shift_left(number: u128, doublings: i32) -> u128 {
    match number {
        0 => 0,
        _ if doublings as u32 > number.leading_zeros() => u128::MAX,
        _ => number << doublings,
    }
}

/// The quotient and the rest of a number, doubled so many times, by a divisor of 53 bits. The quotient is at most the
/// largest number.
fn divide_doubled(number: u128, doublings: i32, divisor: u128) -> (u128, u128) {
    let (mut quotient, mut rest) = (number / divisor, number % divisor);
    for _ in 0..doublings {
        rest *= 2;
        quotient = quotient.saturating_mul(2);
        if rest >= divisor {
            rest -= divisor;
            quotient = quotient.saturating_add(1);
        }
    }
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(rate: f64, seconds: f64, length: f64) -> (u128, f64) {
        let Passes { before, seconds, .. } =
            Passes::new(&Playback::looping(0.0, rate), length, Ticks::from_seconds(seconds));
        (before, seconds)
    }

    #[test]
    fn a_pass_that_is_over_is_the_present_one() {
        assert_eq!(passes(1.0, 0.0, 2.0), (0, 0.0));
        assert_eq!(passes(1.0, 2.0, 2.0), (0, 2.0));
        assert_eq!(passes(1.0, 2.5, 2.0), (1, 0.5));
        assert_eq!(passes(-3.0, 2.0, 2.0), (2, 2.0));
        assert_eq!(passes(0.0, 9.0, 2.0), (0, 0.0));
    }

    #[test]
    fn a_thousandth_of_a_tick_is_the_end() {
        // As f64, 0.8 is more than 4 / 5 and 0.7 less than 7 / 10.
        assert_eq!(passes(0.8, 12.5, 10.0), (0, 10.0));
        assert_eq!(passes(0.7, 1000.0, 10.0), (69, 10.0));
        let tick = 2.0_f64.powi(-20);
        assert_eq!(passes(1.0, 4.0, 4.0 + tick / 1024.0), (0, 4.0 + tick / 1024.0));
        assert_eq!(passes(1.0, 4.0, 4.0 + tick / 512.0), (0, 4.0));
        assert_eq!(passes(1.0, 4.0, 4.0 - tick / 1024.0), (0, 4.0 - tick / 1024.0));
        assert_eq!(passes(1.0, 4.0, 4.0 - tick / 512.0), (1, tick / 512.0));
    }

    #[test]
    fn units_far_apart_lose_nothing() {
        assert_eq!(passes(1e4, 1.0, 1e-30).1, 1e-30, "a tick is many passes");
        assert_eq!(passes(1e-300, 1.0, 3.0), (0, 1e-300));
        assert_eq!(passes(2.0_f64.powi(13), 1.0, 2.0_f64.powi(-60)), ((1 << 73) - 1, 2.0_f64.powi(-60)));
        assert_eq!(passes(f64::from_bits(1), 1.0, 1.0), (0, 0.0));
    }
}
