//! The measurement of one crowd.

use posse::gpu::{GpuCrowd, GpuEngine};
use posse::low_level::Stopwatch;
use posse::{Crowd, Error, Evaluator, Library, Outputs, Poses, Reference, Ticks, contract, demo};

use crate::check::worst_share;
use crate::run::{CrowdCase, FrameTimes};
use crate::steps::milliseconds;

/// The instances that are compared with the reference.
const CHECKED: usize = 16;
/// The fewest times of each clock.
const FEWEST: usize = 5;
/// Milliseconds that a batch of frames should take: the clock of a browser is coarse.
const BATCH: f64 = 20.0;
/// The most frames of a batch.
const MAX_FRAMES: usize = 256;
/// A frame of the crowd clock, in ticks.
const FRAME: i64 = Ticks::PER_SECOND / 60;
/// A time that is no round number, so that no layer starts or ends there by accident.
const START: Ticks = Ticks(1_234_567);

/// A crowd that is being measured.
pub struct MeasuredSize {
    crowd: GpuCrowd,
    stopwatch: Option<Stopwatch>,
    instances: usize,
    joints: usize,
    worst: f64,
    /// Milliseconds per frame by the clock of the browser, of each batch of frames.
    wall: Vec<f64>,
    /// Milliseconds by the clock of the GPU, of each frame.
    gpu: Vec<f64>,
    frames_per_batch: usize,
    spent: f64,
    now: Ticks,
}

/// The time spent on a size.
pub struct Spent {
    /// Seconds; 0 until there are enough times.
    pub seconds: f64,
}

impl MeasuredSize {
    /// Makes the crowd, poses it, and compares a sample of its poses with the reference.
    pub async fn new(engine: &GpuEngine, library: &Library, instances: usize) -> Result<Self, Error> {
        let model = demo::crowd(library, instances)?;
        let crowd = GpuCrowd::new_async(engine.library(), &model, Outputs::SKIN).await?;
        let joints = |instance| library.skeleton(model.skeleton(instance)).joints().len();
        let joints = (0..instances).map(joints).sum();
        let mut size = Self {
            crowd,
            stopwatch: Stopwatch::new(engine.gpu()),
            instances,
            joints,
            worst: 0.0,
            wall: Vec::new(),
            gpu: Vec::new(),
            frames_per_batch: 1,
            spent: 0.0,
            now: START,
        };
        size.submit(engine, 1);
        size.worst = size.check(engine, library, &model).await?;
        Ok(size)
    }

    /// The worst share of its bound over a sample of the poses, spread evenly over the crowd.
    async fn check(&self, engine: &GpuEngine, library: &Library, model: &Crowd) -> Result<f64, Error> {
        let count = self.instances.min(CHECKED);
        let (mut sample, mut poses) = (Crowd::new(), Vec::with_capacity(count));
        for index in 0..count {
            let instance = index * (self.instances - 1) / (count - 1).max(1);
            sample.push(model.skeleton(instance), model.layers(instance))?;
            poses.push(engine.read_instance_async(&self.crowd, instance, Outputs::SKIN).await?);
        }
        let expected = Reference::new(library).evaluate(&sample, self.now, Outputs::SKIN)?;
        let report = contract::compare(library, &sample, self.now, &expected, &Poses { instances: poses });
        Ok(worst_share(&report))
    }

    fn submit(&mut self, engine: &GpuEngine, frames: usize) {
        let gpu = engine.gpu();
        for _ in 0..frames {
            self.now.0 += FRAME;
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            self.crowd.encode(&mut encoder, self.now);
            gpu.queue.submit([encoder.finish()]);
        }
    }

    /// Times a batch of frames by the clock of the browser, and a frame by the clock of the GPU.
    pub async fn time(&mut self, engine: &GpuEngine) -> Result<Spent, Error> {
        let frames = self.frames_per_batch;
        let began = milliseconds();
        self.submit(engine, frames);
        engine.wait_async().await?;
        let taken = milliseconds() - began;
        if taken < BATCH && frames < MAX_FRAMES {
            // The batch is too short for the clock: it only warms up.
            self.frames_per_batch = 2 * frames;
        } else {
            self.wall.push(taken / frames as f64);
        }
        self.now.0 += FRAME;
        if let Some(stopwatch) = &self.stopwatch {
            let mut encoder = engine.gpu().device.create_command_encoder(&Default::default());
            self.crowd.encode_timed(&mut encoder, self.now, Some(stopwatch.writes()));
            self.gpu.push(1e3 * stopwatch.submit_async(engine.gpu(), encoder).await?);
        }
        self.spent += milliseconds() - began;
        let is_enough = self.wall.len() >= FEWEST;
        Ok(Spent { seconds: if is_enough { 1e-3 * self.spent } else { 0.0 } })
    }

    /// The result.
    pub fn case(&mut self) -> CrowdCase {
        let batches = self.crowd.batches();
        let bytes = batches.iter().map(|batch| batch.layout().bytes() * batch.instances().len() as u64).sum();
        // Clocks that a browser has made coarse can report that a pass takes no time.
        let gpu = FrameTimes::new(&mut self.gpu).filter(|times| times.median > 0.0);
        let (instances, joints, worst) = (self.instances, self.joints, self.worst);
        let wall = FrameTimes::new(&mut self.wall).unwrap_or_default();
        CrowdCase { instances, joints, wall, gpu, bytes, worst }
    }
}

impl Drop for MeasuredSize {
    /// Frees the memory of the poses at once, for the next, larger size.
    fn drop(&mut self) {
        self.crowd.destroy();
    }
}
