use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::bvh_leg::LEG;

/// A folder with a BVH file, in which `posse` runs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("leg.bvh"), LEG).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn posse(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(&self.0).args(arguments).output().unwrap()
    }

    /// The output of a command that succeeds.
    #[track_caller]
    fn passed(&self, arguments: &[&str]) -> String {
        let output = self.posse(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn inspect_lists_the_joints_and_the_clip() {
    let folder = Folder::new();
    let text = folder.passed(&["inspect", "leg.bvh", "--joints"]);
    assert!(["leg", "Hips", "Upper Leg", "Foot_end"].into_iter().all(|name| text.contains(name)), "{text}");
    // The content decides, not the name.
    folder.write("leg.txt", LEG);
    assert!(folder.passed(&["inspect", "leg.txt"]).contains("leg"));
}

#[test]
fn eval_gives_the_frames() {
    let folder = Folder::new();
    let text = folder.passed(&["eval", "leg.bvh", "--fps", "2", "--engine", "cpu"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let place = |sample: usize, joint: usize| {
        let matrix = &json["samples"][sample]["nodes"][joint]["world"];
        // Column-major: the translation is the last column.
        [12, 13, 14].map(|index| matrix[index].as_f64().unwrap_or_else(|| panic!("{text}")))
    };
    let near = |one: [f64; 3], other: [f64; 3]| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-5);
    assert!(near(place(0, 3), [5.0, 6.0, 2.0]) && near(place(1, 3), [6.0, 10.0, -3.0]), "{text}");
}

#[test]
fn verify_compares_the_engine_with_the_reference() {
    let folder = Folder::new();
    folder.passed(&["verify", "leg.bvh", "--engine", "cpu"]);
}

#[test]
fn a_rig_takes_the_clip_of_a_file_and_a_file_is_a_rig() {
    let folder = Folder::new();
    folder.write("tall.bvh", &LEG.replace("OFFSET 0 -4 0", "OFFSET 0 -8 0").replace("OFFSET 0 -5 0", "OFFSET 0 -10 0"));
    let gltf = r#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "Hips", "children": [1] },
        { "name": "Upper Leg", "translation": [0, -8, 0], "children": [2] }, { "name": "Foot", "translation": [0, -10, 0] }] }"#;
    folder.write("rig.gltf", gltf);
    for rig in ["tall.bvh", "rig.gltf"] {
        let text = folder.passed(&["eval", "leg.bvh", "--rig", rig, "--times", "0", "--engine", "reference"]);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let foot = &json["samples"][0]["nodes"][2]["world"];
        // The hips at height 10, the leg 8 below them, and the foot 10 along x from there.
        assert!(
            (foot[12].as_f64().unwrap() - 10.0).abs() < 1e-9 && (foot[13].as_f64().unwrap() - 2.0).abs() < 1e-9,
            "{text}"
        );
    }
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let folder = Folder::new();
    folder.write("broken.bvh", &LEG.replace("Frames: 2", "Frames: 3"));
    let output = folder.posse(&["inspect", "broken.bvh"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("broken.bvh: line 25: the file ends after 2 frames; expected 3"), "{stderr}");
    folder.write("empty.bvh", "");
    let output = folder.posse(&["eval", "empty.bvh", "--times", "0"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("empty.bvh: line 1: the file ends; expected HIERARCHY"), "{stderr}");
}

#[test]
fn render_draws_the_bones() {
    let folder = Folder::new();
    let output = folder.posse(&["render", "leg.bvh", "--size", "160x120", "-o", "leg.png"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if std::env::var("POSSE_TEST_ENGINES").as_deref() == Ok("cpu") {
        return crate::support::skip::report_skipped(
            "posse render of a BVH file: POSSE_TEST_ENGINES=cpu leaves the GPU out",
        );
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("nothing to draw"), "{stderr}");
    let picture = image::open(folder.0.path().join("leg.png")).unwrap().to_rgb8();
    // Without bones, a row of ground or sky has one colour, but for a slow shading.
    let steps = |row: u32| {
        let pixel = |column: u32| i32::from(picture.get_pixel(column, row).0[0]);
        (1..160).filter(|&column| (pixel(column) - pixel(column - 1)).abs() > 24).count()
    };
    assert!((0..120).filter(|&row| steps(row) > 1).count() > 10, "no bones in the picture");
}

#[test]
fn warnings_of_one_kind_are_one_line() {
    let folder = Folder::new();
    // The leg is three rotations and a translation, of which the rig knows none but the joint `Hips`.
    folder
        .write("hips.bvh", "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\nFrames: 0\nFrame Time: 1\n");
    let output = folder.posse(&["eval", "leg.bvh", "--rig", "hips.bvh", "--times", "0", "--engine", "cpu"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("no joint of that name")).collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    let expected = "tracks: there is no joint of that name; nothing is driven: rotation of joint \"Upper Leg\", ";
    assert!(lines[0].starts_with("warning: leg.bvh: with hips.bvh: ") && lines[0].contains(expected), "{stderr}");
}

#[test]
fn files_with_several_clips_are_named_as_they_were_given() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("in")).unwrap();
    folder.passed(&["retarget", "demo", "--onto", "demo", "-o", "in/two.glb"]);
    let output = folder.posse(&["eval", "in/two.glb", "--times", "0"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: in/two.glb has several clips; select one with --clip: "), "{stderr}");
}
