//! What became of a clip of named targets on a skeleton.

use std::fmt;

use crate::model::{ClipId, Target, TargetPath};

/// Which tracks of a clip get a property of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Slots {
    /// Those of nodes that the skeleton has, unless they move a joint.
    #[default]
    Bound,
    /// All, those that move a joint and those that find no node, too: for whoever wants to see each curve's value.
    All,
}

/// A clip of a skeleton, and what became of each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The clip that was added.
    pub clip: ClipId,
    /// What each track drives, in the unbound clip's order.
    pub tracks: Vec<BoundTrack>,
    /// What did not bind, or not as one might think.
    pub faults: Vec<BindingFault>,
}

/// What a track drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoundTrack {
    /// The part of a joint that it moves.
    pub joint: Option<Target>,
    /// The property of the skeleton that has its value.
    pub property: Option<usize>,
}

/// Something to know about the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingFault {
    /// Index of the track in the unbound clip.
    pub track: usize,
    /// Its target.
    pub target: TargetPath,
    /// What is to be known.
    pub kind: FaultKind,
}

/// What there is to know about the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// No node has the path: nothing is driven.
    NoNode {
        /// The first name that was not found.
        name: String,
    },
    /// Several nodes have the path, of which the first is driven.
    Ambiguous {
        /// The name that several children of a node have.
        name: String,
    },
    /// A later track drives the same, and wins.
    Twice {
        /// Index of the later track.
        by: usize,
    },
    /// The node is given by a matrix, which cannot be animated.
    Matrix,
    /// The value is not one that a joint can take: it is a property only.
    Value,
    /// There are no keys: nothing is driven.
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
            FaultKind::Twice { by } => write!(out, "{target}: track {by} drives the same, and wins"),
            FaultKind::Matrix => write!(out, "{target}: the node is given by a matrix, which cannot be animated"),
            FaultKind::Value => write!(out, "{target}: no value that moves a node; it is a property only"),
            FaultKind::Empty => write!(out, "{target}: it has no keys; nothing is driven"),
        }
    }
}
