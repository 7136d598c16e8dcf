//! The native half of the Python package `posse_animation`: reading of files, and filling of arrays with the
//! interpreter released.
//!
//! The Python half, in `python/posse_animation/`, resolves names, checks arguments and allocates arrays. Both together
//! are documented there.
//!
//! * [`error`]: errors of posse as Python exceptions.
//! * [`work`]: long work on several threads, which Ctrl-C ends.
//! * [`source`]: the facts of a file by which a change is noticed.
//! * [`load`]: files into one library, on several threads.
//! * [`keys`]: keys in `f64`, from the files, and contacts of feet with the ground.
//! * [`library`]: the class `_posse.Library`.
//! * [`layout`]: the class `_posse.Layout`, the arrays of a skeleton.
//! * [`retarget`]: clips on the skeleton of another file, and mirror images of clips.
//! * [`crowd`]: the class `_posse.Crowd`, the instances of a crowd file.
//! * [`rows`]: division of arrays into pieces that threads fill.

mod crowd;
mod error;
mod keys;
mod layout;
mod library;
mod load;
mod retarget;
mod rows;
mod source;
mod work;

use pyo3::prelude::*;

/// The native half of the package `posse`.
#[pymodule]
mod _posse {
    #[pymodule_export]
    use crate::crowd::Crowd;
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::layout::Layout;
    #[pymodule_export]
    use crate::library::Library;

    use std::ffi::OsString;
    use std::path::PathBuf;

    use numpy::PyArray1;
    use posse::bake::FrameGrid;
    use pyo3::exceptions::PyMemoryError;
    use pyo3::prelude::*;

    use crate::error::to_python;

    /// Imports what arrays need of NumPy, which a signal must not interrupt in a call.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let _ = PyArray1::<f64>::from_vec(module.py(), Vec::new());
        Ok(())
    }

    /// Times in seconds.
    type Seconds<'py> = Bound<'py, PyArray1<f64>>;

    /// The version of posse.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives to a version")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The number of frames of a clip at a frame rate.
    #[pyfunction]
    fn frame_count(fps: f64, duration: f64) -> PyResult<u64> {
        Ok(FrameGrid::new(fps, duration).map_err(to_python)?.len())
    }

    /// The times of all frames of a clip, or of a part of it, between the times that the velocities of each are measured
    /// from and to.
    #[pyfunction]
    #[pyo3(signature = (fps, duration, part=None))]
    fn frame_times(
        py: Python<'_>,
        fps: f64,
        duration: f64,
        part: Option<(f64, f64)>,
    ) -> PyResult<(Seconds<'_>, Seconds<'_>, Seconds<'_>)> {
        let grid = match part {
            Some((start, end)) => FrameGrid::of_part(fps, duration, [start, end]),
            None => FrameGrid::new(fps, duration),
        };
        let grid = grid.map_err(to_python)?;
        let times = |time: &dyn Fn(u64) -> f64| {
            let mut times: Vec<f64> = Vec::new();
            let is_there = usize::try_from(grid.len()).is_ok_and(|count| times.try_reserve_exact(count).is_ok());
            if !is_there {
                return Err(PyMemoryError::new_err(format!("{} frames", grid.len())));
            }
            times.extend((0..grid.len()).map(time));
            Ok(PyArray1::from_vec(py, times))
        };
        let span = |end: usize| times(&|frame| grid.span(frame)[end]);
        Ok((span(0)?, times(&|frame| grid.time(frame))?, span(1)?))
    }

    /// True for a file of NumPy that may hold a motion of SMPL: also for one that cannot be read.
    #[pyfunction]
    fn may_have_motion(path: PathBuf) -> bool {
        std::fs::File::open(path).and_then(posse::import::smpl::has_motion).unwrap_or(true)
    }

    /// Runs the command `posse` with arguments, of which the first one is the name of the program. Returns its exit code.
    #[pyfunction]
    fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| posse_cli::run(arguments))
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
