//! Everything that does not change from frame to frame.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::Error;
use crate::model::clip::Clip;
use crate::model::curve::{Extrapolation, Interpolation};
use crate::model::id::{ClipId, InterpolatorId, MaskId, SkeletonId, SkinId};
use crate::model::interpolator::Interpolator;
use crate::model::mask::{Mask, is_weight};
use crate::model::skeleton::Skeleton;
use crate::model::skin::Skin;
use crate::model::track::{Target, Track};

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

/// Interpolators, each the same only as itself.
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

    /// How many skeletons, skins, clips and masks there are.
    pub(crate) fn sizes(&self) -> [usize; 4] {
        [self.skeletons.len(), self.skins.len(), self.clips.len(), self.masks.len()]
    }

    /// Takes out what was added since there were so many.
    pub(crate) fn truncate(&mut self, [skeletons, skins, clips, masks]: [usize; 4]) {
        self.skeletons.truncate(skeletons);
        self.skins.truncate(skins);
        self.clips.truncate(clips);
        self.masks.truncate(masks);
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
    /// given by a matrix is animated, a rotation key is the zero quaternion, an interpolation does not fit its target, or
    /// a curve extrapolates in a clip without a length or has too many loops; [`Error::Usage`] where the length, the speed or an event's time is not a number
    /// that will do, or events are out of order.
    pub fn add_clip(&mut self, clip: Clip) -> Result<ClipId, Error> {
        let fault = |track: usize, reason: String| {
            let clip = clip.name.clone().unwrap_or("unnamed".into());
            Error::Track { clip, track, reason }
        };
        let Some(skeleton) = self.skeletons.get(clip.skeleton.0) else {
            return Err(fault(0, format!("there is no skeleton {}", clip.skeleton.0)));
        };
        check_play(&clip).map_err(Error::Usage)?;
        let mut driven = Driven::default();
        let mut keys = 0_usize;
        for (index, track) in clip.tracks.iter().enumerate() {
            check_track(self, skeleton, track).map_err(|reason| fault(index, reason))?;
            if !driven.insert(track) {
                return Err(fault(index, format!("{:?} is driven by an earlier track already", track.target)));
            }
            if clip.length.is_none() && track.curve.extrapolation() != [Extrapolation::Clamp; 2] {
                return Err(fault(index, "its curve goes on beyond its keys, but the clip has no length".into()));
            }
            keys = keys.saturating_add(track.curve.looped_keys(clip.length));
            if keys > MOST_LOOPED_KEYS {
                let reason = format!("looped over the clip, its curves are more than {MOST_LOOPED_KEYS} keys");
                return Err(fault(index, reason));
            }
        }
        self.clips.push(clip);
        Ok(ClipId(self.clips.len() - 1))
    }

    /// Adds a mask.
    ///
    /// # Errors
    /// [`Error::Usage`] where the skeleton does not exist, or there is not one weight of 0 or more for each of its joints.
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

    /// Adds an interpolator, for curves to name by [`Interpolation::Custom`].
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

    /// The first clip of this name.
    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        self.clips.iter().position(|clip| clip.name.as_deref() == Some(name)).map(ClipId)
    }
}

/// The most keys of a clip's curves with their loops.
const MOST_LOOPED_KEYS: usize = 1 << 20;

/// What the tracks of a clip drive.
#[derive(Default)]
struct Driven(HashMap<Target, Option<HashSet<usize>>>);

impl Driven {
    /// Notes what a track drives; `false` where that is driven already.
    fn insert(&mut self, track: &Track) -> bool {
        let twin = match track.target {
            Target::Rotation(joint) => Some(Target::EulerAngles(joint)),
            Target::EulerAngles(joint) => Some(Target::Rotation(joint)),
            _ => None,
        };
        if twin.is_some_and(|twin| self.0.contains_key(&twin)) {
            return false;
        }
        match track.component {
            None => self.0.insert(track.target, None).is_none(),
            Some(component) => match self.0.entry(track.target).or_insert_with(|| Some(HashSet::new())) {
                Some(components) => components.insert(component),
                None => false,
            },
        }
    }
}

/// What is wrong with how a clip plays, if anything.
fn check_play(clip: &Clip) -> Result<(), String> {
    let name = clip.name.as_deref().unwrap_or("unnamed");
    let length = clip.length.unwrap_or(0.0);
    if !super::is_usable(length) || length < 0.0 {
        return Err(format!("clip {name}: its length {length} is not a number of 0 or more"));
    }
    if clip.speed.is_nan() || clip.speed.abs() > 1e4 {
        return Err(format!("clip {name}: its speed {} is not from -1e4 to 1e4", clip.speed));
    }
    if let Some(event) = clip.events.iter().find(|event| !super::is_usable(event.time)) {
        return Err(format!("clip {name}: the time {} of event {} is no number", event.time, event.function));
    }
    match clip.events.is_sorted_by(|a, b| a.time <= b.time) {
        true => Ok(()),
        false => Err(format!("clip {name}: its events are not ordered by time")),
    }
}

fn check_track(library: &Library, skeleton: &Skeleton, track: &Track) -> Result<(), String> {
    let joint = |joint: usize| {
        let count = skeleton.joints().len();
        skeleton.joints().get(joint).ok_or_else(|| format!("there is no joint {joint}, the skeleton has {count}"))
    };
    let movable = |index: usize| {
        let matrix = joint(index)?.matrix.is_some();
        if matrix { Err(format!("joint {index} is given by a matrix and cannot be animated")) } else { Ok(()) }
    };
    let target_width = match track.target {
        Target::Translation(index) | Target::Scale(index) | Target::EulerAngles(index) => movable(index).map(|()| 3)?,
        Target::Rotation(index) => movable(index).map(|()| 4)?,
        Target::Weights(index) => joint(index)?.weights.len(),
        Target::Property(index) => {
            let count = skeleton.properties().len();
            let property = skeleton.properties().get(index);
            property.ok_or_else(|| format!("there is no property {index}, the skeleton has {count}"))?.rest.len()
        }
    };
    let curve = &track.curve;
    let rotation = is_rotation(skeleton, track.target);
    let width = match track.component {
        None => target_width,
        Some(_) if rotation => return Err("no single number of a rotation can be driven".into()),
        Some(component) if component < target_width => 1,
        Some(component) => {
            return Err(format!("its target has {target_width} numbers, there is no number {component}"));
        }
    };
    if let Interpolation::Custom(id) = curve.interpolation() {
        let count = library.interpolators().len();
        let interpolator = library.interpolators().get(id.0);
        let interpolator = interpolator.ok_or_else(|| format!("there is no interpolator {}, but {count}", id.0))?;
        let (from, to) = (interpolator.width(), interpolator.result_width());
        if rotation || track.component.is_some() || !matches!(track.target, Target::Property(_)) {
            return Err("an interpolator drives whole properties that are no rotations, nothing else".into());
        }
        if (curve.width(), width) != (from, to) {
            let (curve, name) = (curve.width(), interpolator.name());
            return Err(format!("{name} makes {to} numbers of {from}; the curve has {curve}, the property {width}"));
        }
        return Ok(());
    }
    if curve.width() != width {
        return Err(format!("its curve is {} numbers wide, its target {width}", curve.width()));
    }
    if curve.interpolation() == Interpolation::Slerp && (rotation || !matches!(track.target, Target::Property(_))) {
        return Err("rotations are interpolated spherically by LINEAR; SLERP is for other properties".into());
    }
    if rotation && curve.interpolation() != Interpolation::CubicSpline {
        let zero = |key: &usize| curve.value(*key).iter().all(|&number| number == 0.0);
        if let Some(key) = (0..curve.timeline().len()).find(zero) {
            return Err(format!("the rotation at key {key} is the zero quaternion"));
        }
    }
    Ok(())
}

/// Whether a target is a quaternion that interpolates as a rotation.
pub(crate) fn is_rotation(skeleton: &Skeleton, target: Target) -> bool {
    match target {
        Target::Rotation(_) => true,
        Target::Property(index) => skeleton.properties()[index].rotation,
        _ => false,
    }
}
