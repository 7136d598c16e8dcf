//! The JSON of a crowd file, as the file has it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::import::{FileError, json};
use crate::model::{FadeShape, RootRotation, WrapMode, is_weight};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrowdDocument {
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
    #[serde(default = "one")]
    pub scale: f64,
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
    #[serde(default, deserialize_with = "some")]
    pub range: Option<[f64; 2]>,
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

/// A clip by its index or its name.
#[derive(Debug)]
pub(super) enum ClipName {
    Index(usize),
    Name(String),
}

impl<'de> Deserialize<'de> for ClipName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ClipNameVisitor)
    }
}

struct ClipNameVisitor;

impl Visitor<'_> for ClipNameVisitor {
    type Value = ClipName;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name or index of a clip")
    }

    fn visit_u64<E>(self, index: u64) -> Result<Self::Value, E> {
        Ok(ClipName::Index(usize::try_from(index).unwrap_or(usize::MAX)))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(ClipName::Name(name.to_owned()))
    }
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
    pub kind: DecayKind,
    pub half_life: f64,
    #[serde(default, deserialize_with = "some")]
    pub seconds: Option<f64>,
    #[serde(default, deserialize_with = "some")]
    pub transition: Option<Box<Object<TransitionEntry>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DecayKind {
    #[default]
    Inertial,
    Dead,
}

fn one_instance() -> u64 {
    1
}

fn one() -> f64 {
    1.0
}

fn wrap_mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WrapMode>, D::Error> {
    deserializer.deserialize_str(Word(|name| {
        WrapMode::from_name(name).map(Some).ok_or_else(|| {
            let names: Vec<_> = WrapMode::ALL.iter().map(|mode| mode.name()).collect();
            format!("{name:?} is not a wrap mode; expected one of {}", names.join(", "))
        })
    }))
}

/// Axes by their letters, or `none`.
fn axes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[bool; 3], D::Error> {
    deserializer.deserialize_str(Word(|letters| match letters {
        "none" => Ok([false; 3]),
        letters if !letters.is_empty() && letters.chars().all(|letter| "xyz".contains(letter)) => {
            Ok(['x', 'y', 'z'].map(|axis| letters.contains(axis)))
        }
        _ => Err(format!("{letters:?} does not consist of letters xyz, nor is it `none`")),
    }))
}

/// The value that a text stands for, or the reason that it stands for none. The error of a visitor has the place of the
/// text; one that is made after the text was read would have the place of the object around it.
struct Word<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Word<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        self.0(text).map_err(E::custom)
    }
}

impl CrowdDocument {
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let text = json::without_mark(bytes);
        // The parser would accept a list in place of an object.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(FileError::new("JSON", "it is a list; a crowd file is an object with `files` and `instances`"));
        }
        json::parse(text)
    }

    /// Checks all masks, including masks that no layer names.
    pub fn check_masks(&self) -> Result<(), FileError> {
        for (mask, entry) in &self.masks {
            if let Some((joint, weight)) = entry.joints.iter().find(|(_, weight)| !is_weight(**weight)) {
                let reason = format!("the weight {weight} is not a finite number of 0 or more");
                return Err(FileError::new(format_args!("masks.{mask}.joints.{joint}"), reason));
            }
        }
        Ok(())
    }
}

/// A value that the file has as an object. Without this, the parser would accept a list of the values of its fields,
/// too.
#[derive(Debug)]
pub(super) struct Object<T>(T);

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Values by name, in the order of the file. A name that occurs twice is an error.
#[derive(Debug)]
pub(super) struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with a value per name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut names, mut entries) = (HashSet::new(), Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("the name {name:?} occurs twice; give each name once")));
            }
            entries.push((name, map.next_value()?));
        }
        Ok(Named(entries))
    }
}

/// A number, or pairs of time and value.
#[derive(Debug)]
pub(super) enum ParameterEntry {
    Constant(f64),
    Keys(Vec<[f64; 2]>),
}

impl<'de> Deserialize<'de> for ParameterEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParameterVisitor)
    }
}

struct ParameterVisitor;

impl<'de> Visitor<'de> for ParameterVisitor {
    type Value = ParameterEntry;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number, or a list of pairs of a time and a value")
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(ParameterEntry::Constant(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(ParameterEntry::Constant(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(ParameterEntry::Constant(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(ParameterEntry::Keys)
    }
}

/// A number, or an object that a number follows from.
#[derive(Debug)]
pub(super) enum NumberOr<T> {
    Number(f64),
    Object(T),
}

/// An object that can stand in place of a number.
pub(super) trait InPlaceOfNumber {
    /// What the field takes, as a message.
    const EXPECTED: &'static str;
}

/// The default is the default of weights: 1.
impl<T> Default for NumberOr<T> {
    fn default() -> Self {
        Self::Number(1.0)
    }
}

impl<'de, T: Deserialize<'de> + InPlaceOfNumber> Deserialize<'de> for NumberOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrVisitor(PhantomData))
    }
}

struct NumberOrVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + InPlaceOfNumber> Visitor<'de> for NumberOrVisitor<T> {
    type Value = NumberOr<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(T::EXPECTED)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(NumberOr::Object)
    }
}

/// Either `parameter` and `knots` or `blend_space` and `point`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DriverEntry {
    #[serde(default, deserialize_with = "some")]
    pub parameter: Option<String>,
    #[serde(default, deserialize_with = "some")]
    pub knots: Option<Vec<[f64; 2]>>,
    #[serde(default, deserialize_with = "some")]
    pub blend_space: Option<String>,
    #[serde(default, deserialize_with = "some")]
    pub point: Option<usize>,
}

impl InPlaceOfNumber for DriverEntry {
    const EXPECTED: &'static str =
        "a number, an object with `parameter` and `knots`, or one with `blend_space` and `point`";
}

/// The name of the parameter that a time or a weight is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParameterName {
    pub parameter: String,
}

impl InPlaceOfNumber for ParameterName {
    const EXPECTED: &'static str = "a number, or an object with `parameter`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlendSpaceEntry {
    pub x: String,
    pub y: String,
    pub points: Vec<[f64; 2]>,
    #[serde(default, deserialize_with = "some")]
    pub triangles: Option<Vec<[usize; 3]>>,
}

/// A value of a field that may be left out, but may not be null.
pub(super) fn some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Either `chain` with `pole` and `hold`, or `aim` with `forward` and `limit`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoalEntry {
    #[serde(default, deserialize_with = "some")]
    pub chain: Option<[String; 3]>,
    #[serde(default, deserialize_with = "some")]
    pub aim: Option<String>,
    pub target: TargetEntry,
    #[serde(default, deserialize_with = "some")]
    pub pole: Option<[f64; 3]>,
    #[serde(default, deserialize_with = "some")]
    pub hold: Option<bool>,
    #[serde(default, deserialize_with = "some")]
    pub forward: Option<[f64; 3]>,
    #[serde(default, deserialize_with = "some")]
    pub limit: Option<f64>,
    #[serde(default)]
    pub weight: NumberOr<ParameterName>,
}

/// A point, or the names of the parameters that are its coordinates.
#[derive(Debug)]
pub(super) enum TargetEntry {
    Point([f64; 3]),
    Parameters([String; 3]),
}

/// The object of a target that follows from parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetParameters {
    parameters: [String; 3],
}

impl<'de> Deserialize<'de> for TargetEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetVisitor)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = TargetEntry;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a point [x, y, z], or an object with `parameters`, a list of three names")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(TargetEntry::Point)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let entry = TargetParameters::deserialize(MapAccessDeserializer::new(map))?;
        Ok(TargetEntry::Parameters(entry.parameters))
    }
}
