//! glTF files as people have them: what is left out, `--strict`, ranges of plays, and the ends of baked clips.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use posse::Library;
use posse::import::gltf;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::GltfBuilder;

const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// A folder with `ramp.gltf`, whose node has the time in seconds as its x, from 0 to 10 s.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.write("ramp.gltf", &clips(&[("ramp", &[0.0, 10.0], &[0.0, 10.0])]));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, file: &GltfBuilder) {
        fs::write(self.path(name), file.gltf_with_data_uri()).unwrap();
    }

    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace()).output().unwrap()
    }

    /// The JSON of a command that succeeds, and what it says on stderr.
    #[track_caller]
    fn json(&self, arguments: &str) -> (Value, String) {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", stderr(&output));
        (serde_json::from_slice(&output.stdout).unwrap(), stderr(&output))
    }

    /// The x of the first node in each sample of `posse eval`, or of the first instance of a crowd.
    #[track_caller]
    fn x(&self, arguments: &str) -> Vec<f64> {
        let (answer, _) = self.json(&format!("eval {arguments}"));
        let x = |sample: &Value| {
            let instance = if sample["instances"].is_array() { &sample["instances"][0] } else { sample };
            instance["nodes"][0]["translation"][0].as_f64().unwrap()
        };
        answer["samples"].as_array().unwrap().iter().map(x).collect()
    }

    /// Asserts that a command fails with exit code 2, and says something.
    #[track_caller]
    fn assert_refused(&self, arguments: &str, saying: &str) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", stderr(&output));
        assert!(stderr(&output).contains(saying), "{arguments}: {}", stderr(&output));
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of one node with clips that move it along x: their names, key times and values.
fn clips(clips: &[(&str, &[f32], &[f32])]) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "a" }));
    for (name, times, values) in clips {
        let values: Vec<f32> = values.iter().flat_map(|&x| [x, 0.0, 0.0]).collect();
        let (input, output) = (file.floats("SCALAR", times), file.floats("VEC3", &values));
        let clip = file.animate(json!({ "node": 0, "path": "translation" }), input, output, "LINEAR");
        file.json["animations"][clip]["name"] = json!(name);
    }
    file
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    let is_near = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-5);
    assert!(is_near, "{found:?}, not {expected:?}");
}

#[test]
fn a_play_of_a_range_begins_at_its_start() {
    let folder = Folder::new();
    let times = "--times 0,0.5,1,1.5,2,2.5";
    for engine in ENGINES {
        for (options, expected) in [
            ("--wrap normal --range 1,3", [1.0, 1.5, 2.0, 2.5, 3.0, 3.0]),
            ("--wrap loop --range 1,3", [1.0, 1.5, 2.0, 2.5, 3.0, 1.5]),
            ("--wrap normal --range 7,8", [7.0, 7.5, 8.0, 8.0, 8.0, 8.0]),
            ("--wrap normal --speed -1", [10.0, 9.5, 9.0, 8.5, 8.0, 7.5]),
            ("--wrap normal --speed -1 --range 1,3", [3.0, 2.5, 2.0, 1.5, 1.0, 1.0]),
            ("--wrap reverse --range 1,3", [3.0, 2.5, 2.0, 1.5, 1.0, 1.0]),
        ] {
            assert_near(&folder.x(&format!("ramp.gltf {options} {times} --engine {engine}")), &expected);
        }
    }
}

#[test]
fn a_play_waits_for_its_beginning() {
    let folder = Folder::new();
    // A clip of 10 s whose x is the time.
    for engine in ENGINES {
        for (options, expected) in [
            ("--wrap normal", [0.0, 0.0, 1.0]),
            ("--wrap normal --speed -1", [10.0, 10.0, 9.0]),
            ("--wrap reverse", [10.0, 10.0, 9.0]),
            ("--wrap reverse --speed -1", [0.0, 0.0, 1.0]),
            ("--wrap normal --speed -1 --range 1,3", [3.0, 3.0, 2.0]),
            ("--wrap loop", [8.0, 0.0, 1.0]),
            ("--wrap loop --speed -1", [2.0, 10.0, 9.0]),
            ("--wrap loop --speed 0", [0.0, 0.0, 0.0]),
        ] {
            assert_near(&folder.x(&format!("ramp.gltf {options} --times=-2,0,1 --engine {engine}")), &expected);
        }
    }
}

#[test]
fn a_range_beyond_the_clip_is_shortened_with_a_warning() {
    let folder = Folder::new();
    let (answer, said) = folder.json("eval ramp.gltf --wrap normal --range 9,11 --times 0,5");
    assert_eq!([&answer["samples"][0]["clip_time"], &answer["samples"][1]["clip_time"]], [&json!(9.0), &json!(10.0)]);
    assert!(said.contains("warning: ramp.gltf: the range 9 to 11 s is not within the clip, 0 to 10 s"), "{said}");
    folder.assert_refused("eval ramp.gltf --wrap normal --range 9,11 --times 0 --strict", "it is shortened (--strict)");
    // Nothing of it is left.
    folder.assert_refused("eval ramp.gltf --wrap normal --range 10,12 --times 0", "before the end of the clip, 10 s");
}

#[test]
fn layers_of_crowd_files_have_ranges() {
    let folder = Folder::new();
    let crowd = |layer: Value| {
        let crowd = json!({ "files": ["ramp.gltf"], "instances": [{ "layers": [layer] }] });
        fs::write(folder.path("crowd.json"), crowd.to_string()).unwrap();
    };
    let times = "--crowd crowd.json --times 0,0.5,1,2,2.5";
    for engine in ENGINES {
        for (layer, expected) in [
            (json!({ "wrap": "loop", "range": [1, 3] }), [1.0, 1.5, 2.0, 3.0, 1.5]),
            (json!({ "wrap": "normal", "rate": -1 }), [10.0, 9.5, 9.0, 8.0, 7.5]),
            (json!({ "wrap": "normal", "rate": -1, "range": [1, 3] }), [3.0, 2.5, 2.0, 1.0, 1.0]),
            (json!({ "wrap": "normal", "start": 1, "range": [1, 3] }), [1.0, 1.0, 1.0, 2.0, 2.5]),
        ] {
            let mut layer = layer;
            layer["clip"] = json!("ramp");
            crowd(layer);
            assert_near(&folder.x(&format!("{times} --engine {engine}")), &expected);
        }
    }
    for (layer, saying) in [
        (json!({ "clip": 0, "range": [3, 1] }), "instances[0].layers[0].range: the range from 3 s to 1 s"),
        (json!({ "clip": 0, "range": [3] }), "instances[0].layers[0].range"),
        (json!({ "clip": 0, "range": [10, 12] }), "layers[0].range: the range does not begin before the end"),
        (json!({ "clip": 0, "range": [0, 1], "time": { "parameter": "p" } }), "leave `range` out"),
    ] {
        crowd(layer);
        folder.assert_refused(times.replace("--crowd", "eval --crowd").as_str(), saying);
    }
}

#[test]
fn a_range_is_baked_from_its_start() {
    let folder = Folder::new();
    let baked = folder.run("bake ramp.gltf -o part --fps 4 --range 1.1,2.1 --format glb");
    assert!(baked.status.success(), "{}", stderr(&baked));
    assert_near(&folder.x("part/ramp.glb --times 0,0.25,0.5,1"), &[1.1, 1.35, 1.6, 2.1]);
    let (listed, _) = folder.json("inspect part/ramp.glb --json");
    assert_eq!(listed["clips"][0]["timelines"][0]["keys"], 5);
    let beyond = folder.run("bake ramp.gltf -o late --fps 4 --range 9,11");
    assert!(beyond.status.success(), "{}", stderr(&beyond));
    assert!(stderr(&beyond).contains("ends after the clip: the output ends at 10 s"), "{}", stderr(&beyond));
    folder.assert_refused("bake ramp.gltf -o none --range 3,1", "before it starts");
    folder.assert_refused("bake ramp.gltf -o none --range 0,1 --frame-range 1:2", "--frame-range");
}

#[test]
fn a_clip_that_is_baked_as_a_clip_keeps_its_end() {
    let folder = Folder::new();
    // At 15 frames per second, 0.1 s have the frames 0 and 1 / 15 s; 60 % of the movement comes after them.
    folder.write("short.gltf", &clips(&[("x", &[0.0, 0.05, 0.1], &[0.0, 1.0, 10.0])]));
    let baked = folder.run("bake short.gltf -o out --fps 15 --format glb");
    assert!(baked.status.success() && !stderr(&baked).contains("warning"), "{}", stderr(&baked));
    let mut library = Library::new();
    let asset = gltf::load(&mut library, folder.path("out/short.glb")).unwrap();
    assert!((library.clip(asset.clips[0]).duration() - 0.1).abs() < 1e-7);
    assert_near(&folder.x("out/short.glb --times 0,0.06666667,0.1"), &[0.0, 4.0, 10.0]);
    // USD, whose times are frames.
    assert!(folder.run("bake short.gltf -o out --fps 15 --format usda").status.success());
    let text = fs::read_to_string(folder.path("out/short.usda")).unwrap();
    let end = text.lines().find_map(|line| line.trim().strip_prefix("endTimeCode = ")).unwrap();
    assert!((end.parse::<f64>().unwrap() - 1.5).abs() < 1e-6, "{end}");
    assert!(text.contains(&format!("{end}: [(10, 0, 0)]")), "{text}");
    // A clip that ends on a frame has no other.
    folder.write("even.gltf", &clips(&[("x", &[0.0, 0.2], &[0.0, 1.0])]));
    assert!(folder.run("bake even.gltf -o out --fps 15 --format glb").status.success());
    let (listed, _) = folder.json("inspect out/even.glb --json");
    assert_eq!(listed["clips"][0]["timelines"][0]["keys"], 4);
    // Arrays have the frames of the rate, and say what is lost.
    let baked = folder.run("bake short.gltf -o out --fps 15 --json");
    assert!(stderr(&baked).contains("--format glb and usda keep it"), "{}", stderr(&baked));
    let line: Value = serde_json::from_str(String::from_utf8_lossy(&baked.stdout).lines().next().unwrap()).unwrap();
    let warning = line["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("the last 0.03333333") && warning.contains("no multiple of 1/15 s"), "{warning}");
}

#[test]
fn a_clip_that_cannot_be_read_is_left_out_in_every_command() {
    let folder = Folder::new();
    let nan: &[f32] = &[0.0, f32::NAN];
    folder.write("nan.gltf", &clips(&[("bad", &[0.0, 1.0], nan), ("good", &[0.0, 1.0], &[0.0, 1.0])]));
    let named = "clip \"bad\" is left out";
    // The only clip that can be used is the default; its index is the index in the file.
    let (answer, said) = folder.json("eval nan.gltf --times 0.5 --engine cpu");
    assert_eq!((&answer["animation"], &answer["name"]), (&json!(1), &json!("good")));
    assert!(said.contains("warning: nan.gltf: accessors[1]: element 1 has NaN") && said.contains(named), "{said}");
    for clip in ["good", "1"] {
        assert_near(&folder.x(&format!("nan.gltf --clip {clip} --times 0.5")), &[0.5]);
    }
    folder.assert_refused("eval nan.gltf --clip bad --times 0.5", "clip bad: none of its tracks can be read");
    let (listed, _) = folder.json("inspect nan.gltf --json");
    assert_eq!([&listed["clips"][0]["left_out"], &listed["clips"][1]["left_out"]], [&json!(true), &Value::Null]);
    assert!(listed["warnings"][0].as_str().unwrap().ends_with(named));
    let text = String::from_utf8(folder.run("inspect nan.gltf").stdout).unwrap();
    assert!(text.contains("clip 0 \"bad\": left out\n"), "{text}");
    assert!(folder.run("verify nan.gltf --engine cpu").status.success());
    // A bake writes the other clips. The one that is asked for and cannot be written is a bad input.
    let baked = folder.run("bake nan.gltf -o out --fps 2");
    assert!(folder.path("out/nan#good.npz").exists(), "{}", stderr(&baked));
    assert!(stderr(&baked).contains("clip nan#bad: ") && !folder.path("out/nan#bad.npz").exists());
    assert!(folder.run("bake nan.gltf -o other --fps 2 --clip good").status.success());
    for command in ["eval nan.gltf --times 0", "inspect nan.gltf", "retarget nan.gltf --onto ramp.gltf -o made.glb"] {
        folder.assert_refused(&format!("--strict {command}"), "clip \"bad\" is left out (--strict)");
    }
    let strict = folder.run("bake nan.gltf -o strict --fps 2 --clip good --strict");
    assert!(!strict.status.success() && stderr(&strict).contains(named), "{}", stderr(&strict));
    assert!(folder.run("eval ramp.gltf --times 0 --strict").status.success());
    let crowd = json!({ "files": ["nan.gltf"], "instances": [{ "layers": [{ "clip": "good" }] }] });
    fs::write(folder.path("crowd.json"), crowd.to_string()).unwrap();
    assert_near(&folder.x("--crowd crowd.json --times 0.5"), &[0.5]);
    folder.assert_refused("eval --crowd crowd.json --times 0.5 --strict", named);
    for clip in [json!("bad"), json!(0)] {
        let crowd = json!({ "files": ["nan.gltf"], "instances": [{ "layers": [{ "clip": clip }] }] });
        fs::write(folder.path("crowd.json"), crowd.to_string()).unwrap();
        folder.assert_refused("eval --crowd crowd.json --times 0.5", "clip bad is left out, as none of its tracks");
    }
}

#[test]
fn a_node_with_shear_keeps_its_motion_in_baked_clips() {
    let folder = Folder::new();
    let mut file = GltfBuilder::new();
    let matrix = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0];
    file.push("nodes", json!({ "name": "m", "matrix": matrix, "children": [1] }));
    file.push("nodes", json!({ "name": "c", "translation": [0, 1, 0] }));
    let (input, output) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC3", &[3.0, 0.0, 0.0, 3.0, 4.0, 0.0]));
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/nodes/0/translation" } });
    file.animate(json!({ "path": "pointer", "extensions": pointer }), input, output, "LINEAR");
    folder.write("sheared.gltf", &file);
    for (out, options) in [("all", ""), ("one", "--joints m")] {
        let baked = folder.run(&format!("bake sheared.gltf -o {out} --fps 2 --format glb {options}"));
        assert!(baked.status.success(), "{}", stderr(&baked));
        let (answer, _) = folder.json(&format!("eval {out}/sheared.glb --times 0.5"));
        let world = |node: usize| -> Vec<f64> {
            let numbers = answer["samples"][0]["nodes"][node]["world"].as_array().unwrap();
            numbers.iter().map(|number| number.as_f64().unwrap()).collect()
        };
        assert_near(&world(0), &[&matrix[..12], &[3.0, 2.0, 0.0, 1.0]].concat());
        // At y = 1, the shear moves it by 0.5.
        assert_near(&world(1)[12..], &[3.5, 3.0, 0.0, 1.0]);
    }
}

#[test]
fn a_jump_is_warned_of_and_strict_refuses_it() {
    let folder = Folder::new();
    folder.write("dup.gltf", &clips(&[("jump", &[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0])]));
    for engine in ENGINES {
        let found = folder.x(&format!("dup.gltf --times 0.5,1,1.5 --engine {engine}"));
        assert_near(&found, &[0.5, 5.0, 5.5]);
    }
    let (_, said) = folder.json("eval dup.gltf --times 0");
    assert!(said.contains("keys 1 and 2 are both at 1 s; values jump there"), "{said}");
    folder.assert_refused("eval dup.gltf --times 0 --strict", "values jump there (--strict)");
}

#[test]
fn joints_of_one_name_are_listed_with_what_selects_them() {
    let folder = Folder::new();
    let mut file = clips(&[("still", &[0.0], &[0.0])]);
    file.json["nodes"] = json!([]);
    for (name, children) in [("Armature", &[1][..]), ("Hips", &[]), ("Body", &[3, 4]), ("Hips", &[]), ("tail", &[])] {
        let node = file.push("nodes", json!({ "name": name }));
        if !children.is_empty() {
            file.json["nodes"][node]["children"] = json!(children);
        }
    }
    folder.write("two.gltf", &file);
    let said = folder.run("inspect two.gltf --joints");
    let said = String::from_utf8_lossy(&said.stdout);
    for line in [
        "joint 1:   Hips (Armature/Hips), below 0,",
        "joint 3:   Hips (Body/Hips), below 2,",
        "joint 4:   tail, below 2,",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let (summary, _) = folder.json("inspect two.gltf --json");
    let paths = [0, 1, 3].map(|joint| summary["skeletons"][0]["hierarchy"][joint]["path"].as_str());
    assert_eq!(paths, [None, Some("Armature/Hips"), Some("Body/Hips")]);
}

#[test]
fn a_skin_with_too_few_matrices_is_left_out_and_poses_stay() {
    let folder = Folder::new();
    let mut file = clips(&[("x", &[0.0, 1.0], &[0.0, 1.0])]);
    file.push("nodes", json!({ "name": "b" }));
    let mut identity = [0.0_f32; 16];
    (0..4).for_each(|diagonal| identity[5 * diagonal] = 1.0);
    let one = file.floats("MAT4", &identity);
    file.push("skins", json!({ "name": "few", "joints": [0, 1], "inverseBindMatrices": one }));
    folder.write("few.gltf", &file);
    for engine in ENGINES {
        assert_near(&folder.x(&format!("few.gltf --times 0,0.5 --engine {engine}")), &[0.0, 0.5]);
    }
    let inspected = folder.run("inspect few.gltf");
    assert!(String::from_utf8_lossy(&inspected.stdout).contains("skin 0 \"few\": left out\n"));
    assert!(stderr(&inspected).contains("there are 1 matrices, but 2 joints; skin \"few\" is left out"));
    folder.assert_refused("inspect few.gltf --strict", "skin \"few\" is left out (--strict)");
}
