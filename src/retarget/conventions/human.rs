//! The parts of a human: their roles, named as in VRM 1.0, and their order from the inside to the outside; and names
//! of joints as they are compared.

use std::collections::HashSet;

use crate::model::Skeleton;

/// The role of the joint that moves the body.
pub(crate) const HIPS: &str = "hips";

/// The roles of the joints between hips and neck, the lowest first.
pub(crate) const TRUNK: [&str; 3] = ["spine", "chest", "upperChest"];

/// The joints without which a figure is no human in motion. Any of the roles of a row will do.
pub(crate) const ESSENTIAL: [&[&str]; 13] = [
    &[HIPS],
    &["leftUpperLeg"],
    &["leftLowerLeg"],
    &["leftFoot"],
    &["rightUpperLeg"],
    &["rightLowerLeg"],
    &["rightFoot"],
    &["leftUpperArm"],
    &["leftLowerArm"],
    &["rightUpperArm"],
    &["rightLowerArm"],
    &TRUNK,
    &["neck", "head"],
];

/// A finger: its name, and the joints from the inside to the outside.
pub(super) struct Finger {
    pub name: &'static str,
    pub joints: [&'static str; 3],
}

/// The fingers.
pub(super) const FINGERS: [Finger; 5] = [
    Finger { name: "Thumb", joints: ["Metacarpal", "Proximal", "Distal"] },
    Finger { name: "Index", joints: JOINTS },
    Finger { name: "Middle", joints: JOINTS },
    Finger { name: "Ring", joints: JOINTS },
    Finger { name: "Little", joints: JOINTS },
];

const JOINTS: [&str; 3] = ["Proximal", "Intermediate", "Distal"];

/// The role of a joint of a trunk, counted from below.
pub(super) fn trunk_role(index: usize, count: usize) -> Option<&'static str> {
    match index {
        0 => Some(TRUNK[0]),
        _ if count == 2 => Some(TRUNK[1]),
        _ if index == count - 1 => Some(TRUNK[2]),
        _ => (index == count / 2).then_some(TRUNK[1]),
    }
}

/// The limb of a role: its side, and its rank from the inside to the outside.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Limb {
    Trunk(usize),
    Arm(bool, usize),
    Leg(bool, usize),
    /// The index of the finger, and the rank of the joint.
    Finger(bool, usize, usize),
}

/// The joints of an arm, from the inside to the outside.
pub(super) const ARM: [&str; 4] = ["Shoulder", "UpperArm", "LowerArm", "Hand"];

/// The joints of a leg, from the inside to the outside.
pub(super) const LEG: [&str; 4] = ["UpperLeg", "LowerLeg", "Foot", "Toes"];

impl Limb {
    pub fn of(role: &str) -> Option<Self> {
        const MIDDLE: [&str; 9] = [HIPS, "spine", "chest", "upperChest", "neck", "head", "jaw", "leftEye", "rightEye"];
        if let Some(rank) = MIDDLE.iter().position(|other| *other == role) {
            return Some(Self::Trunk(rank));
        }
        let (is_left, part) = match role.strip_prefix("left") {
            Some(part) => (true, part),
            None => (false, role.strip_prefix("right")?),
        };
        let rank = |limb: &[&str; 4]| limb.iter().position(|other| *other == part);
        if let Some(rank) = rank(&ARM) {
            return Some(Self::Arm(is_left, rank));
        }
        if let Some(rank) = rank(&LEG) {
            return Some(Self::Leg(is_left, rank));
        }
        FINGERS.iter().enumerate().find_map(|(index, finger)| {
            let joint = part.strip_prefix(finger.name)?;
            let rank = finger.joints.iter().position(|other| *other == joint)?;
            Some(Self::Finger(is_left, index, rank))
        })
    }

    /// Returns `true` if the nearest joint with a role above this one can be that other one.
    pub fn can_be_below(self, above: Self) -> bool {
        match (self, above) {
            (Self::Trunk(rank), Self::Trunk(other)) => other < rank.min(6),
            // In Biped, clavicles hang from the neck and legs from the lowest joint of the spine.
            (Self::Arm(..), Self::Trunk(other)) => other <= 4,
            (Self::Leg(..), Self::Trunk(other)) => other <= 1,
            (Self::Arm(side, rank), Self::Arm(other_side, other))
            | (Self::Leg(side, rank), Self::Leg(other_side, other)) => side == other_side && other < rank,
            (Self::Finger(side, ..), Self::Arm(other_side, _)) => side == other_side,
            (Self::Finger(side, finger, rank), Self::Finger(other_side, other_finger, other)) => {
                (side, finger) == (other_side, other_finger) && other < rank
            }
            _ => false,
        }
    }
}

/// True for the name of a role in VRM 1.0.
pub(crate) fn is_role(name: &str) -> bool {
    Limb::of(name).is_some()
}

/// A name without everything up to its last `:`, without `_`, `-`, `.` and spaces, in lower case.
pub(crate) fn normalized(name: &str) -> String {
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    name.chars().filter(|letter| !matches!(letter, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Whether the names of a skeleton end in numbers that are no part of them: Sketchfab appends a running number to the
/// name of each node, as in `mixamorig:Hips_01` and `mixamorig:LeftArm_016`, and programs that copy a figure append one
/// number to all names, as in `Hips.001` and `LeftArm.001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering(bool);

impl Numbering {
    /// The least joints whose names have a number, in a skeleton with numbers that are no part of names.
    const MIN_JOINTS: usize = 8;

    /// The name that Sketchfab gives to each node with a mesh, before its number. A figure of many parts has more of
    /// them than joints.
    const MESH: &str = "Object";

    /// Such numbers stand in three quarters of the names or more, of which three quarters or more are different names
    /// without them. Three quarters or more of the numbers differ, or all are the same. `spine_01` beside `arm_01` and
    /// `arm_02`, and `bone_01` to `bone_40`, have other numbers.
    pub fn of(skeleton: &Skeleton) -> Self {
        let is_of_joint =
            |name: &&str| !name.is_empty() && without_number(name).is_none_or(|(stem, _)| stem != Self::MESH);
        let names = || skeleton.joints().iter().filter_map(|joint| joint.name.as_deref()).filter(is_of_joint);
        let parts: Vec<(&str, &str)> = names().filter_map(without_number).collect();
        let are_most = |count: usize, all: usize| 4 * count >= 3 * all;
        let (stems, numbers): (HashSet<&str>, HashSet<&str>) = parts.iter().copied().unzip();
        Self(
            parts.len() >= Self::MIN_JOINTS
                && are_most(parts.len(), names().count())
                && are_most(stems.len(), parts.len())
                && (are_most(numbers.len(), parts.len()) || numbers.len() == 1),
        )
    }

    /// A name of the skeleton without its running number.
    pub fn plain(self, name: &str) -> &str {
        without_number(name).filter(|_| self.0).map_or(name, |(stem, _)| stem)
    }

    /// The [`normalized`] name of a joint without its running number; `None` without a name.
    pub fn normalized(self, skeleton: &Skeleton, joint: usize) -> Option<String> {
        skeleton.joints()[joint].name.as_deref().map(|name| normalized(self.plain(name)))
    }
}

/// The parts of a name before and after the last `_` or `.`, if digits follow it.
fn without_number(name: &str) -> Option<(&str, &str)> {
    let parts = name.rsplit_once(['_', '.'])?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    (!parts.0.is_empty() && is_number(parts.1)).then_some(parts)
}
