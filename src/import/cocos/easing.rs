//! Easings of a file.

use super::node::{ImportState, List, Node};
use crate::import::FileError;
use crate::import::file_error::shorten;
use crate::model::{CurveEasing, Easing};

/// The easings of a curve, as the file has them.
pub(super) enum Easings<'a> {
    None,
    /// One easing for all intervals.
    One(Node<'a>),
    /// One easing per key; missing or null easings are linear.
    PerKey(List<'a>),
    /// The easings of some keys, by the number of the key.
    Sparse(Node<'a>),
}

impl<'a> Easings<'a> {
    /// The easings in the fields `easingMethod` or `easingMethods` of an object. The first has precedence.
    pub fn find(data: &Node<'a>) -> Result<Self, FileError> {
        if let Some(one) = data.get("easingMethod")? {
            return Ok(Self::One(one));
        }
        match data.get("easingMethods")? {
            None => Ok(Self::None),
            Some(many) if many.value().is_object() => Ok(Self::Sparse(many)),
            Some(many) => Ok(Self::PerKey(many.list()?)),
        }
    }

    /// The easings of a curve of `keys` keys.
    pub fn read(&self, reader: &mut ImportState<'_>, keys: usize) -> Result<CurveEasing, FileError> {
        let mut easings = Vec::new();
        match self {
            Self::None => {}
            Self::One(node) => return Ok(whole(easing(reader, node)?)),
            Self::PerKey(list) => {
                for key in 0..keys.min(list.len()) {
                    reader.charge(list.path(), size_of::<Easing>())?;
                    easings.push(list.get(key)?.map_or(Ok(Easing::Linear), |node| easing(reader, &node))?);
                }
            }
            Self::Sparse(node) => {
                reader.charge(node.path(), keys * size_of::<Easing>())?;
                easings.resize(keys, Easing::Linear);
                for entry in node.entries()? {
                    let (name, node) = entry?;
                    reader.charge(node.path(), size_of::<Easing>())?;
                    let key: usize = name.parse().map_err(|_| node.error("its name is not the number of a key"))?;
                    // An easing after the last key has no effect.
                    if let Some(entry) = easings.get_mut(key) {
                        *entry = easing(reader, &node)?;
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

/// The easing of a curve with one easing per key.
pub(super) fn per_key(easings: Vec<Easing>) -> CurveEasing {
    match easings.iter().all(|easing| easing.is_linear()) {
        true => CurveEasing::None,
        false => CurveEasing::PerKey(easings.into()),
    }
}

/// An easing by name, by number, or by the four numbers of a Bezier curve. Unknown names and numbers give a linear
/// easing, with a warning.
pub(super) fn easing(reader: &mut ImportState<'_>, node: &Node<'_>) -> Result<Easing, FileError> {
    if let Some(name) = node.value().as_str() {
        if let Some(easing) = Easing::from_name(name) {
            return Ok(easing);
        }
        reader.warn(node.path(), format!("{:?} is not an easing; linear is used", shorten(name)))?;
        return Ok(Easing::Linear);
    }
    if node.value().is_array() {
        let list = node.list()?;
        let mut points = [0.0; 4];
        if list.len() != points.len() {
            let count = list.len();
            return Err(
                node.error(format!("a Bezier curve has 4 numbers, x1, y1, x2 and y2, but the list has {count}"))
            );
        }
        for (index, point) in points.iter_mut().enumerate() {
            let node = list.need(index)?;
            *point = node.number()?;
            if point.abs() > 1e6 {
                return Err(node.error(format!("the Bezier control point {point} is not from -1e6 to 1e6")));
            }
        }
        return Ok(Easing::Bezier(points));
    }
    if !node.value().is_number() {
        let found = node.describe();
        return Err(node.error(format!("it is {found}; an easing is a name, a number or a list of 4 numbers")));
    }
    let known = u32::try_from(node.integer()?).ok().and_then(Easing::from_id);
    if known.is_none() {
        reader.warn(node.path(), format!("{} is not an easing; linear is used", node.describe()))?;
    }
    Ok(known.unwrap_or(Easing::Linear))
}
