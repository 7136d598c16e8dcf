//! Rotations in model space, and the angular velocity between two of them, in scalar `f64`.
//!
//! All operations are rounded correctly by every machine, so that the results have the same bits everywhere. Functions of the
//! system, such as `atan2`, may differ in the last bit.

use glam::{DQuat, DVec3};

use crate::model::Skeleton;

/// The joints whose rotations lead to those of some joints: these joints and their ancestors, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chain {
    links: Vec<Link>,
    /// For each of the joints its index among the links.
    ends: Vec<usize>,
}

/// A joint of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    joint: usize,
    /// The index of the parent among the links.
    parent: Option<usize>,
}

impl Chain {
    /// The chain that leads to these joints of a skeleton.
    pub fn new(skeleton: &Skeleton, joints: &[usize]) -> Self {
        let mut needed = vec![false; skeleton.joints().len()];
        for &joint in joints {
            let mut next = Some(joint);
            while let Some(joint) = next.filter(|&joint| !needed[joint]) {
                needed[joint] = true;
                next = skeleton.joints()[joint].parent;
            }
        }
        let mut links = Vec::new();
        let mut index = vec![None; needed.len()];
        for (joint, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
            index[joint] = Some(links.len());
            links.push(Link { joint, parent: skeleton.joints()[joint].parent.and_then(|parent| index[parent]) });
        }
        Self { ends: joints.iter().filter_map(|&joint| index[joint]).collect(), links }
    }

    /// The number of rotations per pose.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// For each of the joints the index of its rotation.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Writes the products of the local rotations from the root to each joint of the chain. They are not normalised.
    pub fn multiply(&self, local: impl Fn(usize) -> DQuat, to: &mut [DQuat]) {
        for (index, link) in self.links.iter().enumerate() {
            let own = local(link.joint);
            to[index] = link.parent.map_or(own, |parent| to[parent] * own);
        }
    }
}

/// Coefficients of `atan(t) / t` as a series in `t^2`.
const ARCTANGENT: [f64; 12] = [
    1.0,
    -1.0 / 3.0,
    1.0 / 5.0,
    -1.0 / 7.0,
    1.0 / 9.0,
    -1.0 / 11.0,
    1.0 / 13.0,
    -1.0 / 15.0,
    1.0 / 17.0,
    -1.0 / 19.0,
    1.0 / 21.0,
    -1.0 / 23.0,
];

/// The rotation vector from one rotation to another, the shorter way: the axis times the angle in radians. The rotations may have
/// any length.
pub fn rotation_vector(from: DQuat, to: DQuat) -> DVec3 {
    let turn = to * from.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let axis = turn.xyz();
    let length = turn.length();
    if length == 0.0 {
        return DVec3::ZERO;
    }
    // With `s` the length of the axis, tan(angle / 4) = s / (length + w). Two more halvings bring the tangent below 0.2, for which
    // the series is exact to 1e-17. `s` is a factor of each tangent, so that small angles need no other formula.
    let square = axis.length_squared();
    let mut factor = 1.0 / (length + turn.w);
    for _ in 0..2 {
        factor /= 1.0 + (1.0 + square * factor * factor).sqrt();
    }
    let argument = square * factor * factor;
    let series = ARCTANGENT.iter().rev().fold(0.0, |sum, term| sum * argument + term);
    axis * (16.0 * factor * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn a_rotation_vector_is_the_axis_times_the_angle() {
        let axis = DVec3::new(0.48, -0.6, 0.64);
        let start = DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5);
        for angle in [0.0, 1e-300, 1e-12, 1e-6, 0.01, 0.5, 1.0, 2.0, 3.0, 3.14, -2.5] {
            let turned = DQuat::from_axis_angle(axis, angle) * start;
            for to in [turned, -turned, turned * 3.0] {
                let found = rotation_vector(start, to);
                assert!((found - axis * angle).length() <= 1e-15 + 1e-14 * angle.abs(), "{angle}: {found}");
            }
        }
        // 200 degrees are 160 degrees the other way.
        let found = rotation_vector(DQuat::IDENTITY, DQuat::from_rotation_y(200_f64.to_radians()));
        assert!((found - DVec3::NEG_Y * 160_f64.to_radians()).length() < 1e-14, "{found}");
        let half = rotation_vector(DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
        assert!((half - DVec3::Z * std::f64::consts::PI).length() < 1e-15, "{half}");
    }

    #[test]
    fn a_chain_holds_the_joints_and_their_ancestors() {
        let parents = [None, Some(0), Some(1), Some(0), Some(3)];
        let joints = parents.map(|parent| Joint { parent, ..Joint::default() }).to_vec();
        let chain = Chain::new(&Skeleton::new(None, joints, Vec::new()).unwrap(), &[4, 1]);
        assert_eq!((chain.len(), chain.ends()), (4, [3, 1].as_slice()));
        let mut rotations = [DQuat::IDENTITY; 4];
        chain.multiply(|joint| DQuat::from_rotation_x(joint as f64 / 10.0), &mut rotations);
        assert!(rotations[3].abs_diff_eq(DQuat::from_rotation_x(0.7), 1e-15));
        assert!(rotations[1].abs_diff_eq(DQuat::from_rotation_x(0.1), 1e-15));
    }
}
