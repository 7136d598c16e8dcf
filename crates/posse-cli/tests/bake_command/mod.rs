//! `posse bake`, run as from a shell, on files that are made in code.

/// Crowd files.
mod crowds;
/// Ranges of frames, and lists of cuts.
mod cuts;
/// Bad inputs, outputs that cannot be written, and what is left behind.
mod errors;
/// Files, folders, globs, lists, and the names of clips.
mod inputs;
/// Long and many inputs.
mod long;
/// The lists of outputs, complete and damaged.
mod manifest;
/// Mirror images of clips.
mod mirror;
/// Frames, joints, axes and units, with hand-worked numbers.
mod options;
/// The same bytes in any order.
mod order;
/// Files of tensors for training, and shares that are merged.
mod packed;
/// Places of outputs that are taken, by inputs or for good.
mod places;
/// Plans of shares.
mod plan;
/// `--resume`, `--check`, and runs that are killed.
mod resume;
/// Clips that are retargeted to a rig.
mod retargeting;
/// Shares of several tasks.
mod shares;
/// Outputs that have lost bytes.
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with inputs in `clips` and outputs in `baked`.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: TempDir::new().unwrap() };
        fs::create_dir(bench.path("clips")).unwrap();
        bench
    }

    /// A folder with BVH files of several lengths, and a glTF file with two clips.
    fn with_clips() -> Self {
        let bench = Self::new();
        for (index, frames) in [30, 7, 120, 60, 1].into_iter().enumerate() {
            bench.write(&format!("clips/{index}.bvh"), bvh(frames, index as f64));
        }
        bench.write("clips/more/lift.gltf", gltf(&[Some("rise"), Some("fall")]));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// `posse bake` in the folder. The variables of schedulers are unset.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"]
        {
            command.env_remove(name);
        }
        command.arg("bake").args(arguments).current_dir(self.folder.path());
        command
    }

    fn bake(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Bakes without failures.
    #[track_caller]
    fn baked(&self, arguments: &[&str]) {
        assert_code(&self.bake(arguments), 0);
    }

    /// The files of a folder with their bytes, by their path below it.
    fn all_files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.path(folder), "", &mut files);
        files
    }

    /// The same without manifests, whose lines have times and the order in which outputs were made.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.all_files(folder);
        files.retain(|name, _| !name.starts_with("manifest-"));
        files
    }

    fn names(&self, folder: &str) -> Vec<String> {
        self.files(folder).into_keys().collect()
    }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

/// Asserts that a command ended with exit code 2, and that its message contains some texts.
#[track_caller]
fn assert_refused(output: &Output, texts: &[&str]) {
    assert_code(output, 2);
    let message = stderr(output);
    assert!(texts.iter().all(|text| message.contains(text)), "{texts:?}: {message}");
}

/// A BVH file at 120 frames per second: two joints and an end site that turn and walk.
fn bvh(frames: usize, seed: f64) -> String {
    let mut text = String::from(
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
         JOINT knee\n{\nOFFSET 0 -0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -0.4 0.1\n}\n}\n}\nMOTION\n",
    );
    text += &format!("Frames: {frames}\nFrame Time: 0.00833333\n");
    for frame in 0..frames {
        text += &bvh_frame(frame, seed);
    }
    text
}

/// A line of [`bvh`].
fn bvh_frame(frame: usize, seed: f64) -> String {
    let time = frame as f64 / 120.0;
    let wave = |speed: f64, size: f64| size * (time * speed + seed).sin();
    format!(
        "{:.5} {:.5} {:.5} {:.4} {:.4} {:.4} {:.4} {:.4} {:.4}\n",
        wave(1.0, 0.5),
        1.0 + wave(3.0, 0.1),
        time * 0.3,
        wave(1.3, 40.0),
        wave(0.7, 25.0),
        wave(0.31, 170.0),
        wave(2.1, 60.0),
        wave(1.7, 10.0),
        wave(0.9, 30.0)
    )
}

/// A glTF file with clips of these names: the node `lift` moves from 0 to 10 along x in one second, below a node
/// `ground`.
fn gltf(clips: &[Option<&str>]) -> String {
    let numbers: [f32; 8] = [0.0, 1.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    gltf_of(clips, &format!("data:;base64,{data}"))
}

/// The same with a buffer in another file.
fn gltf_of(clips: &[Option<&str>], uri: &str) -> String {
    let animation = |name: &Option<&str>| {
        let mut animation = json!({ "samplers": [{ "input": 0, "output": 1 }],
            "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }] });
        if let Some(name) = name {
            animation["name"] = json!(name);
        }
        animation
    };
    let mut file = json!({ "asset": { "version": "2.0" },
        "nodes": [{ "name": "ground", "translation": [0, 2, 0], "children": [1] }, { "name": "lift" }],
        "buffers": [{ "byteLength": 32, "uri": uri }],
        "bufferViews": [{ "buffer": 0, "byteLength": 8 }, { "buffer": 0, "byteOffset": 8, "byteLength": 24 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR" },
                      { "bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3" }] });
    if !clips.is_empty() {
        file["animations"] = clips.iter().map(animation).collect();
    }
    file.to_string()
}

/// An array of an npz file.
struct Array {
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Array {
    fn floats(&self) -> Vec<f32> {
        self.bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    fn doubles(&self) -> Vec<f64> {
        self.bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// The text of an array of strings, without the padding between them.
    fn text(&self) -> String {
        let letters = self.bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
        letters.filter(|&letter| letter != 0).map(|letter| char::from_u32(letter).unwrap()).collect()
    }
}

/// The arrays of an npz file.
fn npz(file: &Path) -> BTreeMap<String, Array> {
    let mut zip = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
    let mut arrays = BTreeMap::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        let header = npyz::NpyHeader::from_reader(&mut rest).unwrap();
        let name = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
        arrays.insert(name, Array { shape: header.shape().to_vec(), bytes: rest.to_vec() });
    }
    arrays
}

/// The lines of JSON of a file or of stdout.
fn json_lines(text: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns `true` if the tests that take minutes run. If they do not, a note is printed.
fn long_tests_run(what: &str) -> bool {
    let run = std::env::var_os("POSSE_ALL_TESTS").is_some();
    if !run {
        // The note goes around the test harness, which hides the output of passing tests.
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: tests/run --all runs it");
    }
    run
}

/// The lines of a manifest.
fn manifest_lines(bench: &Bench, manifest: &str) -> Vec<Value> {
    json_lines(&fs::read(bench.path(manifest)).unwrap())
}
