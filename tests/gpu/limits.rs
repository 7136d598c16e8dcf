use glam::DVec3;
use posse::gpu::{GpuCrowd, GpuEngine, GpuLibrary};
use posse::ik::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::low_level::record::LayerRecord;
use posse::packed::PackedLibrary;
use posse::{
    Clip, Crowd, Error, Joint, Layer, LayerTime, Library, Outputs, Playback, Poses, Skeleton, SkinFormat, Ticks,
    Transform, WrapMode, demo,
};

use super::{NOW, assert_evaluates, assert_right, engine, engine_on, gpu_with_limits, only_clip, own_gpu, play};
use crate::support::build;
use crate::support::gpu_library::gpu;

/// The limits of a device whose buffers hold at most this many bytes.
fn small_buffers(bytes: u64) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: bytes,
        max_storage_buffer_binding_size: bytes,
        max_uniform_buffer_binding_size: wgpu::Limits::default().max_uniform_buffer_binding_size.min(bytes),
        ..wgpu::Limits::default()
    }
}

/// Asserts that the batches of a crowd hold each instance once, in the slot that `find` returns. Returns the number of
/// batches.
#[track_caller]
fn assert_covers(crowd: &GpuCrowd, instances: usize) -> usize {
    let mut visible = vec![0; instances];
    for batch in crowd.batches() {
        for (slot, &instance) in batch.instances().iter().enumerate() {
            visible[instance] += 1;
            let (found, found_slot) = crowd.find(instance);
            assert!(std::ptr::eq(found, batch) && found_slot == slot, "instance {instance}");
        }
    }
    assert!(visible.iter().all(|&times| times == 1), "{visible:?}");
    crowd.batches().len()
}

#[track_caller]
fn assert_limit(error: Error, what: &str, needed: u64, allowed: u64) {
    match error {
        Error::Limit { what: found, needed: n, allowed: a } => {
            assert!(found.contains(what), "{found}");
            assert_eq!((n, a), (needed, allowed), "{found}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_crowd_larger_than_a_binding_is_split() {
    let library = demo::library().unwrap();
    let engine = engine_on(gpu_with_limits(small_buffers(1 << 20)), &library);
    let crowd = demo::crowd(&library, 1000).unwrap();
    let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    // With 64 joints of 48 bytes, a mebibyte holds 341 instances.
    assert_eq!(assert_covers(&gpu_crowd, 1000), 3);
    let poses = play(&engine, &gpu_crowd, 1000, NOW, Outputs::ALL);
    assert_right(&library, &crowd, NOW, Outputs::ALL, &poses);
}

#[test]
fn a_binding_holds_twice_as_many_instances_with_packed_skin_matrices() {
    let mut library = Library::new();
    demo::add_uniform_rig(&mut library, 64, 3, 10).unwrap();
    let engine = engine_on(gpu_with_limits(small_buffers(1 << 20)), &library);
    let crowd = only_clip(&library, 1500);
    // With 64 joints, a mebibyte holds 341 instances of 48 bytes per joint, or 682 of 24.
    for (format, batches) in [(SkinFormat::Matrix, 5), (SkinFormat::HalfMatrix, 3), (SkinFormat::DualQuaternion, 3)] {
        let outputs = Outputs::SKIN.with_skin_format(format);
        let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
        assert_eq!(assert_covers(&gpu_crowd, 1500), batches, "{format:?}");
        let bytes = gpu_crowd.batches().iter().map(|batch| batch.skin().unwrap().size()).sum::<u64>();
        assert_eq!(bytes, (1500 * 64 * format.bytes()) as u64, "{format:?}");
        let poses = play(&engine, &gpu_crowd, 1500, NOW, outputs);
        assert_right(&library, &crowd, NOW, outputs, &poses);
    }
}

#[test]
fn each_of_several_skeletons_is_split() {
    let mut library = demo::rig(30, 5, 4).unwrap();
    let (other, clip) = (library.skeleton_ids().next().unwrap(), library.clip_ids().next().unwrap());
    let joints = vec![Joint::default(); 300];
    let large = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let mut crowd = Crowd::new();
    for instance in 0..200 {
        let layer = Layer::new(clip, LayerTime::At(0.001 * f64::from(instance)));
        if instance % 3 == 0 {
            crowd.push(large, &[]).unwrap()
        } else {
            crowd.push(other, &[layer]).unwrap()
        };
    }
    let mut engine = engine_on(gpu_with_limits(small_buffers(1 << 17)), &library);
    let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    // 133 instances of 1440 bytes, 91 per batch; 67 instances of 14400 bytes of scratch, 9 per batch.
    assert_eq!(assert_covers(&gpu_crowd, 200), 2 + 8);
    assert_evaluates(&mut engine, &library, &crowd, Outputs { local: true, ..Outputs::SKIN });
}

#[test]
fn a_library_larger_than_a_binding_is_refused() {
    // 4000 joints at rest have 3 values each, and 2 elements with their channels in the clip at rest, in one array.
    let (library, _) = build::library(vec![Joint::default(); 4000]);
    let upload = |bytes| GpuLibrary::new(&gpu_with_limits(small_buffers(bytes)), &library);
    let needed = (3 + 2) * 4000 * 16;
    assert_limit(upload(needed - 16).unwrap_err(), "values of a packed library", needed, needed - 16);
    assert!(upload(needed).is_ok());
}

#[test]
fn an_instance_larger_than_a_binding_is_refused() {
    // A joint that no track moves takes fewer bytes than the layers of one instance.
    let (mut library, skeleton) = build::library(vec![Joint::default()]);
    let clip = library.add_clip(Clip::new(None, skeleton, Vec::new())).unwrap();
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[Layer::new(clip, LayerTime::At(0.0)); Crowd::MAX_LAYERS]).unwrap();
    let bytes = (Crowd::MAX_LAYERS * size_of::<LayerRecord>()) as u64;
    let upload = |bytes| {
        let gpu = gpu_with_limits(small_buffers(bytes));
        let packing = PackedLibrary::new(&library).unwrap();
        let on_gpu = GpuLibrary::from_packed(&gpu, packing).unwrap();
        GpuCrowd::new(&on_gpu, &crowd, Outputs::NONE)
    };
    assert_limit(upload(bytes - 16).unwrap_err(), "bytes of one instance of skeleton 0", bytes, bytes - 16);
    assert!(upload(bytes).is_ok());
}

#[test]
fn large_crowds_have_dispatches_of_several_rows_and_several_dispatches() {
    // One workgroup per instance, or per eight instances; 64 workgroups per dispatch.
    for (joints, instances, batches) in [(30, 150, 3), (8, 1100, 3)] {
        let library = demo::rig(joints, 3, 4).unwrap();
        let crowd = only_clip(&library, instances);
        let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 8, ..wgpu::Limits::default() };
        let engine = engine_on(gpu_with_limits(limits), &library);
        let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
        assert_eq!(assert_covers(&gpu_crowd, instances), batches);
        let poses = play(&engine, &gpu_crowd, instances, NOW, Outputs::ALL);
        assert_right(&library, &crowd, NOW, Outputs::ALL, &poses);
    }
}

#[test]
fn more_workgroups_than_a_dimension_allows_are_run() {
    let library = demo::rig(30, 2, 1).unwrap();
    let instances = 70_000;
    let crowd = only_clip(&library, instances);
    let engine = engine(&library);
    let device = &engine.gpu().device;
    let outputs = Outputs { local: true, ..Outputs::NONE };
    let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, outputs).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    gpu_crowd.encode(&mut encoder, NOW);
    engine.gpu().queue.submit([encoder.finish()]);
    // Instances around the end of the first row, and the last one.
    for instance in (65_530..65_540).chain([instances - 1]) {
        let pose = engine.read_instance(&gpu_crowd, instance, outputs).unwrap();
        let mut alone = Crowd::new();
        alone.push(crowd.skeleton(instance), crowd.layers(instance)).unwrap();
        assert_right(&library, &alone, NOW, outputs, &Poses { instances: vec![pose] });
    }
}

#[test]
fn the_default_limits_suffice() {
    let gpu = gpu_with_limits(wgpu::Limits::default());
    assert!(gpu.device.features().is_empty(), "{:?}", gpu.device.features());
    for joints in [5, 24, 64, 100, 160, 200, 300] {
        let library = demo::rig(joints, 10, 5).unwrap();
        let mut engine = engine_on(gpu.clone(), &library);
        for layers in [1, 2, Crowd::MAX_LAYERS] {
            assert_evaluates(&mut engine, &library, &blended(&library, 11, layers), Outputs::ALL);
        }
    }
}

/// Instances of the first skeleton, each with this many layers that blend all clips in turn.
fn blended(library: &Library, instances: usize, layers: usize) -> Crowd {
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let layer = |layer: usize| {
            let start = Ticks((instance * 7919 + layer * 104_729) as i64);
            let time = LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0));
            Layer { weight: 1.0 / (layer + 1) as f64, ..Layer::new(clips[(instance + layer) % clips.len()], time) }
        };
        let layers: Vec<Layer> = (0..layers).map(layer).collect();
        crowd.push(library.clip(clips[0]).skeleton, &layers).unwrap();
    }
    crowd
}

#[test]
fn a_hundred_thousand_instances_of_two_layers_are_posed_within_the_default_limits() {
    const INSTANCES: usize = 100_000;
    let library = demo::library().unwrap();
    let limits = wgpu::Limits::default();
    let binding = limits.max_storage_buffer_binding_size;
    // With the device, its buffers go.
    let engine = GpuEngine::new(own_gpu(limits), &library).unwrap();
    let crowd = blended(&library, INSTANCES, 2);
    let device = &engine.gpu().device;
    let gpu_crowd = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    // 64 joints of 48 bytes: 307 MB in buffers of 128 MiB.
    assert_eq!(assert_covers(&gpu_crowd, INSTANCES), 3);
    let sizes = gpu_crowd.batches().iter().map(|batch| batch.skin().unwrap().size());
    assert!(sizes.clone().all(|size| size <= binding), "{binding}");
    assert_eq!(sizes.sum::<u64>(), (INSTANCES * 64 * 48) as u64);
    let mut encoder = device.create_command_encoder(&Default::default());
    gpu_crowd.encode(&mut encoder, NOW);
    engine.gpu().queue.submit([encoder.finish()]);
    for instance in (0..INSTANCES).step_by(7001).chain([INSTANCES - 1]) {
        let pose = engine.read_instance(&gpu_crowd, instance, Outputs::SKIN).unwrap();
        let mut alone = Crowd::new();
        alone.push(crowd.skeleton(instance), crowd.layers(instance)).unwrap();
        assert_right(&library, &alone, NOW, Outputs::SKIN, &Poses { instances: vec![pose] });
    }
}

#[test]
fn a_device_below_a_required_limit_is_refused_with_its_name() {
    let library = demo::rig(5, 10, 2).unwrap();
    let error = |limits| GpuEngine::new(own_gpu(limits), &library).unwrap_err().to_string();
    let least = GpuLibrary::required_limits();
    for (limits, words) in [
        (wgpu::Limits::downlevel_defaults(), "max_storage_buffers_per_shader_stage"),
        (
            wgpu::Limits { max_compute_workgroup_storage_size: 16352, ..least.clone() },
            "max_compute_workgroup_storage_size",
        ),
        (wgpu::Limits { max_compute_invocations_per_workgroup: 128, ..least }, "max_compute_invocations_per_workgroup"),
    ] {
        let error = error(limits);
        assert!(error.contains(words) && error.contains("GpuLibrary::required_limits"), "{error}");
    }
    let error = error(wgpu::Limits::downlevel_defaults());
    assert!(error.ends_with(": 8 needed, 4 allowed"), "{error}");
}

#[test]
fn the_required_limits_suffice() {
    let least = GpuLibrary::required_limits();
    assert!(least.check_limits(&wgpu::Limits::default()), "WebGPU has them");
    for joints in [5, 100, 300] {
        let library = demo::rig(joints, 10, 5).unwrap();
        let mut engine = engine_on(gpu_with_limits(least.clone()), &library);
        assert_evaluates(&mut engine, &library, &blended(&library, 7, 1), Outputs::ALL);
        assert_evaluates(&mut engine, &library, &blended(&library, 7, 3), Outputs::ALL);
    }
}

#[test]
fn a_software_renderer_refuses_goals_far_below_the_root() {
    let with_goals = |goals: usize, scale: DVec3| {
        let joint = |index: usize| Joint {
            parent: index.checked_sub(1),
            rest: Transform { scale: if index == 0 { scale } else { DVec3::ONE }, ..Transform::IDENTITY },
            ..Joint::default()
        };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, (0..12_001).map(joint).collect(), Vec::new()).unwrap());
        let kind = ChainKind::Aim { joint: 12_000, forward: [0.0, 0.0, 1.0], limit: 1.0 };
        let chain = library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        let mut crowd = Crowd::new();
        crowd.push(skeleton, &[]).unwrap();
        let (target, weight) = (GoalTarget::Point([1.0, 0.0, 1.0]), GoalWeight::Fixed(1.0));
        crowd.set_goals(0, vec![Goal { chain, target, weight }; goals]).unwrap();
        GpuCrowd::new(engine(&library).library(), &crowd, Outputs { model: true, ..Outputs::NONE })
    };
    let uneven = DVec3::new(1.0, 2.0, 1.0);
    let far = with_goals(2, uneven);
    if gpu().is_hardware() {
        far.unwrap();
    } else {
        assert_limit(far.unwrap_err(), "the CPU engine has no such limit", 24_002, 24_000);
    }
    with_goals(1, uneven).unwrap();
    with_goals(2, DVec3::ONE).unwrap();
}
