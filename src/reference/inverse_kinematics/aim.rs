//! Aim: one joint turns a direction of its own to the target.

use glam::{DQuat, DVec3};

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
    /// The turn of the joint, or `None` where nothing is done. Unit vectors whose sum is shorter than `opposite` are opposite.
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
