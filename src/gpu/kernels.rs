//! Kernels: their bind group layouts, and their pipelines.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::gpu::shader::Composed;
use crate::gpu::{Scopes, fault_point};
use crate::kernels::plan::{WORKGROUP_BYTES, WORKGROUPS};
use crate::kernels::{Access, Binding, DeviceLimits, Pass};
use crate::pack::record::BatchRecord;

/// `others` with those limits replaced that the kernels depend on. Of all kernels, the kernels of the pose pass need
/// the most.
pub fn kernel_limits(others: wgpu::Limits) -> wgpu::Limits {
    let bindings = Pass::Pose.bindings();
    let count = |kinds: &[Access]| bindings.iter().filter(|binding| kinds.contains(&binding.access)).count() as u32;
    let largest_workgroup = WORKGROUPS.iter().map(|workgroup| workgroup.size).fold(0, u32::max);
    wgpu::Limits {
        max_bind_groups: 1,
        max_bindings_per_bind_group: bindings.len() as u32,
        max_storage_buffers_per_shader_stage: count(&[Access::Read, Access::ReadWrite]),
        max_uniform_buffers_per_shader_stage: count(&[Access::Uniform]),
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

/// What the libraries on one device share.
#[derive(Debug, Default)]
pub(super) struct PipelineCache {
    /// The compiled pipelines, by source.
    pipelines: Mutex<HashMap<PipelineSource, wgpu::ComputePipeline>>,
    /// True if the device packs `f16` to the nearest; found out for the first kernel that writes half matrices.
    pub packs_to_nearest: OnceLock<bool>,
}

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
        let pipelines = || self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
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
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl SideKernel {
    /// Creates the kernel; its pipeline comes from the cache.
    pub async fn new(
        device: &wgpu::Device,
        cache: &PipelineCache,
        composed: &Composed,
        pass: Pass,
    ) -> Result<Self, Error> {
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, pass);
        scopes.pop().await?;
        let name = pass.entry_point();
        Ok(Self { name, pipeline: cache.pipeline(device, &layout, composed, name).await?, layout })
    }

    /// A pass of `groups` workgroups over buffers in the order of the bindings.
    pub fn pass(&self, device: &wgpu::Device, buffers: &[&wgpu::Buffer], groups: u32) -> SidePass {
        SidePass {
            name: self.name,
            pipeline: self.pipeline.clone(),
            bind_group: bind_group(device, &self.layout, buffers),
            dispatch: Dispatch::new(device, groups),
        }
    }
}

/// A kernel beside the pose pass, with the buffers of a batch.
#[derive(Debug)]
pub(super) struct SidePass {
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    dispatch: Dispatch,
}

impl SidePass {
    /// Records the pass.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.push_debug_group(self.name);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.dispatch.record(pass);
        pass.pop_debug_group();
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
        let layout = bind_group_layout(device, Pass::CollectVisible);
        scopes.pop().await?;
        let collect = cache.pipeline(device, &layout, &composed, Pass::CollectVisible.entry_point()).await?;
        let measure = cache.pipeline(device, &layout, &composed, Pass::MeasureVisible.entry_point()).await?;
        Ok(Self { layout, collect, measure })
    }
}

/// The layout of the only bind group of a kernel.
pub(super) fn bind_group_layout(device: &wgpu::Device, pass: Pass) -> wgpu::BindGroupLayout {
    let entry = |(binding, Binding { access, .. }): (u32, &Binding)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match access {
                Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                Access::Uniform => wgpu::BufferBindingType::Uniform,
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..).zip(pass.bindings()).map(entry).collect();
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

/// The largest binding of storage that a device allows, in bytes. It is at most `u32::MAX`: kernels address with 32
/// bits.
pub fn largest_binding(device: &wgpu::Device) -> u64 {
    let limits = device.limits();
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(u32::MAX.into())
}

/// The limits of a device for the batches of a crowd.
pub(super) fn device_limits(device: &wgpu::Device) -> DeviceLimits {
    let max_groups_per_row = device.limits().max_compute_workgroups_per_dimension;
    DeviceLimits { max_binding_bytes: largest_binding(device), max_groups_per_row }
}

/// The size of a dispatch: rows of workgroups, each as long as the device allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dispatch([u32; 2]);

impl Dispatch {
    /// The dispatch of `groups` workgroups.
    pub fn new(device: &wgpu::Device, groups: u32) -> Self {
        Self(device_limits(device).rows(groups))
    }

    /// Records the dispatch.
    pub fn record(self, pass: &mut wgpu::ComputePass) {
        let Self([groups_per_row, rows]) = self;
        pass.dispatch_workgroups(groups_per_row, rows, 1);
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
