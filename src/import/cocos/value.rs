//! Values of keys, as they stand in a file, into numbers.

use serde_json::Value;

use super::node::Node;
use super::reader::Reader;
use crate::import::fault::Fault;
use crate::model::{InterpolatorId, TargetPath, ValueKind};

/// What the values of a curve are, which the first of them decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Numbers of a kind.
    Plain(ValueKind),
    /// The same with an in- and an out-tangent.
    Spline(ValueKind),
    /// Values of an interpolator.
    Custom(InterpolatorId),
    /// Something that does not interpolate.
    Held,
}

impl Shape {
    /// What a first value says of all; `None` is null.
    pub fn of(reader: &Reader<'_>, first: Option<&Node<'_>>, target: &TargetPath) -> Self {
        let Some(first) = first else { return Self::Held };
        if let Some(name) = first.type_name() {
            if let Some(interpolator) = reader.library.find_interpolator(name) {
                return Self::Custom(interpolator);
            }
            let plain = || typed(name).map(Self::Plain);
            return plain().or_else(|| spline(name).map(Self::Spline)).unwrap_or(Self::Held);
        }
        if first.value().is_number() {
            return Self::Plain(ValueKind::Number);
        }
        // Whether all are numbers is asked of short lists alone: many curves can refer to a long one.
        let items = first.value().as_array().filter(|items| items.len() <= 4 && items.iter().all(Value::is_number));
        let rotation = target.component.is_none() && target.property == "rotation";
        match (items.map_or(0, Vec::len), target.property.as_str()) {
            (3 | 4, "color") => Self::Plain(ValueKind::Color),
            (2, _) => Self::Plain(ValueKind::Vec2),
            (3, _) => Self::Plain(ValueKind::Vec3),
            (4, _) if rotation => Self::Plain(ValueKind::Quat),
            (4, _) => Self::Plain(ValueKind::Vec4),
            _ => Self::Held,
        }
    }
}

/// The kind of an object's type.
fn typed(name: &str) -> Option<ValueKind> {
    Some(match name {
        "cc.Vec2" => ValueKind::Vec2,
        "cc.Vec3" => ValueKind::Vec3,
        "cc.Vec4" => ValueKind::Vec4,
        "cc.Quat" => ValueKind::Quat,
        "cc.Color" => ValueKind::Color,
        "cc.Size" => ValueKind::Size,
        "cc.Rect" => ValueKind::Rect,
        _ => return None,
    })
}

/// The kind of a value with tangents.
fn spline(name: &str) -> Option<ValueKind> {
    Some(match name {
        "cc.CubicSplineNumberValue" => ValueKind::Number,
        "cc.CubicSplineVec2Value" => ValueKind::Vec2,
        "cc.CubicSplineVec3Value" => ValueKind::Vec3,
        "cc.CubicSplineVec4Value" => ValueKind::Vec4,
        "cc.CubicSplineQuatValue" => ValueKind::Quat,
        _ => return None,
    })
}

/// The fields of an object of a kind, and what they are where they are missing.
fn fields(kind: ValueKind) -> &'static [(&'static str, f64)] {
    const VECTOR: [(&str, f64); 4] = [("x", 0.0), ("y", 0.0), ("z", 0.0), ("w", 0.0)];
    match kind {
        ValueKind::Vec2 => &VECTOR[..2],
        ValueKind::Vec3 => &VECTOR[..3],
        ValueKind::Vec4 => &VECTOR,
        ValueKind::Quat => &[("x", 0.0), ("y", 0.0), ("z", 0.0), ("w", 1.0)],
        ValueKind::Color => &[("r", 0.0), ("g", 0.0), ("b", 0.0), ("a", 255.0)],
        ValueKind::Size => &[("width", 0.0), ("height", 0.0)],
        ValueKind::Rect => &[("x", 0.0), ("y", 0.0), ("width", 0.0), ("height", 0.0)],
        ValueKind::Number | ValueKind::Held | ValueKind::Custom { .. } => &[],
    }
}

/// The place of a number among those of a value, by its name.
pub(super) fn element(name: &str) -> Option<usize> {
    match name {
        "x" | "r" | "width" => Some(0),
        "y" | "g" | "height" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

/// Appends the numbers of a value that is to be of a kind. Of more numbers than that the first count.
pub(super) fn plain(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), Fault> {
    if kind == ValueKind::Number {
        out.push(node.number()?);
        return Ok(());
    }
    let wrong = || node.fault(format!("it is {}, where the first value is a {kind:?}", node.what()));
    if node.value().is_array() {
        let list = node.list()?;
        let opaque = kind == ValueKind::Color && list.len() == 3;
        let longer = is_vector(kind) && (kind.width()..=4).contains(&list.len());
        if !(opaque || longer || list.len() == kind.width()) {
            return Err(wrong());
        }
        for index in 0..list.len().min(kind.width()) {
            out.push(list.need(index)?.number()?);
        }
        if opaque {
            out.push(255.0);
        }
        return Ok(());
    }
    let own = node.type_name().and_then(typed).ok_or_else(wrong)?;
    let longer = is_vector(kind) && is_vector(own) && own.width() >= kind.width();
    if own != kind && !longer {
        return Err(wrong());
    }
    if own == ValueKind::Color
        && let Some(packed) = node.get("_val")?
    {
        return unpack(&packed, out);
    }
    for &(name, missing) in fields(own).iter().take(kind.width()) {
        out.push(node.get(name)?.map_or(Ok(missing), |field| field.number())?);
    }
    Ok(())
}

/// Whether a value has x, y and so on, and nothing else.
fn is_vector(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Vec2 | ValueKind::Vec3 | ValueKind::Vec4 | ValueKind::Quat)
}

/// A colour in one number: red in the lowest byte, alpha in the highest.
fn unpack(node: &Node<'_>, out: &mut Vec<f64>) -> Result<(), Fault> {
    // Files have it with and without a sign.
    let number = node.integer()?;
    let bits = u32::try_from(number).or_else(|_| i32::try_from(number).map(|signed| signed as u32));
    let bits = bits.map_err(|_| node.fault(format!("{number} is no colour of four bytes")))?;
    out.extend(bits.to_le_bytes().map(f64::from));
    Ok(())
}

/// Appends in-tangent, value and out-tangent of a value that is to have tangents.
pub(super) fn tangents(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), Fault> {
    plain(&spline_field(node, kind, "inTangent")?, kind, out)?;
    data_point(node, kind, out)?;
    plain(&spline_field(node, kind, "outTangent")?, kind, out)
}

/// Appends the value alone of a value that is to have tangents.
pub(super) fn data_point(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), Fault> {
    plain(&spline_field(node, kind, "dataPoint")?, kind, out)
}

fn spline_field<'a>(node: &Node<'a>, kind: ValueKind, name: &'a str) -> Result<Node<'a>, Fault> {
    if node.type_name().and_then(spline) != Some(kind) {
        return Err(node.fault(format!("it is {}, where the first value is a {kind:?} with tangents", node.what())));
    }
    node.need(name)
}

/// Appends the numbers of a value of an interpolator.
pub(super) fn custom(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
    id: InterpolatorId,
    out: &mut Vec<f64>,
) -> Result<(), Fault> {
    let library = reader.library;
    let interpolator = library.interpolator(id);
    if node.type_name() != Some(interpolator.name()) {
        return Err(node.fault(format!("it is {}, where the first value is a {}", node.what(), interpolator.name())));
    }
    let whole = [("values", interpolator.width())];
    let fields = if interpolator.fields().is_empty() { &whole } else { interpolator.fields() };
    let object = node.value().as_object();
    for (name, width) in fields {
        // The file's own spelling lives as long as the file.
        let Some(name) = object.and_then(|object| object.get_key_value(*name)).map(|(name, _)| name.as_str()) else {
            return Err(node.fault(format!("it has no `{name}`")));
        };
        let field = node.need(name)?;
        let start = out.len();
        flatten(reader, &field, start + width, 0, out)?;
        if out.len() - start != *width {
            return Err(field.fault(format!("it is {width} numbers, not {}", out.len() - start)));
        }
    }
    Ok(())
}

/// Appends the numbers of a value, of what is within it, and so on, one more than `most` at the most.
fn flatten(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
    most: usize,
    depth: usize,
    out: &mut Vec<f64>,
) -> Result<(), Fault> {
    // References can lead in circles.
    const DEEPEST: usize = 8;
    reader.charge(node.place(), 8)?;
    if depth > DEEPEST {
        return Err(node.fault(format!("a value within values, {DEEPEST} deep; it should be numbers")));
    }
    if let Some(kind) = node.type_name().and_then(typed) {
        return plain(node, kind, out);
    }
    if !node.value().is_array() {
        out.push(node.number()?);
        return Ok(());
    }
    for item in node.list()?.nodes() {
        if out.len() > most {
            break;
        }
        flatten(reader, &item?, most, depth + 1, out)?;
    }
    Ok(())
}
