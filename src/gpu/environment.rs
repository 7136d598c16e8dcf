//! The environment variables of wgpu that narrow the choice of an adapter.

use std::ffi::OsString;

use crate::error::Error;

/// The names of the variables.
const BACKEND: &str = "WGPU_BACKEND";
const ADAPTER_NAME: &str = "WGPU_ADAPTER_NAME";
const POWER: &str = "WGPU_POWER_PREF";

/// The values of the variables. A variable that is not set, or is empty, leaves the choice to posse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Environment {
    /// The backends of `WGPU_BACKEND`.
    pub backends: Option<wgpu::Backends>,
    /// The part of a name in `WGPU_ADAPTER_NAME`, as given.
    pub adapter_name: Option<String>,
    /// The preference of `WGPU_POWER_PREF`.
    pub power: wgpu::PowerPreference,
}

impl Environment {
    /// Reads the variables of the process. A browser has none.
    ///
    /// # Errors
    /// [`Error::Usage`] with the name of the variable and its valid values.
    pub fn read() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let text = |name: &str| match variable(name).map(OsString::into_string) {
            Some(Ok(value)) => Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty())),
            Some(Err(value)) => {
                Err(Error::Usage(format!("the environment variable {name} is {value:?}, which is not UTF-8; unset it")))
            }
            None => Ok(None),
        };
        Ok(Self {
            backends: text(BACKEND)?.map(|value| parse_backends(&value)).transpose()?,
            adapter_name: text(ADAPTER_NAME)?,
            power: text(POWER)?.map_or(Ok(wgpu::PowerPreference::None), |value| parse_power(&value))?,
        })
    }
}

fn parse_backends(value: &str) -> Result<wgpu::Backends, Error> {
    let backend = |name: &str| match name.trim().to_lowercase().as_str() {
        "vulkan" | "vk" => Ok(wgpu::Backends::VULKAN),
        "metal" | "mtl" => Ok(wgpu::Backends::METAL),
        "dx12" | "d3d12" => Ok(wgpu::Backends::DX12),
        "webgpu" => Ok(wgpu::Backends::BROWSER_WEBGPU),
        other => {
            let reason = match other {
                "gl" | "gles" | "opengl" => "; OpenGL has too few storage buffers for posse",
                _ => "",
            };
            Err(Error::Usage(format!(
                "the environment variable {BACKEND} is {value:?}{reason}. Valid values: vulkan (vk), metal (mtl), dx12 (d3d12), \
                 webgpu, or several of them separated by commas"
            )))
        }
    };
    value.split(',').map(backend).try_fold(wgpu::Backends::empty(), |all, backend| Ok(all | backend?))
}

fn parse_power(value: &str) -> Result<wgpu::PowerPreference, Error> {
    match value.to_lowercase().as_str() {
        "low" => Ok(wgpu::PowerPreference::LowPower),
        "high" => Ok(wgpu::PowerPreference::HighPerformance),
        "none" => Ok(wgpu::PowerPreference::None),
        _ => Err(Error::Usage(format!(
            "the environment variable {POWER} is {value:?}. Valid values: low (an integrated GPU before a discrete one), high, none"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Environment, Error> {
        let find = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
        Environment::from_variables(find)
    }

    #[test]
    fn names_of_backends_are_those_of_wgpu() {
        for names in ["vulkan", "vk", "metal", "mtl", "dx12", "d3d12", "webgpu", "Vulkan, METAL", "vk,dx12"] {
            let backends = environment(&[(BACKEND, names)]).unwrap().backends;
            assert_eq!(backends, Some(wgpu::Backends::from_comma_list(names)), "{names}");
        }
    }

    #[test]
    fn an_empty_variable_is_as_one_that_is_not_set() {
        let variables = [(BACKEND, ""), (ADAPTER_NAME, " "), (POWER, "")];
        assert_eq!(environment(&variables).unwrap(), Environment::default());
        assert_eq!(environment(&[]).unwrap(), Environment::default());
    }

    #[test]
    fn a_wrong_value_is_refused_with_the_variable_and_its_values() {
        for (variable, value, parts) in [
            (BACKEND, "vulcan", ["WGPU_BACKEND is \"vulcan\"", "vulkan (vk), metal (mtl), dx12 (d3d12)"]),
            (BACKEND, "vulkan,gl", ["OpenGL has too few storage buffers", "vulkan (vk)"]),
            (BACKEND, "vulkan,", ["WGPU_BACKEND is \"vulkan,\"", "separated by commas"]),
            (POWER, "medium", ["WGPU_POWER_PREF is \"medium\"", "low"]),
        ] {
            let error = environment(&[(variable, value)]).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_value_that_is_not_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let result = Environment::from_variables(|name| (name == ADAPTER_NAME).then(|| OsString::from_vec(vec![0xff])));
        assert!(result.unwrap_err().to_string().contains("WGPU_ADAPTER_NAME is \"\\xFF\", which is not UTF-8"));
    }

    #[test]
    fn a_power_preference_has_the_names_of_wgpu() {
        use wgpu::PowerPreference::{HighPerformance, LowPower, None};
        for (value, power) in [("low", LowPower), ("HIGH", HighPerformance), ("none", None)] {
            assert_eq!(environment(&[(POWER, value)]).unwrap().power, power);
        }
    }
}
