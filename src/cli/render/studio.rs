//! Draws a subject at any time: the GPU engine, a renderer, and the scene between them.

use posse::error::Error;
use posse::gpu::crowd::GpuCrowd;
use posse::gpu::headless::{AdapterKind, HeadlessGpu};
use posse::gpu::library::GpuLibrary;
use posse::model::ticks::Ticks;
use posse::pack::library::Packing;
use posse::render::canvas::{Canvas, Target};
use posse::render::draw::Renderer;
use posse::render::picture::Picture;
use posse::render::scene::{PoseBuffers, Scene, outputs};
use posse::render::view::View;

use crate::cli::output::note;
use crate::cli::render::subject::Subject;

/// A device with all that is needed to draw a subject.
pub struct Studio {
    gpu: HeadlessGpu,
    crowd: GpuCrowd,
    renderer: Renderer,
    canvas: Canvas,
    scene: Scene,
}

impl Studio {
    /// Uploads a subject, for pictures of a size; bones only where they are wanted. Says which adapter draws.
    pub fn new(subject: &Subject, size: [u32; 2], bones: bool) -> Result<Self, Error> {
        let gpu = HeadlessGpu::new(AdapterKind::Any)?;
        note(&format!("engine: gpu ({})", gpu.name()));
        let target = Target::default();
        let canvas = Canvas::new(&gpu.device, target, size)?;
        let library = GpuLibrary::new(&gpu.device, Packing::new(&subject.library)?)?;
        let crowd = GpuCrowd::new(&gpu.device, &library, &subject.crowd, outputs(&subject.figures, bones))?;
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let scene = Scene::new(
            &renderer,
            (&gpu.device, &gpu.queue),
            &subject.library,
            &subject.figures,
            crowd.chunks().iter().map(PoseBuffers::from),
            &subject.places,
        )?;
        Ok(Self { gpu, crowd, renderer, canvas, scene })
    }

    /// How many times as wide as high its pictures are.
    pub fn aspect(&self) -> f32 {
        self.canvas.aspect()
    }

    /// A picture at a time of the crowd's clock.
    pub fn picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let HeadlessGpu { device, queue, .. } = &self.gpu;
        let mut encoder = device.create_command_encoder(&Default::default());
        self.crowd.encode(device, &mut encoder, now);
        Picture::draw(&self.renderer, (device, queue), encoder, &self.canvas, &self.scene, view)
    }
}
