//! Small scenes, and their pictures and vertices.

use glam::{Affine3A, Quat, Vec3};

use posse::gpu::{GpuContext, GpuCrowd};
use posse::packed::PackedLibrary;
use posse::{Crowd, Error, Layer, LayerTime, Library, SkeletonId, SkinFormat, Ticks, demo};
use posse_render::probe::vertex_positions;
use posse_render::{
    Bones, Bounds, Camera, Canvas, Figure, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target, View,
    crowd_bounds, needed_outputs,
};

use crate::support::gpu_library::gpu;
use crate::support::gpu_library::gpu_library;

/// Instances with their placements, and the drawing of bones.
pub struct Shot {
    pub library: Library,
    pub figures: Vec<Figure>,
    pub crowd: Crowd,
    pub placements: Vec<Placement>,
    pub bones: Bones,
}

impl Shot {
    /// One instance of a figure, in the first clip of its skeleton at a time; without a clip, in the rest pose.
    pub fn alone(library: Library, figure: Figure, time: f64) -> Self {
        let mut crowd = Crowd::new();
        let clip = library.clip_ids().find(|&clip| library.clip(clip).skeleton == figure.skeleton);
        let layer = clip.map(|clip| Layer::new(clip, LayerTime::At(time)));
        crowd.push(figure.skeleton, layer.as_slice()).unwrap();
        Self { library, figures: vec![figure], crowd, placements: vec![Placement::default()], bones: Bones::Hidden }
    }

    /// Instances of the built-in rig in a row, each in another clip, at these times of their clips.
    pub fn people(times: &[f64]) -> Self {
        let library = demo::library().unwrap();
        let skeleton: SkeletonId = library.skeleton_ids().next().unwrap();
        let figure = posse_render::demo::figure(&library, skeleton, 0.05).unwrap();
        let clips: Vec<_> = library.clip_ids().collect();
        let (mut crowd, mut placements) = (Crowd::new(), Vec::new());
        for (instance, &time) in times.iter().enumerate() {
            let layer = Layer::new(clips[instance % clips.len()], LayerTime::At(time));
            crowd.push(skeleton, &[layer]).unwrap();
            let turn = Quat::from_rotation_y(0.3 * instance as f32);
            let transform = Affine3A::from_rotation_translation(turn, Vec3::new(1.3 * instance as f32, 0.0, 0.0));
            placements.push(Placement { transform, dyes: posse_render::demo::dyes(instance) });
        }
        Self { library, figures: vec![figure], crowd, placements, bones: Bones::Hidden }
    }

    fn scene(&self, gpu: &GpuContext, renderer: &Renderer, with: impl FnOnce(&Scene, wgpu::CommandEncoder)) {
        let library = gpu_library(PackedLibrary::new(&self.library).unwrap()).unwrap();
        let outputs = needed_outputs(&self.figures, self.bones != Bones::Hidden);
        let crowd = GpuCrowd::new(&library, &self.crowd, outputs).unwrap();
        let poses = crowd.batches().iter().map(PoseBuffers::from);
        let scene = Scene::new(renderer, &self.library, &self.figures, poses, &self.placements).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        crowd.encode(&mut encoder, Ticks(0));
        with(&scene, encoder);
    }

    /// The positions of vertices from the vertex shader: one list per part, instance after instance.
    pub fn positions(&self) -> Vec<Vec<[f32; 3]>> {
        let gpu = gpu();
        let renderer = Renderer::new(&gpu.device, &gpu.queue, Target::default()).unwrap();
        let mut positions = Vec::new();
        self.scene(&gpu, &renderer, |scene, encoder| {
            gpu.queue.submit([encoder.finish()]);
            positions = vertex_positions(&renderer, scene).unwrap();
        });
        positions
    }

    /// A picture of 160 x 120 pixels that shows all instances at time 0.
    pub fn picture(&self) -> Picture {
        self.picture_for(Target::default())
    }

    /// As `picture`, for a target.
    pub fn picture_for(&self, target: Target) -> Picture {
        let gpu = gpu();
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target).unwrap();
        let canvas = Canvas::new(&gpu.device, target, [160, 120]).unwrap();
        let view = self.view(canvas.aspect());
        let mut picture = None;
        self.scene(&gpu, &renderer, |scene, encoder| {
            picture = Some(Picture::draw(&renderer, encoder, &canvas, scene, &view).unwrap());
        });
        picture.unwrap()
    }

    fn view(&self, aspect: f32) -> View {
        let bounds = crowd_bounds(&self.library, &self.figures, &self.crowd, &[Ticks(0)]).unwrap()[0];
        let mut all = Bounds::EMPTY;
        let corners =
            |placement: &Placement| bounds.corners().map(|corner| placement.transform.transform_point3(corner));
        self.placements.iter().flat_map(corners).for_each(|corner| all.add(corner));
        let stage = Stage::new(all, bounds.size().max_element());
        let camera = Camera::default().fitted(&stage.bounds.corners(), aspect, 0.04);
        View { camera, stage, bones: self.bones }
    }
}

#[test]
fn half_precision_skin_matrices_are_refused() {
    let shot = Shot::people(&[0.0]);
    let GpuContext { device, queue, .. } = &gpu();
    let renderer = Renderer::new(device, queue, Target::default()).unwrap();
    let library = gpu_library(PackedLibrary::new(&shot.library).unwrap()).unwrap();
    let outputs = needed_outputs(&shot.figures, false).with_skin_format(SkinFormat::HalfMatrix);
    let crowd = GpuCrowd::new(&library, &shot.crowd, outputs).unwrap();
    let poses = crowd.batches().iter().map(PoseBuffers::from);
    let refused = Scene::new(&renderer, &shot.library, &shot.figures, poses, &shot.placements);
    assert!(matches!(refused, Err(Error::Usage(reason)) if reason.contains("`half`")));
}
