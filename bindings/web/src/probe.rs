//! Poses of single instances of a crowd on the GPU, apart from the poses of its frames.

use std::rc::Rc;

use posse::gpu::{GpuCrowd, GpuEngine};
use posse::low_level::device::create_encoder;
use posse::{Crowd, CrowdOptions, Error, Outputs, Ticks, wgpu};

use crate::js::fits;

/// A small crowd on the GPU for the instances of a call. It stays for the next call, whose instances take their places:
/// if these are as many, and of the same skeletons, nothing is created on the device but the copy that is read.
pub struct Probe {
    gpu_crowd: GpuCrowd,
    outputs: Outputs,
}

impl Probe {
    /// A probe that has these instances, with at least this capacity: the known one if they fit, or a new one.
    pub async fn of(
        known: Option<Rc<Self>>,
        engine: &GpuEngine,
        crowd: &Crowd,
        outputs: Outputs,
        capacity: CrowdOptions,
    ) -> Result<Rc<Self>, Error> {
        if let Some(known) = known.filter(|known| known.outputs == outputs)
            && fits(known.gpu_crowd.set_layers(engine.library(), crowd))?
        {
            return Ok(known);
        }
        let capacity = CrowdOptions { visible: false, ..capacity };
        let gpu_crowd = GpuCrowd::with_options_async(engine.library(), crowd, outputs, capacity).await?;
        Ok(Rc::new(Self { gpu_crowd, outputs }))
    }

    /// Gives the probe these instances again, which another call may have replaced, and records their poses. The caller
    /// submits the commands before it waits for anything.
    pub fn encode(&self, engine: &GpuEngine, crowd: &Crowd, now: Ticks) -> Result<wgpu::CommandEncoder, Error> {
        // They fit.
        self.gpu_crowd.set_layers(engine.library(), crowd)?;
        let count = self.gpu_crowd.parameter_count();
        if count > 0 {
            let values = |instance| crowd.parameter_values(instance, now).0.into_iter().take(count);
            let values: Vec<f32> = (0..crowd.len()).flat_map(values).collect();
            self.gpu_crowd.set_all_parameters(&values)?;
        }
        let mut encoder = create_encoder(&engine.gpu().device)?;
        self.gpu_crowd.encode(&mut encoder, now);
        Ok(encoder)
    }

    /// The crowd, with the instances of the last call of `encode`.
    pub fn gpu_crowd(&self) -> &GpuCrowd {
        &self.gpu_crowd
    }
}

impl Drop for Probe {
    /// Frees the memory of the poses at once, after the work that is submitted.
    fn drop(&mut self) {
        self.gpu_crowd.destroy();
    }
}
