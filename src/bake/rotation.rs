//! Rotations of joints in model space: products of local rotations, in `f64`, several at once.

use crate::model::Skeleton;

/// The joints whose rotations lead to the rotations of some joints: these joints and their ancestors, parents before
/// children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RotationChain {
    links: Vec<RotationLink>,
    /// For each of the joints its index among the links.
    ends: Vec<usize>,
}

/// A joint of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RotationLink {
    joint: usize,
    /// The index of the parent among the links.
    parent: Option<usize>,
}

impl RotationChain {
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
            links
                .push(RotationLink { joint, parent: skeleton.joints()[joint].parent.and_then(|parent| index[parent]) });
        }
        Self { ends: joints.iter().filter_map(|&joint| index[joint]).collect(), links }
    }

    /// The number of rotations per pose.
    pub fn len(&self) -> usize {
        self.links.len()
    }
}

/// The rotations of a chain in model space for a block of poses. They are not normalised.
#[derive(Debug, Default)]
pub struct ModelRotations {
    /// Groups of poses, link after link.
    rotations: Vec<WideRotation>,
}

impl ModelRotations {
    /// Multiplies the local rotations from the root to each joint of a chain. `local` returns the numbers xyzw of a
    /// joint in a pose.
    pub fn multiply(&mut self, chain: &RotationChain, poses: usize, local: impl Fn(usize, usize) -> [f32; 4]) {
        let links = chain.len();
        self.rotations.resize(poses.div_ceil(LANES) * links, WideRotation::default());
        if links == 0 {
            return;
        }
        let mut own = WideRotation::default();
        for (group, to) in self.rotations.chunks_exact_mut(links).enumerate() {
            let first = group * LANES;
            for (index, link) in chain.links.iter().enumerate() {
                for pose in first..poses.min(first + LANES) {
                    own.set(pose - first, local(pose, link.joint).map(f64::from));
                }
                let (before, from_here) = to.split_at_mut(index);
                match link.parent {
                    Some(parent) => multiply(&before[parent], &own, &mut from_here[0]),
                    None => from_here[0] = own,
                }
            }
        }
    }

    /// Copies the rotations of the joint at a position of the list of joints, in up to sixteen poses.
    pub fn gather(
        &self,
        chain: &RotationChain,
        position: usize,
        poses: impl Iterator<Item = usize>,
        to: &mut WideRotation,
    ) {
        let (links, link) = (chain.len(), chain.ends[position]);
        for (lane, pose) in poses.take(LANES).enumerate() {
            to.set(lane, self.rotations[pose / LANES * links + link].lane(pose % LANES));
        }
    }
}

// Rotations of sixteen poses at a time, number by number, in loops that compilers turn into vector instructions.
//
// Each operation is rounded correctly by every machine, so that the results have the same bits everywhere. Functions of
// the system, such as `atan2`, may differ in the last bit.

/// The poses of a [`WideRotation`].
pub const LANES: usize = 16;

/// A quaternion of each of sixteen poses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WideRotation {
    pub x: [f64; LANES],
    pub y: [f64; LANES],
    pub z: [f64; LANES],
    pub w: [f64; LANES],
}

/// A vector of each of sixteen poses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WideVector {
    pub x: [f64; LANES],
    pub y: [f64; LANES],
    pub z: [f64; LANES],
}

impl Default for WideRotation {
    fn default() -> Self {
        let zero = [0.0; LANES];
        Self { x: zero, y: zero, z: zero, w: [1.0; LANES] }
    }
}

impl WideVector {
    /// The vector of one pose.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> [f64; 3] {
        [self.x[lane], self.y[lane], self.z[lane]]
    }
}

impl WideRotation {
    /// The quaternion xyzw of one pose.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> [f64; 4] {
        [self.x[lane], self.y[lane], self.z[lane], self.w[lane]]
    }

    /// Sets the quaternion xyzw of one pose.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, rotation: [f64; 4]) {
        [self.x[lane], self.y[lane], self.z[lane], self.w[lane]] = rotation;
    }
}

/// Writes the products: they apply the right rotations first, then the left ones.
pub fn multiply(left: &WideRotation, right: &WideRotation, to: &mut WideRotation) {
    for lane in 0..LANES {
        let [ax, ay, az, aw] = left.lane(lane);
        let [bx, by, bz, bw] = right.lane(lane);
        to.x[lane] = aw * bx + ax * bw + ay * bz - az * by;
        to.y[lane] = aw * by - ax * bz + ay * bw + az * bx;
        to.z[lane] = aw * bz + ax * by - ay * bx + az * bw;
        to.w[lane] = aw * bw - ax * bx - ay * by - az * bz;
    }
}

/// Gives quaternions unit length.
pub fn normalize(rotation: &mut WideRotation) {
    for lane in 0..LANES {
        let [x, y, z, w] = rotation.lane(lane);
        let factor = 1.0 / (x * x + y * y + z * z + w * w).sqrt();
        rotation.x[lane] = x * factor;
        rotation.y[lane] = y * factor;
        rotation.z[lane] = z * factor;
        rotation.w[lane] = w * factor;
    }
}

/// Writes the velocities of turning from some rotations to others, the shorter way: the axis times the angle in
/// radians, times a rate. The quaternions may have any length but 0.
pub fn angular_velocities(from: &WideRotation, to: &WideRotation, rates: &[f64; LANES], result: &mut WideVector) {
    for (lane, rate) in rates.iter().enumerate() {
        // `to` times the conjugate of `from`.
        let [ax, ay, az, aw] = to.lane(lane);
        let [bx, by, bz, bw] = from.lane(lane);
        let x = ax * bw - aw * bx - ay * bz + az * by;
        let y = ay * bw - aw * by + ax * bz - az * bx;
        let z = az * bw - aw * bz - ax * by + ay * bx;
        let w = aw * bw + ax * bx + ay * by + az * bz;
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        // With `s` the length of the axis, tan(angle / 4) = s / (length + |w|). Halving once more brings the tangent
        // below 0.42, for which the series is exact to 3e-11. `s` is a factor of the tangents, so that small angles
        // need no other formula.
        let square = x * x + y * y + z * z;
        let quarter = 1.0 / ((square + w * w).sqrt() + sign * w);
        let eighth = quarter / (1.0 + (1.0 + square * quarter * quarter).sqrt());
        let factor = 8.0 * sign * eighth * arctangent_ratio(square * eighth * eighth) * rate;
        result.x[lane] = x * factor;
        result.y[lane] = y * factor;
        result.z[lane] = z * factor;
    }
}

/// `atan(t) / t` as a series in `square = t * t`.
#[inline(always)]
fn arctangent_ratio(square: f64) -> f64 {
    let mut sum = 0.0;
    for divisor in [-23.0, 21.0, -19.0, 17.0, -15.0, 13.0, -11.0, 9.0, -7.0, 5.0, -3.0, 1.0] {
        sum = sum * square + 1.0 / divisor;
    }
    sum
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::model::Joint;

    #[test]
    fn rotations_are_multiplied_from_the_root_to_each_joint() {
        let parents = [None, Some(0), Some(1), Some(0), Some(3)];
        let joints = parents.map(|parent| Joint { parent, ..Joint::default() }).to_vec();
        let chain = RotationChain::new(&Skeleton::new(None, joints, Vec::new()).unwrap(), &[4, 1]);
        assert_eq!((chain.len(), chain.ends.as_slice()), (4, [3, 1].as_slice()));
        // Joint j turns by j / 10 rad about x, in pose p by p / 100 rad more.
        let angle = |pose: usize, joint: usize| joint as f64 / 10.0 + pose as f64 / 100.0;
        let mut rotations = ModelRotations::default();
        rotations.multiply(&chain, 18, |pose, joint| DQuat::from_rotation_x(angle(pose, joint)).as_quat().to_array());
        let poses = [5, 0, 17, 16];
        for (position, path) in [(0, &[0, 3, 4][..]), (1, &[0, 1])] {
            let mut found = WideRotation::default();
            rotations.gather(&chain, position, poses.into_iter(), &mut found);
            for (lane, pose) in poses.into_iter().enumerate() {
                let expected = DQuat::from_rotation_x(path.iter().map(|&joint| angle(pose, joint)).sum());
                assert!(DQuat::from_array(found.lane(lane)).abs_diff_eq(expected, 2e-7), "{pose}, {path:?}");
            }
        }
    }
}

#[cfg(test)]
mod wide_tests {
    use glam::{DQuat, DVec3};

    use super::*;

    /// The angular velocities from some rotations to others, in one second.
    fn turns<const N: usize>(turns: [[DQuat; 2]; N]) -> [DVec3; N] {
        let [mut from, mut to] = [WideRotation::default(); 2];
        for (lane, [start, end]) in turns.into_iter().enumerate() {
            from.set(lane, start.to_array());
            to.set(lane, end.to_array());
        }
        let mut result = WideVector::default();
        angular_velocities(&from, &to, &[1.0; LANES], &mut result);
        std::array::from_fn(|lane| DVec3::from(result.lane(lane)))
    }

    #[test]
    fn an_angular_velocity_is_the_axis_times_the_angle() {
        let axis = DVec3::new(0.48, -0.6, 0.64);
        let start = DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5);
        for angle in [0.0, 1e-300, 1e-12, 1e-6, 0.01, 0.5, 1.0, 2.0, 3.0, 3.1, -2.5] {
            let end = DQuat::from_axis_angle(axis, angle) * start;
            for found in turns([end, -end, end * 3.0, end * -0.1].map(|end| [start, end])) {
                assert!((found - axis * angle).length() <= 1e-15 + 4e-11 * angle.abs(), "{angle}: {found}");
            }
        }
        // 200 degrees are 160 degrees the other way.
        let far = DQuat::from_rotation_y(200_f64.to_radians());
        let half = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);
        let found = turns([far, half, DQuat::IDENTITY, -DQuat::IDENTITY].map(|end| [DQuat::IDENTITY, end]));
        assert!((found[0] - DVec3::NEG_Y * 160_f64.to_radians()).length() < 1e-10, "{found:?}");
        assert!((found[1] - DVec3::Z * std::f64::consts::PI).length() < 1e-10, "{found:?}");
        assert_eq!(found[2..], [DVec3::ZERO; 2]);
    }

    #[test]
    fn products_are_those_of_glam() {
        let [mut left, mut right, mut product] = [WideRotation::default(); 3];
        let turn = |lane: usize| DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), lane as f64);
        let other = DQuat::from_xyzw(0.5, -0.1, 0.3, 0.8);
        for lane in 0..LANES {
            left.set(lane, turn(lane).to_array());
            right.set(lane, other.to_array());
        }
        multiply(&left, &right, &mut product);
        for lane in 0..LANES {
            assert_eq!(product.lane(lane), (turn(lane) * other).to_array());
        }
        normalize(&mut product);
        for lane in 0..LANES {
            let unit = DQuat::from_array(product.lane(lane));
            assert!(unit.abs_diff_eq((turn(lane) * other).normalize(), 1e-15));
        }
    }
}
