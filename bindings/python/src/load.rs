//! Files into one library, on several threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use posse::bake::{DEFAULT_FPS, native_fps, stated_fps};
use posse::import::Warning;
use posse::import::bvh::LoadOptions;
use posse::import::smpl::Proportions;
use posse::import::{self, Asset, FileFormat, gltf, recognize};
use posse::{Clip, ClipId, Error, Library, Skeleton, SkeletonId};

use crate::source::{Buffers, SourceFile, read_regular};
use crate::work;

/// The clips of all files in one library.
#[derive(Debug, Default, Clone)]
pub struct Collection {
    /// The skeletons, skins and clips. Files with equal skeletons and skins share a skeleton.
    pub library: Library,
    /// The skeletons, by index.
    pub rigs: Vec<LoadedRig>,
    /// The clips, by index.
    pub clips: Vec<LoadedClip>,
    /// The errors that were repaired or passed over, each with its file.
    pub warnings: Vec<String>,
    /// The options with which BVH files are read.
    pub options: LoadOptions,
    /// All files that were read, also files of skeletons and poses.
    pub sources: Vec<SourceFile>,
}

/// A skeleton of the collection.
#[derive(Debug, Clone)]
pub struct LoadedRig {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: Vec<usize>,
    /// A clip without tracks, which is none of the clips of the collection.
    pub rest: ClipId,
}

/// A clip of the collection.
#[derive(Debug, Clone, Copy)]
pub struct LoadedClip {
    /// The clip.
    pub clip: ClipId,
    /// The index of its file among the files that are used.
    pub file: usize,
    /// Its frame rate: the rate of its keys, or the default.
    pub fps: f64,
}

/// One file, in a library of its own.
pub struct File {
    pub library: Library,
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: Vec<usize>,
    /// Per clip, the frame rate that the file states; none for glTF files.
    fps: Vec<Option<f64>>,
    /// The clips of which no track can be read.
    left_out: Vec<ClipId>,
    pub warnings: Vec<Warning>,
    /// The facts of the file; `None` for one that is built in.
    pub source: Option<SourceFile>,
}

/// What becomes of files with errors.
#[derive(Debug, Clone, Copy)]
pub struct ErrorPolicy {
    /// A file with a warning cannot be used.
    pub strict: bool,
    /// Files that cannot be read or used are passed over.
    pub passes_over: bool,
}

/// Files that were passed over: their indices and errors.
pub type FailedFiles = Vec<(usize, Error)>;

impl Collection {
    /// Reads files on up to this many threads, until `stop` is true. The result does not depend on the number. The
    /// joints of files of SMPL have the proportions `rest`. Also returns the files that are passed over.
    ///
    /// # Errors
    /// The error of the first file that cannot be read or used, in the order of the paths, unless it is passed over.
    pub fn load(
        paths: &[PathBuf],
        options: LoadOptions,
        rest: Option<&Proportions>,
        threads: usize,
        policy: ErrorPolicy,
        stop: &AtomicBool,
    ) -> Result<(Self, FailedFiles), Error> {
        let (mut collection, mut failed) = (Self { options, ..Self::default() }, FailedFiles::new());
        let files = work::map(threads, paths.len(), stop, |index| -> Result<File, Error> {
            let file = File::read(&paths[index], &options, rest)?;
            if policy.strict {
                Warning::refuse(&paths[index], &file.warnings)?;
            }
            Ok(file)
        });
        for (index, file) in files?.into_iter().enumerate() {
            match file {
                Ok(file) => collection.add(&paths[index], index - failed.len(), file)?,
                Err(error) if policy.passes_over => failed.push((index, error)),
                Err(error) => return Err(error),
            }
        }
        Ok((collection, failed))
    }

    /// The same collection with clips that have their names and durations, and no keys.
    pub fn without_keys(&self) -> Result<Self, Error> {
        let mut library = Library::new();
        for skeleton in self.library.skeleton_ids() {
            library.copy_skeleton(&self.library, skeleton)?;
        }
        for clip in self.library.clips() {
            let outline = Clip::new(clip.name.clone(), clip.skeleton, Vec::new());
            library.add_clip(Clip { length: Some(clip.duration()), ..outline })?;
        }
        let Self { rigs, clips, warnings, options, sources, .. } = self;
        Ok(Self {
            library,
            rigs: rigs.clone(),
            clips: clips.clone(),
            warnings: warnings.clone(),
            options: *options,
            sources: sources.clone(),
        })
    }

    /// The clips of a file in a library of its own, in the order of their indices, which are not empty.
    pub fn alone(&self, of_file: &[usize]) -> Result<(Library, SkeletonId, Vec<ClipId>), Error> {
        let mut library = Library::new();
        let first = self.library.clip(self.clips[of_file[0]].clip);
        let skeleton = library.copy_skeleton(&self.library, first.skeleton)?;
        let copy = |&index: &usize| {
            let clip = self.library.clip(self.clips[index].clip).clone();
            library.add_clip(Clip { skeleton, ..clip })
        };
        let clips = of_file.iter().map(copy).collect::<Result<_, _>>()?;
        Ok((library, skeleton, clips))
    }

    /// Adds the clips of a file, to the skeleton of an earlier file if the two are equal.
    fn add(&mut self, path: &Path, index: usize, file: File) -> Result<(), Error> {
        let rig = match self.find_rig(&file) {
            Some(rig) => rig,
            None => self.add_rig(&file)?,
        };
        let skeleton = self.rigs[rig].skeleton;
        for (index_in_file, id) in file.library.clip_ids().enumerate() {
            if file.left_out.binary_search(&id).is_ok() {
                continue;
            }
            let clip = file.library.clip(id);
            let of_file = file.fps.get(index_in_file).copied().flatten();
            let fps = of_file.or_else(|| native_fps(clip)).unwrap_or(DEFAULT_FPS);
            let clip = self.library.add_clip(Clip { skeleton, ..clip.clone() })?;
            self.clips.push(LoadedClip { clip, file: index, fps });
        }
        let name = path.display();
        self.warnings.extend(file.warnings.iter().map(|warning| format!("{name}: {warning}")));
        if file.library.clips().len() == file.left_out.len() {
            self.warnings.push(format!("{name}: it has no clips"));
        }
        self.sources.extend(file.source);
        Ok(())
    }

    /// The skeleton with the same joints, properties, skins and order of nodes.
    fn find_rig(&self, file: &File) -> Option<usize> {
        let skeleton = file.library.skeleton(file.skeleton);
        let is_equal = |rig: &LoadedRig| {
            rig.nodes == file.nodes
                && is_same(self.library.skeleton(rig.skeleton), skeleton)
                && have_same_skins((&self.library, rig.skeleton), (&file.library, file.skeleton))
        };
        self.rigs.iter().position(is_equal)
    }

    fn add_rig(&mut self, file: &File) -> Result<usize, Error> {
        let skeleton = self.library.copy_skeleton(&file.library, file.skeleton)?;
        self.rigs.push(LoadedRig::new(&mut self.library, skeleton, file.nodes.clone())?);
        Ok(self.rigs.len() - 1)
    }
}

impl LoadedRig {
    /// A skeleton of a library, to which its rest pose is added as a clip.
    pub fn new(library: &mut Library, skeleton: SkeletonId, nodes: Vec<usize>) -> Result<Self, Error> {
        let rest = library.add_clip(Clip::new(None, skeleton, Vec::new()))?;
        Ok(Self { skeleton, nodes, rest })
    }
}

/// Compares all of two skeletons but their names, which the files give.
fn is_same(one: &Skeleton, other: &Skeleton) -> bool {
    one.joints() == other.joints()
        && one.properties() == other.properties()
        && one.human_bones() == other.human_bones()
        && one.expressions() == other.expressions()
}

fn have_same_skins(one: (&Library, SkeletonId), other: (&Library, SkeletonId)) -> bool {
    let matrices = |library: &Library, skeleton| -> Vec<_> {
        library.skins_of(skeleton).map(|(_, skin)| (skin.joints.clone(), skin.inverse_bind.clone())).collect()
    };
    matrices(one.0, one.1) == matrices(other.0, other.1)
}

impl File {
    /// The built-in human.
    pub fn demo() -> Result<Self, Error> {
        let library = posse::demo::library()?;
        let Some(skeleton) = library.skeleton_ids().next() else {
            return Err(Error::Usage("the built-in human has no skeleton".into()));
        };
        let nodes = (0..library.skeleton(skeleton).joints().len()).collect();
        let (fps, left_out, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { library, skeleton, nodes, fps, left_out, warnings, source: None })
    }

    /// Reads where the joints of bodies of SMPL rest: in a model file, or in a file with joints. Also returns the facts
    /// of the file.
    pub fn proportions(path: &Path, options: &LoadOptions) -> Result<(Proportions, Option<SourceFile>), Error> {
        let bytes = read_regular(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        if recognize(path, &bytes)? == FileFormat::Smpl {
            let source = SourceFile::new(path, &bytes, None);
            return Ok((Proportions::from_slice(path, &bytes)?, Some(source)));
        }
        let Self { library, skeleton, source, .. } = Self::read(path, options, None)?;
        Ok((Proportions::of_skeleton(library.skeleton(skeleton).clone()), source))
    }

    /// Reads a glTF, FBX or BVH file, or a file of SMPL, whose joints have the proportions `rest`.
    pub fn read(path: &Path, options: &LoadOptions, rest: Option<&Proportions>) -> Result<Self, Error> {
        let bytes = read_regular(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        let refused =
            |kind: &str| Err(Error::Usage(format!("{} is {kind}; give glTF, FBX, BVH or npz files", path.display())));
        let format = recognize(path, &bytes)?;
        let buffers = (format == FileFormat::Gltf).then(|| Buffers::new(path, &bytes));
        let mut library = Library::new();
        let asset = match format {
            FileFormat::Crowd => refused("a crowd file, which has no clips of its own"),
            FileFormat::CocosClip => refused("a Cocos clip, which has no nodes"),
            FileFormat::Gltf => read_gltf(&mut library, path, &bytes, buffers.as_ref()),
            _ => {
                let options = import::LoadOptions { fps: options.fps, end_sites: options.end_sites, rest };
                import::of_format(&mut library, format, path, &bytes, &options)
                    .map_err(|error| LoadOptions::name_fps(error, "input_fps=F"))
            }
        }?;
        let (fps, source) = (stated_fps(&library, &asset), Some(SourceFile::new(path, &bytes, buffers.as_ref())));
        let Asset { skeleton, joints: nodes, left_out_clips: left_out, warnings, .. } = asset;
        Ok(Self { library, skeleton, nodes, fps, left_out, warnings, source })
    }
}

/// Reads a glTF file, with the buffers that have been read.
fn read_gltf(library: &mut Library, path: &Path, bytes: &[u8], buffers: Option<&Buffers>) -> Result<Asset, Error> {
    let mut read = gltf::from_slice_with(library, path, bytes, &|name| buffers?.bytes(name));
    if buffers.is_some_and(Buffers::need_folder) {
        *library = Library::new();
        read = gltf::from_slice(library, path, bytes, Some(path.parent().unwrap_or(Path::new(""))));
    }
    read.map(Asset::from)
}
