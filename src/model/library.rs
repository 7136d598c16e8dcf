//! Everything that does not change from frame to frame.

use std::sync::Arc;

use crate::error::Error;
use crate::model::mask::is_weight;
use crate::model::{
    Clip, ClipId, Event, Interpolator, InterpolatorId, Mask, MaskId, RootMotion, Skeleton, SkeletonId, Skin, SkinId,
    Track, clip_checks,
};

/// Skeletons, skins and clips: everything that does not change from frame to frame.
///
/// Ids are given out in order from 0 and stay valid; nothing is ever removed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Library {
    skeletons: Vec<Skeleton>,
    skins: Vec<Skin>,
    clips: Vec<Clip>,
    masks: Vec<Mask>,
    interpolators: Interpolators,
}

/// The size of a library at one moment, to which a failed import truncates it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibrarySizes {
    skeletons: usize,
    skins: usize,
    clips: usize,
    masks: usize,
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

    /// The numbers of skeletons, skins, clips and masks.
    pub(crate) fn sizes(&self) -> LibrarySizes {
        LibrarySizes {
            skeletons: self.skeletons.len(),
            skins: self.skins.len(),
            clips: self.clips.len(),
            masks: self.masks.len(),
        }
    }

    /// Removes the skeletons, skins, clips and masks beyond these numbers.
    pub(crate) fn truncate(&mut self, sizes: LibrarySizes) {
        self.skeletons.truncate(sizes.skeletons);
        self.skins.truncate(sizes.skins);
        self.clips.truncate(sizes.clips);
        self.masks.truncate(sizes.masks);
    }

    /// Adds a skeleton.
    pub fn add_skeleton(&mut self, skeleton: Skeleton) -> SkeletonId {
        self.skeletons.push(skeleton);
        SkeletonId(self.skeletons.len() - 1)
    }

    /// Adds a skin.
    ///
    /// # Errors
    /// [`Error::Skin`] where the skeleton or a joint does not exist, the counts of joints and matrices differ, or a
    /// number is not finite.
    pub fn add_skin(&mut self, skin: Skin) -> Result<SkinId, Error> {
        let fault = |reason: String| Error::Skin { skin: skin.name.clone().unwrap_or("unnamed".into()), reason };
        let Some(skeleton) = self.skeletons.get(skin.skeleton.0) else {
            return Err(fault(format!("there is no skeleton {}", skin.skeleton.0)));
        };
        if let Some(joint) = skin.joints.iter().find(|&&joint| joint >= skeleton.joints().len()) {
            return Err(fault(format!("there is no joint {joint}, the skeleton has {}", skeleton.joints().len())));
        }
        if skin.joints.len() != skin.inverse_bind.len() {
            let (joints, matrices) = (skin.joints.len(), skin.inverse_bind.len());
            return Err(fault(format!("{joints} joints, but {matrices} inverse bind matrices")));
        }
        let usable = |matrix: &glam::DAffine3| matrix.to_cols_array().into_iter().all(super::is_usable);
        if let Some(index) = skin.inverse_bind.iter().position(|matrix| !usable(matrix)) {
            return Err(fault(format!("inverse bind matrix {index} has a number that is not finite")));
        }
        self.skins.push(skin);
        Ok(SkinId(self.skins.len() - 1))
    }

    /// Adds a clip.
    ///
    /// # Errors
    /// [`Error::Track`] where a target does not exist, is driven twice or by a curve of another width, where a joint
    /// given by a matrix is animated, a rotation key is the zero quaternion, an interpolation does not fit its target,
    /// or a curve extrapolates in a clip without a length or has too many loops; [`Error::Usage`] where the length, the
    /// speed or an event's time is not a number that will do, events are out of order, or the root joint does not
    /// exist or is given by a matrix.
    pub fn add_clip(&mut self, clip: Clip) -> Result<ClipId, Error> {
        let fault = |track: usize, reason: String| {
            let clip = clip.name.clone().unwrap_or("unnamed".into());
            Error::Track { clip, track, reason }
        };
        let Some(skeleton) = self.skeletons.get(clip.skeleton.0) else {
            return Err(fault(0, format!("there is no skeleton {}", clip.skeleton.0)));
        };
        clip_checks::check_play(&clip).map_err(Error::Usage)?;
        clip_checks::check_tracks(self.interpolators(), skeleton, &clip).map_err(|(track, reason)| fault(track, reason))?;
        clip_checks::check_root(&clip, clip.root_motion, skeleton).map_err(Error::Usage)?;
        self.clips.push(clip);
        Ok(ClipId(self.clips.len() - 1))
    }

    /// Adds a mask.
    ///
    /// # Errors
    /// [`Error::Usage`] where the skeleton does not exist, or there is not one weight of 0 or more for each of its
    /// joints.
    pub fn add_mask(&mut self, mask: Mask) -> Result<MaskId, Error> {
        let name = mask.name.as_deref().unwrap_or("unnamed");
        let Some(skeleton) = self.skeletons.get(mask.skeleton.0) else {
            return Err(Error::Usage(format!("mask {name}: there is no skeleton {}", mask.skeleton.0)));
        };
        if mask.weights.len() != skeleton.joints().len() || !mask.weights.iter().all(|&weight| is_weight(weight)) {
            let joints = skeleton.joints().len();
            return Err(Error::Usage(format!(
                "mask {name}: it has not a weight of 0 or more for each of {joints} joints"
            )));
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

    /// Adds an interpolator, for curves to name by [`Interpolation::Custom`](crate::Interpolation::Custom).
    ///
    /// # Errors
    /// [`Error::Usage`] where its name is no identifier or another's already, or its widths or those of its fields will
    /// not do.
    pub fn add_interpolator(&mut self, interpolator: Arc<dyn Interpolator>) -> Result<InterpolatorId, Error> {
        let name = interpolator.name();
        let fault = |reason: &str| Err(Error::Usage(format!("interpolator {name:?}: {reason}")));
        let letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(letter) {
            return fault("its name is not a letter, then letters, digits and _");
        }
        if self.find_interpolator(name).is_some() {
            return fault("another has that name");
        }
        let widths = [interpolator.width(), interpolator.result_width()];
        if widths.iter().any(|width| !(1..=64).contains(width)) {
            return fault("its widths are not from 1 to 64");
        }
        let fields = interpolator.fields();
        if !fields.is_empty() && fields.iter().map(|(_, width)| width).sum::<usize>() != widths[0] {
            return fault("its fields are not as wide together as its value");
        }
        self.interpolators.0.push(interpolator);
        Ok(InterpolatorId(self.interpolators.0.len() - 1))
    }

    /// Gives a clip a root joint, or takes it away, and tells what was there. [`RootMotion::on_ground`] makes one that moves
    /// instances over the ground; [`RootMotion::is_moved_by`] says whether the clip moves it at all.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no such clip, or the joint does not exist or is given by a matrix.
    pub fn set_root_motion(&mut self, id: ClipId, root: Option<RootMotion>) -> Result<Option<RootMotion>, Error> {
        let Some(clip) = self.clips.get_mut(id.0) else {
            return Err(Error::Usage(format!("there is no clip {}", id.0)));
        };
        clip_checks::check_root(clip, root, &self.skeletons[clip.skeleton.0]).map_err(Error::Usage)?;
        Ok(std::mem::replace(&mut clip.root_motion, root))
    }

    /// Gives a clip events, ordered by time, in place of those that it had, and gives these back.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no such clip, an event's time is no number, or events are out of order.
    pub fn set_events(&mut self, id: ClipId, events: Vec<Event>) -> Result<Vec<Event>, Error> {
        let Some(clip) = self.clips.get_mut(id.0) else {
            return Err(Error::Usage(format!("there is no clip {}", id.0)));
        };
        clip_checks::check_events(clip.name.as_deref().unwrap_or("unnamed"), &events).map_err(Error::Usage)?;
        Ok(std::mem::replace(&mut clip.events, events))
    }

    /// Puts tracks of the same targets in place of those of a clip, by its index.
    pub(crate) fn replace_tracks(&mut self, clip: usize, tracks: Vec<Track>) {
        self.clips[clip].tracks = tracks;
    }

    /// Puts a skeleton of the same joints, with more properties perhaps, in place of one, and gives the old one.
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
    /// Where the id is another library's and there is no such interpolator here.
    pub fn interpolator(&self, id: InterpolatorId) -> &dyn Interpolator {
        &*self.interpolators.0[id.0]
    }

    /// The interpolator of this name.
    pub fn find_interpolator(&self, name: &str) -> Option<InterpolatorId> {
        self.interpolators.0.iter().position(|interpolator| interpolator.name() == name).map(InterpolatorId)
    }

    /// Moves in everything of another library; its ids go up by the numbers of things that are here already.
    pub(crate) fn append(&mut self, other: Self) {
        debug_assert!(other.interpolators.0.is_empty() && other.masks.is_empty(), "importers bring none");
        let skeletons = self.skeletons.len();
        let moved = |id: SkeletonId| SkeletonId(skeletons + id.0);
        self.skeletons.extend(other.skeletons);
        self.skins.extend(other.skins.into_iter().map(|skin| Skin { skeleton: moved(skin.skeleton), ..skin }));
        self.clips.extend(other.clips.into_iter().map(|clip| Clip { skeleton: moved(clip.skeleton), ..clip }));
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
    /// Where the id is another library's and there is no such skeleton here.
    pub fn skeleton(&self, id: SkeletonId) -> &Skeleton {
        &self.skeletons[id.0]
    }

    /// The skin of this id.
    ///
    /// # Panics
    /// Where the id is another library's and there is no such skin here.
    pub fn skin(&self, id: SkinId) -> &Skin {
        &self.skins[id.0]
    }

    /// The clip of this id.
    ///
    /// # Panics
    /// Where the id is another library's and there is no such clip here.
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
        let of = move |(_, skin): &(SkinId, &Skin)| skin.skeleton == skeleton;
        self.skins.iter().enumerate().map(|(index, skin)| (SkinId(index), skin)).filter(of)
    }

    /// The first clip of this name, whichever skeleton it moves: [`find_clip_of`](Self::find_clip_of) is for libraries in
    /// which several have clips of one name.
    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        self.clips.iter().position(|clip| clip.name.as_deref() == Some(name)).map(ClipId)
    }

    /// The first clip of this name that moves this skeleton.
    pub fn find_clip_of(&self, skeleton: SkeletonId, name: &str) -> Option<ClipId> {
        let found = |clip: &Clip| clip.skeleton == skeleton && clip.name.as_deref() == Some(name);
        self.clips.iter().position(found).map(ClipId)
    }
}
