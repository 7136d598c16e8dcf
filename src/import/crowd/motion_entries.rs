//! The JSON of parameters and of the weights and times that follow from them, as the file has it, and the forms of values in it.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A value that the file has as an object. Without this, the parser would accept a list of the values of its fields, too.
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

/// Values by name, in the order of the file. A name that occurs twice is a fault.
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

/// The default is that of weights: 1.
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
