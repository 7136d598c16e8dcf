//! The items of a library, found by the indices of C.

use posse::parameters::{BlendSpaceId, KnotsId};
use posse::{Clip, ClipId, Skeleton, SkeletonId};

use crate::error::{Error, Outcome};
use crate::numbers::item;

/// The items of a library.
#[derive(Default, Clone)]
pub struct Parts {
    pub library: posse::Library,
    pub knots: Vec<KnotsId>,
    pub blend_spaces: Vec<BlendSpaceId>,
}

impl Parts {
    pub fn skeleton_id(&self, skeleton: u32) -> Outcome<SkeletonId> {
        let count = self.library.skeletons().len();
        let found = usize::try_from(skeleton).ok().and_then(|index| self.library.skeleton_ids().nth(index));
        found.ok_or_else(|| Error::index("skeleton", skeleton, count))
    }

    pub fn clip_id(&self, clip: u32) -> Outcome<ClipId> {
        let count = self.library.clips().len();
        let found = usize::try_from(clip).ok().and_then(|index| self.library.clip_ids().nth(index));
        found.ok_or_else(|| Error::index("clip", clip, count))
    }

    pub fn skeleton(&self, skeleton: u32) -> Outcome<&Skeleton> {
        item("skeleton", self.library.skeletons().iter(), skeleton)
    }

    pub fn clip(&self, clip: u32) -> Outcome<&Clip> {
        item("clip", self.library.clips().iter(), clip)
    }
}
