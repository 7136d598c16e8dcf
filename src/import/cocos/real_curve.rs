//! Curves of numbers, each interval of which interpolates in its own way.

use super::easing::{easing, per_key};
use super::keyframes::{Keyframes, extrapolations};
use super::node::Node;
use super::reader::Reader;
use crate::error::Error;
use crate::import::fault::Fault;
use crate::model::{Curve, Easing, Interpolation};

/// How the interval after a key interpolates.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Linear,
    Constant,
    Cubic,
}

/// One side of a keyframe: value per second, and the length of the handle where it has one of its own.
#[derive(Debug, Clone, Copy)]
struct Tangent {
    slope: f64,
    weight: Option<f64>,
}

struct Keyframe {
    value: f64,
    mode: Mode,
    easing: Easing,
    left: Tangent,
    right: Tangent,
}

/// A number's curve; `None` where it has no keys.
pub(super) fn read(reader: &mut Reader<'_>, curve: &Node<'_>) -> Result<Option<Curve>, Fault> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    let [before, after] = extrapolations(curve)?;
    reader.charge(values.place(), values.len() * (size_of::<Keyframe>() + size_of::<Easing>()))?;
    let mut keyframes = Vec::with_capacity(values.len());
    for node in values.nodes() {
        keyframes.push(Keyframe::read(reader, &node?)?);
    }
    // The mode of a key rules the interval after it; after the last there is none.
    let (_, starts) = keyframes.split_last().unzip();
    let starts: &[Keyframe] = starts.unwrap_or_default();
    let all = |mode| starts.iter().all(|keyframe| keyframe.mode == mode);
    let plain = || keyframes.iter().map(|keyframe| keyframe.value).collect();
    let (interpolation, numbers, easings) = if all(Mode::Linear) {
        (Interpolation::Linear, plain(), starts.iter().map(|keyframe| keyframe.easing).collect())
    } else if all(Mode::Constant) {
        (Interpolation::Step, plain(), Vec::new())
    } else {
        let (numbers, easings) = spline(timeline.times(), &keyframes);
        (Interpolation::CubicSpline, numbers, easings)
    };
    let steep = |error: Error, per_key: usize| match error {
        Error::Curve { value, reason } => {
            Fault::new(values.place_of(value / per_key), format!("its tangents are too steep or too long: {reason}"))
        }
        other => Fault::new(values.place(), other.to_string()),
    };
    let curve = Curve::new(timeline, interpolation, 1, numbers);
    let curve = curve.map_err(|error| steep(error, interpolation.elements_per_key()))?;
    let curve = curve.with_easing(per_key(easings)).map_err(|error| steep(error, 1))?;
    Ok(Some(curve.with_extrapolation(before, after)))
}

/// In-tangent, value and out-tangent a key, and the easings, of intervals in any mode.
fn spline(times: &[f64], keyframes: &[Keyframe]) -> (Vec<f64>, Vec<Easing>) {
    let mut keys: Vec<[f64; 3]> = keyframes.iter().map(|keyframe| [0.0, keyframe.value, 0.0]).collect();
    let mut easings = Vec::with_capacity(keyframes.len());
    for (index, (pair, seconds)) in keyframes.windows(2).zip(times.windows(2)).enumerate() {
        let ([start, end], [from, to]) = (pair, seconds) else { continue };
        let ([out, into], easing) = start.interval(end, to - from);
        easings.push(easing);
        if let Some([first, second]) = keys.get_mut(index..index + 2) {
            (first[2], second[0]) = (out, into);
        }
    }
    (keys.into_flattened(), easings)
}

impl Keyframe {
    fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Result<Self, Fault> {
        if !node.value().is_object() {
            return Err(node.fault(format!("it is {}, not a keyframe", node.what())));
        }
        let choice = |name| node.get(name)?.map_or(Ok(0), |node| node.integer());
        let mode = match choice("interpolationMode")? {
            0 => Mode::Linear,
            1 => Mode::Constant,
            2 => Mode::Cubic,
            other => return Err(node.fault(format!("there is no interpolation mode {other}, but 0 to 2"))),
        };
        let weights = choice("tangentWeightMode")?;
        if !(0..4).contains(&weights) {
            return Err(node.fault(format!("there is no tangent weight mode {weights}, but 0 to 3")));
        }
        // A steep tangent is as good as a vertical one where it has a weight, so that any number will do.
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

    /// The tangents, a second, at the start and at the end of the interval to another key, and its easing.
    fn interval(&self, end: &Self, seconds: f64) -> ([f64; 2], Easing) {
        let still = ([0.0; 2], Easing::Constant);
        match self.mode {
            Mode::Linear if seconds > 0.0 => ([(end.value - self.value) / seconds; 2], self.easing),
            Mode::Cubic if seconds > 0.0 => match (self.right.weight, end.left.weight) {
                (None, None) => ([self.right.slope, end.left.slope], Easing::Linear),
                _ => weighted(self.right, end.left, seconds),
            },
            // Keys at one time have no interval.
            _ => still,
        }
    }
}

/// A Bezier curve in time and value: its values are a cubic spline, and its times the Bezier easing whose y is the
/// parameter.
fn weighted(right: Tangent, left: Tangent, seconds: f64) -> ([f64; 2], Easing) {
    let [(start, out), (end, into)] = [right, left].map(|tangent| handle(tangent, seconds));
    let parameter = Easing::Bezier([start / seconds, 1.0 / 3.0, 1.0 - end / seconds, 2.0 / 3.0]);
    ([3.0 * out / seconds, 3.0 * into / seconds], parameter)
}

/// How far a handle reaches in time and in value; without a weight of its own, a third of the interval.
fn handle(Tangent { slope, weight }: Tangent, seconds: f64) -> (f64, f64) {
    match weight {
        Some(weight) => (weight * slope.atan().cos(), weight * slope.atan().sin()),
        None => (seconds / 3.0, slope * seconds / 3.0),
    }
}
