//! `posse retarget --picture`: the places and the colours of the figures, and errors.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use glam::DVec3;
use tempfile::TempDir;

/// A human of 170 cm in a T-pose that faces +Z: joint, parent, offset; in the names of Mixamo and of Unreal.
const HUMAN: [(&str, &str, &str, [f64; 3]); 18] = [
    ("Hips", "pelvis", "", [0.0, 90.0, 0.0]),
    ("Spine", "spine_01", "Hips", [0.0, 20.0, 0.0]),
    ("Neck", "neck_01", "Spine", [0.0, 32.0, 0.0]),
    ("Head", "head", "Neck", [0.0, 10.0, 0.0]),
    ("LeftArm", "upperarm_l", "Spine", [20.0, 28.0, 0.0]),
    ("LeftForeArm", "lowerarm_l", "LeftArm", [25.0, 0.0, 0.0]),
    ("LeftHand", "hand_l", "LeftForeArm", [25.0, 0.0, 0.0]),
    ("RightArm", "upperarm_r", "Spine", [-20.0, 28.0, 0.0]),
    ("RightForeArm", "lowerarm_r", "RightArm", [-25.0, 0.0, 0.0]),
    ("RightHand", "hand_r", "RightForeArm", [-25.0, 0.0, 0.0]),
    ("LeftUpLeg", "thigh_l", "Hips", [10.0, 0.0, 0.0]),
    ("LeftLeg", "calf_l", "LeftUpLeg", [0.0, -42.0, 0.0]),
    ("LeftFoot", "foot_l", "LeftLeg", [0.0, -42.0, 0.0]),
    ("LeftToeBase", "ball_l", "LeftFoot", [0.0, -6.0, 15.0]),
    ("RightUpLeg", "thigh_r", "Hips", [-10.0, 0.0, 0.0]),
    ("RightLeg", "calf_r", "RightUpLeg", [0.0, -42.0, 0.0]),
    ("RightFoot", "foot_r", "RightLeg", [0.0, -42.0, 0.0]),
    ("RightToeBase", "ball_r", "RightFoot", [0.0, -6.0, 15.0]),
];

/// The angles of the left arm, in degrees about its forward axis, in frames of 0.2 s. The last one ends the clip at 1
/// s.
const RAISED: [f64; 6] = [0.0, 45.0, 90.0, -45.0, -80.0, 0.0];

/// The human as a BVH file with a motion: it walks ahead by 3 m and moves its left arm. `name` selects the names,
/// `place` maps its space to the space of the file.
fn bvh(name: impl Fn(usize) -> &'static str, place: impl Fn(DVec3) -> DVec3, axis: &str) -> String {
    fn joint(text: &mut String, index: usize, name: &dyn Fn(usize) -> &'static str, place: &dyn Fn(DVec3) -> DVec3) {
        let (own, _, _, offset) = HUMAN[index];
        let [x, y, z] = place(DVec3::from(offset)).to_array();
        let kind = if index == 0 { "ROOT" } else { "JOINT" };
        let channels = if index == 0 { "6 Xposition Yposition Zposition" } else { "3" };
        writeln!(text, "{kind} {}\n{{\nOFFSET {x} {y} {z}", name(index)).unwrap();
        writeln!(text, "CHANNELS {channels} Zrotation Yrotation Xrotation").unwrap();
        let children: Vec<usize> = (0..HUMAN.len()).filter(|&child| HUMAN[child].2 == own).collect();
        children.iter().for_each(|&child| joint(text, child, name, place));
        if children.is_empty() {
            let [x, y, z] = place(DVec3::from(end(index))).to_array();
            writeln!(text, "End Site\n{{\nOFFSET {x} {y} {z}\n}}").unwrap();
        }
        text.push_str("}\n");
    }
    /// The joints in the order of the file.
    fn order(index: usize, found: &mut Vec<usize>) {
        found.push(index);
        (0..HUMAN.len()).filter(|&child| HUMAN[child].2 == HUMAN[index].0).for_each(|child| order(child, found));
    }
    let mut text = String::from("HIERARCHY\n");
    joint(&mut text, 0, &name, &place);
    writeln!(text, "MOTION\nFrames: {}\nFrame Time: 0.2", RAISED.len()).unwrap();
    let mut joints = Vec::new();
    order(0, &mut joints);
    for (frame, degrees) in RAISED.iter().enumerate() {
        let [x, y, z] = place(DVec3::new(0.0, 90.0, 60.0 * frame as f64)).to_array();
        write!(text, "{x} {y} {z}").unwrap();
        for &index in &joints {
            // A rotation about the forward axis, which the file calls by another name and may reverse.
            let angle = if HUMAN[index].0 == "LeftArm" { *degrees } else { 0.0 };
            let angles = match axis {
                "z" => [angle, 0.0, 0.0],
                "-y" => [0.0, -angle, 0.0],
                _ => panic!("{axis}"),
            };
            write!(text, " {} {} {}", angles[0], angles[1], angles[2]).unwrap();
        }
        text.push('\n');
    }
    text
}

/// The offset of the end of a bone without children.
fn end(index: usize) -> [f64; 3] {
    match HUMAN[index].0 {
        "LeftHand" => [10.0, 0.0, 0.0],
        "RightHand" => [-10.0, 0.0, 0.0],
        "Head" => [0.0, 18.0, 0.0],
        _ => [0.0, 0.0, 5.0],
    }
}

/// A folder with `source.bvh`, centimetres with +Y up that face +Z; and `target.bvh`, metres with +Z up that face -Y.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let source = bvh(|index| HUMAN[index].0, |place| place, "z");
        // Forward is -Y and up is +Z, so that +Z becomes -Y and +Y becomes +Z.
        let place = |place: DVec3| 0.01 * DVec3::new(place.x, -place.z, place.y);
        let target = bvh(|index| HUMAN[index].1, place, "-y");
        let swapped = r#"{ "joints": { "Hips": "pelvis", "Spine": "spine_01", "Head": "head",
            "LeftArm": "upperarm_r", "LeftForeArm": "lowerarm_r", "RightArm": "upperarm_l", "RightForeArm": "lowerarm_l",
            "LeftUpLeg": "thigh_l", "LeftLeg": "calf_l", "LeftFoot": "foot_l",
            "RightUpLeg": "thigh_r", "RightLeg": "calf_r", "RightFoot": "foot_r" } }"#;
        for (name, text) in
            [("source.bvh", source.as_str()), ("target.bvh", target.as_str()), ("swapped.json", swapped)]
        {
            fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.current_dir(self.0.path()).arg("retarget").args(arguments);
        command
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The message for a refused request. Nothing must be written.
    #[track_caller]
    fn refused(&self, mut command: Command) -> String {
        let before = self.files();
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
        assert_eq!(self.files(), before);
        stderr
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn pixels(&self, name: &str) -> Pixels {
        Pixels::read(&self.0.path().join(name))
    }
}

/// The pixels of a picture.
struct Pixels {
    size: [usize; 2],
    rgb: Vec<[u8; 3]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Colour {
    Blue,
    Orange,
}

/// The smallest and the largest columns and rows of the pixels of a colour in a figure, from its upper left corner.
type Edges = [i32; 4];

impl Pixels {
    fn read(file: &Path) -> Self {
        let mut reader = png::Decoder::new(BufReader::new(File::open(file).unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(frame.color_type, png::ColorType::Rgb);
        let rgb = bytes[..frame.buffer_size()].chunks(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]).collect();
        Self { size: [frame.width as usize, frame.height as usize], rgb }
    }

    /// The edges of a colour in a figure of a picture of the default size: 30 pixels for a line of text, two of them
    /// above the first row, and one above the second; figures of 240 x 285 pixels.
    fn edges(&self, row: usize, column: usize, colour: Colour) -> Edges {
        let (left, top) = (240 * column, 60 + 315 * row);
        let mut edges = [i32::MAX, i32::MIN, i32::MAX, i32::MIN];
        for y in 0..285 {
            for x in 0..240 {
                let [red, green, blue] = self.rgb[(top + y) * self.size[0] + left + x].map(i32::from);
                let is_of_colour = match colour {
                    Colour::Blue => blue > green + 20 && blue > red + 50,
                    Colour::Orange => red > green + 50 && green > blue - 20 && red > blue + 70,
                };
                if is_of_colour {
                    let (x, y) = (x as i32, y as i32);
                    edges = [edges[0].min(x), edges[1].max(x), edges[2].min(y), edges[3].max(y)];
                }
            }
        }
        edges
    }
}

/// The place of a point of the figure in the picture, to the right and upward, in units of the figure. It is rotated by
/// 0.55 rad to its right, and the camera looks down by 0.16 rad.
fn projected([x, y, z]: [f64; 3]) -> [f64; 2] {
    let (sin, cos) = 0.55_f64.sin_cos();
    let [right, ahead] = [cos * x - sin * z, sin * x + cos * z];
    let (sin, cos) = 0.16_f64.sin_cos();
    [right, cos * y - sin * ahead]
}

#[test]
fn source_and_target_look_the_same_and_as_worked_out() {
    let folder = Folder::new();
    let before = folder.files();
    let output = folder.run(&["source.bvh", "--onto", "target.bvh", "--picture", "a.png"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("engine: gpu ("));
    // The report is printed as with -o, and nothing but the picture is written.
    assert!(String::from_utf8_lossy(&output.stdout).contains("clip source: "));
    assert_eq!(folder.files(), [&["a.png".to_owned()], &before[..]].concat());
    let pixels = folder.pixels("a.png");
    assert_eq!(pixels.size, [1440, 660]);
    for column in 0..6 {
        for colour in [Colour::Blue, Colour::Orange] {
            let [source, target] = [0, 1].map(|row| pixels.edges(row, column, colour));
            let most = source.iter().zip(target).map(|(one, other)| (one - other).abs()).max();
            assert!(most.is_some_and(|most| most <= 3), "{column} {colour:?}: {source:?} {target:?}");
        }
    }
    // The tips of the hands in the T-pose are 80 from the middle, at a height of 138; the tips of the toes, 5 before
    // the toes.
    let [left, right] = [80.0, -80.0].map(|x| projected([x, 138.0, 0.0]));
    let toe = projected([10.0, 0.0, 20.0]);
    let [blue, orange] = [Colour::Blue, Colour::Orange].map(|colour| pixels.edges(0, 0, colour));
    let scale = f64::from(blue[1] - orange[0]) / (left[0] - right[0]);
    assert!((0.9..1.6).contains(&scale), "{scale}");
    // Ends of bones are thinner than a pixel, and joints are a few pixels wide.
    let near = |pixels: i32, units: f64| (f64::from(pixels) - scale * units).abs() <= 10.0;
    // The right hand is higher in the picture, because it is farther away.
    assert!(near(blue[3] - orange[2], right[1] - toe[1]), "{blue:?} {orange:?} {scale}");
    // The middle of the figure is in the middle of its column.
    assert!(near(blue[1] - 120, left[0]) && near(120 - orange[0], -right[0]), "{blue:?} {orange:?}");
    // The left arm, 60 long, is at these angles about the shoulder.
    for (frame, degrees) in RAISED[..5].iter().enumerate() {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let hand = projected([20.0 + 60.0 * cos, 138.0 + 60.0 * sin, 0.0]);
        let blue = pixels.edges(0, frame + 1, Colour::Blue);
        if degrees.abs() < 60.0 {
            let orange = pixels.edges(0, frame + 1, Colour::Orange);
            assert!(near(blue[1] - orange[0], hand[0] - right[0]), "{degrees}: {blue:?} {orange:?} {hand:?}");
        }
        let top = hand[1].max(projected([20.0, 138.0, 0.0])[1]);
        assert!(near(blue[3] - blue[2], top - toe[1]), "{degrees}: {blue:?} {top}");
    }
}

#[test]
fn swapped_arms_are_seen_in_the_picture() {
    let folder = Folder::new();
    folder.run(&["source.bvh", "--onto", "target.bvh", "--map", "swapped.json", "--picture", "a.png"]);
    let pixels = folder.pixels("a.png");
    let top = |row: usize, column: usize, colour: Colour| pixels.edges(row, column, colour)[2];
    // At 0.4 s, the source raises its left arm by 90 degrees. In the target, the left arm is still, and the right one
    // moves instead.
    assert!(top(0, 3, Colour::Blue) + 40 < top(1, 3, Colour::Blue));
    let [source, target] = [0, 1].map(|row| pixels.edges(row, 3, Colour::Orange));
    let most = source.iter().zip(target).map(|(one, other)| (one - other).abs()).max();
    assert!(most > Some(20), "{source:?} {target:?}");
}

#[test]
fn meshes_have_the_colours_of_their_sides() {
    let folder = Folder::new();
    folder.run(&["source.bvh", "--onto", "demo", "--picture", "a.png", "-o", "a.glb"]);
    assert!(folder.files().contains(&"a.glb".to_owned()));
    let pixels = folder.pixels("a.png");
    for column in 0..6 {
        let [blue, orange] = [Colour::Blue, Colour::Orange].map(|colour| pixels.edges(1, column, colour));
        // It faces the camera: its left is on the right. Its feet are on the ground.
        let is_in_front = orange[0] + 30 < blue[0] && orange[1] + 10 < blue[1];
        assert!(is_in_front || column > 3, "{column}: {blue:?} {orange:?}");
        let [of_source, of_target] = [0, 1].map(|row| pixels.edges(row, column, Colour::Blue));
        assert!((of_source[3] - of_target[3]).abs() <= 8, "{column}: {of_source:?} {of_target:?}");
        // The hand of the left arm is as high and as far to the side.
        assert!((of_source[2] - of_target[2]).abs() <= 30, "{column}: {of_source:?} {of_target:?}");
        assert!((of_source[1] - of_target[1]).abs() <= 25, "{column}: {of_source:?} {of_target:?}");
    }
}

#[test]
fn each_clip_has_its_rows_up_to_four_clips() {
    let folder = Folder::new();
    folder.run(&["source.bvh", "--onto", "target.bvh", "-o", "one.glb"]);
    folder.run(&["one.glb", "--onto", "one.glb", "--keep", "-o", "two.glb"]);
    folder.run(&["two.glb", "--onto", "one.glb", "--picture", "a.png"]);
    assert_eq!(folder.pixels("a.png").size, [1440, 1320]);
    folder.run(&["two.glb", "--onto", "two.glb", "--keep", "-o", "four.glb"]);
    folder.run(&["four.glb", "--onto", "one.glb", "--keep", "-o", "five.glb"]);
    let output = folder.run(&["five.glb", "--onto", "one.glb", "--picture", "a.png", "--size", "90x80"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("picture: the first 4 of 5 clips are drawn; --clip selects others"), "{stderr}");
    assert_eq!(folder.pixels("a.png").size, [90, 80]);
    let output = folder.run(&["five.glb", "--onto", "one.glb", "--clip", "4", "--picture", "a.png"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("picture:"));
    assert_eq!(folder.pixels("a.png").size, [1440, 660]);
}

#[test]
fn pictures_that_cannot_be_drawn_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let refused = |rest: &[&str], saying: &str| {
        let message = folder.refused(folder.command(&[&["source.bvh", "--onto", "target.bvh"], rest].concat()));
        assert!(message.contains(saying), "{rest:?}: {message}");
    };
    refused(&[], "--output <OUT>");
    refused(&["--picture", "a.jpg"], "a.jpg: the name of the picture must end with .png");
    refused(&["--picture", "a", "-o", "a.glb"], "a: the name of the picture must end with .png");
    refused(&["--picture", "no/a.png"], "no/a.png: there is no folder no");
    refused(&["--picture", "a.png", "--size", "47x600"], "6 x 2 figures do not fit 47 x 600 pixels");
    refused(&["--picture", "a.png", "--size", "600x15", "-o", "a.glb"], "6 x 2 figures do not fit 600 x 15 pixels");
    refused(&["--picture", "a.png", "--size", "9000x9000"], "pixels of a picture: 81000000 needed");
    refused(&["--picture", "a.png", "--keep"], "--output <OUT>");
    refused(&["-o", "a.glb", "--size", "600x400"], "--picture <OUT.png>");
    refused(&["-o", "a.glb", "--adapter", "0"], "--adapter is for the adapter that draws; add --picture");
    refused(&["--picture", "a.png", "--adapter", "no such adapter"], "--adapter: ");
    let mut command = folder.command(&["source.bvh", "--onto", "target.bvh", "--picture", "a.png", "-o", "a.glb"]);
    command.env("WGPU_ADAPTER_NAME", "no adapter has this name");
    let message = folder.refused(command);
    assert!(message.contains("no GPU adapter") && message.contains("mesa-vulkan-drivers"), "{message}");
}
