//! Curves of quaternions.

use super::easing::{easing, per_key};
use super::keyframes::{Keyframes, extrapolations};
use super::node::Node;
use super::reader::Reader;
use super::value::plain;
use crate::import::fault::Fault;
use crate::model::{Curve, Easing, Extrapolation, Interpolation, ValueKind};

/// A quaternion's curve; `None` where it has no keys.
pub(super) fn read(reader: &mut Reader<'_>, curve: &Node<'_>) -> Result<Option<Curve>, Fault> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    // Quaternions go on in no straight line.
    let [before, after] = extrapolations(curve)?.map(|how| match how {
        Extrapolation::Linear => Extrapolation::Clamp,
        other => other,
    });
    reader.charge(values.place(), values.len() * (4 * 8 + size_of::<Easing>()))?;
    let (mut numbers, mut easings) = (Vec::new(), Vec::new());
    for node in values.nodes() {
        let node = node?;
        plain(&node.need("value")?, ValueKind::Quat, &mut numbers)?;
        easings.push(match node.get("interpolationMode")?.map_or(Ok(0), |mode| mode.integer())? {
            0 => node.get("easingMethod")?.map_or(Ok(Easing::Linear), |node| easing(reader, &node))?,
            1 => Easing::Constant,
            other => return Err(node.fault(format!("there is no interpolation mode {other}, but 0 and 1"))),
        });
    }
    easings.pop();
    let constant = easings.iter().all(|easing| *easing == Easing::Constant);
    let interpolation = if constant { Interpolation::Step } else { Interpolation::Slerp };
    let curve = Curve::new(timeline, interpolation, 4, numbers).and_then(|curve| curve.with_easing(per_key(easings)));
    let curve = curve.map_err(|error| Fault::new(values.place(), error.to_string()))?;
    Ok(Some(curve.with_extrapolation(before, after)))
}
