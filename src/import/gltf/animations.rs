//! Animations become tracks (glTF 2.0, section 3.11).

use std::collections::HashMap;

use serde_json::Value;

use super::channels::{self, Aim, AimedChannel, Morphs};
use super::curves::{Timelines, Values};
use super::document::Sampler;
use super::fault::Fault;
use super::reader::Reader;
use crate::model::is_usable;
use crate::model::skeleton::Property;
use crate::model::track::{Target, Track};

/// All animations of a file, once it is known what each channel drives.
pub(super) struct Animations {
    /// The channels of each animation that drive something.
    channels: Vec<Vec<AimedChannel>>,
    morphs: Morphs,
    timelines: Timelines,
    /// Pointers to what is neither a node's nor a mesh's, and the numbers each has.
    properties: Vec<(String, usize)>,
    property_of: HashMap<String, usize>,
}

impl Animations {
    /// Finds out what each channel drives.
    pub fn new(reader: &mut Reader) -> Result<Self, Fault> {
        let mut animations = Self {
            channels: Vec::new(),
            morphs: Morphs::new(reader.document),
            timelines: Timelines::default(),
            properties: Vec::new(),
            property_of: HashMap::new(),
        };
        for animation in 0..reader.document.animations.len() {
            let channels = channels::of_animation(animation, reader, &animations.morphs)?;
            for channel in &channels {
                animations.find_properties(animation, channel, reader)?;
            }
            animations.channels.push(channels);
        }
        Ok(animations)
    }

    /// Whether each node has its translation, rotation or scale driven by any animation.
    pub fn moved_nodes(&self, node_count: usize) -> Vec<bool> {
        let mut moved = vec![false; node_count];
        let aims = self.channels.iter().flatten().flat_map(|channel| &channel.aims);
        for node in aims.filter_map(Aim::moved_node) {
            if let Some(moved) = moved.get_mut(node) {
                *moved = true;
            }
        }
        moved
    }

    /// The properties of all animations together, with their values in the document.
    pub fn properties(&self, json: &[u8]) -> Vec<Property> {
        if self.properties.is_empty() {
            return Vec::new();
        }
        // Parsed a second time, whole: a pointer may lead anywhere. It has been parsed before, so it can be again.
        let document = serde_json::from_slice(json).unwrap_or(Value::Null);
        let property = |(pointer, width): &(String, usize)| Property {
            name: pointer.clone(),
            rest: document
                .pointer(pointer)
                .and_then(numbers)
                .filter(|rest| rest.len() == *width)
                .unwrap_or(vec![0.0; *width]),
            rotation: false,
        };
        self.properties.iter().map(property).collect()
    }

    /// The tracks of an animation; `joints` has the joint of each node.
    pub fn tracks(&mut self, animation: usize, reader: &mut Reader, joints: &[usize]) -> Result<Vec<Track>, Fault> {
        let mut tracks = Vec::new();
        let joint = |node: usize| joints.get(node).copied().unwrap_or(node);
        for channel in self.channels.get(animation).into_iter().flatten() {
            let (sampler, path) = sampler(animation, channel, reader)?;
            for aim in &channel.aims {
                let (target, values) = match *aim {
                    Aim::Translation(node) => (Target::Translation(joint(node)), Values::Vectors),
                    Aim::Rotation(node) => (Target::Rotation(joint(node)), Values::Rotations),
                    Aim::Scale(node) => (Target::Scale(joint(node)), Values::Vectors),
                    Aim::Weights(node) => {
                        let count = self.morphs.counts.get(node).copied().unwrap_or(0);
                        (Target::Weights(joint(node)), Values::Weights(count))
                    }
                    Aim::Weight(node, target) => (Target::Weight { joint: joint(node), target }, Values::Weights(1)),
                    Aim::Pointer(ref pointer) => {
                        let index = self.property_of.get(pointer).copied().unwrap_or(usize::MAX);
                        let width = self.properties.get(index).map_or(0, |&(_, width)| width);
                        (Target::Property(index), Values::Property(width))
                    }
                };
                tracks.push(Track { target, curve: self.timelines.curve(sampler, values, reader, &path)? });
            }
        }
        Ok(tracks)
    }

    fn find_properties(&mut self, animation: usize, channel: &AimedChannel, reader: &mut Reader) -> Result<(), Fault> {
        for aim in &channel.aims {
            if let Aim::Pointer(pointer) = aim
                && !self.property_of.contains_key(pointer)
            {
                let (sampler, path) = sampler(animation, channel, reader)?;
                let width = self.timelines.property_width(sampler, reader, &path)?;
                // Once for the document's value, once for zeros instead.
                reader.charge(&format!("{path}.output"), width as u64, 16)?;
                self.property_of.insert(pointer.clone(), self.properties.len());
                self.properties.push((pointer.clone(), width));
            }
        }
        Ok(())
    }
}

fn sampler<'a>(animation: usize, channel: &AimedChannel, reader: &Reader<'a>) -> Result<(&'a Sampler, String), Fault> {
    let document = reader.document;
    let samplers = document.animations.get(animation).map_or(&[][..], |animation| &animation.samplers);
    let index = channel.sampler;
    let sampler = samplers.get(index).ok_or_else(|| {
        let path = format!("animations[{animation}].channels[{}].sampler", channel.channel);
        Fault::index(path, index, "samplers", samplers.len())
    })?;
    Ok((sampler, format!("animations[{animation}].samplers[{index}]")))
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
