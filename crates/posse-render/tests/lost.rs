//! Devices that are lost: each use of them by the renderer is an error.

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
use posse::{Error, Evaluator, Ticks, demo};

/// An ordinary tick.
const NOW: Ticks = Ticks(123_456_789);

/// Asserts that a call failed because of the device.
#[track_caller]
fn assert_device_error<T>(result: Result<T, Error>, what: &str) {
    match result {
        Err(Error::Device(_)) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what} succeeded"),
    }
}

#[test]
fn pictures_fail() {
    use posse_render::probe::vertex_positions;
    use posse_render::{
        Bones, Bounds, Camera, Canvas, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target, UploadedPoses,
        View, needed_outputs,
    };
    let library = demo::library().unwrap();
    let skeleton = library.skeleton_ids().next().unwrap();
    let figures = [posse_render::demo::figure(&library, skeleton, 0.05).unwrap()];
    let crowd = demo::crowd(&library, 2).unwrap();
    let gpu =
        GpuContext::with_limits(AdapterKind::Any, wgpu::Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    let (device, target, outputs) = (&gpu.device, Target::default(), needed_outputs(&figures, false));
    let on_gpu = GpuLibrary::new(&gpu, &library).unwrap();
    let of_crowd = GpuCrowd::new(&on_gpu, &crowd, outputs).unwrap();
    let poses = || of_crowd.batches().iter().map(PoseBuffers::from);
    let placements = [Placement::default(); 2];
    let renderer = Renderer::new(device, &gpu.queue, target).unwrap();
    let canvas = Canvas::new(device, target, [64, 48]).unwrap();
    let scene = Scene::new(&renderer, &library, &figures, poses(), &placements).unwrap();
    let mut bounds = Bounds::EMPTY;
    [posse::glam::Vec3::ZERO, posse::glam::Vec3::ONE].into_iter().for_each(|corner| bounds.add(corner));
    let stage = Stage::new(bounds, 1.0);
    let camera = Camera::default().fitted(&bounds.corners(), canvas.aspect(), 0.04);
    let view = View { camera, stage, bones: Bones::Hidden };
    let picture = || {
        let mut encoder = device.create_command_encoder(&Default::default());
        of_crowd.encode(&mut encoder, NOW);
        Picture::draw(&renderer, encoder, &canvas, &scene, &view)
    };
    picture().unwrap();
    let reference = posse::Reference::new(&library).evaluate(&crowd, NOW, outputs).unwrap();
    device.destroy();

    assert_device_error(picture(), "a picture");
    assert_device_error(vertex_positions(&renderer, &scene), "positions");
    assert_device_error(Renderer::new(device, &gpu.queue, target), "a renderer");
    assert_device_error(Canvas::new(device, target, [64, 48]), "a canvas");
    assert_device_error(Scene::new(&renderer, &library, &figures, poses(), &placements), "a scene");
    let like = poses().next().unwrap();
    assert_device_error(UploadedPoses::new(&gpu, like, &reference), "poses");
}
