//! A device with its queue, for programs without a renderer.

use std::sync::OnceLock;

use crate::error::Error;
use crate::gpu::DeviceAndQueue;
use crate::gpu::adapter::{AdapterDescription, AdapterKind, choose, find, is_hardware, list};
use crate::gpu::environment::Environment;

/// A device with its queue. It is the only type of the crate that owns a device.
///
/// # Examples
/// ```
/// use posse::gpu::{AdapterKind, GpuContext};
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
    /// The device. Its limits for the size of buffers are the limits of the adapter.
    pub device: wgpu::Device,
    /// The queue of the device.
    pub queue: wgpu::Queue,
    /// The description of the adapter by the system.
    pub info: wgpu::AdapterInfo,
}

impl<'a> From<&'a GpuContext> for DeviceAndQueue<'a> {
    fn from(gpu: &'a GpuContext) -> Self {
        Self { device: &gpu.device, queue: &gpu.queue }
    }
}

impl GpuContext {
    /// Opens the best adapter of a kind that is enough for posse. wgpu's environment variables narrow the choice:
    ///
    /// * `WGPU_BACKEND`: some of `vulkan`, `metal`, `dx12` and `webgpu`, separated by commas.
    /// * `WGPU_ADAPTER_NAME`: a part of the name of the adapter, in any case.
    /// * `WGPU_POWER_PREF`: `low` prefers an integrated GPU; `high` and `none` prefer a discrete one, as by default.
    ///
    /// On Linux without a desktop, a layer of Mesa's drivers may write `error: XDG_RUNTIME_DIR is invalid or not set in
    /// the environment.` to stderr, although nothing is wrong. `NODEVICE_SELECT=1` leaves the layer out.
    ///
    /// # Errors
    /// * [`Error::NoAdapter`] if there is no such adapter.
    /// * [`Error::Device`] if it is not enough for posse or cannot be opened.
    /// * [`Error::Usage`] if a variable has a wrong value.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(kind: AdapterKind) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(kind))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(kind: AdapterKind) -> Result<Self, Error> {
        Self::with_adapter_async(&choose(&Self::instance(), kind, None).await?.adapter).await
    }

    /// Opens an adapter of an [`instance`](Self::instance), for example one of [`adapters`](Self::adapters).
    ///
    /// # Errors
    /// [`Error::Device`] if it is not enough for posse or cannot be opened.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_adapter(adapter: &wgpu::Adapter) -> Result<Self, Error> {
        pollster::block_on(Self::with_adapter_async(adapter))
    }

    /// As `with_adapter`, for a browser.
    ///
    /// # Errors
    /// The errors of `with_adapter`.
    pub async fn with_adapter_async(adapter: &wgpu::Adapter) -> Result<Self, Error> {
        Self::with_features_async(adapter, wgpu::Features::empty()).await
    }

    /// As `with_adapter_async`, with further features, for a renderer that uses the same device.
    ///
    /// # Errors
    /// [`Error::Device`] if the adapter is not enough for posse, lacks one of the features or cannot be opened.
    pub async fn with_features_async(adapter: &wgpu::Adapter, features: wgpu::Features) -> Result<Self, Error> {
        AdapterDescription::new(0, adapter.clone()).check()?;
        let missing = features.difference(adapter.features());
        if !missing.is_empty() {
            let names: Vec<&str> = missing.iter().filter_map(|feature| feature.as_str()).collect();
            let (name, names) = (adapter.get_info().name, names.join(", "));
            let reason = format!("{name} lacks the features {names}; leave them out, or select another adapter");
            return Err(Error::Device(reason));
        }
        // Its limits for buffers, and its clock if it has one. Other limits are the default, or the limits of an
        // adapter with less.
        let available = adapter.limits();
        let limits = wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            ..wgpu::Limits::default().or_worse_values_from(&available)
        };
        open(adapter, limits, features | adapter.features() & wgpu::Features::TIMESTAMP_QUERY).await
    }

    /// As `new`, for programs with a window: with an adapter of any kind that can present on a surface of an
    /// [`instance`](Self::instance). The adapter, which is returned too, reports the capabilities of the surface.
    ///
    /// # Errors
    /// The errors of `new`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn for_surface(instance: &wgpu::Instance, surface: &wgpu::Surface) -> Result<(Self, wgpu::Adapter), Error> {
        pollster::block_on(Self::for_surface_async(instance, surface))
    }

    /// As `for_surface`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn for_surface_async(
        instance: &wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> Result<(Self, wgpu::Adapter), Error> {
        let adapter = choose(instance, AdapterKind::Any, Some(surface)).await?.adapter;
        Ok((Self::with_adapter_async(&adapter).await?, adapter))
    }

    /// The adapters of the machine, in the order of wgpu. The environment variable `WGPU_BACKEND` limits them to some
    /// backends.
    ///
    /// # Errors
    /// [`Error::Usage`] if an environment variable of wgpu has a wrong value.
    ///
    /// # Examples
    /// ```
    /// use posse::gpu::GpuContext;
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// for adapter in GpuContext::adapters()? {
    ///     println!("{} {}", adapter.index, adapter.info.name);
    ///     adapter.shortfalls.iter().for_each(|shortfall| println!("  not enough: {shortfall}"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn adapters() -> Result<Vec<AdapterDescription>, Error> {
        pollster::block_on(Self::adapters_async())
    }

    /// As `adapters`, for a browser, which offers at most one.
    ///
    /// # Errors
    /// The errors of `adapters`.
    pub async fn adapters_async() -> Result<Vec<AdapterDescription>, Error> {
        Environment::read()?;
        Ok(list(&Self::instance()).await)
    }

    /// The adapter with an index in the list of [`adapters`](Self::adapters), or with a part of a name, in any case. An
    /// adapter whose whole name is given is preferred. A number is always an index.
    ///
    /// # Errors
    /// * [`Error::Usage`] with a list of the adapters if none matches or if several match.
    /// * The errors of [`adapters`](Self::adapters).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn find_adapter(name_or_index: &str) -> Result<AdapterDescription, Error> {
        pollster::block_on(Self::find_adapter_async(name_or_index))
    }

    /// As `find_adapter`, for a browser.
    ///
    /// # Errors
    /// The errors of `find_adapter`.
    pub async fn find_adapter_async(name_or_index: &str) -> Result<AdapterDescription, Error> {
        find(Self::adapters_async().await?, name_or_index)
    }

    /// The adapter that [`new`](Self::new) opens.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is no such adapter; [`Error::Device`] if none of them is enough for posse; those
    /// of [`adapters`](Self::adapters).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn default_adapter(kind: AdapterKind) -> Result<AdapterDescription, Error> {
        pollster::block_on(choose(&Self::instance(), kind, None))
    }

    /// The wgpu instance, for the creation of surfaces. It has the backends of the environment variable `WGPU_BACKEND`,
    /// by default all that have enough storage buffers. A process has one instance: wgpu numbers the devices per
    /// instance and compares only the numbers.
    pub fn instance() -> wgpu::Instance {
        static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
        let instance = INSTANCE.get_or_init(|| {
            wgpu::Instance::new(wgpu::InstanceDescriptor {
                // A wrong value is reported when an adapter is chosen.
                backends: Environment::read().ok().and_then(|read| read.backends).unwrap_or(wgpu::Backends::PRIMARY),
                // Builds without optimisation would give each expression of a kernel its line, which takes a fifth of
                // the time of tests.
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
    /// The errors of `new`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_limits(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        pollster::block_on(Self::with_limits_async(kind, limits))
    }

    /// As `with_limits`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn with_limits_async(kind: AdapterKind, limits: wgpu::Limits) -> Result<Self, Error> {
        open(&choose(&Self::instance(), kind, None).await?.adapter, limits, wgpu::Features::empty()).await
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
        Error::Device(format!(
            "{} cannot be opened: {error}; select another adapter, for example by the environment variable \
             WGPU_ADAPTER_NAME, or the CPU engine",
            info.name
        ))
    })?;
    Ok(GpuContext { device, queue, info })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_the_features_that_it_is_opened_with_and_a_missing_one_is_named() {
        let adapter = GpuContext::default_adapter(AdapterKind::Any).unwrap_or_else(|error| panic!("{error}")).adapter;
        let open = |features| pollster::block_on(GpuContext::with_features_async(&adapter, features));
        let present = adapter.features() & wgpu::Features::all_webgpu_mask();
        assert!(!present.is_empty());
        assert!(open(present).unwrap().device.features().contains(present));
        let missing = wgpu::Features::all().difference(adapter.features()).iter().next().unwrap();
        let error = open(missing).unwrap_err().to_string();
        assert!(error.contains(&format!("lacks the features {};", missing.as_str().unwrap())), "{error}");
    }
}
