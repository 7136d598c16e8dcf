//! Easings of a file into those of a curve.

use super::node::{List, Node};
use super::place::short;
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::{CurveEasing, Easing};

/// The easings of a curve, as they stand in a file.
pub(super) enum Easings<'a> {
    None,
    /// One for all intervals.
    One(Node<'a>),
    /// One a key; what is missing or null is linear.
    PerKey(List<'a>),
    /// Those of some keys, by the number of the key.
    Sparse(Node<'a>),
}

impl<'a> Easings<'a> {
    /// Those of an object with `easingMethod`, which counts where both are there, or `easingMethods`.
    pub fn of(data: &Node<'a>) -> Result<Self, Fault> {
        if let Some(one) = data.get("easingMethod")? {
            return Ok(Self::One(one));
        }
        match data.get("easingMethods")? {
            None => Ok(Self::None),
            Some(many) if many.value().is_object() => Ok(Self::Sparse(many)),
            Some(many) => Ok(Self::PerKey(many.list()?)),
        }
    }

    /// The easing of a curve of so many keys.
    pub fn read(&self, reader: &mut Reader<'_>, keys: usize) -> Result<CurveEasing, Fault> {
        let mut easings = Vec::new();
        match self {
            Self::None => {}
            Self::One(node) => return Ok(whole(easing(reader, node)?)),
            Self::PerKey(list) => {
                for key in 0..keys.min(list.len()) {
                    reader.charge(list.place(), size_of::<Easing>())?;
                    easings.push(list.get(key)?.map_or(Ok(Easing::Linear), |node| easing(reader, &node))?);
                }
            }
            Self::Sparse(node) => {
                reader.charge(node.place(), keys * size_of::<Easing>())?;
                easings.resize(keys, Easing::Linear);
                for entry in node.entries()? {
                    let (name, node) = entry?;
                    reader.charge(node.place(), size_of::<Easing>())?;
                    let key: usize = name.parse().map_err(|_| node.fault("its name is not the number of a key"))?;
                    // An easing after the last key has no effect.
                    if let Some(place) = easings.get_mut(key) {
                        *place = easing(reader, &node)?;
                    }
                }
            }
        }
        Ok(per_key(easings))
    }
}

fn whole(easing: Easing) -> CurveEasing {
    if easing.is_linear() { CurveEasing::None } else { CurveEasing::One(easing) }
}

/// Easings by key; none where none does anything.
pub(super) fn per_key(easings: Vec<Easing>) -> CurveEasing {
    match easings.iter().all(|easing| easing.is_linear()) {
        true => CurveEasing::None,
        false => CurveEasing::PerKey(easings.into()),
    }
}

/// An easing by name, by number, or by the four numbers of a Bezier curve.
pub(super) fn easing(reader: &mut Reader<'_>, node: &Node<'_>) -> Result<Easing, Fault> {
    if let Some(name) = node.value().as_str() {
        if let Some(easing) = Easing::from_name(name) {
            return Ok(easing);
        }
        reader.warn(node.place(), format!("there is no easing {:?}; it is taken for linear", short(name)))?;
        return Ok(Easing::Linear);
    }
    if node.value().is_array() {
        let list = node.list()?;
        let mut points = [0.0; 4];
        if list.len() != points.len() {
            return Err(node.fault(format!("a Bezier curve has 4 numbers, x1, y1, x2 and y2, not {}", list.len())));
        }
        for (index, point) in points.iter_mut().enumerate() {
            let node = list.need(index)?;
            *point = node.number()?;
            if point.abs() > 1e6 {
                return Err(node.fault(format!("the Bezier control point number {point} is not within a million")));
            }
        }
        return Ok(Easing::Bezier(points));
    }
    if !node.value().is_number() {
        return Err(node.fault(format!("it is {}; an easing is a name, a number or a list of 4 numbers", node.what())));
    }
    let known = u32::try_from(node.integer()?).ok().and_then(Easing::from_id);
    if known.is_none() {
        reader.warn(node.place(), format!("there is no easing of {}; it is taken for linear", node.what()))?;
    }
    Ok(known.unwrap_or(Easing::Linear))
}
