//! Crowd files through the command: hand-worked layers, masks, fades and spreads on every engine, and faults.

/// Faults with their paths.
mod faults;
/// Inverse kinematics: poses, and faults.
mod goals;
/// Parameters, blend spaces, sync, markers and transitions.
mod motion;
/// Faults of parameters, sync and transitions.
mod motion_faults;

use std::fs;
use std::io::Read;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// A folder with `rig.glb`, which has a moving root, a hip with a foot, an arm, and a node given by a matrix; and with
/// `all.glb`, which has a skin, weights and an animation pointer.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.0.path().join("rig.glb"), rig().glb()).unwrap();
        fs::write(folder.0.path().join("all.glb"), something_of_everything().glb()).unwrap();
        folder
    }

    fn eval(&self, crowd: &Value, arguments: &[&str]) -> Output {
        self.eval_text(&crowd.to_string(), arguments)
    }

    fn eval_text(&self, crowd: &str, arguments: &[&str]) -> Output {
        let file = self.0.path().join("crowd.json");
        fs::write(&file, crowd).unwrap();
        let posse = env!("CARGO_BIN_EXE_posse");
        Command::new(posse).args(["eval", "--crowd"]).arg(file).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn json(&self, crowd: &Value, times: &str, engine: &str) -> Value {
        let output = self.eval(crowd, &["--times", times, "--engine", engine]);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Asserts the translation of a node on every engine, for one instance with these layers at a time.
    #[track_caller]
    fn assert_moves(&self, layers: Value, time: &str, node: usize, expected: [f64; 3]) {
        let masks = json!({
            "half": { "joints": { "hip": 0.5 }, "descendants": true }, "alone": { "joints": { "hip": 0.5, "arm": 2 } },
        });
        let crowd = json!({ "files": ["rig.glb"], "masks": masks, "instances": [{ "layers": layers }] });
        for engine in ENGINES {
            let answer = self.json(&crowd, time, engine);
            assert_near(&answer["samples"][0]["instances"][0]["nodes"][node]["translation"], &expected);
        }
    }

    #[track_caller]
    fn assert_refused(&self, crowd: &str, place: &str, saying: &str) {
        let output = self.eval_text(crowd, &["--times", "0", "--engine", "cpu"]);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{crowd}: {stderr}");
        assert!(stderr.contains(&format!("crowd.json: {place}: ")) && stderr.contains(saying), "{place}: {stderr}");
        assert!(output.stdout.is_empty());
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_near(value: &Value, expected: &[f64]) {
    let numbers: Vec<f64> = value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5;
    assert!(numbers.len() == expected.len() && numbers.iter().zip(expected).all(near), "{value}, not {expected:?}");
}

/// A rig with clips of translations, each from a key at 0 s to a last key. `walk` of 1 s, `run` of 2 s, `sway` of 1 s
/// and `long` of 16 s move the root; `lift` of 1 s moves its descendants. A second `walk` must never be chosen.
fn rig() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "root", "children": [1, 2, 4] }));
    file.push("nodes", json!({ "name": "hip", "translation": [0, 1, 0], "children": [3] }));
    file.push("nodes", json!({ "name": "arm" }));
    file.push("nodes", json!({ "name": "foot" }));
    file.push("nodes", json!({ "name": "box", "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1] }));
    let mut clip = |name: &str, seconds: f32, nodes: &[usize], keys: [f32; 6]| {
        let (input, output) = (file.floats("SCALAR", &[0.0, seconds]), file.floats("VEC3", &keys));
        let channel = |node| json!({ "sampler": 0, "target": { "node": node, "path": "translation" } });
        let channels: Vec<Value> = nodes.iter().map(channel).collect();
        let samplers = json!([{ "input": input, "output": output }]);
        file.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
    };
    clip("walk", 1.0, &[0], [0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    clip("run", 2.0, &[0], [0.0, 0.0, 0.0, 0.0, 8.0, 0.0]);
    clip("sway", 1.0, &[0], [1.0, 1.0, 1.0, 3.0, 1.0, 1.0]);
    clip("lift", 1.0, &[1, 2, 3], [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    clip("long", 16.0, &[0], [0.0, 0.0, 0.0, 16.0, 0.0, 0.0]);
    clip("late", 1.0, &[0], [9.0; 6]);
    file
}

#[test]
fn layers_blend_override_and_add() {
    let folder = Folder::new();
    let walk = json!({ "clip": "walk", "weight": 0.75 });
    let run = json!({ "clip": 1, "weight": 0.25, "rate": 2, "wrap": "Loop" });
    folder.assert_moves(json!([walk, run]), "0.5", 0, [1.5, 1.0, 0.0]);
    let over = json!({ "clip": "run", "rate": 2, "mode": "override", "weight": 0.5 });
    let add = |reference: &str| json!({ "clip": "sway", "mode": "additive", "weight": 2, "reference": reference });
    folder.assert_moves(json!([over, walk]), "0.5", 0, [1.0, 2.0, 0.0]);
    folder.assert_moves(json!([walk, over, add("first")]), "0.5", 0, [3.0, 2.0, 0.0]);
    folder.assert_moves(json!([walk, over, add("rest")]), "0.5", 0, [5.0, 4.0, 2.0]);
    folder.assert_moves(json!([{ "clip": "sway", "mode": "additive" }]), "0.5", 0, [1.0, 0.0, 0.0]);
    folder.assert_moves(json!([{ "clip": "walk", "weight": 0.025 }]), "0.5", 0, [0.5, 0.0, 0.0]);
}

#[test]
fn layers_start_and_wrap() {
    let folder = Folder::new();
    let walk = |wrap: &str| json!([{ "clip": "walk", "start": 1.75, "wrap": wrap }]);
    folder.assert_moves(walk("default"), "0.5", 0, [0.0; 3]);
    folder.assert_moves(walk("normal"), "2", 0, [1.0, 0.0, 0.0]);
    folder.assert_moves(walk("reverse"), "2", 0, [3.0, 0.0, 0.0]);
    folder.assert_moves(walk("loop"), "9", 0, [1.0, 0.0, 0.0]);
    folder.assert_moves(walk("Ping-Pong"), "3", 0, [3.0, 0.0, 0.0]);
    folder.assert_moves(json!([{ "clip": "walk", "rate": -1, "wrap": "loop" }]), "0.25", 0, [3.0, 0.0, 0.0]);
    let far = |start: f64| json!([{ "clip": "walk", "start": start, "fade_in": { "start": start, "seconds": 4e12 } }]);
    folder.assert_moves(far(4e12), "-4e12", 0, [0.0; 3]);
    folder.assert_moves(far(-4e12), "4e12", 0, [4.0, 0.0, 0.0]);
    folder.assert_moves(json!([{ "clip": "walk", "rate": 0, "start": -3 }]), "0.25", 0, [0.0; 3]);
}

#[test]
fn fades_change_weights_with_the_clock() {
    let folder = Folder::new();
    let layers = |name: &str, fade: Value| {
        let mut run = json!({ "clip": "run", "rate": 2, "weight": 0.25 });
        run[name] = fade;
        json!([{ "clip": "walk", "weight": 0.75 }, run])
    };
    let linear = layers("fade_in", json!({ "start": 0, "seconds": 1 }));
    folder.assert_moves(linear, "0.5", 0, [1.5 / 0.875, 0.5 / 0.875, 0.0]);
    let smooth = layers("fade_in", json!({ "start": 0, "seconds": 1, "shape": "smooth" }));
    folder.assert_moves(smooth, "0.25", 0, [0.75 / 0.7890625, 0.078125 / 0.7890625, 0.0]);
    let out = layers("fade_out", json!({ "start": -0.5, "seconds": 2, "shape": "linear" }));
    folder.assert_moves(out, "0.5", 0, [1.5 / 0.875, 0.5 / 0.875, 0.0]);
    let at_once = layers("fade_out", json!({ "start": 0.5 }));
    folder.assert_moves(at_once.clone(), "0.25", 0, [0.75, 0.5, 0.0]);
    folder.assert_moves(at_once, "0.5", 0, [2.0, 0.0, 0.0]);
}

#[test]
fn masks_give_weights_to_joints() {
    let folder = Folder::new();
    let lift = |mask: &str| json!([{ "clip": "lift", "mode": "override", "mask": mask }]);
    for (node, half, alone) in [
        (0, [0.0; 3], [0.0; 3]),
        (1, [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]),
        (2, [0.0; 3], [0.0, 0.0, 1.0]),
        (3, [0.0, 0.0, 0.5], [0.0; 3]),
    ] {
        folder.assert_moves(lift("half"), "0.5", node, half);
        folder.assert_moves(lift("alone"), "0.5", node, alone);
    }
}

#[test]
fn a_spread_varies_start_and_rate_within_a_group() {
    let folder = Folder::new();
    // The hand-worked sequence, in units of 1/4096: starts from 0 s to 2 s, rates from 0.75 to 1.25.
    let seeds = [
        (0, [[4096.0, 4096.0], [2088.0, 3215.0], [80.0, 4382.0]]),
        (7, [[6769.0, 4764.0], [4760.0, 3883.0], [2752.0, 5050.0]]),
    ];
    let group = |(seed, _): &(u32, _)| {
        let spread = json!({ "start": [0, 2], "rate": [0.75, 1.25], "seed": seed });
        json!({ "count": 3, "spread": spread, "layers": [{ "clip": "long", "start": -1 }] })
    };
    let mut groups: Vec<Value> = seeds.iter().map(group).collect();
    groups.insert(1, json!({ "count": 0 }));
    let crowd = json!({ "files": ["rig.glb"], "instances": groups });
    for engine in ENGINES {
        let answer = folder.json(&crowd, "4", engine);
        let instances = answer["samples"][0]["instances"].as_array().unwrap();
        assert_eq!(instances.len(), 6);
        for ([start, rate], instance) in seeds.iter().flat_map(|(_, group)| group).zip(instances) {
            let x = (4.0 - (start / 4096.0 - 1.0)) * rate / 4096.0;
            assert_near(&instance["nodes"][0]["translation"], &[x, 0.0, 0.0]);
        }
    }
}

#[test]
fn files_mix_and_each_instance_has_the_outputs_of_its_file() {
    let folder = Folder::new();
    let crowd = json!({ "files": ["all.glb", "rig.glb", "./rig.glb", "all.glb"], "instances": [
        { "count": 2, "layers": [{ "clip": "all", "weight": 0 }] },
        { "file": 1, "layers": [{ "clip": "walk" }] },
        { "file": 3 },
        { "file": 2, "layers": [] },
    ] });
    for engine in ENGINES {
        let answer = folder.json(&crowd, "0,0.5", engine);
        assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["files", "engine", "adapter", "samples"]);
        assert_eq!((&answer["files"], &answer["engine"]), (&crowd["files"], &json!(engine)));
        let sample = &answer["samples"][1];
        assert_eq!(sample["time"], 0.5);
        let instances = sample["instances"].as_array().unwrap();
        let keys = ["file", "nodes", "skins", "pointers", "root_motion"];
        assert!(instances.iter().all(|instance| instance.as_object().unwrap().keys().eq(keys)), "{sample}");
        assert_eq!(instances.iter().map(|instance| &instance["file"]).collect::<Vec<_>>(), [0, 0, 1, 3, 2]);
        assert!(instances.iter().all(|instance| instance["root_motion"].is_null()));
        let counts = |key: &str| instances.iter().map(|i| i[key].as_array().unwrap().len()).collect::<Vec<_>>();
        assert_eq!((counts("nodes"), counts("skins")), (vec![3, 3, 5, 3, 5], vec![1, 1, 0, 1, 0]));
        let color = "/materials/0/pbrMetallicRoughness/baseColorFactor";
        assert_near(&instances[1]["pointers"][color], &[1.0, 0.5, 0.25, 1.0]);
        assert_eq!([&instances[2]["pointers"], &instances[3]["pointers"]], [&json!({}); 2]);
        assert_near(&instances[3]["nodes"][2]["weights"], &[0.5, 0.25]);
        assert_near(&instances[2]["nodes"][0]["translation"], &[2.0, 0.0, 0.0]);
        assert_near(&instances[4]["nodes"][1]["translation"], &[0.0, 1.0, 0.0]);
        assert_eq!(instances[2]["nodes"][4]["translation"], Value::Null, "a matrix");
        assert_near(&json!([instances[2]["nodes"][4]["world"][12]]), &[7.0]);
    }
}

#[test]
fn a_matrix_that_no_layer_of_the_instance_animates_has_no_parts() {
    let folder = Folder::new();
    let mut rig = rig();
    let (input, output) = (rig.floats("SCALAR", &[0.0]), rig.floats("VEC3", &[1.0, 2.0, 3.0]));
    let channels = json!([{ "sampler": 0, "target": { "node": 4, "path": "translation" } }]);
    rig.push(
        "animations",
        json!({ "name": "push", "channels": channels, "samplers": [{ "input": input, "output": output }] }),
    );
    fs::write(folder.0.path().join("pushed.glb"), rig.glb()).unwrap();
    let crowd = json!({ "files": ["pushed.glb"], "instances": [
        { "layers": [{ "clip": "push", "weight": 0 }] }, { "layers": [{ "clip": "walk" }] }, {},
        { "layers": [{ "clip": "walk" }, { "clip": "push" }] },
    ] });
    for engine in ENGINES {
        let sample = folder.json(&crowd, "0", engine)["samples"][0].clone();
        let node = |instance: usize| &sample["instances"][instance]["nodes"][4];
        assert_near(&node(0)["translation"], &[5.0, 0.0, 0.0]);
        assert_near(&node(3)["translation"], &[1.0, 2.0, 3.0]);
        for node in [node(1), node(2)] {
            assert_eq!([&node["translation"], &node["rotation"], &node["scale"]], [&Value::Null; 3]);
            assert_near(&json!([node["world"][12]]), &[5.0]);
        }
    }
}

#[test]
fn an_empty_crowd_gives_an_empty_result() {
    let folder = Folder::new();
    for crowd in [
        json!({ "files": [], "instances": [] }),
        json!({ "files": ["rig.glb"], "instances": [{ "count": 0, "layers": [{ "clip": "walk" }] }] }),
    ] {
        for engine in ENGINES {
            let samples = folder.json(&crowd, "0,2", engine)["samples"].clone();
            assert_eq!(samples, json!([{ "time": 0.0, "instances": [] }, { "time": 2.0, "instances": [] }]));
        }
    }
}

#[test]
fn parts_can_be_left_out_and_frames_need_an_end() {
    let folder = Folder::new();
    let crowd = json!({ "files": ["rig.glb"], "instances": [{ "layers": [{ "clip": "walk" }] }] });
    let output = folder.eval(&crowd, &["--fps", "2", "--from", "1", "--to", "2", "--outputs", "properties"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sample = |time: f64| json!({ "time": time, "instances": [{ "file": 0, "pointers": {}, "root_motion": null }] });
    assert_eq!(answer["samples"], json!([sample(1.0), sample(1.5), sample(2.0)]));
    for (arguments, saying) in [
        (&["--fps", "2"][..], "--fps needs an end: a crowd clock has none; give --to"),
        (&[], "no times given"),
        (&["--times", "1e30"], "beyond the crowd clock"),
        (&["--times", "0", "--clip", "walk"], "--clip"),
        (&["--times", "0", "--wrap", "loop"], "--wrap"),
        (&["--times", "0", "--instances", "2"], "--instances"),
        (&["--times", "0", "rig.glb"], "cannot be used with"),
    ] {
        let output = folder.eval(&crowd, arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(saying), "{}", stderr(&output));
    }
}

#[test]
fn npz_is_for_one_file() {
    let folder = Folder::new();
    let file = folder.0.path().join("crowd.npz");
    let arguments = ["--times", "0,0.5", "--engine", "reference", "--format", "npz", "-o", file.to_str().unwrap()];
    let walk = json!({ "file": 1, "count": 2, "layers": [{ "clip": "walk" }] });
    let crowd = json!({ "files": ["all.glb", "rig.glb"], "instances": [walk, { "file": 1 }] });
    let output = folder.eval(&crowd, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut zip = zip::ZipArchive::new(fs::File::open(&file).unwrap()).unwrap();
    let mut bytes = Vec::new();
    zip.by_name("translation.npy").unwrap().read_to_end(&mut bytes).unwrap();
    let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
    assert_eq!(array.shape(), [2, 3, 5, 3]);
    let values: Vec<f64> = array.into_vec().unwrap();
    assert_eq!([0, 15, 30, 45, 60, 75].map(|root| values[root]), [0.0, 0.0, 0.0, 2.0, 2.0, 0.0]);
    for (instances, saying) in [(json!([walk, {}]), "instances of one file"), (json!([]), "no instance")] {
        let output = folder.eval(&json!({ "files": crowd["files"], "instances": instances }), &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(saying), "{}", stderr(&output));
    }
}

#[test]
fn mask_joints_that_no_file_has_are_warned_of() {
    let folder = Folder::new();
    let crowd = json!({
        "files": ["rig.glb", "all.glb"],
        "masks": { "some": { "joints": { "hip": 1, "root": 1, "tail": 1 } } },
        "instances": [{ "file": 1, "layers": [{ "clip": 0, "mask": "some" }] }],
    });
    let output = folder.eval(&crowd, &["--times", "0"]);
    assert!(output.status.success());
    assert_eq!(stderr(&output).matches("masks.some.joints.").count(), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("crowd.json: masks.some.joints.tail: no file has a joint of this name"));
}

#[test]
fn roots_that_no_track_moves_are_warned_of() {
    let folder = Folder::new();
    // Each of these clips has a track for the translation of the root, and none for its rotation.
    let roots = json!([
        { "clip": "walk", "joint": "hip", "translation": "xyz", "rotation": "full" },
        { "clip": "run", "joint": "root", "rotation": "yaw" },
        { "clip": "sway", "joint": "root", "translation": "x", "rotation": "yaw" },
    ]);
    let crowd = json!({ "files": ["rig.glb"], "roots": roots, "instances": [{ "layers": [{ "clip": "walk" }] }] });
    let output = folder.eval(&crowd, &["--times", "0"]);
    assert!(output.status.success());
    let warnings = stderr(&output);
    assert_eq!(warnings.matches("roots[").count(), 2, "{warnings}");
    for (place, clip, joint) in [(0, "walk", "hip"), (1, "run", "root")] {
        let expected =
            format!("roots[{place}].joint: clip {clip:?} has no track of {joint:?} that could move instances");
        assert!(warnings.contains(&expected), "{warnings}");
    }
}

#[test]
fn roots_move_instances_from_sample_to_sample() {
    let folder = Folder::new();
    let walk = json!({ "clip": "walk", "joint": "root", "translation": "zx", "rotation": "yaw" });
    let lift = json!({ "file": 1, "clip": 3, "joint": "foot", "translation": "z" });
    let group = |file: usize, clip: &str| json!({ "file": file, "layers": [{ "clip": clip, "wrap": "loop" }] });
    let crowd = json!({ "files": ["rig.glb", "rig.glb"], "roots": [walk, lift], "instances": [
        group(0, "walk"), group(0, "run"), group(1, "lift"), group(1, "walk"),
        { "layers": [{ "clip": "walk", "wrap": "pingpong", "weight": 3 }, { "clip": "run" }] },
    ] });
    for engine in ENGINES {
        let answer = folder.json(&crowd, "0.5,3.25,2.25", engine);
        let find_instance = |sample: usize, instance: usize| &answer["samples"][sample]["instances"][instance];
        let assert_motion = |instance: usize, expected: [[f64; 3]; 3]| {
            for (sample, expected) in expected.iter().enumerate() {
                let motion = &find_instance(sample, instance)["root_motion"];
                assert_eq!(motion.as_object().unwrap().keys().collect::<Vec<_>>(), ["translation", "rotation"]);
                assert_near(&motion["translation"], expected);
                assert_near(&motion["rotation"], &[0.0, 0.0, 0.0, 1.0]);
            }
        };
        // 4 m per second, and 2 m per second. In the file that was named again, only the other clip has a root.
        assert_motion(0, [[0.0; 3], [11.0, 0.0, 0.0], [-4.0, 0.0, 0.0]]);
        assert_motion(2, [[0.0; 3], [0.0, 0.0, 5.5], [0.0, 0.0, -2.0]]);
        assert_motion(4, [[0.0; 3], [1.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]);
        for sample in 0..3 {
            assert!(
                find_instance(sample, 1)["root_motion"].is_null() && find_instance(sample, 3)["root_motion"].is_null()
            );
            assert_near(&find_instance(sample, 0)["nodes"][0]["translation"], &[0.0; 3]);
        }
        assert_near(&find_instance(1, 3)["nodes"][0]["translation"], &[1.0, 0.0, 0.0]);
    }
    let file = folder.0.path().join("crowd.npz");
    let of_one = json!({ "files": ["rig.glb"], "roots": [walk], "instances": [group(0, "run"), group(0, "walk")] });
    let arguments = ["--times", "0.5,3.25", "--engine", "cpu", "--format", "npz", "-o", file.to_str().unwrap()];
    let output = folder.eval(&of_one, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut zip = zip::ZipArchive::new(fs::File::open(&file).unwrap()).unwrap();
    let mut read = |name: &str| {
        let mut bytes = Vec::new();
        zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
        (array.shape().to_vec(), array.into_vec::<f32>().unwrap())
    };
    let (shape, values) = read("root_motion_translation.npy");
    assert_eq!((shape, [0, 3, 6, 9].map(|x| values[x])), (vec![2, 2, 3], [0.0, 0.0, 0.0, 11.0]));
    let (shape, values) = read("root_motion_rotation.npy");
    assert_eq!((shape, [3, 7, 11, 15].map(|w| values[w])), (vec![2, 2, 4], [1.0; 4]));
}

#[test]
fn the_example_of_the_help_is_posed() {
    let output = Command::new(env!("CARGO_BIN_EXE_posse")).args(["eval", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let example = help.split("```json").nth(1).unwrap().split("```").next().unwrap();
    let mut crowd: Value = serde_json::from_str(example).unwrap();
    // A thousand instances take too long for a test.
    crowd["instances"][0]["count"] = json!(3);
    let mut fox = GltfBuilder::new();
    fox.push("nodes", json!({ "name": "b_Hip_01", "children": [1] }));
    fox.push("nodes", json!({ "name": "b_Spine02_03", "children": [2, 5] }));
    fox.push("nodes", json!({ "name": "b_LeftUpperArm_09", "translation": [5, 0, 0], "children": [3] }));
    fox.push("nodes", json!({ "name": "b_LeftForeArm_010", "translation": [0, -9, 0], "children": [4] }));
    fox.push("nodes", json!({ "name": "b_LeftHand_011", "translation": [0, -9, 4] }));
    fox.push("nodes", json!({ "name": "b_Head_05", "translation": [0, 9, 0] }));
    for clip in ["Survey", "Walk", "Run"] {
        let (input, output) = (fox.floats("SCALAR", &[0.0, 1.0]), fox.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]));
        let animation = fox.animate(json!({ "node": 0, "path": "translation" }), input, output, "LINEAR");
        fox.json["animations"][animation]["name"] = json!(clip);
    }
    let folder = Folder::new();
    fs::write(folder.0.path().join("Fox.glb"), fox.glb()).unwrap();
    let output = folder.eval(&crowd, &["--times", "0,0.5", "--engine", "cpu"]);
    assert!(output.status.success() && !stderr(&output).contains("warning:"), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let instances = answer["samples"][1]["instances"].as_array().unwrap();
    assert_eq!(instances.len(), 5);
    assert!(instances[0]["root_motion"].is_object(), "{answer}");
}
