//! A pose as JSON has it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use posse::Phase;
use posse::{Clip, Error, Outputs, Pose, Skeleton, Target, Track, Transform};
use serde::Serialize;

use crate::cli::eval::numbers::{Number, Precision, columns};
use crate::cli::eval::targets::{self, Slot, TargetValue};
use crate::cli::source::NamedClip;

/// One instance. What was not asked for is left out.
#[derive(Serialize)]
pub struct Instance<'a> {
    #[serde(flatten)]
    played: Option<Played>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<Node<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skins: Option<Vec<Skin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointers: Option<BTreeMap<&'a str, Vec<Number>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<Vec<TargetValue<'a>>>,
}

/// Where the clip is that plays.
#[derive(Serialize)]
struct Played {
    clip_time: Number,
    direction: i32,
    iterations: Number,
    stopped: bool,
}

/// One node; the inner `None`s are written as null.
#[derive(Serialize)]
struct Node<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The parent's index among the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<Option<[Number; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<Option<[Number; 4]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Option<[Number; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Option<Vec<Number>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<[Number; 16]>,
}

#[derive(Serialize)]
struct Skin {
    joint_matrices: Vec<[Number; 16]>,
}

/// Where things are in a pose, and what a file calls them.
pub struct Shape<'a> {
    skeleton: &'a Skeleton,
    joints: &'a [usize],
    /// For each node the index of its parent.
    parents: Vec<Option<usize>>,
    outputs: Outputs,
    precision: Precision,
    /// Whether each joint has a matrix in place of translation, rotation and scale.
    matrices: Vec<bool>,
    weights: Vec<Range<usize>>,
    pointers: Vec<(&'a str, Range<usize>)>,
    /// Targets that have names, which take the place of pointers.
    targets: Option<Vec<Slot<'a>>>,
}

impl<'a> Shape<'a> {
    /// The shape of a skeleton's poses: its joints by node, and the properties that some clips drive.
    pub fn new(
        skeleton: &'a Skeleton,
        joints: &'a [usize],
        clips: impl Iterator<Item = &'a Clip>,
        outputs: Outputs,
        precision: Precision,
    ) -> Self {
        let weights = ranges(skeleton.joints().iter().map(|joint| joint.weights.len()));
        let properties = ranges(skeleton.properties().iter().map(|property| property.rest.len()));
        let mut pointers = Vec::new();
        for track in clips.flat_map(|clip| &clip.tracks) {
            if let Target::Property(index) = track.target {
                pointers.push((skeleton.properties()[index].name.as_str(), properties[index].clone()));
            }
        }
        let matrices = skeleton.joints().iter().map(|joint| joint.matrix.is_some()).collect();
        let node_of: HashMap<usize, usize> = joints.iter().enumerate().map(|(node, &joint)| (joint, node)).collect();
        let parent = |&joint: &usize| node_of.get(&skeleton.joints()[joint].parent?).copied();
        let parents = joints.iter().map(parent).collect();
        Self { skeleton, joints, parents, outputs, precision, matrices, weights, pointers, targets: None }
    }

    /// The same, with a matrix also for those of some joints that none of some clips move.
    pub fn with_matrices(mut self, joints: &[usize], clips: impl Iterator<Item = &'a Clip>) -> Self {
        let moved = |track: &Track| match track.target {
            Target::Translation(joint) | Target::Rotation(joint) | Target::Scale(joint) => Some(joint),
            _ => None,
        };
        let moved: HashSet<usize> = clips.flat_map(|clip| &clip.tracks).filter_map(moved).collect();
        joints.iter().for_each(|&joint| self.matrices[joint] |= !moved.contains(&joint));
        self
    }

    /// The same, with what a clip drives by name in place of pointers.
    pub fn with_targets(self, named: &'a NamedClip) -> Self {
        let properties = ranges(self.skeleton.properties().iter().map(|property| property.rest.len()));
        Self { targets: Some(targets::slots(named, &properties)), ..self }
    }

    /// A pose, and where the clip is in it, if it plays.
    pub fn instance(&self, played: Option<Phase>, pose: &Pose) -> Result<Instance<'_>, Error> {
        let outputs = self.outputs;
        let nodes = outputs.local || outputs.model || outputs.weights;
        let node = |(node, &joint): (usize, &usize)| self.node(pose, node, joint);
        let nodes = nodes.then(|| self.joints.iter().enumerate().map(node).collect::<Result<_, _>>());
        let skin = |(index, matrices): (usize, &Vec<_>)| {
            let matrix = |matrix| self.precision.numbers(columns(matrix), || format!("joint matrices of skin {index}"));
            let joint_matrices = matrices.iter().map(matrix).collect::<Result<_, _>>()?;
            Ok::<_, Error>(Skin { joint_matrices })
        };
        let skins = outputs.skin.then(|| pose.skins.iter().enumerate().map(skin).collect::<Result<_, _>>());
        let pointer = |(name, numbers): &(&'a str, Range<usize>)| {
            let numbers = self.precision.list(&pose.properties[numbers.clone()], || (*name).into())?;
            Ok::<_, Error>((*name, numbers))
        };
        let pointers = (outputs.properties && self.targets.is_none())
            .then(|| self.pointers.iter().map(pointer).collect::<Result<_, _>>());
        let targets = self.targets.as_ref().filter(|_| outputs.properties);
        let targets = targets.map(|slots| {
            slots.iter().map(|slot| slot.value(&pose.properties, self.precision)).collect::<Result<_, _>>()
        });
        Ok(Instance {
            played: played.map(Played::new).transpose()?,
            nodes: nodes.transpose()?,
            skins: skins.transpose()?,
            pointers: pointers.transpose()?,
            targets: targets.transpose()?,
        })
    }

    fn node(&self, pose: &Pose, node: usize, joint: usize) -> Result<Node<'_>, Error> {
        let (outputs, precision) = (self.outputs, self.precision);
        let place = |what: &'static str| move || format!("{what} of node {node}");
        // The outer `Option` says whether it is asked for, the inner one whether the node has it.
        let local = outputs.local.then(|| (!self.matrices[joint]).then(|| pose.local[joint]));
        let translation = |local: Transform| precision.numbers(local.translation.to_array(), place("translation"));
        let rotation = |local: Transform| precision.numbers(local.rotation.to_array(), place("rotation"));
        let scale = |local: Transform| precision.numbers(local.scale.to_array(), place("scale"));
        let numbers = self.weights[joint].clone();
        let weights = || {
            let list = || precision.list(&pose.weights[numbers.clone()], place("weights"));
            (!numbers.is_empty()).then(list).transpose()
        };
        let world = || precision.numbers(columns(&pose.model[joint]), place("world"));
        Ok(Node {
            name: self.skeleton.joints()[joint].name.as_deref(),
            parent: self.parents[node],
            translation: local.map(|local| local.map(translation).transpose()).transpose()?,
            rotation: local.map(|local| local.map(rotation).transpose()).transpose()?,
            scale: local.map(|local| local.map(scale).transpose()).transpose()?,
            weights: outputs.weights.then(weights).transpose()?,
            world: outputs.model.then(world).transpose()?,
        })
    }
}

impl Played {
    fn new(phase: Phase) -> Result<Self, Error> {
        let Phase { time, direction, iterations, stopped } = phase;
        let number = |number, what: &'static str| Precision::Double.number(number, || what.into());
        Ok(Self {
            clip_time: number(time, "clip time")?,
            direction,
            iterations: number(iterations, "iterations")?,
            stopped,
        })
    }
}

/// Ranges of these lengths, one after the other.
pub fn ranges(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut next = 0;
    let range = |length| {
        let first = next;
        next += length;
        first..next
    };
    lengths.map(range).collect()
}
