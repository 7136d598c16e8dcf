//! Targets of tracks, from paths and from lists of modifiers; and the curves of releases 1.0 to 3.2 that have such
//! lists.

use crate::import::FileError;
use crate::import::cocos::legacy::LegacyCurve;
use crate::import::cocos::node::{CURVE_BYTES, ImportState, List, Node};
use crate::import::cocos::value::element;
use crate::import::file_error::shorten;
use crate::model::TargetPath;

/// The names of a path, from the root down. `node` is the place that is charged for them.
pub(super) fn segments(reader: &mut ImportState<'_>, node: &Node<'_>, path: &str) -> Result<Vec<String>, FileError> {
    const SEGMENT_BYTES: usize = 48;
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    reader.charge(node.path(), path.len() + SEGMENT_BYTES * segments.clone().count())?;
    Ok(segments.map(str::to_owned).collect())
}

/// The target of a list of modifiers, and of an adapter of the value if there is one. `None`, with a warning, if a part
/// of it is not supported.
pub(super) fn from_modifiers(
    reader: &mut ImportState<'_>,
    modifiers: &List<'_>,
    adapter: Option<Node<'_>>,
) -> Result<Option<TargetPath>, FileError> {
    let mut target = TargetPath { path: Vec::new(), component: None, property: String::new(), element: None };
    for modifier in modifiers.nodes() {
        if !modify(reader, &mut target, &modifier?)? {
            return Ok(None);
        }
    }
    if let Some(adapter) = adapter
        && !adapt(reader, &mut target, &adapter)?
    {
        return Ok(None);
    }
    if target.property.is_empty() {
        reader.warn(modifiers.path(), "it names no property; the track is left out")?;
        return Ok(None);
    }
    Ok(Some(target))
}

/// Extends a target by a modifier. Returns `false`, with a warning, if the modifier is not supported.
fn modify(reader: &mut ImportState<'_>, target: &mut TargetPath, modifier: &Node<'_>) -> Result<bool, FileError> {
    reader.charge(modifier.path(), size_of::<String>())?;
    if let Some(name) = modifier.value().as_str() {
        extend(reader, target, modifier, name)?;
        return Ok(true);
    }
    if modifier.value().is_number() {
        extend(reader, target, modifier, &modifier.integer()?.to_string())?;
        return Ok(true);
    }
    match modifier.type_name() {
        Some("cc.animation.HierarchyPath" | "cc.HierarchyPath" | "cc.HierachyModifier")
            if target.component.is_none() && target.property.is_empty() =>
        {
            let path = modifier.need("path")?;
            target.path.append(&mut segments(reader, &path, path.text()?)?);
            Ok(true)
        }
        Some("cc.animation.ComponentPath" | "cc.ComponentPath" | "cc.ComponentModifier")
            if target.component.is_none() && target.property.is_empty() =>
        {
            let component = modifier.need("component")?;
            reader.charge(component.path(), component.text()?.len())?;
            target.component = Some(component.text()?.to_owned());
            Ok(true)
        }
        _ => {
            let found = modifier.describe();
            let message = format!("{found} is not supported at this position of a path; the track is left out");
            reader.warn(modifier.path(), message)?;
            Ok(false)
        }
    }
}

/// Appends a name to the property.
fn extend(reader: &mut ImportState<'_>, target: &mut TargetPath, node: &Node<'_>, name: &str) -> Result<(), FileError> {
    reader.charge(node.path(), name.len())?;
    if !target.property.is_empty() {
        target.property.push('.');
    }
    target.property.push_str(name);
    Ok(())
}

/// Extends a target by an adapter of the value. Returns `false`, with a warning, if the adapter is not supported.
fn adapt(reader: &mut ImportState<'_>, target: &mut TargetPath, adapter: &Node<'_>) -> Result<bool, FileError> {
    match adapter.type_name() {
        Some("cc.animation.UniformProxyFactory" | "cc.UniformProxyFactory" | "cc.UniformCurveValueAdapter") => {
            let uniform = adapter.need("uniformName")?;
            extend(reader, target, &uniform, uniform.text()?)?;
            if let Some(channel) = adapter.get("channelIndex")? {
                target.property.push_str(&format!("[{}]", channel.integer()?));
            }
            Ok(true)
        }
        _ => {
            let message = format!("{} is not a known adapter of values; the track is left out", adapter.describe());
            reader.warn(adapter.path(), message)?;
            Ok(false)
        }
    }
}

/// The target of a single number of a common target. The only modifier is the name of the number.
pub(super) fn element_target(
    reader: &mut ImportState<'_>,
    common: TargetPath,
    modifiers: &List<'_>,
) -> Result<Option<TargetPath>, FileError> {
    if modifiers.len() == 1 {
        let name = modifiers.need(0)?;
        if let Some(index) = name.value().as_str().and_then(element) {
            return Ok(Some(TargetPath { element: Some(index), ..common }));
        }
    }
    let whole = shorten(&common.property);
    let message = format!("it has to name one number of {whole:?}, for example x or r; the track is left out");
    reader.warn(modifiers.path(), message)?;
    Ok(None)
}

/// Appends the curves of `_curves`. Curves of a single number refer to a target of `_commonTargets`.
pub(super) fn curves<'a>(
    reader: &mut ImportState<'_>,
    list: &List<'a>,
    common: Option<&List<'a>>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
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
    reader: &mut ImportState<'_>,
    curve: &Node<'a>,
    common: Option<&List<'a>>,
) -> Result<Option<TargetPath>, FileError> {
    let modifiers = curve.need("modifiers")?.list()?;
    let Some(index) = curve.get("commonTarget")? else {
        return from_modifiers(reader, &modifiers, curve.get("valueAdapter")?);
    };
    let number = index.integer()?;
    let found = usize::try_from(number).ok().zip(common).filter(|(index, common)| *index < common.len());
    let Some((position, common)) = found else {
        let count = common.map_or(0, List::len);
        return Err(index.error(format!("there is no common target {number}, the clip has {count}")));
    };
    let common = common.need(position)?;
    let whole = from_modifiers(reader, &common.need("modifiers")?.list()?, common.get("valueAdapter")?)?;
    whole.map_or(Ok(None), |whole| element_target(reader, whole, &modifiers))
}
