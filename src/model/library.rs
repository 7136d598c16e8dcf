//! Everything that does not change from frame to frame.

use std::collections::HashSet;

use crate::error::Error;
use crate::model::clip::Clip;
use crate::model::curve::Interpolation;
use crate::model::id::{ClipId, SkeletonId, SkinId};
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
}

impl Library {
    /// An empty library.
    pub fn new() -> Self {
        Self::default()
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
    /// given by a matrix is animated, or a rotation key is the zero quaternion.
    pub fn add_clip(&mut self, clip: Clip) -> Result<ClipId, Error> {
        let fault = |track: usize, reason: String| {
            let clip = clip.name.clone().unwrap_or("unnamed".into());
            Error::Track { clip, track, reason }
        };
        let Some(skeleton) = self.skeletons.get(clip.skeleton.0) else {
            return Err(fault(0, format!("there is no skeleton {}", clip.skeleton.0)));
        };
        let mut driven = HashSet::new();
        let (mut whole, mut single) = (HashSet::new(), HashSet::new());
        for (index, track) in clip.tracks.iter().enumerate() {
            check_track(skeleton, track).map_err(|reason| fault(index, reason))?;
            let overlaps = match track.target {
                Target::Weights(joint) => !whole.insert(joint) || single.contains(&joint),
                Target::Weight { joint, .. } => {
                    single.insert(joint);
                    whole.contains(&joint)
                }
                _ => false,
            };
            let twice = overlaps || !driven.insert(track.target);
            if twice {
                return Err(fault(index, format!("{:?} is driven by an earlier track already", track.target)));
            }
        }
        self.clips.push(clip);
        Ok(ClipId(self.clips.len() - 1))
    }

    /// Moves in everything of another library; its ids go up by the numbers of things that are here already.
    pub(crate) fn append(&mut self, other: Self) {
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

fn check_track(skeleton: &Skeleton, track: &Track) -> Result<(), String> {
    let joint = |joint: usize| {
        let count = skeleton.joints().len();
        skeleton.joints().get(joint).ok_or_else(|| format!("there is no joint {joint}, the skeleton has {count}"))
    };
    let movable = |index: usize| {
        let matrix = joint(index)?.matrix.is_some();
        if matrix { Err(format!("joint {index} is given by a matrix and cannot be animated")) } else { Ok(()) }
    };
    let width = match track.target {
        Target::Translation(index) | Target::Scale(index) => movable(index).map(|()| 3)?,
        Target::Rotation(index) => movable(index).map(|()| 4)?,
        Target::Weights(index) => joint(index)?.weights.len(),
        Target::Weight { joint: index, target } => {
            let count = joint(index)?.weights.len();
            if target >= count {
                return Err(format!("joint {index} has {count} morph targets, there is no target {target}"));
            }
            1
        }
        Target::Property(index) => {
            let count = skeleton.properties().len();
            let property = skeleton.properties().get(index);
            property.ok_or_else(|| format!("there is no property {index}, the skeleton has {count}"))?.rest.len()
        }
    };
    let curve = &track.curve;
    if curve.width() != width {
        return Err(format!("its curve is {} numbers wide, its target {width}", curve.width()));
    }
    if is_rotation(skeleton, track.target) && curve.interpolation() != Interpolation::CubicSpline {
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
