//! BVH: motion capture as text, into a [`Library`].
//!
//! The joints of HIERARCHY become one skeleton, whose rest pose are the OFFSETs; an End Site becomes a joint named
//! `PARENT_end`, or by its own name if it has one. MOTION becomes one clip. A joint may have positions and up to three
//! rotations, in any order. The rotations of a frame are the product of turns about the axes, the first in the list
//! outermost: `R1 * R2 * R3` for column vectors, angles in degrees. They are computed in `f64`. Between frames,
//! rotations follow slerp, and translations a line. Numbers keep the units of the file.
//!
//! Keywords may be in any case, and words may stand on one line or on many. A name reaches to the end of its line, or
//! to a brace. A frame is one line. A line ends with a line feed, a carriage return, or both.
//!
//! Files are read as people have them. A frame time that is 1/30 or 1/120 as far as its digits go is that number
//! exactly (`frame_rate`). Rows beyond the announced number of frames are read, with a warning, as are UTF-16 and names
//! in Windows-1252 or Shift-JIS (`text`).
//!
//! [`load`] and [`from_slice`] read whole files, a [`Reader`] reads files of any length in parts. [`LoadOptions`] give
//! what a file lacks, and leave out what a caller has no use for.
//!
//! The stages, in order: `text` makes UTF-8 of other encodings. `lines` finds lines and their words. `hierarchy` reads
//! the joints and their channels. `frame` reads the numbers of a block of frames. `half_angle` and `rotation` turn them
//! into rotations. `keys` makes the clip.

mod frame;
mod frame_rate;
mod half_angle;
mod hierarchy;
mod keys;
mod lines;
mod reader;
mod rotation;
mod text;

pub use self::keys::Keys;
pub use self::reader::{Reader, count_frames};

use std::path::{Path, PathBuf};

use super::{FileError, Warning};
use crate::error::Error;
use crate::model::{ClipId, Library, SkeletonId, is_usable};

/// The result of reading a file: its parts of a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// The name of the file, as the caller gave it.
    pub file: PathBuf,
    /// The skeleton of all joints.
    pub skeleton: SkeletonId,
    /// The clip of all frames. Without frames, it has no tracks.
    pub clip: ClipId,
    /// The number of frames.
    pub frames: u64,
    /// Seconds from frame to frame. It is above 0 if there are two frames or more.
    pub frame_time: f64,
    /// The errors that were passed over.
    pub warnings: Vec<Warning>,
}

impl Asset {
    /// Frames per second; `None` without a usable frame time, which the file of a single frame may have.
    pub fn fps(&self) -> Option<f64> {
        frame_rate::of_frame_time(self.frame_time)
    }
}

/// What is read of a file, and what it does not say itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOptions {
    /// Frames per second, for a file whose frame time is missing or wrong: above 0. By default the rate of the file.
    pub fps: Option<f64>,
    /// `true` if each End Site becomes a joint, false if End Sites are left out. True by default.
    pub end_sites: bool,
}

impl LoadOptions {
    /// A part of the reason of an [`Error::Import`] that [`fps`](Self::fps) avoids.
    pub const NEEDS_FPS: &str = "or give the frames per second with which the file is read";

    /// An error of this importer that tells how a caller gives [`fps`](Self::fps), such as `--input-fps F`, where that
    /// avoids it. Other errors stay as they are.
    pub fn name_fps(error: Error, option: &str) -> Error {
        match error {
            Error::Import { file, path, reason } => {
                let needed = Self::NEEDS_FPS;
                Error::Import { file, path, reason: reason.replace(needed, &format!("{needed} ({option})")) }
            }
            other => other,
        }
    }

    /// Fails for frames per second that are not finite or not above 0.
    fn check(&self) -> Result<(), Error> {
        match self.fps {
            Some(fps) if !(fps > 0.0 && is_usable(fps) && is_usable(1.0 / fps)) => Err(Error::Usage(format!(
                "the file is read at {fps} frames per second; expected a finite number above 0"
            ))),
            _ => Ok(()),
        }
    }
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { fps: None, end_sites: true }
    }
}

/// Reads a `.bvh` file into a library.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a line if it cannot be used. The library is then
/// unchanged.
///
/// # Examples
/// ```
/// use posse::{Library, import};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("walk.bvh");
/// # std::fs::write(&path, "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0\n90\n")?;
/// // `path` leads to walk.bvh, a file of two frames.
/// let mut library = Library::new();
/// let asset = import::bvh::load(&mut library, &path)?;
/// assert_eq!(library.skeleton(asset.skeleton).joints().len(), 1);
/// assert_eq!((asset.frames, library.clip(asset.clip).duration()), (2, 0.1));
/// # Ok(())
/// # }
/// ```
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes)
}

/// Reads the bytes of a `.bvh` file into a library, with default options.
///
/// # Errors
/// The errors of [`from_slice_with`].
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8]) -> Result<Asset, Error> {
    from_slice_with(library, name, bytes, &LoadOptions::default())
}

/// Reads the bytes of a `.bvh` file into a library.
///
/// `name` is the name of the file in results and errors; it is not opened. Its stem is the name of the clip and the
/// skeleton.
///
/// # Errors
/// [`Error::Import`] with a line if the file cannot be used; [`Error::Usage`] if the frames per second are not above 0.
/// The library is then unchanged.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::Library;
/// use posse::import::bvh::{self, LoadOptions};
///
/// # fn main() -> Result<(), posse::Error> {
/// // The file does not say how long a frame lasts.
/// let file = b"HIERARCHY ROOT hip
/// { OFFSET 0 1 0 CHANNELS 1 Zrotation End Site { OFFSET 0 1 0 } }
/// MOTION Frames: 2
/// 0
/// 90
/// ";
/// let options = LoadOptions { fps: Some(50.0), end_sites: false };
/// let mut library = Library::new();
/// let asset = bvh::from_slice_with(&mut library, Path::new("turn.bvh"), file, &options)?;
/// assert_eq!(library.clip(asset.clip).duration(), 0.02);
/// assert_eq!(library.skeleton(asset.skeleton).joints().len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn from_slice_with(
    library: &mut Library,
    name: &Path,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<Asset, Error> {
    let mut reader = Reader::with_options(name, bytes, options)?;
    let mut keys = Keys::new();
    reader.begin(&mut keys)?;
    // A frame takes at least a digit and a space per channel, whatever the file announces.
    let most = bytes.len() / (2 * reader.columns()).max(1) + 1;
    keys.reserve(most.min(usize::try_from(reader.frames()).unwrap_or(usize::MAX)));
    reader.read_all(&mut keys)?;
    let (frames, frame_time, warnings) = (reader.frames(), reader.frame_time(), reader.warnings().to_vec());
    let clip_name = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // The reader has checked all that the model checks. If it misses an error, the error still names the file.
    let in_model = |error: Error| FileError::new("MOTION", error.to_string()).in_file(name);
    let sizes = library.sizes();
    let skeleton = library.add_skeleton(reader.skeleton().clone());
    let clip = keys.into_clip(skeleton, clip_name).and_then(|clip| library.add_clip(clip));
    if clip.is_err() {
        library.truncate(sizes);
    }
    let clip = clip.map_err(in_model)?;
    Ok(Asset { file: name.to_path_buf(), skeleton, clip, frames, frame_time, warnings })
}
