//! The root of the map: the joint that moves the body, the factor of its movement, and the ground.
//!
//! A place `p` of the source's root becomes `origin + k F p`, with the factor `k` and the rotation `F` of the source's
//! space, both the same for all clips. The origin depends on the clip:
//!
//! * Sideways, it is 0: the path begins where the path of the source begins, scaled.
//! * Upward, it is `H - k (g + h)`. `H` is the height of the target's hips at rest above its ground. `g` is the ground
//!   of the source. `h` is the height of the source's hips in the reference pose, as it would stand on that ground
//!   after its bones were rotated.
//!
//! The ground of the source is 0 if the lowest point of the feet is within a tenth of a leg of 0 in a tenth of the
//! poses of the clip or more, else it is the lowest point over the clip. A skeleton whose hips lie at 0 at rest
//! therefore gives the result of one whose hips lie at their height.
//!
//! Where hips and legs are not known on both sides, the root moves relative to the reference pose and to the rest pose
//! of the target. Upward, it does not if the hips of the source lie at the origin in the reference pose, but higher in
//! the clip: then its height in the clip is all that is known, and is scaled.
//!
//! Hips can be carried by a joint that is elsewhere, as a root on the ground. If they are on one side alone, `p` is the
//! place between the legs on both.

use std::fmt;

use glam::{DQuat, DVec3};

use crate::model::ClipId;
use crate::retarget::body::{Figure, ratio};
use crate::retarget::conventions::HIPS;
use crate::retarget::joint_map::RootTranslation;
use crate::retarget::options::Ground;
use crate::retarget::plan::RetargetPlan;
use crate::retarget::pose::ModelPose;

/// The largest height of feet that stand on the ground, as a share of a leg.
pub(crate) const MAX_ABOVE_GROUND: f64 = 0.1;
/// The share of the poses in which feet may be below the ground, as by errors of a capture.
pub(crate) const SHARE_BELOW_GROUND: f64 = 0.02;
/// The share of the poses in which the lowest joint of the feet may be lower than in a foot that stands flat.
const SHARE_BELOW_FLAT: f64 = 0.3;
/// The share of the poses in which feet come down near 0, from which on the ground is there.
pub(crate) const MIN_ON_ORIGIN: f64 = 0.1;
/// The least height of hips that are not at the origin of their space, as a share of the trunk.
const MIN_HIPS: f64 = 0.2;
/// The height of a root above the lowest joint, as a share of its rig's size, up to which no ratio of heights is
/// formed: in a zero pose along one axis, it is hardly more than nothing.
const MIN_HEIGHT: f64 = 0.05;
/// The part of the rig's size up to which two places are the same.
const SAME_PLACE: f64 = 1e-9;

/// The lengths of which the factor of the root's movement is the ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootScale {
    /// The caller or the map gives it.
    Given,
    /// The lengths of the legs.
    Legs,
    /// The heights of the hips.
    HipsHeight,
    /// The lengths from the hips to the head.
    Trunk,
    /// The heights of the roots above the lowest mapped joint.
    RootHeight,
    /// The sizes of the rigs.
    RigSize,
}

impl fmt::Display for RootScale {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(match self {
            Self::Given => "as given",
            Self::Legs => "the ratio of the lengths of the legs",
            Self::HipsHeight => "the ratio of the heights of the hips",
            Self::Trunk => "the ratio of the lengths from the hips to the head",
            Self::RootHeight => "the ratio of the heights of the roots",
            Self::RigSize => "the ratio of the sizes of the rigs",
        })
    }
}

/// The root, and the factor of its movement.
pub(super) struct Root {
    pub source: usize,
    pub target: usize,
    pub scale: f64,
    pub basis: RootScale,
    /// The reason for which the root does not move. `None` if it does.
    pub still: Option<StillRoot>,
    /// The place between the legs in the spaces of the root of the source and of the target, where only one of them is
    /// far from it.
    pub pivots: Option<[DVec3; 2]>,
    heights: Option<Heights>,
}

/// The reason for which the root does not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StillRoot {
    /// The map wants it so.
    Map,
    /// A joint above the root of the target, this one, has a scale of 0.
    ZeroScale(usize),
}

/// What is known of the heights of hips.
struct Heights {
    /// The height of the target's hips above its ground, or of another root at rest.
    target: f64,
    /// The height of the source in the reference pose, without what is under the lowest joint of a foot.
    source: f64,
    /// The height of the lowest joint of the feet above the ground in the reference pose. `None` if it does not stand
    /// on the ground.
    sole: Option<f64>,
    /// The length of a leg of the source.
    leg: f64,
}

impl Root {
    /// The root of a plan. `None` if no joint is mapped.
    pub fn of(plan: &RetargetPlan) -> Option<Self> {
        let [source, target] = plan.links.root?;
        let (scale, basis) = match plan.map.translation {
            RootTranslation::Full => (1.0, RootScale::Given),
            RootTranslation::Scaled(Some(scale)) => (scale, RootScale::Given),
            RootTranslation::Scaled(None) | RootTranslation::None => factor(plan, source, target),
        };
        let still = match plan.map.translation {
            RootTranslation::None => Some(StillRoot::Map),
            _ => plan.flat_above(target).map(StillRoot::ZeroScale),
        };
        let pivots = pivots(plan, [source, target]);
        let mut root = Self { source, target, scale, basis, still, pivots, heights: None };
        root.heights = root.heights(plan);
        Some(root)
    }

    /// The root, if it moves.
    pub fn moving(&self) -> Option<&Self> {
        Some(self).filter(|root| root.still.is_none())
    }

    /// Returns `true` if the heights of hips above the ground are known on both sides.
    pub fn stands(&self) -> bool {
        self.heights.is_some()
    }

    /// The place in the target that belongs to the origin of the source, and the ground of a clip in the space of the
    /// source.
    pub fn origin(&self, plan: &RetargetPlan, clip: ClipId) -> (DVec3, Option<f64>) {
        let [of_source, of_target] = self.pivots.unwrap_or_default();
        let rest = plan.rest.matrices[self.target].transform_point3(of_target);
        let reference = plan.alignment.space * plan.reference.matrices[self.source].transform_point3(of_source);
        let relative = rest - self.scale * reference;
        let up = plan.alignment.up[1];
        let Some(heights) = &self.heights else {
            let is_in_clip =
                plan.options.ground != Ground::Keep && self.has_height_in_clip(plan, clip, reference.dot(up));
            return (if is_in_clip { relative - relative.dot(up) * up } else { relative }, None);
        };
        let lowest = plan.lowest_foot(clip).unwrap_or(0.0);
        let limit = MAX_ABOVE_GROUND * heights.leg;
        let is_same = plan.alignment.is_same && relative.length() <= SAME_PLACE * plan.target_size;
        let ground = match plan.options.ground {
            Ground::Auto if !is_same && !plan.is_on_origin(clip, limit) => lowest,
            Ground::Auto | Ground::Zero => 0.0,
            Ground::Keep => return (relative.dot(up) * up, None),
        };
        if is_same && ground == 0.0 {
            return (DVec3::ZERO, Some(ground));
        }
        let sole =
            heights.sole.unwrap_or_else(|| (plan.flat_foot(clip).unwrap_or(lowest) - ground).clamp(-limit, limit));
        ((heights.target - self.scale * (ground + heights.source + sole)) * up, Some(ground))
    }

    /// Returns `true` if the hips of the source lie at the origin in the reference pose, and at least as high as a share
    /// of the body in a clip, and those of the target do so at rest.
    fn has_height_in_clip(&self, plan: &RetargetPlan, clip: ClipId, in_reference: f64) -> bool {
        let [up, target_up] = plan.alignment.up;
        let size = |side: usize, pose: &ModelPose| {
            let figure = Figure::new(&plan.bodies[side], &pose.matrices);
            figure.leg().or_else(|| figure.trunk())
        };
        let are_hips = [(0, self.source), (1, self.target)].iter().all(|&(side, root)| {
            let skeleton = [plan.source, plan.target][side];
            let hips = plan.bodies[side].joint(HIPS);
            hips.is_some_and(|hips| hips == root || skeleton.ancestors(hips).any(|above| above == root))
        });
        let [Some(source), Some(target)] = [size(0, &plan.reference), size(1, &plan.rest)] else { return false };
        let at_rest = plan.rest.matrices[self.target].translation.dot(target_up);
        // Other joints with these names are no body.
        let is_body = Figure::new(&plan.bodies[0], &plan.reference.matrices).directions().is_some()
            && Figure::new(&plan.bodies[1], &plan.rest.matrices).standing().is_some_and(|up| up.dot(target_up) > 0.5);
        is_body
            && are_hips
            && in_reference.abs() <= MIN_HIPS * source
            && at_rest > MIN_HIPS * target
            && plan.motion.height_of_hips(clip, up).is_some_and(|height| height > MIN_HIPS * source)
    }

    fn heights(&self, plan: &RetargetPlan) -> Option<Heights> {
        let [of_source, of_target] = &plan.bodies;
        let hips = [of_source.joint("hips")?, of_target.joint("hips")?];
        if !of_source.has_legs() || !of_target.has_legs() {
            return None;
        }
        let up = plan.alignment.up[1];
        let is_hips = [self.source, self.target] == hips;
        let is_above = plan.source.ancestors(hips[0]).any(|joint| joint == self.source)
            && plan.target.ancestors(hips[1]).any(|joint| joint == self.target);
        let reference = Figure::corrected(of_source, plan.source, &plan.reference.matrices, |_| plan.alignment.space);
        let rest = Figure::new(of_target, &plan.rest.matrices);
        let leg = reference.leg()?;
        let stands = |figure: &Figure| figure.standing().is_some_and(|standing| standing.dot(up) > 0.5);
        let [source_stands, target_stands] = [stands(&reference), stands(&rest)];
        let lowest = reference.lowest_foot(up)?;
        let sole = (source_stands && lowest.abs() <= MAX_ABOVE_GROUND * leg).then_some(lowest);
        if !is_hips && !is_above {
            return None;
        }
        if is_above {
            // It lies on the ground itself, or where the reference pose has it.
            let [source, target] = [reference.places[self.source].dot(up), rest.places[self.target].dot(up)];
            return Some(Heights { target, source, sole: Some(0.0), leg });
        }
        let place = |figure: &Figure, hips: usize| match self.pivots {
            Some(_) => figure.pelvis(),
            None => Some(figure.places[hips]),
        };
        let above_feet = |figure: &Figure, hips: usize| Some(place(figure, hips)?.dot(up) - figure.lowest_foot(up)?);
        let (source, target) = if target_stands {
            let corrections = &plan.alignment.corrections;
            let space = plan.alignment.space;
            let corrected =
                Figure::corrected(of_source, plan.source, &plan.reference.matrices, |joint| corrections[joint] * space);
            (above_feet(&corrected, hips[0])?, above_feet(&rest, hips[1])?)
        } else if source_stands {
            let corrections = plan.target_corrections();
            let corrected =
                Figure::corrected(of_target, plan.target, &plan.rest.matrices, |joint| corrections[joint].conjugate());
            (above_feet(&reference, hips[0])?, above_feet(&corrected, hips[1])?)
        } else {
            (leg, rest.leg()?)
        };
        let own_leg = rest.leg()?;
        let own = rest.lowest_foot(up).filter(|own| target_stands && own.abs() <= MAX_ABOVE_GROUND * own_leg);
        let target = target + own.unwrap_or(self.scale * sole.unwrap_or(0.0));
        Some(Heights { target, source, sole, leg })
    }
}

/// The place between the legs in the spaces of the roots, if both are hips and only one of them is far from it.
fn pivots(plan: &RetargetPlan, roots: [usize; 2]) -> Option<[DVec3; 2]> {
    let poses = [&plan.reference, &plan.rest];
    let pivot = |side: usize| {
        let body = &plan.bodies[side];
        let (matrices, root) = (&poses[side].matrices, roots[side]);
        let pelvis = Figure::new(body, matrices).pelvis().filter(|_| body.joint(HIPS) == Some(root))?;
        let pivot = matrices[root].inverse().transform_point3(pelvis);
        let is_far = pelvis != matrices[root].translation;
        pivot.is_finite().then_some((if is_far { pivot } else { DVec3::ZERO }, is_far))
    };
    let [(source, is_source_far), (target, is_target_far)] = [pivot(0)?, pivot(1)?];
    (is_source_far != is_target_far).then_some([source, target])
}

/// The factor of the root's movement, and its basis.
fn factor(plan: &RetargetPlan, source: usize, target: usize) -> (f64, RootScale) {
    let [of_source, of_target] = &plan.bodies;
    let [from, to] = [Figure::new(of_source, &plan.reference.matrices), Figure::new(of_target, &plan.rest.matrices)];
    let quotient = |to: Option<f64>, from: Option<f64>| ratio(to?, from?);
    if let Some(scale) = quotient(to.leg(), from.leg()) {
        return (scale, RootScale::Legs);
    }
    let sides = [(&from, plan.alignment.up[0]), (&to, plan.alignment.up[1])];
    if let [Some(source), Some(target)] = [of_source, of_target].map(|body| body.joint("hips")) {
        let height = |side: usize, hips: usize| -> Option<f64> {
            let (figure, up) = sides[side];
            let height = figure.places[hips].dot(up);
            figure.trunk().filter(|trunk| height > MIN_HIPS * trunk).map(|_| height)
        };
        if let Some(scale) = quotient(height(1, target), height(0, source)) {
            return (scale, RootScale::HipsHeight);
        }
        if let Some(scale) = quotient(to.trunk(), from.trunk()) {
            return (scale, RootScale::Trunk);
        }
    }
    let sizes = [crate::compress::bound::rig_size(plan.source), plan.target_size];
    let height = |side: usize, root: usize, joints: &[usize]| {
        let (figure, up) = sides[side];
        let above = |joint: usize| figure.places[joint].dot(up);
        let height = above(root) - joints.iter().map(|&joint| above(joint)).fold(f64::INFINITY, f64::min);
        (height > MIN_HEIGHT * sizes[side]).then_some(height)
    };
    let [sources, targets]: [Vec<usize>; 2] = [
        plan.map.pairs.iter().map(|pair| pair.source).collect(),
        plan.map.pairs.iter().map(|pair| pair.target).collect(),
    ];
    match quotient(height(1, target, &targets), height(0, source, &sources)) {
        Some(scale) => (scale, RootScale::RootHeight),
        None => (sizes[1] / sizes[0], RootScale::RigSize),
    }
}

impl RetargetPlan<'_> {
    /// The height at which the feet of the source come down in a clip. `None` without feet.
    pub fn lowest_foot(&self, clip: ClipId) -> Option<f64> {
        self.motion.lowest_foot(clip, self.alignment.up[0], SHARE_BELOW_GROUND)
    }

    /// Returns `true` if the feet of the source come down within a height of 0 in a clip, at least now and then.
    fn is_on_origin(&self, clip: ClipId, height: f64) -> bool {
        self.motion.share_on_origin(clip, self.alignment.up[0], height) >= MIN_ON_ORIGIN
    }

    /// The height of the lowest joint of the feet of the source in a clip while they stand flat. `None` without feet.
    fn flat_foot(&self, clip: ClipId) -> Option<f64> {
        self.motion.lowest_foot(clip, self.alignment.up[0], SHARE_BELOW_FLAT)
    }

    /// The rotation of each joint of the target: the rotation of its partner, or of its parent.
    fn target_corrections(&self) -> Vec<DQuat> {
        let mut corrections: Vec<DQuat> = Vec::with_capacity(self.target.joints().len());
        for (joint, node) in self.target.joints().iter().enumerate() {
            let of_parent = node.parent.map_or(DQuat::IDENTITY, |parent| corrections[parent]);
            corrections.push(self.source_of[joint].map_or(of_parent, |source| self.alignment.corrections[source]));
        }
        corrections
    }
}
