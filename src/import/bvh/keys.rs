//! Keys of consecutive frames.

use std::sync::Arc;

use crate::error::Error;
use crate::model::{Clip, Curve, Interpolation, SkeletonId, Target, Timeline, Track};

/// Keys of consecutive frames of a file, which [`Reader::read`](super::Reader::read) appends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Keys {
    first: u64,
    len: usize,
    frame_time: f64,
    pub(super) tracks: Vec<TrackKeys>,
}

/// The values of a track, key after key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrackKeys {
    pub target: Target,
    pub values: Vec<f64>,
}

impl TrackKeys {
    /// Numbers per key.
    fn width(&self) -> usize {
        if matches!(self.target, Target::Rotation(_)) { 4 } else { 3 }
    }
}

impl Keys {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// The frame of the first key, from 0.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without frames.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes the first frames, `count` or all that there are.
    pub fn drop_front(&mut self, count: usize) {
        let count = count.min(self.len);
        for track in &mut self.tracks {
            let numbers = count * track.width();
            track.values.drain(..numbers);
        }
        self.first += count as u64;
        self.len -= count;
    }

    /// A clip of a copy of these keys, each at its frame times the frame time of the file. Without keys, it has no
    /// tracks.
    ///
    /// # Errors
    /// [`Error::Timeline`] if the times do not increase, which a [`Reader`](super::Reader) rules out.
    pub fn clip(&self, skeleton: SkeletonId, name: Option<String>) -> Result<Clip, Error> {
        self.clone().into_clip(skeleton, name)
    }

    /// The same as [`clip`](Self::clip), without a copy.
    ///
    /// # Errors
    /// The same as [`clip`](Self::clip).
    pub fn into_clip(self, skeleton: SkeletonId, name: Option<String>) -> Result<Clip, Error> {
        if self.is_empty() {
            return Ok(Clip::new(name, skeleton, Vec::new()));
        }
        let times = (self.first..).take(self.len).map(|frame| frame_seconds(frame, self.frame_time));
        let timeline = Arc::new(Timeline::new(times.collect())?);
        let mut tracks = Vec::with_capacity(self.tracks.len());
        for track in self.tracks {
            let width = track.width();
            // A rotation that is interpolated linearly follows slerp.
            let curve = Curve::new(timeline.clone(), Interpolation::Linear, width, track.values)?;
            tracks.push(Track::new(track.target, curve));
        }
        Ok(Clip::new(name, skeleton, tracks))
    }

    /// Prepares tracks for the keys of frames from `first` on. Fails if there are keys of other frames or other tracks.
    pub(super) fn begin(
        &mut self,
        first: u64,
        frame_time: f64,
        targets: impl Iterator<Item = Target> + Clone,
    ) -> Result<(), Error> {
        let same_tracks = self.tracks.iter().map(|track| track.target).eq(targets.clone());
        if self.is_empty() {
            (self.first, self.frame_time) = (first, frame_time);
            if !same_tracks {
                self.tracks = targets.map(|target| TrackKeys { target, values: Vec::new() }).collect();
            }
            return Ok(());
        }
        let next = self.first + self.len as u64;
        if !same_tracks || self.frame_time != frame_time || next != first {
            return Err(Error::Usage(format!(
                "the keys end before frame {next}, but the reader is at frame {first} of a file; give the keys that this reader \
                 filled before, or empty ones"
            )));
        }
        Ok(())
    }

    /// Makes room for more frames.
    pub(super) fn reserve(&mut self, frames: usize) {
        for track in &mut self.tracks {
            let width = track.width();
            track.values.reserve_exact(frames.saturating_mul(width));
        }
    }

    /// Counts frames whose values have been appended.
    pub(super) fn grow(&mut self, frames: usize) {
        self.len += frames;
    }
}

/// The time of a frame in seconds.
pub(super) fn frame_seconds(frame: u64, frame_time: f64) -> f64 {
    // The frame time of a single frame may be negative, whose product would be -0.
    if frame == 0 { 0.0 } else { frame as f64 * frame_time }
}
