//! The commands with FBX files.

use std::fs;
use std::io::Read;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::fbx_text::{FbxText, Key, Y_UP, vector};

/// A file of two joints. In the clip `rise`, the hip goes up by 1 m in a second, without even keys.
fn leg() -> String {
    let mut file = FbxText::new();
    file.node(1, "Hips", 0, &[vector("Lcl Translation", [0.0, 90.0, 0.0])]);
    file.node(2, "Leg", 1, &[vector("Lcl Translation", [0.0, -40.0, 10.0])]);
    let layer = file.stack("rise", [0.0, 1.0]);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|Y", &[(0.0, 90.0), (0.3, 120.0), (1.0, 190.0)])]);
    file.text(Y_UP)
}

fn posse(folder: &TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(folder).args(arguments).output().unwrap()
}

/// The output of a command that succeeds.
#[track_caller]
fn passed(folder: &TempDir, arguments: &[&str]) -> String {
    let output = posse(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn inspect_and_eval_read_metres() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("leg.fbx"), leg()).unwrap();
    // The content decides, not the name.
    fs::write(folder.path().join("leg.txt"), leg()).unwrap();
    for file in ["leg.fbx", "leg.txt"] {
        let text = passed(&folder, &["inspect", file, "--joints"]);
        assert!(["Hips", "Leg", "rise"].into_iter().all(|name| text.contains(name)), "{text}");
    }
    let text = passed(&folder, &["eval", "leg.fbx", "--times", "0.5", "--engine", "cpu"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let matrix = &json["samples"][0]["nodes"][1]["world"];
    let place = [12, 13, 14].map(|index| matrix[index].as_f64().unwrap_or_else(|| panic!("{text}")));
    // At 0.5 s, the hip is at 1.4 m, and the leg 0.4 m below and 0.1 m before it.
    assert!(place.iter().zip([0.0, 1.0, 0.1]).all(|(one, other)| (one - other).abs() < 1e-5), "{place:?}");
}

#[test]
fn bake_finds_fbx_files_and_takes_their_frame_rate() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("clips")).unwrap();
    fs::write(folder.path().join("clips/leg.fbx"), leg()).unwrap();
    passed(&folder, &["bake", "clips", "-o", "baked"]);
    let file = fs::File::open(folder.path().join("baked/leg.npz")).unwrap();
    let mut bytes = Vec::new();
    zip::ZipArchive::new(file).unwrap().by_name("pos.npy").unwrap().read_to_end(&mut bytes).unwrap();
    let shape = npyz::NpyFile::new(bytes.as_slice()).unwrap().shape().to_vec();
    // One second at the 30 frames per second of the file.
    assert_eq!(shape[0], 31, "{shape:?}");
}

#[test]
fn a_damaged_file_is_an_error_with_its_name() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("leg.fbx"), b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0\xff\xff").unwrap();
    let output = posse(&folder, &["inspect", "leg.fbx"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("leg.fbx: file: it cannot be parsed as FBX"), "{stderr}");
}
