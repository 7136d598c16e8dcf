//! Stage 3: from the crowd clock to the time of a clip.

use crate::model::{Clip, LayerTime, Playback, Ticks};
use crate::reference::passes::{Passes, ticks_since_start};

/// The state of a playing clip at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Seconds on the clip's axis.
    pub time: f64,
    /// 1 from the start to the end, -1 from the end to the start.
    pub direction: i32,
    /// Passes played so far, with the fraction of the present one; at most the repeat count.
    pub iterations: f64,
    /// `true` if the last pass is over.
    pub stopped: bool,
}

/// The time of a clip in seconds, for a layer at a tick of the crowd clock. A layer [`At`](LayerTime::At) a time stays
/// there. A time that follows from a parameter or from another layer counts as 0, because the clock does not tell it.
pub fn clip_time(time: LayerTime, now: Ticks, clip: &Clip) -> f64 {
    match time {
        LayerTime::At(seconds) => clip.keep(seconds),
        LayerTime::Phase { .. } | LayerTime::Synced { .. } => 0.0,
        LayerTime::Playing(playback) => phase_at(&playback.resolve_wrap(clip.wrap), now, clip.duration()).time,
    }
}

/// Seconds of the clip played since the start, rounded; negative before it or at a negative rate. A mode that does not
/// repeat waits for its start.
pub fn played(playback: &Playback, now: Ticks) -> f64 {
    ticks_since_start(playback, now) as f64 / Ticks::PER_SECOND as f64 * playback.rate
}

/// The phase of a clip of a duration in seconds, at a tick of the crowd clock.
///
/// It is exact: the passes are counted by [`Passes`]. A whole number of passes is the end of the last of them, not the
/// start of the next; backwards, the start. A play with a negative rate begins at the end.
pub fn phase_at(playback: &Playback, now: Ticks, duration: f64) -> Phase {
    let [start, end] = playback.part(duration);
    let length = end - start;
    if length == 0.0 {
        return without_length(playback);
    }
    phase_of_passes(playback, duration, Passes::new(playback, length, now))
}

/// The phase of a clip of a duration above 0 after some passes.
pub fn phase_of_passes(playback: &Playback, duration: f64, passes: Passes) -> Phase {
    let [start, end] = playback.part(duration);
    let length = end - start;
    let Passes { before, seconds, backwards } = passes;
    let progress = PlayProgress {
        iterations: before as f64 + seconds / length,
        is_odd: before % 2 == 1,
        // -0 at the start of a play that goes backwards.
        seconds: if backwards { -seconds } else { seconds },
    };
    progress.phase(playback, duration)
}

/// The phase of a clip after some seconds of play, by Cocos Creator's mapping of accumulated time. A frame loop rounds
/// these seconds at each frame, and they count as they are. Accumulated seconds of 0 are the start of the part, those
/// of -0 the beginning of a play backwards: its end.
pub fn phase(playback: &Playback, played: f64, duration: f64) -> Phase {
    let [start, end] = playback.part(duration);
    let length = end - start;
    if length == 0.0 {
        return without_length(playback);
    }
    let iterations = played.abs() / length;
    let rest = played % length;
    let seconds = match played {
        _ if played > length && rest == 0.0 => length,
        _ if played < 0.0 && rest == 0.0 => -length,
        _ if played > length || played < 0.0 => rest,
        _ => played,
    };
    PlayProgress { iterations, is_odd: is_odd(iterations), seconds }.phase(playback, duration)
}

/// The phase in a part that has no length.
fn without_length(playback: &Playback) -> Phase {
    Phase { time: 0.0, direction: 1, iterations: 0.0, stopped: playback.passes().is_finite() }
}

/// Returns `true` if the present pass, numbered from 0, is an odd one. After a whole number of passes, the last one is
/// present.
fn is_odd(iterations: f64) -> bool {
    let is_whole = iterations.fract() == 0.0 && iterations > 0.0;
    let pass = if is_whole { iterations - 1.0 } else { iterations.trunc() };
    pass % 2.0 == 1.0
}

/// The progress of a play through the played part of its clip, which has a length.
struct PlayProgress {
    /// Passes so far.
    iterations: f64,
    /// `true` if the present pass, numbered from 0, is an odd one.
    is_odd: bool,
    /// Seconds of the present pass, up to the length of the part; negative, or -0, if they are counted backwards.
    seconds: f64,
}

impl PlayProgress {
    fn phase(self, playback: &Playback, duration: f64) -> Phase {
        let [start, end] = playback.part(duration);
        let length = end - start;
        let passes = playback.passes();
        let stopped = self.iterations >= passes;
        let Self { iterations, is_odd, seconds } = if stopped { self.stop(passes, length) } else { self };
        let mut time = if seconds.is_sign_negative() { length + seconds } else { seconds };
        let reverse = (playback.wrap.is_ping_pong() && is_odd) != playback.wrap.is_reverse();
        if reverse {
            time = length - time;
        }
        let forwards = reverse == (playback.rate < 0.0);
        // The end itself, not its rounded sum: a key may lie there.
        let time = if time == length { end } else { start + time };
        Phase { time, direction: if forwards { 1 } else { -1 }, iterations, stopped }
    }

    /// The progress when the last pass is over.
    fn stop(self, passes: f64, length: f64) -> Self {
        let fraction = if passes.fract() == 0.0 { 1.0 } else { passes.fract() };
        let seconds = fraction * length * if self.seconds > 0.0 { 1.0 } else { -1.0 };
        Self { iterations: passes, is_odd: is_odd(passes), seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SkeletonId, WrapMode};

    fn clip(duration: f64) -> Clip {
        Clip { length: Some(duration), ..Clip::new(None, SkeletonId(0), Vec::new()) }
    }

    fn playing(seconds: f64, rate: f64, duration: f64) -> f64 {
        let time = LayerTime::Playing(Playback::looping(1.0, rate));
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
    fn a_play_backwards_begins_at_its_end() {
        assert_eq!([0.0, 0.5].map(|seconds| playing(seconds, -1.0, 2.0)), [2.0, 1.5]);
        let phase_of = |played: f64, wrap: WrapMode| phase(&Playback::new(wrap, Ticks(0), -1.0), played, 2.0).time;
        assert_eq!([0.0, -0.0, -0.5].map(|played| phase_of(played, WrapMode::Normal)), [0.0, 2.0, 1.5]);
        assert_eq!([0.0, -0.0, -0.5].map(|played| phase_of(played, WrapMode::Reverse)), [2.0, 0.0, 0.5]);
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
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, Ticks(i64::MIN), -1e6));
        assert!((0.0..=2.0).contains(&clip_time(time, Ticks(i64::MAX), &clip(2.0))));
    }

    #[test]
    fn a_fixed_time_is_kept_within_a_clip_that_has_a_length() {
        let at = |length| clip_time(LayerTime::At(-3.5), Ticks(99), &Clip { length, ..clip(2.0) });
        assert_eq!((at(None), at(Some(2.0))), (-3.5, 0.0));
    }
}
