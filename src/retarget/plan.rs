//! The two poses that look alike, and what follows from them and from the map for all clips.

use glam::{DAffine3, DMat3, DQuat};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, Target, Track, Transform, no_such};
use crate::reference::values;
use crate::reference::values::Values;
use crate::retarget::joint_map::{JointMap, MapRemark, RootTranslation};

/// The height of a root, as a share of its rig's size, up to which no ratio of heights is formed.
const LEAST_HEIGHT: f64 = 1e-3;

/// The volume between the axes of a joint, relative to that of axes of the same lengths at right angles, up to which it has no inverse.
const LEAST_VOLUME: f64 = 1e-12;

/// The map and the poses of a retargeting.
pub(super) struct Plan<'a> {
    pub library: &'a Library,
    pub map: &'a JointMap,
    pub options: &'a RetargetOptions,
    pub source: &'a Skeleton,
    pub target: &'a Skeleton,
    /// The reference pose of the source.
    pub reference: ModelPose,
    /// The rest pose of the target.
    pub rest: ModelPose,
    /// The partner of each joint of the source.
    pub target_of: Vec<Option<usize>>,
    /// The partner of each joint of the target.
    pub source_of: Vec<Option<usize>>,
    /// `None` if no joint is mapped or the root does not move.
    pub root: Option<Root>,
    /// The reason for which the root does not move, unless the map wants it so.
    pub remark: Option<MapRemark>,
    /// The size of the target.
    pub target_size: f64,
}

/// The root, and the factor of its movement.
pub(super) struct Root {
    pub source: usize,
    pub target: usize,
    pub scale: f64,
}

impl<'a> Plan<'a> {
    pub fn new(library: &'a Library, map: &'a JointMap, options: &'a RetargetOptions) -> Result<Self, Error> {
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let mut plan = Self {
            library,
            map,
            options,
            source,
            target,
            reference: options.reference.of(library, map.source)?,
            rest: ModelPose::at_rest(target),
            target_of: vec![None; source.joints().len()],
            source_of: vec![None; target.joints().len()],
            root: None,
            remark: None,
            target_size: crate::compress::rig_size(target),
        };
        for pair in &map.pairs {
            plan.target_of[pair.source] = Some(pair.target);
            plan.source_of[pair.target] = Some(pair.source);
        }
        plan.root = plan.find_root();
        if let Some(&Root { source, target, .. }) = plan.root.as_ref()
            && let Some(above) = plan.flat_above(target)
        {
            plan.remark = Some(MapRemark::ZeroScale { source, target, above });
            plan.root = None;
        }
        Ok(plan)
    }

    /// The nearest joint above a joint of the target whose scale of 0 takes away a direction, so that the joint cannot be everywhere.
    fn flat_above(&self, joint: usize) -> Option<usize> {
        let is_flat = |joint: &usize| {
            let node = &self.target.joints()[*joint];
            let DMat3 { x_axis, y_axis, z_axis } = node.matrix.unwrap_or_else(|| node.rest.to_affine()).matrix3;
            let volume = x_axis.cross(y_axis).dot(z_axis).abs();
            volume <= LEAST_VOLUME * x_axis.length() * y_axis.length() * z_axis.length()
        };
        self.target.ancestors(joint).find(is_flat)
    }

    fn find_root(&self) -> Option<Root> {
        let mapped = || (0..self.target_of.len()).filter(|&joint| self.target_of[joint].is_some());
        let clips = || self.library.clips().iter().filter(|clip| clip.skeleton == self.map.source);
        let is_moved = |joint: usize| {
            let moves = |track: &Track| track.target == Target::Translation(joint) && !track.curve.is_constant();
            clips().any(|clip| clip.tracks.iter().any(moves))
        };
        let source = self.map.root.or_else(|| mapped().find(|&joint| is_moved(joint))).or_else(|| mapped().next())?;
        let target = self.target_of[source]?;
        let scale = match self.map.translation {
            RootTranslation::None => return None,
            RootTranslation::Full => 1.0,
            RootTranslation::Scaled(Some(scale)) => scale,
            RootTranslation::Scaled(None) => self.ratio_of_heights(source, target),
        };
        Some(Root { source, target, scale })
    }

    /// The height of the root of the target above its lowest mapped joint, relative to that of the source. 1 if either is nearly 0.
    fn ratio_of_heights(&self, source: usize, target: usize) -> f64 {
        let pairs = || self.map.pairs.iter();
        let from = self.reference.height(source, pairs().map(|pair| pair.source));
        let to = self.rest.height(target, pairs().map(|pair| pair.target));
        let is_flat =
            from <= LEAST_HEIGHT * crate::compress::rig_size(self.source) || to <= LEAST_HEIGHT * self.target_size;
        if is_flat { 1.0 } else { to / from }
    }

    /// The nearest mapped ancestor of a joint of the source.
    pub fn mapped_above_source(&self, joint: usize) -> Option<usize> {
        self.source.ancestors(joint).find(|&above| self.target_of[above].is_some())
    }

    /// The nearest mapped ancestor of a joint of the target.
    pub fn mapped_above_target(&self, joint: usize) -> Option<usize> {
        self.target.ancestors(joint).find(|&above| self.source_of[above].is_some())
    }
}

/// The reference pose and the error bounds of a retargeting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetargetOptions {
    /// The pose of the source that looks like the rest pose of the target: for example an arm-down pose of the source for a target
    /// with arms down. The rest pose by default.
    pub reference: ReferencePose,
    /// The largest error of resampled rotations in model space, in radians; 1e-4 by default.
    pub rotation_bound: f64,
    /// The largest error of a resampled translation of the root in model space, as a share of the rig's size; 1e-4 by default.
    pub translation_bound: f64,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self { reference: ReferencePose::Rest, rotation_bound: 1e-4, translation_bound: 1e-4 }
    }
}

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
        Self { rotations, matrices: values::model_matrices(skeleton, local) }
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
