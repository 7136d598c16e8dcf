//! Poses as JSON: samples of a clip block by block, and the form of a pose.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::ops::Range;

use posse::binding::{BoundTrack, UnboundCurves, UnboundTrack, ValueKind, color_bytes};
use posse::curves::{Target, Track};
use posse::playback::Phase;
use posse::{Clip, Error, Evaluator, Outputs, Pose, Skeleton, Transform};
use serde::Serialize;

use crate::eval::numbers::{Precision, PrintedNumber, columns};
use crate::evaluation::{ClipEvaluation, Evaluation};
use crate::output::Output;
use crate::progress::Progress;
use crate::source::{NamedClip, Source, target_path, target_property};

/// The fields before the samples.
#[derive(Serialize)]
struct Head<'a> {
    asset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<&'a str>,
    animation: Option<usize>,
    name: Option<&'a str>,
    duration: f64,
    engine: &'static str,
    adapter: String,
}

/// A sample with a single instance.
#[derive(Serialize)]
struct TimeSample<'a> {
    time: f64,
    #[serde(flatten)]
    instance: Instance<'a>,
}

/// Evaluates the poses, and writes one JSON object.
pub fn write(
    source: &Source,
    evaluation: &ClipEvaluation,
    outputs: Outputs,
    engine: &mut dyn Evaluator,
    mut output: Output,
) -> Result<(), Error> {
    let clip = evaluation.clip.map(|clip| source.library.clip(clip));
    let head = Head {
        asset: &source.file,
        rig: source.rig.as_deref(),
        animation: evaluation.clip.and_then(|clip| source.clips.iter().position(|&other| other == clip)),
        name: clip.and_then(|clip| clip.name.as_deref()),
        duration: clip.map_or(0.0, |clip| clip.duration()),
        engine: engine.engine(),
        adapter: engine.adapter(),
    };
    let (skeleton, precision) = (source.library.skeleton(evaluation.skeleton), Precision::of_engine(head.engine));
    let shape = PoseShape::new(skeleton, &source.joints, clip.into_iter(), outputs, precision);
    let shape = match &source.named {
        Some(named) => shape.with_targets(named),
        None => shape,
    };
    let head = serde_json::to_string(&head).map_err(|error| Error::Usage(error.to_string()))?;
    output.write(|out| write!(out, "{},\n\"samples\": [", head.trim_end_matches('}')))?;
    let progress = Progress::new(evaluation.poses(), "poses");
    let (single, last) = (evaluation.instances == 1, evaluation.instances - 1);
    evaluation.each_pose(&source.library, engine, outputs, &progress, &mut |number, pose| {
        let (sample, instance) = (number / evaluation.instances, number % evaluation.instances);
        let (time, separator) = (evaluation.times[sample], if sample == 0 { "\n" } else { ",\n" });
        let value = shape.instance(evaluation.phase_of(number), pose)?;
        if single {
            output.write(|out| out.write_all(separator.as_bytes()))?;
            return output.write(|out| serde_json::to_writer(out, &TimeSample { time, instance: value }));
        }
        match instance {
            0 => output.write(|out| writeln!(out, "{separator}{{\"time\":{},\"instances\":[", Seconds(time)))?,
            _ => output.write(|out| out.write_all(b",\n"))?,
        }
        output.write(|out| serde_json::to_writer(out, &value))?;
        output.write(|out| out.write_all(if instance == last { b"]}" } else { b"" }))
    })?;
    output.write(|out| out.write_all(b"\n]}\n"))?;
    output.finish()
}

/// Seconds in the number format of JSON.
pub struct Seconds(pub f64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // `Debug` writes exponents for very large and very small numbers, in the format of JSON. `Display` writes all
        // digits.
        write!(out, "{:?}", self.0)
    }
}

/// One instance. Outputs that are not wanted are left out.
#[derive(Serialize)]
pub struct Instance<'a> {
    #[serde(flatten)]
    phase: Option<PlayedPhase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<NodeSample<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skins: Option<Vec<SkinSample>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointers: Option<BTreeMap<&'a str, Vec<PrintedNumber>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<Vec<TargetValue<'a>>>,
}

/// The phase of a clip that plays.
#[derive(Serialize)]
struct PlayedPhase {
    clip_time: PrintedNumber,
    direction: i32,
    iterations: PrintedNumber,
    stopped: bool,
}

/// One node. The outer `None` leaves a field out, the inner `None` writes null.
#[derive(Serialize)]
struct NodeSample<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The index of the parent among the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<Option<[PrintedNumber; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<Option<[PrintedNumber; 4]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Option<[PrintedNumber; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Option<Vec<PrintedNumber>>>,
    /// The names of the weights, in their order; null for one without a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_names: Option<Vec<Option<&'a str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<[PrintedNumber; 16]>,
}

#[derive(Serialize)]
struct SkinSample {
    joint_matrices: Vec<[PrintedNumber; 16]>,
}

/// The layout of the poses of a skeleton, and the names of its parts.
pub struct PoseShape<'a> {
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

impl<'a> PoseShape<'a> {
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

    /// Adds a matrix for the joints that no track of the clips moves.
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
        Self { targets: Some(target_readers(named, &properties)), ..self }
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
            Ok::<_, Error>(SkinSample { joint_matrices })
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

    fn node(&self, pose: &Pose, node: usize, joint: usize) -> Result<NodeSample<'_>, Error> {
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
        let of_file = &self.skeleton.joints()[joint];
        let names = || (0..of_file.morph_names.len()).map(|index| of_file.morph_name(index)).collect();
        Ok(NodeSample {
            name: of_file.name.as_deref(),
            parent: self.parents[node],
            translation: local.map(|local| local.map(translation).transpose()).transpose()?,
            rotation: local.map(|local| local.map(rotation).transpose()).transpose()?,
            scale: local.map(|local| local.map(scale).transpose()).transpose()?,
            weights: outputs.weights.then(weights).transpose()?,
            weight_names: (outputs.weights && !of_file.morph_names.is_empty()).then(names),
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

/// The position and the type of the value of a target in a pose.
pub struct TargetReader<'a> {
    path: String,
    component: Option<&'a str>,
    property: String,
    kind: ValueType,
    /// The range of its numbers among the numbers of all properties; `None` without keys.
    numbers: Option<Range<usize>>,
    /// True for each number that a curve drives.
    driven: Vec<bool>,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueType {
    Numbers,
    Color,
    Key,
}

/// A target and its value.
#[derive(Serialize)]
pub struct TargetValue<'a> {
    path: &'a str,
    component: Option<&'a str>,
    property: &'a str,
    value: Option<TargetNumbers>,
    /// The numbers of a colour; the value is its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrounded: Option<Vec<Option<PrintedNumber>>>,
}

/// A value. Numbers that no curve drives are null.
#[derive(Serialize)]
#[serde(untagged)]
enum TargetNumbers {
    Numbers(Vec<Option<PrintedNumber>>),
    Bytes(Vec<Option<u8>>),
    Key([u64; 1]),
}

/// The readers of the targets of a clip. `properties` has the range of the numbers of each property.
fn target_readers<'a>(named: &'a NamedClip, properties: &[Range<usize>]) -> Vec<TargetReader<'a>> {
    let reader = |(track, bound): (&'a UnboundTrack, &BoundTrack)| {
        let target = &track.target;
        let numbers = bound.property.and_then(|property| properties.get(property)).cloned();
        let width = numbers.as_ref().map_or(0, Range::len);
        TargetReader {
            path: target_path(target),
            component: target.component.as_deref(),
            property: target_property(target),
            kind: match track.kind {
                ValueKind::Color if width == 4 => ValueType::Color,
                ValueKind::Held => ValueType::Key,
                _ => ValueType::Numbers,
            },
            numbers,
            driven: match &track.curves {
                UnboundCurves::Channels(channels) => channels.iter().map(Option::is_some).collect(),
                UnboundCurves::Empty | UnboundCurves::Whole(_) => vec![true; width],
            },
        }
    };
    named.clip.tracks.iter().zip(&named.tracks).map(reader).collect()
}

impl TargetReader<'_> {
    /// The target with its value in a pose of these properties.
    pub fn value(&self, properties: &[f64], precision: Precision) -> Result<TargetValue<'_>, Error> {
        let mut target = TargetValue {
            path: &self.path,
            component: self.component,
            property: &self.property,
            value: None,
            unrounded: None,
        };
        let Some(numbers) = self.numbers.clone().and_then(|numbers| properties.get(numbers)) else {
            return Ok(target);
        };
        let name = || format!("{}:{}", self.path, self.property);
        let is_driven = |index: usize| self.driven.get(index).is_some_and(|&driven| driven);
        let list = precision.list(numbers, name)?;
        let list = list.into_iter().enumerate().map(|(index, number)| is_driven(index).then_some(number)).collect();
        target.value = Some(match (self.kind, numbers) {
            (ValueType::Color, &[r, g, b, a]) => {
                target.unrounded = Some(list);
                let bytes = color_bytes([r, g, b, a]).into_iter().enumerate();
                TargetNumbers::Bytes(bytes.map(|(index, byte)| is_driven(index).then_some(byte)).collect())
            }
            (ValueType::Key, &[key]) => TargetNumbers::Key([key.round() as u64]),
            _ => TargetNumbers::Numbers(list),
        });
        Ok(target)
    }
}
