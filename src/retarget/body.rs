//! The human body in a pose: its directions and lengths, from the places of joints with known roles.
//!
//! The hips and the chest are rigid parts. Whatever the numbers of a zero pose are, up is from the hips to the neck,
//! and left is from the right to the left upper leg. So they tell how a figure stands, and which way it faces, in any
//! pose.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::model::Skeleton;
use crate::retarget::conventions::Roles;

/// The least length whose quotient with another one is used, as a share of the larger one.
const LEAST_LENGTH: f64 = 1e-6;

/// The roles of the upper ends of the trunk, the best first.
const UPPER_ENDS: [&str; 6] = ["neck", "head", "upperChest", "chest", "spine", "jaw"];

/// The lower ends of the spine, the lowest first.
const LOWER_ENDS: [&str; 5] = ["spine", "chest", "upperChest", "neck", "head"];
/// The least length of the base of a spine, as a share of the way from the hips to the neck.
const LEAST_BASE: f64 = 0.05;
/// The largest angle between the base of a straight spine and the way to the neck, in radians.
pub(crate) const MOST_BENT: f64 = 0.8;

/// The sides of roles.
pub(crate) const SIDES: [&str; 2] = ["left", "right"];

/// The joints of a skeleton by their roles in a human body.
pub(crate) struct Body {
    roles: Vec<Option<String>>,
    /// For each joint, its parent.
    parents: Vec<Option<usize>>,
    /// The feet, and all joints below them.
    feet: Vec<usize>,
}

impl Body {
    /// The body of a skeleton; `is_joint` is true for nodes that can have a role.
    pub fn new(skeleton: &Skeleton, is_joint: &[bool]) -> Self {
        let roles = Roles::new(skeleton, is_joint).of_joint;
        let parents: Vec<_> = skeleton.joints().iter().map(|joint| joint.parent).collect();
        let mut body = Self { roles, parents, feet: Vec::new() };
        let mut is_foot = vec![false; body.parents.len()];
        for joint in 0..is_foot.len() {
            let role = body.role(joint);
            let is_below = body.parents[joint].is_some_and(|parent| is_foot[parent]);
            is_foot[joint] = is_below || role.is_some_and(|role| role.ends_with("Foot") || role.ends_with("Toes"));
        }
        body.feet = (0..is_foot.len()).filter(|&joint| is_foot[joint]).collect();
        body
    }

    /// The role of a joint.
    pub fn role(&self, joint: usize) -> Option<&str> {
        self.roles[joint].as_deref()
    }

    /// The joint of a role.
    pub fn joint(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|other| other.as_deref() == Some(role))
    }

    /// The joint of a role of a side.
    pub fn on_side(&self, side: &str, role: &str) -> Option<usize> {
        self.joint(&format!("{side}{role}"))
    }

    /// The only child of a joint, if it has no role, such as the end of a bone.
    pub fn end(&self, joint: usize) -> Option<usize> {
        let mut children = (joint + 1..self.parents.len()).filter(|&child| self.parents[child] == Some(joint));
        let child = children.next().filter(|&child| self.roles[child].is_none())?;
        children.next().is_none().then_some(child)
    }

    /// The feet and all joints below them.
    pub fn feet(&self) -> &[usize] {
        &self.feet
    }

    /// The upper end of the trunk.
    pub fn upper_end(&self) -> Option<usize> {
        UPPER_ENDS.iter().find_map(|role| self.joint(role))
    }

    /// True if hips and both legs down to the feet are known.
    pub fn has_legs(&self) -> bool {
        let has = |side: &&str| ["UpperLeg", "LowerLeg", "Foot"].iter().all(|role| self.on_side(side, role).is_some());
        self.joint("hips").is_some() && SIDES.iter().all(has)
    }
}

/// The places of the joints of a body in a pose.
pub(crate) struct Figure<'a> {
    pub body: &'a Body,
    /// The places, in a space of the caller's choice.
    pub places: Vec<DVec3>,
}

impl<'a> Figure<'a> {
    /// The figure of model matrices.
    pub fn new(body: &'a Body, matrices: &[DAffine3]) -> Self {
        Self { body, places: matrices.iter().map(|matrix| matrix.translation).collect() }
    }

    /// The figure of model matrices after the bones that lead away from each joint were turned by the joint's turn.
    pub fn turned(body: &'a Body, skeleton: &Skeleton, matrices: &[DAffine3], turn: impl Fn(usize) -> DQuat) -> Self {
        let mut places: Vec<DVec3> = Vec::with_capacity(matrices.len());
        for (joint, node) in skeleton.joints().iter().enumerate() {
            let place = matrices[joint].translation;
            places.push(match node.parent {
                Some(parent) => places[parent] + turn(parent) * (place - matrices[parent].translation),
                None => turn(joint) * place,
            });
        }
        Self { body, places }
    }

    /// The way from one joint to another.
    pub fn way(&self, from: usize, to: usize) -> DVec3 {
        self.places[to] - self.places[from]
    }

    /// The directions of the hips: left, up and ahead. `None` if they do not follow from the joints.
    ///
    /// Up is towards the neck, unless the base of the spine leads elsewhere: in some zero poses, the spine is bent.
    pub fn directions(&self) -> Option<DMat3> {
        let hips = self.body.joint("hips")?;
        let neck = self.way(hips, self.body.upper_end()?);
        let ways = LOWER_ENDS.iter().filter_map(|role| Some(self.way(hips, self.body.joint(role)?)));
        let base = ways.into_iter().find(|way| way.length() > LEAST_BASE * neck.length());
        let up = match base {
            Some(base) if base.angle_between(neck) > MOST_BENT => base,
            _ => neck,
        };
        let up = up.try_normalize()?;
        let left = self.across("UpperLeg").or_else(|| self.across("UpperArm"))?;
        frame(left, up)
    }

    /// The directions of the chest, as seen from a joint of the trunk: left, up and ahead. `None` if they do not follow
    /// from the joints.
    pub fn directions_of_chest(&self, joint: usize) -> Option<DMat3> {
        let up = self.way(joint, self.body.upper_end()?).try_normalize()?;
        frame(self.across("UpperArm").or_else(|| self.across("Shoulder"))?, up)
    }

    /// The way from the right joint of a role to the left one.
    pub fn across(&self, role: &str) -> Option<DVec3> {
        let [left, right] = SIDES.map(|side| self.body.on_side(side, role));
        Some(self.way(right?, left?))
    }

    /// The length of the legs: upper and lower leg, the mean of both sides.
    pub fn leg(&self) -> Option<f64> {
        let length = |side: &str| -> Option<f64> {
            let [upper, lower, foot] = ["UpperLeg", "LowerLeg", "Foot"].map(|role| self.body.on_side(side, role));
            Some(self.way(upper?, lower?).length() + self.way(lower?, foot?).length())
        };
        let sides: Vec<f64> = SIDES.iter().filter_map(|side| length(side)).collect();
        let sum: f64 = sides.iter().sum();
        (sum > 0.0).then(|| sum / sides.len() as f64)
    }

    /// The length from the hips to the head, along the joints between.
    pub fn trunk(&self) -> Option<f64> {
        let hips = self.body.joint("hips")?;
        let mut joint = self.body.joint("head").or_else(|| self.body.joint("neck"))?;
        let mut length = 0.0;
        while joint != hips {
            let parent = self.body.parents[joint]?;
            length += self.way(parent, joint).length();
            joint = parent;
        }
        (length > 0.0).then_some(length)
    }

    /// The height of the lowest point of the feet along a direction. `None` without feet.
    pub fn lowest_foot(&self, up: DVec3) -> Option<f64> {
        self.body.feet.iter().map(|&joint| self.places[joint].dot(up)).reduce(f64::min)
    }

    /// The direction in which the figure stands: from the feet to the hips and from there to the trunk's upper end.
    /// `None` if it does not stand upright, or is not known.
    pub fn standing(&self) -> Option<DVec3> {
        let up = self.directions()?.y_axis;
        let hips = self.body.joint("hips")?;
        let legs: DVec3 = SIDES.iter().filter_map(|side| Some(self.way(self.body.on_side(side, "Foot")?, hips))).sum();
        match legs.try_normalize() {
            Some(legs) if legs.dot(up) < 0.8 => None,
            _ => Some(up),
        }
    }
}

/// The directions left, up and ahead, from one that is about left and one that is up.
fn frame(left: DVec3, up: DVec3) -> Option<DMat3> {
    let left = (left - left.dot(up) * up).try_normalize()?;
    Some(DMat3::from_cols(left, up, left.cross(up)))
}

/// The quotient of two lengths; `None` if one of them is nearly 0.
pub(crate) fn ratio(of: f64, to: f64) -> Option<f64> {
    let largest = of.max(to);
    (of > LEAST_LENGTH * largest && to > LEAST_LENGTH * largest).then(|| of / to)
}
