//! Animations become tracks (glTF 2.0, section 3.11).

use std::collections::HashMap;
use std::f64::consts::FRAC_PI_4;

use serde_json::Value;

use super::channels::{self, FileTarget, Morphs, UsedChannel};
use super::curves::{Timelines, Values};
use super::document::Sampler;
use super::reader::Reader;
use crate::import::{Fault, JsonPath};
use crate::model::{Property, Target, Track, is_usable};

/// The animations of a file.
pub(super) struct Animations {
    /// The tracks of each animation.
    pub tracks: Vec<Vec<Track>>,
    properties: Vec<PointedProperty>,
}

/// A property that a pointer names and that belongs to no node or mesh.
struct PointedProperty {
    pointer: String,
    /// Numbers per value.
    width: usize,
}

impl Animations {
    /// Reads the used channels of all animations. `joints` holds the joint of each node.
    pub fn read(reader: &mut Reader, joints: &[usize]) -> Result<Self, Fault> {
        let morphs = Morphs::new(reader.document);
        let mut tracks = Tracks {
            joints,
            morphs: &morphs,
            timelines: Timelines::default(),
            properties: Vec::new(),
            by_pointer: HashMap::new(),
        };
        let mut animations = Vec::with_capacity(reader.document.animations.len());
        for animation in 0..reader.document.animations.len() {
            let mut animation_tracks = Vec::new();
            for channel in channels::read(animation, reader, &morphs)? {
                tracks.read(animation, &channel, reader, &mut animation_tracks)?;
            }
            animations.push(animation_tracks);
        }
        Ok(Self { tracks: animations, properties: tracks.properties })
    }

    /// For each joint, `true` if an animation drives its translation, rotation or scale.
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

    /// The properties of all animations, with their values in the document or their defaults.
    pub fn properties(&self, json: &[u8]) -> Vec<Property> {
        if self.properties.is_empty() {
            return Vec::new();
        }
        // The whole document is parsed once more, since a pointer may lead anywhere.
        let document = serde_json::from_slice(json).unwrap_or(Value::Null);
        let property = |property: &PointedProperty| {
            let PointedProperty { pointer, width } = property;
            let given = document.pointer(pointer).and_then(numbers).filter(|rest| rest.len() == *width);
            let rest = given.unwrap_or_else(|| vec![default_value(pointer); *width]);
            Property { name: pointer.clone(), rest, rotation: false }
        };
        self.properties.iter().map(property).collect()
    }
}

/// The state of making tracks from channels.
struct Tracks<'a> {
    /// The joint of each node.
    joints: &'a [usize],
    morphs: &'a Morphs,
    timelines: Timelines,
    properties: Vec<PointedProperty>,
    /// The index of the property of each pointer.
    by_pointer: HashMap<String, usize>,
}

impl Tracks<'_> {
    fn read(
        &mut self,
        animation: usize,
        channel: &UsedChannel,
        reader: &mut Reader,
        tracks: &mut Vec<Track>,
    ) -> Result<(), Fault> {
        let animation_path = JsonPath::top("animations", animation);
        let samplers = reader.document.animations.get(animation).map_or(&[][..], |animation| &animation.samplers);
        let sampler = samplers.get(channel.sampler).ok_or_else(|| {
            let path = animation_path.element("channels", channel.channel);
            Fault::index(path.field("sampler"), channel.sampler, "samplers", samplers.len())
        })?;
        let path = animation_path.element("samplers", channel.sampler);
        let joint = |node: usize| self.joints.get(node).copied().unwrap_or(node);
        for target in &channel.targets {
            let mut component = None;
            let (target, values) = match *target {
                FileTarget::Translation(node) => (Target::Translation(joint(node)), Values::Vectors),
                FileTarget::Rotation(node) => (Target::Rotation(joint(node)), Values::Rotations),
                FileTarget::Scale(node) => (Target::Scale(joint(node)), Values::Vectors),
                FileTarget::Weights(node) => (Target::Weights(joint(node)), Values::Weights(self.morphs.count(node))),
                FileTarget::Weight(node, target) => {
                    component = Some(target);
                    (Target::Weights(joint(node)), Values::Weights(1))
                }
                FileTarget::Pointer(ref pointer) => {
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

    /// The index and the width of the property of a pointer. The first sampler that drives it decides the width.
    fn property(
        &mut self,
        pointer: &str,
        sampler: &Sampler,
        reader: &mut Reader,
        path: &JsonPath,
    ) -> Result<(usize, usize), Fault> {
        let known = self.by_pointer.get(pointer).and_then(|&index| Some((index, self.properties.get(index)?.width)));
        if let Some(known) = known {
            return Ok(known);
        }
        let width = self.timelines.property_width(sampler, reader, path)?;
        reader.charge(&path.field("output"), width as u64, 8)?;
        let index = self.properties.len();
        self.by_pointer.insert(pointer.into(), index);
        self.properties.push(PointedProperty { pointer: pointer.into(), width });
        Ok((index, width))
    }
}

/// The numbers of a JSON value: a number, a truth value (0 or 1), or an array of these.
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

/// The default value of each number of a property, by the last name of its pointer. 0 for unknown properties and
/// infinite defaults. Source: the property tables of glTF 2.0 and of its extensions for materials, textures, lights and
/// nodes.
fn default_value(pointer: &str) -> f64 {
    match pointer.rsplit('/').next().unwrap_or_default() {
        "baseColorFactor" | "metallicFactor" | "roughnessFactor" => 1.0,
        // The scale of a texture transform or a normal texture; the strength of an occlusion texture.
        "scale" | "strength" => 1.0,
        "emissiveStrength" | "specularFactor" | "specularColorFactor" | "attenuationColor" => 1.0,
        "color" | "intensity" => 1.0,
        "visible" | "selectable" | "hoverable" => 1.0,
        "alphaCutoff" => 0.5,
        "ior" => 1.5,
        "iridescenceIor" => 1.3,
        "iridescenceThicknessMinimum" => 100.0,
        "iridescenceThicknessMaximum" => 400.0,
        "outerConeAngle" => FRAC_PI_4,
        _ => 0.0,
    }
}
