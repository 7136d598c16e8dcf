//! The keys of a library in `f64`, for what is not sampling: retargeting, mirror images, and contacts of feet, which are
//! here, too.
//!
//! The engine has all keys in `f32`, or compressed. A library of files keeps no others: it reads the files again, and
//! refuses changed ones. So its memory is the memory of the engine.
//!
//! A contact of a foot with the ground is a matter of a whole clip, so that the contacts of a clip are found when they
//! are first asked for, and kept.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posse::Error;
use posse::import::bvh::LoadOptions;
use posse::import::smpl::Proportions;
use posse::quality::{FootContacts, GroundLevel, MotionQuality, measured_fps};

use crate::load::{Collection, ErrorPolicy};
use crate::source::SourceFile;
use crate::work;

/// Where the keys of a collection are.
pub enum KeyStore {
    /// In the files of its clips.
    Files(Box<KeyFiles>),
    /// In memory, because they were computed.
    Kept(Arc<Collection>),
}

/// Files that were read, and how.
pub struct KeyFiles {
    /// The files by paths that do not depend on the working folder.
    paths: Vec<PathBuf>,
    options: LoadOptions,
    /// The proportions of bodies of SMPL.
    rest: Option<Proportions>,
    /// The facts of each file, and then the facts of other files that were read.
    sources: Vec<SourceFile>,
}

impl KeyStore {
    /// The keys of files that were read into a collection.
    pub fn of_files(paths: &[PathBuf], rest: Option<Proportions>, collection: &Collection) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let (options, sources) = (collection.options, collection.sources.clone());
        Self::Files(Box::new(KeyFiles { paths: paths.iter().map(absolute).collect(), options, rest, sources }))
    }

    /// The collection with all keys, which are read on up to this many threads.
    ///
    /// # Errors
    /// The errors of [`Collection::load`], and [`Error::Usage`] for a file that has changed.
    pub fn all(&self, threads: usize, stop: &AtomicBool) -> Result<Arc<Collection>, Error> {
        match self {
            Self::Kept(collection) => Ok(Arc::clone(collection)),
            Self::Files(files) => {
                let collection = files.read(&files.paths, &files.sources, threads, stop)?;
                Ok(Arc::new(Collection { sources: files.sources.clone(), ..collection }))
            }
        }
    }

    /// A collection with the keys of a file. `first` is the index of its first clip, which the result has, too: the
    /// index of a clip is less by this number there.
    ///
    /// # Errors
    /// The errors of [`all`](Self::all).
    pub fn of_file(&self, file: usize, first: usize, stop: &AtomicBool) -> Result<(Arc<Collection>, usize), Error> {
        match self {
            Self::Kept(collection) => Ok((Arc::clone(collection), 0)),
            Self::Files(files) => {
                let (path, source) = (&files.paths[file..=file], &files.sources[file..=file]);
                Ok((Arc::new(files.read(path, source, 1, stop)?), first))
            }
        }
    }
}

impl KeyFiles {
    fn read(
        &self,
        paths: &[PathBuf],
        sources: &[SourceFile],
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Collection, Error> {
        let policy = ErrorPolicy { strict: false, passes_over: false };
        let (collection, _) = Collection::load(paths, self.options, self.rest.as_ref(), threads, policy, stop)?;
        match collection.sources.iter().zip(sources).find(|(found, expected)| !found.is_same(expected)) {
            Some((found, _)) => Err(changed(&found.path)),
            None => Ok(collection),
        }
    }
}

fn changed(path: &Path) -> Error {
    Error::Usage(format!(
        "{}: the file, or a buffer beside it, has changed since the library was made; make the library anew",
        path.display()
    ))
}

/// The contacts of clips, by the index of the clip and the bits of the frame rate.
type Known = HashMap<(usize, u64), Arc<FootContacts>>;

/// The contacts of the clips of a library that were asked for.
#[derive(Debug, Default)]
pub struct ContactCache(Mutex<Known>);

impl ContactCache {
    /// The contacts of clips of a collection at frame rates, in their order. Contacts that are not known yet are found
    /// on up to this many threads; a file is read once for all of its clips.
    ///
    /// # Errors
    /// The errors of [`MotionQuality::of_clip`] and [`KeyStore::of_file`], and [`work::interrupted`].
    pub fn of_clips(
        &self,
        keys: &KeyStore,
        collection: &Collection,
        wanted: &[(usize, f64)],
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<Arc<FootContacts>>, Error> {
        let mut unknown: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for &(clip, fps) in wanted.iter().filter(|(clip, fps)| self.find(*clip, *fps).is_none()) {
            unknown.entry(collection.clips[clip].file).or_default().push((clip, fps));
        }
        let files: Vec<_> = unknown.into_iter().collect();
        let of_clips = threads.div_ceil(files.len().max(1));
        let found = work::map(threads, files.len(), stop, |index| -> Result<(), Error> {
            let (file, ref clips) = files[index];
            let first = collection.clips.iter().position(|entry| entry.file == file).unwrap_or_default();
            let (with_keys, first) = keys.of_file(file, first, stop)?;
            let found = work::map(of_clips, clips.len(), stop, |index| -> Result<(), Error> {
                let (clip, fps) = clips[index];
                let (library, id) = (&with_keys.library, with_keys.clips[clip - first].clip);
                let (_, contacts) = MotionQuality::of_clip(library, id, measured_fps(fps), GroundLevel::Auto)?;
                self.lock().insert((clip, fps.to_bits()), Arc::new(contacts));
                Ok(())
            });
            found?.into_iter().collect()
        });
        found?.into_iter().collect::<Result<(), Error>>()?;
        // All of them are known now.
        Ok(wanted.iter().filter_map(|&(clip, fps)| self.find(clip, fps)).collect())
    }

    fn find(&self, clip: usize, fps: f64) -> Option<Arc<FootContacts>> {
        self.lock().get(&(clip, fps.to_bits())).cloned()
    }

    /// What another thread that panicked has left is whole.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
