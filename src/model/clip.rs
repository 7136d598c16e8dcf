//! Tracks that play together.

use crate::model::{Event, Playback, RootMotion, SkeletonId, Ticks, Track, WrapMode};

/// Tracks that play together on one skeleton.
///
/// It is checked against its skeleton when it is added to a [`Library`](crate::Library).
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The clip's name, where it has one.
    pub name: Option<String>,
    /// The skeleton whose joints and properties the tracks drive.
    pub skeleton: SkeletonId,
    /// The tracks, each target at most once.
    pub tracks: Vec<Track>,
    /// Seconds that the clip lasts, where that is not up to its keys. Its time then stays from 0 to here.
    pub length: Option<f64>,
    /// Seconds of the clip in a second of play, where nobody says otherwise; from -1e4 to 1e4.
    pub speed: f64,
    /// What happens at the ends, where nobody says otherwise.
    pub wrap: WrapMode,
    /// What it calls, ordered by time.
    pub events: Vec<Event>,
    /// What it moves its instance by, in the space of that joint's parent; none of it unless said so.
    pub root_motion: Option<RootMotion>,
}

impl Clip {
    /// A clip that lasts as long as its tracks, at speed 1 and in mode [`WrapMode::Default`], without events and
    /// root motion.
    pub fn new(name: Option<String>, skeleton: SkeletonId, tracks: Vec<Track>) -> Self {
        Self {
            name,
            skeleton,
            tracks,
            length: None,
            speed: 1.0,
            wrap: WrapMode::Default,
            events: Vec::new(),
            root_motion: None,
        }
    }

    /// Seconds that the clip lasts: its [`length`](Self::length), else from 0 to the last key of any track, which is 0
    /// without tracks, or where all keys are at or before 0.
    pub fn duration(&self) -> f64 {
        let last = || self.tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max);
        self.length.unwrap_or_else(last)
    }

    /// A time kept within the clip, where it has a length of its own; where not, each track keeps it to its own keys.
    pub fn keep(&self, seconds: f64) -> f64 {
        self.length.map_or(seconds, |length| seconds.clamp(0.0, length))
    }
}

impl Playback {
    /// Plays a whole clip as it says itself: at its speed and in its mode.
    pub fn of(clip: &Clip, start: Ticks) -> Self {
        Self::new(clip.wrap, start, clip.speed)
    }
}
