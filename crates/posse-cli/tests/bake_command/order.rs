use super::*;

/// The formats of this build.
const FORMATS: &[&str] = if cfg!(feature = "parquet") {
    &["npz", "glb", "usda", "packed", "parquet"]
} else {
    &["npz", "glb", "usda", "packed"]
};

#[test]
fn the_number_of_threads_changes_no_byte() {
    let bench = Bench::with_clips();
    for format in FORMATS {
        let bake = |threads: &str| {
            let out = format!("{format}{threads}");
            bench.baked(&["clips", "-o", &out, "--format", format, "--threads", threads]);
            bench.files(&out)
        };
        let one = bake("1");
        // Parquet and packed have a file per rig, and packed an index.
        let files = match *format {
            "parquet" => 2,
            "packed" => 3 + usize::from(cfg!(feature = "parquet")),
            _ => 7,
        };
        assert_eq!(one.len(), files);
        assert!(one == bake("2") && one == bake("7"), "{format}");
    }
}

#[test]
fn shares_have_the_bytes_of_one_run() {
    let bench = Bench::with_clips();
    let arrays = "pos,quat,linvel,angvel,local_quat,root";
    bench.baked(&["clips", "-o", "whole", "--arrays", arrays]);
    for index in ["2/3", "0/3", "1/3"] {
        bench.baked(&["clips", "-o", "shares", "--arrays", arrays, "--shard", index]);
    }
    let mut shares = bench.files("shares");
    assert!(shares.remove("shards.json").is_some());
    assert_eq!(shares, bench.files("whole"));
}

#[test]
fn the_place_of_the_inputs_changes_no_byte() {
    let bench = Bench::with_clips();
    bench.write("second/9.bvh", bvh(20, 9.0));
    for format in FORMATS {
        let [first, second] = ["clips", "second"].map(|name| bench.path(name).to_str().unwrap().to_owned());
        bench.baked(&["clips", "second", "-o", &format!("{format}/relative"), "--format", format]);
        bench.baked(&[&second, &first, "-o", &format!("{format}/absolute"), "--format", format]);
        let out = bench.path(&format!("{format}/below")).to_str().unwrap().to_owned();
        let mut command = bench.command(&[".", "../second", "-o", &out, "--format", format]);
        assert_code(&command.current_dir(bench.path("clips")).output().unwrap(), 0);
        let expected = bench.files(&format!("{format}/relative"));
        assert_eq!(expected, bench.files(&format!("{format}/absolute")), "{format}");
        assert_eq!(expected, bench.files(&format!("{format}/below")), "{format}");
    }
}

#[test]
fn options_that_mean_the_same_give_the_same_bytes() {
    let bench = Bench::with_clips();
    bench.write("joints.txt", "knee\nhip\n");
    bench.baked(&[
        "clips/0.bvh",
        "-o",
        "a",
        "--arrays",
        "quat,pos",
        "--joints",
        "knee,hip",
        "--engine",
        "auto",
        "--fps",
        "30",
    ]);
    bench.baked(&["clips/0.bvh", "-o", "b", "--joints", "joints.txt", "--fps", "30.0", "--quaternions", "xyzw"]);
    assert_eq!(bench.files("a"), bench.files("b"));
}

#[test]
fn a_file_read_in_parts_has_the_bytes_of_the_whole() {
    // Spaces at the ends of the lines make the file long enough to be read in parts.
    let frames = 20_000;
    let text = bvh(frames, 0.5);
    let padding = " ".repeat((9 << 20) / frames);
    let bench = Bench::new();
    bench.write("a/long.bvh", text.replace('\n', &format!("{padding}\n")));
    bench.write("b/long.bvh", &text);
    for arguments in [[].as_slice(), &["--fps", "47.3"], &["--fps", "1"], &["--fps", "300"]] {
        let arrays = "pos,quat,linvel,angvel,local_pos,local_quat,root";
        for folder in ["a", "b"] {
            bench.baked(&[&[folder, "-o", &format!("{folder}/out"), "--arrays", arrays], arguments].concat());
        }
        let [parts, whole] = ["a", "b"].map(|folder| npz(&bench.path(&format!("{folder}/out/long.npz"))));
        for (name, array) in &whole {
            // The hash of the source differs.
            assert!(name == "source" || array.bytes == parts[name].bytes, "{name} {arguments:?}");
        }
        assert!(parts["source"].text() != whole["source"].text());
    }
    // The velocity of the first frame spans the first 1000 s.
    bench.write("a/long.bvh", bvh(80_000, 0.5) + &"\n".repeat(4 << 20));
    let arguments = ["a", "-o", "slow", "--fps", "0.001", "--arrays", "linvel"];
    assert_refused(&bench.bake(&arguments), &["the velocities of a frame span", "larger --fps"]);
    bench.baked(&["a", "-o", "slow", "--fps", "0.001"]);
}

#[test]
fn a_rig_takes_the_motion_of_bvh_files_whole_or_in_parts() {
    let bench = Bench::new();
    // A rig whose knee hangs one metre below its hip; the file has half a metre.
    bench.write("rig.bvh", bvh(0, 0.0).replace("OFFSET 0 -0.5 0", "OFFSET 0 -1 0"));
    let text = bvh(9000, 0.5);
    bench.write("whole/long.bvh", &text);
    bench.write("parts/long.bvh", text + &"\n".repeat(8 << 20));
    let arguments = ["--rig", "rig.bvh", "--arrays", "local_pos,local_quat,pos", "--joints", "hip,knee"];
    for folder in ["whole", "parts"] {
        bench.baked(&[&[folder, "-o", &format!("{folder}/out")], arguments.as_slice()].concat());
    }
    let [whole, parts] = ["whole", "parts"].map(|folder| npz(&bench.path(&format!("{folder}/out/long.npz"))));
    assert!(whole.iter().all(|(name, array)| name == "source" || array.bytes == parts[name].bytes));
    assert_eq!(whole["fps"].doubles(), [120.0]);
    assert!(whole["local_pos"].floats().chunks(6).all(|frame| frame[3..] == [0.0, -1.0, 0.0]));
    bench.write("other.bvh", bvh(0, 0.0).replace("hip", "a").replace("knee", "b"));
    for folder in ["whole", "parts"] {
        let arguments = [folder, "-o", "no", "--rig", "other.bvh"];
        assert_refused(&bench.bake(&arguments), &["no track of", "finds a node of its name"]);
    }
}
