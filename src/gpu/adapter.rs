//! The adapters of a machine: their descriptions, the reasons why one is not enough, and the choice of one.

use std::fmt;

use crate::error::Error;
use crate::gpu::environment::Environment;
use crate::gpu::kernels::kernel_limits;

/// The kinds of adapters that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// A GPU, discrete before integrated; a software renderer if there is no GPU.
    Any,
    /// A GPU only.
    Hardware,
}

/// An adapter of the machine, and its use for posse.
#[derive(Debug, Clone)]
pub struct AdapterDescription {
    /// The position in the list of [`GpuContext::adapters`](crate::gpu::GpuContext::adapters).
    pub index: usize,
    /// The adapter. [`GpuContext::with_adapter`](crate::gpu::GpuContext::with_adapter) opens it.
    pub adapter: wgpu::Adapter,
    /// The name, driver, backend and type of the adapter, as reported by the system.
    pub info: wgpu::AdapterInfo,
    /// The limits of the adapter.
    pub limits: wgpu::Limits,
    /// True if the adapter has a clock, by which posse measures kernels.
    pub has_clock: bool,
    /// The missing features and limits. Without any, the adapter is enough for posse.
    pub shortfalls: Vec<Shortfall>,
}

/// A feature or a limit of which an adapter has less than posse needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shortfall {
    /// A missing feature.
    Feature {
        /// The name of the feature in wgpu.
        name: &'static str,
    },
    /// A limit that is too low.
    Limit {
        /// The name of the limit in [`wgpu::Limits`].
        name: &'static str,
        /// The least value that posse needs.
        needed: u64,
        /// The value of the adapter.
        allowed: u64,
    },
}

impl fmt::Display for Shortfall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature { name } => write!(out, "the feature {name} is missing"),
            Self::Limit { name, needed, allowed } => write!(out, "{name}: {needed} needed, {allowed} allowed"),
        }
    }
}

impl AdapterDescription {
    pub(super) fn new(index: usize, adapter: wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            index,
            has_clock: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            shortfalls: shortfalls(&limits, adapter.get_downlevel_capabilities().flags),
            adapter,
            info,
            limits,
        }
    }

    /// True if the adapter is enough for posse.
    pub fn is_sufficient(&self) -> bool {
        self.shortfalls.is_empty()
    }

    /// True if the adapter is hardware, false for a software renderer.
    pub fn is_hardware(&self) -> bool {
        is_hardware(&self.info)
    }

    /// Fails if the adapter is not enough for posse.
    ///
    /// # Errors
    /// [`Error::Device`] with all missing features and limits.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_sufficient() {
            return Ok(());
        }
        let reasons: Vec<String> = self.shortfalls.iter().map(Shortfall::to_string).collect();
        Err(Error::Device(format!(
            "{} ({}) is not enough for posse: {}; select another adapter, or the CPU engine",
            self.info.name,
            self.info.backend,
            reasons.join("; ")
        )))
    }
}

/// The best adapter of a kind that the environment variables allow, and that can present on the surface if there is
/// one. An adapter that is not enough for posse is only the answer if there is no other, and then an error.
pub(super) async fn choose(
    instance: &wgpu::Instance,
    kind: AdapterKind,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<AdapterDescription, Error> {
    let environment = Environment::read()?;
    let name = environment.adapter_name.as_ref().map(|name| name.to_lowercase());
    let suitable = list(instance).await.into_iter().filter(|description| {
        let name_matches = name.as_ref().is_none_or(|name| description.info.name.to_lowercase().contains(name));
        let can_present = surface.is_none_or(|surface| description.adapter.is_surface_supported(surface));
        name_matches && can_present && (kind == AdapterKind::Any || description.is_hardware())
    });
    let rank =
        |adapter: &AdapterDescription| (!adapter.is_sufficient(), rank(adapter.info.device_type, environment.power));
    let chosen = suitable.min_by_key(rank).ok_or_else(|| Error::NoAdapter { wanted: wanted(kind, &environment) })?;
    chosen.check()?;
    Ok(chosen)
}

/// The wanted adapter in the text of an error, with a leading space, or empty.
fn wanted(kind: AdapterKind, environment: &Environment) -> String {
    let backends = environment.backends.map_or_else(String::new, |backends| {
        let names: Vec<String> = backends.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        format!(" of the backends in WGPU_BACKEND ({})", names.join(", "))
    });
    match (kind, &environment.adapter_name) {
        (_, Some(name)) => format!(" named like {name}{backends}"),
        (AdapterKind::Hardware, None) => format!(" in hardware{backends}"),
        (AdapterKind::Any, None) => backends,
    }
}

/// All adapters but the adapter of the backend for tests.
pub(super) async fn list(instance: &wgpu::Instance) -> Vec<AdapterDescription> {
    let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    let real = adapters.into_iter().filter(|adapter| adapter.get_info().backend != wgpu::Backend::Noop);
    real.enumerate().map(|(index, adapter)| AdapterDescription::new(index, adapter)).collect()
}

/// The list of adapters in the text of an error.
fn list_of_names(adapters: &[AdapterDescription]) -> String {
    let line =
        |adapter: &AdapterDescription| format!("{} {} ({})", adapter.index, adapter.info.name, adapter.info.backend);
    match adapters {
        [] => "there are no adapters".into(),
        adapters => format!("there are: {}", adapters.iter().map(line).collect::<Vec<_>>().join(", ")),
    }
}

/// The adapter with an index, or with a part of a name.
///
/// # Errors
/// [`Error::Usage`] with a list of the adapters if none matches or if several match.
pub(super) fn find(mut adapters: Vec<AdapterDescription>, name_or_index: &str) -> Result<AdapterDescription, Error> {
    let names: Vec<&str> = adapters.iter().map(|adapter| adapter.info.name.as_str()).collect();
    match position(&names, name_or_index) {
        Ok(index) => Ok(adapters.swap_remove(index)),
        Err(error) => Err(Error::Usage(format!("{error}; {}", list_of_names(&adapters)))),
    }
}

/// The position of the name that is meant, or the error.
fn position(names: &[&str], wanted: &str) -> Result<usize, String> {
    let wanted = wanted.trim();
    if !wanted.is_empty() && wanted.bytes().all(|byte| byte.is_ascii_digit()) {
        let index = wanted.parse().ok().filter(|&index: &usize| index < names.len());
        return index.ok_or_else(|| format!("no adapter has the index {wanted}"));
    }
    let (lower, names) = (wanted.to_lowercase(), names.iter().map(|name| name.to_lowercase()));
    let names: Vec<String> = names.collect();
    let those = |matches: &dyn Fn(&str) -> bool| -> Vec<usize> {
        names.iter().enumerate().filter(|(_, name)| matches(name)).map(|(index, _)| index).collect()
    };
    if let [index] = those(&|name| name == lower)[..] {
        return Ok(index);
    }
    match those(&|name| !lower.is_empty() && name.contains(&lower))[..] {
        [index] => Ok(index),
        [] => Err(format!("no adapter has a name with {wanted:?}")),
        ref several => {
            Err(format!("{} adapters have a name with {wanted:?}; give more of the name, or the index", several.len()))
        }
    }
}

/// The features and limits of which an adapter has less than the kernels need.
fn shortfalls(limits: &wgpu::Limits, flags: wgpu::DownlevelFlags) -> Vec<Shortfall> {
    let mut short = Vec::new();
    if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        short.push(Shortfall::Feature { name: "COMPUTE_SHADERS" });
    }
    kernel_limits(limits.clone()).check_limits_with_fail_fn(limits, false, |name, needed, allowed| {
        short.push(Shortfall::Limit { name, needed, allowed });
    });
    short
}

pub(super) fn is_hardware(info: &wgpu::AdapterInfo) -> bool {
    info.device_type != wgpu::DeviceType::Cpu
}

/// The place of a type of adapters in the order of preference.
fn rank(kind: wgpu::DeviceType, power: wgpu::PowerPreference) -> u32 {
    match kind {
        wgpu::DeviceType::DiscreteGpu if power == wgpu::PowerPreference::LowPower => 2,
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 3,
        wgpu::DeviceType::Other => 4,
        wgpu::DeviceType::Cpu => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::GpuLibrary;

    const NAMES: [&str; 4] = ["NVIDIA H200", "NVIDIA H200 NVL", "llvmpipe (LLVM 19.1.7)", "Intel(R) UHD 630"];

    #[test]
    fn an_adapter_is_found_by_index_or_by_part_of_its_name() {
        for (wanted, index) in
            [("0", 0), ("3", 3), ("llvm", 2), ("LLVMpipe", 2), ("uhd 630", 3), ("nvl", 1), (" nvidia h200 ", 0)]
        {
            assert_eq!(position(&NAMES, wanted), Ok(index), "{wanted}");
        }
    }

    #[test]
    fn an_adapter_that_is_not_clear_is_refused() {
        for (wanted, error) in [
            ("4", "no adapter has the index 4"),
            ("99999999999999999999999", "no adapter has the index"),
            // A number is an index, although a name has it.
            ("630", "no adapter has the index 630"),
            ("radeon", "no adapter has a name with \"radeon\""),
            ("", "no adapter has a name with \"\""),
            ("nvidia", "2 adapters have a name with \"nvidia\""),
        ] {
            let found = position(&NAMES, wanted).unwrap_err();
            assert!(found.contains(error), "{found}");
        }
        assert!(position(&["same", "same"], "same").unwrap_err().contains("2 adapters"));
        assert!(position(&[], "0").is_err());
    }

    #[test]
    fn each_lesser_limit_and_a_missing_feature_are_named() {
        let all = wgpu::DownlevelFlags::all();
        assert_eq!(shortfalls(&GpuLibrary::required_limits(), all), []);
        assert_eq!(shortfalls(&wgpu::Limits::default(), all), []);
        let limits = wgpu::Limits {
            max_storage_buffers_per_shader_stage: 4,
            max_compute_workgroup_storage_size: 8192,
            ..wgpu::Limits::default()
        };
        let texts: Vec<String> =
            shortfalls(&limits, all - wgpu::DownlevelFlags::COMPUTE_SHADERS).iter().map(Shortfall::to_string).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        for text in [
            "the feature COMPUTE_SHADERS is missing",
            "max_storage_buffers_per_shader_stage: 8 needed, 4 allowed",
            "max_compute_workgroup_storage_size: 16384 needed, 8192 allowed",
        ] {
            assert!(texts.iter().any(|other| other == text), "{texts:?}");
        }
    }

    #[test]
    fn a_preference_for_low_power_puts_an_integrated_gpu_first() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
        let order = |power| {
            let mut kinds = [Cpu, Other, VirtualGpu, IntegratedGpu, DiscreteGpu];
            kinds.sort_by_key(|&kind| rank(kind, power));
            kinds
        };
        let usual = [DiscreteGpu, IntegratedGpu, VirtualGpu, Other, Cpu];
        assert_eq!(order(wgpu::PowerPreference::None), usual);
        assert_eq!(order(wgpu::PowerPreference::HighPerformance), usual);
        assert_eq!(order(wgpu::PowerPreference::LowPower), [IntegratedGpu, DiscreteGpu, VirtualGpu, Other, Cpu]);
    }
}
