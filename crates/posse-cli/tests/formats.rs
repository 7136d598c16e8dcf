//! The files of `posse bake`, format by format: their contents for other readers. Here are the tests of all formats.

/// glTF, USD and BVH files: what other readers animate.
mod animation;
/// npz files: arrays that NumPy reads.
mod npz;
/// Parquet files: a row per frame.
#[cfg(feature = "parquet")]
mod parquet;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::support::gltf_builder::GltfBuilder;

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// The options of each format and layout.
const FORMATS: &[&str] = &[
    "npz",
    "npz --layout mjlab",
    "npz --layout gmr",
    "glb",
    "usda",
    "bvh --bvh-order XYZ",
    "packed",
    #[cfg(feature = "parquet")]
    "parquet",
];

/// Keys at 0, 0.5 and 1 s: the hip moves along z and turns by 0, 90 and 180 degrees about z; the leg stays turned by 90
/// degrees about x. Beside them stand a socket with a matrix, and a lamp that does not move. The leg and the hip have a
/// skin.
fn figure() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let turn = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 5.0, 0.0, 0.0, 1.0];
    file.json["nodes"] = json!([
        // Children may come before their parents.
        { "name": "leg.l", "translation": [0.0, -0.5, 0.0], "scale": [1.0, 2.0, 1.0], "children": [3] },
        { "name": "hip", "translation": [0.0, 1.0, 0.0], "children": [0] },
        { "name": "lamp", "translation": [7.0, 0.0, 0.0], "rotation": [0.0, HALF, 0.0, HALF] },
        { "name": "socket", "matrix": turn },
    ]);
    let identity = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0];
    let inverse_bind = file.floats("MAT4", &[identity(-1.0), identity(-0.5)].concat());
    file.push("skins", json!({ "name": "suit", "joints": [1, 0], "inverseBindMatrices": inverse_bind }));
    let times = file.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let moves = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 4.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, HALF, HALF, 0.0, 0.0, 1.0, 0.0]);
    let bent = file.floats("VEC4", &[HALF, 0.0, 0.0, HALF].repeat(3));
    file.json["animations"] = json!([{
        "name": "walk",
        "samplers": [{ "input": times, "output": moves }, { "input": times, "output": turns }, { "input": times, "output": bent }],
        "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "translation" } },
            { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 2, "target": { "node": 0, "path": "rotation" } },
        ],
    }]);
    file
}

/// A folder with `clips/figure.glb`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.add("figure.glb", &figure());
        folder
    }

    fn add(&self, name: &str, file: &GltfBuilder) {
        fs::create_dir_all(self.path("clips")).unwrap();
        fs::write(self.path("clips").join(name), file.glb()).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &str) -> Output {
        let arguments = arguments.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_posse"))
            .current_dir(self.0.path())
            .arg("bake")
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Bakes `clips` into a folder, and returns its path.
    fn bake(&self, out: &str, options: &str) -> PathBuf {
        let output = self.run(&format!("clips -o {out} {options}"));
        assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
        self.path(out)
    }

    fn refusal(&self, options: &str) -> String {
        let output = self.run(&format!("clips -o refused {options}"));
        assert_eq!(output.status.code(), Some(2), "{options}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The files below a folder, with their bytes; without manifests, whose lines have times.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_none_or(|extension| extension != "jsonl"));
    files.sort();
    files.iter().map(|file| (file.strip_prefix(folder).unwrap().to_path_buf(), fs::read(file).unwrap())).collect()
}

/// A member of an npz file: its type, its shape, and its bytes.
struct Member {
    kind: String,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Member {
    fn read(file: &Path, name: &str) -> Self {
        let mut zip = zip::ZipArchive::new(File::open(file).unwrap()).unwrap();
        let mut member = zip.by_name(&format!("{name}.npy")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(member.compression(), zip::CompressionMethod::Stored);
        let header = npyz::NpyHeader::from_reader(&mut member).unwrap();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).unwrap();
        let npyz::DType::Plain(kind) = header.dtype() else { panic!("{name} is a record") };
        Self { kind: kind.to_string(), shape: header.shape().to_vec(), bytes }
    }

    fn singles(&self) -> Vec<f32> {
        assert_eq!(self.kind, "<f4");
        self.bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    fn doubles(&self) -> Vec<f64> {
        assert_eq!(self.kind, "<f8");
        self.bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
    }

    /// The texts of an array of kind `<U...`.
    fn texts(&self) -> Vec<String> {
        let length: usize = self.kind.strip_prefix("<U").unwrap().parse().unwrap();
        let text = |bytes: &[u8]| {
            let letters = bytes.as_chunks().0.iter().map(|&code| char::from_u32(u32::from_le_bytes(code)).unwrap());
            letters.collect::<String>().trim_end_matches('\0').to_owned()
        };
        self.bytes.chunks_exact(4 * length).map(text).collect()
    }
}

/// Numbers that are equal to within a few roundings of an `f32`.
#[track_caller]
fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 2e-6 * expected.abs().max(1.0), "number {index}: {found}, not {expected}");
    }
}

#[test]
fn files_are_the_same_in_each_run() {
    let folder = Folder::new();
    let mut other = figure();
    other.json["animations"][0]["name"] = json!("other");
    folder.add("other.glb", &other);
    for (index, format) in FORMATS.iter().enumerate() {
        let first = folder.bake(&format!("first{index}"), &format!("--format {format} --threads 1"));
        let second = folder.bake(&format!("second{index}"), &format!("--format {format} --threads 3"));
        assert!(!contents(&first).is_empty());
        assert!(contents(&first) == contents(&second), "{format}");
    }
}

#[test]
fn files_that_are_there_are_kept() {
    let folder = Folder::new();
    for (index, format) in FORMATS.iter().enumerate() {
        let out = folder.bake(&format!("out{index}"), &format!("--format {format}"));
        let modified = || -> Vec<_> {
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().metadata().unwrap().modified().unwrap()).collect()
        };
        let before = modified();
        folder.bake(&format!("out{index}"), &format!("--format {format} --resume"));
        assert_eq!(modified(), before, "{format}");
        let checked = folder.run(&format!("--check out{index} clips --format {format}"));
        assert!(checked.status.success(), "{format}: {}", String::from_utf8_lossy(&checked.stdout));
        folder.bake(&format!("out{index}"), &format!("--format {format} --resume --fps 11"));
        assert_ne!(modified(), before, "{format}");
    }
}

#[test]
fn formats_with_arrays_of_their_own_refuse_others() {
    let folder = Folder::new();
    let own = ["--format glb --arrays pos", "--format usda --arrays pos", "--layout mjlab --arrays pos"];
    for options in own.into_iter().chain(["--layout gmr --arrays pos", "--layout phc --arrays quat"]) {
        assert!(folder.refusal(options).contains("leave out --arrays"), "{options}");
    }
    for options in
        ["--layout mjlab --quaternions xyzw", "--format usda --quaternions xyzw", "--layout gmr --quaternions wxyz"]
    {
        assert!(folder.refusal(options).contains("leave out --quaternions"), "{options}");
    }
    assert!(folder.refusal("--format glb --layout mjlab").contains("--layout is for --format npz"));
    #[cfg(not(feature = "parquet"))]
    assert!(folder.refusal("--format parquet").contains("--features parquet"));
}
