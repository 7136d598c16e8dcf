//! A crowd on a device, and its scene.

use posse::render::{PoseBuffers, Renderer, Scene, needed_outputs};
use posse::{Error, GpuContext, GpuCrowd, GpuLibrary, Outputs, PackedLibrary};

use crate::cli::drawn_crowd::DrawnCrowd;

/// A drawn crowd on a device.
pub struct GpuScene {
    library: GpuLibrary,
    outputs: Outputs,
    pub crowd: GpuCrowd,
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
        let set_layers = || self.crowd.set_layers(&self.library, &drawn.crowd);
        if !(layers_only && set_layers()?.is_replaced()) {
            (self.crowd, self.scene) = upload(renderer, &self.library, drawn, self.outputs)?;
        }
        Ok(())
    }
}

fn upload(
    renderer: &Renderer,
    library: &GpuLibrary,
    drawn: &DrawnCrowd,
    outputs: Outputs,
) -> Result<(GpuCrowd, Scene), Error> {
    let crowd = GpuCrowd::new(library, &drawn.crowd, outputs)?;
    let poses = crowd.batches().iter().map(PoseBuffers::from);
    let scene = Scene::new(renderer, &drawn.library, &drawn.figures, poses, &drawn.placements)?;
    Ok((crowd, scene))
}
