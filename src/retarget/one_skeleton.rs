//! Two files of one skeleton whose rest poses differ.
//!
//! Libraries of motion often hold files without a mesh, whose rest pose is some pose of the motion. No pose of such a
//! file looks like the rest pose of a figure, but its joints have the axes of the figure's joints: the local rotations
//! mean the same in both. Then the rest pose of the target can be the reference pose of the source. The report says so;
//! the caller chooses it, because names and offsets do not tell the axes of joints at the ends and above the root.

use glam::DVec3;

use crate::model::Skeleton;
use crate::model::rotation::angle;
use crate::retarget::body::{Body, Figure, SIDES};
use crate::retarget::conventions::Numbering;
use crate::retarget::joint_map::JointPair;
use crate::retarget::pose::ModelPose;

/// The fewest bones that tell whether two skeletons are one.
const MIN_BONES: usize = 3;
/// The largest difference of the offsets of a bone, in their common scale: as a share of the bone and of the longest.
const SAME_OFFSET: [f64; 2] = [0.01, 1e-3];
/// The length of an offset that counts as none, as a share of the longest.
const NO_OFFSET: f64 = 1e-3;
/// The largest angle between the offsets of a bone in the parts of figures of one kind but of different builds, in
/// degrees: of half of the bones, and of all.
const SAME_DIRECTION: f64 = 1.0;
const DIRECTION_OF_BUILD: f64 = 35.0;
/// The smallest rotation between two local rest rotations that differ, in degrees.
const OTHER_ROTATION: f64 = 0.5;
/// The smallest change of a distance that belongs to another pose, as a share of the longest.
const OTHER_DISTANCE: f64 = 0.01;
/// The joints from which distances are looked at.
const PROBES: usize = 16;
/// The distance of a hand or a foot from the mirror image of the other one in a pose that is not symmetric, in lengths
/// of a leg.
const LOPSIDED: f64 = 0.15;

/// Returns `true` if all pairs have the same name and the same parent, and if their local rest rotations mean the same
/// but differ:
///
/// * The offsets of all bones from their parents are equal, but for one scale, and the two rest poses are different
///   ones. If the joints only have other axes in the same pose, their rotations mean other things.
/// * Or the offsets have equal directions, but for the build of a figure, and the rest pose of the source is not
///   symmetric, but that of the target is. Then the former is a pose of a motion.
///
/// `target_of` has the partner of each joint of the source, and the poses are the rest poses.
pub(super) fn are_one(
    skeletons: [&Skeleton; 2],
    pairs: &[JointPair],
    target_of: &[Option<usize>],
    poses: [&ModelPose; 2],
    bodies: [&Body; 2],
) -> bool {
    let Some(bones) = bones(skeletons, pairs, target_of) else { return false };
    let is_other = |&[from, to]: &[usize; 2]| {
        let rotations = [poses[0].local[from].rotation, poses[1].local[to].rotation].map(|own| own.normalize());
        angle(rotations[0], rotations[1]).to_degrees() > OTHER_ROTATION
    };
    if !bones.iter().any(is_other) {
        return false;
    }
    let offset = |&[from, to]: &[usize; 2]| [poses[0].local[from].translation, poses[1].local[to].translation];
    let offsets: Vec<[DVec3; 2]> = bones.iter().map(offset).collect();
    let longest = [0, 1].map(|of: usize| offsets.iter().map(|pair| pair[of].length()).fold(0.0, f64::max));
    let are_none = |pair: &[DVec3; 2]| [0, 1].map(|of: usize| pair[of].length() <= NO_OFFSET * longest[of]);
    if offsets.iter().any(|pair| are_none(pair)[0] != are_none(pair)[1]) {
        return false;
    }
    let offsets: Vec<[DVec3; 2]> = offsets.into_iter().filter(|pair| !are_none(pair)[0]).collect();
    if offsets.len() < MIN_BONES {
        return false;
    }
    let length = |of: usize| offsets.iter().map(|pair| pair[of].length()).sum::<f64>();
    let scale = length(1) / length(0);
    let is_same = |&[from, to]: &[DVec3; 2]| {
        (to - scale * from).length() <= SAME_OFFSET[0] * to.length() + SAME_OFFSET[1] * longest[1]
    };
    if offsets.iter().all(is_same) {
        return is_other_pose(pairs, poses);
    }
    let mut angles: Vec<f64> = offsets.iter().map(|[from, to]| from.angle_between(*to).to_degrees()).collect();
    angles.sort_by(f64::total_cmp);
    let are_alike = angles[angles.len() / 2] <= SAME_DIRECTION && angles[angles.len() - 1] <= DIRECTION_OF_BUILD;
    let is_lopsided = |side: usize| is_lopsided(&Figure::new(bodies[side], &poses[side].matrices));
    are_alike && is_lopsided(0) == Some(true) && is_lopsided(1) == Some(false)
}

/// The pairs whose parents are pairs, too. `None` if names or parents differ, or if more than one pair has no parents.
fn bones(skeletons: [&Skeleton; 2], pairs: &[JointPair], target_of: &[Option<usize>]) -> Option<Vec<[usize; 2]>> {
    let numbering = skeletons.map(Numbering::of);
    let mut is_target = vec![false; skeletons[1].joints().len()];
    target_of.iter().flatten().for_each(|&joint| is_target[joint] = true);
    let (mut bones, mut roots) = (Vec::new(), 0);
    for pair in pairs {
        let joints = [pair.source, pair.target];
        let names = [0, 1].map(|side: usize| numbering[side].normalized(skeletons[side], joints[side]));
        if names[0].is_none() || names[0] != names[1] {
            return None;
        }
        let [above, above_target] = [0, 1].map(|side: usize| skeletons[side].joints()[joints[side]].parent);
        match (above.and_then(|above| target_of[above]), above_target) {
            (Some(partner), Some(above)) if partner == above => bones.push(joints),
            (None, above) if above.is_none_or(|above| !is_target[above]) && roots == 0 => roots += 1,
            _ => return None,
        }
    }
    Some(bones)
}

/// Returns `true` if distances between joints differ, but for one scale.
fn is_other_pose(pairs: &[JointPair], poses: [&ModelPose; 2]) -> bool {
    let step = pairs.len().div_ceil(PROBES).max(1);
    let distance = |one: &JointPair, other: &JointPair| {
        let place = |side: usize, joint: usize| poses[side].matrices[joint].translation;
        [place(0, one.source).distance(place(0, other.source)), place(1, one.target).distance(place(1, other.target))]
    };
    let probes = pairs.iter().step_by(step);
    let distances: Vec<_> = probes.flat_map(|one| pairs.iter().map(move |other| distance(one, other))).collect();
    let sum = |side: usize| distances.iter().map(|pair| pair[side]).sum::<f64>();
    let (scale, longest) = (sum(1) / sum(0), distances.iter().map(|pair| pair[1]).fold(0.0, f64::max));
    distances.iter().any(|[source, target]| (scale * source - target).abs() > OTHER_DISTANCE * longest)
}

/// Returns `true` if a hand or a foot is far from the mirror image of the other one. `None` if neither is known.
fn is_lopsided(figure: &Figure) -> Option<bool> {
    let (space, middle, leg) = (figure.directions()?.transpose(), figure.pelvis()?, figure.leg()?);
    let distance = |part: &str| -> Option<f64> {
        let [left, right] = SIDES.map(|side| figure.body.on_side(side, part));
        let [left, right] = [left?, right?].map(|joint| space * (figure.places[joint] - middle));
        Some(left.distance(DVec3::new(-right.x, right.y, right.z)))
    };
    let distances = ["Hand", "Foot"].into_iter().filter_map(distance);
    distances.reduce(f64::max).map(|most| most > LOPSIDED * leg)
}
