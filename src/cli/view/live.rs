//! A crowd that plays on a device, and the scene it is drawn in.

use posse::render::{PoseBuffers, Renderer, Scene, needed_outputs};
use posse::{Error, GpuContext, GpuCrowd, GpuLibrary, Outputs, PackedLibrary};

use crate::cli::subject::Subject;

/// A subject on a device.
pub struct Live {
    library: GpuLibrary,
    outputs: Outputs,
    pub crowd: GpuCrowd,
    pub scene: Scene,
}

impl Live {
    /// Uploads a subject, with what its bones are drawn from where they are wanted.
    pub fn new(gpu: &GpuContext, renderer: &Renderer, subject: &Subject, bones: bool) -> Result<Self, Error> {
        let library = GpuLibrary::new(&gpu.device, PackedLibrary::new(&subject.library)?)?;
        let outputs = needed_outputs(&subject.figures, bones);
        let (crowd, scene) = upload(gpu, renderer, &library, subject, outputs)?;
        Ok(Self { library, outputs, crowd, scene })
    }

    /// Uploads what was chosen since: layers only, where nobody stands elsewhere or looks different. Where that fails, all is
    /// as before.
    pub fn update(
        &mut self,
        gpu: &GpuContext,
        renderer: &Renderer,
        subject: &Subject,
        layers_only: bool,
    ) -> Result<(), Error> {
        let layers_set = || self.crowd.set_layers(&gpu.queue, &self.library, &subject.crowd);
        if !(layers_only && layers_set()?.is_replaced()) {
            (self.crowd, self.scene) = upload(gpu, renderer, &self.library, subject, self.outputs)?;
        }
        Ok(())
    }
}

fn upload(
    gpu: &GpuContext,
    renderer: &Renderer,
    library: &GpuLibrary,
    subject: &Subject,
    outputs: Outputs,
) -> Result<(GpuCrowd, Scene), Error> {
    let crowd = GpuCrowd::new(&gpu.device, library, &subject.crowd, outputs)?;
    let poses = crowd.batches().iter().map(PoseBuffers::from);
    let scene = Scene::new(renderer, &subject.library, &subject.figures, poses, &subject.placements)?;
    Ok((crowd, scene))
}
