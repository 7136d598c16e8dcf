use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

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

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_takes_no_folders_is_named_with_what_to_do() {
    let bench = Bench::with_clips();
    let output = bench.bake(&["clips", "-o", "/proc/posse-baked"]);
    assert_code(&output, 1);
    let stderr = stderr(&output);
    for part in ["error: /proc/posse-baked: ", "; the folder is there, but takes no new files; write to another one"] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn bad_inputs_are_allowed_once_they_are_listed() {
    let bench = Bench::with_clips();
    bench.write("clips/bad.bvh", "");
    bench.write("clips/broken.gltf", "{");
    let output = bench.bake(&["clips", "-o", "baked", "--allow-failed"]);
    assert_code(&output, 0);
    assert!(stderr(&output).contains("2 bad inputs, listed in failed-*.jsonl"), "{}", stderr(&output));
    let failures = json_lines(&bench.files("baked")["failed-00000.jsonl"]);
    assert_eq!(failures.iter().map(|failure| &failure["source"]).collect::<Vec<_>>(), ["bad.bvh", "broken.gltf"]);
    let check = |clips: &str, arguments: &[&str], code: i32| {
        let checked = bench.bake(&[&["--check", "baked", clips], arguments].concat());
        assert_code(&checked, code);
        (String::from_utf8(checked.stdout.clone()).unwrap(), stderr(&checked))
    };
    assert_eq!(check("clips", &[], 1).0.lines().count(), 2);
    let (lines, summary) = check("clips", &["--allow-failed"], 0);
    assert!(lines.is_empty() && summary.contains("7 of 8;"), "{lines}{summary}");
    assert!(summary.contains("missing or different: 0; failed, as failed-*.jsonl lists: 2"), "{summary}");
    // The list holds whatever folder a command runs in.
    let clips = bench.path("clips");
    assert!(check(clips.to_str().unwrap(), &["--allow-failed"], 0).0.is_empty());
    // What is missing, but has not failed, is no failure.
    fs::remove_file(bench.path("baked/1.npz")).unwrap();
    assert_eq!(check("clips", &["--allow-failed"], 1).0, "1: missing\n");
    bench.write("clips/new.gltf", "{");
    assert_eq!(check("clips", &["--allow-failed"], 1).0.lines().count(), 2);
    fs::remove_file(bench.path("baked/failed-00000.jsonl")).unwrap();
    assert_eq!(check("clips", &["--allow-failed"], 1).0.lines().count(), 4);
    // A wrong OUT is no bad input.
    bench.write("file", "no folder");
    assert_code(&bench.bake(&["clips", "-o", "file/out", "--allow-failed"]), 2);
    // A warning makes a bad input, and the bake goes on.
    bench.write("takes/good.bvh", bvh(5, 0.0));
    bench.write("takes/surplus.bvh", bvh(6, 0.0).replace("Frames: 6", "Frames: 5"));
    bench.baked(&["takes", "-o", "strict", "--strict", "--allow-failed", "--threads", "1"]);
    assert_eq!(bench.names("strict"), ["failed-00000.jsonl", "good.npz"]);
}

#[test]
fn failures_of_an_earlier_run_do_not_count_after_a_kill() {
    let bench = Bench::new();
    bench.write("clips/bad.bvh", "");
    bench.write("clips/long.bvh", bvh(30_000, 0.0));
    bench.baked(&["clips/bad.bvh", "-o", "baked", "--allow-failed"]);
    let list = bench.path("baked/failed-00000.jsonl");
    assert!(list.exists());
    // The file is mended, and the next run is killed before it comes to it.
    bench.write("clips/bad.bvh", bvh(2, 0.0));
    let mut command = bench.command(&["clips", "-o", "baked", "--threads", "1"]);
    let mut running = command.stderr(Stdio::null()).spawn().unwrap();
    while list.exists() && running.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    running.kill().unwrap();
    assert!(!running.wait().unwrap().success(), "it was done before the kill");
    let checked = bench.bake(&["--check", "baked", "clips", "--allow-failed"]);
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.contains("bad: missing\n"), "{lines}");
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

/// Bakes under a limit of 64 KiB for files. The system then refuses to let them grow, as it does when a disk is full.
#[cfg(unix)]
fn bake_on_full_disk(bench: &Bench, arguments: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f 64; exec '{}' bake {arguments}", env!("CARGO_BIN_EXE_posse"));
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(bench.folder.path()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let bench = Bench::new();
    bench.write("clips/long.bvh", bvh(3000, 0.0));
    bench.baked(&["clips", "-o", "whole"]);
    assert!(bench.files("whole")["long.npz"].len() > 200_000);
    let output = bake_on_full_disk(&bench, "clips -o baked");
    assert_code(&output, 1);
    // The writer of the zip file does not print an error of its own.
    assert!(stderr(&output).contains("long.npz") && !stderr(&output).contains("ZipWriter"), "{}", stderr(&output));
    assert!(bench.all_files("baked").is_empty());
    // A bad input that is larger comes first. Of both, 1 counts.
    bench.write("clips/bad.bvh", bvh(4000, 0.0).replace("Frames: 4000", "Frames: 4001"));
    assert_code(&bake_on_full_disk(&bench, "clips -o baked --threads 1"), 1);
    assert_eq!(bench.names("baked"), ["failed-00000.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_made_is_exit_code_1() {
    let output = Bench::with_clips().bake(&["clips", "-o", "/proc/baked"]);
    assert_code(&output, 1);
    assert!(stderr(&output).contains("error: /proc/baked"), "{}", stderr(&output));
}

#[test]
fn frames_of_clips_that_fail_are_not_counted() {
    let bench = Bench::with_clips();
    // A file that is read in parts, and is known to be bad at its end only.
    let frames = 10_000;
    let padding = format!("{}\n", " ".repeat(850));
    let (head, motion) = bvh(frames, 0.0).split_once("Frame Time:").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let head = head.replace("Frames: 10000", "Frames: 10001");
    bench.write("clips/long.bvh", format!("{head}Frame Time:{}", motion.replace('\n', &padding)));
    assert!(fs::metadata(bench.path("clips/long.bvh")).unwrap().len() > 8 << 20);
    let output = bench.bake(&["clips", "-o", "baked", "--fps", "120"]);
    assert_refused(&output, &["1 bad input,"]);
    // 30, 7, 120, 60 and 1 frames of the BVH files at about 120 per second; 121 of each glTF clip.
    assert_refused(&output, &["7 of 8 clips, 460 frames"]);
}

#[test]
fn a_rig_that_cannot_be_used_stops_at_once() {
    let bench = Bench::with_clips();
    bench.write("empty.glb", "");
    bench.write("broken.gltf", "{ \"asset\": { \"version\": \"2.0\" }, \"nodes\": 7 }");
    bench.write("bare.gltf", "{ \"asset\": { \"version\": \"2.0\" } }");
    fs::create_dir(bench.path("folder.glb")).unwrap();
    for (rig, text) in
        [("empty.glb", "empty.glb"), ("broken.gltf", "nodes"), ("bare.gltf", "no joints"), ("folder.glb", "folder")]
    {
        let output = bench.bake(&["clips", "-o", "baked", "--rig", rig]);
        assert_refused(&output, &[rig, text]);
        assert_eq!(stderr(&output).matches("error").count(), 1, "{}", stderr(&output));
        assert!(!bench.path("baked").exists());
        assert_refused(&bench.bake(&["--check", "baked", "clips", "--rig", rig]), &[rig, text]);
    }
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

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_printed_are_exit_code_1() {
    let bench = Bench::with_clips();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [["clips", "-o", "baked", "--json"].as_slice(), &["--check", "nowhere", "clips"]] {
        let output = bench.command(arguments).stdout(full()).output().unwrap();
        assert_code(&output, 1);
        assert!(stderr(&output).contains("error: standard output: "), "{}", stderr(&output));
    }
    assert_eq!(bench.names("baked").len(), 7);
    // A reader that stops early is not an error.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_code(&bench.command(&["clips", "-o", "baked", "--json"]).stdout(writer).output().unwrap(), 0);
}

#[cfg(unix)]
#[test]
fn control_characters_of_names_do_not_reach_a_terminal() {
    let bench = Bench::new();
    bench.write("clips/red\u{1b}[31m.bvh", "");
    let baked = bench.bake(&["clips", "-o", "baked"]);
    assert_refused(&baked, &[r"clips/red\u{1b}[31m.bvh"]);
    let checked = bench.bake(&["--check", "baked", "clips"]);
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.starts_with(r"red\u{1b}[31m: "), "{lines}");
    assert!(!stderr(&baked).contains('\u{1b}') && !lines.contains('\u{1b}'));
}

#[test]
fn a_broken_list_of_shares_is_named() {
    let bench = Bench::with_clips();
    bench.write("baked/shards.json", "{");
    let output = bench.bake(&["clips", "-o", "baked", "--shard", "0/2"]);
    assert_refused(&output, &["baked/shards.json: ", "Remove the file"]);
}

#[test]
fn a_number_of_cores_that_is_none_is_a_warning() {
    let bench = Bench::with_clips();
    let output = bench.command(&["clips", "-o", "baked"]).env("SLURM_CPUS_PER_TASK", "abc").output().unwrap();
    assert_code(&output, 0);
    assert_eq!(stderr(&output).matches("warning: SLURM_CPUS_PER_TASK is \"abc\", not a number above 0").count(), 1);
    let output = bench.command(&["clips", "-o", "baked", "--threads", "1"]).env("SLURM_CPUS_PER_TASK", "abc").output();
    assert!(!stderr(&output.unwrap()).contains("SLURM"));
}
