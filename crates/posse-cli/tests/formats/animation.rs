//! glTF and USD files of `posse bake`: read back as poses, and compared with lines that were worked out by hand.

use std::fs;
use std::path::Path;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment, UpAxis};
use posse::import::gltf::{self, Asset};
use posse::{CpuEngine, Library};
use serde_json::{Value, json};

use super::{Folder, assert_near, figure};

/// The arrays of the only clip of a glTF file at times.
fn sampled(file: &Path, kinds: &[ArrayKind], up: UpAxis, scale: f64, times: &[f64]) -> Vec<Vec<f32>> {
    let mut library = Library::new();
    let Asset { skeleton, clips, joints, .. } = gltf::load(&mut library, file).unwrap();
    let request = ArrayRequest { kinds: kinds.to_vec(), up, scale, ..ArrayRequest::of_joints(&joints) };
    let layout = ArrayLayout::new(&library, skeleton, &joints, &request).unwrap();
    let moments: Vec<Moment> = times.iter().map(|&time| Moment::at(clips[0], time)).collect();
    let mut arrays: Vec<Vec<f32>> =
        layout.arrays().iter().map(|array| vec![0.0; times.len() * array.width()]).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(&CpuEngine::new(&library).unwrap(), &moments, &mut slices).unwrap();
    arrays
}

#[test]
fn a_glb_file_reads_back_as_the_same_poses() {
    use ArrayKind::{LocalPos, LocalQuat, LocalScale, Pos, Quat, Skin};
    let kinds = [Pos, Quat, LocalPos, LocalQuat, LocalScale, Skin];
    let folder = Folder::new();
    let times: Vec<f64> = (0..=8).map(|frame| f64::from(frame) / 8.0).collect();
    for (up, name, scale) in [(UpAxis::Y, "y", 1.0), (UpAxis::Z, "z", 2.5)] {
        let out = folder.bake(name, &format!("--format glb --fps 8 --up {name} --scale {scale}"));
        let file = out.join("figure.glb");
        let expected = sampled(&folder.path("clips/figure.glb"), &kinds, up, scale, &times);
        let found = sampled(&file, &kinds, UpAxis::Y, 1.0, &times);
        for (found, expected) in found.iter().zip(&expected) {
            assert_near(found, expected);
        }
        let mut library = Library::new();
        let asset = gltf::load(&mut library, &file).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        let names: Vec<_> =
            asset.joints.iter().map(|&joint| library.skeleton(asset.skeleton).joints()[joint].name.clone()).collect();
        assert_eq!(names, ["leg.l", "hip", "lamp", "socket"].map(|name| Some(name.to_owned())));
        assert_eq!(library.skin(asset.skins[0]).name.as_deref(), Some("suit"));
        assert_eq!(library.clip(asset.clips[0]).duration(), 1.0);
    }
}

#[test]
fn a_glb_file_has_no_keys_for_what_stays_at_rest() {
    let folder = Folder::new();
    let mut library = Library::new();
    let file = folder.bake("out", "--format glb").join("figure.glb");
    let asset = gltf::load(&mut library, file).unwrap();
    // The hip moves and turns. The leg is turned, but not as in the rest pose. All else is at rest.
    assert_eq!(library.clip(asset.clips[0]).tracks.len(), 3);
    // Of a clip in which all is at rest, the duration remains.
    let mut still = figure();
    still.json["animations"][0]["channels"] = json!([{ "sampler": 0, "target": { "node": 1, "path": "translation" } }]);
    let rest = still.floats("VEC3", &[0.0, 1.0, 0.0].repeat(3));
    still.json["animations"][0]["samplers"][0]["output"] = json!(rest);
    folder.add("figure.glb", &still);
    let file = folder.bake("out", "--format glb").join("figure.glb");
    let asset = gltf::load(&mut library, file).unwrap();
    let clip = library.clip(asset.clips[0]);
    assert_eq!((clip.tracks.len(), clip.duration()), (1, 1.0));
}

#[test]
fn a_glb_file_holds_the_facts() {
    let folder = Folder::new();
    let bytes = fs::read(folder.bake("out", "--format glb --fps 2").join("figure.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let facts = &json["asset"]["extras"];
    assert_eq!(
        (&facts["clip"], &facts["fps"], &facts["source"]["path"]),
        (&json!("figure"), &json!(2.0), &json!("figure.glb"))
    );
    assert_eq!(facts["parents"], json!([1, -1, -1, 0]));
}

#[test]
fn a_usda_file_reads_as_worked_out_by_hand() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.bake("out", "--format usda --fps 2").join("figure.usda")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for line in [
        "#usda 1.0",
        "defaultPrim = \"figure\"",
        "endTimeCode = 2",
        "timeCodesPerSecond = 2",
        "metersPerUnit = 1",
        "upAxis = \"Y\"",
        "def SkelRoot \"figure\"",
        // Parents before children.
        "uniform token[] joints = [\"hip\", \"hip/leg_l\", \"hip/leg_l/socket\", \"lamp\"]",
        "rel skel:animationSource = </figure/Animation>",
        // The joints that have no matrix, in the order of the file.
        "uniform token[] joints = [\"hip/leg_l\", \"hip\", \"lamp\"]",
        "half3[] scales = [(1, 2, 1), (1, 1, 1), (1, 1, 1)]",
        "1: [(0, -0.5, 0), (0, 1, 2), (7, 0, 0)],",
    ] {
        assert!(lines.contains(&line), "{line} is missing in\n{text}");
    }
    // The inverse bind matrices move by -1 and by -0.5 along y. Matrices are for row vectors.
    let bind = "uniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1)), \
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0.5, 0, 1)), ";
    assert!(lines.iter().any(|line| line.starts_with(bind)), "{text}");
    // w comes first.
    let turned = lines.iter().find(|line| line.starts_with("1: [(0.70710")).unwrap_or_else(|| panic!("{text}"));
    assert!(turned.contains("), (0.70710"), "{turned}");
}
