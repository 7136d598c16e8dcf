//! The GPU engine, apart from its values. These tests fail on a machine without an adapter.

/// Replacement of layers while a crowd plays.
mod changes;
/// Crowds packed for a device of the caller, dispatched without the engine.
mod device_crowd;
/// Lists of events: several steps in one submission, crowds in several buffers, devices with lower limits.
mod events;
/// Failures of devices, and their errors.
mod failures;
/// Several frames of one crowd, several crowds of one library, several libraries on one device.
mod frames;
/// Devices with lower limits, and crowds that need more.
mod limits;
/// Devices that are lost: each use of them is an error, or the next read reports it.
mod lost;
/// Libraries that take the place of one another.
mod replaced;
/// Rigs of all shapes and of sizes at which the kernels change, and crowds that mix them.
mod rigs;
/// Rigs with one scale per joint, for which skins alone have kernels of their own.
mod uniform_scales;
/// The bytes that frames upload.
pub mod uploads;
/// Visible lists: culling on the GPU, update intervals, fewer joints, and previous skin matrices.
mod visible;
/// Waits for submitted work, by the clock of the host.
mod waits;

use std::sync::{Mutex, PoisonError};

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine};
use posse::packed::PackedLibrary;
use posse::{
    ClipId, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Playback, Poses, Reference, SkeletonId, Ticks,
    WrapMode, contract,
};

use crate::support::gpu_library::{gpu_engine_for, gpu_library_on};
use crate::support::scenes::Numbers;

/// An ordinary tick.
const NOW: Ticks = Ticks(123_456_789);

/// A new device with these limits and no features, on the adapter of the tests.
fn own_gpu(limits: wgpu::Limits) -> GpuContext {
    GpuContext::with_limits(AdapterKind::Any, limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The device with these limits and no features that tests share.
fn gpu_with_limits(limits: wgpu::Limits) -> GpuContext {
    static ALL: Mutex<Vec<(wgpu::Limits, GpuContext)>> = Mutex::new(Vec::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, gpu)) = all.iter().find(|(found, _)| *found == limits) {
        return gpu.clone();
    }
    let gpu = own_gpu(limits.clone());
    all.push((limits, gpu.clone()));
    gpu
}

/// Asserts that a call failed because of the device.
#[track_caller]
fn assert_device_error<T>(result: Result<T, Error>, what: &str) {
    match result {
        Err(Error::Device(_)) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what} succeeded"),
    }
}

/// An engine on the device of the tests.
fn engine(library: &Library) -> GpuEngine {
    gpu_engine_for(PackedLibrary::new(library).unwrap()).unwrap()
}

/// An engine on a device that tests share.
fn engine_on(gpu: GpuContext, library: &Library) -> GpuEngine {
    let on_gpu = gpu_library_on(&gpu, PackedLibrary::new(library).unwrap()).unwrap();
    GpuEngine::with_library(gpu, on_gpu).unwrap()
}

/// Instances that play a clip, each with its own start and rate.
fn players(skeleton: SkeletonId, clip: ClipId, instances: usize) -> Crowd {
    let mut numbers = Numbers::new(instances as u64);
    let mut crowd = Crowd::new();
    for _ in 0..instances {
        let start = Ticks(numbers.ticks_below(1 << 30));
        let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, numbers.within(-2.0, 2.0)));
        crowd.push(skeleton, &[Layer::new(clip, time)]).unwrap();
    }
    crowd
}

/// A crowd whose instances play the only clip of a library.
fn only_clip(library: &Library, instances: usize) -> Crowd {
    players(library.skeleton_ids().next().unwrap(), library.clip_ids().next().unwrap(), instances)
}

/// Records a crowd at a tick, runs it, and reads every instance separately.
fn play(engine: &GpuEngine, crowd: &GpuCrowd, instances: usize, now: Ticks, outputs: Outputs) -> Poses {
    let device = &engine.gpu().device;
    let mut encoder = device.create_command_encoder(&Default::default());
    crowd.encode(&mut encoder, now);
    engine.gpu().queue.submit([encoder.finish()]);
    let read = |instance| engine.read_instance(crowd, instance, outputs).unwrap();
    Poses { instances: (0..instances).map(read).collect() }
}

/// Asserts that poses are within the contract, and have no outputs that were not requested.
#[track_caller]
fn assert_right(library: &Library, crowd: &Crowd, now: Ticks, outputs: Outputs, actual: &Poses) {
    let expected = Reference::new(library).evaluate(crowd, now, outputs).unwrap();
    let report = contract::compare_as(outputs.skin_format, library, crowd, now, &expected, actual);
    assert!(report.is_within(), "{outputs:?}: {:?}", report.quantities());
    assert_eq!(expected.instances.len(), actual.instances.len());
    for (expected, actual) in expected.instances.iter().zip(&actual.instances) {
        let counts = |pose: &posse::Pose| {
            let skins: Vec<usize> = pose.skins.iter().map(Vec::len).collect();
            (pose.local.len(), pose.model.len(), skins, pose.weights.len(), pose.properties.len())
        };
        assert_eq!(counts(expected), counts(actual), "{outputs:?}");
    }
}

/// Asserts that a GPU engine poses a crowd as the reference does.
#[track_caller]
fn assert_evaluates(engine: &mut GpuEngine, library: &Library, crowd: &Crowd, outputs: Outputs) {
    let actual = engine.evaluate(crowd, NOW, outputs).unwrap();
    assert_right(library, crowd, NOW, outputs, &actual);
}
