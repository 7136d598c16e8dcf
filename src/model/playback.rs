//! Ticks of the crowd clock, and the playback of a clip by it: wrap modes, repeats, ranges.

use std::ops::{Add, Neg, Sub};

/// The behaviour at the ends of a clip. The modes come from Cocos Creator. Any clip can play in any mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WrapMode {
    /// The mode of the clip. It counts as [`Normal`](Self::Normal) if the clip has this mode too.
    #[default]
    Default,
    /// Once from start to end.
    Normal,
    /// From start to end, repeatedly.
    Loop,
    /// From start to end and back, repeatedly.
    PingPong,
    /// Once from end to start.
    Reverse,
    /// From end to start, repeatedly.
    LoopReverse,
    /// From end to start and back, repeatedly.
    PingPongReverse,
}

impl WrapMode {
    /// All modes, in the order of their declaration.
    pub const ALL: [Self; 7] = [
        Self::Default,
        Self::Normal,
        Self::Loop,
        Self::PingPong,
        Self::Reverse,
        Self::LoopReverse,
        Self::PingPongReverse,
    ];

    /// The mode of this name. Case, `-` and `_` are ignored.
    pub fn from_name(name: &str) -> Option<Self> {
        let letters: String = name.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
        Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(&letters))
    }

    /// The mode of this number in Cocos Creator files.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.number() == number)
    }

    /// The name of the mode: `default`, `normal`, `loop`, `pingpong`, `reverse`, `loopreverse` or `pingpongreverse`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Normal => "normal",
            Self::Loop => "loop",
            Self::PingPong => "pingpong",
            Self::Reverse => "reverse",
            Self::LoopReverse => "loopreverse",
            Self::PingPongReverse => "pingpongreverse",
        }
    }

    /// The number of the mode in Cocos Creator files: bits 2 (loops), 4 (turns), 16 (back and forth), 32 (from the
    /// end).
    pub fn number(self) -> u32 {
        match self {
            Self::Default => 0,
            Self::Normal => 1,
            Self::Loop => 2,
            Self::PingPong => 22,
            Self::Reverse => 36,
            Self::LoopReverse => 38,
            Self::PingPongReverse => 54,
        }
    }

    /// Returns `true` if it repeats for ever without a repeat count.
    pub fn repeats(self) -> bool {
        self.number() & 2 != 0
    }

    /// Returns `true` if every second pass goes the other way.
    pub fn is_ping_pong(self) -> bool {
        self.number() & 16 != 0
    }

    /// Returns `true` if the first pass goes from the end to the start.
    pub fn is_reverse(self) -> bool {
        self.number() & 32 != 0
    }
}

/// The playback of a clip by a layer.
///
/// Ticks, rate and part count as exact numbers. A play that is at most 1/1024 of a tick away from the end of a pass is
/// at the end: a rate of 0.8 is more than 4/5 as an `f64`, and yet it has played a clip of 10 s to its end after 12.5
/// s.
///
/// # Examples
/// ```
/// use posse::playback::clip_time;
/// use posse::{LayerTime, Playback, Ticks, WrapMode, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let clip = library.clip(library.find_clip("walk").expect("the demo walks"));
/// assert_eq!(clip.duration(), 1.0);
/// // Twice as fast, from second 1 of the crowd clock on, back and forth.
/// let playback = Playback::new(WrapMode::PingPong, Ticks::from_seconds(1.0), 2.0);
/// let time = |seconds| clip_time(LayerTime::Playing(playback), Ticks::from_seconds(seconds), clip);
/// assert_eq!([1.25, 1.5, 1.75].map(time), [0.5, 1.0, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// The tick at which the play begins. Until then, a mode that does not repeat waits where it begins: at the start
    /// of the played part, and at its end if it plays backwards, by a reverse mode or by a negative rate (not both). A
    /// mode that repeats has played for ever, so that a spread of starts is a spread of phases.
    pub start: Ticks,
    /// Seconds of the clip per second of the crowd clock, from -1e4 to 1e4. 1 is the authored speed; a negative rate
    /// plays backwards, and begins at the end of the played part.
    ///
    /// The played time is the rate times the time since the start. A rate of 0 therefore shows the beginning of the
    /// play. Another rate during a play makes it jump; [`with_rate_from`](Self::with_rate_from) avoids the jump.
    pub rate: f64,
    /// The behaviour at the ends.
    pub wrap: WrapMode,
    /// Passes until it stops, 0 or more; fractions are allowed. `None` is the count of the mode: 1, or infinite.
    pub repeat_count: Option<f64>,
    /// The played part of the clip: start and end in seconds, clamped to the duration. The play begins at its start,
    /// backwards at its end. `None` is the whole clip.
    pub range: Option<[f64; 2]>,
}

impl Playback {
    /// Plays the whole clip in a mode.
    pub fn new(wrap: WrapMode, start: Ticks, rate: f64) -> Self {
        Self { start, rate, wrap, repeat_count: None, range: None }
    }

    /// Plays the whole clip repeatedly, from a second of the crowd clock on.
    pub fn looping(start: f64, rate: f64) -> Self {
        Self::new(WrapMode::Loop, Ticks::from_seconds(start), rate)
    }

    /// The same playback with a mode of a clip in place of [`WrapMode::Default`].
    pub fn resolve_wrap(self, wrap: WrapMode) -> Self {
        if self.wrap == WrapMode::Default { Self { wrap, ..self } } else { self }
    }

    /// The same play with another rate from a tick of the crowd clock on, without a jump.
    ///
    /// The start moves to the tick from which the new rate has played as much at `now`, to within half a tick. The
    /// shown time is off by at most half a microsecond times the rate. Passes that were played remain played, and a
    /// play that waits for its start continues to wait: with a negative rate, at the end of its part. With frames that
    /// are steps from one tick to another, pass the `from` of the next step as `now`, so that its motion and events use
    /// the new rate.
    ///
    /// `None` if no start does this:
    /// * At a rate of 0, or at a rate so slow that the start would be 140,000 years away. To pause, use
    ///   [`LayerTime::At`](crate::LayerTime::At) with the time that [`clip_time`](crate::playback::clip_time) returns.
    ///   After the pause, use the same play, [`delayed`](Self::delayed).
    /// * If a mode other than the two loops has begun and the new rate turns it round, or starts it backwards from a
    ///   rate of 0: before its start it would come from the other end. To turn round at `time`, use
    ///   [`WrapMode::Reverse`] with a range from 0 to `time`.
    /// * If the rate is not a finite number.
    ///
    /// [`WrapMode::Default`] counts as a mode that does not repeat. If the mode of the clip repeats, call
    /// [`resolve_wrap`](Self::resolve_wrap) first.
    pub fn with_rate_from(self, now: Ticks, rate: f64) -> Option<Self> {
        if !rate.is_finite() {
            return None;
        }
        let elapsed = i128::from(now.0) - i128::from(self.start.0);
        let waits = !self.wrap.repeats() && elapsed <= 0;
        if waits && rate != 0.0 {
            return Some(Self { rate, ..self });
        }
        let turns = self.rate * rate < 0.0 || self.rate == 0.0 && rate < 0.0;
        if turns && !matches!(self.wrap, WrapMode::Loop | WrapMode::LoopReverse) {
            return None;
        }
        // Ticks in which the new rate plays as much. At a rate of 0 it is NaN or infinite.
        let since = (elapsed as f64 * (self.rate / rate)).round();
        if since.is_nan() || since.abs() >= 2.0_f64.powi(62) {
            return None;
        }
        let start = i64::try_from(i128::from(now.0) - since as i128).ok()?;
        Some(Self { start: Ticks(start), rate, ..self })
    }

    /// The same play with the rate of a blend of synchronised clips from a tick of the crowd clock on, without a jump:
    /// one pass of the leader's clip takes the mean of the lengths of all clips, by their weights. This is the play of
    /// the leader; the others follow it ([`LayerTime::Synced`](crate::LayerTime)).
    ///
    /// `duration` is the duration of the leader's clip in seconds; `clips` has a weight of 0 or more and a length in
    /// seconds per clip, the leader's among them. The length of a clip that should play faster than it was authored is
    /// its duration over that rate. A negative rate stays negative.
    ///
    /// `None` if no weight or no length is above 0, or if [`with_rate_from`](Self::with_rate_from) has no start for the
    /// rate.
    ///
    /// # Examples
    /// ```
    /// use posse::{Playback, Ticks};
    ///
    /// // A walk of 1 s and a run of 0.5 s in equal parts: a cycle takes 0.75 s.
    /// let walk = Playback::looping(0.0, 1.0);
    /// let now = Ticks::from_seconds(0.25);
    /// let blended = walk.with_blend_length(now, 1.0, &[[1.0, 1.0], [1.0, 0.5]]).expect("a rate");
    /// assert_eq!(blended.rate, 1.0 / 0.75);
    /// // A quarter of a second has been played, as before.
    /// assert_eq!((now - blended.start).to_seconds() * blended.rate, 0.25);
    /// ```
    pub fn with_blend_length(self, now: Ticks, duration: f64, clips: &[[f64; 2]]) -> Option<Self> {
        let weights: f64 = clips.iter().map(|clip| clip[0]).sum();
        let mean = clips.iter().map(|clip| clip[0] * clip[1]).sum::<f64>() / weights;
        let rate = duration / mean;
        let is_usable = weights > 0.0 && mean > 0.0 && rate.abs() <= 1e4;
        is_usable.then(|| self.with_rate_from(now, rate.copysign(self.rate)))?
    }

    /// The same play with a later start, which continues a play after a pause of that length.
    pub fn delayed(self, by: Ticks) -> Self {
        Self { start: self.start + by, ..self }
    }

    /// Passes until it stops: the repeat count, or the count of the mode, which may be infinite.
    pub fn passes(&self) -> f64 {
        self.repeat_count.unwrap_or(if self.wrap.repeats() { f64::INFINITY } else { 1.0 })
    }

    /// The played part of a clip of this duration: start and end in seconds, from 0 to the duration.
    pub fn part(&self, duration: f64) -> [f64; 2] {
        self.range.unwrap_or([0.0, duration]).map(|time| time.clamp(0.0, duration))
    }

    /// The first unusable number, as a message.
    pub(crate) fn error(&self) -> Option<String> {
        if self.rate.is_nan() || self.rate.abs() > 1e4 {
            return Some(format!("the rate {} is not a number from -1e4 to 1e4", self.rate));
        }
        if let Some(count) = self.repeat_count.filter(|&count| count.is_nan() || count < 0.0) {
            return Some(format!("the repeat count {count} is not 0 or more"));
        }
        match self.range {
            Some([start, end]) if !(super::is_usable(start) && super::is_usable(end) && start <= end) => {
                Some(format!("the range from {start} s to {end} s is not finite, or ends before it starts"))
            }
            _ => None,
        }
    }
}

/// A point in time, or a duration, in ticks of 2^-20 s (0.95 µs).
///
/// Ticks are integers, so that a crowd that has played for a month is as exact as a crowd that starts now. Sums and
/// differences saturate at the ends of the range of an `i64`, 279,000 years to either side.
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
/// Poses are those at `to`. Root motion and events cover the time after `from` up to and including `to`. A single tick
/// converts to a step from itself to itself, which has no motion and no events.
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
    fn modes_are_found_by_name_and_number() {
        for mode in WrapMode::ALL {
            assert_eq!(WrapMode::from_name(mode.name()), Some(mode));
            assert_eq!(WrapMode::from_number(mode.number()), Some(mode));
        }
        assert_eq!(WrapMode::from_name("Ping-Pong_Reverse"), Some(WrapMode::PingPongReverse));
        assert_eq!(WrapMode::from_name("sideways"), None);
        assert_eq!(WrapMode::from_number(4), None);
    }
}

#[cfg(test)]
mod ticks_tests {
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
