//! How fast an adapter can write: the yardstick for a pass that mostly writes.

use std::time::Instant;

use crate::error::Error;
use crate::gpu::buffers::largest_binding;
use crate::gpu::headless::HeadlessGpu;
use crate::gpu::readback;
use crate::gpu::scopes::Scopes;
use crate::gpu::stopwatch::Stopwatch;

/// Bytes that are written at a time, where the device allows as many: more than any cache holds.
const SIZE: u64 = 1 << 30;
/// Passes of which the median counts.
const PASSES: usize = 9;

/// Bytes a second that an adapter writes to its own memory.
///
/// # Errors
/// [`Error::Device`] where the device is lost or out of memory.
pub fn write_bandwidth(gpu: &HeadlessGpu) -> Result<f64, Error> {
    let HeadlessGpu { device, queue, .. } = gpu;
    let cap = if gpu.is_hardware() { SIZE } else { SIZE / 4 };
    let size = cap.min(largest_binding(device)) / 16 * 16;
    let scopes = Scopes::push(device);
    let memory = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("posse bandwidth"),
        size,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let source = wgpu::ShaderSource::Wgsl(include_str!("../../shaders/bandwidth.wgsl").into());
    let label = Some("posse bandwidth");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: None,
        module: &module,
        entry_point: Some("fill"),
        compilation_options: Default::default(),
        cache: None,
    });
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: memory.as_entire_binding() }],
    });
    scopes.pop()?;
    let stopwatch = Stopwatch::new(device, queue);
    let mut seconds = Vec::new();
    for _ in 0..=PASSES {
        let mut encoder = device.create_command_encoder(&Default::default());
        let timestamp_writes = stopwatch.as_ref().map(Stopwatch::writes);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
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
    // The first pass pays for the memory itself.
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    Ok(size as f64 / seconds[PASSES / 2])
}
