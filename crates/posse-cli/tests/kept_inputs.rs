//! Outputs that would replace an input: they are refused, and the input keeps its bytes.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

use crate::support::bvh_leg::LEG;
use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

/// A folder with inputs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::create_dir(folder.0.path().join("sub")).unwrap();
        let mut hips = GltfBuilder::new();
        hips.push("nodes", json!({ "name": "Hips" }));
        let input = hips.floats("SCALAR", &[0.0, 1.0]);
        let output = hips.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
        hips.push(
            "animations",
            json!({ "name": "rise", "samplers": [{ "input": input, "output": output }],
                    "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }),
        );
        folder.write("hips.glb", hips.glb());
        folder.write("scene.glb", something_of_everything().glb());
        folder.write("leg.bvh", LEG);
        folder.write("map.json", r#"{ "joints": { "Hips": "Hips" } }"#);
        folder.write("crowd.json", r#"{ "files": ["scene.glb"], "instances": [{ "layers": [{ "clip": 0 }] }] }"#);
        // A triangle with a texture and a buffer beside the file.
        let floats = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        folder.write("beside.bin", floats.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>());
        folder.write("skin 1.png", "no picture");
        let beside = json!({
            "asset": { "version": "2.0" }, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
            "buffers": [{ "byteLength": 36, "uri": "beside.bin" }],
            "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
            "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                            "min": [0, 0, 0], "max": [1, 1, 0] }],
            "images": [{ "uri": "skin%201.png" }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        });
        folder.write("beside.gltf", beside.to_string());
        folder
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.is_file());
        files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())).collect()
    }

    /// A command that is refused because an output would replace an input. All files stay as they are, and there are no
    /// others.
    #[track_caller]
    fn assert_kept(&self, arguments: &[&str], output: &str, input: &str) {
        let before = self.files();
        let run = self.run(arguments);
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {stderr}");
        let said = format!("error: {output}: the output would replace {input}; give the output another name");
        assert!(stderr.contains(&said), "{arguments:?}: {stderr}");
        assert!(before == self.files(), "{arguments:?}");
    }
}

#[test]
fn no_command_replaces_an_input() {
    let folder = Folder::new();
    let (leg, hips) = ("leg.bvh", "hips.glb");
    folder.assert_kept(&["retarget", leg, "--onto", hips, "-o", hips], hips, "the input hips.glb");
    folder.assert_kept(&["retarget", hips, "--onto", leg, "-o", hips], hips, "the input hips.glb");
    folder.assert_kept(&["retarget", leg, "--onto", hips, "--write-map", hips], hips, "the input hips.glb");
    let map = ["retarget", leg, "--onto", hips, "--map", "map.json", "--write-map", "map.json"];
    folder.assert_kept(&map, "map.json", "the input map.json");
    // Not even the map is written.
    let both = ["retarget", leg, "--onto", hips, "--write-map", "new.json", "-o", hips];
    folder.assert_kept(&both, hips, "the input hips.glb");
    folder.assert_kept(&["merge", hips, "--onto", "scene.glb", "-o", hips], hips, "the input hips.glb");
    folder.assert_kept(&["merge", hips, "--onto", "scene.glb", "-o", "scene.glb"], "scene.glb", "the input scene.glb");
    let eval = ["eval", hips, "--times", "0", "--format", "json", "--engine", "cpu"];
    let eval =
        |rest: &[&str], output: &str, input: &str| folder.assert_kept(&[&eval[..], rest].concat(), output, input);
    eval(&["-o", hips], hips, "the input hips.glb");
    eval(&["--rig", leg, "-o", leg], leg, "the input leg.bvh");
    let crowd = ["eval", "--crowd", "crowd.json", "--times", "0", "--engine", "cpu", "--format", "json", "-o"];
    for file in ["crowd.json", "scene.glb"] {
        folder.assert_kept(&[&crowd[..], &[file]].concat(), file, &format!("the input {file}"));
    }
    // Files that are no input are replaced as before.
    let replaced = folder.run(&["eval", hips, "--times", "0", "--format", "json", "-o", leg]);
    assert!(replaced.status.success() && folder.files()[leg].starts_with(b"{"));
}

#[test]
fn an_input_is_known_by_other_paths() {
    let folder = Folder::new();
    let eval = ["eval", "hips.glb", "--times", "0", "--engine", "cpu", "--format", "json", "-o"];
    let mut paths = vec!["./hips.glb".to_owned(), "sub/../hips.glb".into()];
    paths.push(folder.0.path().join("hips.glb").to_str().unwrap().to_owned());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../hips.glb", folder.0.path().join("sub/link.glb")).unwrap();
        paths.push("sub/link.glb".into());
    }
    for path in &paths {
        folder.assert_kept(&[&eval[..], &[path]].concat(), path, "the input hips.glb");
    }
}

#[test]
fn files_beside_an_input_are_inputs() {
    let folder = Folder::new();
    let eval = ["eval", "beside.gltf", "--times", "0", "--engine", "cpu", "--format", "json", "-o", "beside.bin"];
    folder.assert_kept(&eval, "beside.bin", "a file of the input beside.gltf");
    let render = ["render", "beside.gltf", "-o", "./skin 1.png"];
    folder.assert_kept(&render, "./skin 1.png", "a file of the input beside.gltf");
}
