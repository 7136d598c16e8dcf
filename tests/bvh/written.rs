//! BVH files that are written: a rig that was worked out by hand, and clips that come back by the importer and by a
//! second reader.

use std::path::{Path, PathBuf};

use glam::{DMat4, DQuat, DVec3};
use posse::curves::{Interpolation, Target};
use posse::export::bvh::{ClipFile, Options};
use posse::import::{bvh, gltf};
use posse::{
    ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Pose, Reference, Skeleton, Ticks, Transform,
    bake, demo,
};

use crate::support::build::{clip, curve, degrees, library};
use crate::support::bvh_leg::LEG;
use crate::support::bvh_reader::{BvhMotion, read_bvh};
use crate::support::skip::collected_folder_or_skip;

/// The largest error of places by the rounding of angles and positions, as a share of the size of the skeleton.
const MAX_ROUNDING: f64 = 1e-6;

/// The largest error of places in real files, in which bones in a row are still within 1e-5 each.
const MAX_ERROR: f64 = 5e-5;

fn written(library: &Library, clip: ClipId, fps: f64, options: &Options) -> (String, Vec<String>) {
    let mut file = ClipFile::new(library, clip, fps, options).unwrap();
    let mut text = Vec::new();
    file.write(&mut text).unwrap();
    (String::from_utf8(text).unwrap(), file.notes())
}

fn named(name: &str, parent: Option<usize>, translation: [f64; 3], rotation: DQuat) -> Joint {
    let rest = Transform { translation: translation.into(), rotation, ..Transform::IDENTITY };
    Joint { name: Some(name.into()), parent, rest, ..Joint::default() }
}

#[test]
fn a_leg_is_written_as_worked_out_by_hand() {
    // At rest, the upper leg is rotated by 90 degrees about x, so that its z points down: the foot is 5 below it. The
    // foot is rotated back, and its end is 2 ahead.
    let (forth, back) = (degrees(DVec3::X, 90.0), degrees(DVec3::X, -90.0));
    let (mut library, skeleton) = library(vec![
        named("hip", None, [0.0, 10.0, 0.0], DQuat::IDENTITY),
        named("upper leg", Some(0), [0.0, -4.0, 0.0], forth),
        named("foot", Some(1), [0.0, 0.0, 5.0], back),
        named("foot_end", Some(2), [0.0, 0.0, 2.0], DQuat::IDENTITY),
    ]);
    // The upper leg rotates by 90 degrees about z of model space.
    let turned = degrees(DVec3::Z, 90.0) * forth;
    let rotations = [forth.to_array(), turned.to_array()].concat();
    let clip = clip(
        &mut library,
        skeleton,
        vec![
            (Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0, 0.5], &[0.0, 10.0, 0.0, 2.0, 10.0, 0.0])),
            (Target::Rotation(1), curve(Interpolation::Linear, 4, &[0.0, 0.5], &rotations)),
        ],
    );
    let (text, notes) = written(&library, clip, 2.0, &Options::default());
    let expected = "HIERARCHY
ROOT hip
{
\tOFFSET 0 10 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT upper_leg
\t{
\t\tOFFSET 0 -4 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tJOINT foot
\t\t{
\t\t\tOFFSET 0 -5 0
\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 0 2
\t\t\t}
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.5
0 10 0 0 0 0 0 0 0 0 0 0
2 10 0 0 0 0 90 0 0 0 0 0
";
    assert_eq!(text, expected);
    assert!(notes.len() == 1 && notes[0].contains("\"upper leg\" as upper_leg"), "{notes:?}");
}

#[test]
fn joints_that_move_have_positions_and_scales_are_in_the_offsets() {
    let root = Joint {
        rest: Transform { scale: DVec3::splat(2.0), ..Transform::IDENTITY },
        name: Some("root".into()),
        ..Joint::default()
    };
    let (mut library, skeleton) = library(vec![
        root,
        named("still", Some(0), [1.0, 0.0, 0.0], DQuat::IDENTITY),
        named("slides", Some(0), [0.0, 1.0, 0.0], DQuat::IDENTITY),
        // One root is enough for a file, but two are allowed.
        named("other", None, [0.0, 0.0, 3.0], DQuat::IDENTITY),
    ]);
    let slide = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.0, 1.5, 0.0]);
    let slid = clip(&mut library, skeleton, vec![(Target::Translation(2), slide.clone())]);
    let (text, notes) = written(&library, slid, 1.0, &Options::default());
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let after = |name: &str| {
        let place =
            lines.iter().position(|line| *line == name).unwrap_or_else(|| panic!("{name} is missing in {text}"));
        (lines[place + 2], lines[place + 3])
    };
    assert_eq!(after("JOINT still"), ("OFFSET 2 0 0", "CHANNELS 3 Zrotation Xrotation Yrotation"));
    let six = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    assert_eq!(after("JOINT slides"), ("OFFSET 0 2 0", six));
    assert_eq!(after("ROOT other"), ("OFFSET 0 0 3", six));
    // The End Site of a joint at the end of a branch is a tenth of its OFFSET.
    assert!(lines.windows(3).any(|lines| lines == ["End Site", "{", "OFFSET 0.2 0 0"]), "{text}");
    assert_eq!(lines.last(), Some(&"0 0 0 0 0 0 0 0 0 0 3 0 0 0 0 0 0 3 0 0 0"));
    assert!(notes.len() == 1 && notes[0].contains("2 roots"), "{notes:?}");

    let grow = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[2.0, 2.0, 2.0, 4.0, 4.0, 4.0]);
    let grown = clip(&mut library, skeleton, vec![(Target::Scale(0), grow)]);
    let (text, notes) = written(&library, grown, 1.0, &Options::default());
    let motion = read_bvh(&text);
    assert_eq!(motion.matrix("still", 1).unwrap().w_axis.truncate(), DVec3::new(4.0, 0.0, 0.0));
    assert!(notes.iter().any(|note| note.contains("where that of root changes")), "{notes:?}");

    // Joints can be selected. A parent that is left out moves its children.
    let options = Options { joints: Some(vec![2]), ..Options::default() };
    let (text, _) = written(&library, slid, 1.0, &options);
    assert!(
        text.starts_with("HIERARCHY\nROOT slides\n{\n\tOFFSET 0 2 0\n") && text.ends_with("\n0 3 0 0 0 0\n"),
        "{text}"
    );
    let options = Options { joints: Some(vec![9]), ..Options::default() };
    assert!(ClipFile::new(&library, slid, 1.0, &options).is_err());
    let options = Options { joints: Some(Vec::new()), ..Options::default() };
    let error = ClipFile::new(&library, slid, 1.0, &options).err().unwrap().to_string();
    assert!(error.contains("there are no joints"), "{error}");
}

#[test]
fn still_joints_have_no_positions_and_ends_that_rotate_are_joints() {
    // 10 from the root to the end, so that a movement of 1e-4 is noise.
    for (moved, is_still, angle, is_end) in [(9e-5, true, 0.01, true), (2e-4, false, 1.0, false)] {
        let (mut library, skeleton) = library(vec![
            named("hip", None, [0.0, 7.0, 0.0], DQuat::IDENTITY),
            named("foot", Some(0), [0.0, -8.0, 0.0], DQuat::IDENTITY),
            named("foot_end", Some(1), [0.0, -2.0, 0.0], DQuat::IDENTITY),
        ]);
        let noise = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, -8.0, 0.0, moved, -8.0, 0.0]);
        let rotations = [DQuat::IDENTITY.to_array(), degrees(DVec3::X, angle).to_array()].concat();
        let rotation = curve(Interpolation::Linear, 4, &[0.0, 1.0], &rotations);
        let clip = clip(&mut library, skeleton, vec![(Target::Translation(1), noise), (Target::Rotation(2), rotation)]);
        let (text, notes) = written(&library, clip, 1.0, &Options::default());
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(text.matches("CHANNELS 6").count(), if is_still { 1 } else { 2 }, "{text}");
        assert_eq!(!text.contains("JOINT foot_end"), is_end, "{text}");
        assert_eq!(text.matches("End Site").count(), 1, "{text}");
    }
}

/// A file with a ROOT away from the origin, three orders of rotations, two branches, and frames at 120 per second.
const BRANCHES: &str = "HIERARCHY
ROOT Hips
{
\tOFFSET -12.5 91.25 3
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT LeftLeg
\t{
\t\tOFFSET 8.125 -4 0
\t\tCHANNELS 3 Xrotation Yrotation Zrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -40.5 2.25
\t\t}
\t}
\tJOINT Spine
\t{
\t\tOFFSET 0 10.0625 -1
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tJOINT Head
\t\t{
\t\t\tOFFSET 0 50 0
\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 20 0
\t\t\t}
\t\t}
\t}
}
MOTION
Frames: 4
Frame Time: 0.0083333
-12.5 91.25 3 0 0 0 0 0 0 0 0 0 0 0 0
10.25 90 4 10 -20 30 5 40 -7 8 9 10 -60 20 3
11.5 89.5 5.125 12 -22 33 5 80 -7 8 9 10 -90 20 3
13 89 6 170 -24 36 5 100 -7 8 9 10 -120 20 3
";

#[test]
fn a_bvh_file_is_that_file_again() {
    let mut library = Library::new();
    let asset = bvh::from_slice(&mut library, Path::new("branches.bvh"), BRANCHES.as_bytes()).unwrap();
    let (text, notes) = written(&library, asset.clip, 1.0 / asset.frame_time, &Options::default());
    assert!(notes.is_empty(), "{notes:?}");
    let hierarchy = |text: &str| -> Vec<String> {
        let lines = text.lines().take_while(|line| *line != "MOTION").filter(|line| !line.contains("CHANNELS"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(hierarchy(&text), hierarchy(BRANCHES));
    let [own, other] = [text.as_str(), BRANCHES].map(read_bvh);
    assert_eq!(own.names, other.names);
    assert_eq!((own.frame_time, own.frames.len()), (1.0 / 120.0, 4));
    for (frame, (own, other)) in own.frames.iter().zip(&other.frames).enumerate() {
        for (own, other) in own.iter().zip(other) {
            assert!(own.abs_diff_eq(*other, 2e-5), "frame {frame}: {own} instead of {other}");
        }
    }
}

#[test]
fn places_beyond_the_range_of_readers_are_refused() {
    let huge = Transform { scale: DVec3::splat(1e30), ..Transform::IDENTITY };
    let root = Joint { rest: huge, ..Joint::default() };
    let (mut library, skeleton) = library(vec![root, named("far", Some(0), [0.0, 1e30, 0.0], DQuat::IDENTITY)]);
    let still = clip(&mut library, skeleton, Vec::new());
    let error = ClipFile::new(&library, still, 30.0, &Options::default()).err().unwrap().to_string();
    assert!(error.contains("the place of far is beyond the range"), "{error}");
}

/// The poses of the frames of a clip by the reference.
fn poses(library: &Library, clip: ClipId, times: &[f64]) -> Vec<Pose> {
    let mut crowd = Crowd::new();
    for &time in times {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
    Reference::new(library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap().instances
}

/// The rotation of a joint in model space, without scales.
fn rotation(skeleton: &Skeleton, pose: &Pose, joint: usize) -> DQuat {
    let parent = skeleton.joints()[joint].parent.map_or(DQuat::IDENTITY, |parent| rotation(skeleton, pose, parent));
    parent * pose.local[joint].rotation
}

/// Compares a written file with the poses of its clip, by both readers. Returns the number of joints compared.
fn assert_same_motion(what: &str, library: &Library, clip: ClipId, fps: f64, text: &str, most: f64) -> usize {
    let motion = read_bvh(text);
    assert_eq!(motion.frame_time, 1.0 / fps, "{what}");
    let duration = library.clip(clip).duration();
    let times: Vec<f64> = (0..motion.frames.len()).map(|frame| (frame as f64 / fps).min(duration)).collect();
    let skeleton = library.skeleton(library.clip(clip).skeleton);
    let mut compared = 0;
    for (frame, pose) in poses(library, clip, &times).iter().enumerate() {
        let size =
            pose.model.iter().map(|joint| joint.translation.distance(pose.model[0].translation)).fold(0.0, f64::max);
        for (joint, node) in skeleton.joints().iter().enumerate() {
            let is_only = skeleton.joints().iter().filter(|other| other.name == node.name).count() == 1;
            let Some(name) = node.name.as_deref().filter(|_| is_only) else { continue };
            let Some(found) = motion.matrix(&name.replace(' ', "_"), frame) else { continue };
            compared += 1;
            let (found, expected) = (found.w_axis.truncate(), pose.model[joint].translation);
            // Joints that all rest in one place have no size; decimals are then as for lengths near 1.
            let error = found.distance(expected) / if size > 0.0 { size.max(0.01) } else { 1.0 };
            assert!(error < most, "{what}, frame {frame}, {name}: {found} instead of {expected}");
        }
    }
    assert_importer_agrees(what, &motion, text);
    compared
}

/// Compares the importer with the second reader.
fn assert_importer_agrees(what: &str, motion: &BvhMotion, text: &str) {
    let mut library = Library::new();
    let asset = bvh::from_slice(&mut library, Path::new("written.bvh"), text.as_bytes()).unwrap();
    assert_eq!(asset.frame_time, motion.frame_time, "{what}");
    let times: Vec<f64> = (0..motion.frames.len()).map(|frame| frame as f64 * asset.frame_time).collect();
    for (pose, matrices) in poses(&library, asset.clip, &times).iter().zip(&motion.frames) {
        for (found, expected) in pose.model.iter().zip(matrices) {
            let most = 1e-6 * expected.w_axis.truncate().length().max(1.0);
            assert!(DMat4::from(*found).abs_diff_eq(*expected, most), "{what}: {found:?}, {expected:?}");
        }
    }
}

#[test]
fn clips_come_back_in_each_order_without_jumps() {
    let library = demo::library().unwrap();
    for order in ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"] {
        let options = Options { order: order.parse().unwrap(), ..Options::default() };
        for name in ["walk", "wave", "jump"] {
            let clip = library.find_clip(name).unwrap();
            let (text, notes) = written(&library, clip, 60.0, &options);
            // The pelvis is squashed in one of them.
            let is_scaled = library.clip(clip).tracks.iter().any(|track| matches!(track.target, Target::Scale(_)));
            assert_eq!(notes.iter().filter(|note| note.contains("scale")).count(), usize::from(is_scaled), "{notes:?}");
            assert_eq!(notes.len(), usize::from(is_scaled), "{notes:?}");
            let compared = assert_same_motion(&format!("{name} in {order}"), &library, clip, 60.0, &text, MAX_ROUNDING);
            assert!(compared >= 64, "{name}: {compared} joints");
            assert!(text.contains(&format!("{}rotation", &order[..1])));
            // Nothing turns by a quarter within a sixtieth of a second, unless gimbal lock is near.
            let step = read_bvh(&text).largest_step();
            assert!(step < 181.0, "{name} in {order}: a step of {step} degrees");
        }
    }
}

#[test]
fn a_spin_goes_on_beyond_180_degrees() {
    let (mut library, skeleton) = library(vec![named("top", None, [0.0; 3], DQuat::IDENTITY)]);
    let times: Vec<f64> = (0..=40).map(|key| f64::from(key) * 0.1).collect();
    let keys: Vec<f64> = (0..=40).flat_map(|key| degrees(DVec3::Y, 50.0 * f64::from(key)).to_array()).collect();
    let spin =
        clip(&mut library, skeleton, vec![(Target::Rotation(0), curve(Interpolation::Linear, 4, &times, &keys))]);
    let (text, _) = written(&library, spin, 10.0, &Options::default());
    assert!(text.ends_with("\n0 0 0 0 0 2000\n"), "{text}");
}

#[test]
fn rotations_are_those_of_the_clip_relative_to_the_rest_pose() {
    let mut library = Library::new();
    let asset = bvh::from_slice(&mut library, Path::new("leg.bvh"), LEG.as_bytes()).unwrap();
    // Without rotations at rest, they are the same.
    let (text, _) = written(&library, asset.clip, 2.0, &Options::default());
    let motion = read_bvh(&text);
    let skeleton = library.skeleton(asset.skeleton);
    for (frame, pose) in poses(&library, asset.clip, &[0.0, 0.5]).iter().enumerate() {
        for joint in 0..3 {
            let name = skeleton.joint_name(joint).replace(' ', "_");
            let found = DQuat::from_mat4(&motion.matrix(&name, frame).unwrap());
            let expected = rotation(skeleton, pose, joint);
            assert!(found.dot(expected).abs() > 1.0 - 1e-12, "{name}: {found} instead of {expected}");
        }
    }
    // The hierarchy is as in the file, apart from the channels, the space in a name, and the short form of numbers.
    let other: Vec<String> =
        LEG.lines().take_while(|line| *line != "MOTION").map(|line| line.replace(".0", "")).collect();
    let own: Vec<&str> = text.lines().take_while(|line| *line != "MOTION").collect();
    assert_eq!(own.len(), other.len());
    for (own, other) in own.iter().zip(&other) {
        let is_changed = other.contains("CHANNELS") || other.contains("Upper Leg");
        assert!(is_changed || *own == other.as_str(), "{own} instead of {other}");
    }
}

#[test]
fn frame_times_are_read_as_the_rates_they_are() {
    let (mut library, skeleton) = library(vec![named("hip", None, [0.0; 3], DQuat::IDENTITY)]);
    let still = curve(Interpolation::Step, 3, &[0.0], &[0.0; 3]);
    let still = clip(&mut library, skeleton, vec![(Target::Translation(0), still)]);
    let rates = (1..=300).map(f64::from).chain([23.976, 24.0 / 1.001, 30.0 / 1.001, 60.0 / 1.001, 0.1, 1000.0, 2000.0]);
    for fps in rates {
        let (text, _) = written(&library, still, fps, &Options::default());
        let mut other = Library::new();
        let asset = bvh::from_slice(&mut other, Path::new("still.bvh"), text.as_bytes()).unwrap();
        // The rates of television are read as their fractions, which differ in the last bit from the number written.
        assert!((asset.frame_time * fps - 1.0).abs() < 4e-16, "{fps}: {text}");
    }
}

/// The files below a folder with one of these extensions, in order.
fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| extensions.iter().any(|other| end.eq_ignore_ascii_case(other)))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A rate at which a clip has at most 40 frames.
fn few_frames(library: &Library, clip: ClipId) -> f64 {
    let clip = library.clip(clip);
    let native = bake::native_fps(clip).unwrap_or(30.0);
    native.min(39.0 / clip.duration().max(1e-3))
}

#[test]
fn real_files_come_back() {
    let (mut clips, mut joints) = (0, 0);
    for name in ["gltf", "cases/bvh", "cases/retarget"] {
        let Some(folder) = collected_folder_or_skip(name, "real files as BVH files") else { continue };
        let before = clips;
        for file in files_below(&folder, &["glb", "gltf", "bvh", "vrm"]) {
            let mut library = Library::new();
            let is_bvh = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("bvh"));
            let ids = if is_bvh {
                bvh::load(&mut library, &file).map(|asset| vec![asset.clip])
            } else {
                gltf::load(&mut library, &file).map(|asset| asset.clips)
            };
            // Some of the files are refused, which other tests check.
            for clip in ids.unwrap_or_default() {
                let fps = few_frames(&library, clip);
                if library.skeleton(library.clip(clip).skeleton).joints().is_empty() {
                    continue;
                }
                let (text, _) = written(&library, clip, fps, &Options::default());
                let what = format!("{} {clip:?}", file.display());
                joints += assert_same_motion(&what, &library, clip, fps, &text, MAX_ERROR);
                clips += 1;
            }
        }
        assert!(clips > before, "no clip of {}", folder.display());
        if name == "gltf" {
            assert!(clips >= 20 && joints >= 1000, "{clips} clips, {joints} joints");
        }
    }
}
