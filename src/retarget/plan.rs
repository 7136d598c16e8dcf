//! The two poses that look alike, and what follows from them and from the map for all clips.

use glam::{DMat3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::unit;
use crate::model::{ClipId, Library, Skeleton, Target};
use crate::retarget::alignment::{Alignment, Side, are_same};
use crate::retarget::body::Body;
use crate::retarget::conventions::{HIPS, Numbering};
use crate::retarget::joint_map::{JointMap, JointPair, MapRemark, MatchedBy, missing, roles_of_pairs};
use crate::retarget::motion::SourceMotion;
use crate::retarget::one_skeleton::are_one;
use crate::retarget::options::{CarriedJoints, RetargetOptions};
use crate::retarget::pose::{ModelPose, ReferencePose};

/// The volume between the axes of a joint, relative to the volume of axes of the same lengths at right angles, up to
/// which it has no inverse.
const MIN_VOLUME: f64 = 1e-12;
/// The least difference of a bone at rest from the bone in the clips, and from the bone of the target, for which the
/// rest pose is no pose of a body, as a share of a bone.
const MIN_DIFFERENCE: f64 = 0.5;

/// The map and the poses of a retargeting.
pub(super) struct RetargetPlan<'a> {
    pub library: &'a Library,
    pub map: &'a JointMap,
    pub options: &'a RetargetOptions,
    pub source: &'a Skeleton,
    pub target: &'a Skeleton,
    /// The reference pose of the source.
    pub reference: ModelPose,
    /// The rest pose of the target.
    pub rest: ModelPose,
    /// What makes the two look alike.
    pub alignment: Alignment,
    /// What the clips tell about the source.
    pub motion: SourceMotion,
    /// The bodies of source and target.
    pub bodies: [Body; 2],
    /// The partner of each joint of the source.
    pub target_of: Vec<Option<usize>>,
    /// The partner of each joint of the target.
    pub source_of: Vec<Option<usize>>,
    /// What follows from the pairs for all joints.
    pub links: Links,
    /// `true` if the reference pose is the rest pose of the target, because both are one skeleton.
    pub is_one_skeleton: bool,
    /// Remarks on joints that a human needs and that have no partner.
    pub missing: Vec<MapRemark>,
    /// The size of the target.
    pub target_size: f64,
}

/// What follows from the pairs for all joints, found in one pass over each skeleton.
pub(super) struct Links {
    /// The root of the map in both skeletons. `None` if no joint is mapped.
    pub root: Option<[usize; 2]>,
    /// The nearest mapped joint above each joint of the source, and above each of the target.
    above: [Vec<Option<usize>>; 2],
    /// True for each joint above the root of the source, and of the target.
    is_above_root: [Vec<bool>; 2],
    /// The rotation of each joint of the target while all mapped joints are in the target's pose.
    held: Vec<DQuat>,
    /// The hips of the source.
    hips: Option<usize>,
    /// The running numbers in the names of both skeletons.
    numbering: [Numbering; 2],
}

impl<'a> RetargetPlan<'a> {
    pub fn new(
        library: &'a Library,
        clips: &[ClipId],
        map: &'a JointMap,
        options: &'a RetargetOptions,
    ) -> Result<Self, Error> {
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let [of_source, of_target] = roles_of_pairs(library, map);
        let missing = missing(&map.pairs, &of_source, &of_target);
        let bodies = [Body::of_roles(source, of_source.of_joint), Body::of_roles(target, of_target.of_joint)];
        let (mut reference, rest) =
            (options.reference.of(library, map.source)?, options.target_pose.of(library, map.target)?);
        let mut target_of = vec![None; source.joints().len()];
        let mut source_of = vec![None; target.joints().len()];
        for pair in &map.pairs {
            target_of[pair.source] = Some(pair.target);
            source_of[pair.target] = Some(pair.source);
        }
        let hips = bodies[0].joint(HIPS);
        let links = Links::of_body(library, map, options, &rest, [&target_of, &source_of], hips);
        let motion = SourceMotion::new(library, source, &bodies[0], clips);
        let is_by_default = options.align && [&options.reference, &options.target_pose] == [&ReferencePose::Rest; 2];
        let is_one_skeleton =
            is_by_default && are_one([source, target], &map.pairs, &target_of, [&reference, &rest], bodies.each_ref());
        let is_same = are_same(&target_of, [&reference, &rest]);
        // A pose that the caller chose is as it is.
        let is_at_rest = options.reference == ReferencePose::Rest;
        if !is_same && is_at_rest {
            let mut partners = vec![None; target_of.len()];
            if options.translations == CarriedJoints::All {
                let carried = map.pairs.iter().filter(|pair| links.carries(library, map, &target_of, pair));
                carried.for_each(|pair| partners[pair.source] = Some(pair.target));
            }
            let places = motion.translations().filter(|(joint, _)| !links.moves_root(*joint)).collect();
            let places = places_of_bones(places, &partners, [&reference, &rest], &bodies[0]);
            reference = reference.with_translations(source, places.into_iter());
        }
        let [of_source, of_target] = [source, target].map(Numbering::of);
        let from = Side { skeleton: source, numbering: of_source, body: &bodies[0], pose: &reference };
        let to = Side { skeleton: target, numbering: of_target, body: &bodies[1], pose: &rest };
        let alignment = Alignment::new(&target_of, [&from, &to], is_same, &motion, is_at_rest, options);
        let target_size = crate::compress::bound::rig_size(target);
        Ok(Self {
            library,
            map,
            options,
            source,
            target,
            reference,
            rest,
            alignment,
            motion,
            bodies,
            target_of,
            source_of,
            links,
            is_one_skeleton,
            missing,
            target_size,
        })
    }

    /// The nearest joint above a joint of the target whose scale of 0 takes away a direction, so that the joint cannot
    /// be everywhere.
    pub fn flat_above(&self, joint: usize) -> Option<usize> {
        let is_flat = |joint: &usize| {
            let node = &self.target.joints()[*joint];
            let DMat3 { x_axis, y_axis, z_axis } = node.matrix.unwrap_or_else(|| node.rest.to_affine()).matrix3;
            let volume = x_axis.cross(y_axis).dot(z_axis).abs();
            volume <= MIN_VOLUME * x_axis.length() * y_axis.length() * z_axis.length()
        };
        self.target.ancestors(joint).find(is_flat)
    }

    /// The rotation of a joint of the target while all mapped joints are in the target's pose; others keep their local
    /// rest rotation. The identity for `None`.
    pub fn held_rotation(&self, joint: Option<usize>) -> DQuat {
        joint.map_or(DQuat::IDENTITY, |joint| self.links.held[joint])
    }

    /// The nearest mapped ancestor of a joint of the source.
    pub fn mapped_above_source(&self, joint: usize) -> Option<usize> {
        self.links.above[0][joint]
    }

    /// The nearest mapped ancestor of a joint of the target.
    pub fn mapped_above_target(&self, joint: usize) -> Option<usize> {
        self.links.above[1][joint]
    }

    /// Returns `true` if the translation and scale of a joint are carried over.
    pub fn carries(&self, pair: &JointPair) -> bool {
        self.options.translations == CarriedJoints::All
            && self.links.carries(self.library, self.map, &self.target_of, pair)
    }
}

impl Links {
    /// What follows from a map, the target's pose, and the partners of the joints of source and target.
    pub fn new(
        library: &Library,
        map: &JointMap,
        options: &RetargetOptions,
        rest: &ModelPose,
        partners: [&[Option<usize>]; 2],
    ) -> Self {
        Self::of_body(library, map, options, rest, partners, None)
    }

    /// The same, with the hips of the source.
    fn of_body(
        library: &Library,
        map: &JointMap,
        options: &RetargetOptions,
        rest: &ModelPose,
        [target_of, source_of]: [&[Option<usize>]; 2],
        hips: Option<usize>,
    ) -> Self {
        let skeletons = [map.source, map.target].map(|id| library.skeleton(id));
        let root = root_of(library, map, target_of, hips);
        let mut is_above_root = skeletons.map(|skeleton| vec![false; skeleton.joints().len()]);
        for ((skeleton, root), is_above) in skeletons.iter().zip(root.into_iter().flatten()).zip(&mut is_above_root) {
            skeleton.ancestors(root).for_each(|above| is_above[above] = true);
        }
        let above = [mapped_above(skeletons[0], target_of), mapped_above(skeletons[1], source_of)];
        let is_held = |joint: usize| source_of[joint].is_some() || options.target_pose == ReferencePose::Rest;
        let held = held_rotations(skeletons[1], rest, is_held);
        Self { root, above, is_above_root, held, hips, numbering: skeletons.map(Numbering::of) }
    }

    /// Returns `true` if a joint was paired by name or is the hips, its parent moves as the parent of its partner, and
    /// it does not move the root.
    fn carries(&self, library: &Library, map: &JointMap, target_of: &[Option<usize>], pair: &JointPair) -> bool {
        let moves_root = self.is_above_root[0][pair.source] || self.is_above_root[1][pair.target];
        let above = self.above[0][pair.source].and_then(|above| target_of[above]);
        if self.root.is_none() || moves_root || above != self.above[1][pair.target] {
            return false;
        }
        let name = |side: usize, skeleton, joint: usize| {
            let skeleton = library.skeleton(skeleton);
            self.numbering[side].normalized(skeleton, skeleton.node_joint(joint))
        };
        let have_same_name = || {
            let names = [name(0, map.source, pair.source), name(1, map.target, pair.target)];
            names[0].is_some() && names[0] == names[1]
        };
        // Hips below a root move with the body.
        pair.by == MatchedBy::Caller || self.hips == Some(pair.source) || have_same_name()
    }

    /// Returns `true` if a joint of the source is the root or above it.
    pub fn moves_root(&self, joint: usize) -> bool {
        self.is_above_root[0][joint] || self.root.is_some_and(|[root, _]| root == joint)
    }
}

/// The translations of bones whose clips tell more of the body than the rest pose does. `places` are the nearly
/// constant ones in the clips, and `partners` those joints of the target to which translations are carried over.
///
/// Of joints with a role, the clips tell where they are. What is carried over is the change from the rest pose, unless
/// that is no pose of a body, as in files whose offsets are all 0: there the change would be a whole bone, and lengths
/// would double. This is so if the rest pose differs from both the clips and the target, in proportion, by half a bone
/// or more, and the clips are nearer to the target.
fn places_of_bones(
    places: Vec<(usize, DVec3)>,
    partners: &[Option<usize>],
    [reference, rest]: [&ModelPose; 2],
    body: &Body,
) -> Vec<(usize, DVec3)> {
    // The lengths at rest, in the clips and in the target.
    let lengths = |joint: usize, place: DVec3| {
        let of_target = rest.local[partners[joint]?].translation.length();
        Some([reference.local[joint].translation.length(), place.length(), of_target])
    };
    let all = places.iter().filter_map(|&(joint, place)| lengths(joint, place));
    let sum = all.fold([0.0; 3], |sum, lengths| [0, 1, 2].map(|of: usize| sum[of] + lengths[of]));
    let scale = |of: usize| if sum[of] > 0.0 { sum[2] / sum[of] } else { 0.0 };
    let is_wanted = |&(joint, place): &(usize, DVec3)| {
        let Some([at_rest, in_clips, of_target]) = lengths(joint, place) else { return body.role(joint).is_some() };
        let difference = (place - reference.local[joint].translation).length();
        let [of_rest, of_clips] =
            [scale(0) * at_rest, scale(1) * in_clips].map(|length: f64| (length - of_target).abs());
        difference > MIN_DIFFERENCE * at_rest.max(in_clips)
            && of_rest > MIN_DIFFERENCE * of_target
            && of_clips < of_rest
    };
    places.iter().filter(|place| is_wanted(place)).copied().collect()
}

/// The root of a map in both skeletons: the root of the map, or else the first mapped joint that clips of the source
/// translate, or else the first mapped joint. If the hips are mapped, a joint that is translated below them or beside
/// them, such as a jaw, is no root.
fn root_of(library: &Library, map: &JointMap, target_of: &[Option<usize>], hips: Option<usize>) -> Option<[usize; 2]> {
    let hips = hips.filter(|&hips| target_of[hips].is_some());
    let mut may_be_root = vec![hips.is_none(); target_of.len()];
    if let Some(hips) = hips {
        may_be_root[hips] = true;
        library.skeleton(map.source).ancestors(hips).for_each(|above| may_be_root[above] = true);
    }
    let mapped = || (0..target_of.len()).filter(|&joint| target_of[joint].is_some() && may_be_root[joint]);
    let moved = || {
        let mut is_moved = vec![false; target_of.len()];
        let clips = library.clips().iter().filter(|clip| clip.skeleton == map.source);
        for track in clips.flat_map(|clip| &clip.tracks) {
            if let Target::Translation(joint) = track.target {
                is_moved[joint] |= !track.curve.is_constant();
            }
        }
        mapped().find(|&joint| is_moved[joint])
    };
    let source = map.root.or_else(moved).or_else(|| mapped().next())?;
    Some([source, target_of[source]?])
}

/// The nearest joint with a partner above each joint.
fn mapped_above(skeleton: &Skeleton, partner: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut above: Vec<Option<usize>> = Vec::with_capacity(partner.len());
    for joint in skeleton.joints() {
        above
            .push(joint.parent.and_then(|parent| if partner[parent].is_some() { Some(parent) } else { above[parent] }));
    }
    above
}

/// The rotations of a skeleton of which some joints are held in a pose, and the others keep their local rest rotation.
fn held_rotations(skeleton: &Skeleton, pose: &ModelPose, is_held: impl Fn(usize) -> bool) -> Vec<DQuat> {
    let mut held: Vec<DQuat> = Vec::with_capacity(pose.rotations.len());
    for (joint, node) in skeleton.joints().iter().enumerate() {
        held.push(if is_held(joint) {
            pose.rotations[joint]
        } else {
            let own = unit(node.rest.rotation).unwrap_or(DQuat::IDENTITY);
            node.parent.map_or(own, |parent| held[parent] * own)
        });
    }
    held
}
