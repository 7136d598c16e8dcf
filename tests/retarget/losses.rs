//! Parts of clips that retargeting cannot keep: the report names them, and errors name their place.

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::retarget::{
    CarriedJoints, DropReason, JointMap, JointPair, LossReason, LostRootMotion, MapRemark, MatchedBy, RetargetOptions,
    RetargetWarning, RootTranslation,
};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, Error, Joint, Library, SkeletonId};

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

#[test]
fn movements_below_the_root_that_are_left_out_are_warned_of() {
    let rig = |name: &str| {
        let mut joints = rig();
        joints.push(joint(name, Some(1), NONE, [0.0, 0.1, 0.0]));
        joints
    };
    // The third joint has a partner of another name, to which its movement may not be carried.
    let warnings = |by: MatchedBy, way: f64, translations: CarriedJoints| {
        let (mut library, source, target) = pair(rig("lip"), rig("beak"));
        let clip = Clip::new(None, source, vec![slide(1, 3.0), slide(2, way)]);
        let clip = library.add_clip(clip).unwrap();
        let mut map = JointMap::by_names(&library, source, target).unwrap();
        map.pairs.push(JointPair { source: 2, target: 2, by });
        let options = RetargetOptions { translations, ..RetargetOptions::default() };
        let result = library.retarget(&[clip], &map, &options).unwrap();
        let texts = result.warnings.iter().map(|warning| warning.describe(&library, &result.map));
        (texts.collect::<Vec<_>>(), result.warnings)
    };
    let (texts, found) = warnings(MatchedBy::Role, 0.5, CarriedJoints::All);
    assert!(matches!(&found[..], [RetargetWarning::LostTranslations { joints, .. }] if joints == &[2]), "{found:?}");
    assert!(texts[0].contains("which is left out: lip; a map file"), "{texts:?}");
    // 2 % of the rig's size of 1.1 are no movement of a bone; nothing is lost if it is carried, or if nobody wants it.
    assert_eq!(warnings(MatchedBy::Role, 0.01, CarriedJoints::All).1, []);
    assert_eq!(warnings(MatchedBy::Caller, 0.5, CarriedJoints::All).1, []);
    assert_eq!(warnings(MatchedBy::Role, 0.5, CarriedJoints::Root).1, []);
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

#[test]
fn bones_of_animals_that_point_elsewhere_are_warned_of() {
    let tail = |direction: [f64; 3], below: DQuat| {
        let mut joints = vec![joint("root", None, NONE, [0.0; 3]), joint("tail.1", Some(0), below, direction)];
        joints.push(joint("tail.2", Some(1), NONE, [0.0, 0.5, 0.0]));
        joints
    };
    let turned = |degrees: f64| DQuat::from_rotation_z(degrees.to_radians());
    // The first bone of the target points 30 degrees elsewhere, the second one 10, 30 or 40 degrees.
    let aside = turned(30.0) * DVec3::Y;
    for (degrees, expected, most) in [(10.0, vec![0], 30.0), (30.0, vec![0, 1], 30.0), (40.0, vec![0, 1], 40.0)] {
        let (mut library, source, target) = pair(tail([0.0, 1.0, 0.0], NONE), tail(aside.to_array(), turned(degrees)));
        let clip = library.add_clip(Clip::new(None, source, vec![slide(0, 1.0)])).unwrap();
        let map = JointMap::by_names(&library, source, target).unwrap();
        let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
        let [RetargetWarning::Directions { joints, degrees }] = &result.warnings[..] else {
            panic!("{:?}", result.warnings)
        };
        assert_eq!(*joints, expected);
        assert!((degrees - most).abs() < 1e-6, "{degrees}");
        let text = result.warnings[0].describe(&library, &result.map);
        let start = format!("bones point up to {most:.0} degrees elsewhere than their partners");
        assert!(text.starts_with(&start) && text.contains("root"), "{text}");
    }
    let (mut library, source, target) = pair(tail([0.0, 1.0, 0.0], NONE), tail([0.0, 3.0, 0.0], turned(19.0)));
    let clip = library.add_clip(Clip::new(None, source, vec![slide(0, 1.0)])).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    assert_eq!(library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap().warnings, []);
}

/// A body of these joints in model space: hips, spine, neck and head; then of the left side hip, knee and ankle, then
/// shoulder, elbow and wrist. The right side is mirrored.
fn body(trunk: [[f64; 3]; 4], leg: [[f64; 3]; 3], arm: [[f64; 3]; 3]) -> Vec<Joint> {
    let mut places: Vec<(String, Option<usize>, DVec3)> = Vec::new();
    for (index, (name, place)) in ["Hips", "Spine", "Neck", "Head"].into_iter().zip(trunk).enumerate() {
        places.push((name.into(), index.checked_sub(1), place.into()));
    }
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        for (above, names, limb) in [(0, ["UpLeg", "Leg", "Foot"], leg), (1, ["Arm", "ForeArm", "Hand"], arm)] {
            let mut parent = above;
            for (name, [x, y, z]) in names.into_iter().zip(limb) {
                places.push((format!("{side}{name}"), Some(parent), DVec3::new(sign * x, y, z)));
                parent = places.len() - 1;
            }
        }
    }
    let local = |(name, parent, place): &(String, Option<usize>, DVec3)| {
        let above = parent.map_or(DVec3::ZERO, |parent| places[parent].2);
        joint(name, *parent, NONE, (*place - above).to_array())
    };
    places.iter().map(local).collect()
}

#[test]
fn a_body_on_four_legs_beside_one_on_two_is_warned_of() {
    let upright = [[0.0, 1.0, 0.0], [0.0, 1.2, 0.0], [0.0, 1.5, 0.0], [0.0, 1.7, 0.0]];
    let leg = [[0.1, 0.95, 0.0], [0.1, 0.5, 0.02], [0.1, 0.08, 0.0]];
    let stretched = || body(upright, leg, [[0.2, 1.45, 0.0], [0.5, 1.45, 0.0], [0.75, 1.45, 0.0]]);
    let hanging = || body(upright, leg, [[0.2, 1.45, 0.0], [0.22, 1.15, 0.0], [0.22, 0.9, 0.02]]);
    let animal = || {
        let trunk = [[0.0, 0.6, -0.4], [0.0, 0.62, -0.1], [0.0, 0.65, 0.4], [0.0, 0.8, 0.6]];
        let hind = [[0.1, 0.58, -0.4], [0.1, 0.3, -0.35], [0.1, 0.08, -0.4]];
        body(trunk, hind, [[0.1, 0.55, 0.35], [0.1, 0.3, 0.33], [0.1, 0.05, 0.35]])
    };
    // A human who sits on the ground and stretches legs and arms ahead, and a zero pose along +X.
    let sitting = || {
        let trunk = [[0.0, 0.1, 0.0], [0.0, 0.3, 0.0], [0.0, 0.6, 0.0], [0.0, 0.8, 0.0]];
        let ahead = [[0.1, 0.1, 0.0], [0.1, 0.1, 0.45], [0.1, 0.1, 0.87]];
        body(trunk, ahead, [[0.2, 0.55, 0.0], [0.2, 0.55, 0.3], [0.2, 0.55, 0.55]])
    };
    let zero = || {
        let along = |joint: Joint| {
            let length = joint.rest.translation.length();
            Joint { rest: posse::Transform { translation: length * DVec3::X, ..joint.rest }, ..joint }
        };
        stretched().into_iter().map(along).collect::<Vec<_>>()
    };
    let warning = |source: Vec<Joint>, target: Vec<Joint>| {
        let (mut library, source, target) = pair(source, target);
        let clip = library.add_clip(Clip::new(None, source, vec![slide(0, 1.0)])).unwrap();
        let map = JointMap::by_names(&library, source, target).unwrap();
        let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
        let found = result.warnings.iter().find(|warning| matches!(warning, RetargetWarning::FourLegs(_)));
        found.map(|warning| warning.describe(&library, &result.map))
    };
    for human in [stretched(), hanging()] {
        let onto = warning(human.clone(), animal());
        assert!(onto.is_some_and(|text| text.starts_with("the target stands on four legs, and the source on two, ")));
        let from = warning(animal(), human);
        assert!(from.is_some_and(|text| text.starts_with("the source stands on four legs, and the target on two, ")));
    }
    assert_eq!(warning(animal(), animal()), None);
    for human in [hanging(), sitting(), zero()] {
        assert_eq!([warning(stretched(), human.clone()), warning(human, stretched())], [None, None]);
    }
}
