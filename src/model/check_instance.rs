//! The check that an instance fits a library or a packed library.

use std::fmt;

use crate::error::Error;
use crate::model::{
    BlendSpaceId, ChainId, ClipId, Goal, KnotsId, Layer, LayerTime, Library, MaskId, SkeletonId, WeightDriver, no_such,
};

/// The skeletons, clips, masks, chains, knots and blend spaces that an instance may use.
pub(crate) trait Contents {
    /// Advice that follows the message about a missing skeleton, clip, mask or chain.
    const ADVICE: &'static str = "";

    /// The number of skeletons.
    fn skeleton_count(&self) -> usize;

    /// The number of clips.
    fn clip_count(&self) -> usize;

    /// The number of masks.
    fn mask_count(&self) -> usize;

    /// The number of chains.
    fn chain_count(&self) -> usize;

    /// The number of lists of knots.
    fn knots_count(&self) -> usize;

    /// The number of blend spaces.
    fn blend_space_count(&self) -> usize;

    /// The number of points of a blend space that exists.
    fn point_count(&self, id: BlendSpaceId) -> usize;

    /// The name of a skeleton that exists.
    fn skeleton_name(&self, id: SkeletonId) -> Option<&str>;

    /// A clip; `None` if it does not exist.
    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>>;

    /// The skeleton of a mask; `None` if the mask does not exist.
    fn find_mask(&self, id: MaskId) -> Option<SkeletonId>;

    /// The skeleton of a chain; `None` if the chain does not exist.
    fn find_chain(&self, id: ChainId) -> Option<SkeletonId>;
}

/// The name of a clip, the skeleton that it animates, and the number of its sync markers.
pub(crate) struct ClipContents<'a> {
    pub name: Option<&'a str>,
    pub skeleton: SkeletonId,
    pub marker_count: usize,
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

    fn chain_count(&self) -> usize {
        self.chains().len()
    }

    fn knots_count(&self) -> usize {
        self.knots().len()
    }

    fn blend_space_count(&self) -> usize {
        self.blend_spaces().len()
    }

    fn point_count(&self, id: BlendSpaceId) -> usize {
        self.blend_spaces()[id.index()].points().len()
    }

    fn skeleton_name(&self, id: SkeletonId) -> Option<&str> {
        self.skeleton(id).name()
    }

    fn find_clip(&self, id: ClipId) -> Option<ClipContents<'_>> {
        let clip = self.clips().get(id.index())?;
        let (name, marker_count) = (clip.name.as_deref(), clip.markers.len());
        Some(ClipContents { name, skeleton: clip.skeleton, marker_count })
    }

    fn find_mask(&self, id: MaskId) -> Option<SkeletonId> {
        self.masks().get(id.index()).map(|mask| mask.skeleton)
    }

    fn find_chain(&self, id: ChainId) -> Option<SkeletonId> {
        self.chains().get(id.index()).map(|chain| chain.skeleton)
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

/// Checks that the skeleton, the clips, the masks and the drivers of an instance exist and belong together.
///
/// # Errors
/// [`Error::Instance`] for the first one that does not.
pub(crate) fn check_instance<C: Contents>(
    contents: &C,
    instance: usize,
    skeleton: SkeletonId,
    layers: &[Layer],
) -> Result<(), Error> {
    let error = |reason: String| Err(Error::Instance { instance, reason });
    let missing = |item: &str, index: usize, count: usize| {
        error(format!("{}{}", no_such(item, index, "library", count), C::ADVICE))
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
            return error(format!("clip {clip} animates skeleton {other}, but the instance uses skeleton {own}"));
        }
        let Some(mask) = layer.mask else { continue };
        let index = mask.index();
        let Some(other) = contents.find_mask(mask) else { return missing("mask", index, contents.mask_count()) };
        if other != skeleton {
            let other = named(other);
            return error(format!("mask {index} is for skeleton {other}, but the instance uses skeleton {own}"));
        }
    }
    for layer in layers {
        if let Some(driver) = layer.driver {
            check_driver(contents, driver).or_else(error)?;
        }
        if let LayerTime::Synced { leader } = layer.time
            && let Some(leader) = layers.get(leader)
        {
            check_markers(contents, leader.clip, layer.clip).or_else(error)?;
        }
    }
    Ok(())
}

/// Checks that the chains of an instance exist and belong to its skeleton, which exists.
///
/// # Errors
/// [`Error::Instance`] for the first one that does not.
pub(crate) fn check_goals<C: Contents>(
    contents: &C,
    instance: usize,
    skeleton: SkeletonId,
    goals: &[Goal],
) -> Result<(), Error> {
    let error = |reason: String| Err(Error::Instance { instance, reason });
    let named = |id: SkeletonId| Named { index: id.index(), name: contents.skeleton_name(id) };
    for chain in goals.iter().map(|goal| goal.chain) {
        let index = chain.index();
        let Some(other) = contents.find_chain(chain) else {
            return error(format!("{}{}", no_such("chain", index, "library", contents.chain_count()), C::ADVICE));
        };
        if other != skeleton {
            let [other, own] = [other, skeleton].map(named);
            return error(format!("chain {index} is for skeleton {other}, but the instance uses skeleton {own}"));
        }
    }
    Ok(())
}

/// Checks that the knots, or the blend space and its point, exist.
fn check_driver<C: Contents>(contents: &C, driver: WeightDriver) -> Result<(), String> {
    let (item, owner, index, count) = match driver {
        WeightDriver::Knots { knots: KnotsId(index), .. } => {
            ("list of knots", "library", index, contents.knots_count())
        }
        WeightDriver::Point { space, point, .. } => {
            let (index, count) = (space.index(), contents.blend_space_count());
            if index < count {
                ("point", "blend space", point, contents.point_count(space))
            } else {
                ("blend space", "library", index, count)
            }
        }
    };
    if index < count { Ok(()) } else { Err(format!("{}{}", no_such(item, index, owner, count), C::ADVICE)) }
}

/// Checks that two synchronised clips have as many markers, or that one has none.
fn check_markers<C: Contents>(contents: &C, leader: ClipId, follower: ClipId) -> Result<(), String> {
    let clips = [leader, follower].map(|clip| contents.find_clip(clip).map(|found| (clip, found)));
    let [Some((leader, lead)), Some((follower, follow))] = clips else { return Ok(()) };
    let counts = [lead.marker_count, follow.marker_count];
    if counts[0] == counts[1] || counts.contains(&0) {
        return Ok(());
    }
    let [lead, follow] =
        [(leader, lead.name), (follower, follow.name)].map(|(clip, name)| Named { index: clip.index(), name });
    Err(format!(
        "clip {follow} has {} sync markers, but clip {lead}, which it follows, has {}; give both as many",
        counts[1], counts[0]
    ))
}
