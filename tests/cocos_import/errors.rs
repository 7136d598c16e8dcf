use std::path::Path;

use posse::binding::ValueKind;
use posse::import::cocos;
use posse::{Error, Library};
use serde_json::{Value, json};

use super::{examples, read, warning_paths};

/// The path of the error for which a file is refused.
#[track_caller]
fn error_path(file: &Value) -> String {
    match read(file) {
        Err(Error::Import { path, reason, .. }) => {
            assert!(!reason.is_empty());
            path
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}

/// Changes or adds one field of an example.
fn with_change(mut file: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match file.pointer_mut(parent).unwrap_or_else(|| panic!("there is no {parent}")) {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        object => object[name.replace("~1", "/")] = value,
    }
    file
}

#[track_caller]
fn assert_refused(file: Value, pointer: &str, value: Value, path: &str) {
    assert_eq!(error_path(&with_change(file, pointer, value.clone())), path, "with {value} at {pointer}");
}

#[track_caller]
fn assert_warns(file: Value, pointer: &str, value: Value, path: &str) {
    let file = read(&with_change(file, pointer, value.clone())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warning_paths(&file), [path], "with {value} at {pointer}");
}

#[test]
fn the_unchanged_examples_are_read() {
    for file in examples::all() {
        assert_eq!(warning_paths(&read(&file).unwrap()), [""; 0]);
    }
}

#[test]
fn files_that_are_no_clip_are_refused() {
    let path = |bytes: &[u8]| match cocos::from_slice(&Library::new(), Path::new("x.anim"), bytes) {
        Err(Error::Import { file, path, .. }) => {
            assert_eq!(file, Path::new("x.anim"));
            path
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(path(b"CCON\x01\0\0\0"), "file");
    for bytes in [&b""[..], b"{", b"[]", b"{}", b"null", b"3", b"[1, null]", b"\xFF\xFE", b"[{}]"] {
        assert_eq!(path(bytes), "JSON", "{bytes:?}");
    }
    assert_eq!(path(b"{\"__type__\": \"cc.Prefab\", \"curveDatas\": {}}"), "JSON");
    assert_eq!(path(b"{\"a\": [1e999]}"), "a[0]");
    assert!(path("[".repeat(100_000).as_bytes()).starts_with("[0][0][0]"));
    let missing = cocos::load(&Library::new(), "there is no such file");
    assert!(matches!(missing, Err(Error::Io { .. })));
    let marked = [&b"\xEF\xBB\xBF"[..], b"{\"duration\": 0, \"curveDatas\": {}}"].concat();
    assert!(cocos::from_slice(&Library::new(), Path::new("x"), &marked).is_ok());
}

#[test]
fn errors_of_documents_are_refused_with_their_path() {
    let document = examples::document;
    assert_refused(document(), "/duration", json!(-1), "duration");
    assert_refused(document(), "/duration", json!(1e300), "duration");
    assert_refused(document(), "/duration", json!("Infinity"), "duration");
    assert_refused(document(), "/speed", json!(2e4), "speed");
    assert_refused(document(), "/wrapMode", json!({}), "wrapMode");
    assert_refused(document(), "/name", json!(1), "name");
    assert_refused(document(), "/keys", json!({}), "keys");
    assert_refused(document(), "/keys/0", json!(3), "keys[0]");
    assert_refused(document(), "/keys/0/1", json!("NaN"), "keys[0][1]");
    assert_refused(document(), "/keys/0/1", json!(null), "keys[0][1]");
    assert_refused(document(), "/keys/0/1", json!(2.5), "keys[0][2]");
    assert_refused(document(), "/events/0/frame", json!(null), "events[0]");
    assert_refused(document(), "/events/0/func", json!(1), "events[0].func");
    assert_refused(document(), "/events/0/params", json!("a"), "events[0].params");

    let position = "/curveDatas/~1Head/position";
    let at = "curveDatas[\"/Head\"].position";
    let position_is = |field: &str, value, path: &str| {
        assert_refused(document(), &format!("{position}/{field}"), value, &format!("{at}.{path}"));
    };
    assert_refused(document(), position, json!(3), at);
    position_is("keys", json!(2), "keys");
    position_is("keys", json!(0.5), "keys");
    position_is("keys", json!(1), "values");
    position_is("values", json!({}), "values");
    position_is("values", json!([[0, 0, 0], [1, 2, 3]]), "values");
    position_is("values", json!([[0, 0, 0], [1, 2], [1, 2, 3]]), "values[1]");
    position_is("values", json!([[0, 0, 0], [1, 2, "3"], [1, 2, 3]]), "values[1][2]");
    position_is("values", json!([[0, 0, 1e39], [1, 2, 3], [1, 2, 3]]), "values[0][2]");
    position_is("values", json!([[0, 0, 0], [1, 2, 3], null]), "values[2]");
    position_is("values", json!([1, 2, true]), "values[2]");
    position_is("values", json!([{ "__type__": "cc.Vec3" }, { "__type__": "cc.Size" }, 1]), "values[1]");
    position_is("values", json!([{ "__type__": "custom", "a": 1 }, { "__type__": "custom" }, 1]), "values[1]");
    position_is("values", json!([{ "__type__": "custom", "a": [1, 2] }, 1, 2]), "values[0].a");
}

#[test]
fn cycles_and_many_references_are_refused() {
    // A value that contains itself.
    let mut file = examples::modifiers();
    file[5]["values"] = json!([{ "__id__": 6 }, 1, 2]);
    file[6] = json!({ "__type__": "custom", "a": [[{ "__id__": 6 }]] });
    error_path(&file);
    file[6] = json!({ "__id__": 6 });
    assert_eq!(error_path(&file), "[5].values[0]");
    file[6] = json!([{ "__id__": 99 }]);
    file[5]["values"] = json!([[0, 1], { "__id__": 99 }, 2]);
    assert_eq!(error_path(&file), "[5].values[1]");

    // Wide lists within wide lists, many levels deep.
    let many: Vec<Value> = vec![json!({ "__id__": 6 }); 1000];
    file[5]["values"] = json!([{ "__type__": "custom", "a": many.clone() }, 1, 2]);
    file[6] = json!(many);
    error_path(&file);

    // A few bytes that expand to many.
    let times: Vec<usize> = (0..10_000).collect();
    let values: Vec<Value> = times.iter().map(|_| json!({})).collect();
    let curve = json!({ "_times": times, "_values": values });
    let track = examples::track("RealTrack", "x", json!({ "_channel": { "_curve": curve } }));
    let tracks = vec![json!({ "__id__": 1 }); 20_000];
    let file = json!([{ "__type__": "cc.AnimationClip", "_duration": 1, "_tracks": tracks }, track]);
    match read(&file) {
        Err(Error::Import { reason, .. }) => assert!(reason.contains("outgrows"), "{reason}"),
        other => panic!("{:?}", other.map(|file| file.clip.tracks.len())),
    }
}

#[test]
fn repeated_references_take_little_memory_and_time() {
    let clip = |fields: Value| {
        let mut clip = json!({ "__type__": "cc.AnimationClip", "_duration": 1 });
        fields.as_object().unwrap().iter().for_each(|(name, field)| clip[name] = field.clone());
        clip
    };
    let outgrows = |file: &Value| match read(file) {
        Err(Error::Import { reason, .. }) => assert!(reason.contains("outgrows"), "{reason}"),
        other => panic!("{:?}", other.map(|file| file.clip.tracks.len())),
    };
    // The long name of a component, once per channel.
    let curve = json!({ "_times": [0], "_values": [{}] });
    let mut track = examples::track("RealArrayTrack", "x", json!({ "_channels": vec![json!({ "__id__": 1 }); 2000] }));
    let component = json!({ "__type__": "cc.animation.ComponentPath", "component": "c".repeat(20_000) });
    track["_binding"]["path"]["_paths"] = json!([component, "x"]);
    outgrows(&json!([clip(json!({ "_tracks": [track] })), { "_curve": curve }]));
    // Many frames, once per property.
    let properties = |curve: Value| {
        let curve = |number: usize| (number.to_string(), curve.clone());
        (0..3000).map(curve).collect::<serde_json::Map<_, _>>()
    };
    let frames = properties(json!({ "__id__": 1 }));
    outgrows(&json!([clip(json!({ "curveData": { "props": frames } })), vec![json!({}); 20_000]]));
    // A long first value, once per curve.
    let held = properties(json!({ "keys": -1, "values": { "__id__": 1 } }));
    let file = read(&json!([clip(json!({ "curveDatas": { "": held } })), [vec![0; 500_000]]])).unwrap();
    assert!(file.clip.tracks.iter().all(|track| track.kind == ValueKind::Held));
}

#[test]
fn large_files_without_repeated_references_are_read() {
    // The smallest file that gives the largest clip.
    let times: Vec<usize> = (0..50_000).map(|key| key / 10_000).collect();
    let curve = json!({ "keys": 0, "values": times, "easingMethods": { "0": 2 } });
    let document = json!({ "duration": 1, "keys": [times], "curveDatas": { "": { "a": curve, "b": curve } } });
    assert_eq!(read(&document).unwrap().clip.tracks.len(), 2);
    let frames: Vec<Value> = times.iter().map(|time| json!({ "frame": time, "value": 0 })).collect();
    let document = json!({ "duration": 1, "curveData": { "props": { "a": frames } } });
    assert_eq!(read(&document).unwrap().clip.tracks.len(), 1);
    let keys = vec![json!({}); times.len()];
    let curve = json!({ "_channel": { "_curve": { "_times": times, "_values": keys } } });
    let clip = json!({ "__type__": "cc.AnimationClip", "_tracks": [examples::track("RealTrack", "x", curve)] });
    assert_eq!(warning_paths(&read(&clip).unwrap()), ["duration"]);
    let paths: serde_json::Map<String, Value> =
        (0..10_000).map(|path| (format!("a/b/{path}"), json!({ "x": [] }))).collect();
    let document = json!({ "duration": 1, "curveDatas": paths });
    assert_eq!(read(&document).unwrap().clip.tracks.len(), 10_000);
}

#[test]
fn unknown_easings_are_linear_or_refused() {
    let easing = "/curveDatas/~1Head/position/easingMethod";
    let at = "curveDatas[\"/Head\"].position.easingMethod";
    assert_warns(examples::document(), easing, json!("wobble"), at);
    assert_warns(examples::document(), easing, json!(44), at);
    assert_warns(examples::document(), easing, json!(-1), at);
    assert_refused(examples::document(), easing, json!([0, 1]), at);
    assert_refused(examples::document(), easing, json!([0, 1e7, 0, 0]), &format!("{at}[1]"));
    assert_refused(examples::document(), easing, json!(true), at);
    let easings = "/curveDatas/~1Head/rotation/easingMethods";
    let at = "curveDatas[\"/Head\"].rotation.easingMethods";
    assert_warns(examples::document(), easings, json!([null, "wobble"]), &format!("{at}[1]"));
    assert_refused(examples::document(), easings, json!({ "a": "linear" }), &format!("{at}.a"));
    assert_refused(examples::document(), easings, json!("quadIn"), at);
    assert!(read(&with_change(examples::document(), easings, json!({ "4000000000": "quadIn" }))).is_ok());
}

#[test]
fn errors_of_tracks_are_refused_with_their_path() {
    let tracks = examples::tracks;
    assert_refused(tracks(), "/0/_tracks/0/__id__", json!(9), "[0]._tracks[0]");
    assert_refused(tracks(), "/0/_tracks/0", json!(9), "[0]._tracks[0]");
    assert_refused(tracks(), "/1/_channel", json!(null), "[1]");
    assert_refused(tracks(), "/5/_times", json!(null), "[5]");
    assert_refused(tracks(), "/5/_times", json!([0]), "[5]._values");
    assert_refused(tracks(), "/5/_times", json!([1, 0]), "[5]._times[1]");
    assert_refused(tracks(), "/5/_times", json!({ "__type__": "cc.CompactValueTypeArray" }), "[5]._times");
    assert_refused(tracks(), "/5/_values/0", json!(1), "[5]._values[0]");
    assert_refused(tracks(), "/5/_values/0/interpolationMode", json!(3), "[5]._values[0]");
    assert_refused(tracks(), "/5/_values/0/rightTangent", json!("Infinity"), "[5]._values[0].rightTangent");
    assert_refused(tracks(), "/5/_values/0/rightTangent", json!(1e300), "[5]._values[0]");
    assert_refused(tracks(), "/5/_values/0/tangentWeightMode", json!(4), "[5]._values[0]");
    assert_refused(tracks(), "/5/preExtrapolation", json!(4), "[5].preExtrapolation");
    assert_refused(tracks(), "/0/_tracks/1/_nComponents", json!(5), "[0]._tracks[1]._nComponents");
    assert_refused(tracks(), "/0/_tracks/7/_channels/1/property", json!("r"), "[0]._tracks[7]._channels[1].property");
    let steep = json!({ "interpolationMode": 2, "tangentWeightMode": 2, "value": 1, "rightTangentWeight": 1e9 });
    assert_refused(tracks(), "/5/_values/0", steep, "[5]._values[0]");
}

#[test]
fn errors_of_modifiers_are_refused_with_their_path() {
    let modifiers = examples::modifiers;
    assert_refused(modifiers(), "/0/_curves/1/commonTarget", json!(1), "[0]._curves[1].commonTarget");
    assert_refused(modifiers(), "/0/_curves/0/modifiers", json!(null), "[0]._curves[0]");
    assert_refused(modifiers(), "/0/_curves/1/data/values", json!([[1, 2], [3, 4]]), "[0]._curves[1].data.values[0]");
    assert_refused(modifiers(), "/1/path", json!(5), "[1].path");
}

#[test]
fn a_component_without_a_property_is_refused() {
    let curve = json!({ "keys": 1, "values": [0, 1] });
    let at = "curveDatas[\"Body//Arm/\"].comps[\"cc.Sprite\"]";
    assert_refused(examples::document(), "/curveDatas/Body~1~1Arm~1/comps/cc.Sprite", curve, at);
}

#[test]
fn unsupported_features_are_named() {
    assert_warns(examples::document(), "/duration", json!(null), "duration");
    assert_warns(examples::document(), "/wrapMode", json!("sideways"), "wrapMode");
    assert_warns(examples::document(), "/wrapMode", json!(5), "wrapMode");
    assert_warns(examples::seed(), "/_stepness", json!(10), "_stepness");
    assert_warns(examples::tracks(), "/0/_exoticAnimation", json!({}), "[0]._exoticAnimation");
    assert_warns(examples::tracks(), "/0/_embeddedPlayers", json!([{}]), "[0]._embeddedPlayers");
    assert_warns(examples::tracks(), "/0/_auxiliaryCurveEntries", json!([{}]), "[0]._auxiliaryCurveEntries");
    assert_warns(examples::tracks(), "/6/enabled", json!(true), "[6]");
    assert_warns(examples::tracks(), "/1/__type__", json!("cc.animation.MagicTrack"), "[1]");
    assert_warns(examples::tracks(), "/1/_binding/proxy", json!({ "__type__": "Mine" }), "[1]._binding.proxy");
    assert_warns(examples::tracks(), "/2/_paths/1", json!({ "__type__": "Mine" }), "[2]._paths[1]");
    assert_warns(examples::tracks(), "/2/_paths", json!([{ "__id__": 3 }]), "[2]._paths");
    let property = "/0/_tracks/7/_channels/1/property";
    assert_warns(examples::tracks(), property, json!("q"), "[0]._tracks[7]._channels[1].property");
    assert_warns(examples::modifiers(), "/3/__type__", json!("Mine"), "[3]");
    assert_warns(examples::modifiers(), "/0/_curves/1/modifiers/0", json!("q"), "[0]._curves[1].modifiers");
    assert_warns(examples::modifiers(), "/5/_arrayLength", json!(2), "[5]._arrayLength");
    let motion = json!([[0, 1, 2, 3, 4, 5]]);
    let path = "curveData.paths[\"arm/hand\"].props.y[1].motionPath";
    assert_warns(examples::frames(), "/curveData/paths/arm~1hand/props/y/1/motionPath", motion, path);
    assert_warns(examples::frames(), "/curveData/other", json!({}), "curveData.other");
}
