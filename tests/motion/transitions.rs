use glam::DVec3;
use posse::curves::{Interpolation, Target, Track};
use posse::parameters::{Knots, Parameter, WeightDriver};
use posse::transitions::{NewTransition, Transition, TransitionKind};
use posse::{
    AdditiveReference, Clip, ClipId, Crowd, Evaluator, Layer, LayerMode, LayerTime, Library, Outputs, Playback,
    Reference, SkeletonId, Ticks, WrapMode, contract,
};

use super::{add_clip, angle, assert_as_reference, each_engine, follower, ramp, rig, step, ticks};
use crate::support::build::{curve, degrees};
use crate::support::scenes::Numbers;

const INERTIAL: TransitionKind = TransitionKind::Inertial;

fn dead(seconds: f64) -> TransitionKind {
    TransitionKind::Dead { seconds }
}

fn transition(start: f64, from: &[Layer], kind: TransitionKind, half_life: f64) -> Transition {
    Transition { start: ticks(start), from: from.to_vec(), kind, half_life, before: None }
}

/// The hip of the only instance of a crowd, by each engine.
fn check_x(library: &Library, crowd: &Crowd, cases: &[(f64, f64)]) {
    each_engine(library, |engine| {
        for &(now, expected) in cases {
            let poses = engine.evaluate(crowd, ticks(now), Outputs { local: true, ..Outputs::NONE }).unwrap();
            let found = poses.instances[0].local[0].translation.x;
            assert!((found - expected).abs() < 3e-6, "{}, {now} s: {found}, expected {expected}", engine.engine());
        }
    });
}

fn playing(clip: ClipId, start: f64) -> Layer {
    Layer::new(clip, LayerTime::Playing(Playback::looping(start, 1.0)))
}

#[test]
fn an_inertial_transition_is_a_critically_damped_spring() {
    let (mut library, skeleton) = rig();
    let clip = ramp(&mut library, skeleton, 8.0, &[]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(1.0))]).unwrap();
    // From x = 2 + (t - 2), at 1 m/s, to x = 1.
    let from = [playing(clip, 0.0)];
    crowd.set_transition(&library, 0, Some(transition(2.0, &from, INERTIAL, 0.5))).unwrap();
    let y = 4.0 * std::f64::consts::LN_2 / (2.0 * 0.5);
    let x = |u: f64| 1.0 + (1.0 + (1.0 + y) * u) * (-y * u).exp();
    let cases =
        [(1.0, 1.0), (1.5, 1.5), (2.0, 2.0), (2.25, x(0.25)), (3.0, x(1.0)), (5.0, x(3.0)), (10.001, 1.0), (99.0, 1.0)];
    check_x(&library, &crowd, &cases);
}

#[test]
fn a_dead_transition_moves_on_and_gives_way() {
    let (mut library, skeleton) = rig();
    let clip = ramp(&mut library, skeleton, 8.0, &[]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(1.0))]).unwrap();
    let from = [playing(clip, 0.0)];
    crowd.set_transition(&library, 0, Some(transition(2.0, &from, dead(2.0), 0.5))).unwrap();
    let rate = std::f64::consts::LN_2 / 0.5;
    let x = |u: f64| {
        let (out, k) = (2.0 + (1.0 - (-rate * u).exp()) / rate, u / 2.0);
        out + (1.0 - out) * k * k * (3.0 - 2.0 * k)
    };
    check_x(
        &library,
        &crowd,
        &[(1.0, 1.0), (2.0, 2.0), (2.001, x(0.001)), (2.5, x(0.5)), (3.0, x(1.0)), (4.0, 1.0), (7.0, 1.0)],
    );
}

#[test]
fn a_property_that_is_a_rotation_turns_back_to_its_rest() {
    let (mut library, skeleton) = rig();
    // The number before the rotation has no track either, in both clips.
    let quarter = degrees(DVec3::Y, 90.0).to_array();
    let track = Track::new(Target::Property(1), curve(Interpolation::Step, 4, &[0.0], &quarter));
    let turned = library.add_clip(Clip::new(None, skeleton, vec![track])).unwrap();
    let plain = ramp(&mut library, skeleton, 8.0, &[]);
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(plain, LayerTime::At(1.0))]).unwrap();
    let from = [Layer::new(turned, LayerTime::At(0.0))];
    crowd.set_transition(&library, 0, Some(transition(2.0, &from, INERTIAL, 0.5))).unwrap();
    let y = 4.0 * std::f64::consts::LN_2 / (2.0 * 0.5);
    each_engine(&library, |engine| {
        for now in [1.0, 2.0, 2.25, 3.0, 99.0_f64] {
            let u = (now - 2.0).max(0.0);
            let half = 45.0_f64.to_radians() * (1.0 + y * u) * (-y * u).exp();
            let expected = [4.0, 0.0, half.sin(), 0.0, half.cos()];
            let poses = engine.evaluate(&crowd, ticks(now), Outputs { properties: true, ..Outputs::NONE }).unwrap();
            let found = &poses.instances[0].properties;
            let error =
                found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
            assert!(error < 3e-6, "{}, {now} s: {found:?}, expected {expected:?}", engine.engine());
        }
    });
}

/// Instances with transitions of every kind.
fn random(library: &mut Library, skeleton: SkeletonId, count: usize, seed: u64) -> Crowd {
    let mut numbers = Numbers::new(seed);
    let clips = [(1.0, 1), (0.7, 2), (1.6, 3), (1.1, 4)]
        .map(|(seconds, seed)| add_clip(library, skeleton, seconds, &[0.1, 0.2 + 0.1 * seed as f64], seed));
    let knots = library.add_knots(Knots::new(vec![[-1.0, 0.2], [1.0, 1.0]]).unwrap());
    let layers = |numbers: &mut Numbers| -> Vec<Layer> {
        let time = match numbers.below(5) {
            0 => LayerTime::Phase { parameter: 1, wrap: WrapMode::Loop },
            1 => LayerTime::At(0.3),
            _ => LayerTime::Playing(Playback::looping(numbers.within(-1.0, 1.0), numbers.within(-1.5, 1.5))),
        };
        let mut layers = vec![Layer::new(clips[numbers.below(4)], time)];
        if numbers.below(2) == 0 {
            let driver = (numbers.below(2) == 0).then_some(WeightDriver::Knots { parameter: 0, knots });
            let mode =
                [LayerMode::Blend, LayerMode::Override, LayerMode::Additive(AdditiveReference::Rest)][numbers.below(3)];
            layers.push(Layer { driver, mode, weight: 0.6, ..follower(clips[numbers.below(4)]) });
        }
        layers
    };
    let mut crowd = Crowd::new();
    for _ in 0..count {
        let instance = crowd.push(skeleton, &layers(&mut numbers)).unwrap();
        let keys = |numbers: &mut Numbers| {
            Parameter::new(vec![[0.0, numbers.within(-1.0, 1.0)], [5.0, numbers.within(-1.0, 3.0)]]).unwrap()
        };
        crowd.set_parameters(instance, vec![keys(&mut numbers), keys(&mut numbers)]).unwrap();
        let mut before = None;
        let mut start = 0.5;
        for _ in 0..numbers.below(5) {
            start += numbers.within(0.01, 0.6);
            let kind = if numbers.below(2) == 0 { INERTIAL } else { dead(numbers.within(0.1, 1.0)) };
            let half_life = numbers.within(0.02, 0.4);
            let from = layers(&mut numbers);
            before = Some(Box::new(Transition { before, ..transition(start, &from, kind, half_life) }));
        }
        crowd.set_transition(library, instance, before.map(|transition| *transition)).unwrap();
    }
    crowd
}

#[test]
fn transitions_of_every_kind_are_within_the_contract() {
    let (mut library, skeleton) = rig();
    let crowd = random(&mut library, skeleton, 120, 3);
    let steps = [
        step(0.0, 0.7),
        step(0.7, 1.1),
        step(1.1, 1.6),
        step(1.6, 1.617),
        step(3.0, 0.4),
        step(2.0, 2.4),
        step(2.4, 9.0),
    ];
    assert_as_reference(&library, &crowd, &steps);
}

#[test]
fn events_across_transitions_are_those_of_the_reference() {
    let (mut library, skeleton) = rig();
    let crowd = random(&mut library, skeleton, 60, 4);
    for step in [step(0.0, 0.7), step(0.2, 3.3), step(1.1, 1.6), step(2.0, 0.4)] {
        super::assert_same_events(&library, &crowd, step);
    }
    // Steps that begin or end at the start of a transition, or a tick before it.
    let start = crowd.transition(0).or(crowd.transition(1)).or(crowd.transition(2)).unwrap().start;
    for (from, to) in [(start - Ticks(1), start), (start, start + Ticks(1)), (start - Ticks(2), start - Ticks(1))] {
        super::assert_same_events(&library, &crowd, posse::Step { from, to });
    }
}

#[test]
fn value_and_speed_are_continuous_at_the_start() {
    let (mut library, skeleton) = rig();
    let [a, b] = [1, 2].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    for kind in [INERTIAL, dead(0.4)] {
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[playing(b, 0.3)]).unwrap();
        // Between two keys of both, which are an eighth of a second apart.
        let start = 2.05;
        crowd.set_transition(&library, 0, Some(transition(start, &[playing(a, 0.0)], kind, 0.1))).unwrap();
        each_engine(&library, |engine| {
            let frame = 1.0 / 60.0;
            let mut pose = |now: f64| engine.evaluate(&crowd, ticks(now), Outputs::ALL).unwrap().instances.remove(0);
            let [before, at, after] = [start - frame, start, start + frame].map(&mut pose);
            for joint in 0..3 {
                let positions = [&before, &at, &after].map(|pose| pose.local[joint].translation);
                let change = (positions[2] - positions[1]) - (positions[1] - positions[0]);
                // An acceleration of the spring over a frame: y y times a distance of 0.2 m.
                assert!(change.length() < 0.06, "{}: {change}", engine.engine());
                let turns = [&before, &at, &after].map(|pose| pose.local[joint].rotation);
                let [first, second] = [turns[1] * turns[0].conjugate(), turns[2] * turns[1].conjugate()];
                assert!(angle(second * first.conjugate()) < 0.35, "{}, joint {joint}", engine.engine());
            }
        });
    }
}

#[test]
fn an_interruption_begins_from_the_pose_that_is_shown() {
    let (mut library, skeleton) = rig();
    let clips = [1, 2, 3].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[playing(clips[0], 0.0)]).unwrap();
    let mut poses = Vec::new();
    for (index, now) in [1.0, 1.1, 1.15].into_iter().enumerate() {
        let pose = Reference::new(&library).evaluate(&crowd, ticks(now), Outputs::ALL).unwrap();
        let layers = [playing(clips[(index + 1) % 3], 0.2)];
        crowd.begin_transition(&library, &NewTransition::new(0, &layers, ticks(now))).unwrap();
        poses.push((now, pose));
    }
    for (now, expected) in poses {
        each_engine(&library, |engine| {
            let found = engine.evaluate(&crowd, ticks(now), Outputs::ALL).unwrap();
            let report = contract::compare(&library, &crowd, ticks(now), &expected, &found);
            assert!(report.is_within(), "{}, {now} s: {:?}", engine.engine(), report.quantities());
        });
    }
}
