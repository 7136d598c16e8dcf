//! Bounds of the local rotations of an instance after its goals.
//!
//! An engine computes the turns of a goal from vectors between joints and from model rotations. Their bounds follow from the local
//! bounds before the goal. The exact solve, repeated with each number of the vectors displaced by its bound, shows the effect on the
//! turns. The sum of all effects is the bound of a turn, to first order. This holds while the displacements are small against the
//! vectors; otherwise any rotation is within the bound. So the bounds are wide where the rules are ill-conditioned:
//!
//! * The plane of a limb has the error of its bones over the sine of the angle between them, at least 1e-3.
//! * The angle of the bend has the error of the goal over the sine of the angle, bounded by the margin of 1e-4 in the rules.
//! * The direction of a folded limb has the error of its bones over the distance of its ends.
//! * The turn by a pole has the error of the first bone over the part of it that is across the goal, at least 1e-3.
//! * The shortest rotation between nearly opposite directions has their error over half the length of their sum.
//!
//! Near a threshold of the rules, the answers on both sides are right. The solve is repeated with each threshold moved either way by
//! the bound of the number that is compared with it, and the difference is added.

mod aim;
mod two_bone;

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contract::angle;
use crate::contract::bounds::{Local, Magnitudes};
use crate::contract::decay;
use crate::contract::sizes::NARROW;
use crate::contract::space::Space;
use crate::model::{ChainKind, ParameterValues, Pose, Ticks};
use crate::reference::instance::Instance;
use crate::reference::inverse_kinematics::Posture;

/// The rounding of an engine's vectors and lengths, relative to the vectors: eight times that of an `f32`.
const ROUNDING: f64 = 1.0 / (1 << 21) as f64;
/// The largest relative error of a vector whose effects are in proportion to it.
const MOST: f64 = 0.1;

/// The bounds of the local transforms, weights and properties of one instance at a tick, after its goals.
pub fn bounds(instance: &Instance, now: Ticks, magnitudes: &mut Magnitudes) -> Local {
    let mut local = decay::bounds(instance, now, magnitudes);
    if instance.goals.is_empty() {
        return local;
    }
    let parameters = ParameterValues::new(instance.parameters, now);
    let mut transforms = instance.values(now).local;
    for goal in instance.goals {
        let chain = &instance.library.chains()[goal.chain.index()];
        let (target, weight) = (DVec3::from(goal.target.at(parameters)), goal.weight.at(parameters));
        let posture = Posture::new(instance.skeleton(), transforms);
        if weight > 0.0 {
            local.rotation = widened(&posture, &local, &chain.kind, target, weight);
        }
        transforms = posture.reach(chain, target, weight);
    }
    local
}

/// The bounds of the local rotations after a goal.
fn widened(posture: &Posture, local: &Local, chain: &ChainKind, target: DVec3, weight: f64) -> Vec<f64> {
    let pose = Pose { local: posture.local.clone(), model: posture.model.clone(), ..Pose::default() };
    let space = Space::new(posture.skeleton, &pose, local);
    let old = &local.rotation;
    let mut new = old.clone();
    match *chain {
        ChainKind::TwoBone { joints, pole, hold } => {
            let limb = two_bone::Limb::new(posture, &space, joints, pole, target);
            let Some([swing, bend]) = limb.turns() else { return new };
            let [first, second, third] = joints;
            for (joint, turn) in [(first, swing), (second, bend)] {
                new[joint] = turn.local(old[joint], space.parent_rotation(joint), weight);
            }
            if hold {
                // The rotations above the chain are the same before and after, so that their errors cancel.
                let above = posture.skeleton.ancestors(third).take_while(|&joint| joint != first);
                let changed: f64 =
                    std::iter::once(third).chain(above).chain([first]).map(|joint| old[joint] + new[joint]).sum();
                // The local rotation of the third joint itself counts once.
                new[third] = (changed - new[third] + NARROW).min(PI);
            }
        }
        ChainKind::Aim { joint, forward, limit } => {
            let aim = posture.aim(joint, forward, target, [limit, weight]);
            let rotation = old[joint] + space.parent_rotation(joint);
            let position = space.allowed(joint, DVec3::ZERO, posture.model[joint].translation.length());
            if let Some(turn) = aim::turn(&aim, rotation, position + ROUNDING * target.length()) {
                // The turn has its share already.
                new[joint] = turn.local(old[joint], space.parent_rotation(joint), 1.0);
            }
        }
    }
    new
}

/// A turn of a joint in model space, with its bound in radians.
#[derive(Debug, Clone, Copy)]
struct Turn {
    turn: DQuat,
    bound: f64,
}

impl Turn {
    /// The bound of the local rotation of a joint after a share of the turn, from the bounds of the rotation and of the parent's model
    /// rotation.
    ///
    /// In the parent's space, the turn has an axis that is tilted by the error of the parent. On the sphere of quaternions, a share of a
    /// turn has `sin(weight angle / 2) / sin(angle / 2)` of the error of the turn, and at least the share of it.
    fn local(&self, old: f64, parent: f64, weight: f64) -> f64 {
        let whole = angle(DQuat::IDENTITY, self.turn);
        let half = whole / 2.0;
        let error = self.bound + 2.0 * parent * half.sin() + NARROW;
        let share = if half > 1e-6 { (weight * half).sin() / half.sin() } else { weight };
        // Near half a turn, the shorter way is the one around the other side.
        let around = if whole + error > PI { 2.0 * PI * weight.min(1.0 - weight) } else { 0.0 };
        (old + share * error + around + NARROW + ROUNDING * whole).min(PI)
    }
}

/// A vector displaced by a length in both directions of each axis.
fn displaced(vector: DVec3, length: f64) -> [[DVec3; 2]; 3] {
    DVec3::AXES.map(|axis| [vector + length * axis, vector - length * axis])
}
