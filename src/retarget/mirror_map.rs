//! The map of a mirror image: the partner of each joint, and the plane.
//!
//! Each of these steps pairs joints that have no partner yet:
//!
//! 1. The roles of a human that differ in their side alone.
//! 2. Names that differ in their word for left and right alone, see [`sides`](super::sides).
//! 3. Places in the rest pose. A joint in the plane is its own partner. Of the children of two partners, those are
//!    partners that are each at the mirrored place of the other.
//!
//! **The plane** is upright and has the axis that is nearest to the direction from the right to the left legs in the
//! rest pose as its normal, or that direction itself if it is far from all axes. In a zero pose that does not stand,
//! that direction can be upright in the world of the clips; then the axis is chosen by the world alone.

use std::collections::HashMap;

use glam::{DQuat, DVec3};

use crate::error::Error;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, no_such};
use crate::retarget::alignment::up_of_source;
use crate::retarget::body::{Body, Figure, SIDES};
use crate::retarget::conventions::Numbering;
use crate::retarget::joint_map::are_joints;
use crate::retarget::motion::{SourceMotion, upright_axis};
use crate::retarget::pose::ModelPose;
use crate::retarget::sides::SidedName;

/// The cosine of the largest angle, 20 degrees, between a direction and an axis that counts as it.
const NEAR_AXIS: f64 = 0.94;
/// The smallest part across the up axis of a direction to the left.
const MIN_ACROSS: f64 = 0.5;
/// The largest distance of a joint from the mirrored place of its partner, as a share of the size of the figure.
const MAX_DISTANCE: f64 = 0.02;
/// The largest distance of a joint from the plane in which it is its own partner, as a share of the size of the figure.
const MAX_FROM_PLANE: f64 = 0.05;
/// The most children of a joint that are paired by their places, and the most joints of one name and side that are
/// paired by it.
const MAX_CHILDREN: usize = 4096;

/// The partners of the joints of a skeleton in its mirror image, and the plane, for [`Library::mirror`].
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorMap {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The partner of each joint, whose motion the joint gets: the joint itself for one in the plane. `None` for a
    /// joint on one side without a counterpart.
    pub partners: Vec<Option<usize>>,
    /// The normal of the plane in model space, of length 1.
    pub normal: DVec3,
}

impl MirrorMap {
    /// Finds the partners by roles, by names and by the places of the rest pose; and the plane: upright, through the
    /// hips, between left and right. Without any pair of joints, its normal is the x axis.
    ///
    /// The clips of the library that animate the skeleton tell which axis is up if the rest pose does not.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton.
    ///
    /// # Examples
    /// ```
    /// use posse::demo;
    /// use posse::retarget::MirrorMap;
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let mut library = demo::library()?;
    /// let walk = library.find_clip("walk").expect("the demo walks");
    /// let human = library.clip(walk).skeleton;
    /// let map = MirrorMap::new(&library, human)?;
    /// let mirrored = library.mirror(&[walk], &map)?;
    /// for remark in &mirrored.remarks {
    ///     eprintln!("{}", map.describe(&library, remark));
    /// }
    /// assert_eq!(library.clip(mirrored.clips[0].clip).name.as_deref(), Some("walk_mirror"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(library: &Library, skeleton: SkeletonId) -> Result<Self, Error> {
        let Some(found) = library.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.index(), "library", library.skeletons().len())));
        };
        let body = Body::new(found, &are_joints(library, skeleton));
        let rest = ModelPose::at_rest(found);
        let figure = Figure::new(&body, &rest.matrices);
        let (numbering, none) = (Numbering::of(found), vec![None; found.joints().len()]);
        let mut partners = Partners { skeleton: found, numbering, found: none };
        partners.add_roles(&body);
        partners.add_names(SidedName::new);
        partners.add_names(SidedName::by_first_letter);
        let left = direction_to_left(found, &figure, &partners.found, None);
        let up = up(library, skeleton, &figure);
        let normal = normal(left, up);
        partners.add_places(&figure.places, left.unwrap_or(normal));
        Ok(Self { skeleton, partners: partners.found, normal })
    }

    /// Checks that there is a partner per joint, that partners are partners of each other, and that the normal has
    /// length 1.
    pub(super) fn check(&self, library: &Library) -> Result<(), Error> {
        let error = |reason: String| Err(Error::Usage(format!("mirror map: {reason}")));
        let Some(skeleton) = library.skeletons().get(self.skeleton.index()) else {
            return error(no_such("skeleton", self.skeleton.index(), "library", library.skeletons().len()));
        };
        let (count, joints) = (self.partners.len(), skeleton.joints().len());
        if count != joints {
            return error(format!("it has {count} partners, but the skeleton has {joints} joints; give one per joint"));
        }
        let is_mutual = |(joint, partner): (usize, &Option<usize>)| {
            partner.is_none_or(|partner| self.partners.get(partner) == Some(&Some(joint)))
        };
        if let Some(joint) = self.partners.iter().enumerate().position(|pair| !is_mutual(pair)) {
            let name = skeleton.joint_name(joint);
            return error(format!("joint {name:?} is not the partner of its partner; partners are mutual"));
        }
        let is_unit = (self.normal.length() - 1.0).abs() <= 1e-9;
        if !is_unit {
            return error(format!("the normal of its plane is {}; expected a direction of length 1", self.normal));
        }
        Ok(())
    }
}

/// The partners that are known so far.
struct Partners<'a> {
    skeleton: &'a Skeleton,
    numbering: Numbering,
    found: Vec<Option<usize>>,
}

impl Partners<'_> {
    fn add(&mut self, one: usize, other: usize) {
        if self.found[one].is_none() && self.found[other].is_none() {
            (self.found[one], self.found[other]) = (Some(other), Some(one));
        }
    }

    /// Pairs joints by the roles of a human. Joints of the trunk are their own partners.
    fn add_roles(&mut self, body: &Body) {
        for joint in 0..self.found.len() {
            let Some(role) = body.role(joint) else { continue };
            match SIDES.iter().position(|side| role.starts_with(side)) {
                None => self.add(joint, joint),
                Some(side) => {
                    if let Some(partner) = body.on_side(SIDES[1 - side], &role[SIDES[side].len()..]) {
                        self.add(joint, partner);
                    }
                }
            }
        }
    }

    /// Pairs joints by their names. Of several joints of one name, the children of partners are partners.
    fn add_names(&mut self, side: fn(&str) -> Option<SidedName>) {
        let mut groups: HashMap<String, [Vec<usize>; 2]> = HashMap::new();
        let mut order: Vec<(usize, bool, String)> = Vec::new();
        for (joint, node) in self.skeleton.joints().iter().enumerate().filter(|(joint, _)| self.found[*joint].is_none())
        {
            let name = node.name.as_deref().map(|name| self.numbering.plain(name));
            if let Some(SidedName { is_left, rest }) = name.and_then(side) {
                groups.entry(rest.clone()).or_default()[usize::from(!is_left)].push(joint);
                order.push((joint, is_left, rest));
            }
        }
        // Parents come first.
        for (joint, is_left, rest) in order {
            let Some(group) = groups.get(&rest).filter(|_| self.found[joint].is_none()) else { continue };
            if group.iter().any(|side| side.len() > MAX_CHILDREN) {
                continue;
            }
            let others = &group[usize::from(is_left)];
            let are_partners = |other: usize| {
                let parents = [joint, other].map(|joint| self.skeleton.joints()[joint].parent);
                match parents {
                    [Some(parent), Some(of_other)] => self.found[parent] == Some(of_other) || parent == of_other,
                    [one, other] => one == other,
                }
            };
            let others = others.iter().copied().filter(|&other| self.found[other].is_none());
            let (below, apart): (Vec<usize>, Vec<usize>) = others.partition(|&other| are_partners(other));
            if let ([other], _) | ([], [other]) = (below.as_slice(), apart.as_slice()) {
                self.add(joint, *other);
            }
        }
    }

    /// Pairs joints by their places, and makes those in the plane their own partners.
    fn add_places(&mut self, places: &[DVec3], normal: DVec3) {
        let size = extent(places);
        let middle = middle(places, &self.found, normal);
        let mirrored = |joint: usize| places[joint] - 2.0 * (places[joint].dot(normal) - middle) * normal;
        let joints = self.skeleton.joints();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
        for (joint, node) in joints.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(joint);
            }
        }
        for joint in 0..joints.len() {
            // The plane contains the place of each root.
            let above = match joints[joint].parent {
                None => Some((joint, true)),
                Some(parent) => self.found[parent].map(|partner| (partner, partner == parent)),
            };
            let Some((above, is_middle)) = above.filter(|_| self.found[joint].is_none()) else { continue };
            if joints[joint].parent.is_none() {
                self.add(joint, joint);
                continue;
            }
            let distance = |other: usize| places[joint].distance(mirrored(other));
            let is_free = |other: &&usize| **other != joint && self.found[**other].is_none();
            let few = if children[above].len() <= MAX_CHILDREN { children[above].as_slice() } else { &[] };
            let nearest = few.iter().filter(is_free).min_by(|one, other| distance(**one).total_cmp(&distance(**other)));
            let nearest = nearest.copied().filter(|&other| distance(other) <= MAX_DISTANCE * size);
            let own = if is_middle { distance(joint) } else { f64::INFINITY };
            match nearest {
                Some(other) if distance(other) < own => self.add(joint, other),
                _ if own <= 2.0 * MAX_FROM_PLANE * size => self.add(joint, joint),
                _ => {}
            }
        }
    }
}

/// The size of a figure: half the diagonal of the box around its joints, wherever it stands. 1 if all joints are at one
/// place.
pub(super) fn extent(places: &[DVec3]) -> f64 {
    let ends = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [least, most] = places.iter().fold(ends, |[least, most], place| [least.min(*place), most.max(*place)]);
    let extent = 0.5 * least.distance(most);
    if extent > 0.0 && extent.is_finite() { extent } else { 1.0 }
}

/// The coordinate of the plane along its normal, from the places of partners.
pub(super) fn middle(places: &[DVec3], partners: &[Option<usize>], normal: DVec3) -> f64 {
    let pairs = partners.iter().enumerate().filter_map(|(joint, partner)| Some((joint, (*partner)?)));
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (joint, partner)| {
        (sum + 0.5 * (places[joint] + places[partner]).dot(normal), count + 1.0)
    });
    if count > 0.0 { sum / count } else { places.first().map_or(0.0, |place| place.dot(normal)) }
}

/// The direction from the right to the left of a figure, of length 1: between its legs, or else its arms, or else
/// between the pairs that hang from one joint, or else between all pairs. A pair of unknown sides counts along a
/// direction, if it is given. `None` without any pair.
pub(super) fn direction_to_left(
    skeleton: &Skeleton,
    figure: &Figure,
    partners: &[Option<usize>],
    along: Option<DVec3>,
) -> Option<DVec3> {
    let of_body = ["UpperLeg", "UpperArm", "Shoulder"].iter().find_map(|role| figure.across(role)?.try_normalize());
    let numbering = Numbering::of(skeleton);
    let is_left = |joint: usize| -> Option<bool> {
        match figure.body.role(joint) {
            Some(role) => Some(role.starts_with(SIDES[0])),
            None => {
                let name = numbering.plain(skeleton.joints()[joint].name.as_deref()?);
                SidedName::new(name).or_else(|| SidedName::by_first_letter(name)).map(|name| name.is_left)
            }
        }
    };
    of_body.or_else(|| {
        let pairs = partners.iter().enumerate().filter_map(|(joint, partner)| Some((joint, (*partner)?)));
        let offsets = pairs.filter(|(joint, partner)| joint < partner).filter_map(|(joint, partner)| {
            let offset = figure.offset(partner, joint);
            let offset = match (is_left(joint), along) {
                (Some(true), _) if is_left(partner) == Some(false) => offset,
                (Some(false), _) if is_left(partner) == Some(true) => -offset,
                (_, Some(along)) => offset * offset.dot(along).signum(),
                _ => return None,
            };
            let [one, other] = [joint, partner].map(|joint| skeleton.joints()[joint].parent);
            Some((offset, one == other))
        });
        let offsets: Vec<(DVec3, bool)> = offsets.collect();
        // Limbs can be posed, but the joints from which they hang are a rigid part.
        let first = offsets.iter().filter(|(_, is_first)| *is_first).map(|(offset, _)| *offset).sum::<DVec3>();
        first.try_normalize().or_else(|| offsets.iter().map(|(offset, _)| *offset).sum::<DVec3>().try_normalize())
    })
}

/// The up axis of the world of a skeleton's clips.
fn up(library: &Library, skeleton: SkeletonId, figure: &Figure) -> DVec3 {
    let clips: Vec<ClipId> = library.clip_ids().filter(|&clip| library.clip(clip).skeleton == skeleton).collect();
    let motion = SourceMotion::new(library, library.skeleton(skeleton), figure.body, &clips);
    let at_rest = figure.standing().map(|up| upright_axis(up).unwrap_or(DVec3::Y));
    up_of_source(at_rest, &motion, figure.leg()).unwrap_or(DVec3::Y)
}

/// The normal of an upright plane between left and right.
fn normal(left: Option<DVec3>, up: DVec3) -> DVec3 {
    let across = left.map(|left| left - left.dot(up) * up).filter(|across| across.length() >= MIN_ACROSS);
    let axis = if up.x == 0.0 { DVec3::X } else { DVec3::Z };
    let Some(across) = across.and_then(DVec3::try_normalize) else { return axis };
    let near = DVec3::AXES.into_iter().find(|axis| axis.dot(across).abs() >= NEAR_AXIS);
    near.unwrap_or(across)
}

/// The half turn about a direction. A reflection in the plane of this normal is this rotation and a factor of -1.
pub(super) fn half_turn(normal: DVec3) -> DQuat {
    DQuat::from_xyzw(normal.x, normal.y, normal.z, 0.0)
}
