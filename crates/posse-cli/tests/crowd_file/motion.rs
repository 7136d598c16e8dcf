//! Crowd files with parameters, blend spaces, sync, markers and transitions: hand-worked cases through `posse eval`.

use posse::{Library, import};
use serde_json::{Value, json};

use super::{Folder, assert_near};

/// Asserts the translation of a node of the first instance at some times, for a group and further fields of the file.
#[track_caller]
fn assert_moves(fields: Value, group: Value, node: usize, cases: &[(f64, [f64; 3])]) {
    let folder = Folder::new();
    let mut crowd = json!({ "files": ["rig.glb"], "instances": [group] });
    for (name, value) in fields.as_object().unwrap() {
        crowd[name] = value.clone();
    }
    let times: Vec<String> = cases.iter().map(|(time, _)| time.to_string()).collect();
    for engine in ["reference", "cpu", "gpu"] {
        let answer = folder.json(&crowd, &times.join(","), engine);
        for (sample, (_, expected)) in cases.iter().enumerate() {
            assert_near(&answer["samples"][sample]["instances"][0]["nodes"][node]["translation"], expected);
        }
    }
}

#[test]
fn parameters_drive_times_and_weights() {
    let layers = json!([
        { "clip": "walk", "time": { "parameter": "phase" }, "wrap": "loop",
          "weight": { "parameter": "speed", "knots": [[1, 1], [3, 0]] } },
        { "clip": "run", "time": { "parameter": "phase" }, "wrap": "loop",
          "weight": { "parameter": "speed", "knots": [[1, 0], [3, 1]] } },
    ]);
    let parameters = json!({ "speed": [[0, 1], [4, 3]], "phase": 1.25 });
    // Both clips are at a quarter: (1, 0, 0) and (0, 2, 0). The weights are 1 - t/4 and t/4.
    let cases = [(-1.0, [1.0, 0.0, 0.0]), (1.0, [0.75, 0.5, 0.0]), (2.0, [0.5, 1.0, 0.0]), (9.0, [0.0, 2.0, 0.0])];
    assert_moves(json!({}), json!({ "parameters": parameters, "layers": layers }), 0, &cases);
}

#[test]
fn a_blend_space_looks_its_parameters_up_in_each_group() {
    let folder = Folder::new();
    let point = |clip: &str, point: u32| {
        json!({ "clip": clip, "time": { "parameter": "half" }, "wrap": "loop",
        "weight": { "blend_space": "move", "point": point } })
    };
    let layers = json!([point("sway", 0), point("walk", 1), point("run", 2)]);
    let space = json!({ "x": "side", "y": "ahead", "points": [[0, 0], [1, 0], [0, 1]] });
    let crowd = json!({ "files": ["rig.glb"], "blend_spaces": { "move": space }, "instances": [
        { "parameters": { "half": 0.5, "side": 0.25, "ahead": 0.5 }, "layers": layers },
        { "parameters": { "ahead": 0.25, "half": 0.5, "side": 0.5 }, "layers": layers },
    ] });
    // At their middles, the clips are at (2, 1, 1), (2, 0, 0) and (0, 4, 0); the shares are 1/4, 1/4, 1/2 and 1/4, 1/2,
    // 1/4.
    for engine in ["reference", "cpu", "gpu"] {
        let instances = folder.json(&crowd, "0", engine)["samples"][0]["instances"].clone();
        assert_near(&instances[0]["nodes"][0]["translation"], &[1.0, 2.25, 0.25]);
        assert_near(&instances[1]["nodes"][0]["translation"], &[1.5, 1.25, 0.25]);
    }
}

#[test]
fn markers_belong_to_the_clips_of_one_file() {
    let folder = Folder::new();
    let layers = json!([{ "clip": "walk", "wrap": "loop" }, { "clip": "lift", "sync": 0 }]);
    let markers = json!([{ "clip": "walk", "times": [0.5] }, { "clip": 3, "times": [0.0] }]);
    let crowd = json!({ "files": ["rig.glb", "rig.glb"], "markers": markers,
        "instances": [{ "layers": layers }, { "file": 1, "layers": layers }] });
    // At 0.75 s of the walk, lift is at 0.25 s in the first file, and at 0.75 s in the second: twice that along z.
    for engine in ["reference", "cpu", "gpu"] {
        let instances = folder.json(&crowd, "0.75", engine)["samples"][0]["instances"].clone();
        assert_near(&instances[0]["nodes"][2]["translation"], &[0.0, 0.0, 0.5]);
        assert_near(&instances[1]["nodes"][2]["translation"], &[0.0, 0.0, 1.5]);
    }
}

#[test]
fn transitions_are_nested() {
    let transition = json!({ "start": 3, "half_life": 0.5, "from": [{ "clip": "sway", "rate": 0, "wrap": "loop" }],
        "transition": { "start": 2, "half_life": 0.5, "kind": "dead", "seconds": 0.5,
            "from": [{ "clip": "long", "start": -1 }] } });
    let group = json!({ "layers": [{ "clip": "walk", "rate": 0 }], "transition": transition });
    // Before second 2 the long clip is at t + 1. In the middle of the dead transition, from (3, 0, 0) at 1 m/s to (1,
    // 1, 1), g is (1 - sqrt(1/2)) / (2 ln 2). At second 3 it has been over for a while. A quarter of a second later,
    // the other one has 0.84657359 left of (1, 1, 1).
    let half = (3.0 + (1.0 - 0.5_f64.sqrt()) / 1.386_294_361 + 1.0) / 2.0;
    let (over, left) = ([1.0; 3], [0.846_573_59; 3]);
    let cases =
        [(0.5, [1.5, 0.0, 0.0]), (2.25, [half, 0.5, 0.5]), (2.5, over), (3.0, over), (3.25, left), (99.0, [0.0; 3])];
    assert_moves(json!({}), group, 0, &cases);
}

#[test]
fn a_spread_moves_layers_that_play_by_the_clock_alone() {
    let folder = Folder::new();
    let spread = json!({ "start": [0, 2], "rate": [0.75, 1.25], "seed": 7 });
    let transition = json!({ "start": 4, "half_life": 0.01, "from": [{ "clip": "long", "start": -1 }] });
    let layers = json!([
        { "clip": "long", "time": { "parameter": "phase" } },
        { "clip": "lift", "start": -4, "mode": "override" },
        { "clip": "lift", "sync": 1, "mode": "additive" },
    ]);
    let group = json!({ "count": 3, "spread": spread, "parameters": { "phase": [[0, 0], [8, 1]] }, "layers": layers,
        "transition": transition });
    let crowd = json!({ "files": ["rig.glb"], "instances": [group] });
    for engine in ["reference", "cpu", "gpu"] {
        let answer = folder.json(&crowd, "3.75,4.5", engine);
        // The hand-worked sequence of seed 7: starts and rates in units of 1/4096.
        for (instance, [start, rate]) in [[6769.0, 4764.0], [4760.0, 3883.0], [2752.0, 5050.0]].into_iter().enumerate()
        {
            let node = |sample: usize, node: usize| &answer["samples"][sample]["instances"][instance]["nodes"][node]["translation"];
            let seconds = |now: f64, from: f64| (now - (start / 4096.0 + from)) * rate / 4096.0;
            assert_near(node(0, 0), &[seconds(3.75, -1.0), 0.0, 0.0]);
            // After 50 half-lives: the phase is 4.5 / 8 for all, and the leader has reached its end.
            assert_near(node(1, 0), &[9.0, 0.0, 0.0]);
            assert!(seconds(4.5, -4.0) > 1.0);
            assert_near(node(1, 2), &[0.0, 0.0, 4.0]);
        }
    }
}

#[test]
fn the_pointers_of_a_transition_are_listed_at_all_times() {
    let folder = Folder::new();
    let inner = json!({ "start": 1, "half_life": 0.1, "from": [{ "clip": "all" }] });
    let outer = json!({ "start": 2, "half_life": 0.1, "from": [], "transition": inner });
    let crowd = json!({ "files": ["all.glb"], "instances": [{ "transition": outer }, {}] });
    for engine in ["reference", "cpu", "gpu"] {
        let answer = folder.json(&crowd, "0,1.5,2.5,99", engine);
        for sample in 0..4 {
            let pointers = |instance: usize| &answer["samples"][sample]["instances"][instance]["pointers"];
            assert!(pointers(0)["/materials/0/pbrMetallicRoughness/baseColorFactor"].is_array(), "{answer}");
            assert_eq!(pointers(1), &json!({}));
        }
    }
}

#[test]
fn baking_refuses_motion_that_it_does_not_follow() {
    let folder = Folder::new();
    let file = folder.0.path().join("crowd.json");
    let crowd = json!({ "files": ["rig.glb"], "instances": [{ "parameters": { "p": 0.5 },
        "layers": [{ "clip": "walk", "time": { "parameter": "p" } }] }] });
    std::fs::write(&file, crowd.to_string()).unwrap();
    let out = folder.0.path().join("out");
    let posse = env!("CARGO_BIN_EXE_posse");
    let mut command = std::process::Command::new(posse);
    let output = command.arg("bake").arg(&file).args(["--format", "npz", "-o"]).arg(&out).output().unwrap();
    assert!(!output.status.success());
    assert!(super::stderr(&output).contains("not baked yet; use eval"), "{}", super::stderr(&output));
}

#[test]
fn parameters_and_blend_spaces_have_the_names_of_the_file() {
    let folder = Folder::new();
    let points = json!([[0, 0], [1, 0], [0, 1]]);
    let crowd = json!({
        "files": ["rig.glb"],
        "blend_spaces": { "b": { "x": "p", "y": "q", "points": points }, "a": { "x": "q", "y": "p", "points": points } },
        "instances": [
            { "count": 2, "parameters": { "q": 1, "p": [[0, 0], [1, 2]] } },
            { "count": 0, "parameters": { "gone": 1 } },
            {},
            { "parameters": { "only": 3 } },
        ],
    });
    let path = folder.0.path().join("crowd.json");
    std::fs::write(&path, crowd.to_string()).unwrap();
    let mut library = Library::new();
    let file = import::crowd::load(&mut library, path).unwrap();
    let names: Vec<_> = (0..file.len()).map(|instance| file.parameter_names(instance).join(" ")).collect();
    assert_eq!(names, ["q p", "q p", "", "only"]);
    let spaces: Vec<_> = file.blend_spaces.iter().map(|(name, space)| (name.as_str(), space.index())).collect();
    assert_eq!(spaces, [("b", 0), ("a", 1)]);
}
