//! Measuring engines: check, warm up, time, statistics. The `bench` command and the benchmarks share it.

use std::time::{Duration, Instant};

use crate::contract::{self, Report};
use crate::cpu::CpuEngine;
use crate::error::Error;
use crate::evaluator::Evaluator;
#[cfg(feature = "gpu")]
use crate::gpu::{GpuCrowd, GpuEngine, KernelForm, Stopwatch};
use crate::model::{Crowd, Library, Outputs, Pose, Poses, Ticks};
use crate::reference::Reference;

/// Instances of a crowd that are compared with the reference, spread evenly over it.
const CHECKED: usize = 64;
/// A frame of the crowd's clock.
const FRAME: i64 = Ticks::PER_SECOND / 60;
/// Fewest and most frames that are timed.
const FRAMES: (usize, usize) = (5, 2000);

/// What is measured: a crowd of a library, and what is wanted of it.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    /// Skeletons and clips.
    pub library: &'a Library,
    /// Who is posed.
    pub crowd: &'a Crowd,
    /// What is written.
    pub outputs: Outputs,
}

/// The spread of a time over many frames, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Half of the frames took less.
    pub median: f64,
    /// 5 % of the frames took less.
    pub p5: f64,
    /// 95 % of the frames took less.
    pub p95: f64,
    /// Frames.
    pub frames: usize,
}

/// What was measured of an engine, after its poses were compared with the reference.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// `gpu`, `cpu` or `reference`.
    pub engine: &'static str,
    /// What the engine ran on.
    pub adapter: String,
    /// Instances posed a frame.
    pub instances: usize,
    /// Joints posed a frame, of all instances together.
    pub joints: usize,
    /// Seconds a frame by the host's clock, from the call until the poses are complete.
    pub wall: Statistics,
    /// Seconds a frame by the GPU's own clock, where it has one.
    pub device: Option<Statistics>,
    /// Instances posed a frame by the GPU's kernels of the serial form, the others being by those of the parallel one; `None`
    /// for other engines.
    pub serial: Option<usize>,
    /// Bytes of poses written a frame.
    pub bytes: u64,
    /// The comparison with the reference; `None` for the reference itself.
    pub check: Option<Report>,
}

impl Measurement {
    /// Joints a second, by the GPU's own clock where it has one.
    pub fn joints_per_second(&self) -> f64 {
        self.joints as f64 / self.seconds()
    }

    /// Bytes of poses written a second, by the GPU's own clock where it has one.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.device.unwrap_or(self.wall).median
    }
}

impl Statistics {
    /// Of some times, at least one.
    fn new(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let last = seconds.len() - 1;
        let at = |part: f64| seconds[(part * last as f64).round() as usize];
        Self { median: at(0.5), p5: at(0.05), p95: at(0.95), frames: seconds.len() }
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

    /// Compares the poses of the sample, in its order, with the reference.
    fn check(&self, now: Ticks, poses: Vec<Pose>) -> Result<Report, Error> {
        let mut sample = Crowd::new();
        for instance in self.sample() {
            sample.push(self.crowd.skeleton(instance), self.crowd.layers(instance))?;
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
            serial: None,
            bytes,
            check,
        }
    }

    /// A time at which nothing starts or ends by accident.
    fn start(&self) -> Ticks {
        Ticks(1_234_567)
    }
}

/// Measures the CPU engine for about a time.
///
/// # Errors
/// As the engine's.
pub fn cpu(engine: &CpuEngine, workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let mut crowd = engine.crowd(workload.crowd, workload.outputs)?;
    let mut now = workload.start();
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

/// Measures the GPU engine for about a time: recording, submission and waiting, without reading back.
///
/// # Errors
/// As the engine's.
#[cfg(feature = "gpu")]
pub fn gpu(engine: &GpuEngine, workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let (device, queue) = (&engine.gpu().device, &engine.gpu().queue);
    let crowd = GpuCrowd::new(device, engine.library(), workload.crowd, workload.outputs)?;
    let mut now = workload.start();
    let mut encoder = device.create_command_encoder(&Default::default());
    crowd.encode(device, &mut encoder, now);
    queue.submit([encoder.finish()]);
    let read = |&instance: &usize| engine.read_instance(&crowd, instance, workload.outputs);
    let check = workload.check(now, workload.sample().iter().map(read).collect::<Result<_, _>>()?)?;

    let wall = time(budget, || {
        now.0 += FRAME;
        let start = Instant::now();
        let mut encoder = device.create_command_encoder(&Default::default());
        crowd.encode(device, &mut encoder, now);
        queue.submit([encoder.finish()]);
        engine.wait()?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let stopwatch = Stopwatch::new(device, queue);
    let clock = |stopwatch: &Stopwatch| {
        time(budget, || {
            now.0 += FRAME;
            let mut encoder = device.create_command_encoder(&Default::default());
            crowd.encode_timed(device, &mut encoder, now, Some(stopwatch.writes()));
            stopwatch.submit(device, queue, encoder)
        })
    };
    let device = stopwatch.as_ref().map(clock).transpose()?;
    let bytes = crowd.batches().iter().map(|batch| batch.layout().bytes() * batch.instances().len() as u64).sum();
    let serial = crowd.batches().iter().filter(|batch| batch.form() == KernelForm::Serial);
    let serial = serial.map(|batch| batch.instances().len()).sum();
    Ok(Measurement { serial: Some(serial), ..workload.measurement(engine, wall, device, bytes, Some(check)) })
}

/// Measures the reference for about a time. A crowd of which a frame takes longer is posed in part, and counted so.
///
/// # Errors
/// As the engine's.
pub fn reference(workload: &Workload, budget: Duration) -> Result<Measurement, Error> {
    let mut part = Crowd::new();
    for instance in workload.sample() {
        part.push(workload.crowd.skeleton(instance), workload.crowd.layers(instance))?;
    }
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

/// Runs a frame again and again until the budget is spent. The first frame or two warm up and do not count.
fn time(budget: Duration, mut frame: impl FnMut() -> Result<f64, Error>) -> Result<Statistics, Error> {
    let start = Instant::now();
    frame()?;
    // One that takes the whole budget is warm enough.
    if start.elapsed() < budget {
        frame()?;
    }
    let mut seconds = Vec::new();
    while seconds.len() < FRAMES.0 || (start.elapsed() < budget && seconds.len() < FRAMES.1) {
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
