//! `posse verify --crowd`, `render --crowd` and `bench --crowd`: a crowd file is compared with the reference, drawn and
//! timed.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// A folder with `arm.glb`, which has three nodes, a skin and two clips of 1 s and 2 s; and with `all.glb`, which also
/// has weights and properties.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let mut arm = GltfBuilder::new();
        for (name, children) in [("shoulder", vec![1]), ("elbow", vec![2]), ("hand", vec![])] {
            let mut node = json!({ "name": name, "translation": [0, 1, 0] });
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            arm.push("nodes", node);
        }
        arm.push("skins", json!({ "joints": [0, 1, 2] }));
        for (name, seconds) in [("wave", 1.0), ("point", 2.0)] {
            let input = arm.floats("SCALAR", &[0.0, seconds]);
            let half = 0.5_f32.sqrt();
            let output = arm.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]);
            let channel = |node| json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
            let channels: Vec<Value> = (0..3).map(channel).collect();
            let samplers = json!([{ "input": input, "output": output }]);
            arm.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
        }
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.0.path().join("arm.glb"), arm.glb()).unwrap();
        fs::write(folder.0.path().join("all.glb"), something_of_everything().glb()).unwrap();
        folder
    }

    /// Runs a command with a crowd file.
    fn run(&self, command: &str, crowd: &Value, arguments: &[&str]) -> Output {
        fs::write(self.0.path().join("crowd.json"), crowd.to_string()).unwrap();
        self.posse(&[&[command, "--crowd", "crowd.json"], arguments].concat())
    }

    fn posse(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn json(&self, command: &str, crowd: &Value, arguments: &[&str]) -> Value {
        let output = self.run(command, crowd, &[&["--json"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, saying: &str) {
    let stderr = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: ") && stderr.contains(saying), "{stderr}");
    assert!(output.stdout.is_empty());
}

/// Five arms with two layers, one that plays from -1 s to 1 s, and one that is masked and fades out until 3.5 s; and
/// three instances of the other file.
fn crowd() -> Value {
    let wave = json!({ "clip": "wave", "start": -1, "rate": 0.5 });
    let fade = json!({ "start": 3, "seconds": 0.5, "shape": "smooth" });
    let point = json!({ "clip": "point", "wrap": "loop", "mode": "override", "mask": "far", "fade_out": fade });
    json!({
        "files": ["arm.glb", "all.glb"],
        "masks": { "far": { "joints": { "elbow": 0.5 }, "descendants": true } },
        "instances": [
            { "count": 5, "spread": { "rate": [1, 1.25], "seed": 3 }, "layers": [wave, point] },
            { "file": 1, "count": 3, "spread": { "start": [0, 1] }, "layers": [{ "clip": "all", "wrap": "loop" }] },
        ],
    })
}

#[test]
fn verify_compares_each_skeleton_of_a_crowd_with_the_reference() {
    let folder = Folder::new();
    for engine in ENGINES {
        let report = folder.json("verify", &crowd(), &["--engine", engine]);
        assert_eq!((&report["within"], &report["engine"]), (&json!(true), &json!(engine)));
        assert_eq!((&report["instances"], &report["checked"]), (&json!(8), &json!(8)));
        let times: Vec<f64> = serde_json::from_value(report["times"].clone()).unwrap();
        assert_eq!((times.len(), times[0], times[15]), (16, -1.0, 3.5), "from the first start to the last end");
        assert!(times.is_sorted());
        let skeletons = report["skeletons"].as_array().unwrap();
        assert_eq!(skeletons.len(), 2);
        let expected = [("arm.glb", 5, 0..5), ("all.glb", 3, 5..8)];
        for (skeleton, (file, count, instances)) in skeletons.iter().zip(expected) {
            assert_eq!((&skeleton["file"], &skeleton["joints"]), (&json!(file), &json!(3)));
            assert_eq!((&skeleton["instances"], &skeleton["checked"]), (&json!(count), &json!(count)));
            let quantities = skeleton["quantities"].as_object().unwrap();
            for quantity in ["rotation", "translation", "scale", "position", "skin"] {
                let worst = &quantities[quantity];
                assert!(worst["share"].as_f64().unwrap() <= 1.0 && worst["allowed"].as_f64().unwrap() > 0.0, "{worst}");
                assert!(instances.contains(&worst["instance"].as_u64().unwrap()), "{file}: {worst}");
                assert!(times.contains(&worst["time"].as_f64().unwrap()) && worst["place"].is_string(), "{worst}");
            }
            for quantity in ["weight", "property"] {
                assert_eq!(quantities[quantity].is_null(), file == "arm.glb", "{quantity} of {file}");
            }
        }
    }
    let output = folder.run("verify", &crowd(), &["--times", "-2,0.25", "--engine", "cpu"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("crowd.json: within the contract: cpu ("), "{text}");
    for part in
        ["8 of 8 instances, at 2 times from -2 s to 0.25 s", "arm.glb: within", "rotation", " rad ", ", instance "]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn verify_compares_goals_with_the_reference() {
    let folder = Folder::new();
    let target = json!({ "parameters": ["x", "y", "y"] });
    let crowd = json!({ "files": ["arm.glb"], "instances": [{
        "count": 3,
        "spread": { "start": [0, 1] },
        "parameters": { "x": [[0, -1], [2, 1.5]], "y": 1.2, "w": [[0, -0.5], [1, 1]] },
        "layers": [{ "clip": "wave", "wrap": "loop" }],
        "ik": [
            { "chain": ["shoulder", "elbow", "hand"], "target": target, "pole": [0, 0, 1], "weight": { "parameter": "w" },
              "hold": true },
            { "aim": "hand", "forward": [1, 0, 0], "target": [0, 2, 5], "limit": 0.7 },
        ],
    }] });
    for engine in ENGINES {
        let report = folder.json("verify", &crowd, &["--engine", engine]);
        let quantities = &report["skeletons"][0]["quantities"];
        for quantity in ["rotation", "position", "skin"] {
            let worst = &quantities[quantity];
            assert!(worst["share"].as_f64().unwrap() <= 1.0, "{engine}: {quantity}: {worst}");
            assert!(engine == "reference" || worst["error"].as_f64().unwrap() > 0.0, "{engine}: {quantity}: {worst}");
            // The pose is no singular one, so that the bounds tell a wrong turn.
            assert!(worst["allowed"].as_f64().unwrap() < 1e-3, "{engine}: {quantity}: {worst}");
        }
    }
}

#[test]
fn verify_compares_root_motion_since_the_time_before() {
    let folder = Folder::new();
    let layers = json!([{ "clip": "wave", "wrap": "loop", "rate": 0.9 }]);
    let crowd = json!({
        "files": ["arm.glb"],
        "roots": [{ "clip": "wave", "joint": "shoulder", "translation": "xyz", "rotation": "full" }],
        "instances": [{ "layers": layers }],
    });
    let report = folder.json("verify", &crowd, &["--engine", "cpu", "--times", "0,0.3,1.7"]);
    let turn = &report["skeletons"][0]["quantities"]["motion turn"];
    // Two 32-bit engines and a 64-bit one do not agree to the last digit about a rotation, but all agree about none.
    assert!(turn["error"].as_f64().unwrap() > 0.0 && turn["share"].as_f64().unwrap() <= 1.0, "{turn}");
    assert!(turn["time"].as_f64().unwrap() > 0.0 && turn["place"] == "root motion", "{turn}");
    let single = folder.json("verify", &crowd, &["--engine", "cpu", "--times", "1.7"]);
    assert_eq!(single["skeletons"][0]["quantities"]["motion turn"]["error"], 0.0, "the first sample has no motion");
}

#[test]
fn verify_samples_a_huge_crowd_and_reports_it() {
    let folder = Folder::new();
    let layers = json!([{ "clip": "wave", "wrap": "loop" }]);
    let crowd = json!({ "files": ["arm.glb", "all.glb"], "instances": [
        { "count": 1, "file": 1 }, { "count": 2_000_000, "spread": { "start": [0, 1] }, "layers": layers }, { "file": 1 },
    ] });
    let output = folder.run("verify", &crowd, &["--engine", "cpu", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checked = report["checked"].as_u64().unwrap();
    assert!(
        stderr(&output).contains(&format!("note: {checked} of 2000002 instances are checked")),
        "{}",
        stderr(&output)
    );
    assert!((1000..100_000).contains(&checked), "{checked}");
    assert_eq!(report["skeletons"][0]["checked"], 2, "instances of single groups are included");
    assert_eq!(report["skeletons"][1]["checked"].as_u64(), Some(checked - 2));
}

#[test]
fn an_empty_crowd_is_within_the_contract() {
    let report = Folder::new().json("verify", &json!({ "files": ["arm.glb"], "instances": [] }), &["--engine", "gpu"]);
    assert_eq!((&report["within"], &report["checked"], &report["skeletons"]), (&json!(true), &json!(0), &json!([])));
    assert_eq!(report["times"], json!([0.0]));
}

#[test]
fn bench_checks_a_crowd_and_then_times_it() {
    let folder = Folder::new();
    let report = folder.json("bench", &crowd(), &["--seconds", "0"]);
    assert_eq!(report["crowd"], "crowd.json");
    for kernel in ["write", "copy"] {
        assert!(report[format!("{kernel}_bandwidth_bytes_per_second")].as_f64().unwrap() > 0.0);
    }
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for (case, engine) in cases.iter().zip(["gpu", "cpu", "reference"]) {
        assert_eq!(case["engine"], engine);
        let sizes = ["instances", "joints", "layers", "keys"].map(|size| case[size].as_u64());
        assert_eq!(sizes, [Some(8), Some(3), Some(2), None], "{case}");
        assert!(case["joints_per_second"].as_f64().unwrap() > 0.0, "{case}");
        assert_eq!(case["within_contract"].as_bool(), (engine != "reference").then_some(true), "{case}");
    }
    // Five arms with three matrices of 48 bytes, and three others with two.
    assert_eq!(cases[0]["bytes_written"], 48 * (5 * 3 + 3 * 2));
    assert_eq!(cases[0]["bytes_written"], cases[1]["bytes_written"]);
    let text = folder.run("bench", &crowd(), &["--seconds", "0", "--engine", "cpu"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("crowd.json: joints and layers are those of the largest instance"), "{text}");
}

#[test]
fn invalid_crowds_are_refused() {
    let folder = Folder::new();
    let nobody = json!({ "files": ["arm.glb"], "instances": [{ "count": 0 }] });
    assert_refused(&folder.run("bench", &nobody, &[]), "crowd.json: the crowd has no instance");
    let unknown = json!({ "files": ["arm.glb"], "instances": [{ "layers": [{ "clip": "swim" }] }] });
    let absent = json!({ "files": ["leg.glb"], "instances": [{}] });
    for command in ["verify", "bench"] {
        let output = folder.run(command, &unknown, &["--engine", "cpu"]);
        assert_refused(
            &output,
            "crowd.json: instances[0].layers[0].clip: arm.glb: there is no clip \"swim\"; there are: 0 wave, 1 point",
        );
        assert_refused(&folder.run(command, &absent, &["--engine", "cpu"]), "crowd.json: files[0]: leg.glb");
        assert_refused(&folder.posse(&[command, "--crowd", "nowhere.json"]), "nowhere.json");
        assert_refused(&folder.run(command, &crowd(), &["arm.glb"]), "cannot be used with");
    }
    assert_refused(&folder.run("verify", &crowd(), &["--times", "5e12"]), "beyond the crowd clock");
    assert_refused(&folder.run("verify", &crowd(), &["--times", "soon"]), "invalid value");
    assert_refused(&folder.run("verify", &crowd(), &["--samples", "3"]), "cannot be used with");
    assert_refused(&folder.posse(&["verify", "arm.glb", "--times", "1"]), "cannot be used with");
    assert_refused(&folder.posse(&["verify"]), "required");
    for option in ["--instances", "--joints", "--layers", "--keys", "--depth"] {
        assert_refused(&folder.run("bench", &crowd(), &[option, "3"]), "cannot be used with");
    }
}

/// Arms that follow parameters by the clock, and arms that go from one clip to another at second 2.
fn moving_crowd() -> Value {
    let driven = |clip: &str, knots: Value| json!({ "clip": clip, "weight": { "parameter": "swing", "knots": knots } });
    let phase = json!({ "clip": "wave", "time": { "parameter": "cycles" }, "mode": "override", "weight": 0.5 });
    json!({
        "files": ["arm.glb"],
        "instances": [
            { "count": 3, "parameters": { "cycles": [[0, 0], [3, 1]], "swing": [[1, 0], [3, 1]] },
              "layers": [driven("point", json!([[0, 0], [1, 1]])), driven("wave", json!([[0, 1], [1, 0]])), phase] },
            { "count": 1, "layers": [{ "clip": "wave", "wrap": "loop" }],
              "transition": { "start": 1, "half_life": 0.5, "from": [{ "clip": "point", "start": -1 }] } },
            { "count": 2, "layers": [{ "clip": "wave", "wrap": "loop" }],
              "transition": { "start": 2, "half_life": 0.2, "from": [
                  { "clip": "point", "start": -1 }, { "clip": "wave", "mode": "override", "weight": 0.25 } ] } },
        ],
    })
}

#[test]
fn render_draws_the_parameters_and_the_layers_of_the_time() {
    let folder = Folder::new();
    for time in ["0", "1.75", "2.125", "9"] {
        let arguments = ["--time", time, "--compare", "--size", "288x96", "-o", "compare.png"];
        let output = folder.run("render", &moving_crowd(), &arguments);
        let text = stderr(&output);
        assert!(output.status.success(), "{time}: {text}");
        let largest = text.split("at most ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        // A joint in another pose differs by more than 100.
        assert!(largest.parse::<u8>().unwrap() <= 16, "{time}: {text}");
    }
}

#[test]
fn bench_checks_parameters_and_transitions() {
    let folder = Folder::new();
    let report = folder.json("bench", &moving_crowd(), &["--engine", "gpu,cpu", "--seconds", "0.01"]);
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!(case["within_contract"], true, "{case}");
    }
}
