//! Out of memory at each place where this crate makes or uploads something on a device.

use std::path::{Path, PathBuf};

use crate::demo;
use crate::evaluator::Evaluator;
use crate::gpu::allocation::faults::with_fault_after;
use crate::gpu::bandwidth::Bandwidth;
use crate::gpu::stopwatch::Stopwatch;
use crate::gpu::test_support::{context, context_with, each_fault};
use crate::gpu::{DeviceAndQueue, GpuCrowd, GpuEngine, GpuEvents, GpuLibrary, submit};
use crate::kernels::plan::Plan;
use crate::model::{
    Chain, ChainKind, Crowd, Event, Goal, GoalTarget, GoalWeight, Layer, LayerTime, Library, Mixing, Outputs, Playback,
    SkinFormat, Step, Ticks,
};
use crate::pack::record::SkeletonRecord;
use crate::pack::{CrowdOptions, PackedLibrary};
use crate::transition::NewTransition;

/// A library with an event, and an instance that uses each kind of buffer: layers, goals, parameters.
fn scene() -> (Library, Crowd) {
    let mut library = demo::rig(5, 3, 2).unwrap();
    let (skeleton, clip) = (library.skeleton_ids().next().unwrap(), library.clip_ids().next().unwrap());
    let mut timed = library.clip(clip).clone();
    timed.events.push(Event { time: 0.01, function: "step".into(), parameters: Vec::new() });
    let clip = library.add_clip(timed).unwrap();
    let kind = ChainKind::Aim { joint: 2, forward: [0.0, 0.0, 1.0], limit: 1.0 };
    let chain = library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
    let mut crowd = Crowd::new();
    for instance in 0..3 {
        let layer = Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)));
        crowd.push(skeleton, &[layer]).unwrap();
        let (target, weight) = (GoalTarget::Point([1.0, 0.0, 1.0]), GoalWeight::Fixed(1.0));
        crowd.set_goals(instance, vec![Goal { chain, target, weight }]).unwrap();
    }
    (library, crowd)
}

const ROOM: CrowdOptions = CrowdOptions {
    visible: true,
    previous_skin: true,
    layers: 2,
    mixing: Mixing::Any,
    drivers: true,
    goals: 1,
    parameters: 2,
    transitions: 1,
};

#[test]
fn a_library_without_memory_is_refused() {
    let gpu = context();
    let packed = || PackedLibrary::new(&scene().0).unwrap();
    let places = each_fault("a library", packed, |packed| GpuLibrary::from_packed(&gpu, packed.clone()));
    // Two buffers with their uploads, a layout, the probe.
    assert!(places >= 6, "{places}");
}

#[test]
fn a_kernel_without_memory_is_refused() {
    let gpu = context();
    let make = || GpuLibrary::new(&gpu, &scene().0).unwrap();
    let plan = Plan::new(Mixing::None, &SkeletonRecord { joint_count: 20, ..SkeletonRecord::default() }, 1);
    let places = each_fault("poses", make, |library| pollster::block_on(library.pose_pipeline(&plan.kernel)).map(drop));
    // A module, a layout and a pipeline.
    assert!(places >= 3, "{places}");
    let half = plan.with_skin_format(SkinFormat::HalfMatrix).kernel;
    let tested = |library: &GpuLibrary| {
        pollster::block_on(library.packs_to_nearest(half.skin_format))?;
        pollster::block_on(library.pose_pipeline(&half)).map(drop)
    };
    let places = each_fault("half matrices", make, |library| tested(library));
    // A module, a pipeline, a buffer, its upload and a bind group more, and what is submitted.
    assert!(places >= 3 + 6, "{places}");
    each_fault("lists", make, |library| pollster::block_on(library.visible_kernels()).map(drop));
    each_fault("root motion", make, |library| pollster::block_on(library.root_motion_kernel()).map(drop));
    each_fault("played layers", make, |library| pollster::block_on(library.play_kernel()).map(drop));
    each_fault("drivers", make, |library| pollster::block_on(library.drive_kernel()).map(drop));
    each_fault("goals", make, |library| pollster::block_on(library.goals_kernel()).map(drop));
    each_fault("events", make, |library| pollster::block_on(library.events_kernel(true)).map(drop));
}

#[test]
fn a_crowd_without_memory_is_refused() {
    let gpu = context();
    let (library, crowd) = scene();
    let on_gpu = GpuLibrary::new(&gpu, &library).unwrap();
    let make = || GpuCrowd::with_options(&on_gpu, &crowd, Outputs::ALL, ROOM);
    // The kernels are compiled here, so that buffers and bind groups have the faults.
    let gpu_crowd = make().unwrap();
    let places = each_fault("a crowd", || (), |()| make());
    assert!(places >= 30, "{places}");
    each_fault("events", || (), |()| GpuEvents::new(&on_gpu, &gpu_crowd, 8));
    let events = GpuEvents::new(&on_gpu, &gpu_crowd, 8).unwrap();
    each_fault("the list of events", || (), |()| events.read());
}

#[test]
fn a_frame_without_memory_is_refused_and_the_next_one_runs() {
    let gpu = context();
    let (library, crowd) = scene();
    let step = Step { from: Ticks(0), to: Ticks(1000) };
    let mut engine = GpuEngine::new(gpu.clone(), &library).unwrap();
    engine.evaluate_step(&crowd, step, Outputs::ALL).unwrap();
    engine.evaluate_events(&crowd, step, 8).unwrap();
    let engine = std::cell::RefCell::new(engine);
    each_fault("poses", || (), |()| engine.borrow_mut().evaluate_step(&crowd, step, Outputs::ALL));
    each_fault("events", || (), |()| engine.borrow_mut().evaluate_events(&crowd, step, 8));
    each_fault("a wait", || (), |()| engine.borrow().wait());

    // A crowd that goes on: the frame of the caller is refused by the device, in the scope of the caller, and the next
    // one is not.
    let engine = engine.into_inner();
    let gpu_crowd = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, ROOM).unwrap();
    let frame = |fault: bool| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let record = || gpu_crowd.encode(&mut encoder, step);
        let reached = if fault { with_fault_after(0, record).1 } else { with_fault_after(10_000, record).1 };
        assert_eq!(reached, fault);
        pollster::block_on(submit(DeviceAndQueue::from(&gpu), encoder))
    };
    frame(false).unwrap();
    for _ in 0..3 {
        let error = frame(true).unwrap_err().to_string();
        assert!(error.contains("posse frame upload") || error.contains("without memory"), "{error}");
        assert!(gpu_crowd.check_frames().is_err(), "the error is kept");
        gpu_crowd.check_frames().unwrap();
        frame(false).unwrap();
    }
}

#[test]
fn a_change_without_memory_is_an_error() {
    let gpu = context();
    let (library, crowd) = scene();
    let on_gpu = GpuLibrary::new(&gpu, &library).unwrap();
    let gpu_crowd = GpuCrowd::with_options(&on_gpu, &crowd, Outputs::ALL, ROOM).unwrap();
    each_fault("layers", || (), |()| gpu_crowd.set_layers(&on_gpu, &crowd));
    each_fault("an instance", || (), |()| gpu_crowd.set_instance(&on_gpu, 1, crowd.layers(1)));
    each_fault("goals", || (), |()| gpu_crowd.set_goals(&on_gpu, 1, crowd.goals(1)));
    each_fault("parameters", || (), |()| gpu_crowd.set_parameters(1, &[0.5, 0.25]));
    each_fault("all parameters", || (), |()| gpu_crowd.set_all_parameters(&[0.5; 6]));
    let packed = || PackedLibrary::new(&library).unwrap();
    each_fault("a library", || on_gpu.repacked(packed()).unwrap(), |on_gpu| on_gpu.replace(packed()));
    let new = NewTransition::new(2, crowd.layers(1), Ticks(1000));
    each_fault("a transition", || crowd.clone(), |crowd| gpu_crowd.transition(&on_gpu, &library, crowd, &new));
}

#[test]
fn a_measurement_without_memory_is_refused() {
    let gpu = context();
    let measure = || pollster::block_on(Bandwidth::measure_with_clock(&gpu, 1 << 16, || 0.0));
    each_fault("the bandwidth", || (), |()| measure());
}

#[test]
fn a_stopwatch_without_memory_is_none() {
    let gpu = context_with(wgpu::Features::TIMESTAMP_QUERY);
    for place in 0..2 {
        assert!(with_fault_after(place, || Stopwatch::new(&gpu)).0.is_none());
    }
    let measure = |stopwatch: &Stopwatch| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(stopwatch.writes()) };
        drop(encoder.begin_compute_pass(&descriptor));
        stopwatch.submit(&gpu, encoder)
    };
    let stopwatch = Stopwatch::new(&gpu).unwrap();
    each_fault("a time", || (), |()| measure(&stopwatch));
}

/// The source files of a folder, without tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "function_tests" {
            sources(&path, files);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// Every call that can need memory on a device stands behind a place that can fail.
#[test]
fn each_allocation_can_be_refused() {
    const CALLS: [&str; 11] = [
        ".create_bind_group(",
        ".create_bind_group_layout(",
        ".create_command_encoder(",
        ".create_compute_pipeline(",
        ".create_pipeline_layout(",
        ".create_query_set(",
        ".create_render_pipeline(",
        ".create_sampler(",
        ".create_shader_module(",
        ".create_texture(",
        ".write_texture(",
    ];
    let mut files = Vec::new();
    for folder in ["src/gpu", "crates/posse-render/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/measure.rs"));
    let mut found = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // Tests stand at the end of a file.
        let text = text.split("\n#[cfg(test)]\n").next().unwrap();
        let text = text.split("\npub mod faults {\n").next().unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}: {line}", file.display());
            if line.contains(".create_buffer(") {
                assert!(file.ends_with("allocation.rs"), "{place}: call create_buffer of this crate");
            }
            if CALLS.iter().chain(&[".write_buffer(", ".submit([", ".create_buffer("]).any(|call| line.contains(call)) {
                found += 1;
                let before = lines[at.saturating_sub(4)..at].join("\n");
                assert!(
                    before.contains("fault_point(") || before.contains("is_due()"),
                    "{place}: call fault_point before it"
                );
            }
        }
    }
    assert!(found >= 25, "{found}");
}
