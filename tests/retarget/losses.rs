//! Parts of clips that retargeting cannot keep: the report names them, and errors name their place.

use glam::{DQuat, DVec3};
use posse::{
    CarriedJoints, Clip, Crowd, DropReason, Error, Evaluator, Expression, Interpolation, Joint, JointMap, Layer,
    LayerTime, Library, LossReason, LostRootMotion, MapRemark, MorphBind, Outputs, Reference, RetargetOptions,
    RootMotion, RootRotation, RootTranslation, Skeleton, SkeletonId, Target, Ticks, Track,
};

use super::rigs::{add, joint};
use crate::support::build::curve;

const NONE: DQuat = DQuat::IDENTITY;

/// Two joints, one above the other.
fn rig() -> Vec<Joint> {
    vec![joint("top", None, NONE, [0.0; 3]), joint("hip", Some(0), NONE, [0.0, 1.0, 0.0])]
}

/// A library with these two skeletons.
fn pair(source: Vec<Joint>, target: Vec<Joint>) -> (Library, SkeletonId, SkeletonId) {
    let mut library = Library::new();
    let (source, target) = (add(&mut library, source), add(&mut library, target));
    (library, source, target)
}

/// A track that moves a joint along x up to a place.
fn slide(joint: usize, x: f64) -> Track {
    Track::new(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, 1.0], &[0.0, 1.0, 0.0, x, 1.0, 0.0]))
}

#[test]
fn root_motion_of_another_joint_than_the_root_is_reported() {
    let along = RootMotion { joint: 0, translation: [true, false, true], rotation: RootRotation::Yaw };
    let turns = RootMotion { translation: [false; 3], ..along };
    let lost = Some(LostRootMotion { joint: 0, reason: LossReason::Translation });
    let full = RootTranslation::Full;
    let cases = [
        // The map moves the hip, which takes over the movement of the joint above.
        (along, Some(1), full, lost),
        (along, Some(0), full, None),
        (along, None, full, None),
        (along, Some(0), RootTranslation::None, lost),
        (turns, Some(1), full, None),
        // The hip has no track.
        (RootMotion { joint: 1, ..along }, Some(0), full, None),
    ];
    for (root, of_map, translation, expected) in cases {
        let (mut library, source, target) = pair(rig(), rig());
        let clip = Clip { root_motion: Some(root), ..Clip::new(Some("walk".into()), source, vec![slide(0, 3.0)]) };
        let clip = library.add_clip(clip).unwrap();
        let map = JointMap { root: of_map, translation, ..JointMap::by_names(&library, source, target).unwrap() };
        let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
        assert_eq!(result.clips[0].lost_root_motion, expected, "{root:?}, root {of_map:?}, {translation:?}");
        assert_eq!(library.clip(result.clips[0].clip).root_motion, Some(root));
    }
    // Without a partner, the new clip has no root joint at all.
    let (mut library, source, target) = pair(rig(), vec![joint("hip", None, NONE, [0.0, 1.0, 0.0])]);
    let clip = Clip { root_motion: Some(along), ..Clip::new(Some("walk".into()), source, vec![slide(0, 3.0)]) };
    let clip = library.add_clip(clip).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    assert_eq!(result.clips[0].lost_root_motion, Some(LostRootMotion { joint: 0, reason: LossReason::Unmapped }));
    assert_eq!(library.clip(result.clips[0].clip).root_motion, None);
}

#[test]
fn a_root_below_a_scale_of_0_does_not_move_and_is_reported() {
    for scale in [DVec3::new(1.0, 0.0, 1.0), DVec3::ZERO] {
        let mut target = rig();
        target[0].rest.scale = scale;
        // A turned joint between, so that rounding hides the 0 in the product of the matrices.
        target.insert(1, joint("between", Some(0), DQuat::from_rotation_z(0.3), [0.0; 3]));
        target[2].parent = Some(1);
        let (mut library, source, target) = pair(rig(), target);
        let clip = library.add_clip(Clip::new(None, source, vec![slide(1, 3.0)])).unwrap();
        let map = JointMap::by_names(&library, source, target).unwrap();
        let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
        assert_eq!(result.map.remarks, [MapRemark::ZeroScale { source: 1, target: 2, above: 0 }]);
        let text = result.map.describe(&library, &result.map.remarks[0]);
        assert!(text.contains("movement of hip is left out: top, above its partner hip, has a scale of 0"), "{text}");
        assert_eq!((result.scale, result.clips[0].dropped[0].reason), (0.0, DropReason::ZeroScale));
        assert!(library.clip(result.clips[0].clip).tracks.is_empty());
    }
}

#[test]
fn a_root_that_the_map_holds_still_is_the_reason_and_other_joints_keep_their_tracks() {
    let mut joints = rig();
    joints.push(joint("jaw", Some(1), NONE, [0.0, 0.1, 0.0]));
    let (mut library, source, target) = pair(joints.clone(), joints);
    let grow = curve(Interpolation::Linear, 3, &[0.0, 1.0], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let tracks = vec![slide(1, 3.0), slide(2, 0.5), Track::new(Target::Scale(2), grow)];
    let clip = library.add_clip(Clip::new(None, source, tracks)).unwrap();
    let mut map = JointMap::by_names(&library, source, target).unwrap();
    map.translation = RootTranslation::None;
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let dropped: Vec<_> = result.clips[0].dropped.iter().map(|dropped| (dropped.target, dropped.reason)).collect();
    assert_eq!(dropped, [(Target::Translation(1), DropReason::StillRoot)]);
    assert_eq!(DropReason::StillRoot.to_string(), "the map says that the root does not move");
    assert_eq!((result.scale, result.map.root), (0.0, None));
    let targets: Vec<_> = result.clips[0].tracks.iter().map(|track| track.target).collect();
    assert_eq!(targets, [Target::Translation(2), Target::Scale(2)]);
    // The options can hold the others still, too.
    map.translation = RootTranslation::Full;
    let options = RetargetOptions { translations: CarriedJoints::Root, ..RetargetOptions::default() };
    let result = library.retarget(&[clip], &map, &options).unwrap();
    assert!(result.clips[0].dropped.iter().all(|dropped| dropped.reason == DropReason::RootAlone));
    assert_eq!(result.clips[0].dropped.len(), 2);
}

/// A source whose joints drive expressions, as in a VRM animation, and a target with three morph weights.
fn expressions(of_target: Vec<Expression>) -> (Library, SkeletonId, SkeletonId) {
    let drives = |(driver, name): (usize, &str)| Expression {
        name: name.into(),
        is_binary: false,
        driver: Some(driver),
        binds: Vec::new(),
    };
    let mut library = Library::new();
    let source = rig().into_iter().chain([joint("aa", None, NONE, [0.0; 3]), joint("blink", None, NONE, [0.0; 3])]);
    let source = Skeleton::new(None, source.collect(), Vec::new()).unwrap();
    let source = source.with_expressions([(2, "aa"), (3, "blink")].map(drives).into()).unwrap();
    let face = Joint { weights: vec![0.25, 0.0, 0.0], ..joint("face", None, NONE, [0.0; 3]) };
    let target = Skeleton::new(None, rig().into_iter().chain([face]).collect(), Vec::new()).unwrap();
    let target = target.with_expressions(of_target).unwrap();
    let (source, target) = (library.add_skeleton(source), library.add_skeleton(target));
    (library, source, target)
}

#[test]
fn expressions_add_up_and_binary_ones_are_on_or_off() {
    let bind = |index: usize, weight: f64| MorphBind { joint: 2, index, weight };
    let expression =
        |name: &str, is_binary, binds: Vec<MorphBind>| Expression { name: name.into(), is_binary, driver: None, binds };
    let of_target = vec![
        expression("aa", false, vec![bind(1, 0.5)]),
        expression("blink", true, vec![bind(1, 0.25), bind(2, 1.0)]),
        expression("angry", false, vec![bind(0, 1.0)]),
    ];
    let (mut library, source, target) = expressions(of_target);
    // The weight of `aa` rises to 1 within two seconds, that of `blink` to 0.8 within one.
    let weight = |joint: usize, end: f64, to: f64| {
        let curve = curve(Interpolation::Linear, 3, &[0.0, end], &[0.0, 0.0, 0.0, to, 0.0, 0.0]);
        Track::new(Target::Translation(joint), curve)
    };
    let clip = Clip::new(None, source, vec![weight(2, 2.0, 1.0), weight(3, 1.0, 0.8)]);
    let clip = library.add_clip(clip).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    assert_eq!(result.clips[0].dropped, []);
    let made = result.clips[0].clip;
    let weights = |time: f64| {
        let mut crowd = Crowd::new();
        crowd.push(target, &[Layer::new(made, LayerTime::At(time))]).unwrap();
        let poses = Reference::new(&library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
        poses.instances[0].weights.clone()
    };
    // `blink` is on from 0.625 s, where its weight is 0.5. Morph weights of other expressions stay.
    for (time, right) in
        [(0.0, [0.25, 0.0, 0.0]), (0.6, [0.25, 0.15, 0.0]), (0.64, [0.25, 0.41, 1.0]), (2.0, [0.25, 0.75, 1.0])]
    {
        let found = weights(time);
        assert!(found.iter().zip(right).all(|(found, right)| (found - right).abs() < 1e-6), "{found:?} at {time}");
    }
    // Without counterparts, that is the reason.
    let (mut library, source, target) = expressions(Vec::new());
    let clip = library.add_clip(Clip::new(None, source, vec![weight(2, 2.0, 1.0)])).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    assert_eq!(result.clips[0].dropped[0].reason, DropReason::Expression);
}

#[test]
fn errors_of_tracks_have_the_names_of_clip_and_joint() {
    let (mut library, source, target) = pair(rig(), rig());
    let clip = library.add_clip(Clip::new(Some("leap".into()), source, vec![slide(1, 1e38)])).unwrap();
    let before = library.clone();
    let mut map = JointMap::by_names(&library, source, target).unwrap();
    map.translation = RootTranslation::Scaled(Some(1e3));
    let fails =
        |library: &mut Library, map: &JointMap| match library.retarget(&[clip], map, &RetargetOptions::default()) {
            Err(Error::Usage(reason)) => reason,
            other => panic!("{other:?}"),
        };
    let reason = fails(&mut library, &map);
    assert!(reason.starts_with("clip leap, translation of hip: ") && reason.contains("range of an f32"), "{reason}");
    map.pairs.remove(1);
    map.root = Some(1);
    let reason = fails(&mut library, &map);
    assert!(reason.contains("the root is joint \"hip\" of the source, which has no partner"), "{reason}");
    assert_eq!(library, before);
}
