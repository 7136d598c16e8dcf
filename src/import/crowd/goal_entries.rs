//! The JSON of goals, as the file has it.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::import::crowd::motion_entries::some;

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
    pub weight: GoalWeightEntry,
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

/// A number, or the name of the parameter that is the weight.
#[derive(Debug)]
pub(super) enum GoalWeightEntry {
    Number(f64),
    Parameter(String),
}

/// The object of a weight that is a parameter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightParameter {
    parameter: String,
}

impl Default for GoalWeightEntry {
    fn default() -> Self {
        Self::Number(1.0)
    }
}

impl<'de> Deserialize<'de> for GoalWeightEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GoalWeightVisitor)
    }
}

struct GoalWeightVisitor;

impl<'de> Visitor<'de> for GoalWeightVisitor {
    type Value = GoalWeightEntry;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number, or an object with `parameter`")
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(GoalWeightEntry::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(GoalWeightEntry::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(GoalWeightEntry::Number(number as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let entry = WeightParameter::deserialize(MapAccessDeserializer::new(map))?;
        Ok(GoalWeightEntry::Parameter(entry.parameter))
    }
}
