use super::*;

/// The arrays of the clip of one second from 0 to 10 along x, two metres above the ground.
fn lift(arguments: &[&str]) -> BTreeMap<String, Array> {
    let bench = Bench::new();
    bench.write("lift.gltf", gltf(&[None]));
    bench.baked(&[&["lift.gltf", "-o", "baked"], arguments].concat());
    npz(&bench.path("baked/lift.npz"))
}

#[test]
fn frames_are_evenly_spaced_up_to_the_duration() {
    let arrays = lift(&["--fps", "5"]);
    assert_eq!(
        arrays["time"].doubles(),
        [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0].map(|time: f64| (time * 5.0).round() / 5.0)
    );
    assert_eq!(arrays["pos"].shape, [6, 2, 3]);
    let x: Vec<f32> = arrays["pos"].floats().chunks(6).map(|frame| frame[3]).collect();
    assert!(x.iter().zip([0.0, 2.0, 4.0, 6.0, 8.0, 10.0]).all(|(x, expected)| (x - expected).abs() < 1e-5), "{x:?}");
    assert_eq!(arrays["fps"].doubles(), [5.0]);
    // 1 s is not a multiple of 1/1.5 s: the last frame is before the end.
    assert_eq!(lift(&["--fps", "1.5"])["time"].doubles(), [0.0, 1.0 / 1.5]);
    // Two keys a second apart have a rate of one frame per second.
    assert_eq!(lift(&[])["time"].doubles(), [0.0, 1.0]);
}

#[test]
fn a_bvh_file_has_the_rate_that_its_frame_time_prints() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked"]);
    let arrays = npz(&bench.path("baked/2.npz"));
    assert_eq!(arrays["fps"].doubles(), [120.0]);
    assert_eq!(arrays["time"].shape, [120]);
    assert_eq!(arrays["joint_names"].text(), "hipkneeknee_end");
    // A file of one frame has one frame.
    assert_eq!(npz(&bench.path("baked/4.npz"))["time"].doubles(), [0.0]);
}

#[test]
fn frames_of_a_rounded_frame_time_do_not_drift() {
    let bench = Bench::new();
    // With six digits, 1/120 s is printed as 0.008333 s, of which 400 are shorter by 0.13 ms.
    bench.write("walk.bvh", bvh(401, 0.0).replace("0.00833333", "0.008333"));
    bench.baked(&["walk.bvh", "-o", "baked", "--fps", "120", "--joints", "hip", "--arrays", "pos"]);
    let z: Vec<f32> = npz(&bench.path("baked/walk.npz"))["pos"].floats().chunks(3).map(|hip| hip[2]).collect();
    assert_eq!(z.len(), 401);
    assert!(z.iter().enumerate().all(|(frame, z)| (z - 0.0025 * frame as f32).abs() < 1e-5), "{z:?}");
}

#[test]
fn a_spin_of_100_degrees_per_frame_has_its_angular_velocity() {
    let bench = Bench::new();
    let head = "HIERARCHY\nROOT hip\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\nEnd Site\n{\n\
                OFFSET 0 0 1\n}\n}\nMOTION\nFrames: 121\nFrame Time: 0.008333333\n";
    // 1000 degrees per second.
    let rows = (0..121).map(|frame| format!("0 {:.6} 0\n", f64::from(frame) * 1000.0 / 120.0));
    bench.write("spin.bvh", head.to_owned() + &rows.collect::<String>());
    bench.baked(&["spin.bvh", "-o", "baked", "--fps", "10", "--arrays", "angvel", "--no-end-sites"]);
    let spin = npz(&bench.path("baked/spin.npz"))["angvel"].floats();
    assert_eq!(spin.len(), 3 * 11);
    for [x, y, z] in spin.as_chunks::<3>().0 {
        assert!(x.abs() < 1e-3 && (y - 17.4533).abs() < 1e-3 && z.abs() < 1e-3, "{spin:?}");
    }
}

#[test]
fn velocities_are_central_differences() {
    let arrays = lift(&["--fps", "4", "--arrays", "linvel,angvel", "--joints", "lift"]);
    for velocity in arrays["linvel"].floats().chunks(3) {
        assert!((velocity[0] - 10.0).abs() < 1e-4 && velocity[1..] == [0.0, 0.0], "{velocity:?}");
    }
    assert!(arrays["angvel"].floats().iter().all(|number| *number == 0.0));
    assert!(!arrays.contains_key("pos"));
}

#[test]
fn joints_are_those_of_the_list_in_its_order() {
    let arrays = lift(&["--joints", "lift,ground", "--fps", "1"]);
    assert_eq!(arrays["joint_names"].text(), "liftground");
    assert_eq!(arrays["parents"].bytes, [1_i32, -1].map(i32::to_le_bytes).concat());
    assert_eq!(arrays["pos"].floats(), [0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 10.0, 2.0, 0.0, 0.0, 2.0, 0.0]);
    let bench = Bench::with_clips();
    bench.write("joints.txt", "knee\r\n\n hip \n");
    bench.baked(&["clips/0.bvh", "-o", "baked", "--joints", "joints.txt"]);
    assert_eq!(npz(&bench.path("baked/0.npz"))["joint_names"].text(), "kneehip");
    let output = bench.bake(&["clips", "-o", "baked", "--joints", "Knee"]);
    assert_refused(&output, &["no joint is named \"Knee\"", "\"knee\""]);
    // All that are missing are named, up to five.
    let output = bench.bake(&["clips/0.bvh", "-o", "baked", "--joints", "Knee,hip,Hip,c/c,d.txt,e,f,g"]);
    assert_refused(
        &output,
        &[
            "no joint is named \"Knee\"",
            "nor \"Hip\", nor \"c/c\", nor \"d.txt\", nor \"e\" and 2 more; the name nearest to \"Knee\" is \"knee\"",
        ],
    );
    // A file comes before a joint of its name.
    bench.write("hip", "knee\n");
    bench.baked(&["clips/0.bvh", "-o", "baked", "--joints", "hip"]);
    assert_eq!(npz(&bench.path("baked/0.npz"))["joint_names"].text(), "knee");
    assert_refused(&bench.bake(&["clips", "-o", "baked", "--joints", "hip,hip"]), &["list each joint once"]);
}

#[test]
fn joints_of_one_name_are_told_apart_by_path_and_number() {
    let bench = Bench::new();
    let twice = gltf(&[None]).replace("\"ground\"", "\"Armature\"").replace("\"lift\"", "\"Armature\"");
    bench.write("dup.gltf", twice);
    let output = bench.bake(&["dup.gltf", "-o", "baked", "--joints", "Armature"]);
    let each = "Armature#0 (/Armature), Armature#1 (/Armature/Armature)";
    assert_refused(&output, &["2 joints are named \"Armature\"; write which one: ", each]);
    for (joint, moves) in [("/Armature", false), ("Armature#0", false), ("#1", true), ("Armature/Armature", true)] {
        bench.baked(&["dup.gltf", "-o", "baked", "--joints", joint, "--fps", "1"]);
        let x = if moves { 10.0 } else { 0.0 };
        assert_eq!(npz(&bench.path("baked/dup.npz"))["pos"].floats(), [0.0, 2.0, 0.0, x, 2.0, 0.0], "{joint}");
    }
}

#[test]
fn a_bvh_file_is_read_with_the_options() {
    let bench = Bench::new();
    bench.write("walk.bvh", bvh(3, 0.0).replace("Frame Time: 0.00833333\n", ""));
    assert_refused(&bench.bake(&["walk.bvh", "-o", "baked"]), &["walk.bvh: line 18: ", "(--input-fps F)"]);
    bench.baked(&["walk.bvh", "-o", "baked", "--input-fps", "50", "--no-end-sites"]);
    let arrays = npz(&bench.path("baked/walk.npz"));
    assert_eq!((arrays["fps"].doubles(), arrays["joint_names"].text()), (vec![50.0], "hipknee".into()));
    assert_eq!(arrays["time"].doubles(), [0.0, 0.02, 0.04]);
    let options = arrays["options"].text();
    assert!(options.contains("\"input_fps\":50.0") && options.contains("\"no_end_sites\":true"), "{options}");
    // Outputs with other options are made anew.
    bench.baked(&["walk.bvh", "-o", "baked", "--input-fps", "25", "--resume"]);
    let arrays = npz(&bench.path("baked/walk.npz"));
    assert_eq!((arrays["fps"].doubles(), arrays["joint_names"].text()), (vec![25.0], "hipkneeknee_end".into()));
}

#[test]
fn the_up_axis_the_unit_and_the_order_of_quaternions_are_those_of_the_options() {
    let arrays = lift(&["--up", "z", "--scale", "100", "--quaternions", "wxyz", "--fps", "1", "--joints", "lift"]);
    // (10, 2, 0) with y up is (10, 0, 2) with z up.
    let pos = arrays["pos"].floats();
    let expected = [0.0, 0.0, 200.0, 1000.0, 0.0, 200.0];
    assert!(pos.iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-3), "{pos:?}");
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let quat = arrays["quat"].floats();
    assert!(quat.iter().zip([half, half, 0.0, 0.0].repeat(2)).all(|(a, b)| (a - b).abs() < 1e-6), "{quat:?}");
    let facts = ["up_axis", "quaternion_order"].map(|name| arrays[name].text());
    assert_eq!((facts, arrays["unit_scale"].doubles()), (["z".into(), "wxyz".into()], vec![100.0]));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let bench = Bench::with_clips();
    bench.write("blank", " \n");
    for (arguments, text) in [
        (["--layout", "mjlab", "--quaternions", "xyzw"].as_slice(), "wxyz"),
        (&["--layout", "mjlab", "--arrays", "pos"], "leave out --arrays"),
        (&["--layout", "mjlab", "--format", "glb"], "--layout is for --format npz"),
        (&["--format", "glb", "--arrays", "pos"], "leave out --arrays"),
        (&["--arrays", "pos,speed"], "there is no array \"speed\""),
        (&["--fps", "0"], "above 0"),
        (&["--fps", "nan"], "above 0"),
        (&["--scale", "-1"], "above 0"),
        (&["--threads", "0"], "--threads"),
        (&["--rig", "missing.glb"], "missing.glb"),
        (&["--joints", ","], "name 1 is empty"),
        (&["--joints", "hip,,knee"], "name 2 is empty"),
        (&["--joints", "missing/hip.txt"], "--joints missing/hip.txt: there is no such file"),
        (&["--joints", "joints.TXT"], "--joints joints.TXT: there is no such file"),
        (&["--joints", "joints.json"], "--joints joints.json: there is no such file"),
        (&["--joints", "blank"], "--joints blank: the file has no names"),
        (&["--arrays", "pos,quat,pos"], "--arrays repeats pos"),
        (&["--check", "baked"], "cannot be used with"),
    ] {
        let output = bench.bake(&[&["clips", "-o", "baked"], arguments].concat());
        assert_refused(&output, &[text]);
    }
    assert_refused(&bench.bake(&["clips"]), &["--output"]);
    assert_refused(&bench.bake(&["demo", "-o", "baked"]), &["as --rig demo, not as INPUT"]);
    let check = bench.bake(&["--check", "nowhere", "clips"]);
    assert_code(&check, 1);
    assert!(stderr(&check).contains("nowhere: there is no such folder"), "{}", stderr(&check));
    assert!(!bench.path("baked").exists());
}

#[test]
fn usda_files_state_metres_where_the_unit_is_known() {
    let bench = Bench::with_clips();
    bench.write("rig.gltf", gltf(&[]).replace("\"lift\"", "\"hip\""));
    let states = |output: &str| {
        let text = fs::read_to_string(bench.path(&format!("{output}.usda"))).unwrap();
        match text.lines().filter(|line| line.trim_start().starts_with("metersPerUnit")).collect::<Vec<_>>().as_slice()
        {
            [] => false,
            ["    metersPerUnit = 1"] => true,
            lines => panic!("{lines:?}"),
        }
    };
    let bake = |out: &str, arguments: &[&str]| {
        bench.baked(&[&["clips/0.bvh", "clips/more/lift.gltf", "-o", out, "--format", "usda"], arguments].concat());
    };
    // A BVH file may have centimetres, inches or anything else; glTF has metres.
    bake("own", &[]);
    assert_eq!((states("own/0"), states("own/lift#rise")), (false, true));
    // A scale makes metres of it.
    bake("scaled", &["--scale", "0.01"]);
    assert_eq!((states("scaled/0"), states("scaled/lift#rise")), (true, true));
    // With a rig, its unit counts.
    let with_rig = |out: &str, rig: &str| bench.baked(&["clips/0.bvh", "-o", out, "--format", "usda", "--rig", rig]);
    with_rig("gltf", "rig.gltf");
    with_rig("bvh", "clips/1.bvh");
    assert_eq!((states("gltf/0"), states("bvh/0")), (true, false));
}
