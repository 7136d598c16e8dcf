//! The kernel that puts the feet on the ground, and its buffers.

use posse::gpu::{GpuContext, GpuCrowd};
use posse::wgpu;
use posse::wgpu::util::DeviceExt;

use super::hills::Hills;
use super::output::Outcome;
use super::rig::Rig;
use super::steps;
use super::walkers::Walkers;

/// The kernel with its buffers.
pub struct Ground {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    settings: wgpu::Buffer,
    numbers: [u32; 8],
    groups: u32,
}

impl Ground {
    /// The kernel for a crowd, which must be one batch.
    pub fn new(gpu: &GpuContext, crowd: &GpuCrowd, rig: &Rig, walkers: &Walkers, hills: &Hills) -> Outcome<Self> {
        let (batch, _) = crowd.find(0);
        if batch.instances().len() < walkers.0.len() {
            return Err("the characters are not one batch; take fewer".into());
        }
        let parameters = batch.parameters().ok_or("the crowd has no parameters")?;
        let GpuContext { device, queue, .. } = gpu;
        let buffer = |contents: &[u8], usage: wgpu::BufferUsages| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some("ground"), contents, usage })
        };
        let ball_of_foot = rig.legs[0].offsets[3];
        let steps = steps::table(&rig.gait, ball_of_foot);
        let [walker_buffer, steps] = [bytemuck::cast_slice(&walkers.0), bytemuck::cast_slice(&steps)]
            .map(|bytes| buffer(bytes, wgpu::BufferUsages::STORAGE));
        let count = walkers.0.len() as u32;
        let floats = [Walkers::stride(), hills.cell, hills.first()].map(|number| (number as f32).to_bits());
        let numbers = [count, 0, floats[0], floats[1], floats[2], hills.side as u32, 0, 0];
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let settings = buffer(bytemuck::cast_slice(&numbers), usage);
        let side = hills.side as u32;
        let texture = device.create_texture_with_data(
            queue,
            &wgpu::TextureDescriptor {
                label: Some("heights"),
                size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::R32Float,
                usage: wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            },
            wgpu::util::TextureDataOrder::LayerMajor,
            bytemuck::cast_slice(&hills.heights),
        );
        let heights = texture.create_view(&Default::default());
        let module = device.create_shader_module(wgpu::include_wgsl!("terrain.wgsl"));
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("ground"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let resources = [
            parameters.as_entire_binding(),
            walker_buffer.as_entire_binding(),
            steps.as_entire_binding(),
            settings.as_entire_binding(),
            wgpu::BindingResource::TextureView(&heights),
        ];
        let entries: Vec<_> =
            (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("ground"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Ok(Self { pipeline, bindings, settings, numbers, groups: count.div_ceil(64) })
    }

    /// Records a frame.
    pub fn encode(&self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder, frame: usize) {
        let mut numbers = self.numbers;
        numbers[1] = (frame as f32).to_bits();
        queue.write_buffer(&self.settings, 0, bytemuck::cast_slice(&numbers));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.set_pipeline(&self.pipeline);
        pass.dispatch_workgroups(self.groups, 1, 1);
    }
}
