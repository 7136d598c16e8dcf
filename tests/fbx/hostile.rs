//! Files that would take long, or much memory: numbers that are out of range, and parts that are shared or too many.

use std::path::Path;

use posse::Library;
use posse::curves::Target;
use posse::import::fbx;

use crate::support::fbx_text::{FbxText, Key, Y_UP, array, vector};

/// The error of a file, which must leave the library as it was.
#[track_caller]
fn refused(text: &str) -> String {
    let mut library = Library::new();
    let error = fbx::from_slice(&mut library, Path::new("a.fbx"), text.as_bytes()).unwrap_err();
    assert!(library == Library::new());
    error.to_string()
}

#[test]
fn a_track_with_a_number_out_of_range_is_left_out() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[]).node(2, "leg", 1, &[]);
    let layer = file.stack("go", [0.0, 1.0]);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (1.0, 7777.0)])]);
    file.curves(layer, 2, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (1.0, 100.0)])]);
    let text = file.text(Y_UP).replace("a: 0,7777", "a: 0,1e300");
    let mut library = Library::new();
    let asset = fbx::from_slice(&mut library, Path::new("a.fbx"), text.as_bytes()).unwrap();
    let [track] = library.clip(asset.clips[0]).tracks.as_slice() else { panic!("one track") };
    assert_eq!(track.target, Target::Translation(1));
    let [warning] = asset.warnings.as_slice() else { panic!("{:?}", asset.warnings) };
    let warning = warning.to_string();
    assert!(warning.starts_with("animation stack \"go\", node \"hip\", translation: "), "{warning}");
    assert!(warning.ends_with("; the track is left out"), "{warning}");
}

#[test]
fn nodes_that_are_too_deep_and_layers_that_are_too_many_are_refused() {
    let chain = |count: u32| {
        let mut file = FbxText::new();
        (1..=count).for_each(|node| {
            file.node(node, "a", node - 1, &[]);
        });
        file.text(Y_UP)
    };
    let mut library = Library::new();
    let asset = fbx::from_slice(&mut library, Path::new("a.fbx"), chain(900).as_bytes()).unwrap();
    assert_eq!(library.skeleton(asset.skeleton).joints().len(), 900);
    let error = refused(&chain(1100));
    assert!(error.contains("nodes are more than 1024 levels below the root"), "{error}");

    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let base = file.stack("go", [0.0, 1.0]);
    for _ in 0..128 {
        let layer = file.id();
        file.object(&format!("AnimationLayer: {layer}, \"AnimLayer::more\", \"\""), "");
        file.connect(layer, base - 1);
    }
    file.curves(base, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (1.0, 100.0)])]);
    let error = refused(&file.text(Y_UP));
    assert!(error.contains("animation stack \"go\": it has 129 layers, of which at most 128 are read"), "{error}");
}

#[test]
fn a_deformer_that_thousands_of_meshes_share_is_refused() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 100.0, 0.0])]);
    file.object("Deformer: 2, \"Deformer::\", \"Skin\"", "Version: 101");
    for mesh in 10_000..12_000 {
        file.object(&format!("Geometry: {mesh}, \"Geometry::\", \"Mesh\""), "").connect(2, mesh);
    }
    for cluster in 20_000..22_000 {
        let content = format!("Version: 100\nIndexes: {}\nWeights: {}", array(&[0]), array(&[1.0]));
        file.object(&format!("Deformer: {cluster}, \"SubDeformer::\", \"Cluster\""), &content);
        file.connect(cluster, 2).connect(1, cluster);
    }
    // A skin per mesh, with 2,000 matrices of 96 bytes.
    let error = refused(&file.text(Y_UP));
    assert!(error.contains("it outgrows the memory budget of the file"), "{error}");
}

#[test]
fn stacks_that_share_a_layer_of_many_keys_are_refused() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("go", [0.0, 1.0]);
    let keys: Vec<(f64, f64)> = (0..4000).map(|key| (f64::from(key) / 30.0, f64::from(key % 2))).collect();
    file.curves(layer, 1, "Visibility", Key::Linear, &[("d|Visibility", &keys)]);
    for _ in 0..600 {
        let stack = file.id();
        file.object(&format!("AnimationStack: {stack}, \"AnimStack::s\", \"\""), "").connect(layer, stack);
    }
    let error = refused(&file.text(Y_UP));
    assert!(error.contains("the animation stacks up to this one have too many keys"), "{error}");
}

#[test]
fn stacks_that_share_a_layer_without_curves_are_no_clips() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("still", [0.0, 1.0]);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[]);
    let moving = file.stack("go", [0.0, 1.0]);
    file.curves(moving, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (1.0, 100.0)])]);
    let both = file.id();
    file.object(&format!("AnimationStack: {both}, \"AnimStack::both\", \"\""), "");
    file.connect(layer, both).connect(moving, both);
    let names = fbx::clip_names(Path::new("a.fbx"), file.text(Y_UP).as_bytes()).unwrap();
    assert_eq!(names, [Some("go".to_string()), Some("both".to_string())]);
}
