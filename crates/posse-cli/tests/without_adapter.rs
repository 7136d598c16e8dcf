//! The command on a machine without the adapter that is asked for.

/// Runs the command with the name of an adapter that does not exist. Returns the exit code, stdout and stderr.
fn without_adapter(engine: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("scene.glb");
    std::fs::write(&file, crate::support::gltf_builder::something_of_everything().glb()).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_posse"));
    command.env("WGPU_ADAPTER_NAME", "nonesuch").arg("eval").arg(file);
    let output = command.args(["--times", "0.5", "--engine", engine]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_missing_adapter_is_an_error_with_a_hint() {
    let (code, stdout, stderr) = without_adapter("gpu");
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    for part in ["no GPU adapter named like nonesuch", "mesa-vulkan-drivers", "--engine cpu"] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn the_cpu_engine_answers_without_a_gpu_and_prints_a_note() {
    let (code, stdout, stderr) = without_adapter("auto");
    assert_eq!(code, Some(0), "{stderr}");
    let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["engine"], "cpu");
    assert!(
        stderr.lines().any(|line| line == "note: the CPU engine answers: no GPU adapter named like nonesuch"),
        "{stderr}"
    );
    assert!(stderr.contains("engine: cpu"), "{stderr}");
}
