//! The layers of a batch at the tick of a frame.

use crate::gpu::GpuLibrary;
use crate::gpu::kernels::{Dispatch, SideKernel, bind_group};
use crate::gpu::shader::PLAY_WORKGROUP_SIZE;

/// The kernel that writes the time and the search result of each layer of a batch into its record.
#[derive(Debug)]
pub(super) struct PlayPass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    dispatch: Dispatch,
}

/// The buffers that the kernel reads and writes, besides those of the library.
pub(super) struct PlayBuffers<'a> {
    /// The layer records of the batch.
    pub layers: &'a wgpu::Buffer,
    /// The frame.
    pub frame: &'a wgpu::Buffer,
    /// The record of the batch.
    pub batch: &'a wgpu::Buffer,
}

impl PlayPass {
    /// Creates the pass for a batch of `layer_count` layers, of all instances together.
    pub fn new(library: &GpuLibrary, kernel: &SideKernel, buffers: &PlayBuffers, layer_count: u32) -> Self {
        let device = library.gpu().device;
        let PlayBuffers { layers, frame, batch } = buffers;
        Self {
            pipeline: kernel.pipeline.clone(),
            bind_group: bind_group(device, &kernel.layout, &[&library.words, &library.values, frame, batch, layers]),
            dispatch: Dispatch::new(device, layer_count.div_ceil(PLAY_WORKGROUP_SIZE)),
        }
    }

    /// Records the play of all layers.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.dispatch.record(pass);
    }
}
