//! Crowd files that are refused: each fault by its place, and a library that is left as it was.

use std::fs;

use posse::import::crowd;
use posse::{Error, Library};
use serde_json::{Value, json};

use super::{Folder, rig, stderr};

#[test]
fn faults_are_named_by_their_place() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("clip.anim"), r#"{ "duration": 1, "curveDatas": {} }"#).unwrap();
    let refused = |crowd: Value, place: &str, saying: &str| folder.assert_refused(&crowd.to_string(), place, saying);
    let group = |group: &Value| json!({ "files": ["rig.glb"], "instances": [{}, group] });
    let of_group = |entry: Value, place: &str, saying: &str| {
        refused(group(&entry), &format!("instances[1]{place}"), saying);
    };
    let of_layer = |key: &str, value: Value, place: &str, saying: &str| {
        let mut layer = json!({ "clip": "walk" });
        layer[key] = value;
        let layers = json!({ "layers": [{ "clip": "run" }, layer] });
        refused(group(&layers), &format!("instances[1].layers[1]{place}"), saying);
    };
    of_layer("clip", json!("dance"), ".clip", "no clip \"dance\", but: walk, run");
    of_layer("clip", json!(6), ".clip", "no clip 6");
    of_layer("clip", json!(-1), ".clip", "name or index");
    of_layer("mask", json!("all"), ".mask", "no mask \"all\", but: none");
    of_layer("wrap", json!("sideways"), ".wrap", "pingpongreverse");
    of_layer("mode", json!("multiply"), ".mode", "`additive`");
    of_layer("reference", json!("last"), ".reference", "`rest`");
    of_layer("weight", json!(-0.5), ".weight", "0 or more");
    of_layer("weight", json!(1e39), ".weight", "finite");
    of_layer("weight", json!("1"), ".weight", "string");
    of_layer("rate", json!(20000), ".rate", "1e4");
    of_layer("start", json!(4.1e12), ".start", "clock");
    of_layer("speed", json!(1), ".speed", "unknown field `speed`");
    of_layer("fade_in", json!({ "start": 0, "seconds": -1 }), ".fade_in.seconds", "0 s or more");
    of_layer("fade_in", json!({ "start": 1e300 }), ".fade_in.start", "clock");
    of_layer("fade_out", json!({ "start": 0, "shape": "round" }), ".fade_out.shape", "`smooth`");
    of_layer("fade_out", json!({ "start": 0, "end": 1 }), ".fade_out.end", "unknown field `end`");
    of_group(json!({ "file": 1 }), ".file", "no files[1], the file has 1");
    of_group(json!({ "count": -1 }), ".count", "-1");
    of_group(json!({ "spread": { "seed": 4294967296_u64 } }), ".spread.seed", "4294967296");
    of_group(json!({ "spread": { "start": [0] } }), ".spread.start", "length");
    of_group(json!({ "layers": vec![json!({ "clip": 0 }); 9] }), ".layers", "at most 8");
    of_group(json!({ "color": 1 }), ".color", "unknown field `color`");
    let far = json!({ "spread": { "rate": [1, 20000] }, "layers": [{ "clip": 0 }] });
    of_group(far, ".layers[0].rate", "1e4");
    let roots = |roots: Value| json!({ "files": ["rig.glb"], "instances": [], "roots": roots });
    let of_root = |key: &str, value: Value, place: &str, saying: &str| {
        let mut root = json!({ "clip": "walk", "joint": "root" });
        root[key] = value;
        refused(roots(json!([{ "clip": "run", "joint": "root" }, root])), &format!("roots[1]{place}"), saying);
    };
    of_root("file", json!(1), ".file", "no files[1], the file has 1");
    of_root("clip", json!("dance"), ".clip", "no clip \"dance\", but: walk, run");
    of_root("clip", json!(1), ".clip", "clip 1 has a root joint already");
    of_root("joint", json!("tail"), ".joint", "no node \"tail\", but: root, hip");
    of_root("joint", json!("box"), ".joint", "by a matrix");
    of_root("translation", json!("xw"), ".translation", "letters xyz");
    of_root("translation", json!(""), ".translation", "`none`");
    of_root("rotation", json!("roll"), ".rotation", "`yaw`");
    of_root("scale", json!("x"), ".scale", "unknown field `scale`");
    refused(roots(json!([{ "clip": "walk" }])), "roots[0]", "missing field `joint`");
    refused(roots(json!({})), "roots", "sequence");
    let mask = |mask: Value| json!({ "files": [], "instances": [], "masks": { "front": mask } });
    refused(mask(json!({ "joints": { "hip": -1 } })), "masks.front.joints.hip", "0 or more");
    refused(mask(json!({ "joints": {}, "name": "" })), "masks.front.name", "unknown field `name`");
    refused(json!({ "files": ["none.glb"], "instances": [] }), "files[0]", "none.glb: ");
    refused(json!({ "files": ["rig.glb", "clip.anim"], "instances": [] }), "files[1]", "Cocos clip");
    let text = r#"{ "files": ["rig.glb"], "instances": [{ "layers": [{ "clip": 0, "weight": NUMBER }] }] }"#;
    for number in ["NaN", "1e999", "-Infinity"] {
        folder.assert_refused(&text.replace("NUMBER", number), "instances[0].layers[0].weight", "line 1");
    }
    folder.assert_refused("{ \"files\": [], \"instances\": [] } x", "JSON", "trailing");
    folder.assert_refused("{", "JSON", "line 1");
    folder.assert_refused("[[], {}, []]", "JSON", "a crowd file is an object");
    let output = folder.eval(&json!({ "files": ["rig.glb"], "instances": [{ "count": u64::MAX }] }), &["--times", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("instances: 18446744073709551615 needed, 16777216 allowed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_library_is_left_as_it_was_by_a_file_that_is_refused() {
    let folder = Folder::new();
    let file = folder.0.path().join("crowd.json");
    let crowd = |mask: &str| {
        let layers = json!([{ "clip": 0, "mask": "one" }, { "clip": 0, "mask": mask }]);
        let masks = json!({ "one": { "joints": { "hip": 1 } } });
        json!({ "files": ["rig.glb", "rig.glb"], "masks": masks, "instances": [{ "count": 3, "layers": layers }] })
    };
    let (mut library, _) = rig().load().unwrap();
    let before = library.clone();
    fs::write(&file, crowd("two").to_string()).unwrap();
    assert!(matches!(crowd::load(&mut library, &file), Err(Error::Import { path, .. }) if path.ends_with("[1].mask")));
    assert_eq!(library, before);
    fs::write(&file, crowd("one").to_string()).unwrap();
    let found = crowd::load(&mut library, &file).unwrap();
    assert_eq!((library.skeletons().len(), library.masks().len(), found.len()), (2, 1, 3), "one file, one mask");
    let part = found.crowd(1..3).unwrap();
    assert!(part.len() == 2 && part.check(&library).is_ok());
    assert!(crowd::load(&mut Library::new(), folder.0.path().join("none.json")).is_err());
}
