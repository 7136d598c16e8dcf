//! Root motion: what instances move by from one moment to another, by hand, on every engine.

use std::path::Path;

use glam::{DAffine3, DQuat, DVec3};
use posse::{
    AdditiveReference, Clip, ClipId, Crowd, Error, Fade, FadeShape, Interpolation, Joint, Layer, LayerMode, LayerTime,
    Library, Mask, Motion, Outputs, Playback, Pose, RootMotion, RootRotation, SkeletonId, Step, Target, Ticks, Track,
    Transform, WrapMode, contract,
};

use crate::support::aloud::skipped;
use crate::support::assert_close::{assert_close, assert_rotation, assert_vector};
use crate::support::build::{curve, degrees, joint, library};
use crate::support::each_engine::{each_engine, gpu};

const STILL: RootMotion = RootMotion { joint: 0, translation: [false; 3], rotation: RootRotation::None };
const ALONG: RootMotion = RootMotion { translation: [true, false, true], ..STILL };
const YAW: RootMotion = RootMotion { rotation: RootRotation::Yaw, ..ALONG };

/// A hip at (0, 1, 0) and a knee on it.
fn rig() -> (Library, SkeletonId) {
    library(vec![joint(None, [0.0, 1.0, 0.0]), joint(Some(0), [0.0, -0.5, 0.0])])
}

fn moved(joint: usize, seconds: f64, from: [f64; 3], to: [f64; 3]) -> Track {
    let values = [from, to].concat();
    Track::new(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, seconds], &values))
}

fn turned(seconds: f64, from: DQuat, to: DQuat) -> Track {
    let values = [from.to_array(), to.to_array()].concat();
    Track::new(Target::Rotation(0), curve(Interpolation::Linear, 4, &[0.0, seconds], &values))
}

fn add(library: &mut Library, skeleton: SkeletonId, root_motion: Option<RootMotion>, tracks: Vec<Track>) -> ClipId {
    library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, tracks) }).unwrap()
}

/// A walk of 2 m along z in 1 s, which bobs from 1 m to 1.5 m and leans by 0.25 m.
fn walk() -> (Library, ClipId) {
    let (mut library, skeleton) = rig();
    let tracks = vec![moved(0, 1.0, [0.0, 1.0, 3.0], [0.25, 1.5, 5.0])];
    let clip = add(&mut library, skeleton, Some(RootMotion { translation: [false, false, true], ..STILL }), tracks);
    (library, clip)
}

/// A metre along z in 1 s while turning left by a quarter.
fn curving() -> (Library, ClipId) {
    let (mut library, skeleton) = rig();
    let tracks =
        vec![moved(0, 1.0, [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]), turned(1.0, DQuat::IDENTITY, degrees(DVec3::Y, 90.0))];
    let clip = add(&mut library, skeleton, Some(YAW), tracks);
    (library, clip)
}

fn step(from: f64, to: f64) -> Step {
    Step { from: Ticks::from_seconds(from), to: Ticks::from_seconds(to) }
}

fn playing(wrap: WrapMode, rate: f64) -> Playback {
    Playback::new(wrap, Ticks(0), rate)
}

fn layer(clip: ClipId, playback: Playback) -> Layer {
    Layer::new(clip, LayerTime::Playing(playback))
}

/// Asks every engine for an instance at the end of a step.
fn check(library: &Library, layers: &[Layer], step: Step, check: impl Fn(&Pose, &str)) {
    let mut crowd = Crowd::new();
    crowd.push(library.skeleton_ids().next().unwrap(), layers).unwrap();
    each_engine(library, |engine| {
        let poses = engine.evaluate_step(&crowd, step, Outputs::ALL).unwrap();
        check(&poses.instances[0], engine.engine());
    });
}

/// Layers, a step, and the motion that is expected of them.
#[derive(Default)]
struct Cases(Vec<(Vec<Layer>, Step, [f64; 3], DQuat)>);

impl Cases {
    fn add(&mut self, layers: &[Layer], step: Step, translation: [f64; 3], rotation: DQuat) {
        self.0.push((layers.to_vec(), step, translation, rotation));
    }

    /// A way along z, and the way back.
    fn z(&mut self, clip: ClipId, playback: Playback, from: f64, to: f64, z: f64) {
        self.add(&[layer(clip, playback)], step(from, to), [0.0, 0.0, z], DQuat::IDENTITY);
        self.add(&[layer(clip, playback)], step(to, from), [0.0, 0.0, -z], DQuat::IDENTITY);
    }

    /// Asks every engine for all of them.
    fn check(&self, library: &Library) {
        each_engine(library, |engine| {
            for (layers, step, translation, rotation) in &self.0 {
                let mut crowd = Crowd::new();
                crowd.push(library.skeleton_ids().next().unwrap(), layers).unwrap();
                let outputs = Outputs { root_motion: true, ..Outputs::NONE };
                let poses = engine.evaluate_step(&crowd, *step, outputs).unwrap();
                let found = poses.instances[0].root_motion.expect("a root");
                let what = format!("{}: {step:?} of {layers:?}", engine.engine());
                assert_vector(found.translation, *translation, &what);
                assert_rotation(found.rotation, *rotation, &what);
            }
        });
    }
}

fn check_motion(library: &Library, layers: &[Layer], step: Step, translation: [f64; 3], rotation: DQuat) {
    Cases(vec![(layers.to_vec(), step, translation, rotation)]).check(library);
}

#[test]
fn loops_are_counted() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let walk = playing(WrapMode::Loop, 1.0);
    cases.z(clip, walk, 0.0, 2.5, 5.0);
    cases.z(clip, walk, 0.25, 0.75, 1.0);
    cases.z(clip, walk, 0.75, 1.25, 1.0);
    // A whole pass is its end, not the next one's start, and that makes no difference.
    cases.z(clip, walk, 1.0, 1.25, 0.5);
    cases.z(clip, walk, 0.75, 1.0, 0.5);
    cases.z(clip, walk, 1.0, 3.0, 4.0);
    // Before the start it has been playing, too.
    cases.z(clip, walk, -0.5, 0.25, 1.5);
    cases.z(clip, walk, -3.0, -1.0, 4.0);
    cases.z(clip, walk, -2.25, 2.0, 8.5);
    cases.z(clip, playing(WrapMode::Loop, -0.5), -1.0, 4.0, -5.0);
    cases.z(clip, playing(WrapMode::Loop, 0.0), 0.0, 4.0, 0.0);
    cases.z(clip, playing(WrapMode::LoopReverse, 1.0), 0.25, 2.5, -4.5);
    cases.z(clip, playing(WrapMode::LoopReverse, -1.0), -1.0, 2.5, 7.0);
    cases.z(clip, walk, 0.0, 4096.25, 8192.5);
    // A thousand loops a second for a thousand seconds.
    cases.z(clip, playing(WrapMode::Loop, 1000.0), -500.0, 500.0, 2e6);
    // A tick alone is no step.
    cases.add(&[layer(clip, walk)], Ticks(12345).into(), [0.0; 3], DQuat::IDENTITY);
    cases.check(&library);
}

#[test]
fn back_and_forth_leads_nowhere_in_the_end() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let swing = playing(WrapMode::PingPong, 1.0);
    for (from, to, z) in [
        (0.0, 1.0, 2.0),
        (0.5, 1.25, 0.5),
        (0.0, 2.0, 0.0),
        (1.0, 2.5, -1.0),
        (0.25, 4001.75, 0.0),
        // At its start it jumps, since passes before it are mirrored: from the first pass back to its start.
        (-1.0, 0.0, 2.0),
        (-0.5, 0.5, 2.0),
        (-2.5, 0.25, 1.5),
    ] {
        cases.z(clip, swing, from, to, z);
        cases.z(clip, playing(WrapMode::PingPongReverse, 1.0), from, to, -z);
    }
    cases.z(clip, playing(WrapMode::PingPong, -1.0), 0.25, 1.5, -0.5);
    cases.check(&library);
}

#[test]
fn what_waits_or_has_stopped_does_not_move() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let once = playing(WrapMode::Normal, 1.0);
    cases.z(clip, once, -2.0, -1.0, 0.0);
    cases.z(clip, once, -2.0, 0.25, 0.5);
    cases.z(clip, once, 0.5, 9.0, 1.0);
    cases.z(clip, once, 2.0, 9.0, 0.0);
    cases.z(clip, playing(WrapMode::Reverse, 1.0), -1.0, 0.75, -1.5);
    // Backwards it jumps to the end as soon as it moves.
    cases.z(clip, playing(WrapMode::Normal, -1.0), -1.0, 0.75, -1.5);
    cases.z(clip, playing(WrapMode::Normal, -1.0), 0.0, 5.0, -2.0);
    let times = |count: f64, wrap| Playback { repeat_count: Some(count), ..playing(wrap, 1.0) };
    cases.z(clip, times(2.5, WrapMode::Loop), 0.5, 9.0, 4.0);
    cases.z(clip, times(2.0, WrapMode::Normal), 0.5, 9.0, 3.0);
    cases.z(clip, times(1.25, WrapMode::PingPong), 0.0, 9.0, 1.5);
    cases.z(clip, times(1.5, WrapMode::Loop), -9.0, 9.0, 6.0);
    for wrap in [WrapMode::Loop, WrapMode::PingPong, WrapMode::Reverse] {
        cases.z(clip, times(0.0, wrap), -1.0, 1.0, 0.0);
    }
    let part = Playback { range: Some([0.25, 0.75]), ..playing(WrapMode::Loop, 1.0) };
    cases.z(clip, part, 0.0, 1.75, 3.5);
    cases.z(clip, Playback { range: Some([0.5, 0.5]), ..part }, 0.0, 1.75, 0.0);
    let at = Layer::new(clip, LayerTime::At(0.5));
    cases.add(&[at], step(0.0, 9.0), [0.0; 3], DQuat::IDENTITY);
    cases.check(&library);
}

#[test]
fn turning_loops_curve() {
    let (library, clip) = curving();
    let mut cases = Cases::default();
    let mut walk = |from, to, translation, angle| {
        let turn = degrees(DVec3::Y, angle);
        cases.add(&[layer(clip, playing(WrapMode::Loop, 1.0))], step(from, to), translation, turn);
    };
    // Each loop goes a metre the way that it found itself turned: along z, x, -z, -x.
    walk(0.0, 1.0, [0.0, 0.0, 1.0], 90.0);
    walk(0.0, 2.0, [1.0, 0.0, 1.0], 180.0);
    walk(0.0, 3.0, [1.0, 0.0, 0.0], 270.0);
    walk(0.0, 4.0, [0.0; 3], 0.0);
    walk(0.0, 4001.0, [0.0, 0.0, 1.0], 90.0);
    walk(0.0, 1.5, [0.5, 0.0, 1.0], 135.0);
    walk(2.0, 0.0, [1.0, 0.0, 1.0], 180.0);
    // From half a loop on, half a metre remains, seen from an eighth of a turn.
    let half = 0.5 * 0.5_f64.sqrt();
    walk(0.5, 1.0, [-half, 0.0, half], 45.0);
    walk(0.5, 1.5, [-half + half, 0.0, half + half], 90.0);
    cases.check(&library);
}

#[test]
fn steps_add_up() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    for (wrap, rate) in [(WrapMode::Loop, 1.0), (WrapMode::PingPong, -0.7), (WrapMode::LoopReverse, 1.3)] {
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playing(wrap, rate))]).unwrap();
    }
    each_engine(&library, |engine| {
        let mut ask = |from, to| {
            let poses = engine.evaluate_step(&crowd, step(from, to), Outputs { root_motion: true, ..Outputs::NONE });
            poses.unwrap().instances.into_iter().map(|pose| pose.root_motion.unwrap()).collect::<Vec<Motion>>()
        };
        let parts = [ask(-1.3, 0.4), ask(0.4, 1.0), ask(1.0, 5.75)];
        for (instance, whole) in ask(-1.3, 5.75).into_iter().enumerate() {
            let sum = parts.iter().fold(Motion::IDENTITY, |sum, part| sum.then(part[instance]));
            let what = format!("{}: instance {instance}", engine.engine());
            assert!((sum.translation - whole.translation).length() < 1e-5, "{what}: {sum:?}, {whole:?}");
            let apart = (sum.rotation - whole.rotation).length().min((sum.rotation + whole.rotation).length());
            assert!(apart < 1e-5, "{what}: {sum:?}, {whole:?}");
        }
    });
}

#[test]
fn what_moves_the_instance_is_taken_out_of_the_pose() {
    let (library, clip) = walk();
    check(&library, &[layer(clip, playing(WrapMode::Loop, 1.0))], step(0.0, 2.5), |pose, name| {
        assert_vector(pose.local[0].translation, [0.125, 1.25, 0.0], name);
        assert_vector(pose.model[1].translation, [0.125, 0.75, 0.0], name);
    });
    // Without being asked for, too.
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(0.5))]).unwrap();
    each_engine(&library, |engine| {
        let outputs = Outputs { local: true, ..Outputs::NONE };
        let pose = engine.evaluate(&crowd, Ticks(0), outputs).unwrap().instances.remove(0);
        assert_eq!(pose.root_motion, None);
        assert_vector(pose.local[0].translation, [0.125, 1.25, 0.0], engine.engine());
    });
    // Turned by an eighth with a lean of 30 degrees after it, half a metre along z: the lean stays, and what is left of the
    // translation is seen from the turn.
    let (mut library, skeleton) = rig();
    let lean = degrees(DVec3::X, 30.0);
    let tracks = vec![
        moved(0, 1.0, [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]),
        turned(1.0, degrees(DVec3::Y, 45.0) * lean, degrees(DVec3::Y, 45.0) * lean),
    ];
    let clip =
        add(&mut library, skeleton, Some(RootMotion { translation: [false, true, true], ..YAW }), tracks.clone());
    let full = add(&mut library, skeleton, Some(RootMotion { rotation: RootRotation::Full, ..ALONG }), tracks);
    let half = 0.5_f64.sqrt();
    check(&library, &[Layer::new(clip, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, lean, name);
        assert_vector(pose.local[0].translation, [half, 0.0, half], name);
    });
    check(&library, &[Layer::new(full, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, DQuat::IDENTITY, name);
        let left = (degrees(DVec3::Y, 45.0) * lean).inverse() * DVec3::Y;
        assert_vector(pose.local[0].translation, left.to_array(), name);
    });
}

#[test]
fn a_layer_alone_is_as_one_that_is_mixed() {
    let (library, clip) = curving();
    let plain = layer(clip, playing(WrapMode::Loop, 0.7));
    let mask = Mask { name: None, skeleton: library.clip(clip).skeleton, weights: vec![1.0; 2] };
    let mut library = library;
    let masked = Layer { mask: Some(library.add_mask(mask).unwrap()), ..plain };
    let mut crowd = Crowd::new();
    let skeleton = library.clip(clip).skeleton;
    let mut mixed = Crowd::new();
    crowd.push(skeleton, &[plain]).unwrap();
    mixed.push(skeleton, &[masked]).unwrap();
    each_engine(&library, |engine| {
        let [one, other] = [&crowd, &mixed]
            .map(|crowd| engine.evaluate_step(crowd, step(0.3, 7.9), Outputs::ALL).unwrap().instances.remove(0));
        for joint in 0..2 {
            assert_vector(one.local[joint].translation, other.local[joint].translation.to_array(), engine.engine());
            assert_rotation(one.local[joint].rotation, other.local[joint].rotation, engine.engine());
        }
        let [one, other] = [one, other].map(|pose| pose.root_motion.unwrap());
        assert_vector(one.translation, other.translation.to_array(), engine.engine());
        assert_rotation(one.rotation, other.rotation, engine.engine());
    });
}

#[test]
fn motions_are_mixed_as_poses_are() {
    let (mut library, skeleton) = rig();
    let line = |z| vec![moved(0, 1.0, [0.0, 1.0, 0.0], [0.0, 1.0, z])];
    let turning = |angle| vec![turned(1.0, DQuat::IDENTITY, degrees(DVec3::Y, angle))];
    let [slow, fast] = [2.0, 6.0].map(|z| add(&mut library, skeleton, Some(ALONG), line(z)));
    let rootless = add(&mut library, skeleton, None, line(100.0));
    let [left, right] = [80.0, -40.0].map(|angle| add(&mut library, skeleton, Some(YAW), turning(angle)));
    let weights = |weights: [f64; 2]| Mask { name: None, skeleton, weights: weights.to_vec() };
    let [half, knee] = [[0.5, 1.0], [0.0, 1.0]].map(|each| library.add_mask(weights(each)).unwrap());
    let once = |clip, weight| Layer { weight, ..layer(clip, playing(WrapMode::Loop, 1.0)) };
    let mut cases = Cases::default();
    let mut z = |layers: &[Layer], z: f64| {
        cases.add(layers, step(0.0, 1.0), [0.0, 0.0, z], DQuat::IDENTITY);
    };
    let mode = |mode, layer| Layer { mode, ..layer };
    let masked = |mask, layer| Layer { mask: Some(mask), ..layer };
    z(&[once(slow, 1.0), once(fast, 3.0)], 5.0);
    z(&[once(rootless, 7.0), once(slow, 0.5)], 2.0);
    // A quarter of what would fill it.
    z(&[once(slow, 0.025)], 0.5);
    z(&[once(slow, 0.0)], 0.0);
    z(&[once(slow, 1.0), masked(half, once(fast, 2.0))], 4.0);
    z(&[once(slow, 1.0), masked(knee, once(fast, 2.0))], 2.0);
    z(&[once(slow, 1.0), mode(LayerMode::Override, once(fast, 0.25))], 3.0);
    z(&[mode(LayerMode::Override, once(fast, 5.0)), once(slow, 1.0)], 6.0);
    z(&[mode(LayerMode::Override, once(fast, 0.5))], 3.0);
    for reference in [AdditiveReference::First, AdditiveReference::Rest] {
        z(&[once(slow, 1.0), mode(LayerMode::Additive(reference), once(fast, 1.0))], 2.0);
        z(&[mode(LayerMode::Additive(reference), once(fast, 1.0))], 0.0);
    }
    // A layer that stands takes part as one that does not move.
    z(&[once(fast, 1.0), Layer::new(slow, LayerTime::At(0.5))], 3.0);
    // Fades count at the end of the step.
    let fade = |start: f64| Fade {
        start: Ticks::from_seconds(start),
        length: Ticks::from_seconds(2.0),
        shape: FadeShape::Linear,
    };
    z(&[once(slow, 1.0), Layer { fade_in: Some(fade(0.0)), ..once(fast, 2.0) }], 4.0);
    z(&[once(slow, 1.0), Layer { fade_out: Some(fade(-1.0)), ..once(fast, 2.0) }], 2.0);
    let between = (DQuat::IDENTITY * 0.0 + degrees(DVec3::Y, 80.0) * 1.0 + degrees(DVec3::Y, -40.0) * 3.0).normalize();
    cases.add(&[once(left, 1.0), once(right, 3.0)], step(0.0, 1.0), [0.0; 3], between);
    let over = [once(left, 1.0), mode(LayerMode::Override, once(right, 0.5))];
    cases.add(&over, step(0.0, 1.0), [0.0; 3], degrees(DVec3::Y, 20.0));
    cases.check(&library);
    // Nobody has a root.
    for layers in [&[once(rootless, 1.0)][..], &[]] {
        check(&library, layers, step(0.0, 1.0), |pose, name| assert_eq!(pose.root_motion, None, "{name}"));
    }
    let unweighed = [once(rootless, 1.0), once(slow, 0.0)];
    check(&library, &unweighed, step(0.0, 1.0), |pose, _| assert!(pose.root_motion.is_some()));
}

#[test]
fn an_additive_layer_is_compared_without_what_moves_the_instance() {
    let (mut library, skeleton) = rig();
    let tracks = vec![moved(0, 1.0, [1.0, 2.0, 3.0], [5.0, 4.0, 9.0])];
    let clip = add(&mut library, skeleton, Some(ALONG), tracks);
    let y = |reference, y: f64| {
        let mode = LayerMode::Additive(reference);
        let layers = [Layer { mode, ..Layer::new(clip, LayerTime::At(0.5)) }];
        check(&library, &layers, step(0.0, 1.0), |pose, name| {
            assert_vector(pose.local[0].translation, [0.0, y, 0.0], name);
        });
    };
    // (0, 3, 0) less (0, 2, 0), or less the rest at (0, 1, 0), on the rest.
    y(AdditiveReference::First, 2.0);
    y(AdditiveReference::Rest, 3.0);
}

#[test]
fn up_is_that_of_the_file_in_a_parent_that_lies() {
    // As exporters of z-up tools have it: +Z of the root's parent is up.
    let parent = Joint {
        rest: Transform { rotation: degrees(DVec3::X, -90.0), scale: DVec3::splat(0.01), ..Transform::IDENTITY },
        ..Joint::default()
    };
    let (mut library, skeleton) = library(vec![parent, joint(Some(0), [0.0; 3])]);
    let values = [DQuat::IDENTITY, degrees(DVec3::Z, 90.0) * degrees(DVec3::X, 20.0)];
    let values = values.map(|rotation| rotation.to_array()).concat();
    let turn = Track::new(Target::Rotation(1), curve(Interpolation::Linear, 4, &[0.0, 1.0], &values));
    let root = RootMotion { joint: 1, ..YAW };
    let clip = add(&mut library, skeleton, Some(root), vec![turn, moved(1, 1.0, [0.0; 3], [100.0, 0.0, 0.0])]);
    let once = [layer(clip, playing(WrapMode::Loop, 1.0))];
    check_motion(&library, &once, step(0.0, 1.0), [100.0, 0.0, 0.0], degrees(DVec3::Z, 90.0));
    // The 20 degrees and the third axis stay.
    check(&library, &once, step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[1].rotation, degrees(DVec3::X, 20.0), name);
    });
}

#[test]
fn what_has_no_track_stays_as_it_is() {
    let (mut library, skeleton) = rig();
    let clip = add(&mut library, skeleton, Some(YAW), vec![turned(1.0, DQuat::IDENTITY, degrees(DVec3::Y, 90.0))]);
    check(&library, &[layer(clip, playing(WrapMode::Loop, 1.0))], step(0.0, 3.5), |pose, name| {
        assert_vector(pose.local[0].translation, [0.0, 1.0, 0.0], name);
        assert_rotation(pose.local[0].rotation, DQuat::IDENTITY, name);
        assert_rotation(pose.root_motion.unwrap().rotation, degrees(DVec3::Y, 315.0), name);
    });
}

#[test]
fn a_half_turn_about_another_axis_has_no_yaw() {
    let (mut library, skeleton) = rig();
    let over = DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    let clip = add(&mut library, skeleton, Some(YAW), vec![turned(1.0, over, over)]);
    check(&library, &[Layer::new(clip, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, over, name);
    });
}

#[test]
fn roots_that_cannot_be_are_refused() {
    let fixed = Joint { matrix: Some(DAffine3::IDENTITY), ..Joint::default() };
    let (mut library, skeleton) = library(vec![Joint::default(), fixed]);
    let mut add = |joint| {
        let root_motion = Some(RootMotion { joint, ..STILL });
        library.add_clip(Clip { root_motion, ..Clip::new(Some("walk".into()), skeleton, Vec::new()) })
    };
    assert!(add(0).is_ok());
    for (joint, reason) in [(1, "by a matrix"), (2, "has 2")] {
        match add(joint) {
            Err(Error::Usage(message)) => assert!(message.contains("walk") && message.contains(reason), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    let clip = library.clip_ids().next().unwrap();
    assert!(library.set_root_motion(clip, Some(RootMotion { joint: 1, ..STILL })).is_err());
    assert_eq!(library.set_root_motion(clip, None).unwrap(), Some(STILL));
    assert_eq!(library.clip(clip).root_motion, None);
}

#[test]
fn a_buffer_holds_the_motions_of_a_chunk() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    for instance in 0..150 {
        let playback = Playback::looping(Ticks::from_seconds(f64::from(instance) / 8.0), 1.0);
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playback)]).unwrap();
    }
    let mut engine = posse::GpuEngine::new(&library, gpu()).unwrap();
    let device = &engine.gpu().device;
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    let asked = posse::GpuCrowd::new(device, engine.library(), &crowd, outputs).unwrap();
    assert_eq!(asked.chunks()[0].root_motion().unwrap().size(), 150 * 32);
    let unasked = posse::GpuCrowd::new(device, engine.library(), &crowd, Outputs::SKIN).unwrap();
    assert!(unasked.chunks()[0].root_motion().is_none());
    // The last one is beyond the first two workgroups. It begins 0.375 along and ends at (1, 0, 0.625).
    let poses = posse::Evaluator::evaluate_step(&mut engine, &crowd, step(0.0, 2.0), outputs).unwrap();
    let last = poses.instances[149].root_motion.unwrap();
    assert_close(&[last.rotation.w], &[0.0], "two quarter turns");
    assert_close(&[last.translation.length()], &[1.0625_f64.sqrt()], "one to the side, a quarter ahead");
}

#[test]
fn large_crowds_of_turning_loops_are_within_the_contract() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    let mut numbers = crate::support::scenes::Numbers::new(19);
    for _ in 0..500 {
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let start = Ticks(numbers.below(1 << 24) as i64 - (1 << 23));
        let mut playback = Playback::new(wrap, start, numbers.within(-3.0, 3.0));
        if numbers.below(3) == 0 {
            playback.repeat_count = Some(numbers.within(0.0, 9.0));
        }
        if numbers.below(3) == 0 {
            playback.range = Some([numbers.within(0.0, 0.4), numbers.within(0.6, 1.0)]);
        }
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playback)]).unwrap();
    }
    let outputs = Outputs { root_motion: true, ..Outputs::NONE };
    for span in [0.01, 3.0, -7.0, 1000.0, 123_456.0] {
        let step = step(0.3, 0.3 + span);
        let mut expected = None;
        each_engine(&library, |engine| {
            let poses = engine.evaluate_step(&crowd, step, outputs).unwrap();
            let expected = expected.get_or_insert_with(|| poses.clone());
            let report = contract::compare(&library, &crowd, step, expected, &poses);
            assert!(report.motion.is_some() && report.is_within(), "{}, {span} s: {report:?}", engine.engine());
            // And what is off by a millimetre in a step of seconds is not.
            let mut wrong = poses.clone();
            wrong.instances[7].root_motion.as_mut().unwrap().translation.x += 1e-3;
            let report = contract::compare(&library, &crowd, step, expected, &wrong);
            assert!(span.abs() > 10.0 || !report.is_within(), "{span} s: {report:?}");
        });
    }
}

#[test]
fn a_fox_is_where_its_file_has_it() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf/Fox/Fox.glb");
    if !file.exists() {
        return skipped("root motion of Fox.glb: ../shared/gltf is not here");
    }
    let mut whole = Library::new();
    let asset = posse::import::gltf::load(&mut whole, &file).unwrap();
    let skeleton = whole.skeleton(asset.skeleton);
    // The joint that its clips move, in a parent that lies: +Z is up.
    let named = |joint: &Joint| joint.name.as_deref() == Some("b_Hip_01");
    let joint = skeleton.joints().iter().position(named).unwrap();
    let outputs = Outputs { local: true, root_motion: true, ..Outputs::NONE };
    for root in
        [RootMotion { joint, ..YAW }, RootMotion { joint, translation: [true; 3], rotation: RootRotation::Full }]
    {
        let mut parted = whole.clone();
        for clip in whole.clip_ids() {
            parted.set_root_motion(clip, Some(root)).unwrap();
        }
        // Within a loop, so that what the file says of both moments is all there is to know.
        let mut crowd = Crowd::new();
        for clip in whole.clip_ids() {
            crowd.push(asset.skeleton, &[layer(clip, playing(WrapMode::Loop, 1.0))]).unwrap();
        }
        let ask = |library: &Library, step: Step| {
            let mut answers = Vec::new();
            each_engine(library, |engine| answers.push(engine.evaluate_step(&crowd, step, outputs).unwrap().instances));
            answers
        };
        let (from, to) = (0.1, 0.6);
        let [before, after] = [from, to].map(|time| ask(&whole, step(time, time)));
        let [left_before, left_after] = [step(from, from), step(from, to)].map(|step| ask(&parted, step));
        for engine in 0..before.len() {
            for clip in 0..crowd.len() {
                let local = |poses: &[Vec<Pose>]| poses[engine][clip].local[joint].to_affine();
                let taken = |all: &[Vec<Pose>], left: &[Vec<Pose>]| local(all) * local(left).inverse();
                let way = taken(&before, &left_before).inverse() * taken(&after, &left_after);
                let motion = left_after[engine][clip].root_motion.unwrap();
                let found = DAffine3::from_rotation_translation(motion.rotation, motion.translation);
                // The way is made of single-precision poses some 30 units from their parent.
                assert!(found.abs_diff_eq(way, 5e-5), "engine {engine}, clip {clip}: {found}, {way}");
                if root.rotation == RootRotation::Full {
                    let left = left_after[engine][clip].local[joint];
                    assert_vector(left.translation, [0.0; 3], "all is taken out");
                    assert_rotation(left.rotation, DQuat::IDENTITY, "all is taken out");
                }
            }
        }
    }
}
