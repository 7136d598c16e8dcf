//! Animation pointers, to nodes and to other objects.

use posse::Library;
use posse::curves::Target;
use posse::import::gltf::Asset;
use serde_json::json;

use super::tracks;
use crate::support::gltf_builder::{GltfBuilder, something_of_everything};

/// Loads a file with one channel that has this pointer. Its nodes have two morph targets each; the last has its own
/// weights.
fn pointer(pointer: &str, output: impl FnOnce(&mut GltfBuilder) -> usize) -> (Library, Asset) {
    let mut file = GltfBuilder::new();
    file.json["cameras"] = json!([{ "perspective": { "yfov": 0.75 } }]);
    file.json["materials"] = json!([{ "emissiveFactor": [1, 2, 3], "doubleSided": true }]);
    file.push("meshes", json!({ "primitives": [{ "targets": [{}, {}] }] }));
    file.push("nodes", json!({ "mesh": 0 }));
    file.push("nodes", json!({ "mesh": 0 }));
    file.push("nodes", json!({ "mesh": 0, "weights": [1, 1] }));
    let input = file.floats("SCALAR", &[0.0, 1.0]);
    let output = output(&mut file);
    let extensions = json!({ "KHR_animation_pointer": { "pointer": pointer } });
    file.animate(json!({ "path": "pointer", "extensions": extensions }), input, output, "STEP");
    file.load().unwrap()
}

#[test]
fn pointers_to_nodes_are_ordinary_tracks() {
    let target = |text: &str, kind: &str, count: usize| {
        let loaded = pointer(text, |file| file.floats(kind, &vec![1.0; count]));
        assert!(loaded.1.warnings.is_empty(), "{:?}", loaded.1.warnings);
        assert!(loaded.0.skeleton(loaded.1.skeleton).properties().is_empty());
        tracks(&loaded).iter().map(|track| (track.target, track.component)).collect::<Vec<_>>()
    };
    assert_eq!(target("/nodes/1/translation", "VEC3", 6), [(Target::Translation(1), None)]);
    assert_eq!(target("/nodes/2/rotation", "VEC4", 8), [(Target::Rotation(2), None)]);
    assert_eq!(target("/nodes/0/scale", "VEC3", 6), [(Target::Scale(0), None)]);
    assert_eq!(target("/nodes/2/weights", "SCALAR", 4), [(Target::Weights(2), None)]);
    assert_eq!(target("/nodes/2/weights/1", "SCALAR", 2), [(Target::Weights(2), Some(1))]);
    assert_eq!(target("/meshes/0/weights", "SCALAR", 4), [(Target::Weights(0), None), (Target::Weights(1), None)]);
    let both = [0, 1].map(|joint| (Target::Weights(joint), Some(1)));
    assert_eq!(target("/meshes/0/weights/1", "SCALAR", 2), both);
}

#[test]
fn pointers_to_other_objects_are_properties() {
    let property = |text: &str, loaded: (Library, Asset)| {
        assert_eq!(tracks(&loaded)[0].target, Target::Property(0));
        let property = loaded.0.skeleton(loaded.1.skeleton).properties()[0].clone();
        assert_eq!((property.name.as_str(), property.rotation), (text, false));
        (property.rest, tracks(&loaded)[0].curve.values().to_vec())
    };
    let floats = |text: &str, kind: &'static str, count: usize| {
        property(text, pointer(text, |file| file.floats(kind, &vec![1.0; count])))
    };
    assert_eq!(floats("/cameras/0/perspective/yfov", "SCALAR", 2), (vec![0.75], vec![1.0; 2]));
    assert_eq!(floats("/materials/0/emissiveFactor", "VEC3", 6), (vec![1.0, 2.0, 3.0], vec![1.0; 6]));
    assert_eq!(floats("/materials/0/emissiveFactor", "SCALAR", 6), (vec![1.0, 2.0, 3.0], vec![1.0; 6]));
    assert_eq!(floats("/materials/0/emissiveFactor", "VEC2", 4), (vec![0.0; 2], vec![1.0; 4]));
    assert_eq!(floats("/extras/nowhere", "MAT2", 8), (vec![0.0; 4], vec![1.0; 8]));
    let text = "/materials/0/doubleSided";
    let whole = property(text, pointer(text, |file| file.accessor("SCALAR", 5121, false, 2, &[0, 7])));
    assert_eq!(whole, (vec![1.0], vec![0.0, 1.0]));
    let parts = property(text, pointer(text, |file| file.accessor("SCALAR", 5121, true, 2, &[0, 255])));
    assert_eq!(parts, (vec![1.0], vec![0.0, 1.0]));
}

/// The defaults are those in the property tables of glTF 2.0 and of its extensions.
#[test]
fn a_property_that_the_file_leaves_out_rests_at_its_default() {
    for (text, kind, default) in [
        ("/materials/1/pbrMetallicRoughness/baseColorFactor", "VEC4", vec![1.0; 4]),
        ("/materials/0/pbrMetallicRoughness/metallicFactor", "SCALAR", vec![1.0]),
        ("/materials/1/emissiveFactor", "VEC3", vec![0.0; 3]),
        ("/materials/1/alphaCutoff", "SCALAR", vec![0.5]),
        ("/materials/1/normalTexture/scale", "SCALAR", vec![1.0]),
        ("/materials/1/normalTexture/extensions/KHR_texture_transform/scale", "VEC2", vec![1.0; 2]),
        ("/materials/1/normalTexture/extensions/KHR_texture_transform/offset", "VEC2", vec![0.0; 2]),
        ("/materials/1/extensions/KHR_materials_ior/ior", "SCALAR", vec![1.5]),
        ("/extensions/KHR_lights_punctual/lights/0/spot/outerConeAngle", "SCALAR", vec![std::f64::consts::FRAC_PI_4]),
        ("/extensions/EXT_lights_image_based/lights/0/rotation", "VEC4", vec![0.0, 0.0, 0.0, 1.0]),
        ("/extensions/EXT_lights_image_based/lights/0/intensity", "SCALAR", vec![1.0]),
        ("/nodes/0/extensions/EXT_lights_ies/multiplier", "SCALAR", vec![1.0]),
        ("/nodes/0/extensions/EXT_lights_ies/color", "VEC3", vec![1.0; 3]),
        ("/materials/1/extensions/ADOBE_materials_clearcoat_specular/clearcoatIor", "SCALAR", vec![1.5]),
        ("/materials/1/extensions/ADOBE_materials_clearcoat_specular/clearcoatSpecularFactor", "SCALAR", vec![1.0]),
        ("/materials/1/extensions/ADOBE_materials_clearcoat_tint/clearcoatTintFactor", "VEC3", vec![1.0; 3]),
        (
            "/materials/1/extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorFactor",
            "VEC3",
            vec![1.0; 3],
        ),
        ("/materials/1/extensions/KHR_materials_diffuse_transmission/diffuseTransmissionFactor", "SCALAR", vec![0.0]),
        ("/materials/1/extensions/KHR_materials_pbrSpecularGlossiness/glossinessFactor", "SCALAR", vec![1.0]),
        ("/nodes/0/extensions/KHR_node_visibility/visible", "SCALAR", vec![1.0]),
        ("/materials/1/doubleSided", "SCALAR", vec![0.0]),
    ] {
        let (library, asset) = pointer(text, |file| file.floats(kind, &vec![0.25; 2 * default.len()]));
        assert_eq!(library.skeleton(asset.skeleton).properties()[0].rest, default, "{text}");
    }
}

#[test]
fn one_property_serves_all_animations() {
    let mut file = something_of_everything();
    let again = file.json["animations"][0].clone();
    file.push("animations", again);
    let (library, asset) = file.load().unwrap();
    assert_eq!(library.skeleton(asset.skeleton).properties().len(), 1);
    assert_eq!(library.clip(asset.clips[1]).tracks, library.clip(asset.clips[0]).tracks);
}
