//! Animations become tracks (glTF 2.0, section 3.11).

use std::collections::HashMap;
use std::f64::consts::FRAC_PI_4;

use serde_json::Value;

use super::channels::{self, FileTarget, Morphs, UsedChannel};
use super::curves::{Timelines, Values};
use super::document::Sampler;
use super::nodes::{Moved, ZERO_ROTATION};
use super::reader::Reader;
use crate::error::Error;
use crate::import::file_error::shorten;
use crate::import::{FileError, JsonPath};
use crate::model::{Curve, Interpolation, Property, Target, Track, is_usable};

/// The animations of a file.
pub(super) struct Animations {
    /// The tracks of each animation.
    pub tracks: Vec<Vec<Track>>,
    /// The animations of which no track can be read, by index. They have no tracks.
    pub left_out: Vec<usize>,
    /// The movement of each node.
    pub moved: Vec<Moved>,
    properties: Vec<PointedProperty>,
}

/// A property that a pointer names and that belongs to no node or mesh.
struct PointedProperty {
    pointer: String,
    /// Numbers per value.
    width: usize,
}

impl Animations {
    /// Reads the used channels of all animations. `joints` holds the joint of each node. Tracks that cannot be read are
    /// left out, with a warning.
    pub fn read(reader: &mut Reader, joints: &[usize]) -> Result<Self, FileError> {
        let morphs = Morphs::new(reader.document);
        let mut tracks = Tracks {
            joints,
            morphs: &morphs,
            timelines: Timelines::default(),
            moved: vec![Moved::default(); joints.len()],
            properties: Vec::new(),
            by_pointer: HashMap::new(),
        };
        let (mut animations, mut left_out) = (Vec::with_capacity(reader.document.animations.len()), Vec::new());
        for animation in 0..reader.document.animations.len() {
            let (mut animation_tracks, mut errors) = (Vec::new(), Vec::new());
            for (index, channel) in channels::read(animation, reader, &morphs) {
                let read = channel.and_then(|channel| tracks.read(animation, &channel, reader, &mut animation_tracks));
                match read {
                    Err(error) if error.stops_file => return Err(error),
                    Err(error) => errors.push((index, error)),
                    Ok(()) => {}
                }
            }
            if leave_out(animation, errors, animation_tracks.is_empty(), reader)? {
                left_out.push(animation);
            }
            animations.push(animation_tracks);
        }
        let Tracks { moved, properties, .. } = tracks;
        Ok(Self { tracks: animations, left_out, moved, properties })
    }

    /// Moves the tracks of joints to other joints. `joint` has the new joint of a joint, and the joint of its
    /// translation.
    pub fn move_tracks(&mut self, joint: impl Fn(usize) -> [usize; 2]) {
        for track in self.tracks.iter_mut().flatten() {
            match &mut track.target {
                Target::Translation(index) => *index = joint(*index)[1],
                Target::Rotation(index)
                | Target::Scale(index)
                | Target::EulerAngles(index)
                | Target::Weights(index) => {
                    *index = joint(*index)[0];
                }
                Target::Property(_) => {}
            }
        }
    }

    /// The properties of all animations, with their values in the document or their defaults. The tracks of truth
    /// values become steps of 0 and 1.
    pub fn properties(&mut self, json: &str, reader: &mut Reader) -> Result<Vec<Property>, FileError> {
        if self.properties.is_empty() {
            return Ok(Vec::new());
        }
        // The whole document is parsed once more, since a pointer may lead anywhere.
        let document = serde_json::from_str(json).unwrap_or(Value::Null);
        let is_truth = |property: &PointedProperty| is_truth(&property.pointer, document.pointer(&property.pointer));
        let truths: Vec<bool> = self.properties.iter().map(is_truth).collect();
        for (animation, tracks) in self.tracks.iter_mut().enumerate() {
            for track in tracks {
                let Target::Property(index) = track.target else { continue };
                if truths.get(index) != Some(&true) {
                    continue;
                }
                let path = JsonPath::top("animations", animation);
                if track.curve.interpolation() != Interpolation::Step {
                    let pointer = self.properties.get(index).map_or("", |property| property.pointer.as_str());
                    reader.warn(&path, format!("{pointer} is true or false; its keys are steps, not interpolated"));
                }
                track.curve = truth_curve(&track.curve).map_err(|error| FileError::new(path, error.to_string()))?;
            }
        }
        let property = |property: &PointedProperty| {
            let PointedProperty { pointer, width } = property;
            let rotation = is_rotation(pointer, *width);
            let given = document.pointer(pointer).and_then(numbers).filter(|rest| rest.len() == *width);
            let given = given.filter(|rest| !rotation || rest.iter().any(|number| number.abs() >= ZERO_ROTATION));
            let rest = given.unwrap_or_else(|| match rotation {
                true => vec![0.0, 0.0, 0.0, 1.0],
                false => vec![default_value(pointer); *width],
            });
            Property { name: pointer.clone(), rest, rotation }
        };
        Ok(self.properties.iter().map(property).collect())
    }
}

/// Warns of the tracks of an animation that cannot be read, by their channels. Returns `true` if the animation has no
/// others, and is left out.
fn leave_out(
    animation: usize,
    errors: Vec<(usize, FileError)>,
    has_no_others: bool,
    reader: &mut Reader,
) -> Result<bool, FileError> {
    let name = reader.document.animations.get(animation).and_then(|animation| animation.name.as_deref());
    let clip = name.map_or_else(|| format!("clip {animation}"), |name| format!("clip {:?}", shorten(name)));
    let count = errors.len();
    for (channel, error) in errors {
        match (has_no_others, count) {
            (true, 1) => reader.leave_out(&clip, error)?,
            // The first error stands for the others.
            (true, _) => reader.leave_out(format_args!("{clip}, as none of its {count} tracks can be read,"), error)?,
            (false, _) => reader.leave_out(format_args!("the track of channel {channel} of {clip}"), error)?,
        }
        if has_no_others {
            break;
        }
    }
    Ok(has_no_others && count > 0)
}

/// The state of making tracks from channels.
struct Tracks<'a> {
    /// The joint of each node.
    joints: &'a [usize],
    morphs: &'a Morphs,
    timelines: Timelines,
    /// The movement of each node.
    moved: Vec<Moved>,
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
    ) -> Result<(), FileError> {
        let animation_path = JsonPath::top("animations", animation);
        let samplers = reader.document.animations.get(animation).map_or(&[][..], |animation| &animation.samplers);
        let sampler = samplers.get(channel.sampler).ok_or_else(|| {
            let path = animation_path.element("channels", channel.channel);
            FileError::index(path.field("sampler"), channel.sampler, "samplers", samplers.len())
        })?;
        let path = animation_path.element("samplers", channel.sampler);
        let joints = self.joints;
        let joint = |node: usize| joints.get(node).copied().unwrap_or(node);
        for file_target in &channel.targets {
            let mut component = None;
            let (target, values) = match *file_target {
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
                    let is_rotation = is_rotation(pointer, width);
                    let values = if is_rotation { Values::RotationProperty } else { Values::Property(width) };
                    (Target::Property(index), values)
                }
            };
            let curve = self.timelines.curve(sampler, values, channel.by_pointer, reader, &path)?;
            tracks.push(Track { target, component, curve });
            self.mark_moved(file_target, channel.by_pointer);
        }
        Ok(())
    }

    /// Notes that a track moves a node.
    fn mark_moved(&mut self, target: &FileTarget, by_pointer: bool) {
        let (node, is_translation) = match *target {
            FileTarget::Translation(node) => (node, true),
            FileTarget::Rotation(node) | FileTarget::Scale(node) => (node, false),
            FileTarget::Weights(_) | FileTarget::Weight(..) | FileTarget::Pointer(_) => return,
        };
        if let Some(moved) = self.moved.get_mut(node) {
            moved.translation |= is_translation;
            moved.others |= !is_translation;
            moved.by_path |= !by_pointer;
        }
    }

    /// The index and the width of the property of a pointer. The first sampler that drives it decides the width.
    fn property(
        &mut self,
        pointer: &str,
        sampler: &Sampler,
        reader: &mut Reader,
        path: &JsonPath,
    ) -> Result<(usize, usize), FileError> {
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

/// The last name of a pointer, without the index of a number after it.
fn property_name(pointer: &str) -> &str {
    let mut names = pointer.rsplit('/').skip_while(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    names.next().unwrap_or_default()
}

/// Returns `true` for a property that is true or false: by its value in the document, or by its name in glTF 2.0 or one
/// of its extensions for the visibility, selection and hovering of nodes.
fn is_truth(pointer: &str, given: Option<&Value>) -> bool {
    given.is_some_and(Value::is_boolean)
        || matches!(property_name(pointer), "visible" | "selectable" | "hoverable" | "doubleSided")
}

/// Returns `true` for a property that is a quaternion, as the rotation of a light of `EXT_lights_image_based`. The
/// rotation of a texture transform is an angle.
fn is_rotation(pointer: &str, width: usize) -> bool {
    width == 4 && pointer.ends_with("/rotation")
}

/// A curve of truth values (`KHR_animation_pointer`): 0 for 0 and 1 for all else, held from key to key.
fn truth_curve(curve: &Curve) -> Result<Curve, Error> {
    let keys = 0..curve.timeline().len();
    let truth = |number: &f64| f64::from(u8::from(*number != 0.0));
    let values = keys.flat_map(|key| curve.value(key).iter().map(truth)).collect();
    curve.with_values(Interpolation::Step, curve.width(), values)
}

/// The default value of each number of a property, by the last name of its pointer. 0 for unknown properties and
/// infinite defaults. Source: the property tables of glTF 2.0 and of its extensions for materials, textures, lights and
/// nodes, in <https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0>.
fn default_value(pointer: &str) -> f64 {
    match property_name(pointer) {
        "baseColorFactor" | "metallicFactor" | "roughnessFactor" => 1.0,
        // The scale of a texture transform or a normal texture; the strength of an occlusion texture.
        "scale" | "strength" => 1.0,
        "emissiveStrength" | "specularFactor" | "specularColorFactor" | "attenuationColor" => 1.0,
        "diffuseTransmissionColorFactor" => 1.0,
        // KHR_materials_pbrSpecularGlossiness.
        "diffuseFactor" | "glossinessFactor" => 1.0,
        // ADOBE_materials_clearcoat_specular and ADOBE_materials_clearcoat_tint.
        "clearcoatSpecularFactor" | "clearcoatTintFactor" => 1.0,
        "clearcoatIor" => 1.5,
        // Lights of KHR_lights_punctual, EXT_lights_image_based and EXT_lights_ies; sources of KHR_audio_emitter.
        "color" | "intensity" | "multiplier" | "gain" => 1.0,
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
