//! What the channels of animations drive (glTF 2.0, section 3.11, and `KHR_animation_pointer`).

use std::collections::HashSet;

use super::at::At;
use super::document::{Channel, Document, Mesh};
use super::reader::Reader;
use crate::import::fault::Fault;

/// What a channel drives, in the file's indices.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Aim {
    Translation(usize),
    Rotation(usize),
    Scale(usize),
    /// All morph weights of a node.
    Weights(usize),
    /// One morph weight of a node.
    Weight(usize, usize),
    /// A number, or some, anywhere else in the document: a JSON pointer.
    Pointer(String),
}

/// A channel that is used: where it stands, and what it drives.
#[derive(Debug)]
pub(super) struct AimedChannel {
    pub channel: usize,
    pub sampler: usize,
    /// Whether `KHR_animation_pointer` names what it drives.
    pub by_pointer: bool,
    /// One aim, or several where a mesh's weights stand for those of its nodes.
    pub aims: Vec<Aim>,
}

/// Who has morph weights.
pub(super) struct Morphs {
    /// The number of morph targets of each node.
    counts: Vec<usize>,
    /// For each mesh, the nodes that show it without weights of their own.
    nodes_of_meshes: Vec<Vec<usize>>,
}

impl Morphs {
    pub fn new(document: &Document) -> Self {
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

/// The channels of an animation that drive something, each target once.
pub(super) fn of_animation(animation: usize, reader: &mut Reader, morphs: &Morphs) -> Result<Vec<AimedChannel>, Fault> {
    let document = reader.document;
    let channels = document.animations.get(animation).map_or(&[][..], |animation| &animation.channels);
    let mut driven = Driven { aims: HashSet::with_capacity(channels.len()), ..Driven::default() };
    let mut used = Vec::with_capacity(channels.len());
    for (index, channel) in channels.iter().enumerate() {
        let animation_path = At::top("animations", animation);
        let path = animation_path.item("channels", index);
        let place = path.field("target");
        let mut kept = Vec::new();
        let mut ignored = None;
        for aim in aims(channel, &path, reader, morphs)? {
            match aim {
                Aim::Weights(node) if morphs.count(node) == 0 => {
                    ignored = Some(format!("node {node} has no morph targets; the channel is ignored"));
                }
                Aim::Weight(node, target) if target >= morphs.count(node) => {
                    let count = morphs.count(node);
                    let reason = format!("node {node} has {count} morph targets, there is no target {target}");
                    return Err(Fault::new(place, reason));
                }
                aim if driven.insert(&aim) => kept.push(aim),
                _ => ignored = Some("an earlier channel drives the same; this one is ignored there".into()),
            }
        }
        // Once a channel, which may stand for many nodes.
        if let Some(message) = ignored {
            reader.warn(place, message);
        }
        if !kept.is_empty() {
            let by_pointer = pointer(channel).is_some();
            used.push(AimedChannel { channel: index, sampler: channel.sampler, by_pointer, aims: kept });
        }
    }
    Ok(used)
}

/// What channels have driven so far; all weights of a node exclude single ones.
#[derive(Default)]
struct Driven {
    aims: HashSet<Aim>,
    single_weights: HashSet<usize>,
}

impl Driven {
    /// Whether the aim is new.
    fn insert(&mut self, aim: &Aim) -> bool {
        match aim {
            Aim::Weights(node) if self.single_weights.contains(node) => return false,
            Aim::Weight(node, _) if self.aims.contains(&Aim::Weights(*node)) => return false,
            Aim::Weight(node, _) => {
                self.single_weights.insert(*node);
            }
            _ => {}
        }
        self.aims.insert(aim.clone())
    }
}

fn pointer<'a>(channel: &'a Channel) -> Option<&'a str> {
    Some(&channel.target.extensions.as_ref()?.pointer.as_ref()?.pointer)
}

fn aims(channel: &Channel, path: &At, reader: &mut Reader, morphs: &Morphs) -> Result<Vec<Aim>, Fault> {
    if let Some(pointer) = pointer(channel) {
        let target = path.field("target");
        let extension = target.field("extensions");
        return aims_of_pointer(pointer, &extension.field("KHR_animation_pointer").field("pointer"), reader, morphs);
    }
    // Without a node, a channel is for an extension, and to be ignored.
    let target = &channel.target;
    let Some(node) = target.node else {
        reader.warn(path.field("target"), "it has no node; the channel is ignored");
        return Ok(Vec::new());
    };
    let count = reader.document.nodes.len();
    if node >= count {
        return Err(Fault::index(path.field("target").field("node"), node, "nodes", count));
    }
    let aim = match target.path.as_deref() {
        Some("translation") => Aim::Translation(node),
        Some("rotation") => Aim::Rotation(node),
        Some("scale") => Aim::Scale(node),
        Some("weights") => Aim::Weights(node),
        other => {
            let message = format!("{:?} is not known; the channel is ignored", other.unwrap_or_default());
            reader.warn(path.field("target").field("path"), message);
            return Ok(Vec::new());
        }
    };
    Ok(vec![aim])
}

fn aims_of_pointer(pointer: &str, path: &At, reader: &mut Reader, morphs: &Morphs) -> Result<Vec<Aim>, Fault> {
    if !pointer.starts_with('/') {
        return Err(Fault::new(path, format!("{pointer:?} is not a JSON pointer, which begins with a slash")));
    }
    let tokens: Vec<&str> = pointer.split('/').skip(1).take(5).collect();
    let node_count = reader.document.nodes.len();
    let node = |token: &str| -> Result<usize, Fault> {
        let index = number(token, path)?;
        if index < node_count { Ok(index) } else { Err(Fault::index(path, index, "nodes", node_count)) }
    };
    Ok(match tokens.as_slice() {
        ["nodes", index, "translation"] => vec![Aim::Translation(node(index)?)],
        ["nodes", index, "rotation"] => vec![Aim::Rotation(node(index)?)],
        ["nodes", index, "scale"] => vec![Aim::Scale(node(index)?)],
        ["nodes", index, "weights"] => vec![Aim::Weights(node(index)?)],
        ["nodes", index, "weights", target] => vec![Aim::Weight(node(index)?, number(target, path)?)],
        ["meshes", index, "weights", rest @ ..] if rest.len() < 2 => {
            let mesh = number(index, path)?;
            let nodes = morphs.nodes_of_meshes.get(mesh);
            let nodes = nodes.ok_or_else(|| Fault::index(path, mesh, "meshes", morphs.nodes_of_meshes.len()))?;
            if nodes.is_empty() {
                reader.warn(path, format!("no node takes its weights from mesh {mesh}; the channel is ignored"));
            }
            reader.charge(path, nodes.len() as u64, size_of::<Aim>() as u64)?;
            match rest.first().map(|target| number(target, path)).transpose()? {
                Some(target) => nodes.iter().map(|&node| Aim::Weight(node, target)).collect(),
                None => nodes.iter().map(|&node| Aim::Weights(node)).collect(),
            }
        }
        _ => vec![Aim::Pointer(pointer.into())],
    })
}

fn number(token: &str, path: &At) -> Result<usize, Fault> {
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    token.parse().ok().filter(|_| digits).ok_or_else(|| Fault::new(path, format!("{token:?} is not an index")))
}
