//! Roles by the hierarchy, where names say too little or put the hips elsewhere than above legs and arms.
//!
//! The word `hips` stands in many rigs for a joint that carries the legs alone, or the spine alone, beside the other
//! ones: in models of games whose body is `Body`, and in rigs with the names of Blender's meta-rig without its `spine`.
//! Its motion would leave the other part of the body behind. So the hips are above both legs and both arms, whatever
//! their name is.

use crate::model::Skeleton;
use crate::retarget::conventions::human::{HIPS, Limb, Numbering, TRUNK, trunk_role};
use crate::retarget::conventions::{RoleGround, Roles};

/// The names of hips, as they are compared.
const NAMES: [&str; 3] = ["hips", "hip", "pelvis"];

impl Roles {
    /// Makes the joint that carries legs and arms the hips, if the one by name does not, or none is. Where the arms are
    /// not known, it carries the neck or the head.
    pub(super) fn find_hips(&mut self, skeleton: &Skeleton, is_joint: &[bool]) {
        let Some(legs) = self.pair("UpperLeg") else { return };
        let arms = self.pair("UpperArm").map(Vec::from);
        let neck = || ["neck", "head"].iter().find_map(|role| self.joint_of(role));
        let upper = arms.unwrap_or_else(|| neck().into_iter().collect());
        let old = self.joint_of(HIPS);
        let body = [&legs[..], &upper].concat();
        if old.is_some_and(|old| body.iter().all(|&joint| skeleton.ancestors(joint).any(|above| above == old))) {
            return;
        }
        let trunk: Vec<usize> = TRUNK.iter().filter_map(|role| self.joint_of(role)).collect();
        let can_be = |joint: &usize| self.can_be_of_trunk(is_joint, *joint);
        let above = |joints: &[usize]| common_ancestor(skeleton, joints).filter(can_be);
        let found = above(&[&body[..], &trunk].concat()).or_else(|| above(&body));
        // Without a name, the joint between the legs may be all that is known.
        let between = || above(&legs).filter(|_| old.is_none());
        let Some(lowest) = found.or_else(between) else { return };
        let numbering = Numbering::of(skeleton);
        let has_name = |joint: &usize| {
            let name = numbering.normalized(skeleton, *joint);
            can_be(joint) && name.is_some_and(|name| NAMES.contains(&name.as_str()))
        };
        let hips = std::iter::once(lowest).chain(skeleton.ancestors(lowest)).find(has_name).unwrap_or(lowest);
        let was_of_trunk = self.of_joint[hips].is_some();
        if let Some(old) = old {
            (self.of_joint[old], self.grounds[old]) = (None, None);
        }
        self.set(hips, HIPS.into(), RoleGround::Structure);
        self.by.push("structure");
        let Some(top) = common_ancestor(skeleton, &upper) else { return };
        let mut path: Vec<usize> = std::iter::once(top).chain(skeleton.ancestors(top)).collect();
        path.truncate(path.iter().position(|&joint| joint == hips).unwrap_or(0));
        if was_of_trunk || old.is_some_and(|old| path.contains(&old)) {
            path.retain(|&joint| self.can_be_of_trunk(is_joint, joint));
            path.reverse();
            self.set_trunk(&path);
        }
    }

    /// Gives the roles of the trunk to these joints, the lowest first, and takes them from all others.
    fn set_trunk(&mut self, path: &[usize]) {
        for joint in 0..self.of_joint.len() {
            if self.of_joint[joint].as_deref().is_some_and(|role| TRUNK.contains(&role)) {
                (self.of_joint[joint], self.grounds[joint]) = (None, None);
            }
        }
        for (index, &joint) in path.iter().enumerate() {
            if let Some(role) = trunk_role(index, path.len()) {
                self.set(joint, role.into(), RoleGround::Structure);
            }
        }
    }

    /// Gives roles to the joints of limbs that no table knows, on both sides alike: the only joint between the upper
    /// and the last part is the lower one, and the joint above a lower arm is the upper arm.
    pub(super) fn fill_limbs(&mut self, skeleton: &Skeleton, is_joint: &[bool]) {
        let is_free = |roles: &Self, joint: &usize| is_joint[*joint] && roles.of_joint[*joint].is_none();
        for [upper, lower, last] in [["UpperLeg", "LowerLeg", "Foot"], ["UpperArm", "LowerArm", "Hand"]] {
            if self.has_any(&[&format!("left{lower}"), &format!("right{lower}")]) {
                continue;
            }
            let (Some(from), Some(to)) = (self.pair(upper), self.pair(last)) else { continue };
            let between = [0, 1].map(|side| {
                let middle = skeleton.joints()[to[side]].parent?;
                (skeleton.joints()[middle].parent == Some(from[side])).then_some(middle)
            });
            self.set_pair(lower, between.map(|joint| joint.filter(|joint| is_free(self, joint))));
        }
        // Elbows alone make no human.
        let lacks_arms = self.pair("UpperLeg").is_some() && !self.has_any(&["leftUpperArm", "rightUpperArm"]);
        if let Some(lower) = self.pair("LowerArm").filter(|_| lacks_arms) {
            let above = lower.map(|joint| skeleton.joints()[joint].parent.filter(|above| is_free(self, above)));
            // Twist joints may be between, unless the next joint above is a part of the body.
            let is_in_place = |joint: usize, role: &str| {
                let above = skeleton.joints()[joint].parent.and_then(|above| self.of_joint[above].as_deref());
                let limbs = above.and_then(Limb::of).zip(Limb::of(role));
                limbs.is_some_and(|(above, limb)| limb.can_be_below(above))
            };
            let are_in_place = above.iter().zip(["leftUpperArm", "rightUpperArm"]);
            if are_in_place.clone().all(|(joint, role)| joint.is_some_and(|joint| is_in_place(joint, role))) {
                self.set_pair("UpperArm", above);
            }
        }
    }

    /// Gives a role to the joints of both sides, if both are known and differ.
    fn set_pair(&mut self, part: &str, joints: [Option<usize>; 2]) {
        let [Some(left), Some(right)] = joints else { return };
        if left != right {
            self.set(left, format!("left{part}"), RoleGround::Structure);
            self.set(right, format!("right{part}"), RoleGround::Structure);
        }
    }

    /// Returns `true` for a joint that has no role, or one of the trunk.
    fn can_be_of_trunk(&self, is_joint: &[bool], joint: usize) -> bool {
        is_joint[joint] && self.of_joint[joint].as_deref().is_none_or(|role| TRUNK.contains(&role))
    }

    /// The left and the right joint of a part.
    fn pair(&self, part: &str) -> Option<[usize; 2]> {
        Some([self.joint_of(&format!("left{part}"))?, self.joint_of(&format!("right{part}"))?])
    }

    /// The first joint of a role.
    fn joint_of(&self, role: &str) -> Option<usize> {
        self.of_joint.iter().position(|other| other.as_deref() == Some(role))
    }
}

/// The lowest joint above all of these.
fn common_ancestor(skeleton: &Skeleton, joints: &[usize]) -> Option<usize> {
    let mut counts = vec![0; skeleton.joints().len()];
    joints.iter().flat_map(|&joint| skeleton.ancestors(joint)).for_each(|above| counts[above] += 1);
    skeleton.ancestors(*joints.first()?).find(|&above| counts[above] == joints.len())
}
