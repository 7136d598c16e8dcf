//! One of the clips that share curves: what it was, and what of it may be changed.

use crate::compress::compensation::ErrorCompensation;
use crate::compress::displacement::Original;
use crate::compress::tolerance::ErrorPropagation;
use crate::model::{Clip, Track};

/// A clip as it was, and as its keys are rounded.
pub struct Member<'a> {
    pub original: &'a Original<'a>,
    /// The clip, its curves on the timelines that they are going to have.
    pub clip: &'a Clip,
    pub bearings: ErrorCompensation,
    pub levers: ErrorPropagation,
}

impl<'a> Member<'a> {
    /// A clip of whose tracks these may be changed for this clip alone.
    pub fn new(original: &'a Original<'a>, clip: &'a Clip, own: impl Fn(&Track) -> bool) -> Self {
        let own: Vec<bool> = clip.tracks.iter().map(own).collect();
        let bearings = ErrorCompensation::new(original.skeleton(), clip, &own);
        let levers = ErrorPropagation::new(original, clip, bearings.corrects());
        Self { original, clip, bearings, levers }
    }
}
