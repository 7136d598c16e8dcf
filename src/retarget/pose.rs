//! Poses of a skeleton that look like poses of another one.

use std::collections::HashMap;

use glam::{DAffine3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, Transform, no_such};
use crate::reference::values::{self, Values};
use crate::retarget::conventions::Numbering;

/// The pose of a skeleton that looks like one of the other skeleton.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ReferencePose {
    /// The rest pose.
    #[default]
    Rest,
    /// A pose of a clip of the skeleton.
    Clip {
        /// The clip.
        clip: ClipId,
        /// Seconds of the clip.
        time: f64,
    },
    /// Local transforms, one per joint.
    Local(Vec<Transform>),
}

impl ReferencePose {
    /// The pose of a skeleton in which each joint has the local rotation of the joint of its name in a pose of another
    /// skeleton, such as the skeleton of a file with a T-pose. Other joints are at rest.
    ///
    /// # Errors
    /// [`Error::Usage`] if less than half of the joints with a name have a counterpart, or the other pose does not
    /// exist.
    pub fn by_names(skeleton: &Skeleton, library: &Library, other: SkeletonId, pose: &Self) -> Result<Self, Error> {
        let Some(others) = library.skeletons().get(other.index()) else {
            return Err(Error::Usage(no_such("skeleton", other.index(), "library", library.skeletons().len())));
        };
        let pose = pose.of(library, other)?;
        let [own_numbers, other_numbers] = [skeleton, others].map(Numbering::of);
        let key = |joint: usize| Some((other_numbers.normalized(others, joint)?, joint));
        let found: HashMap<String, usize> = (0..others.joints().len()).filter_map(key).collect();
        let (mut count, mut named) = (0, 0);
        let local = skeleton.joints().iter().enumerate().map(|(index, joint)| {
            named += usize::from(joint.name.is_some());
            let same = own_numbers.normalized(skeleton, index).and_then(|name| found.get(&name));
            count += usize::from(same.is_some());
            same.map_or(joint.rest, |&same| Transform { rotation: pose.local[same].rotation, ..joint.rest })
        });
        let local = local.collect();
        if count == 0 || 2 * count < named {
            return Err(Error::Usage(format!(
                "reference pose: of the {named} joints of the skeleton, only {count} have a joint of the same name in it"
            )));
        }
        Ok(Self::Local(local))
    }

    /// The pose of a skeleton.
    pub(super) fn of(&self, library: &Library, id: SkeletonId) -> Result<ModelPose, Error> {
        let skeleton = library.skeleton(id);
        let error = |reason: String| Err(Error::Usage(format!("reference pose: {reason}")));
        let (clip, time) = match self {
            Self::Rest => return Ok(ModelPose::at_rest(skeleton)),
            Self::Local(local) if local.len() == skeleton.joints().len() => {
                return Ok(ModelPose::new(skeleton, local));
            }
            Self::Local(local) => {
                let joints = skeleton.joints().len();
                return error(format!("it has {} transforms, but the skeleton has {joints} joints", local.len()));
            }
            &Self::Clip { clip, time } => (clip, time),
        };
        let Some(found) = library.clips().get(clip.index()) else {
            return error(no_such("clip", clip.index(), "library", library.clips().len()));
        };
        if found.skeleton != id {
            let (of_clip, of_map) = (found.skeleton.index(), id.index());
            return error(format!("clip {} animates skeleton {of_clip}, but the skeleton is {of_map}", clip.index()));
        }
        if !crate::model::is_usable(time) {
            return error(format!("its time is {time} s; expected a finite number in the range of an f32"));
        }
        Ok(ModelPose::new(skeleton, &Values::sampled(library, found, found.keep(time)).local))
    }
}

/// A pose in model space.
pub(super) struct ModelPose {
    /// The product of the local rotations down to each joint.
    pub rotations: Vec<DQuat>,
    /// The product of the local matrices down to each joint.
    pub matrices: Vec<DAffine3>,
    /// The local transforms.
    pub local: Vec<Transform>,
}

impl ModelPose {
    pub fn at_rest(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, &Values::at_rest(skeleton).local)
    }

    /// A joint that is given by a matrix has the rotation of its nearest transform.
    pub fn new(skeleton: &Skeleton, local: &[Transform]) -> Self {
        let mut rotations: Vec<DQuat> = Vec::with_capacity(local.len());
        for (joint, transform) in skeleton.joints().iter().zip(local) {
            let own = unit(transform.rotation).unwrap_or(DQuat::IDENTITY);
            rotations.push(joint.parent.map_or(own, |parent| rotations[parent] * own).normalize());
        }
        Self { rotations, matrices: values::model_matrices(skeleton, local), local: local.to_vec() }
    }

    /// The same pose with other local translations of some joints.
    pub fn with_translations(&self, skeleton: &Skeleton, changed: impl Iterator<Item = (usize, DVec3)>) -> Self {
        let mut local = self.local.clone();
        changed.for_each(|(joint, translation)| local[joint].translation = translation);
        Self::new(skeleton, &local)
    }
}
