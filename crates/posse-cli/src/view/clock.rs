//! The clock of the crowd in a window, and the part of it that the timeline of the controls shows.

use posse::{Crowd, Layer, Ticks};

use crate::drawn_crowd::DrawnCrowd;

/// The direction of a step through a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Previous,
    Next,
}

/// A clock that runs forwards or backwards at a speed, or is paused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// The present time.
    pub now: Ticks,
    /// Seconds of this clock per second of real time, from -[`MAX_SPEED`](Self::MAX_SPEED) to
    /// [`MAX_SPEED`](Self::MAX_SPEED).
    pub speed: f64,
    /// False if the clock is paused.
    pub running: bool,
}

impl Clock {
    /// The highest speed.
    pub const MAX_SPEED: f64 = 4.0;
    /// The speeds that the keys select, in ascending order.
    const SPEEDS: [f64; 12] = [-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0];

    /// Creates a clock that runs at speed 1 from a time.
    pub fn new(now: Ticks) -> Self {
        Self { now, speed: 1.0, running: true }
    }

    /// Advances the clock by seconds of real time, unless it is paused.
    pub fn advance(&mut self, seconds: f64) {
        if self.running {
            self.skip(seconds * self.speed);
        }
    }

    /// Advances the clock by seconds of its own time, also if it is paused.
    pub fn skip(&mut self, seconds: f64) {
        self.now = Ticks(self.now.0.saturating_add(Ticks::from_seconds(seconds).0));
    }

    /// Sets the speed, clamped to its range.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed.clamp(-Self::MAX_SPEED, Self::MAX_SPEED);
    }

    /// Selects the next higher or the next lower speed. At the end of the list, the speed does not change.
    pub fn step_speed(&mut self, direction: Direction) {
        let stepped = match direction {
            Direction::Next => Self::SPEEDS.into_iter().find(|&speed| speed > self.speed + 1e-6),
            Direction::Previous => Self::SPEEDS.into_iter().rev().find(|&speed| speed < self.speed - 1e-6),
        };
        self.speed = stepped.unwrap_or(self.speed);
    }
}

/// A loop, or the first seconds of the crowd clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeline {
    /// The length in seconds.
    pub seconds: f64,
    /// True for a loop: the timeline shows the present pass. Otherwise it begins at second 0 of the clock, because some
    /// of the crowd happens once.
    pub repeats: bool,
}

impl Timeline {
    /// The longest timeline of changes in seconds. Keys and transitions may take years.
    const MAX_SECONDS: f64 = 600.0;

    /// The timeline of a drawn crowd.
    pub fn new(drawn: &DrawnCrowd) -> Self {
        match last_change(&drawn.crowd) {
            Some(seconds) => Self { seconds: seconds.min(Self::MAX_SECONDS).max(drawn.seconds), repeats: false },
            None => Self { seconds: drawn.seconds, repeats: true },
        }
    }

    /// The position of a time in seconds, from 0 to the length.
    pub fn position(&self, now: Ticks) -> f64 {
        if self.repeats {
            return Ticks(now.0.rem_euclid(self.ticks())).to_seconds();
        }
        now.to_seconds().clamp(0.0, self.seconds)
    }

    /// The time of a position in seconds. In a loop, it is in the present pass. A position outside is clamped.
    pub fn time(&self, position: f64, now: Ticks) -> Ticks {
        let position = Ticks::from_seconds(position).0;
        if self.repeats {
            let start = now.0 - now.0.rem_euclid(self.ticks());
            return Ticks(start.saturating_add(position.clamp(0, self.ticks() - 1)));
        }
        Ticks(position.clamp(0, self.ticks()))
    }

    fn ticks(&self) -> i64 {
        Ticks::from_seconds(self.seconds).0.max(1)
    }
}

/// The second of the last key of a parameter, and of the last end of a transition or a fade; `None` if a crowd has none
/// after second 0.
fn last_change(crowd: &Crowd) -> Option<f64> {
    let fade_ends = |layer: &Layer| {
        let fades = [layer.fade_in, layer.fade_out].into_iter().flatten();
        fades.map(|fade| (fade.start + fade.length).to_seconds()).fold(0.0, f64::max)
    };
    let last = |instance| {
        let keyed = crowd.parameters(instance).iter().map(|parameter| parameter.keys()).filter(|keys| keys.len() > 1);
        let keys = keyed.filter_map(|keys| keys.last()).map(|key| key[0]);
        let transition =
            crowd.transition(instance).map(|transition| transition.start.to_seconds() + transition.seconds());
        keys.chain(transition).chain(crowd.all_layers(instance).map(fade_ends)).fold(0.0, f64::max)
    };
    let seconds = (0..crowd.len()).map(last).fold(0.0, f64::max);
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use posse::parameters::Parameter;
    use posse::transitions::{Fade, FadeShape};
    use posse::{LayerTime, demo};

    use super::*;

    #[test]
    fn a_clock_runs_at_its_speed_and_stops_while_paused() {
        let mut clock = Clock::new(Ticks(0));
        clock.advance(0.5);
        assert_eq!(clock.now, Ticks(1 << 19));
        clock.set_speed(-2.0);
        clock.advance(0.5);
        assert_eq!(clock.now, Ticks(-(1 << 19)));
        clock.running = false;
        clock.advance(10.0);
        assert_eq!(clock.now, Ticks(-(1 << 19)));
        clock.set_speed(100.0);
        assert_eq!(clock.speed, 4.0);
    }

    #[test]
    fn speeds_step_through_a_list_and_stop_at_its_ends() {
        let mut clock = Clock::new(Ticks(0));
        clock.step_speed(Direction::Next);
        assert_eq!(clock.speed, 2.0);
        clock.set_speed(0.7);
        clock.step_speed(Direction::Previous);
        assert_eq!(clock.speed, 0.5);
        (0..20).for_each(|_| clock.step_speed(Direction::Previous));
        assert_eq!(clock.speed, -4.0);
        (0..20).for_each(|_| clock.step_speed(Direction::Next));
        assert_eq!(clock.speed, 4.0);
    }

    const LOOP: Timeline = Timeline { seconds: 4.0, repeats: true };
    const ONCE: Timeline = Timeline { seconds: 4.0, repeats: false };

    fn at(seconds: f64) -> Ticks {
        Ticks::from_seconds(seconds)
    }

    #[test]
    fn a_loop_shows_the_present_pass() {
        assert_eq!([-1.0, 1.0, 9.0].map(|seconds| LOOP.position(at(seconds))), [3.0, 1.0, 1.0]);
        assert_eq!(LOOP.time(3.5, at(9.0)), at(11.5));
        assert_eq!(LOOP.time(0.25, at(-1.0)), at(-3.75));
        // The end belongs to the next pass.
        assert_eq!(LOOP.time(4.0, at(9.0)), at(12.0) - Ticks(1));
    }

    #[test]
    fn what_happens_once_is_shown_from_second_0() {
        assert_eq!([-1.0, 1.0, 9.0].map(|seconds| ONCE.position(at(seconds))), [0.0, 1.0, 4.0]);
        assert_eq!(
            [-1.0, 0.0, 3.5, 7.0].map(|position| ONCE.time(position, at(9.0)).to_seconds()),
            [0.0, 0.0, 3.5, 4.0]
        );
    }

    #[test]
    fn keys_of_parameters_and_fades_happen_once() {
        let library = demo::library().unwrap();
        let clip = library.clip_ids().next().unwrap();
        let mut crowd = Crowd::new();
        let layer = Layer::new(clip, LayerTime::At(0.0));
        crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
        crowd.set_parameters(0, vec![Parameter::constant(3.0).unwrap()]).unwrap();
        assert_eq!(last_change(&crowd), None);
        let fade = Fade { start: at(1.0), length: at(0.5), shape: FadeShape::Linear };
        crowd.set(0, library.clip(clip).skeleton, &[Layer { fade_out: Some(fade), ..layer }]).unwrap();
        assert_eq!(last_change(&crowd), Some(1.5));
        crowd.set_parameters(0, vec![Parameter::new(vec![[1.0, 0.0], [2.5, 0.0]]).unwrap()]).unwrap();
        assert_eq!(last_change(&crowd), Some(2.5));
    }
}
