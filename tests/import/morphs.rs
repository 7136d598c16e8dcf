//! The names of morph targets, and the expressions of VRM models and animations.

use posse::Library;
use posse::import::gltf::Asset;
use posse::rig::{Expression, ExpressionOverride, MorphBind};
use serde_json::{Value, json};

use super::{joint, warnings};
use crate::support::gltf_builder::GltfBuilder;

/// A file with two nodes that show a mesh of two morph targets, a node that shows one of a single target, and a node
/// that shows none.
fn faces() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("meshes", json!({ "primitives": [{ "targets": [{}, {}] }] }));
    file.push("meshes", json!({ "primitives": [{ "targets": [{}] }] }));
    for mesh in [json!(0), json!(1), json!(0), json!(null)] {
        file.push("nodes", json!({ "name": "face", "mesh": mesh }));
    }
    file
}

fn names(loaded: &(Library, Asset)) -> [Vec<String>; 4] {
    [0, 1, 2, 3].map(|node| joint(loaded, node).morph_names.to_vec())
}

#[test]
fn morph_targets_are_named_by_the_extras_of_their_mesh_or_primitive() {
    let mut file = faces();
    assert!(names(&file.load().unwrap()).iter().all(Vec::is_empty));
    file.json["meshes"][0]["extras"] = json!({ "targetNames": ["smile", "jawOpen"], "other": 1 });
    // UniVRM writes the names of VRM 0.x there.
    file.json["meshes"][1]["primitives"][0]["extras"] = json!({ "targetNames": ["\u{3042}"] });
    let loaded = file.load().unwrap();
    let both = vec!["smile".to_owned(), "jawOpen".to_owned()];
    assert_eq!(names(&loaded), [both.clone(), vec!["\u{3042}".to_owned()], both, Vec::new()]);
    assert!(loaded.1.warnings.is_empty(), "{:?}", loaded.1.warnings);
    let skeleton = loaded.0.skeleton(loaded.1.skeleton);
    assert_eq!([0, 1, 7].map(|index| skeleton.weight_name(0, index)), ["face.smile", "face.jawOpen", "face.7"]);
}

#[test]
fn names_that_do_not_fit_are_cut_or_missing() {
    let cases = [
        (json!({ "targetNames": ["a"] }), Some(vec!["a", ""])),
        (json!({ "targetNames": ["a", "b", "c"] }), Some(vec!["a", "b"])),
        (json!({ "targetNames": [7, "b"] }), Some(vec!["", "b"])),
        (json!({ "targetNames": [] }), None),
        (json!({ "targetNames": "a" }), None),
        (json!(["targetNames"]), None),
        (json!(5), None),
        (Value::Null, None),
    ];
    for (extras, expected) in cases {
        let mut file = faces();
        file.json["meshes"][0]["extras"] = extras.clone();
        let loaded = file.load().unwrap();
        assert_eq!(names(&loaded)[0], expected.clone().unwrap_or_default(), "{extras}");
        let places: &[&str] = if expected.is_some() { &["meshes[0].extras.targetNames"] } else { &[] };
        assert_eq!(warnings(&loaded), places, "{extras}");
        if extras["targetNames"].as_array().is_some_and(|names| names.len() > 2) {
            let message = &loaded.1.warnings[0].message;
            assert_eq!(message, "it has 3 names for 2 morph targets; names beyond them are ignored");
        }
    }
}

fn bind(joint: usize, index: usize, weight: f64) -> MorphBind {
    MorphBind { joint, index, weight }
}

fn expressions(loaded: &(Library, Asset)) -> &[Expression] {
    loaded.0.skeleton(loaded.1.skeleton).expressions()
}

#[test]
fn expressions_of_vrm_1_are_read() {
    let mut file = faces();
    file.json["extensions"] = json!({ "VRMC_vrm": { "specVersion": "1.0", "expressions": {
        "preset": {
            "happy": {
                "isBinary": true, "overrideBlink": "block", "overrideMouth": "blend", "overrideLookAt": "none",
                "morphTargetBinds": [
                    { "node": 2, "index": 1, "weight": 0.75 },
                    { "node": 2, "index": 2, "weight": 1 },
                    { "node": 3, "index": 0, "weight": 1 },
                    { "node": 0, "index": 0 },
                    { "node": 9, "index": 0, "weight": 1 },
                ],
            },
            "neutral": {},
        },
        "custom": { "wink": { "morphTargetBinds": [{ "node": 1, "index": 0, "weight": 0.5 }] } },
    } } });
    let loaded = file.load().unwrap();
    let happy = Expression {
        name: "happy".into(),
        is_binary: true,
        override_blink: ExpressionOverride::Block,
        override_mouth: ExpressionOverride::Blend,
        binds: vec![bind(2, 1, 0.75)],
        ..Expression::default()
    };
    let neutral = Expression { name: "neutral".into(), ..Expression::default() };
    let wink = Expression { name: "wink".into(), binds: vec![bind(1, 0, 0.5)], ..Expression::default() };
    assert_eq!(expressions(&loaded), [happy, neutral, wink]);
    // A single warning tells of the four binds.
    assert_eq!(warnings(&loaded), ["extensions.VRMC_vrm.expressions.preset.happy.morphTargetBinds"]);
    let message = &loaded.1.warnings[0].message;
    assert!(message.starts_with("4 of them, the first at 1,"), "{message}");
}

#[test]
fn expressions_of_vrm_0_have_the_names_of_vrm_1() {
    let mut file = faces();
    let group = |name: &str, preset: &str| json!({ "name": name, "presetName": preset, "binds": [{ "mesh": 1, "index": 0, "weight": 25 }] });
    let mut groups = vec![
        json!({ "name": "Joy", "presetName": "joy", "isBinary": true, "materialValues": [], "binds": [
            { "mesh": 0, "index": 1, "weight": 40 }, { "mesh": 0, "index": 2, "weight": 40 },
        ] }),
        group("VRoid's", "unknown"),
        group("Surprised", "unknown"),
        group("", "unknown"),
        group("second", "JOY"),
    ];
    // The presets in the order of the schema, with their names in VRM 1.0.
    let presets = "neutral=neutral A=aa i=ih u=ou e=ee o=oh blink=blink angry=angry sorrow=sad fun=relaxed lookup=lookUp \
                   lookdown=lookDown lookleft=lookLeft lookright=lookRight Blink_L=blinkLeft blink_r=blinkRight";
    let presets: Vec<(&str, &str)> = presets.split(' ').map(|pair| pair.split_once('=').unwrap()).collect();
    groups.extend(presets.iter().map(|(preset, _)| group("x", preset)));
    file.json["extensions"] = json!({ "VRM": { "blendShapeMaster": { "blendShapeGroups": groups } } });
    let loaded = file.load().unwrap();
    // Both nodes that show the mesh are moved. Weights are from 0 to 100 there.
    let joy = Expression {
        name: "happy".into(),
        is_binary: true,
        binds: vec![bind(0, 1, 0.4), bind(2, 1, 0.4)],
        ..Expression::default()
    };
    assert_eq!(expressions(&loaded)[0], joy);
    let names: Vec<&str> = expressions(&loaded).iter().map(|expression| expression.name.as_str()).collect();
    let expected: Vec<&str> =
        ["happy", "VRoid's", "surprised"].into_iter().chain(presets.iter().map(|(_, name)| *name)).collect();
    assert_eq!(names, expected);
    assert!(expressions(&loaded)[1..].iter().all(|expression| expression.binds == [bind(1, 0, 0.25)]));
    let place = |index: usize| format!("extensions.VRM.blendShapeMaster.blendShapeGroups[{index}]");
    assert_eq!(warnings(&loaded), [place(0) + ".binds", place(3), place(4)]);
    // A file with both has the expressions of VRM 1.0.
    file.json["extensions"]["VRMC_vrm"] = json!({ "expressions": { "preset": { "aa": {} } } });
    assert_eq!(expressions(&file.load().unwrap()).len(), 1);
}

#[test]
fn expressions_of_a_vrm_animation_have_drivers() {
    let mut file = faces();
    file.json["extensions"] = json!({ "VRMC_vrm_animation": { "expressions": {
        "preset": { "aa": { "node": 3 }, "lookUp": { "node": 2 }, "oh": {}, "ou": { "node": 4 } },
        "custom": { "wink": { "node": 1 } },
    } } });
    let loaded = file.load().unwrap();
    let driven = |name: &str, joint| Expression { name: name.into(), driver: Some(joint), ..Expression::default() };
    assert_eq!(expressions(&loaded), [driven("aa", 3), driven("wink", 1)]);
    let place = |name: &str| format!("extensions.VRMC_vrm_animation.expressions.preset.{name}");
    assert_eq!(warnings(&loaded), ["lookUp", "oh", "ou"].map(place));
    for odd in [json!({ "VRMC_vrm": { "expressions": [] } }), json!({ "VRM": { "blendShapeMaster": 1 } })] {
        file.json["extensions"] = odd;
        let loaded = file.load().unwrap();
        assert!(expressions(&loaded).is_empty() && loaded.1.warnings.is_empty());
    }
}
