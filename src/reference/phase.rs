//! Stage 1: from the crowd's clock to a clip's time.

use crate::model::{Clip, LayerTime, Playback, Ticks};

/// Where a playing clip is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Seconds on the clip's axis.
    pub time: f64,
    /// 1 from the start to the end, -1 from the end to the start.
    pub direction: i32,
    /// Passes played so far, with the fraction of the present one; at most the repeat count.
    pub iterations: f64,
    /// Whether the last pass is over.
    pub stopped: bool,
}

/// The time of a clip in seconds, for a layer at a tick of the crowd's clock. A layer [`At`](LayerTime::At) it stands where
/// it is.
pub fn clip_time(time: LayerTime, now: Ticks, clip: &Clip) -> f64 {
    match time {
        LayerTime::At(seconds) => clip.keep(seconds),
        LayerTime::Playing(playback) => {
            let playback = playback.resolve_wrap(clip.wrap);
            phase(&playback, played(&playback, now), clip.duration()).time
        }
    }
}

/// Seconds of the clip played since the start, negative before it or at a negative rate. A mode that does not repeat
/// waits for its start.
pub fn played(playback: &Playback, now: Ticks) -> f64 {
    let ticks = i128::from(now.0) - i128::from(playback.start.0);
    let ticks = if playback.wrap.repeats() { ticks } else { ticks.max(0) };
    ticks as f64 / Ticks::PER_SECOND as f64 * playback.rate
}

/// Where a clip is after so many seconds of play: Cocos Creator's mapping of accumulated time. A whole number of passes
/// is the end of the last of them, not the start of the next; backwards, the start.
pub fn phase(playback: &Playback, played: f64, duration: f64) -> Phase {
    let [start, end] = playback.part(duration);
    let length = end - start;
    let passes = playback.passes();
    if length == 0.0 {
        return Phase { time: 0.0, direction: 1, iterations: 0.0, stopped: passes.is_finite() };
    }
    let mut time = played;
    let mut iterations = played.abs() / length;
    let stopped = iterations >= passes;
    if stopped {
        iterations = passes;
        let fraction = if passes.fract() == 0.0 { 1.0 } else { passes.fract() };
        time = fraction * length * if played > 0.0 { 1.0 } else { -1.0 };
    }
    if time > length {
        time %= length;
        if time == 0.0 {
            time = length;
        }
    } else if time < 0.0 {
        time %= length;
        if time != 0.0 {
            time += length;
        }
    }
    let whole = iterations.fract() == 0.0 && iterations > 0.0;
    let pass = if whole { iterations - 1.0 } else { iterations.trunc() };
    let turned = playback.wrap.is_ping_pong() && pass % 2.0 == 1.0;
    let reverse = turned != playback.wrap.is_reverse();
    if reverse {
        time = length - time;
    }
    let forwards = reverse == (playback.rate < 0.0);
    // The end itself, not what rounding makes of it: a key may lie there.
    let time = if time == length { end } else { start + time };
    Phase { time, direction: if forwards { 1 } else { -1 }, iterations, stopped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SkeletonId, WrapMode};

    fn clip(duration: f64) -> Clip {
        Clip { length: Some(duration), ..Clip::new(None, SkeletonId(0), Vec::new()) }
    }

    fn playing(seconds: f64, rate: f64, duration: f64) -> f64 {
        let time = LayerTime::Playing(Playback::looping(Ticks::from_seconds(1.0), rate));
        clip_time(time, Ticks::from_seconds(1.0 + seconds), &clip(duration))
    }

    #[test]
    fn a_loop_wraps_into_its_clip() {
        assert_eq!(playing(2.5, 1.0, 2.0), 0.5);
        assert_eq!(playing(2.0, 1.0, 2.0), 2.0, "whole passes are the end");
        assert_eq!(playing(0.5, -1.0, 2.0), 1.5);
        assert_eq!(playing(2.0, -1.0, 2.0), 0.0, "backwards, the start");
        assert_eq!(playing(-0.5, 2.0, 2.0), 1.0);
        assert_eq!(playing(7.0, 1.0, 0.0), 0.0);
    }

    #[test]
    fn a_mode_that_does_not_repeat_waits_for_its_start_and_stays_at_its_end() {
        let at = |seconds: f64, wrap: WrapMode| {
            let time = LayerTime::Playing(Playback::new(wrap, Ticks::from_seconds(1.0), 1.0));
            clip_time(time, Ticks::from_seconds(seconds), &clip(2.0))
        };
        assert_eq!([0.0, 1.5, 9.0].map(|seconds| at(seconds, WrapMode::Normal)), [0.0, 0.5, 2.0]);
        assert_eq!([0.0, 1.5, 9.0].map(|seconds| at(seconds, WrapMode::Reverse)), [2.0, 1.5, 0.0]);
    }

    #[test]
    fn the_ends_of_the_clock_do_not_overflow() {
        let time = LayerTime::Playing(Playback::looping(Ticks(i64::MIN), -1e6));
        assert!((0.0..=2.0).contains(&clip_time(time, Ticks(i64::MAX), &clip(2.0))));
    }

    #[test]
    fn a_fixed_time_is_kept_within_a_clip_that_has_a_length() {
        let at = |length| clip_time(LayerTime::At(-3.5), Ticks(99), &Clip { length, ..clip(2.0) });
        assert_eq!((at(None), at(Some(2.0))), (-3.5, 0.0));
    }
}
