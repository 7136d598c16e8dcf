//! The first inputs of each target. They are made here, so that none of them is stored.

use serde_json::{Value, json};

use crate::cocos_examples;
use crate::fbx_text::{FbxText, Key, Y_UP, Z_UP, array, int, vector};
use crate::figure;
use crate::gltf_builder::{GltfBuilder, bytes, something_of_everything};
use crate::npz::{doubles, npy, npz};

/// The seeds of a target by its name.
pub fn of_target(target: &str) -> Vec<Vec<u8>> {
    match target {
        "glb" => gltf_files().iter().map(GltfBuilder::glb).chain([figure::glb()]).collect(),
        "gltf" => gltf().collect(),
        "meshopt" => (0..24).map(|seed| noise(seed, 40 + 20 * seed as usize)).collect(),
        "bvh" => BVH.iter().map(|text| text.as_bytes().to_vec()).collect(),
        "fbx" => fbx_files(),
        "smpl" => smpl(),
        "cocos" => cocos_examples::all().iter().map(json_bytes).collect(),
        "crowd" => crowds().iter().map(json_bytes).collect(),
        "document" | "compress" | "retarget" => (0..24).map(|seed| noise(seed, 32 << (seed % 5))).collect(),
        _ => Vec::new(),
    }
}

fn json_bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Bytes of a simple generator. Half of them are small, so that counts made of them are, too.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..count).map(|_| if next() & 1 == 0 { next() as u8 } else { next() as u8 & 7 }).collect()
}

/// Files with all that a glTF file can have: everything at once, and what excludes it.
fn gltf_files() -> Vec<GltfBuilder> {
    let mut splines = GltfBuilder::new();
    splines.push("nodes", json!({ "name": "a", "children": [1] }));
    splines.push("nodes", json!({ "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1] }));
    splines.push("nodes", json!({ "mesh": 0, "weights": [0.25] }));
    splines.push("meshes", json!({ "primitives": [{ "attributes": {}, "targets": [{}] }] }));
    let input = splines.floats("SCALAR", &[0.0, 0.75, 2.0]);
    let turns = splines.floats("VEC4", &[0.1; 36]);
    let moves = splines.floats("VEC3", &[0.5; 27]);
    let weights = splines.floats("SCALAR", &[0.0, 1.0, 0.0, 0.5, 0.5, 0.5, 1.0, -1.0, 1.0]);
    for (path, output, node) in [("rotation", turns, 0), ("translation", moves, 0), ("weights", weights, 2)] {
        splines.animate(json!({ "node": node, "path": path }), input, output, "CUBICSPLINE");
    }
    let mut packed = something_of_everything();
    let elements: Vec<[u8; 12]> = (0..3).map(|key: u8| std::array::from_fn(|byte| key * byte as u8 / 4)).collect();
    if let Ok(stream) = meshopt::encoding::encode_vertex_buffer_level(&elements, 2, Some(1)) {
        let view = packed.view(&stream);
        let mut extension = packed.json["bufferViews"][view].clone();
        extension["byteStride"] = json!(12);
        extension["count"] = json!(3);
        extension["mode"] = json!("ATTRIBUTES");
        extension["filter"] = json!("EXPONENTIAL");
        packed.json["bufferViews"][1]["extensions"] = json!({ "EXT_meshopt_compression": extension });
        packed.json["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
    }
    let mut tiny = GltfBuilder::new();
    tiny.push("nodes", json!({ "scale": [1, -1, 0.5] }));
    let input = tiny.accessor("SCALAR", 5126, false, 2, &bytes(&[9e-41, 2.8e-40]));
    let output = tiny.accessor("VEC3", 5120, true, 2, &[0, 127, 129, 0, 64, 1, 2, 0]);
    tiny.animate(json!({ "node": 0, "path": "scale" }), input, output, "LINEAR");
    vec![something_of_everything(), splines, packed, tiny]
}

/// `.gltf` files with the buffer in the text, and beside it: after a zero byte.
fn gltf() -> impl Iterator<Item = Vec<u8>> {
    gltf_files().into_iter().flat_map(|file| {
        let beside = [&file.gltf("a.bin")[..], &[0], &file.bin].concat();
        [file.gltf_with_data_uri(), beside]
    })
}

const BVH: [&str; 3] = [
    "HIERARCHY\nROOT hip\n{\n  OFFSET 0 0.9 0\n  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n  \
     JOINT knee\n  {\n    OFFSET 0.1 -0.4 0\n    CHANNELS 3 Zrotation Xrotation Yrotation\n    End Site\n    {\n      \
     OFFSET 0 -0.4 0\n    }\n  }\n}\nMOTION\nFrames: 3\nFrame Time: 0.0333333\n0 0.9 0 0 0 0 1 2 3\n0 1 0.1 5 -7 90 2 3 4\n0 \
     1 0.2 9 -180 359.5 1e1 0 -0\n",
    "hierarchy root a { offset 0 0 0 channels 1 Yrotation } root b { offset 1 2 3 } motion frames: 2 frame time: 1e-3\n1\n2\n",
    "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 0\n}\nMOTION\nFrames: 0\nFrame Time: 0\n",
];

/// Files with nodes, pivots, curves of each kind, a skin and a blend shape.
fn fbx_files() -> Vec<Vec<u8>> {
    let mut moving = FbxText::new();
    moving.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 90.0, 1.0]), vector("Lcl Scaling", [2.0, 1.0, 1.0])]);
    let pivots = [vector("RotationPivot", [0.0, 1.0, 0.0]), vector("PreRotation", [0.0, 90.0, 5.0])];
    moving.node(2, "knee", 1, &[&pivots[..], &[int("RotationOrder", 4), int("InheritType", 2)]].concat());
    let layer = moving.stack("walk", [0.0, 1.0]);
    for (node, property, key) in
        [(1, "Lcl Translation", Key::Linear), (1, "Lcl Scaling", Key::Step), (2, "Lcl Rotation", Key::Cubic)]
    {
        moving.curves(
            layer,
            node,
            property,
            key,
            &[("d|X", &[(0.0, 1.0), (0.5, 90.0), (1.0, 2.0)]), ("d|Z", &[(0.25, 3.0)])],
        );
    }
    let mut shaped = FbxText::new();
    shaped.node(1, "bone", 0, &[]);
    let vertices = array(&[0, 0, 0, 1, 0, 0, 0, 1, 0]);
    shaped.object("Model: 3, \"Model::face\", \"Mesh\"", "Version: 232").connect(3, 0);
    let mesh = format!("Vertices: {vertices}\nPolygonVertexIndex: {}", array(&[0, 1, -3]));
    shaped.object("Geometry: 4, \"Geometry::\", \"Mesh\"", &mesh).connect(4, 3);
    shaped.object("Deformer: 5, \"Deformer::\", \"BlendShape\"", "Version: 100").connect(5, 4);
    shaped.object("Deformer: 6, \"SubDeformer::smile\", \"BlendShapeChannel\"", "DeformPercent: 25").connect(6, 5);
    shaped.object("Deformer: 7, \"Deformer::\", \"Skin\"", "Version: 101").connect(7, 4);
    let cluster = format!("Indexes: {}\nWeights: {}", array(&[0, 1]), array(&[0.5, 1.0]));
    shaped.object("Deformer: 8, \"SubDeformer::\", \"Cluster\"", &cluster).connect(8, 7).connect(1, 8);
    let layer = shaped.stack("talk", [0.5, 1.0]);
    shaped.curves(layer, 6, "DeformPercent", Key::Cubic, &[("d|DeformPercent", &[(0.0, 0.0), (1.0, 80.0)])]);
    // Up to 7.1, shapes are in the mesh, and weights are its properties.
    let mut old = FbxText::new();
    old.object("Model: 3, \"Model::face\", \"Mesh\"", "Version: 232").connect(3, 0);
    let weight = "Properties70:  {\nP: \"smile\", \"Number\", \"\", \"A+\",25\n}";
    let shape = format!("Shape: \"smile\" {{\nIndexes: {}\nVertices: {}\n}}", array(&[1]), array(&[0, 0, 1]));
    old.object("Geometry: 4, \"Geometry::\", \"Mesh\"", &format!("{weight}\n{mesh}\n{shape}")).connect(4, 3);
    let layer = old.stack("talk", [-0.5, 1.0]);
    old.curves(layer, 4, "smile", Key::Linear, &[("d|smile", &[(0.0, 0.0), (1.0, 80.0)])]);
    let old = old.text(Y_UP).replace("FBX 7.4.0", "FBX 7.1.0").replace("FBXVersion: 7400", "FBXVersion: 7100");
    vec![moving.text(Y_UP).into_bytes(), shaped.text(Z_UP).into_bytes(), old.into_bytes()]
}

/// Motions of SMPL, SMPL-H and SMPL-X in both forms, and model files.
fn smpl() -> Vec<Vec<u8>> {
    let poses = |width: usize| -> Vec<f64> { (0..2 * width).map(|index| (index as f64 * 0.7).sin()).collect() };
    let array = |width: usize| doubles(&[2, width], &poses(width));
    let singles: Vec<u8> = poses(72).iter().flat_map(|&number| (number as f32).to_be_bytes()).collect();
    let rate = || doubles(&[], &[120.0]);
    vec![
        npz(&[("poses", array(156)), ("trans", array(3)), ("mocap_framerate", rate())]),
        npz(&[("poses", npy(">f4", true, &[2, 24, 3], &singles)), ("transl", array(3)), ("fps", rate())]),
        npz(&[
            ("root_orient", array(3)),
            ("pose_body", array(63)),
            ("pose_hand", array(90)),
            ("pose_jaw", array(3)),
            ("pose_eye", array(6)),
            ("trans", array(3)),
            ("mocap_frame_rate", rate()),
            ("markers", npy("|O", false, &[], b"\x80\x04N.")),
        ]),
        npz(&[
            ("global_orient", array(3)),
            ("body_pose", array(69)),
            ("left_hand_pose", array(45)),
            ("jaw_pose", array(3)),
            // One row for all frames.
            ("transl", doubles(&[3], &poses(3)[..3])),
            ("fps", rate()),
        ]),
        npz(&[("J", doubles(&[24, 3], &poses(36)))]),
        npz(&[
            ("pose_aa", array(72)),
            // A body without lengths stands as a body does.
            ("J", doubles(&[24, 3], &[0.0; 72])),
            ("J_shapedirs", doubles(&[24, 3, 2], &poses(72))),
            ("betas", doubles(&[2], &poses(1))),
        ]),
        npz(&[
            ("poses", array(66)),
            ("J_regressor", doubles(&[24, 2], &poses(24))),
            ("v_template", doubles(&[2, 3], &[0.0; 6])),
            ("shapedirs", doubles(&[2, 3, 2], &poses(6))),
            ("smpl_trans", npy("<f2", false, &[2, 3], &[0, 0x3c, 0, 0xbc, 1, 0x38, 0, 0, 0, 0x40, 2, 0x3c])),
            ("smpl_scaling", doubles(&[1], &[90.0])),
            ("betas", doubles(&[2], &poses(1))),
        ]),
    ]
}

fn crowds() -> [Value; 3] {
    let standing = json!({ "files": ["b.glb"], "instances": [{ "count": 3 }] });
    let plain = json!({
        "files": ["a.glb", "b.glb"],
        "masks": { "front": { "joints": { "spine": 1.0 }, "descendants": true } },
        "roots": [{ "file": 0, "clip": "walk", "joint": "hip", "translation": "xz", "rotation": "yaw" }],
        "instances": [
            { "file": 0, "count": 4, "spread": { "start": [0.0, 2.0], "rate": [0.9, 1.1], "seed": 7 }, "layers": [
                { "clip": "walk", "wrap": "loop", "start": 0.0, "rate": 1.0, "weight": 0.7,
                  "fade_out": { "start": 2.0, "seconds": 0.5 } },
                { "clip": "run", "wrap": "pingpong", "weight": 0.3,
                  "fade_in": { "start": 0.0, "seconds": 0.5, "shape": "smooth" } },
                { "clip": "wave", "mode": "additive", "reference": "first", "weight": 0.5, "mask": "front" },
                { "clip": 2, "mode": "override", "reference": "rest", "weight": 0.25 },
            ] },
            { "file": 1, "layers": [{ "clip": 0, "wrap": "reverse" }] },
        ],
    });
    let motion = json!({
        "files": ["a.glb"],
        "instances": [{ "count": 2, "parameters": { "gait": [[0.0, 0.0], [4.0, 1.0]], "turn": 0.25 }, "layers": [
            { "clip": "walk", "wrap": "loop", "weight": { "blend_space": "steering", "point": 0 } },
            { "clip": "run", "sync": 0, "weight": { "blend_space": "steering", "point": 1 } },
            { "clip": "wave", "time": { "parameter": "turn" }, "weight": { "parameter": "turn", "knots": [[0, 0], [1, 0.5]] } },
        ], "transition": { "start": 0.5, "half_life": 0.1, "from": [{ "clip": "wave", "wrap": "loop" }],
            "transition": { "start": 0.25, "kind": "dead", "seconds": 0.5, "from": [{ "clip": "run" }] } } }],
        "blend_spaces": { "steering": { "x": "gait", "y": "turn", "points": [[0, 0], [1, 0], [0, 1]] } },
        "markers": [{ "clip": "walk", "times": [0.1, 0.45] }, { "clip": "run", "times": [0.0, 0.5] }],
    });
    [standing, plain, motion]
}
