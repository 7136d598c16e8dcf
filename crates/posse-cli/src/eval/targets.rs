//! The JSON form of named targets.

use std::ops::Range;

use posse::color_bytes;
use posse::{BoundTrack, Error, UnboundCurves, UnboundTrack, ValueKind};
use serde::Serialize;

use crate::eval::numbers::{Number, Precision};
use crate::source::{NamedClip, target_path, target_property};

/// The position and the type of the value of a target in a pose.
pub struct TargetReader<'a> {
    path: String,
    component: Option<&'a str>,
    property: String,
    kind: Kind,
    /// The range of its numbers among those of all properties; `None` without keys.
    numbers: Option<Range<usize>>,
    /// True for each number that a curve drives.
    driven: Vec<bool>,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Numbers,
    Color,
    Key,
}

/// A target and its value.
#[derive(Serialize)]
pub struct TargetValue<'a> {
    path: &'a str,
    component: Option<&'a str>,
    property: &'a str,
    value: Option<Value>,
    /// The numbers of a colour; the value is its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrounded: Option<Vec<Option<Number>>>,
}

/// A value. Numbers that no curve drives are null.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Numbers(Vec<Option<Number>>),
    Bytes(Vec<Option<u8>>),
    Key([u64; 1]),
}

/// The readers of the targets of a clip. `properties` has the range of the numbers of each property.
pub fn readers<'a>(named: &'a NamedClip, properties: &[Range<usize>]) -> Vec<TargetReader<'a>> {
    let reader = |(track, bound): (&'a UnboundTrack, &BoundTrack)| {
        let target = &track.target;
        let numbers = bound.property.and_then(|property| properties.get(property)).cloned();
        let width = numbers.as_ref().map_or(0, Range::len);
        TargetReader {
            path: target_path(target),
            component: target.component.as_deref(),
            property: target_property(target),
            kind: match track.kind {
                ValueKind::Color if width == 4 => Kind::Color,
                ValueKind::Held => Kind::Key,
                _ => Kind::Numbers,
            },
            numbers,
            driven: match &track.curves {
                UnboundCurves::Channels(channels) => channels.iter().map(Option::is_some).collect(),
                UnboundCurves::Empty | UnboundCurves::Whole(_) => vec![true; width],
            },
        }
    };
    named.clip.tracks.iter().zip(&named.tracks).map(reader).collect()
}

impl TargetReader<'_> {
    /// The target with its value in a pose of these properties.
    pub fn value(&self, properties: &[f64], precision: Precision) -> Result<TargetValue<'_>, Error> {
        let mut target = TargetValue {
            path: &self.path,
            component: self.component,
            property: &self.property,
            value: None,
            unrounded: None,
        };
        let Some(numbers) = self.numbers.clone().and_then(|numbers| properties.get(numbers)) else {
            return Ok(target);
        };
        let name = || format!("{}:{}", self.path, self.property);
        let is_driven = |index: usize| self.driven.get(index).is_some_and(|&driven| driven);
        let list = precision.list(numbers, name)?;
        let list = list.into_iter().enumerate().map(|(index, number)| is_driven(index).then_some(number)).collect();
        target.value = Some(match (self.kind, numbers) {
            (Kind::Color, &[r, g, b, a]) => {
                target.unrounded = Some(list);
                let bytes = color_bytes([r, g, b, a]).into_iter().enumerate();
                Value::Bytes(bytes.map(|(index, byte)| is_driven(index).then_some(byte)).collect())
            }
            (Kind::Key, &[key]) => Value::Key([key.round() as u64]),
            _ => Value::Numbers(list),
        });
        Ok(target)
    }
}
