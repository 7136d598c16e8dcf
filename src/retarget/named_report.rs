//! The report of a retargeting in names: for people, for JSON, and for other languages.

use glam::DVec3;
use serde::Serialize;

use crate::model::{Library, Skeleton, Target};
use crate::retarget::alignment::AlignmentReason;
use crate::retarget::report::{RetargetedClip, RetargetedTrack, Retargeting, TrackMethod};

/// The report of a [`Retargeting`] with names in place of indices, from [`Retargeting::named`]. A joint without a name
/// is `joint 7`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedReport {
    /// The pairs of joints, in the order of the source.
    pub joints: Vec<NamedPair>,
    /// The joint of the source whose movement the target takes over. `None` if there is no pair.
    pub root: Option<String>,
    /// The factor of that movement; 0 if the target does not move.
    pub scale: f64,
    /// The lengths of which the factor is the ratio. `None` if the target does not move.
    pub scale_basis: Option<String>,
    /// The units that the factor suggests, such as `centimetres to metres`. `None` if it is near the factor of no two
    /// usual ones.
    pub units: Option<&'static str>,
    /// The up axis of the source with its sign, such as `+Z`.
    pub source_up: String,
    /// The rotation of the source about the up axis, in degrees. `None` if it is not known which way the target faces.
    pub facing: Option<f64>,
    /// `true` if source and target seem to be one skeleton in two rest poses.
    pub one_skeleton: bool,
    /// The bones that were rotated in the reference pose.
    pub aligned: Vec<NamedAlignment>,
    /// What was left out and what looks wrong, as sentences: all that a caller should read before a use of the clips.
    pub warnings: Vec<String>,
    /// The joints that were left out because they are ambiguous, missing or cannot be animated, as sentences. They
    /// begin the warnings, too.
    pub left_out: Vec<String>,
    /// The joints of the source without a partner.
    pub source_without_partner: Vec<String>,
    /// The joints of the target without a partner, which keep their rest pose.
    pub target_without_partner: Vec<String>,
    /// The clips, in the order of the given ones.
    pub clips: Vec<NamedClipReport>,
}

/// A pair of joints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedPair {
    /// The joint of the source.
    pub source: String,
    /// The joint of the target.
    pub target: String,
    /// The reason for the pair: `name`, `normalised name`, `role`, `structure` or `map`.
    pub by: String,
}

/// A bone of the source that was rotated in the reference pose, so that this looks like the pose of the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedAlignment {
    /// The joint of the source.
    pub source: String,
    /// The joint of the target.
    pub target: String,
    /// The angle in degrees: of the hips by itself, of others relative to the hips.
    pub degrees: f64,
    /// The reason.
    pub reason: AlignmentReason,
}

/// The tracks of a clip: `rotation of hips`, for example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedClipReport {
    /// The name of the clip.
    pub name: Option<String>,
    /// Tracks whose keys were transformed one by one.
    pub exact: Vec<String>,
    /// Tracks of a single key.
    pub constant: Vec<String>,
    /// Tracks that were sampled.
    pub resampled: Vec<NamedResampling>,
    /// Tracks of the source that have no effect on the target.
    pub dropped: Vec<NamedDrop>,
    /// The root motion of the source that the clip does not have; `None` if nothing is lost.
    pub lost_root_motion: Option<NamedLoss>,
    /// The height of the ground in the source, along its up axis. `None` if the root moves relative to the reference
    /// pose.
    pub ground: Option<f64>,
}

/// A track that was sampled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedResampling {
    /// The track of the target.
    pub track: String,
    /// The number of its keys.
    pub keys: usize,
    /// The largest error: in radians for a rotation, as a share of the rig's size for a translation, as a number for
    /// morph weights.
    pub error: f64,
}

/// A track of the source that has no effect on the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedDrop {
    /// The track.
    pub track: String,
    /// The reason.
    pub reason: String,
}

/// Root motion of the source that the clip does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedLoss {
    /// The root joint of the clip of the source.
    pub joint: String,
    /// The reason.
    pub reason: String,
}

impl Retargeting {
    /// The report with names. `library` is the one whose clips were retargeted.
    pub fn named(&self, library: &Library) -> NamedReport {
        let map = &self.map;
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let mut is_paired = [source, target].map(|skeleton| vec![false; skeleton.joints().len()]);
        for pair in &map.pairs {
            is_paired[0][pair.source] = true;
            is_paired[1][pair.target] = true;
        }
        let alone = |skeleton: &Skeleton, is_paired: &[bool]| {
            let joints = is_paired.iter().enumerate().filter(|(_, is_paired)| !**is_paired);
            joints.map(|(joint, _)| skeleton.joint_name(joint)).collect()
        };
        let pairs = map.pairs.iter().map(|&pair| {
            let [source, target] = map.names(library, pair);
            NamedPair { source, target, by: pair.by.to_string() }
        });
        let left_out: Vec<String> = map.remarks.iter().map(|remark| map.describe(library, remark)).collect();
        let wrong = self.warnings.iter().map(|warning| warning.describe(library, map));
        let aligned = self.bones.iter().map(|bone| NamedAlignment {
            source: source.joint_name(bone.source),
            target: target.joint_name(bone.target),
            degrees: bone.degrees,
            reason: bone.reason,
        });
        NamedReport {
            joints: pairs.collect(),
            root: map.root.map(|root| source.joint_name(root)),
            scale: self.scale,
            scale_basis: self.basis.map(|basis| basis.to_string()),
            units: units(self.scale),
            source_up: axis_name(self.source_up),
            facing: self.facing,
            one_skeleton: self.is_one_skeleton,
            aligned: aligned.collect(),
            warnings: left_out.iter().cloned().chain(wrong).collect(),
            left_out,
            source_without_partner: alone(source, &is_paired[0]),
            target_without_partner: alone(target, &is_paired[1]),
            clips: self.clips.iter().map(|clip| NamedClipReport::new(library, clip)).collect(),
        }
    }
}

impl NamedClipReport {
    fn new(library: &Library, clip: &RetargetedClip) -> Self {
        let (made, source) = (library.clip(clip.clip), library.clip(clip.source));
        let [of_target, of_source] = [made.skeleton, source.skeleton].map(|id| library.skeleton(id));
        let mut report = Self {
            name: made.name.clone(),
            exact: Vec::new(),
            constant: Vec::new(),
            resampled: Vec::new(),
            dropped: Vec::new(),
            lost_root_motion: clip
                .lost_root_motion
                .map(|lost| NamedLoss { joint: of_source.joint_name(lost.joint), reason: lost.reason.to_string() }),
            ground: clip.ground,
        };
        for &RetargetedTrack { target, method } in &clip.tracks {
            let track = track_name(of_target, target);
            match method {
                TrackMethod::Exact => report.exact.push(track),
                TrackMethod::Constant => report.constant.push(track),
                TrackMethod::Resampled { keys, error } => {
                    report.resampled.push(NamedResampling { track, keys, error });
                }
            }
        }
        let dropped = clip.dropped.iter();
        report.dropped = dropped
            .map(|dropped| NamedDrop {
                track: track_name(of_source, dropped.target),
                reason: dropped.reason.to_string(),
            })
            .collect();
        report
    }
}

/// The units that a factor suggests, if it is near the factor of two usual ones.
fn units(scale: f64) -> Option<&'static str> {
    let known = [
        (0.01, "centimetres to metres"),
        (100.0, "metres to centimetres"),
        (0.0254, "inches to metres"),
        (0.001, "millimetres to metres"),
        (1000.0, "metres to millimetres"),
    ];
    known.into_iter().find(|(factor, _)| (0.85..1.18).contains(&(scale / factor))).map(|(_, units)| units)
}

/// The name of an axis, with its sign.
fn axis_name(axis: DVec3) -> String {
    let names = [("+X", axis.x), ("+Y", axis.y), ("+Z", axis.z), ("-X", -axis.x), ("-Y", -axis.y), ("-Z", -axis.z)];
    let nearest = names.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    nearest.map_or_else(String::new, |(name, _)| (*name).to_owned())
}

/// The name of a target: the part, and the name of its joint or property.
fn track_name(skeleton: &Skeleton, target: Target) -> String {
    match target {
        Target::Translation(joint) => format!("translation of {}", skeleton.joint_name(joint)),
        Target::Rotation(joint) | Target::EulerAngles(joint) => format!("rotation of {}", skeleton.joint_name(joint)),
        Target::Scale(joint) => format!("scale of {}", skeleton.joint_name(joint)),
        Target::Weights(joint) => format!("weights of {}", skeleton.joint_name(joint)),
        Target::Property(property) => format!("property {}", skeleton.properties()[property].name),
    }
}
