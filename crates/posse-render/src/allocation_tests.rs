//! Out of memory at each place where the renderer makes or uploads something on a device.

use crate::probe::vertex_positions;
use crate::{
    Bones, Bounds, Camera, Canvas, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target, UploadedPoses,
    View, needed_outputs,
};
use posse::Evaluator;
use posse::Reference;
use posse::gpu::{GpuCrowd, GpuLibrary};
use posse::low_level::device::create_encoder;
use posse::low_level::test_support::{context, each_fault};
use posse::{Poses, Ticks};

#[test]
fn a_picture_without_memory_is_refused() {
    let gpu = context();
    let target = Target::default();
    let library = posse::demo::library().unwrap();
    let crowd = posse::demo::crowd(&library, 2).unwrap();
    let figure = crate::demo::figure(&library, library.skeleton_ids().next().unwrap(), 0.1).unwrap();
    let figures = [figure];
    let outputs = needed_outputs(&figures, true);
    let on_gpu = GpuLibrary::new(&gpu, &library).unwrap();
    let gpu_crowd = GpuCrowd::new(&on_gpu, &crowd, outputs).unwrap();

    let places = each_fault("a renderer", || (), |()| Renderer::new(&gpu.device, &gpu.queue, target));
    assert!(places >= 28, "{places}");
    let renderer = Renderer::new(&gpu.device, &gpu.queue, target).unwrap();
    each_fault("a canvas", || (), |()| Canvas::new(&gpu.device, target, [64, 48]));
    let canvas = Canvas::new(&gpu.device, target, [64, 48]).unwrap();

    let poses = || gpu_crowd.batches().iter().map(PoseBuffers::from);
    let build = || Scene::new(&renderer, &library, &figures, poses(), &[Placement::default(); 2]);
    each_fault("a scene", || (), |()| build());
    let scene = build().unwrap();
    let evaluated: Poses = Reference::new(&library).evaluate(&crowd, Ticks(0), outputs).unwrap();
    let like = poses().next().unwrap();
    each_fault("poses", || (), |()| UploadedPoses::new(&gpu, like, &evaluated).map(drop));

    let person = Bounds { low: [-0.5, 0.0, -0.5].into(), high: [0.5, 1.8, 0.5].into() };
    let camera = Camera::default().fitted(&person.corners(), canvas.aspect(), 0.05);
    let view = View { camera, stage: Stage::new(person, 1.8), bones: Bones::Solid };
    let draw = || Picture::draw(&renderer, create_encoder(&gpu.device)?, &canvas, &scene, &view);
    let picture = draw().unwrap();
    each_fault("a picture", || (), |()| draw());
    assert_eq!(draw().unwrap(), picture, "the next picture is drawn");
    each_fault("positions", || (), |()| vertex_positions(&renderer, &scene));
}
