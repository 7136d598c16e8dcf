//! The BVH importer: hand-worked cases on every engine, spellings, parts, repaired and broken files.

/// Broken files: each is refused with the line of its error, and none does harm.
mod broken;
/// Files read in parts.
mod parts;
/// Files as people have them, which are read with a warning.
mod repaired;
/// Files that are written, read back by two readers.
mod written;

use std::fmt::Write;
use std::path::Path;

use posse::curves::Target;
use posse::glam::{DQuat, DVec3};
use posse::import::bvh::{self, Asset};
use posse::{Error, Library};

use crate::support::assert_close::{assert_rotation, assert_vector};
use crate::support::build::pose_at;
use crate::support::bvh_leg::LEG;
use crate::support::each_engine::each_engine;

fn import(text: &str) -> Result<(Library, Asset), Error> {
    let mut library = Library::new();
    let asset = bvh::from_slice(&mut library, Path::new("motion/leg.bvh"), text.as_bytes())?;
    Ok((library, asset))
}

/// A file of one joint with these channels and this frame, and its OFFSET 7 8 9.
fn one_joint(channels: &str, frame: &str) -> String {
    let count = channels.split_whitespace().count();
    format!(
        "HIERARCHY\nROOT a\n{{\nOFFSET 7 8 9\nCHANNELS {count} {channels}\n}}\nMOTION\nFrames: 1\nFrame Time: 0\n{frame}\n"
    )
}

/// The rotation that a frame of one joint gives.
fn rotation(channels: &str, frame: &str) -> DQuat {
    let (library, asset) = import(&one_joint(channels, frame)).unwrap();
    let track = library.clip(asset.clip).tracks.last().unwrap().clone();
    assert_eq!(track.target, Target::Rotation(0));
    DQuat::from_slice(track.curve.value(0))
}

/// Rotation channels of the axes of a text such as `ZXY`.
fn rotations(axes: &str) -> String {
    axes.chars().map(|axis| format!("{axis}rotation ")).collect()
}

#[test]
fn a_leg_has_the_poses_of_a_hand() {
    let (library, asset) = import(LEG).unwrap();
    assert!(asset.warnings.is_empty());
    assert_eq!((asset.frames, asset.frame_time, asset.file.to_str()), (2, 0.5, Some("motion/leg.bvh")));
    let skeleton = library.skeleton(asset.skeleton);
    let names: Vec<_> = skeleton.joints().iter().map(|joint| joint.name.as_deref().unwrap()).collect();
    assert_eq!((names.as_slice(), skeleton.name()), (&["Hips", "Upper Leg", "Foot", "Foot_end"][..], Some("leg")));
    let parents: Vec<_> = skeleton.joints().iter().map(|joint| joint.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2)]);
    let rest: Vec<_> = skeleton.joints().iter().map(|joint| joint.rest.translation.to_array()).collect();
    assert_eq!(rest, [[1.0, 2.0, 3.0], [0.0, -4.0, 0.0], [0.0, -5.0, 0.0], [0.0, 0.0, 2.0]]);
    let clip = library.clip(asset.clip);
    assert_eq!((clip.name.as_deref(), clip.duration(), clip.tracks.len()), (Some("leg"), 0.5, 4));

    // First frame: the hips stand upright at height 10. The leg turns about z by 90 degrees: down becomes +x. The toe
    // points along z, the axis.
    let first = [[0.0, 10.0, 0.0], [0.0, 6.0, 0.0], [5.0, 6.0, 0.0], [5.0, 6.0, 2.0]];
    // Last frame: the hips turn by 90 degrees about z, so that the leg begins at 4 along +x. The leg is Rz(90) Rx(90):
    // down goes by Rx to -z, which Rz leaves; the hips leave it, too. The toe, +z in the foot, goes by Rx(-90) to +y,
    // by Rx(90) back to +z. Together: Rz(90) Rz(90) Rx(90) Rx(-90) z = z.
    let last = [[2.0, 10.0, 0.0], [6.0, 10.0, 0.0], [6.0, 10.0, -5.0], [6.0, 10.0, -3.0]];
    // Half way: hips at x = 1, turned by 45 degrees about z.
    let s = 0.5_f64.sqrt();
    let half = [[1.0, 10.0, 0.0], [1.0 + 4.0 * s, 10.0 - 4.0 * s, 0.0]];
    each_engine(&library, |engine| {
        for (time, places) in [(0.0, &first[..]), (0.5, &last), (0.25, &half)] {
            let pose = pose_at(engine, &library, asset.clip, time);
            for (joint, &place) in places.iter().enumerate() {
                let what = format!("{} at {time}, joint {joint}", engine.engine());
                assert_vector(pose.model[joint].translation, place, &what);
            }
        }
    });
}

#[test]
fn three_turns_by_90_degrees_map_the_axes_in_each_order() {
    // Rx maps y to z and z to -y, Ry z to x and x to -z, Rz x to y and y to -x. The last rotation of the list applies
    // first.
    for (axes, images) in [
        ("XYZ", [DVec3::Z, -DVec3::Y, DVec3::X]),
        ("XZY", [DVec3::Y, -DVec3::X, DVec3::Z]),
        ("YXZ", [DVec3::X, DVec3::Z, -DVec3::Y]),
        ("YZX", [DVec3::Y, DVec3::X, -DVec3::Z]),
        ("ZXY", [-DVec3::X, DVec3::Z, DVec3::Y]),
        ("ZYX", [-DVec3::Z, DVec3::Y, DVec3::X]),
    ] {
        let (library, asset) = import(&one_joint(&rotations(axes), "90 90 90")).unwrap();
        each_engine(&library, |engine| {
            let pose = pose_at(engine, &library, asset.clip, 0.0);
            for (axis, image) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().zip(images) {
                let what = format!("{} {axes} {axis}", engine.engine());
                assert_vector(pose.model[0].matrix3 * axis, image.to_array(), &what);
            }
        });
    }
}

#[test]
fn rotations_are_those_of_forty_digits() {
    // Products of quaternions (sin of half the angle along the axis, cos) by mpmath with 40 digits.
    let angles = "12.5 -77.25 163.75";
    for (axes, frame, expected) in [
        (
            "XYZ",
            angles,
            [-0.602_261_074_999_914_5, -0.171_897_019_297_590_24, 0.759_204_639_695_039, 0.177_034_819_631_837_7],
        ),
        (
            "XZY",
            angles,
            [0.626_302_430_780_891_9, 0.778_413_782_815_075_3, -0.003_500_414_460_444_756, 0.042_485_232_964_832_406],
        ),
        (
            "YXZ",
            angles,
            [-0.003_500_414_460_444_756, 0.626_302_430_780_891_9, 0.778_413_782_815_075_3, 0.042_485_232_964_832_406],
        ),
        (
            "YZX",
            angles,
            [0.759_204_639_695_039, -0.602_261_074_999_914_5, -0.171_897_019_297_590_24, 0.177_034_819_631_837_7],
        ),
        (
            "ZXY",
            angles,
            [-0.171_897_019_297_590_24, 0.759_204_639_695_039, -0.602_261_074_999_914_5, 0.177_034_819_631_837_7],
        ),
        (
            "ZYX",
            angles,
            [0.778_413_782_815_075_3, -0.003_500_414_460_444_756, 0.626_302_430_780_891_9, 0.042_485_232_964_832_406],
        ),
        (
            "ZXZ",
            angles,
            [-0.154_973_510_212_520_14, 0.604_677_181_330_385_1, 0.780_829_889_145_545_8, 0.025_561_723_879_762_305],
        ),
        (
            "YX",
            "12.5 -77.25",
            [-0.620_510_384_180_903_5, 0.085_052_047_753_809_64, 0.067_956_939_402_22, 0.776_604_704_263_136_8],
        ),
        ("Z", "12.5", [0.0, 0.0, 0.108_866_874_851_964_58, 0.994_056_338_222_319_6]),
        // Many turns lose nothing, because they are taken away in degrees.
        (
            "ZXY",
            "3600012.5 -100000.25 1234567.5",
            [-0.206_939_346_246_719_1, -0.715_079_499_417_895_2, -0.608_533_746_398_293_4, -0.274_816_476_910_847_56],
        ),
    ] {
        let (own, expected) = (rotation(&rotations(axes), frame), DQuat::from_array(expected));
        let expected = if own.dot(expected) < 0.0 { -expected } else { expected };
        assert!((own - expected).length() < 4e-16, "{axes} {frame}: {own}, expected {expected}");
    }
}

#[test]
fn positions_have_any_order_and_the_offset_elsewhere() {
    for (channels, frame, expected) in [
        ("Xposition Yposition Zposition", "1 2 3", [1.0, 2.0, 3.0]),
        ("Zposition Xposition Yposition", "1 2 3", [2.0, 3.0, 1.0]),
        ("Yposition", "-5", [7.0, -5.0, 9.0]),
        ("Zposition Xrotation Xposition", "1 0 2", [2.0, 8.0, 1.0]),
        ("Xrotation", "30", [7.0, 8.0, 9.0]),
        ("", "", [7.0, 8.0, 9.0]),
    ] {
        let (library, asset) = import(&one_joint(channels, frame)).unwrap();
        let moves = library.clip(asset.clip).tracks.iter().any(|track| track.target == Target::Translation(0));
        assert_eq!(moves, channels.contains("position"), "{channels}");
        each_engine(&library, |engine| {
            let pose = pose_at(engine, &library, asset.clip, 0.0);
            assert_vector(pose.local[0].translation, expected, &format!("{} {channels}", engine.engine()));
        });
    }
    let turned = rotation("Zposition Xrotation Xposition Yrotation", "1 90 2 180");
    // Rx(90) Ry(180), of quaternions (s, 0, 0, s) and (0, 1, 0, 0).
    let s = 0.5_f64.sqrt();
    assert_rotation(turned, DQuat::from_xyzw(0.0, s, s, 0.0), "rotations between positions");
}

#[test]
fn slerp_takes_the_shorter_way_between_frames() {
    // From 170 to 190 degrees, which a file may also write as -170.
    for last in ["190", "-170", "550"] {
        let text = one_joint("Zrotation", "170").replace("Frames: 1", "Frames: 2").replace("Time: 0", "Time: 1");
        let (library, asset) = import(&format!("{text}{last}\n")).unwrap();
        let curve = &library.clip(asset.clip).tracks[0].curve;
        let dot = DQuat::from_slice(curve.value(0)).dot(DQuat::from_slice(curve.value(1)));
        assert!((dot - 10.0_f64.to_radians().cos()).abs() < 1e-15, "{last}: {dot}");
        each_engine(&library, |engine| {
            let pose = pose_at(engine, &library, asset.clip, 0.5);
            let expected = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);
            assert_rotation(pose.local[0].rotation, expected, &format!("{} {last}", engine.engine()));
        });
    }
}

#[test]
fn usual_spellings_give_the_same_clip() {
    let (library, asset) = import(LEG).unwrap();
    let lower = LEG.to_lowercase().replace("hips", "Hips").replace("upper leg", "Upper Leg").replace("foot", "Foot");
    let (head, motion) = LEG.split_once("MOTION").unwrap();
    // All words of the head on one line. A brace ends a name.
    let on_one_line = format!("{}MOTION{motion}", head.replace(['\n', '\t'], " "));
    for (what, text) in [
        ("CRLF", LEG.replace('\n', "\r\n")),
        ("lower case", lower),
        (
            "upper case",
            LEG.replace("End Site", "END SITE").replace("rotation", "ROTATION").replace("position", "POSITION"),
        ),
        ("trailing spaces", LEG.replace('\n', " \t\n")),
        ("tabs", LEG.replace(' ', "\t").replace("Upper\tLeg", "Upper Leg")),
        ("empty lines", LEG.replace('\n', "\n\n \n")),
        ("byte order mark", format!("\u{feff}{LEG}")),
        ("no end of the last line", LEG.trim_end().to_owned()),
        ("one line", on_one_line.clone()),
        (
            "one line with MOTION",
            on_one_line.replace("Frames: 2\nFrame", "Frames: 2 Frame").replace("MOTION\n", "MOTION "),
        ),
        ("no space around braces", on_one_line.replace(" { ", "{").replace(" } ", "}")),
        ("spaces before colons", LEG.replace("Frames:", "Frames :").replace("Time:", "Time\t:")),
        ("no space after colons", LEG.replace(": ", ":")),
        ("no colons", LEG.replace(": ", " ")),
        ("lines of old Macintoshes", LEG.replace('\n', "\r")),
        ("End Site with a number", LEG.replace("End Site", "End Site5")),
        ("signs and points", LEG.replace("10 0 0 ", "+10. .0 -0 ").replace("90 90", "9e1 0.9E+2")),
        (
            "OFFSET after the children",
            LEG.replace("\tOFFSET 1.0 2.0 3.0\n", "").replace("\n}\nMOTION", "\nOFFSET 1 2 3\n}\nMOTION"),
        ),
    ] {
        let (other, found) = import(&text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        assert!(other == library && found == asset, "{what}:\n{text}");
    }
}

#[test]
fn several_roots_and_branches_keep_the_order_of_the_file() {
    let text = "HIERARCHY
        ROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition
            JOINT b { OFFSET 0 1 0 CHANNELS 1 Yposition End Site { OFFSET 0 0 1 } End Site { OFFSET 0 0 2 } }
            JOINT c { OFFSET 0 2 0 CHANNELS 0 } }
        ROOT d { OFFSET 5 0 0 CHANNELS 1 Zposition }
        MOTION Frames: 1 Frame Time: -1
        1 2 3";
    let (library, asset) = import(text).unwrap();
    let joints = library.skeleton(asset.skeleton).joints();
    let names: Vec<_> = joints.iter().map(|joint| (joint.name.as_deref().unwrap(), joint.parent)).collect();
    let expected = [("a", None), ("b", Some(0)), ("b_end", Some(1)), ("b_end", Some(1)), ("c", Some(0)), ("d", None)];
    assert_eq!(names, expected);
    let clip = library.clip(asset.clip);
    let tracks: Vec<_> = clip.tracks.iter().map(|track| (track.target, track.curve.value(0).to_vec())).collect();
    let expected = [
        (Target::Translation(0), vec![1.0, 0.0, 0.0]),
        (Target::Translation(1), vec![0.0, 2.0, 0.0]),
        (Target::Translation(5), vec![5.0, 0.0, 3.0]),
    ];
    assert_eq!(tracks, expected);
    // A frame time of -1 does not move the only frame to -0.
    assert_eq!(clip.tracks[0].curve.timeline().first().to_bits(), 0);
    let [warning] = asset.warnings.as_slice() else { panic!("{:?}", asset.warnings) };
    assert_eq!(warning.path, "line 3");
    assert!(warning.message.starts_with("the name \"b_end\" is also that of the joint of line 3"), "{warning}");
}

#[test]
fn no_frames_give_the_rest_pose() {
    let head = &LEG[..LEG.find("Frames").unwrap()];
    for motion in ["Frames: 0\nFrame Time: 0.5\n", "Frames: 0\nFrame Time: 0", "Frames: 0", "Frames: 0\n\n \n"] {
        let (library, asset) = import(&format!("{head}{motion}")).unwrap();
        let clip = library.clip(asset.clip);
        assert_eq!((asset.frames, clip.tracks.len(), clip.duration()), (0, 0, 0.0), "{motion}");
        each_engine(&library, |engine| {
            let pose = pose_at(engine, &library, asset.clip, 0.0);
            assert_vector(pose.model[3].translation, [1.0, -7.0, 5.0], engine.engine());
        });
    }
    let (library, asset) =
        import("HIERARCHY ROOT a { OFFSET 1 2 3 CHANNELS 0 } MOTION Frames: 4 Frame Time: 1").unwrap();
    assert_eq!((asset.frames, library.clip(asset.clip).tracks.len()), (0, 0));
    assert!(asset.warnings[0].message.starts_with("no joint has a channel"), "{:?}", asset.warnings);
}

#[test]
fn a_file_joins_a_library_that_has_others() {
    let (mut library, first) = import(LEG).unwrap();
    let second = bvh::from_slice(&mut library, Path::new("b.bvh"), LEG.as_bytes()).unwrap();
    assert_ne!((first.skeleton, first.clip), (second.skeleton, second.clip));
    assert_eq!(library.clip(second.clip).skeleton, second.skeleton);
    let before = library.clone();
    bvh::from_slice(&mut library, Path::new("c.bvh"), &LEG.as_bytes()[..LEG.len() - 9]).unwrap_err();
    assert!(library == before, "a broken file changes nothing");
}

#[test]
fn depth_has_no_limit_but_memory() {
    let depth = 100_000;
    let mut text = String::from("HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\n");
    for joint in 0..depth {
        let _ = writeln!(text, "JOINT {joint}\n{{ OFFSET 0 0 0 CHANNELS 0");
    }
    text.push_str(&"}\n".repeat(depth + 1));
    let (library, asset) = import(&(text.clone() + "MOTION\nFrames: 0\n")).unwrap();
    assert_eq!(library.skeleton(asset.skeleton).joints()[depth].parent, Some(depth - 1));
    let error = import(&text).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}: the file ends; expected ROOT or MOTION", 5 + 3 * depth + 1)), "{error}");
}
