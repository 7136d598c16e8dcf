//! The targets of animation channels (glTF 2.0, section 3.11, and `KHR_animation_pointer`).

use std::collections::HashSet;

use super::document::{Channel, GltfDocument, Mesh};
use super::reader::Reader;
use crate::import::{FileError, JsonPath};

/// The target of a channel, by indices of the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum FileTarget {
    Translation(usize),
    Rotation(usize),
    Scale(usize),
    /// All morph weights of a node.
    Weights(usize),
    /// One morph weight of a node: the node and the morph target.
    Weight(usize, usize),
    /// A JSON pointer to one or more numbers anywhere else in the document.
    Pointer(String),
}

/// A channel that drives something.
#[derive(Debug)]
pub(super) struct UsedChannel {
    /// The index of the channel in its animation.
    pub channel: usize,
    pub sampler: usize,
    /// `true` if `KHR_animation_pointer` names the target.
    pub by_pointer: bool,
    /// One target, or several for the weights of a mesh, which several nodes may show.
    pub targets: Vec<FileTarget>,
}

/// The morph targets of all nodes.
pub(super) struct Morphs {
    /// The number of morph targets of each node.
    counts: Vec<usize>,
    /// The nodes of each mesh that have no weights of their own.
    nodes_of_meshes: Vec<Vec<usize>>,
}

impl Morphs {
    pub fn new(document: &GltfDocument) -> Self {
        let mut counts = Vec::with_capacity(document.nodes.len());
        let mut nodes_of_meshes = vec![Vec::new(); document.meshes.len()];
        let target_counts: Vec<usize> = document.meshes.iter().map(Mesh::target_count).collect();
        for (index, node) in document.nodes.iter().enumerate() {
            counts.push(node.mesh.and_then(|mesh| target_counts.get(mesh).copied()).unwrap_or(0));
            let nodes = node.mesh.and_then(|mesh| nodes_of_meshes.get_mut(mesh));
            if let (Some(nodes), None) = (nodes, &node.weights) {
                nodes.push(index);
            }
        }
        Self { counts, nodes_of_meshes }
    }

    /// The number of morph targets of a node.
    pub fn count(&self, node: usize) -> usize {
        self.counts.get(node).copied().unwrap_or(0)
    }
}

/// The channels of an animation that drive something, or the errors of their targets, each with its index. A target is
/// driven by its first channel only.
pub(super) fn read(
    animation: usize,
    reader: &mut Reader,
    morphs: &Morphs,
) -> Vec<(usize, Result<UsedChannel, FileError>)> {
    let document = reader.document;
    let channels = document.animations.get(animation).map_or(&[][..], |animation| &animation.channels);
    let mut driven = DrivenTargets { targets: HashSet::with_capacity(channels.len()), ..DrivenTargets::default() };
    let mut used = Vec::with_capacity(channels.len());
    for (index, channel) in channels.iter().enumerate() {
        let animation_path = JsonPath::top("animations", animation);
        let path = animation_path.element("channels", index);
        let target_path = path.field("target");
        let (mut kept, mut ignored, mut error) = (Vec::new(), None, None);
        let targets = targets(channel, &path, reader, morphs).unwrap_or_else(|found| {
            error = Some(found);
            Vec::new()
        });
        for target in targets {
            match target {
                FileTarget::Weights(node) if morphs.count(node) == 0 => {
                    ignored = Some(format!("node {node} has no morph targets; the channel is ignored"));
                }
                FileTarget::Weight(node, weight) if weight >= morphs.count(node) => {
                    let count = morphs.count(node);
                    let reason = format!("there is no morph target {weight}, node {node} has {count}");
                    error.get_or_insert(FileError::new(&target_path, reason));
                }
                target if driven.insert(&target) => kept.push(target),
                _ => ignored = Some("an earlier channel drives the same target; this channel is ignored for it".into()),
            }
        }
        // One warning per channel, which may drive many nodes.
        if let Some(message) = ignored {
            reader.warn(target_path, message);
        }
        if let Some(error) = error {
            used.push((index, Err(error)));
        } else if !kept.is_empty() {
            let by_pointer = pointer(channel).is_some();
            used.push((index, Ok(UsedChannel { channel: index, sampler: channel.sampler, by_pointer, targets: kept })));
        }
    }
    used
}

/// The targets of earlier channels. All weights of a node and a single weight of this node exclude each other.
#[derive(Default)]
struct DrivenTargets {
    targets: HashSet<FileTarget>,
    /// The nodes of which a single weight is driven.
    single_weights: HashSet<usize>,
}

impl DrivenTargets {
    /// Adds a target. Returns `false` if it is driven already.
    fn insert(&mut self, target: &FileTarget) -> bool {
        match target {
            FileTarget::Weights(node) if self.single_weights.contains(node) => return false,
            FileTarget::Weight(node, _) if self.targets.contains(&FileTarget::Weights(*node)) => return false,
            FileTarget::Weight(node, _) => {
                self.single_weights.insert(*node);
            }
            _ => {}
        }
        self.targets.insert(target.clone())
    }
}

fn pointer<'a>(channel: &'a Channel) -> Option<&'a str> {
    Some(&channel.target.extensions.as_ref()?.pointer.as_ref()?.pointer)
}

fn targets(
    channel: &Channel,
    path: &JsonPath,
    reader: &mut Reader,
    morphs: &Morphs,
) -> Result<Vec<FileTarget>, FileError> {
    if let Some(pointer) = pointer(channel) {
        let target = path.field("target");
        let extension = target.field("extensions");
        return pointer_targets(pointer, &extension.field("KHR_animation_pointer").field("pointer"), reader, morphs);
    }
    // A channel without a node belongs to an extension and is to be ignored.
    let target = &channel.target;
    let Some(node) = target.node else {
        reader.warn(path.field("target"), "it has no node; the channel is ignored");
        return Ok(Vec::new());
    };
    let count = reader.document.nodes.len();
    if node >= count {
        return Err(FileError::index(path.field("target").field("node"), node, "nodes", count));
    }
    let target = match target.path.as_deref() {
        Some("translation") => FileTarget::Translation(node),
        Some("rotation") => FileTarget::Rotation(node),
        Some("scale") => FileTarget::Scale(node),
        Some("weights") => FileTarget::Weights(node),
        other => {
            let message = format!("{:?} is not a known path; the channel is ignored", other.unwrap_or_default());
            reader.warn(path.field("target").field("path"), message);
            return Ok(Vec::new());
        }
    };
    Ok(vec![target])
}

fn pointer_targets(
    pointer: &str,
    path: &JsonPath,
    reader: &mut Reader,
    morphs: &Morphs,
) -> Result<Vec<FileTarget>, FileError> {
    if !pointer.starts_with('/') {
        return Err(FileError::new(
            path,
            format!("{pointer:?} is not a JSON pointer, which has to begin with a slash"),
        ));
    }
    let tokens: Vec<&str> = pointer.split('/').skip(1).take(5).collect();
    let node_count = reader.document.nodes.len();
    let node = |token: &str| -> Result<usize, FileError> {
        let index = number(token, path)?;
        if index < node_count { Ok(index) } else { Err(FileError::index(path, index, "nodes", node_count)) }
    };
    Ok(match tokens.as_slice() {
        ["nodes", index, "translation"] => vec![FileTarget::Translation(node(index)?)],
        ["nodes", index, "rotation"] => vec![FileTarget::Rotation(node(index)?)],
        ["nodes", index, "scale"] => vec![FileTarget::Scale(node(index)?)],
        ["nodes", index, "weights"] => vec![FileTarget::Weights(node(index)?)],
        ["nodes", index, "weights", target] => vec![FileTarget::Weight(node(index)?, number(target, path)?)],
        ["meshes", index, "weights", rest @ ..] if rest.len() < 2 => {
            let mesh = number(index, path)?;
            let nodes = morphs.nodes_of_meshes.get(mesh);
            let nodes = nodes.ok_or_else(|| FileError::index(path, mesh, "meshes", morphs.nodes_of_meshes.len()))?;
            if nodes.is_empty() {
                reader.warn(path, format!("no node takes its weights from mesh {mesh}; the channel is ignored"));
            }
            reader.charge(path, nodes.len() as u64, size_of::<FileTarget>() as u64)?;
            match rest.first().map(|target| number(target, path)).transpose()? {
                Some(target) => nodes.iter().map(|&node| FileTarget::Weight(node, target)).collect(),
                None => nodes.iter().map(|&node| FileTarget::Weights(node)).collect(),
            }
        }
        _ => vec![FileTarget::Pointer(pointer.into())],
    })
}

fn number(token: &str, path: &JsonPath) -> Result<usize, FileError> {
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    token.parse().ok().filter(|_| digits).ok_or_else(|| FileError::new(path, format!("{token:?} is not an index")))
}
