//! Documents of Cocos Creator, made of bytes as a program would make them.

use arbitrary::{Result, Unstructured};
use posse::WrapMode;
use posse::curves::Easing;
use posse::import::cocos::{CurveData, Document, Keys, color, grey, quat, rect, size, spline, vec2, vec3, vec4};
use serde_json::{Value, json};

use crate::numbers;

const PATHS: [&str; 9] = ["", "/", "root", "/arm", "/arm/hand", "root/arm/hand/", "board", "//", "arm/other"];
const COMPONENTS: [&str; 3] = ["cc.Sprite", "cc.Light", "glow"];
const PROPERTIES: [&str; 10] =
    ["position", "rotation", "scale", "eulerAngles", "active", "opacity", "color", "width", "props", "_lpos"];

/// A document.
pub fn document(bytes: &mut Unstructured) -> Result<Document> {
    let mut clip = Document::new(if bytes.ratio(1, 8)? {
        numbers::any(bytes)?
    } else {
        f64::from(bytes.int_in_range(0..=64u8)?) / 16.0
    });
    if bytes.ratio(1, 4)? {
        clip.speed(numbers::any(bytes)?);
    }
    match bytes.int_in_range(0..=3)? {
        0 => drop(clip.wrap_mode(*bytes.choose(&WrapMode::ALL)?)),
        1 => clip.wrap_mode = Some(any_json(bytes)?),
        _ => {}
    }
    let mut lists = vec![Keys::CONSTANT];
    for _ in 0..bytes.int_in_range(0..=3)? {
        let times = if bytes.ratio(3, 4)? {
            numbers::times(bytes, 8)?
        } else {
            let count = bytes.int_in_range(0..=4)?;
            (0..count).map(|_| numbers::any(bytes)).collect::<Result<_>>()?
        };
        lists.push(clip.keys(times));
    }
    for _ in 0..bytes.int_in_range(0..=4)? {
        let list = bytes.choose_index(lists.len())?;
        let count = if list == 0 { 1 } else { clip.keys[list - 1].len() };
        let count = if bytes.ratio(1, 16)? { bytes.int_in_range(0..=9)? } else { count };
        let kind = bytes.int_in_range(0..=12)?;
        let values = (0..count).map(|_| value(bytes, kind)).collect::<Result<Vec<_>>>()?;
        let (path, property) = (*bytes.choose(&PATHS)?, *bytes.choose(&PROPERTIES)?);
        let curve = if bytes.ratio(1, 4)? {
            clip.component_curve(path, *bytes.choose(&COMPONENTS)?, property, lists[list], values)
        } else {
            clip.curve(path, property, lists[list], values)
        };
        ease(bytes, curve, count)?;
    }
    for _ in 0..bytes.int_in_range(0..=2)? {
        let parameter = any_json(bytes)?;
        clip.event(numbers::any(bytes)?, "call", [parameter]);
    }
    Ok(clip)
}

fn ease(bytes: &mut Unstructured, curve: &mut CurveData, count: usize) -> Result<()> {
    match bytes.int_in_range(0..=7)? {
        0 => drop(curve.ease(easing(bytes)?)),
        1 => {
            let easings = (0..count).map(|_| Ok(if bytes.arbitrary()? { Some(easing(bytes)?) } else { None }));
            let easings = easings.collect::<Result<Vec<_>>>()?;
            curve.ease_each(easings);
        }
        2 => drop(curve.step()),
        3 => curve.easing_method = Some(any_json(bytes)?),
        4 => curve.easing_methods = Some(any_json(bytes)?),
        _ => {}
    }
    Ok(())
}

fn easing(bytes: &mut Unstructured) -> Result<Easing> {
    if bytes.arbitrary()? {
        let easing = Easing::from_id(bytes.int_in_range(0..=50)?);
        return Ok(easing.unwrap_or(Easing::Bezier([0.0; 4])));
    }
    let mut points = [0.0; 4];
    for point in &mut points {
        *point = numbers::any(bytes)?;
    }
    Ok(Easing::Bezier(points))
}

fn value(bytes: &mut Unstructured, kind: u8) -> Result<Value> {
    let mut number = || if bytes.ratio(1, 16)? { numbers::any(bytes) } else { numbers::small(bytes) };
    Ok(match kind {
        0 => json!(number()?),
        1 => vec2(number()?, number()?),
        2 | 3 => vec3(number()?, number()?, number()?),
        4 => vec4(number()?, number()?, number()?, number()?),
        5 | 6 => quat(number()?, number()?, number()?, number()?),
        7 => color(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
        8 => grey(bytes.arbitrary()?),
        9 => size(number()?, number()?),
        10 => rect(number()?, number()?, number()?, number()?),
        11 => {
            let kind = *bytes.choose(&[0, 1, 2, 4, 5])?;
            spline(value(bytes, kind)?, value(bytes, kind)?, value(bytes, kind)?)
        }
        _ => any_json(bytes)?,
    })
}

fn any_json(bytes: &mut Unstructured) -> Result<Value> {
    Ok(match bytes.int_in_range(0..=8)? {
        0 => Value::Null,
        1 => json!(bytes.arbitrary::<bool>()?),
        2 => json!(bytes.arbitrary::<i64>()?),
        3 => json!(numbers::any(bytes)?),
        4 => json!(bytes.choose(&["quadIn", "constant", "loop", "PingPong", "", "0"])?),
        5 => json!([numbers::any(bytes)?, numbers::any(bytes)?, numbers::any(bytes)?, numbers::any(bytes)?]),
        6 => json!({ "0": "quadIn", "7": null }),
        7 => json!({ "__type__": "cc.Vec3", "x": numbers::any(bytes)? }),
        _ => json!([]),
    })
}
