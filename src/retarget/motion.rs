//! What the clips of a source tell about its body: which axis is up, where the feet come down, to which side limbs
//! bend, how the axes of joints lie in the parts of the body, and where joints are that the clips translate.
//!
//! A zero pose tells none of these: bones may lie along one axis in it, or each as the axes of its joint want it. So
//! poses of the clips are looked at, evenly spaced in time.

use std::collections::HashMap;

use glam::{DAffine3, DQuat, DVec3, DVec4};

use crate::model::{ClipId, Library, Skeleton};
use crate::retarget::body::{Body, Figure, SIDES};
use crate::retarget::conventions::HIPS;
use crate::retarget::moving_joints::MovingJoints;

/// Poses per second of a clip, and the fewest and the most of a clip.
const POSES_PER_SECOND: f64 = 10.0;
const MIN_POSES: f64 = 16.0;
const MAX_POSES: f64 = 512.0;

/// The share of the poses in which a figure has to stand, so that they tell which axis is up, and on how many limbs.
const MIN_STANDING: f64 = 0.1;
/// The cosine of the largest angle between the direction in which a figure stands and its up axis.
pub(super) const MIN_UPRIGHT: f64 = 0.77;

/// The sine of the bend that a limb has to reach, so that the side to which it bends is known.
const MIN_BEND: f64 = 0.34;
/// The share of a limb's bends that have to be to the same side.
const MIN_AGREEMENT: f64 = 0.7;

/// The least length of the mean of the quaternions of a joint's axes in a part of the body, so that they are known.
const MIN_AGREEMENT_OF_AXES: f64 = 0.9;

/// The largest standard deviation of the translations of a joint that belong to a bone, as a share of its length.
const MAX_SPREAD: f64 = 0.05;

/// The parts whose joints have known axes in the body.
const PARTS_OF_TRUNK: [&str; 6] = ["hips", "spine", "chest", "upperChest", "neck", "head"];
const PARTS_OF_SIDE: [&str; 2] = ["Shoulder", "Foot"];

/// The limbs: upper part, lower part, and what follows.
const LIMBS: [[&str; 3]; 2] = [["UpperArm", "LowerArm", "Hand"], ["UpperLeg", "LowerLeg", "Foot"]];

/// What the clips of a source tell about its body.
pub(crate) struct SourceMotion {
    /// The sum of the directions in which the figure stands, and the number of poses.
    standing: (DVec3, f64),
    /// The numbers of poses in which the figure stands on two limbs and on four.
    limbs: [f64; 2],
    /// The limbs and their bends.
    bends: Vec<Bend>,
    /// The joints of rigid parts with their axes.
    axes: Vec<PartAxes>,
    /// The joints that clips translate by nearly constant amounts, with the means of these translations.
    translations: Vec<(usize, DVec3)>,
    /// For each pose of each clip, the smallest and the largest coordinates of the feet.
    feet: HashMap<ClipId, Vec<[DVec3; 2]>>,
    /// The mean place of the hips in each clip.
    hips: HashMap<ClipId, DVec3>,
}

/// The sums of the translations of a joint and of their squares, and the number of poses.
#[derive(Clone, Copy, Default)]
struct Places {
    sum: DVec3,
    squares: f64,
    count: f64,
}

impl Places {
    fn add(&mut self, place: DVec3) {
        self.sum += place;
        self.squares += place.length_squared();
        self.count += 1.0;
    }

    /// The mean, if the places are near it.
    fn steady_mean(self) -> Option<DVec3> {
        let mean = self.sum / self.count;
        let variance = self.squares / self.count - mean.length_squared();
        (variance <= MAX_SPREAD * MAX_SPREAD * mean.length_squared()).then_some(mean)
    }
}

/// The axes of a joint in the part of the body to which it belongs.
struct PartAxes {
    side: &'static str,
    part: &'static str,
    joint: usize,
    /// The sum of the quaternions, all on one side of the first, and the number of poses.
    sum: DVec4,
    count: f64,
}

/// The bends of a limb, in the space of its upper part.
struct Bend {
    /// Upper part, lower part, and what follows.
    joints: [usize; 3],
    sum: DVec3,
    weight: f64,
    largest: f64,
}

impl SourceMotion {
    /// Looks at poses of clips of a skeleton.
    pub fn new(library: &Library, skeleton: &Skeleton, body: &Body, clips: &[ClipId]) -> Self {
        let limb = |side: &str, roles: [&str; 3]| -> Option<Bend> {
            let [upper, lower, end] = roles.map(|role| body.on_side(side, role));
            Some(Bend { joints: [upper?, lower?, end?], sum: DVec3::ZERO, weight: 0.0, largest: 0.0 })
        };
        let bends = SIDES.iter().flat_map(|side| LIMBS.iter().filter_map(|&roles| limb(side, roles))).collect();
        let axes = |side: &'static str, part: &'static str| -> Option<PartAxes> {
            let joint = if side.is_empty() { body.joint(part) } else { body.on_side(side, part) };
            Some(PartAxes { side, part, joint: joint?, sum: DVec4::ZERO, count: 0.0 })
        };
        let of_trunk = PARTS_OF_TRUNK.iter().filter_map(|&part| axes("", part));
        let of_sides = SIDES.iter().flat_map(|&side| PARTS_OF_SIDE.iter().filter_map(move |&part| axes(side, part)));
        let axes = of_trunk.chain(of_sides).collect();
        let standing = (DVec3::ZERO, 0.0);
        let limbs = [0.0; 2];
        let mut motion =
            Self { standing, limbs, bends, axes, translations: Vec::new(), feet: HashMap::new(), hips: HashMap::new() };
        let hips = body.joint(HIPS);
        let mut sums: Vec<Option<Places>> = vec![None; skeleton.joints().len()];
        for &id in clips {
            let clip = library.clip(id);
            let (joints, duration) = (MovingJoints::new(library, skeleton, clip), clip.duration());
            let translated = (0..sums.len()).filter(|&joint| joints.has_translation(joint));
            let translated: Vec<usize> = translated.collect();
            let count = (duration * POSES_PER_SECOND).clamp(MIN_POSES, MAX_POSES).floor();
            let times = (0..=count as usize).map(|pose| duration * pose as f64 / count);
            let mut places = Places::default();
            let feet = times.map(|time| {
                for &joint in &translated {
                    sums[joint].get_or_insert_default().add(joints.translation(joint, time));
                }
                let (figure, feet) = motion.look_at(body, skeleton, &joints, time);
                hips.into_iter().for_each(|hips| places.add(figure.places[hips]));
                feet
            });
            let feet = feet.collect();
            motion.feet.insert(id, feet);
            if hips.is_some() {
                motion.hips.insert(id, places.sum / places.count);
            }
        }
        let sums = sums.into_iter().enumerate();
        motion.translations = sums.filter_map(|(joint, sum)| Some((joint, sum?.steady_mean()?))).collect();
        motion
    }

    /// Looks at a pose. Returns its figure, and the smallest and the largest coordinates of the feet.
    fn look_at<'a>(
        &mut self,
        body: &'a Body,
        skeleton: &Skeleton,
        joints: &MovingJoints,
        time: f64,
    ) -> (Figure<'a>, [DVec3; 2]) {
        let mut matrices: Vec<DAffine3> = Vec::with_capacity(skeleton.joints().len());
        let mut rotations: Vec<DQuat> = Vec::with_capacity(skeleton.joints().len());
        for (joint, node) in skeleton.joints().iter().enumerate() {
            let (matrix, rotation) = (joints.matrix(joint, time), joints.rotation(joint, time));
            matrices.push(node.parent.map_or(matrix, |parent| matrices[parent] * matrix));
            rotations.push(node.parent.map_or(rotation, |parent| rotations[parent] * rotation));
        }
        let figure = Figure::new(body, &matrices);
        self.standing.0 += figure.standing().unwrap_or_default();
        self.standing.1 += 1.0;
        match figure.standing_limbs() {
            Some(2) => self.limbs[0] += 1.0,
            Some(4) => self.limbs[1] += 1.0,
            _ => {}
        }
        for bend in &mut self.bends {
            let [upper, lower, end] = bend.joints;
            let along = figure.offset(upper, lower).normalize_or_zero();
            let next = figure.offset(lower, end).normalize_or_zero();
            let across = next - next.dot(along) * along;
            bend.sum += rotations[upper].conjugate() * across;
            bend.weight += across.length();
            bend.largest = bend.largest.max(across.length());
        }
        for axes in &mut self.axes {
            let Some(part) = figure.directions_of_part(axes.side, axes.part, axes.joint) else { continue };
            let rotation = DVec4::from(DQuat::from_mat3(&part).conjugate() * rotations[axes.joint].normalize());
            axes.sum += if rotation.dot(axes.sum) < 0.0 { -rotation } else { rotation };
            axes.count += 1.0;
        }
        let feet = body.feet().iter().map(|&foot| figure.places[foot]);
        let feet = feet
            .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[least, most], place| [least.min(place), most.max(place)]);
        (figure, feet)
    }

    /// The mean height of the hips in a clip along an axis. `None` without hips.
    pub fn height_of_hips(&self, clip: ClipId, up: DVec3) -> Option<f64> {
        self.hips.get(&clip).map(|place| place.dot(up))
    }

    /// The axis that is up, with its sign. `None` if the poses do not tell.
    pub fn up(&self) -> Option<DVec3> {
        let (sum, count) = self.standing;
        upright_axis(sum.try_normalize().filter(|_| sum.length() >= MIN_STANDING * count)?)
    }

    /// The number of limbs on which the figure stands, 2 or 4, in some poses and in more than on the other number.
    /// `None` if it is neither.
    pub fn standing_limbs(&self) -> Option<usize> {
        let [two, four] = self.limbs;
        (two.max(four) > MIN_STANDING * self.standing.1).then_some(if four > two { 4 } else { 2 })
    }

    /// The share of the poses of a clip in which the lowest point of the feet is within a height of the origin of an
    /// axis.
    pub fn share_on_origin(&self, clip: ClipId, up: DVec3, height: f64) -> f64 {
        let heights = self.heights_of_feet(clip, up);
        let near = heights.iter().filter(|lowest| lowest.abs() <= height).count();
        near as f64 / heights.len().max(1) as f64
    }

    /// Returns `true` if the feet come down near the origin of an axis in all clips.
    pub fn is_near_ground(&self, up: DVec3, most: f64) -> bool {
        let heights = || self.feet.keys().filter_map(|&clip| self.lowest_foot(clip, up, 0.0));
        heights().next().is_some() && heights().all(|height| height.abs() <= most)
    }

    /// The direction to which a limb bends, in the space of its upper joint. `None` if it hardly bends, or not always
    /// to the same side.
    pub fn bend(&self, upper: usize) -> Option<DVec3> {
        let bend = self.bends.iter().find(|bend| bend.joints[0] == upper)?;
        let is_known = bend.largest >= MIN_BEND && bend.sum.length() >= MIN_AGREEMENT * bend.weight;
        bend.sum.try_normalize().filter(|_| is_known)
    }

    /// The mean rotation of a joint in the space of the rigid part to which it belongs, see
    /// [`Figure::directions_of_part`]. `None` if the joint belongs to none, or its rotations differ too much.
    pub fn axes_in_part(&self, joint: usize) -> Option<DQuat> {
        let axes = self.axes.iter().find(|axes| axes.joint == joint)?;
        let mean = axes.sum / axes.count.max(1.0);
        (mean.length() >= MIN_AGREEMENT_OF_AXES).then(|| DQuat::from_vec4(mean.normalize()))
    }

    /// The mean local translations of joints that clips translate by nearly constant amounts: bones whose lengths stand
    /// in the clips. Feet that are translated from the root, for example, are no such joints.
    pub fn translations(&self) -> impl Iterator<Item = (usize, DVec3)> {
        self.translations.iter().copied()
    }

    /// The height of the lowest point of the feet in a clip along an axis that a share of the poses does not reach.
    /// `None` without feet.
    pub fn lowest_foot(&self, clip: ClipId, up: DVec3, share: f64) -> Option<f64> {
        let mut heights = self.heights_of_feet(clip, up);
        heights.sort_by(f64::total_cmp);
        heights.get((share * heights.len() as f64) as usize).copied()
    }

    /// The height of the lowest point of the feet in each pose of a clip along an axis. Empty without feet.
    fn heights_of_feet(&self, clip: ClipId, up: DVec3) -> Vec<f64> {
        let Some(poses) = self.feet.get(&clip) else { return Vec::new() };
        // Along a negative axis, the largest coordinate is the lowest.
        let is_negative = up.cmplt(DVec3::ZERO);
        let heights = poses.iter().filter(|[least, _]| least.is_finite());
        heights.map(|[least, most]| DVec3::select(is_negative, *most, *least).dot(up)).collect()
    }
}

/// The axis along which a figure stands, with its sign, from the direction of length 1 in which it does. `None` if it
/// is far from all.
pub(crate) fn upright_axis(standing: DVec3) -> Option<DVec3> {
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    let nearest = axes.max_by(|one, other| one.dot(standing).total_cmp(&other.dot(standing)));
    nearest.filter(|axis| axis.dot(standing) >= MIN_UPRIGHT)
}
