//! `posse retarget` and `posse eval --retarget`.

use std::fs;
use std::process::{Command, Output};

use glam::{DMat4, DQuat};
use posse::{Library, import};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rigs::{angle, model_pose};
use crate::support::bvh_reader::read_bvh;
use crate::support::gltf_builder::GltfBuilder;

/// A figure of 95 cm that walks a metre, raises its left arm and turns its head.
pub const WALK: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 95 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 20 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftArm
    {
      OFFSET 20 30 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 30 0 0
      }
    }
    JOINT Head
    {
      OFFSET 0 45 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 10 0
      }
    }
  }
  JOINT LeftFoot
  {
    OFFSET 10 -90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 10
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 95 0 0 0 0 0 0 0 -60 0 0 0 0 0 0 20 0
0 95 50 0 0 10 0 5 0 0 0 0 0 0 40 0 -20 0
0 95 100 0 0 0 0 0 0 60 0 0 0 0 0 0 20 0
";

/// A folder with `walk.bvh`, and `hero.glb`: a figure twice as high with other names, whose arm hangs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let mut hero = GltfBuilder::new();
        let half = std::f64::consts::FRAC_1_SQRT_2;
        hero.push("nodes", json!({ "name": "pelvis", "translation": [0, 1.9, 0], "children": [1, 4] }));
        hero.push("nodes", json!({ "name": "spine_01", "translation": [0, 0.3, 0], "children": [2, 3] }));
        hero.push(
            "nodes",
            json!({ "name": "upperarm_l", "translation": [0.4, 0.6, 0], "rotation": [0, 0, -half, half] }),
        );
        hero.push("nodes", json!({ "name": "head", "translation": [0, 0.9, 0] }));
        hero.push("nodes", json!({ "name": "foot_l", "translation": [0.2, -1.8, 0], "extras": { "kept": true } }));
        hero.push("nodes", json!({ "name": "hat" }));
        hero.push("skins", json!({ "joints": [0, 1, 2, 3, 4] }));
        let input = hero.floats("SCALAR", &[0.0, 3.0]);
        let output = hero.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
        hero.push(
            "animations",
            json!({ "name": "old", "samplers": [{ "input": input, "output": output }],
                    "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }),
        );
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.0.path().join("hero.glb"), hero.glb()).unwrap();
        let mut none = GltfBuilder::new();
        none.push("nodes", json!({ "name": "box" }));
        fs::write(folder.0.path().join("box.glb"), none.glb()).unwrap();
        for (name, text) in [
            ("walk.bvh", WALK),
            ("map.json", r#"{ "joints": { "Hips": "pelvis", "Head": "head" }, "scale": 0.5 }"#),
            ("bad.json", r#"{ "joints": { "Hips": "tail" } }"#),
            ("clip.json", r#"{ "duration": 1, "curveDatas": {} }"#),
        ] {
            fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.text(arguments)).unwrap()
    }

    #[track_caller]
    fn assert_refused(&self, arguments: &[&str], saying: &str) {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("error: ") && stderr.contains(saying), "{stderr}");
        assert!(output.stdout.is_empty());
    }

    /// Reads a glTF or BVH file of the folder.
    fn load(&self, name: &str) -> (Library, posse::SkeletonId, Vec<posse::ClipId>) {
        let (mut library, path) = (Library::new(), self.0.path().join(name));
        if name.ends_with(".bvh") {
            let asset = import::bvh::load(&mut library, path).unwrap();
            return (library, asset.skeleton, vec![asset.clip]);
        }
        let asset = import::gltf::load(&mut library, path).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        (library, asset.skeleton, asset.clips)
    }
}

const PAIRS: [(&str, &str); 5] =
    [("Hips", "pelvis"), ("Spine", "spine_01"), ("LeftArm", "upperarm_l"), ("Head", "head"), ("LeftFoot", "foot_l")];

#[test]
fn the_file_that_is_written_plays_the_clip() {
    let folder = Folder::new();
    let text = folder.text(&["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "out.glb"]);
    assert!(
        text.starts_with(
            "5 pairs of joints; root Hips, moved by 0.0200 of its movement, the ratio of the heights of the hips\n"
        ),
        "{text}"
    );
    assert!(text.contains("  Hips -> pelvis (by role)\n  Spine -> spine_01 (by role)"), "{text}");
    assert!(
        text.contains("without a partner, target: hat")
            && text.contains("clip walk: 6 exact, 0 constant, 0 resampled, 0 dropped"),
        "{text}"
    );
    let (from, source, clips) = folder.load("walk.bvh");
    let (to, target, made) = folder.load("out.glb");
    assert_eq!((to.clips().len(), to.clip(made[0]).name.as_deref()), (1, Some("walk")));
    let (from0, to0) = (model_pose(&from, source, None), model_pose(&to, target, None));
    for time in [0.0, 0.2, 0.5, 0.8, 1.0] {
        let s = model_pose(&from, source, Some((clips[0], time)));
        let t = model_pose(&to, target, Some((made[0], time)));
        for (one, other) in PAIRS {
            let (one, other) =
                (from.skeleton(source).find_joint(one).unwrap(), to.skeleton(target).find_joint(other).unwrap());
            let expected = s[one].0 * from0[one].0.conjugate() * to0[other].0;
            assert!(angle(t[other].0, expected) < 1e-6, "{other} at {time}");
        }
        // The hips are 90 above the foot here, 1.8 there.
        let expected = to0[0].1 + 0.02 * (s[0].1 - from0[0].1);
        assert!(t[0].1.distance(expected) < 1e-6);
    }
}

#[test]
fn a_bvh_file_has_the_places_of_the_glb_file() {
    let folder = Folder::new();
    folder.text(&["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "out.glb"]);
    folder.text(&["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "out.bvh", "--bvh-order", "yxz"]);
    let text = fs::read_to_string(folder.0.path().join("out.bvh")).unwrap();
    let motion = read_bvh(&text);
    // The frames are the frames of the source. The hat is not in the skin.
    assert_eq!((motion.frame_time, motion.frames.len()), (0.5, 3));
    assert!(text.contains("CHANNELS 3 Yrotation Xrotation Zrotation") && !text.contains("hat"), "{text}");
    let (library, skeleton, clips) = folder.load("out.glb");
    let (again, bvh, made) = folder.load("out.bvh");
    let rest = model_pose(&library, skeleton, None);
    for frame in 0..3 {
        let pose = model_pose(&library, skeleton, Some((clips[0], 0.5 * frame as f64)));
        let own = model_pose(&again, bvh, Some((made[0], 0.5 * frame as f64)));
        for name in ["pelvis", "spine_01", "upperarm_l", "head", "foot_l"] {
            let joint = library.skeleton(skeleton).find_joint(name).unwrap();
            let (rotation, place) = pose[joint];
            let found = motion.matrix(name, frame).unwrap();
            assert!(found.w_axis.truncate().distance(place) < 1e-5, "{name} in frame {frame}: {found} and {place}");
            // Rotations are relative to the rest pose: the arm hangs there by a rotation.
            let relative = rotation * rest[joint].0.conjugate();
            let joint = again.skeleton(bvh).find_joint(name).unwrap();
            assert!(angle(own[joint].0, relative) < 3e-6, "{name} in frame {frame}");
        }
    }
    let text = folder.text(&["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "fast.bvh", "--fps", "10"]);
    assert!(text.contains("clip walk"), "{text}");
    assert_eq!(read_bvh(&fs::read_to_string(folder.0.path().join("fast.bvh")).unwrap()).frames.len(), 11);
    // The hero lacks forearms and more.
    for (options, saying) in [
        (&["-o", "out.vrma"][..], "a VRM animation needs the bones of a human"),
        (&["-o", "a.glb", "--fps", "10"], "--fps is for .bvh and .vrma files"),
        (&["-o", "a.glb", "--bvh-order", "XYZ"], "--bvh-order is for .bvh files"),
        (&["-o", "a.bvh", "--keep"], "--keep is for .glb files"),
        (&["-o", "a.fbx"], "must end with .glb, .bvh or .vrma"),
    ] {
        folder.assert_refused(&[&["retarget", "walk.bvh", "--onto", "hero.glb"], options].concat(), saying);
    }
    fs::write(folder.0.path().join("two.glb"), poses(&[("one", 0.0), ("two", 1.0)])).unwrap();
    let refused = ["retarget", "two.glb", "--onto", "hero.glb", "-o", "a.bvh"];
    let bake = "bake two.glb -o baked --rig hero.glb --retarget --format bvh and the same options. Clips: 0 one, 1 two";
    folder.assert_refused(&refused, "two.glb has 2 clips, and a .bvh or .vrma file holds one");
    folder.assert_refused(&refused, bake);
}

#[test]
fn a_vrma_file_moves_the_figure_as_its_source() {
    let folder = Folder::new();
    let arguments = ["retarget", "walk.bvh", "--onto", "demo"];
    for output in ["direct.glb", "walk.vrma"] {
        folder.text(&[&arguments[..], &["-o", output]].concat());
    }
    let (library, skeleton, clips) = folder.load("walk.vrma");
    assert_eq!(library.clip(clips[0]).name.as_deref(), Some("walk"));
    folder.text(&["retarget", "walk.vrma", "--onto", "demo", "-o", "again.glb"]);
    let (one, of_one, direct) = folder.load("direct.glb");
    let (two, of_two, again) = folder.load("again.glb");
    for frame in 0..3 {
        let at = 0.5 * f64::from(frame);
        let expected = model_pose(&one, of_one, Some((direct[0], at)));
        let found = model_pose(&two, of_two, Some((again[0], at)));
        for bone in library.skeleton(skeleton).human_bones() {
            let name = library.skeleton(skeleton).joint_name(bone.joint);
            let joint = one.skeleton(of_one).find_joint(&name).unwrap();
            assert!(angle(found[joint].0, expected[joint].0) < 1e-4, "{name} in frame {frame}");
        }
    }
}

#[test]
fn eval_answers_as_the_file_that_is_written() {
    let folder = Folder::new();
    for options in
        [&[][..], &["--map", "map.json"], &["--reference", "0@0.5"], &["--reference", "walk", "--bound", "0.01"]]
    {
        let retarget = [&["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "out.glb"], options].concat();
        folder.text(&retarget);
        let times = ["--times", "0,0.3,1", "--engine", "reference"];
        let written = folder.json(&[&["eval", "out.glb"], &times[..]].concat());
        let asked = [&["eval", "walk.bvh", "--rig", "hero.glb", "--retarget"], options, &times].concat();
        let asked = folder.json(&asked);
        assert_eq!(
            (&asked["asset"], &asked["rig"], &asked["name"]),
            (&json!("walk.bvh"), &json!("hero.glb"), &json!("walk"))
        );
        for (one, other) in written["samples"].as_array().unwrap().iter().zip(asked["samples"].as_array().unwrap()) {
            assert_eq!(other["nodes"].as_array().unwrap().len(), 6);
            for (one, other) in one["nodes"].as_array().unwrap().iter().zip(other["nodes"].as_array().unwrap()) {
                let matrix = |node: &Value| {
                    let numbers: Vec<f64> =
                        node["world"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
                    DMat4::from_cols_slice(&numbers)
                };
                assert!(matrix(one).abs_diff_eq(matrix(other), 1e-5), "{options:?}: {one} {other}");
            }
        }
    }
}

#[test]
fn the_report_is_json_too() {
    let folder = Folder::new();
    let report =
        folder.json(&["retarget", "walk.bvh", "--onto", "hero.glb", "--map", "map.json", "-o", "out.glb", "--json"]);
    assert_eq!((&report["root"], &report["scale"]), (&json!("Hips"), &json!(0.5)));
    assert_eq!(report["joints"][1], json!({ "source": "Head", "target": "head", "by": "map" }));
    let clip = &report["clips"][0];
    assert_eq!(clip["exact"], json!(["translation of pelvis", "rotation of pelvis"]));
    // The spine is not mapped, and turns between hips and head.
    assert_eq!(clip["resampled"][0]["track"], "rotation of head");
    assert!((1e-7..=1e-4).contains(&clip["resampled"][0]["error"].as_f64().unwrap()));
    assert!(clip["resampled"][0]["keys"].as_u64().unwrap() > 3);
    let dropped: Vec<&Value> = clip["dropped"].as_array().unwrap().iter().map(|track| &track["track"]).collect();
    assert_eq!(dropped, ["rotation of LeftArm", "rotation of LeftFoot"]);
    // The map forgets the spine, the arm and the foot, which the target has.
    let warnings = report["warnings"].as_array().unwrap();
    let says =
        |warning: &Value| warning.as_str().unwrap().contains("leftUpperArm") && report["left_out"][0] == *warning;
    assert!(warnings.iter().any(says), "{warnings:?}");
    let text = folder.text(&["retarget", "walk.bvh", "--onto", "hero.glb", "--map", "map.json", "-o", "out.glb"]);
    assert_eq!(text.matches("leftUpperArm").count(), 1, "{text}");
    assert!(text.contains("rotation of head: resampled at ") && text.contains(" rad\n"), "{text}");
    assert!(
        text.contains("dropped, because the joint has no partner: rotation of LeftArm, rotation of LeftFoot"),
        "{text}"
    );
}

#[test]
fn clips_are_chosen_and_old_ones_can_stay() {
    let folder = Folder::new();
    let names = |file: &str| -> Vec<String> {
        let (library, ..) = folder.load(file);
        library.clips().iter().map(|clip| clip.name.clone().unwrap()).collect()
    };
    let retarget = |rest: &[&str]| folder.text(&[&["retarget"], rest].concat());
    retarget(&["walk.bvh", "--onto", "hero.glb", "--keep", "-o", "both.glb"]);
    assert_eq!(names("both.glb"), ["old", "walk"]);
    retarget(&["both.glb", "--onto", "hero.glb", "--clip", "walk", "-o", "one.glb"]);
    assert_eq!(names("one.glb"), ["walk"]);
    retarget(&["both.glb", "--onto", "hero.glb", "--clip", "1", "--clip", "old", "--clip", "walk", "-o", "two.glb"]);
    assert_eq!(names("two.glb"), ["walk", "old"]);
    retarget(&["both.glb", "--onto", "both.glb", "-o", "same.glb"]);
    assert_eq!(names("same.glb"), ["old", "walk"]);
}

#[test]
fn the_built_in_rig_and_bvh_files_are_targets() {
    let folder = Folder::new();
    for target in ["demo", "walk.bvh"] {
        folder.text(&["retarget", "walk.bvh", "--onto", target, "-o", "out.glb"]);
        let (library, _, clips) = folder.load("out.glb");
        assert_eq!(clips.len(), 1);
        assert_eq!(library.skins().len(), usize::from(target == "demo"));
    }
    let answer = folder.json(&["eval", "walk.bvh", "--rig", "demo", "--retarget", "--times", "1", "--engine", "cpu"]);
    let nodes = answer["samples"][0]["nodes"].as_array().unwrap();
    let pelvis: Vec<f64> = nodes[0]["translation"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    // Without legs, the heights of the hips count: 0.95 and 95.
    assert!((pelvis[2] - 1.0).abs() < 1e-5, "{pelvis:?}");
    let arm = nodes.iter().find(|node| node["name"] == "upper_arm.L").unwrap();
    let numbers: Vec<f64> = arm["rotation"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    assert!(angle(DQuat::from_slice(&numbers), DQuat::from_rotation_z(60_f64.to_radians())) < 1e-5);
}

#[test]
fn a_vrm_animation_moves_a_figure_by_its_roles() {
    let mut vrma = GltfBuilder::new();
    vrma.push("nodes", json!({ "name": "x1", "translation": [0, 1, 0], "children": [1] }));
    vrma.push("nodes", json!({ "name": "x2", "translation": [0, 0.6, 0] }));
    vrma.push("nodes", json!({ "name": "happy" }));
    let input = vrma.floats("SCALAR", &[0.0, 1.0]);
    let slide = vrma.floats("VEC3", &[0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    let spin = vrma.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    vrma.push(
        "animations",
        json!({
            "samplers": [{ "input": input, "output": slide }, { "input": input, "output": spin }],
            "channels": [
                { "sampler": 0, "target": { "node": 2, "path": "translation" } },
                { "sampler": 0, "target": { "node": 0, "path": "translation" } },
                { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
            ],
        }),
    );
    vrma.json["extensionsUsed"] = json!(["VRMC_vrm_animation"]);
    vrma.json["extensions"] = json!({ "VRMC_vrm_animation": {
        "specVersion": "1.0",
        "humanoid": { "humanBones": { "hips": { "node": 0 }, "head": { "node": 1 } } },
        "expressions": { "preset": { "happy": { "node": 2 } } },
    } });
    let folder = Folder::new();
    fs::write(folder.0.path().join("move.vrma"), vrma.glb()).unwrap();
    let report = folder.json(&["retarget", "move.vrma", "--onto", "hero.glb", "-o", "out.glb", "--json"]);
    assert_eq!(report["joints"][0], json!({ "source": "x1", "target": "pelvis", "by": "role" }));
    assert_eq!(report["joints"][1], json!({ "source": "x2", "target": "head", "by": "role" }));
    let clip = &report["clips"][0];
    assert_eq!(clip["exact"], json!(["translation of pelvis", "rotation of head"]));
    let reason = "the target has no expression of this name that moves morph weights";
    assert_eq!(clip["dropped"], json!([{ "track": "translation of happy", "reason": reason }]));
}

/// A file with the node `pelvis`, which turns to another angle about z in each clip.
fn poses(clips: &[(&str, f64)]) -> Vec<u8> {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "pelvis", "children": [1] }));
    file.push("nodes", json!({ "name": "spine_01", "translation": [0, 1, 0] }));
    let input = file.floats("SCALAR", &[0.0, 1.0]);
    for (name, degrees) in clips {
        let [x, y, z, w] = DQuat::from_rotation_z(degrees.to_radians()).as_quat().to_array();
        let output = file.floats("VEC4", &[x, y, z, w, 0.0, 0.0, 0.0, 1.0]);
        file.push(
            "animations",
            json!({ "name": name, "samplers": [{ "input": input, "output": output }],
                "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }] }),
        );
    }
    file.glb()
}

#[test]
fn a_reference_pose_is_a_clip_of_the_source_then_a_file() {
    let folder = Folder::new();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.0.path().join(name), bytes).unwrap();
    write("take.glb", &poses(&[("plain", 0.0), ("t.bvh", 20.0), ("a#b@1", 30.0), ("t.glb#x", 40.0)]));
    // The turn of the pelvis at the end of the clip `plain`, against the rest pose of the target. There, the source is
    // at rest.
    let turn = |reference: &str| {
        let retarget = ["eval", "take.glb", "--rig", "hero.glb", "--retarget", "--clip", "plain", "--align", "off"];
        let at_the_end = ["--facing", "keep", "--times", "1", "--engine", "reference", "--reference", reference];
        let answer = folder.json(&[&retarget[..], &at_the_end].concat());
        let rotation = &answer["samples"][0]["nodes"][0]["rotation"];
        let numbers: Vec<f64> = rotation.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
        let [x, y, z] = DQuat::from_slice(&numbers).to_scaled_axis().to_array();
        assert!(x.abs() < 1e-6 && y.abs() < 1e-6);
        (-z.to_degrees()).round()
    };
    for _ in 0..2 {
        // Names of clips come first, whatever they look like, and also if there is such a file, as in the second pass.
        for (reference, degrees) in [
            ("rest", 0.0),
            ("t.bvh", 20.0),
            ("t.bvh@0", 20.0),
            ("t.bvh@1", 0.0),
            ("a#b@1", 30.0),
            ("a#b@1@0", 30.0),
            ("t.glb#x", 40.0),
            ("1", 20.0),
            ("2@1", 0.0),
        ] {
            assert_eq!(turn(reference), degrees, "{reference}");
        }
        write("t.bvh", WALK.as_bytes());
        write("t.glb", &poses(&[("x", 50.0)]));
    }
    // Files, also with odd names; of a clip with `@` in its name the name comes first.
    write("p#q@2.glb", &poses(&[("x", 50.0), ("y@1", 60.0)]));
    for (reference, degrees) in [
        ("t.glb", 50.0),
        ("./t.glb#x", 50.0),
        ("t.glb@1", 0.0),
        ("t.glb#rest", 0.0),
        ("p#q@2.glb#x@0", 50.0),
        ("p#q@2.glb#y@1", 60.0),
        ("p#q@2.glb#1@1", 0.0),
    ] {
        assert_eq!(turn(reference), degrees, "{reference}");
    }
    write("still.glb", &poses(&[]));
    assert_eq!(turn("still.glb"), 0.0);
    let refuse = |option: &str, text: &str, saying: &str| {
        folder.assert_refused(&["retarget", "take.glb", "--onto", "hero.glb", option, text, "-o", "out.glb"], saying);
    };
    for option in ["--reference", "--target-pose"] {
        for text in ["p#q@2.glb", "p#q@2.glb@0.5"] {
            let saying = format!(
                "{option} {text}: p#q@2.glb has several clips; add #CLIP, or #rest for its rest pose: 0 x, 1 y@1"
            );
            refuse(option, text, &saying);
        }
        refuse(option, "t.glb#z", &format!("{option} t.glb#z: there is no clip \"z\"; there are: 0 x"));
        refuse(option, "t.glb@soon", &format!("{option} t.glb@soon: the time \"soon\""));
        for (text, file) in
            [("still.glb@1.5", "still.glb"), ("still.glb#rest@0", "still.glb"), ("t.glb#rest@2", "t.glb")]
        {
            refuse(
                option,
                text,
                &format!("{option} {text}: the rest pose of {file} has no time; leave out the seconds"),
            );
        }
    }
    refuse(
        "--reference",
        "none.glb",
        "--reference: there is no such file, and there is no clip \"none.glb\"; there are: 0 plain",
    );
    refuse("--target-pose", "none.glb", "--target-pose none.glb: there is no such file; expected rest or a .glb");
}

#[test]
fn pairs_are_written_as_a_file_to_change() {
    let folder = Folder::new();
    let written = |onto: &str, said: &str| -> Value {
        let output = folder.run(&["retarget", "walk.bvh", "--onto", onto, "--write-map", "pairs.json"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && errors.contains(said), "{errors}");
        serde_json::from_slice(&fs::read(folder.0.path().join("pairs.json")).unwrap()).unwrap()
    };
    let none =
        written("box.glb", "pairs.json: 0 pairs; give it back with --map. Joints of box.glb without a partner: box");
    assert!(none["joints"].as_object().unwrap().values().all(Value::is_null));
    let map = written("hero.glb", "pairs.json: 5 pairs; give it back with --map");
    let partners = ["Hips", "Spine", "LeftArm", "Head", "LeftFoot"].map(|joint| map["joints"][joint].clone());
    assert_eq!(partners, ["pelvis", "spine_01", "upperarm_l", "head", "foot_l"]);
    // Without a change, the file gives what no file gives, with the same reasons for the pairs.
    let retarget = ["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "a.glb", "--json"];
    let without = folder.json(&retarget);
    let with = folder.json(&[&retarget[..], &["--map", "pairs.json"]].concat());
    assert_eq!(with["joints"].as_array().unwrap().len(), 5);
    for part in ["joints", "root", "scale", "aligned", "clips"] {
        assert_eq!(with[part], without[part], "{part}");
    }
    let elsewhere = ["retarget", "walk.bvh", "--onto", "hero.glb", "--write-map", "nowhere/pairs.json"];
    folder.assert_refused(&elsewhere, "there is no folder nowhere");
}

#[test]
fn the_built_in_human_is_a_file_like_others() {
    let folder = Folder::new();
    let text = folder.text(&["inspect", "demo", "--joints"]);
    assert!(text.starts_with("demo\nskeleton \"human\": 64 joints"), "{text}");
    assert!(text.contains("clip 1 \"walk\"") && text.contains("pelvis"), "{text}");
    let pose = folder.json(&["eval", "demo", "--clip", "walk", "--times", "0.5", "--engine", "cpu"]);
    assert_eq!(pose["samples"][0]["nodes"].as_array().unwrap().len(), 64);
    folder.text(&["retarget", "demo", "--clip", "walk", "--onto", "hero.glb", "-o", "walks.glb"]);
    folder.assert_refused(&["inspect", "./demo"], "demo");
}

#[test]
fn errors_are_refused_with_their_place() {
    let folder = Folder::new();
    let retarget = |rest: &[&str], saying: &str| folder.assert_refused(&[&["retarget"], rest].concat(), saying);
    let to = ["-o", "out.glb"];
    let onto = |source, target| [&[source, "--onto", target][..], &to].concat();
    retarget(&onto("clip.json", "hero.glb"), "clip.json is a Cocos clip, which has no nodes");
    retarget(&onto("walk.bvh", "clip.json"), "clip.json is a Cocos clip, which has no nodes");
    retarget(&onto("walk.bvh", "nowhere.glb"), "nowhere.glb");
    retarget(&onto("box.glb", "hero.glb"), "box.glb has no clips to retarget");
    retarget(
        &onto("walk.bvh", "box.glb"),
        "walk.bvh: no joint has a partner in box.glb; name pairs of joints in a file",
    );
    let write_map =
        format!("{} retarget walk.bvh --onto box.glb --write-map walk_map.json writes", env!("CARGO_BIN_EXE_posse"));
    retarget(&onto("walk.bvh", "box.glb"), &write_map);
    retarget(&onto("walk.bvh", "box.glb"), "Joints of walk.bvh: 0 Hips, 1 Spine, 2 LeftArm");
    retarget(&onto("walk.bvh", "box.glb"), "Joints of box.glb: 0 box");
    let walk = |rest: &[&str], saying: &str| retarget(&[&onto("walk.bvh", "hero.glb"), rest].concat(), saying);
    walk(&["--map", "bad.json"], "bad.json: joints.Hips: in the target, no joint is named \"tail\"");
    walk(&["--map", "nowhere.json"], "nowhere.json");
    walk(&["--clip", "run"], "there is no clip \"run\"; there are: 0 walk");
    walk(&["--reference", "run"], "--reference: there is no clip \"run\"; there are: 0 walk");
    walk(&["--reference", "walk@soon"], "--reference walk@soon: the time \"soon\"");
    walk(&["--bound", "0"], "expected a number above 0");
    retarget(
        &["walk.bvh", "--onto", "hero.glb", "-o", "out.gltf"],
        "out.gltf: the name of the output must end with .glb",
    );
    retarget(&["walk.bvh", "--onto", "hero.glb", "-o", "no/out.glb"], "there is no folder no");
    let eval = ["eval", "walk.bvh", "--times", "0", "--rig", "hero.glb"];
    folder.assert_refused(
        &[&eval[..], &["--map", "map.json"]].concat(),
        "the other options of retargeting are for --retarget",
    );
    folder.assert_refused(&["eval", "walk.bvh", "--times", "0", "--retarget"], "--rig");
    assert!(!folder.0.path().join("out.glb").exists());
}

#[test]
fn warnings_about_fronts_name_the_option() {
    let folder = Folder::new();
    // A body that faces +Z, and one that is rotated by half a turn.
    folder.text(&["retarget", "demo", "--clip", "walk", "--onto", "demo", "-o", "one.glb"]);
    let mut bytes = fs::read(folder.0.path().join("one.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let roots = json["scenes"][0]["nodes"].clone();
    let count = json["nodes"].as_array().unwrap().len();
    json["nodes"].as_array_mut().unwrap().push(json!({ "name": "turn", "rotation": [0, 1, 0, 0], "children": roots }));
    json["scenes"][0]["nodes"] = json!([count]);
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let binary = bytes.split_off(20 + length);
    let mut turned = bytes[..12].to_vec();
    turned.extend((text.len() as u32).to_le_bytes());
    turned.extend(b"JSON");
    turned.extend(text);
    turned.extend(binary);
    let total = turned.len() as u32;
    turned[8..12].copy_from_slice(&total.to_le_bytes());
    fs::write(folder.0.path().join("turned.glb"), turned).unwrap();
    let output = folder.run(&["retarget", "one.glb", "--onto", "turned.glb", "--facing", "keep", "-o", "out.glb"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("would have to be rotated by 180 degrees") && stderr.contains("(--facing auto rotates it)"),
        "{stderr}"
    );
}
