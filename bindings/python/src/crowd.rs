//! The class `_posse.Crowd`: the instances of a crowd file.

use std::path::PathBuf;

use numpy::PyArrayDyn;
use posse::bake::ArrayKind;
use posse::cpu::CpuEngine;
use posse::import::Warning;
use posse::import::crowd::{self, CrowdFile};
use posse::{Error as PosseError, Library};
use pyo3::prelude::*;

use crate::error::{Error, to_python};
use crate::layout::{Layout, Request};
use crate::library::{ClipTimes, borrow, slices_of};
use crate::load::{Collection, LoadedRig};
use crate::work::{self, Watch};

/// The moments between two looks for signals.
const MOMENTS_OF_A_PIECE: usize = 64;

/// The instances of a crowd file, ready to be sampled. It does not change.
#[pyclass(frozen, module = "posse_animation._posse")]
#[derive(Debug)]
pub struct Crowd {
    /// A rig per file.
    collection: Collection,
    file: CrowdFile,
    engine: CpuEngine,
}

#[pymethods]
impl Crowd {
    /// Reads a crowd file and the glTF files that it names. If `strict`, refuses a file with a warning.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, strict: bool) -> PyResult<Self> {
        work::run(py, move |_| {
            let mut library = Library::new();
            let file = crowd::load(&mut library, &path)?;
            let assets = file.files.iter().map(|posed| (&posed.asset.file, &posed.asset.warnings));
            let (mut rigs, mut warnings) = (Vec::new(), Vec::new());
            for (path, found) in std::iter::once((&path, &file.warnings)).chain(assets) {
                if strict {
                    Warning::refuse(path, found)?;
                }
                // A file that is named twice is read once.
                let new = found.iter().map(|warning| format!("{}: {warning}", path.display()));
                let new: Vec<String> = new.filter(|warning| !warnings.contains(warning)).collect();
                warnings.extend(new);
            }
            for posed in &file.files {
                rigs.push(LoadedRig::new(&mut library, posed.asset.skeleton, posed.asset.joints.clone())?);
            }
            let engine = CpuEngine::with_threads(&library, 1)?;
            Ok(Self { collection: Collection { library, rigs, warnings, ..Collection::default() }, file, engine })
        })
    }

    /// The names of the glTF files, in the order of the crowd file.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.file.files.iter().map(|posed| posed.name.clone()).collect()
    }

    /// The groups of instances: the first one, that after the last one, and the index of the file.
    #[getter]
    fn groups(&self) -> Vec<(usize, usize, usize)> {
        self.file.groups().map(|(instances, file)| (instances.start, instances.end, file)).collect()
    }

    /// The errors of the files that were repaired or passed over.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.collection.warnings.clone()
    }

    /// The arrays of the skeleton of a file.
    fn layout(&self, file: usize, request: Request) -> PyResult<Layout> {
        Layout::new(&self.collection, file, request)
    }

    /// Fills the arrays of an instance, a row per time of the crowd clock. The clips of `times` do not matter.
    fn fill(
        &self,
        py: Python<'_>,
        instance: usize,
        layout: PyRef<'_, Layout>,
        times: ClipTimes<'_>,
        out: Vec<Bound<'_, PyArrayDyn<f32>>>,
    ) -> PyResult<()> {
        let layout = &layout.arrays;
        if layout.arrays().iter().any(|array| array.kind == ArrayKind::Contact) {
            return Err(Error::new_err("contact is an array of clips; sample the clips of a library"));
        }
        let Some(rig) = self.collection.rigs.first().filter(|_| instance < self.file.len()) else {
            return Err(Error::new_err(format!("instance {instance}: the crowd has {} instances", self.file.len())));
        };
        let moments = times.moments(|_| Some(rig.rest))?;
        let mut out = out.iter().map(borrow).collect::<PyResult<Vec<_>>>()?;
        let (mut rows, watch) = (slices_of(&mut out)?, Watch::new());
        py.detach(|| -> Result<(), PosseError> {
            let crowd = self.file.crowd(&self.collection.library, instance..instance + 1)?;
            let mut pose = |time: f64| {
                let limit = CrowdFile::MAX_SECONDS;
                let refused = || PosseError::Usage(format!("{time} s: times are from -{limit} to {limit} s"));
                self.engine.query(&crowd, 0, CrowdFile::ticks(time).ok_or_else(refused)?, layout.outputs())
            };
            for moments in moments.chunks(MOMENTS_OF_A_PIECE) {
                if watch.is_stopped() {
                    break;
                }
                let widths = layout.arrays().iter().map(|array| array.width());
                let piece = rows.iter_mut().zip(widths).map(|(array, width)| {
                    // The numbers of these moments are taken from the beginning of the rest.
                    array.split_off_mut(..moments.len() * width).unwrap_or_default()
                });
                let mut piece: Vec<&mut [f32]> = piece.collect();
                layout.sample_poses(&mut pose, moments, &mut piece)?;
            }
            Ok(())
        })
        .map_err(to_python)?;
        watch.result()
    }
}
