//! The commands that need no file: `posse demo` and `posse bench`, with every engine.

use std::process::{Command, Output};

use serde_json::Value;

fn posse(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_posse")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn the_demo_says_who_posed_how_fast_and_how_right() {
    for engine in ["auto", "cpu", "gpu", "reference"] {
        let output = posse(&["demo", "--instances", "50", "--engine", engine]);
        let text = String::from_utf8(output.stdout).unwrap();
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        if engine != "auto" {
            assert!(line("engine").contains(engine), "{text}");
        }
        assert!(line("crowd").contains("50 instances, 3200 joints"), "{text}");
        assert!(line("throughput").contains("million joints a second"), "{text}");
        let check = if engine == "reference" { "none" } else { "within the contract" };
        assert!(line("cross-check").contains(check), "{text}");
    }
}

#[test]
fn a_benchmark_checks_every_case_that_it_times() {
    let arguments = ["bench", "--json", "--instances", "1,70", "--joints", "5,70", "--seconds", "0"];
    let report: Value = serde_json::from_slice(&posse(&arguments).stdout).unwrap();
    assert!(report["write_bandwidth_bytes_per_second"].as_f64().unwrap() > 0.0);
    let cases = report["cases"].as_array().unwrap();
    for engine in ["gpu", "cpu", "reference"] {
        let of_engine: Vec<&Value> = cases.iter().filter(|case| case["engine"] == engine).collect();
        assert_eq!(of_engine.len(), 4, "instances times joints");
        for case in of_engine {
            assert!(case["joints_per_second"].as_f64().unwrap() > 0.0, "{case}");
            let [low, median, high] = ["p5", "median", "p95"].map(|part| case["wall_ms"][part].as_f64().unwrap());
            assert!(0.0 < low && low <= median && median <= high, "{case}");
            assert_eq!(case["within_contract"].as_bool(), (engine != "reference").then_some(true), "{case}");
        }
    }
}
