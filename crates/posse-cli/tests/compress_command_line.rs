//! Compressed libraries through the `posse` command.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::build::degrees;
use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

/// A folder with `arm.glb`, in which a joint turns by 90 degrees in 60 keys, faster and faster, with another joint 1 m
/// away from it; and with `even.glb`, in which it turns at a constant speed.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (name, power) in [("arm.glb", 2), ("even.glb", 1)] {
            let mut arm = GltfBuilder::new();
            arm.push("nodes", json!({ "name": "shoulder", "children": [1] }));
            arm.push("nodes", json!({ "name": "hand", "translation": [1, 0, 0] }));
            let times: Vec<f32> = (0..60).map(|key| key as f32 / 30.0).collect();
            let turn = |key: i32| degrees(glam::DVec3::Z, 90.0 * (f64::from(key) / 59.0).powi(power)).as_quat();
            let turns: Vec<f32> = (0..60).flat_map(|key| turn(key).to_array()).collect();
            let (input, output) = (arm.floats("SCALAR", &times), arm.floats("VEC4", &turns));
            arm.animate(json!({ "node": 0, "path": "rotation" }), input, output, "LINEAR");
            fs::write(folder.0.path().join(name), arm.glb()).unwrap();
        }
        folder
    }

    /// Runs the command on files of the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn inspect_lists_size_and_error_of_compressed_keys() {
    let folder = Folder::new();
    let compress = |arguments: &[&str]| {
        let all = [&["inspect", "arm.glb", "--json"], arguments].concat();
        folder.json(&all)["clips"][0]["compressed"].clone()
    };
    assert_eq!(compress(&[]), Value::Null);
    let share = compress(&["--compress", "0.01%"]);
    let [float, bytes] = ["float_bytes", "compressed_bytes"].map(|key| share[key].as_u64().unwrap());
    // 60 keys of 16 bytes, and 8 bytes per key time.
    assert!((60 * 24..60 * 24 + 100).contains(&float) && 3 * bytes < 2 * float, "{share}");
    let error = share["error"].as_f64().unwrap();
    assert!(error > 0.0 && error <= 1e-4, "{share}");
    assert_eq!(share["float_tracks"], 0);
    // The size is 1 m.
    assert_eq!(compress(&["--compress", "0.0001", "--shell", "0.03"]), share);
    let fine = compress(&["--compress", "0.0001%"]);
    assert!(fine["compressed_bytes"].as_u64().unwrap() >= bytes && fine["error"].as_f64().unwrap() <= 1e-6, "{fine}");
    let text = folder.run(&["inspect", "arm.glb", "--compress", "0.01%"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(&format!("compressed: {bytes} bytes of {float}")) && text.contains("off by"), "{text}");
    assert!(!text.contains("key times:"), "{text}");
    // A turn at constant speed needs only its two ends.
    let text = folder.run(&["inspect", "even.glb", "--compress", "0.01%"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("    key times: 2 of 60\n"), "{text}");
}

#[test]
fn verify_compares_engines_with_compressed_keys_and_these_with_the_original() {
    let folder = Folder::new();
    for engine in ["reference", "cpu", "gpu"] {
        let found = folder.json(&["verify", "arm.glb", "--json", "--compress", "0.01%", "--engine", engine]);
        let displaced = &found["files"][0]["quantities"]["compressed"];
        assert_eq!((&found["within"], &displaced["allowed"]), (&json!(true), &json!(1e-4)), "{engine}");
        let error = displaced["error"].as_f64().unwrap();
        assert!(error > 1e-6 && error <= 1e-4, "{engine}: {displaced}");
    }
    let plain = folder.json(&["verify", "arm.glb", "--json", "--engine", "cpu"]);
    assert_eq!(plain["files"][0]["quantities"]["compressed"], Value::Null);
}

#[test]
fn eval_and_bench_pose_compressed_keys() {
    let folder = Folder::new();
    let question = ["eval", "arm.glb", "--clip", "0", "--times", "0.77", "--engine"];
    let run_quietly = |more: &[&str]| folder.run(&[&question[..], more].concat()).stdout;
    let [cpu, reference] = ["cpu", "reference"].map(|engine| run_quietly(&[engine, "--compress", "1%"]));
    assert!(!cpu.is_empty() && cpu != run_quietly(&["cpu"]) && reference != run_quietly(&["reference"]));
    let bench = ["bench", "arm.glb", "--instances", "10", "--seconds", "0", "--engine", "cpu", "--json"];
    let found = folder.json(&[&bench[..], &["--compress", "0.01%"]].concat());
    assert_eq!(found["compressed"], "0.01%");
    assert_eq!(folder.json(&bench)["compressed"], Value::Null);
}

/// Writes a crowd file: arms with one layer and with two, and instances of another file.
fn write_crowd(folder: &Folder) {
    fs::write(folder.0.path().join("all.glb"), something_of_everything().glb()).unwrap();
    let swing = |rate: f64| json!({ "clip": 0, "wrap": "pingpong", "rate": rate, "weight": 0.5 });
    let crowd = json!({
        "files": ["arm.glb", "all.glb"],
        "instances": [
            { "count": 4, "spread": { "start": [0, 1] }, "layers": [swing(1.0)] },
            { "count": 3, "layers": [swing(1.0), swing(0.7)] },
            { "count": 2, "file": 1, "layers": [{ "clip": "all", "wrap": "loop" }] },
        ],
    });
    fs::write(folder.0.path().join("crowd.json"), crowd.to_string()).unwrap();
}

#[test]
fn verify_compares_a_crowd_with_compressed_keys_and_these_with_the_original() {
    let folder = Folder::new();
    write_crowd(&folder);
    let inspected =
        folder.json(&["inspect", "arm.glb", "--json", "--compress", "1%"])["clips"][0]["compressed"].clone();
    for engine in ["reference", "cpu", "gpu"] {
        let question = ["verify", "--crowd", "crowd.json", "--json", "--engine", engine];
        let found = folder.json(&[&question[..], &["--compress", "1%"]].concat());
        let skeletons = found["skeletons"].as_array().unwrap();
        assert_eq!((&found["within"], skeletons.len()), (&json!(true), 2), "{engine}");
        // The bounds of engines are the same as on original keys; the error of compression does not widen them.
        let rotation = &skeletons[0]["quantities"]["rotation"];
        assert!(rotation["allowed"].as_f64().unwrap() <= 2e-5 && rotation["error"].is_f64(), "{engine}: {rotation}");
        let [arm] = skeletons[0]["compressed"].as_array().unwrap().as_slice() else { panic!("{found}") };
        // A hundredth of the arm's length of 1 m.
        assert_eq!(arm["allowed"], 0.01, "{engine}");
        let error = arm["error"].as_f64().unwrap();
        assert!(error > 2e-4 && error <= 0.01, "{engine}: {arm}");
        for bytes in ["float_bytes", "compressed_bytes"] {
            assert_eq!(arm[bytes], inspected[bytes], "{engine}");
        }
        assert_eq!(skeletons[1]["compressed"][0]["clip"], "all", "{engine}");
        let plain = folder.json(&question);
        assert!(plain["skeletons"].as_array().unwrap().iter().all(|skeleton| skeleton["compressed"].is_null()));
    }
    let text = folder.run(&["verify", "--crowd", "crowd.json", "--compress", "1%", "--shell", "5%", "--engine", "cpu"]);
    let text = String::from_utf8(text.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  compressed ")).collect();
    assert!(lines.len() == 2 && lines[0].contains(" % of 1.0e-2  ") && lines[0].contains(" bytes of "), "{text}");
}

#[test]
fn eval_and_bench_pose_crowds_of_compressed_keys() {
    let folder = Folder::new();
    write_crowd(&folder);
    let question = ["eval", "--crowd", "crowd.json", "--times", "0.77", "--outputs", "model", "--engine", "reference"];
    let hands = |more: &[&str]| -> Vec<[f64; 3]> {
        let answer = folder.json(&[&question[..], more].concat());
        let arms = answer["samples"][0]["instances"].as_array().unwrap()[..4].iter();
        arms.map(|arm| [12, 13, 14].map(|at| arm["nodes"][1]["world"][at].as_f64().unwrap())).collect()
    };
    let find_error = |more: &[&str]| {
        let distance = |(a, b): (&[f64; 3], &[f64; 3])| glam::DVec3::from(*a).distance(glam::DVec3::from(*b));
        hands(&[]).iter().zip(&hands(more)).map(distance).fold(0.0, f64::max)
    };
    let [coarse, fine] = ["1%", "0.001%"].map(|bound| find_error(&["--compress", bound]));
    assert!(coarse > 1e-4 && coarse <= 1e-2 && fine > 0.0 && fine <= 1e-5, "{coarse} {fine}");
    let bench = ["bench", "--crowd", "crowd.json", "--seconds", "0", "--engine", "cpu,gpu", "--json"];
    let found = folder.json(&[&bench[..], &["--compress", "0.01%"]].concat());
    assert_eq!(found["compressed"], "0.01%");
    assert!(found["cases"].as_array().unwrap().iter().all(|case| case["within_contract"] == true), "{found}");
}

#[test]
fn invalid_bounds_are_usage_errors() {
    let folder = Folder::new();
    for command in ["inspect", "verify", "bench"] {
        for bound in ["0", "0%", "-1", "nan", "inf", "five", "1 %%", ""] {
            let output = folder.run(&[command, "arm.glb", &format!("--compress={bound}")]);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{command} {bound}: {message}");
            assert!(message.contains("0.01%"), "{command} {bound}: {message}");
        }
        let alone = folder.run(&[command, "arm.glb", "--shell", "3%"]);
        assert_eq!(alone.status.code(), Some(2), "a shell of 0");
    }
}

#[test]
fn constant_tracks_have_no_bits_to_list() {
    let folder = Folder::new();
    let output = folder.run(&["inspect", "arm.glb", "--compress", "200%"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("    tracks: 1 constant, 0 as f32\n"), "{text}");
    let fine = folder.run(&["inspect", "arm.glb", "--compress", "0.01%"]);
    let text = String::from_utf8_lossy(&fine.stdout);
    assert!(text.contains("    tracks: 0 constant, 0 as f32, 1 of "), "{text}");
}
