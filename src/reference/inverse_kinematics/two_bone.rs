//! Two bones: the middle joint bends, then the first joint turns.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::reference::inverse_kinematics::shortest;

/// The distance that the goal keeps from those of a straight and of a folded limb, as a share of the length of both bones.
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
pub struct Turns {
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
    /// Those of the rules.
    pub const RULES: Self = Self { bone: 1e-3, straight: 1e-3, along_pole: 1e-3, across: [1e-3; 2] };
}

impl TwoBone {
    /// The turns, or `None` where nothing is done.
    pub fn turns(&self, thresholds: &Thresholds) -> Option<Turns> {
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
        Some(Turns { bend, swing: twist * swing })
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
