//! Measurements of engines: check, warm-up, times, statistics. The command `bench` and the tests share them.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::contract::{self, Report};
use crate::cpu::CpuEngine;
use crate::error::Error;
use crate::evaluator::Evaluator;
#[cfg(feature = "gpu")]
use crate::gpu::stopwatch::Stopwatch;
#[cfg(feature = "gpu")]
use crate::gpu::{GpuBatch, GpuCrowd, GpuEngine, create_encoder, submit};
#[cfg(feature = "gpu")]
use crate::kernels::Pass;
use crate::model::{Crowd, Library, Outputs, Pose, Poses, Ticks};
use crate::reference::Reference;

/// The number of instances that are compared with the reference, spread evenly over the crowd.
const CHECKED: usize = 64;
/// A frame of the crowd clock, in ticks.
const FRAME: i64 = Ticks::PER_SECOND / 60;
/// The fewest frames that are timed, even beyond the budget.
const MIN_FRAMES: usize = 5;
/// The most frames that are timed.
const MAX_FRAMES: usize = 2000;
/// The most frames in one submission.
#[cfg(feature = "gpu")]
const MAX_SUBMITTED: usize = 256;
/// Seconds that a submission takes at most, if it has more than the fewest frames. Drivers reset a GPU that is busy for
/// seconds.
#[cfg(feature = "gpu")]
const SUBMISSION: f64 = 0.25;

/// A crowd of a library to measure, with its outputs.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    /// Skeletons and clips.
    pub library: &'a Library,
    /// The instances to pose.
    pub crowd: &'a Crowd,
    /// The outputs to write.
    pub outputs: Outputs,
}

/// The spread of a time over many frames, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// The median.
    pub median: f64,
    /// The 5th percentile.
    pub p5: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile; `None` if it is not known, as in results of earlier versions.
    pub p99: Option<f64>,
    /// The number of frames.
    pub frames: usize,
}

/// The times of an engine, and the comparison of its poses with the reference.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// `gpu`, `cpu` or `reference`.
    pub engine: &'static str,
    /// The hardware that the engine ran on ([`Evaluator::adapter`]).
    pub adapter: String,
    /// Instances per frame.
    pub instances: usize,
    /// Joints per frame, of all instances together.
    pub joints: usize,
    /// Seconds per frame by the clock of the host, from the call until the poses are complete.
    pub wall: Statistics,
    /// Seconds per frame by the clock of the GPU, if it has one, with one frame per submission.
    pub device: Option<Statistics>,
    /// Seconds per frame by the clock of the GPU, if it has one, with many frames in each submission: from the end of
    /// a frame to the end of the next. The GPU does not idle between frames, so that its clocks stay up.
    pub back_to_back: Option<Statistics>,
    /// Seconds per frame of each pass by the clock of the GPU, if it has one: the entry point, and its times. Each pass
    /// ends before the next begins, which in the other times it need not.
    pub passes: Vec<(&'static str, Statistics)>,
    /// The kernels that pose, each once; none of other engines.
    pub kernels: Vec<String>,
    /// Bytes of poses written per frame.
    pub bytes: u64,
    /// The comparison with the reference; `None` for the reference itself.
    pub check: Option<Report>,
}

impl Measurement {
    /// Joints per second, by the clock of the GPU if it has one.
    pub fn joints_per_second(&self) -> f64 {
        self.joints as f64 / self.seconds()
    }

    /// Bytes of poses written per second, by the clock of the GPU if it has one.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.device.unwrap_or(self.wall).median
    }
}

impl Statistics {
    /// The statistics of at least one time.
    fn new(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let last = seconds.len() - 1;
        let percentile = |part: f64| seconds[(part * last as f64).round() as usize];
        Self {
            median: percentile(0.5),
            p5: percentile(0.05),
            p95: percentile(0.95),
            p99: Some(percentile(0.99)),
            frames: seconds.len(),
        }
    }
}

impl Workload<'_> {
    fn joints(&self) -> usize {
        let joints = |instance| self.library.skeleton(self.crowd.skeleton(instance)).joints().len();
        (0..self.crowd.len()).map(joints).sum()
    }

    /// The instances that are compared with the reference.
    fn sample(&self) -> Vec<usize> {
        let count = self.crowd.len().min(CHECKED);
        (0..count).map(|index| index * (self.crowd.len() - 1) / (count - 1).max(1)).collect()
    }

    /// Compares the poses of the sample with the reference. The poses are in the order of the sample.
    fn check(&self, now: Ticks, poses: Vec<Pose>) -> Result<Report, Error> {
        let mut sample = Crowd::new();
        for instance in self.sample() {
            sample.push_copy(self.crowd, instance);
        }
        let expected = Reference::new(self.library).evaluate(&sample, now, self.outputs)?;
        let format = self.outputs.skin_format;
        Ok(contract::compare_as(format, self.library, &sample, now, &expected, &Poses { instances: poses }))
    }

    fn measurement(&self, engine: &dyn Evaluator, wall: Statistics, bytes: u64, check: Option<Report>) -> Measurement {
        Measurement {
            engine: engine.engine(),
            adapter: engine.adapter(),
            instances: self.crowd.len(),
            joints: self.joints(),
            wall,
            device: None,
            back_to_back: None,
            passes: Vec::new(),
            kernels: Vec::new(),
            bytes,
            check,
        }
    }

    /// The crowd with the layers and transitions that it has at a time. Later frames of a measurement keep them, and
    /// the parameters of this time.
    fn crowd_at(&self, now: Ticks) -> Cow<'_, Crowd> {
        self.crowd.at(now)
    }

    /// The first `count` parameters of each instance at a time.
    #[cfg(feature = "gpu")]
    fn parameters(&self, count: usize, now: Ticks) -> Vec<f32> {
        let values = |instance| self.crowd.parameter_values(instance, now).0.into_iter().take(count);
        (0..self.crowd.len()).flat_map(values).collect()
    }

    /// A time that is no round number, so that no layer starts or ends there by accident.
    fn start(&self) -> Ticks {
        Ticks(1_234_567)
    }
}

/// Measures the CPU engine for about the time `budget`.
///
/// # Errors
/// The errors of the engine.
pub fn cpu(engine: &CpuEngine, workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let mut now = workload.start();
    let mut crowd = engine.crowd(&workload.crowd_at(now), workload.outputs)?;
    for instance in 0..workload.crowd.len() {
        crowd.set_parameters(instance, &workload.crowd.parameter_values(instance, now).0);
    }
    engine.pose(&mut crowd, now);
    let check =
        workload.check(now, workload.sample().iter().map(|&i| engine.read(&crowd, i, workload.outputs)).collect())?;
    let wall = time(budget, || {
        now.0 += FRAME;
        let start = Instant::now();
        engine.pose(&mut crowd, now);
        Ok(start.elapsed().as_secs_f64())
    })?;
    let bytes = crowd.batches().iter().map(|batch| batch.layout.bytes() * batch.instances.len() as u64).sum();
    Ok(workload.measurement(engine, wall, bytes, Some(check)))
}

/// Measures the GPU engine: recording, submission and waiting, without a readback. Each of four measurements takes
/// about the time `budget`: by the clock of the host, and, on a device with a clock, with one frame per submission,
/// with many, and pass by pass.
///
/// # Errors
/// The errors of the engine.
#[cfg(feature = "gpu")]
pub fn gpu(engine: &GpuEngine, workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let device = &engine.gpu().device;
    let submit = |encoder| pollster::block_on(submit(engine.gpu().into(), encoder));
    let mut now = workload.start();
    let crowd = GpuCrowd::new(engine.library(), &workload.crowd_at(now), workload.outputs)?;
    crowd.set_all_parameters(&workload.parameters(crowd.parameter_count(), now))?;
    let mut encoder = create_encoder(device)?;
    crowd.encode(&mut encoder, now);
    crowd.check_frames()?;
    submit(encoder)?;
    let read = |&instance: &usize| engine.read_instance(&crowd, instance, workload.outputs);
    let check = workload.check(now, workload.sample().iter().map(read).collect::<Result<_, _>>()?)?;

    let wall = time(budget, || {
        now.0 += FRAME;
        let start = Instant::now();
        let mut encoder = create_encoder(device)?;
        crowd.encode(&mut encoder, now);
        crowd.check_frames()?;
        submit(encoder)?;
        engine.wait()?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let stopwatch = Stopwatch::new(engine.gpu());
    let clock = |stopwatch: &Stopwatch| {
        time(budget, || {
            now.0 += FRAME;
            let mut encoder = create_encoder(device)?;
            crowd.encode_timed(&mut encoder, now, Some(stopwatch.writes()));
            crowd.check_frames()?;
            stopwatch.submit(engine.gpu(), encoder)
        })
    };
    let device = stopwatch.as_ref().map(clock).transpose()?;
    let bytes = crowd.batches().iter().map(|batch| batch.layout().bytes() * batch.instances().len() as u64).sum();
    let mut kernels: Vec<String> = Vec::new();
    for kernel in crowd.batches().iter().map(GpuBatch::kernel) {
        if kernels.iter().all(|known| known != kernel) {
            kernels.push(kernel.to_owned());
        }
    }
    let (mut back_to_back, mut passes) = (None, Vec::new());
    if let Some(Statistics { median, .. }) = device {
        back_to_back = time_back_to_back(engine, &crowd, &mut now, median, budget)?;
        passes = time_passes(engine, &crowd, &mut now, budget)?;
    }
    let measured = workload.measurement(engine, wall, bytes, Some(check));
    Ok(Measurement { device, back_to_back, passes, kernels, ..measured })
}

/// Times frames of which many are in one submission. `expected` is the time of a frame that is submitted alone.
#[cfg(feature = "gpu")]
fn time_back_to_back(
    engine: &GpuEngine,
    crowd: &GpuCrowd,
    now: &mut Ticks,
    expected: f64,
    budget: Duration,
) -> Result<Option<Statistics>, Error> {
    // A frame of no time gives the most frames, as the conversion of infinity saturates.
    let submitted = ((SUBMISSION / expected) as usize).clamp(MIN_FRAMES, MAX_SUBMITTED);
    let Some(stopwatch) = Stopwatch::with_passes(engine.gpu(), submitted as u32) else { return Ok(None) };
    let frames = time_runs(1, budget, || {
        let mut encoder = create_encoder(&engine.gpu().device)?;
        for index in 0..submitted {
            now.0 += FRAME;
            crowd.encode_timed(&mut encoder, *now, Some(stopwatch.writes_of(index as u32)));
        }
        crowd.check_frames()?;
        pollster::block_on(stopwatch.submit_passes(engine.gpu(), encoder))
    })?;
    Ok(Some(Statistics::new(frames.concat())))
}

/// Times the passes of frames, each of which is a submission.
#[cfg(feature = "gpu")]
fn time_passes(
    engine: &GpuEngine,
    crowd: &GpuCrowd,
    now: &mut Ticks,
    budget: Duration,
) -> Result<Vec<(&'static str, Statistics)>, Error> {
    let passes = crowd.passes();
    let Some(stopwatch) = Stopwatch::with_passes(engine.gpu(), passes.len() as u32) else { return Ok(Vec::new()) };
    let writes = |index: usize| Some(stopwatch.writes_of(index as u32));
    let frames = time_runs(MIN_FRAMES, budget, || {
        now.0 += FRAME;
        let mut encoder = create_encoder(&engine.gpu().device)?;
        crowd.encode_each_pass(&mut encoder, *now, &writes);
        crowd.check_frames()?;
        pollster::block_on(stopwatch.submit_passes(engine.gpu(), encoder))
    })?;
    let of_pass = |(index, pass): (usize, Pass)| {
        let seconds = frames.iter().filter_map(|frame| frame.get(index).copied()).collect();
        (pass.entry_point(), Statistics::new(seconds))
    };
    Ok(passes.into_iter().enumerate().map(of_pass).collect())
}

/// Measures the reference for about the time `budget`. It poses at most 64 instances of the crowd, and counts only
/// those.
///
/// # Errors
/// The errors of the engine.
pub fn reference(workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let mut part = Crowd::new();
    for instance in workload.sample() {
        part.push_copy(workload.crowd, instance);
    }
    // As for the other engines, no transition starts in later frames.
    let part = part.at(workload.start());
    let workload = Workload { crowd: &part, ..*workload };
    let mut engine = Reference::new(workload.library);
    let mut now = workload.start();
    let wall = time(budget, || {
        now.0 += FRAME;
        let start = Instant::now();
        std::hint::black_box(engine.evaluate(workload.crowd, now, workload.outputs)?);
        Ok(start.elapsed().as_secs_f64())
    })?;
    Ok(workload.measurement(&engine, wall, 0, None))
}

/// The statistics of the times of a frame that runs repeatedly until the budget is spent.
fn time(budget: Duration, frame: impl FnMut() -> Result<f64, Error>) -> Result<Statistics, Error> {
    Ok(Statistics::new(time_runs(MIN_FRAMES, budget, frame)?))
}

/// Runs one frame or several repeatedly until the budget is spent, and returns the times of each run, of which there
/// are at least `fewest`. The first one or two runs warm up and do not count.
fn time_runs<T>(fewest: usize, budget: Duration, mut run: impl FnMut() -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let start = Instant::now();
    run()?;
    // A run that takes the whole budget is warm enough.
    if start.elapsed() < budget {
        run()?;
    }
    let mut times = Vec::new();
    while times.len() < fewest || (start.elapsed() < budget && times.len() < MAX_FRAMES) {
        times.push(run()?);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_the_sorted_times() {
        let statistics = Statistics::new((0..=100).rev().map(f64::from).collect());
        assert_eq!(statistics, Statistics { median: 50.0, p5: 5.0, p95: 95.0, p99: Some(99.0), frames: 101 });
        assert_eq!(Statistics::new(vec![2.0]).p95, 2.0);
    }
}
