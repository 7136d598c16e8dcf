//! A crowd on a device, and its scene.

use posse::{Error, GpuContext, GpuLibrary, Outputs, PackedLibrary, Ticks};
use posse_render::{PoseBuffers, Renderer, Scene, needed_outputs};

use crate::drawn_crowd::DrawnCrowd;
use crate::drawn_crowd::clocked_crowd::ClockedCrowd;

/// A drawn crowd on a device.
pub struct GpuScene {
    library: GpuLibrary,
    outputs: Outputs,
    crowd: ClockedCrowd,
    pub scene: Scene,
}

impl GpuScene {
    /// Uploads a drawn crowd. With `bones`, the outputs include the data that bones are drawn from.
    pub fn new(gpu: &GpuContext, renderer: &Renderer, drawn: &DrawnCrowd, bones: bool) -> Result<Self, Error> {
        let library = GpuLibrary::new(gpu, PackedLibrary::new(&drawn.library)?)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let (crowd, scene) = upload(renderer, &library, drawn, outputs)?;
        Ok(Self { library, outputs, crowd, scene })
    }

    /// Uploads the changes of a drawn crowd. `layers_only` tells that positions and figures are unchanged: then only layers are
    /// uploaded, if the device's crowd has room for them. After an error, everything is as before.
    pub fn update(&mut self, renderer: &Renderer, drawn: &DrawnCrowd, layers_only: bool) -> Result<(), Error> {
        let Self { library, crowd, .. } = self;
        if !(layers_only && crowd.set_layers(library, &drawn.crowd)?.is_replaced()) {
            (self.crowd, self.scene) = upload(renderer, &self.library, drawn, self.outputs)?;
        }
        Ok(())
    }

    /// Records the poses of the drawn crowd at a time of the crowd clock, with its parameters at that time.
    pub fn encode(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        drawn: &DrawnCrowd,
        now: Ticks,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) -> Result<(), Error> {
        self.crowd.set_time(&self.library, &drawn.crowd, now)?;
        self.crowd.on_gpu.encode_timed(encoder, now, timestamp_writes);
        Ok(())
    }
}

fn upload(
    renderer: &Renderer,
    library: &GpuLibrary,
    drawn: &DrawnCrowd,
    outputs: Outputs,
) -> Result<(ClockedCrowd, Scene), Error> {
    let crowd = ClockedCrowd::new(library, &drawn.crowd, outputs)?;
    let poses = crowd.on_gpu.batches().iter().map(PoseBuffers::from);
    let scene = Scene::new(renderer, &drawn.library, &drawn.figures, poses, &drawn.placements)?;
    Ok((crowd, scene))
}
