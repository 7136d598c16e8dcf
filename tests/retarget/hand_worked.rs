//! Clips from one skeleton to another, by hand.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::events::Event;
use posse::retarget::{
    DropReason, JointMap, JointPair, LossReason, MapRemark, MatchedBy, ReferencePose, RetargetOptions, Retargeting,
    RootTranslation, TrackMethod,
};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, ClipId, Error, Joint, Library, Skeleton, SkeletonId, Transform, WrapMode, demo};

use super::rigs::{add, angle, joint, model_pose};
use crate::support::build::{curve, degrees};

const NONE: DQuat = DQuat::IDENTITY;

/// A library of two skeletons, and a clip of the first.
struct Pair {
    library: Library,
    source: SkeletonId,
    target: SkeletonId,
    clip: ClipId,
}

impl Pair {
    fn new(source: Vec<Joint>, target: Vec<Joint>, tracks: Vec<(Target, Curve)>) -> Self {
        let mut library = Library::new();
        let (source, target) = (add(&mut library, source), add(&mut library, target));
        let tracks = tracks.into_iter().map(|(target, curve)| Track::new(target, curve)).collect();
        let clip = library.add_clip(Clip::new(Some("moves".into()), source, tracks)).unwrap();
        Self { library, source, target, clip }
    }

    fn map(&self) -> JointMap {
        JointMap::by_names(&self.library, self.source, self.target).unwrap()
    }

    /// Retargets the clip by names, with changes to the map.
    fn retarget(&mut self, change: impl FnOnce(&mut JointMap)) -> Retargeting {
        let mut map = self.map();
        change(&mut map);
        self.library.retarget(&[self.clip], &map, &RetargetOptions::default()).unwrap()
    }

    /// The curve of a target of the first retargeted clip.
    fn curve(&self, retargeting: &Retargeting, target: Target) -> Option<&Curve> {
        let tracks = &self.library.clip(retargeting.clips[0].clip).tracks;
        tracks.iter().find(|track| track.target == target).map(|track| &track.curve)
    }
}

fn rotation_keys(times: &[f64], rotations: &[DQuat]) -> Curve {
    let values: Vec<f64> = rotations.iter().flat_map(|rotation| rotation.to_array()).collect();
    curve(Interpolation::Linear, 4, times, &values)
}

#[track_caller]
fn assert_rotation(found: &[f64], expected: DQuat) {
    let found = DQuat::from_slice(found);
    assert!(angle(found, expected) < 1e-12, "{found} instead of {expected}");
}

#[test]
fn an_arm_that_hangs_swings_as_an_arm_that_is_stretched_out() {
    // The arm of the source points along +X. The arm of the target hangs, and its own axes are turned by a quarter
    // about z.
    let source = vec![joint("hip", None, NONE, [0.0; 3]), joint("arm", Some(0), NONE, [1.0, 0.0, 0.0])];
    let hanging = degrees(DVec3::Z, -90.0);
    let target = vec![joint("hip", None, NONE, [0.0; 3]), joint("arm", Some(0), hanging, [1.0, 0.0, 0.0])];
    let up = degrees(DVec3::Z, 30.0);
    let keys = rotation_keys(&[0.0, 2.0], &[NONE, up]);
    let mut pair = Pair::new(source, target, vec![(Target::Rotation(1), keys)]);
    let result = pair.retarget(|_| {});
    let made = pair.curve(&result, Target::Rotation(1)).unwrap();
    assert_eq!((made.interpolation(), made.timeline().times()), (Interpolation::Linear, &[0.0, 2.0][..]));
    // S S0^-1 T0 = up * hanging; the parent does not turn.
    assert_rotation(made.value(0), hanging);
    assert_rotation(made.value(1), degrees(DVec3::Z, -60.0));
    assert_eq!(result.clips[0].tracks.len(), 1);
    assert_eq!(result.clips[0].tracks[0].method, TrackMethod::Exact);
}

#[test]
fn a_lying_parent_turns_the_axes_of_keys_and_tangents() {
    // The nodes above the hips are turned: by a quarter about x in the source, about y in the target.
    let (lying, turned) = (degrees(DVec3::X, 90.0), degrees(DVec3::Y, 90.0));
    let source = vec![joint("z up", None, lying, [0.0; 3]), joint("hip", Some(0), NONE, [0.0, 0.0, -1.0])];
    let target = vec![joint("y turn", None, turned, [0.0; 3]), joint("hip", Some(0), NONE, [0.0, 2.0, 0.0])];
    let tangent = [0.0, 0.0, 3.0];
    // In the source, z is down: it moves from a height of 1 by 1 further up, with a speed of 3 down at the first key.
    let values = [[0.0; 3], [0.0, 0.0, -1.0], tangent, [0.0; 3], [0.0, 0.0, -2.0], [0.0; 3]].concat();
    let up = curve(Interpolation::CubicSpline, 3, &[0.0, 1.0], &values);
    let step = degrees(DVec3::Z, 40.0);
    let spin = rotation_keys(&[0.0], &[step]);
    let mut pair = Pair::new(source, target, vec![(Target::Translation(1), up), (Target::Rotation(1), spin)]);
    let result = pair.retarget(|map| map.translation = RootTranslation::Scaled(Some(0.5)));
    assert_eq!(result.scale, 0.5);
    let made = pair.curve(&result, Target::Translation(1)).unwrap();
    assert_eq!(made.interpolation(), Interpolation::CubicSpline);
    let near = |found: &[f64], expected: [f64; 3]| {
        assert!(DVec3::from_slice(found).distance(DVec3::from(expected)) < 1e-12, "{found:?} instead of {expected:?}")
    };
    near(made.value(0), [0.0, 2.0, 0.0]);
    near(made.value(1), [0.0, 2.5, 0.0]);
    near(made.out_tangent(0), [0.0, -1.5, 0.0]);
    near(made.in_tangent(1), [0.0; 3]);
    // A turn about the source's z is one about -y in model space, whatever the axes of the target are.
    let pose = model_pose(&pair.library, pair.target, Some((result.clips[0].clip, 0.0)));
    assert!(angle(pose[1].0, degrees(DVec3::Y, -40.0) * turned) < 1e-12);
}

#[test]
fn the_movement_of_the_root_is_scaled_by_the_heights_of_the_roots() {
    let legs = |hip: f64, foot: f64| {
        vec![
            joint("hip", None, NONE, [0.0, hip, 0.0]),
            joint("foot", Some(0), NONE, [0.0, foot, 0.0]),
            // It is not mapped, so that it does not count.
            joint(if hip > 1.0 { "cellar" } else { "attic" }, Some(0), NONE, [0.0, -9.0, 0.0]),
        ]
    };
    let walk = || curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 3.0, 1.0, 0.0]);
    let pair = || Pair::new(legs(1.0, -0.8), legs(2.5, -2.0), vec![(Target::Translation(0), walk())]);
    let cases = [
        (RootTranslation::default(), 2.5, Some([7.5, 2.5, 0.0])),
        (RootTranslation::Scaled(Some(-1.0)), -1.0, Some([-3.0, 2.5, 0.0])),
        (RootTranslation::Full, 1.0, Some([3.0, 2.5, 0.0])),
        (RootTranslation::None, 0.0, None),
    ];
    for (translation, scale, expected) in cases {
        let mut pair = pair();
        let result = pair.retarget(|map| map.translation = translation);
        assert!((result.scale - scale).abs() < 1e-12, "{translation:?}");
        let made = pair.curve(&result, Target::Translation(0));
        match (made, expected) {
            (None, None) => assert_eq!(result.clips[0].dropped[0].reason, DropReason::StillRoot),
            (Some(made), Some(expected)) => {
                assert!(DVec3::from_slice(made.value(1)).distance(DVec3::from(expected)) < 1e-12, "{made:?}");
            }
            other => panic!("{translation:?}: {other:?}"),
        }
        // The clip is as long as before, whatever was dropped.
        assert_eq!(pair.library.clip(result.clips[0].clip).duration(), 1.0);
    }
    // Flat rigs have no heights to compare: then the ratio of their sizes counts.
    let flat = |x: f64| vec![joint("hip", None, NONE, [0.0, 0.0, x]), joint("foot", Some(0), NONE, [x, 0.0, 0.0])];
    let mut pair = Pair::new(flat(1.0), flat(5.0), vec![(Target::Translation(0), walk())]);
    assert_eq!(pair.retarget(|_| {}).scale, 5.0);
}

#[test]
fn the_first_mapped_joint_that_is_translated_is_the_root() {
    let rig = || {
        vec![
            joint("top", None, NONE, [0.0; 3]),
            joint("hip", Some(0), NONE, [0.0, 1.0, 0.0]),
            joint("foot", Some(1), NONE, [0.0, -1.0, 0.0]),
        ]
    };
    let slide = || curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 3.0, 1.0, 0.0]);
    let tracks = |joints: &[usize]| joints.iter().map(|&joint| (Target::Translation(joint), slide())).collect();
    for (moved, chosen, root) in [(&[1, 2][..], None, 1), (&[], None, 0), (&[1, 2], Some(2), 2), (&[0, 1], Some(1), 1)]
    {
        let mut pair = Pair::new(rig(), rig(), tracks(moved));
        let result = pair.retarget(|map| map.root = chosen);
        assert_eq!(result.map.root, Some(root), "{moved:?}");
        // The translation of what is above the root moves the root, and what is below it keeps its own.
        assert_eq!(result.clips[0].dropped, []);
    }
}

#[test]
fn what_lies_between_is_exact_while_it_stands_still_and_sampled_while_it_moves() {
    let source = vec![
        joint("hip", None, NONE, [0.0, 1.0, 0.0]),
        joint("between", Some(0), degrees(DVec3::X, 20.0), [0.0, 0.5, 0.0]),
        joint("head", Some(1), NONE, [0.0, 0.5, 0.0]),
    ];
    let target = vec![joint("hip", None, NONE, [0.0, 1.0, 0.0]), joint("head", Some(0), NONE, [0.0, 0.5, 0.0])];
    let nod = || rotation_keys(&[0.0, 0.5, 1.0], &[NONE, degrees(DVec3::X, 60.0), NONE]);
    let still = || rotation_keys(&[0.0, 1.0], &[degrees(DVec3::X, 50.0); 2]);
    let turn = || rotation_keys(&[0.0, 0.75], &[degrees(DVec3::X, 20.0), degrees(DVec3::Y, 70.0)]);
    let made = |between: Option<Curve>| {
        let mut tracks = vec![(Target::Rotation(2), nod())];
        tracks.extend(between.map(|curve| (Target::Rotation(1), curve)));
        let mut pair = Pair::new(source.clone(), target.clone(), tracks);
        let result = pair.retarget(|_| {});
        (pair.curve(&result, Target::Rotation(1)).unwrap().clone(), result.clips[0].clone())
    };
    for (between, angle) in [(None, 60.0), (Some(still()), 90.0)] {
        let (curve, report) = made(between);
        assert_eq!(report.tracks[0].method, TrackMethod::Exact);
        assert!(report.dropped.is_empty());
        assert_eq!(curve.timeline().times(), [0.0, 0.5, 1.0]);
        assert_rotation(curve.value(1), degrees(DVec3::X, angle));
    }
    let (curve, report) = made(Some(turn()));
    let TrackMethod::Resampled { keys, error } = report.tracks[0].method else { panic!("{report:?}") };
    assert_eq!(report.tracks[0].target, Target::Rotation(1));
    assert!(report.dropped.is_empty() && keys == curve.timeline().len());
    // The keys of both curves are there, and more between them.
    assert!([0.0, 0.5, 0.75, 1.0].iter().all(|time| curve.timeline().times().contains(time)) && keys > 20);
    assert!(error > 1e-6 && error <= 1e-4 && report.rotation_error() == error && report.translation_error() == 0.0);
    // At 0.75: S = Y(70) * nod, with the nod halfway back; S0 = X(20).
    let key = curve.timeline().times().iter().position(|&time| time == 0.75).unwrap();
    let expected = degrees(DVec3::Y, 70.0) * degrees(DVec3::X, 30.0) * degrees(DVec3::X, -20.0);
    assert_rotation(curve.value(key), expected);
}

#[test]
fn a_step_between_others_becomes_two_keys() {
    let source = vec![
        joint("hip", None, NONE, [0.0; 3]),
        joint("between", Some(0), NONE, [0.0, 0.5, 0.0]),
        joint("head", Some(1), NONE, [0.0, 0.5, 0.0]),
    ];
    let target = vec![joint("hip", None, NONE, [0.0; 3]), joint("head", Some(0), NONE, [0.0, 0.5, 0.0])];
    let jump = [NONE, degrees(DVec3::Y, 90.0)].map(|rotation| rotation.to_array()).concat();
    let jump = curve(Interpolation::Step, 4, &[0.0, 0.5], &jump);
    let nod = rotation_keys(&[0.0, 1.0], &[NONE, degrees(DVec3::X, 40.0)]);
    let mut pair = Pair::new(source, target, vec![(Target::Rotation(1), jump), (Target::Rotation(2), nod)]);
    let result = pair.retarget(|_| {});
    let curve = pair.curve(&result, Target::Rotation(1)).unwrap();
    let times = curve.timeline().times();
    let key = times.iter().position(|&time| time == 0.5).unwrap();
    assert_eq!(times[key - 1], f64::from(0.5_f32.next_down()));
    assert!(angle(DQuat::from_slice(curve.value(key - 1)), degrees(DVec3::X, 20.0)) < 1e-6);
    assert_rotation(curve.value(key), degrees(DVec3::Y, 90.0) * degrees(DVec3::X, 20.0));
}

#[test]
fn bones_whose_offsets_stand_in_the_clips_keep_the_lengths_of_the_target() {
    let rig = |arm: f64, hand: f64| {
        vec![
            joint("hip", None, NONE, [0.0; 3]),
            joint("arm", Some(0), NONE, [arm, 0.0, 0.0]),
            joint("hand", Some(1), NONE, [hand, 0.0, 0.0]),
        ]
    };
    let still = |x: f64| curve(Interpolation::Linear, 3, &[0.0], &[x, 0.0, 0.0]);
    let hand_at = |offsets: [f64; 2], places: [f64; 2]| {
        let tracks = [1, 2].map(|joint| (Target::Translation(joint), still(places[joint - 1]))).to_vec();
        let mut pair = Pair::new(rig(offsets[0], offsets[1]), rig(2.0, 4.0), tracks);
        let result = pair.retarget(|_| {});
        assert_eq!(result.clips[0].dropped, []);
        model_pose(&pair.library, pair.target, Some((result.clips[0].clip, 0.0)))[2].1
    };
    // The offsets are 0, and the bones of 1 and 2 stand in the clip: the pose is the rest pose of the target.
    assert!(hand_at([0.0, 0.0], [1.0, 2.0]).distance(DVec3::new(6.0, 0.0, 0.0)) < 1e-12);
    assert!(hand_at([1.0, 0.0], [1.0, 2.0]).distance(DVec3::new(6.0, 0.0, 0.0)) < 1e-12);
    // The offsets belong to the body, and the clip holds the hand 2.5 farther away: 2 times that in the target.
    assert!(hand_at([1.0, 2.0], [1.0, 4.5]).distance(DVec3::new(11.0, 0.0, 0.0)) < 1e-12);
}

#[test]
fn the_reference_pose_is_the_one_that_looks_like_the_target_at_rest() {
    // The source rests with its arm down (its own axes unturned), and the target with its arm out.
    let source = vec![joint("hip", None, NONE, [0.0; 3]), joint("arm", Some(0), NONE, [0.0; 3])];
    let target = vec![joint("hip", None, NONE, [0.0; 3]), joint("arm", Some(0), degrees(DVec3::Y, 10.0), [0.0; 3])];
    let [out, up] = [90.0, 120.0].map(|angle| degrees(DVec3::Z, angle));
    let mut pair = Pair::new(source, target, vec![(Target::Rotation(1), rotation_keys(&[0.0, 1.0], &[out, up]))]);
    let options =
        RetargetOptions { reference: ReferencePose::Clip { clip: pair.clip, time: 0.0 }, ..RetargetOptions::default() };
    let map = pair.map();
    let result = pair.library.retarget(&[pair.clip], &map, &options).unwrap();
    let made = pair.curve(&result, Target::Rotation(1)).unwrap();
    assert_rotation(made.value(0), degrees(DVec3::Y, 10.0));
    assert_rotation(made.value(1), degrees(DVec3::Z, 30.0) * degrees(DVec3::Y, 10.0));

    // A clip that does not move the arm leaves it down: the target's arm is lowered by a single key.
    let rest = pair.library.add_clip(Clip::new(None, pair.source, Vec::new())).unwrap();
    let result = pair.library.retarget(&[rest], &map, &options).unwrap();
    assert_eq!(result.clips[0].tracks[0].method, TrackMethod::Constant);
    let made = pair.curve(&result, Target::Rotation(1)).unwrap();
    assert_eq!(made.timeline().len(), 1);
    assert_rotation(made.value(0), degrees(DVec3::Z, -90.0) * degrees(DVec3::Y, 10.0));
}

#[test]
fn a_clip_on_its_own_skeleton_keeps_its_keys() {
    let mut library = demo::library().unwrap();
    let human = library.clips()[0].skeleton;
    let copy = library.add_skeleton(library.skeleton(human).clone());
    for target in [human, copy] {
        let map = JointMap::by_names(&library, human, target).unwrap();
        assert_eq!(map.pairs.len(), 64);
        for name in ["idle", "walk", "run", "wave", "jump"] {
            let clip = library.find_clip_of(human, name).unwrap();
            let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
            let (from, to) = (library.clip(clip), library.clip(result.clips[0].clip));
            for track in &to.tracks {
                let same = from.tracks.iter().find(|other| other.target == track.target).unwrap();
                assert_eq!(track, same);
            }
            // A skeleton does not have the properties of another one.
            let is_kept = |target: Target| !matches!(target, Target::Property(_));
            assert_eq!(to.tracks.len(), from.tracks.iter().filter(|track| is_kept(track.target)).count());
            assert_eq!(to.duration(), from.duration());
            assert!(result.clips[0].dropped.iter().all(|track| !is_kept(track.target)));
        }
    }
}

#[test]
fn there_and_back_are_the_same_keys() {
    let mut library = Library::new();
    let turn = |angle: f64| degrees(DVec3::new(1.0, 2.0, 3.0).normalize(), angle);
    let from =
        vec![joint("hip", None, turn(10.0), [0.0, 1.0, 0.0]), joint("arm", Some(0), turn(50.0), [1.0, 0.0, 0.0])];
    let to = vec![joint("hip", None, turn(70.0), [0.0, 3.0, 0.0]), joint("arm", Some(0), turn(-80.0), [0.0, 0.0, 2.0])];
    let (one, other) = (add(&mut library, from), add(&mut library, to));
    let arm = rotation_keys(&[0.0, 0.5], &[turn(5.0), turn(95.0)]);
    let hip = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 4.0, 5.0, 6.0]);
    let tracks = vec![Track::new(Target::Translation(0), hip), Track::new(Target::Rotation(1), arm)];
    let clip = library.add_clip(Clip::new(None, one, tracks)).unwrap();
    let forth = JointMap { translation: RootTranslation::Full, ..JointMap::by_names(&library, one, other).unwrap() };
    let back = JointMap { source: other, target: one, ..forth.clone() };
    let options = RetargetOptions::default();
    let there = library.retarget(&[clip], &forth, &options).unwrap().clips[0].clip;
    let again = library.retarget(&[there], &back, &options).unwrap().clips[0].clip;
    for (track, same) in library.clip(again).tracks.iter().zip(&library.clip(clip).tracks) {
        assert_eq!((track.target, track.curve.timeline()), (same.target, same.curve.timeline()));
        for (number, expected) in track.curve.values().iter().zip(same.curve.values()) {
            assert!((number - expected).abs() < 1e-12, "{track:?} {same:?}");
        }
    }
}

#[test]
fn events_markers_and_the_root_joint_go_along() {
    let rig = |turn: DQuat| vec![joint("top", None, turn, [0.0; 3]), joint("hip", Some(0), NONE, [0.0, 1.0, 0.0])];
    let slide = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, 3.0, 1.0, 0.0]);
    // The horizontal axes of the target are x and z, then x and y, then none.
    let turns = [(NONE, Some([true, false, true])), (degrees(DVec3::X, 90.0), Some([true, true, false]))];
    for (turn, axes) in turns.into_iter().chain([(degrees(DVec3::X, 45.0), None)]) {
        let mut pair = Pair::new(rig(NONE), rig(turn), Vec::new());
        let event = Event { time: 0.25, function: "step".into(), parameters: vec!["left".into()] };
        let root = RootMotion { joint: 1, translation: [true, false, true], rotation: RootRotation::Yaw };
        let clip = Clip {
            events: vec![event.clone()],
            markers: vec![0.5],
            speed: 2.0,
            wrap: WrapMode::Loop,
            root_motion: Some(root),
            ..Clip::new(Some("walk".into()), pair.source, vec![Track::new(Target::Translation(1), slide.clone())])
        };
        pair.clip = pair.library.add_clip(clip).unwrap();
        let result = pair.retarget(|_| {});
        let made = pair.library.clip(result.clips[0].clip);
        assert_eq!((made.name.as_deref(), &made.events, &made.markers), (Some("walk"), &vec![event], &vec![0.5]));
        assert_eq!((made.speed, made.wrap, made.skeleton), (2.0, WrapMode::Loop, pair.target));
        assert_eq!(made.root_motion.map(|root| (root.joint, root.translation)), axes.map(|axes| (1, axes)));
        let reason = result.clips[0].lost_root_motion.map(|lost| lost.reason);
        assert_eq!(reason, axes.is_none().then_some(LossReason::Axes));
    }
}

#[test]
fn tracks_that_nothing_depends_on_are_listed() {
    let mut hip = joint("hip", None, NONE, [0.0; 3]);
    hip.weights = vec![0.0];
    let source = vec![hip, joint("tail", Some(0), NONE, [0.0; 3])];
    let target = vec![joint("hip", None, NONE, [0.0; 3])];
    let spin = || rotation_keys(&[0.0], &[degrees(DVec3::X, 20.0)]);
    let three = || curve(Interpolation::Step, 3, &[0.0], &[1.0; 3]);
    let tracks = vec![
        (Target::Rotation(0), spin()),
        (Target::Rotation(1), spin()),
        (Target::Scale(0), three()),
        (Target::Translation(1), three()),
        (Target::Weights(0), curve(Interpolation::Step, 1, &[0.0], &[1.0])),
    ];
    let mut pair = Pair::new(source, target, tracks);
    let result = pair.retarget(|_| {});
    let dropped: Vec<_> = result.clips[0].dropped.iter().map(|track| (track.track, track.reason)).collect();
    let expected = [(1, DropReason::Unmapped), (3, DropReason::Unmapped), (4, DropReason::Weights)];
    assert_eq!(dropped, expected);
}

#[test]
fn a_joint_given_by_a_matrix_is_animated_unless_it_has_shear() {
    let rest = Transform { rotation: degrees(DVec3::X, 30.0), scale: DVec3::splat(2.0), ..Transform::IDENTITY };
    let mut sheared = rest.to_affine();
    for shear in [0.0, 0.3] {
        sheared.matrix3.y_axis.x += shear;
        let with_matrix = Joint {
            matrix: Some(sheared),
            rest: Transform::from_affine(sheared),
            ..joint("hip", None, NONE, [0.0; 3])
        };
        let spin = rotation_keys(&[0.0], &[degrees(DVec3::Y, 40.0)]);
        let mut pair =
            Pair::new(vec![joint("hip", None, NONE, [0.0; 3])], vec![with_matrix], vec![(Target::Rotation(0), spin)]);
        let result = pair.retarget(|_| {});
        let is_animated = pair.library.skeleton(pair.target).joints()[0].matrix.is_none();
        assert_eq!(is_animated, shear == 0.0);
        match pair.curve(&result, Target::Rotation(0)) {
            Some(curve) => assert_rotation(curve.value(0), degrees(DVec3::Y, 40.0) * degrees(DVec3::X, 30.0)),
            None => assert_eq!(result.map.remarks, [MapRemark::Matrix { source: 0, target: 0 }]),
        }
    }
}

#[test]
fn maps_that_do_not_fit_are_refused_and_change_nothing() {
    let rig = || vec![joint("hip", None, NONE, [0.0; 3]), joint("foot", Some(0), NONE, [0.0; 3])];
    let mut pair = Pair::new(rig(), rig(), Vec::new());
    let before = pair.library.clone();
    let other = pair.library.add_clip(Clip::new(None, pair.target, Vec::new())).unwrap();
    let good = pair.map();
    let caller = |source, target| JointPair { source, target, by: MatchedBy::Caller };
    let with = |pairs: &[JointPair]| JointMap { pairs: pairs.to_vec(), ..good.clone() };
    let cases = [
        (with(&[caller(0, 0), caller(0, 1)]), "\"hip\" of the source has two partners"),
        (with(&[caller(0, 1), caller(1, 1)]), "\"foot\" of the target has two partners"),
        (with(&[caller(2, 0)]), "there is no joint 2; the source skeleton has 2"),
        (JointMap { root: Some(1), ..with(&[caller(0, 0)]) }, "has no partner; choose a mapped joint"),
        (
            JointMap { translation: RootTranslation::Scaled(Some(f64::NAN)), ..good.clone() },
            "the scale of the root is NaN",
        ),
    ];
    let fails = |library: &mut Library, clip: ClipId, map: &JointMap, options: RetargetOptions| match library.retarget(
        &[clip],
        map,
        &options,
    ) {
        Err(Error::Usage(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let clip = pair.clip;
    for (map, saying) in cases {
        let reason = fails(&mut pair.library, clip, &map, RetargetOptions::default());
        assert!(reason.contains(saying), "{reason}");
    }
    let reason = fails(&mut pair.library, other, &good, RetargetOptions::default());
    assert!(reason.contains("clip 1 animates skeleton 1, but the source of the joint map is skeleton 0"), "{reason}");
    let bound = RetargetOptions { rotation_bound: 0.0, ..RetargetOptions::default() };
    assert!(fails(&mut pair.library, clip, &good, bound).contains("an error bound of 0"));
    let reference = ReferencePose::Clip { clip: other, time: 0.0 };
    let reference = RetargetOptions { reference, ..RetargetOptions::default() };
    assert!(fails(&mut pair.library, clip, &good, reference).contains("animates skeleton 1"));
    assert_eq!((before.skeletons(), before.clips()), (pair.library.skeletons(), &pair.library.clips()[..1]));
}

#[test]
fn angles_of_cocos_clips_are_sampled() {
    let rig = |turn: DQuat| vec![joint("hip", None, turn, [0.0; 3])];
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
    let angle_of = |axis: usize| {
        let curve = Curve::new(timeline.clone(), Interpolation::Linear, 1, vec![0.0, 80.0]).unwrap();
        Track::component(Target::EulerAngles(0), axis, curve)
    };
    let mut pair = Pair::new(rig(NONE), rig(degrees(DVec3::X, 90.0)), Vec::new());
    let clip = Clip::new(None, pair.source, vec![angle_of(0), angle_of(2)]);
    pair.clip = pair.library.add_clip(clip).unwrap();
    let result = pair.retarget(|_| {});
    assert!(matches!(result.clips[0].tracks[0].method, TrackMethod::Resampled { error, .. } if error > 0.0));
    for time in [0.0, 0.33, 0.5, 1.0] {
        let from = model_pose(&pair.library, pair.source, Some((pair.clip, time)));
        let to = model_pose(&pair.library, pair.target, Some((result.clips[0].clip, time)));
        assert!(angle(to[0].0, from[0].0 * degrees(DVec3::X, 90.0)) < 1e-4);
    }
}

#[test]
fn a_skeleton_refuses_a_role_of_a_joint_that_it_does_not_have() {
    let bone = posse::rig::HumanBone { role: "hips".into(), joint: 3 };
    let skeleton = Skeleton::new(None, vec![Joint::default()], Vec::new()).unwrap();
    assert!(matches!(skeleton.with_human_bones(vec![bone]), Err(Error::Skeleton { joint: 3, .. })));
}
