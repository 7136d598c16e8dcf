//! Rotations of joints in model space: products of local rotations, in `f64`.

use crate::bake::wide::{LANES, WideRotation, multiply};
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
}

/// The rotations of a chain in model space for a block of poses. They are not normalised.
#[derive(Debug, Default)]
pub struct ModelRotations {
    /// Groups of poses, link after link.
    rotations: Vec<WideRotation>,
}

impl ModelRotations {
    /// Multiplies the local rotations from the root to each joint of a chain. `local` returns the numbers xyzw of a joint in a pose.
    pub fn multiply(&mut self, chain: &Chain, poses: usize, local: impl Fn(usize, usize) -> [f32; 4]) {
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
    pub fn gather(&self, chain: &Chain, position: usize, poses: impl Iterator<Item = usize>, to: &mut WideRotation) {
        let (links, link) = (chain.len(), chain.ends[position]);
        for (lane, pose) in poses.take(LANES).enumerate() {
            to.set(lane, self.rotations[pose / LANES * links + link].lane(pose % LANES));
        }
    }
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
        let chain = Chain::new(&Skeleton::new(None, joints, Vec::new()).unwrap(), &[4, 1]);
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
