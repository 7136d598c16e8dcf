//! Clips: tracks that play together.

use crate::model::{Event, Playback, RootMotion, SkeletonId, Ticks, Track, WrapMode};

/// Tracks that play together on one skeleton.
///
/// [`Library::add_clip`](crate::Library::add_clip) checks it against its skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The name of the clip, if it has one.
    pub name: Option<String>,
    /// The skeleton whose joints and properties the tracks drive.
    pub skeleton: SkeletonId,
    /// The tracks, each target at most once.
    pub tracks: Vec<Track>,
    /// The duration in seconds, if it does not follow from the keys. The time of the clip is then clamped to 0 and this length.
    pub length: Option<f64>,
    /// The default rate: seconds of the clip per second of play, from -1e4 to 1e4.
    pub speed: f64,
    /// The default behaviour at the ends.
    pub wrap: WrapMode,
    /// The events, ordered by time.
    pub events: Vec<Event>,
    /// The root joint, and the part of its movement that moves the instance; `None` by default. The movement is in the space of
    /// the parent of the joint.
    pub root_motion: Option<RootMotion>,
    /// The sync markers in seconds, strictly increasing, from 0 to less than the duration; none by default. A layer that follows
    /// another one ([`LayerTime::Synced`](crate::LayerTime)) reaches its markers when the other one reaches its own.
    pub markers: Vec<f64>,
}

impl Clip {
    /// The name for messages: `unnamed` without one.
    pub(crate) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("unnamed")
    }

    /// A clip of these tracks, at speed 1 and in mode [`WrapMode::Default`], without length, events, root motion and markers.
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
            markers: Vec::new(),
        }
    }

    /// The duration in seconds: the [`length`](Self::length), or else the time of the last key of all tracks. It is 0 without
    /// tracks, or if all keys are at or before 0.
    pub fn duration(&self) -> f64 {
        let last = || self.tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max);
        self.length.unwrap_or_else(last)
    }

    /// The times of the events that call a function and can be sync markers: those from 0 to less than the duration, each once.
    pub fn event_times(&self, function: &str) -> Vec<f64> {
        let duration = self.duration();
        let events = self.events.iter().filter(|event| event.function == function);
        let mut times: Vec<f64> =
            events.map(|event| event.time).filter(|time| (0.0..duration).contains(time)).collect();
        times.dedup();
        times
    }

    /// A time clamped to 0 and the length of the clip. Without a length the time is unchanged, and each track clamps it to its own
    /// keys.
    pub fn keep(&self, seconds: f64) -> f64 {
        self.length.map_or(seconds, |length| seconds.clamp(0.0, length))
    }
}

impl Playback {
    /// Plays a whole clip at its own speed and in its own mode.
    pub fn of(clip: &Clip, start: Ticks) -> Self {
        Self::new(clip.wrap, start, clip.speed)
    }
}
