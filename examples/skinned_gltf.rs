//! A crowd of a glTF file in a renderer of one's own: a thousand characters, each mesh drawn once per batch, and moved
//! by a vertex shader that reads the buffer which posse writes.
//!
//! `cargo run --release -p posse-cli --features view --example skinned_gltf -- FILE.glb` opens a window, with Rust 1.95
//! or later; without a file, it shows the built-in human. `cargo run --release --example skinned_gltf -- --picture
//! OUT.png FILE.glb` draws a picture instead. The feature brings winit: the example belongs to the command, which has
//! it for `posse view`, so that no build and no test of the library compiles a window.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use glam::{Affine3A, DVec3, Mat4, Vec3};
use posse::gpu::GpuBatch;
use posse::prelude::*;
use posse::{SkinId, import};
use posse_render::{Camera, Figure, Mover, Picture, Vertex, sunflower};
use wgpu::util::DeviceExt;

const COUNT: usize = 1000;
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

/// The result of a fallible step.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let output = arguments.next_if_eq("--picture").map(|_| arguments.next().ok_or("name the PNG file to write"));
    let scene = Scene::load(arguments.next().as_deref())?;
    if let Some(other) = arguments.next() {
        return Err(format!("{other}: the arguments are [--picture OUT.png] [FILE]").into());
    }
    let Some(output) = output.transpose()? else { return window::show(scene) };
    let picture = draw(&scene, [1024, 512], Ticks::from_seconds(12.5))?;
    posse_render::encode::write_png(BufWriter::new(File::create(&output)?), &picture)?;
    println!("{COUNT} characters in {output}");
    Ok(())
}

/// A thousand characters that play a clip.
pub struct Scene {
    /// The skeleton and the clip.
    pub library: Library,
    /// The characters.
    pub crowd: Crowd,
    /// Their meshes.
    pub figure: Figure,
    /// The transform from the space of a character to the world, per character.
    pub placements: Vec<Affine3A>,
}

impl Scene {
    /// The characters of a glTF file in its first clip; without a file, the built-in human walks.
    pub fn load(file: Option<&str>) -> Outcome<Self> {
        let (library, clip, figure) = if let Some(file) = file {
            let mut library = Library::new();
            let asset = import::load(&mut library, file)?;
            let clip = *asset.clips.first().ok_or("the file has no clip")?;
            let (figure, _) = posse_render::gltf::load(&asset.gltf.ok_or("meshes are read from glTF files")?)?;
            (library, clip, figure)
        } else {
            let library = posse::demo::library()?;
            let clip = library.find_clip("walk").ok_or("the demo walks")?;
            let figure = posse_render::demo::figure(&library, library.clip(clip).skeleton, 0.04)?;
            (library, clip, figure)
        };
        // Each character begins elsewhere in the clip.
        let mut crowd = Crowd::new();
        for instance in 0..COUNT {
            crowd.push(library.clip(clip).skeleton, &[clip.looping().phase(0.618 * instance as f64)])?;
        }
        // They stand as far apart as the first one is large.
        let pose = CpuEngine::new(&library)?.query(&crowd, 0, Ticks(0), Outputs { model: true, ..Outputs::NONE })?;
        let joints = || pose.model.iter().map(|joint| joint.translation);
        let size = joints().fold(DVec3::NEG_INFINITY, DVec3::max) - joints().fold(DVec3::INFINITY, DVec3::min);
        let placements = sunflower(COUNT, size.max_element() as f32).collect();
        Ok(Self { library, crowd, figure, placements })
    }

    /// The matrix of a camera that sees all characters, by columns.
    pub fn clip_from_world(&self, [width, height]: [u32; 2]) -> [f32; 16] {
        let aspect = width as f32 / height as f32;
        let points: Vec<Vec3> = self.placements.iter().map(|place| place.translation.into()).collect();
        let camera = Camera { elevation: 0.4, ..Camera::default() }.fitted(&points, aspect, 0.05);
        camera.clip_from_world(aspect).to_cols_array()
    }
}

/// The crowd on a device, and all that draws it.
struct Drawing {
    crowd: GpuCrowd,
    clip_from_world: wgpu::Buffer,
    depth: wgpu::TextureView,
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
    /// Once. A game engine has a device and a queue already: `GpuLibrary::new((&device, &queue), &library)`.
    fn new(gpu: &GpuContext, scene: &Scene, format: wgpu::TextureFormat, size: [u32; 2]) -> Outcome<Self> {
        let device = &gpu.device;
        let gpu_library = GpuLibrary::new(gpu, &scene.library)?;
        let crowd = GpuCrowd::new(&gpu_library, &scene.crowd, Outputs::SKIN)?;
        let pipeline = pipeline(device, format);
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let clip_from_world = filled(device, &[0.0_f32; 16], uniform);
        let skins: Vec<SkinId> = scene.library.skins_of(scene.figure.skeleton).map(|(id, _)| id).collect();
        let mut draws = Vec::new();
        for batch in crowd.batches() {
            // A batch has an order of its own.
            let places = batch.instances().iter().map(|&instance| Mat4::from(scene.placements[instance]));
            let places: Vec<[f32; 16]> = places.map(|place| place.to_cols_array()).collect();
            let places = filled(device, &places, wgpu::BufferUsages::STORAGE);
            for part in &scene.figure.parts {
                // This renderer draws meshes with a skin alone.
                let (Mover::Skin(skin), Some(matrices)) = (part.mover, batch.skin()) else { continue };
                let rows = filled(device, &skin_rows(batch, &scene.library, skins[skin]), uniform);
                let entries: Vec<_> = (0..)
                    .zip([&clip_from_world, matrices, &places, &rows])
                    .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                    .collect();
                let mesh = &scene.figure.meshes[part.mesh];
                draws.push(Draw {
                    vertices: filled(device, &mesh.vertices, wgpu::BufferUsages::VERTEX),
                    indices: filled(device, &mesh.indices, wgpu::BufferUsages::INDEX),
                    index_count: mesh.indices.len() as u32,
                    instances: batch.instances().len() as u32,
                    bind_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout: &pipeline.get_bind_group_layout(0),
                        entries: &entries,
                    }),
                });
            }
        }
        if draws.is_empty() {
            return Err("the file has no mesh with a skin".into());
        }
        let mut drawing = Self { crowd, clip_from_world, depth: depth(device, [1, 1]), pipeline, draws };
        drawing.resize(gpu, scene, size);
        Ok(drawing)
    }

    fn resize(&mut self, gpu: &GpuContext, scene: &Scene, size: [u32; 2]) {
        let clip_from_world = scene.clip_from_world(size);
        gpu.queue.write_buffer(&self.clip_from_world, 0, bytemuck::cast_slice(&clip_from_world));
        self.depth = depth(&gpu.device, size);
    }

    /// Per frame: the poses and the draws in one encoder, for one submission.
    fn frame(&self, gpu: &GpuContext, colour: &wgpu::TextureView, now: Ticks) -> wgpu::CommandEncoder {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder, now);
        let sky = wgpu::Color { r: 0.6, g: 0.7, b: 0.8, a: 1.0 };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: colour,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(sky), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
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
        drop(pass);
        encoder
    }
}

/// The rows of four numbers from an instance to the next, and before the first matrix of a skin.
fn skin_rows(batch: &GpuBatch, library: &Library, skin: SkinId) -> [u32; 2] {
    [batch.layout().skin, batch.layout().skin_start(library, skin)].map(|numbers| numbers as u32 / 4)
}

fn pipeline(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::RenderPipeline {
    let module = &device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    // The fields of `posse_render::Vertex`, in order.
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
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn filled<T: bytemuck::NoUninit>(device: &wgpu::Device, contents: &[T], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let contents = bytemuck::cast_slice(contents);
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
}

fn depth(device: &wgpu::Device, size: [u32; 2]) -> wgpu::TextureView {
    texture(device, size, DEPTH, wgpu::TextureUsages::empty()).create_view(&Default::default())
}

fn texture(
    device: &wgpu::Device,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
        view_formats: &[],
    })
}

/// A picture without a window, read back from the device. The width is a multiple of 64, so that rows need no padding.
pub fn draw(scene: &Scene, size: [u32; 2], now: Ticks) -> Outcome<Picture> {
    let gpu = &GpuContext::new(AdapterKind::Any)?;
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let texture = texture(&gpu.device, size, format, wgpu::TextureUsages::COPY_SRC);
    let drawing = Drawing::new(gpu, scene, format, size)?;
    let mut encoder = drawing.frame(gpu, &texture.create_view(&Default::default()), now);
    let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(4 * size[0] * size[1]),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * size[0]), rows_per_image: None };
    let target = wgpu::TexelCopyBufferInfo { buffer: &copy, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), target, texture.size());
    gpu.queue.submit([encoder.finish()]);
    // A failure shows when the bytes are read.
    copy.map_async(wgpu::MapMode::Read, .., drop);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(Picture { size, pixels: copy.get_mapped_range(..)?.to_vec() })
}

#[cfg(not(feature = "view"))]
mod window {
    pub fn show(_: super::Scene) -> super::Outcome<()> {
        Err("a window needs the feature view; --picture OUT.png needs none".into())
    }
}

#[cfg(feature = "view")]
mod window {
    use std::sync::Arc;
    use std::time::Instant;

    use posse::prelude::*;
    use winit::application::ApplicationHandler;
    use winit::event::WindowEvent;
    use winit::event_loop::{ActiveEventLoop, EventLoop};
    use winit::window::{Window, WindowId};

    use super::{Drawing, Outcome, Scene};

    pub fn show(scene: Scene) -> Outcome<()> {
        let mut app = App { scene, screen: None, result: Ok(()) };
        EventLoop::new()?.run_app(&mut app)?;
        app.result
    }

    struct App {
        scene: Scene,
        screen: Option<Screen>,
        result: Outcome<()>,
    }

    struct Screen {
        window: Arc<Window>,
        surface: wgpu::Surface<'static>,
        configuration: wgpu::SurfaceConfiguration,
        gpu: GpuContext,
        drawing: Drawing,
        start: Instant,
    }

    impl ApplicationHandler for App {
        fn resumed(&mut self, event_loop: &ActiveEventLoop) {
            match Screen::open(event_loop, &self.scene) {
                Ok(screen) => self.screen = Some(screen),
                Err(error) => {
                    self.result = Err(error);
                    event_loop.exit();
                }
            }
        }

        fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
            let Some(screen) = &mut self.screen else { return };
            match event {
                WindowEvent::CloseRequested => event_loop.exit(),
                WindowEvent::Resized(size) => screen.resize(&self.scene, [size.width, size.height]),
                WindowEvent::RedrawRequested => screen.frame(),
                _ => {}
            }
        }
    }

    impl Screen {
        fn open(event_loop: &ActiveEventLoop, scene: &Scene) -> Outcome<Self> {
            let window = Arc::new(event_loop.create_window(Window::default_attributes().with_title("skinned_gltf"))?);
            let instance = GpuContext::instance();
            let surface = instance.create_surface(Arc::clone(&window))?;
            let (gpu, adapter) = GpuContext::for_surface(&instance, &surface)?;
            let size = <[u32; 2]>::from(window.inner_size()).map(|side| side.max(1));
            let configuration = surface.get_default_config(&adapter, size[0], size[1]);
            let mut configuration = configuration.ok_or("the adapter cannot draw into this window")?;
            configuration.present_mode = wgpu::PresentMode::AutoVsync;
            // The shader writes linear colours.
            configuration.view_formats = vec![configuration.format.add_srgb_suffix()];
            surface.configure(&gpu.device, &configuration);
            let drawing = Drawing::new(&gpu, scene, configuration.format.add_srgb_suffix(), size)?;
            window.request_redraw();
            Ok(Self { window, surface, configuration, gpu, drawing, start: Instant::now() })
        }

        /// A minimised window has no area.
        fn resize(&mut self, scene: &Scene, size: [u32; 2]) {
            if !size.contains(&0) {
                [self.configuration.width, self.configuration.height] = size;
                self.surface.configure(&self.gpu.device, &self.configuration);
                self.drawing.resize(&self.gpu, scene, size);
            }
            self.window.request_redraw();
        }

        fn frame(&self) {
            use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
            self.window.request_redraw();
            let (Success(texture) | Suboptimal(texture)) = self.surface.get_current_texture() else {
                // The window has changed, or is hidden.
                return self.surface.configure(&self.gpu.device, &self.configuration);
            };
            let format = Some(self.configuration.format.add_srgb_suffix());
            let view = texture.texture.create_view(&wgpu::TextureViewDescriptor { format, ..Default::default() });
            let now = Ticks::from_seconds(self.start.elapsed().as_secs_f64());
            let encoder = self.drawing.frame(&self.gpu, &view, now);
            self.gpu.queue.submit([encoder.finish()]);
            self.window.pre_present_notify();
            self.gpu.queue.present(texture);
        }
    }
}
