//! The numbers of a motion: rotation vectors per joint and frame, translations, and the frame rate.
//!
//! The spellings of the members come from public data sets and loaders: AMASS in its releases for SMPL-H
//! (`poses`, `mocap_framerate`) and SMPL-X (`root_orient`, `pose_body`, `mocap_frame_rate`), the arguments of the
//! package `smplx` (`global_orient`, `body_pose`, `transl`), GRAB, AIST++, BEDLAM, GMR and PHC.

use std::sync::Arc;

use glam::DQuat;

use super::body::{BodyModel, SHARED_COUNT};
use super::npy::Array;
use super::zip::Directory;
use crate::error::Error;
use crate::import::file_error::MemoryBudget;
use crate::import::{FileError, Warning};
use crate::model::{Clip, Curve, Interpolation, SkeletonId, Target, Timeline, Track, is_usable};

/// The rotations of all joints.
const POSES: &[&str] = &["poses", "fullpose", "full_pose", "pose_aa", "smpl_poses"];
const ROOT: &[&str] = &["root_orient", "global_orient", "pose_root"];
const BODY: &[&str] = &["pose_body", "body_pose"];
const HANDS: &[&str] = &["pose_hand", "hand_pose"];
const LEFT_HAND: &[&str] = &["left_hand_pose", "lhand_pose", "pose_lhand"];
const RIGHT_HAND: &[&str] = &["right_hand_pose", "rhand_pose", "pose_rhand"];
const JAW: &[&str] = &["pose_jaw", "jaw_pose"];
const EYES: &[&str] = &["pose_eye", "eye_pose"];
const LEFT_EYE: &[&str] = &["leye_pose"];
const RIGHT_EYE: &[&str] = &["reye_pose"];
const TRANSLATION: &[&str] = &["trans", "transl", "smpl_trans", "trans_orig"];
const RATE: &[&str] = &["mocap_framerate", "mocap_frame_rate", "mocap_fps", "fps", "framerate", "frame_rate"];

/// The divisor of `smpl_trans` in AIST++, whose scenes have another scale than the bodies.
const SCALING: &[&str] = &["smpl_scaling"];
/// The shape of the subject, or of each frame.
pub(super) const BETAS: &[&str] = &["betas", "beta"];

/// The rate of a motion that states none.
pub(super) const DEFAULT_RATE: f64 = 30.0;

/// The memory that a file may take besides that for its size.
pub(super) const ALLOWANCE: u64 = 16 << 20;

/// The joints of a hand with fingers.
const HAND_JOINTS: usize = 15;
/// The joints of SMPL, whose last two are the hands.
const SMPL_COUNT: usize = 24;
/// The joints of a face: the jaw and the eyes.
const FACE_COUNT: usize = 3;

/// An open file: its bytes, its members and what it may still allocate.
pub(super) struct Members<'a> {
    pub bytes: &'a [u8],
    pub directory: Directory,
    pub budget: MemoryBudget,
}

impl<'a> Members<'a> {
    /// Reads the directory of a file.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        let mut budget = MemoryBudget::new(bytes.len(), ALLOWANCE);
        let directory = Directory::read(bytes, 0, &mut budget)?;
        Ok(Self { bytes, directory, budget })
    }

    /// Returns `true` if a member tells the pose of a body. The rotation of a root alone may belong to a hand (MANO) or
    /// of a thing.
    pub fn have_motion(directory: &Directory) -> bool {
        [POSES, BODY].into_iter().any(|names| name_of(directory, names).is_some())
    }

    /// The first member with one of these names.
    pub fn array(&mut self, names: &[&str]) -> Result<Option<Array<'a>>, FileError> {
        let Some(name) = name_of(&self.directory, names) else { return Ok(None) };
        let content = self.directory.content(self.bytes, &name, &mut self.budget)?;
        content.map(|content| Array::new(&name, content)).transpose()
    }
}

/// The name of the member of an array. `numpy.savez` appends `.npy`.
fn name_of(directory: &Directory, names: &[&str]) -> Option<String> {
    names.iter().map(|name| format!("{name}.npy")).find(|name| directory.has(name))
}

/// Rotation vectors of consecutive joints.
struct JointRotations<'a> {
    array: Array<'a>,
    /// The first joint, and the number of joints.
    first: usize,
    count: usize,
}

/// A motion, before its clip is made.
pub(super) struct SmplMotion<'a> {
    pub model: BodyModel,
    pub frames: usize,
    /// Frames per second, above 0.
    pub fps: f64,
    parts: Vec<JointRotations<'a>>,
    translation: Option<Array<'a>>,
    /// The divisor of translations.
    scaling: f64,
    pub warnings: Vec<Warning>,
}

impl<'a> SmplMotion<'a> {
    /// Reads the arrays of a motion. `fps` takes the place of the rate of the file.
    pub fn read(members: &mut Members<'a>, fps: Option<f64>) -> Result<Self, FileError> {
        let mut warnings = Vec::new();
        let (model, parts) = match members.array(POSES)? {
            Some(poses) => whole(members, poses, &mut warnings)?,
            None => pieces(members, &mut warnings)?,
        };
        let translation = members.array(TRANSLATION)?;
        if let Some(array) = translation.as_ref().filter(|array| array.rows()[1] != 3) {
            return Err(FileError::new(
                array.name(),
                format!("its shape is {:?}; expected (frames, 3)", array.shape()),
            ));
        }
        if translation.is_none() {
            let message = "it is missing, so that the pelvis stays in its place".into();
            warnings.push(Warning { path: "trans.npy".into(), message });
        }
        let scaling = match &translation {
            Some(array) if array.name().starts_with("smpl_") => scaling(members)?,
            _ => 1.0,
        };
        let fps = fps.unwrap_or_else(|| rate(members, &mut warnings));
        let arrays = || parts.iter().map(|part| &part.array).chain(&translation);
        let counts: Vec<(&str, usize)> = arrays().map(|array| (array.name(), array.rows()[0])).collect();
        // One row for all frames is a value that stays.
        let moving = counts.iter().map(|(_, count)| *count).filter(|count| *count != 1);
        let frames = moving.min().unwrap_or(usize::from(!counts.is_empty()));
        for (name, count) in counts.iter().filter(|(_, count)| *count != frames) {
            let message = match count {
                1 => format!("it has one row, others have {frames}; its numbers are those of all frames"),
                _ => format!("it has {count} frames, others have {frames}; the frames after those are left out"),
            };
            warnings.push(Warning { path: (*name).into(), message });
        }
        Ok(Self { model, frames, fps, parts, translation, scaling, warnings })
    }

    /// The number of keys of an array: one for numbers that stay.
    fn keys(&self, array: &Array) -> usize {
        self.frames.min(array.rows()[0])
    }

    /// The bytes of memory of the keys: of rotations, of the translation and of times.
    fn key_bytes(&self) -> u64 {
        let rotations = self.parts.iter().map(|part| (4 * part.count, self.keys(&part.array)));
        let translation = self.translation.iter().map(|array| (3, self.keys(array)));
        let numbers = rotations.chain(translation).fold(self.frames as u64, |numbers, (width, keys)| {
            numbers.saturating_add((width as u64).saturating_mul(keys as u64))
        });
        numbers.saturating_mul(size_of::<f64>() as u64)
    }

    /// The clip: the translation of the pelvis, whose rest position is `origin`, and the rotation of each joint.
    /// Without frames, it has no tracks. Joints without numbers keep their rest pose.
    ///
    /// # Errors
    /// [`FileError`] with the frame, for numbers that are not finite.
    pub fn clip(
        &self,
        origin: [f64; 3],
        skeleton: SkeletonId,
        name: Option<String>,
        budget: &mut MemoryBudget,
    ) -> Result<Clip, FileError> {
        let Some(last) = self.frames.checked_sub(1) else { return Ok(Clip::new(name, skeleton, Vec::new())) };
        budget.charge("poses", self.key_bytes())?;
        let in_clip = |error: Error| FileError::new("poses", error.to_string());
        if !is_usable(last as f64 / self.fps) {
            return Err(FileError::new("fps", format!("at {} frames per second, the clip is too long", self.fps)));
        }
        let times = (0..self.frames).map(|frame| frame as f64 / self.fps);
        let of_frames = Arc::new(Timeline::new(times.collect()).map_err(in_clip)?);
        let of_one = Arc::new(Timeline::new(vec![0.0]).map_err(in_clip)?);
        let mut tracks = Vec::with_capacity(1 + self.model.joint_count());
        let mut add = |target, width: usize, values: Vec<f64>| -> Result<(), Error> {
            let timeline = if values.len() == width { &of_one } else { &of_frames };
            let curve = Curve::new(timeline.clone(), Interpolation::Linear, width, values)?;
            tracks.push(Track::new(target, curve));
            Ok(())
        };
        if let Some(array) = &self.translation {
            let keys = self.keys(array);
            let mut values = Vec::with_capacity(3 * keys);
            for frame in 0..keys {
                let [x, y, z] = vector(array, frame, 0)?.map(|length| length / self.scaling);
                values.extend([x + origin[0], y + origin[1], z + origin[2]]);
            }
            add(Target::Translation(0), 3, values).map_err(in_clip)?;
        }
        for part in &self.parts {
            let mut keys = vec![Vec::new(); part.count];
            keys.iter_mut().for_each(|keys| keys.reserve_exact(4 * self.keys(&part.array)));
            for frame in 0..self.keys(&part.array) {
                for (joint, keys) in keys.iter_mut().enumerate() {
                    append_rotation(keys, vector(&part.array, frame, joint)?);
                }
            }
            for (joint, keys) in keys.into_iter().enumerate() {
                add(Target::Rotation(part.first + joint), 4, keys).map_err(in_clip)?;
            }
        }
        Ok(Clip::new(name, skeleton, tracks))
    }
}

/// The rotations of all joints in one array, with fingers and a face of their own if it has none. A root of its own
/// stands before the other joints.
fn whole<'a>(
    members: &mut Members<'a>,
    poses: Array<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<(BodyModel, Vec<JointRotations<'a>>), FileError> {
    let [_, width] = poses.rows();
    let joints = width / 3;
    if width.is_multiple_of(3)
        && let Some(model) = BodyModel::of_count(joints)
    {
        return with_details(members, model, vec![JointRotations { array: poses, first: 0, count: joints }], warnings);
    }
    let root = members.array(ROOT)?.filter(|root| root.rows()[1] == 3);
    match (root, BodyModel::of_count(joints + 1)) {
        (Some(root), Some(model)) if width.is_multiple_of(3) => {
            let root = JointRotations { array: root, first: 0, count: 1 };
            with_details(members, model, vec![root, JointRotations { array: poses, first: 1, count: joints }], warnings)
        }
        _ => {
            let is_matrices = width.is_multiple_of(9) && BodyModel::of_count(width / 9).is_some();
            let rotations = if is_matrices { "; rotation matrices are not read, write rotation vectors" } else { "" };
            Err(FileError::new(
                poses.name(),
                format!(
                    "its shape is {:?}, {width} numbers per frame; expected 72 (SMPL), 156 (SMPL-H), 165 (SMPL-X) or 66 \
                     (without hands){rotations}",
                    poses.shape()
                ),
            ))
        }
    }
}

/// The rotations of the parts of a body in arrays of their own.
fn pieces<'a>(
    members: &mut Members<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<(BodyModel, Vec<JointRotations<'a>>), FileError> {
    let root = members.array(ROOT)?;
    let body = members.array(BODY)?;
    if root.is_none() {
        let message = "it is missing, so that the pelvis is not rotated".into();
        warnings.push(Warning { path: "root_orient.npy".into(), message });
    }
    let mut parts = Vec::new();
    if let Some(root) = root {
        parts.push(part(root, 0, &[1])?);
    }
    let mut model = BodyModel::Body;
    if let Some(body) = body {
        let body = part(body, 1, &[SHARED_COUNT - 1, SMPL_COUNT - 1])?;
        if body.count == SMPL_COUNT - 1 {
            model = BodyModel::Smpl;
        }
        parts.push(body);
    }
    with_details(members, model, parts, warnings)
}

/// Rotations of consecutive joints, of one of these counts.
fn part<'a>(array: Array<'a>, first: usize, counts: &[usize]) -> Result<JointRotations<'a>, FileError> {
    let [_, width] = array.rows();
    match counts.iter().find(|&&count| 3 * count == width) {
        Some(&count) => Ok(JointRotations { array, first, count }),
        None => {
            let expected = counts.iter().map(|count| (3 * count).to_string()).collect::<Vec<_>>().join(" or ");
            let reason = format!("its shape is {:?}; expected {expected} numbers per frame", array.shape());
            Err(FileError::new(array.name(), reason))
        }
    }
}

/// Adds the fingers and the face in arrays of their own to the rotations of a body that has none: of SMPL, whose hands
/// are a joint each, or of a body without hands.
fn with_details<'a>(
    members: &mut Members<'a>,
    model: BodyModel,
    mut parts: Vec<JointRotations<'a>>,
    warnings: &mut Vec<Warning>,
) -> Result<(BodyModel, Vec<JointRotations<'a>>), FileError> {
    if !matches!(model, BodyModel::Body | BodyModel::Smpl) {
        return Ok((model, parts));
    }
    let mut details = Details { members, parts: Vec::new(), warnings };
    details.add(JAW, SHARED_COUNT, 1, "the face keeps its")?;
    details.add_sides([EYES, LEFT_EYE, RIGHT_EYE], SHARED_COUNT + 1, 1, "the face keeps its")?;
    let has_face = !details.parts.is_empty();
    let fingers = if has_face { SHARED_COUNT + FACE_COUNT } else { SHARED_COUNT };
    details.add_sides([HANDS, LEFT_HAND, RIGHT_HAND], fingers, HAND_JOINTS, "the fingers keep their")?;
    let mut details = details.parts;
    if details.is_empty() {
        return Ok((model, parts));
    }
    if let (BodyModel::Smpl, Some(body)) = (model, parts.last_mut()) {
        let message = "left_hand and right_hand of SMPL are left out: a body with fingers or a face has no such joints";
        warnings.push(Warning { path: body.array.name().into(), message: message.into() });
        body.count -= SMPL_COUNT - SHARED_COUNT;
    }
    parts.append(&mut details);
    Ok((if has_face { BodyModel::SmplX } else { BodyModel::SmplH }, parts))
}

/// The fingers and the face of a body. An array that cannot be used is left out with a warning.
struct Details<'m, 'a> {
    members: &'m mut Members<'a>,
    parts: Vec<JointRotations<'a>>,
    warnings: &'m mut Vec<Warning>,
}

impl Details<'_, '_> {
    /// Adds the rotations of consecutive joints, if the file has them. `kept` says what keeps its rest pose otherwise.
    fn add(&mut self, names: &[&str], first: usize, count: usize, kept: &str) -> Result<bool, FileError> {
        let (path, reason) = match self.members.array(names) {
            Ok(None) => return Ok(false),
            Ok(Some(array)) => {
                let [_, width] = array.rows();
                if width == 3 * count {
                    self.parts.push(JointRotations { array, first, count });
                    return Ok(true);
                }
                // Of hands, these may be coefficients of principal components, which only a model file explains.
                let reason = format!("its {width} numbers per frame are not rotations of {count} joints");
                (array.name().to_owned(), reason)
            }
            Err(FileError { path, reason, stops_file: false }) => (path, reason),
            Err(error) => return Err(error),
        };
        self.warnings.push(Warning { path, message: format!("{reason}; it is left out, and {kept} rest pose") });
        Ok(false)
    }

    /// Adds the rotations of joints of both sides, in one array or two. `names` has the names of both, the left and the
    /// right side, `count` the joints of a side.
    fn add_sides(
        &mut self,
        [both, left, right]: [&[&str]; 3],
        first: usize,
        count: usize,
        kept: &str,
    ) -> Result<(), FileError> {
        if !self.add(both, first, 2 * count, kept)? {
            self.add(left, first, count, kept)?;
            self.add(right, first + count, count, kept)?;
        }
        Ok(())
    }
}

/// The divisor of the translations.
fn scaling(members: &mut Members) -> Result<f64, FileError> {
    let Some(array) = members.array(SCALING)? else { return Ok(1.0) };
    match array.single() {
        Some(scaling) if scaling > 0.0 && is_usable(scaling) => Ok(scaling),
        _ => Err(FileError::new(array.name(), "expected one number above 0, the scale of smpl_trans")),
    }
}

/// The frame rate.
fn rate(members: &mut Members, warnings: &mut Vec<Warning>) -> f64 {
    let mut usual = |path: &str, found: String| {
        let message = format!("{found}; {DEFAULT_RATE} frames per second are taken");
        warnings.push(Warning { path: path.into(), message });
        DEFAULT_RATE
    };
    match members.array(RATE) {
        Ok(Some(array)) => match array.single() {
            Some(fps) if fps > 0.0 && is_usable(fps) => fps,
            Some(fps) => usual(array.name(), format!("the frame rate is {fps}; expected a number above 0")),
            None => usual(array.name(), format!("its shape is {:?}; expected one frame rate", array.shape())),
        },
        Ok(None) => usual("zip", format!("there is no frame rate, an array of the name {}", RATE.join(", "))),
        Err(error) => usual(&error.path, error.reason),
    }
}

/// Three numbers of a frame.
fn vector(array: &Array, frame: usize, index: usize) -> Result<[f64; 3], FileError> {
    let vector = [0, 1, 2].map(|axis| array.number(frame, 3 * index + axis));
    match vector.iter().position(|&number| !is_usable(number)) {
        None => Ok(vector),
        Some(axis) => {
            let [_, width] = array.rows();
            let number = array.number(frame, 3 * index + axis);
            Err(FileError::new(
                array.name(),
                format!(
                    "frame {frame}: number {} of {width} is {number}; expected finite numbers in the range of an f32",
                    3 * index + axis + 1
                ),
            ))
        }
    }
}

/// Appends the quaternion of a rotation vector, with the sign that is nearest to the key before, so that interpolation
/// takes the shorter way.
fn append_rotation(keys: &mut Vec<f64>, vector: [f64; 3]) {
    let rotation = DQuat::from_array(quaternion(vector));
    let before = keys.last_chunk().map_or(rotation, |before| DQuat::from_array(*before));
    let rotation = if before.dot(rotation) < 0.0 { -rotation } else { rotation };
    keys.extend(rotation.to_array());
}

/// The quaternion xyzw of a rotation vector, whose direction is the axis and whose length the angle in radians.
///
/// Nothing is lost: angles beyond half a revolution and the tiniest ones are rotated by as they are.
fn quaternion([x, y, z]: [f64; 3]) -> [f64; 4] {
    let half = 0.5 * x.hypot(y).hypot(z);
    let (sin, cos) = half.sin_cos();
    // sin(half) / (2 half), whose limit is a half.
    let factor = if half > 0.0 { 0.5 * sin / half } else { 0.5 };
    [factor * x, factor * y, factor * z, cos]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_become_quaternions_without_loss() {
        use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};
        for (vector, expected) in [
            ([0.0; 3], [0.0, 0.0, 0.0, 1.0]),
            ([FRAC_PI_2, 0.0, 0.0], [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]),
            ([0.0, -PI, 0.0], [0.0, -1.0, 0.0, 0.0]),
            // One and a half revolutions.
            ([0.0, 0.0, 3.0 * PI], [0.0, 0.0, -1.0, 0.0]),
        ] {
            let found = quaternion(vector);
            assert!(
                found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-15),
                "{vector:?}: {found:?}"
            );
        }
        // sin(a / 2) is a / 2 for tiny angles, also for those whose square is 0.
        assert_eq!(quaternion([2e-200, 0.0, 0.0]), [1e-200, 0.0, 0.0, 1.0]);
        assert_eq!(quaternion([0.0, 5e-324, 0.0])[3], 1.0);
    }

    #[test]
    fn neighbours_are_in_one_hemisphere() {
        // The angles 0.9 and -0.9 half revolutions about z are 0.2 half revolutions apart.
        let (mut keys, angle) = (Vec::new(), 0.9 * std::f64::consts::PI);
        for angle in [angle, -angle, angle] {
            append_rotation(&mut keys, [0.0, 0.0, angle]);
        }
        let (keys, _) = keys.as_chunks::<4>();
        let dots: Vec<f64> =
            keys.windows(2).map(|pair| DQuat::from_array(pair[0]).dot(DQuat::from_array(pair[1]))).collect();
        let expected = (0.1 * std::f64::consts::PI).cos();
        assert!(dots.iter().all(|dot| (dot - expected).abs() < 1e-15), "{dots:?}");
    }
}
