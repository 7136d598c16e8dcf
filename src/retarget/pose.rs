//! Poses of a skeleton in model space: rotations, and matrices.

use glam::{DAffine3, DQuat};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, Transform, no_such};
use crate::reference::hierarchy;
use crate::reference::values::Values;

/// The pose of the source that looks like the rest pose of the target.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ReferencePose {
    /// The rest pose of the source.
    #[default]
    Rest,
    /// A pose of a clip of the source.
    Clip {
        /// The clip.
        clip: ClipId,
        /// Seconds of the clip.
        time: f64,
    },
}

impl ReferencePose {
    /// The pose of a skeleton.
    pub(super) fn of(self, library: &Library, id: SkeletonId) -> Result<ModelPose, Error> {
        let skeleton = library.skeleton(id);
        let Self::Clip { clip, time } = self else { return Ok(ModelPose::at_rest(skeleton)) };
        let fault = |reason: String| Err(Error::Usage(format!("reference pose: {reason}")));
        let Some(found) = library.clips().get(clip.index()) else {
            return fault(no_such("clip", clip.index(), "library", library.clips().len()));
        };
        if found.skeleton != id {
            let (of_clip, of_map) = (found.skeleton.index(), id.index());
            return fault(format!("clip {} animates skeleton {of_clip}, but the source is {of_map}", clip.index()));
        }
        if !crate::model::is_usable(time) {
            return fault(format!("its time is {time} s; expected a finite number in the range of an f32"));
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
        Self { rotations, matrices: hierarchy::model(skeleton, local) }
    }

    /// The rotation of a joint; the identity for `None`.
    pub fn rotation(&self, joint: Option<usize>) -> DQuat {
        joint.map_or(DQuat::IDENTITY, |joint| self.rotations[joint])
    }

    /// The height of a joint above the lowest of these joints, along +Y.
    pub fn height(&self, joint: usize, joints: impl Iterator<Item = usize>) -> f64 {
        let height = |joint: usize| self.matrices[joint].translation.y;
        height(joint) - joints.map(height).fold(f64::INFINITY, f64::min)
    }
}
