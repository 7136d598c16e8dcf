//! glTF files as figures: their meshes, materials and images, and the warnings for broken ones.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use posse::Library;
use posse::import::gltf;
use posse_render::{Alpha, Figure, Mover, Wrap, gltf as figure_gltf};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::gltf_builder::{GltfBuilder, bytes as bytes_of};

fn bytes(file: &GltfBuilder) -> Vec<u8> {
    let mut document = file.json.clone();
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&file.bin));
    document["buffers"] = json!([{ "byteLength": file.bin.len(), "uri": uri }]);
    serde_json::to_vec(&document).unwrap()
}

/// The library, the figure and the warnings of a file.
pub fn read(file: &GltfBuilder) -> (Library, Figure, Vec<String>) {
    let bytes = bytes(file);
    let mut library = Library::new();
    let asset = gltf::from_slice(&mut library, Path::new("scene.gltf"), &bytes, None).unwrap();
    let (figure, warnings) = figure_gltf::from_slice(&asset, &bytes, None).unwrap();
    (library, figure, warnings.iter().map(ToString::to_string).collect())
}

/// A file with positions for a mesh, and a primitive that uses them.
fn mesh(corners: &[[f32; 3]]) -> (GltfBuilder, Value) {
    let mut file = GltfBuilder::new();
    let positions = file.floats("VEC3", corners.as_flattened());
    (file, json!({ "attributes": { "POSITION": positions } }))
}

fn with_primitive(mut file: GltfBuilder, primitive: Value) -> GltfBuilder {
    let mesh = file.push("meshes", json!({ "primitives": [primitive] }));
    file.push("nodes", json!({ "mesh": mesh }));
    file
}

/// Two meshes with one skin each, which share node 0, and a mesh with morph targets on a mirrored node. The clip lasts
/// 1 s: node 0 moves up by 2, and the weights change from (0, 0) to (1, 0.5).
pub fn two_skins() -> (Library, Figure) {
    let (library, mut figure, warnings) = read(&two_skins_file());
    assert_eq!(warnings, Vec::<String>::new());
    // In the order of the skins, then parts that move with a node.
    figure.parts.sort_by_key(|part| match part.mover {
        Mover::Skin(skin) => skin,
        Mover::Joint | Mover::Copies(_) => usize::MAX,
    });
    (library, figure)
}

fn two_skins_file() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let corners = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let positions = file.floats("VEC3", corners.as_flattened());
    let normals = file.floats("VEC3", [[0.0_f32, 0.0, 1.0]; 3].as_flattened());
    let joints = file.accessor("VEC4", 5121, false, 3, &[[0_u8, 0, 0, 0]; 3].concat());
    let weights = file.floats("VEC4", [[1.0_f32, 0.0, 0.0, 0.0]; 3].as_flattened());
    let both = file.accessor("VEC4", 5121, false, 3, &[[0_u8, 1, 0, 0]; 3].concat());
    // The sum of the weights is not 1; the reader scales them.
    let halves = file.floats("VEC4", [[2.0_f32, 2.0, 0.0, 0.0]; 3].as_flattened());
    let up = file.floats("VEC3", [[0.0_f32, 2.0, 0.0]; 3].as_flattened());
    let out = file.floats("VEC3", [[0.0_f32, 0.0, 4.0]; 3].as_flattened());
    let attributes = json!({ "POSITION": positions, "NORMAL": normals });
    let skinned = |joints: usize, weights: usize| {
        json!({ "primitives": [{ "attributes":
            { "POSITION": positions, "NORMAL": normals, "JOINTS_0": joints, "WEIGHTS_0": weights } }] })
    };
    file.push("meshes", skinned(joints, weights));
    file.push("meshes", skinned(both, halves));
    let targets = json!([{ "POSITION": up }, { "POSITION": out }]);
    file.push("meshes", json!({ "primitives": [{ "attributes": attributes, "targets": targets }] }));
    file.push("nodes", json!({}));
    file.push("nodes", json!({ "translation": [0, 0, 4] }));
    file.push("nodes", json!({ "mesh": 2, "scale": [-1, 1, 1], "translation": [0, 0, -2] }));
    // A skinned mesh ignores its own node.
    file.push("nodes", json!({ "mesh": 0, "skin": 0, "translation": [50, 50, 50] }));
    file.push("nodes", json!({ "mesh": 1, "skin": 1 }));
    let moved = [1.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
    let same = [1.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let large = [2.0_f32, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let first = file.floats("MAT4", &moved);
    let second = file.floats("MAT4", &[same, large].concat());
    file.push("skins", json!({ "joints": [0], "inverseBindMatrices": first }));
    file.push("skins", json!({ "joints": [0, 1], "inverseBindMatrices": second }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let up = file.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
    let weights = file.floats("SCALAR", &[0.0, 0.0, 1.0, 0.5]);
    file.push(
        "animations",
        json!({
            "samplers": [{ "input": times, "output": up }, { "input": times, "output": weights }],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "translation" } },
                { "sampler": 1, "target": { "node": 2, "path": "weights" } },
            ],
        }),
    );
    file
}

#[test]
fn strips_and_fans_become_triangles_that_face_the_same_way() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    for (mode, expected) in [(5, [[0, 1, 2], [1, 3, 2]]), (6, [[1, 2, 0], [2, 3, 0]])] {
        let (mut file, mut primitive) = mesh(&corners);
        primitive["mode"] = json!(mode);
        primitive["attributes"]["NORMAL"] = json!(file.floats("VEC3", &[0.0; 12]));
        let (_, figure, warnings) = read(&with_primitive(file, primitive));
        assert_eq!((figure.meshes[0].indices.as_slice(), warnings), (expected.as_flattened(), vec![]), "{mode}");
    }
}

#[test]
fn a_mesh_without_normals_has_flat_triangles() {
    let (mut file, mut primitive) = mesh(&[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, -3.0], [0.0, 5.0, 0.0]]);
    primitive["indices"] = json!(file.accessor("SCALAR", 5121, false, 6, &[0, 1, 2, 0, 1, 3]));
    let (_, figure, _) = read(&with_primitive(file, primitive));
    let normals: Vec<_> = figure.meshes[0].vertices.iter().map(|vertex| vertex.normal).collect();
    // Counterclockwise as seen from above, and from the front.
    assert_eq!(normals, [[[0.0, 1.0, 0.0]; 3], [[0.0, 0.0, 1.0]; 3]].concat());
}

#[test]
fn materials_match_the_file() {
    let (mut file, mut primitive) = mesh(&[[0.0; 3]; 3]);
    primitive["material"] = json!(0);
    let mut pixels = Vec::new();
    let mut encoder = png::Encoder::new(&mut pixels, 2, 1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header().unwrap().write_image_data(&[255, 0, 0, 255, 0, 0, 255, 128]).unwrap();
    let view = file.view(&pixels);
    file.json["images"] = json!([{ "bufferView": view, "mimeType": "image/png" }]);
    file.json["samplers"] = json!([{ "magFilter": 9728, "wrapS": 33071, "wrapT": 33648 }]);
    file.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    let transform = json!({ "KHR_texture_transform": { "offset": [0.5, 0.25], "scale": [2, 4] } });
    file.json["materials"] = json!([{
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.1, 0.2, 0.3, 0.4],
            "baseColorTexture": { "index": 0, "extensions": transform },
        },
        "emissiveFactor": [0, 0, 1], "alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true,
        "extensions": { "KHR_materials_unlit": {} },
    }]);
    let (_, figure, warnings) = read(&with_primitive(file, primitive));
    assert_eq!(warnings, Vec::<String>::new());
    let material = &figure.materials[figure.parts[0].material];
    assert_eq!(material.base_colour, [0.1, 0.2, 0.3, 0.4]);
    assert_eq!((material.emissive, material.alpha), ([0.0, 0.0, 1.0], Alpha::Mask(0.25)));
    assert!(material.double_sided && material.unlit);
    let texture = material.texture.unwrap();
    assert_eq!((texture.wrap, texture.nearest), ([Wrap::Clamp, Wrap::Mirror], true));
    assert_eq!(texture.transform.to_affine().transform_point2(glam::Vec2::ONE), glam::Vec2::new(2.5, 4.25));
    assert_eq!(figure.images[texture.image].pixels, [255, 0, 0, 255, 0, 0, 255, 128]);
    // The mean of both pixels in linear light, weighted by alpha: two thirds red and one third blue. Alpha is the plain
    // mean.
    let [red, green, blue, alpha] = figure.images[0].levels(1)[0].pixels[..] else { panic!("one pixel") };
    assert_eq!((red, green, blue, alpha), (213, 0, 156, 192));
}

/// A name, a change that breaks a file, the expected warning, and the number of parts that remain.
type Broken = (&'static str, fn(&mut GltfBuilder, &mut Value), &'static str, usize);

const BROKEN_PARTS: [Broken; 9] = [
    ("a mode", |_, primitive| primitive["mode"] = json!(1), "meshes[0].primitives[0].mode: points and lines", 0),
    (
        "an index",
        |file, primitive| primitive["indices"] = json!(file.accessor("SCALAR", 5121, false, 3, &[0, 1, 3])),
        "meshes[0].primitives[0].indices: an index is beyond the 3 vertices",
        0,
    ),
    (
        "no positions",
        |_, primitive| primitive["attributes"] = json!({}),
        "meshes[0].primitives[0].attributes: there is no POSITION",
        0,
    ),
    (
        "a count",
        |file, primitive| primitive["attributes"]["NORMAL"] = json!(file.floats("VEC3", &[0.0; 6])),
        "has 2 elements for 3 vertices",
        0,
    ),
    (
        "Draco",
        |_, primitive| primitive["extensions"] = json!({ "KHR_draco_mesh_compression": {} }),
        "KHR_draco_mesh_compression is not supported",
        0,
    ),
    (
        "a material",
        |_, primitive| primitive["material"] = json!(7),
        "meshes[0].primitives[0].material: there is no materials[7]",
        1,
    ),
    (
        "a texture",
        |file, primitive| {
            primitive["material"] = json!(0);
            let info = json!({ "baseColorTexture": { "index": 3 } });
            file.json["materials"] = json!([{ "pbrMetallicRoughness": info }]);
        },
        "materials[0].pbrMetallicRoughness.baseColorTexture: there is no textures[3]",
        1,
    ),
    (
        "an image in an extension",
        |file, primitive| {
            primitive["material"] = json!(0);
            let info = json!({ "baseColorTexture": { "index": 0 } });
            file.json["materials"] = json!([{ "pbrMetallicRoughness": info }]);
            file.json["textures"] = json!([{ "extensions": { "KHR_texture_basisu": { "source": 0 } } }]);
        },
        "textures[0].source: its image is only in KHR_texture_basisu",
        1,
    ),
    (
        "a missing file",
        |file, primitive| {
            primitive["material"] = json!(0);
            let info = json!({ "baseColorTexture": { "index": 0 } });
            file.json["materials"] = json!([{ "pbrMetallicRoughness": info }]);
            file.json["textures"] = json!([{ "source": 0 }]);
            file.json["images"] = json!([{ "uri": "nowhere.png" }]);
        },
        "images[0].uri: ",
        1,
    ),
];

#[test]
fn broken_parts_are_left_out_with_a_warning_and_its_path() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for (name, change, expected, parts) in BROKEN_PARTS {
        let (mut file, mut primitive) = mesh(&corners);
        change(&mut file, &mut primitive);
        let (_, figure, warnings) = read(&with_primitive(file, primitive));
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{name}: {warnings:?}");
        assert_eq!(figure.parts.len(), parts, "{name}");
    }
}

#[test]
fn truncated_and_huge_images_are_refused() {
    use posse_render::Image;
    let mut pixels = Vec::new();
    let mut encoder = png::Encoder::new(&mut pixels, 8, 8);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[7; 64]).unwrap();
    assert_eq!(Image::decode(&pixels).unwrap().pixels[..4], [7, 7, 7, 255]);
    for length in 0..pixels.len() - 12 {
        assert!(Image::decode(&pixels[..length]).is_err(), "{length}");
    }
    let mut huge = pixels.clone();
    huge[16..24].fill(0x7F);
    assert!(Image::decode(&huge).is_err());
    assert!(Image::decode(b"RIFF....WEBP").unwrap_err().contains("WebP"));
    assert!(Image::decode(&[0xFF, 0xD8, 0xFF]).is_err());
}

/// A name, and a change of a file that stores the same triangle, with corners at 0, x and y, in another way.
type Stored = (&'static str, fn(&mut GltfBuilder, &mut Value));

#[test]
fn attributes_are_read_from_every_kind_of_storage() {
    let stored: [Stored; 7] = [
        ("floats", |_, _| {}),
        ("bytes with room between them", |file, primitive| {
            let positions = file.accessor("VEC3", 5120, true, 3, &[0, 0, 0, 9, 127, 0, 0, 9, 0, 127, 0, 9]);
            let view = file.json["accessors"][positions]["bufferView"].as_u64().unwrap();
            file.set(&format!("/bufferViews/{view}/byteStride"), json!(4));
            primitive["attributes"]["POSITION"] = json!(positions);
        }),
        ("whole numbers", |file, primitive| {
            let words: [u16; 9] = [0, 0, 0, 1, 0, 0, 0, 1, 0];
            let positions = file.accessor("VEC3", 5123, false, 3, &words.map(u16::to_le_bytes).concat());
            primitive["attributes"]["POSITION"] = json!(positions);
        }),
        ("a sparse accessor without a view", |file, primitive| {
            let (indices, values) = (file.view(&[1, 2]), file.view(&bytes_of(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0])));
            primitive["attributes"]["POSITION"] = json!(file.push(
                "accessors",
                json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": {
                    "count": 2,
                    "indices": { "bufferView": indices, "componentType": 5121 },
                    "values": { "bufferView": values },
                } }),
            ));
        }),
        ("a sparse accessor that replaces nothing", |file, primitive| {
            let accessor = primitive["attributes"]["POSITION"].as_u64().unwrap();
            let view = file.view(&[]);
            let sparse = json!({ "count": 0, "indices": { "bufferView": view, "componentType": 5121 },
                "values": { "bufferView": view } });
            file.set(&format!("/accessors/{accessor}/sparse"), sparse);
        }),
        ("a compressed view", |file, primitive| {
            let corners = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            let encoded = meshopt::encoding::encode_vertex_buffer(&corners).unwrap();
            let positions = file.accessor("VEC3", 5126, false, 3, &encoded);
            let view = file.json["accessors"][positions]["bufferView"].as_u64().unwrap();
            let view = &mut file.json["bufferViews"][view as usize];
            let compression = json!({ "buffer": 0, "byteOffset": view["byteOffset"], "byteLength": encoded.len(),
                "byteStride": 12, "count": 3, "mode": "ATTRIBUTES" });
            *view = json!({ "buffer": 0, "byteLength": 36, "extensions": { "EXT_meshopt_compression": compression } });
            primitive["attributes"]["POSITION"] = json!(positions);
        }),
        ("indices of a fan", |file, primitive| {
            primitive["mode"] = json!(6);
            primitive["indices"] =
                json!(file.accessor("SCALAR", 5125, false, 3, &[2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]));
        }),
    ];
    for (name, change) in stored {
        let (mut file, mut primitive) = mesh(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        change(&mut file, &mut primitive);
        let (_, figure, warnings) = read(&with_primitive(file, primitive));
        assert_eq!(warnings, Vec::<String>::new(), "{name}");
        let corners: Vec<_> = figure.meshes[0].vertices.iter().map(|vertex| vertex.position).collect();
        assert_eq!(corners, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "{name}");
    }
}

#[test]
fn colours_coordinates_and_morph_targets_may_be_integers() {
    let (mut file, mut primitive) = mesh(&[[0.0; 3]; 2]);
    // Plain integers, which the transform of the material scales, and normalized ones.
    let whole = file.accessor("VEC2", 5121, false, 2, &[0, 255, 128, 1]);
    let fractions = file.accessor("VEC2", 5121, true, 2, &[0, 255, 51, 102]);
    let colours = file.accessor("VEC3", 5121, true, 2, &[0, 255, 51, 1, 2, 3]);
    let deltas = file.accessor("VEC3", 5120, true, 2, &[127, 0, 0, 0, 129, 0]);
    primitive["attributes"]["TEXCOORD_0"] = json!(whole);
    primitive["attributes"]["TEXCOORD_1"] = json!(fractions);
    primitive["attributes"]["COLOR_0"] = json!(colours);
    primitive["attributes"]["NORMAL"] = json!(deltas);
    primitive["targets"] = json!([{ "POSITION": deltas }]);
    let texture = |set: u32| {
        let mut primitive = primitive.clone();
        let mut file = file.clone();
        primitive["material"] = json!(0);
        let info = json!({ "index": 0, "texCoord": 1, "extensions": { "KHR_texture_transform": { "texCoord": set } } });
        file.json["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": info } }]);
        read(&with_primitive(file, primitive)).1
    };
    let coordinates =
        |figure: &Figure| figure.meshes[0].vertices.iter().map(|vertex| vertex.texture).collect::<Vec<_>>();
    let figure = texture(0);
    assert_eq!(coordinates(&figure), [[0.0, 255.0], [128.0, 1.0]]);
    assert_eq!(coordinates(&texture(1)), [[0.0, 1.0], [0.2, 0.4]]);
    let vertex = &figure.meshes[0].vertices[1];
    assert_eq!((vertex.colour, vertex.normal), ([257, 514, 771, 65535], [0.0, -1.0, 0.0]));
    assert_eq!(figure.meshes[0].targets[0].positions, [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
}

#[test]
fn broken_accessors_are_reported_with_their_path() {
    let errors: [(Stored, &str); 8] = [
        (
            ("no such accessor", |_, primitive| primitive["attributes"]["POSITION"] = json!(99)),
            "meshes[0].primitives[0].attributes: there is no accessors[99]",
        ),
        (
            ("no such view", |file, _| file.set("/accessors/0/bufferView", json!(99))),
            "accessors[0].bufferView: there is no bufferViews[99]",
        ),
        (
            ("no such buffer", |file, _| file.set("/bufferViews/0/buffer", json!(99))),
            "bufferViews[0].buffer: there is no buffers[99]",
        ),
        (("too few bytes", |file, _| file.set("/accessors/0/count", json!(4))), "accessors[0].bufferView: 4 elements"),
        (
            ("a number that is none", |file, _| file.bin[..4].copy_from_slice(&f32::NAN.to_le_bytes())),
            "accessors[0]: element 0 has NaN",
        ),
        (
            ("weights of a strange type", |file, primitive| {
                primitive["attributes"]["JOINTS_0"] = json!(file.accessor("VEC4", 5121, false, 3, &[0; 12]));
                primitive["attributes"]["WEIGHTS_0"] = json!(file.accessor("VEC4", 5120, true, 3, &[0; 12]));
            }),
            "meshes[0].primitives[0].attributes: accessor 2 has numbers of type I8",
        ),
        (
            ("indices out of order", |file, _| {
                let (indices, values) = (file.view(&[2, 1]), file.view(&[0; 24]));
                let sparse = json!({ "count": 2, "indices": { "bufferView": indices, "componentType": 5121 },
                    "values": { "bufferView": values } });
                file.set("/accessors/0/sparse", sparse);
            }),
            "accessors[0].sparse.indices: the indices have to increase",
        ),
        (
            ("an index that is too large", |file, _| {
                let (indices, values) = (file.view(&[3]), file.view(&[0; 12]));
                let sparse = json!({ "count": 1, "indices": { "bufferView": indices, "componentType": 5121 },
                    "values": { "bufferView": values } });
                file.set("/accessors/0/sparse", sparse);
            }),
            "accessors[0].sparse.indices: there is no element 3, the accessor has 3",
        ),
    ];
    for ((name, change), expected) in errors {
        let (mut file, mut primitive) = mesh(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        change(&mut file, &mut primitive);
        let (_, figure, warnings) = read(&with_primitive(file, primitive));
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{name}: {warnings:?}");
        assert_eq!(figure.parts.len(), 0, "{name}");
    }
}

#[test]
fn a_file_that_the_crate_refuses_is_drawn() {
    let (mut file, primitive) = mesh(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let target = json!({ "path": "pointer",
        "extensions": { "KHR_animation_pointer": { "pointer": "/materials/0/alphaCutoff" } } });
    file.animate(target, times, times, "LINEAR");
    file.json["extensionsRequired"] = json!(["KHR_animation_pointer", "EXT_mesh_features"]);
    file.json["cameras"] = json!([{ "type": "whatever" }]);
    file.json["skins"] = json!([{}]);
    file.json.as_object_mut().unwrap().remove("asset");
    file.json["scene"] = json!(1);
    file.json["scenes"] = json!([{}, { "nodes": [0] }]);
    let mut file = with_primitive(file, primitive);
    assert!(::gltf::Gltf::from_slice_without_validation(&bytes(&file)).is_err());
    assert_eq!(read(&file).1.parts.len(), 1);
    // The first scene shows nothing.
    file.set("/scene", json!(0));
    assert_eq!(read(&file).1.parts.len(), 0);
}

/// A file of 2 x 1 pixels in an image format.
fn picture(format: image::ImageFormat) -> Vec<u8> {
    let pixels = image::RgbImage::from_raw(2, 1, vec![200, 200, 200, 200, 200, 200]).unwrap();
    let mut file = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut file, format).unwrap();
    file.into_inner()
}

#[test]
fn textures_may_be_png_jpeg_or_webp() {
    use image::ImageFormat::{Jpeg, Png, WebP};
    for (format, texture) in [
        (Png, json!({ "source": 0 })),
        (Jpeg, json!({ "source": 0 })),
        (WebP, json!({ "extensions": { "EXT_texture_webp": { "source": 0 } } })),
        (WebP, json!({ "source": 0, "extensions": { "EXT_texture_webp": { "source": 0 } } })),
    ] {
        let (mut file, mut primitive) = mesh(&[[0.0; 3]; 3]);
        primitive["material"] = json!(0);
        let view = file.view(&picture(format));
        file.json["images"] = json!([{ "bufferView": view }]);
        file.json["textures"] = json!([texture]);
        file.json["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
        let (_, figure, warnings) = read(&with_primitive(file, primitive));
        assert_eq!(warnings, Vec::<String>::new(), "{format:?}");
        let image = &figure.images[figure.materials[0].texture.unwrap().image];
        assert_eq!((image.size, image.pixels[3], image.pixels.len()), ([2, 1], 255, 8), "{format:?}");
        assert!(image.pixels[..3].iter().all(|channel| channel.abs_diff(200) <= 1), "{format:?}: {:?}", image.pixels);
    }
}

#[test]
fn pixels_of_every_kind_are_those_of_the_image_crate() {
    use image::DynamicImage;
    use image::ImageFormat::{Jpeg, Png, WebP};
    let colours = image::Rgba32FImage::from_fn(37, 23, |x, y| {
        image::Rgba([x as f32 / 36.0, y as f32 / 22.0, (x * y % 7) as f32 / 6.0, (x % 5) as f32 / 4.0])
    });
    let colours = DynamicImage::from(colours);
    let kinds = [
        (Png, DynamicImage::from(colours.to_luma8())),
        (Png, DynamicImage::from(colours.to_luma_alpha8())),
        (Png, DynamicImage::from(colours.to_rgb8())),
        (Png, DynamicImage::from(colours.to_rgba8())),
        (Png, DynamicImage::from(colours.to_luma16())),
        (Png, DynamicImage::from(colours.to_luma_alpha16())),
        (Png, DynamicImage::from(colours.to_rgb16())),
        (Png, DynamicImage::from(colours.to_rgba16())),
        (Jpeg, DynamicImage::from(colours.to_luma8())),
        (Jpeg, DynamicImage::from(colours.to_rgb8())),
        (WebP, DynamicImage::from(colours.to_rgb8())),
        (WebP, DynamicImage::from(colours.to_rgba8())),
    ];
    for (format, picture) in kinds {
        let mut file = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut file, format).unwrap();
        let file = file.into_inner();
        let expected = image::load_from_memory(&file).unwrap().into_rgba8();
        let found = posse_render::Image::decode(&file).unwrap();
        let kind = picture.color();
        assert_eq!(found.size, [37, 23], "{format:?}, {kind:?}");
        assert!(found.pixels == expected.into_raw(), "{format:?}, {kind:?}");
    }
}

#[test]
fn buffers_and_images_may_be_given_as_bytes() {
    let (mut file, mut primitive) = mesh(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    primitive["material"] = json!(0);
    file.json["images"] = json!([{ "uri": "a%20b.png" }]);
    file.json["textures"] = json!([{ "source": 0 }]);
    file.json["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    let file = with_primitive(file, primitive);
    let mut document = file.json.clone();
    document["buffers"] = json!([{ "byteLength": file.bin.len(), "uri": "mesh.bin" }]);
    let bytes = serde_json::to_vec(&document).unwrap();
    let png = picture(image::ImageFormat::Png);
    let read = |has_image: bool| {
        let files = |name: &str| match name {
            "mesh.bin" => Some(&file.bin[..]),
            "a b.png" => has_image.then_some(&png[..]),
            _ => None,
        };
        let mut library = Library::new();
        let asset = gltf::from_slice_with(&mut library, Path::new("scene.gltf"), &bytes, &files).unwrap();
        figure_gltf::from_slice_with(&asset, &bytes, &files).unwrap()
    };
    let (figure, warnings) = read(true);
    assert_eq!(warnings, []);
    assert_eq!((figure.parts.len(), figure.images[0].size, figure.images[0].pixels[0]), (1, [2, 1], 200));
    let (figure, warnings) = read(false);
    assert_eq!((figure.parts.len(), figure.images.len()), (1, 0));
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.to_string().contains("images[0].uri"), "{warning}");
}

#[test]
fn images_of_other_formats_are_refused() {
    use posse_render::Image;
    assert_eq!(Image::decode(b"\xABKTX 20\xBB").unwrap_err(), "found a KTX image; expected PNG, JPEG or WebP");
    assert_eq!(
        Image::decode(b"BM").unwrap_err(),
        "expected a PNG, JPEG or WebP image; the first bytes match none of them"
    );
}

#[test]
fn a_specular_glossiness_material_has_its_diffuse_colour() {
    let (mut file, mut primitive) = mesh(&[[0.0; 3]; 3]);
    primitive["material"] = json!(0);
    file.json["materials"] = json!([{
        "pbrMetallicRoughness": { "baseColorFactor": [1, 0, 0, 1] }, "alphaMode": "whatever",
        "extensions": { "KHR_materials_pbrSpecularGlossiness": { "diffuseFactor": [0, 0.5, 0, 1] } },
    }]);
    let (_, figure, warnings) = read(&with_primitive(file, primitive));
    assert_eq!(figure.materials[0].base_colour, [0.0, 0.5, 0.0, 1.0]);
    assert_eq!(figure.materials[0].alpha, Alpha::Opaque);
    assert_eq!(warnings, ["materials[0].alphaMode: the mode is not OPAQUE, MASK or BLEND; OPAQUE is used"]);
}

/// The offset in the document after the data URI. Changes of the data hardly ever cause an error.
fn after_data(bytes: &[u8]) -> usize {
    let name = b"\"bufferViews\"";
    bytes.windows(name.len()).position(|window| window == name).unwrap()
}

/// Asserts that the figure of a file passes its check, or that the file is refused.
fn assert_harmless(bytes: &[u8]) {
    let mut library = Library::new();
    if let Ok(asset) = gltf::from_slice(&mut library, Path::new("scene.gltf"), bytes, None)
        && let Ok((figure, _)) = figure_gltf::from_slice(&asset, bytes, None)
    {
        figure.check(&library).unwrap();
    }
}

proptest! {
    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), 0x20..0x7fu8), 1..4)) {
        let mut bytes = bytes(&two_skins_file());
        let first = after_data(&bytes);
        for (index, byte) in changes {
            let position = first + index.index(bytes.len() - first);
            bytes[position] = byte;
        }
        assert_harmless(&bytes);
    }

    #[test]
    fn changed_numbers_do_no_harm(which in any::<prop::sample::Index>(), digit in b'0'..=b'9') {
        let mut bytes = bytes(&two_skins_file());
        let digits: Vec<usize> =
            (after_data(&bytes)..bytes.len()).filter(|&position| bytes[position].is_ascii_digit()).collect();
        bytes[digits[which.index(digits.len())]] = digit;
        assert_harmless(&bytes);
    }
}
