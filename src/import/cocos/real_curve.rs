//! Curves of releases 3.3 and later: times, and as many keyframes. In curves of numbers each interval has its own mode
//! of interpolation.
//!
//! Weighted tangents are an easing: they become a Bezier easing whose y is its own parameter, followed by an ordinary
//! spline.

use std::sync::Arc;

use crate::error::Error;
use crate::import::FileError;
use crate::import::cocos::easing::{easing, per_key};
use crate::import::cocos::node::{ImportState, List, Node};
use crate::import::cocos::value::plain;
use crate::model::{Curve, Easing, Extrapolation, Interpolation, Timeline, ValueKind};

/// The interpolation of the interval after a key.
#[derive(Debug, Clone, Copy, PartialEq)]
enum KeyMode {
    Linear,
    Constant,
    Cubic,
}

/// The tangent on one side of a keyframe: slope in value per second, and the length of the handle if it has its own.
#[derive(Debug, Clone, Copy)]
struct Tangent {
    slope: f64,
    weight: Option<f64>,
}

/// The interval between two keys: the slopes at its ends in value per second, and its easing.
struct Interval {
    start: f64,
    end: f64,
    easing: Easing,
}

struct Keyframe {
    value: f64,
    mode: KeyMode,
    easing: Easing,
    left: Tangent,
    right: Tangent,
}

/// A curve of numbers; `None` without keys.
pub(super) fn read(reader: &mut ImportState<'_>, curve: &Node<'_>) -> Result<Option<Curve>, FileError> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    let [before, after] = extrapolations(curve)?;
    reader.charge(values.path(), values.len() * (size_of::<Keyframe>() + size_of::<Easing>()))?;
    let mut keyframes = Vec::with_capacity(values.len());
    for node in values.nodes() {
        keyframes.push(Keyframe::read(reader, &node?)?);
    }
    // The mode of a key applies to the interval after it. The last key has none.
    let (_, starts) = keyframes.split_last().unzip();
    let starts: &[Keyframe] = starts.unwrap_or_default();
    let all = |mode| starts.iter().all(|keyframe| keyframe.mode == mode);
    let plain = || keyframes.iter().map(|keyframe| keyframe.value).collect();
    let (interpolation, numbers, easings) = if all(KeyMode::Linear) {
        (Interpolation::Linear, plain(), starts.iter().map(|keyframe| keyframe.easing).collect())
    } else if all(KeyMode::Constant) {
        (Interpolation::Step, plain(), Vec::new())
    } else {
        let (numbers, easings) = spline(timeline.times(), &keyframes);
        (Interpolation::CubicSpline, numbers, easings)
    };
    let steep = |error: Error, per_key: usize| match error {
        Error::Curve { value, reason } => FileError::new(
            values.item_path(value / per_key),
            format!("its tangents are too steep or too long: {reason}"),
        ),
        other => FileError::new(values.path(), other.to_string()),
    };
    let curve = Curve::new(timeline, interpolation, 1, numbers);
    let curve = curve.map_err(|error| steep(error, interpolation.elements_per_key()))?;
    let curve = curve.with_easing(per_key(easings)).map_err(|error| steep(error, 1))?;
    Ok(Some(curve.with_extrapolation(before, after)))
}

/// The numbers and easings of a cubic spline with intervals of any mode: in-tangent, value and out-tangent per key.
fn spline(times: &[f64], keyframes: &[Keyframe]) -> (Vec<f64>, Vec<Easing>) {
    let mut keys: Vec<[f64; 3]> = keyframes.iter().map(|keyframe| [0.0, keyframe.value, 0.0]).collect();
    let mut easings = Vec::with_capacity(keyframes.len());
    for (index, (pair, seconds)) in keyframes.windows(2).zip(times.windows(2)).enumerate() {
        let ([start, end], [from, to]) = (pair, seconds) else { continue };
        let interval = start.interval(end, to - from);
        easings.push(interval.easing);
        if let Some([first, second]) = keys.get_mut(index..index + 2) {
            (first[2], second[0]) = (interval.start, interval.end);
        }
    }
    (keys.into_flattened(), easings)
}

impl Keyframe {
    fn read(reader: &mut ImportState<'_>, node: &Node<'_>) -> Result<Self, FileError> {
        if !node.value().is_object() {
            return Err(node.error(format!("it is {}, not a keyframe object", node.describe())));
        }
        let choice = |name| node.get(name)?.map_or(Ok(0), |node| node.integer());
        let mode = match choice("interpolationMode")? {
            0 => KeyMode::Linear,
            1 => KeyMode::Constant,
            2 => KeyMode::Cubic,
            other => return Err(node.error(format!("{other} is not an interpolation mode; expected 0 to 2"))),
        };
        let weights = choice("tangentWeightMode")?;
        if !(0..4).contains(&weights) {
            return Err(node.error(format!("{weights} is not a tangent weight mode; expected 0 to 3")));
        }
        // With a weight, a very steep tangent is like a vertical one. Numbers beyond the range of f32 are therefore
        // accepted.
        let number = |name| node.get(name)?.map_or(Ok(0.0), |node| node.finite());
        let tangent = |slope, weight, bit| {
            let weight = number(weight)?;
            Ok(Tangent { slope: number(slope)?, weight: (weights & bit != 0).then_some(weight) })
        };
        Ok(Self {
            value: node.get("value")?.map_or(Ok(0.0), |value| value.number())?,
            mode,
            easing: node.get("easingMethod")?.map_or(Ok(Easing::Linear), |node| easing(reader, &node))?,
            left: tangent("leftTangent", "leftTangentWeight", 1)?,
            right: tangent("rightTangent", "rightTangentWeight", 2)?,
        })
    }

    /// The interval from this key to the next.
    fn interval(&self, end: &Self, seconds: f64) -> Interval {
        match self.mode {
            KeyMode::Linear if seconds > 0.0 => {
                let slope = (end.value - self.value) / seconds;
                Interval { start: slope, end: slope, easing: self.easing }
            }
            KeyMode::Cubic if seconds > 0.0 => match (self.right.weight, end.left.weight) {
                (None, None) => Interval { start: self.right.slope, end: end.left.slope, easing: Easing::Linear },
                _ => weighted(self.right, end.left, seconds),
            },
            // Keys at the same time have no interval.
            _ => Interval { start: 0.0, end: 0.0, easing: Easing::Constant },
        }
    }
}

/// A Bezier curve in time and value. Its values are a cubic spline over the parameter of the Bezier curve. Its times
/// become a Bezier easing from time to this parameter: the y of its control points are 1/3 and 2/3.
fn weighted(right: Tangent, left: Tangent, seconds: f64) -> Interval {
    let [(start, out), (end, into)] = [right, left].map(|tangent| handle(tangent, seconds));
    let easing = Easing::Bezier([start / seconds, 1.0 / 3.0, 1.0 - end / seconds, 2.0 / 3.0]);
    Interval { start: 3.0 * out / seconds, end: 3.0 * into / seconds, easing }
}

/// The extent of a handle in time and in value. Without a weight, it reaches over a third of the interval.
fn handle(tangent: Tangent, seconds: f64) -> (f64, f64) {
    let slope = tangent.slope;
    match tangent.weight {
        Some(weight) => (weight * slope.atan().cos(), weight * slope.atan().sin()),
        None => (seconds / 3.0, slope * seconds / 3.0),
    }
}

/// The distance in seconds within which a time hits a key.
const WINDOW: f64 = 1e-6;

/// The times and the keyframes of a curve.
pub(super) struct Keyframes<'a> {
    pub timeline: Arc<Timeline>,
    pub values: List<'a>,
}

impl<'a> Keyframes<'a> {
    /// The keyframes of a curve; `None` without keys.
    pub fn read(reader: &mut ImportState<'_>, curve: &Node<'a>) -> Result<Option<Self>, FileError> {
        let (times, values) = (curve.need("_times")?.list()?, curve.need("_values")?.list()?);
        if times.len() != values.len() {
            let reason = format!("there are {} values for {} times", values.len(), times.len());
            return Err(FileError::new(values.path(), reason));
        }
        let numbers = reader.numbers(&times)?;
        Ok(reader.timeline(&times, numbers, WINDOW)?.map(|timeline| Self { timeline, values }))
    }
}

/// The extrapolations of a curve before its first key and after its last.
pub(super) fn extrapolations(curve: &Node<'_>) -> Result<[Extrapolation; 2], FileError> {
    let read = |name| match curve.get(name)? {
        None => Ok(Extrapolation::Clamp),
        Some(node) => match node.integer()? {
            0 => Ok(Extrapolation::Linear),
            1 => Ok(Extrapolation::Clamp),
            2 => Ok(Extrapolation::Loop),
            3 => Ok(Extrapolation::PingPong),
            other => Err(node.error(format!("{other} is not an extrapolation; expected 0 to 3"))),
        },
    };
    Ok([read("preExtrapolation")?, read("postExtrapolation")?])
}

/// A curve of things that do not interpolate: the index of each key holds until the next. `None` without keys.
pub(super) fn object_curve(reader: &mut ImportState<'_>, curve: &Node<'_>) -> Result<Option<Curve>, FileError> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    reader.charge(values.path(), 8 * values.len())?;
    let indices = (0..timeline.len()).map(|key| key as f64).collect();
    let curve = Curve::new(timeline, Interpolation::Step, 1, indices);
    curve.map(Some).map_err(|error| FileError::new(values.path(), error.to_string()))
}

/// A curve of quaternions. `None` without keys.
pub(super) fn quat_curve(reader: &mut ImportState<'_>, curve: &Node<'_>) -> Result<Option<Curve>, FileError> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    // A quaternion has no linear extrapolation.
    let [before, after] = extrapolations(curve)?.map(|extrapolation| match extrapolation {
        Extrapolation::Linear => Extrapolation::Clamp,
        other => other,
    });
    reader.charge(values.path(), values.len() * (4 * 8 + size_of::<Easing>()))?;
    let (mut numbers, mut easings) = (Vec::new(), Vec::new());
    for node in values.nodes() {
        let node = node?;
        plain(&node.need("value")?, ValueKind::Quat, &mut numbers)?;
        easings.push(match node.get("interpolationMode")?.map_or(Ok(0), |mode| mode.integer())? {
            0 => node.get("easingMethod")?.map_or(Ok(Easing::Linear), |node| easing(reader, &node))?,
            1 => Easing::Constant,
            other => return Err(node.error(format!("{other} is not an interpolation mode; expected 0 or 1"))),
        });
    }
    easings.pop();
    let constant = easings.iter().all(|easing| *easing == Easing::Constant);
    let interpolation = if constant { Interpolation::Step } else { Interpolation::Slerp };
    let curve = Curve::new(timeline, interpolation, 4, numbers).and_then(|curve| curve.with_easing(per_key(easings)));
    let curve = curve.map_err(|error| FileError::new(values.path(), error.to_string()))?;
    Ok(Some(curve.with_extrapolation(before, after)))
}
