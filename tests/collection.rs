use std::collections::BTreeMap;
use std::path::PathBuf;

use glam::{DAffine3, DMat4, DQuat};
use posse::import::gltf::{self, Asset};
use posse::{Library, Pose, Reference};
use serde_json::Value;

use crate::support::build::pose_at;

/// Every file of the collection beside the repository, where there is one: posed by the reference at every time for
/// which poses were computed elsewhere, by a program that shares nothing with this one.
#[test]
fn the_collected_files_become_what_was_computed_from_them_elsewhere() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf");
    let Ok(expected) = std::fs::read_dir(folder.join("expected")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let mut clips: BTreeMap<String, usize> = BTreeMap::new();
    for entry in expected {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let name = expected["asset"].as_str().unwrap();
        let mut library = Library::new();
        let asset = gltf::load(&mut library, folder.join(name)).unwrap();
        assert_eq!(asset.warnings, [], "{name}");
        *clips.entry(name.into()).or_insert(asset.clips.len()) -= 1;
        compare(name, &library, &asset, &expected);
    }
    assert!(!clips.is_empty() && clips.values().all(|&clips| clips == 0), "clips without an expectation: {clips:?}");
}

/// Compares a clip with what was computed from it elsewhere.
fn compare(name: &str, library: &Library, asset: &Asset, expected: &Value) {
    let clip = asset.clips[expected["animation"].as_u64().unwrap() as usize];
    assert_eq!(library.clip(clip).name.as_deref(), expected["name"].as_str(), "{name}");
    let seconds = library.clip(clip).duration();
    assert!((seconds - expected["duration"].as_f64().unwrap()).abs() < 1e-9, "{name}");
    // Where the stored quaternions are not quite unit, or two decoders may differ by one unit of 1/32767.
    let rough = ["meshopt", "SimpleSkin", "AnimatedTriangle", "SamplerType_02"].iter().any(|part| name.contains(part));
    let tolerance = if rough { 2e-4 } else { 1e-7 };
    for sample in expected["samples"].as_array().unwrap() {
        let time = sample["time"].as_f64().unwrap();
        let pose = pose_at(&mut Reference::new(library), library, clip, time);
        Comparison { place: format!("{name} at {time} s"), tolerance, library, asset, pose: &pose }.compare(sample);
    }
}

struct Comparison<'a> {
    place: String,
    tolerance: f64,
    library: &'a Library,
    asset: &'a Asset,
    pose: &'a Pose,
}

impl Comparison<'_> {
    fn compare(&self, sample: &Value) {
        let skeleton = self.library.skeleton(self.asset.skeleton);
        let nodes = sample["nodes"].as_array().unwrap();
        assert_eq!(self.asset.joints.len(), nodes.len(), "{}", self.place);
        for (node, expected) in nodes.iter().enumerate() {
            let joint = self.asset.joints[node];
            let local = &self.pose.local[joint];
            assert_eq!(skeleton.joints()[joint].matrix.is_some(), expected["scale"].is_null(), "{}", self.place);
            if !expected["scale"].is_null() {
                self.close(&local.translation.to_array(), &expected["translation"]);
                self.close(&local.scale.to_array(), &expected["scale"]);
                let rotation = DQuat::from_slice(&numbers(&expected["rotation"])).normalize();
                let sign = rotation.dot(local.rotation).signum();
                let apart = (rotation * sign - local.rotation).length();
                assert!(apart <= self.tolerance, "{}, node {node}: {} is not {rotation}", self.place, local.rotation);
            }
            self.close(&matrix(self.pose.model[joint]), &expected["world"]);
            let first: usize = skeleton.joints()[..joint].iter().map(|joint| joint.weights.len()).sum();
            let weights = &self.pose.weights[first..first + skeleton.joints()[joint].weights.len()];
            self.close(weights, &expected["weights"]);
        }
        let skins = sample["skins"].as_array().unwrap();
        assert_eq!(self.pose.skins.len(), skins.len(), "{}", self.place);
        for (matrices, expected) in self.pose.skins.iter().zip(skins) {
            let expected = expected["joint_matrices"].as_array().unwrap();
            assert_eq!(matrices.len(), expected.len(), "{}", self.place);
            matrices.iter().zip(expected).for_each(|(found, expected)| self.close(&matrix(*found), expected));
        }
        let pointers = sample["pointers"].as_object().unwrap();
        assert_eq!(skeleton.properties().len(), pointers.len(), "{}", self.place);
    }

    /// Within the tolerance, of the largest number or of 1.
    #[track_caller]
    fn close(&self, found: &[f64], expected: &Value) {
        let expected = numbers(expected);
        let largest = expected.iter().fold(1.0, |largest: f64, number| largest.max(number.abs()));
        let close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= self.tolerance * largest;
        let all = found.len() == expected.len() && found.iter().zip(&expected).all(close);
        assert!(all, "{}: {found:?} is not {expected:?}", self.place);
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().map(|number| number.as_f64().unwrap()).collect()
}

fn matrix(affine: DAffine3) -> [f64; 16] {
    DMat4::from(affine).to_cols_array()
}
