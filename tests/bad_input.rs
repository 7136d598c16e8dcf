/// Files that fuzzing found.
mod found;
/// Files that are broken at random.
mod random;
/// Maps and documents of retargeting.
mod retarget;

use std::path::Path;

use posse::import::Warning;
use posse::import::gltf::{self, Asset};
use posse::{Error, Library};
use serde_json::{Value, json};

use crate::support::gltf_builder::{GltfBuilder, load, something_of_everything};

/// The path of the error for which a file is refused.
fn error_path(file: &[u8]) -> String {
    match load(file) {
        Err(Error::Import { path, reason, .. }) => {
            assert!(!reason.is_empty());
            path
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}

/// Changes one value, and asserts that the file is refused with this path.
#[track_caller]
fn assert_refused(pointer: &str, value: Value, path: &str) {
    let mut file = something_of_everything();
    file.set(pointer, value.clone());
    assert_eq!(error_path(&file.glb()), path, "with {value} at {pointer}");
}

/// The place of the error of a file, for which it is refused, or a part of it is left out.
fn error_place(file: &[u8]) -> String {
    match load(file) {
        Ok((_, asset)) => left_out(&asset).first().unwrap().path.clone(),
        Err(_) => error_path(file),
    }
}

/// The warnings of an asset about parts that are left out.
fn left_out(asset: &Asset) -> Vec<&Warning> {
    asset.warnings.iter().filter(|warning| warning.message.ends_with(" is left out")).collect()
}

/// Changes one value, and asserts that tracks or a skin are left out, the first with this path, and nothing else.
#[track_caller]
fn assert_left_out(pointer: &str, value: Value, path: &str) {
    let mut file = something_of_everything();
    file.set(pointer, value.clone());
    let (library, asset) = file.load().unwrap();
    let found = left_out(&asset);
    assert_eq!(found.first().map(|warning| warning.path.as_str()), Some(path), "with {value} at {pointer}");
    let (clip, skin) = (library.clip(asset.clips[0]), library.skin(asset.skins[0]));
    assert_eq!((clip.name.as_deref(), library.skeletons()[0].joints().len()), (Some("all"), 3));
    let is_skin = path.starts_with("skins") || path.starts_with("accessors[4]");
    assert_eq!(asset.left_out_skins.len() == 1, is_skin, "{path}");
    assert_eq!(skin.joints.is_empty(), is_skin, "{path}");
    assert_eq!(asset.left_out_clips.len() == 1, clip.tracks.is_empty(), "{path}");
    let tracks = if is_skin { 5 } else { 4 };
    assert!(clip.tracks.len() == tracks || clip.tracks.is_empty(), "{path}: {} tracks", clip.tracks.len());
    let says = if is_skin { "skin 0" } else { "clip \"all\"" };
    assert!(found[0].message.contains(says), "{}", found[0]);
    assert!(Warning::refuse(&asset.file, &asset.warnings).unwrap_err().to_string().contains("made.glb: "));
}

#[test]
fn the_unchanged_file_is_read() {
    let (_, asset) = something_of_everything().load().unwrap();
    assert_eq!(asset.warnings, []);
}

#[test]
fn parts_with_indices_beyond_their_array_are_left_out_with_their_path() {
    assert_left_out("/animations/0/channels/2/sampler", json!(5), "animations[0].channels[2].sampler");
    assert_left_out("/animations/0/channels/4/sampler", json!(5), "animations[0].channels[4].sampler");
    assert_left_out("/animations/0/channels/0/target/node", json!(3), "animations[0].channels[0].target.node");
    assert_left_out("/animations/0/samplers/1/input", json!(7), "animations[0].samplers[1].input");
    assert_left_out("/animations/0/samplers/1/output", json!(7), "animations[0].samplers[1].output");
    assert_left_out("/animations/0/samplers/4/output", json!(7), "animations[0].samplers[4].output");
    assert_left_out("/accessors/0/bufferView", json!(8), "accessors[0].bufferView");
    assert_left_out("/accessors/5/sparse/indices/bufferView", json!(8), "accessors[5].sparse.indices.bufferView");
    assert_left_out("/accessors/5/sparse/values/bufferView", json!(8), "accessors[5].sparse.values.bufferView");
    assert_left_out("/bufferViews/1/buffer", json!(1), "bufferViews[1].buffer");
    assert_left_out("/skins/0/joints/1", json!(3), "skins[0].joints[1]");
    assert_left_out("/skins/0/inverseBindMatrices", json!(7), "skins[0].inverseBindMatrices");
    assert_refused("/nodes/0/children/1", json!(3), "nodes[0].children[1]");
    assert_refused("/nodes/2/mesh", json!(1), "nodes[2].mesh");
    let pointer = "/animations/0/channels/4/target/extensions/KHR_animation_pointer/pointer";
    let path = "animations[0].channels[4].target.extensions.KHR_animation_pointer.pointer";
    for broken in ["/nodes/3/scale", "/nodes/-1/scale", "/nodes/99999999999999999999/scale", "/meshes/1/weights", "x"] {
        assert_left_out(pointer, json!(broken), path);
    }
    assert_left_out(pointer, json!("/meshes/0/weights/2"), "animations[0].channels[4].target");
}

#[test]
fn parts_whose_types_and_counts_do_not_fit_are_left_out() {
    assert_left_out("/accessors/0/componentType", json!(5123), "animations[0].samplers[0].input");
    assert_left_out("/accessors/0/componentType", json!(5124), "accessors[0].componentType");
    assert_left_out("/accessors/0/type", json!("VEC3"), "animations[0].samplers[0].input");
    assert_left_out("/accessors/0/type", json!("VEC5"), "accessors[0].type");
    assert_left_out("/accessors/0/count", json!(0), "animations[0].samplers[0].input");
    assert_refused("/accessors/0/count", json!(-1), "accessors[0].count");
    assert_left_out("/accessors/0/count", json!(4), "accessors[0].bufferView");
    assert_left_out("/accessors/0/byteOffset", json!(u64::MAX), "accessors[0].bufferView");
    assert_left_out("/accessors/1/type", json!("VEC4"), "animations[0].samplers[0].output");
    assert_left_out("/accessors/1/count", json!(2), "animations[0].samplers[0].output");
    assert_left_out("/accessors/1/count", json!(0), "animations[0].samplers[0].output");
    assert_left_out("/accessors/3/count", json!(5), "animations[0].samplers[2].output");
    assert_left_out("/accessors/3/type", json!("VEC2"), "animations[0].samplers[2].output");
    assert_left_out("/accessors/4/count", json!(1), "skins[0].inverseBindMatrices");
    assert_left_out("/accessors/4/type", json!("VEC4"), "skins[0].inverseBindMatrices");
    assert_left_out("/accessors/4/componentType", json!(5122), "skins[0].inverseBindMatrices");
    assert_left_out("/accessors/5/sparse/count", json!(4), "accessors[5].sparse.count");
    assert_left_out("/accessors/5/sparse/count", json!(2), "accessors[5].sparse.indices.bufferView");
    assert_left_out(
        "/accessors/5/sparse/indices/componentType",
        json!(5126),
        "accessors[5].sparse.indices.componentType",
    );
    assert_left_out("/animations/0/samplers/0/interpolation", json!("CUBICSPLINE"), "animations[0].samplers[0].output");
    assert_left_out(
        "/animations/0/samplers/0/interpolation",
        json!("BEZIER"),
        "animations[0].samplers[0].interpolation",
    );
    assert_left_out("/bufferViews/1/byteStride", json!(8), "accessors[1].bufferView");
    assert_left_out("/bufferViews/1/byteLength", json!(35), "accessors[1].bufferView");
    assert_left_out("/bufferViews/1/byteLength", json!(4_000_000_000u64), "bufferViews[1]");
    assert_left_out("/bufferViews/1/byteOffset", json!(u64::MAX), "bufferViews[1]");
    assert_refused("/nodes/1/translation", json!([1, 2]), "nodes[1].translation");
    assert_refused("/nodes/1/translation/1", json!(1e300), "nodes[1].translation");
}

#[test]
fn absurd_counts_cost_no_memory() {
    for count in [4_000_000_000, u64::MAX / 16, u64::MAX] {
        assert_refused("/accessors/0/count", json!(count), "accessors[0].count");
        assert_left_out("/accessors/5/sparse/count", json!(count), "accessors[5].sparse.count");
        assert_refused("/buffers", json!([{ "byteLength": count }]), "buffers[0].byteLength");
        let mut file = something_of_everything();
        file.remove("/accessors/0/bufferView");
        file.set("/accessors/0/count", json!(count));
        assert_eq!(error_path(&file.glb()), "accessors[0].count");
        // Enough scalars for a property of this width.
        let mut file = something_of_everything();
        file.json["accessors"][6] = json!({ "componentType": 5126, "count": count, "type": "SCALAR" });
        file.json["accessors"][0]["count"] = json!(1);
        assert!(error_path(&file.glb()).starts_with("animations[0].samplers["));
    }
}

#[test]
fn a_small_file_that_expands_to_too_many_keys_is_refused() {
    let mut file = GltfBuilder::new();
    let times: Vec<f32> = (0..20_000).map(|key| key as f32).collect();
    let input = file.floats("SCALAR", &times);
    let output = file.floats("VEC3", &vec![0.5; 60_000]);
    for node in 0..20_000 {
        file.push("nodes", json!({}));
        let target = json!({ "node": node, "path": "scale" });
        file.push(
            "animations",
            json!({ "channels": [{ "sampler": 0, "target": target }], "samplers": [{ "input": input, "output": output }] }),
        );
    }
    assert_eq!(error_path(&file.glb()), format!("accessors[{output}].count"));
}

#[test]
fn parts_with_numbers_that_are_not_finite_are_left_out_with_their_element() {
    for (accessor, place) in [(0, 1), (1, 4), (4, 17), (6, 5)] {
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut file = something_of_everything();
            let view =
                &file.json["bufferViews"][file.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize];
            let offset = view["byteOffset"].as_u64().unwrap() as usize + place * 4;
            file.bin[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
            let (_, asset) = file.load().unwrap();
            let warning = left_out(&asset)[0];
            assert_eq!(warning.path, format!("accessors[{accessor}]"));
            assert!(warning.message.starts_with("element 1 has "), "{warning}");
        }
    }
}

#[test]
fn a_track_whose_key_times_decrease_is_left_out() {
    for times in [[0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [0.0, f32::NAN, 1.0]] {
        let mut file = something_of_everything();
        let input = file.floats("SCALAR", &times);
        file.set("/animations/0/samplers/1/input", json!(input));
        let (library, asset) = file.load().unwrap();
        assert_eq!((library.clip(asset.clips[0]).tracks.len(), asset.left_out_clips.len()), (4, 0));
        let warning = left_out(&asset)[0];
        assert!(warning.message.ends_with("the track of channel 1 of clip \"all\" is left out"), "{warning}");
    }
}

#[test]
fn a_track_with_sparse_indices_beyond_the_elements_is_left_out() {
    let mut file = something_of_everything();
    let offset = file.json["bufferViews"][5]["byteOffset"].as_u64().unwrap() as usize;
    file.bin[offset] = 3;
    assert_eq!(error_place(&file.glb()), "accessors[5].sparse.indices");
}

#[test]
fn hierarchies_that_are_not_trees_are_refused() {
    assert_refused("/nodes/1/children", json!([2]), "nodes[1].children[0]");
    assert_refused("/nodes/0/children", json!([1, 1]), "nodes[0].children[1]");
    assert_refused("/nodes/2/children", json!([2]), "nodes[2].children[0]");
    let mut file = GltfBuilder::new();
    for children in [json!([1]), json!([2]), json!([1])] {
        file.push("nodes", json!({ "children": children }));
    }
    assert_eq!(error_path(&file.glb()), "nodes[2].children[0]");
    let mut file = GltfBuilder::new();
    for children in [json!([]), json!([2]), json!([3]), json!([1])] {
        file.push("nodes", json!({ "children": children }));
    }
    assert!(
        ["nodes[1].children[0]", "nodes[2].children[0]", "nodes[3].children[0]"].contains(&&*error_path(&file.glb()))
    );
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "children": [0] }));
    assert_eq!(error_path(&file.glb()), "nodes[0].children[0]");
}

#[test]
fn a_very_deep_hierarchy_costs_no_stack() {
    let count = 200_000;
    let mut file = GltfBuilder::new();
    file.json["nodes"] =
        (0..count).map(|node| if node == 0 { json!({}) } else { json!({ "children": [node - 1] }) }).collect();
    let (library, asset) = file.load().unwrap();
    assert_eq!(asset.joints[0], count - 1);
    assert_eq!(library.skeleton(asset.skeleton).depths().last(), Some(&(count - 1)));
}

#[test]
fn missing_buffers_are_refused() {
    let file = something_of_everything();
    for uri in [
        "http://example.org/a.bin",
        "file:///a.bin",
        "/a.bin",
        "\\\\host\\a.bin",
        "C:\\a.bin",
        "%2Fa.bin",
        "a%2",
        "a%zz.bin",
        "%ff.bin",
        "a.bin",
        "data:application/octet-stream;base64",
        "data:application/octet-stream;base64,@@@@",
        "data:,a%",
    ] {
        assert_eq!(error_path(&file.gltf(uri)), "buffers[0].uri", "{uri}");
    }
    assert_eq!(error_path(&file.gltf("data:application/octet-stream;base64,AAAA")), "buffers[0].byteLength");
    let mut none = file.clone();
    none.json["buffers"] = json!([{ "byteLength": file.bin.len() }]);
    assert_eq!(error_path(&serde_json::to_vec(&none.json).unwrap()), "buffers[0]");

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("short.bin"), &file.bin[..8]).unwrap();
    std::fs::create_dir(folder.path().join("folder.bin")).unwrap();
    let place = |uri: &str| {
        let loaded = gltf::from_slice(&mut Library::new(), "a.gltf".as_ref(), &file.gltf(uri), Some(folder.path()));
        match loaded {
            Err(Error::Import { path, .. }) => path,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(place("short.bin"), "buffers[0].byteLength");
    assert_eq!(place("missing.bin"), "buffers[0].uri");
    assert_eq!(place("folder.bin"), "buffers[0].uri");
    assert!(matches!(gltf::load(&mut Library::new(), folder.path().join("none.glb")), Err(Error::Io { .. })));
}

#[test]
fn a_file_that_many_buffers_name_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let size = 64 << 20;
    let count = 1000;
    std::fs::File::create(folder.path().join("large.bin")).unwrap().set_len(size).unwrap();
    let mut file = GltfBuilder::new();
    file.push("buffers", json!({ "uri": "data:,%00%00%00%00", "byteLength": 4 }));
    let input = file.floats("SCALAR", &[0.0]);
    for buffer in 1..=count {
        // Each buffer has another name for the file and another length: 64 GB in all.
        let uri = format!("{}large.bin", "./".repeat(buffer));
        file.push("buffers", json!({ "uri": uri, "byteLength": size - (count - buffer) as u64 }));
        let view = file.push("bufferViews", json!({ "buffer": buffer, "byteLength": 12 }));
        let output = json!({ "bufferView": view, "componentType": 5126, "count": 1, "type": "VEC3" });
        let output = file.push("accessors", output);
        let node = file.push("nodes", json!({}));
        file.animate(json!({ "node": node, "path": "translation" }), input, output, "LINEAR");
    }
    let json = serde_json::to_vec(&file.json).unwrap();
    let start = std::time::Instant::now();
    let asset = gltf::from_slice(&mut Library::new(), "a.gltf".as_ref(), &json, Some(folder.path())).unwrap();
    assert!(asset.clips.len() == count && start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn many_nodes_times_many_animations_are_limited() {
    let file = |nodes: usize, animations: usize| {
        let mut file = GltfBuilder::new();
        file.json["nodes"] = vec![json!({}); nodes].into();
        file.json["animations"] = vec![json!({}); animations].into();
        file.glb()
    };
    assert_eq!(load(&file(500, 2000)).unwrap().1.clips.len(), 2000);
    assert_eq!(error_path(&file(20_000, 20_000)), "animations[19999]");
}

#[test]
fn broken_containers_are_refused() {
    let glb = something_of_everything().glb();
    let with = |offset: usize, word: u32| {
        let mut glb = glb.clone();
        glb[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        error_path(&glb)
    };
    for length in [0, 11, glb.len() as u32 + 1, u32::MAX] {
        assert_eq!(with(8, length), "GLB header", "length {length}");
    }
    assert_eq!(with(8, 12), "GLB chunk 0");
    assert_eq!(with(8, 15), "GLB chunk 0");
    assert_eq!(with(4, 1), "GLB header");
    assert_eq!(with(12, u32::MAX), "GLB chunk 0");
    assert_eq!(with(16, 0x004E_4942), "GLB chunk 0");
    let json = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    assert_eq!(with(20 + json, u32::MAX), "GLB chunk 1");
    for end in 0..glb.len() {
        error_path(&glb[..end]);
    }
    for other in [b"".as_slice(), b"solid cube", b"[]", b"null", b"\xEF\xBB\xBF"] {
        assert_eq!(error_path(other), "file", "{other:?}");
    }
    assert_eq!(error_path(b"{"), "JSON");
    assert_eq!(error_path(br#"{ "asset": { "ver"#), "asset");
    assert_eq!(
        error_path(br#"{ "asset": { "version": "2.0" }, "nodes": [{}, { "children": [0.5] }] }"#),
        "nodes[1].children[0]"
    );
    assert_eq!(error_path(br#"{ "asset": { "version": "1.0" }, "nodes": { "a": {} } }"#), "asset.version");
    assert_eq!(error_path(br#"{ "asset": { "version": "3.0" } }"#), "asset.version");
}

#[test]
fn broken_compression_is_found() {
    let extension = "bufferViews[0].extensions.EXT_meshopt_compression";
    let compression = json!({ "buffer": 0, "byteLength": 12, "byteStride": 4, "count": 3, "mode": "ATTRIBUTES" });
    let with = |key: &str, value: Value| {
        let mut file = something_of_everything();
        file.json["bufferViews"][0]["extensions"] = json!({ "EXT_meshopt_compression": compression });
        file.json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"][key] = value;
        error_place(&file.glb())
    };
    assert_eq!(with("buffer", json!(0)), extension);
    assert_eq!(with("buffer", json!(1)), format!("{extension}.buffer"));
    assert_eq!(with("byteLength", json!(u64::MAX)), extension);
    assert_eq!(with("byteStride", json!(7)), format!("{extension}.byteStride"));
    assert_eq!(with("count", json!(4_000_000_000u64)), format!("{extension}.count"));
    assert_eq!(with("count", json!(1_000_000)), extension);
    assert_eq!(with("mode", json!("QUADS")), format!("{extension}.mode"));
    assert_eq!(with("filter", json!("SEPIA")), format!("{extension}.filter"));
}

#[test]
fn a_refused_gltf_file_leaves_the_library_unchanged() {
    let mut library = something_of_everything().load().unwrap().0;
    let before = library.clone();
    let mut file = something_of_everything();
    file.set("/nodes/2/mesh", json!(7));
    gltf::from_slice(&mut library, Path::new("broken.glb"), &file.glb(), None).unwrap_err();
    assert_eq!(library, before);
}
