//! The keys of a library in `f64`, for what is not sampling: retargeting, mirror images, and contacts of feet.
//!
//! The engine has all keys in `f32`, or compressed. A library of files keeps no others: it reads the files again, and
//! refuses changed ones. So its memory is the memory of the engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use posse::Error;
use posse::import::bvh::LoadOptions;
use posse::import::smpl::Proportions;

use crate::load::{Collection, ErrorPolicy};
use crate::source::SourceFile;

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
