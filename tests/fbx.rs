//! The FBX importer: hand-worked files of text.

/// Curves of every kind: kept keys, further keys, spans of stacks.
mod curves;
/// Files that would take long, or much memory.
mod hostile;

use std::path::Path;

use posse::glam::{DAffine3, DQuat, DVec3};
use posse::import::fbx::{self, Asset};
use posse::{Error, Library};

use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::degrees;
use crate::support::fbx_text::{FbxText, Key, Space, Y_UP, Z_UP, array, int, vector};

pub fn import(file: &FbxText, space: Space) -> (Library, Asset) {
    let mut library = Library::new();
    let asset = fbx::from_slice(&mut library, Path::new("motion/leg.fbx"), file.text(space).as_bytes()).unwrap();
    (library, asset)
}

/// The rest transforms of all joints in the space of the model.
fn rest_pose(library: &Library, asset: &Asset) -> Vec<DAffine3> {
    let mut model: Vec<DAffine3> = Vec::new();
    for joint in library.skeleton(asset.skeleton).joints() {
        let rest = joint.rest;
        let local = DAffine3::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation);
        model.push(joint.parent.map_or(local, |parent| model[parent] * local));
    }
    model
}

fn places(library: &Library, asset: &Asset) -> Vec<[f64; 3]> {
    rest_pose(library, asset).iter().map(|joint| joint.translation.to_array()).collect()
}

fn names(library: &Library, asset: &Asset) -> Vec<String> {
    library.skeleton(asset.skeleton).joints().iter().map(|joint| joint.name.clone().unwrap()).collect()
}

#[test]
fn nodes_in_centimetres_with_z_up_stand_in_metres_with_y_up() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 0.0, 100.0])]);
    let turned =
        [vector("PreRotation", [0.0, 0.0, 90.0]), vector("Lcl Rotation", [90.0, 0.0, 0.0]), int("RotationActive", 1)];
    file.node(2, "leg", 1, &[&[vector("Lcl Translation", [10.0, 20.0, 30.0])], &turned[..]].concat());
    file.node(3, "foot", 2, &[vector("Lcl Translation", [0.0, 10.0, 5.0])]);
    file.node(4, "arm", 1, &[vector("Lcl Translation", [1.0, 0.0, 0.0])]);
    let (library, asset) = import(&file, Z_UP);
    assert_eq!(names(&library, &asset), ["hip", "leg", "foot", "arm"]);
    let skeleton = library.skeleton(asset.skeleton);
    assert_eq!(skeleton.name(), Some("leg"));
    let parents: Vec<_> = skeleton.joints().iter().map(|joint| joint.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(0)]);
    // Z up and -Y to the front become Y up and +Z to the front: (x, y, z) is (x, z, -y). The foot is turned by Rx(90),
    // (0, 10, 5) to (0, -5, 10), then by Rz(90), to (5, 0, 10). Together (0 + 10 + 5, 20, 100 + 30 + 10) cm.
    let expected = [[0.0, 1.0, 0.0], [0.1, 1.3, -0.2], [0.15, 1.4, -0.2], [0.01, 1.0, 0.0]];
    for (place, expected) in places(&library, &asset).iter().zip(expected) {
        assert_close(place, &expected, "a place");
    }
    assert!(skeleton.joints().iter().all(|joint| (joint.rest.scale - DVec3::ONE).length() < 1e-9));
    assert_eq!((asset.frame_rate, asset.clips.len(), asset.warnings.len()), (Some(30.0), 0, 0));
    // The same file in metres is a hundred times as large.
    let (library, asset) = import(&file, Space { unit: 100.0, ..Z_UP });
    assert_close(&places(&library, &asset)[2], &[15.0, 140.0, -20.0], "in metres");
}

#[test]
fn a_left_handed_file_is_mirrored_at_x() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[vector("Lcl Translation", [100.0, 200.0, 300.0]), vector("Lcl Rotation", [0.0, 0.0, 30.0])]);
    file.node(2, "b", 1, &[vector("Lcl Translation", [100.0, 0.0, 0.0])]);
    let (library, asset) = import(&file, Space { right: (0, -1), ..Y_UP });
    let model = rest_pose(&library, &asset);
    assert!(model.iter().all(|joint| joint.matrix3.determinant() > 0.99));
    // In the file, b is at (100 + 100 cos 30, 200 + 100 sin 30, 300), and x points to the left.
    let place = model[1].translation.to_array();
    assert_close(&place, &[-(1.0 + 0.75_f64.sqrt()), 2.5, 3.0], "mirrored");
}

#[test]
fn rotation_orders_post_rotations_and_pivots_are_in_the_transforms() {
    let mut file = FbxText::new();
    let angles = vector("Lcl Rotation", [10.0, 20.0, 30.0]);
    file.node(1, "xyz", 0, std::slice::from_ref(&angles));
    // 5 is ZYX: z is applied first.
    file.node(2, "zyx", 0, &[angles.clone(), int("RotationOrder", 5), int("RotationActive", 1)]);
    let post = vector("PostRotation", [0.0, 90.0, 0.0]);
    file.node(3, "post", 0, &[angles, post, int("RotationActive", 1)]);
    let pivot = vector("RotationPivot", [0.0, 10.0, 0.0]);
    file.node(4, "pivot", 0, &[vector("Lcl Rotation", [0.0, 0.0, 90.0]), pivot]);
    let (library, asset) = import(&file, Y_UP);
    let joints = library.skeleton(asset.skeleton).joints();
    let [x, y, z] = [degrees(DVec3::X, 10.0), degrees(DVec3::Y, 20.0), degrees(DVec3::Z, 30.0)];
    assert_rotation(joints[0].rest.rotation, z * y * x, "XYZ");
    assert_rotation(joints[1].rest.rotation, x * y * z, "ZYX");
    // The transform has the inverse of the post-rotation.
    assert_rotation(joints[2].rest.rotation, z * y * x * degrees(DVec3::Y, -90.0), "post-rotation");
    // A quarter turn about (0, 10, 0) takes the origin, 10 below the pivot, to the right of it.
    assert_vector(joints[3].rest.translation, [0.1, 0.1, 0.0], "pivot");
    assert_rotation(joints[3].rest.rotation, degrees(DVec3::Z, 90.0), "pivot");
}

#[test]
fn a_negative_scale_mirrors_what_is_below() {
    let mut file = FbxText::new();
    let mirrored = vector("Lcl Scaling", [-1.0, 1.0, 1.0]);
    file.node(1, "a", 0, &[mirrored, vector("Lcl Rotation", [0.0, 0.0, 90.0]), int("InheritType", 1)]);
    file.node(2, "b", 1, &[vector("Lcl Translation", [10.0, 20.0, 30.0]), int("InheritType", 1)]);
    let (library, asset) = import(&file, Y_UP);
    let model = rest_pose(&library, &asset);
    // Scaled to (-10, 20, 30), then rotated by a quarter about z: (x, y) becomes (-y, x).
    assert_vector(model[1].translation, [-0.2, -0.1, 0.3], "b");
    assert!((model[1].matrix3.determinant() + 1.0).abs() < 1e-9);
}

#[test]
fn a_joint_that_does_not_inherit_scale_has_none() {
    for (scale, has_helper) in [([2.0, 2.0, 2.0], false), ([2.0, 1.0, 1.0], true)] {
        let mut file = FbxText::new();
        file.node(1, "a", 0, &[vector("Lcl Scaling", scale)]);
        // 2 is Rrs: without the scale of the parent, which still moves the place.
        file.node(2, "b", 1, &[vector("Lcl Translation", [10.0, 0.0, 0.0]), int("InheritType", 2)]);
        file.node(3, "c", 2, &[vector("Lcl Translation", [10.0, 0.0, 0.0]), int("InheritType", 1)]);
        let (library, asset) = import(&file, Y_UP);
        let names = names(&library, &asset);
        assert_eq!(names.contains(&"a_scale".to_string()), has_helper, "{names:?}");
        let model = rest_pose(&library, &asset);
        let find = |name: &str| model[names.iter().position(|found| found == name).unwrap()];
        assert_vector(find("b").translation, [0.2, 0.0, 0.0], "b");
        assert_vector(find("c").translation, [0.3, 0.0, 0.0], "c");
        assert_close(&find("b").matrix3.to_cols_array(), &posse::glam::DMat3::IDENTITY.to_cols_array(), "b");
    }
}

#[test]
fn clusters_become_skins_with_inverse_bind_matrices_in_metres() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 100.0, 0.0])]);
    file.node(2, "knee", 1, &[vector("Lcl Translation", [0.0, -50.0, 0.0])]);
    file.object("Model: 3, \"Model::body\", \"Mesh\"", "Version: 232").connect(3, 0);
    file.object("Geometry: 4, \"Geometry::\", \"Mesh\"", &triangle()).connect(4, 3);
    file.object("Deformer: 5, \"Deformer::\", \"Skin\"", "Version: 101").connect(5, 4);
    for (cluster, bone, height) in [(6, 2, 50.0), (7, 1, 100.0)] {
        let place = |y: f64| array(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0]);
        let content = format!(
            "Version: 100\nIndexes: {}\nWeights: {}\nTransform: {}\nTransformLink: {}",
            array(&[0, 1, 2]),
            array(&[0.5; 3]),
            place(-height),
            place(height)
        );
        file.object(&format!("Deformer: {cluster}, \"SubDeformer::\", \"Cluster\""), &content);
        file.connect(cluster, 5).connect(bone, cluster);
    }
    let (library, asset) = import(&file, Y_UP);
    assert_eq!(names(&library, &asset), ["hip", "knee", "body"]);
    let skin = library.skin(asset.skins[0]);
    assert_eq!((asset.skins.len(), skin.name.as_deref(), skin.joints.as_slice()), (1, Some("body"), &[1, 0][..]));
    for (matrix, y) in skin.inverse_bind.iter().zip([-0.5, -1.0]) {
        let expected = DAffine3::from_translation(DVec3::new(0.0, y, 0.0));
        assert_close(&matrix.to_cols_array(), &expected.to_cols_array(), "inverse bind");
    }
}

/// The content of a mesh of a triangle.
fn triangle() -> String {
    let vertices = array(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    format!("Vertices: {vertices}\nPolygonVertexIndex: {}\nGeometryVersion: 124", array(&[0, 1, -3]))
}

/// A mesh, whose geometry is 4, with a deformer of blend shapes: channels with the names of their shapes, and weights
/// in percent. The channels are 20 and up.
fn face(deformer: &str, channels: &[(&str, &str, f64)]) -> FbxText {
    let mut file = FbxText::new();
    file.object("Model: 3, \"Model::face\", \"Mesh\"", "Version: 232").connect(3, 0);
    file.object("Geometry: 4, \"Geometry::\", \"Mesh\"", &triangle()).connect(4, 3);
    file.object(&format!("Deformer: 5, \"Deformer::{deformer}\", \"BlendShape\""), "Version: 100").connect(5, 4);
    for (channel, (name, shape_name, percent)) in (20..).zip(channels) {
        let content = format!("Version: 100\nDeformPercent: {percent}\nFullWeights: {}", array(&[100.0]));
        file.object(&format!("Deformer: {channel}, \"SubDeformer::{name}\", \"BlendShapeChannel\""), &content);
        let head = format!("Geometry: {}, \"Geometry::{shape_name}\", \"Shape\"", channel + 100);
        file.object(&head, &format!("Version: 100\n{}", shape()));
        file.connect(channel, 5).connect(channel + 100, channel);
    }
    file
}

/// The content of a shape that moves a vertex.
fn shape() -> String {
    format!("Indexes: {}\nVertices: {}", array(&[1]), array(&[0.0, 0.0, 1.0]))
}

#[test]
fn channels_of_blend_shapes_become_morph_weights_of_the_mesh() {
    let mut file = face("", &[("smile", "smile", 25.0), ("blink", "blink", 0.0)]);
    let layer = file.stack("talk", [0.0, 1.0]);
    file.curves(layer, 21, "DeformPercent", Key::Linear, &[("d|DeformPercent", &[(0.0, 0.0), (1.0, 80.0)])]);
    let (library, asset) = import(&file, Y_UP);
    let joint = &library.skeleton(asset.skeleton).joints()[0];
    assert_close(&joint.weights, &[0.25, 0.0], "rest");
    assert_eq!(*joint.morph_names, ["smile", "blink"]);
    let [track] = library.clip(asset.clips[0]).tracks.as_slice() else { panic!("one track") };
    assert_eq!((track.target, track.component), (posse::curves::Target::Weights(0), Some(1)));
    assert_eq!(track.curve.timeline().times(), [0.0, 1.0]);
    assert_close(track.curve.values(), &[0.0, 0.8], "weights");
}

#[test]
fn a_shape_in_between_is_named() {
    // The channel is 20, and its shape 120 at 100 percent. The further one is at 50 percent.
    let mut file = face("", &[("smile", "smile", 25.0), ("blink", "blink", 0.0)]);
    file.object("Geometry: 900, \"Geometry::half\", \"Shape\"", &format!("Version: 100\n{}", shape())).connect(900, 20);
    let text = file.text(Y_UP).replacen("FullWeights: *1 {\na: 100\n}", "FullWeights: *2 {\na: 100,50\n}", 1);
    let mut library = Library::new();
    let asset = fbx::from_slice(&mut library, Path::new("face.fbx"), text.as_bytes()).unwrap();
    assert_close(&library.skeleton(asset.skeleton).joints()[0].weights, &[0.25, 0.0], "rest");
    let warnings: Vec<_> = asset.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["blend shape \"smile\": it has shapes in between, which one weight stands for"]);
}

#[test]
fn names_of_morph_weights_leave_out_the_deformer_as_maya_does_for_gltf() {
    let names = |deformer, channels: &[(&str, &str)]| {
        let channels: Vec<_> = channels.iter().map(|(name, shape)| (*name, *shape, 0.0)).collect();
        let (library, asset) = import(&face(deformer, &channels), Y_UP);
        library.skeleton(asset.skeleton).joints()[0].morph_names.to_vec()
    };
    // Maya writes the deformer before the name of the shape, ZBrush no names of channels, and Blender the same twice.
    let channels =
        [("Squish.top", "top"), ("Squish.side", "Squish.side"), ("", "morph"), ("Squish.", "x"), ("Other.low", "low")];
    assert_eq!(names("Squish", &channels), ["top", "Squish.side", "morph", "Squish.", "Other.low"]);
    // Two channels of one name would be lost.
    assert_eq!(names("a", &[("a.low", ""), ("low", "low")]), ["a.low", "low"]);
    assert!(names("a", &[("", ""), ("", "")]).is_empty());
}

#[test]
fn weights_are_properties_of_the_mesh_up_to_7_1() {
    let mut file = FbxText::new();
    file.object("Model: 3, \"Model::face\", \"Mesh\"", "Version: 232").connect(3, 0);
    let weight = |name: &str, percent: f64| format!("P: \"{name}\", \"Number\", \"\", \"A+\",{percent}");
    let properties = format!("Properties70:  {{\n{}\n{}\n}}", weight("smile", 25.0), weight("blink", 0.0));
    let shapes = ["smile", "blink"].map(|name| format!("Shape: \"{name}\" {{\n{}\n}}", shape())).join("\n");
    let content = format!("{properties}\n{}\n{shapes}", triangle());
    file.object("Geometry: 4, \"Geometry::\", \"Mesh\"", &content).connect(4, 3);
    let layer = file.stack("talk", [0.0, 1.0]);
    file.curves(layer, 4, "blink", Key::Linear, &[("d|blink", &[(0.0, 0.0), (1.0, 80.0)])]);
    file.curves(layer, 4, "other", Key::Linear, &[("d|other", &[(0.0, 0.0), (1.0, 80.0)])]);
    let text = file.text(Y_UP).replace("FBX 7.4.0", "FBX 7.1.0").replace("FBXVersion: 7400", "FBXVersion: 7100");
    let mut library = Library::new();
    let asset = fbx::from_slice(&mut library, Path::new("face.fbx"), text.as_bytes()).unwrap();
    let joint = &library.skeleton(asset.skeleton).joints()[0];
    assert_close(&joint.weights, &[0.25, 0.0], "rest");
    assert_eq!(*joint.morph_names, ["smile", "blink"]);
    let [track] = library.clip(asset.clips[0]).tracks.as_slice() else { panic!("one track") };
    assert_eq!((track.target, track.component), (posse::curves::Target::Weights(0), Some(1)));
    assert_eq!(track.curve.timeline().times(), [0.0, 1.0]);
    assert_close(track.curve.values(), &[0.0, 0.8], "weights");
    let [warning] = asset.warnings.as_slice() else { panic!("{:?}", asset.warnings) };
    assert_eq!(warning.to_string(), "animation stack \"talk\": it animates properties that are not read: other");
}

#[test]
fn weights_that_blender_writes_at_the_mesh_too_are_no_warning() {
    let mut file = face("Cube", &[("Key", "Key", 0.0)]);
    let layer = file.stack("talk", [0.0, 1.0]);
    let keys: [(f64, f64); 2] = [(0.0, 0.0), (1.0, 100.0)];
    for (object, property) in [(20, "DeformPercent"), (4, "Key")] {
        file.curves(layer, object, property, Key::Linear, &[(&format!("d|{property}"), &keys)]);
    }
    let (library, asset) = import(&file, Y_UP);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let [track] = library.clip(asset.clips[0]).tracks.as_slice() else { panic!("one track") };
    assert_close(track.curve.values(), &[0.0, 1.0], "weights");
}

#[test]
fn a_file_that_is_no_fbx_or_ends_too_early_is_called_so() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 100.0, 0.0])]);
    let text = file.text(Y_UP);
    let cut = text.as_bytes().split_at(text.len() / 2).0;
    // The head of FBX 7.4, and the head of a node that ends after 4,096 bytes.
    let binary = b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\x12FBXHeaderExtension";
    for (bytes, saying) in [
        (&b""[..], "it is empty: "),
        (&binary[..20], "it is binary FBX that is cut off: it ends after 20 bytes, "),
        (&binary[..27], "it is binary FBX that is cut off: it ends after 27 bytes, "),
        (&binary[..], "it is binary FBX that is cut off: it ends after 58 bytes, "),
        (cut, "it is ASCII FBX that is "),
        (b"hello, this is a note", "it is no FBX file, binary or ASCII, but a text: "),
        (b"<!DOCTYPE html>\n<html>", "it is no FBX file, binary or ASCII, but a text: "),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is no FBX file, binary or ASCII, but binary data: "),
    ] {
        let error = fbx::from_slice(&mut Library::new(), Path::new("a.fbx"), bytes).unwrap_err().to_string();
        assert!(error.starts_with(&format!("a.fbx: file: {saying}")), "{error}");
    }
    // The parser alone takes zeros for the end of the nodes. After it, a footer follows, which some programs leave out:
    // here, an empty node `a` of FBX 7.4 ends after 41 bytes.
    let head = &binary[..27];
    let node = [head, &[41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'a']].concat();
    for (begin, zeros, place) in [(head, 13, 27), (head, 5000, 27), (&node, 14, 41), (&node, 4096, 41)] {
        let cut = [begin, &vec![0; zeros]].concat();
        let error = fbx::from_slice(&mut Library::new(), Path::new("a.fbx"), &cut).unwrap_err().to_string();
        let saying =
            format!("a.fbx: file: it is binary FBX that is cut off: after {place} bytes, there are only zeros");
        assert!(error.starts_with(&saying), "{error}");
        assert!(fbx::clip_names(Path::new("a.fbx"), &cut).is_err());
    }
    for footer in [&[0; 13][..], &[&[0; 13][..], &[0xFA, 0xBC, 0xAB, 9], &[0; 160]].concat()] {
        fbx::from_slice(&mut Library::new(), Path::new("a.fbx"), &[&node, footer].concat()).unwrap();
    }
    // The parser alone takes many texts that end within a node.
    for end in 0..text.len() {
        let cut = &text[..end];
        if cut.matches('{').count() > cut.matches('}').count() {
            let error = fbx::from_slice(&mut Library::new(), Path::new("a.fbx"), cut.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("cut off"), "{end}: {error}");
        }
    }
}

#[test]
fn damaged_files_are_refused_or_repaired_and_leave_the_library_unchanged() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[vector("Lcl Translation", [0.0, 100.0, 0.0])]);
    let layer = file.stack("walk", [0.0, 1.0]);
    file.curves(layer, 1, "Lcl Rotation", Key::Cubic, &[("d|X", &[(0.0, 0.0), (1.0, 90.0)])]);
    let text = file.text(Y_UP);
    let refused = |bytes: &[u8]| {
        let mut library = Library::new();
        let result = fbx::from_slice(&mut library, Path::new("a.fbx"), bytes);
        assert!(result.is_ok() || library == Library::new());
        result.err().map(|error| error.to_string())
    };
    for bytes in [&b""[..], b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0", b"hello", b"; FBX"] {
        let error = refused(bytes);
        assert!(error.as_ref().is_none_or(|error| error.starts_with("a.fbx: file: ")), "{error:?}");
    }
    assert!(refused(b"").unwrap().contains("it is empty"));
    (0..text.len()).step_by(7).for_each(|end| drop(refused(&text.as_bytes()[..end])));
    for place in (0..text.len()).step_by(3) {
        for byte in [b'-', b'9', b'{', 0xff] {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = byte;
            refused(&bytes);
        }
    }
    // A number beyond the range of posse is an error that names the node.
    let large = text.replace("0,100,0", "0,1e300,0");
    assert!(large != text);
    let error = refused(large.as_bytes()).unwrap();
    assert!(error.starts_with("a.fbx: node \"hip\": its transform has a number that is not finite"), "{error}");
    let missing = fbx::load(&mut Library::new(), "no such.fbx");
    assert!(matches!(missing, Err(Error::Io { .. })));
}

#[test]
fn what_is_not_read_is_named() {
    let mut file = FbxText::new();
    file.node(1, "hip", 0, &[]);
    file.object("Constraint: 2, \"Constraint::Aim at ball\", \"Aim\"", "Type: \"Aim\"");
    file.stack("Take 001", [0.0, 1.0]);
    let layer = file.stack("walk", [0.0, 1.0]);
    file.curves(layer, 1, "Visibility", Key::Step, &[("d|Visibility", &[(0.0, 1.0), (1.0, 0.0)])]);
    let (library, asset) = import(&file, Y_UP);
    assert_eq!(library.clip(asset.clips[0]).name.as_deref(), Some("walk"));
    let warnings: Vec<_> = asset.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "constraints: they are not evaluated, only curves move joints; bake them first: Aim at ball",
            "animation stack \"walk\": it animates properties that are not read: Visibility",
        ]
    );
    let names = fbx::clip_names(Path::new("a.fbx"), file.text(Y_UP).as_bytes()).unwrap();
    assert_eq!(names, [Some("walk".to_string())]);
    assert_eq!(DQuat::IDENTITY, library.skeleton(asset.skeleton).joints()[0].rest.rotation);
}
