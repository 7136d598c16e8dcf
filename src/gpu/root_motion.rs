//! The root motion of a batch.

use crate::gpu::GpuLibrary;
use crate::gpu::kernels::{Dispatch, SideKernel, bind_group};
use crate::gpu::shader::ROOT_MOTION_WORKGROUP_SIZE;

/// The kernel of root motion for all instances of a batch, visible or not.
#[derive(Debug)]
pub(super) struct RootMotionPass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    dispatch: Dispatch,
}

/// The buffers that the kernel reads and writes, besides those of the library.
pub(super) struct RootMotionBuffers<'a> {
    /// The layer records of the batch.
    pub layers: &'a wgpu::Buffer,
    /// The frame.
    pub frame: &'a wgpu::Buffer,
    /// The record of the batch.
    pub batch: &'a wgpu::Buffer,
    /// The output.
    pub root_motion: &'a wgpu::Buffer,
}

impl RootMotionPass {
    /// Creates the pass for a batch of `instance_count` instances.
    pub fn new(library: &GpuLibrary, kernel: &SideKernel, buffers: &RootMotionBuffers, instance_count: u32) -> Self {
        let device = library.gpu().device;
        let RootMotionBuffers { layers, frame, batch, root_motion } = buffers;
        let bound = [&library.words, &library.values, layers, frame, batch, root_motion];
        let groups = instance_count.div_ceil(ROOT_MOTION_WORKGROUP_SIZE);
        Self {
            pipeline: kernel.pipeline.clone(),
            bind_group: bind_group(device, &kernel.layout, &bound),
            dispatch: Dispatch::new(device, groups),
        }
    }

    /// Records the root motion of a step.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.dispatch.record(pass);
    }
}
