//! The GPU engine of posse: recording, submission and waiting, without reading back.

use posse::gpu::{GpuContext, GpuCrowd, GpuEngine};
use posse::{Error, Outputs, Pose, Ticks};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// The GPU engine of posse.
pub struct Gpu {
    engine: GpuEngine,
    crowd: GpuCrowd,
    outputs: Outputs,
    instances: usize,
    now: Ticks,
}

impl Gpu {
    /// The name in the table.
    pub const NAME: &str = "posse gpu";

    /// The engine for a number of instances, on this device.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn new(scene: &Scene, workload: Workload, instances: usize, gpu: GpuContext) -> Result<Self, Error> {
        let engine = GpuEngine::new(gpu, &scene.library)?;
        let outputs = workload.outputs();
        let crowd = scene.crowd(workload, 0..instances)?;
        let crowd = GpuCrowd::new(engine.library(), &crowd, outputs)?;
        Ok(Self { engine, crowd, outputs, instances, now: Ticks(0) })
    }
}

impl Contender for Gpu {
    fn name(&self) -> String {
        Self::NAME.into()
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn bound(&self) -> f64 {
        5e-6
    }

    fn frame(&mut self) -> Result<(), Error> {
        let (device, queue) = (&self.engine.gpu().device, &self.engine.gpu().queue);
        self.now.0 += FRAME.0;
        let mut encoder = device.create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder, self.now);
        queue.submit([encoder.finish()]);
        self.engine.wait()
    }

    fn pose(&self, instance: usize) -> Result<Pose, Error> {
        self.engine.read_instance(&self.crowd, instance, self.outputs)
    }
}
