//! The characters on the GPU.

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
use posse::{Crowd, CrowdOptions, Library, Outputs, Step, Ticks};

use super::RATE;
use super::gaits::Gaits;
use super::layers::{self, Layers};
use super::output::Outcome;
use super::steering::Steering;
use super::stops;

/// The crowd, and the kernels that steer and pose it.
pub struct SteeredCrowd {
    /// The device.
    pub gpu: GpuContext,
    /// Skeleton, clips and blend space.
    pub library: Library,
    /// The layers of characters that move or stand.
    pub layers: Layers,
    /// The crowd on the host, which transitions are computed from.
    pub crowd: Crowd,
    /// The library on the device.
    pub gpu_library: GpuLibrary,
    /// The crowd on the device.
    pub gpu_crowd: GpuCrowd,
    /// The kernels that write its parameters.
    pub steering: Steering,
    /// The number of characters that stand.
    pub standing: usize,
}

impl SteeredCrowd {
    /// A crowd of characters that move.
    pub fn new(library: Library, gaits: &Gaits, layers: Layers, instances: usize) -> Outcome<Self> {
        let mut crowd = Crowd::new();
        for _ in 0..instances {
            crowd.push(gaits.skeleton, &layers.moving)?;
        }
        let gpu = GpuContext::new(AdapterKind::Any)?;
        let gpu_library = GpuLibrary::new(&gpu, &library)?;
        let transitions = stops::transitions(instances);
        let options = CrowdOptions { parameters: layers::PARAMETERS, transitions, ..CrowdOptions::NONE };
        let gpu_crowd = GpuCrowd::with_options(&gpu_library, &crowd, Outputs::SKIN, options)?;
        let steering = Steering::new(&gpu.device, &gpu_crowd, instances)?;
        Ok(Self { gpu, library, layers, crowd, gpu_library, gpu_crowd, steering, standing: 0 })
    }

    /// Plays a frame. The kernel that poses reads the parameters that the one before it wrote.
    pub fn play(&mut self, frame: usize) -> Outcome<()> {
        let [from, to] = [frame, frame + 1].map(|frame| Ticks(frame as i64 * Ticks::PER_SECOND / RATE));
        self.change_stops(frame, from)?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.steering.encode(&mut encoder);
        self.gpu_crowd.encode(&mut encoder, Step { from, to });
        self.gpu.queue.submit([encoder.finish()]);
        Ok(())
    }
}
