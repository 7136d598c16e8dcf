//! Pairs of rigs, and poses of theirs in model space.

use glam::{DQuat, DVec3};
use posse::{ClipId, Crowd, Joint, Layer, LayerTime, Library, Outputs, Reference, SkeletonId, Transform};
use posse::{Evaluator, Skeleton, Ticks};

/// Numbers that look random and are the same each time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index below a count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5)
    }

    pub fn rotation(&mut self) -> DQuat {
        let numbers = [self.unit(), self.unit(), self.unit(), self.unit()].map(|number| number - 0.5);
        DQuat::from_array(numbers).normalize()
    }
}

/// A joint with a name.
pub fn joint(name: &str, parent: Option<usize>, rotation: DQuat, translation: [f64; 3]) -> Joint {
    let rest = Transform { translation: DVec3::from(translation), rotation, scale: DVec3::ONE };
    Joint { name: Some(name.into()), parent, rest, ..Joint::default() }
}

/// The pose of a clip, or the rest pose: of each joint the product of the local rotations, and the place in model
/// space.
pub fn model_pose(library: &Library, skeleton: SkeletonId, clip: Option<(ClipId, f64)>) -> Vec<(DQuat, DVec3)> {
    let layers: Vec<Layer> = clip.map(|(clip, time)| Layer::new(clip, LayerTime::At(time))).into_iter().collect();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &layers).unwrap();
    let mut poses = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs::ALL).unwrap();
    let pose = poses.instances.remove(0);
    let mut result: Vec<(DQuat, DVec3)> = Vec::new();
    for (index, joint) in library.skeleton(skeleton).joints().iter().enumerate() {
        let own = pose.local[index].rotation;
        let rotation = joint.parent.map_or(own, |parent| result[parent].0 * own);
        result.push((rotation, pose.model[index].translation));
    }
    result
}

/// The angle between two rotations in radians, precise for small ones, too.
pub fn angle(one: DQuat, other: DQuat) -> f64 {
    let between = one.conjugate() * other;
    2.0 * between.xyz().length().atan2(between.w.abs())
}

/// A skeleton of these joints in a library.
pub fn add(library: &mut Library, joints: Vec<Joint>) -> SkeletonId {
    library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap())
}
