//! A Vulkan device that compiles compute pipelines and tells their statistics.
//!
//! All calls of Vulkan are here. They are `unsafe` because Vulkan does not check handles and pointers. Each handle below comes from
//! the device itself and outlives the calls that take it, and each structure points to locals of the calling function.

use std::collections::BTreeMap;
use std::ffi::CStr;

use ash::{khr, vk};

use crate::spirv::Module;

/// The statistics of a compiled kernel by the names that the driver gives them.
pub type Statistics = BTreeMap<String, u64>;

/// A device.
pub struct Device {
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
    instance: ash::Instance,
    /// The name that the driver gives the GPU.
    pub name: String,
    /// The name and the version of the driver.
    pub driver: String,
    /// The loaded library, which the functions of the others are part of.
    _entry: ash::Entry,
}

impl Device {
    /// The first device of the driver that the environment names, with the features that wgpu enables.
    ///
    /// # Errors
    /// A text with the call that failed.
    pub fn new() -> Result<Self, String> {
        // SAFETY: the Vulkan loader is a library that may be loaded at any time.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| format!("the Vulkan loader: {error}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: see the top of the file.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(fault("an instance"))?;
        // SAFETY: see the top of the file.
        let physical = unsafe { instance.enumerate_physical_devices() }.map_err(fault("the list of devices"))?;
        let physical = *physical.first().ok_or("the driver has no device")?;
        let mut drivers = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut drivers);
        // SAFETY: see the top of the file.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = text(&properties.properties.device_name);
        let driver = format!("{} {}", text(&drivers.driver_name), text(&drivers.driver_info));

        let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
        let mut zeros = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
            .shader_zero_initialize_workgroup_memory(true);
        let mut statistics =
            vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let extensions = [ash::ext::robustness2::NAME.as_ptr(), khr::pipeline_executable_properties::NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&core)
            .push_next(&mut robust)
            .push_next(&mut zeros)
            .push_next(&mut statistics);
        // SAFETY: see the top of the file.
        let device = unsafe { instance.create_device(physical, &info, None) }.map_err(fault("a device"))?;
        let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Self { device, executables, instance, name, driver, _entry: entry })
    }

    /// Compiles the entry point of a module. Returns the statistics and the assembly.
    ///
    /// # Errors
    /// A text with the call that failed.
    pub fn compile(&self, module: &Module, entry_point: &CStr) -> Result<(Statistics, String), String> {
        let (set_layout, layout) = self.layouts(&module.bindings)?;
        let info = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: see the top of the file. naga has validated the module.
        let module = unsafe { self.device.create_shader_module(&info, None) }.map_err(fault("a module"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(entry_point);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(
                vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                    | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
            )
            .stage(stage)
            .layout(layout);
        // SAFETY: see the top of the file.
        let created = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = created.map_err(|(_, result)| fault("a pipeline")(result))?[0];
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: see the top of the file. The device has the extension.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&info) };
        let statistics = found.map_err(fault("statistics"))?.iter().map(|one| (text(&one.name), value(one))).collect();
        let assembly = self.assembly(&info)?;
        // SAFETY: nothing uses these objects any more.
        unsafe {
            self.device.destroy_pipeline(pipeline, None);
            self.device.destroy_shader_module(module, None);
            self.device.destroy_pipeline_layout(layout, None);
            self.device.destroy_descriptor_set_layout(set_layout, None);
        }
        Ok((statistics, assembly))
    }

    /// The assembly of a pipeline; empty if the driver has none.
    fn assembly(&self, info: &vk::PipelineExecutableInfoKHR) -> Result<String, String> {
        // SAFETY: see the top of the file.
        let found = unsafe { self.executables.get_pipeline_executable_internal_representations(info) };
        let mut found = found.map_err(fault("representations"))?;
        // The first call returned sizes. The second call writes the texts.
        let mut texts: Vec<Vec<u8>> = found.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, text) in found.iter_mut().zip(&mut texts) {
            one.p_data = text.as_mut_ptr().cast();
        }
        let mut count = found.len() as u32;
        let call = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        // SAFETY: each representation points to as many bytes as the driver asked for.
        let result = unsafe { call(self.executables.device(), info, &mut count, found.as_mut_ptr()) };
        result.result().map_err(fault("representations"))?;
        let assembly = found.iter().zip(texts).find(|(one, _)| text(&one.name) == "Assembly");
        Ok(assembly.map(|(_, text)| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default())
    }

    /// The layouts of the descriptor set and of the pipeline of a kernel.
    fn layouts(&self, bindings: &[(u32, bool)]) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout), String> {
        let bound = bindings.iter().map(|&(binding, uniform)| {
            let kind = if uniform { vk::DescriptorType::UNIFORM_BUFFER } else { vk::DescriptorType::STORAGE_BUFFER };
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let bound: Vec<_> = bound.collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bound);
        // SAFETY: see the top of the file.
        let set_layout = unsafe { self.device.create_descriptor_set_layout(&info, None) };
        let set_layout = set_layout.map_err(fault("a layout of a descriptor set"))?;
        let set_layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: see the top of the file.
        let layout = unsafe { self.device.create_pipeline_layout(&info, None) };
        Ok((set_layout, layout.map_err(fault("a layout of a pipeline"))?))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing else uses these objects, and the device is destroyed before its instance.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// The text of a failed call.
fn fault(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |result| format!("Vulkan refuses {what}: {result:?}")
}

/// A text that Vulkan returns, which ends with a zero.
fn text(bytes: &[std::ffi::c_char]) -> String {
    bytes.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8 as char).collect()
}

/// The value of a statistic. A number with a fraction is rounded down.
fn value(statistic: &vk::PipelineExecutableStatisticKHR) -> u64 {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the format names the member of the union that the driver has written.
    unsafe {
        match statistic.format {
            Format::BOOL32 => statistic.value.b32.into(),
            Format::INT64 => statistic.value.i64.max(0) as u64,
            Format::FLOAT64 => statistic.value.f64 as u64,
            _ => statistic.value.u64,
        }
    }
}
