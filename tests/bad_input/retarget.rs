//! Maps of retargeting and documents to be written, broken at random.

use std::path::Path;

use posse::export::gltf::Document;
use posse::export::gltf::{BodyVertex, HumanMesh};
use posse::retarget::{JointMap, JointPair, MatchedBy, MirrorMap, ReferencePose, RetargetOptions, RootTranslation};
use posse::{ClipId, Error, Library, Skeleton, SkeletonId, demo};
use proptest::prelude::*;
use serde_json::json;

use super::random::{awkward, with_bytes, with_numbers};
use crate::support::cases::cases;
use crate::support::gltf_builder::{GltfBuilder, bytes, load, something_of_everything};

/// A map file with all fields.
const MAP: &str = r#"{ "joints": { "pelvis": "pelvis", "spine.1": "head", "head": "hand.L", "foot.L": "foot.R" },
    "root": "pelvis", "translation": "scaled", "scale": 1.5 }"#;

/// The built-in figure twice, with its clips.
fn figures() -> (Library, SkeletonId, SkeletonId, Vec<ClipId>) {
    let mut library = demo::library().unwrap();
    let source = library.skeleton_ids().next().unwrap();
    let target = library.add_skeleton(library.skeleton(source).clone());
    let clip = library.find_clip("walk").unwrap();
    (library, source, target, vec![clip])
}

/// Asserts that a map file is refused with its name, or that clips can be retargeted with it.
fn assert_map_harmless(json: &[u8]) {
    let (mut library, source, target, clips) = figures();
    match JointMap::from_json(&library, source, target, Path::new("map.json"), json) {
        Ok(map) => assert_retargeted(&mut library, &clips, &map, RetargetOptions::default()),
        Err(Error::Import { file, path, .. }) => assert!(file == Path::new("map.json") && !path.is_empty()),
        Err(other) => panic!("{other}"),
    }
}

/// Asserts that clips are retargeted, or refused without a change of the library.
fn assert_retargeted(library: &mut Library, clips: &[ClipId], map: &JointMap, options: RetargetOptions) {
    let before = library.clone();
    match library.retarget(clips, map, &options) {
        Ok(made) => assert_eq!(library.clips().len(), before.clips().len() + made.clips.len()),
        Err(Error::Usage(_) | Error::Track { .. }) => assert_eq!(*library, before),
        Err(other) => panic!("{other}"),
    }
}

/// Asserts that each clip is mirrored, or refused without a change of the library.
fn assert_mirrored(mut library: Library, skeleton: SkeletonId, clips: &[ClipId]) {
    let map = MirrorMap::new(&library, skeleton).unwrap();
    for clip in clips {
        let before = library.clone();
        match library.mirror(&[*clip], &map) {
            Ok(made) => assert_eq!(library.clips().len(), before.clips().len() + made.clips.len()),
            Err(Error::Usage(_) | Error::Track { .. }) => assert_eq!(library, before),
            Err(other) => panic!("{other}"),
        }
    }
}

/// A body of one triangle.
fn triangle() -> HumanMesh {
    let vertex =
        BodyVertex { position: [0.0; 3], normal: [0.0; 3], joints: [0; 4], weights: [0.25; 4], parts: [0.0; 4] };
    HumanMesh { vertices: vec![vertex; 3], indices: vec![0, 1, 2] }
}

/// Asserts that a document is refused with a path, or can be changed and written. If the file could be read, so can the
/// result.
fn assert_document_harmless(file: &[u8]) {
    let mut document = match Document::from_slice(Path::new("made.glb"), file, None) {
        Ok(document) => document,
        Err(Error::Import { path, .. }) => return assert!(!path.is_empty()),
        Err(other) => panic!("{other}"),
    };
    let read = load(file).ok();
    document.add_body(&triangle());
    document.remove_animations();
    for clip in read.iter().flat_map(|(_, asset)| &asset.clips) {
        let library = &read.as_ref().unwrap().0;
        match document.add_clip(library, *clip) {
            Ok(_) | Err(Error::Usage(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    let written = document.clone().to_glb().unwrap();
    document.remove_animations();
    let emptied = document.to_glb().unwrap();
    if let Some((library, asset)) = read {
        assert_mirrored(library.clone(), asset.skeleton, &asset.clips);
        for file in [written, emptied] {
            let (again, made) = load(&file).unwrap();
            let [before, after] = [(&library, &asset), (&again, &made)]
                .map(|(library, asset)| library.skeleton(asset.skeleton).joints().len());
            assert_eq!(after, before + 1);
        }
    }
}

#[test]
fn parts_of_documents_in_other_forms_do_no_harm() {
    let lists = json!({
        "asset": ["2.0"], "nodes": [{}], "buffers": [["data:,%00%00%00%00", 4], [null, 0]],
        "bufferViews": [[1, 0, 4, null, null], { "buffer": 0, "byteLength": 0 }],
    });
    let odd = json!({
        "asset": { "version": "2.0" }, "nodes": [{}, []], "scene": -1, "scenes": [null, 5], "materials": 7, "skins": [],
        "images": [[], 5, { "uri": 5 }], "extensionsUsed": "x", "extensions": { "VENDOR": [0, 1, 2] },
    });
    for json in [lists, odd, json!({ "asset": {}, "scenes": {}, "animations": [] })] {
        assert_document_harmless(json.to_string().as_bytes());
    }
    for file in [&b""[..], b"{}", b"[]", b"glTF", b"\0\0\0\0"] {
        assert_document_harmless(file);
    }
    let empty = GltfBuilder::new();
    assert_document_harmless(&empty.glb());
    assert_document_harmless(&empty.gltf_with_data_uri());
}

#[test]
fn pairs_and_poses_beyond_their_skeletons_are_refused() {
    let (mut library, source, target, clips) = figures();
    let none = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    for [from, to] in [[0, usize::MAX], [usize::MAX, 0], [500, 0], [0, 500]] {
        let mut map = JointMap::new(source, target);
        map.pairs.push(JointPair { source: from, target: to, by: MatchedBy::Caller });
        assert_retargeted(&mut library, &clips, &map, RetargetOptions::default());
    }
    let root = JointMap { root: Some(usize::MAX), ..JointMap::by_names(&library, source, target).unwrap() };
    for map in [root, JointMap::new(source, none), JointMap::new(none, target), JointMap::new(source, target)] {
        assert_retargeted(&mut library, &clips, &map, RetargetOptions::default());
    }
    let map = JointMap::by_names(&library, source, target).unwrap();
    for time in [f64::NAN, f64::INFINITY, -1e300, 1e30] {
        let reference = ReferencePose::Clip { clip: clips[0], time };
        assert_retargeted(&mut library, &clips, &map, RetargetOptions { reference, ..RetargetOptions::default() });
        for (rotation_bound, translation_bound) in [(time, 1e-4), (1e-4, time)] {
            let options = RetargetOptions { rotation_bound, translation_bound, ..RetargetOptions::default() };
            assert_retargeted(&mut library, &clips, &map, options);
        }
    }
}

proptest! {
    #![proptest_config(cases(1000, 0x5EED))]

    #[test]
    fn changed_bytes_of_maps_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        assert_map_harmless(&with_bytes(MAP.as_bytes().to_vec(), changes));
    }

    #[test]
    fn inserted_and_removed_parts_of_maps_do_no_harm(
        place in any::<prop::sample::Index>(),
        removed in 0..24usize,
        inserted in prop::sample::select(vec!["", "\"", "null", "{}", "[]", "1e999", "-0", "\"head\": \"head\",", "\\ud800"]),
    ) {
        let mut json = MAP.as_bytes().to_vec();
        let place = place.index(json.len());
        let end = json.len().min(place + removed);
        json.splice(place..end, inserted.bytes());
        assert_map_harmless(&json);
    }

    #[test]
    fn changed_bytes_of_documents_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        assert_document_harmless(&with_bytes(something_of_everything().glb(), changes));
    }

    #[test]
    fn changed_numbers_of_documents_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), awkward()), 1..4),
    ) {
        assert_document_harmless(&with_numbers(something_of_everything().gltf_with_data_uri(), changes));
    }

    #[test]
    fn changed_numbers_of_keys_are_retargeted_or_refused(
        place in 0..60usize,
        number in prop_oneof![-100.0..100.0_f32, any::<f32>()],
    ) {
        let mut file = something_of_everything();
        let place = (place * 4).min(file.bin.len() - 4);
        file.bin[place..place + 4].copy_from_slice(&bytes(&[number]));
        assert_document_harmless(&file.glb());
        let Ok((mut library, asset)) = file.load() else { return Ok(()) };
        let target = demo::library().unwrap();
        let target = library.add_skeleton(target.skeletons()[0].clone());
        let mut map = JointMap::new(asset.skeleton, target);
        // The second joint of the file hangs from the first, and the second joint of the pair from another one.
        map.pairs.extend([(0, 2), (1, 9)].map(|(source, target)| JointPair { source, target, by: MatchedBy::Caller }));
        // A jump through space takes as many keys as a curve can have, which takes seconds.
        if number.abs() > 100.0 {
            map.translation = RootTranslation::None;
        }
        assert_retargeted(&mut library, &asset.clips, &map, RetargetOptions::default());
    }
}
