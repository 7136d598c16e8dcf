//! Draws a crowd: the mesh once per instance, moved by the skin matrices in the buffer that posse writes.

use posse::gpu::GpuCrowd;
use wgpu::util::DeviceExt;

use super::figure::{Figure, Vertex};
use super::scene::{Placement, Scene};

/// The content of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A crowd in the sun, with shadows and ground.
    Sunny,
    /// The number of the instance, as three digits in red, green and blue; 0 for pixels without an instance.
    Identity,
}

impl Look {
    /// The linear colour of pixels without an instance.
    pub fn background(self) -> wgpu::Color {
        match self {
            Self::Sunny => wgpu::Color { r: 0.62, g: 0.72, b: 0.80, a: 1.0 },
            Self::Identity => wgpu::Color::BLACK,
        }
    }
}

/// The attachments of the pass that it draws in. The depth is a reversed `Depth32Float`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The colour format.
    pub format: wgpu::TextureFormat,
    /// The number of samples per pixel.
    pub samples: u32,
}

/// A crowd ready to be drawn.
pub struct CrowdDrawing {
    /// The pipeline of the ground. Its four vertices need no buffer.
    ground: Option<wgpu::RenderPipeline>,
    /// The pipelines of the shadows, then of the characters.
    characters: Vec<wgpu::RenderPipeline>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    /// One bind group per batch of the crowd, with the number of instances of the batch.
    batches: Vec<(wgpu::BindGroup, u32)>,
    view_layout: wgpu::BindGroupLayout,
}

/// The depth format, the same as in Bevy.
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

const SHADER: &str = concat!(include_str!("skinning.wgsl"), include_str!("crowd.wgsl"));

impl CrowdDrawing {
    /// Prepares to draw the crowd of a scene into a target. `crowd` has the buffers of skin matrices.
    pub fn new(
        device: &wgpu::Device,
        scene: &Scene,
        figure: &Figure,
        crowd: &GpuCrowd,
        target: Target,
        look: Look,
    ) -> Self {
        let view_layout = layout(device, &[wgpu::BufferBindingType::Uniform]);
        let storage = wgpu::BufferBindingType::Storage { read_only: true };
        let batch_layout = layout(device, &[storage, storage]);
        let pipelines = Pipelines {
            device,
            target,
            shader: device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("crowd"),
                source: wgpu::ShaderSource::Wgsl(SHADER.into()),
            }),
            layout: device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("crowd"),
                bind_group_layouts: &[Some(&view_layout), Some(&batch_layout)],
                immediate_size: 0,
            }),
        };
        let (ground, characters) = match look {
            Look::Sunny => (
                Some(pipelines.create("ground_vertex", "ground_fragment", false)),
                vec![
                    pipelines.create("shadow_vertex", "shadow_fragment", true),
                    pipelines.create("character_vertex", "character_fragment", true),
                ],
            ),
            Look::Identity => (None, vec![pipelines.create("character_vertex", "identity_fragment", true)]),
        };
        let batches = crowd.batches().iter().filter_map(|batch| {
            let skin = batch.skin()?;
            let placements: Vec<Placement> =
                batch.instances().iter().map(|&instance| scene.placements[instance]).collect();
            let placements = filled(device, bytemuck::cast_slice(&placements), wgpu::BufferUsages::STORAGE);
            let entries = [
                wgpu::BindGroupEntry { binding: 0, resource: skin.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: placements.as_entire_binding() },
            ];
            let descriptor =
                wgpu::BindGroupDescriptor { label: Some("crowd"), layout: &batch_layout, entries: &entries };
            Some((device.create_bind_group(&descriptor), batch.instances().len() as u32))
        });
        Self {
            ground,
            characters,
            vertices: filled(device, bytemuck::cast_slice(&figure.vertices), wgpu::BufferUsages::VERTEX),
            indices: filled(device, bytemuck::cast_slice(&figure.indices), wgpu::BufferUsages::INDEX),
            index_count: figure.indices.len() as u32,
            batches: batches.collect(),
            view_layout,
        }
    }

    /// A bind group for [`draw`](Self::draw), of a uniform that begins with the matrix from the world to clip space.
    pub fn view(&self, device: &wgpu::Device, uniform: wgpu::BindingResource) -> wgpu::BindGroup {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &self.view_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform }],
        })
    }

    /// Records the draws of all instances. `offset` is the position of the camera's record in the uniform buffer.
    pub fn draw(&self, pass: &mut wgpu::RenderPass, view: &wgpu::BindGroup, offset: u32) {
        let Some((first, _)) = self.batches.first() else { return };
        pass.set_bind_group(0, view, &[offset]);
        pass.set_bind_group(1, first, &[]);
        if let Some(ground) = &self.ground {
            pass.set_pipeline(ground);
            pass.draw(0..4, 0..1);
        }
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for pipeline in &self.characters {
            pass.set_pipeline(pipeline);
            for (bind_group, count) in &self.batches {
                pass.set_bind_group(1, bind_group, &[]);
                pass.draw_indexed(0..self.index_count, 0, 0..*count);
            }
        }
    }
}

/// The common properties of all pipelines.
struct Pipelines<'a> {
    device: &'a wgpu::Device,
    target: Target,
    shader: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
}

impl Pipelines<'_> {
    /// A pipeline for the mesh, or for a triangle strip without a buffer.
    fn create(&self, vertex: &str, fragment: &str, mesh: bool) -> wgpu::RenderPipeline {
        let attributes =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Uint8x4, 3 => Unorm8x4, 4 => Unorm8x4];
        let buffers = [Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<Vertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        })];
        let topology =
            if mesh { wgpu::PrimitiveTopology::TriangleList } else { wgpu::PrimitiveTopology::TriangleStrip };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(vertex),
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: &self.shader,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers: if mesh { &buffers } else { &[] },
            },
            primitive: wgpu::PrimitiveState { topology, ..Default::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                // 1 is near and 0 far.
                depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: self.target.samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &self.shader,
                entry_point: Some(fragment),
                compilation_options: Default::default(),
                targets: &[Some(self.target.format.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// A layout of buffers of these types. Uniforms have a dynamic offset.
fn layout(device: &wgpu::Device, types: &[wgpu::BufferBindingType]) -> wgpu::BindGroupLayout {
    let entry = |(binding, ty): (u32, &wgpu::BufferBindingType)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX,
        ty: wgpu::BindingType::Buffer {
            ty: *ty,
            has_dynamic_offset: *ty == wgpu::BufferBindingType::Uniform,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..).zip(types).map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("crowd"), entries: &entries })
}

/// A buffer with contents.
pub fn filled(device: &wgpu::Device, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
}
