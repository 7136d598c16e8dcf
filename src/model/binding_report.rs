//! The result of binding a clip with named targets to a skeleton.

use std::fmt;

use crate::model::{ClipId, Target, TargetPath};

/// The selection of the tracks that get a property of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PropertyTracks {
    /// Tracks of nodes that the skeleton has, unless they move a joint.
    #[default]
    Bound,
    /// All tracks, including those that move a joint and those without a node. Each curve's value is then in the results.
    All,
}

/// A bound clip, and the result for each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The clip that was added.
    pub clip: ClipId,
    /// The targets of each track, in the order of the unbound clip.
    pub tracks: Vec<BoundTrack>,
    /// Tracks that did not bind, or that bound in an unexpected way.
    pub faults: Vec<BindingFault>,
}

/// The targets of a bound track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoundTrack {
    /// The part of a joint that the track moves.
    pub joint: Option<Target>,
    /// The property of the skeleton that holds its value.
    pub property: Option<usize>,
}

/// A remark on the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingFault {
    /// Index of the track in the unbound clip.
    pub track: usize,
    /// The target of the track.
    pub target: TargetPath,
    /// The kind of the remark.
    pub kind: FaultKind,
}

/// The kinds of remarks on the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// No node has the path. The track drives nothing.
    NoNode {
        /// The first name that was not found.
        name: String,
    },
    /// Several nodes have the path. The track drives the first.
    Ambiguous {
        /// The name that several children of one node have.
        name: String,
    },
    /// A later track drives the same target and replaces this one.
    Twice {
        /// Index of the later track.
        by: usize,
    },
    /// The node is given by a matrix, which cannot be animated.
    Matrix,
    /// The value has a kind that no joint takes. It becomes a property only.
    Value,
    /// The track has no keys and drives nothing.
    Empty,
}

impl fmt::Display for BindingFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = &self.target;
        match &self.kind {
            FaultKind::NoNode { name } => write!(out, "{target}: there is no node {name:?}; nothing is driven"),
            FaultKind::Ambiguous { name } => {
                write!(out, "{target}: several nodes are called {name:?}; the first is driven")
            }
            FaultKind::Twice { by } => {
                write!(out, "{target}: track {by} drives the same target and replaces this track")
            }
            FaultKind::Matrix => write!(out, "{target}: the node is given by a matrix, which cannot be animated"),
            FaultKind::Value => {
                write!(out, "{target}: a value of this kind cannot move a node; it becomes a property only")
            }
            FaultKind::Empty => write!(out, "{target}: it has no keys; nothing is driven"),
        }
    }
}
