//! Rigs of unusual structure, and files whose rest pose is a pose of a motion.

use glam::{DQuat, DVec3};
use posse::curves::{Interpolation, Target, Track};
use posse::retarget::{JointMap, MapSide, ReferencePose, RetargetOptions, RetargetWarning, Retargeting};
use posse::{Clip, Joint, Library, SkeletonId};

use super::rigs::{add, angle, joint, model_pose};
use crate::support::build::curve;

const NONE: DQuat = DQuat::IDENTITY;

/// Joints: name, parent, and place in model space. `{}` stands for both sides; the place is that of the left one.
type Figure<'a> = &'a [(&'a str, &'a str, [f64; 3])];

/// The joints of a figure, each with the axes of model space.
fn joints(figure: Figure) -> Vec<Joint> {
    let mut all: Vec<(String, String, DVec3)> = Vec::new();
    for &(name, parent, place) in figure {
        let sides: &[(&str, f64)] = if name.contains("{}") { &[("Left", 1.0), ("Right", -1.0)] } else { &[("", 1.0)] };
        for (side, sign) in sides {
            let [name, parent] = [name, parent].map(|text| text.replace("{}", side));
            all.push((name, parent, DVec3::new(sign * place[0], place[1], place[2])));
        }
    }
    let place = |(name, parent, place): &(String, String, DVec3)| {
        let above = all.iter().position(|(other, ..)| other == parent);
        joint(name, above, NONE, (*place - above.map_or(DVec3::ZERO, |above| all[above].2)).to_array())
    };
    all.iter().map(place).collect()
}

/// A human with the names of Mixamo, in a T-pose that faces +Z, 1.7 tall.
const HUMAN: Figure = &[
    ("Hips", "", [0.0, 1.0, 0.0]),
    ("Spine", "Hips", [0.0, 1.2, 0.0]),
    ("Neck", "Spine", [0.0, 1.5, 0.0]),
    ("Head", "Neck", [0.0, 1.6, 0.0]),
    ("{}Arm", "Spine", [0.2, 1.45, 0.0]),
    ("{}ForeArm", "{}Arm", [0.48, 1.45, 0.0]),
    ("{}Hand", "{}ForeArm", [0.73, 1.45, 0.0]),
    ("{}UpLeg", "Hips", [0.1, 0.95, 0.0]),
    ("{}Leg", "{}UpLeg", [0.1, 0.52, 0.0]),
    ("{}Foot", "{}Leg", [0.1, 0.1, 0.0]),
    ("{}ToeBase", "{}Foot", [0.1, 0.0, 0.14]),
];

fn degrees(axis: [f64; 3], angle: f64) -> DQuat {
    crate::support::build::degrees(DVec3::from(axis).normalize(), angle)
}

fn index(joints: &[Joint], name: &str) -> usize {
    joints.iter().position(|joint| joint.name.as_deref() == Some(name)).unwrap()
}

/// Retargets one clip of these tracks.
fn retarget(source: Vec<Joint>, target: Vec<Joint>, tracks: Vec<Track>) -> (Library, SkeletonId, Retargeting) {
    retarget_by(source, target, tracks, false)
}

/// The same; `by_target` takes the rest pose of the target as the reference.
fn retarget_by(
    source: Vec<Joint>,
    target: Vec<Joint>,
    tracks: Vec<Track>,
    by_target: bool,
) -> (Library, SkeletonId, Retargeting) {
    let mut library = Library::new();
    let (source, target) = (add(&mut library, source), add(&mut library, target));
    let clip = library.add_clip(Clip::new(Some("moves".into()), source, tracks)).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    let mut options = RetargetOptions::default();
    if by_target {
        let skeleton = library.skeleton(source);
        options.reference = ReferencePose::by_names(skeleton, &library, target, &ReferencePose::Rest).unwrap();
    }
    let result = library.retarget(&[clip], &map, &options).unwrap();
    (library, target, result)
}

fn moved(joint: usize, from: [f64; 3], to: [f64; 3]) -> Track {
    let places = [from, to].concat();
    Track::new(Target::Translation(joint), curve(Interpolation::Linear, 3, &[0.0, 1.0], &places))
}

fn rotated(joint: usize, turns: [DQuat; 2]) -> Track {
    let values: Vec<f64> = turns.iter().flat_map(|turn| turn.to_array()).collect();
    Track::new(Target::Rotation(joint), curve(Interpolation::Linear, 4, &[0.0, 1.0], &values))
}

/// The place of a joint of the target at a time of the first clip.
fn place((library, target, result): &(Library, SkeletonId, Retargeting), name: &str, time: f64) -> DVec3 {
    let joint = library.skeleton(*target).find_joint(name).unwrap();
    model_pose(library, *target, Some((result.clips[0].clip, time)))[joint].1
}

/// The same figure, at a share of its size, and moved by an offset.
fn changed<'a>(figure: Figure<'a>, scale: f64, offset: [f64; 3]) -> Vec<(&'a str, &'a str, [f64; 3])> {
    let change = |place: [f64; 3]| (scale * DVec3::from(place) + DVec3::from(offset)).to_array();
    figure.iter().map(|&(name, parent, place)| (name, parent, change(place))).collect()
}

/// A clip without feet in the target, so that no ground is known: hips that rest at 0 come to their height all the same.
#[test]
fn hips_that_rest_at_the_origin_do_not_float_without_a_ground() {
    let target = changed(&HUMAN[..9], 0.5, [0.0; 3]);
    for offset in [0.0, -1.0] {
        let source = joints(&changed(HUMAN, 1.0, [0.0, offset, 0.0]));
        let result = retarget(source, joints(&target), vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.2, 0.5])]);
        assert!(result.2.warnings.contains(&RetargetWarning::NoGround), "{:?}", result.2.warnings);
        assert!((result.2.scale - 0.5).abs() < 1e-9);
        assert!(place(&result, "Hips", 0.0).distance(DVec3::new(0.0, 0.5, 0.0)) < 1e-9);
        assert!(place(&result, "Hips", 1.0).distance(DVec3::new(0.0, 0.6, 0.25)) < 1e-9);
    }
    // With feet, the ground is known.
    let result = retarget(
        joints(HUMAN),
        joints(&changed(HUMAN, 0.5, [0.0; 3])),
        vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.5])],
    );
    assert_eq!(result.2.warnings, []);
}

/// Hips below a root on the ground that carries the legs: the root is moved so that the place between the legs follows.
#[test]
fn a_root_on_the_ground_that_carries_the_hips_moves_them_and_not_itself() {
    let target = [
        &[("Root", "", [0.0; 3]), ("Hips", "Root", [0.0, 1.0, 0.0]), ("Spine", "Hips", [0.0, 1.2, 0.0])][..],
        &HUMAN[2..7],
        &[("{}UpLeg", "Root", [0.1, 0.95, 0.0])][..],
        &HUMAN[8..],
    ];
    let lean = degrees([1.0, 0.0, 0.0], 40.0);
    let tracks = vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.4]), rotated(0, [NONE, lean])];
    let result = retarget(joints(HUMAN), joints(&target.concat()), tracks);
    assert_eq!(result.2.warnings, []);
    let pair = result.2.map.pairs.iter().find(|pair| pair.source == 0).unwrap();
    assert_eq!(result.0.skeleton(result.1).joint_name(pair.target), "Root");
    for time in [0.0, 0.3, 1.0] {
        let legs = 0.5 * (place(&result, "LeftUpLeg", time) + place(&result, "RightUpLeg", time));
        assert!(legs.distance(DVec3::new(0.0, 0.95, 0.4 * time)) < 1e-3, "{legs} at {time} s");
    }
    let root = result.0.skeleton(result.1).find_joint("Root").unwrap();
    let pose = model_pose(&result.0, result.1, Some((result.2.clips[0].clip, 1.0)));
    assert!(angle(pose[root].0, lean) < 1e-3);
}

#[test]
fn joints_that_hang_elsewhere_than_in_a_human_are_named() {
    let control = |name: &str| -> Vec<Joint> {
        let change = |&(own, parent, place): &(&'static str, &'static str, [f64; 3])| {
            (own, if own == name { "Control" } else { parent }, place)
        };
        let body: Vec<_> = HUMAN.iter().map(change).collect();
        joints(&[&[("Control", "", [0.0; 3])][..], &body[..]].concat())
    };
    let found = |target: Vec<Joint>, names: [&str; 2]| {
        let detached = names.map(|name| index(&target, name)).to_vec();
        let (.., result) = retarget(joints(HUMAN), target, vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.4])]);
        let detached = RetargetWarning::Detached { side: MapSide::Target, joints: detached };
        assert!(result.warnings.contains(&detached), "{:?}", result.warnings);
    };
    found(control("{}Foot"), ["LeftFoot", "RightFoot"]);
    found(control("{}Hand"), ["LeftHand", "RightHand"]);
    let (.., result) = retarget(joints(HUMAN), control(""), vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.4])]);
    assert_eq!(result.warnings, []);
}

/// The rotations of a step: an arm that hangs, a leg ahead and a bent knee.
const STEP: [(&str, [f64; 3], f64); 6] = [
    ("LeftArm", [0.0, 0.0, 1.0], -70.0),
    ("RightArm", [0.3, 0.2, 1.0], 60.0),
    ("RightForeArm", [0.0, 1.0, 0.0], 30.0),
    ("LeftUpLeg", [1.0, 0.0, 0.0], -35.0),
    ("RightLeg", [1.0, 0.0, 0.0], 50.0),
    ("Spine", [0.0, 1.0, 0.0], 25.0),
];

fn stepping(mut joints: Vec<Joint>) -> Vec<Joint> {
    for (name, axis, angle) in STEP {
        let joint = index(&joints, name);
        joints[joint].rest.rotation = degrees(axis, angle);
    }
    joints
}

#[test]
fn one_skeleton_in_two_rest_poses_is_known_and_can_keep_its_local_rotations() {
    // The second figure has longer upper arms and shorter thighs: the rest pose of the source is no symmetric one.
    let mut other = joints(HUMAN);
    for (name, scale) in [("LeftForeArm", 1.3), ("RightForeArm", 1.3), ("LeftLeg", 0.8), ("RightLeg", 0.8)] {
        let joint = index(&other, name);
        other[joint].rest.translation *= scale;
    }
    for target in [joints(HUMAN), joints(&changed(HUMAN, 0.01, [0.0; 3])), other] {
        let source = stepping(joints(HUMAN));
        let turns = |name: &str| {
            let (_, axis, angle) = STEP[STEP.iter().position(|(other, ..)| *other == name).unwrap()];
            [angle, angle / 2.0].map(|angle| degrees(axis, angle))
        };
        let tracks = STEP.iter().map(|(name, ..)| rotated(index(&source, name), turns(name))).collect::<Vec<_>>();
        let (library, _, result) = retarget(source.clone(), target.clone(), tracks.clone());
        assert!(result.is_one_skeleton && result.named(&library).one_skeleton);
        let (library, target, result) = retarget_by(source, target, tracks, true);
        assert!(!result.is_one_skeleton);
        for (name, ..) in STEP {
            let joint = library.skeleton(target).find_joint(name).unwrap();
            let parent = library.skeleton(target).joints()[joint].parent.unwrap();
            for (time, wanted) in [0.0, 1.0].into_iter().zip(turns(name)) {
                let pose = model_pose(&library, target, Some((result.clips[0].clip, time)));
                let local = pose[parent].0.conjugate() * pose[joint].0;
                assert!(angle(local, wanted) < 1e-6, "{name} at {time} s");
            }
        }
    }
}

#[test]
fn other_axes_in_one_pose_and_other_builds_are_no_one_skeleton() {
    let is_one = |source: Vec<Joint>, target: Vec<Joint>| {
        let (.., result) = retarget(source, target, vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.4])]);
        result.is_one_skeleton
    };
    // The upper arm is rotated about itself, and the lower arm back: all joints stay in their places.
    let mut twisted = joints(HUMAN);
    let roll = degrees([1.0, 0.0, 0.0], 90.0);
    for (name, turn) in [("LeftArm", roll), ("LeftForeArm", roll.conjugate())] {
        let joint = index(&twisted, name);
        twisted[joint].rest.rotation = turn;
    }
    assert!(!is_one(twisted, joints(HUMAN)));
    // A symmetric rest pose of another build is a rest pose.
    let mut hanging = joints(HUMAN);
    for (name, sign) in [("LeftArm", -1.0), ("RightArm", 1.0)] {
        let joint = index(&hanging, name);
        hanging[joint].rest.rotation = degrees([0.0, 0.0, 1.0], sign * 50.0);
    }
    assert!(is_one(hanging.clone(), joints(HUMAN)));
    let joint = index(&hanging, "LeftForeArm");
    hanging[joint].rest.translation *= 1.1;
    assert!(!is_one(hanging, joints(HUMAN)));
    // Of another parent or name.
    let other = |name: &'static str, parent: &'static str| {
        let change = |&(own, above, place): &(&'static str, &'static str, [f64; 3])| {
            (own, if own == name { parent } else { above }, place)
        };
        joints(&HUMAN.iter().map(change).collect::<Vec<_>>())
    };
    assert!(is_one(stepping(joints(HUMAN)), joints(HUMAN)));
    assert!(!is_one(stepping(joints(HUMAN)), other("{}Arm", "Hips")));
}

#[test]
fn a_dog_with_the_names_of_a_human_is_known_by_its_clips() {
    // All bones lie along +X at rest. In the clip, the legs hang from a level trunk.
    let dog: Figure = &[
        ("Hips", "", [0.0; 3]),
        ("Spine", "Hips", [0.2, 0.0, 0.0]),
        ("Neck", "Spine", [0.5, 0.0, 0.0]),
        ("Head", "Neck", [0.6, 0.0, 0.0]),
        ("{}Arm", "Spine", [0.45, 0.0, 0.0]),
        ("{}ForeArm", "{}Arm", [0.6, 0.0, 0.0]),
        ("{}Hand", "{}ForeArm", [0.78, 0.0, 0.0]),
        ("{}UpLeg", "Hips", [0.0, 0.0, 0.0]),
        ("{}Leg", "{}UpLeg", [0.16, 0.0, 0.0]),
        ("{}Foot", "{}Leg", [0.34, 0.0, 0.0]),
    ];
    let of_side = |(name, parent, [x, y, _]): (&str, &str, [f64; 3])| -> Vec<(String, String, DVec3)> {
        let sides: &[(&str, f64)] =
            if name.contains("{}") { &[("Left", 0.05), ("Right", -0.05)] } else { &[("", 0.0)] };
        sides
            .iter()
            .map(|(side, z)| (name.replace("{}", side), parent.replace("{}", side), DVec3::new(x, y, -z)))
            .collect()
    };
    let all: Vec<_> = dog.iter().flat_map(|&joint| of_side(joint)).collect();
    let place = |(name, parent, place): &(String, String, DVec3)| {
        let above = all.iter().position(|(other, ..)| other == parent);
        joint(name, above, NONE, (*place - above.map_or(DVec3::ZERO, |above| all[above].2)).to_array())
    };
    let source: Vec<Joint> = all.iter().map(place).collect();
    let down = degrees([0.0, 0.0, 1.0], -90.0);
    let hang = ["LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg"].map(|name| rotated(index(&source, name), [down; 2]));
    let mut tracks = vec![moved(0, [0.0, 0.4, 0.0], [0.5, 0.4, 0.0])];
    tracks.extend(hang);
    let (.., result) = retarget(source, joints(HUMAN), tracks);
    assert!(result.warnings.contains(&RetargetWarning::FourLegs(MapSide::Source)), "{:?}", result.warnings);
    // A human who crawls: the arms are shorter than the legs.
    let source = joints(HUMAN);
    let (level, ahead) = (degrees([1.0, 0.0, 0.0], 90.0), degrees([1.0, 0.0, 0.0], -90.0));
    let mut tracks = vec![rotated(0, [level; 2]), moved(0, [0.0, 0.6, 0.0], [0.0, 0.6, 0.5])];
    tracks.extend(["LeftUpLeg", "RightUpLeg"].map(|name| rotated(index(&source, name), [ahead; 2])));
    let arms = [("LeftArm", -90.0), ("RightArm", 90.0)];
    tracks.extend(arms.map(|(name, angle)| {
        let turn = ahead * degrees([0.0, 0.0, 1.0], angle);
        rotated(index(&source, name), [turn; 2])
    }));
    let (.., result) = retarget(source, joints(HUMAN), tracks);
    assert!(!result.warnings.iter().any(|warning| matches!(warning, RetargetWarning::FourLegs(_))));
}

#[test]
fn a_foot_whose_toes_are_below_the_ankle_points_to_their_end() {
    // As in a BVH file whose End Site alone is ahead. The feet stand flat in both rest poses.
    let toes = [("{}Toe", "{}Foot", [0.1, 0.02, 0.0]), ("{}End", "{}Toe", [0.1, 0.02, 0.2])];
    let source = joints(&[&HUMAN[..10], &toes[..]].concat());
    let tracks = vec![moved(0, [0.0, 1.0, 0.0], [0.0, 1.0, 0.5])];
    let result = retarget(source, joints(HUMAN), tracks);
    for (name, [x, y, z]) in [("LeftFoot", [0.1, 0.1, 0.0]), ("LeftToeBase", [0.1, 0.0, 0.14])] {
        let wanted = DVec3::new(x, y + place(&result, "Hips", 0.0).y - 1.0, z);
        assert!(place(&result, name, 0.0).distance(wanted) < 1e-6, "{name}: {}", place(&result, name, 0.0));
    }
    let toes = result.0.skeleton(result.1).find_joint("LeftToeBase");
    assert!(result.2.map.pairs.iter().any(|pair| Some(pair.target) == toes));
}
