use std::collections::BTreeMap;
use std::path::PathBuf;

use posse::import::gltf::{self, Asset};
use posse::model::library::Library;
use posse::model::track::{Target, Track};
use serde_json::Value;

/// Every file of the collection beside the repository, where there is one.
#[test]
fn the_collected_files_become_what_was_computed_from_them_elsewhere() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf");
    let Ok(expected) = std::fs::read_dir(folder.join("expected")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let mut clips: BTreeMap<String, usize> = BTreeMap::new();
    let mut library = Library::new();
    let mut keys = 0;
    for entry in expected {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let name = expected["asset"].as_str().unwrap();
        let asset = gltf::load(&mut library, folder.join(name)).unwrap();
        *clips.entry(name.into()).or_insert(asset.clips.len()) -= 1;
        keys += compare(&library, &asset, &expected);
    }
    assert!(clips.values().all(|&clips| clips == 0), "clips without an expectation: {clips:?}");
    assert!(keys > 500, "only {keys} keys were compared");
}

/// Compares a clip with what was computed from it elsewhere, and gives the number of keys that were.
fn compare(library: &Library, asset: &Asset, expected: &Value) -> usize {
    let name = expected["asset"].as_str().unwrap();
    assert!(asset.warnings.is_empty(), "{name}: {:?}", asset.warnings);
    let samples = expected["samples"].as_array().unwrap();
    let skeleton = library.skeleton(asset.skeleton);
    let nodes = samples[0]["nodes"].as_array().unwrap();
    assert_eq!(skeleton.joints().len(), nodes.len(), "{name}");
    assert_eq!(skeleton.properties().len(), samples[0]["pointers"].as_object().unwrap().len(), "{name}");
    let skins = samples[0]["skins"].as_array().unwrap();
    assert_eq!(asset.skins.len(), skins.len(), "{name}");
    for (&skin, expected) in asset.skins.iter().zip(skins) {
        assert_eq!(library.skin(skin).joints.len(), expected["joint_matrices"].as_array().unwrap().len(), "{name}");
    }
    for (node, expected) in nodes.iter().enumerate() {
        let joint = &skeleton.joints()[asset.joints[node]];
        assert_eq!(joint.weights.len(), expected["weights"].as_array().map_or(0, Vec::len), "{name}, node {node}");
        assert_eq!(joint.matrix.is_some(), expected["translation"].is_null(), "{name}, node {node}");
    }

    let clip = library.clip(asset.clips[expected["animation"].as_u64().unwrap() as usize]);
    assert_eq!(clip.name.as_deref(), expected["name"].as_str(), "{name}");
    assert!((clip.duration() - expected["duration"].as_f64().unwrap()).abs() < 1e-9, "{name}");
    clip.tracks.iter().map(|track| samples.iter().filter(|sample| is_same(name, asset, track, sample)).count()).sum()
}

/// Whether the sample is at a key of the track; it then has the key's value.
fn is_same(name: &str, asset: &Asset, track: &Track, sample: &Value) -> bool {
    let time = sample["time"].as_f64().unwrap();
    let timeline = track.curve.timeline();
    let Some(key) = timeline.times().iter().position(|&key| key == time) else { return false };
    let field = |joint: usize, field: &str| {
        let node = asset.joints.iter().position(|&other| other == joint).unwrap();
        sample["nodes"][node][field].clone()
    };
    let expected = match track.target {
        Target::Translation(joint) => field(joint, "translation"),
        Target::Rotation(joint) => field(joint, "rotation"),
        Target::Scale(joint) => field(joint, "scale"),
        Target::Weights(joint) => field(joint, "weights"),
        Target::Weight { .. } | Target::Property(_) => return false,
    };
    let expected: Vec<f64> = expected.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    let found = track.curve.value(key);
    // Nine digits; one unit of the decompressed quaternions, which two decoders may round differently.
    let tolerance = if name.contains("meshopt") { 1.001 / 32767.0 } else { 1e-8 };
    let largest = expected.iter().fold(1.0, |largest: f64, number| largest.max(number.abs()));
    let close = |sign: f64| {
        expected.iter().zip(found).all(|(expected, found)| (expected - sign * found).abs() <= tolerance * largest)
    };
    // A cubic spline's rotation is normalised.
    let length = found.iter().map(|number| number * number).sum::<f64>().sqrt();
    let rotation =
        matches!(track.target, Target::Rotation(_)) && (close(1.0 / length) || close(-1.0) || close(-1.0 / length));
    assert!(close(1.0) || rotation, "{name}, {:?} at {time} s: {found:?} is not {expected:?}", track.target);
    true
}
