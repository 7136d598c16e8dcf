//! Humanoid roles of joints by their names, in the conventions of tools. A role has its name in VRM 1.0.

mod mixamo;
mod rigify;
mod unreal;
mod vrm;

use std::collections::{HashMap, HashSet};

use crate::model::Skeleton;
use crate::retarget::names::normalized;

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

const ALL: [Convention; 6] = [mixamo::MIXAMO, unreal::UNREAL_4, unreal::UNREAL_5, vrm::VRM, vrm::VROID, rigify::RIGIFY];

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
