//! Compact keys through the `posse` command.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::build::degrees;
use crate::support::gltf_builder::GltfBuilder;

/// A folder with `arm.glb`: a joint that turns by 90 degrees in 60 keys, faster and faster, and another 1 m away from it;
/// and with `even.glb`, where it turns evenly.
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

    /// The command on files of the folder.
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
fn inspect_says_what_compact_keys_take_and_how_far_they_are_off() {
    let folder = Folder::new();
    let compact = |arguments: &[&str]| {
        let all = [&["inspect", "arm.glb", "--json"], arguments].concat();
        folder.json(&all)["clips"][0]["compact"].clone()
    };
    assert_eq!(compact(&[]), Value::Null);
    let share = compact(&["--compact", "0.01%"]);
    let [float, bytes] = ["float_bytes", "compact_bytes"].map(|key| share[key].as_u64().unwrap());
    // 60 keys of 16 bytes, and 8 for the time of each.
    assert!((60 * 24..60 * 24 + 100).contains(&float) && 3 * bytes < 2 * float, "{share}");
    let error = share["error"].as_f64().unwrap();
    assert!(error > 0.0 && error <= 1e-4, "{share}");
    assert_eq!(share["float_tracks"], 0);
    // The size is 1 m.
    assert_eq!(compact(&["--compact", "0.0001", "--shell", "0.03"]), share);
    let fine = compact(&["--compact", "0.0001%"]);
    assert!(fine["compact_bytes"].as_u64().unwrap() >= bytes && fine["error"].as_f64().unwrap() <= 1e-6, "{fine}");
    let text = folder.run(&["inspect", "arm.glb", "--compact", "0.01%"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(&format!("compact: {bytes} bytes of {float}")) && text.contains("off by"), "{text}");
    assert!(!text.contains("key times:"), "{text}");
    // Of an even turn its two ends are enough.
    let text = folder.run(&["inspect", "even.glb", "--compact", "0.01%"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("    key times: 2 of 60\n"), "{text}");
}

#[test]
fn verify_holds_engines_to_compact_keys_and_these_to_the_original_ones() {
    let folder = Folder::new();
    for engine in ["reference", "cpu", "gpu"] {
        let found = folder.json(&["verify", "arm.glb", "--json", "--compact", "0.01%", "--engine", engine]);
        let displaced = &found["files"][0]["quantities"]["compact"];
        assert_eq!((&found["within"], &displaced["allowed"]), (&json!(true), &json!(1e-4)), "{engine}");
        let error = displaced["error"].as_f64().unwrap();
        assert!(error > 1e-6 && error <= 1e-4, "{engine}: {displaced}");
    }
    let plain = folder.json(&["verify", "arm.glb", "--json", "--engine", "cpu"]);
    assert_eq!(plain["files"][0]["quantities"]["compact"], Value::Null);
}

#[test]
fn eval_and_bench_pose_compact_keys() {
    let folder = Folder::new();
    let question = ["eval", "arm.glb", "--clip", "0", "--times", "0.77", "--engine"];
    let posed = |more: &[&str]| folder.run(&[&question[..], more].concat()).stdout;
    let [cpu, reference] = ["cpu", "reference"].map(|engine| posed(&[engine, "--compact", "1%"]));
    assert!(!cpu.is_empty() && cpu != posed(&["cpu"]) && reference != posed(&["reference"]));
    let bench = ["bench", "arm.glb", "--instances", "10", "--seconds", "0", "--engine", "cpu", "--json"];
    let found = folder.json(&[&bench[..], &["--compact", "0.01%"]].concat());
    assert_eq!(found["compact"], "0.01%");
    assert_eq!(folder.json(&bench)["compact"], Value::Null);
}

#[test]
fn bounds_that_make_no_sense_are_bad_usage() {
    let folder = Folder::new();
    for command in ["inspect", "verify", "bench"] {
        for bound in ["0", "0%", "-1", "nan", "inf", "five", "1 %%", ""] {
            let output = folder.run(&[command, "arm.glb", &format!("--compact={bound}")]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{command} {bound}: {said}");
            assert!(said.contains("0.01%"), "{command} {bound}: {said}");
        }
        let alone = folder.run(&[command, "arm.glb", "--shell", "3%"]);
        assert_eq!(alone.status.code(), Some(2), "a shell of nothing");
    }
}
