//! The joints of a skeleton, by name.

use std::io::{self, Write};

use posse::{Joint, Skeleton};
use serde::Serialize;

#[derive(Serialize)]
pub struct JointSummary<'a> {
    name: Option<&'a str>,
    /// The parent's index among the joints; null for a root.
    parent: Option<usize>,
    /// The index of its node in the glTF file.
    node: Option<usize>,
    /// At rest, in the space of its parent; null of a joint that is given by a matrix.
    translation: Option<[f64; 3]>,
    #[serde(skip)]
    level: usize,
}

/// All joints, parents before children, of a skeleton of which each node of a file has one.
pub fn summaries<'a>(skeleton: &'a Skeleton, nodes: &[usize]) -> Vec<JointSummary<'a>> {
    let mut node_of = vec![None; skeleton.joints().len()];
    for (node, &joint) in nodes.iter().enumerate() {
        node_of[joint] = Some(node);
    }
    let places = skeleton.joints().iter().zip(node_of).zip(skeleton.depths());
    let summary = |((joint, node), level): ((&'a Joint, Option<usize>), usize)| JointSummary {
        name: joint.name.as_deref(),
        parent: joint.parent,
        node,
        translation: joint.matrix.is_none().then(|| joint.rest.translation.to_array()),
        level,
    };
    places.map(summary).collect()
}

/// The level beyond which lines begin no farther to the right.
const DEEPEST: usize = 32;

/// Prints a line for each, with the number of its joint, and of its node where that is another.
pub fn print(joints: &[JointSummary], out: &mut impl Write) -> io::Result<()> {
    for (index, JointSummary { name, parent, node, translation, level }) in joints.iter().enumerate() {
        let (indent, name) = (2 * (*level).min(DEEPEST), name.unwrap_or("unnamed"));
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
