//! Output of the command: files are written whole or not at all, links are followed, and readers can stop reading.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use super::{Scene, assert_refused, posse};

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    // A number that fits the reference but not a 32-bit result makes writing fail after the first sample.
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let node = json!({ "translation": [3e38, 0, 0], "children": [1] });
    let nodes = json!([node, { "translation": [3e38, 0, 0] }]);
    fs::write(path("far.gltf"), json!({ "asset": { "version": "2.0" }, "nodes": nodes }).to_string()).unwrap();
    fs::write(path("old.json"), "old").unwrap();
    let (far, old, new) = (path("far.gltf"), path("old.json"), path("new.npz"));
    let eval = |engine: &str, format: &str, to: &Path| {
        let times = ["--times", "0,1", "--format", format, "--engine", engine];
        posse(&[["eval", far.to_str().unwrap()].as_slice(), &times, &["-o", to.to_str().unwrap()]].concat())
    };
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_refused(&eval("cpu", "json", &old), "overflows");
    assert_refused(&eval("cpu", "npz", &new), "overflows");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old", "the old file is kept");
    assert_eq!(names(), ["far.gltf", "old.json"], "no temporary file is left");

    assert!(eval("reference", "json", &old).status.success());
    assert!(fs::read_to_string(&old).unwrap().starts_with('{'), "the old file is replaced");
    assert_eq!(names(), ["far.gltf", "old.json"]);
    assert_refused(&eval("reference", "json", folder.path()), "directory");
}

#[cfg(unix)]
#[test]
fn links_are_followed_permissions_are_kept_and_devices_are_written() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scene = Scene::new();
    let (target, link) = (scene.path("target.json"), scene.path("link.json"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target.json", &link).unwrap();
    assert!(scene.eval(&["--times", "0", "-o", link.to_str().unwrap()]).status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&target).unwrap().starts_with('{'));
    assert!(scene.eval(&["--times", "0", "-o", "/dev/null"]).status.success());
    if Path::new("/dev/full").exists() {
        for format in ["json", "npz"] {
            assert_refused(&scene.eval(&["--times", "0", "--format", format, "-o", "/dev/full"]), "/dev/full");
        }
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let arguments = ["eval", file.to_str().unwrap(), "--engine", "reference", "--fps", "5000"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("panicked") && !stderr.contains("error"), "{stderr}");
}

#[test]
fn a_verdict_does_not_depend_on_a_reader() {
    let scene = Scene::new();
    let file = scene.path("scene.gltf");
    let arguments = ["verify", "--engine", "reference", file.to_str().unwrap(), "nowhere.glb"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_refused(&child.wait_with_output().unwrap(), "nowhere.glb");
}
