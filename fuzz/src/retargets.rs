//! Pairs of rigs made of bytes, and the retargeting of clips from one to the other.

use std::path::Path;

use arbitrary::{Result, Unstructured};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::export::gltf::Document;
use posse::retarget::{
    Facing, Ground, JointMap, JointPair, MatchedBy, ReferencePose, RetargetOptions, Retargeting, RootTranslation,
    TrackMethod,
};
use posse::root_motion::RootMotion;
use posse::{ClipId, Error, Joint, Library, Skeleton, SkeletonId, Skin, import};

use crate::{engines, numbers, promise, retargeted_poses, scenes};

/// Names of joints, by which pairs are found: equal ones, equal ones without capitals and prefixes, and roles.
const NAMES: [&str; 20] = [
    "hips",
    "Hips",
    "mixamorig:Hips",
    "spine",
    "mixamorig:Spine",
    "pelvis",
    "spine_01",
    "chest",
    "head",
    "Head",
    "leftUpperArm",
    "upperarm_l",
    "mixamorig:LeftArm",
    "LEFT.upper arm",
    "leftHand",
    "hand_l",
    "mixamorig:LeftHand",
    "J_Bip_C_Hips",
    "",
    ":",
];

/// The most processor time per sampled key in seconds, with the sanitizer.
const SECONDS_PER_KEY: f64 = 1e-3;

/// Clips of a source skeleton, a map to a target skeleton, and the options of the retargeting.
pub struct Case {
    library: Library,
    clips: Vec<ClipId>,
    map: JointMap,
    options: RetargetOptions,
}

impl Case {
    /// A case; `None` if the map is refused.
    pub fn new(bytes: &mut Unstructured) -> Result<Option<Self>> {
        let mut library = Library::new();
        let (from, to) = (rig(bytes)?, rig(bytes)?);
        let (source, target) = (add(bytes, &mut library, &from)?, add(bytes, &mut library, &to)?);
        let (mut clips, mut timelines) = (Vec::new(), Vec::new());
        for _ in 0..bytes.int_in_range(1..=2)? {
            let mut clip = scenes::clip(bytes, &from, source, &mut timelines)?;
            if bytes.ratio(1, 4)? {
                let joint = bytes.choose_index(from.len())?;
                clip.root_motion = RootMotion::on_ground(library.skeleton(source), joint).ok();
            }
            // A loop over a long clip may have too many keys.
            clips.extend(library.add_clip(clip));
        }
        let Some(map) = map(bytes, &library, source, target)? else { return Ok(None) };
        let reference = match clips.first() {
            Some(&clip) if bytes.ratio(1, 4)? => ReferencePose::Clip { clip, time: numbers::any(bytes)? },
            _ => ReferencePose::Rest,
        };
        // A small bound relative to a small rig makes many keys, which take long.
        let (rotation_bound, translation_bound) =
            (*bytes.choose(&[1e-1, 1e-2, 1e-3, 1e-4, 0.0])?, *bytes.choose(&[1e-1, 1e-2, 1e-3, f64::NAN])?);
        let bounded = RetargetOptions { reference, rotation_bound, translation_bound, ..RetargetOptions::default() };
        // What follows from how the two figures stand, or nothing of it: the rotations of partners are then known.
        let options = match bytes.ratio(1, 2)? {
            true => bounded,
            false => RetargetOptions {
                align: false,
                source_up: Some(DVec3::Y),
                facing: Facing::Keep,
                ground: Ground::Keep,
                ..bounded
            },
        };
        Ok(Some(Self { library, clips, map, options }))
    }

    /// Retargets the clips within the promise for an input of this size, and checks what was made, or that nothing was
    /// changed.
    pub fn check(mut self, data: &[u8]) {
        let before = self.library.clone();
        let retarget = || self.library.retarget(&self.clips, &self.map, &self.options);
        let timed = || promise::timed(retarget);
        let (made, seconds) = promise::in_memory(data.len(), promise::RETARGETED, timed);
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                assert!(matches!(error, Error::Usage(_)) && !error.to_string().is_empty(), "{error:?}");
                assert_eq!(self.library, before);
                return;
            }
        };
        let keys = self.check_keys(&made);
        let allowed = 1.0 + SECONDS_PER_KEY * keys as f64;
        assert!(seconds <= allowed, "{seconds} s of processor time for {keys} sampled keys");
        retargeted_poses::check(&self.library, &self.options, &made);
        self.check_file(&made);
        promise::in_time(data.len(), || engines::check_library(self.library, engines::choice(data)));
    }

    /// Asserts that sampled tracks have no more keys than SECURITY.md says. Returns their number.
    fn check_keys(&self, made: &Retargeting) -> usize {
        let tracks = |clip: ClipId| self.library.clip(clip).tracks.iter();
        let given: usize =
            self.clips.iter().flat_map(|&clip| tracks(clip)).map(|track| track.curve.timeline().len()).sum();
        let sampled = |track: &posse::retarget::RetargetedTrack| match track.method {
            TrackMethod::Resampled { keys, .. } => keys,
            TrackMethod::Exact | TrackMethod::Constant => 0,
        };
        let keys: usize = made.clips.iter().flat_map(|clip| &clip.tracks).map(sampled).sum();
        assert!(keys <= 8 * given + (1 << 22), "{keys} keys were made of {given}");
        keys
    }

    /// Writes the clips into a file, and reads it.
    fn check_file(&self, made: &Retargeting) {
        let Ok(mut document) = Document::of_skeleton(&self.library, self.map.target) else { return };
        let is_written = made.clips.iter().all(|clip| document.add_clip(&self.library, clip.clip).is_ok());
        let file = document.to_glb().expect("a small file");
        let mut library = Library::new();
        let read = import::gltf::from_slice(&mut library, Path::new("made.glb"), &file, None);
        let asset = read.expect("posse reads what it writes");
        // An animation of glTF has a channel or more. A clip without tracks is left out unless it has a length.
        let moving = made.clips.iter().filter(|clip| !clip.tracks.is_empty()).count();
        assert!(!is_written || (moving..=made.clips.len()).contains(&asset.clips.len()));
    }
}

/// Joints with names that other rigs may have, and with rest poses of all kinds.
fn rig(bytes: &mut Unstructured) -> Result<Vec<Joint>> {
    let mut joints = scenes::joints(bytes, 6)?;
    for (index, joint) in joints.iter_mut().enumerate() {
        joint.name = match bytes.int_in_range(0..=7)? {
            0 => None,
            // The joints of the same index have the same name.
            1 | 2 => Some(format!("joint {index}")),
            _ => Some((*bytes.choose(&NAMES)?).to_owned()),
        };
        if bytes.ratio(1, 2)? {
            joint.rest.rotation = rotation(bytes)?;
        }
        if bytes.ratio(1, 6)? {
            joint.rest.scale = DVec3::new(scale(bytes)?, scale(bytes)?, scale(bytes)?);
        }
        if bytes.ratio(1, 10)? {
            let shear = if bytes.arbitrary()? { numbers::small(bytes)? / 64.0 } else { 0.0 };
            let sheared = DMat3::from_cols(DVec3::X, DVec3::new(shear, 1.0, 0.0), DVec3::Z);
            joint.matrix = Some(joint.rest.to_affine() * DAffine3::from_mat3(sheared));
        }
    }
    Ok(joints)
}

/// A scale, often 1, 0 or negative.
fn scale(bytes: &mut Unstructured) -> Result<f64> {
    Ok(match bytes.int_in_range(0..=4)? {
        0 => 0.0,
        1 => -1.0,
        2 => numbers::small(bytes)? / 32.0,
        _ => 1.0,
    })
}

fn rotation(bytes: &mut Unstructured) -> Result<DQuat> {
    let numbers = [bytes.arbitrary::<i8>()?, bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?].map(f64::from);
    let rotation = DQuat::from_array(numbers);
    Ok(if rotation.length() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY })
}

/// Adds a skeleton, in half of the cases with a skin that has some of the joints.
fn add(bytes: &mut Unstructured, library: &mut Library, joints: &[Joint]) -> Result<SkeletonId> {
    let skeleton = Skeleton::new(None, joints.to_vec(), Vec::new()).expect("parents come before children");
    let skeleton = library.add_skeleton(skeleton);
    if bytes.arbitrary()? {
        let chosen: Vec<bool> = joints.iter().map(|_| bytes.ratio(3, 4)).collect::<Result<_>>()?;
        let joints: Vec<usize> = (0..joints.len()).filter(|&joint| chosen[joint]).collect();
        let inverse_bind = vec![DAffine3::IDENTITY; joints.len()];
        let skin = Skin { name: None, skeleton, joints, inverse_bind };
        library.add_skin(skin).expect("the joints belong to the skeleton");
    }
    Ok(skeleton)
}

/// A map by names, by pairs, or by a map file, which may be refused.
fn map(
    bytes: &mut Unstructured,
    library: &Library,
    source: SkeletonId,
    target: SkeletonId,
) -> Result<Option<JointMap>> {
    let mut map = match bytes.int_in_range(0..=3)? {
        0 => {
            let json = numbers::rest(bytes)?;
            let read = JointMap::from_json(library, source, target, Path::new("map.json"), json);
            return Ok(read.ok());
        }
        1 => {
            let mut map = JointMap::new(source, target);
            for _ in 0..bytes.int_in_range(0..=6)? {
                let (source, target) = (bytes.int_in_range(0..=6)?, bytes.int_in_range(0..=6)?);
                map.pairs.push(JointPair { source, target, by: MatchedBy::Caller });
            }
            map
        }
        _ => JointMap::by_names(library, source, target).expect("the skeletons exist"),
    };
    if bytes.ratio(1, 4)? {
        map.root = Some(bytes.int_in_range(0..=6)?);
    }
    map.translation = match bytes.int_in_range(0..=4)? {
        0 => RootTranslation::Full,
        1 => RootTranslation::None,
        2 => RootTranslation::Scaled(Some(numbers::any(bytes)?)),
        _ => RootTranslation::Scaled(None),
    };
    Ok(Some(map))
}
