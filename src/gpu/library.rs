//! A library on the GPU, with its pipelines.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::gpu::kernels::{
    EVENTS_BINDINGS, POSE_BINDINGS, PipelineCache, ROOT_MOTION_BINDINGS, SideKernel, VisibleKernels, bind_group_layout,
    kernel_limits,
};
use crate::gpu::plan::{Plan, PoseKernel};
use crate::gpu::shader::{Composed, EVENTS_ENTRY, POSE_ENTRY, ROOT_MOTION_ENTRY};
use crate::gpu::{KernelForm, Scopes, largest_binding, upload};
use crate::model::Mixing;
use crate::pack::PackedLibrary;

/// A packed library in GPU buffers, with the pipelines that pose its skeletons.
///
/// It belongs to one device. Any number of [`GpuCrowd`](crate::gpu::GpuCrowd)s share it. It holds the library as it was when it
/// was packed. To use a skeleton or a clip that is added later, pack and upload again.
///
/// Each process compiles the pipelines anew, without a [`wgpu::PipelineCache`]: wgpu trusts the bytes of such a cache, so that
/// its creation is `unsafe`, and this crate allows `unsafe` only in the kernels of the CPU. Most drivers have a cache of their
/// own, so that a second start is faster. `posse bench` reports the time of a start. Libraries made by
/// [`repacked`](Self::repacked) share their pipelines.
///
/// # Examples
/// ```
/// use posse::{AdapterKind, GpuContext, GpuLibrary, PackedLibrary, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let library = GpuLibrary::new(&gpu.device, PackedLibrary::new(&demo::library()?)?)?;
/// // Another library on the same device compiles only the kernels that differ.
/// let rigs = library.repacked(PackedLibrary::new(&demo::rig(8, 10, 2)?)?)?;
/// assert_eq!(rigs.form(), library.form());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuLibrary {
    device: wgpu::Device,
    pub(super) packed: PackedLibrary,
    pub(super) words: wgpu::Buffer,
    pub(super) values: wgpu::Buffer,
    pub(super) layout: wgpu::BindGroupLayout,
    form: KernelForm,
    /// The pipelines of the pose pass, each compiled at the first request.
    pose_pipelines: Mutex<HashMap<PoseKernel, wgpu::ComputePipeline>>,
    /// All pipelines of this library and of those that share them, by source.
    cache: Arc<PipelineCache>,
    visible_kernels: OnceLock<VisibleKernels>,
    root_motion_kernel: OnceLock<SideKernel>,
    events_kernel: OnceLock<SideKernel>,
}

impl GpuLibrary {
    /// The least limits of a device: those that the kernels need, and otherwise [`wgpu::Limits::downlevel_defaults`].
    /// [`wgpu::Limits::default`] is enough, too. Buffers grow with `max_buffer_size` and `max_storage_buffer_binding_size`. To
    /// combine these limits with those of a program, use [`wgpu::Limits::or_better_values_from`].
    pub fn required_limits() -> wgpu::Limits {
        let others = wgpu::Limits::downlevel_defaults();
        kernel_limits(others.clone()).or_better_values_from(&others)
    }

    /// Uploads a packed library and creates its pipelines in the form that suits the device. Nothing is submitted.
    ///
    /// # Errors
    /// * [`Error::Limit`] if the device allows less than [`required_limits`](Self::required_limits), or if the packed library
    ///   does not fit a binding.
    /// * [`Error::Shader`] and [`Error::Device`] if the device refuses a kernel or a buffer.
    pub fn new(device: &wgpu::Device, packed: PackedLibrary) -> Result<Self, Error> {
        Self::with_form(KernelForm::for_device(device), device, packed)
    }

    /// As [`new`](Self::new), in a given form.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_form(form: KernelForm, device: &wgpu::Device, packed: PackedLibrary) -> Result<Self, Error> {
        Self::with_cache(Arc::default(), form, device, packed)
    }

    /// Uploads another packed library to the same device, in the same form. Both libraries share their pipelines: only the
    /// missing ones are compiled, often none.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn repacked(&self, packed: PackedLibrary) -> Result<Self, Error> {
        Self::with_cache(self.cache.clone(), self.form, &self.device, packed)
    }

    fn with_cache(
        cache: Arc<PipelineCache>,
        form: KernelForm,
        device: &wgpu::Device,
        packed: PackedLibrary,
    ) -> Result<Self, Error> {
        check_limits(device)?;
        check_size(
            device,
            "words of a packed library, in bytes (split the library)",
            4 * packed.arrays.words.len() as u64,
        )?;
        check_size(
            device,
            "values of a packed library, in bytes (split or compress the library)",
            16 * packed.arrays.values.len() as u64,
        )?;
        let scopes = Scopes::push(device);
        let words = upload(device, "posse words", bytemuck::cast_slice(&packed.arrays.words));
        let values = upload(device, "posse values", bytemuck::cast_slice(&packed.arrays.values));
        let layout = bind_group_layout(device, &POSE_BINDINGS);
        scopes.pop()?;
        let library = Self {
            device: device.clone(),
            packed,
            words: words?,
            values: values?,
            layout,
            form,
            pose_pipelines: Mutex::default(),
            cache,
            visible_kernels: OnceLock::new(),
            root_motion_kernel: OnceLock::new(),
            events_kernel: OnceLock::new(),
        };
        // Kernels that mix, and those of other skin formats, are compiled for the first crowd that needs them.
        for skeleton in &library.packed.skeletons {
            library.pose_pipeline(device, &Plan::new(form, Mixing::None, &skeleton.record, 1).kernel)?;
        }
        Ok(library)
    }

    /// The form of the kernels that pose. Work that is too much for one lane is done in the parallel form;
    /// [`GpuBatch::form`](crate::gpu::GpuBatch::form) returns the form of each batch.
    pub fn form(&self) -> KernelForm {
        self.form
    }

    /// Refuses a device that is not the device of the library: wgpu panics if objects of two devices are used together.
    ///
    /// # Errors
    /// [`Error::Usage`] for another device. wgpu compares device numbers only: devices of two wgpu instances may seem equal.
    pub(super) fn check_device(&self, device: &wgpu::Device) -> Result<(), Error> {
        if *device == self.device {
            return Ok(());
        }
        let reason =
            "the library is on another device; use the one that GpuLibrary::new was given, or make a library there";
        Err(Error::Usage(reason.into()))
    }

    /// The pipeline of a kernel that poses, compiled at the first request. Two threads may compile the same pipeline: no thread
    /// waits while another compiles.
    pub(super) fn pose_pipeline(
        &self,
        device: &wgpu::Device,
        kernel: &PoseKernel,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let pipelines = || self.pose_pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = pipelines().get(kernel) {
            return Ok(ready.clone());
        }
        let composed = Composed::pose(kernel, self.packed.features, &self.packed.interpolators);
        let compiled = self.cache.pipeline(device, &self.layout, &composed, POSE_ENTRY)?;
        Ok(pipelines().entry(*kernel).or_insert(compiled).clone())
    }

    /// The kernels of visible lists, compiled at the first request.
    pub(super) fn visible_kernels(&self, device: &wgpu::Device) -> Result<&VisibleKernels, Error> {
        get_or_create(&self.visible_kernels, || VisibleKernels::new(device, &self.cache))
    }

    /// The kernel of root motion, compiled at the first request.
    pub(super) fn root_motion_kernel(&self, device: &wgpu::Device) -> Result<&SideKernel, Error> {
        get_or_create(&self.root_motion_kernel, || {
            let composed = Composed::root_motion(self.packed.features);
            SideKernel::new(device, &self.cache, &composed, &ROOT_MOTION_BINDINGS, ROOT_MOTION_ENTRY)
        })
    }

    /// The kernel that lists events, compiled at the first request.
    pub(super) fn events_kernel(&self, device: &wgpu::Device) -> Result<&SideKernel, Error> {
        get_or_create(&self.events_kernel, || {
            SideKernel::new(device, &self.cache, &Composed::events(), &EVENTS_BINDINGS, EVENTS_ENTRY)
        })
    }
}

/// The contents of a cell, created if it is empty. Two threads may both create them; the first to finish fills the cell.
fn get_or_create<T>(cell: &OnceLock<T>, create: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    if let Some(ready) = cell.get() {
        return Ok(ready);
    }
    let created = create()?;
    Ok(cell.get_or_init(|| created))
}

fn check_limits(device: &wgpu::Device) -> Result<(), Error> {
    let given = device.limits();
    let mut short = None;
    kernel_limits(given.clone()).check_limits_with_fail_fn(&given, true, |name, needed, allowed| {
        let what = format!("the device's {name} (request at least GpuLibrary::required_limits)");
        short = Some(Error::Limit { what, needed, allowed });
    });
    short.map_or(Ok(()), Err)
}

fn check_size(device: &wgpu::Device, what: &str, needed: u64) -> Result<(), Error> {
    let allowed = largest_binding(device);
    if needed > allowed { Err(Error::Limit { what: what.into(), needed, allowed }) } else { Ok(()) }
}
