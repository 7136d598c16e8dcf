//! The clock of the crowd in a window.

use posse::Ticks;

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
    /// Seconds of this clock per second of real time, from -[`MAX_SPEED`](Self::MAX_SPEED) to [`MAX_SPEED`](Self::MAX_SPEED).
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

#[cfg(test)]
mod tests {
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
}
