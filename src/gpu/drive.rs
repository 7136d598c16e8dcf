//! The parameters of a batch, and the drivers that turn them into times and weights of layers.

use wgpu::BufferUsages as Usages;

use crate::gpu::kernels::{SideKernel, SidePass};
use crate::gpu::{DeviceAndQueue, GpuLibrary, filled_buffer};
use crate::model::ParameterValues;
use crate::pack::record::{DriveBatch, DriveRecord};

/// The parameters of a batch whose layers or goals follow some, or which has room for them.
#[derive(Debug)]
pub(super) struct BatchParameters {
    /// The parameters of all instances, now and at the previous frame; `None` if the instances have none.
    buffers: Option<[wgpu::Buffer; 2]>,
    /// The number per instance.
    pub count: usize,
}

impl BatchParameters {
    /// Uploads the values of each instance, `count` of them.
    pub fn new(gpu: DeviceAndQueue, values: &[ParameterValues], count: usize) -> Self {
        let numbers: Vec<f32> = values.iter().flat_map(|values| &values.0[..count]).copied().collect();
        let buffer = |label: &str| {
            let usage = Usages::STORAGE | Usages::COPY_SRC;
            filled_buffer(gpu, label, bytemuck::cast_slice(&numbers), usage)
        };
        let labels = ["posse parameters", "posse parameters before"];
        Self { buffers: (count > 0).then(|| labels.map(buffer)), count }
    }

    /// The parameters of all instances: `count` numbers each.
    pub fn now(&self) -> Option<&wgpu::Buffer> {
        self.buffers.as_ref().map(|[now, _]| now)
    }

    /// The parameters at the previous frame.
    pub fn before(&self) -> Option<&wgpu::Buffer> {
        self.buffers.as_ref().map(|[_, before]| before)
    }

    /// Records that the parameters become the parameters of the previous frame.
    pub fn keep(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some([now, before]) = &self.buffers {
            encoder.copy_buffer_to_buffer(now, 0, before, 0, now.size());
        }
    }

    /// Destroys the buffers.
    pub fn destroy(&self) {
        self.buffers.iter().flatten().for_each(wgpu::Buffer::destroy);
    }
}

/// The drivers of a batch whose layers have some, or have room for them.
#[derive(Debug)]
pub(super) struct Drivers {
    /// One record per layer.
    pub drives: wgpu::Buffer,
    batch: wgpu::Buffer,
    /// The workgroups of the pass.
    groups: u32,
}

impl Drivers {
    /// Uploads drivers, with the uniform of their kernel, whose pass has that many workgroups.
    pub fn new(gpu: DeviceAndQueue, drives: &[DriveRecord], record: &DriveBatch, groups: u32) -> Self {
        Self {
            drives: filled_buffer(gpu, "posse drivers", bytemuck::cast_slice(drives), Usages::STORAGE),
            batch: filled_buffer(gpu, "posse batch", bytemuck::bytes_of(record), Usages::UNIFORM),
            groups,
        }
    }

    /// The pass that drives layers to the step of a frame, for the layer records of the batch and the uniform of the
    /// frame.
    pub fn pass(
        &self,
        library: &GpuLibrary,
        kernel: &SideKernel,
        parameters: Option<&BatchParameters>,
        layers: &wgpu::Buffer,
        frame: &wgpu::Buffer,
    ) -> SidePass {
        // Without parameters, the kernel reads none: bind any buffer.
        let [now, before] = [parameters.and_then(BatchParameters::now), parameters.and_then(BatchParameters::before)]
            .map(|found| found.unwrap_or(&library.words));
        let bound = [&library.words, &self.drives, now, before, frame, &self.batch, layers];
        kernel.pass(library.gpu().device, &bound, self.groups)
    }

    /// Destroys the buffers.
    pub fn destroy(&self) {
        [&self.drives, &self.batch].into_iter().for_each(wgpu::Buffer::destroy);
    }
}
