//! A device with its queue, for programs without a renderer.

use std::sync::OnceLock;

use crate::error::Error;

/// The kinds of adapters that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// A GPU, discrete before integrated; a software renderer if there is no GPU.
    Any,
    /// A GPU only.
    Hardware,
}

/// A device with its queue. It is the only type of the crate that owns a device.
///
/// # Examples
/// ```
/// use posse::{AdapterKind, GpuContext};
///
/// # fn main() -> Result<(), posse::Error> {
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// println!("{}", gpu.name());
/// let encoder = gpu.device.create_command_encoder(&Default::default());
/// gpu.queue.submit([encoder.finish()]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GpuContext {
    /// The device. Its limits for the size of buffers are those of the adapter.
    pub device: wgpu::Device,
    /// The queue of the device.
    pub queue: wgpu::Queue,
    /// The description of the adapter by the system.
    pub info: wgpu::AdapterInfo,
}

/// A borrowed device with its queue: for functions that need both, of callers with or without a [`GpuContext`].
#[derive(Debug, Clone, Copy)]
pub struct DeviceAndQueue<'a> {
    /// The device.
    pub device: &'a wgpu::Device,
    /// The queue of the device.
    pub queue: &'a wgpu::Queue,
}

impl<'a> From<&'a GpuContext> for DeviceAndQueue<'a> {
    fn from(gpu: &'a GpuContext) -> Self {
        Self { device: &gpu.device, queue: &gpu.queue }
    }
}

impl<'a> From<(&'a wgpu::Device, &'a wgpu::Queue)> for DeviceAndQueue<'a> {
    fn from((device, queue): (&'a wgpu::Device, &'a wgpu::Queue)) -> Self {
        Self { device, queue }
    }
}

impl GpuContext {
    /// Opens the best adapter of a kind. wgpu's environment variables (`WGPU_BACKEND`, `WGPU_ADAPTER_NAME`) narrow the choice.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is no such adapter; [`Error::Device`] if it cannot be opened.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(kind: AdapterKind) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(kind))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// Those of `new`.
    pub async fn new_async(kind: AdapterKind) -> Result<Self, Error> {
        open_with_all_limits(&choose(&Self::instance(), kind, None).await?).await
    }

    /// As `new`, for programs with a window: with an adapter of any kind that can present on a surface of an
    /// [`instance`](Self::instance). The adapter, which is returned too, reports the capabilities of the surface.
    ///
    /// # Errors
    /// Those of `new`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn for_surface(instance: &wgpu::Instance, surface: &wgpu::Surface) -> Result<(Self, wgpu::Adapter), Error> {
        pollster::block_on(Self::for_surface_async(instance, surface))
    }

    /// As `for_surface`, for a browser.
    ///
    /// # Errors
    /// Those of `new`.
    pub async fn for_surface_async(
        instance: &wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> Result<(Self, wgpu::Adapter), Error> {
        let adapter = choose(instance, AdapterKind::Any, Some(surface)).await?;
        Ok((open_with_all_limits(&adapter).await?, adapter))
    }

    /// The wgpu instance, for the creation of surfaces. It has the backends with enough storage buffers. A process has one
    /// instance: wgpu numbers the devices per instance and compares only the numbers.
    pub fn instance() -> wgpu::Instance {
        static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
        let instance = INSTANCE.get_or_init(|| {
            wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY),
                // Builds without optimisation would give each expression of a kernel its line, which takes a fifth of the time of tests.
                flags: (wgpu::InstanceFlags::default() - wgpu::InstanceFlags::DEBUG).with_env(),
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            })
        });
        instance.clone()
    }

    /// As `new`, with given limits and without features, for tests of a lesser device. The least limits are
    /// [`GpuLibrary::required_limits`](crate::gpu::GpuLibrary::required_limits).
    ///
    /// # Errors
    /// Those of `new`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_limits(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        pollster::block_on(Self::with_limits_async(kind, limits))
    }

    /// As `with_limits`, for a browser.
    ///
    /// # Errors
    /// Those of `new`.
    pub async fn with_limits_async(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        open(&choose(&Self::instance(), kind, None).await?, limits, wgpu::Features::empty()).await
    }

    /// The name, driver and backend of the adapter, in one line.
    pub fn name(&self) -> String {
        let driver = [self.info.driver.as_str(), self.info.driver_info.as_str()].join(" ");
        format!("{} ({}, {})", self.info.name, driver.trim(), self.info.backend)
    }

    /// True if the adapter is hardware, false for a software renderer.
    pub fn is_hardware(&self) -> bool {
        is_hardware(&self.info)
    }
}

async fn choose(
    instance: &wgpu::Instance,
    kind: AdapterKind,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<wgpu::Adapter, Error> {
    let name = std::env::var("WGPU_ADAPTER_NAME").ok().map(|name| name.to_lowercase());
    let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    let suitable = adapters.into_iter().filter(|adapter| {
        let info = adapter.get_info();
        let name_matches = name.as_ref().is_none_or(|name| info.name.to_lowercase().contains(name));
        let can_present = surface.is_none_or(|surface| adapter.is_surface_supported(surface));
        name_matches
            && can_present
            && info.backend != wgpu::Backend::Noop
            && (kind == AdapterKind::Any || is_hardware(&info))
    });
    suitable.min_by_key(|adapter| rank(adapter.get_info().device_type)).ok_or_else(|| {
        let wanted = match (kind, name) {
            (_, Some(name)) => format!(" named like {name}"),
            (AdapterKind::Hardware, None) => " in hardware".into(),
            (AdapterKind::Any, None) => String::new(),
        };
        Error::NoAdapter { wanted }
    })
}

/// Opens an adapter with its limits for buffers, and with its clock if it has one.
async fn open_with_all_limits(adapter: &wgpu::Adapter) -> Result<GpuContext, Error> {
    let available = adapter.limits();
    let limits = wgpu::Limits {
        max_buffer_size: available.max_buffer_size,
        max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
        ..wgpu::Limits::default()
    };
    open(adapter, limits, adapter.features() & wgpu::Features::TIMESTAMP_QUERY).await
}

async fn open(
    adapter: &wgpu::Adapter,
    required_limits: wgpu::Limits,
    required_features: wgpu::Features,
) -> Result<GpuContext, Error> {
    let device = adapter
        .request_device(&wgpu::DeviceDescriptor {
            label: Some("posse"),
            required_features,
            required_limits,
            ..Default::default()
        })
        .await;
    let info = adapter.get_info();
    let (device, queue) = device.map_err(|error| {
        Error::Device(format!("{} cannot be opened: {error}; WGPU_ADAPTER_NAME selects another adapter", info.name))
    })?;
    Ok(GpuContext { device, queue, info })
}

fn is_hardware(info: &wgpu::AdapterInfo) -> bool {
    info.device_type != wgpu::DeviceType::Cpu
}

fn rank(kind: wgpu::DeviceType) -> u32 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}
