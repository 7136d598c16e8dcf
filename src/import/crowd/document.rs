//! The JSON of a crowd file, as the file has it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::import::crowd::goal_entries::GoalEntry;
use crate::import::crowd::motion_entries::{
    BlendSpaceEntry, DriverEntry, Named, NumberOr, Object, ParameterEntry, ParameterName, some,
};
use crate::import::{Fault, json};
use crate::model::is_weight;
use crate::model::{FadeShape, RootRotation, WrapMode};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub files: Vec<String>,
    #[serde(default)]
    pub masks: BTreeMap<String, MaskEntry>,
    pub instances: Vec<Object<GroupEntry>>,
    #[serde(default)]
    pub roots: Vec<Object<RootEntry>>,
    #[serde(default)]
    pub blend_spaces: Named<Object<BlendSpaceEntry>>,
    #[serde(default)]
    pub markers: Vec<Object<MarkersEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootEntry {
    #[serde(default)]
    pub file: usize,
    pub clip: ClipName,
    pub joint: String,
    #[serde(default, deserialize_with = "axes")]
    pub translation: [bool; 3],
    #[serde(default)]
    pub rotation: RotationEntry,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RotationEntry {
    Yaw,
    Full,
    #[default]
    None,
}

impl From<RotationEntry> for RootRotation {
    fn from(entry: RotationEntry) -> Self {
        match entry {
            RotationEntry::Yaw => Self::Yaw,
            RotationEntry::Full => Self::Full,
            RotationEntry::None => Self::None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaskEntry {
    pub joints: BTreeMap<String, f64>,
    #[serde(default)]
    pub descendants: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    #[serde(default)]
    pub file: usize,
    #[serde(default = "one_instance")]
    pub count: u64,
    #[serde(default)]
    pub spread: Spread,
    #[serde(default)]
    pub parameters: Named<ParameterEntry>,
    #[serde(default)]
    pub layers: Vec<Object<LayerEntry>>,
    #[serde(default, deserialize_with = "some")]
    pub transition: Option<Object<TransitionEntry>>,
    #[serde(default)]
    pub ik: Vec<Object<GoalEntry>>,
}

/// The differences between the instances of a group, scattered from the first to the second number of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Spread {
    /// Seconds added to the starts.
    pub start: [f64; 2],
    /// Factors of the rates.
    pub rate: [f64; 2],
    pub seed: u32,
}

impl Default for Spread {
    fn default() -> Self {
        Self { start: [0.0; 2], rate: [1.0; 2], seed: 0 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerEntry {
    pub clip: ClipName,
    #[serde(default, deserialize_with = "some")]
    pub start: Option<f64>,
    #[serde(default, deserialize_with = "some")]
    pub rate: Option<f64>,
    #[serde(default, deserialize_with = "some")]
    pub time: Option<Object<ParameterName>>,
    #[serde(default, deserialize_with = "some")]
    pub sync: Option<usize>,
    #[serde(default, deserialize_with = "wrap_mode")]
    pub wrap: Option<WrapMode>,
    #[serde(default)]
    pub weight: NumberOr<DriverEntry>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub reference: Reference,
    pub mask: Option<String>,
    pub fade_in: Option<FadeEntry>,
    pub fade_out: Option<FadeEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name or index of a clip")]
pub(super) enum ClipName {
    Index(usize),
    Name(String),
}

impl fmt::Display for ClipName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(out, "{index}"),
            Self::Name(name) => write!(out, "{name:?}"),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Blend,
    Override,
    Additive,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reference {
    #[default]
    First,
    Rest,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FadeEntry {
    pub start: f64,
    #[serde(default)]
    pub seconds: f64,
    #[serde(default)]
    pub shape: Shape,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    #[default]
    Linear,
    Smooth,
}

impl From<Shape> for FadeShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Linear => Self::Linear,
            Shape::Smooth => Self::Smooth,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkersEntry {
    #[serde(default)]
    pub file: usize,
    pub clip: ClipName,
    pub times: Vec<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransitionEntry {
    pub start: f64,
    pub from: Vec<Object<LayerEntry>>,
    #[serde(default)]
    pub kind: Kind,
    pub half_life: f64,
    #[serde(default, deserialize_with = "some")]
    pub seconds: Option<f64>,
    #[serde(default, deserialize_with = "some")]
    pub transition: Option<Box<Object<TransitionEntry>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    #[default]
    Inertial,
    Dead,
}

fn one_instance() -> u64 {
    1
}

fn wrap_mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WrapMode>, D::Error> {
    let name = String::deserialize(deserializer)?;
    WrapMode::from_name(&name).map(Some).ok_or_else(|| {
        let names: Vec<_> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
        D::Error::custom(format!("{name:?} is not a wrap mode; expected one of {}", names.join(", ")))
    })
}

/// Axes by their letters, or `none`.
fn axes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[bool; 3], D::Error> {
    let letters = String::deserialize(deserializer)?;
    match letters.as_str() {
        "none" => Ok([false; 3]),
        letters if !letters.is_empty() && letters.chars().all(|letter| "xyz".contains(letter)) => {
            Ok(['x', 'y', 'z'].map(|axis| letters.contains(axis)))
        }
        _ => Err(D::Error::custom(format!("{letters:?} does not consist of letters xyz, nor is it `none`"))),
    }
}

impl Document {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let text = json::without_mark(bytes);
        // The parser would accept a list in place of an object.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(Fault::new("JSON", "it is a list; a crowd file is an object with `files` and `instances`"));
        }
        json::parse(text)
    }

    /// Checks all masks, including those that no layer names.
    pub fn check_masks(&self) -> Result<(), Fault> {
        for (mask, entry) in &self.masks {
            if let Some((joint, weight)) = entry.joints.iter().find(|(_, weight)| !is_weight(**weight)) {
                let reason = format!("the weight {weight} is not a finite number of 0 or more");
                return Err(Fault::new(format_args!("masks.{mask}.joints.{joint}"), reason));
            }
        }
        Ok(())
    }
}
