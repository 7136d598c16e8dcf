use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::parameters::Parameter;
use posse::root_motion::{RootMotion, RootRotation};
use posse::transitions::{Transition, TransitionKind};
use posse::{Clip, Crowd, Evaluator, Layer, LayerTime, Outputs, Playback, Ticks, WrapMode};

use super::{ROOT, add_clip, assert_as_reference, assert_same_events, each_engine, follower, rig, step, ticks};
use crate::support::build::curve;

#[test]
fn a_follower_walks_as_far_as_its_own_clip() {
    let (mut library, skeleton) = rig();
    let [lead, own] = [(2.0, 1), (0.5, 2)].map(|(seconds, seed)| {
        let clip = add_clip(&mut library, skeleton, seconds, &[], seed);
        // Without turns, so that all steps are along z.
        let mut clip = library.clip(clip).clone();
        clip.tracks.retain(|track| track.target == posse::curves::Target::Translation(0));
        clip.root_motion = clip
            .root_motion
            .map(|root| posse::root_motion::RootMotion { rotation: posse::root_motion::RootRotation::None, ..root });
        library.add_clip(clip).unwrap()
    });
    let leader = Layer { weight: 0.0, ..Layer::new(lead, LayerTime::Playing(Playback::looping(0.0, 1.0))) };
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[leader, follower(own)]).unwrap();
    // Each loop of the leader is one loop of the follower, without the swing of its first and last key.
    let whole = |engine: &mut dyn Evaluator, from: f64, to: f64| {
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        engine.evaluate_step(&crowd, step(from, to), outputs).unwrap().instances[0].root_motion.unwrap().translation.z
    };
    let keys = |index: usize| {
        let track = &library.clip(own).tracks[0];
        track.curve.values()[3 * index + 2]
    };
    let one = keys(8) - keys(0);
    each_engine(&library, |engine| {
        assert!((whole(engine, 0.0, 2.0) - one).abs() < 1e-5, "{}", engine.engine());
        assert!((whole(engine, 0.5, 6.5) - 3.0 * one).abs() < 1e-5, "{}", engine.engine());
        assert!((whole(engine, 6.5, 0.5) + 3.0 * one).abs() < 1e-5, "{}", engine.engine());
    });
}

#[test]
fn a_step_across_a_start_is_the_product_of_its_parts() {
    let (mut library, skeleton) = rig();
    let [a, b] = [1, 2].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let layer = |clip, wrap| Layer::new(clip, LayerTime::Playing(Playback::new(wrap, Ticks(0), 1.0)));
    let mut crowd = Crowd::new();
    for wrap in WrapMode::ALL {
        let instance = crowd.push(skeleton, &[layer(b, wrap)]).unwrap();
        let inner = Transition {
            start: ticks(1.3),
            from: vec![layer(b, wrap), follower(a)],
            kind: TransitionKind::Inertial,
            half_life: 0.1,
            before: None,
        };
        let outer = Transition {
            start: ticks(1.7),
            from: vec![layer(a, wrap)],
            before: Some(Box::new(inner.clone())),
            ..inner
        };
        crowd.set_transition(&library, instance, Some(outer)).unwrap();
    }
    let steps = [step(1.0, 2.0), step(2.0, 1.0), step(1.3, 1.7), step(1.0, 1.3), step(1.5, 1.9), step(1.7, 1.2)];
    assert_as_reference(&library, &crowd, &steps);
    for step in steps {
        assert_same_events(&library, &crowd, step);
    }
}

#[test]
fn a_clip_without_length_moves_no_instance_however_often_it_begins_again() {
    let (mut library, skeleton) = rig();
    let turn = DQuat::from_axis_angle(DVec3::new(0.48, -0.6, 0.64), 1.3).to_array();
    let tracks = vec![
        Track::new(Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0], &[0.7, -1.1, 5.3])),
        Track::new(Target::Rotation(0), curve(Interpolation::Linear, 4, &[0.0], &turn)),
    ];
    let root_motion = Some(RootMotion { translation: [true; 3], rotation: RootRotation::Full, ..ROOT });
    let clip = library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, tracks) }).unwrap();
    let mut crowd = Crowd::new();
    for wrap in WrapMode::ALL {
        for time in [
            LayerTime::Phase { parameter: 0, wrap },
            LayerTime::Playing(Playback::new(wrap, Ticks(0), 1.0)),
            LayerTime::Playing(Playback::new(wrap, Ticks(0), -0.5)),
        ] {
            let instance = crowd.push(skeleton, &[Layer::new(clip, time), follower(clip)]).unwrap();
            let cycles = vec![[1.0, -3.5], [2.0, 700.25], [3.0, 700.75]];
            crowd.set_parameters(instance, vec![Parameter::new(cycles).unwrap()]).unwrap();
        }
    }
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    each_engine(&library, |engine| {
        for step in [step(1.0, 2.0), step(2.0, 1.0), step(2.0, 3.0), step(-4.0, 9.0)] {
            let found = engine.evaluate_step(&crowd, step, outputs).unwrap();
            for (instance, pose) in found.instances.iter().enumerate() {
                let moved = pose.root_motion.unwrap();
                assert_eq!(moved.translation, DVec3::ZERO, "{}: {instance}, {step:?}", engine.engine());
                assert!(moved.rotation.xyz().length() < 1e-7, "{}: {instance}, {moved:?}", engine.engine());
            }
        }
    });
}
