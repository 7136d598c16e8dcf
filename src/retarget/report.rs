//! The report of a retargeting.

use std::fmt;

use glam::{DQuat, DVec3};

use crate::model::{ClipId, Library, Target};
use crate::retarget::alignment::AlignedBone;
use crate::retarget::joint_map::{JointMap, JointPair, MapRemark, MapSide, MatchedBy};
use crate::retarget::root::RootScale;
use crate::retarget::warnings::RetargetWarning;

/// Retargeted clips, and how each of their tracks was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Retargeting {
    /// The new clips, in the order of the given ones.
    pub clips: Vec<RetargetedClip>,
    /// The map, with the root that was chosen and with all remarks.
    pub map: JointMap,
    /// The factor of the movement of the root; 0 if it does not move.
    pub scale: f64,
    /// The lengths of which the factor is the ratio. `None` if the root does not move.
    pub basis: Option<RootScale>,
    /// The up axis of the source. It is rotated onto the up axis of the target.
    pub source_up: DVec3,
    /// The rotation of the source about the up axis, in degrees. `None` if it is not known which direction the target
    /// faces.
    pub facing: Option<f64>,
    /// The up axis of the target.
    pub target_up: DVec3,
    /// The rotation of the source's space into the space of the target: the up axis of the source onto the up axis of
    /// the target, then by `facing`.
    pub space: DQuat,
    /// `true` if source and target seem to be one skeleton in two rest poses, by names, parents and offsets, and no pose
    /// was chosen. [`ReferencePose::by_names`](crate::retarget::ReferencePose::by_names) with the target then takes local
    /// rotations over as they are.
    pub is_one_skeleton: bool,
    /// The role in a human of each joint of the source and of the target, by its name in VRM 1.0.
    pub roles: [Vec<Option<String>>; 2],
    /// The bones that were rotated in the reference pose.
    pub bones: Vec<AlignedBone>,
    /// What looks wrong, although a result could be made.
    pub warnings: Vec<RetargetWarning>,
}

/// A retargeted clip, or the mirror image of one.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetedClip {
    /// The clip that was added.
    pub clip: ClipId,
    /// The clip of the source.
    pub source: ClipId,
    /// Its tracks, in their order.
    pub tracks: Vec<RetargetedTrack>,
    /// The tracks of the source on which no track of the new clip depends.
    pub dropped: Vec<DroppedTrack>,
    /// The root motion of the clip of the source that the new one does not have; `None` if nothing is lost.
    pub lost_root_motion: Option<LostRootMotion>,
    /// The height of the ground of the source in this clip, along its up axis. `None` if the root moves relative to the
    /// reference pose.
    pub ground: Option<f64>,
}

/// Root motion of a clip of the source that the new clip does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRootMotion {
    /// The root joint of the clip, in the source.
    pub joint: usize,
    /// The reason.
    pub reason: LossReason,
}

/// The reason for which root motion was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossReason {
    /// The joint has no partner. The new clip has no root joint.
    Unmapped,
    /// An axis along which the joint moves the instance is no axis of the target. The new clip has no root joint.
    Axes,
    /// The joint is not the root of the map, or that root does not move. The partner of the joint is the root joint of
    /// the new clip, but it can only rotate the instance.
    Translation,
}

/// A track of a retargeted clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetargetedTrack {
    /// The target of the track.
    pub target: Target,
    /// How it was made.
    pub method: TrackMethod,
}

/// How a track was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrackMethod {
    /// Each key of the source was transformed. Key times and interpolation stay as in the source.
    Exact,
    /// A single key: the source does not move the joint, but holds it in another pose than the rest pose of the target.
    Constant,
    /// The motion was sampled at this number of keys.
    Resampled {
        /// The number of keys.
        keys: usize,
        /// The largest error that was measured, at 15 times between each two keys unless they are neighbouring `f32`,
        /// as beside a jump: in radians for a rotation, as a share of the rig's size for a translation, as a number
        /// for morph weights.
        error: f64,
    },
}

/// A track of the source that has no effect on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedTrack {
    /// The index of the track in the clip of the source.
    pub track: usize,
    /// The target of the track.
    pub target: Target,
    /// The reason.
    pub reason: DropReason,
}

/// The reason for which a track was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The joint has no partner, and no mapped joint is below it or it does not move them.
    Unmapped,
    /// Only the root of the map takes over its translation, and joints that are paired by name below it (see
    /// [`CarriedJoints`](crate::retarget::CarriedJoints)).
    Translation,
    /// The map wants a root that does not move: [`RootTranslation::None`](crate::retarget::RootTranslation::None).
    StillRoot,
    /// A joint above the root of the target has a scale of 0, so that the root cannot move.
    ZeroScale,
    /// The options carry over the translation of the root alone.
    RootAlone,
    /// Only joints that are paired by name and have the same axes take over their scale.
    Scale,
    /// The translation is the weight of an expression of a VRM animation, and the target has no expression of this name
    /// that moves morph weights.
    Expression,
    /// No joint of the target has such morph targets.
    Weights,
    /// Properties have no counterpart in the target.
    Property,
}

impl RetargetedClip {
    /// The largest error of resampled rotations, in radians; 0 if all are exact.
    pub fn rotation_error(&self) -> f64 {
        self.errors(|target| matches!(target, Target::Rotation(_)))
    }

    /// The largest error of resampled translations, as a share of the rig's size; 0 if all are exact.
    pub fn translation_error(&self) -> f64 {
        self.errors(|target| matches!(target, Target::Translation(_)))
    }

    fn errors(&self, is_wanted: impl Fn(Target) -> bool) -> f64 {
        let error = |track: &RetargetedTrack| match track.method {
            TrackMethod::Resampled { error, .. } if is_wanted(track.target) => error,
            _ => 0.0,
        };
        self.tracks.iter().map(error).fold(0.0, f64::max)
    }
}

impl fmt::Display for MatchedBy {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(match self {
            Self::Name => "name",
            Self::NormalizedName => "normalised name",
            Self::Role => "role",
            Self::Structure => "structure",
            Self::Caller => "map",
        })
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(match self {
            Self::Unmapped => "the joint has no partner",
            Self::Translation => "only the root, and joints that are paired by name below it, are moved",
            Self::StillRoot => "the map says that the root does not move",
            Self::ZeroScale => "a joint above the partner of the root has a scale of 0",
            Self::RootAlone => "the options carry over the translation of the root alone",
            Self::Scale => "only joints that are paired by name and have the same axes are scaled",
            Self::Expression => "the target has no expression of this name that moves morph weights",
            Self::Weights => "no joint of the target has such morph targets",
            Self::Property => "properties are not retargeted",
        })
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(match self {
            Self::Unmapped => "the joint has no partner",
            Self::Axes => "its axes are not axes of the target",
            Self::Translation => "only the root of the map is moved",
        })
    }
}

impl JointMap {
    /// A remark as a sentence, with the names of joints.
    pub fn describe(&self, library: &Library, remark: &MapRemark) -> String {
        let source = |joint: usize| library.skeleton(self.source).joint_name(joint);
        let target = |joint: usize| library.skeleton(self.target).joint_name(joint);
        match remark {
            MapRemark::Ambiguous { name, by, sources, targets } => {
                let sources: Vec<String> = sources.iter().map(|&joint| source(joint)).collect();
                let targets: Vec<String> = targets.iter().map(|&joint| target(joint)).collect();
                let by = match by {
                    MatchedBy::Caller => "name",
                    MatchedBy::Structure => "role",
                    MatchedBy::Name | MatchedBy::NormalizedName | MatchedBy::Role => &by.to_string(),
                };
                let (sources, targets) = (sources.join(", "), targets.join(", "));
                format!(
                    "{by} {name:?} is ambiguous: it fits {sources} of the source and {targets} of the target, which are left \
                     out; a map file can name pairs of joints whose names are unique"
                )
            }
            MapRemark::Roles { source: from, target: to, roles: [of_source, of_target] } => format!(
                "{} of the source and {} of the target are no pair: by the other names of their skeletons, they are {of_source} and \
                 {of_target}; a map file can name pairs",
                source(*from),
                target(*to)
            ),
            MapRemark::Missing { in_source, in_target } => {
                let mut parts = Vec::new();
                if !in_source.is_empty() {
                    let roles = in_source.join(", ");
                    parts.push(format!(
                        "joints of the target without a partner in the source keep their rest pose: {roles}"
                    ));
                }
                if !in_target.is_empty() {
                    let roles = in_target.join(", ");
                    parts.push(format!("joints of the source without a partner in the target are left out: {roles}"));
                }
                format!("{}; a map file can name the pairs", parts.join("; "))
            }
            MapRemark::NoLegs { side: MapSide::Source } => {
                "the source has no legs; the legs of the target keep their rest pose".into()
            }
            MapRemark::NoLegs { side: MapSide::Target } => {
                "the target has no legs; the legs of the source are left out".into()
            }
            MapRemark::Matrix { source: from, target: to } => format!(
                "{} is left out: its partner {} is given by a matrix with shear, which cannot be animated",
                source(*from),
                target(*to)
            ),
            MapRemark::ZeroScale { source: from, target: to, above } => format!(
                "the movement of {} is left out: {}, above its partner {}, has a scale of 0; choose another root, or give that joint \
                 a scale",
                source(*from),
                target(*above),
                target(*to)
            ),
        }
    }

    /// The names of the joints of a pair: of the source, of the target.
    pub fn names(&self, library: &Library, pair: JointPair) -> [String; 2] {
        let skeletons = [self.source, self.target].map(|id| library.skeleton(id));
        [skeletons[0].joint_name(pair.source), skeletons[1].joint_name(pair.target)]
    }
}
