//! Curves of releases 1.0 to 3.2: a list. Each curve has modifiers, which lead to its target.

use super::legacy::LegacyCurve;
use super::node::{List, Node};
use super::reader::{CURVE_BYTES, Reader};
use super::target;
use crate::import::Fault;
use crate::model::TargetPath;

/// Appends the curves of `_curves`. Curves of a single number refer to a target of `_commonTargets`.
pub(super) fn curves<'a>(
    reader: &mut Reader<'_>,
    list: &List<'a>,
    common: Option<&List<'a>>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for curve in list.nodes() {
        let curve = curve?;
        reader.charge(curve.path(), CURVE_BYTES)?;
        if let Some(target) = find_target(reader, &curve, common)? {
            let data = curve.need("data")?;
            if let Some(length) = data.get("_arrayLength")?.filter(Node::is_something) {
                reader.warn(length.path(), "lists of numbers are not supported; the curve is left out")?;
                continue;
            }
            curves.push(LegacyCurve::from_data(&data, target)?);
        }
    }
    Ok(())
}

fn find_target<'a>(
    reader: &mut Reader<'_>,
    curve: &Node<'a>,
    common: Option<&List<'a>>,
) -> Result<Option<TargetPath>, Fault> {
    let modifiers = curve.need("modifiers")?.list()?;
    let Some(index) = curve.get("commonTarget")? else {
        return target::from_modifiers(reader, &modifiers, curve.get("valueAdapter")?);
    };
    let number = index.integer()?;
    let found = usize::try_from(number).ok().zip(common).filter(|(index, common)| *index < common.len());
    let Some((position, common)) = found else {
        let count = common.map_or(0, List::len);
        return Err(index.fault(format!("there is no common target {number}, the clip has {count}")));
    };
    let common = common.need(position)?;
    let whole = target::from_modifiers(reader, &common.need("modifiers")?.list()?, common.get("valueAdapter")?)?;
    whole.map_or(Ok(None), |whole| target::element_target(reader, whole, &modifiers))
}
