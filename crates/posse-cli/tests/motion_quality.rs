//! Contacts of feet, measures of clips and held feet, through the commands: a walk without an error, made in code, and
//! the same on a rig whose legs have other proportions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::walking::{self, STANCE, THIGH_AND_CALF};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.path("walk.bvh"), walking::bvh(THIGH_AND_CALF, 181)).unwrap();
        fs::write(folder.path("rig.bvh"), walking::bvh([0.36, 0.50], 1)).unwrap();
        fs::write(folder.path("slow.bvh"), walking::bvh(THIGH_AND_CALF, 61)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.output().unwrap()
    }

    #[track_caller]
    fn passed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refused(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The lines of a manifest.
fn manifest(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("manifest-00000.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A member of an npz file: the description of its type and shape, and its bytes.
fn member(file: &Path, name: &str) -> (String, Vec<u8>) {
    let mut zip = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut zip.by_name(&format!("{name}.npy")).unwrap(), &mut bytes).unwrap();
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (String::from_utf8(bytes[10..end].to_vec()).unwrap(), bytes[end..].to_vec())
}

#[test]
fn inspect_measures_clips() {
    let folder = Folder::new();
    let text = folder.passed("inspect walk.bvh --quality");
    for part in ["a leg is 0.8500", "contact: LeftFoot ", "jumps: 0", "jitter:", "ground: at", "skate: 0.0"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_str(&folder.passed("inspect walk.bvh --quality --json")).unwrap();
    let quality = &json["clips"][0]["quality"];
    assert_eq!((&quality["frames"], &quality["unit_is"]), (&181.into(), &"leg".into()));
    assert_eq!(quality["feet"]["names"], serde_json::json!(["LeftFoot", "RightFoot"]));
    assert!((quality["unit"].as_f64().unwrap() - 0.85).abs() < 1e-9);
    assert!((quality["fps"].as_f64().unwrap() - 60.0).abs() < 1e-9);
    for foot in 0..2 {
        assert!((quality["feet"]["contact"][foot].as_f64().unwrap() - STANCE).abs() < 0.1, "{quality}");
    }
    // Without the option, nothing is measured.
    let json: Value = serde_json::from_str(&folder.passed("inspect walk.bvh --json")).unwrap();
    assert!(json["clips"][0].get("quality").is_none());
    // Far above the ground, no foot is in contact.
    let json: Value = serde_json::from_str(&folder.passed("inspect walk.bvh --quality --ground -2 --json")).unwrap();
    assert_eq!(json["clips"][0]["quality"]["feet"]["contact"], serde_json::json!([0.0, 0.0]));
    assert!(folder.refused("inspect walk.bvh --quality --ground up").contains("expected auto or a height"));
}

/// The left foot is planted for 0.6 s of each second, from 0 on. At 20 frames per second, that is frame 0 to 12 of 20.
#[test]
fn bake_writes_contacts() {
    let folder = Folder::new();
    folder.passed("bake walk.bvh -o baked --arrays pos,contact --fps 20");
    let file = folder.path("baked/walk.npz");
    let (header, contacts) = member(&file, "contact");
    assert!(header.contains("'|b1'") && header.contains("(61, 2)"), "{header}");
    assert!(contacts.iter().all(|&byte| byte <= 1));
    for (frame, feet) in contacts.chunks_exact(2).enumerate() {
        for (foot, &byte) in feet.iter().enumerate() {
            let phase = (frame as f64 / 20.0 + 0.5 * foot as f64).fract();
            // A foot lands and lifts within a frame of 60.
            if [0.0, STANCE, 1.0].iter().all(|edge| (phase - edge).abs() > 0.051) {
                assert_eq!(byte == 1, phase < STANCE, "frame {frame}, foot {foot}");
            }
        }
    }
    let (header, names) = member(&file, "contact_feet");
    assert!(header.contains("'<U9'") && header.contains("(2,)"), "{header}");
    assert_eq!((names[0], names.len()), (b'L', 2 * 9 * 4));
    // Other outputs do not have them.
    folder.passed("bake walk.bvh -o plain");
    let mut zip = zip::ZipArchive::new(fs::File::open(folder.path("plain/walk.npz")).unwrap()).unwrap();
    assert!(zip.by_name("contact_feet.npy").is_err());
    assert!(manifest(&folder.path("plain"))[0]["clips"][0].get("quality").is_none());
    for format in ["--format glb", "--format usda", "--layout mjlab"] {
        let message = folder.refused(&format!("bake walk.bvh -o other --arrays contact {format}"));
        assert!(message.contains("--format npz, parquet or packed"), "{message}");
    }
}

#[test]
fn a_rig_without_feet_has_no_contacts() {
    let folder = Folder::new();
    let text = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition End Site { OFFSET 0 1 0 } }\n\
        MOTION\nFrames: 3\nFrame Time: 0.1\n0 0 0\n0 1 0\n0 0 0\n";
    fs::write(folder.path("chain.bvh"), text).unwrap();
    let output = folder.run("bake chain.bvh -o baked --arrays contact,pos --quality --foot-lock");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no feet are known"), "{output:?}");
    assert!(member(&folder.path("baked/chain.npz"), "contact").0.contains("(3, 0)"));
    let clip = &manifest(&folder.path("baked"))[0]["clips"][0];
    let warning = clip["warnings"][0].as_str().unwrap();
    let results = "the array contact is empty, feet are not measured, no foot is held";
    assert!(warning.starts_with("no feet are known") && warning.ends_with(results), "{warning}");
    let quality = &clip["quality"];
    assert_eq!((&quality["feet"], &quality["unit_is"]), (&Value::Null, &"rig".into()));
}

#[test]
fn the_manifest_has_the_quality_of_each_clip() {
    let folder = Folder::new();
    let lines = folder.passed("bake walk.bvh slow.bvh -o baked --quality --json");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = manifest(&folder.path("baked"));
    assert_eq!((lines.len(), listed.len()), (2, 2));
    for line in &listed {
        let clip = &line["clips"][0];
        let printed = lines.iter().find(|line| line["clip"] == clip["clip"]).unwrap();
        assert_eq!(printed["quality"], clip["quality"]);
        assert!(clip["quality"]["feet"]["skate"].as_f64().unwrap() < 0.1, "{clip}");
    }
    // Outputs that were not measured are made anew, others are kept.
    let statuses = |text: String| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone()).collect()
    };
    assert_eq!(statuses(folder.passed("bake walk.bvh -o baked --quality --json --resume")), ["kept"]);
    assert_eq!(statuses(folder.passed("bake walk.bvh -o baked --json --resume")), ["baked"]);
    assert_eq!(statuses(folder.passed("bake walk.bvh -o baked --quality --json --resume")), ["baked"]);
    folder.passed("bake --check baked walk.bvh --quality");
}

/// Below the measures of the last clip stands what they mean, once.
#[test]
fn measures_are_explained() {
    let folder = Folder::new();
    let text = folder.passed("inspect walk.bvh --quality");
    for measure in ["contact", "skate", "ground", "jumps", "jitter", "seam"] {
        let is_explained =
            |line: &str| line.strip_prefix("  ").is_some_and(|line| line.starts_with(&format!("{measure} ")));
        assert_eq!(text.lines().filter(|line| is_explained(line)).count(), 1, "{measure}: {text}");
    }
    assert!(text.contains("docs/command-line.md, section inspect"), "{text}");
    assert!(!folder.passed("inspect walk.bvh").contains("measures"));
}

/// Contacts and measures of a piece come from its frames, here one cycle from the landing of the left foot on. A
/// mirror image has the contacts of the other foot.
#[test]
fn pieces_and_mirror_images_have_their_own_contacts() {
    let folder = Folder::new();
    folder.passed("bake walk.bvh -o whole --arrays contact --quality --mirror");
    folder.passed("bake walk.bvh -o piece --arrays contact,linvel --quality --foot-lock --frame-range 60:120");
    let contacts = |file: &str| member(&folder.path(file), "contact").1;
    let (whole, mirrored, piece) =
        (contacts("whole/walk.npz"), contacts("whole/walk_mirror.npz"), contacts("piece/walk.npz"));
    let swapped = |feet: &[u8]| [feet[1], feet[0]];
    assert_eq!(mirrored.chunks_exact(2).flat_map(swapped).collect::<Vec<u8>>(), whole);
    // At its ends, a piece has no frames from which the velocities follow.
    assert_eq!((whole.len(), piece.len()), (2 * 181, 2 * 61));
    assert_eq!(piece[2 * 2..2 * 59], whole[2 * 62..2 * 119]);
    let quality = &manifest(&folder.path("piece"))[0]["clips"][0]["quality"];
    assert_eq!(quality["frames"], 61);
}

/// The bytes of the other arrays do not depend on whether a clip is measured.
#[test]
fn measures_do_not_change_arrays() {
    let folder = Folder::new();
    folder.passed("bake walk.bvh -o plain --arrays pos,linvel");
    folder.passed("bake walk.bvh -o measured --arrays pos,linvel,contact --quality");
    for array in ["pos", "linvel", "time"] {
        let of = |out: &str| member(&folder.path(out).join("walk.npz"), array);
        assert_eq!(of("plain"), of("measured"), "{array}");
    }
}

/// On legs of other proportions, planted feet slide; held ones slide less than a tenth as far.
#[test]
fn foot_lock_removes_the_slide() {
    let folder = Folder::new();
    folder.passed("bake walk.bvh -o locked --rig rig.bvh --retarget --foot-lock --arrays pos,contact");
    let quality = &manifest(&folder.path("locked"))[0]["clips"][0]["quality"];
    // The skate also has low feet that take off and land, which slide in the walk without an error, too.
    for (measure, most) in [("skate", 0.7), ("slide_speed", 0.1), ("longest_slide", 0.1)] {
        let of = |feet: &Value| feet[measure].as_f64().unwrap();
        let (before, after) = (of(&quality["before_foot_lock"]), of(&quality["feet"]));
        assert!(before > 0.01 && after < most * before, "{measure}: {before}, then {after}");
    }
    // The bytes that are written are the bytes of held feet, also for eval.
    folder.passed("bake walk.bvh -o free --rig rig.bvh --retarget --arrays pos,contact");
    let place = |file: &Path| -> Vec<f32> {
        let (_, bytes) = member(file, "pos");
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let (free, locked) = (place(&folder.path("free/walk.npz")), place(&folder.path("locked/walk.npz")));
    assert_ne!(free, locked);
    let options = "--retarget --foot-lock --fps 60 --format npz --outputs model -o eval.npz --engine cpu";
    folder.passed(&format!("eval walk.bvh --rig rig.bvh {options}"));
    let (header, bytes) = member(&folder.path("eval.npz"), "model");
    assert!(header.contains("'<f4'"), "{header}");
    let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let places: Vec<f32> = numbers.chunks_exact(16).flat_map(|matrix| [matrix[3], matrix[7], matrix[11]]).collect();
    assert_eq!(places.len(), locked.len());
    assert!(places.iter().zip(&locked).all(|(one, other)| (one - other).abs() < 1e-4));
}
