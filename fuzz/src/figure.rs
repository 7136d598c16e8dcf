//! A glTF figure, which crowd files of the targets name.

use serde_json::json;

use crate::gltf_builder::GltfBuilder;

/// Four joints in a chain and the clips `walk`, `run` and `wave`, as a `.glb` file.
pub fn glb() -> Vec<u8> {
    let mut file = GltfBuilder::new();
    for (index, name) in ["hip", "spine", "arm", "hand"].into_iter().enumerate() {
        let children: Vec<usize> = if index < 3 { vec![index + 1] } else { Vec::new() };
        file.push("nodes", json!({ "name": name, "translation": [0.0, 0.5, 0.0], "children": children }));
        if index == 3 {
            file.json["nodes"][3].as_object_mut().expect("a node is an object").remove("children");
        }
    }
    let half = 0.5_f32.sqrt();
    for (name, seconds) in [("walk", 1.0), ("run", 0.6), ("wave", 2.0)] {
        let input = file.floats("SCALAR", &[0.0, 0.5 * seconds, seconds]);
        let path = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 1.1, 0.5 * seconds, 0.0, 1.0, seconds]);
        let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, half, 0.0, half, 0.0, 0.0, 0.0, 1.0]);
        let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
        let channels = [channel(0, 0, "translation"), channel(1, 0, "rotation"), channel(1, 2, "rotation")];
        let samplers = json!([{ "input": input, "output": path }, { "input": input, "output": turns }]);
        file.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
    }
    file.push("skins", json!({ "joints": [0, 1, 2, 3] }));
    file.glb()
}

/// A file with something of everything that a glTF file can have, without compression.
pub fn other_glb() -> Vec<u8> {
    crate::gltf_builder::something_of_everything().glb()
}
