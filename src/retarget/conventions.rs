//! Humanoid roles of joints by their names, in the conventions of tools. A role has its name in VRM 1.0.

use std::collections::{HashMap, HashSet};

use crate::model::Skeleton;

/// The usual names of the joints of a humanoid in a tool.
pub struct Convention {
    /// The name of the tool.
    pub name: &'static str,
    /// The convention applies only if the skeleton has this joint.
    needs: Option<&'static str>,
    /// The convention applies only if the skeleton does not have this joint.
    lacks: Option<&'static str>,
    /// The prefixes of names. If joints with several of them have a role, it belongs to the first.
    prefixes: &'static [&'static str],
    /// Roles and names of the joints in the middle.
    middle: &'static [(&'static str, &'static str)],
    /// The words for left and right in names.
    sides: [&'static str; 2],
    /// Roles, without `left` or `right`, and names of the joints of a side, with `{}` for the word of the side.
    side: &'static [(&'static str, &'static str)],
}

const ALL: [Convention; 6] = [MIXAMO, UNREAL_4, UNREAL_5, VRM, VROID, RIGIFY];

/// The roles of the joints of a skeleton.
#[derive(Debug, Default)]
pub struct Roles {
    /// The role of each joint.
    pub of_joint: Vec<Option<String>>,
    /// The conventions, or the extension, that gave the roles.
    pub by: Vec<&'static str>,
}

impl Roles {
    /// The roles that the file of a skeleton declares, or else those by name.
    ///
    /// The convention that knows the most joints decides. On joints that it does not know, the others decide, if those that
    /// know the name agree and the role is not taken. Where several know as many, they must agree.
    pub fn new(skeleton: &Skeleton, is_joint: &[bool]) -> Self {
        let mut roles = Self { of_joint: vec![None; is_joint.len()], by: Vec::new() };
        if !skeleton.human_bones().is_empty() {
            for bone in skeleton.human_bones() {
                roles.of_joint[bone.joint] = Some(bone.role.clone());
            }
            roles.by.push("the VRM extension of the file");
            return roles;
        }
        let names = skeleton.joints().iter().zip(is_joint);
        let names = names.map(|(joint, &is_joint)| joint.name.as_deref().filter(|_| is_joint));
        let names: Vec<Option<&str>> = names.collect();
        let found: Vec<Found> =
            ALL.iter().map(|convention| (convention, convention.roles(&names, role_name))).collect();
        let count = |of_joint: &[Option<String>]| of_joint.iter().flatten().count();
        let most = found.iter().map(|(_, of_joint)| count(of_joint)).max().unwrap_or(0);
        if most == 0 {
            return roles;
        }
        let (best, others): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|(_, of_joint)| count(of_joint) == most);
        for joint in 0..names.len() {
            roles.of_joint[joint] = agreed(&best, joint);
        }
        let taken: HashSet<String> = roles.of_joint.iter().flatten().cloned().collect();
        // Numbers of other conventions count other bones: their names must be equal to the last digit.
        let others: Vec<Found> =
            others.iter().map(|(convention, _)| (*convention, convention.roles(&names, normalized))).collect();
        for joint in 0..names.len() {
            if best.iter().all(|(_, of_joint)| of_joint[joint].is_none()) {
                roles.of_joint[joint] = agreed(&others, joint).filter(|role| !taken.contains(role));
            }
        }
        roles.by.extend(best.iter().map(|(convention, _)| convention.name));
        roles
    }
}

/// A convention, and the role of each joint by it.
type Found = (&'static Convention, Vec<Option<String>>);

/// The role that all conventions that know a joint give it.
fn agreed(found: &[Found], joint: usize) -> Option<String> {
    let mut roles = found.iter().filter_map(|(_, of_joint)| of_joint[joint].as_ref());
    let first = roles.next()?;
    roles.all(|role| role == first).then(|| first.clone())
}

impl Convention {
    /// The role of each joint with one of these names. Names are equal if `key` makes the same of them.
    fn roles(&self, names: &[Option<&str>], key: fn(&str) -> String) -> Vec<Option<String>> {
        let names: Vec<Option<String>> = names.iter().map(|name| name.map(key)).collect();
        let has = |name: &str| names.iter().flatten().any(|other| *other == key(name));
        let mut roles = vec![None; names.len()];
        if self.needs.is_some_and(|name| !has(name)) || self.lacks.is_some_and(has) {
            return roles;
        }
        let mut known: HashMap<String, String> = HashMap::new();
        for &(role, name) in self.middle {
            known.insert(key(name), role.into());
        }
        for (side, word) in ["left", "right"].into_iter().zip(self.sides) {
            for (role, name) in self.side {
                known.insert(key(&name.replace("{}", word)), format!("{side}{role}"));
            }
        }
        let mut taken: HashMap<String, usize> = HashMap::new();
        for (rank, prefix) in self.prefixes.iter().enumerate() {
            let prefix = normalized(prefix);
            for (joint, name) in names.iter().enumerate() {
                let rest = name.as_deref().and_then(|name| name.strip_prefix(&prefix));
                let Some(role) = rest.and_then(|rest| known.get(rest)) else { continue };
                if roles[joint].is_none() && *taken.entry(role.clone()).or_insert(rank) == rank {
                    roles[joint] = Some(role.clone());
                }
            }
        }
        roles
    }
}

/// A name as conventions compare it: normalised, and with numbers without leading zeros.
fn role_name(name: &str) -> String {
    let mut result = String::new();
    // A digit that is not 0 has come before, in the same number.
    let mut in_number = false;
    let name = normalized(name);
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_last = letters.peek().is_none_or(|next| !next.is_ascii_digit());
        if letter == '0' && !in_number && !is_last {
            continue;
        }
        in_number = letter.is_ascii_digit();
        result.push(letter);
    }
    result
}

// The names of Mixamo's rigs, with the prefix `mixamorig:` or without it.
//
// Source: the rigs that <https://www.mixamo.com> writes; the skeleton tables of Ready Player Me, whose avatars keep these names
// (<https://docs.readyplayer.me/asset-creation-guide/asset-creation/templates>). Many BVH files have the same names.

const MIXAMO: Convention = Convention {
    name: "Mixamo",
    needs: None,
    lacks: None,
    prefixes: &["", "mixamorig"],
    middle: &[
        ("hips", "Hips"),
        ("spine", "Spine"),
        ("chest", "Spine1"),
        ("upperChest", "Spine2"),
        ("neck", "Neck"),
        ("head", "Head"),
    ],
    sides: ["Left", "Right"],
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}Arm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("ThumbMetacarpal", "{}HandThumb1"),
        ("ThumbProximal", "{}HandThumb2"),
        ("ThumbDistal", "{}HandThumb3"),
        ("IndexProximal", "{}HandIndex1"),
        ("IndexIntermediate", "{}HandIndex2"),
        ("IndexDistal", "{}HandIndex3"),
        ("MiddleProximal", "{}HandMiddle1"),
        ("MiddleIntermediate", "{}HandMiddle2"),
        ("MiddleDistal", "{}HandMiddle3"),
        ("RingProximal", "{}HandRing1"),
        ("RingIntermediate", "{}HandRing2"),
        ("RingDistal", "{}HandRing3"),
        ("LittleProximal", "{}HandPinky1"),
        ("LittleIntermediate", "{}HandPinky2"),
        ("LittleDistal", "{}HandPinky3"),
        ("UpperLeg", "{}UpLeg"),
        ("LowerLeg", "{}Leg"),
        ("Foot", "{}Foot"),
        ("Toes", "{}ToeBase"),
    ],
};

// The names of Blender's Rigify: those of its human meta-rig, and with the prefix `DEF-` those of the bones of a generated rig that
// deform.
//
// Source: the meta-rigs `human.py` and `basic_human.py` of the add-on (`rigify/metarigs`), which Blender ships.

const RIGIFY: Convention = Convention {
    name: "Rigify",
    needs: None,
    lacks: None,
    prefixes: &["DEF-", "", "ORG-"],
    middle: &[
        ("hips", "spine"),
        ("spine", "spine.001"),
        ("chest", "spine.002"),
        ("upperChest", "spine.003"),
        ("neck", "spine.004"),
        ("head", "spine.006"),
        ("jaw", "jaw"),
    ],
    sides: ["L", "R"],
    side: &[
        ("Shoulder", "shoulder.{}"),
        ("UpperArm", "upper_arm.{}"),
        ("LowerArm", "forearm.{}"),
        ("Hand", "hand.{}"),
        ("ThumbMetacarpal", "thumb.01.{}"),
        ("ThumbProximal", "thumb.02.{}"),
        ("ThumbDistal", "thumb.03.{}"),
        ("IndexProximal", "f_index.01.{}"),
        ("IndexIntermediate", "f_index.02.{}"),
        ("IndexDistal", "f_index.03.{}"),
        ("MiddleProximal", "f_middle.01.{}"),
        ("MiddleIntermediate", "f_middle.02.{}"),
        ("MiddleDistal", "f_middle.03.{}"),
        ("RingProximal", "f_ring.01.{}"),
        ("RingIntermediate", "f_ring.02.{}"),
        ("RingDistal", "f_ring.03.{}"),
        ("LittleProximal", "f_pinky.01.{}"),
        ("LittleIntermediate", "f_pinky.02.{}"),
        ("LittleDistal", "f_pinky.03.{}"),
        ("UpperLeg", "thigh.{}"),
        ("LowerLeg", "shin.{}"),
        ("Foot", "foot.{}"),
        ("Toes", "toe.{}"),
    ],
};

// The names of Unreal Engine's mannequins: that of version 4 with three bones in the spine, that of version 5 with five.
//
// Source: the skeletons `UE4_Mannequin_Skeleton` and `SK_Mannequin` that Epic Games ships with the engine's templates.

/// The bones that both mannequins have on each side.
const SIDE: &[(&str, &str)] = &[
    ("Shoulder", "clavicle_{}"),
    ("UpperArm", "upperarm_{}"),
    ("LowerArm", "lowerarm_{}"),
    ("Hand", "hand_{}"),
    ("ThumbMetacarpal", "thumb_01_{}"),
    ("ThumbProximal", "thumb_02_{}"),
    ("ThumbDistal", "thumb_03_{}"),
    ("IndexProximal", "index_01_{}"),
    ("IndexIntermediate", "index_02_{}"),
    ("IndexDistal", "index_03_{}"),
    ("MiddleProximal", "middle_01_{}"),
    ("MiddleIntermediate", "middle_02_{}"),
    ("MiddleDistal", "middle_03_{}"),
    ("RingProximal", "ring_01_{}"),
    ("RingIntermediate", "ring_02_{}"),
    ("RingDistal", "ring_03_{}"),
    ("LittleProximal", "pinky_01_{}"),
    ("LittleIntermediate", "pinky_02_{}"),
    ("LittleDistal", "pinky_03_{}"),
    ("UpperLeg", "thigh_{}"),
    ("LowerLeg", "calf_{}"),
    ("Foot", "foot_{}"),
    ("Toes", "ball_{}"),
];

const UNREAL_4: Convention = Convention {
    name: "Unreal's mannequin",
    needs: None,
    lacks: Some("spine_05"),
    prefixes: &[""],
    middle: &[
        ("hips", "pelvis"),
        ("spine", "spine_01"),
        ("chest", "spine_02"),
        ("upperChest", "spine_03"),
        ("neck", "neck_01"),
        ("head", "head"),
    ],
    sides: ["l", "r"],
    side: SIDE,
};

const UNREAL_5: Convention = Convention {
    name: "Unreal's mannequin of version 5",
    needs: Some("spine_05"),
    lacks: None,
    middle: &[
        ("hips", "pelvis"),
        ("spine", "spine_01"),
        ("chest", "spine_03"),
        ("upperChest", "spine_05"),
        ("neck", "neck_01"),
        ("head", "head"),
    ],
    ..UNREAL_4
};

// The names of VRM: those of its roles, and those of the bones that VRoid Studio writes.
//
// Source of the roles: VRM 1.0, `VRMC_vrm.humanoid`
// (<https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md>). The bones of VRoid Studio are
// those of the models that it exports.

const VRM: Convention = Convention {
    name: "VRM",
    needs: None,
    lacks: None,
    prefixes: &[""],
    middle: &[
        ("hips", "hips"),
        ("spine", "spine"),
        ("chest", "chest"),
        ("upperChest", "upperChest"),
        ("neck", "neck"),
        ("head", "head"),
        ("jaw", "jaw"),
    ],
    sides: ["left", "right"],
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}UpperArm"),
        ("LowerArm", "{}LowerArm"),
        ("Hand", "{}Hand"),
        ("ThumbMetacarpal", "{}ThumbMetacarpal"),
        ("ThumbProximal", "{}ThumbProximal"),
        ("ThumbDistal", "{}ThumbDistal"),
        ("IndexProximal", "{}IndexProximal"),
        ("IndexIntermediate", "{}IndexIntermediate"),
        ("IndexDistal", "{}IndexDistal"),
        ("MiddleProximal", "{}MiddleProximal"),
        ("MiddleIntermediate", "{}MiddleIntermediate"),
        ("MiddleDistal", "{}MiddleDistal"),
        ("RingProximal", "{}RingProximal"),
        ("RingIntermediate", "{}RingIntermediate"),
        ("RingDistal", "{}RingDistal"),
        ("LittleProximal", "{}LittleProximal"),
        ("LittleIntermediate", "{}LittleIntermediate"),
        ("LittleDistal", "{}LittleDistal"),
        ("UpperLeg", "{}UpperLeg"),
        ("LowerLeg", "{}LowerLeg"),
        ("Foot", "{}Foot"),
        ("Toes", "{}Toes"),
    ],
};

const VROID: Convention = Convention {
    name: "VRoid Studio",
    needs: None,
    lacks: None,
    prefixes: &[""],
    middle: &[
        ("hips", "J_Bip_C_Hips"),
        ("spine", "J_Bip_C_Spine"),
        ("chest", "J_Bip_C_Chest"),
        ("upperChest", "J_Bip_C_UpperChest"),
        ("neck", "J_Bip_C_Neck"),
        ("head", "J_Bip_C_Head"),
    ],
    sides: ["L", "R"],
    side: &[
        ("Eye", "J_Adj_{}_FaceEye"),
        ("Shoulder", "J_Bip_{}_Shoulder"),
        ("UpperArm", "J_Bip_{}_UpperArm"),
        ("LowerArm", "J_Bip_{}_LowerArm"),
        ("Hand", "J_Bip_{}_Hand"),
        ("ThumbMetacarpal", "J_Bip_{}_Thumb1"),
        ("ThumbProximal", "J_Bip_{}_Thumb2"),
        ("ThumbDistal", "J_Bip_{}_Thumb3"),
        ("IndexProximal", "J_Bip_{}_Index1"),
        ("IndexIntermediate", "J_Bip_{}_Index2"),
        ("IndexDistal", "J_Bip_{}_Index3"),
        ("MiddleProximal", "J_Bip_{}_Middle1"),
        ("MiddleIntermediate", "J_Bip_{}_Middle2"),
        ("MiddleDistal", "J_Bip_{}_Middle3"),
        ("RingProximal", "J_Bip_{}_Ring1"),
        ("RingIntermediate", "J_Bip_{}_Ring2"),
        ("RingDistal", "J_Bip_{}_Ring3"),
        ("LittleProximal", "J_Bip_{}_Little1"),
        ("LittleIntermediate", "J_Bip_{}_Little2"),
        ("LittleDistal", "J_Bip_{}_Little3"),
        ("UpperLeg", "J_Bip_{}_UpperLeg"),
        ("LowerLeg", "J_Bip_{}_LowerLeg"),
        ("Foot", "J_Bip_{}_Foot"),
        ("Toes", "J_Bip_{}_ToeBase"),
    ],
};

/// A name without everything up to its last `:`, without `_`, `-`, `.` and spaces, in lower case.
pub(super) fn normalized(name: &str) -> String {
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    name.chars().filter(|letter| !matches!(letter, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::model::Joint;

    fn roles(names: &[&str]) -> Vec<Option<String>> {
        let joint = |name: &&str| Joint { name: Some((*name).into()), ..Joint::default() };
        let skeleton = Skeleton::new(None, names.iter().map(joint).collect(), Vec::new()).unwrap();
        Roles::new(&skeleton, &vec![true; names.len()]).of_joint
    }

    fn named(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| (!name.is_empty()).then(|| (*name).into())).collect()
    }

    #[test]
    fn leading_zeros_of_numbers_do_not_count() {
        for (name, expected) in [("spine_01", "spine1"), ("rig:Spine.001", "spine1"), ("a00b10", "a0b10"), ("", "")] {
            assert_eq!(role_name(name), expected);
        }
    }

    #[test]
    fn the_convention_of_most_names_decides_about_names_that_differ() {
        // `spine` is the hip of Rigify, and the lowest bone of the spine elsewhere.
        assert_eq!(roles(&["spine", "upper_arm.L", "shin.R"]), named(&["hips", "leftUpperArm", "rightLowerLeg"]));
        assert_eq!(roles(&["mixamorig:Hips", "mixamorig:Spine"]), named(&["hips", "spine"]));
        assert_eq!(roles(&["spine"]), named(&[""]));
        let spine = ["clavicle_l", "pelvis", "spine_01", "spine_02", "spine_03", "spine_04", "spine_05", "neck"];
        let expected = ["leftShoulder", "hips", "spine", "chest", "upperChest", "", "", "neck"];
        assert_eq!(roles(&spine[..6]), named(&expected[..6]));
        let expected = ["leftShoulder", "hips", "spine", "", "chest", "", "upperChest", "neck"];
        assert_eq!(roles(&spine), named(&expected));
    }

    #[test]
    fn bones_that_deform_come_before_others_of_a_rigify_rig() {
        assert_eq!(roles(&["hand.L", "DEF-hand.L", "DEF-shin.L"]), named(&["", "leftHand", "leftLowerLeg"]));
    }

    #[test]
    fn the_human_of_the_demo_has_names_of_unreal() {
        let library = demo::library().unwrap();
        let skeleton = &library.skeletons()[0];
        let roles = Roles::new(skeleton, &vec![true; skeleton.joints().len()]);
        let role = |name: &str| roles.of_joint[skeleton.find_joint(name).unwrap()].as_deref();
        assert_eq!(roles.by, ["Unreal's mannequin"]);
        let expected =
            [("pelvis", "hips"), ("spine.1", "spine"), ("neck", "neck"), ("thumb.2.R", "rightThumbProximal")];
        for (name, expected) in expected {
            assert_eq!(role(name), Some(expected), "{name}");
        }
        assert_eq!([role("calf_twist.L"), role("spine.4")], [None, None]);
    }
}
