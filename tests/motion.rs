//! Parameters, synchronised layers and transitions: hand-worked cases, and comparisons with the reference, on every
//! engine.

/// Weights by knots and blend spaces.
mod blend_spaces;
/// Root motion and events of synchronised layers, and across the start of a transition.
mod movement;
/// Parameters of crowds on the CPU, instance by instance.
mod on_cpu;
/// Crowds on the GPU: parameters in a buffer, room.
mod on_gpu;
/// Times by parameters.
mod phases;
/// Times by leaders.
mod sync;
/// Transitions.
mod transitions;
/// The bytes that a frame uploads.
mod uploads;

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::events::Event;
use posse::packed::PackedLibrary;
use posse::parameters::Parameter;
use posse::rig::Property;
use posse::root_motion::{RootMotion, RootRotation};
use posse::{
    Clip, ClipId, Crowd, Evaluator, Joint, Layer, LayerTime, Library, Outputs, Reference, Skeleton, SkeletonId, Step,
    Ticks, Transform, contract,
};

use crate::support::build::{curve, degrees};
use crate::support::each_engine;
use crate::support::scenes::Numbers;

/// Root motion by the first joint: along x and z, with its turn.
const ROOT: RootMotion = RootMotion { joint: 0, translation: [true, false, true], rotation: RootRotation::Yaw };

/// Runs a check with each engine that knows parameters, synchronised layers and transitions.
fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    fast_engines(library, check);
}

/// As [`each_engine`], without the reference.
fn fast_engines(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    let packed = || PackedLibrary::new(library).unwrap();
    each_engine::fast_engines(&packed, &mut check);
}

/// A rig of three joints with a morph weight and two properties: a number and a rotation.
fn rig() -> (Library, SkeletonId) {
    let joint = |name: &str, parent, translation: [f64; 3]| {
        let rest = Transform { translation: DVec3::from(translation), ..Transform::IDENTITY };
        Joint {
            name: Some(name.into()),
            parent,
            rest,
            weights: vec![0.25; usize::from(parent == Some(0))],
            ..Joint::default()
        }
    };
    let joints = vec![
        joint("hip", None, [0.0, 1.0, 0.0]),
        joint("knee", Some(0), [0.0, -0.5, 0.0]),
        joint("foot", Some(1), [0.0, -0.5, 0.1]),
    ];
    let property = |name: &str, rest: &[f64], rotation| Property { name: name.into(), rest: rest.to_vec(), rotation };
    let properties = vec![property("/light", &[4.0], false), property("/turn", &[0.0, 0.0, 0.0, 1.0], true)];
    let mut library = Library::new();
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, properties).unwrap());
    (library, skeleton)
}

/// Adds a clip of some seconds that moves all: the hip walks along z, the other values swing. The seed varies it.
fn add_clip(library: &mut Library, skeleton: SkeletonId, seconds: f64, markers: &[f64], seed: u64) -> ClipId {
    let mut numbers = Numbers::new(seed);
    let times: Vec<f64> = (0..=8).map(|key| seconds * key as f64 / 8.0).collect();
    let mut swing =
        |count: usize, size: f64| -> Vec<f64> { (0..9 * count).map(|_| numbers.within(-size, size)).collect() };
    let mut hip = swing(3, 0.1);
    for key in 0..9 {
        hip[3 * key + 1] += 1.0;
        hip[3 * key + 2] += 1.4 * seconds * key as f64 / 8.0;
    }
    let mut rotation = |axis: DVec3, step: f64| -> Vec<f64> {
        let angles = swing(1, step);
        angles.iter().flat_map(|&angle| degrees(axis, angle).to_array()).collect()
    };
    let (turn, bend, roll) = (rotation(DVec3::Y, 30.0), rotation(DVec3::X, 70.0), rotation(DVec3::Z, 80.0));
    let scale: Vec<f64> = swing(3, 0.2).iter().map(|number| 1.0 + number).collect();
    let (weight, light) = (swing(1, 1.0), swing(1, 5.0));
    let track = |target, width, values: &[f64]| Track::new(target, curve(Interpolation::Linear, width, &times, values));
    let tracks = vec![
        track(Target::Translation(0), 3, &hip),
        track(Target::Rotation(0), 4, &turn),
        track(Target::Rotation(1), 4, &bend),
        track(Target::Scale(2), 3, &scale),
        track(Target::Weights(1), 1, &weight),
        track(Target::Property(0), 1, &light),
        track(Target::Property(1), 4, &roll),
    ];
    let events = [0.0, 0.1, 0.5, 0.75, 1.0];
    let events = events.map(|part| Event { time: part * seconds, function: "step".into(), parameters: Vec::new() });
    let clip = Clip {
        length: Some(seconds),
        markers: markers.to_vec(),
        events: events.to_vec(),
        root_motion: Some(ROOT),
        ..Clip::new(None, skeleton, tracks)
    };
    library.add_clip(clip).unwrap()
}

/// A clip of some seconds whose hip is at `x` = the time, from 0 on, and which turns none.
fn ramp(library: &mut Library, skeleton: SkeletonId, seconds: f64, markers: &[f64]) -> ClipId {
    let values = [0.0, 0.0, 0.0, seconds, 0.0, 0.0];
    let track = Track::new(Target::Translation(0), curve(Interpolation::Linear, 3, &[0.0, seconds], &values));
    let clip = Clip { length: Some(seconds), markers: markers.to_vec(), ..Clip::new(None, skeleton, vec![track]) };
    library.add_clip(clip).unwrap()
}

/// A parameter that keeps its value.
fn constant(value: f64) -> Parameter {
    Parameter::constant(value).unwrap()
}

/// Ticks of seconds.
fn ticks(seconds: f64) -> Ticks {
    Ticks::from_seconds(seconds)
}

fn step(from: f64, to: f64) -> Step {
    Step { from: ticks(from), to: ticks(to) }
}

/// Checks that each engine poses and moves a crowd as the reference does, at the ends of some steps.
#[track_caller]
fn assert_as_reference(library: &Library, crowd: &Crowd, steps: &[Step]) {
    let expected: Vec<_> =
        steps.iter().map(|&step| Reference::new(library).evaluate_step(crowd, step, Outputs::ALL).unwrap()).collect();
    fast_engines(library, |engine| {
        for (&step, expected) in steps.iter().zip(&expected) {
            let found = engine.evaluate_step(crowd, step, Outputs::ALL).unwrap();
            let report = contract::compare(library, crowd, step, expected, &found);
            assert!(report.is_within(), "{}, {step:?}: {:?}", engine.engine(), report.quantities());
        }
    });
}

/// Checks that each engine lists the events of a crowd as the reference does.
#[track_caller]
fn assert_same_events(library: &Library, crowd: &Crowd, step: Step) {
    let expected = Reference::new(library).evaluate_events(crowd, step, 100_000).unwrap();
    fast_engines(library, |engine| {
        let found = engine.evaluate_events(crowd, step, 100_000).unwrap();
        crate::occurrences::assert_same(&found, &expected, &format!("{}, {step:?}", engine.engine()));
    });
}

/// The x of the hip of an instance, by each engine: it must be as expected.
#[track_caller]
fn assert_x(library: &Library, crowd: &Crowd, now: Ticks, expected: &[f64]) {
    each_engine(library, |engine| {
        let poses = engine.evaluate(crowd, now, Outputs { local: true, ..Outputs::NONE }).unwrap();
        for (instance, (pose, expected)) in poses.instances.iter().zip(expected).enumerate() {
            let found = pose.local[0].translation.x;
            let close = (found - expected).abs() <= 2e-6 * expected.abs().max(1.0);
            assert!(close, "{}, instance {instance}: {found}, expected {expected}", engine.engine());
        }
    });
}

/// A crowd of instances with these layers and parameters.
fn crowd_of<'a>(skeleton: SkeletonId, instances: impl IntoIterator<Item = (Vec<Layer>, &'a [f64])>) -> Crowd {
    let mut crowd = Crowd::new();
    for (layers, values) in instances {
        let instance = crowd.push(skeleton, &layers).unwrap();
        let parameters: Vec<Parameter> = values.iter().copied().map(constant).collect();
        crowd.set_parameters(instance, parameters).unwrap();
    }
    crowd
}

/// A layer that follows the first one.
fn follower(clip: ClipId) -> Layer {
    Layer::new(clip, LayerTime::Synced { leader: 0 })
}

/// The angle of a rotation.
fn angle(rotation: DQuat) -> f64 {
    2.0 * rotation.xyz().length().atan2(rotation.w.abs())
}
