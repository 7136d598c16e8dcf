//! Ticks of the crowd clock, and steps between them.

use std::ops::{Add, Neg, Sub};

/// A point in time, or a duration, in ticks of 2^-20 s (0.95 µs).
///
/// Ticks are integers, so that a crowd that has played for a month is as exact as a crowd that starts now. Sums and differences
/// saturate at the ends of the range of an `i64`, 279,000 years to either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Ticks(pub i64);

impl Ticks {
    /// Ticks per second, 2^20.
    pub const PER_SECOND: i64 = 1 << 20;

    /// The tick nearest to a time in seconds. Beyond the range of an `i64` it saturates; NaN becomes 0.
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * Self::PER_SECOND as f64).round() as i64)
    }

    /// The time in seconds, exact within 285 years.
    pub fn to_seconds(self) -> f64 {
        self.0 as f64 / Self::PER_SECOND as f64
    }
}

impl Add for Ticks {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Ticks {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Ticks {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

/// A step of the crowd clock, from one tick to another.
///
/// Poses are those at `to`. Root motion and events cover the time after `from` up to and including `to`. A single tick converts
/// to a step from itself to itself, which has no motion and no events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The tick before the step.
    pub from: Ticks,
    /// The tick to pose; before `from` if the clock goes back.
    pub to: Ticks,
}

impl From<Ticks> for Step {
    fn from(now: Ticks) -> Self {
        Self { from: now, to: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_stop_at_the_ends() {
        let (second, end, begin) = (Ticks::from_seconds(1.0), Ticks(i64::MAX), Ticks(i64::MIN));
        assert_eq!(
            (Ticks(5) + second, Ticks(5) - second, -second),
            (Ticks(1_048_581), Ticks(-1_048_571), Ticks(-1_048_576))
        );
        assert_eq!((end + Ticks(1), begin - Ticks(1), end - begin, -begin), (end, begin, end, end));
    }
}
