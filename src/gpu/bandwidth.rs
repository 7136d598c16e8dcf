//! The memory bandwidth of an adapter: the yardstick for the pose pass, which mostly writes.

use crate::error::Error;
use crate::gpu::shader_files::BANDWIDTH;
use crate::gpu::stopwatch::Stopwatch;
use crate::gpu::{
    GpuContext, Scopes, create_buffer, create_encoder, fault_point, largest_binding, submit, wait_for_device,
};

/// Bytes that a pass covers if the device allows as many: more than any cache holds.
#[cfg(not(target_arch = "wasm32"))]
const SIZE: u64 = 1 << 30;
/// Passes per kernel. The median counts.
const PASSES: usize = 9;
/// Dispatches of a pass that is timed by the clock of the host, so that the wait for it is a small part of its time.
const DISPATCHES_BY_HOST: u32 = 4;
const LABEL: Option<&str> = Some("posse bandwidth");

/// Bytes per second that an adapter moves in its own memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// Bytes written by a kernel that only writes.
    pub write: f64,
    /// Bytes read plus bytes written by a kernel that copies.
    pub copy: f64,
}

impl Bandwidth {
    /// Measures an adapter by both kernels in turn, over the same memory: 1 GiB, or 256 MiB on a software renderer.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn measure(gpu: &GpuContext) -> Result<Self, Error> {
        let most = if gpu.is_hardware() { SIZE } else { SIZE / 4 };
        let began = std::time::Instant::now();
        pollster::block_on(Self::measure_with_clock(gpu, most, || began.elapsed().as_secs_f64()))
    }

    /// As `measure` for a browser: over at most `most` bytes, with a clock in seconds for devices without one.
    ///
    /// # Errors
    /// The errors of `measure`.
    pub async fn measure_with_clock(gpu: &GpuContext, most: u64, clock: impl Fn() -> f64) -> Result<Self, Error> {
        let device = &gpu.device;
        // Two halves of whole vectors.
        let size = most.min(largest_binding(device)) / 32 * 32;
        let scopes = Scopes::push(device);
        let memory = create_buffer(
            device,
            &wgpu::BufferDescriptor {
                label: LABEL,
                size,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            },
        );
        let source = wgpu::ShaderSource::Wgsl(BANDWIDTH.text);
        let label = Some(&*BANDWIDTH.name);
        fault_point(device);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
        let mut fill = Kernel::new(device, &module, "fill", &memory);
        let mut copy = Kernel::new(device, &module, "copy", &memory);
        scopes.pop().await?;
        let stopwatch = Stopwatch::new(gpu);
        for _ in 0..=PASSES {
            fill.run(gpu, stopwatch.as_ref(), &clock).await?;
            copy.run(gpu, stopwatch.as_ref(), &clock).await?;
        }
        // A browser keeps the memory until its garbage is collected.
        memory.destroy();
        Ok(Self { write: fill.rate(size), copy: copy.rate(size) })
    }
}

/// A kernel with the memory that it works on, and the times of its passes.
struct Kernel {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    seconds: Vec<f64>,
}

impl Kernel {
    fn new(device: &wgpu::Device, module: &wgpu::ShaderModule, entry_point: &str, memory: &wgpu::Buffer) -> Self {
        fault_point(device);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: LABEL,
            layout: None,
            module,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        fault_point(device);
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: LABEL,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: memory.as_entire_binding() }],
        });
        Self { pipeline, bind_group, seconds: Vec::new() }
    }

    /// Runs the kernel once and keeps its time: by the clock of the GPU, or by `clock` if there is no stopwatch.
    async fn run(
        &mut self,
        gpu: &GpuContext,
        stopwatch: Option<&Stopwatch>,
        clock: &impl Fn() -> f64,
    ) -> Result<(), Error> {
        let mut encoder = create_encoder(&gpu.device)?;
        let timestamp_writes = stopwatch.map(Stopwatch::writes);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        let dispatches = if stopwatch.is_some() { 1 } else { DISPATCHES_BY_HOST };
        (0..dispatches).for_each(|_| pass.dispatch_workgroups(4096, 1, 1));
        drop(pass);
        let start = clock();
        self.seconds.push(match stopwatch {
            Some(stopwatch) => stopwatch.submit_async(gpu, encoder).await?,
            None => {
                submit(gpu.into(), encoder).await?;
                wait_for_device(gpu.into()).await?;
                (clock() - start) / f64::from(dispatches)
            }
        });
        Ok(())
    }

    /// The rate for passes over `bytes` bytes, by the median time.
    fn rate(mut self, bytes: u64) -> f64 {
        // The first pass also pays for the allocation of the memory.
        self.seconds.remove(0);
        self.seconds.sort_by(f64::total_cmp);
        bytes as f64 / self.seconds[PASSES / 2]
    }
}
