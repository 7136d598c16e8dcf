//! A Vulkan device that compiles compute pipelines and reports their statistics.
//!
//! All calls of Vulkan are here. They are `unsafe` because Vulkan does not check handles and pointers.

use std::collections::BTreeMap;
use std::ffi::CStr;

use ash::{khr, vk};

use crate::spirv::Module;

/// The statistics of a compiled kernel by the names that the driver gives them.
pub type Statistics = BTreeMap<String, u64>;

/// Loads the Vulkan loader.
///
/// # Errors
/// A text if it is missing.
pub fn loader() -> Result<ash::Entry, String> {
    // SAFETY: the initialization code of the Vulkan loader may run at any time, and its functions have the types that
    // ash gives them.
    unsafe { ash::Entry::load() }.map_err(|error| format!("the Vulkan loader: {error}"))
}

/// An instance. It is destroyed before the library is unloaded, which has its functions.
struct Instance {
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: `Device` keeps its instance until its device is destroyed, and nothing else is made from an instance.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// A device.
pub struct Device {
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
    /// The name that the driver gives the GPU.
    pub name: String,
    /// The name and the version of the driver.
    pub driver: String,
    /// The instance of the device, dropped after it.
    _instance: Instance,
}

impl Device {
    /// The first device of the driver that the environment names, with the features that wgpu enables.
    ///
    /// # Errors
    /// A text with the call that failed.
    pub fn new() -> Result<Self, String> {
        let entry = loader()?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` points to `application`, which lives to the end of this function, and names no layers or
        // extensions.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(error("an instance"))?;
        let owner = Instance { instance, _entry: entry };
        let instance = &owner.instance;
        // SAFETY: `owner` keeps the instance.
        let physical = unsafe { instance.enumerate_physical_devices() }.map_err(error("the list of devices"))?;
        let physical = *physical.first().ok_or("the driver has no device")?;
        let mut drivers = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut drivers);
        // SAFETY: `physical` is of this instance, whose version 1.3 has the function, and `properties` points to
        // `drivers`, a structure that the function may fill.
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
        // SAFETY: `physical` is of this instance. `info` points to structures above, and to names of ash that end with
        // a zero. The driver refuses extensions and features that it does not have.
        let device = unsafe { instance.create_device(physical, &info, None) }.map_err(error("a device"))?;
        let executables = khr::pipeline_executable_properties::Device::new(instance, &device);
        Ok(Self { device, executables, name, driver, _instance: owner })
    }

    /// Compiles the entry point of a module. Returns the statistics and the assembly.
    ///
    /// # Errors
    /// A text with the call that failed.
    pub fn compile(&self, module: &Module, entry_point: &CStr) -> Result<(Statistics, String), String> {
        let mut objects = Objects::new(&self.device);
        self.add_layouts(&mut objects, &module.bindings)?;
        let info = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: the words are SPIR-V that naga has written from a validated module, and live beyond the call.
        objects.module = unsafe { self.device.create_shader_module(&info, None) }.map_err(error("a module"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(objects.module)
            .name(entry_point);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(
                vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                    | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
            )
            .stage(stage)
            .layout(objects.layout);
        // SAFETY: the module and the layout are of this device and live in `objects`. The layout has all bindings of
        // the module, and the module has the entry point, for which naga has written it.
        let created = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        objects.pipeline = created.map_err(|(_, result)| error("a pipeline")(result))?[0];
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(objects.pipeline);
        // SAFETY: the device has the extension and its feature. The pipeline lives in `objects`, was created with
        // CAPTURE_STATISTICS, and has one executable, of index 0.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&info) };
        let statistics = found.map_err(error("statistics"))?.iter().map(|one| (text(&one.name), value(one))).collect();
        Ok((statistics, self.assembly(&info)?))
    }

    /// The assembly of a pipeline.
    fn assembly(&self, info: &vk::PipelineExecutableInfoKHR) -> Result<String, String> {
        // SAFETY: the device has the extension and its feature. The pipeline of `info` lives in the calling function
        // and was created with CAPTURE_INTERNAL_REPRESENTATIONS.
        let found = unsafe { self.executables.get_pipeline_executable_internal_representations(info) };
        let mut found = found.map_err(error("representations"))?;
        // The first call returned sizes. The second call writes the texts.
        let mut texts: Vec<Vec<u8>> = found.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, text) in found.iter_mut().zip(&mut texts) {
            one.p_data = text.as_mut_ptr().cast();
        }
        let mut count = found.len() as u32;
        let call = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        // SAFETY: as above; `found` has `count` structures, and each points to a text in `texts` of as many bytes as
        // its size says.
        let result = unsafe { call(self.executables.device(), info, &mut count, found.as_mut_ptr()) };
        result.result().map_err(error("representations"))?;
        // RADV and NVK have a name each.
        let is_assembly = |name: &str| name == "Assembly" || name == "NAK assembly";
        let assembly = found.iter().zip(texts).find(|(one, _)| is_assembly(&text(&one.name)));
        let (_, assembly) = assembly.ok_or("the driver has no assembly")?;
        Ok(String::from_utf8_lossy(&assembly).into_owned())
    }

    /// Adds the layouts of the descriptor set and of the pipeline of a kernel.
    fn add_layouts(&self, objects: &mut Objects, bindings: &[(u32, bool)]) -> Result<(), String> {
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
        // SAFETY: `info` points to `bound`, which lives beyond the call.
        let set_layout = unsafe { self.device.create_descriptor_set_layout(&info, None) };
        objects.set_layout = set_layout.map_err(error("a layout of a descriptor set"))?;
        let set_layouts = [objects.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: `info` points to `set_layouts`, whose handle is of this device and lives in `objects`.
        let layout = unsafe { self.device.create_pipeline_layout(&info, None) };
        objects.layout = layout.map_err(error("a layout of a pipeline"))?;
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all other objects of the device are `Objects`, which borrow it and are gone. The instance is dropped
        // afterwards.
        unsafe { self.device.destroy_device(None) };
    }
}

/// The objects that a compilation creates, destroyed with this value. A handle is null until its object exists.
struct Objects<'a> {
    device: &'a ash::Device,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
}

impl<'a> Objects<'a> {
    fn new(device: &'a ash::Device) -> Self {
        Self {
            device,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            module: vk::ShaderModule::null(),
            pipeline: vk::Pipeline::null(),
        }
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles are null, which Vulkan ignores, or of this device. Only this value has them, and no
        // command uses them.
        unsafe {
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_shader_module(self.module, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// The text of a failed call.
fn error(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |result| format!("Vulkan refuses {what}: {result:?}")
}

/// A text that Vulkan returns, which ends with a zero.
fn text(bytes: &[std::ffi::c_char]) -> String {
    bytes.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8 as char).collect()
}

/// The value of a statistic. A number with a fraction is rounded down.
fn value(statistic: &vk::PipelineExecutableStatisticKHR) -> u64 {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the driver has written the member of the union that the format names, and each bit pattern of each member
    // is a number.
    unsafe {
        match statistic.format {
            Format::BOOL32 => statistic.value.b32.into(),
            Format::INT64 => statistic.value.i64.max(0) as u64,
            Format::FLOAT64 => statistic.value.f64 as u64,
            _ => statistic.value.u64,
        }
    }
}
