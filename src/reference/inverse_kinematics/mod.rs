//! Inverse kinematics: goals turn the joints of a pose. It comes after mixing and transitions, and before stage 7.

mod aim;
mod two_bone;

use glam::{DAffine3, DQuat, DVec3};

pub use self::aim::Aim;
pub use self::two_bone::{Thresholds, Turns, TwoBone};

use crate::model::rotation::{nearest, unit};
use crate::model::{Chain, ChainKind, Goal, Library, ParameterValues, Skeleton, Transform};
use crate::reference::hierarchy;
use crate::reference::sample::slerp;

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
        let model = hierarchy::model(skeleton, &local);
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

    /// The local transforms after the first two joints of a chain have turned. If they hold it, the third keeps its model rotation.
    fn bend(&self, joints: [usize; 3], turns: Turns, weight: f64, hold: bool) -> Vec<Transform> {
        let [first, second, third] = joints;
        let mut local = self.local.clone();
        // The turn of the first joint takes the parent of the second along, so that it does not change the second's local rotation.
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
