use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::*;

/// The statuses of the clips of a run with `--json`, by clip.
fn statuses(bench: &Bench, arguments: &[&str]) -> BTreeMap<String, String> {
    let output = bench.bake(&[&["clips", "-o", "baked", "--resume", "--json"], arguments].concat());
    assert_code(&output, 0);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    json_lines(&output.stdout).iter().map(|line| (text(&line["clip"]), text(&line["status"]))).collect()
}

/// The clips that a run with `--resume` makes anew.
pub fn baked_again(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let statuses = statuses(bench, arguments).into_iter();
    statuses.filter(|(_, status)| status == "baked").map(|(clip, _)| clip).collect()
}

/// The lines of `--check`.
#[track_caller]
pub fn check(bench: &Bench, arguments: &[&str], code: i32) -> Vec<String> {
    let output = bench.bake(&[&["--check", "baked", "clips"], arguments].concat());
    assert_code(&output, code);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn outputs_of_the_same_source_options_and_version_are_kept() {
    let bench = Bench::with_clips();
    bench.write("clips/side.gltf", gltf_of(&[None], "keys.bin"));
    let keys = |x: f32| [0.0, 1.0, 0.0, 0.0, 0.0, x, 0.0, 0.0].map(f32::to_le_bytes).concat();
    bench.write("clips/keys.bin", keys(10.0));
    assert_eq!(baked_again(&bench, &[]).len(), 8);
    let before = bench.files("baked");
    assert_eq!(baked_again(&bench, &[]), [""; 0]);
    assert!(check(&bench, &[], 0).is_empty());
    // Another source, another buffer beside a source, a missing output, a broken one.
    bench.write("clips/3.bvh", bvh(60, 0.25));
    bench.write("clips/keys.bin", keys(11.0));
    fs::remove_file(bench.path("baked/1.npz")).unwrap();
    bench.write("baked/2.npz", "PK");
    let lines = check(&bench, &[], 1);
    assert_eq!(lines.len(), 4, "{lines:?}");
    let starts =
        ["1: missing", "2: damaged: it has 2 bytes", "3: made from another file", "side: made from another file"];
    assert!(lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{lines:?}");
    assert_eq!(baked_again(&bench, &[]), ["1", "2", "3", "side"]);
    assert!(check(&bench, &[], 0).is_empty());
    let after = bench.files("baked");
    let same = |name: &str| before[name] == after[name];
    assert!(same("0.npz") && same("1.npz") && same("2.npz") && !same("3.npz") && !same("side.npz"));
    // Other options make everything anew.
    let lines = check(&bench, &["--fps", "30"], 1);
    assert!(lines.len() == 8 && lines[0] == "0: made with other options: --fps was not given, is 30", "{lines:?}");
    assert_eq!(baked_again(&bench, &["--fps", "30"]).len(), 8);
    // Without --resume, nothing is kept.
    let output = bench.bake(&["clips", "-o", "baked", "--fps", "30", "--json"]);
    assert!(json_lines(&output.stdout).iter().all(|line| line["status"] == "baked"));
}

#[test]
fn a_rig_with_other_content_is_another_option() {
    let bench = Bench::new();
    bench.write("clips/lift.gltf", gltf(&[None]));
    bench.write("rig.gltf", gltf(&[]));
    assert_eq!(baked_again(&bench, &["--rig", "rig.gltf"]), ["lift"]);
    assert_eq!(baked_again(&bench, &["--rig", "./rig.gltf"]), [""; 0]);
    bench.write("rig.gltf", gltf(&[]).replace("[0,2,0]", "[0,3,0]"));
    assert_eq!(baked_again(&bench, &["--rig", "rig.gltf"]), ["lift"]);
}

#[test]
fn a_check_lists_files_that_cannot_be_read_and_other_shares_are_not_missing() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--shard", "0/2"]);
    assert!(check(&bench, &["--shard", "0/2"], 0).is_empty());
    let missing = check(&bench, &[], 1);
    assert_eq!(check(&bench, &["--shard", "1/2"], 1), missing);
    bench.write("clips/broken.gltf", "{");
    let lines = check(&bench, &[], 1);
    assert_eq!(lines.len(), missing.len() + 1);
    let line = lines.iter().find(|line| line.starts_with("clips/broken.gltf: ")).unwrap();
    assert_eq!(line.matches("broken.gltf").count(), 1, "{line}");
    let output = bench.bake(&["--check", "baked", "clips", "--json"]);
    assert!(json_lines(&output.stdout).iter().all(|line| line["status"] == "missing"));
    assert_code(&bench.bake(&["--check", "nowhere", "clips"]), 1);
    assert!(!bench.path("nowhere").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn a_part_is_kept_or_made_anew_as_a_whole() {
    let bench = Bench::with_clips();
    let parquet = ["--format", "parquet"];
    assert_eq!(baked_again(&bench, &parquet).len(), 7);
    let before = bench.files("baked");
    assert!(before.keys().all(|name| name.starts_with("part-00000-of-00001") && name.ends_with(".parquet")));
    assert_eq!(baked_again(&bench, &parquet), [""; 0]);
    assert!(check(&bench, &parquet, 0).is_empty());
    // A line per file: for the BVH files, and for the other rig.
    let lines = manifest_lines(&bench, "baked/manifest-00000.jsonl");
    let clips = |line: &Value| line["clips"].as_array().unwrap().len();
    assert_eq!(lines.iter().map(clips).collect::<Vec<_>>(), [5, 2]);
    // Of two files of a share, a missing one makes both anew.
    fs::remove_file(bench.path("baked/part-00000-of-00001-01.parquet")).unwrap();
    assert_eq!(check(&bench, &parquet, 1), ["more/lift#rise: missing", "more/lift#fall: missing"]);
    assert_eq!(baked_again(&bench, &parquet).len(), 7);
    assert!(bench.files("baked") == before);
    bench.write("clips/3.bvh", bvh(60, 0.25));
    let lines = check(&bench, &parquet, 1);
    assert!(lines.len() == 1 && lines[0].starts_with("3: made from another file"), "{lines:?}");
    assert_eq!(baked_again(&bench, &parquet).len(), 7);
    assert!(bench.files("baked") != before);
    // Without a manifest, nothing is known of the files.
    fs::remove_file(bench.path("baked/manifest-00000.jsonl")).unwrap();
    let lines = check(&bench, &parquet, 1);
    assert!(lines.len() == 7 && lines.iter().all(|line| line.contains(": missing; part-00000-of-00001")), "{lines:?}");
    assert_eq!(baked_again(&bench, &parquet).len(), 7);
    // A clip that is gone from the inputs goes from the part.
    fs::remove_file(bench.path("clips/3.bvh")).unwrap();
    assert_eq!(baked_again(&bench, &parquet).len(), 6);
    assert!(check(&bench, &parquet, 0).is_empty());
}

#[test]
fn dead_drafts_of_the_share_are_removed() {
    let bench = Bench::with_clips();
    let hours_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    let draft = |name: &str, is_old: bool| {
        bench.write(&format!("baked/{name}"), "draft");
        if is_old {
            let file = fs::File::options().write(true).open(bench.path(&format!("baked/{name}"))).unwrap();
            file.set_modified(hours_ago).unwrap();
        }
    };
    draft(".bake-all-1-0-elsewhere.part", false);
    draft(".bake-all-1-1-elsewhere.part", true);
    draft("more/.bake-all-1-2-elsewhere.part", true);
    draft(".bake-00001-1-0-elsewhere.part", true);
    draft("other.part", true);
    bench.baked(&["clips", "-o", "baked"]);
    let rest: Vec<_> = bench.names("baked").into_iter().filter(|name| !name.ends_with(".npz")).collect();
    assert_eq!(rest, [".bake-00001-1-0-elsewhere.part", ".bake-all-1-0-elsewhere.part", "other.part"]);
    bench.baked(&["clips", "-o", "baked", "--shard", "1/2"]);
    assert!(!bench.names("baked").contains(&".bake-00001-1-0-elsewhere.part".to_owned()));
}

/// Numbers that look random, the same in each run.
pub struct Moments(pub u64);

impl Moments {
    /// The next number from 0 to 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

#[test]
fn a_killed_run_that_is_resumed_has_the_bytes_of_one_that_was_not() {
    let bench = Bench::new();
    for index in 0..12 {
        bench.write(&format!("clips/{}/{index}.bvh", index % 3), bvh(400 + 150 * index, index as f64));
    }
    bench.write("clips/two.gltf", gltf(&[Some("a"), Some("b")]));
    let arguments = ["clips", "-o", "whole", "--arrays", "pos,quat,linvel,angvel", "--threads", "2"];
    let started = Instant::now();
    bench.baked(&arguments);
    let (expected, mut full) = (bench.files("whole"), started.elapsed().as_secs_f64());
    let rounds = if long_tests_run("a bake that is killed at 100 moments, not 12") { 100 } else { 12 };
    let (mut moments, mut killed, mut with_drafts, mut partial) = (Moments(14), 0, 0, 0);
    for round in 0..rounds {
        let out = format!("out{round}");
        let mut arguments = arguments;
        arguments[2] = &out;
        let mut command = bench.command(&arguments);
        let mut task = command.stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_secs_f64(full * moments.next()));
        task.kill().unwrap();
        if task.wait().unwrap().success() {
            // This run ended first, so that later moments are earlier: other tests may have made the whole run slow.
            full *= 0.75;
        } else {
            killed += 1;
        }
        let left = bench.files(&out);
        let is_draft = |name: &String| name.contains(".bake-");
        with_drafts += usize::from(left.keys().any(is_draft));
        partial += usize::from(!left.is_empty() && left.len() < expected.len());
        // All that has its name is complete.
        assert!(left.iter().filter(|(name, _)| !is_draft(name)).all(|(name, bytes)| expected[name] == *bytes));
        let output = bench.bake(&[&arguments, ["--resume"].as_slice()].concat());
        assert_code(&output, 0);
        assert!(bench.files(&out) == expected, "{:?}", bench.names(&out));
        // Whatever moment the kill came at, the manifest now lists all outputs.
        assert_code(&bench.bake(&["--check", &out, "clips", "--arrays", arguments[4]]), 0);
        fs::remove_dir_all(bench.path(&out)).unwrap();
    }
    assert!(
        killed > rounds / 2 && partial > rounds / 4,
        "{killed} killed, {with_drafts} with drafts, {partial} in part"
    );
}
