//! What properties, copies and mirrored nodes of glTF files change in a picture, each instance by itself.
//!
//! Expected: a mirrored cube is the same cube (glTF 2.0, section 3.7.4: the determinant of the transform decides the
//! winding), and colours of unlit materials are as in the file.

use glam::{Affine3A, Vec3};
use posse::{Crowd, Layer, LayerTime};
use posse_render::{Camera, Figure, FigureProperty, MaterialField, Mover, Picture, PropertyRole};
use serde_json::{Value, json};

use super::cube::{animate_pointer, cube_primitive};
use super::files::read;
use super::likeness::error;
use super::positions::worst;
use super::scenes::Shot;
use crate::support::gltf_builder::GltfBuilder;

/// A file of one node, whose mesh is a primitive with material 0. `node` has further fields of the node.
fn file_of(mut file: GltfBuilder, mut primitive: Value, material: Value, mut node: Value) -> GltfBuilder {
    primitive["material"] = json!(0);
    file.json["materials"] = json!([material]);
    node["mesh"] = json!(file.push("meshes", json!({ "primitives": [primitive] })));
    file.push("nodes", node);
    file
}

/// A cube with a white material.
fn cube(double_sided: bool, node: Value) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let primitive = cube_primitive(&mut file, 0.5);
    file_of(file, primitive, json!({ "doubleSided": double_sided }), node)
}

/// A square of side 1 that faces +Z, with an unlit material of this base colour and texture.
fn square(colour: [f32; 4], node: Value) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let corners = [[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]];
    let positions = file.floats("VEC3", corners.as_flattened());
    let coordinates = file.floats("VEC2", &[0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let indices = file.accessor("SCALAR", 5121, false, 6, &[0, 1, 2, 0, 2, 3]);
    let primitive = json!({ "attributes": { "POSITION": positions, "TEXCOORD_0": coordinates }, "indices": indices });
    let material = json!({ "pbrMetallicRoughness": { "baseColorFactor": colour },
        "extensions": { "KHR_materials_unlit": {} } });
    file_of(file, primitive, material, node)
}

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// Instances of a file side by side, which face the camera, each at a time of the first clip.
fn side_by_side(file: &GltfBuilder, times: &[f64]) -> Shot {
    let (library, figure, warnings) = read(file);
    assert_eq!(warnings, Vec::<String>::new());
    let mut shot = Shot::alone(library, figure, 0.0);
    let (skeleton, clip) = (shot.figures[0].skeleton, shot.library.clip_ids().next());
    shot.crowd = Crowd::new();
    for &time in times {
        let layer = clip.map(|clip| Layer::new(clip, LayerTime::At(time)));
        shot.crowd.push(skeleton, layer.as_slice()).unwrap();
    }
    let turn = Affine3A::from_rotation_y(Camera::default().azimuth);
    let place = |index: usize| turn * Affine3A::from_translation(Vec3::new(2.0 * index as f32, 0.0, 0.0));
    shot.placements = vec![shot.placements[0]; times.len()];
    shot.placements.iter_mut().enumerate().for_each(|(index, placement)| placement.transform = place(index));
    shot
}

/// The numbers of red, blue and purple pixels in the left half of a picture, and in the right half.
fn colours(picture: &Picture) -> [[usize; 3]; 2] {
    let mut counts = [[0; 3]; 2];
    let [width, height] = picture.size;
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let [red, green, blue, _] = picture.pixel(x, y);
        let colour = match (red > 140, green > 90, blue > 140) {
            (true, false, false) => 0,
            (false, false, true) => 1,
            (true, false, true) => 2,
            _ => continue,
        };
        counts[usize::from(2 * x >= width)][colour] += 1;
    }
    counts
}

/// The numbers of red, blue and purple pixels in the whole picture.
fn all_colours(picture: &Picture) -> [usize; 3] {
    let [left, right] = colours(picture);
    [0, 1, 2].map(|colour| left[colour] + right[colour])
}

#[test]
fn hidden_nodes_and_all_nodes_below_are_not_drawn() {
    let visible = |visible: bool| json!({ "KHR_node_visibility": { "visible": visible } });
    let mut file = square(RED, json!({ "extensions": visible(false), "children": [1] }));
    // Its own visibility does not help below a hidden node.
    file.push("nodes", json!({ "mesh": 0, "extensions": visible(true) }));
    file.push("nodes", json!({ "mesh": 0, "extensions": visible(true) }));
    file.push("nodes", json!({ "mesh": 0, "extensions": { "KHR_node_visibility": {} } }));
    for scene in [None, Some(json!([{ "nodes": [0, 2, 3] }]))] {
        if let Some(scenes) = scene {
            file.json["scenes"] = scenes;
        }
        let (_, figure, warnings) = read(&file);
        let drawn: Vec<usize> = figure.parts.iter().map(|part| part.joint).collect();
        assert_eq!((drawn, warnings), (vec![2, 3], vec![]));
    }
    // With nothing else, the picture has no red pixel, and the figure keeps its mesh.
    file.json["scenes"] = json!([{ "nodes": [0] }]);
    let (library, figure, _) = read(&file);
    assert_eq!((figure.meshes.len(), figure.parts.len()), (1, 0));
    assert_eq!(all_colours(&Shot::alone(library, figure, 0.0).picture()), [0; 3]);
}

#[test]
fn animated_visibility_hides_the_nodes_below_in_each_instance_by_itself() {
    // Node 1 shows the mesh below node 0, whose visibility a clip changes; node 0 is hidden without the clip.
    let mut file = square(RED, json!({}));
    file.set("/nodes/0", json!({ "children": [1], "extensions": { "KHR_node_visibility": { "visible": false } } }));
    file.push("nodes", json!({ "mesh": 0 }));
    let bytes = file.accessor("SCALAR", 5121, false, 2, &[0, 1]);
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let pointer = "/nodes/0/extensions/KHR_node_visibility/visible";
    let target = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } } });
    file.animate(target, times, bytes, "STEP");
    let halves = |times: [f64; 2]| colours(&side_by_side(&file, &times).picture()).map(|[red, _, _]| red);
    let both = halves([1.0, 1.0]);
    assert!(both[0] > 500 && both[1] > 500, "{both:?}");
    assert_eq!(halves([0.0, 1.0]), [0, both[1]]);
    assert_eq!(halves([1.0, 0.5]), [both[0], 0]);
    // Without a layer, the file counts.
    let mut still = side_by_side(&file, &[1.0, 1.0]);
    still.crowd.set(1, still.figures[0].skeleton, &[]).unwrap();
    assert_eq!(colours(&still.picture()).map(|[red, _, _]| red), [both[0], 0]);
}

#[test]
fn an_animated_base_colour_is_that_of_the_time_of_each_instance() {
    let mut file = square(RED, json!({}));
    animate_pointer(&mut file, "/materials/0/pbrMetallicRoughness/baseColorFactor", "VEC4", &RED, &BLUE);
    let whole = all_colours(&side_by_side(&file, &[0.0, 0.0, 0.0]).picture());
    let mixed = all_colours(&side_by_side(&file, &[0.0, 1.0, 0.5]).picture());
    // Each of the three colours has about a third of the pixels.
    assert!(whole[0] > 900 && whole[1..] == [0, 0], "{whole:?}");
    assert!(mixed.iter().all(|&count| count.abs_diff(whole[0] / 3) < whole[0] / 12), "{mixed:?} of {whole:?}");
}

/// A pointer below the material, the type and the two values of its animation, and the red and blue shares of the
/// square at 0 s and at 1 s, in twelfths.
type Animated = (&'static str, &'static str, &'static [f32], &'static [f32], [[usize; 2]; 2]);

#[test]
fn every_animated_field_of_a_material_is_shown() {
    // The texture is red on the left and blue on the right.
    let textured: [Animated; 3] = [
        ("offset", "VEC2", &[0.0, 0.0], &[0.5, 0.0], [[6, 6], [6, 6]]),
        ("rotation", "SCALAR", &[0.0], &[std::f32::consts::PI], [[6, 6], [6, 6]]),
        // Half of the texture fills the square.
        ("scale", "VEC2", &[1.0, 1.0], &[0.5, 1.0], [[6, 6], [12, 0]]),
    ];
    let plain: [Animated; 4] = [
        ("emissiveFactor", "VEC3", &[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0], [[12, 0], [0, 12]]),
        ("extensions/KHR_materials_emissive_strength/emissiveStrength", "SCALAR", &[1.0], &[0.0], [[12, 0], [0, 0]]),
        ("alphaCutoff", "SCALAR", &[0.25], &[0.75], [[12, 0], [0, 0]]),
        ("pbrMetallicRoughness/baseColorFactor", "VEC4", &[0.0; 4], &RED, [[0, 0], [12, 0]]),
    ];
    for (animated, texture) in textured.map(|one| (one, true)).into_iter().chain(plain.map(|one| (one, false))) {
        let (field, kind, from, to, expected) = animated;
        let emits = field.contains("emissive");
        let colour = match (texture, emits) {
            (true, _) => [1.0; 4],
            (false, true) => [0.0, 0.0, 0.0, 1.0],
            (false, false) => [1.0, 0.0, 0.0, 0.5],
        };
        let mut file = square(colour, json!({}));
        if emits {
            file.set("/materials/0/emissiveFactor", json!([1, 0, 0]));
        } else if !texture {
            file.set("/materials/0/alphaMode", json!("MASK"));
        }
        let mut pointer = format!("/materials/0/{field}");
        if texture {
            add_texture(&mut file, &[255, 0, 0, 0, 0, 255]);
            let info = json!({ "index": 0, "extensions": { "KHR_texture_transform": {} } });
            file.set("/materials/0/pbrMetallicRoughness/baseColorTexture", info);
            let path = "pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform";
            pointer = format!("/materials/0/{path}/{field}");
        }
        animate_pointer(&mut file, &pointer, kind, from, to);
        let full = all_colours(&side_by_side(&square(RED, json!({})), &[0.0]).picture())[0];
        for (time, shares) in [0.0, 1.0].into_iter().zip(expected) {
            let picture = side_by_side(&file, &[time]).picture();
            let [red, blue, purple] = all_colours(&picture);
            for (found, share) in [red, blue].into_iter().zip(shares) {
                // Pixels on the line between red and blue have neither colour.
                let limit = full / 20;
                assert!(
                    found.abs_diff(share * full / 12) <= limit && purple <= limit,
                    "{field} at {time} s: {red} red, {blue} blue, {purple} purple of {full}"
                );
            }
            // A shift by half a texture, and half a rotation, exchange its halves.
            if texture && shares == [6, 6] {
                let left = usize::from(time == 1.0);
                let [of_left, of_right] = colours(&picture);
                assert!(of_left[left] > 3 * of_left[1 - left] && of_right[1 - left] > 3 * of_right[left], "{field}");
            }
        }
    }
}

/// Adds texture 0: two texels side by side, not interpolated.
fn add_texture(file: &mut GltfBuilder, texels: &[u8; 6]) {
    let mut pixels = Vec::new();
    let mut encoder = png::Encoder::new(&mut pixels, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(texels).unwrap();
    let view = file.view(&pixels);
    file.json["images"] = json!([{ "bufferView": view }]);
    file.json["samplers"] = json!([{ "magFilter": 9728 }]);
    file.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
}

#[test]
fn an_image_multiplies_the_emitted_light() {
    let full = all_colours(&side_by_side(&square(RED, json!({})), &[0.0]).picture())[0];
    // Black, but for what it emits: red on the right.
    let mut file = square([0.0, 0.0, 0.0, 1.0], json!({}));
    add_texture(&mut file, &[0, 0, 0, 255, 255, 255]);
    file.set("/materials/0/pbrMetallicRoughness/baseColorTexture", json!({ "index": 0 }));
    file.set("/materials/0/emissiveFactor", json!([1, 0, 0]));
    file.set("/materials/0/emissiveTexture", json!({ "index": 0 }));
    let [[left, ..], [right, ..]] = colours(&side_by_side(&file, &[0.0]).picture());
    assert!(left <= full / 20 && right.abs_diff(full / 2) <= full / 20, "{left} and {right} of {full}");
    // Without a texture of the base colour, it lies on the surface as its own says.
    file.json["materials"][0]["pbrMetallicRoughness"].as_object_mut().unwrap().remove("baseColorTexture");
    let (_, figure, warnings) = read(&file);
    assert_eq!((warnings.len(), figure.materials[0].emissive_image), (0, Some(0)));

    for (info, expected) in [
        (json!({ "index": 0, "texCoord": 1 }), "materials[0].emissiveTexture: it has other texture coordinates"),
        (json!({ "index": 7 }), "materials[0].emissiveTexture: there is no textures[7]; no light is emitted"),
    ] {
        file.set("/materials/0/pbrMetallicRoughness/baseColorTexture", json!({ "index": 0 }));
        file.set("/materials/0/emissiveTexture", info);
        let (_, figure, warnings) = read(&file);
        assert!(warnings.len() == 1 && warnings[0].starts_with(expected), "{warnings:?}");
        assert_eq!(figure.materials[0].emissive, [0.0; 3]);
    }
}

#[test]
fn an_animation_that_pictures_do_not_show_is_a_warning() {
    let mut file = square(RED, json!({}));
    animate_pointer(&mut file, "/materials/0/normalTexture/scale", "SCALAR", &[0.0], &[1.0]);
    // No part has a second material.
    animate_pointer(&mut file, "/materials/1/normalTexture/scale", "SCALAR", &[0.0], &[1.0]);
    let (_, figure, warnings) = read(&file);
    assert_eq!(figure.properties, []);
    assert_eq!(warnings, ["animations[0].channels[0].target: pictures do not show /materials/0/normalTexture/scale"]);
}

#[test]
fn required_extensions_that_pictures_do_not_show_are_warnings() {
    let mut file = square(RED, json!({}));
    file.json["extensionsRequired"] = json!([
        "KHR_materials_unlit",
        "KHR_node_visibility",
        "KHR_materials_transmission",
        "EXT_mesh_gpu_instancing",
        "KHR_lights_punctual",
        "KHR_mesh_quantization",
        "KHR_texture_transform",
        "KHR_materials_emissive_strength",
    ]);
    let (_, _, warnings) = read(&file);
    let expected = ["[2]: KHR_materials_transmission", "[4]: KHR_lights_punctual"];
    let expected = expected.map(|name| format!("extensionsRequired{name} is required, but pictures do not show it"));
    assert_eq!(warnings, expected);
}

/// Two squares with an attribute of copies of each kind. The node is at (0, 0, 5).
fn copies() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let translations = file.floats("VEC3", &[-1.0, 0.0, 0.0, 1.0, 2.0, 0.0]);
    // The first is not rotated; the second is rotated by a quarter about Y: its two numbers are equal.
    let rotations = file.accessor("VEC4", 5120, true, 2, &[0, 0, 0, 127, 0, 90, 0, 90]);
    let scales = file.floats("VEC3", &[1.0, 1.0, 1.0, 2.0, 1.0, 1.0]);
    let corners = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let attributes = json!({ "TRANSLATION": translations, "ROTATION": rotations, "SCALE": scales, "_ID": 77 });
    let node =
        json!({ "translation": [0, 0, 5], "extensions": { "EXT_mesh_gpu_instancing": { "attributes": attributes } } });
    file_of(file, json!({ "attributes": { "POSITION": corners } }), json!({}), node)
}

#[test]
fn copies_of_a_mesh_are_where_their_attributes_place_them() {
    let file = copies();
    let mut shot = side_by_side(&file, &[0.0, 0.0]);
    shot.placements[0].transform = Affine3A::IDENTITY;
    shot.placements[1].transform = Affine3A::from_translation(Vec3::new(0.0, 0.0, 100.0));
    let found = shot.positions();
    // Corner (1, 0, 0) of the second copy: its scale makes it (2, 0, 0), its rotation (0, 0, -2), its translation
    // (1, 2, -2), and the node (1, 2, 3).
    let expected =
        [[-1.0, 0.0, 5.0], [0.0, 0.0, 5.0], [-1.0, 1.0, 5.0], [1.0, 2.0, 5.0], [1.0, 2.0, 3.0], [1.0, 3.0, 5.0]];
    assert_eq!(found.len(), 1);
    for (instance, found) in found[0].chunks(6).enumerate() {
        for (found, [x, y, z]) in found.iter().zip(expected) {
            let expected = Vec3::new(x, y, z + 100.0 * instance as f32);
            assert!(Vec3::from(*found).distance(expected) < 2e-5, "{found:?} is not {expected:?}");
        }
    }
    assert_eq!(found[0].len(), 12);
    assert!(worst(&shot, &shot).0 < 1e-5);
    // Shorts mean the same.
    let mut file = copies();
    let shorts = [0_i16, 0, 0, 32767, 0, 23170, 0, 23170].map(i16::to_le_bytes).concat();
    let rotations = file.accessor("VEC4", 5122, true, 2, &shorts);
    file.set("/nodes/0/extensions/EXT_mesh_gpu_instancing/attributes/ROTATION", json!(rotations));
    let (before, after) = (read(&copies()).1, read(&file).1);
    let near = |one: &Affine3A, other: &Affine3A| one.abs_diff_eq(*other, 1e-6);
    assert!(before.copies[0].iter().zip(&after.copies[0]).all(|(one, other)| near(one, other)));
}

/// A name, a change of the file of copies, and the expected warning.
type Broken = (&'static str, fn(&mut GltfBuilder), &'static str);

#[test]
fn copies_that_cannot_be_read_are_a_warning_and_one_mesh() {
    const ATTRIBUTES: &str = "/nodes/0/extensions/EXT_mesh_gpu_instancing/attributes";
    let cases: [Broken; 5] = [
        (
            "counts",
            |file| {
                let three = file.floats("VEC3", &[1.0; 9]);
                file.set(&format!("{ATTRIBUTES}/SCALE"), json!(three));
            },
            "attributes.SCALE: it has 3 elements, another attribute has 2; the mesh is drawn once",
        ),
        (
            "an index",
            |file| file.set(&format!("{ATTRIBUTES}/ROTATION"), json!(-1)),
            "attributes.ROTATION: it is -1; expected the index of an accessor",
        ),
        ("an accessor", |file| file.set(&format!("{ATTRIBUTES}/ROTATION"), json!(99)), "there is no accessors[99]"),
        ("no attribute", |file| file.set(ATTRIBUTES, json!({})), "there is neither TRANSLATION nor ROTATION nor SCALE"),
        (
            "a skin",
            |file| {
                file.push("skins", json!({ "joints": [0] }));
                file.set("/nodes/0/skin", json!(0));
            },
            "nodes[0].extensions.EXT_mesh_gpu_instancing: copies of a mesh with a skin are not supported",
        ),
    ];
    for (name, change, expected) in cases {
        let mut file = copies();
        change(&mut file);
        let (library, figure, warnings) = read(&file);
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{name}: {warnings:?}");
        assert!(figure.parts.len() == 1 && figure.parts[0].mover == Mover::Joint, "{name}");
        figure.check(&library).unwrap();
    }
}

/// A change of a plain cube that mirrors it, so that it looks the same.
type Mirrored = (&'static str, fn(&mut GltfBuilder));

const MIRRORED: [Mirrored; 6] = [
    ("one axis", |file| file.set("/nodes/0/scale", json!([-1, 1, 1]))),
    ("three axes", |file| file.set("/nodes/0/scale", json!([-1, -1, -1]))),
    ("a matrix", |file| file.set("/nodes/0/matrix", json!([1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]))),
    ("a parent", |file| {
        file.push("nodes", json!({ "children": [0], "scale": [1, 1, -1] }));
    }),
    ("a copy", |file| {
        let scales = file.floats("VEC3", &[1.0, -1.0, 1.0]);
        file.set("/nodes/0/extensions", json!({ "EXT_mesh_gpu_instancing": { "attributes": { "SCALE": scales } } }));
    }),
    ("a joint of a skin", |file| {
        let joints = file.accessor("VEC4", 5121, false, 24, &[0; 96]);
        let weights = file.floats("VEC4", [[1.0, 0.0, 0.0, 0.0]; 24].as_flattened());
        file.set("/meshes/0/primitives/0/attributes/JOINTS_0", json!(joints));
        file.set("/meshes/0/primitives/0/attributes/WEIGHTS_0", json!(weights));
        let joint = file.push("nodes", json!({ "scale": [-1, 1, 1] }));
        file.push("skins", json!({ "joints": [joint] }));
        file.set("/nodes/0/skin", json!(0));
    }),
];

#[test]
fn a_mirrored_cube_looks_like_the_cube() {
    for double_sided in [false, true] {
        let picture = |file: &GltfBuilder| side_by_side(file, &[0.0]).picture();
        let plain = picture(&cube(double_sided, json!({})));
        for (name, change) in MIRRORED {
            let mut file = cube(double_sided, json!({}));
            change(&mut file);
            assert_eq!(error(&picture(&file), &plain), None, "{name}, double-sided: {double_sided}");
        }
        let mut placed = side_by_side(&cube(double_sided, json!({})), &[0.0]);
        placed.placements[0].transform *= Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        assert_eq!(error(&placed.picture(), &plain), None, "a placement, double-sided: {double_sided}");
        // An inside-out cube looks different.
        let mut inside_out = side_by_side(&cube(double_sided, json!({})), &[0.0]);
        inside_out.figures[0].meshes[0].indices.reverse();
        assert!(error(&inside_out.picture(), &plain).is_some(), "double-sided: {double_sided}");
    }
}

#[test]
fn a_node_that_a_clip_mirrors_looks_right_in_each_instance() {
    for double_sided in [false, true] {
        let mut file = cube(double_sided, json!({}));
        let times = file.floats("SCALAR", &[0.0, 1.0]);
        let scales = file.floats("VEC3", &[1.0, 1.0, 1.0, -1.0, 1.0, 1.0]);
        file.animate(json!({ "node": 0, "path": "scale" }), times, scales, "LINEAR");
        let picture = |times: [f64; 2]| side_by_side(&file, &times).picture();
        let plain = picture([0.0, 0.0]);
        for times in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
            assert_eq!(error(&picture(times), &plain), None, "{times:?}, double-sided: {double_sided}");
        }
    }
}

/// The red pixels of a square with one or two sides that a node rotates and scales.
fn reds(double_sided: bool, node: Value) -> usize {
    let mut file = square(RED, node);
    file.set("/materials/0/doubleSided", json!(double_sided));
    all_colours(&side_by_side(&file, &[0.0]).picture())[0]
}

#[test]
fn a_single_sided_square_is_seen_from_its_front_alone() {
    let turned = |scale: [f32; 3]| json!({ "rotation": [0, 1, 0, 0], "scale": scale });
    let seen = reds(false, json!({}));
    assert!(seen > 1000, "{seen}");
    // Half a rotation about Y shows its back. A scale of -1 along Z turns the normal to the camera again; the winding
    // changes twice.
    assert_eq!(reds(false, turned([1.0, 1.0, 1.0])), 0);
    assert!(reds(false, turned([1.0, 1.0, -1.0])).abs_diff(seen) < seen / 50);
    assert_eq!(reds(false, json!({ "scale": [1, 1, -1] })), 0);
    // Mirrored along X, it keeps its front.
    assert!(reds(false, json!({ "scale": [-1, 1, 1] })).abs_diff(seen) < seen / 50);
    for node in [json!({}), turned([1.0, 1.0, 1.0]), turned([-1.0, 1.0, 1.0]), json!({ "scale": [1, -1, 1] })] {
        assert!(reds(true, node.clone()).abs_diff(seen) < seen / 50, "{node}");
    }
}

#[test]
fn the_back_of_a_double_sided_square_is_lit_like_a_front() {
    // A white square in the light of the sun, front and back, plain and mirrored.
    let picture = |node: Value| {
        let mut file = square([1.0; 4], node);
        file.set("/materials/0", json!({ "doubleSided": true }));
        let normals = file.floats("VEC3", [[0.0, 0.0, 1.0]; 4].as_flattened());
        file.set("/meshes/0/primitives/0/attributes/NORMAL", json!(normals));
        side_by_side(&file, &[0.0]).picture()
    };
    let front = picture(json!({}));
    for node in [
        json!({ "rotation": [0, 1, 0, 0] }),
        json!({ "scale": [-1, 1, 1] }),
        json!({ "rotation": [0, 1, 0, 0], "scale": [-1, 1, 1] }),
        json!({ "scale": [1, 1, -1] }),
    ] {
        assert_eq!(error(&picture(node.clone()), &front), None, "{node}");
    }
}

#[test]
fn wrong_indices_of_copies_and_properties_are_refused() {
    let (library, figure, _) = read(&copies());
    let message = |change: &dyn Fn(&mut Figure)| {
        let mut figure = figure.clone();
        change(&mut figure);
        figure.check(&library).unwrap_err().to_string()
    };
    let property = |role| FigureProperty { name: "p".into(), role };
    let refused = message(&|figure| figure.parts[0].mover = Mover::Copies(1));
    assert_eq!(refused, "figure, part 0: there is no list of copies 1");
    let refused = message(&|figure| figure.properties.push(property(PropertyRole::Visible(1))));
    assert_eq!(refused, "figure, property p: there is no joint 1");
    let role = PropertyRole::Material(3, MaterialField::Emissive);
    let refused = message(&|figure| figure.properties.push(property(role)));
    assert_eq!(refused, "figure, property p: there is no material 3");
    // A property that the skeleton does not have changes nothing.
    let mut unknown = figure.clone();
    unknown.properties.push(property(PropertyRole::Visible(0)));
    unknown.check(&library).unwrap();
    let (plain, with) = (Shot::alone(library.clone(), figure, 0.0), Shot::alone(library, unknown, 0.0));
    assert!(plain.picture() == with.picture());
}
