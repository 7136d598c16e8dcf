use super::*;

/// A bake that is refused before it writes anything.
#[track_caller]
fn refuse(bench: &Bench, arguments: &[&str], texts: &[&str]) {
    let before = bench.all_files("");
    assert_refused(&bench.bake(arguments), texts);
    assert!(bench.all_files("") == before, "{:?}", bench.names(""));
}

/// A folder with a GLB file, which posse has made from a glTF file.
fn bench_with_glb() -> Bench {
    let bench = Bench::new();
    bench.write("lift.gltf", gltf(&[Some("go")]));
    bench.baked(&["lift.gltf", "-o", "e", "--format", "glb"]);
    bench
}

#[test]
fn no_output_replaces_an_input() {
    let bench = bench_with_glb();
    let glb = ["--format", "glb"];
    for arguments in [
        ["e/lift.glb", "-o", "e"].as_slice(),
        &["e/lift.glb", "-o", "e", "--resume"],
        &["e/lift.glb", "-o", "./x/../e/../e"],
        &["e/lift.glb", "-o", "new/../e"],
        &["@list.txt", "-o", "e"],
    ] {
        bench.write("list.txt", "./e/lift.glb\n");
        bench.write("x/more.bvh", bvh(2, 0.0));
        let texts = ["e/lift.glb", "would replace the input", "give another OUT"];
        refuse(&bench, &[arguments, &glb].concat(), &texts);
    }
    // The input of another share counts too, and one without a clip.
    bench.write("clips/big.bvh", bvh(90, 0.0));
    refuse(&bench, &["e/lift.glb", "clips", "-o", "e", "--shard", "0/2", "--format", "glb"], &["would replace"]);
    bench.write("e/two.bvh", gltf(&[Some("a"), Some("b")]));
    bench.write("e/two#a.npz", "");
    // The place of an input that is a clip of the same name stays as it is.
    let output = bench.bake(&["e/two.bvh", "e/two#a.npz", "-o", "e"]);
    assert_refused(&output, &["e/two#a.npz and e/two.bvh both have a clip of the name two#a", "2 bad inputs"]);
    assert!(fs::read(bench.path("e/two#a.npz")).unwrap().is_empty() && bench.path("e/two#b.npz").exists());
    bench.baked(&["e/lift.glb", "-o", "e"]);
    assert!(bench.path("e/lift.npz").exists());
}

#[cfg(unix)]
#[test]
fn no_output_replaces_an_input_behind_a_link() {
    use std::os::unix::fs::symlink;
    let bench = bench_with_glb();
    symlink(bench.path("e"), bench.path("out")).unwrap();
    symlink(bench.path("e/lift.glb"), bench.path("clips/lift.glb")).unwrap();
    for input in ["e/lift.glb", "clips/lift.glb"] {
        let before = bench.files("e");
        let output = bench.bake(&[input, "-o", "out", "--format", "glb"]);
        assert_refused(&output, &["out/lift.glb", "would replace the input", input]);
        assert!(bench.files("e") == before);
    }
}

#[test]
fn no_output_replaces_a_file_of_the_options_or_beside_an_input() {
    let bench = bench_with_glb();
    let glb = ["-o", "e", "--format", "glb"];
    bench.write("rig/lift.bvh", gltf(&[Some("go")]));
    refuse(
        &bench,
        &[["rig/lift.bvh", "--rig", "e/lift.glb"].as_slice(), &glb].concat(),
        &["of rig/lift.bvh would replace the rig e/lift.glb"],
    );
    bench.write("e/rise.glb", "lift\n");
    bench.write("rise.gltf", gltf(&[Some("go")]));
    refuse(
        &bench,
        &[["rise.gltf", "--joints", "e/rise.glb"].as_slice(), &glb].concat(),
        &["of rise.gltf would replace the file of --joints e/rise.glb"],
    );
    bench.write("e/list.npz", "list.gltf\n");
    bench.write("list.gltf", gltf(&[Some("go")]));
    refuse(&bench, &["@e/list.npz", "-o", "e"], &["of list.gltf would replace the list of inputs e/list.npz"]);
    // A buffer beside a file, and a file of a crowd with its own buffer.
    bench.write("data.npz", [0.0_f32, 1.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0].map(f32::to_le_bytes).concat());
    bench.write("data.gltf", gltf_of(&[Some("go")], "data.npz"));
    refuse(&bench, &["data.gltf", "-o", "."], &["of data.gltf would replace", "data.npz"]);
    let crowd = json!({ "files": ["data.gltf"], "instances": [{ "file": 0, "layers": [{ "clip": "go" }] }] });
    bench.write("crowd.json", crowd.to_string());
    bench.write("x/data.bvh", bvh(2, 0.0));
    refuse(&bench, &["crowd.json", "x/data.bvh", "-o", "."], &["of x/data.bvh would replace", "data.npz"]);
}

#[test]
fn names_that_posse_writes_itself_are_no_inputs() {
    let bench = Bench::new();
    for name in ["shards.json", "plan.jsonl", "failed-00003.jsonl", "manifest-00012.jsonl"] {
        bench.write(&format!("out/{name}"), bvh(2, 0.0));
        refuse(&bench, &[&format!("out/{name}"), "-o", "out"], &[name, "posse writes itself"]);
    }
    bench.write("out/part-00001-of-00004.parquet", bvh(2, 0.0));
    bench.baked(&["out/part-00001-of-00004.parquet", "-o", "out"]);
    #[cfg(feature = "parquet")]
    refuse(
        &bench,
        &["out/part-00001-of-00004.parquet", "-o", "out", "--format", "parquet"],
        &["part-00001-of-00004.parquet: the input", "posse writes itself"],
    );
}

#[test]
fn a_place_that_is_taken_for_good_is_refused() {
    let bench = Bench::with_clips();
    fs::create_dir_all(bench.path("baked/0.npz/x")).unwrap();
    refuse(&bench, &["clips", "-o", "baked"], &["baked/0.npz: a folder", "clips/0.bvh", "remove the folder"]);
    // The other shares are refused too.
    for share in ["0/2", "1/2"] {
        refuse(&bench, &["clips", "-o", "baked", "--shard", share], &["baked/0.npz"]);
    }
    bench.write("other/more", "no folder");
    refuse(&bench, &["clips", "-o", "other"], &["other/more: a file", "more/lift#", "remove the file"]);
    bench.write("file", "no folder");
    for out in ["file", "file/deeper/still"] {
        refuse(&bench, &["clips", "-o", out], &["file: OUT is not a folder"]);
    }
    fs::create_dir_all(bench.path("list/failed-00000.jsonl")).unwrap();
    refuse(&bench, &["clips", "-o", "list"], &["list/failed-00000.jsonl: a folder"]);
}

#[test]
fn an_output_makes_way_for_a_folder_of_others() {
    let bench = Bench::new();
    for name in ["clips/a", "clips/a.npz/b", "clips/c", "list/d", "list/failed-00000.jsonl/e"] {
        bench.write(&format!("{name}.bvh"), bvh(2, 0.0));
    }
    let reason = "clips/a.bvh: its output a.npz has the place of a folder of the outputs of clips/a.npz/b.bvh; rename";
    assert_refused(&bench.bake(&["clips", "-o", "baked"]), &[reason, "2 of 3 clips", "1 bad input,"]);
    assert_eq!(bench.names("baked"), ["a.npz/b.npz", "c.npz", "failed-00000.jsonl"]);
    let checked = bench.bake(&["--check", "baked", "clips"]);
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.lines().count() == 1 && lines.starts_with(&format!("a: {reason}")), "{lines}");
    bench.baked(&["clips", "-o", "other", "--format", "glb"]);
    // Pieces have the names of their rows.
    bench.write("cuts.csv", "a.bvh,0,1,x\nc.bvh,0,1,x.npz/y\n");
    let output = bench.bake(&["clips", "-o", "cut", "--cuts", "cuts.csv"]);
    assert_refused(&output, &["clips/a.bvh: its output x.npz has the place of a folder", "1 bad input,"]);
    assert_eq!(bench.names("cut"), ["failed-00000.jsonl", "x.npz/y.npz"]);
    // A file of the bake makes no way.
    let reason = "its output failed-00000.jsonl/e.npz has a folder in the place of failed-00000.jsonl, which posse";
    assert_refused(&bench.bake(&["list", "-o", "new"]), &[reason, "1 bad input,"]);
    assert_eq!(bench.names("new"), ["d.npz", "failed-00000.jsonl"]);
}
