use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A glTF file of three moving nodes, children before parents, with a skin, morph weights and an animation pointer.
fn document() -> Value {
    let times = [0.0_f32, 0.7, 1.3];
    let moves = [1.0_f32, 2.0, 3.0, -4.0, 0.1, 7.7, 0.3, 0.2, 0.1];
    let turns = [0.0_f32, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8, 0.0, 0.0, 0.28, 0.96];
    let weights = [0.0_f32, 1.0, 0.25, 0.5, 0.75, 0.125];
    let colours = [0.1_f32, 0.2, 0.3, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];
    let inverse_binds: [f32; 32] = std::array::from_fn(|index| match index % 16 {
        0 | 10 => 0.6,
        2 => -0.8,
        5 | 15 => 1.0,
        8 => 0.8,
        12 => index as f32 / 7.0,
        _ => 0.0,
    });
    let points = [0.0_f32; 9];
    let arrays: [(&str, &[f32]); 7] = [
        ("SCALAR", &times),
        ("VEC3", &moves),
        ("VEC4", &turns),
        ("SCALAR", &weights),
        ("VEC4", &colours),
        ("MAT4", &inverse_binds),
        ("VEC3", &points),
    ];
    let (mut bytes, mut views, mut accessors) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (kind, numbers)) in arrays.into_iter().enumerate() {
        let width = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        views.push(json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": 4 * numbers.len() }));
        accessors.push(json!({
            "bufferView": index, "componentType": 5126, "count": numbers.len() / width, "type": kind,
        }));
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let target = |node: usize, path: &str| json!({ "node": node, "path": path });
    let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_animation_pointer"],
        "buffers": [{ "uri": format!("data:application/octet-stream;base64,{uri}"), "byteLength": bytes.len() }],
        "bufferViews": views,
        "accessors": accessors,
        "materials": [{}],
        "meshes": [{
            "primitives": [{ "attributes": { "POSITION": 6 }, "targets": [{ "POSITION": 6 }, { "POSITION": 6 }] }],
        }],
        "nodes": [
            { "name": "tip", "translation": [0.0, 3.0, 0.0], "mesh": 0, "skin": 0 },
            { "name": "middle", "rotation": [0.0, 0.6, 0.0, 0.8], "children": [0] },
            { "name": "root", "translation": [0.5, 0.25, -1.5], "scale": [1.25, 1.25, 1.25], "children": [1] },
        ],
        "skins": [{ "joints": [2, 1], "inverseBindMatrices": 5 }],
        "animations": [{
            "samplers": [
                { "input": 0, "output": 1 }, { "input": 0, "output": 2 }, { "input": 0, "output": 3 },
                { "input": 0, "output": 4 },
            ],
            "channels": [
                { "sampler": 0, "target": target(2, "translation") },
                { "sampler": 1, "target": target(1, "rotation") },
                { "sampler": 2, "target": target(0, "weights") },
                { "sampler": 3, "target": {
                    "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } },
                } },
            ],
        }],
    })
}

struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("scene.gltf"), document().to_string()).unwrap();
        Self(folder)
    }

    /// The output of `posse eval` with the CPU engine.
    fn eval(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.current_dir(self.0.path()).args(["eval", "scene.gltf", "--engine", "cpu"]).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// The bytes of an npz file.
    fn npz(&self, arguments: &[&str]) -> Vec<u8> {
        let file = self.0.path().join("poses.npz");
        self.eval(&[arguments, &["--format", "npz", "-o", "poses.npz"]].concat());
        fs::read(&file).unwrap()
    }
}

#[test]
fn the_name_of_the_output_selects_the_format() {
    let scene = Scene::new();
    let begin = |arguments: &[&str], name: &str| -> u8 {
        scene.eval(&[&["--times", "0"], arguments, &["-o", name]].concat());
        fs::read(scene.0.path().join(name)).unwrap()[0]
    };
    // A zip file begins with PK.
    for (arguments, name, expected) in [
        (&[][..], "a.npz", b'P'),
        (&[], "b.NPZ", b'P'),
        (&["--format", "npz"], "c.zip", b'P'),
        (&[], "a.json", b'{'),
        (&[], "plain", b'{'),
        (&[], "poses.json.tmp", b'{'),
        (&["--format", "json"], "a.txt", b'{'),
    ] {
        assert_eq!(begin(arguments, name), expected, "{name}");
    }
    let refused = |arguments: &[&str], saying: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.current_dir(scene.0.path()).args(["eval", "scene.gltf", "--engine", "cpu", "--times", "0"]);
        let output = command.args(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(saying), "{stderr}");
    };
    refused(&["-o", "a.CSV"], "a.CSV: poses are written as .json or .npz; change the name, or add --format json or");
    refused(&["-o", "d.npz", "--format", "json"], "d.npz: the name ends with .npz, but --format is json; change one");
    refused(&["-o", "d.json", "--format", "npz"], "d.json: the name ends with .json, but --format is npz");
    assert!(["a.CSV", "d.npz", "d.json"].iter().all(|name| !scene.0.path().join(name).exists()));
}

/// The bits of the numbers of an array.
fn bits(npz: &[u8], name: &str) -> Vec<u32> {
    let mut bytes = Vec::new();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(npz)).unwrap();
    zip.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    let numbers: Vec<f32> = npyz::NpyFile::new(bytes.as_slice()).unwrap().into_vec().unwrap();
    numbers.into_iter().map(f32::to_bits).collect()
}

/// The bits of all numbers of a JSON value.
fn json_bits(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(values) => values.iter().flat_map(json_bits).collect(),
        number => vec![(number.as_f64().unwrap() as f32).to_bits()],
    }
}

/// Matrices in row order, from the column order of the JSON.
fn transposed(columns: Vec<u32>) -> Vec<u32> {
    let matrix = |columns: &[u32]| (0..16).map(|index| columns[4 * (index % 4) + index / 4]).collect::<Vec<_>>();
    columns.chunks_exact(16).flat_map(matrix).collect()
}

/// The instances of a JSON answer, sample after sample.
fn instances(answer: &Value) -> Vec<&Value> {
    answer["samples"].as_array().unwrap().iter().flat_map(|sample| sample["instances"].as_array().unwrap()).collect()
}

#[test]
fn npz_and_json_have_the_same_bits() {
    let scene = Scene::new();
    for format in ["matrix", "half", "dual-quaternion"] {
        let arguments = ["--times", "0,0.41,1.1,9", "--instances", "3", "--phase", "0.13", "--skin-format", format];
        let npz = scene.npz(&arguments);
        let answer: Value = serde_json::from_slice(&scene.eval(&arguments)).unwrap();
        let instances = instances(&answer);
        let of_nodes = |field: &str| -> Vec<u32> {
            let nodes = instances.iter().flat_map(|instance| instance["nodes"].as_array().unwrap());
            nodes.filter(|node| !node[field].is_null()).flat_map(|node| json_bits(&node[field])).collect()
        };
        for field in ["translation", "rotation", "scale", "weights"] {
            assert!(of_nodes(field).len() >= 12, "{field}");
            assert_eq!(bits(&npz, field), of_nodes(field), "{field}");
        }
        assert_eq!(bits(&npz, "model"), transposed(of_nodes("world")));
        let skin = instances.iter().flat_map(|instance| json_bits(&instance["skins"][0]["joint_matrices"]));
        assert_eq!(bits(&npz, "skin_0"), transposed(skin.collect()), "{format}");
        let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
        let colours = instances.iter().flat_map(|instance| json_bits(&instance["pointers"][pointer]));
        assert_eq!(bits(&npz, "properties"), colours.collect::<Vec<_>>());
    }
}

#[test]
fn npz_does_not_depend_on_threads() {
    let scene = Scene::new();
    // More poses than are evaluated at a time.
    let arguments = ["--times", "0.3,1.2", "--instances", "30000", "--phase", "0.00001", "--outputs", "model"];
    let outputs = ["1", "2", "5"].map(|threads| scene.npz(&[arguments.as_slice(), &["--threads", threads]].concat()));
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    // The last instances of each sample, alone.
    let model = bits(&outputs[0], "model");
    let last = bits(&scene.npz(&["--times", "0.59999,1.49999"]), "model");
    assert_eq!(model.len(), 2 * 30_000 * 48);
    assert_eq!([&model[29_999 * 48..30_000 * 48], &model[59_999 * 48..]].concat(), last);
}

#[test]
fn a_number_of_threads_is_checked() {
    let scene = Scene::new();
    for threads in ["0", "-1", "1025", "all"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        let file = scene.0.path().join(Path::new("scene.gltf"));
        let output = command.arg("eval").arg(file).args(["--times", "0", "--threads", threads]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--threads"));
    }
}
