//! Mirror images of clips: left and right exchanged.
//!
//! A mirror image is a retargeting of a rig onto itself with the joints of both sides exchanged. The reflection in the
//! plane is `-H`, with the half turn `H` about its normal. With model-space rotations `S(t)` of the partner of a joint,
//! `S0` in a pose that is its own mirror image, and `T0` of the joint itself in that pose, the rotation of the joint is
//! `(H S(t) H^-1) (H S0 H^-1)^-1 T0 = H S(t) (H S0)^-1 T0`. That is the rule of a retargeting whose space is rotated
//! by `H`, see [`alignment`](super::alignment): the local rotation is `A s(t) B` with constants, so that keys stay
//! exact. A translation is carried over with a factor of -1. Root joints are no exception: the plane of each contains
//! its place at rest.
//!
//! **The pose that is its own mirror image** is the rest pose. If that is not symmetric, but the bind pose of the
//! skin is, it is that one. If neither is, the mirror image of the pose is rotated bone by bone, from the top downward,
//! until its bones point where the bones of the pose point ([`corrections`]). So the mirrored figure has the mirrored
//! directions of the original in any case. Of a human, only the joints with roles count: hair that falls to one side is
//! a matter of shape, not of pose. The figure may also face obliquely at rest: then `H0`, the half turn about its own
//! normal, stands for `H` in that pose.
//!
//! **A joint on one side without a partner**, as a sword, moves relative to its parent as in a mirror: its own motion
//! is reflected, relative to its rest pose. One above joints with partners stays at rest, so that these get where their
//! partners were.

use std::collections::{HashMap, HashSet};

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::{self, angle, unit};
use crate::model::{Clip, ClipId, Curve, Interpolation, Library, Skeleton, Target, Track, Transform, no_such};
use crate::reference::values::{Values, model_matrices};
use crate::retarget::alignment::Alignment;
use crate::retarget::body::{Body, Figure, SIDES};
use crate::retarget::clip::{MadeTrack, Rotations, mapped_curve, reason, root_motion, rotated_curve};
use crate::retarget::joint_map::{JointMap, JointPair, MatchedBy, are_joints};
use crate::retarget::mirror_map::{MirrorMap, direction_to_left, extent, half_turn, middle};
use crate::retarget::morphs::{mirrored_drivers, mirrored_morphs};
use crate::retarget::motion::SourceMotion;
use crate::retarget::moving_joints::{MovingJoints, TransformPart};
use crate::retarget::options::RetargetOptions;
use crate::retarget::plan::{Links, RetargetPlan};
use crate::retarget::pose::{ModelPose, ReferencePose};
use crate::retarget::report::{DropReason, DroppedTrack, RetargetedClip, RetargetedTrack, TrackMethod};
use crate::retarget::resample::{KeyBudget, MotionKnots, MotionValue, SampledMotion, resample};

/// The end of the name of a mirrored clip.
const SUFFIX: &str = "_mirror";

/// The distance of joints from the mirrored places of their partners up to which a pose is symmetric: the root of the
/// mean square, as a share of the size of the figure.
const MAX_ASYMMETRY: f64 = 0.01;
/// The angle in degrees up to which a normal, or the bone of a joint, counts as the mirror image.
const MAX_ANGLE: f64 = 2.0;
/// The same for a joint with several bones, whose directions are a matter of build, too.
const MAX_ANGLE_OF_SEVERAL: f64 = 5.0;
/// The smallest length of a bone whose direction counts, as a share of the size of the figure.
const MIN_BONE: f64 = 1e-3;
/// The weight of the shortest rotation among rotations that fit several bones equally well.
const SHORTEST: f64 = 1e-4;
/// The largest difference of a number from 0 or 1 that is rounding.
const ROUNDING: f64 = 1e-12;
/// The most names of joints in a remark.
const MAX_NAMES: usize = 5;
/// The largest difference of axes from the axes of the partner, up to their order and signs, that counts as none.
const SAME_AXES: f64 = 1e-4;

/// Mirrored clips, and what may look wrong about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirroring {
    /// The new clips, in the order of the given ones. Source and target are the same skeleton.
    pub clips: Vec<RetargetedClip>,
    /// What may look wrong.
    pub remarks: Vec<MirrorRemark>,
}

/// Something that may look wrong about mirrored clips.
#[derive(Debug, Clone, PartialEq)]
pub enum MirrorRemark {
    /// No joint has another one as its partner.
    NoPairs,
    /// Joints on one side that have no partner, though skins or clips name them. Their own motion is mirrored, relative
    /// to their parents.
    Alone {
        /// The joints.
        joints: Vec<usize>,
    },
    /// Joints without a partner that stay at rest, though skins or clips name them: joints above ones with a partner,
    /// and joints that are given by a matrix. The rotations of the joints below make up for theirs.
    Still {
        /// The joints.
        joints: Vec<usize>,
    },
    /// Neither the rest pose nor a bind pose is symmetric. Bones were rotated, so that they have the mirrored
    /// directions of their partners.
    Asymmetric {
        /// The joints whose bones were rotated.
        joints: Vec<usize>,
        /// The largest angle in degrees.
        degrees: f64,
    },
}

impl MirrorMap {
    /// A track that a mirror image lacks, as a sentence.
    pub fn describe_dropped(&self, library: &Library, dropped: &DroppedTrack) -> String {
        let part = TransformPart::of(dropped.target);
        let name = |joint: usize| library.skeletons().get(self.skeleton.index()).map(|found| found.joint_name(joint));
        let target = match part {
            Some((joint, part)) => format!("the {} of {}", part.name(), name(joint).unwrap_or_default()),
            None => format!("track {}", dropped.track),
        };
        let reason = match dropped.reason {
            DropReason::Scale => "its axes are not axes of the partner",
            _ => "it or a joint above has no partner",
        };
        format!("{target} is left out: {reason}")
    }

    /// A remark as a sentence, with the names of joints.
    pub fn describe(&self, library: &Library, remark: &MirrorRemark) -> String {
        let names = |joints: &[usize]| {
            let name = |joint: &usize| {
                library
                    .skeletons()
                    .get(self.skeleton.index())
                    .map_or_else(String::new, |found| found.joint_name(*joint))
            };
            let more = joints.len().saturating_sub(MAX_NAMES);
            let names = joints.iter().take(MAX_NAMES).map(name).collect::<Vec<_>>().join(", ");
            if more > 0 { format!("{names} and {more} more") } else { names }
        };
        match remark {
            MirrorRemark::NoPairs => {
                "no joint has a partner on the other side, by roles, names or places: all are mirrored in themselves"
                    .into()
            }
            MirrorRemark::Alone { joints } => format!(
                "joints on one side without a partner on the other one are mirrored in themselves: {}",
                names(joints)
            ),
            MirrorRemark::Still { joints } => {
                format!("joints on one side without a partner on the other one stay at rest: {}", names(joints))
            }
            MirrorRemark::Asymmetric { joints, degrees } => format!(
                "the rest pose is not symmetric, by up to {degrees:.0} degrees: bones have the mirrored directions of their partners, \
                 but the rotation about them may be off: {}",
                names(joints)
            ),
        }
    }
}

/// The name of the mirror image of a clip: the name with `_mirror` at its end, and the first number from 2 on with
/// which no other clip has it.
pub fn mirrored_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    numbered_name(name, 1, is_taken).1
}

/// The same, with a number not below the given one, and that number. 1 is not written.
fn numbered_name(name: &str, least: u64, is_taken: impl Fn(&str) -> bool) -> (u64, String) {
    let numbered = |number: u64| match number {
        1 => format!("{name}{SUFFIX}"),
        _ => format!("{name}{SUFFIX}{number}"),
    };
    let mut names = (least..).map(|number| (number, numbered(number)));
    names.find(|(_, name)| !is_taken(name)).unwrap_or_default()
}

impl Library {
    /// Makes the mirror images of clips, and adds them.
    ///
    /// * Each joint moves as its partner, reflected in the plane: directions of bones and translations are mirrored.
    ///   If the rest pose or the bind pose is symmetric, the place of each joint is the mirrored place of its partner.
    /// * Keys are transformed: key times, easings and interpolation stay. Only Euler angles, splines of rotations with
    ///   a key of zeros, and single numbers of a translation whose axes differ from the axes of the partner are
    ///   sampled, with the bounds of [`RetargetOptions`]; likewise joints between which one without a partner moves.
    /// * Scales go to the partner. They are dropped if they are not uniform and the axes of the two joints differ by
    ///   more than their order and signs.
    /// * Morph weights go to the partner, with left and right exchanged in the names of morph targets
    ///   ([`Joint::morph_names`](crate::Joint::morph_names)), else in their order. The weights of expressions of a VRM
    ///   animation go to the expression of the other side. Properties, events and sync markers stay as they are,
    ///   whatever sides their names tell.
    /// * A clip keeps its duration, speed and wrap mode, and has the root joint of the original or its partner. Its
    ///   name is the name of the original with `_mirror` at its end, see [`mirrored_name`].
    ///
    /// The mirror image of a mirror image is the original, up to rounding.
    ///
    /// # Errors
    /// [`Error::Usage`] if a clip does not exist or animates another skeleton than the skeleton of the map, or the map
    /// does not fit its skeleton. The same error, with the names of clip and joint, if a new number exceeds the range
    /// of an `f32`, or if sampled tracks have more than 8 keys per key of the given clips and 2^22 more. The library is
    /// then unchanged.
    pub fn mirror(&mut self, clips: &[ClipId], map: &MirrorMap) -> Result<Mirroring, Error> {
        map.check(self)?;
        for clip in clips {
            let Some(found) = self.clips().get(clip.index()) else {
                return Err(Error::Usage(no_such("clip", clip.index(), "library", self.clips().len())));
            };
            if found.skeleton != map.skeleton {
                let (of_clip, of_map) = (found.skeleton.index(), map.skeleton.index());
                return Err(Error::Usage(format!(
                    "clip {} animates skeleton {of_clip}, but the mirror map is for skeleton {of_map}",
                    clip.index()
                )));
            }
        }
        let (mut made, remarks) = made_clips(self, clips, map)?;
        let sizes = self.sizes();
        let names = self.mirrored_names(map, made.iter().map(|(clip, _)| clip.name.as_deref()));
        for ((clip, report), name) in made.iter_mut().zip(names) {
            clip.name = name;
            match self.add_clip(clip.clone()) {
                Ok(id) => report.clip = id,
                Err(error) => {
                    self.truncate(sizes);
                    return Err(error);
                }
            }
        }
        Ok(Mirroring { clips: made.into_iter().map(|(_, report)| report).collect(), remarks })
    }

    /// The names of the mirror images of clips, in their order.
    fn mirrored_names<'a>(&self, map: &MirrorMap, names: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<String>> {
        let of_skeleton = self.clips().iter().filter(|clip| clip.skeleton == map.skeleton);
        let taken: HashSet<&str> = of_skeleton.filter_map(|clip| clip.name.as_deref()).collect();
        let mut added: HashSet<String> = HashSet::new();
        // The last number of each name: all below are taken, however many clips have the name.
        let mut numbers: HashMap<&str, u64> = HashMap::new();
        let mirrored = names.map(|name| {
            let name = name?;
            let least = numbers.get(name).map_or(1, |last| last + 1);
            let is_taken = |name: &str| taken.contains(name) || added.contains(name);
            let (number, mirrored) = numbered_name(name, least, is_taken);
            numbers.insert(name, number);
            added.insert(mirrored.clone());
            Some(mirrored)
        });
        mirrored.collect()
    }
}

/// A new clip with its report.
type MadeClip = (Clip, RetargetedClip);

/// The mirrored clips and the remarks.
fn made_clips(
    library: &Library,
    clips: &[ClipId],
    map: &MirrorMap,
) -> Result<(Vec<MadeClip>, Vec<MirrorRemark>), Error> {
    let skeleton = library.skeleton(map.skeleton);
    let is_joint = are_joints(library, map.skeleton);
    let pose = SymmetricPose::new(library, map, &Body::new(skeleton, &is_joint));
    let options = RetargetOptions { target_pose: pose.local.clone(), ..RetargetOptions::default() };
    // A matrix cannot be animated: it stands between the joints above and below.
    let is_movable = |joint: &usize| skeleton.joints()[*joint].matrix.is_none();
    let partner = |joint: usize| map.partners[joint].filter(is_movable).filter(|_| is_movable(&joint));
    let pairs = (0..skeleton.joints().len())
        .filter_map(|joint| Some(JointPair { source: partner(joint)?, target: joint, by: MatchedBy::Caller }));
    let pairs: Vec<JointPair> = pairs.collect();
    // A mirror image treats the root as any joint. Without one in the map, all clips of the library would be searched.
    let root = pairs.first().map(|pair| pair.source);
    let pairs = JointMap { pairs, root, ..JointMap::new(map.skeleton, map.skeleton) };
    let plan = plan(library, map, &pairs, &options, &pose);
    let mut budget = KeyBudget::new();
    clips.iter().for_each(|&clip| budget.add_clip(library.clip(clip)));
    let made: Vec<_> = clips.iter().map(|&clip| mirrored(&plan, map, clip, &mut budget)).collect::<Result<_, _>>()?;

    let mut remarks = Vec::new();
    if !map.partners.iter().enumerate().any(|(joint, partner)| partner.is_some_and(|partner| partner != joint)) {
        remarks.push(MirrorRemark::NoPairs);
    }
    let mut is_named =
        if library.skins_of(map.skeleton).next().is_some() { is_joint } else { vec![false; is_joint.len()] };
    let moved =
        clips.iter().flat_map(|&clip| &library.clip(clip).tracks).filter_map(|track| TransformPart::of(track.target));
    moved.for_each(|(joint, _)| is_named[joint] = true);
    let has_mapped_below = has_mapped_below(&plan);
    let is_still = |joint: &usize| has_mapped_below[*joint] || skeleton.joints()[*joint].matrix.is_some();
    let drivers = mirrored_drivers(skeleton);
    let is_unpaired = |joint: &usize| map.partners[*joint].is_none() && !drivers.contains_key(joint);
    let unpaired = (0..is_named.len()).filter(|joint| is_named[*joint] && is_unpaired(joint));
    let (still, alone): (Vec<usize>, Vec<usize>) = unpaired.partition(is_still);
    if !alone.is_empty() {
        remarks.push(MirrorRemark::Alone { joints: alone });
    }
    if !still.is_empty() {
        remarks.push(MirrorRemark::Still { joints: still });
    }
    if let Some(degrees) = pose.rotated.iter().map(|rotated| rotated.1).reduce(f64::max) {
        let joints = pose.rotated.iter().map(|rotated| rotated.0).collect();
        remarks.push(MirrorRemark::Asymmetric { joints, degrees });
    }
    Ok((made, remarks))
}

/// The plan of a retargeting of a skeleton onto itself, in whose space left and right are exchanged.
fn plan<'a>(
    library: &'a Library,
    map: &MirrorMap,
    pairs: &'a JointMap,
    options: &'a RetargetOptions,
    pose: &SymmetricPose,
) -> RetargetPlan<'a> {
    let skeleton = library.skeleton(map.skeleton);
    let body = || Body::new(skeleton, &are_joints(library, map.skeleton));
    let bodies = [body(), body()];
    let mut partner_of = vec![None; skeleton.joints().len()];
    pairs.pairs.iter().for_each(|pair| partner_of[pair.target] = Some(pair.source));
    let space = half_turn(map.normal);
    // Below the first joint with a partner, the pose has a plane of its own.
    let own = half_turn(pose.normal) * space.conjugate();
    let mut corrections: Vec<DQuat> = Vec::with_capacity(partner_of.len());
    for (joint, node) in skeleton.joints().iter().enumerate() {
        let above = node.parent.map_or(DQuat::IDENTITY, |parent| corrections[parent]);
        corrections.push(if partner_of[joint].is_some() { (pose.corrections[joint] * own).normalize() } else { above });
    }
    let rotations = corrections.iter().zip(&pose.pose.rotations);
    let rotations = rotations.map(|(correction, rotation)| *correction * space * *rotation).collect();
    let alignment = Alignment {
        is_same: true,
        space,
        rotations,
        corrections,
        up: [DVec3::Y; 2],
        is_up_known: true,
        is_front_known: true,
        heading: None,
        facing: None,
        bones: Vec::new(),
    };
    let rest = ModelPose::new(skeleton, &pose.pose.local);
    let links = Links::new(library, pairs, options, &rest, [&partner_of, &partner_of]);
    RetargetPlan {
        library,
        map: pairs,
        options,
        source: skeleton,
        target: skeleton,
        reference: ModelPose::new(skeleton, &pose.pose.local),
        rest,
        alignment,
        motion: SourceMotion::new(library, skeleton, &bodies[0], &[]),
        bodies,
        target_of: partner_of.clone(),
        source_of: partner_of,
        links,
        is_one_skeleton: false,
        missing: Vec::new(),
        target_size: crate::compress::bound::rig_size(skeleton),
    }
}

/// Whether each joint has one with a partner below it.
fn has_mapped_below(plan: &RetargetPlan) -> Vec<bool> {
    let mut has_mapped_below = vec![false; plan.target.joints().len()];
    for (joint, node) in plan.target.joints().iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            has_mapped_below[parent] |= has_mapped_below[joint] || plan.source_of[joint].is_some();
        }
    }
    has_mapped_below
}

/// Makes the mirror image of a clip. Its id in the report is the id of the original.
fn mirrored(plan: &RetargetPlan, map: &MirrorMap, id: ClipId, budget: &mut KeyBudget) -> Result<MadeClip, Error> {
    let clip = plan.library.clip(id);
    let source = MovingJoints::new(plan.library, plan.source, clip);
    let (rotations, mut used) = Rotations::new(plan, clip, &source, budget)?.into_tracks();
    let mut made: Vec<MadeTrack> =
        rotations.into_iter().flatten().map(|made| with_sign(plan, &source, made)).collect::<Result<_, _>>()?;
    let has_mapped_below = has_mapped_below(plan);
    let carried = has_mapped_below.iter().enumerate();
    let carried: Vec<Carried> = carried.filter_map(|(joint, &is_above)| Carried::new(plan, joint, is_above)).collect();
    let drivers = mirrored_drivers(plan.target);
    for carried in &carried {
        let is_driver = [carried.source, carried.target].iter().any(|joint| drivers.contains_key(joint));
        for part in TransformPart::ALL.into_iter().filter(|&part| part != TransformPart::Translation || !is_driver) {
            let tracks = carried.tracks(plan, clip, &source, part, budget);
            let tracks = tracks.map_err(|error| part.error(clip, plan.target, carried.target, error))?;
            if !tracks.is_empty() {
                source.tracks(carried.source, part).iter().for_each(|&(index, _)| used[index] = true);
            }
            made.extend(tracks);
        }
    }
    // A clip may have a track per weight.
    let mut morphs = HashMap::new();
    for (index, track) in clip.tracks.iter().enumerate() {
        let tracks = match track.target {
            Target::Weights(joint) => {
                let joints = plan.target.joints();
                let count = |joint: usize| joints[joint].weights.len();
                let partner = map.partners[joint].filter(|&partner| count(partner) == count(joint)).unwrap_or(joint);
                let morphs = morphs.entry(joint).or_insert_with(|| mirrored_morphs(&joints[joint], &joints[partner]));
                morphs.tracks(track, partner, &joints[partner].weights)?
            }
            Target::Translation(joint) => match drivers.get(&joint) {
                Some(&driver) => vec![Track { target: Target::Translation(driver), ..track.clone() }],
                None => continue,
            },
            Target::Property(_) => vec![track.clone()],
            _ => continue,
        };
        used[index] = true;
        made.extend(tracks.into_iter().map(|track| MadeTrack { track, method: TrackMethod::Exact }));
    }
    let report = made.iter().map(|made| RetargetedTrack { target: made.track.target, method: made.method }).collect();
    let dropped = (0..clip.tracks.len()).filter(|&track| !used[track]).map(|track| {
        let target = clip.tracks[track].target;
        DroppedTrack { track, target, reason: reason(plan, None, target) }
    });
    let dropped = dropped.collect();
    let tracks: Vec<Track> = made.into_iter().map(|made| made.track).collect();
    let (root_motion, lost_root_motion) = root_motion(plan, clip, &tracks);
    let report = RetargetedClip { clip: id, source: id, tracks: report, dropped, lost_root_motion, ground: None };
    let mut mirrored = Clip { tracks, root_motion, ..clip.clone() };
    if mirrored.duration() != clip.duration() {
        mirrored.length = Some(clip.duration());
    }
    Ok((mirrored, report))
}

/// A track of rotations whose first key has a scalar of the sign that it has in the original. The other sign is the
/// same rotation, but then the mirror image of the mirror image would not have the numbers of the original.
fn with_sign(plan: &RetargetPlan, source: &MovingJoints, made: MadeTrack) -> Result<MadeTrack, Error> {
    let MadeTrack { track, method } = &made;
    let partner = TransformPart::of(track.target).and_then(|(joint, _)| plan.source_of[joint]);
    let tracks = partner.map_or(&[][..], |partner| source.tracks(partner, TransformPart::Rotation));
    let ([(_, original)], TrackMethod::Exact) = (tracks, method) else { return Ok(made) };
    let [found, wanted] = [&track.curve, &original.curve].map(|curve| curve.value(0)[3]);
    if found * wanted >= 0.0 {
        return Ok(made);
    }
    let negated = track.curve.values().iter().map(|number| -number).collect();
    let curve = track.curve.with_values(track.curve.interpolation(), 4, negated)?;
    Ok(MadeTrack { track: Track { curve, ..track.clone() }, method: *method })
}

/// The parts of a joint that are carried over from another one, or from itself.
struct Carried {
    source: usize,
    target: usize,
    translation: DAffine3,
    scale: Option<DAffine3>,
    /// The constants of the rotation, if it is none of the rotations of [`Rotations`].
    rotation: Option<[DQuat; 2]>,
}

impl Carried {
    /// `None` for a joint that gets no motion: one that is given by a matrix, or one without a partner above others
    /// with one.
    fn new(plan: &RetargetPlan, target: usize, is_above_mapped: bool) -> Option<Self> {
        let joints = plan.target.joints();
        if let Some(source) = plan.source_of[target] {
            let above = plan.mapped_above_source(source).and_then(|above| plan.target_of[above]);
            let pair = JointPair { source, target, by: MatchedBy::Caller };
            let translation =
                plan.change_of_place(&pair, -1.0).filter(|_| above == plan.mapped_above_target(target))?;
            let axes = plan.rest.rotations[target].conjugate() * plan.alignment.rotations[source];
            let scale = change_of_scale(axes, plan.reference.local[source].scale, plan.rest.local[target].scale);
            return Some(Self { source, target, translation: rounded(translation), scale, rotation: None });
        }
        if joints[target].matrix.is_some() || is_above_mapped {
            return None;
        }
        // Relative to its parent, in the plane of the pose.
        let parent = plan.held_rotation(joints[target].parent);
        let correction = joints[target].parent.map_or(DQuat::IDENTITY, |parent| plan.alignment.corrections[parent]);
        let mirror = (parent.conjugate() * correction * plan.alignment.space * parent).normalize();
        let Transform { translation, rotation, .. } = joints[target].rest;
        let rest = unit(rotation).unwrap_or(DQuat::IDENTITY);
        let linear = -DMat3::from_quat(mirror);
        let place = DAffine3 { matrix3: linear, translation: translation - linear * translation };
        let factors = [mirror, (rest.conjugate() * mirror.conjugate() * rest).normalize()];
        let scale = Some(DAffine3::IDENTITY);
        Some(Self { source: target, target, translation: rounded(place), scale, rotation: Some(factors) })
    }

    /// The tracks of a part. None if there is nothing to carry over, or if it cannot be.
    fn tracks(
        &self,
        plan: &RetargetPlan,
        clip: &Clip,
        source: &MovingJoints,
        part: TransformPart,
        budget: &mut KeyBudget,
    ) -> Result<Vec<MadeTrack>, Error> {
        let tracks = source.tracks(self.source, part);
        let knots = || {
            let mut knots = MotionKnots::default();
            tracks.iter().for_each(|(_, track)| knots.add(&track.curve, clip.length));
            knots
        };
        let (target, map) = match (part, self.rotation, tracks) {
            (_, _, []) | (TransformPart::Rotation, None, _) => return Ok(Vec::new()),
            (TransformPart::Rotation, Some([before, after]), _) => {
                let target = Target::Rotation(self.target);
                if let [(_, Track { target: Target::Rotation(_), curve, .. })] = tracks
                    && let Some(curve) = rotated_curve(curve, before, after)?
                {
                    return Ok(vec![exact(target, None, curve)]);
                }
                let motion = SampledMotion {
                    value: &|time| before * source.rotation(self.source, time) * after,
                    error: &|_, found: DQuat, wanted| angle(found, wanted),
                    bound: plan.options.rotation_bound,
                };
                return Ok(vec![sampled(target, knots(), &motion, budget)?]);
            }
            (TransformPart::Translation, _, _) => (Target::Translation(self.target), self.translation),
            (TransformPart::Scale, _, _) => match self.scale {
                Some(map) => (Target::Scale(self.target), map),
                None => {
                    let [from, to] = [plan.reference.local[self.source].scale, plan.rest.local[self.target].scale];
                    let factor = Some(to / from).filter(|factor| factor.is_finite());
                    match factor.filter(|_| tracks.iter().all(|(_, track)| is_uniform(&track.curve))) {
                        Some(factor) => (Target::Scale(self.target), DAffine3::from_scale(factor)),
                        None => return Ok(Vec::new()),
                    }
                }
            },
        };
        if let [(_, Track { component: None, curve, .. })] = tracks {
            return Ok(vec![exact(target, None, mapped_curve(curve, map.matrix3, map.translation, 1.0)?)]);
        }
        if let Some(tracks) =
            tracks.iter().map(|(_, track)| single_number(track, target, map)).collect::<Option<Vec<_>>>()
        {
            return tracks.into_iter().collect();
        }
        let size = if part == TransformPart::Scale { 1.0 } else { plan.target_size };
        let motion = SampledMotion {
            value: &|time| match part {
                TransformPart::Scale => map.transform_point3(source.scale(self.source, time)),
                _ => map.transform_point3(source.translation(self.source, time)),
            },
            error: &|_, found: DVec3, wanted| found.distance(wanted) / size,
            bound: plan.options.translation_bound,
        };
        Ok(vec![sampled(target, knots(), &motion, budget)?])
    }
}

/// A track through samples of a motion.
fn sampled<V: MotionValue>(
    target: Target,
    knots: MotionKnots,
    motion: &SampledMotion<V>,
    budget: &mut KeyBudget,
) -> Result<MadeTrack, Error> {
    let resampled = resample(knots, motion, budget)?;
    let method = TrackMethod::Resampled { keys: resampled.curve.timeline().len(), error: resampled.error };
    Ok(MadeTrack { track: Track::new(target, resampled.curve), method })
}

fn exact(target: Target, component: Option<usize>, curve: Curve) -> MadeTrack {
    MadeTrack { track: Track { target, component, curve }, method: TrackMethod::Exact }
}

/// The track of a single number that a map makes of another one. `None` if it does not map this axis to an axis.
fn single_number(track: &Track, target: Target, map: DAffine3) -> Option<Result<MadeTrack, Error>> {
    let column = map.matrix3.col(track.component?).to_array();
    let row = column.iter().position(|number| *number != 0.0)?;
    let is_alone = column.iter().filter(|number| **number != 0.0).count() == 1;
    is_alone.then(|| {
        let curve = mapped_numbers(&track.curve, column[row], map.translation[row])?;
        Ok(exact(target, Some(row), curve))
    })
}

/// The map from the scales of a joint to the scales of its partner, whose axes differ by a rotation. `None` if axes do
/// not become axes, or a scale is 0 in the pose.
fn change_of_scale(axes: DQuat, from: DVec3, to: DVec3) -> Option<DAffine3> {
    let matrix = DMat3::from_quat(axes);
    let squares = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|column| (column * column).to_array());
    let is_axis = |number: f64| number <= SAME_AXES || number >= 1.0 - SAME_AXES;
    let order = DMat3::from_cols_array_2d(&squares.map(|column| column.map(f64::round)));
    let map = DMat3::from_diagonal(to) * order * DMat3::from_diagonal(from.recip());
    let is_usable = squares.iter().flatten().all(|&number| is_axis(number)) && map.is_finite();
    is_usable.then_some(DAffine3 { matrix3: map, translation: DVec3::ZERO })
}

/// Returns `true` if all values and tangents of a curve of three numbers have three equal ones.
fn is_uniform(curve: &Curve) -> bool {
    curve.width() == 3
        && curve.values().chunks_exact(3).all(|numbers| numbers.iter().all(|number| *number == numbers[0]))
}

/// A curve of single numbers with each value multiplied and moved.
fn mapped_numbers(curve: &Curve, factor: f64, offset: f64) -> Result<Curve, Error> {
    let is_value = |element: usize| curve.interpolation() != Interpolation::CubicSpline || element % 3 == 1;
    let map = |(element, number): (usize, &f64)| factor * number + if is_value(element) { offset } else { 0.0 };
    curve.with_values(curve.interpolation(), 1, curve.values().iter().enumerate().map(map).collect())
}

/// A map with numbers that are 0, 1 or -1 but for rounding.
fn rounded(map: DAffine3) -> DAffine3 {
    let round = |number: f64| if (number - number.round()).abs() <= ROUNDING { number.round() } else { number };
    DAffine3 { matrix3: DMat3::from_cols_array(&map.matrix3.to_cols_array().map(round)), ..map }
}

/// A pose that is its own mirror image, once its bones are rotated.
struct SymmetricPose {
    pose: ModelPose,
    local: ReferencePose,
    /// The normal of its plane.
    normal: DVec3,
    /// The rotation of each joint of the mirrored pose.
    corrections: Vec<DQuat>,
    /// The joints that were rotated relative to their parents, with angles in degrees.
    rotated: Vec<(usize, f64)>,
}

impl SymmetricPose {
    fn new(library: &Library, map: &MirrorMap, body: &Body) -> Self {
        let skeleton = library.skeleton(map.skeleton);
        let rest = ModelPose::at_rest(skeleton);
        let size = extent(&Figure::new(body, &rest.matrices).places);
        let normal = |pose: &ModelPose| {
            let figure = Figure::new(body, &pose.matrices);
            let found = direction_to_left(skeleton, &figure, &map.partners, Some(map.normal)).unwrap_or(map.normal);
            let found = found * if found.dot(map.normal) < 0.0 { -1.0 } else { 1.0 };
            if found.angle_between(map.normal).to_degrees() <= MAX_ANGLE { map.normal } else { found }
        };
        // Of other figures, all joints count.
        let has = |side: &&str| ["UpperArm", "LowerArm", "Hand"].iter().all(|part| body.on_side(side, part).is_some());
        let is_human = body.has_legs() || SIDES.iter().all(has);
        let counts = |joint: usize| !is_human || body.role(joint).is_some();
        let pairs = map.partners.iter().enumerate();
        let pairs = pairs.filter_map(|(joint, partner)| Some((joint, (*partner).filter(|_| counts(joint))?)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let asymmetry = |pose: &ModelPose| asymmetry(pose, &pairs, map, normal(pose)) / size;
        let of_rest = asymmetry(&rest);
        let bind = Some(of_rest).filter(|&share| share > MAX_ASYMMETRY).and_then(|_| bind_pose(library, map, &rest));
        let (pose, local) = match bind.filter(|bind| asymmetry(bind) < 0.5 * of_rest) {
            Some(bind) => {
                let local = ReferencePose::Local(bind.local.clone());
                (bind, local)
            }
            None => (rest, ReferencePose::Rest),
        };
        let normal = normal(&pose);
        let is_rotated = is_human || asymmetry(&pose) > MAX_ASYMMETRY;
        let pairs = if is_rotated { pairs.as_slice() } else { &[] };
        let (corrections, rotated) = corrections(skeleton, pairs, &pose, normal, size);
        Self { pose, local, normal, corrections, rotated }
    }
}

/// The root of the mean square of the distances of joints from the mirrored places of their partners.
fn asymmetry(pose: &ModelPose, pairs: &[(usize, usize)], map: &MirrorMap, normal: DVec3) -> f64 {
    let places: Vec<DVec3> = pose.matrices.iter().map(|matrix| matrix.translation).collect();
    let middle = middle(&places, &map.partners, normal);
    let mirrored = |place: DVec3| place - 2.0 * (place.dot(normal) - middle) * normal;
    let squares = pairs.iter().map(|&(joint, partner)| places[joint].distance_squared(mirrored(places[partner])));
    (squares.sum::<f64>() / pairs.len().max(1) as f64).sqrt()
}

/// The bind pose of the skin with the most joints: the inverses of its matrices, relative to the rest pose of its
/// uppermost joint. `None` without a skin, or if a matrix has no inverse.
fn bind_pose(library: &Library, map: &MirrorMap, rest: &ModelPose) -> Option<ModelPose> {
    let skeleton = library.skeleton(map.skeleton);
    let (_, skin) = library.skins_of(map.skeleton).max_by_key(|(_, skin)| skin.joints.len())?;
    let mut bound: Vec<Option<DAffine3>> = vec![None; skeleton.joints().len()];
    for (&joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
        bound[joint] = Some(inverse.inverse()).filter(|matrix| matrix.is_finite());
        bound[joint]?;
    }
    let top = bound.iter().position(Option::is_some)?;
    let space = rest.matrices[top] * bound[top]?.inverse();
    let mut local = Values::at_rest(skeleton).local;
    let mut matrices = model_matrices(skeleton, &local);
    for (joint, node) in skeleton.joints().iter().enumerate() {
        let above = node.parent.map_or(DAffine3::IDENTITY, |parent| matrices[parent]);
        match bound[joint].filter(|_| node.matrix.is_none()) {
            Some(bound) => {
                local[joint] = Transform::from_affine(above.inverse() * space * bound);
                if !local[joint].is_usable() {
                    return None;
                }
                matrices[joint] = above * local[joint].to_affine();
            }
            None => matrices[joint] = above * node.matrix.unwrap_or_else(|| local[joint].to_affine()),
        }
    }
    Some(ModelPose::new(skeleton, &local))
}

/// The rotations of the joints of a mirrored pose that make its bones point where the bones of the pose point: the
/// shortest ones, each after the rotation of the parent. A bone leads from a joint of `pairs` to the next one below.
/// Returns also the joints that were rotated by themselves, with angles in degrees.
///
/// In some zero poses, the bones of one side point opposite to the bones of the other one, and so do the axes of their
/// joints: equal rotations of both are mirror images. There the half turn about the normal makes axes match, too.
fn corrections(
    skeleton: &Skeleton,
    pairs: &[(usize, usize)],
    pose: &ModelPose,
    normal: DVec3,
    size: f64,
) -> (Vec<DQuat>, Vec<(usize, f64)>) {
    let joints = skeleton.joints();
    let offset = |from: usize, to: usize| pose.matrices[to].translation - pose.matrices[from].translation;
    let mut partners = vec![None; joints.len()];
    pairs.iter().for_each(|&(joint, partner)| partners[joint] = Some(partner));
    // The nearest joint of a pair above each joint.
    let mut above: Vec<Option<usize>> = Vec::with_capacity(joints.len());
    for node in joints {
        above.push(node.parent.and_then(|parent| partners[parent].map(|_| parent).or(above[parent])));
    }
    // The mirrored bones of each joint with the bones of its partner.
    let mut bones: Vec<Vec<[DVec3; 2]>> = vec![Vec::new(); joints.len()];
    for &(child, partner) in pairs {
        let (Some(parent), Some(of_partner)) = (above[child], above[partner]) else { continue };
        let (from, to) = (offset(parent, child), offset(of_partner, partner));
        if partners[parent] == Some(of_partner) && from.length().min(to.length()) > MIN_BONE * size {
            bones[parent].push([from - 2.0 * from.dot(normal) * normal, to]);
        }
    }
    let opposite = half_turn(normal);
    let (mut corrections, mut rotated): (Vec<DQuat>, _) = (Vec::with_capacity(joints.len()), Vec::new());
    for (joint, node) in joints.iter().enumerate() {
        let above = node.parent.map_or(DQuat::IDENTITY, |parent| corrections[parent]);
        let (base, own, most) = match bones[joint].as_slice() {
            [] => (above, DQuat::IDENTITY, f64::INFINITY),
            &[[from, to]] => {
                let degrees = |base: DQuat| (base * from).angle_between(to).to_degrees();
                let base = if degrees(above) > 90.0 && degrees(opposite) < 90.0 { opposite } else { above };
                (base, DQuat::from_rotation_arc((base * from).normalize(), to.normalize()), MAX_ANGLE)
            }
            several => {
                let outer = |from: DVec3, to: DVec3| DMat3::from_cols(to * from.x, to * from.y, to * from.z);
                let mut sum = DMat3::ZERO;
                for &[from, to] in several {
                    let weight = SHORTEST * from.length() * to.length();
                    sum += outer(above * from, to) + DMat3::from_diagonal(DVec3::splat(weight));
                }
                (above, rotation::nearest(sum), MAX_ANGLE_OF_SEVERAL)
            }
        };
        let degrees = angle(DQuat::IDENTITY, own).to_degrees();
        if degrees > most {
            rotated.push((joint, degrees));
        }
        corrections.push(if degrees > most { (own * base).normalize() } else { base });
    }
    (corrections, rotated)
}
