//! Two poses that look alike: the reference pose of the source, rotated until its bones point where the bones of the
//! target's rest pose do.
//!
//! With model-space rotations `S(t)` of a joint of the source, `S0` in the reference pose, and `T0` of its partner at
//! rest, the partner's rotation is `F S(t) A^-1 T0`, where `A = D F S0`. `F` rotates the whole space of the source: its
//! up axis onto the up axis of the target, then its front in the reference pose onto the front of the target. `D`
//! rotates the joint in the reference pose. All are constant, so that keys stay exact.
//!
//! `D` is found from the hips downward, and begins with the rotation of the parent:
//!
//! * If the hips of the two poses differ by more than 35 degrees, they are rotated by the rotation of right angles that
//!   comes nearest, or else by the whole difference; likewise the parts of the spine. The trunk is not bent: a smaller
//!   difference is a matter of build.
//! * Limbs, hands and fingers are rotated by the shortest rotation to the direction of their partners, if they differ
//!   by more than 2 degrees; neck and shoulders, if they differ by more than 40.
//! * A foot keeps its relation to the ground: of its direction, the heading is the heading of its partner. Only if it
//!   points elsewhere altogether, as in zero poses whose bones lie along one axis, is it turned as a limb.
//! * Twist about a bone is invisible in its direction, and the shortest rotation is ambiguous near half a rotation.
//!   Knees and elbows are hinges: if the poses of the clips bend a limb to another side than behind (a knee) or ahead
//!   (an elbow), by more than 45 degrees, its upper part is rotated about itself. Skeletons whose joints have equal
//!   names and axes keep their twist.
//! * Not every zero pose is a pose: in some, each joint only shows its own axes, and the hips lie while the legs stand.
//!   The clips tell how the axes of a joint lie in the part of the body to which it belongs: hips, chest, neck, head,
//!   shoulders and feet, see [`SourceMotion::axes_in_part`]. If their mean differs from the rest pose of the target by
//!   more than a posture (50 degrees, or 60), the reference pose does not count: hips, chest, neck and head are rotated
//!   by the rotation of right angles that comes nearest, or else by the whole difference, shoulders and feet about
//!   themselves.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

use glam::{DMat3, DQuat, DVec3};
use serde::Serialize;

use crate::model::Skeleton;
use crate::model::rotation::angle;
use crate::retarget::body::{Body, Figure};
use crate::retarget::conventions::{HIPS, Numbering, TRUNK};
use crate::retarget::motion::{MIN_UPRIGHT, SourceMotion, upright_axis};
use crate::retarget::options::{Facing, RetargetOptions};
use crate::retarget::pose::ModelPose;

/// The largest difference of two trunks that is a matter of build, in degrees.
const MAX_OF_BUILD: f64 = 35.0;
/// The largest difference from a rotation of right angles that counts as it, in degrees.
const MAX_FROM_RIGHT_ANGLES: f64 = 25.0;
/// The largest difference of a heading from a quarter rotation that counts as it, in degrees.
const MAX_FROM_QUARTER: f64 = 20.0;
/// The largest difference of limbs that are not rotated, in degrees.
const MAX_OF_LIMB: f64 = 2.0;
/// The largest difference of parts of the trunk and of shoulders that are not rotated, in degrees.
const MAX_OF_TRUNK: f64 = 40.0;
/// The largest difference of feet that keep their relation to the ground, in degrees.
const MAX_OF_FOOT: f64 = 40.0;
/// The largest difference of the sides to which limbs bend, in degrees.
const MAX_TWIST: f64 = 45.0;
/// The largest difference of the mean rotation of a rigid part over the clips from its rotation at rest that is a
/// matter of posture, in degrees: of hips and chest, of shoulders and feet, and of neck and head, which may look down
/// all the time. In 60 public files of motion whose zero poses are right, they are at most 37, 56 and 45; in those
/// whose zero pose is none, necks and heads are off by 97 and more.
const MAX_POSTURE_OF_TRUNK: f64 = 50.0;
const MAX_POSTURE: f64 = 60.0;
const MAX_POSTURE_OF_HEAD: f64 = 80.0;
/// The largest difference of such a mean from a rotation of right angles between the axes of two skeletons, in degrees.
const MAX_POSTURE_FROM_RIGHT_ANGLES: f64 = 40.0;
/// The smallest rotation of a bone that is reported, in degrees.
const MIN_REPORTED: f64 = 0.01;
/// The least length across an axis of a direction that has an angle about it.
const MIN_ACROSS: f64 = 0.2;
/// The largest difference of the same places, as a share of the size of the rig, and of the same rotations in radians.
const SAME_PLACE: f64 = 1e-9;
/// The largest height of feet on the ground of a world, in lengths of a leg.
const MAX_FROM_GROUND: f64 = 0.25;
/// The largest difference of the axes of joints that are the same in both skeletons, in degrees.
const SAME_AXES: f64 = 5.0;

/// A bone of the source that was rotated in the reference pose, so that this looks like the pose of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignedBone {
    /// The joint of the source.
    pub source: usize,
    /// The joint of the target.
    pub target: usize,
    /// The angle of the rotation in degrees: of the hips by itself, of others relative to the hips.
    pub degrees: f64,
    /// The reason for the rotation.
    pub reason: AlignmentReason,
}

/// The reason for which a bone was rotated in the reference pose; of several, the last in this order. Reports name it
/// in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AlignmentReason {
    /// A joint above was rotated, and this one with it.
    Parent,
    /// The hips or a part of the spine had other directions than their partner.
    Trunk,
    /// The bone pointed elsewhere than its partner.
    Direction,
    /// The limb bends to another side in the clips than its partner can, so that the bone was rotated about itself.
    Bend,
    /// In the clips, the axes of the joint lie otherwise in its part of the body than at rest.
    Clips,
}

impl AlignmentReason {
    /// What the rotation is for, as the end of a sentence about a bone of the source: `with the joint above it`, or
    /// `to point as upper_arm.L`.
    pub fn describe(self, target: &str) -> String {
        match self {
            Self::Parent => "with the joint above it".into(),
            Self::Trunk => format!("to stand as {target}"),
            Self::Direction => format!("to point as {target}"),
            Self::Bend => format!("to bend to the same side as {target}"),
            Self::Clips => format!("so that its axes in the clips are the axes of {target}"),
        }
    }
}

/// The two poses that look alike.
pub(super) struct Alignment {
    /// `true` if the paired joints have the same places and rotations in both poses. Nothing is rotated then.
    pub is_same: bool,
    /// Rotates the space of the source into the space of the target.
    pub space: DQuat,
    /// The rotation of each joint of the source in the reference pose, in the space of the target, after `D`.
    pub rotations: Vec<DQuat>,
    /// The rotation `D` of each joint of the source.
    pub corrections: Vec<DQuat>,
    /// The up axis of the source and of the target.
    pub up: [DVec3; 2],
    /// `true` if the up axis of the source is given, or follows from its clips or its rest pose.
    pub is_up_known: bool,
    /// `true` if the fronts of both poses are known.
    pub is_front_known: bool,
    /// The rotation about the up axis that makes the fronts of both poses the same, in degrees. `None` if the target
    /// does not stand upright.
    pub heading: Option<f64>,
    /// The rotation about the up axis, in degrees. `None` if it was not known.
    pub facing: Option<f64>,
    /// The bones that were rotated.
    pub bones: Vec<AlignedBone>,
}

/// A skeleton in the pose that looks like one of the other skeleton.
pub(super) struct Side<'a> {
    pub skeleton: &'a Skeleton,
    pub numbering: Numbering,
    pub body: &'a Body,
    pub pose: &'a ModelPose,
}

impl Side<'_> {
    fn figure(&self) -> Figure<'_> {
        Figure::new(self.body, &self.pose.matrices)
    }
}

impl Alignment {
    /// Aligns two poses. `target_of` has the partner of each joint of the source, and the poses [`are_same`] if
    /// `is_same`. The first one is the rest pose of the source if `is_at_rest`; any other one is a pose of a body.
    pub fn new(
        target_of: &[Option<usize>],
        [source, target]: [&Side; 2],
        is_same: bool,
        motion: &SourceMotion,
        is_at_rest: bool,
        options: &RetargetOptions,
    ) -> Self {
        let figures = [source.figure(), target.figure()];
        let at_rest = |side: usize| figures[side].standing().map(|up| upright_axis(up).unwrap_or(DVec3::Y));
        let known = options.source_up.or_else(|| up_of_source(at_rest(0), motion, figures[0].leg()));
        let up = [known.unwrap_or(DVec3::Y), at_rest(1).unwrap_or(DVec3::Y)];
        let up = if is_same { [up[0]; 2] } else { up };
        let upright = quarter_rotation(up[0], up[1]);
        let [from, to] = [front(&figures[0], up[0]).map(|front| upright * front), front(&figures[1], up[1])];
        // Most worlds in which +Y is up, or +Z, have figures that face +Z, or -Y.
        let usual = quarter_rotation(DVec3::Y, up[1]) * DVec3::Z;
        // So has a figure that stands along another axis at rest, as SMPL for motion with +Z up, if the
        // rotation that stands it up gives it this front.
        let stood_up = at_rest(0).and_then(|axis| Some(quarter_rotation(axis, up[0]) * front(&figures[0], axis)?));
        let is_usual = stood_up.is_some_and(|front| heading(upright * front, usual, up[1]) == 0.0);
        let has_sides = figures[0].directions().is_some();
        let heading = to.filter(|_| has_sides).map(|to| heading(from.unwrap_or(usual), to, up[1]));
        let heading = if is_same { Some(0.0) } else { heading };
        let degrees = match options.facing {
            Facing::Degrees(degrees) => Some(degrees),
            Facing::Keep => Some(0.0),
            Facing::Auto => heading,
        };
        let space = rotation_about(up[1], degrees.unwrap_or(0.0)) * upright;
        // Bones that do not belong to a body have no side and no front.
        let is_body = !is_same && figures.iter().all(|figure| figure.directions().is_some());
        let count = source.skeleton.joints().len();
        let axes = Some(motion).filter(|_| is_at_rest);
        let (corrections, bones) = (Vec::with_capacity(count), Vec::new());
        let mut found = Aligner { source, target, figures, motion, axes, up: up[1], space, corrections, bones };
        for (joint, partner) in target_of.iter().enumerate() {
            let parent =
                source.skeleton.joints()[joint].parent.map_or(DQuat::IDENTITY, |parent| found.corrections[parent]);
            let correction = match *partner {
                Some(partner) if options.align && is_body => found.correction(joint, partner, parent),
                _ => parent,
            };
            found.corrections.push(correction);
        }
        let Aligner { corrections, bones, .. } = found;
        let rotations = (0..count).map(|joint| corrections[joint] * space * source.pose.rotations[joint]).collect();
        let (is_up_known, is_front_known) = (known.is_some(), is_same || (from.is_some() || is_usual) && to.is_some());
        Self {
            is_same,
            space,
            rotations,
            corrections,
            up,
            is_up_known,
            is_front_known,
            heading,
            facing: degrees,
            bones,
        }
    }
}

struct Aligner<'a> {
    source: &'a Side<'a>,
    target: &'a Side<'a>,
    figures: [Figure<'a>; 2],
    motion: &'a SourceMotion,
    /// What tells the axes of rigid parts. `None` if the reference pose does.
    axes: Option<&'a SourceMotion>,
    up: DVec3,
    space: DQuat,
    corrections: Vec<DQuat>,
    bones: Vec<AlignedBone>,
}

impl Aligner<'_> {
    /// The rotation `D` of a joint of the source in the reference pose; the rotation of its parent is given.
    fn correction(&mut self, source: usize, target: usize, parent: DQuat) -> DQuat {
        let Some(role) = self.target.body.role(target).or_else(|| self.source.body.role(source)) else { return parent };
        let (side, part) = ["left", "right"]
            .iter()
            .find_map(|side| role.strip_prefix(side).map(|part| (*side, part)))
            .unwrap_or(("", role));
        let joints = [source, target];
        let directions = if part == HIPS { None } else { self.directions(side, part, joints) };
        let pointed = match directions {
            _ if part == HIPS => self.correction_of_trunk(),
            Some(directions) => self.correction_of_bone(part, joints, directions, parent),
            None => parent,
        };
        let bend = directions.map_or(DQuat::IDENTITY, |[_, to]| self.correction_of_bend(part, joints, pointed, to));
        let bent = bend * pointed;
        let of_motion = self.correction_of_motion(side, part, joints, directions.map(|[_, to]| to), bent);
        let correction = of_motion * bent;
        let trunk = if part == HIPS { DQuat::IDENTITY } else { self.correction_of_hips() };
        let degrees = angle(trunk, correction).to_degrees();
        if degrees > MIN_REPORTED {
            let is_rotation = |one: DQuat, other: DQuat| angle(one, other).to_degrees() > MIN_REPORTED;
            let reason = if is_rotation(bent, correction) {
                AlignmentReason::Clips
            } else if is_rotation(pointed, bent) {
                AlignmentReason::Bend
            } else if !is_rotation(parent, pointed) {
                AlignmentReason::Parent
            } else if part == HIPS || TRUNK.contains(&part) {
                AlignmentReason::Trunk
            } else {
                AlignmentReason::Direction
            };
            self.bones.push(AlignedBone { source, target, degrees, reason });
        }
        correction
    }

    /// The rotation that makes the mean of a rigid part over the clips the mean of the target's rest pose, if they
    /// differ by more than a posture. `along` is the direction of the bone in the target, about which shoulders and
    /// feet turn.
    fn correction_of_motion(
        &self,
        side: &str,
        part: &str,
        joints: [usize; 2],
        along: Option<DVec3>,
        correction: DQuat,
    ) -> DQuat {
        let in_part = self.axes.and_then(|axes| axes.axes_in_part(joints[0]));
        let at_rest = self.figures[1].directions_of_part(side, part, joints[1]);
        let (Some(in_part), Some(at_rest)) = (in_part, at_rest) else { return DQuat::IDENTITY };
        if self.has_same_axes(joints, correction) {
            return DQuat::IDENTITY;
        }
        let aligned = correction * self.space * self.source.pose.rotations[joints[0]];
        let difference = (DQuat::from_mat3(&at_rest) * in_part * aligned.conjugate()).normalize();
        if part == "Shoulder" || part == "Foot" {
            let Some(along) = along else { return DQuat::IDENTITY };
            let half = difference.xyz().dot(along).atan2(difference.w).to_degrees();
            let degrees = 2.0 * (half - 180.0 * (half / 180.0).round());
            return if degrees.abs() > MAX_POSTURE { rotation_about(along, degrees) } else { DQuat::IDENTITY };
        }
        let most = if part == "neck" || part == "head" { MAX_POSTURE_OF_HEAD } else { MAX_POSTURE_OF_TRUNK };
        if angle(difference, DQuat::IDENTITY).to_degrees() <= most {
            return DQuat::IDENTITY;
        }
        right_angles_near(difference, MAX_POSTURE_FROM_RIGHT_ANGLES).unwrap_or(difference)
    }

    /// Returns `true` if two joints have the same name, and the same axes after a correction.
    fn has_same_axes(&self, joints: [usize; 2], correction: DQuat) -> bool {
        let corrected = correction * self.space * self.source.pose.rotations[joints[0]];
        let name = |side: &Side, joint: usize| side.numbering.normalized(side.skeleton, joint);
        let names = [name(self.source, joints[0]), name(self.target, joints[1])];
        angle(corrected, self.target.pose.rotations[joints[1]]).to_degrees() <= SAME_AXES
            && names[0].is_some()
            && names[0] == names[1]
    }

    fn correction_of_hips(&self) -> DQuat {
        let hips = self.source.body.joint("hips").and_then(|hips| self.corrections.get(hips));
        hips.copied().unwrap_or(DQuat::IDENTITY)
    }

    fn correction_of_trunk(&self) -> DQuat {
        match [0, 1].map(|side: usize| self.figures[side].directions()) {
            [Some(from), Some(to)] => self.correction_of_frame(from, to, DQuat::IDENTITY),
            _ => DQuat::IDENTITY,
        }
    }

    /// The rotation of a rigid part with these directions in the two poses. It is the rotation of the parent if that is
    /// near enough.
    fn correction_of_frame(&self, from: DMat3, to: DMat3, parent: DQuat) -> DQuat {
        let difference = DQuat::from_mat3(&(to * (DMat3::from_quat(self.space) * from).transpose()));
        if angle(difference, parent).to_degrees() <= MAX_OF_BUILD {
            return parent;
        }
        right_angles_near(difference, MAX_FROM_RIGHT_ANGLES).unwrap_or(difference)
    }

    fn correction_of_bone(&self, part: &str, joints: [usize; 2], [from, to]: [DVec3; 2], parent: DQuat) -> DQuat {
        let from = self.space * from;
        let degrees = |correction: DQuat| (correction * from).angle_between(to).to_degrees();
        let towards = |correction: DQuat| DQuat::from_rotation_arc(correction * from, to) * correction;
        match part {
            "neck" | "Shoulder" if degrees(parent) <= MAX_OF_TRUNK => parent,
            "spine" | "chest" | "upperChest" => {
                let frames = [0, 1].map(|side: usize| self.figures[side].directions_of_chest(joints[side]));
                match frames {
                    [Some(from), Some(to)] => self.correction_of_frame(from, to, parent),
                    _ if degrees(parent) <= MAX_OF_TRUNK => parent,
                    _ => towards(parent),
                }
            }
            "Foot" => {
                let trunk = self.correction_of_hips();
                if degrees(trunk) > MAX_OF_FOOT {
                    return towards(parent);
                }
                match heading_between(trunk * from, to, self.up).map(f64::to_degrees) {
                    Some(degrees) if degrees.abs() > MAX_OF_LIMB => rotation_about(self.up, degrees) * trunk,
                    _ => trunk,
                }
            }
            "Toes" | "Eye" => parent,
            _ if degrees(parent) <= MAX_OF_LIMB => parent,
            _ => towards(parent),
        }
    }

    /// The rotation of an upper arm or leg about itself, so that it bends to the side to which its partner bends, which
    /// points along a direction.
    fn correction_of_bend(&self, part: &str, joints: [usize; 2], correction: DQuat, along: DVec3) -> DQuat {
        let is_upper = part == "UpperArm" || part == "UpperLeg";
        let bend = self.motion.bend(joints[0]).filter(|_| is_upper);
        let (Some(bend), Some(directions)) = (bend, self.figures[1].directions()) else { return DQuat::IDENTITY };
        if self.has_same_axes(joints, correction) {
            return DQuat::IDENTITY;
        }
        let corrected = correction * self.space * self.source.pose.rotations[joints[0]];
        let side = if part == "UpperLeg" { -directions.z_axis } else { directions.z_axis };
        match heading_between(corrected * bend, side, along).map(f64::to_degrees) {
            Some(angle) if angle.abs() > MAX_TWIST => rotation_about(along, angle),
            _ => DQuat::IDENTITY,
        }
    }

    /// The directions of a bone of the source and of its partner, each in its own space.
    fn directions(&self, side: &str, part: &str, joints: [usize; 2]) -> Option<[DVec3; 2]> {
        let bodies = [self.source.body, self.target.body];
        let offset = |next: [usize; 2]| -> Option<[DVec3; 2]> {
            let offsets = [0, 1].map(|of: usize| self.figures[of].offset(joints[of], next[of]).try_normalize());
            Some([offsets[0]?, offsets[1]?])
        };
        let of_role = |role: &str| -> Option<[usize; 2]> {
            let next = |body: &Body| if side.is_empty() { body.joint(role) } else { body.on_side(side, role) };
            Some([next(bodies[0])?, next(bodies[1])?])
        };
        if part == "Foot" {
            let toes = |of: usize| self.figures[of].toes(side, joints[of]);
            return offset([toes(0)?, toes(1)?]);
        }
        let found = next_parts(part).iter().find_map(|role| offset(of_role(role)?));
        found.or_else(|| {
            // The first thing that hangs from a hand may be anything.
            let is_limb = !matches!(part, "spine" | "chest" | "upperChest" | "neck" | "head" | "jaw" | "Eye" | "Hand");
            let end = |of: usize| bodies[of].end(joints[of]);
            offset([end(0)?, end(1)?]).filter(|_| is_limb)
        })
    }
}

/// The parts to one of which a part of the body points, the best first.
fn next_parts(part: &str) -> &'static [&'static str] {
    match part {
        "spine" | "chest" | "upperChest" => &["neck", "head"],
        "neck" => &["head"],
        "Shoulder" => &["UpperArm"],
        "UpperArm" => &["LowerArm"],
        "LowerArm" => &["Hand"],
        "Hand" => &["MiddleProximal", "IndexProximal"],
        "UpperLeg" => &["LowerLeg"],
        "LowerLeg" => &["Foot"],
        "ThumbMetacarpal" => &["ThumbProximal"],
        "ThumbProximal" => &["ThumbDistal"],
        "IndexProximal" => &["IndexIntermediate"],
        "IndexIntermediate" => &["IndexDistal"],
        "MiddleProximal" => &["MiddleIntermediate"],
        "MiddleIntermediate" => &["MiddleDistal"],
        "RingProximal" => &["RingIntermediate"],
        "RingIntermediate" => &["RingDistal"],
        "LittleProximal" => &["LittleIntermediate"],
        "LittleIntermediate" => &["LittleDistal"],
        _ => &[],
    }
}

/// The front of a figure. `None` if it does not stand upright along an axis.
fn front(figure: &Figure, up: DVec3) -> Option<DVec3> {
    let stands = figure.standing().is_some_and(|standing| standing.dot(up) >= MIN_UPRIGHT);
    figure.directions().filter(|_| stands).map(|directions| directions.z_axis)
}

/// The rotation about the up axis, in degrees, that makes one front another one. Near a quarter rotation, it is that.
pub(crate) fn heading(from: DVec3, to: DVec3, up: DVec3) -> f64 {
    let degrees = heading_between(from, to, up).unwrap_or(0.0).to_degrees();
    let quarter = 90.0 * (degrees / 90.0).round();
    // Not -0.
    0.0 + if (degrees - quarter).abs() <= MAX_FROM_QUARTER { quarter } else { degrees }
}

/// The angle from one direction to another about an axis, in radians. `None` if one of them is nearly along the axis.
fn heading_between(from: DVec3, to: DVec3, axis: DVec3) -> Option<f64> {
    let [from, to] = [from, to].map(|direction| direction - direction.dot(axis) * axis);
    let is_known = from.length() >= MIN_ACROSS && to.length() >= MIN_ACROSS;
    is_known.then(|| from.cross(to).dot(axis).atan2(from.dot(to)))
}

/// Returns `true` if all paired joints have the same places and rotations in the poses of source and target.
/// `target_of` has the partner of each joint of the source.
pub(super) fn are_same(target_of: &[Option<usize>], [source, target]: [&ModelPose; 2]) -> bool {
    let size = target.matrices.iter().map(|matrix| matrix.translation.length()).fold(0.0, f64::max);
    let same = |from: usize, to: usize| {
        let places = [&source.matrices[from], &target.matrices[to]].map(|matrix| matrix.translation);
        places[0].distance(places[1]) <= SAME_PLACE * size
            && angle(source.rotations[from], target.rotations[to]) <= SAME_PLACE
    };
    let mut pairs = target_of.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?))).peekable();
    pairs.peek().is_some() && pairs.all(|(from, to)| same(from, to))
}

/// The up axis of a source: the up axis of its clips. If its rest pose stands along another axis, the feet must come
/// down near the origin of the first one: a clip may lie, or stand on its hands.
pub(super) fn up_of_source(at_rest: Option<DVec3>, motion: &SourceMotion, leg: Option<f64>) -> Option<DVec3> {
    let in_motion = motion.up();
    match (at_rest, in_motion) {
        (Some(at_rest), Some(up)) if at_rest != up => {
            let is_on_ground = leg.is_some_and(|leg| motion.is_near_ground(up, MAX_FROM_GROUND * leg));
            // No world has a rest pose that stands on its head.
            Some(if is_on_ground || at_rest.min_element() < 0.0 { up } else { at_rest })
        }
        _ => in_motion.or(at_rest),
    }
}

/// The rotation about an axis by an angle in degrees. Multiples of a right angle are exact.
fn rotation_about(axis: DVec3, degrees: f64) -> DQuat {
    let quarters = degrees / 90.0;
    if quarters.fract() != 0.0 {
        return DQuat::from_axis_angle(axis, quarters * FRAC_PI_2);
    }
    let (across, along) = match quarters.rem_euclid(4.0) as u8 {
        0 => (0.0, 1.0),
        1 => (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        2 => (1.0, 0.0),
        _ => (-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    };
    let [x, y, z] = (axis * across).to_array();
    DQuat::from_xyzw(x, y, z, along)
}

/// The shortest rotation of one axis onto another. That onto the opposite one is about +X, or about +Y for the axis x:
/// a camera has +X on the right and +Y below, and a figure that looks into it faces -Z.
fn quarter_rotation(from: DVec3, to: DVec3) -> DQuat {
    if from == -to {
        return rotation_about(if from.x == 0.0 { DVec3::X } else { DVec3::Y }, 180.0);
    }
    rotation_about(from.cross(to), if from == to { 0.0 } else { 90.0 })
}

/// The rotation that maps axes onto axes and is nearest to another one. `None` if it differs by more degrees than this.
fn right_angles_near(rotation: DQuat, most: f64) -> Option<DQuat> {
    let degrees = |correction: &DQuat| angle(rotation, *correction).to_degrees();
    let nearest = rotations_of_right_angles().min_by(|one, other| degrees(one).total_cmp(&degrees(other)));
    nearest.filter(|correction| degrees(correction) <= most)
}

/// The 24 rotations that map axes onto axes.
fn rotations_of_right_angles() -> impl Iterator<Item = DQuat> {
    let ups = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    ups.flat_map(|up| {
        (0..4).map(move |quarter| rotation_about(up, 90.0 * f64::from(quarter)) * quarter_rotation(DVec3::Y, up))
    })
}
