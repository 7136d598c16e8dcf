//! The joints of a skeleton and the curves that move them.

use std::collections::HashMap;

use glam::{DAffine3, DQuat, DVec3};

use crate::error::Error;
use crate::model::rotation::{self, unit};
use crate::model::{Clip, Library, Skeleton, Target, Track, Transform};
use crate::reference::sample;

/// The joints of a skeleton with the tracks of a clip.
pub(crate) struct MovingJoints<'a> {
    library: &'a Library,
    skeleton: &'a Skeleton,
    /// The tracks of each part of each joint, with their indices in the clip.
    tracks: HashMap<(usize, TransformPart), Vec<(usize, &'a Track)>>,
}

/// A part of the transform of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TransformPart {
    Translation,
    Rotation,
    Scale,
}

impl TransformPart {
    pub const ALL: [Self; 3] = [Self::Translation, Self::Rotation, Self::Scale];

    /// The joint and the part that a target drives.
    pub fn of(target: Target) -> Option<(usize, Self)> {
        match target {
            Target::Translation(joint) => Some((joint, Self::Translation)),
            Target::Rotation(joint) | Target::EulerAngles(joint) => Some((joint, Self::Rotation)),
            Target::Scale(joint) => Some((joint, Self::Scale)),
            Target::Weights(_) | Target::Property(_) => None,
        }
    }

    /// Its name in glTF.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
        }
    }

    /// An error of a track of this part, with the names of its clip and of its joint.
    pub fn error(self, clip: &Clip, skeleton: &Skeleton, joint: usize, error: Error) -> Error {
        let (part, joint) = (self.name(), skeleton.joint_name(joint));
        Error::Usage(format!("clip {}, {part} of {joint}: {error}", clip.label()))
    }
}

impl<'a> MovingJoints<'a> {
    pub fn new(library: &'a Library, skeleton: &'a Skeleton, clip: &'a Clip) -> Self {
        let mut tracks: HashMap<_, Vec<_>> = HashMap::new();
        for (index, track) in clip.tracks.iter().enumerate() {
            if let Some(part) = TransformPart::of(track.target) {
                tracks.entry(part).or_default().push((index, track));
            }
        }
        Self { library, skeleton, tracks }
    }

    /// The tracks of a part of a joint, with their indices in the clip.
    pub fn tracks(&self, joint: usize, part: TransformPart) -> &[(usize, &'a Track)] {
        self.tracks.get(&(joint, part)).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if a curve of the part has different values at different times.
    pub fn moves(&self, joint: usize, part: TransformPart) -> bool {
        self.tracks(joint, part).iter().any(|(_, track)| !track.curve.is_constant())
    }

    /// Returns `true` if the clip has a track of the translation of a joint.
    pub fn has_translation(&self, joint: usize) -> bool {
        !self.tracks(joint, TransformPart::Translation).is_empty()
    }

    /// The local rotation of a joint at a time, of unit length.
    pub fn rotation(&self, joint: usize, time: f64) -> DQuat {
        let rest = self.skeleton.joints()[joint].rest.rotation;
        match self.tracks(joint, TransformPart::Rotation) {
            [] => unit(rest).unwrap_or(DQuat::IDENTITY),
            [(_, track)] if matches!(track.target, Target::Rotation(_)) => sample::rotation(&track.curve, time),
            tracks => rotation::from_euler_angles(self.vector(tracks, rotation::to_euler_angles(rest), time)),
        }
    }

    /// The local translation of a joint at a time.
    pub fn translation(&self, joint: usize, time: f64) -> DVec3 {
        let rest = self.skeleton.joints()[joint].rest.translation;
        self.vector(self.tracks(joint, TransformPart::Translation), rest, time)
    }

    /// The local scale of a joint at a time.
    pub fn scale(&self, joint: usize, time: f64) -> DVec3 {
        let rest = self.skeleton.joints()[joint].rest.scale;
        self.vector(self.tracks(joint, TransformPart::Scale), rest, time)
    }

    /// The local matrix of a joint at a time.
    pub fn matrix(&self, joint: usize, time: f64) -> DAffine3 {
        let node = &self.skeleton.joints()[joint];
        if let Some(matrix) = node.matrix {
            return matrix;
        }
        let (translation, rotation) = (self.translation(joint, time), self.rotation(joint, time));
        let scale = self.scale(joint, time);
        Transform { translation, rotation, scale }.to_affine()
    }

    fn vector(&self, tracks: &[(usize, &Track)], rest: DVec3, time: f64) -> DVec3 {
        let mut numbers = rest.to_array();
        for (_, track) in tracks {
            let value = sample::value(self.library, &track.curve, time);
            match track.component {
                Some(component) => numbers[component] = value[0],
                None => numbers.copy_from_slice(&value),
            }
        }
        DVec3::from_array(numbers)
    }
}

/// The most rotations of [`ModelRotations`], about 50 MB.
const MAX_KEPT: usize = 1 << 20;

/// The rotations of joints in model space at times.
///
/// What was asked for is kept, so that a joint below one that was asked for at the same times costs one product, not
/// one per joint above. Tracks that are sampled have the times of the tracks above them. Only so many rotations are
/// kept: the rotations of the last joints.
#[derive(Debug, Default)]
pub(crate) struct ModelRotations {
    /// The rotations of joints that were asked for, by the bits of the time.
    kept: HashMap<usize, HashMap<u64, DQuat>>,
    count: usize,
    /// The last joint that was asked for, and the one above whose rotation was found for it.
    last: Option<usize>,
    above_last: Option<usize>,
    /// The joints from one that was asked for up to one that is known.
    path: Vec<usize>,
}

impl ModelRotations {
    /// The rotation of a joint at a time, from the local ones: the rotation of the joint above, times its own. The
    /// identity for `None`.
    pub fn get(
        &mut self,
        skeleton: &Skeleton,
        joint: Option<usize>,
        time: f64,
        local: impl Fn(usize) -> DQuat,
    ) -> DQuat {
        let Some(joint) = joint else { return DQuat::IDENTITY };
        if self.last != Some(joint) {
            (self.last, self.above_last) = (Some(joint), None);
        }
        let bits = time.to_bits();
        let (mut rotation, mut next) = (DQuat::IDENTITY, Some(joint));
        while let Some(above) = next {
            if let Some(known) = self.kept.get(&above).and_then(|times| times.get(&bits)) {
                rotation = *known;
                self.above_last = Some(above).filter(|above| *above != joint).or(self.above_last);
                break;
            }
            self.path.push(above);
            next = skeleton.joints()[above].parent;
        }
        let is_known = self.path.is_empty();
        while let Some(joint) = self.path.pop() {
            rotation *= local(joint);
        }
        if !is_known && self.has_space() {
            self.kept.entry(joint).or_default().insert(bits, rotation);
            self.count += 1;
        }
        rotation
    }

    /// Returns `true` if another rotation can be kept. If there are too many, the rotations of all but the last joints
    /// are forgotten.
    fn has_space(&mut self) -> bool {
        if self.count >= MAX_KEPT {
            let [last, above] = [self.last, self.above_last];
            self.kept.retain(|joint, _| Some(*joint) == last || Some(*joint) == above);
            self.count = self.kept.values().map(HashMap::len).sum();
        }
        self.count < MAX_KEPT
    }
}
