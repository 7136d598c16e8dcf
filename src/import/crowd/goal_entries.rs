//! The JSON of goals, as the file has it.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::import::crowd::motion_entries::{NumberOr, ParameterName, some};

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
