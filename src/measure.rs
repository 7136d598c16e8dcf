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
use crate::gpu::{GpuCrowd, GpuEngine, create_encoder, submit};
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
    /// Seconds per frame by the clock of the GPU, if it has one.
    pub device: Option<Statistics>,
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
        Self { median: percentile(0.5), p5: percentile(0.05), p95: percentile(0.95), frames: seconds.len() }
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

    fn measurement(
        &self,
        engine: &dyn Evaluator,
        wall: Statistics,
        device: Option<Statistics>,
        bytes: u64,
        check: Option<Report>,
    ) -> Measurement {
        Measurement {
            engine: engine.engine(),
            adapter: engine.adapter(),
            instances: self.crowd.len(),
            joints: self.joints(),
            wall,
            device,
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
    Ok(workload.measurement(engine, wall, None, bytes, Some(check)))
}

/// Measures the GPU engine for about the time `budget`: recording, submission and waiting, without a readback.
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
    Ok(workload.measurement(engine, wall, device, bytes, Some(check)))
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
    Ok(workload.measurement(&engine, wall, None, 0, None))
}

/// Runs a frame repeatedly until the budget is spent. The first one or two frames warm up and do not count.
fn time(budget: Duration, mut frame: impl FnMut() -> Result<f64, Error>) -> Result<Statistics, Error> {
    let start = Instant::now();
    frame()?;
    // A frame that takes the whole budget is warm enough.
    if start.elapsed() < budget {
        frame()?;
    }
    let mut seconds = Vec::new();
    while seconds.len() < MIN_FRAMES || (start.elapsed() < budget && seconds.len() < MAX_FRAMES) {
        seconds.push(frame()?);
    }
    Ok(Statistics::new(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_the_sorted_times() {
        let statistics = Statistics::new((0..=100).rev().map(f64::from).collect());
        assert_eq!(statistics, Statistics { median: 50.0, p5: 5.0, p95: 95.0, frames: 101 });
        assert_eq!(Statistics::new(vec![2.0]).p95, 2.0);
    }
}
