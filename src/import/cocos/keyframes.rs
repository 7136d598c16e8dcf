//! What the curves of releases 3.3 and later have in common: times, as many keyframes, and what is beyond them.

use std::sync::Arc;

use super::node::{List, Node};
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::{Extrapolation, Timeline};

/// Seconds about a key in which it is hit.
const WINDOW: f64 = 1e-6;

/// The times and the keyframes of a curve.
pub(super) struct Keyframes<'a> {
    pub timeline: Arc<Timeline>,
    pub values: List<'a>,
}

impl<'a> Keyframes<'a> {
    /// Those of a curve; `None` where it has none.
    pub fn read(reader: &mut Reader<'_>, curve: &Node<'a>) -> Result<Option<Self>, Fault> {
        let (times, values) = (curve.need("_times")?.list()?, curve.need("_values")?.list()?);
        if times.len() != values.len() {
            let reason = format!("{} values for {} times", values.len(), times.len());
            return Err(Fault::new(values.place(), reason));
        }
        let numbers = reader.numbers(&times)?;
        Ok(reader.timeline(&times, numbers, WINDOW)?.map(|timeline| Self { timeline, values }))
    }
}

/// What a curve is before its first key and after its last.
pub(super) fn extrapolations(curve: &Node<'_>) -> Result<[Extrapolation; 2], Fault> {
    let read = |name| match curve.get(name)? {
        None => Ok(Extrapolation::Clamp),
        Some(node) => match node.integer()? {
            0 => Ok(Extrapolation::Linear),
            1 => Ok(Extrapolation::Clamp),
            2 => Ok(Extrapolation::Loop),
            3 => Ok(Extrapolation::PingPong),
            other => Err(node.fault(format!("there is no extrapolation {other}, but 0 to 3"))),
        },
    };
    Ok([read("preExtrapolation")?, read("postExtrapolation")?])
}
