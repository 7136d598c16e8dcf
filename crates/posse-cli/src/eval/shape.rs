//! The JSON form of a pose.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use posse::Phase;
use posse::{Clip, Error, Outputs, Pose, Skeleton, Target, Track, Transform};
use serde::Serialize;

use crate::eval::numbers::{Number, Precision, columns};
use crate::eval::targets::{self, TargetReader, TargetValue};
use crate::source::NamedClip;

/// One instance. Outputs that are not wanted are left out.
#[derive(Serialize)]
pub struct Instance<'a> {
    #[serde(flatten)]
    phase: Option<PlayedPhase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<Node<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skins: Option<Vec<Skin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointers: Option<BTreeMap<&'a str, Vec<Number>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<Vec<TargetValue<'a>>>,
}

/// The phase of a clip that plays.
#[derive(Serialize)]
struct PlayedPhase {
    clip_time: Number,
    direction: i32,
    iterations: Number,
    stopped: bool,
}

/// One node. The outer `None` leaves a field out, the inner `None` writes null.
#[derive(Serialize)]
struct Node<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The index of the parent among the nodes.
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

/// The layout of the poses of a skeleton, and the names of its parts.
pub struct Shape<'a> {
    skeleton: &'a Skeleton,
    joints: &'a [usize],
    /// The index of the parent of each node.
    parents: Vec<Option<usize>>,
    outputs: Outputs,
    precision: Precision,
    /// True for joints with a matrix instead of translation, rotation and scale.
    matrices: Vec<bool>,
    weights: Vec<Range<usize>>,
    pointers: Vec<(&'a str, Range<usize>)>,
    /// Named targets, which replace the pointers.
    targets: Option<Vec<TargetReader<'a>>>,
}

impl<'a> Shape<'a> {
    /// The shape of the poses of a skeleton: `joints` has the joint of each node; `clips` determine the pointers.
    pub fn new(
        skeleton: &'a Skeleton,
        joints: &'a [usize],
        clips: impl Iterator<Item = &'a Clip>,
        outputs: Outputs,
        precision: Precision,
    ) -> Self {
        let (weights, properties) = (skeleton.weight_ranges(), skeleton.property_ranges());
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

    /// Adds a matrix for those of the joints that no track of the clips moves.
    pub fn with_matrices(mut self, joints: &[usize], clips: impl Iterator<Item = &'a Clip>) -> Self {
        let moved = |track: &Track| match track.target {
            Target::Translation(joint) | Target::Rotation(joint) | Target::Scale(joint) => Some(joint),
            _ => None,
        };
        let moved: HashSet<usize> = clips.flat_map(|clip| &clip.tracks).filter_map(moved).collect();
        joints.iter().for_each(|&joint| self.matrices[joint] |= !moved.contains(&joint));
        self
    }

    /// Replaces the pointers by the named targets of a clip.
    pub fn with_targets(self, named: &'a NamedClip) -> Self {
        let properties = self.skeleton.property_ranges();
        Self { targets: Some(targets::readers(named, &properties)), ..self }
    }

    /// The JSON form of a pose. `phase` is the phase of the clip, if it plays.
    pub fn instance(&self, phase: Option<Phase>, pose: &Pose) -> Result<Instance<'_>, Error> {
        let outputs = self.outputs;
        let has_nodes = outputs.local || outputs.model || outputs.weights;
        let node = |(node, &joint): (usize, &usize)| self.node(pose, node, joint);
        let nodes = has_nodes.then(|| self.joints.iter().enumerate().map(node).collect::<Result<_, _>>());
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
        let targets = targets.map(|readers| {
            readers.iter().map(|reader| reader.value(&pose.properties, self.precision)).collect::<Result<_, _>>()
        });
        Ok(Instance {
            phase: phase.map(PlayedPhase::new).transpose()?,
            nodes: nodes.transpose()?,
            skins: skins.transpose()?,
            pointers: pointers.transpose()?,
            targets: targets.transpose()?,
        })
    }

    fn node(&self, pose: &Pose, node: usize, joint: usize) -> Result<Node<'_>, Error> {
        let (outputs, precision) = (self.outputs, self.precision);
        let name = |quantity: &'static str| move || format!("{quantity} of node {node}");
        // The outer `Option` is `None` without the output, the inner one for a node with a matrix.
        let local = outputs.local.then(|| (!self.matrices[joint]).then(|| pose.local[joint]));
        let translation = |local: Transform| precision.numbers(local.translation.to_array(), name("translation"));
        let rotation = |local: Transform| precision.numbers(local.rotation.to_array(), name("rotation"));
        let scale = |local: Transform| precision.numbers(local.scale.to_array(), name("scale"));
        let numbers = self.weights[joint].clone();
        let weights = || {
            let list = || precision.list(&pose.weights[numbers.clone()], name("weights"));
            (!numbers.is_empty()).then(list).transpose()
        };
        let world = || precision.numbers(columns(&pose.model[joint]), name("world"));
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

impl PlayedPhase {
    fn new(phase: Phase) -> Result<Self, Error> {
        let Phase { time, direction, iterations, stopped } = phase;
        let number = |number, name: &'static str| Precision::Double.number(number, || name.into());
        Ok(Self {
            clip_time: number(time, "clip time")?,
            direction,
            iterations: number(iterations, "iterations")?,
            stopped,
        })
    }
}
