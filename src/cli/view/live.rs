//! A crowd that plays on a device, and the scene it is drawn in.

use posse::error::Error;
use posse::gpu::crowd::GpuCrowd;
use posse::gpu::headless::HeadlessGpu;
use posse::gpu::library::GpuLibrary;
use posse::model::outputs::Outputs;
use posse::pack::library::Packing;
use posse::render::draw::Renderer;
use posse::render::scene::{PoseBuffers, Scene, outputs};

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
    pub fn new(gpu: &HeadlessGpu, renderer: &Renderer, subject: &Subject, bones: bool) -> Result<Self, Error> {
        let library = GpuLibrary::new(&gpu.device, Packing::new(&subject.library)?)?;
        let outputs = outputs(&subject.figures, bones);
        let (crowd, scene) = upload(gpu, renderer, &library, subject, outputs)?;
        Ok(Self { library, outputs, crowd, scene })
    }

    /// Uploads what was chosen since: layers only, where nobody stands elsewhere or looks different. Where that fails, all is
    /// as before.
    pub fn update(
        &mut self,
        gpu: &HeadlessGpu,
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
    gpu: &HeadlessGpu,
    renderer: &Renderer,
    library: &GpuLibrary,
    subject: &Subject,
    outputs: Outputs,
) -> Result<(GpuCrowd, Scene), Error> {
    let crowd = GpuCrowd::new(&gpu.device, library, &subject.crowd, outputs)?;
    let poses = crowd.chunks().iter().map(PoseBuffers::from);
    let device = (&gpu.device, &gpu.queue);
    let scene = Scene::new(renderer, device, &subject.library, &subject.figures, poses, &subject.places)?;
    Ok((crowd, scene))
}
