//! Draws a crowd at any time: the GPU engine, the renderer and their scene.

use std::cell::RefCell;

use posse::{AdapterKind, Error, Evaluator, GpuContext, GpuLibrary, Outputs, PackedLibrary, Reference, Ticks};
use posse_render::{Canvas, Picture, PoseBuffers, Renderer, Scene, Target, UploadedPoses, View, needed_outputs};

use crate::drawn_crowd::DrawnCrowd;
use crate::drawn_crowd::clocked_crowd::ClockedCrowd;
use crate::engine::AdapterArgs;
use crate::output::note;

/// The number of pictures in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub columns: u32,
    pub rows: u32,
}

impl Grid {
    /// One picture.
    pub const SINGLE: Self = Self { columns: 1, rows: 1 };
    /// The pictures of a comparison.
    pub const COMPARISON: Self = Self { columns: 3, rows: 1 };

    /// An empty picture with room for the grid. `cell` is the size of one picture.
    pub fn canvas(self, cell: [u32; 2]) -> Picture {
        Picture::filled([self.columns * cell[0], self.rows * cell[1]], [0; 4])
    }
}

/// A drawn crowd on a device, and the canvas of its pictures.
pub struct FrameRenderer<'a> {
    drawn: &'a DrawnCrowd,
    gpu: GpuContext,
    library: GpuLibrary,
    outputs: Outputs,
    crowd: RefCell<ClockedCrowd>,
    renderer: Renderer,
    canvas: Canvas,
    scene: Scene,
}

impl<'a> FrameRenderer<'a> {
    /// Uploads a crowd and prints the adapter.
    ///
    /// `file_size` is the size in pixels of a file that holds a grid of pictures. `bones` tells if bones are drawn.
    pub fn new(
        drawn: &'a DrawnCrowd,
        file_size: [u32; 2],
        grid: Grid,
        bones: bool,
        adapter: &AdapterArgs,
    ) -> Result<Self, Error> {
        let gpu = adapter.open(AdapterKind::Any).map_err(explain_missing_adapter)?;
        note(&format!("engine: gpu ({})", gpu.name()));
        Canvas::check_size(&gpu.device, file_size)?;
        let target = Target::default();
        let canvas = Canvas::new(&gpu.device, target, [file_size[0] / grid.columns, file_size[1] / grid.rows])?;
        let library = GpuLibrary::new(&gpu, PackedLibrary::new(&drawn.library)?)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let crowd = ClockedCrowd::new(&library, &drawn.crowd, outputs)?;
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let poses: Vec<PoseBuffers> = crowd.on_gpu.batches().iter().map(PoseBuffers::from).collect();
        let scene = create_scene(&renderer, drawn, &poses)?;
        let crowd = RefCell::new(crowd);
        Ok(Self { drawn, gpu, library, outputs, crowd, renderer, canvas, scene })
    }

    /// The width and the height of a picture in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.canvas.size
    }

    /// The aspect ratio of a picture: width divided by height.
    pub fn aspect(&self) -> f32 {
        self.canvas.aspect()
    }

    /// Draws the poses of the GPU engine at a time of the crowd clock.
    pub fn picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let device = &self.gpu.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut crowd = self.crowd.borrow_mut();
        crowd.set_time(&self.library, &self.drawn.crowd, now)?;
        crowd.on_gpu.encode(&mut encoder, now);
        Picture::draw(&self.renderer, encoder, &self.canvas, &self.scene, view)
    }

    /// Draws the poses of the reference engine at a time of the crowd clock.
    pub fn reference_picture(&self, now: Ticks, view: &View) -> Result<Picture, Error> {
        let poses = Reference::new(&self.drawn.library).evaluate(&self.drawn.crowd, now, self.outputs)?;
        let crowd = self.crowd.borrow();
        let uploaded = crowd
            .on_gpu
            .batches()
            .iter()
            .map(|batch| UploadedPoses::new(&self.gpu, batch.into(), &poses))
            .collect::<Result<Vec<_>, Error>>()?;
        let buffers: Vec<PoseBuffers> = uploaded.iter().map(UploadedPoses::buffers).collect();
        let scene = create_scene(&self.renderer, self.drawn, &buffers)?;
        let encoder = self.gpu.device.create_command_encoder(&Default::default());
        Picture::draw(&self.renderer, encoder, &self.canvas, &scene, view)
    }
}

/// Replaces the error for a missing adapter, which suggests another engine, by one that names the package to install. Only the
/// GPU can draw.
fn explain_missing_adapter(error: Error) -> Error {
    match error {
        Error::NoAdapter { wanted } => Error::Usage(format!(
            "no GPU adapter{wanted}, and pictures need one. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
             software driver (Debian and Ubuntu: apt-get install mesa-vulkan-drivers)"
        )),
        other => other,
    }
}

fn create_scene(renderer: &Renderer, drawn: &DrawnCrowd, poses: &[PoseBuffers]) -> Result<Scene, Error> {
    let DrawnCrowd { library, figures, placements, .. } = drawn;
    Scene::new(renderer, library, figures, poses.iter().copied(), placements)
}
