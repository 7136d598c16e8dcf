//! A crowd that plays on a device, and the scene it is drawn in.

use posse::render::{PoseBuffers, Renderer, Scene, needed_outputs};
use posse::{Error, GpuContext, GpuCrowd, GpuLibrary, Outputs, PackedLibrary};

use crate::cli::drawn_crowd::DrawnCrowd;

/// A drawn on a device.
pub struct GpuScene {
    library: GpuLibrary,
    outputs: Outputs,
    pub crowd: GpuCrowd,
    pub scene: Scene,
}

impl GpuScene {
    /// Uploads a drawn, with what its bones are drawn from where they are wanted.
    pub fn new(gpu: &GpuContext, renderer: &Renderer, drawn: &DrawnCrowd, bones: bool) -> Result<Self, Error> {
        let library = GpuLibrary::new(&gpu.device, PackedLibrary::new(&drawn.library)?)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let (crowd, scene) = upload(gpu, renderer, &library, drawn, outputs)?;
        Ok(Self { library, outputs, crowd, scene })
    }

    /// Uploads what was chosen since: layers only, where nobody stands elsewhere or looks different. Where that fails, all is
    /// as before.
    pub fn update(
        &mut self,
        gpu: &GpuContext,
        renderer: &Renderer,
        drawn: &DrawnCrowd,
        layers_only: bool,
    ) -> Result<(), Error> {
        let layers_set = || self.crowd.set_layers(&gpu.queue, &self.library, &drawn.crowd);
        if !(layers_only && layers_set()?.is_replaced()) {
            (self.crowd, self.scene) = upload(gpu, renderer, &self.library, drawn, self.outputs)?;
        }
        Ok(())
    }
}

fn upload(
    gpu: &GpuContext,
    renderer: &Renderer,
    library: &GpuLibrary,
    drawn: &DrawnCrowd,
    outputs: Outputs,
) -> Result<(GpuCrowd, Scene), Error> {
    let crowd = GpuCrowd::new(&gpu.device, library, &drawn.crowd, outputs)?;
    let poses = crowd.batches().iter().map(PoseBuffers::from);
    let scene = Scene::new(renderer, &drawn.library, &drawn.figures, poses, &drawn.placements)?;
    Ok((crowd, scene))
}
