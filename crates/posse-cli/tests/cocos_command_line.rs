//! The `posse` command with Cocos clips, and with wrap modes.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// A folder with files.
struct Folder(TempDir);

impl Folder {
    /// A folder with `clip.json`, the example in the documentation of the clip format: a head that moves back and
    /// forth, and a body whose colour changes from black to red.
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.write("clip.json", &clip());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, file: &Value) {
        fs::write(self.path(name), file.to_string()).unwrap();
    }

    /// Adds a glTF file with a root, a head, and a body given by a matrix. The body comes first; the root is in a skin.
    fn with_rig(self) -> Self {
        self.write(
            "rig.gltf",
            &json!({
                "asset": { "version": "2.0" },
                "nodes": [
                    { "name": "Body", "matrix": [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1] },
                    { "name": "Root", "translation": [0, 1, 0], "children": [0, 2] },
                    { "name": "Head", "translation": [9, 9, 9] }
                ],
                "skins": [{ "joints": [1, 2] }]
            }),
        );
        self
    }

    /// Runs a command on a file of the folder. Arguments that begin with `@` name files of the folder too.
    fn run(&self, command: &str, file: &str, arguments: &[&str]) -> Output {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let argument = |argument: &&str| argument.strip_prefix('@').map_or_else(|| (*argument).to_owned(), path);
        let arguments: Vec<String> = arguments.iter().map(argument).collect();
        Command::new(env!("CARGO_BIN_EXE_posse")).args([command, &path(file)]).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn json(&self, command: &str, file: &str, arguments: &[&str]) -> Value {
        let output = self.run(command, file, arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The phase of a clip by the reference: clip time, direction, iterations, and whether it has stopped.
    #[track_caller]
    fn play(&self, file: &str, arguments: &[&str]) -> Vec<(f64, i64, f64, bool)> {
        let answer = self.json("eval", file, &[&["--engine", "reference"], arguments].concat());
        let number = |sample: &Value, name: &str| sample[name].as_f64().unwrap();
        let sample = |sample: &Value| {
            let direction = sample["direction"].as_i64().unwrap();
            let stopped = sample["stopped"].as_bool().unwrap();
            (number(sample, "clip_time"), direction, number(sample, "iterations"), stopped)
        };
        answer["samples"].as_array().unwrap().iter().map(sample).collect()
    }

    #[track_caller]
    fn assert_refused(&self, command: &str, file: &str, arguments: &[&str], saying: &[&str]) {
        let output = self.run(command, file, arguments);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("error: ") && saying.iter().all(|part| stderr.contains(part)), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn color(r: u8) -> Value {
    json!({ "__type__": "cc.Color", "r": r, "g": 0, "b": 0, "a": 255 })
}

fn vec3(x: f64) -> Value {
    json!({ "__type__": "cc.Vec3", "x": x, "y": 0, "z": 0 })
}

fn clip() -> Value {
    json!({
        "duration": 1.0,
        "keys": [[0.3, 0.6, 0.9], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]],
        "curveDatas": {
            "/Head": { "props": { "position": { "keys": 0, "values": [vec3(0.0), vec3(0.5), vec3(0.0)] } } },
            "/Body": { "comps": { "cc.Sprite": { "color": {
                "keys": 1, "values": [color(0), color(51), color(102), color(153), color(204), color(255)]
            } } } }
        }
    })
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_near(value: &Value, expected: &[f64]) {
    let numbers = numbers(value);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-4;
    assert!(numbers.len() == expected.len() && numbers.iter().zip(expected).all(near), "{value}, not {expected:?}");
}

#[test]
fn targets_have_their_values_in_the_order_of_the_file() {
    let folder = Folder::new();
    for engine in ENGINES {
        let answer = folder.json("eval", "clip.json", &["--times", "-1,0.3,0.45,0.6,0.8,0.9,7", "--engine", engine]);
        assert_eq!(
            [&answer["asset"], &answer["animation"], &answer["name"], &answer["duration"], &answer["engine"]],
            [&json!("clip.json"), &json!(0), &Value::Null, &json!(1.0), &json!(engine)]
        );
        assert_eq!(answer.get("rig"), None);
        let expected = [(0.0, 0), (0.0, 76), (0.25, 114), (0.5, 153), (0.1667, 204), (0.0, 229), (0.0, 255)];
        for ((x, r), sample) in expected.into_iter().zip(answer["samples"].as_array().unwrap()) {
            assert_eq!(sample.as_object().unwrap().keys().collect::<Vec<_>>(), ["time", "targets"]);
            let [head, body] = [&sample["targets"][0], &sample["targets"][1]];
            let names = [head, body].map(|target| [&target["path"], &target["component"], &target["property"]]);
            assert_eq!(names[0], [&json!("/Head"), &Value::Null, &json!("position")]);
            assert_eq!(names[1], [&json!("/Body"), &json!("cc.Sprite"), &json!("color")]);
            assert_near(&head["value"], &[x, 0.0, 0.0]);
            assert_eq!(head.get("unrounded"), None);
            assert_eq!(body["value"], json!([r, 0, 0, 255]), "{sample}");
        }
        assert_near(&answer["samples"][2]["targets"][1]["unrounded"], &[114.75, 0.0, 0.0, 255.0]);
    }
}

#[test]
fn every_kind_of_value_has_its_json_form() {
    let folder = Folder::new();
    let frame = json!({ "__uuid__": "a" });
    let size = |width: f64| json!({ "__type__": "cc.Size", "width": width, "height": 2 });
    folder.write(
        "kinds.anim",
        &json!({ "__type__": "cc.AnimationClip", "_name": "kinds", "_duration": 2, "_keys": [[0, 2]], "curveDatas": {
            "": { "props": {
                "opacity": { "keys": 0, "values": [10, 20], "easingMethod": "quadIn" },
                "nothing": { "keys": 0, "values": [] },
                "still": { "keys": -1, "values": [7] }
            } },
            "/a/b": { "comps": { "cc.Sprite": {
                "spriteFrame": { "keys": 0, "values": [frame, frame] },
                "contentSize": { "keys": 0, "values": [size(0.0), size(4.0)] }
            } } }
        } }),
    );
    let output = folder.run("eval", "kinds.anim", &["--times", "1,2", "--clip", "kinds", "--engine", "cpu"]);
    assert!(output.status.success() && stderr(&output).contains("no keys"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("no node"), "without a rig no node is missing: {}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let targets = answer["samples"][0]["targets"].as_array().unwrap();
    let value = |property: &str| &targets.iter().find(|target| target["property"] == property).unwrap()["value"];
    assert_eq!(targets[0]["path"], "/");
    assert_eq!(targets[3]["path"], "/a/b");
    assert_eq!(value("opacity"), &json!([12.5]));
    assert_eq!(value("nothing"), &Value::Null);
    assert_eq!(value("still"), &json!([7.0]));
    assert_eq!(value("spriteFrame"), &json!([0]), "the index of the key that holds");
    assert_eq!(value("contentSize"), &json!([2.0, 2.0]));
    assert_eq!(answer["samples"][1]["targets"][3]["value"], json!([1]));
}

#[test]
fn components_have_the_names_of_their_property() {
    let folder = Folder::new();
    let curve = |common: usize, name: &str| json!({ "modifiers": [name], "commonTarget": common, "data": { "keys": 0, "values": [0, 4] } });
    folder.write(
        "single.json",
        &json!({
            "__type__": "cc.AnimationClip", "_duration": 1, "_keys": [[0, 1]],
            "_commonTargets": [{ "modifiers": ["position"] }, { "modifiers": ["color"] }, { "modifiers": ["contentSize"] }],
            "_curves": [curve(0, "y"), curve(1, "g"), curve(2, "height")]
        }),
    );
    let targets = folder.json("eval", "single.json", &["--times", "0.5"])["samples"][0]["targets"].clone();
    let names: Vec<&Value> = targets.as_array().unwrap().iter().map(|target| &target["property"]).collect();
    assert_eq!(names, ["position.y", "color.g", "contentSize.height"]);
    assert_eq!(targets[1]["value"], json!([2.0]));
}

#[test]
fn a_played_clip_reports_its_phase() {
    let folder = Folder::new();
    let play = |arguments: &[&str]| folder.play("clip.json", arguments);
    assert_eq!(
        play(&["--wrap", "loop", "--times", "0,0.25,1,1.25,2"]),
        [
            (0.0, 1, 0.0, false),
            (0.25, 1, 0.25, false),
            (1.0, 1, 1.0, false),
            (0.25, 1, 1.25, false),
            (1.0, 1, 2.0, false)
        ],
        "whole passes end at the end of the clip"
    );
    assert_eq!(
        play(&["--wrap", "Ping-Pong", "--repeat-count", "2.5", "--times", "0.25,1,1.25,2.25,3"]),
        [
            (0.25, 1, 0.25, false),
            (1.0, 1, 1.0, false),
            (0.75, -1, 1.25, false),
            (0.25, 1, 2.25, false),
            (0.5, 1, 2.5, true)
        ]
    );
    assert_eq!(
        play(&["--wrap", "normal", "--speed", "-1", "--times", "0,0.25,1,2"]),
        [(1.0, -1, 0.0, false), (0.75, -1, 0.25, false), (0.0, -1, 1.0, true), (0.0, -1, 1.0, true)],
        "a play backwards begins at the end"
    );
    assert_eq!(
        play(&["--wrap=reverse", "--speed=0.5", "--times=0,1,9"])[..2],
        [(1.0, -1, 0.0, false), (0.5, -1, 0.5, false)]
    );
    assert_eq!(play(&["--wrap", "normal", "--repeat-count", "inf", "--times", "4.5"]), [(0.5, 1, 4.5, false)]);
    assert_eq!(play(&["--wrap", "normal", "--repeat-count", "0", "--times", "0.5"]), [(1.0, 1, 0.0, true)]);
    assert_eq!(play(&["--wrap", "default", "--times", "9"]), [(1.0, 1, 1.0, true)], "the clip has no mode");
}

#[test]
fn a_range_plays_alone_and_keeps_clip_time() {
    let folder = Folder::new();
    folder.write("long.json", &json!({ "duration": 3, "wrapMode": 2, "curveDatas": {} }));
    let play = |arguments: &[&str]| folder.play("long.json", &[arguments, &["--range", "1,2.5"]].concat());
    // Figures of Cocos Creator, from which the modes come. Its time begins at the start of the range, 1 s. Before the
    // play it would show 1.75 s; here a play waits, as in a crowd.
    assert_eq!(
        play(&["--wrap", "normal", "--repeat-count", "2.5", "--times", "-0.75,0,1.125,1.5,2.25,3.75"]),
        [
            (1.0, 1, 0.0, false),
            (1.0, 1, 0.0, false),
            (2.125, 1, 0.75, false),
            (2.5, 1, 1.0, false),
            (1.75, 1, 1.5, false),
            (1.75, 1, 2.5, true)
        ]
    );
    assert!(!play(&["--wrap", "default", "--times", "3.75"])[0].3, "the mode of the clip is a loop");
    let backwards = play(&["--wrap", "normal", "--speed", "-1", "--times", "0,0.5,9"]);
    assert_eq!(backwards, [(2.5, -1, 0.0, false), (2.0, -1, 1.0 / 3.0, false), (1.0, -1, 1.0, true)]);
    assert_eq!(folder.play("long.json", &["--wrap", "loop", "--range", "-1,9", "--times", "4"])[0].0, 1.0);
}

#[test]
fn all_engines_evaluate_a_played_clip_at_its_clip_time() {
    let folder = Folder::new();
    for engine in ENGINES {
        let arguments = ["--wrap", "PING_PONG", "--times", "0.45,1.25,7", "--speed", "1", "--engine", engine];
        let samples = folder.json("eval", "clip.json", &arguments)["samples"].clone();
        for (sample, x) in samples.as_array().unwrap().iter().zip([0.25, 0.25, 0.0]) {
            assert_near(&sample["targets"][0]["value"], &[x, 0.0, 0.0]);
        }
        assert_eq!(samples[1]["targets"][1]["value"], json!([191, 0, 0, 255]), "three quarters of the way");
        assert_eq!(samples[2]["targets"][1]["value"], json!([255, 0, 0, 255]), "the end of the seventh pass");
    }
}

#[test]
fn instances_play_a_phase_apart_and_frames_last_as_long_as_the_clip() {
    let folder = Folder::new();
    let arguments = ["--wrap", "loop", "--speed", "2", "--times", "0.25", "--instances", "2", "--phase", "0.5"];
    let sample = folder.json("eval", "clip.json", &arguments)["samples"][0].clone();
    assert_eq!(sample.get("clip_time"), None);
    let instances = sample["instances"].as_array().unwrap();
    let at: Vec<f64> = instances.iter().map(|instance| instance["clip_time"].as_f64().unwrap()).collect();
    assert_eq!(at, [0.5, 0.5]);
    assert_eq!(instances[1]["iterations"], 1.5);
    let frames = folder.json("eval", "clip.json", &["--wrap", "loop", "--fps", "4"])["samples"].clone();
    let times: Vec<f64> = frames.as_array().unwrap().iter().map(|sample| sample["time"].as_f64().unwrap()).collect();
    assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn a_rig_is_moved() {
    let folder = Folder::new().with_rig();
    for engine in ENGINES {
        let arguments = ["--rig", "@rig.gltf", "--times", "0.6", "--engine", engine];
        let answer = folder.json("eval", "clip.json", &arguments);
        assert_eq!((&answer["asset"], &answer["rig"]), (&json!("clip.json"), &json!("rig.gltf")));
        let sample = &answer["samples"][0];
        assert_eq!(sample["nodes"].as_array().unwrap().len(), 3);
        assert_eq!(sample["nodes"][0]["translation"], Value::Null, "a matrix");
        assert_near(&sample["nodes"][2]["translation"], &[0.5, 0.0, 0.0]);
        assert_near(
            &sample["skins"][0]["joint_matrices"][1],
            &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0],
        );
        assert_near(&sample["targets"][0]["value"], &[0.5, 0.0, 0.0]);
        assert_eq!(sample["targets"][1]["value"], json!([153, 0, 0, 255]));
        assert_eq!(sample.get("pointers"), None);
    }
    let arguments = ["--rig", "@rig.gltf", "--times", "0", "--outputs", "properties"];
    let sample = folder.json("eval", "clip.json", &arguments)["samples"][0].clone();
    assert_eq!(sample.as_object().unwrap().keys().collect::<Vec<_>>(), ["time", "targets"]);
}

#[test]
fn tracks_that_do_not_bind_are_warned_of() {
    let folder = Folder::new().with_rig();
    let still = |value: Value| json!({ "props": { "position": { "keys": -1, "values": [value] } } });
    let curves = json!({ "/Tail": still(vec3(0.0)), "/Body": still(vec3(0.0)), "/Head": still(json!("up")) });
    folder.write("odd.json", &json!({ "duration": 1, "curveDatas": curves }));
    let output = folder.run("eval", "odd.json", &["--rig", "@rig.gltf", "--times", "0"]);
    assert!(output.status.success());
    for part in
        ["/Tail:position: there is no node \"Tail\"", "given by a matrix", "a value of this kind cannot move a node"]
    {
        assert!(stderr(&output).contains("warning: ") && stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn gltf_clips_play_in_any_mode_and_gltf_is_detected_by_its_content() {
    let folder = Folder::new();
    let data = "data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIBAAAAAAAAAAAA=";
    let accessor =
        |offset: usize, kind: &str| json!({ "bufferView": offset, "componentType": 5126, "count": 2, "type": kind });
    let target = json!({ "node": 0, "path": "translation" });
    folder.write(
        "gltf.json",
        &json!({
            "asset": { "version": "2.0" },
            "nodes": [{ "name": "Head" }],
            "buffers": [{ "uri": data, "byteLength": 32 }],
            "bufferViews": [{ "buffer": 0, "byteLength": 8 }, { "buffer": 0, "byteOffset": 8, "byteLength": 24 }],
            "accessors": [accessor(0, "SCALAR"), accessor(1, "VEC3")],
            "animations": [{ "samplers": [{ "input": 0, "output": 1 }], "channels": [{ "sampler": 0, "target": target }] }]
        }),
    );
    for engine in ENGINES {
        let arguments = ["--wrap", "ping-pong", "--times", "1.25", "--engine", engine];
        let sample = folder.json("eval", "gltf.json", &arguments)["samples"][0].clone();
        assert_eq!((&sample["clip_time"], &sample["direction"]), (&json!(0.75), &json!(-1)));
        assert_near(&sample["nodes"][0]["translation"], &[3.0, 0.0, 0.0]);
    }
}

#[test]
fn npz_has_times_and_properties() {
    let folder = Folder::new();
    let arguments = ["--times", "0,0.6", "--engine", "reference", "--format", "npz", "-o", "@values.npz"];
    assert!(folder.run("eval", "clip.json", &arguments).status.success());
    let mut zip = zip::ZipArchive::new(fs::File::open(folder.path("values.npz")).unwrap()).unwrap();
    assert_eq!(zip.len(), 2);
    assert!(zip.by_name("times.npy").is_ok());
    let mut bytes = Vec::new();
    zip.by_name("properties.npy").unwrap().read_to_end(&mut bytes).unwrap();
    let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
    assert_eq!(array.shape(), [2, 1, 7]);
    let values: Vec<f64> = array.into_vec().unwrap();
    assert_eq!(values, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 255.0, 0.5, 0.0, 0.0, 153.0, 0.0, 0.0, 255.0]);
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = Folder::new().with_rig();
    let assert_refused = |arguments: &[&str], saying: &str| {
        folder.assert_refused("eval", "clip.json", &[&["--times", "0"], arguments].concat(), &[saying]);
    };
    for lonely in [["--speed", "-1"], ["--repeat-count", "2"], ["--range", "0,1"]] {
        assert_refused(&lonely, "--wrap <MODE>");
    }
    assert_refused(&["--wrap", "sideways"], "pingpongreverse");
    assert_refused(&["--wrap", "loop", "--repeat-count", "-1"], "0 or more");
    assert_refused(&["--wrap", "loop", "--repeat-count", "nan"], "0 or more");
    assert_refused(&["--wrap", "loop", "--speed", "inf"], "finite");
    assert_refused(&["--wrap", "loop", "--speed", "10001"], "1e4");
    assert_refused(&["--wrap", "loop", "--range", "1"], "two times");
    assert_refused(&["--wrap", "loop", "--range", "1,0"], "before it starts");
    assert_refused(&["--wrap", "loop", "--range", "0,1,2"], "--range");
    assert_refused(&["--clip", "1"], "no clip \"1\"");
    assert_refused(&["--rig", "@clip.json"], "clip.json is a Cocos clip, which has no nodes");
    assert_refused(&["--rig", "@nowhere.glb"], "nowhere.glb");
    folder.assert_refused("eval", "rig.gltf", &["--rig", "@rig.gltf"], &["rig.gltf has no clips"]);
    folder.assert_refused("eval", "rig.gltf", &["--wrap", "loop"], &["--wrap plays a clip"]);
    folder.assert_refused("bench", "clip.json", &["--engine", "cpu"], &["clip.json is a Cocos clip"]);
    folder.write("short.json", &json!({ "duration": 1e-30, "curveDatas": {} }));
    folder.assert_refused(
        "eval",
        "short.json",
        &["--wrap", "loop", "--range", "0,1e-310", "--times", "3e38"],
        &["too often"],
    );
}

#[test]
fn a_clip_that_is_broken_is_named_with_its_error() {
    let folder = Folder::new();
    folder.write("keys.json", &json!({ "duration": 1, "keys": [], "curveDatas": { "/a": { "props": { "x": { "keys": 3, "values": [1] } } } } }));
    folder.assert_refused("eval", "keys.json", &["--times", "0"], &["keys.json", "curveDatas", "no list 3 of keys"]);
    folder.write("other.json", &json!({ "nodes": [] }));
    folder.assert_refused("inspect", "other.json", &[], &["other.json", "not an animation clip"]);
    fs::write(folder.path("cut.anim"), "{ \"__type__\": ").unwrap();
    folder.assert_refused("inspect", "cut.anim", &[], &["cut.anim", "__type__: EOF"]);
    fs::write(folder.path("binary.bin"), b"CCON\x01\0\0\0").unwrap();
    folder.assert_refused("eval", "binary.bin", &["--times", "0"], &["binary.bin", "save the clip as JSON"]);
}

#[test]
fn inspect_lists_the_content_of_a_clip() {
    let folder = Folder::new().with_rig();
    let mut file = clip();
    file["name"] = json!("nod");
    file["speed"] = json!(2);
    file["wrapMode"] = json!(22);
    file["events"] = json!([{ "frame": 0.5, "func": "half", "params": [] }]);
    file["curveDatas"]["/Head"]["props"]["position"]["easingMethods"] = json!(["quadIn", [0.1, 0.2, 0.3, 1.0]]);
    folder.write("full.json", &file);
    let text = String::from_utf8(folder.run("inspect", "full.json", &["--rig", "@rig.gltf"]).stdout).unwrap();
    for part in [
        "full.json, with rig.gltf\n",
        "skeleton \"rig\": 3 joints",
        "clip 0 \"nod\": 1 s, 2 tracks, 0 constant\n",
        "wrap mode pingpong, speed 2\n",
        "event at 0.5 s: half\n",
        "/Head:position: vec3, LINEAR, bezier, quadIn, 3 keys on timeline 0, moves the translation of joint",
        "/Body:cc.Sprite.color: color, LINEAR, 6 keys on timeline 1\n",
        "timeline 1 of 1 track: 6 keys, 0 s to 1 s, every 0.2",
        "bytes packed, 0 warnings",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let summary = folder.json("inspect", "full.json", &["--json"]);
    assert_eq!(summary["skeletons"], json!([]), "there is no rig");
    let clip = &summary["clips"][0];
    assert_eq!([&clip["wrap"], &clip["speed"]], [&json!("pingpong"), &json!(2.0)]);
    assert_eq!(clip["events"], json!([{ "time": 0.5, "function": "half" }]));
    assert_eq!(clip["tracks"][0]["easings"], json!(["bezier", "quadIn"]));
    assert_eq!(clip["tracks"][1]["timelines"], json!([1]));
    assert_eq!(clip["tracks"][1]["moves"], Value::Null);
}

#[test]
fn verify_accepts_clips_and_an_empty_clip_passes() {
    let folder = Folder::new();
    folder.write("empty.json", &json!({ "duration": 1, "curveDatas": {} }));
    folder.write("empty.gltf", &json!({ "asset": { "version": "2.0" } }));
    for engine in ENGINES {
        let verdict = folder.json("verify", "clip.json", &["@empty.json", "@empty.gltf", "--json", "--engine", engine]);
        assert_eq!(verdict["within"], true, "{verdict}");
        assert!(verdict["files"][0]["quantities"]["property"]["share"].as_f64().unwrap() <= 1.0);
        let sample = folder.json("eval", "empty.json", &["--times", "0.5", "--engine", engine])["samples"][0].clone();
        assert_eq!(sample, json!({ "time": 0.5, "targets": [] }));
    }
}
