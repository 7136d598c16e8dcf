//! What a window draws with: its surface, the crowd on the device, egui, and the clock of the GPU.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use posse::gpu::{GpuContext, GpuLibrary};
use posse::low_level::Stopwatch;
use posse::{Error, Outputs, Ticks};
use posse_render::{Canvas, PoseBuffers, Renderer, Scene, Target, needed_outputs};
use wgpu::util::TextureBlitter;
use winit::event::WindowEvent;
use winit::window::Window;

use crate::drawn_crowd::{ClockedCrowd, DrawnCrowd};
use crate::engine::AdapterArgs;

/// The surface of a window, and a picture of the same size.
///
/// Frames are drawn into the picture and then copied to the surface. The picture is always in sRGB; the format of the
/// surface depends on the system.
pub struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    blitter: TextureBlitter,
    target: Target,
    pub frame: Frame,
}

/// The picture of a frame.
pub struct Frame {
    pub canvas: Canvas,
    pub picture: wgpu::Texture,
    /// The sRGB view of the picture, for blending in linear light.
    pub srgb: wgpu::TextureView,
    /// The view of the stored bytes without sRGB conversion, for blending of stored values.
    pub stored: wgpu::TextureView,
}

impl Screen {
    /// Opens the surface of a window, and a device that draws on it. With `capped`, the rate of the screen limits the
    /// rate of frames.
    pub fn new(window: Arc<Window>, adapter: &AdapterArgs, capped: bool) -> Result<(GpuContext, Self), Error> {
        let instance = GpuContext::instance();
        let surface = create_surface(&instance, &window)?;
        let (gpu, adapter) = open_adapter(adapter, &instance, &surface)?;
        let target = Target::default();
        let size = window.inner_size();
        let frame = Frame::new(&gpu.device, target, [size.width.max(1), size.height.max(1)])?;
        let capabilities = surface.get_capabilities(&adapter);
        let format = select_format(&capabilities.formats)
            .ok_or_else(|| Error::Device("the window's surface has no format that can be drawn on".into()))?;
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: size.width.max(1),
            height: size.height.max(1),
            present_mode: if capped { wgpu::PresentMode::AutoVsync } else { wgpu::PresentMode::AutoNoVsync },
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        surface.configure(&gpu.device, &configuration);
        let blitter = TextureBlitter::new(&gpu.device, format);
        Ok((gpu, Self { instance, window, surface, configuration, blitter, target, frame }))
    }

    /// The formats of the picture.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The width and the height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.frame.canvas.size
    }

    /// Resizes the picture and the surface to the window. Returns `false` if the window has no area, as when it is
    /// minimised.
    pub fn resize(&mut self, device: &wgpu::Device) -> Result<bool, Error> {
        let size = self.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return Ok(false);
        }
        if self.size() != [size.width, size.height] {
            self.frame = Frame::new(device, self.target, [size.width, size.height])?;
            (self.configuration.width, self.configuration.height) = (size.width, size.height);
            self.surface.configure(device, &self.configuration);
        }
        Ok(true)
    }

    /// The next texture of the surface; `None` if the window is hidden or the texture is not ready.
    pub fn acquire(&mut self, device: &wgpu::Device) -> Result<Option<wgpu::SurfaceTexture>, Error> {
        use wgpu::CurrentSurfaceTexture as Current;
        // The second attempt follows a change of the surface that the first has found.
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Current::Success(texture) | Current::Suboptimal(texture) => return Ok(Some(texture)),
                Current::Timeout | Current::Occluded | Current::Validation => return Ok(None),
                Current::Outdated => {}
                Current::Lost => self.surface = create_surface(&self.instance, &self.window)?,
            }
            self.surface.configure(device, &self.configuration);
        }
        Ok(None)
    }

    /// Records the copy of the picture to the surface.
    pub fn copy(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::SurfaceTexture) {
        let format = self.configuration.format;
        let linear = format.is_srgb() || format == wgpu::TextureFormat::Rgba16Float;
        let source = if linear { &self.frame.srgb } else { &self.frame.stored };
        self.blitter.copy(device, encoder, source, &texture.texture.create_view(&Default::default()));
    }
}

impl Frame {
    fn new(device: &wgpu::Device, target: Target, size: [u32; 2]) -> Result<Self, Error> {
        let canvas = Canvas::new(device, target, size)?;
        let stored_format = target.format.remove_srgb_suffix();
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("frame"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: target.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[stored_format],
        });
        let view =
            |format| picture.create_view(&wgpu::TextureViewDescriptor { format: Some(format), ..Default::default() });
        let (srgb, stored) = (view(target.format), view(stored_format));
        Ok(Self { canvas, picture, srgb, stored })
    }
}

/// Opens the adapter of `--adapter`, or the best one that can draw on a surface.
fn open_adapter(
    adapter: &AdapterArgs,
    instance: &wgpu::Instance,
    surface: &wgpu::Surface,
) -> Result<(GpuContext, wgpu::Adapter), Error> {
    if let Some(found) = adapter.find()? {
        if !found.adapter.is_surface_supported(surface) {
            let name = found.info.name;
            return Err(Error::Usage(format!(
                "--adapter: {name} cannot draw into a window here; posse render needs no window"
            )));
        }
        return Ok((GpuContext::with_adapter(&found.adapter)?, found.adapter));
    }
    GpuContext::for_surface(instance, surface).map_err(|error| match error {
        Error::NoAdapter { .. } => Error::Usage(
            "no GPU adapter can draw into a window here. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
             software driver (Debian and Ubuntu: apt-get install mesa-vulkan-drivers); posse render needs no window"
                .into(),
        ),
        error => error,
    })
}

fn create_surface(instance: &wgpu::Instance, window: &Arc<Window>) -> Result<wgpu::Surface<'static>, Error> {
    let surface = instance.create_surface(Arc::clone(window));
    surface.map_err(|error| Error::Device(format!("the device cannot draw into a window: {error}")))
}

/// Selects a format of a surface: one with a byte per channel and without sRGB, so that bytes are copied unchanged;
/// otherwise an sRGB format; otherwise the first.
fn select_format(formats: &[wgpu::TextureFormat]) -> Option<wgpu::TextureFormat> {
    use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm};
    let is_byte_format = |format: &wgpu::TextureFormat| matches!(format, Bgra8Unorm | Rgba8Unorm);
    let find =
        |condition: &dyn Fn(&wgpu::TextureFormat) -> bool| formats.iter().copied().find(|format| condition(format));
    find(&is_byte_format).or_else(|| find(&wgpu::TextureFormat::is_srgb)).or_else(|| formats.first().copied())
}

/// A drawn crowd on a device.
pub struct GpuScene {
    library: GpuLibrary,
    outputs: Outputs,
    crowd: ClockedCrowd,
    pub scene: Scene,
}

impl GpuScene {
    /// Uploads a drawn crowd. With `bones`, the outputs include the data that bones are drawn from.
    pub fn new(gpu: &GpuContext, renderer: &Renderer, drawn: &DrawnCrowd, bones: bool) -> Result<Self, Error> {
        let library = GpuLibrary::new(gpu, &drawn.library)?;
        let outputs = needed_outputs(&drawn.figures, bones);
        let (crowd, scene) = upload(renderer, &library, drawn, outputs)?;
        Ok(Self { library, outputs, crowd, scene })
    }

    /// Uploads the changes of a drawn crowd. `layers_only` tells that positions and figures are unchanged: then only
    /// layers are uploaded, if the device's crowd has room for them. After an error, everything is as before.
    pub fn update(&mut self, renderer: &Renderer, drawn: &DrawnCrowd, layers_only: bool) -> Result<(), Error> {
        let Self { library, crowd, .. } = self;
        if layers_only {
            match crowd.set_layers(library, &drawn.crowd) {
                Err(Error::Refused(_)) => {}
                done => return done,
            }
        }
        (self.crowd, self.scene) = upload(renderer, &self.library, drawn, self.outputs)?;
        Ok(())
    }

    /// Records the poses of the drawn crowd at a time of the crowd clock, with its parameters at that time.
    pub fn encode(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        drawn: &DrawnCrowd,
        now: Ticks,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) -> Result<(), Error> {
        self.crowd.set_time(&self.library, &drawn.crowd, now)?;
        self.crowd.on_gpu.encode_timed(encoder, now, timestamp_writes);
        Ok(())
    }
}

fn upload(
    renderer: &Renderer,
    library: &GpuLibrary,
    drawn: &DrawnCrowd,
    outputs: Outputs,
) -> Result<(ClockedCrowd, Scene), Error> {
    let crowd = ClockedCrowd::new(library, &drawn.crowd, outputs)?;
    let poses = crowd.on_gpu.batches().iter().map(PoseBuffers::from);
    let scene = Scene::new(renderer, &drawn.library, &drawn.figures, poses, &drawn.placements)?;
    Ok((crowd, scene))
}

/// The state of egui, its input from a window, and its renderer.
pub struct Gui {
    context: egui::Context,
    input: egui_winit::State,
    painter: egui_wgpu::Renderer,
    /// The position of the mouse in points; `None` before the first movement.
    pointer: Option<egui::Pos2>,
    /// Textures that the last frame used and later frames do not.
    unused_textures: Vec<egui::TextureId>,
}

/// The triangles of the controls of a frame.
pub struct Painting {
    triangles: Vec<egui::ClippedPrimitive>,
    pixels_per_point: f32,
    /// The time until the controls need the next frame; `Duration::MAX` if they need none.
    pub next_frame: Duration,
}

impl Gui {
    /// Creates the controls of a window. `format` is the format of the pictures that they are painted over; it must not
    /// be an sRGB format.
    pub fn new(window: &Window, gpu: &GpuContext, format: wgpu::TextureFormat) -> Self {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let max_side = gpu.device.limits().max_texture_dimension_2d as usize;
        let id = egui::ViewportId::ROOT;
        let input = egui_winit::State::new(context.clone(), id, window, None, None, Some(max_side));
        let painter = egui_wgpu::Renderer::new(&gpu.device, format, egui_wgpu::RendererOptions::default());
        Self { context, input, painter, pointer: None, unused_textures: Vec::new() }
    }

    /// Passes an event to the controls. Returns `true` if a control consumed it.
    pub fn event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        if let WindowEvent::CursorMoved { position, .. } = event {
            let scale = f64::from(egui_winit::pixels_per_point(&self.context, window));
            self.pointer = Some(egui::pos2((position.x / scale) as f32, (position.y / scale) as f32));
        }
        // egui consumes what the last frame has seen above a control. A mouse that has moved since may be above one,
        // too.
        let is_press = matches!(event, WindowEvent::MouseInput { state, .. } if state.is_pressed());
        let consumed = self.input.on_window_event(window, event).consumed;
        consumed || (is_press && self.is_above_control())
    }

    /// Returns `true` if the mouse is above a control of the last frame.
    fn is_above_control(&self) -> bool {
        let layer = self.pointer.and_then(|pointer| self.context.layer_id_at(pointer));
        layer.is_some_and(|layer| layer.order != egui::Order::Background)
    }

    /// Lays out the controls with `contents`. Their textures are uploaded even if the result is not painted.
    pub fn run(&mut self, gpu: &GpuContext, window: &Window, contents: impl FnMut(&mut egui::Ui)) -> Painting {
        self.unused_textures.drain(..).for_each(|id| self.painter.free_texture(&id));
        let input = self.input.take_egui_input(window);
        let mut output = self.context.run_ui(input, contents);
        for (id, deltas) in output.textures_delta.set.drain() {
            deltas.iter().for_each(|delta| self.painter.update_texture(&gpu.device, &gpu.queue, id, delta));
        }
        self.unused_textures.extend(output.textures_delta.free.drain());
        self.input.handle_platform_output(window, output.platform_output);
        let next_frame = output.viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        Painting {
            triangles: self.context.tessellate(output.shapes, output.pixels_per_point),
            pixels_per_point: output.pixels_per_point,
            next_frame: next_frame.unwrap_or(Duration::MAX),
        }
    }

    /// Records the controls over the picture of a frame.
    pub fn paint(&mut self, gpu: &GpuContext, encoder: &mut wgpu::CommandEncoder, frame: &Frame, painting: &Painting) {
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: frame.canvas.size,
            pixels_per_point: painting.pixels_per_point,
        };
        let uploads = self.painter.update_buffers(&gpu.device, &gpu.queue, encoder, &painting.triangles, &screen);
        gpu.queue.submit(uploads);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("controls"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &frame.stored,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        self.painter.render(&mut pass.forget_lifetime(), &painting.triangles, &screen);
    }
}

/// Measures compute passes, one at a time, without waiting for the GPU. Passes that begin before the previous result
/// has arrived are not measured.
pub struct PoseTimer {
    stopwatch: Stopwatch,
    copy: wgpu::Buffer,
    /// The outcome of mapping the copy; `None` if no result is pending.
    pending: Option<Receiver<bool>>,
    seconds: Option<f64>,
}

impl PoseTimer {
    /// Creates a timer; `None` if the device has no clock.
    pub fn new(gpu: &GpuContext) -> Option<Self> {
        let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pose times"),
            size: Stopwatch::BYTES,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Some(Self { stopwatch: Stopwatch::new(gpu)?, copy, pending: None, seconds: None })
    }

    /// The timestamp writes that measure a pass; `None` while a result is pending.
    pub fn writes(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        self.pending.is_none().then(|| self.stopwatch.writes())
    }

    /// Records the copy of the timestamps of a measured pass.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.pending.is_none() {
            let resolved = self.stopwatch.resolve(encoder);
            encoder.copy_buffer_to_buffer(resolved, 0, &self.copy, 0, Stopwatch::BYTES);
        }
    }

    /// Requests the result after the encoder was submitted, or stores a result that has arrived.
    pub fn read(&mut self) {
        let Some(pending) = &self.pending else {
            let (sender, receiver) = channel();
            self.copy.map_async(wgpu::MapMode::Read, .., move |result| {
                // The receiver is gone after the window has closed.
                let _ = sender.send(result.is_ok());
            });
            self.pending = Some(receiver);
            return;
        };
        let Ok(mapped) = pending.try_recv() else { return };
        self.pending = None;
        if mapped {
            self.seconds = self.copy.get_mapped_range(..).ok().and_then(|bytes| self.stopwatch.seconds(&bytes));
            self.copy.unmap();
        }
    }

    /// The seconds of the last measured pass; `None` before the first result.
    pub fn seconds(&self) -> Option<f64> {
        self.seconds
    }
}
