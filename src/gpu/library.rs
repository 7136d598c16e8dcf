//! A library on the GPU: what never changes, and the pipelines.

use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::gpu::KernelForm;
use crate::gpu::buffers::{largest_binding, upload};
use crate::gpu::kernels::{
    Compiled, EVENTS_BINDINGS, MOTION_BINDINGS, POSE_BINDINGS, SmallKernel, VisibleKernels, bind_group_layout,
    kernel_limits,
};
use crate::gpu::plan::{Kernel, Plan, Spans, VARIANTS};
use crate::gpu::scopes::Scopes;
use crate::gpu::shader::{Composed, EVENTS_ENTRY, MOTION_ENTRY, POSE_ENTRY};
use crate::model::SkinFormat;
use crate::pack::PackedLibrary;

/// A packed library in GPU buffers, with the pipelines that pose its skeletons.
///
/// It belongs to one device. Any number of [`GpuCrowd`](crate::gpu::GpuCrowd)s share it. Like the packing it is the
/// library as it was when it was packed: what is added later needs another.
///
/// Pipelines are compiled anew in each process, without a [`wgpu::PipelineCache`]: wgpu trusts the bytes that one is made
/// from, and so making one is `unsafe`, which this crate denies itself outside the CPU's kernels. Most drivers keep a cache
/// of their own, in which a second start finds what the first compiled. `posse bench` says what a start takes. Libraries made
/// by [`repacked`](Self::repacked) share what either compiles.
#[derive(Debug)]
pub struct GpuLibrary {
    device: wgpu::Device,
    pub(super) packing: PackedLibrary,
    pub(super) words: wgpu::Buffer,
    pub(super) values: wgpu::Buffer,
    pub(super) layout: wgpu::BindGroupLayout,
    form: KernelForm,
    /// By kernel, variant, how many search results there are, and skin format: those that were asked for.
    pipelines: [[[[OnceLock<wgpu::ComputePipeline>; SkinFormat::ALL.len()]; Spans::ALL.len()]; VARIANTS.len()];
        Kernel::ALL.len()],
    /// By source, those of this library and of all that share them.
    compiled: Arc<Compiled>,
    visible_kernels: OnceLock<VisibleKernels>,
    motion_kernel: OnceLock<SmallKernel>,
    events_kernel: OnceLock<SmallKernel>,
}

impl GpuLibrary {
    /// What a device has to be asked for at least: what `posse`'s kernels need, and all else as in
    /// [`wgpu::Limits::downlevel_defaults`]. [`wgpu::Limits::default`] is enough, too. Larger buffers
    /// (`max_buffer_size`, `max_storage_buffer_binding_size`) are used where they are allowed; a program that needs more of
    /// other limits joins the two by [`wgpu::Limits::or_better_values_from`].
    pub fn required_limits() -> wgpu::Limits {
        let others = wgpu::Limits::downlevel_defaults();
        kernel_limits(others.clone()).or_better_values_from(&others)
    }

    /// Uploads a packing and builds the pipelines for it, in the form that suits the device. Nothing is submitted.
    ///
    /// # Errors
    /// [`Error::Limit`] where the device allows less than [`required_limits`](Self::required_limits) says, or the packing does
    /// not fit a binding; [`Error::Shader`] and [`Error::Device`] where the device refuses.
    pub fn new(device: &wgpu::Device, packing: PackedLibrary) -> Result<Self, Error> {
        Self::with_form(KernelForm::of(device), device, packing)
    }

    /// As [`new`](Self::new), in this form.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_form(form: KernelForm, device: &wgpu::Device, packing: PackedLibrary) -> Result<Self, Error> {
        Self::with_compiled(Arc::default(), form, device, packing)
    }

    /// Uploads another packing to the same device, in the same form. Both libraries share compiled kernels: the new one
    /// compiles those alone that it needs and this one has not, which is often none.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn repacked(&self, packing: PackedLibrary) -> Result<Self, Error> {
        Self::with_compiled(self.compiled.clone(), self.form, &self.device, packing)
    }

    fn with_compiled(
        compiled: Arc<Compiled>,
        form: KernelForm,
        device: &wgpu::Device,
        packing: PackedLibrary,
    ) -> Result<Self, Error> {
        check_limits(device)?;
        check_size(device, "words of a packed library, in bytes", 4 * packing.arrays.words.len() as u64)?;
        check_size(device, "values of a packed library, in bytes", 16 * packing.arrays.values.len() as u64)?;
        let scopes = Scopes::push(device);
        let words = upload(device, "posse words", bytemuck::cast_slice(&packing.arrays.words));
        let values = upload(device, "posse values", bytemuck::cast_slice(&packing.arrays.values));
        let layout = bind_group_layout(device, &POSE_BINDINGS);
        scopes.pop()?;
        let (words, values) = (words?, values?);
        let library = Self {
            device: device.clone(),
            packing,
            words,
            values,
            layout,
            form,
            pipelines: Default::default(),
            compiled,
            visible_kernels: OnceLock::new(),
            motion_kernel: OnceLock::new(),
            events_kernel: OnceLock::new(),
        };
        // The kernels that mix, and those of other skin formats, are made when the first crowd asks for them.
        for skeleton in &library.packing.skeletons {
            library.pipeline(device, &Plan::new(form, Kernel::Plain, &skeleton.record, 1))?;
        }
        Ok(library)
    }

    /// The form of the kernels that pose, but for what is too much for one lane: [`GpuBatch::form`](crate::gpu::GpuBatch::form)
    /// says of a crowd which poses it.
    pub fn form(&self) -> KernelForm {
        self.form
    }

    /// Refuses what is not the library's own device: wgpu stops the program where something of one device is used with another.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is another. Devices of two instances of wgpu may pass for one: it compares their numbers alone.
    pub(super) fn check_device(&self, device: &wgpu::Device) -> Result<(), Error> {
        if *device == self.device {
            return Ok(());
        }
        let reason =
            "the library is on another device; use the one that GpuLibrary::new was given, or make a library there";
        Err(Error::Usage(reason.into()))
    }

    /// The pipeline of a plan, made where it is not there yet.
    pub(super) fn pipeline(&self, device: &wgpu::Device, plan: &Plan) -> Result<wgpu::ComputePipeline, Error> {
        let Plan { kernel, variant, spans, skin_format, .. } = *plan;
        let place = &self.pipelines[kernel as usize][variant][spans as usize][skin_format as usize];
        if let Some(ready) = place.get() {
            return Ok(ready.clone());
        }
        let composed = Composed::pose(plan, self.packing.features, &self.packing.interpolators);
        let made = self.compiled.pipeline(device, &self.layout, &composed, POSE_ENTRY)?;
        Ok(place.get_or_init(|| made).clone())
    }

    /// The kernels for crowds of which only what is visible is posed, made where they are not there yet.
    pub(super) fn visible_kernels(&self, device: &wgpu::Device) -> Result<&VisibleKernels, Error> {
        if let Some(ready) = self.visible_kernels.get() {
            return Ok(ready);
        }
        let made = VisibleKernels::new(device, &self.compiled)?;
        Ok(self.visible_kernels.get_or_init(|| made))
    }

    /// The kernel of root motion, made where it is not there yet.
    pub(super) fn motion_kernel(&self, device: &wgpu::Device) -> Result<&SmallKernel, Error> {
        let composed = || Composed::motion(self.packing.features);
        SmallKernel::get(&self.motion_kernel, &self.compiled, device, composed, &MOTION_BINDINGS, MOTION_ENTRY)
    }

    /// The kernel that lists events, made where it is not there yet.
    pub(super) fn events_kernel(&self, device: &wgpu::Device) -> Result<&SmallKernel, Error> {
        SmallKernel::get(&self.events_kernel, &self.compiled, device, Composed::events, &EVENTS_BINDINGS, EVENTS_ENTRY)
    }
}

fn check_limits(device: &wgpu::Device) -> Result<(), Error> {
    let given = device.limits();
    let mut short = None;
    kernel_limits(given.clone()).check_limits_with_fail_fn(&given, true, |name, needed, allowed| {
        let what = format!("the device's {name} (ask for what GpuLibrary::required_limits gives)");
        short = Some(Error::Limit { what, needed, allowed });
    });
    short.map_or(Ok(()), Err)
}

fn check_size(device: &wgpu::Device, what: &str, needed: u64) -> Result<(), Error> {
    let allowed = largest_binding(device);
    if needed > allowed { Err(Error::Limit { what: what.into(), needed, allowed }) } else { Ok(()) }
}
