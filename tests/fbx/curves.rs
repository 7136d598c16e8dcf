//! Curves: keys that are kept, keys that follow curves of the file, and the times that a stack plays.

use posse::curves::{Curve, Interpolation, Target};
use posse::glam::{DAffine3, DQuat, DVec3};
use posse::import::fbx::{MAX_ANGLE, MAX_OFFSET};
use posse::{ClipId, Library, Reference};

use super::import;
use crate::support::assert_close::assert_close;
use crate::support::build::{degrees, pose_at};
use crate::support::fbx_text::{FbxText, Key, Y_UP, vector};

/// A curve that keeps a node 1 m up.
const HEIGHT: (&str, &[(f64, f64)]) = ("d|Y", &[(0.0, 100.0)]);

/// A file of a node `a`, 1 m up, with curves of a property over two seconds.
fn moving(property: &str, key: Key, channels: &[(&str, &[(f64, f64)])]) -> FbxText {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[vector("Lcl Translation", [0.0, 100.0, 0.0])]);
    let layer = file.stack("go", [0.0, 2.0]);
    file.curves(layer, 1, property, key, channels);
    file
}

/// The curve of the one track of a file.
fn only_curve(file: &FbxText, target: Target) -> Curve {
    let (library, asset) = import(file, Y_UP);
    let clip = library.clip(asset.clips[0]);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    assert_eq!((clip.name.as_deref(), clip.duration()), (Some("go"), 2.0));
    let [track] = clip.tracks.as_slice() else { panic!("{} tracks", clip.tracks.len()) };
    assert_eq!(track.target, target);
    track.curve.clone()
}

/// The pose of the first joint of a clip.
fn joint_at(library: &Library, clip: ClipId, time: f64) -> DAffine3 {
    pose_at(&mut Reference::new(library), library, clip, time).model[0]
}

/// The pose of the first joint of a file at steps of a hundredth of a second.
fn poses(file: &FbxText) -> Vec<(f64, DVec3, DQuat)> {
    let (library, asset) = import(file, Y_UP);
    let pose = |step| {
        let time = 0.01 * f64::from(step);
        let joint = joint_at(&library, asset.clips[0], time);
        (time, joint.translation, DQuat::from_mat3(&joint.matrix3))
    };
    (0..=200).map(pose).collect()
}

#[test]
fn linear_translations_keep_their_keys() {
    let keys: [(f64, f64); 3] = [(0.0, 0.0), (0.5, 10.0), (2.0, -10.0)];
    let curve = only_curve(&moving("Lcl Translation", Key::Linear, &[("d|X", &keys), HEIGHT]), Target::Translation(0));
    assert_eq!((curve.timeline().times(), curve.interpolation()), (&[0.0, 0.5, 2.0][..], Interpolation::Linear));
    // In metres.
    assert_close(curve.values(), &[0.0, 1.0, 0.0, 0.1, 1.0, 0.0, -0.1, 1.0, 0.0], "values");
}

#[test]
fn steps_stay_steps() {
    let keys: [(f64, f64); 3] = [(0.0, 0.0), (0.5, 90.0), (2.0, -90.0)];
    let curve = only_curve(&moving("Lcl Rotation", Key::Step, &[("d|Z", &keys)]), Target::Rotation(0));
    assert_eq!((curve.timeline().times(), curve.interpolation()), (&[0.0, 0.5, 2.0][..], Interpolation::Step));
    let s = 0.5_f64.sqrt();
    assert_close(&curve.values()[4..8], &[0.0, 0.0, s, s], "90 degrees");
}

#[test]
fn a_step_beside_a_line_takes_no_longer_than_a_millisecond() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("go", [0.0, 2.0]);
    file.curves(layer, 1, "Lcl Scaling", Key::Step, &[("d|X", &[(0.0, 1.0), (1.0, 3.0), (2.0, 3.0)])]);
    let step = only_curve(&file, Target::Scale(0));
    assert_eq!(step.interpolation(), Interpolation::Step);
    // The same, while y grows from 1 to 2.
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("go", [0.0, 2.0]);
    let node = file.id();
    file.object(&format!("AnimationCurveNode: {node}, \"AnimCurveNode::S\", \"\""), "");
    file.connect(node, layer).connect_property(node, 1, "Lcl Scaling");
    for (key, axis, values) in [(2, "d|X", [1.0, 3.0]), (4, "d|Y", [1.0, 2.0])] {
        let curve = file.id();
        let [first, last] = values;
        let content = format!(
            "KeyVer: 4008\nKeyTime: *2 {{\na: 0,46186158000\n}}\nKeyValueFloat: *2 {{\na: {first},{last}\n}}\nKeyAttrFlags: *1 \
             {{\na: {key}\n}}\nKeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: 2\n}}"
        );
        file.object(&format!("AnimationCurve: {curve}, \"AnimCurve::\", \"\""), &content);
        file.connect_property(curve, node, axis);
    }
    let (library, asset) = import(&file, Y_UP);
    for (time, expected) in [(0.0, [1.0, 1.0]), (0.5, [1.0, 1.5]), (0.998, [1.0, 1.998]), (1.0, [3.0, 2.0])] {
        let model = joint_at(&library, asset.clips[0], time).matrix3;
        let [x, y] = [model.x_axis.x, model.y_axis.y];
        assert!((x - expected[0]).abs() < 1e-6 && (y - expected[1]).abs() < 2e-3, "{x} {y} at {time}");
    }
}

#[test]
fn cubic_curves_are_followed_within_the_bound() {
    let keys: [(f64, f64); 2] = [(0.0, 0.0), (2.0, 400.0)];
    let file = moving("Lcl Translation", Key::Cubic, &[("d|X", &keys), HEIGHT]);
    let curve = only_curve(&file, Target::Translation(0));
    assert!((50..400).contains(&curve.timeline().len()), "{} keys", curve.timeline().len());
    for (time, place, _) in poses(&file) {
        // Level at both ends: 4 m times 3 k^2 - 2 k^3.
        let k = 0.5 * time;
        let expected = 4.0 * k * k * (3.0 - 2.0 * k);
        assert!((place - DVec3::new(expected, 1.0, 0.0)).length() <= MAX_OFFSET + 1e-6, "{place} at {time}");
    }
}

#[test]
fn euler_angles_of_sparse_keys_are_followed_within_the_bound() {
    let x: [(f64, f64); 2] = [(0.0, 0.0), (2.0, 720.0)];
    let z: [(f64, f64); 2] = [(0.0, -30.0), (2.0, 150.0)];
    let file = moving("Lcl Rotation", Key::Linear, &[("d|X", &x), ("d|Z", &z)]);
    for (time, _, rotation) in poses(&file) {
        // Two whole turns about x, while z turns by half a turn. The order is XYZ: x first.
        let expected = degrees(DVec3::Z, 90.0 * time - 30.0) * degrees(DVec3::X, 360.0 * time);
        let angle = 2.0 * (rotation.conjugate() * expected).xyz().length().min(1.0).asin();
        assert!(angle <= MAX_ANGLE + 1e-5, "{} degrees at {time}", angle.to_degrees());
    }
}

#[test]
fn keys_of_every_frame_are_kept_though_an_angle_jumps_by_a_turn() {
    let keys: Vec<(f64, f64)> =
        (0..=60).map(|frame| (f64::from(frame) / 30.0, f64::from((frame * 12 + 180) % 360) - 180.0)).collect();
    let curve = only_curve(&moving("Lcl Rotation", Key::Linear, &[("d|Y", &keys)]), Target::Rotation(0));
    assert_eq!(curve.timeline().len(), 61);
    assert_eq!(curve.timeline().step().map(|step| (30.0 * step - 1.0).abs() < 1e-9), Some(true));
    for (frame, value) in curve.values().chunks_exact(4).enumerate() {
        let expected = degrees(DVec3::Y, 12.0 * frame as f64);
        assert!(DQuat::from_slice(value).dot(expected).abs() > 1.0 - 1e-9, "frame {frame}");
    }
}

#[test]
fn a_clip_begins_where_its_stack_does() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("late", [1.0, 2.0]);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(1.0, 0.0), (3.0, 200.0)])]);
    let (library, asset) = import(&file, Y_UP);
    let clip = library.clip(asset.clips[0]);
    assert_eq!((clip.length, clip.duration()), (Some(1.0), 1.0));
    assert_eq!(clip.tracks[0].curve.timeline().times(), [0.0, 2.0]);
    let warning = asset.warnings[0].to_string();
    assert!(
        warning.contains("\"late\": it is set to play 1.000 to 2.000 s, but has keys from 1.000 to 3.000 s"),
        "{warning}"
    );
    for time in [0.0, 0.5, 1.0] {
        let place = joint_at(&library, asset.clips[0], time).translation;
        assert_close(&place.to_array(), &[time, 0.0, 0.0], "a place");
    }
}

#[test]
fn a_pivot_moves_with_its_rotation() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[vector("RotationPivot", [0.0, 100.0, 0.0])]);
    let layer = file.stack("go", [0.0, 2.0]);
    file.curves(layer, 1, "Lcl Rotation", Key::Linear, &[("d|Z", &[(0.0, 0.0), (2.0, 180.0)])]);
    for (time, place, rotation) in poses(&file) {
        // The origin goes around the pivot, 1 m above it, from below.
        let (sin, cos) = (90.0 * time).to_radians().sin_cos();
        let expected = DVec3::new(sin, 1.0 - cos, 0.0);
        assert!((place - expected).length() <= MAX_OFFSET + 1e-6, "{place} at {time}");
        let angle = 2.0 * (rotation.conjugate() * degrees(DVec3::Z, 90.0 * time)).xyz().length().min(1.0).asin();
        assert!(angle <= MAX_ANGLE + 1e-5, "{} degrees at {time}", angle.to_degrees());
    }
}

#[test]
fn stacks_of_one_timeline_begin_at_0_each() {
    // Two takes of one file, as motion capture has them: keys on one axis of time, and a part of it per take.
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    for (name, [start, stop]) in [("one", [10.0, 11.0]), ("two", [20.0, 22.0])] {
        let layer = file.stack(name, [start, stop]);
        let keys = [(start, 100.0 * start), (stop, 100.0 * stop)];
        file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", &keys)]);
    }
    // Keys before the part that is played are before 0.
    let layer = file.stack("part", [1.0, 2.0]);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (4.0, 400.0)])]);
    let (library, asset) = import(&file, Y_UP);
    let x = |clip: usize, time: f64| joint_at(&library, asset.clips[clip], time).translation.x;
    let names: Vec<_> = library.clips().iter().map(|clip| (clip.name.as_deref(), clip.duration())).collect();
    assert_eq!(names, [(Some("one"), 1.0), (Some("two"), 2.0), (Some("part"), 1.0)]);
    assert_close(&[x(0, 0.0), x(0, 0.5), x(0, 1.0)], &[10.0, 10.5, 11.0], "one");
    assert_close(&[x(1, 0.0), x(1, 1.5), x(1, 2.0)], &[20.0, 21.5, 22.0], "two");
    assert_close(&[x(2, 0.0), x(2, 0.25), x(2, 1.0)], &[1.0, 1.25, 2.0], "part");
}

/// A file with a node 1 and a stack of two seconds. A linear curve of x in centimetres has two keys, at 0 and at `end`.
/// `mode` tells how it goes on: K with its slope, R with a repetition.
fn repeating(end: f64, x: [f64; 2], mode: char) -> (FbxText, u32) {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let layer = file.stack("go", [0.0, 2.0]);
    let node = file.id();
    file.object(&format!("AnimationCurveNode: {node}, \"AnimCurveNode::T\", \"\""), "");
    file.connect(node, layer).connect_property(node, 1, "Lcl Translation");
    let curve = file.id();
    let ([first, last], ticks) = (x, 46_186_158_000.0 * end);
    let content = format!(
        "KeyVer: 4008\nKeyTime: *2 {{\na: 0,{ticks}\n}}\nKeyValueFloat: *2 {{\na: {first},{last}\n}}\nKeyAttrFlags: *1 {{\na: \
         4\n}}\nKeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: 2\n}}\nPost-Extrapolation:  {{\nType: \
         {mode}\nRepetition: -1\n}}"
    );
    file.object(&format!("AnimationCurve: {curve}, \"AnimCurve::\", \"\""), &content);
    file.connect_property(curve, node, "d|X");
    (file, node)
}

#[test]
fn a_curve_that_repeats_goes_on_to_the_end_of_its_stack() {
    let (file, _) = repeating(1.0, [0.0, 100.0], 'K');
    let (library, asset) = import(&file, Y_UP);
    // The slope goes on: 1 m per second.
    assert_eq!(library.clip(asset.clips[0]).duration(), 2.0);
    let places = [0.5, 1.0, 1.5, 2.0].map(|time| joint_at(&library, asset.clips[0], time).translation.x);
    assert_close(&places, &[0.5, 1.0, 1.5, 2.0], "places");
}

#[test]
fn a_curve_repeats_between_keys_of_other_curves() {
    // A quarter, the half and three quarters of the 2 s between the keys of y are at the same place of the repetition.
    let (mut file, node) = repeating(0.25, [0.0, 100.0], 'R');
    let curve = file.id();
    let content = "KeyVer: 4008\nKeyTime: *2 {\na: 0,92372316000\n}\nKeyValueFloat: *2 {\na: 0,200\n}\nKeyAttrFlags: *1 {\na: \
                   4\n}\nKeyAttrDataFloat: *4 {\na: 0,0,0,0\n}\nKeyAttrRefCount: *1 {\na: 2\n}";
    file.object(&format!("AnimationCurve: {curve}, \"AnimCurve::\", \"\""), content);
    file.connect_property(curve, node, "d|Y");
    let (library, asset) = import(&file, Y_UP);
    for (time, expected) in [(0.1, [0.4, 0.1]), (0.875, [0.5, 0.875]), (1.4, [0.6, 1.4]), (1.8, [0.2, 1.8])] {
        let place = joint_at(&library, asset.clips[0], time).translation;
        let [x, y] = expected;
        assert!((place - DVec3::new(x, y, 0.0)).length() <= MAX_OFFSET + 1e-6, "{place} at {time}");
    }
}

#[test]
fn whole_turns_between_frames_are_seen() {
    // 30 turns in 2 s. Of 60 frames every second one is sampled, at which the node has turned once.
    let file = moving("Lcl Rotation", Key::Linear, &[("d|Y", &[(0.0, 0.0), (2.0, 10800.0)])]);
    for (time, _, rotation) in poses(&file) {
        let expected = degrees(DVec3::Y, 5400.0 * time);
        let angle = 2.0 * (rotation.conjugate() * expected).xyz().length().min(1.0).asin();
        assert!(angle <= MAX_ANGLE + 1e-5, "{} degrees at {time}", angle.to_degrees());
    }
}

#[test]
fn a_single_pose_takes_no_time_and_times_before_0_are_moved() {
    let clip = |times: [f64; 2], keys: &[(f64, f64)]| {
        let mut file = FbxText::new();
        file.node(1, "a", 0, &[]);
        let layer = file.stack("go", times);
        file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", keys)]);
        let (library, asset) = import(&file, Y_UP);
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        library.clip(asset.clips[0]).clone()
    };
    let pose = clip([0.0, 0.0], &[(1.0, 50.0)]);
    assert_eq!((pose.duration(), pose.tracks[0].curve.timeline().times()), (0.0, &[0.0][..]));
    assert_close(pose.tracks[0].curve.values(), &[0.5, 0.0, 0.0], "the pose");
    // A stack that states no time plays its keys.
    let late = clip([0.0, 0.0], &[(1.0, 50.0), (3.0, 0.0)]);
    assert_eq!((late.duration(), late.tracks[0].curve.timeline().times()), (2.0, &[0.0, 2.0][..]));
    let early = clip([-1.0, 1.0], &[(-1.0, 50.0), (1.0, 0.0)]);
    assert_eq!((early.duration(), early.tracks[0].curve.timeline().times()), (2.0, &[0.0, 2.0][..]));
    // What stays is no reason for a duration, but a stack can state one.
    let still = clip([0.0, 4.0], &[(0.0, 50.0), (2.0, 50.0)]);
    assert_eq!((still.duration(), still.tracks[0].curve.timeline().times()), (4.0, &[0.0][..]));
}

#[test]
fn layers_of_a_stack_are_one_clip() {
    let mut file = FbxText::new();
    file.node(1, "a", 0, &[]);
    let base = file.stack("go", [0.0, 2.0]);
    file.curves(base, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 0.0), (2.0, 100.0)])]);
    // The id of the stack comes before the id of its layer. BlendMode 0 adds.
    let layer = file.id();
    file.object(&format!("AnimationLayer: {layer}, \"AnimLayer::more\", \"\""), "");
    file.connect(layer, base - 1);
    file.curves(layer, 1, "Lcl Translation", Key::Linear, &[("d|X", &[(0.0, 10.0), (2.0, 10.0)])]);
    let curve = only_curve(&file, Target::Translation(0));
    assert_close(curve.values(), &[0.1, 0.0, 0.0, 1.1, 0.0, 0.0], "added");
}
