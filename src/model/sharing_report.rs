//! The result of sharing a clip with another skeleton.

use std::fmt;

use crate::model::{ClipId, Target};

/// A clip shared with another skeleton, and the result for each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharing {
    /// The clip that was added.
    pub clip: ClipId,
    /// The target of each track on the other skeleton, in the order of the original clip; `None` if the track was left out.
    pub tracks: Vec<Option<Target>>,
    /// Tracks that were left out, or whose joint is ambiguous.
    pub faults: Vec<SharingFault>,
    /// The remark on the root joint of the clip, if any. The shared clip has no root joint if the remark says that nothing is
    /// driven.
    pub root: Option<SharingFaultKind>,
}

/// A remark on the sharing of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharingFault {
    /// Index of the track in the original clip.
    pub track: usize,
    /// The target of the track on the original skeleton.
    pub target: Target,
    /// The name of that joint or property; `None` for a joint without a name.
    pub name: Option<String>,
    /// The kind of the remark.
    pub kind: SharingFaultKind,
}

/// The kinds of remarks on the sharing of a track. In all cases but [`SeveralJoints`](Self::SeveralJoints), the track is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingFaultKind {
    /// The joint has no name, so that no other joint can match it.
    Unnamed,
    /// The other skeleton has no joint of the name.
    NoJoint,
    /// Several joints of a skeleton have the name. The track drives the joint that is reached by the same names from the root.
    SeveralJoints,
    /// Several joints of a skeleton have the name, and no joint of the other skeleton is reached by the same names.
    NoPath,
    /// The joint of the other skeleton is given by a matrix, which cannot be animated.
    Matrix,
    /// The joint of the other skeleton has another number of morph weights.
    Weights {
        /// Number of weights of the joint of the original skeleton.
        from: usize,
        /// Number of weights of the joint of the other skeleton.
        to: usize,
    },
    /// The other skeleton has no property of the same name, width and kind.
    NoProperty,
}

impl fmt::Display for SharingFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, joint) = match self.target {
            Target::Translation(joint) => ("translation of joint", joint),
            Target::Rotation(joint) | Target::EulerAngles(joint) => ("rotation of joint", joint),
            Target::Scale(joint) => ("scale of joint", joint),
            Target::Weights(joint) => ("weights of joint", joint),
            Target::Property(property) => ("property", property),
        };
        match &self.name {
            Some(name) => write!(out, "{part} {name:?}: ")?,
            None => write!(out, "{part} {joint}: ")?,
        }
        match self.kind {
            SharingFaultKind::Unnamed => out.write_str("it has no name; nothing is driven"),
            SharingFaultKind::NoJoint => out.write_str("there is no joint of that name; nothing is driven"),
            SharingFaultKind::SeveralJoints => {
                out.write_str("several joints have that name; the one that is reached by the same names is driven")
            }
            SharingFaultKind::NoPath => out.write_str(
                "several joints have that name, and none is reached by the same names from the root; nothing is driven",
            ),
            SharingFaultKind::Matrix => {
                out.write_str("it is given by a matrix, which cannot be animated; nothing is driven")
            }
            SharingFaultKind::Weights { from, to } => {
                write!(out, "it has {to} morph weights, not {from}; nothing is driven")
            }
            SharingFaultKind::NoProperty => {
                out.write_str("there is no property of that name and kind; nothing is driven")
            }
        }
    }
}
