//! Libraries: skeletons, skins, clips, masks and interpolators.

use std::sync::Arc;

use crate::error::Error;
use crate::model::{
    BlendSpace, BlendSpaceId, Chain, ChainId, Clip, ClipId, Event, Interpolator, InterpolatorId, Knots, KnotsId, Mask,
    MaskId, RootMotion, Selector, Skeleton, SkeletonId, Skin, SkinId, Track, clip, is_weight, no_such,
};

/// Skeletons, skins, clips, masks, chains, knots, blend spaces and interpolators: all data that does not change per
/// frame.
///
/// Ids are numbered from 0 in the order of addition. They stay valid, because nothing is ever removed.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
/// use posse::{Clip, Joint, Library, Skeleton};
///
/// # fn main() -> Result<(), posse::Error> {
/// let mut library = Library::new();
/// let joints = vec![Joint::default(), Joint { parent: Some(0), ..Joint::default() }];
/// let arm = library.add_skeleton(Skeleton::new(Some("arm".into()), joints, vec![])?);
/// // The second joint moves along x from 0 to 1 in half a second.
/// let timeline = Arc::new(Timeline::new(vec![0.0, 0.5])?);
/// let curve = Curve::new(timeline, Interpolation::Linear, 3, vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0])?;
/// let tracks = vec![Track::new(Target::Translation(1), curve)];
/// let reach = library.add_clip(Clip::new(Some("reach".into()), arm, tracks))?;
/// assert_eq!(library.find_clip("reach"), Some(reach));
/// assert_eq!(library.clip(reach).duration(), 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Library {
    skeletons: Vec<Skeleton>,
    skins: Vec<Skin>,
    clips: Vec<Clip>,
    masks: Vec<Mask>,
    chains: Vec<Chain>,
    knots: Vec<Knots>,
    blend_spaces: Vec<BlendSpace>,
    interpolators: Interpolators,
}

/// The size of a library at one moment, to which a failed import truncates it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibrarySizes {
    skeletons: usize,
    skins: usize,
    clips: usize,
    masks: usize,
    chains: usize,
    knots: usize,
    blend_spaces: usize,
}

/// Interpolators, compared by identity.
#[derive(Debug, Clone, Default)]
struct Interpolators(Vec<Arc<dyn Interpolator>>);

impl PartialEq for Interpolators {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl Library {
    /// An empty library.
    pub fn new() -> Self {
        Self::default()
    }

    /// The numbers of skeletons, skins, clips, masks, chains, knots and blend spaces.
    pub(crate) fn sizes(&self) -> LibrarySizes {
        LibrarySizes {
            skeletons: self.skeletons.len(),
            skins: self.skins.len(),
            clips: self.clips.len(),
            masks: self.masks.len(),
            chains: self.chains.len(),
            knots: self.knots.len(),
            blend_spaces: self.blend_spaces.len(),
        }
    }

    /// Removes the skeletons, skins, clips, masks, chains, knots and blend spaces beyond these numbers.
    pub(crate) fn truncate(&mut self, sizes: LibrarySizes) {
        self.skeletons.truncate(sizes.skeletons);
        self.skins.truncate(sizes.skins);
        self.clips.truncate(sizes.clips);
        self.masks.truncate(sizes.masks);
        self.chains.truncate(sizes.chains);
        self.knots.truncate(sizes.knots);
        self.blend_spaces.truncate(sizes.blend_spaces);
    }

    /// Adds a skeleton.
    pub fn add_skeleton(&mut self, skeleton: Skeleton) -> SkeletonId {
        self.skeletons.push(skeleton);
        SkeletonId(self.skeletons.len() - 1)
    }

    /// Adds a copy of a skeleton of another library, with its skins in their order.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton. The library is then unchanged.
    pub fn copy_skeleton(&mut self, library: &Self, skeleton: SkeletonId) -> Result<SkeletonId, Error> {
        let Some(found) = library.skeletons.get(skeleton.0) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.0, "library", library.skeletons.len())));
        };
        let copy = self.add_skeleton(found.clone());
        for (_, skin) in library.skins_of(skeleton) {
            self.add_skin(Skin { skeleton: copy, ..skin.clone() })?;
        }
        Ok(copy)
    }

    /// Adds a skin.
    ///
    /// # Errors
    /// [`Error::Skin`] if the skeleton or a joint does not exist, the counts of joints and matrices differ, or a number
    /// is not finite.
    pub fn add_skin(&mut self, skin: Skin) -> Result<SkinId, Error> {
        let error = |reason: String| Error::Skin { skin: skin.name.clone().unwrap_or("unnamed".into()), reason };
        let Some(skeleton) = self.skeletons.get(skin.skeleton.0) else {
            return Err(error(no_such("skeleton", skin.skeleton.0, "library", self.skeletons.len())));
        };
        if let Some(&joint) = skin.joints.iter().find(|&&joint| joint >= skeleton.joints().len()) {
            return Err(error(no_such("joint", joint, "skeleton", skeleton.joints().len())));
        }
        if skin.joints.len() != skin.inverse_bind.len() {
            let (joints, matrices) = (skin.joints.len(), skin.inverse_bind.len());
            let found = format!("it has {joints} joints, but {matrices} inverse bind matrices");
            return Err(error(format!("{found}; expected one matrix per joint")));
        }
        let usable = |matrix: &glam::DAffine3| matrix.to_cols_array().into_iter().all(super::is_usable);
        if let Some(index) = skin.inverse_bind.iter().position(|matrix| !usable(matrix)) {
            return Err(error(format!(
                "inverse bind matrix {index} has a number that is not finite in the range of an f32"
            )));
        }
        self.skins.push(skin);
        Ok(SkinId(self.skins.len() - 1))
    }

    /// Adds a clip.
    ///
    /// # Errors
    /// * [`Error::Track`] if a target does not exist, is driven twice, or by a curve of another width; if a joint given
    ///   by a matrix is animated; if a rotation key is the zero quaternion; if an interpolation does not fit its
    ///   target; or if a curve extrapolates in a clip without a length, or has too many loops.
    /// * [`Error::Usage`] if the length, the speed, the time of an event or a sync marker is out of range, events or
    ///   markers are out of order, or the root joint does not exist or is given by a matrix.
    pub fn add_clip(&mut self, clip: Clip) -> Result<ClipId, Error> {
        let error = |track: usize, reason: String| {
            let clip = clip.label().into();
            Error::Track { clip, track, reason }
        };
        let Some(skeleton) = self.skeletons.get(clip.skeleton.0) else {
            return Err(error(0, no_such("skeleton", clip.skeleton.0, "library", self.skeletons.len())));
        };
        clip::check_play(&clip).map_err(Error::Usage)?;
        clip::check_tracks(self.interpolators(), skeleton, &clip).map_err(|(track, reason)| error(track, reason))?;
        clip::check_root(&clip, clip.root_motion, skeleton).map_err(Error::Usage)?;
        clip::check_markers(&clip, &clip.markers).map_err(Error::Usage)?;
        self.clips.push(clip);
        Ok(ClipId(self.clips.len() - 1))
    }

    /// Adds a mask.
    ///
    /// # Errors
    /// [`Error::Usage`] if the skeleton does not exist, or the mask does not have one finite weight of 0 or more per
    /// joint.
    pub fn add_mask(&mut self, mask: Mask) -> Result<MaskId, Error> {
        let name = mask.name.as_deref().unwrap_or("unnamed");
        let error = |reason: String| Err(Error::Usage(format!("mask {name}: {reason}")));
        let Some(skeleton) = self.skeletons.get(mask.skeleton.0) else {
            return error(no_such("skeleton", mask.skeleton.0, "library", self.skeletons.len()));
        };
        let (weights, joints) = (mask.weights.len(), skeleton.joints().len());
        if weights != joints {
            return error(format!(
                "it has {weights} weights, but the skeleton has {joints} joints; give one per joint"
            ));
        }
        if let Some(joint) = mask.weights.iter().position(|&weight| !is_weight(weight)) {
            let weight = mask.weights[joint];
            return error(format!("the weight {weight} of joint {joint} is not a finite number of 0 or more"));
        }
        self.masks.push(mask);
        Ok(MaskId(self.masks.len() - 1))
    }

    /// The ids of all masks.
    pub fn mask_ids(&self) -> impl Iterator<Item = MaskId> + use<> {
        (0..self.masks.len()).map(MaskId)
    }

    /// All masks, by id.
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// Adds a chain. Instances refer to it by a [`Goal`](crate::ik::Goal).
    ///
    /// # Errors
    /// [`Error::Usage`] if the skeleton or a joint does not exist, a joint is given by a matrix, the joints of two
    /// bones are not each below the one before, a number is not finite, or a limit is negative.
    pub fn add_chain(&mut self, chain: Chain) -> Result<ChainId, Error> {
        let error = |reason: String| {
            Err(Error::Usage(format!("chain {}: {reason}", chain.name.as_deref().unwrap_or("unnamed"))))
        };
        let Some(skeleton) = self.skeletons.get(chain.skeleton.0) else {
            return error(no_such("skeleton", chain.skeleton.0, "library", self.skeletons.len()));
        };
        if let Some(reason) = chain.error(skeleton) {
            return error(reason);
        }
        self.chains.push(chain);
        Ok(ChainId(self.chains.len() - 1))
    }

    /// The ids of all chains.
    pub fn chain_ids(&self) -> impl Iterator<Item = ChainId> + use<> {
        (0..self.chains.len()).map(ChainId)
    }

    /// All chains, by id.
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// Adds knots. Layers refer to them by [`WeightDriver::Knots`](crate::parameters::WeightDriver::Knots).
    pub fn add_knots(&mut self, knots: Knots) -> KnotsId {
        self.knots.push(knots);
        KnotsId(self.knots.len() - 1)
    }

    /// The ids of all lists of knots.
    pub fn knots_ids(&self) -> impl Iterator<Item = KnotsId> + use<> {
        (0..self.knots.len()).map(KnotsId)
    }

    /// All knots, by id.
    pub fn knots(&self) -> &[Knots] {
        &self.knots
    }

    /// Adds a blend space. Layers refer to it by [`WeightDriver::Point`](crate::parameters::WeightDriver::Point).
    pub fn add_blend_space(&mut self, space: BlendSpace) -> BlendSpaceId {
        self.blend_spaces.push(space);
        BlendSpaceId(self.blend_spaces.len() - 1)
    }

    /// The ids of all blend spaces.
    pub fn blend_space_ids(&self) -> impl Iterator<Item = BlendSpaceId> + use<> {
        (0..self.blend_spaces.len()).map(BlendSpaceId)
    }

    /// All blend spaces, by id.
    pub fn blend_spaces(&self) -> &[BlendSpace] {
        &self.blend_spaces
    }

    /// Adds an interpolator. Curves refer to it by [`Interpolation::Custom`](crate::curves::Interpolation::Custom).
    ///
    /// # Errors
    /// [`Error::Usage`] if its name is not an identifier or is taken, a width is not from 1 to 64, or its fields do not
    /// add up to its width.
    pub fn add_interpolator(&mut self, interpolator: Arc<dyn Interpolator>) -> Result<InterpolatorId, Error> {
        let name = interpolator.name();
        let error = |reason: String| Err(Error::Usage(format!("interpolator {name:?}: {reason}")));
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(is_allowed) {
            return error("a name must be a letter, followed by letters, digits and _".into());
        }
        if self.find_interpolator(name).is_some() {
            return error("the library already has an interpolator of this name; choose another".into());
        }
        let widths = [interpolator.width(), interpolator.result_width()];
        if widths.iter().any(|width| !(1..=64).contains(width)) {
            return error(format!("its widths are {} and {}; each must be from 1 to 64", widths[0], widths[1]));
        }
        let fields = interpolator.fields();
        let sum = fields.iter().map(|(_, width)| width).sum::<usize>();
        if !fields.is_empty() && sum != widths[0] {
            return error(format!("its fields have {sum} numbers together, but its width is {}", widths[0]));
        }
        self.interpolators.0.push(interpolator);
        Ok(InterpolatorId(self.interpolators.0.len() - 1))
    }

    /// Sets or removes the root joint of a clip, and returns the previous one.
    ///
    /// [`RootMotion::on_ground`] makes a root joint that moves instances over the ground. [`RootMotion::is_moved_by`]
    /// tests if the clip moves it.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip, or the joint does not exist or is given by a matrix.
    pub fn set_root_motion(&mut self, id: ClipId, root: Option<RootMotion>) -> Result<Option<RootMotion>, Error> {
        let count = self.clips.len();
        let Some(clip) = self.clips.get_mut(id.0) else {
            return Err(Error::Usage(no_such("clip", id.0, "library", count)));
        };
        clip::check_root(clip, root, &self.skeletons[clip.skeleton.0]).map_err(Error::Usage)?;
        Ok(std::mem::replace(&mut clip.root_motion, root))
    }

    /// Replaces the events of a clip, and returns the previous ones. The new events must be ordered by time.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip, the time of an event is not finite, or events are out of order.
    pub fn set_events(&mut self, id: ClipId, events: Vec<Event>) -> Result<Vec<Event>, Error> {
        let count = self.clips.len();
        let Some(clip) = self.clips.get_mut(id.0) else {
            return Err(Error::Usage(no_such("clip", id.0, "library", count)));
        };
        clip::check_events(clip.label(), &events).map_err(Error::Usage)?;
        Ok(std::mem::replace(&mut clip.events, events))
    }

    /// Replaces the sync markers of a clip, and returns the previous ones. [`Clip::event_times`] makes markers of
    /// events.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip, the markers do not increase strictly, or one is not from 0 to less
    /// than the duration of the clip.
    pub fn set_markers(&mut self, id: ClipId, markers: Vec<f64>) -> Result<Vec<f64>, Error> {
        let count = self.clips.len();
        let Some(clip) = self.clips.get_mut(id.0) else {
            return Err(Error::Usage(no_such("clip", id.0, "library", count)));
        };
        clip::check_markers(clip, &markers).map_err(Error::Usage)?;
        Ok(std::mem::replace(&mut clip.markers, markers))
    }

    /// Replaces the tracks of the clip with this index by tracks of the same targets.
    pub(crate) fn replace_tracks(&mut self, clip: usize, tracks: Vec<Track>) {
        self.clips[clip].tracks = tracks;
    }

    /// Replaces a clip of the library by one of the same targets, and returns the old clip.
    pub(crate) fn replace_clip(&mut self, id: ClipId, clip: Clip) -> Clip {
        std::mem::replace(&mut self.clips[id.0], clip)
    }

    /// Replaces a skeleton by one with the same joints and possibly more properties, and returns the old skeleton.
    pub(crate) fn replace_skeleton(&mut self, id: SkeletonId, skeleton: Skeleton) -> Skeleton {
        std::mem::replace(&mut self.skeletons[id.0], skeleton)
    }

    /// All interpolators, by id.
    pub fn interpolators(&self) -> &[Arc<dyn Interpolator>] {
        &self.interpolators.0
    }

    /// The interpolator of this id.
    ///
    /// # Panics
    /// If the id belongs to another library and this one has no such interpolator.
    pub fn interpolator(&self, id: InterpolatorId) -> &dyn Interpolator {
        &*self.interpolators.0[id.0]
    }

    /// The interpolator of this name.
    pub fn find_interpolator(&self, name: &str) -> Option<InterpolatorId> {
        self.interpolators.0.iter().position(|interpolator| interpolator.name() == name).map(InterpolatorId)
    }

    /// Moves all items of another library into this one. Their ids increase by the numbers of items that are already
    /// here.
    pub(crate) fn append(&mut self, other: Self) {
        debug_assert!(
            other.interpolators.0.is_empty() && other.masks.is_empty(),
            "importers make no masks and interpolators"
        );
        let skeletons = self.skeletons.len();
        let shift = |id: SkeletonId| SkeletonId(skeletons + id.0);
        self.skeletons.extend(other.skeletons);
        self.skins.extend(other.skins.into_iter().map(|skin| Skin { skeleton: shift(skin.skeleton), ..skin }));
        self.clips.extend(other.clips.into_iter().map(|clip| Clip { skeleton: shift(clip.skeleton), ..clip }));
    }

    /// All skeletons, by id.
    pub fn skeletons(&self) -> &[Skeleton] {
        &self.skeletons
    }

    /// All skins, by id.
    pub fn skins(&self) -> &[Skin] {
        &self.skins
    }

    /// All clips, by id.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// The skeleton of this id.
    ///
    /// # Panics
    /// If the id belongs to another library and this one has no such skeleton.
    pub fn skeleton(&self, id: SkeletonId) -> &Skeleton {
        &self.skeletons[id.0]
    }

    /// The skin of this id.
    ///
    /// # Panics
    /// If the id belongs to another library and this one has no such skin.
    pub fn skin(&self, id: SkinId) -> &Skin {
        &self.skins[id.0]
    }

    /// The clip of this id.
    ///
    /// # Panics
    /// If the id belongs to another library and this one has no such clip.
    pub fn clip(&self, id: ClipId) -> &Clip {
        &self.clips[id.0]
    }

    /// The ids of all skeletons.
    pub fn skeleton_ids(&self) -> impl Iterator<Item = SkeletonId> + use<> {
        (0..self.skeletons.len()).map(SkeletonId)
    }

    /// The ids of all clips.
    pub fn clip_ids(&self) -> impl Iterator<Item = ClipId> + use<> {
        (0..self.clips.len()).map(ClipId)
    }

    /// The skins of a skeleton, in the order in which they were added.
    pub fn skins_of(&self, skeleton: SkeletonId) -> impl Iterator<Item = (SkinId, &Skin)> {
        let skins = self.skins.iter().enumerate().map(|(index, skin)| (SkinId(index), skin));
        skins.filter(move |(_, skin)| skin.skeleton == skeleton)
    }

    /// The first clip of this name, of any skeleton. If several skeletons have clips of one name, use
    /// [`find_clip_of`](Self::find_clip_of); for names that a person writes, use [`select_clip`](Self::select_clip).
    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        self.clips.iter().position(|clip| clip.name.as_deref() == Some(name)).map(ClipId)
    }

    /// The first clip of this name that animates this skeleton.
    pub fn find_clip_of(&self, skeleton: SkeletonId, name: &str) -> Option<ClipId> {
        let matches = |clip: &Clip| clip.skeleton == skeleton && clip.name.as_deref() == Some(name);
        self.clips.iter().position(matches).map(ClipId)
    }

    /// The clip that a text selects of these, which are all clips of a file in its order. [`Selector`] has the rule.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text selects no clip, with the names that there are, or several, with a text for each.
    ///
    /// # Panics
    /// If a clip belongs to another library and this one has no such clip.
    pub fn select_clip(&self, clips: &[ClipId], text: &str) -> Result<ClipId, Error> {
        Ok(clips[self.clip_selector(clips).one(text)?])
    }

    /// A selector of these clips.
    ///
    /// # Panics
    /// If a clip belongs to another library and this one has no such clip.
    pub fn clip_selector(&self, clips: &[ClipId]) -> Selector<'_> {
        Selector::of_clips(clips.iter().map(|&clip| self.clip(clip).name.as_deref()))
    }
}
