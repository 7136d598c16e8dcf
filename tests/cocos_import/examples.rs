use serde_json::{Value, json};

/// All examples, one of each form.
pub fn all() -> [Value; 5] {
    [document(), seed(), frames(), modifiers(), tracks()]
}

/// The documented form of clips.
pub fn document() -> Value {
    json!({
        "name": "nod", "duration": 2.0, "speed": 0.5, "wrapMode": "pingPong",
        "keys": [[0.0, 0.5, 2.0], [0.0, 2.0]],
        "curveDatas": {
            "/": { "active": { "keys": 0, "values": [true, false, true] } },
            "/Head": {
                "position": { "keys": 0, "values": [[0, 0, 0], [1, 2, 3], [0, 4, 0, 9]], "easingMethod": "quadIn" },
                "rotation": { "keys": 1, "values": [[0, 0, 0, 1], [0, 0, 1, 0]] },
                "props": { "scale": { "keys": 0, "values": [v3(1.0), v3(2.0), v3(4.0)], "interpolate": false } },
            },
            "Body//Arm/": {
                "comps": { "cc.Sprite": {
                    "color": { "keys": 1, "values": [[255, 0, 51], [0, 255, 51]] },
                    "frame": { "keys": 1, "values": [{ "__uuid__": "one" }, { "__uuid__": "two" }] },
                    "told": { "keys": 0, "values": [told(1.0), told(3.0), told(5.0)], "easingMethods": ["quadIn", null] },
                    "size": { "keys": -1, "values": [{ "__type__": "cc.Size", "width": 3, "height": 4 }] },
                    "rect": { "keys": 1, "values": [rect(0.0), rect(8.0)], "easingMethods": { "0": [0.2, 0.0, 0.4, 1.0] } },
                    "none": { "keys": 1, "values": [] },
                } },
            },
        },
        "events": [{ "frame": 1.5, "func": "late", "params": ["a", 2, { "b": null }] }, { "frame": 0.5, "func": "soon" }],
    })
}

fn v3(x: f64) -> Value {
    json!({ "__type__": "cc.Vec3", "x": x, "y": x, "z": x })
}

fn told(a: f64) -> Value {
    json!({ "__type__": "custom", "a": a })
}

fn rect(x: f64) -> Value {
    json!({ "__type__": "cc.Rect", "x": x, "y": 1, "width": 2, "height": 3 })
}

/// Creator 3D before release 1.0.
pub fn seed() -> Value {
    let spline = |value: f64| {
        let quat = |x: f64| json!({ "__type__": "cc.Quat", "x": x, "y": 0, "z": 0, "w": 1 });
        let name = "cc.CubicSplineQuatValue";
        json!({ "__type__": name, "dataPoint": quat(value), "inTangent": quat(0.5), "outTangent": quat(0.25) })
    };
    json!({
        "__type__": "cc.AnimationClip", "_name": "lamp", "_duration": 4, "_keys": [[0, 4], [1, 2, 3]],
        "sample": 60, "speed": 1, "wrapMode": 2, "_stepness": 0, "events": [],
        "curveDatas": {
            "/lamp": {
                "props": { "rotation": { "keys": 0, "values": [spline(0.0), spline(1.0)] } },
                "comps": { "cc.Light": {
                    "color": { "keys": 0, "values": [packed(0xff00_0000_u32), packed(0x8040_20ff_u32)] },
                    "power": { "keys": 1, "values": [1, 2, 4], "easingMethods": ["quadIn"] },
                } },
            },
        },
    })
}

fn packed(bits: u32) -> Value {
    json!({ "__type__": "cc.Color", "_val": bits })
}

/// The 2.x line.
pub fn frames() -> Value {
    json!({
        "__type__": "cc.AnimationClip", "_name": "fade", "_duration": 1, "sample": 60, "speed": 2, "wrapMode": 22,
        "curveData": {
            "props": { "opacity": [{ "frame": 0, "value": 255 }, { "frame": 1, "value": 55, "curve": "quadOut" }] },
            "paths": { "arm/hand": {
                "props": {
                    "x": [{ "frame": 0, "value": 0, "curve": [0.2, 0, 0.4, 1] }, { "frame": 0.5, "value": 40 }],
                    "y": [{ "frame": 0, "value": 0, "curve": "constant" }, { "frame": 0.5, "value": 40, "motionPath": [] }],
                },
                "comps": { "cc.Sprite": { "spriteFrame": [{ "frame": 0, "value": { "__uuid__": "leaf" } }] } },
            } },
        },
        "events": [{ "frame": 0.5, "func": "half", "params": ["a"] }],
    })
}

/// Releases 1.0 to 3.2.
pub fn modifiers() -> Value {
    json!([
        { "__type__": "cc.AnimationClip", "_name": "glow", "_duration": 2, "_keys": [[0, 2], [0, 1, 2]], "wrapMode": 1,
          "_curves": [
            { "modifiers": [{ "__id__": 1 }, { "__id__": 2 }, "sharedMaterials", 0], "valueAdapter": { "__id__": 3 },
              "data": { "keys": 0, "values": [0, 1], "easingMethods": { "0": "sineIn" } } },
            { "modifiers": ["y"], "commonTarget": 0, "data": { "keys": 0, "values": [0, 3], "easingMethods": {} } },
            { "modifiers": [{ "__id__": 1 }, { "__id__": 4 }, "eulerAngles"], "data": { "__id__": 5 } },
          ],
          "_commonTargets": [{ "modifiers": ["position"] }] },
        { "__type__": "cc.animation.HierarchyPath", "path": "arm" },
        { "__type__": "cc.animation.ComponentPath", "component": "cc.MeshRenderer" },
        { "__type__": "cc.animation.UniformProxyFactory", "passIndex": 0, "uniformName": "glow", "channelIndex": 2 },
        { "__type__": "cc.animation.HierarchyPath", "path": "hand/thumb" },
        { "keys": 1, "values": [v3(0.0), { "__id__": 6 }, v3(2.0)] },
        v3(1.0),
    ])
}

/// Release 3.3 and later.
pub fn tracks() -> Value {
    let curve = |values: &[f64]| json!({ "__type__": "cc.animation.Channel", "_curve": real(values) });
    let empty = json!({ "_curve": { "__type__": "cc.RealCurve", "_times": [], "_values": [] } });
    let quats = json!({ "__type__": "cc.QuatCurve", "_times": [0, 1], "_values": [
        { "value": { "__type__": "cc.Quat", "x": 0, "y": 0, "z": 0, "w": 1 }, "interpolationMode": 0, "easingMethod": 2 },
        { "value": { "__type__": "cc.Quat", "x": 0, "y": 1, "z": 0, "w": 0 }, "interpolationMode": 0, "easingMethod": 0 },
    ] });
    let objects = json!({ "__type__": "cc.ObjectCurve", "_times": [0, 1], "_values": [{ "__uuid__": "a" }, null] });
    json!([
        { "__type__": "cc.AnimationClip", "_name": "open", "_duration": 1, "wrapMode": 1, "enableTrsBlending": false,
          "_tracks": [
            { "__id__": 1 },
            track("VectorTrack", "position", json!({ "_nComponents": 3, "_channels": [
                curve(&[0.0, 1.0]), empty, curve(&[2.0, 4.0]), empty] })),
            track("ColorTrack", "tint", json!({ "_channels": [empty, empty, empty, curve(&[0.0, 255.0])] })),
            track("SizeTrack", "contentSize", json!({ "_channels": [empty, empty] })),
            track("QuatTrack", "rotation", json!({ "_channel": { "_curve": quats } })),
            track("ObjectTrack", "spriteFrame", json!({ "_channel": { "_curve": objects } })),
            track("RealArrayTrack", "weights", json!({ "_channels": [curve(&[0.0, 1.0]), empty, curve(&[1.0, 0.0])] })),
            track("UntypedTrack", "anchor", json!({ "_channels": [
                { "property": "z", "_curve": real(&[5.0, 6.0]) }, { "property": "x", "_curve": real(&[7.0, 8.0]) }] })),
          ],
          "_exoticAnimation": null, "_events": [{ "frame": 0, "func": "start", "params": [] }],
          "_embeddedPlayers": [], "_additiveSettings": { "__id__": 6 }, "_auxiliaryCurveEntries": [] },
        { "__type__": "cc.animation.RealTrack", "_channel": { "__id__": 4 },
          "_binding": { "__type__": "cc.animation.TrackBinding", "path": { "__id__": 2 }, "proxy": null } },
        { "__type__": "cc.animation.TrackPath", "_paths": [{ "__id__": 3 }, "width"] },
        { "__type__": "cc.animation.HierarchyPath", "path": "door" },
        { "__type__": "cc.animation.Channel", "_curve": { "__id__": 5 } },
        { "__type__": "cc.RealCurve", "_times": [0, 1], "preExtrapolation": 1, "postExtrapolation": 0, "_values": [
            { "__type__": "cc.RealKeyframeValue", "interpolationMode": 2, "tangentWeightMode": 0, "value": 0,
              "rightTangent": 2, "rightTangentWeight": 1, "leftTangent": 0, "leftTangentWeight": 1, "easingMethod": 0 },
            { "__type__": "cc.RealKeyframeValue", "interpolationMode": 0, "value": 3, "easingMethod": 0 } ] },
        { "__type__": "cc.AnimationClipAdditiveSettings", "enabled": false, "refClip": null },
    ])
}

/// A linear curve over the first second.
fn real(values: &[f64]) -> Value {
    let keys: Vec<Value> = values.iter().map(|value| json!({ "value": value })).collect();
    json!({ "__type__": "cc.RealCurve", "_times": (0..values.len()).collect::<Vec<_>>(), "_values": keys })
}

/// A track of a property of the node `door`, with more fields.
pub fn track(kind: &str, property: &str, mut fields: Value) -> Value {
    let path = json!({ "__type__": "cc.animation.HierarchyPath", "path": "door" });
    fields["__type__"] = json!(format!("cc.animation.{kind}"));
    fields["_binding"] = json!({ "path": { "_paths": [path, property] }, "proxy": null });
    fields
}
