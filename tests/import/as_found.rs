//! Files as people have them: surplus weights, keys that share a time, truth values, pointers to nodes with a matrix,
//! and parts that cannot be read, on every engine.

use glam::{DMat4, DVec3};
use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment};
use posse::cpu::CpuEngine;
use posse::curves::{Interpolation, Target};
use posse::import::Warning;
use posse::import::gltf::{self, Asset};
use posse::{ClipId, Evaluator, Library, Pose};
use serde_json::{Value, json};

use super::{one_channel, tracks, warnings};
use crate::support::build;
use crate::support::each_engine::each_engine;
use crate::support::gltf_builder::GltfBuilder;

/// The poses of a clip at some times.
fn poses(engine: &mut dyn Evaluator, library: &Library, clip: ClipId, times: &[f64]) -> Vec<Pose> {
    times.iter().map(|&time| build::pose_at(engine, library, clip, time)).collect()
}

/// Asserts numbers to within the rounding of the largest of them.
#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    let bound = 2e-6 * expected.iter().fold(1.0, |largest: f64, number| largest.max(number.abs()));
    let is_near = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < bound);
    assert!(is_near, "{found:?}, not {expected:?}");
}

/// A target that a pointer names.
fn pointer(pointer: &str) -> Value {
    json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } } })
}

/// A file of the nodes a and b, whose clip `good` moves b along x from 0 s to 1 s.
fn with_good_clip() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "a" }));
    file.push("nodes", json!({ "name": "b", "translation": [0, 2, 0] }));
    let (input, output) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]));
    let good = file.animate(json!({ "node": 1, "path": "translation" }), input, output, "LINEAR");
    file.json["animations"][good]["name"] = json!("good");
    file
}

/// Adds a clip that moves the node a, before all others. Its times and values are floats.
fn add_first(file: &mut GltfBuilder, name: &str, times: &[f32], values: &[f32]) {
    let (input, output) = (file.floats("SCALAR", times), file.floats("VEC3", values));
    let animation = json!({ "name": name, "samplers": [{ "input": input, "output": output }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] });
    file.json["animations"].as_array_mut().unwrap().insert(0, animation);
}

/// Asserts that the clip at an index is `good`, and that it moves as it should, on every engine.
#[track_caller]
fn assert_good((library, asset): &(Library, Asset), index: usize) {
    let clip = asset.clips[index];
    assert_eq!(library.clip(clip).name.as_deref(), Some("good"));
    each_engine(library, |engine| {
        let pose = &poses(engine, library, clip, &[0.5])[0];
        assert_near(&pose.local[1].translation.to_array(), &[0.5, 0.0, 0.0]);
        assert_near(&pose.local[0].translation.to_array(), &[0.0; 3]);
    });
}

#[test]
fn surplus_weights_of_each_key_are_ignored() {
    // Three weights per key for a mesh of two morph targets: key k has k/10, k/10 + 0.01 and k/10 + 0.02.
    let keys = |parts: usize| -> Vec<f32> {
        let value = |key: usize, part: usize, weight: usize| {
            // Tangents are 0.
            if parts == 3 && part != 1 { 0.0 } else { key as f32 / 10.0 + weight as f32 / 100.0 }
        };
        let parts = |key: usize| (0..parts).flat_map(move |part| (0..3).map(move |weight| value(key, part, weight)));
        (0..4).flat_map(parts).collect()
    };
    for (interpolation, parts) in [("LINEAR", 1), ("STEP", 1), ("CUBICSPLINE", 3)] {
        let file = one_channel("weights", 4, interpolation, |file| file.floats("SCALAR", &keys(parts)));
        let loaded = file.load().unwrap();
        assert_eq!(warnings(&loaded), ["animations[0].samplers[0].output"]);
        let message = "each key has 3 numbers, but the target takes the first 2 numbers of them";
        assert_eq!(loaded.1.warnings[0].message, message);
        let (library, asset) = &loaded;
        each_engine(library, |engine| {
            let found = poses(engine, library, asset.clips[0], &[0.0, 1.0, 2.0, 3.0, 1.5]);
            for (key, pose) in found[..4].iter().enumerate() {
                assert_near(&pose.weights, &[key as f64 / 10.0, key as f64 / 10.0 + 0.01]);
            }
            let half = if interpolation == "STEP" { [0.1, 0.11] } else { [0.15, 0.16] };
            assert_near(&found[4].weights, &half);
        });
    }
    // Integers, too: bytes that stand for thirds.
    let bytes = [0, 85, 170, 255, 170, 85];
    let file = one_channel("weights", 2, "LINEAR", |file| file.accessor("SCALAR", 5121, true, 6, &bytes));
    let loaded = file.load().unwrap();
    assert_near(tracks(&loaded)[0].curve.values(), &[0.0, 1.0 / 3.0, 1.0, 2.0 / 3.0]);
    // A surplus that is not the same for each key comes after the last key.
    let file = one_channel("weights", 2, "LINEAR", |file| file.floats("SCALAR", &[0.0, 1.0, 2.0, 3.0, 4.0]));
    let loaded = file.load().unwrap();
    assert_near(tracks(&loaded)[0].curve.values(), &[0.0, 1.0, 2.0, 3.0]);
    assert_eq!(loaded.1.warnings[0].message, "2 keys need 4 elements; 1 more are ignored");
}

#[test]
fn keys_that_share_a_time_are_a_jump() {
    let mut file = with_good_clip();
    // As three.js plays it: 1 until the jump, 5 from then on.
    let x = [0.0, 1.0, 5.0, 6.0];
    add_first(&mut file, "jump", &[0.0, 1.0, 1.0, 2.0], &x.map(|x| [x, 0.0, 0.0]).concat());
    let loaded = file.load().unwrap();
    assert_good(&loaded, 1);
    let (library, asset) = &loaded;
    assert_eq!(
        asset.warnings[0].to_string(),
        "animations[0].samplers[0].input: keys 1 and 2 are both at 1 s; values jump there"
    );
    each_engine(library, |engine| {
        let found = poses(engine, library, asset.clips[0], &[-1.0, 0.0, 0.5, 0.999, 1.0, 1.5, 2.0, 9.0]);
        let found: Vec<f64> = found.iter().map(|pose| pose.local[0].translation.x).collect();
        assert_near(&found, &[0.0, 0.0, 0.5, 0.999, 5.0, 5.5, 6.0, 6.0]);
    });
}

#[test]
fn jumps_may_be_at_the_ends_and_in_every_interpolation() {
    // Of times that are all the same, the last value counts from the time on, the first before it.
    type Case<'a> = (&'a str, &'a [f32], &'a [f32], &'a [(f64, f64)]);
    let cases: [Case; 5] = [
        ("LINEAR", &[0.0, 0.0, 1.0], &[1.0, 2.0, 4.0], &[(-1.0, 1.0), (0.0, 2.0), (0.5, 3.0)]),
        ("LINEAR", &[0.0, 1.0, 1.0], &[1.0, 2.0, 4.0], &[(0.5, 1.5), (1.0, 4.0), (2.0, 4.0)]),
        ("LINEAR", &[0.5, 0.5], &[1.0, 2.0], &[(0.25, 1.0), (0.5, 2.0), (1.0, 2.0)]),
        (
            "STEP",
            &[0.0, 1.0, 1.0, 1.0, 2.0],
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[(0.5, 1.0), (1.0, 4.0), (1.5, 4.0), (2.0, 5.0)],
        ),
        // Tangents of 0.
        ("CUBICSPLINE", &[0.0, 1.0, 1.0, 2.0], &[0.0, 2.0, 4.0, 6.0], &[(0.5, 1.0), (1.0, 4.0), (1.5, 5.0)]),
    ];
    for (interpolation, times, values, expected) in cases {
        let tangents = if interpolation == "CUBICSPLINE" { 1 } else { 0 };
        let key = |&value: &f32| {
            let zeros = vec![0.0; 3 * tangents];
            [zeros.clone(), vec![value, 0.0, 0.0], zeros].concat()
        };
        let mut file = one_channel("translation", times.len(), interpolation, |file| {
            file.floats("VEC3", &values.iter().flat_map(key).collect::<Vec<f32>>())
        });
        let input = file.floats("SCALAR", times);
        file.set("/animations/0/samplers/0/input", json!(input));
        let (library, asset) = file.load().unwrap();
        each_engine(&library, |engine| {
            for &(time, x) in expected {
                let found = poses(engine, &library, asset.clips[0], &[time])[0].local[0].translation.x;
                assert!((found - x).abs() < 2e-6, "{interpolation} {times:?} at {time}: {found}, not {x}");
            }
        });
    }
}

#[test]
fn a_clip_that_cannot_be_read_is_left_out_and_named() {
    let mut file = with_good_clip();
    add_first(&mut file, "bad", &[0.0, 1.0, 2.0], &[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 6.0, 0.0, 0.0]);
    let loaded = file.load().unwrap();
    assert_good(&loaded, 1);
    let (library, asset) = &loaded;
    assert_eq!(asset.left_out_clips, [asset.clips[0]]);
    assert!(library.clip(asset.clips[0]).tracks.is_empty());
    let expected = "element 1 has NaN, which is not a finite number; clip \"bad\" is left out";
    assert_eq!(asset.warnings.iter().map(|warning| warning.message.as_str()).collect::<Vec<_>>(), [expected]);
    let refused = Warning::refuse(&asset.file, &asset.warnings).unwrap_err().to_string();
    assert!(refused.contains(expected), "{refused}");
    assert!(Warning::refuse(&asset.file, &[]).is_ok());
}

#[test]
fn a_track_that_cannot_be_read_is_left_out_and_the_others_of_its_clip_stay() {
    let mut file = with_good_clip();
    let bad = file.floats("VEC3", &[0.0, f32::INFINITY, 0.0, 1.0, 0.0, 0.0]);
    let animation = &mut file.json["animations"][0];
    let input = animation["samplers"][0]["input"].clone();
    animation["samplers"].as_array_mut().unwrap().push(json!({ "input": input, "output": bad }));
    let channel = json!({ "sampler": 1, "target": { "node": 0, "path": "translation" } });
    animation["channels"].as_array_mut().unwrap().insert(0, channel);
    let loaded = file.load().unwrap();
    assert_good(&loaded, 0);
    assert!(loaded.1.left_out_clips.is_empty());
    assert!(loaded.1.warnings[0].message.ends_with("; the track of channel 0 of clip \"good\" is left out"));
}

#[test]
fn a_skin_with_too_few_matrices_is_left_out_and_the_others_stay() {
    let mut file = with_good_clip();
    let identity = DMat4::IDENTITY.to_cols_array().map(|number| number as f32);
    let one = file.floats("MAT4", &identity);
    file.push("skins", json!({ "name": "few", "joints": [0, 1], "inverseBindMatrices": one }));
    file.push("skins", json!({ "joints": [1], "inverseBindMatrices": one }));
    let loaded = file.load().unwrap();
    assert_good(&loaded, 0);
    let (library, asset) = &loaded;
    assert_eq!((asset.skins.len(), asset.left_out_skins.as_slice()), (2, &asset.skins[..1]));
    let expected = "skins[0].inverseBindMatrices: there are 1 matrices, but 2 joints; skin \"few\" is left out";
    assert_eq!(asset.warnings[0].to_string(), expected);
    each_engine(library, |engine| {
        let pose = &poses(engine, library, asset.clips[0], &[0.5])[0];
        assert_eq!(pose.skins.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1], "{}", engine.engine());
        assert_near(&pose.skins[1][0].translation.to_array(), &[0.5, 0.0, 0.0]);
    });
}

#[test]
fn truth_values_are_0_or_1_and_never_in_between() {
    for (interpolation, warned) in [("STEP", 0), ("LINEAR", 1)] {
        let mut file = GltfBuilder::new();
        file.push("nodes", json!({ "name": "v", "extensions": { "KHR_node_visibility": { "visible": false } } }));
        file.json["extensions"] = json!({ "ACME_lamp": { "on": true, "level": 3 } });
        let input = file.floats("SCALAR", &[0.0, 1.0, 2.0, 3.0]);
        let output = file.accessor("SCALAR", 5121, false, 4, &[0, 1, 2, 255]);
        // The second is true or false by its value in the document, the third is a number.
        for text in [
            "/nodes/0/extensions/KHR_node_visibility/visible",
            "/extensions/ACME_lamp/on",
            "/extensions/ACME_lamp/level",
        ] {
            file.animate(pointer(text), input, output, interpolation);
        }
        let loaded = file.load().unwrap();
        let (library, asset) = &loaded;
        let found: Vec<&str> = warnings(&loaded);
        assert_eq!(found, ["animations[0]", "animations[1]"][..2 * warned], "{:?}", asset.warnings);
        assert_eq!(tracks(&loaded)[0].curve.interpolation(), Interpolation::Step);
        let rest: Vec<f64> = library.skeletons()[0].properties().iter().map(|property| property.rest[0]).collect();
        assert_eq!(rest, [0.0, 1.0, 3.0]);
        each_engine(library, |engine| {
            let times = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0];
            let values = |engine: &mut dyn Evaluator, clip: usize| -> Vec<f64> {
                let found = poses(engine, library, asset.clips[clip], &times);
                found.iter().map(|pose| pose.properties[clip]).collect()
            };
            for clip in 0..2 {
                assert_near(&values(engine, clip), &[0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
            }
            let level = if warned == 0 { [0.0, 0.0, 1.0, 1.0, 2.0, 255.0] } else { [0.0, 0.5, 1.0, 1.5, 2.0, 255.0] };
            assert_near(&values(engine, 2), &level);
        });
    }
}

#[test]
fn the_rotation_of_an_image_based_light_is_slerped() {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({}));
    let (input, output) =
        (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.866_025_4, 0.0, 0.5]));
    file.animate(pointer("/extensions/EXT_lights_image_based/lights/0/rotation"), input, output, "LINEAR");
    let (library, asset) = file.load().unwrap();
    assert!(asset.warnings.is_empty() && library.skeletons()[0].properties()[0].rotation);
    each_engine(&library, |engine| {
        // A third and a half of 120 degrees about y. The mean of the numbers would be 38.2 degrees after a third.
        let found = poses(engine, &library, asset.clips[0], &[1.0 / 3.0, 0.5]);
        for (pose, degrees) in found.iter().zip([40.0_f64, 60.0]) {
            let (sine, cosine) = (0.5 * degrees).to_radians().sin_cos();
            assert_near(&pose.properties, &[0.0, sine, 0.0, cosine]);
        }
    });
}

#[test]
fn a_pointer_to_the_translation_of_a_node_with_a_matrix_sets_its_last_column() {
    // Shear of x along y, and a scale of z.
    let matrix = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0];
    let mut file = GltfBuilder::new();
    // Its child comes first, and a node before and after it is moved as well.
    file.push("nodes", json!({ "name": "child", "translation": [0, 1, 0] }));
    file.push("nodes", json!({ "name": "sheared", "matrix": matrix, "children": [0] }));
    file.push("nodes", json!({ "name": "root", "translation": [10, 0, 0], "children": [1, 3] }));
    file.push("nodes", json!({ "name": "last" }));
    file.push("skins", json!({ "joints": [1, 3] }));
    let input = file.floats("SCALAR", &[0.0, 1.0]);
    let column = file.floats("VEC3", &[3.0, 0.0, 0.0, 3.0, 4.0, 0.0]);
    let samplers = json!([{ "input": input, "output": column }]);
    let mut channels = vec![json!({ "sampler": 0, "target": pointer("/nodes/1/translation") })];
    channels.push(json!({ "sampler": 0, "target": { "node": 3, "path": "translation" } }));
    file.push("animations", json!({ "channels": channels, "samplers": samplers }));
    let loaded = file.load().unwrap();
    assert_eq!(warnings(&loaded), [""; 0]);
    let (library, asset) = &loaded;
    assert_eq!(library.skeletons()[0].joints().len(), 5, "the translation has a joint of its own");
    assert_eq!(asset.matrices, [asset.joints[1]]);
    let names = |joint: &usize| library.skeletons()[0].joints()[*joint].name.clone().unwrap();
    assert_eq!(asset.joints.iter().map(names).collect::<Vec<_>>(), ["child", "sheared", "root", "last"]);
    each_engine(library, |engine| {
        for (time, pose) in [0.0, 0.5, 1.0].into_iter().zip(poses(engine, library, asset.clips[0], &[0.0, 0.5, 1.0])) {
            let y = 4.0 * time;
            let model = |node: usize| pose.model[asset.joints[node]];
            let columns = model(1).matrix3.to_cols_array();
            assert_near(&columns, &[1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 2.0]);
            assert_near(&model(1).translation.to_array(), &[13.0, y, 0.0]);
            assert_near(&model(0).translation.to_array(), &[13.5, y + 1.0, 0.0]);
            assert_near(&model(3).translation.to_array(), &[13.0, y, 0.0]);
            assert_near(&pose.skins[0][0].transform_point3(DVec3::Y).to_array(), &[13.5, y + 1.0, 0.0]);
        }
    });
    // Paths and numbers belong to the nodes.
    let skeleton = &library.skeletons()[0];
    for (node, text) in [(0, "/root/sheared/child"), (1, "root/sheared"), (1, "#1"), (3, "root/last")] {
        assert_eq!(skeleton.select_joint(text).unwrap(), asset.joints[node], "{text}");
    }
    let error = skeleton.select_joint("sheared#1").unwrap_err().to_string();
    assert!(error.contains("end at sheared#0"), "{error}");
    // So are the local translations of arrays, at 0.5 s.
    let kinds = vec![ArrayKind::LocalPos];
    let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&asset.joints) };
    let layout = ArrayLayout::new(library, asset.skeleton, &asset.joints, &request).unwrap();
    assert_eq!(layout.parents(), [Some(1), Some(2), None, Some(2)]);
    let mut numbers = vec![f32::NAN; 12];
    let moments = [Moment::at(asset.clips[0], 0.5)];
    layout.sample(&CpuEngine::with_threads(library, 1).unwrap(), &moments, &mut [numbers.as_mut_slice()]).unwrap();
    let numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
    assert_near(&numbers, &[0.0, 1.0, 0.0, 3.0, 2.0, 0.0, 10.0, 0.0, 0.0, 3.0, 2.0, 0.0]);
    // Clips are shared with nodes, too, whichever joint has their translation.
    let sheared = file.glb();
    // Without shear, the matrix is taken apart, and nothing is lost.
    file.json["nodes"][1]["matrix"] = json!([0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 1]);
    let loaded = file.load().unwrap();
    assert_eq!((warnings(&loaded), loaded.0.skeletons()[0].joints().len()), (vec![], 4));
    assert_eq!(tracks(&loaded)[0].target, Target::Translation(loaded.1.joints[1]));
    let (mut library, plain) = loaded;
    let split = gltf::from_slice(&mut library, "sheared.glb".as_ref(), &sheared, None).unwrap();
    let joints = [split.joints[1] - 1, split.joints[3]];
    for (clip, skeleton, joints) in
        [(plain.clips[0], split.skeleton, joints), (split.clips[0], plain.skeleton, [plain.joints[1], plain.joints[3]])]
    {
        let sharing = library.share_clip(clip, skeleton).unwrap();
        assert_eq!(sharing.tracks, joints.map(|joint| Some(Target::Translation(joint))), "{:?}", sharing.issues);
        assert!(sharing.issues.is_empty(), "{:?}", sharing.issues);
    }
    // A rotation cannot be set beside shear: it is lost, with a warning.
    file.json["nodes"][1]["matrix"] = json!(matrix);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    file.animate(pointer("/nodes/1/rotation"), input, turns, "LINEAR");
    assert_eq!(warnings(&file.load().unwrap()), ["nodes[1].matrix"]);
}
