//! Features of clips that glTF lacks, with hand-worked cases on every engine: windows about keys, shared key times,
//! extrapolation, angles, single components, clip lengths, quaternions that are not normalized.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::rig::Property;
use posse::{
    Clip, ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Poses, Reference, Skeleton, Ticks,
    Transform, contract,
};

use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::{degrees, library, pose_at};
use crate::support::each_engine::each_engine;

fn curve(timeline: Timeline, interpolation: Interpolation, width: usize, values: &[f64]) -> Curve {
    Curve::new(Arc::new(timeline), interpolation, width, values.to_vec()).unwrap()
}

/// A library with one clip.
struct Animated {
    library: Library,
    clip: ClipId,
}

/// A clip of this length that drives one property by a curve.
fn property(curve: Curve, length: Option<f64>) -> Animated {
    let mut library = Library::new();
    let property = Property { name: "value".into(), rest: vec![0.0; curve.width()], rotation: false };
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), vec![property]).unwrap());
    let tracks = vec![Track::new(Target::Property(0), curve)];
    let clip = library.add_clip(Clip { length, ..Clip::new(None, skeleton, tracks) }).unwrap();
    Animated { library, clip }
}

/// Asserts the value of the property at each time.
fn check(animated: Animated, cases: &[(f64, f64)]) {
    let Animated { library, clip } = animated;
    each_engine(&library, |engine| {
        for &(time, value) in cases {
            let found = pose_at(engine, &library, clip, time).properties;
            assert_close(&found, &[value], &format!("{} at {time}", engine.engine()));
        }
    });
}

#[test]
fn a_key_is_hit_within_its_window() {
    let timeline = Timeline::snapping(vec![0.0, 1.0, 2.0], 0.125).unwrap();
    let step = curve(timeline.clone(), Interpolation::Step, 1, &[1.0, 2.0, 3.0]);
    check(property(step, None), &[(-1.0, 1.0), (0.5, 1.0), (0.8125, 1.0), (0.9375, 2.0), (1.75, 2.0), (1.9375, 3.0)]);
    let line = curve(timeline, Interpolation::Linear, 1, &[0.0, 8.0, 0.0]);
    check(property(line, None), &[(0.0625, 0.0), (0.25, 2.0), (0.9375, 8.0), (1.0625, 8.0), (1.5, 4.0), (2.5, 0.0)]);
}

#[test]
fn the_first_key_counts_before_a_shared_time_and_the_last_after_it() {
    let timeline = Timeline::snapping(vec![0.0, 1.0, 1.0, 2.0], 0.0).unwrap();
    let jump = curve(timeline, Interpolation::Linear, 1, &[0.0, 4.0, 8.0, 0.0]);
    check(property(jump, None), &[(0.5, 2.0), (0.999_999, 3.999_996), (1.0, 4.0), (1.000_001, 7.999_992), (1.5, 4.0)]);
}

#[test]
fn curves_extrapolate_beyond_their_keys_within_the_length_of_the_clip() {
    let keys = || curve(Timeline::new(vec![4.0, 5.0, 6.0]).unwrap(), Interpolation::Linear, 1, &[0.0, 1.0, 4.0]);
    let beyond = |before, after| property(keys().with_extrapolation(before, after), Some(12.0));
    check(beyond(Extrapolation::Clamp, Extrapolation::Clamp), &[(0.0, 0.0), (12.0, 4.0)]);
    check(beyond(Extrapolation::Linear, Extrapolation::Linear), &[(0.0, -4.0), (3.5, -0.5), (6.5, 5.5), (12.0, 22.0)]);
    // At the time of the last key, the last key holds. Every later end has the value of the first key.
    let looped = [(0.5, 0.5), (1.5, 2.5), (2.0, 0.0), (3.5, 2.5), (6.0, 4.0), (6.5, 0.5), (8.0, 0.0), (11.5, 2.5)];
    check(beyond(Extrapolation::Loop, Extrapolation::Loop), &looped);
    let turned = [(0.5, 0.5), (1.5, 2.5), (2.0, 4.0), (2.5, 2.5), (3.5, 0.5), (6.5, 2.5), (8.0, 0.0), (9.5, 2.5)];
    check(beyond(Extrapolation::PingPong, Extrapolation::PingPong), &turned);
}

#[test]
fn every_interpolation_extrapolates_linearly_and_a_ping_pong_is_eased_backwards() {
    let cubic = [0.0, 0.0, 5.0, -5.0, 2.0, 0.0];
    let spline = curve(Timeline::new(vec![1.0, 2.0]).unwrap(), Interpolation::CubicSpline, 1, &cubic);
    let line = spline.with_extrapolation(Extrapolation::Linear, Extrapolation::Linear);
    check(property(line, Some(4.0)), &[(0.0, -2.0), (0.5, -1.0), (3.0, 4.0)]);
    let step = curve(Timeline::new(vec![1.0, 2.0]).unwrap(), Interpolation::Step, 1, &[1.0, 3.0]);
    let step = step.with_extrapolation(Extrapolation::Linear, Extrapolation::PingPong);
    check(property(step, Some(4.0)), &[(0.5, 0.0), (1.5, 1.0), (2.5, 1.0), (3.5, 1.0)]);
    let eased = curve(Timeline::new(vec![0.0, 1.0]).unwrap(), Interpolation::Linear, 1, &[0.0, 1.0]);
    let eased = eased.with_easing(CurveEasing::One(Easing::QuadIn)).unwrap();
    let there_and_back = eased.with_extrapolation(Extrapolation::Clamp, Extrapolation::PingPong);
    check(
        property(there_and_back, Some(4.0)),
        &[(0.5, 0.25), (1.25, 0.5625), (1.5, 0.25), (2.5, 0.25), (3.75, 0.0625)],
    );
}

#[test]
fn the_time_is_clamped_to_the_length_of_the_clip() {
    let keys = || curve(Timeline::new(vec![-1.0, 3.0]).unwrap(), Interpolation::Linear, 1, &[-1.0, 3.0]);
    check(property(keys(), Some(2.0)), &[(-0.5, 0.0), (1.0, 1.0), (2.5, 2.0)]);
    check(property(keys(), None), &[(-0.5, -0.5), (1.0, 1.0), (2.5, 2.5)]);
}

#[test]
fn angles_turn_joints_about_x_then_z_then_y() {
    let (mut library, skeleton) = library(vec![Joint::default(); 3]);
    let times = || Timeline::new(vec![0.0, 1.0]).unwrap();
    let whole = curve(times(), Interpolation::Linear, 3, &[0.0, 0.0, 0.0, 90.0, 720.0, 180.0]);
    let still = curve(times(), Interpolation::Linear, 3, &[90.0, 90.0, 0.0, 90.0, 90.0, 0.0]);
    let single = curve(times(), Interpolation::Linear, 1, &[0.0, -900.0]);
    let tracks = vec![
        Track::new(Target::EulerAngles(0), whole),
        Track::new(Target::EulerAngles(1), still),
        Track::component(Target::EulerAngles(2), 1, single),
    ];
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    each_engine(&library, |engine| {
        let name = engine.engine();
        let local = pose_at(engine, &library, clip, 0.5).local;
        assert_rotation(local[0].rotation, degrees(DVec3::Z, 90.0) * degrees(DVec3::X, 45.0), name);
        assert_rotation(local[1].rotation, degrees(DVec3::Y, 90.0) * degrees(DVec3::X, 90.0), name);
        assert_rotation(local[2].rotation, degrees(DVec3::Y, -450.0), name);
        let local = pose_at(engine, &library, clip, 0.25).local;
        let turned = degrees(DVec3::Y, 180.0) * degrees(DVec3::Z, 45.0) * degrees(DVec3::X, 22.5);
        assert_rotation(local[0].rotation, turned, name);
    });
}

#[test]
fn components_are_driven_one_by_one_and_the_others_rest() {
    let rest = Transform {
        translation: DVec3::new(1.0, 2.0, 3.0),
        rotation: degrees(DVec3::Y, 30.0),
        scale: DVec3::new(4.0, 5.0, 6.0),
    };
    let (mut library, skeleton) = library(vec![Joint { rest, ..Joint::default() }; 2]);
    let line =
        |keys: &[f64], values: &[f64]| curve(Timeline::new(keys.to_vec()).unwrap(), Interpolation::Linear, 1, values);
    let tracks = vec![
        Track::component(Target::Translation(0), 0, line(&[0.0, 1.0], &[0.0, 8.0])),
        Track::component(Target::Translation(0), 2, line(&[0.0, 4.0], &[0.0, 8.0])),
        Track::component(Target::Scale(0), 1, line(&[0.0], &[7.0])),
        Track::component(Target::EulerAngles(0), 0, line(&[0.0, 1.0], &[0.0, 90.0])),
    ];
    let clip = library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
    each_engine(&library, |engine| {
        let local = pose_at(engine, &library, clip, 0.5).local;
        assert_vector(local[0].translation, [4.0, 2.0, 1.0], engine.engine());
        assert_vector(local[0].scale, [4.0, 7.0, 6.0], engine.engine());
        let turned = degrees(DVec3::Y, 30.0) * degrees(DVec3::X, 45.0);
        assert_rotation(local[0].rotation, turned, engine.engine());
        assert_vector(local[1].translation, [1.0, 2.0, 3.0], engine.engine());
    });
}

#[test]
fn quaternions_of_properties_keep_their_length() {
    let (a, b) = (DQuat::IDENTITY * 2.0, degrees(DVec3::X, 90.0) * -2.0);
    let values = [a.to_array(), b.to_array()].concat();
    let slerp = curve(Timeline::new(vec![0.0, 1.0]).unwrap(), Interpolation::Slerp, 4, &values);
    let Animated { library, clip } = property(slerp, None);
    each_engine(&library, |engine| {
        assert_close(&pose_at(engine, &library, clip, 1.0).properties, &b.to_array(), engine.engine());
        // The dot product, 4 cos 45, is more than 1, so the interpolation is linear.
        let middle = (a + -b) * 0.5;
        assert_close(&pose_at(engine, &library, clip, 0.5).properties, &middle.to_array(), engine.engine());
    });
    let (a, b) = (DQuat::IDENTITY, degrees(DVec3::X, 90.0) * -1.0);
    let values = [a.to_array(), b.to_array()].concat();
    let slerp = curve(Timeline::new(vec![0.0, 1.0]).unwrap(), Interpolation::Slerp, 4, &values);
    let Animated { library, clip } = property(slerp, None);
    each_engine(&library, |engine| {
        let third = degrees(DVec3::X, 30.0);
        assert_close(&pose_at(engine, &library, clip, 1.0 / 3.0).properties, &third.to_array(), engine.engine());
    });
}

#[test]
fn curves_that_do_not_fit_their_target_are_refused() {
    let (mut library, skeleton) = library(vec![Joint::default()]);
    let times = || Timeline::new(vec![0.0, 1.0]).unwrap();
    let one = || curve(times(), Interpolation::Linear, 1, &[0.0, 1.0]);
    let four = |interpolation| curve(times(), interpolation, 4, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let three = || curve(times(), Interpolation::Linear, 3, &[0.0; 6]);
    let mut error_over = |length: Option<f64>, tracks: Vec<Track>| {
        let clip = Clip { length, ..Clip::new(None, skeleton, tracks) };
        library.add_clip(clip).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
    };
    let looped = || one().with_extrapolation(Extrapolation::Clamp, Extrapolation::Loop);
    let endless = error_over(None, vec![Track::component(Target::Scale(0), 0, looped())]);
    assert!(endless.contains("the clip has no length"), "{endless}");
    let mut error = |tracks| error_over(Some(1e9), tracks);
    let target = Target::Translation(0);
    assert!(error(vec![Track::component(target, 3, one())]).contains("there is no number 3"));
    assert!(error(vec![Track::component(target, 0, three())]).contains("3 numbers wide, its target 1"));
    assert!(error(vec![Track::component(Target::Rotation(0), 0, one())]).contains("no single number of a rotation"));
    assert!(
        error(vec![Track::new(Target::Rotation(0), four(Interpolation::Slerp))])
            .contains("Linear interpolates rotations")
    );
    let twice = "driven by an earlier track";
    assert!(error(vec![Track::new(target, three()), Track::component(target, 1, one())]).contains(twice));
    assert!(error(vec![Track::component(target, 1, one()), Track::new(target, three())]).contains(twice));
    assert!(error(vec![Track::component(target, 1, one()), Track::component(target, 1, one())]).contains(twice));
    let angles = Track::new(Target::EulerAngles(0), three());
    assert!(error(vec![Track::new(Target::Rotation(0), four(Interpolation::Linear)), angles]).contains(twice));
    assert_eq!(error(vec![Track::component(target, 1, one()), Track::component(target, 2, one())]), "");
    // A billion seconds of loops of one second each.
    assert!(error(vec![Track::component(target, 1, looped())]).contains("looped over the clip"));
}

#[test]
fn keys_that_share_the_first_or_the_last_time_are_found() {
    let late = Timeline::snapping(vec![0.0, 0.04375, 0.04375], 1e-6).unwrap();
    check(property(curve(late, Interpolation::Linear, 1, &[0.0, 1.0, 2.0]), None), &[(0.04375, 1.0), (0.09, 2.0)]);
    let early = Timeline::snapping(vec![0.0, 0.0, 0.0, 0.0, 1.0], 1e-6).unwrap();
    let looped = curve(early, Interpolation::Linear, 1, &[5.0, 6.0, 7.0, 0.0, 1.0]);
    let looped = looped.with_extrapolation(Extrapolation::Clamp, Extrapolation::Loop);
    check(property(looped, Some(2.5625)), &[(0.5, 0.5), (1.0, 1.0), (1.25, 0.25), (1.75, 0.75), (2.5, 0.5)]);
}

/// One unit in the last place after the last key, a ping-pong has the value of the key before. The reference takes the
/// time back to the last key, because it rounds: both are right.
#[test]
fn a_ping_pong_that_rounds_to_a_key_has_the_value_on_either_side() {
    let times: Vec<f64> = (0..27).map(|key| -0.4979875385761261 + f64::from(key) * 0.03333333363899818).collect();
    let time = times[26].next_up();
    assert_eq!([times[26], time], [0.36867913603782654, 0.3686791360378266]);
    let values: Vec<f64> = (0..27).map(f64::from).collect();
    let step = curve(Timeline::new(times).unwrap(), Interpolation::Step, 1, &values);
    let Animated { library, clip } =
        property(step.with_extrapolation(Extrapolation::Clamp, Extrapolation::PingPong), Some(1.0));
    let mut crowd = Crowd::new();
    for time in [time, 0.38] {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
    let expected = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    each_engine(&library, |engine| {
        let mut found = engine.evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        assert!([25.0, 26.0].contains(&found.instances[0].properties[0]), "{}: {found:?}", engine.engine());
        let is_within = |found: &Poses| contract::compare(&library, &crowd, Ticks(0), &expected, found).is_within();
        assert!(is_within(&found), "{}: {found:?}", engine.engine());
        // Any other value is wrong, there and in the middle of an interval.
        for instance in 0..2 {
            let value = std::mem::replace(&mut found.instances[instance].properties[0], 24.0);
            assert!(!is_within(&found), "{}: {found:?}", engine.engine());
            found.instances[instance].properties[0] = value;
        }
    });
}

#[test]
fn a_loop_far_longer_than_its_clip_does_no_harm() {
    let timeline = Timeline::snapping(vec![1.0, 1e30], 1e-6).unwrap();
    let looped = curve(timeline, Interpolation::Linear, 1, &[0.0, 1.0]);
    let looped = looped.with_extrapolation(Extrapolation::Loop, Extrapolation::Clamp);
    check(property(looped, Some(1.0)), &[(0.0, 1.0), (0.5, 1.0), (1.0, 0.0)]);
}

#[test]
fn an_empty_skeleton_is_posed() {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new()).unwrap());
    let clip = library.add_clip(Clip { length: Some(1.0), ..Clip::new(None, skeleton, Vec::new()) }).unwrap();
    each_engine(&library, |engine| assert_eq!(pose_at(engine, &library, clip, 0.5).local, []));
}
