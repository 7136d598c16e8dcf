use posse::{GpuCrowd, GpuEngine, GpuEvents, GpuLibrary, Outputs, PackedLibrary, demo};

use super::{assert_device_error, only_clip, own_gpu};

#[test]
fn objects_of_two_devices_are_refused_before_wgpu_panics() {
    let library = demo::rig(5, 3, 2).unwrap();
    let [one, other] = [0, 1].map(|_| own_gpu(wgpu::Limits::default()));
    let on_gpu = |gpu| GpuLibrary::new(gpu, PackedLibrary::new(&library).unwrap()).unwrap();
    let (here, there) = (on_gpu(&one), on_gpu(&other));
    let crowd = GpuCrowd::new(&here, &only_clip(&library, 4), Outputs::ALL).unwrap();
    GpuEvents::new(&here, &crowd, 10).unwrap();
    let refused = [GpuEvents::new(&there, &crowd, 10).map(|_| ()), GpuEngine::with_library(one, there).map(|_| ())];
    for result in refused {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("is on another device"), "{error}");
    }
}

#[test]
fn reading_beyond_a_batch_fails() {
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 4);
    let engine = super::engine(&library);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    let batch = &on_gpu.batches()[0];
    assert_device_error(engine.read(batch, 3..5), "reading beyond the end");
    assert_eq!(engine.read(batch, 2..2).unwrap(), Default::default());
}

/// Runs the command with the name of an adapter that does not exist. Returns the exit code, stdout and stderr.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
fn a_missing_adapter_is_an_error_with_a_remedy() {
    let (code, stdout, stderr) = without_adapter("gpu");
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    for part in ["no GPU adapter named like nonesuch", "mesa-vulkan-drivers", "--engine cpu"] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
#[cfg(feature = "cli")]
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
