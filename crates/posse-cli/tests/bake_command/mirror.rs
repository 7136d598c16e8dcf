use std::f64::consts::FRAC_1_SQRT_2;

use super::resume::{baked_again, check};
use super::*;

/// A BVH file of two arms: the left one is raised while the body goes to its left.
fn arms() -> String {
    let arm = |side: &str, x: i32| {
        format!(
            "JOINT {side}Arm\n{{\nOFFSET {x} 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{{\nOFFSET {x} 0 0\n}}\n}}\n"
        )
    };
    let (left, right) = (arm("Left", 1), arm("Right", -1));
    format!(
        "HIERARCHY\nROOT Hips\n{{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n{left}{right}}}\n\
         MOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0 0 0 0\n2 1 3 0 0 0 90 0 0 0 0 0\n"
    )
}

/// The positions of the joints in the mirror image of the last frame: the body goes to its right, and the right arm
/// points up.
const MIRRORED: [[f32; 3]; 5] =
    [[-2.0, 1.0, 3.0], [-1.0, 1.0, 3.0], [0.0, 1.0, 3.0], [-3.0, 1.0, 3.0], [-3.0, 2.0, 3.0]];

/// The positions of joints in a frame.
fn positions(arrays: &BTreeMap<String, Array>, frame: usize) -> Vec<[f32; 3]> {
    let count = arrays["pos"].shape[1] as usize;
    let numbers = arrays["pos"].floats();
    let frame = numbers[3 * count * frame..3 * count * (frame + 1)].chunks(3);
    frame.map(|place| [place[0], place[1], place[2]]).collect()
}

#[track_caller]
fn assert_near(found: &[[f32; 3]], expected: &[[f32; 3]]) {
    let near =
        |(one, other): (&[f32; 3], &[f32; 3])| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-5);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}");
}

#[test]
fn each_clip_has_its_mirror_image_beside_it() {
    let bench = Bench::new();
    bench.write("clips/raise.bvh", arms());
    bench.baked(&["clips", "-o", "plain"]);
    let output = bench.bake(&["clips", "-o", "baked", "--mirror"]);
    assert_code(&output, 0);
    assert!(!stderr(&output).contains("warning"), "{}", stderr(&output));
    assert_eq!(bench.names("baked"), ["raise.npz", "raise_mirror.npz"]);
    // The clip itself has the bytes that it has without --mirror.
    assert_eq!(bench.files("baked")["raise.npz"], bench.files("plain")["raise.npz"]);
    let arrays = npz(&bench.path("baked/raise_mirror.npz"));
    assert_eq!((arrays["clip"].text(), arrays["fps"].doubles()), ("raise_mirror".into(), vec![2.0]));
    assert_eq!(arrays["joint_names"].text(), "HipsLeftArmLeftArm_endRightArmRightArm_end");
    assert_near(&positions(&arrays, 1), &MIRRORED);
    let lines = manifest_lines(&bench, "baked/manifest-00000.jsonl");
    let of = |output: &str| &lines.iter().find(|line| line["output"] == output).unwrap()["clips"][0];
    assert_eq!(of("raise_mirror.npz")["source"]["mirrored"], true);
    assert_eq!(of("raise_mirror.npz")["clip"], "raise_mirror");
    assert!(of("raise.npz")["source"].get("mirrored").is_none());
    let source: Value = serde_json::from_str(&arrays["source"].text()).unwrap();
    assert_eq!(source, of("raise_mirror.npz")["source"]);
}

#[test]
fn mirror_images_are_kept_and_checked_as_clips_are() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked"]);
    assert_eq!(check(&bench, &["--mirror"], 1).len(), 7);
    // Only the mirror images are missing.
    let again = baked_again(&bench, &["--mirror"]);
    assert_eq!(
        again,
        ["0", "1", "2", "3", "4", "more/lift#fall", "more/lift#rise"].map(|name| format!("{name}_mirror"))
    );
    assert_eq!(baked_again(&bench, &["--mirror"]), [""; 0]);
    assert!(check(&bench, &["--mirror"], 0).is_empty() && check(&bench, &[], 0).is_empty());
    // A clip of this name is not the mirror image that was made.
    fs::remove_file(bench.path("clips/1.bvh")).unwrap();
    bench.write("clips/1_mirror.bvh", bvh(7, 1.0));
    assert_eq!(baked_again(&bench, &[]), ["1_mirror"]);
    // Shares agree on them.
    for share in ["0/2", "1/2"] {
        bench.baked(&["clips", "-o", "shared", "--mirror", "--shard", share]);
    }
    bench.baked(&["clips", "-o", "whole", "--mirror"]);
    let without_list = |mut files: BTreeMap<String, Vec<u8>>| {
        files.remove("shards.json");
        files
    };
    assert!(without_list(bench.files("shared")) == bench.files("whole"));
    let others = bench.bake(&["clips", "-o", "shared", "--shard", "0/2"]);
    assert_refused(&others, &["--mirror was given, is not given"]);
}

#[test]
fn names_of_mirror_images_are_those_of_no_clip() {
    let bench = Bench::new();
    bench.write("clips/lift.gltf", gltf(&[Some("rise"), Some("rise_mirror")]));
    bench.baked(&["clips", "-o", "baked", "--mirror"]);
    let names = ["lift#rise", "lift#rise_mirror", "lift#rise_mirror2", "lift#rise_mirror_mirror"];
    assert_eq!(bench.names("baked"), names.map(|name| format!("{name}.npz")));
    bench.write("clips/a.bvh", bvh(2, 0.0));
    bench.write("clips/a_mirror.bvh", bvh(2, 0.0));
    let output = bench.bake(&["clips", "-o", "baked", "--mirror"]);
    assert_refused(&output, &["a.bvh", "a_mirror.bvh", "the name a_mirror", "as a clip or as a mirror image"]);
    bench.baked(&["clips", "-o", "baked"]);
    let instances = json!([{ "file": 0, "layers": [{ "clip": "rise" }] }]);
    bench.write("crowd.json", json!({ "files": ["clips/lift.gltf"], "instances": instances }).to_string());
    let output = bench.bake(&["crowd.json", "-o", "baked", "--mirror"]);
    assert_refused(&output, &["crowd.json: --mirror is not for crowd files"]);
}

#[test]
fn pieces_have_mirror_images() {
    let bench = Bench::new();
    bench.write("clips/raise.bvh", arms());
    bench.write("clips/walk.bvh", bvh(9, 0.0));
    bench.write("cuts.csv", "file,first,last,name\nraise,1,1,up\nraise,0,0,up_mirror\nwalk,2,4,\n");
    let options = ["--mirror", "--cuts", "cuts.csv"];
    assert_eq!(baked_again(&bench, &options).len(), 6);
    let names = ["up", "up_mirror", "up_mirror2", "up_mirror_mirror", "walk@2-4", "walk@2-4_mirror"];
    assert_eq!(bench.names("baked"), names.map(|name| format!("{name}.npz")));
    let arrays = npz(&bench.path("baked/up_mirror2.npz"));
    assert_eq!(arrays["pos"].shape[0], 1);
    assert_near(&positions(&arrays, 0), &MIRRORED);
    let source: Value = serde_json::from_str(&arrays["source"].text()).unwrap();
    assert_eq!([&source["clip"], &source["range"]], ["raise", "1:1"]);
    assert_eq!((&source["mirrored"], &source["first"]), (&json!(true), &json!(1)));
    // The warnings of a mirror image are no warnings of the clip.
    let lines = manifest_lines(&bench, "baked/manifest-00000.jsonl");
    let warnings = |output: &str| &lines.iter().find(|line| line["output"] == output).unwrap()["clips"][0]["warnings"];
    let warning = warnings("walk@2-4_mirror.npz")[0].as_str().unwrap();
    assert!(warning.starts_with("mirror image: no joint has a partner"), "{warning}");
    assert!(warnings("walk@2-4.npz").is_null());
    assert_eq!(baked_again(&bench, &options), [""; 0]);
    assert!(check(&bench, &options, 0).is_empty());
}

#[test]
fn a_retargeted_clip_is_mirrored_on_the_rig() {
    let bench = Bench::new();
    bench.write("clips/raise.bvh", arms());
    // The rig is twice as large, and its arms are turned by a quarter about their own axes.
    let arm = |side: &str, x: f64| json!({ "name": format!("{side}Arm"), "translation": [x, 0, 0], "children": [] });
    let mut nodes = vec![json!({ "name": "Hips", "translation": [0, 2, 0], "children": [1, 2] })];
    for (side, x) in [("Left", 2.0), ("Right", -2.0)] {
        let mut node = arm(side, x);
        node["rotation"] = json!([FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]);
        node.as_object_mut().unwrap().remove("children");
        nodes.push(node);
    }
    bench.write("rig.gltf", json!({ "asset": { "version": "2.0" }, "nodes": nodes }).to_string());
    let options = ["clips", "-o", "baked", "--mirror", "--rig", "rig.gltf", "--retarget", "--arrays", "pos,quat"];
    bench.baked(&options);
    assert_eq!(bench.names("baked"), ["raise.npz", "raise_mirror.npz"]);
    let [one, other] = ["raise", "raise_mirror"].map(|name| npz(&bench.path(&format!("baked/{name}.npz"))));
    let reflected = positions(&one, 1).into_iter().map(|[x, y, z]| [-x, y, z]).collect::<Vec<_>>();
    assert_near(&positions(&other, 1), &[reflected[0], reflected[2], reflected[1]]);
    assert!(positions(&other, 1)[0][0] < -1.0, "the root moves: {:?}", positions(&other, 1));
    // The left arm was raised about +z by a quarter; now the right one is, about -z.
    let quat = |arrays: &BTreeMap<String, Array>, joint: usize| arrays["quat"].floats()[12 + 4 * joint..][..4].to_vec();
    let [left, right] = [quat(&one, 1), quat(&other, 2)];
    let sign = (left[3] * right[3]).signum();
    let expected = [left[0], -left[1], -left[2], left[3]].map(|number| sign * number);
    assert!(right.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-5), "{left:?} {right:?}");
}
