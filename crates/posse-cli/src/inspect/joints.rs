//! The list of the joints of a skeleton.

use std::io::{self, Write};

use posse::{Joint, Skeleton};
use serde::Serialize;

/// A joint.
#[derive(Serialize)]
pub struct JointSummary<'a> {
    name: Option<&'a str>,
    /// The index of the parent; null for a root.
    parent: Option<usize>,
    /// The index of the node in the glTF file.
    node: Option<usize>,
    /// The rest translation relative to the parent; null for a joint with a matrix.
    translation: Option<[f64; 3]>,
    /// The number of ancestors.
    #[serde(skip)]
    level: usize,
}

/// All joints of a skeleton, parents before children. `nodes` has the joint of each node of the file.
pub fn summaries<'a>(skeleton: &'a Skeleton, nodes: &[usize]) -> Vec<JointSummary<'a>> {
    let mut node_of = vec![None; skeleton.joints().len()];
    for (node, &joint) in nodes.iter().enumerate() {
        node_of[joint] = Some(node);
    }
    let joints = skeleton.joints().iter().zip(node_of).zip(skeleton.depths());
    let summary = |((joint, node), level): ((&'a Joint, Option<usize>), usize)| JointSummary {
        name: joint.name.as_deref(),
        parent: joint.parent,
        node,
        translation: joint.matrix.is_none().then(|| joint.rest.translation.to_array()),
        level,
    };
    joints.map(summary).collect()
}

/// The largest level that indents a line further.
const MAX_INDENT: usize = 32;

/// Prints a line per joint, with its index, and the index of its node if they differ.
pub fn print(joints: &[JointSummary], out: &mut impl Write) -> io::Result<()> {
    for (index, JointSummary { name, parent, node, translation, level }) in joints.iter().enumerate() {
        let (indent, name) = (2 * (*level).min(MAX_INDENT), name.unwrap_or("unnamed"));
        write!(out, "  joint {index}: {:indent$}{name}", "")?;
        if let Some(parent) = parent {
            write!(out, ", below {parent}")?;
        }
        if let Some(node) = node.filter(|&node| node != index) {
            write!(out, ", node {node}")?;
        }
        match translation {
            Some([x, y, z]) => writeln!(out, ", at {} {} {}", *x as f32, *y as f32, *z as f32)?,
            None => writeln!(out, ", given by a matrix")?,
        }
    }
    Ok(())
}
