//! Names of what is driven, by paths and by lists of modifiers.

use super::node::{List, Node};
use super::place::short;
use super::reader::Reader;
use super::value::element;
use crate::import::fault::Fault;
use crate::model::TargetPath;

/// The names of a path that counts at a node, from the root down.
pub(super) fn segments(reader: &mut Reader<'_>, node: &Node<'_>, path: &str) -> Result<Vec<String>, Fault> {
    const SEGMENT_BYTES: usize = 48;
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    reader.charge(node.place(), path.len() + SEGMENT_BYTES * segments.clone().count())?;
    Ok(segments.map(str::to_owned).collect())
}

/// The target of a list of modifiers and of what adapts the value to it, if anything; `None`, with a warning, where it is
/// of a kind that is not known.
pub(super) fn of_modifiers(
    reader: &mut Reader<'_>,
    modifiers: &List<'_>,
    adapter: Option<Node<'_>>,
) -> Result<Option<TargetPath>, Fault> {
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
        reader.warn(modifiers.place(), "it names no property; the track is left out")?;
        return Ok(None);
    }
    Ok(Some(target))
}

/// Goes one step farther; `false`, with a warning, where that is not known.
fn modify(reader: &mut Reader<'_>, target: &mut TargetPath, modifier: &Node<'_>) -> Result<bool, Fault> {
    reader.charge(modifier.place(), size_of::<String>())?;
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
            reader.charge(component.place(), component.text()?.len())?;
            target.component = Some(component.text()?.to_owned());
            Ok(true)
        }
        _ => {
            let reason = format!("{} is not supported at this place of a path; the track is left out", modifier.what());
            reader.warn(modifier.place(), reason)?;
            Ok(false)
        }
    }
}

/// Appends a name to the property.
fn extend(reader: &mut Reader<'_>, target: &mut TargetPath, node: &Node<'_>, name: &str) -> Result<(), Fault> {
    reader.charge(node.place(), name.len())?;
    if !target.property.is_empty() {
        target.property.push('.');
    }
    target.property.push_str(name);
    Ok(())
}

/// Appends what an adapter does with the value; `false`, with a warning, where that is not known.
fn adapt(reader: &mut Reader<'_>, target: &mut TargetPath, adapter: &Node<'_>) -> Result<bool, Fault> {
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
            let reason = format!("{} is no known adapter of values; the track is left out", adapter.what());
            reader.warn(adapter.place(), reason)?;
            Ok(false)
        }
    }
}

/// The target of one number of a common target, named by a list of the one name of that number.
pub(super) fn of_element(
    reader: &mut Reader<'_>,
    common: TargetPath,
    modifiers: &List<'_>,
) -> Result<Option<TargetPath>, Fault> {
    if modifiers.len() == 1 {
        let name = modifiers.need(0)?;
        if let Some(index) = name.value().as_str().and_then(element) {
            return Ok(Some(TargetPath { element: Some(index), ..common }));
        }
    }
    let whole = short(&common.property);
    let reason = format!("of {whole:?} one number can be driven, by its name alone; the track is left out");
    reader.warn(modifiers.place(), reason)?;
    Ok(None)
}
