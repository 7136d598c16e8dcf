//! Root motion of a batch, where that is wanted.

use crate::error::Error;
use crate::gpu::GpuLibrary;
use crate::gpu::kernels::{bind_group, workgroups};
use crate::gpu::shader::MOTION_WORKGROUP_SIZE;

/// The root motion of all instances of a batch, visible or not.
#[derive(Debug)]
pub(super) struct Motion {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
}

impl Motion {
    /// For a batch of so many instances: its layers, the frame, its batch, and where the motions go.
    ///
    /// # Errors
    /// [`Error::Shader`] and [`Error::Device`] where the device refuses the kernel.
    pub fn new(
        device: &wgpu::Device,
        library: &GpuLibrary,
        [layers, frame, batch, to]: [&wgpu::Buffer; 4],
        instance_count: u32,
    ) -> Result<Self, Error> {
        let kernel = library.motion_kernel(device)?;
        let groups = instance_count.div_ceil(MOTION_WORKGROUP_SIZE);
        let groups_per_row = device.limits().max_compute_workgroups_per_dimension;
        let bound = [&library.words, &library.values, layers, frame, batch, to];
        Ok(Self {
            pipeline: kernel.pipeline.clone(),
            bind_group: bind_group(device, &kernel.layout, &bound),
            workgroups: workgroups(groups, groups_per_row),
        })
    }

    /// Records the motions of a step.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.dispatch_workgroups(self.workgroups.0, self.workgroups.1, 1);
    }
}
