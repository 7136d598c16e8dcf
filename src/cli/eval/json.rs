//! Poses as JSON, written as they come.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use posse::error::Error;
use posse::evaluator::Evaluator;
use posse::model::poses::Pose;
use posse::model::skeleton::Skeleton;
use posse::model::track::Target;
use posse::model::transform::Transform;
use posse::reference::phase::Phase;
use serde::Serialize;

use crate::cli::eval::Subject;
use crate::cli::eval::numbers::{Number, Precision, columns};
use crate::cli::eval::targets::{self, Slot, TargetValue};
use crate::cli::output::Output;
use crate::cli::progress::Progress;

/// What stands before the samples.
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

/// One instance. What was not asked for is left out.
#[derive(Serialize)]
struct Instance<'a> {
    #[serde(flatten)]
    played: Option<Played>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<Node>>,
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
struct Node {
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

/// One time of one instance.
#[derive(Serialize)]
struct Sample<'a> {
    time: f64,
    #[serde(flatten)]
    instance: Instance<'a>,
}

/// Evaluates, and writes one JSON object.
pub fn write(subject: &Subject, engine: &mut dyn Evaluator, mut output: Output) -> Result<(), Error> {
    let question = subject.question;
    let source = subject.source;
    let clip = question.clip.map(|clip| source.library.clip(clip));
    let head = Head {
        asset: &source.file,
        rig: source.named.as_ref().and_then(|named| named.rig.as_deref()),
        animation: question.clip.and_then(|clip| source.clips.iter().position(|&other| other == clip)),
        name: clip.and_then(|clip| clip.name.as_deref()),
        duration: clip.map_or(0.0, |clip| clip.duration()),
        engine: engine.engine(),
        adapter: engine.adapter(),
    };
    let shape = Shape::new(subject, Precision::of(head.engine));
    let head = serde_json::to_string(&head).map_err(|error| Error::Usage(error.to_string()))?;
    output.write(|out| write!(out, "{},\n\"samples\": [", head.trim_end_matches('}')))?;
    let progress = Progress::new(question.poses(), "poses");
    let (single, last) = (question.instances == 1, question.instances - 1);
    question.each_pose(&source.library, engine, subject.outputs, &progress, |pose, answer| {
        let (sample, instance) = (pose / question.instances, pose % question.instances);
        let (time, separator) = (question.times[sample], if sample == 0 { "\n" } else { ",\n" });
        let answer = shape.instance(pose, answer)?;
        if single {
            output.write(|out| out.write_all(separator.as_bytes()))?;
            return output.write(|out| serde_json::to_writer(out, &Sample { time, instance: answer }));
        }
        match instance {
            0 => output.write(|out| writeln!(out, "{separator}{{\"time\":{},\"instances\":[", Seconds(time)))?,
            _ => output.write(|out| out.write_all(b",\n"))?,
        }
        output.write(|out| serde_json::to_writer(out, &answer))?;
        output.write(|out| out.write_all(if instance == last { b"]}" } else { b"" }))
    })?;
    output.write(|out| out.write_all(b"\n]}\n"))?;
    output.finish()
}

/// Seconds as JSON writes them.
struct Seconds(f64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Unlike `Display` for `f64`, `Debug` keeps to a length, and its exponents are JSON's.
        write!(out, "{:?}", self.0)
    }
}

/// Where things are in a pose, and what a file calls them.
struct Shape<'a> {
    subject: &'a Subject<'a>,
    skeleton: &'a Skeleton,
    precision: Precision,
    weights: Vec<Range<usize>>,
    pointers: Vec<(&'a str, Range<usize>)>,
    /// Targets that have names, which take the place of pointers.
    targets: Option<Vec<Slot<'a>>>,
}

impl<'a> Shape<'a> {
    fn new(subject: &'a Subject<'a>, precision: Precision) -> Self {
        let source = subject.source;
        let skeleton = source.library.skeleton(subject.question.skeleton);
        let weights = ranges(skeleton.joints().iter().map(|joint| joint.weights.len()));
        let properties = ranges(skeleton.properties().iter().map(|property| property.rest.len()));
        let mut pointers = Vec::new();
        for track in subject.question.clip.iter().flat_map(|&clip| &source.library.clip(clip).tracks) {
            if let Target::Property(index) = track.target {
                pointers.push((skeleton.properties()[index].name.as_str(), properties[index].clone()));
            }
        }
        let targets = source.named.as_ref().map(|named| targets::slots(named, &properties));
        Self { subject, skeleton, precision, weights, pointers, targets }
    }

    fn instance(&self, number: usize, pose: &Pose) -> Result<Instance<'_>, Error> {
        let outputs = self.subject.outputs;
        let nodes = outputs.local || outputs.model || outputs.weights;
        let node = |(node, &joint): (usize, &usize)| self.node(pose, node, joint);
        let nodes = nodes.then(|| self.subject.source.joints.iter().enumerate().map(node).collect::<Result<_, _>>());
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
            played: self.subject.question.played(number).map(Played::new).transpose()?,
            nodes: nodes.transpose()?,
            skins: skins.transpose()?,
            pointers: pointers.transpose()?,
            targets: targets.transpose()?,
        })
    }

    fn node(&self, pose: &Pose, node: usize, joint: usize) -> Result<Node, Error> {
        let (outputs, precision) = (self.subject.outputs, self.precision);
        let place = |what: &'static str| move || format!("{what} of node {node}");
        // The outer `Option` says whether it is asked for, the inner one whether the node has it.
        let local = outputs.local.then(|| self.skeleton.joints()[joint].matrix.is_none().then(|| pose.local[joint]));
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
