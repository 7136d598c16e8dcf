use std::f64::consts::FRAC_PI_2;
use std::fs;
use std::io::Read;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::npz::{doubles, npz};

const FRAMES: usize = 30;

/// A folder with a motion of SMPL in a world with +Z up, in which `posse` runs: `walk.npz` stands, and nods.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let mut poses = vec![0.0; FRAMES * 72];
        for (frame, pose) in poses.chunks_exact_mut(72).enumerate() {
            pose[0] = FRAC_PI_2;
            // The head nods about x.
            pose[3 * 15] = 0.01 * frame as f64;
        }
        let trans: Vec<f64> = (0..FRAMES).flat_map(|frame| [0.0, -0.01 * frame as f64, 0.93]).collect();
        let motion = [
            ("poses", doubles(&[FRAMES, 72], &poses)),
            ("trans", doubles(&[FRAMES, 3], &trans)),
            ("betas", doubles(&[16], &[0.0; 16])),
            ("mocap_framerate", doubles(&[], &[60.0])),
        ];
        folder.write("clips/walk.npz", &npz(&motion));
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn posse(&self, arguments: &str) -> Output {
        let arguments = arguments.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(&self.0).args(arguments).output().unwrap()
    }

    /// The output and the messages of a command that succeeds.
    #[track_caller]
    fn passed(&self, arguments: &str) -> [String; 2] {
        let output = self.posse(arguments);
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", texts[1]);
        texts
    }

    /// The places of joints at a time, by their names.
    #[track_caller]
    fn places(&self, arguments: &str, names: &[&str]) -> Vec<[f64; 3]> {
        let [text, _] = self.passed(arguments);
        let json: Value = serde_json::from_str(&text).unwrap();
        let nodes = json["samples"][0]["nodes"].as_array().unwrap();
        let place = |name: &&str| {
            let node = nodes.iter().find(|node| node["name"] == **name).unwrap_or_else(|| panic!("{name}: {text}"));
            [12, 13, 14].map(|index| node["world"][index].as_f64().unwrap())
        };
        names.iter().map(place).collect()
    }
}

#[test]
fn inspect_and_eval_read_a_motion() {
    let folder = Folder::new();
    let [text, messages] = folder.passed("inspect clips/walk.npz --joints");
    assert!(text.contains("24 joints") && text.contains("left_hand"), "{text}");
    assert!(messages.contains("those of an adult of 1.7 m"), "{messages}");
    // The pelvis is at `trans` plus its rest position (0, -0.22, 0.03), and the head above it along z.
    let places = folder.places("eval clips/walk.npz --times 0 --engine reference", &["pelvis", "head"]);
    let [pelvis, head] = [places[0], places[1]];
    assert!(pelvis[0].abs() < 1e-9 && (pelvis[1] + 0.22).abs() < 1e-9 && (pelvis[2] - 0.96).abs() < 1e-9, "{pelvis:?}");
    assert!((0.5..0.7).contains(&(head[2] - pelvis[2])) && (head[1] - pelvis[1]).abs() < 0.1, "{head:?}");
}

#[test]
fn a_skeleton_gives_the_proportions() {
    let folder = Folder::new();
    let mut joints = [[0.0, 0.0, 0.0]; 24];
    joints[7] = [0.0, -2.0, 0.0];
    joints[15] = [0.0, 1.5, 0.0];
    (joints[20], joints[21]) = ([1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]);
    folder.write("model.npz", &npz(&[("J", doubles(&[24, 3], joints.as_flattened()))]));
    let command = "eval clips/walk.npz --skeleton model.npz --times 0 --engine reference";
    let places = folder.places(command, &["pelvis", "head"]);
    let near = |one: [f64; 3], other: [f64; 3]| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9);
    assert!(near(places[0], [0.0, 0.0, 0.93]) && near(places[1], [0.0, 0.0, 2.43]), "{places:?}");
    let [_, messages] = folder.passed(command);
    assert!(!messages.contains("adult"), "{messages}");
    // Outputs of another skeleton are others.
    folder.passed("bake clips -o out --skeleton model.npz");
    let output = folder.posse("bake --check out clips");
    assert_ne!(output.status.code(), Some(0));
    folder.passed("bake --check out clips --skeleton model.npz");
}

#[test]
fn retargeting_stands_the_body_up() {
    let folder = Folder::new();
    let command = "eval clips/walk.npz --rig demo --retarget --times 0 --engine reference";
    let places = folder.places(command, &["pelvis", "head", "foot.L"]);
    let heights: Vec<f64> = places.iter().map(|place| place[1]).collect();
    assert!(heights[1] > heights[0] + 0.5 && heights[2] < heights[0] - 0.6, "{heights:?}");
    let [_, messages] = folder.passed("retarget clips/walk.npz --onto demo -o human.glb");
    // At rest, the body stands along +Y and looks to +Z: stood up along +Z, it looks along -Y, as the motion does.
    assert!(!messages.contains("which direction"), "{messages}");
    folder.passed("inspect human.glb");
}

#[test]
fn a_bake_writes_a_motion_that_is_read_back() {
    let folder = Folder::new();
    // The shapes of AMASS lie beside motions, and are no motions.
    folder.write("clips/shape.npz", &npz(&[("betas", doubles(&[16], &[0.0; 16]))]));
    folder.passed("bake clips -o out --format smpl");
    assert!(folder.0.path().join("out/walk.npz").exists() && !folder.0.path().join("out/shape.npz").exists());
    // The file has its rest positions.
    let [_, messages] = folder.passed("inspect out/walk.npz");
    assert!(!messages.contains("adult"), "{messages}");
    let places = |file: &str, time: &str| {
        folder.places(&format!("eval {file} --times {time} --engine reference"), &["pelvis", "head", "left_hand"])
    };
    for time in ["0", "0.4"] {
        let (found, expected) = (places("out/walk.npz", time), places("clips/walk.npz", time));
        let distance = |(one, other): (&[f64; 3], &[f64; 3])| {
            one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
        };
        assert!(found.iter().zip(&expected).map(distance).fold(0.0, f64::max) < 1e-5, "{found:?}, {expected:?}");
    }
    // With +Z up, a body that stood along +Y in the world stands along +Z.
    folder.passed("bake out/walk.npz -o turned --format smpl --up z --scale 2");
    let turned = folder.places("eval turned/walk.npz --times 0 --engine reference", &["pelvis", "head"]);
    let plain = places("clips/walk.npz", "0");
    let expected = |place: [f64; 3]| [2.0 * place[0], -2.0 * place[2], 2.0 * place[1]];
    for (found, plain) in turned.iter().zip(plain) {
        assert!(found.iter().zip(expected(plain)).all(|(one, other)| (one - other).abs() < 1e-5), "{turned:?}");
    }
}

#[test]
fn the_up_axis_of_a_motion_is_stated_where_it_is_known() {
    let folder = Folder::new();
    for (options, expected) in
        [("", "unknown"), (" --up z", "z"), (" --rig demo --retarget", "y"), (" --rig demo --retarget --up z", "z")]
    {
        folder.passed(&format!("bake clips -o out --format packed{options}"));
        let rigs = fs::read_dir(folder.0.path().join("out")).unwrap().map(|entry| entry.unwrap().path());
        let rigs: Vec<_> = rigs.filter(|path| path.extension().is_some_and(|name| name == "safetensors")).collect();
        let bytes = fs::read(&rigs[0]).unwrap();
        let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk().unwrap())).unwrap();
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        assert_eq!((rigs.len(), &header["__metadata__"]["up_axis"]), (1, &Value::from(expected)), "{options}");
        fs::remove_dir_all(folder.0.path().join("out")).unwrap();
    }
    // Readers of USD take Y for a file without the axis.
    folder.passed("bake clips -o out --format usda");
    let text = fs::read_to_string(folder.0.path().join("out/walk.usda")).unwrap();
    assert!(text.contains("upAxis = \"Y\""), "{}", text.lines().take(9).collect::<String>());
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new();
    folder.write("other/arrays.npz", &npz(&[("pos", doubles(&[1, 3], &[0.0; 3]))]));
    let refusal = |arguments: &str| {
        let output = folder.posse(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        String::from_utf8(output.stderr).unwrap()
    };
    let text = refusal("inspect other/arrays.npz");
    assert!(text.contains("no motion of SMPL") && text.contains("the arrays are pos"), "{text}");
    assert!(refusal("bake other/arrays.npz -o out").contains("has no motion of SMPL"));
    assert!(refusal("bake other -o out").contains("no .npz file of SMPL"));
    assert!(refusal("render clips/walk.npz --skeleton none.npz -o a.png").contains("none.npz"));
    // A motion without rest positions is no model file.
    assert!(refusal("inspect clips/walk.npz --skeleton clips/walk.npz").contains("no model file"));
    let text = refusal("bake clips -o out --format smpl --rig demo --retarget");
    assert!(text.contains("the skeleton is no body of SMPL: it lacks left_hip"), "{text}");
    assert!(refusal("bake clips -o out --format smpl --arrays pos").contains("leave out --arrays"));
}

#[test]
fn layouts_of_robots_say_that_they_cannot_train() {
    let folder = Folder::new();
    for (layout, saying) in [("mjlab", "mjlab cannot train with these files"), ("gmr", "robots cannot be trained")] {
        let [_, messages] = folder.passed(&format!("bake clips -o {layout} --layout {layout}"));
        assert!(messages.contains(saying), "{messages}");
    }
}

#[test]
fn the_layout_of_phc_has_its_arrays() {
    let folder = Folder::new();
    let [_, messages] = folder.passed("bake clips -o phc --layout phc --joints pelvis");
    assert!(!messages.contains("robot"), "{messages}");
    let member = |name: &str| {
        let mut zip = zip::ZipArchive::new(fs::File::open(folder.0.path().join("phc/walk.npz")).unwrap()).unwrap();
        let mut bytes = Vec::new();
        zip.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        let array = npyz::NpyFile::new(bytes.as_slice()).unwrap();
        (array.shape().to_vec(), array.into_vec::<f64>().unwrap())
    };
    let frames = FRAMES as u64;
    let (shape, poses) = member("pose_aa");
    assert_eq!(shape, [frames, 72]);
    let near = |found: &[f64], expected: &[f64]| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-5)
    };
    // In the last frame, the head has nodded by 0.29 about x.
    let last = &poses[72 * (FRAMES - 1)..];
    assert!(near(&last[..3], &[FRAC_PI_2, 0.0, 0.0]) && near(&last[45..48], &[0.29, 0.0, 0.0]), "{last:?}");
    // `trans` of the file, and with it the rest position of the pelvis of an adult, (0, -0.22, 0.03).
    let (shape, trans) = member("trans_orig");
    assert!(shape == [frames, 3] && near(&trans[87..], &[0.0, -0.29, 0.93]), "{trans:?}");
    assert!(near(&member("root_trans_offset").1[87..], &[0.0, -0.51, 0.96]));
    // A body that stands along +Z and looks along -Y is rotated by -90 degrees about +Z from one that looks along +X.
    let (shape, global) = member("pose_quat_global");
    assert_eq!((shape, member("pose_quat").0), (vec![frames, 24, 4], vec![frames, 24, 4]));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let dot = |place: usize, [x, y, z, w]: [f64; 4]| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|index| global[4 * place + index]);
        (a * x + b * y + c * z + d * w).abs()
    };
    assert!((dot(0, [0.0, 0.0, -half, half]) - 1.0).abs() < 1e-6);
    // The head is joint 13 of the humanoid: it nods about the x axis of the world, on which the left side of the body
    // is.
    let (sin, cos) = 0.145_f64.sin_cos();
    let nod = [sin * half, sin * half, -cos * half, cos * half];
    assert!(
        (dot(24 * (FRAMES - 1) + 13, nod) - 1.0).abs() < 1e-6,
        "{:?}",
        &global[4 * (24 * (FRAMES - 1) + 13)..][..4]
    );
    assert_eq!((member("beta").0, member("fps").1, member("J").0), (vec![16], vec![60.0], vec![24, 3]));
    // posse reads it back.
    let places = |file: &str| {
        folder.places(&format!("eval {file} --times 0.4 --engine reference"), &["pelvis", "head", "left_hand"])
    };
    for (found, expected) in places("phc/walk.npz").as_flattened().iter().zip(places("clips/walk.npz").as_flattened()) {
        assert!((found - expected).abs() < 1e-5);
    }
}

#[test]
fn the_layout_of_phc_warns_of_a_world_without_z_up() {
    let folder = Folder::new();
    // A body at rest stands along +Y.
    let motion = [("poses", doubles(&[2, 72], &[0.0; 144])), ("trans", doubles(&[2, 3], &[0.0; 6]))];
    folder.write("upright/still.npz", &npz(&motion));
    for (arguments, saying) in [
        ("upright -o phc --layout phc", Some("stands along +Y in most frames, but PHC expects +Z up; give --up z")),
        ("upright -o turned --layout phc --up z", None),
        ("clips -o amass --layout phc", None),
        (
            "clips -o fallen --layout phc --up z",
            Some("stands along -Y in most frames, but PHC expects +Z up; leave out"),
        ),
        ("upright -o amass --format smpl", None),
    ] {
        let [_, messages] = folder.passed(&format!("bake {arguments}"));
        let is_said = saying.map_or(!messages.contains("stands along"), |saying| messages.contains(saying));
        assert!(is_said, "{arguments}: {messages}");
    }
}

#[test]
fn what_all_files_of_a_data_set_lack_is_said_once() {
    let folder = Folder::new();
    let walk = fs::read(folder.0.path().join("clips/walk.npz")).unwrap();
    for name in ["b/one_poses.npz", "b/two_poses.npz", "three_stageii.npz"] {
        folder.write(&format!("clips/{name}"), &walk);
    }
    folder.write("clips/b/shape.npz", &npz(&[("betas", doubles(&[16], &[0.5; 16]))]));
    let [_, messages] = folder.passed("bake clips -o out --format smpl --joints pelvis");
    assert_eq!(messages.matches("those of an adult of 1.7 m").count(), 1, "{messages}");
    assert!(messages.contains("4 of 4 clips, 120 frames"), "{messages}");
    for name in ["walk.npz", "b/one_poses.npz", "b/two_poses.npz", "three_stageii.npz"] {
        assert!(folder.0.path().join("out").join(name).exists(), "{name}");
    }
    // A glob passes shapes over as a folder does; a file that is named is refused.
    let [_, messages] = folder.passed("bake clips/*/*.npz -o glob");
    assert!(messages.contains("2 of 2 clips"), "{messages}");
    assert_eq!(folder.posse("bake clips/b/shape.npz -o named").status.code(), Some(2));
}

#[test]
fn betas_change_the_joints_of_a_model_file() {
    let folder = Folder::new();
    let mut joints = [[0.0, 0.0, 0.0]; 24];
    joints[7] = [0.0, -0.8, 0.0];
    joints[15] = [0.0, 0.6, 0.0];
    (joints[20], joints[21]) = ([0.7, 0.5, 0.0], [-0.7, 0.5, 0.0]);
    // The first beta lifts the head by 0.1 m.
    let mut directions = vec![0.0; 24 * 3];
    directions[15 * 3 + 1] = 0.1;
    let model = [("J", doubles(&[24, 3], joints.as_flattened())), ("J_shapedirs", doubles(&[24, 3, 1], &directions))];
    folder.write("model.npz", &npz(&model));
    let motion = [
        ("poses", doubles(&[2, 72], &[0.0; 144])),
        ("trans", doubles(&[2, 3], &[0.0; 6])),
        ("betas", doubles(&[1], &[2.0])),
        ("fps", doubles(&[1], &[30.0])),
    ];
    folder.write("tall.npz", &npz(&motion));
    let places = folder.places("eval tall.npz --skeleton model.npz --times 0 --engine reference", &["head"]);
    assert!((places[0][1] - 0.8).abs() < 1e-6, "{places:?}");
    folder.write("mean.npz", &npz(&model[..1]));
    let [_, messages] = folder.passed("inspect tall.npz --skeleton mean.npz");
    assert!(messages.contains("betas.npy: they are not used") && messages.contains("no J_shapedirs"), "{messages}");
    // Frames per second from outside.
    let [text, _] = folder.passed("bake tall.npz -o fast --input-fps 120 --skeleton mean.npz --json");
    assert!(text.contains("\"frames\":2"), "{text}");
    let [text, _] = folder.passed("inspect tall.npz --input-fps 120 --skeleton mean.npz --json");
    assert!(text.contains("\"duration\": 0.00833"), "{text}");
}
