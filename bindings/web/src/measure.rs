//! The measurement: joints per second over numbers of instances.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use posse::gpu::{GpuContext, GpuEngine};
use posse::low_level::Bandwidth;
use posse::{Error, demo};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::gpu::Gpu;
use crate::js::{Result, object, options};
use crate::library::Library;
use crate::measured_size::MeasuredSize;
use crate::run::{CrowdCase, MeasuredRig, MeasuredRow, MeasuredRun};
use crate::steps::{Progress, Steps, milliseconds};

/// The generated rig: its joints, keys per track and levels. It is the rig of the table `instances` of `posse bench`.
const RIG: [usize; 3] = [16, 60, 10];
/// The numbers of instances on hardware.
const COUNTS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
/// The number of them on a software renderer.
const SOFTWARE_COUNTS: usize = 4;
/// The most bytes that the measurement of the bandwidth covers, on hardware and on a software renderer.
const BANDWIDTH_BYTES: [u64; 2] = [256 << 20, 32 << 20];

/// A measurement of a device.
#[wasm_bindgen]
pub struct Measure {
    shared: Rc<SharedMeasure>,
}

struct SharedMeasure {
    gpu: GpuContext,
    is_software: bool,
    library: posse::Library,
    counts: Vec<usize>,
    seconds: f64,
    work: Steps<Work>,
    run: RefCell<MeasuredRun>,
    /// The number of sizes that are done.
    done: Cell<usize>,
}

/// The work that remains.
#[derive(Default)]
struct Work {
    engine: Option<GpuEngine>,
    has_bandwidth: bool,
    size: Option<MeasuredSize>,
}

/// The options of a measurement: `MeasureOptions` of `posse.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MeasureOptions {
    seconds: f64,
    counts: Vec<usize>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self { seconds: 0.5, counts: Vec::new() }
    }
}

#[wasm_bindgen]
impl Measure {
    /// Prepares a measurement of crowds of a library, which play its clips in turn.
    pub fn start(gpu: &Gpu, library: &Library, measure_options: &JsValue) -> Result<Measure> {
        let shared = &library.shared;
        let content = shared.source();
        if content.library.clips().is_empty() {
            return Err(JsError::new("there is no clip to play; measure the built-in rig"));
        }
        let joints = content.library.skeletons().iter().map(|skeleton| skeleton.joints().len()).max().unwrap_or(0);
        let rig = MeasuredRig { file: Some(content.name.clone()), joints, keys: None, depth: None, table: None };
        Self::new(gpu, content.library.clone(), rig, measure_options)
    }

    /// Prepares a measurement of crowds of a generated rig of 16 joints, as `posse bench` measures it.
    pub fn rig(gpu: &Gpu, measure_options: &JsValue) -> Result<Measure> {
        let [joints, keys, depth] = RIG;
        let rig = MeasuredRig { file: None, joints, keys: Some(keys), depth: Some(depth), table: Some("instances") };
        Self::new(gpu, demo::rig(joints, keys, depth)?, rig, measure_options)
    }

    fn new(gpu: &Gpu, library: posse::Library, rig: MeasuredRig, measure_options: &JsValue) -> Result<Measure> {
        let MeasureOptions { seconds, counts } = options("options", measure_options)?;
        let is_software = gpu.is_software();
        let most = if is_software { SOFTWARE_COUNTS } else { COUNTS.len() };
        let counts = if counts.is_empty() { COUNTS[..most].to_vec() } else { counts };
        if counts.contains(&0) || !(0.0..=60.0).contains(&seconds) {
            return Err(JsError::new("options: expected counts of 1 or more, and seconds from 0 to 60"));
        }
        let (work, done) = (Steps::new(Work::default()), Cell::new(0));
        let run = RefCell::new(MeasuredRun::new(gpu.name(), rig));
        let gpu = gpu.context.clone();
        Ok(Self { shared: Rc::new(SharedMeasure { gpu, is_software, library, counts, seconds, work, run, done }) })
    }

    /// Does a part of the work.
    pub async fn step(&self) -> Result<JsValue> {
        let shared = self.shared.clone();
        let progress = || Progress { done: shared.done.get(), total: shared.counts.len() };
        shared.work.step(async |work| shared.step(work).await, progress).await
    }

    /// The rows of what is done so far.
    pub fn rows(&self) -> Result<JsValue> {
        let run = self.shared.run.borrow();
        object(&run.cases.iter().map(|case| run.row(case)).collect::<Vec<MeasuredRow>>())
    }

    /// The JSON that `posse bench --from` reads.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.shared.run.borrow().json())?)
    }
}

impl SharedMeasure {
    /// Uploads the library, measures the bandwidth, prepares a size, or times some frames of it. Returns true when all
    /// is done.
    async fn step(&self, work: &mut Work) -> Result<bool> {
        let Some(engine) = &work.engine else {
            work.engine = Some(GpuEngine::new_async(self.gpu.clone(), &self.library).await?);
            return Ok(false);
        };
        if !work.has_bandwidth {
            let most = BANDWIDTH_BYTES[usize::from(self.is_software)];
            let clock = || 1e-3 * milliseconds();
            self.run.borrow_mut().bandwidth = Some(Bandwidth::measure_with_clock(&self.gpu, most, clock).await?);
            work.has_bandwidth = true;
            return Ok(false);
        }
        let Some(size) = &mut work.size else {
            let Some(&count) = self.counts.get(self.done.get()) else { return Ok(true) };
            match MeasuredSize::new(engine, &self.library, count).await {
                Ok(size) => work.size = Some(size),
                Err(error) => self.skip(count, error)?,
            }
            return Ok(false);
        };
        if size.time(engine).await?.seconds >= self.seconds {
            let case: CrowdCase = size.case();
            self.run.borrow_mut().cases.push(case);
            work.size = None;
            self.done.set(self.done.get() + 1);
        }
        Ok(false)
    }

    /// Leaves out a size that is too large for the device. Any other error is returned.
    fn skip(&self, count: usize, error: Error) -> Result<()> {
        match error {
            Error::Limit { .. } | Error::Device(_) => {
                self.run.borrow_mut().skipped.push(format!("without {count} instances: {error}"));
                self.done.set(self.done.get() + 1);
                Ok(())
            }
            error => Err(error.into()),
        }
    }
}
