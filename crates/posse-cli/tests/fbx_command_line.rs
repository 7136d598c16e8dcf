//! The commands with FBX files.

use std::fs;
use std::io::Read;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::fbx_text::{FbxText, Key, Y_UP, vector};

/// A file of two joints. In the clip `rise`, the hip goes up by 1 m in a second, without even keys.
fn leg() -> String {
    file_of(&[("rise", &[(0.0, 90.0), (0.3, 120.0), (1.0, 190.0)])])
}

/// A file of two joints, set to 30 frames per second, with clips that move the hip: heights in centimetres.
fn file_of(clips: &[(&str, &[(f64, f64)])]) -> String {
    let mut file = FbxText::new();
    file.node(1, "Hips", 0, &[vector("Lcl Translation", [0.0, 90.0, 0.0])]);
    file.node(2, "Leg", 1, &[vector("Lcl Translation", [0.0, -40.0, 10.0])]);
    for (name, keys) in clips {
        let layer = file.stack(name, [0.0, 1.0]);
        file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|Y", keys)]);
    }
    file.text(Y_UP)
}

/// The number of frames of a baked file, and the heights of the hip in the first and the last of them.
fn baked(folder: &TempDir, path: &str) -> (u64, [f32; 2]) {
    let file = fs::File::open(folder.path().join(path)).unwrap();
    let mut bytes = Vec::new();
    zip::ZipArchive::new(file).unwrap().by_name("pos.npy").unwrap().read_to_end(&mut bytes).unwrap();
    let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
    let frames = array.shape()[0];
    let numbers: Vec<f32> = array.into_vec().unwrap();
    let height = |frame: u64| numbers[frame as usize * 6 + 1];
    (frames, [height(0), height(frames - 1)])
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
    // One second at the 30 frames per second of the file.
    assert_eq!(baked(&folder, "baked/leg.npz").0, 31);
}

#[test]
fn clips_of_one_file_have_the_rate_of_their_samples_or_that_of_the_file() {
    let folder = TempDir::new().unwrap();
    let sampled: Vec<(f64, f64)> = (0..=60).map(|key| (f64::from(key) / 60.0, 90.0 + f64::from(key % 7))).collect();
    let clips: [(&str, &[(f64, f64)]); 3] = [
        ("uneven", &[(0.0, 90.0), (0.3, 120.0), (1.0, 190.0)]),
        // Evenly spaced, but no samples: one key per second is no frame rate.
        ("sparse", &[(0.0, 90.0), (1.0, 190.0)]),
        ("sampled", &sampled),
    ];
    fs::write(folder.path().join("leg.fbx"), file_of(&clips)).unwrap();
    passed(&folder, &["bake", "leg.fbx", "-o", "baked"]);
    let frames = ["uneven", "sparse", "sampled"].map(|clip| baked(&folder, &format!("baked/leg#{clip}.npz")).0);
    assert_eq!(frames, [31, 31, 61]);
}

#[test]
fn a_frame_range_counts_frames_of_the_file() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("leg.fbx"), leg()).unwrap();
    // The frames 6 to 24 are from 0.2 to 0.8 s, whatever the rate of the output is.
    for (rate, frames) in [("30", 19), ("60", 37), ("10", 7)] {
        passed(&folder, &["bake", "leg.fbx", "-o", rate, "--fps", rate, "--frame-range", "6:24"]);
        let (count, [first, last]) = baked(&folder, &format!("{rate}/leg.npz"));
        assert_eq!(count, frames, "at {rate}");
        assert!((first - 1.1).abs() < 1e-5 && (last - 1.7).abs() < 1e-5, "{first} {last} at {rate}");
    }
    let output = posse(&folder, &["bake", "leg.fbx", "-o", "late", "--frame-range", "31:40"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("begin after the clip, whose last frame is 30"), "{stderr}");
}

#[test]
fn a_damaged_file_is_an_error_with_its_name() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("leg.fbx"), b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0\xff\xff").unwrap();
    let output = posse(&folder, &["inspect", "leg.fbx"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("leg.fbx: file: it is binary FBX that is cut off: it ends after 29 bytes"), "{stderr}");
}
