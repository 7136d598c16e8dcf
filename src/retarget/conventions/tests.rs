//! Roles of real lists of joints, and of shapes without names.

use glam::{DQuat, DVec3};

use super::human::{ARM, LEG};
use super::*;
use crate::demo;
use crate::model::{Joint, Transform};

/// A skeleton of ways down from a joint: `Hips > {}UpLeg > {}Leg`. A way with `{}` is there for both sides. A name that
/// occurs before is the same joint.
fn skeleton(ways: &[&str], sides: [&str; 2]) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for way in ways {
        let sides = if way.contains("{}") { &sides[..] } else { &sides[..1] };
        for side in sides {
            let mut parent = None;
            for name in way.split(" > ").map(|name| name.replace("{}", side)) {
                let found = joints.iter().position(|joint| joint.name.as_deref() == Some(&name));
                parent = Some(found.unwrap_or_else(|| {
                    joints.push(Joint { name: Some(name), parent, ..Joint::default() });
                    joints.len() - 1
                }));
            }
        }
    }
    Skeleton::new(None, joints, Vec::new()).unwrap()
}

fn roles(skeleton: &Skeleton) -> Roles {
    Roles::new(skeleton, &vec![true; skeleton.joints().len()])
}

/// The roles of these joints, each a child of the one before.
fn roles_of_chain(names: &[&str]) -> Vec<Option<String>> {
    roles(&skeleton(&[&names.join(" > ")], [""; 2])).of_joint
}

fn named(names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| (!name.is_empty()).then(|| (*name).into())).collect()
}

/// Checks who is who: hips, trunk, neck and head, arm, and leg, each group from the inside to the outside, with `-` for
/// none.
#[track_caller]
fn assert_roles(table: &str, sides: [&str; 2], ways: &[&str], expected: &str) {
    let skeleton = skeleton(ways, sides);
    let roles = roles(&skeleton);
    assert!(roles.by.contains(&table), "{:?}", roles.by);
    let mut wanted: Vec<(String, String)> = Vec::new();
    for (group, names) in expected.split(" | ").enumerate() {
        let names: Vec<&str> = names.split(", ").collect();
        let parts: Vec<String> = match group {
            0 => vec![HIPS.into()],
            1 => (0..names.len()).map(|index| trunk_role(index, names.len()).unwrap().into()).collect(),
            2 => vec!["neck".into(), "head".into()],
            3 => ARM.map(|part| format!("{{}}{part}")).into(),
            _ => LEG.map(|part| format!("{{}}{part}")).into(),
        };
        for (name, part) in names.into_iter().zip(parts).filter(|(name, _)| *name != "-") {
            for (side, word) in ["left", "right"].into_iter().zip(sides) {
                wanted.push((name.replace("{}", word), part.replace("{}", side)));
            }
        }
    }
    for (joint, found) in skeleton.joints().iter().zip(&roles.of_joint) {
        let name = joint.name.as_deref().unwrap();
        let wanted = wanted.iter().find(|(other, _)| other == name).map(|(_, role)| role.as_str());
        let is_finger = ["humb", "ndex", "inger"].iter().any(|word| name.contains(word));
        assert!(found.as_deref() == wanted || is_finger, "{name}: {found:?} instead of {wanted:?}");
    }
}

#[track_caller]
fn assert_finger(table: &str, name: &str, role: &str) {
    let convention = tables::ALL.iter().find(|other| other.name == table).unwrap();
    let mut names = convention.names().into_iter().filter(|(other, _)| other == role);
    assert!(names.any(|(_, found)| normalized(&found) == normalized(name)), "{name}");
}

#[test]
fn leading_zeros_of_numbers_do_not_count() {
    for (name, expected) in [("spine_01", "spine1"), ("rig:Spine.001", "spine1"), ("a00b10", "a0b10"), ("", "")] {
        assert_eq!(loose(name), expected);
    }
}

#[test]
fn running_numbers_are_no_part_of_names() {
    // The names of a figure of Mixamo that was downloaded from Sketchfab, which pads some numbers and not others.
    let names = ["_rootJoint", "mixamorig:Hips_01", "mixamorig:Spine_02", "mixamorig:Spine1_03", "mixamorig:Spine2_04"];
    let arm =
        ["mixamorig:LeftShoulder_08", "mixamorig:LeftArm_09", "mixamorig:LeftForeArm_010", "mixamorig:LeftHand_64"];
    let found = roles_of_chain(&[&names[..], &arm].concat());
    let arm = ["leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand"];
    assert_eq!(found, named(&[&["", "hips", "spine", "chest", "upperChest"][..], &arm].concat()));

    let is_numbered = |names: &[&str]| {
        Numbering::of(&skeleton(&[&names.join(" > ")], [""; 2])) != Numbering::of(&skeleton(&["a"], [""; 2]))
    };
    let names = ["a_1", "b_2", "c_3", "d_4", "e_5", "f_6", "g_7", "h_8", "i", "j"];
    assert!(is_numbered(&names) && is_numbered(&names[..8]));
    let meshes: Vec<String> = (20..60).map(|number| format!("Object_{number}")).collect();
    let meshes: Vec<&str> = meshes.iter().map(String::as_str).collect();
    assert!(is_numbered(&[&names[..], &meshes[..]].concat()), "a figure of many parts");
    assert!(!is_numbered(&meshes));
    assert!(!is_numbered(&names[..7]), "few joints");
    assert!(is_numbered(&["a.001", "b.001", "c.001", "d.001", "e.001", "f.001", "g.001", "h.001", "i"]), "a copy");
    assert!(!is_numbered(&["a_1", "b_1", "c_1", "d_1", "e_1", "f_1", "g_1", "h_2"]), "two numbers");
    assert!(!is_numbered(&[&names[..], &["k", "l"]].concat()), "many names without a number");
    assert!(!is_numbered(&["a_1", "b_1", "c_1", "d_2", "e_2", "f_2", "g_3", "h_3"]), "numbers of limbs");
    assert!(!is_numbered(&["a_1", "a_2", "a_3", "a_4", "a_5", "a_6", "b_7", "b_8"]), "numbers of a chain");
}

#[test]
fn the_convention_of_most_names_decides_about_names_that_differ() {
    // `spine` is the hip of Rigify, and the lowest bone of the spine elsewhere.
    assert_eq!(roles_of_chain(&["spine", "spine.001", "upper_arm.L"]), named(&["hips", "spine", "leftUpperArm"]));
    assert_eq!(roles_of_chain(&["mixamorig:Hips", "mixamorig:Spine"]), named(&["hips", "spine"]));
    assert_eq!(roles_of_chain(&["spine"]), named(&[""]));
    assert_eq!(roles_of_chain(&["root", "lid"]), named(&["", ""]));
}

#[test]
fn joints_of_a_trunk_have_roles_by_position() {
    let trunk = ["pelvis", "spine_01", "spine_02", "spine_03", "spine_04", "spine_05", "clavicle_l"];
    for (count, expected) in [
        (1, ["spine", "", "", "", ""]),
        (2, ["spine", "chest", "", "", ""]),
        (3, ["spine", "chest", "upperChest", "", ""]),
        (4, ["spine", "", "chest", "upperChest", ""]),
        (5, ["spine", "", "chest", "", "upperChest"]),
    ] {
        let names = [&trunk[..=count], &trunk[6..]].concat();
        let expected = [&["hips"], &expected[..count], &["leftShoulder"]].concat();
        assert_eq!(roles_of_chain(&names), named(&expected));
    }
}

#[test]
fn trunks_of_different_lengths_are_paired_at_their_ends() {
    let trunk = |names: &str| roles(&skeleton(&[names], [""; 2]));
    let unreal =
        ["pelvis > spine_01", "pelvis > spine_01 > spine_02", "pelvis > spine_01 > spine_02 > spine_03"].map(trunk);
    let mixamo = ["Hips > Spine", "Hips > Spine > Spine1", "Hips > Spine > Spine1 > Spine2"].map(trunk);
    let partners = |source: usize, target: usize| trunk_partners(&unreal[source], &mixamo[target]);
    assert_eq!(partners(0, 2), [("spine", "spine")]);
    assert_eq!(partners(1, 2), [("spine", "spine"), ("chest", "upperChest")]);
    assert_eq!(partners(2, 1), [("spine", "spine"), ("upperChest", "chest")]);
    assert_eq!(partners(2, 0), [("upperChest", "spine")]);
    assert_eq!(partners(2, 2), TRUNK.map(|role| (role, role)));
    // Two of one convention keep their roles, unless the target has fewer.
    assert_eq!(trunk_partners(&mixamo[1], &mixamo[2]), [("spine", "spine"), ("chest", "chest")]);
    assert_eq!(trunk_partners(&mixamo[2], &mixamo[1]), [("spine", "spine"), ("upperChest", "chest")]);
}

#[test]
fn bones_that_deform_come_before_others_of_a_rigify_rig() {
    let roles = roles_of_chain(&["hand.L", "DEF-hand.L", "DEF-thumb.01.L"]);
    assert_eq!(roles, named(&["", "leftHand", "leftThumbMetacarpal"]));
}

#[test]
fn other_conventions_name_joints_that_do_not_contradict_the_hierarchy() {
    // Of `LeftToe`, `LeftFoot` and `L_Foot`, the first two are unknown to Unreal's mannequin.
    let ways = ["pelvis > thigh_{} > calf_{} > Foot_{} > Toes_{}", "pelvis > spine_01 > upperarm_{} > lowerarm_{}"];
    let found = roles(&skeleton(&ways, ["l", "r"]));
    assert!(found.has_any(&["leftFoot"]) && found.has_any(&["rightToes"]));
    // A name of a leg in an arm is none.
    let ways = ["pelvis > thigh_{} > calf_{}", "pelvis > spine_01 > upperarm_{} > lowerarm_{} > Toes_{}"];
    assert!(!roles(&skeleton(&ways, ["l", "r"])).has_any(&["leftToes", "rightToes"]));
}

#[test]
fn the_human_of_the_demo_has_names_of_unreal() {
    let library = demo::library().unwrap();
    let skeleton = &library.skeletons()[0];
    let roles = roles(skeleton);
    let role = |name: &str| roles.of_joint[skeleton.find_joint(name).unwrap()].as_deref();
    assert_eq!(roles.by, ["Unreal's mannequin"]);
    let expected = [
        ("pelvis", "hips"),
        ("spine.1", "spine"),
        ("spine.4", "upperChest"),
        ("neck", "neck"),
        ("thumb.2.R", "rightThumbProximal"),
        ("little.3.L", "leftLittleDistal"),
    ];
    for (name, expected) in expected {
        assert_eq!(role(name), Some(expected), "{name}");
    }
    assert_eq!([role("calf_twist.L"), role("spine.2")], [None, None]);
}

const SIDES: [&str; 2] = ["Left", "Right"];

#[test]
fn mixamo_lafan_and_bvh_of_cmu() {
    let ways = [
        "Hips > {}UpLeg > {}Leg > {}Foot > {}Toe",
        "Hips > Spine > Spine1 > Spine2 > Neck > Head",
        "Spine2 > {}Shoulder > {}Arm > {}ForeArm > {}Hand",
    ];
    let expected = "Hips | Spine, Spine1, Spine2 | Neck, Head | {}Shoulder, {}Arm, {}ForeArm, {}Hand | {}UpLeg, {}Leg, {}Foot, {}Toe";
    assert_roles("Mixamo", SIDES, &ways, expected);
    let ways = [
        "Hips > LHipJoint > LeftUpLeg > LeftLeg > LeftFoot > LeftToeBase",
        "Hips > RHipJoint > RightUpLeg > RightLeg > RightFoot > RightToeBase",
        "Hips > LowerBack > Spine > Spine1 > Neck > Neck1 > Head",
        "Spine1 > {}Shoulder > {}Arm > {}ForeArm > {}Hand > {}HandIndex1",
    ];
    let expected = "Hips | LowerBack, Spine, Spine1 | Neck, Head | {}Shoulder, {}Arm, {}ForeArm, {}Hand | {}UpLeg, {}Leg, {}Foot, {}ToeBase";
    assert_roles("Mixamo", SIDES, &ways, expected);
}

#[test]
fn biovision() {
    let ways = [
        "Hips > Chest > Chest2 > Chest3 > Chest4 > Neck > Head",
        "Chest4 > {}Collar > {}Shoulder > {}Elbow > {}Wrist",
        "Hips > {}Hip > {}Knee > {}Ankle > {}Toe",
    ];
    let skeleton = skeleton(&ways, SIDES);
    let roles = roles(&skeleton);
    assert_eq!(roles.by, ["Biovision"]);
    let role = |name: &str| roles.of_joint[skeleton.find_joint(name).unwrap()].as_deref().unwrap_or("");
    let names = ["Hips", "Chest", "Chest2", "Chest3", "Chest4", "LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist"];
    let expected =
        ["hips", "spine", "", "chest", "upperChest", "leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand"];
    assert_eq!(names.map(role), expected);
    let names = ["RightHip", "RightKnee", "RightAnkle", "RightToe", "Neck", "Head"];
    assert_eq!(names.map(role), ["rightUpperLeg", "rightLowerLeg", "rightFoot", "rightToes", "neck", "head"]);
    // The example of the University of Wisconsin.
    let ways = [
        "Hips > {}UpLeg > {}LowLeg > {}Foot",
        "Hips > Chest > Neck > Head",
        "Chest > {}Collar > {}UpArm > {}LowArm > {}Hand",
    ];
    let expected = "Hips | Chest | Neck, Head | {}Collar, {}UpArm, {}LowArm, {}Hand | {}UpLeg, {}LowLeg, {}Foot, -";
    assert_roles("Biovision", SIDES, &ways, expected);
}

#[test]
fn skeletons_of_cmu() {
    let ways = [
        "root > {}hipjoint > {}femur > {}tibia > {}foot > {}toes",
        "root > lowerback > upperback > thorax > lowerneck > upperneck > head",
        "thorax > {}clavicle > {}humerus > {}radius > {}wrist > {}hand > {}fingers",
        "{}wrist > {}thumb",
    ];
    let expected = "root | lowerback, upperback, thorax | lowerneck, head | {}clavicle, {}humerus, {}radius, {}wrist | \
                    {}femur, {}tibia, {}foot, {}toes";
    assert_roles("CMU's skeletons", ["l", "r"], &ways, expected);
}

#[test]
fn poser_and_daz() {
    let ways = [
        "hip > abdomen > chest > neck > head",
        "chest > {}Collar > {}Shldr > {}ForeArm > {}Hand > {}Thumb1 > {}Thumb2",
        "hip > {}Buttock > {}Thigh > {}Shin > {}Foot",
    ];
    let expected =
        "hip | abdomen, chest | neck, head | {}Collar, {}Shldr, {}ForeArm, {}Hand | {}Thigh, {}Shin, {}Foot, -";
    assert_roles("Poser and DAZ Studio", ["l", "r"], &ways, expected);
    // Genesis 8 has a chain of twist joints in each limb.
    let skeleton = skeleton(
        &[
            "hip > pelvis > {}ThighBend > {}ThighTwist > {}Shin > {}Foot > {}Toe",
            "hip > abdomenLower > abdomenUpper > chestLower > chestUpper > neckLower > neckUpper > head",
            "chestUpper > {}Collar > {}ShldrBend > {}ShldrTwist > {}ForearmBend > {}ForearmTwist > {}Hand",
        ],
        ["l", "r"],
    );
    let roles = roles(&skeleton);
    let role = |name: &str| roles.of_joint[skeleton.find_joint(name).unwrap()].as_deref().unwrap_or("");
    let names = ["hip", "pelvis", "abdomenLower", "chestLower", "chestUpper", "neckLower", "head", "lCollar"];
    assert_eq!(names.map(role), ["hips", "", "spine", "chest", "upperChest", "neck", "head", "leftShoulder"]);
    let names = ["lShldrBend", "lShldrTwist", "lForearmBend", "lHand", "rThighBend", "rShin", "rFoot", "rToe"];
    let expected =
        ["leftUpperArm", "", "leftLowerArm", "leftHand", "rightUpperLeg", "rightLowerLeg", "rightFoot", "rightToes"];
    assert_eq!(names.map(role), expected);
}

#[test]
fn make_human() {
    let skeleton = skeleton(
        &[
            "root > spine05 > spine04 > spine03 > spine02 > spine01 > neck01 > neck02 > neck03 > head",
            "root > pelvis.{} > upperleg01.{} > upperleg02.{} > lowerleg01.{} > lowerleg02.{} > foot.{} > toe1-1.{}",
            "spine01 > clavicle.{} > shoulder01.{} > upperarm01.{} > upperarm02.{} > lowerarm01.{} > lowerarm02.{} > wrist.{}",
        ],
        ["L", "R"],
    );
    let roles = roles(&skeleton);
    assert_eq!(roles.by, ["MakeHuman"]);
    let role = |name: &str| roles.of_joint[skeleton.find_joint(name).unwrap()].as_deref().unwrap_or("");
    assert_eq!(
        ["root", "spine05", "spine03", "spine01", "neck01"].map(role),
        ["hips", "spine", "chest", "upperChest", "neck"]
    );
    let names = ["upperarm01.L", "upperarm02.L", "wrist.L", "upperleg01.R", "lowerleg01.R", "foot.R"];
    let expected = ["leftUpperArm", "", "leftHand", "rightUpperLeg", "rightLowerLeg", "rightFoot"];
    assert_eq!(names.map(role), expected);
    assert_finger("MakeHuman", "finger2-1.L", "leftIndexProximal");
}

#[test]
fn xsens_soma_and_rokoko() {
    let skeleton = skeleton(
        &[
            "Pelvis > L5 > L3 > T12 > T8 > Neck > Head",
            "T8 > {}Shoulder > {}UpperArm > {}ForeArm > {}Hand",
            "Pelvis > {}UpperLeg > {}LowerLeg > {}Foot > {}Toe",
        ],
        SIDES,
    );
    let found = roles(&skeleton);
    assert_eq!(found.by, ["Xsens MVN"]);
    let role = |name: &str| found.of_joint[skeleton.find_joint(name).unwrap()].as_deref().unwrap_or("");
    let names =
        ["Pelvis", "L5", "T12", "T8", "LeftShoulder", "LeftUpperArm", "LeftForeArm", "RightUpperLeg", "RightToe"];
    let expected = [
        "hips",
        "spine",
        "chest",
        "upperChest",
        "leftShoulder",
        "leftUpperArm",
        "leftLowerArm",
        "rightUpperLeg",
        "rightToes",
    ];
    assert_eq!(names.map(role), expected);
    // `LeftLeg` is the upper leg.
    let ways = [
        "Root > Hips > Spine1 > Spine2 > Chest > Neck1 > Neck2 > Head > HeadEnd",
        "Chest > {}Shoulder > {}Arm > {}ForeArm > {}Hand > {}HandIndex1 > {}HandIndex2",
        "Hips > {}Leg > {}Shin > {}Foot > {}ToeBase > {}ToeEnd",
    ];
    let expected = "Hips | Spine1, Spine2, Chest | Neck1, Head | {}Shoulder, {}Arm, {}ForeArm, {}Hand | {}Leg, {}Shin, {}Foot, {}ToeBase";
    assert_roles("SOMA", SIDES, &ways, expected);
    assert_finger("SOMA", "LeftHandIndex2", "leftIndexProximal");
    let ways = [
        "Hips > Spine1 > Spine2 > Spine3 > Neck > Head",
        "Spine3 > {}Shoulder > {}Arm > {}ForeArm > {}Hand > {}Finger1Metacarpal > {}Finger1Proximal",
        "Hips > {}Thigh > {}Shin > {}Foot > {}Toe > {}ToeTip",
    ];
    let expected = "Hips | Spine1, Spine2, Spine3 | Neck, Head | {}Shoulder, {}Arm, {}ForeArm, {}Hand | {}Thigh, {}Shin, {}Foot, {}Toe";
    assert_roles("Rokoko", SIDES, &ways, expected);
    assert_finger("Rokoko", "RightFinger2Medial", "rightIndexIntermediate");
}

#[test]
fn smpl_in_both_spellings() {
    for (sides, prefix) in [(["L", "R"], ""), (["left", "right"], ""), (["m_avg_L", "m_avg_R"], "m_avg_")] {
        let ways = [
            "{p}Pelvis > {}_Hip > {}_Knee > {}_Ankle > {}_Foot",
            "{p}Pelvis > {p}Spine1 > {p}Spine2 > {p}Spine3 > {p}Neck > {p}Head",
            "{p}Spine3 > {}_Collar > {}_Shoulder > {}_Elbow > {}_Wrist > {}_Hand",
        ];
        let ways = ways.map(|way| way.replace("{p}", prefix));
        let ways: Vec<&str> = ways.iter().map(String::as_str).collect();
        let expected = "{p}Pelvis | {p}Spine1, {p}Spine2, {p}Spine3 | {p}Neck, {p}Head | \
                        {}_Collar, {}_Shoulder, {}_Elbow, {}_Wrist | {}_Hip, {}_Knee, {}_Ankle, {}_Foot";
        assert_roles("SMPL", sides, &ways, &expected.replace("{p}", prefix));
    }
    assert_finger("SMPL", "L_thumb1", "leftThumbMetacarpal");
}

#[test]
fn biped_and_character_creator() {
    for root in ["Bip01", "Bip001", "ValveBiped.Bip01"] {
        let ways = [
            "{r} > {r} Pelvis > {r} Spine > {r} Spine1 > {r} Spine2 > {r} Neck > {r} Head",
            "{r} Spine > {r} {} Thigh > {r} {} Calf > {r} {} Foot > {r} {} Toe0",
            "{r} Neck > {r} {} Clavicle > {r} {} UpperArm > {r} {} Forearm > {r} {} Hand > {r} {} Finger0 > {r} {} Finger01",
        ];
        let ways = ways.map(|way| way.replace("{r}", root));
        let ways: Vec<&str> = ways.iter().map(String::as_str).collect();
        let expected = "{r} Pelvis | {r} Spine, {r} Spine1, {r} Spine2 | {r} Neck, {r} Head | \
                        {r} {} Clavicle, {r} {} UpperArm, {r} {} Forearm, {r} {} Hand | \
                        {r} {} Thigh, {r} {} Calf, {r} {} Foot, {r} {} Toe0";
        assert_roles("3ds Max Biped", ["L", "R"], &ways, &expected.replace("{r}", root));
        let skeleton = skeleton(&ways, ["L", "R"]);
        let thumb = skeleton.find_joint(&format!("{root} L Finger01")).unwrap();
        assert_eq!(roles(&skeleton).of_joint[thumb].as_deref(), Some("leftThumbProximal"));
    }
    let ways = [
        "RL_BoneRoot > CC_Base_Hip > CC_Base_Pelvis > CC_Base_{}_Thigh > CC_Base_{}_Calf > CC_Base_{}_Foot > CC_Base_{}_ToeBase",
        "CC_Base_Hip > CC_Base_Waist > CC_Base_Spine01 > CC_Base_Spine02 > CC_Base_NeckTwist01 > CC_Base_NeckTwist02 > CC_Base_Head",
        "CC_Base_Spine02 > CC_Base_{}_Clavicle > CC_Base_{}_Upperarm > CC_Base_{}_Forearm > CC_Base_{}_Hand",
    ];
    let expected = "CC_Base_Hip | CC_Base_Waist, CC_Base_Spine01, CC_Base_Spine02 | CC_Base_NeckTwist01, CC_Base_Head | \
                    CC_Base_{}_Clavicle, CC_Base_{}_Upperarm, CC_Base_{}_Forearm, CC_Base_{}_Hand | \
                    CC_Base_{}_Thigh, CC_Base_{}_Calf, CC_Base_{}_Foot, CC_Base_{}_ToeBase";
    assert_roles("Character Creator", ["L", "R"], &ways, expected);
}

#[test]
fn bandai_namco_advanced_skeleton_and_rigs_with_the_side_at_the_end() {
    let ways = [
        "joint_Root > Hips > Spine > Chest > Neck > Head",
        "Chest > Shoulder_{} > UpperArm_{} > LowerArm_{} > Hand_{}",
        "Hips > UpperLeg_{} > LowerLeg_{} > Foot_{} > Toes_{}",
    ];
    let expected = "Hips | Spine, Chest | Neck, Head | Shoulder_{}, UpperArm_{}, LowerArm_{}, Hand_{} | \
                    UpperLeg_{}, LowerLeg_{}, Foot_{}, Toes_{}";
    assert_roles("Bandai Namco Research", ["L", "R"], &ways, expected);
    let ways = [
        "Root_M > Spine1_M > Chest_M > Neck_M > Head_M",
        "Chest_M > Scapula_{} > Shoulder_{} > Elbow_{} > Wrist_{} > IndexFinger1_{}",
        "Root_M > Hip_{} > Knee_{} > Ankle_{} > Toes_{}",
    ];
    let expected = "Root_M | Spine1_M, Chest_M | Neck_M, Head_M | Scapula_{}, Shoulder_{}, Elbow_{}, Wrist_{} | \
                    Hip_{}, Knee_{}, Ankle_{}, Toes_{}";
    assert_roles("AdvancedSkeleton", ["L", "R"], &ways, expected);
    let ways = [
        "hips > spine_01 > spine_02 > spine_03 > neck_01 > neck_02 > head",
        "spine_03 > clavicle_{} > upperarm_{} > forearm_{} > hand_{}",
        "hips > thigh_{} > shin_{} > foot_{} > toe_{}",
    ];
    let expected = "hips | spine_01, spine_02, spine_03 | neck_01, head | clavicle_{}, upperarm_{}, forearm_{}, hand_{} | \
                    thigh_{}, shin_{}, foot_{}, toe_{}";
    assert_roles("Bandai Namco Research", ["l", "r"], &ways, expected);
}

#[test]
fn unity_cats_kinect_and_roblox() {
    let ways = [
        "Hips > Spine > Chest > Upper Chest > Neck > Head",
        "Upper Chest > {} Shoulder > {} Upper Arm > {} Lower Arm > {} Hand > {} Thumb Proximal > {} Thumb Intermediate",
        "Hips > {} Upper Leg > {} Lower Leg > {} Foot > {} Toes",
    ];
    let expected = "Hips | Spine, Chest, Upper Chest | Neck, Head | {} Shoulder, {} Upper Arm, {} Lower Arm, {} Hand | \
                    {} Upper Leg, {} Lower Leg, {} Foot, {} Toes";
    assert_roles("Unity", SIDES, &ways, expected);
    let skeleton = skeleton(&ways, SIDES);
    let thumb = skeleton.find_joint("Left Thumb Proximal").unwrap();
    assert_eq!(roles(&skeleton).of_joint[thumb].as_deref(), Some("leftThumbMetacarpal"));
    let ways = [
        "Hips > Spine > Chest > Neck > Head",
        "Chest > {} shoulder > {} arm > {} elbow > {} wrist",
        "Hips > {} leg > {} knee > {} ankle > {} toe",
    ];
    let expected = "Hips | Spine, Chest | Neck, Head | {} shoulder, {} arm, {} elbow, {} wrist | {} leg, {} knee, {} ankle, {} toe";
    assert_roles("Cats", SIDES, &ways, expected);
    let ways = [
        "PELVIS > SPINE_NAVEL > SPINE_CHEST > NECK > HEAD",
        "SPINE_CHEST > CLAVICLE_{} > SHOULDER_{} > ELBOW_{} > WRIST_{}",
        "PELVIS > HIP_{} > KNEE_{} > ANKLE_{} > FOOT_{}",
    ];
    let expected = "PELVIS | SPINE_NAVEL, SPINE_CHEST | NECK, HEAD | CLAVICLE_{}, SHOULDER_{}, ELBOW_{}, WRIST_{} | \
                    HIP_{}, KNEE_{}, ANKLE_{}, FOOT_{}";
    assert_roles("Azure Kinect", ["LEFT", "RIGHT"], &ways, expected);
    let ways = [
        "HumanoidRootPart > LowerTorso > UpperTorso > Head",
        "UpperTorso > {}UpperArm > {}LowerArm > {}Hand",
        "LowerTorso > {}UpperLeg > {}LowerLeg > {}Foot",
    ];
    let expected =
        "LowerTorso | UpperTorso | -, Head | -, {}UpperArm, {}LowerArm, {}Hand | {}UpperLeg, {}LowerLeg, {}Foot, -";
    assert_roles("Roblox", SIDES, &ways, expected);
}

/// The joints of a human without names: parents, places relative to them in a T-pose that faces +Z, and roles.
const HUMAN: [(Option<usize>, [f64; 3], &str); 23] = [
    (None, [0.0, 0.95, 0.0], "hips"),
    (Some(0), [0.09, -0.05, 0.0], "leftUpperLeg"),
    (Some(1), [0.0, -0.43, 0.0], "leftLowerLeg"),
    (Some(2), [0.0, -0.42, -0.02], "leftFoot"),
    (Some(3), [0.0, -0.06, 0.14], "leftToes"),
    (Some(0), [-0.09, -0.05, 0.0], "rightUpperLeg"),
    (Some(5), [0.0, -0.43, 0.0], "rightLowerLeg"),
    (Some(6), [0.0, -0.42, -0.02], "rightFoot"),
    (Some(7), [0.0, -0.06, 0.14], "rightToes"),
    (Some(0), [0.0, 0.1, 0.0], "spine"),
    (Some(9), [0.0, 0.13, 0.0], "chest"),
    (Some(10), [0.0, 0.13, 0.0], "upperChest"),
    (Some(11), [0.0, 0.16, 0.0], "neck"),
    (Some(12), [0.0, 0.09, 0.02], "head"),
    (Some(11), [0.03, 0.11, 0.02], "leftShoulder"),
    (Some(14), [0.13, 0.0, -0.02], "leftUpperArm"),
    (Some(15), [0.28, 0.0, 0.0], "leftLowerArm"),
    (Some(16), [0.26, 0.0, 0.0], "leftHand"),
    (Some(11), [-0.03, 0.11, 0.02], "rightShoulder"),
    (Some(18), [-0.13, 0.0, -0.02], "rightUpperArm"),
    (Some(19), [-0.28, 0.0, 0.0], "rightLowerArm"),
    (Some(20), [-0.26, 0.0, 0.0], "rightHand"),
    (Some(16), [0.13, 0.0, 0.0], ""),
];

/// A skeleton of [`HUMAN`], with places and names that a function gives.
fn human(change: impl Fn(usize, DVec3) -> DVec3, name: impl Fn(usize) -> Option<String>) -> Skeleton {
    let joint = |(index, &(parent, place, _)): (usize, &(Option<usize>, [f64; 3], &str))| {
        let translation = change(index, DVec3::from(place));
        Joint { name: name(index), parent, rest: Transform { translation, ..Transform::default() }, ..Joint::default() }
    };
    Skeleton::new(None, HUMAN.iter().enumerate().map(joint).collect(), Vec::new()).unwrap()
}

fn wanted() -> Vec<Option<String>> {
    named(&HUMAN.map(|(.., role)| role))
}

#[test]
fn a_human_without_names_has_roles_by_structure() {
    let skeleton = human(|_, place| place, |_| None);
    let found = roles(&skeleton);
    assert_eq!(found.by, ["structure"]);
    assert_eq!(found.of_joint, wanted());
    assert!(found.grounds.iter().flatten().all(|&ground| ground == RoleGround::Structure));
    // In any position, size and unit, and from any side.
    let turn = DQuat::from_rotation_x(1.0) * DQuat::from_rotation_z(2.0);
    assert_eq!(roles(&human(|_, place| turn * place * 100.0, |_| None)).of_joint, wanted());
}

#[test]
fn an_end_that_is_written_as_a_joint_is_no_head() {
    let with_end = |name: &str, place: [f64; 3]| {
        let mut joints = human(|_, place| place, |_| None).joints().to_vec();
        for (parent, place, suffix) in [(13, [0.19, 0.0, 0.0], ""), (23, place, "_end")] {
            let rest = Transform { translation: DVec3::from(place), ..Transform::default() };
            joints.push(Joint {
                name: Some(format!("{name}{suffix}")),
                parent: Some(parent),
                rest,
                ..Joint::default()
            });
        }
        roles(&Skeleton::new(None, joints, Vec::new()).unwrap()).of_joint
    };
    let role = |name: &str, place: [f64; 3]| {
        let found = with_end(name, place);
        let head = found.iter().position(|role| role.as_deref() == Some("head")).unwrap();
        assert_eq!(found[12].as_deref(), Some("neck"));
        head
    };
    assert_eq!(role("x_end_jnt", [0.0; 3]), 13);
    // A joint that moves something, or that no name calls an end, is the last one of the neck.
    assert_eq!(role("x_end_jnt", [0.0, 0.1, 0.0]), 23);
    assert_eq!(role("x_jnt", [0.0; 3]), 23);
}

#[test]
fn a_zero_pose_along_one_axis_has_roles_by_structure_with_words_for_the_sides() {
    // As in LAFAN1, all bones point along +X, and only the first offsets of limbs tell left from right.
    let along = |index: usize, place: DVec3| match index {
        0 => DVec3::new(0.0, 92.0, 0.0),
        1 | 5 => DVec3::new(0.1, 1.9, 100.0 * place.x),
        14 | 18 => DVec3::new(11.0, 0.5, 100.0 * place.x),
        _ => DVec3::new(100.0 * place.length(), 0.0, 0.0),
    };
    let name = |index: usize| {
        let side = HUMAN[index].2.get(..1).filter(|_| (1..9).contains(&index)).unwrap_or("m");
        Some(format!("bone_{index}_{side}"))
    };
    let found = roles(&human(along, name));
    assert_eq!(found.of_joint, wanted());
    // Without any word, left and right are not known, and nothing is guessed.
    assert_eq!(roles(&human(along, |_| None)).of_joint, vec![None; HUMAN.len()]);
}

#[test]
fn shapes_that_are_not_clear_have_no_roles() {
    // One leg is longer.
    let longer = |index: usize, place: DVec3| if index == 2 { 1.3 * place } else { place };
    assert!(roles(&human(longer, |_| None)).by.is_empty());
    // A tail of two long segments besides the legs, as long as they are.
    let mut joints = human(|_, place| place, |_| None).joints().to_vec();
    for (parent, place) in [(0, [0.0, -0.05, -0.09]), (23, [0.0, -0.43, 0.0]), (24, [0.0, -0.42, -0.02])] {
        let rest = Transform { translation: DVec3::from(place), ..Transform::default() };
        joints.push(Joint { parent: Some(parent), rest, ..Joint::default() });
    }
    assert!(roles(&Skeleton::new(None, joints, Vec::new()).unwrap()).by.is_empty());
}

#[test]
fn limbs_that_are_named_alike_may_be_measured_apart() {
    // As in a BVH file of a course at Grenoble: `l_elbow_dup`, and a forearm that is 7 % longer than the other.
    let measured = |index: usize, place: DVec3| match index {
        20 => 1.08 * place,
        21 => 0.93 * place,
        _ => place,
    };
    let name = |index: usize| match HUMAN[index].2 {
        "" => None,
        role => Some(match (role.strip_prefix("left"), role.strip_prefix("right")) {
            (Some(part), _) => format!("l_{part}_dup"),
            (_, Some(part)) => format!("r_{part}_dup"),
            _ => format!("{role}_dup"),
        }),
    };
    let found = roles(&human(measured, name));
    assert_eq!((found.by, found.of_joint), (vec!["structure"], wanted()));
    assert!(roles(&human(measured, |_| None)).by.is_empty());
    // Limbs of different lengths are no pair, whatever their names are.
    let longer = |index: usize, place: DVec3| if index == 20 { 1.3 * place } else { place };
    assert!(roles(&human(longer, name)).by.is_empty());
}

#[test]
fn structure_fills_in_what_names_do_not_say() {
    // Names of the arms and of the trunk only.
    let name = |index: usize| match HUMAN[index].2 {
        "" => None,
        role if role.ends_with("Leg") || role.ends_with("Foot") || role.ends_with("Toes") => Some(format!("x{index}")),
        role => Some(role.to_owned()),
    };
    let found = roles(&human(|_, place| place, name));
    assert_eq!(found.of_joint, wanted());
    assert_eq!(found.grounds[1], Some(RoleGround::Structure));
    assert_eq!(found.grounds[15], Some(RoleGround::Convention));
    // Names that contradict the shape: nothing is added.
    let swapped = |index: usize| (index == 1).then(|| "leftUpperArm".to_owned());
    assert_eq!(roles(&human(|_, place| place, swapped)).of_joint.iter().flatten().count(), 1);
}

/// The names of the joints that have these roles, with `-` for none.
fn holders(skeleton: &Skeleton, wanted: &[&str]) -> Vec<String> {
    let found = roles(skeleton).of_joint;
    let holder = |role: &&str| {
        let joint = found.iter().position(|other| other.as_deref() == Some(*role));
        joint.and_then(|joint| skeleton.joints()[joint].name.clone()).unwrap_or_else(|| "-".into())
    };
    wanted.iter().map(holder).collect()
}

#[test]
fn the_hips_are_above_legs_and_arms() {
    let trunk = [HIPS, "spine", "chest", "upperChest"];
    // The names of Blender's meta-rig, but the joint that it calls `spine` is above it.
    let ways = [
        "hips > spine > chest > neck > head",
        "chest > shoulder.{} > upper_arm.{} > forearm.{} > hand.{}",
        "hips > thigh.{} > shin.{} > foot.{} > toe.{}",
    ];
    assert_eq!(holders(&skeleton(&ways, ["L", "R"]), &trunk), ["hips", "spine", "chest", "-"]);
    // A robot whose `Hips` carry the spine alone.
    let ways = [
        "Bone > Body > Hips > Abdomen > Torso > Neck > Head",
        "Torso > Shoulder.{} > UpperArm.{} > LowerArm.{}",
        "Body > UpperLeg.{} > LowerLeg.{}",
    ];
    assert_eq!(holders(&skeleton(&ways, ["L", "R"]), &trunk), ["Body", "Hips", "Abdomen", "Torso"]);
    // One whose `Hips` carry the legs alone.
    let ways = ["Body > Hips > UpperLeg.{} > LowerLeg.{} > Foot.{}", "Body > UpperArm.{} > LowerArm.{}", "Body > Head"];
    assert_eq!(holders(&skeleton(&ways, ["L", "R"]), &trunk), ["Body", "-", "-", "-"]);
    // A joint with the name of hips above the others.
    let ways = [
        "pelvis > body > Hips > UpperLeg.{} > LowerLeg.{} > Foot.{}",
        "body > Spine > UpperArm.{} > LowerArm.{} > Hand.{}",
    ];
    assert_eq!(holders(&skeleton(&ways, ["L", "R"]), &trunk), ["pelvis", "Spine", "-", "-"]);
    // A trunk that deforms beside the joints of legs and arms: what moves all of them is above all.
    let ways = [
        "root > DEF-spine > DEF-spine.001 > DEF-spine.002",
        "root > torso > ORG-pelvis > DEF-thigh.{} > DEF-shin.{} > DEF-foot.{}",
        "torso > ORG-chest > DEF-upper_arm.{} > DEF-forearm.{} > DEF-hand.{}",
    ];
    let expected = ["root", "DEF-spine.001", "DEF-spine.002", "-"];
    assert_eq!(holders(&skeleton(&ways, ["L", "R"]), &trunk), expected);
}

#[test]
fn hips_in_their_place_stay() {
    // Biped has the legs below the spine; others have a joint between hips and legs, or one below them for both.
    for ways in [
        ["Hips > Spine > Chest", "Spine > {}UpLeg > {}Leg > {}Foot", "Chest > {}Arm > {}ForeArm > {}Hand"],
        ["Hips > Pelvis > {}UpLeg > {}Leg > {}Foot", "Hips > Spine > Chest", "Chest > {}Arm > {}ForeArm > {}Hand"],
        ["Root > Hips > Body > {}UpLeg > {}Leg > {}Foot", "Body > Spine", "Spine > {}Arm > {}ForeArm > {}Hand"],
    ] {
        let skeleton = skeleton(&ways, SIDES);
        assert_eq!(holders(&skeleton, &[HIPS]), ["Hips"], "{ways:?}");
        assert!(!roles(&skeleton).by.contains(&"structure"));
    }
}

#[test]
fn the_only_joint_between_two_parts_of_a_limb_is_the_one_between() {
    let ways = [
        "hip > waist > chest > neck > head",
        "chest > {}-arm > {}-forearm > {}-finger",
        "hip > {}-thigh > {}-leg > {}-foot",
    ];
    let wanted = ["leftUpperLeg", "leftLowerLeg", "leftFoot", "rightLowerLeg", "leftUpperArm", "rightLowerArm"];
    let expected = ["l-thigh", "l-leg", "l-foot", "r-leg", "l-arm", "r-forearm"];
    assert_eq!(holders(&skeleton(&ways, ["l", "r"]), &wanted), expected);
    // Not where two joints are between, or where both arms hang from one.
    let ways = ["hip > {}-thigh > {}-a > {}-b > {}-foot", "hip > chest > body > {}-forearm > {}-hand"];
    let found = holders(&skeleton(&ways, ["l", "r"]), &["leftLowerLeg", "leftUpperArm"]);
    assert_eq!(found, ["-", "-"]);
}
