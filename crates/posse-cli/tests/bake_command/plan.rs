use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::crowds::crowd;
use super::resume::Moments;
use super::*;

const PLAN: &str = "baked/plan.jsonl";

/// Bakes a share of the plan of `baked`.
fn bake_share(bench: &Bench, share: &str, arguments: &[&str]) -> Output {
    bench.bake(&[&["-o", "baked", "--plan", PLAN, "--shard", share], arguments].concat())
}

/// Bakes all shares of a count with a plan into `baked`, and without one into `dealt`, and compares the folders.
#[track_caller]
fn assert_same_with_and_without_plan(bench: &Bench, shares: u32, codes: &[i32], arguments: &[&str]) {
    let count = shares.to_string();
    bench.baked(&[&["clips", "-o", "baked", "--plan", &count], arguments].concat());
    assert_eq!(bench.names("baked"), ["plan.jsonl", "shards.json"]);
    for (index, code) in codes.iter().enumerate() {
        let share = format!("{index}/{count}");
        let dealt = bench.bake(&[&["clips", "-o", "dealt", "--shard", &share], arguments].concat());
        assert_code(&dealt, *code);
        assert_code(&bake_share(bench, &share, arguments), *code);
    }
    let mut planned = bench.files("baked");
    planned.remove("plan.jsonl").unwrap();
    assert_eq!(planned.keys().collect::<Vec<_>>(), bench.files("dealt").keys().collect::<Vec<_>>());
    assert!(planned == bench.files("dealt"));
}

#[test]
fn shares_of_a_plan_have_the_bytes_of_shares_without_one() {
    let bench = Bench::with_clips();
    // Without a byte, the bad file is dealt last: to the third share, which has the least by then.
    bench.write("clips/bad.bvh", "");
    let plan = bench.bake(&["clips", "-o", "baked", "--plan", "3"]);
    assert_code(&plan, 0);
    assert!(stderr(&plan).contains("baked/plan.jsonl: 3 shares of 7 files, "), "{}", stderr(&plan));
    let head = json_lines(&fs::read(bench.path(PLAN)).unwrap()).remove(0);
    let shares = head["shares"].as_array().unwrap();
    let sum = |field: &str| shares.iter().map(|share| share[field].as_u64().unwrap()).sum::<u64>();
    let size = |file: fs::DirEntry| file.metadata().unwrap().len();
    let listed: u64 =
        fs::read_dir(bench.path("clips")).unwrap().map(|file| file.unwrap()).filter(is_file).map(size).sum();
    let lift = fs::metadata(bench.path("clips/more/lift.gltf")).unwrap().len();
    assert_eq!([shares.len() as u64, sum("files"), sum("bytes")], [3, 7, listed + lift]);
    let bad = shares.iter().enumerate().min_by_key(|(_, share)| share["bytes"].as_u64()).unwrap().0;
    let codes: Vec<i32> = (0..3).map(|share| if share == bad { 2 } else { 0 }).collect();
    assert_same_with_and_without_plan(&bench, 3, &codes, &[]);
    // A plan without shares is baked by one command, whose outputs equal the outputs of the shares.
    let check = ["--check", "baked", "--plan", PLAN];
    assert_code(&bench.bake(&check), 1);
    assert_code(&bench.bake(&[check.as_slice(), &["--allow-failed"]].concat()), 0);
    assert_code(&bench.bake(&[check.as_slice(), &["--allow-failed", "--shard", "1/3"]].concat()), 0);
    assert_refused(&bench.bake(&["-o", "whole", "--plan", PLAN]), &["7 of 8 clips", "1 bad input"]);
    let outputs = |folder| {
        let mut files = bench.files(folder);
        files.retain(|name, _| name.ends_with(".npz"));
        files
    };
    assert!(outputs("whole") == outputs("baked") && outputs("whole").len() == 7);
}

fn is_file(entry: &fs::DirEntry) -> bool {
    entry.file_type().unwrap().is_file()
}

#[test]
fn pieces_mirror_images_and_bad_rows_go_through_a_plan() {
    let bench = Bench::with_clips();
    bench.write("cuts.csv", "0,1,5\n2,10,20,turn\nnowhere,1,2\nlift#rise,0,1,up\n");
    // The row without an input belongs to the first share.
    assert_same_with_and_without_plan(&bench, 2, &[2, 0], &["--cuts", "cuts.csv", "--mirror", "--fps", "30"]);
    let names = bench.names("baked");
    let expected =
        ["0@1-5", "0@1-5_mirror", "turn", "turn_mirror", "up", "up_mirror"].map(|name| format!("{name}.npz"));
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_share_of_a_plan_without_clips_has_the_columns_of_others() {
    let bench = Bench::with_clips();
    assert_same_with_and_without_plan(&bench, 8, &[0; 8], &["--format", "parquet"]);
}

#[test]
fn a_task_of_a_plan_bakes_what_the_plan_lists() {
    let bench = Bench::with_clips();
    bench.write("clips/bad.gltf", "{");
    bench.baked(&["clips", "-o", "baked", "--plan", "1"]);
    // A file that is new is not in the plan. One that could not be listed, and one that has changed, are listed again.
    bench.write("clips/new.bvh", bvh(3, 0.0));
    assert_refused(&bake_share(&bench, "0/1", &[]), &["clips/bad.gltf", "1 bad input,"]);
    assert!(!bench.path("baked/new.npz").exists());
    bench.write("clips/bad.gltf", gltf(&[Some("a"), Some("b")]));
    bench.write("clips/more/lift.gltf", gltf(&[Some("rise"), Some("fall"), Some("rest")]));
    assert_code(&bake_share(&bench, "0/1", &["--resume"]), 0);
    for name in ["bad#a", "bad#b", "more/lift#rest"] {
        assert!(bench.path(&format!("baked/{name}.npz")).exists(), "{name}");
    }
    assert!(!bench.path("baked/new.npz").exists() && !bench.path("baked/failed-00000.jsonl").exists());
    // The tasks of another deal are stopped, and a new plan deals anew.
    let other = bench.bake(&["clips", "-o", "baked", "--shard", "0/2"]);
    assert_refused(&other, &["shards.json", "the number of shares was 1, is 2"]);
    bench.baked(&["clips", "-o", "baked", "--plan", "2"]);
    for share in ["0/2", "1/2"] {
        assert_code(&bake_share(&bench, share, &["--resume"]), 0);
    }
    assert!(bench.path("baked/new.npz").exists());
}

#[test]
fn a_new_plan_removes_the_failures_of_an_earlier_one() {
    let bench = Bench::with_clips();
    bench.write("clips/bad.bvh", "");
    bench.baked(&["clips", "-o", "baked", "--plan", "3"]);
    let bad = (0..3).filter(|share| !bake_share(&bench, &format!("{share}/3"), &[]).status.success()).count();
    let failures = || bench.names("baked").into_iter().filter(|name| name.starts_with("failed-")).count();
    assert_eq!((bad, failures()), (1, 1));
    // The share that had the bad file may not be one of the new plan.
    bench.write("clips/bad.bvh", bvh(3, 0.0));
    bench.baked(&["clips", "-o", "baked", "--plan", "1"]);
    assert_eq!(failures(), 0);
    assert_code(&bench.bake(&["--check", "baked", "--plan", PLAN, "--allow-failed"]), 1);
    assert_code(&bake_share(&bench, "0/1", &["--resume"]), 0);
    assert_code(&bench.bake(&["--check", "baked", "--plan", PLAN]), 0);
}

#[test]
fn crowd_files_of_one_name_stay_bad_inputs_in_a_plan() {
    let bench = crowd();
    for name in ["four.json", "rigs/lift.gltf", "rigs/keys.bin"] {
        bench.write(&format!("other/{name}"), fs::read(bench.path(name)).unwrap());
    }
    bench.baked(&["four.json", "other/four.json", "-o", "baked", "--plan", "2"]);
    for share in ["0/2", "1/2"] {
        let output = bake_share(&bench, share, &[]);
        assert_refused(&output, &["both have a clip of the name four,", "1 bad input,"]);
    }
    let names = bench.names("baked");
    assert_eq!(names, ["failed-00000.jsonl", "failed-00001.jsonl", "plan.jsonl", "shards.json"]);
}

#[test]
fn a_new_clip_of_a_changed_file_takes_no_output_of_another_share() {
    let bench = Bench::new();
    let [before, after] = [["x", "y"], ["x", "z"]].map(|names| gltf(&names.map(Some)));
    assert_eq!(before.len(), after.len(), "the size does not tell");
    bench.write("clips/a.gltf", before);
    bench.write("clips/a#z.bvh", bvh(3, 0.0));
    bench.baked(&["clips", "-o", "baked", "--plan", "2"]);
    bench.write("clips/a.gltf", after);
    // Some file systems count time in seconds.
    let file = fs::File::options().write(true).open(bench.path("clips/a.gltf")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
    let outputs = ["0/2", "1/2"].map(|share| bake_share(&bench, share, &[]));
    let (bad, good): (Vec<&Output>, Vec<&Output>) = outputs.iter().partition(|output| !output.status.success());
    assert_eq!((bad.len(), good.len()), (1, 1));
    assert_refused(bad[0], &["clips/a.gltf and clips/a#z.bvh both have a clip of the name a#z", "1 bad input,"]);
    let mut files = bench.files("baked");
    files.retain(|name, _| name.ends_with(".npz"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a#x.npz", "a#z.npz"]);
    bench.baked(&["clips/a#z.bvh", "-o", "alone"]);
    assert!(files["a#z.npz"] == bench.files("alone")["a#z.npz"]);
}

#[test]
fn pieces_of_several_clips_need_the_file_of_the_plan() {
    let bench = Bench::with_clips();
    bench.write("cuts.csv", "2,10,20,turn\nlift#rise,0,1,up\n");
    let cuts = ["--cuts", "cuts.csv"];
    bench.baked(&[&["clips", "-o", "baked", "--plan", "1"], &cuts[..]].concat());
    // The only clip of a file is known by its index, the clips of lift.gltf are not.
    bench.write("clips/2.bvh", bvh(130, 2.0));
    bench.write("clips/more/lift.gltf", gltf(&[Some("falling"), Some("rise")]));
    let reason = "clips/more/lift.gltf: it has changed since its pieces were listed; write the plan again";
    assert_refused(&bake_share(&bench, "0/1", &cuts), &[reason, "1 bad input,"]);
    assert!(bench.path("baked/turn.npz").exists() && !bench.path("baked/up.npz").exists());
}

#[test]
fn a_plan_with_other_clips_than_its_files_is_damaged() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--plan", "1"]);
    let text = fs::read_to_string(bench.path(PLAN)).unwrap();
    for (from, to, file) in [
        ("\"name\":\"0\"", "\"name\":\"../0\"", "clips/0.bvh"),
        ("\"name\":\"0\"", "\"name\":\"/tmp/0\"", "clips/0.bvh"),
        ("\"below\":\"0.bvh\"", "\"below\":\"../0.bvh\"", "clips/0.bvh"),
        ("\"index\":1", "\"index\":2", "clips/more/lift.gltf"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}: {text}");
        bench.write(PLAN, text.replace(from, to));
        let damaged = format!("the plan is damaged: {file} has no such clips");
        assert_refused(&bake_share(&bench, "0/1", &[]), &[PLAN, &damaged]);
    }
    assert_eq!(bench.names("baked"), ["plan.jsonl", "shards.json"]);
}

#[test]
fn a_plan_is_for_its_own_options_and_shares() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--plan", "3"]);
    let refused = |arguments: &[&str], texts: &[&str]| assert_refused(&bench.bake(arguments), texts);
    let task = ["-o", "baked", "--plan", PLAN];
    refused(&[&task[..], &["--shard", "0/3", "--fps", "25"]].concat(), &[PLAN, "--fps was not given, is 25"]);
    refused(&[&task[..], &["--shard", "0/2"]].concat(), &["the plan has 3 shares, not 2"]);
    refused(&[&task[..], &["--shard", "auto", "--shards", "4"]].concat(), &["the plan has 3 shares, not 4"]);
    refused(&[&task[..], &["clips"]].concat(), &["--plan FILE has the inputs", "leave out INPUT"]);
    refused(&["-o", "baked", "--plan", "3"], &["give at least one INPUT"]);
    refused(&["clips", "-o", "baked", "--plan", "3", "--shard", "0/3"], &["leave out --check and --shard"]);
    for count in ["0", "100001"] {
        refused(&["clips", "-o", "baked", "--plan", count], &["expected 1 to 100000 shares"]);
    }
    // The plan gives the number of shares.
    let mut auto = bench.command(&[&task[..], &["--shard", "auto"]].concat());
    assert_code(&auto.env("SLURM_ARRAY_TASK_ID", "2").output().unwrap(), 0);
    assert!(bench.path("baked/manifest-00002.jsonl").exists());
    // A plan that has lost its end, or a file that is none.
    let text = fs::read_to_string(bench.path(PLAN)).unwrap();
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for (cut, reason) in [(&text[..last], "files; write it again"), (&text[..text.len() - 9], "the plan is damaged: ")]
    {
        bench.write(PLAN, cut);
        refused(&[&task[..], &["--shard", "2/3"]].concat(), &[PLAN, reason]);
    }
    for text in ["", "{}", "no plan\n"] {
        bench.write(PLAN, text);
        refused(&task, &["line 1", "expected a plan of posse bake --plan N"]);
    }
    refused(&["-o", "baked", "--plan", "nowhere"], &["nowhere"]);
}

#[test]
fn killed_tasks_of_a_plan_that_are_resumed_have_the_bytes_of_one_run() {
    let bench = Bench::new();
    for index in 0..12 {
        bench.write(&format!("clips/{}/{index}.bvh", index % 3), bvh(400 + 150 * index, index as f64));
    }
    let arrays = ["--arrays", "pos,quat,linvel,angvel", "--threads", "1"];
    let started = Instant::now();
    bench.baked(&[&["clips", "-o", "whole"], arrays.as_slice()].concat());
    let (expected, full) = (bench.files("whole"), started.elapsed().as_secs_f64());
    let (mut moments, mut killed) = (Moments(51), 0);
    for _ in 0..4 {
        bench.baked(&[&["clips", "-o", "baked", "--plan", "2"], arrays.as_slice()].concat());
        let task = |share: &'static str| {
            [&["-o", "baked", "--plan", PLAN, "--shard", share, "--resume"], arrays.as_slice()].concat()
        };
        let start = |share| bench.command(&task(share)).stderr(Stdio::null()).spawn().unwrap();
        for mut running in ["0/2", "1/2"].map(start) {
            // A share takes about half of the whole run.
            sleep(Duration::from_secs_f64(full / 2.0 * moments.next()));
            running.kill().unwrap();
            killed += usize::from(!running.wait().unwrap().success());
        }
        for share in ["0/2", "1/2"] {
            assert_code(&bench.bake(&task(share)), 0);
        }
        let mut files = bench.files("baked");
        assert!(files.remove("plan.jsonl").is_some() && files.remove("shards.json").is_some());
        assert!(files == expected, "{:?}", bench.names("baked"));
        assert_code(&bench.bake(&[&["--check", "baked", "--plan", PLAN], arrays.as_slice()].concat()), 0);
        fs::remove_dir_all(bench.path("baked")).unwrap();
    }
    assert!(killed > 1, "{killed} of 8 tasks were killed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_a_failure_of_its_share() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::with_clips();
    let name = std::ffi::OsStr::from_bytes(b"clips/caf\xe9.bvh");
    fs::write(bench.folder.path().join(name), bvh(3, 0.0)).unwrap();
    bench.baked(&["clips", "-o", "baked", "--plan", "1"]);
    assert_refused(&bake_share(&bench, "0/1", &[]), &["caf\u{fffd}.bvh: its path is not UTF-8", "1 bad input,"]);
    assert_eq!(bench.names("baked").len(), 7 + 3, "with plan, shares and failures");
}
