//! The clock that a window's crowd plays by.

use posse::Ticks;

/// The crowd's clock, which runs, stands still, or runs backwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// What it says.
    pub now: Ticks,
    /// Its seconds in a second, from -[`FASTEST`](Self::FASTEST) to that.
    pub speed: f64,
    /// Whether it runs.
    pub running: bool,
}

impl Clock {
    /// The highest speed.
    pub const FASTEST: f64 = 4.0;
    /// The speeds that keys go through.
    const SPEEDS: [f64; 12] = [-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0];

    /// A clock that runs from a time on.
    pub fn new(now: Ticks) -> Self {
        Self { now, speed: 1.0, running: true }
    }

    /// Goes on by so many seconds of real time.
    pub fn advance(&mut self, seconds: f64) {
        if self.running {
            self.skip(seconds * self.speed);
        }
    }

    /// Goes on by so many of its own seconds.
    pub fn skip(&mut self, seconds: f64) {
        self.now = Ticks(self.now.0.saturating_add(Ticks::from_seconds(seconds).0));
    }

    /// Where in a loop of so many seconds it is: from 0 to less than these.
    pub fn position(&self, seconds: f64) -> f64 {
        let ticks = Ticks::from_seconds(seconds).0.max(1);
        Ticks(self.now.0.rem_euclid(ticks)).to_seconds()
    }

    /// Goes to a second of the loop that it is in.
    pub fn scrub(&mut self, position: f64, seconds: f64) {
        let ticks = Ticks::from_seconds(seconds).0.max(1);
        let start = self.now.0 - self.now.0.rem_euclid(ticks);
        self.now = Ticks(start.saturating_add(Ticks::from_seconds(position).0.clamp(0, ticks - 1)));
    }

    /// Sets the speed, kept within the fastest either way.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed.clamp(-Self::FASTEST, Self::FASTEST);
    }

    /// The next speed of a row, higher or lower.
    pub fn shift(&mut self, up: bool) {
        let next = match up {
            true => Self::SPEEDS.into_iter().find(|&speed| speed > self.speed + 1e-6),
            false => Self::SPEEDS.into_iter().rev().find(|&speed| speed < self.speed - 1e-6),
        };
        self.speed = next.unwrap_or(self.speed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_at_its_speed_and_stands_when_paused() {
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
    fn scrubbing_stays_in_its_loop() {
        let mut clock = Clock::new(Ticks::from_seconds(9.0));
        assert_eq!(clock.position(4.0), 1.0);
        clock.scrub(3.5, 4.0);
        assert_eq!(clock.now, Ticks::from_seconds(11.5));
        // The end belongs to the next loop.
        clock.scrub(4.0, 4.0);
        assert_eq!(clock.now, Ticks(12 * Ticks::PER_SECOND - 1));
        let mut before = Clock::new(Ticks::from_seconds(-1.0));
        assert_eq!(before.position(4.0), 3.0);
        before.scrub(0.25, 4.0);
        assert_eq!(before.now, Ticks::from_seconds(-3.75));
    }

    #[test]
    fn speeds_go_up_and_down_a_row_and_end_there() {
        let mut clock = Clock::new(Ticks(0));
        clock.shift(true);
        assert_eq!(clock.speed, 2.0);
        clock.set_speed(0.7);
        clock.shift(false);
        assert_eq!(clock.speed, 0.5);
        (0..20).for_each(|_| clock.shift(false));
        assert_eq!(clock.speed, -4.0);
        (0..20).for_each(|_| clock.shift(true));
        assert_eq!(clock.speed, 4.0);
    }
}
