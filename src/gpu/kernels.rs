//! Kernels: what they bind, and their pipelines.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::gpu::plan::{VARIANTS, WORKGROUP_BYTES};
use crate::gpu::scopes::Scopes;
use crate::gpu::shader::{Composed, VISIBLE_ENTRIES};
use crate::pack::record::BatchRecord;

/// What a binding of the kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// Storage that is read.
    Read,
    /// Storage that is written.
    Write,
    /// A uniform.
    Uniform,
}

/// The bindings of the fused pass, in order, by the names that WGSL gives them.
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
    ("due", Binding::Read),
];

/// Those of the kernels of what is visible.
pub(super) const VISIBLE_BINDINGS: [(&str, Binding); 6] = [
    ("words", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("visible", Binding::Read),
    ("due", Binding::Write),
    ("workgroups", Binding::Write),
];

/// Those of the kernel of root motion.
pub(super) const MOTION_BINDINGS: [(&str, Binding); 6] = [
    ("words", Binding::Read),
    ("values", Binding::Read),
    ("layers", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("motion_out", Binding::Write),
];

/// Those of the kernel that lists events.
pub(super) const EVENTS_BINDINGS: [(&str, Binding); 6] = [
    ("words", Binding::Read),
    ("layers", Binding::Read),
    ("instances", Binding::Read),
    ("frame", Binding::Uniform),
    ("batch", Binding::Uniform),
    ("list", Binding::Write),
];

/// These limits, with what kernels need of a device where they need something: the fused pass needs the most of each.
pub(super) fn kernel_limits(others: wgpu::Limits) -> wgpu::Limits {
    let count = |kinds: &[Binding]| POSE_BINDINGS.iter().filter(|(_, kind)| kinds.contains(kind)).count() as u32;
    let largest_workgroup = VARIANTS.iter().map(|variant| variant.workgroup_size).fold(0, u32::max);
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

/// Kernels that libraries on one device have compiled, by entry point and source.
#[derive(Debug, Default)]
pub(super) struct Compiled(Mutex<HashMap<(&'static str, String), wgpu::ComputePipeline>>);

impl Compiled {
    /// The pipeline of an entry point, made where no library has made it yet. Two threads may make the same: no thread waits
    /// while another compiles.
    pub fn pipeline(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        composed: &Composed,
        entry_point: &'static str,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let pipelines = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (entry_point, composed.code.clone());
        if let Some(ready) = pipelines().get(&key) {
            return Ok(ready.clone());
        }
        let made = pipeline(device, layout, &composed.compile(device)?, entry_point)?;
        Ok(pipelines().entry(key).or_insert(made).clone())
    }
}

/// A kernel beside the fused pass, and the layout of its only group.
#[derive(Debug)]
pub(super) struct SmallKernel {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

impl SmallKernel {
    /// The kernel in its place, made where it is not there yet.
    pub fn get<'a>(
        place: &'a OnceLock<Self>,
        compiled: &Compiled,
        device: &wgpu::Device,
        composed: impl Fn() -> Composed,
        bindings: &[(&str, Binding)],
        entry_point: &'static str,
    ) -> Result<&'a Self, Error> {
        if let Some(ready) = place.get() {
            return Ok(ready);
        }
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, bindings);
        scopes.pop()?;
        let pipeline = compiled.pipeline(device, &layout, &composed(), entry_point)?;
        Ok(place.get_or_init(|| Self { pipeline, layout }))
    }
}

/// The kernels that come before the fused pass.
#[derive(Debug)]
pub(super) struct VisibleKernels {
    pub layout: wgpu::BindGroupLayout,
    pub collect: wgpu::ComputePipeline,
    pub measure: wgpu::ComputePipeline,
}

impl VisibleKernels {
    pub fn new(device: &wgpu::Device, compiled: &Compiled) -> Result<Self, Error> {
        let composed = Composed::visible();
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, &VISIBLE_BINDINGS);
        scopes.pop()?;
        let [collect, measure] = VISIBLE_ENTRIES.map(|entry| compiled.pipeline(device, &layout, &composed, entry));
        Ok(Self { layout, collect: collect?, measure: measure? })
    }
}

/// The layout of a kernel's only group.
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
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("posse"), entries: &entries })
}

/// Binds buffers, in the order of the bindings.
pub(super) fn bind_group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries = (0..).zip(buffers);
    let entries: Vec<_> = entries
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("posse"), layout, entries: &entries })
}

/// The rows of a dispatch of so many workgroups, of which a row has at most so many: workgroups of a row, and rows.
pub(super) fn workgroups(count: u32, most: u32) -> (u32, u32) {
    (count.min(most), count.div_ceil(most))
}

/// Builds the pipeline of an entry point.
fn pipeline(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    module: &wgpu::ShaderModule,
    entry_point: &str,
) -> Result<wgpu::ComputePipeline, Error> {
    let scopes = Scopes::push(device);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("posse"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&format!("posse {entry_point}")),
        layout: Some(&layout),
        module,
        entry_point: Some(entry_point),
        compilation_options: wgpu::PipelineCompilationOptions {
            // Every place is written before it is read.
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    scopes.pop().map(|()| pipeline)
}
