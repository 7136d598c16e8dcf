//! Devices that are lost: each use is an error, or the next read or wait reports the loss.

use posse::gpu::{GpuCrowd, GpuEngine, GpuEvents, GpuLibrary};
use posse::ik::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::low_level::Bandwidth;
use posse::packed::PackedLibrary;
use posse::transitions::NewTransition;
use posse::{Crowd, CrowdOptions, Evaluator, Layer, LayerTime, Outputs, Playback, Step, Ticks, WrapMode, demo};

use super::{NOW, assert_device_error, only_clip, own_gpu};

#[test]
fn evaluation_reads_and_waits_fail_and_so_does_what_is_made() {
    let library = demo::rig(5, 3, 2).unwrap();
    let crowd = only_clip(&library, 4);
    let mut engine = GpuEngine::new(own_gpu(wgpu::Limits::default()), &library).unwrap();
    let device = engine.gpu().device.clone();
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    engine.wait().unwrap();
    device.destroy();

    // A frame can still be recorded. The loss of the device is reported when its results are read.
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.encode(&mut encoder, NOW);
    engine.gpu().queue.submit([encoder.finish()]);
    assert_device_error(engine.wait(), "waiting");
    assert_device_error(engine.read_instance(&on_gpu, 0, Outputs::ALL), "reading an instance");
    assert_device_error(engine.read(&on_gpu.batches()[0], 0..4), "reading a batch");
    let step = Step { from: NOW, to: Ticks(NOW.0 + 1000) };
    assert_device_error(engine.evaluate(&crowd, NOW, Outputs::ALL), "evaluation");
    assert_device_error(engine.evaluate_step(&crowd, step, Outputs::ALL), "evaluation of a step");
    assert_device_error(engine.evaluate_events(&crowd, step, 10), "events");

    let packed = || PackedLibrary::new(&library).unwrap();
    assert_device_error(GpuCrowd::new(engine.library(), &crowd, Outputs::ALL), "a new crowd");
    assert_device_error(GpuEvents::new(engine.library(), &on_gpu, 10), "a new list of events");
    assert_device_error(GpuLibrary::from_packed(engine.gpu(), packed()), "a library");
    assert_device_error(engine.library().repacked(packed()), "a library that shares kernels");
    assert_device_error(Bandwidth::measure(engine.gpu()), "the bandwidth");
}

/// A library with a chain, and a crowd that uses all that a crowd can have on the GPU.
fn crowd_with_everything() -> (posse::Library, Crowd, Goal) {
    let mut library = demo::rig(5, 3, 2).unwrap();
    let skeleton = library.skeleton_ids().next().unwrap();
    let kind = ChainKind::Aim { joint: 2, forward: [0.0, 1.0, 0.0], limit: 1.0 };
    let chain = library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
    let goal = Goal { chain, target: GoalTarget::Point([1.0, 2.0, 3.0]), weight: GoalWeight::Parameter(0) };
    let mut crowd = only_clip(&library, 4);
    (0..4).for_each(|instance| crowd.set_goals(instance, vec![goal]).unwrap());
    (library, crowd, goal)
}

#[test]
fn changes_of_a_crowd_are_accepted_and_the_next_read_fails() {
    let (library, mut crowd, goal) = crowd_with_everything();
    let engine = GpuEngine::new(own_gpu(wgpu::Limits::default()), &library).unwrap();
    let device = engine.gpu().device.clone();
    let options = CrowdOptions { visible: true, previous_skin: true, transitions: 2, ..CrowdOptions::NONE };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    let events = GpuEvents::new(engine.library(), &on_gpu, 10).unwrap();
    let read = || engine.read_instance(&on_gpu, 0, Outputs::ALL);
    read().unwrap();
    device.destroy();

    let now = engine.library();
    on_gpu.set_layers(now, &crowd).unwrap();
    assert_device_error(read(), "layers of all");
    on_gpu.set_instance(now, 0, crowd.layers(0)).unwrap();
    assert_device_error(read(), "layers of an instance");
    on_gpu.set_goals(now, 1, &[goal]).unwrap();
    assert_device_error(read(), "goals");
    on_gpu.set_parameters(1, &[0.5]).unwrap();
    assert_device_error(read(), "parameters");
    on_gpu.set_all_parameters(&[0.5; 4]).unwrap();
    assert_device_error(read(), "parameters of all");
    let clip = library.clip_ids().next().unwrap();
    let layers = [Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, NOW, 1.0)))];
    let new = NewTransition::new(2, &layers, NOW);
    on_gpu.transition(now, &library, &mut crowd, &new).unwrap();
    assert_device_error(read(), "a transition");

    let step = Step { from: NOW, to: Ticks(NOW.0 + 1000) };
    for frame in 0..2 {
        let mut encoder = device.create_command_encoder(&Default::default());
        on_gpu.encode_visible(&mut encoder, step, frame);
        events.encode(&mut encoder, step);
        engine.gpu().queue.submit([encoder.finish()]);
    }
    assert_device_error(read(), "visible instances");
    assert_device_error(events.read(), "events");
    // Freed twice: by the loss, and by hand.
    events.destroy();
    on_gpu.destroy();
    assert_device_error(engine.wait(), "waiting");
}

#[test]
#[cfg(not(target_arch = "wasm32"))]
fn a_stopwatch_fails() {
    // A device of its own, with a clock if the adapter has one.
    let gpu = posse::gpu::GpuContext::new(posse::gpu::AdapterKind::Any).unwrap();
    let Some(watch) = posse::low_level::Stopwatch::new(&gpu) else {
        return crate::support::skip::report_skipped(&format!(
            "a stopwatch on a lost device: {} has no clock",
            gpu.name()
        ));
    };
    gpu.device.destroy();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    drop(
        encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(watch.writes()) }),
    );
    assert_device_error(watch.submit(&gpu, encoder), "a measurement");
}
