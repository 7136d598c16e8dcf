//! `posse kernels`: the files beside the library that they come from, and what is refused.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use posse::demo;
use posse::kernels::{Buffer, Pass};
use posse::low_level::record::BatchRecord;
use posse::packed::PackedLibrary;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::skip::report_skipped;

fn posse(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(folder).args(arguments).output().unwrap()
}

/// Writes kernels into the folder `out`, and returns the manifest.
#[track_caller]
fn manifest(folder: &Path, arguments: &[&str]) -> Value {
    let output = posse(folder, &[&["kernels"], arguments, &["-o", "out"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&fs::read(folder.join("out/kernels.json")).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The value of a formula of the manifest: a sum of products of numbers and counts, or `ceil(product / number)`.
fn evaluate(formula: &str, counts: &HashMap<&str, u64>) -> u64 {
    let product = |product: &str| -> u64 {
        let factor = |factor: &str| factor.parse().unwrap_or_else(|_| counts[factor]);
        product.split(" * ").map(factor).product()
    };
    match formula.strip_prefix("ceil(").and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => {
            let (items, per_group) = inner.split_once(" / ").unwrap();
            product(items).div_ceil(per_group.parse().unwrap())
        }
        None => formula.split(" + ").map(product).sum(),
    }
}

#[test]
fn the_manifest_has_the_bindings_of_the_engine_and_the_languages() {
    let folder = TempDir::new().unwrap();
    let manifest = manifest(folder.path(), &["demo", "--emit", "wgsl,spirv,hlsl,msl"]);
    assert_eq!((manifest["format"].as_u64(), text(&manifest["posse"])), (Some(1), env!("CARGO_PKG_VERSION")));
    let mut passes = Vec::new();
    for kernel in list(&manifest["kernels"]) {
        let pass = Pass::ALL.into_iter().find(|pass| pass.entry_point() == text(&kernel["pass"])).unwrap();
        passes.push(pass);
        let found: Vec<_> = list(&kernel["bindings"])
            .iter()
            .map(|binding| {
                let number = |name: &str| binding[name].as_u64().unwrap();
                (
                    number("group"),
                    number("binding"),
                    text(&binding["name"]),
                    text(&binding["buffer"]),
                    text(&binding["access"]),
                )
            })
            .collect();
        let bound = (0..).zip(pass.bindings());
        let bound = bound.map(|(at, binding)| (0, at, binding.name, binding.buffer.name(), binding.access.name()));
        assert_eq!(found, bound.collect::<Vec<_>>(), "{}", kernel["name"]);
        for (language, extension) in [("wgsl", "wgsl"), ("spirv", "spv"), ("hlsl", "hlsl"), ("msl", "metal")] {
            let described = &kernel["languages"][language];
            let file = text(&described["file"]);
            assert_eq!(file, format!("{}.{extension}", text(&kernel["name"])));
            let bytes = fs::read(folder.path().join("out").join(file)).unwrap();
            if language == "spirv" {
                // The magic number and the version 1.3 of SPIR-V, in words.
                assert_eq!(bytes[..8], [3, 2, 0x23, 7, 0, 3, 1, 0], "{file}");
                assert_eq!(bytes.len() % 4, 0);
            } else {
                let code = String::from_utf8(bytes).unwrap();
                let entry_point = text(&described["entry_point"]);
                assert!(code.contains(&format!("{entry_point}(")), "{file} has no {entry_point}");
            }
        }
    }
    for pass in [Pass::Drive, Pass::Play, Pass::Pose] {
        assert!(passes.contains(&pass), "{pass:?}");
    }
    // Registers and slots are the numbers of the bindings.
    let pose = list(&manifest["kernels"]).iter().find(|kernel| kernel["pass"] == "pose").unwrap();
    let read = |language: &str| {
        fs::read_to_string(folder.path().join("out").join(text(&pose["languages"][language]["file"]))).unwrap()
    };
    let (hlsl, msl) = (read("hlsl"), read("msl"));
    for register in ["register(t0)", "register(t2)", "register(b3)", "register(u7)", "register(t9)"] {
        assert!(hlsl.contains(register), "{register}");
    }
    for slot in ["[[buffer(0)]]", "[[buffer(4)]]", "[[buffer(7)]]", "[[buffer(16)]]"] {
        assert!(msl.contains(slot), "{slot}");
    }
    // The sizes belong to the storage buffers: all bindings but the two uniforms, each of which is a member.
    let sizes: Vec<_> = list(&pose["languages"]["msl"]["sizes"]["bindings"]).to_vec();
    assert_eq!(sizes.len(), 8, "{sizes:?}");
    let members = msl.split_once("struct _mslBufferSizes {").unwrap().1.split_once('}').unwrap().0;
    assert_eq!(members.matches("uint size").count(), 8, "{members}");
    assert!(sizes.iter().all(|binding| *binding != 3 && *binding != 4), "{sizes:?}");
    // Arrays in workgroup memory are arguments, whose bytes the program sets: here the matrices of 64 joints, and in
    // kernels that mix the layers and their search results.
    for kernel in list(&manifest["kernels"]) {
        let described = &kernel["languages"]["msl"];
        let msl = fs::read_to_string(folder.path().join("out").join(text(&described["file"]))).unwrap();
        let (_, head) = msl.rsplit_once(&format!("kernel void {}(", text(&described["entry_point"]))).unwrap();
        let arguments = head.split_once(") {").unwrap().0.matches("threadgroup ").count();
        let bytes: Vec<u64> =
            list(&described["threadgroup_bytes"]).iter().map(|bytes| bytes.as_u64().unwrap()).collect();
        assert_eq!(bytes.len(), arguments, "{}", kernel["name"]);
        assert!(bytes.iter().all(|bytes| bytes % 16 == 0), "{bytes:?}");
        assert!(kernel["pass"] != "pose" || bytes.contains(&(48 * 64)), "{}: {bytes:?}", kernel["name"]);
    }
}

#[test]
fn spirv_is_valid() {
    let folder = TempDir::new().unwrap();
    let options = ["demo", "--emit", "spirv", "--goals", "1", "--parameters", "2", "--transitions", "1"];
    let manifest = manifest(folder.path(), &options);
    let version = Command::new("spirv-val").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        report_skipped("the validation of SPIR-V: spirv-val of Debian's package spirv-tools is missing");
        return;
    }
    for kernel in list(&manifest["kernels"]) {
        let file = text(&kernel["languages"]["spirv"]["file"]);
        let checked = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.1"])
            .arg(folder.path().join("out").join(file))
            .output()
            .unwrap();
        assert!(checked.status.success(), "{file}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn buffers_have_the_bytes_of_the_library_and_the_sizes_of_their_formulas() {
    let folder = TempDir::new().unwrap();
    let manifest = manifest(folder.path(), &["demo", "--layers", "2", "--parameters", "3", "--outputs", "skin,model"]);
    let read = |file: &Value| fs::read(folder.path().join("out").join(text(file))).unwrap();
    let packed = PackedLibrary::new(&demo::library().unwrap()).unwrap();
    let library = &manifest["library"];
    assert_eq!(read(&library["words"]["file"]), packed.words());
    assert_eq!(read(&library["values"]["file"]), packed.values());
    assert_eq!(library["words"]["bytes"], packed.words().len());
    let instances = list(&manifest["instances"]);
    let batches = list(&manifest["batches"]);
    assert_eq!(batches.len(), 1);
    for batch in batches {
        let counts = batch["counts"].as_object().unwrap();
        let counts: HashMap<&str, u64> =
            counts.iter().map(|(name, count)| (name.as_str(), count.as_u64().unwrap())).collect();
        assert_eq!((counts["instances"], counts["layers"], counts["parameters"]), (instances.len() as u64, 2, 3));
        for (name, buffer) in batch["buffers"].as_object().unwrap() {
            let bytes = buffer["bytes"].as_u64().unwrap();
            assert_eq!(evaluate(text(&buffer["formula"]), &counts), bytes, "{name}");
            let contents = if buffer["file"].is_null() { Vec::new() } else { read(&buffer["file"]) };
            assert!(contents.len() as u64 <= bytes, "{name}");
            assert!(Buffer::ALL.iter().any(|known| known.name() == name), "{name}");
        }
        // 120 bytes per layer, 48 per joint of 64.
        let bytes = |name: &str| batch["buffers"][name]["bytes"].as_u64().unwrap();
        let count = instances.len() as u64;
        assert_eq!([bytes("layers"), bytes("model"), bytes("frame")], [240 * count, 48 * 64 * count, 32]);
        assert_eq!(bytes("parameters"), 12 * count);
        for dispatch in list(&batch["dispatches"]) {
            let [x, y, z] = [0, 1, 2].map(|axis| dispatch["workgroups"][axis].as_u64().unwrap());
            assert_eq!((x * y, z), (evaluate(text(&dispatch["formula"]), &counts), 1));
        }
        let passes: Vec<_> = list(&batch["dispatches"]).iter().map(|dispatch| text(&dispatch["pass"])).collect();
        assert_eq!(passes, ["drive_layers", "play_layers", "pose"]);
        // The record says the same as its bytes.
        let record: BatchRecord = bytemuck::pod_read_unaligned(&read(&batch["buffers"]["batch"]["file"]));
        assert_eq!((u64::from(record.instance_count), record.layer_count), (count, 2));
        let fields = list(&manifest["records"]["BatchRecord"]["fields"]);
        let layer_count = fields.iter().find(|field| field["name"] == "layer_count").unwrap();
        let at = layer_count["offset"].as_u64().unwrap() as usize;
        assert_eq!(read(&batch["buffers"]["batch"]["file"])[at..at + 4], 2_u32.to_le_bytes());
        assert_eq!(layer_count["type"], "u32");
    }
    let layer = &manifest["records"]["LayerRecord"];
    assert_eq!((layer["size"].as_u64(), text(&layer["fields"][0]["name"])), (Some(120), "clip"));
    assert!(manifest["records"]["SkeletonRecord"].is_object(), "a record within a record");
}

#[test]
fn a_crowd_dispatches_kernels_that_are_there() {
    let folder = TempDir::new().unwrap();
    let options = ["demo", "--mixing", "any", "--layers", "3", "--transitions", "2", "--skin-format", "half"];
    let manifest = manifest(folder.path(), &options);
    let names: Vec<_> = list(&manifest["kernels"]).iter().map(|kernel| text(&kernel["name"])).collect();
    for dispatch in list(&manifest["batches"][0]["dispatches"]) {
        assert!(names.contains(&text(&dispatch["kernel"])), "{dispatch}");
    }
    assert!(names.iter().any(|name| name.starts_with("pose_any_") && name.contains("_half_transitions_")), "{names:?}");
    let sorted = names.iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted.len(), names.len(), "a kernel is there once");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("crowd.json"), "{ \"files\": [\"missing.glb\"], \"instances\": [] }").unwrap();
    for (arguments, message) in [
        (&["demo", "--emit", "glsl"][..], "invalid value 'glsl'"),
        (&["demo", "--emit", ""], "a value is required"),
        (&["missing.glb"], "missing.glb"),
        (&["--crowd", "crowd.json"], "missing.glb"),
        (&["demo", "-o", "crowd.json"], "crowd.json: it is not a folder"),
        (&["demo", "--layers", "9"], "expected a whole number from 0 to 8"),
        (&["demo", "--crowd", "crowd.json"], "cannot be used with"),
        (&[], "required"),
    ] {
        let output = posse(folder.path(), &[&["kernels"], arguments].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    assert!(!folder.path().join("kernels").exists());
}
