//! Inverse kinematics in crowd files: poses on every engine, and faults with their paths.

use serde_json::{Value, json};

use super::{ENGINES, Folder, assert_near, stderr};
use crate::support::gltf_builder::GltfBuilder;

/// A leg of bones of 3 and 4 at a right angle, with a foot, beside a node of the same name as its knee.
fn leg() -> Vec<u8> {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "knee", "translation": [3, 0, 0], "children": [1] }));
    file.push("nodes", json!({ "name": "ankle", "translation": [0, 4, 0], "children": [4] }));
    file.push("nodes", json!({ "name": "hip", "children": [0, 3] }));
    file.push("nodes", json!({ "name": "knee", "translation": [9, 9, 9] }));
    file.push("nodes", json!({ "name": "toe", "translation": [0, 1, 0] }));
    file.glb()
}

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("leg.glb"), leg()).unwrap();
    folder
}

#[test]
fn groups_have_goals() {
    let folder = folder();
    let chain = json!(["hip", "knee#0", "ankle"]);
    let parameters = json!({ "x": [[0, 3], [1, 0]], "y": [[0, 4], [1, 5]], "z": 0, "w": [[1, 1], [2, 0]] });
    let target = json!({ "parameters": ["x", "y", "z"] });
    let crowd = json!({ "files": ["leg.glb"], "instances": [
        { "count": 2, "parameters": parameters, "ik": [
            { "chain": chain, "target": target, "weight": { "parameter": "w" }, "hold": true }] },
        { "ik": [{ "chain": chain, "target": [0, 5, 0], "pole": [-1, 0, 0] },
            { "aim": "ankle", "forward": [0, 1, 0], "target": [0, 9, 0], "limit": 0.5, "weight": 1 }] },
        { "ik": [] },
    ] });
    for engine in ENGINES {
        let answer = folder.json(&crowd, "0,1,9", engine);
        let node = |sample: usize, instance: usize, node: usize| {
            answer["samples"][sample]["instances"][instance]["nodes"][node].clone()
        };
        let position = |sample: usize, instance: usize, index: usize| {
            json!(node(sample, instance, index)["world"].as_array().unwrap()[12..15])
        };
        for instance in [0, 1] {
            // From (3, 4, 0) to (0, 5, 0) and back, since the weight becomes 0. The toe stays above the ankle.
            for (sample, ankle) in [[3.0, 4.0, 0.0], [0.0, 5.0, 0.0], [3.0, 4.0, 0.0]].into_iter().enumerate() {
                assert_near(&position(sample, instance, 1), &ankle);
                assert_near(&position(sample, instance, 4), &[ankle[0], ankle[1] + 1.0, 0.0]);
            }
            assert_near(&position(1, instance, 0), &[2.4, 1.8, 0.0]);
        }
        // The pole turns the knee to the other side. Then the bone to the ankle, which is the ankle's own y, points
        // from (-2.4, 1.8) to (0, 5). It is at an angle with the sine 0.6 to y, and turns there by no more than 0.5.
        assert_near(&position(0, 2, 0), &[-2.4, 1.8, 0.0]);
        assert_near(&position(0, 2, 1), &[0.0, 5.0, 0.0]);
        let left = 0.6_f64.asin() - 0.5;
        assert_near(&position(0, 2, 4), &[left.sin(), 5.0 + left.cos(), 0.0]);
        assert_near(&position(0, 3, 1), &[3.0, 4.0, 0.0]);
    }
}

#[test]
fn equal_chains_are_added_once() {
    let folder = folder();
    let limb = |pole: Value, hold: Value| json!({ "chain": ["hip", "knee#0", "ankle"], "target": [0, 5, 0], "pole": pole, "hold": hold });
    let aim = |limit: f64| json!({ "aim": "hip", "forward": [0, 1, 0], "target": [1, 1, 1], "limit": limit });
    let plain = json!({ "chain": ["hip", "knee#0", "ankle"], "target": [1, 2, 3], "weight": 0.5 });
    let goals = [
        limb(json!([1, 0, 0]), json!(true)),
        limb(json!([1, 0, 0]), json!(false)),
        plain.clone(),
        plain,
        aim(0.5),
        aim(0.25),
        aim(0.5),
        limb(json!([1, 0, 0]), json!(true)),
    ];
    let crowd = json!({ "files": ["leg.glb"], "instances": [{ "ik": goals }, { "ik": goals }] });
    let path = folder.0.path().join("crowd.json");
    std::fs::write(&path, crowd.to_string()).unwrap();
    let mut library = posse::Library::new();
    let file = posse::import::crowd::load(&mut library, path).unwrap();
    let crowd = file.crowd(&library, 0..2).unwrap();
    let used: Vec<usize> = crowd.goals(1).iter().map(|goal| goal.chain.index()).collect();
    assert_eq!(used, [0, 1, 2, 2, 3, 4, 3, 0]);
    assert_eq!(crowd.goals(0), crowd.goals(1));
    assert_eq!(library.chains().len(), 5);
}

/// Asserts that a list of one entry is refused with each of these changes to a sound entry. A null removes a field.
#[track_caller]
fn assert_refused(sound: &Value, faults: &[(&str, Value, &str, &str)]) {
    let folder = Folder::new();
    for (field, value, path, saying) in faults {
        let mut entry = sound.clone();
        match value.is_null() {
            true => drop(entry.as_object_mut().unwrap().remove(*field)),
            false => entry[*field] = value.clone(),
        }
        let crowd = json!({ "files": ["rig.glb"], "instances": [{}, { "parameters": { "x": 1 }, "ik": [entry] }] });
        folder.assert_refused(&crowd.to_string(), &format!("instances[1].ik[0]{path}"), saying);
    }
}

#[test]
fn faults_of_chains_are_named_by_their_path() {
    let sound = json!({ "chain": ["root", "hip", "foot"], "target": [0, 1, 0] });
    assert_refused(
        &sound,
        &[
            ("chain", json!(["root", "hip", "tail"]), ".chain[2]", "no joint is named \"tail\""),
            ("chain", json!(["hip", "root", "foot"]), ".chain", "joint 0 (\"root\") is not below joint"),
            ("chain", json!(["root", "hip", "arm"]), ".chain", "is not below joint"),
            ("chain", json!(["root", "hip", "hip"]), ".chain", "is not below joint"),
            ("chain", json!(["root", "hip", "box"]), ".chain", "(\"box\") is given by a matrix and cannot turn"),
            ("chain", json!(["root", "hip"]), ".chain", "length 2"),
            ("chain", json!(["root", "hip", 3]), ".chain[2]", "string"),
            ("chain", json!("root"), ".chain", "array"),
            ("chain", Value::Null, "", "neither `chain` nor `aim`"),
            ("aim", json!("hip"), "", "both `chain` and `aim`"),
            ("target", Value::Null, "", "missing field `target`"),
            ("target", json!([1, 2]), ".target", "length 2"),
            (
                "target",
                json!([1, 2, 1e39]),
                ".target",
                "1000000000000000000000000000000000000000 is not a finite number",
            ),
            ("target", json!(5), ".target", "expected a point [x, y, z], or an object with `parameters`"),
            (
                "target",
                json!({ "parameters": ["x", "x", "y"] }),
                ".target.parameters[2]",
                "no parameter \"y\"; it has: x",
            ),
            ("target", json!({ "parameters": ["x", "x"] }), ".target.parameters", "length 2"),
            ("target", json!({ "parameter": "x" }), ".target.parameter", "unknown field `parameter`"),
            ("pole", json!([1, 2, 1e39]), ".pole", "is not a finite number"),
            ("pole", json!("up"), ".pole", "array"),
            ("hold", json!(1), ".hold", "boolean"),
            ("weight", json!(1.5), ".weight", "the weight 1.5 is not from 0 to 1"),
            ("weight", json!(-0.1), ".weight", "the weight -0.1 is not from 0 to 1"),
            ("weight", json!("x"), ".weight", "expected a number, or an object with `parameter`"),
            ("weight", json!({ "parameter": "w" }), ".weight.parameter", "no parameter \"w\"; it has: x"),
            ("weight", json!({ "parameter": "x", "knots": [] }), ".weight.knots", "unknown field `knots`"),
            ("forward", json!([1, 0, 0]), ".forward", "an entry with `chain` has no `forward`; leave it out"),
            ("limit", json!(1), ".limit", "an entry with `chain` has no `limit`"),
            ("stretch", json!(1), ".stretch", "unknown field `stretch`"),
        ],
    );
}

#[test]
fn faults_of_aims_are_named_by_their_path() {
    let sound = json!({ "aim": "hip", "forward": [0, 0, 1], "target": [0, 1, 0] });
    assert_refused(
        &sound,
        &[
            ("aim", json!("head"), ".aim", "no joint is named \"head\""),
            ("aim", json!("box"), ".aim", "(\"box\") is given by a matrix and cannot turn"),
            ("aim", json!(1), ".aim", "string"),
            ("forward", Value::Null, "", "missing field `forward`"),
            ("forward", json!([0, 0, -1e39]), ".forward", "is not a finite number"),
            ("limit", json!(-1), ".limit", "the limit -1 is not a finite number of radians of 0 or more"),
            ("limit", json!(1e39), ".limit", "is not a finite number of radians"),
            ("pole", json!([1, 0, 0]), ".pole", "an entry with `aim` has no `pole`; leave it out"),
            ("hold", json!(false), ".hold", "an entry with `aim` has no `hold`"),
        ],
    );
    let folder = Folder::new();
    let with = |ik: Value| json!({ "files": ["rig.glb"], "instances": [{ "ik": ik }] }).to_string();
    folder.assert_refused(&with(json!({})), "instances[0].ik", "sequence");
    folder.assert_refused(&with(json!([["hip"]])), "instances[0].ik[0]", "expected an object");
    let many = vec![sound; 33];
    folder.assert_refused(&with(json!(many)), "instances[0].ik", "there are 33 entries; an instance has at most 32");
    let text = r#"{ "files": ["rig.glb"], "instances": [{ "ik": [{ "aim": "hip", "forward": [0, 0, 1],
        "target": [0, 1e999, 0] }] }] }"#;
    folder.assert_refused(text, "instances[0].ik[0].target[1]", "out of range");
}

#[test]
fn baking_refuses_goals() {
    let folder = folder();
    let path = folder.0.path().join("crowd.json");
    let goal = json!({ "aim": "hip", "forward": [0, 1, 0], "target": [1, 1, 1] });
    std::fs::write(&path, json!({ "files": ["leg.glb"], "instances": [{ "ik": [goal] }] }).to_string()).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_posse"));
    let output = command.arg("bake").arg(&path).args(["--format", "npz", "-o"]).arg(folder.0.path()).output().unwrap();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("inverse kinematics, which are not baked yet"), "{}", stderr(&output));
}
