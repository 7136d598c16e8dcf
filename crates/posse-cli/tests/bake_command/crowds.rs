use super::*;

/// A crowd of four: the third starts half a second late, the fourth plays at half the rate. A pass takes one second.
pub(super) fn crowd() -> Bench {
    let bench = Bench::new();
    bench.write("rigs/lift.gltf", gltf_of(&[Some("go")], "keys.bin"));
    bench.write("rigs/keys.bin", [0.0_f32, 1.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0].map(f32::to_le_bytes).concat());
    let layer = |start: f64, rate: f64| json!([{ "clip": "go", "start": start, "rate": rate }]);
    let crowd = json!({ "files": ["rigs/lift.gltf"], "instances": [
        { "file": 0, "count": 2, "layers": layer(0.0, 1.0) }, { "layers": layer(0.5, 1.0) }, { "layers": layer(0.0, 0.5) } ] });
    bench.write("four.json", crowd.to_string());
    bench
}

#[test]
fn each_instance_has_an_output_on_the_clock_of_the_crowd() {
    let bench = crowd();
    for engine in ["cpu", "reference"] {
        let arguments = ["four.json", "-o", engine, "--fps", "2", "--joints", "lift", "--arrays", "pos,linvel"];
        bench.baked(&[arguments.as_slice(), &["--engine", engine]].concat());
        assert_eq!(bench.names(engine), ["four#0.npz", "four#1.npz", "four#2.npz", "four#3.npz"]);
        // The slow one is done after two seconds.
        for (instance, expected) in [
            ("0", [0.0, 5.0, 10.0, 10.0, 10.0]),
            ("1", [0.0, 5.0, 10.0, 10.0, 10.0]),
            ("2", [0.0, 0.0, 5.0, 10.0, 10.0]),
            ("3", [0.0, 2.5, 5.0, 7.5, 10.0]),
        ] {
            let arrays = npz(&bench.path(&format!("{engine}/four#{instance}.npz")));
            assert_eq!(arrays["time"].doubles(), [0.0, 0.5, 1.0, 1.5, 2.0]);
            let x: Vec<f32> = arrays["pos"].floats().chunks(3).map(|pos| pos[0]).collect();
            assert!(x.iter().zip(expected).all(|(x, expected): (&f32, f32)| (x - expected).abs() < 1e-4), "{x:?}");
            if instance == "3" {
                let speeds = arrays["linvel"].floats();
                assert!(speeds.chunks(3).all(|speed| (speed[0] - 5.0).abs() < 1e-3), "{speeds:?}");
            }
        }
    }
    // A change of a file that a named file needs is noticed.
    let arguments = ["four.json", "-o", "cpu", "--fps", "2", "--joints", "lift", "--arrays", "pos,linvel", "--resume"];
    let kept = |status: &str| {
        let output = bench.bake(&[arguments.as_slice(), &["--json"]].concat());
        json_lines(&output.stdout).iter().all(|line| line["status"] == status)
    };
    assert!(kept("kept"));
    bench.write("rigs/keys.bin", [0.0_f32, 1.0, 0.0, 0.0, 0.0, 12.0, 0.0, 0.0].map(f32::to_le_bytes).concat());
    assert!(kept("baked"));
}

#[test]
fn a_crowd_in_usda_has_a_file_that_refers_to_the_others() {
    let bench = crowd();
    let arguments = ["four.json", "-o", "usda", "--format", "usda"];
    bench.baked(&arguments);
    let names = bench.names("usda");
    assert_eq!(names, ["four#0.usda", "four#1.usda", "four#2.usda", "four#3.usda", "four.usda"]);
    let text = String::from_utf8(bench.files("usda").remove("four.usda").unwrap()).unwrap();
    assert!((0..4).all(|index| text.contains(&format!("@@@./four#{index}.usda@@@"))), "{text}");
    let before = bench.files("usda");
    fs::remove_file(bench.path("usda/four.usda")).unwrap();
    assert_code(&bench.bake(&["--check", "usda", "four.json", "--format", "usda"]), 1);
    bench.baked(&[arguments.as_slice(), &["--resume"]].concat());
    assert_eq!(bench.files("usda"), before);
    assert_code(&bench.bake(&["--check", "usda", "four.json", "--format", "usda"]), 0);
    bench.write("other/four.bvh", bvh(2, 0.0));
    assert_refused(&bench.bake(&["four.json", "other", "-o", "no", "--format", "usda"]), &["four.json", "four.bvh"]);
}

#[test]
fn an_instance_that_cannot_be_baked_does_not_stop_the_others() {
    let bench = crowd();
    bench.write("rigs/other.gltf", gltf_of(&[Some("go")], "keys.bin").replace("lift", "sink"));
    let layers = json!([{ "clip": "go" }]);
    let crowd = json!({ "files": ["rigs/other.gltf", "rigs/lift.gltf"], "instances": [
        { "file": 0, "layers": layers }, { "file": 1, "count": 2, "layers": layers } ] });
    bench.write("mixed.json", crowd.to_string());
    let output = bench.bake(&["mixed.json", "-o", "usda", "--format", "usda", "--joints", "lift"]);
    assert_code(&output, 2);
    assert_eq!(bench.names("usda"), ["failed-00000.jsonl", "mixed#1.usda", "mixed#2.usda", "mixed.usda"]);
    let files = bench.files("usda");
    let failures = json_lines(&files["failed-00000.jsonl"]);
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0]["clip"], "mixed#0");
    // The file of the crowd refers to outputs that are there.
    let text = String::from_utf8_lossy(&files["mixed.usda"]);
    let found = [0, 1, 2].map(|index| text.contains(&format!("@@@./mixed#{index}.usda@@@")));
    assert_eq!(found, [false, true, true], "{text}");
}

#[test]
fn crowd_files_are_not_measured() {
    let bench = crowd();
    for option in [["--quality"].as_slice(), &["--foot-lock"], &["--arrays", "contact"]] {
        let output = bench.bake(&[["four.json", "-o", "baked"].as_slice(), option].concat());
        let refused = format!("four.json: {} is not for crowd files", option.join(" "));
        assert_refused(&output, &[refused.as_str()]);
        assert!(!bench.path("baked").exists());
    }
}

#[test]
fn a_rig_is_not_for_crowd_files() {
    let bench = crowd();
    bench.write("clips/0.bvh", bvh(3, 0.0));
    bench.write("rig.gltf", gltf(&[]));
    let output = bench.bake(&["clips", "four.json", "-o", "baked", "--rig", "rig.gltf"]);
    assert_refused(&output, &["four.json: --rig is not for crowd files", "leave out --rig"]);
    assert!(!bench.path("baked").exists());
}
