//! Tracks that play together.

use crate::model::id::SkeletonId;
use crate::model::track::Track;

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
}

impl Clip {
    /// Seconds from 0 to the last key of any track; 0 without tracks, or where all keys are at or before 0.
    pub fn duration(&self) -> f64 {
        self.tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max)
    }
}
