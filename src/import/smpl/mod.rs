//! SMPL, SMPL-H and SMPL-X: motion of the bodies of these names in `.npz` files of NumPy, as AMASS has it, into a
//! [`Library`].
//!
//! A file holds arrays by name: `poses`, the rotation vectors of all joints frame after frame, or `root_orient`,
//! `pose_body` and others for parts of the body; `trans`, the translation; and `mocap_framerate` or `mocap_frame_rate`.
//! Other usual names are known (`motion`). The number of rotations tells the body: 24 joints are SMPL, 52 SMPL-H, 55
//! SMPL-X, and 22 a body without hands. Other arrays, such as markers or betas, are not read, whatever they hold.
//!
//! The joints have the names and the tree of the models. Their rest positions depend on a shape, which only a model file
//! gives: it is read by [`from_slice`] as a skeleton without a clip, and passed as `rest` to the import of motions. A
//! motion may have its rest positions, `J`, itself, as those that `posse bake` writes. Otherwise the positions are those
//! of an adult (`body`), with a warning. Rotations are exact in any case.
//!
//! The world is that of the file. At rest, the bodies stand along +Y and look to +Z; the worlds of AMASS have +Z up, and
//! the rotation of the pelvis stands the body up in them. The pelvis is at `trans` plus its rest position, which is not
//! rotated, as in the models. Between frames, rotations follow slerp, and translations a line.
//!
//! The stages, in order: `zip` finds the members, `npy` reads an array, `motion` makes keys of the arrays, `body` has
//! the joints.

pub(crate) mod body;
mod motion;
mod npy;
mod zip;

pub use self::body::BodyModel;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use glam::DVec3;

use self::body::RestPositions;
use self::motion::{Members, Motion};
use self::zip::Directory;
use super::memory_budget::MemoryBudget;
use super::{Fault, Warning};
use crate::error::Error;
use crate::model::{ClipId, Library, Skeleton, SkeletonId};

/// The memory that a file may take besides that for its size.
const ALLOWANCE: u64 = 16 << 20;

/// The result of reading a file: its parts of a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The name of the file, as the caller gave it.
    pub file: PathBuf,
    /// The body that the joints are those of.
    pub model: BodyModel,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The clip of all frames; `None` for a model file.
    pub clip: Option<ClipId>,
    /// The number of frames.
    pub frames: u64,
    /// Frames per second; above 0. Frame `n` is at `n / fps` seconds.
    pub fps: f64,
    /// The faults that were passed over.
    pub warnings: Vec<Warning>,
}

/// Reads a `.npz` file into a library. The parameters are those of [`from_slice`].
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, and those of [`from_slice`].
pub fn load(library: &mut Library, file: impl AsRef<Path>, rest: Option<&Skeleton>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes, rest)
}

/// Reads the bytes of a `.npz` file into a library: a motion, or a model file.
///
/// `name` is the name of the file in results and errors; it is not opened. Its stem is the name of the clip and the
/// skeleton. `rest` is a skeleton with the joints of the body, by their names in the models or in their FBX files: its
/// rest positions become those of the joints. It stands with its feet down -Y, its left arm along +X, and looks to +Z.
/// By default, the body is that of an adult.
///
/// A model file has the rest positions `J`, or `J_regressor` and `v_template`, whose product they are: the mean shape.
///
/// # Errors
/// [`Error::Import`] with the name of an array, if the file cannot be used or `rest` does not fit its body. The library
/// is then unchanged.
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8], rest: Option<&Skeleton>) -> Result<Asset, Error> {
    let sizes = library.sizes();
    let asset = read(library, name, bytes, rest);
    if asset.is_err() {
        library.truncate(sizes);
    }
    asset.map_err(|fault| fault.in_file(name))
}

/// Returns true for the bytes of an `.npz` file: a zip file whose first member is an array. Some hundred bytes tell.
pub fn is_npz(bytes: &[u8]) -> bool {
    zip::first_name(bytes).is_some_and(|name| name.ends_with(b".npy"))
}

/// Returns true if a `.npz` file has the arrays of a motion. Only the list of its arrays is read. A file that is damaged
/// counts as a motion, so that its import tells what is wrong.
///
/// # Errors
/// The error of the system, if the file cannot be read.
pub fn has_motion(file: &Path) -> io::Result<bool> {
    let mut file = File::open(file)?;
    let length = file.seek(SeekFrom::End(0))?;
    let start = file.seek(SeekFrom::Start(length.saturating_sub(zip::TAIL)))?;
    let mut tail = Vec::new();
    file.take(zip::TAIL).read_to_end(&mut tail)?;
    let directory = Directory::read(&tail, start, &mut MemoryBudget::new(tail.len(), ALLOWANCE));
    Ok(directory.map_or(true, |directory| Members::have_motion(&directory)))
}

fn read(library: &mut Library, name: &Path, bytes: &[u8], rest: Option<&Skeleton>) -> Result<Asset, Fault> {
    let mut budget = MemoryBudget::new(bytes.len(), ALLOWANCE);
    let directory = Directory::read(bytes, 0, &mut budget)?;
    let mut members = Members { bytes, directory, budget };
    let stem = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let in_model = |error: Error| Fault::new("joints", error.to_string());
    let mut add_skeleton = |model: BodyModel, positions: &[DVec3]| {
        let skeleton = Skeleton::new(stem.clone(), body::joints_at(model, positions), Vec::new());
        skeleton.map(|skeleton| library.add_skeleton(skeleton)).map_err(in_model)
    };
    if !Members::have_motion(&members.directory) {
        let (model, positions) = model_file(&mut members)?;
        let skeleton = add_skeleton(model, &positions)?;
        let (file, warnings) = (name.to_path_buf(), Vec::new());
        return Ok(Asset { file, model, skeleton, clip: None, frames: 0, fps: DEFAULT_FPS, warnings });
    }
    let mut motion = Motion::read(&mut members)?;
    let mut warnings = std::mem::take(&mut motion.warnings);
    let positions = match rest {
        Some(rest) => {
            let rest = RestPositions::of_skeleton(motion.model, rest).map_err(|reason| Fault::new("joints", reason))?;
            let remark = |message| Warning { path: "joints".into(), message };
            warnings.extend(rest.remarks.into_iter().map(remark));
            rest.positions
        }
        None if members.directory.has("J.npy") => {
            let (model, positions) = model_file(&mut members)?;
            if model != motion.model {
                let (found, expected) = (model.joint_count(), motion.model.joint_count());
                let reason = format!("it has {found} joints; expected {expected}, as many as the poses");
                return Err(Fault::new("J.npy", reason));
            }
            positions
        }
        None => {
            let message =
                "the file does not say where the joints rest; they are those of an adult of 1.7 m. A skeleton \
                           of the model brings its proportions"
                    .into();
            warnings.push(Warning { path: "joints".into(), message });
            body::adult(motion.model)
        }
    };
    let skeleton = add_skeleton(motion.model, &positions)?;
    let origin = positions.first().copied().unwrap_or_default().to_array();
    let clip = motion.clip(origin, skeleton, stem, &mut members.budget)?;
    let clip = library.add_clip(clip).map_err(|error| Fault::new("poses", error.to_string()))?;
    let Motion { model, frames, fps, .. } = motion;
    let file = name.to_path_buf();
    Ok(Asset { file, model, skeleton, clip: Some(clip), frames: frames as u64, fps, warnings })
}

/// The rate of a model file, which has no frames.
const DEFAULT_FPS: f64 = 30.0;

/// The body and the rest positions of a model file.
fn model_file(members: &mut Members) -> Result<(BodyModel, Vec<DVec3>), Fault> {
    let counted = |name: &str, shape: &[usize], count: usize| {
        let expected = format!("its shape is {shape:?}; expected 24 joints (SMPL), 52 (SMPL-H) or 55 (SMPL-X)");
        BodyModel::of_count(count).ok_or_else(|| Fault::new(name, expected))
    };
    if let Some(joints) = members.array(&["J"])? {
        let [count, width] = joints.rows();
        let model = counted(joints.name(), joints.shape(), if width == 3 { count } else { 0 })?;
        let position = |joint: usize| DVec3::from_array([0, 1, 2].map(|axis| joints.number(joint, axis)));
        return Ok((model, (0..count).map(position).collect()));
    }
    let (Some(regressor), Some(vertices)) = (members.array(&["J_regressor"])?, members.array(&["v_template"])?) else {
        let found = members.directory.list();
        let reason = format!(
            "there is no motion of SMPL (poses, or root_orient and pose_body) and no model file (J); the arrays are \
             {found}"
        );
        return Err(Fault::new("zip", reason));
    };
    let ([count, width], [vertex_count, axes]) = (regressor.rows(), vertices.rows());
    if [width, 3] != [vertex_count, axes] {
        let (one, other) = (regressor.shape(), vertices.shape());
        let reason = format!("its shape {one:?} does not fit that of v_template, {other:?}");
        return Err(Fault::new(regressor.name(), reason));
    }
    let model = counted(regressor.name(), regressor.shape(), count)?;
    let position = |joint: usize| {
        let weighted = |vertex: usize| {
            let vertex_at = DVec3::from_array([0, 1, 2].map(|axis| vertices.number(vertex, axis)));
            regressor.number(joint, vertex) * vertex_at
        };
        (0..vertex_count).map(weighted).sum()
    };
    Ok((model, (0..count).map(position).collect()))
}
