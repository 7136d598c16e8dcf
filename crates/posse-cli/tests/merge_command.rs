//! `posse merge`: clips of many files in one, unchanged, and files that are refused.

use std::fs;
use std::process::{Command, Output};

use posse::Library;
use posse::curves::Track;
use posse::import::gltf::{self, Asset};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::GltfBuilder;

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A figure with the nodes `hips` and `arm`, in a skin in which the arm is half a metre beside the hips. `arm` is the
/// translation of the arm at rest, `rotation` its rotation.
fn figure(arm: [f32; 3], rotation: [f32; 4]) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "hips", "translation": [0, 1, 0], "children": [1] }));
    file.push("nodes", json!({ "name": "arm", "translation": arm, "rotation": rotation }));
    let matrix = |x: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, -1.0, 0.0, 1.0];
    let inverse_bind = file.floats("MAT4", &[matrix(0.0), matrix(-arm[0])].concat());
    file.push("skins", json!({ "joints": [0, 1], "inverseBindMatrices": inverse_bind }));
    file
}

/// Adds a clip that rotates the arm by a spline and moves the hips.
fn animate(file: &mut GltfBuilder, name: Option<&str>, far: f32) {
    let times = file.floats("SCALAR", &[0.25, 0.7]);
    let key = |z: f32, w: f32| [[0.1, 0.0, 0.0, 0.0], [0.0, 0.0, z, w], [0.0, 0.3, 0.0, 0.0]].concat();
    let spline = file.floats("VEC4", &[key(0.0, 1.0), key(HALF, HALF)].concat());
    let places = file.floats("VEC3", &[0.0, 1.0, 0.0, far, 1.1, 0.3]);
    let mut animation = json!({
        "samplers": [
            { "input": times, "output": spline, "interpolation": "CUBICSPLINE" },
            { "input": times, "output": places, "interpolation": "STEP" },
        ],
        "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 1, "target": { "node": 0, "path": "translation" } },
        ],
    });
    if let Some(name) = name {
        animation["name"] = json!(name);
    }
    file.push("animations", animation);
}

const UNIT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const BESIDE: [f32; 3] = [0.5, 0.0, 0.0];

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let mut hero = figure(BESIDE, UNIT);
        hero.json["nodes"][1]["extras"] = json!({ "kept": true });
        let places = hero.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        hero.json["asset"]["extras"] = json!({ "index": 3 });
        hero.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": places } }] }));
        hero.push("nodes", json!({ "name": "body", "mesh": 0, "skin": 0 }));
        animate(&mut hero, Some("idle"), 9.0);
        folder.add("hero.glb", &hero);
        for (name, far) in [("run", 1.0), ("jump", 2.0)] {
            let mut file = figure(BESIDE, UNIT);
            animate(&mut file, Some("mixamo.com"), far);
            folder.add(&format!("{name}.glb"), &file);
        }
        folder
    }

    fn add(&self, name: &str, file: &GltfBuilder) {
        fs::write(self.0.path().join(name), file.glb()).unwrap();
    }

    fn run(&self, arguments: &str) -> Output {
        let arguments = arguments.split(' ');
        Command::new(env!("CARGO_BIN_EXE_posse"))
            .current_dir(self.0.path())
            .arg("merge")
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Merges, and returns stdout and stderr.
    #[track_caller]
    fn merge(&self, arguments: &str) -> [String; 2] {
        let output = self.run(arguments);
        let texts = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success(), "{}", texts[1]);
        texts
    }

    #[track_caller]
    fn refusal(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(!self.0.path().join("out.glb").exists());
        String::from_utf8(output.stderr).unwrap()
    }

    fn load(&self, name: &str) -> (Library, Asset) {
        let mut library = Library::new();
        let asset = gltf::load(&mut library, self.0.path().join(name)).unwrap();
        (library, asset)
    }

    fn json(&self, name: &str) -> Value {
        let bytes = fs::read(self.0.path().join(name)).unwrap();
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[20..20 + length]).unwrap()
    }
}

/// The keys of tracks, by target.
fn keys(tracks: &[Track]) -> Vec<String> {
    let mut keys: Vec<String> = tracks
        .iter()
        .map(|Track { target, curve, .. }| {
            format!("{target:?} {:?} {:?} {:?}", curve.interpolation(), curve.timeline().times(), curve.values())
        })
        .collect();
    keys.sort();
    keys
}

#[test]
fn clips_of_many_files_are_in_one_with_their_keys() {
    let folder = Folder::new();
    let [stdout, stderr] = folder.merge("run.glb jump.glb --onto hero.glb -o out.glb");
    assert_eq!(stdout, "run.glb: mixamo.com as run\njump.glb: mixamo.com as jump\n");
    assert!(
        stderr.contains("jump.glb: several clips are named \"mixamo.com\"; this one is written as \"jump\""),
        "{stderr}"
    );
    let (library, asset) = folder.load("out.glb");
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let names: Vec<_> = asset.clips.iter().map(|&clip| library.clip(clip).name.as_deref().unwrap()).collect();
    assert_eq!(names, ["idle", "run", "jump"]);
    for (index, file) in ["hero.glb", "run.glb", "jump.glb"].into_iter().enumerate() {
        let (from, source) = folder.load(file);
        let (one, other) = (from.clip(source.clips[0]), library.clip(asset.clips[index]));
        assert_eq!(keys(&one.tracks), keys(&other.tracks), "{file}");
    }
    // All else of the target stays as it was.
    let (before, after) = (folder.json("hero.glb"), folder.json("out.glb"));
    for (name, value) in before.as_object().unwrap() {
        match name.as_str() {
            "animations" | "accessors" | "bufferViews" => {
                let (value, after) = (value.as_array().unwrap(), after[name].as_array().unwrap());
                assert_eq!(value[..], after[..value.len()], "{name}");
            }
            "buffers" => {}
            _ => assert_eq!(*value, after[name], "{name}"),
        }
    }
}

#[test]
fn a_target_with_a_sheared_node_that_moves_gets_clips() {
    let folder = Folder::new();
    let matrix = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 1.0];
    let moved = |node: Value, target: Value| {
        let mut file = figure(BESIDE, UNIT);
        file.push("nodes", node);
        let (times, places) =
            (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC3", &[3.0, 0.0, 0.0, 3.0, 4.0, 0.0]));
        file.animate(target, times, places, "LINEAR");
        file
    };
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/nodes/2/translation" } });
    let target = json!({ "path": "pointer", "extensions": pointer });
    folder.add("sheared.glb", &moved(json!({ "name": "flag", "matrix": matrix }), target));
    let plain = json!({ "name": "flag", "translation": [3, 0, 0] });
    folder.add("flag.glb", &moved(plain, json!({ "node": 2, "path": "translation" })));
    let [_, stderr] = folder.merge("run.glb flag.glb --onto sheared.glb -o out.glb");
    let note = "note: flag.glb: clip flag: the matrix of flag has shear, so that KHR_animation_pointer translates it";
    assert!(stderr.contains(note), "{stderr}");
    let (library, asset) = folder.load("out.glb");
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let [own, run, flag] = [0, 1, 2].map(|clip| keys(&library.clip(asset.clips[clip]).tracks));
    assert_eq!(own, flag);
    let (from, source) = folder.load("run.glb");
    assert_eq!(run, keys(&from.clip(source.clips[0]).tracks));
}

#[test]
fn names_are_distinct() {
    let folder = Folder::new();
    let mut two = figure(BESIDE, UNIT);
    animate(&mut two, Some("idle"), 3.0);
    animate(&mut two, Some("turn"), 4.0);
    folder.add("two.glb", &two);
    let mut unnamed = figure(BESIDE, UNIT);
    animate(&mut unnamed, None, 5.0);
    folder.add("nod.glb", &unnamed);
    let [stdout, _] = folder.merge("two.glb nod.glb nod.glb --onto hero.glb -o out.glb");
    let expected =
        "two.glb: idle as two_idle\ntwo.glb: turn as turn\nnod.glb: unnamed as nod\nnod.glb: unnamed as nod_1\n";
    assert_eq!(stdout, expected);
    let (library, asset) = folder.load("out.glb");
    let names: Vec<_> = asset.clips.iter().map(|&clip| library.clip(clip).name.as_deref().unwrap()).collect();
    assert_eq!(names, ["idle", "two_idle", "turn", "nod", "nod_1"]);
}

#[test]
fn another_skeleton_is_for_retarget() {
    let folder = Folder::new();
    let mut long = figure([0.8, 0.0, 0.0], UNIT);
    animate(&mut long, Some("reach"), 1.0);
    folder.add("long.glb", &long);
    let stderr = folder.refusal("run.glb long.glb --onto hero.glb -o out.glb");
    assert!(stderr.contains("long.glb: its rest pose differs from hero.glb: arm is "), "{stderr}");
    let commands = "posse retarget long.glb --onto hero.glb -o long_retargeted.glb && ";
    assert!(
        stderr.contains(commands)
            && stderr.contains("; if it is the same skeleton in another pose, add --force. For another"),
        "{stderr}"
    );
    let [_, stderr] = folder.merge("run.glb long.glb --onto hero.glb -o forced.glb --force");
    assert!(stderr.contains("may look distorted"), "{stderr}");

    let mut other = figure(BESIDE, UNIT);
    animate(&mut other, Some("reach"), 1.0);
    other.json["nodes"][0]["name"] = json!("pelvis");
    folder.add("half.glb", &other);
    let [_, stderr] = folder.merge("half.glb --onto hero.glb -o half-out.glb");
    assert!(
        stderr.contains("warning: half.glb: translation of joint \"pelvis\": there is no joint of that name"),
        "{stderr}"
    );
    assert!(stderr.contains("posse retarget half.glb"), "{stderr}");
    other.json["nodes"][1]["name"] = json!("upperarm");
    folder.add("other.glb", &other);
    let stderr = folder.refusal("other.glb --onto hero.glb -o out.glb");
    assert!(stderr.contains("none of its joints has a name of a node of hero.glb. For another skeleton, "), "{stderr}");
    assert!(stderr.contains("posse retarget other.glb --onto hero.glb -o other_retargeted.glb && "), "{stderr}");
}

#[cfg(unix)]
#[test]
fn the_commands_for_files_of_other_skeletons_merge_all_of_them() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("old")).unwrap();
    for (file, name) in [("reach.glb", "reach"), ("old/reach.glb", "stretch"), ("reach_retargeted.glb", "lean")] {
        let mut other = figure(BESIDE, UNIT);
        animate(&mut other, Some(name), 1.0);
        other.json["nodes"][0]["name"] = json!("pelvis");
        other.json["nodes"][1]["name"] = json!("upperarm");
        folder.add(file, &other);
    }
    let files = "reach.glb run.glb old/reach.glb reach_retargeted.glb";
    let stderr = folder.refusal(&format!("{files} --onto hero.glb -o out.glb"));
    for file in
        ["error: reach.glb: clip reach: ", "; old/reach.glb: clip stretch: ", "; reach_retargeted.glb: clip lean: "]
    {
        assert!(stderr.contains(file), "{stderr}");
    }
    let (_, commands) = stderr.split_once("For another skeleton, retarget first: ").unwrap();
    // No joints of these names have roles: a map pairs them, in place of a body that posse recognizes.
    let map = r#"{ "joints": { "pelvis": "hips", "upperarm": "arm" } }"#;
    fs::write(folder.0.path().join("map.json"), map).unwrap();
    let commands = commands.replace("--onto hero.glb -o reach_", "--onto hero.glb --map map.json -o reach_");
    let script = Command::new("sh").current_dir(folder.0.path()).args(["-c", commands.trim()]).output().unwrap();
    assert!(script.status.success(), "{commands}: {}", String::from_utf8_lossy(&script.stderr));
    let (library, asset) = folder.load("out.glb");
    let mut names: Vec<_> = asset.clips.iter().map(|&clip| library.clip(clip).name.as_deref().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["idle", "lean", "mixamo.com", "reach", "stretch"]);
}

#[test]
fn rest_poses_are_compared_in_the_units_of_the_joints() {
    let folder = Folder::new();
    // An armature with a scale of 100, as in files that were converted from FBX. The arm is 2 cm longer.
    let armature = |x: f32| {
        let mut file = figure([x, 0.0, 0.0], UNIT);
        file.push("nodes", json!({ "name": "armature", "scale": [100, 100, 100], "children": [0] }));
        animate(&mut file, Some("reach"), 1.0);
        file
    };
    folder.add("large.glb", &armature(0.5));
    folder.add("longer.glb", &armature(0.52));
    folder.merge("large.glb --onto large.glb -o same.glb");
    let stderr = folder.refusal("longer.glb --onto large.glb -o out.glb");
    assert!(stderr.contains("its rest pose differs from large.glb: arm is "), "{stderr}");
}

#[test]
fn skins_tell_the_rest_pose_where_nodes_hold_another_pose() {
    let folder = Folder::new();
    let mut posed = figure(BESIDE, [0.0, 0.0, HALF, HALF]);
    animate(&mut posed, Some("lift"), 1.0);
    folder.add("posed.glb", &posed);
    let [_, stderr] = folder.merge("posed.glb --onto hero.glb -o out.glb");
    assert!(stderr.is_empty(), "{stderr}");
    // Without a skin, nobody knows.
    posed.json["skins"] = json!([]);
    folder.add("bare.glb", &posed);
    fs::remove_file(folder.0.path().join("out.glb")).unwrap();
    let stderr = folder.refusal("bare.glb --onto hero.glb -o out.glb");
    assert!(stderr.contains("; if it is the same skeleton in another pose, add --force. For another"), "{stderr}");
}

#[test]
fn files_of_the_wrong_kind_are_refused() {
    let folder = Folder::new();
    fs::write(
        folder.0.path().join("top.bvh"),
        "HIERARCHY\nROOT hips\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0 0 0\n",
    )
    .unwrap();
    assert!(folder.refusal("run.glb --onto top.bvh -o out.glb").contains("--onto needs a .glb, .gltf or .vrm file"));
    assert!(folder.refusal("run.glb --onto demo -o out.glb").contains("--onto needs"));
    assert!(folder.refusal("run.glb --onto hero.glb -o out.bvh").contains("must end with .glb"));
    assert!(folder.refusal("none.glb --onto hero.glb -o out.glb").contains("none.glb"));
    // A BVH file of the same skeleton is a source.
    let [stdout, _] = folder.merge("top.bvh --onto hero.glb -o out.glb");
    assert_eq!(stdout, "top.bvh: top as top\n");
}
