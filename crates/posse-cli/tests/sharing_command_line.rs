//! Clips of one glTF file on the nodes of another file, through the `posse` command.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// A folder with three files. `dancer.glb` has the clips `lift`, which moves its hip and tail for 1 s, and `blink`,
/// which moves its lid. `rig.glb` has a hip at another position in another hierarchy, but no tail and no lid. `box.glb`
/// has none of them.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let mut dancer = GltfBuilder::new();
        dancer.push("nodes", json!({ "name": "hip", "translation": [0, 1, 0], "children": [1, 2] }));
        dancer.push("nodes", json!({ "name": "tail" }));
        dancer.push("nodes", json!({ "name": "lid" }));
        let input = dancer.floats("SCALAR", &[0.0, 1.0]);
        let output = dancer.floats("VEC3", &[0.0, 0.0, 0.0, 2.0, 4.0, 6.0]);
        for (name, nodes) in [("lift", &[1, 0][..]), ("blink", &[2])] {
            let channel = |node| json!({ "sampler": 0, "target": { "node": node, "path": "translation" } });
            let channels: Vec<Value> = nodes.iter().map(channel).collect();
            let samplers = json!([{ "input": input, "output": output }]);
            dancer.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
        }
        let mut rig = GltfBuilder::new();
        rig.push("nodes", json!({ "name": "tip", "translation": [0, 0, 1] }));
        rig.push("nodes", json!({ "name": "base", "translation": [10, 0, 0], "children": [2] }));
        rig.push("nodes", json!({ "name": "hip", "translation": [7, 7, 7], "children": [0] }));
        rig.push("skins", json!({ "joints": [0, 2] }));
        let mut still = GltfBuilder::new();
        still.push("nodes", json!({ "name": "box" }));
        let folder = Self(TempDir::new().unwrap());
        for (name, file) in [("dancer.glb", dancer), ("rig.glb", rig), ("box.glb", still)] {
            fs::write(folder.0.path().join(name), file.glb()).unwrap();
        }
        fs::write(folder.0.path().join("all.glb"), something_of_everything().glb()).unwrap();
        fs::write(folder.0.path().join("clip.json"), r#"{ "duration": 1, "curveDatas": {} }"#).unwrap();
        folder
    }

    /// Runs the command on files of the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[track_caller]
    fn assert_refused(&self, arguments: &[&str], saying: &str) {
        let output = self.run(arguments);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("error: ") && stderr.contains(saying), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn a_clip_moves_nodes_of_another_file_by_name() {
    let folder = Folder::new();
    for engine in ENGINES {
        let arguments =
            ["eval", "dancer.glb", "--rig", "rig.glb", "--clip", "lift", "--times", "0.5", "--engine", engine];
        let answer = folder.json(&arguments);
        assert_eq!(
            [&answer["asset"], &answer["rig"], &answer["name"], &answer["animation"], &answer["duration"]],
            [&json!("dancer.glb"), &json!("rig.glb"), &json!("lift"), &json!(0), &json!(1.0)]
        );
        let sample = &answer["samples"][0];
        assert_eq!(sample["nodes"].as_array().unwrap().len(), 3, "the nodes of the rig, in its order");
        assert_eq!(numbers(&sample["nodes"][2]["translation"]), [1.0, 2.0, 3.0]);
        assert_eq!(numbers(&sample["nodes"][0]["world"])[12..15], [11.0, 2.0, 4.0]);
        let matrices = &sample["skins"][0]["joint_matrices"];
        assert_eq!(numbers(&matrices[0])[12..15], [11.0, 2.0, 4.0]);
        assert_eq!(numbers(&matrices[1])[12..15], [11.0, 2.0, 3.0]);
        let warnings = stderr(&folder.run(&arguments));
        let warning = "warning: dancer.glb: with rig.glb: 2 tracks: there is no joint of that name; nothing is \
                       driven: translation of joint \"tail\", translation of joint \"lid\"\n";
        assert!(warnings.contains(warning), "{warnings}");
    }
    let played = ["eval", "dancer.glb", "--rig", "rig.glb", "--clip", "0", "--wrap", "loop", "--times", "7.25"];
    assert_eq!(folder.json(&played)["samples"][0]["clip_time"], json!(0.25));
}

#[test]
fn a_file_can_be_its_own_rig() {
    let folder = Folder::new();
    let alone = folder.json(&["eval", "dancer.glb", "--clip", "lift", "--times", "0.3", "--engine", "reference"]);
    let arguments = ["eval", "dancer.glb", "--rig", "dancer.glb", "--clip", "lift", "--times", "0.3"];
    let shared = folder.run(&[&arguments[..], &["--engine", "reference"]].concat());
    assert!(!stderr(&shared).contains("warning"), "{}", stderr(&shared));
    let shared: Value = serde_json::from_slice(&shared.stdout).unwrap();
    assert_eq!(alone["samples"], shared["samples"]);
}

#[test]
fn inspect_lists_the_driven_nodes_of_the_rig() {
    let folder = Folder::new();
    let summary = folder.json(&["inspect", "dancer.glb", "--rig", "rig.glb", "--json"]);
    assert_eq!((&summary["asset"], &summary["rig"]), (&json!("dancer.glb"), &json!("rig.glb")));
    assert_eq!(summary["skeletons"].as_array().unwrap().len(), 1);
    assert_eq!(summary["skins"][0]["joints"], 2);
    let tracks = summary["clips"][0]["tracks"].as_array().unwrap();
    assert_eq!(tracks.len(), 1);
    assert_eq!((&tracks[0]["name"], &tracks[0]["target"]), (&json!("hip"), &json!("translation")));
    assert_eq!(summary["clips"][1]["tracks"], json!([]));
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 2, "{summary}");
    let text = String::from_utf8(folder.run(&["inspect", "dancer.glb", "--rig", "rig.glb"]).stdout).unwrap();
    assert!(text.starts_with("dancer.glb, with rig.glb\n"), "{text}");
}

#[test]
fn clips_without_a_common_node_are_refused() {
    let folder = Folder::new();
    let eval = |rest: &[&str], saying: &str| {
        let arguments = [&["eval", "dancer.glb", "--times", "0", "--rig"], rest].concat();
        folder.assert_refused(&arguments, saying);
    };
    eval(&["rig.glb", "--clip", "blink"], "clip blink: no track finds a node of its name in rig.glb");
    // One of the two clips moves a node of the rig, and needs no --clip.
    assert!(folder.run(&["eval", "dancer.glb", "--times", "0", "--rig", "rig.glb"]).status.success());
    eval(&["box.glb"], "dancer.glb: no track of any clip finds a node of its name in box.glb");
    eval(&["nowhere.glb"], "nowhere.glb");
    eval(&["clip.json"], "clip.json is a Cocos clip, which has no nodes");
    folder.assert_refused(&["eval", "rig.glb", "--rig", "dancer.glb"], "rig.glb has no clips to apply to");
    folder.assert_refused(&["inspect", "dancer.glb", "--rig", "box.glb"], "box.glb");
}

#[test]
fn small_files_that_expand_together_are_refused() {
    let folder = Folder::new();
    let mut dancer = GltfBuilder::new();
    dancer.push("nodes", json!({ "name": "hip" }));
    let (input, output) = (dancer.floats("SCALAR", &[0.0]), dancer.floats("VEC3", &[1.0, 2.0, 3.0]));
    let mut crew = GltfBuilder::new();
    for _ in 0..4100 {
        dancer.animate(json!({ "node": 0, "path": "translation" }), input, output, "LINEAR");
        crew.push("nodes", json!({ "name": "hip" }));
    }
    for (name, file) in [("dances.glb", dancer), ("crew.glb", crew)] {
        fs::write(folder.0.path().join(name), file.glb()).unwrap();
    }
    folder
        .assert_refused(&["inspect", "dances.glb", "--rig", "crew.glb"], "clips x joints of the rig: 16810000 needed");
}

/// A face with these morph targets, and a clip `talk` that opens the jaw by 0.8 and smiles by 0.25 if it has both.
fn face(names: &[&str]) -> GltfBuilder {
    let mut face = GltfBuilder::new();
    let targets = vec![json!({}); names.len()];
    face.push("meshes", json!({ "primitives": [{ "targets": targets }], "extras": { "targetNames": names } }));
    face.push("nodes", json!({ "name": "Face", "mesh": 0 }));
    if names == ["jawOpen", "smile"] {
        let input = face.floats("SCALAR", &[0.0, 1.0]);
        let output = face.floats("SCALAR", &[0.0, 0.0, 0.75, 0.25]);
        face.animate(json!({ "node": 0, "path": "weights" }), input, output, "LINEAR");
    }
    face
}

#[test]
fn morph_weights_are_matched_listed_and_selected_by_name() {
    let folder = Folder::new();
    let files = [
        ("src.glb", &["jawOpen", "smile"][..]),
        ("swapped.glb", &["smile", "jawOpen"]),
        ("more.glb", &["smile", "brow"]),
    ];
    for (name, names) in files {
        fs::write(folder.0.path().join(name), face(names).glb()).unwrap();
    }
    for retarget in [&[][..], &["--retarget"]] {
        let eval = |rig| [&["eval", "src.glb", "--rig", rig, "--times", "1", "--engine", "cpu"][..], retarget].concat();
        let answer = folder.json(&eval("swapped.glb"));
        let node = &answer["samples"][0]["nodes"][0];
        assert_eq!(
            (numbers(&node["weights"]), &node["weight_names"]),
            (vec![0.25, 0.75], &json!(["smile", "jawOpen"]))
        );
        let more = folder.run(&eval("more.glb"));
        let said = stderr(&more);
        assert!(
            said.contains("morph targets") && said.contains("jawOpen of the") && said.contains("brow of the"),
            "{said}"
        );
        let answer: Value = serde_json::from_slice(&more.stdout).unwrap();
        assert_eq!(numbers(&answer["samples"][0]["nodes"][0]["weights"]), [0.25, 0.0]);
    }
    let text = String::from_utf8(folder.run(&["inspect", "src.glb"]).stdout).unwrap();
    assert!(text.contains("\n  morph targets of Face: jawOpen, smile\n"), "{text}");
    let summary = folder.json(&["inspect", "src.glb", "--json"]);
    assert_eq!(summary["skeletons"][0]["hierarchy"][0]["morph_targets"], json!(["jawOpen", "smile"]));
    // One weight alone, with its name.
    let bake = ["bake", "src.glb", "-o", "out", "--arrays", "weights", "--fps", "1", "--morphs"];
    assert!(folder.run(&[&bake[..], &["smile"]].concat()).status.success());
    let bytes = fs::read(folder.0.path().join("out/src.npz")).unwrap();
    let holds = |wanted: &[u8]| bytes.windows(wanted.len()).any(|part| part == wanted);
    let name: Vec<u8> = "Face.smile".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    assert!(holds(&name) && holds(b"'shape': (2, 1)") && holds(&[0.0_f32, 0.25].map(f32::to_le_bytes).concat()));
    let output = folder.run(&[&bake[..], &["frown"]].concat());
    let said = stderr(&output);
    assert!(
        output.status.code() == Some(2)
            && said.contains("no morph target \"frown\"; there are: Face.jawOpen, Face.smile"),
        "{said}"
    );
    let none = ["bake", "src.glb", "-o", "out", "--morphs", "smile"];
    folder.assert_refused(&none, "--morphs selects morph weights: add weights to --arrays");
    let human = ["bake", "src.glb", "-o", "out", "--format", "vrma", "--morphs", "smile"];
    folder.assert_refused(&human, "--format vrma has the expressions of all morph weights");
}
