//! A renderer that uses posse: poses and picture of hundreds of characters in one command encoder and one submission.
//! The vertex shader (`skinning.wgsl`) reads the skin matrices from the buffer that the kernel of posse writes.
//!
//! `cargo run --release --example renderer -- renderer.png`

use std::path::Path;
use std::process::ExitCode;

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
use posse::{Outputs, Ticks};

use draw::{CrowdDrawing, DEPTH, Look, Target};
use figure::Figure;
use picture::Picture;
use read_back::read_back;
use scene::Scene;

pub mod check;
pub mod draw;
pub mod figure;
pub mod picture;
mod read_back;
pub mod scene;

/// The result of a fallible step.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("no file was given; give the name of the PNG file to write");
        return ExitCode::from(2);
    };
    match draw_to(Path::new(&file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn draw_to(file: &Path) -> Outcome<()> {
    let gpu = GpuContext::new(AdapterKind::Any)?;
    let scene = Scene::run()?;
    let figure = Figure::new(scene.skeleton(), 0.02)?;
    println!("{} characters of {} triangles on {}", scene.placements.len(), figure.indices.len() / 3, gpu.name());
    render(&gpu, &scene, &figure, Ticks::from_seconds(12.5), Look::Sunny, 4)?.save(file)
}

/// A picture of a scene at a time, in a look, with a number of samples per pixel.
///
/// # Errors
/// Errors of posse and of the device.
pub fn render(
    gpu: &GpuContext,
    scene: &Scene,
    figure: &Figure,
    now: Ticks,
    look: Look,
    samples: u32,
) -> Outcome<Picture> {
    let GpuContext { device, queue, .. } = gpu;
    // Once. A game engine already has the targets and the camera.
    let library = GpuLibrary::new(gpu, &scene.library)?;
    let crowd = GpuCrowd::new(&library, &scene.crowd, Outputs::SKIN)?;
    let target = Target { format: wgpu::TextureFormat::Rgba8UnormSrgb, samples };
    let drawing = CrowdDrawing::new(device, scene, figure, &crowd, target, look);
    let camera = scene.camera.clip_from_world().to_cols_array();
    let camera = draw::filled(device, bytemuck::cast_slice(&camera), wgpu::BufferUsages::UNIFORM);
    let view = drawing.view(device, camera.as_entire_binding());
    let [width, height] = scene.camera.size;
    let texture = |format, sample_count, extra_usage| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | extra_usage,
            view_formats: &[],
        })
    };
    let finished = texture(target.format, 1, wgpu::TextureUsages::COPY_SRC);
    let sampled = (samples > 1).then(|| texture(target.format, samples, wgpu::TextureUsages::empty()));
    let depth = texture(DEPTH, samples, wgpu::TextureUsages::empty());
    let [colour_view, depth_view] =
        [sampled.as_ref().unwrap_or(&finished), &depth].map(|texture| texture.create_view(&Default::default()));
    let finished_view = finished.create_view(&Default::default());

    // Per frame: the poses, then the draws of the renderer, in one encoder.
    let mut encoder = device.create_command_encoder(&Default::default());
    crowd.encode(&mut encoder, now);
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("crowd"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &colour_view,
            depth_slice: None,
            resolve_target: sampled.as_ref().map(|_| &finished_view),
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(look.background()), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth_view,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
            stencil_ops: None,
        }),
        ..Default::default()
    });
    drawing.draw(&mut pass, &view, 0);
    drop(pass);
    read_back(device, queue, encoder, &finished)
}
