//! Retargeting: clips of one skeleton for another one, with other names, proportions and rest pose; and mirror images
//! of clips, with left and right exchanged.
//!
//! [`Library::retarget`] makes the clips by a [`JointMap`], which pairs the joints. Each mapped joint rotates from its
//! rest pose as its partner does from the reference pose, in model space; the root moves in proportion. Before, the
//! bones of a human's reference pose are rotated to where the bones of the target point, its space so that up axis and
//! front match the target, and its ground becomes the ground of the target: [`RetargetOptions`].
//!
//! ```
//! use std::path::Path;
//!
//! use posse::retarget::{JointMap, RetargetOptions, TrackMethod};
//! use posse::{Library, demo, import};
//!
//! # fn main() -> Result<(), posse::Error> {
//! // For a file: import::bvh::load(&mut library, "nod.bvh")?
//! let nod = b"HIERARCHY ROOT Hips { OFFSET 0 95 0 CHANNELS 3 Xposition Yposition Zposition JOINT Head { OFFSET 0 70 0\n\
//!     CHANNELS 1 Xrotation End Site { OFFSET 0 20 0 } } }\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 95 0 0\n0 95 10 30\n";
//! let mut library = demo::library()?; // the target may come from any file
//! let human = library.clips()[0].skeleton;
//! let source = import::bvh::from_slice(&mut library, Path::new("nod.bvh"), nod)?;
//!
//! let map = JointMap::by_names(&library, source.skeleton, human)?; // Hips -> pelvis, Head -> head
//! let result = library.retarget(&[source.clip], &map, &RetargetOptions::default())?;
//! let made = &result.clips[0];
//! assert!(made.tracks.iter().all(|track| track.method == TrackMethod::Exact));
//! assert_eq!(library.clip(made.clip).skeleton, human);
//! # Ok(())
//! # }
//! ```
//!
//! * **Pairs.** [`JointMap::by_names`] pairs joints by name, by name without namespace, separators and capitals, and by
//!   their roles in a human; [`JointMap::from_json`] reads pairs. Equal names make no pair if the roles differ. Where
//!   only one joint of a pair has a role, its partner has it, too. [`JointMap::remarks`] lists joints that a human
//!   needs and that have no partner.
//! * **Roles** come from the extensions `VRMC_vrm`, `VRMC_vrm_animation` and `VRM` (of VRM 0.x) of a file
//!   ([`Skeleton::human_bones`]), or else from the naming convention that explains the whole skeleton best, of 22, and
//!   at last from the shape of the skeleton ([`MatchedBy::Structure`]).
//! * **The report**, [`Retargeting`], says of each track if its keys were transformed, or if it was sampled, at how
//!   many keys and how far it is off, and which tracks of the source were dropped. Keys are transformed unless
//!   something that is not mapped moves between mapped joints, or the mapped joints hang from each other in another
//!   way; a joint above that has no partner and stands still makes no difference. Root motion of a clip is kept if its
//!   joint is the root of the map; else [`RetargetedClip::lost_root_motion`] has the reason. The report also lists the
//!   bones that were rotated, by how much and why, the roles of the joints, the up axes, the rotation of the front, the
//!   factor with its basis, and [`warnings`](Retargeting::warnings) about what looks wrong. [`Retargeting::named`] says
//!   all in names and sentences, for people and JSON.
//! * **Choices.** [`RetargetOptions::reference`] is another pose of the source than its rest pose to begin from,
//!   [`target_pose`](RetargetOptions::target_pose) one of the target. [`Facing`], [`Ground`] and [`CarriedJoints`] can
//!   be parsed from words. [`Library::copy_skeleton`] brings the target from another library.
//! * **Morph weights** go to the partner of their joint, by the names of morph targets
//!   ([`Joint::morph_names`](crate::Joint::morph_names)) where both files have them, else in their order if the numbers
//!   are equal. A joint whose partner has no such morph targets takes the weights of the joint with the most names in
//!   common.
//! * **Expressions** of a `.vrma` file become morph weights of a VRM 1.0 or 0.x model that has expressions of the same
//!   names ([`Skeleton::expressions`]): weights are clamped to 0 and 1 and add up, binary ones are on above 0.5, and
//!   overrides of lip sync, blinking and gaze hold. Keys stay keys where one expression alone moves a face; else
//!   weights are sampled within 1e-4. Colours and textures of expressions and the gaze are dropped. Warnings list what
//!   has no partner.
//!
//! The clips are ordinary clips. [`export`](crate::export) writes them into the glTF file of the target, as BVH files
//! and as VRM animations.
//!
//! # Mirror images
//!
//! [`Library::mirror`] adds clips with left and right exchanged. [`MirrorMap::new`], which has an example, finds the
//! partner of each joint, by the roles of a human, by the words for left and right in names, or by the places of the
//! rest pose, and the plane: upright, between left and right. Both can be changed. Each joint moves as its partner,
//! reflected. Keys are transformed, so that key times and interpolation stay, and the mirror image of a mirror image is
//! the original.
//!
//! * If the rest pose or the bind pose of the skin is symmetric, each joint is at the mirrored place of its partner. If
//!   neither is, bones are rotated until they have the mirrored directions ([`MirrorRemark::Asymmetric`]).
//! * A joint on one side without a partner is mirrored in itself ([`MirrorRemark::Alone`]). If joints below it have
//!   partners, it stays at rest instead ([`MirrorRemark::Still`]).
//! * The root joint stays the root joint, or its partner becomes it. Events, sync markers and properties stay as they
//!   are. Morph weights go to the partner, and left and right are exchanged in the names of morph targets
//!   (`eyeBlinkLeft`). Without such names, they keep their order. The weights of the expressions of a `.vrma` file go
//!   to the expression of the other side, if a joint drives it.
//!
//! # The algorithm
//!
//! With model-space rotations `S(t)` of a mapped joint of the source, `S0` in the reference pose, and `T0` of its
//! partner at rest, the partner's model-space rotation is `S(t) S0^-1 T0`: it rotates from its rest pose as the joint
//! of the source rotates from the reference pose. Before, `alignment` makes the two poses and spaces of humans alike.
//! The root also moves. All else keeps its rest pose, except for translations and scales of joints that are paired by
//! name.
//!
//! 1. `joint_map` pairs the joints by name and by the roles of `conventions`, or reads pairs from a file.
//! 2. `body` has the directions and lengths of a human in a pose, and for `quality` the points by which its feet touch
//!    the ground. `motion` has what the clips tell: which axis is up, where the feet come down, to which side limbs
//!    bend, and how the axes of joints lie in the body. `alignment` makes the two poses of `pose` look alike, as
//!    `options` wants it.
//!    `one_skeleton` knows two files of one skeleton in two rest poses.
//! 3. `plan` has what follows from them for all clips, and `root` the factor and the ground. `clip` makes the tracks of
//!    a clip. Keys are transformed wherever the local rotation is `A s(t) B` with constants `A` and `B`.
//!    Otherwise `resample` makes keys, as many as its budget allows.
//! 4. `morphs` makes the tracks of morph weights, from the weights of the source or from the expressions of a VRM
//!    animation.
//! 5. `report` lists what was done, and `warnings` what looks wrong. `named_report` has both in names and sentences.
//!
//! `mirror` is a retargeting of a rig onto itself with left and right exchanged, by the pairs of `mirror_map`.
//! `sides` has the words for left and right in names, for `mirror_map` and `conventions`.

pub(crate) mod alignment;
pub(crate) mod body;
pub(crate) mod clip;
mod conventions;
pub(crate) mod joint_map;
mod mirror;
mod mirror_map;
pub(crate) mod morphs;
pub(crate) mod motion;
pub(crate) mod moving_joints;
mod named_report;
mod one_skeleton;
mod options;
mod plan;
mod pose;
mod report;
pub(crate) mod resample;
pub(crate) mod root;
mod sides;
mod warnings;

pub use alignment::{AlignedBone, AlignmentReason};
pub use joint_map::{JointMap, JointPair, MapRemark, MapSide, MatchedBy, RootTranslation};
pub use mirror::{MirrorRemark, Mirroring, mirrored_name};
pub use mirror_map::MirrorMap;
pub use named_report::{
    NamedAlignment, NamedClipReport, NamedDrop, NamedLoss, NamedPair, NamedReport, NamedResampling,
};
pub use options::{CarriedJoints, Facing, Ground, RetargetOptions};
pub use pose::ReferencePose;
pub use report::{
    DropReason, DroppedTrack, LossReason, LostRootMotion, RetargetedClip, RetargetedTrack, Retargeting, TrackMethod,
};
pub use root::RootScale;
pub use warnings::RetargetWarning;

use std::collections::HashSet;

use crate::error::Error;
use crate::model::{ClipId, Library, Skeleton, no_such};
use crate::retarget::morphs::MorphPlan;
use crate::retarget::plan::RetargetPlan;
use crate::retarget::resample::KeyBudget;
use crate::retarget::root::{Root, StillRoot};

impl Library {
    /// Makes clips for the target of a joint map from clips of its source, and adds them.
    ///
    /// * The rotation of a mapped joint in model space is the rotation of its partner, relative to the two poses that
    ///   look alike. Poses of humans are made alike first: the bones of the reference pose are rotated to where the
    ///   bones of the target point, and the space of the source so that its up axis and its front match the target.
    ///   Other joints keep their local rest rotation.
    /// * The root moves as its partner does in model space, times the factor of [`JointMap::translation`]. If legs are
    ///   known on both sides, the ground of the source becomes the ground of the target.
    /// * Joints below the root that are paired by name take over the changes of their translations and scales, see
    ///   [`CarriedJoints`]. All others stay as in the rest pose.
    /// * Keys are transformed where that is exact: key times and interpolation stay. Otherwise the motion is sampled,
    ///   at the key times that it depends on and between them, until it is within the bound. A jump becomes two keys, a
    ///   step of an `f32` apart. Lines that an extrapolation draws beyond the keys are sampled to the ends of the clip.
    /// * A spline of rotations may have a key of zeros, which has no direction and counts as the identity. Such a track
    ///   is sampled unless its keys need no change, because zeros that are transformed would be the identity again.
    /// * Morph weights go to the partner of their joint, by the names of morph targets
    ///   ([`Joint::morph_names`](crate::Joint::morph_names)) where both joints have them, else in their order if the
    ///   numbers are equal. A joint without such a partner takes the weights of the joint with the most names in
    ///   common.
    /// * The weights of the expressions of a VRM animation become morph weights of a VRM model
    ///   ([`Skeleton::expressions`]), by the rules of VRM 1.0: within 1e-4 of a weight where they do not follow key by
    ///   key from one expression.
    /// * A clip keeps its name, duration, speed, wrap mode, events and markers, and its root joint if that is mapped
    ///   and its axes are axes of the target, too. A root joint moves the instance only if it is the root of the map;
    ///   the report tells of clips whose root motion is lost. Properties are dropped.
    /// * If a track that is dropped was the longest, the new clip keeps its duration as a
    ///   [length](crate::Clip::length). Its time is then clamped to 0 and the length, so that no time reaches keys
    ///   before 0.
    /// * A mapped joint of the target that is given by a matrix without shear is from then on given by its translation,
    ///   rotation and scale.
    ///
    /// # Errors
    /// [`Error::Usage`] if a clip does not exist or animates another skeleton than the source, the map does not fit its
    /// skeletons, the reference pose does not exist, or a bound is not above 0. The same error, with the names of clip
    /// and joint, if a new number exceeds the range of an `f32`, or if sampled tracks have more than 8 keys per key of
    /// the given clips and 2^22 more. The library is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use posse::demo;
    /// use posse::retarget::{JointMap, RetargetOptions, TrackMethod};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let mut library = demo::library()?;
    /// let human = library.clips()[0].skeleton;
    /// // Usually the skeleton of another file.
    /// let other = library.add_skeleton(library.skeleton(human).clone());
    /// let map = JointMap::by_names(&library, human, other)?;
    /// let walk = library.find_clip("walk").expect("the demo walks");
    /// let result = library.retarget(&[walk], &map, &RetargetOptions::default())?;
    /// let clip = &result.clips[0];
    /// assert!(clip.tracks.iter().all(|track| track.method == TrackMethod::Exact));
    /// assert_eq!(library.clip(clip.clip).skeleton, other);
    /// # Ok(())
    /// # }
    /// ```
    pub fn retarget(
        &mut self,
        clips: &[ClipId],
        map: &JointMap,
        options: &RetargetOptions,
    ) -> Result<Retargeting, Error> {
        map.check(self)?;
        for bound in [options.rotation_bound, options.translation_bound] {
            if !crate::model::is_usable(bound) || bound <= 0.0 {
                return Err(Error::Usage(format!("an error bound of {bound}: expected a finite number above 0")));
            }
        }
        if let Some(up) = options
            .source_up
            .filter(|up| up.abs().to_array().iter().filter(|&&part| part == 1.0).count() != 1 || up.length() != 1.0)
        {
            return Err(Error::Usage(format!("an up axis of {up}: expected +X, +Y, +Z or one of their opposites")));
        }
        if let Facing::Degrees(degrees) = options.facing
            && !degrees.is_finite()
        {
            return Err(Error::Usage(format!("a facing of {degrees} degrees: expected a finite number")));
        }
        for clip in clips {
            let Some(found) = self.clips().get(clip.index()) else {
                return Err(Error::Usage(no_such("clip", clip.index(), "library", self.clips().len())));
            };
            if found.skeleton != map.source {
                return Err(Error::Usage(format!(
                    "clip {} animates skeleton {}, but the source of the joint map is skeleton {}",
                    clip.index(),
                    found.skeleton.index(),
                    map.source.index()
                )));
            }
        }
        let (mut map, sizes) = (map.clone(), self.sizes());
        let before = self.skeleton(map.target).clone();
        let target = animatable(self.skeleton(map.source), before.clone(), &mut map)?;
        self.replace_skeleton(map.target, target);
        let id = map.target;
        let mut budget = KeyBudget::new();
        clips.iter().for_each(|&clip| budget.add_clip(self.clip(clip)));
        let result = add_clips(self, clips, map, options, budget);
        if result.is_err() {
            self.truncate(sizes);
            self.replace_skeleton(id, before);
        }
        result
    }
}

/// The target with mapped joints that are given by translation, rotation and scale. Leaves pairs out whose joint has a
/// shear, unless other joints carry the translations of both, which are then a pair.
fn animatable(source: &Skeleton, mut target: Skeleton, map: &mut JointMap) -> Result<Skeleton, Error> {
    let sources: HashSet<usize> = map.pairs.iter().map(|pair| pair.source).collect();
    let targets: HashSet<usize> = map.pairs.iter().map(|pair| pair.target).collect();
    for pair in std::mem::take(&mut map.pairs) {
        if !target.joints()[pair.target].has_shear() {
            target = target.without_matrix(pair.target);
            map.pairs.push(pair);
            continue;
        }
        let [from, to] = [source.translation_joint(pair.source), target.translation_joint(pair.target)];
        if !(sources.contains(&from) || targets.contains(&to)) {
            map.pairs.push(JointPair { source: from, target: to, by: pair.by });
            map.root = map.root.map(|root| if root == pair.source { from } else { root });
        } else {
            map.remarks.push(MapRemark::Matrix { source: pair.source, target: pair.target });
        }
    }
    match map.root.filter(|&root| map.target_of(root).is_none()) {
        Some(root) => Err(Error::Usage(format!(
            "joint map: the partner of the root, joint {:?} of the source, is given by a matrix with shear, which cannot be \
             animated; choose another root",
            source.joint_name(root)
        ))),
        None => Ok(target),
    }
}

/// Makes the clips and adds them. If that fails, some may have been added.
fn add_clips(
    library: &mut Library,
    clips: &[ClipId],
    mut map: JointMap,
    options: &RetargetOptions,
    mut budget: KeyBudget,
) -> Result<Retargeting, Error> {
    let plan = RetargetPlan::new(library, clips, &map, options)?;
    let root = Root::of(&plan);
    let morphs = MorphPlan::new(&plan, clips);
    let made = clips.iter().map(|&clip| clip::retarget(&plan, root.as_ref(), &morphs, clip, &mut budget));
    let made: Vec<_> = made.collect::<Result<_, _>>()?;
    let (facing, source_up) = (plan.alignment.facing, plan.alignment.up[0]);
    let ([_, target_up], space) = (plan.alignment.up, plan.alignment.space);
    let is_one_skeleton = plan.is_one_skeleton;
    let roles = [(&plan.bodies[0], plan.source), (&plan.bodies[1], plan.target)].map(|(body, skeleton)| {
        (0..skeleton.joints().len()).map(|joint| body.role(joint).map(str::to_owned)).collect()
    });
    let lost = made.iter().map(|(_, made)| (made.source, clip::lost_translations(&plan, made)));
    let grounds = made.iter().map(|(_, made)| (made.source, made.ground));
    let mut warnings = RetargetWarning::of(&plan, root.as_ref(), grounds, lost);
    warnings.extend(morphs.warnings);
    let bones = plan.alignment.bones;
    let moving = root.as_ref().and_then(Root::moving).map(|root| (root.source, root.scale, root.basis));
    let zero_scale = root.and_then(|Root { source, target, still, .. }| match still {
        Some(StillRoot::ZeroScale(above)) => Some(MapRemark::ZeroScale { source, target, above }),
        _ => None,
    });
    let missing = plan.missing;
    map.remarks.retain(|remark| !matches!(remark, MapRemark::Missing { .. } | MapRemark::NoLegs { .. }));
    map.remarks.extend(missing);
    map.root = map.root.or(moving.map(|(root, _, _)| root));
    map.remarks.extend(zero_scale);
    let (scale, basis) = moving.map_or((0.0, None), |(_, scale, basis)| (scale, Some(basis)));
    let mut reports = Vec::with_capacity(clips.len());
    for (clip, report) in made {
        reports.push(RetargetedClip { clip: library.add_clip(clip)?, ..report });
    }
    Ok(Retargeting {
        clips: reports,
        map,
        scale,
        basis,
        source_up,
        facing,
        target_up,
        space,
        is_one_skeleton,
        roles,
        bones,
        warnings,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DQuat;

    use super::*;
    use crate::model::{Clip, Curve, Interpolation, Joint, Target, Timeline, Track};

    #[test]
    fn all_sampled_tracks_share_a_budget_of_keys() {
        let joint = |(index, name): (usize, &&str)| {
            let parent = index.checked_sub(1);
            Joint { name: Some((*name).into()), parent, ..Joint::default() }
        };
        let chain =
            |names: &[&str]| Skeleton::new(None, names.iter().enumerate().map(joint).collect(), Vec::new()).unwrap();
        let mut library = Library::new();
        let source = library.add_skeleton(chain(&["hip", "between", "head"]));
        let target = library.add_skeleton(chain(&["hip", "head"]));
        let turns = [0.0, 2.0].map(|angle| [DQuat::from_rotation_x(angle), DQuat::from_rotation_y(angle)]);
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let track = |joint: usize| {
            let values = turns.iter().flat_map(|turns| turns[joint - 1].to_array()).collect();
            let curve = Curve::new(timeline.clone(), Interpolation::Linear, 4, values);
            Track::new(Target::Rotation(joint), curve.unwrap())
        };
        let clip = Clip::new(Some("nod".into()), source, vec![track(1), track(2)]);
        let clip = library.add_clip(clip).unwrap();
        let map = JointMap::by_names(&library, source, target).unwrap();
        let mut keys_with = |budget: usize, clips: &[ClipId]| {
            let budget = KeyBudget::of(budget);
            add_clips(&mut library, clips, map.clone(), &RetargetOptions::default(), budget).map(|made| {
                match made.clips[0].tracks[0].method {
                    TrackMethod::Resampled { keys, .. } => keys,
                    other => panic!("{other:?}"),
                }
            })
        };
        let keys = keys_with(1 << 20, &[clip]).unwrap();
        assert!(keys > 20);
        assert_eq!(keys_with(2 * keys, &[clip, clip]).unwrap(), keys);
        let error = keys_with(2 * keys - 1, &[clip, clip]).unwrap_err().to_string();
        let expected = format!("clip nod, rotation of head: the sampled tracks need more than {} keys", 2 * keys - 1);
        assert!(error.starts_with(&expected), "{error}");
    }
}
