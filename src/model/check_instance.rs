//! The check that an instance fits a library or a packed library.

use std::fmt;

use crate::error::Error;
use crate::model::{ClipId, Layer, Library, MaskId, SkeletonId, no_such};

/// The skeletons, clips and masks that an instance may use.
pub(crate) trait Contents {
    /// Advice that follows the message about a missing skeleton, clip or mask.
    const ADVICE: &'static str = "";

    /// The number of skeletons.
    fn skeleton_count(&self) -> usize;

    /// The number of clips.
    fn clip_count(&self) -> usize;

    /// The number of masks.
    fn mask_count(&self) -> usize;

    /// The name of a skeleton that exists.
    fn skeleton_name(&self, id: SkeletonId) -> Option<&str>;

    /// A clip; `None` if it does not exist.
    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>>;

    /// The skeleton of a mask; `None` if the mask does not exist.
    fn find_mask(&self, id: MaskId) -> Option<SkeletonId>;
}

/// The name of a clip, and the skeleton that it animates.
pub(crate) struct ClipContents<'a> {
    pub name: Option<&'a str>,
    pub skeleton: SkeletonId,
}

impl Contents for Library {
    fn skeleton_count(&self) -> usize {
        self.skeletons().len()
    }

    fn clip_count(&self) -> usize {
        self.clips().len()
    }

    fn mask_count(&self) -> usize {
        self.masks().len()
    }

    fn skeleton_name(&self, id: SkeletonId) -> Option<&str> {
        self.skeleton(id).name()
    }

    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>> {
        let clip = self.clips().get(id.index())?;
        Some(ClipContents { name: clip.name.as_deref(), skeleton: clip.skeleton })
    }

    fn find_mask(&self, id: MaskId) -> Option<SkeletonId> {
        self.masks().get(id.index()).map(|mask| mask.skeleton)
    }
}

/// An index into a library, with the name of the item if it has one: `3 ("walk")`.
struct Named<'a> {
    index: usize,
    name: Option<&'a str>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.index)?;
        self.name.map_or(Ok(()), |name| write!(out, " ({name:?})"))
    }
}

/// Checks that the skeleton, the clips and the masks of an instance exist and belong together.
///
/// # Errors
/// [`Error::Instance`] for the first one that does not.
pub(crate) fn check_instance<C: Contents>(
    contents: &C,
    instance: usize,
    skeleton: SkeletonId,
    layers: &[Layer],
) -> Result<(), Error> {
    let fault = |reason: String| Err(Error::Instance { instance, reason });
    let missing = |item: &str, index: usize, count: usize| {
        fault(format!("{}{}", no_such(item, index, "library", count), C::ADVICE))
    };
    let named = |id: SkeletonId| Named { index: id.index(), name: contents.skeleton_name(id) };
    if skeleton.index() >= contents.skeleton_count() {
        return missing("skeleton", skeleton.index(), contents.skeleton_count());
    }
    let own = named(skeleton);
    for layer in layers {
        let index = layer.clip.index();
        let Some(clip) = contents.find_clip(layer.clip) else { return missing("clip", index, contents.clip_count()) };
        if clip.skeleton != skeleton {
            let (clip, other) = (Named { index, name: clip.name }, named(clip.skeleton));
            return fault(format!("clip {clip} animates skeleton {other}, but the instance uses skeleton {own}"));
        }
        let Some(mask) = layer.mask else { continue };
        let index = mask.index();
        let Some(other) = contents.find_mask(mask) else { return missing("mask", index, contents.mask_count()) };
        if other != skeleton {
            let other = named(other);
            return fault(format!("mask {index} is for skeleton {other}, but the instance uses skeleton {own}"));
        }
    }
    Ok(())
}
