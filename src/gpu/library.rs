//! A library on the GPU: what never changes, and the pipelines.

use std::sync::OnceLock;

use crate::error::Error;
use crate::gpu::seen::SeenKernels;
use crate::gpu::shader::{Composed, EVENTS_ENTRY, Kernel, MOTION_ENTRY, POSE_ENTRY, VARIANTS, Variant};
use crate::gpu::{events, motion};
use crate::pack::library::Packing;

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

/// The bindings of the kernel's only group, in order, by the names that WGSL gives them.
pub(super) const BINDINGS: [(&str, Binding); 10] = [
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

/// A packed library in GPU buffers, with the pipelines that pose its skeletons.
///
/// It belongs to one device. Any number of [`GpuCrowd`](crate::gpu::crowd::GpuCrowd)s share it.
///
/// Pipelines are compiled anew in each process, without a [`wgpu::PipelineCache`]: wgpu trusts the bytes that one is made
/// from, and so making one is `unsafe`, which this crate denies itself outside the CPU's kernels. Most drivers keep a cache
/// of their own, in which a second start finds what the first compiled. `posse bench` says what a start takes.
#[derive(Debug)]
pub struct GpuLibrary {
    pub(super) packing: Packing,
    pub(super) words: wgpu::Buffer,
    pub(super) values: wgpu::Buffer,
    pub(super) layout: wgpu::BindGroupLayout,
    /// By kernel, one for each of [`VARIANTS`] that was asked for.
    pipelines: [[OnceLock<wgpu::ComputePipeline>; VARIANTS.len()]; 2],
    seen_kernels: OnceLock<SeenKernels>,
    motion_kernel: OnceLock<SmallKernel>,
    events_kernel: OnceLock<SmallKernel>,
}

impl GpuLibrary {
    /// Uploads a packing and builds the pipelines for it. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Limit`] where the packing does not fit a binding of the device; [`Error::Shader`] and [`Error::Device`]
    /// where the device refuses.
    pub fn new(device: &wgpu::Device, packing: Packing) -> Result<Self, Error> {
        check_size(device, "words of a packed library, in bytes", 4 * packing.arrays.words.len() as u64)?;
        check_size(device, "values of a packed library, in bytes", 16 * packing.arrays.values.len() as u64)?;
        let scopes = Scopes::push(device);
        let words = upload(device, "posse words", bytemuck::cast_slice(&packing.arrays.words));
        let values = upload(device, "posse values", bytemuck::cast_slice(&packing.arrays.values));
        let layout = bind_group_layout(device, &BINDINGS);
        scopes.pop()?;
        let (words, values) = (words?, values?);
        let library = Self {
            packing,
            words,
            values,
            layout,
            pipelines: [const { [const { OnceLock::new() }; VARIANTS.len()] }; 2],
            seen_kernels: OnceLock::new(),
            motion_kernel: OnceLock::new(),
            events_kernel: OnceLock::new(),
        };
        // The kernel that mixes is made when the first crowd asks for it.
        for skeleton in &library.packing.skeletons {
            library.pipeline(device, Kernel::Plain, Variant::for_joints(skeleton.record.joint_count))?;
        }
        Ok(library)
    }

    /// The pipeline of a kernel for one of [`VARIANTS`], made where it is not there yet.
    pub(super) fn pipeline(
        &self,
        device: &wgpu::Device,
        kernel: Kernel,
        variant: usize,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let place = &self.pipelines[kernel as usize][variant];
        if let Some(ready) = place.get() {
            return Ok(ready.clone());
        }
        let composed = Composed::pose(kernel, &VARIANTS[variant], &self.packing.interpolators);
        let made = pipeline(device, &self.layout, &composed.compile(device)?, POSE_ENTRY)?;
        Ok(place.get_or_init(|| made).clone())
    }

    /// The kernels for crowds of which only what is seen is posed, made where they are not there yet.
    pub(super) fn seen_kernels(&self, device: &wgpu::Device) -> Result<&SeenKernels, Error> {
        if let Some(ready) = self.seen_kernels.get() {
            return Ok(ready);
        }
        let made = SeenKernels::new(device)?;
        Ok(self.seen_kernels.get_or_init(|| made))
    }

    /// The kernel of root motion, made where it is not there yet.
    pub(super) fn motion_kernel(&self, device: &wgpu::Device) -> Result<&SmallKernel, Error> {
        SmallKernel::get(&self.motion_kernel, device, Composed::motion, &motion::BINDINGS, MOTION_ENTRY)
    }

    /// The kernel that lists events, made where it is not there yet.
    pub(super) fn events_kernel(&self, device: &wgpu::Device) -> Result<&SmallKernel, Error> {
        SmallKernel::get(&self.events_kernel, device, Composed::events, &events::BINDINGS, EVENTS_ENTRY)
    }
}

/// A kernel beside the fused pass, and the layout of its only group.
#[derive(Debug)]
pub(super) struct SmallKernel {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

impl SmallKernel {
    fn get<'a>(
        place: &'a OnceLock<Self>,
        device: &wgpu::Device,
        composed: fn() -> Composed,
        bindings: &[(&str, Binding)],
        entry_point: &str,
    ) -> Result<&'a Self, Error> {
        if let Some(ready) = place.get() {
            return Ok(ready);
        }
        let module = composed().compile(device)?;
        let scopes = Scopes::push(device);
        let layout = bind_group_layout(device, bindings);
        scopes.pop()?;
        let pipeline = pipeline(device, &layout, &module, entry_point)?;
        Ok(place.get_or_init(|| Self { pipeline, layout }))
    }
}

/// The largest binding of storage that a device allows, in bytes; not beyond what 32 bits address, as kernels do.
pub(super) fn largest_binding(device: &wgpu::Device) -> u64 {
    let limits = device.limits();
    limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(u32::MAX.into())
}

fn check_size(device: &wgpu::Device, what: &str, needed: u64) -> Result<(), Error> {
    let allowed = largest_binding(device);
    if needed > allowed { Err(Error::Limit { what: what.into(), needed, allowed }) } else { Ok(()) }
}

/// A storage buffer with contents; never empty, since a binding may not be.
pub(super) fn upload(device: &wgpu::Device, label: &str, contents: &[u8]) -> Result<wgpu::Buffer, Error> {
    let contents = if contents.is_empty() { &[0; 16] } else { contents };
    filled_buffer(device, label, contents, wgpu::BufferUsages::STORAGE)
}

/// A buffer with contents, a multiple of 4 bytes. wgpu's `create_buffer_init` does the same, but panics where the device
/// is lost or out of memory.
///
/// # Errors
/// [`Error::Device`] in those cases; what the device reports to error scopes says more.
pub(super) fn filled_buffer(
    device: &wgpu::Device,
    label: &str,
    contents: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    let size = contents.len() as u64;
    let label = Some(label);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
    match buffer.get_mapped_range_mut(..) {
        Ok(mut view) => view.copy_from_slice(contents),
        Err(error) => return Err(Error::Device(format!("it is lost: {error}"))),
    }
    buffer.unmap();
    Ok(buffer)
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

/// Builds the pipeline of an entry point.
pub(super) fn pipeline(
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

/// Catches what a device reports, instead of the panic that is wgpu's default.
pub(super) struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    /// From now on.
    pub fn push(device: &wgpu::Device) -> Self {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Self([OutOfMemory, Internal, Validation].map(|filter| device.push_error_scope(filter)))
    }

    /// Until now.
    ///
    /// # Errors
    /// [`Error::Device`] with the first report.
    pub fn pop(self) -> Result<(), Error> {
        let [memory, internal, validation] = self.0;
        let reports = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        match reports.into_iter().flatten().next() {
            None => Ok(()),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(Error::Device("out of memory; ask for fewer instances or outputs at a time".into()))
            }
            Some(error) => Err(Error::Device(error.to_string())),
        }
    }
}
