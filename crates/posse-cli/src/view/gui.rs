//! egui in a window, on a device.

use std::time::Duration;

use posse::GpuContext;
use winit::event::WindowEvent;
use winit::window::Window;

use crate::view::screen::Frame;

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
    /// Creates the controls of a window. `format` is the format of the pictures that they are painted over; it must not be an
    /// sRGB format.
    pub fn new(window: &Window, gpu: &GpuContext, format: wgpu::TextureFormat) -> Self {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let max_side = gpu.device.limits().max_texture_dimension_2d as usize;
        let id = egui::ViewportId::ROOT;
        let input = egui_winit::State::new(context.clone(), id, window, None, None, Some(max_side));
        let painter = egui_wgpu::Renderer::new(&gpu.device, format, egui_wgpu::RendererOptions::default());
        Self { context, input, painter, pointer: None, unused_textures: Vec::new() }
    }

    /// Passes an event to the controls. Returns true if a control consumed it.
    pub fn event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        if let WindowEvent::CursorMoved { position, .. } = event {
            let scale = f64::from(egui_winit::pixels_per_point(&self.context, window));
            self.pointer = Some(egui::pos2((position.x / scale) as f32, (position.y / scale) as f32));
        }
        // egui consumes what the last frame has seen above a control. A mouse that has moved since may be above one, too.
        let is_press = matches!(event, WindowEvent::MouseInput { state, .. } if state.is_pressed());
        let consumed = self.input.on_window_event(window, event).consumed;
        consumed || (is_press && self.is_above_control())
    }

    /// True if the mouse is above a control of the last frame.
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
