//! Files that fuzzing found. Each is as small as its error allows.

use std::path::Path;

use posse::cpu::CpuEngine;
use posse::{Evaluator, Library, Reference, contract, import};
use serde_json::json;

use crate::support::build;
use crate::support::gltf_builder::GltfBuilder;

/// Asserts that the CPU engine poses all clips of a library as the contract asks.
fn assert_within_contract(mut library: Library) {
    let checks = contract::checks(&mut library, 64).unwrap();
    let mut engine = CpuEngine::with_threads(&library, 1).unwrap();
    for check in &checks {
        let expected = Reference::new(&library).evaluate_step(&check.crowd, check.step, check.outputs).unwrap();
        let actual = engine.evaluate_step(&check.crowd, check.step, check.outputs).unwrap();
        let format = check.outputs.skin_format;
        let report = contract::compare_as(format, &library, &check.crowd, check.step, &expected, &actual);
        assert!(report.is_within(), "{} {:?}: {:?}", check.kind, check.clip, report.quantities());
    }
}

/// A file of one node with a morph weight, which is 0, 1, 2, ... at these times.
fn one_weight(times: &[f32], interpolation: &str) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("meshes", json!({ "primitives": [{ "attributes": {}, "targets": [{}] }] }));
    file.push("nodes", json!({ "mesh": 0 }));
    let weights: Vec<f32> = (0_u8..).map(f32::from).take(times.len()).collect();
    let (input, output) = (file.floats("SCALAR", times), file.floats("SCALAR", &weights));
    file.animate(json!({ "node": 0, "path": "weights" }), input, output, interpolation);
    file
}

#[test]
fn key_times_below_the_smallest_normal_number_are_within_the_contract() {
    // The key interval is 136,000 times the smallest f32, so that a third of it is rounded by 4e-6 of it.
    for times in [[9e-41, 2.8e-40], [0.0, 1e-45], [-1e-45, 3e-45], [1e-38, 1.1e-38]] {
        for interpolation in ["LINEAR", "STEP"] {
            assert_within_contract(one_weight(&times, interpolation).load().unwrap().0);
        }
    }
}

#[test]
fn keys_at_times_below_the_smallest_normal_number_are_hit() {
    // Multiples of the smallest f32: the first lookup would lead to a cell that ends before the last key.
    let times = [0, 16_256, 16_384].map(f32::from_bits);
    for interpolation in ["LINEAR", "STEP"] {
        let (library, _) = one_weight(&times, interpolation).load().unwrap();
        let clip = library.clip_ids().next().unwrap();
        let mut engine = CpuEngine::with_threads(&library, 1).unwrap();
        for (key, &time) in times.iter().enumerate() {
            let pose = build::pose_at(&mut engine, &library, clip, time.into());
            assert_eq!(pose.weights, [key as f64], "{interpolation}, {time:e} s");
        }
        assert_within_contract(library);
    }
}

#[test]
fn frame_times_below_the_smallest_number_are_within_the_contract() {
    let text = b"HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Yrotation } MOTION\nFrames: 2\nFrame Time: 1e-60\n1\n3\n";
    let mut library = Library::new();
    import::bvh::from_slice(&mut library, Path::new("fast.bvh"), text).unwrap();
    assert_within_contract(library);
}

#[test]
fn scales_below_the_smallest_normal_number_are_within_the_contract() {
    // The second file multiplies two scales to such a number, and the third goes back from there.
    for scales in [vec![7.3e-41], vec![1e-20, 3e-20], vec![1e-25, 1e-19, 1e25, 1e19]] {
        let mut file = GltfBuilder::new();
        for (node, scale) in scales.iter().enumerate() {
            let mut entry = json!({ "scale": [scale, scale, 2.0 * scale], "translation": [1, 0, 0] });
            if node + 1 < scales.len() {
                entry["children"] = json!([node + 1]);
            }
            file.push("nodes", entry);
        }
        assert_within_contract(file.load().unwrap().0);
    }
}
