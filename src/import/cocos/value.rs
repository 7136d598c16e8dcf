//! Values of keys into numbers.

use serde_json::Value;

use super::node::{ImportState, Node};
use crate::import::FileError;
use crate::model::{InterpolatorId, TargetPath, ValueKind};

/// The shape of the values of a curve. The first value decides it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ValueShape {
    /// A value of a kind.
    Plain(ValueKind),
    /// A value of a kind with an in-tangent and an out-tangent.
    Spline(ValueKind),
    /// Values of an interpolator.
    Custom(InterpolatorId),
    /// A value that does not interpolate.
    Held,
}

impl ValueShape {
    /// The shape by the first value; `None` is null.
    pub fn from_first(reader: &ImportState<'_>, first: Option<&Node<'_>>, target: &TargetPath) -> Self {
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
        // Long lists are not searched, since many curves can refer to the same list.
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

/// The kind of value of a `__type__`.
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

/// The kind of value of a `__type__` with tangents.
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

/// The fields of an object of a kind, with their defaults.
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

/// The index of a number within its value, by its name.
pub(super) fn element(name: &str) -> Option<usize> {
    match name {
        "x" | "r" | "width" => Some(0),
        "y" | "g" | "height" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

/// Appends the numbers of a value that has to be of a kind. Of a longer vector, the first numbers are used.
pub(super) fn plain(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), FileError> {
    if kind == ValueKind::Number {
        out.push(node.number()?);
        return Ok(());
    }
    let wrong = || node.error(format!("it is {}, but the first value is a {kind:?}", node.describe()));
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

/// True for kinds of which all numbers are named x, y, z and w.
fn is_vector(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Vec2 | ValueKind::Vec3 | ValueKind::Vec4 | ValueKind::Quat)
}

/// Appends a colour that is packed in one number: red in the lowest byte, alpha in the highest.
fn unpack(node: &Node<'_>, out: &mut Vec<f64>) -> Result<(), FileError> {
    // Files hold signed and unsigned numbers.
    let number = node.integer()?;
    let bits = u32::try_from(number).or_else(|_| i32::try_from(number).map(|signed| signed as u32));
    let bits = bits.map_err(|_| node.error(format!("{number} is not a colour of four bytes")))?;
    out.extend(bits.to_le_bytes().map(f64::from));
    Ok(())
}

/// Appends in-tangent, value and out-tangent of a value that has to have tangents.
pub(super) fn tangents(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), FileError> {
    plain(&spline_field(node, kind, "inTangent")?, kind, out)?;
    data_point(node, kind, out)?;
    plain(&spline_field(node, kind, "outTangent")?, kind, out)
}

/// Appends only the value of a value that has to have tangents.
pub(super) fn data_point(node: &Node<'_>, kind: ValueKind, out: &mut Vec<f64>) -> Result<(), FileError> {
    plain(&spline_field(node, kind, "dataPoint")?, kind, out)
}

fn spline_field<'a>(node: &Node<'a>, kind: ValueKind, name: &'a str) -> Result<Node<'a>, FileError> {
    if node.type_name().and_then(spline) != Some(kind) {
        return Err(node.error(format!("it is {}, but the first value is a {kind:?} with tangents", node.describe())));
    }
    node.need(name)
}

/// Appends the numbers of a value of an interpolator.
pub(super) fn custom(
    reader: &mut ImportState<'_>,
    node: &Node<'_>,
    id: InterpolatorId,
    out: &mut Vec<f64>,
) -> Result<(), FileError> {
    let library = reader.library;
    let interpolator = library.interpolator(id);
    if node.type_name() != Some(interpolator.name()) {
        return Err(node.error(format!("it is {}, but the first value is a {}", node.describe(), interpolator.name())));
    }
    let whole = [("values", interpolator.width())];
    let fields = if interpolator.fields().is_empty() { &whole } else { interpolator.fields() };
    let object = node.value().as_object();
    for (name, width) in fields {
        // The name is taken from the file, since a path needs its lifetime.
        let Some(name) = object.and_then(|object| object.get_key_value(*name)).map(|(name, _)| name.as_str()) else {
            return Err(node.error(format!("it has no `{name}`")));
        };
        let field = node.need(name)?;
        let start = out.len();
        flatten(reader, &field, start + width, 0, out)?;
        if out.len() - start != *width {
            return Err(field.error(format!("it has {} numbers, but has to have {width}", out.len() - start)));
        }
    }
    Ok(())
}

/// Appends the numbers of a value and of all values within it, at most one more than `most`.
fn flatten(
    reader: &mut ImportState<'_>,
    node: &Node<'_>,
    most: usize,
    depth: usize,
    out: &mut Vec<f64>,
) -> Result<(), FileError> {
    // References can lead around in a circle.
    const DEEPEST: usize = 8;
    reader.charge(node.path(), 8)?;
    if depth > DEEPEST {
        return Err(node.error(format!("values are nested more than {DEEPEST} deep; expected numbers")));
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
