//! The drivers of a batch: its parameters, and the kernel that turns them into times and weights of layers.

use wgpu::BufferUsages as Usages;

use crate::gpu::kernels::{Dispatch, SideKernel, bind_group};
use crate::gpu::shader::DRIVE_WORKGROUP_SIZE;
use crate::gpu::{DeviceAndQueue, GpuLibrary, filled_buffer};
use crate::model::{Layer, LayerTime, ParameterValues, WeightDriver};
use crate::pack::record::{DriveBatch, DriveRecord};

/// The drivers of a batch whose layers have some, or have room for them.
#[derive(Debug)]
pub(super) struct Drivers {
    /// One record per layer.
    pub drives: wgpu::Buffer,
    /// The parameters of all instances, now and at the previous frame; `None` if the instances have none.
    parameters: Option<[wgpu::Buffer; 2]>,
    /// The number of parameters per instance.
    pub parameter_count: usize,
    batch: wgpu::Buffer,
    instance_count: u32,
}

/// The contents of the buffers of drivers.
pub(super) struct DriverContents<'a> {
    /// The records, `layer_count` per instance.
    pub drives: &'a [DriveRecord],
    /// The values of the parameters of each instance.
    pub values: &'a [ParameterValues],
    /// The number of parameters per instance.
    pub parameter_count: usize,
    /// The number of layer records per instance.
    pub layer_count: usize,
}

impl Drivers {
    /// Uploads drivers.
    pub fn new(gpu: DeviceAndQueue, contents: &DriverContents) -> Self {
        let &DriverContents { drives, values, parameter_count, layer_count } = contents;
        let instance_count = values.len() as u32;
        let record = DriveBatch {
            instance_count,
            layer_count: layer_count as u32,
            groups_per_row: gpu.device.limits().max_compute_workgroups_per_dimension,
            parameter_count: parameter_count as u32,
        };
        let numbers: Vec<f32> = values.iter().flat_map(|values| &values.0[..parameter_count]).copied().collect();
        let buffer = |label: &str| {
            let usage = Usages::STORAGE | Usages::COPY_SRC;
            filled_buffer(gpu, label, bytemuck::cast_slice(&numbers), usage)
        };
        let labels = ["posse parameters", "posse parameters before"];
        Self {
            drives: filled_buffer(gpu, "posse drivers", bytemuck::cast_slice(drives), Usages::STORAGE),
            parameters: (parameter_count > 0).then(|| labels.map(buffer)),
            parameter_count,
            batch: filled_buffer(gpu, "posse batch", bytemuck::bytes_of(&record), Usages::UNIFORM),
            instance_count,
        }
    }

    /// The parameters of all instances: `parameter_count` numbers each.
    pub fn parameters(&self) -> Option<&wgpu::Buffer> {
        self.parameters.as_ref().map(|[now, _]| now)
    }

    /// The parameters at the previous frame.
    pub fn parameters_before(&self) -> Option<&wgpu::Buffer> {
        self.parameters.as_ref().map(|[_, before]| before)
    }

    /// Records that the parameters become those of the previous frame.
    pub fn keep(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some([now, before]) = &self.parameters {
            encoder.copy_buffer_to_buffer(now, 0, before, 0, now.size());
        }
    }

    /// Destroys the buffers.
    pub fn destroy(&self) {
        let parameters = self.parameters.iter().flatten();
        parameters.chain([&self.drives, &self.batch]).for_each(wgpu::Buffer::destroy);
    }
}

/// The kernel that drives the layers of a batch to the step of a frame.
#[derive(Debug)]
pub(super) struct DrivePass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    dispatch: Dispatch,
}

impl DrivePass {
    /// Creates the pass for drivers, the layer records of their batch, and the uniform of a frame.
    pub fn new(
        library: &GpuLibrary,
        kernel: &SideKernel,
        drivers: &Drivers,
        layers: &wgpu::Buffer,
        frame: &wgpu::Buffer,
    ) -> Self {
        let device = library.gpu().device;
        // Without parameters, the kernel reads none: bind any buffer.
        let [now, before] =
            [drivers.parameters(), drivers.parameters_before()].map(|found| found.unwrap_or(&library.words));
        let bound = [&library.words, &drivers.drives, now, before, frame, &drivers.batch, layers];
        Self {
            pipeline: kernel.pipeline.clone(),
            bind_group: bind_group(device, &kernel.layout, &bound),
            dispatch: Dispatch::new(device, drivers.instance_count.div_ceil(DRIVE_WORKGROUP_SIZE)),
        }
    }

    /// Records the drive of all layers.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.dispatch.record(pass);
    }
}

/// The number of parameters that layers refer to: one more than the highest index.
pub(super) fn needed_parameters(layers: &[Layer]) -> usize {
    let of_layer = |layer: &Layer| {
        let time = match layer.time {
            LayerTime::Phase { parameter, .. } => parameter + 1,
            LayerTime::At(_) | LayerTime::Playing(_) | LayerTime::Synced { .. } => 0,
        };
        let weight = match layer.driver {
            Some(WeightDriver::Knots { parameter, .. }) => parameter + 1,
            Some(WeightDriver::Point { parameters: [x, y], .. }) => x.max(y) + 1,
            None => 0,
        };
        time.max(weight)
    };
    layers.iter().map(of_layer).max().unwrap_or(0)
}
