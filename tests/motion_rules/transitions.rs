//! Rules 8 to 14: transitions, and root motion and events across their starts.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target};
use posse::events::Event;
use posse::rig::Property;
use posse::root_motion::{RootMotion, RootRotation};
use posse::transitions::{Fade, FadeShape, Transition, TransitionKind};
use posse::{Crowd, Error, Joint, Layer, Library, Outputs, Skeleton, Step, Ticks, WrapMode};

use super::{Rig, keyed, looping, phase, pose};
use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::{clip, curve, degrees};
use crate::support::each_engine::each_engine;

fn at(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

/// An inertial transition at a second from one layer, with a half-life of 0.5 s. Its `y` is `4 ln 2 / 1 = 2.7725887`,
/// so that `exp(-y u)` is 1/2 after a quarter of a second.
fn inertial(start: f64, from: &[Layer]) -> Transition {
    let kind = TransitionKind::Inertial;
    Transition { start: at(start), from: from.to_vec(), kind, half_life: 0.5, before: None }
}

/// A dead transition of one second with a half-life of 0.5 s. Its `l` is `ln 2 / 0.5 = 1.3862944`.
fn dead(start: f64, from: &[Layer]) -> Transition {
    Transition { kind: TransitionKind::Dead { seconds: 1.0 }, ..inertial(start, from) }
}

#[test]
fn before_its_start_the_pose_is_that_of_the_layers_that_go_out() {
    let mut rig = Rig::new();
    let [out, into] = [rig.moving(0, 16.0, 3.0), rig.standing(10.0)];
    for transition in [inertial(2.0, &[looping(out)]), dead(2.0, &[looping(out)])] {
        let crowd = rig.in_transition(&[looping(into)], transition);
        rig.assert_x(&crowd, 0, &[(-1.0, 45.0), (1.0, 3.0), (2.0 - 1.0 / 1024.0, 6.0 - 3.0 / 1024.0), (2.0, 6.0)]);
    }
    // Nothing comes in, or goes out: the rest pose at 0.
    let to_rest = rig.in_transition(&[], inertial(2.0, &[looping(into)]));
    rig.assert_x(&to_rest, 0, &[(1.0, 10.0), (2.0, 10.0), (2.25, 8.465_735_9), (90.0, 0.0)]);
    let from_rest = rig.in_transition(&[looping(into)], inertial(2.0, &[]));
    rig.assert_x(&from_rest, 0, &[(1.0, 0.0), (2.0, 0.0), (2.25, 10.0 - 8.465_735_9), (90.0, 10.0)]);
}

#[test]
fn an_inertial_transition_decays_with_the_difference_of_the_speeds() {
    let mut rig = Rig::new();
    let (out, still) = (rig.moving(0, 16.0, 3.0), rig.standing(10.0));
    let slow = rig.moving(0, 16.0, 1.0);
    // x = 6 - 10 = -4, v = 3: 10 + (-4 + (3 - 4 y) / 4) / 2.
    let crowd = rig.in_transition(&[looping(still)], inertial(2.0, &[looping(out)]));
    rig.assert_x(&crowd, 0, &[(2.25, 6.988_705_64)]);
    // x = 6 - 2 = 4, v = 3 - 1 = 2: 2.25 + (4 + (2 + 4 y) / 4) / 2.
    let crowd = rig.in_transition(&[looping(slow)], inertial(2.0, &[looping(out)]));
    rig.assert_x(&crowd, 0, &[(2.25, 5.886_294_36)]);
    // The clip that comes in begins at the start, and has not moved before: x = 6 - 0, v = 3 - 1; 0.25 + (6 + (2 + 6 y)
    // / 4) / 2.
    let time = posse::LayerTime::Playing(posse::Playback::new(WrapMode::Normal, at(2.0), 1.0));
    let crowd = rig.in_transition(&[Layer::new(slow, time)], inertial(2.0, &[looping(out)]));
    rig.assert_x(&crowd, 0, &[(2.25, 0.25 + (6.0 + (2.0 + 6.0 * 2.772_588_72) / 4.0) / 2.0)]);
}

#[test]
fn a_jump_of_a_clip_counts_as_movement() {
    let mut rig = Rig::new();
    let (out, still) = (rig.moving(0, 2.0, 3.0), rig.standing(10.0));
    // 1/128 s after the loop, x = 3/128 - 10 and v = 64 (3/128 - 3 (2 - 1/128)) = -381.
    let crowd = rig.in_transition(&[looping(still)], inertial(2.0 + 1.0 / 128.0, &[looping(out)]));
    rig.assert_x(&crowd, 0, &[(2.25 + 1.0 / 128.0, -46.070_894_3)]);
}

#[test]
fn an_inertial_transition_is_over_after_16_half_lives() {
    let mut rig = Rig::new();
    let (out, still) = (rig.standing(1e6), rig.standing(10.0));
    let crowd = rig.in_transition(&[looping(still)], inertial(2.0, &[looping(out)]));
    // At 8 s, (1e6 - 10) (1 + 8 y) / 2^32 is left: 999990 x 23.1807098 / 4294967296.
    rig.assert_x(&crowd, 0, &[(10.0, 10.005_397_1), (10.0 + 1.0 / 1024.0, 10.0), (99.0, 10.0)]);
}

#[test]
fn a_dead_transition_moves_on_and_gives_way() {
    let mut rig = Rig::new();
    let (out, still) = (rig.moving(0, 16.0, 3.0), rig.standing(10.0));
    let crowd = rig.in_transition(&[looping(still)], dead(2.0, &[looping(out)]));
    // After half of it, g = (1 - 1/2) / l = 0.36067376, X = 6 + 3 g = 7.08202128, and r = 1/2.
    rig.assert_x(&crowd, 0, &[(2.5, 8.541_010_64), (3.0, 10.0), (9.0, 10.0)]);
    // After a quarter, g = (1 - sqrt(1/2)) / l, and r = 1/16 (3 - 1/2) = 5/32.
    let moved = 6.0 + 3.0 * (1.0 - FRAC_1_SQRT_2) / 1.386_294_361;
    rig.assert_x(&crowd, 0, &[(2.25, moved * 27.0 / 32.0 + 10.0 * 5.0 / 32.0)]);
}

/// Asserts the rotation of the first joint at a second.
#[track_caller]
fn assert_turned(rig: &Rig, crowd: &Crowd, seconds: f64, expected: DQuat) {
    each_engine(&rig.library, |engine| {
        assert_rotation(pose(engine, crowd, seconds).local[0].rotation, expected, engine.engine());
    });
}

#[test]
fn rotations_decay_along_their_axis() {
    let about_z = |angle| degrees(DVec3::Z, angle);
    let mut rig = Rig::new();
    let turning = rig.turning(about_z(0.0), about_z(90.0));
    // The other sign of the quaternions is the same rotation.
    for still in [about_z(-15.0), -about_z(-15.0)] {
        let still = rig.turning(still, still);
        // At 0.5 s the angle is 45 degrees, and its speed 90 degrees per second: x = 60, v = 90, in degrees.
        let crowd = rig.in_transition(&[looping(still)], inertial(0.5, &[looping(turning)]));
        assert_turned(&rig, &crowd, 0.5, about_z(45.0));
        assert_turned(&rig, &crowd, 0.75, about_z(47.044_415_4));
        assert_turned(&rig, &crowd, 9.0, about_z(-15.0));
        // X = 45 + 90 g = 77.4606384 degrees, and half of the way from there to -15.
        let crowd = rig.in_transition(&[looping(still)], dead(0.5, &[looping(turning)]));
        assert_turned(&rig, &crowd, 1.0, about_z(31.230_319_2));
        assert_turned(&rig, &crowd, 1.5, about_z(-15.0));
    }
}

#[test]
fn a_difference_about_a_third_axis_is_applied_after_the_pose() {
    let (out, into) = (degrees(DVec3::X, 90.0), degrees(DVec3::Y, 90.0));
    let mut rig = Rig::new();
    let [from, to] = [rig.turning(out, -out), rig.turning(into, into)];
    // The product of a quarter turn about x and one back about y is (1, -1, -1, 1) / 2: 120 degrees about (1, -1, -1).
    // After a quarter of a second, (1 + y / 4) / 2 = 0.84657359 of it is left.
    let crowd = rig.in_transition(&[looping(to)], inertial(2.0, &[looping(from)]));
    let left = degrees(DVec3::new(1.0, -1.0, -1.0).normalize(), 120.0 * 0.846_573_59);
    assert_turned(&rig, &crowd, 2.25, left * into);
}

#[test]
fn scales_weights_and_properties_decay_too() {
    let joint = Joint { weights: vec![0.0, 0.5], ..Joint::default() };
    let property = |name: &str, rest: &[f64]| Property { name: name.into(), rest: rest.to_vec(), rotation: false };
    let skeleton = Skeleton::new(None, vec![joint], vec![property("glow", &[0.0, 7.0])]).unwrap();
    let mut library = Library::new();
    let skeleton = library.add_skeleton(skeleton);
    let mut standing = |value: f64| {
        let curve = |width: usize| curve(Interpolation::Linear, width, &[0.0], &vec![value; width]);
        let tracks = [(Target::Scale(0), 3), (Target::Weights(0), 2), (Target::Property(0), 2)];
        clip(&mut library, skeleton, tracks.map(|(target, width)| (target, curve(width))).to_vec())
    };
    let [out, into] = [0.2, 1.0].map(&mut standing);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[looping(into)]).unwrap();
    // Inertial: 1 - 0.8 x 0.84657359. Dead, after half of it: half of the way from 0.2 to 1.
    for (transition, seconds, expected) in
        [(inertial(2.0, &[looping(out)]), 2.25, 0.322_741_13), (dead(2.0, &[looping(out)]), 2.5, 0.6)]
    {
        crowd.set_transition(&library, 0, Some(transition)).unwrap();
        each_engine(&library, |engine| {
            let pose = pose(engine, &crowd, seconds);
            assert_vector(pose.local[0].scale, [expected; 3], "scale");
            assert_close(&pose.weights, &[expected; 2], "weights");
            assert_close(&pose.properties, &[expected; 2], "properties");
        });
    }
}

#[test]
fn parameters_are_those_of_the_moments_at_which_poses_are_taken() {
    let mut rig = Rig::new();
    let [out, still] = [rig.moving(0, 2.0, 1.0), rig.standing(10.0)];
    // A phase of 3/4 cycles per second moves 1.5 m per second: at second 1, P0 = 1.5, x = -8.5, v = 1.5.
    let mut crowd = rig.crowd(&[looping(still)], vec![keyed(&[[0.0, 0.0], [1.0, 0.75], [1.5, -9.0]])]);
    let transition = inertial(1.0, &[phase(out, 0, WrapMode::Loop)]);
    crowd.set_transition(&rig.library, 0, Some(transition)).unwrap();
    rig.assert_x(&crowd, 0, &[(0.5, 0.75), (1.25, 10.0 + (-8.5 + (1.5 - 8.5 * 2.772_588_72) / 4.0) / 2.0)]);
}

#[test]
fn a_transition_begins_from_the_pose_of_the_one_that_it_interrupts() {
    let mut rig = Rig::new();
    let (out, middle, last) = (rig.moving(0, 16.0, 3.0), rig.standing(10.0), rig.standing(0.0));
    let inner = inertial(2.0, &[looping(out)]);
    let outer = Transition { before: Some(Box::new(inner)), ..inertial(2.25, &[looping(middle)]) };
    let crowd = rig.in_transition(&[looping(last)], outer.clone());
    // The inner one shows 6.98870564 at second 2.25, and 6.92138851 1/64 s before: v = 4.30829630. A quarter of a
    // second later (6.98870564 + (4.30829630 + 6.98870564 y) / 4) / 2 is left.
    rig.assert_x(&crowd, 0, &[(1.0, 3.0), (2.25, 6.988_705_64), (2.5, 6.454_990_66), (99.0, 0.0)]);
    // Four are allowed, five are not.
    let mut deep = outer;
    for start in [3.0, 4.0] {
        deep = Transition { before: Some(Box::new(deep)), ..inertial(start, &[looping(last)]) };
    }
    let mut crowd = rig.in_transition(&[looping(middle)], deep.clone());
    rig.assert_x(&crowd, 0, &[(1.0, 3.0), (2.5, 6.454_990_66), (99.0, 10.0)]);
    let five = Transition { before: Some(Box::new(deep)), ..inertial(5.0, &[]) };
    let refused = crowd.set_transition(&rig.library, 0, Some(five));
    assert!(matches!(refused, Err(Error::Limit { needed: 5, allowed: 4, .. })), "{refused:?}");
}

#[test]
fn values_and_speeds_are_continuous_at_the_start() {
    const FRAME: f64 = 1.0 / 60.0;
    let mut rig = Rig::new();
    let (out, into) = (rig.moving(0, 16.0, 3.0), rig.moving(0, 16.0, 1.0));
    let turning = [[0.0, 90.0], [-60.0, -20.0]].map(|angles| {
        let [from, to] = angles.map(|angle| degrees(DVec3::Z, angle));
        rig.turning(from, to)
    });
    let tail = Layer { weight: 0.5, ..looping(turning[0]) };
    for transition in [inertial(2.5, &[looping(out), tail]), dead(2.5, &[looping(out), tail])] {
        let crowd = rig.in_transition(&[looping(into), looping(turning[1])], transition.clone());
        each_engine(&rig.library, |engine| {
            let mut values = |seconds: f64| {
                let local = pose(engine, &crowd, seconds).local[0];
                [local.translation.x, local.rotation.to_scaled_axis().z]
            };
            let [before, start, after] = [2.5 - FRAME, 2.5, 2.5 + FRAME].map(&mut values);
            for number in 0..2 {
                let speeds = [start[number] - before[number], after[number] - start[number]].map(|way| way / FRAME);
                // x'' = -2 y v - y^2 x of the inertial one is 2 y 2 + y^2 5 = 50 m/s^2 at most, and 6 / d^2 x 5 + l v =
                // 35 m/s^2 of the dead one: less than 1 m/s in a frame. Without a transition the jump of 5 m is 300
                // m/s.
                let what = format!("{} of {:?}: {speeds:?}", ["x", "angle"][number], transition.kind);
                assert!((speeds[1] - speeds[0]).abs() < 1.0, "{what}");
                assert!((start[number] - before[number]).abs() < 4.0 * FRAME, "{what}");
            }
            assert_close(&[start[0]], &[7.5], "the pose that goes out");
        });
    }
}

/// Clips whose root moves along x at 1, 3 and 10 metres per second.
fn rooted() -> (Rig, [posse::ClipId; 3]) {
    let mut rig = Rig::new();
    let clips = [1.0, 3.0, 10.0].map(|speed| rig.moving(0, 2.0, speed));
    for clip in clips {
        let root = RootMotion { joint: 0, translation: [true, false, false], rotation: RootRotation::None };
        rig.library.set_root_motion(clip, Some(root)).unwrap();
    }
    (rig, clips)
}

#[test]
fn a_step_across_the_start_moves_by_both_parts() {
    let (rig, [slow, medium, fast]) = rooted();
    let fade = Fade { start: at(0.0), length: at(4.0), shape: FadeShape::Linear };
    let fading = Layer { fade_out: Some(fade), ..looping(slow) };
    let plain = rig.in_transition(&[looping(fast)], inertial(2.0, &[looping(slow)]));
    // At second 2, both layers that go out have the weight 1/2: (0.5 + 1.5) / 2 = 1 m in half a second.
    let mixed = [fading, Layer { weight: 0.5, ..looping(medium) }];
    let mixed = rig.in_transition(&[looping(fast)], dead(2.0, &mixed));
    let nested =
        Transition { before: Some(Box::new(inertial(1.0, &[looping(medium)]))), ..inertial(2.0, &[looping(slow)]) };
    let nested = rig.in_transition(&[looping(fast)], nested);
    for (crowd, from, to, expected) in [
        (&plain, 0.5, 1.5, 1.0),
        (&plain, 1.5, 2.5, 0.5 + 5.0),
        (&plain, 2.5, 1.5, -5.5),
        (&plain, 2.0, 2.5, 5.0),
        (&plain, 1.5, 2.0, 0.5),
        (&mixed, 1.5, 2.5, 1.0 + 5.0),
        (&nested, 0.5, 2.5, 1.5 + 1.0 + 5.0),
    ] {
        each_engine(&rig.library, |engine| {
            let outputs = Outputs { root_motion: true, ..Outputs::NONE };
            let poses = engine.evaluate_step(crowd, Step { from: at(from), to: at(to) }, outputs).unwrap();
            let motion = poses.instances[0].root_motion.unwrap();
            assert_close(&motion.translation.to_array(), &[expected, 0.0, 0.0], &format!("{from} s to {to} s"));
        });
    }
}

#[test]
fn events_are_those_of_the_layers_at_their_ticks() {
    let mut rig = Rig::new();
    let clips = [rig.moving(0, 1.0, 1.0), rig.moving(1, 1.0, 1.0)];
    for (clip, times) in clips.into_iter().zip([[0.0, 0.75], [0.0, 0.25]]) {
        let events = times.map(|time| Event { time, ..Event::default() }).to_vec();
        rig.library.set_events(clip, events).unwrap();
    }
    let crowd = rig.in_transition(&[looping(clips[1])], inertial(2.0, &[looping(clips[0])]));
    each_engine(&rig.library, |engine| {
        let mut events = |from: f64, to: f64| -> Vec<(f64, usize)> {
            let list = engine.evaluate_events(&crowd, Step { from: at(from), to: at(to) }, 99).unwrap();
            list.events.iter().map(|event| (event.tick.to_seconds(), event.event)).collect()
        };
        // Event 1 of the first clip is at 0.75 s, of the second one at 0.25 s. Event 0 of second 2 is the second
        // clip's.
        assert_eq!(events(0.5, 2.5), [(0.75, 1), (1.0, 0), (1.75, 1), (2.0, 0), (2.25, 1)]);
        assert_eq!(events(1.5, 1.875), [(1.75, 1)]);
        assert_eq!(events(2.0, 3.0), [(2.25, 1), (3.0, 0)]);
    });
}
