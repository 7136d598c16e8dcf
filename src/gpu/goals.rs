//! The goals of a batch, and the kernel that reads their parameters.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::buffers::write;
use crate::gpu::drive::BatchParameters;
use crate::gpu::kernels::{SideKernel, SidePass};
use crate::gpu::{GpuLibrary, filled_buffer};
use crate::model::Goal;
use crate::pack::pack_goals;
use crate::pack::record::{GoalBatch, GoalRecord};

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
