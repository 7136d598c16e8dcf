//! glTF files with other animations: what they hold, and that all else stays.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::events::Event;
use posse::export::gltf::Document;
use posse::{Clip, Error, Joint, Library, demo, import};
use serde_json::{Value, json};

use super::rigs::{angle, joint, model_pose};
use crate::support::build::{curve, degrees, library};
use crate::support::gltf_builder::{GltfBuilder, bytes, something_of_everything};

/// The JSON and the binary chunk of a GLB file.
pub fn parts(glb: &[u8]) -> (Value, Vec<u8>) {
    let word = |place: usize| u32::from_le_bytes(glb[place..place + 4].try_into().unwrap()) as usize;
    assert_eq!((&glb[..4], word(4), word(8)), (&b"glTF"[..], 2, glb.len()));
    let json = word(12);
    let text = serde_json::from_slice(&glb[20..20 + json]).unwrap();
    let bin = glb.get(28 + json..).unwrap_or_default().to_vec();
    assert!(json % 4 == 0 && bin.len() % 4 == 0);
    (text, bin)
}

/// The bytes of a view.
pub fn view((json, bin): &(Value, Vec<u8>), index: usize) -> &[u8] {
    let view = &json["bufferViews"][index];
    assert_eq!(view["buffer"], 0);
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    &bin[start..start + view["byteLength"].as_u64().unwrap() as usize]
}

pub fn read(glb: &[u8]) -> (Library, import::gltf::Asset) {
    let mut library = Library::new();
    let asset = import::gltf::from_slice(&mut library, Path::new("written.glb"), glb, None).unwrap();
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    (library, asset)
}

/// Writes a clip onto the skeleton alone, and reads it.
pub fn write_and_read(library: &Library, clip: posse::ClipId) -> (Library, Vec<String>, import::gltf::Asset) {
    let mut document = Document::of_skeleton(library, library.clip(clip).skeleton).unwrap();
    let notes = document.add_clip(library, clip).unwrap();
    let (written, asset) = read(&document.to_glb().unwrap());
    (written, notes, asset)
}

#[test]
fn keys_of_every_interpolation_come_back_as_they_were() {
    let library = demo::library().unwrap();
    for name in ["idle", "walk", "run", "wave", "jump"] {
        let clip = library.find_clip(name).unwrap();
        let (written, _, asset) = write_and_read(&library, clip);
        let (from, to) = (library.clip(clip), written.clip(asset.clips[0]));
        assert_eq!((&from.name, from.duration() as f32), (&to.name, to.duration() as f32));
        // The skeleton alone has no meshes, and so no morph targets.
        let is_kept = |track: &&Track| !matches!(track.target, Target::Property(_) | Target::Weights(_));
        let kept: Vec<&Track> = from.tracks.iter().filter(is_kept).collect();
        assert_eq!(kept.len(), to.tracks.len());
        for (one, other) in kept.into_iter().zip(&to.tracks) {
            assert_eq!((one.target, one.curve.interpolation()), (other.target, other.curve.interpolation()));
            let rounded = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect::<Vec<_>>();
            assert_eq!(rounded(one.curve.values()), rounded(other.curve.values()));
            assert_eq!(rounded(one.curve.timeline().times()), rounded(other.curve.timeline().times()));
        }
        // Curves that share their times share an accessor.
        assert!(to.tracks.windows(2).any(|pair| Arc::ptr_eq(pair[0].curve.timeline(), pair[1].curve.timeline())));
        let (one, other) = (library.skeletons()[0].joints(), written.skeleton(asset.skeleton).joints());
        assert!(
            one.iter()
                .zip(other)
                .all(|(one, other)| (&one.name, one.parent, one.rest) == (&other.name, other.parent, other.rest))
        );
        assert_eq!(library.skins()[0].joints, written.skins()[0].joints);
    }
}

#[test]
fn what_gltf_cannot_hold_is_sampled() {
    let timeline = || Arc::new(Timeline::new(vec![0.25, 0.75]).unwrap());
    let spin = [DQuat::IDENTITY, degrees(DVec3::X, 100.0)].map(|rotation| rotation.to_array()).concat();
    let spin = Curve::new(timeline(), Interpolation::Linear, 4, spin).unwrap();
    let slide = Curve::new(timeline(), Interpolation::Linear, 3, vec![0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).unwrap();
    let number = Curve::new(timeline(), Interpolation::Linear, 1, vec![0.0, 90.0]).unwrap();
    let eased = CurveEasing::One(Easing::QuadIn);
    let looped = |curve: Curve| curve.with_extrapolation(Extrapolation::PingPong, Extrapolation::Loop);
    let lines = slide.clone().with_extrapolation(Extrapolation::Linear, Extrapolation::Linear);
    let cases: [Vec<Track>; 6] = [
        vec![Track::new(Target::Translation(0), lines)],
        vec![Track::new(Target::Rotation(0), spin.clone().with_easing(eased.clone()).unwrap())],
        vec![Track::new(Target::Rotation(0), looped(spin.clone()))],
        vec![Track::new(Target::Translation(0), looped(slide.with_easing(eased).unwrap()))],
        vec![
            Track::component(Target::EulerAngles(0), 0, number.clone()),
            Track::component(Target::EulerAngles(0), 1, number.clone()),
        ],
        vec![Track::component(Target::Translation(0), 2, number), Track::new(Target::Rotation(0), spin)],
    ];
    for (case, tracks) in cases.into_iter().enumerate() {
        for length in [1.75, 0.5] {
            let (mut library, skeleton) = library(vec![joint("hip", None, degrees(DVec3::Y, 20.0), [1.0, 0.0, 0.0])]);
            let clip = Clip { length: Some(length), ..Clip::new(None, skeleton, tracks.clone()) };
            let clip = library.add_clip(clip).unwrap();
            let (written, notes, asset) = write_and_read(&library, clip);
            assert!(notes.is_empty());
            assert!((written.clip(asset.clips[0]).duration() - length).abs() < 1e-6, "case {case}");
            for step in 0..=40 {
                // A loop jumps at its end, within the step of an f32.
                let time = length * f64::from(step) / 40.0 + 1e-6;
                let one = model_pose(&library, skeleton, Some((clip, time)))[0];
                let other = model_pose(&written, asset.skeleton, Some((asset.clips[0], time)))[0];
                assert!(angle(one.0, other.0) < 1.2e-4, "case {case} at {time}: {}", angle(one.0, other.0));
                // The rig's size is 1.
                assert!(one.1.distance(other.1) < 1.2e-4, "case {case} at {time}: {} {}", one.1, other.1);
            }
        }
    }
}

#[test]
fn a_clip_without_keys_at_its_end_keeps_its_length() {
    let (mut library, skeleton) = library(vec![joint("hip", None, DQuat::IDENTITY, [0.0; 3])]);
    let still =
        curve(Interpolation::CubicSpline, 4, &[0.5], &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 5.0]);
    let clip = Clip { length: Some(2.0), ..Clip::new(None, skeleton, vec![Track::new(Target::Rotation(0), still)]) };
    let clip = library.add_clip(clip).unwrap();
    let empty =
        library.add_clip(Clip { events: vec![Event::default()], ..Clip::new(None, skeleton, Vec::new()) }).unwrap();
    let (written, notes, asset) = write_and_read(&library, clip);
    assert!(notes.is_empty());
    let made = written.clip(asset.clips[0]);
    assert_eq!((made.duration(), made.tracks.len()), (2.0, 2));
    // A spline needs two keys.
    assert_eq!(made.tracks[0].curve.interpolation(), Interpolation::Step);
    let (written, notes, _) = write_and_read(&library, empty);
    assert!(written.clips().is_empty());
    assert!(notes[0].contains("glTF has no events") && notes[1].contains("it has no tracks"), "{notes:?}");
}

#[test]
fn bytes_of_removed_animations_are_gone_and_all_others_stay() {
    let file = something_of_everything();
    let glb = file.glb();
    let mut document = Document::from_slice(Path::new("all.glb"), &glb, None).unwrap();
    document.remove_animations();
    let written = parts(&document.clone().to_glb().unwrap());
    let given = parts(&glb);
    assert!(written.0.get("animations").is_none());
    for part in ["nodes", "skins", "meshes", "materials", "asset"] {
        assert_eq!(written.0[part], given.0[part]);
    }
    // Only the inverse bind matrices are used, by the skin.
    assert_eq!(written.0["accessors"][4], given.0["accessors"][4]);
    assert_eq!(view(&written, 4), view(&given, 4));
    assert!(written.1.len() < given.1.len() && written.0["accessors"].as_array().unwrap().len() == 5);

    // New animations take the free places.
    let (mut library, asset) = file.load().unwrap();
    let slide = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 3.0, 1.0, 0.0]);
    let clip = Clip::new(Some("new".into()), asset.skeleton, vec![Track::new(Target::Translation(0), slide)]);
    let clip = library.add_clip(clip).unwrap();
    document.add_clip(&library, clip).unwrap();
    let glb = document.to_glb().unwrap();
    let written = parts(&glb);
    assert_eq!(written.0["accessors"].as_array().unwrap().len(), 5);
    assert_eq!(view(&written, 4), view(&given, 4));
    let (library, asset) = read(&glb);
    assert_eq!(library.clip(asset.clips[0]).tracks[0].curve.value(1), [3.0, 1.0, 0.0]);
}

#[test]
fn weights_of_meshes_that_stay_can_be_written_again() {
    let file = something_of_everything();
    let (library, asset) = file.load().unwrap();
    let mut document = Document::from_slice(Path::new("all.glb"), &file.glb(), None).unwrap();
    document.remove_animations();
    let notes = document.add_clip(&library, asset.clips[0]).unwrap();
    assert_eq!(notes, ["clip all: 1 tracks of morph weights or properties are left out"]);
    let (written, again) = read(&document.to_glb().unwrap());
    let (from, to) = (library.clip(asset.clips[0]), written.clip(again.clips[0]));
    assert_eq!(to.tracks.len(), from.tracks.len() - 1);
    for (one, other) in from.tracks.iter().zip(&to.tracks) {
        assert_eq!((one.target, one.curve.interpolation()), (other.target, other.curve.interpolation()));
        let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
        assert!(one.curve.values().iter().zip(other.curve.values()).all(near), "{one:?} {other:?}");
    }
}

#[test]
fn a_number_in_an_unknown_extension_may_be_an_accessor() {
    let mut file = something_of_everything();
    file.json["nodes"][0]["extensions"] = json!({ "VENDOR": { "deep": [{ "data": 1 }] } });
    let glb = file.glb();
    let mut document = Document::from_slice(Path::new("all.glb"), &glb, None).unwrap();
    document.remove_animations();
    let (written, given) = (parts(&document.to_glb().unwrap()), parts(&glb));
    assert_eq!(written.0["accessors"][1], given.0["accessors"][1]);
    assert_eq!(view(&written, 1), view(&given, 1));
}

#[test]
fn several_buffers_and_external_images_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let picture = b"\x89PNG and so on";
    std::fs::write(folder.path().join("one.bin"), bytes(&[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
    std::fs::write(folder.path().join("a b.png"), picture).unwrap();
    let json = json!({
        "asset": { "version": "2.0" }, "nodes": [{}],
        "buffers": [
            { "byteLength": 12, "uri": "one.bin", "name": "first" },
            { "byteLength": 8, "extensions": { "EXT_meshopt_compression": { "fallback": true } } },
            { "byteLength": 4, "uri": "data:;base64,AQIDBA==" },
        ],
        "bufferViews": [
            { "buffer": 2, "byteLength": 4 },
            { "buffer": 1, "byteLength": 8, "extensions": {
                "EXT_meshopt_compression": { "buffer": 2, "byteOffset": 1, "byteLength": 3, "byteStride": 4, "count": 2, "mode": "ATTRIBUTES" }
            } },
            { "buffer": 0, "byteOffset": 4, "byteLength": 8 },
        ],
        "images": [{ "uri": "a%20b.png", "extras": 5 }, { "uri": "missing.png" }],
    });
    let document = Document::from_slice(Path::new("x.gltf"), json.to_string().as_bytes(), Some(folder.path())).unwrap();
    assert_eq!(document.warnings().len(), 1);
    assert!(document.warnings()[0].to_string().starts_with("images[1].uri: "), "{:?}", document.warnings());
    let written = parts(&document.to_glb().unwrap());
    let json = &written.0;
    assert_eq!(json["buffers"].as_array().unwrap().len(), 2);
    assert_eq!((&json["buffers"][0]["name"], json["buffers"][0].get("uri")), (&json!("first"), None));
    assert_eq!(json["buffers"][1]["extensions"]["EXT_meshopt_compression"]["fallback"], true);
    assert_eq!(view(&written, 0), [1, 2, 3, 4]);
    assert_eq!(view(&written, 2), bytes(&[2.0, 3.0]));
    let compressed = &json["bufferViews"][1];
    assert_eq!(compressed["buffer"], 1);
    let place = &compressed["extensions"]["EXT_meshopt_compression"];
    let start = place["byteOffset"].as_u64().unwrap() as usize;
    assert_eq!((place["buffer"].as_u64(), &written.1[start..start + 3]), (Some(0), &[2, 3, 4][..]));
    assert_eq!((&json["images"][0]["mimeType"], &json["images"][0]["extras"]), (&json!("image/png"), &json!(5)));
    assert_eq!(view(&written, 3), picture);
    assert_eq!(json["images"][1], json!({ "uri": "missing.png" }));
}

#[test]
fn documents_that_cannot_be_read_and_clips_of_others_are_refused() {
    let refused =
        |json: Value| Document::from_slice(Path::new("x.gltf"), json.to_string().as_bytes(), None).unwrap_err();
    let missing = refused(json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 4, "uri": "a.bin" }] }));
    assert!(missing.to_string().starts_with("x.gltf: buffers[0].uri: "), "{missing}");
    let cycle = refused(json!({ "asset": { "version": "2.0" }, "nodes": [{ "children": [0] }] }));
    assert!(cycle.to_string().contains("nodes[0].children[0]"), "{cycle}");
    assert!(refused(json!([])).to_string().starts_with("x.gltf: file: "));
    let short = refused(
        json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 9, "uri": "data:;base64,AQIDBA==" }] }),
    );
    assert!(short.to_string().contains("buffers[0].byteLength"), "{short}");

    let (library, asset) = something_of_everything().load().unwrap();
    let mut document = Document::from_slice(Path::new("x.glb"), &GltfBuilder::new().glb(), None).unwrap();
    match document.add_clip(&library, asset.clips[0]) {
        Err(Error::Usage(reason)) => {
            assert!(reason.contains("a skeleton of 3 joints, but the file has 0 nodes"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_animated_node_with_a_matrix_gets_its_parts() {
    let mut file = GltfBuilder::new();
    let matrix = [0.0, 2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 1.0, 2.0, 3.0, 1.0];
    file.push("nodes", json!({ "name": "hip", "matrix": matrix, "extras": "kept" }));
    let (mut library, asset) = file.load().unwrap();
    let source = library.add_skeleton(
        posse::Skeleton::new(None, vec![Joint { name: Some("hip".into()), ..Joint::default() }], Vec::new()).unwrap(),
    );
    let spin = curve(Interpolation::Step, 4, &[0.0], &degrees(DVec3::Y, 40.0).to_array());
    let clip = library.add_clip(Clip::new(None, source, vec![Track::new(Target::Rotation(0), spin)])).unwrap();
    let map = posse::retarget::JointMap::by_names(&library, source, asset.skeleton).unwrap();
    let made = library.retarget(&[clip], &map, &posse::retarget::RetargetOptions::default()).unwrap().clips[0].clip;
    let mut document = Document::from_slice(Path::new("x.glb"), &file.glb(), None).unwrap();
    document.add_clip(&library, made).unwrap();
    let (json, _) = parts(&document.to_glb().unwrap());
    let node = &json["nodes"][0];
    assert_eq!(
        (node.get("matrix"), &node["extras"], &node["translation"]),
        (None, &json!("kept"), &json!([1.0, 2.0, 3.0]))
    );
    assert_eq!(node["scale"], json!([2.0, 2.0, 2.0]));
}
