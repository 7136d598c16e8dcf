//! The map of a retargeting: pairs of joints, by their names or from a file, and the movement of the root.
//!
//! Without a file, each of these steps pairs joints that have no partner yet:
//!
//! 1. Roles that both files declare, as VRM files do.
//! 2. Equal names, then equal normalised names.
//! 3. Equal roles, by declaration, by naming conventions and by structure, see [`conventions`](super::conventions).
//!
//! Two joints of one name are no pair if both skeletons know their roles well and they differ, or if only one of the
//! two has a role, which another joint has in the other skeleton, too: `LeftShoulder` is an upper arm in the names of
//! Biovision, and a clavicle in files of Mixamo. Roles of the trunk are compared as partners of two trunks of different
//! numbers of joints.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::import::{FileError, JsonPath, parse_json, without_mark};
use crate::model::{Joint, Library, Selector, Skeleton, SkeletonId, no_such};
use crate::retarget::conventions::{ESSENTIAL, HIPS, Numbering, RoleGround, Roles, TRUNK, trunk_partners};

/// The joints of two skeletons of a library that correspond to each other, and the movement of the root, for
/// [`Library::retarget`].
///
/// Joints are the nodes that skins name and the nodes between them; all nodes of a skeleton without skins.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMap {
    /// The skeleton of the clips.
    pub source: SkeletonId,
    /// The skeleton that gets clips.
    pub target: SkeletonId,
    /// The pairs. Each joint is in at most one of them.
    pub pairs: Vec<JointPair>,
    /// The joint of the source whose translation is retargeted, which must have a partner. `None`, the default, is the
    /// first mapped joint in hierarchy order whose translation any clip of the source moves, or else the first mapped
    /// joint.
    pub root: Option<usize>,
    /// The size of the movement of the root.
    pub translation: RootTranslation,
    /// Joints that were left out, and a root that cannot move.
    pub remarks: Vec<MapRemark>,
}

/// A joint of the source and its partner in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointPair {
    /// The joint of the source.
    pub source: usize,
    /// The joint of the target.
    pub target: usize,
    /// The reason for the pair.
    pub by: MatchedBy,
}

/// The reason for which two joints are a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// Their names are equal.
    Name,
    /// Their names are equal in lower case, without everything up to the last `:`, without `_`, `-`, `.` and spaces,
    /// and without the running numbers that Sketchfab appends to all names of a file.
    NormalizedName,
    /// They have the same humanoid role: by [`Skeleton::human_bones`](crate::Skeleton::human_bones), or by the usual
    /// names of a tool, as of Mixamo, Unreal's mannequin, VRM, Rigify, Biovision or SMPL.
    Role,
    /// They have the same humanoid role, and at least one of them by the shape of its skeleton: two pairs of mirrored
    /// limbs.
    Structure,
    /// The caller or a map file names them.
    Caller,
}

/// The size of the movement of the root: the movement of the source times a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RootTranslation {
    /// Times this number; by default the ratio of the lengths of the legs, or else of other lengths, see
    /// [`RootScale`](crate::retarget::RootScale).
    Scaled(Option<f64>),
    /// As it is.
    Full,
    /// The root does not move.
    None,
}

impl Default for RootTranslation {
    fn default() -> Self {
        Self::Scaled(None)
    }
}

/// A reason for which joints have no partner, or the root does not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapRemark {
    /// Several joints of a skeleton have the name or the role. They are left out.
    Ambiguous {
        /// The name, normalised name or role.
        name: String,
        /// How it was compared.
        by: MatchedBy,
        /// The joints of the source with it.
        sources: Vec<usize>,
        /// The joints of the target with it.
        targets: Vec<usize>,
    },
    /// Two joints have the same name, but by the other names of their skeletons they are different bones of a human.
    /// They are no pair, and at least one of them found no other partner.
    Roles {
        /// The joint of the source.
        source: usize,
        /// The joint of the target.
        target: usize,
        /// The roles of the two.
        roles: [String; 2],
    },
    /// Joints that the motion of a human needs have no partner, though others of them have: hips, upper and lower legs,
    /// feet, upper and lower arms, a joint of the spine, and neck or head.
    Missing {
        /// The roles, with their names in VRM 1.0, of joints of the target that the source lacks. They keep their rest
        /// pose.
        in_source: Vec<String>,
        /// The roles of joints of the source that the target lacks. Their motion is left out.
        in_target: Vec<String>,
    },
    /// A skeleton has no legs at all, as the upper body alone, but the other one has.
    NoLegs {
        /// The skeleton without legs.
        side: MapSide,
    },
    /// The joint of the target is given by a matrix with shear, which cannot be animated. The pair is left out.
    Matrix {
        /// The joint of the source.
        source: usize,
        /// The joint of the target.
        target: usize,
    },
    /// A joint above the root of the target has a scale of 0 at rest, so that no translation brings the root to its
    /// place. The root does not move; the pair stays.
    ZeroScale {
        /// The root in the source.
        source: usize,
        /// The root in the target.
        target: usize,
        /// The joint of the target with the scale of 0.
        above: usize,
    },
}

/// A skeleton of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapSide {
    /// The skeleton of the clips.
    Source,
    /// The skeleton that gets clips.
    Target,
}

impl JointMap {
    /// A map without pairs.
    pub fn new(source: SkeletonId, target: SkeletonId) -> Self {
        let (pairs, remarks) = (Vec::new(), Vec::new());
        Self { source, target, pairs, root: None, translation: RootTranslation::default(), remarks }
    }

    /// A map of the joints with equal declared roles in a human, then of those with equal names, then of those with
    /// equal normalised names, then of those with equal roles by the conventions of tools or by the shape of the
    /// skeletons. Ambiguous joints are left out, with a remark.
    ///
    /// Two joints of equal names are no pair if they are different bones of a human by the conventions of their
    /// skeletons, and each can get another partner by its role: `LeftShoulder`, for example, is an upper arm in the
    /// names of Biovision, but a clavicle in files of Mixamo. If one of the two finds no other partner, there is a
    /// [`MapRemark::Roles`].
    ///
    /// Trunks with different numbers of joints are paired from below: the lowest joint with the lowest, and the
    /// highest, which carries arms and neck, with the highest. Joints that a human needs and that have no partner are
    /// listed in a [`MapRemark::Missing`].
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton.
    pub fn by_names(library: &Library, source: SkeletonId, target: SkeletonId) -> Result<Self, Error> {
        let [mut of_source, mut of_target] = [Side::of(library, source)?, Side::of(library, target)?];
        let (pairs, remarks) = match_joints(&mut of_source, &mut of_target);
        Ok(Self { pairs, remarks, ..Self::new(source, target) })
    }

    /// The partner of a joint of the source.
    pub fn target_of(&self, source: usize) -> Option<usize> {
        self.pairs.iter().find(|pair| pair.source == source).map(|pair| pair.target)
    }

    /// Checks that skeletons and joints exist, that each joint has at most one partner, and that the root has one.
    pub(super) fn check(&self, library: &Library) -> Result<(), Error> {
        let error = |reason: String| Err(Error::Usage(format!("joint map: {reason}")));
        let count = library.skeletons().len();
        if let Some(id) = [self.source, self.target].into_iter().find(|id| id.index() >= count) {
            return error(no_such("skeleton", id.index(), "library", count));
        }
        let joints: [fn(&JointPair) -> usize; 2] = [|pair| pair.source, |pair| pair.target];
        for ((id, side), joint_of) in [(self.source, "source"), (self.target, "target")].into_iter().zip(joints) {
            let skeleton = library.skeleton(id);
            let mut is_paired = vec![false; skeleton.joints().len()];
            for joint in self.pairs.iter().map(joint_of) {
                match is_paired.get_mut(joint) {
                    None => return error(no_such("joint", joint, &format!("{side} skeleton"), is_paired.len())),
                    Some(true) => {
                        let name = skeleton.joint_name(joint);
                        return error(format!("joint {name:?} of the {side} has two partners; give it one"));
                    }
                    Some(paired) => *paired = true,
                }
            }
        }
        if let Some(root) = self.root.filter(|&root| self.target_of(root).is_none()) {
            let name = library.skeleton(self.source).joint_name(root);
            return error(format!(
                "the root is joint {name:?} of the source, which has no partner; choose a mapped joint"
            ));
        }
        match self.translation {
            RootTranslation::Scaled(Some(scale)) if !crate::model::is_usable(scale) => {
                error(format!("the scale of the root is {scale}; expected a finite number in the range of an f32"))
            }
            _ => Ok(()),
        }
    }
}

/// The joints of a skeleton that can have a partner.
pub(super) struct Side<'a> {
    skeleton: &'a Skeleton,
    numbering: Numbering,
    /// True for each joint that has no partner yet and is not ambiguous.
    is_free: Vec<bool>,
    pub roles: Roles,
}

impl<'a> Side<'a> {
    pub fn new(skeleton: &'a Skeleton, is_joint: Vec<bool>) -> Self {
        let roles = Roles::new(skeleton, &is_joint);
        Self { skeleton, numbering: Numbering::of(skeleton), is_free: is_joint, roles }
    }

    /// The joints of a skeleton of a library.
    fn of(library: &'a Library, id: SkeletonId) -> Result<Self, Error> {
        match library.skeletons().get(id.index()) {
            Some(skeleton) => Ok(Self::new(skeleton, are_joints(library, id))),
            None => Err(Error::Usage(no_such("skeleton", id.index(), "library", library.skeletons().len()))),
        }
    }

    fn ground(&self, joint: usize) -> Option<RoleGround> {
        self.roles.grounds[joint]
    }

    /// A remark on two joints of one name with different roles. Joints of two trunks of different lengths need none.
    fn difference(&self, target: &Self, from: usize, to: usize) -> Option<MapRemark> {
        let roles = [self.roles.of_joint[from].clone()?, target.roles.of_joint[to].clone()?];
        let are_of_trunk = roles.iter().all(|role| TRUNK.contains(&role.as_str()));
        (!are_of_trunk).then_some(MapRemark::Roles { source: from, target: to, roles })
    }

    /// Returns `true` if the role of a joint is no guess.
    fn is_sure(&self, joint: usize) -> bool {
        matches!(self.ground(joint), Some(RoleGround::Declared | RoleGround::Convention))
    }
}

/// A way to compare joints.
#[derive(Clone, Copy, PartialEq)]
enum MatchStep {
    DeclaredRole,
    Name,
    NormalizedName,
    Role,
}

/// Pairs joints, see the head of this module. What is ambiguous is left out.
pub(super) fn match_joints(source: &mut Side, target: &mut Side) -> (Vec<JointPair>, Vec<MapRemark>) {
    let (mut pairs, mut remarks) = (Vec::new(), Vec::new());
    let keys = role_keys(&source.roles, &target.roles);
    let known = [0, 1].map(|side: usize| keys[side].iter().flatten().collect::<HashSet<&String>>());
    let hips_of_source = keys[0].iter().position(|key| key.as_deref() == Some(HIPS));
    let hips_are_of_structure = hips_of_source.is_some_and(|joint| source.ground(joint) == Some(RoleGround::Structure));
    for step in [MatchStep::DeclaredRole, MatchStep::Name, MatchStep::NormalizedName, MatchStep::Role] {
        let mut groups: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (index, side) in [&*source, &*target].into_iter().enumerate() {
            for joint in (0..side.is_free.len()).filter(|&joint| side.is_free[joint]) {
                let key = match step {
                    MatchStep::DeclaredRole if side.ground(joint) != Some(RoleGround::Declared) => None,
                    MatchStep::DeclaredRole | MatchStep::Role => keys[index][joint].clone(),
                    MatchStep::Name => side.skeleton.joints()[joint].name.clone(),
                    MatchStep::NormalizedName => side.numbering.normalized(side.skeleton, joint),
                };
                if let Some(key) = key.filter(|key| !key.is_empty()) {
                    groups.entry(key).or_default()[index].push(joint);
                }
            }
        }
        for (name, [sources, targets]) in groups {
            if sources.is_empty() || targets.is_empty() {
                continue;
            }
            let is_of_structure = source.ground(sources[0]) == Some(RoleGround::Structure)
                || target.ground(targets[0]) == Some(RoleGround::Structure);
            let by = match step {
                MatchStep::Name => MatchedBy::Name,
                MatchStep::NormalizedName => MatchedBy::NormalizedName,
                MatchStep::Role if is_of_structure => MatchedBy::Structure,
                MatchStep::DeclaredRole | MatchStep::Role => MatchedBy::Role,
            };
            if let ([from], [to]) = (sources.as_slice(), targets.as_slice()) {
                match [&keys[0][*from], &keys[1][*to]] {
                    [Some(of_source), Some(of_target)]
                        if of_source != of_target
                            && (source.is_sure(*from) && target.is_sure(*to)
                                || of_source == HIPS
                                || of_target == HIPS) =>
                    {
                        remarks.extend(source.difference(target, *from, *to));
                        continue;
                    }
                    // Another joint has the role.
                    [Some(of_source), None] if source.is_sure(*from) && known[1].contains(of_source) => continue,
                    // In a file without a skin, all nodes are joints, so that hips by structure may be a node above.
                    [None, Some(of_target)] if of_target == HIPS && hips_are_of_structure => {}
                    [None, Some(of_target)] if target.is_sure(*to) && known[0].contains(of_target) => continue,
                    _ => {}
                }
                pairs.push(JointPair { source: *from, target: *to, by });
            } else {
                remarks.push(MapRemark::Ambiguous { name, by, sources: sources.clone(), targets: targets.clone() });
                // Their roles may still tell them apart.
                if step == MatchStep::NormalizedName {
                    continue;
                }
            }
            sources.iter().for_each(|&joint| source.is_free[joint] = false);
            targets.iter().for_each(|&joint| target.is_free[joint] = false);
        }
    }
    pairs.sort_by_key(|pair| pair.source);
    // Joints that found other partners need no remark, and equal names are equal when they are normalised, too.
    let mut differences = HashSet::new();
    remarks.retain(|remark| match remark {
        MapRemark::Roles { source: from, target: to, .. } => {
            (source.is_free[*from] || target.is_free[*to]) && differences.insert((*from, *to))
        }
        // Roles may have told them apart.
        MapRemark::Ambiguous { by: MatchedBy::NormalizedName, sources, targets, .. } => {
            sources.iter().any(|&joint| source.is_free[joint]) && targets.iter().any(|&joint| target.is_free[joint])
        }
        _ => true,
    });
    remarks.extend(missing(&pairs, &source.roles, &target.roles));
    (pairs, remarks)
}

/// The roles of two skeletons, where partners in the trunks have the same one: the role of the joint of the source.
fn role_keys(source: &Roles, target: &Roles) -> [Vec<Option<String>>; 2] {
    let partners = trunk_partners(source, target);
    let is_partner = |role: &str, of: fn(&(&'static str, &'static str)) -> &'static str| {
        partners.iter().find(|&pair| of(pair) == role).map(|pair| pair.0.to_owned())
    };
    let key = |role: &Option<String>, of: fn(&(&'static str, &'static str)) -> &'static str| match role.as_deref() {
        Some(role) if TRUNK.contains(&role) => {
            Some(is_partner(role, of).unwrap_or_else(|| format!("{role} without a partner")))
        }
        _ => role.clone(),
    };
    [
        source.of_joint.iter().map(|role| key(role, |pair| pair.0)).collect(),
        target.of_joint.iter().map(|role| key(role, |pair| pair.1)).collect(),
    ]
}

/// The roles of the joints of both skeletons of a map, where the pairs tell more than each skeleton alone: the partner
/// of a joint with a role has it, too.
///
/// * A pair of the caller is right. If its joints have different roles, the one that is better known counts, and that
///   of the target if both are known as well. Joints of two trunks may differ.
/// * Another pair only gives a role to a joint that has none, if no other joint of its skeleton has the role.
pub(super) fn roles_of_pairs(library: &Library, map: &JointMap) -> [Roles; 2] {
    let roles = [map.source, map.target].map(|id| Roles::new(library.skeleton(id), &are_joints(library, id)));
    shared_roles(&map.pairs, roles)
}

fn shared_roles(pairs: &[JointPair], mut roles: [Roles; 2]) -> [Roles; 2] {
    let joint_of = |pair: &JointPair, side: usize| if side == 0 { pair.source } else { pair.target };
    let role_of =
        |roles: &[Roles; 2], pair: &JointPair, side: usize| roles[side].of_joint[joint_of(pair, side)].clone();
    let is_of_trunk = |role: &Option<String>| role.as_deref().is_some_and(|role| TRUNK.contains(&role));
    // The roles that pairs of the caller give to the joints of each skeleton.
    let mut given: [HashMap<String, usize>; 2] = Default::default();
    for pair in pairs.iter().filter(|pair| pair.by == MatchedBy::Caller) {
        let known = [0, 1].map(|side| role_of(&roles, pair, side));
        if known[0] == known[1] || known.iter().all(is_of_trunk) {
            continue;
        }
        let rank = |side: usize| roles[side].grounds[joint_of(pair, side)].map_or(usize::MAX, |ground| ground as usize);
        let better = if rank(0) < rank(1) { 0 } else { 1 };
        if let Some(role) = &known[better] {
            given[1 - better].entry(role.clone()).or_insert(joint_of(pair, 1 - better));
        }
    }
    for (side, given) in given.into_iter().enumerate() {
        roles[side].give(given);
    }
    let taken = |roles: &Roles| roles.of_joint.iter().flatten().cloned().collect::<HashSet<String>>();
    let mut taken = [taken(&roles[0]), taken(&roles[1])];
    for pair in pairs {
        let [of_source, of_target] = [0, 1].map(|side| role_of(&roles, pair, side));
        let (side, role) = match (of_source, of_target) {
            (Some(role), None) => (1, role),
            (None, Some(role)) => (0, role),
            _ => continue,
        };
        if taken[side].insert(role.clone()) {
            roles[side].set(joint_of(pair, side), role, RoleGround::Partner);
        }
    }
    roles
}

/// Remarks on essential joints without a partner.
pub(super) fn missing(pairs: &[JointPair], source: &Roles, target: &Roles) -> Vec<MapRemark> {
    let has_partner = |one_of: &[&str]| {
        let is_one = |role: &Option<String>| role.as_deref().is_some_and(|role| one_of.contains(&role));
        pairs.iter().any(|pair| is_one(&source.of_joint[pair.source]) || is_one(&target.of_joint[pair.target]))
    };
    if !ESSENTIAL.iter().any(|one_of| has_partner(one_of)) {
        return Vec::new();
    }
    let is_leg = |one_of: &[&str]| one_of[0].ends_with("Leg") || one_of[0].ends_with("Foot");
    let has_legs = |roles: &Roles| ESSENTIAL.iter().any(|one_of| is_leg(one_of) && roles.has_any(one_of));
    let legs_have_partners = ESSENTIAL.iter().any(|one_of| is_leg(one_of) && has_partner(one_of));
    let without_legs = match [source, target].map(has_legs) {
        [false, true] if !legs_have_partners => Some(MapSide::Source),
        [true, false] if !legs_have_partners => Some(MapSide::Target),
        _ => None,
    };
    let (mut in_source, mut in_target) = (Vec::new(), Vec::new());
    for one_of in ESSENTIAL.iter().filter(|one_of| !(has_partner(one_of) || without_legs.is_some() && is_leg(one_of))) {
        let name =
            || one_of.iter().find(|role| target.has_any(&[role]) || source.has_any(&[role])).map(|&role| role.into());
        if target.has_any(one_of) {
            in_source.extend(name());
        } else if source.has_any(one_of) {
            in_target.extend(name());
        }
    }
    let mut remarks: Vec<MapRemark> = without_legs.map(|side| MapRemark::NoLegs { side }).into_iter().collect();
    if !(in_source.is_empty() && in_target.is_empty()) {
        remarks.push(MapRemark::Missing { in_source, in_target });
    }
    remarks
}

/// True for each node that a skin names or that lies between two such nodes; for all nodes of a skeleton without skins.
pub(crate) fn are_joints(library: &Library, id: SkeletonId) -> Vec<bool> {
    let skeleton = library.skeleton(id);
    let nodes = skeleton.joints();
    let mut in_skin = vec![false; nodes.len()];
    library.skins_of(id).flat_map(|(_, skin)| &skin.joints).for_each(|&joint| in_skin[joint] = true);
    if !in_skin.contains(&true) {
        return vec![true; nodes.len()];
    }
    // A node is between two joints if one is above it, and one below.
    let (mut is_below, mut is_above) = (vec![false; nodes.len()], in_skin.clone());
    for (node, joint) in nodes.iter().enumerate() {
        is_below[node] = joint.parent.is_some_and(|parent| in_skin[parent] || is_below[parent]);
    }
    for (node, joint) in nodes.iter().enumerate().rev() {
        if let Some(parent) = joint.parent {
            is_above[parent] |= is_above[node];
        }
    }
    (0..nodes.len()).map(|node| in_skin[node] || is_below[node] && is_above[node]).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MapDocument {
    joints: Option<Pairs>,
    #[serde(default)]
    by_names: bool,
    root: Option<String>,
    #[serde(default)]
    translation: Translation,
    scale: Option<f64>,
}

#[derive(Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Translation {
    #[default]
    Scaled,
    Full,
    None,
}

/// The fields of an object in their order, of which several may have the same name. A joint with `null` has no partner.
struct Pairs(Vec<(String, Option<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("an object that names a joint of the target, or null, for each joint of the source")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Fields)
    }
}

impl JointMap {
    /// A map from the JSON of a map file. `name` is the name of the file in errors; it is not opened.
    ///
    /// ```json
    /// { "joints": { "SOURCE": "TARGET" }, "root": "SOURCE", "translation": "scaled", "scale": 1.1 }
    /// ```
    ///
    /// `joints` names the pairs, with `null` for a joint without a partner; without `joints`, the pairs follow from
    /// names and roles as with [`by_names`](Self::by_names). The role in a human that one joint of a pair has is that
    /// of the other one, too. If `by_names` is true, a pair that names and roles give, too, counts as theirs, with
    /// their [`MatchedBy`]; by default, all pairs come from the caller, whose translations are carried over whatever
    /// the names are ([`CarriedJoints::All`](crate::retarget::CarriedJoints::All)). `root` is a joint of the source.
    /// `translation` is `scaled`, the default, `full` or `none`, as in [`RootTranslation`]; `scale` is for `scaled`.
    /// Joints are named as a [`Selector`] finds them. Joints that a human needs and that have no partner are listed in
    /// a [`MapRemark::Missing`].
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path if the JSON cannot be read, a text selects no joint or several, a joint has
    /// two partners, or the root is not mapped; [`Error::Usage`] if there is no such skeleton.
    pub fn from_json(
        library: &Library,
        source: SkeletonId,
        target: SkeletonId,
        name: &Path,
        json: &[u8],
    ) -> Result<Self, Error> {
        let sides = [Side::of(library, source)?, Side::of(library, target)?];
        let mut map = Self::new(source, target);
        read(&mut map, sides, json).map_err(|error| error.in_file(name))?;
        Ok(map)
    }

    /// The map as the JSON of a map file, which [`from_json`](Self::from_json) reads, for a person to change: the
    /// joints of the source in the order of the hierarchy, those without a partner with `null`. A joint whose name
    /// others have is written as its path, or as its number. With pairs that names and roles gave, it has `by_names`:
    /// without a change, it retargets as the map does.
    ///
    /// # Panics
    /// If the library does not have the skeletons of the map.
    pub fn to_json(&self, library: &Library) -> String {
        let texts = [self.source, self.target].map(|id| selecting_texts(library.skeleton(id)));
        let text = |side: usize, joint: usize| Value::from(texts[side].get(joint).map_or("", String::as_str));
        let partners: HashMap<usize, usize> = self.pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        let (skeleton, is_joint) = (library.skeleton(self.source), are_joints(library, self.source));
        let mut joints = Map::new();
        for (joint, name) in texts[0].iter().enumerate() {
            match partners.get(&joint) {
                Some(&target) => joints.insert(name.clone(), text(1, target)),
                // No text selects a joint that is no node of the file.
                None if is_joint[joint] && !skeleton.is_carrier(joint) => joints.insert(name.clone(), Value::Null),
                None => None,
            };
        }
        let mut document = Map::new();
        document.insert("joints".into(), joints.into());
        if self.pairs.iter().any(|pair| pair.by != MatchedBy::Caller) {
            document.insert("by_names".into(), true.into());
        }
        if let Some(root) = self.root {
            document.insert("root".into(), text(0, root));
        }
        let (translation, scale) = match self.translation {
            RootTranslation::Scaled(scale) => ("scaled", scale),
            RootTranslation::Full => ("full", None),
            RootTranslation::None => ("none", None),
        };
        document.insert("translation".into(), translation.into());
        if let Some(scale) = scale {
            document.insert("scale".into(), scale.into());
        }
        format!("{:#}\n", Value::Object(document))
    }
}

/// A text for each joint of a skeleton that selects it alone: its name, its path or its number.
fn selecting_texts(skeleton: &Skeleton) -> Vec<String> {
    let selector = Selector::of_joints(skeleton);
    let mut numbers = vec![0; skeleton.joints().len()];
    skeleton.file_order().enumerate().for_each(|(number, joint)| numbers[joint] = number);
    let joints = skeleton.joints().iter().zip(skeleton.telling_paths()).zip(numbers).enumerate();
    let text = |(index, ((joint, path), number)): (usize, ((&Joint, Option<String>), usize))| {
        let selects = |text: &String| selector.all(text) == [index];
        joint
            .name
            .clone()
            .filter(|name| !name.is_empty() && selects(name))
            .or(path.filter(selects))
            .unwrap_or_else(|| format!("#{number}"))
    };
    joints.map(text).collect()
}

fn read(map: &mut JointMap, [mut source, mut target]: [Side; 2], json: &[u8]) -> Result<(), FileError> {
    // The derived parser reads a list as the fields in their order.
    let json = without_mark(json);
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(FileError::new(
            "JSON",
            "a map file is an object, such as { \"joints\": { \"Hips\": \"pelvis\" } }",
        ));
    }
    let MapDocument { joints, by_names, root, translation, scale } = parse_json(json)?;
    let names = [Names::new(&source), Names::new(&target)];
    (map.pairs, map.remarks) = match joints {
        Some(Pairs(pairs)) => {
            let mut pairs = read_pairs(&names, &pairs)?;
            if by_names {
                let (found, _) = match_joints(&mut source, &mut target);
                let reasons: HashMap<_, _> =
                    found.into_iter().map(|pair| ((pair.source, pair.target), pair.by)).collect();
                pairs.iter_mut().for_each(|pair| {
                    pair.by = reasons.get(&(pair.source, pair.target)).copied().unwrap_or(pair.by);
                });
            }
            let [source, target] = shared_roles(&pairs, [source.roles, target.roles]);
            let remarks = missing(&pairs, &source, &target);
            (pairs, remarks)
        }
        None => match_joints(&mut source, &mut target),
    };
    map.translation = match (translation, scale) {
        (Translation::Scaled, scale) => RootTranslation::Scaled(scale),
        (_, Some(_)) => {
            return Err(FileError::new("scale", "it is for \"translation\": \"scaled\"; remove one of the two"));
        }
        (Translation::Full, None) => RootTranslation::Full,
        (Translation::None, None) => RootTranslation::None,
    };
    if scale.is_some_and(|scale| !crate::model::is_usable(scale)) {
        return Err(FileError::new("scale", "it is not a finite number in the range of an f32"));
    }
    let Some(root) = root else { return Ok(()) };
    let place = JsonPath::ROOT;
    let path = place.field("root");
    let joint = names[0].find(&root, "source", &path)?;
    if map.target_of(joint).is_none() {
        return Err(FileError::new(path, format!("joint {root:?} is not mapped; name a mapped joint of the source")));
    }
    map.root = Some(joint);
    Ok(())
}

fn read_pairs([source, target]: &[Names; 2], pairs: &[(String, Option<String>)]) -> Result<Vec<JointPair>, FileError> {
    let mut found: Vec<JointPair> = Vec::new();
    let (document, mut partners) = (JsonPath::ROOT, [HashMap::new(), HashMap::new()]);
    for (from, to) in pairs {
        let joints = document.field("joints");
        let path = joints.field(from);
        let source = source.find(from, "source", &path)?;
        let Some(to) = to else { continue };
        let target = target.find(to, "target", &path)?;
        if partners[0].insert(source, from).is_some() {
            return Err(FileError::new(path, "the joint has two partners; give it one"));
        }
        if let Some(other) = partners[1].insert(target, from) {
            return Err(FileError::new(path, format!("joint {to:?} of the target is the partner of {other:?}, too")));
        }
        found.push(JointPair { source, target, by: MatchedBy::Caller });
    }
    found.sort_by_key(|pair| pair.source);
    Ok(found)
}

/// The joints of a skeleton that a text can select.
struct Names<'a> {
    selector: Selector<'a>,
    is_joint: Vec<bool>,
}

impl<'a> Names<'a> {
    /// The names of joints of which none has a partner yet.
    fn new(side: &Side<'a>) -> Self {
        Self { selector: Selector::of_joints(side.skeleton), is_joint: side.is_free.clone() }
    }

    /// The joint that a text selects. Nodes that are no joints are passed over.
    fn find(&self, text: &str, side: &str, path: &JsonPath) -> Result<usize, FileError> {
        let nodes = self.selector.all(text);
        let joints: Vec<usize> = nodes.iter().copied().filter(|&node| self.is_joint[node]).collect();
        match (joints.as_slice(), self.selector.one(text)) {
            (&[joint], _) => Ok(joint),
            (_, Err(error)) => Err(FileError::new(path, format!("in the {side}, {error}"))),
            (_, Ok(_)) => {
                let reason = "no skin names it, and it is not between joints of a skin";
                Err(FileError::new(path, format!("node {text:?} of the {side} is no joint: {reason}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of joints with these names.
    fn add(library: &mut Library, names: &[&str]) -> SkeletonId {
        let joint = |(index, name): (usize, &&str)| {
            let parent = index.checked_sub(1);
            Joint { name: Some((*name).into()), parent, ..Joint::default() }
        };
        let skeleton = Skeleton::new(None, names.iter().enumerate().map(joint).collect(), Vec::new());
        library.add_skeleton(skeleton.unwrap())
    }

    #[test]
    fn partners_have_the_same_roles() {
        let mut library = Library::new();
        let known = add(&mut library, &["Hips", "Spine", "LeftShoulder", "LeftArm", "LeftForeArm"]);
        let unknown = add(&mut library, &["a", "b", "c", "d", "e"]);
        let by = MatchedBy::Caller;
        let roles = |[source, target]: [SkeletonId; 2], pairs: &[(usize, usize)]| {
            let pairs = pairs.iter().map(|&(source, target)| JointPair { source, target, by }).collect();
            let map = JointMap { pairs, ..JointMap::new(source, target) };
            roles_of_pairs(&library, &map).map(|roles| {
                let role = |role: &Option<String>| role.clone().unwrap_or_default();
                roles.of_joint.iter().map(role).collect::<Vec<_>>()
            })
        };
        let right = ["hips", "spine", "leftShoulder", "leftUpperArm", "leftLowerArm"];
        let all: Vec<_> = (0..5).map(|joint| (joint, joint)).collect();
        assert_eq!(roles([unknown, known], &all)[0], right);
        assert_eq!(roles([known, unknown], &all)[1], right);
        assert_eq!(roles([known, unknown], &[(0, 1), (3, 4)])[1], ["", "hips", "", "", "leftUpperArm"]);
        // A pair of the caller is right: what the names of the source call a clavicle is an upper arm.
        let arm = [(0, 0), (2, 1), (3, 2)];
        let target = add(&mut library, &["pelvis", "upperarm_l", "lowerarm_l", "hand_l"]);
        let pairs = arm.iter().map(|&(source, target)| JointPair { source, target, by }).collect();
        let map = JointMap { pairs, ..JointMap::new(known, target) };
        let [source, _] = roles_of_pairs(&library, &map);
        let found: Vec<_> = source.of_joint.iter().map(|role| role.as_deref().unwrap_or_default()).collect();
        assert_eq!(found, ["hips", "spine", "leftUpperArm", "leftLowerArm", ""]);
    }

    #[test]
    fn a_joint_without_a_node_is_not_written() {
        let named = |name: Option<&str>, parent| Joint { name: name.map(str::to_owned), parent, ..Joint::default() };
        // The second joint carries the translation of the third one.
        let joints = vec![named(Some("a"), None), named(None, Some(0)), named(Some("b"), Some(1))];
        let mut library = Library::new();
        let skeleton = Skeleton::new(None, joints, Vec::new()).unwrap().in_file_order(vec![0, 2]);
        let id = library.add_skeleton(skeleton);
        let json = JointMap::new(id, id).to_json(&library);
        let written: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(written["joints"], serde_json::json!({ "a": null, "b": null }));
    }

    #[test]
    fn a_normalized_name_has_no_namespace_separators_and_capitals() {
        use crate::retarget::conventions::normalized;
        for (name, expected) in [("mixamorig:Left_Up-Leg.1 b", "leftupleg1b"), ("a:b:C", "c"), ("", ""), ("x:", "")] {
            assert_eq!(normalized(name), expected);
        }
    }
}
