//! A short soak: a crowd that changes all the time, on devices that are lost.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::process::{Command, Output};

use serde_json::Value;

fn soak(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posse-soak")).args(arguments).output().unwrap()
}

#[test]
fn a_crowd_that_changes_stays_within_the_contract_on_one_device_after_the_other() {
    // Long enough for several frames between two devices on a slow machine that runs other tests, too.
    let output = soak(&["0.2", "--instances", "40", "--json"]);
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{notes}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let soak = &report["soak"];
    assert_eq!(soak["instances"], 40, "eight squads of five");
    assert!(soak["adapter"].as_str().is_some_and(|name| !name.is_empty()));
    assert_eq!((&report["is_within_contract"], &report["is_flat"]), (&true.into(), &true.into()));
    assert!(soak["checked"].as_u64().unwrap() >= 1);
    let share = soak["worst_share"].as_f64().unwrap();
    assert!(0.0 < share && share <= 1.0, "{share}");
    let minutes = soak["minutes"].as_array().unwrap();
    // Each line of the record ends with the loss of a device.
    assert_eq!(soak["changes"]["devices"].as_u64().unwrap(), minutes.len() as u64);
    assert_eq!(notes.lines().filter(|line| line.contains(" frames of ")).count(), minutes.len(), "{notes}");
    let frames: u64 = minutes.iter().map(|minute| minute["frames"].as_u64().unwrap()).sum();
    assert_eq!(report["frames"].as_u64().unwrap(), frames);
    let changes = |name: &str| soak["changes"][name].as_u64().unwrap();
    assert_eq!((changes("squads"), changes("parameters")), (frames / 45, frames));
    assert_eq!(changes("transitions") + changes("refused"), frames / 4);
    assert_eq!(changes("layers"), frames + frames / 200 * 5);
    for minute in minutes {
        let times: Vec<f64> =
            minute["frame_ms"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
        assert!(0.0 < times[0] && times[0] <= times[1] && times[1] <= times[2], "{minute}");
        // One frame of four is compared with a new process. A short part of the run may end before.
        if minute["frames"].as_u64().unwrap() >= 4 {
            for ratio in ["frame_ratio", "processor_ratio"] {
                let numbers = minute[ratio].as_array().unwrap_or_else(|| panic!("{ratio} of {minute}"));
                let numbers: Vec<f64> = numbers.iter().map(|number| number.as_f64().unwrap()).collect();
                assert!(0.0 < numbers[0] && numbers[0] <= numbers[1] && numbers[2].is_finite(), "{minute}");
            }
        }
        assert!(minute["memory"].as_u64().unwrap() > 1 << 20, "{minute}");
    }
}

#[test]
fn a_run_without_a_length_or_with_other_options_is_refused() {
    for (arguments, message) in [
        (&["-1"][..], "a number of minutes from 0 to 100000 is needed"),
        (&["nan"], "a number of minutes from 0 to 100000 is needed"),
        (&[], "<MINUTES>"),
        (&["1", "--instances", "3,4"], "invalid value '3,4'"),
        (&["1", "--layers", "2"], "unexpected argument '--layers'"),
    ] {
        let output = soak(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains(message), "{arguments:?}: {text}");
    }
}
