//! The human body in a pose: its directions and lengths, from the places of joints with known roles; and its feet.
//!
//! The hips and the chest are rigid parts. Whatever the numbers of a zero pose are, up is from the hips to the neck,
//! and left is from the right to the left upper leg. So they tell how a figure stands, and which direction it faces,
//! in any pose.

use std::collections::HashMap;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::model::{HumanBone, Library, Skeleton, SkeletonId};
use crate::reference::values::{Values, model_matrices};
use crate::retarget::conventions::{HIPS, Roles, is_role};
use crate::retarget::joint_map::are_joints;

/// The least length whose quotient with another one is used, as a share of the larger one.
const MIN_LENGTH: f64 = 1e-6;

/// The roles of the upper ends of the trunk, the best first.
const UPPER_ENDS: [&str; 6] = ["neck", "head", "upperChest", "chest", "spine", "jaw"];

/// The joints that can carry the arms, the best first.
const CHESTS: [&str; 4] = ["upperChest", "chest", "spine", HIPS];

/// The lower ends of the spine, the lowest first.
const LOWER_ENDS: [&str; 5] = ["spine", "chest", "upperChest", "neck", "head"];
/// The least cosine of the angle between the lower leg and a bone that leads straight down from it.
const BELOW_ANKLE: f64 = 0.9;
/// The largest distance of the hips from the middle of the upper legs, in lengths of a leg. A joint farther away, as a
/// root on the ground, carries the hips without being there.
const MAX_FROM_LEGS: f64 = 0.5;
/// The least length of the base of a spine, as a share of the offset from the hips to the neck.
const MIN_BASE: f64 = 0.1;
/// The largest angle between the base of a straight spine and the offset to the neck, in radians.
pub(super) const MAX_BEND: f64 = 0.8;

/// The least share of the length of both limbs of a pair by which they point to one side.
const MIN_ALIKE: f64 = 0.5;
/// The least cosine of the angle between two directions that count as one, and the largest one across.
const ALONG: f64 = 0.7;
const ACROSS: f64 = 0.5;
/// The largest distance of the hands from the ground of the feet at which a figure stands on them, in lengths of a leg.
const MAX_LIFT: f64 = 0.35;

/// The least length of forelegs, in lengths of a leg. The arms of a human are about two thirds as long as the legs.
const MIN_FORELEG: f64 = 0.75;

/// The sides of roles.
pub(super) const SIDES: [&str; 2] = ["left", "right"];

/// The joints of a skeleton by their roles in a human body.
pub(crate) struct Body {
    roles: Vec<Option<String>>,
    /// The first joint of each role.
    joints: HashMap<String, usize>,
    /// The parent of each joint.
    parents: Vec<Option<usize>>,
    /// The child of each joint that has no other one.
    only_children: Vec<Option<usize>>,
    /// The feet, and all joints below them.
    feet: Vec<usize>,
}

impl Body {
    /// The body of a skeleton; `is_joint` is true for nodes that can have a role.
    pub fn new(skeleton: &Skeleton, is_joint: &[bool]) -> Self {
        Self::of_roles(skeleton, Roles::new(skeleton, is_joint).of_joint)
    }

    /// The body of a skeleton whose joints have these roles.
    pub fn of_roles(skeleton: &Skeleton, roles: Vec<Option<String>>) -> Self {
        let count = roles.len();
        let parents: Vec<_> = skeleton.joints().iter().map(|joint| joint.parent).collect();
        let mut joints = HashMap::new();
        let (mut only_children, mut has_several) = (vec![None; count], vec![false; count]);
        let mut is_foot = vec![false; count];
        for (joint, (role, parent)) in roles.iter().zip(&parents).enumerate() {
            is_foot[joint] = parent.is_some_and(|parent| is_foot[parent]);
            if let Some(role) = role {
                joints.entry(role.clone()).or_insert(joint);
                is_foot[joint] |= role.ends_with("Foot") || role.ends_with("Toes");
            }
            if let Some(parent) = *parent {
                has_several[parent] |= only_children[parent].is_some();
                only_children[parent] = Some(joint).filter(|_| !has_several[parent]);
            }
        }
        let feet = (0..count).filter(|&joint| is_foot[joint]).collect();
        Self { roles, joints, parents, only_children, feet }
    }

    /// The role of a joint.
    pub fn role(&self, joint: usize) -> Option<&str> {
        self.roles[joint].as_deref()
    }

    /// The joint of a role.
    pub fn joint(&self, role: &str) -> Option<usize> {
        self.joints.get(role).copied()
    }

    /// The joint of a role of a side.
    pub fn on_side(&self, side: &str, role: &str) -> Option<usize> {
        self.joint(&format!("{side}{role}"))
    }

    /// The joints with roles of VRM 1.0, each role once, in the order of the joints.
    pub fn human_bones(&self) -> Vec<HumanBone> {
        let bones = self.joints.iter().filter(|(role, _)| is_role(role));
        let mut bones: Vec<HumanBone> = bones.map(|(role, &joint)| HumanBone { role: role.clone(), joint }).collect();
        bones.sort_by_key(|bone| bone.joint);
        bones
    }

    /// The only child of a joint, if it has no role, such as the end of a bone.
    pub fn end(&self, joint: usize) -> Option<usize> {
        self.only_children[joint].filter(|&child| self.roles[child].is_none())
    }

    /// The feet and all joints below them.
    pub fn feet(&self) -> &[usize] {
        &self.feet
    }

    /// The upper end of the trunk.
    pub fn upper_end(&self) -> Option<usize> {
        UPPER_ENDS.iter().find_map(|role| self.joint(role))
    }

    /// The highest joint of the trunk below the neck.
    pub fn chest(&self) -> Option<usize> {
        CHESTS.iter().find_map(|role| self.joint(role))
    }

    /// The joint to which a foot points: the toes, or the end of the foot.
    pub fn toes(&self, side: &str, foot: usize) -> Option<usize> {
        self.on_side(side, "Toes").or_else(|| self.end(foot))
    }

    /// Returns `true` if hips and both legs down to the feet are known.
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

    /// The figure of model matrices after the bones that lead away from each joint were rotated by the joint's
    /// rotation.
    pub fn corrected(
        body: &'a Body,
        skeleton: &Skeleton,
        matrices: &[DAffine3],
        correction: impl Fn(usize) -> DQuat,
    ) -> Self {
        let mut places: Vec<DVec3> = Vec::with_capacity(matrices.len());
        for (joint, node) in skeleton.joints().iter().enumerate() {
            let place = matrices[joint].translation;
            places.push(match node.parent {
                Some(parent) => places[parent] + correction(parent) * (place - matrices[parent].translation),
                None => correction(joint) * place,
            });
        }
        Self { body, places }
    }

    /// The offset from one joint to another.
    pub fn offset(&self, from: usize, to: usize) -> DVec3 {
        self.places[to] - self.places[from]
    }

    /// The place of the hips: of their joint, or between the upper legs if that is elsewhere.
    pub fn pelvis(&self) -> Option<DVec3> {
        let hips = self.places[self.body.joint(HIPS)?];
        Some(self.between_legs().filter(|legs| self.is_far(hips, *legs)).unwrap_or(hips))
    }

    /// The middle of the upper legs.
    fn between_legs(&self) -> Option<DVec3> {
        let [left, right] = SIDES.map(|side| self.body.on_side(side, "UpperLeg"));
        Some(0.5 * (self.places[left?] + self.places[right?]))
    }

    fn is_far(&self, hips: DVec3, legs: DVec3) -> bool {
        self.leg().is_some_and(|leg| hips.distance(legs) > MAX_FROM_LEGS * leg)
    }

    /// The directions of the hips: left, up and ahead. `None` if they do not follow from the joints.
    ///
    /// Up is towards the neck, unless the base of the spine leads elsewhere: in some zero poses, the spine is bent.
    pub fn directions(&self) -> Option<DMat3> {
        let hips = self.pelvis()?;
        let neck = self.places[self.body.upper_end()?] - hips;
        let offsets = LOWER_ENDS.iter().filter_map(|role| Some(self.places[self.body.joint(role)?] - hips));
        let base = offsets.into_iter().find(|offset| offset.length() > MIN_BASE * neck.length());
        let up = match base {
            Some(base) if base.angle_between(neck) > MAX_BEND => base,
            _ => neck,
        };
        let up = up.try_normalize()?;
        let left = self.across("UpperLeg").or_else(|| self.across("UpperArm"))?;
        frame(left, up)
    }

    /// The directions of the chest, as seen from a joint of the trunk: left, up and ahead. `None` if they do not follow
    /// from the joints.
    pub fn directions_of_chest(&self, joint: usize) -> Option<DMat3> {
        let up = self.offset(joint, self.body.upper_end()?).try_normalize()?;
        frame(self.across("UpperArm").or_else(|| self.across("Shoulder"))?, up)
    }

    /// The directions left, up and ahead of the rigid part to which a joint belongs: of the hips, of the chest for
    /// the joints of trunk, neck and shoulders, of a foot. `None` for other parts, or if they do not follow from the
    /// joints.
    pub fn directions_of_part(&self, side: &str, part: &str, joint: usize) -> Option<DMat3> {
        match part {
            HIPS => {
                let up = (self.places[self.body.upper_end()?] - self.pelvis()?).try_normalize()?;
                frame(self.across("UpperLeg")?, up)
            }
            "spine" | "chest" | "upperChest" => self.directions_of_chest(joint),
            "neck" | "head" | "Shoulder" => self.directions_of_chest(self.body.chest()?),
            "Foot" => {
                let up = self.offset(joint, self.body.on_side(side, "LowerLeg")?).try_normalize()?;
                let ahead = self.offset(joint, self.body.toes(side, joint)?);
                frame(up.cross(ahead), up)
            }
            _ => None,
        }
    }

    /// The joint to which a foot points in a pose at rest: the toes, or their end where they lie straight below the
    /// ankle. In motion, toes may do so at times.
    pub fn toes(&self, side: &str, foot: usize) -> Option<usize> {
        let toes = self.body.toes(side, foot)?;
        let is_below = |lower: usize| {
            let cosine = self.offset(foot, toes).normalize_or_zero().dot(self.offset(lower, foot).normalize_or_zero());
            cosine > BELOW_ANKLE
        };
        let end = self.body.end(toes).filter(|_| self.body.on_side(side, "LowerLeg").is_some_and(is_below));
        Some(end.unwrap_or(toes))
    }

    /// The offset from the right joint of a role to the left one.
    pub fn across(&self, role: &str) -> Option<DVec3> {
        let [left, right] = SIDES.map(|side| self.body.on_side(side, role));
        Some(self.offset(right?, left?))
    }

    /// The length of the legs: upper and lower leg, the mean of both sides.
    pub fn leg(&self) -> Option<f64> {
        self.limb(["UpperLeg", "LowerLeg", "Foot"])
    }

    /// The length of a limb with these three joints, the mean of both sides.
    fn limb(&self, roles: [&str; 3]) -> Option<f64> {
        let length = |side: &str| -> Option<f64> {
            let [upper, lower, end] = roles.map(|role| self.body.on_side(side, role));
            Some(self.offset(upper?, lower?).length() + self.offset(lower?, end?).length())
        };
        let sides: Vec<f64> = SIDES.iter().filter_map(|side| length(side)).collect();
        let sum: f64 = sides.iter().sum();
        (sum > 0.0).then(|| sum / sides.len() as f64)
    }

    /// The length of the arms: upper and lower arm, the mean of both sides.
    fn arm(&self) -> Option<f64> {
        self.limb(["UpperArm", "LowerArm", "Hand"])
    }

    /// The length from the hips to the head, along the joints between.
    pub fn trunk(&self) -> Option<f64> {
        let hips = self.body.joint("hips")?;
        let mut joint = self.body.joint("head").or_else(|| self.body.joint("neck"))?;
        let mut length = 0.0;
        while joint != hips {
            let parent = self.body.parents[joint]?;
            length += self.offset(parent, joint).length();
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
        let hips = self.pelvis()?;
        let legs: DVec3 =
            SIDES.iter().filter_map(|side| Some(hips - self.places[self.body.on_side(side, "Foot")?])).sum();
        match legs.try_normalize() {
            Some(legs) if legs.dot(up) < 0.8 => None,
            _ => Some(up),
        }
    }
}

impl Figure<'_> {
    /// The number of limbs on which the figure stands: 2 if the legs lead away from the upper end of the trunk, 4 if
    /// arms and legs of nearly one length lead to one ground below a level trunk, as they do not in a human who crouches
    /// or crawls. `None` if it is neither, as in many zero poses, or is not
    /// known.
    pub fn standing_limbs(&self) -> Option<usize> {
        // The offset of both limbs of a pair together, unless they point to different sides.
        let pair = |upper: &str, end: &str| {
            let limb = |side: &str| Some(self.offset(self.body.on_side(side, upper)?, self.body.on_side(side, end)?));
            let [left, right] = SIDES.map(limb);
            let (both, length) = (left? + right?, left?.length() + right?.length());
            both.try_normalize().filter(|_| both.length() > MIN_ALIKE * length)
        };
        let legs = pair("UpperLeg", "Foot")?;
        let trunk = (self.places[self.body.upper_end()?] - self.pelvis()?).try_normalize()?;
        if trunk.dot(legs) < -ALONG {
            return Some(2);
        }
        let arms = pair("UpperArm", "Hand")?;
        let depth = |role: &str| -> f64 {
            let ends = SIDES.iter().filter_map(|side| self.body.on_side(side, role));
            ends.map(|joint| self.places[joint].dot(legs)).sum()
        };
        let lift = (depth("Foot") - depth("Hand")).abs() / 2.0;
        let is_level = trunk.dot(legs).abs() < ACROSS;
        let leg = self.leg()?;
        let are_forelegs = self.arm()? > MIN_FORELEG * leg;
        (are_forelegs && is_level && arms.dot(legs) > ALONG && lift < MAX_LIFT * leg).then_some(4)
    }
}

/// A foot of a human, with the leg that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Foot {
    /// The name of its joint; an empty text if the joint has none.
    pub name: String,
    /// `left` or `right`.
    pub side: &'static str,
    /// The hip, the knee and the ankle, as indices into the skeleton.
    pub leg: [usize; 3],
    /// The toes, or the end of the foot where the skeleton has no toes. `None` without either.
    pub toe: Option<usize>,
}

impl Foot {
    /// The joints by which it touches the ground: the ankle for the heel, and the toe.
    pub fn points(&self) -> impl Iterator<Item = usize> + use<> {
        [Some(self.leg[2]), self.toe].into_iter().flatten()
    }

    /// The joint that stays longest on the ground in a step: the toe, or the ankle without one.
    pub fn pivot(&self) -> usize {
        self.toe.unwrap_or(self.leg[2])
    }

    /// The feet of a skeleton of a library, the left one first. Empty unless the hips and both legs down to the feet
    /// are known, by the roles of retargeting, and the legs have a length in the rest pose.
    ///
    /// # Panics
    /// If the skeleton does not exist.
    ///
    /// # Examples
    /// ```
    /// use posse::{demo, quality::Foot};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let feet = Foot::of_skeleton(&library, library.clips()[0].skeleton);
    /// assert_eq!(feet.iter().map(|foot| foot.name.as_str()).collect::<Vec<_>>(), ["foot.L", "foot.R"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_skeleton(library: &Library, skeleton: SkeletonId) -> Vec<Self> {
        Self::of_body(library, skeleton, &Body::new(library.skeleton(skeleton), &are_joints(library, skeleton)))
    }

    pub(crate) fn of_body(library: &Library, skeleton: SkeletonId, body: &Body) -> Vec<Self> {
        if !body.has_legs() {
            return Vec::new();
        }
        let rest = model_matrices(library.skeleton(skeleton), &Values::at_rest(library.skeleton(skeleton)).local);
        if Figure::new(body, &rest).leg().is_none() {
            return Vec::new();
        }
        let joints = library.skeleton(skeleton).joints();
        let foot = |side: &'static str| -> Option<Self> {
            let [hip, knee, ankle] = ["UpperLeg", "LowerLeg", "Foot"].map(|role| body.on_side(side, role));
            let (hip, knee, ankle) = (hip?, knee?, ankle?);
            let toe = body.toes(side, ankle);
            let name = joints[ankle].name.clone().unwrap_or_default();
            Some(Self { name, side, leg: [hip, knee, ankle], toe })
        };
        SIDES.iter().filter_map(|&side| foot(side)).collect()
    }
}

/// The directions left, up and ahead, from one that is about left and one that is up.
fn frame(left: DVec3, up: DVec3) -> Option<DMat3> {
    let left = (left - left.dot(up) * up).try_normalize()?;
    Some(DMat3::from_cols(left, up, left.cross(up)))
}

/// The quotient of two lengths; `None` if one of them is nearly 0.
pub(super) fn ratio(of: f64, to: f64) -> Option<f64> {
    let largest = of.max(to);
    (of > MIN_LENGTH * largest && to > MIN_LENGTH * largest).then(|| of / to)
}
