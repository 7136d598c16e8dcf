use super::manifest_lines;
use super::resume::{baked_again, check};
use super::*;
use crate::retarget_command::WALK;
use crate::support::gltf_builder::GltfBuilder;

/// A figure with legs of 1 m, whose ankles stand at height 0: in the clip `low`, it slides along z; in the clip `high`,
/// its hips are at 4 m, so that its feet come down 3 m above the ground.
fn figure(name: &str) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let mut add = |name: &str, translation: [f64; 3], children: &[usize]| {
        let mut node = json!({ "name": name, "translation": translation });
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        file.push("nodes", node);
    };
    add("Hips", [0.0, 1.0, 0.0], &[1, 9, 12]);
    add("Spine", [0.0, 0.2, 0.0], &[2, 3, 6]);
    add("Head", [0.0, 0.5, 0.0], &[]);
    for (side, x, first) in [("Left", 1.0, 3), ("Right", -1.0, 6)] {
        add(&format!("{side}Arm"), [0.2 * x, 0.3, 0.0], &[first + 1]);
        add(&format!("{side}ForeArm"), [0.3 * x, 0.0, 0.0], &[first + 2]);
        add(&format!("{side}Hand"), [0.3 * x, 0.0, 0.0], &[]);
    }
    for (side, x, first) in [("Left", 0.1, 9), ("Right", -0.1, 12)] {
        add(&format!("{side}UpLeg"), [x, 0.0, 0.0], &[first + 1]);
        add(&format!("{side}Leg"), [0.0, -0.5, 0.0], &[first + 2]);
        add(&format!("{side}Foot"), [0.0, -0.5, 0.0], &[]);
    }
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    for (name, height) in [("low", 1.0), (name, 4.0)] {
        let places = file.floats("VEC3", &[0.0, height, 0.0, 0.0, height, 1.0]);
        file.push(
            "animations",
            json!({ "name": name, "samplers": [{ "input": times, "output": places }],
                "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }),
        );
    }
    file
}

/// A folder with a walk, and a figure with two clips.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("clips/walk.bvh", WALK);
    bench.write("clips/figure.glb", figure("high").glb());
    bench
}

const ONTO_DEMO: [&str; 3] = ["--rig", "demo", "--retarget"];

/// The warnings of a line about a clip.
fn warnings<'a>(lines: &'a [Value], clip: &str) -> Vec<&'a str> {
    let line = lines.iter().find(|line| line["clip"] == clip).unwrap();
    line["warnings"].as_array().into_iter().flatten().map(|warning| warning.as_str().unwrap()).collect()
}

#[test]
fn the_built_in_human_is_a_rig() {
    let bench = bench();
    bench.baked(&[["clips", "-o", "baked", "--joints", "pelvis,upper_arm.L"].as_slice(), &ONTO_DEMO].concat());
    assert_eq!(bench.names("baked"), ["figure#high.npz", "figure#low.npz", "walk.npz"]);
    let walk = npz(&bench.path("baked/walk.npz"));
    // Without legs, the heights of the hips count: 0.95 m here, 95 there. The walk is 100 long.
    let pos = walk["pos"].floats();
    assert!((pos[pos.len() - 4] - 1.0).abs() < 1e-5 && walk["pos"].shape == [3, 2, 3], "{pos:?}");
    // The left arm hangs by 60 degrees about z in the first frame, and is raised by as much in the last.
    let quat = walk["quat"].floats();
    let expected = [0.0, 0.0, 0.5, 0.75_f32.sqrt()];
    assert!(quat[quat.len() - 4..].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{quat:?}");
    // Without --retarget, joints are matched by their names.
    let output = bench.bake(&["clips/walk.bvh", "-o", "named", "--rig", "demo"]);
    assert_refused(&output, &["no track of any clip finds a node of its name in demo"]);
    // A share without clips has the rig, too, and a file that is read in parts.
    bench.write("long/pelvis.bvh", bvh(3, 0.0).replace("hip", "pelvis") + &"\n".repeat(9 << 20));
    bench.baked(&["long", "-o", "long-baked", "--rig", "demo", "--joints", "pelvis"]);
    assert_eq!(npz(&bench.path("long-baked/pelvis.npz"))["pos"].shape, [3, 1, 3]);
}

#[test]
fn warnings_stand_in_the_lines_of_their_clips() {
    let bench = bench();
    let arguments = [["clips", "-o", "baked", "--json"].as_slice(), &ONTO_DEMO].concat();
    let output = bench.bake(&arguments);
    assert_code(&output, 0);
    let feet = "clip high: the feet come down 3.00 legs from height 0";
    let missing = "joints of the target without a partner in the source keep their rest pose: leftUpperLeg";
    assert!(stderr(&output).contains(&format!("warning: clips/figure.glb: {feet}")), "{}", stderr(&output));
    let listed = manifest_lines(&bench, "baked/manifest-00000.jsonl");
    let listed: Vec<Value> = listed.iter().map(|line| line["clips"][0].clone()).collect();
    let kept = bench.bake(&[&arguments[..], &["--resume"]].concat());
    for lines in [json_lines(&output.stdout), listed, json_lines(&kept.stdout)] {
        let has = |clip: &str, text: &str| warnings(&lines, clip).iter().any(|warning| warning.starts_with(text));
        assert!(has("figure#high", feet) && !has("figure#low", feet) && !has("walk", feet), "{lines:?}");
        assert!(has("walk", missing) && !has("figure#high", missing), "{lines:?}");
    }
}

#[test]
fn a_strict_retargeting_fails_for_the_clips_of_warnings() {
    let bench = bench();
    bench.write("clips/plain.glb", figure("low too").glb());
    let arguments = [["clips", "-o", "baked"].as_slice(), &ONTO_DEMO].concat();
    bench.baked(&arguments);
    let low = npz(&bench.path("baked/plain#low.npz"));
    let strict = ["--strict-retarget"];
    let lines = check(&bench, &[&ONTO_DEMO[..], &strict].concat(), 1);
    let differs = "made with other options: --retarget differs in --strict-retarget";
    assert!(lines.len() == 5 && lines[0].ends_with(differs), "{lines:?}");
    let lines = check(&bench, &[], 1);
    let differs = "made with other options: --retarget was given, is not given; --rig was demo, is not given";
    assert!(lines.len() == 5 && lines[0].ends_with(differs), "{lines:?}");
    fs::remove_dir_all(bench.path("baked")).unwrap();
    let output = bench.bake(&[&arguments[..], &strict].concat());
    assert_refused(&output, &["error: clip figure#high: clips/figure.glb: clip high: the feet come down 3.00 legs"]);
    let failed = json_lines(&fs::read(bench.path("baked/failed-00000.jsonl")).unwrap());
    let clips: Vec<(&Value, &Value)> = failed.iter().map(|line| (&line["path"], &line["clip"])).collect();
    assert_eq!(
        clips,
        [
            (&json!("clips/figure.glb"), &json!("figure#high")),
            (&json!("clips/plain.glb"), &json!("plain#low too")),
            (&json!("clips/walk.bvh"), &Value::Null),
        ]
    );
    assert!(failed[2]["message"].as_str().unwrap().contains("without a partner"), "{failed:?}");
    // The others are baked: the same, but for the option that they state.
    assert_eq!(bench.names("baked"), ["failed-00000.jsonl", "figure#low.npz", "plain#low.npz"]);
    assert!(npz(&bench.path("baked/plain#low.npz"))["pos"].bytes == low["pos"].bytes);
    // A clip that is not wanted does not count.
    let output =
        bench.bake(&[["clips/figure.glb", "-o", "low", "--clip", "low"].as_slice(), &ONTO_DEMO, &strict].concat());
    assert_code(&output, 0);
}

#[test]
fn a_warning_is_printed_once_for_all_pieces_of_a_clip() {
    let bench = Bench::new();
    bench.write("clips/figure.glb", figure("high").glb());
    bench.write("cuts.csv", "file,first,last,name\nfigure#high,0,0,start\nfigure#high,1,1,end\n");
    let feet = "clip high: the feet come down 3.00 legs from height 0";
    for (pieces, count) in [(["--mirror"].as_slice(), 2), (&["--mirror", "--cuts", "cuts.csv"], 4)] {
        let output = bench.bake(&[["clips", "-o", "baked", "--json"].as_slice(), &ONTO_DEMO, pieces].concat());
        assert_code(&output, 0);
        assert_eq!(stderr(&output).matches(feet).count(), 1, "{}", stderr(&output));
        // The line of each piece has it.
        let lines = json_lines(&output.stdout);
        let found = lines.iter().filter(|line| line["warnings"].to_string().contains(feet)).count();
        assert_eq!(found, count, "{lines:?}");
    }
}

#[test]
fn a_strict_retargeting_fails_for_the_warnings_of_mirror_images() {
    let bench = Bench::new();
    let mut file = figure("low too");
    // A sword on one side, which a clip swings.
    let sword = file.push("nodes", json!({ "name": "Sword", "translation": [0.5, 0, 0] }));
    file.set("/nodes/0/children", json!([1, 9, 12, sword]));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let keys = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);
    file.push(
        "animations",
        json!({ "name": "swing", "samplers": [{ "input": times, "output": keys }],
            "channels": [{ "sampler": 0, "target": { "node": sword, "path": "rotation" } }] }),
    );
    bench.write("clips/figure.glb", file.glb());
    let arguments = ["clips", "-o", "baked", "--clip", "swing", "--mirror", "--rig", "clips/figure.glb", "--retarget"];
    let output = bench.bake(&arguments);
    assert_code(&output, 0);
    let alone = "mirror image: joints on one side without a partner on the other one are mirrored in themselves: Sword";
    assert!(stderr(&output).contains(&format!("warning: clips/figure.glb: {alone}")), "{}", stderr(&output));
    fs::remove_dir_all(bench.path("baked")).unwrap();
    let output = bench.bake(&[&arguments[..], &["--strict-retarget"]].concat());
    assert_refused(&output, &[&format!("clip figure#swing_mirror: clips/figure.glb: {alone} (--strict-retarget)")]);
    // The clip itself has no warning.
    assert_eq!(bench.names("baked"), ["failed-00000.jsonl", "figure#swing.npz"]);
}

#[test]
fn the_content_of_all_files_belongs_to_the_identity() {
    let bench = bench();
    let rig = figure("old");
    bench.write("rig/rig.gltf", rig.gltf("rig.bin"));
    bench.write("rig/rig.bin", bytes_of(&rig));
    bench.write("pose/pose.gltf", rig.gltf("pose.bin"));
    bench.write("pose/pose.bin", bytes_of(&rig));
    let map = r#"{ "joints": { "Hips": "Hips", "Spine": "Spine", "Head": "Head" } }"#;
    bench.write("map.json", map);
    let options = |map: &'static str, pose: &'static str| {
        [
            "--rig",
            "rig/rig.gltf",
            "--retarget",
            "--map",
            map,
            "--reference",
            pose,
            "--target-pose",
            "pose/pose.gltf#rest",
        ]
    };
    let arguments = options("map.json", "pose/pose.gltf#low");
    assert_eq!(baked_again(&bench, &arguments).len(), 3);
    assert_eq!(baked_again(&bench, &arguments), [""; 0]);
    // Other places are no difference; another clip of the pose is one.
    fs::rename(bench.path("map.json"), bench.path("other.json")).unwrap();
    bench.write("more/pose.gltf", rig.gltf("pose.bin"));
    bench.write("more/pose.bin", bytes_of(&rig));
    let arguments = options("other.json", "more/pose.gltf#0@0");
    assert_eq!(baked_again(&bench, &arguments), [""; 0]);
    assert_eq!(check(&bench, &options("other.json", "more/pose.gltf#old"), 1).len(), 3);
    // A change of any of the files, or of a buffer beside one, makes all anew.
    let mut changed = bytes_of(&rig);
    changed.push(0);
    for (name, content) in [
        ("other.json", map.replace(", \"Head\"", " , \"Head\"").into_bytes()),
        ("more/pose.bin", changed.clone()),
        ("more/pose.gltf", rig.gltf("./pose.bin")),
        ("rig/rig.bin", changed),
        ("rig/rig.gltf", rig.gltf("./rig.bin")),
    ] {
        bench.write(name, content);
        assert_eq!(baked_again(&bench, &arguments).len(), 3, "{name}");
        assert_eq!(baked_again(&bench, &arguments), [""; 0], "{name}");
    }
}

/// The bytes of the buffer of a file.
fn bytes_of(file: &GltfBuilder) -> Vec<u8> {
    // The last chunk of a GLB file, after the head of 12 bytes and the chunk of JSON.
    let glb = file.glb();
    let json = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    glb[20 + json + 8..].to_vec()
}

#[test]
fn no_output_replaces_a_file_of_the_retargeting() {
    let bench = bench();
    bench.write("out/walk.npz", r#"{ "joints": { "Hips": "pelvis" } }"#);
    bench.write("out/walk.glb", figure("old").glb());
    let file = figure("old");
    bench.write("pose.gltf", file.gltf("out/walk.npz"));
    let refuse = |arguments: &[&str], text: &str| {
        let output = bench.bake(&[["clips/walk.bvh", "-o", "out"].as_slice(), &ONTO_DEMO, arguments].concat());
        assert_refused(&output, &[text]);
    };
    refuse(&["--map", "out/walk.npz"], "would replace the file of --map out/walk.npz");
    let glb = ["--format", "glb"];
    refuse(
        &[&glb[..], &["--target-pose", "out/walk.glb#0"]].concat(),
        "would replace the file of --target-pose out/walk.glb",
    );
    bench.write("out/walk.npz", bytes_of(&file));
    refuse(&["--target-pose", "pose.gltf#rest"], "would replace a file that a file of the options names out/walk.npz");
}

#[cfg(target_os = "linux")]
#[test]
fn rig_and_map_are_read_once() {
    let bench = bench();
    bench.write("map.json", r#"{ "joints": { "Hips": "pelvis", "Head": "head" } }"#);
    bench.write("rig.glb", figure("old").glb());
    for (file, options) in
        [("map.json", ["--map", "/dev/stdin", "--rig", "demo"]), ("rig.glb", ["--threads", "2", "--rig", "/dev/stdin"])]
    {
        // A pipe cannot be read twice.
        let mut command = bench.command(&[["clips", "-o", "baked", "--retarget"].as_slice(), &options].concat());
        let mut task =
            command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut task.stdin.take().unwrap(), &fs::read(bench.path(file)).unwrap()).unwrap();
        assert_code(&task.wait_with_output().unwrap(), 0);
        assert_eq!(bench.names("baked").len(), 3);
    }
}
