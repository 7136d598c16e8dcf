//! Pictures of the crowd where its characters are.

use posse::glam::{Affine3A, Quat, Vec3};
use posse_render::demo;
use posse_render::{
    Bones, Bounds, Camera, Canvas, Figure, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target, View,
};

use super::output::Outcome;
use super::steered_crowd::SteeredCrowd;
use super::steering::Walker;

/// The distance of the farthest ground in the shadows from the middle, in metres.
const SHOWN: f32 = 36.0;

/// The renderer of the pictures.
pub struct Drawing {
    renderer: Renderer,
    canvas: Canvas,
    figures: [Figure; 1],
    view: View,
}

impl Drawing {
    /// Pictures of a size in pixels.
    pub fn new(steered: &SteeredCrowd, size: [u32; 2]) -> Outcome<Self> {
        let SteeredCrowd { gpu, library, gpu_crowd, .. } = steered;
        let target = Target::default();
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
        let canvas = Canvas::new(&gpu.device, target, size)?;
        let skeleton = gpu_crowd.batches().first().ok_or("the crowd is empty")?.skeleton();
        let figures = [demo::figure(library, skeleton, 0.03)?];
        let bounds = Bounds { low: Vec3::new(-SHOWN, 0.0, -SHOWN), high: Vec3::new(SHOWN, 1.8, SHOWN) };
        let target = Vec3::new(0.0, 1.5, 0.0);
        let camera = Camera { target, azimuth: 0.6, elevation: 0.165, distance: 28.0, field_of_view: 0.31 };
        let view = View { camera, stage: Stage::new(bounds, 1.8), bones: Bones::Hidden };
        Ok(Self { renderer, canvas, figures, view })
    }

    /// Draws the poses that the buffers of the crowd hold.
    pub fn picture(&self, steered: &SteeredCrowd) -> Outcome<Picture> {
        let walkers = steered.steering.read_walkers(&steered.gpu)?;
        let placement = |(instance, walker): (usize, &Walker)| {
            let [x, z, heading, ..] = *walker;
            let transform = Affine3A::from_rotation_translation(Quat::from_rotation_y(heading), Vec3::new(x, 0.0, z));
            Placement { transform, dyes: demo::dyes(instance) }
        };
        let placements: Vec<Placement> = walkers.iter().enumerate().map(placement).collect();
        let poses = steered.gpu_crowd.batches().iter().map(PoseBuffers::from);
        let scene = Scene::new(&self.renderer, &steered.library, &self.figures, poses, &placements)?;
        let encoder = steered.gpu.device.create_command_encoder(&Default::default());
        Ok(Picture::draw(&self.renderer, encoder, &self.canvas, &scene, &self.view)?)
    }
}
