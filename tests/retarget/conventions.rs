//! One motion, written in the conventions of many tools, gives one figure: names, zero poses, axes, fronts, units and
//! places of roots.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::retarget::{
    AlignmentReason, JointMap, JointPair, MapSide, MatchedBy, RetargetOptions, RetargetWarning, Retargeting, RootScale,
};
use posse::{Clip, ClipId, Joint, Library, Skeleton, SkeletonId, Transform, demo};

use super::rigs::model_pose;

/// The bones of the body: role, parent, and the way from it in centimetres, in a T-pose that faces +Z with +Y up.
const BODY: [(&str, usize, [f64; 3]); 24] = [
    ("hips", 0, [0.0, 98.0, 0.0]),
    ("spine", 0, [0.0, 11.0, 0.0]),
    ("chest", 1, [0.0, 14.0, 0.0]),
    ("upperChest", 2, [0.0, 13.0, 0.0]),
    ("neck", 3, [0.0, 17.0, 0.0]),
    ("head", 4, [0.0, 10.0, 0.0]),
    ("leftShoulder", 3, [4.0, 12.0, 0.0]),
    ("leftUpperArm", 6, [13.0, 0.0, 0.0]),
    ("leftLowerArm", 7, [28.0, 0.0, 0.0]),
    ("leftHand", 8, [25.0, 0.0, 0.0]),
    ("rightShoulder", 3, [-4.0, 12.0, 0.0]),
    ("rightUpperArm", 10, [-13.0, 0.0, 0.0]),
    ("rightLowerArm", 11, [-28.0, 0.0, 0.0]),
    ("rightHand", 12, [-25.0, 0.0, 0.0]),
    ("leftUpperLeg", 0, [9.0, -5.0, 0.0]),
    ("leftLowerLeg", 14, [0.0, -43.0, 0.0]),
    ("leftFoot", 15, [0.0, -42.0, 0.0]),
    ("leftToes", 16, [0.0, -7.0, 14.0]),
    ("rightUpperLeg", 0, [-9.0, -5.0, 0.0]),
    ("rightLowerLeg", 18, [0.0, -43.0, 0.0]),
    ("rightFoot", 19, [0.0, -42.0, 0.0]),
    ("rightToes", 20, [0.0, -7.0, 14.0]),
    // The ends of bones, without roles.
    ("", 9, [9.0, 0.0, 0.0]),
    ("", 13, [-9.0, 0.0, 0.0]),
];

/// The limbs whose directions are compared: from one role to another.
const LIMBS: [(&str, &str); 11] = [
    ("hips", "neck"),
    ("leftUpperArm", "leftLowerArm"),
    ("leftLowerArm", "leftHand"),
    ("rightUpperArm", "rightLowerArm"),
    ("rightLowerArm", "rightHand"),
    ("leftUpperLeg", "leftLowerLeg"),
    ("leftLowerLeg", "leftFoot"),
    ("rightUpperLeg", "rightLowerLeg"),
    ("rightLowerLeg", "rightFoot"),
    ("leftFoot", "leftToes"),
    ("rightFoot", "rightToes"),
];

/// The roles of a body without its ends, and the names that tools give them.
const NAMES: [(&str, [&str; 22]); 8] = [
    (
        "Mixamo",
        names(
            "Hips Spine Spine1 Spine2 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand RightShoulder RightArm RightForeArm RightHand LeftUpLeg LeftLeg LeftFoot LeftToeBase RightUpLeg RightLeg RightFoot RightToeBase",
        ),
    ),
    (
        "VRM",
        names(
            "hips spine chest upperChest neck head leftShoulder leftUpperArm leftLowerArm leftHand rightShoulder rightUpperArm rightLowerArm rightHand leftUpperLeg leftLowerLeg leftFoot leftToes rightUpperLeg rightLowerLeg rightFoot rightToes",
        ),
    ),
    (
        "Unreal",
        names(
            "pelvis spine_01 spine_02 spine_03 neck_01 head clavicle_l upperarm_l lowerarm_l hand_l clavicle_r upperarm_r lowerarm_r hand_r thigh_l calf_l foot_l ball_l thigh_r calf_r foot_r ball_r",
        ),
    ),
    (
        "Rigify",
        names(
            "spine spine.001 spine.002 spine.003 spine.004 spine.006 shoulder.L upper_arm.L forearm.L hand.L shoulder.R upper_arm.R forearm.R hand.R thigh.L shin.L foot.L toe.L thigh.R shin.R foot.R toe.R",
        ),
    ),
    (
        "Biovision",
        names(
            "Hips Chest Chest2 Chest3 Neck Head LeftCollar LeftShoulder LeftElbow LeftWrist RightCollar RightShoulder RightElbow RightWrist LeftHip LeftKnee LeftAnkle LeftToe RightHip RightKnee RightAnkle RightToe",
        ),
    ),
    (
        "Biped",
        names(
            "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Spine2 Bip01_Neck Bip01_Head Bip01_L_Clavicle Bip01_L_UpperArm Bip01_L_Forearm Bip01_L_Hand Bip01_R_Clavicle Bip01_R_UpperArm Bip01_R_Forearm Bip01_R_Hand Bip01_L_Thigh Bip01_L_Calf Bip01_L_Foot Bip01_L_Toe0 Bip01_R_Thigh Bip01_R_Calf Bip01_R_Foot Bip01_R_Toe0",
        ),
    ),
    (
        "SMPL",
        names(
            "Pelvis Spine1 Spine2 Spine3 Neck Head L_Collar L_Shoulder L_Elbow L_Wrist R_Collar R_Shoulder R_Elbow R_Wrist L_Hip L_Knee L_Ankle L_Foot R_Hip R_Knee R_Ankle R_Foot",
        ),
    ),
    (
        "Xsens",
        names(
            "Pelvis L5 T12 T8 Neck Head LeftShoulder LeftUpperArm LeftForeArm LeftHand RightShoulder RightUpperArm RightForeArm RightHand LeftUpperLeg LeftLowerLeg LeftFoot LeftToe RightUpperLeg RightLowerLeg RightFoot RightToe",
        ),
    ),
];

/// Splits a list of names.
const fn names(text: &'static str) -> [&'static str; 22] {
    let bytes = text.as_bytes();
    let (mut names, mut count, mut start, mut at) = ([""; 22], 0, 0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b' ' {
            names[count] = text.split_at(at).0.split_at(start).1;
            (count, start) = (count + 1, at + 1);
        }
        at += 1;
    }
    names
}

/// A way to write a skeleton and a motion.
struct Convention {
    label: &'static str,
    names: &'static str,
    /// Turns the space of the T-pose, which faces +Z with +Y up.
    world: DQuat,
    /// The zero pose: in it, the bone that leads away from a joint points where this turn of the T-pose has it.
    zero: fn(role: &str, along: DVec3) -> DQuat,
    /// `true` if the rest pose is the T-pose, whatever the axes of the joints, as in glTF.
    rests_in_t_pose: bool,
    /// The length of a centimetre.
    unit: f64,
    /// `true` if the root lies at 0 at rest.
    is_root_at_zero: bool,
}

fn unturned(_: &str, _: DVec3) -> DQuat {
    DQuat::IDENTITY
}

/// Arms 45 degrees down.
fn a_pose(role: &str, _: DVec3) -> DQuat {
    arms_down(role, 45.0)
}

/// Arms at the sides.
fn i_pose(role: &str, _: DVec3) -> DQuat {
    arms_down(role, 85.0)
}

fn arms_down(role: &str, degrees: f64) -> DQuat {
    let is_arm = ["UpperArm", "LowerArm", "Hand"].iter().any(|part| role.ends_with(part));
    let side = if role.starts_with("left") { -1.0 } else { 1.0 };
    DQuat::from_rotation_z(if is_arm { side * degrees.to_radians() } else { 0.0 })
}

/// All bones along +X, with axes that turn about them as in LAFAN1.
fn along_x(role: &str, along: DVec3) -> DQuat {
    let trunk = DQuat::from_mat3(&glam::DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X)).conjugate();
    match role {
        "hips" | "spine" | "chest" | "upperChest" | "neck" | "head" => trunk,
        // The third axis is the axis of the hinge.
        _ => {
            let is_arm = ["Shoulder", "UpperArm", "LowerArm", "Hand"].iter().any(|part| role.ends_with(part));
            let along = if along == DVec3::ZERO { DVec3::Z } else { along.normalize() };
            let hinge = if is_arm { DVec3::Y } else { DVec3::X };
            let hinge = (hinge - hinge.dot(along) * along).normalize();
            DQuat::from_mat3(&glam::DMat3::from_cols(along, hinge.cross(along), hinge)).conjugate()
        }
    }
}

/// All bones along +X but the head, which is as in the T-pose: its axes are the axes of the world, as in Rokoko's
/// files.
fn along_x_but_head(role: &str, along: DVec3) -> DQuat {
    if role == "head" { DQuat::IDENTITY } else { along_x(role, along) }
}

/// The figure stands on its head.
fn on_its_head(_: &str, _: DVec3) -> DQuat {
    DQuat::from_rotation_x(std::f64::consts::PI)
}

/// Axes of joints that turn about the bones and across them, at random.
fn any_axes(role: &str, _: DVec3) -> DQuat {
    let seed = role.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let part = |shift: u32| (seed >> shift & 0xff) as f64 / 40.0;
    DQuat::from_euler(glam::EulerRot::XYZ, part(0), part(8), part(16))
}

/// A rotation by quarter turns: about +X, then about +Y.
fn quarters(x: f64, y: f64) -> DQuat {
    DQuat::from_rotation_y(y * std::f64::consts::FRAC_PI_2) * DQuat::from_rotation_x(x * std::f64::consts::FRAC_PI_2)
}

fn conventions() -> Vec<Convention> {
    let plain = |label: &'static str, names: &'static str| Convention {
        label,
        names,
        world: DQuat::IDENTITY,
        zero: unturned,
        rests_in_t_pose: false,
        unit: 0.01,
        is_root_at_zero: false,
    };
    vec![
        plain("T-pose, metres", "Mixamo"),
        Convention { unit: 1.0, ..plain("T-pose, centimetres", "Mixamo") },
        Convention { unit: 0.3937, is_root_at_zero: true, ..plain("inches, the root at zero", "Mixamo") },
        Convention { world: quarters(1.0, 0.0), ..plain("+Z up", "Unreal") },
        Convention { world: quarters(0.0, 2.0), ..plain("faces -Z", "VRM") },
        Convention { world: quarters(0.0, 1.0), ..plain("faces +X", "Rigify") },
        Convention { zero: a_pose, ..plain("A-pose", "Mixamo") },
        Convention { zero: i_pose, unit: 1.0, ..plain("arms at the sides", "Biped") },
        Convention { zero: along_x, unit: 1.0, ..plain("bones along +X", "Mixamo") },
        Convention { zero: along_x_but_head, unit: 1.0, ..plain("bones along +X, the head upright", "Mixamo") },
        Convention { zero: on_its_head, ..plain("the zero pose on its head", "Mixamo") },
        Convention { world: quarters(2.0, 0.0), ..plain("-Y up, as in a camera", "Mixamo") },
        Convention { zero: any_axes, rests_in_t_pose: true, ..plain("any axes, at rest in a T-pose", "Mixamo") },
        Convention {
            world: quarters(1.0, 1.0),
            zero: any_axes,
            rests_in_t_pose: true,
            ..plain("any axes, +Z up", "SMPL")
        },
        plain("Biovision", "Biovision"),
        Convention { unit: 1.0, is_root_at_zero: true, ..plain("Xsens", "Xsens") },
        Convention { world: quarters(0.0, 2.0), zero: a_pose, ..plain("A-pose that faces -Z", "VRM") },
    ]
}

/// The turns of the body's parts at a time, in the space of the T-pose, and the place of the hips.
fn motion(time: f64) -> (Vec<DQuat>, DVec3) {
    let swing = (2.0 * std::f64::consts::PI * time).sin();
    let mut turns: Vec<DQuat> = Vec::with_capacity(BODY.len());
    for (role, parent, _) in BODY {
        let side = if role.starts_with("left") { 1.0 } else { -1.0 };
        let local = match role.trim_start_matches("left").trim_start_matches("right") {
            "hips" => DQuat::from_rotation_y(0.3 * time),
            "spine" | "chest" => DQuat::from_rotation_x(0.05) * DQuat::from_rotation_y(-0.1 * swing),
            "Shoulder" => DQuat::from_rotation_z(0.05 * side),
            // Arms hang and swing, and elbows bend ahead.
            "UpperArm" => DQuat::from_rotation_x(-0.5 * swing * side) * DQuat::from_rotation_z(-1.2 * side),
            "LowerArm" => DQuat::from_rotation_y(-(0.6 + 0.3 * swing * side) * side),
            "UpperLeg" => DQuat::from_rotation_x(-0.1 - 0.5 * swing * side),
            "LowerLeg" => DQuat::from_rotation_x(0.4 + 0.35 * swing * side),
            "Foot" => DQuat::from_rotation_x(-0.2),
            _ => DQuat::IDENTITY,
        };
        turns.push(if role == "hips" { local } else { turns[parent] * local });
    }
    // The lower one of the toes is where it is in the T-pose.
    let mut places = vec![DVec3::ZERO];
    for (_, parent, way) in BODY.iter().skip(1) {
        places.push(places[*parent] + turns[*parent] * DVec3::from(*way));
    }
    let toes = BODY.iter().zip(&places).filter(|((role, _, _), _)| role.ends_with("Toes"));
    let lowest = toes.map(|(_, place)| place.y).fold(f64::INFINITY, f64::min);
    (turns, DVec3::new(10.0 * time, 1.0 - lowest, 120.0 * time))
}

/// A skeleton with the motion as a clip.
fn written(library: &mut Library, convention: &Convention) -> (SkeletonId, ClipId) {
    let Convention { names, world, zero, rests_in_t_pose, unit, is_root_at_zero, .. } = *convention;
    let names = NAMES.iter().find(|(of, _)| *of == names).unwrap().1;
    // The bone that leads away from a joint: to the next one of its limb.
    let along = |joint: usize| {
        let next = BODY.iter().skip(1).position(|(_, parent, _)| *parent == joint).map(|next| next + 1);
        next.map_or(DVec3::ZERO, |next| DVec3::from(BODY[next].2))
    };
    // The rotation of each joint in the T-pose, in the space of the file, if it has none in the zero pose.
    let in_t_pose: Vec<DQuat> = BODY
        .iter()
        .enumerate()
        .map(|(joint, (role, parent, _))| {
            let turn = if role.is_empty() { zero(BODY[*parent].0, along(*parent)) } else { zero(role, along(joint)) };
            (world * turn.conjugate() * if rests_in_t_pose { DQuat::IDENTITY } else { world.conjugate() }).normalize()
        })
        .collect();
    let parent_of = |joint: usize| (joint > 0).then(|| BODY[joint].1);
    let local = |rotations: &[DQuat], joint: usize| {
        parent_of(joint).map_or(rotations[joint], |parent| rotations[parent].conjugate() * rotations[joint])
    };
    let times: Vec<f64> = (0..=30).map(|frame| f64::from(frame) / 30.0).collect();
    let poses: Vec<(Vec<DQuat>, DVec3)> = times
        .iter()
        .map(|&time| {
            let (turns, place) = motion(time);
            let rotation = |joint: usize| world * turns[joint] * world.conjugate() * in_t_pose[joint];
            ((0..BODY.len()).map(rotation).collect(), world * place * unit)
        })
        .collect();
    let mut joints = Vec::new();
    for (joint, (role, _, way)) in BODY.iter().enumerate() {
        let way = world * DVec3::from(*way) * unit;
        let translation = match parent_of(joint) {
            None if is_root_at_zero => DVec3::ZERO,
            None => way,
            Some(parent) => in_t_pose[parent].conjugate() * way,
        };
        let rotation = if rests_in_t_pose { local(&in_t_pose, joint) } else { DQuat::IDENTITY };
        let name = if role.is_empty() { format!("{}_end", names[BODY[joint].1]) } else { names[joint].to_owned() };
        let rest = Transform { translation, rotation, scale: DVec3::ONE };
        joints.push(Joint { name: Some(name), parent: parent_of(joint), rest, ..Joint::default() });
    }
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let timeline = Arc::new(Timeline::new(times).unwrap());
    let curve =
        |width: usize, values: Vec<f64>| Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap();
    let mut tracks = vec![Track::new(
        Target::Translation(0),
        curve(3, poses.iter().flat_map(|(_, place)| place.to_array()).collect()),
    )];
    for joint in 0..BODY.len() {
        let mut before = DQuat::IDENTITY;
        let values = poses.iter().flat_map(|(rotations, _)| {
            let rotation = local(rotations, joint);
            before = if rotation.dot(before) < 0.0 { -rotation } else { rotation };
            before.to_array()
        });
        tracks.push(Track::new(Target::Rotation(joint), curve(4, values.collect())));
    }
    let clip = library.add_clip(Clip::new(Some("walk".into()), skeleton, tracks)).unwrap();
    (skeleton, clip)
}

/// A figure to which the motion is brought: its skeleton, and the joint of each role.
struct Figure {
    label: &'static str,
    skeleton: SkeletonId,
    joints: Vec<(&'static str, usize)>,
}

fn targets(library: &mut Library) -> Vec<Figure> {
    let built_in = demo::library().unwrap();
    let skeleton = library.add_skeleton(built_in.skeletons()[0].clone());
    let names = "pelvis spine.1 spine.2 spine.4 neck head clavicle.L upper_arm.L lower_arm.L hand.L clavicle.R upper_arm.R \
                 lower_arm.R hand.R thigh.L calf.L foot.L ball.L thigh.R calf.R foot.R ball.R";
    let joints = BODY
        .iter()
        .zip(names.split_whitespace())
        .map(|((role, _, _), name)| (*role, library.skeleton(skeleton).find_joint(name).unwrap()));
    let mut figures = vec![Figure { label: "the built-in human", joints: joints.collect(), skeleton }];
    let all = conventions();
    for label in ["any axes, at rest in a T-pose", "faces -Z", "A-pose", "+Z up"] {
        let convention = all.iter().find(|convention| convention.label == label).unwrap();
        let (skeleton, _) = written(library, convention);
        let joints =
            BODY.iter().enumerate().map(|(joint, (role, _, _))| (*role, joint)).filter(|(role, _)| !role.is_empty());
        figures.push(Figure { label, skeleton, joints: joints.collect() });
    }
    figures
}

impl Figure {
    fn joint(&self, role: &str) -> usize {
        self.joints.iter().find(|(other, _)| *other == role).unwrap().1
    }

    /// The rotation from the space of the T-pose to the space of the figure.
    fn world(&self) -> DQuat {
        let convention = conventions().into_iter().find(|convention| convention.label == self.label);
        convention.map_or(DQuat::IDENTITY, |convention| convention.world)
    }
}

/// The joint of a role in [`BODY`].
fn body_joint(role: &str) -> usize {
    BODY.iter().position(|(other, _, _)| *other == role).unwrap()
}

/// Parts of the body whose rotations are compared: no direction of a limb tells them all. Arms are in other places in
/// an A-pose.
const PARTS: [&str; 12] = [
    "hips",
    "upperChest",
    "neck",
    "head",
    "leftShoulder",
    "rightShoulder",
    "leftUpperLeg",
    "rightUpperLeg",
    "leftLowerLeg",
    "rightLowerLeg",
    "leftFoot",
    "rightFoot",
];

/// The directions of limbs, and the places of hips and feet in lengths of a leg, at some times.
fn poses(library: &Library, figure: &Figure, clip: ClipId) -> Vec<(Vec<DVec3>, [DVec3; 3])> {
    let pose = |time: f64| {
        let pose = model_pose(library, figure.skeleton, Some((clip, time)));
        let place = |role: &str| pose[figure.joint(role)].1;
        let leg =
            place("leftUpperLeg").distance(place("leftLowerLeg")) + place("leftLowerLeg").distance(place("leftFoot"));
        let directions = LIMBS.iter().map(|(from, to)| (place(to) - place(from)).normalize()).collect();
        (directions, ["hips", "leftFoot", "rightFoot"].map(|role| place(role) / leg))
    };
    [0.0, 0.2, 0.25, 0.5, 0.7, 1.0].map(pose).to_vec()
}

fn retargeted(library: &mut Library, convention: &Convention, target: SkeletonId) -> Retargeting {
    let (source, clip) = written(library, convention);
    let map = JointMap::by_names(library, source, target).unwrap();
    library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap()
}

#[test]
fn a_motion_gives_one_figure_in_all_conventions() {
    let mut library = Library::new();
    for figure in targets(&mut library) {
        let mut expected = None;
        for convention in conventions() {
            let result = retargeted(&mut library, &convention, figure.skeleton);
            let label = format!("{} on {}", convention.label, figure.label);
            let found = poses(&library, &figure, result.clips[0].clip);
            let expected = expected.get_or_insert_with(|| found.clone());
            for (pose, ((limbs, places), (right_limbs, right_places))) in found.iter().zip(&*expected).enumerate() {
                for ((limb, right), (from, _)) in limbs.iter().zip(right_limbs).zip(LIMBS) {
                    let degrees = limb.angle_between(*right).to_degrees();
                    // In a zero pose whose bones lie along one axis, it is not known how a foot stands on the ground.
                    let bound = if from.ends_with("Foot") { 2.0 } else { 1.0 };
                    assert!(degrees < bound, "{label}: {from} is off by {degrees} degrees in pose {pose}");
                }
                for (place, right) in places.iter().zip(right_places) {
                    assert!(place.distance(*right) < 0.01, "{label}: {place} instead of {right} in pose {pose}");
                }
            }
        }
    }
}

/// The angle in degrees between the bone of a shoulder or foot in [`BODY`] and the bone of a figure at rest; 0 for
/// other parts.
fn difference_in_build(library: &Library, figure: &Figure, part: &str) -> f64 {
    let next = match part {
        _ if part.ends_with("Shoulder") => part.replace("Shoulder", "UpperArm"),
        _ if part.ends_with("Foot") => part.replace("Foot", "Toes"),
        _ => return 0.0,
    };
    let rest = model_pose(library, figure.skeleton, None);
    let bone = rest[figure.joint(&next)].1 - rest[figure.joint(part)].1;
    bone.angle_between(figure.world() * DVec3::from(BODY[body_joint(&next)].2)).to_degrees()
}

#[test]
fn parts_of_the_body_are_rotated_as_the_motion_rotates_them() {
    let mut library = Library::new();
    for figure in targets(&mut library) {
        let (world, rest) = (figure.world(), model_pose(&library, figure.skeleton, None));
        for convention in conventions() {
            let result = retargeted(&mut library, &convention, figure.skeleton);
            // A zero pose whose bones lie along one axis does not tell how shoulders and feet stand in a T-pose. They
            // are rotated to where the bones of the target point, the shortest way, and so are off by the difference in
            // build. After nearly half a turn, as of one shoulder, this is so for the rotation about the bone, too:
            // together by the root of 2.
            let is_along_x = convention.label.starts_with("bones along +X");
            for time in [0.0, 0.25, 0.7] {
                let pose = model_pose(&library, figure.skeleton, Some((result.clips[0].clip, time)));
                let (turns, _) = motion(time);
                for part in PARTS {
                    let found = pose[figure.joint(part)].0 * rest[figure.joint(part)].0.conjugate();
                    let right = world * turns[body_joint(part)] * world.conjugate();
                    let degrees = found.angle_between(right).to_degrees();
                    let build = if is_along_x { difference_in_build(&library, &figure, part) } else { 0.0 };
                    let label = format!("{} on {}: {part} at {time}", convention.label, figure.label);
                    assert!(degrees < 1.0 + 1.42 * build, "{label} is off by {degrees} degrees");
                    // The built-in human, the only one of another build, has clavicles that rise by 8 degrees.
                    assert!(build < 8.0, "{label}: {build}");
                }
            }
        }
    }
}

#[test]
fn the_report_says_why_bones_were_rotated() {
    let mut library = Library::new();
    let figures = targets(&mut library);
    let mut reasons = |zero: fn(&str, DVec3) -> DQuat, target: usize| {
        let convention = Convention { zero, ..conventions().remove(0) };
        let result = retargeted(&mut library, &convention, figures[target].skeleton);
        let named = result.named(&library).aligned.into_iter();
        let named = named.map(|bone| (bone.source, bone.degrees.round(), bone.reason)).collect::<Vec<_>>();
        assert_eq!(named.len(), result.bones.len());
        named
    };
    let of = |reasons: &[(String, f64, AlignmentReason)], joint: &str| {
        reasons.iter().find(|(source, ..)| source == joint).map(|&(_, degrees, reason)| (degrees, reason))
    };
    // An A-pose, whose arms are 45 degrees down, is the last but one target.
    assert_eq!(figures[3].label, "A-pose");
    let found = reasons(unturned, 3);
    assert_eq!(of(&found, "LeftArm"), Some((45.0, AlignmentReason::Direction)));
    assert_eq!(of(&found, "LeftForeArm"), Some((45.0, AlignmentReason::Parent)));
    assert_eq!((of(&found, "Hips"), of(&found, "LeftUpLeg")), (None, None));
    let found = reasons(on_its_head, 0);
    assert_eq!(of(&found, "Hips"), Some((180.0, AlignmentReason::Trunk)));
    // Legs whose axes are turned by half a turn about the bones bend ahead, as far as their rest pose tells.
    let twisted = |role: &str, _: DVec3| {
        let is_leg = role.ends_with("UpperLeg") || role.ends_with("LowerLeg");
        DQuat::from_rotation_y(if is_leg { std::f64::consts::PI } else { 0.0 })
    };
    let found = reasons(twisted, 0);
    assert_eq!(of(&found, "LeftUpLeg").map(|(_, reason)| reason), Some(AlignmentReason::Bend));
    assert!(of(&found, "LeftUpLeg").is_some_and(|(degrees, _)| (degrees - 180.0).abs() < 3.0), "{found:?}");
    // The axes of a head alone lie otherwise at zero. The clip has it upright.
    let head = |role: &str, along: DVec3| if role == "head" { along_x("hips", along) } else { DQuat::IDENTITY };
    let found = reasons(head, 1);
    assert_eq!(of(&found, "Head"), Some((120.0, AlignmentReason::Clips)));
    let described = [AlignmentReason::Direction, AlignmentReason::Parent].map(|reason| reason.describe("arm"));
    assert_eq!(described, ["to point as arm", "with the joint above it"]);
}

/// A skeleton with other names, and the same clip on it.
fn renamed(library: &mut Library, (skeleton, clip): (SkeletonId, ClipId)) -> (SkeletonId, ClipId) {
    let joints = library.skeleton(skeleton).joints().iter().enumerate();
    let joints = joints.map(|(index, joint)| Joint { name: Some(format!("part {index}")), ..joint.clone() });
    let other = Skeleton::new(None, joints.collect(), Vec::new()).unwrap();
    let other = library.add_skeleton(other);
    let clip = Clip { skeleton: other, ..library.clip(clip).clone() };
    (other, library.add_clip(clip).unwrap())
}

#[test]
fn pairs_of_a_map_tell_the_roles_of_joints_with_unknown_names() {
    let mut library = Library::new();
    let figure = targets(&mut library).remove(0);
    // Bones along one axis have no shape that tells left from right.
    for label in ["bones along +X", "arms at the sides", "+Z up"] {
        let convention = conventions().into_iter().find(|convention| convention.label == label).unwrap();
        let named = written(&mut library, &convention);
        let map = JointMap::by_names(&library, named.0, figure.skeleton).unwrap();
        let right = library.retarget(&[named.1], &map, &RetargetOptions::default()).unwrap();
        let (source, clip) = renamed(&mut library, named);
        let by = MatchedBy::Caller;
        let pairs = map.pairs.iter().map(|pair| JointPair { by, ..*pair }).collect();
        let map = JointMap { pairs, ..JointMap::new(source, figure.skeleton) };
        let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
        assert_eq!((result.scale, result.facing), (right.scale, right.facing), "{label}");
        assert_eq!(result.basis, Some(RootScale::Legs), "{label}");
        let [found, right] = [&result, &right].map(|result| poses(&library, &figure, result.clips[0].clip));
        for ((limbs, places), (right_limbs, right_places)) in found.iter().zip(&right) {
            let degrees = limbs.iter().zip(right_limbs).map(|(limb, right)| limb.angle_between(*right).to_degrees());
            assert!(degrees.fold(0.0, f64::max) < 1.0, "{label}");
            assert!(places.iter().zip(right_places).all(|(place, right)| place.distance(*right) < 0.01), "{label}");
        }
    }
}

#[test]
fn a_joint_that_moves_about_does_not_turn_the_bone_to_it() {
    // The hand of a rig with inverse kinematics is translated by its clips, here by up to 0.4 of the forearm.
    let mut library = Library::new();
    let figure = targets(&mut library).remove(0);
    let (source, clip) = written(&mut library, &conventions()[0]);
    let map = JointMap::by_names(&library, source, figure.skeleton).unwrap();
    let right = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let hand = library.skeleton(source).find_joint("LeftHand").unwrap();
    let place = library.skeleton(source).joints()[hand].rest.translation;
    let far = place + 0.4 * place.length() * place.any_orthonormal_vector();
    let mut changed = library.clip(clip).clone();
    let timeline = Arc::new(Timeline::new(vec![0.0, changed.duration()]).unwrap());
    let values = [place.to_array(), far.to_array()].concat();
    let curve = Curve::new(timeline, Interpolation::Linear, 3, values).unwrap();
    changed.tracks.push(Track::new(Target::Translation(hand), curve));
    let clip = library.add_clip(changed).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let turned = |result: &posse::retarget::Retargeting| -> Vec<(usize, f64)> {
        result.bones.iter().map(|bone| (bone.source, bone.degrees.round())).collect()
    };
    assert_eq!(turned(&result), turned(&right));
}

#[test]
fn bones_lead_to_where_the_clips_have_their_joints() {
    // In Perception Neuron's files, the channels of positions hold the body, and the offsets only what is near it.
    let mut library = Library::new();
    let figure = targets(&mut library).remove(0);
    let (source, clip) = written(&mut library, &conventions()[0]);
    let map = JointMap::by_names(&library, source, figure.skeleton).unwrap();
    let right = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let mut joints = library.skeleton(source).joints().to_vec();
    let mut changed = library.clip(clip).clone();
    for (joint, degrees) in [("LeftHand", 12.0), ("RightLeg", -9.0)] {
        let joint = library.skeleton(source).find_joint(joint).unwrap();
        let place = joints[joint].rest.translation;
        let values = place.to_array().to_vec();
        let timeline = Arc::new(Timeline::new(vec![0.0]).unwrap());
        let curve = Curve::new(timeline, Interpolation::Step, 3, values).unwrap();
        changed.tracks.push(Track::new(Target::Translation(joint), curve));
        joints[joint].rest.translation = DQuat::from_rotation_z(f64::to_radians(degrees)) * place;
    }
    changed.skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let map = JointMap { source: changed.skeleton, ..map };
    let clip = library.add_clip(changed).unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    let [found, right] = [&result, &right].map(|result| poses(&library, &figure, result.clips[0].clip));
    for ((limbs, _), (right, _)) in found.iter().zip(&right) {
        for ((limb, right), (from, _)) in limbs.iter().zip(right).zip(LIMBS) {
            let degrees = limb.angle_between(*right).to_degrees();
            assert!(degrees < 1.0, "{from} is off by {degrees} degrees");
        }
    }
}

#[test]
fn limbs_point_where_those_of_the_source_point() {
    let mut library = Library::new();
    let convention = &conventions()[0];
    for figure in targets(&mut library) {
        let result = retargeted(&mut library, convention, figure.skeleton);
        let found = poses(&library, &figure, result.clips[0].clip);
        for (time, (limbs, places)) in [0.0, 0.2, 0.25, 0.5, 0.7, 1.0].into_iter().zip(found) {
            let (turns, hips) = motion(time);
            let world = figure.world();
            for (limb, (from, to)) in limbs.iter().zip(LIMBS).skip(1).take(8) {
                let right = world * turns[body_joint(from)] * DVec3::from(BODY[body_joint(to)].2).normalize();
                let degrees = limb.angle_between(right).to_degrees();
                // Legs that differ by less than 2 degrees at rest are not turned.
                assert!(degrees < 2.0, "{}: {from} is off by {degrees} degrees at {time}", figure.label);
            }
            // The way is in lengths of a leg: 43 and 42.
            let right = world * DVec3::new(hips.x, 0.0, hips.z) / 85.0;
            let way = places[0] - places[0].dot(world * DVec3::Y) * (world * DVec3::Y);
            assert!(way.distance(right) < 0.01, "{}: {way} instead of {right}", figure.label);
        }
    }
}

#[test]
fn feet_stand_on_the_ground() {
    let mut library = Library::new();
    for figure in targets(&mut library) {
        let result = retargeted(&mut library, &conventions()[2], figure.skeleton);
        let up = figure.world() * DVec3::Y;
        let rest = model_pose(&library, figure.skeleton, None);
        let own = rest[figure.joint("leftFoot")].1.dot(up);
        let found = poses(&library, &figure, result.clips[0].clip);
        let leg = rest[figure.joint("leftUpperLeg")].1.distance(rest[figure.joint("leftFoot")].1);
        let lowest =
            found.iter().flat_map(|(_, places)| [places[1].dot(up), places[2].dot(up)]).fold(f64::INFINITY, f64::min);
        assert!((lowest - own / leg).abs() < 0.06, "{}: {lowest}, and {} at rest", figure.label, own / leg);
    }
}

#[test]
fn errors_are_warned_of() {
    let mut library = Library::new();
    let figure = targets(&mut library).remove(0);
    let mut warnings = |change: &dyn Fn(&mut Library, SkeletonId, ClipId, &mut JointMap, &mut RetargetOptions)| {
        let (source, clip) = written(&mut library, &conventions()[0]);
        let mut map = JointMap::by_names(&library, source, figure.skeleton).unwrap();
        let mut options = RetargetOptions::default();
        change(&mut library, source, clip, &mut map, &mut options);
        let clip = library.clip_ids().filter(|&id| library.clip(id).skeleton == map.source).last().unwrap();
        library.retarget(&[clip], &map, &options).unwrap().warnings
    };
    assert_eq!(warnings(&|_, _, _, _, _| ()), []);
    let turned = warnings(&|library, _, _, map, options| {
        let turned = conventions().into_iter().find(|convention| convention.label == "faces -Z").unwrap();
        let (source, _) = written(library, &turned);
        *map = JointMap::by_names(library, source, map.target).unwrap();
        options.facing = posse::retarget::Facing::Keep;
    });
    assert!(
        matches!(turned[..], [RetargetWarning::KeptFront { degrees }] if (degrees.abs() - 180.0).abs() < 1.0),
        "{turned:?}"
    );
    // Arms that hang in the source and are stretched out in the target, which the options keep.
    for is_aligned in [false, true] {
        let found = warnings(&|library, _, _, map, options| {
            let hanging = conventions().into_iter().find(|convention| convention.label == "arms at the sides").unwrap();
            let (source, _) = written(library, &hanging);
            *map = JointMap::by_names(library, source, map.target).unwrap();
            options.align = is_aligned;
        });
        let is_right = match &found[..] {
            [] => is_aligned,
            [RetargetWarning::Directions { joints, degrees }] => {
                !is_aligned && joints.len() >= 4 && (75.0..95.0).contains(degrees)
            }
            _ => false,
        };
        assert!(is_right, "{found:?}");
    }
    let floating = |height: f64| {
        move |library: &mut Library, source: SkeletonId, clip: ClipId| {
            let mut raised = library.clip(clip).clone();
            raised.skeleton = source;
            let curve = &raised.tracks[0].curve;
            let values = curve.values().chunks_exact(3).flat_map(|at| [at[0], at[1] + height, at[2]]).collect();
            raised.tracks[0].curve = curve.with_values(curve.interpolation(), 3, values).unwrap();
            library.add_clip(raised).unwrap();
        }
    };
    let found = warnings(&|library, source, clip, _, _| floating(0.5)(library, source, clip));
    assert!(
        matches!(found[..], [RetargetWarning::Ground { legs, is_taken: true, .. }] if (0.5..0.7).contains(&legs)),
        "{found:?}"
    );
    // A zero pose that lies has no front.
    let found = warnings(&|library, _, _, map, _| {
        let lying = conventions().into_iter().find(|convention| convention.label == "bones along +X").unwrap();
        let (source, _) = written(library, &lying);
        *map = JointMap::by_names(library, source, map.target).unwrap();
    });
    assert_eq!(found, [RetargetWarning::UnknownFront]);
    // The names of the arms are swapped, as by a mirrored export.
    let found = warnings(&|library, source, _, map, _| {
        let swap = |name: &str| match (name.contains("Arm") || name.contains("Hand"), name.strip_prefix("Left")) {
            (false, _) => name.to_owned(),
            (true, Some(rest)) => format!("Right{rest}"),
            (true, None) => name.replace("Right", "Left"),
        };
        let joints = library.skeleton(source).joints().iter();
        let swapped = |joint: &Joint| Joint { name: joint.name.as_deref().map(swap), ..joint.clone() };
        let swapped = Skeleton::new(None, joints.map(swapped).collect(), Vec::new()).unwrap();
        let swapped = library.add_skeleton(swapped);
        let clip = library.clip_ids().filter(|&id| library.clip(id).skeleton == source).last().unwrap();
        let clip = Clip { skeleton: swapped, ..library.clip(clip).clone() };
        library.add_clip(clip).unwrap();
        *map = JointMap::by_names(library, swapped, map.target).unwrap();
    });
    assert!(found.contains(&RetargetWarning::SwappedSides(MapSide::Source)), "{found:?}");
    // A root that moves in centimetres on a skeleton in metres.
    let found = warnings(&|library, source, clip, _, _| floating(91.0)(library, source, clip));
    assert!(matches!(found[..], [RetargetWarning::Ground { legs, is_taken: true, .. }] if legs > 100.0), "{found:?}");
}
