//! How a clip plays: wrap modes, repeats, ranges.

use crate::model::Ticks;

/// What happens at the ends of a clip. The modes are Cocos Creator's; any clip can play in any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WrapMode {
    /// The clip's own mode, which is [`Normal`](Self::Normal) where it has none.
    #[default]
    Default,
    /// Once from start to end.
    Normal,
    /// From start to end, again and again.
    Loop,
    /// From start to end, back, and so on.
    PingPong,
    /// Once from end to start.
    Reverse,
    /// From end to start, again and again.
    LoopReverse,
    /// From end to start, back, and so on.
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

    /// The mode of this name, in which case, `-` and `_` do not matter.
    pub fn from_name(name: &str) -> Option<Self> {
        let letters: String = name.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
        Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(&letters))
    }

    /// The mode of this number in files.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.number() == number)
    }

    /// The mode's name: `default`, `normal`, `loop`, `pingpong`, `reverse`, `loopreverse` or `pingpongreverse`.
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

    /// The mode's number in files: bits 2 (loops), 4 (turns), 16 (back and forth), 32 (from the end).
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

    /// Whether it repeats without an end, unless a repeat count says otherwise.
    pub fn repeats(self) -> bool {
        self.number() & 2 != 0
    }

    /// Whether every second pass goes the other way.
    pub fn is_ping_pong(self) -> bool {
        self.number() & 16 != 0
    }

    /// Whether the first pass goes from the end to the start.
    pub fn is_reverse(self) -> bool {
        self.number() & 32 != 0
    }
}

/// How a layer plays its clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// When the play began. A mode that does not repeat waits for it at its first frame; one that does has been playing
    /// for ever, so that a spread of starts is a spread of phases.
    pub start: Ticks,
    /// Seconds of the clip in a second of the crowd's clock, from -1e4 to 1e4: 1 is as authored, negative plays backwards.
    ///
    /// What has been played is the rate times the clock's time since the start. So 0 stands where the play begins, whenever
    /// it is set, and another rate in the midst of a play jumps, unless it comes by [`with_rate_from`](Self::with_rate_from).
    pub rate: f64,
    /// What happens at the ends.
    pub wrap: WrapMode,
    /// Passes until it stops, 0 or more, with a fraction if need be; `None` is the mode's own: 1, or without an end.
    pub repeat_count: Option<f64>,
    /// The part of the clip that is played, in seconds, start and end, cut to the clip's duration; `None` is all of it.
    pub range: Option<[f64; 2]>,
}

impl Playback {
    /// Plays the whole clip in a mode.
    pub fn new(wrap: WrapMode, start: Ticks, rate: f64) -> Self {
        Self { start, rate, wrap, repeat_count: None, range: None }
    }

    /// Plays the whole clip again and again.
    pub fn looping(start: Ticks, rate: f64) -> Self {
        Self::new(WrapMode::Loop, start, rate)
    }

    /// The same, with a clip's mode in place of [`WrapMode::Default`].
    pub fn resolve_wrap(self, wrap: WrapMode) -> Self {
        if self.wrap == WrapMode::Default { Self { wrap, ..self } } else { self }
    }

    /// The same play, which from a tick of the crowd's clock on has another rate, and goes on from where it is.
    ///
    /// The start is moved to where the new rate has played as much by then, to within half a tick: what is shown is off by no
    /// more than half a microsecond times the rate. Passes that were played stay played, and what waits for its start waits
    /// on. In frames that are a step from one tick to another, `now` is the tick that the next step comes from, so that its
    /// motion and events are the new rate's.
    ///
    /// `None` where no start does it:
    /// * at a rate of 0, or one so slow that the start would be 140,000 years away. A pause is
    ///   [`LayerTime::At`](crate::LayerTime::At) the time that [`clip_time`](crate::reference::phase::clip_time) says, and
    ///   after it the same play, [`delayed`](Self::delayed).
    /// * where a mode other than the two loops has begun and is to turn round, or stands and is to go back: from before its
    ///   start it would come from the other end. What turns round is another play: back from `time` is
    ///   [`WrapMode::Reverse`] with a range from 0 to `time`.
    /// * where the rate is not a finite number.
    ///
    /// [`WrapMode::Default`] counts as a mode that does not repeat; where the clip's own does, [`of_clip`](Self::of_clip)
    /// comes first.
    pub fn with_rate_from(self, now: Ticks, rate: f64) -> Option<Self> {
        if !rate.is_finite() {
            return None;
        }
        let gone = i128::from(now.0) - i128::from(self.start.0);
        let waits = !self.wrap.repeats() && gone <= 0;
        if waits && rate != 0.0 {
            return Some(Self { rate, ..self });
        }
        let turns = self.rate * rate < 0.0 || self.rate == 0.0 && rate < 0.0;
        if turns && !matches!(self.wrap, WrapMode::Loop | WrapMode::LoopReverse) {
            return None;
        }
        // Ticks in which the new rate plays as much; not a number, or endless, at a rate of 0.
        let since = (gone as f64 * (self.rate / rate)).round();
        if since.is_nan() || since.abs() >= 2.0_f64.powi(62) {
            return None;
        }
        let start = i64::try_from(i128::from(now.0) - since as i128).ok()?;
        Some(Self { start: Ticks(start), rate, ..self })
    }

    /// The same play, begun later by so many ticks: after a pause of that length, it goes on from where it was.
    pub fn delayed(self, by: Ticks) -> Self {
        Self { start: self.start + by, ..self }
    }

    /// Passes until it stops: as told, or the mode's own; infinite without an end.
    pub fn passes(&self) -> f64 {
        self.repeat_count.unwrap_or(if self.wrap.repeats() { f64::INFINITY } else { 1.0 })
    }

    /// The part of a clip of this duration that is played: start and end in seconds, from 0 to the duration.
    pub fn part(&self, duration: f64) -> [f64; 2] {
        self.range.unwrap_or([0.0, duration]).map(|time| time.clamp(0.0, duration))
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.rate.is_nan() || self.rate.abs() > 1e4 {
            return Some(format!("the rate {} is not a number from -1e4 to 1e4", self.rate));
        }
        if self.repeat_count.is_some_and(|count| count.is_nan() || count < 0.0) {
            return Some(format!("the repeat count {:?} is not 0 or more", self.repeat_count));
        }
        match self.range {
            Some([start, end]) if !(super::is_usable(start) && super::is_usable(end) && start <= end) => {
                Some(format!("the range from {start} to {end} has no length"))
            }
            _ => None,
        }
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
