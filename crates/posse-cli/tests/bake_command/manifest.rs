use std::collections::BTreeSet;

use super::resume::{baked_again, check};
use super::*;

const MANIFEST: &str = "baked/manifest-00000.jsonl";

/// Replaces the lines of the manifest of `baked`.
fn edit(bench: &Bench, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(bench.path(MANIFEST)).unwrap();
    let mut lines = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    bench.write(MANIFEST, lines.concat());
}

/// The position of the line of an output.
fn position(lines: &[String], output: &str) -> usize {
    lines.iter().position(|line| line.contains(&format!("\"output\":\"{output}\""))).unwrap()
}

#[test]
fn each_output_has_a_line() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--fps", "25"]);
    let files = bench.files("baked");
    let lines = manifest_lines(&bench, MANIFEST);
    assert_eq!(lines.len(), 7);
    for line in &lines {
        let output = line["output"].as_str().unwrap();
        let arrays = npz(&bench.path(&format!("baked/{output}")));
        assert_eq!(line["bytes"], files[output].len());
        // The facts are the facts that the output itself states.
        let stated = |name: &str| serde_json::from_str::<Value>(&arrays[name].text()).unwrap();
        assert_eq!((&line["options"], &line["clips"][0]["source"]), (&stated("options"), &stated("source")));
        assert_eq!(line["clips"][0]["clip"].as_str().unwrap(), arrays["clip"].text());
        assert_eq!((line["clips"].as_array().unwrap().len(), line["options"]["fps"].as_f64()), (1, Some(25.0)));
        assert_eq!(line["posse_version"], env!("CARGO_PKG_VERSION"));
        // The frames and joints, so that a reader need not open the outputs.
        let (clip, times) = (&line["clips"][0], arrays["time"].doubles());
        assert_eq!((&clip["frames"], clip["seconds"].as_f64()), (&json!(times.len()), times.last().copied()));
        assert_eq!((&clip["joints"], &clip["fps"]), (&json!(arrays["parents"].shape[0]), &json!(25.0)));
    }
    // The files of each kind have one skeleton.
    let skeletons = |is_gltf: bool| {
        let of_kind = lines.iter().filter(|line| line["output"].as_str().unwrap().contains("lift") == is_gltf);
        of_kind.map(|line| line["clips"][0]["skeleton"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    assert!(skeletons(true).len() == 1 && skeletons(false).len() == 1 && skeletons(true) != skeletons(false));
    // Another order of the joints is another skeleton.
    bench.baked(&["clips/0.bvh", "-o", "turned", "--joints", "knee,hip,knee_end"]);
    let turned = &manifest_lines(&bench, "turned/manifest-00000.jsonl")[0]["clips"][0];
    assert!(turned["joints"] == 3 && !skeletons(false).contains(turned["skeleton"].as_str().unwrap()));
}

#[test]
fn lines_of_json_have_what_the_manifest_has() {
    let bench = Bench::with_clips();
    let formats: &[&str] = if cfg!(feature = "parquet") { &["npz", "parquet"] } else { &["npz"] };
    for format in formats {
        for (resume, status) in [(&[][..], "baked"), (&["--resume"], "kept")] {
            let arguments = ["clips", "-o", format, "--format", format, "--json"];
            let output = bench.bake(&[arguments.as_slice(), resume].concat());
            assert_code(&output, 0);
            let listed = manifest_lines(&bench, &format!("{format}/manifest-00000.jsonl"));
            let lines = json_lines(&output.stdout);
            assert_eq!(lines.len(), 7);
            for line in lines {
                assert_eq!(line["status"], status);
                let listed = listed.iter().find(|listed| listed["output"] == line["output"]).unwrap();
                let clips = listed["clips"].as_array().unwrap();
                let clip = clips.iter().find(|clip| clip["clip"] == line["clip"]).unwrap();
                for field in ["frames", "fps", "seconds", "joints", "skeleton"] {
                    assert!(!line[field].is_null() && line[field] == clip[field], "{field}: {line} {clip}");
                }
                if line["clip"] == "2" {
                    // 120 frames at 120 per second; hip, knee and the End Site.
                    assert_eq!(
                        (&line["frames"], &line["fps"], &line["joints"]),
                        (&json!(120), &json!(120.0), &json!(3))
                    );
                    assert!((line["seconds"].as_f64().unwrap() - 119.0 / 120.0).abs() < 1e-12);
                    let output = if *format == "npz" { "2.npz" } else { "part-00000-of-00001.parquet" };
                    assert_eq!(line["output"], output);
                }
            }
        }
    }
}

#[test]
fn each_share_has_a_manifest_of_its_own() {
    let bench = Bench::with_clips();
    let tasks = ["0/3", "1/3", "2/3"].map(|share| bench.command(&["clips", "-o", "baked", "--shard", share]).spawn());
    for task in tasks {
        assert_eq!(task.unwrap().wait().unwrap().code(), Some(0));
    }
    let outputs = |share| manifest_lines(&bench, &format!("baked/manifest-{share:05}.jsonl")).len();
    assert_eq!((0..3).map(outputs).sum::<usize>(), 7);
    // A check of all reads all of them, and a bake without shares does.
    assert!(check(&bench, &[], 0).is_empty());
    assert_eq!(baked_again(&bench, &[]), [""; 0]);
}

#[test]
fn a_line_that_a_killed_task_has_not_completed_is_left_out() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--threads", "1"]);
    let text = fs::read_to_string(bench.path(MANIFEST)).unwrap();
    let last = manifest_lines(&bench, MANIFEST).pop().unwrap();
    let clip = last["clips"][0]["clip"].as_str().unwrap();
    for missing in [2, 30, 100] {
        bench.write(MANIFEST, &text[..text.len() - missing]);
        let output = bench.bake(&["--check", "baked", "clips"]);
        let lines = String::from_utf8_lossy(&output.stdout);
        assert!(lines.starts_with(&format!("{clip}: in no manifest")) && lines.lines().count() == 1, "{lines}");
        assert!(!stderr(&output).contains("warning"), "{}", stderr(&output));
        assert_eq!(baked_again(&bench, &[]), [clip]);
        // The next line begins anew, so that the torn one is broken now.
        let output = bench.bake(&["--check", "baked", "clips"]);
        assert_code(&output, 0);
        assert!(
            stderr(&output).contains("warning: baked/manifest-00000.jsonl: line 7 is broken"),
            "{}",
            stderr(&output)
        );
        assert_eq!(baked_again(&bench, &[]), [""; 0]);
    }
    // A complete line without its line break holds.
    bench.write(MANIFEST, text.trim_end());
    assert_eq!(baked_again(&bench, &[]), [""; 0]);
}

#[test]
fn broken_lines_are_named_and_ignored() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked"]);
    edit(&bench, |lines| {
        let (one, two) = (position(lines, "1.npz"), position(lines, "2.npz"));
        lines[one] = lines[one].replace("\"bytes\":", "\"bytes\":-");
        lines[two] = "no JSON\n".into();
        lines.insert(0, "\n".into());
        lines.push("\u{0}\u{1b}[31m\n".into());
    });
    let output = bench.bake(&["--check", "baked", "clips"]);
    assert_code(&output, 1);
    let message = stderr(&output);
    let lines = String::from_utf8_lossy(&output.stdout);
    assert!(lines.starts_with("1: in no manifest") && lines.contains("\n2: in no manifest"), "{lines}");
    assert!(message.contains("warning: baked/manifest-00000.jsonl: line "), "{message}");
    assert!(message.contains(" is broken (") && message.contains("so are 2 lines after it"), "{message}");
    assert_eq!(baked_again(&bench, &[]), ["1", "2"]);
    assert!(check(&bench, &[], 0).is_empty());
    // A manifest that is none.
    fs::create_dir(bench.path("baked/manifest-00004.jsonl")).unwrap();
    bench.write("baked/manifest-00005.jsonl", [0xff, b'\n'].repeat(100));
    let output = bench.bake(&["--check", "baked", "clips"]);
    assert_code(&output, 0);
    assert!(stderr(&output).contains("manifest-00004.jsonl") && stderr(&output).contains("so are 99 lines after it"));
}

#[test]
fn an_output_without_a_line_is_made_anew() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked"]);
    let before = bench.files("baked");
    // As after a kill between the rename and the line.
    edit(&bench, |lines| {
        lines.remove(position(lines, "3.npz"));
    });
    assert_eq!(check(&bench, &[], 1), ["3: in no manifest: an earlier posse made it, or a task that was killed"]);
    assert_eq!(baked_again(&bench, &[]), ["3"]);
    // As from a version without manifests.
    fs::remove_file(bench.path(MANIFEST)).unwrap();
    let output = bench.bake(&["clips", "-o", "baked", "--resume"]);
    assert_code(&output, 0);
    assert_eq!(stderr(&output).matches("warning: baked: outputs are there that no manifest lists").count(), 1);
    assert!(bench.files("baked") == before);
    assert_eq!(baked_again(&bench, &[]), [""; 0]);
}

#[test]
fn the_last_line_of_an_output_holds() {
    let bench = Bench::with_clips();
    // Scales give files of the same size.
    for scale in ["1", "2", "3"] {
        bench.baked(&["clips", "-o", "baked", "--scale", scale]);
    }
    assert!(check(&bench, &["--scale", "3"], 0).is_empty());
    let lines = check(&bench, &["--scale", "1"], 1);
    assert!(lines.iter().all(|line| line.ends_with("made with other options: --scale was 3, is 1")), "{lines:?}");
    // An output is listed without a size before another one replaces it.
    let of_one: Vec<Value> =
        manifest_lines(&bench, MANIFEST).into_iter().filter(|line| line["output"] == "1.npz").collect();
    let sizes: Vec<_> = of_one.iter().map(|line| line["bytes"].is_null()).collect();
    assert_eq!(sizes, [false, true, false, true, false]);
    // A task that was killed after it had given the output of scale 3 its name, before it listed it.
    edit(&bench, |lines| {
        let last = lines.iter().rposition(|line| line.contains("\"output\":\"1.npz\"")).unwrap();
        lines.remove(last);
    });
    for scale in ["1", "2", "3"] {
        let lines = check(&bench, &["--scale", scale, "--clip", "0"], 1);
        assert!(lines.contains(&"1: replaced by a task that was killed".to_owned()), "{lines:?}");
    }
    assert_eq!(baked_again(&bench, &["--scale", "3"]), ["1"]);
}

#[test]
fn of_several_manifests_the_latest_line_holds() {
    let bench = Bench::with_clips();
    let bake = |scale: &str, shares: &[&str]| {
        for share in shares {
            bench.baked(
                &[&["clips", "-o", "baked", "--scale", scale, "--resume", "--shard"], [*share].as_slice()].concat(),
            );
        }
        fs::remove_file(bench.path("baked/shards.json")).unwrap();
        assert!(check(&bench, &["--scale", scale], 0).is_empty());
        assert_eq!(baked_again(&bench, &["--scale", scale]), [""; 0]);
    };
    // The same outputs are listed in manifests with lower and with higher numbers.
    bake("1", &["0/1"]);
    bake("2", &["0/3", "1/3", "2/3"]);
    bake("1", &["1/2", "0/2"]);
    bake("3", &["0/1"]);
    bake("1", &["2/3", "1/3", "0/3"]);
}

#[test]
fn a_share_that_runs_twice_at_once_is_complete() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "whole"]);
    for _ in 0..5 {
        let start = |()| bench.command(&["clips", "-o", "baked", "--threads", "2"]).spawn().unwrap();
        for mut task in [(), (), ()].map(start) {
            assert_eq!(task.wait().unwrap().code(), Some(0));
        }
        assert!(bench.files("baked") == bench.files("whole"));
        assert!(check(&bench, &[], 0).is_empty());
        assert_eq!(baked_again(&bench, &[]), [""; 0]);
    }
}

#[test]
fn a_check_does_not_open_outputs_and_writes_nothing() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked"]);
    // Other content of the same size is not noticed.
    let size = fs::metadata(bench.path("baked/1.npz")).unwrap().len();
    bench.write("baked/1.npz", vec![0; size as usize]);
    let before = bench.all_files("baked");
    assert!(check(&bench, &[], 0).is_empty());
    assert_eq!(baked_again(&bench, &[]), [""; 0]);
    assert_eq!(bench.all_files("baked"), before);
    // A folder in the place of an output is no output.
    fs::remove_file(bench.path("baked/1.npz")).unwrap();
    fs::create_dir(bench.path("baked/1.npz")).unwrap();
    assert_eq!(check(&bench, &[], 1), ["1: missing"]);
}

#[cfg(unix)]
#[test]
fn a_manifest_that_cannot_be_written_is_exit_code_1() {
    let bench = Bench::with_clips();
    std::os::unix::fs::symlink("nowhere/manifest", bench.path("link")).unwrap();
    fs::create_dir(bench.path("baked")).unwrap();
    fs::rename(bench.path("link"), bench.path(MANIFEST)).unwrap();
    let output = bench.bake(&["clips", "-o", "baked"]);
    assert_code(&output, 1);
    assert!(stderr(&output).contains("error: baked/manifest-00000.jsonl: "), "{}", stderr(&output));
}
