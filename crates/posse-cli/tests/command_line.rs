//! The `posse` command, run as from a shell.

/// Output to files, links, devices and pipes.
mod output;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::GltfBuilder;

/// A folder with a file of three nodes, children before parents: a moving tip, a root, and a node given by a matrix.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self::with_clips(1)
    }

    fn with_clips(clips: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let times = [0.8_f32, 1.6];
        let moves = [14.0_f32, 3.0, -2.0, 18.0, 1.0, 1.0];
        let colours = [0.0_f32, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 1.0];
        let numbers = [times.as_slice(), &moves, &colours].concat();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        fs::write(folder.path().join("keys.bin"), &bytes).unwrap();
        let view = |offset: usize, length: usize| json!({ "buffer": 0, "byteOffset": offset, "byteLength": length });
        let accessor =
            |view: usize, kind: &str| json!({ "bufferView": view, "componentType": 5126, "count": 2, "type": kind });
        let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
        let clip = json!({
            "samplers": [{ "input": 0, "output": 1 }, { "input": 0, "output": 2 }],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "translation" } },
                { "sampler": 1, "target": {
                    "path": "pointer",
                    "extensions": { "KHR_animation_pointer": { "pointer": pointer } }
                } }
            ]
        });
        let mut document = json!({
            "asset": { "version": "2.0" },
            "extensionsUsed": ["KHR_animation_pointer"],
            "buffers": [{ "uri": "keys.bin", "byteLength": bytes.len() }],
            "bufferViews": [view(0, 8), view(8, 24), view(32, 32)],
            "accessors": [accessor(0, "SCALAR"), accessor(1, "VEC3"), accessor(2, "VEC4")],
            "materials": [{}],
            "nodes": [
                { "name": "tip" },
                { "name": "root", "translation": [0.0, 1.0, 0.0], "children": [0, 2] },
                { "matrix": [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1] }
            ],
            "skins": [{ "joints": [1, 0] }]
        });
        if clips > 0 {
            document["animations"] = (0..clips).map(|_| clip.clone()).collect();
        }
        fs::write(folder.path().join("scene.gltf"), document.to_string()).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `posse eval` on the file with the reference.
    fn eval(&self, arguments: &[&str]) -> Output {
        let file = self.path("scene.gltf");
        let mut all = vec!["eval", file.to_str().unwrap(), "--engine", "reference"];
        all.extend(arguments);
        posse(&all)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        stdout_json(&self.eval(arguments))
    }
}

fn posse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posse")).args(arguments).output().unwrap()
}

#[track_caller]
fn stdout_json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asserts that a command ended with an error code, and that its message contains a text.
#[track_caller]
fn assert_refused(output: &Output, saying: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: ") && stderr.contains(saying), "{stderr}");
}

#[test]
fn eval_prints_nodes_in_the_order_of_the_file() {
    let scene = Scene::new();
    let answer = scene.json(&["--times", "1.2"]);
    assert_eq!(answer["asset"], "scene.gltf");
    assert_eq!(answer["animation"], 0);
    assert_eq!(answer["name"], Value::Null);
    assert_eq!(answer["duration"], f64::from(1.6_f32));
    assert_eq!(answer["engine"], "reference");
    let sample = &answer["samples"][0];
    assert_eq!(sample["time"], 1.2);
    let nodes = sample["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3);
    assert_eq!([&nodes[0]["name"], &nodes[0]["parent"]], [&json!("tip"), &json!(1)]);
    assert_eq!((&nodes[1]["name"], nodes[1].get("parent")), (&json!("root"), None));
    assert_eq!((nodes[2].get("name"), &nodes[2]["parent"]), (None, &json!(1)));
    let moved: Vec<f64> = serde_json::from_value(nodes[0]["translation"].clone()).unwrap();
    assert!(moved.iter().zip([16.0, 2.0, -0.5]).all(|(a, b)| (a - b).abs() < 1e-6), "{moved:?}");
    assert_eq!(nodes[0]["world"][13].as_f64(), Some(moved[1] + 1.0), "below the root");
    assert_eq!(nodes[1]["rotation"], json!([0.0, 0.0, 0.0, 1.0]));
    assert_eq!(nodes[1]["weights"], Value::Null);
    for part in ["translation", "rotation", "scale"] {
        assert_eq!(nodes[2].get(part), Some(&Value::Null), "a matrix has no {part}");
    }
    let world = json!([2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 5.0, 1.0]);
    assert_eq!(nodes[2]["world"], world);
    let matrices = &sample["skins"][0]["joint_matrices"];
    assert_eq!(matrices[0], nodes[1]["world"]);
    assert_eq!(matrices[1], nodes[0]["world"]);
    let colour = &sample["pointers"]["/materials/0/pbrMetallicRoughness/baseColorFactor"];
    assert!((colour[0].as_f64().unwrap() - 0.5).abs() < 1e-6, "{colour}");
}

#[test]
fn many_times_and_negative_times_are_clamped() {
    let scene = Scene::new();
    for arguments in [["--times", "-1,0,9"].as_slice(), &["--times=-1,0,9"], &["--times", "-1", "--times", "0,9"]] {
        let samples = scene.json(arguments)["samples"].clone();
        let at =
            |sample: usize| (samples[sample]["time"].as_f64(), samples[sample]["nodes"][0]["translation"][0].as_f64());
        assert_eq!([at(0), at(1), at(2)], [(Some(-1.0), Some(14.0)), (Some(0.0), Some(14.0)), (Some(9.0), Some(18.0))]);
    }
}

#[test]
fn a_frame_rate_gives_evenly_spaced_times() {
    let scene = Scene::new();
    let times = |arguments: &[&str]| -> Vec<f64> {
        let samples = scene.json(arguments)["samples"].clone();
        samples.as_array().unwrap().iter().map(|sample| sample["time"].as_f64().unwrap()).collect()
    };
    assert_eq!(times(&["--fps", "10"]).len(), 17, "0 s to 1.6 s");
    assert_eq!(times(&["--fps", "2", "--from", "-1", "--to", "0.6"]), [-1.0, -0.5, 0.0, 0.5]);
    assert_refused(&scene.eval(&["--fps", "2", "--from", "3", "--to", "1"]), "no times");
    assert_refused(&scene.eval(&["--fps", "0"]), "'0' for '--fps <F>': expected a number above 0");
    assert_refused(
        &scene.eval(&["--fps", "30", "--from", "2", "--to", "1"]),
        "no times: --from 2 s is after the end, 1 s; ",
    );
}

#[test]
fn instances_are_a_phase_apart() {
    let scene = Scene::new();
    let answer = scene.json(&["--times", "0.8,1.6", "--instances", "3", "--phase", "0.4"]);
    let instances = answer["samples"][0]["instances"].as_array().unwrap();
    let x = |instance: &Value| instance["nodes"][0]["translation"][0].as_f64().unwrap();
    let moved: Vec<f64> = instances.iter().map(x).collect();
    assert!(moved.iter().zip([14.0, 16.0, 18.0]).all(|(a, b)| (a - b).abs() < 1e-5), "{moved:?}");
    assert_eq!(answer["samples"][1]["instances"].as_array().unwrap().len(), 3);
}

#[test]
fn outputs_that_are_not_requested_are_left_out() {
    let scene = Scene::new();
    let keys = |outputs: &str| -> (Vec<String>, Vec<String>) {
        let sample = scene.json(&["--times", "1", "--outputs", outputs])["samples"][0].clone();
        let names = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
        (names(&sample), names(&sample["nodes"][0]))
    };
    assert_eq!(keys("skin").0, ["time", "skins"]);
    assert_eq!(keys("properties").0, ["time", "pointers"]);
    assert_eq!(
        keys("model"),
        (vec!["time".into(), "nodes".into()], ["name", "parent", "world"].map(Into::into).to_vec())
    );
    assert_eq!(keys("local,weights").1, ["name", "parent", "translation", "rotation", "scale", "weights"]);
}

#[test]
fn a_clip_must_be_named_unless_it_is_the_only_one() {
    let scene = Scene::with_clips(2);
    assert_eq!(scene.json(&["--clip", "1", "--times", "0"])["animation"], 1);
    assert_eq!(scene.json(&["--clip", "#1", "--times", "0"])["animation"], 1);
    assert_refused(
        &scene.eval(&["--times", "0"]),
        "scene.gltf has several clips; select one with --clip: 0 unnamed, 1 unnamed",
    );
    assert_refused(&scene.eval(&["--clip", "dance", "--times", "0"]), "no clip \"dance\"; there are: 0 unnamed");
    assert_refused(&scene.eval(&["--clip", "0"]), "--times");
    let rest = Scene::with_clips(0).json(&[]);
    assert_eq!((&rest["animation"], &rest["duration"]), (&Value::Null, &json!(0.0)));
    assert_eq!(rest["samples"][0]["nodes"][1]["translation"], json!([0.0, 1.0, 0.0]));
}

#[test]
fn npz_holds_an_array_for_each_output() {
    let scene = Scene::new();
    let file = scene.path("poses.npz");
    let path = file.to_str().unwrap();
    let arguments = ["--times", "0,1.2,9", "--instances", "2", "--format", "npz", "-o", path];
    assert!(scene.eval(&arguments).status.success());
    let (shape, times) = array(&file, "times");
    assert_eq!((shape, times), (vec![3], vec![0.0, 1.2, 9.0]));
    assert_eq!(array(&file, "rotation").0, [3, 2, 3, 4]);
    assert_eq!(array(&file, "properties"), (vec![3, 2, 4], scene_colours()));
    let (shape, translation) = array(&file, "translation");
    assert_eq!(shape, [3, 2, 3, 3]);
    assert_eq!(translation[..3], [14.0, 3.0, -2.0]);
    let (shape, model) = array(&file, "model");
    assert_eq!(shape, [3, 2, 3, 4, 4]);
    // The root, rows first.
    assert_eq!(model[16..32], [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(array(&file, "skin_0").0, [3, 2, 2, 4, 4]);
    assert_eq!(array(&file, "weights").0, [3, 2, 0]);
}

/// The colours of two instances at three times, from the JSON output.
fn scene_colours() -> Vec<f64> {
    let answer = Scene::new().json(&["--times", "0,1.2,9", "--outputs", "properties"]);
    let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    let colour = |sample: &Value| serde_json::from_value::<Vec<f64>>(sample["pointers"][pointer].clone()).unwrap();
    answer["samples"].as_array().unwrap().iter().flat_map(|sample| [colour(sample), colour(sample)].concat()).collect()
}

/// The shape and the numbers of an array of the reference in an npz file.
fn array(file: &Path, name: &str) -> (Vec<u64>, Vec<f64>) {
    let mut zip = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
    (array.shape().to_vec(), array.into_vec().unwrap())
}

#[test]
fn numbers_survive_the_round_trip() {
    let scene = Scene::new();
    let answer = scene.json(&["--times", "1.0471975511965976"]);
    assert_eq!(answer["samples"][0]["time"], 1.047_197_551_196_597_6);
    let fraction = (1.047_197_551_196_597_6 - f64::from(0.8_f32)) / (f64::from(1.6_f32) - f64::from(0.8_f32));
    let expected = (1.0 - fraction) * 14.0 + fraction * 18.0;
    assert_eq!(answer["samples"][0]["nodes"][0]["translation"][0], expected);
}

#[test]
fn absurd_requests_are_refused_before_any_work() {
    let scene = Scene::new();
    assert_refused(&scene.eval(&["--times", "0", "--instances", "4000000000"]), "instances");
    assert_refused(&scene.eval(&["--fps", "1e9"]), "samples");
    assert_refused(&scene.eval(&["--fps", "1e6", "--instances", "16000000"]), "samples x instances x joints");
    assert_refused(&scene.eval(&["--times", "0", "--instances", "0"]), "--instances");
    assert_refused(&scene.eval(&["--times", "nan"]), "finite");
    assert_refused(&scene.eval(&["--times", "soon"]), "--times");
    assert_refused(&posse(&["eval", "nowhere.glb", "--times", "0"]), "nowhere.glb");
    let output = scene.eval(&["--times", "0", "-o", "/nowhere/at/all.json"]);
    assert_refused(&output, "all.json");
}

#[test]
fn invalid_arguments_are_refused() {
    let scene = Scene::new();
    assert_refused(&scene.eval(&["--times", "0", "--from", "1"]), "--from");
    assert_refused(&scene.eval(&["--times", "0", "--to", "1"]), "--to");
    assert_refused(&posse(&["bench", "--engine", "cpu", "--instances", "0"]), "--instances");
    assert_refused(&posse(&["bench", "--engine", "cpu", "--joints", "16,0"]), "--joints");
    // It is refused before the first number is written.
    let output = scene.eval(&["--times", "0", "--instances", "3", "--phase=-3e38"]);
    assert_refused(&output, "smaller --phase");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_that_is_no_gltf_is_named_with_the_expected_kinds() {
    let scene = Scene::new();
    let file = scene.path("other");
    for bytes in [b"".as_slice(), b"\x89PNG", b"[]", b"null", b" \n "] {
        fs::write(&file, bytes).unwrap();
        let output = posse(&["inspect", file.to_str().unwrap()]);
        let saying =
            if bytes == b"[]" { "a glTF file is a GLB container or a JSON object" } else { "it is no glTF (.glb" };
        assert_refused(&output, saying);
        assert!(String::from_utf8_lossy(&output.stderr).contains("other: file: it "), "{bytes:?}");
    }
}

#[test]
fn a_file_of_another_kind_is_detected_by_its_first_bytes() {
    let scene = Scene::new();
    let file = scene.path("picture.glb");
    for (bytes, saying) in [
        (b"\x89PNG\r\n".as_slice(), "it is a PNG picture; a glTF file is"),
        (b"PK\x03\x04rest", "it is a zip archive; "),
        (b"<html> and more", "it begins with \"<html> a\"; "),
    ] {
        fs::write(&file, bytes).unwrap();
        assert_refused(&posse(&["inspect", file.to_str().unwrap()]), saying);
    }
}

#[test]
fn a_folder_is_refused_with_the_files_to_name_instead() {
    let scene = Scene::new();
    let folder = scene.folder.path().to_str().unwrap();
    for command in ["verify", "inspect", "eval"] {
        assert_refused(&posse(&[command, folder]), ": it is a folder; name the files in it");
    }
}

#[test]
fn a_negative_number_is_refused_by_the_option_that_has_it() {
    for arguments in [
        ["demo", "--instances", "-3"].as_slice(),
        &["render", "demo", "-o", "a.png", "--instances", "-3"],
        &["bench", "--instances", "-3"],
        &["eval", "a.glb", "--instances", "-3"],
        &["verify", "a.glb", "--samples", "-3"],
    ] {
        let output = posse(arguments);
        assert_refused(&output, "'-3' for '--");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("expected a whole number from 1 to ") && !stderr.contains("-- -3"), "{stderr}");
    }
}

#[test]
fn a_text_that_is_no_number_is_refused_with_what_is_wanted() {
    let number = "expected a number, for example 0.5";
    let times = "expected two times in seconds, for example 0.5,2";
    let camera = "expected 2, 3 or 6 numbers, for example 30,15";
    let cases: [(&[&str], &str, &str); 29] = [
        (&["eval", "a.glb"], "--times", number),
        (&["eval", "a.glb"], "--fps", "expected a number above 0, for example 1.5"),
        (&["eval", "a.glb", "--fps", "30"], "--from", number),
        (&["eval", "a.glb"], "--phase", number),
        (&["eval", "a.glb"], "--instances", "expected a whole number from 1 to 4294967295"),
        (&["eval", "a.glb"], "--threads", "expected a whole number from 1 to 1024"),
        (&["eval", "a.glb"], "--input-fps", "expected a number above 0, for example 1.5"),
        (&["eval", "a.glb"], "--bound", "expected a number above 0, for example 1.5"),
        (&["eval", "a.glb", "--wrap", "loop"], "--speed", number),
        (
            &["eval", "a.glb", "--wrap", "loop"],
            "--repeat-count",
            "expected a number of 0 or more, for example 2.5, or inf",
        ),
        (&["eval", "a.glb", "--wrap", "loop"], "--range", times),
        (&["bake", "a.glb", "-o", "b"], "--fps", "expected a number above 0, for example 1.5"),
        (&["bake", "a.glb", "-o", "b"], "--scale", "expected a number above 0"),
        (&["bake", "a.glb", "-o", "b"], "--range", times),
        (&["bake", "a.glb", "-o", "b"], "--frame-range", "expected A:B, A: or :B"),
        (&["bake", "a.glb", "-o", "b"], "--shards", "expected a whole number from 1 to 100000"),
        (&["bake", "a.glb", "-o", "b"], "--shard", "expected I/N, for example 0/8, or auto"),
        (&["inspect", "a.glb"], "--compress", "expected a length above 0"),
        (&["inspect", "a.glb", "--quality"], "--ground", "expected auto or a height"),
        (
            &["retarget", "a.glb", "--onto", "demo", "-o", "b.bvh"],
            "--facing",
            "expected auto, keep or a number of degrees",
        ),
        (&["demo"], "--instances", "expected a whole number from 1 to 10000000"),
        (&["verify", "a.glb"], "--samples", "expected a whole number from 1 to 16777216"),
        (&["render", "demo", "-o", "a.png"], "--time", number),
        (&["render", "demo", "-o", "a.png"], "--camera", camera),
        (&["render", "demo", "-o", "a.png"], "--colours", "expected a whole number from 2 to 256"),
        (&["bench"], "--seconds", "expected a number of seconds from 0 to 600"),
        (&["bench"], "--threads", "expected a whole number from 1 to 1024"),
        (&["kernels", "demo"], "--layers", "expected a whole number from 0 to 8"),
        (&["kernels", "demo"], "--goals", "expected a whole number from 0 to 32"),
    ];
    for (arguments, option, wanted) in cases {
        // A word, a unit, nothing at all, and digits that are no number.
        for text in ["abc", "1s", "", "99999999999999999999999x"] {
            let output = posse(&[arguments, &[option, text]].concat());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{arguments:?} {option} {text:?}: {stderr}");
            assert!(stderr.contains(option) && stderr.contains(wanted), "{arguments:?} {option} {text:?}: {stderr}");
        }
    }
}

#[test]
fn inspect_lists_joints_below_their_parents() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let path = file.to_str().unwrap();
    let text = String::from_utf8(posse(&["inspect", "--joints", path]).stdout).unwrap();
    // Parents come first in joints, but not in the nodes of the file.
    let expected = "  joint 0: root, node 1, at 0 1 0\n  joint 1:   tip, below 0, node 0, at 0 0 0\n  \
                    joint 2:   unnamed, below 0, given by a matrix\n";
    assert!(text.contains(expected), "{text}");
    let without = String::from_utf8(posse(&["inspect", path]).stdout).unwrap();
    assert!(!without.contains("joint 0"), "{without}");
    let summary = stdout_json(&posse(&["inspect", "--json", path]));
    let expected = json!([
        { "name": "root", "parent": null, "node": 1, "translation": [0.0, 1.0, 0.0] },
        { "name": "tip", "parent": 0, "node": 0, "translation": [0.0, 0.0, 0.0] },
        { "name": null, "parent": 0, "node": 2, "translation": null },
    ]);
    assert_eq!(summary["skeletons"][0]["hierarchy"], expected);
}

#[test]
fn inspect_lists_a_chain_deeper_than_a_page_is_wide() {
    let mut chain = GltfBuilder::new();
    for node in 0..40_000 {
        let children: Vec<u32> = (node + 1..40_000).take(1).collect();
        let node = if children.is_empty() { json!({}) } else { json!({ "children": children }) };
        chain.push("nodes", node);
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("chain.glb");
    fs::write(&path, chain.glb()).unwrap();
    let output = posse(&["inspect", "--joints", path.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("joint 39999:") && text.contains(", below 39998"), "the last of the chain is missing");
    assert!(text.len() < 40_000 * 200, "{} bytes", text.len());
}

#[test]
fn inspect_lists_the_content_of_a_file() {
    let file = Scene::new();
    let path = file.path("scene.gltf");
    let text = posse(&["inspect", path.to_str().unwrap()]);
    let text = String::from_utf8(text.stdout).unwrap();
    for part in [
        "3 joints on 2 levels, 1 root,",
        "1 joint given by a matrix",
        "1.6 s, 2 tracks",
        "skin 0: 2 joints",
        "2 tracks",
        "1 x translation, LINEAR",
        "bytes packed",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let summary = stdout_json(&posse(&["inspect", "--json", path.to_str().unwrap()]));
    let bytes = |name: &str| summary[name].as_u64().unwrap();
    assert!(bytes("cpu_bytes") > bytes("packed_bytes"), "plans count");
    assert_eq!(summary["skeletons"][0]["joints"], 3);
    assert_eq!(summary["clips"][0]["timelines"][0]["tracks"], 2, "both tracks share their input");
    assert_eq!(summary["clips"][0]["tracks"][0]["name"], "tip");
}

#[test]
fn verify_passes_the_reference_and_continues_after_a_bad_file() {
    let scene = Scene::with_clips(2);
    let file = scene.path("scene.gltf");
    let path = file.to_str().unwrap();
    let passed = posse(&["verify", "--engine", "reference", path]);
    let text = String::from_utf8_lossy(&passed.stdout);
    assert!(passed.status.success() && text.contains("within the contract") && text.contains("rotation"), "{text}");
    let verdict = stdout_json(&posse(&["verify", "--engine", "reference", "--json", "--samples", "5", path]));
    assert_eq!((&verdict["within"], &verdict["files"][0]["poses"]), (&json!(true), &json!(10)));
    assert_eq!(verdict["files"][0]["quantities"]["skin"]["error"], 0.0);

    let broken = scene.path("broken.gltf");
    fs::write(&broken, "{").unwrap();
    let output = posse(&["verify", "--engine", "reference", broken.to_str().unwrap(), path]);
    assert_refused(&output, "broken.gltf");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("within the contract"), "the other file is checked");
    for said in [text, String::from_utf8_lossy(&output.stderr)] {
        assert_eq!(said.matches("broken.gltf").count(), 1, "{said}");
    }
}

#[test]
fn skin_matrices_are_printed_in_the_layout_of_shaders() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let eval = |format: &str, engine: &str| {
        let arguments = ["eval", file.to_str().unwrap(), "--times", "1.2", "--outputs", "skin", "--engine", engine];
        let answer = stdout_json(&posse(&[&arguments[..], &["--skin-format", format]].concat()));
        let matrices = &answer["samples"][0]["skins"][0]["joint_matrices"];
        let matrix = |index: usize| matrices[index].as_array().unwrap()[12..15].to_vec();
        [matrix(0), matrix(1)].map(|place| place.iter().map(|number| number.as_f64().unwrap()).collect::<Vec<_>>())
    };
    for engine in ["reference", "cpu", "gpu"] {
        for format in ["matrix", "half", "dual-quaternion"] {
            let [root, tip] = eval(format, engine);
            assert_eq!(root, [0.0, 1.0, 0.0], "{format}");
            // Halfway from (14, 3, -2) to (18, 1, 1), and 1 m higher.
            for (found, expected) in tip.iter().zip([16.0, 3.0, -0.5]) {
                assert!((found - expected).abs() < 1e-5, "{format}: {tip:?}");
            }
        }
    }
    let refused = posse(&["eval", file.to_str().unwrap(), "--times", "1", "--skin-format", "third"]);
    assert_refused(&refused, "dual-quaternion");
}

#[test]
fn verify_holds_each_skin_format_to_its_bound() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let path = file.to_str().unwrap();
    let allowed = ["matrix", "dual-quaternion", "half"].map(|format| {
        let arguments = ["verify", "--engine", "cpu", "--json", "--samples", "5", "--skin-format", format, path];
        let verdict = stdout_json(&posse(&arguments));
        assert_eq!(verdict["within"], true, "{verdict}");
        verdict["files"][0]["quantities"]["skin"]["allowed"].as_f64().unwrap()
    });
    // The vertices are within 5 cm of the origin and are moved by 18 m: rotations matter little, and the steps of f16
    // are 1 / 64.
    assert!(allowed[0] < allowed[1] && allowed[1] < 1e-4 && allowed[2] > 1e-3, "{allowed:?}");
    // A root with a scale that is not uniform.
    let mut document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    document["nodes"][1]["scale"] = json!([1.0, 2.0, 1.0]);
    let stretched = scene.path("stretched.gltf");
    fs::write(&stretched, document.to_string()).unwrap();
    let stretched = stretched.to_str().unwrap();
    assert!(posse(&["verify", "--engine", "cpu", "--skin-format", "half", stretched]).status.success());
    for command in [&["verify"][..], &["eval", "--times", "1"]] {
        let output = posse(&[command, &["--engine", "cpu", "--skin-format", "dual-quaternion", stretched]].concat());
        assert_refused(&output, "root: its rest scale is (1, 2, 1), which is not uniform");
    }
}

/// Mesa's device selection layer looks for a Wayland display, and libwayland reports on stderr that the variable is not
/// set. The variables of docs/command-line.md keep the line away; cargo sets one of them, by .cargo/config.toml.
#[test]
fn a_gpu_command_without_a_desktop_writes_no_other_errors() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let eval = ["eval", file.to_str().unwrap(), "--times", "1.2", "--engine", "gpu"];
    let errors = |set: Option<(&str, &str)>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.args(eval);
        for name in ["XDG_RUNTIME_DIR", "WAYLAND_SOCKET", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        if let Some((name, value)) = set {
            command.env_remove("NODEVICE_SELECT").env(name, value);
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !output.stdout.is_empty(), "{stderr}");
        let errors = stderr.lines().filter(|line| line.contains("error"));
        errors.map(str::to_owned).collect::<Vec<_>>()
    };
    let others = |line: &String| !line.contains("XDG_RUNTIME_DIR");
    assert!(!errors(Some(("WAYLAND_DISPLAY", ""))).iter().any(others));
    assert_eq!(errors(Some(("NODEVICE_SELECT", "1"))), [""; 0]);
    assert_eq!(errors(Some(("XDG_RUNTIME_DIR", "/nonexistent"))), [""; 0]);
    // Cargo sets the variable, by .cargo/config.toml; a person may start the test without it.
    if std::env::var_os("NODEVICE_SELECT").is_some() {
        assert_eq!(errors(None), [""; 0]);
    }
}

#[test]
fn help_and_version_succeed() {
    for arguments in [["--help"].as_slice(), &["--version"], &["eval", "--help"], &["inspect", "-h"], &["verify", "-h"]]
    {
        assert!(posse(arguments).status.success(), "{arguments:?}");
    }
    assert_refused(&posse(&["dance"]), "dance");
}

#[cfg(not(feature = "view"))]
#[test]
fn a_build_without_windows_names_the_feature_view() {
    assert_refused(&posse(&["view", "demo", "--instances", "5"]), "--features view");
}
