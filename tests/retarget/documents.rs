//! glTF documents that are odd or changed several times, and notes on what glTF cannot hold.

use std::path::Path;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Interpolation, Target, Track};
use posse::export::gltf::Document;
use posse::export::gltf::{BodyVertex, HumanMesh};
use posse::import::gltf;
use posse::retarget::{JointMap, RetargetOptions};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, WrapMode};
use serde_json::{Value, json};

use super::rigs::{joint, model_pose};
use super::written::{parts, read, view, write_and_read};
use crate::support::build::{curve, degrees, library};
use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

fn document(file: &GltfBuilder) -> Document {
    Document::from_slice(Path::new("made.glb"), &file.glb(), None).unwrap()
}

/// A document of this JSON and an asset.
fn json_document(mut json: Value) -> Document {
    json["asset"] = json!({ "version": "2.0" });
    Document::from_slice(Path::new("made.gltf"), json.to_string().as_bytes(), None).unwrap()
}

/// A body of one triangle.
fn triangle() -> HumanMesh {
    let vertex = |position| BodyVertex {
        position,
        normal: [0.0, 0.0, 1.0],
        joints: [0; 4],
        weights: [1.0, 0.0, 0.0, 0.0],
        parts: [0.0; 4],
    };
    let vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]].map(vertex).to_vec();
    HumanMesh { vertices, indices: vec![0, 1, 2] }
}

/// Three nodes, of which the last has shear. A clip rotates the second, and translates the last by a pointer.
fn sheared() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let matrix = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0];
    file.push("nodes", json!({ "name": "base", "children": [1, 2] }));
    file.push("nodes", json!({ "name": "leaf", "translation": [0, 1, 0] }));
    file.push("nodes", json!({ "name": "sheared", "matrix": matrix }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8]);
    let places = file.floats("VEC3", &[3.0, 0.0, 0.0, 3.0, 4.0, 0.0]);
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/nodes/2/translation" } });
    file.push(
        "animations",
        json!({
            "name": "move",
            "samplers": [{ "input": times, "output": turns }, { "input": times, "output": places }],
            "channels": [
                { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
                { "sampler": 1, "target": { "path": "pointer", "extensions": pointer } },
            ],
        }),
    );
    file
}

#[test]
fn a_node_with_shear_is_translated_by_a_pointer() {
    let file = sheared();
    let (library, asset) = file.load().unwrap();
    let mut removed = document(&file);
    removed.remove_animations();
    let notes = removed.add_clip(&library, asset.clips[0]).unwrap();
    assert_eq!(
        notes,
        ["clip move: the matrix of sheared has shear, so that KHR_animation_pointer translates it; programs without \
          this extension leave it at rest"]
    );
    let glb = removed.to_glb().unwrap();
    let (json, _) = parts(&glb);
    assert_eq!(json["extensionsUsed"], json!(["KHR_animation_pointer"]));
    assert_eq!(json["nodes"], file.json["nodes"]);
    let (written, made) = read(&glb);
    assert_eq!(library.clip(asset.clips[0]).tracks, written.clip(made.clips[0]).tracks);
}

#[test]
fn a_matrix_stays_where_morph_weights_alone_move() {
    let mut file = GltfBuilder::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    let primitive = json!({ "attributes": { "POSITION": positions }, "targets": [{ "POSITION": positions }] });
    file.push("meshes", json!({ "primitives": [primitive] }));
    let matrix = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    file.push("nodes", json!({ "name": "face", "mesh": 0, "matrix": matrix }));
    let (times, weights) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats("SCALAR", &[0.0, 1.0]));
    file.animate(json!({ "node": 0, "path": "weights" }), times, weights, "LINEAR");
    let (library, asset) = file.load().unwrap();
    let mut removed = document(&file);
    removed.remove_animations();
    removed.add_clip(&library, asset.clips[0]).unwrap();
    let (json, _) = parts(&removed.to_glb().unwrap());
    assert_eq!((&json["nodes"], json["animations"].as_array().unwrap().len()), (&file.json["nodes"], 1));
}

#[test]
fn clips_are_retargeted_onto_a_node_with_shear_as_far_as_it_moves() {
    let file = sheared();
    let (mut library, target) = file.load().unwrap();
    // The translation of a node without shear does not become the translation of a node with shear, and a warning names
    // both.
    let mut plain = sheared();
    plain.json["nodes"][2] = json!({ "name": "sheared", "translation": [3, 0, 0] });
    let plain = gltf::from_slice(&mut library, Path::new("plain.glb"), &plain.glb(), None).unwrap();
    let map = JointMap::by_names(&library, plain.skeleton, target.skeleton).unwrap();
    let result = library.retarget(&plain.clips, &map, &RetargetOptions::default()).unwrap();
    let remarks: Vec<String> = result.map.remarks.iter().map(|remark| result.map.describe(&library, remark)).collect();
    assert_eq!(
        remarks,
        ["sheared is left out: its partner sheared is given by a matrix with shear, which cannot be animated"]
    );
    let mut removed = document(&file);
    removed.remove_animations();
    assert_eq!(removed.add_clip(&library, result.clips[0].clip).unwrap(), [""; 0]);
    let glb = removed.to_glb().unwrap();
    assert_eq!(parts(&glb).0.get("extensionsUsed"), None);
    let (written, made) = read(&glb);
    let targets: Vec<Target> = written.clip(made.clips[0]).tracks.iter().map(|track| track.target).collect();
    assert_eq!(targets, [Target::Rotation(1)]);
    // Onto itself, nothing is lost.
    let copy = gltf::from_slice(&mut library, Path::new("copy.glb"), &file.glb(), None).unwrap();
    let map = JointMap::by_names(&library, target.skeleton, copy.skeleton).unwrap();
    let result = library.retarget(&target.clips, &map, &RetargetOptions::default()).unwrap();
    assert!(result.map.remarks.is_empty() && result.clips[0].dropped.is_empty(), "{result:?}");
    let [mut before, mut after] = [target.clips[0], result.clips[0].clip].map(|clip| library.clip(clip).tracks.clone());
    for tracks in [&mut before, &mut after] {
        tracks.sort_by_key(|track| format!("{:?}", track.target));
    }
    assert_eq!(before, after);
}

#[test]
fn animations_that_are_removed_twice_leave_the_same_file() {
    let file = something_of_everything();
    let mut removed = document(&file);
    removed.remove_animations();
    let once = removed.clone().to_glb().unwrap();
    removed.remove_animations();
    assert_eq!(removed.clone().to_glb().unwrap(), once);

    // Also with a clip between.
    let (library, asset) = file.load().unwrap();
    removed.add_clip(&library, asset.clips[0]).unwrap();
    removed.remove_animations();
    let again = parts(&removed.clone().to_glb().unwrap());
    assert_eq!((again.0.get("animations"), &again.0["accessors"]), (None, &parts(&once).0["accessors"]));
    assert_eq!(view(&again, 4), view(&parts(&file.glb()), 4));
    removed.add_clip(&library, asset.clips[0]).unwrap();
    let (written, made) = read(&removed.to_glb().unwrap());
    assert_eq!(written.clip(made.clips[0]).tracks.len(), library.clip(asset.clips[0]).tracks.len() - 1);
}

#[test]
fn a_buffer_that_lost_all_bytes_has_the_length_of_those_that_are_written() {
    let mut file = GltfBuilder::new();
    let node = file.push("nodes", json!({ "name": "hip" }));
    let (input, output) = (file.floats("SCALAR", &[0.0, 1.0, 2.0, 3.0]), file.floats("VEC3", &[0.5; 12]));
    file.animate(json!({ "node": node, "path": "scale" }), input, output, "LINEAR");
    let mut removed = document(&file);
    removed.remove_animations();
    let empty = json_document(json!({ "buffers": [{ "byteLength": 0, "uri": "data:,", "name": "empty" }] }));
    let missing = json!({ "byteLength": 8, "extensions": { "EXT_meshopt_compression": { "fallback": true } } });
    let documents = [removed, empty, json_document(json!({ "buffers": [missing] })), document(&GltfBuilder::new())];
    for document in documents {
        let glb = document.to_glb().unwrap();
        let (json, bin) = parts(&glb);
        let length = json["buffers"][0]["byteLength"].as_u64().unwrap() as usize;
        assert!(length > 0 && length == bin.len(), "{json}");
        read(&glb);
    }
    // Without buffers, there is no binary chunk.
    let (json, bin) = parts(&json_document(json!({ "nodes": [{}] })).to_glb().unwrap());
    assert!(json.get("buffers").is_none() && bin.is_empty());
}

#[test]
fn a_body_fits_documents_without_scenes_skins_and_with_other_meshes() {
    let meshes = json!([{ "primitives": [{ "attributes": {} }], "name": "hat" }]);
    let nodes = json!([{ "name": "hip" }, { "mesh": 0 }]);
    let odd_scenes = [
        (json!(null), json!(null)),
        (json!([]), json!([])),
        (json!([5]), json!([5])),
        (json!([{ "nodes": 3 }]), json!([{ "nodes": 3 }])),
        (json!([{ "name": "empty" }]), json!([{ "name": "empty", "nodes": [2] }])),
        (json!([{ "nodes": [0, 1] }]), json!([{ "nodes": [0, 1, 2] }])),
    ];
    for (scenes, expected) in odd_scenes {
        let mut made = json_document(json!({
            "nodes": nodes, "meshes": meshes, "materials": [{ "name": "felt" }], "scenes": scenes,
        }));
        made.add_body(&triangle());
        let (json, _) = parts(&made.to_glb().unwrap());
        assert_eq!((&json["nodes"][2], &json["scenes"]), (&json!({ "name": "body", "mesh": 1 }), &expected));
        assert_eq!((&json["meshes"][0], &json["materials"][0]["name"]), (&meshes[0], &json!("felt")));
        assert_eq!(json["meshes"][1]["primitives"][0]["material"], 1);
    }
    let mut made = json_document(json!({
        "nodes": [{ "name": "hip" }], "skins": [{ "joints": [0] }], "scene": 1, "scenes": [{}, { "nodes": [0] }],
    }));
    made.add_body(&HumanMesh { vertices: Vec::new(), indices: Vec::new() });
    made.add_body(&triangle());
    let glb = made.to_glb().unwrap();
    let (json, _) = parts(&glb);
    assert_eq!(json["nodes"].as_array().unwrap()[1..], [json!({ "name": "body", "mesh": 0, "skin": 0 })]);
    assert_eq!(json["scenes"], json!([{}, { "nodes": [0, 1] }]));
    let position = json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64().unwrap() as usize;
    assert_eq!(json["accessors"][position]["max"], json!([1.0, 2.0, 0.0]));
    read(&glb);
}

#[test]
fn keys_of_constant_curves_beyond_the_end_do_not_lengthen_the_animation() {
    let (mut library, skeleton) = library(vec![joint("hip", None, DQuat::IDENTITY, [0.0; 3])]);
    let constant = curve(Interpolation::Linear, 3, &[0.0, 5.0], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    let single = curve(Interpolation::Step, 3, &[7.0], &[2.0, 2.0, 2.0]);
    let spin = [DQuat::IDENTITY, degrees(DVec3::X, 50.0)].map(|rotation| rotation.to_array()).concat();
    let spin = curve(Interpolation::Linear, 4, &[0.0, 1.0], &spin);
    let tracks = [(Target::Translation(0), constant), (Target::Scale(0), single), (Target::Rotation(0), spin)];
    let tracks = tracks.map(|(target, curve)| Track::new(target, curve)).to_vec();
    let clip = library.add_clip(Clip { length: Some(2.0), ..Clip::new(None, skeleton, tracks) }).unwrap();
    let (written, notes, asset) = write_and_read(&library, clip);
    let made = written.clip(asset.clips[0]);
    assert_eq!((notes.len(), made.duration()), (0, 2.0));
    let values: Vec<&[f64]> = made.tracks[..2].iter().map(|track| track.curve.value(0)).collect();
    assert_eq!(values, [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]);

    // Morph weights, too.
    let file = something_of_everything();
    let (mut library, asset) = file.load().unwrap();
    let held = curve(Interpolation::Linear, 2, &[0.0, 5.0], &[0.25, 0.5, 0.25, 0.5]);
    let weights = library.clip(asset.clips[0]).tracks.iter().find(|track| matches!(track.target, Target::Weights(_)));
    let clip = Clip::new(None, asset.skeleton, vec![Track::new(weights.unwrap().target, held)]);
    let clip = library.add_clip(Clip { length: Some(1.5), ..clip }).unwrap();
    let mut document = document(&file);
    document.remove_animations();
    assert!(document.add_clip(&library, clip).unwrap().is_empty());
    let (written, again) = read(&document.to_glb().unwrap());
    let made = written.clip(again.clips[0]);
    assert_eq!((made.duration(), made.tracks[0].curve.value(0)), (1.5, &[0.25, 0.5][..]));
}

#[test]
fn notes_name_all_that_gltf_cannot_hold() {
    let (mut library, skeleton) = library(vec![joint("hip", None, DQuat::IDENTITY, [0.0; 3])]);
    let slide = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 3.0, 1.0, 0.0]);
    let clip = Clip {
        markers: vec![0.25, 0.5],
        root_motion: Some(RootMotion { joint: 0, translation: [true; 3], rotation: RootRotation::None }),
        speed: 1.5,
        wrap: WrapMode::PingPong,
        ..Clip::new(Some("walk".into()), skeleton, vec![Track::new(Target::Translation(0), slide)])
    };
    let clip = library.add_clip(clip).unwrap();
    let (_, notes, _) = write_and_read(&library, clip);
    let expected = [
        "clip walk: glTF has no sync markers; 2 are left out",
        "clip walk: glTF has no root motion; the motion of hip is left out, and hip keeps its movement",
        "clip walk: glTF has no speed of animations; the speed of the clip, 1.5, is left out",
        "clip walk: glTF has no wrap modes; the mode of the clip, pingpong, is left out",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn sampled_translations_are_within_a_share_of_the_rigs_size_however_far_they_go() {
    // A rig of 1 m whose joint goes 100 m, and a rig in centimetres below a joint that scales it to metres.
    let far = |to: f64| -> Curve {
        let line = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 0.0, 0.0, to, 0.0, 0.0]);
        line.with_easing(CurveEasing::One(Easing::SineInOut)).unwrap()
    };
    let mut scaled = joint("top", None, DQuat::IDENTITY, [0.0; 3]);
    scaled.rest.scale = DVec3::splat(0.01);
    let rigs = [
        (vec![joint("hip", None, DQuat::IDENTITY, [1.0, 0.0, 0.0])], far(100.0)),
        (vec![scaled, joint("hip", Some(0), DQuat::IDENTITY, [100.0, 0.0, 0.0])], far(1000.0)),
    ];
    for (joints, curve) in rigs {
        let hip = joints.len() - 1;
        let (mut library, skeleton) = library(joints);
        let track = Track::new(Target::Translation(hip), curve);
        let clip = library.add_clip(Clip::new(None, skeleton, vec![track])).unwrap();
        let (written, _, asset) = write_and_read(&library, clip);
        let keys = written.clip(asset.clips[0]).tracks[0].curve.timeline().len();
        assert!(keys < 1100, "{keys} keys");
        for step in 0..=1000 {
            let time = f64::from(step) / 1000.0;
            let one = model_pose(&library, skeleton, Some((clip, time)))[hip].1;
            let other = model_pose(&written, asset.skeleton, Some((asset.clips[0], time)))[hip].1;
            assert!(one.distance(other) < 1.2e-4, "at {time}: {one} {other}");
        }
    }
}
