//! From a skeleton's joints and properties to those of the same names in another.

use std::collections::HashMap;

use crate::error::Error;
use crate::model::{
    Clip, ClipId, Library, Property, RootMotion, Sharing, SharingFault, SharingFaultKind, Skeleton, SkeletonId, Target,
    Track,
};

impl Library {
    /// Gives another skeleton a clip, by the names of joints and properties, and adds what comes of it. Keys are shared, not
    /// copied; an engine stores them once.
    ///
    /// A track of a joint drives the joint of the same name, wherever that is in the hierarchy; where several of either
    /// skeleton have the name, the one that is reached by the same names from the root (of siblings of one name the first
    /// goes to the first, and so on). A track of a property drives the property of the same name, width and kind. What
    /// finds nothing is left out and reported; the skeleton stays as it is. Values are taken as they stand: a joint that
    /// the clip moves stands where the clip says, and one that it merely turns keeps its own rest translation. The clip
    /// keeps its name, duration, speed, wrap mode, events and, by its name, root joint.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no such clip or skeleton; what [`add_clip`](Self::add_clip) has, which the clip of
    /// another skeleton has not.
    pub fn share_clip(&mut self, clip: ClipId, skeleton: SkeletonId) -> Result<Sharing, Error> {
        let Some(found) = self.clips().get(clip.index()) else {
            return Err(Error::Usage(format!("there is no clip {}", clip.index())));
        };
        let Some(to) = self.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(format!("there is no skeleton {}", skeleton.index())));
        };
        let from = self.skeleton(found.skeleton);
        let names = Names::new(from, to);
        let (mut targets, mut tracks, mut faults) = (Vec::with_capacity(found.tracks.len()), Vec::new(), Vec::new());
        for (index, track) in found.tracks.iter().enumerate() {
            let (target, kind) = names.target(track);
            if let Some(kind) = kind {
                let name = name(from, track.target);
                faults.push(SharingFault { track: index, target: track.target, name, kind });
            }
            tracks.extend(target.map(|target| Track { target, ..track.clone() }));
            targets.push(target);
        }
        let root = found.root_motion.map(|root| (root, names.joint(root.joint)));
        let root_motion = root.and_then(|(root, (joint, _))| joint.map(|joint| RootMotion { joint, ..root }));
        let root = root.and_then(|(_, (_, kind))| kind);
        let mut shared = Clip { skeleton, tracks, root_motion, ..found.clone() };
        let duration = found.duration();
        // The tracks that were left out may have been those that lasted longest.
        if shared.duration() != duration {
            shared.length = Some(duration);
        }
        Ok(Sharing { clip: self.add_clip(shared)?, tracks: targets, faults, root })
    }
}

/// The name of what a target is.
fn name(skeleton: &Skeleton, target: Target) -> Option<String> {
    match target {
        Target::Property(property) => Some(skeleton.properties()[property].name.clone()),
        Target::Translation(joint)
        | Target::Rotation(joint)
        | Target::Scale(joint)
        | Target::EulerAngles(joint)
        | Target::Weights(joint) => skeleton.joints()[joint].name.clone(),
    }
}

/// What the joints and properties of a skeleton are in another.
struct Names<'a> {
    from: &'a Skeleton,
    to: &'a Skeleton,
    joints: Vec<(Option<usize>, Option<SharingFaultKind>)>,
    properties: Vec<Option<usize>>,
}

impl<'a> Names<'a> {
    fn new(from: &'a Skeleton, to: &'a Skeleton) -> Self {
        let (mut here, mut there): (HashMap<&str, usize>, HashMap<&str, Vec<usize>>) = Default::default();
        for name in from.joints().iter().filter_map(|joint| joint.name.as_deref()) {
            *here.entry(name).or_default() += 1;
        }
        for (index, joint) in to.joints().iter().enumerate() {
            if let Some(name) = joint.name.as_deref() {
                there.entry(name).or_default().push(index);
            }
        }
        let mut paths = HashMap::new();
        let (from_paths, to_paths) = (number_paths(from, &mut paths), number_paths(to, &mut paths));
        let by_path: HashMap<usize, usize> = to_paths.into_iter().zip(0..).collect();
        let joint = |(joint, path): (usize, &usize)| {
            let Some(name) = from.joints()[joint].name.as_deref() else {
                return (None, Some(SharingFaultKind::Unnamed));
            };
            match (here[name], there.get(name).map_or(&[][..], Vec::as_slice)) {
                (_, []) => (None, Some(SharingFaultKind::NoJoint)),
                (1, &[only]) => (Some(only), None),
                _ => match by_path.get(path) {
                    Some(&same) => (Some(same), Some(SharingFaultKind::SeveralJoints)),
                    None => (None, Some(SharingFaultKind::NoPath)),
                },
            }
        };
        let joints = from_paths.iter().enumerate().map(joint).collect();
        Self { from, to, joints, properties: properties(from, to) }
    }

    /// What a joint is on the other skeleton, if it can be moved there, and what there is to know about it.
    fn joint(&self, joint: usize) -> (Option<usize>, Option<SharingFaultKind>) {
        match self.joints[joint] {
            (Some(found), _) if self.to.joints()[found].matrix.is_some() => (None, Some(SharingFaultKind::Matrix)),
            found => found,
        }
    }

    /// What a track drives on the other skeleton, and what there is to know about it.
    fn target(&self, track: &Track) -> (Option<Target>, Option<SharingFaultKind>) {
        let joint = |joint: usize, target: fn(usize) -> Target| {
            let (found, kind) = self.joint(joint);
            (found.map(target), kind)
        };
        match track.target {
            Target::Translation(index) => joint(index, Target::Translation),
            Target::Rotation(index) => joint(index, Target::Rotation),
            Target::Scale(index) => joint(index, Target::Scale),
            Target::EulerAngles(index) => joint(index, Target::EulerAngles),
            Target::Weights(index) => match self.joints[index] {
                (None, kind) => (None, kind),
                (Some(found), kind) => {
                    let [from, to] =
                        [(self.from, index), (self.to, found)].map(|(of, at)| of.joints()[at].weights.len());
                    match from == to {
                        true => (Some(Target::Weights(found)), kind),
                        false => (None, Some(SharingFaultKind::Weights { from, to })),
                    }
                }
            },
            Target::Property(index) => match self.properties[index] {
                None => (None, Some(SharingFaultKind::NoProperty)),
                Some(found) => (Some(Target::Property(found)), None),
            },
        }
    }
}

/// For each joint the number of its path from the root, the same in all skeletons that are numbered with the same paths:
/// the number of its parent's, its name, and which of the siblings of that name it is.
fn number_paths<'a>(
    skeleton: &'a Skeleton,
    paths: &mut HashMap<(Option<usize>, Option<&'a str>, usize), usize>,
) -> Vec<usize> {
    let mut siblings: HashMap<(Option<usize>, Option<&str>), usize> = HashMap::new();
    let mut numbers: Vec<usize> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let name = joint.name.as_deref();
        let sibling = siblings.entry((joint.parent, name)).or_default();
        let next = paths.len();
        numbers.push(*paths.entry((joint.parent.map(|parent| numbers[parent]), name, *sibling)).or_insert(next));
        *sibling += 1;
    }
    numbers
}

/// For each property the one of the same name, width and kind: of several the first for the first, and so on.
fn properties(from: &Skeleton, to: &Skeleton) -> Vec<Option<usize>> {
    let kind = |property: &Property| (property.rest.len(), property.rotation);
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, property) in to.properties().iter().enumerate() {
        known.entry((property.name.as_str(), kind(property))).or_default().push(index);
    }
    let mut taken: HashMap<_, usize> = HashMap::new();
    let found = |property: &'_ Property| {
        let key = (property.name.clone(), kind(property));
        let next = taken.entry(key).or_default();
        let found = known.get(&(property.name.as_str(), kind(property))).and_then(|known| known.get(*next)).copied();
        *next += 1;
        found
    };
    from.properties().iter().map(found).collect()
}
