//! Files that fuzzing found. Each is as small as its fault allows.

use posse::{CpuEngine, Evaluator, Library, Reference, contract};
use serde_json::json;

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

/// A file of one node with a morph weight, which goes from 0 to 1 between two times.
fn one_weight(times: [f32; 2], interpolation: &str) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("meshes", json!({ "primitives": [{ "attributes": {}, "targets": [{}] }] }));
    file.push("nodes", json!({ "mesh": 0 }));
    let (input, output) = (file.floats("SCALAR", &times), file.floats("SCALAR", &[0.0, 1.0]));
    file.animate(json!({ "node": 0, "path": "weights" }), input, output, interpolation);
    file
}

#[test]
fn key_times_below_the_smallest_normal_number_are_within_the_contract() {
    // The key interval is 136,000 times the smallest f32, so that a third of it is rounded by 4e-6 of it.
    for times in [[9e-41, 2.8e-40], [0.0, 1e-45], [-1e-45, 3e-45], [1e-38, 1.1e-38]] {
        for interpolation in ["LINEAR", "STEP"] {
            assert_within_contract(one_weight(times, interpolation).load().unwrap().0);
        }
    }
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
