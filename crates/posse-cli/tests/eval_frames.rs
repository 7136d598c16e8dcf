use std::process::Command;

use serde_json::{Value, json};

use crate::support::gltf_builder::GltfBuilder;

/// A file with one node that moves, with keys at these times.
fn file_of(folder: &tempfile::TempDir, times: &[f32]) -> std::path::PathBuf {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "lift" }));
    let input = file.floats("SCALAR", times);
    let heights: Vec<f32> = (0..times.len()).flat_map(|key| [0.0, key as f32, 0.0]).collect();
    let output = file.floats("VEC3", &heights);
    file.animate(json!({ "node": 0, "path": "translation" }), input, output, "LINEAR");
    let path = folder.path().join("lift.glb");
    std::fs::write(&path, file.glb()).unwrap();
    path
}

/// The times and heights that `posse eval` writes.
fn frames(path: &std::path::Path, arguments: &[&str]) -> Vec<[f64; 2]> {
    let output = Command::new(env!("CARGO_BIN_EXE_posse"))
        .args(["eval", path.to_str().unwrap(), "--engine", "cpu"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let samples = answer["samples"].as_array().unwrap();
    let height = |sample: &Value| sample["nodes"][0]["translation"][1].as_f64().unwrap();
    samples.iter().map(|sample| [sample["time"].as_f64().unwrap(), height(sample)]).collect()
}

#[test]
fn a_frame_rate_loses_no_key_to_times_in_f32() {
    let folder = tempfile::tempdir().unwrap();
    // The last of 6,450 keys at 30 Hz is stored as 214.96666 s, which is 6e-6 s too early.
    let times: Vec<f32> = (0..6450).map(|key| (f64::from(key) / 30.0) as f32).collect();
    let last = f64::from(times[6449]);
    assert!(last < 6449.0 / 30.0 - 5e-6);
    let path = file_of(&folder, &times);
    let all = frames(&path, &["--fps", "30"]);
    assert_eq!((all.len(), all[6449]), (6450, [last, 6449.0]));
    assert_eq!(all[6448][0], 6448.0 / 30.0);
    // A part of the clip keeps the last key, too.
    let part = frames(&path, &["--fps", "30", "--from", "214"]);
    assert_eq!((part.len(), part[29]), (30, [last, 6449.0]));
    let part = frames(&path, &["--fps", "30", "--from", "1", "--to", "1.9999"]);
    assert_eq!((part.len(), part[29][0]), (30, 1.0 + 29.0 / 30.0));
}
