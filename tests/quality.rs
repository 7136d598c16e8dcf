//! Measures of motion: figures with feet that stand, slide, sink and jump by known numbers.

mod contacts;
mod foot_lock;
mod real;

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target};
use posse::quality::{FeetQuality, FootContacts, GroundLevel, MotionQuality};
use posse::{ClipId, Joint, Library, SkeletonId};

use crate::support::build;

/// The joints of a figure with a leg of 0.95 m, whose toes are on the ground and whose ankles are 5 cm above it.
const JOINTS: [(&str, Option<usize>, [f64; 3]); 16] = [
    ("hips", None, [0.0, 1.0, 0.0]),
    ("spine", Some(0), [0.0, 0.2, 0.0]),
    ("neck", Some(1), [0.0, 0.3, 0.0]),
    ("head", Some(2), [0.0, 0.1, 0.0]),
    ("leftUpperLeg", Some(0), [0.1, 0.0, 0.0]),
    ("leftLowerLeg", Some(4), [0.0, -0.5, 0.0]),
    ("leftFoot", Some(5), [0.0, -0.45, 0.0]),
    ("leftToes", Some(6), [0.0, -0.05, 0.15]),
    ("rightUpperLeg", Some(0), [-0.1, 0.0, 0.0]),
    ("rightLowerLeg", Some(8), [0.0, -0.5, 0.0]),
    ("rightFoot", Some(9), [0.0, -0.45, 0.0]),
    ("rightToes", Some(10), [0.0, -0.05, 0.15]),
    ("leftUpperArm", Some(1), [0.2, 0.25, 0.0]),
    ("leftLowerArm", Some(12), [0.3, 0.0, 0.0]),
    ("rightUpperArm", Some(1), [-0.2, 0.25, 0.0]),
    ("rightLowerArm", Some(14), [-0.3, 0.0, 0.0]),
];

const LEG: f64 = 0.95;
const FPS: f64 = 30.0;
const HIPS: usize = 0;
const HEAD: usize = 3;
const LEFT_FOOT: usize = 6;
const RIGHT_FOOT: usize = 10;

/// The figure, and a clip of it in which joints move away from their rest places, with keys at the frames.
fn figure(frames: usize, moves: &[(usize, &dyn Fn(f64) -> DVec3)]) -> (Library, ClipId) {
    figure_with(frames, moves, &[])
}

/// The same with rotations.
fn figure_with(
    frames: usize,
    moves: &[(usize, &dyn Fn(f64) -> DVec3)],
    turns: &[(usize, &dyn Fn(f64) -> DQuat)],
) -> (Library, ClipId) {
    let (mut library, skeleton) = standing();
    let times: Vec<f64> = (0..frames).map(|frame| frame as f64 / FPS).collect();
    let curve = |width: usize, values: Vec<f64>| build::curve(Interpolation::Linear, width, &times, &values);
    let mut tracks = Vec::new();
    for (joint, way) in moves {
        let rest = DVec3::from(JOINTS[*joint].2);
        let values = times.iter().flat_map(|&time| (rest + way(time)).to_array()).collect();
        tracks.push((Target::Translation(*joint), curve(3, values)));
    }
    for (joint, turn) in turns {
        let values = times.iter().flat_map(|&time| turn(time).to_array()).collect();
        tracks.push((Target::Rotation(*joint), curve(4, values)));
    }
    let clip = build::clip(&mut library, skeleton, tracks);
    (library, clip)
}

fn standing() -> (Library, SkeletonId) {
    let joint = |(name, parent, offset): (&str, Option<usize>, [f64; 3])| Joint {
        name: Some(name.into()),
        ..build::joint(parent, offset)
    };
    build::library(JOINTS.map(joint).into())
}

fn measure((library, clip): &(Library, ClipId)) -> (MotionQuality, FeetQuality, FootContacts) {
    let (quality, contacts) = MotionQuality::of_clip(library, *clip, FPS, GroundLevel::Auto).unwrap();
    let feet = quality.feet.clone().expect("the feet are known");
    (quality, feet, contacts)
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{what}: {found}, expected {expected}");
}

fn still(_: f64) -> DVec3 {
    DVec3::ZERO
}

#[test]
fn a_figure_that_stands_has_no_errors() {
    let (quality, feet, contacts) = measure(&figure(61, &[(HIPS, &still)]));
    assert_eq!((quality.frames, quality.fps), (61, FPS));
    assert_near(quality.unit, LEG, "leg");
    assert_eq!(feet.contact, [1.0, 1.0]);
    assert_eq!(feet.contacts, [1, 1]);
    assert_eq!(contacts.of_foot(0)[0].frames, 0..61);
    for number in [feet.skate, feet.slide_speed, feet.longest_slide, feet.penetration, feet.deepest] {
        assert_near(number, 0.0, "a measure of a foot");
    }
    assert_eq!(quality.jumps.count, 0);
    assert_eq!((quality.jumps.position, quality.jumps.rotation), (None, None));
    assert_near(quality.jitter, 0.0, "jitter");
    let seam = quality.seam.expect("more than one frame");
    assert_near(seam.distance + seam.velocity, 0.0, "seam");
    assert!(contacts.is_loop());
    // The place of the toes.
    assert!(contacts.of_foot(0)[0].place.distance(DVec3::new(0.1, 0.0, 0.15)) < 1e-9);
}

/// 2 s at 0.1 m/s: 0.1 / 0.95 legs per second, 0.2 / 0.95 legs in all. Both feet are at their standing heights, where
/// the weight of the skate is 2 - 2^0 = 1.
#[test]
fn feet_that_slide_skate_at_their_speed() {
    let (_, feet, contacts) = measure(&figure(61, &[(HIPS, &|time| DVec3::new(0.06 * time, 0.0, 0.08 * time))]));
    assert_near(feet.skate, 0.1 / LEG, "skate");
    assert_near(feet.slide_speed, 0.1 / LEG, "speed of the slide");
    assert_near(feet.longest_slide, 0.2 / LEG, "longest slide");
    assert_near(contacts.of_foot(1)[0].speed, 0.1 / LEG, "speed of a contact");
    assert_near(feet.ground_speed, 0.0, "speed of the ground");
}

/// Only one foot slides, 0.01 m above the place where it stands at the beginning: H is 0.03 legs, so that the weight is
/// 2 - 2^(0.01 / 0.0285).
#[test]
fn a_higher_foot_counts_less() {
    let way = |time: f64| if time < 1.0 - 1e-9 { DVec3::ZERO } else { DVec3::new(0.0, 0.01, 0.1 * (time - 1.0)) };
    let (_, feet, _) = measure(&figure(61, &[(LEFT_FOOT, &way)]));
    // 31 frames of 61 of one foot of two; the first and the last of them have other differences.
    let weight = 2.0 - (0.01 / (0.03 * LEG)).exp2();
    let speeds = 0.1 * 29.0 + 0.1 + 0.05;
    assert_near(feet.skate, speeds * weight / LEG / (61.0 * 2.0), "skate");
}

/// The whole figure moves by 0.3 m from frame 29 to frame 30.
#[test]
fn a_jump_has_its_length_and_its_frame() {
    let step = |time: f64| DVec3::new(0.0, 0.0, if time < 1.0 - 1e-9 { 0.0 } else { 0.3 });
    let (quality, _, _) = measure(&figure(61, &[(HIPS, &step)]));
    let jump = quality.jumps.position.expect("a jump");
    assert_near(jump.size, 0.3 / LEG, "size of the jump");
    assert_eq!((jump.frame, jump.joint, quality.jumps.count), (30, HIPS, 1));
    assert_eq!(quality.jumps.rotation, None);
}

/// A spike jumps there and back. One at the first frame and one at the last frame jump once each.
#[test]
fn spikes_and_ends_jump() {
    let spike = |frames: [u32; 1]| {
        move |time: f64| {
            let is_there = (time * FPS).round() as u32 == frames[0];
            DVec3::new(0.0, if is_there { 0.2 } else { 0.0 }, 0.0)
        }
    };
    for (frame, count, at) in [(30, 2, 30), (0, 1, 1), (60, 1, 60), (1, 2, 1), (59, 2, 59)] {
        let (quality, _, _) = measure(&figure(61, &[(HEAD, &spike([frame]))]));
        let jump = quality.jumps.position.expect("a jump");
        assert_eq!((quality.jumps.count, jump.joint, jump.frame), (count, HEAD, at), "frame {frame}");
        assert_near(jump.size, 0.2 / LEG, "size of the spike");
    }
}

/// A foot that is 100 m away in one frame jumps there and back, and does not skate.
#[test]
fn a_foot_far_away_jumps_and_does_not_skate() {
    let spike = |time: f64| DVec3::new(0.0, 0.0, if (time * FPS).round() as u32 == 30 { 100.0 } else { 0.0 });
    let (quality, feet, _) = measure(&figure(61, &[(LEFT_FOOT, &spike)]));
    assert_eq!(quality.jumps.count, 2);
    assert_near(feet.skate, 0.0, "skate");
}

/// A step that is no longer than its neighbours allow is fast movement, and no jump.
#[test]
fn fast_movement_is_no_jump() {
    // A sine of 2 Hz and 0.3 m: up to 3.8 m/s.
    let swing = |time: f64| DVec3::new(0.3 * (std::f64::consts::TAU * 2.0 * time).sin(), 0.0, 0.0);
    let (quality, _, _) = measure(&figure(61, &[(13, &swing)]));
    assert_eq!(quality.jumps.count, 0);
}

/// The head turns by 90 degrees from frame 29 to frame 30. No joint is below it.
#[test]
fn a_rotation_jumps_where_no_place_does() {
    let turn = |time: f64| build::degrees(DVec3::Y, if time < 1.0 - 1e-9 { 0.0 } else { 90.0 });
    let (quality, _, _) = measure(&figure_with(61, &[(HIPS, &still)], &[(HEAD, &turn)]));
    let jump = quality.jumps.rotation.expect("a jump");
    assert_near(jump.size, std::f64::consts::FRAC_PI_2, "angle");
    assert_eq!((jump.frame, jump.joint, quality.jumps.count), (30, HEAD, 1));
    assert_eq!(quality.jumps.position, None);
}

/// The third derivative of `2 t^3` is 12 m/s^3, and so is the third difference of its frames. All joints move.
#[test]
fn jitter_is_the_jerk() {
    let (quality, _, _) = measure(&figure(61, &[(HIPS, &|time| DVec3::new(0.0, 0.0, 2.0 * time.powi(3)))]));
    assert_near(quality.jitter, 12.0 / LEG, "jitter");
    // One joint of 16, with a lower arm below it.
    let (quality, _, _) = measure(&figure(61, &[(12, &|time| DVec3::new(0.0, 0.0, 2.0 * time.powi(3)))]));
    assert_near(quality.jitter, 12.0 / LEG * 2.0 / 16.0, "jitter of an arm");
}

/// The toes are 2 cm below the ground in the second half, which is 31 of 61 frames.
#[test]
fn a_foot_that_sinks_has_its_depth() {
    let sink = |time: f64| DVec3::new(0.0, if time < 1.0 - 1e-9 { 0.0 } else { -0.02 }, 0.0);
    let (_, feet, _) = measure(&figure(61, &[(HIPS, &sink)]));
    assert_near(feet.ground, 0.0, "ground");
    assert_near(feet.deepest, 0.02 / LEG, "deepest");
    assert_near(feet.penetration, 0.02 / LEG * 31.0 / 61.0, "penetration");
}

/// A figure far above 0 stands on a ground of its own, unless the ground is given.
#[test]
fn the_ground_is_found_or_given() {
    let (library, clip) = figure(61, &[(HIPS, &|_| DVec3::new(0.0, 3.0, 0.0))]);
    let feet = |ground| MotionQuality::of_clip(&library, clip, FPS, ground).unwrap().0.feet.unwrap();
    let found = feet(GroundLevel::Auto);
    assert_near(found.ground, 3.0, "ground");
    assert_eq!(found.contact, [1.0, 1.0]);
    let given = feet(GroundLevel::At(0.0));
    assert_near(given.ground, 0.0, "given ground");
    assert_eq!(given.contact, [0.0, 0.0]);
    let sunk = feet(GroundLevel::At(3.1));
    assert_near(sunk.deepest, 0.1 / LEG, "depth below a given ground");
    assert!(MotionQuality::of_clip(&library, clip, FPS, GroundLevel::At(f64::NAN)).is_err());
}

/// The head ends 0.1 m higher than it begins: no turn and no horizontal shift takes that away.
#[test]
fn the_seam_has_its_size() {
    let (quality, _, _) = measure(&figure(61, &[(HEAD, &|time| DVec3::new(0.0, 0.05 * time, 0.0))]));
    let seam = quality.seam.expect("a seam");
    assert_eq!(seam.joint, HEAD);
    assert_near(seam.largest, 0.1 / LEG, "largest distance");
    assert_near(seam.distance, 0.1 / LEG / 4.0, "mean distance: 16 joints");
    assert_near(seam.velocity, 0.0, "velocity");
}

/// A loop that travels and turns by 90 degrees ends as it begins. Its velocity turns, too.
#[test]
fn a_seam_takes_travel_and_turns_away() {
    let angle = |time: f64| std::f64::consts::FRAC_PI_4 * time;
    // On a circle about (2, 0, 0), along which the figure faces.
    let way = |time: f64| DVec3::new(2.0 - 2.0 * angle(time).cos(), 0.0, 2.0 * angle(time).sin());
    let turn = |time: f64| DQuat::from_rotation_y(angle(time));
    let (library, clip) = figure_with(61, &[(HIPS, &way)], &[(HIPS, &turn)]);
    let (quality, _) = MotionQuality::of_clip(&library, clip, FPS, GroundLevel::Auto).unwrap();
    let seam = quality.seam.expect("a seam");
    assert!(seam.distance < 1e-6 && seam.largest < 1e-6, "{seam:?}");
    // Chords instead of tangents: the speed of 1.57 m/s turns by a frame, 1.5 degrees.
    assert!(seam.velocity < 0.08, "{seam:?}");
}

#[test]
fn short_clips_and_other_rigs_have_measures() {
    let (library, clip) = figure(1, &[(HIPS, &still)]);
    let (quality, contacts) = MotionQuality::of_clip(&library, clip, FPS, GroundLevel::Auto).unwrap();
    assert_eq!((quality.frames, quality.seam, quality.jitter), (1, None, 0.0));
    assert_eq!((contacts.frames(), contacts.share(0)), (1, 1.0));
    for frames in 2..8 {
        let (library, clip) = figure(frames, &[(HIPS, &still)]);
        let (quality, _) = MotionQuality::of_clip(&library, clip, FPS, GroundLevel::Auto).unwrap();
        assert_eq!((quality.frames, quality.jumps.count), (frames as u64, 0));
    }
    // A chain of three joints has no feet.
    let chain = vec![build::joint(None, [0.0; 3]), build::joint(Some(0), [0.0, 1.0, 0.0])];
    let (mut library, skeleton) = build::library(chain);
    let curve = build::curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.5, 1.0, 0.0]);
    let clip = build::clip(&mut library, skeleton, vec![(Target::Translation(1), curve)]);
    let (quality, contacts) = MotionQuality::of_clip(&library, clip, FPS, GroundLevel::Auto).unwrap();
    assert_eq!((quality.feet, contacts.feet()), (None, 0));
    assert_near(quality.unit, 1.0, "size of the rig");
    // Where the rig stands does not change its size.
    let far = vec![build::joint(None, [740.0, 0.0, 0.0]), build::joint(Some(0), [0.0, 1.0, 0.0])];
    let (mut far, skeleton) = build::library(far);
    let curve = build::curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.5, 1.0, 0.0]);
    let moves = build::clip(&mut far, skeleton, vec![(Target::Translation(1), curve)]);
    let (quality, _) = MotionQuality::of_clip(&far, moves, FPS, GroundLevel::Auto).unwrap();
    assert_near(quality.unit, 1.0, "size of a rig far away");
    assert!(MotionQuality::of_clip(&library, clip, 0.0, GroundLevel::Auto).is_err());
}
