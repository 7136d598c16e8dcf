//! What became of a clip that was shared with another skeleton.

use std::fmt;

use crate::model::{ClipId, Target};

/// A clip on another skeleton, and what became of each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharing {
    /// The clip that was added.
    pub clip: ClipId,
    /// What each track of the shared clip drives on the other skeleton, if anything, in its order.
    pub tracks: Vec<Option<Target>>,
    /// What drives nothing, or not for certain what it should.
    pub faults: Vec<SharingFault>,
    /// What there is to know about the clip's root joint, which is lost where this says that nothing is driven.
    pub root: Option<SharingFaultKind>,
}

/// Something to know about the sharing of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharingFault {
    /// Index of the track in the shared clip.
    pub track: usize,
    /// What it drives on the skeleton that it comes from.
    pub target: Target,
    /// The name of that joint or property; `None` for a joint without.
    pub name: Option<String>,
    /// What is to be known.
    pub kind: SharingFaultKind,
}

/// What there is to know about the sharing of a track. Unless it says otherwise, nothing is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingFaultKind {
    /// The joint has no name by which another could be found.
    Unnamed,
    /// The other skeleton has no joint of the name.
    NoJoint,
    /// Several joints of a skeleton have the name. The one that is reached by the same names from the root is driven.
    SeveralJoints,
    /// Several joints of a skeleton have the name, and the other skeleton has none that is reached by the same names.
    NoPath,
    /// The joint is given by a matrix there, which cannot be animated.
    Matrix,
    /// The joint has another number of morph weights there.
    Weights {
        /// Weights of the joint that the track comes from.
        from: usize,
        /// Weights of the joint of that name.
        to: usize,
    },
    /// The other skeleton has no property of the name and kind.
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
            SharingFaultKind::Unnamed => out.write_str("it has no name to be found by; nothing is driven"),
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
