//! Curves nested by target: `curveDatas`, by path, then by property, or by component and property; and the `curveData`
//! of the 2.x line, which is the same with frames instead of keys and values.

use super::legacy::LegacyCurve;
use super::node::{ImportState, Node};
use super::target::segments;
use crate::import::FileError;
use crate::model::TargetPath;

/// Appends the curves of `curveDatas`.
pub(super) fn curve_datas<'a>(
    reader: &mut ImportState<'_>,
    paths: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
    for entry in entries(reader, paths)? {
        let (path, group) = entry?;
        node_curves(reader, path, &group, curves)?;
    }
    Ok(())
}

/// Appends the curves of `curveData`.
pub(super) fn curve_data<'a>(
    reader: &mut ImportState<'_>,
    root: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
    for entry in entries(reader, root)? {
        match entry? {
            ("props", properties) => property_curves(reader, Owner::node(""), &properties, curves)?,
            ("comps", components) => component_curves(reader, "", &components, curves)?,
            ("paths", paths) => curve_datas(reader, &paths, curves)?,
            (_, other) => reader.warn(other.path(), "it is not `props`, `comps` or `paths`; it is left out")?,
        }
    }
    Ok(())
}

/// The owner of properties: a node, or a component of a node.
#[derive(Clone, Copy)]
struct Owner<'a> {
    path: &'a str,
    component: Option<&'a str>,
}

impl<'a> Owner<'a> {
    fn node(path: &'a str) -> Self {
        Self { path, component: None }
    }
}

/// The entries of an object. They are charged, since many references may lead to the object.
fn entries<'a>(
    reader: &mut ImportState<'_>,
    node: &Node<'a>,
) -> Result<impl Iterator<Item = Result<(&'a str, Node<'a>), FileError>> + use<'a>, FileError> {
    reader.charge(node.path(), 8 * node.value().as_object().map_or(0, |fields| fields.len()))?;
    node.entries()
}

/// Appends the curves of a node and its components. A key other than `props` and `comps` is a property of the node.
fn node_curves<'a>(
    reader: &mut ImportState<'_>,
    path: &'a str,
    group: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
    for entry in entries(reader, group)? {
        match entry? {
            ("props", properties) => property_curves(reader, Owner::node(path), &properties, curves)?,
            ("comps", components) => component_curves(reader, path, &components, curves)?,
            (property, curve) => curves.push(property_curve(reader, Owner::node(path), property, &curve)?),
        }
    }
    Ok(())
}

fn component_curves<'a>(
    reader: &mut ImportState<'_>,
    path: &'a str,
    components: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
    for entry in entries(reader, components)? {
        let (component, properties) = entry?;
        let values = properties.get("values")?;
        if values.is_some_and(|values| values.value().is_array()) {
            let reason = "it is a curve, but has to be an object of properties; name the property, as in \
                          \"cc.Sprite\": { \"color\": { \"keys\": 0, \"values\": [] } }";
            return Err(properties.error(reason));
        }
        property_curves(reader, Owner { path, component: Some(component) }, &properties, curves)?;
    }
    Ok(())
}

fn property_curves<'a>(
    reader: &mut ImportState<'_>,
    owner: Owner<'a>,
    properties: &Node<'a>,
    curves: &mut Vec<LegacyCurve<'a>>,
) -> Result<(), FileError> {
    for entry in entries(reader, properties)? {
        let (property, curve) = entry?;
        curves.push(property_curve(reader, owner, property, &curve)?);
    }
    Ok(())
}

fn property_curve<'a>(
    reader: &mut ImportState<'_>,
    owner: Owner<'a>,
    property: &'a str,
    curve: &Node<'a>,
) -> Result<LegacyCurve<'a>, FileError> {
    let path = segments(reader, curve, owner.path)?;
    let names = owner.component.map_or(0, str::len) + property.len();
    reader.charge(curve.path(), names + size_of::<LegacyCurve<'_>>())?;
    let (component, property) = (owner.component.map(str::to_owned), property.to_owned());
    let target = TargetPath { path, component, property, element: None };
    match curve.value().is_array() {
        true => frames(reader, curve, target),
        false => LegacyCurve::from_data(curve, target),
    }
}

fn frames<'a>(
    reader: &mut ImportState<'_>,
    frames: &Node<'a>,
    target: TargetPath,
) -> Result<LegacyCurve<'a>, FileError> {
    let list = frames.list()?;
    reader.charge(list.path(), 8 * list.len())?;
    for frame in list.nodes() {
        if let Some(motion) = frame?.get("motionPath")?.filter(Node::is_something) {
            reader.warn(motion.path(), "motion paths are not supported; a straight path is used")?;
        }
    }
    LegacyCurve::from_frames(frames, target)
}
