//! The commands that need no file: `posse demo` and `posse bench`, on every engine.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::gltf_builder::something_of_everything;

fn posse(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_posse")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn the_demo_reports_engine_speed_and_correctness() {
    for engine in ["auto", "cpu", "gpu", "reference"] {
        let output = posse(&["demo", "--instances", "50", "--engine", engine]);
        let text = String::from_utf8(output.stdout).unwrap();
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        if engine != "auto" {
            assert!(line("engine").contains(engine), "{text}");
        }
        assert!(line("crowd").contains("50 instances, 3200 joints"), "{text}");
        assert!(line("throughput").contains("million joints per second"), "{text}");
        let check = if engine == "reference" { "none" } else { "within the contract" };
        assert!(line("cross-check").contains(check), "{text}");
    }
}

/// The lines of the last part of the demo's text, up to their comments.
fn next_commands(mut command: Command) -> Vec<String> {
    let output = command.args(["demo", "--instances", "2", "--engine", "reference"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, next) = text.split_once("\nnext").unwrap();
    next.lines().skip(1).map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn each_command_that_the_demo_suggests_runs_as_it_stands() {
    let folder = TempDir::new().unwrap();
    let program = "my tools/posse";
    fs::create_dir(folder.path().join("my tools")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_posse"), folder.path().join(program)).unwrap();
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).args(["-c", r#"exec "$0" "$@""#, program]);
    let next = next_commands(shell);
    assert_eq!(next.len(), 4, "{next:?}");
    for line in next {
        assert!(line.starts_with("'my tools/posse' "), "{line}");
        let output = Command::new("sh").current_dir(folder.path()).args(["-c", &line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(folder.path().join("picture.png").is_file());
}

#[test]
fn under_cargo_run_the_demo_suggests_cargo_run() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
    command.env("CARGO_PKG_NAME", "posse-cli").env("CARGO_MANIFEST_DIR", package);
    command.current_dir(package.ancestors().nth(2).unwrap());
    // A build with other features, or in another profile, is called by its path.
    let program = Path::new(env!("CARGO_BIN_EXE_posse"));
    let is_default = cfg!(all(feature = "fbx", not(feature = "parquet"), not(feature = "view")));
    let start = match program.parent().and_then(|folder| folder.file_name()?.to_str()) {
        Some("debug") if is_default => "cargo run --".into(),
        Some("release") if is_default => "cargo run --release --".into(),
        _ => program.display().to_string(),
    };
    let expected = format!("{start} render demo -o picture.png");
    let next = next_commands(command);
    assert!(next.contains(&expected), "{next:?}");
}

#[test]
fn a_benchmark_checks_every_case_that_it_times() {
    let arguments = ["bench", "--json", "--instances", "1,70", "--joints", "5,70", "--seconds", "0"];
    let report: Value = serde_json::from_slice(&posse(&arguments).stdout).unwrap();
    for kernel in ["write", "strided_write", "read", "copy"] {
        assert!(report[format!("{kernel}_bandwidth_bytes_per_second")].as_f64().unwrap() > 0.0, "{kernel}");
    }
    assert_names_the_gpu(&report);
    for (engine, steps) in [("gpu", "device pack pipelines"), ("cpu", "pack"), ("reference", "")] {
        let start_up = report["start_up_ms"][engine].as_object().unwrap();
        let names: Vec<&str> = start_up.keys().map(String::as_str).collect();
        assert_eq!(
            names.join(" ").replace("  ", " "),
            format!("program load {steps} first_pose total").replace("  ", " ")
        );
        let sum: f64 =
            start_up.iter().filter(|(name, _)| *name != "total").map(|(_, time)| time.as_f64().unwrap()).sum();
        assert!((start_up["total"].as_f64().unwrap() - sum).abs() <= 1e-9 * sum && sum > 0.0, "{start_up:?}");
    }
    let cases = report["cases"].as_array().unwrap();
    for engine in ["gpu", "cpu", "reference"] {
        let of_engine: Vec<&Value> = cases.iter().filter(|case| case["engine"] == engine).collect();
        assert_eq!(of_engine.len(), 4, "instances times joints");
        for case in of_engine {
            assert!(case["joints_per_second"].as_f64().unwrap() > 0.0, "{case}");
            let [low, median, high] = ["p5", "median", "p95"].map(|part| case["wall_ms"][part].as_f64().unwrap());
            assert!(0.0 < low && low <= median && median <= high, "{case}");
            assert_eq!(case["within_contract"].as_bool(), (engine != "reference").then_some(true), "{case}");
            let joints = case["joints_posed"].as_u64().unwrap();
            // The reference poses at most 64 instances of a case.
            let posed = case["instances"].as_u64().unwrap().min(if engine == "reference" { 64 } else { u64::MAX });
            assert_eq!(joints, posed * case["joints"].as_u64().unwrap(), "{case}");
            assert_eq!(case["bytes_written"].as_u64(), (engine != "reference").then_some(48 * joints), "{case}");
            for figure in ["bandwidth_share", "strided_bandwidth_share"] {
                assert_eq!(case[figure].is_f64(), engine == "gpu", "{case}");
            }
            assert_eq!((&case["scales"], &case["key_angle"]), (&json!("uneven"), &Value::Null));
            assert_has_gpu_times(case);
            assert!(["table", "baseline_ratio"].iter().all(|name| case.get(name).is_none()), "{case}");
        }
    }
}

/// Asserts that a run has the identity of its GPU, and the source of its clocks or the reason for which there is none.
fn assert_names_the_gpu(report: &Value) {
    let gpu = &report["gpu"];
    let case = report["cases"].as_array().unwrap().iter().find(|case| case["engine"] == "gpu").unwrap();
    let adapter = case["adapter"].as_str().unwrap();
    for part in ["name", "driver", "driver_info"] {
        assert!(adapter.contains(gpu[part].as_str().unwrap()), "{part} of {gpu}");
    }
    assert!(gpu["vendor"].as_u64().unwrap() > 0 && gpu["device"].is_u64(), "{gpu}");
    assert!(gpu["state_from"].is_string() != gpu["state_missing"].is_string(), "{gpu}");
    if adapter.contains("llvmpipe") {
        assert_eq!(gpu["state_missing"], "a software renderer has no clocks of its own");
    }
}

/// Asserts that a case of the GPU has the times of frames in one submission and of each pass, and that others have none.
fn assert_has_gpu_times(case: &Value) {
    // An adapter without a clock has none of these times, either.
    if case["engine"] != "gpu" || case["gpu_ms"].is_null() {
        assert!(["gpu_back_to_back_ms", "gpu_pass_ms"].iter().all(|times| case[times].is_null()), "{case}");
        return;
    }
    let passes = case["gpu_pass_ms"].as_object().unwrap();
    assert_eq!(passes.keys().collect::<Vec<_>>(), ["play_layers", "pose"]);
    for times in passes.values().chain([&case["gpu_ms"], &case["gpu_back_to_back_ms"]]) {
        let part = |name: &str| times[name].as_f64().unwrap();
        let parts = ["p5", "median", "p95", "p99"].map(part);
        assert!(parts[0] >= 0.0 && parts.is_sorted() && times["frames"].as_u64().unwrap() >= 5, "{case}");
    }
    let kernels: Vec<&str> = case["kernels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(matches!(kernels[..], [name] if name.starts_with("pose")), "{kernels:?}");
}

#[test]
fn a_benchmark_measures_uneven_and_uniform_scales_and_keys_that_are_far_apart() {
    let sizes = ["bench", "--instances", "3", "--joints", "5,6", "--seconds", "0", "--engine", "cpu,gpu"];
    let run = |more: &[&str]| -> Value {
        serde_json::from_slice(&posse(&[&sizes[..], &["--json"], more].concat()).stdout).unwrap()
    };
    let report = run(&["--scales", "uneven,uniform", "--skin-format", "matrix,dual-quaternion", "--key-angle", "60"]);
    let cases = report["cases"].as_array().unwrap();
    let found: Vec<_> = cases.iter().map(|case| (&case["joints"], &case["scales"], &case["skin_format"])).collect();
    let of_rig = |joints: u32| {
        let pairs = [("uneven", "matrix"), ("uniform", "matrix"), ("uniform", "dual-quaternion")];
        pairs.map(|(scales, format)| (json!(joints), json!(scales), json!(format)))
    };
    let expected: Vec<_> = [of_rig(5), of_rig(6), of_rig(5), of_rig(6)].concat();
    assert!(
        found.iter().copied().eq(expected.iter().map(|(joints, scales, format)| (joints, scales, format))),
        "{found:?}"
    );
    for case in cases {
        assert_eq!((&case["within_contract"], &case["key_angle"]), (&json!(true), &json!(60)), "{case}");
    }
    // Dual quaternions alone have the scales that they need.
    let report = run(&["--skin-format", "dual-quaternion"]);
    assert!(report["cases"].as_array().unwrap().iter().all(|case| case["scales"] == "uniform"), "{report}");
    for (more, saying) in [
        (&["--scales", "uneven", "--skin-format", "dual-quaternion"][..], "add --scales uniform"),
        (&["--key-angle", "171"], "170"),
        (&["--key-angle", "60", "--crowd", "crowd.json"], "cannot be used with"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_posse")).arg("bench").args(more).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(saying), "{more:?}: {stderr}");
    }
}

#[test]
fn a_benchmark_counts_the_bytes_of_each_skin_format() {
    let formats = ["matrix", "half", "dual-quaternion"];
    let sizes = ["bench", "--instances", "3", "--joints", "5", "--seconds", "0", "--engine", "cpu,gpu"];
    let arguments = [&sizes[..], &["--skin-format", "matrix,half,dual-quaternion"]].concat();
    let report: Value = serde_json::from_slice(&posse(&[&arguments[..], &["--json"]].concat()).stdout).unwrap();
    let cases = report["cases"].as_array().unwrap();
    let found: Vec<_> = cases.iter().map(|case| (&case["skin_format"], &case["bytes_written"])).collect();
    let expected = formats.map(|format| json!(format)).into_iter().zip([720, 360, 360].map(|bytes: u64| json!(bytes)));
    let expected: Vec<_> = expected.collect();
    for engine in found.chunks(3) {
        assert!(engine.iter().copied().eq(expected.iter().map(|(format, bytes)| (format, bytes))), "{report}");
    }
    assert_eq!(found.len(), 6);
    assert!(cases.iter().all(|case| case["within_contract"] == true), "{report}");
    let text = String::from_utf8(posse(&arguments).stdout).unwrap();
    assert!(text.contains("24 as half or dual-quaternion") && text.contains("  dual-quaternion  "), "{text}");
}

/// Runs a benchmark of the CPU engine on one thread, as short as possible.
fn bench(folder: &Path, arguments: &[&str]) -> Output {
    let command = ["bench", "--engine", "cpu", "--threads", "1", "--seconds", "0"];
    Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(folder).args(command).args(arguments).output().unwrap()
}

#[test]
fn an_earlier_run_is_compared_case_by_case() {
    let folder = TempDir::new().unwrap();
    let run = |arguments: &[&str]| -> (Value, String) {
        let output = bench(folder.path(), &[arguments, &["--json"]].concat());
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        (serde_json::from_slice(&output.stdout).unwrap(), notes)
    };
    let mut earlier = run(&["--instances", "1,3", "--joints", "4"]).0;
    assert_eq!(earlier["baseline"], Value::Null);
    // An earlier version did not have these fields.
    for field in ["gpu", "read_bandwidth_bytes_per_second", "strided_write_bandwidth_bytes_per_second"] {
        earlier.as_object_mut().unwrap().remove(field).unwrap();
    }
    let new = "scales key_angle gpu_back_to_back_ms gpu_pass_ms gpu_state kernels strided_bandwidth_share";
    for case in earlier["cases"].as_array_mut().unwrap() {
        new.split(' ').for_each(|field| assert!(case.as_object_mut().unwrap().remove(field).is_some(), "{field}"));
        assert!(case["wall_ms"].as_object_mut().unwrap().remove("p99").is_some());
    }
    earlier["cases"][0]["joints_per_second"] = json!(4e9);
    earlier["cases"][0]["adapter"] = json!("an abacus");
    fs::write(folder.path().join("earlier.json"), earlier.to_string()).unwrap();
    let compared = ["--instances", "1,2", "--joints", "4", "--baseline", "earlier.json"];
    let (now, notes) = run(&compared);
    let [same, other] = [0, 1].map(|index| &now["cases"][index]);
    let expected = same["joints_per_second"].as_f64().unwrap() / 4e9;
    assert!((same["baseline_ratio"].as_f64().unwrap() / expected - 1.0).abs() < 1e-12, "{same}");
    assert_eq!(other["baseline_ratio"], Value::Null);
    let remarks = [
        format!("cpu is {}, in earlier.json it was an abacus", same["adapter"].as_str().unwrap()),
        "not in earlier.json: cpu: 2 instances of 4 joints, layers 1, keys 60, depth 4".into(),
        "only in earlier.json: cpu: 3 instances of 4 joints, layers 1, keys 60, depth 4".into(),
    ];
    assert_eq!(now["baseline"], json!({ "file": "earlier.json", "remarks": remarks }));
    assert!(remarks.iter().all(|remark| notes.contains(&format!("note: {remark}\n"))), "{notes}");

    let output = bench(folder.path(), &compared);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("cpu ") && line.ends_with("  ok")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(text.contains("x baseline") && rows[1].ends_with(" -  ok") && !rows[0].ends_with(" -  ok"), "{text}");
}

#[test]
fn the_cpu_engine_is_timed_with_each_number_of_threads() {
    let arguments =
        ["bench", "--engine", "cpu", "--threads", "1,3", "--instances", "2", "--joints", "4", "--seconds", "0"];
    let text = String::from_utf8(posse(&arguments).stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let headings = rows.iter().position(|row| row.starts_with(&["engine", "threads", "instances"])).expect(&text);
    assert_eq!(rows[headings + 1][..3], ["cpu", "1", "2"], "{text}");
    assert_eq!(rows[headings + 2][..3], ["cpu", "3", "2"], "{text}");
}

/// The largest number of threads seen while a benchmark of the CPU engine runs with `--threads`. It packs enough keys
/// for eight threads, and poses one instance, which uses one thread.
#[cfg(target_os = "linux")]
fn most_threads(threads: &str) -> usize {
    use std::process::Stdio;

    let command = ["bench", "--engine", "cpu", "--threads", threads, "--seconds", "0"];
    let sizes = ["--instances", "1", "--joints", "64", "--keys", "5000"];
    let mut bench = Command::new(env!("CARGO_BIN_EXE_posse"));
    let mut bench = bench.args(command).args(sizes).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let threads = format!("/proc/{}/task", bench.id());
    let mut most = 0;
    loop {
        if let Some(status) = bench.try_wait().unwrap() {
            assert!(status.success());
            return most;
        }
        most = most.max(fs::read_dir(&threads).map_or(0, Iterator::count));
    }
}

/// Threads are counted from outside, many times. Some counts may miss threads that live shortly, but not all. The main
/// thread and one that waits for signals are counted, too.
#[cfg(target_os = "linux")]
#[test]
fn a_benchmark_packs_on_the_requested_number_of_threads() {
    assert!((0..50).any(|_| most_threads("3") > 3), "no second thread was ever counted");
    assert!((0..5).all(|_| most_threads("1") <= 3));
}

#[test]
fn the_same_sizes_of_another_file_are_another_case() {
    let folder = TempDir::new().unwrap();
    for name in ["one.glb", "two.glb"] {
        fs::write(folder.path().join(name), something_of_everything().glb()).unwrap();
    }
    let run = |file: &str, more: &[&str]| -> Value {
        let output = bench(folder.path(), &[&[file, "--instances", "2", "--json"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let earlier = run("one.glb", &[]);
    assert_eq!((&earlier["file"], &earlier["cases"][0]["keys"]), (&json!("one.glb"), &Value::Null));
    fs::write(folder.path().join("earlier.json"), earlier.to_string()).unwrap();
    for (file, found) in [("one.glb", true), ("two.glb", false)] {
        let report = run(file, &["--baseline", "earlier.json"]);
        assert_eq!(report["cases"][0]["baseline_ratio"].is_f64(), found, "{report}");
    }
}

#[test]
fn an_invalid_baseline_is_refused_with_the_path_of_the_error() {
    let folder = TempDir::new().unwrap();
    let output = bench(folder.path(), &["--instances", "1", "--joints", "1", "--json"]);
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run_with_baseline = |change: &dyn Fn(&mut Value)| {
        let mut run = run.clone();
        change(&mut run);
        run.to_string()
    };
    let errors = [
        (String::new(), "earlier.json: JSON: "),
        ("engine instances".into(), "earlier.json: JSON: "),
        ("{}".into(), "earlier.json: format: it is missing"),
        (run_with_baseline(&|run| run["format"] = json!(99)), "earlier.json: format: found version 99, expected 1"),
        (
            run_with_baseline(&|run| drop(run.as_object_mut().unwrap().remove("cases"))),
            "earlier.json: JSON: missing field `cases`",
        ),
        (run_with_baseline(&|run| run["cases"][0]["joints"] = json!("many")), "earlier.json: cases[0].joints: "),
        (
            run_with_baseline(&|run| run["cases"][0]["joints_per_second"] = json!(0)),
            "earlier.json: cases[0].joints_per_second: ",
        ),
    ];
    for (text, place) in errors {
        fs::write(folder.path().join("earlier.json"), &text).unwrap();
        let output = bench(folder.path(), &["--instances", "1", "--baseline", "earlier.json"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {stderr}");
        assert!(stderr.contains("error: ") && stderr.contains(place) && output.stdout.is_empty(), "{text}: {stderr}");
    }
    let output = bench(folder.path(), &["--baseline", "nowhere.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere.json"));
}

#[test]
fn cost_tables_compare_every_step_with_their_base() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--table", "depth,layers,skeletons,clips,additive", "--table-joints", "640", "--json"];
    let output = bench(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cases = report["cases"].as_array().unwrap();
    for (table, size, steps, base) in [
        ("depth", "depth", vec![1, 10, 50, 200, 500], 10),
        ("layers", "layers", vec![1, 2, 4, 8], 1),
        ("skeletons", "skeletons", vec![1, 2, 4, 8, 16], 1),
        ("clips", "clips", vec![1, 10, 50, 100, 200, 500], 1),
        ("additive", "layers", vec![1, 2, 2, 3, 4, 8], 2),
    ] {
        let of_table: Vec<&Value> = cases.iter().filter(|case| case["table"] == table).collect();
        let found: Vec<u64> = of_table.iter().map(|case| case[size].as_u64().unwrap()).collect();
        assert_eq!(found, steps, "{table}");
        // The hand-worked cost per joint at the base.
        let cost = |case: &Value| case["wall_ms"]["median"].as_f64().unwrap() / case["joints_posed"].as_f64().unwrap();
        let at_base = cost(of_table[found.iter().position(|&step| step == base).unwrap()]);
        for case in of_table {
            let relative = case["relative_cost"].as_f64().unwrap();
            assert!((relative * at_base / cost(case) - 1.0).abs() < 1e-9, "{case}");
            assert_eq!(case["within_contract"], true, "{case}");
            assert_eq!(case.get("relative_cost_to_one_layer").is_some(), table == "additive", "{case}");
        }
    }
    let additive: Vec<&Value> = cases.iter().filter(|case| case["table"] == "additive").collect();
    let layers = additive.iter().map(|case| case["additive"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(layers, [0, 0, 1, 1, 3, 7]);
    let to_one = |index: usize| additive[index]["relative_cost_to_one_layer"].as_f64().unwrap();
    let to_two = |index: usize| additive[index]["relative_cost"].as_f64().unwrap();
    assert_eq!((to_one(0), to_two(1)), (1.0, 1.0));
    assert!((to_two(2) * to_one(1) / to_one(2) - 1.0).abs() < 1e-9, "both ratios are of the same times: {report}");
}

/// The bytes are the bytes that `posse inspect` counts for the same file.
#[test]
fn a_benchmark_counts_the_bytes_of_the_library() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("one.glb");
    fs::write(&file, something_of_everything().glb()).unwrap();
    let file = file.to_str().unwrap();
    for compress in [&[][..], &["--compress", "1%"]] {
        let bench = ["bench", file, "--instances", "2", "--seconds", "0", "--engine", "cpu,gpu,reference", "--json"];
        let report: Value = serde_json::from_slice(&posse(&[&bench[..], compress].concat()).stdout).unwrap();
        let counted: Value =
            serde_json::from_slice(&posse(&[&["inspect", file, "--json"], compress].concat()).stdout).unwrap();
        let prefix = if compress.is_empty() { "" } else { "compressed_" };
        let [packed, cpu] = ["packed_bytes", "cpu_bytes"].map(|name| &counted[format!("{prefix}{name}")]);
        let found: Vec<&Value> =
            report["cases"].as_array().unwrap().iter().map(|case| &case["library_bytes"]).collect();
        let [of_cpu, of_gpu, of_reference] = found[..] else { panic!("{report}") };
        assert_eq!([of_cpu, of_reference], [cpu, &Value::Null], "{compress:?}");
        // Compressed keys are longer on a GPU.
        let has_more = of_gpu.as_u64() > packed.as_u64();
        assert!(if compress.is_empty() { of_gpu == packed } else { has_more }, "{of_gpu} for {packed}");
        assert!(cpu.as_u64() > packed.as_u64(), "the CPU engine keeps plans, too");
    }
}

#[test]
fn cases_that_do_not_fit_are_skipped_with_a_note() {
    let folder = TempDir::new().unwrap();
    let output = bench(folder.path(), &["--table", "instances", "--memory", "0.005", "--json"]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{notes}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sizes: Vec<u64> =
        report["cases"].as_array().unwrap().iter().map(|case| case["instances"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1, 10, 100, 1_000]);
    let skipped: Vec<&str> = report["skipped"].as_array().unwrap().iter().map(|why| why.as_str().unwrap()).collect();
    for (size, why) in ["10000 ", "100000 ", "1000000 "].into_iter().zip(&skipped) {
        assert!(why.starts_with(&format!("without {size}instances")) && why.contains("--memory"), "{why}");
        assert!(notes.contains(&format!("note: {why}\n")), "{notes}");
    }
    assert_eq!(skipped.len(), 3);
    // Without the base, no costs are compared.
    assert!(report["cases"].as_array().unwrap().iter().all(|case| case["relative_cost"].is_null()));
}

#[test]
fn impossible_cost_tables_are_refused() {
    let folder = TempDir::new().unwrap();
    for (arguments, saying) in [
        (["--table", "weather"], "possible values"),
        (["--memory", "1"], "--table"),
        (["--table-joints", "640"], "--table"),
    ] {
        let output = bench(folder.path(), &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(saying), "{stderr}");
    }
    for option in ["--instances", "--joints", "--layers", "--keys", "--depth", "--crowd"] {
        let output = bench(folder.path(), &["--table", "keys", option, "3"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be used with"), "{option}");
    }
}
