//! Crowd files whose parameters, blend spaces, sync, markers or transitions are refused: each error is named by its
//! path.

use serde_json::{Value, json};

use super::{Folder, stderr};

/// A crowd with everything that follows from parameters, leaders and transitions.
fn sound() -> Value {
    json!({
        "files": ["rig.glb"],
        "blend_spaces": { "move": { "x": "speed", "y": "turn", "points": [[0, 0], [1, 0], [0, 1], [1, 1]] } },
        "markers": [{ "clip": "walk", "times": [0.25, 0.5] }, { "clip": "run", "times": [0.5, 1.0] }],
        "instances": [{}, {
            "parameters": { "speed": 0.5, "turn": [[0, 0], [1, 1]] },
            "layers": [
                { "clip": "walk", "wrap": "loop" },
                { "clip": "run", "sync": 0, "weight": { "blend_space": "move", "point": 1 } },
                { "clip": "sway", "time": { "parameter": "speed" },
                  "weight": { "parameter": "turn", "knots": [[0, 0], [1, 1]] } },
            ],
            "transition": { "start": 2, "half_life": 0.1, "from": [{ "clip": "walk" }],
                "transition": { "start": 1, "kind": "dead", "half_life": 0.1, "seconds": 0.5,
                    "from": [{ "clip": "walk" }, { "clip": "run", "sync": 0 }] } },
        }],
    })
}

/// Errors: the place of a value as a JSON pointer, the value (null removes it), the path of the error, a part of the
/// message.
type Errors<'a> = &'a [(&'a str, Value, &'a str, &'a str)];

/// Asserts that the sound crowd is refused with each of these values. The paths are below a prefix.
#[track_caller]
fn assert_refused(prefix: [&str; 2], errors: Errors) {
    let folder = Folder::new();
    let [pointers, paths] = prefix;
    for (pointer, value, path, saying) in errors {
        let mut crowd = sound();
        let pointer = format!("{pointers}{pointer}");
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match crowd.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value.clone(),
            object if value.is_null() => drop(object.as_object_mut().unwrap().remove(key)),
            object => object[key] = value.clone(),
        }
        folder.assert_refused(&crowd.to_string(), &format!("{paths}{path}"), saying);
    }
}

#[test]
fn the_sound_crowd_is_posed() {
    let folder = Folder::new();
    let answer = folder.json(&sound(), "0,1.5,2.1,4", "reference");
    assert_eq!(answer["samples"].as_array().unwrap().len(), 4);
}

#[test]
fn errors_of_parameters_are_named_by_their_path() {
    let many: serde_json::Map<String, Value> = (0..17).map(|index| (format!("p{index}"), json!(0))).collect();
    assert_refused(
        ["/instances/1/parameters", "instances[1].parameters"],
        &[
            ("", json!([]), "", "object"),
            ("", json!(many), "", "there are 17 parameters; an instance has at most 16"),
            ("/speed", json!("fast"), ".speed", "expected a number, or a list of pairs"),
            ("/speed", json!(true), ".speed", "expected a number"),
            ("/speed", json!({ "t": 0 }), ".speed", "expected a number"),
            ("/speed", json!([]), ".speed", "empty"),
            ("/speed", json!([1, 2]), ".speed[0]", "array"),
            ("/speed", json!([[0]]), ".speed[0]", "length"),
            ("/speed", json!([[0, "fast"]]), ".speed[0][1]", "string"),
            ("/speed", json!([[0, 0], [0, 1]]), ".speed", "the time 0 s follows 0 s; times must increase"),
            ("/speed", json!([[2, 0], [1, 1]]), ".speed", "the time 1 s follows 2 s"),
            ("/speed", json!(1e39), ".speed", "finite"),
            ("/speed", json!([[0, 1e39]]), ".speed", "finite"),
        ],
    );
}

#[test]
fn errors_of_times_and_sync_are_named_by_their_path() {
    assert_refused(
        ["/instances/1/layers", "instances[1].layers"],
        &[
            (
                "/2/time",
                json!({ "parameter": "pace" }),
                "[2].time.parameter",
                "no parameter \"pace\"; it has: speed, turn",
            ),
            ("/2/time", json!({ "parameter": 1 }), "[2].time.parameter", "string"),
            ("/2/time", json!({}), "[2].time", "missing field `parameter`"),
            ("/2/time", json!({ "parameter": "speed", "rate": 1 }), "[2].time.rate", "unknown field `rate`"),
            ("/2/time", json!(["speed"]), "[2].time", "expected an object"),
            ("/2/time", json!(0.5), "[2].time", "expected an object"),
            ("/2/start", json!(0), "[2].start", "follows from a parameter; leave `start` out"),
            ("/2/rate", json!(1), "[2].rate", "follows from a parameter; leave `rate` out"),
            ("/1/start", json!(0), "[1].start", "follows from its leader; leave `start` out"),
            ("/1/rate", json!(1), "[1].rate", "follows from its leader"),
            ("/1/time", json!({ "parameter": "speed" }), "[1].time", "follows from its leader"),
            ("/1/wrap", json!("loop"), "[1].wrap", "follows from its leader"),
            ("/1/sync", json!(1), "[1].sync", "layer 1 does not come before this one"),
            ("/1/sync", json!(2), "[1].sync", "layer 2 does not come before this one"),
            ("/1/sync", json!(99), "[1].sync", "layer 99 does not come before this one"),
            ("/1/sync", json!(-1), "[1].sync", "-1"),
            ("/1/sync", json!("walk"), "[1].sync", "string"),
            ("/2", json!({ "clip": "sway", "sync": 1 }), "[2].sync", "layer 1 follows another layer itself"),
            ("/0/start", json!("soon"), "[0].start", "string"),
        ],
    );
    let two = "clip \"run\" has 1 sync markers, but clip \"walk\", which it follows, has 2; give both as many";
    assert_refused(["/markers/1", "instances[1].layers"], &[("/times", json!([0.5]), "[1].sync", two)]);
}

#[test]
fn errors_of_weights_are_named_by_their_path() {
    let knots = |knots: Value| json!({ "parameter": "speed", "knots": knots });
    assert_refused(
        ["/instances/1/layers/1", "instances[1].layers[1]"],
        &[
            ("/weight", json!({}), ".weight", "the object is empty"),
            ("/weight", json!(true), ".weight", "expected a number, an object with"),
            ("/weight", json!([0.5]), ".weight", "expected a number, an object with"),
            ("/weight", json!({ "curve": 1 }), ".weight.curve", "unknown field `curve`"),
            ("/weight", json!({ "parameter": "speed" }), ".weight", "missing field `knots`"),
            ("/weight", json!({ "knots": [[0, 1]] }), ".weight", "missing field `parameter`"),
            ("/weight", json!({ "blend_space": "move" }), ".weight", "missing field `point`"),
            ("/weight", json!({ "point": 0 }), ".weight", "missing field `blend_space`"),
            ("/weight", json!({ "parameter": "speed", "blend_space": "move", "point": 0 }), ".weight", "not from both"),
            ("/weight", json!({ "parameter": "speed", "knots": [[0, 1]], "point": 0 }), ".weight", "not from both"),
            (
                "/weight",
                json!({ "parameter": "pace", "knots": [[0, 1]] }),
                ".weight.parameter",
                "no parameter \"pace\"",
            ),
            ("/weight", knots(json!([])), ".weight.knots", "empty"),
            ("/weight", knots(json!([[1, 0], [0, 1]])), ".weight.knots", "the value 0 follows 1; values must increase"),
            ("/weight", knots(json!([[0, 1], [0, 1]])), ".weight.knots", "the value 0 follows 0"),
            ("/weight", knots(json!([[0, -1]])), ".weight.knots", "0 or more"),
            ("/weight", knots(json!([[1e39, 1]])), ".weight.knots", "finite"),
            ("/weight", knots(json!([[0, 1, 2]])), ".weight.knots[0][2]", "trailing"),
            ("/weight", json!({ "blend_space": "walks", "point": 0 }), ".weight.blend_space", "the file has: move"),
            ("/weight", json!({ "blend_space": 0, "point": 0 }), ".weight.blend_space", "string"),
            ("/weight", json!({ "blend_space": "move", "point": 4 }), ".weight.point", "there is no point 4"),
            ("/weight", json!({ "blend_space": "move", "point": -1 }), ".weight.point", "-1"),
        ],
    );
    let missing = "blend space \"move\": the group has no parameter \"turn\"; it has: speed";
    assert_refused(
        ["/instances/1", "instances[1].layers[1].weight"],
        &[("/parameters", json!({ "speed": 1 }), ".blend_space", missing)],
    );
}

#[test]
fn errors_of_blend_spaces_are_named_by_their_path() {
    let line =
        json!({ "x": "speed", "y": "turn", "points": [[0, 0], [1, 1], [2, 2], [0, 1]], "triangles": [[0, 1, 2]] });
    assert_refused(
        ["/blend_spaces", "blend_spaces"],
        &[
            ("", json!([]), "", "an object with a value per name"),
            ("/move", json!([]), ".move", "expected an object"),
            ("/move", line, ".move.triangles[0]", "on a line"),
            ("/move/y", Value::Null, ".move", "missing field `y`"),
            ("/move/z", json!("lean"), ".move.z", "unknown field `z`"),
            ("/move/x", json!(0), ".move.x", "string"),
            ("/move/points", json!([[0, 0], [1, 0]]), ".move.points", "there are 2 points"),
            ("/move/points", json!([[0, 0], [1, 1], [2, 2]]), ".move.points", "all points are on a line"),
            ("/move/points", json!([[0, 0], [1, 0], [1e16, 1]]), ".move.points", "point 2"),
            ("/move/points", json!([[0, 0], [1, 0], [1]]), ".move.points[2]", "length"),
            ("/move/triangles", json!([]), ".move.triangles", "empty"),
            ("/move/triangles", json!([[0, 1]]), ".move.triangles[0]", "length"),
            ("/move/triangles", json!([[0, 1, -2]]), ".move.triangles[0][2]", "-2"),
            ("/move/triangles", json!([[0, 1, 2], [0, 1, 4]]), ".move.triangles[1]", "there is no point 4"),
            ("/move/triangles", json!([[0, 1, 2], [0, 3, 0]]), ".move.triangles[1]", "names a point twice"),
        ],
    );
}

#[test]
fn errors_of_markers_are_named_by_their_path() {
    assert_refused(
        ["/markers/1", "markers[1]"],
        &[
            ("/file", json!(1), ".file", "no files[1], the file has 1"),
            ("/clip", json!("dance"), ".clip", "no clip \"dance\""),
            ("/clip", json!(0), ".clip", "clip 0 has markers already"),
            ("/clip", Value::Null, "", "missing field `clip`"),
            ("/times", json!([]), ".times", "empty"),
            ("/times", json!([0.5, 0.5]), ".times", "a marker at 0.5 s follows one at 0.5 s"),
            ("/times", json!([1.0, 0.5]), ".times", "markers must increase"),
            ("/times", json!([0.5, 2.0]), ".times", "less than the 2 s of the clip"),
            ("/times", json!([-0.5, 1.0]), ".times", "marker 0 is at -0.5 s"),
            ("/times", json!("all"), ".times", "string"),
            ("/times", Value::Null, "", "missing field `times`"),
            ("/color", json!(1), ".color", "unknown field `color`"),
        ],
    );
}

#[test]
fn errors_of_transitions_are_named_by_their_path() {
    let deep = |depth: u32| {
        let outer =
            |inner: Value, start: u32| json!({ "start": start, "half_life": 1, "from": [], "transition": inner });
        (1..depth).fold(json!({ "start": 0, "half_life": 1, "from": [] }), outer)
    };
    let nine = json!(vec![json!({ "clip": 0 }); 9]);
    assert_refused(
        ["/instances/1/transition", "instances[1].transition"],
        &[
            ("", json!([2, [], "inertial", 1]), "", "expected an object"),
            ("/start", Value::Null, "", "missing field `start`"),
            ("/start", json!(1e300), ".start", "beyond the crowd clock"),
            ("/from", Value::Null, "", "missing field `from`"),
            ("/from", nine, ".from", "at most 8"),
            ("/from/0", json!({ "clip": "dance" }), ".from[0].clip", "no clip \"dance\""),
            ("/from/0", json!({ "clip": 0, "mask": "all" }), ".from[0].mask", "no mask \"all\""),
            ("/from/0", json!({ "clip": 0, "rate": 20000 }), ".from[0].rate", "1e4"),
            ("/from/0", json!({ "clip": 0, "time": { "parameter": "pace" } }), ".from[0].time.parameter", "\"pace\""),
            ("/half_life", Value::Null, "", "missing field `half_life`"),
            ("/half_life", json!(0), ".half_life", "above 0"),
            ("/half_life", json!(-1), ".half_life", "above 0"),
            ("/half_life", json!(1e39), ".half_life", "finite"),
            ("/seconds", json!(1), ".seconds", "an inertial transition has no length"),
            ("/kind", json!("spring"), ".kind", "`dead`"),
            ("/kind", json!("dead"), "", "missing field `seconds`"),
            ("/end", json!(3), ".end", "unknown field `end`"),
            ("/transition/seconds", json!(0), ".transition.seconds", "above 0"),
            ("/transition/start", json!(2), ".transition.start", "it starts at 2 s; expected less than the 2 s"),
            ("/transition/start", json!(2.5), ".transition.start", "it starts at 2.5 s"),
            ("/transition/from/1", json!({ "clip": 1, "sync": 1 }), ".transition.from[1].sync", "does not come before"),
            ("", deep(5), ".transition.transition.transition.transition", "more than 4 transitions"),
        ],
    );
    let mut crowd = sound();
    crowd["instances"][1]["transition"] = deep(4);
    let output = Folder::new().eval(&crowd, &["--times", "0", "--engine", "reference"]);
    assert!(output.status.success(), "four are allowed: {}", stderr(&output));
}

#[test]
fn a_name_that_occurs_twice_and_null_are_refused() {
    let folder = Folder::new();
    let with = |fields: &str| format!(r#"{{ "files": ["rig.glb"], "instances": [{{ {fields} }}] }}"#);
    let twice = with(r#""parameters": { "speed": 1, "speed": 2 }"#);
    folder.assert_refused(&twice, "instances[0].parameters.speed", "the name \"speed\" occurs twice");
    for field in ["transition", "parameters"] {
        folder.assert_refused(&with(&format!("\"{field}\": null")), &format!("instances[0].{field}"), "null");
    }
    for field in ["sync", "time", "start", "weight"] {
        let layers = with(&format!(r#""layers": [{{ "clip": 0, "{field}": null }}]"#));
        folder.assert_refused(&layers, &format!("instances[0].layers[0].{field}"), "null");
    }
    let infinite = with(r#""parameters": { "speed": [[0, 1], [1, 1e999]] }"#);
    folder.assert_refused(&infinite, "instances[0].parameters.speed[1][1]", "out of range");
}
