//! The glTF importer: every form that a file can have, repairs, and warnings.

/// Files as people have them: what is repaired, and what is left out.
mod as_found;
/// Names of morph targets, and expressions.
mod morphs;
/// Animation pointers.
mod pointers;

use std::path::Path;
use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Track};
use posse::import::gltf::{self, Asset};
use posse::{Joint, Library};
use serde_json::{Value, json};

use crate::support::gltf_builder::{GltfBuilder, bytes, load, something_of_everything};
use crate::support::skip::collected_or_skip;

/// The tracks of the first clip.
fn tracks(loaded: &(Library, Asset)) -> &[Track] {
    let (library, asset) = loaded;
    &library.clip(asset.clips[0]).tracks
}

/// The joint of a node.
fn joint(loaded: &(Library, Asset), node: usize) -> Joint {
    let (library, asset) = loaded;
    library.skeleton(asset.skeleton).joints()[asset.joints[node]].clone()
}

/// The paths of the warnings of a file.
fn warnings(loaded: &(Library, Asset)) -> Vec<&str> {
    loaded.1.warnings.iter().map(|warning| warning.path.as_str()).collect()
}

/// A file of one node, whose `path` is driven by an output with `keys` keys at 0 s, 1 s, 2 s ...
fn one_channel(
    path: &str,
    keys: usize,
    interpolation: &str,
    output: impl FnOnce(&mut GltfBuilder) -> usize,
) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("meshes", json!({ "primitives": [{ "targets": [{}, {}] }] }));
    file.push("nodes", json!({ "mesh": 0 }));
    let times: Vec<f32> = (0..keys).map(|key| key as f32).collect();
    let input = file.floats("SCALAR", &times);
    let output = output(&mut file);
    file.animate(json!({ "node": 0, "path": path }), input, output, interpolation);
    file
}

/// The only curve of a file.
fn curve(file: &GltfBuilder) -> Curve {
    tracks(&file.load().unwrap())[0].curve.clone()
}

#[test]
fn a_file_with_something_of_everything_is_read() {
    let loaded = something_of_everything().load().unwrap();
    let (library, asset) = &loaded;
    assert_eq!((asset.joints.as_slice(), asset.file.as_path()), (&[0, 1, 2][..], Path::new("made.glb")));
    let skeleton = library.skeleton(asset.skeleton);
    assert_eq!(skeleton.name(), Some("made"));
    assert_eq!(skeleton.joints()[0].name.as_deref(), Some("root"));
    assert_eq!(skeleton.joints().iter().map(|joint| joint.parent).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
    assert_eq!(skeleton.joints()[1].rest.translation, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(skeleton.joints()[2].weights, [0.5, 0.25]);
    let property = &skeleton.properties()[0];
    assert_eq!(property.name, "/materials/0/pbrMetallicRoughness/baseColorFactor");
    assert_eq!(property.rest, [1.0, 0.5, 0.25, 1.0]);

    let skin = library.skin(asset.skins[0]);
    assert_eq!(skin.joints, [1, 0]);
    assert_eq!(skin.inverse_bind, [DAffine3::IDENTITY; 2]);

    let clip = library.clip(asset.clips[0]);
    assert_eq!((clip.name.as_deref(), clip.duration()), (Some("all"), 2.0));
    let targets: Vec<Target> = clip.tracks.iter().map(|track| track.target).collect();
    let wanted =
        [Target::Translation(1), Target::Rotation(1), Target::Weights(2), Target::Scale(0), Target::Property(0)];
    assert_eq!(targets, wanted);
    assert_eq!(clip.tracks[0].curve.value(2), [3.0, 0.0, 0.0]);
    assert_eq!(clip.tracks[1].curve.value(2), [0.0, 0.0, 0.0, -1.0]);
    assert_eq!(clip.tracks[1].curve.interpolation(), Interpolation::Linear);
    assert_eq!(clip.tracks[2].curve.values(), [0.0, 1.0, 0.2, 0.4, 0.6, 0.8]);
    assert_eq!(clip.tracks[2].curve.interpolation(), Interpolation::Step);
    assert_eq!(clip.tracks[3].curve.values(), [0.0, 0.0, 0.0, 7.0, 8.0, 9.0, 0.0, 0.0, 0.0]);
    assert_eq!(clip.tracks[4].curve.values(), [0.5; 12]);
    for track in &clip.tracks {
        assert!(Arc::ptr_eq(track.curve.timeline(), clip.tracks[0].curve.timeline()));
    }
}

#[test]
fn equal_times_of_different_accessors_are_one_timeline() {
    let mut file = something_of_everything();
    let same = file.floats("SCALAR", &[0.0, 1.0, 2.0]);
    let other = file.floats("SCALAR", &[0.0, 1.0, 2.5]);
    file.set("/animations/0/samplers/1/input", json!(same));
    file.set("/animations/0/samplers/2/input", json!(other));
    let loaded = file.load().unwrap();
    let timeline = |track: usize| tracks(&loaded)[track].curve.timeline();
    assert!(Arc::ptr_eq(timeline(0), timeline(1)));
    assert!(!Arc::ptr_eq(timeline(0), timeline(2)));
}

#[test]
fn integers_that_a_pointer_drives_are_kept_unless_normalized() {
    let weights = |normalized: bool| {
        let mut file =
            one_channel("weights", 1, "STEP", |file| file.accessor("SCALAR", 5121, normalized, 2, &[1, 255]));
        let target = json!({ "KHR_animation_pointer": { "pointer": "/nodes/0/weights" } });
        file.set("/animations/0/channels/0/target", json!({ "path": "pointer", "extensions": target }));
        let loaded = file.load().unwrap();
        assert_eq!(warnings(&loaded), [""; 0]);
        tracks(&loaded)[0].curve.values().to_vec()
    };
    assert_eq!(weights(false), [1.0, 255.0]);
    assert_eq!(weights(true), [1.0 / 255.0, 1.0]);
}

#[test]
fn every_component_type_becomes_numbers() {
    let rotation = |component: u32, normalized: bool, bytes: Vec<u8>| {
        one_channel("rotation", 1, "STEP", |file| file.accessor("VEC4", component, normalized, 1, &bytes))
    };
    let cases: [(u32, Vec<u8>, [f64; 4]); 5] = [
        (5120, vec![127, 0x80, 0x81, 0], [1.0, -1.0, -1.0, 0.0]),
        (5121, vec![255, 0, 51, 0], [1.0, 0.0, 0.2, 0.0]),
        (5122, [32767i16, -32768, -32767, 0].map(i16::to_le_bytes).concat(), [1.0, -1.0, -1.0, 0.0]),
        (5123, [65535u16, 0, 13107, 0].map(u16::to_le_bytes).concat(), [1.0, 0.0, 0.2, 0.0]),
        (5126, bytes(&[1.0, -0.0, 1e-42, 0.5]), [1.0, 0.0, f64::from(1e-42f32), 0.5]),
    ];
    for (component, bytes, wanted) in cases {
        assert_eq!(curve(&rotation(component, component != 5126, bytes.clone())).values(), wanted);
        if component != 5126 {
            let loaded = rotation(component, false, bytes).load().unwrap();
            assert_eq!(tracks(&loaded)[0].curve.values(), wanted, "normalized although the file does not say so");
            assert_eq!(warnings(&loaded), ["animations[0].samplers[0].output"]);
        }
    }
    let steps =
        one_channel("translation", 1, "STEP", |file| file.accessor("VEC3", 5122, false, 1, &[1, 0, 2, 0, 255, 255]));
    let loaded = steps.load().unwrap();
    assert_eq!(tracks(&loaded)[0].curve.values(), [1.0, 2.0, -1.0]);
    assert_eq!(warnings(&loaded), ["animations[0].samplers[0].output"]);
}

#[test]
fn every_interpolation_is_read() {
    let numbers: Vec<f32> = (0..18).map(|number| number as f32).collect();
    let cubic = curve(&one_channel("scale", 2, "CUBICSPLINE", |file| file.floats("VEC3", &numbers)));
    assert_eq!(cubic.interpolation(), Interpolation::CubicSpline);
    assert_eq!((cubic.value(1), cubic.out_tangent(1)), (&[12.0, 13.0, 14.0][..], &[15.0, 16.0, 17.0][..]));
    let single = curve(&one_channel("scale", 1, "CUBICSPLINE", |file| file.floats("VEC3", &numbers[..9])));
    assert_eq!(single.value(0), [3.0, 4.0, 5.0]);
    let weights = curve(&one_channel("weights", 2, "CUBICSPLINE", |file| file.floats("SCALAR", &numbers[..12])));
    assert_eq!((weights.width(), weights.value(1)), (2, &[8.0, 9.0][..]));
    for (name, wanted) in [("STEP", Interpolation::Step), ("LINEAR", Interpolation::Linear)] {
        let file = one_channel("scale", 2, name, |file| file.floats("VEC3", &numbers[..6]));
        assert_eq!(curve(&file).interpolation(), wanted);
    }
}

#[test]
fn strides_and_offsets_are_used() {
    let mut file =
        one_channel("translation", 2, "LINEAR", |file| file.floats("VEC3", &[9.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0]));
    file.set("/accessors/1/count", json!(2));
    file.set("/accessors/1/byteOffset", json!(4));
    file.set("/bufferViews/1/byteStride", json!(16));
    assert_eq!(curve(&file).values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut tight = one_channel("translation", 1, "LINEAR", |file| file.floats("VEC3", &[1.0, 2.0, 3.0]));
    tight.set("/bufferViews/1/byteStride", json!(0));
    assert_eq!(curve(&tight).values(), [1.0, 2.0, 3.0]);
}

#[test]
fn sparse_accessors_replace_stored_values_or_zeros() {
    let mut file = one_channel("translation", 3, "LINEAR", |file| file.floats("VEC3", &[1.0; 9]));
    let indices = file.view(&[0, 0, 2, 0]);
    let values = file.view(&bytes(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
    file.json["accessors"][1]["sparse"] = json!({
        "count": 2, "indices": { "bufferView": indices, "componentType": 5123 }, "values": { "bufferView": values },
    });
    assert_eq!(curve(&file).values(), [2.0, 3.0, 4.0, 1.0, 1.0, 1.0, 5.0, 6.0, 7.0]);
    file.remove("/accessors/1/bufferView");
    assert_eq!(curve(&file).values(), [2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 5.0, 6.0, 7.0]);
    file.remove("/accessors/1/sparse");
    assert_eq!(curve(&file).values(), [0.0; 9]);
}

#[test]
fn matrices_are_kept_unless_they_are_animated() {
    let mut file = one_channel("translation", 1, "LINEAR", |file| file.floats("VEC3", &[1.0, 2.0, 3.0]));
    let matrix = DAffine3::from_scale_rotation_translation(
        DVec3::new(1.0, 2.0, 3.0),
        DQuat::from_rotation_z(0.5),
        DVec3::new(4.0, 5.0, 6.0),
    );
    let columns = glam::DMat4::from(matrix).to_cols_array();
    file.json["nodes"][0]["matrix"] = json!(columns);
    file.push("nodes", json!({ "matrix": columns }));
    file.push("nodes", json!({ "matrix": [1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "scale": [2, 2, 2] }));
    let loaded = file.load().unwrap();
    assert_eq!(joint(&loaded, 0).matrix, None);
    assert!(joint(&loaded, 0).rest.to_affine().abs_diff_eq(matrix, 1e-12));
    assert!(joint(&loaded, 1).matrix.unwrap().abs_diff_eq(matrix, 1e-12));
    assert!((joint(&loaded, 1).rest.scale - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-12);
    assert_eq!(joint(&loaded, 2).matrix, Some(DAffine3::IDENTITY));
    assert_eq!(warnings(&loaded), ["nodes[0].matrix", "nodes[2].matrix", "nodes[2].matrix"]);
}

#[test]
fn parents_come_before_children_and_roots_stay_in_order() {
    let mut file = one_channel("translation", 1, "LINEAR", |file| file.floats("VEC3", &[1.0, 2.0, 3.0]));
    file.json["nodes"] = json!([
        { "name": "a", "mesh": 0 }, { "name": "b", "children": [3, 0] }, { "name": "c" }, { "name": "d" }, { "name": "e", "children": [1] },
    ]);
    file.push("skins", json!({ "joints": [3, 4, 0, 3] }));
    let loaded = file.load().unwrap();
    let (library, asset) = &loaded;
    let joints = library.skeleton(asset.skeleton).joints();
    let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["c", "e", "b", "d", "a"]);
    assert_eq!(asset.joints, [4, 2, 0, 3, 1]);
    assert_eq!(joints.iter().map(|joint| joint.parent).collect::<Vec<_>>(), [None, None, Some(1), Some(2), Some(2)]);
    assert_eq!(library.skin(asset.skins[0]).joints, [3, 1, 4, 3]);
    assert_eq!(library.skin(asset.skins[0]).inverse_bind, [DAffine3::IDENTITY; 4]);
    assert_eq!(tracks(&loaded)[0].target, Target::Translation(4));
    assert!(asset.warnings.is_empty());
}

#[test]
fn weights_are_those_of_the_node_or_of_the_mesh_or_zeros() {
    let mut file = GltfBuilder::new();
    file.push("meshes", json!({ "primitives": [{ "targets": [{}, {}] }], "weights": [1, 2] }));
    file.push("meshes", json!({ "primitives": [{ "targets": [{}] }, {}] }));
    file.push("nodes", json!({ "mesh": 0, "weights": [3, 4] }));
    file.push("nodes", json!({ "mesh": 0 }));
    file.push("nodes", json!({ "mesh": 1 }));
    file.push("nodes", json!({ "mesh": 1, "weights": [5, 6] }));
    file.push("nodes", json!({ "weights": [7] }));
    let loaded = file.load().unwrap();
    let weights: Vec<Vec<f64>> = (0..5).map(|node| joint(&loaded, node).weights).collect();
    assert_eq!(weights, [vec![3.0, 4.0], vec![1.0, 2.0], vec![0.0], vec![5.0], vec![]]);
    assert_eq!(warnings(&loaded), ["meshes[1].primitives", "nodes[3].weights", "nodes[4].weights"]);
}

#[test]
fn channels_that_drive_nothing_are_skipped() {
    let mut file = something_of_everything();
    let mut channel = |target: Value| file.json["animations"][0]["channels"].as_array_mut().unwrap().push(target);
    channel(json!({ "sampler": 99, "target": { "path": "translation" } }));
    channel(json!({ "sampler": 99, "target": { "node": 0, "path": "colour" } }));
    channel(json!({ "sampler": 99, "target": { "node": 0, "path": "weights" } }));
    channel(json!({ "sampler": 99, "target": { "node": 1, "path": "translation" } }));
    let twin = json!({ "KHR_animation_pointer": { "pointer": "/nodes/1/rotation" } });
    channel(json!({ "sampler": 99, "target": { "path": "pointer", "extensions": twin } }));
    let single = json!({ "KHR_animation_pointer": { "pointer": "/nodes/2/weights/0" } });
    channel(json!({ "sampler": 99, "target": { "path": "pointer", "extensions": single } }));
    let loaded = file.load().unwrap();
    assert_eq!(tracks(&loaded).len(), 5);
    let paths = [5, 6, 7, 8, 9, 10].map(|channel| format!("animations[0].channels[{channel}].target"));
    let found = warnings(&loaded);
    assert_eq!(found.len(), 6);
    assert!(found.iter().zip(&paths).all(|(found, path)| found.starts_with(path)), "{found:?}");
}

#[test]
fn errors_that_can_be_repaired_are_repaired_with_a_warning() {
    let zero =
        one_channel("rotation", 2, "LINEAR", |file| file.floats("VEC4", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]));
    let loaded = zero.load().unwrap();
    assert_eq!(tracks(&loaded)[0].curve.values(), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(warnings(&loaded), ["animations[0].samplers[0].output"]);

    let cubic = one_channel("rotation", 1, "CUBICSPLINE", |file| file.floats("VEC4", &[0.0; 12]));
    assert_eq!(curve(&cubic).values(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);

    let longer = one_channel("scale", 1, "LINEAR", |file| file.floats("VEC3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let loaded = longer.load().unwrap();
    assert_eq!(tracks(&loaded)[0].curve.values(), [1.0, 2.0, 3.0]);
    assert_eq!(warnings(&loaded), ["animations[0].samplers[0].output"]);

    let mut early = one_channel("scale", 2, "LINEAR", |file| file.floats("VEC3", &[1.0; 6]));
    let input = early.floats("SCALAR", &[-2.0, -1.0]);
    early.set("/animations/0/samplers/0/input", json!(input));
    let loaded = early.load().unwrap();
    assert_eq!(loaded.0.clip(loaded.1.clips[0]).duration(), 0.0);
    assert_eq!(warnings(&loaded), ["animations[0].samplers[0].input"]);

    let mut file = something_of_everything();
    file.json["nodes"][1]["rotation"] = json!([0, 0, 0, 0]);
    file.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression", "KHR_materials_unlit", "ACME_rockets"]);
    let identity = [1.0, 0.0, 0.0, 0.25, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let matrices = file.floats("MAT4", &[identity; 3].concat());
    file.set("/skins/0/inverseBindMatrices", json!(matrices));
    let loaded = file.load().unwrap();
    assert_eq!(joint(&loaded, 1).rest.rotation, DQuat::IDENTITY);
    assert_eq!(loaded.0.skin(loaded.1.skins[0]).inverse_bind, [DAffine3::IDENTITY; 2]);
    let element = |element: usize| format!("accessors[{matrices}], element {element}");
    assert_eq!(warnings(&loaded), ["extensionsRequired[2]", "nodes[1].rotation", &element(0), &element(1)]);
    let mut file = GltfBuilder::new();
    file.remove("/asset");
    assert_eq!(warnings(&file.load().unwrap()), ["asset.version"]);
    assert!(loaded.1.warnings[0].to_string().starts_with("extensionsRequired[2]: ACME_rockets"));
}

#[test]
fn a_buffer_can_be_given_by_a_function() {
    let file = something_of_everything();
    let wanted = file.load().unwrap().0;
    let read = |bytes: &[u8], files: &dyn Fn(&str) -> Option<Vec<u8>>| {
        let held = std::cell::RefCell::new(Vec::new());
        let given: Vec<(String, Vec<u8>)> = ["data/a b.bin", "missing.bin"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), files(name)?)))
            .collect();
        let find = |name: &str| {
            held.borrow_mut().push(name.to_owned());
            given.iter().find(|(given, _)| given == name).map(|(_, bytes)| bytes.as_slice())
        };
        let mut library = Library::new();
        let result = gltf::from_slice_with(&mut library, Path::new("made.glb"), bytes, &find);
        (result.map(|_| library), held.take())
    };
    let (library, asked) =
        read(&file.gltf("data/a%20b.bin"), &|name| (name == "data/a b.bin").then(|| file.bin.clone()));
    assert_eq!(library.unwrap(), wanted);
    assert!(asked.iter().all(|name| name == "data/a b.bin"), "{asked:?}");
    assert_eq!(read(&file.gltf_with_data_uri(), &|_| None).0.unwrap(), wanted, "data URIs need no file");

    let error = read(&file.gltf("missing.bin"), &|_| None).0.unwrap_err().to_string();
    assert!(error.contains("buffers[0].uri: \"missing.bin\" is another file"), "{error}");
    let short = file.bin[..file.bin.len() - 1].to_vec();
    let error = read(&file.gltf("missing.bin"), &|_| Some(short.clone())).0.unwrap_err().to_string();
    assert!(error.contains("buffers[0].byteLength"), "{error}");
}

#[test]
fn letters_that_are_not_utf8_are_replaced_with_a_warning() {
    let (before, after) = (br#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "B"#, br#"ro" }] }"#);
    let loaded = load(&[before.as_slice(), b"\xFC", after].concat()).unwrap();
    assert_eq!(loaded.0.skeletons()[0].joints()[0].name.as_deref(), Some("B\u{FFFD}ro"));
    assert_eq!(warnings(&loaded), ["JSON"]);
}

#[test]
fn a_buffer_can_be_in_the_file_or_beside_it_or_in_a_data_uri() {
    let file = something_of_everything();
    let wanted = file.load().unwrap().0;
    assert_eq!(load(&file.gltf_with_data_uri()).unwrap().0, wanted);
    let marked = [b"\xEF\xBB\xBF".as_slice(), &file.gltf_with_data_uri(), b"\n\0"].concat();
    assert_eq!(load(&marked).unwrap().0, wanted);
    let percent: String = file.bin.iter().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(load(&file.gltf(&format!("data:,{percent}"))).unwrap().0, wanted);
    let trailing = [file.glb(), vec![1, 2, 3]].concat();
    assert_eq!(warnings(&load(&trailing).unwrap()), ["GLB header"]);

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a b")).unwrap();
    std::fs::write(folder.path().join("a b/ü.bin"), [file.bin.as_slice(), &[0; 9]].concat()).unwrap();
    let made = folder.path().join("made.gltf");
    std::fs::write(&made, file.gltf("a%20b/%C3%BC.bin")).unwrap();
    let mut library = Library::new();
    let asset = gltf::load(&mut library, &made).unwrap();
    assert_eq!((library, asset.file), (wanted, made));
}

#[test]
fn only_buffers_that_animations_need_are_loaded() {
    let mut file = something_of_everything();
    file.json["buffers"] = json!([{ "byteLength": file.bin.len() }, { "uri": "http://mesh.bin", "byteLength": 9 }, {}]);
    file.push("bufferViews", json!({ "buffer": 1, "byteLength": 9 }));
    file.push("accessors", json!({ "bufferView": 8, "componentType": 77, "count": 3, "type": "VEC9" }));
    assert!(file.load().is_ok());
}

#[test]
fn compressed_views_need_no_fallback_data() {
    let times: [f32; 3] = [0.0, 1.0, 2.0];
    for (name, version) in [("EXT_meshopt_compression", 0), ("KHR_meshopt_compression", 1)] {
        let mut file = something_of_everything();
        let encoded = meshopt::encoding::encode_vertex_buffer_level(&times, 2, Some(version)).unwrap();
        let view = file.view(&encoded);
        let offset = file.json["bufferViews"][view]["byteOffset"].clone();
        file.json["buffers"] = json!([{ "byteLength": file.bin.len() }, { "byteLength": 4_000_000_000u64 }]);
        file.json["bufferViews"][0] = json!({ "buffer": 1, "byteOffset": 400, "byteLength": 12, "extensions": { name: {
            "buffer": 0, "byteOffset": offset, "byteLength": encoded.len(), "byteStride": 4, "count": 3, "mode": "ATTRIBUTES",
        } } });
        assert_eq!(file.load().unwrap().0, something_of_everything().load().unwrap().0);
    }
}

#[test]
fn a_library_holds_several_files() {
    let mut library = Library::new();
    let glb = something_of_everything().glb();
    let first = gltf::from_slice(&mut library, "a.glb".as_ref(), &glb, None).unwrap();
    let second = gltf::from_slice(&mut library, "b.glb".as_ref(), &glb, None).unwrap();
    let indices = |asset: &Asset| (asset.skeleton.index(), asset.skins[0].index(), asset.clips[0].index());
    assert_eq!((indices(&first), indices(&second)), ((0, 0, 0), (1, 1, 1)));
    assert_eq!(library.clip(second.clips[0]).skeleton, second.skeleton);
    assert_eq!(library.skin(second.skins[0]).skeleton, second.skeleton);
    assert_eq!(library.skeleton(second.skeleton).name(), Some("b"));
}

#[test]
fn a_file_without_content_is_an_empty_skeleton() {
    let (library, asset) = load(br#"{ "asset": { "version": "2.0" } }"#).unwrap();
    assert!(library.skeleton(asset.skeleton).joints().is_empty());
    assert!(asset.clips.is_empty() && asset.skins.is_empty() && asset.warnings.is_empty());
}

#[test]
fn numbers_of_joints_follow_the_order_of_the_file() {
    // Children before parents, so that the joints have another order.
    let nodes = r#"[{ "name": "arm", "translation": [1, 0, 0] }, { "name": "arm", "translation": [2, 0, 0] },
        { "name": "root", "children": [1, 0] }]"#;
    let (library, asset) =
        load(format!(r#"{{ "asset": {{ "version": "2.0" }}, "nodes": {nodes} }}"#).as_bytes()).unwrap();
    let skeleton = library.skeleton(asset.skeleton);
    assert_eq!(asset.joints, [2, 1, 0]);
    for (text, x) in [("arm#0", 1.0), ("#0", 1.0), ("root/arm#1", 2.0), ("#1", 2.0), ("#2", 0.0)] {
        let joint = skeleton.select_joint(text).unwrap();
        assert_eq!(skeleton.joints()[joint].rest.translation.x, x, "{text}");
    }
}

#[test]
fn repeated_names_of_files_of_people_are_told_apart() {
    let Some(folder) = collected_or_skip("cases/gltf", "repeated names as people have them") else { return };
    let load = |name: &str| {
        let mut library = Library::new();
        let asset = gltf::load(&mut library, folder.join(name)).unwrap();
        (library, asset)
    };
    let (library, asset) = load("duplicate-clip-names/dup.gltf");
    let clips = library.clip_selector(&asset.clips);
    assert_eq!(clips.all("mixamo.com"), [0, 1, 2]);
    assert_eq!(["mixamo.com#1", "1", "#1"].map(|text| clips.one(text).unwrap()), [1, 3, 1]);
    let error = clips.one("mixamo.com").unwrap_err().to_string();
    assert!(error.ends_with("mixamo.com#0 (#0), mixamo.com#1 (#1), mixamo.com#2 (#2)"), "{error}");
    let (library, asset) = load("clip-named-by-number/n.gltf");
    for (text, end) in [("1", [1.0, 0.0, 0.0]), ("#1", [2.0, 0.0, 0.0]), ("#0", [1.0, 0.0, 0.0])] {
        let clip = library.select_clip(&asset.clips, text).unwrap();
        assert_eq!(library.clip(clip).tracks[0].curve.value(1), end, "{text}");
    }
    let (library, asset) = load("duplicate-node-names/dup.gltf");
    let skeleton = library.skeleton(asset.skeleton);
    assert_eq!(skeleton.select_joints(&["Armature#1", "Armature/Armature", "/Armature"]).unwrap(), [1, 1, 0]);
    let error = skeleton.select_joint("Armature").unwrap_err().to_string();
    assert!(error.ends_with("Armature#0 (/Armature), Armature#1 (/Armature/Armature)"), "{error}");
}
