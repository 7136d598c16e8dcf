//! Animations become tracks (glTF 2.0, section 3.11).

use std::collections::HashMap;

use serde_json::Value;

use super::at::At;
use super::channels::{self, Aim, AimedChannel, Morphs};
use super::curves::{Timelines, Values};
use super::defaults::default_of;
use super::document::Sampler;
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::{Property, Target, Track, is_usable};

/// The animations of a file.
pub(super) struct Animations {
    /// The tracks of each animation.
    pub tracks: Vec<Vec<Track>>,
    /// Pointers to what is neither a node's nor a mesh's, and the numbers each has.
    properties: Vec<(String, usize)>,
}

impl Animations {
    /// Reads the channels of all animations that drive something; `joints` has the joint of each node.
    pub fn read(reader: &mut Reader, joints: &[usize]) -> Result<Self, Fault> {
        let morphs = Morphs::new(reader.document);
        let mut tracks = Tracks {
            joints,
            morphs: &morphs,
            timelines: Timelines::default(),
            properties: Vec::new(),
            property_of: HashMap::new(),
        };
        let mut animations = Vec::with_capacity(reader.document.animations.len());
        for animation in 0..reader.document.animations.len() {
            let mut of_animation = Vec::new();
            for channel in channels::of_animation(animation, reader, &morphs)? {
                tracks.read(animation, &channel, reader, &mut of_animation)?;
            }
            animations.push(of_animation);
        }
        Ok(Self { tracks: animations, properties: tracks.properties })
    }

    /// Whether each joint has its translation, rotation or scale driven by any animation.
    pub fn moved_joints(&self, count: usize) -> Vec<bool> {
        let mut moved = vec![false; count];
        for track in self.tracks.iter().flatten() {
            if let Target::Translation(joint) | Target::Rotation(joint) | Target::Scale(joint) = track.target
                && let Some(moved) = moved.get_mut(joint)
            {
                *moved = true;
            }
        }
        moved
    }

    /// The properties of all animations together, with their values in the document, or by default.
    pub fn properties(&self, json: &[u8]) -> Vec<Property> {
        if self.properties.is_empty() {
            return Vec::new();
        }
        // Parsed a second time, whole: a pointer may lead anywhere.
        let document = serde_json::from_slice(json).unwrap_or(Value::Null);
        let property = |(pointer, width): &(String, usize)| {
            let given = document.pointer(pointer).and_then(numbers).filter(|rest| rest.len() == *width);
            let rest = given.unwrap_or_else(|| vec![default_of(pointer); *width]);
            Property { name: pointer.clone(), rest, rotation: false }
        };
        self.properties.iter().map(property).collect()
    }
}

/// What makes tracks of channels.
struct Tracks<'a> {
    joints: &'a [usize],
    morphs: &'a Morphs,
    timelines: Timelines,
    properties: Vec<(String, usize)>,
    property_of: HashMap<String, usize>,
}

impl Tracks<'_> {
    fn read(
        &mut self,
        animation: usize,
        channel: &AimedChannel,
        reader: &mut Reader,
        tracks: &mut Vec<Track>,
    ) -> Result<(), Fault> {
        let animation_path = At::top("animations", animation);
        let samplers = reader.document.animations.get(animation).map_or(&[][..], |animation| &animation.samplers);
        let sampler = samplers.get(channel.sampler).ok_or_else(|| {
            let path = animation_path.item("channels", channel.channel);
            Fault::index(path.field("sampler"), channel.sampler, "samplers", samplers.len())
        })?;
        let path = animation_path.item("samplers", channel.sampler);
        let joint = |node: usize| self.joints.get(node).copied().unwrap_or(node);
        for aim in &channel.aims {
            let mut component = None;
            let (target, values) = match *aim {
                Aim::Translation(node) => (Target::Translation(joint(node)), Values::Vectors),
                Aim::Rotation(node) => (Target::Rotation(joint(node)), Values::Rotations),
                Aim::Scale(node) => (Target::Scale(joint(node)), Values::Vectors),
                Aim::Weights(node) => (Target::Weights(joint(node)), Values::Weights(self.morphs.count(node))),
                Aim::Weight(node, target) => {
                    component = Some(target);
                    (Target::Weights(joint(node)), Values::Weights(1))
                }
                Aim::Pointer(ref pointer) => {
                    let (index, width) = self.property(pointer, sampler, reader, &path)?;
                    (Target::Property(index), Values::Property(width))
                }
            };
            tracks.push(Track {
                target,
                component,
                curve: self.timelines.curve(sampler, values, channel.by_pointer, reader, &path)?,
            });
        }
        Ok(())
    }

    /// The property of a pointer and its width, which the first sampler that drives it decides.
    fn property(
        &mut self,
        pointer: &str,
        sampler: &Sampler,
        reader: &mut Reader,
        path: &At,
    ) -> Result<(usize, usize), Fault> {
        let known = self.property_of.get(pointer).and_then(|&index| Some((index, self.properties.get(index)?.1)));
        if let Some(known) = known {
            return Ok(known);
        }
        let width = self.timelines.property_width(sampler, reader, path)?;
        reader.charge(&path.field("output"), width as u64, 8)?;
        let index = self.properties.len();
        self.property_of.insert(pointer.into(), index);
        self.properties.push((pointer.into(), width));
        Ok((index, width))
    }
}

/// A JSON value as numbers: a number, a truth value, or an array of them.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        other => other.as_f64().filter(|&number| is_usable(number)),
    };
    match value {
        Value::Array(values) => values.iter().map(number).collect(),
        other => number(other).map(|number| vec![number]),
    }
}
