//! Positions of vertices as the vertex shader computes them, read back as numbers.

use crate::pipelines::{figure_source, vertex_buffers};
use crate::scene::Draw;
use crate::{Renderer, Scene};
use posse::Error;
use posse::low_level::device::{Scopes, create_buffer, fault_point, read_buffers, shader_text};

const PROBE: &str = shader_text!("../shaders/probe.wgsl");
/// The number of vertices per row of the texture that they are written to.
const ROW: u32 = 1024;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

/// The positions of all vertices of a scene in the world, as the vertex shader computes them from the poses that the
/// buffers of the scene hold. There is one list per batch of the crowd and part of its figure; in a list, one instance
/// follows the other.
///
/// The positions are read back, for tests and for exports of meshes. Pictures do not need them.
///
/// # Errors
/// [`Error::Limit`] if a part has too many vertices in all its instances for a texture of the device; [`Error::Device`]
/// if the device is lost or out of memory.
#[cfg(not(target_arch = "wasm32"))]
pub fn vertex_positions(renderer: &Renderer, scene: &Scene) -> Result<Vec<Vec<[f32; 3]>>, Error> {
    pollster::block_on(vertex_positions_async(renderer, scene))
}

/// As `vertex_positions`, for a browser.
///
/// # Errors
/// The errors of `vertex_positions`.
pub async fn vertex_positions_async(renderer: &Renderer, scene: &Scene) -> Result<Vec<Vec<[f32; 3]>>, Error> {
    let mut lists = Vec::with_capacity(scene.draws.len());
    for draw in &scene.draws {
        lists.push(draw_positions(renderer, draw).await?);
    }
    Ok(lists)
}

async fn draw_positions(renderer: &Renderer, draw: &Draw) -> Result<Vec<[f32; 3]>, Error> {
    let device = &renderer.device;
    let count = u64::from(draw.vertex_count) * u64::from(draw.instance_count);
    let allowed = u64::from(ROW) * u64::from(device.limits().max_texture_dimension_2d);
    if count > allowed {
        return Err(Error::Limit { what: "vertices to read back".into(), needed: count, allowed });
    }
    let size = wgpu::Extent3d { width: ROW, height: count.div_ceil(ROW.into()) as u32, depth_or_array_layers: 1 };
    let scopes = Scopes::push(device);
    fault_point(device);
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("probe"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let buffer = create_buffer(
        device,
        &wgpu::BufferDescriptor {
            label: Some("probe"),
            size: u64::from(16 * size.width) * u64::from(size.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        },
    );
    let pipeline = pipeline(renderer, size);
    fault_point(device);
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("probe"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &texture.create_view(&Default::default()),
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &renderer.no_view, &[]);
    pass.set_bind_group(1, &draw.poses, &[]);
    pass.set_bind_group(2, &draw.part, &[]);
    pass.set_vertex_buffer(0, draw.vertices.slice(..));
    pass.draw(0..draw.vertex_count, 0..draw.instance_count);
    drop(pass);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(16 * ROW), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        size,
    );
    scopes.pop().await?;
    let bytes = read_buffers(renderer.gpu(), encoder, &[(&buffer, 0..buffer.size())]).await?.concat();
    let numbers: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&bytes);
    Ok(numbers.into_iter().take(count as usize).map(|[x, y, z, _]| [x, y, z]).collect())
}

fn pipeline(renderer: &Renderer, size: wgpu::Extent3d) -> wgpu::RenderPipeline {
    let Renderer { device, layouts, .. } = renderer;
    fault_point(device);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("probe"),
        source: wgpu::ShaderSource::Wgsl(figure_source(renderer.target(), PROBE).into()),
    });
    fault_point(device);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("probe"),
        bind_group_layouts: &[Some(&layouts.view), Some(&layouts.poses), Some(&layouts.part)],
        immediate_size: 0,
    });
    let constants = [("probe_width", f64::from(size.width)), ("probe_height", f64::from(size.height))];
    let compilation_options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
    vertex_buffers(|buffers| {
        fault_point(device);
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("probe"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("probe_vertex"),
                compilation_options: compilation_options.clone(),
                buffers,
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::PointList, ..Default::default() },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("probe_fragment"),
                compilation_options: compilation_options.clone(),
                targets: &[Some(FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    })
}
