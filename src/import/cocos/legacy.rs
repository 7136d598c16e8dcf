//! Curves of the form of all releases before 3.3: values over the key times of a list.

use std::sync::Arc;

use super::easing::Easings;
use super::node::{CURVE_BYTES, ImportState, List, Node};
use super::value::{self, ValueShape};
use crate::error::Error;
use crate::import::FileError;
use crate::model::{Curve, CurveEasing, Interpolation, TargetPath, Timeline, UnboundCurves, UnboundTrack, ValueKind};

/// A curve, as the file has it.
pub(super) struct LegacyCurve<'a> {
    pub target: TargetPath,
    pub keys: LegacyKeys<'a>,
    pub values: List<'a>,
    pub easings: Easings<'a>,
    pub interpolate: bool,
}

/// The key times of a curve.
pub(super) enum LegacyKeys<'a> {
    /// No key times: the first value always holds.
    Constant,
    /// One of the lists of the clip: its index, and the node of the index.
    Shared(usize, Node<'a>),
    /// A list of the curve itself.
    Own(List<'a>),
}

/// A list of key times in seconds.
pub(super) struct KeyList<'a> {
    pub list: List<'a>,
    pub times: Vec<f64>,
}

impl<'a> KeyList<'a> {
    pub fn read(reader: &mut ImportState<'_>, list: List<'a>) -> Result<Self, FileError> {
        Ok(Self { times: reader.numbers(&list)?, list })
    }

    /// The timeline of the list in a clip of a duration in seconds.
    pub fn timeline(&self, reader: &mut ImportState<'_>, duration: f64) -> Result<Option<Arc<Timeline>>, FileError> {
        reader.timeline(&self.list, self.times.clone(), window(&self.times, duration))
    }
}

/// The distance in seconds within which a time hits a key: a millionth of the duration. If keys are evenly spaced, a
/// millionth of the step between two keys.
fn window(times: &[f64], duration: f64) -> f64 {
    const PART: f64 = 1e-6;
    let (Some(first), Some(last), Some(second)) = (times.first(), times.last(), times.get(1)) else {
        return PART * duration;
    };
    let step = second - first;
    let even = times.windows(2).all(|pair| matches!(pair, [a, b] if (b - a - step).abs() < PART * duration));
    if even { PART * (last - first).max(0.0) / (times.len() - 1) as f64 } else { PART * duration }
}

impl<'a> LegacyCurve<'a> {
    /// The curve of an object with `keys` and `values`.
    pub fn from_data(data: &Node<'a>, target: TargetPath) -> Result<Self, FileError> {
        let keys = data.need("keys")?;
        let keys = match usize::try_from(keys.integer()?) {
            Ok(index) => LegacyKeys::Shared(index, keys),
            Err(_) => LegacyKeys::Constant,
        };
        let interpolate = match data.get("interpolate")? {
            Some(flag) => flag.value().as_bool().ok_or_else(|| {
                let found = flag.describe();
                flag.error(format!("it is {found}, neither true nor false"))
            })?,
            None => true,
        };
        Ok(Self { target, keys, values: data.need("values")?.list()?, easings: Easings::find(data)?, interpolate })
    }

    /// The curve of a list of frames. Each frame has a time, a value and an easing.
    pub fn from_frames(frames: &Node<'a>, target: TargetPath) -> Result<Self, FileError> {
        let frames = frames.list()?;
        let (keys, easings) = (LegacyKeys::Own(frames.field("frame")), Easings::PerKey(frames.field("curve")));
        Ok(Self { target, keys, values: frames.field("value"), easings, interpolate: true })
    }

    /// The track of the curve. `lists` are the key times of the clip, `duration` is the duration of the clip in
    /// seconds.
    pub fn track(
        self,
        reader: &mut ImportState<'_>,
        lists: &[KeyList<'a>],
        duration: f64,
    ) -> Result<UnboundTrack, FileError> {
        reader.charge(self.values.path(), CURVE_BYTES)?;
        let first = self.values.get(0)?;
        let shape = ValueShape::from_first(reader, first.as_ref(), &self.target);
        let kind = kind(reader, shape);
        if self.target.element.is_some() && !matches!(kind, ValueKind::Number | ValueKind::Held) {
            let reason = "the curve drives a single number, so that its values have to be numbers";
            return Err(FileError::new(self.values.item_path(0), reason));
        }
        if self.values.len() == 0 {
            return Ok(UnboundTrack { target: self.target, kind: ValueKind::Number, curves: UnboundCurves::Empty });
        }
        let timeline = match &self.keys {
            LegacyKeys::Constant => {
                constant().map_err(|error| FileError::new(self.values.path(), error.to_string()))?
            }
            LegacyKeys::Own(list) => {
                let keys = KeyList::read(reader, list.clone())?;
                self.timeline(reader, &keys, duration)?
            }
            LegacyKeys::Shared(index, node) => {
                let count = lists.len();
                let missing = || node.error(format!("there is no list {index} of keys, the clip has {count}"));
                self.timeline(reader, lists.get(*index).ok_or_else(missing)?, duration)?
            }
        };
        let easing = self.easings.read(reader, timeline.len())?;
        let curve = self.curve(reader, shape, timeline, easing)?;
        Ok(UnboundTrack { target: self.target, kind, curves: UnboundCurves::Whole(curve) })
    }

    /// The timeline of a list. Fails if the list does not have one key per value.
    fn timeline(
        &self,
        reader: &mut ImportState<'_>,
        keys: &KeyList<'_>,
        duration: f64,
    ) -> Result<Arc<Timeline>, FileError> {
        let (times, values) = (keys.times.len(), self.values.len());
        match keys.timeline(reader, duration)? {
            Some(timeline) if times == values => Ok(timeline),
            _ => {
                let reason = format!("there are {values} values for the {times} keys of {}", keys.list.path());
                Err(FileError::new(self.values.path(), reason))
            }
        }
    }

    fn curve(
        &self,
        reader: &mut ImportState<'_>,
        shape: ValueShape,
        timeline: Arc<Timeline>,
        easing: CurveEasing,
    ) -> Result<Curve, FileError> {
        let keys = timeline.len();
        let smooth = if self.interpolate { shape } else { ValueShape::Held };
        let interpolation = match smooth {
            ValueShape::Plain(ValueKind::Quat) => Interpolation::Slerp,
            ValueShape::Plain(_) => Interpolation::Linear,
            ValueShape::Spline(_) => Interpolation::CubicSpline,
            ValueShape::Custom(id) => Interpolation::Custom(id),
            ValueShape::Held => Interpolation::Step,
        };
        let mut width = kind(reader, shape).width();
        if let (true, ValueShape::Custom(id)) = (self.interpolate, shape) {
            width = reader.library.interpolator(id).width();
        }
        reader.charge(self.values.path(), 8 * keys * width * interpolation.elements_per_key())?;
        let mut numbers = Vec::new();
        for key in 0..keys {
            self.append_key(reader, shape, key, width, &mut numbers)?;
        }
        let curve = Curve::new(timeline, interpolation, width, numbers).and_then(|curve| curve.with_easing(easing));
        curve.map_err(|error| FileError::new(self.values.path(), error.to_string()))
    }

    /// Appends the numbers of a key. `width` is the number of numbers per value of the curve.
    fn append_key(
        &self,
        reader: &mut ImportState<'_>,
        shape: ValueShape,
        key: usize,
        width: usize,
        numbers: &mut Vec<f64>,
    ) -> Result<(), FileError> {
        match shape {
            ValueShape::Held => numbers.push(key as f64),
            ValueShape::Plain(kind) => value::plain(&self.values.need(key)?, kind, numbers)?,
            ValueShape::Spline(kind) if self.interpolate => value::tangents(&self.values.need(key)?, kind, numbers)?,
            ValueShape::Spline(kind) => value::data_point(&self.values.need(key)?, kind, numbers)?,
            ValueShape::Custom(id) => {
                let start = numbers.len();
                value::custom(reader, &self.values.need(key)?, id, numbers)?;
                if !self.interpolate {
                    // The result of the interpolator holds, not the value of the key.
                    let value = numbers.split_off(start);
                    numbers.resize(start + width, 0.0);
                    let result = numbers.get_mut(start..).unwrap_or_default();
                    reader.library.interpolator(id).no_lerp(&value, result);
                }
            }
        }
        Ok(())
    }
}

/// A timeline of a single key, whose value always holds.
fn constant() -> Result<Arc<Timeline>, Error> {
    Timeline::snapping(vec![0.0], 0.0).map(Arc::new)
}

/// The kind of the values of a curve.
fn kind(reader: &ImportState<'_>, shape: ValueShape) -> ValueKind {
    match shape {
        ValueShape::Plain(kind) | ValueShape::Spline(kind) => kind,
        ValueShape::Custom(interpolator) => {
            let width = reader.library.interpolator(interpolator).result_width();
            ValueKind::Custom { interpolator, width }
        }
        ValueShape::Held => ValueKind::Held,
    }
}
