use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};
use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::events::Event;
use posse::ik::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::parameters::{BlendSpace, Knots, Parameter, WeightDriver};
use posse::rig::Property;
use posse::root_motion::{RootMotion, RootRotation};
use posse::transitions::{Fade, FadeShape, Transition, TransitionKind};
use posse::{
    AdditiveReference, Clip, ClipId, Crowd, Joint, Layer, LayerMode, LayerTime, Library, Mask, Playback, Skeleton,
    SkeletonId, Skin, Step, Ticks, Transform, WrapMode,
};

use crate::support::scenes::Scene;

/// A second.
const SECOND: i64 = Ticks::PER_SECOND;

/// A small scene that has every kind of number: all forms of curves, layers, drivers, goals and transitions. Five
/// joints have neighbouring rotation keys, which fill a block of every register width.
pub fn specimen() -> Scene {
    let mut library = Library::new();
    let skeleton = library.add_skeleton(figure());
    let other = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap());
    let joints = vec![0, 1, 2, 5];
    let inverse_bind = joints.iter().map(|&joint| DAffine3::from_translation(DVec3::splat(joint as f64))).collect();
    library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
    let walk = library.add_clip(walk(skeleton)).unwrap();
    let run = library.add_clip(run(skeleton)).unwrap();
    let crowd = crowd(&mut library, [skeleton, other], [walk, run]);
    Scene { library, crowd, step: Step { from: Ticks(SECOND / 2), to: Ticks(2 * SECOND) } }
}

/// A chain of five joints with morph weights at its end, and a joint that is given by a matrix.
fn figure() -> Skeleton {
    let joint = |index: usize| {
        let rest = Transform { translation: DVec3::new(0.1, 1.0, 0.0), ..Transform::IDENTITY };
        let weights = if index == 4 { vec![0.25, 0.5] } else { Vec::new() };
        Joint { name: Some(format!("joint {index}")), parent: index.checked_sub(1), rest, weights, ..Joint::default() }
    };
    let mut joints: Vec<Joint> = (0..5).map(joint).collect();
    joints.push(Joint { parent: Some(0), matrix: Some(DAffine3::from_scale(DVec3::splat(2.0))), ..Joint::default() });
    let property = |name: &str, rest: &[f64], rotation| Property { name: name.into(), rest: rest.to_vec(), rotation };
    let properties = vec![
        property("/light", &[0.5], false),
        property("/turn", &[0.0, 0.0, 0.0, 1.0], true),
        property("/as is", &[0.5; 4], false),
    ];
    Skeleton::new(Some("figure".into()), joints, properties).unwrap()
}

fn timeline(times: &[f64]) -> Arc<Timeline> {
    Arc::new(Timeline::new(times.to_vec()).unwrap())
}

/// The half turns of quaternions about z, key by key, each four numbers.
fn turns(angles: &[f64]) -> Vec<f64> {
    angles.iter().flat_map(|&angle| DQuat::from_rotation_z(angle).to_array()).collect()
}

/// A clip with a length: rotations of five joints side by side, and curves that go on beyond their keys.
fn walk(skeleton: SkeletonId) -> Clip {
    use Interpolation::{CubicSpline, Linear, Slerp, Step};
    let (even, uneven) = (timeline(&[0.0, 0.5, 1.0]), timeline(&[0.1, 0.2, 0.9, 1.5]));
    let snapping = Arc::new(Timeline::snapping(vec![0.0, 0.75, 0.75, 1.25], 1e-6).unwrap());
    let curve = |timeline: &Arc<Timeline>, interpolation, width, values: Vec<f64>| {
        Curve::new(Arc::clone(timeline), interpolation, width, values).unwrap()
    };
    let mut tracks: Vec<Track> = (0..4)
        .map(|joint| {
            let angle = 0.3 * (joint + 1) as f64;
            Track::new(Target::Rotation(joint), curve(&even, Linear, 4, turns(&[0.0, angle, -angle])))
        })
        .collect();
    let spline: Vec<f64> = (0..9).map(|number| 0.1 * f64::from(number)).collect();
    let cubic = curve(&timeline(&[0.25, 1.75]), CubicSpline, 3, [spline.clone(), spline].concat());
    let scale = curve(&uneven, Step, 3, vec![1.0, 1.1, 1.2, 1.3, 1.0, 0.9, 0.8, 0.7, 1.0, 1.1, 1.2, 1.3]);
    let angles = curve(&even, Linear, 3, vec![0.0, 10.0, 20.0, 30.0, 40.0, 50.0, -30.0, 0.0, 90.0]);
    let bezier = CurveEasing::One(Easing::Bezier([0.25, 0.1, 0.25, 1.5]));
    let by_key = CurveEasing::PerKey([Easing::QuadIn, Easing::BounceOut].into());
    let numbers = |timeline: &Arc<Timeline>| curve(timeline, Linear, 1, vec![0.0, 1.0, 0.5, 0.25]);
    let loops = numbers(&uneven).with_extrapolation(Extrapolation::Loop, Extrapolation::PingPong);
    let lines = numbers(&snapping).with_extrapolation(Extrapolation::Linear, Extrapolation::Linear);
    tracks.extend([
        Track::new(Target::Translation(0), cubic),
        Track::new(Target::Scale(2), scale),
        Track::new(Target::EulerAngles(4), angles.with_easing(bezier).unwrap()),
        Track::new(Target::Weights(4), curve(&even, Linear, 2, vec![0.0, 1.0, 0.5, 0.25, 1.0, 0.0])),
        Track::component(Target::Translation(1), 1, loops),
        Track::component(Target::Scale(3), 2, lines),
        Track::new(Target::Property(0), numbers(&uneven).with_easing(by_key).unwrap()),
        Track::new(Target::Property(1), curve(&even, Linear, 4, turns(&[0.0, FRAC_PI_2, 3.0]))),
        Track::new(Target::Property(2), curve(&even, Slerp, 4, vec![FRAC_1_SQRT_2; 12])),
    ]);
    let event = |time: f64| Event { time, function: "step".into(), ..Event::default() };
    Clip {
        length: Some(2.0),
        events: vec![event(0.0), event(0.7), event(2.0)],
        markers: vec![0.25, 1.0],
        root_motion: Some(RootMotion { joint: 0, translation: [true, false, true], rotation: RootRotation::Yaw }),
        ..Clip::new(Some("walk".into()), skeleton, tracks)
    }
}

/// A clip as long as its keys: one rotation and one translation, each on a timeline of its own.
fn run(skeleton: SkeletonId) -> Clip {
    let turn = Curve::new(timeline(&[0.0, 0.8]), Interpolation::Linear, 4, turns(&[0.2, 0.4])).unwrap();
    let values = vec![0.0, 1.0, 0.0, 0.0, 1.5, 0.0, 0.0, 1.0, 2.0];
    let way = Curve::new(timeline(&[0.0, 0.3, 0.6]), Interpolation::Linear, 3, values).unwrap();
    let tracks = vec![Track::new(Target::Rotation(1), turn), Track::new(Target::Translation(0), way)];
    Clip { speed: 1.5, markers: vec![0.1, 0.5], ..Clip::new(Some("run".into()), skeleton, tracks) }
}

/// An instance per kind of mixing, the last of another skeleton.
fn crowd(library: &mut Library, [skeleton, other]: [SkeletonId; 2], [walk, run]: [ClipId; 2]) -> Crowd {
    let weights = vec![1.0, 0.5, 0.0, 2.0, 1.0, 1.0];
    let mask = library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
    let knots = library.add_knots(Knots::new(vec![[-1.0, 0.0], [0.5, 1.0], [2.0, 0.25]]).unwrap());
    let square = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let space = library.add_blend_space(BlendSpace::new(square).unwrap());
    let two_bone = ChainKind::TwoBone { joints: [1, 2, 4], pole: Some([0.0, 0.0, 1.0]), hold: true };
    let aim = ChainKind::Aim { joint: 3, forward: [0.0, 0.0, 1.0], limit: 1.0 };
    let chains = [two_bone, aim].map(|kind| library.add_chain(Chain { name: None, skeleton, kind }).unwrap());

    let playback = Playback {
        repeat_count: Some(2.5),
        range: Some([0.25, 1.5]),
        ..Playback::new(WrapMode::PingPong, Ticks(SECOND / 4), -1.25)
    };
    let playing = Layer::new(walk, LayerTime::Playing(playback));
    let looping = Layer::new(run, LayerTime::Playing(Playback::looping(0.0, 1.0)));
    let fade = |start: i64, shape| Fade { start: Ticks(start), length: Ticks(2 * SECOND), shape };
    let faded = Layer {
        weight: 0.75,
        mode: LayerMode::Override,
        mask: Some(mask),
        fade_in: Some(fade(0, FadeShape::Smooth)),
        fade_out: Some(fade(SECOND, FadeShape::Linear)),
        ..looping
    };
    let added = Layer { weight: 0.5, mode: LayerMode::Additive(AdditiveReference::First), ..looping };
    let phase = LayerTime::Phase { parameter: 0, wrap: WrapMode::Loop };
    let leading = Layer { driver: Some(WeightDriver::Knots { parameter: 1, knots }), ..Layer::new(walk, phase) };
    let point = WeightDriver::Point { space, parameters: [1, 2], point: 3 };
    let following = Layer { driver: Some(point), ..Layer::new(run, LayerTime::Synced { leader: 0 }) };
    let parameters = vec![
        Parameter::new(vec![[0.0, 0.0], [3.0, 2.5]]).unwrap(),
        Parameter::constant(0.75).unwrap(),
        Parameter::constant(0.5).unwrap(),
    ];

    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(walk, LayerTime::At(0.6))]).unwrap();
    crowd.push(skeleton, &[playing]).unwrap();
    crowd.push(skeleton, &[playing, faded, added]).unwrap();
    let driven = crowd.push(skeleton, &[leading, following]).unwrap();
    crowd.set_parameters(driven, parameters).unwrap();
    let goals = [
        Goal::new(chains[0], GoalTarget::Point([0.5, 2.0, 0.5])),
        Goal { weight: GoalWeight::Parameter(1), ..Goal::new(chains[1], GoalTarget::Parameters([0, 1, 2])) },
        Goal { weight: GoalWeight::Fixed(0.5), ..Goal::new(chains[1], GoalTarget::Point([1.0, 0.0, 0.0])) },
    ];
    crowd.set_goals(driven, goals).unwrap();
    let before = Transition {
        start: Ticks(SECOND),
        from: vec![looping],
        kind: TransitionKind::Inertial,
        half_life: 0.25,
        before: None,
    };
    let transition = Transition {
        start: Ticks(3 * SECOND / 2),
        from: vec![playing],
        kind: TransitionKind::Dead { seconds: 1.0 },
        half_life: 0.1,
        before: Some(Box::new(before)),
    };
    let changing = crowd.push(skeleton, &[looping]).unwrap();
    crowd.set_transition(library, changing, Some(transition)).unwrap();
    crowd.push(other, &[]).unwrap();
    crowd
}
