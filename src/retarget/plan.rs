//! The two poses that look alike, and what follows from them and from the map for all clips.

use std::collections::HashMap;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, Transform, no_such};
use crate::reference::values;
use crate::reference::values::Values;
use crate::retarget::alignment::{Alignment, Facing, Side};
use crate::retarget::body::Body;
use crate::retarget::conventions::normalized;
use crate::retarget::joint_map::{JointMap, MapRemark, are_joints};
use crate::retarget::motion::Motion;
use crate::retarget::root::{Ground, Root};

/// The volume between the axes of a joint, relative to that of axes of the same lengths at right angles, up to which it
/// has no inverse.
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
    /// What makes the two look alike.
    pub alignment: Alignment,
    /// What the clips tell about the source.
    pub motion: Motion,
    /// The bodies of source and target.
    pub bodies: [Body; 2],
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

impl<'a> Plan<'a> {
    pub fn new(
        library: &'a Library,
        clips: &[ClipId],
        map: &'a JointMap,
        options: &'a RetargetOptions,
    ) -> Result<Self, Error> {
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let body = |id: SkeletonId| Body::new(library.skeleton(id), &are_joints(library, id));
        let bodies = [map.source, map.target].map(body);
        let (reference, rest) =
            (options.reference.of(library, map.source)?, options.target_pose.of(library, map.target)?);
        let mut target_of = vec![None; source.joints().len()];
        let mut source_of = vec![None; target.joints().len()];
        for pair in &map.pairs {
            target_of[pair.source] = Some(pair.target);
            source_of[pair.target] = Some(pair.source);
        }
        let motion = Motion::new(library, source, &bodies[0], clips);
        let from = Side { skeleton: source, body: &bodies[0], pose: &reference };
        let to = Side { skeleton: target, body: &bodies[1], pose: &rest };
        let alignment = Alignment::new(&target_of, [&from, &to], &motion, options);
        let mut plan = Self {
            library,
            map,
            options,
            source,
            target,
            reference,
            rest,
            alignment,
            motion,
            bodies,
            target_of,
            source_of,
            root: None,
            remark: None,
            target_size: crate::compress::rig_size(target),
        };
        plan.root = Root::of(&plan);
        if let Some(&Root { source, target, .. }) = plan.root.as_ref()
            && let Some(above) = plan.flat_above(target)
        {
            plan.remark = Some(MapRemark::ZeroScale { source, target, above });
            plan.root = None;
        }
        Ok(plan)
    }

    /// The nearest joint above a joint of the target whose scale of 0 takes away a direction, so that the joint cannot
    /// be everywhere.
    fn flat_above(&self, joint: usize) -> Option<usize> {
        let is_flat = |joint: &usize| {
            let node = &self.target.joints()[*joint];
            let DMat3 { x_axis, y_axis, z_axis } = node.matrix.unwrap_or_else(|| node.rest.to_affine()).matrix3;
            let volume = x_axis.cross(y_axis).dot(z_axis).abs();
            volume <= LEAST_VOLUME * x_axis.length() * y_axis.length() * z_axis.length()
        };
        self.target.ancestors(joint).find(is_flat)
    }

    /// The rotation of a joint of the target while all mapped joints are in the target's pose; others keep their local
    /// rest rotation. The identity for `None`.
    pub fn held_rotation(&self, joint: Option<usize>) -> DQuat {
        let Some(joint) = joint else { return DQuat::IDENTITY };
        if self.source_of[joint].is_some() || self.options.target_pose == ReferencePose::Rest {
            return self.rest.rotations[joint];
        }
        let node = &self.target.joints()[joint];
        self.held_rotation(node.parent) * unit(node.rest.rotation).unwrap_or(DQuat::IDENTITY)
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

/// The choices and the error bounds of a retargeting.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// The pose of the source that looks like a pose of the target. The rest pose by default.
    pub reference: ReferencePose,
    /// The pose of the target that looks like the reference pose. The rest pose by default.
    pub target_pose: ReferencePose,
    /// True, the default, if the bones of the reference pose are turned to where those of the target's pose point.
    /// Without it, the two poses count as alike as they are.
    pub align: bool,
    /// The up axis of the source: one of the axes, or its opposite. `None`, the default, for the axis along which the figure stands in its
    /// clips or in its rest pose, and +Y where neither tells.
    pub source_up: Option<DVec3>,
    /// The turn of the source about the up axis.
    pub facing: Facing,
    /// The ground of the source.
    pub ground: Ground,
    /// The joints whose translations and scales are carried over.
    pub translations: CarriedJoints,
    /// The largest error of resampled rotations in model space, in radians; 1e-4 by default.
    pub rotation_bound: f64,
    /// The largest error of a resampled translation of the root in model space, as a share of the rig's size; 1e-4 by
    /// default.
    pub translation_bound: f64,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            reference: ReferencePose::Rest,
            target_pose: ReferencePose::Rest,
            align: true,
            source_up: None,
            facing: Facing::Auto,
            ground: Ground::Auto,
            translations: CarriedJoints::All,
            rotation_bound: 1e-4,
            translation_bound: 1e-4,
        }
    }
}

/// The joints whose translations and scales are carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriedJoints {
    /// The root of the map alone: its translation.
    Root,
    /// All pairs of joints by names or by the caller whose nearest mapped joints above are a pair, too: their changes
    /// relative to the reference pose, times the factor of the root.
    #[default]
    All,
}

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
    /// skeleton, such as that of a file with a T-pose. Other joints are at rest.
    ///
    /// # Errors
    /// [`Error::Usage`] if less than half of the joints with a name have a counterpart, or the other pose does not
    /// exist.
    pub fn by_names(skeleton: &Skeleton, library: &Library, other: SkeletonId, pose: &Self) -> Result<Self, Error> {
        let Some(others) = library.skeletons().get(other.index()) else {
            return Err(Error::Usage(no_such("skeleton", other.index(), "library", library.skeletons().len())));
        };
        let pose = pose.of(library, other)?;
        let key = |name: &Option<String>| name.as_deref().map(normalized);
        let found: HashMap<String, usize> =
            others.joints().iter().enumerate().filter_map(|(joint, node)| Some((key(&node.name)?, joint))).collect();
        let (mut count, mut named) = (0, 0);
        let local = skeleton.joints().iter().map(|joint| {
            named += usize::from(joint.name.is_some());
            let same = key(&joint.name).and_then(|name| found.get(&name));
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
        let fault = |reason: String| Err(Error::Usage(format!("reference pose: {reason}")));
        let (clip, time) = match self {
            Self::Rest => return Ok(ModelPose::at_rest(skeleton)),
            Self::Local(local) if local.len() == skeleton.joints().len() => {
                return Ok(ModelPose::new(skeleton, local));
            }
            Self::Local(local) => {
                let joints = skeleton.joints().len();
                return fault(format!("it has {} transforms, but the skeleton has {joints} joints", local.len()));
            }
            &Self::Clip { clip, time } => (clip, time),
        };
        let Some(found) = library.clips().get(clip.index()) else {
            return fault(no_such("clip", clip.index(), "library", library.clips().len()));
        };
        if found.skeleton != id {
            let (of_clip, of_map) = (found.skeleton.index(), id.index());
            return fault(format!("clip {} animates skeleton {of_clip}, but the skeleton is {of_map}", clip.index()));
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
}
