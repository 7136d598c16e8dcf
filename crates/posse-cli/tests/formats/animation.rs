//! glTF, USD and BVH files and VRM animations of `posse bake`: read back as poses, and compared with lines that were
//! worked out by hand.

use std::fs;
use std::path::Path;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment, UpAxis};
use posse::cpu::CpuEngine;
use posse::curves::Target;
use posse::export::gltf::Document;
use posse::glam::DVec3;
use posse::import::gltf::{self, Asset};
use posse::{Library, demo};
use serde_json::{Value, json};

use super::{Folder, assert_near, figure};
use crate::support::bvh_reader::read_bvh;
use crate::support::gltf_builder::GltfBuilder;

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

#[test]
fn a_bvh_file_reads_as_worked_out_by_hand() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.bake("out", "--format bvh --fps 2").join("figure.bvh")).unwrap();
    let (hierarchy, motion) = text.split_once("MOTION\n").unwrap();
    // The joints of the skin. The scale of the leg moves nothing, because the socket is not one of them.
    let expected = "HIERARCHY
ROOT hip
{
\tOFFSET 0 1 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT leg.l
\t{
\t\tOFFSET 0 -0.5 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -0.05 0
\t\t}
\t}
}
";
    assert_eq!(hierarchy, expected);
    let lines: Vec<&str> = motion.lines().collect();
    assert_eq!(&lines[..2], ["Frames: 3", "Frame Time: 0.5"]);
    // The hip moves along z and turns by 0, 90 and 180 degrees about z, the leg stays turned by 90 degrees about x.
    for (line, [z, angle]) in lines[2..].iter().zip([[0.0, 0.0], [2.0, 90.0], [4.0, 180.0]]) {
        let numbers: Vec<f32> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 9);
        let expected = [0.0, 1.0, z, angle, 0.0, 0.0, 0.0, 90.0, 0.0];
        for (found, expected) in numbers.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-3, "{line}");
        }
    }
}

#[test]
fn a_bvh_file_has_the_places_of_the_space_and_the_order_that_are_asked_for() {
    let folder = Folder::new();
    let times: Vec<f64> = (0..=8).map(|frame| f64::from(frame) / 8.0).collect();
    for (up, name, scale, order) in [(UpAxis::Y, "y", 1.0, "XYZ"), (UpAxis::Z, "z", 2.5, "YXZ")] {
        let options = format!("--format bvh --fps 8 --up {name} --scale {scale} --bvh-order {order}");
        let text = fs::read_to_string(folder.bake(name, &options).join("figure.bvh")).unwrap();
        let [one, two, three] = [0, 1, 2].map(|index| &order[index..=index]);
        assert!(text.contains(&format!("CHANNELS 3 {one}rotation {two}rotation {three}rotation")), "{text}");
        let motion = read_bvh(&text);
        // The nodes are leg.l, hip, lamp and socket.
        let arrays = sampled(&folder.path("clips/figure.glb"), &[ArrayKind::Pos], up, scale, &times);
        for frame in 0..times.len() {
            let [leg, hip] = ["leg.l", "hip"].map(|name| motion.matrix(name, frame).unwrap().w_axis.as_vec4());
            let expected = &arrays[0][frame * 12..][..6];
            assert_near(&[leg.x, leg.y, leg.z, hip.x, hip.y, hip.z], expected);
        }
    }
    // The leg between hip and socket is left out. It moves the socket, too.
    let out = folder.bake("listed", "--format bvh --fps 8 --joints hip,socket");
    let motion = read_bvh(&fs::read_to_string(out.join("figure.bvh")).unwrap());
    assert_eq!(motion.names, ["hip", "socket", "socket_end"]);
    let arrays = sampled(&folder.path("clips/figure.glb"), &[ArrayKind::Pos], UpAxis::Y, 1.0, &times);
    for frame in 0..times.len() {
        let socket = motion.matrix("socket", frame).unwrap().w_axis.as_vec4();
        assert_near(&[socket.x, socket.y, socket.z], &arrays[0][frame * 12 + 9..][..3]);
    }
}

#[test]
fn options_of_bvh_files_are_checked() {
    let folder = Folder::new();
    assert!(folder.refusal("--format glb --bvh-order XYZ").contains("--bvh-order is for --format bvh"));
    assert!(folder.refusal("--format bvh --bvh-order XYX").contains("expected XYZ, XZY"));
    assert!(folder.refusal("--format bvh --quaternions wxyz").contains("no quaternions"));
    // The figure is no human.
    assert_eq!(folder.run("clips -o refused --format vrma").status.code(), Some(2));
}

#[test]
fn a_vrma_file_has_the_bones_of_a_human_in_t_pose() {
    let folder = Folder::new();
    let library = demo::library().unwrap();
    let walk = library.find_clip("walk").unwrap();
    let mut document = Document::of_skeleton(&library, library.clip(walk).skeleton).unwrap();
    document.add_clip(&library, walk).unwrap();
    fs::write(folder.path("clips/human.glb"), document.to_glb().unwrap()).unwrap();
    let output = folder.run("clips/human.glb -o vrma --format vrma --fps 8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = folder.path("vrma");
    let mut read = Library::new();
    let asset = gltf::load(&mut read, out.join("human.vrma")).unwrap();
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let skeleton = read.skeleton(asset.skeleton);
    let bone = |role: &str| skeleton.human_bones().iter().find(|bone| bone.role == role).unwrap().joint;
    assert!(
        skeleton.human_bones().len() >= 50 && skeleton.human_bones().iter().all(|bone| !bone.role.ends_with("Eye"))
    );
    // The arms of the T-pose are along x, and nothing is rotated.
    let offset = |role: &str| skeleton.joints()[bone(role)].rest.translation;
    assert!((offset("leftHand") - DVec3::new(0.26, 0.0, 0.0)).length() < 1e-6);
    assert!((offset("rightLowerArm") - DVec3::new(-0.28, 0.0, 0.0)).length() < 1e-6);
    assert!(skeleton.joints().iter().all(|joint| joint.rest.rotation.w == 1.0 && joint.rest.scale.x == 1.0));
    // Of all translations, only the hips have keys.
    let targets = read.clip(asset.clips[0]).tracks.iter().map(|track| track.target);
    let others: Vec<_> = targets.filter(|target| !matches!(target, Target::Rotation(_))).collect();
    assert!(others.iter().all(|target| *target == Target::Translation(bone("hips"))), "{others:?}");
    // The limbs point where the limbs of the built-in human point. Its joint between the chest and the upper chest is
    // no bone, so that the arms themselves are moved a little.
    let times: Vec<f64> = (0..=4).map(|frame| f64::from(frame) / 8.0).collect();
    let [found, expected] = [out.join("human.vrma"), folder.path("clips/human.glb")]
        .map(|file| sampled(&file, &[ArrayKind::Pos], UpAxis::Y, 1.0, &times).remove(0));
    let human = demo::library().unwrap();
    let (bones, joints) = (skeleton.joints().len(), human.skeletons()[0].joints().len());
    let place = |arrays: &[f32], count: usize, joint: usize| {
        DVec3::from_slice(
            &arrays[3 * (count + joint)..][..3].iter().map(|&number| f64::from(number)).collect::<Vec<f64>>(),
        )
    };
    for names in [["pelvis", "foot.L"], ["upper_arm.L", "hand.L"], ["hand.R", "index.3.R"], ["neck", "head"]] {
        let from = names.map(|name| human.skeletons()[0].find_joint(name).unwrap());
        let to = names.map(|name| skeleton.find_joint(name).unwrap());
        for frame in 0..times.len() {
            let expected = from.map(|joint| place(&expected, frame * joints, joint));
            let found = to.map(|joint| place(&found, frame * bones, joint));
            let difference = (found[1] - found[0]) - (expected[1] - expected[0]);
            assert!(difference.length() < 1e-5, "{names:?} in frame {frame}: {difference}");
            if names[0] == "pelvis" {
                assert!(found[0].distance(expected[0]) < 1e-5, "the hips in frame {frame}");
            }
        }
    }
}

#[test]
fn a_vrma_file_has_the_expressions_of_morph_weights() {
    let folder = Folder::new();
    // The built-in human as a VRM model, whose expression `aa` moves the morph weight of a mesh by a half.
    let human = demo::library().unwrap();
    let joints = human.skeletons()[0].joints();
    let mut file = GltfBuilder::new();
    for (index, joint) in joints.iter().enumerate() {
        let children: Vec<usize> = (0..joints.len()).filter(|&child| joints[child].parent == Some(index)).collect();
        let mut node = json!({ "name": joint.name, "translation": joint.rest.translation.to_array() });
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        file.push("nodes", node);
    }
    let positions = file.floats("VEC3", &[0.0; 9]);
    let primitive = json!({ "attributes": { "POSITION": positions }, "targets": [{ "POSITION": positions }] });
    file.push("meshes", json!({ "primitives": [primitive] }));
    let face = file.push("nodes", json!({ "name": "Face", "mesh": 0 }));
    let (times, weights) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats("SCALAR", &[0.0, 0.5]));
    file.animate(json!({ "node": face, "path": "weights" }), times, weights, "LINEAR");
    let aa = json!({ "morphTargetBinds": [{ "node": face, "index": 0, "weight": 0.5 }] });
    file.json["extensionsUsed"] = json!(["VRMC_vrm"]);
    let extension = json!({ "specVersion": "1.0", "expressions": { "preset": { "aa": aa, "sad": {} } } });
    file.json["extensions"] = json!({ "VRMC_vrm": extension });
    folder.add("talk.glb", &file);
    // Lengths are scaled, but no weights.
    for (source, out, scale) in [("clips/talk.glb", "face", 1.0), ("face/talk.vrma", "again", 2.0)] {
        let output = folder.run(&format!("{source} -o {out} --format vrma --fps 4 --scale {scale}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut read = Library::new();
        let asset = gltf::load(&mut read, folder.path(out).join("talk.vrma")).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        let skeleton = read.skeleton(asset.skeleton);
        let hand = skeleton.human_bones().iter().find(|bone| bone.role == "leftHand").unwrap().joint;
        assert!((skeleton.joints()[hand].rest.translation.x - 0.26 * scale).abs() < 1e-6);
        let [aa] = skeleton.expressions() else { panic!("{:?}", skeleton.expressions()) };
        assert_eq!(aa.name, "aa");
        let tracks = &read.clip(asset.clips[0]).tracks;
        let track = tracks.iter().find(|track| track.target == Target::Translation(aa.driver.unwrap())).unwrap();
        let found = track.curve.value(2);
        assert!((found[0] - 0.5).abs() < 1e-6 && found[1..] == [0.0, 0.0], "{found:?}");
    }
}
