//! Curves of releases 3.3 and later: times, and as many keyframes. Curves of numbers are in `real_curve`.

use std::sync::Arc;

use super::easing::{easing, per_key};
use super::node::{List, Node};
use super::reader::Reader;
use super::value::plain;
use crate::import::Fault;
use crate::model::{Curve, Easing, Extrapolation, Interpolation, Timeline, ValueKind};

/// The distance in seconds within which a time hits a key.
const WINDOW: f64 = 1e-6;

/// The times and the keyframes of a curve.
pub(super) struct Keyframes<'a> {
    pub timeline: Arc<Timeline>,
    pub values: List<'a>,
}

impl<'a> Keyframes<'a> {
    /// The keyframes of a curve; `None` without keys.
    pub fn read(reader: &mut Reader<'_>, curve: &Node<'a>) -> Result<Option<Self>, Fault> {
        let (times, values) = (curve.need("_times")?.list()?, curve.need("_values")?.list()?);
        if times.len() != values.len() {
            let reason = format!("there are {} values for {} times", values.len(), times.len());
            return Err(Fault::new(values.path(), reason));
        }
        let numbers = reader.numbers(&times)?;
        Ok(reader.timeline(&times, numbers, WINDOW)?.map(|timeline| Self { timeline, values }))
    }
}

/// The extrapolations of a curve before its first key and after its last.
pub(super) fn extrapolations(curve: &Node<'_>) -> Result<[Extrapolation; 2], Fault> {
    let read = |name| match curve.get(name)? {
        None => Ok(Extrapolation::Clamp),
        Some(node) => match node.integer()? {
            0 => Ok(Extrapolation::Linear),
            1 => Ok(Extrapolation::Clamp),
            2 => Ok(Extrapolation::Loop),
            3 => Ok(Extrapolation::PingPong),
            other => Err(node.fault(format!("{other} is not an extrapolation; expected 0 to 3"))),
        },
    };
    Ok([read("preExtrapolation")?, read("postExtrapolation")?])
}

/// A curve of things that do not interpolate: the index of each key holds until the next. `None` without keys.
pub(super) fn object_curve(reader: &mut Reader<'_>, curve: &Node<'_>) -> Result<Option<Curve>, Fault> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    reader.charge(values.path(), 8 * values.len())?;
    let indices = (0..timeline.len()).map(|key| key as f64).collect();
    let curve = Curve::new(timeline, Interpolation::Step, 1, indices);
    curve.map(Some).map_err(|error| Fault::new(values.path(), error.to_string()))
}

/// A curve of quaternions. `None` without keys.
pub(super) fn quat_curve(reader: &mut Reader<'_>, curve: &Node<'_>) -> Result<Option<Curve>, Fault> {
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
            other => return Err(node.fault(format!("{other} is not an interpolation mode; expected 0 or 1"))),
        });
    }
    easings.pop();
    let constant = easings.iter().all(|easing| *easing == Easing::Constant);
    let interpolation = if constant { Interpolation::Step } else { Interpolation::Slerp };
    let curve = Curve::new(timeline, interpolation, 4, numbers).and_then(|curve| curve.with_easing(per_key(easings)));
    let curve = curve.map_err(|error| Fault::new(values.path(), error.to_string()))?;
    Ok(Some(curve.with_extrapolation(before, after)))
}
