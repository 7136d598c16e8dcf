//! Inverse kinematics: goals turn the joints of a pose. It comes after mixing and transitions, and before stage 7.

use std::f64::consts::PI;

use glam::{DAffine3, DQuat, DVec3};

use crate::model::rotation::{nearest, unit};
use crate::model::{Chain, ChainKind, Goal, Library, ParameterValues, Skeleton, Transform};
use crate::reference::sample::slerp;
use crate::reference::values;

/// The length of the sum of two unit vectors below which they are opposite.
pub const OPPOSITE: f64 = 1e-6;

/// The local transforms of an instance after its goals, which act in order, with the values of its parameters.
pub fn apply(
    library: &Library,
    skeleton: &Skeleton,
    goals: &[Goal],
    values: ParameterValues,
    local: Vec<Transform>,
) -> Vec<Transform> {
    let reach = |local, goal: &Goal| {
        let chain = &library.chains()[goal.chain.index()];
        Posture::new(skeleton, local).reach(chain, goal.target.at(values).into(), goal.weight.at(values))
    };
    goals.iter().fold(local, reach)
}

/// A pose before a goal.
#[derive(Debug, Clone)]
pub struct Posture<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// Local transforms. Their rotations have unit length.
    pub local: Vec<Transform>,
    /// Model matrices.
    pub model: Vec<DAffine3>,
    /// Model rotations: the products of the local rotations from the root down.
    pub rotations: Vec<DQuat>,
}

impl<'a> Posture<'a> {
    /// The pose of some local transforms.
    pub fn new(skeleton: &'a Skeleton, local: Vec<Transform>) -> Self {
        let model = values::model_matrices(skeleton, &local);
        let mut rotations: Vec<DQuat> = Vec::with_capacity(local.len());
        for (joint, transform) in skeleton.joints().iter().zip(&local) {
            let own = joint.matrix.map_or(transform.rotation, |matrix| nearest(matrix.matrix3));
            rotations.push(joint.parent.map_or(own, |parent| rotations[parent] * own));
        }
        Self { skeleton, local, model, rotations }
    }

    /// The local transforms after a goal for a chain, with a target in model space and a weight.
    pub fn reach(self, chain: &Chain, target: DVec3, weight: f64) -> Vec<Transform> {
        if weight == 0.0 {
            return self.local;
        }
        match chain.kind {
            ChainKind::TwoBone { joints, pole, hold } => {
                let Some(turns) = self.two_bone(joints, pole, target).turns(&Thresholds::RULES) else {
                    return self.local;
                };
                self.bend(joints, turns, weight, hold)
            }
            ChainKind::Aim { joint, forward, limit } => {
                let mut local = self.local.clone();
                if let Some(turn) = self.aim(joint, forward, target, [limit, weight]).turn(OPPOSITE) {
                    local[joint].rotation = self.turned(joint, turn);
                }
                local
            }
        }
    }

    /// The two bones of a chain, with a target.
    pub fn two_bone(&self, joints: [usize; 3], pole: Option<[f64; 3]>, target: DVec3) -> TwoBone {
        let [a, b, c] = joints.map(|joint| self.model[joint].translation);
        TwoBone { upper: b - a, lower: c - b, goal: target - a, pole: pole.map(DVec3::from) }
    }

    /// The direction of a joint, with a target, a limit and a weight.
    pub fn aim(&self, joint: usize, forward: [f64; 3], target: DVec3, limit_and_weight: [f64; 2]) -> Aim {
        let [limit, weight] = limit_and_weight;
        let forward = self.rotations[joint] * DVec3::from(forward);
        Aim { forward, target: target - self.model[joint].translation, limit, weight }
    }

    /// The local transforms after the first two joints of a chain have turned. If they hold it, the third keeps its
    /// model rotation.
    fn bend(&self, joints: [usize; 3], turns: TwoBoneRotations, weight: f64, hold: bool) -> Vec<Transform> {
        let [first, second, third] = joints;
        let mut local = self.local.clone();
        // The turn of the first joint takes the parent of the second along, so that it does not change the second's
        // local rotation.
        for (joint, turn) in [(first, turns.swing), (second, turns.bend)] {
            let (before, solved) = (self.local[joint].rotation, self.turned(joint, turn));
            local[joint].rotation = normalised(slerp(before, solved, weight));
        }
        if hold {
            let above = Self::new(self.skeleton, local.clone()).parent_rotation(third);
            local[third].rotation = normalised(above.conjugate() * self.rotations[third]);
        }
        local
    }

    /// The local rotation of a joint after a turn in model space.
    fn turned(&self, joint: usize, turn: DQuat) -> DQuat {
        let above = self.parent_rotation(joint);
        normalised(above.conjugate() * turn * above * self.local[joint].rotation)
    }

    /// The model rotation of a joint's parent; the identity for a root.
    pub fn parent_rotation(&self, joint: usize) -> DQuat {
        self.skeleton.joints()[joint].parent.map_or(DQuat::IDENTITY, |parent| self.rotations[parent])
    }
}

/// The shortest rotation from one unit vector to another; `None` if they are opposite.
fn shortest(from: DVec3, to: DVec3) -> Option<DQuat> {
    let sum = from + to;
    let middle = sum.normalize_or_zero();
    let axis = from.cross(middle);
    (sum.length() >= OPPOSITE).then(|| DQuat::from_xyzw(axis.x, axis.y, axis.z, from.dot(middle)).normalize())
}

fn normalised(rotation: DQuat) -> DQuat {
    unit(rotation).unwrap_or(rotation)
}

/// A direction of a joint and a target, relative to the joint, in model space.
#[derive(Debug, Clone, Copy)]
pub struct Aim {
    /// The direction.
    pub forward: DVec3,
    /// From the joint to the target.
    pub target: DVec3,
    /// The largest turn in radians.
    pub limit: f64,
    /// The share of the turn.
    pub weight: f64,
}

impl Aim {
    /// The turn of the joint, or `None` where nothing is done. Unit vectors whose sum is shorter than `opposite` are
    /// opposite.
    pub fn turn(&self, opposite: f64) -> Option<DQuat> {
        let (from, to) = (self.forward.try_normalize()?, self.target.try_normalize()?);
        if (from + to).length() < opposite {
            return None;
        }
        let axis = from.cross(to);
        let angle = axis.length().atan2(from.dot(to)).min(self.limit) * self.weight;
        Some(axis.try_normalize().map_or(DQuat::IDENTITY, |axis| DQuat::from_axis_angle(axis, angle)))
    }
}

/// The distance that the goal keeps from the reach of a straight and of a folded limb, as a share of the length of both
/// bones.
const MARGIN: f64 = 1e-4;

/// Two bones, a goal and a pole, relative to the first joint, in model space.
#[derive(Debug, Clone, Copy)]
pub struct TwoBone {
    /// From the first joint to the second.
    pub upper: DVec3,
    /// From the second joint to the third.
    pub lower: DVec3,
    /// From the first joint to the target.
    pub goal: DVec3,
    /// The direction to which the second joint points.
    pub pole: Option<DVec3>,
}

/// The turns that bring the third joint to the goal, in model space.
#[derive(Debug, Clone, Copy)]
pub struct TwoBoneRotations {
    /// The turn of the second joint, and of all below it. It comes first.
    pub bend: DQuat,
    /// The turn of the first joint, and of all below it.
    pub swing: DQuat,
}

/// The lengths, as shares, below which vectors have no direction.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds {
    /// Of a bone, as a share of both.
    pub bone: f64,
    /// Of the cross product of the bones, as a share of the product of their lengths.
    pub straight: f64,
    /// Of the cross product of the first bone and the pole, likewise.
    pub along_pole: f64,
    /// Of the parts of the first bone and of the pole across the goal, as shares of both.
    pub across: [f64; 2],
}

impl Thresholds {
    /// The rotations of the rules.
    pub const RULES: Self = Self { bone: 1e-3, straight: 1e-3, along_pole: 1e-3, across: [1e-3; 2] };
}

impl TwoBone {
    /// The turns, or `None` where nothing is done.
    pub fn turns(&self, thresholds: &Thresholds) -> Option<TwoBoneRotations> {
        let Self { upper, lower, goal, pole } = *self;
        let (p, q) = (upper.length(), lower.length());
        if p + q == 0.0 || p.min(q) < thresholds.bone * (p + q) || goal == DVec3::ZERO {
            return None;
        }
        let normal = self.normal(thresholds)?;
        let reach = goal.length().min((1.0 - MARGIN) * (p + q)).max((p - q).abs() + MARGIN * (p + q));
        let bent = PI - ((p * p + q * q - reach * reach) / (2.0 * p * q)).clamp(-1.0, 1.0).acos();
        let bend = DQuat::from_axis_angle(normal, bent - angle_about(normal, upper, lower));

        let (from, to) = ((upper + bend * lower).normalize(), goal.normalize());
        let half_turn = DQuat::from_vec4(normal.extend(0.0));
        let swing = shortest(from, to).unwrap_or(half_turn);
        let twist = pole.and_then(|pole| pole_turn(swing * upper, pole, to, thresholds)).unwrap_or(DQuat::IDENTITY);
        Some(TwoBoneRotations { bend, swing: twist * swing })
    }

    /// The normal of the plane in which the limb bends.
    fn normal(&self, thresholds: &Thresholds) -> Option<DVec3> {
        let cross = self.upper.cross(self.lower);
        if cross.length() >= thresholds.straight * self.upper.length() * self.lower.length() {
            return cross.try_normalize();
        }
        let pole = self.pole?;
        let cross = self.upper.cross(pole);
        let is_along = cross.length() < thresholds.along_pole * self.upper.length() * pole.length();
        if is_along { None } else { cross.try_normalize() }
    }
}

/// The turn about the direction of the goal that brings the first bone to the side of the pole.
fn pole_turn(upper: DVec3, pole: DVec3, axis: DVec3, thresholds: &Thresholds) -> Option<DQuat> {
    let [from, to] = [upper, pole].map(|vector| vector.reject_from_normalized(axis));
    let [from_least, to_least] = thresholds.across;
    if from.length() < from_least * upper.length() || to.length() < to_least * pole.length() || to == DVec3::ZERO {
        return None;
    }
    Some(DQuat::from_axis_angle(axis, angle_about(axis, from, to)))
}

/// The angle from one vector to another about an axis that is at right angles to the first.
fn angle_about(axis: DVec3, from: DVec3, to: DVec3) -> f64 {
    axis.dot(from.cross(to)).atan2(from.dot(to))
}
