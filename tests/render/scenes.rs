//! Small scenes, and what is drawn of them.

use glam::{Affine3A, Quat, Vec3};
use posse::render::needed_outputs;
use posse::render::{
    Bones, Camera, Canvas, Figure, Picture, Place, PoseBuffers, Renderer, Scene, Stage, Target, View, bounds, human,
    probe,
};
use posse::{
    Crowd, Error, GpuContext, GpuCrowd, KernelForm, Layer, LayerTime, Library, PackedLibrary, SkeletonId, SkinFormat,
    Ticks, demo,
};

use crate::support::each_engine::{gpu, gpu_library};

/// Instances at their places, and how they are seen.
pub struct Shot {
    pub library: Library,
    pub figures: Vec<Figure>,
    pub crowd: Crowd,
    pub places: Vec<Place>,
    pub bones: Bones,
}

impl Shot {
    /// One instance of a figure in its first clip at a time, or at rest.
    pub fn alone(library: Library, figure: Figure, time: f64) -> Self {
        let mut crowd = Crowd::new();
        let clip = library.clip_ids().find(|&clip| library.clip(clip).skeleton == figure.skeleton);
        let layer = clip.map(|clip| Layer::new(clip, LayerTime::At(time)));
        crowd.push(figure.skeleton, layer.as_slice()).unwrap();
        Self { library, figures: vec![figure], crowd, places: vec![Place::default()], bones: Bones::Hidden }
    }

    /// People of the built-in rig in a row, each in another clip, at these times of their clips.
    pub fn people(times: &[f64]) -> Self {
        let library = demo::library().unwrap();
        let skeleton: SkeletonId = library.skeleton_ids().next().unwrap();
        let figure = human::figure(&library, skeleton, 0.05).unwrap();
        let clips: Vec<_> = library.clip_ids().collect();
        let (mut crowd, mut places) = (Crowd::new(), Vec::new());
        for (instance, &time) in times.iter().enumerate() {
            let layer = Layer::new(clips[instance % clips.len()], LayerTime::At(time));
            crowd.push(skeleton, &[layer]).unwrap();
            let turn = Quat::from_rotation_y(0.3 * instance as f32);
            let world = Affine3A::from_rotation_translation(turn, Vec3::new(1.3 * instance as f32, 0.0, 0.0));
            places.push(Place { world, dyes: human::dyes(instance) });
        }
        Self { library, figures: vec![figure], crowd, places, bones: Bones::Hidden }
    }

    fn scene(&self, gpu: &GpuContext, renderer: &Renderer, with: impl FnOnce(&Scene, wgpu::CommandEncoder)) {
        let library = gpu_library(KernelForm::of(&gpu.device), PackedLibrary::new(&self.library).unwrap()).unwrap();
        let outputs = needed_outputs(&self.figures, self.bones != Bones::Hidden);
        let crowd = GpuCrowd::new(&gpu.device, &library, &self.crowd, outputs).unwrap();
        let poses = crowd.batches().iter().map(PoseBuffers::from);
        let on = (&gpu.device, &gpu.queue);
        let scene = Scene::new(renderer, on, &self.library, &self.figures, poses, &self.places).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        crowd.encode(&gpu.device, &mut encoder, Ticks(0));
        with(&scene, encoder);
    }

    /// Where the vertex shader puts the vertices: for each part those of instance after instance.
    pub fn positions(&self) -> Vec<Vec<[f32; 3]>> {
        let gpu = gpu();
        let renderer = Renderer::new(&gpu.device, &gpu.queue, Target::default()).unwrap();
        let mut positions = Vec::new();
        self.scene(&gpu, &renderer, |scene, encoder| {
            gpu.queue.submit([encoder.finish()]);
            positions = probe::positions(&renderer, (&gpu.device, &gpu.queue), scene).unwrap();
        });
        positions
    }

    /// A picture of 160 x 120 pixels, from where all of the rest is seen.
    pub fn picture(&self) -> Picture {
        let gpu = gpu();
        let target = Target::default();
        let renderer = Renderer::new(&gpu.device, &gpu.queue, target).unwrap();
        let canvas = Canvas::new(&gpu.device, target, [160, 120]).unwrap();
        let view = self.view(canvas.aspect());
        let mut picture = None;
        self.scene(&gpu, &renderer, |scene, encoder| {
            let on = (&gpu.device, &gpu.queue);
            picture = Some(Picture::draw(&renderer, on, encoder, &canvas, scene, &view).unwrap());
        });
        picture.unwrap()
    }

    fn view(&self, aspect: f32) -> View {
        let reach = bounds::of_crowd(&self.library, &self.figures, &self.crowd, &[Ticks(0)]).unwrap()[0];
        let mut all = bounds::Bounds::EMPTY;
        let corners = |place: &Place| reach.corners().map(|corner| place.world.transform_point3(corner));
        self.places.iter().flat_map(corners).for_each(|corner| all.add(corner));
        let stage = Stage::new(all, reach.size().max_element());
        let camera = Camera::default().fitted(&stage.bounds.corners(), aspect, 0.04);
        View { camera, stage, bones: self.bones }
    }
}

#[test]
fn packed_skin_matrices_are_refused() {
    let shot = Shot::people(&[0.0]);
    let GpuContext { device, queue, .. } = &gpu();
    let renderer = Renderer::new(device, queue, Target::default()).unwrap();
    let library = gpu_library(KernelForm::of(device), PackedLibrary::new(&shot.library).unwrap()).unwrap();
    let outputs = needed_outputs(&shot.figures, false).with_skin_format(SkinFormat::HalfMatrix);
    let crowd = GpuCrowd::new(device, &library, &shot.crowd, outputs).unwrap();
    let poses = crowd.batches().iter().map(PoseBuffers::from);
    let refused = Scene::new(&renderer, (device, queue), &shot.library, &shot.figures, poses, &shot.places);
    assert!(matches!(refused, Err(Error::Usage(reason)) if reason.contains("`half`")));
}
