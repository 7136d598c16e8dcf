//! A library on the GPU, with its pipelines.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::gpu::allocation::{upload_with_capacity, write};
use crate::gpu::half_packing::packs_to_nearest;
use crate::gpu::kernels::{PipelineCache, SideKernel, VisibleKernels, bind_group_layout, kernel_limits};
use crate::gpu::shader::Composed;
use crate::gpu::{DeviceAndQueue, Scopes, check_device, largest_binding};
use crate::kernels::Pass;
use crate::kernels::plan::{Plan, PoseKernel};
use crate::model::{Library, Mixing, SkinFormat};
use crate::pack::PackedLibrary;

/// A packed library in GPU buffers, with the pipelines that pose its skeletons.
///
/// It belongs to one device, whose handles it keeps. Any number of [`GpuCrowd`](crate::gpu::GpuCrowd)s share it. It
/// holds the library as it was when it was packed. To use a skeleton or a clip that is added later, pack and upload
/// again; other keys can [`replace`](Self::replace) the present ones.
///
/// Each process compiles the pipelines anew, without a [`wgpu::PipelineCache`]: wgpu trusts the bytes of such a cache,
/// so that its creation is `unsafe`, and this crate allows `unsafe` only in the kernels of the CPU. Most drivers have a
/// cache of their own, so that a second start is faster. `posse bench` reports the time of a start. Libraries made by
/// [`repacked`](Self::repacked) share their pipelines.
///
/// # Examples
/// ```
/// use posse::demo;
/// use posse::gpu::{AdapterKind, GpuContext, GpuLibrary};
/// use posse::packed::PackedLibrary;
///
/// # fn main() -> Result<(), posse::Error> {
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let library = GpuLibrary::new(&gpu, &demo::library()?)?;
/// // Another library on the same device compiles only the kernels that differ.
/// let _rigs = library.repacked(PackedLibrary::new(&demo::rig(8, 10, 2)?)?)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuLibrary {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pub(super) packed: PackedLibrary,
    pub(super) words: wgpu::Buffer,
    pub(super) values: wgpu::Buffer,
    pub(super) layout: wgpu::BindGroupLayout,
    /// The pipelines of the pose pass, each compiled at the first request.
    pose_pipelines: Mutex<HashMap<PoseKernel, wgpu::ComputePipeline>>,
    /// All pipelines of this library and of libraries that share them, by source.
    pub(super) cache: Arc<PipelineCache>,
    visible_kernels: OnceLock<VisibleKernels>,
    root_motion_kernel: OnceLock<SideKernel>,
    play_kernel: OnceLock<SideKernel>,
    drive_kernel: OnceLock<SideKernel>,
    goals_kernel: OnceLock<SideKernel>,
    /// The kernels that list events: without and with synchronised layers.
    events_kernels: [OnceLock<SideKernel>; 2],
}

impl GpuLibrary {
    /// The least limits of a device: what the kernels need, and otherwise [`wgpu::Limits::downlevel_defaults`].
    /// [`wgpu::Limits::default`] is enough, too. Buffers grow with `max_buffer_size` and
    /// `max_storage_buffer_binding_size`. To combine these limits with the limits of a program, use
    /// [`wgpu::Limits::or_better_values_from`].
    pub fn required_limits() -> wgpu::Limits {
        let others = wgpu::Limits::downlevel_defaults();
        kernel_limits(others.clone()).or_better_values_from(&others)
    }

    /// Packs a library, uploads it and creates its pipelines. Nothing is submitted. The library is packed on all cores.
    ///
    /// # Errors
    /// The errors of [`PackedLibrary::new`] and `from_packed`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new<'a>(gpu: impl Into<DeviceAndQueue<'a>>, library: &Library) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(gpu, library))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async<'a>(gpu: impl Into<DeviceAndQueue<'a>>, library: &Library) -> Result<Self, Error> {
        Self::from_packed_async(gpu, PackedLibrary::new(library)?).await
    }

    /// Uploads a packed library and creates its pipelines. Nothing is submitted.
    ///
    /// # Errors
    /// * [`Error::Limit`] if the device allows less than [`required_limits`](Self::required_limits), or if the packed
    ///   library does not fit a binding.
    /// * [`Error::Device`] if the device refuses a buffer, [`Error::Shader`] if the text of an interpolator is wrong.
    ///   Other kernels are compiled for the first crowd that needs them.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn from_packed<'a>(gpu: impl Into<DeviceAndQueue<'a>>, packed: PackedLibrary) -> Result<Self, Error> {
        pollster::block_on(Self::from_packed_async(gpu, packed))
    }

    /// As `from_packed`, for a browser.
    ///
    /// # Errors
    /// The errors of `from_packed`.
    pub async fn from_packed_async<'a>(
        gpu: impl Into<DeviceAndQueue<'a>>,
        packed: PackedLibrary,
    ) -> Result<Self, Error> {
        Self::with_cache(Arc::default(), gpu.into(), packed).await
    }

    /// Uploads another packed library to the same device. Both libraries share their pipelines: only the
    /// missing ones are compiled, often none.
    ///
    /// # Errors
    /// The errors of `from_packed`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn repacked(&self, packed: PackedLibrary) -> Result<Self, Error> {
        pollster::block_on(self.repacked_async(packed))
    }

    /// As `repacked`, for a browser.
    ///
    /// # Errors
    /// The errors of `from_packed`.
    pub async fn repacked_async(&self, packed: PackedLibrary) -> Result<Self, Error> {
        Self::with_cache(self.cache.clone(), self.gpu(), packed).await
    }

    async fn with_cache(
        cache: Arc<PipelineCache>,
        gpu: DeviceAndQueue<'_>,
        mut packed: PackedLibrary,
    ) -> Result<Self, Error> {
        let device = gpu.device;
        check_limits(device)?;
        let (words_capacity, values_capacity) = (4 * packed.capacity.words as u64, 16 * packed.capacity.values as u64);
        check_size(device, "words of a packed library, in bytes (split the library)", words_capacity)?;
        check_size(
            device,
            "values of a packed library, in bytes (split the library, or compress it with a larger error)",
            values_capacity,
        )?;
        let scopes = Scopes::push(device);
        let words = upload_with_capacity(gpu, "posse words", packed.words(), words_capacity);
        let values = upload_with_capacity(gpu, "posse values", packed.values(), values_capacity);
        let layout = bind_group_layout(device, Pass::Pose);
        scopes.pop().await?;
        check_device(device).await?;
        packed.free_device_arrays();
        let library = Self {
            device: device.clone(),
            queue: gpu.queue.clone(),
            packed,
            words,
            values,
            layout,
            pose_pipelines: Mutex::default(),
            cache,
            visible_kernels: OnceLock::new(),
            root_motion_kernel: OnceLock::new(),
            play_kernel: OnceLock::new(),
            drive_kernel: OnceLock::new(),
            goals_kernel: OnceLock::new(),
            events_kernels: Default::default(),
        };
        // Kernels are compiled for the first crowd that needs them. Only the texts of interpolators may be wrong, so
        // that one kernel with them is compiled here.
        if !library.packed.interpolators.is_empty() {
            for skeleton in &library.packed.skeletons {
                library.pose_pipeline(&Plan::new(Mixing::None, &skeleton.record, 1).kernel).await?;
            }
        }
        Ok(library)
    }

    /// Takes another packed library in place of this one, before the next submission, for example with the next part of
    /// a long clip. Crowds of this library, their buffers and bind groups stay as they are, and pose by the new keys.
    ///
    /// # Errors
    /// * [`Error::Usage`] if the libraries differ in what crowds rely on ([`PackedLibrary::reserve_for`]), or the
    ///   other one has kinds of curves or scales that this one was not made for.
    /// * [`Error::Limit`] if the other one is larger than the capacity of this one.
    /// * [`Error::Device`] if there is no memory for the upload: a part may have been replaced, and the call can be
    ///   repeated.
    pub fn replace(&mut self, packed: PackedLibrary) -> Result<(), Error> {
        let mut packed = self.packed.replaced_by(packed)?;
        self.packed.check_capacity(&packed)?;
        write(self.gpu(), &self.words, 0, packed.words())?;
        write(self.gpu(), &self.values, 0, packed.values())?;
        packed.free_device_arrays();
        self.packed = packed;
        Ok(())
    }

    /// The number of bytes of the library's buffers on the device.
    pub fn size(&self) -> u64 {
        self.words.size() + self.values.size()
    }

    /// The device and the queue of the library.
    pub fn gpu(&self) -> DeviceAndQueue<'_> {
        DeviceAndQueue { device: &self.device, queue: &self.queue }
    }

    /// Returns `true` if kernels for a format of skin matrices pack halves by the device. The first request for half
    /// matrices waits for a test of the device.
    pub(super) async fn packs_to_nearest(&self, format: SkinFormat) -> Result<bool, Error> {
        if format != SkinFormat::HalfMatrix {
            return Ok(false);
        }
        Ok(*get_or_create(&self.cache.packs_to_nearest, packs_to_nearest(self.gpu())).await?)
    }

    /// The pipeline of a kernel that poses, compiled at the first request. Two threads may compile the same pipeline:
    /// no thread waits while another compiles.
    pub(super) async fn pose_pipeline(&self, kernel: &PoseKernel) -> Result<wgpu::ComputePipeline, Error> {
        let kernel = *kernel;
        let pipelines = || self.pose_pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = pipelines().get(&kernel) {
            return Ok(ready.clone());
        }
        let composed = Composed::pose(&kernel, self.packed.features, &self.packed.interpolators);
        let compiled = self.cache.pipeline(&self.device, &self.layout, &composed, Pass::Pose.entry_point()).await?;
        Ok(pipelines().entry(kernel).or_insert(compiled).clone())
    }

    /// The kernels of visible lists, compiled at the first request.
    pub(super) async fn visible_kernels(&self) -> Result<&VisibleKernels, Error> {
        get_or_create(&self.visible_kernels, VisibleKernels::new(&self.device, &self.cache)).await
    }

    /// The kernel of root motion, compiled at the first request.
    pub(super) async fn root_motion_kernel(&self) -> Result<&SideKernel, Error> {
        let compose = || Composed::root_motion(self.packed.features);
        self.side_kernel(&self.root_motion_kernel, Pass::RootMotion, compose).await
    }

    /// The kernel that plays layers, compiled at the first request.
    pub(super) async fn play_kernel(&self) -> Result<&SideKernel, Error> {
        self.side_kernel(&self.play_kernel, Pass::Play, || Composed::play(self.packed.features)).await
    }

    /// The kernel that drives layers, compiled at the first request.
    pub(super) async fn drive_kernel(&self) -> Result<&SideKernel, Error> {
        self.side_kernel(&self.drive_kernel, Pass::Drive, Composed::drive).await
    }

    /// The kernel that reads the parameters of goals, compiled at the first request.
    pub(super) async fn goals_kernel(&self) -> Result<&SideKernel, Error> {
        self.side_kernel(&self.goals_kernel, Pass::Goals, Composed::resolve_goals).await
    }

    /// The kernel that lists events, compiled at the first request; `follows` is true if layers may be synchronised.
    pub(super) async fn events_kernel(&self, follows: bool) -> Result<&SideKernel, Error> {
        let cell = &self.events_kernels[usize::from(follows)];
        self.side_kernel(cell, Pass::Events, || Composed::events(follows)).await
    }

    /// A kernel beside the pose pass, compiled at the first request.
    async fn side_kernel<'a>(
        &self,
        cell: &'a OnceLock<SideKernel>,
        pass: Pass,
        compose: impl FnOnce() -> Composed,
    ) -> Result<&'a SideKernel, Error> {
        get_or_create(cell, async { SideKernel::new(&self.device, &self.cache, &compose(), pass).await }).await
    }
}

/// The contents of a cell, created if it is empty. Two threads may both create them; the first to finish fills the
/// cell.
async fn get_or_create<T>(cell: &OnceLock<T>, create: impl Future<Output = Result<T, Error>>) -> Result<&T, Error> {
    if let Some(ready) = cell.get() {
        return Ok(ready);
    }
    let created = create.await?;
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
