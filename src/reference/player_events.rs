//! The events that a play fires from one sample to the next, by Cocos Creator's stepping.
//!
//! A play stands on a moment of the clip's events, or on the moment behind it if it is between two. The next sample
//! steps from there, in the direction of the last sample, to the moment of the present time. It goes through an end at
//! most once, so that a leap over several passes fires the events of one.

use std::ops::Range;

use crate::model::{Clip, Playback, Ticks, WrapMode};
use crate::reference::phase::{Phase, phase, played};

/// The largest distance at which a sample hits an event, as a fraction of the clip's duration.
const WINDOW: f64 = 1e-6;

/// The events of a clip, grouped by their times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Events {
    duration: f64,
    /// Times as fractions of the duration, each with the range of its events.
    moments: Vec<(f64, Range<usize>)>,
}

/// The position of a play among the events after a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventMark {
    /// The moment that is hit or lies behind, from -1 (forwards, before all) to their number (backwards, after all).
    moment: isize,
    /// The direction in which the next sample steps: 1 or -1.
    direction: isize,
    /// The pass, numbered from 0; -1 if nothing was played yet.
    pass: f64,
}

impl Events {
    /// The events of a clip.
    pub fn new(clip: &Clip) -> Self {
        let duration = clip.duration();
        let mut moments: Vec<(f64, Range<usize>)> = Vec::new();
        for alike in clip.events.chunk_by(|a, b| a.time == b.time) {
            let first = moments.last().map_or(0, |(_, events)| events.end);
            moments.push((alike[0].time / duration, first..first + alike.len()));
        }
        Self { duration, moments }
    }

    /// The events that a sample fires, as indices in order, and the mark that the next sample needs. The first sample
    /// of a play has no mark, and fires the events that it hits.
    pub fn step(&self, wrap: WrapMode, last: Option<EventMark>, phase: &Phase) -> (Vec<usize>, EventMark) {
        let (mark, hit) = self.mark(phase);
        let Some(last) = last else {
            return (if hit { self.at(mark.moment).collect() } else { Vec::new() }, mark);
        };
        let passed = mark.pass != last.pass && last.pass >= 0.0;
        if mark.moment == last.moment && !passed {
            return (Vec::new(), mark);
        }
        if mark.moment == last.moment && self.moments.len() == 1 {
            return (self.at(0).collect(), mark);
        }
        let (fired, direction) = self.walk(wrap, last, mark);
        (fired, EventMark { direction, ..mark })
    }

    /// The events that are fired from the accumulated seconds of one sample to the seconds of the next. The direction
    /// of samples before them does not count. Without a first sample, the play begins.
    pub fn fired(&self, playback: &Playback, before: Option<f64>, now: f64) -> Vec<usize> {
        let phase_after = |played| phase(playback, played, self.duration);
        let last = before.map(|before| self.mark(&phase_after(before)).0);
        self.step(playback.wrap, last, &phase_after(now)).0
    }

    /// Steps from one mark to another. Returns the events on the way and the direction at the end. The next step keeps
    /// this direction, even if the direction of the phase is another one by then.
    fn walk(&self, wrap: WrapMode, from: EventMark, to: EventMark) -> (Vec<usize>, isize) {
        let count = self.moments.len() as isize;
        let EventMark { mut moment, mut direction, mut pass } = from;
        let mut fired = Vec::new();
        loop {
            if moment != to.moment {
                let forwards = direction > 0;
                let last = if forwards { count - 1 } else { 0 };
                if moment == last && if forwards { to.moment < last } else { to.moment > last } {
                    pass += 1.0;
                    match wrap.is_ping_pong() {
                        true => direction = -direction,
                        false => moment = if forwards { -1 } else { count },
                    }
                }
                if moment == to.moment || pass > to.pass {
                    break;
                }
            }
            moment += direction;
            fired.extend(self.at(moment));
            if moment == to.moment || !(0..count).contains(&moment) {
                break;
            }
        }
        (fired, direction)
    }

    /// The mark of a phase, and true if it hits a moment.
    fn mark(&self, phase: &Phase) -> (EventMark, bool) {
        let ratio = if self.duration == 0.0 { 0.0 } else { phase.time / self.duration };
        let found = self.find(ratio);
        let moment = match found {
            Ok(hit) => hit as isize,
            Err(next) if phase.direction < 0 => next as isize,
            Err(next) => next as isize - 1,
        };
        // A whole number of passes is the end of the last of them.
        let whole = phase.iterations.fract() == 0.0;
        let pass = if whole { phase.iterations - 1.0 } else { phase.iterations.trunc() };
        (EventMark { moment, direction: phase.direction as isize, pass }, found.is_ok())
    }

    /// The moment that a fraction of the duration hits; else the first moment after it, as an error.
    fn find(&self, ratio: f64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.moments.len());
        while low < high {
            // If several moments are in the window, the order of the search decides, as in Cocos Creator.
            let middle = (low + high - 1) / 2;
            let moment = self.moments[middle].0;
            if moment > ratio + WINDOW {
                high = middle;
            } else if moment < ratio - WINDOW {
                low = middle + 1;
            } else {
                return Ok(middle);
            }
        }
        Err(low)
    }

    /// The events of a moment; none before the first moment and after the last one.
    fn at(&self, moment: isize) -> Range<usize> {
        let moment = usize::try_from(moment).ok().and_then(|moment| self.moments.get(moment));
        moment.map_or(0..0, |(_, events)| events.clone())
    }
}

/// The events of a clip that a playing layer fires after the tick `before` of the crowd clock, up to and with the tick
/// `now`, as indices in order. There are none unless `now` is the later one. Without `before`, this is the first frame,
/// which fires the events that it hits.
///
/// A mode that does not repeat begins at its start, with the events there.
pub fn fired(clip: &Clip, playback: &Playback, before: Option<Ticks>, now: Ticks) -> Vec<usize> {
    let playback = playback.resolve_wrap(clip.wrap);
    let events = Events::new(clip);
    let begun = |tick: Ticks| playback.wrap.repeats() || tick >= playback.start;
    if !begun(now) || before.is_some_and(|before| before >= now) {
        return Vec::new();
    }
    let to = played(&playback, now);
    match before {
        Some(before) if begun(before) => {
            let from = played(&playback, before);
            let ahead = ahead(&playback, from, events.duration);
            events.fired(&playback, Some(from + ahead), to + ahead)
        }
        Some(_) => [events.fired(&playback, None, 0.0), events.fired(&playback, Some(0.0), to)].concat(),
        None => events.fired(&playback, None, to + ahead(&playback, to, events.duration)),
    }
}

/// The seconds to add to those played by an endless mode that is not yet at its start, so that its passes are counted
/// up: a whole number of passes there and back.
fn ahead(playback: &Playback, played: f64, duration: f64) -> f64 {
    let [start, end] = playback.part(duration);
    let turn = 2.0 * (end - start);
    if turn == 0.0 || playback.passes().is_finite() || played * playback.rate >= 0.0 {
        return 0.0;
    }
    -(played / turn).trunc() * turn + turn.copysign(playback.rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Event, SkeletonId};

    const NONE: [usize; 0] = [];

    /// Two seconds, with events 0 at 0 s, 1 and 2 at 0.5 s, 3 at 1.5 s.
    fn clip() -> Clip {
        let event = |time| Event { time, ..Event::default() };
        let events = [0.0, 0.5, 0.5, 1.5].map(event).to_vec();
        Clip { length: Some(2.0), events, ..Clip::new(None, SkeletonId(0), Vec::new()) }
    }

    fn from_to(wrap: WrapMode, rate: f64, before: Option<f64>, now: f64) -> Vec<usize> {
        Events::new(&clip()).fired(&Playback::new(wrap, Ticks(0), rate), before, now)
    }

    #[test]
    fn the_first_sample_fires_what_it_hits() {
        assert_eq!(from_to(WrapMode::Normal, 1.0, None, 0.0), [0]);
        assert_eq!(from_to(WrapMode::Normal, 1.0, None, 0.5 + 1e-6), [1, 2], "within a millionth of the duration");
        assert_eq!(from_to(WrapMode::Normal, 1.0, None, 0.5 + 3e-6), NONE);
        assert_eq!(from_to(WrapMode::Reverse, 1.0, None, 0.0), NONE);
    }

    #[test]
    fn passed_events_fire_once_and_in_order() {
        let normal = |before, now| from_to(WrapMode::Normal, 1.0, Some(before), now);
        assert_eq!(normal(0.0, 0.25), NONE);
        assert_eq!(normal(0.25, 0.5), [1, 2]);
        assert_eq!(normal(0.5, 1.0), NONE);
        assert_eq!(normal(0.25, 9.0), [1, 2, 3]);
        assert_eq!(normal(9.0, 9.5), NONE, "it has stopped");
        assert_eq!(from_to(WrapMode::Reverse, 1.0, Some(0.0), 1.75), [3, 1, 2], "events of one time in order");
    }

    #[test]
    fn a_loop_goes_on_at_its_other_end() {
        assert_eq!(from_to(WrapMode::Loop, 1.0, Some(1.0), 2.75), [3, 0, 1, 2]);
        assert_eq!(from_to(WrapMode::Loop, 1.0, Some(1.75), 2.25), [0]);
        assert_eq!(from_to(WrapMode::LoopReverse, 1.0, Some(1.0), 2.75), [1, 2, 0, 3]);
        assert_eq!(from_to(WrapMode::Loop, -1.0, Some(-1.0), -2.75), [1, 2, 0, 3]);
    }

    #[test]
    fn a_ping_pong_turns_at_its_ends() {
        assert_eq!(from_to(WrapMode::PingPong, 1.0, Some(1.0), 3.75), [3, 1, 2], "from the last it turns");
        assert_eq!(from_to(WrapMode::PingPong, 1.0, Some(2.25), 2.75), [3]);
        assert_eq!(
            from_to(WrapMode::PingPong, 1.0, Some(1.75), 2.75),
            NONE,
            "a moment is not met from both sides at once"
        );
        assert_eq!(from_to(WrapMode::PingPong, 1.0, Some(3.75), 4.75), [0, 1, 2]);
    }

    #[test]
    fn a_leap_over_passes_fires_one_pass() {
        let lone = Clip { events: vec![Event { time: 0.5, ..Event::default() }], ..clip() };
        let playback = Playback::looping(0.0, 1.0);
        assert_eq!(Events::new(&lone).fired(&playback, Some(0.25), 10.25), [0]);
        assert_eq!(Events::new(&lone).fired(&playback, Some(0.75), 10.75), [0]);
        assert_eq!(from_to(WrapMode::Loop, 1.0, Some(0.25), 10.75), [1, 2]);
    }

    #[test]
    fn a_clip_without_events_or_without_length_does_no_harm() {
        for rate in [1.0, -1.0, 0.0] {
            for wrap in WrapMode::ALL {
                let playback = Playback::new(wrap, Ticks(0), rate);
                assert_eq!(Events::default().fired(&playback, Some(0.0), 9.0), NONE);
                let still = Clip { length: Some(0.0), ..clip() };
                assert_eq!(Events::new(&still).fired(&playback, None, 9.0), [0]);
                assert_eq!(Events::new(&still).fired(&playback, Some(1.0), 9.0), NONE);
            }
        }
    }

    #[test]
    fn by_the_clock_a_play_that_does_not_repeat_begins_at_its_start() {
        let tick = Ticks::from_seconds;
        let once = Playback::new(WrapMode::Default, tick(1.0), 1.0);
        let from_to = |before: f64, now: f64| fired(&clip(), &once, Some(tick(before)), tick(now));
        assert_eq!(from_to(0.0, 0.75), NONE);
        assert_eq!(from_to(0.0, 1.0), [0]);
        assert_eq!(from_to(0.0, 1.75), [0, 1, 2]);
        assert_eq!(from_to(1.0, 1.75), [1, 2]);
        assert_eq!(from_to(2.0, 1.0), NONE, "time does not go back");
        assert_eq!(fired(&clip(), &once, None, tick(0.5)), NONE);
        assert_eq!(fired(&clip(), &once, None, tick(1.5)), [1, 2]);
    }

    #[test]
    fn by_the_clock_an_endless_play_fires_the_same_in_every_turn() {
        let tick = Ticks::from_seconds;
        for wrap in [WrapMode::Loop, WrapMode::LoopReverse, WrapMode::PingPong, WrapMode::PingPongReverse] {
            for rate in [1.0, -1.0, 2.0] {
                let playback = Playback::new(wrap, tick(0.0), rate);
                let frames = |turn: f64| -> Vec<Vec<usize>> {
                    let at = |frame: u32| tick(4.0 * turn + 0.1875 + 0.125 * f64::from(frame));
                    (1..32).map(|frame| fired(&clip(), &playback, Some(at(frame - 1)), at(frame))).collect()
                };
                let expected = frames(3.0);
                assert!(expected.iter().any(|fired| !fired.is_empty()));
                for turn in [-90.0, -1.0, 1.0, 700_000.0] {
                    assert_eq!(frames(turn), expected, "{wrap:?} at rate {rate}, turn {turn}");
                }
            }
        }
    }
}
