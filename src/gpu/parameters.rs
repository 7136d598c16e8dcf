//! The parameters of a batch, and what follows from them in a frame: times and weights of layers by their drivers, and
//! the targets and weights of goals.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::allocation::write;
use crate::gpu::kernels::{SideKernel, SidePass};
use crate::gpu::{DeviceAndQueue, GpuLibrary, filled_buffer};
use crate::model::{Goal, ParameterValues};
use crate::pack::pack_goals;
use crate::pack::record::{DriveBatch, DriveRecord, GoalBatch, GoalRecord};

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

/// The goals of a batch of which some instances have one, or have room for one.
#[derive(Debug)]
pub(super) struct Goals {
    records: wgpu::Buffer,
    batch: wgpu::Buffer,
    /// The goals per instance.
    pub count: usize,
    /// The pass that reads their parameters.
    pub pass: SidePass,
}

/// The buffers that goals are read from and written to.
pub(super) struct GoalBuffers<'a> {
    /// The parameters of the batch, if it has any.
    pub parameters: Option<&'a BatchParameters>,
    /// The lists of the batch, with room for the goals.
    pub lists: &'a wgpu::Buffer,
}

impl Goals {
    /// Uploads goals, with the uniform of their kernel, whose pass has that many workgroups.
    pub fn new(
        library: &GpuLibrary,
        kernel: &SideKernel,
        records: &[GoalRecord],
        record: &GoalBatch,
        groups: u32,
        buffers: &GoalBuffers,
    ) -> Self {
        let gpu = library.gpu();
        let &GoalBuffers { parameters, lists } = buffers;
        let batch = filled_buffer(gpu, "posse batch", bytemuck::bytes_of(record), Usages::UNIFORM);
        let goals = filled_buffer(gpu, "posse goals", bytemuck::cast_slice(records), Usages::STORAGE);
        // Without parameters, the kernel reads none: bind any buffer.
        let parameters = parameters.and_then(BatchParameters::now).unwrap_or(&library.words);
        let bound = [&library.words, &goals, parameters, &batch, lists];
        let count = record.goals_per_instance as usize;
        Self { pass: kernel.pass(gpu.device, &bound, groups), records: goals, batch, count }
    }

    /// Replaces the goals of the instances from a slot on, before the next submission. They fit.
    pub fn write<'a>(
        &self,
        library: &GpuLibrary,
        slot: usize,
        instances: impl Iterator<Item = &'a [Goal]>,
    ) -> Result<(), Error> {
        let mut records = Vec::new();
        instances.for_each(|goals| pack_goals(&library.packed, goals, self.count, &mut records));
        let offset = slot * self.count * size_of::<GoalRecord>();
        write(library.gpu(), &self.records, offset as u64, bytemuck::cast_slice(&records))
    }

    /// Destroys the buffers.
    pub fn destroy(&self) {
        [&self.records, &self.batch].into_iter().for_each(wgpu::Buffer::destroy);
    }
}
