//! What looks wrong about a retargeting, although a result could be made.

use glam::{DAffine3, DVec3};

use crate::model::{ClipId, Library, list_morphs, list_names};
use crate::retarget::body::{Body, Figure, MAX_BEND, SIDES};
use crate::retarget::conventions::{HIPS, TRUNK};
use crate::retarget::joint_map::{JointMap, MapSide};
use crate::retarget::options::{Facing, Ground};
use crate::retarget::plan::RetargetPlan;
use crate::retarget::root::Root;

/// The smallest difference of two fronts that is mentioned, in degrees.
const MIN_FACING: f64 = 20.0;

/// The smallest difference of the directions of a bone in the two poses that look alike that is mentioned, in degrees.
const MIN_DIRECTION: f64 = 20.0;

/// Something that looks wrong about a retargeting.
#[derive(Debug, Clone, PartialEq)]
pub enum RetargetWarning {
    /// The figure stands along no axis, neither in its clips nor at rest, so that +Y counts as up.
    UnknownUp,
    /// It is not known which direction source or target faces, because its pose does not stand upright. +Z counts as
    /// its front, or -Y if +Z is up. A source that stands along another axis than in its clips is known to face there
    /// if it does so when it is stood up.
    UnknownFront,
    /// The source faces elsewhere than the target, and the options keep it so.
    KeptFront {
        /// The difference in degrees.
        degrees: f64,
    },
    /// Bones point elsewhere than their partners in the two poses that should look alike, by more than 20 degrees, and
    /// are not rotated there: the options keep them, or source or target is no human. A bone is a joint with one mapped
    /// joint below it.
    Directions {
        /// The joints of the source.
        joints: Vec<usize>,
        /// The largest difference in degrees.
        degrees: f64,
    },
    /// This side stands on four legs, and the other one on two.
    FourLegs(MapSide),
    /// The left arm is on the side of the right leg.
    SwappedSides(MapSide),
    /// The toes point backward, if the left leg is on the left.
    BackwardFeet(MapSide),
    /// Hips are known on both sides, but not all joints of the legs, so that no ground was found. The root moves up and
    /// down relative to the two poses that look alike; if the hips of the source lie at the origin in its pose, as they
    /// do in the clip, times the factor of the root.
    NoGround,
    /// Joints of this side hang elsewhere than in a human: the feet not below the lower legs, the hands not below the
    /// lower arms, or the arms not above the trunk. They do not move along with them.
    Detached {
        /// The side.
        side: MapSide,
        /// The joints.
        joints: Vec<usize>,
    },
    /// The feet come down at another height than 0. This height was taken as the ground, unless the options say
    /// otherwise.
    Ground {
        /// The clip of the source.
        clip: ClipId,
        /// The height of the lowest point of the feet, in lengths of a leg.
        legs: f64,
        /// `true` if it was taken as the ground.
        is_taken: bool,
    },
    /// Clips move the morph weights of a joint, and no joint of the target has such morph targets.
    Morphs {
        /// The joint of the source.
        joint: usize,
    },
    /// Clips move the morph weights of a joint whose partner has another number of them, and not both name them.
    MorphCounts {
        /// The joint of the source.
        joint: usize,
        /// Its partner.
        partner: usize,
        /// The numbers of morph weights: of the source, of the target.
        counts: [usize; 2],
    },
    /// Clips move the morph weights of a joint, of which some have no partner of the same name.
    MorphNames {
        /// The joint of the source.
        joint: usize,
        /// The morph targets without a partner: of the source, which are left out, and of the target, which keep their
        /// rest weights. One without a name has its index.
        morphs: [Vec<String>; 2],
    },
    /// Clips drive expressions that the target does not have, or that move no morph weights there.
    Expressions {
        /// Their names.
        names: Vec<String>,
    },
    /// A clip moves joints below the root in their parents, by 2 % of a leg or more. These have partners, but under
    /// other names, so that the movements are left out.
    LostTranslations {
        /// The clip of the source.
        clip: ClipId,
        /// The joints of the source.
        joints: Vec<usize>,
    },
}

impl RetargetWarning {
    /// What looks wrong about a plan, with the grounds of the clips, and the joints whose translations they lose.
    pub(super) fn of(
        plan: &RetargetPlan,
        root: Option<&Root>,
        grounds: impl Iterator<Item = (ClipId, Option<f64>)>,
        lost: impl Iterator<Item = (ClipId, Vec<usize>)>,
    ) -> Vec<Self> {
        let [of_source, of_target] = &plan.bodies;
        let figures = [Figure::new(of_source, &plan.reference.matrices), Figure::new(of_target, &plan.rest.matrices)];
        let mut warnings = Vec::new();
        let [source, target] = [0, 1].map(|side: usize| figures[side].directions());
        if source.is_some() && !plan.alignment.is_up_known {
            warnings.push(Self::UnknownUp);
        }
        if source.is_some() && target.is_some() {
            match (plan.options.facing, plan.alignment.heading) {
                (Facing::Auto, _) if !plan.alignment.is_front_known => warnings.push(Self::UnknownFront),
                (Facing::Keep, Some(degrees)) if plan.alignment.is_front_known && degrees.abs() > MIN_FACING => {
                    warnings.push(Self::KeptFront { degrees });
                }
                _ => {}
            }
        }
        if !(plan.options.align && source.is_some() && target.is_some()) {
            warnings.extend(directions(plan));
        }
        // In many zero poses, an animal does not stand.
        let [source, target] = figures.each_ref().map(Figure::standing_limbs);
        match [source.or_else(|| plan.motion.standing_limbs()), target] {
            [Some(4), Some(2)] => warnings.push(Self::FourLegs(MapSide::Source)),
            [Some(2), Some(4)] => warnings.push(Self::FourLegs(MapSide::Target)),
            _ => {}
        }
        for (side, figure) in [MapSide::Source, MapSide::Target].into_iter().zip(&figures) {
            if has_swapped_sides(figure) {
                warnings.push(Self::SwappedSides(side));
            } else if has_backward_feet(figure) {
                warnings.push(Self::BackwardFeet(side));
            }
        }
        let joints = detached(plan);
        if !joints.is_empty() {
            warnings.push(Self::Detached { side: MapSide::Target, joints });
        }
        if lacks_ground(plan, root) {
            warnings.push(Self::NoGround);
        }
        let lost = lost.filter(|(_, joints)| !joints.is_empty());
        warnings.extend(lost.map(|(clip, joints)| Self::LostTranslations { clip, joints }));
        let Some(leg) = figures[0].leg().filter(|_| root.and_then(Root::moving).is_some_and(Root::stands)) else {
            return warnings;
        };
        for (clip, known) in grounds {
            let Some(lowest) = plan.lowest_foot(clip) else { continue };
            let ground = known.unwrap_or(0.0);
            if ground != 0.0 || lowest.abs() > 0.25 * leg && known.is_some() {
                warnings.push(Self::Ground { clip, legs: lowest / leg, is_taken: ground != 0.0 });
            }
        }
        warnings
    }

    /// The warning as a sentence.
    pub fn describe(&self, library: &Library, map: &JointMap) -> String {
        let side = |side: &MapSide| match side {
            MapSide::Source => ("source", library.skeleton(map.source)),
            MapSide::Target => ("target", library.skeleton(map.target)),
        };
        let of = |which: &MapSide| {
            let (word, skeleton) = side(which);
            skeleton.name().map_or_else(|| format!("the {word}"), |name| format!("the {word} ({name})"))
        };
        match self {
            Self::UnknownUp => {
                "the source stands along no axis, neither in its clips nor at rest; +Y counts as up, and the option for the up \
                 axis of the source chooses another one"
                    .into()
            }
            Self::UnknownFront => {
                "it is not known which direction the source or the target faces, because its pose does not stand upright: +Z \
                 counts as the front; the option for facing gives another rotation"
                    .into()
            }
            Self::KeptFront { degrees } => format!(
                "the target faces elsewhere than the source, which would have to be rotated by {degrees:.0} degrees; the options \
                 keep it as it is"
            ),
            Self::Directions { joints, degrees } => {
                let names = list_names(joints.iter().map(|&joint| library.skeleton(map.source).joint_name(joint)));
                format!(
                    "bones point up to {degrees:.0} degrees elsewhere than their partners in the two poses that should look \
                     alike, and keep that difference: {names}; choose another reference pose, or another pose of the target"
                )
            }
            Self::FourLegs(which) => {
                let other = if *which == MapSide::Source { "target" } else { "source" };
                format!(
                    "{} stands on four legs, and the {other} on two, so that arms and forelegs take over each other's \
                     movements, which rarely looks right; choose clips of a body of the same kind",
                    of(which)
                )
            }
            Self::SwappedSides(which) => format!(
                "the left arm of {} is on the side of its right leg: left and right are swapped in its names or in the map",
                of(which)
            ),
            Self::BackwardFeet(which) => format!(
                "the toes of {} point backward, if its left leg is on the left: left and right may be swapped",
                of(which)
            ),
            Self::NoGround => {
                "no ground was found, because joints of the legs are not known: the height of the hips follows the source \
                 alone; a map file can name the joints of the legs"
                    .into()
            }
            Self::Detached { side: which, joints } => {
                let skeleton = side(which).1;
                let names = list_names(joints.iter().map(|&joint| skeleton.joint_name(joint)));
                format!(
                    "joints of {} hang elsewhere in the hierarchy than in a human, so that they do not move along with the \
                     limbs or the trunk that they belong to: {names}",
                    of(which)
                )
            }
            Self::Ground { clip, legs, is_taken } => {
                let clip = library.clip(*clip).label();
                let effect = if *is_taken { "this height is taken as the ground" } else { "the ground is kept at 0" };
                let cause = if legs.abs() > 2.0 { "; the root may move in another unit than the skeleton" } else { "" };
                format!("clip {clip}: the feet come down {legs:.2} legs from height 0; {effect}{cause}")
            }
            Self::LostTranslations { clip, joints } => {
                let clip = library.clip(*clip).label();
                let names = list_names(joints.iter().map(|&joint| library.skeleton(map.source).joint_name(joint)));
                format!(
                    "clip {clip}: joints below the root move in their parents, which is left out: {names}; a map file that \
                     names their pairs, without \"by_names\", carries the movements over"
                )
            }
            Self::Morphs { .. } | Self::MorphCounts { .. } | Self::MorphNames { .. } | Self::Expressions { .. } => {
                self.describe_morphs(library, map)
            }
        }
    }

    /// The sentence of a warning about morph targets or expressions; empty for others.
    fn describe_morphs(&self, library: &Library, map: &JointMap) -> String {
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        match self {
            Self::Morphs { joint } => format!(
                "the morph weights of {} are left out: no joint of the target has such morph targets",
                source.joint_name(*joint)
            ),
            Self::MorphCounts { joint, partner, counts: [from, to] } => format!(
                "the morph weights of {} are left out: it has {from}, its partner {} has {to}, and not both name them",
                source.joint_name(*joint),
                target.joint_name(*partner)
            ),
            Self::MorphNames { joint, morphs } => format!(
                "morph targets of {} without a partner of the same name: {}",
                source.joint_name(*joint),
                list_morphs(morphs, ["source", "target"])
            ),
            Self::Expressions { names } => {
                format!("expressions that move no morph weights of the target are left out: {}", list_names(names))
            }
            _ => String::new(),
        }
    }
}

/// A warning about the bones that point elsewhere than their partners, if there are any.
fn directions(plan: &RetargetPlan) -> Option<RetargetWarning> {
    if plan.alignment.is_same {
        return None;
    }
    let mut below: Vec<Option<usize>> = vec![None; plan.target_of.len()];
    let mut has_several = vec![false; plan.target_of.len()];
    for joint in (0..plan.target_of.len()).filter(|&joint| plan.target_of[joint].is_some()) {
        if let Some(above) = plan.mapped_above_source(joint) {
            has_several[above] |= below[above].replace(joint).is_some();
        }
    }
    let difference = |joint: usize| {
        let below = below[joint].filter(|_| !has_several[joint])?;
        let (to, to_below) = (plan.target_of[joint]?, plan.target_of[below]?);
        (plan.mapped_above_target(to_below) == Some(to)).then_some(())?;
        let bone = |matrices: &[DAffine3], from: usize, to: usize| {
            (matrices[to].translation - matrices[from].translation).try_normalize()
        };
        let space = plan.alignment.corrections[joint] * plan.alignment.space;
        let own = space * bone(&plan.reference.matrices, joint, below)?;
        Some(own.angle_between(bone(&plan.rest.matrices, to, to_below)?).to_degrees())
    };
    let apart = (0..below.len()).filter_map(|joint| Some((joint, difference(joint)?)));
    let apart: Vec<(usize, f64)> = apart.filter(|(_, degrees)| *degrees > MIN_DIRECTION).collect();
    let degrees = apart.iter().fold(0.0, |most: f64, (_, degrees)| most.max(*degrees));
    let joints: Vec<usize> = apart.into_iter().map(|(joint, _)| joint).collect();
    (!joints.is_empty()).then_some(RetargetWarning::Directions { joints, degrees })
}

/// Returns `true` if the root moves although no ground was found, in two bodies that have hips and some joint of a leg.
fn lacks_ground(plan: &RetargetPlan, root: Option<&Root>) -> bool {
    let has_part_of_leg = |body: &Body| {
        let has = |role: &str| SIDES.iter().any(|side| body.on_side(side, role).is_some());
        body.joint(HIPS).is_some() && ["UpperLeg", "LowerLeg", "Foot"].into_iter().any(has)
    };
    let moves_up = root.and_then(Root::moving).is_some_and(|root| !root.stands());
    let are_legs_whole = plan.bodies.iter().all(Body::has_legs);
    let looks_for_ground = !plan.alignment.is_same && plan.options.ground != Ground::Keep;
    moves_up && looks_for_ground && !are_legs_whole && plan.bodies.iter().all(has_part_of_leg)
}

/// The mapped joints of the target that are not below the limb to which they belong, and the highest joint of a trunk
/// that carries neither arms nor neck.
fn detached(plan: &RetargetPlan) -> Vec<usize> {
    let (body, skeleton) = (&plan.bodies[1], plan.target);
    let is_mapped = |joint: &usize| plan.source_of[*joint].is_some();
    let ends = [("Foot", "LowerLeg"), ("Hand", "LowerArm")].into_iter().flat_map(|(end, limb)| {
        SIDES.iter().filter_map(move |side| {
            let [end, limb] = [end, limb].map(|role| body.on_side(side, role));
            Some([end?, limb?]).filter(|[end, limb]| !skeleton.is_below(*end, *limb)).map(|[end, _]| end)
        })
    });
    let mut joints: Vec<usize> = ends.filter(is_mapped).collect();
    let top = TRUNK.iter().rev().find_map(|role| body.joint(role)).filter(is_mapped);
    let carried: Vec<usize> =
        ["leftUpperArm", "rightUpperArm", "neck"].iter().filter_map(|role| body.joint(role)).collect();
    let carries = |top: usize| carried.iter().any(|&joint| skeleton.is_below(joint, top));
    joints.extend(top.filter(|&top| !carried.is_empty() && !carries(top)));
    joints
}

fn has_swapped_sides(figure: &Figure) -> bool {
    let across = |role: &str| figure.across(role).and_then(DVec3::try_normalize);
    // In some zero poses, the spine is bent.
    let neck = |hips: usize| Some(figure.offset(hips, figure.body.upper_end()?));
    let neck = figure.body.joint("hips").and_then(neck);
    let is_straight = matches!((figure.standing(), neck), (Some(up), Some(neck)) if up.angle_between(neck) < MAX_BEND);
    let arms = || across("UpperArm").filter(|_| is_straight);
    matches!((across("UpperLeg"), arms()), (Some(legs), Some(arms)) if legs.dot(arms) < -0.5)
}

/// Returns `true` if both feet stand flat and point backward.
fn has_backward_feet(figure: &Figure) -> bool {
    let (Some(directions), Some(_)) = (figure.directions(), figure.standing()) else { return false };
    let toes = |side: &str| {
        let foot = figure.body.on_side(side, "Foot")?;
        figure.offset(foot, figure.toes(side, foot)?).try_normalize()
    };
    SIDES.iter().all(|side| toes(side).is_some_and(|toes| toes.dot(directions.z_axis) < -0.5))
}
