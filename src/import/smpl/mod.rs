//! SMPL, SMPL-H and SMPL-X: motion of the bodies of these names in `.npz` files of NumPy, as AMASS has it, into a
//! [`Library`].
//!
//! A file holds arrays by name: `poses`, the rotation vectors of all joints frame after frame, or `root_orient`,
//! `pose_body` and others for parts of the body; `trans`, the translation; and `mocap_framerate` or `mocap_frame_rate`.
//! Other usual names are known (`motion`). The number of rotations tells the body: 24 joints are SMPL, 52 SMPL-H, 55
//! SMPL-X, and 22 a body without hands. Other arrays, such as markers, are not read, whatever they hold.
//!
//! The joints have the names and the tree of the models. Their rest positions depend on a shape, which only a model
//! file gives: as [`Proportions`], which are passed to the import of motions, and which the `betas` of a motion change.
//! A motion may have its rest positions, `J`, itself, as the files that `posse bake` writes. Otherwise the positions
//! are the positions of an adult (`body`), with a warning. Rotations are exact in any case. Rotations of fingers are
//! relative to the flat hand (`flat_hand_mean` of the package `smplx`), as in AMASS.
//!
//! The world is the world of the file. At rest, the bodies stand along +Y and look to +Z; the worlds of AMASS have +Z
//! up, and the rotation of the pelvis stands the body up in them. The pelvis is at `trans` plus its rest position,
//! which is not rotated, as in the models. Between frames, rotations follow slerp, and translations a line.
//!
//! The stages, in order: `zip` finds the members, `npy` reads an array, `motion` makes keys of the arrays, `body` has
//! the joints, and `proportions` says where they rest.

pub(crate) mod body;
mod motion;
mod npy;
mod proportions;
mod zip;

pub use self::body::BodyModel;
pub use self::proportions::Proportions;

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use glam::DVec3;

use self::motion::{Members, SmplMotion};
use self::zip::Directory;
use super::file_error::MemoryBudget;
use super::{FileError, Warning};
use crate::error::Error;
use crate::model::{ClipId, Library, Skeleton, SkeletonId, is_usable};

/// The result of reading a file: its parts of a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The name of the file, as the caller gave it.
    pub file: PathBuf,
    /// The body that has the joints.
    pub model: BodyModel,
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The clip of all frames; `None` for a model file.
    pub clip: Option<ClipId>,
    /// The number of frames.
    pub frames: u64,
    /// Frames per second; above 0. Frame `n` is at `n / fps` seconds.
    pub fps: f64,
    /// The errors that were passed over.
    pub warnings: Vec<Warning>,
}

/// What a file does not say itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LoadOptions<'a> {
    /// Where the joints rest. By default, the positions `J` of the file, or else the positions of an adult, with a
    /// warning.
    pub rest: Option<&'a Proportions>,
    /// Frames per second, for a file whose rate is missing or wrong: above 0. By default the rate of the file.
    pub fps: Option<f64>,
}

impl LoadOptions<'_> {
    /// Fails for frames per second that are not finite or not above 0.
    fn check(&self) -> Result<(), Error> {
        match self.fps {
            Some(fps) if !(fps > 0.0 && is_usable(fps)) => Err(Error::Usage(format!(
                "the file is read at {fps} frames per second; expected a finite number above 0"
            ))),
            _ => Ok(()),
        }
    }
}

/// Reads a `.npz` file into a library: a motion, or a model file.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, and the errors of [`from_slice`].
pub fn load(library: &mut Library, file: impl AsRef<Path>, options: &LoadOptions) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes, options)
}

/// Reads the bytes of a `.npz` file into a library: a motion, or a model file, as a skeleton of its mean shape.
///
/// `name` is the name of the file in results and errors; it is not opened. Its stem is the name of the clip and the
/// skeleton.
///
/// # Errors
/// [`Error::Import`] with the name of an array, if the file cannot be used or the proportions do not fit its body;
/// [`Error::Usage`] if the frames per second are not above 0. The library is then unchanged.
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Asset, Error> {
    options.check()?;
    let sizes = library.sizes();
    let asset = read(library, name, bytes, options);
    if asset.is_err() {
        library.truncate(sizes);
    }
    asset.map_err(|error| error.in_file(name))
}

/// Returns `true` for the bytes of an `.npz` file: a zip file whose first member is an array. Some hundred bytes tell.
pub fn is_npz(bytes: &[u8]) -> bool {
    zip::first_name(bytes).is_some_and(|name| name.ends_with(b".npy"))
}

/// Returns `true` if an open `.npz` file has the arrays of a motion. Only the list of its arrays is read. A file that
/// is damaged counts as a motion, so that its import tells what is wrong.
///
/// # Errors
/// The error of the system, if the file cannot be read.
pub fn has_motion(mut file: impl Read + Seek) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = file.seek(SeekFrom::Start(length.saturating_sub(zip::TAIL)))?;
    let mut tail = Vec::new();
    file.take(zip::TAIL).read_to_end(&mut tail)?;
    let directory = Directory::read(&tail, start, &mut MemoryBudget::new(tail.len(), motion::ALLOWANCE));
    Ok(directory.map_or(true, |directory| Members::have_motion(&directory)))
}

fn read(library: &mut Library, name: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Asset, FileError> {
    let mut members = Members::open(bytes)?;
    let stem = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let in_model = |error: Error| FileError::new("joints", error.to_string());
    let mut add_skeleton = |model: BodyModel, positions: &[DVec3]| {
        let skeleton = Skeleton::new(stem.clone(), body::joints_at(model, positions), Vec::new());
        skeleton.map(|skeleton| library.add_skeleton(skeleton)).map_err(in_model)
    };
    if !Members::have_motion(&members.directory) {
        let (model, positions) = proportions::rest_positions(&mut members, NOTHING)?;
        let skeleton = add_skeleton(model, &positions)?;
        let (file, warnings) = (name.to_path_buf(), Vec::new());
        return Ok(Asset { file, model, skeleton, clip: None, frames: 0, fps: motion::DEFAULT_RATE, warnings });
    }
    let mut motion = SmplMotion::read(&mut members, options.fps)?;
    let mut warnings = std::mem::take(&mut motion.warnings);
    let positions = match options.rest {
        Some(rest) => {
            // A shape that cannot be read is left out.
            let betas = match members.array(motion::BETAS) {
                Err(FileError { path, reason, stops_file: false }) => {
                    warnings.push(Warning { path, message: format!("{reason}; the body has its mean shape") });
                    None
                }
                betas => betas?,
            };
            let (positions, of_rest) = rest.rest_positions(motion.model, betas.as_ref())?;
            warnings.extend(of_rest);
            positions
        }
        None if members.directory.has("J.npy") => {
            let (model, positions) = proportions::rest_positions(&mut members, NOTHING)?;
            if model != motion.model {
                let (found, expected) = (model.joint_count(), motion.model.joint_count());
                let reason = format!("it has {found} joints; expected {expected}, as many as the poses");
                return Err(FileError::new("J.npy", reason));
            }
            positions
        }
        None => {
            let message = "the file does not say where the joints rest; they are those of an adult of 1.7 m, whatever \
                           the betas are. A model file of the body has their shapes, and a skeleton another one"
                .into();
            warnings.push(Warning { path: "joints".into(), message });
            body::adult(motion.model)
        }
    };
    let skeleton = add_skeleton(motion.model, &positions)?;
    let origin = positions.first().copied().unwrap_or_default().to_array();
    let clip = motion.clip(origin, skeleton, stem, &mut members.budget)?;
    let clip = library.add_clip(clip).map_err(|error| FileError::new("poses", error.to_string()))?;
    let SmplMotion { model, frames, fps, .. } = motion;
    let file = name.to_path_buf();
    Ok(Asset { file, model, skeleton, clip: Some(clip), frames: frames as u64, fps, warnings })
}

/// The error of a file that is neither.
const NOTHING: &str = "there is no motion of SMPL (poses, or root_orient and pose_body) and no model file (J, or \
                       J_regressor and v_template)";
