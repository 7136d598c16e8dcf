//! `posse render` as a process: its files, messages and exit codes.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

use crate::cube::{animate_pointer, cube_primitive};
use crate::support::gltf_builder::GltfBuilder;
use crate::support::skip;

fn posse(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
    command.current_dir(folder).arg("render").args(arguments);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The message for a refused request. The exit code must be 2.
fn refused(folder: &TempDir, arguments: &[&str]) -> String {
    let output = posse(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
    text(&output)
}

fn decoder(file: &Path) -> png::Reader<BufReader<File>> {
    png::Decoder::new(BufReader::new(File::open(file).unwrap())).read_info().unwrap()
}

#[test]
fn pictures_loops_and_sheets_have_the_requested_size_and_number() {
    let folder = TempDir::new().unwrap();
    let render = |arguments: &[&str]| {
        let output = posse(&folder, &[&["demo", "--size", "64x48"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{}", text(&output));
        assert!(text(&output).contains("engine: gpu ("), "{}", text(&output));
    };
    let path = |name: &str| folder.path().join(name);
    render(&["-o", "one.png"]);
    assert_eq!(decoder(&path("one.png")).info().size(), (64, 48));
    render(&["--colours", "16", "-o", "few.png"]);
    assert!(decoder(&path("few.png")).info().palette.as_ref().is_some_and(|palette| palette.len() == 3 * 16));
    render(&["--background", "none", "-o", "alpha.png"]);
    assert_eq!(decoder(&path("alpha.png")).info().color_type, png::ColorType::Rgba);
    render(&["--sheet", "3x2", "--seconds", "2", "-o", "sheet.png"]);
    assert_eq!(decoder(&path("sheet.png")).info().size(), (63, 48));
    render(&["--compare", "-o", "compare.png"]);
    render(&["--instances", "3", "--seconds", "0.2", "-o", "loop.apng"]);
    let control = decoder(&path("loop.apng")).info().animation_control.unwrap();
    assert_eq!((control.num_frames, control.num_plays), (5, 0));
    render(&["--seconds", "0.2", "-o", "loop.gif"]);
    let mut reader = gif::DecodeOptions::new().read_info(File::open(path("loop.gif")).unwrap()).unwrap();
    let mut delays = Vec::new();
    while let Some(frame) = reader.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!((reader.width(), reader.height(), delays), (64, 48, vec![4; 5]));
    let drafts = fs::read_dir(folder.path())
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(drafts.count(), 0);
}

#[test]
fn the_poses_of_gpu_and_reference_look_the_same() {
    let folder = TempDir::new().unwrap();
    let output = posse(&folder, &["demo", "--instances", "20", "--compare", "--size", "480x160", "-o", "compare.png"]);
    let text = text(&output);
    let words: Vec<&str> = text.split("at most ").nth(1).unwrap().split(' ').collect();
    let largest: u32 = words[0].parse().unwrap();
    let pixels: u32 = text.split(", in ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    // Pixels at edges may differ: an edge can fall on either side of a sample.
    assert!(pixels < 160 * 160 / 100 && largest < 128, "{text}");
}

#[test]
fn films_are_written_by_ffmpeg_and_without_it_the_message_names_the_package() {
    let folder = TempDir::new().unwrap();
    let film = ["demo", "--size", "65x49", "--seconds", "0.2", "-o", "film.mp4"];
    let output = command(&folder, &film).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("ffmpeg, which writes films, is not installed. Install it"), "{}", text(&output));
    assert!(!folder.path().join("film.mp4").exists());
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        return skip::report_skipped("films: ffmpeg is not installed");
    }
    let output = posse(&folder, &film);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // A box of type `ftyp` begins an MP4 file.
    assert_eq!(&fs::read(folder.path().join("film.mp4")).unwrap()[4..8], b"ftyp");
}

#[test]
fn without_an_adapter_the_message_names_the_package() {
    let folder = TempDir::new().unwrap();
    let mut command = command(&folder, &["demo", "-o", "one.png"]);
    let output = command.env("WGPU_ADAPTER_NAME", "no adapter has this name").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("no GPU adapter") && text(&output).contains("mesa-vulkan-drivers"),
        "{}",
        text(&output)
    );
}

#[test]
fn bad_arguments_are_refused_with_a_message() {
    let folder = TempDir::new().unwrap();
    let cases: [(&[&str], &str); 18] = [
        (&["demo", "--size", "100000x100", "-o", "a.png"], "pixels of a picture's side: 100000 needed"),
        (&["demo", "--size", "8192x8192", "-o", "a.png"], "pixels of a picture: 67108864 needed, 33554432 allowed"),
        (&["demo", "--size", "0x5", "-o", "a.png"], "expected WIDTHxHEIGHT, each 1 or more, for example 1280x720"),
        (&["demo", "--size", "big", "-o", "a.png"], "1280x720"),
        (&["demo", "--instances", "4000000000", "-o", "a.png"], "1000000"),
        (&["demo", "-o", "a.jpg"], "does not end with .png"),
        (&["demo", "-o", "a"], "does not end with .png"),
        (&["demo", "--seconds", "1e9", "-o", "a.gif"], "pictures of a loop, by --seconds and --fps"),
        (&["demo", "--seconds", "2", "-o", "a.png"], "a.png: --seconds has no effect on a picture; it is for a loop"),
        (&["demo", "--seconds", "2", "--compare", "-o", "a.png"], "--seconds has no effect on a picture"),
        (&["demo", "--fps", "30", "-o", "a.png"], "a.png: --fps has no effect on a picture; it is for a loop"),
        (&["demo", "--fps", "30", "--sheet", "2x2", "-o", "a.png"], "--fps has no effect on a picture"),
        (&["demo", "--clip", "fly", "-o", "a.png"], "there is no clip \"fly\"; there are: 0 idle, 1 walk"),
        (&["demo", "--sheet", "9x9", "-o", "a.gif"], "--sheet, --compare and --colours are for .png files"),
        (&["demo", "--sheet", "4", "-o", "a.png"], "expected COLUMNSxROWS, each 1 or more, for example 6x2"),
        (&["demo", "--sheet", "4x0", "-o", "a.png"], "expected COLUMNSxROWS, each 1 or more"),
        (&["demo", "--camera", "1,2,-3", "-o", "a.png"], "the distance is -3; it must be more than 0"),
        (&["nowhere.glb", "-o", "a.png"], "nowhere.glb"),
    ];
    for (arguments, expected) in cases {
        let message = refused(&folder, arguments);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn almost_empty_files_are_drawn() {
    let folder = TempDir::new().unwrap();
    let files = [
        ("empty", r#"{ "asset": { "version": "2.0" } }"#),
        ("point", r#"{ "asset": { "version": "2.0" }, "nodes": [{}] }"#),
        ("bone", r#"{ "asset": { "version": "2.0" }, "nodes": [{ "children": [1] }, { "translation": [0, 1, 0] }] }"#),
        ("far", r#"{ "asset": { "version": "2.0" }, "nodes": [{ "translation": [1e30, 1e30, 0] }, {}] }"#),
    ];
    for (name, json) in files {
        fs::write(folder.path().join(format!("{name}.gltf")), json).unwrap();
        let output = posse(&folder, &[&format!("{name}.gltf"), "--size", "32x32", "-o", &format!("{name}.png")]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
        assert_eq!(decoder(&folder.path().join(format!("{name}.png"))).info().size(), (32, 32));
    }
}

/// Writes a triangle with a red material, whose texture is a missing file.
fn triangle(folder: &TempDir) {
    let corners = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = corners.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(folder.path().join("corners.bin"), &bytes).unwrap();
    let document = json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "uri": "corners.bin", "byteLength": bytes.len() }],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
        "images": [{ "uri": "nowhere.png" }],
        "textures": [{ "source": 0 }],
        "materials": [{ "doubleSided": true, "pbrMetallicRoughness":
            { "baseColorFactor": [1, 0, 0, 1], "baseColorTexture": { "index": 0 } } }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0 }] }],
        "nodes": [{ "mesh": 0 }],
        "animations": [],
    });
    fs::write(folder.path().join("triangle.gltf"), document.to_string()).unwrap();
}

/// The number of red pixels, and of connected red spots of more than 8 pixels.
fn reds(file: &Path) -> (usize, usize) {
    let mut reader = decoder(file);
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let width = frame.width as usize;
    let mut red: Vec<bool> =
        bytes[..frame.buffer_size()].chunks(3).map(|rgb| u32::from(rgb[0]) > 2 * u32::from(rgb[1].max(40))).collect();
    let (pixels, mut spots) = (red.iter().filter(|&&red| red).count(), 0);
    for first in 0..red.len() {
        let (mut stack, mut size) = (vec![first], 0);
        while let Some(pixel) = stack.pop() {
            if red.get(pixel) == Some(&true) {
                (red[pixel], size) = (false, size + 1);
                stack.extend([pixel + 1, pixel.wrapping_sub(1), pixel + width, pixel.wrapping_sub(width)]);
            }
        }
        spots += usize::from(size > 8);
    }
    (pixels, spots)
}

#[test]
fn a_texture_that_is_missing_is_a_warning_and_a_plain_colour() {
    let folder = TempDir::new().unwrap();
    triangle(&folder);
    let output = posse(&folder, &["triangle.gltf", "--size", "64x64", "-o", "red.png"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let message = text(&output);
    assert!(
        message.contains("warning: triangle.gltf: images[0].uri: ") && message.contains("a plain colour is used"),
        "{message}"
    );
    // A right-angled triangle that fills the picture covers half of it; the margin and the angle of the camera reduce
    // that.
    let (pixels, spots) = reds(&folder.path().join("red.png"));
    assert!((800..1800).contains(&pixels) && spots == 1, "{pixels} in {spots}");
}

#[test]
fn the_instances_of_a_crowd_file_are_drawn() {
    let folder = TempDir::new().unwrap();
    triangle(&folder);
    for count in [1, 9] {
        let crowd = json!({ "files": ["triangle.gltf"], "instances": [{ "file": 0, "count": count }] });
        fs::write(folder.path().join("crowd.json"), crowd.to_string()).unwrap();
        // From this height, no triangle hides another.
        let file = format!("{count}.png");
        let output = posse(&folder, &["--crowd", "crowd.json", "--camera", "0,60", "--size", "96x96", "-o", &file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let [one, nine] = ["1.png", "9.png"].map(|name| reds(&folder.path().join(name)));
    assert!(one.1 == 1 && (5..=9).contains(&nine.1), "{one:?} {nine:?}");
    let message = refused(&folder, &["--crowd", "nothing.json", "-o", "a.png"]);
    assert!(message.contains("nothing.json"), "{message}");
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_files_are_loaded() {
    let folder = TempDir::new().unwrap();
    // The missing input would be an error too.
    let message = refused(&folder, &["nowhere.glb", "-o", "absent/a.png"]);
    assert!(message.contains("a.png: there is no folder absent"), "{message}");
    let message = refused(&folder, &["nowhere.glb", "-o", "a.png", "--size", "100000x100000"]);
    assert!(message.contains("pixels of a picture: 10000000000 needed"), "{message}");
}

#[test]
fn a_file_without_meshes_and_bones_is_drawn_with_a_warning() {
    let folder = TempDir::new().unwrap();
    let write =
        |name: &str, document: serde_json::Value| fs::write(folder.path().join(name), document.to_string()).unwrap();
    write("empty.gltf", json!({ "asset": { "version": "2.0" } }));
    write("node.gltf", json!({ "asset": { "version": "2.0" }, "nodes": [{}] }));
    let nodes = json!([{ "children": [1] }, { "translation": [0, 1, 0] }]);
    write("bone.gltf", json!({ "asset": { "version": "2.0" }, "nodes": nodes }));
    let message_of = |file: &str| text(&posse(&folder, &[file, "-o", "a.png", "--size", "64x48"]));
    for (file, warned) in [("empty.gltf", true), ("node.gltf", true), ("bone.gltf", false)] {
        let message = message_of(file);
        let warning = "warning: there is nothing to draw but the ground: the file has neither a mesh nor a bone";
        assert_eq!(message.contains(warning), warned, "{file}: {message}");
    }
}

/// The width and the pixels of a picture, with an alpha of 255 if it has none.
fn pixels(file: &Path) -> (usize, Vec<[u8; 4]>) {
    let mut reader = decoder(file);
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    bytes.truncate(frame.buffer_size());
    let pixels = match frame.color_type {
        png::ColorType::Rgba => bytes.as_chunks::<4>().0.to_vec(),
        _ => bytes.as_chunks::<3>().0.iter().map(|&[red, green, blue]| [red, green, blue, 255]).collect(),
    };
    (frame.width as usize, pixels)
}

/// Draws a file of 240 x 180 pixels at a time, and returns its width and its pixels.
fn drawn(folder: &TempDir, file: &str, time: &str, options: &[&str]) -> (usize, Vec<[u8; 4]>) {
    let arguments = [&[file, "--time", time, "--size", "240x180", "-o", "drawn.png"], options].concat();
    let output = posse(folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output));
    pixels(&folder.path().join("drawn.png"))
}

/// The columns with opaque pixels, as the first and last of each group of neighbours, in a picture without a
/// background.
fn opaque_columns(folder: &TempDir, file: &str, time: &str) -> Vec<[usize; 2]> {
    let (width, pixels) = drawn(folder, file, time, &["--camera", "0,0,6,0,0,0", "--background", "none"]);
    let is_opaque = |&column: &usize| pixels.chunks(width).any(|row| row[column][3] == 255);
    let mut groups: Vec<[usize; 2]> = Vec::new();
    for column in (0..width).filter(is_opaque) {
        match groups.last_mut() {
            Some([_, last]) if *last + 1 == column => *last = column,
            _ => groups.push([column, column]),
        }
    }
    groups
}

/// Writes a file, and copies the file of the same kind that people sent, if it is there. Returns their names.
fn cases(folder: &TempDir, made: &GltfBuilder, case: &str) -> Vec<String> {
    fs::write(folder.path().join("made.glb"), made.glb()).unwrap();
    let sent = skip::collected_or_skip(&format!("cases/gltf/{case}"), "a picture of a collected file");
    let Some(sent) = sent else { return vec!["made.glb".into()] };
    fs::write(folder.path().join("sent.glb"), fs::read(sent).unwrap()).unwrap();
    vec!["made.glb".into(), "sent.glb".into()]
}

/// A file with a mesh, a cube of these half sides with material 0.
fn cube(half: f32) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let mut primitive = cube_primitive(&mut file, half);
    primitive["material"] = json!(0);
    file.json["materials"] = json!([{ "pbrMetallicRoughness": { "metallicFactor": 0 } }]);
    file.push("meshes", json!({ "primitives": [primitive] }));
    file
}

#[test]
fn hidden_nodes_are_not_drawn_and_nodes_that_a_clip_shows_are() {
    let folder = TempDir::new().unwrap();
    let mut file = cube(0.5);
    file.push("nodes", json!({ "mesh": 0, "translation": [-1, 0, 0] }));
    let hidden = json!({ "KHR_node_visibility": { "visible": false } });
    file.push("nodes", json!({ "mesh": 0, "translation": [1, 0, 0], "extensions": hidden }));
    let (times, values) = (file.floats("SCALAR", &[0.0, 1.0]), file.accessor("SCALAR", 5121, false, 2, &[0, 1]));
    let pointer = json!({ "pointer": "/nodes/0/extensions/KHR_node_visibility/visible" });
    let target = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": pointer } });
    file.animate(target, times, values, "STEP");
    for name in cases(&folder, &file, "visibility/render.glb") {
        assert_eq!(opaque_columns(&folder, &name, "0"), Vec::<[usize; 2]>::new(), "{name}");
        assert_eq!(opaque_columns(&folder, &name, "0.9"), Vec::<[usize; 2]>::new(), "{name}");
        // The camera looks along -Z from 6 m. The front of the cube, from -1.5 to -0.5, is at a distance of 5.5 m; the
        // middle of the picture is at x = 0, and half of its width (120 pixels) is 4/3 tan(0.3) of the distance.
        let column = |x: f64, distance: f64| 120.0 + 120.0 * x / (distance * 4.0 / 3.0 * 0.3_f64.tan());
        let [[first, last]] = opaque_columns(&folder, &name, "1")[..] else { panic!("{name}: not one cube") };
        let expected = [column(-1.5, 5.5), column(-0.5, 6.5)];
        assert!((first as f64 - expected[0]).abs() < 2.0 && (last as f64 - expected[1]).abs() < 2.0, "{first} {last}");
    }
}

#[test]
fn a_file_whose_meshes_are_all_hidden_is_an_empty_picture_with_a_warning() {
    let folder = TempDir::new().unwrap();
    let mut file = cube(0.5);
    file.push("nodes", json!({ "mesh": 0, "extensions": { "KHR_node_visibility": { "visible": false } } }));
    fs::write(folder.path().join("hidden.glb"), file.glb()).unwrap();
    assert_eq!(opaque_columns(&folder, "hidden.glb", "0"), Vec::<[usize; 2]>::new());
    let message = text(&posse(&folder, &["hidden.glb", "--size", "64x48", "-o", "a.png"]));
    assert!(message.contains("warning: there is nothing to draw but the ground: all meshes are hidden"), "{message}");
}

#[test]
fn a_material_has_the_colour_of_the_time_of_the_picture() {
    let folder = TempDir::new().unwrap();
    let mut file = cube(0.5);
    let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    animate_pointer(&mut file, pointer, "VEC4", &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 1.0, 1.0]);
    file.set("/materials/0/pbrMetallicRoughness/baseColorFactor", json!([1, 0, 0, 1]));
    file.push("nodes", json!({ "mesh": 0 }));
    for name in cases(&folder, &file, "pointer-material/c.glb") {
        let count = |time: &str| {
            let (_, pixels) = drawn(&folder, &name, time, &["--camera", "30,25,4,0,0,0", "--background", "#808080"]);
            let is = |one: usize, other: usize| {
                let strong = |pixel: &&[u8; 4]| u32::from(pixel[one]) > 60 + 2 * u32::from(pixel[other]);
                pixels.iter().filter(strong).count()
            };
            [is(0, 2), is(2, 0)]
        };
        let ([red, blue], [later_red, later_blue]) = (count("0"), count("1"));
        assert!(
            red > 4000 && blue == 0 && later_red == 0 && later_blue > 4000,
            "{red} {blue} {later_red} {later_blue}"
        );
    }
}

#[test]
fn copies_of_a_mesh_are_drawn_side_by_side() {
    let folder = TempDir::new().unwrap();
    let mut file = cube(0.2);
    let translations = file.floats("VEC3", &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let attributes = json!({ "attributes": { "TRANSLATION": translations } });
    file.push("nodes", json!({ "mesh": 0, "extensions": { "EXT_mesh_gpu_instancing": attributes } }));
    file.json["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    for name in cases(&folder, &file, "gpu-instancing/i.glb") {
        let columns = opaque_columns(&folder, &name, "0");
        let middles: Vec<f64> = columns.iter().map(|[first, last]| (first + last) as f64 / 2.0).collect();
        // At the distance of their middles, 1 m is 120 / (6 x 4/3 tan(0.3)) = 48.5 pixels.
        let expected = [71.0, 119.5, 168.0];
        assert_eq!(middles.len(), 3, "{name}: {columns:?}");
        assert!(middles.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 4.0), "{middles:?}");
    }
}

#[test]
fn a_mirrored_cube_is_drawn_like_the_plain_one() {
    const CAMERA: &[&str] = &["--camera", "30,25,4,0,0,0"];
    let folder = TempDir::new().unwrap();
    // The mean grey of rows 60 to 120 and columns 80 to 160.
    let grey = |(width, pixels): &(usize, Vec<[u8; 4]>)| {
        let rows = pixels.chunks(*width).skip(60).take(60).flat_map(|row| &row[80..160]);
        let sum: f64 = rows.map(|[red, green, blue, _]| f64::from(*red) + f64::from(*green) + f64::from(*blue)).sum();
        sum / (3.0 * 60.0 * 80.0)
    };
    let file = |double_sided: bool, scale: [f32; 3], flips: bool| {
        let mut file = cube(0.5);
        file.set("/materials/0/doubleSided", json!(double_sided));
        file.push("nodes", json!({ "mesh": 0, "scale": scale }));
        let (times, to) = (file.floats("SCALAR", &[0.0, 1.0]), if flips { [-1.0, 1.0, 1.0] } else { scale });
        let values = file.floats("VEC3", &[scale, to].concat());
        file.animate(json!({ "node": 0, "path": "scale" }), times, values, "LINEAR");
        file
    };
    let (plain, mirrored) = ([1.0; 3], [-1.0, 1.0, 1.0]);
    let expected = {
        fs::write(folder.path().join("plain.glb"), file(false, plain, false).glb()).unwrap();
        drawn(&folder, "plain.glb", "0", CAMERA)
    };
    for (made, case, time) in [
        (file(true, plain, false), "negative-scale/plain.glb", "0"),
        (file(true, mirrored, false), "negative-scale/mirror-ds.glb", "0"),
        (file(false, plain, true), "negative-scale/flip.glb", "1"),
        (file(false, plain, true), "negative-scale/flip.glb", "0"),
    ] {
        for name in cases(&folder, &made, case) {
            let found = drawn(&folder, &name, time, CAMERA);
            // The figure that the row of the case has for the plain cube.
            assert!((grey(&found) - 216.5).abs() < 1.0, "{name} of {case} at {time} s: {}", grey(&found));
            let differing = found.1.iter().zip(&expected.1);
            let differing =
                differing.filter(|(one, other)| one.iter().zip(*other).any(|(one, other)| one.abs_diff(*other) > 8));
            assert!(differing.count() < 40, "{name} of {case} at {time} s");
        }
    }
}
