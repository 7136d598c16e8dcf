//! Files of any format with joints, by their content: the way for programs that do not care about the format.

use std::path::{Path, PathBuf};

use super::smpl::Proportions;
use super::{FileFormat, Warning, bvh, fbx, gltf, recognize, smpl};
use crate::error::Error;
use crate::model::{ClipId, Library, SkeletonId, SkinId};

/// What a file with joints has become in a library.
#[derive(Debug, Clone)]
pub struct Asset {
    /// The name of the file, as the caller gave it.
    pub file: PathBuf,
    /// The format, by the content of the file.
    pub format: FileFormat,
    /// The skeleton of all nodes.
    pub skeleton: SkeletonId,
    /// The skins, in the order of the file. Files of BVH and SMPL have none.
    pub skins: Vec<SkinId>,
    /// The clips, in the order of the file, for glTF by animation index.
    pub clips: Vec<ClipId>,
    /// The clips of which no track can be read. They have no tracks, and keep the index of the others.
    pub left_out_clips: Vec<ClipId>,
    /// The joint of each node, in the order of the file.
    pub joints: Vec<usize>,
    /// Frames per second that the file states; `None` if it states none, as glTF never does. Keys of FBX need not have
    /// this rate: see [`bake::stated_fps`](crate::bake::stated_fps).
    pub frame_rate: Option<f64>,
    /// What a glTF file has beyond that; `None` for other formats.
    pub gltf: Option<gltf::Asset>,
    /// The errors that were repaired or passed over.
    pub warnings: Vec<Warning>,
}

/// What a file does not say itself. Formats ignore what they do not need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOptions<'a> {
    /// Frames per second, for a file of BVH or SMPL whose rate is missing or wrong: above 0. By default the rate of the
    /// file.
    pub fps: Option<f64>,
    /// `true` if each End Site of a BVH file becomes a joint. True by default.
    pub end_sites: bool,
    /// Where the joints of SMPL rest. By default, the positions `J` of the file, or else the positions of an adult,
    /// with a warning.
    pub rest: Option<&'a Proportions>,
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        Self { fps: None, end_sites: true, rest: None }
    }
}

/// Reads a glTF, FBX or BVH file, or an npz file of SMPL, into a library, with the buffers beside it that its
/// animations need.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, and the errors of [`from_slice`]. The library is then unchanged.
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
/// let asset = import::load(&mut library, &path)?;
/// let clip = library.clip(asset.clips[0]);
/// assert_eq!((asset.frame_rate, clip.duration()), (Some(10.0), 0.1));
/// // If only the library matters:
/// assert_eq!(Library::open(&path)?, library);
/// # Ok(())
/// # }
/// ```
pub fn load(library: &mut Library, file: impl AsRef<Path>) -> Result<Asset, Error> {
    let file = file.as_ref();
    let bytes = std::fs::read(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
    from_slice(library, file, &bytes, &LoadOptions::default())
}

impl Library {
    /// A new library with the contents of a file, as [`import::load`](load) reads it. To see the warnings, or which
    /// clips a file has among others, call that function.
    ///
    /// # Errors
    /// The errors of [`import::load`](load).
    pub fn open(file: impl AsRef<Path>) -> Result<Self, Error> {
        let mut library = Self::new();
        load(&mut library, file)?;
        Ok(library)
    }
}

/// Reads the bytes of a file with joints into a library.
///
/// `name` is the name of the file in results and errors; its folder is the folder of the external buffers of a glTF
/// file. The file itself is not opened.
///
/// # Errors
/// [`Error::Import`] with the place in the file, if it cannot be used or no format is recognised; [`Error::Usage`] for
/// options out of range, and for a Cocos clip or a crowd file, which have no joints. The library is then unchanged.
pub fn from_slice(library: &mut Library, name: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Asset, Error> {
    of_format(library, recognize(name, bytes)?, name, bytes, options)
}

/// Reads the bytes of a file of a format that [`recognize()`](super::recognize()) has told, as [`from_slice`] does,
/// which reads all of a JSON file to tell it.
///
/// # Errors
/// The errors of [`from_slice`], and [`Error::Import`] for a file of another format.
pub fn of_format(
    library: &mut Library,
    format: FileFormat,
    name: &Path,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<Asset, Error> {
    let refused = |what: &str| Err(Error::Usage(format!("{} is {what}", name.display())));
    match format {
        FileFormat::Gltf => {
            let folder = name.parent().unwrap_or(Path::new(""));
            gltf::from_slice(library, name, bytes, Some(folder)).map(Asset::from)
        }
        FileFormat::Bvh => {
            let options = bvh::LoadOptions { fps: options.fps, end_sites: options.end_sites };
            let asset = bvh::from_slice_with(library, name, bytes, &options)?;
            let frame_rate = asset.fps();
            let bvh::Asset { file, skeleton, clip, warnings, .. } = asset;
            let new = Asset::new(library, file, format, skeleton);
            Ok(Asset { clips: vec![clip], frame_rate, warnings, ..new })
        }
        FileFormat::Fbx => {
            let asset = fbx::from_slice(library, name, bytes)?;
            let fbx::Asset { file, skeleton, skins, clips, frame_rate, warnings } = asset;
            Ok(Asset { skins, clips, frame_rate, warnings, ..Asset::new(library, file, format, skeleton) })
        }
        FileFormat::Smpl => {
            let options = smpl::LoadOptions { rest: options.rest, fps: options.fps };
            let asset = smpl::from_slice(library, name, bytes, &options)?;
            let smpl::Asset { file, skeleton, clip, fps, warnings, .. } = asset;
            let frame_rate = clip.map(|_| fps);
            let new = Asset::new(library, file, format, skeleton);
            Ok(Asset { clips: Vec::from_iter(clip), frame_rate, warnings, ..new })
        }
        FileFormat::CocosClip => refused("a Cocos clip, which has no nodes; a glTF, FBX, BVH or npz file is needed"),
        FileFormat::Crowd => {
            refused("a crowd file, which has no nodes of its own; a glTF, FBX, BVH or npz file is needed")
        }
    }
}

impl Asset {
    /// A file of joints in their order, without clips.
    fn new(library: &Library, file: PathBuf, format: FileFormat, skeleton: SkeletonId) -> Self {
        Self {
            file,
            format,
            skeleton,
            skins: Vec::new(),
            clips: Vec::new(),
            left_out_clips: Vec::new(),
            joints: (0..library.skeleton(skeleton).joints().len()).collect(),
            frame_rate: None,
            gltf: None,
            warnings: Vec::new(),
        }
    }
}

impl From<gltf::Asset> for Asset {
    fn from(asset: gltf::Asset) -> Self {
        let gltf::Asset { file, skeleton, skins, clips, left_out_clips, joints, warnings, .. } = asset.clone();
        Self {
            file,
            format: FileFormat::Gltf,
            skeleton,
            skins,
            clips,
            left_out_clips,
            joints,
            frame_rate: None,
            gltf: Some(asset),
            warnings,
        }
    }
}
