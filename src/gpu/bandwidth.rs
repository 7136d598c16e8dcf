//! The memory bandwidth of an adapter: the yardstick for the pose pass, which mostly writes.

use crate::error::Error;
use crate::gpu::kernels::Dispatch;
use crate::gpu::shader_files::BANDWIDTH;
use crate::gpu::stopwatch::Stopwatch;
use crate::gpu::{
    GpuContext, Scopes, create_buffer, create_encoder, fault_point, largest_binding, submit, wait_for_device,
};

/// Bytes that a pass covers if the device allows as many: more than any cache holds.
#[cfg(not(target_arch = "wasm32"))]
const SIZE: u64 = 1 << 30;
/// Passes per kernel on hardware and on a software renderer. The median counts.
const PASSES: [usize; 2] = [9, 5];
/// Workgroups of the kernels that go round.
const GROUPS: u32 = 4096;
/// Bytes that a workgroup of the kernel `fill_strided` writes.
const GROUP_BYTES: u64 = 64 * 48;
/// Dispatches of a pass that is timed by the clock of the host, so that the wait for it is a small part of its time.
const DISPATCHES_BY_HOST: u32 = 4;
const LABEL: Option<&str> = Some("posse bandwidth");

/// Bytes per second that an adapter moves in its own memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// Bytes written by a kernel that only writes, at neighbouring addresses.
    pub write: f64,
    /// Bytes written by a kernel that only writes, in the shape of the pose pass: 48 bytes per invocation. `None` if it
    /// was not measured.
    pub write_strided: Option<f64>,
    /// Bytes read by a kernel that only reads. `None` if it was not measured.
    pub read: Option<f64>,
    /// Bytes read plus bytes written by a kernel that copies.
    pub copy: f64,
}

impl Bandwidth {
    /// Measures an adapter by all kernels in turn, over the same memory: 1 GiB, or 256 MiB on a software renderer.
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
        let whole_groups = (size / GROUP_BYTES).max(1);
        let groups = [GROUPS, whole_groups as u32, GROUPS, GROUPS].map(|groups| Dispatch::new(device, groups));
        let mut kernels = ["fill", "fill_strided", "read_memory", "copy"]
            .map(|entry_point| Kernel::new(device, &module, entry_point, &memory));
        scopes.pop().await?;
        let stopwatch = Stopwatch::new(gpu);
        // The first pass also pays for the allocation of the memory.
        for _ in 0..=PASSES[usize::from(!gpu.is_hardware())] {
            for (kernel, groups) in kernels.iter_mut().zip(groups) {
                kernel.run(gpu, groups, stopwatch.as_ref(), &clock).await?;
            }
        }
        // A browser keeps the memory until its garbage is collected.
        memory.destroy();
        let [write, write_strided, read, copy] = kernels.map(Kernel::seconds);
        Ok(Self {
            write: size as f64 / write,
            write_strided: Some((whole_groups * GROUP_BYTES).min(size) as f64 / write_strided),
            read: Some(size as f64 / read),
            copy: size as f64 / copy,
        })
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
        groups: Dispatch,
        stopwatch: Option<&Stopwatch>,
        clock: &impl Fn() -> f64,
    ) -> Result<(), Error> {
        let mut encoder = create_encoder(&gpu.device)?;
        let timestamp_writes = stopwatch.map(Stopwatch::writes);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        let dispatches = if stopwatch.is_some() { 1 } else { DISPATCHES_BY_HOST };
        (0..dispatches).for_each(|_| groups.record(&mut pass));
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

    /// The median time of the passes after the first.
    fn seconds(mut self) -> f64 {
        self.seconds.remove(0);
        self.seconds.sort_by(f64::total_cmp);
        self.seconds[self.seconds.len() / 2]
    }
}
