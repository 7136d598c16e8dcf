use super::*;

/// Runs a task with some variables of schedulers.
fn task(bench: &Bench, out: &str, shards: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = bench.command(&["clips", "-o", out, "--shard", "auto", "--shards", shards]);
    command.envs(variables.iter().copied()).output().unwrap()
}

/// The clips in a folder of outputs, without extensions.
fn clips(bench: &Bench, out: &str) -> String {
    let names = bench.names(out);
    names.iter().filter_map(|name| name.strip_suffix(".npz")).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_largest_file_goes_to_the_share_with_the_least() {
    let bench = Bench::new();
    // Sizes that differ by their padding: 9000, 7000, 6000, 5000, 5000, 2000.
    for (name, bytes) in [("a", 5000), ("b", 9000), ("c", 2000), ("d", 7000), ("e", 6000), ("f", 5000)] {
        let text = bvh(2, 0.0);
        let padding = "\n".repeat(bytes - text.len());
        bench.write(&format!("clips/{name}.bvh"), text + &padding);
    }
    // b 9000 to 0; d 7000 to 1; e 6000 to 2; a 5000 to 2 (11000); f 5000 to 1 (12000); c 2000 to 0 (11000).
    for (share, expected) in [("0/3", "b c"), ("1/3", "d f"), ("2/3", "a e")] {
        let out = format!("out{}", &share[..1]);
        bench.baked(&["clips", "-o", &out, "--shard", share]);
        assert_eq!(clips(&bench, &out), expected);
    }
    // More shares than files leave some empty.
    for share in ["6/8", "7/8"] {
        bench.baked(&["clips", "-o", "many", "--shard", share]);
    }
    assert_eq!(bench.names("many"), ["shards.json"]);
    for text in ["3/3", "x", "1", "0/0", "-1/2"] {
        assert_refused(&bench.bake(&["clips", "-o", "no", &format!("--shard={text}")]), &["--shard"]);
    }
}

#[test]
fn another_list_or_other_options_stop_a_task() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--shard", "0/2"]);
    let before = bench.all_files("baked");
    let refused = |arguments: &[&str], texts: &[&str]| {
        assert_refused(&bench.bake(&[&["clips", "-o", "baked"], arguments].concat()), texts);
        assert_eq!(bench.all_files("baked"), before);
    };
    refused(&["--shard", "1/2", "--fps", "25"], &["shards.json", "--fps was not given, is 25"]);
    refused(&["--shard", "1/2", "--clip", "rise"], &["--clip was not given, is rise"]);
    refused(&["--shard", "1/3"], &["the number of shares was 2, is 3"]);
    bench.write("clips/new.bvh", bvh(3, 0.0));
    refused(&["--shard", "1/2"], &["the inputs were 6 files of", "are 7 files"]);
    fs::rename(bench.path("clips/new.bvh"), bench.path("new")).unwrap();
    fs::rename(bench.path("clips/0.bvh"), bench.path("clips/00.bvh")).unwrap();
    refused(&["--shard", "1/2"], &["names or sizes among the 6 inputs differ"]);
    fs::rename(bench.path("clips/00.bvh"), bench.path("clips/0.bvh")).unwrap();
    bench.baked(&["clips", "-o", "baked", "--shard", "1/2"]);
    assert_eq!(bench.names("baked").len(), 8);
}

#[test]
fn tasks_that_begin_at_the_same_moment_agree() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "whole"]);
    for round in 0..10 {
        let out = format!("out{round}");
        let start = |share: &str| bench.command(&["clips", "-o", &out, "--shard", share]).spawn().unwrap();
        let tasks = ["0/4", "1/4", "2/4", "3/4"].map(start);
        for mut task in tasks {
            assert_eq!(task.wait().unwrap().code(), Some(0));
        }
        let mut files = bench.files(&out);
        serde_json::from_slice::<Value>(&files.remove("shards.json").unwrap()).unwrap();
        assert_eq!(files, bench.files("whole"));
    }
}

#[test]
fn the_index_of_a_task_is_that_of_its_scheduler() {
    let bench = Bench::with_clips();
    for index in ["0", "1"] {
        bench.baked(&["clips", "-o", index, "--shard", &format!("{index}/2")]);
    }
    for variable in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"]
    {
        for index in ["0", "1"] {
            let out = format!("{variable}{index}");
            assert_code(&task(&bench, &out, "2", &[(variable, index)]), 0);
            assert_eq!(bench.files(&out), bench.files(index));
        }
    }
    // A resubmitted array has another count of tasks, which is not asked for.
    let resubmitted = [("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "1"), ("SLURM_ARRAY_TASK_MIN", "1")];
    assert_code(&task(&bench, "again", "2", &resubmitted), 0);
    assert_eq!(bench.files("again"), bench.files("1"));
    let two = [("SLURM_ARRAY_TASK_ID", "1"), ("JOB_COMPLETION_INDEX", "1")];
    assert_code(&task(&bench, "agreed", "2", &two), 0);
    let differ = [("SLURM_ARRAY_TASK_ID", "1"), ("JOB_COMPLETION_INDEX", "0")];
    assert_refused(&task(&bench, "no", "2", &differ), &["SLURM_ARRAY_TASK_ID is 1, but JOB_COMPLETION_INDEX is 0"]);
    assert_refused(&task(&bench, "no", "2", &[("SLURM_ARRAY_TASK_ID", "2")]), &["the 2 shares are counted from 0"]);
    assert_refused(&task(&bench, "no", "2", &[("SLURM_ARRAY_TASK_ID", "two")]), &["expected a whole number"]);
    assert_refused(&task(&bench, "no", "2", &[]), &["none of SLURM_ARRAY_TASK_ID"]);
    let mut command = bench.command(&["clips", "-o", "no", "--shard", "auto"]);
    let output = command.env("SLURM_ARRAY_TASK_ID", "0").env("SLURM_ARRAY_TASK_COUNT", "2").output().unwrap();
    assert_refused(&output, &["needs --shards"]);
    assert!(!bench.path("no").exists());
}

#[test]
fn a_failure_of_a_share_has_a_file_of_its_own() {
    let bench = Bench::with_clips();
    bench.write("clips/bad.bvh", "");
    let codes: Vec<_> = (0..3)
        .map(|index| bench.bake(&["clips", "-o", "baked", "--shard", &format!("{index}/3")]).status.code().unwrap())
        .collect();
    assert_eq!(codes.iter().filter(|code| **code == 2).count(), 1, "{codes:?}");
    let index = codes.iter().position(|code| *code == 2).unwrap();
    assert!(bench.path(&format!("baked/failed-{index:05}.jsonl")).exists());
    assert_eq!(bench.names("baked").len(), 9);
}

#[test]
fn threads_are_limited_to_those_of_the_task() {
    // The variable may hold anything: posse never fails for it.
    let bench = Bench::with_clips();
    for cores in ["1", "0", "many", ""] {
        let mut command = bench.command(&["clips", "-o", &format!("out{cores}")]);
        assert_code(&command.env("SLURM_CPUS_PER_TASK", cores).output().unwrap(), 0);
    }
}
