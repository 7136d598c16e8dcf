//! The class `_posse.Library`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadwriteArrayDyn};
use posse::bake::{ArrayKind, Moment};
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::cpu::CpuEngine;
use posse::import::bvh::LoadOptions;
use posse::packed::PackedLibrary;
use posse::{ClipId, Selector};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;

use crate::error::{Error, to_python};
use crate::keys::{ContactCache, KeyStore};
use crate::layout::{Layout, Request};
use crate::load::{Collection, ErrorPolicy, FailedFiles, File};
use crate::retarget;
use crate::rows::ArrayRows;
use crate::work::{self, Watch};

/// The clips of files, ready to be sampled. It does not change.
#[pyclass(frozen, module = "posse_animation._posse")]
pub struct Library {
    /// The skeletons, and the clips without keys.
    collection: Arc<Collection>,
    keys: Arc<KeyStore>,
    contacts: Arc<ContactCache>,
    /// The files that are used.
    paths: Vec<PathBuf>,
    /// The error of compressed keys; `None` for keys in `f32`.
    compress: Option<ErrorBound>,
    /// An engine of one thread. Calls divide their rows between threads themselves, so that each call has its own
    /// number of them.
    engine: CpuEngine,
}

/// The files of a library, and how they are read: an object with these attributes in Python.
#[derive(Debug, FromPyObject)]
pub struct Opening {
    files: Vec<PathBuf>,
    input_fps: Option<f64>,
    end_sites: bool,
    strict: bool,
    /// The file that tells where the joints of files of SMPL rest.
    skeleton: Option<PathBuf>,
    /// True if files that cannot be read or used are passed over.
    passes_over: bool,
    /// The error of compressed keys, as a length or a share of the rig's size.
    compress: Option<String>,
}

/// The exceptions of files that are passed over, with the indices of the files.
type Exceptions = Vec<(usize, Py<PyBaseException>)>;

/// Clips and times, one per row: a dictionary in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct ClipTimes<'py> {
    /// The indices of clips; `-1 - K` for the rest pose of skeleton K.
    clips: PyReadonlyArray1<'py, i64>,
    times: PyReadonlyArray1<'py, f64>,
    /// The times that velocities are measured from.
    before: PyReadonlyArray1<'py, f64>,
    /// The times that velocities are measured to.
    after: PyReadonlyArray1<'py, f64>,
}

#[pymethods]
impl Library {
    /// Reads files on up to this many threads. Also returns the exceptions of the files that are passed over, with the
    /// indices of the files.
    #[staticmethod]
    fn open(py: Python<'_>, opening: Opening, threads: usize) -> PyResult<(Self, Exceptions)> {
        let (library, failed) = work::run(py, move |stop| opening.read(threads, stop))?;
        let failed = failed.into_iter().map(|(index, error)| (index, to_python(error).into_value(py)));
        Ok((library, failed.collect()))
    }

    /// The clips of a request on the skeleton of its target. Also returns a report per file as JSON, with the index of
    /// the file.
    fn retarget(
        &self,
        py: Python<'_>,
        request: retarget::Request,
        threads: usize,
    ) -> PyResult<(Self, Vec<(usize, String)>)> {
        let (keys, paths, compress) = (Arc::clone(&self.keys), self.paths.clone(), self.compress);
        let (library, reports) = work::run(py, move |stop| {
            let (collection, reports) = keys.all(threads, stop)?.retarget(&request, &paths)?;
            Ok((Self::computed(collection, paths, compress, threads)?, reports))
        })?;
        let json = |report: &retarget::FileReport| {
            let json = serde_json::to_string(&report.report).map_err(|error| Error::new_err(error.to_string()))?;
            Ok((report.file, json))
        };
        Ok((library, reports.iter().map(json).collect::<PyResult<_>>()?))
    }

    /// The clips of this library, and after them the mirror images of some. Also returns what looks wrong about these.
    fn mirror(&self, py: Python<'_>, clips: Vec<usize>, threads: usize) -> PyResult<(Self, Vec<String>)> {
        let count = self.collection.clips.len();
        if let Some(clip) = clips.iter().find(|clip| **clip >= count) {
            return Err(Error::new_err(format!("clip {clip}: the library has {count} clips")));
        }
        let (keys, paths, compress) = (Arc::clone(&self.keys), self.paths.clone(), self.compress);
        work::run(py, move |stop| {
            let (collection, remarks) = keys.all(threads, stop)?.with_mirror_images(&clips, &paths)?;
            Ok((Self::computed(collection, paths, compress, threads)?, remarks))
        })
    }

    /// The path, the size and the CRC-32 of each file that was read.
    #[getter]
    fn sources(&self) -> Vec<(OsString, u64, u32)> {
        let facts = self.collection.sources.iter();
        facts.map(|file| (file.path.clone().into_os_string(), file.size, file.checksum)).collect()
    }

    /// Per clip its name, the index of its file, its duration in seconds, its frame rate and the index of its skeleton.
    #[getter]
    fn clips(&self) -> Vec<(Option<String>, usize, f64, f64, usize)> {
        let library = &self.collection.library;
        let facts = self.collection.clips.iter().map(|entry| {
            let clip = library.clip(entry.clip);
            (clip.name.clone(), entry.file, clip.duration(), entry.fps, clip.skeleton.index())
        });
        facts.collect()
    }

    /// The index of the clip that a text selects.
    fn select(&self, text: &str) -> PyResult<usize> {
        let Collection { library, clips, .. } = &*self.collection;
        let selector = Selector::of_clips(clips.iter().map(|entry| library.clip(entry.clip).name.as_deref()));
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let files = clips.iter().filter_map(|entry| paths.get(entry.file)).map(String::as_str);
        selector.with_files(files.collect()).one(text).map_err(to_python)
    }

    /// The number of skeletons.
    #[getter]
    fn skeletons(&self) -> usize {
        self.collection.rigs.len()
    }

    /// The bytes of the engine: keys, skeletons and skins.
    #[getter]
    fn size(&self) -> usize {
        self.engine.size()
    }

    /// The errors of the files that were repaired or passed over.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.collection.warnings.clone()
    }

    /// The arrays of a skeleton.
    fn layout(&self, skeleton: usize, request: Request) -> PyResult<Layout> {
        Layout::new(&self.collection, skeleton, request)
    }

    /// Fills arrays, a row per clip and time. There must be a layout for the skeleton of each clip, all with the same
    /// shapes. Contacts are found in frames at this rate, or at the rate of each clip.
    fn fill(
        &self,
        py: Python<'_>,
        layouts: Vec<PyRef<'_, Layout>>,
        times: ClipTimes<'_>,
        out: Vec<Bound<'_, PyArrayDyn<f32>>>,
        threads: usize,
        fps: Option<f64>,
    ) -> PyResult<()> {
        let moments = times.moments(|number| self.clip(number))?;
        let layouts: Vec<&Layout> = layouts.iter().map(|layout| &**layout).collect();
        let mut out = out.iter().map(borrow).collect::<PyResult<Vec<_>>>()?;
        let (slices, watch) = (slices_of(&mut out)?, Watch::new());
        py.detach(|| {
            let rows = ArrayRows::new(&self.collection.library, &layouts, &moments, slices)?;
            rows.fill(&self.engine, threads, &watch)
        })
        .map_err(to_python)?;
        watch.result()?;
        for (array, numbers) in layouts[0].arrays.arrays().iter().zip(slices_of(&mut out)?) {
            if array.kind == ArrayKind::Contact {
                self.fill_contacts(py, &times, fps, array.width(), numbers, threads)?;
            }
        }
        Ok(())
    }
}

impl Opening {
    fn read(self, threads: usize, stop: &AtomicBool) -> Result<(Library, FailedFiles), posse::Error> {
        let Self { files: mut paths, input_fps: fps, end_sites, strict, skeleton, passes_over, compress } = self;
        let options = LoadOptions { fps, end_sites };
        let compress = compress.as_deref().map(error_bound).transpose()?;
        let (rest, source) = skeleton.map(|path| File::proportions(&path, &options)).transpose()?.unzip();
        let policy = ErrorPolicy { strict, passes_over };
        let (mut collection, failed) = Collection::load(&paths, options, rest.as_ref(), threads, policy, stop)?;
        collection.sources.extend(source.flatten());
        failed.iter().rev().for_each(|(index, _)| drop(paths.remove(*index)));
        let keys = KeyStore::of_files(&paths, rest, &collection);
        Ok((Library::new(Arc::new(collection), keys, paths, compress, threads)?, failed))
    }
}

/// The error of compressed keys that a text states.
fn error_bound(text: &str) -> Result<ErrorBound, posse::Error> {
    let length = text.parse::<Length>();
    length.map(ErrorBound::new).map_err(|reason| posse::Error::Usage(format!("compress={text:?}: {reason}")))
}

impl Library {
    /// Packs a collection, and drops it.
    fn new(
        collection: Arc<Collection>,
        keys: KeyStore,
        paths: Vec<PathBuf>,
        compress: Option<ErrorBound>,
        threads: usize,
    ) -> Result<Self, posse::Error> {
        let packed = match compress {
            Some(bound) => CompressedLibrary::new(&collection.library, bound)?.pack_with_threads(threads)?,
            None => PackedLibrary::with_threads(&collection.library, threads)?,
        };
        let outline = collection.without_keys()?;
        // The engine copies the keys to their final memory.
        drop(collection);
        let (collection, keys, contacts) = (Arc::new(outline), Arc::new(keys), Arc::default());
        Ok(Self { collection, keys, contacts, paths, compress, engine: CpuEngine::from_packed(packed, 1) })
    }

    /// Packs a collection whose keys are in no file, and keeps them.
    fn computed(
        collection: Collection,
        paths: Vec<PathBuf>,
        compress: Option<ErrorBound>,
        threads: usize,
    ) -> Result<Self, posse::Error> {
        let collection = Arc::new(collection);
        let keys = KeyStore::Kept(Arc::clone(&collection));
        Self::new(collection, keys, paths, compress, threads)
    }

    /// Fills an array of contacts, `width` feet per row. The rest pose has none.
    fn fill_contacts(
        &self,
        py: Python<'_>,
        times: &ClipTimes,
        fps: Option<f64>,
        width: usize,
        to: &mut [f32],
        threads: usize,
    ) -> PyResult<()> {
        let clips = times.clips.as_slice()?;
        let (mut places, mut wanted) = (HashMap::new(), Vec::new());
        for &clip in clips {
            let index = usize::try_from(clip).ok().filter(|index| *index < self.collection.clips.len());
            if let (Some(index), false) = (index, width == 0 || places.contains_key(&clip)) {
                places.insert(clip, wanted.len());
                wanted.push((index, fps.unwrap_or(self.collection.clips[index].fps)));
            }
        }
        let (cache, keys, collection) =
            (Arc::clone(&self.contacts), Arc::clone(&self.keys), Arc::clone(&self.collection));
        let found = work::run(py, move |stop| cache.of_clips(&keys, &collection, &wanted, threads, stop))?;
        let rows = clips.iter().zip(times.times.as_slice()?).zip(to.chunks_exact_mut(width.max(1)));
        for ((clip, &time), row) in rows {
            match places.get(clip) {
                Some(&place) => found[place].write(&[time], row),
                None => row.fill(0.0),
            }
        }
        Ok(())
    }

    /// The clip of a number of `ClipTimes`.
    fn clip(&self, number: i64) -> Option<ClipId> {
        let Collection { clips, rigs, .. } = &*self.collection;
        match usize::try_from(number) {
            Ok(index) => clips.get(index).map(|entry| entry.clip),
            Err(_) => usize::try_from(-1 - number).ok().and_then(|skeleton| rigs.get(skeleton)).map(|rig| rig.rest),
        }
    }
}

impl ClipTimes<'_> {
    /// The moments of the rows. `clip` has the clip of a number.
    pub fn moments(&self, clip: impl Fn(i64) -> Option<ClipId>) -> PyResult<Vec<Moment>> {
        let (clips, seconds) = (self.clips.as_slice()?, self.times.as_slice()?);
        let (before, after) = (self.before.as_slice()?, self.after.as_slice()?);
        let rows = clips.iter().zip(seconds).zip(before.iter().zip(after));
        let moment = |((&number, &time), (&before, &after))| {
            let clip = clip(number).ok_or_else(|| Error::new_err(format!("there is no clip {number}")))?;
            Ok(Moment { clip, time, before, after })
        };
        rows.map(moment).collect()
    }
}

/// The numbers of arrays, which must be contiguous.
pub fn slices_of<'a>(arrays: &'a mut [PyReadwriteArrayDyn<'_, f32>]) -> PyResult<Vec<&'a mut [f32]>> {
    Ok(arrays.iter_mut().map(|array| array.as_slice_mut()).collect::<Result<_, _>>()?)
}

/// Borrows an array. Two borrows of the same memory are refused, also by two calls at the same time.
pub fn borrow<'py>(array: &Bound<'py, PyArrayDyn<f32>>) -> PyResult<PyReadwriteArrayDyn<'py, f32>> {
    let error = |error: numpy::BorrowError| {
        Error::new_err(format!(
            "{error}: it overlaps another array, or another call fills it; give each its own memory"
        ))
    };
    array.try_readwrite().map_err(error)
}
