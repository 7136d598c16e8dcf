//! The class `_posse.Library`.

use std::path::PathBuf;

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadwriteArrayDyn};
use posse::bake::Moment;
use posse::import::bvh::LoadOptions;
use posse::{CpuEngine, PackedLibrary, Selector};
use pyo3::prelude::*;

use crate::error::{Error, to_python};
use crate::layout::{Layout, Request};
use crate::load::{Collection, File};
use crate::retarget;
use crate::rows::Rows;

/// The clips of files, ready to be sampled. It does not change.
#[pyclass(frozen, module = "posse._posse")]
#[derive(Debug)]
pub struct Library {
    collection: Collection,
    /// The files.
    paths: Vec<PathBuf>,
    /// An engine of one thread. Calls divide their rows between threads themselves, so that each call has its own
    /// number of them.
    engine: CpuEngine,
}

/// Clips and times, one per row: a dictionary in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Times<'py> {
    clips: PyReadonlyArray1<'py, i64>,
    times: PyReadonlyArray1<'py, f64>,
    /// The times that velocities are measured from.
    before: PyReadonlyArray1<'py, f64>,
    /// The times that velocities are measured to.
    after: PyReadonlyArray1<'py, f64>,
}

#[pymethods]
impl Library {
    /// Reads files on up to this many threads. If `strict`, refuses a file with a warning. The joints of files of SMPL
    /// have the proportions of the file `skeleton`.
    #[new]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        threads: usize,
        input_fps: Option<f64>,
        end_sites: bool,
        strict: bool,
        skeleton: Option<PathBuf>,
    ) -> PyResult<Self> {
        py.detach(|| {
            let options = LoadOptions { fps: input_fps, end_sites };
            let rest = skeleton.map(|path| File::proportions(&path, &options)).transpose()?;
            let collection = Collection::load(&paths, options, rest.as_ref(), threads, strict)?;
            Self::packed(collection, paths, threads)
        })
        .map_err(to_python)
    }

    /// The clips of a request on the skeleton of its target. Also returns a report per file as JSON, with the index of
    /// the file.
    fn retarget(
        &self,
        py: Python<'_>,
        request: retarget::Request,
        threads: usize,
    ) -> PyResult<(Self, Vec<(usize, String)>)> {
        let done = || -> Result<_, posse::Error> {
            let (collection, reports) = self.collection.retarget(&request, &self.paths)?;
            Ok((Self::packed(collection, self.paths.clone(), threads)?, reports))
        };
        let (library, reports) = py.detach(done).map_err(to_python)?;
        let json = |report: &retarget::FileReport| {
            let json = serde_json::to_string(&report.report).map_err(|error| Error::new_err(error.to_string()))?;
            Ok((report.file, json))
        };
        Ok((library, reports.iter().map(json).collect::<PyResult<_>>()?))
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
        let Collection { library, clips, .. } = &self.collection;
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
    /// shapes.
    fn fill(
        &self,
        py: Python<'_>,
        layouts: Vec<PyRef<'_, Layout>>,
        times: Times<'_>,
        out: Vec<Bound<'_, PyArrayDyn<f32>>>,
        threads: usize,
    ) -> PyResult<()> {
        let moments = self.moments(&times)?;
        let layouts: Vec<&Layout> = layouts.iter().map(|layout| &**layout).collect();
        let mut out = out.iter().map(borrow).collect::<PyResult<Vec<_>>>()?;
        let arrays = out.iter_mut().map(|array| array.as_slice_mut()).collect::<Result<Vec<&mut [f32]>, _>>()?;
        py.detach(|| {
            let rows = Rows::new(&self.collection.library, &layouts, &moments, arrays)?;
            rows.fill(&self.engine, threads)
        })
        .map_err(to_python)
    }
}

impl Library {
    fn packed(collection: Collection, paths: Vec<PathBuf>, threads: usize) -> Result<Self, posse::Error> {
        let packed = PackedLibrary::with_threads(&collection.library, threads)?;
        Ok(Self { collection, paths, engine: CpuEngine::from_packed(packed, 1) })
    }

    fn moments(&self, times: &Times) -> PyResult<Vec<Moment>> {
        let (clips, seconds) = (times.clips.as_slice()?, times.times.as_slice()?);
        let (before, after) = (times.before.as_slice()?, times.after.as_slice()?);
        let rows = clips.iter().zip(seconds).zip(before.iter().zip(after));
        let moment = |((&clip, &time), (&before, &after))| {
            let entry = usize::try_from(clip).ok().and_then(|clip| self.collection.clips.get(clip));
            let entry = entry.ok_or_else(|| Error::new_err(format!("there is no clip {clip}")))?;
            Ok(Moment { clip: entry.clip, time, before, after })
        };
        rows.map(moment).collect()
    }
}

/// Borrows an array. Two borrows of the same memory are refused, also those of two calls at the same time.
fn borrow<'py>(array: &Bound<'py, PyArrayDyn<f32>>) -> PyResult<PyReadwriteArrayDyn<'py, f32>> {
    let error = |error: numpy::BorrowError| {
        Error::new_err(format!(
            "{error}: it overlaps another array, or another call fills it; give each its own memory"
        ))
    };
    array.try_readwrite().map_err(error)
}
