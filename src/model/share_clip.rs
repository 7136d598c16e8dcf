//! Sharing of clips between skeletons, by the names of joints, morph targets and properties.

use std::collections::HashMap;
use std::fmt;

use crate::error::Error;
use crate::model::{
    Clip, ClipId, Library, MorphMap, Property, RootMotion, Skeleton, SkeletonId, Target, Track, list_morphs, no_such,
};

impl Library {
    /// Shares a clip with another skeleton, by the names of joints and properties, and adds the new clip. The two clips
    /// share their keys, and an engine stores the keys once.
    ///
    /// * A track of a joint drives the joint of the same name, at any place in the hierarchy. If several joints of
    ///   either skeleton have the name, it drives the joint that is reached by the same names from the root. Among
    ///   siblings of one name, the first matches the first, and so on.
    /// * A track of morph weights drives weights of the same names, where both joints name their morph targets
    ///   ([`Joint::morph_names`](crate::Joint::morph_names)). Else it drives all in their order, if the joints have the
    ///   same number of them. Weights without a partner stay at rest.
    /// * A track of a property drives the property of the same name, width and kind.
    /// * Tracks without a match are left out and reported. The skeleton does not change.
    /// * Values are not adapted. A joint that the clip translates takes the translation of the clip. A joint that the
    ///   clip only rotates keeps its own rest translation.
    /// * The clip keeps its name, duration, speed, wrap mode and events, and its root joint, matched by name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip or skeleton; the errors of [`add_clip`](Self::add_clip), which do not
    /// occur for a clip of the library.
    pub fn share_clip(&mut self, clip: ClipId, skeleton: SkeletonId) -> Result<Sharing, Error> {
        let Some(found) = self.clips().get(clip.index()) else {
            return Err(Error::Usage(no_such("clip", clip.index(), "library", self.clips().len())));
        };
        let Some(to) = self.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.index(), "library", self.skeletons().len())));
        };
        let from = self.skeleton(found.skeleton);
        let mut matches = Matches::new(from, to);
        let (mut targets, mut tracks, mut issues) = (Vec::with_capacity(found.tracks.len()), Vec::new(), Vec::new());
        for (index, track) in found.tracks.iter().enumerate() {
            let Match { tracks: made, kind, morphs } = matches.track(track)?;
            if let Some(kind) = kind {
                let name = target_name(from, track.target);
                issues.push(SharingIssue { track: index, target: track.target, name, kind, morphs });
            }
            targets.push(made.first().map(|made| made.target));
            tracks.extend(made);
        }
        let root = found.root_motion.map(|root| (root, matches.joint(root.joint)));
        let root_motion = root.and_then(|(root, (joint, _))| joint.map(|joint| RootMotion { joint, ..root }));
        let root = root.and_then(|(_, (_, kind))| kind);
        let mut shared = Clip { skeleton, tracks, root_motion, ..found.clone() };
        let duration = found.duration();
        // A track that was left out may have been the longest.
        if shared.duration() != duration {
            shared.length = Some(duration);
        }
        Ok(Sharing { clip: self.add_clip(shared)?, tracks: targets, issues, root })
    }
}

/// The name of the joint or property of a target.
fn target_name(skeleton: &Skeleton, target: Target) -> Option<String> {
    match target {
        Target::Property(property) => Some(skeleton.properties()[property].name.clone()),
        Target::Translation(joint)
        | Target::Rotation(joint)
        | Target::Scale(joint)
        | Target::EulerAngles(joint)
        | Target::Weights(joint) => skeleton.joints()[skeleton.node_joint(joint)].name.clone(),
    }
}

/// The tracks that a track becomes, with a remark.
#[derive(Default)]
struct Match {
    tracks: Vec<Track>,
    kind: Option<SharingIssueKind>,
    /// The names of the morph targets without a partner: of the original skeleton, of the other one.
    morphs: [Vec<String>; 2],
}

/// The matches of the joints and properties of one skeleton in another.
struct Matches<'a> {
    from: &'a Skeleton,
    to: &'a Skeleton,
    /// Per joint of `from`: its match in `to`, and a remark.
    joints: Vec<(Option<usize>, Option<SharingIssueKind>)>,
    /// Per property of `from`: its match in `to`.
    properties: Vec<Option<usize>>,
    /// The partners of the morph targets of joints of `from`, as far as tracks asked for them: a clip may have a track
    /// per weight.
    morphs: HashMap<usize, Option<MorphMap>>,
}

impl<'a> Matches<'a> {
    fn new(from: &'a Skeleton, to: &'a Skeleton) -> Self {
        let (mut counts, mut indices): (HashMap<&str, usize>, HashMap<&str, Vec<usize>>) = Default::default();
        for name in from.joints().iter().filter_map(|joint| joint.name.as_deref()) {
            *counts.entry(name).or_default() += 1;
        }
        for (index, joint) in to.joints().iter().enumerate() {
            if let Some(name) = joint.name.as_deref() {
                indices.entry(name).or_default().push(index);
            }
        }
        let mut paths = HashMap::new();
        let (from_paths, to_paths) = (number_paths(from, &mut paths), number_paths(to, &mut paths));
        let by_path: HashMap<usize, usize> = to_paths.into_iter().zip(0..).collect();
        let joint = |(joint, path): (usize, &usize)| {
            let Some(name) = from.joints()[joint].name.as_deref() else {
                return (None, Some(SharingIssueKind::Unnamed));
            };
            match (counts[name], indices.get(name).map_or(&[][..], Vec::as_slice)) {
                (_, []) => (None, Some(SharingIssueKind::NoJoint)),
                (1, &[only]) => (Some(only), None),
                _ => match by_path.get(path) {
                    Some(&same) => (Some(same), Some(SharingIssueKind::SeveralJoints)),
                    None => (None, Some(SharingIssueKind::NoPath)),
                },
            }
        };
        let joints = from_paths.iter().enumerate().map(joint).collect();
        Self { from, to, joints, properties: match_properties(from, to), morphs: HashMap::new() }
    }

    /// The match of a joint, if the match can be animated, and a remark.
    fn joint(&self, joint: usize) -> (Option<usize>, Option<SharingIssueKind>) {
        match self.joints[joint] {
            (Some(found), _) if self.to.joints()[found].matrix.is_some() => (None, Some(SharingIssueKind::Matrix)),
            found => found,
        }
    }

    /// The match of the translation of a joint, which another joint may carry, and a remark.
    fn translation(&self, joint: usize) -> (Option<usize>, Option<SharingIssueKind>) {
        let node = self.from.node_joint(joint);
        match self.joints[node] {
            (Some(found), kind) if self.to.translation_joint(found) != found => {
                (Some(self.to.translation_joint(found)), kind)
            }
            _ => self.joint(node),
        }
    }

    /// The match of a track.
    fn track(&mut self, track: &Track) -> Result<Match, Error> {
        let of_target = |target: Option<Target>, kind| {
            let track = target.map(|target| Track { target, ..track.clone() });
            Match { tracks: track.into_iter().collect(), kind, ..Match::default() }
        };
        let joint = |joint: usize, target: fn(usize) -> Target| {
            let (found, kind) = self.joint(joint);
            of_target(found.map(target), kind)
        };
        Ok(match track.target {
            Target::Translation(index) => {
                let (found, kind) = self.translation(index);
                of_target(found.map(Target::Translation), kind)
            }
            Target::Rotation(index) => joint(index, Target::Rotation),
            Target::Scale(index) => joint(index, Target::Scale),
            Target::EulerAngles(index) => joint(index, Target::EulerAngles),
            Target::Weights(index) => match self.joints[index] {
                (None, kind) => of_target(None, kind),
                (Some(found), kind) => self.weights(track, index, found, kind)?,
            },
            Target::Property(index) => match self.properties[index] {
                None => of_target(None, Some(SharingIssueKind::NoProperty)),
                Some(found) => of_target(Some(Target::Property(found)), None),
            },
        })
    }

    /// The match of a track of morph weights of a joint, and a remark on its match in the other skeleton, if there is
    /// one.
    fn weights(
        &mut self,
        track: &Track,
        joint: usize,
        found: usize,
        kind: Option<SharingIssueKind>,
    ) -> Result<Match, Error> {
        let [from, to] = [(self.from, joint), (self.to, found)].map(|(skeleton, joint)| &skeleton.joints()[joint]);
        let Some(map) = self.morphs.entry(joint).or_insert_with(|| MorphMap::new(from, to)) else {
            let kind = SharingIssueKind::Weights { from: from.weights.len(), to: to.weights.len() };
            return Ok(Match { kind: Some(kind), ..Match::default() });
        };
        let tracks = map.tracks(track, found, &to.weights)?;
        // A track of a single weight says nothing about the others. Weights of the rig alone are no loss, but may tell
        // of another spelling.
        let (left_out, at_rest) = match track.component {
            Some(component) => (vec![component], Vec::new()),
            None => (map.left_out(), map.at_rest()),
        };
        let left_out = left_out.into_iter().filter(|&index| map.target(index).is_none());
        let left_out: Vec<String> = left_out.map(|index| from.morph_label(index)).collect();
        if left_out.is_empty() {
            return Ok(Match { tracks, kind, ..Match::default() });
        }
        let at_rest = at_rest.into_iter().map(|index| to.morph_label(index)).collect();
        let kind = Some(SharingIssueKind::MorphNames { is_driven: !tracks.is_empty() });
        Ok(Match { tracks, kind, morphs: [left_out, at_rest] })
    }
}

/// Numbers the path of each joint from the root. Equal paths have equal numbers in all skeletons that share `paths`.
///
/// A path consists of the number of the parent's path, the name, and the index among the siblings of that name.
fn number_paths<'a>(
    skeleton: &'a Skeleton,
    paths: &mut HashMap<(Option<usize>, Option<&'a str>, usize), usize>,
) -> Vec<usize> {
    let mut siblings: HashMap<(Option<usize>, Option<&str>), usize> = HashMap::new();
    let mut numbers: Vec<usize> = Vec::with_capacity(skeleton.joints().len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let (name, parent) = (joint.name.as_deref(), skeleton.parent_node(index));
        let sibling = siblings.entry((parent, name)).or_default();
        let next = paths.len();
        numbers.push(*paths.entry((parent.map(|parent| numbers[parent]), name, *sibling)).or_insert(next));
        *sibling += 1;
    }
    numbers
}

/// Per property of `from`, the property of `to` with the same name, width and kind. Of several, the first matches the
/// first, and so on.
fn match_properties(from: &Skeleton, to: &Skeleton) -> Vec<Option<usize>> {
    let kind = |property: &Property| (property.rest.len(), property.rotation);
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, property) in to.properties().iter().enumerate() {
        known.entry((property.name.as_str(), kind(property))).or_default().push(index);
    }
    let mut taken: HashMap<_, usize> = HashMap::new();
    let next_match = |property: &'_ Property| {
        let key = (property.name.clone(), kind(property));
        let next = taken.entry(key).or_default();
        let found = known.get(&(property.name.as_str(), kind(property))).and_then(|known| known.get(*next)).copied();
        *next += 1;
        found
    };
    from.properties().iter().map(next_match).collect()
}

/// A clip shared with another skeleton, and the result for each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharing {
    /// The clip that was added.
    pub clip: ClipId,
    /// The target of each track on the other skeleton, in the order of the original clip; `None` if the track was left
    /// out.
    pub tracks: Vec<Option<Target>>,
    /// Tracks that were left out, or whose joint is ambiguous.
    pub issues: Vec<SharingIssue>,
    /// The remark on the root joint of the clip, if any. The shared clip has no root joint if the remark says that
    /// nothing is driven.
    pub root: Option<SharingIssueKind>,
}

/// A remark on the sharing of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharingIssue {
    /// Index of the track in the original clip.
    pub track: usize,
    /// The target of the track on the original skeleton.
    pub target: Target,
    /// The name of that joint or property; `None` for a joint without a name.
    pub name: Option<String>,
    /// The kind of the remark.
    pub kind: SharingIssueKind,
    /// The morph targets of a remark [`MorphNames`](SharingIssueKind::MorphNames): targets of the original skeleton
    /// that drive nothing, and targets of the other one that stay at rest. One without a name has its index.
    pub morphs: [Vec<String>; 2],
}

/// The kinds of remarks on the sharing of a track. The track is left out, except by
/// [`SeveralJoints`](Self::SeveralJoints), and by [`MorphNames`](Self::MorphNames) if it drives weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingIssueKind {
    /// The joint has no name, so that no other joint can match it.
    Unnamed,
    /// The other skeleton has no joint of the name.
    NoJoint,
    /// Several joints of a skeleton have the name. The track drives the joint that is reached by the same names from
    /// the root.
    SeveralJoints,
    /// Several joints of a skeleton have the name, and no joint of the other skeleton is reached by the same names.
    NoPath,
    /// The joint of the other skeleton is given by a matrix, which cannot be animated.
    Matrix,
    /// Morph targets have no partner of their name. The others are driven.
    MorphNames {
        /// `true` if the track drives any.
        is_driven: bool,
    },
    /// The joint of the other skeleton has another number of morph weights, and one of the two joints does not name its
    /// morph targets.
    Weights {
        /// Number of weights of the joint of the original skeleton.
        from: usize,
        /// Number of weights of the joint of the other skeleton.
        to: usize,
    },
    /// The other skeleton has no property of the same name, width and kind.
    NoProperty,
}

impl SharingIssue {
    /// The part of the pose that the track drives, such as `rotation of joint "hip"`.
    pub fn part(&self) -> String {
        let (part, joint) = match self.target {
            Target::Translation(joint) => ("translation of joint", joint),
            Target::Rotation(joint) | Target::EulerAngles(joint) => ("rotation of joint", joint),
            Target::Scale(joint) => ("scale of joint", joint),
            Target::Weights(joint) => ("weights of joint", joint),
            Target::Property(property) => ("property", property),
        };
        match &self.name {
            Some(name) => format!("{part} {name:?}"),
            None => format!("{part} {joint}"),
        }
    }

    /// What was found, and what it means for the track. It is the same for all tracks of one kind, if the kind has no
    /// numbers and names of its own.
    pub fn reason(&self) -> String {
        match self.kind {
            SharingIssueKind::Unnamed => "it has no name; nothing is driven".into(),
            SharingIssueKind::NoJoint => "there is no joint of that name; nothing is driven".into(),
            SharingIssueKind::SeveralJoints => {
                "several joints have that name; the one that is reached by the same names is driven".into()
            }
            SharingIssueKind::NoPath => {
                "several joints have that name, and none is reached by the same names from the root; nothing is driven"
                    .into()
            }
            SharingIssueKind::Matrix => "it is given by a matrix, which cannot be animated; nothing is driven".into(),
            SharingIssueKind::MorphNames { is_driven } => {
                let morphs = list_morphs(&self.morphs, ["clip", "rig"]);
                let effect = if is_driven { "the others are driven" } else { "nothing is driven" };
                format!("morph targets without a partner of the same name: {morphs}; {effect}")
            }
            SharingIssueKind::Weights { from, to } => {
                format!("it has {to} morph weights, not {from}; nothing is driven")
            }
            SharingIssueKind::NoProperty => "there is no property of that name and kind; nothing is driven".into(),
        }
    }
}

impl fmt::Display for SharingIssue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.part(), self.reason())
    }
}
