use posse::binding::UnboundCurves;
use posse::binding::color_bytes;
use posse::curves::Curve;
use serde_json::{Value, json};

use super::examples;
use super::{read, value};
use crate::support::skip::collected_or_skip;

/// The collected figures; `None` if they are not there.
fn figures() -> Option<Value> {
    let file = collected_or_skip("cocos/curves.json", "the figures of curves")?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

/// The only curve of a clip; `None` if it has no keys.
fn only_curve(clip: &Value) -> Option<Curve> {
    let mut file = read(clip).unwrap();
    match file.clip.tracks.pop().unwrap().curves {
        UnboundCurves::Empty => None,
        UnboundCurves::Whole(curve) => Some(curve),
        other => panic!("{other:?}"),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_f64().unwrap()).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// The tolerance of values: rounding, which steep Bezier easings multiply.
const TOLERANCE: f64 = 1e-12;
const STEEP: f64 = 1e-9;

/// Returns whether any part of a case is eased by a Bezier curve.
fn has_bezier(case: &Value) -> bool {
    let list = |easing: &Value| easing.is_array();
    let inner = |value: Option<&Value>| match value {
        Some(Value::Array(items)) => items.iter().any(list),
        Some(Value::Object(fields)) => fields.values().any(list),
        _ => false,
    };
    case.get("easingMethod").is_some_and(list) || inner(case.get("easingMethods"))
}

#[track_caller]
fn assert_near(value: &[f64], expected: &[f64], magnitude: f64, tolerance: f64, what: &str) {
    assert_eq!(value.len(), expected.len(), "{what}");
    for (value, expected) in value.iter().zip(expected) {
        assert!((value - expected).abs() <= tolerance * magnitude, "{what}: {value}, not {expected}");
    }
}

/// The largest absolute value in `values`.
fn magnitude(values: &Value) -> f64 {
    match values {
        Value::Array(items) => items.iter().map(magnitude).fold(1.0, f64::max),
        Value::Object(fields) => fields.values().map(magnitude).fold(1.0, f64::max),
        number => number.as_f64().unwrap_or(0.0).abs(),
    }
}

/// A value in the form of a clip file.
fn encode(kind: &str, value: &Value) -> Value {
    let object = |name: &str, fields: &[&str]| {
        let mut object = json!({ "__type__": name });
        for (field, number) in fields.iter().zip(array(value)) {
            object[*field] = number.clone();
        }
        object
    };
    match kind {
        "vec2" => object("cc.Vec2", &["x", "y"]),
        "vec3" => object("cc.Vec3", &["x", "y", "z"]),
        "vec4" => object("cc.Vec4", &["x", "y", "z", "w"]),
        "quat" => object("cc.Quat", &["x", "y", "z", "w"]),
        "color" => object("cc.Color", &["r", "g", "b", "a"]),
        "size" => object("cc.Size", &["width", "height"]),
        "rect" => object("cc.Rect", &["x", "y", "width", "height"]),
        "custom" | "custom_bare" => json!({ "__type__": kind, "a": value }),
        "number" | "object" | "bool" => value.clone(),
        spline => {
            let of = spline.strip_prefix("cs_").unwrap();
            let name = of[..1].to_uppercase() + &of[1..];
            let [point, before, after] = ["v", "in", "out"].map(|field| encode(of, &value[field]));
            let name = format!("cc.CubicSpline{name}Value");
            json!({ "__type__": name, "dataPoint": point, "inTangent": before, "outTangent": after })
        }
    }
}

fn document(case: &Value) -> Value {
    let kind = case["type"].as_str().unwrap();
    let constant = case["keys"].is_null();
    let keys = if constant { json!([]) } else { json!([case["keys"]]) };
    let values: Vec<Value> = array(&case["values"]).iter().map(|value| encode(kind, value)).collect();
    let mut curve = json!({ "keys": if constant { -1 } else { 0 }, "values": values });
    for name in ["interpolate", "easingMethod", "easingMethods"] {
        if let Some(value) = case.get(name) {
            curve[name] = value.clone();
        }
    }
    json!({ "duration": case["duration"], "keys": keys, "curveDatas": { "/": { "p": curve } } })
}

/// The figures of the first release, or of the next release that knew the form. The first release turned a w of 0 of a
/// quaternion into 1 on import, and so interpolated other values than the file has.
fn expected<'a>(case: &Value, expected: &'a Value) -> &'a [Value] {
    let no_w = |value: &Value| case["type"] == "quat" && value[3] == json!(0);
    let seed = expected["seed"].is_array() && !array(&case["values"]).iter().any(no_w);
    array(&expected[if seed { "seed" } else { "v385" }])
}

fn check_case(case: &Value, curve: &Curve, times: &Value, expected: &[Value], raw: Option<&Value>) {
    let tolerance = if has_bezier(case) { STEEP } else { TOLERANCE };
    let magnitude = magnitude(&case["values"]);
    assert_eq!(array(times).len(), expected.len());
    for (index, (time, expected)) in array(times).iter().zip(expected).enumerate() {
        let time = time.as_f64().unwrap();
        let what = format!("{} ({}) at {time}", case["id"], case["note"]);
        let found = value(curve, time);
        match case["type"].as_str().unwrap() {
            "object" | "bool" => assert_eq!(&case["values"][found[0] as usize], expected, "{what}"),
            "color" => {
                // Later releases round to bytes in other ways.
                if case["expected"]["seed"].is_array() {
                    let bytes = color_bytes(found.clone().try_into().unwrap());
                    assert_eq!(bytes.map(f64::from).to_vec(), numbers(expected), "{what}");
                }
                if let Some(raw) = raw {
                    assert_near(&found, &numbers(&raw[index]), magnitude, tolerance, &what);
                }
            }
            "custom_bare" => match expected.get("self") {
                Some(own) => assert_eq!((found[0], found[3]), (own.as_f64().unwrap(), 1.0), "{what}"),
                None => assert_near(&found, &[numbers(expected), vec![0.0]].concat(), magnitude, tolerance, &what),
            },
            _ => assert_near(&found, &numbers(expected), magnitude, tolerance, &what),
        }
    }
}

#[test]
fn curves_over_ratios_have_the_values_of_the_figures() {
    let Some(figures) = figures() else { return };
    for case in array(&figures["cases"]) {
        let Some(curve) = only_curve(&document(case)) else {
            assert!(expected(case, &case["expected"]).iter().all(Value::is_null), "{}", case["id"]);
            continue;
        };
        check_case(case, &curve, &case["times"], expected(case, &case["expected"]), case.get("raw"));
        if let Some(edge) = case.get("edge").filter(|edge| !edge.is_null()) {
            check_case(case, &curve, &edge["times"], expected(case, edge), None);
        }
    }
}

/// A clip of one track with one curve.
fn one_track(kind: &str, curve: Value) -> Value {
    let track = examples::track(kind, "p", json!({ "_channel": { "_curve": curve } }));
    json!({ "__type__": "cc.AnimationClip", "_duration": 4, "_tracks": [track] })
}

/// A keyframe curve of the figures, with its keyframes in the form of a clip file.
fn keyframe_curve(figure: &Value, keyframe: impl Fn(&Value) -> Value) -> Value {
    let keyframes = array(&figure["keyframes"]);
    let times: Vec<&Value> = keyframes.iter().map(|keyframe| &keyframe["time"]).collect();
    json!({ "_times": times, "_values": keyframes.iter().map(keyframe).collect::<Vec<_>>(),
        "preExtrapolation": figure["pre"], "postExtrapolation": figure["post"] })
}

fn check_keyframes(figure: &Value, clip: &Value, tolerance: f64) {
    let Some(curve) = only_curve(clip) else {
        assert_eq!(array(&figure["keyframes"]).len(), 0);
        return;
    };
    let magnitude = magnitude(&figure["expected"]);
    for (time, expected) in array(&figure["times"]).iter().zip(array(&figure["expected"])) {
        let time = time.as_f64().unwrap();
        let what = format!("{} at {time}", figure["id"]);
        assert_near(&value(&curve, time), &numbers(expected), magnitude, tolerance, &what);
    }
}

#[test]
fn real_curves_have_the_values_of_the_figures() {
    let Some(figures) = figures() else { return };
    for figure in array(&figures["real_curves"]) {
        let curve = keyframe_curve(figure, |key| {
            json!({ "value": key["value"], "interpolationMode": key["interp"], "tangentWeightMode": key["twm"],
                "leftTangent": key["lt"], "leftTangentWeight": key["ltw"], "rightTangent": key["rt"],
                "rightTangentWeight": key["rtw"], "easingMethod": key["easing"] })
        });
        // Weights make time a Bezier curve, which can be steep.
        let weighted = array(&figure["keyframes"]).iter().any(|key| key["twm"] != json!(0));
        check_keyframes(figure, &one_track("RealTrack", curve), if weighted { STEEP } else { TOLERANCE });
    }
}

#[test]
fn quaternion_curves_have_the_values_of_the_figures() {
    let Some(figures) = figures() else { return };
    for figure in array(&figures["quat_curves"]) {
        let curve = keyframe_curve(figure, |key| {
            json!({ "value": encode("quat", &key["value"]), "interpolationMode": key["interp"],
                "easingMethod": key["easing"] })
        });
        check_keyframes(figure, &one_track("QuatTrack", curve), STEEP);
    }
}

#[test]
fn object_curves_have_the_values_of_the_figures() {
    let Some(figures) = figures() else { return };
    for figure in array(&figures["object_curves"]) {
        let curve = json!({ "_times": figure["times_keys"], "_values": figure["values"] });
        let curve = only_curve(&one_track("ObjectTrack", curve)).unwrap();
        for (time, expected) in array(&figure["times"]).iter().zip(array(&figure["expected"])) {
            let index = value(&curve, time.as_f64().unwrap())[0];
            assert_eq!(&figure["values"][index as usize], expected, "at {time}");
        }
    }
}
