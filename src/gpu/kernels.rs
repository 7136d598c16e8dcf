//! Kernels: their bindings, and their pipelines.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::gpu::plan::{WORKGROUP_BYTES, WORKGROUPS};
use crate::gpu::shader::{Composed, VISIBLE_COLLECT_ENTRY, VISIBLE_MEASURE_ENTRY};
use crate::gpu::{Scopes, fault_point};
use crate::pack::record::BatchRecord;

/// The kind of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// Storage that is read.
    Read,
    /// Storage that is written.
    Write,
    /// A uniform.
    Uniform,
}

/// The bindings of the pose pass, in order, by their names in WGSL.
pub(super) const POSE_BINDINGS: [(&str, Binding); 10] = [
    ("words", Binding::Read),
    ("values", Binding::Read),
    ("layers", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("local_out", Binding::Write),
    ("model_out", Binding::Write),
    ("skin_out", Binding::Write),
    ("values_out", Binding::Write),
    ("lists", Binding::Read),
];

/// The bindings of the kernels of visible lists.
pub(super) const VISIBLE_BINDINGS: [(&str, Binding); 6] = [
    ("words", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("visible", Binding::Read),
    ("due", Binding::Write),
    ("workgroups", Binding::Write),
];

/// The bindings of the kernel of root motion.
pub(super) const ROOT_MOTION_BINDINGS: [(&str, Binding); 6] = [
    ("words", Binding::Read),
    ("values", Binding::Read),
    ("layers", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("root_motion_out", Binding::Write),
];

/// The bindings of the kernel that plays layers.
pub(super) const PLAY_BINDINGS: [(&str, Binding); 5] = [
    ("words", Binding::Read),
    ("values", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("layers", Binding::Write),
];

/// The bindings of the kernel that drives layers.
pub(super) const DRIVE_BINDINGS: [(&str, Binding); 7] = [
    ("words", Binding::Read),
    ("drives", Binding::Read),
    ("parameters", Binding::Read),
    ("parameters_before", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("layers", Binding::Write),
];

/// The bindings of the kernel that reads the parameters of goals.
pub(super) const RESOLVE_GOALS_BINDINGS: [(&str, Binding); 5] = [
    ("words", Binding::Read),
    ("goals", Binding::Read),
    ("parameters", Binding::Read),
    ("batch", Binding::Uniform),
    ("lists", Binding::Write),
];

/// The bindings of the kernel that lists events.
pub(super) const EVENTS_BINDINGS: [(&str, Binding); 7] = [
    ("words", Binding::Read),
    ("layers", Binding::Read),
    ("instances", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("list", Binding::Write),
    ("drives", Binding::Read),
];

/// `others` with those limits replaced that the kernels depend on. Of all kernels, the kernels of the pose pass need
/// the most.
pub fn kernel_limits(others: wgpu::Limits) -> wgpu::Limits {
    let count = |kinds: &[Binding]| POSE_BINDINGS.iter().filter(|(_, kind)| kinds.contains(kind)).count() as u32;
    let largest_workgroup = WORKGROUPS.iter().map(|workgroup| workgroup.size).fold(0, u32::max);
    wgpu::Limits {
        max_bind_groups: 1,
        max_bindings_per_bind_group: POSE_BINDINGS.len() as u32,
        max_storage_buffers_per_shader_stage: count(&[Binding::Read, Binding::Write]),
        max_uniform_buffers_per_shader_stage: count(&[Binding::Uniform]),
        max_uniform_buffer_binding_size: size_of::<BatchRecord>() as u64,
        max_compute_workgroup_storage_size: WORKGROUP_BYTES,
        max_compute_invocations_per_workgroup: largest_workgroup,
        max_compute_workgroup_size_x: largest_workgroup,
        max_compute_workgroup_size_y: 1,
        max_compute_workgroup_size_z: 1,
        max_compute_workgroups_per_dimension: 1,
        ..others
    }
}

/// The source of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PipelineSource {
    entry_point: &'static str,
    code: String,
}

/// The pipelines that the libraries on one device have compiled, by source.
#[derive(Debug, Default)]
pub(super) struct PipelineCache(Mutex<HashMap<PipelineSource, wgpu::ComputePipeline>>);

impl PipelineCache {
    /// The pipeline of an entry point, compiled at the first request. Two threads may compile the same pipeline: no
    /// thread waits while another compiles.
    pub async fn pipeline(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        composed: &Composed,
        entry_point: &'static str,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let pipelines = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let source = PipelineSource { entry_point, code: composed.code.clone() };
        if let Some(ready) = pipelines().get(&source) {
            return Ok(ready.clone());
        }
        let module = composed.compile(device).await?;
        let compiled = create_pipeline(device, layout, &module, entry_point).await?;
        Ok(pipelines().entry(source).or_insert(compiled).clone())
    }
}

/// A kernel beside the pose pass, with the layout of its only bind group.
#[derive(Debug)]
pub(super) struct SideKernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl SideKernel {
    /// Creates the kernel; its pipeline comes from the cache.
    pub async fn new(
        device: &wgpu::Device,
        cache: &PipelineCache,
        composed: &Composed,
        bindings: &[(&str, Binding)],
        entry_point: &'static str,
    ) -> Result<Self, Error> {
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, bindings);
        scopes.pop().await?;
        Ok(Self { pipeline: cache.pipeline(device, &layout, composed, entry_point).await?, layout })
    }

    /// A pass of `groups` workgroups over buffers in the order of the bindings.
    pub fn pass(&self, device: &wgpu::Device, buffers: &[&wgpu::Buffer], groups: u32) -> SidePass {
        SidePass {
            pipeline: self.pipeline.clone(),
            bind_group: bind_group(device, &self.layout, buffers),
            dispatch: Dispatch::new(device, groups),
        }
    }
}

/// A kernel beside the pose pass, with the buffers of a batch.
#[derive(Debug)]
pub(super) struct SidePass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    dispatch: Dispatch,
}

impl SidePass {
    /// Records the pass.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.dispatch.record(pass);
    }
}

/// The kernels of visible lists, which run before the pose pass.
#[derive(Debug)]
pub(super) struct VisibleKernels {
    pub layout: wgpu::BindGroupLayout,
    pub collect: wgpu::ComputePipeline,
    pub measure: wgpu::ComputePipeline,
}

impl VisibleKernels {
    /// Creates the kernels; their pipelines come from the cache.
    pub async fn new(device: &wgpu::Device, cache: &PipelineCache) -> Result<Self, Error> {
        let composed = Composed::visible();
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, &VISIBLE_BINDINGS);
        scopes.pop().await?;
        let collect = cache.pipeline(device, &layout, &composed, VISIBLE_COLLECT_ENTRY).await?;
        let measure = cache.pipeline(device, &layout, &composed, VISIBLE_MEASURE_ENTRY).await?;
        Ok(Self { layout, collect, measure })
    }
}

/// The layout of the only bind group of a kernel.
pub(super) fn bind_group_layout(device: &wgpu::Device, bindings: &[(&str, Binding)]) -> wgpu::BindGroupLayout {
    let entry = |(index, (_, binding)): (usize, &(&str, Binding))| wgpu::BindGroupLayoutEntry {
        binding: index as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding {
                Binding::Read => wgpu::BufferBindingType::Storage { read_only: true },
                Binding::Write => wgpu::BufferBindingType::Storage { read_only: false },
                Binding::Uniform => wgpu::BufferBindingType::Uniform,
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = bindings.iter().enumerate().map(entry).collect();
    fault_point(device);
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("posse"), entries: &entries })
}

/// Binds buffers in the order of the bindings.
pub(super) fn bind_group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries = (0..).zip(buffers);
    let entries: Vec<_> = entries
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    fault_point(device);
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("posse"), layout, entries: &entries })
}

/// The size of a dispatch: rows of workgroups, each as long as the device allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dispatch {
    groups_per_row: u32,
    rows: u32,
}

impl Dispatch {
    /// The dispatch of `groups` workgroups. The last row may have more workgroups than are needed.
    pub fn new(device: &wgpu::Device, groups: u32) -> Self {
        let most = device.limits().max_compute_workgroups_per_dimension;
        Self { groups_per_row: groups.min(most), rows: groups.div_ceil(most) }
    }

    /// Records the dispatch.
    pub fn record(self, pass: &mut wgpu::ComputePass) {
        pass.dispatch_workgroups(self.groups_per_row, self.rows, 1);
    }
}

/// Creates the pipeline of an entry point.
async fn create_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    module: &wgpu::ShaderModule,
    entry_point: &str,
) -> Result<wgpu::ComputePipeline, Error> {
    let scopes = Scopes::push(device);
    fault_point(device);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("posse"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    fault_point(device);
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&format!("posse {entry_point}")),
        layout: Some(&layout),
        module,
        entry_point: Some(entry_point),
        compilation_options: wgpu::PipelineCompilationOptions {
            // Kernels read workgroup memory that they have not written only for parts without keys, and drop what
            // follows from it (`pose_between`).
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    scopes.pop().await?;
    Ok(pipeline)
}
