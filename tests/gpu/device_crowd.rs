//! Crowds packed for a device of the caller: the kernels and buffers that `posse::kernels` describes, dispatched by a
//! program that has nothing else, give the numbers of the engine to the bit.

use std::collections::HashMap;

use posse::gpu::{GpuContext, GpuCrowd, KernelText};
use posse::kernels::{Access, Binding, Buffer, DeviceBatch, DeviceCrowd, DeviceLimits, WORDS_PADDING, frame_bytes};
use posse::low_level::device::{largest_binding, read_buffers};
use posse::packed::PackedLibrary;
use posse::{CrowdOptions, Outputs, Step};
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
    let words = packed.words();
    let mut buffers: HashMap<Buffer, wgpu::Buffer> =
        batch.buffers.iter().map(|found| (found.buffer, buffer(gpu, found.bytes, &found.contents))).collect();
    buffers.insert(Buffer::Words, buffer(gpu, (words.len() + WORDS_PADDING) as u64, words));
    buffers.insert(Buffer::Values, buffer(gpu, packed.values().len() as u64, packed.values()));
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

#[test]
fn kernels_dispatched_by_their_description_give_the_numbers_of_the_engine() {
    let mut runner = TestRunner::new(cases(6, 531));
    let mut passes = Vec::new();
    for _ in 0..6 {
        let spec = scenes(80, 8).new_tree(&mut runner).unwrap().current();
        let scene = spec.with_goals(spec.moving_scene());
        let packed = PackedLibrary::new(&scene.library).unwrap();
        let engine = gpu_engine_for(packed.clone()).unwrap();
        let gpu = engine.gpu();
        let limits = gpu.device.limits();
        let limits = DeviceLimits {
            max_binding_bytes: largest_binding(&gpu.device),
            max_groups_per_row: limits.max_compute_workgroups_per_dimension,
        };
        let on_gpu = GpuCrowd::new(engine.library(), &scene.crowd, Outputs::ALL).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        on_gpu.encode(&mut encoder, scene.step);
        gpu.queue.submit([encoder.finish()]);
        let crowd = DeviceCrowd::new(&packed, &scene.crowd, Outputs::ALL, CrowdOptions::NONE, limits).unwrap();
        let texts = KernelText::of_crowd(&packed, &crowd);
        assert_eq!(crowd.batches.len(), on_gpu.batches().len());
        for (batch, expected) in crowd.batches.iter().zip(on_gpu.batches()) {
            assert_eq!(batch.instances, expected.instances());
            assert_eq!(batch.layout, *expected.layout());
            let found = play(gpu, &packed, batch, &texts, scene.step);
            let read = engine.read(expected, 0..batch.instances.len()).unwrap();
            for (buffer, numbers) in [
                (Buffer::Local, &read.local),
                (Buffer::Model, &read.model),
                (Buffer::Skin, &read.skin),
                (Buffer::Numbers, &read.values),
                (Buffer::RootMotion, &read.root_motion),
            ] {
                let own = found.get(&buffer).map_or(&[][..], Vec::as_slice);
                let bits: Vec<u32> = numbers.iter().map(|number| number.to_bits()).collect();
                assert!(own == bits, "{}: {spec:#?}", buffer.name());
            }
            passes.extend(batch.dispatches.iter().map(|dispatch| dispatch.pass.entry_point()));
        }
    }
    for pass in ["drive_layers", "play_layers", "resolve_goals", "pose", "root_motion"] {
        assert!(passes.contains(&pass), "no scene has {pass}");
    }
}
