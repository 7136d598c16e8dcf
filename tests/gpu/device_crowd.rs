//! Crowds packed for a device of the caller: the kernels and buffers that `posse::kernels` describes, dispatched by a
//! program that has nothing else, give the numbers of the engine to the bit.

use std::collections::{HashMap, HashSet};

use posse::gpu::{GpuContext, GpuCrowd, GpuEngine, KernelText};
use posse::kernels::{
    Access, Binding, Buffer, DeviceBatch, DeviceCrowd, DeviceLimits, Pass, frame_bytes, library_buffer,
};
use posse::low_level::device::{largest_binding, read_buffers};
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Error, Mixing, Outputs, SkinFormat, Step, Ticks, demo};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::support::cases::cases;
use crate::support::gpu_library::gpu_engine_for;
use crate::support::scenes::scenes;

const USAGES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::UNIFORM)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

fn buffer(gpu: &GpuContext, bytes: u64, contents: &[u8]) -> wgpu::Buffer {
    let descriptor =
        wgpu::BufferDescriptor { label: None, size: bytes.max(16), usage: USAGES, mapped_at_creation: false };
    let buffer = gpu.device.create_buffer(&descriptor);
    gpu.queue.write_buffer(&buffer, 0, contents);
    buffer
}

/// A pipeline and the layout of its bind group, from nothing but the text of a kernel and the bindings of its pass.
fn pipeline(gpu: &GpuContext, text: &KernelText) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
    let device = &gpu.device;
    let entry = |(binding, found): (u32, &Binding)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match found.access {
                Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                Access::Uniform => wgpu::BufferBindingType::Uniform,
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..).zip(text.pass.bindings()).map(entry).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let source = wgpu::ShaderSource::Wgsl(text.wgsl.as_str().into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let of_pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(&layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&of_pipeline),
        module: &module,
        entry_point: Some(text.pass.entry_point()),
        compilation_options: Default::default(),
        cache: None,
    });
    (pipeline, layout)
}

/// Dispatches a frame of a batch, and returns the numbers of its buffers.
fn play(
    gpu: &GpuContext,
    packed: &PackedLibrary,
    batch: &DeviceBatch,
    texts: &[KernelText],
    step: Step,
) -> HashMap<Buffer, Vec<u32>> {
    let mut buffers: HashMap<Buffer, wgpu::Buffer> =
        batch.buffers.iter().map(|found| (found.buffer, buffer(gpu, found.bytes, &found.contents))).collect();
    for of_library in [Buffer::Words, Buffer::Values] {
        let (contents, bytes) = library_buffer(packed, of_library).expect("a buffer of the library");
        buffers.insert(of_library, buffer(gpu, bytes, contents));
    }
    gpu.queue.write_buffer(&buffers[&Buffer::Frame], 0, &frame_bytes(step));
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    for dispatch in &batch.dispatches {
        let text = texts.iter().find(|text| text.name == dispatch.kernel).expect("a kernel of the crowd");
        let (pipeline, layout) = pipeline(gpu, text);
        let bindings = text.pass.bindings().iter();
        let bound: Vec<_> = bindings
            .map(|found| buffers.get(&found.buffer).cloned().unwrap_or_else(|| buffer(gpu, 256, &[])))
            .collect();
        let entries = (0..).zip(&bound);
        let entries =
            entries.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        let entries: Vec<_> = entries.collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &gpu.device.create_bind_group(&descriptor), &[]);
        pass.dispatch_workgroups(dispatch.groups[0], dispatch.groups[1], 1);
    }
    drop(pass);
    let wanted: Vec<_> = batch.buffers.iter().map(|found| (found.buffer, 0..found.bytes)).collect();
    let ranges: Vec<_> = wanted.iter().map(|(buffer, range)| (&buffers[buffer], range.clone())).collect();
    let read = pollster::block_on(read_buffers(gpu.into(), encoder, &ranges)).unwrap();
    wanted.iter().zip(read).map(|((buffer, _), bytes)| (*buffer, bytemuck::pod_collect_to_vec(&bytes))).collect()
}

/// The bits of the outputs of each instance that the engine poses, with the passes of a frame in one compute pass, or
/// each in one of its own.
fn bits(engine: &GpuEngine, on_gpu: &GpuCrowd, step: Step, each_pass: bool) -> HashMap<(usize, Buffer), Vec<u32>> {
    let gpu = engine.gpu();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    if each_pass {
        on_gpu.encode_each_pass(&mut encoder, step, &|_| None);
    } else {
        on_gpu.encode(&mut encoder, step);
    }
    gpu.queue.submit([encoder.finish()]);
    let mut found = HashMap::new();
    for batch in on_gpu.batches() {
        let read = engine.read(batch, 0..batch.instances().len()).unwrap();
        let outputs = [
            (Buffer::Local, read.local, batch.layout().local),
            (Buffer::Model, read.model, batch.layout().model),
            (Buffer::Skin, read.skin, batch.layout().skin),
            (Buffer::Numbers, read.values, batch.layout().values),
            (Buffer::RootMotion, read.root_motion, batch.layout().root_motion),
        ];
        for (buffer, numbers, count) in outputs.into_iter().filter(|&(_, _, count)| count > 0) {
            for (&instance, numbers) in batch.instances().iter().zip(numbers.chunks(count)) {
                let bits: Vec<u32> = numbers.iter().map(|number| number.to_bits()).collect();
                found.insert((instance, buffer), bits);
            }
        }
    }
    found
}

/// Asserts that a crowd packed for these limits has the kernels, the passes and, in each instance, the numbers of the
/// engine, and returns it.
#[track_caller]
fn assert_same(
    engine: &GpuEngine,
    packed: &PackedLibrary,
    (crowd, step): (&Crowd, Step),
    (outputs, options): (Outputs, CrowdOptions),
    limits: DeviceLimits,
) -> DeviceCrowd {
    let gpu = engine.gpu();
    let [on_gpu, other] = [(); 2].map(|()| GpuCrowd::with_options(engine.library(), crowd, outputs, options).unwrap());
    let expected = bits(engine, &on_gpu, step, false);
    assert!(bits(engine, &other, step, true) == expected, "the passes one by one");
    let packed_crowd = DeviceCrowd::new(packed, crowd, outputs, options, limits).unwrap();
    let dispatches = || packed_crowd.batches.iter().flat_map(|batch| &batch.dispatches);
    let is_dispatched = |pass: &Pass| dispatches().any(|dispatch| dispatch.pass == *pass);
    assert_eq!(on_gpu.passes(), Pass::ALL.into_iter().filter(is_dispatched).collect::<Vec<_>>());
    let texts = KernelText::of_crowd(packed, &packed_crowd);
    let mut compared = 0;
    for batch in &packed_crowd.batches {
        let (same, _) = on_gpu.find(batch.instances[0]);
        let pose = batch.dispatches.iter().find(|dispatch| dispatch.pass == Pass::Pose).unwrap();
        assert_eq!((&batch.layout, pose.kernel.as_str()), (same.layout(), same.kernel()));
        let found = play(gpu, packed, batch, &texts, step);
        for (slot, &instance) in batch.instances.iter().enumerate() {
            for (&(_, buffer), bits) in expected.iter().filter(|((of, _), _)| *of == instance) {
                let own = &found[&buffer][slot * bits.len()..][..bits.len()];
                assert!(own == bits, "instance {instance}, {}", buffer.name());
                compared += 1;
            }
        }
    }
    assert_eq!(compared, expected.len());
    packed_crowd
}

fn limits(gpu: &GpuContext) -> DeviceLimits {
    DeviceLimits {
        max_binding_bytes: largest_binding(&gpu.device),
        max_groups_per_row: gpu.device.limits().max_compute_workgroups_per_dimension,
    }
}

#[test]
fn kernels_dispatched_by_their_description_give_the_numbers_of_the_engine() {
    let mut runner = TestRunner::new(cases(6, 531));
    let mut passes = Vec::new();
    for _ in 0..6 {
        let spec = scenes(80, 8).new_tree(&mut runner).unwrap().current();
        let scene = spec.with_goals(spec.moving_scene());
        let packed = PackedLibrary::new(&scene.library).unwrap();
        let engine = gpu_engine_for(packed.clone()).unwrap();
        println!("{spec:#?}");
        let posed = (&scene.crowd, scene.step);
        let wanted = (Outputs::ALL, CrowdOptions::NONE);
        let crowd = assert_same(&engine, &packed, posed, wanted, limits(engine.gpu()));
        let dispatches = crowd.batches.iter().flat_map(|batch| &batch.dispatches);
        passes.extend(dispatches.map(|dispatch| dispatch.pass.entry_point()));
    }
    for pass in ["drive_layers", "play_layers", "resolve_goals", "pose", "root_motion"] {
        assert!(passes.contains(&pass), "no scene has {pass}");
    }
}

#[test]
fn skins_alone_are_posed_in_rows_of_workgroups_and_in_several_batches() {
    let library = demo::library().unwrap();
    let packed = PackedLibrary::new(&library).unwrap();
    let engine = gpu_engine_for(packed.clone()).unwrap();
    let crowd = demo::crowd(&library, 7).unwrap();
    let rows = DeviceLimits { max_groups_per_row: 2, ..limits(engine.gpu()) };
    for (mixing, layers) in [(Mixing::None, 1), (Mixing::Blend, 2)] {
        let options = CrowdOptions { mixing, layers, ..CrowdOptions::NONE };
        let step = Ticks::from_seconds(3.3).into();
        let found = assert_same(&engine, &packed, (&crowd, step), (Outputs::SKIN, options), rows);
        // An instance takes a workgroup: four of them are two rows, and so are three, with one workgroup too many.
        let instances: Vec<_> = found.batches.iter().map(|batch| batch.instances.len()).collect();
        assert_eq!(instances, [4, 3]);
        for dispatch in found.batches.iter().flat_map(|batch| &batch.dispatches) {
            if dispatch.pass == Pass::Pose {
                assert_eq!((dispatch.groups, dispatch.kernel.contains("_skins_")), ([2, 2], true), "{dispatch:?}");
            }
        }
    }
}

#[test]
fn the_kernels_of_a_library_are_enough_for_crowds_without_goals_and_transitions() {
    let mut runner = TestRunner::new(cases(3, 532));
    for _ in 0..3 {
        let scene = scenes(80, 4).new_tree(&mut runner).unwrap().current().moving_scene();
        let packed = PackedLibrary::new(&scene.library).unwrap();
        for format in [SkinFormat::Matrix, SkinFormat::HalfMatrix] {
            let texts = KernelText::of_library(&packed, format);
            let names: HashSet<&str> = texts.iter().map(|text| text.name.as_str()).collect();
            assert_eq!(names.len(), texts.len(), "a kernel is there once");
            for outputs in [Outputs::ALL, Outputs::SKIN, Outputs { model: true, ..Outputs::NONE }] {
                for layers in [0, 5] {
                    let options = CrowdOptions { layers, ..CrowdOptions::NONE };
                    let outputs = outputs.with_skin_format(format);
                    let crowd = DeviceCrowd::new(&packed, &scene.crowd, outputs, options, DeviceLimits::default());
                    for dispatch in crowd.unwrap().batches.iter().flat_map(|batch| &batch.dispatches) {
                        let kernel = dispatch.kernel.as_str();
                        assert!(
                            names.contains(kernel) || kernel.contains("_transitions"),
                            "{kernel} is not in {names:#?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_words_of_a_library_fit_a_binding() {
    let library = demo::library().unwrap();
    let packed = PackedLibrary::new(&library).unwrap();
    let crowd = demo::crowd(&library, 1).unwrap();
    let limits = DeviceLimits { max_binding_bytes: packed.words().len() as u64 - 1, ..DeviceLimits::default() };
    match DeviceCrowd::new(&packed, &crowd, Outputs::SKIN, CrowdOptions::NONE, limits) {
        Err(Error::Limit { needed, allowed, .. }) => {
            assert_eq!((needed, allowed), (allowed + 1, limits.max_binding_bytes))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn visible_lists_and_previous_skins_have_no_effect() {
    let library = demo::library().unwrap();
    let packed = PackedLibrary::new(&library).unwrap();
    let crowd = demo::crowd(&library, 3).unwrap();
    let dispatches = |options| {
        let crowd = DeviceCrowd::new(&packed, &crowd, Outputs::SKIN, options, DeviceLimits::default()).unwrap();
        format!("{:?}", crowd.batches[0].dispatches)
    };
    let options = CrowdOptions { visible: true, previous_skin: true, ..CrowdOptions::NONE };
    assert_eq!(dispatches(options), dispatches(CrowdOptions::NONE));
}
