//! The kernels that steer the characters, and their buffers.

use posse::gpu::{GpuContext, GpuCrowd};
use posse::wgpu;
use posse::wgpu::util::DeviceExt;

use super::RATE;
use super::gaits::{Gait, Gaits};

/// The numbers of a character, as the kernel has them: position (2), heading, speed, turn, cycles, wanted speed,
/// stopped.
pub type Walker = [f32; 8];

/// The bytes before the number that says if a character stands.
const STOPPED: u64 = 28;
/// The metres on a side of a cell of the grid, and the bytes of a cell, as in the shader.
const CELL: (f32, u64) = (2.5, 64);
/// The square metres per character.
const ROOM: f32 = 8.0;

/// The kernels with their buffers.
pub struct Steering {
    place: wgpu::ComputePipeline,
    steer: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    walkers: wgpu::Buffer,
    parameters: wgpu::Buffer,
    others: wgpu::Buffer,
    cells: wgpu::Buffer,
    groups: u32,
}

impl Steering {
    /// Characters in a disc, each with another speed. The crowd must be one batch.
    pub fn new(device: &wgpu::Device, crowd: &GpuCrowd, count: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let [batch] = crowd.batches() else { return Err("the crowd is not one batch; take fewer characters".into()) };
        let parameters = batch.parameters().ok_or("the crowd has no parameters")?.clone();
        let radius = (ROOM * count as f32 / std::f32::consts::PI).sqrt();
        let walkers: Vec<Walker> = (0..count).map(|index| start(index, count, radius)).collect();
        // The outermost characters may leave the disc.
        let side = (2.4 * radius / CELL.0).ceil() as u32 + 2;
        let mut settings = vec![count as u32, (1.0 / RATE as f32).to_bits(), radius.to_bits(), side];
        let numbers = [Gait::STRIDE, Gaits::SPEEDS, Gaits::TURNS, [0.0; 2]];
        settings.extend(numbers.as_flattened().iter().map(|&number| (number as f32).to_bits()));

        let buffer = |contents: &[u8], usage: wgpu::BufferUsages| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some("steer"), contents, usage })
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let walkers = buffer(bytemuck::cast_slice(&walkers), usage);
        let settings = buffer(bytemuck::cast_slice(&settings), wgpu::BufferUsages::UNIFORM);
        let empty = |size| {
            let label = Some("steer");
            device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
        };
        let others = empty(walkers.size());
        let cells = empty(CELL.1 * u64::from(side) * u64::from(side));

        // Both kernels have the same bindings.
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let uniform = wgpu::BufferBindingType::Uniform;
        let kinds = [storage(false), storage(false), uniform, storage(true), storage(false)];
        let entries: Vec<_> = (0..).zip(kinds).map(|(binding, ty)| layout_entry(binding, ty)).collect();
        let bindings_layout = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("steer"), entries: &entries });
        let buffers = [&walkers, &parameters, &settings, &others, &cells];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("steer"),
            layout: &bindings_layout,
            entries: &entries,
        });
        let module = device.create_shader_module(wgpu::include_wgsl!("steer.wgsl"));
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("steer"),
            bind_group_layouts: &[Some(&bindings_layout)],
            ..Default::default()
        });
        let [place, steer] = ["place", "steer"].map(|name| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(name),
                compilation_options: Default::default(),
                cache: None,
            })
        });
        let groups = (count as u32).div_ceil(64);
        Ok(Self { place, steer, bindings, walkers, parameters, others, cells, groups })
    }

    /// Records a frame.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.walkers, 0, &self.others, 0, self.walkers.size());
        encoder.clear_buffer(&self.cells, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &self.bindings, &[]);
        for pipeline in [&self.place, &self.steer] {
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(self.groups, 1, 1);
        }
    }

    /// Lets a character brake and stand, or go on, from the next submission on.
    pub fn set_stopped(&self, queue: &wgpu::Queue, instance: usize, stopped: bool) {
        let at = (size_of::<Walker>() * instance) as u64 + STOPPED;
        queue.write_buffer(&self.walkers, at, &f32::from(u8::from(stopped)).to_le_bytes());
    }

    /// The parameters of all characters, after all submitted frames.
    pub fn read_parameters(&self, gpu: &GpuContext) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
        read(gpu, &self.parameters)
    }

    /// All characters, after all submitted frames.
    pub fn read_walkers(&self, gpu: &GpuContext) -> Result<Vec<Walker>, Box<dyn std::error::Error>> {
        Ok(read(gpu, &self.walkers)?.as_chunks().0.to_vec())
    }
}

/// A character at the start: one of a spiral that fills the disc evenly, on its way around the middle.
fn start(index: usize, count: usize, radius: f32) -> Walker {
    let part = |ratio: f64| (index as f64 * ratio).fract() as f32;
    let angle = std::f32::consts::TAU * part(0.618_034);
    let distance = radius * ((index as f32 + 0.5) / count as f32).sqrt();
    let [slow, fast] = Gaits::SPEEDS.map(|speed| speed as f32);
    let wanted = slow + (fast - slow) * part(0.569_84);
    [distance * angle.sin(), distance * angle.cos(), angle + 1.57, wanted, 0.0, part(0.819_17), wanted, 0.0]
}

fn layout_entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

/// The numbers of a buffer.
fn read(gpu: &GpuContext, buffer: &wgpu::Buffer) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let size = buffer.size();
    let copy =
        gpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, size);
    gpu.queue.submit([encoder.finish()]);
    // A failure shows when the bytes are read.
    copy.map_async(wgpu::MapMode::Read, .., drop);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(bytemuck::pod_collect_to_vec(&copy.get_mapped_range(..)?))
}
