//! Crowd files that are refused: each error is named by its path, and the library stays unchanged.

use std::fs;

use posse::import::crowd;
use posse::{Error, Library};
use serde_json::{Value, json};

use super::{Folder, rig, stderr};

/// Errors of a value: the key that holds it, the value, the path of the error below the faulty object, a part of the
/// message.
type Errors<'a> = &'a [(&'a str, Value, &'a str, &'a str)];

fn assert_refused(folder: &Folder, crowd: &Value, place: &str, saying: &str) {
    folder.assert_refused(&crowd.to_string(), place, saying);
}

#[test]
fn errors_of_a_layer_are_named_by_their_path() {
    let folder = Folder::new();
    let errors: Errors = &[
        ("clip", json!("dance"), ".clip", "no clip \"dance\"; there are: 0 walk, 1 run"),
        ("clip", json!(6), ".clip", "no clip \"#6\""),
        ("clip", json!(-1), ".clip", "name or index"),
        ("mask", json!("all"), ".mask", "no mask \"all\"; the file has: none"),
        ("wrap", json!("sideways"), ".wrap", "pingpongreverse"),
        ("mode", json!("multiply"), ".mode", "`additive`"),
        ("reference", json!("last"), ".reference", "`rest`"),
        ("weight", json!(-0.5), ".weight", "0 or more"),
        ("weight", json!(1e39), ".weight", "finite"),
        ("weight", json!("1"), ".weight", "string"),
        ("rate", json!(20000), ".rate", "1e4"),
        ("start", json!(4.1e12), ".start", "clock"),
        ("speed", json!(1), ".speed", "unknown field `speed`"),
        ("wieght", json!(1), ".wieght", "; the nearest name is `weight`"),
        ("Clips", json!(1), ".Clips", "expected one of `clip`, `start`,"),
        ("fade_in", json!({ "start": 0, "seconds": -1 }), ".fade_in.seconds", "0 s or more"),
        ("fade_in", json!({ "start": 1e300 }), ".fade_in.start", "clock"),
        ("fade_out", json!({ "start": 0, "shape": "round" }), ".fade_out.shape", "`smooth`"),
        ("fade_out", json!({ "start": 0, "end": 1 }), ".fade_out.end", "unknown field `end`"),
    ];
    for (key, value, place, saying) in errors {
        let mut layer = json!({ "clip": "walk" });
        layer[*key] = value.clone();
        let group = json!({ "layers": [{ "clip": "run" }, layer] });
        let crowd = json!({ "files": ["rig.glb"], "instances": [{}, group] });
        assert_refused(&folder, &crowd, &format!("instances[1].layers[1]{place}"), saying);
    }
}

#[test]
fn errors_of_a_group_are_named_by_their_path() {
    let folder = Folder::new();
    let too_fast = json!({ "spread": { "rate": [1, 20000] }, "layers": [{ "clip": 0 }] });
    let errors = [
        (json!({ "file": 1 }), ".file", "no files[1], the file has 1"),
        (json!({ "count": -1 }), ".count", "-1"),
        (json!({ "spread": { "seed": 4294967296_u64 } }), ".spread.seed", "4294967296"),
        (json!({ "scale": 0 }), ".scale", "the scale is 0; expected a number from 1e-6 to 1e6"),
        (json!({ "scale": -2.5 }), ".scale", "the scale is -2.5"),
        (json!({ "spread": { "start": [0] } }), ".spread.start", "length"),
        (json!({ "layers": vec![json!({ "clip": 0 }); 9] }), ".layers", "at most 8"),
        (json!({ "color": 1 }), ".color", "unknown field `color`"),
        (too_fast, ".layers[0].rate", "1e4"),
    ];
    for (group, place, saying) in errors {
        let crowd = json!({ "files": ["rig.glb"], "instances": [{}, group] });
        assert_refused(&folder, &crowd, &format!("instances[1]{place}"), saying);
    }
}

#[test]
fn errors_of_a_root_are_named_by_their_path() {
    let folder = Folder::new();
    let with_roots = |roots: Value| json!({ "files": ["rig.glb"], "instances": [], "roots": roots });
    let errors: Errors = &[
        ("file", json!(1), ".file", "no files[1], the file has 1"),
        ("clip", json!("dance"), ".clip", "no clip \"dance\"; there are: 0 walk, 1 run"),
        ("clip", json!(1), ".clip", "clip 1 has a root joint already"),
        ("joint", json!("tail"), ".joint", "no joint is named \"tail\""),
        ("joint", json!("box"), ".joint", "by a matrix"),
        ("translation", json!("xw"), ".translation", "letters xyz"),
        ("translation", json!(""), ".translation", "`none`"),
        ("rotation", json!("roll"), ".rotation", "`yaw`"),
        ("scale", json!("x"), ".scale", "unknown field `scale`"),
    ];
    for (key, value, place, saying) in errors {
        let mut root = json!({ "clip": "walk", "joint": "root" });
        root[*key] = value.clone();
        let crowd = with_roots(json!([{ "clip": "run", "joint": "root" }, root]));
        assert_refused(&folder, &crowd, &format!("roots[1]{place}"), saying);
    }
    assert_refused(&folder, &with_roots(json!([{ "clip": "walk" }])), "roots[0]", "missing field `joint`");
    assert_refused(&folder, &with_roots(json!({})), "roots", "sequence");
}

#[test]
fn errors_of_masks_and_files_are_named_by_their_path() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("clip.anim"), r#"{ "duration": 1, "curveDatas": {} }"#).unwrap();
    let with_mask = |mask: Value| json!({ "files": [], "instances": [], "masks": { "front": mask } });
    let negative = with_mask(json!({ "joints": { "hip": -1 } }));
    assert_refused(&folder, &negative, "masks.front.joints.hip", "0 or more");
    let named = with_mask(json!({ "joints": {}, "name": "" }));
    assert_refused(&folder, &named, "masks.front.name", "unknown field `name`");
    let with_files = |files: Value| json!({ "files": files, "instances": [] });
    assert_refused(&folder, &with_files(json!(["none.glb"])), "files[0]", "none.glb: ");
    assert_refused(&folder, &with_files(json!(["rig.glb", "clip.anim"])), "files[1]", "Cocos clip");
}

#[test]
fn text_that_is_no_crowd_is_refused() {
    let folder = Folder::new();
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
fn a_refused_file_leaves_the_library_unchanged() {
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
    let part = found.crowd(&library, 1..3).unwrap();
    assert!(part.len() == 2 && part.check(&library).is_ok());
    assert!(crowd::load(&mut Library::new(), folder.0.path().join("none.json")).is_err());
}
