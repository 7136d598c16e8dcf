//! Curves that stand where their target is: `curveDatas`, by path, then by property, or by component and property; and
//! the `curveData` of the 2.x line, the same with frames in place of keys and values.

use super::legacy::LegacyCurve;
use super::node::Node;
use super::reader::Reader;
use super::target::segments;
use crate::import::fault::Fault;
use crate::model::TargetPath;

/// Appends the curves of `curveDatas`.
pub(super) fn curve_datas<'a>(
    reader: &mut Reader<'_>,
    paths: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for entry in entries(reader, paths)? {
        let (path, group) = entry?;
        of_node(reader, path, &group, curves)?;
    }
    Ok(())
}

/// Appends the curves of `curveData`.
pub(super) fn curve_data<'a>(
    reader: &mut Reader<'_>,
    root: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for entry in entries(reader, root)? {
        match entry? {
            ("props", properties) => of_properties(reader, "", None, &properties, curves)?,
            ("comps", components) => of_components(reader, "", &components, curves)?,
            ("paths", paths) => curve_datas(reader, &paths, curves)?,
            (_, other) => reader.warn(other.place(), "it is neither `props`, `comps` nor `paths`; it is left out")?,
        }
    }
    Ok(())
}

/// The entries of an object that may be referred to often.
fn entries<'a>(
    reader: &mut Reader<'_>,
    node: &Node<'a>,
) -> Result<impl Iterator<Item = Result<(&'a str, Node<'a>), Fault>> + use<'a>, Fault> {
    reader.charge(node.place(), 8 * node.value().as_object().map_or(0, |fields| fields.len()))?;
    node.entries()
}

/// The curves of a node and its components. A key other than `props` and `comps` is a property of the node.
fn of_node<'a>(
    reader: &mut Reader<'_>,
    path: &'a str,
    group: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for entry in entries(reader, group)? {
        match entry? {
            ("props", properties) => of_properties(reader, path, None, &properties, curves)?,
            ("comps", components) => of_components(reader, path, &components, curves)?,
            (property, curve) => curves.push(of_property(reader, path, None, property, &curve)?),
        }
    }
    Ok(())
}

fn of_components<'a>(
    reader: &mut Reader<'_>,
    path: &'a str,
    components: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for entry in entries(reader, components)? {
        let (component, properties) = entry?;
        let values = properties.get("values")?;
        if values.is_some_and(|values| values.value().is_array()) {
            let reason = "a curve stands where properties should; name the property, as in \
                          \"cc.Sprite\": { \"color\": { \"keys\": 0, \"values\": [] } }";
            return Err(properties.fault(reason));
        }
        of_properties(reader, path, Some(component), &properties, curves)?;
    }
    Ok(())
}

fn of_properties<'a>(
    reader: &mut Reader<'_>,
    path: &'a str,
    component: Option<&'a str>,
    properties: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), Fault> {
    for entry in entries(reader, properties)? {
        let (property, curve) = entry?;
        curves.push(of_property(reader, path, component, property, &curve)?);
    }
    Ok(())
}

fn of_property<'a>(
    reader: &mut Reader<'_>,
    path: &'a str,
    component: Option<&'a str>,
    property: &'a str,
    curve: &Node<'a>,
) -> Result<LegacyCurve<'a>, Fault> {
    let path = segments(reader, curve, path)?;
    reader.charge(curve.place(), component.map_or(0, str::len) + property.len() + size_of::<LegacyCurve<'_>>())?;
    let (component, property) = (component.map(str::to_owned), property.to_owned());
    let target = TargetPath { path, component, property, element: None };
    match curve.value().is_array() {
        true => of_frames(reader, curve, target),
        false => LegacyCurve::of_data(curve, target),
    }
}

fn of_frames<'a>(reader: &mut Reader<'_>, frames: &Node<'a>, target: TargetPath) -> Result<LegacyCurve<'a>, Fault> {
    let list = frames.list()?;
    reader.charge(list.place(), 8 * list.len())?;
    for frame in list.nodes() {
        if let Some(motion) = frame?.get("motionPath")?.filter(Node::is_something) {
            reader.warn(motion.place(), "motion paths are not supported; the way is straight")?;
        }
    }
    LegacyCurve::of_frames(frames, target)
}
