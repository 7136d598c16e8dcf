//! A crowd of a glTF file in a renderer of one's own: a thousand characters, each mesh drawn once per batch, and moved
//! by a vertex shader that reads the buffer which posse writes.
//!
//! `cargo run --release --example skinned_gltf -- crowd.png FILE.glb`; without a glTF file, the built-in human.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use glam::{Affine3A, DVec3, Mat4, Vec3};
use posse::gpu::{AdapterKind, GpuBatch};
use posse::prelude::*;
use posse::{ClipId, SkinId, import};
use posse_render::{Camera, Figure, Mover, Picture, Vertex, sunflower};
use wgpu::util::DeviceExt;

const COUNT: usize = 1000;
const SIZE: [u32; 2] = [1024, 512];
const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

const SHADER: &str = "
@group(0) @binding(0) var<uniform> clip_from_world: mat4x4f;
/// Three rows of a matrix per joint, skin after skin, instance after instance.
@group(0) @binding(1) var<storage, read> skin_rows: array<vec4f>;
/// One placement per slot of the batch.
@group(0) @binding(2) var<storage, read> placements: array<mat4x4f>;
/// The rows from an instance to the next, and the rows before the skin of the mesh.
@group(0) @binding(3) var<uniform> stride_and_start: vec2u;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(4) joints_0: vec4u,
    @location(5) joints_1: vec4u,
    @location(6) weights_0: vec4f,
    @location(7) weights_1: vec4f,
}

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
}

/// The weighted mean of the matrices of joints. Its columns are rows, so that a vector stands to its left.
fn skin_matrix(first: u32, joints: vec4u, weights: vec4f) -> mat3x4f {
    var sum = mat3x4f();
    for (var i = 0u; i < 4u; i++) {
        let row = first + 3u * joints[i];
        sum += weights[i] * mat3x4f(skin_rows[row], skin_rows[row + 1u], skin_rows[row + 2u]);
    }
    return sum;
}

@vertex
fn skinned(vertex: Vertex, @builtin(instance_index) slot: u32) -> Fragment {
    let first = slot * stride_and_start.x + stride_and_start.y;
    let matrix = skin_matrix(first, vertex.joints_0, vertex.weights_0)
        + skin_matrix(first, vertex.joints_1, vertex.weights_1);
    let world = placements[slot] * vec4f(vec4f(vertex.position, 1.0) * matrix, 1.0);
    let normal = placements[slot] * vec4f(vec4f(vertex.normal, 0.0) * matrix, 0.0);
    return Fragment(clip_from_world * world, normal.xyz);
}

@fragment
fn lit(in: Fragment) -> @location(0) vec4f {
    let sun = max(dot(normalize(in.normal), normalize(vec3f(0.5, 0.7, 0.5))), 0.0);
    return vec4f(vec3f(0.75, 0.5, 0.3) * (0.25 + 0.75 * sun), 1.0);
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let output = arguments.next().ok_or("name the PNG file to write")?;
    let (library, clip, figure) = load(arguments.next())?;

    // Each character begins elsewhere in the clip.
    let skeleton = library.clip(clip).skeleton;
    let mut crowd = Crowd::new();
    for instance in 0..COUNT {
        crowd.push(skeleton, &[clip.looping().phase(0.618 * instance as f64)])?;
    }
    let placements: Vec<Affine3A> = sunflower(COUNT, extent(&library, &crowd)?).collect();
    let points: Vec<Vec3> = placements.iter().map(|place| Vec3::from(place.translation)).collect();
    let camera = Camera { elevation: 0.4, ..Camera::default() }.fitted(&points, SIZE[0] as f32 / SIZE[1] as f32, 0.05);

    // A game engine has a device already: GpuLibrary::new((&device, &queue), &library).
    let gpu = GpuContext::new(AdapterKind::Any)?;
    let gpu_library = GpuLibrary::new(&gpu, &library)?;
    let gpu_crowd = GpuCrowd::new(&gpu_library, &crowd, Outputs::SKIN)?;
    let drawing = Drawing::new(&gpu.device, &library, &figure, &gpu_crowd, &placements, &camera);
    let [colour, depth] = [(COLOUR, wgpu::TextureUsages::COPY_SRC), (DEPTH, wgpu::TextureUsages::empty())]
        .map(|(format, usage)| texture(&gpu.device, format, usage));

    // Per frame: the poses and the draws in one encoder and one submission.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    gpu_crowd.encode(&mut encoder, Ticks::from_seconds(12.5));
    drawing.draw(&mut encoder, &colour, &depth);
    let picture = read_back(&gpu, encoder, &colour)?;
    posse_render::encode::write_png(BufWriter::new(File::create(&output)?), &picture)?;
    println!("{COUNT} characters in {output}");
    Ok(())
}

/// A library, the clip to play, and the meshes of the file.
fn load(file: Option<String>) -> Result<(Library, ClipId, Figure), Box<dyn Error>> {
    let Some(file) = file else {
        let library = posse::demo::library()?;
        let walk = library.find_clip("walk").ok_or("the demo walks")?;
        let figure = posse_render::demo::figure(&library, library.clip(walk).skeleton, 0.04)?;
        return Ok((library, walk, figure));
    };
    let mut library = Library::new();
    let asset = import::load(&mut library, &file)?;
    let clip = *asset.clips.first().ok_or("the file has no clip")?;
    let (figure, _) = posse_render::gltf::load(&asset.gltf.ok_or("meshes are read from glTF files")?)?;
    Ok((library, clip, figure))
}

/// The largest extent of the joints of the first character, for the distances between characters.
fn extent(library: &Library, crowd: &Crowd) -> Result<f32, posse::Error> {
    let pose = CpuEngine::new(library)?.query(crowd, 0, Ticks(0), Outputs { model: true, ..Outputs::NONE })?;
    let joints = || pose.model.iter().map(|joint| joint.translation);
    let size = joints().fold(DVec3::NEG_INFINITY, DVec3::max) - joints().fold(DVec3::INFINITY, DVec3::min);
    Ok(size.max_element() as f32)
}

/// The pipeline, and the draws of all meshes.
struct Drawing {
    pipeline: wgpu::RenderPipeline,
    draws: Vec<Draw>,
}

/// A mesh of a batch.
struct Draw {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    instances: u32,
    bind_group: wgpu::BindGroup,
}

impl Drawing {
    fn new(
        device: &wgpu::Device,
        library: &Library,
        figure: &Figure,
        crowd: &GpuCrowd,
        placements: &[Affine3A],
        camera: &Camera,
    ) -> Self {
        let pipeline = pipeline(device);
        let camera = camera.clip_from_world(SIZE[0] as f32 / SIZE[1] as f32).to_cols_array();
        let camera = filled(device, &camera, wgpu::BufferUsages::UNIFORM);
        let skins: Vec<SkinId> = library.skins_of(figure.skeleton).map(|(id, _)| id).collect();
        let mut draws = Vec::new();
        for batch in crowd.batches() {
            // A batch has an order of its own.
            let places: Vec<[f32; 16]> =
                batch.instances().iter().map(|&instance| Mat4::from(placements[instance]).to_cols_array()).collect();
            let places = filled(device, &places, wgpu::BufferUsages::STORAGE);
            for part in &figure.parts {
                // This renderer draws meshes with a skin alone.
                let (Mover::Skin(skin), Some(matrices)) = (part.mover, batch.skin()) else { continue };
                let rows = skin_rows(batch, library, skins[skin]);
                let rows = filled(device, &rows, wgpu::BufferUsages::UNIFORM);
                let entries: Vec<_> = (0..)
                    .zip([&camera, matrices, &places, &rows])
                    .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                    .collect();
                let layout = &pipeline.get_bind_group_layout(0);
                let mesh = &figure.meshes[part.mesh];
                draws.push(Draw {
                    vertices: filled(device, &mesh.vertices, wgpu::BufferUsages::VERTEX),
                    indices: filled(device, &mesh.indices, wgpu::BufferUsages::INDEX),
                    index_count: mesh.indices.len() as u32,
                    instances: batch.instances().len() as u32,
                    bind_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout,
                        entries: &entries,
                    }),
                });
            }
        }
        Self { pipeline, draws }
    }

    fn draw(&self, encoder: &mut wgpu::CommandEncoder, colour: &wgpu::Texture, depth: &wgpu::Texture) {
        let [colour, depth] = [colour, depth].map(|texture| texture.create_view(&Default::default()));
        let clear = wgpu::Color { r: 0.6, g: 0.7, b: 0.8, a: 1.0 };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &colour,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                // 1 is near and 0 far.
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        for draw in &self.draws {
            pass.set_bind_group(0, &draw.bind_group, &[]);
            pass.set_vertex_buffer(0, draw.vertices.slice(..));
            pass.set_index_buffer(draw.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..draw.index_count, 0, 0..draw.instances);
        }
    }
}

/// The rows of four numbers from an instance to the next, and before the first matrix of a skin.
fn skin_rows(batch: &GpuBatch, library: &Library, skin: SkinId) -> [u32; 2] {
    [batch.layout().skin, batch.layout().skin_start(library, skin)].map(|numbers| numbers as u32 / 4)
}

fn pipeline(device: &wgpu::Device) -> wgpu::RenderPipeline {
    let module = &device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    // The fields of `Vertex`, in order.
    let attributes = wgpu::vertex_attr_array![
        0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Unorm16x4,
        4 => Uint16x4, 5 => Uint16x4, 6 => Float32x4, 7 => Float32x4,
    ];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("skinned"),
            compilation_options: Default::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<Vertex>() as u64,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            })],
        },
        primitive: Default::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some("lit"),
            compilation_options: Default::default(),
            targets: &[Some(COLOUR.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn filled<T: bytemuck::NoUninit>(device: &wgpu::Device, contents: &[T], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let contents = bytemuck::cast_slice(contents);
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
}

fn texture(device: &wgpu::Device, format: wgpu::TextureFormat, usage: wgpu::TextureUsages) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
        view_formats: &[],
    })
}

/// Submits the commands and reads the picture. A renderer with a window presents its texture instead.
fn read_back(
    gpu: &GpuContext,
    mut encoder: wgpu::CommandEncoder,
    texture: &wgpu::Texture,
) -> Result<Picture, Box<dyn Error>> {
    // Rows of 1024 pixels need no padding.
    let size = u64::from(4 * SIZE[0] * SIZE[1]);
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let copy =
        gpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * SIZE[0]), rows_per_image: None };
    let target = wgpu::TexelCopyBufferInfo { buffer: &copy, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), target, texture.size());
    gpu.queue.submit([encoder.finish()]);
    // A failure shows when the bytes are read.
    copy.map_async(wgpu::MapMode::Read, .., drop);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(Picture { size: SIZE, pixels: copy.get_mapped_range(..)?.to_vec() })
}
