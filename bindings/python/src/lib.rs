//! The native half of the Python package `posse`: reading of files, and filling of arrays with the interpreter
//! released.
//!
//! The Python half, in `python/posse/`, resolves names, checks arguments and allocates arrays. Both together are
//! documented there.
//!
//! * [`error`]: errors of posse as Python exceptions.
//! * [`load`]: files into one library, on several threads.
//! * [`library`]: the class `_posse.Library`.
//! * [`layout`]: the class `_posse.Layout`, the arrays of a skeleton.
//! * [`retarget`]: clips on the skeleton of another file.
//! * [`rows`]: division of arrays into pieces that threads fill.

mod error;
mod layout;
mod library;
mod load;
mod retarget;
mod rows;

use pyo3::prelude::*;

/// The native half of the package `posse`.
#[pymodule]
mod _posse {
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::layout::Layout;
    #[pymodule_export]
    use crate::library::Library;

    use pyo3::prelude::*;

    /// The version of posse.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives to a version")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The number of frames of a clip at a frame rate.
    #[pyfunction]
    fn frame_count(fps: f64, duration: f64) -> PyResult<u64> {
        Ok(posse::bake::FrameGrid::new(fps, duration).map_err(crate::error::to_python)?.len())
    }

    /// The number of cores that this process may use: its affinity, or the quota of its cgroup, or
    /// `SLURM_CPUS_PER_TASK` where they are less.
    #[pyfunction]
    fn available_cores() -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let task = std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|text| text.trim().parse::<usize>().ok());
        // As the command does, it ignores a value that is no number above 0.
        task.filter(|&task| task > 0).map_or(cores, |task| task.min(cores))
    }
}
