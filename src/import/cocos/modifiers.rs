//! Curves of releases 1.0 to 3.2: a list, each with the way to its target.

use super::legacy::LegacyCurve;
use super::node::{List, Node};
use super::reader::{CURVE_BYTES, Reader};
use super::target;
use crate::import::fault::Fault;
use crate::model::TargetPath;

/// Appends the curves of `_curves`, those of which that drive one number of `_commonTargets` by the targets there.
pub(super) fn curves<'a>(
    reader: &mut Reader<'_>,
    list: &List<'a>,
    common: Option<&List<'a>>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for curve in list.nodes() {
        let curve = curve?;
        reader.charge(curve.place(), CURVE_BYTES)?;
        if let Some(target) = target_of(reader, &curve, common)? {
            let data = curve.need("data")?;
            if let Some(length) = data.get("_arrayLength")?.filter(Node::is_something) {
                reader.warn(length.place(), "lists of numbers are not supported; the curve is left out")?;
                continue;
            }
            curves.push(LegacyCurve::of_data(&data, target)?);
        }
    }
    Ok(())
}

fn target_of<'a>(
    reader: &mut Reader<'_>,
    curve: &Node<'a>,
    common: Option<&List<'a>>,
) -> Result<Option<TargetPath>, Fault> {
    let modifiers = curve.need("modifiers")?.list()?;
    let Some(index) = curve.get("commonTarget")? else {
        return target::of_modifiers(reader, &modifiers, curve.get("valueAdapter")?);
    };
    let place = usize::try_from(index.integer()?).ok().zip(common).filter(|(place, common)| *place < common.len());
    let Some((place, common)) = place else {
        let count = common.map_or(0, List::len);
        return Err(index.fault(format!("there is no such common target, the clip has {count}")));
    };
    let common = common.need(place)?;
    let whole = target::of_modifiers(reader, &common.need("modifiers")?.list()?, common.get("valueAdapter")?)?;
    whole.map_or(Ok(None), |whole| target::of_element(reader, whole, &modifiers))
}
