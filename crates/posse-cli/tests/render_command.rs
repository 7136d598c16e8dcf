//! `posse render` as a process: its files, messages and exit codes.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

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
    render(&["--sheet", "3x2", "-o", "sheet.png"]);
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
    let cases: [(&[&str], &str); 12] = [
        (&["demo", "--size", "100000x100", "-o", "a.png"], "pixels of a picture's side: 100000 needed"),
        (&["demo", "--size", "8192x8192", "-o", "a.png"], "pixels of a picture: 67108864 needed, 33554432 allowed"),
        (&["demo", "--size", "0x5", "-o", "a.png"], "both must be at least 1"),
        (&["demo", "--size", "big", "-o", "a.png"], "1280x720"),
        (&["demo", "--instances", "4000000000", "-o", "a.png"], "1000000"),
        (&["demo", "-o", "a.jpg"], "does not end with .png"),
        (&["demo", "-o", "a"], "does not end with .png"),
        (&["demo", "--seconds", "1e9", "-o", "a.gif"], "pictures of a loop, by --seconds and --fps"),
        (&["demo", "--clip", "fly", "-o", "a.png"], "there is no clip \"fly\"; there are: 0 idle, 1 walk"),
        (&["demo", "--sheet", "9x9", "-o", "a.gif"], "--sheet, --compare and --colours are for .png files"),
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
