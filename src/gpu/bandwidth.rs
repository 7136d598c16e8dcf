//! How fast an adapter can write, the yardstick for a pass that mostly writes, and how fast it can copy.

use std::time::Instant;

use crate::error::Error;
use crate::gpu::buffers::largest_binding;
use crate::gpu::scopes::Scopes;
use crate::gpu::{GpuContext, Stopwatch, readback};

/// Bytes that a pass goes over, where the device allows as many: more than any cache holds.
const SIZE: u64 = 1 << 30;
/// Passes of each kernel of which the median counts.
const PASSES: usize = 9;
const LABEL: Option<&str> = Some("posse bandwidth");

/// Bytes a second that an adapter moves in its own memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// Bytes that it writes, where it does nothing else.
    pub write: f64,
    /// Bytes that it reads and bytes that it writes, together, where it copies.
    pub copy: f64,
}

impl Bandwidth {
    /// Measures an adapter: both kernels over the same memory, in turn.
    ///
    /// # Errors
    /// [`Error::Device`] where the device is lost or out of memory.
    pub fn measure(gpu: &GpuContext) -> Result<Self, Error> {
        let GpuContext { device, queue, .. } = gpu;
        let cap = if gpu.is_hardware() { SIZE } else { SIZE / 4 };
        // Two halves of whole vectors.
        let size = cap.min(largest_binding(device)) / 32 * 32;
        let scopes = Scopes::push(device);
        let memory = device.create_buffer(&wgpu::BufferDescriptor {
            label: LABEL,
            size,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let source = wgpu::ShaderSource::Wgsl(include_str!("../../shaders/bandwidth.wgsl").into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: LABEL, source });
        let kernels = ["fill", "copy"].map(|entry_point| kernel(device, &module, entry_point, &memory));
        scopes.pop()?;
        let stopwatch = Stopwatch::new(device, queue);
        let mut seconds = [const { Vec::new() }; 2];
        for _ in 0..=PASSES {
            for (seconds, (pipeline, bind_group)) in seconds.iter_mut().zip(&kernels) {
                let mut encoder = device.create_command_encoder(&Default::default());
                let timestamp_writes = stopwatch.as_ref().map(Stopwatch::writes);
                let mut pass =
                    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes });
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, bind_group, &[]);
                pass.dispatch_workgroups(4096, 1, 1);
                drop(pass);
                let start = Instant::now();
                seconds.push(match &stopwatch {
                    Some(stopwatch) => stopwatch.submit(device, queue, encoder)?,
                    None => {
                        queue.submit([encoder.finish()]);
                        readback::wait(device)?;
                        start.elapsed().as_secs_f64()
                    }
                });
            }
        }
        let [write, copy] = seconds.map(|mut seconds| {
            // The first pass pays for the memory itself.
            seconds.remove(0);
            seconds.sort_by(f64::total_cmp);
            size as f64 / seconds[PASSES / 2]
        });
        Ok(Self { write, copy })
    }
}

/// A kernel, and the memory bound to it.
fn kernel(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    entry_point: &str,
    memory: &wgpu::Buffer,
) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: LABEL,
        layout: None,
        module,
        entry_point: Some(entry_point),
        compilation_options: Default::default(),
        cache: None,
    });
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: LABEL,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: memory.as_entire_binding() }],
    });
    (pipeline, bind_group)
}
