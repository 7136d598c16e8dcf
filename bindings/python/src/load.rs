//! Files into one library, on several threads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use posse::bake::{DEFAULT_FPS, native_fps, own_fps};
use posse::import::bvh::LoadOptions;
use posse::import::smpl::Proportions;
use posse::import::{FileFormat, bvh, fbx, gltf, recognize, smpl};
use posse::{Clip, ClipId, Error, Library, Skeleton, SkeletonId, Warning};

/// The clips of all files in one library.
#[derive(Debug, Default)]
pub struct Collection {
    /// The skeletons, skins and clips. Files with equal skeletons and skins share a skeleton.
    pub library: Library,
    /// The skeletons, by index.
    pub rigs: Vec<Rig>,
    /// The clips, by index.
    pub clips: Vec<Entry>,
    /// The errors that were repaired or passed over, each with its file.
    pub warnings: Vec<String>,
    /// The options with which BVH files are read.
    pub options: LoadOptions,
}

/// A skeleton of the collection.
#[derive(Debug)]
pub struct Rig {
    /// The skeleton.
    pub skeleton: SkeletonId,
    /// The joint of each node, in the order of the file.
    pub nodes: Vec<usize>,
}

/// A clip of the collection.
#[derive(Debug)]
pub struct Entry {
    /// The clip.
    pub clip: ClipId,
    /// The index of its file.
    pub file: usize,
    /// Its frame rate: that of its keys, or the default.
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
}

impl Collection {
    /// Reads files on up to this many threads. The result does not depend on the number. The joints of files of SMPL
    /// have the proportions `rest`.
    ///
    /// # Errors
    /// The error of the first file that cannot be read or used, in the order of the paths. If `strict`, a file with a
    /// warning cannot be used.
    pub fn load(
        paths: &[PathBuf],
        options: LoadOptions,
        rest: Option<&Proportions>,
        threads: usize,
        strict: bool,
    ) -> Result<Self, Error> {
        let mut collection = Self { options, ..Self::default() };
        for (index, file) in read_all(paths, &options, rest, threads).into_iter().enumerate() {
            let file = file?;
            if strict {
                Warning::refuse(&paths[index], &file.warnings)?;
            }
            collection.add(&paths[index], index, file)?;
        }
        Ok(collection)
    }

    /// Adds the clips of a file, to the skeleton of an earlier file if the two are equal.
    fn add(&mut self, path: &Path, index: usize, file: File) -> Result<(), Error> {
        let rig = match self.find_rig(&file) {
            Some(rig) => rig,
            None => self.add_rig(&file)?,
        };
        let skeleton = self.rigs[rig].skeleton;
        for (index_in_file, id) in file.library.clip_ids().enumerate() {
            if file.left_out.contains(&id) {
                continue;
            }
            let clip = file.library.clip(id);
            let of_file = file.fps.get(index_in_file).copied().flatten();
            let fps = of_file.or_else(|| native_fps(clip)).unwrap_or(DEFAULT_FPS);
            let clip = self.library.add_clip(Clip { skeleton, ..clip.clone() })?;
            self.clips.push(Entry { clip, file: index, fps });
        }
        let name = path.display();
        self.warnings.extend(file.warnings.iter().map(|warning| format!("{name}: {warning}")));
        if file.library.clips().len() == file.left_out.len() {
            self.warnings.push(format!("{name}: it has no clips"));
        }
        Ok(())
    }

    /// The skeleton with the same joints, properties, skins and order of nodes.
    fn find_rig(&self, file: &File) -> Option<usize> {
        let skeleton = file.library.skeleton(file.skeleton);
        let is_equal = |rig: &Rig| {
            rig.nodes == file.nodes
                && is_same(self.library.skeleton(rig.skeleton), skeleton)
                && have_same_skins((&self.library, rig.skeleton), (&file.library, file.skeleton))
        };
        self.rigs.iter().position(is_equal)
    }

    fn add_rig(&mut self, file: &File) -> Result<usize, Error> {
        let skeleton = self.library.copy_skeleton(&file.library, file.skeleton)?;
        self.rigs.push(Rig { skeleton, nodes: file.nodes.clone() });
        Ok(self.rigs.len() - 1)
    }
}

/// Compares all of two skeletons but their names, which are those of the files.
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

/// Reads all files, each on the next free thread.
fn read_all(
    paths: &[PathBuf],
    options: &LoadOptions,
    rest: Option<&Proportions>,
    threads: usize,
) -> Vec<Result<File, Error>> {
    let next = AtomicUsize::new(0);
    let files = Mutex::new(Vec::with_capacity(paths.len()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { return };
            let file = File::read(path, options, rest);
            // A poisoned lock means that another thread has panicked, which the scope reports.
            if let Ok(mut files) = files.lock() {
                files.push((index, file));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(paths.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut files = files.into_inner().unwrap_or_default();
    files.sort_by_key(|(index, _)| *index);
    files.into_iter().map(|(_, file)| file).collect()
}

/// Reads a file. Fails for a device or a pipe, which may never end.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    // The system has an error of its own for folders.
    if kind.is_file() || kind.is_dir() {
        return fs::read(path);
    }
    Err(io::Error::other("it is not a regular file; give a glTF, FBX, BVH or npz file"))
}

impl File {
    /// The built-in human.
    pub fn demo() -> Result<Self, Error> {
        let library = posse::demo::library()?;
        let Some(skeleton) = library.skeleton_ids().next() else {
            return Err(Error::Usage("the built-in human has no skeleton".into()));
        };
        let nodes = (0..library.skeleton(skeleton).joints().len()).collect();
        Ok(Self { library, skeleton, nodes, fps: Vec::new(), left_out: Vec::new(), warnings: Vec::new() })
    }

    /// Reads where the joints of bodies of SMPL rest: in a model file, or in a file with joints.
    pub fn proportions(path: &Path, options: &LoadOptions) -> Result<Proportions, Error> {
        let bytes = read_regular(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        if recognize(path, &bytes)? == FileFormat::Smpl {
            return Proportions::from_slice(path, &bytes);
        }
        let file = Self::read(path, options, None)?;
        Ok(Proportions::of_skeleton(file.library.skeleton(file.skeleton).clone()))
    }

    /// Reads a glTF, FBX or BVH file, or a file of SMPL, whose joints have the proportions `rest`.
    pub fn read(path: &Path, options: &LoadOptions, rest: Option<&Proportions>) -> Result<Self, Error> {
        let bytes = read_regular(path).map_err(|source| Error::Io { file: path.to_path_buf(), source })?;
        let refused =
            |kind: &str| Err(Error::Usage(format!("{} is {kind}; give glTF, FBX, BVH or npz files", path.display())));
        match recognize(path, &bytes)? {
            FileFormat::Gltf => Self::read_gltf(path, &bytes),
            FileFormat::Bvh => Self::read_bvh(path, &bytes, options),
            FileFormat::Fbx => Self::read_fbx(path, &bytes),
            FileFormat::Smpl => Self::read_smpl(path, &bytes, options, rest),
            FileFormat::Crowd => refused("a crowd file, which has no clips of its own"),
            FileFormat::CocosClip => refused("a Cocos clip, which has no nodes"),
        }
    }

    fn read_gltf(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let mut library = Library::new();
        let folder = path.parent().unwrap_or(Path::new(""));
        let asset = gltf::from_slice(&mut library, path, bytes, Some(folder))?;
        let gltf::Asset { skeleton, joints: nodes, left_out_clips: left_out, warnings, .. } = asset;
        Ok(Self { library, skeleton, nodes, fps: Vec::new(), left_out, warnings })
    }

    fn read_smpl(path: &Path, bytes: &[u8], options: &LoadOptions, rest: Option<&Proportions>) -> Result<Self, Error> {
        let mut library = Library::new();
        let options = smpl::LoadOptions { rest, fps: options.fps };
        let smpl::Asset { skeleton, fps, warnings, .. } = smpl::from_slice(&mut library, path, bytes, &options)?;
        let nodes = (0..library.skeleton(skeleton).joints().len()).collect();
        Ok(Self { library, skeleton, nodes, fps: vec![Some(fps)], left_out: Vec::new(), warnings })
    }

    fn read_fbx(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let mut library = Library::new();
        let asset = fbx::from_slice(&mut library, path, bytes)?;
        let nodes = (0..library.skeleton(asset.skeleton).joints().len()).collect();
        let fps = library.clips().iter().map(|clip| own_fps(clip, asset.frame_rate)).collect();
        let (skeleton, warnings, left_out) = (asset.skeleton, asset.warnings, Vec::new());
        Ok(Self { library, skeleton, nodes, fps, left_out, warnings })
    }

    fn read_bvh(path: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Self, Error> {
        let mut library = Library::new();
        let asset = bvh::from_slice_with(&mut library, path, bytes, options).map_err(|error| match error {
            Error::Import { file, path, reason } => {
                let needed = LoadOptions::NEEDS_FPS;
                Error::Import { file, path, reason: reason.replace(needed, &format!("{needed} (input_fps=F)")) }
            }
            other => other,
        })?;
        let nodes = (0..library.skeleton(asset.skeleton).joints().len()).collect();
        // The frame time of a single frame may be 0 or negative.
        let fps = vec![asset.fps()];
        let (skeleton, warnings, left_out) = (asset.skeleton, asset.warnings, Vec::new());
        Ok(Self { library, skeleton, nodes, fps, left_out, warnings })
    }
}
