use super::*;

#[test]
fn a_bad_input_does_not_stop_the_others() {
    let bench = Bench::with_clips();
    bench.write("clips/bad.bvh", bvh(5, 0.0).replace("Frames: 5", "Frames: 6"));
    bench.write("clips/broken.gltf", "{ \"asset\": { \"version\": \"2.0\" }, \"animations\": 7 }");
    bench.write("clips/beyond.gltf", gltf(&[Some("a")]).replace("\"count\":2", "\"count\":9"));
    bench.write("clips/empty.bvh", "");
    let output = bench.bake(&["clips", "-o", "baked"]);
    assert_refused(&output, &["clips/bad.bvh", "line", "clips/broken.gltf", "animations", "4 bad inputs"]);
    let mut files = bench.files("baked");
    let failures = json_lines(&files.remove("failed-00000.jsonl").unwrap());
    let paths: Vec<&Value> = failures.iter().map(|failure| &failure["path"]).collect();
    assert_eq!(paths, ["clips/bad.bvh", "clips/beyond.gltf", "clips/broken.gltf", "clips/empty.bvh"]);
    assert!(failures.iter().all(|failure| failure["message"].as_str().is_some_and(|message| message.len() > 20)));
    assert_eq!(files.len(), 7, "{:?}", files.keys());
    // A run without failures removes the list.
    for name in ["bad.bvh", "broken.gltf", "beyond.gltf", "empty.bvh"] {
        fs::remove_file(bench.path(&format!("clips/{name}"))).unwrap();
    }
    bench.baked(&["clips", "-o", "baked", "--resume"]);
    assert_eq!(bench.files("baked"), files);
}

#[test]
fn a_bad_clip_is_named() {
    let bench = Bench::new();
    let mut file: Value = serde_json::from_str(&gltf(&[Some("walk"), Some("wave")])).unwrap();
    file["nodes"].as_array_mut().unwrap().push(json!({ "name": "hand" }));
    file["animations"][1]["channels"][0]["target"]["node"] = json!(2);
    bench.write("clips/two.gltf", file.to_string());
    bench.write("rig.gltf", gltf(&[]));
    let output = bench.bake(&["clips", "-o", "baked", "--rig", "rig.gltf"]);
    assert_refused(&output, &["clip two#wave", "no track of the clip finds a node"]);
    let mut files = bench.files("baked");
    let failures = json_lines(&files.remove("failed-00000.jsonl").unwrap());
    assert_eq!(failures[0]["clip"], "two#wave");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["two#walk.npz"]);
}

#[test]
fn strict_stops_at_the_first_bad_input() {
    let bench = Bench::with_clips();
    // The largest file comes first.
    bench.write("clips/bad.bvh", bvh(500, 0.0).replace("Frames: 500", "Frames: 501"));
    let output = bench.bake(&["clips", "-o", "baked", "--strict", "--threads", "1"]);
    assert_refused(&output, &["clips/bad.bvh"]);
    assert_eq!(bench.names("baked"), ["failed-00000.jsonl"]);
}

#[test]
fn an_output_that_cannot_be_written_is_exit_code_1() {
    let bench = Bench::with_clips();
    bench.write("file", "no folder");
    let output = bench.bake(&["clips", "-o", "file"]);
    assert_code(&output, 1);
    assert!(stderr(&output).contains("error: file"), "{}", stderr(&output));
    // A folder stands where an output goes, and a file where a folder goes.
    fs::create_dir_all(bench.path("baked/0.npz/x")).unwrap();
    assert_code(&bench.bake(&["clips/0.bvh", "-o", "baked"]), 1);
    bench.write("other/more", "no folder");
    assert_code(&bench.bake(&["clips", "-o", "other"]), 1);
    for folder in ["baked", "other"] {
        assert!(!bench.names(folder).iter().any(|name| name.contains(".bake-")), "{:?}", bench.names(folder));
    }
    // Of both, 1 counts.
    bench.write("bad.bvh", "");
    assert_code(&bench.bake(&["clips/0.bvh", "bad.bvh", "-o", "baked", "--threads", "1"]), 1);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let bench = Bench::new();
    bench.write("clips/long.bvh", bvh(3000, 0.0));
    bench.baked(&["clips", "-o", "whole"]);
    assert!(bench.files("whole")["long.npz"].len() > 200_000);
    // The system refuses to let files grow beyond 64 KiB, as it does when a disk is full.
    let script = format!("trap '' XFSZ; ulimit -f 64; exec '{}' bake clips -o baked", env!("CARGO_BIN_EXE_posse"));
    let mut command = Command::new("bash");
    let output = command.args(["-c", &script]).current_dir(bench.folder.path()).output().unwrap();
    assert_code(&output, 1);
    assert!(stderr(&output).contains("long.npz"), "{}", stderr(&output));
    assert_eq!(bench.names("baked"), [""; 0]);
}

#[test]
fn results_on_stdout_are_lines_of_json_only() {
    let bench = Bench::with_clips();
    assert!(bench.bake(&["clips", "-o", "baked"]).stdout.is_empty());
    bench.write("clips/bad.bvh", "");
    let output = bench.bake(&["clips", "-o", "baked", "--json", "--resume"]);
    let lines = json_lines(&output.stdout);
    let of = |status: &str| lines.iter().filter(|line| line["status"] == status).count();
    assert_eq!([of("kept"), of("failed"), lines.len()], [7, 1, 8]);
}
