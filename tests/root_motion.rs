//! Root motion over a step: hand-worked cases on every engine.

/// Root motion of whole crowds.
mod crowds;
/// The pose without the root motion, and the root motion of several layers.
mod mixed;

use glam::{DAffine3, DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::root_motion::{Motion, RootMotion, RootRotation};
use posse::{
    Clip, ClipId, Crowd, Error, Joint, Layer, LayerTime, Library, Outputs, Playback, Pose, SkeletonId, Step, Ticks,
    Transform, WrapMode,
};

use crate::support::assert_close::{assert_rotation, assert_vector};
use crate::support::build::{curve, degrees, joint, library};
use crate::support::each_engine::each_engine;

const STILL: RootMotion = RootMotion { joint: 0, translation: [false; 3], rotation: RootRotation::None };
const ALONG: RootMotion = RootMotion { translation: [true, false, true], ..STILL };
const YAW: RootMotion = RootMotion { rotation: RootRotation::Yaw, ..ALONG };

/// A hip at (0, 1, 0) and a knee on it.
fn rig() -> (Library, SkeletonId) {
    library(vec![joint(None, [0.0, 1.0, 0.0]), joint(Some(0), [0.0, -0.5, 0.0])])
}

fn translation_track(joint: usize, seconds: f64, from: [f64; 3], to: [f64; 3]) -> Track {
    let values = [from, to].concat();
    Track::new(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, seconds], &values))
}

fn rotation_track(seconds: f64, from: DQuat, to: DQuat) -> Track {
    let values = [from.to_array(), to.to_array()].concat();
    Track::new(Target::Rotation(0), curve(Interpolation::Linear, 4, &[0.0, seconds], &values))
}

fn add(library: &mut Library, skeleton: SkeletonId, root_motion: Option<RootMotion>, tracks: Vec<Track>) -> ClipId {
    library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, tracks) }).unwrap()
}

/// A walk of 2 m along z in 1 s, which bobs from 1 m to 1.5 m and leans by 0.25 m.
fn walk() -> (Library, ClipId) {
    let (mut library, skeleton) = rig();
    let tracks = vec![translation_track(0, 1.0, [0.0, 1.0, 3.0], [0.25, 1.5, 5.0])];
    let clip = add(&mut library, skeleton, Some(RootMotion { translation: [false, false, true], ..STILL }), tracks);
    (library, clip)
}

/// A walk of 1 m along z in 1 s, with a quarter turn to the left.
fn curving() -> (Library, ClipId) {
    let (mut library, skeleton) = rig();
    let tracks = vec![
        translation_track(0, 1.0, [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]),
        rotation_track(1.0, DQuat::IDENTITY, degrees(DVec3::Y, 90.0)),
    ];
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

/// Checks the pose of an instance at the end of a step, on every engine.
fn check(library: &Library, layers: &[Layer], step: Step, check: impl Fn(&Pose, &str)) {
    let mut crowd = Crowd::new();
    crowd.push(library.skeleton_ids().next().unwrap(), layers).unwrap();
    each_engine(library, |engine| {
        let poses = engine.evaluate_step(&crowd, step, Outputs::ALL).unwrap();
        check(&poses.instances[0], engine.engine());
    });
}

/// A hip whose parent is rotated, as in a file made with +Z up. It walks 2 m along the parent's -y, which is the
/// instance's +z, rises by 0.5 m along z, and makes a quarter turn to the left.
#[test]
fn motion_over_the_ground_is_in_the_space_of_the_instance() {
    let mut lying = joint(None, [0.0, 0.0, 3.0]);
    lying.rest.rotation = degrees(DVec3::X, -90.0);
    let (mut whole, skeleton) = library(vec![lying, joint(Some(0), [0.0; 3])]);
    let turns = [DQuat::IDENTITY, degrees(DVec3::Z, 90.0)].map(|turn| turn.to_array()).concat();
    let tracks = vec![
        translation_track(1, 1.0, [0.0, 0.0, 1.0], [0.0, -2.0, 1.5]),
        Track::new(Target::Rotation(1), curve(Interpolation::Linear, 4, &[0.0, 1.0], &turns)),
    ];
    let clip = add(&mut whole, skeleton, None, tracks);
    let root = RootMotion::on_ground(whole.skeleton(skeleton), 1).unwrap();
    assert!(root.is_moved_by(&whole.clip(clip).tracks));
    let space = root.space(whole.skeleton(skeleton));
    let mut parted = whole.clone();
    parted.set_root_motion(clip, Some(root)).unwrap();
    let layers = [layer(clip, playing(WrapMode::Normal, 1.0))];
    check(&parted, &layers, step(0.0, 1.0), |pose, engine| {
        let motion = pose.root_motion.unwrap();
        assert_vector(motion.translation, [0.0, -2.0, 0.0], engine);
        let moved = motion.in_space(&space);
        // The rotation is about the origin of the parent, and would move it from (0, 0, 3) to (3, 0, 0). The
        // translation is (0, 0, 3) + 2 z - (3, 0, 0).
        assert_vector(moved.translation, [-3.0, 0.0, 5.0], engine);
        assert_rotation(moved.rotation, degrees(DVec3::Y, 90.0), engine);
        // The height stays in the pose. Instance and pose together put the hip where the clip alone has it, at (0, 1.5,
        // 5).
        let instance = DAffine3::from_rotation_translation(moved.rotation, moved.translation);
        assert_vector(pose.model[1].translation, [0.0, 1.5, 3.0], engine);
        assert_vector((instance * pose.model[1]).translation, [0.0, 1.5, 5.0], engine);
    });
}

/// Cases of layers, a step, and the expected translation and rotation.
#[derive(Default)]
struct Cases(Vec<(Vec<Layer>, Step, [f64; 3], DQuat)>);

impl Cases {
    fn add(&mut self, layers: &[Layer], step: Step, translation: [f64; 3], rotation: DQuat) {
        self.0.push((layers.to_vec(), step, translation, rotation));
    }

    /// Adds a case with a motion along z, and the same case backwards.
    fn z(&mut self, clip: ClipId, playback: Playback, from: f64, to: f64, z: f64) {
        self.add(&[layer(clip, playback)], step(from, to), [0.0, 0.0, z], DQuat::IDENTITY);
        self.add(&[layer(clip, playback)], step(to, from), [0.0, 0.0, -z], DQuat::IDENTITY);
    }

    /// Checks all cases on every engine.
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
fn root_motion_counts_loops() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let walk = playing(WrapMode::Loop, 1.0);
    cases.z(clip, walk, 0.0, 2.5, 5.0);
    cases.z(clip, walk, 0.25, 0.75, 1.0);
    cases.z(clip, walk, 0.75, 1.25, 1.0);
    // After a whole pass the phase is its end, not the start of the next pass; that makes no difference.
    cases.z(clip, walk, 1.0, 1.25, 0.5);
    cases.z(clip, walk, 0.75, 1.0, 0.5);
    cases.z(clip, walk, 1.0, 3.0, 4.0);
    // A loop also plays before its start.
    cases.z(clip, walk, -0.5, 0.25, 1.5);
    cases.z(clip, walk, -3.0, -1.0, 4.0);
    cases.z(clip, walk, -2.25, 2.0, 8.5);
    cases.z(clip, playing(WrapMode::Loop, -0.5), -1.0, 4.0, -5.0);
    cases.z(clip, playing(WrapMode::Loop, 0.0), 0.0, 4.0, 0.0);
    cases.z(clip, playing(WrapMode::LoopReverse, 1.0), 0.25, 2.5, -4.5);
    cases.z(clip, playing(WrapMode::LoopReverse, -1.0), -1.0, 2.5, 7.0);
    cases.z(clip, walk, 0.0, 4096.25, 8192.5);
    // A thousand loops per second for a thousand seconds.
    cases.z(clip, playing(WrapMode::Loop, 1000.0), -500.0, 500.0, 2e6);
    // A single tick is a step without motion.
    cases.add(&[layer(clip, walk)], Ticks(12345).into(), [0.0; 3], DQuat::IDENTITY);
    cases.check(&library);
}

#[test]
fn a_ping_pong_returns_to_its_start() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let swing = playing(WrapMode::PingPong, 1.0);
    for (from, to, z) in [
        (0.0, 1.0, 2.0),
        (0.5, 1.25, 0.5),
        (0.0, 2.0, 0.0),
        (1.0, 2.5, -1.0),
        (0.25, 4001.75, 0.0),
        // At its start it jumps from the end to the start of the clip, since the passes before the start are mirrored.
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
fn a_layer_that_waits_or_has_stopped_does_not_move() {
    let (library, clip) = walk();
    let mut cases = Cases::default();
    let once = playing(WrapMode::Normal, 1.0);
    cases.z(clip, once, -2.0, -1.0, 0.0);
    cases.z(clip, once, -2.0, 0.25, 0.5);
    cases.z(clip, once, 0.5, 9.0, 1.0);
    cases.z(clip, once, 2.0, 9.0, 0.0);
    cases.z(clip, playing(WrapMode::Reverse, 1.0), -1.0, 0.75, -1.5);
    // At a negative rate it jumps to the end as soon as it moves.
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
fn loops_with_a_turn_move_along_a_curve() {
    let (library, clip) = curving();
    let mut cases = Cases::default();
    let mut walk = |from, to, translation, angle| {
        let turn = degrees(DVec3::Y, angle);
        cases.add(&[layer(clip, playing(WrapMode::Loop, 1.0))], step(from, to), translation, turn);
    };
    // Each loop moves 1 m in the direction that it has when it begins: along z, x, -z, -x.
    walk(0.0, 1.0, [0.0, 0.0, 1.0], 90.0);
    walk(0.0, 2.0, [1.0, 0.0, 1.0], 180.0);
    walk(0.0, 3.0, [1.0, 0.0, 0.0], 270.0);
    walk(0.0, 4.0, [0.0; 3], 0.0);
    walk(0.0, 1.5, [0.5, 0.0, 1.0], 135.0);
    walk(2.0, 0.0, [1.0, 0.0, 1.0], 180.0);
    // From the middle of a loop, half a metre remains, in a frame rotated by an eighth of a turn.
    let half = 0.5 * 0.5_f64.sqrt();
    walk(0.5, 1.0, [-half, 0.0, half], 45.0);
    walk(0.5, 1.5, [-half + half, 0.0, half + half], 90.0);
    cases.check(&library);
}

/// The bound of the contract for a movement of 1 m is 2e-6 m for each loop: roundings of a turn add up. A GPU may need
/// it; the other engines round so that the roundings cancel.
#[test]
fn four_thousand_loops_with_a_turn_move_along_a_curve() {
    let (library, clip) = curving();
    let loops = 4001.0;
    let mut crowd = Crowd::new();
    crowd.push(library.skeleton_ids().next().unwrap(), &[layer(clip, playing(WrapMode::Loop, 1.0))]).unwrap();
    each_engine(&library, |engine| {
        let outputs = Outputs { root_motion: true, ..Outputs::NONE };
        let poses = engine.evaluate_step(&crowd, step(0.0, loops), outputs).unwrap();
        let found = poses.instances[0].root_motion.expect("a root");
        let what = format!("{}: {found:?}", engine.engine());
        let allowed = if engine.engine() == "gpu" { 2e-6 * loops } else { 2e-6 };
        assert!((found.translation - DVec3::Z).length() < allowed, "{what}");
        let turn = degrees(DVec3::Y, 90.0);
        let apart = (found.rotation - turn).length().min((found.rotation + turn).length());
        assert!(2.0 * apart < allowed, "{what}");
    });
}

#[test]
fn the_motions_of_consecutive_steps_add_up() {
    let (library, clip) = curving();
    let mut crowd = Crowd::new();
    for (wrap, rate) in [(WrapMode::Loop, 1.0), (WrapMode::PingPong, -0.7), (WrapMode::LoopReverse, 1.3)] {
        crowd.push(library.clip(clip).skeleton, &[layer(clip, playing(wrap, rate))]).unwrap();
    }
    each_engine(&library, |engine| {
        let mut evaluate = |from, to| {
            let poses = engine.evaluate_step(&crowd, step(from, to), Outputs { root_motion: true, ..Outputs::NONE });
            poses.unwrap().instances.into_iter().map(|pose| pose.root_motion.unwrap()).collect::<Vec<Motion>>()
        };
        let parts = [evaluate(-1.3, 0.4), evaluate(0.4, 1.0), evaluate(1.0, 5.75)];
        for (instance, whole) in evaluate(-1.3, 5.75).into_iter().enumerate() {
            let sum = parts.iter().fold(Motion::IDENTITY, |sum, part| sum.then(part[instance]));
            let what = format!("{}: instance {instance}", engine.engine());
            assert!((sum.translation - whole.translation).length() < 1e-5, "{what}: {sum:?}, {whole:?}");
            let apart = (sum.rotation - whole.rotation).length().min((sum.rotation + whole.rotation).length());
            assert!(apart < 1e-5, "{what}: {sum:?}, {whole:?}");
        }
    });
}

#[test]
fn yaw_is_about_the_up_axis_of_a_rotated_parent() {
    // Exporters of z-up tools rotate the parent of the root, so that its +Z is up.
    let parent = Joint {
        rest: Transform { rotation: degrees(DVec3::X, -90.0), scale: DVec3::splat(0.01), ..Transform::IDENTITY },
        ..Joint::default()
    };
    let (mut library, skeleton) = library(vec![parent, joint(Some(0), [0.0; 3])]);
    let values = [DQuat::IDENTITY, degrees(DVec3::Z, 90.0) * degrees(DVec3::X, 20.0)];
    let values = values.map(|rotation| rotation.to_array()).concat();
    let turn = Track::new(Target::Rotation(1), curve(Interpolation::Linear, 4, &[0.0, 1.0], &values));
    let root = RootMotion { joint: 1, ..YAW };
    let clip =
        add(&mut library, skeleton, Some(root), vec![turn, translation_track(1, 1.0, [0.0; 3], [100.0, 0.0, 0.0])]);
    let once = [layer(clip, playing(WrapMode::Loop, 1.0))];
    check_motion(&library, &once, step(0.0, 1.0), [100.0, 0.0, 0.0], degrees(DVec3::Z, 90.0));
    // The 20 degrees about the other axis stay in the pose.
    check(&library, &once, step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[1].rotation, degrees(DVec3::X, 20.0), name);
    });
}

#[test]
fn joints_without_a_track_keep_their_rest_pose() {
    let (mut library, skeleton) = rig();
    let clip =
        add(&mut library, skeleton, Some(YAW), vec![rotation_track(1.0, DQuat::IDENTITY, degrees(DVec3::Y, 90.0))]);
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
    let clip = add(&mut library, skeleton, Some(YAW), vec![rotation_track(1.0, over, over)]);
    check(&library, &[Layer::new(clip, LayerTime::At(0.5))], step(0.0, 1.0), |pose, name| {
        assert_rotation(pose.local[0].rotation, over, name);
    });
}

#[test]
fn invalid_roots_are_refused() {
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
