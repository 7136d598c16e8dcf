//! One of the clips that share curves: what it was, and what of it may be changed.

use crate::model::clip::Clip;
use crate::model::track::Track;
use crate::pack::compact::bearings::Bearings;
use crate::pack::compact::displacement::Original;
use crate::pack::compact::tolerance::Levers;

/// A clip as it was, and as its keys are rounded.
pub struct Member<'a> {
    pub original: &'a Original<'a>,
    /// The clip, its curves on the timelines that they are going to have.
    pub clip: &'a Clip,
    pub bearings: Bearings,
    pub levers: Levers,
}

impl<'a> Member<'a> {
    /// A clip of whose tracks these may be changed for this clip alone.
    pub fn new(original: &'a Original<'a>, clip: &'a Clip, own: impl Fn(&Track) -> bool) -> Self {
        let own: Vec<bool> = clip.tracks.iter().map(own).collect();
        let bearings = Bearings::new(original.skeleton(), clip, &own);
        let levers = Levers::new(original, clip, bearings.corrects());
        Self { original, clip, bearings, levers }
    }
}
