//! FBX: binary and ASCII files of version 5.0 to 7.7 into a [`Library`]. It needs the feature `fbx`, and
//! with it a C compiler: the crate `ufbx` parses and evaluates the files.
//!
//! All nodes of a file become the joints of one skeleton, depth first, in the order of the file. Each animation stack
//! that has curves becomes a clip, with time 0 at its start; its layers are blended into one. Skin deformers become
//! skins, and the channels of blend shapes become morph weights of the joint of their mesh, from 0 to 1. Vertices,
//! materials, constraints, cameras, lights and geometry caches are not read.
//!
//! Units become metres and axes right-handed with Y up, facing +Z, whatever the file uses. Rotation orders, pre- and
//! post-rotations, pivots and offsets are in the transforms of the joints. A joint that does not inherit the scale of
//! its parent gets the inverse scale where that is exact. Otherwise its parent gets a further joint, `NAME_scale`,
//! which takes the scale on itself.
//!
//! # Keys
//!
//! FBX curves are of single numbers, and rotations are Euler angles. Keys of translations, scales and weights that the
//! file interpolates linearly or in steps are kept. Elsewhere keys are added until lines and slerp between them follow
//! the curves of the file within [`MAX_OFFSET`], [`MAX_ANGLE`] and [`MAX_CHANGE`]. Keys of [`MIN_SAMPLE_RATE`] per
//! second and more are samples of a motion: they are kept as they are, without keys between them, since Euler angles of
//! samples often jump by whole turns. A step beside other curves, in one rotation or vector, takes the last millisecond
//! before its key; a step right after a key comes at the key.
//!
//! # Names and limits
//!
//! Maya names a channel of blend shapes `deformer.smile` since FBX 7.2; its morph weight is `smile`, as in the glTF
//! files of Maya, unless two channels of a mesh then had one name. Up to FBX 7.1, weights are properties of meshes.
//!
//! A track or a skin with a number that cannot be used is left out, with a warning. The memory and the time of reading
//! are bounded by the size of the file: too many nodes above each other, layers, keys or skins are an error.
//!
//! `docs/decisions/fbx.md` compares poses and times with other readers.
//!
//! The stages, in order: `scene` parses the file. `nodes` makes joints, skins and morph weights. `clips` bakes the
//! animation stacks, and `keys` adds keys and makes curves.

#[cfg(feature = "fbx")]
mod clips;
#[cfg(feature = "fbx")]
mod keys;
#[cfg(feature = "fbx")]
mod nodes;
#[cfg(feature = "fbx")]
mod scene;

use std::path::{Path, PathBuf};

#[cfg(not(feature = "fbx"))]
use super::FileError;
use super::Warning;
use crate::error::Error;
use crate::model::{ClipId, Library, SkeletonId, SkinId};

/// The largest distance of the translation of a joint from the curves of its file, in metres of the rest pose:
/// 0.5 mm.
pub const MAX_OFFSET: f64 = 5e-4;
/// The largest angle between the rotation of a joint and the curves of its file, in radians: 0.05 degrees.
pub const MAX_ANGLE: f64 = 0.05 * std::f64::consts::PI / 180.0;
/// The largest difference of a scale or a morph weight from the curves of its file.
pub const MAX_CHANGE: f64 = 1e-3;
/// Keys of this many per second and more are samples of a motion, not keys that were set by hand.
pub const MIN_SAMPLE_RATE: f64 = 19.5;

/// The result of reading a file: its parts of a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The name of the file, as the caller gave it.
    pub file: PathBuf,
    /// The skeleton of all nodes.
    pub skeleton: SkeletonId,
    /// The skins, in the order of the meshes.
    pub skins: Vec<SkinId>,
    /// The clips, in the order of the animation stacks that have curves.
    pub clips: Vec<ClipId>,
    /// The frames per second that the file is set to, which need not be the rate of its keys.
    pub frame_rate: Option<f64>,
    /// The errors that were repaired or passed over, and the parts that were not read.
    pub warnings: Vec<Warning>,
}

/// Reads an `.fbx` file into a library.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] if it cannot be used, or posse is built without the
/// feature `fbx`. The library is then unchanged.
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes)
}

/// Reads the bytes of an `.fbx` file into a library.
///
/// `name` is the name of the file in results and errors; it is not opened. Its stem is the name of the skeleton.
///
/// # Errors
/// [`Error::Import`] if the file cannot be used, or posse is built without the feature `fbx`. The library is then
/// unchanged.
#[cfg(feature = "fbx")]
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8]) -> Result<Asset, Error> {
    let sizes = library.sizes();
    let asset = clips::read(library, name, bytes);
    if asset.is_err() {
        library.truncate(sizes);
    }
    asset.map_err(|error| error.in_file(name))
}

/// The names of the clips of an `.fbx` file, in the order of [`Asset::clips`].
///
/// # Errors
/// The errors of [`from_slice`] for a file that cannot be parsed.
#[cfg(feature = "fbx")]
pub fn clip_names(name: &Path, bytes: &[u8]) -> Result<Vec<Option<String>>, Error> {
    scene::clip_names(bytes).map_err(|error| error.in_file(name))
}

/// Fails, because posse is built without the feature `fbx`.
///
/// # Errors
/// [`Error::Import`], always.
#[cfg(not(feature = "fbx"))]
pub fn from_slice(_: &mut Library, name: &Path, _: &[u8]) -> Result<Asset, Error> {
    Err(unread(name))
}

/// Fails, because posse is built without the feature `fbx`.
///
/// # Errors
/// [`Error::Import`], always.
#[cfg(not(feature = "fbx"))]
pub fn clip_names(name: &Path, _: &[u8]) -> Result<Vec<Option<String>>, Error> {
    Err(unread(name))
}

#[cfg(not(feature = "fbx"))]
fn unread(name: &Path) -> Error {
    let reason = "it is FBX, which this build of posse does not read; build posse with the feature fbx, or convert the \
                  file to glTF 2.0, for example with Blender (File > Import, File > Export > glTF 2.0)";
    FileError::new("file", reason).in_file(name)
}
