//! Draws a drawn at any time: the GPU engine, a renderer, and the scene between them.

use posse::render::{Canvas, Picture, PoseBuffers, Renderer, Scene, Target, UploadedPoses, View, needed_outputs};
use posse::{
    AdapterKind, Error, Evaluator, GpuContext, GpuCrowd, GpuLibrary, Outputs, PackedLibrary, Reference, Ticks,
};

use crate::cli::drawn_crowd::DrawnCrowd;
use crate::cli::output::note;

/// A device with all that is needed to draw a drawn.
pub struct FrameRenderer<'a> {
    drawn: &'a DrawnCrowd,
    gpu: GpuContext,
    outputs: Outputs,
    crowd: GpuCrowd,
    renderer: Renderer,
    canvas: Canvas,
    scene: Scene,
}

impl<'a> FrameRenderer<'a> {
    /// Uploads a drawn, for pictures of a size of which a file has so many beside and below each other; bones only where
    /// they are wanted. Says which adapter draws.
    pub fn new(drawn: &'a DrawnCrowd, size: [u32; 2], [columns, rows]: [u32; 2], bones: bool) -> Result<Self, Error> {
        let gpu = GpuContext::new(AdapterKind::Any).map_err(without_adapter)?;
        note(&format!("engine: gpu ({})", gpu.name()));
        Canvas::check_size(&gpu.device, size)?;
        let target = Target::default();
        let canvas = Canvas::new(&gpu.device, target, [size[0] / columns, size[1] / rows])?;
        let library = GpuLibrary::new(&gpu.device, PackedLibrary::new(&drawn.library)?)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let crowd = GpuCrowd::new(&gpu.device, &library, &drawn.crowd, outputs)?;
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let poses: Vec<PoseBuffers> = crowd.batches().iter().map(PoseBuffers::from).collect();
        let scene = scene(&renderer, drawn, &poses)?;
        Ok(Self { drawn, gpu, outputs, crowd, renderer, canvas, scene })
    }

    /// Pixels of a picture.
    pub fn size(&self) -> [u32; 2] {
        self.canvas.size
    }

    /// How many times as wide as high its pictures are.
    pub fn aspect(&self) -> f32 {
        self.canvas.aspect()
    }

    /// A picture at a time of the crowd's clock.
    pub fn picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let device = &self.gpu.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        self.crowd.encode(device, &mut encoder, now);
        Picture::draw(&self.renderer, encoder, &self.canvas, &self.scene, view)
    }

    /// The same picture of the reference's poses.
    pub fn reference_picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let device = &self.gpu.device;
        let poses = Reference::new(&self.drawn.library).evaluate(&self.drawn.crowd, now, self.outputs)?;
        let batches = self.crowd.batches().iter();
        let uploaded =
            batches.map(|batch| UploadedPoses::new(device, batch.into(), &poses)).collect::<Result<Vec<_>, Error>>()?;
        let buffers: Vec<PoseBuffers> = uploaded.iter().map(UploadedPoses::buffers).collect();
        let scene = scene(&self.renderer, self.drawn, &buffers)?;
        let encoder = device.create_command_encoder(&Default::default());
        Picture::draw(&self.renderer, encoder, &self.canvas, &scene, view)
    }
}

/// What to install, where the other commands would name another engine.
fn without_adapter(error: Error) -> Error {
    match error {
        Error::NoAdapter { wanted } => Error::Usage(format!(
            "no GPU adapter{wanted}, and pictures need one. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
             software one (Debian and Ubuntu: apt-get install mesa-vulkan-drivers)"
        )),
        other => other,
    }
}

fn scene(renderer: &Renderer, drawn: &DrawnCrowd, poses: &[PoseBuffers]) -> Result<Scene, Error> {
    let DrawnCrowd { library, figures, placements, .. } = drawn;
    Scene::new(renderer, library, figures, poses.iter().copied(), placements)
}
