//! A device of our own, for programs without a renderer.

use crate::error::Error;

/// Which adapters will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// A GPU, discrete before integrated; a software renderer where there is none.
    Any,
    /// A GPU only.
    Hardware,
}

/// A device and queue without a window: the only type of the crate that owns them.
#[derive(Debug, Clone)]
pub struct HeadlessGpu {
    /// The device, with the adapter's own limits for the size of buffers.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// What the system says of the adapter.
    pub info: wgpu::AdapterInfo,
}

impl HeadlessGpu {
    /// Opens the best adapter of a kind. wgpu's environment variables (`WGPU_BACKEND`, `WGPU_ADAPTER_NAME`) narrow the choice.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] where there is none; [`Error::Device`] where it cannot be opened.
    pub fn new(kind: AdapterKind) -> Result<Self, Error> {
        let descriptor = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let instance = wgpu::Instance::new(descriptor);
        let name = std::env::var("WGPU_ADAPTER_NAME").ok().map(|name| name.to_lowercase());
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters.retain(|adapter| {
            let info = adapter.get_info();
            let named = name.as_ref().is_none_or(|name| info.name.to_lowercase().contains(name));
            named && info.backend != wgpu::Backend::Noop && (kind == AdapterKind::Any || is_hardware(&info))
        });
        adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        let Some(adapter) = adapters.first() else {
            let wanted = match (kind, name) {
                (_, Some(name)) => format!(" named like {name}"),
                (AdapterKind::Hardware, None) => " in hardware".into(),
                (AdapterKind::Any, None) => String::new(),
            };
            return Err(Error::NoAdapter { wanted });
        };
        Self::open(adapter)
    }

    fn open(adapter: &wgpu::Adapter) -> Result<Self, Error> {
        let available = adapter.limits();
        let defaults = wgpu::Limits::default();
        let required_limits = wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            ..defaults
        };
        let device = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("posse"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits,
            ..Default::default()
        }));
        let (device, queue) = device.map_err(|error| Error::Device(error.to_string()))?;
        Ok(Self { device, queue, info: adapter.get_info() })
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
