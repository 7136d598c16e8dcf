//! Who is who: the roles of the joints of a human. A role has its name in VRM 1.0.
//!
//! 1. The file of a skeleton declares roles (`Skeleton::human_bones`). Then these count, and nothing else.
//! 2. Names give roles, by the tables of [`tables`]. One word means different bones in different tables: `LeftShoulder`
//!    is a clavicle in Mixamo, and an upper arm in Biovision. So no name is read alone: the table that explains the
//!    whole skeleton best decides, see [`Reading::new`]. Then other tables name joints that it does not know, the
//!    better ones first, where the role is free and does not contradict the hierarchy.
//! 3. The hips are above legs and arms, whatever their name is, see [`hierarchy`].
//! 4. If essential joints are still missing, the shape of the skeleton gives their roles, see [`structure`].
//!
//! **The hierarchy.** A role is in its place if the nearest joint above with a role can be above it in a human: a hand
//! below a lower arm, a lower leg below an upper leg of its side. A joint without any role above it is neither in its
//! place nor out of it.
//!
//! **The trunk.** Skeletons have one to five joints between hips and neck. Roles are given by position and not by name:
//! the only one is `spine`; of two, the upper one is `chest`; of three and more, the lowest is `spine`, the highest
//! `upperChest` and the one in the middle `chest`. Others have no role. The pairs of two trunks are the pairs of
//! [`trunk_partners`].

mod hierarchy;
mod human;
mod structure;
mod tables;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::model::{Joint, Skeleton};
use human::{FINGERS, Limb, trunk_role};
use tables::Convention;

pub(crate) use human::{ESSENTIAL, HIPS, Numbering, TRUNK, is_role, normalized};

/// The roles of the joints of a skeleton.
#[derive(Debug, Default)]
pub struct Roles {
    /// The role of each joint.
    pub of_joint: Vec<Option<String>>,
    /// The ground of the role of each joint.
    pub grounds: Vec<Option<RoleGround>>,
    /// The conventions, the extension, or the structure that gave the roles.
    pub by: Vec<&'static str>,
}

/// The ground on which a joint has its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleGround {
    /// The file of the skeleton declares it.
    Declared,
    /// The name, in the convention that explains the whole skeleton best.
    Convention,
    /// The name, in another convention.
    OtherConvention,
    /// The shape of the skeleton.
    Structure,
    /// The role of the partner in another skeleton.
    Partner,
}

impl Roles {
    /// The roles that the file of a skeleton declares, or else those by name and by structure.
    pub fn new(skeleton: &Skeleton, is_joint: &[bool]) -> Self {
        let count = is_joint.len();
        let mut roles = Self { of_joint: vec![None; count], grounds: vec![None; count], by: Vec::new() };
        if !skeleton.human_bones().is_empty() {
            for bone in skeleton.human_bones() {
                roles.set(bone.joint, bone.role.clone(), RoleGround::Declared);
            }
            roles.by.push("the VRM extension of the file");
            return roles;
        }
        roles.read_names(skeleton, is_joint);
        roles.fill_limbs(skeleton, is_joint);
        roles.find_hips(skeleton, is_joint);
        if ESSENTIAL.iter().any(|one_of| !roles.has_any(one_of)) {
            let found = structure::roles(skeleton, is_joint, &roles.of_joint);
            if !found.is_empty() {
                roles.by.push("structure");
            }
            for (joint, role) in found {
                roles.set(joint, role, RoleGround::Structure);
            }
        }
        roles
    }

    /// Returns `true` if a joint has one of these roles.
    pub fn has_any(&self, one_of: &[&str]) -> bool {
        self.of_joint.iter().flatten().any(|role| one_of.contains(&role.as_str()))
    }

    /// The roles of the trunk that joints have, the lowest first.
    pub fn trunk(&self) -> Vec<&'static str> {
        TRUNK.into_iter().filter(|role| self.has_any(&[role])).collect()
    }

    /// Gives a role to a joint.
    pub fn set(&mut self, joint: usize, role: String, ground: RoleGround) {
        self.of_joint[joint] = Some(role);
        self.grounds[joint] = Some(ground);
    }

    /// Gives the roles of partners to joints, and takes them from all others.
    pub fn give(&mut self, given: HashMap<String, usize>) {
        for joint in 0..self.of_joint.len() {
            if self.of_joint[joint].as_ref().is_some_and(|role| given.get(role).is_some_and(|&other| other != joint)) {
                (self.of_joint[joint], self.grounds[joint]) = (None, None);
            }
        }
        given.into_iter().for_each(|(role, joint)| self.set(joint, role, RoleGround::Partner));
    }

    /// Gives roles by names. Where several tables explain the skeleton equally well, they must agree on a joint.
    fn read_names(&mut self, skeleton: &Skeleton, is_joint: &[bool]) {
        let names = JointNames::new(skeleton, is_joint);
        let mut readings: BTreeMap<i64, Vec<Reading>> = BTreeMap::new();
        for convention in &tables::ALL {
            let reading = Reading::new(convention, skeleton, &names);
            if reading.score > 0 {
                readings.entry(-reading.score).or_default().push(reading);
            }
        }
        let mut readings = readings.into_values();
        let Some(best) = readings.next() else { return };
        for joint in 0..is_joint.len() {
            if let Some(role) = agreed(&best, joint) {
                self.set(joint, role, RoleGround::Convention);
            }
        }
        self.by.extend(best.iter().map(|reading| reading.convention.name));
        let knows = |joint: usize| best.iter().any(|reading| reading.of_joint[joint].is_some());
        let is_unknown: Vec<bool> = (0..is_joint.len()).map(|joint| !knows(joint)).collect();
        for mut others in readings {
            // Numbers of other conventions count other bones: their names must be equal to the last digit.
            for other in &mut others {
                other.of_joint = other.convention.roles(&names, NameMatch::Exact).of_joint;
            }
            self.add_others(skeleton, &others, &is_unknown);
        }
    }

    /// Gives roles of other tables to joints that the best ones do not know, but none that contradicts the hierarchy.
    fn add_others(&mut self, skeleton: &Skeleton, others: &[Reading], is_unknown: &[bool]) {
        let has_trunk = !self.trunk().is_empty();
        let taken: HashSet<String> = self.of_joint.iter().flatten().cloned().collect();
        let is_usable = |role: &String| !(taken.contains(role) || has_trunk && TRUNK.contains(&role.as_str()));
        let mut added: HashSet<usize> = HashSet::new();
        for joint in (0..is_unknown.len()).filter(|&joint| is_unknown[joint]) {
            if self.of_joint[joint].is_none()
                && let Some(role) = agreed(others, joint).filter(is_usable)
            {
                self.set(joint, role, RoleGround::OtherConvention);
                added.insert(joint);
            }
        }
        // A role can contradict the role of a joint below it, too. What still does after a few rounds is hopeless.
        for _ in 0..MAX_ROUNDS {
            let places = places(skeleton, &self.of_joint);
            let wrong = places.iter().enumerate().filter_map(|(joint, place)| match place {
                Some(Place { fit: Fit::Wrong, above }) => Some([Some(joint), *above]),
                _ => None,
            });
            let wrong: Vec<usize> = wrong.flatten().flatten().filter(|joint| added.remove(joint)).collect();
            if wrong.is_empty() {
                return;
            }
            for joint in wrong {
                (self.of_joint[joint], self.grounds[joint]) = (None, None);
            }
        }
        for joint in added {
            (self.of_joint[joint], self.grounds[joint]) = (None, None);
        }
    }
}

/// The most rounds in which roles of other conventions are taken back.
const MAX_ROUNDS: usize = 16;

/// A skeleton as one table understands it.
struct Reading {
    convention: &'static Convention,
    of_joint: Vec<Option<String>>,
    score: i64,
}

impl Reading {
    /// Reads the names of a skeleton. A joint with a role scores 2, and 3 if it is in its place in the hierarchy, but
    /// -1 if its place contradicts the role. Each essential role scores 1 more, and each joint of the trunk without a
    /// role 2.
    fn new(convention: &'static Convention, skeleton: &Skeleton, names: &JointNames) -> Self {
        let NamedJoints { of_joint, others } = convention.roles(names, NameMatch::Loose);
        let places = places(skeleton, &of_joint).into_iter().flatten();
        let score: i64 = places.map(|place| [3, 2, -1][place.fit as usize]).sum::<i64>() + 2 * others as i64;
        let has_any = |one_of: &&[&str]| of_joint.iter().flatten().any(|role| one_of.contains(&role.as_str()));
        let essential = ESSENTIAL.iter().filter(|one_of| has_any(one_of)).count();
        // `root` alone is the first joint of any skeleton.
        let is_root_alone = convention.middle.contains(&(HIPS, "root")) && of_joint.iter().flatten().count() == 1;
        let score = if score > 0 && !is_root_alone { score + essential as i64 } else { 0 };
        Self { convention, of_joint, score }
    }
}

/// The joints that a convention knows.
struct NamedJoints {
    /// The role of each joint.
    of_joint: Vec<Option<String>>,
    /// The number of joints of the trunk without a role.
    others: usize,
}

/// The role that all readings that know a joint give it.
fn agreed(readings: &[Reading], joint: usize) -> Option<String> {
    let mut roles = readings.iter().filter_map(|reading| reading.of_joint[joint].as_ref());
    let first = roles.next()?;
    roles.all(|role| role == first).then(|| first.clone())
}

/// The names of the joints of a skeleton, as tables compare them.
struct JointNames {
    exact: Vec<Option<String>>,
    loose: Vec<Option<String>>,
}

impl JointNames {
    fn new(skeleton: &Skeleton, is_joint: &[bool]) -> Self {
        let numbering = Numbering::of(skeleton);
        let names = || skeleton.joints().iter().zip(is_joint);
        let keys = |key: fn(&str) -> String| {
            let name = |(joint, &is_joint): (&'_ Joint, &bool)| {
                // Helpers that carry a joint have its name with two underscores before it.
                let name = joint.name.as_deref().filter(|name| is_joint && !name.starts_with("__"));
                name.map(|name| key(numbering.plain(name)))
            };
            names().map(name).collect()
        };
        Self { exact: keys(normalized), loose: keys(loose) }
    }
}

/// How a name is compared with the names of a table.
#[derive(Clone, Copy, PartialEq)]
enum NameMatch {
    /// [`normalized`].
    Exact,
    /// The same, or else without leading zeros of numbers, unless two roles of a table then have the same name.
    Loose,
}

impl Convention {
    /// The role of each joint by its name. All joints with a name have its role.
    fn roles(&self, names: &JointNames, compare: NameMatch) -> NamedJoints {
        let mut exact: HashMap<String, (String, usize)> = HashMap::new();
        let mut simple: HashMap<String, Option<(String, usize)>> = HashMap::new();
        for (order, (role, name)) in self.names().into_iter().enumerate() {
            let entry = simple.entry(loose(&name)).or_insert_with(|| Some((role.clone(), order)));
            if entry.as_ref().is_some_and(|(other, _)| *other != role) {
                *entry = None;
            }
            exact.entry(normalized(&name)).or_insert((role, order));
        }
        // The rank of the name of each role: its prefix, and its place in the table. The least counts.
        let mut found: Vec<Option<(String, (usize, usize))>> = vec![None; names.exact.len()];
        for (prefix_rank, prefix) in self.prefixes.iter().enumerate() {
            let (exact_prefix, loose_prefix) = (normalized(prefix), loose(prefix));
            for (joint, (name, loose_name)) in names.exact.iter().zip(&names.loose).enumerate() {
                let entry = || exact.get(name.as_deref()?.strip_prefix(&exact_prefix)?);
                let loose_entry = || simple.get(loose_name.as_deref()?.strip_prefix(&loose_prefix)?)?.as_ref();
                let entry = entry().or_else(|| (compare == NameMatch::Loose).then(loose_entry).flatten());
                if let (None, Some((role, order))) = (&found[joint], entry) {
                    found[joint] = Some((role.clone(), (prefix_rank, *order)));
                }
            }
        }
        let mut least: HashMap<&str, (usize, usize)> = HashMap::new();
        for (role, rank) in found.iter().flatten() {
            let entry = least.entry(role).or_insert(*rank);
            *entry = (*entry).min(*rank);
        }
        let counts = |(role, rank): &&(String, (usize, usize))| least.get(role.as_str()) == Some(rank);
        let roles: Vec<Option<String>> =
            found.iter().map(|found| found.as_ref().filter(counts).map(|(role, _)| role.clone())).collect();
        // Names of the trunk become roles by position.
        let trunk: BTreeSet<&String> = roles.iter().flatten().filter(|role| role.starts_with(TRUNK_NAME)).collect();
        let trunk: Vec<&String> = trunk.into_iter().collect();
        let role = |role: &Option<String>| match trunk.binary_search(&role.as_ref()?) {
            Ok(index) => trunk_role(index, trunk.len()).map(str::to_owned),
            Err(_) => role.clone(),
        };
        let of_joint: Vec<Option<String>> = roles.iter().map(role).collect();
        let others = roles.iter().flatten().count() - of_joint.iter().flatten().count();
        NamedJoints { of_joint, others }
    }

    /// All roles and names of the table. Joints of the trunk have a role of their own each.
    fn names(&self) -> Vec<(String, String)> {
        let mut names: Vec<(String, String)> = Vec::new();
        names.extend(self.middle.iter().map(|&(role, name)| (role.into(), name.into())));
        names.extend(
            self.trunk.iter().enumerate().map(|(index, &name)| (format!("{TRUNK_NAME}{index:02}"), name.into())),
        );
        let words =
            [self.fingers.thumb, self.fingers.other, self.fingers.other, self.fingers.other, self.fingers.other];
        for sides in self.sides {
            for (side, word) in ["left", "right"].into_iter().zip(sides) {
                let mut add =
                    |role: String, name: String| names.push((format!("{side}{role}"), name.replace("{}", word)));
                self.side.iter().for_each(|&(role, name)| add(role.into(), name.into()));
                for ((finger, name), words) in FINGERS.iter().zip(self.fingers.names).zip(words) {
                    for (joint, word) in finger.joints.iter().zip(words).filter(|_| !name.is_empty()) {
                        let (role, name) = (format!("{}{joint}", finger.name), name.replace('#', word));
                        // Both words for the smallest finger are common.
                        let other = name.replace("pinky", "little").replace("Pinky", "Little");
                        if other != name {
                            add(role.clone(), other);
                        }
                        add(role, name);
                    }
                }
            }
        }
        names
    }
}

/// The beginning of the names of the joints of a trunk, before they have roles.
const TRUNK_NAME: &str = "trunk ";

/// The partners of the roles of two trunks: pairs of a role of the source and one of the target.
///
/// The joint that carries arms and neck must end as the trunk of the source does, and so must the lowest one. So the
/// lowest is paired with the lowest and the highest with the highest, and, of three, the middle with the middle. A
/// source with a single joint bends at the waist: it drives the lowest joint of the target, and those above follow. A
/// target with a single joint gets the highest of the source, which has the bend of all.
///
/// There is an exception. If both skeletons have the same convention and the source has fewer joints, equal roles are
/// partners: the joints above follow, so that arms and neck are right, too.
pub(super) fn trunk_partners(source: &Roles, target: &Roles) -> Vec<(&'static str, &'static str)> {
    let (from, to) = (source.trunk(), target.trunk());
    let are_alike = source.by == target.by && !source.by.is_empty();
    if from.len() < to.len() && are_alike && from.iter().all(|role| to.contains(role)) {
        return from.iter().map(|&role| (role, role)).collect();
    }
    match (from.as_slice(), to.as_slice()) {
        ([], _) | (_, []) => Vec::new(),
        (&[only], &[lowest, ..]) => vec![(only, lowest)],
        (&[.., highest], &[only]) => vec![(highest, only)],
        (&[a, b, c], &[d, e, f]) => vec![(a, d), (b, e), (c, f)],
        (&[lowest, .., highest], &[to_lowest, .., to_highest]) => vec![(lowest, to_lowest), (highest, to_highest)],
    }
}

/// The place of a joint with a role in the hierarchy.
#[derive(Clone, Copy)]
struct Place {
    fit: Fit,
    /// The nearest joint above that has a role.
    above: Option<usize>,
}

#[derive(Clone, Copy)]
enum Fit {
    /// Below a joint that can be above it.
    Right,
    /// Below no joint with a role.
    Open,
    /// Below a joint that cannot be above it.
    Wrong,
}

/// The place of each joint with a role.
fn places(skeleton: &Skeleton, of_joint: &[Option<String>]) -> Vec<Option<Place>> {
    let limbs: Vec<Option<Limb>> = of_joint.iter().map(|role| role.as_deref().and_then(Limb::of)).collect();
    // The nearest joint with a role, the joint itself or one above.
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(limbs.len());
    let mut places = Vec::with_capacity(limbs.len());
    for (index, (joint, &limb)) in skeleton.joints().iter().zip(&limbs).enumerate() {
        let above = joint.parent.and_then(|parent| nearest[parent]);
        places.push(limb.map(|limb| {
            let fit = match above.and_then(|above| limbs[above]) {
                None => Fit::Open,
                Some(above) if limb.can_be_below(above) => Fit::Right,
                Some(_) => Fit::Wrong,
            };
            Place { fit, above }
        }));
        nearest.push(limb.map(|_| index).or(above));
    }
    places
}

/// A normalised name with numbers without leading zeros.
fn loose(name: &str) -> String {
    let mut result = String::new();
    // A digit that is not 0 has come before, in the same number.
    let mut in_number = false;
    let name = normalized(name);
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_last = letters.peek().is_none_or(|next| !next.is_ascii_digit());
        if letter == '0' && !in_number && !is_last {
            continue;
        }
        in_number = letter.is_ascii_digit();
        result.push(letter);
    }
    result
}

#[cfg(test)]
mod tests;
