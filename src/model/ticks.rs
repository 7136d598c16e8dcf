//! Time that does not drift.

/// A point in time, or a span of it, in ticks of 2^-20 s (0.95 µs).
///
/// Ticks are integers, so that a crowd that has played for a month is as exact as one that starts now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Ticks(pub i64);

impl Ticks {
    /// Ticks in a second, 2^20.
    pub const PER_SECOND: i64 = 1 << 20;

    /// The tick nearest to a time in seconds. Beyond the range of an `i64`, and for NaN, as `as i64` does it.
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * Self::PER_SECOND as f64).round() as i64)
    }

    /// The time in seconds, exact within 285 years.
    pub fn to_seconds(self) -> f64 {
        self.0 as f64 / Self::PER_SECOND as f64
    }
}
