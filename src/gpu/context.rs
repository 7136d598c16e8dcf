//! A device of our own, for programs without a renderer.

use std::sync::OnceLock;

use crate::error::Error;

/// Which adapters will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// A GPU, discrete before integrated; a software renderer where there is none.
    Any,
    /// A GPU only.
    Hardware,
}

/// A device and queue, without a window unless they were made for one's surface: the only type of the crate that owns them.
#[derive(Debug, Clone)]
pub struct GpuContext {
    /// The device, with the adapter's own limits for the size of buffers.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// What the system says of the adapter.
    pub info: wgpu::AdapterInfo,
}

impl GpuContext {
    /// Opens the best adapter of a kind. wgpu's environment variables (`WGPU_BACKEND`, `WGPU_ADAPTER_NAME`) narrow the choice.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] where there is none; [`Error::Device`] where it cannot be opened.
    pub fn new(kind: AdapterKind) -> Result<Self, Error> {
        open_whole(&choose(&Self::instance(), kind, None)?)
    }

    /// As [`new`](Self::new), with an adapter of any kind that can show what it draws on a surface of an
    /// [`instance`](Self::instance): for programs with a window. The adapter says what the surface can do.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn for_surface(instance: &wgpu::Instance, surface: &wgpu::Surface) -> Result<(Self, wgpu::Adapter), Error> {
        let adapter = choose(instance, AdapterKind::Any, Some(surface))?;
        Ok((open_whole(&adapter)?, adapter))
    }

    /// What surfaces are made from, of the interfaces that have enough storage buffers. A process has one: wgpu numbers the
    /// devices of an instance, and tells them apart by no more.
    pub fn instance() -> wgpu::Instance {
        static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
        let instance = INSTANCE.get_or_init(|| {
            wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY),
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            })
        });
        instance.clone()
    }

    /// As [`new`](Self::new), but with these limits and without features: to see what a lesser device would do.
    /// [`GpuLibrary::required_limits`](crate::gpu::GpuLibrary::required_limits) are the least that will do.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_limits(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        open(&choose(&Self::instance(), kind, None)?, limits, wgpu::Features::empty())
    }

    /// The adapter's name, driver and interface in a line.
    pub fn name(&self) -> String {
        let driver = [self.info.driver.as_str(), self.info.driver_info.as_str()].join(" ");
        format!("{} ({}, {})", self.info.name, driver.trim(), self.info.backend)
    }

    /// Whether the adapter is hardware, not a software renderer.
    pub fn is_hardware(&self) -> bool {
        is_hardware(&self.info)
    }
}

fn choose(
    instance: &wgpu::Instance,
    kind: AdapterKind,
    surface: Option<&wgpu::Surface>,
) -> Result<wgpu::Adapter, Error> {
    let name = std::env::var("WGPU_ADAPTER_NAME").ok().map(|name| name.to_lowercase());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let suitable = adapters.into_iter().filter(|adapter| {
        let info = adapter.get_info();
        let named = name.as_ref().is_none_or(|name| info.name.to_lowercase().contains(name));
        let shows = surface.is_none_or(|surface| adapter.is_surface_supported(surface));
        named && shows && info.backend != wgpu::Backend::Noop && (kind == AdapterKind::Any || is_hardware(&info))
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

/// With as large buffers as the adapter has, and a clock if it has one.
fn open_whole(adapter: &wgpu::Adapter) -> Result<GpuContext, Error> {
    let available = adapter.limits();
    let limits = wgpu::Limits {
        max_buffer_size: available.max_buffer_size,
        max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
        ..wgpu::Limits::default()
    };
    open(adapter, limits, adapter.features() & wgpu::Features::TIMESTAMP_QUERY)
}

fn open(
    adapter: &wgpu::Adapter,
    required_limits: wgpu::Limits,
    required_features: wgpu::Features,
) -> Result<GpuContext, Error> {
    let device = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("posse"),
        required_features,
        required_limits,
        ..Default::default()
    }));
    let (device, queue) = device.map_err(|error| Error::Device(error.to_string()))?;
    Ok(GpuContext { device, queue, info: adapter.get_info() })
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
