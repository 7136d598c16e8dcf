//! The check: every clip and all ways of mixing, on the GPU against the reference.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use posse::contract::{self, Report};
use posse::gpu::{GpuContext, GpuEngine};
use posse::{Crowd, Evaluator, Pose, Poses, Reference};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::gpu::Gpu;
use crate::js::{Result, object, options};
use crate::library::Library;
use crate::steps::{Progress, Slice, Steps};

/// Instances that are compared between two looks at the clock.
const BLOCK: usize = 4;
/// The most times per clip by default.
const SAMPLES: usize = 64;

/// A check of a device with a library.
#[wasm_bindgen]
pub struct Check {
    shared: Rc<SharedCheck>,
}

struct SharedCheck {
    gpu: GpuContext,
    adapter: String,
    library: posse::Library,
    checks: Vec<contract::Check>,
    alter: f64,
    work: Steps<Work>,
    found: RefCell<Found>,
}

/// The work that remains.
struct Work {
    engine: Option<GpuEngine>,
    /// The check at work.
    check: usize,
    /// The poses of the GPU, and the number of them that have been compared.
    poses: Option<(Vec<Pose>, usize)>,
}

/// The worst shares so far.
#[derive(Default)]
struct Found {
    poses: usize,
    quantities: Report,
    clips: BTreeMap<usize, f64>,
    crowds: BTreeMap<&'static str, f64>,
}

/// The options of a check: `CheckOptions` of `posse.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CheckOptions {
    samples: usize,
    alter: f64,
}

#[derive(Serialize)]
struct WorstError {
    name: String,
    worst: f64,
}

#[derive(Serialize)]
struct CheckReport {
    pass: bool,
    worst: f64,
    kinds: Vec<WorstError>,
    clips: Vec<WorstError>,
    crowds: Vec<WorstError>,
    poses: usize,
    adapter: String,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { samples: SAMPLES, alter: 0.0 }
    }
}

#[wasm_bindgen]
impl Check {
    /// Prepares a check.
    pub fn start(gpu: &Gpu, library: &Library, check_options: &JsValue) -> Result<Check> {
        let CheckOptions { samples, alter } = options("options", check_options)?;
        let mut library = library.shared.source().library.clone();
        let checks = contract::checks(&mut library, samples)?;
        let work = Steps::new(Work { engine: None, check: 0, poses: None });
        let (gpu, adapter, found) = (gpu.context.clone(), gpu.name(), RefCell::default());
        Ok(Self { shared: Rc::new(SharedCheck { gpu, adapter, library, checks, alter, work, found }) })
    }

    /// Does a part of the work.
    pub async fn step(&self) -> Result<JsValue> {
        let shared = self.shared.clone();
        let progress = || Progress {
            done: shared.found.borrow().poses,
            total: shared.checks.iter().map(|check| check.crowd.len()).sum(),
        };
        shared.work.step(async |work| shared.step(work).await, progress).await
    }

    /// The report on what is done so far.
    pub fn report(&self) -> Result<JsValue> {
        object(&self.shared.report())
    }
}

impl SharedCheck {
    /// Uploads the library, or poses a crowd, or compares poses for the time of a slice. Returns true when all is done.
    async fn step(&self, work: &mut Work) -> Result<bool> {
        let Some(engine) = &work.engine else {
            work.engine = Some(GpuEngine::new_async(self.gpu.clone(), &self.library).await?);
            return Ok(false);
        };
        let Some(check) = self.checks.get(work.check) else { return Ok(true) };
        let Some((poses, compared)) = &mut work.poses else {
            let mut poses = engine.evaluate_step_async(&check.crowd, check.step, check.outputs).await?.instances;
            poses.iter_mut().for_each(|pose| self.alter(pose));
            work.poses = Some((poses, 0));
            return Ok(false);
        };
        let slice = Slice::begin();
        while *compared < poses.len() {
            let end = poses.len().min(*compared + BLOCK);
            self.compare(check, *compared, &poses[*compared..end])?;
            *compared = end;
            if slice.is_over() {
                return Ok(false);
            }
        }
        (work.check, work.poses) = (work.check + 1, None);
        Ok(false)
    }

    /// Moves the last joint by the share of the option of the size of the pose, so that large rigs fail as well as
    /// small ones.
    fn alter(&self, pose: &mut Pose) {
        let distances = pose.model.iter().map(|matrix| matrix.translation.length());
        let size = distances.fold(0.0, f64::max);
        if let Some(matrix) = pose.model.last_mut() {
            matrix.translation.x += self.alter * if size > 0.0 { size } else { 1.0 };
        }
    }

    /// Compares poses of instances from `first` on.
    fn compare(&self, check: &contract::Check, first: usize, poses: &[Pose]) -> Result<()> {
        let mut crowd = Crowd::new();
        for instance in first..first + poses.len() {
            crowd.push(check.crowd.skeleton(instance), check.crowd.layers(instance))?;
        }
        let (step, outputs) = (check.step, check.outputs);
        let expected = Reference::new(&self.library).evaluate_step(&crowd, step, outputs)?;
        let actual = Poses { instances: poses.to_vec() };
        let report = contract::compare_as(outputs.skin_format, &self.library, &crowd, step, &expected, &actual);
        let worst = worst_share(&report);
        let mut found = self.found.borrow_mut();
        found.poses += poses.len();
        found.quantities.merge(&report);
        let kept = match check.clip {
            Some(clip) => found.clips.entry(clip.index()).or_default(),
            None => found.crowds.entry(check.kind).or_default(),
        };
        *kept = kept.max(worst);
        Ok(())
    }

    fn report(&self) -> CheckReport {
        let found = self.found.borrow();
        let quantities = found.quantities.quantities().into_iter();
        let kinds = quantities.filter_map(|(name, worst)| Some((name, worst?.share())));
        let clip_name = |index: usize| {
            self.library.clips().get(index).and_then(|clip| clip.name.clone()).unwrap_or_else(|| index.to_string())
        };
        let named = |(name, worst): (&str, f64)| WorstError { name: name.to_owned(), worst: finite(worst) };
        CheckReport {
            pass: found.poses > 0 && found.quantities.is_within(),
            worst: finite(worst_share(&found.quantities)),
            kinds: kinds.map(named).collect(),
            clips: found.clips.iter().map(|(&index, &worst)| named((&clip_name(index), worst))).collect(),
            crowds: found.crowds.iter().map(|(&name, &worst)| named((name, worst))).collect(),
            poses: found.poses,
            adapter: self.adapter.clone(),
        }
    }
}

/// The largest share of its bound in a report.
pub fn worst_share(report: &Report) -> f64 {
    let shares = report.quantities().into_iter().filter_map(|(_, worst)| worst).map(|worst| worst.share());
    shares.fold(0.0, |worst, share| if share.is_nan() || share > worst { share } else { worst })
}

/// A number that JSON can hold.
fn finite(share: f64) -> f64 {
    if share.is_finite() { share } else { f64::MAX }
}
