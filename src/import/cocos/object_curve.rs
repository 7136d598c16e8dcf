//! Curves of things that do not interpolate.

use super::keyframes::Keyframes;
use super::node::Node;
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::{Curve, Interpolation};

/// The indices of the keys whose things hold; `None` where there are no keys.
pub(super) fn read(reader: &mut Reader<'_>, curve: &Node<'_>) -> Result<Option<Curve>, Fault> {
    let Some(Keyframes { timeline, values }) = Keyframes::read(reader, curve)? else { return Ok(None) };
    reader.charge(values.place(), 8 * values.len())?;
    let indices = (0..timeline.len()).map(|key| key as f64).collect();
    let curve = Curve::new(timeline, Interpolation::Step, 1, indices);
    curve.map(Some).map_err(|error| Fault::new(values.place(), error.to_string()))
}
