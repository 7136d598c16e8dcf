//! Stage 1: from the crowd's clock to a clip's time.

use crate::model::crowd::LayerTime;
use crate::model::ticks::Ticks;

/// The time of a clip in seconds, for a layer at a tick of the crowd's clock. `duration` is the clip's, in seconds.
///
/// A playing layer loops: its time is in `[0, duration)`, and 0 in a clip without duration.
pub fn clip_time(time: LayerTime, now: Ticks, duration: f64) -> f64 {
    match time {
        LayerTime::At(seconds) => seconds,
        LayerTime::Playing { start, rate } => {
            let ticks = i128::from(now.0) - i128::from(start.0);
            let seconds = ticks as f64 / Ticks::PER_SECOND as f64;
            let played = seconds * rate;
            // After a month at a million times the pace, the product's rounding is 0.2 ms: a fused multiplication and
            // addition gives just what was lost.
            let lost = seconds.mul_add(rate, -played);
            wrapped(wrapped(played, duration) + lost, duration)
        }
    }
}

fn wrapped(time: f64, duration: f64) -> f64 {
    if duration <= 0.0 {
        return 0.0;
    }
    let wrapped = time.rem_euclid(duration);
    // Just below 0, `rem_euclid` rounds up to the duration itself.
    if wrapped < duration { wrapped } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playing(seconds: f64, rate: f64, duration: f64) -> f64 {
        let time = LayerTime::Playing { start: Ticks::from_seconds(1.0), rate };
        clip_time(time, Ticks::from_seconds(1.0 + seconds), duration)
    }

    #[test]
    fn a_playing_layer_wraps_into_its_clip() {
        assert_eq!(playing(2.5, 1.0, 2.0), 0.5);
        assert_eq!(playing(2.0, 1.0, 2.0), 0.0);
        assert_eq!(playing(0.5, -1.0, 2.0), 1.5);
        assert_eq!(playing(-0.5, 2.0, 2.0), 1.0);
        assert_eq!(playing(7.0, 1.0, 0.0), 0.0);
        assert_eq!(wrapped(-1e-30, 2.0), 0.0);
    }

    #[test]
    fn the_ends_of_the_clock_do_not_overflow() {
        let time = LayerTime::Playing { start: Ticks(i64::MIN), rate: -1e6 };
        assert!((0.0..2.0).contains(&clip_time(time, Ticks(i64::MAX), 2.0)));
    }

    #[test]
    fn a_fixed_time_is_neither_wrapped_nor_clamped() {
        assert_eq!(clip_time(LayerTime::At(-3.5), Ticks(99), 2.0), -3.5);
    }
}
