use std::collections::BTreeMap;
use std::path::PathBuf;

use posse::import::gltf;
use posse::model::library::Library;

/// Every file of the collection beside the repository, where there is one.
#[test]
fn the_collected_files_load_with_their_nodes_clips_and_durations() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf");
    let Ok(expected) = std::fs::read_dir(folder.join("expected")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let mut clips: BTreeMap<String, usize> = BTreeMap::new();
    let mut library = Library::new();
    for entry in expected {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        let expected: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let name = expected["asset"].as_str().unwrap();
        let asset = gltf::load(&mut library, folder.join(name)).unwrap();
        *clips.entry(name.into()).or_insert(asset.clips.len()) -= 1;

        let sample = &expected["samples"][0];
        let skeleton = library.skeleton(asset.skeleton);
        assert_eq!(skeleton.joints().len(), sample["nodes"].as_array().unwrap().len(), "{name}");
        assert_eq!(asset.skins.len(), sample["skins"].as_array().unwrap().len(), "{name}");
        assert_eq!(skeleton.properties().len(), sample["pointers"].as_object().unwrap().len(), "{name}");
        let clip = library.clip(asset.clips[expected["animation"].as_u64().unwrap() as usize]);
        assert_eq!(clip.name.as_deref(), expected["name"].as_str(), "{name}");
        assert!((clip.duration() - expected["duration"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        for (node, expected) in sample["nodes"].as_array().unwrap().iter().enumerate() {
            let weights = expected["weights"].as_array().map_or(0, Vec::len);
            assert_eq!(skeleton.joints()[asset.joints[node]].weights.len(), weights, "{name}, node {node}");
        }
        for warning in &asset.warnings {
            eprintln!("{name}: {warning}");
        }
    }
    assert!(clips.values().all(|&clips| clips == 0), "clips without an expectation: {clips:?}");
}
