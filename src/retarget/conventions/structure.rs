//! Roles of joints by the shape of a human, for skeletons whose names say too little.
//!
//! A human has two pairs of long limbs. The limbs of a pair leave one joint and are mirrored: their segments have equal
//! lengths, or nearly equal ones if their names differ in left and right alone: the sides of a person are measured
//! apart. The legs leave the lower trunk and the arms the upper one. Nothing here depends on the axes of the world or
//! on a pose: in many files all bones lie along +X at zero.
//!
//! 1. A *limb* is the longest path down from a child of a joint, without twist joints and without steps of no length.
//!    Its two longest consecutive segments are the upper and the lower one; what comes before is a shoulder, what
//!    follows is hand or foot.
//! 2. The two pairs of limbs with the longest segments are legs and arms. If a third pair is nearly as long as the
//!    arms, as in a coat, the shape is not clear.
//! 3. The hips are the joint above both pairs. The pair that leaves a joint above the joint of the other pair is the
//!    legs; if neither does, the longer pair.
//! 4. The trunk is the path from the hips to the joint of the arms. Neck and head are the longest path that leaves that
//!    joint besides the arms.
//! 5. Left and right follow from roles that are known, or else from words in names, or else from the front, which is
//!    where the toes point. A pair follows from the other one. Without any of these, there are no roles.

use glam::DVec3;

use crate::model::Skeleton;
use crate::reference::values::{Values, model_matrices};
use crate::retarget::conventions::human::{ARM, HIPS, LEG, Numbering, TRUNK, normalized, trunk_role};
use crate::retarget::sides::{SidedName, side_of_name, words};

/// The most joints of a skeleton whose shape is looked at.
const MAX_JOINTS: usize = 4096;

/// The largest difference of two mirrored segments, as a share of the longer one.
const MIRROR_TOLERANCE: f64 = 0.05;

/// The same where the names of the two limbs differ in their words for left and right alone.
const NAMED_MIRROR_TOLERANCE: f64 = 0.2;

/// The largest difference of two mirrored segments, as a share of the two long segments of the limb.
const MIRROR_NOISE: f64 = 0.01;

/// The least ratio of the lengths of upper and lower segment.
const MIN_RATIO: f64 = 0.5;

/// The length of a step that counts as none, as a share of the path to the end of the limb.
const NO_STEP: f64 = 1e-3;

/// The most segments before the upper one of a limb, as of shoulders.
const MAX_BEFORE: usize = 3;

/// The children of a joint, the longest first, that are looked at.
const MAX_CHILDREN: usize = 8;

/// The length of a third pair of limbs, as a share of the arms, from which the shape is not clear.
const UNCLEAR_LIMB: f64 = 0.6;

/// The least length of the arms, as a share of the legs.
const MIN_ARMS: f64 = 0.3;

/// The most joints from the neck to the head.
const MAX_NECK: usize = 4;

/// The words in the names of ends.
const ENDS: [&str; 4] = ["end", "nub", "site", "tip"];

/// The least cosine of the angle between two directions that are said to be alike.
const CLEAR_COSINE: f64 = 0.5;

/// The least part of the feet that points ahead, as a share of their lengths.
const CLEAR_FRONT: f64 = 0.3;

/// The roles that the shape of a skeleton adds to the known ones, by joints. None if the shape is not clear or
/// contradicts the known roles.
pub(super) fn roles(skeleton: &Skeleton, is_joint: &[bool], known: &[Option<String>]) -> Vec<(usize, String)> {
    if is_joint.len() > MAX_JOINTS {
        return Vec::new();
    }
    let shape = JointTree::new(skeleton, is_joint);
    let Some(found) = shape.body().and_then(|body| body.roles(&shape, known)) else { return Vec::new() };
    let holder = |role: &str| known.iter().position(|known| known.as_deref() == Some(role));
    let is_limb = |role: &str| role.starts_with("left") || role.starts_with("right");
    let contradicts = |(joint, role): &(usize, String)| {
        let by_joint = known[*joint].as_ref().is_some_and(|other| other != role);
        is_limb(role) && (by_joint || holder(role).is_some_and(|other| other != *joint))
    };
    if found.iter().any(contradicts) {
        return Vec::new();
    }
    let has_trunk = TRUNK.iter().any(|role| holder(role).is_some());
    let is_new = |(joint, role): &(usize, String)| {
        known[*joint].is_none() && holder(role).is_none() && !(has_trunk && TRUNK.contains(&role.as_str()))
    };
    found.into_iter().filter(is_new).collect()
}

/// The tree of the joints of a skeleton with its lengths.
struct JointTree<'a> {
    skeleton: &'a Skeleton,
    numbering: Numbering,
    parents: Vec<Option<usize>>,
    /// The children of each joint, those with the longest paths first.
    children: Vec<Vec<usize>>,
    places: Vec<DVec3>,
    /// The longest path from each joint down to an end.
    reach: Vec<f64>,
}

/// The path down from a child of a joint, and its two long segments.
#[derive(Clone)]
struct LimbPath {
    /// The child.
    root: usize,
    /// The joints of the path but for joints that it steps over.
    joints: Vec<usize>,
    /// The index of the joint of the upper segment.
    upper: usize,
}

/// Two mirrored limbs.
#[derive(Clone)]
struct LimbPair {
    /// The joint that they leave.
    parent: usize,
    limbs: [LimbPath; 2],
    /// The length of the two long segments.
    length: f64,
}

/// The parts of a human.
struct HumanParts {
    hips: usize,
    legs: LimbPair,
    arms: LimbPair,
}

impl<'a> JointTree<'a> {
    fn new(skeleton: &'a Skeleton, is_joint: &[bool]) -> Self {
        let count = is_joint.len();
        let places = model_matrices(skeleton, &Values::at_rest(skeleton).local);
        let places: Vec<DVec3> = places.into_iter().map(|matrix| matrix.translation).collect();
        let parent = |joint: usize| skeleton.joints()[joint].parent.filter(|&above| is_joint[joint] && is_joint[above]);
        let parents: Vec<Option<usize>> = (0..count).map(parent).collect();
        let (mut reach, mut children) = (vec![0.0_f64; count], vec![Vec::new(); count]);
        for joint in (0..count).rev() {
            if let Some(parent) = parents[joint] {
                reach[parent] = reach[parent].max(reach[joint] + places[joint].distance(places[parent]));
                children[parent].push(joint);
            }
        }
        let mut shape =
            Self { skeleton, numbering: Numbering::of(skeleton), parents, children: Vec::new(), places, reach };
        for children in &mut children {
            children.sort_by(|&one, &other| {
                let paths = [one, other].map(|child| shape.reach[child] + shape.step(child));
                paths[1].total_cmp(&paths[0]).then(one.cmp(&other))
            });
        }
        shape.children = children;
        shape
    }

    /// The distance of a joint from its parent.
    fn step(&self, joint: usize) -> f64 {
        self.parents[joint].map_or(0.0, |parent| self.places[joint].distance(self.places[parent]))
    }

    fn name(&self, joint: usize) -> &str {
        self.skeleton.joints()[joint].name.as_deref().map_or("", |name| self.numbering.plain(name))
    }

    /// True for the end of a chain that rotates nothing, as an End Site of a BVH file. Exporters write the ends of
    /// their rigs as joints, which have an end of their own in the same place: `head_end_jnt` above a head.
    fn is_end(&self, joint: usize) -> bool {
        match self.children[joint].as_slice() {
            [] => {
                let name = normalized(self.name(joint));
                ENDS.iter().any(|word| name.ends_with(word))
            }
            &[only] => {
                self.children[only].is_empty()
                    && self.step(only) <= NO_STEP * self.step(joint)
                    && words(self.name(joint)).iter().any(|word| ENDS.contains(&word.as_str()))
            }
            _ => false,
        }
    }

    fn is_twist(&self, joint: usize) -> bool {
        let name = normalized(self.name(joint));
        name.contains("twist") || name.contains("roll")
    }

    /// Returns `true` if a joint is another one or below it.
    fn is_within(&self, joint: usize, other: usize) -> bool {
        std::iter::successors(Some(joint), |&joint| self.parents[joint]).any(|above| above == other)
    }

    /// The path down from a child of a joint, with its two long segments.
    fn chain(&self, parent: usize, child: usize) -> Option<LimbPath> {
        let least = NO_STEP * (self.reach[child] + self.step(child));
        let mut joints: Vec<usize> = Vec::new();
        let mut next = Some(child);
        // A shoulder, two segments, and what follows.
        while let Some(joint) = next.filter(|_| joints.len() < MAX_BEFORE + 6) {
            let from = joints.last().copied().unwrap_or(parent);
            if !self.is_twist(joint) {
                // Of joints in one place the last has the rotations of all. A joint in the place of the parent can be a
                // limb's first.
                if self.places[joint].distance(self.places[from]) <= least {
                    joints.pop();
                }
                joints.push(joint);
            }
            next = self.children[joint].first().copied();
        }
        let lengths: Vec<f64> = joints.windows(2).map(|pair| self.distance(pair[0], pair[1])).collect();
        let sum = |index: usize| lengths[index] + lengths[index + 1];
        let is_even = |&index: &usize| {
            let (one, other) = (lengths[index], lengths[index + 1]);
            one.min(other) >= MIN_RATIO * one.max(other) && sum(index) > 0.0
        };
        let starts = 0..lengths.len().saturating_sub(1).min(MAX_BEFORE);
        let upper =
            starts.filter(is_even).max_by(|&one, &other| sum(one).total_cmp(&sum(other)).then(other.cmp(&one)))?;
        Some(LimbPath { root: child, joints, upper })
    }

    fn distance(&self, one: usize, other: usize) -> f64 {
        self.places[one].distance(self.places[other])
    }

    /// The length of the two long segments of a limb.
    fn length(&self, chain: &LimbPath) -> f64 {
        let [upper, lower, end] = [0, 1, 2].map(|index| chain.joints[chain.upper + index]);
        self.distance(upper, lower) + self.distance(lower, end)
    }

    /// All pairs of mirrored limbs.
    fn pairs(&self) -> Vec<LimbPair> {
        let mut pairs = Vec::new();
        for parent in 0..self.parents.len() {
            let children = &self.children[parent];
            if children.len() < 2 {
                continue;
            }
            let chains = children.iter().take(MAX_CHILDREN).filter_map(|&child| self.chain(parent, child));
            let chains: Vec<LimbPath> = chains.collect();
            for (index, one) in chains.iter().enumerate() {
                for other in &chains[index + 1..] {
                    if self.are_mirrored(parent, one, other) {
                        let length = self.length(one).max(self.length(other));
                        pairs.push(LimbPair { parent, limbs: [one.clone(), other.clone()], length });
                    }
                }
            }
        }
        pairs.sort_by(|one, other| other.length.total_cmp(&one.length));
        pairs
    }

    /// Returns `true` if the names of two joints differ in their words for left and right alone.
    fn are_counterparts(&self, one: usize, other: usize) -> bool {
        match [one, other].map(|joint| SidedName::new(self.name(joint))) {
            [Some(one), Some(other)] => one.is_left != other.is_left && one.rest == other.rest,
            _ => false,
        }
    }

    /// Returns `true` if two limbs begin in different places and have equal segments up to their ends.
    fn are_mirrored(&self, parent: usize, one: &LimbPath, other: &LimbPath) -> bool {
        let noise = MIRROR_NOISE * self.length(one).max(self.length(other));
        let lengths = |chain: &LimbPath| -> Vec<f64> {
            let joints = std::iter::once(&parent).chain(&chain.joints[..chain.upper + 3]);
            let joints: Vec<usize> = joints.copied().collect();
            joints.windows(2).map(|pair| self.distance(pair[0], pair[1])).collect()
        };
        let mut pairs = one.joints.iter().zip(&other.joints).take(one.upper + 3);
        let are_named = pairs.all(|(&one, &other)| self.are_counterparts(one, other));
        let tolerance = if are_named { NAMED_MIRROR_TOLERANCE } else { MIRROR_TOLERANCE };
        let are_equal = |(a, b): (f64, f64)| (a - b).abs() <= (tolerance * a.max(b)).max(noise);
        one.upper == other.upper
            && self.distance(one.upper(), other.upper()) > noise
            && lengths(one).into_iter().zip(lengths(other)).all(are_equal)
    }

    /// Legs and arms, if the shape is clear.
    fn body(&self) -> Option<HumanParts> {
        let pairs = self.pairs();
        let is_inside =
            |pair: &LimbPair, other: &LimbPair| other.limbs.iter().any(|limb| self.is_within(pair.parent, limb.root));
        let are_apart = |one: &LimbPair, other: &LimbPair| {
            one.parent != other.parent && !is_inside(one, other) && !is_inside(other, one)
        };
        let (first_index, first) = (0, pairs.first()?);
        let second_index = pairs.iter().position(|pair| are_apart(first, pair))?;
        let second = &pairs[second_index];
        let is_rival = |(index, pair): (usize, &LimbPair)| {
            ![first_index, second_index].contains(&index)
                && pair.length > UNCLEAR_LIMB * second.length
                && !is_inside(pair, first)
                && !is_inside(pair, second)
        };
        if pairs.iter().enumerate().any(is_rival) || second.length < MIN_ARMS * first.length {
            return None;
        }
        let hips = std::iter::successors(Some(first.parent), |&joint| self.parents[joint])
            .find(|&above| self.is_within(second.parent, above))?;
        // The longer pair is the legs, unless it leaves a joint below the joint of the other pair.
        let (legs, arms) =
            if hips == second.parent && hips != first.parent { (second, first) } else { (first, second) };
        (arms.parent != hips).then(|| HumanParts { hips, legs: legs.clone(), arms: arms.clone() })
    }
}

impl LimbPath {
    /// The joint of the upper segment.
    fn upper(&self) -> usize {
        self.joints[self.upper]
    }

    /// A joint counted from the joint of the upper segment.
    fn after_upper(&self, index: usize) -> Option<usize> {
        self.joints.get(self.upper + index).copied()
    }
}

impl LimbPair {
    /// The direction from the second limb to the first one.
    fn across(&self, shape: &JointTree) -> DVec3 {
        let [one, other] = [0, 1].map(|index| shape.places[self.limbs[index].upper()]);
        one - other
    }

    /// Returns `true` if the first limb is the left one, false if it is the right one, by what is known of each joint:
    /// 1 for left, -1 for right.
    fn is_first_left(&self, side: impl Fn(usize) -> i32) -> Option<bool> {
        let [one, other] = [0, 1].map(|index| self.limbs[index].joints.iter().map(|&joint| side(joint)).sum::<i32>());
        (one.signum() * other.signum() < 0).then_some(one > 0)
    }
}

impl HumanParts {
    fn roles(&self, shape: &JointTree, known: &[Option<String>]) -> Option<Vec<(usize, String)>> {
        let mut roles = vec![(self.hips, HIPS.to_owned())];
        for (pair, is_first_left) in [&self.legs, &self.arms].into_iter().zip(self.sides(shape, known)?) {
            for (limb, is_left) in pair.limbs.iter().zip([is_first_left, !is_first_left]) {
                let is_leg = std::ptr::eq(pair, &self.legs);
                let joints: [Option<usize>; 4] = match is_leg {
                    true => [0, 1, 2, 3].map(|index| limb.after_upper(index)),
                    false => {
                        let shoulder = limb.upper.checked_sub(1).map(|index| limb.joints[index]);
                        let [upper, lower, hand] = [0, 1, 2].map(|index| limb.after_upper(index));
                        [shoulder, upper, lower, hand]
                    }
                };
                let side = if is_left { "left" } else { "right" };
                for (joint, part) in joints.into_iter().zip(if is_leg { LEG } else { ARM }) {
                    if let Some(joint) = joint.filter(|&joint| !shape.is_end(joint)) {
                        roles.push((joint, format!("{side}{part}")));
                    }
                }
            }
        }
        let above = std::iter::successors(Some(self.arms.parent), |&joint| shape.parents[joint]);
        let mut trunk: Vec<usize> =
            above.take_while(|&joint| joint != self.hips).filter(|&joint| !shape.is_twist(joint)).collect();
        trunk.reverse();
        let count = trunk.len();
        roles.extend(
            trunk
                .into_iter()
                .enumerate()
                .filter_map(|(index, joint)| trunk_role(index, count).map(|role| (joint, role.to_owned()))),
        );
        match self.neck(shape).as_slice() {
            [] => {}
            [head] => roles.push((*head, "head".into())),
            [neck, .., head] => roles.extend([(*neck, "neck".into()), (*head, "head".into())]),
        }
        Some(roles)
    }

    /// The joints from the neck to the head.
    fn neck(&self, shape: &JointTree) -> Vec<usize> {
        let is_arm = |joint: usize| self.arms.limbs.iter().any(|limb| limb.root == joint);
        let mut others = shape.children[self.arms.parent].iter().copied();
        let first = others.find(|&joint| !is_arm(joint) && !shape.is_end(joint) && !shape.is_twist(joint));
        let next = |&joint: &usize| match shape.children[joint].as_slice() {
            &[only] if !shape.is_end(only) => Some(only),
            _ => None,
        };
        let mut joints: Vec<usize> = std::iter::successors(first, next).take(MAX_NECK + 1).collect();
        if joints.len() > MAX_NECK {
            // The single chain goes on above the head, as hair does.
            joints.truncate(2);
        }
        joints
    }

    /// Whether the first limb of the legs and the first limb of the arms are the left ones.
    fn sides(&self, shape: &JointTree, known: &[Option<String>]) -> Option<[bool; 2]> {
        let by_role = |joint: usize| known[joint].as_deref().map_or(0, side_of_role);
        let by_name = |joint: usize| side_of_name(shape.name(joint));
        let side = |pair: &LimbPair| pair.is_first_left(by_role).or_else(|| pair.is_first_left(by_name));
        let (legs, arms) = (side(&self.legs), side(&self.arms));
        let (legs_across, arms_across) = (self.legs.across(shape), self.arms.across(shape));
        let is_alike = || cosine(legs_across, arms_across).map(|cosine| cosine > 0.0);
        let by_front = || cosine(legs_across, self.left(shape)?).map(|cosine| cosine > 0.0);
        let follow = |known: bool| is_alike().map(|is_alike| known == is_alike);
        match (legs, arms) {
            (Some(legs), Some(arms)) => Some([legs, arms]),
            (Some(legs), None) => Some([legs, follow(legs)?]),
            (None, Some(arms)) => Some([follow(arms)?, arms]),
            (None, None) => {
                let legs = by_front()?;
                Some([legs, follow(legs)?])
            }
        }
    }

    /// The direction to the left of a figure that stands on its feet: from up, and from the front, where the toes
    /// point.
    fn left(&self, shape: &JointTree) -> Option<DVec3> {
        let limbs = &self.legs.limbs;
        let middle = 0.5 * (shape.places[limbs[0].upper()] + shape.places[limbs[1].upper()]);
        let up = (shape.places[self.arms.parent] - middle).try_normalize()?;
        let (mut front, mut size) = (DVec3::ZERO, 0.0);
        for limb in limbs {
            let [upper, foot, toes] = [0, 2, 3].map(|index| limb.after_upper(index).map(|joint| shape.places[joint]));
            let (down, ahead) = (foot? - upper?, toes? - foot?);
            if cosine(down, -up)? < 0.0 {
                return None;
            }
            front += ahead.reject_from_normalized(up);
            size += ahead.length();
        }
        (front.length() > CLEAR_FRONT * size).then(|| up.cross(front))
    }
}

/// The cosine of the angle between two directions, if it is clear on which side of a right angle it is.
fn cosine(one: DVec3, other: DVec3) -> Option<f64> {
    let cosine = one.try_normalize()?.dot(other.try_normalize()?);
    (cosine.abs() >= CLEAR_COSINE).then_some(cosine)
}

/// 1 for a role on the left, -1 for one on the right, else 0.
fn side_of_role(role: &str) -> i32 {
    i32::from(role.starts_with("left")) - i32::from(role.starts_with("right"))
}
